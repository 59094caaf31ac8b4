/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a manifest. Unlike the readers, the check continues after a mistake and reports all of them. */
#pragma once

#include <quoit/models/check.h>

/* One mistake in the manifest, or something to know about it. */
typedef struct {
  unsigned line, column;
  QuoitSeverity severity;
  const char *rule; /* a constant */
  char *path, *value, *expected, *message;
} QuoitFinding;

/* Returns the findings as an array of QuoitFinding in the order of their lines; free it with g_array_unref().
   INVALID if @text is not YAML or @set is malformed. */
GArray *quoit_manifest_check (const char *text, gsize length, const char *const *set, GError **error);

/* Returns the rules in the order of their tables. FALSE: @index is past the last rule. */
gboolean quoit_check_rule_at (unsigned index, const char **name, QuoitSeverity *severity);

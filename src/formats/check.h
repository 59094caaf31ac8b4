/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with a manifest: all of it, and not the first thing alone. */
#pragma once

#include <quoit/models/check.h>

typedef struct {
  unsigned line, column;
  QuoitSeverity severity;
  const char *rule; /* a constant */
  char *path, *value, *expected, *message;
} QuoitFinding;

/* Of QuoitFinding, in the order of lines; g_array_unref() it. INVALID: not YAML, or @set is wrong. */
GArray *quoit_manifest_check (const char *text, gsize length, const char *const *set, GError **error);

/* The rules in the order of their tables; FALSE behind the last. */
gboolean quoit_check_rule_at (unsigned index, const char **name, QuoitSeverity *severity);

/* SPDX-License-Identifier: Apache-2.0 */
/* Interned strings: equal text has one id, so that comparing is ==. Only grows; ids and texts live as long as it. */
#pragma once

#include <glib.h>

typedef struct {
  guint32 index;
} QuoitStringId; /* 0 is the empty string */

typedef struct _QuoitStrings QuoitStrings;

QuoitStrings *quoit_strings_new (guint32 expected, gsize expected_bytes); /* both may be 0: they only save growing */
void quoit_strings_free (QuoitStrings *strings);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitStrings, quoit_strings_free)

QuoitStringId quoit_strings_intern (QuoitStrings *strings, const char *text);
QuoitStringId quoit_strings_intern_n (QuoitStrings *strings, const char *text, gsize length);
/* FALSE when @text was never interned: nothing can be equal to it. */
gboolean quoit_strings_find (const QuoitStrings *strings, const char *text, QuoitStringId *id);
const char *quoit_strings_get (const QuoitStrings *strings, QuoitStringId id);
guint32 quoit_strings_count (const QuoitStrings *strings);

/* The hash behind the pool, for other tables keyed by text. */
guint64 quoit_hash_bytes (const char *bytes, gsize length);

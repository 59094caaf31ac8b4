/* SPDX-License-Identifier: Apache-2.0 */
/* Interned strings: equal texts have the same id, so ids can be compared with ==. The pool only grows. Ids and texts
 * are valid until the pool is freed. */
#pragma once

#include <glib.h>

typedef struct {
  guint32 index;
} QuoitStringId; /* 0 is the empty string */

typedef struct _QuoitStrings QuoitStrings;

QuoitStrings *quoit_strings_new (guint32 expected, gsize expected_bytes); /* both are hints and may be 0 */
void quoit_strings_free (QuoitStrings *strings);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitStrings, quoit_strings_free)

QuoitStringId quoit_strings_intern (QuoitStrings *strings, const char *text);
QuoitStringId quoit_strings_intern_n (QuoitStrings *strings, const char *text, gsize length);
/* Returns FALSE if @text was never interned. */
gboolean quoit_strings_find (const QuoitStrings *strings, const char *text, QuoitStringId *id);
const char *quoit_strings_get (const QuoitStrings *strings, QuoitStringId id);
guint32 quoit_strings_count (const QuoitStrings *strings);

/* A hash of bytes that the library has made, such as rows of numbers. It is the same in each process. For names and
 * other texts from outside, use quoit_hash_name(). */
guint64 quoit_hash_bytes (const char *bytes, gsize length);

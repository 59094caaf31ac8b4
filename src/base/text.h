/* SPDX-License-Identifier: Apache-2.0 */
/* Text that is written often, where printf would take longer than the decision that it describes. */
#pragma once

#include <string.h>

#include <glib.h>

/* Appends @n bytes. Faster than g_string_append_len() if they are few and fit. */
static inline void
quoit_text_append_bytes (GString *text, const char *bytes, gsize n)
{
  if (G_UNLIKELY (n >= text->allocated_len - text->len))
    {
      g_string_append_len (text, bytes, (gssize) n);
      return;
    }
  memcpy (text->str + text->len, bytes, n);
  text->len += n;
  text->str[text->len] = '\0';
}

static inline void
quoit_text_append (GString *text, const char *more)
{
  quoit_text_append_bytes (text, more, strlen (more));
}

void quoit_text_append_number (GString *text, guint32 number);
/* Appends "1 slice" or "2 slices". */
void quoit_text_append_count (GString *text, guint32 n, const char *noun);

/* Returns the number of bytes to insert, delete or replace in order to make @b from @a. G_MAXUINT for texts that are
 * longer than 128 bytes. */
unsigned quoit_text_distance (const char *a, const char *b);

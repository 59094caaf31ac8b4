/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

void
quoit_text_append_number (GString *text, guint32 number)
{
  char digits[10];
  guint n = sizeof digits;

  do
    digits[--n] = (char) ('0' + number % 10);
  while ((number /= 10) != 0);
  quoit_text_append_bytes (text, digits + n, sizeof digits - n);
}

void
quoit_text_append_count (GString *text, guint32 n, const char *noun)
{
  quoit_text_append_number (text, n);
  g_string_append_c (text, ' ');
  g_string_append (text, noun);
  if (n != 1)
    g_string_append_c (text, 's');
}

/* Longer than any name, and than any plausible misspelling. */
enum { LONGEST_NAME = 128 };

/* The Levenshtein distance, with one row of the usual table. */
unsigned
quoit_text_distance (const char *a, const char *b)
{
  unsigned row[LONGEST_NAME + 1];
  gsize n = strlen (b);

  if (n > LONGEST_NAME || strlen (a) > LONGEST_NAME)
    return G_MAXUINT;

  for (unsigned k = 0; k <= n; k++)
    row[k] = k;
  for (unsigned i = 0; a[i] != '\0'; i++)
    {
      unsigned diagonal = row[0];

      row[0] = i + 1;
      for (unsigned k = 0; k < n; k++)
        {
          unsigned replaced = diagonal + (a[i] != b[k]);

          diagonal = row[k + 1];
          row[k + 1] = MIN (replaced, MIN (row[k], row[k + 1]) + 1);
        }
    }
  return row[n];
}

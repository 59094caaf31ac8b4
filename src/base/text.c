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

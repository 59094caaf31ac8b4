/* SPDX-License-Identifier: Apache-2.0 */
#include "decimal.h"

#include <stdbool.h>

enum { UNIT = 10000 };

/* @text comes from the library, so it is valid: an optional sign, digits, and up to four decimals. */
Decimal
decimal_parse (const char *text)
{
  Decimal decimal = { 0 };
  int decimals = -1;
  const char *p = text + (text[0] == '-');

  for (; *p != '\0'; p++)
    if (*p == '.')
      decimals = 0;
    else
      {
        decimal.e4 = decimal.e4 * 10 + g_ascii_digit_value (*p);
        decimals += decimals >= 0;
      }
  for (decimals = MAX (decimals, 0); decimals < 4; decimals++)
    decimal.e4 *= 10;
  if (text[0] == '-')
    decimal.e4 = -decimal.e4;
  return decimal;
}

static void
prepend_digit (GString *text, unsigned __int128 value)
{
  g_string_prepend_c (text, (char) ('0' + (int) (value % 10)));
}

char *
decimal_format (Decimal decimal)
{
  GString *text = g_string_new (NULL);
  unsigned __int128 magnitude = (unsigned __int128) (decimal.e4 < 0 ? -decimal.e4 : decimal.e4);
  unsigned __int128 whole = magnitude / UNIT;
  guint rest = (guint) (magnitude % UNIT);

  do
    {
      prepend_digit (text, whole);
      whole /= 10;
    }
  while (whole > 0);
  if (decimal.e4 < 0)
    g_string_prepend_c (text, '-');
  if (rest > 0)
    {
      g_string_append_printf (text, ".%04u", rest);
      while (text->str[text->len - 1] == '0')
        g_string_truncate (text, text->len - 1);
    }
  return g_string_free (text, FALSE);
}

char *
decimal_format_bytes (Decimal bytes)
{
  static const char *const units[] = { "", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei" };
  g_autofree char *number = NULL;
  guint unit = 0;

  while (bytes.e4 != 0 && unit + 1 < G_N_ELEMENTS (units) && bytes.e4 % (1024 * UNIT) == 0)
    {
      bytes.e4 /= 1024;
      unit++;
    }
  number = decimal_format (bytes);
  return g_strconcat (number, units[unit], NULL);
}

char *
decimal_format_size (Decimal bytes)
{
  static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
  const bool is_negative = bytes.e4 < 0;
  unsigned __int128 magnitude = (unsigned __int128) (is_negative ? -bytes.e4 : bytes.e4), size = UNIT;
  g_autofree char *number = NULL;
  guint unit = 0;
  Decimal rounded;

  while (unit + 1 < G_N_ELEMENTS (units) && magnitude >= size * 1024)
    {
      size *= 1024;
      unit++;
    }
  rounded.e4 = (__int128) ((magnitude * 100 + size / 2) / size) * (UNIT / 100);
  if (is_negative)
    rounded.e4 = -rounded.e4;
  number = decimal_format (rounded);
  return g_strconcat (number, " ", units[unit], NULL);
}

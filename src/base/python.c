/* SPDX-License-Identifier: Apache-2.0 */
#include "base/python.h"

#include <math.h>
#include <string.h>

#define CAPITAL_SIGMA 0x3a3
#define FINAL_SIGMA 0x3c2
#define CAPITAL_I_WITH_DOT 0x130
#define DOT_ABOVE 0x307

gboolean
quoit_python_is_blank (gunichar c)
{
  /* Python also strips the ASCII separators 0x1c to 0x1f and U+0085 (next line), but no zero-width characters. */
  return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680
         || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

/* int() accepts less whitespace than strip(): in ASCII, only the whitespace of C. */
static gboolean
is_blank_for_int (gunichar c)
{
  return quoit_python_is_blank (c) && !(c >= 0x1c && c <= 0x1f);
}

static gboolean
is_decimal (gunichar c)
{
  return g_unichar_type (c) == G_UNICODE_DECIMAL_NUMBER;
}

static gboolean
is_cased (gunichar c)
{
  /* Letters, and the numbers and symbols that are derived from letters. */
  return g_unichar_isupper (c) || g_unichar_islower (c) || g_unichar_istitle (c) || c == 0xaa || c == 0xba
         || (c >= 0x2160 && c <= 0x217f) || (c >= 0x24b6 && c <= 0x24e9) || (c >= 0x1f130 && c <= 0x1f149)
         || (c >= 0x1f150 && c <= 0x1f169) || (c >= 0x1f170 && c <= 0x1f189);
}

/* Case-ignorable characters: accents, and punctuation that may occur inside a word. */
static gboolean
is_case_ignorable (gunichar c)
{
  static const gunichar marks[] = { '\'',   '.',    ':',    0xb7,   0x387,  0x55f,  0x5f4,  0x2018, 0x2019,
                                    0x2024, 0x2027, 0xfe13, 0xfe52, 0xfe55, 0xff07, 0xff0e, 0xff1a };

  switch (g_unichar_type (c))
    {
    case G_UNICODE_NON_SPACING_MARK:
    case G_UNICODE_ENCLOSING_MARK:
    case G_UNICODE_FORMAT:
    case G_UNICODE_MODIFIER_LETTER:
    case G_UNICODE_MODIFIER_SYMBOL:
      return TRUE;
    default:
      for (unsigned i = 0; i < G_N_ELEMENTS (marks); i++)
        if (c == marks[i])
          return TRUE;
      return FALSE;
    }
}

/* GLib maps only letters. Roman numerals and circled letters have lower-case forms too. */
static gunichar
to_lower (gunichar c)
{
  if (c >= 0x2160 && c <= 0x216f)
    return c + 0x10;
  if (c >= 0x24b6 && c <= 0x24cf)
    return c + 0x1a;

  return g_unichar_tolower (c);
}

/* A capital sigma at the end of a word has its own lower-case form. */
static gboolean
is_at_word_end (const char *text, const char *sigma)
{
  const char *p = sigma;

  do
    p = g_utf8_find_prev_char (text, p);
  while (p != NULL && is_case_ignorable (g_utf8_get_char (p)));
  if (p == NULL || !is_cased (g_utf8_get_char (p)))
    return FALSE;

  p = g_utf8_next_char (sigma);
  while (*p != '\0' && is_case_ignorable (g_utf8_get_char (p)))
    p = g_utf8_next_char (p);
  return *p == '\0' || !is_cased (g_utf8_get_char (p));
}

char *
quoit_python_lower (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  GString *out = g_string_sized_new (strlen (valid));

  for (const char *p = valid; *p != '\0'; p = g_utf8_next_char (p))
    {
      gunichar c = g_utf8_get_char (p);

      if (c == CAPITAL_SIGMA)
        g_string_append_unichar (out, is_at_word_end (valid, p) ? FINAL_SIGMA : to_lower (c));
      else if (c == CAPITAL_I_WITH_DOT)
        g_string_append_unichar (g_string_append_c (out, 'i'), DOT_ABOVE);
      else
        g_string_append_unichar (out, to_lower (c));
    }
  return g_string_free (out, FALSE);
}

char *
quoit_python_strip (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  const char *begin = valid, *end = valid + strlen (valid);

  while (*begin != '\0' && quoit_python_is_blank (g_utf8_get_char (begin)))
    begin = g_utf8_next_char (begin);
  while (end > begin && quoit_python_is_blank (g_utf8_get_char (g_utf8_prev_char (end))))
    end = g_utf8_prev_char (end);
  return g_strndup (begin, (gsize) (end - begin));
}

char *
quoit_python_strip_and_lower (const char *text)
{
  g_autofree char *stripped = quoit_python_strip (text);

  return quoit_python_lower (stripped);
}

char *
quoit_python_replace (const char *text, const char *old, const char *new)
{
  g_auto (GStrv) parts = g_strsplit (text, old, -1);

  return g_strjoinv (new, parts);
}

gboolean
quoit_python_is_decimal (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);

  for (const char *p = valid; *p != '\0'; p = g_utf8_next_char (p))
    if (!is_decimal (g_utf8_get_char (p)))
      return FALSE;

  return *valid != '\0';
}

const char *
quoit_python_skip_digits (const char *text)
{
  const char *p = text;

  while (*p != '\0' && is_decimal (g_utf8_get_char (p)))
    p = g_utf8_next_char (p);
  return p > text ? p : NULL;
}

gboolean
quoit_python_is_end (const char *text)
{
  return *text == '\0' || strcmp (text, "\n") == 0;
}

static void *
refuse (const char *text, const char *what, const char *expected, GError **error)
{
  g_autofree char *quoted = quoit_quote (text);

  return quoit_fail_null (error, QUOIT_ERROR_INVALID, "%s %s: expected %s", what, quoted, expected);
}

QuoitBig *
quoit_python_int (const char *text, const char *what, GError **error)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  g_autoptr (GString) digits = g_string_new (NULL);
  const char *p = valid;
  gboolean after_digit = FALSE;
  int sign = 1;

  while (*p != '\0' && is_blank_for_int (g_utf8_get_char (p)))
    p = g_utf8_next_char (p);
  if (*p == '+' || *p == '-')
    sign = *p++ == '-' ? -1 : 1;
  for (; *p != '\0'; p = g_utf8_next_char (p))
    {
      gunichar c = g_utf8_get_char (p);

      if (c == '_' && after_digit)
        {
          after_digit = FALSE;
          continue;
        }
      if (!is_decimal (c))
        break;
      g_string_append_c (digits, (char) ('0' + g_unichar_digit_value (c)));
      after_digit = TRUE;
    }
  /* A number must end with a digit, and only whitespace may follow. */
  if (!after_digit)
    return refuse (text, what, "an integer", error);
  while (*p != '\0' && is_blank_for_int (g_utf8_get_char (p)))
    p = g_utf8_next_char (p);
  if (*p != '\0')
    return refuse (text, what, "an integer", error);
  if (digits->len > QUOIT_BIG_MAX_DIGITS)
    return refuse (text, what, "at most 4300 digits", error);

  return quoit_big_from_digits (digits->str, digits->len, sign);
}

double
quoit_python_divide (double value, double divisor, double *rest)
{
  double remainder = fmod (value, divisor);
  double quotient = (value - remainder) / divisor;
  double whole;

  if (remainder < 0)
    {
      remainder += divisor;
      quotient -= 1;
    }
  *rest = remainder;
  whole = floor (quotient);
  return quotient - whole > 0.5 ? whole + 1 : whole;
}

__int128
quoit_python_floor_divide (__int128 value, int64_t divisor)
{
  __int128 quotient = value / divisor;

  return quotient - (value % divisor != 0 && (value < 0) != (divisor < 0));
}

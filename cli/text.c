/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include <string.h>

#include <quoit/quoit.h>

static void
append_escaped_bytes (GString *line, const char *bytes, gsize n)
{
  for (gsize i = 0; i < n; i++)
    g_string_append_printf (line, "\\x%02x", (guchar) bytes[i]);
}

static bool
is_printed (gunichar c)
{
  GUnicodeType type = g_unichar_type (c);

  return g_unichar_isprint (c) && type != G_UNICODE_LINE_SEPARATOR && type != G_UNICODE_PARAGRAPH_SEPARATOR;
}

static gsize
count_printable_ascii (const char *text)
{
  gsize n = 0;

  while (g_ascii_isprint (text[n]))
    n++;
  return n;
}

static char *
escape (const char *text, bool utf8)
{
  GString *line = g_string_new (NULL);

  for (const char *p = text; *p != '\0';)
    {
      gsize n = count_printable_ascii (p);

      g_string_append_len (line, p, n);
      p += n;
      if (*p == '\0')
        break;
      gunichar c = g_utf8_get_char_validated (p, -1);
      bool valid = c != (gunichar) -1 && c != (gunichar) -2;

      n = valid ? (gsize) (g_utf8_next_char (p) - p) : 1;
      if (valid && c >= 0x80 && utf8 && is_printed (c))
        g_string_append_len (line, p, n);
      else
        append_escaped_bytes (line, p, n);
      p += n;
    }
  return g_string_free (line, FALSE);
}

char *
text_for_terminal (const char *text)
{
  return escape (text, g_get_charset (NULL));
}

char *
text_in_one_line (const char *text)
{
  return escape (text, true);
}

/* Whether the character is a control character, is invisible, or reverses the direction of text. */
static bool
needs_json_escape (gunichar c)
{
  GUnicodeType type = g_unichar_type (c);

  return type == G_UNICODE_CONTROL || type == G_UNICODE_FORMAT || type == G_UNICODE_LINE_SEPARATOR
         || type == G_UNICODE_PARAGRAPH_SEPARATOR;
}

static void
append_for_json (GString *json, const char *p)
{
  gunichar c = g_utf8_get_char (p);

  if (!needs_json_escape (c))
    g_string_append_len (json, p, g_utf8_next_char (p) - p);
  else if (c > 0xffff)
    g_string_append_printf (json, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10), 0xdc00 + ((c - 0x10000) & 0x3ff));
  else
    g_string_append_printf (json, "\\u%04x", c);
}

char *
text_in_json (const char *json)
{
  GString *escaped = g_string_sized_new (strlen (json));
  const char *begin = json;

  for (const char *p = json; *p != '\0'; p = g_utf8_next_char (p))
    {
      guchar byte = (guchar) *p;

      /* Below 0x7f, json-glib has escaped all control characters but 0x1f. */
      if (byte < 0x7f && byte != 0x1f)
        continue;
      g_string_append_len (escaped, begin, p - begin);
      append_for_json (escaped, p);
      begin = g_utf8_next_char (p);
    }
  g_string_append (escaped, begin);
  return g_string_free (escaped, FALSE);
}

void
text_append_markup (GString *out, const char *text)
{
  g_autofree char *line = text_in_one_line (text);
  g_autofree char *escaped = g_markup_escape_text (line, -1);

  g_string_append (out, escaped);
}

char *
text_format_time (gint64 time_ms)
{
  g_autoptr (GDateTime) time = NULL;
  g_autofree char *seconds = NULL;

  if (time_ms == 0)
    return NULL;
  time = g_date_time_new_from_unix_utc (time_ms / 1000);
  if (time == NULL)
    return NULL;
  seconds = g_date_time_format (time, "%Y-%m-%dT%H:%M:%S");
  return g_strdup_printf ("%s.%03dZ", seconds, (int) (time_ms % 1000));
}

bool
text_parse_word (const char *text, const char *option, const char *const *words, guint n, guint *word, GError **error)
{
  g_autoptr (GString) expected = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    {
      if (strcmp (text, words[i]) == 0)
        return *word = i, true;
      g_string_append_printf (expected, "%s%s", i == 0 ? "" : i + 1 == n ? " or " : ", ", words[i]);
    }
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "%s '%s': expected %s", option, text, expected->str);
  return false;
}

/* GLib requires seconds. Returns "...T09:30:00Z" for "...T09:30Z", and a copy of other text. */
static char *
add_seconds (const char *text)
{
  const char *time = strchr (text, 'T');
  bool has_minutes_only = time != NULL && g_ascii_isdigit (time[1]) && g_ascii_isdigit (time[2]) && time[3] == ':'
                          && g_ascii_isdigit (time[4]) && g_ascii_isdigit (time[5]) && time[6] != '\0'
                          && strchr ("Z+-", time[6]) != NULL;

  return has_minutes_only ? g_strdup_printf ("%.*s:00%s", (int) (time - text + 6), text, time + 6) : g_strdup (text);
}

bool
text_parse_time (const char *text, const char *option, gint64 *time_ms, GError **error)
{
  g_autoptr (GDateTime) time = NULL;
  g_autofree char *complete = NULL;

  if (g_ascii_string_to_signed (text, 10, G_MININT64, G_MAXINT64, time_ms, NULL))
    return true;

  complete = add_seconds (text);
  time = g_date_time_new_from_iso8601 (complete, NULL);
  if (time == NULL)
    {
      g_set_error (
          error, QUOIT_ERROR, QUOIT_ERROR_INVALID,
          "%s '%s': expected ISO 8601 with an offset, such as 2026-05-01T09:30:00Z, or milliseconds since 1970", option,
          text);
      return false;
    }
  *time_ms = g_date_time_to_unix (time) * 1000 + g_date_time_get_microsecond (time) / 1000;
  return true;
}

bool
text_parse_number (const char *text, const NumberRule *rule, gint64 *number, GError **error)
{
  g_autoptr (GError) why = NULL;
  bool is_out_of_range;

  if (g_ascii_string_to_signed (text, 10, rule->min, rule->max, number, &why))
    return true;

  is_out_of_range = g_error_matches (why, G_NUMBER_PARSER_ERROR, G_NUMBER_PARSER_ERROR_OUT_OF_BOUNDS);
  g_set_error (error, QUOIT_ERROR, is_out_of_range ? QUOIT_ERROR_INVALID : QUOIT_ERROR_USAGE, "%s '%s': expected %s",
               rule->option, text, rule->expected);
  return false;
}

bool
text_parse_probability (const char *text, const char *option, double *probability, GError **error)
{
  const char *number = *text == '-' ? text + 1 : text;
  const gsize n_whole = strspn (number, "0123456789"), n_point = number[n_whole] == '.';
  const gsize n_decimals = strspn (number + n_whole + n_point, "0123456789");
  double parsed;

  if (n_whole + n_decimals == 0 || number[n_whole + n_point + n_decimals] != '\0')
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "%s '%s': expected a number from 0 to 1, such as 0.95",
                   option, text);
      return false;
    }
  parsed = g_ascii_strtod (text, NULL);
  if (parsed < 0 || parsed > 1)
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID, "%s '%s': expected a probability from 0 to 1", option,
                   text);
      return false;
    }
  *probability = parsed == 0 ? 0 : parsed; /* not -0 */
  return true;
}

char *
text_format_probability (double probability, guint n_decimals)
{
  g_autofree char *format = g_strdup_printf ("%%.%uf", n_decimals);
  char digits[G_ASCII_DTOSTR_BUF_SIZE];
  gsize length;

  g_ascii_formatd (digits, sizeof digits, format, probability);
  if (*digits == '1' && probability < 1)
    {
      g_autofree char *nines = g_strnfill (n_decimals, '9');

      return g_strconcat ("0.", nines, NULL);
    }
  length = strlen (digits);
  while (digits[length - 1] == '0')
    length--;
  return g_strndup (digits, digits[length - 1] == '.' ? length - 1 : length);
}

/* 10,000 years. A thousandfold of it, and a time after it, do not overflow. The library has narrower limits. */
#define MAX_DURATION_MS G_GINT64_CONSTANT (315360000000000)

static const struct {
  const char *unit;
  gint64 ms;
} units[] = { { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 }, { "d", 86400000 } };

char *
text_format_duration (gint64 duration_ms)
{
  guint unit = 0;

  while (unit + 1 < G_N_ELEMENTS (units) && duration_ms % units[unit + 1].ms == 0)
    unit++;
  return g_strdup_printf ("%" G_GINT64_FORMAT " %s", duration_ms / units[unit].ms, units[unit].unit);
}

bool
text_parse_duration (const char *text, const char *option, gint64 *duration_ms, GError **error)
{
  gsize length = strspn (text, "+-0123456789");
  g_autofree char *digits = g_strndup (text, length);
  gint64 number = 0, ms = 0;
  bool is_number = g_ascii_string_to_signed (digits, 10, G_MININT64, G_MAXINT64, &number, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (units); i++)
    if (g_str_equal (text + length, units[i].unit))
      ms = units[i].ms;
  if (!is_number || (ms == 0 && (text[length] != '\0' || number > 0)))
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
                 "%s '%s': expected a number and a unit, such as 500ms, 10s, 5m, 2h or 30d", option, text);
  else if (number < 1 || number > MAX_DURATION_MS / ms)
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID,
                 "%s '%s': expected 1ms or more, ending in the year 2199 at the latest", option, text);
  else
    return *duration_ms = number * ms, true;
  return false;
}

bool
text_parse_keep (const char *text, const char *option, gint64 *keep_ms, GError **error)
{
  if (!g_str_equal (text, "all"))
    return text_parse_duration (text, option, keep_ms, error);
  *keep_ms = G_MAXINT64;
  return true;
}

bool
text_parse_limit (const char *text, const char *option, gint64 *limit_ms, GError **error)
{
  if (!g_str_equal (text, "none"))
    return text_parse_duration (text, option, limit_ms, error);
  *limit_ms = G_MAXINT64;
  return true;
}

void
text_append_words (GString *out, const char *text, guint used, guint indent, guint width)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);

  for (char **word = words; *word != NULL; word++)
    {
      const guint n = text_width (*word);

      if (word != words && used + 1 + n > width)
        {
          g_string_append_printf (out, "\n%*s", (int) indent, "");
          used = indent;
        }
      else if (word != words)
        {
          g_string_append_c (out, ' ');
          used++;
        }
      g_string_append (out, *word);
      used += n;
    }
}

char *
text_divide (const char *text, guint width)
{
  GString *lines = g_string_new (NULL);

  text_append_words (lines, text, 0, 0, width);
  return g_string_free (lines, FALSE);
}

gsize
text_count_id_digits (const char *text)
{
  return strspn (text, "0123456789abcdef");
}

void
text_shorten_ids (char *text)
{
  char *to = text;

  for (const char *from = text; *from != '\0';)
    {
      const gsize n_word = strspn (from, G_CSET_DIGITS G_CSET_A_2_Z G_CSET_a_2_z "_-.");
      const bool is_id = n_word == RAY_GROUP_ID_LENGTH && text_count_id_digits (from) == n_word;
      const gsize n_from = MAX (n_word, 1), n_to = is_id ? SHORT_ID_LENGTH : n_from;

      memmove (to, from, n_to);
      to += n_to;
      from += n_from;
    }
  *to = '\0';
}

guint
text_char_width (gunichar c)
{
  return g_unichar_iszerowidth (c) ? 0 : g_unichar_iswide (c) ? 2 : 1;
}

guint
text_width (const char *text)
{
  guint width = 0;

  for (; *text != '\0'; text = g_utf8_next_char (text))
    width += text_char_width (g_utf8_get_char (text));
  return width;
}

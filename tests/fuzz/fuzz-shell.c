/* SPDX-License-Identifier: Apache-2.0 */
/* Escaping of untrusted text: a shell reads back the same bytes, and a terminal gets one line without control
 * characters. */
#include <string.h>

#include "cli/text.h"
#include "terminal.h"

/* Parses one word like a POSIX shell. All special characters must be quoted by ' or \. */
static char *
read_word (const char *text)
{
  GString *word = g_string_new (NULL);

  for (const char *p = text; *p != '\0'; p++)
    if (*p == '\'')
      {
        const char *end = strchr (p + 1, '\'');

        g_assert (end != NULL);
        g_string_append_len (word, p + 1, end - p - 1);
        p = end;
      }
    else
      {
        g_assert (*p == '\\' && p[1] != '\0' && p[1] != '\n');
        g_string_append_c (word, *++p);
      }
  return g_string_free (word, FALSE);
}

static void
require_terminal (const char *text, gboolean is_utf8)
{
  g_autofree char *line = text_for_terminal (text);

  g_assert (fuzz_can_be_shown (line));
  for (const char *p = line; *p != '\0'; p = g_utf8_next_char (p))
    g_assert (is_utf8 ? g_unichar_isprint (g_utf8_get_char (p)) : g_ascii_isprint (*p));
}

static void
require_time (const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *written = NULL;
  gint64 time_ms = 77, again;

  if (!text_parse_time (text, "--now", &time_ms, &error))
    {
      g_assert (error != NULL && time_ms == 77);
      return;
    }
  g_assert (error == NULL);
  written = text_format_time (time_ms);
  if (written != NULL && time_ms > 0)
    g_assert (text_parse_time (written, "--now", &again, NULL) && again == time_ms);
}

static void
require_number (const char *text)
{
  static const NumberRule rule = { "--n", "1 to 1000", 1, 1000 };
  g_autoptr (GError) error = NULL;
  gint64 number = 77;
  gboolean ok = text_parse_number (text, &rule, &number, &error);

  g_assert (ok == (error == NULL));
  g_assert (ok ? number >= 1 && number <= 1000 : number == 77);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput in = fuzz_input (data, size);
  g_autofree char *text = NULL, *quoted = NULL, *word = NULL;

  fuzz_set_locale (&in);
  text = fuzz_text (&in);
  quoted = g_shell_quote (text);
  word = read_word (quoted);
  g_assert (strcmp (word, text) == 0);
  require_terminal (text, g_get_charset (NULL));
  require_time (text);
  require_number (text);
  return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of `quoit what-if`, of a file or of an argument: the words of each line are read back from quoted text, and
 * each line has a place. */
#include <string.h>

#include "cli/what-if-lines.h"
#include "fuzz.h"

/* Puts the word between quotes, whatever it has. */
static void
append_quoted (GString *text, const char *word)
{
  g_string_append_c (text, '\'');
  for (const char *p = word; *p != '\0'; p++)
    if (*p == '\'')
      g_string_append (text, "'\\''");
    else
      g_string_append_c (text, *p);
  g_string_append (text, "' ");
}

static void
require_read_back (const WhatIfLine *line)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GPtrArray) lines = what_if_lines_new ();
  const WhatIfLine *again;

  for (char **word = line->words; *word != NULL; word++)
    append_quoted (text, *word);
  g_assert (what_if_read_lines (NULL, text->str, text->len, lines, NULL));
  g_assert (lines->len == 1);
  again = lines->pdata[0];
  g_assert (g_strv_equal ((const char *const *) again->words, (const char *const *) line->words));
}

/* The text of a line, by itself, has the same words. */
static void
require_same_text (const WhatIfLine *line)
{
  g_autoptr (GPtrArray) lines = what_if_lines_new ();
  const WhatIfLine *again;

  g_assert (what_if_read_lines ("file", line->text, strlen (line->text), lines, NULL));
  g_assert (lines->len == 1);
  again = lines->pdata[0];
  g_assert (strcmp (again->text, line->text) == 0);
  g_assert (g_strv_equal ((const char *const *) again->words, (const char *const *) line->words));
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  const char *file = size > 0 && data[0] % 2 == 0 ? NULL : "plan.txt";
  const char *text = size > 0 ? (const char *) data + 1 : "";
  const gsize length = size > 0 ? size - 1 : 0;
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) lines = what_if_lines_new ();
  gboolean ok = what_if_read_lines (file, text, length, lines, &error);
  guint number = 0, n_newlines = 0;

  g_assert (ok == (error == NULL));
  if (!ok)
    {
      /* The command escapes its messages when it prints them. */
      g_assert (g_error_matches (error, QUOIT_ERROR, QUOIT_ERROR_INVALID)
                && g_utf8_validate (error->message, -1, NULL));
      g_assert (g_str_has_prefix (error->message, file == NULL ? "line " : "plan.txt: line "));
      return 0;
    }
  for (gsize i = 0; i < length; i++)
    n_newlines += text[i] == '\n';
  for (guint i = 0; i < lines->len; i++)
    {
      const WhatIfLine *line = lines->pdata[i];

      g_assert (line->words[0] != NULL && *line->text != '\0' && strstr (line->place, "line ") != NULL);
      /* Several lines of a file can be on one line of the editor, and are after the others. */
      g_assert (file == NULL ? line->number == i + 1
                             : line->number >= MAX (number, 1) && line->number <= n_newlines + 1);
      number = line->number;
      require_read_back (line);
      require_same_text (line);
    }
  return 0;
}

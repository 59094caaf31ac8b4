/* SPDX-License-Identifier: Apache-2.0 */
#include "help-text.h"

#include <stdbool.h>
#include <string.h>

#include "text.h"

/* The next lines of a text that would begin further to the right begin here. */
enum { LITTLE_INDENT = 8 };

static bool
is_indented (const char *line)
{
  return line[0] == ' ';
}

/* Returns where the next lines of an indented line begin: below the text after the option or verb. */
static gsize
find_indent (const char *line, guint width)
{
  const char *word = line + strspn (line, " "), *gap = strstr (word, "  ");
  const char *text;

  if (gap == NULL)
    gap = strchr (word, ' ');
  if (gap == NULL)
    return LITTLE_INDENT;
  text = gap + strspn (gap, " ");
  return (gsize) (text - line) > width / 2 ? LITTLE_INDENT : (gsize) (text - line);
}

/* Returns @text with one blank between words. */
static char *
squeeze_blanks (const char *text)
{
  GString *squeezed = g_string_new (NULL);

  for (text += strspn (text, " "); *text != '\0'; text += strspn (text, " "))
    {
      const gsize n = strcspn (text, " ");

      g_string_append_printf (squeezed, "%s%.*s", squeezed->len == 0 ? "" : " ", (int) n, text);
      text += n;
    }
  return g_string_free (squeezed, FALSE);
}

/* Appends lines of at most @width with the words of @text. The first one has @used columns already. */
static void
append_lines (GString *out, const char *text, guint used, gsize indent, guint width)
{
  g_autofree char *squeezed = squeeze_blanks (text);

  text_append_words (out, squeezed, used, (guint) indent, width);
  g_string_append_c (out, '\n');
}

static void
append_indented (GString *out, const char *line, guint width)
{
  const gsize indent = find_indent (line, width);
  const gsize n_head = strlen (line) <= indent || indent == LITTLE_INDENT ? strspn (line, " ") : indent;

  g_string_append_len (out, line, (gssize) n_head);
  append_lines (out, line + n_head, (guint) n_head, indent, width);
}

/* Returns the number of lines of the paragraph that begins with @lines. */
static guint
count_paragraph (char **lines)
{
  guint n = 0;

  while (lines[n] != NULL && lines[n][0] != '\0' && !is_indented (lines[n]))
    n++;
  return n;
}

static bool
has_wide_line (char **lines, guint n, guint width)
{
  bool is_wide = false;

  for (guint i = 0; i < n; i++)
    is_wide |= text_width (lines[i]) > width;
  return is_wide;
}

static void
append_paragraph (GString *out, char **lines, guint n)
{
  for (guint i = 0; i < n; i++)
    g_string_append_printf (out, "%s\n", lines[i]);
}

char *
help_text_wrap (const char *help, guint width)
{
  g_auto (GStrv) lines = g_strsplit (help, "\n", -1);
  GString *out = g_string_new (NULL);

  for (char **line = lines; *line != NULL;)
    {
      const guint n = is_indented (*line) ? 1 : MAX (1, count_paragraph (line));

      if (!has_wide_line (line, n, width))
        append_paragraph (out, line, n);
      else if (is_indented (*line))
        append_indented (out, *line, width);
      else
        {
          char *end = line[n];
          g_autofree char *text = NULL;

          line[n] = NULL;
          text = g_strjoinv (" ", line);
          line[n] = end;
          append_lines (out, text, 0, 0, width);
        }
      line += n;
    }
  g_string_truncate (out, out->len - 1);
  return g_string_free (out, FALSE);
}

/* GOption gives only the text to the function that prints it. */
static guint help_width;

static void
print_wrapped (const char *help)
{
  g_autofree char *wrapped = help_text_wrap (help, help_width);

  g_set_print_handler (NULL);
  g_print ("%s", wrapped);
}

void
help_text_set_width (guint width)
{
  help_width = width;
  g_set_print_handler (width == 0 ? NULL : print_wrapped);
}

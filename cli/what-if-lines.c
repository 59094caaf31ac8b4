/* SPDX-License-Identifier: Apache-2.0 */
#include "what-if-lines.h"

#include <string.h>

#include <quoit/quoit.h>

static void
line_free (gpointer data)
{
  WhatIfLine *line = data;

  g_free (line->place);
  g_free (line->text);
  g_strfreev (line->words);
  g_free (line);
}

GPtrArray *
what_if_lines_new (void)
{
  return g_ptr_array_new_with_free_func (line_free);
}

/* The state while a text is read. */
typedef struct {
  const char *file; /* NULL: an argument */
  const char *p, *end;
  guint number;             /* of the present line */
  guint n_newlines;         /* in quotes of the present line */
  GPtrArray *words;         /* of the present line; owned */
  GString *word;            /* the present word; NULL: between words */
  const char *start, *stop; /* of the text of the present line; NULL: no word yet */
} Reader;

static char *
format_place (const Reader *reader)
{
  return reader->file == NULL ? g_strdup_printf ("line %u", reader->number)
                              : g_strdup_printf ("%s: line %u", reader->file, reader->number);
}

static void
end_word (Reader *reader)
{
  if (reader->word == NULL)
    return;
  g_ptr_array_add (reader->words, g_string_free (g_steal_pointer (&reader->word), FALSE));
}

static void
end_line (Reader *reader, GPtrArray *lines)
{
  WhatIfLine *line;

  end_word (reader);
  if (reader->words->len == 0)
    return;
  line = g_new0 (WhatIfLine, 1);
  line->place = format_place (reader);
  line->number = reader->number;
  line->text = g_strndup (reader->start, (gsize) (reader->stop - reader->start));
  g_ptr_array_add (reader->words, NULL);
  line->words = (char **) g_ptr_array_free (reader->words, FALSE);
  reader->words = g_ptr_array_new_with_free_func (g_free);
  reader->start = NULL;
  g_ptr_array_add (lines, line);
}

/* Appends the byte at reader->p to the present word. */
static void
take_byte (Reader *reader)
{
  if (reader->word == NULL)
    reader->word = g_string_new (NULL);
  reader->n_newlines += *reader->p == '\n';
  g_string_append_c (reader->word, *reader->p++);
}

static bool
refuse_open_quote (const Reader *reader, const char *open, GError **error)
{
  g_autofree char *place = format_place (reader);
  const gsize length = (gsize) (reader->end - open);
  const char *newline = memchr (open, '\n', length);
  g_autofree char *rest = g_strndup (open, newline == NULL ? length : (gsize) (newline - open));

  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID, "%s: '%s': expected a closing %s", place, rest,
               *open == '"' ? "double quote" : "quote");
  return false;
}

/* Reads the text between quotes. In double quotes, '\\' protects the next character. */
static bool
read_quoted (Reader *reader, GError **error)
{
  const char *open = reader->p;

  reader->p++;
  if (reader->word == NULL)
    reader->word = g_string_new (NULL);
  while (reader->p < reader->end && *reader->p != *open)
    {
      if (*open == '"' && *reader->p == '\\' && reader->p + 1 < reader->end)
        reader->p++;
      take_byte (reader);
    }
  if (reader->p == reader->end)
    return refuse_open_quote (reader, open, error);
  reader->p++;
  return true;
}

/* Reads a part of a word. */
static bool
read_part (Reader *reader, GError **error)
{
  if (reader->start == NULL)
    reader->start = reader->p;
  if (*reader->p == '\'' || *reader->p == '"')
    {
      if (!read_quoted (reader, error))
        return false;
    }
  else
    {
      if (*reader->p == '\\' && reader->p + 1 < reader->end)
        reader->p++;
      take_byte (reader);
    }
  reader->stop = reader->p;
  return true;
}

static bool
check_text (const Reader *reader, const char *text, gsize length, GError **error)
{
  const char *bad;
  guint number = 1;

  if (g_utf8_validate_len (text, (gssize) length, &bad))
    return true;
  for (const char *p = text; p < bad; p++)
    number += *p == '\n';
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID, "%s%sline %u: expected UTF-8 text without NUL",
               reader->file == NULL ? "" : reader->file, reader->file == NULL ? "" : ": ", number);
  return false;
}

bool
what_if_read_lines (const char *file, const char *text, gsize length, GPtrArray *lines, GError **error)
{
  Reader reader = { .file = file, .p = text, .end = text + length, .number = 1 };
  const guint n_before = lines->len;
  bool ok = check_text (&reader, text, length, error);

  reader.words = g_ptr_array_new_with_free_func (g_free);
  while (ok && reader.p < reader.end)
    {
      const char c = *reader.p;

      if (c == '\n' || c == ';')
        {
          end_line (&reader, lines);
          reader.p++;
          reader.number = file == NULL ? lines->len - n_before + 1 : reader.number + reader.n_newlines + (c == '\n');
          reader.n_newlines = 0;
        }
      else if (g_ascii_isspace (c))
        {
          end_word (&reader);
          reader.p++;
        }
      else if (c == '#' && reader.word == NULL)
        while (reader.p < reader.end && *reader.p != '\n')
          reader.p++;
      else
        ok = read_part (&reader, error);
    }
  if (ok)
    end_line (&reader, lines);
  g_ptr_array_unref (reader.words);
  if (reader.word != NULL)
    g_string_free (reader.word, TRUE);
  return ok;
}

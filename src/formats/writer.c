/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/writer.h"

#include <string.h>

#include "base/hidden.h"

/* Items that are nested deeper than DEEPEST_LINE share a line, so that each row of a table is one line. */
enum { DEEPEST_LINE = 2, DEEPEST = 32 };

struct _QuoitWriter {
  GString *out;
  char closers[DEEPEST];
  unsigned depth;
  gboolean has_items; /* whether the innermost open object or array has items already */
};

QuoitWriter *
quoit_writer_new (void)
{
  QuoitWriter *writer = g_new0 (QuoitWriter, 1);

  writer->out = g_string_new (NULL);
  return writer;
}

void
quoit_writer_free (QuoitWriter *writer)
{
  if (writer == NULL)
    return;
  g_string_free (writer->out, TRUE);
  g_free (writer);
}

static void
new_line (QuoitWriter *writer)
{
  g_string_append_c (writer->out, '\n');
  for (unsigned i = 0; i < writer->depth; i++)
    g_string_append (writer->out, "  ");
}

/* Writes \uXXXX, or a surrogate pair for characters beyond the first plane. */
static void
write_escaped (GString *out, gunichar c)
{
  if (c > 0xffff)
    g_string_append_printf (out, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10), 0xdc00 + ((c - 0x10000) & 0x3ff));
  else
    g_string_append_printf (out, "\\u%04x", c);
}

static void
write_string (GString *out, const char *text)
{
  g_autofree char *valid = g_utf8_validate (text, -1, NULL) ? NULL : g_utf8_make_valid (text, -1);

  g_string_append_c (out, '"');
  for (const char *p = valid != NULL ? valid : text; *p != '\0'; p = g_utf8_next_char (p))
    {
      gunichar c = g_utf8_get_char (p);

      if (c == '"' || c == '\\')
        g_string_append_printf (out, "\\%c", (char) c);
      else if (c == '\n')
        g_string_append (out, "\\n");
      else if (quoit_is_hidden (c))
        write_escaped (out, c);
      else
        g_string_append_len (out, p, g_utf8_next_char (p) - p);
    }
  g_string_append_c (out, '"');
}

static void
begin_item (QuoitWriter *writer, const char *key)
{
  g_assert (writer->depth == 0 || (writer->closers[writer->depth - 1] == '}') == (key != NULL));
  if (writer->has_items)
    g_string_append_c (writer->out, ',');
  if (writer->depth > 0 && writer->depth <= DEEPEST_LINE)
    new_line (writer);
  else if (writer->has_items)
    g_string_append_c (writer->out, ' ');
  writer->has_items = TRUE;
  if (key == NULL)
    return;
  write_string (writer->out, key);
  g_string_append (writer->out, ": ");
}

static void
open_item (QuoitWriter *writer, const char *key, const char *brackets)
{
  begin_item (writer, key);
  g_assert (writer->depth < DEEPEST);
  g_string_append_c (writer->out, brackets[0]);
  writer->closers[writer->depth++] = brackets[1];
  writer->has_items = FALSE;
}

void
quoit_writer_open_object (QuoitWriter *writer, const char *key)
{
  open_item (writer, key, "{}");
}

void
quoit_writer_open_array (QuoitWriter *writer, const char *key)
{
  open_item (writer, key, "[]");
}

void
quoit_writer_close (QuoitWriter *writer)
{
  g_assert (writer->depth > 0);
  writer->depth--;
  if (writer->has_items && writer->depth < DEEPEST_LINE)
    new_line (writer);
  g_string_append_c (writer->out, writer->closers[writer->depth]);
  writer->has_items = TRUE;
}

void
quoit_writer_text (QuoitWriter *writer, const char *key, const char *value)
{
  begin_item (writer, key);
  if (value == NULL)
    g_string_append (writer->out, "null");
  else
    write_string (writer->out, value);
}

void
quoit_writer_integer (QuoitWriter *writer, const char *key, int64_t value)
{
  begin_item (writer, key);
  g_string_append_printf (writer->out, "%" G_GINT64_FORMAT, (gint64) value);
}

void
quoit_writer_boolean (QuoitWriter *writer, const char *key, gboolean value)
{
  begin_item (writer, key);
  g_string_append (writer->out, value ? "true" : "false");
}

void
quoit_writer_amount (QuoitWriter *writer, const char *key, QuoitAmount value)
{
  g_autofree char *text = quoit_amount_format (value);

  quoit_writer_text (writer, key, text);
}

void
quoit_writer_sum (QuoitWriter *writer, const char *key, QuoitSum value)
{
  g_autofree char *text = quoit_sum_format (value);

  quoit_writer_text (writer, key, text);
}

char *
quoit_writer_finish (QuoitWriter *writer)
{
  char *text;

  g_assert (writer->depth == 0);
  g_string_append_c (writer->out, '\n');
  text = g_string_free (writer->out, FALSE);
  g_free (writer);
  return text;
}

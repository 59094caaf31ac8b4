/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "table-cells.h"
#include "text.h"

/* Whether a spreadsheet would evaluate the text as a formula. Tabs and line ends, which have the same effect, are
 * already escaped. */
static bool
begins_formula (const char *text)
{
  /* = + - @ and their full-width forms */
  static const gunichar marks[] = { '=', '+', '-', '@', 0xff1d, 0xff0b, 0xff0d, 0xff20 };
  gunichar c;

  while (*text == ' ')
    text++;
  c = g_utf8_get_char (text);
  for (guint i = 0; i < G_N_ELEMENTS (marks); i++)
    if (c == marks[i])
      return true;
  return false;
}

/* Adds an apostrophe before each formula. Many spreadsheets begin a cell after a semicolon, even inside quotes. */
static void
append_marked (GString *cell, const char *text)
{
  for (const char *p = text; *p != '\0'; p++)
    {
      if ((p == text || p[-1] == ';') && begins_formula (p))
        g_string_append_c (cell, '\'');
      g_string_append_c (cell, *p);
    }
}

static void
append_text (GString *cell, const char *text)
{
  g_autofree char *line = text_in_one_line (text);

  append_marked (cell, line);
}

static void
append_item (GString *cell, const char *text)
{
  g_autofree char *line = text_in_one_line (text);
  g_auto (GStrv) parts = g_strsplit (line, ";", -1);
  g_autofree char *item = g_strjoinv ("\\x3b", parts);

  append_marked (cell, item);
}

static void
append_list (GString *cell, const GPtrArray *list)
{
  for (guint i = 0; i < list->len; i++)
    {
      if (i > 0)
        g_string_append_c (cell, ';');
      if (list->pdata[i] != NULL)
        append_item (cell, list->pdata[i]);
    }
}

/* A map is written as a list of KEY=VALUE. */
static void
append_map (GString *cell, const GPtrArray *pairs)
{
  for (guint i = 0; i + 1 < pairs->len; i += 2)
    {
      g_autofree char *pair
          = g_strdup_printf ("%s=%s", (const char *) pairs->pdata[i], (const char *) pairs->pdata[i + 1]);

      if (i > 0)
        g_string_append_c (cell, ';');
      append_item (cell, pair);
    }
}

/* A table in a cell is written as the list of the texts in its column "text". */
static void
append_texts (GString *cell, const Table *rows)
{
  guint column = 0;

  while (column < rows->n_columns && g_strcmp0 (rows->columns[column].key, "text") != 0)
    column++;
  g_assert (column < rows->n_columns);
  for (guint row = 0; row < table_get_n_rows (rows); row++)
    {
      if (row > 0)
        g_string_append_c (cell, ';');
      append_item (cell, table_get_cell (rows, row, column)->text);
    }
}

static char *
format_cell (CellType type, const Cell *cell)
{
  GString *text = g_string_new (NULL);

  if (cell->known)
    switch (type)
      {
      case CELL_TEXT:
        append_text (text, cell->text);
        break;
      case CELL_AMOUNT:
        g_string_append (text, cell->text);
        break;
      case CELL_NUMBER:
        g_string_append_printf (text, "%" G_GINT64_FORMAT, cell->number);
        break;
      case CELL_FLAG:
        g_string_append (text, cell->flag ? "true" : "false");
        break;
      case CELL_LIST:
        append_list (text, cell->list);
        break;
      case CELL_TABLE:
        append_texts (text, cell->table);
        break;
      case CELL_MAP:
        append_map (text, cell->list);
        break;
      }
  return g_string_free (text, FALSE);
}

static void
append_quoted (GString *csv, const char *cell)
{
  if (strpbrk (cell, ",;\"") == NULL)
    {
      g_string_append (csv, cell);
      return;
    }
  g_string_append_c (csv, '"');
  for (; *cell != '\0'; cell++)
    {
      if (*cell == '"')
        g_string_append_c (csv, '"');
      g_string_append_c (csv, *cell);
    }
  g_string_append_c (csv, '"');
}

/* Appends a comma, or the end of the line after the last column with a key. */
static void
end_cell (GString *csv, const Table *table, guint column)
{
  bool last = true;

  for (guint next = column + 1; next < table->n_columns; next++)
    last = last && table->columns[next].key == NULL;
  g_string_append_c (csv, last ? '\n' : ',');
}

char *
table_format_csv (const Table *table)
{
  GString *csv = g_string_new (NULL);

  for (guint i = 0; i < table->n_columns; i++)
    if (table->columns[i].key != NULL)
      {
        g_string_append (csv, table->columns[i].key);
        end_cell (csv, table, i);
      }
  for (guint row = 0; row < table_get_n_rows (table); row++)
    for (guint i = 0; i < table->n_columns; i++)
      if (table->columns[i].key != NULL)
        {
          g_autofree char *cell = format_cell (column_type (&table->columns[i]), table_get_cell (table, row, i));

          append_quoted (csv, cell);
          end_cell (csv, table, i);
        }
  return g_string_free (csv, FALSE);
}

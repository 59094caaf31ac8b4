/* SPDX-License-Identifier: Apache-2.0 */
#include <libsmartcols.h>

#include "table-cells.h"
#include "text.h"

static char *
format_list (const GPtrArray *list)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < list->len; i++)
    g_string_append_printf (text, "%s%s", i == 0 ? "" : ", ",
                            list->pdata[i] == NULL ? "-" : (const char *) list->pdata[i]);
  return g_string_free (text, FALSE);
}

char *
table_cell_format (CellType type, const Cell *cell, const char *no)
{
  char *raw = NULL;

  if (cell->known && type == CELL_NUMBER)
    raw = g_strdup_printf ("%" G_GINT64_FORMAT, cell->number);
  else if (cell->known && type == CELL_FLAG)
    raw = g_strdup (cell->flag ? "yes" : no);
  else if (cell->known && type == CELL_LIST)
    raw = format_list (cell->list);
  else if (cell->known && (type == CELL_TEXT || type == CELL_AMOUNT))
    raw = g_strdup (cell->text);

  if (raw != NULL && raw[0] != '\0')
    return raw;
  g_free (raw);
  return g_strdup ("-");
}

static char *
format_cell (CellType type, const Cell *cell, const char *no)
{
  g_autofree char *raw = table_cell_format (type, cell, no);

  return text_for_terminal (raw);
}

static struct libscols_table *
new_scols (void)
{
  struct libscols_table *scols = scols_new_table ();

  if (scols == NULL)
    g_error ("no memory for a table");
  /* Libsmartcols shall not cut or wrap rows at the width of the terminal, so that a row is always one line. It shall
   * not escape the cells, because text_for_terminal() has done that. */
  scols_table_set_termforce (scols, SCOLS_TERMFORCE_NEVER);
  scols_table_enable_noencoding (scols, 1);
  scols_table_enable_colors (scols, 0);
  return scols;
}

/* Removes blanks at the ends of lines, in place: a ledger can have a million rows. */
static void
trim_lines (GString *text)
{
  gsize length = 0, end = 0; /* the length of the result, with and without the blanks at its end */

  for (gsize i = 0; i < text->len; i++)
    {
      if (text->str[i] == '\n')
        length = end;
      text->str[length++] = text->str[i];
      if (!g_ascii_isspace (text->str[i]) || text->str[i] == '\n')
        end = length;
    }
  g_string_truncate (text, end);
}

static char *
print_scols (struct libscols_table *scols)
{
  g_autoptr (GString) trimmed = NULL;
  char *text = NULL; /* from malloc */

  if (scols_print_table_to_string (scols, &text) != 0 || text == NULL)
    g_error ("libsmartcols cannot print a table");
  scols_unref_table (scols);

  trimmed = g_string_new (text);
  free (text);
  trim_lines (trimmed);
  if (trimmed->len > 0 && trimmed->str[trimmed->len - 1] != '\n')
    g_string_append_c (trimmed, '\n');
  return g_string_free (g_steal_pointer (&trimmed), FALSE);
}

static void
set_cell (struct libscols_line *line, gsize column, char *text)
{
  if (scols_line_set_data (line, column, text) != 0)
    g_error ("no memory for a cell");
  g_free (text);
}

char *
table_format_rows (const Table *table)
{
  struct libscols_table *scols = new_scols ();

  for (guint i = 0; i < table->n_columns; i++)
    if (table->columns[i].heading != NULL)
      {
        bool right = table->columns[i].type == CELL_NUMBER || table->columns[i].type == CELL_AMOUNT;

        scols_table_new_column (scols, table->columns[i].heading, 0, right ? SCOLS_FL_RIGHT : 0);
      }

  for (guint row = 0; row < table_get_n_rows (table); row++)
    {
      struct libscols_line *line = scols_table_new_line (scols, NULL);
      gsize column = 0;

      for (guint i = 0; i < table->n_columns; i++)
        if (table->columns[i].heading != NULL)
          set_cell (line, column++, format_cell (table->columns[i].type, table_get_cell (table, row, i), "-"));
    }
  return print_scols (scols);
}

char *
table_format_facts (const Table *table)
{
  struct libscols_table *scols = new_scols ();

  scols_table_enable_noheadings (scols, 1);
  scols_table_new_column (scols, "what", 0, 0);
  scols_table_new_column (scols, "value", 0, 0);
  for (guint i = 0; i < table->n_columns; i++)
    if (table->columns[i].heading != NULL && table_get_cell (table, 0, i)->known)
      {
        struct libscols_line *line = scols_table_new_line (scols, NULL);

        set_cell (line, 0, g_strconcat (table->columns[i].heading, ":", NULL));
        set_cell (line, 1, format_cell (table->columns[i].type, table_get_cell (table, 0, i), "no"));
      }
  return print_scols (scols);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "table-cells.h"
#include "text.h"

static bool
is_number (CellType type)
{
  return type == CELL_NUMBER || type == CELL_AMOUNT;
}

static void
append_cell (GString *html, CellType type, const Cell *cell, const char *no)
{
  g_autofree char *text = table_cell_format (type, cell, no);

  g_string_append (html, is_number (type) ? "<td class=\"n\">" : "<td>");
  text_append_markup (html, text);
  g_string_append (html, "</td>");
}

static void
append_heading (GString *html, const char *heading)
{
  g_string_append (html, "<th>");
  text_append_markup (html, heading);
  g_string_append (html, "</th>");
}

void
table_append_html_rows (const Table *table, GString *html)
{
  g_string_append (html, "<table>\n<tr>");
  for (guint i = 0; i < table->n_columns; i++)
    if (table->columns[i].heading != NULL)
      append_heading (html, table->columns[i].heading);
  g_string_append (html, "</tr>\n");
  for (guint row = 0; row < table_get_n_rows (table); row++)
    {
      g_string_append (html, "<tr>");
      for (guint i = 0; i < table->n_columns; i++)
        if (table->columns[i].heading != NULL)
          append_cell (html, column_type (&table->columns[i]), table_get_cell (table, row, i), "-");
      g_string_append (html, "</tr>\n");
    }
  g_string_append (html, "</table>\n");
}

void
table_append_html_facts (const Table *table, GString *html)
{
  g_string_append (html, "<table>\n");
  for (guint i = 0; i < table->n_columns; i++)
    if (table->columns[i].heading != NULL && table_get_cell (table, 0, i)->known)
      {
        g_string_append (html, "<tr>");
        append_heading (html, table->columns[i].heading);
        append_cell (html, column_type (&table->columns[i]), table_get_cell (table, 0, i), "no");
        g_string_append (html, "</tr>\n");
      }
  g_string_append (html, "</table>\n");
}

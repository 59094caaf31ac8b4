/* SPDX-License-Identifier: Apache-2.0 */
#include "table-cells.h"

Table *
table_new (const Column *columns, guint n_columns)
{
  Table *table = g_new0 (Table, 1);

  table->columns = columns;
  table->n_columns = n_columns;
  table->cells = g_array_new (FALSE, TRUE, sizeof (Cell));
  return table;
}

static void
cell_clear (CellType type, Cell *cell)
{
  if (!cell->known)
    return;
  if (type == CELL_TEXT || type == CELL_AMOUNT)
    g_free (cell->text);
  else if (type == CELL_LIST || type == CELL_MAP)
    g_ptr_array_unref (cell->list);
  else if (type == CELL_TABLE)
    table_free (cell->table);
}

void
table_free (Table *table)
{
  if (table == NULL)
    return;
  for (guint i = 0; i < table->cells->len; i++)
    cell_clear (column_type (&table->columns[i % table->n_columns]), &g_array_index (table->cells, Cell, i));
  g_array_unref (table->cells);
  g_free (table);
}

static CellType
next_type (const Table *table)
{
  return column_type (&table->columns[table->cells->len % table->n_columns]);
}

static void
add (Table *table, Cell cell)
{
  g_array_append_val (table->cells, cell);
}

void
table_skip (Table *table)
{
  add (table, (Cell) { .known = false });
}

void
table_take_text (Table *table, char *text)
{
  g_assert (next_type (table) == CELL_TEXT || next_type (table) == CELL_AMOUNT);
  add (table, (Cell) { .known = text != NULL, .text = text });
}

void
table_add_text (Table *table, const char *text)
{
  table_take_text (table, g_strdup (text));
}

void
table_add_number (Table *table, gint64 number)
{
  g_assert (next_type (table) == CELL_NUMBER);
  add (table, (Cell) { .known = true, .number = number });
}

void
table_add_flag (Table *table, bool flag)
{
  g_assert (next_type (table) == CELL_FLAG);
  add (table, (Cell) { .known = true, .flag = flag });
}

void
table_take_list (Table *table, GPtrArray *texts)
{
  g_assert (next_type (table) == CELL_LIST || next_type (table) == CELL_MAP);
  add (table, (Cell) { .known = true, .list = texts });
}

void
table_take_table (Table *table, Table *rows)
{
  g_assert (next_type (table) == CELL_TABLE);
  add (table, (Cell) { .known = true, .table = rows });
}

guint
table_get_n_rows (const Table *table)
{
  return table->cells->len / table->n_columns;
}

const Cell *
table_get_cell (const Table *table, guint row, guint column)
{
  return &g_array_index (table->cells, Cell, row * table->n_columns + column);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <libsmartcols.h>

#include "text.h"

typedef struct {
  bool known;
  union {
    char *text;
    gint64 number;
    bool flag;
    GPtrArray *list;
    Table *table;
  };
} Cell;

struct _Table {
  const Column *columns;
  guint n_columns;
  GArray *cells;
};

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
    cell_clear (table->columns[i % table->n_columns].type, &g_array_index (table->cells, Cell, i));
  g_array_unref (table->cells);
  g_free (table);
}

static CellType
next_type (const Table *table)
{
  return table->columns[table->cells->len % table->n_columns].type;
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

static const Cell *
cell_at (const Table *table, guint row, guint column)
{
  return &g_array_index (table->cells, Cell, row * table->n_columns + column);
}

/* --- JSON --- */

/* JSON is UTF-8, and a path need not be. */
static void
build_text (const char *text, JsonBuilder *builder)
{
  g_autofree char *valid = g_utf8_validate (text, -1, NULL) ? NULL : g_utf8_make_valid (text, -1);

  json_builder_add_string_value (builder, valid == NULL ? text : valid);
}

static void
build_list (const GPtrArray *list, JsonBuilder *builder)
{
  json_builder_begin_array (builder);
  for (guint i = 0; i < list->len; i++)
    if (list->pdata[i] == NULL)
      json_builder_add_null_value (builder);
    else
      build_text (list->pdata[i], builder);
  json_builder_end_array (builder);
}

static void
build_map (const GPtrArray *pairs, JsonBuilder *builder)
{
  json_builder_begin_object (builder);
  for (guint i = 0; i + 1 < pairs->len; i += 2)
    {
      json_builder_set_member_name (builder, pairs->pdata[i]);
      build_text (pairs->pdata[i + 1], builder);
    }
  json_builder_end_object (builder);
}

static void
build_cell (CellType type, const Cell *cell, JsonBuilder *builder)
{
  if (!cell->known)
    {
      json_builder_add_null_value (builder);
      return;
    }
  switch (type)
    {
    case CELL_TEXT:
    case CELL_AMOUNT:
      build_text (cell->text, builder);
      break;
    case CELL_NUMBER:
      json_builder_add_int_value (builder, cell->number);
      break;
    case CELL_FLAG:
      json_builder_add_boolean_value (builder, cell->flag);
      break;
    case CELL_LIST:
      build_list (cell->list, builder);
      break;
    case CELL_MAP:
      build_map (cell->list, builder);
      break;
    case CELL_TABLE:
      table_build_array (cell->table, builder);
      break;
    }
}

static void
build_row (const Table *table, guint row, JsonBuilder *builder)
{
  for (guint i = 0; i < table->n_columns; i++)
    if (table->columns[i].key != NULL)
      {
        json_builder_set_member_name (builder, table->columns[i].key);
        build_cell (table->columns[i].type, cell_at (table, row, i), builder);
      }
}

void
table_build_members (const Table *table, JsonBuilder *builder)
{
  build_row (table, 0, builder);
}

void
table_build_array (const Table *table, JsonBuilder *builder)
{
  json_builder_begin_array (builder);
  for (guint row = 0; row < table_get_n_rows (table); row++)
    {
      json_builder_begin_object (builder);
      build_row (table, row, builder);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
}

void
table_build_map (const Table *table, JsonBuilder *builder)
{
  g_assert (table->n_columns == 2);
  json_builder_begin_object (builder);
  for (guint row = 0; row < table_get_n_rows (table); row++)
    {
      json_builder_set_member_name (builder, cell_at (table, row, 0)->text);
      build_cell (table->columns[1].type, cell_at (table, row, 1), builder);
    }
  json_builder_end_object (builder);
}

/* --- text --- */

static char *
format_list (const GPtrArray *list)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < list->len; i++)
    g_string_append_printf (text, "%s%s", i == 0 ? "" : ", ",
                            list->pdata[i] == NULL ? "-" : (const char *) list->pdata[i]);
  return g_string_free (text, FALSE);
}

static char *
format_cell (CellType type, const Cell *cell, const char *no)
{
  g_autofree char *raw = NULL;

  if (cell->known && type == CELL_NUMBER)
    raw = g_strdup_printf ("%" G_GINT64_FORMAT, cell->number);
  else if (cell->known && type == CELL_FLAG)
    raw = g_strdup (cell->flag ? "yes" : no);
  else if (cell->known && type == CELL_LIST)
    raw = format_list (cell->list);
  else if (cell->known && (type == CELL_TEXT || type == CELL_AMOUNT))
    raw = g_strdup (cell->text);

  return raw == NULL || raw[0] == '\0' ? g_strdup ("-") : text_for_terminal (raw);
}

static struct libscols_table *
new_scols (void)
{
  struct libscols_table *scols = scols_new_table ();

  if (scols == NULL)
    g_error ("no memory for a table");
  /* A row is a line whoever reads it: cutting or wrapping at the width of a terminal is the terminal's business. And
   * the cells have been escaped already. */
  scols_table_set_termforce (scols, SCOLS_TERMFORCE_NEVER);
  scols_table_enable_noencoding (scols, 1);
  scols_table_enable_colors (scols, 0);
  return scols;
}

static char *
print_scols (struct libscols_table *scols)
{
  g_autoptr (GString) trimmed = g_string_new (NULL);
  g_auto (GStrv) lines = NULL;
  char *text = NULL; /* from malloc */

  if (scols_print_table_to_string (scols, &text) != 0 || text == NULL)
    g_error ("libsmartcols cannot print a table");
  scols_unref_table (scols);

  lines = g_strsplit (text, "\n", -1);
  free (text);
  for (guint i = 0; lines[i] != NULL; i++)
    if (lines[i + 1] != NULL || lines[i][0] != '\0')
      g_string_append_printf (trimmed, "%s\n", g_strchomp (lines[i]));
  return g_strdup (trimmed->str);
}

static void
set_cell (struct libscols_line *line, gsize at, char *text)
{
  if (scols_line_set_data (line, at, text) != 0)
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
      gsize at = 0;

      for (guint i = 0; i < table->n_columns; i++)
        if (table->columns[i].heading != NULL)
          set_cell (line, at++, format_cell (table->columns[i].type, cell_at (table, row, i), "-"));
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
    if (table->columns[i].heading != NULL && cell_at (table, 0, i)->known)
      {
        struct libscols_line *line = scols_table_new_line (scols, NULL);

        set_cell (line, 0, g_strconcat (table->columns[i].heading, ":", NULL));
        set_cell (line, 1, format_cell (table->columns[i].type, cell_at (table, 0, i), "no"));
      }
  return print_scols (scols);
}

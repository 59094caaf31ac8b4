/* SPDX-License-Identifier: Apache-2.0 */
#include "table-cells.h"

/* JSON must be UTF-8, but text such as a path need not be. */
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
        build_cell (column_type (&table->columns[i]), table_get_cell (table, row, i), builder);
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
      json_builder_set_member_name (builder, table_get_cell (table, row, 0)->text);
      build_cell (column_type (&table->columns[1]), table_get_cell (table, row, 1), builder);
    }
  json_builder_end_object (builder);
}

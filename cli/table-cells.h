/* SPDX-License-Identifier: Apache-2.0 */
/* The cells of a table, for the files that write them: table-json.c, table-text.c,
 * table-html.c and table-csv.c. */
#pragma once

#include "table.h"

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

/* What a terminal understands. */
#define COLOR_BOLD "\033[1m"
#define COLOR_RED "\033[31m"
#define COLOR_YELLOW "\033[33m"
#define COLOR_END "\033[0m"

const Cell *table_get_cell (const Table *table, guint row, guint column);

/* Formats a cell for people, not escaped yet. @no: the text of a flag that is false. g_free() it. */
char *table_cell_format (CellType type, const Cell *cell, const char *no);

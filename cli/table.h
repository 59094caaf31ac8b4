/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of typed cells, which can be written as an aligned table for people, as JSON for programs, and as CSV for
 * spreadsheets. */
#pragma once

#include <stdbool.h>
#include <glib.h>
#include <json-glib/json-glib.h>

typedef enum {
  CELL_TEXT,
  CELL_NUMBER, /* a JSON number */
  CELL_AMOUNT, /* exact decimal text; in JSON a string, because most readers of JSON numbers use doubles */
  CELL_FLAG,   /* true or false in JSON and CSV; in text "yes" or "no", and in rows "-" instead of "no" */
  CELL_LIST,   /* texts; a NULL in the list is an unknown text */
  CELL_MAP,    /* texts: name, value, name, value and so on */
  CELL_TABLE   /* a table; JSON has its rows, CSV only the texts of its column "text" */
} CellType;

typedef struct {
  const char *key;     /* the name in JSON and CSV; NULL: only people see the column */
  const char *heading; /* the heading for people; NULL: only JSON and CSV have the column */
  guint type;          /* a CellType, or RANKED (rank, CellType) */
} Column;

/* A column that is left out if it has no known cell. Columns of rank 2 and more are also left out, the greatest rank
 * first, if the lines are too wide. */
#define RANKED(rank, type) ((guint) (rank) << 8 | (guint) (type))

static inline CellType
column_type (const Column *column)
{
  return (CellType) (column->type & 0xff);
}

/* Returns 0 for a column that is always shown. */
static inline guint
column_rank (const Column *column)
{
  return column->type >> 8;
}

typedef struct _Table Table;

/* @columns is not copied, and must outlive the table. */
Table *table_new (const Column *columns, guint n_columns);
void table_free (Table *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Table, table_free)

/* Cells are added from left to right. After the cell of the last column, the next cell begins a new row. The take
 * functions take ownership. NULL is the same as table_skip(), which adds an unknown value: null in JSON, "-" for
 * people. */
void table_skip (Table *table);
void table_add_text (Table *table, const char *text);
void table_take_text (Table *table, char *text);
void table_add_number (Table *table, gint64 number);
void table_add_flag (Table *table, bool flag);
void table_take_list (Table *table, GPtrArray *texts);
void table_take_table (Table *table, Table *rows);

guint table_get_n_rows (const Table *table);

/* Build an array with an object for each row, or add the members of row 0 to an object that the caller has begun. */
void table_build_array (const Table *table, JsonBuilder *builder);
void table_build_members (const Table *table, JsonBuilder *builder);

/* Builds one object of a table with two columns, the names and the values of its members. */
void table_build_map (const Table *table, JsonBuilder *builder);

/* How people read text: the width of lines, and colours. */
typedef struct {
  guint width; /* in characters; 0: no limit, and all columns */
  bool has_colors;
  bool divides; /* the last column is divided at blanks; otherwise its lines can be wider, and a row is one line */
} TextForm;

/* Format a table for people: the first function formats all rows under a line of headings, the second one formats only
 * row 0, with one line for each column: its heading and its value. g_free() the text. */
char *table_format_rows (const Table *table, TextForm form);
char *table_format_facts (const Table *table, TextForm form);

/* Formats a line of keys and a line for each row, according to RFC 4180, but with LF at the end of lines. Text that a
 * spreadsheet would evaluate as a formula begins with an apostrophe; see quoit(1). g_free() it. */
char *table_format_csv (const Table *table);

/* Appends a table of HTML with all rows, or with a row for each column of row 0: the same cells as in the formats for
 * people. */
void table_append_html_rows (const Table *table, GString *html);
void table_append_html_facts (const Table *table, GString *html);

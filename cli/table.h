/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of typed cells, which are written as an aligned table for people, as JSON for programs or as CSV for
 * spreadsheets: the same facts each time. */
#pragma once

#include <stdbool.h>
#include <glib.h>
#include <json-glib/json-glib.h>

typedef enum {
  CELL_TEXT,
  CELL_NUMBER, /* a JSON number */
  CELL_AMOUNT, /* exact decimal text: a JSON string, since JSON numbers are doubles to most readers */
  CELL_FLAG,   /* true or false; yes or no, and in rows "-" for the quieter no */
  CELL_LIST,   /* of text; NULL: nothing is known */
  CELL_MAP,    /* name, value, name, value... */
  CELL_TABLE   /* rows of their own */
} CellType;

typedef struct {
  const char *key;     /* in JSON; NULL: for people alone, what other cells of the row say to programs */
  const char *heading; /* for people; NULL: in JSON alone, for what the other cells of the row say in words */
  CellType type;
} Column;

typedef struct _Table Table;

/* @columns is kept, not copied. */
Table *table_new (const Column *columns, guint n_columns);
void table_free (Table *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Table, table_free)

/* Cells are added from left to right; one behind the last column begins the next row. */
void table_skip (Table *table); /* nothing is known: null, or "-" */
void table_add_text (Table *table, const char *text);
void table_take_text (Table *table, char *text);
void table_add_number (Table *table, gint64 number);
void table_add_flag (Table *table, bool flag);
void table_take_list (Table *table, GPtrArray *texts);
void table_take_table (Table *table, Table *rows);

guint table_get_n_rows (const Table *table);

/* The rows as an array of objects; the members of row 0 into an object that the caller has begun. */
void table_build_array (const Table *table, JsonBuilder *builder);
void table_build_members (const Table *table, JsonBuilder *builder);

/* The rows of two cells of text, as one object: name and value. */
void table_build_map (const Table *table, JsonBuilder *builder);

/* For stdout: the rows under headings; row 0 as lines of heading and value. g_free() it. */
char *table_format_rows (const Table *table);
char *table_format_facts (const Table *table);

/* For stdout: a line of keys, then a line a row (RFC 4180, but lines end in LF). Text that a spreadsheet would take for
 * a formula is marked with an apostrophe; see quoit(1). g_free() it. */
char *table_format_csv (const Table *table);

/* SPDX-License-Identifier: Apache-2.0 */
/* Prints rows whose cells contain arbitrary bytes. The text output has one line per row and no control characters. The
 * JSON output is valid for a strict parser and has the same texts. The first byte chooses the locale, the second one
 * the output. */
#include "cli/document.h"
#include "terminal.h"
#include "written.h"

enum { TEXT = 1, JSON, N_CHECKS = JSON };

static const Column columns[] = {
  { "text", "TEXT", CELL_TEXT },
  { "number", "N", CELL_NUMBER },
  { "list", "LIST", CELL_LIST },
  { "map", NULL, CELL_MAP },
};

/* The cells, by row; a map has one member. */
typedef struct {
  GPtrArray *texts, *keys, *values;
} Rows;

static Table *
read_rows (FuzzInput *in, Rows *rows)
{
  Table *table = table_new (columns, G_N_ELEMENTS (columns));

  rows->texts = g_ptr_array_new_with_free_func (g_free);
  rows->keys = g_ptr_array_new_with_free_func (g_free);
  rows->values = g_ptr_array_new_with_free_func (g_free);
  while (in->at < in->end)
    {
      GPtrArray *list = g_ptr_array_new_with_free_func (g_free), *map = g_ptr_array_new ();

      g_ptr_array_add (rows->texts, fuzz_text (in));
      table_add_text (table, rows->texts->pdata[rows->texts->len - 1]);
      table_add_number (table, fuzz_byte (in));
      g_ptr_array_add (list, fuzz_text (in));
      g_ptr_array_add (list, NULL);
      table_take_list (table, list);
      g_ptr_array_add (rows->keys, fuzz_text (in));
      g_ptr_array_add (rows->values, fuzz_text (in));
      g_ptr_array_add (map, rows->keys->pdata[rows->keys->len - 1]);
      g_ptr_array_add (map, rows->values->pdata[rows->values->len - 1]);
      table_take_list (table, map);
    }
  return table;
}

/* Counts the lines. Each must end with a newline and have no other control character. */
static guint
count_lines (const char *text)
{
  guint n = 0;

  g_assert (g_utf8_validate (text, -1, NULL) && g_str_has_suffix (text, "\n"));
  for (const char *p = text; *p != '\0'; p = g_utf8_next_char (p))
    {
      g_assert (*p == '\n' || !g_unichar_iscntrl (g_utf8_get_char (p)));
      n += *p == '\n';
    }
  return n;
}

static void
require_text (const Document *document, guint n)
{
  g_autofree char *text = document_format_text (document, (TextForm) { 80, true, true });

  g_assert (count_lines (text) == (n == 0 ? 2 : 1 + 2 * n));
}

static void
require_json (const Document *document, const Rows *rows)
{
  g_autofree char *json = document_format_json (document);
  FuzzValue root = fuzz_read_written (json), all = fuzz_member (root, "rows"), row = fuzz_first (all);
  FuzzValue lines = fuzz_member (root, "lines"), line = fuzz_first (lines);

  g_assert (fuzz_length (all) == rows->texts->len);
  g_assert (fuzz_length (lines) == rows->texts->len);
  for (guint i = 0; i < rows->texts->len; i++)
    {
      g_autofree char *key = g_utf8_make_valid (rows->keys->pdata[i], -1);

      fuzz_require_member (row, "text", rows->texts->pdata[i]);
      fuzz_require_member (fuzz_member (row, "map"), key, rows->values->pdata[i]);
      fuzz_require_text (line, rows->texts->pdata[i]);
      row = fuzz_next (fuzz_skip (row));
      line = fuzz_next (fuzz_skip (line));
    }
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput in = fuzz_input (data, size);
  g_autoptr (Document) document = document_new ();
  guint8 which;
  Rows rows;

  fuzz_set_locale (&in);
  which = fuzz_byte (&in);
  document_take_table (document, "rows", NULL, read_rows (&in, &rows));
  document_take_lines (document, "lines", NULL, g_ptr_array_ref (rows.texts));
  if (fuzz_runs_check (which, TEXT, N_CHECKS))
    require_text (document, rows.texts->len);
  if (fuzz_runs_check (which, JSON, N_CHECKS))
    require_json (document, &rows);
  g_ptr_array_unref (rows.texts);
  g_ptr_array_unref (rows.keys);
  g_ptr_array_unref (rows.values);
  return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <libsmartcols.h>
#include <string.h>

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
new_scols (TextForm form)
{
  struct libscols_table *scols = scols_new_table ();

  if (scols == NULL)
    g_error ("no memory for a table");
  /* Libsmartcols shall not cut or wrap rows at the width of the terminal, so that a row is always one line. It shall
   * not escape the cells, because text_for_terminal() has done that. */
  scols_table_set_termforce (scols, SCOLS_TERMFORCE_NEVER);
  scols_table_enable_noencoding (scols, 1);
  scols_table_enable_colors (scols, form.has_colors);
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

/* --- which columns, and how wide --- */

typedef struct {
  const Table *table;
  GPtrArray *cells; /* of char *: the cells of the shown columns, row by row; an own copy */
  guint n;          /* the number of shown columns */
  guint *columns;   /* their indices in the table */
  guint *widths;    /* of headings and cells */
  bool *are_known;  /* whether a cell of the column has a value */
} Layout;

static void
layout_clear (Layout *layout)
{
  g_ptr_array_unref (layout->cells);
  g_free (layout->columns);
  g_free (layout->widths);
  g_free (layout->are_known);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Layout, layout_clear)

/* Formats the cells of all columns that people see. @is_short: with the first digits of Ray's ids only. */
static Layout
layout_begin (const Table *table, bool is_short)
{
  Layout layout = { table,
                    g_ptr_array_new_with_free_func (g_free),
                    0,
                    g_new (guint, table->n_columns),
                    g_new (guint, table->n_columns),
                    g_new0 (bool, table->n_columns) };

  for (guint i = 0; i < table->n_columns; i++)
    if (table->columns[i].heading != NULL)
      {
        layout.widths[layout.n] = text_width (table->columns[i].heading);
        layout.columns[layout.n++] = i;
      }
  for (guint row = 0; row < table_get_n_rows (table); row++)
    for (guint i = 0; i < layout.n; i++)
      {
        char *cell = format_cell (column_type (&table->columns[layout.columns[i]]),
                                  table_get_cell (table, row, layout.columns[i]), "-");

        if (is_short)
          text_shorten_ids (cell);
        layout.widths[i] = MAX (layout.widths[i], text_width (cell));
        layout.are_known[i] |= !g_str_equal (cell, "-");
        g_ptr_array_add (layout.cells, cell);
      }
  return layout;
}

static const Column *
layout_column (const Layout *layout, guint i)
{
  return &layout->table->columns[layout->columns[i]];
}

/* Leaves out column @left. The cells keep their places, in rows of @n_all. */
static void
leave_out (Layout *layout, guint *places, guint left)
{
  for (guint i = left; i + 1 < layout->n; i++)
    {
      layout->columns[i] = layout->columns[i + 1];
      layout->widths[i] = layout->widths[i + 1];
      layout->are_known[i] = layout->are_known[i + 1];
      places[i] = places[i + 1];
    }
  layout->n--;
}

static guint
line_width (const Layout *layout)
{
  guint width = layout->n == 0 ? 0 : layout->n - 1;

  for (guint i = 0; i < layout->n; i++)
    width += layout->widths[i];
  return width;
}

/* Columns are left out for a last column that would be narrower than MIN_DIVIDED. Narrower than LEAST_DIVIDED, text is
 * too hard to read. */
enum { MIN_DIVIDED = 32, LEAST_DIVIDED = 12 };

/* Text of several words in the last column can be divided. */
static bool
is_divisible (CellType type)
{
  return type == CELL_TEXT || type == CELL_LIST;
}

/* The width of lines without what the last column can have in further lines, or must have because it is never left out.
 */
static guint
least_line_width (const Layout *layout, TextForm form)
{
  const guint width = line_width (layout), last = layout->n == 0 ? 0 : layout->widths[layout->n - 1];
  const Column *column = layout->n == 0 ? NULL : layout_column (layout, layout->n - 1);

  return column == NULL || last <= MIN_DIVIDED || !is_divisible (column_type (column))
                 || (!form.divides && column_rank (column) > 1)
             ? width
             : width - last + MIN_DIVIDED;
}

/* Leaves out what is not known, and then the columns of the greatest rank, from the right, until the lines fit. */
static void
fit_width (Layout *layout, guint *places, TextForm form)
{
  for (guint i = layout->n; i-- > 0;)
    if (column_rank (layout_column (layout, i)) > 0 && !layout->are_known[i])
      leave_out (layout, places, i);
  while (least_line_width (layout, form) > form.width)
    {
      guint worst = 0;

      for (guint i = 1; i < layout->n; i++)
        if (column_rank (layout_column (layout, i)) >= column_rank (layout_column (layout, worst)))
          worst = i;
      if (layout->n == 0 || column_rank (layout_column (layout, worst)) <= 1)
        return;
      leave_out (layout, places, worst);
    }
}

/* Returns the width to which the last column, of text, has to be divided; 0: it fits, or dividing it does not help. */
static guint
width_of_last (guint all, guint last, CellType type, TextForm form)
{
  if (!form.divides || all <= form.width || !is_divisible (type) || all - last + LEAST_DIVIDED > form.width)
    return 0;
  return form.width - (all - last);
}

/* Returns the width of the widest line of the text. */
static guint
lines_width (const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  guint width = 0;

  for (char **line = lines; *line != NULL; line++)
    width = MAX (width, text_width (*line));
  return width;
}

/* If the last column would be narrower than MIN_DIVIDED, divides the cells of the widest other column of text, too.
 * Returns that column, or the number of columns if there is none. */
static guint
divide_other (Layout *layout, const guint *places, guint n_all, TextForm form)
{
  const guint last = layout->n - 1, all = line_width (layout);
  guint widest = layout->n, excess, width, divided = 0;

  if (!form.divides || layout->n < 2 || !is_divisible (column_type (layout_column (layout, last))))
    return layout->n;
  excess = all - layout->widths[last] + MIN (layout->widths[last], MIN_DIVIDED);
  if (excess <= form.width)
    return layout->n;
  excess -= form.width;
  for (guint i = 0; i < last; i++)
    if (column_type (layout_column (layout, i)) == CELL_TEXT && layout->widths[i] > MIN_DIVIDED
        && (widest == layout->n || layout->widths[i] > layout->widths[widest]))
      widest = i;
  if (widest == layout->n)
    return widest;
  width = layout->widths[widest] > excess + MIN_DIVIDED ? layout->widths[widest] - excess : MIN_DIVIDED;
  for (guint cell = places[widest]; cell < layout->cells->len; cell += n_all)
    {
      char *whole = layout->cells->pdata[cell];

      layout->cells->pdata[cell] = text_divide (whole, width);
      divided = MAX (divided, lines_width (layout->cells->pdata[cell]));
      g_free (whole);
    }
  layout->widths[widest] = MAX (divided, text_width (layout_column (layout, widest)->heading));
  return widest;
}

static void
allow_lines (struct libscols_column *column)
{
  if (scols_column_set_flags (column, SCOLS_FL_WRAP) != 0
      || scols_column_set_wrapfunc (column, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL) != 0)
    g_error ("no memory for a column");
}

/* --- tables --- */

/* The first words of cells about what does not work, in red, and about what needs attention, in yellow. */
static const struct {
  const char *word, *color;
} cell_colors[] = {
  { "dead", COLOR_RED },       { "degraded", COLOR_RED },    { "lost", COLOR_RED },
  { "error", COLOR_RED },      { "draining", COLOR_YELLOW }, { "rescheduling", COLOR_YELLOW },
  { "leaving", COLOR_YELLOW }, { "pending", COLOR_YELLOW },  { "warning", COLOR_YELLOW },
};

static const char *
find_color (const char *text)
{
  const gsize n = strcspn (text, ", ");

  for (guint i = 0; i < G_N_ELEMENTS (cell_colors); i++)
    if (strlen (cell_colors[i].word) == n && strncmp (text, cell_colors[i].word, n) == 0)
      return cell_colors[i].color;
  return NULL;
}

/* Takes ownership of @text. The table shows colours only if they are enabled. */
static void
set_cell (struct libscols_line *line, gsize column, char *text)
{
  const char *color = find_color (text);

  if (scols_line_set_data (line, column, text) != 0
      || (color != NULL && scols_cell_set_color (scols_line_get_cell (line, column), color) != 0))
    g_error ("no memory for a cell");
  g_free (text);
}

char *
table_format_rows (const Table *table, TextForm form)
{
  struct libscols_table *scols = new_scols (form);
  g_auto (Layout) layout = layout_begin (table, form.width > 0);
  const guint n_all = layout.n;
  g_autofree guint *places = g_new (guint, n_all + 1);
  guint last = 0, other;

  for (guint i = 0; i < n_all; i++)
    places[i] = i;
  if (form.width > 0)
    fit_width (&layout, places, form);
  other = divide_other (&layout, places, n_all, form);
  for (guint i = 0; i < layout.n; i++)
    {
      const Column *one = layout_column (&layout, i);
      const bool right = column_type (one) == CELL_NUMBER || column_type (one) == CELL_AMOUNT;
      struct libscols_column *column = scols_table_new_column (scols, one->heading, 0, right ? SCOLS_FL_RIGHT : 0);

      if (i + 1 == layout.n)
        last = width_of_last (line_width (&layout), layout.widths[i], column_type (one), form);
      if (last > 0 || i == other)
        allow_lines (column);
    }

  for (guint row = 0; row < table_get_n_rows (table); row++)
    {
      struct libscols_line *line = scols_table_new_line (scols, NULL);

      for (guint i = 0; i < layout.n; i++)
        {
          char **cell = (char **) &layout.cells->pdata[row * n_all + places[i]];

          set_cell (line, i, last > 0 && i + 1 == layout.n ? text_divide (*cell, last) : g_steal_pointer (cell));
        }
    }
  return print_scols (scols);
}

char *
table_format_facts (const Table *table, TextForm form)
{
  struct libscols_table *scols = new_scols (form);
  struct libscols_column *values;
  guint left = 0;

  scols_table_enable_noheadings (scols, 1);
  scols_table_new_column (scols, "what", 0, 0);
  values = scols_table_new_column (scols, "value", 0, 0);
  for (guint i = 0; i < table->n_columns; i++)
    if (table->columns[i].heading != NULL && table_get_cell (table, 0, i)->known)
      left = MAX (left, text_width (table->columns[i].heading) + 2);
  for (guint i = 0; i < table->n_columns; i++)
    if (table->columns[i].heading != NULL && table_get_cell (table, 0, i)->known)
      {
        struct libscols_line *line = scols_table_new_line (scols, NULL);
        char *value = format_cell (column_type (&table->columns[i]), table_get_cell (table, 0, i), "no");
        const guint divided = width_of_last (left + text_width (value), text_width (value), CELL_TEXT, form);

        set_cell (line, 0, g_strconcat (table->columns[i].heading, ":", NULL));
        if (divided > 0)
          allow_lines (values);
        set_cell (line, 1, divided > 0 ? text_divide (value, divided) : g_steal_pointer (&value));
        g_free (value);
      }
  return print_scols (scols);
}

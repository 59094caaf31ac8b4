/* SPDX-License-Identifier: Apache-2.0 */
/* The Hungarian method with potentials. Rows are added one by one, each by the cheapest chain of changes. */
#include "placement/best/assign.h"

#define NONE G_MAXUINT32

typedef struct {
  guint32 n_rows, n_columns;
  gint64 (*cost) (gpointer data, guint32 row, guint32 column);
  gpointer data;
  guint32 *row_of;            /* of each column; the last, extra column holds the new row */
  guint32 *from;              /* of each column: the previous column in the chain */
  gint64 *of_row, *of_column; /* potentials */
  gint64 *least;              /* of each column: the cost to reach it */
  gboolean *is_reached;
} Assigning;

/* Returns the next column of the chain, or NONE if no other can be reached. */
static guint32
reach_next (Assigning *it, guint32 at)
{
  guint32 row = it->row_of[at], next = NONE;
  gint64 step = QUOIT_BEST_NO_WAY;

  it->is_reached[at] = TRUE;
  for (guint32 c = 0; c < it->n_columns; c++)
    {
      gint64 cost;

      if (it->is_reached[c])
        continue;
      cost = it->cost (it->data, row, c);
      if (cost != QUOIT_BEST_NO_WAY && cost - it->of_row[row] - it->of_column[c] < it->least[c])
        {
          it->least[c] = cost - it->of_row[row] - it->of_column[c];
          it->from[c] = at;
        }
      if (it->least[c] < step)
        {
          step = it->least[c];
          next = c;
        }
    }
  if (next == NONE)
    return NONE;
  for (guint32 c = 0; c <= it->n_columns; c++)
    if (it->is_reached[c])
      {
        it->of_row[it->row_of[c]] += step;
        it->of_column[c] -= step;
      }
    else if (it->least[c] != QUOIT_BEST_NO_WAY)
      it->least[c] -= step;
  return next;
}

static gboolean
add_row (Assigning *it, guint32 row)
{
  guint32 at = it->n_columns;

  it->row_of[at] = row;
  for (guint32 c = 0; c <= it->n_columns; c++)
    {
      it->least[c] = QUOIT_BEST_NO_WAY;
      it->is_reached[c] = FALSE;
    }
  do
    at = reach_next (it, at);
  while (at != NONE && it->row_of[at] != NONE);
  if (at == NONE)
    return FALSE;
  for (; at != it->n_columns; at = it->from[at])
    it->row_of[at] = it->row_of[it->from[at]];
  return TRUE;
}

gboolean
quoit_best_assign (guint32 n_rows, guint32 n_columns, gint64 (*cost) (gpointer data, guint32 row, guint32 column),
                   gpointer data, guint32 *column_of)
{
  g_autofree guint32 *row_of = g_new (guint32, (gsize) n_columns + 1), *from = g_new (guint32, (gsize) n_columns + 1);
  g_autofree gint64 *of_row = g_new0 (gint64, (gsize) n_rows + 1), *of_column = g_new0 (gint64, (gsize) n_columns + 1);
  g_autofree gint64 *least = g_new (gint64, (gsize) n_columns + 1);
  g_autofree gboolean *is_reached = g_new (gboolean, (gsize) n_columns + 1);
  Assigning it = { n_rows, n_columns, cost, data, row_of, from, of_row, of_column, least, is_reached };

  for (guint32 c = 0; c < n_columns; c++)
    row_of[c] = NONE;
  for (guint32 r = 0; r < n_rows; r++)
    if (!add_row (&it, r))
      return FALSE;
  for (guint32 c = 0; c < n_columns; c++)
    if (row_of[c] != NONE)
      column_of[row_of[c]] = c;
  return TRUE;
}

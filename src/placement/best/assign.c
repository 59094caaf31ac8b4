/* SPDX-License-Identifier: Apache-2.0 */
/* The Hungarian method with potentials. Rows are added one by one. Each gets a column by the cheapest chain of
 * changes: the new row takes the column of another row, that row takes the column of a third one, and so on to a
 * free column. */
#include "placement/best/assign.h"

#define NONE G_MAXUINT32

typedef struct {
  guint32 n_rows, n_columns;
  gint64 (*cost) (gpointer data, guint32 row, guint32 column);
  gpointer data;
  guint32 *column_row; /* of each column; one more column at the end is for the new row */
  guint32 *previous;   /* of each column: the previous column in the chain */
  gint64 *row_potential, *column_potential;
  gint64 *distance; /* of each column: the lowest cost to reach it */
  gboolean *is_reached;
} Hungarian;

/* Returns the next column of the chain, or NONE if no other can be reached. */
static guint32
reach_next (Hungarian *hungarian, guint32 column)
{
  guint32 row = hungarian->column_row[column], next = NONE;
  gint64 step = QUOIT_BEST_IMPOSSIBLE;

  hungarian->is_reached[column] = TRUE;
  for (guint32 c = 0; c < hungarian->n_columns; c++)
    {
      gint64 cost;

      if (hungarian->is_reached[c])
        continue;
      cost = hungarian->cost (hungarian->data, row, c);
      if (cost != QUOIT_BEST_IMPOSSIBLE
          && cost - hungarian->row_potential[row] - hungarian->column_potential[c] < hungarian->distance[c])
        {
          hungarian->distance[c] = cost - hungarian->row_potential[row] - hungarian->column_potential[c];
          hungarian->previous[c] = column;
        }
      if (hungarian->distance[c] < step)
        {
          step = hungarian->distance[c];
          next = c;
        }
    }
  if (next == NONE)
    return NONE;
  for (guint32 c = 0; c <= hungarian->n_columns; c++)
    if (hungarian->is_reached[c])
      {
        hungarian->row_potential[hungarian->column_row[c]] += step;
        hungarian->column_potential[c] -= step;
      }
    else if (hungarian->distance[c] != QUOIT_BEST_IMPOSSIBLE)
      hungarian->distance[c] -= step;
  return next;
}

static gboolean
add_row (Hungarian *hungarian, guint32 row)
{
  guint32 column = hungarian->n_columns;

  hungarian->column_row[column] = row;
  for (guint32 c = 0; c <= hungarian->n_columns; c++)
    {
      hungarian->distance[c] = QUOIT_BEST_IMPOSSIBLE;
      hungarian->is_reached[c] = FALSE;
    }
  do
    column = reach_next (hungarian, column);
  while (column != NONE && hungarian->column_row[column] != NONE);
  if (column == NONE)
    return FALSE;
  for (; column != hungarian->n_columns; column = hungarian->previous[column])
    hungarian->column_row[column] = hungarian->column_row[hungarian->previous[column]];
  return TRUE;
}

gboolean
quoit_best_assign (guint32 n_rows, guint32 n_columns, gint64 (*cost) (gpointer data, guint32 row, guint32 column),
                   gpointer data, guint32 *column_of)
{
  g_autofree guint32 *column_row = g_new (guint32, (gsize) n_columns + 1),
                     *previous = g_new (guint32, (gsize) n_columns + 1);
  g_autofree gint64 *row_potential = g_new0 (gint64, (gsize) n_rows + 1),
                    *column_potential = g_new0 (gint64, (gsize) n_columns + 1);
  g_autofree gint64 *distance = g_new (gint64, (gsize) n_columns + 1);
  g_autofree gboolean *is_reached = g_new (gboolean, (gsize) n_columns + 1);
  Hungarian hungarian
      = { n_rows, n_columns, cost, data, column_row, previous, row_potential, column_potential, distance, is_reached };

  for (guint32 c = 0; c < n_columns; c++)
    column_row[c] = NONE;
  for (guint32 r = 0; r < n_rows; r++)
    if (!add_row (&hungarian, r))
      return FALSE;
  for (guint32 c = 0; c < n_columns; c++)
    if (column_row[c] != NONE)
      column_of[column_row[c]] = c;
  return TRUE;
}

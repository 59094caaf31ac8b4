/* SPDX-License-Identifier: Apache-2.0 */
#include "geometry/grid.h"

#include <string.h>

#include "base/indices.h"

gboolean
quoit_grid_init (QuoitGrid *grid, QuoitShape hosts, unsigned wrap)
{
  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    grid->n[axis] = hosts.dims[axis];
  grid->wrap = wrap;
  return grid->n[0] <= QUOIT_GRID_MAX_X
         && quoit_grid_n_rows (grid) <= QUOIT_GRID_MAX_ROWS / (grid->n[0] <= QUOIT_GRID_MAX_X / 2 ? 1 : 2);
}

void
quoit_host_set_clear (const QuoitGrid *grid, QuoitHostSet *set)
{
  memset (set->rows, 0, quoit_grid_n_rows (grid) * sizeof *set->rows);
}

void
quoit_host_set_fill (const QuoitGrid *grid, QuoitHostSet *set)
{
  for (guint32 row = 0; row < quoit_grid_n_rows (grid); row++)
    set->rows[row] = (guint16) ((1u << grid->n[0]) - 1);
}

guint32
quoit_host_set_count (const QuoitGrid *grid, const QuoitHostSet *set)
{
  guint32 n = 0;

  for (guint32 row = 0; row < quoit_grid_n_rows (grid); row++)
    n += (guint32) __builtin_popcount (set->rows[row]);
  return n;
}

guint32
quoit_host_set_first (const QuoitGrid *grid, const QuoitHostSet *set)
{
  for (guint32 row = 0; row < quoit_grid_n_rows (grid); row++)
    if (set->rows[row] != 0)
      return row * grid->n[0] + (guint32) __builtin_ctz (set->rows[row]);
  return QUOIT_NO_INDEX;
}

guint
quoit_shape_list_turns (QuoitShape shape, QuoitShape host_block, QuoitTurn turns[QUOIT_MAX_TURNS])
{
  /* A flat shape stays flat: turns of it exchange x and y only. */
  static const guint8 orders[QUOIT_MAX_TURNS][QUOIT_N_AXES]
      = { { 0, 1, 2 }, { 1, 0, 2 }, { 0, 2, 1 }, { 2, 1, 0 }, { 1, 2, 0 }, { 2, 0, 1 } };
  const guint n_orders = shape.n_dims < QUOIT_N_AXES ? 2 : QUOIT_MAX_TURNS;
  guint n = 0;

  for (guint order = 0; order < n_orders; order++)
    {
      QuoitTurn turn = { { { 1, 1, 1 }, QUOIT_N_AXES }, { 0 } };
      gboolean fits = TRUE, is_new = TRUE;

      for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
        {
          guint16 chips = shape.dims[orders[order][axis]];

          fits = fits && chips % host_block.dims[axis] == 0;
          turn.hosts.dims[axis] = chips / host_block.dims[axis];
          turn.axes[axis] = orders[order][axis];
        }
      for (guint i = 0; i < n; i++)
        is_new = is_new && !quoit_shape_equal (turns[i].hosts, turn.hosts);
      if (fits && is_new)
        turns[n++] = turn;
    }
  return n;
}

void
quoit_grid_list_box (const QuoitGrid *grid, QuoitShape hosts, guint32 origin, guint32 *workers)
{
  const guint32 x0 = origin % grid->n[0], row = origin / grid->n[0], y0 = row % grid->n[1], z0 = row / grid->n[1];
  guint32 n = 0;

  for (guint32 z = z0; z < z0 + hosts.dims[2]; z++)
    for (guint32 y = y0; y < y0 + hosts.dims[1]; y++)
      for (guint32 x = x0; x < x0 + hosts.dims[0]; x++)
        workers[n++] = (z % grid->n[2] * grid->n[1] + y % grid->n[1]) * grid->n[0] + x % grid->n[0];
}

void
quoit_host_set_remove_box (const QuoitGrid *grid, QuoitHostSet *set, QuoitShape hosts, guint32 origin)
{
  const guint32 x0 = origin % grid->n[0], row = origin / grid->n[0], y0 = row % grid->n[1], z0 = row / grid->n[1];
  const guint32 side = ((1u << hosts.dims[0]) - 1) << x0;
  const guint16 bits = (guint16) (side | side >> grid->n[0]);

  for (guint32 z = z0; z < z0 + hosts.dims[2]; z++)
    for (guint32 y = y0; y < y0 + hosts.dims[1]; y++)
      set->rows[z % grid->n[2] * grid->n[1] + y % grid->n[1]] &= (guint16) ~bits;
}

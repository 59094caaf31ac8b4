/* SPDX-License-Identifier: Apache-2.0 */
/* Places: sets of rows that are shifted along an axis and intersected, eight rows at a time. */
#include "geometry/places.h"

#include <string.h>

#include "base/indices.h"

typedef guint16 Rows __attribute__ ((vector_size (16)));

enum { N_ROWS = sizeof (Rows) / sizeof (guint16) };

/* Rows of a set, and space for rows behind its end, which are 0. */
typedef struct {
  guint16 rows[2 * QUOIT_GRID_MAX_ROWS + N_ROWS];
} WorkRows;

static Rows
load (const guint16 *rows)
{
  Rows value;

  memcpy (&value, rows, sizeof value);
  return value;
}

/* Intersects each row with the row @shift behind it in its cycle of @cycle rows. At the end of a cycle, the first rows
 * follow if @wraps, otherwise nothing. */
static void
intersect_rows (WorkRows *set, guint32 n_rows, guint32 cycle, guint32 shift, gboolean wraps)
{
  WorkRows next;

  for (guint32 row = 0; row < n_rows; row += N_ROWS)
    {
      Rows both = load (set->rows + row) & load (set->rows + row + shift);

      memcpy (next.rows + row, &both, sizeof both);
    }
  for (guint32 end = cycle; end <= n_rows; end += cycle)
    for (guint32 row = end - shift; row < end; row++)
      next.rows[row] = wraps ? set->rows[row] & set->rows[row + shift - cycle] : 0;
  memcpy (set->rows, next.rows, n_rows * sizeof *set->rows);
}

static void
intersect_bits (WorkRows *set, guint32 n_rows, guint32 n_bits, guint32 shift, gboolean wraps)
{
  const guint16 full = (guint16) ((1u << n_bits) - 1);

  for (guint32 row = 0; row < n_rows; row += N_ROWS)
    {
      Rows value = load (set->rows + row), ahead = value >> (guint16) shift;

      if (wraps)
        ahead |= value << (guint16) (n_bits - shift);
      value &= ahead & full;
      memcpy (set->rows + row, &value, sizeof value);
    }
}

/* Leaves the hosts from which a line of @length hosts along @axis is in the set. */
static void
intersect_line (const QuoitGrid *grid, WorkRows *set, guint axis, guint32 length)
{
  const guint32 n_rows = quoit_grid_n_rows (grid), n = grid->n[axis];
  const gboolean wraps = (grid->wrap >> axis & 1) != 0;

  for (guint32 have = 1, more; have < length; have += more)
    {
      more = MIN (have, length - have);
      if (axis == 0)
        intersect_bits (set, n_rows, n, more, wraps);
      else
        intersect_rows (set, n_rows, axis == 1 ? n : n_rows, axis == 1 ? more : more * grid->n[1], wraps);
    }
  if (!wraps || length != n)
    return;
  /* Every host of a full line begins such a line. The first one counts. */
  for (guint32 row = 0; row < n_rows; row++)
    {
      if (axis == 0)
        set->rows[row] &= 1;
      else if ((axis == 1 ? row % n : row / grid->n[1]) != 0)
        set->rows[row] = 0;
    }
}

gboolean
quoit_places_find (const QuoitGrid *grid, const QuoitHostSet *free, QuoitShape hosts, QuoitHostSet *places)
{
  const guint32 n_rows = quoit_grid_n_rows (grid);
  WorkRows set;
  guint16 any = 0;

  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    if (hosts.dims[axis] > grid->n[axis])
      return FALSE;
  memcpy (set.rows, free->rows, n_rows * sizeof *free->rows);
  memset (set.rows + n_rows, 0, (n_rows + N_ROWS) * sizeof *set.rows);
  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    intersect_line (grid, &set, axis, hosts.dims[axis]);
  memcpy (places->rows, set.rows, n_rows * sizeof *set.rows);
  for (guint32 row = 0; row < n_rows; row++)
    any |= set.rows[row];
  return any != 0;
}

gboolean
quoit_places_find_first (const QuoitGrid *grid, const QuoitHostSet *free, const QuoitTurn *turns, guint n_turns,
                         QuoitPlace *place)
{
  *place = (QuoitPlace) { QUOIT_NO_INDEX, 0, 0 };
  for (guint turn = 0; turn < n_turns; turn++)
    {
      QuoitHostSet places;
      guint32 origin = QUOIT_NO_INDEX;

      if (quoit_places_find (grid, free, turns[turn].hosts, &places))
        origin = quoit_host_set_first (grid, &places);
      if (origin < place->origin)
        *place = (QuoitPlace) { origin, turn, 0 };
    }
  return place->origin != QUOIT_NO_INDEX;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The hosts of a slice as a grid, sets of them, and boxes of hosts. Pure functions.
 *
 * A part of a slice is a box of hosts that a job uses as a slice of its own. Its shape is given in chips and can be
 * turned: a part of 2x4 chips is also found as 4x2. A box may cross the wraparound of an axis if the grid has one. */
#pragma once

#include "geometry/coordinates.h"

enum {
  QUOIT_GRID_MAX_X = 16,      /* hosts along x */
  QUOIT_GRID_MAX_ROWS = 1280, /* rows of at most 8 hosts along x; of longer rows, half as many */
};

typedef struct {
  guint32 n[QUOIT_N_AXES]; /* the number of hosts along each axis */
  unsigned wrap;           /* the axes that boxes may wrap around: bit 0 for x */
} QuoitGrid;

/* A set of hosts. The host at x, y, z is bit x of row z * n[1] + y, so that hosts have the order of their worker ids.
 * Other bits are 0. */
typedef struct {
  guint16 rows[QUOIT_GRID_MAX_ROWS];
} QuoitHostSet;

/* One way to turn a shape: along axis a, the part has the chips of its dimension axes[a]. */
typedef struct {
  QuoitShape hosts; /* the box in hosts; always three dimensions */
  guint8 axes[QUOIT_N_AXES];
} QuoitTurn;

enum { QUOIT_MAX_TURNS = 6 };

/* Returns FALSE if the grid is too large for a #QuoitHostSet. The catalogue has no such slice. */
gboolean quoit_grid_init (QuoitGrid *grid, QuoitShape hosts, unsigned wrap);

static inline guint32
quoit_grid_n_rows (const QuoitGrid *grid)
{
  return grid->n[1] * grid->n[2];
}

static inline guint32
quoit_grid_n_hosts (const QuoitGrid *grid)
{
  return grid->n[0] * quoit_grid_n_rows (grid);
}

/* Fill @set with no hosts, or with all hosts of the grid. */
void quoit_host_set_clear (const QuoitGrid *grid, QuoitHostSet *set);
void quoit_host_set_fill (const QuoitGrid *grid, QuoitHostSet *set);

static inline void
quoit_host_set_add (const QuoitGrid *grid, QuoitHostSet *set, guint32 worker_id)
{
  set->rows[worker_id / grid->n[0]] |= (guint16) (1u << worker_id % grid->n[0]);
}

static inline gboolean
quoit_host_set_has (const QuoitGrid *grid, const QuoitHostSet *set, guint32 worker_id)
{
  return (set->rows[worker_id / grid->n[0]] >> worker_id % grid->n[0] & 1) != 0; /* NOLINT: a grid has hosts */
}

guint32 quoit_host_set_count (const QuoitGrid *grid, const QuoitHostSet *set);
/* Returns the lowest worker id of the set; QUOIT_NO_INDEX if it is empty. */
guint32 quoit_host_set_first (const QuoitGrid *grid, const QuoitHostSet *set);

/* Lists the turns of a part of @shape chips whose sides are multiples of @host_block, without repeats. The unturned
 * shape is the first one, if it is among them. Returns their number; 0: hosts cannot make up the shape. */
guint quoit_shape_list_turns (QuoitShape shape, QuoitShape host_block, QuoitTurn turns[QUOIT_MAX_TURNS]);

/* Writes the worker ids of a box of @hosts with its lowest corner at @origin to @workers, in the order of the worker
 * ids of the part: x fastest. The box must be inside the grid, or wrap where the grid allows it. */
void quoit_grid_list_box (const QuoitGrid *grid, QuoitShape hosts, guint32 origin, guint32 *workers);
/* Removes the hosts of the box from @set. */
void quoit_host_set_remove_box (const QuoitGrid *grid, QuoitHostSet *set, QuoitShape hosts, guint32 origin);

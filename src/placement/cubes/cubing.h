/* SPDX-License-Identifier: Apache-2.0 */
/* The cubes that a request may join, and how many slices they make at once. */
#pragma once

#include "fleet/joined.h"
#include "geometry/packing.h"
#include "placement/placement.h"

/* The worst state in which a cube counts. */
typedef enum {
  QUOIT_CUBE_FREE,    /* intact, not draining, and unused */
  QUOIT_CUBE_HEALTHY, /* intact and not draining */
  QUOIT_CUBE_INTACT,
  QUOIT_CUBE_KNOWN /* it would be intact if all of its nodes were alive */
} QuoitCubeState;

/* How many slices fit at once. */
typedef struct {
  guint32 least, most;
} QuoitCubeCount;

/* A request for slices that are joined from cubes, in a fleet. */
typedef struct {
  const QuoitFleet *fleet;
  const QuoitRequest *request;
  QuoitCandidates candidates;       /* the cubes that pass the rules of the request, in a block or not */
  QuoitBlocks *blocks;              /* NULL: the fleet has no cubes of the generation */
  guint32 n_cubes;                  /* of a slice */
  QuoitTurn turns[QUOIT_MAX_TURNS]; /* boxes of cubes for adjacent ones; the box as requested comes first */
  guint n_turns;
} QuoitCubing;

/* Reads the topology of the request again, after it has changed. */
void quoit_cubing_set_shape (QuoitCubing *cubing);
/* Also validates the request. Fails like quoit_plan_slices(). */
gboolean quoit_cubing_init (QuoitCubing *cubing, const QuoitFleet *fleet, const QuoitRequest *request, GError **error);
void quoit_cubing_clear (QuoitCubing *cubing);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitCubing, quoit_cubing_clear)

static inline gboolean
quoit_cubing_is_adjacent (const QuoitCubing *cubing)
{
  return cubing->request->cubes == QUOIT_CUBES_ADJACENT;
}

/* Returns whether the block has the cubes for a slice, and of adjacent ones a grid into which it fits. */
gboolean quoit_cubing_can_hold (const QuoitCubing *cubing, guint32 block);

/* A set of cubes: one bit per slice, in words of which only those with cubes in blocks are used. */
typedef guint64 QuoitCubeSet;

/* Returns the size of a set. */
static inline gsize
quoit_cubing_set_bytes (const QuoitCubing *cubing)
{
  return (cubing->fleet->layout->n_slices / 64 + 1) * sizeof (QuoitCubeSet);
}

/* Returns the cubes in blocks that pass the rules and count. The caller owns the set. */
QuoitCubeSet *quoit_cubing_list (const QuoitCubing *cubing, QuoitCubeState state);

static inline gboolean
quoit_cube_set_has (const QuoitCubeSet *set, guint32 slice)
{
  return (set[slice / 64] >> (slice % 64) & 1) != 0;
}

static inline void
quoit_cube_set_remove (QuoitCubeSet *set, guint32 slice)
{
  set[slice / 64] &= ~((guint64) 1 << (slice % 64));
}

static inline void
quoit_cube_set_add (QuoitCubeSet *set, guint32 slice)
{
  set[slice / 64] |= (guint64) 1 << (slice % 64);
}

/* Returns how many cubes of each block are in the set. The caller owns the array. */
guint32 *quoit_cubing_count_by_block (const QuoitCubing *cubing, const QuoitCubeSet *set);

/* Sets *@least to the number of slices of a choice, and *@most to a number that is proven to be enough for any. Stops
 * at @enough slices. Both are equal unless adjacent cubes are packed. */
void quoit_cubing_count (const QuoitCubing *cubing, const QuoitCubeSet *set, guint32 enough, guint32 *least,
                         guint32 *most);

/* Returns how many slices one block can hold at once, of which @n_free cubes are in the set. */
QuoitCubeCount quoit_cubing_count_block (const QuoitCubing *cubing, const QuoitCubeSet *set, guint32 block,
                                         guint32 n_free);

/* Sets @grid to that of the positions in a block. Returns FALSE if it has no positions, or too many. */
gboolean quoit_cubing_grid (const QuoitCubing *cubing, guint32 block, QuoitGrid *grid);
/* Sets @free to the positions of the cubes of a block that are in the set. */
void quoit_cubing_list_positions (const QuoitCubing *cubing, const QuoitCubeSet *set, guint32 block,
                                  const QuoitGrid *grid, QuoitHostSet *free);

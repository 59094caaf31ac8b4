/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the planner: how many cubes have to leave the blocks of a fleet, as numbers, so that their free cubes make
 * more joined slices. Pure functions. */
#pragma once

#include <glib.h>

/* One block. */
typedef struct {
  guint32 n_free;
  GArray *sizes;    /* of guint32: the cubes of each slice that can leave it */
  guint32 n_slices; /* that the free cubes make */
  GArray *costs;    /* of guint32, for adjacent cubes, or NULL: the cubes that have to leave each place, least first */
  guint32 n_packed; /* for adjacent cubes: the slices that it holds at most if everything leaves it that can */
} QuoitBlockLoad;

/* Returns the least number of cubes in slices with together at least @need cubes; G_MAXUINT32: there are too few. Sets
 * @chosen (or NULL), one byte for each slice, to those. */
guint32 quoit_block_load_find_cheapest (const QuoitBlockLoad *load, guint32 need, guint8 *chosen);

/* Returns how many cubes have to leave the block so that it holds @n_more slices of @n_cubes cubes more; 0: it has
 * enough, but of adjacent cubes that is not sufficient. */
guint32 quoit_block_load_need (const QuoitBlockLoad *load, guint32 n_cubes, guint32 n_more);
/* Returns how many slices more the block holds if everything leaves it that can. */
guint32 quoit_block_load_most (const QuoitBlockLoad *load, guint32 n_cubes);

/* Returns a number of cubes: fewer cannot leave blocks if these hold @n_more slices more in the sum. */
guint32 quoit_block_loads_bound (const QuoitBlockLoad *loads, guint n_loads, guint32 n_cubes, guint32 n_more);

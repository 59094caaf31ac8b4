/* SPDX-License-Identifier: Apache-2.0 */
/* Private to cube-buying*.c: a packing of slices into bins. */
#pragma once

#include "planner/cube-weights.h"

/* A block that is there, or one that is bought. Bins of one row are next to each other. */
typedef struct {
  guint32 row;
  guint32 load; /* cubes of joined slices */
} QuoitCubeBin;

typedef struct {
  const QuoitCubeMarket *market;
  const QuoitCubeDemand *demand;
  const QuoitCubeWeights *weights; /* NULL: none */
  guint32 n_rows;
  guint32 *order;    /* the shapes: adjacent ones first, then the ones with more cubes */
  guint32 *cheapest; /* where single cubes can be bought, by price: blocks, and n_blocks for no block */
  guint32 n_cheapest;
  guint64 n_joined;   /* cubes of all slices to join */
  guint32 n_slices;   /* slices to join */
  gint64 price_unit;  /* all costs are multiples of it */
  GHashTable *packed; /* what is known about adjacent cubes: a question -> an answer */
  gboolean has_gaps;  /* a packing of adjacent cubes could not be decided */
  guint64 *steps;
  QuoitCubePurchase *best;
} QuoitCubeBuying;

/* A choice: which slices are in which bin. */
typedef struct {
  GArray *bins;     /* of QuoitCubeBin; the blocks come first */
  GArray *counts;   /* of guint32, by bin and shape */
  guint32 *n_new;   /* by offer */
  guint32 *whole;   /* by shape */
  guint32 *singles; /* by row: cubes bought for single use */
  guint32 n_loose_bought;
  gint64 cost;
} QuoitCubePlan;

static inline void
quoit_cube_buying_spend (QuoitCubeBuying *buying, guint64 steps)
{
  *buying->steps -= MIN (*buying->steps, steps);
}

/* Returns how many blocks of the offer of that index are enough for everything. */
static inline guint32
quoit_cube_buying_most_blocks (const QuoitCubeBuying *buying, guint32 index)
{
  return quoit_cube_offer_most (&buying->market->offers[index], buying->n_slices, buying->demand->n_single);
}

static inline QuoitCubeBin *
quoit_cube_plan_bin (const QuoitCubePlan *plan, guint32 bin)
{
  return &g_array_index (plan->bins, QuoitCubeBin, bin);
}

static inline guint32 *
quoit_cube_plan_counts (const QuoitCubeBuying *buying, const QuoitCubePlan *plan, guint32 bin)
{
  return &g_array_index (plan->counts, guint32, (gsize) bin * buying->market->n_shapes);
}

/* --- cube-buying-plan.c --- */

void quoit_cube_plan_init (QuoitCubePlan *plan, const QuoitCubeBuying *buying);
void quoit_cube_plan_clear (QuoitCubePlan *plan);
/* Adds @n blocks of an offer, and their price. */
void quoit_cube_plan_open (QuoitCubePlan *plan, const QuoitCubeBuying *buying, guint32 offer, guint32 n);
/* Returns the cubes of the bin that are there before cubes are bought for it, and those of them that no joined slice
 * has. */
guint32 quoit_cube_bin_free (const QuoitCubeBuying *buying, const QuoitCubeBin *bin);
guint32 quoit_cube_bin_left (const QuoitCubeBuying *buying, const QuoitCubeBin *bin);
/* Returns what the cubes cost that are bought for the bin if it has so many cubes of joined slices. */
gint64 quoit_cube_bin_cost (const QuoitCubeBuying *buying, const QuoitCubeBin *bin, guint32 load);
/* Whether one more slice of the shape fits into the bin of that index. Of adjacent cubes that cannot be decided, says
 * no. */
gboolean quoit_cube_plan_can_add (QuoitCubeBuying *buying, QuoitCubePlan *plan, guint32 index, guint32 shape);
/* Adds @n slices of the shape to the bin, or removes them if @n is negative. */
void quoit_cube_plan_add (QuoitCubePlan *plan, const QuoitCubeBuying *buying, guint32 index, guint32 shape, gint32 n);
/* Returns how many single cubes are missing before any are bought. */
guint32 quoit_cube_plan_count_missing (const QuoitCubePlan *plan, const QuoitCubeBuying *buying);
/* Serves the single cubes, at the least cost for these bins. Returns how many are missing. */
guint32 quoit_cube_plan_add_singles (QuoitCubePlan *plan, const QuoitCubeBuying *buying);
void quoit_cube_plan_remove_singles (QuoitCubePlan *plan, const QuoitCubeBuying *buying);
/* Keeps the plan if it costs less than the best one. */
void quoit_cube_plan_keep (const QuoitCubePlan *plan, QuoitCubeBuying *buying);

/* --- cube-buying-greedy.c --- */

/* Serves all that is wanted, shape by shape, with what costs least at the moment. Blocks of offers are bought if
 * @may_open is set for them, or NULL. Returns FALSE if something is missing. */
gboolean quoit_cube_plan_fill (QuoitCubePlan *plan, QuoitCubeBuying *buying, const gboolean *may_open);

/* --- cube-buying-bound.c --- */

/* Returns a lower bound for the cost, if @n_new states how many blocks are bought of the first @n_decided offers;
 * G_MAXINT64: too few cubes. */
gint64 quoit_cube_buying_bound (QuoitCubeBuying *buying, const guint32 *n_new, guint32 n_decided);

/* --- cube-buying-exact.c --- */

/* Tries all choices that cost less than the best one. Returns FALSE if the budget ends before. */
gboolean quoit_cube_buying_try_all (QuoitCubeBuying *buying);

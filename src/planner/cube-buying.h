/* SPDX-License-Identifier: Apache-2.0 */
/* Which cubes to buy so that slices can be joined from them, at the least cost. Each slice takes all of its cubes from
 * one block; other requests take single cubes from anywhere.
 *
 * The answer is a range, as in planner/buying.h. Its upper end is a choice of blocks that a search found. Its lower end
 * is proven: by a bound that ignores how slices are packed, by weights (planner/cube-weights.h), or because the search
 * tried all choices that could cost less. Integers only, so that every machine gives the same answer. */
#pragma once

#include <glib.h>

#include "geometry/packing.h"

enum { QUOIT_CUBE_BUYING_MAX = 1000000 }; /* cubes of a demand; of more, no more than these count */

/* A block, or the cubes that are in no block. */
typedef struct {
  gint64 price;             /* of one cube; not read if none can be bought */
  guint32 n_free, limit;    /* the cubes that are there; how many can be bought. Bought ones have no position. */
  const QuoitGrid *grid;    /* NULL: the cubes have no positions */
  const QuoitHostSet *free; /* the positions of free cubes; not read without a grid */
} QuoitCubeBlock;

/* Blocks that can be bought. */
typedef struct {
  gint64 price; /* of one block */
  guint32 n_cubes, limit;
  const QuoitGrid *grid; /* NULL: the cubes have no positions */
} QuoitCubeOffer;

/* The slices of one topology. */
typedef struct {
  guint32 n_cubes;
  const QuoitTurn *turns; /* the boxes of adjacent cubes */
  guint n_turns;          /* 0: any cubes of a block */
  gint64 price;           /* of a slice that is bought as it is; -1: all slices are joined */
} QuoitCubeShape;

typedef struct {
  const QuoitCubeBlock *blocks;
  const QuoitCubeOffer *offers;
  const QuoitCubeShape *shapes;
  guint32 n_blocks, n_offers, n_shapes;
  QuoitCubeBlock loose; /* cubes in no block, which no slice can be joined from */
} QuoitCubeMarket;

/* Returns a block of the market, or, for the index after the last one, the cubes in no block. */
static inline const QuoitCubeBlock *
quoit_cube_market_block (const QuoitCubeMarket *market, guint32 index)
{
  return index == market->n_blocks ? &market->loose : &market->blocks[index];
}

/* What is wanted at the same time. At most QUOIT_CUBE_BUYING_MAX cubes together. */
typedef struct {
  const guint32 *n_slices; /* by shape */
  guint32 n_single;        /* cubes that requests use as slices of their own */
} QuoitCubeDemand;

/* A purchase. Rows are the blocks, and then the offers. */
typedef struct {
  gboolean is_found;  /* a purchase that serves the demand */
  gboolean is_proven; /* it is a cheapest one, or there is none */
  gint64 cost, bound; /* of the purchase that was found; no purchase costs less than @bound */
  guint32 *bought;    /* by row: cubes, or blocks of an offer */
  guint32 *taken;     /* by row: cubes that the demand uses */
  guint32 *joined;    /* by row and shape: slices */
  guint32 *whole;     /* by shape: slices that are bought as they are */
  guint32 n_loose_bought, n_loose_taken;
} QuoitCubePurchase;

/* Weights that bound what demands cost, of planner/cube-weights.h. */
typedef struct _QuoitCubeWeights QuoitCubeWeights;

/* Returns the purchase; quoit_cube_purchase_unref() it. @weights: that were kept for such demands, or NULL. @steps
 * limits the work, and gets what is left of it. */
QuoitCubePurchase *quoit_cube_buying_solve (const QuoitCubeMarket *market, const QuoitCubeDemand *demand,
                                            const QuoitCubeWeights *weights, guint64 *steps);
QuoitCubePurchase *quoit_cube_purchase_ref (QuoitCubePurchase *purchase);
void quoit_cube_purchase_unref (QuoitCubePurchase *purchase);

/* Returns how many blocks of the offer are enough for so many slices and single cubes. */
guint32 quoit_cube_offer_most (const QuoitCubeOffer *offer, guint32 n_slices, guint32 n_single);
/* Returns the shapes, adjacent ones first, then the ones with more cubes. The caller owns them. */
guint32 *quoit_cube_market_order (const QuoitCubeMarket *market);

/* What one cube costs at least, all cubes that are free, and how many can be bought: for a bound that ignores blocks.
 */
typedef struct {
  gint64 price;
  guint32 n_free, limit;
} QuoitCubeEstimate;
QuoitCubeEstimate quoit_cube_market_estimate (const QuoitCubeMarket *market);

/* A common divisor of @unit and all prices. */
gint64 quoit_cube_market_price_unit (const QuoitCubeMarket *market, gint64 unit);
gint64 quoit_buying_common_divisor (gint64 a, gint64 b);

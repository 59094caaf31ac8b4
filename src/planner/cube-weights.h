/* SPDX-License-Identifier: Apache-2.0 */
/* What the cubes of a market are worth at given weights: for bounds that know how slices fit into blocks.
 *
 * Each kind of use gets a weight for one cube. The kinds are the shapes, and single cubes. If each block, and each
 * purchase at its price, is used in the way that is worth most, then
 *
 *   sum over kinds of (weight * cubes that are wanted) - worth of all blocks and purchases
 *
 * is at most the cost of any choice that serves what is wanted. */
#pragma once

#include "planner/cube-buying.h"

struct _QuoitCubeWeights {
  const QuoitCubeMarket *market;
  guint32 n_kinds;
  gint64 *weights; /* by kind: of one cube */
  gint64 *sold;    /* by kind: cubes in the uses that are worth most */
  /* What was kept. */
  gint64 *kept;         /* by kind */
  gint64 *kept_offers;  /* by offer: what one block is worth beyond its price */
  __int128 kept_blocks; /* what everything but the offers is worth */
};

/* Weights of 0, for demands of at most @most. */
QuoitCubeWeights *quoit_cube_weights_new (const QuoitCubeMarket *market, const QuoitCubeDemand *most);
void quoit_cube_weights_free (QuoitCubeWeights *weights);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitCubeWeights, quoit_cube_weights_free)

/* Returns the kind of a use: 0 are single cubes, and 1 + a shape its slices. */
static inline guint32
quoit_cube_weights_kind (const QuoitCubeWeights *weights, guint32 shape)
{
  return shape == 0 ? weights->market->n_shapes : shape - 1;
}

/* Returns the price of one cube in the cheapest way to buy for the kind; 0 also if nothing can be bought, or is wanted.
 */
gint64 quoit_cube_weights_price (const QuoitCubeWeights *weights, guint32 kind);
/* Lowers weights at which a block of an offer is worth more than its price, because no choice sells so many. Returns
 * what everything is worth, and sets @sold. Takes from @steps. */
__int128 quoit_cube_weights_sell (QuoitCubeWeights *weights, guint64 *steps);
/* Keeps the weights for quoit_cube_weights_bound(). */
void quoit_cube_weights_keep (QuoitCubeWeights *weights);
/* Returns a lower bound for the cost of the demand, if @n_new states how many blocks are bought of the first @n_decided
 * offers. */
__int128 quoit_cube_weights_bound (const QuoitCubeWeights *weights, const QuoitCubeDemand *demand, const guint32 *n_new,
                                   guint32 n_decided);

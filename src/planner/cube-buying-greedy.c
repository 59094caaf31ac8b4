/* SPDX-License-Identifier: Apache-2.0 */
/* The upper end of a purchase of cubes: slices go into free cubes, and the rest is bought where one more slice costs
 * least. */
#include "planner/cube-buying-types.h"

#include <stdlib.h>

/* Where the next slice can come from, and what it costs. */
typedef struct {
  enum { NOWHERE, FROM_BLOCK, FROM_OFFER, AS_IT_IS } source;
  guint32 index; /* of the block or offer */
  gint64 cost;
  guint32 n; /* slices for this cost */
} Way;

static void
consider (Way *best, Way way)
{
  if (best->source == NOWHERE || (__int128) way.cost * best->n < (__int128) best->cost * way.n)
    *best = way;
}

/* --- free cubes --- */

typedef struct {
  guint32 left, bin;
} Left;

static int
by_left (const void *a, const void *b)
{
  const Left *x = a, *y = b;

  if (x->left != y->left)
    return x->left < y->left ? -1 : 1;
  return x->bin < y->bin ? -1 : x->bin > y->bin;
}

/* What one more slice of adjacent cubes takes of the budget if it is known whether it fits. */
enum { LOOK_UP_SPENDS = 4 };

/* Adds slices to the bin as long as they cost nothing. Returns how many are left of @n. */
static guint32
fill_bin (QuoitCubePlan *plan, QuoitCubeBuying *buying, guint32 index, guint32 shape, guint32 n)
{
  const guint32 n_cubes = buying->market->shapes[shape].n_cubes;

  if (buying->market->shapes[shape].n_turns == 0)
    {
      const guint32 n_here = MIN (n, quoit_cube_bin_left (buying, quoit_cube_plan_bin (plan, index)) / n_cubes);

      quoit_cube_plan_add (plan, buying, index, shape, (gint32) n_here);
      return n - n_here;
    }
  for (; n > 0 && quoit_cube_plan_can_add (buying, plan, index, shape); n--)
    {
      quoit_cube_plan_add (plan, buying, index, shape, 1);
      quoit_cube_buying_spend (buying, LOOK_UP_SPENDS);
    }
  return n;
}

/* Fills the bins with the fewest free cubes first. Returns how many slices are left. */
static guint32
fill_bins (QuoitCubePlan *plan, QuoitCubeBuying *buying, guint32 shape, guint32 n)
{
  const guint32 n_cubes = buying->market->shapes[shape].n_cubes;
  g_autofree Left *bins = g_new (Left, plan->bins->len + 1);
  guint32 n_bins = 0;

  for (guint32 i = 0; i < plan->bins->len; i++)
    {
      const guint32 left = quoit_cube_bin_left (buying, quoit_cube_plan_bin (plan, i));

      if (left >= n_cubes)
        bins[n_bins++] = (Left) { left, i };
    }
  if (n_bins > 0)
    qsort (bins, n_bins, sizeof *bins, by_left);
  quoit_cube_buying_spend (buying, plan->bins->len);
  for (guint32 i = 0; i < n_bins && n > 0; i++)
    n = fill_bin (plan, buying, bins[i].bin, shape, n);
  return n;
}

/* --- bought cubes --- */

static void
consider_blocks (const QuoitCubePlan *plan, QuoitCubeBuying *buying, guint32 s, guint32 n, Way *best)
{
  const QuoitCubeShape *shape = &buying->market->shapes[s];

  for (guint32 i = 0; i < buying->market->n_blocks && shape->n_turns == 0; i++)
    {
      const QuoitCubeBin *bin = quoit_cube_plan_bin (plan, i);
      const QuoitCubeBlock *block = &buying->market->blocks[i];
      const guint64 most = (guint64) block->n_free + block->limit;
      Way way = { FROM_BLOCK, i, 0, 1 };

      if (bin->load + (guint64) shape->n_cubes > most)
        continue;
      if (bin->load >= block->n_free)
        way.n = (guint32) MIN (n, (most - bin->load) / shape->n_cubes);
      way.cost = quoit_cube_bin_cost (buying, bin, bin->load + way.n * shape->n_cubes)
                 - quoit_cube_bin_cost (buying, bin, bin->load);
      consider (best, way);
    }
  quoit_cube_buying_spend (buying, buying->n_rows + 1);
}

/* Returns how many slices an empty block of the offer holds, up to @n. */
static guint32
count_in_new_block (QuoitCubeBuying *buying, guint32 offer, guint32 shape, guint32 n)
{
  QuoitCubePlan plan;
  guint32 left;

  quoit_cube_plan_init (&plan, buying);
  quoit_cube_plan_open (&plan, buying, offer, 1);
  left = fill_bin (&plan, buying, plan.bins->len - 1, shape, n);
  quoit_cube_plan_clear (&plan);
  return n - left;
}

static void
consider_offers (const QuoitCubePlan *plan, const QuoitCubeBuying *buying, const guint32 *n_each,
                 const gboolean *may_open, guint32 n, Way *best)
{
  for (guint32 i = 0; i < buying->market->n_offers && may_open != NULL; i++)
    if (may_open[i] && n_each[i] > 0 && plan->n_new[i] < buying->market->offers[i].limit)
      consider (best, (Way) { FROM_OFFER, i, buying->market->offers[i].price, MIN (n, n_each[i]) });
}

/* Returns how many slices are left. */
static guint32
use (QuoitCubePlan *plan, QuoitCubeBuying *buying, guint32 shape, guint32 n, const Way *way)
{
  switch (way->source)
    {
    case FROM_BLOCK:
      quoit_cube_plan_add (plan, buying, way->index, shape, (gint32) way->n);
      return n - way->n;
    case FROM_OFFER:
      quoit_cube_plan_open (plan, buying, way->index, 1);
      return fill_bin (plan, buying, plan->bins->len - 1, shape, n);
    default:
      plan->whole[shape] += n;
      plan->cost += n * buying->market->shapes[shape].price;
      return 0;
    }
}

static gboolean
buy_slices (QuoitCubePlan *plan, QuoitCubeBuying *buying, guint32 shape, guint32 n, const gboolean *may_open)
{
  g_autofree guint32 *n_each = g_new0 (guint32, buying->market->n_offers + 1);

  for (guint32 i = 0; i < buying->market->n_offers && may_open != NULL && n > 0; i++)
    n_each[i] = may_open[i] ? count_in_new_block (buying, i, shape, n) : 0;
  while (n > 0)
    {
      Way way = { NOWHERE, 0, 0, 1 };

      consider_blocks (plan, buying, shape, n, &way);
      consider_offers (plan, buying, n_each, may_open, n, &way);
      if (buying->market->shapes[shape].price >= 0)
        consider (&way, (Way) { AS_IT_IS, 0, n * buying->market->shapes[shape].price, n });
      if (way.source == NOWHERE)
        return FALSE;
      n = use (plan, buying, shape, n, &way);
    }
  return TRUE;
}

/* --- single cubes --- */

/* Returns the offer whose cubes cost least; n_offers: none. */
static guint32
find_cheapest_offer (const QuoitCubePlan *plan, const QuoitCubeBuying *buying, const gboolean *may_open)
{
  const QuoitCubeMarket *market = buying->market;
  guint32 best = market->n_offers;

  for (guint32 i = 0; i < market->n_offers && may_open != NULL; i++)
    {
      const QuoitCubeOffer *offer = &market->offers[i];

      if (may_open[i] && plan->n_new[i] < offer->limit
          && (best == market->n_offers
              || (__int128) offer->price * market->offers[best].n_cubes
                     < (__int128) market->offers[best].price * offer->n_cubes))
        best = i;
    }
  return best;
}

/* Buys blocks for @n single cubes, but not more cubes than that if @rounds_down. */
static void
open_for_singles (QuoitCubePlan *plan, QuoitCubeBuying *buying, guint32 index, guint32 n, gboolean rounds_down)
{
  const QuoitCubeOffer *offer = &buying->market->offers[index];

  n = MAX (n / offer->n_cubes, rounds_down ? 0 : 1);
  quoit_cube_plan_open (plan, buying, index, MIN (n, offer->limit - plan->n_new[index]));
  quoit_cube_buying_spend (buying, plan->bins->len);
}

static gboolean
is_cheaper_than_singles (const QuoitCubeBuying *buying, const QuoitCubeOffer *offer)
{
  return buying->n_cheapest == 0
         || (__int128) offer->price
                < (__int128) quoit_cube_market_block (buying->market, buying->cheapest[0])->price * offer->n_cubes;
}

static gboolean
buy_singles (QuoitCubePlan *plan, QuoitCubeBuying *buying, const gboolean *may_open)
{
  guint32 offer = find_cheapest_offer (plan, buying, may_open), n_missing;

  if (offer < buying->market->n_offers && is_cheaper_than_singles (buying, &buying->market->offers[offer]))
    open_for_singles (plan, buying, offer, quoit_cube_plan_count_missing (plan, buying), TRUE);
  while ((n_missing = quoit_cube_plan_add_singles (plan, buying)) > 0)
    {
      offer = find_cheapest_offer (plan, buying, may_open);
      if (offer == buying->market->n_offers)
        return FALSE;
      quoit_cube_plan_remove_singles (plan, buying);
      open_for_singles (plan, buying, offer, n_missing, FALSE);
    }
  return TRUE;
}

gboolean
quoit_cube_plan_fill (QuoitCubePlan *plan, QuoitCubeBuying *buying, const gboolean *may_open)
{
  for (guint32 i = 0; i < buying->market->n_shapes; i++)
    {
      const guint32 shape = buying->order[i];
      guint32 n = buying->demand->n_slices[shape];

      if (n > 0)
        n = fill_bins (plan, buying, shape, n);
      if (!buy_slices (plan, buying, shape, n, may_open))
        return FALSE;
    }
  return buy_singles (plan, buying, may_open);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The cheapest cubes for small random demands, compared with a search of all choices; and large ones, whose bound has
 * to hold. */
#include "suite.h"

#include <string.h>

#include "planner/cube-weights.h"

enum { MAX_BLOCKS = 3, MAX_OFFERS = 2, MAX_SHAPES = 3, MAX_SLICES = 5, MAX_BINS = 16, STEPS = 20000000 };

#define NO_COST G_MAXINT64

typedef struct {
  QuoitCubeBlock blocks[MAX_BLOCKS];
  QuoitCubeOffer offers[MAX_OFFERS];
  QuoitCubeShape shapes[MAX_SHAPES];
  QuoitTurn turns[MAX_SHAPES][QUOIT_MAX_TURNS];
  QuoitGrid grids[MAX_BLOCKS + MAX_OFFERS];
  QuoitHostSet free[MAX_BLOCKS + MAX_OFFERS];
  guint32 n_slices[MAX_SHAPES];
  QuoitCubeMarket market;
  QuoitCubeDemand demand;
} Drawn;

static guint32
draw (GRand *rand, guint32 n)
{
  return (guint32) g_rand_int_range (rand, 0, (gint32) n);
}

/* --- all choices --- */

typedef struct {
  const Drawn *drawn;
  guint32 n_bins, rows[MAX_BINS], counts[MAX_BINS][MAX_SHAPES];
  guint32 slices[MAX_SLICES], n_slices; /* the shape of each slice to join */
  gint64 opened;                        /* the price of the blocks that are bought */
  gint64 least;
} All;

/* Whether the boxes can be cut out of the free positions: a search over all places of the first box. */
static gboolean
can_cut (const QuoitGrid *grid, const QuoitHostSet *free, const Drawn *drawn, guint32 counts[MAX_SHAPES])
{
  for (guint32 s = 0; s < drawn->market.n_shapes; s++)
    {
      const QuoitCubeShape *shape = &drawn->shapes[s];

      if (shape->n_turns == 0 || counts[s] == 0)
        continue;
      for (guint t = 0; t < shape->n_turns; t++)
        {
          const guint16 *box = shape->turns[t].hosts.dims;

          for (guint32 z = 0; z + box[2] <= grid->n[2]; z++)
            for (guint32 y = 0; y + box[1] <= grid->n[1]; y++)
              for (guint32 x = 0; x + box[0] <= grid->n[0]; x++)
                {
                  QuoitHostSet rest = *free;
                  gboolean fits = TRUE, is_cut;

                  for (guint32 i = 0; i < box[0] * box[1] * box[2]; i++)
                    {
                      const guint32 at = ((z + i / box[0] / box[1]) * grid->n[1] + y + i / box[0] % box[1]) * grid->n[0]
                                         + x + i % box[0];

                      fits = fits && quoit_host_set_has (grid, &rest, at);
                      rest.rows[at / grid->n[0]] &= (guint16) ~(1u << at % grid->n[0]);
                    }
                  if (!fits)
                    continue;
                  counts[s]--;
                  is_cut = can_cut (grid, &rest, drawn, counts);
                  counts[s]++;
                  if (is_cut)
                    return TRUE;
                }
        }
      return FALSE;
    }
  return TRUE;
}

static gboolean
can_hold (const Drawn *drawn, guint32 row, guint32 counts[MAX_SHAPES])
{
  const gboolean is_new = row >= drawn->market.n_blocks;
  const QuoitGrid *grid = is_new ? drawn->offers[row - drawn->market.n_blocks].grid : drawn->blocks[row].grid;
  guint32 n_adjacent = 0;

  for (guint32 s = 0; s < drawn->market.n_shapes; s++)
    n_adjacent += drawn->shapes[s].n_turns > 0 ? counts[s] : 0;
  return n_adjacent == 0
         || (grid != NULL
             && can_cut (grid, &drawn->free[is_new ? MAX_BLOCKS + row - drawn->market.n_blocks : row], drawn, counts));
}

/* Returns what single cubes cost if so many are free and so many can be bought in each block: the cheapest first. */
static gint64
cost_of_singles (const Drawn *drawn, guint32 n_left, const guint32 *limits)
{
  gint64 cost = 0;
  guint32 bought[MAX_BLOCKS + 1] = { 0 };

  for (guint32 i = n_left; i < drawn->demand.n_single; i++)
    {
      guint32 best = G_MAXUINT32;
      gint64 price = NO_COST;

      for (guint32 b = 0; b <= drawn->market.n_blocks; b++)
        {
          const QuoitCubeBlock *block = b == drawn->market.n_blocks ? &drawn->market.loose : &drawn->blocks[b];

          if (bought[b] < limits[b] && block->price < price)
            {
              best = b;
              price = block->price;
            }
        }
      if (best == G_MAXUINT32)
        return NO_COST;
      bought[best]++;
      cost += price;
    }
  return cost;
}

static void
count_cost (All *all, gint64 cost)
{
  const Drawn *drawn = all->drawn;
  guint32 n_left = drawn->market.loose.n_free, limits[MAX_BLOCKS + 1] = { 0 };
  gint64 singles;

  cost += all->opened;
  for (guint32 i = 0; i < all->n_bins; i++)
    {
      const guint32 row = all->rows[i];
      const gboolean is_new = row >= drawn->market.n_blocks;
      const guint32 n_free = is_new ? drawn->offers[row - drawn->market.n_blocks].n_cubes : drawn->blocks[row].n_free,
                    limit = is_new ? 0 : drawn->blocks[row].limit;
      guint32 load = 0;

      for (guint32 s = 0; s < drawn->market.n_shapes; s++)
        load += all->counts[i][s] * drawn->shapes[s].n_cubes;
      if (load > n_free + limit || !can_hold (drawn, row, all->counts[i]))
        return;
      n_left += n_free > load ? n_free - load : 0;
      if (load > n_free)
        cost += (load - n_free) * drawn->blocks[row].price;
      if (!is_new)
        limits[row] = limit - (load > n_free ? load - n_free : 0);
    }
  limits[drawn->market.n_blocks] = drawn->market.loose.limit;
  singles = cost_of_singles (drawn, n_left, limits);
  if (singles != NO_COST)
    all->least = MIN (all->least, cost + singles);
}

static void
try_bins (All *all, guint32 slice, gint64 cost)
{
  guint32 shape;

  if (slice == all->n_slices)
    {
      count_cost (all, cost);
      return;
    }
  shape = all->slices[slice];
  for (guint32 i = 0; i < all->n_bins; i++)
    {
      all->counts[i][shape]++;
      try_bins (all, slice + 1, cost);
      all->counts[i][shape]--;
    }
  if (all->drawn->shapes[shape].price >= 0)
    try_bins (all, slice + 1, cost + all->drawn->shapes[shape].price);
}

static void
try_offers (All *all, guint32 offer)
{
  const Drawn *drawn = all->drawn;
  const guint32 n_bins = all->n_bins;
  const gint64 opened = all->opened;

  if (offer == drawn->market.n_offers)
    {
      try_bins (all, 0, 0);
      return;
    }
  /* More blocks than slices and single cubes are never of use. */
  for (guint32 n = 0; n <= MIN (drawn->offers[offer].limit, all->n_slices + drawn->demand.n_single); n++)
    {
      try_offers (all, offer + 1);
      all->rows[all->n_bins++] = drawn->market.n_blocks + offer;
      all->opened += drawn->offers[offer].price;
    }
  all->n_bins = n_bins;
  all->opened = opened;
}

static gint64
least_cost (const Drawn *drawn)
{
  All all = { .drawn = drawn, .n_bins = drawn->market.n_blocks, .least = NO_COST };

  for (guint32 b = 0; b < drawn->market.n_blocks; b++)
    all.rows[b] = b;
  for (guint32 s = 0; s < drawn->market.n_shapes; s++)
    for (guint32 i = 0; i < drawn->n_slices[s]; i++)
      all.slices[all.n_slices++] = s;
  try_offers (&all, 0);
  return all.least;
}

/* --- random problems --- */

static gint64
draw_price (GRand *rand, gint64 unit)
{
  return draw (rand, 12) * unit;
}

/* Draws a grid of at most 6 cubes. Returns the number of cubes. */
static guint32
draw_grid (GRand *rand, QuoitGrid *grid)
{
  static const guint16 sides[][3] = { { 1, 1, 2 }, { 2, 2, 1 }, { 1, 2, 2 }, { 3, 1, 1 }, { 3, 2, 1 }, { 1, 1, 4 } };
  const guint16 *side = sides[draw (rand, G_N_ELEMENTS (sides))];

  ck_assert (quoit_grid_init (grid, (QuoitShape) { { side[0], side[1], side[2] }, 3 }, 0));
  return (guint32) side[0] * side[1] * side[2];
}

static void
draw_block (GRand *rand, Drawn *drawn, guint32 b, gint64 unit)
{
  QuoitCubeBlock *block = &drawn->blocks[b];

  *block = (QuoitCubeBlock) { draw_price (rand, unit), draw (rand, 6), draw (rand, 2) == 0 ? 0 : draw (rand, 7), NULL,
                              NULL };
  if (draw (rand, 2) == 0)
    return;
  block->grid = &drawn->grids[b];
  block->free = &drawn->free[b];
  block->n_free = draw_grid (rand, &drawn->grids[b]);
  quoit_host_set_fill (&drawn->grids[b], &drawn->free[b]);
  for (guint32 i = 0; i < quoit_grid_n_hosts (&drawn->grids[b]); i++)
    if (draw (rand, 4) == 0)
      {
        drawn->free[b].rows[i / drawn->grids[b].n[0]] &= (guint16) ~(1u << i % drawn->grids[b].n[0]);
        block->n_free--;
      }
  block->n_free += draw (rand, 3) == 0; /* without a position */
}

static void
draw_offer (GRand *rand, Drawn *drawn, guint32 o, gint64 unit)
{
  QuoitGrid *grid = &drawn->grids[MAX_BLOCKS + o];

  drawn->offers[o] = (QuoitCubeOffer) { draw_price (rand, 3 * unit), 1 + draw (rand, 6), draw (rand, 3), NULL };
  if (draw (rand, 2) == 0)
    return;
  drawn->offers[o].n_cubes = draw_grid (rand, grid);
  drawn->offers[o].grid = grid;
  quoit_host_set_fill (grid, &drawn->free[MAX_BLOCKS + o]);
}

static void
draw_shape (GRand *rand, Drawn *drawn, guint32 s, gint64 unit)
{
  static const guint16 boxes[][3] = { { 1, 1, 1 }, { 1, 1, 2 }, { 1, 2, 2 }, { 1, 1, 3 }, { 1, 2, 3 } };
  const guint16 *box = boxes[draw (rand, G_N_ELEMENTS (boxes))];
  QuoitCubeShape *shape = &drawn->shapes[s];

  *shape = (QuoitCubeShape) { (guint32) box[0] * box[1] * box[2], drawn->turns[s], 0, -1 };
  if (draw (rand, 2) == 0)
    shape->n_turns = quoit_shape_list_turns ((QuoitShape) { { box[0], box[1], box[2] }, 3 },
                                             (QuoitShape) { { 1, 1, 1 }, 3 }, drawn->turns[s]);
  if (draw (rand, 6) == 0)
    shape->price = draw_price (rand, 2 * unit);
}

static void
draw_problem (GRand *rand, guint32 max_slices, Drawn *drawn)
{
  const gint64 unit = draw (rand, 2) == 0 ? 1 : 2500;
  guint32 n = draw (rand, max_slices + 1);

  memset (drawn, 0, sizeof *drawn);
  drawn->market = (QuoitCubeMarket) { drawn->blocks,
                                      drawn->offers,
                                      drawn->shapes,
                                      draw (rand, MAX_BLOCKS + 1),
                                      draw (rand, MAX_OFFERS + 1),
                                      1 + draw (rand, MAX_SHAPES),
                                      { 0 } };
  drawn->market.loose
      = (QuoitCubeBlock) { draw_price (rand, unit), draw (rand, 3), draw (rand, 2) * draw (rand, 4), NULL, NULL };
  for (guint32 b = 0; b < drawn->market.n_blocks; b++)
    draw_block (rand, drawn, b, unit);
  for (guint32 o = 0; o < drawn->market.n_offers; o++)
    draw_offer (rand, drawn, o, unit);
  for (guint32 s = 0; s < drawn->market.n_shapes; s++)
    draw_shape (rand, drawn, s, unit);
  if (drawn->market.n_blocks > 1 && draw (rand, 3) == 0 && drawn->blocks[0].grid == NULL)
    drawn->blocks[1] = drawn->blocks[0]; /* equal blocks */
  for (; n > 0; n--)
    drawn->n_slices[draw (rand, drawn->market.n_shapes)]++;
  drawn->demand = (QuoitCubeDemand) { drawn->n_slices, draw (rand, 2) * draw (rand, 6) };
}

/* --- what holds for each purchase --- */

/* Counts the cost of the purchase, and what each row has. */
static void
check_purchase (const Drawn *drawn, const QuoitCubePurchase *purchase)
{
  const QuoitCubeMarket *market = &drawn->market;
  guint32 n_single = purchase->n_loose_taken;
  gint64 cost = purchase->n_loose_bought * market->loose.price;

  if (!purchase->is_found)
    return;
  ck_assert_uint_le (purchase->n_loose_bought, market->loose.limit);
  ck_assert_uint_le (purchase->n_loose_taken, market->loose.n_free + purchase->n_loose_bought);
  for (guint32 row = 0; row < market->n_blocks + market->n_offers; row++)
    {
      const gboolean is_new = row >= market->n_blocks;
      const QuoitCubeOffer *offer = is_new ? &market->offers[row - market->n_blocks] : NULL;
      const guint32 n = purchase->bought[row], n_there = is_new ? n * offer->n_cubes : market->blocks[row].n_free + n;
      guint32 n_joined = 0;

      cost += n * (is_new ? offer->price : market->blocks[row].price);
      ck_assert_uint_le (n, is_new ? offer->limit : market->blocks[row].limit);
      for (guint32 s = 0; s < market->n_shapes; s++)
        n_joined += purchase->joined[row * market->n_shapes + s] * market->shapes[s].n_cubes;
      ck_assert_uint_ge (purchase->taken[row], n_joined);
      ck_assert_uint_le (purchase->taken[row], n_there);
      n_single += purchase->taken[row] - n_joined;
    }
  ck_assert_uint_eq (n_single, drawn->demand.n_single);
  for (guint32 s = 0; s < market->n_shapes; s++)
    {
      guint32 n = purchase->whole[s];

      cost += purchase->whole[s] * MAX (market->shapes[s].price, 0);
      ck_assert (purchase->whole[s] == 0 || market->shapes[s].price >= 0);
      for (guint32 row = 0; row < market->n_blocks + market->n_offers; row++)
        n += purchase->joined[row * market->n_shapes + s];
      ck_assert_uint_eq (n, drawn->n_slices[s]);
    }
  ck_assert_int_eq (cost, purchase->cost);
  ck_assert_int_le (purchase->bound, purchase->cost);
  ck_assert_int_eq (purchase->is_proven, purchase->bound == purchase->cost);
}

START_TEST (small_purchases_are_the_cheapest)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) _i);

  for (guint n = 0; n < 250; n++)
    {
      Drawn drawn;
      QuoitCubePurchase *purchase;
      guint64 steps = STEPS;
      gint64 least;

      draw_problem (rand, MAX_SLICES, &drawn);
      least = least_cost (&drawn);
      purchase = quoit_cube_buying_solve (&drawn.market, &drawn.demand, NULL, &steps);
      ck_assert_msg (purchase->is_proven, "problem %u is not proven", n);
      ck_assert_msg (purchase->is_found == (least != NO_COST), "problem %u: found %d", n, purchase->is_found);
      if (purchase->is_found)
        ck_assert_msg (purchase->cost == least, "problem %u: %" G_GINT64_FORMAT ", expected %" G_GINT64_FORMAT, n,
                       purchase->cost, least);
      check_purchase (&drawn, purchase);
      quoit_cube_purchase_unref (purchase);
    }
}
END_TEST

/* With a small budget, the range has the true cost in it, or nothing is claimed. */
START_TEST (a_budget_never_makes_an_answer_wrong)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (100 + (guint32) _i);

  for (guint n = 0; n < 250; n++)
    {
      Drawn drawn;
      QuoitCubePurchase *purchase;
      guint64 steps = draw (rand, 300);
      gint64 least;

      draw_problem (rand, MAX_SLICES, &drawn);
      least = least_cost (&drawn);
      purchase = quoit_cube_buying_solve (&drawn.market, &drawn.demand, NULL, &steps);
      if (purchase->is_found)
        ck_assert (purchase->bound <= least && purchase->cost >= least);
      else if (purchase->is_proven)
        ck_assert_int_eq (least, NO_COST);
      check_purchase (&drawn, purchase);
      quoit_cube_purchase_unref (purchase);
    }
}
END_TEST

/* Draws weights for demands of at least the drawn one, and keeps what cubes are worth at them. */
static QuoitCubeWeights *
draw_weights (GRand *rand, const Drawn *drawn)
{
  guint32 n_slices[MAX_SHAPES] = { 0 };
  QuoitCubeWeights *weights;
  guint64 steps = STEPS;

  for (guint32 s = 0; s < drawn->market.n_shapes; s++)
    n_slices[s] = drawn->n_slices[s] + draw (rand, 3);
  weights = quoit_cube_weights_new (&drawn->market,
                                    &(QuoitCubeDemand) { n_slices, drawn->demand.n_single + draw (rand, 3) });
  for (guint32 kind = 0; kind < weights->n_kinds; kind++)
    switch (draw (rand, 3))
      {
      case 0:
        weights->weights[kind] = quoit_cube_weights_price (weights, kind);
        break;
      case 1:
        weights->weights[kind] = draw (rand, draw (rand, 2) == 0 ? 30 : 50000);
        break;
      default:
        break;
      }
  quoit_cube_weights_sell (weights, &steps);
  quoit_cube_weights_keep (weights);
  return weights;
}

/* No demand costs less than any weights say, and a search with weights finds the same. */
START_TEST (all_weights_are_bounds)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (200 + (guint32) _i);
  guint n_equal = 0;

  for (guint n = 0; n < 250; n++)
    {
      Drawn drawn;
      gint64 least;

      draw_problem (rand, MAX_SLICES, &drawn);
      least = least_cost (&drawn);
      for (guint round = 0; round < 4; round++)
        {
          g_autoptr (QuoitCubeWeights) weights = draw_weights (rand, &drawn);
          const gint64 bound = (gint64) quoit_cube_weights_bound (weights, &drawn.demand, NULL, 0);
          guint64 steps = draw (rand, 2) == 0 ? STEPS : draw (rand, 300);
          const gboolean is_small = steps < STEPS;
          QuoitCubePurchase *purchase = quoit_cube_buying_solve (&drawn.market, &drawn.demand, weights, &steps);

          ck_assert_msg (bound <= least, "problem %u: %" G_GINT64_FORMAT ", expected at most %" G_GINT64_FORMAT, n,
                         bound, least);
          ck_assert (is_small || purchase->is_proven);
          if (purchase->is_found)
            ck_assert (purchase->bound <= least && purchase->cost >= least);
          else if (purchase->is_proven)
            ck_assert_int_eq (least, NO_COST);
          check_purchase (&drawn, purchase);
          n_equal += least > 0 && bound == least;
          quoit_cube_purchase_unref (purchase);
        }
    }
  ck_assert_uint_ge (n_equal, 3);
}
END_TEST

/* A grid that would take long to pack is worth what its cubes are worth together. */
START_TEST (large_grids_are_divided)
{
  QuoitGrid grid;
  QuoitHostSet free;
  QuoitTurn turns[2][QUOIT_MAX_TURNS];
  const QuoitShape cube = { { 1, 1, 1 }, 3 }, pair = { { 1, 1, 2 }, 3 }, tall = { { 1, 1, 17 }, 3 };
  const QuoitCubeShape shapes[] = { { 2, turns[0], quoit_shape_list_turns (pair, cube, turns[0]), -1 },
                                    { 17, turns[1], quoit_shape_list_turns (tall, cube, turns[1]), -1 } };
  const guint32 fitting[] = { 384, 1 }, others[] = { 385, 0 };
  const QuoitCubeBlock block = { 0, 768, 0, &grid, &free };
  const QuoitCubeMarket market = { &block, NULL, shapes, 1, 0, 2, { 0, 0, 0, NULL, NULL } };
  g_autoptr (QuoitCubeWeights) weights = NULL;
  guint64 steps = STEPS;

  ck_assert (quoit_grid_init (&grid, (QuoitShape) { { 16, 16, 3 }, 3 }, 0));
  quoit_host_set_fill (&grid, &free);
  weights = quoit_cube_weights_new (&market, &(QuoitCubeDemand) { fitting, 0 });
  weights->weights[0] = 10;
  weights->weights[1] = 1000; /* a slice of 17 cubes in a line has no place */
  ck_assert_int_eq ((gint64) quoit_cube_weights_sell (weights, &steps), 7680);
  ck_assert_int_eq (weights->sold[0], 768);
  ck_assert_int_eq (weights->sold[1], 0);
  quoit_cube_weights_keep (weights);
  ck_assert_int_eq ((gint64) quoit_cube_weights_bound (weights, &(QuoitCubeDemand) { others, 0 }, NULL, 0), 20);
}
END_TEST

/* 245 blocks, most of them in use, and a queue of several thousand slices. */
START_TEST (large_purchases_have_a_small_gap)
{
  static const guint32 sizes[] = { 2, 4, 8, 16, 32 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  QuoitCubeBlock blocks[245];
  QuoitCubeShape shapes[G_N_ELEMENTS (sizes)];
  const QuoitCubeOffer offers[] = { { 3000000, 64, 1000, NULL }, { 6000000, 144, 1000, NULL } };
  const QuoitCubeMarket market
      = { blocks, offers, shapes, 245, 2, G_N_ELEMENTS (sizes), { 50000, 10, 100, NULL, NULL } };

  for (guint n = 0; n < 8; n++)
    {
      guint32 n_slices[G_N_ELEMENTS (sizes)];
      guint64 steps = 200000;
      QuoitCubePurchase *purchase;

      for (guint32 b = 0; b < 245; b++)
        blocks[b] = (QuoitCubeBlock) { 60000, draw (rand, 20), draw (rand, 4) == 0 ? draw (rand, 40) : 0, NULL, NULL };
      for (guint32 s = 0; s < G_N_ELEMENTS (sizes); s++)
        {
          shapes[s] = (QuoitCubeShape) { sizes[s], NULL, 0, -1 };
          n_slices[s] = draw (rand, 4000 / sizes[s]);
        }
      purchase = quoit_cube_buying_solve (&market, &(QuoitCubeDemand) { n_slices, draw (rand, 500) }, NULL, &steps);
      ck_assert (purchase->is_found);
      ck_assert_msg (purchase->cost - purchase->bound <= purchase->cost / 10, "%" G_GINT64_FORMAT "..%" G_GINT64_FORMAT,
                     purchase->bound, purchase->cost);
      quoit_cube_purchase_unref (purchase);
    }
}
END_TEST

/* Single cubes with positions, and slices of any cubes of a block. */
static QuoitCubePurchase *
buy_beside_single_cubes (guint32 n_single, guint32 n_joined, guint32 n_cubes, guint64 *steps)
{
  QuoitGrid grid;
  const QuoitTurn turn = { .hosts = { { 1, 1, 1 }, 3 } };
  const QuoitCubeShape shapes[] = { { 1, &turn, 1, -1 }, { n_cubes, NULL, 0, -1 } };
  const QuoitCubeOffer offer = { 10000, 44, QUOIT_CUBE_BUYING_MAX, &grid };
  const QuoitCubeMarket market = { NULL, &offer, shapes, 0, 1, 2, { 0, 0, 0, NULL, NULL } };
  const guint32 n_slices[] = { n_single, n_joined };

  quoit_grid_init (&grid, (QuoitShape) { { 4, 1, 11 }, 3 }, 0);
  return quoit_cube_buying_solve (&market, &(QuoitCubeDemand) { n_slices, 0 }, NULL, steps);
}

START_TEST (slices_that_fit_into_no_block_are_impossible)
{
  guint64 steps = STEPS;
  QuoitCubePurchase *purchase = buy_beside_single_cubes (20000, 5, 64, &steps);

  ck_assert (purchase->is_proven && !purchase->is_found);
  quoit_cube_purchase_unref (purchase);
  purchase = buy_beside_single_cubes (20000, 5, 44, &steps);
  ck_assert (purchase->is_proven && purchase->is_found);
  quoit_cube_purchase_unref (purchase);
}
END_TEST

/* Otherwise the budget would not limit the time. */
START_TEST (each_slice_costs_a_step)
{
  const guint64 given = 100 * G_GUINT64_CONSTANT (1000000);
  guint64 steps = given;
  QuoitCubePurchase *purchase = buy_beside_single_cubes (400000, 0, 2, &steps);

  ck_assert (purchase->is_proven && purchase->is_found);
  ck_assert_uint_ge (given - steps, 400000);
  quoit_cube_purchase_unref (purchase);
}
END_TEST

START_TEST (single_cubes_need_no_shapes)
{
  const QuoitCubeBlock block = { 10000, 1, 9, NULL, NULL };
  const QuoitCubeMarket market = { &block, NULL, NULL, 1, 0, 0, { 20000, 1, 9, NULL, NULL } };
  const guint32 no_slices = 0;
  guint64 steps = STEPS;
  QuoitCubePurchase *purchase = quoit_cube_buying_solve (&market, &(QuoitCubeDemand) { &no_slices, 5 }, NULL, &steps);

  ck_assert (purchase->is_proven && purchase->is_found);
  ck_assert_int_eq (purchase->cost, 30000);
  quoit_cube_purchase_unref (purchase);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("cube-buying");
  TCase *tcase = tcase_create ("cube-buying");

  tcase_set_timeout (tcase, 120);
  tcase_add_loop_test (tcase, small_purchases_are_the_cheapest, 0, 8);
  tcase_add_loop_test (tcase, a_budget_never_makes_an_answer_wrong, 0, 4);
  tcase_add_loop_test (tcase, all_weights_are_bounds, 0, 8);
  tcase_add_test (tcase, large_grids_are_divided);
  tcase_add_test (tcase, large_purchases_have_a_small_gap);
  tcase_add_test (tcase, slices_that_fit_into_no_block_are_impossible);
  tcase_add_test (tcase, each_slice_costs_a_step);
  tcase_add_test (tcase, single_cubes_need_no_shapes);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}

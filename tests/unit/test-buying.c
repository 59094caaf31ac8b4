/* SPDX-License-Identifier: Apache-2.0 */
/* The cheapest purchases of small random problems, compared with a search of all choices; and large ones, whose bound
 * has to hold. */
#include "suite.h"

#include <string.h>

#include "planner/buying.h"

enum { MAX_CLASSES = 6, MAX_REQUESTS = 64, MAX_OPTIONS = 4, STEPS = 20000000 };

#define NO_COST G_MAXINT64

typedef struct {
  QuoitBuyingClass classes[MAX_CLASSES];
  QuoitBuyingOption options[MAX_REQUESTS * MAX_OPTIONS];
  QuoitBuyingRequest requests[MAX_REQUESTS];
  QuoitBuyingProblem problem;
} Drawn;

static guint32
draw (GRand *rand, guint32 n)
{
  return (guint32) g_rand_int_range (rand, 0, (gint32) n);
}

/* --- the cost of choices, counted afresh --- */

static gint64
cost_of (const QuoitBuyingProblem *problem, const guint32 *choices)
{
  gint64 taken[MAX_CLASSES] = { 0 }, cost = 0;

  for (guint32 i = 0; i < problem->n_requests; i++)
    {
      const QuoitBuyingOption *option = &problem->options[problem->requests[i].first_option + choices[i]];

      ck_assert_uint_lt (choices[i], problem->requests[i].n_options);
      taken[option->class_index] += option->n_slices;
    }
  for (guint32 c = 0; c < problem->n_classes; c++)
    {
      const gint64 bought = MAX (taken[c] - problem->classes[c].n_free, 0);

      if (bought > problem->classes[c].limit)
        return NO_COST;
      cost += bought * problem->classes[c].price;
    }
  return cost;
}

static gint64
least_cost (const QuoitBuyingProblem *problem)
{
  guint32 choices[MAX_REQUESTS] = { 0 }, at = 0;
  gint64 least = NO_COST;

  while (at < problem->n_requests || problem->n_requests == 0)
    {
      least = MIN (least, cost_of (problem, choices));
      for (at = 0; at < problem->n_requests && ++choices[at] == problem->requests[at].n_options; at++)
        choices[at] = 0;
      if (problem->n_requests == 0)
        break;
    }
  return least;
}

static void
draw_problem (GRand *rand, guint32 max_requests, Drawn *drawn)
{
  guint32 n_options = 0;

  drawn->problem = (QuoitBuyingProblem) { .classes = drawn->classes,
                                          .n_classes = 1 + draw (rand, MAX_CLASSES),
                                          .options = drawn->options,
                                          .requests = drawn->requests,
                                          .n_requests = draw (rand, max_requests + 1) };
  for (guint32 c = 0; c < drawn->problem.n_classes; c++)
    {
      const gint64 unit = draw (rand, 2) == 0 ? 1 : 2500;

      drawn->classes[c]
          = (QuoitBuyingClass) { draw (rand, 20) * unit, draw (rand, 8), draw (rand, 3) == 0 ? draw (rand, 5) : 1000 };
      if (draw (rand, 5) == 0)
        drawn->classes[c].limit = 0;
    }
  for (guint32 i = 0; i < drawn->problem.n_requests; i++)
    {
      drawn->requests[i] = (QuoitBuyingRequest) { n_options, 1 + draw (rand, MAX_OPTIONS) };
      for (guint32 option = 0; option < drawn->requests[i].n_options; option++)
        drawn->options[n_options++]
            = (QuoitBuyingOption) { draw (rand, drawn->problem.n_classes), 1 + draw (rand, 4), 0 };
      if (i > 0 && draw (rand, 3) == 0)
        {
          n_options = drawn->requests[i].first_option;
          drawn->requests[i] = drawn->requests[i - 1]; /* equal requests */
        }
    }
}

/* Whether the result is consistent. Returns the choices. */
static const guint32 *
check_result (const QuoitBuyingProblem *problem, const QuoitBuyingResult *result)
{
  const guint32 *choices = (const guint32 *) (const void *) result->choices->data;

  if (!result->is_found)
    return NULL;
  ck_assert_uint_eq (result->choices->len, problem->n_requests);
  ck_assert_int_eq (cost_of (problem, choices), result->cost);
  ck_assert_int_le (result->bound, result->cost);
  ck_assert_int_eq (result->is_proven, result->bound == result->cost);
  return choices;
}

START_TEST (small_purchases_are_the_cheapest)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) _i);

  for (guint n = 0; n < 150; n++)
    {
      Drawn drawn;
      QuoitBuyingResult result;
      gint64 least;

      draw_problem (rand, 8, &drawn);
      least = least_cost (&drawn.problem);
      quoit_buying_solve (&drawn.problem, STEPS, &result);
      ck_assert (result.is_proven);
      ck_assert_int_eq (result.is_found, least != NO_COST);
      if (result.is_found)
        ck_assert_int_eq (result.cost, least);
      check_result (&drawn.problem, &result);
      quoit_buying_result_clear (&result);
    }
}
END_TEST

/* With a small budget, the range has the true cost in it, or nothing is claimed. */
START_TEST (a_budget_never_makes_an_answer_wrong)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) _i);

  for (guint n = 0; n < 100; n++)
    {
      Drawn drawn;
      QuoitBuyingResult result;
      gint64 least;

      draw_problem (rand, 8, &drawn);
      least = least_cost (&drawn.problem);
      quoit_buying_solve (&drawn.problem, draw (rand, 200), &result);
      if (result.is_found)
        {
          ck_assert_int_le (result.bound, least);
          ck_assert_int_ge (result.cost, least);
        }
      else if (result.is_proven)
        ck_assert_int_eq (least, NO_COST);
      check_result (&drawn.problem, &result);
      quoit_buying_result_clear (&result);
    }
}
END_TEST

/* --- markets of cubes --- */

enum { N_SHAPES = 3, N_BLOCKS = 2, MAX_MARKETS = 2 };

typedef struct {
  QuoitCubeBlock blocks[N_BLOCKS];
  QuoitCubeOffer offer;
  QuoitCubeShape shapes[N_SHAPES];
  QuoitTurn turns[N_SHAPES][QUOIT_MAX_TURNS];
  QuoitGrid grids[N_BLOCKS + 1];
  QuoitHostSet free[N_BLOCKS];
  QuoitCubeMarket market;
} Cubes;

typedef struct {
  Drawn drawn;
  Cubes cubes[MAX_MARKETS];
  QuoitBuyingMarket markets[MAX_MARKETS];
} Mixed;

/* Gives half of the shapes adjacent cubes, and positions to the cubes of half of the blocks. */
static void
draw_positions (GRand *rand, Cubes *cubes)
{
  for (guint32 s = 0; s < N_SHAPES; s++)
    if (draw (rand, 2) == 0)
      {
        cubes->shapes[s].turns = cubes->turns[s];
        cubes->shapes[s].n_turns = quoit_shape_list_turns ((QuoitShape) { { 1, 1, (guint16) (s + 1) }, 3 },
                                                           (QuoitShape) { { 1, 1, 1 }, 3 }, cubes->turns[s]);
      }
  for (guint32 b = 0; b <= N_BLOCKS; b++)
    {
      QuoitGrid *grid = &cubes->grids[b];

      if (draw (rand, 2) == 0)
        continue;
      ck_assert (quoit_grid_init (grid, (QuoitShape) { { (guint16) (1 + draw (rand, 2)), 1, 3 }, 3 }, 0));
      if (b == N_BLOCKS)
        {
          cubes->offer.grid = grid;
          cubes->offer.n_cubes = quoit_grid_n_hosts (grid);
          continue;
        }
      cubes->blocks[b].grid = grid;
      cubes->blocks[b].free = &cubes->free[b];
      quoit_host_set_clear (grid, &cubes->free[b]);
      for (guint32 i = 0; i < quoit_grid_n_hosts (grid); i++)
        if (draw (rand, 3) > 0)
          quoit_host_set_add (grid, &cubes->free[b], i);
      cubes->blocks[b].n_free = quoit_host_set_count (grid, &cubes->free[b]);
    }
}

/* Draws a market: joined slices of 1 to 3 cubes, and single cubes. */
static void
draw_cubes (GRand *rand, Cubes *cubes)
{
  for (guint32 b = 0; b < N_BLOCKS; b++)
    cubes->blocks[b] = (QuoitCubeBlock) { draw (rand, 20), draw (rand, 4), draw (rand, 6), NULL, NULL };
  cubes->offer = (QuoitCubeOffer) { draw (rand, 40), 1 + draw (rand, 4), draw (rand, 3), NULL };
  for (guint32 s = 0; s < N_SHAPES; s++)
    cubes->shapes[s] = (QuoitCubeShape) { s + 1, NULL, 0, -1 };
  draw_positions (rand, cubes);
  cubes->market = (QuoitCubeMarket) { cubes->blocks,
                                      &cubes->offer,
                                      cubes->shapes,
                                      N_BLOCKS,
                                      1,
                                      N_SHAPES,
                                      { draw (rand, 20), draw (rand, 2), draw (rand, 3), NULL, NULL } };
}

/* Returns the market of a class; NULL: it is none. */
static const QuoitCubeMarket *
find_market (const QuoitBuyingProblem *problem, guint32 class_index)
{
  for (guint32 m = 0; m < problem->n_markets; m++)
    if (problem->markets[m].class_index == class_index)
      return problem->markets[m].market;
  return NULL;
}

/* Draws a problem whose last classes are markets. */
static void
draw_mixed (GRand *rand, guint32 max_requests, Mixed *mixed)
{
  QuoitBuyingProblem *problem = &mixed->drawn.problem;

  draw_problem (rand, max_requests, &mixed->drawn);
  problem->markets = mixed->markets;
  problem->n_markets = 1 + draw (rand, MIN (problem->n_classes, MAX_MARKETS));
  for (guint32 m = 0; m < problem->n_markets; m++)
    {
      const guint32 c = problem->n_classes - 1 - m;
      QuoitCubeEstimate estimate;

      draw_cubes (rand, &mixed->cubes[m]);
      mixed->markets[m] = (QuoitBuyingMarket) { c, &mixed->cubes[m].market };
      estimate = quoit_cube_market_estimate (&mixed->cubes[m].market);
      mixed->drawn.classes[c] = (QuoitBuyingClass) { estimate.price, estimate.n_free, estimate.limit };
    }
  for (guint32 i = 0; i < G_N_ELEMENTS (mixed->drawn.options); i++)
    {
      QuoitBuyingOption *option = &mixed->drawn.options[i];

      option->shape = 0;
      if (find_market (problem, option->class_index) == NULL)
        continue;
      option->shape = draw (rand, N_SHAPES + 1);
      option->n_slices = (1 + draw (rand, 2)) * MAX (option->shape, 1);
    }
}

/* Returns what the choices cost in a market, and whether that is possible at all. */
static gint64
cost_in_market (const QuoitBuyingProblem *problem, const QuoitBuyingMarket *market, const guint32 *choices)
{
  guint32 n_slices[N_SHAPES] = { 0 }, n_single = 0;
  guint64 steps = STEPS;
  QuoitCubePurchase *purchase;
  gint64 cost;

  for (guint32 i = 0; i < problem->n_requests; i++)
    {
      const QuoitBuyingOption *option = &problem->options[problem->requests[i].first_option + choices[i]];

      if (option->class_index != market->class_index)
        continue;
      if (option->shape == 0)
        n_single += option->n_slices;
      else
        n_slices[option->shape - 1] += option->n_slices / option->shape;
    }
  purchase = quoit_cube_buying_solve (market->market, &(QuoitCubeDemand) { n_slices, n_single }, NULL, &steps);
  ck_assert (purchase->is_proven);
  cost = purchase->is_found ? purchase->cost : NO_COST;
  quoit_cube_purchase_unref (purchase);
  return cost;
}

/* Counts what the choices cost, without the search over them. */
static gint64
cost_of_mixed (const Mixed *mixed, const guint32 *choices)
{
  const QuoitBuyingProblem *problem = &mixed->drawn.problem;
  gint64 taken[MAX_CLASSES] = { 0 }, cost = 0;

  for (guint32 i = 0; i < problem->n_requests; i++)
    {
      const QuoitBuyingOption *option = &problem->options[problem->requests[i].first_option + choices[i]];

      if (find_market (problem, option->class_index) == NULL)
        taken[option->class_index] += option->n_slices;
    }
  for (guint32 c = 0; c < problem->n_classes; c++)
    {
      const gint64 bought = MAX (taken[c] - problem->classes[c].n_free, 0);

      if (bought > problem->classes[c].limit)
        return NO_COST;
      cost += bought * problem->classes[c].price;
    }
  for (guint32 m = 0; m < problem->n_markets; m++)
    {
      const gint64 more = cost_in_market (problem, &problem->markets[m], choices);

      if (more == NO_COST)
        return NO_COST;
      cost += more;
    }
  return cost;
}

static gint64
least_of_mixed (const Mixed *mixed)
{
  const QuoitBuyingProblem *problem = &mixed->drawn.problem;
  guint32 choices[MAX_REQUESTS] = { 0 }, at = 0;
  gint64 least = NO_COST;

  do
    {
      least = MIN (least, cost_of_mixed (mixed, choices));
      for (at = 0; at < problem->n_requests && ++choices[at] == problem->requests[at].n_options; at++)
        choices[at] = 0;
    }
  while (at < problem->n_requests);
  return least;
}

/* Which alternative is the cheapest depends on the cubes that the others take. */
START_TEST (alternatives_with_cubes_are_the_cheapest)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) _i);

  for (guint n = 0; n < 60; n++)
    {
      Mixed mixed;
      QuoitBuyingResult result;
      const guint64 steps = n % 3 == 0 ? draw (rand, n % 2 == 0 ? 400 : 60000) : STEPS;
      gint64 least;

      draw_mixed (rand, 5, &mixed);
      least = least_of_mixed (&mixed);
      quoit_buying_solve (&mixed.drawn.problem, steps, &result);
      ck_assert (result.is_proven || steps < STEPS);
      if (result.is_proven)
        ck_assert_int_eq (result.is_found, least != NO_COST);
      if (result.is_found)
        {
          const gint64 cost = cost_of_mixed (&mixed, (const guint32 *) (const void *) result.choices->data);

          /* With a small budget, the blocks of these choices may not be the best ones. */
          ck_assert (result.is_proven ? cost == result.cost : cost <= result.cost);
          ck_assert (result.bound <= least && least <= result.cost);
          ck_assert_int_eq (result.is_proven, result.bound == result.cost);
          ck_assert_uint_eq (result.cubes->len, mixed.drawn.problem.n_markets);
        }
      quoit_buying_result_clear (&result);
    }
}
END_TEST

/* --- large markets of adjacent cubes --- */

enum { N_LARGE = 40, N_SIZES = 4, N_LARGE_REQUESTS = 240, CUBE_PRICE = 300 };

/* Blocks of 4x4x4 cubes, and two kinds of blocks that can be bought. */
typedef struct {
  QuoitTurn turns[N_SIZES][QUOIT_MAX_TURNS];
  QuoitCubeShape shapes[N_SIZES];
  QuoitGrid grid, small;
  QuoitCubeBlock blocks[N_LARGE];
  QuoitHostSet free[N_LARGE];
  QuoitCubeOffer offers[2];
  QuoitCubeMarket cubes;
  QuoitBuyingMarket market;
  QuoitBuyingClass class;
  QuoitBuyingOption options[2 * N_LARGE_REQUESTS];
  QuoitBuyingRequest requests[N_LARGE_REQUESTS];
  QuoitBuyingProblem problem;
  guint32 n_options;
} Large;

static void
large_init (Large *large)
{
  static const guint16 boxes[N_SIZES][3] = { { 1, 1, 2 }, { 1, 2, 2 }, { 2, 2, 2 }, { 2, 2, 4 } };

  memset (large, 0, sizeof *large);
  ck_assert (quoit_grid_init (&large->grid, (QuoitShape) { { 4, 4, 4 }, 3 }, 0));
  ck_assert (quoit_grid_init (&large->small, (QuoitShape) { { 2, 2, 2 }, 3 }, 0));
  for (guint s = 0; s < N_SIZES; s++)
    {
      const QuoitShape box = { { boxes[s][0], boxes[s][1], boxes[s][2] }, 3 };
      const guint n_turns = quoit_shape_list_turns (box, (QuoitShape) { { 1, 1, 1 }, 3 }, large->turns[s]);

      large->shapes[s] = (QuoitCubeShape) { quoit_shape_chips (box), large->turns[s], n_turns, -1 };
    }
  large->offers[0] = (QuoitCubeOffer) { 60 * CUBE_PRICE, 64, 1000, &large->grid };
  large->offers[1] = (QuoitCubeOffer) { 8 * CUBE_PRICE, 8, 1000, &large->small };
  for (guint b = 0; b < N_LARGE; b++)
    quoit_host_set_clear (&large->grid, &large->free[b]);
}

static void
add_option (Large *large, guint32 shape, guint32 n)
{
  large->options[large->n_options++] = (QuoitBuyingOption) { 0, n * large->shapes[shape].n_cubes, 1 + shape };
}

static void
add_request (Large *large, guint32 n_options)
{
  large->requests[large->problem.n_requests++] = (QuoitBuyingRequest) { large->n_options, n_options };
}

/* Makes the problem of blocks and requests. */
static void
large_finish (Large *large)
{
  QuoitCubeEstimate estimate;

  for (guint b = 0; b < N_LARGE; b++)
    large->blocks[b] = (QuoitCubeBlock) { 0, quoit_host_set_count (&large->grid, &large->free[b]), 0, &large->grid,
                                          &large->free[b] };
  large->cubes
      = (QuoitCubeMarket) { large->blocks, large->offers, large->shapes, N_LARGE, 2, N_SIZES, { 0, 0, 0, NULL, NULL } };
  large->market = (QuoitBuyingMarket) { 0, &large->cubes };
  estimate = quoit_cube_market_estimate (&large->cubes);
  large->class = (QuoitBuyingClass) { estimate.price, estimate.n_free, estimate.limit };
  large->problem.classes = &large->class;
  large->problem.n_classes = 1;
  large->problem.options = large->options;
  large->problem.requests = large->requests;
  large->problem.markets = &large->market;
  large->problem.n_markets = 1;
}

/* A fifth to three fifths of the cubes are free, at random, and many requests have an alternative. */
START_TEST (large_purchases_of_adjacent_cubes_have_a_small_gap)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);
  Large large;

  large_init (&large);
  for (guint32 b = 0; b < N_LARGE; b++)
    for (guint32 host = 0; host < 64; host++)
      if (draw (rand, 100) < 20 + b)
        quoit_host_set_add (&large.grid, &large.free[b], host);
  for (guint i = 0; i < 80; i++)
    {
      const guint32 n = 1 + draw (rand, 2);

      add_request (&large, n);
      for (guint32 option = 0; option < n; option++)
        add_option (&large, draw (rand, N_SIZES), 1 + draw (rand, 2));
    }
  large_finish (&large);
  for (guint round = 0; round < 2; round++)
    {
      gint64 bound = 0, cost = G_MAXINT64;

      for (guint64 steps = 20000; steps < 2 * STEPS; steps = steps < 640000 ? 2 * steps : 2 * steps + STEPS)
        {
          QuoitBuyingResult result;

          quoit_buying_solve (&large.problem, MIN (steps, STEPS), &result);
          ck_assert (result.is_found && result.bound <= result.cost);
          bound = MAX (bound, result.bound);
          cost = MIN (cost, result.cost);
          quoit_buying_result_clear (&result);
        }
      /* No budget proves more than what another one refutes. */
      ck_assert_msg (bound <= cost && cost - bound <= cost / 50, "round %u: %" G_GINT64_FORMAT "..%" G_GINT64_FORMAT,
                     round, bound, cost);
      for (guint i = 0; i < large.problem.n_requests; i++)
        large.requests[i].n_options = 1; /* then no request has an alternative */
    }
}
END_TEST

/* Adds a slice to the free cubes of a block where there is room. */
static void
plant (GRand *rand, Large *large, guint32 block)
{
  const guint32 s = draw (rand, N_SIZES), turn = draw (rand, large->shapes[s].n_turns);
  const QuoitShape box = large->turns[s][turn].hosts;
  QuoitHostSet used, places;
  guint32 cubes[16], at;

  quoit_host_set_fill (&large->grid, &used);
  for (guint32 host = 0; host < 64; host++)
    if (quoit_host_set_has (&large->grid, &large->free[block], host))
      used.rows[host / 4] &= (guint16) ~(1u << host % 4);
  if (!quoit_places_find (&large->grid, &used, box, &places))
    return;
  do
    at = draw (rand, 64);
  while (!quoit_host_set_has (&large->grid, &places, at));
  quoit_grid_list_box (&large->grid, box, at, cubes);
  for (guint32 i = 0; i < large->shapes[s].n_cubes; i++)
    quoit_host_set_add (&large->grid, &large->free[block], cubes[i]);
  add_request (large, 1 + draw (rand, 2));
  add_option (large, s, 1);
  if (large->requests[large->problem.n_requests - 1].n_options == 2)
    add_option (large, draw (rand, N_SIZES), 1 + draw (rand, 2));
}

/* The free cubes are made of the slices of the requests, so that the only cost is that of some new blocks. */
START_TEST (no_bound_is_above_a_planted_purchase)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) _i);
  const guint32 n_new = draw (rand, 4);
  const gint64 planted = n_new * 60 * CUBE_PRICE;
  Large large;

  large_init (&large);
  for (guint32 i = 0; i < 180; i++)
    plant (rand, &large, draw (rand, N_LARGE / 2));
  for (guint32 b = N_LARGE / 2; b < N_LARGE; b++)
    for (guint32 host = 0; host < 64; host++)
      if (draw (rand, 6) == 0)
        quoit_host_set_add (&large.grid, &large.free[b], host);
  for (guint32 i = 0; i < n_new; i++)
    {
      add_request (&large, 1);
      add_option (&large, 3, 4); /* four slices of 16 cubes */
    }
  large_finish (&large);
  for (guint64 steps = 2000; steps <= 200000; steps *= 10)
    {
      QuoitBuyingResult result;

      quoit_buying_solve (&large.problem, steps, &result);
      ck_assert (result.is_found && result.cost >= result.bound);
      ck_assert_msg (result.bound <= planted,
                     "%" G_GUINT64_FORMAT " steps: %" G_GINT64_FORMAT ", expected at most "
                     "%" G_GINT64_FORMAT,
                     steps, result.bound, planted);
      quoit_buying_result_clear (&result);
    }
}
END_TEST

START_TEST (large_purchases_have_a_small_gap)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);

  for (guint n = 0; n < 20; n++)
    {
      Drawn drawn;
      QuoitBuyingResult result;

      draw_problem (rand, MAX_REQUESTS, &drawn);
      for (guint32 c = 0; c < drawn.problem.n_classes; c++)
        {
          drawn.classes[c].price = 100000 + draw (rand, 100000);
          drawn.classes[c].limit = 1000;
        }
      quoit_buying_solve (&drawn.problem, 200000, &result);
      ck_assert (result.is_found);
      check_result (&drawn.problem, &result);
      ck_assert_msg (result.cost - result.bound <= result.cost / 10, "%" G_GINT64_FORMAT "..%" G_GINT64_FORMAT,
                     result.bound, result.cost);
      quoit_buying_result_clear (&result);
    }
}
END_TEST

START_TEST (the_same_problem_has_the_same_answer)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  Drawn drawn;
  QuoitBuyingResult a, b;

  draw_problem (rand, MAX_REQUESTS, &drawn);
  quoit_buying_solve (&drawn.problem, 50000, &a);
  quoit_buying_solve (&drawn.problem, 50000, &b);
  ck_assert_uint_eq (a.choices->len, b.choices->len);
  for (guint i = 0; i < a.choices->len; i++)
    ck_assert_uint_eq (g_array_index (a.choices, guint32, i), g_array_index (b.choices, guint32, i));
  quoit_buying_result_clear (&a);
  quoit_buying_result_clear (&b);
}
END_TEST

/* The greatest numbers do not overflow. */
START_TEST (extreme_prices_are_added_exactly)
{
  const QuoitBuyingClass classes[]
      = { { QUOIT_BUYING_MAX_PRICE, 0, QUOIT_BUYING_MAX_SLICES }, { QUOIT_BUYING_MAX_PRICE - 1, 1, 3 } };
  const QuoitBuyingOption options[] = { { 0, QUOIT_BUYING_MAX_SLICES - 2, 0 }, { 0, 2, 0 }, { 1, 2, 0 } };
  const QuoitBuyingRequest requests[] = { { 0, 1 }, { 1, 2 } };
  const QuoitBuyingProblem problem = { classes, 2, options, requests, 2, NULL, 0 };
  QuoitBuyingResult result;

  quoit_buying_solve (&problem, STEPS, &result);
  ck_assert (result.is_found && result.is_proven);
  ck_assert_int_eq (result.cost, (QUOIT_BUYING_MAX_SLICES - 2) * QUOIT_BUYING_MAX_PRICE + QUOIT_BUYING_MAX_PRICE - 1);
  quoit_buying_result_clear (&result);
}
END_TEST

/* Weights above the greatest price, of which each block sells a million cubes. */
START_TEST (extreme_prices_of_cubes_do_not_overflow)
{
  enum { N = 300 };
  QuoitCubeBlock blocks[N];
  QuoitGrid grid;
  QuoitTurn turns[QUOIT_MAX_TURNS];
  const guint n_turns
      = quoit_shape_list_turns ((QuoitShape) { { 1, 1, 2 }, 3 }, (QuoitShape) { { 1, 1, 1 }, 3 }, turns);
  const QuoitCubeShape shapes[] = { { 5, NULL, 0, -1 }, { 2, turns, n_turns, -1 } };
  const QuoitCubeOffer offer = { QUOIT_BUYING_MAX_PRICE, 4, 1000000, &grid };
  const QuoitCubeMarket cubes = { blocks, &offer, shapes, N, 1, 2, { 0, 0, 0, NULL, NULL } };
  const QuoitBuyingMarket market = { 0, &cubes };
  const QuoitBuyingOption options[] = { { 0, 5, 1 }, { 0, 6, 2 } };
  const QuoitBuyingRequest requests[] = { { 0, 1 }, { 1, 1 } };
  QuoitCubeEstimate estimate;
  QuoitBuyingClass class;
  QuoitBuyingResult result;

  ck_assert (quoit_grid_init (&grid, (QuoitShape) { { 1, 1, 4 }, 3 }, 0));
  for (guint b = 0; b < N; b++)
    blocks[b] = (QuoitCubeBlock) { QUOIT_BUYING_MAX_PRICE - b, 0, 1000000, NULL, NULL };
  estimate = quoit_cube_market_estimate (&cubes);
  class = (QuoitBuyingClass) { estimate.price, estimate.n_free, estimate.limit };
  quoit_buying_solve (&(QuoitBuyingProblem) { &class, 1, options, requests, 2, &market, 1 }, STEPS, &result);
  ck_assert (result.is_found && result.bound <= result.cost);
  /* Two new blocks for three pairs, and five cubes of the cheapest block. */
  ck_assert_int_eq (result.cost, 2 * QUOIT_BUYING_MAX_PRICE + 5 * (QUOIT_BUYING_MAX_PRICE - (N - 1)));
  quoit_buying_result_clear (&result);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("buying");
  TCase *tcase = tcase_create ("buying");

  tcase_set_timeout (tcase, 120);
  tcase_add_loop_test (tcase, small_purchases_are_the_cheapest, 0, 8);
  tcase_add_loop_test (tcase, a_budget_never_makes_an_answer_wrong, 0, 4);
  tcase_add_loop_test (tcase, alternatives_with_cubes_are_the_cheapest, 0, 8);
  tcase_add_test (tcase, large_purchases_of_adjacent_cubes_have_a_small_gap);
  tcase_add_loop_test (tcase, no_bound_is_above_a_planted_purchase, 0, 6);
  tcase_add_test (tcase, large_purchases_have_a_small_gap);
  tcase_add_test (tcase, the_same_problem_has_the_same_answer);
  tcase_add_test (tcase, extreme_prices_are_added_exactly);
  tcase_add_test (tcase, extreme_prices_of_cubes_do_not_overflow);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}

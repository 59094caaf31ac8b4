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

enum { N_SHAPES = 3, N_BLOCKS = 2 };

typedef struct {
  Drawn drawn;
  QuoitCubeBlock blocks[N_BLOCKS];
  QuoitCubeOffer offer;
  QuoitCubeShape shapes[N_SHAPES];
  QuoitCubeMarket cubes;
  QuoitBuyingMarket market;
} Mixed;

/* Draws a problem whose last class is a market: joined slices of 1 to 3 cubes, and single cubes. */
static void
draw_mixed (GRand *rand, guint32 max_requests, Mixed *mixed)
{
  QuoitBuyingProblem *problem = &mixed->drawn.problem;
  QuoitCubeEstimate estimate;

  draw_problem (rand, max_requests, &mixed->drawn);
  for (guint32 b = 0; b < N_BLOCKS; b++)
    mixed->blocks[b] = (QuoitCubeBlock) { draw (rand, 20), draw (rand, 4), draw (rand, 6), NULL, NULL };
  mixed->offer = (QuoitCubeOffer) { draw (rand, 40), 1 + draw (rand, 4), draw (rand, 3), NULL };
  for (guint32 s = 0; s < N_SHAPES; s++)
    mixed->shapes[s] = (QuoitCubeShape) { s + 1, NULL, 0, -1 };
  mixed->cubes = (QuoitCubeMarket) { mixed->blocks,
                                     &mixed->offer,
                                     mixed->shapes,
                                     N_BLOCKS,
                                     1,
                                     N_SHAPES,
                                     { draw (rand, 20), draw (rand, 2), draw (rand, 3), NULL, NULL } };
  mixed->market = (QuoitBuyingMarket) { problem->n_classes - 1, &mixed->cubes };
  estimate = quoit_cube_market_estimate (&mixed->cubes);
  mixed->drawn.classes[problem->n_classes - 1] = (QuoitBuyingClass) { estimate.price, estimate.n_free, estimate.limit };
  for (guint32 i = 0; i < G_N_ELEMENTS (mixed->drawn.options); i++)
    {
      QuoitBuyingOption *option = &mixed->drawn.options[i];

      option->shape = 0;
      if (option->class_index != mixed->market.class_index)
        continue;
      option->shape = draw (rand, N_SHAPES + 1);
      option->n_slices = (1 + draw (rand, 2)) * MAX (option->shape, 1);
    }
  problem->markets = &mixed->market;
  problem->n_markets = 1;
}

/* Counts what the choices cost, without the search over them. */
static gint64
cost_of_mixed (const Mixed *mixed, const guint32 *choices)
{
  const QuoitBuyingProblem *problem = &mixed->drawn.problem;
  guint32 n_slices[N_SHAPES] = { 0 }, n_single = 0;
  gint64 taken[MAX_CLASSES] = { 0 }, cost = 0;
  guint64 steps = STEPS;
  QuoitCubePurchase *purchase;

  for (guint32 i = 0; i < problem->n_requests; i++)
    {
      const QuoitBuyingOption *option = &problem->options[problem->requests[i].first_option + choices[i]];

      if (option->class_index != mixed->market.class_index)
        taken[option->class_index] += option->n_slices;
      else if (option->shape == 0)
        n_single += option->n_slices;
      else
        n_slices[option->shape - 1] += option->n_slices / option->shape;
    }
  for (guint32 c = 0; c < problem->n_classes; c++)
    {
      const gint64 bought = MAX (taken[c] - problem->classes[c].n_free, 0);

      if (bought > problem->classes[c].limit)
        return NO_COST;
      cost += bought * problem->classes[c].price;
    }
  purchase = quoit_cube_buying_solve (&mixed->cubes, &(QuoitCubeDemand) { n_slices, n_single }, &steps);
  ck_assert (purchase->is_proven);
  cost = purchase->is_found ? cost + purchase->cost : NO_COST;
  quoit_cube_purchase_unref (purchase);
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
      const guint64 steps = n % 3 == 0 ? draw (rand, 400) : STEPS;
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
          ck_assert_uint_eq (result.cubes->len, 1);
        }
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

int
main (void)
{
  Suite *suite = suite_create ("buying");
  TCase *tcase = tcase_create ("buying");

  tcase_set_timeout (tcase, 120);
  tcase_add_loop_test (tcase, small_purchases_are_the_cheapest, 0, 8);
  tcase_add_loop_test (tcase, a_budget_never_makes_an_answer_wrong, 0, 4);
  tcase_add_loop_test (tcase, alternatives_with_cubes_are_the_cheapest, 0, 8);
  tcase_add_test (tcase, large_purchases_have_a_small_gap);
  tcase_add_test (tcase, the_same_problem_has_the_same_answer);
  tcase_add_test (tcase, extreme_prices_are_added_exactly);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}

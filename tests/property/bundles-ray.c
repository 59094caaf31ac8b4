/* SPDX-License-Identifier: Apache-2.0 */
/* Compares policy `best` with policy `ray` on drawn fleets that are too large for an exhaustive search. If Ray finds
 * a placement, `best` finds one that is at least as good by the strategy, however small its budget is. */
#include "../sanitized.h"
#include "../unit/suite.h"

#include <stdio.h>
#include <string.h>

#include "models/ray/scheduler/rows.h"
#include "placement/best/best.h"

enum { CASES = IS_SANITIZED ? 200 : 3000 };

enum { MOST = 40, RESOURCES = 3, FILTERS = 3 };

typedef struct {
  guint32 n_nodes, n_bundles, n_resources, n_filters;
  gint64 requested[MOST * RESOURCES], has[MOST * RESOURCES];
  guint32 filter[MOST], slice[MOST], domain[MOST];
  guint64 passes[FILTERS];
  QuoitPlacementRules rules;
} Problem;

static void
draw_problem (GRand *rand, Problem *problem)
{
  gint32 unit = g_rand_int_range (rand, 0, 3) == 0 ? 10000 : 1;
  gint32 most = unit == 1 ? g_rand_int_range (rand, 10, 2000) : 5, has = most * g_rand_int_range (rand, 1, 5);

  memset (problem, 0, sizeof *problem);
  problem->n_nodes = (guint32) g_rand_int_range (rand, 3, MOST);
  problem->n_bundles = (guint32) g_rand_int_range (rand, 2, MOST);
  problem->n_resources = (guint32) g_rand_int_range (rand, 1, RESOURCES + 1);
  problem->n_filters = (guint32) g_rand_int_range (rand, 1, FILTERS + 1);
  problem->rules = (QuoitPlacementRules) { .strategy = (QuoitStrategy) g_rand_int_range (rand, 0, 4),
                                           .soft_target = QUOIT_NO_INDEX,
                                           .required_domain = QUOIT_NO_INDEX,
                                           .n_values = g_rand_int_range (rand, 0, 4) == 0 };
  for (guint32 n = 0; n < problem->n_nodes; n++)
    {
      problem->slice[n] = n / 3;
      problem->domain[n] = (guint32) g_rand_int_range (rand, 0, 3);
      for (guint32 r = 0; r < problem->n_resources; r++)
        problem->has[n * problem->n_resources + r] = (gint64) unit * g_rand_int_range (rand, most / 2, has + 1);
    }
  for (guint32 b = 0; b < problem->n_bundles; b++)
    {
      guint32 like = b > 0 && g_rand_boolean (rand) ? b - 1 : b;

      problem->filter[b]
          = like == b ? (guint32) g_rand_int_range (rand, 0, (gint32) problem->n_filters) : problem->filter[like];
      for (guint32 r = 0; r < problem->n_resources; r++)
        problem->requested[b * problem->n_resources + r]
            = like == b ? (gint64) unit * g_rand_int_range (rand, r == 0, most + 1)
                        : problem->requested[like * problem->n_resources + r];
    }
  problem->passes[0] = G_MAXUINT64;
  for (guint32 f = 1; f < problem->n_filters; f++)
    problem->passes[f] = (guint64) g_rand_int (rand) << 32 | g_rand_int (rand);
}

/* The objective that the strategy minimises. */
static guint32
cost (const Problem *problem, const guint32 *nodes)
{
  guint32 loads[MOST] = { 0 }, slices[MOST] = { 0 }, n_nodes = 0, n_slices = 0, load = 0;

  for (guint32 b = 0; b < problem->n_bundles; b++)
    {
      n_nodes += loads[nodes[b]]++ == 0;
      n_slices += slices[problem->slice[nodes[b]]]++ == 0;
      load = MAX (load, loads[nodes[b]]);
    }
  if (problem->rules.strategy == QUOIT_STRATEGY_SPREAD)
    return load;
  return problem->rules.strategy == QUOIT_STRATEGY_PACK ? n_nodes * MOST + n_slices : 0;
}

START_TEST (best_places_every_problem_that_ray_places)
{
  static const char *const resources[] = { "CPU", "TPU", "memory" };
  static const guint64 budgets[] = { 0, 100, 20000 };
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) _i + 1);
  guint32 n_both = 0, n_best = 0;

  for (guint32 i = 0; i < CASES; i++)
    {
      Problem problem;
      guint32 rays[MOST], nodes[MOST];
      guint64 budget = budgets[_i % G_N_ELEMENTS (budgets)];
      gboolean proven;
      QuoitRayResult ray;
      QuoitBestResult best;

      draw_problem (rand, &problem);
      const QuoitBundles bundles = { .n_bundles = problem.n_bundles,
                                     .n_resources = problem.n_resources,
                                     .n_filters = problem.n_filters,
                                     .resources = resources,
                                     .amounts = problem.requested,
                                     .filter = problem.filter };
      const QuoitView view = { .n_nodes = problem.n_nodes,
                               .n_candidates = problem.n_nodes,
                               .total = problem.has,
                               .available = problem.has,
                               .passes = problem.passes,
                               .domain = problem.rules.n_values > 0 ? problem.domain : NULL,
                               .n_domains = 3,
                               .slice = problem.slice };

      ray = quoit_ray_place (&bundles, &view, &problem.rules, NULL, rays);
      best = quoit_best_place (&bundles, &view, &problem.rules, &budget, &proven, nodes);
      ck_assert_msg (ray != QUOIT_RAY_SUCCESS || best == QUOIT_BEST_FOUND, "case %u: %d", i, best);
      ck_assert_msg (ray != QUOIT_RAY_SUCCESS || cost (&problem, nodes) <= cost (&problem, rays),
                     "case %u: %u instead of %u", i, cost (&problem, nodes), cost (&problem, rays));
      n_both += ray == QUOIT_RAY_SUCCESS;
      n_best += ray != QUOIT_RAY_SUCCESS && best == QUOIT_BEST_FOUND;
    }
  printf ("%u cases: %u placed by Ray, %u by `best` alone\n", (guint) CASES, n_both, n_best);
  ck_assert_uint_gt (n_both, CASES / 5);
  ck_assert_uint_gt (n_best, 0);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("bundles-ray");
  TCase *tcase = tcase_create ("bundles-ray");

  tcase_set_timeout (tcase, 600);
  tcase_add_loop_test (tcase, best_places_every_problem_that_ray_places, 0, 6);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}

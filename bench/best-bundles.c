/* SPDX-License-Identifier: Apache-2.0 */
/* Policy `best` for bundles: the cost of equal nodes. The work may grow only with the number of nodes that are
 * examined. */
#include "bench.h"

#include <math.h>

#include "models/ray/scheduler/rows.h"
#include "placement/best/best.h"

enum { UNIT = 10000, HOSTS = 4, NAME = 32 };

typedef struct {
  QuoitBundles bundles;
  QuoitView view;
  QuoitPlacementRules rules;
  gint64 *requested, *has;
  guint32 *slice, *nodes;
} Problem;

/* Idle hosts of four chips in slices of four; each bundle takes a host. */
static Problem *
problem_new (guint32 n_nodes, guint32 n_bundles, QuoitStrategy strategy)
{
  static const char *const resources[] = { "TPU" };
  Problem *problem = g_new0 (Problem, 1);

  problem->requested = g_new (gint64, n_bundles);
  problem->has = g_new (gint64, n_nodes);
  problem->slice = g_new (guint32, n_nodes);
  problem->nodes = g_new (guint32, n_bundles);
  for (guint32 b = 0; b < n_bundles; b++)
    problem->requested[b] = 4 * UNIT;
  for (guint32 n = 0; n < n_nodes; n++)
    {
      problem->has[n] = 4 * UNIT;
      problem->slice[n] = n / HOSTS;
    }
  problem->bundles = (QuoitBundles) {
    .n_bundles = n_bundles, .n_resources = 1, .resources = resources, .amounts = problem->requested
  };
  problem->view = (QuoitView) { .n_nodes = n_nodes,
                                .n_candidates = n_nodes,
                                .total = problem->has,
                                .available = problem->has,
                                .slice = problem->slice };
  problem->rules = (QuoitPlacementRules) { .strategy = strategy,
                                           .soft_target = QUOIT_NO_INDEX,
                                           .required_domain = QUOIT_NO_INDEX };
  return problem;
}

static void
problem_free (Problem *problem)
{
  g_free (problem->requested);
  g_free (problem->has);
  g_free (problem->slice);
  g_free (problem->nodes);
  g_free (problem);
}

static void
place (gpointer data)
{
  Problem *problem = data;
  guint64 no_budget = 0;
  gboolean proven;

  if (quoit_best_place (&problem->bundles, &problem->view, &problem->rules, &no_budget, &proven, problem->nodes)
          != QUOIT_BEST_FOUND
      || !proven)
    g_assert_not_reached ();
}

static void
measure_one (Bench *bench, const char *scenario, const char *fleet, Problem *problem)
{
  bench_measure (bench, &(BenchOperation) {
                            .scenario = scenario, .fleet = fleet, .run = place, .data = problem, .n_operations = 1 });
}

static const guint32 sizes[] = { 1000, 10000, 100000 };

/* The growth from the second size to the largest, ten times as many nodes. Quadratic work would be a hundred times
 * as much. */
static void
add_growth (Bench *bench, const char *scenario, const char *second, const char *largest)
{
  double growth = bench_instructions (bench, scenario, largest) / bench_instructions (bench, scenario, second);
  g_autofree char *name = g_strdup_printf ("%s: growth of instructions", scenario);

  if (!bench_is_counting (bench) && !isnan (growth))
    bench_add (bench, name, "100k / 10k nodes", growth, "times", BENCH_UP_TO (11));
}

static void
measure_sizes (Bench *bench, const char *scenario, guint32 n_bundles, QuoitStrategy strategy, guint32 n_values)
{
  char names[G_N_ELEMENTS (sizes)][NAME];

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      Problem *problem = problem_new (sizes[i], n_bundles, strategy);

      problem->rules.n_values = n_values;
      problem->view.domain = n_values > 0 ? problem->slice : NULL;
      problem->view.n_domains = sizes[i] / HOSTS;
      g_snprintf (names[i], NAME, "%uk nodes", sizes[i] / 1000);
      measure_one (bench, scenario, names[i], problem);
      problem_free (problem);
    }
  add_growth (bench, scenario, names[1], names[2]);
}

void
bench_best_bundles (Bench *bench)
{
  measure_sizes (bench, "best: 4 bundles, PACK", 4, QUOIT_STRATEGY_PACK, 0);
  measure_sizes (bench, "best: 4 bundles, STRICT_SPREAD", 4, QUOIT_STRATEGY_STRICT_SPREAD, 0);
  measure_sizes (bench, "best: 4 bundles, STRICT_SPREAD in one slice", 4, QUOIT_STRATEGY_STRICT_SPREAD, 1);
  measure_sizes (bench, "best: 16 bundles, PACK in four slices", 16, QUOIT_STRATEGY_PACK, 4);
  measure_sizes (bench, "best: 1000 bundles, SPREAD", 1000, QUOIT_STRATEGY_SPREAD, 0);
}

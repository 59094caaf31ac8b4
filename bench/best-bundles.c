/* SPDX-License-Identifier: Apache-2.0 */
/* Policy `best` for bundles: the cost of equal nodes. The work may grow only with the number of nodes that are
 * examined. */
#include "bench.h"

#include <math.h>

#include "placement/bundles.h"

enum { UNIT = 10000, HOSTS = 4, NAME = 32 };

typedef struct {
  QuoitBundles bundles;
  QuoitView view;
  QuoitStanding standing;
  gint64 *asks, *has;
  guint32 *slice, *nodes;
} Asking;

/* Idle hosts of four chips in slices of four; each bundle takes a host. */
static Asking *
asking_new (guint32 n_nodes, guint32 n_bundles, QuoitStrategy strategy)
{
  static const char *const resources[] = { "TPU" };
  Asking *asking = g_new0 (Asking, 1);

  asking->asks = g_new (gint64, n_bundles);
  asking->has = g_new (gint64, n_nodes);
  asking->slice = g_new (guint32, n_nodes);
  asking->nodes = g_new (guint32, n_bundles);
  for (guint32 b = 0; b < n_bundles; b++)
    asking->asks[b] = 4 * UNIT;
  for (guint32 n = 0; n < n_nodes; n++)
    {
      asking->has[n] = 4 * UNIT;
      asking->slice[n] = n / HOSTS;
    }
  asking->bundles
      = (QuoitBundles) { .n_bundles = n_bundles, .n_resources = 1, .resources = resources, .amounts = asking->asks };
  asking->view = (QuoitView) {
    .n_nodes = n_nodes, .n_candidates = n_nodes, .total = asking->has, .available = asking->has, .slice = asking->slice
  };
  asking->standing = (QuoitStanding) { .strategy = strategy, .soft_target = QUOIT_NO_INDEX, .bound = QUOIT_NO_INDEX };
  return asking;
}

static void
asking_free (Asking *asking)
{
  g_free (asking->asks);
  g_free (asking->has);
  g_free (asking->slice);
  g_free (asking->nodes);
  g_free (asking);
}

static void
place (gpointer data)
{
  Asking *asking = data;
  guint64 no_budget = 0;
  gboolean proven;

  if (quoit_best_place (&asking->bundles, &asking->view, &asking->standing, &no_budget, &proven, asking->nodes)
          != QUOIT_BEST_FOUND
      || !proven)
    g_assert_not_reached ();
}

static void
measure_one (Bench *bench, const char *scenario, const char *fleet, Asking *asking)
{
  bench_measure (bench, &(BenchOperation) {
                            .scenario = scenario, .fleet = fleet, .run = place, .data = asking, .n_operations = 1 });
}

static const guint32 sizes[] = { 1000, 10000, 100000 };

/* The growth from the second size to the largest, ten times as many nodes. Quadratic work would be a hundred times
 * as much. */
static void
add_growth (Bench *bench, const char *scenario, const char *second, const char *largest)
{
  double growth = bench_instructions (bench, scenario, largest) / bench_instructions (bench, scenario, second);
  g_autofree char *name = g_strdup_printf ("%s: instructions, 100k by 10k nodes", scenario);

  if (!bench_is_counting (bench) && !isnan (growth))
    bench_add (bench, name, "", growth, "x", BENCH_UP_TO (11));
}

static void
measure_sizes (Bench *bench, const char *scenario, guint32 n_bundles, QuoitStrategy strategy, guint32 n_values)
{
  char names[G_N_ELEMENTS (sizes)][NAME];

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      Asking *asking = asking_new (sizes[i], n_bundles, strategy);

      asking->standing.n_values = n_values;
      asking->view.domain = n_values > 0 ? asking->slice : NULL;
      asking->view.n_domains = sizes[i] / HOSTS;
      g_snprintf (names[i], NAME, "%uk nodes", sizes[i] / 1000);
      measure_one (bench, scenario, names[i], asking);
      asking_free (asking);
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

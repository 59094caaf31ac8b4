/* SPDX-License-Identifier: Apache-2.0 */
/* Requests for bundles, including the time to make the view of the fleet, as in the ledger. Compares them with the
 * same groups on Ray's own gcs_server in the same run, if its wheel is available. */
#include "bench.h"
#include "fleet.h"

#include "placement/view.h"

enum { ROUND = 16 };

typedef struct {
  QuoitFleet *fleet;
  QuoitRequest *request;
  QuoitPlacementResult expected;
} PlacementCase;

static void
ask (gpointer data)
{
  PlacementCase *placement_case = data;

  for (guint i = 0; i < ROUND; i++)
    {
      g_auto (QuoitBundlePlan) plan = { 0 };
      QuoitPlacementResult placing = QUOIT_PLACEMENT_UNKNOWN;

      quoit_bundle_plan_init (&plan, BENCH_NODES_PER_SLICE);
      if (!quoit_place_bundles (placement_case->fleet, placement_case->request, QUOIT_VIEW_NOW, &placing, &plan, NULL)
          || placing != placement_case->expected)
        g_assert_not_reached ();
    }
}

/* A request for the four hosts of one slice; @slice NULL: of any slice. */
static QuoitRequest *
request_new (QuoitPolicy policy, const char *slice)
{
  QuoitRequest *request = quoit_request_alloc ();
  const char *at = "TPU=4";
  g_autoptr (GArray) takes = quoit_request_read_takes (request, 0, &at, NULL);

  request->strategy = QUOIT_STRATEGY_STRICT_SPREAD;
  request->policy = policy;
  if (!quoit_request_add_takes (request, takes, BENCH_NODES_PER_SLICE, NULL))
    g_assert_not_reached ();
  if (slice == NULL)
    {
      request->topology_label = g_strdup ("ray.io/tpu-slice-name");
      request->n_topology_values = 1;
    }
  for (guint32 b = 0; b < BENCH_NODES_PER_SLICE && slice != NULL; b++)
    if (!quoit_request_select (request, b, "ray.io/tpu-slice-name", slice, NULL))
      g_assert_not_reached ();
  return request;
}

static void
measure (Bench *bench, PlacementCase *placement_case, const char *scenario, const char *name, BenchLimit ns)
{
  bench_measure (
      bench,
      &(BenchOperation) {
          .scenario = scenario, .fleet = name, .run = ask, .data = placement_case, .n_operations = ROUND, .ns = ns });
}

static const char *
name_of_slice (const QuoitFleet *fleet, gboolean is_free)
{
  guint32 slice = fleet->layout->n_slices / 2;

  while (quoit_bits_has (&fleet->free_slices, slice) != is_free)
    slice++;
  return quoit_layout_text (fleet->layout, fleet->layout->slices[slice].name);
}

static void
measure_fleet (Bench *bench, guint32 n_nodes, BenchLimit ray_ns)
{
  g_autofree char *name = g_strdup_printf ("%uk nodes", n_nodes / 1000);
  g_autoptr (QuoitLayout) layout = bench_layout_new (n_nodes, 64);
  g_autoptr (QuoitFleet) fleet = bench_fleet_new (layout, 50);
  g_autoptr (QuoitRequest) best = request_new (QUOIT_POLICY_BEST, NULL);
  g_autoptr (QuoitRequest) granted = request_new (QUOIT_POLICY_RAY, name_of_slice (fleet, TRUE));
  g_autoptr (QuoitRequest) refused = request_new (QUOIT_POLICY_RAY, name_of_slice (fleet, FALSE));
  PlacementCase placement_case = { fleet, best, QUOIT_PLACEMENT_FOUND };

  measure (bench, &placement_case, "best: 4 bundles in one slice", name, BENCH_UP_TO (2000));
  placement_case.request = granted;
  measure (bench, &placement_case, "ray: 4 bundles on a named slice", name, ray_ns);
  placement_case.request = refused;
  placement_case.expected = QUOIT_PLACEMENT_RAY_FAILED;
  measure (bench, &placement_case, "ray: 4 bundles on a busy slice", name, ray_ns);
}

static void
take_gcs_server (Bench *bench, const char *scenario, const char *fleet, double ns)
{
  double own = bench_ns (bench, "ray: 4 bundles on a named slice", fleet);

  bench_add (bench, scenario, fleet, ns, "ns", BENCH_NONE);
  if (g_str_has_prefix (scenario, "place") && g_str_has_suffix (scenario, "CPU"))
    bench_add (bench, "gcs_server CPU / quoit, a group placed", fleet, ns / own, "times", BENCH_NONE);
}

static void
measure_gcs_server (Bench *bench)
{
  g_autofree char *script = g_build_filename (g_getenv ("top_srcdir"), "tests/differential/run.sh", NULL);
  char *argv[] = { "sh", script, "gcs-bench.py", NULL };

  bench_program (bench, argv, take_gcs_server);
}

void
bench_bundle_requests (Bench *bench)
{
  measure_fleet (bench, 1000, BENCH_UP_TO (20000));
  measure_fleet (bench, 10000, BENCH_UP_TO (200000));
  measure_fleet (bench, 100000, BENCH_NONE);
  if (!bench_is_counting (bench))
    measure_gcs_server (bench);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots, and forks that are changed and dropped: what-if and dry-run. */
#include "bench.h"
#include "fleet.h"

enum { MANY = 1000 };

typedef struct {
  QuoitFleet *fleet;
  QuoitRequest *request;
  guint n; /* changes per fork */
} Origin;

static void
snapshot (gpointer data)
{
  Origin *origin = data;

  for (guint i = 0; i < MANY; i++)
    quoit_fleet_unref (quoit_fleet_ref (origin->fleet));
}

static void
reserve_on_fork (gpointer data)
{
  Origin *origin = data;
  g_autoptr (QuoitFleet) fork = quoit_fleet_fork (origin->fleet);
  QuoitPlan plan;

  quoit_plan_init (&plan);
  for (guint i = 0; i < origin->n; i++)
    {
      char name[16] = "job";

      if (i > 0)
        g_snprintf (name, sizeof name, "job-%u", i);
      if (!quoit_plan_slices (fork, origin->request, &plan, NULL, NULL)
          || !quoit_fleet_add_group (fork, bench_group_new (fork, &plan, name, 1 + i), NULL))
        g_assert_not_reached ();
    }
  quoit_plan_clear (&plan);
}

static void
change_states_on_fork (gpointer data)
{
  Origin *origin = data;
  g_autoptr (QuoitFleet) fork = quoit_fleet_fork (origin->fleet);

  for (guint i = 0; i < origin->n; i++)
    quoit_fleet_set_node_state (fork, (QuoitNodeId) { i * 2654435761u % fork->layout->n_nodes }, QUOIT_NODE_DRAINING);
}

static void
measure (Bench *bench, const char *fleet_name, guint32 n_nodes, double limit_of_one)
{
  g_autoptr (QuoitLayout) layout = bench_layout_new (n_nodes, 64);
  g_autoptr (QuoitFleet) fleet = bench_fleet_new (layout, 50);
  g_autoptr (QuoitRequest) request = bench_request_new (1);
  Origin origin = { fleet, request, 1 };

  bench_measure (bench, &(BenchOperation) { .scenario = "snapshot and drop",
                                            .fleet = fleet_name,
                                            .run = snapshot,
                                            .data = &origin,
                                            .n_operations = MANY,
                                            .ns = BENCH_UP_TO (100) });
  bench_measure (bench, &(BenchOperation) { .scenario = "fork, reserve 1 slice, drop",
                                            .fleet = fleet_name,
                                            .run = reserve_on_fork,
                                            .data = &origin,
                                            .n_operations = 1,
                                            .ns = BENCH_UP_TO (limit_of_one) });
  origin.n = MANY;
  bench_measure (bench, &(BenchOperation) { .scenario = "fork, reserve 1 slice 1,000 times, drop",
                                            .fleet = fleet_name,
                                            .run = reserve_on_fork,
                                            .data = &origin,
                                            .n_operations = 1,
                                            .ns = BENCH_UP_TO (500000) });
  bench_measure (bench, &(BenchOperation) { .scenario = "fork, drain 1,000 nodes, drop",
                                            .fleet = fleet_name,
                                            .run = change_states_on_fork,
                                            .data = &origin,
                                            .n_operations = 1 });
}

/* Where the slices of a request may be, and what it costs at most, compared with a request that may have any. */
static const struct {
  const char *scenario;
  QuoitDomain keep_to, spread_over;
  gboolean is_near;
  double most;
} places[] = {
  { "kept to a pool", .keep_to = QUOIT_DOMAIN_POOL, .most = 2 },
  { "kept to a zone", .keep_to = QUOIT_DOMAIN_ZONE, .most = 2 },
  { "spread over pools", .spread_over = QUOIT_DOMAIN_POOL, .most = 2.5 },
  { "near a group", .is_near = TRUE, .most = 2 },
};

static void
measure_places (Bench *bench, const char *fleet_name, guint32 slices_per_pool)
{
  const char *plain = "fork, reserve 8 slices, drop";
  g_autoptr (QuoitLayout) layout = bench_layout_new (100000, slices_per_pool);
  g_autoptr (QuoitFleet) fleet = bench_fleet_new (layout, 50);
  g_autoptr (QuoitRequest) any = bench_request_new (8);
  Origin origin = { fleet, any, 1 };

  bench_measure (
      bench, &(BenchOperation) {
                 .scenario = plain, .fleet = fleet_name, .run = reserve_on_fork, .data = &origin, .n_operations = 1 });
  for (gsize i = 0; i < G_N_ELEMENTS (places); i++)
    {
      g_autoptr (QuoitRequest) request = bench_request_new (8);
      g_autofree char *scenario = g_strdup_printf ("%s, %s", plain, places[i].scenario);
      g_autofree char *ratio = g_strdup_printf ("%s / any", scenario);

      g_assert (quoit_request_set_keep_to (request, places[i].keep_to, NULL));
      g_assert (quoit_request_set_spread (request, places[i].spread_over, 1, 1, NULL));
      if (places[i].is_near)
        g_assert (quoit_request_set_near_group (request, "filler-0", NULL));
      origin.request = request;
      bench_measure (
          bench,
          &(BenchOperation) {
              .scenario = scenario, .fleet = fleet_name, .run = reserve_on_fork, .data = &origin, .n_operations = 1 });
      bench_add (bench, ratio, fleet_name, bench_ns (bench, scenario, fleet_name) / bench_ns (bench, plain, fleet_name),
                 "times", BENCH_UP_TO (places[i].most));
    }
}

void
bench_forks (Bench *bench)
{
  measure (bench, "100k nodes, 50 % full", 100000, 5000);
  measure (bench, "250k nodes, 50 % full", 250000, 8000);
  measure_places (bench, "100k nodes, 50 pools, 50 % full", 500);
  measure_places (bench, "100k nodes, 2,500 pools, 50 % full", 10);
}

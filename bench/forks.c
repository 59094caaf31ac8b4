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

/* --- where the slices of a request may be --- */

enum { N_SLICES = 8, FEW_EXCLUSIONS = 100, MANY_EXCLUSIONS = 5000 };

static void
keep_to_pool (QuoitRequest *request, const QuoitFleet *fleet)
{
  g_assert (quoit_request_set_keep_to (request, QUOIT_DOMAIN_POOL, NULL));
}

static void
keep_to_zone (QuoitRequest *request, const QuoitFleet *fleet)
{
  g_assert (quoit_request_set_keep_to (request, QUOIT_DOMAIN_ZONE, NULL));
}

static void
spread_over_pools (QuoitRequest *request, const QuoitFleet *fleet)
{
  g_assert (quoit_request_set_spread (request, QUOIT_DOMAIN_POOL, 1, 1, NULL));
}

static void
set_near (QuoitRequest *request, const QuoitFleet *fleet)
{
  g_assert (quoit_request_set_near_group (request, "filler-0", NULL));
}

/* Sets the first pool that has enough free slices. */
static void
set_pool (QuoitRequest *request, const QuoitFleet *fleet)
{
  const QuoitLayout *layout = fleet->layout;
  guint32 shelf = 0;

  while (quoit_fleet_shelf_n_free (fleet, (QuoitShelfId) { shelf }) < N_SLICES)
    shelf++;
  quoit_request_replace_text (&request->pool,
                              quoit_layout_text (layout, layout->pools[layout->shelves[shelf].pool].name));
}

static void
set_zone (QuoitRequest *request, const QuoitFleet *fleet)
{
  quoit_request_replace_text (&request->zone, "us-east5-b");
}

static void
select_label (QuoitRequest *request, const QuoitFleet *fleet)
{
  g_assert (quoit_request_add_selector (request, "cloud.google.com/machine-family", "ct6e", NULL));
}

static void
add_slice_name (QuoitRequest *request, GPtrArray *names, const QuoitFleet *fleet, guint32 slice)
{
  g_autofree char *name = quoit_layout_slice_full_name (fleet->layout, (QuoitSliceId) { slice });

  quoit_request_add_slice_name (request, names, name);
}

/* Names free slices, each of which is the first one after @distance others. */
static void
name_slices (QuoitRequest *request, const QuoitFleet *fleet, guint32 distance)
{
  for (guint32 i = 0, at = 0; i < N_SLICES; i++, at += distance + 1)
    {
      at = quoit_bits_next (&fleet->free_slices, at);
      add_slice_name (request, request->slices, fleet, at);
    }
}

static void
name_near_slices (QuoitRequest *request, const QuoitFleet *fleet)
{
  name_slices (request, fleet, 0);
}

static void
name_far_slices (QuoitRequest *request, const QuoitFleet *fleet)
{
  name_slices (request, fleet, fleet->layout->n_slices / (N_SLICES + 1));
}

static void
exclude (QuoitRequest *request, const QuoitFleet *fleet, guint32 n)
{
  for (guint32 i = 0; i < n; i++)
    add_slice_name (request, request->excluded, fleet, i * (fleet->layout->n_slices / n));
}

static void
exclude_few (QuoitRequest *request, const QuoitFleet *fleet)
{
  exclude (request, fleet, FEW_EXCLUSIONS);
}

static void
exclude_many (QuoitRequest *request, const QuoitFleet *fleet)
{
  exclude (request, fleet, MANY_EXCLUSIONS);
}

enum { NO_LIMIT = 0 };

/* Rules of a request, and the limit of their cost, compared with a request without rules. */
static const struct {
  const char *scenario;
  void (*set) (QuoitRequest *request, const QuoitFleet *fleet);
  double most;
} places[] = {
  { "of a pool", set_pool, 2 },
  { "of a zone", set_zone, 2 },
  { "with a label", select_label, 2 },
  { "named", name_near_slices, 2 },
  { "named, far from each other", name_far_slices, NO_LIMIT },
  { "100 excluded", exclude_few, 2 },
  { "5,000 excluded", exclude_many, 10 },
  { "kept to a pool", keep_to_pool, 2 },
  { "kept to a zone", keep_to_zone, 2 },
  { "spread over pools", spread_over_pools, 2 },
  { "near a group", set_near, 2 },
};

static void
measure_places (Bench *bench, const char *fleet_name, guint32 slices_per_pool)
{
  const char *plain = "fork, reserve 8 slices, drop";
  g_autoptr (QuoitLayout) layout = bench_layout_new (100000, slices_per_pool);
  g_autoptr (QuoitFleet) fleet = bench_fleet_new (layout, 50);
  g_autoptr (QuoitRequest) any = bench_request_new (N_SLICES);
  Origin origin = { fleet, any, 1 };

  bench_measure (
      bench, &(BenchOperation) {
                 .scenario = plain, .fleet = fleet_name, .run = reserve_on_fork, .data = &origin, .n_operations = 1 });
  for (gsize i = 0; i < G_N_ELEMENTS (places); i++)
    {
      g_autoptr (QuoitRequest) request = bench_request_new (N_SLICES);
      g_autofree char *scenario = g_strdup_printf ("%s, %s", plain, places[i].scenario);
      g_autofree char *ratio = g_strdup_printf ("%s / any", scenario);

      places[i].set (request, fleet);
      origin.request = request;
      bench_measure (
          bench,
          &(BenchOperation) {
              .scenario = scenario, .fleet = fleet_name, .run = reserve_on_fork, .data = &origin, .n_operations = 1 });
      bench_add (bench, ratio, fleet_name, bench_ns (bench, scenario, fleet_name) / bench_ns (bench, plain, fleet_name),
                 "times", places[i].most == NO_LIMIT ? BENCH_NONE : BENCH_UP_TO (places[i].most));
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

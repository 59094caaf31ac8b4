/* SPDX-License-Identifier: Apache-2.0 */
/* Placement groups by Ray's rules on clusters of v6e 4x4 slices: whole slices selected by name, like Ray's own slice
 * groups, and requests that are slow by construction. */
#include "bench.h"

#include <quoit/models/ray-placement.h>

enum { HOSTS = 4, ROUND = 16, GROUPS = 1000, MANY = 10000 };

typedef struct {
  QuoitRayCluster *cluster;
  QuoitRayGroup *group;
  QuoitRayResult expected;
  guint32 *nodes; /* room for one index per bundle */
  guint n;        /* repetitions */
} PlacementCase;

static QuoitRayCluster *
cluster_new (guint32 n_nodes)
{
  QuoitRayCluster *cluster = quoit_ray_cluster_new ();

  for (guint32 n = 0; n < n_nodes; n++)
    {
      g_autofree char *id = g_strdup_printf ("%056x", n), *worker = g_strdup_printf ("%u", n % HOSTS);
      g_autofree char *slice = g_strdup_printf ("tpu-v6e-%05u", n / HOSTS);

      quoit_ray_cluster_add_node (cluster, id, NULL);
      quoit_ray_cluster_set_resource (cluster, n, "CPU", 180, 180, NULL);
      quoit_ray_cluster_set_resource (cluster, n, "TPU", HOSTS, HOSTS, NULL);
      quoit_ray_cluster_set_resource (cluster, n, "memory", 773094113280., 773094113280., NULL);
      quoit_ray_cluster_set_resource (cluster, n, slice, 1, 1, NULL);
      quoit_ray_cluster_set_label (cluster, n, "ray.io/tpu-slice-name", slice);
      quoit_ray_cluster_set_label (cluster, n, "ray.io/tpu-worker-id", worker);
      quoit_ray_cluster_set_label (cluster, n, "ray.io/tpu-pod-type", "v6e-16");
    }
  return cluster;
}

static QuoitRayGroup *
slice_group (guint32 slice)
{
  QuoitRayGroup *group = quoit_ray_group_new ();
  g_autofree char *name = g_strdup_printf ("tpu-v6e-%05u", slice);

  quoit_ray_group_set_strategy (group, QUOIT_STRATEGY_STRICT_SPREAD);
  for (guint32 b = 0; b < HOSTS; b++)
    {
      quoit_ray_group_add_bundle (group);
      quoit_ray_group_set_amount (group, b, "TPU", HOSTS);
      quoit_ray_group_set_amount (group, b, "CPU", 1);
      quoit_ray_group_set_selector (group, b, "ray.io/tpu-slice-name", name);
    }
  return group;
}

static void
ask (gpointer data)
{
  PlacementCase *placement_case = data;
  QuoitRayResult result;

  for (guint i = 0; i < placement_case->n; i++)
    if (!quoit_ray_group_place (placement_case->group, placement_case->cluster, &result, placement_case->nodes, NULL)
        || result != placement_case->expected)
      g_assert_not_reached ();
}

static void
measure (Bench *bench, PlacementCase *placement_case, const char *scenario, const char *name, BenchLimit ns)
{
  bench_measure (bench, &(BenchOperation) { .scenario = scenario,
                                            .fleet = name,
                                            .run = ask,
                                            .data = placement_case,
                                            .n_operations = placement_case->n,
                                            .ns = ns });
}

static void
measure_slices (Bench *bench, guint32 n_nodes, double most_ns)
{
  g_autofree char *name = g_strdup_printf ("%uk nodes", n_nodes / 1000);
  g_autoptr (QuoitRayCluster) cluster = cluster_new (n_nodes);
  g_autoptr (QuoitRayGroup) group = slice_group (n_nodes / HOSTS / 2), label = quoit_ray_group_new ();
  guint32 nodes[HOSTS];
  PlacementCase placement_case = { cluster, group, QUOIT_RAY_SUCCESS, nodes, ROUND };

  measure (bench, &placement_case, "ray: a slice by its name", name, BENCH_UP_TO (most_ns));
  if (!quoit_ray_cluster_allocate (
          cluster, group, (guint32[]) { n_nodes / 2, n_nodes / 2 + 1, n_nodes / 2 + 2, n_nodes / 2 + 3 }, NULL))
    g_assert_not_reached ();
  placement_case.expected = QUOIT_RAY_FAILED;
  measure (bench, &placement_case, "ray: a slice by its name, refused", name, BENCH_UP_TO (most_ns));
  bench_add (bench, "ray: a slice by its name, refused / granted", name,
             bench_ns (bench, "ray: a slice by its name, refused", name)
                 / bench_ns (bench, "ray: a slice by its name", name),
             "times", BENCH_UP_TO (1));

  quoit_ray_group_add_topology (label, "ray.io/node-id", QUOIT_STRATEGY_STRICT_SPREAD);
  quoit_ray_group_add_topology (label, "ray.io/tpu-slice-name", QUOIT_STRATEGY_STRICT_PACK);
  for (guint32 b = 0; b < HOSTS; b++)
    quoit_ray_group_set_amount (label, quoit_ray_group_add_bundle (label), "TPU", HOSTS);
  placement_case.group = label;
  placement_case.expected = QUOIT_RAY_SUCCESS;
  measure (bench, &placement_case, "ray: a slice by topology label", name, BENCH_NONE);
  for (guint32 n = 0; n < n_nodes; n++)
    quoit_ray_cluster_set_resource (cluster, n, "TPU", HOSTS, HOSTS - 1, NULL);
  placement_case.expected = QUOIT_RAY_FAILED;
  measure (bench, &placement_case, "ray: a slice by topology label, all slices busy", name, BENCH_NONE);
}

/* --- groups that are created and removed --- */

typedef struct {
  QuoitRayCluster *cluster;
  QuoitRayGroup *group;
  guint32 nodes[GROUPS][HOSTS];
} Traffic;

static void
place_and_remove_all (gpointer data)
{
  Traffic *traffic = data;
  QuoitRayResult result;

  for (guint i = 0; i < GROUPS; i++)
    if (!quoit_ray_group_place (traffic->group, traffic->cluster, &result, traffic->nodes[i], NULL)
        || result != QUOIT_RAY_SUCCESS
        || !quoit_ray_cluster_allocate (traffic->cluster, traffic->group, traffic->nodes[i], NULL))
      g_assert_not_reached ();
  for (guint i = 0; i < GROUPS; i++)
    if (!quoit_ray_cluster_deallocate (traffic->cluster, traffic->group, traffic->nodes[i], NULL))
      g_assert_not_reached ();
}

static void
measure_traffic (Bench *bench)
{
  static const char scenario[] = "ray: 1,000 groups requested, placed and removed";
  g_autoptr (QuoitRayCluster) cluster = cluster_new (MANY / 10);
  g_autoptr (QuoitRayGroup) group = quoit_ray_group_new ();
  Traffic traffic = { cluster, group, { { 0 } } };

  quoit_ray_group_set_strategy (group, QUOIT_STRATEGY_SPREAD);
  for (guint32 b = 0; b < HOSTS; b++)
    quoit_ray_group_set_amount (group, quoit_ray_group_add_bundle (group), "TPU", 1);
  bench_measure (bench, &(BenchOperation) { .scenario = scenario,
                                            .fleet = "1k nodes",
                                            .run = place_and_remove_all,
                                            .data = &traffic,
                                            .n_operations = GROUPS });
  bench_add (bench, "ray: groups a second", "1k nodes", 1e9 / bench_ns (bench, scenario, "1k nodes"), "/s", BENCH_NONE);
}

/* --- slow by construction --- */

typedef double (*Amount) (guint32 i);

static double
same (G_GNUC_UNUSED guint32 i)
{
  return 4;
}

static double
another (guint32 i)
{
  return 4 + (double) (i * 7919 % MANY) / MANY;
}

/* @n bundles on as many nodes with room for one each. */
static void
measure_many (Bench *bench, QuoitStrategy strategy, const char *scenario, Amount bundle, Amount node)
{
  g_autoptr (QuoitRayCluster) cluster = quoit_ray_cluster_new ();
  g_autoptr (QuoitRayGroup) group = quoit_ray_group_new ();
  g_autofree guint32 *nodes = g_new (guint32, MANY);
  PlacementCase placement_case = { cluster, group, QUOIT_RAY_SUCCESS, nodes, 1 };

  quoit_ray_group_set_strategy (group, strategy);
  for (guint32 i = 0; i < MANY; i++)
    {
      g_autofree char *id = g_strdup_printf ("%u", i);

      quoit_ray_cluster_add_node (cluster, id, NULL);
      quoit_ray_cluster_set_resource (cluster, i, "TPU", 1 + node (i), 1 + node (i), NULL);
      quoit_ray_group_set_amount (group, quoit_ray_group_add_bundle (group), "TPU", bundle (i));
    }
  measure (bench, &placement_case, scenario, "10k nodes", BENCH_NONE);
}

void
bench_placement (Bench *bench)
{
  measure_slices (bench, 1000, 20e3);
  measure_slices (bench, MANY, 200e3);
  measure_traffic (bench);
  measure_many (bench, QUOIT_STRATEGY_PACK, "ray: PACK, 10k equal bundles", same, same);
  measure_many (bench, QUOIT_STRATEGY_PACK, "ray: PACK, 10k equal bundles, no two nodes equal", same, another);
  if (bench_is_counting (bench))
    return;
  measure_many (bench, QUOIT_STRATEGY_PACK, "ray: PACK, 10k bundles, no two equal", another, another);
  measure_many (bench, QUOIT_STRATEGY_SPREAD, "ray: SPREAD, 10k bundles, no two equal", another, another);
}

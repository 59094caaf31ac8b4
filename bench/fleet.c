/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet.h"

enum { FIRST_FILLER_ID = 1000000 };

/* Adds the node kind of @pool, with GKE's labels except those that differ between nodes. */
static guint32
add_kind (QuoitClaims *claims, const char *pool)
{
  const QuoitPair labels[] = {
    { "cloud.google.com/gke-tpu-accelerator", "tpu-v6e-slice" },
    { "cloud.google.com/gke-tpu-topology", "4x4" },
    { "cloud.google.com/gke-accelerator-count", "4" },
    { "cloud.google.com/gke-nodepool", pool },
    { "cloud.google.com/gke-spot", "false" },
    { "cloud.google.com/machine-family", "ct6e" },
    { "node.kubernetes.io/instance-type", "ct6e-standard-4t" },
    { "topology.kubernetes.io/region", "us-east5" },
    { "topology.kubernetes.io/zone", "us-east5-b" },
    { "kubernetes.io/arch", "amd64" },
    { "kubernetes.io/os", "linux" },
    { "ray.io/accelerator-type", "TPU-V6E" },
  };
  const QuoitResource resources[] = {
    { "CPU", { 180 * QUOIT_AMOUNT_UNIT } },
    { "TPU", { 4 * QUOIT_AMOUNT_UNIT } },
    { "memory", { G_GINT64_CONSTANT (773094113280) * QUOIT_AMOUNT_UNIT } },
    { "object_store_memory", { G_GINT64_CONSTANT (200000000000) * QUOIT_AMOUNT_UNIT } },
  };
  QuoitNodeKind kind = { .generation = QUOIT_GENERATION_V6E,
                         .topology = "4x4",
                         .pod_type = "v6e-16",
                         .chips = 4,
                         .labels = labels,
                         .n_labels = G_N_ELEMENTS (labels),
                         .resources = resources,
                         .n_resources = G_N_ELEMENTS (resources) };

  g_assert (quoit_shape_parse ("4x4", &kind.shape, NULL));
  return quoit_claims_intern_kind (claims, &kind, NULL);
}

static void
add_slice (QuoitClaims *claims, guint32 pool, guint32 kind, guint32 number)
{
  g_autofree char *slice = g_strdup_printf ("tpu-v6e-%05u-%u", pool, number);

  for (guint32 w = 0; w < BENCH_NODES_PER_SLICE; w++)
    {
      guint32 n = number * BENCH_NODES_PER_SLICE + w;
      g_autofree char *name
          = g_strdup_printf ("gke-v6e-%05u-%08x-%04x", pool, number * 2654435761u, w * 40503u & 0xffff);
      g_autofree char *address = g_strdup_printf ("10.%u.%u.%u", n >> 16 & 0xff, n >> 8 & 0xff, n & 0xff);

      quoit_claims_add (
          claims,
          &(QuoitNodeClaim) {
              .name = name, .address = address, .slice = slice, .pool = pool, .kind = kind, .worker_id = (gint32) w });
    }
}

QuoitClaims *
bench_claims_new (guint32 n_nodes, guint32 slices_per_pool)
{
  QuoitClaims *claims = quoit_claims_new ("bench", QUOIT_SOURCE_KIND_RAY_NODES);
  guint32 n_slices = n_nodes / BENCH_NODES_PER_SLICE, kind = 0;

  for (guint32 s = 0; s < n_slices; s++)
    {
      guint32 pool = s / slices_per_pool;

      if (s % slices_per_pool == 0)
        {
          g_autofree char *name = g_strdup_printf ("tpu-v6e-%05u", pool);

          g_assert (quoit_claims_ensure_pool (claims, name) == pool);
          kind = add_kind (claims, name);
        }
      add_slice (claims, pool, kind, s);
    }
  return claims;
}

QuoitLayout *
bench_layout_new (guint32 n_nodes, guint32 slices_per_pool)
{
  g_autoptr (QuoitClaims) claims = bench_claims_new (n_nodes, slices_per_pool);
  g_autofree guint32 *ids = g_new (guint32, n_nodes + 1);

  for (guint32 i = 0; i < n_nodes; i++)
    ids[i] = i + 1;
  return quoit_layout_new (&(QuoitLayoutPart) { claims, ids }, 1);
}

static void
shuffle (guint32 *order, guint32 n)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);

  for (guint32 i = 0; i < n; i++)
    {
      guint32 j = (guint32) g_rand_int_range (rand, 0, (gint32) i + 1);

      order[i] = order[j];
      order[j] = i;
    }
}

QuoitFleet *
bench_fleet_new (QuoitLayout *layout, guint percent)
{
  QuoitFleet *fleet = quoit_fleet_new (layout);
  g_autofree guint32 *order = g_new (guint32, layout->n_slices + 1);
  guint32 n = (guint32) ((guint64) layout->n_slices * percent / 100);

  shuffle (order, layout->n_slices);
  for (guint32 i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("filler-%u", i);
      QuoitPlan plan;

      quoit_plan_init (&plan);
      quoit_plan_append (&plan, order[i]);
      g_assert (quoit_fleet_add_group (fleet, bench_group_new (fleet, &plan, name, FIRST_FILLER_ID + i), NULL));
      quoit_plan_clear (&plan);
    }
  return fleet;
}

QuoitRequest *
bench_request_new (guint32 n)
{
  QuoitRequest *request = quoit_request_alloc ();

  request->generation = QUOIT_GENERATION_V6E;
  g_assert (quoit_shape_parse ("4x4", &request->shape, NULL));
  request->n_slices = n;
  return request;
}

QuoitGroupData *
bench_group_new (const QuoitFleet *fleet, const QuoitPlan *plan, const char *name, guint64 id)
{
  QuoitGroupData facts = {
    .id = id, .state = QUOIT_GROUP_RESERVED, .name = name, .owner = "", .key = "", .request = "v6e 4x4 x 1 hostchips=4"
  };

  return quoit_fleet_group_of_slices (fleet, &facts, plan->slices, plan->n);
}

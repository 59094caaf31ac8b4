/* SPDX-License-Identifier: Apache-2.0 */
/* Fleets for the suites of layers below formats, which cannot read fleet text. */
#pragma once

#include <string.h>

#include "fleet/fleet.h"

typedef struct {
  const char *pool, *topology, *zone;
  guint32 n_slices;
  QuoitGeneration generation;
  guint16 chips; /* per host; 0: the default */
} FixturePool;

/* Adds a whole slice @name with hosts NAME-0, NAME-1... */
static inline void
fixture_add_slice (QuoitClaims *claims, const FixturePool *pool, const char *name)
{
  QuoitShape shape;
  QuoitSliceFacts facts;
  g_autofree char *pod_type = NULL;
  QuoitNodeKind kind = { .generation = pool->generation, .topology = pool->topology };
  QuoitPair label = { "ray.io/availability-zone", pool->zone };
  QuoitResource resources[] = { { "CPU", { 8 * QUOIT_AMOUNT_UNIT } }, { "TPU", { 0 } } };
  guint32 kind_index, pool_index = quoit_claims_ensure_pool (claims, pool->pool);

  g_assert (quoit_shape_parse (pool->topology, &shape, NULL));
  g_assert (quoit_slice_facts (pool->generation, shape,
                               pool->chips != 0 ? pool->chips : quoit_default_chips_per_host (pool->generation, shape),
                               &facts, NULL));
  kind.shape = shape;
  kind.pod_type = pod_type = quoit_pod_type_format (pool->generation, shape);
  kind.chips = facts.chips_per_host;
  resources[1].amount = quoit_amount_from_int (kind.chips);
  kind.resources = resources;
  kind.n_resources = 2;
  kind.labels = &label;
  kind.n_labels = pool->zone != NULL;
  kind_index = quoit_claims_intern_kind (claims, &kind, name);
  for (guint32 w = 0; w < facts.hosts; w++)
    {
      g_autofree char *node = g_strdup_printf ("%s-%u", name, w);

      quoit_claims_add (
          claims, &(QuoitNodeClaim) {
                      .name = node, .slice = name, .pool = pool_index, .kind = kind_index, .worker_id = (gint32) w });
    }
}

static inline void
fixture_add_pool (QuoitClaims *claims, const FixturePool *pool)
{
  for (guint32 s = 0; s < pool->n_slices; s++)
    {
      g_autofree char *name = g_strdup_printf ("%s-%u", pool->pool, s);

      fixture_add_slice (claims, pool, name);
    }
}

static inline QuoitLayout *
fixture_layout (const QuoitClaims *claims)
{
  guint32 n;
  g_autofree guint32 *ids = NULL;

  quoit_claims_nodes (claims, &n);
  ids = g_new (guint32, n + 1);
  for (guint32 i = 0; i < n; i++)
    ids[i] = i + 1;
  return quoit_layout_new (&(QuoitLayoutPart) { claims, ids }, 1);
}

static inline QuoitFleet *
fixture_fleet (const FixturePool *pools, guint n_pools)
{
  g_autoptr (QuoitClaims) claims = quoit_claims_new ("test", QUOIT_SOURCE_KIND_FLEET);
  g_autoptr (QuoitLayout) layout = NULL;

  for (guint i = 0; i < n_pools; i++)
    fixture_add_pool (claims, &pools[i]);
  layout = fixture_layout (claims);
  return quoit_fleet_new (layout);
}

/* Returns a fleet with slices 0 to 11 of 4x4 in pool a, 12 and 13 of 2x4 in pool a2, and 14 to 16 of 4x4 in pool b. */
static inline QuoitFleet *
fixture_mixed_fleet (void)
{
  static const FixturePool pools[] = {
    { "b", "4x4", "z1", 3, QUOIT_GENERATION_V6E, 0 },
    { "a", "4x4", NULL, 12, QUOIT_GENERATION_V6E, 0 },
    { "a2", "2x4", "z2", 2, QUOIT_GENERATION_V6E, 4 },
  };

  return fixture_fleet (pools, G_N_ELEMENTS (pools));
}

static inline QuoitGroupData *
fixture_group (const QuoitFleet *fleet, const char *name, const char *key, guint64 id, const guint32 *slices, guint32 n)
{
  g_autoptr (GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autofree guint32 *ends = g_new (guint32, n + 1);

  for (guint32 i = 0; i < n; i++)
    {
      const QuoitSlice *slice = &fleet->layout->slices[slices[i]];

      for (guint32 j = slice->first_node; j < slice->first_node + slice->n_nodes; j++)
        g_array_append_val (nodes, fleet->layout->nodes[j].id);
      ends[i] = nodes->len;
    }
  return quoit_group_data_new (&(QuoitGroupData) { .id = id,
                                                   .state = QUOIT_GROUP_RESERVED,
                                                   .name = name,
                                                   .owner = "",
                                                   .key = key,
                                                   .request = "",
                                                   .n_slices = n,
                                                   .slice_end = ends,
                                                   .n_nodes = nodes->len,
                                                   .node_ids = (guint32 *) nodes->data });
}

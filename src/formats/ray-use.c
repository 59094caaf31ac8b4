/* SPDX-License-Identifier: Apache-2.0 */
/* Computes what the groups take of the nodes, and what remains. */
#include "formats/ray-use.h"
#include "formats/ray-values.h"

typedef void (*TakeFunc) (QuoitRayUse *use, guint32 node, const QuoitResource *take);

static void
each_take (QuoitRayUse *use, TakeFunc function)
{
  guint32 n_groups;
  const QuoitGroupClaim *groups = quoit_claims_groups (use->cluster->claims, &n_groups);

  for (guint32 i = 0; i < n_groups; i++)
    for (guint32 j = 0; j < groups[i].n_bundles; j++)
      {
        const QuoitBundleClaim *bundle = &groups[i].bundles[j];

        for (guint16 k = 0; bundle->node != QUOIT_NOT_PLACED && k < bundle->n_takes; k++)
          function (use, bundle->node, &bundle->takes[k]);
      }
}

static void
count_take (QuoitRayUse *use, guint32 node, const QuoitResource *take)
{
  use->first[node] += take != NULL;
}

/* Fills the range of each node from its end, so that in the end @first is its beginning. */
static void
put_take (QuoitRayUse *use, guint32 node, const QuoitResource *take)
{
  use->takes[--use->first[node]] = take;
}

void
quoit_ray_use_init (QuoitRayUse *use, const QuoitRayCluster *cluster)
{
  *use = (QuoitRayUse) { .cluster = cluster };
  quoit_claims_nodes (cluster->claims, &use->n_nodes);
  use->first = g_new0 (guint32, (gsize) use->n_nodes + 1);
  each_take (use, count_take);
  for (guint32 i = 1; i <= use->n_nodes; i++)
    use->first[i] += use->first[i - 1];
  use->takes = g_new (const QuoitResource *, (gsize) use->first[use->n_nodes] + 1);
  each_take (use, put_take);
}

void
quoit_ray_use_clear (QuoitRayUse *use)
{
  g_clear_pointer (&use->first, g_free);
  g_clear_pointer (&use->takes, g_free);
}

gboolean
quoit_ray_use_is_known (const QuoitRayUse *use, guint32 node, const char *resource)
{
  return !g_array_index (use->cluster->nodes, QuoitRayNode, node).is_listed || !quoit_ray_is_memory (resource);
}

/* Subtracts @take from @rest. Names are texts of the claims, so pointers are compared. FALSE: not enough is left. */
static gboolean
take_from (GArray *rest, const QuoitResource *take)
{
  for (guint i = 0; i < rest->len; i++)
    {
      QuoitResource *left = &g_array_index (rest, QuoitResource, i);

      if (left->name != take->name)
        continue;
      left->amount.e4 -= take->amount.e4;
      return left->amount.e4 >= 0;
    }
  return FALSE;
}

static gboolean
fail_short (const QuoitRayUse *use, guint32 node, const char *resource, GError **error)
{
  guint32 n_nodes;
  g_autofree char *name = quoit_quote (quoit_claims_nodes (use->cluster->claims, &n_nodes)[node].name);
  g_autofree char *quoted = quoit_quote (resource);

  return quoit_fail (error, QUOIT_ERROR_INVALID, "node %s: groups take more %s than it has: %s", name, quoted,
                     QUOIT_RAY_OTHER_MOMENT);
}

gboolean
quoit_ray_use_rest (const QuoitRayUse *use, guint32 node, GArray *rest, GError **error)
{
  const QuoitRayNode *has = &g_array_index (use->cluster->nodes, QuoitRayNode, node);

  g_array_set_size (rest, 0);
  for (guint16 i = 0; i < has->n_totals; i++)
    {
      const QuoitResource *total = &g_array_index (use->cluster->totals, QuoitResource, has->first + i);

      if (quoit_ray_use_is_known (use, node, total->name))
        g_array_append_val (rest, *total);
    }
  for (guint32 i = use->first[node]; i < use->first[node + 1]; i++)
    if (quoit_ray_use_is_known (use, node, use->takes[i]->name) && !take_from (rest, use->takes[i]))
      return fail_short (use, node, use->takes[i]->name, error);
  return TRUE;
}

gboolean
quoit_ray_use_check (const QuoitRayUse *use, GError **error)
{
  g_autoptr (GArray) rest = g_array_new (FALSE, FALSE, sizeof (QuoitResource));
  guint32 n_nodes;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (use->cluster->claims, &n_nodes);

  for (guint32 i = 0; i < n_nodes; i++)
    if (nodes[i].state != QUOIT_NODE_DEAD && !quoit_ray_use_rest (use, i, rest, error))
      return FALSE;
  return TRUE;
}

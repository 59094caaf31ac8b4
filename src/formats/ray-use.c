/* SPDX-License-Identifier: Apache-2.0 */
/* Computes which resources of each node the groups take, and what remains. */
#include "formats/ray-use.h"
#include "formats/ray-values.h"
#include "models/ray/resource-names.h"

typedef void (*TakeFunc) (QuoitRayUse *use, guint32 node, const QuoitResource *take);

static void
for_each_take (QuoitRayUse *use, TakeFunc function)
{
  guint32 n_groups;
  const QuoitGroupClaim *groups = quoit_claims_groups (use->listing->claims, &n_groups);

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
  use->first_take[node] += take != NULL;
}

/* Before the first call, first_take[node] is the end of the node's range. Each call fills the range from its end,
 * so that first_take[node] is the start of the range at last. */
static void
put_take (QuoitRayUse *use, guint32 node, const QuoitResource *take)
{
  use->takes[--use->first_take[node]] = take;
}

void
quoit_ray_use_init (QuoitRayUse *use, const QuoitRayListing *listing)
{
  *use = (QuoitRayUse) { .listing = listing };
  quoit_claims_nodes (listing->claims, &use->n_nodes);
  use->first_take = g_new0 (guint32, (gsize) use->n_nodes + 1);
  for_each_take (use, count_take);
  for (guint32 i = 1; i <= use->n_nodes; i++)
    use->first_take[i] += use->first_take[i - 1];
  use->takes = g_new (const QuoitResource *, (gsize) use->first_take[use->n_nodes] + 1);
  for_each_take (use, put_take);
}

void
quoit_ray_use_clear (QuoitRayUse *use)
{
  g_clear_pointer (&use->first_take, g_free);
  g_clear_pointer (&use->takes, g_free);
}

gboolean
quoit_ray_use_is_exact (const QuoitRayUse *use, guint32 node, const char *resource)
{
  return !g_array_index (use->listing->nodes, QuoitRayListedNode, node).is_listed
         || !quoit_resource_is_rounded (resource);
}

/* Subtracts @take from @remaining. Names are texts of the claims, so pointers are compared. FALSE: not enough is
 * left. */
static gboolean
take_from (GArray *remaining, const QuoitResource *take)
{
  for (guint i = 0; i < remaining->len; i++)
    {
      QuoitResource *left = &g_array_index (remaining, QuoitResource, i);

      if (left->name != take->name)
        continue;
      left->amount.e4 -= take->amount.e4;
      return left->amount.e4 >= 0;
    }
  return FALSE;
}

static gboolean
fail_too_much (const QuoitRayUse *use, guint32 node, const char *resource, GError **error)
{
  guint32 n_nodes;
  g_autofree char *name = quoit_quote (quoit_claims_nodes (use->listing->claims, &n_nodes)[node].name);
  g_autofree char *quoted = quoit_quote (resource);

  return quoit_fail (error, QUOIT_ERROR_INVALID, "node %s: groups take more %s than it has: %s", name, quoted,
                     QUOIT_RAY_OTHER_MOMENT);
}

gboolean
quoit_ray_use_subtract_groups (const QuoitRayUse *use, guint32 node, GArray *remaining, GError **error)
{
  const QuoitRayListedNode *has = &g_array_index (use->listing->nodes, QuoitRayListedNode, node);

  g_array_set_size (remaining, 0);
  for (guint16 i = 0; i < has->n_totals; i++)
    {
      const QuoitResource *total = &g_array_index (use->listing->totals, QuoitResource, has->first + i);

      if (quoit_ray_use_is_exact (use, node, total->name))
        g_array_append_val (remaining, *total);
    }
  for (guint32 i = use->first_take[node]; i < use->first_take[node + 1]; i++)
    if (quoit_ray_use_is_exact (use, node, use->takes[i]->name) && !take_from (remaining, use->takes[i]))
      return fail_too_much (use, node, use->takes[i]->name, error);
  return TRUE;
}

gboolean
quoit_ray_use_check (const QuoitRayUse *use, GError **error)
{
  g_autoptr (GArray) remaining = g_array_new (FALSE, FALSE, sizeof (QuoitResource));
  guint32 n_nodes;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (use->listing->claims, &n_nodes);

  for (guint32 i = 0; i < n_nodes; i++)
    if (nodes[i].state != QUOIT_NODE_DEAD && !quoit_ray_use_subtract_groups (use, i, remaining, error))
      return FALSE;
  return TRUE;
}

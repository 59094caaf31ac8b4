/* SPDX-License-Identifier: Apache-2.0 */
/* Returns the claims of each source. If only one source claims a node, the claim is not stored separately, because the
 * node has the same values. Otherwise each claim has a row in QuoitLayout.joined. */
#include "fleet/layout-private.h"

#include <stdlib.h>

/* Returns whether the node is in a pool of @source. */
static gboolean
is_home_source (const QuoitSource *source, QuoitNodeId node)
{
  return node.index >= source->first_node && node.index - source->first_node < source->n_nodes;
}

static gint
compare_by_source (gconstpointer a, gconstpointer b, gpointer data)
{
  const QuoitLayout *layout = data;
  const QuoitJoinedClaim *x = a, *y = b;
  guint32 source = layout->pools[x->pool].source, other = layout->pools[y->pool].source;
  gboolean x_is_home, y_is_home;

  if (source != other)
    return source < other ? -1 : 1;
  x_is_home = is_home_source (&layout->sources[source], (QuoitNodeId) { x->node });
  y_is_home = is_home_source (&layout->sources[source], (QuoitNodeId) { y->node });
  if (x_is_home != y_is_home)
    return x_is_home ? 1 : -1;
  return (x->node > y->node) - (x->node < y->node);
}

static gint
compare_by_node (gconstpointer a, gconstpointer b, gpointer data)
{
  const QuoitLayout *layout = data;
  guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

  if (layout->joined[x].node != layout->joined[y].node)
    return layout->joined[x].node < layout->joined[y].node ? -1 : 1;
  return (x > y) - (x < y);
}

void
quoit_layout_sort_joined (QuoitLayout *layout)
{
  layout->joined_by_node = g_new (guint32, layout->n_joined + 1);
  for (guint32 i = 0; i < layout->n_joined; i++)
    layout->joined_by_node[i] = i;
  if (layout->n_joined > 0)
    {
      g_qsort_with_data (layout->joined, (gint) layout->n_joined, sizeof *layout->joined, compare_by_source, layout);
      g_qsort_with_data (layout->joined_by_node, (gint) layout->n_joined, sizeof *layout->joined_by_node,
                         compare_by_node, layout);
    }
  for (guint32 i = 0; i < layout->n_joined; i++)
    {
      const QuoitJoinedClaim *row = &layout->joined[i];
      QuoitSource *source = &layout->sources[layout->pools[row->pool].source];

      g_assert (i == 0 || compare_by_source (row - 1, row, layout) < 0);
      if (is_home_source (source, (QuoitNodeId) { row->node }))
        source->first_shared = source->n_shared++ == 0 ? i : source->first_shared;
      else
        source->first_foreign = source->n_foreign++ == 0 ? i : source->first_foreign;
    }
}

/* Returns NULL if the source does not claim the node, or is the only one that does. */
static const QuoitJoinedClaim *
find_joined (const QuoitLayout *layout, QuoitSourceId source, QuoitNodeId node)
{
  const QuoitSource *row = &layout->sources[source.index];
  gboolean is_home = is_home_source (row, node);
  guint32 low = is_home ? row->first_shared : row->first_foreign,
          end = low + (is_home ? row->n_shared : row->n_foreign);

  for (guint32 high = end; low < high;)
    {
      guint32 middle = low + (high - low) / 2;

      if (layout->joined[middle].node < node.index)
        low = middle + 1;
      else
        high = middle;
    }
  return low < end && layout->joined[low].node == node.index ? &layout->joined[low] : NULL;
}

guint32
quoit_layout_count_claimed (const QuoitLayout *layout, QuoitSourceId source)
{
  return layout->sources[source.index].n_nodes + layout->sources[source.index].n_foreign;
}

QuoitNodeId
quoit_layout_claimed_node (const QuoitLayout *layout, QuoitSourceId source, guint32 i)
{
  const QuoitSource *row = &layout->sources[source.index];

  return i < row->n_nodes ? (QuoitNodeId) { row->first_node + i }
                          : (QuoitNodeId) { layout->joined[row->first_foreign + i - row->n_nodes].node };
}

gboolean
quoit_layout_claims_node (const QuoitLayout *layout, QuoitSourceId source, QuoitNodeId node)
{
  return is_home_source (&layout->sources[source.index], node) || find_joined (layout, source, node) != NULL;
}

gboolean
quoit_layout_node_source (const QuoitLayout *layout, QuoitNodeId node, guint32 i, QuoitSourceId *source)
{
  guint32 home = layout->pools[quoit_layout_node_pool (layout, node).index].source, n = 0, low = 0;

  if (i == 0)
    return source->index = home, TRUE;
  for (guint32 high = layout->n_joined; low < high;)
    {
      guint32 middle = low + (high - low) / 2;

      if (layout->joined[layout->joined_by_node[middle]].node < node.index)
        low = middle + 1;
      else
        high = middle;
    }
  for (; low < layout->n_joined && layout->joined[layout->joined_by_node[low]].node == node.index; low++)
    {
      source->index = layout->pools[layout->joined[layout->joined_by_node[low]].pool].source;
      if (source->index != home && ++n == i)
        return TRUE;
    }
  return FALSE;
}

static const char *
text_at (const QuoitLayout *layout, guint32 offset)
{
  return offset == 0 ? NULL : layout->texts + offset;
}

static const char *
name_at (const QuoitLayout *layout, guint32 index)
{
  return index == QUOIT_NO_INDEX ? NULL : quoit_layout_text (layout, (QuoitStringId) { index });
}

static const char *
unpack_identity (const QuoitLayout *layout, guint32 offset, char **identity)
{
  if (identity == NULL)
    return NULL;
  return *identity = offset == 0 ? NULL : quoit_identity_unpack (layout->texts + offset);
}

static QuoitNodeClaim
only_claim (const QuoitLayout *layout, QuoitNodeId node, char **identity)
{
  const QuoitNode *row = &layout->nodes[node.index];
  const QuoitSlice *slice = row->slice == QUOIT_NO_INDEX ? NULL : &layout->slices[row->slice];
  const char *incarnation = slice == NULL ? "" : quoit_layout_text (layout, slice->incarnation);

  return (QuoitNodeClaim) { .name = quoit_layout_node_name (layout, node),
                            .identity = unpack_identity (layout, row->identity, identity),
                            .address = text_at (layout, row->address),
                            .slice = slice == NULL ? NULL : quoit_layout_text (layout, slice->name),
                            .incarnation = *incarnation == '\0' ? NULL : incarnation,
                            .pool = quoit_layout_node_pool (layout, node).index,
                            .kind = row->kind,
                            .worker_id = row->worker_id,
                            .state = quoit_layout_claimed_state (layout, node),
                            .flags = row->flags | quoit_node_cause_flags (quoit_layout_node_cause (layout, node)) };
}

QuoitNodeClaim
quoit_layout_claim (const QuoitLayout *layout, QuoitSourceId source, QuoitNodeId node, char **identity)
{
  const QuoitJoinedClaim *row = find_joined (layout, source, node);

  if (row == NULL)
    return only_claim (layout, node, identity);
  return (QuoitNodeClaim) { .name = layout->texts + row->name,
                            .identity = unpack_identity (layout, row->identity, identity),
                            .address = text_at (layout, row->address),
                            .slice = name_at (layout, row->slice),
                            .incarnation = name_at (layout, row->incarnation),
                            .pool = row->pool,
                            .kind = row->kind,
                            .worker_id = row->worker_id,
                            .state = row->state,
                            .flags = row->flags };
}

QuoitClaims *
quoit_layout_dup_claims (const QuoitLayout *layout, QuoitSourceId source, guint32 **ids)
{
  const QuoitSource *row = &layout->sources[source.index];
  QuoitClaims *claims = quoit_claims_new (quoit_layout_text (layout, row->name), row->kind);
  g_autofree guint32 *kind_map = g_new0 (guint32, layout->n_kinds + 1);
  guint32 n = quoit_layout_count_claimed (layout, source);

  *ids = g_new (guint32, n + 1);
  for (guint32 p = row->first_pool; p < row->first_pool + row->n_pools; p++)
    {
      const QuoitPool *pool = &layout->pools[p];

      quoit_claims_copy_pool (claims, &(QuoitPoolClaim) { .name = quoit_layout_text (layout, pool->name),
                                                          .pod_cpu = pool->pod_cpu,
                                                          .pod_memory = pool->pod_memory,
                                                          .n_pods = pool->n_pods,
                                                          .n_env = (guint16) pool->n_env,
                                                          .env = layout->env + pool->first_env });
    }
  for (guint32 i = 0; i < n; i++)
    {
      QuoitNodeId node = quoit_layout_claimed_node (layout, source, i);
      g_autofree char *identity = NULL;
      QuoitNodeClaim claim = quoit_layout_claim (layout, source, node, &identity);

      if (kind_map[claim.kind] == 0)
        kind_map[claim.kind]
            = 1 + quoit_claims_intern_kind (claims, quoit_claims_kind_at (layout->kinds, claim.kind), NULL);
      claim.kind = kind_map[claim.kind] - 1;
      /* Pools were copied in order, so pool p of the layout is pool p - first_pool of the claims. */
      claim.pool -= row->first_pool;
      quoit_claims_add (claims, &claim);
      (*ids)[i] = layout->nodes[node.index].id;
    }
  return claims;
}

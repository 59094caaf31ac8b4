/* SPDX-License-Identifier: Apache-2.0 */
/* The claims of each source. If only one source claims a node, the node itself is its claim; otherwise each claim
 * has a row in joined. */
#include "fleet/layout-private.h"

#include <stdlib.h>

static gboolean
stands_in (const QuoitSource *source, QuoitNodeId node)
{
  return node.index >= source->first_node && node.index - source->first_node < source->n_nodes;
}

static gint
by_source (gconstpointer a, gconstpointer b, gpointer data)
{
  const QuoitLayout *layout = data;
  const QuoitJoinedClaim *x = a, *y = b;
  guint32 source = layout->pools[x->pool].source, other = layout->pools[y->pool].source;
  gboolean x_is_host, y_is_host;

  if (source != other)
    return source < other ? -1 : 1;
  x_is_host = stands_in (&layout->sources[source], (QuoitNodeId) { x->node });
  y_is_host = stands_in (&layout->sources[source], (QuoitNodeId) { y->node });
  if (x_is_host != y_is_host)
    return x_is_host ? 1 : -1;
  return (x->node > y->node) - (x->node < y->node);
}

static gint
by_node (gconstpointer a, gconstpointer b, gpointer data)
{
  const QuoitLayout *layout = data;
  guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

  if (layout->joined[x].node != layout->joined[y].node)
    return layout->joined[x].node < layout->joined[y].node ? -1 : 1;
  return (x > y) - (x < y);
}

void
quoit_layout_order_joined (QuoitLayout *layout)
{
  layout->joined_of = g_new (guint32, layout->n_joined + 1);
  for (guint32 i = 0; i < layout->n_joined; i++)
    layout->joined_of[i] = i;
  if (layout->n_joined > 0)
    {
      g_qsort_with_data (layout->joined, (gint) layout->n_joined, sizeof *layout->joined, by_source, layout);
      g_qsort_with_data (layout->joined_of, (gint) layout->n_joined, sizeof *layout->joined_of, by_node, layout);
    }
  for (guint32 i = 0; i < layout->n_joined; i++)
    {
      const QuoitJoinedClaim *row = &layout->joined[i];
      QuoitSource *source = &layout->sources[layout->pools[row->pool].source];

      g_assert (i == 0 || by_source (row - 1, row, layout) < 0);
      if (stands_in (source, (QuoitNodeId) { row->node }))
        source->first_host = source->n_hosts++ == 0 ? i : source->first_host;
      else
        source->first_guest = source->n_guests++ == 0 ? i : source->first_guest;
    }
}

/* Returns NULL if the source does not claim the node, or is the only one that does. */
static const QuoitJoinedClaim *
find_joined (const QuoitLayout *layout, QuoitSourceId source, QuoitNodeId node)
{
  const QuoitSource *row = &layout->sources[source.index];
  gboolean is_host = stands_in (row, node);
  guint32 low = is_host ? row->first_host : row->first_guest, end = low + (is_host ? row->n_hosts : row->n_guests);

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
quoit_layout_n_claimed (const QuoitLayout *layout, QuoitSourceId source)
{
  return layout->sources[source.index].n_nodes + layout->sources[source.index].n_guests;
}

QuoitNodeId
quoit_layout_claimed_node (const QuoitLayout *layout, QuoitSourceId source, guint32 i)
{
  const QuoitSource *row = &layout->sources[source.index];

  return i < row->n_nodes ? (QuoitNodeId) { row->first_node + i }
                          : (QuoitNodeId) { layout->joined[row->first_guest + i - row->n_nodes].node };
}

gboolean
quoit_layout_claims_node (const QuoitLayout *layout, QuoitSourceId source, QuoitNodeId node)
{
  return stands_in (&layout->sources[source.index], node) || find_joined (layout, source, node) != NULL;
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

      if (layout->joined[layout->joined_of[middle]].node < node.index)
        low = middle + 1;
      else
        high = middle;
    }
  for (; low < layout->n_joined && layout->joined[layout->joined_of[low]].node == node.index; low++)
    {
      source->index = layout->pools[layout->joined[layout->joined_of[low]].pool].source;
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
unpack (const QuoitLayout *layout, guint32 offset, char **identity)
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
                            .identity = unpack (layout, row->identity, identity),
                            .address = text_at (layout, row->address),
                            .slice = slice == NULL ? NULL : quoit_layout_text (layout, slice->name),
                            .incarnation = *incarnation == '\0' ? NULL : incarnation,
                            .pool = quoit_layout_node_pool (layout, node).index,
                            .kind = row->kind,
                            .worker_id = row->worker_id,
                            .state = row->claimed,
                            .flags = row->flags };
}

QuoitNodeClaim
quoit_layout_claim (const QuoitLayout *layout, QuoitSourceId source, QuoitNodeId node, char **identity)
{
  const QuoitJoinedClaim *row = find_joined (layout, source, node);

  if (row == NULL)
    return only_claim (layout, node, identity);
  return (QuoitNodeClaim) { .name = layout->texts + row->name,
                            .identity = unpack (layout, row->identity, identity),
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
quoit_layout_claims (const QuoitLayout *layout, QuoitSourceId source, guint32 **ids)
{
  const QuoitSource *row = &layout->sources[source.index];
  QuoitClaims *claims = quoit_claims_new (quoit_layout_text (layout, row->name), row->kind);
  g_autofree guint32 *kind_of = g_new0 (guint32, layout->n_kinds + 1);
  guint32 n = quoit_layout_n_claimed (layout, source);

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

      if (kind_of[claim.kind] == 0)
        kind_of[claim.kind] = 1 + quoit_claims_kind (claims, quoit_claims_kind_at (layout->kinds, claim.kind), NULL);
      claim.kind = kind_of[claim.kind] - 1;
      /* Pools were copied in order. */
      claim.pool -= row->first_pool;
      quoit_claims_add (claims, &claim);
      (*ids)[i] = layout->nodes[node.index].id;
    }
  return claims;
}

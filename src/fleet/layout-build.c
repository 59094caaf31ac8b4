/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a layout from drafts. Drafts that are in order are not sorted again, because nodes from a database are in
 * order and loading must be fast. */
#include "fleet/layout-builder.h"

#include <string.h>

#include "base/natural.h"

static gint
compare_pools (gconstpointer a, gconstpointer b, gpointer data)
{
  const QuoitBuilder *builder = data;
  const QuoitPoolDraft *x = &g_array_index (builder->pools, QuoitPoolDraft, *(const guint32 *) a);
  const QuoitPoolDraft *y = &g_array_index (builder->pools, QuoitPoolDraft, *(const guint32 *) b);

  if (x->part != y->part)
    return builder->first_pool[x->part] < builder->first_pool[y->part] ? -1 : 1;
  return quoit_natural_compare (quoit_layout_text (builder->layout, x->name),
                                quoit_layout_text (builder->layout, y->name));
}

static gint
compare_slices (gconstpointer a, gconstpointer b, gpointer data)
{
  const QuoitBuilder *builder = data;
  const QuoitSliceDraft *x = &g_array_index (builder->slices, QuoitSliceDraft, *(const guint32 *) a);
  const QuoitSliceDraft *y = &g_array_index (builder->slices, QuoitSliceDraft, *(const guint32 *) b);
  guint32 p = g_array_index (builder->pools, QuoitPoolDraft, x->pool).rank;
  guint32 q = g_array_index (builder->pools, QuoitPoolDraft, y->pool).rank;

  if (p != q)
    return p < q ? -1 : 1;
  if (x->class_index != y->class_index)
    return x->class_index < y->class_index ? -1 : 1;
  return quoit_natural_compare (quoit_layout_text (builder->layout, x->name),
                                quoit_layout_text (builder->layout, y->name));
}

/* Returns the indices 0..n-1 in the order of @compare. Skips sorting if they are in order. */
static guint32 *
sorted_indices (guint n, GCompareDataFunc compare, gpointer data)
{
  guint32 *order = g_new0 (guint32, n + 1);
  gboolean sorted = TRUE;

  for (guint32 i = 0; i < n; i++)
    order[i] = i;
  for (guint32 i = 1; i < n && sorted; i++)
    sorted = compare (&order[i - 1], &order[i], data) < 0;
  if (!sorted)
    g_qsort_with_data (order, (gint) n, sizeof *order, compare, data);
  return order;
}

static void
build_pools (QuoitBuilder *builder)
{
  QuoitLayout *layout = builder->layout;
  g_autofree guint32 *order = sorted_indices (builder->pools->len, compare_pools, builder);
  g_autoptr (GArray) env = g_array_sized_new (FALSE, FALSE, sizeof (QuoitPair), 1); /* allocated even if empty */
  guint32 at = 0;

  layout->n_pools = builder->pools->len;
  layout->pools = g_new0 (QuoitPool, layout->n_pools + 1);
  layout->n_sources = builder->n_parts;
  layout->sources = g_new0 (QuoitSource, layout->n_sources + 1);
  for (guint p = 0; p < builder->n_parts; p++)
    {
      const QuoitClaims *claims = builder->parts[builder->part_order[p]].claims;
      QuoitSource *source = &layout->sources[p];

      source->name = quoit_strings_intern (layout->strings, quoit_claims_source (claims));
      source->kind = quoit_claims_source_kind (claims);
      source->first_pool = at;
      source->n_pools = quoit_claims_n_pools (claims);
      for (; at < source->first_pool + source->n_pools; at++)
        {
          QuoitPoolDraft *draft = &g_array_index (builder->pools, QuoitPoolDraft, order[at]);
          const QuoitPoolClaim *claim = quoit_claims_pool_at (claims, draft->pool_claim);

          draft->rank = at;
          layout->pools[at] = (QuoitPool) { .name = draft->name,
                                            .source = p,
                                            .n_pods = claim->n_pods,
                                            .first_env = env->len,
                                            .n_env = claim->n_env,
                                            .pod_cpu = claim->pod_cpu,
                                            .pod_memory = claim->pod_memory };
          for (guint16 i = 0; i < claim->n_env; i++)
            {
              QuoitPair pair = { quoit_claims_intern_text (layout->kinds, claim->env[i].key),
                                 quoit_claims_intern_text (layout->kinds, claim->env[i].value) };

              g_array_append_val (env, pair);
            }
        }
    }
  layout->env = (QuoitPair *) g_array_free (g_steal_pointer (&env), FALSE);
}

/* Builds slices and shelves. Assigns a bucket number to each slice, and one to the nodes without a slice of each pool;
 * the nodes of a layout are in the order of these numbers. Returns the buckets of nodes without a slice, by pool. */
static guint32 *
build_slices (QuoitBuilder *builder)
{
  QuoitLayout *layout = builder->layout;
  guint n = builder->slices->len;
  g_autofree guint32 *order = sorted_indices (n, compare_slices, builder);
  guint32 *sliceless_buckets = g_new (guint32, layout->n_pools + 1); /* by pool: bucket of nodes without a slice */
  GArray *shelves = g_array_new (FALSE, TRUE, sizeof (QuoitShelf));
  guint32 bucket = 0, at = 0;

  layout->n_slices = n;
  layout->slices = g_new0 (QuoitSlice, n + 1);
  for (guint32 p = 0; p < layout->n_pools; p++)
    {
      QuoitPool *pool = &layout->pools[p];

      pool->first_slice = at;
      pool->first_shelf = shelves->len;
      for (; at < n; at++)
        {
          QuoitSliceDraft *draft = &g_array_index (builder->slices, QuoitSliceDraft, order[at]);
          QuoitShelf fresh = { .pool = p, .class_index = draft->class_index, .first_slice = at };

          if (g_array_index (builder->pools, QuoitPoolDraft, draft->pool).rank != p)
            break;
          if (shelves->len == pool->first_shelf
              || g_array_index (shelves, QuoitShelf, shelves->len - 1).class_index != draft->class_index)
            g_array_append_val (shelves, fresh);
          g_array_index (shelves, QuoitShelf, shelves->len - 1).n_slices++;
          layout->slices[at]
              = (QuoitSlice) { .name = draft->name, .incarnation = draft->incarnation, .shelf = shelves->len - 1 };
          draft->bucket = bucket++;
        }
      sliceless_buckets[p] = bucket++;
      pool->n_slices = at - pool->first_slice;
      pool->n_shelves = shelves->len - pool->first_shelf;
    }
  layout->n_shelves = shelves->len;
  layout->shelves = (QuoitShelf *) g_array_free (shelves, FALSE);
  return sliceless_buckets;
}

static gint
compare_nodes (gconstpointer a, gconstpointer b, gpointer data)
{
  const QuoitBuilder *builder = data;
  const QuoitNodeDraft *x = a, *y = b;
  const QuoitNodeClaim *p, *q;
  int order;

  if (x->key != y->key)
    return x->key < y->key ? -1 : 1;
  p = quoit_builder_home (builder, x);
  q = quoit_builder_home (builder, y);
  order = quoit_natural_compare (p->name, q->name);
  if (order != 0 || p->identity == NULL || q->identity == NULL)
    return order;
  return strcmp (p->identity, q->identity);
}

static void
sort_nodes (QuoitBuilder *builder, const guint32 *sliceless_buckets)
{
  QuoitNodeDraft *nodes = (QuoitNodeDraft *) builder->nodes->data;
  gboolean sorted = TRUE;

  for (guint32 i = 0; i < builder->nodes->len; i++)
    {
      gint32 worker = quoit_builder_home (builder, &nodes[i])->worker_id;
      guint32 bucket = nodes[i].slice != QUOIT_NO_INDEX
                           ? g_array_index (builder->slices, QuoitSliceDraft, nodes[i].slice).bucket
                           : sliceless_buckets[g_array_index (builder->pools, QuoitPoolDraft, nodes[i].pool).rank];

      /* Nodes without a worker id come last in their slice. */
      nodes[i].key = (guint64) bucket << 32 | (worker < 0 ? G_MAXUINT32 : (guint32) worker);
      sorted = sorted && (i == 0 || compare_nodes (&nodes[i - 1], &nodes[i], builder) <= 0);
    }
  if (!sorted)
    g_qsort_with_data (nodes, (gint) builder->nodes->len, sizeof *nodes, compare_nodes, builder);
}

/* Sets @node_texts to the name, address and identity of a node. Address and identity may be NULL. */
static void
get_texts (const QuoitBuilder *builder, const QuoitNodeDraft *draft, const char **node_texts)
{
  const QuoitNodeClaim *home = quoit_builder_home (builder, draft),
                       *best_claim = quoit_builder_claim (builder, draft->best_claim);

  node_texts[0] = home->name;
  node_texts[1] = best_claim->address != NULL ? best_claim->address : home->address;
  node_texts[2] = best_claim->identity != NULL ? best_claim->identity : home->identity;
}

static gsize
texts_size (const char *name, const char *address, const char *identity)
{
  gsize total = strlen (name) + 1;

  if (address != NULL && strcmp (address, name) != 0)
    total += strlen (address) + 1;
  return identity == NULL ? total : total + quoit_identity_max_size (identity);
}

static gsize
all_texts_size (const QuoitBuilder *builder)
{
  gsize total = 1;

  for (guint32 i = 0; i < builder->nodes->len; i++)
    {
      const char *node_texts[3];

      get_texts (builder, &g_array_index (builder->nodes, QuoitNodeDraft, i), node_texts);
      total += texts_size (node_texts[0], node_texts[1], node_texts[2]);
    }
  for (guint32 i = 0; i < builder->joined->len; i++)
    {
      const QuoitNodeClaim *claim = quoit_builder_claim (builder, g_array_index (builder->joined, QuoitClaimRef, i));

      total += texts_size (claim->name, claim->address, claim->identity);
    }
  return total;
}

/* Combines the flags of several claims. The home claim decides whether id and name are assumed, and the best-informed
 * claim decides whether the node is lost. Each of the other flags is set if it is set in any claim. */
static guint8
combine_flags (const QuoitBuilder *builder, const QuoitNodeDraft *draft)
{
  return (quoit_builder_home (builder, draft)->flags & (QUOIT_NODE_ASSUMED_ID | QUOIT_NODE_ASSUMED_NAME))
         | (quoit_builder_claim (builder, draft->best_claim)->flags & QUOIT_NODE_LOST)
         | (draft->flags & (QUOIT_NODE_RAY_HEAD | QUOIT_NODE_EXTERNAL));
}

static void
store_texts (QuoitLayout *layout, const char *const *node_texts, guint32 *name, guint32 *address, guint32 *identity)
{
  *name = quoit_layout_store_text (layout, node_texts[0]);
  if (node_texts[1] != NULL)
    *address = strcmp (node_texts[1], node_texts[0]) == 0 ? *name : quoit_layout_store_text (layout, node_texts[1]);
  if (node_texts[2] != NULL)
    *identity = quoit_layout_store_identity (layout, node_texts[2]);
}

static void
build_nodes (QuoitBuilder *builder)
{
  QuoitLayout *layout = builder->layout;
  gsize max_texts = all_texts_size (builder);

  layout->n_nodes = builder->nodes->len;
  layout->nodes = g_new0 (QuoitNode, layout->n_nodes + 1);
  layout->claimed = g_malloc0 (quoit_layout_claimed_bytes (layout->n_nodes));
  layout->texts = g_malloc (max_texts);
  layout->texts[0] = '\0';
  layout->n_texts = 1;
  for (guint32 i = 0; i < layout->n_nodes; i++)
    {
      const QuoitNodeDraft *draft = &g_array_index (builder->nodes, QuoitNodeDraft, i);
      const QuoitNodeClaim *claim = quoit_builder_home (builder, draft);
      QuoitNode *node = &layout->nodes[i];
      const char *node_texts[3];

      get_texts (builder, draft, node_texts);
      store_texts (layout, node_texts, &node->name, &node->address, &node->identity);
      node->slice = draft->slice == QUOIT_NO_INDEX
                        ? QUOIT_NO_INDEX
                        : g_array_index (builder->slices, QuoitSliceDraft, draft->slice).bucket;
      node->kind = quoit_builder_kind (builder, draft);
      node->id = builder->parts[draft->home.part].ids[draft->home.claim];
      node->worker_id = (gint16) MIN (claim->worker_id, QUOIT_MAX_WORKER_ID);
      node->flags = combine_flags (builder, draft);
      quoit_layout_set_claimed_state (layout, (QuoitNodeId) { i }, draft->state.state);
      quoit_layout_set_cause (layout, (QuoitNodeId) { i }, quoit_node_cause (draft->flags));
      layout->n_external += (node->flags & QUOIT_NODE_EXTERNAL) != 0;
      layout->end_id = MAX (layout->end_id, node->id + 1);
    }
  layout->ids = builder->ids;
  layout->index_by_slot = g_new (guint32, layout->ids.n_slots + 1);
  memset (layout->index_by_slot, 0xff, layout->ids.n_slots * sizeof *layout->index_by_slot);
  for (guint32 i = 0; i < layout->n_nodes; i++)
    layout->index_by_slot[quoit_ids_slot (&layout->ids, layout->nodes[i].id)] = i;
}

/* Sets the node ranges of pools and slices, and replaces the bucket numbers in nodes by slice indices. Each pool has
 * one bucket for nodes without a slice after the buckets of its slices, so slice s of pool p has bucket s + p. */
static void
set_node_ranges (QuoitBuilder *builder, const guint32 *sliceless_buckets)
{
  QuoitLayout *layout = builder->layout;
  const QuoitNodeDraft *drafts = (const QuoitNodeDraft *) builder->nodes->data;
  guint32 at = 0;

  for (guint32 p = 0; p < layout->n_pools; p++)
    {
      QuoitPool *pool = &layout->pools[p];

      pool->first_node = at;
      for (guint32 s = pool->first_slice; s < pool->first_slice + pool->n_slices; s++)
        {
          layout->slices[s].first_node = at;
          for (; at < layout->n_nodes && layout->nodes[at].slice == s + p; at++)
            layout->nodes[at].slice = s;
          layout->slices[s].n_nodes = at - layout->slices[s].first_node;
        }
      for (; at < layout->n_nodes && drafts[at].key >> 32 == sliceless_buckets[p]; at++)
        ;
      pool->n_nodes = at - pool->first_node;
    }
}

static void
set_source_ranges (QuoitLayout *layout)
{
  for (guint32 s = 0; s < layout->n_sources; s++)
    {
      QuoitSource *source = &layout->sources[s];

      source->first_node = source->n_pools == 0 ? 0 : layout->pools[source->first_pool].first_node;
      for (guint32 p = source->first_pool; p < source->first_pool + source->n_pools; p++)
        source->n_nodes += layout->pools[p].n_nodes;
    }
}

static guint32
name_index (QuoitLayout *layout, const char *name)
{
  return name == NULL ? QUOIT_NO_INDEX : quoit_strings_intern (layout->strings, name).index;
}

/* Builds the rows of nodes with several claims. The node ranges of the sources must be set. */
static void
build_joined (QuoitBuilder *builder)
{
  QuoitLayout *layout = builder->layout;
  QuoitJoinedClaim *rows = g_new0 (QuoitJoinedClaim, builder->joined->len + 1);

  layout->n_joined = builder->joined->len;
  for (guint32 i = 0; i < layout->n_joined; i++)
    {
      QuoitClaimRef ref = g_array_index (builder->joined, QuoitClaimRef, i);
      const QuoitNodeClaim *claim = quoit_builder_claim (builder, ref);
      const char *const node_texts[] = { claim->name, claim->address, claim->identity };
      QuoitJoinedClaim *row = &rows[i];

      row->node = quoit_layout_find_id (layout, builder->parts[ref.part].ids[ref.claim]);
      row->pool = g_array_index (builder->pools, QuoitPoolDraft, builder->first_pool[ref.part] + claim->pool).rank;
      store_texts (layout, node_texts, &row->name, &row->address, &row->identity);
      row->slice = name_index (layout, claim->slice);
      row->incarnation = name_index (layout, claim->incarnation);
      row->kind = quoit_builder_claimed_kind (builder, ref);
      row->worker_id = (gint16) MIN (claim->worker_id, QUOIT_MAX_WORKER_ID);
      row->flags = claim->flags;
      row->state = claim->state;
    }
  layout->texts = g_realloc (layout->texts, layout->n_texts);
  layout->joined = rows;
  quoit_layout_sort_joined (layout);
}

QuoitLayout *
quoit_layout_new_checked (const QuoitLayoutPart *parts, guint n_parts, GError **error)
{
  QuoitBuilder builder = { .parts = parts, .n_parts = n_parts };
  g_autofree guint32 *sliceless_buckets = NULL;
  QuoitLayout *layout;

  if (!quoit_builder_check (&builder, error))
    return NULL;
  builder.layout = layout = g_new0 (QuoitLayout, 1);
  g_atomic_ref_count_init (&layout->refs);
  quoit_layout_init_caches (layout);
  layout->number = layout->version;
  if (!quoit_builder_gather (&builder, error))
    {
      quoit_builder_clear (&builder);
      quoit_ids_clear (&builder.ids);
      quoit_strings_free (layout->strings);
      quoit_claims_free (layout->kinds);
      quoit_recent_free (layout->eligible);
      quoit_recent_free (layout->zones);
      quoit_recent_free (layout->domains);
      quoit_recent_free (layout->place_costs);
      g_free (layout);
      return NULL;
    }
  build_pools (&builder);
  sliceless_buckets = build_slices (&builder);
  sort_nodes (&builder, sliceless_buckets);
  build_nodes (&builder);
  set_node_ranges (&builder, sliceless_buckets);
  quoit_layout_assign_ranks (layout);
  set_source_ranges (layout);
  build_joined (&builder);
  quoit_layout_index_names (layout);
  quoit_layout_create_frame (layout);
  quoit_layout_own_nodes (layout);
  quoit_builder_clear (&builder);
  return layout;
}

QuoitLayout *
quoit_layout_new (const QuoitLayoutPart *parts, guint n_parts)
{
  QuoitLayout *layout = quoit_layout_new_checked (parts, n_parts, NULL);

  g_assert (layout != NULL);
  return layout;
}

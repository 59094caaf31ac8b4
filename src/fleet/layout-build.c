/* SPDX-License-Identifier: Apache-2.0 */
/* Builds an immutable layout from drafts. Sorting is skipped when data is already in order: nodes loaded from a
 * database are, and loading must be fast. */
#include "fleet/layout-builder.h"

#include <string.h>

#include "base/natural.h"

static gint
by_pool_name (gconstpointer a, gconstpointer b, gpointer data)
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
by_slice_name (gconstpointer a, gconstpointer b, gpointer data)
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
ordered (guint n, GCompareDataFunc compare, gpointer data)
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
lay_pools (QuoitBuilder *builder)
{
  QuoitLayout *layout = builder->layout;
  g_autofree guint32 *order = ordered (builder->pools->len, by_pool_name, builder);
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
              QuoitPair pair = { quoit_claims_text (layout->kinds, claim->env[i].key),
                                 quoit_claims_text (layout->kinds, claim->env[i].value) };

              g_array_append_val (env, pair);
            }
        }
    }
  layout->env = (QuoitPair *) g_array_free (g_steal_pointer (&env), FALSE);
}

/* Builds slices and shelves, and assigns a bucket to each slice and to the slice-less nodes of each pool, in the
 * order of the nodes. */
static guint32 *
lay_slices (QuoitBuilder *builder)
{
  QuoitLayout *layout = builder->layout;
  guint n = builder->slices->len;
  g_autofree guint32 *order = ordered (n, by_slice_name, builder);
  guint32 *rest = g_new (guint32, layout->n_pools + 1); /* by pool: bucket of nodes without a slice */
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
      rest[p] = bucket++;
      pool->n_slices = at - pool->first_slice;
      pool->n_shelves = shelves->len - pool->first_shelf;
    }
  layout->n_shelves = shelves->len;
  layout->shelves = (QuoitShelf *) g_array_free (shelves, FALSE);
  return rest;
}

static gint
by_key_then_name (gconstpointer a, gconstpointer b, gpointer data)
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
order_nodes (QuoitBuilder *builder, const guint32 *rest)
{
  QuoitNodeDraft *nodes = (QuoitNodeDraft *) builder->nodes->data;
  gboolean sorted = TRUE;

  for (guint32 i = 0; i < builder->nodes->len; i++)
    {
      gint32 worker = quoit_builder_home (builder, &nodes[i])->worker_id;
      guint32 bucket = nodes[i].slice != QUOIT_NO_INDEX
                           ? g_array_index (builder->slices, QuoitSliceDraft, nodes[i].slice).bucket
                           : rest[g_array_index (builder->pools, QuoitPoolDraft, nodes[i].pool).rank];

      /* Nodes without a worker id come last in their slice. */
      nodes[i].key = (guint64) bucket << 32 | (worker < 0 ? G_MAXUINT32 : (guint32) worker);
      sorted = sorted && (i == 0 || by_key_then_name (&nodes[i - 1], &nodes[i], builder) <= 0);
    }
  if (!sorted)
    g_qsort_with_data (nodes, (gint) builder->nodes->len, sizeof *nodes, by_key_then_name, builder);
}

/* Sets @facts to the name, address and identity of a node. */
static void
facts_of (const QuoitBuilder *builder, const QuoitNodeDraft *draft, const char **facts)
{
  const QuoitNodeClaim *home = quoit_builder_home (builder, draft), *seen = quoit_builder_claim (builder, draft->seen);

  facts[0] = home->name;
  facts[1] = seen->address != NULL ? seen->address : home->address;
  facts[2] = seen->identity != NULL ? seen->identity : home->identity;
}

static gsize
bytes_of (const char *name, const char *address, const char *identity)
{
  gsize total = strlen (name) + 1;

  if (address != NULL && strcmp (address, name) != 0)
    total += strlen (address) + 1;
  return identity == NULL ? total : total + quoit_identity_room (identity);
}

static gsize
texts_of (const QuoitBuilder *builder)
{
  gsize total = 1;

  for (guint32 i = 0; i < builder->nodes->len; i++)
    {
      const char *facts[3];

      facts_of (builder, &g_array_index (builder->nodes, QuoitNodeDraft, i), facts);
      total += bytes_of (facts[0], facts[1], facts[2]);
    }
  for (guint32 i = 0; i < builder->joined->len; i++)
    {
      const QuoitNodeClaim *claim = quoit_builder_claim (builder, g_array_index (builder->joined, QuoitClaimRef, i));

      total += bytes_of (claim->name, claim->address, claim->identity);
    }
  return total;
}

/* Combines flags of several claims: the home decides which ids and names are assumed, the best-informed source
 * decides whether the node is lost, and the others are joined. */
static guint8
flags_of (const QuoitBuilder *builder, const QuoitNodeDraft *draft)
{
  return (quoit_builder_home (builder, draft)->flags & (QUOIT_NODE_ASSUMED_ID | QUOIT_NODE_ASSUMED_NAME))
         | (quoit_builder_claim (builder, draft->seen)->flags & QUOIT_NODE_LOST)
         | (draft->flags & (QUOIT_NODE_RAY_HEAD | QUOIT_NODE_EXTERNAL));
}

static void
keep_facts (QuoitLayout *layout, const char *const *facts, guint32 *name, guint32 *address, guint32 *identity)
{
  *name = quoit_layout_keep_text (layout, facts[0]);
  if (facts[1] != NULL)
    *address = strcmp (facts[1], facts[0]) == 0 ? *name : quoit_layout_keep_text (layout, facts[1]);
  if (facts[2] != NULL)
    *identity = quoit_layout_keep_identity (layout, facts[2]);
}

static void
lay_nodes (QuoitBuilder *builder)
{
  QuoitLayout *layout = builder->layout;
  gsize room = texts_of (builder);

  layout->n_nodes = builder->nodes->len;
  layout->nodes = g_new0 (QuoitNode, layout->n_nodes + 1);
  layout->texts = g_malloc (room);
  layout->texts[0] = '\0';
  layout->n_texts = 1;
  for (guint32 i = 0; i < layout->n_nodes; i++)
    {
      const QuoitNodeDraft *draft = &g_array_index (builder->nodes, QuoitNodeDraft, i);
      const QuoitNodeClaim *claim = quoit_builder_home (builder, draft);
      QuoitNode *node = &layout->nodes[i];
      const char *facts[3];

      facts_of (builder, draft, facts);
      keep_facts (layout, facts, &node->name, &node->address, &node->identity);
      node->slice = draft->slice == QUOIT_NO_INDEX
                        ? QUOIT_NO_INDEX
                        : g_array_index (builder->slices, QuoitSliceDraft, draft->slice).bucket;
      node->kind = quoit_builder_kind (builder, draft);
      node->id = builder->parts[draft->home.part].ids[draft->home.claim];
      node->worker_id = (gint16) MIN (claim->worker_id, QUOIT_MOST_WORKER_ID);
      node->flags = flags_of (builder, draft);
      node->claimed = (guint8) draft->state.state;
      layout->n_external += (node->flags & QUOIT_NODE_EXTERNAL) != 0;
      layout->end_id = MAX (layout->end_id, node->id + 1);
    }
  layout->ids = builder->ids;
  layout->index_of = g_new (guint32, layout->ids.n_slots + 1);
  memset (layout->index_of, 0xff, layout->ids.n_slots * sizeof *layout->index_of);
  for (guint32 i = 0; i < layout->n_nodes; i++)
    layout->index_of[quoit_ids_slot (&layout->ids, layout->nodes[i].id)] = i;
}

/* Sets the node ranges, and converts bucket numbers to slice indices. The slice-less nodes of each pool use one
 * bucket, so slice s of pool p has bucket s + p. */
static void
lay_ranges (QuoitBuilder *builder, const guint32 *rest)
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
      for (; at < layout->n_nodes && drafts[at].key >> 32 == rest[p]; at++)
        ;
      pool->n_nodes = at - pool->first_node;
    }
}

static void
lay_sources (QuoitLayout *layout)
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

/* The node ranges of the sources must be set. */
static void
lay_joined (QuoitBuilder *builder)
{
  QuoitLayout *layout = builder->layout;
  QuoitJoinedClaim *rows = g_new0 (QuoitJoinedClaim, builder->joined->len + 1);

  layout->n_joined = builder->joined->len;
  for (guint32 i = 0; i < layout->n_joined; i++)
    {
      QuoitClaimRef ref = g_array_index (builder->joined, QuoitClaimRef, i);
      const QuoitNodeClaim *claim = quoit_builder_claim (builder, ref);
      const char *const facts[] = { claim->name, claim->address, claim->identity };
      QuoitJoinedClaim *row = &rows[i];

      row->node = quoit_layout_find_id (layout, builder->parts[ref.part].ids[ref.claim]);
      row->pool = g_array_index (builder->pools, QuoitPoolDraft, builder->first_pool[ref.part] + claim->pool).rank;
      keep_facts (layout, facts, &row->name, &row->address, &row->identity);
      row->slice = name_index (layout, claim->slice);
      row->incarnation = name_index (layout, claim->incarnation);
      row->kind = quoit_builder_claimed_kind (builder, ref);
      row->worker_id = (gint16) MIN (claim->worker_id, QUOIT_MOST_WORKER_ID);
      row->flags = claim->flags;
      row->state = claim->state;
    }
  layout->texts = g_realloc (layout->texts, layout->n_texts);
  layout->joined = rows;
  quoit_layout_order_joined (layout);
}

/* Numbers are unique in the process, so that two ledgers never share one. */
static guint64
take_number (void)
{
  static GMutex lock;
  static guint64 last;
  guint64 number;

  g_mutex_lock (&lock);
  number = ++last;
  g_mutex_unlock (&lock);
  return number;
}

QuoitLayout *
quoit_layout_new_checked (const QuoitLayoutPart *parts, guint n_parts, GError **error)
{
  QuoitBuilder builder = { .parts = parts, .n_parts = n_parts };
  g_autofree guint32 *rest = NULL;
  QuoitLayout *layout;

  if (!quoit_builder_check (&builder, error))
    return NULL;
  builder.layout = layout = g_new0 (QuoitLayout, 1);
  g_atomic_ref_count_init (&layout->refs);
  layout->number = take_number ();
  if (!quoit_builder_gather (&builder, error))
    {
      quoit_builder_clear (&builder);
      quoit_ids_clear (&builder.ids);
      quoit_strings_free (layout->strings);
      quoit_claims_free (layout->kinds);
      g_free (layout);
      return NULL;
    }
  lay_pools (&builder);
  rest = lay_slices (&builder);
  order_nodes (&builder, rest);
  lay_nodes (&builder);
  lay_ranges (&builder, rest);
  quoit_layout_rank (layout);
  lay_sources (layout);
  lay_joined (&builder);
  quoit_layout_index_names (layout);
  quoit_layout_seal (layout);
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

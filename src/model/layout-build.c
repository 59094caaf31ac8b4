/* SPDX-License-Identifier: Apache-2.0 */
/* From claims to a sealed layout. Most of the care is in not sorting what is in order already: nodes come back from a
 * database as they were laid out, and that is the case that must be fast. */
#include "model/layout-private.h"

#include <stdlib.h>
#include <string.h>

#include "base/natural.h"
#include "model/kind.h"
#include "model/source-kinds.h"

typedef struct {
  guint32 part, pool_claim; /* where it comes from */
  QuoitStringId name;
  guint32 rank; /* its place in natural order */
} PoolDraft;

typedef struct {
  guint32 pool; /* draft */
  QuoitStringId name, incarnation;
  guint32 class_index;
  guint32 bucket; /* its place among all slices and the rests of pools */
} SliceDraft;

typedef struct {
  guint32 part, claim;
} ClaimRef;

typedef struct {
  guint64 key;         /* bucket, then worker id */
  ClaimRef home;       /* which says where it stands */
  ClaimRef seen;       /* which knows best what it is; mostly the same */
  ClaimRef kind;       /* likewise */
  guint32 slice;       /* draft, or QUOIT_NO_INDEX */
  guint32 pool;        /* draft */
  ClaimRef labels;     /* Kubernetes' claim, where another says what the node is; part QUOIT_NO_INDEX: there is none */
  guint32 joined_kind; /* of the layout: that kind, with the labels that Kubernetes adds; QUOIT_NO_INDEX: as it is */
  QuoitClaimedState state;
  guint8 flags; /* of all its claims */
} NodeDraft;

typedef struct {
  QuoitLayout *layout;
  const QuoitLayoutPart *parts;
  guint n_parts;
  guint *part_order;   /* parts by natural order of their names */
  guint32 **kind_of;   /* part, claimed kind -> kind of the layout */
  guint32 *first_pool; /* part -> its first pool draft */
  GArray *pools, *slices, *nodes;
  GArray *joined;          /* of ClaimRef: each claim of a node that has several */
  GHashTable *slice_index; /* (pool draft, name) -> slice draft + 1 */
} Builder;

static const QuoitNodeClaim *
claim_at (const Builder *builder, ClaimRef ref)
{
  guint32 n;

  return &quoit_claims_nodes (builder->parts[ref.part].claims, &n)[ref.claim];
}

static const QuoitNodeClaim *
claim_of (const Builder *builder, const NodeDraft *draft)
{
  return claim_at (builder, draft->home);
}

static guint32
kind_at (const Builder *builder, ClaimRef ref)
{
  return builder->kind_of[ref.part][claim_at (builder, ref)->kind];
}

static guint32
kind_of_draft (const Builder *builder, const NodeDraft *draft)
{
  return draft->joined_kind != QUOIT_NO_INDEX ? draft->joined_kind : kind_at (builder, draft->kind);
}

static gint
by_part_name (gconstpointer a, gconstpointer b, gpointer data)
{
  const Builder *builder = data;

  return quoit_natural_compare (quoit_claims_source (builder->parts[*(const guint *) a].claims),
                                quoit_claims_source (builder->parts[*(const guint *) b].claims));
}

static void
gather_kinds (Builder *builder)
{
  QuoitLayout *layout = builder->layout;

  layout->kinds = quoit_claims_new ("", QUOIT_SOURCE_KIND_FLEET);
  builder->kind_of = g_new0 (guint32 *, builder->n_parts);
  for (guint p = 0; p < builder->n_parts; p++)
    {
      const QuoitClaims *claims = builder->parts[builder->part_order[p]].claims;
      guint32 n = quoit_claims_n_kinds (claims);
      guint32 *map = builder->kind_of[builder->part_order[p]] = g_new (guint32, n + 1);

      for (guint32 i = 0; i < n; i++)
        map[i] = quoit_claims_kind (layout->kinds, quoit_claims_kind_at (claims, i), NULL);
    }
}

static void
gather_pools (Builder *builder)
{
  builder->first_pool = g_new (guint32, builder->n_parts);
  for (guint p = 0; p < builder->n_parts; p++)
    {
      const QuoitClaims *claims = builder->parts[builder->part_order[p]].claims;

      builder->first_pool[builder->part_order[p]] = builder->pools->len;
      for (guint32 i = 0; i < quoit_claims_n_pools (claims); i++)
        {
          PoolDraft draft = { .part = builder->part_order[p], .pool_claim = i };

          draft.name = quoit_strings_intern (builder->layout->strings, quoit_claims_pool_at (claims, i)->name);
          g_array_append_val (builder->pools, draft);
        }
    }
}

static guint32
slice_draft (Builder *builder, guint32 pool, const QuoitNodeClaim *claim)
{
  SliceDraft draft = { .pool = pool, .class_index = QUOIT_NO_INDEX };
  guint64 *key;
  gpointer found;

  draft.name = quoit_strings_intern (builder->layout->strings, claim->slice);
  draft.incarnation
      = quoit_strings_intern (builder->layout->strings, claim->incarnation != NULL ? claim->incarnation : "");
  if (builder->slices->len > 0)
    {
      const SliceDraft *last = &g_array_index (builder->slices, SliceDraft, builder->slices->len - 1);

      if (last->pool == pool && last->name.index == draft.name.index)
        return builder->slices->len - 1;
    }
  key = g_new (guint64, 1);
  *key = (guint64) pool << 32 | draft.name.index;
  found = g_hash_table_lookup (builder->slice_index, key);
  if (found != NULL)
    return g_free (key), GPOINTER_TO_UINT (found) - 1;

  g_array_append_val (builder->slices, draft);
  g_hash_table_insert (builder->slice_index, key, GUINT_TO_POINTER (builder->slices->len));
  return builder->slices->len - 1;
}

static QuoitSourceKind
source_kind_of (const Builder *builder, ClaimRef ref)
{
  return quoit_claims_source_kind (builder->parts[ref.part].claims);
}

static gboolean
knows_better (const Builder *builder, ClaimRef ref, ClaimRef than)
{
  return quoit_source_kind_knows_better (source_kind_of (builder, ref), source_kind_of (builder, than));
}

/* Of a dead node Ray tells no resources: then what another source says of them stays. */
static gboolean
knows_a_kind (const Builder *builder, ClaimRef ref)
{
  const QuoitNodeClaim *claim = claim_at (builder, ref);

  return claim->state != QUOIT_NODE_DEAD
         || !quoit_node_kind_is_bare (quoit_claims_kind_at (builder->parts[ref.part].claims, claim->kind));
}

static void
join_claim (const Builder *builder, NodeDraft *draft, ClaimRef ref)
{
  QuoitSourceKind kind = source_kind_of (builder, ref);

  quoit_claimed_state_add (&draft->state, kind, claim_at (builder, ref));
  if (knows_better (builder, ref, draft->seen))
    draft->seen = ref;
  if (knows_better (builder, ref, draft->kind) && knows_a_kind (builder, ref))
    draft->kind = ref;
  if (kind == QUOIT_SOURCE_KIND_K8S_NODES)
    draft->labels = ref;
  draft->flags |= claim_at (builder, ref)->flags;
}

static void
gather_node (Builder *builder, ClaimRef ref)
{
  const QuoitNodeClaim *claim = claim_at (builder, ref);
  NodeDraft draft = { .home = ref,
                      .seen = ref,
                      .kind = ref,
                      .labels = { QUOIT_NO_INDEX, 0 },
                      .joined_kind = QUOIT_NO_INDEX,
                      .flags = claim->flags };

  quoit_claimed_state_add (&draft.state, source_kind_of (builder, ref), claim);
  draft.pool = builder->first_pool[ref.part] + claim->pool;
  draft.slice = claim->slice == NULL ? QUOIT_NO_INDEX : slice_draft (builder, draft.pool, claim);
  g_array_append_val (builder->nodes, draft);
}

static void
gather_nodes (Builder *builder)
{
  g_autofree QuoitClaimants *claimants = quoit_layout_claimants (builder->parts, builder->n_parts);
  g_autoptr (GHashTable) drafts = g_hash_table_new (NULL, NULL); /* id -> draft + 1, of nodes with several claims */
  guint32 total = 0, n;

  for (guint p = 0; p < builder->n_parts; p++)
    {
      quoit_claims_nodes (builder->parts[p].claims, &n);
      total += n;
    }
  builder->nodes = g_array_sized_new (FALSE, FALSE, sizeof (NodeDraft), total);
  builder->joined = g_array_new (FALSE, FALSE, sizeof (ClaimRef));
  for (guint p = 0; p < builder->n_parts; p++)
    {
      guint part = builder->part_order[p];
      QuoitSourceKind kind = quoit_claims_source_kind (builder->parts[part].claims);

      quoit_claims_nodes (builder->parts[part].claims, &n);
      for (guint32 i = 0; i < n; i++)
        {
          guint32 id = builder->parts[part].ids[i];
          ClaimRef ref = { part, i };
          gboolean stands_here = claimants == NULL || claimants[id].first == kind;

          if (stands_here)
            gather_node (builder, ref);
          if (claimants == NULL || claimants[id].n < 2)
            continue;
          g_array_append_val (builder->joined, ref);
          if (stands_here)
            g_hash_table_insert (drafts, GUINT_TO_POINTER (id), GUINT_TO_POINTER (builder->nodes->len));
        }
    }
  for (guint i = 0; i < builder->joined->len; i++)
    {
      ClaimRef ref = g_array_index (builder->joined, ClaimRef, i);
      gpointer id = GUINT_TO_POINTER (builder->parts[ref.part].ids[ref.claim]);
      guint draft = GPOINTER_TO_UINT (g_hash_table_lookup (drafts, id)) - 1;

      join_claim (builder, &g_array_index (builder->nodes, NodeDraft, draft), ref);
    }
}

/* How a machine was bought and where it stands Kubernetes alone knows: requests select by it, whoever else says what
 * the machine is. */
static void
join_labels (Builder *builder)
{
  g_autoptr (GHashTable) known
      = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL); /* pair -> kind + 1 */

  for (guint i = 0; builder->joined->len > 0 && i < builder->nodes->len; i++)
    {
      NodeDraft *draft = &g_array_index (builder->nodes, NodeDraft, i);
      guint32 kind = kind_at (builder, draft->kind), labels;
      guint64 pair, *key;
      gpointer joined;

      if (draft->labels.part == QUOIT_NO_INDEX)
        continue;
      labels = kind_at (builder, draft->labels);
      pair = (guint64) kind << 32 | labels;
      joined = g_hash_table_lookup (known, &pair);
      if (joined == NULL)
        {
          key = g_new (guint64, 1);
          *key = pair;
          joined = GUINT_TO_POINTER (quoit_layout_kind_with_labels (builder->layout, kind, labels) + 1);
          g_hash_table_insert (known, key, joined);
        }
      draft->joined_kind = GPOINTER_TO_UINT (joined) - 1;
    }
}

static guint32
class_named_by (const Builder *builder, const NodeDraft *node)
{
  return builder->layout->kind_class[kind_of_draft (builder, node)].class_index;
}

/* Counts the votes of the slices in @contested, whose nodes name more than one class. */
static void
count_votes (Builder *builder, const guint8 *contested)
{
  g_autoptr (GHashTable) votes = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  g_autofree guint32 *most = g_new0 (guint32, builder->slices->len + 1);

  for (guint32 i = 0; i < builder->nodes->len; i++)
    {
      const NodeDraft *node = &g_array_index (builder->nodes, NodeDraft, i);
      SliceDraft *slice;
      guint64 key;
      guint count;

      if (node->slice == QUOIT_NO_INDEX || !contested[node->slice] || class_named_by (builder, node) == QUOIT_NO_INDEX)
        continue;
      slice = &g_array_index (builder->slices, SliceDraft, node->slice);
      key = (guint64) node->slice << 32 | class_named_by (builder, node);
      count = GPOINTER_TO_UINT (g_hash_table_lookup (votes, &key)) + 1;
      g_hash_table_replace (votes, g_memdup2 (&key, sizeof key), GUINT_TO_POINTER (count));
      if (count > most[node->slice] || (count == most[node->slice] && (guint32) key < slice->class_index))
        slice->class_index = (guint32) key;
      most[node->slice] = MAX (most[node->slice], count);
    }
}

/* A slice is of the class that most of its nodes name; of equals the class of the lower index. Dead nodes vote too:
 * what the class is must not depend on what may change without an import. */
static void
vote_classes (Builder *builder)
{
  g_autofree guint8 *contested = g_new0 (guint8, builder->slices->len + 1);
  gboolean any = FALSE;

  for (guint32 i = 0; i < builder->nodes->len; i++)
    {
      const NodeDraft *node = &g_array_index (builder->nodes, NodeDraft, i);
      SliceDraft *slice;

      if (node->slice == QUOIT_NO_INDEX || class_named_by (builder, node) == QUOIT_NO_INDEX)
        continue;
      slice = &g_array_index (builder->slices, SliceDraft, node->slice);
      if (slice->class_index == QUOIT_NO_INDEX)
        slice->class_index = class_named_by (builder, node);
      else if (slice->class_index != class_named_by (builder, node))
        any = contested[node->slice] = TRUE;
    }
  if (any)
    count_votes (builder, contested);
}

static gint
by_pool_name (gconstpointer a, gconstpointer b, gpointer data)
{
  const Builder *builder = data;
  const PoolDraft *x = &g_array_index (builder->pools, PoolDraft, *(const guint32 *) a);
  const PoolDraft *y = &g_array_index (builder->pools, PoolDraft, *(const guint32 *) b);

  if (x->part != y->part)
    return builder->first_pool[x->part] < builder->first_pool[y->part] ? -1 : 1;
  return quoit_natural_compare (quoit_layout_text (builder->layout, x->name),
                                quoit_layout_text (builder->layout, y->name));
}

static gint
by_slice_name (gconstpointer a, gconstpointer b, gpointer data)
{
  const Builder *builder = data;
  const SliceDraft *x = &g_array_index (builder->slices, SliceDraft, *(const guint32 *) a);
  const SliceDraft *y = &g_array_index (builder->slices, SliceDraft, *(const guint32 *) b);
  guint32 p = g_array_index (builder->pools, PoolDraft, x->pool).rank;
  guint32 q = g_array_index (builder->pools, PoolDraft, y->pool).rank;

  if (p != q)
    return p < q ? -1 : 1;
  if (x->class_index != y->class_index)
    return x->class_index < y->class_index ? -1 : 1;
  return quoit_natural_compare (quoit_layout_text (builder->layout, x->name),
                                quoit_layout_text (builder->layout, y->name));
}

/* Indices 0..n-1 in the order of @compare; sorting is skipped where they are in order. */
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
lay_pools (Builder *builder)
{
  QuoitLayout *layout = builder->layout;
  g_autofree guint32 *order = ordered (builder->pools->len, by_pool_name, builder);
  g_autoptr (GArray) env = g_array_sized_new (FALSE, FALSE, sizeof (QuoitPair), 1); /* never NULL: it is pointed into */
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
          PoolDraft *draft = &g_array_index (builder->pools, PoolDraft, order[at]);
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

/* Slices, shelves, and a bucket for each slice and for the rest of each pool, in the order in which nodes will stand.
 */
static guint32 *
lay_slices (Builder *builder)
{
  QuoitLayout *layout = builder->layout;
  guint n = builder->slices->len;
  g_autofree guint32 *order = ordered (n, by_slice_name, builder);
  guint32 *rest = g_new (guint32, layout->n_pools + 1); /* pool -> bucket of the nodes in no slice */
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
          SliceDraft *draft = &g_array_index (builder->slices, SliceDraft, order[at]);
          QuoitShelf fresh = { .pool = p, .class_index = draft->class_index, .first_slice = at };

          if (g_array_index (builder->pools, PoolDraft, draft->pool).rank != p)
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
  const Builder *builder = data;
  const NodeDraft *x = a, *y = b;
  const QuoitNodeClaim *p, *q;
  int order;

  if (x->key != y->key)
    return x->key < y->key ? -1 : 1;
  p = claim_of (builder, x);
  q = claim_of (builder, y);
  order = quoit_natural_compare (p->name, q->name);
  if (order != 0 || p->identity == NULL || q->identity == NULL)
    return order;
  return strcmp (p->identity, q->identity);
}

static void
order_nodes (Builder *builder, const guint32 *rest)
{
  NodeDraft *nodes = (NodeDraft *) builder->nodes->data;
  gboolean sorted = TRUE;

  for (guint32 i = 0; i < builder->nodes->len; i++)
    {
      gint32 worker = claim_of (builder, &nodes[i])->worker_id;
      guint32 bucket = nodes[i].slice != QUOIT_NO_INDEX
                           ? g_array_index (builder->slices, SliceDraft, nodes[i].slice).bucket
                           : rest[g_array_index (builder->pools, PoolDraft, nodes[i].pool).rank];

      /* Nodes without a worker id stand behind the others of their slice. */
      nodes[i].key = (guint64) bucket << 32 | (worker < 0 ? G_MAXUINT32 : (guint32) worker);
      sorted = sorted && (i == 0 || by_key_then_name (&nodes[i - 1], &nodes[i], builder) <= 0);
    }
  if (!sorted)
    g_qsort_with_data (nodes, (gint) builder->nodes->len, sizeof *nodes, by_key_then_name, builder);
}

/* What is told of a node, in this order: name, address, identity. */
static void
facts_of (const Builder *builder, const NodeDraft *draft, const char **facts)
{
  const QuoitNodeClaim *home = claim_of (builder, draft), *seen = claim_at (builder, draft->seen);

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
texts_of (const Builder *builder)
{
  gsize total = 1;

  for (guint32 i = 0; i < builder->nodes->len; i++)
    {
      const char *facts[3];

      facts_of (builder, &g_array_index (builder->nodes, NodeDraft, i), facts);
      total += bytes_of (facts[0], facts[1], facts[2]);
    }
  for (guint32 i = 0; i < builder->joined->len; i++)
    {
      const QuoitNodeClaim *claim = claim_at (builder, g_array_index (builder->joined, ClaimRef, i));

      total += bytes_of (claim->name, claim->address, claim->identity);
    }
  return total;
}

/* What only one of several sources can say: the place is the first one's, the loss the last one's. */
static guint8
flags_of (const Builder *builder, const NodeDraft *draft)
{
  return (claim_of (builder, draft)->flags & (QUOIT_NODE_ASSUMED_ID | QUOIT_NODE_ASSUMED_NAME))
         | (claim_at (builder, draft->seen)->flags & QUOIT_NODE_LOST)
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
lay_nodes (Builder *builder)
{
  QuoitLayout *layout = builder->layout;
  gsize room = texts_of (builder);
  guint32 greatest_id = 0;

  layout->n_nodes = builder->nodes->len;
  layout->nodes = g_new0 (QuoitNode, layout->n_nodes + 1);
  g_assert (room <= G_MAXUINT32);
  layout->texts = g_malloc (room);
  layout->texts[0] = '\0';
  layout->n_texts = 1;
  for (guint32 i = 0; i < layout->n_nodes; i++)
    {
      const NodeDraft *draft = &g_array_index (builder->nodes, NodeDraft, i);
      const QuoitNodeClaim *claim = claim_of (builder, draft);
      QuoitNode *node = &layout->nodes[i];
      const char *facts[3];

      facts_of (builder, draft, facts);
      keep_facts (layout, facts, &node->name, &node->address, &node->identity);
      node->slice = draft->slice == QUOIT_NO_INDEX ? QUOIT_NO_INDEX
                                                   : g_array_index (builder->slices, SliceDraft, draft->slice).bucket;
      node->kind = kind_of_draft (builder, draft);
      node->id = builder->parts[draft->home.part].ids[draft->home.claim];
      node->worker_id = (gint16) MIN (claim->worker_id, QUOIT_MOST_WORKER_ID);
      node->flags = flags_of (builder, draft);
      node->claimed = (guint8) draft->state.state;
      layout->n_external += (node->flags & QUOIT_NODE_EXTERNAL) != 0;
      greatest_id = MAX (greatest_id, node->id);
    }
  layout->n_ids = greatest_id + 1;
  layout->by_id = g_new (guint32, layout->n_ids);
  memset (layout->by_id, 0xff, layout->n_ids * sizeof *layout->by_id);
  for (guint32 i = 0; i < layout->n_nodes; i++)
    {
      guint32 *slot = &layout->by_id[layout->nodes[i].id];

      g_assert (layout->nodes[i].id > 0 && *slot == QUOIT_NO_INDEX);
      *slot = i;
    }
}

/* The ranges that contain nodes, and from bucket numbers to slice indices: the rest of each pool took one bucket, so
 * the slices of pool p have their own number plus p. */
static void
lay_ranges (Builder *builder, const guint32 *rest)
{
  QuoitLayout *layout = builder->layout;
  const NodeDraft *drafts = (const NodeDraft *) builder->nodes->data;
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

/* Ranks: one bit for each (class, number of free slices, shelf) that can be, rows of equal numbers in natural order of
 * the pools. "The fewest that suffice" is then the next bit from the beginning of a row, for any shape of the fleet: a
 * shelf of n slices has n ranks, so that there are as many ranks as slices. */
static void
lay_ranks (QuoitLayout *layout)
{
  guint32 n_rows = 0, n_ranks = 0, n_positions = 0;
  g_autofree guint32 *next = NULL;

  for (guint32 s = 0; s < layout->n_shelves; s++)
    {
      QuoitShelf *shelf = &layout->shelves[s];
      QuoitClass *class;

      shelf->first_position = n_positions;
      n_positions += shelf->n_slices;
      if (shelf->class_index == QUOIT_NO_INDEX)
        continue;
      class = &layout->classes[shelf->class_index];
      class->n_slices += shelf->n_slices;
      class->largest = MAX (class->largest, shelf->n_slices);
    }
  for (guint32 c = 0; c < layout->n_classes; c++)
    {
      layout->classes[c].first_rank = n_ranks;
      layout->classes[c].first_row = n_rows;
      n_ranks += layout->classes[c].n_slices;
      n_rows += layout->classes[c].largest + 2;
    }
  layout->n_ranks = n_ranks;
  layout->rows = g_new0 (guint32, n_rows + 1);
  layout->positions = g_new0 (guint32, n_positions + 1);
  layout->rank_shelf = g_new0 (guint32, n_ranks + 1);

  /* rows first as lengths: a shelf of n slices stands once in each of the rows 1 to n */
  for (guint32 s = 0; s < layout->n_shelves; s++)
    if (layout->shelves[s].class_index != QUOIT_NO_INDEX)
      {
        const QuoitClass *class = &layout->classes[layout->shelves[s].class_index];

        for (guint32 count = 1; count <= layout->shelves[s].n_slices; count++)
          layout->rows[class->first_row + count]++;
      }
  for (guint32 c = 0; c < layout->n_classes; c++)
    {
      const QuoitClass *class = &layout->classes[c];
      guint32 at = class->first_rank;

      for (guint32 count = 0; count <= class->largest + 1; count++)
        {
          guint32 length = layout->rows[class->first_row + count];

          layout->rows[class->first_row + count] = at;
          at += length;
        }
    }
  next = g_memdup2 (layout->rows, (n_rows + 1) * sizeof *next);
  for (guint32 s = 0; s < layout->n_shelves; s++)
    if (layout->shelves[s].class_index != QUOIT_NO_INDEX)
      {
        const QuoitShelf *shelf = &layout->shelves[s];
        const QuoitClass *class = &layout->classes[shelf->class_index];

        for (guint32 count = 1; count <= shelf->n_slices; count++)
          {
            guint32 rank = next[class->first_row + count]++;

            layout->positions[shelf->first_position + count - 1] = rank;
            layout->rank_shelf[rank] = s;
          }
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

/* The sources' ranges of nodes are known. */
static void
lay_joined (Builder *builder)
{
  QuoitLayout *layout = builder->layout;
  QuoitJoinedClaim *rows = g_new0 (QuoitJoinedClaim, builder->joined->len + 1);

  layout->n_joined = builder->joined->len;
  for (guint32 i = 0; i < layout->n_joined; i++)
    {
      ClaimRef ref = g_array_index (builder->joined, ClaimRef, i);
      const QuoitNodeClaim *claim = claim_at (builder, ref);
      const char *const facts[] = { claim->name, claim->address, claim->identity };
      QuoitJoinedClaim *row = &rows[i];

      row->node = layout->by_id[builder->parts[ref.part].ids[ref.claim]];
      row->pool = g_array_index (builder->pools, PoolDraft, builder->first_pool[ref.part] + claim->pool).rank;
      keep_facts (layout, facts, &row->name, &row->address, &row->identity);
      row->slice = name_index (layout, claim->slice);
      row->incarnation = name_index (layout, claim->incarnation);
      row->kind = kind_at (builder, ref);
      row->worker_id = (gint16) MIN (claim->worker_id, QUOIT_MOST_WORKER_ID);
      row->flags = claim->flags;
      row->state = claim->state;
    }
  layout->texts = g_realloc (layout->texts, layout->n_texts);
  layout->joined = rows;
  quoit_layout_order_joined (layout);
}

static void
builder_free (Builder *builder)
{
  for (guint p = 0; p < builder->n_parts; p++)
    g_free (builder->kind_of[p]);
  g_free (builder->kind_of);
  g_free (builder->part_order);
  g_free (builder->first_pool);
  g_array_unref (builder->pools);
  g_array_unref (builder->slices);
  g_array_unref (builder->nodes);
  g_array_unref (builder->joined);
  g_hash_table_unref (builder->slice_index);
}

static void
count_name (const char *name, guint32 *n, gsize *bytes)
{
  if (name == NULL)
    return;
  ++*n;
  *bytes += strlen (name) + 1;
}

enum { HEADS = 64, HEAD_BYTES = 24 }; /* "TPU-v5litepod-256-head" */

/* Room for the names of sources, pools, slices and heads, and hardly more: a layout lives long, and what growing by
 * half takes too much stays taken. Claims have one copy of a slice's name, and the nodes of a slice mostly stand
 * together. There may be as many kinds as nodes, but their heads are few. */
static QuoitStrings *
strings_for (const QuoitLayoutPart *parts, guint n_parts)
{
  guint32 n = 1, n_nodes, n_heads = 0, total = 0;
  gsize bytes = 1;

  for (guint p = 0; p < n_parts; p++)
    {
      const QuoitNodeClaim *nodes = quoit_claims_nodes (parts[p].claims, &n_nodes);
      const char *slice = NULL, *incarnation = NULL;

      total += n_nodes;
      n_heads = MIN (n_heads + quoit_claims_n_kinds (parts[p].claims), HEADS);
      count_name (quoit_claims_source (parts[p].claims), &n, &bytes);
      for (guint32 i = 0; i < quoit_claims_n_pools (parts[p].claims); i++)
        count_name (quoit_claims_pool_at (parts[p].claims, i)->name, &n, &bytes);
      for (guint32 i = 0; i < n_nodes; i++)
        {
          if (nodes[i].slice != slice)
            count_name (nodes[i].slice, &n, &bytes);
          if (nodes[i].incarnation != incarnation)
            count_name (nodes[i].incarnation, &n, &bytes);
          slice = nodes[i].slice;
          incarnation = nodes[i].incarnation;
        }
    }
  /* In a listing without order a slice was counted once a node: rather let the table grow then. */
  return n > total / 2 ? quoit_strings_new (total / 4, 0)
                       : quoit_strings_new (n + n_heads, bytes + (gsize) n_heads * HEAD_BYTES);
}

QuoitLayout *
quoit_layout_new (const QuoitLayoutPart *parts, guint n_parts)
{
  QuoitLayout *layout = g_new0 (QuoitLayout, 1);
  Builder builder = { .layout = layout, .parts = parts, .n_parts = n_parts };
  g_autofree guint32 *rest = NULL;

  g_atomic_ref_count_init (&layout->refs);
  layout->strings = strings_for (parts, n_parts);
  builder.part_order = g_new (guint, n_parts + 1);
  for (guint p = 0; p < n_parts; p++)
    builder.part_order[p] = p;
  g_qsort_with_data (builder.part_order, (gint) n_parts, sizeof *builder.part_order, by_part_name, &builder);
  builder.pools = g_array_new (FALSE, TRUE, sizeof (PoolDraft));
  builder.slices = g_array_new (FALSE, TRUE, sizeof (SliceDraft));
  builder.slice_index = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);

  gather_kinds (&builder);
  gather_pools (&builder);
  gather_nodes (&builder);
  join_labels (&builder);
  quoit_layout_classify_kinds (layout);
  vote_classes (&builder);
  lay_pools (&builder);
  rest = lay_slices (&builder);
  order_nodes (&builder, rest);
  lay_nodes (&builder);
  lay_ranges (&builder, rest);
  lay_ranks (layout);
  lay_sources (layout);
  lay_joined (&builder);
  quoit_layout_index_names (layout);
  quoit_layout_seal (layout);
  builder_free (&builder);
  return layout;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Collects claims into drafts: all claims of one machine become one node, and a slice gets the class that most of
 * its nodes name. */
#include "fleet/layout-builder.h"

#include <string.h>

#include "base/natural.h"
#include "fleet/kind.h"

static void
count_name (const char *name, guint32 *n, gsize *bytes)
{
  if (name == NULL)
    return;
  ++*n;
  *bytes += strlen (name) + 1;
}

enum { HEADS = 64, HEAD_BYTES = 24 }; /* "TPU-v5litepod-256-head" */

/* Estimates the size of the names of sources, pools, slices and heads closely, because a layout lives long and
 * growing wastes memory. Claims store the name of a slice once, and the nodes of a slice are usually adjacent. There
 * may be as many kinds as nodes, but they have few different heads. */
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
  /* In an unsorted list, a slice was counted once per node. Let the table grow instead. */
  return n > total / 2 ? quoit_strings_new (total / 4, 0)
                       : quoit_strings_new (n + n_heads, bytes + (gsize) n_heads * HEAD_BYTES);
}

static gint
by_part_name (gconstpointer a, gconstpointer b, gpointer data)
{
  const QuoitBuilder *builder = data;

  return quoit_natural_compare (quoit_claims_source (builder->parts[*(const guint *) a].claims),
                                quoit_claims_source (builder->parts[*(const guint *) b].claims));
}

/* Sorts the parts by source name in natural order. */
static void
order_parts (QuoitBuilder *builder)
{
  builder->part_order = g_new (guint, builder->n_parts + 1);
  for (guint p = 0; p < builder->n_parts; p++)
    builder->part_order[p] = p;
  g_qsort_with_data (builder->part_order, (gint) builder->n_parts, sizeof *builder->part_order, by_part_name, builder);
}

/* --- validation --- */

/* Limits joined kinds: each kind of one source can combine with each kind of another, so they can be far more than
 * the claimed kinds. */
enum { MOST_JOINED_LABELS = 1 << 24 };
/* Limits the texts of claims: offsets in a layout have 32 bits, and it stores each text at most twice. */
enum { MOST_CLAIMED_BYTES = 7 << 28 };

static gboolean
check_sources (const QuoitBuilder *builder, GError **error)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  gsize bytes = 0;

  for (guint p = 0; p < builder->n_parts; p++)
    {
      const char *name = quoit_claims_source (builder->parts[p].claims);

      bytes += quoit_claims_bytes (builder->parts[p].claims);
      if (!g_hash_table_add (names, (gpointer) name))
        return quoit_fail (error, QUOIT_ERROR_DAMAGED, "source '%s' is there twice", name);
    }
  return bytes <= MOST_CLAIMED_BYTES
         || quoit_fail (error, QUOIT_ERROR_DAMAGED, "the names of nodes have %zu bytes together: expected at most %d",
                        bytes, MOST_CLAIMED_BYTES);
}

/* Determines the claimants of each id. Only one source of each kind may claim it. */
static gboolean
check_claimants (QuoitBuilder *builder, GError **error)
{
  guint32 n_nodes = 0, n;

  for (guint p = 0; p < builder->n_parts; p++)
    {
      const QuoitLayoutPart *part = &builder->parts[p];
      QuoitClaimants bit = (QuoitClaimants) (1u << quoit_claims_source_kind (part->claims));

      quoit_claims_nodes (part->claims, &n);
      for (guint32 i = 0; i < n; i++)
        {
          QuoitClaimants *claimants = &builder->claimants[quoit_ids_slot (&builder->ids, part->ids[i])];

          if (part->ids[i] == 0 || part->ids[i] >= G_MAXINT32 || (*claimants & bit) != 0)
            return quoit_fail (error, QUOIT_ERROR_DAMAGED,
                               "node id %u of source '%s': expected a number from 1 that no other node of it, or of "
                               "a source of its kind, has",
                               part->ids[i], quoit_claims_source (part->claims));
          n_nodes += *claimants == 0;
          *claimants |= bit;
        }
    }
  return n_nodes <= QUOIT_MOST_NODES
         || quoit_fail (error, QUOIT_ERROR_DAMAGED, "%u nodes: expected at most %d", n_nodes, QUOIT_MOST_NODES);
}

gboolean
quoit_builder_check (QuoitBuilder *builder, GError **error)
{
  g_autofree QuoitIdList *lists = g_new (QuoitIdList, builder->n_parts + 1);
  gboolean ok;

  for (guint p = 0; p < builder->n_parts; p++)
    {
      lists[p].ids = builder->parts[p].ids;
      quoit_claims_nodes (builder->parts[p].claims, &lists[p].n);
    }
  quoit_ids_init (&builder->ids, lists, builder->n_parts);
  builder->claimants = g_new0 (QuoitClaimants, builder->ids.n_slots + 1);
  ok = check_sources (builder, error) && check_claimants (builder, error);
  if (!ok)
    {
      quoit_ids_clear (&builder->ids);
      g_free (builder->claimants);
    }
  return ok;
}

/* --- collection --- */

static void
gather_kinds (QuoitBuilder *builder)
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
gather_pools (QuoitBuilder *builder)
{
  builder->first_pool = g_new (guint32, builder->n_parts);
  for (guint p = 0; p < builder->n_parts; p++)
    {
      const QuoitClaims *claims = builder->parts[builder->part_order[p]].claims;

      builder->first_pool[builder->part_order[p]] = builder->pools->len;
      for (guint32 i = 0; i < quoit_claims_n_pools (claims); i++)
        {
          QuoitPoolDraft draft = { .part = builder->part_order[p], .pool_claim = i };

          draft.name = quoit_strings_intern (builder->layout->strings, quoit_claims_pool_at (claims, i)->name);
          g_array_append_val (builder->pools, draft);
        }
    }
}

static guint32
slice_draft (QuoitBuilder *builder, guint32 pool, const QuoitNodeClaim *claim)
{
  QuoitSliceDraft draft = { .pool = pool, .class_index = QUOIT_NO_INDEX };
  guint64 *key;
  gpointer found;

  draft.name = quoit_strings_intern (builder->layout->strings, claim->slice);
  draft.incarnation
      = quoit_strings_intern (builder->layout->strings, claim->incarnation != NULL ? claim->incarnation : "");
  if (builder->slices->len > 0)
    {
      const QuoitSliceDraft *last = &g_array_index (builder->slices, QuoitSliceDraft, builder->slices->len - 1);

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
source_kind_of (const QuoitBuilder *builder, QuoitClaimRef ref)
{
  return quoit_claims_source_kind (builder->parts[ref.part].claims);
}

static gboolean
knows_better (const QuoitBuilder *builder, QuoitClaimRef ref, QuoitClaimRef than)
{
  return quoit_source_kind_knows_better (source_kind_of (builder, ref), source_kind_of (builder, than));
}

/* Ray reports no resources for dead nodes. Then the kind that another source reports is kept. */
static gboolean
knows_a_kind (const QuoitBuilder *builder, QuoitClaimRef ref)
{
  const QuoitNodeClaim *claim = quoit_builder_claim (builder, ref);

  return claim->state != QUOIT_NODE_DEAD
         || !quoit_node_kind_is_bare (quoit_claims_kind_at (builder->parts[ref.part].claims, claim->kind));
}

static void
join_claim (const QuoitBuilder *builder, QuoitNodeDraft *draft, QuoitClaimRef ref)
{
  QuoitSourceKind kind = source_kind_of (builder, ref);

  quoit_claimed_state_add (&draft->state, kind, quoit_builder_claim (builder, ref));
  if (knows_better (builder, ref, draft->seen))
    draft->seen = ref;
  if (knows_better (builder, ref, draft->kind) && knows_a_kind (builder, ref))
    draft->kind = ref;
  if (kind == QUOIT_SOURCE_KIND_K8S_NODES)
    draft->labels = ref;
  draft->flags |= quoit_builder_claim (builder, ref)->flags;
}

static void
gather_node (QuoitBuilder *builder, QuoitClaimRef ref)
{
  const QuoitNodeClaim *claim = quoit_builder_claim (builder, ref);
  QuoitNodeDraft draft = { .home = ref,
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
gather_nodes (QuoitBuilder *builder)
{
  g_autoptr (GHashTable) drafts = g_hash_table_new (NULL, NULL); /* id -> draft + 1, for nodes with several claims */
  guint32 total = 0, n;

  for (guint p = 0; p < builder->n_parts; p++)
    {
      quoit_claims_nodes (builder->parts[p].claims, &n);
      total += n;
    }
  builder->nodes = g_array_sized_new (FALSE, FALSE, sizeof (QuoitNodeDraft), total);
  builder->joined = g_array_new (FALSE, FALSE, sizeof (QuoitClaimRef));
  for (guint p = 0; p < builder->n_parts; p++)
    {
      guint part = builder->part_order[p];
      QuoitSourceKind kind = quoit_claims_source_kind (builder->parts[part].claims);

      quoit_claims_nodes (builder->parts[part].claims, &n);
      for (guint32 i = 0; i < n; i++)
        {
          guint32 id = builder->parts[part].ids[i];
          QuoitClaimRef ref = { part, i };
          QuoitClaimants claimants = builder->claimants[quoit_ids_slot (&builder->ids, id)];
          gboolean stands_here = (claimants & (1u << kind) & -claimants) != 0;

          if (stands_here)
            gather_node (builder, ref);
          if ((claimants & (claimants - 1)) == 0)
            continue;
          g_array_append_val (builder->joined, ref);
          if (stands_here)
            g_hash_table_insert (drafts, GUINT_TO_POINTER (id), GUINT_TO_POINTER (builder->nodes->len));
        }
    }
  for (guint i = 0; i < builder->joined->len; i++)
    {
      QuoitClaimRef ref = g_array_index (builder->joined, QuoitClaimRef, i);
      gpointer id = GUINT_TO_POINTER (builder->parts[ref.part].ids[ref.claim]);
      guint draft = GPOINTER_TO_UINT (g_hash_table_lookup (drafts, id)) - 1;

      join_claim (builder, &g_array_index (builder->nodes, QuoitNodeDraft, draft), ref);
    }
}

/* Adds Kubernetes' labels to the kind of a node. Only Kubernetes knows how and where a machine was provisioned, and
 * requests select by that, even if another source decides the kind. */
static gboolean
join_labels (QuoitBuilder *builder, GError **error)
{
  g_autoptr (GHashTable) known
      = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL); /* (kind, label kind) -> joined kind + 1 */
  gsize n_labels = 0;

  for (guint i = 0; builder->joined->len > 0 && i < builder->nodes->len; i++)
    {
      QuoitNodeDraft *draft = &g_array_index (builder->nodes, QuoitNodeDraft, i);
      guint32 kind = quoit_builder_claimed_kind (builder, draft->kind), labels;
      guint64 pair, *key;
      gpointer joined;

      if (draft->labels.part == QUOIT_NO_INDEX)
        continue;
      labels = quoit_builder_claimed_kind (builder, draft->labels);
      pair = (guint64) kind << 32 | labels;
      joined = g_hash_table_lookup (known, &pair);
      if (joined == NULL)
        {
          n_labels += quoit_claims_kind_at (builder->layout->kinds, kind)->n_labels;
          n_labels += quoit_claims_kind_at (builder->layout->kinds, labels)->n_labels;
          if (n_labels > MOST_JOINED_LABELS)
            return quoit_fail (error, QUOIT_ERROR_DAMAGED,
                               "nodes that several sources claim have more than %d different labels together",
                               MOST_JOINED_LABELS);
          key = g_new (guint64, 1);
          *key = pair;
          joined = GUINT_TO_POINTER (quoit_layout_kind_with_labels (builder->layout, kind, labels) + 1);
          g_hash_table_insert (known, key, joined);
        }
      draft->joined_kind = GPOINTER_TO_UINT (joined) - 1;
    }
  return TRUE;
}

static guint32
class_named_by (const QuoitBuilder *builder, const QuoitNodeDraft *node)
{
  return builder->layout->kind_class[quoit_builder_kind (builder, node)].class_index;
}

/* Counts the votes of the slices in @contested, whose nodes name several classes. */
static void
count_votes (QuoitBuilder *builder, const guint8 *contested)
{
  g_autoptr (GHashTable) votes = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  g_autofree guint32 *most = g_new0 (guint32, builder->slices->len + 1);

  for (guint32 i = 0; i < builder->nodes->len; i++)
    {
      const QuoitNodeDraft *node = &g_array_index (builder->nodes, QuoitNodeDraft, i);
      QuoitSliceDraft *slice;
      guint64 key;
      guint count;

      if (node->slice == QUOIT_NO_INDEX || !contested[node->slice] || class_named_by (builder, node) == QUOIT_NO_INDEX)
        continue;
      slice = &g_array_index (builder->slices, QuoitSliceDraft, node->slice);
      key = (guint64) node->slice << 32 | class_named_by (builder, node);
      count = GPOINTER_TO_UINT (g_hash_table_lookup (votes, &key)) + 1;
      g_hash_table_replace (votes, g_memdup2 (&key, sizeof key), GUINT_TO_POINTER (count));
      if (count > most[node->slice] || (count == most[node->slice] && (guint32) key < slice->class_index))
        slice->class_index = (guint32) key;
      most[node->slice] = MAX (most[node->slice], count);
    }
}

/* A slice gets the class that most of its nodes name; in a tie, the class with the lower index. Dead nodes vote too,
 * because a class must change only with an import. */
static void
vote_classes (QuoitBuilder *builder)
{
  g_autofree guint8 *contested = g_new0 (guint8, builder->slices->len + 1);
  gboolean any = FALSE;

  for (guint32 i = 0; i < builder->nodes->len; i++)
    {
      const QuoitNodeDraft *node = &g_array_index (builder->nodes, QuoitNodeDraft, i);
      QuoitSliceDraft *slice;

      if (node->slice == QUOIT_NO_INDEX || class_named_by (builder, node) == QUOIT_NO_INDEX)
        continue;
      slice = &g_array_index (builder->slices, QuoitSliceDraft, node->slice);
      if (slice->class_index == QUOIT_NO_INDEX)
        slice->class_index = class_named_by (builder, node);
      else if (slice->class_index != class_named_by (builder, node))
        any = contested[node->slice] = TRUE;
    }
  if (any)
    count_votes (builder, contested);
}

gboolean
quoit_builder_gather (QuoitBuilder *builder, GError **error)
{
  order_parts (builder);
  builder->layout->strings = strings_for (builder->parts, builder->n_parts);
  builder->pools = g_array_new (FALSE, TRUE, sizeof (QuoitPoolDraft));
  builder->slices = g_array_new (FALSE, TRUE, sizeof (QuoitSliceDraft));
  builder->slice_index = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  gather_kinds (builder);
  gather_pools (builder);
  gather_nodes (builder);
  if (!join_labels (builder, error))
    return FALSE;
  quoit_layout_classify_kinds (builder->layout);
  vote_classes (builder);
  return TRUE;
}

void
quoit_builder_clear (QuoitBuilder *builder)
{
  g_free (builder->claimants);
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

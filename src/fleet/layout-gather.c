/* SPDX-License-Identifier: Apache-2.0 */
/* Collects claims into drafts. All claims of one node become one draft. A slice gets the class of most of its nodes. */
#include "fleet/layout-builder.h"

#include <string.h>

#include "base/name-hash.h"
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

enum { MAX_HEADS = 64, HEAD_BYTES = 24 }; /* "TPU-v5litepod-256-head" */

/* Creates the table for the names of sources, pools, slices and head resources. Its size is estimated closely, because
 * a layout is kept for a long time and a table that grows wastes memory. To count names without looking them up,
 * pointers are compared: claims store the name of a slice once, and the nodes of a slice are usually adjacent. There
 * may be as many kinds as nodes, but they have few different head resources. */
static QuoitStrings *
new_strings (const QuoitLayoutPart *parts, guint n_parts)
{
  guint32 n = 1, n_nodes, n_heads = 0, total = 0;
  gsize bytes = 1;

  for (guint p = 0; p < n_parts; p++)
    {
      const QuoitNodeClaim *nodes = quoit_claims_nodes (parts[p].claims, &n_nodes);
      const char *slice = NULL, *incarnation = NULL;

      total += n_nodes;
      n_heads = MIN (n_heads + quoit_claims_n_kinds (parts[p].claims), MAX_HEADS);
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
  /* If the nodes of a slice are not adjacent, its name was counted several times. Start small then, and let the table
   * grow. */
  return n > total / 2 ? quoit_strings_new (total / 4, 0)
                       : quoit_strings_new (n + n_heads, bytes + (gsize) n_heads * HEAD_BYTES);
}

static gint
compare_part_names (gconstpointer a, gconstpointer b, gpointer data)
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
  g_qsort_with_data (builder->part_order, (gint) builder->n_parts, sizeof *builder->part_order, compare_part_names,
                     builder);
}

/* --- validation --- */

/* Limits the memory for joined kinds. Each kind of one source can combine with each kind of another, so a damaged file
 * could cause far more joined kinds than it has kinds. */
enum { MAX_JOINED_LABELS = 1 << 24 };
/* Limits the texts of claims, because offsets in a layout have 32 bits. A layout stores each text at most twice. */
enum { MAX_CLAIMED_BYTES = 7 << 28 };

static gboolean
check_sources (const QuoitBuilder *builder, GError **error)
{
  g_autoptr (GHashTable) names = g_hash_table_new (quoit_hash_text, g_str_equal);
  gsize bytes = 0;

  for (guint p = 0; p < builder->n_parts; p++)
    {
      const char *name = quoit_claims_source (builder->parts[p].claims);

      bytes += quoit_claims_bytes (builder->parts[p].claims);
      if (!g_hash_table_add (names, (gpointer) name))
        return quoit_fail (error, QUOIT_ERROR_DAMAGED, "two sources have the name '%s'", name);
    }
  return bytes <= MAX_CLAIMED_BYTES
         || quoit_fail (error, QUOIT_ERROR_DAMAGED, "the names of nodes have %zu bytes together: expected at most %d",
                        bytes, MAX_CLAIMED_BYTES);
}

/* Determines the claimants of each id. Only one source of each kind may claim an id. */
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
            return quoit_fail (
                error, QUOIT_ERROR_DAMAGED,
                "node id '%u' of source '%s': expected a number from 1 that no other node of a source of "
                "this kind has",
                part->ids[i], quoit_claims_source (part->claims));
          n_nodes += *claimants == 0;
          *claimants |= bit;
        }
    }
  return n_nodes <= QUOIT_MAX_NODES
         || quoit_fail (error, QUOIT_ERROR_DAMAGED, "%u nodes: expected at most %d", n_nodes, QUOIT_MAX_NODES);
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
  builder->kind_map = g_new0 (guint32 *, builder->n_parts);
  for (guint p = 0; p < builder->n_parts; p++)
    {
      const QuoitClaims *claims = builder->parts[builder->part_order[p]].claims;
      guint32 n = quoit_claims_n_kinds (claims);
      guint32 *map = builder->kind_map[builder->part_order[p]] = g_new (guint32, n + 1);

      for (guint32 i = 0; i < n; i++)
        map[i] = quoit_claims_intern_kind (layout->kinds, quoit_claims_kind_at (claims, i), NULL);
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
find_or_add_slice_draft (QuoitBuilder *builder, guint32 pool, const QuoitNodeClaim *claim)
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
claim_source_kind (const QuoitBuilder *builder, QuoitClaimRef ref)
{
  return quoit_claims_source_kind (builder->parts[ref.part].claims);
}

static gboolean
knows_better (const QuoitBuilder *builder, QuoitClaimRef ref, QuoitClaimRef than)
{
  return quoit_source_kind_has_precedence (claim_source_kind (builder, ref), claim_source_kind (builder, than));
}

/* Returns whether the claim reports a useful kind. Ray reports no resources for dead nodes; the kind that another
 * source reports is used then. */
static gboolean
reports_kind (const QuoitBuilder *builder, QuoitClaimRef ref)
{
  const QuoitNodeClaim *claim = quoit_builder_claim (builder, ref);

  return claim->state != QUOIT_NODE_DEAD
         || !quoit_node_kind_is_bare (quoit_claims_kind_at (builder->parts[ref.part].claims, claim->kind));
}

/* Adds one more claim to the draft of a node. */
static void
join_claim (const QuoitBuilder *builder, QuoitNodeDraft *draft, QuoitClaimRef ref)
{
  QuoitSourceKind kind = claim_source_kind (builder, ref);

  quoit_claimed_state_add (&draft->state, kind, quoit_builder_claim (builder, ref));
  if (knows_better (builder, ref, draft->best_claim))
    draft->best_claim = ref;
  if (knows_better (builder, ref, draft->kind) && reports_kind (builder, ref))
    draft->kind = ref;
  if (kind == QUOIT_SOURCE_KIND_K8S_NODES)
    draft->labels = ref;
  draft->flags |= quoit_builder_claim (builder, ref)->flags;
}

/* Creates the draft of a node from its home claim. */
static void
gather_node (QuoitBuilder *builder, QuoitClaimRef ref)
{
  const QuoitNodeClaim *claim = quoit_builder_claim (builder, ref);
  QuoitNodeDraft draft = { .home = ref,
                           .best_claim = ref,
                           .kind = ref,
                           .labels = { QUOIT_NO_INDEX, 0 },
                           .joined_kind = QUOIT_NO_INDEX,
                           .flags = claim->flags };

  quoit_claimed_state_add (&draft.state, claim_source_kind (builder, ref), claim);
  draft.pool = builder->first_pool[ref.part] + claim->pool;
  draft.slice = claim->slice == NULL ? QUOIT_NO_INDEX : find_or_add_slice_draft (builder, draft.pool, claim);
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
          /* "x & -x" is the lowest bit that is set in x. */
          gboolean is_home = (claimants & (1u << kind) & -claimants) != 0;

          if (is_home)
            gather_node (builder, ref);
          /* Only one bit is set: the node has no other claims. */
          if ((claimants & (claimants - 1)) == 0)
            continue;
          g_array_append_val (builder->joined, ref);
          if (is_home)
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

/* Adds the labels of Kubernetes to the kinds of nodes with several claims. Requests select nodes by how and where they
 * were provisioned, and only Kubernetes reports that, even if another source decides the kind. */
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
          if (n_labels > MAX_JOINED_LABELS)
            return quoit_fail (error, QUOIT_ERROR_DAMAGED,
                               "nodes that several sources claim: expected at most %d different labels",
                               MAX_JOINED_LABELS);
          key = g_new (guint64, 1);
          *key = pair;
          joined = GUINT_TO_POINTER (quoit_layout_kind_with_labels (builder->layout, kind, labels) + 1);
          g_hash_table_insert (known, key, joined);
        }
      draft->joined_kind = GPOINTER_TO_UINT (joined) - 1;
    }
  return TRUE;
}

/* Returns the class of the kind of @node, or QUOIT_NO_INDEX. */
static guint32
kind_class_index (const QuoitBuilder *builder, const QuoitNodeDraft *node)
{
  return builder->layout->kind_class[quoit_builder_kind (builder, node)].class_index;
}

/* Sets the classes of those slices whose nodes have different classes. @contested has a flag for each slice. */
static void
set_contested_classes (QuoitBuilder *builder, const guint8 *contested)
{
  g_autoptr (GHashTable) counts = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  g_autofree guint32 *most = g_new0 (guint32, builder->slices->len + 1);

  for (guint32 i = 0; i < builder->nodes->len; i++)
    {
      const QuoitNodeDraft *node = &g_array_index (builder->nodes, QuoitNodeDraft, i);
      QuoitSliceDraft *slice;
      guint64 key;
      guint count;

      if (node->slice == QUOIT_NO_INDEX || !contested[node->slice]
          || kind_class_index (builder, node) == QUOIT_NO_INDEX)
        continue;
      slice = &g_array_index (builder->slices, QuoitSliceDraft, node->slice);
      key = (guint64) node->slice << 32 | kind_class_index (builder, node);
      count = GPOINTER_TO_UINT (g_hash_table_lookup (counts, &key)) + 1;
      g_hash_table_replace (counts, g_memdup2 (&key, sizeof key), GUINT_TO_POINTER (count));
      if (count > most[node->slice] || (count == most[node->slice] && (guint32) key < slice->class_index))
        slice->class_index = (guint32) key;
      most[node->slice] = MAX (most[node->slice], count);
    }
}

/* Gives each slice the class of most of its nodes; in a tie, the class with the lower index. Dead nodes count too,
 * because only an import may change the class of a slice, and not the death of a node. */
static void
set_slice_classes (QuoitBuilder *builder)
{
  g_autofree guint8 *contested = g_new0 (guint8, builder->slices->len + 1);
  gboolean any = FALSE;

  for (guint32 i = 0; i < builder->nodes->len; i++)
    {
      const QuoitNodeDraft *node = &g_array_index (builder->nodes, QuoitNodeDraft, i);
      QuoitSliceDraft *slice;

      if (node->slice == QUOIT_NO_INDEX || kind_class_index (builder, node) == QUOIT_NO_INDEX)
        continue;
      slice = &g_array_index (builder->slices, QuoitSliceDraft, node->slice);
      if (slice->class_index == QUOIT_NO_INDEX)
        slice->class_index = kind_class_index (builder, node);
      else if (slice->class_index != kind_class_index (builder, node))
        any = contested[node->slice] = TRUE;
    }
  if (any)
    set_contested_classes (builder, contested);
}

gboolean
quoit_builder_gather (QuoitBuilder *builder, GError **error)
{
  order_parts (builder);
  builder->layout->strings = new_strings (builder->parts, builder->n_parts);
  builder->pools = g_array_new (FALSE, TRUE, sizeof (QuoitPoolDraft));
  builder->slices = g_array_new (FALSE, TRUE, sizeof (QuoitSliceDraft));
  builder->slice_index = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  gather_kinds (builder);
  gather_pools (builder);
  gather_nodes (builder);
  if (!join_labels (builder, error))
    return FALSE;
  quoit_layout_classify_kinds (builder->layout);
  set_slice_classes (builder);
  return TRUE;
}

void
quoit_builder_clear (QuoitBuilder *builder)
{
  g_free (builder->claimants);
  for (guint p = 0; p < builder->n_parts; p++)
    g_free (builder->kind_map[p]);
  g_free (builder->kind_map);
  g_free (builder->part_order);
  g_free (builder->first_pool);
  g_array_unref (builder->pools);
  g_array_unref (builder->slices);
  g_array_unref (builder->nodes);
  g_array_unref (builder->joined);
  g_hash_table_unref (builder->slice_index);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Updates a few nodes of a source. The result is that of a sync of the complete source: its previous claims, without
 * the removed nodes, and with the new claims in place of those with the same identities.
 *
 * While all sources are of one kind, no node is joined with another one, so that the nodes of the update do not depend
 * on the others, and only they are compared. Otherwise the complete claims are made and synced. */
#include "ledger/difference.h"

#include <string.h>

#include "base/name-hash.h"

static gboolean
fail_node (GError **error, QuoitErrorCode code, const QuoitClaims *claims, const char *text, const char *expected)
{
  g_autofree char *quoted = quoit_quote (text);

  return quoit_fail (error, code, "source '%s': node %s: %s", quoit_claims_source (claims), quoted, expected);
}

/* Checks that no node is both claimed and removed. */
static gboolean
check_identities (const QuoitNodesUpdate *update, GError **error)
{
  g_autoptr (GHashTable) removed = g_hash_table_new (quoit_hash_text, g_str_equal);
  guint32 n;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (update->claims, &n);

  for (guint i = 0; i < update->n_removed; i++)
    g_hash_table_add (removed, (gpointer) update->removed[i]);
  for (guint32 i = 0; i < n; i++)
    if (g_hash_table_contains (removed, quoit_node_claim_identity (&nodes[i])))
      return fail_node (error, QUOIT_ERROR_INVALID, update->claims, quoit_node_claim_identity (&nodes[i]),
                        "both added and removed: expected one of the two in an update");
  return TRUE;
}

static gboolean
fail_name (const QuoitClaims *claims, const char *name, GError **error)
{
  return fail_node (error, QUOIT_ERROR_CONFLICT, claims, name,
                    "another alive node of the source has this name: remove or update that node too");
}

/* --- without joins --- */

static void
mark_removed (QuoitDifference *difference, const char *identity)
{
  guint32 index = quoit_difference_find_node (difference, &(QuoitNodeClaim) { .name = identity });

  if (index != QUOIT_NO_INDEX)
    difference->is_removed[index] = 1;
}

/* A sync also drops the nodes that the source had lost before, unless a group still has them. */
static void
mark_lost (QuoitDifference *difference)
{
  const QuoitLayout *layout = difference->fleet->layout;
  const QuoitSource *source = &layout->sources[difference->source.index];

  for (guint32 i = source->first_node; i < source->first_node + source->n_nodes; i++)
    difference->is_removed[i] |= (layout->nodes[i].flags & QUOIT_NODE_LOST) != 0;
}

/* Checks that no other alive node of the source has the name of the claim. */
static gboolean
check_name (const QuoitDifference *difference, const QuoitNodeClaim *claim, GError **error)
{
  const QuoitLayout *layout = difference->fleet->layout;
  guint32 at = QUOIT_NO_INDEX;
  QuoitNodeId node;

  while (claim->state != QUOIT_NODE_DEAD && quoit_layout_next_node_named (layout, claim->name, &at, &node))
    if (quoit_layout_claims_node (layout, difference->source, node) && !difference->is_claimed[node.index]
        && !difference->is_removed[node.index] && quoit_layout_claimed_state (layout, node) != QUOIT_NODE_DEAD)
      return fail_name (difference->claims, claim->name, error);
  return TRUE;
}

static gboolean
check_size (const QuoitDifference *difference, guint32 n_new, GError **error)
{
  guint32 n = difference->fleet->layout->n_nodes;

  return (guint64) n + n_new <= QUOIT_MAX_NODES
         || quoit_fail (error, QUOIT_ERROR_INVALID,
                        "source '%s': %u new nodes in addition to the fleet's %u: expected at most %d together",
                        quoit_claims_source (difference->claims), n_new, n, QUOIT_MAX_NODES);
}

/* Adds the pools of which a node is neither claimed nor removed. The pools of the claims are added later. */
static void
keep_pools (const QuoitDifference *difference)
{
  const QuoitLayout *layout = difference->fleet->layout;
  const QuoitSource *source = &layout->sources[difference->source.index];

  for (guint32 p = source->first_pool; p < source->first_pool + source->n_pools; p++)
    {
      const QuoitPool *pool = &layout->pools[p];
      guint32 i = pool->first_node, end = pool->first_node + pool->n_nodes;

      while (i < end && (difference->is_claimed[i] || difference->is_removed[i]))
        i++;
      if (i < end)
        g_hash_table_add (difference->kept_pools, (gpointer) quoit_layout_text (layout, pool->name));
    }
}

gboolean
quoit_difference_begin_update (QuoitDifference *difference, GError **error)
{
  const QuoitNodesUpdate *update = difference->update;
  guint32 n, n_new = 0;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (difference->claims, &n);

  difference->is_removed = g_new0 (guint8, difference->fleet->layout->n_nodes + 1);
  for (guint32 i = 0; i < n; i++)
    if (difference->claim_nodes[i] != QUOIT_NO_INDEX)
      difference->is_claimed[difference->claim_nodes[i]] = 1;
    else
      n_new++;
  for (guint i = 0; i < update->n_removed; i++)
    mark_removed (difference, update->removed[i]);
  mark_lost (difference);
  for (guint32 i = 0; i < n; i++)
    if (!check_name (difference, &nodes[i], error))
      return FALSE;
  keep_pools (difference);
  return check_size (difference, n_new, error);
}

/* --- with joins --- */

/* The complete claims of the source after an update. */
typedef struct {
  const QuoitNodesUpdate *update;
  QuoitClaims *before, *after;
  GHashTable *identities; /* of the claims of the update */
  GHashTable *removed;
  GHashTable *names; /* of the alive nodes of the update */
} Merge;

static void
copy_claim (Merge *merge, const QuoitClaims *from, const QuoitNodeClaim *claim)
{
  QuoitNodeClaim copy = *claim;

  copy.pool = quoit_claims_copy_pool (merge->after, quoit_claims_pool_at (from, claim->pool));
  copy.kind = quoit_claims_intern_kind (merge->after, quoit_claims_kind_at (from, claim->kind), NULL);
  quoit_claims_add (merge->after, &copy);
}

static void
index_update (Merge *merge)
{
  const QuoitNodesUpdate *update = merge->update;
  guint32 n;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (update->claims, &n);

  for (guint i = 0; i < update->n_removed; i++)
    g_hash_table_add (merge->removed, (gpointer) update->removed[i]);
  for (guint32 i = 0; i < n; i++)
    {
      g_hash_table_add (merge->identities, (gpointer) quoit_node_claim_identity (&nodes[i]));
      if (nodes[i].state != QUOIT_NODE_DEAD)
        g_hash_table_add (merge->names, (gpointer) nodes[i].name);
    }
}

static gboolean
merge_claims (Merge *merge, GError **error)
{
  guint32 n;
  const QuoitNodeClaim *nodes;

  index_update (merge);
  nodes = quoit_claims_nodes (merge->before, &n);
  for (guint32 i = 0; i < n; i++)
    {
      const char *identity = quoit_node_claim_identity (&nodes[i]);

      if ((nodes[i].flags & QUOIT_NODE_LOST) != 0 || g_hash_table_contains (merge->identities, identity)
          || g_hash_table_contains (merge->removed, identity))
        continue;
      if (nodes[i].state != QUOIT_NODE_DEAD && g_hash_table_contains (merge->names, nodes[i].name))
        return fail_name (merge->before, nodes[i].name, error);
      copy_claim (merge, merge->before, &nodes[i]);
    }
  nodes = quoit_claims_nodes (merge->update->claims, &n);
  for (guint32 i = 0; i < n; i++)
    copy_claim (merge, merge->update->claims, &nodes[i]);
  return TRUE;
}

static gboolean
sync_complete_source (const QuoitFleet *fleet, QuoitSourceId source, const QuoitNodesUpdate *update, gint64 now_ms,
                      QuoitEntry **entry, QuoitOutcome *outcome, GError **error)
{
  g_autofree guint32 *ids = NULL;
  g_autoptr (QuoitClaims) before = quoit_layout_dup_claims (fleet->layout, source, &ids);
  g_autoptr (QuoitClaims) after
      = quoit_claims_new (quoit_claims_source (update->claims), quoit_claims_source_kind (update->claims));
  g_autoptr (GHashTable) identities = g_hash_table_new (quoit_hash_text, g_str_equal),
                         removed = g_hash_table_new (quoit_hash_text, g_str_equal),
                         names = g_hash_table_new (quoit_hash_text, g_str_equal);
  Merge merge = { update, before, after, identities, removed, names };

  quoit_claims_set_join (after, quoit_claims_join (update->claims));
  return merge_claims (&merge, error) && quoit_step_sync (fleet, &after, now_ms, entry, outcome, error);
}

/* --- entry point --- */

static gboolean
has_other_kinds (const QuoitLayout *layout, QuoitSourceKind kind)
{
  for (guint32 s = 0; s < layout->n_sources; s++)
    if (layout->sources[s].kind != kind)
      return TRUE;
  return FALSE;
}

static gboolean
update_source (const QuoitFleet *fleet, QuoitSourceId source, const QuoitNodesUpdate *update, gint64 now_ms,
               QuoitEntry **entry, QuoitOutcome *outcome, GError **error)
{
  QuoitClaims *claims = update->claims;

  if (!check_identities (update, error))
    return FALSE;
  if (has_other_kinds (fleet->layout, quoit_claims_source_kind (claims)))
    return sync_complete_source (fleet, source, update, now_ms, entry, outcome, error);
  return quoit_difference_import (fleet, &claims, QUOIT_VERB_SYNC, update, now_ms, entry, &outcome->changes, error);
}

/* Like update_source(), for an update without new nodes, which can be one of a source of any kind. */
static gboolean
remove_from_source (const QuoitFleet *fleet, QuoitSourceId source, const QuoitNodesUpdate *update, gint64 now_ms,
                    QuoitEntry **entry, QuoitOutcome *outcome, GError **error)
{
  const QuoitSourceKind kind = (QuoitSourceKind) fleet->layout->sources[source.index].kind;
  g_autoptr (QuoitClaims) none = quoit_claims_new (quoit_claims_source (update->claims), kind);
  QuoitNodesUpdate removal = *update;

  quoit_claims_set_join (none, quoit_claims_join (update->claims));
  removal.claims = none;
  return update_source (fleet, source, &removal, now_ms, entry, outcome, error);
}

gboolean
quoit_step_update_nodes (const QuoitFleet *fleet, const QuoitNodesUpdate *update, gint64 now_ms, QuoitEntry **entry,
                         QuoitOutcome *outcome, GError **error)
{
  const char *name = quoit_claims_source (update->claims);
  QuoitSourceId source;
  guint32 n;

  if (!quoit_layout_find_source (fleet->layout, name, &source))
    {
      g_autofree char *quoted = quoit_quote (name);

      return quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "no source %s: expected one that was imported before", quoted);
    }
  quoit_claims_nodes (update->claims, &n);
  return (n == 0 ? remove_from_source : update_source) (fleet, source, update, now_ms, entry, outcome, error);
}

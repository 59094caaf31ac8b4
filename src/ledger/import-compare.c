/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the claims of a source with its previous ones, node by node. Adds the differences to the source update, and
 * sets the states of nodes that result. */
#include "fleet/names.h"
#include "ledger/difference.h"

/* Like quoit_difference_add_change(), for a node of the fleet. The change also names the group that uses the node. */
static void
add_node_change (QuoitDifference *difference, QuoitChangeKind kind, guint32 index, const char *name,
                 char *detail) /* NOLINT: takes @detail */
{
  const QuoitGroupData *group = quoit_difference_find_own_group (difference, index);

  quoit_difference_add_change (difference, kind, name, detail);
  if (group != NULL)
    g_array_index (difference->changes, QuoitNodeChange, difference->changes->len - 1).group
        = g_strdup_printf ("%s@%" G_GUINT64_FORMAT, group->name, group->id);
}

static gboolean
refuse_if_in_use (const QuoitDifference *difference, guint32 index, const char *what, GError **error)
{
  const QuoitGroupData *group = quoit_difference_find_own_group (difference, index);

  if (group == NULL)
    return FALSE;
  quoit_fail (error, QUOIT_ERROR_CONFLICT,
              "source '%s': node '%s' %s: group '%s@%" G_GUINT64_FORMAT "' uses it; release the group first%s",
              quoit_claims_source (difference->claims),
              quoit_layout_node_name (difference->fleet->layout, (QuoitNodeId) { index }), what, group->name, group->id,
              difference->verb == QUOIT_VERB_IMPORT ? ", or `sync`, which marks the node as lost" : "");
  return TRUE;
}

/* Returns the index of the pool in the source update. */
static guint32
upsert_pool (QuoitDifference *difference, const QuoitPoolClaim *pool)
{
  guint32 n = quoit_claims_n_pools (difference->upserts);
  guint32 index = quoit_claims_ensure_pool (difference->upserts, pool->name);

  return index < n ? index : quoit_claims_copy_pool (difference->upserts, pool);
}

static void
add_upsert (QuoitDifference *difference, const QuoitNodeClaim *claim, guint32 id, QuoitNodeEvent event)
{
  guint8 byte = (guint8) event;

  quoit_claims_add (difference->upserts, claim);
  g_array_append_val (difference->upsert_ids, id);
  g_byte_array_append (difference->upsert_events, &byte, 1);
}

/* Adds the claim to the source update. @index: the node that the source claimed before; QUOIT_NO_INDEX: none. */
static void
upsert (QuoitDifference *difference, const QuoitNodeClaim *claim, guint32 id, guint32 index, QuoitNodeEvent event)
{
  const QuoitLayout *layout = difference->fleet->layout;
  const QuoitNodeKind *kind = quoit_claims_kind_at (difference->claims, claim->kind);
  QuoitNodeClaim copy = *claim;

  if (index != QUOIT_NO_INDEX)
    {
      QuoitNodeClaim previous = quoit_difference_previous_claim (difference, index, NULL);

      if (quoit_difference_is_bare_dead_claim (difference, claim, &previous))
        kind = quoit_claims_kind_at (layout->kinds, previous.kind);
    }
  copy.pool = upsert_pool (difference, quoit_claims_pool_at (difference->claims, claim->pool));
  copy.kind = quoit_claims_intern_kind (difference->upserts, kind, NULL);
  add_upsert (difference, &copy, id, event);
}

/* Adds the claim to the source update, if only its state has changed, or the cause of its state. A node of several
 * sources needs the whole claim, because all claims determine its state. So does another cause of the same state,
 * because readers of the journal take a state alone for that of the node, and a user may have set another one. */
static void
upsert_state (QuoitDifference *difference, const QuoitNodeClaim *claim, guint32 index, gboolean has_other_state)
{
  const QuoitNode *node = &difference->fleet->layout->nodes[index];
  const QuoitReportedState change
      = { node->id, (QuoitNodeState) claim->state, (guint8) quoit_node_cause (claim->flags) };

  if (!has_other_state || quoit_difference_is_shared (difference, index)
      || (node->identity != 0) != (claim->identity != NULL))
    upsert (difference, claim, node->id, index, QUOIT_NODE_EVENT_CHANGED);
  else
    g_array_append_val (difference->claimed_states, change);
}

static void
set_state (QuoitDifference *difference, guint32 index, QuoitNodeState state)
{
  guint32 id = difference->fleet->layout->nodes[index].id;
  QuoitEffect effect = { .type = QUOIT_EFFECT_NODE_STATE, .node_id = id, .state = state };

  if (quoit_fleet_node_state (difference->fleet, (QuoitNodeId) { index }) == state)
    return;
  g_array_append_val (difference->state_effects, effect);
  g_hash_table_insert (difference->new_states, GUINT_TO_POINTER (id), GUINT_TO_POINTER (state + 1));
}

/* Sets the state of the node to the claimed one if the claims have changed. Otherwise a state that a user set stays.
 * @claim: the new claim of this source; NULL: none. */
static void
follow_claims (QuoitDifference *difference, guint32 index, const QuoitNodeClaim *claim)
{
  QuoitNodeState claimed = quoit_difference_claimed_state (difference, index, claim);

  if (quoit_layout_claimed_state (difference->fleet->layout, (QuoitNodeId) { index }) != claimed)
    set_state (difference, index, claimed);
}

/* Returns whether GKE can make a slice of what the group has: of its cubes, or of each partition of a cube. */
static gboolean
can_be_gke_slices (const QuoitGroupData *group)
{
  g_autoptr (QuoitRequest) request = NULL;

  if (group->kind != QUOIT_RECORD_PARTS)
    return group->kind == QUOIT_RECORD_CUBES;
  request = quoit_request_parse_canonical (group->request, NULL);
  return request != NULL && request->cut == QUOIT_CUT_PARTITION;
}

/* Returns whether GKE makes a slice of what a group has, or ends such a slice. The group has whole hosts, in an order
 * of its own, so it keeps them. */
static gboolean
is_other_slice_of_cubes (QuoitDifference *difference, guint32 index, const QuoitNodeClaim *claim)
{
  const QuoitGroupData *group = quoit_difference_find_own_group (difference, index);
  const QuoitNodeKind *before = quoit_layout_node_kind (difference->fleet->layout, (QuoitNodeId) { index }),
                      *after = quoit_claims_kind_at (difference->claims, claim->kind);

  return group != NULL && can_be_gke_slices (group) && claim->slice != NULL
         && quoit_difference_is_same_machine (difference, index, claim) && before->generation == after->generation
         && before->chips == after->chips;
}

/* Returns "dead", or "dead (NotReady)". */
static char *
describe_state (const QuoitNodeClaim *claim)
{
  const char *cause = quoit_node_cause_text (quoit_node_cause (claim->flags));

  return *cause == '\0' ? g_strdup (quoit_node_state_name ((QuoitNodeState) claim->state))
                        : g_strdup_printf ("%s (%s)", quoit_node_state_name ((QuoitNodeState) claim->state), cause);
}

static char *
describe_states (const QuoitNodeClaim *previous, const QuoitNodeClaim *claim)
{
  g_autofree char *before = describe_state (previous), *after = describe_state (claim);

  return g_strdup_printf ("%s -> %s", before, after);
}

static gboolean
compare_node (QuoitDifference *difference, guint32 index, const QuoitNodeClaim *claim, GError **error)
{
  QuoitNodeClaim previous = quoit_difference_previous_claim (difference, index, NULL);
  /* The node was missing in this source, but stayed alive because of another source. */
  gboolean stayed_alive = (previous.flags & QUOIT_NODE_LOST) != 0
                          && quoit_fleet_node_state (difference->fleet, (QuoitNodeId) { index }) != QUOIT_NODE_DEAD;
  gboolean has_other_state = previous.state != claim->state;
  gboolean has_other_cause = ((previous.flags ^ claim->flags) & QUOIT_NODE_CAUSE) != 0;
  gboolean breaks_use;
  QuoitNodeEvent event;
  char *detail = quoit_difference_describe_change (difference, index, claim, &breaks_use, &event);

  if (detail != NULL)
    {
      g_autofree char *what = g_strconcat ("would change: ", detail, NULL);

      if (breaks_use && !is_other_slice_of_cubes (difference, index, claim)
          && refuse_if_in_use (difference, index, what, error))
        return g_free (detail), FALSE;
      difference->has_changed[index] = 1;
      add_node_change (difference, QUOIT_CHANGE_CHANGED, index, claim->name, detail);
    }
  if (detail != NULL)
    upsert (difference, claim, difference->fleet->layout->nodes[index].id, index, event);
  else if (has_other_state || has_other_cause)
    upsert_state (difference, claim, index, has_other_state);
  if ((has_other_state || has_other_cause) && !stayed_alive)
    add_node_change (difference, QUOIT_CHANGE_STATE, index, claim->name, describe_states (&previous, claim));
  if (quoit_difference_is_same_machine (difference, index, claim))
    follow_claims (difference, index, claim);
  else
    /* A state that was set for the old machine does not apply to its replacement. */
    set_state (difference, index, quoit_difference_claimed_state (difference, index, claim));
  return TRUE;
}

gboolean
quoit_difference_join_node (QuoitDifference *difference, guint32 index, const QuoitNodeClaim *claim, GError **error)
{
  const char *refused = quoit_difference_explain_conflict (difference, index, claim);

  if (refused != NULL && refuse_if_in_use (difference, index, refused, error))
    return FALSE;
  follow_claims (difference, index, claim);
  return TRUE;
}

/* Keeps a node that the source no longer has, because a group uses it, and marks it as lost. The node becomes dead
 * unless another source reports it as alive. */
static void
keep_lost_node (QuoitDifference *difference, guint32 index)
{
  const QuoitLayout *layout = difference->fleet->layout;
  g_autofree char *identity = NULL;
  QuoitNodeClaim claim = quoit_difference_previous_claim (difference, index, &identity);
  gboolean was_lost = (claim.flags & QUOIT_NODE_LOST) != 0, is_dead;

  claim.pool = upsert_pool (difference,
                            &(QuoitPoolClaim) { .name = quoit_layout_text (layout, layout->pools[claim.pool].name) });
  claim.kind = quoit_claims_intern_kind (difference->upserts, quoit_claims_kind_at (layout->kinds, claim.kind), NULL);
  claim.state = QUOIT_NODE_DEAD;
  claim.flags = (guint8) ((claim.flags & ~QUOIT_NODE_CAUSE) | QUOIT_NODE_LOST);
  is_dead = quoit_difference_claimed_state (difference, index, &claim) == QUOIT_NODE_DEAD;
  if (!was_lost)
    {
      add_upsert (difference, &claim, layout->nodes[index].id,
                  is_dead ? QUOIT_NODE_EVENT_LOST : QUOIT_NODE_EVENT_CHANGED);
      add_node_change (difference, is_dead ? QUOIT_CHANGE_LOST : QUOIT_CHANGE_CHANGED, index, claim.name,
                       is_dead ? NULL : g_strdup ("gone from this source, but another source still has it"));
    }
  /* Needed even if the node was lost before, because a user may have set it alive since. */
  if (is_dead)
    set_state (difference, index, QUOIT_NODE_DEAD);
}

/* Handles a node that the claims no longer contain. */
static gboolean
drop_node (QuoitDifference *difference, guint32 index, GError **error)
{
  const QuoitLayout *layout = difference->fleet->layout;
  QuoitNodeClaim claim = quoit_difference_previous_claim (difference, index, NULL);
  gboolean is_lost = (claim.flags & QUOIT_NODE_LOST) != 0, is_shared = quoit_difference_is_shared (difference, index);

  if (quoit_difference_find_own_group (difference, index) != NULL && (difference->verb == QUOIT_VERB_SYNC || is_lost))
    return keep_lost_node (difference, index), TRUE;
  if (refuse_if_in_use (difference, index, "cannot be removed", error))
    return FALSE;
  difference->has_changed[index] = 1;
  g_array_append_val (difference->removed_ids, layout->nodes[index].id);
  g_ptr_array_add (difference->removed_names,
                   (gpointer) quoit_claims_intern_text (difference->upserts, is_shared ? "" : claim.name));
  quoit_difference_add_change (difference, QUOIT_CHANGE_REMOVED, claim.name,
                               is_shared ? g_strdup ("another source still has it") : NULL);
  if (is_shared)
    follow_claims (difference, index, NULL);
  return TRUE;
}

/* Returns whether the source's groups and external use can move from node @from to node @to, which is the same machine:
 * both have the same place and kind, and no group of this ledger uses @to. */
static gboolean
can_take_over (QuoitDifference *difference, const QuoitNodeClaim *claim, guint32 from, guint32 to)
{
  const QuoitLayout *layout = difference->fleet->layout;

  return quoit_difference_find_own_group (difference, to) == NULL
         && quoit_difference_explain_conflict (difference, to, claim) == NULL
         && layout->nodes[from].worker_id == layout->nodes[to].worker_id
         && g_strcmp0 (quoit_layout_node_slice_name (layout, (QuoitNodeId) { from }),
                       quoit_layout_node_slice_name (layout, (QuoitNodeId) { to }))
                == 0
         && quoit_difference_is_equal_kind (difference, claim->kind, layout->nodes[from].kind);
}

static void
record_move (QuoitDifference *difference, const QuoitNodeClaim *claim, guint32 index)
{
  const QuoitNode *nodes = difference->fleet->layout->nodes;
  guint32 before = quoit_difference_find_node (difference, claim);

  if (before == QUOIT_NO_INDEX || before == index || !can_take_over (difference, claim, before, index))
    return;
  g_hash_table_insert (difference->moved_to, GUINT_TO_POINTER (nodes[before].id), GUINT_TO_POINTER (nodes[index].id));
  g_hash_table_insert (difference->moved_from, GUINT_TO_POINTER (nodes[index].id), GUINT_TO_POINTER (nodes[before].id));
}

static gboolean
compare_claim (QuoitDifference *difference, const QuoitNodeClaim *claim, guint32 i, GError **error)
{
  const QuoitLayout *layout = difference->fleet->layout;
  guint32 index = difference->claim_nodes[i];

  if (index == QUOIT_NO_INDEX)
    {
      upsert (difference, claim, difference->claim_ids[i], QUOIT_NO_INDEX, QUOIT_NODE_EVENT_ADDED);
      quoit_difference_add_change (difference, QUOIT_CHANGE_ADDED, claim->name, NULL);
      return TRUE;
    }
  difference->is_claimed[index] = 1;
  if (quoit_layout_claims_node (layout, difference->source, (QuoitNodeId) { index }))
    return compare_node (difference, index, claim, error);
  if (!quoit_difference_join_node (difference, index, claim, error))
    return FALSE;
  record_move (difference, claim, index);
  upsert (difference, claim, difference->claim_ids[i], QUOIT_NO_INDEX, QUOIT_NODE_EVENT_CHANGED);
  add_node_change (difference, QUOIT_CHANGE_ADDED, index, claim->name,
                   g_strdup_printf ("is '%s'", quoit_layout_node_name (layout, (QuoitNodeId) { index })));
  return TRUE;
}

gboolean
quoit_difference_compare_nodes (QuoitDifference *difference, GError **error)
{
  const QuoitLayout *layout = difference->fleet->layout;
  guint32 n;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (difference->claims, &n);

  for (guint32 i = 0; i < n; i++)
    if (!compare_claim (difference, &nodes[i], i, error))
      return FALSE;
  for (guint32 i = 0; i < quoit_layout_count_claimed (layout, difference->source); i++)
    {
      guint32 index = quoit_layout_claimed_node (layout, difference->source, i).index;

      if (quoit_difference_drops (difference, index) && !drop_node (difference, index, error))
        return FALSE;
    }
  return TRUE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the claims of a source with its previous ones, and writes the difference as an entry. */
#include "ledger/difference.h"
#include "fleet/kind.h"
#include "fleet/names.h"

#include <string.h>

static void
change_clear (gpointer data)
{
  QuoitNodeChange *change = data;

  g_free (change->name);
  g_free (change->detail);
  g_free (change->group);
}

void
quoit_difference_add_change (QuoitDifference *difference, QuoitChangeKind kind, const char *name,
                             char *detail) /* NOLINT: takes @detail */
{
  QuoitNodeChange change = { kind, g_strdup (name), detail, NULL };

  g_array_append_val (difference->changes, change);
}

const QuoitGroupData *
quoit_step_find_own_group (const QuoitFleet *fleet, QuoitNodeId node)
{
  QuoitUsers users = quoit_fleet_node_users (fleet, node);
  const QuoitGroupData *group;

  while ((group = quoit_fleet_users_next (&users)) != NULL)
    if (*group->source == '\0')
      return group;
  return NULL;
}

const QuoitGroupData *
quoit_difference_find_own_group (const QuoitDifference *difference, guint32 index)
{
  return quoit_step_find_own_group (difference->fleet, (QuoitNodeId) { index });
}

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
is_equal_kind (QuoitDifference *difference, guint32 claimed, guint32 layout_kind)
{
  if (difference->equal_kinds[claimed] == layout_kind)
    return TRUE;
  if (!quoit_node_kind_equal (quoit_claims_kind_at (difference->claims, claimed),
                              quoit_claims_kind_at (difference->fleet->layout->kinds, layout_kind)))
    return FALSE;
  difference->equal_kinds[claimed] = layout_kind;
  return TRUE;
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

/* Returns whether @claim reports a dead node without resources, as Ray does. Such a node keeps its previous kind. */
static gboolean
is_bare_dead_claim (const QuoitDifference *difference, const QuoitNodeClaim *claim, const QuoitNodeClaim *previous)
{
  const QuoitNodeKind *kind = quoit_claims_kind_at (difference->claims, claim->kind);
  const QuoitNodeKind *before = quoit_claims_kind_at (difference->fleet->layout->kinds, previous->kind);

  if (claim->state != QUOIT_NODE_DEAD || kind->chips == 0)
    return claim->state == QUOIT_NODE_DEAD;
  return quoit_node_kind_is_bare (kind) && quoit_node_kind_same_machine (kind, before)
         && quoit_pairs_equal (kind->labels, kind->n_labels, before->labels, before->n_labels);
}

static const char *
text_or_none (const char *text)
{
  return text == NULL ? "none" : text;
}

static QuoitNodeClaim
previous_claim (const QuoitDifference *difference, guint32 index, char **identity)
{
  return quoit_layout_claim (difference->fleet->layout, difference->source, (QuoitNodeId) { index }, identity);
}

/* Returns whether the node is still the machine that had the identity of @claim in the last import. A node that only
 * this source claims always is, because it was found by its identity. A node of several sources may have become another
 * machine. */
static gboolean
is_same_machine (QuoitDifference *difference, guint32 index, const QuoitNodeClaim *claim)
{
  guint32 known = difference->fleet->layout->n_joined == 0 ? index : quoit_difference_find_node (difference, claim);

  return known == index;
}

/* Describes how the kind of the node differs from @before. Sets *@breaks_use if a group cannot keep such a node. */
static char *
describe_kind (const QuoitDifference *difference, guint32 index, const QuoitNodeClaim *claim,
               const QuoitNodeKind *before, gboolean *breaks_use)
{
  const QuoitNodeKind *kind = quoit_claims_kind_at (difference->claims, claim->kind);
  gboolean same_machine = quoit_node_kind_same_machine (kind, before);
  gboolean same_tpu = quoit_node_kind_tpu_per_chip (kind).e4 == quoit_node_kind_tpu_per_chip (before).e4;

  /* For a shared node, only the best-informed source determines the kind. */
  *breaks_use = quoit_difference_is_shared (difference, index)
                    ? quoit_difference_changes_hardware (difference, index, claim)
                    : !same_machine || !same_tpu;
  if (!*breaks_use && quoit_difference_has_precedence (difference, index)
      && !quoit_step_kind_has_room (difference->fleet, (QuoitNodeId) { index }, kind))
    return *breaks_use = TRUE, g_strdup ("other resources, too few for the bundles there");
  if (!same_machine)
    return g_strdup ("other topology, pod type or chips");
  return g_strdup (same_tpu ? "other labels or resources" : "another number of devices per chip");
}

/* Returns whether the slice and worker id in the claim of this source count for the node. Kubernetes may only assume a
 * worker id; if Ray states one, Ray's counts. */
static gboolean
determines_place (const QuoitDifference *difference, guint32 index)
{
  return quoit_claims_source_kind (difference->claims) != QUOIT_SOURCE_KIND_K8S_NODES
         || !quoit_difference_is_placed_by_other_source (difference, index)
         || quoit_difference_has_precedence (difference, index);
}

static char *
describe_flags (guint8 previous, guint8 now)
{
  if (((previous ^ now) & QUOIT_NODE_LOST) != 0)
    return g_strdup ("in this source again");
  if (((previous ^ now) & QUOIT_NODE_ASSUMED_ID) != 0)
    return g_strdup ((now & QUOIT_NODE_ASSUMED_ID) != 0 ? "worker id assumed" : "worker id stated");
  return previous != now ? g_strdup ("other flags") : NULL;
}

/* Describes how a known node changes, and sets *@event. Returns NULL if it does not change. Sets *@breaks_use to
 * whether the change would take the node from a group. */
static char *
describe_change (QuoitDifference *difference, guint32 index, const QuoitNodeClaim *claim, gboolean *breaks_use,
                 QuoitNodeEvent *event)
{
  const QuoitLayout *layout = difference->fleet->layout;
  QuoitNodeClaim previous = previous_claim (difference, index, NULL);
  const char *pool = quoit_layout_text (layout, layout->pools[previous.pool].name);
  const char *new_pool = quoit_claims_pool_at (difference->claims, claim->pool)->name;

  *breaks_use = TRUE;
  *event = QUOIT_NODE_EVENT_CHANGED;
  if (!is_same_machine (difference, index, claim))
    return g_strdup ("another machine");
  *breaks_use = determines_place (difference, index);
  *event = QUOIT_NODE_EVENT_MOVED;
  if (g_strcmp0 (previous.slice, claim->slice) != 0)
    return g_strdup_printf ("slice %s -> %s", text_or_none (previous.slice), text_or_none (claim->slice));
  if (g_strcmp0 (previous.incarnation, claim->incarnation) != 0)
    return g_strdup ("another incarnation of its slice");
  if (strcmp (pool, new_pool) != 0)
    return g_strdup_printf ("pool %s -> %s", pool, new_pool);
  if (previous.worker_id != claim->worker_id)
    return g_strdup_printf ("worker %d -> %d", previous.worker_id, claim->worker_id);
  *event = QUOIT_NODE_EVENT_CHANGED;
  if (!is_bare_dead_claim (difference, claim, &previous) && !is_equal_kind (difference, claim->kind, previous.kind))
    return describe_kind (difference, index, claim, quoit_claims_kind_at (layout->kinds, previous.kind), breaks_use);
  *breaks_use = FALSE;
  if (strcmp (previous.name, claim->name) != 0)
    return g_strdup_printf ("name %s -> %s", previous.name, claim->name);
  if (g_strcmp0 (previous.address, claim->address) != 0)
    return g_strdup_printf ("address %s -> %s", text_or_none (previous.address), text_or_none (claim->address));
  return describe_flags (previous.flags, claim->flags);
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
      QuoitNodeClaim previous = previous_claim (difference, index, NULL);

      if (is_bare_dead_claim (difference, claim, &previous))
        kind = quoit_claims_kind_at (layout->kinds, previous.kind);
    }
  copy.pool = upsert_pool (difference, quoit_claims_pool_at (difference->claims, claim->pool));
  copy.kind = quoit_claims_intern_kind (difference->upserts, kind, NULL);
  add_upsert (difference, &copy, id, event);
}

/* Adds the claim to the source update, if only its state has changed. A node of several sources needs the whole claim,
 * because all claims determine its state. */
static void
upsert_state (QuoitDifference *difference, const QuoitNodeClaim *claim, guint32 index)
{
  const QuoitNode *node = &difference->fleet->layout->nodes[index];
  QuoitNodeStateChange change = { node->id, (QuoitNodeState) claim->state };

  if (quoit_difference_is_shared (difference, index) || (node->identity != 0) != (claim->identity != NULL))
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

static gboolean
compare_node (QuoitDifference *difference, guint32 index, const QuoitNodeClaim *claim, GError **error)
{
  QuoitNodeClaim previous = previous_claim (difference, index, NULL);
  QuoitNodeState previous_state = (QuoitNodeState) previous.state;
  /* The node was missing in this source, but stayed alive because of another source. */
  gboolean stayed_alive = (previous.flags & QUOIT_NODE_LOST) != 0
                          && quoit_fleet_node_state (difference->fleet, (QuoitNodeId) { index }) != QUOIT_NODE_DEAD;
  gboolean breaks_use;
  QuoitNodeEvent event;
  char *detail = describe_change (difference, index, claim, &breaks_use, &event);

  if (detail != NULL)
    {
      g_autofree char *what = g_strconcat ("would change: ", detail, NULL);

      if (breaks_use && refuse_if_in_use (difference, index, what, error))
        return g_free (detail), FALSE;
      difference->has_changed[index] = 1;
      add_node_change (difference, QUOIT_CHANGE_CHANGED, index, claim->name, detail);
    }
  if (detail != NULL)
    upsert (difference, claim, difference->fleet->layout->nodes[index].id, index, event);
  else if (previous_state != (QuoitNodeState) claim->state)
    upsert_state (difference, claim, index);
  if (previous_state != (QuoitNodeState) claim->state && !stayed_alive)
    add_node_change (
        difference, QUOIT_CHANGE_STATE, index, claim->name,
        g_strdup_printf ("%s -> %s", quoit_node_state_name (previous_state), quoit_node_state_name (claim->state)));
  if (is_same_machine (difference, index, claim))
    follow_claims (difference, index, claim);
  else
    /* A state that was set for the old machine does not apply to its replacement. */
    set_state (difference, index, quoit_difference_claimed_state (difference, index, claim));
  return TRUE;
}

/* Adds a claim of this source to a node of other sources. */
static gboolean
join_node (QuoitDifference *difference, guint32 index, const QuoitNodeClaim *claim, GError **error)
{
  const char *refused = quoit_difference_explain_conflict (difference, index, claim);

  if (refused != NULL && refuse_if_in_use (difference, index, refused, error))
    return FALSE;
  follow_claims (difference, index, claim);
  return TRUE;
}

/* Checks that no other source of the same kind claims one of the machines, because it would be counted twice. */
static gboolean
check_machines_unclaimed (const QuoitFleet *fleet, const QuoitClaims *claims, GError **error)
{
  const QuoitLayout *layout = fleet->layout;
  g_autoptr (GHashTable) machines = NULL;
  const QuoitNodeClaim *nodes;
  guint32 n;

  for (guint32 s = 0; s < layout->n_sources; s++)
    {
      const QuoitSource *source = &layout->sources[s];
      const char *name = quoit_layout_text (layout, source->name);

      if (source->kind != quoit_claims_source_kind (claims) || strcmp (name, quoit_claims_source (claims)) == 0)
        continue;
      nodes = quoit_claims_nodes (claims, &n);
      if (machines == NULL)
        {
          machines = g_hash_table_new (g_str_hash, g_str_equal);
          for (guint32 i = 0; i < n; i++)
            {
              if (nodes[i].identity != NULL)
                g_hash_table_insert (machines, (gpointer) nodes[i].identity, (gpointer) nodes[i].name);
              if (nodes[i].address != NULL && nodes[i].state != QUOIT_NODE_DEAD)
                g_hash_table_insert (machines, (gpointer) nodes[i].address, (gpointer) nodes[i].name);
            }
        }
      for (guint32 i = 0; i < quoit_layout_count_claimed (layout, (QuoitSourceId) { s }); i++)
        {
          QuoitNodeId node = quoit_layout_claimed_node (layout, (QuoitSourceId) { s }, i);
          g_autofree char *identity = NULL;
          QuoitNodeClaim claim = quoit_layout_claim (layout, (QuoitSourceId) { s }, node, &identity);
          const char *other = identity == NULL ? NULL : g_hash_table_lookup (machines, identity);

          if (other == NULL && claim.address != NULL && quoit_fleet_node_state (fleet, node) != QUOIT_NODE_DEAD)
            other = g_hash_table_lookup (machines, claim.address);
          if (other != NULL)
            return quoit_fail (
                error, QUOIT_ERROR_CONFLICT,
                "source '%s': its node '%s' is a machine that source '%s' claims already, as '%s'; import "
                "it under that name with --source %s",
                quoit_claims_source (claims), other, name, claim.name, name);
        }
    }
  return TRUE;
}

/* A node of several sources has the identity that one of them uses. This source may use another one, so that such nodes
 * need a second index, by the identity in this source's previous claim. */
static void
index_joined_nodes (QuoitDifference *difference)
{
  const QuoitLayout *layout = difference->fleet->layout;
  const QuoitSource *source = &layout->sources[difference->source.index];

  difference->old_joined = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint32 i = 0; i < source->n_foreign + source->n_shared; i++)
    {
      guint32 row = i < source->n_foreign ? source->first_foreign + i : source->first_shared + i - source->n_foreign;
      guint32 index = layout->joined[row].node;
      g_autofree char *identity = NULL;
      QuoitNodeClaim claim = previous_claim (difference, index, &identity);

      g_hash_table_insert (difference->old_joined, g_strdup (quoit_node_claim_identity (&claim)),
                           GUINT_TO_POINTER (index + 1));
    }
}

guint32
quoit_difference_find_node (QuoitDifference *difference, const QuoitNodeClaim *claim)
{
  QuoitNodeId node;
  guint32 index;

  if (difference->source.index == QUOIT_NO_INDEX)
    return QUOIT_NO_INDEX;
  index = GPOINTER_TO_UINT (g_hash_table_lookup (difference->old_joined, quoit_node_claim_identity (claim)));
  if (index != 0)
    return index - 1;
  return quoit_identities_find (&difference->old_nodes, claim, &node) ? node.index : QUOIT_NO_INDEX;
}

/* Keeps a node that the source no longer has, because a group uses it, and marks it as lost. The node becomes dead
 * unless another source reports it as alive. */
static void
keep_lost_node (QuoitDifference *difference, guint32 index)
{
  const QuoitLayout *layout = difference->fleet->layout;
  g_autofree char *identity = NULL;
  QuoitNodeClaim claim = previous_claim (difference, index, &identity);
  gboolean was_lost = (claim.flags & QUOIT_NODE_LOST) != 0, is_dead;

  claim.pool = upsert_pool (difference,
                            &(QuoitPoolClaim) { .name = quoit_layout_text (layout, layout->pools[claim.pool].name) });
  claim.kind = quoit_claims_intern_kind (difference->upserts, quoit_claims_kind_at (layout->kinds, claim.kind), NULL);
  claim.state = QUOIT_NODE_DEAD;
  claim.flags |= QUOIT_NODE_LOST;
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
  QuoitNodeClaim claim = previous_claim (difference, index, NULL);
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
         && is_equal_kind (difference, claim->kind, layout->nodes[from].kind);
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
  if (!join_node (difference, index, claim, error))
    return FALSE;
  record_move (difference, claim, index);
  upsert (difference, claim, difference->claim_ids[i], QUOIT_NO_INDEX, QUOIT_NODE_EVENT_CHANGED);
  add_node_change (difference, QUOIT_CHANGE_ADDED, index, claim->name,
                   g_strdup_printf ("is '%s'", quoit_layout_node_name (layout, (QuoitNodeId) { index })));
  return TRUE;
}

static gboolean
compare_nodes (QuoitDifference *difference, GError **error)
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

/* Returns whether the pool has the properties that keep_pools() of import-update.c leaves it: none. */
static gboolean
is_kept_as_it_is (const QuoitDifference *difference, guint32 pool)
{
  const QuoitLayout *layout = difference->fleet->layout;
  const char *name = quoit_layout_text (layout, layout->pools[pool].name);

  return g_hash_table_contains (difference->kept_pools, name)
         && quoit_layout_pool_matches (layout, (QuoitPoolId) { pool }, &(QuoitPoolClaim) { .name = name });
}

/* Finds out whether all pools of the source stay as they are. */
static void
compare_pools (QuoitDifference *difference)
{
  guint32 n_same = 0, n_new = 0;
  const QuoitLayout *layout = difference->fleet->layout;
  const QuoitSource *source = &layout->sources[difference->source.index];
  g_autoptr (GHashTable) before = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint32 q = source->first_pool; q < source->first_pool + source->n_pools; q++)
    g_hash_table_insert (before, (gpointer) quoit_layout_text (layout, layout->pools[q].name),
                         GUINT_TO_POINTER (q + 1));
  for (guint32 p = 0; p < quoit_claims_n_pools (difference->claims); p++)
    {
      const QuoitPoolClaim *claim = quoit_claims_pool_at (difference->claims, p);
      guint32 pool = GPOINTER_TO_UINT (g_hash_table_lookup (before, claim->name));

      n_new += pool == 0;
      if (pool == 0)
        quoit_difference_add_change (difference, QUOIT_CHANGE_POOL, claim->name, g_strdup ("new"));
      else if (!quoit_layout_pool_matches (layout, (QuoitPoolId) { pool - 1 }, claim))
        quoit_difference_add_change (difference, QUOIT_CHANGE_POOL, claim->name,
                                     g_strdup ("other pods or environment"));
      else
        n_same++;
      g_hash_table_remove (before, claim->name);
    }
  for (guint32 q = source->first_pool; q < source->first_pool + source->n_pools; q++)
    n_same += g_hash_table_contains (before, quoit_layout_text (layout, layout->pools[q].name))
              && is_kept_as_it_is (difference, q);
  difference->keeps_pools = n_new == 0 && n_same == source->n_pools;
}

static void
difference_clear (QuoitDifference *difference)
{
  quoit_identities_clear (&difference->old_nodes);
  g_clear_pointer (&difference->old_joined, g_hash_table_unref);
  g_free (difference->claim_nodes);
  g_free (difference->equal_kinds);
  g_free (difference->is_claimed);
  g_clear_pointer (&difference->changes, g_array_unref);
  quoit_claims_free (difference->upserts);
  g_clear_pointer (&difference->upsert_ids, g_array_unref);
  g_clear_pointer (&difference->upsert_events, g_byte_array_unref);
  g_clear_pointer (&difference->removed_ids, g_array_unref);
  g_clear_pointer (&difference->removed_names, g_ptr_array_unref);
  g_clear_pointer (&difference->claimed_states, g_array_unref);
  g_clear_pointer (&difference->kept_pools, g_hash_table_unref);
  g_clear_pointer (&difference->state_effects, g_array_unref);
  g_clear_pointer (&difference->effects_before, g_array_unref);
  g_clear_pointer (&difference->effects_after, g_array_unref);
  g_clear_pointer (&difference->new_states, g_hash_table_unref);
  g_clear_pointer (&difference->moved_to, g_hash_table_unref);
  g_clear_pointer (&difference->moved_from, g_hash_table_unref);
  g_free (difference->claim_ids);
  g_free (difference->has_changed);
  g_free (difference->is_removed);
}

static void
effect_clear (gpointer effect)
{
  quoit_effect_clear (effect);
}

static GArray *
new_effects (void)
{
  GArray *effects = g_array_new (FALSE, FALSE, sizeof (QuoitEffect));

  g_array_set_clear_func (effects, effect_clear);
  return effects;
}

static void
difference_init (QuoitDifference *difference)
{
  guint32 n, n_old = difference->fleet->layout->n_nodes;

  quoit_claims_nodes (difference->claims, &n);
  difference->equal_kinds = g_new (guint32, quoit_claims_n_kinds (difference->claims) + 1);
  memset (difference->equal_kinds, 0xff, (quoit_claims_n_kinds (difference->claims) + 1) * sizeof (guint32));
  difference->is_claimed = g_new0 (guint8, n_old + 1);
  difference->has_changed = g_new0 (guint8, n_old + 1);
  difference->claim_ids = g_new (guint32, n + 1);
  difference->claim_nodes = g_new (guint32, n + 1);
  difference->changes = g_array_new (FALSE, FALSE, sizeof (QuoitNodeChange));
  g_array_set_clear_func (difference->changes, change_clear);
  difference->upsert_ids = g_array_new (FALSE, FALSE, sizeof (guint32));
  difference->upsert_events = g_byte_array_new ();
  difference->removed_ids = g_array_new (FALSE, FALSE, sizeof (guint32));
  difference->removed_names = g_ptr_array_new ();
  difference->claimed_states = g_array_new (FALSE, FALSE, sizeof (QuoitNodeStateChange));
  difference->kept_pools = g_hash_table_new (g_str_hash, g_str_equal);
  difference->state_effects = new_effects ();
  difference->effects_before = new_effects ();
  difference->effects_after = new_effects ();
  difference->new_states = g_hash_table_new (NULL, NULL);
  difference->moved_to = g_hash_table_new (NULL, NULL);
  difference->moved_from = g_hash_table_new (NULL, NULL);
}

/* Moves the effects to the entry. The entry then owns their content, so that the array gets empty effects instead. */
static void
move_effects (QuoitEntry *entry, GArray *effects)
{
  for (guint i = 0; i < effects->len; i++)
    {
      QuoitEffect *effect = &g_array_index (effects, QuoitEffect, i);

      quoit_entry_add (entry, *effect);
      *effect = (QuoitEffect) { .type = QUOIT_EFFECT_NODE_STATE };
    }
}

/* Makes the entry. Groups leave their nodes before the nodes change, and are placed on the changed nodes afterwards.
 * Takes ownership of @update. */
static void
make_entry (QuoitDifference *difference, QuoitSourceUpdate *update, gint64 time_ms, QuoitEntry **entry)
{
  *entry = quoit_entry_new (difference->fleet, difference->verb, time_ms);
  move_effects (*entry, difference->effects_before);
  if (update != NULL)
    quoit_entry_add (*entry, (QuoitEffect) { .type = QUOIT_EFFECT_IMPORT, .import = update });
  move_effects (*entry, difference->state_effects);
  move_effects (*entry, difference->effects_after);
}

/* Gives each claim a durable node id. Nodes that no source has claimed get a new one. */
static void
assign_ids (QuoitDifference *difference)
{
  guint32 n, next_id = difference->fleet->next_node_id;

  quoit_claims_nodes (difference->claims, &n);
  for (guint32 i = 0; i < n; i++)
    difference->claim_ids[i] = difference->claim_nodes[i] == QUOIT_NO_INDEX
                                   ? next_id++
                                   : difference->fleet->layout->nodes[difference->claim_nodes[i]].id;
}

/* Imports an unknown source with all of its claims. */
static gboolean
import_new (QuoitDifference *difference, QuoitClaims **claims, gint64 time_ms, QuoitEntry **entry, GError **error)
{
  guint32 n, *ids;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (*claims, &n);
  QuoitSourceUpdate *update;

  if (!quoit_difference_join_nodes (difference, error))
    return FALSE;
  assign_ids (difference);
  for (guint32 i = 0; i < n; i++)
    if (difference->claim_nodes[i] != QUOIT_NO_INDEX
        && !join_node (difference, difference->claim_nodes[i], &nodes[i], error))
      return FALSE;
  quoit_difference_add_losses (difference);
  if (!quoit_difference_import_groups (difference, time_ms, error))
    return FALSE;
  ids = g_memdup2 (difference->claim_ids, (n + 1) * sizeof *ids);
  update = quoit_source_update_new (g_steal_pointer (claims), ids, NULL, 0);
  update->events = g_new (guint8, n + 1);
  for (guint32 i = 0; i < n; i++)
    update->events[i]
        = difference->claim_nodes[i] == QUOIT_NO_INDEX ? QUOIT_NODE_EVENT_ADDED : QUOIT_NODE_EVENT_CHANGED;
  make_entry (difference, update, time_ms, entry);
  return TRUE;
}

/* Limits the nodes of all sources together. The readers limit only one source. */
static gboolean
check_size (const QuoitLayout *layout, const QuoitClaims *claims, GError **error)
{
  guint32 n, others = layout->n_nodes;
  QuoitSourceId source;

  if (quoit_layout_find_source (layout, quoit_claims_source (claims), &source))
    others -= layout->sources[source.index].n_nodes;
  quoit_claims_nodes (claims, &n);
  return (guint64) n + others <= QUOIT_MAX_NODES
         || quoit_fail (error, QUOIT_ERROR_INVALID,
                        "source '%s': %u nodes in addition to the fleet's %u: expected at most %d together",
                        quoit_claims_source (claims), n, others, QUOIT_MAX_NODES);
}

static gboolean
check_n_sources (const QuoitLayout *layout, const QuoitClaims *claims, GError **error)
{
  QuoitSourceId source;

  return layout->n_sources < QUOIT_MAX_SOURCES
         || quoit_layout_find_source (layout, quoit_claims_source (claims), &source)
         || quoit_fail (error, QUOIT_ERROR_INVALID, "source '%s': the ledger has %u sources: expected at most %d",
                        quoit_claims_source (claims), layout->n_sources, QUOIT_MAX_SOURCES);
}

/* Limits the length of each text of a node, so that readers of the database can refuse longer rows. */
static gboolean
check_texts (const QuoitClaims *claims, GError **error)
{
  guint32 n;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (claims, &n);

  for (guint32 i = 0; i < n; i++)
    {
      const char *longest = quoit_node_claim_longest_text (&nodes[i]);

      if (strlen (longest) > QUOIT_MAX_NODE_TEXT_BYTES)
        {
          g_autofree char *quoted = quoit_quote (longest);

          return quoit_fail (error, QUOIT_ERROR_INVALID,
                             "source '%s': a node has text %s of %zu bytes: expected at most %d",
                             quoit_claims_source (claims), quoted, strlen (longest), QUOIT_MAX_NODE_TEXT_BYTES);
        }
    }
  return TRUE;
}

/* Adds all current pools to the source update. */
static void
add_pools (QuoitDifference *difference)
{
  const QuoitLayout *layout = difference->fleet->layout;
  const QuoitSource *source = &layout->sources[difference->source.index];

  for (guint32 p = 0; p < quoit_claims_n_pools (difference->claims); p++)
    quoit_claims_copy_pool (difference->upserts, quoit_claims_pool_at (difference->claims, p));
  for (guint32 q = source->first_pool; q < source->first_pool + source->n_pools; q++)
    if (g_hash_table_contains (difference->kept_pools, quoit_layout_text (layout, layout->pools[q].name)))
      quoit_claims_ensure_pool (difference->upserts, quoit_layout_text (layout, layout->pools[q].name));
}

static QuoitSourceUpdate *
make_update (QuoitDifference *difference)
{
  guint32 n_removed = difference->removed_ids->len;
  QuoitSourceUpdate *update;

  if (!difference->keeps_pools)
    add_pools (difference);
  update = quoit_source_update_new (
      g_steal_pointer (&difference->upserts),
      (guint32 *) (void *) g_array_free (g_steal_pointer (&difference->upsert_ids), FALSE),
      (guint32 *) (void *) g_array_free (g_steal_pointer (&difference->removed_ids), FALSE), n_removed);
  update->keeps_pools = difference->keeps_pools;
  update->events = g_byte_array_free (g_steal_pointer (&difference->upsert_events), FALSE);
  update->removed_names = (const char **) g_ptr_array_free (g_steal_pointer (&difference->removed_names), FALSE);
  update->n_states = difference->claimed_states->len;
  update->states
      = (QuoitNodeStateChange *) (void *) g_array_free (g_steal_pointer (&difference->claimed_states), FALSE);
  return update;
}

/* Adds the pools that the source no longer has to the list of changes. Runs after the nodes were compared, because a
 * pool with lost nodes stays. */
static void
add_removed_pools (QuoitDifference *difference)
{
  const QuoitLayout *layout = difference->fleet->layout;
  const QuoitSource *source = &layout->sources[difference->source.index];
  g_autoptr (GHashTable) now = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint32 p = 0; p < quoit_claims_n_pools (difference->claims); p++)
    g_hash_table_add (now, (gpointer) quoit_claims_pool_at (difference->claims, p)->name);
  for (guint32 p = 0; p < quoit_claims_n_pools (difference->upserts); p++)
    g_hash_table_add (now, (gpointer) quoit_claims_pool_at (difference->upserts, p)->name);
  for (guint32 q = source->first_pool; q < source->first_pool + source->n_pools; q++)
    if (!g_hash_table_contains (now, quoit_layout_text (layout, layout->pools[q].name))
        && !g_hash_table_contains (difference->kept_pools, quoit_layout_text (layout, layout->pools[q].name)))
      quoit_difference_add_change (difference, QUOIT_CHANGE_POOL, quoit_layout_text (layout, layout->pools[q].name),
                                   g_strdup ("gone"));
}

static gboolean
import_again (QuoitDifference *difference, gint64 time_ms, QuoitEntry **entry, GError **error)
{
  guint n_changes;

  difference->upserts
      = quoit_claims_new (quoit_claims_source (difference->claims), quoit_claims_source_kind (difference->claims));
  quoit_identities_init (&difference->old_nodes, difference->fleet->layout, difference->source);
  index_joined_nodes (difference);
  if (!quoit_difference_join_nodes (difference, error))
    return FALSE;
  assign_ids (difference);
  if (difference->update != NULL && !quoit_difference_begin_update (difference, error))
    return FALSE;
  compare_pools (difference);
  if (!compare_nodes (difference, error))
    return FALSE;
  add_removed_pools (difference);
  n_changes = difference->changes->len;
  quoit_difference_add_losses (difference);
  if (!quoit_difference_import_groups (difference, time_ms, error))
    return FALSE;
  if (difference->changes->len > 0 || difference->state_effects->len > 0)
    make_entry (difference, n_changes > 0 ? make_update (difference) : NULL, time_ms, entry);
  return TRUE;
}

gboolean
quoit_difference_import (const QuoitFleet *fleet, QuoitClaims **claims, QuoitVerb verb, const QuoitNodesUpdate *update,
                         gint64 now_ms, QuoitEntry **entry, GArray **changes, GError **error)
{
  QuoitDifference difference = { .fleet = fleet, .claims = *claims, .verb = verb, .update = update };
  const char *name = quoit_claims_source (*claims);
  gboolean is_known, ok;
  gint64 time_ms = 0;

  if (!quoit_name_check ("source", name, error) || !quoit_step_clock (fleet, now_ms, &time_ms, error)
      || (update == NULL && !check_size (fleet->layout, *claims, error))
      || !check_n_sources (fleet->layout, *claims, error) || !check_texts (*claims, error)
      || !check_machines_unclaimed (fleet, *claims, error))
    return FALSE;

  is_known = quoit_layout_find_source (fleet->layout, name, &difference.source);
  if (is_known && fleet->layout->sources[difference.source.index].kind != quoit_claims_source_kind (*claims))
    return quoit_fail (error, QUOIT_ERROR_CONFLICT,
                       "source '%s' is of another kind: import this one under another name with --source", name);
  if (!is_known)
    difference.source.index = QUOIT_NO_INDEX;
  else
    quoit_step_keep_assumed_ids (fleet, difference.source, *claims);
  difference_init (&difference);
  ok = is_known ? import_again (&difference, time_ms, entry, error)
                : import_new (&difference, claims, time_ms, entry, error);
  if (ok)
    *changes = g_steal_pointer (&difference.changes);
  difference_clear (&difference);
  return ok;
}

gboolean
quoit_step_import (const QuoitFleet *fleet, QuoitClaims **claims, gint64 now_ms, QuoitEntry **entry,
                   QuoitOutcome *outcome, GError **error)
{
  return quoit_difference_import (fleet, claims, QUOIT_VERB_IMPORT, NULL, now_ms, entry, &outcome->changes, error);
}

gboolean
quoit_step_sync (const QuoitFleet *fleet, QuoitClaims **claims, gint64 now_ms, QuoitEntry **entry,
                 QuoitOutcome *outcome, GError **error)
{
  return quoit_difference_import (fleet, claims, QUOIT_VERB_SYNC, NULL, now_ms, entry, &outcome->changes, error);
}

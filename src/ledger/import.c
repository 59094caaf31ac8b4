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
quoit_difference_note (QuoitDifference *difference, QuoitChangeKind kind, const char *name,
                       char *detail) /* NOLINT: takes @detail */
{
  QuoitNodeChange change = { kind, g_strdup (name), detail, NULL };

  g_array_append_val (difference->changes, change);
}

const QuoitGroupData *
quoit_step_holder (const QuoitFleet *fleet, QuoitNodeId node)
{
  QuoitUsers users = quoit_fleet_node_users (fleet, node);
  const QuoitGroupData *group;

  while ((group = quoit_fleet_users_next (&users)) != NULL)
    if (*group->source == '\0')
      return group;
  return NULL;
}

const QuoitGroupData *
quoit_difference_holder (const QuoitDifference *difference, guint32 index)
{
  return quoit_step_holder (difference->fleet, (QuoitNodeId) { index });
}

/* As quoit_difference_note(), for a node of the fleet. Adds the group that holds it. */
static void
note_node (QuoitDifference *difference, QuoitChangeKind kind, guint32 index, const char *name,
           char *detail) /* NOLINT: takes @detail */
{
  const QuoitGroupData *group = quoit_difference_holder (difference, index);

  quoit_difference_note (difference, kind, name, detail);
  if (group != NULL)
    g_array_index (difference->changes, QuoitNodeChange, difference->changes->len - 1).group
        = g_strdup_printf ("%s@%" G_GUINT64_FORMAT, group->name, group->id);
}

static gboolean
kind_is_the_same (QuoitDifference *difference, guint32 claimed, guint32 laid)
{
  if (difference->known_equal[claimed] == laid)
    return TRUE;
  if (!quoit_node_kind_equal (quoit_claims_kind_at (difference->claims, claimed),
                              quoit_claims_kind_at (difference->fleet->layout->kinds, laid)))
    return FALSE;
  difference->known_equal[claimed] = laid;
  return TRUE;
}

static gboolean
held (const QuoitDifference *difference, guint32 index, const char *what, GError **error)
{
  const QuoitGroupData *group = quoit_difference_holder (difference, index);

  if (group == NULL)
    return FALSE;
  quoit_fail (error, QUOIT_ERROR_CONFLICT,
              "source '%s': node '%s' %s, but group '%s@%" G_GUINT64_FORMAT "' holds it; release the group first%s",
              quoit_claims_source (difference->claims),
              quoit_layout_node_name (difference->fleet->layout, (QuoitNodeId) { index }), what, group->name, group->id,
              difference->verb == QUOIT_VERB_IMPORT ? ", or `sync`, which calls the node lost" : "");
  return TRUE;
}

/* Whether the claim describes a dead node without resources, as Ray does. The node then keeps its previous kind. */
static gboolean
tells_nothing (const QuoitDifference *difference, const QuoitNodeClaim *claim, const QuoitNodeClaim *was)
{
  const QuoitNodeKind *kind = quoit_claims_kind_at (difference->claims, claim->kind);
  const QuoitNodeKind *before = quoit_claims_kind_at (difference->fleet->layout->kinds, was->kind);

  if (claim->state != QUOIT_NODE_DEAD || kind->chips == 0)
    return claim->state == QUOIT_NODE_DEAD;
  return quoit_node_kind_is_bare (kind) && quoit_node_kind_same_machine (kind, before)
         && quoit_pairs_equal (kind->labels, kind->n_labels, before->labels, before->n_labels);
}

static const char *
or_none (const char *text)
{
  return text == NULL ? "none" : text;
}

static QuoitNodeClaim
claimed_so_far (const QuoitDifference *difference, guint32 index, char **identity)
{
  return quoit_layout_claim (difference->fleet->layout, difference->source, (QuoitNodeId) { index }, identity);
}

/* Nodes that only this source claims are found by identity. A node that it shares may have become another machine. */
static gboolean
is_same_machine (QuoitDifference *difference, guint32 index, const QuoitNodeClaim *claim)
{
  guint32 known = difference->fleet->layout->n_joined == 0 ? index : quoit_difference_find (difference, claim);

  return known == index;
}

/* Describes how the kind of the node differs from @before. Sets *@moved if a group cannot keep such a node. */
static char *
describe_kind (const QuoitDifference *difference, guint32 index, const QuoitNodeClaim *claim,
               const QuoitNodeKind *before, gboolean *moved)
{
  const QuoitNodeKind *kind = quoit_claims_kind_at (difference->claims, claim->kind);
  gboolean same_machine = quoit_node_kind_same_machine (kind, before);
  gboolean same_tpu = quoit_node_kind_tpu_per_chip (kind).e4 == quoit_node_kind_tpu_per_chip (before).e4;

  /* For a shared node, only the best-informed source determines the kind. */
  *moved = quoit_difference_is_shared (difference, index) ? quoit_difference_makes_another (difference, index, claim)
                                                          : !same_machine || !same_tpu;
  if (!*moved && quoit_difference_knows_best (difference, index)
      && !quoit_step_kind_suffices (difference->fleet, (QuoitNodeId) { index }, kind))
    return *moved = TRUE, g_strdup ("other resources, too few for the bundles there");
  if (!same_machine)
    return g_strdup ("other topology, pod type or chips");
  return g_strdup (same_tpu ? "other labels or resources" : "another number of devices a chip");
}

/* Whether the source determines the place of the node. Kubernetes identifies its machines by address. Its assumed
 * place of a node that Ray has placed does not count. */
static gboolean
places_node (const QuoitDifference *difference, guint32 index)
{
  return quoit_claims_source_kind (difference->claims) != QUOIT_SOURCE_KIND_K8S_NODES
         || !quoit_difference_stands_elsewhere (difference, index) || quoit_difference_knows_best (difference, index);
}

static char *
describe_flags (guint8 was, guint8 now)
{
  if (((was ^ now) & QUOIT_NODE_LOST) != 0)
    return g_strdup ("there again");
  if (((was ^ now) & QUOIT_NODE_ASSUMED_ID) != 0)
    return g_strdup ((now & QUOIT_NODE_ASSUMED_ID) != 0 ? "worker id assumed" : "worker id stated");
  return was != now ? g_strdup ("other flags") : NULL;
}

/* Describes the difference of a known node; NULL: none. Sets *@moved if a group cannot keep such a node. */
static char *
describe (QuoitDifference *difference, guint32 index, const QuoitNodeClaim *claim, gboolean *moved)
{
  const QuoitLayout *layout = difference->fleet->layout;
  QuoitNodeClaim was = claimed_so_far (difference, index, NULL);
  const char *pool = quoit_layout_text (layout, layout->pools[was.pool].name);
  const char *new_pool = quoit_claims_pool_at (difference->claims, claim->pool)->name;

  *moved = TRUE;
  if (!is_same_machine (difference, index, claim))
    return g_strdup ("another machine");
  *moved = places_node (difference, index);
  if (g_strcmp0 (was.slice, claim->slice) != 0)
    return g_strdup_printf ("slice %s -> %s", or_none (was.slice), or_none (claim->slice));
  if (g_strcmp0 (was.incarnation, claim->incarnation) != 0)
    return g_strdup ("another incarnation of its slice");
  if (strcmp (pool, new_pool) != 0)
    return g_strdup_printf ("pool %s -> %s", pool, new_pool);
  if (was.worker_id != claim->worker_id)
    return g_strdup_printf ("worker %d -> %d", was.worker_id, claim->worker_id);
  if (!tells_nothing (difference, claim, &was) && !kind_is_the_same (difference, claim->kind, was.kind))
    return describe_kind (difference, index, claim, quoit_claims_kind_at (layout->kinds, was.kind), moved);
  *moved = FALSE;
  if (strcmp (was.name, claim->name) != 0)
    return g_strdup_printf ("name %s -> %s", was.name, claim->name);
  if (g_strcmp0 (was.address, claim->address) != 0)
    return g_strdup_printf ("address %s -> %s", or_none (was.address), or_none (claim->address));
  return describe_flags (was.flags, claim->flags);
}

/* @index: the node that the source claimed before; QUOIT_NO_INDEX: none. */
static void
upsert (QuoitDifference *difference, const QuoitNodeClaim *claim, guint32 id, guint32 index)
{
  const QuoitLayout *layout = difference->fleet->layout;
  const QuoitNodeKind *kind = quoit_claims_kind_at (difference->claims, claim->kind);
  QuoitNodeClaim copy = *claim;

  if (index != QUOIT_NO_INDEX)
    {
      QuoitNodeClaim was = claimed_so_far (difference, index, NULL);

      if (tells_nothing (difference, claim, &was))
        kind = quoit_claims_kind_at (layout->kinds, was.kind);
    }
  copy.pool = quoit_claims_pool (difference->upserts, quoit_claims_pool_at (difference->claims, claim->pool)->name);
  copy.kind = quoit_claims_kind (difference->upserts, kind, NULL);
  quoit_claims_add (difference->upserts, &copy);
  g_array_append_val (difference->ids, id);
}

static void
set_state (QuoitDifference *difference, guint32 index, QuoitNodeState state)
{
  guint32 id = difference->fleet->layout->nodes[index].id;
  QuoitEffect effect = { .type = QUOIT_EFFECT_NODE_STATE, .node_id = id, .state = state };

  if (quoit_fleet_node_state (difference->fleet, (QuoitNodeId) { index }) == state)
    return;
  g_array_append_val (difference->states, effect);
  g_hash_table_insert (difference->new_states, GUINT_TO_POINTER (id), GUINT_TO_POINTER (state + 1));
}

/* Sets the state of the node if the claims about it have changed. @claim: the claim of this source; NULL: none. */
static void
follow_claims (QuoitDifference *difference, guint32 index, const QuoitNodeClaim *claim)
{
  QuoitNodeState claimed = quoit_difference_claimed_state (difference, index, claim);

  if (difference->fleet->layout->nodes[index].claimed != claimed)
    set_state (difference, index, claimed);
}

static gboolean
compare_node (QuoitDifference *difference, guint32 index, const QuoitNodeClaim *claim, GError **error)
{
  QuoitNodeClaim before = claimed_so_far (difference, index, NULL);
  QuoitNodeState was = (QuoitNodeState) before.state;
  /* The node was missing in this source only; another source kept it alive. */
  gboolean was_seen = (before.flags & QUOIT_NODE_LOST) != 0
                      && quoit_fleet_node_state (difference->fleet, (QuoitNodeId) { index }) != QUOIT_NODE_DEAD;
  gboolean moved;
  char *detail = describe (difference, index, claim, &moved);

  if (detail != NULL)
    {
      g_autofree char *what = g_strconcat ("would change: ", detail, NULL);

      if (moved && held (difference, index, what, error))
        return g_free (detail), FALSE;
      difference->changed[index] = 1;
      note_node (difference, QUOIT_CHANGE_CHANGED, index, claim->name, detail);
    }
  if (detail != NULL || was != (QuoitNodeState) claim->state)
    upsert (difference, claim, difference->fleet->layout->nodes[index].id, index);
  if (was != (QuoitNodeState) claim->state && !was_seen)
    note_node (difference, QUOIT_CHANGE_STATE, index, claim->name,
               g_strdup_printf ("%s -> %s", quoit_node_state_name (was), quoit_node_state_name (claim->state)));
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
  const char *refused = quoit_difference_refuses (difference, index, claim);

  if (refused != NULL && held (difference, index, refused, error))
    return FALSE;
  follow_claims (difference, index, claim);
  return TRUE;
}

/* Refuses machines that another source of the same kind claims, because they would be counted twice. */
static gboolean
claims_only_its_own (const QuoitFleet *fleet, const QuoitClaims *claims, GError **error)
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
      for (guint32 i = 0; i < quoit_layout_n_claimed (layout, (QuoitSourceId) { s }); i++)
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

/* A node with several claims has the identity of one source. This source may have used another one, so such nodes
 * have an index of their own. */
static void
index_joined_nodes (QuoitDifference *difference)
{
  const QuoitLayout *layout = difference->fleet->layout;
  const QuoitSource *source = &layout->sources[difference->source.index];

  difference->old_joined = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint32 i = 0; i < source->n_guests + source->n_hosts; i++)
    {
      guint32 row = i < source->n_guests ? source->first_guest + i : source->first_host + i - source->n_guests;
      guint32 index = layout->joined[row].node;
      g_autofree char *identity = NULL;
      QuoitNodeClaim claim = claimed_so_far (difference, index, &identity);

      g_hash_table_insert (difference->old_joined, g_strdup (quoit_node_claim_identity (&claim)),
                           GUINT_TO_POINTER (index + 1));
    }
}

guint32
quoit_difference_find (QuoitDifference *difference, const QuoitNodeClaim *claim)
{
  QuoitNodeId node;
  guint32 index;

  if (difference->source.index == QUOIT_NO_INDEX)
    return QUOIT_NO_INDEX;
  index = GPOINTER_TO_UINT (g_hash_table_lookup (difference->old_joined, quoit_node_claim_identity (claim)));
  if (index != 0)
    return index - 1;
  return quoit_identities_find (&difference->old, claim, &node) ? node.index : QUOIT_NO_INDEX;
}

/* Keeps a held node that the source no longer has, marked as lost, in its place. The node becomes dead unless
 * another source reports it as alive. */
static void
keep_lost (QuoitDifference *difference, guint32 index)
{
  const QuoitLayout *layout = difference->fleet->layout;
  g_autofree char *identity = NULL;
  QuoitNodeClaim claim = claimed_so_far (difference, index, &identity);
  gboolean is_known = (claim.flags & QUOIT_NODE_LOST) != 0, is_lost;

  claim.pool = quoit_claims_pool (difference->upserts, quoit_layout_text (layout, layout->pools[claim.pool].name));
  claim.kind = quoit_claims_kind (difference->upserts, quoit_claims_kind_at (layout->kinds, claim.kind), NULL);
  claim.state = QUOIT_NODE_DEAD;
  claim.flags |= QUOIT_NODE_LOST;
  is_lost = quoit_difference_claimed_state (difference, index, &claim) == QUOIT_NODE_DEAD;
  if (!is_known)
    {
      quoit_claims_add (difference->upserts, &claim);
      g_array_append_val (difference->ids, layout->nodes[index].id);
      note_node (difference, is_lost ? QUOIT_CHANGE_LOST : QUOIT_CHANGE_CHANGED, index, claim.name,
                 is_lost ? NULL : g_strdup ("gone here, and another source has it still"));
    }
  /* Also if the node was claimed dead before and has been set alive since. */
  if (is_lost)
    set_state (difference, index, QUOIT_NODE_DEAD);
}

/* Handles a node that the claims no longer contain. */
static gboolean
leave_node (QuoitDifference *difference, guint32 index, GError **error)
{
  const QuoitLayout *layout = difference->fleet->layout;
  QuoitNodeClaim claim = claimed_so_far (difference, index, NULL);
  gboolean is_lost = (claim.flags & QUOIT_NODE_LOST) != 0, stays = quoit_difference_is_shared (difference, index);

  if (quoit_difference_holder (difference, index) != NULL && (difference->verb == QUOIT_VERB_SYNC || is_lost))
    return keep_lost (difference, index), TRUE;
  if (held (difference, index, "would go", error))
    return FALSE;
  difference->changed[index] = 1;
  g_array_append_val (difference->removed, layout->nodes[index].id);
  quoit_difference_note (difference, QUOIT_CHANGE_REMOVED, claim.name,
                         stays ? g_strdup ("another source has it still") : NULL);
  if (stays)
    follow_claims (difference, index, NULL);
  return TRUE;
}

/* Whether the source's groups and use of the machine can move from one node to the other: same place, same kind, and
 * no group of this ledger holds the target. */
static gboolean
can_move (QuoitDifference *difference, const QuoitNodeClaim *claim, guint32 from, guint32 to)
{
  const QuoitLayout *layout = difference->fleet->layout;

  return quoit_difference_holder (difference, to) == NULL && quoit_difference_refuses (difference, to, claim) == NULL
         && layout->nodes[from].worker_id == layout->nodes[to].worker_id
         && g_strcmp0 (quoit_layout_node_slice_name (layout, (QuoitNodeId) { from }),
                       quoit_layout_node_slice_name (layout, (QuoitNodeId) { to }))
                == 0
         && kind_is_the_same (difference, claim->kind, layout->nodes[from].kind);
}

static void
note_move (QuoitDifference *difference, const QuoitNodeClaim *claim, guint32 index)
{
  const QuoitNode *nodes = difference->fleet->layout->nodes;
  guint32 before = quoit_difference_find (difference, claim);

  if (before == QUOIT_NO_INDEX || before == index || !can_move (difference, claim, before, index))
    return;
  g_hash_table_insert (difference->moved, GUINT_TO_POINTER (nodes[before].id), GUINT_TO_POINTER (nodes[index].id));
  g_hash_table_insert (difference->moved_from, GUINT_TO_POINTER (nodes[index].id), GUINT_TO_POINTER (nodes[before].id));
}

static gboolean
compare_claim (QuoitDifference *difference, const QuoitNodeClaim *claim, guint32 i, GError **error)
{
  const QuoitLayout *layout = difference->fleet->layout;
  guint32 index = difference->at[i];

  if (index == QUOIT_NO_INDEX)
    {
      upsert (difference, claim, difference->claim_ids[i], QUOIT_NO_INDEX);
      quoit_difference_note (difference, QUOIT_CHANGE_ADDED, claim->name, NULL);
      return TRUE;
    }
  difference->kept[index] = 1;
  if (quoit_layout_claims_node (layout, difference->source, (QuoitNodeId) { index }))
    return compare_node (difference, index, claim, error);
  if (!join_node (difference, index, claim, error))
    return FALSE;
  note_move (difference, claim, index);
  upsert (difference, claim, difference->claim_ids[i], QUOIT_NO_INDEX);
  note_node (difference, QUOIT_CHANGE_ADDED, index, claim->name,
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
  for (guint32 i = 0; i < quoit_layout_n_claimed (layout, difference->source); i++)
    {
      guint32 index = quoit_layout_claimed_node (layout, difference->source, i).index;

      if (!difference->kept[index] && !leave_node (difference, index, error))
        return FALSE;
    }
  return TRUE;
}

/* The entry contains all pools, changed or not, because there are few. */
static void
compare_pools (QuoitDifference *difference)
{
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

      quoit_claims_copy_pool (difference->upserts, claim);
      if (pool == 0)
        quoit_difference_note (difference, QUOIT_CHANGE_POOL, claim->name, g_strdup ("new"));
      else if (!quoit_layout_pool_is (layout, (QuoitPoolId) { pool - 1 }, claim))
        quoit_difference_note (difference, QUOIT_CHANGE_POOL, claim->name, g_strdup ("other pods or environment"));
      g_hash_table_remove (before, claim->name);
    }
}

static void
difference_clear (QuoitDifference *difference)
{
  quoit_identities_clear (&difference->old);
  g_clear_pointer (&difference->old_joined, g_hash_table_unref);
  g_free (difference->at);
  g_free (difference->known_equal);
  g_free (difference->kept);
  g_clear_pointer (&difference->changes, g_array_unref);
  quoit_claims_free (difference->upserts);
  g_clear_pointer (&difference->ids, g_array_unref);
  g_clear_pointer (&difference->removed, g_array_unref);
  g_clear_pointer (&difference->states, g_array_unref);
  g_clear_pointer (&difference->lifted, g_array_unref);
  g_clear_pointer (&difference->placed, g_array_unref);
  g_clear_pointer (&difference->new_states, g_hash_table_unref);
  g_clear_pointer (&difference->moved, g_hash_table_unref);
  g_clear_pointer (&difference->moved_from, g_hash_table_unref);
  g_free (difference->claim_ids);
  g_free (difference->changed);
}

static void
clear_effect (gpointer effect)
{
  quoit_effect_clear (effect);
}

static GArray *
new_effects (void)
{
  GArray *effects = g_array_new (FALSE, FALSE, sizeof (QuoitEffect));

  g_array_set_clear_func (effects, clear_effect);
  return effects;
}

static void
difference_init (QuoitDifference *difference)
{
  guint32 n, n_old = difference->fleet->layout->n_nodes;

  quoit_claims_nodes (difference->claims, &n);
  difference->known_equal = g_new (guint32, quoit_claims_n_kinds (difference->claims) + 1);
  memset (difference->known_equal, 0xff, (quoit_claims_n_kinds (difference->claims) + 1) * sizeof (guint32));
  difference->kept = g_new0 (guint8, n_old + 1);
  difference->changed = g_new0 (guint8, n_old + 1);
  difference->claim_ids = g_new (guint32, n + 1);
  difference->at = g_new (guint32, n + 1);
  difference->changes = g_array_new (FALSE, FALSE, sizeof (QuoitNodeChange));
  g_array_set_clear_func (difference->changes, change_clear);
  difference->ids = g_array_new (FALSE, FALSE, sizeof (guint32));
  difference->removed = g_array_new (FALSE, FALSE, sizeof (guint32));
  difference->states = new_effects ();
  difference->lifted = new_effects ();
  difference->placed = new_effects ();
  difference->new_states = g_hash_table_new (NULL, NULL);
  difference->moved = g_hash_table_new (NULL, NULL);
  difference->moved_from = g_hash_table_new (NULL, NULL);
}

/* Moves the effects to the entry. */
static void
add_all (QuoitEntry *entry, GArray *effects)
{
  for (guint i = 0; i < effects->len; i++)
    {
      QuoitEffect *effect = &g_array_index (effects, QuoitEffect, i);

      quoit_entry_add (entry, *effect);
      *effect = (QuoitEffect) { .type = QUOIT_EFFECT_NODE_STATE };
    }
}

/* Groups leave their nodes before the nodes change, and are placed on the changed nodes afterwards. Takes @update. */
static void
write_out (QuoitDifference *difference, QuoitSourceUpdate *update, gint64 time_ms, QuoitEntry **entry)
{
  *entry = quoit_entry_new (difference->fleet, difference->verb, time_ms);
  add_all (*entry, difference->lifted);
  if (update != NULL)
    quoit_entry_add (*entry, (QuoitEffect) { .type = QUOIT_EFFECT_IMPORT, .import = update });
  add_all (*entry, difference->states);
  add_all (*entry, difference->placed);
}

/* Gives each claim a durable node id. Nodes that no source has claimed get a new one. */
static void
give_ids (QuoitDifference *difference)
{
  guint32 n, next_id = difference->fleet->next_node_id;

  quoit_claims_nodes (difference->claims, &n);
  for (guint32 i = 0; i < n; i++)
    difference->claim_ids[i]
        = difference->at[i] == QUOIT_NO_INDEX ? next_id++ : difference->fleet->layout->nodes[difference->at[i]].id;
}

/* Imports an unknown source with all of its claims. */
static gboolean
import_new (QuoitDifference *difference, QuoitClaims **claims, gint64 time_ms, QuoitEntry **entry, GError **error)
{
  guint32 n, *ids;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (*claims, &n);

  if (!quoit_difference_of_joins (difference, error))
    return FALSE;
  give_ids (difference);
  for (guint32 i = 0; i < n; i++)
    if (difference->at[i] != QUOIT_NO_INDEX && !join_node (difference, difference->at[i], &nodes[i], error))
      return FALSE;
  quoit_difference_of_losses (difference);
  if (!quoit_difference_of_groups (difference, time_ms, error))
    return FALSE;
  ids = g_memdup2 (difference->claim_ids, (n + 1) * sizeof *ids);
  write_out (difference, quoit_source_update_new (g_steal_pointer (claims), ids, NULL, 0), time_ms, entry);
  return TRUE;
}

/* The readers limit each source; this limits all sources together. */
static gboolean
is_not_too_large (const QuoitLayout *layout, const QuoitClaims *claims, GError **error)
{
  guint32 n, others = layout->n_nodes;
  QuoitSourceId source;

  if (quoit_layout_find_source (layout, quoit_claims_source (claims), &source))
    others -= layout->sources[source.index].n_nodes;
  quoit_claims_nodes (claims, &n);
  return (guint64) n + others <= QUOIT_MOST_NODES
         || quoit_fail (error, QUOIT_ERROR_INVALID,
                        "source '%s': %u nodes in addition to the fleet's %u: expected at most %d together",
                        quoit_claims_source (claims), n, others, QUOIT_MOST_NODES);
}

static QuoitSourceUpdate *
take_update (QuoitDifference *difference)
{
  guint32 n_removed = difference->removed->len;

  return quoit_source_update_new (g_steal_pointer (&difference->upserts),
                                  (guint32 *) (void *) g_array_free (g_steal_pointer (&difference->ids), FALSE),
                                  (guint32 *) (void *) g_array_free (g_steal_pointer (&difference->removed), FALSE),
                                  n_removed);
}

/* Runs after the nodes, because a pool with lost nodes stays. */
static void
note_gone_pools (QuoitDifference *difference)
{
  const QuoitLayout *layout = difference->fleet->layout;
  const QuoitSource *source = &layout->sources[difference->source.index];
  g_autoptr (GHashTable) now = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint32 p = 0; p < quoit_claims_n_pools (difference->upserts); p++)
    g_hash_table_add (now, (gpointer) quoit_claims_pool_at (difference->upserts, p)->name);
  for (guint32 q = source->first_pool; q < source->first_pool + source->n_pools; q++)
    if (!g_hash_table_contains (now, quoit_layout_text (layout, layout->pools[q].name)))
      quoit_difference_note (difference, QUOIT_CHANGE_POOL, quoit_layout_text (layout, layout->pools[q].name),
                             g_strdup ("gone"));
}

static gboolean
import_again (QuoitDifference *difference, gint64 time_ms, QuoitEntry **entry, GError **error)
{
  guint n_changes;

  difference->upserts
      = quoit_claims_new (quoit_claims_source (difference->claims), quoit_claims_source_kind (difference->claims));
  quoit_identities_init (&difference->old, difference->fleet->layout, difference->source);
  index_joined_nodes (difference);
  if (!quoit_difference_of_joins (difference, error))
    return FALSE;
  give_ids (difference);
  compare_pools (difference);
  if (!compare_nodes (difference, error))
    return FALSE;
  note_gone_pools (difference);
  n_changes = difference->changes->len;
  quoit_difference_of_losses (difference);
  if (!quoit_difference_of_groups (difference, time_ms, error))
    return FALSE;
  if (difference->changes->len > 0 || difference->states->len > 0)
    write_out (difference, n_changes > 0 ? take_update (difference) : NULL, time_ms, entry);
  return TRUE;
}

static gboolean
import_as (const QuoitFleet *fleet, QuoitClaims **claims, QuoitVerb verb, gint64 now_ms, QuoitEntry **entry,
           GArray **changes, GError **error)
{
  QuoitDifference difference = { .fleet = fleet, .claims = *claims, .verb = verb };
  const char *name = quoit_claims_source (*claims);
  gboolean is_known, done;
  gint64 time_ms = 0;

  if (!quoit_name_check ("source", name, error) || !quoit_step_clock (fleet, now_ms, &time_ms, error)
      || !is_not_too_large (fleet->layout, *claims, error) || !claims_only_its_own (fleet, *claims, error))
    return FALSE;

  is_known = quoit_layout_find_source (fleet->layout, name, &difference.source);
  if (is_known && fleet->layout->sources[difference.source.index].kind != quoit_claims_source_kind (*claims))
    return quoit_fail (error, QUOIT_ERROR_CONFLICT,
                       "source '%s' is of another kind already: give this one a name of its own with --source", name);
  if (!is_known)
    difference.source.index = QUOIT_NO_INDEX;
  else
    quoit_step_keep_assumed_ids (fleet, difference.source, *claims);
  difference_init (&difference);
  done = is_known ? import_again (&difference, time_ms, entry, error)
                  : import_new (&difference, claims, time_ms, entry, error);
  if (done)
    *changes = g_steal_pointer (&difference.changes);
  difference_clear (&difference);
  return done;
}

gboolean
quoit_step_import (const QuoitFleet *fleet, QuoitClaims **claims, gint64 now_ms, QuoitEntry **entry,
                   QuoitOutcome *outcome, GError **error)
{
  return import_as (fleet, claims, QUOIT_VERB_IMPORT, now_ms, entry, &outcome->changes, error);
}

gboolean
quoit_step_sync (const QuoitFleet *fleet, QuoitClaims **claims, gint64 now_ms, QuoitEntry **entry,
                 QuoitOutcome *outcome, GError **error)
{
  return import_as (fleet, claims, QUOIT_VERB_SYNC, now_ms, entry, &outcome->changes, error);
}

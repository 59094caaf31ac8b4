/* SPDX-License-Identifier: Apache-2.0 */
/* What an import changes: the claims of a source against what it claimed last. */
#include "ledger/difference.h"
#include "model/kind.h"
#include "model/names.h"

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

/* The first group that has the node and is not the source's own; NULL: none. */
static const QuoitGroupData *
holder_of (const QuoitDifference *difference, guint32 index)
{
  const QuoitGroupData *group;

  for (guint i = 0; (group = quoit_fleet_node_user (difference->fleet, (QuoitNodeId) { index }, i, NULL)) != NULL; i++)
    if (*group->source == '\0')
      return group;
  return NULL;
}

/* The same of a node that the fleet has, with who holds it. */
static void
note_node (QuoitDifference *difference, QuoitChangeKind kind, guint32 index, const char *name,
           char *detail) /* NOLINT: takes @detail */
{
  const QuoitGroupData *group = holder_of (difference, index);

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
  const QuoitGroupData *group = holder_of (difference, index);

  if (group == NULL)
    return FALSE;
  quoit_fail (error, QUOIT_ERROR_CONFLICT,
              "source '%s': node '%s' %s, but group '%s@%" G_GUINT64_FORMAT "' holds it; release the group first%s",
              quoit_claims_source (difference->claims),
              quoit_layout_node_name (difference->fleet->layout, (QuoitNodeId) { index }), what, group->name, group->id,
              difference->verb == QUOIT_VERB_IMPORT ? ", or `sync`, which calls the node lost" : "");
  return TRUE;
}

static const char *
slice_of (const QuoitLayout *layout, const QuoitNode *node)
{
  return node->slice == QUOIT_NO_INDEX ? NULL : quoit_layout_text (layout, layout->slices[node->slice].name);
}

static const char *
incarnation_of (const QuoitLayout *layout, const QuoitNode *node)
{
  const char *text
      = node->slice == QUOIT_NO_INDEX ? "" : quoit_layout_text (layout, layout->slices[node->slice].incarnation);

  return *text == '\0' ? NULL : text;
}

/* Of a dead node Ray tells no resources: it keeps the kind it had. Its chips a reader may know from its slice. */
static gboolean
tells_nothing (const QuoitClaims *claims, const QuoitNodeClaim *claim)
{
  const QuoitNodeKind *kind = quoit_claims_kind_at (claims, claim->kind);

  return claim->state == QUOIT_NODE_DEAD
         && (kind->chips == 0 || kind->n_resources == 0
             || (kind->n_resources == 1 && strcmp (kind->resources[0].name, "TPU") == 0));
}

/* What is different of a node that stays; NULL: nothing. */
static char *
describe (QuoitDifference *difference, guint32 index, const QuoitNodeClaim *claim, gboolean *moved)
{
  const QuoitLayout *layout = difference->fleet->layout;
  const QuoitNode *node = &layout->nodes[index];
  const char *pool
      = quoit_layout_text (layout, layout->pools[quoit_layout_node_pool (layout, (QuoitNodeId) { index }).index].name);
  const char *new_pool = quoit_claims_pool_at (difference->claims, claim->pool)->name;
  const char *name = quoit_layout_node_name (layout, (QuoitNodeId) { index });
  const char *address = quoit_layout_node_address (layout, (QuoitNodeId) { index });

  *moved = TRUE;
  if (g_strcmp0 (slice_of (layout, node), claim->slice) != 0)
    return g_strdup_printf ("slice %s -> %s", slice_of (layout, node) == NULL ? "none" : slice_of (layout, node),
                            claim->slice == NULL ? "none" : claim->slice);
  if (g_strcmp0 (incarnation_of (layout, node), claim->incarnation) != 0)
    return g_strdup ("another incarnation of its slice");
  if (strcmp (pool, new_pool) != 0)
    return g_strdup_printf ("pool %s -> %s", pool, new_pool);
  if (node->worker_id != claim->worker_id)
    return g_strdup_printf ("worker %d -> %d", node->worker_id, claim->worker_id);
  if (!tells_nothing (difference->claims, claim) && !kind_is_the_same (difference, claim->kind, node->kind))
    {
      *moved = !quoit_node_kind_same_machine (quoit_claims_kind_at (difference->claims, claim->kind),
                                              quoit_claims_kind_at (layout->kinds, node->kind));
      return g_strdup (*moved ? "other topology, pod type or chips" : "other labels or resources");
    }
  *moved = FALSE;
  if (strcmp (name, claim->name) != 0)
    return g_strdup_printf ("name %s -> %s", name, claim->name);
  if (g_strcmp0 (address, claim->address) != 0)
    return g_strdup_printf ("address %s -> %s", address == NULL ? "none" : address,
                            claim->address == NULL ? "none" : claim->address);
  return node->flags != claim->flags ? g_strdup ("other flags") : NULL;
}

/* @index: the node as it was; QUOIT_NO_INDEX: it is new. */
static void
upsert (QuoitDifference *difference, const QuoitNodeClaim *claim, guint32 id, guint32 index)
{
  const QuoitLayout *layout = difference->fleet->layout;
  gboolean keeps_kind = index != QUOIT_NO_INDEX && tells_nothing (difference->claims, claim);
  const QuoitNodeKind *kind = keeps_kind ? quoit_claims_kind_at (layout->kinds, layout->nodes[index].kind)
                                         : quoit_claims_kind_at (difference->claims, claim->kind);
  QuoitNodeClaim copy = *claim;

  copy.pool = quoit_claims_pool (difference->upserts, quoit_claims_pool_at (difference->claims, claim->pool)->name);
  copy.kind = quoit_claims_kind (difference->upserts, kind, NULL);
  quoit_claims_add (difference->upserts, &copy);
  g_array_append_val (difference->ids, id);
}

static void
set_state (QuoitDifference *difference, QuoitEffect effect)
{
  g_array_append_val (difference->states, effect);
  g_hash_table_insert (difference->new_states, GUINT_TO_POINTER (effect.node_id), GUINT_TO_POINTER (effect.state + 1));
}

static gboolean
compare_node (QuoitDifference *difference, guint32 index, const QuoitNodeClaim *claim, GError **error)
{
  const QuoitNode *node = &difference->fleet->layout->nodes[index];
  gboolean moved;
  char *detail = describe (difference, index, claim, &moved);

  if (detail != NULL)
    {
      if (moved && held (difference, index, detail, error))
        return g_free (detail), FALSE;
      difference->changed[index - difference->first_node] = 1;
      note_node (difference, QUOIT_CHANGE_CHANGED, index, claim->name, detail);
    }
  if (detail != NULL || node->claimed != claim->state)
    upsert (difference, claim, node->id, index);
  if (node->claimed != claim->state)
    {
      QuoitNodeState now = quoit_fleet_node_state (difference->fleet, (QuoitNodeId) { index });
      QuoitEffect effect = { .type = QUOIT_EFFECT_NODE_STATE, .node_id = node->id, .state = claim->state };

      if (now != claim->state)
        set_state (difference, effect);
      note_node (
          difference, QUOIT_CHANGE_STATE, index, claim->name,
          g_strdup_printf ("%s -> %s", quoit_node_state_name (node->claimed), quoit_node_state_name (claim->state)));
    }
  return TRUE;
}

/* Nodes that two sources of one kind claim would be counted twice. */
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
      for (guint32 i = source->first_node; i < source->first_node + source->n_nodes; i++)
        {
          const char *address = quoit_layout_node_address (layout, (QuoitNodeId) { i });
          g_autofree char *identity
              = layout->nodes[i].identity == 0 ? NULL : quoit_layout_node_identity (layout, (QuoitNodeId) { i });
          const char *other = identity == NULL ? NULL : g_hash_table_lookup (machines, identity);

          if (other == NULL && address != NULL
              && quoit_fleet_node_state (fleet, (QuoitNodeId) { i }) != QUOIT_NODE_DEAD)
            other = g_hash_table_lookup (machines, address);
          if (other != NULL)
            return quoit_fail (
                error, QUOIT_ERROR_CONFLICT,
                "source '%s': its node '%s' is a machine that source '%s' claims already, as '%s'; import "
                "it under that name with --source %s",
                quoit_claims_source (claims), other, name, quoit_layout_node_name (layout, (QuoitNodeId) { i }), name);
        }
    }
  return TRUE;
}

/* A held node that the source has no longer: it stays in its place, dead, for as long as somebody has it. */
static void
keep_lost (QuoitDifference *difference, guint32 index)
{
  const QuoitLayout *layout = difference->fleet->layout;
  const QuoitNode *node = &layout->nodes[index];
  QuoitEffect effect = { .type = QUOIT_EFFECT_NODE_STATE, .node_id = node->id, .state = QUOIT_NODE_DEAD };
  g_autofree char *identity = quoit_layout_node_identity (layout, (QuoitNodeId) { index });
  QuoitNodeClaim claim = {
    .name = quoit_layout_node_name (layout, (QuoitNodeId) { index }),
    .identity = node->identity == 0 ? NULL : identity,
    .address = quoit_layout_node_address (layout, (QuoitNodeId) { index }),
    .slice = slice_of (layout, node),
    .incarnation = incarnation_of (layout, node),
    .worker_id = node->worker_id,
    .state = QUOIT_NODE_DEAD,
    .flags = node->flags | QUOIT_NODE_LOST,
  };
  QuoitPoolId pool = quoit_layout_node_pool (layout, (QuoitNodeId) { index });

  claim.pool = quoit_claims_pool (difference->upserts, quoit_layout_text (layout, layout->pools[pool.index].name));
  claim.kind = quoit_claims_kind (difference->upserts, quoit_claims_kind_at (layout->kinds, node->kind), NULL);
  if ((node->flags & QUOIT_NODE_LOST) == 0)
    {
      quoit_claims_add (difference->upserts, &claim);
      g_array_append_val (difference->ids, node->id);
      note_node (difference, QUOIT_CHANGE_LOST, index, claim.name, NULL);
    }
  if (quoit_fleet_node_state (difference->fleet, (QuoitNodeId) { index }) != QUOIT_NODE_DEAD)
    set_state (difference, effect);
}

/* A node that the claims lack. */
static gboolean
leave_node (QuoitDifference *difference, guint32 index, GError **error)
{
  const QuoitLayout *layout = difference->fleet->layout;
  gboolean is_lost = (layout->nodes[index].flags & QUOIT_NODE_LOST) != 0;

  if (holder_of (difference, index) != NULL && (difference->verb == QUOIT_VERB_SYNC || is_lost))
    return keep_lost (difference, index), TRUE;
  if (held (difference, index, "would go", error))
    return FALSE;
  difference->changed[index - difference->first_node] = 1;
  g_array_append_val (difference->removed, layout->nodes[index].id);
  quoit_difference_note (difference, QUOIT_CHANGE_REMOVED, quoit_layout_node_name (layout, (QuoitNodeId) { index }),
                         NULL);
  return TRUE;
}

static gboolean
compare_nodes (QuoitDifference *difference, GError **error)
{
  const QuoitSource *source = &difference->fleet->layout->sources[difference->source.index];
  guint32 n, next_id = difference->fleet->next_node_id;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (difference->claims, &n);

  for (guint32 i = 0; i < n; i++)
    {
      QuoitNodeId node;

      if (!quoit_identities_find (&difference->old, &nodes[i], &node))
        {
          difference->claim_ids[i] = next_id;
          upsert (difference, &nodes[i], next_id++, QUOIT_NO_INDEX);
          quoit_difference_note (difference, QUOIT_CHANGE_ADDED, nodes[i].name, NULL);
          continue;
        }
      difference->claim_ids[i] = difference->fleet->layout->nodes[node.index].id;
      difference->kept[node.index - source->first_node] = 1;
      if (!compare_node (difference, node.index, &nodes[i], error))
        return FALSE;
    }
  for (guint32 i = source->first_node; i < source->first_node + source->n_nodes; i++)
    if (!difference->kept[i - source->first_node] && !leave_node (difference, i, error))
      return FALSE;
  return TRUE;
}

/* All pools go into the entry, changed or not: they are few. */
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
  const QuoitLayout *layout = difference->fleet->layout;
  guint32 n, n_old = 0;

  quoit_claims_nodes (difference->claims, &n);
  if (difference->source.index != QUOIT_NO_INDEX)
    {
      n_old = layout->sources[difference->source.index].n_nodes;
      difference->first_node = layout->sources[difference->source.index].first_node;
    }
  difference->known_equal = g_new (guint32, quoit_claims_n_kinds (difference->claims) + 1);
  memset (difference->known_equal, 0xff, (quoit_claims_n_kinds (difference->claims) + 1) * sizeof (guint32));
  difference->kept = g_new0 (guint8, n_old + 1);
  difference->changed = g_new0 (guint8, n_old + 1);
  difference->claim_ids = g_new (guint32, n + 1);
  difference->changes = g_array_new (FALSE, FALSE, sizeof (QuoitNodeChange));
  g_array_set_clear_func (difference->changes, change_clear);
  difference->ids = g_array_new (FALSE, FALSE, sizeof (guint32));
  difference->removed = g_array_new (FALSE, FALSE, sizeof (guint32));
  difference->states = new_effects ();
  difference->lifted = new_effects ();
  difference->placed = new_effects ();
  difference->new_states = g_hash_table_new (NULL, NULL);
}

/* The effects go over to the entry. */
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

/* Groups are lifted off their nodes before these change, and put down on what they are then. Takes @update. */
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

/* A source that is not known yet: all of its claims, as they are. */
static gboolean
import_new (QuoitDifference *difference, QuoitClaims **claims, gint64 time_ms, QuoitEntry **entry, GError **error)
{
  guint32 n, *ids;

  quoit_claims_nodes (*claims, &n);
  for (guint32 i = 0; i < n; i++)
    difference->claim_ids[i] = difference->fleet->next_node_id + i;
  if (!quoit_difference_of_groups (difference, time_ms, error))
    return FALSE;
  ids = g_memdup2 (difference->claim_ids, (n + 1) * sizeof *ids);
  write_out (difference, quoit_source_update_new (g_steal_pointer (claims), ids, NULL, 0), time_ms, entry);
  return TRUE;
}

/* Each source is bounded where it is read; this bounds them together. */
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
                        "source '%s': %u nodes beside the fleet's %u: expected at most %d together",
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

/* After the nodes: a pool whose nodes are lost stays with them. */
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

  if (!quoit_name_check ("source", name, error) || !quoit_ledger_clock (fleet, now_ms, &time_ms, error)
      || !is_not_too_large (fleet->layout, *claims, error) || !claims_only_its_own (fleet, *claims, error))
    return FALSE;

  is_known = quoit_layout_find_source (fleet->layout, name, &difference.source);
  if (is_known && fleet->layout->sources[difference.source.index].kind != quoit_claims_source_kind (*claims))
    return quoit_fail (error, QUOIT_ERROR_CONFLICT,
                       "source '%s' is of another kind already: give this one a name of its own with --source", name);
  if (!is_known)
    difference.source.index = QUOIT_NO_INDEX;
  difference_init (&difference);
  done = is_known ? import_again (&difference, time_ms, entry, error)
                  : import_new (&difference, claims, time_ms, entry, error);
  if (done)
    *changes = g_steal_pointer (&difference.changes);
  difference_clear (&difference);
  return done;
}

gboolean
quoit_ledger_import (const QuoitFleet *fleet, gconstpointer input, gint64 now_ms, QuoitEntry **entry, gpointer result,
                     GError **error)
{
  return import_as (fleet, (QuoitClaims **) input, QUOIT_VERB_IMPORT, now_ms, entry, result, error);
}

gboolean
quoit_ledger_sync (const QuoitFleet *fleet, gconstpointer input, gint64 now_ms, QuoitEntry **entry, gpointer result,
                   GError **error)
{
  return import_as (fleet, (QuoitClaims **) input, QUOIT_VERB_SYNC, now_ms, entry, result, error);
}

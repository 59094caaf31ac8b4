/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the entry of an import from the difference between the claims of a source and its previous ones. */
#include <string.h>

#include "base/name-hash.h"

#include "ledger/difference.h"

static void
change_clear (gpointer data)
{
  QuoitNodeChange *change = data;

  g_free (change->name);
  g_free (change->detail);
  g_free (change->group);
}

/* A node of several sources has the identity that one of them uses. This source may use another one, so that such nodes
 * need a second index, by the identity in this source's previous claim. */
static void
index_joined_nodes (QuoitDifference *difference)
{
  const QuoitLayout *layout = difference->fleet->layout;
  const QuoitSource *source = &layout->sources[difference->source.index];

  difference->old_joined = g_hash_table_new_full (quoit_hash_text, g_str_equal, g_free, NULL);
  for (guint32 i = 0; i < source->n_foreign + source->n_shared; i++)
    {
      guint32 row = i < source->n_foreign ? source->first_foreign + i : source->first_shared + i - source->n_foreign;
      guint32 index = layout->joined[row].node;
      g_autofree char *identity = NULL;
      QuoitNodeClaim claim = quoit_difference_previous_claim (difference, index, &identity);

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
  difference->claimed_states = g_array_new (FALSE, FALSE, sizeof (QuoitReportedState));
  difference->kept_pools = g_hash_table_new (quoit_hash_text, g_str_equal);
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
        && !quoit_difference_join_node (difference, difference->claim_nodes[i], &nodes[i], error))
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

static QuoitSourceUpdate *
make_update (QuoitDifference *difference)
{
  guint32 n_removed = difference->removed_ids->len;
  QuoitSourceUpdate *update;

  if (!difference->keeps_pools)
    quoit_difference_add_pools (difference);
  update = quoit_source_update_new (
      g_steal_pointer (&difference->upserts),
      (guint32 *) (void *) g_array_free (g_steal_pointer (&difference->upsert_ids), FALSE),
      (guint32 *) (void *) g_array_free (g_steal_pointer (&difference->removed_ids), FALSE), n_removed);
  update->keeps_pools = difference->keeps_pools;
  update->events = g_byte_array_free (g_steal_pointer (&difference->upsert_events), FALSE);
  update->removed_names = (const char **) g_ptr_array_free (g_steal_pointer (&difference->removed_names), FALSE);
  update->n_states = difference->claimed_states->len;
  update->states = (QuoitReportedState *) (void *) g_array_free (g_steal_pointer (&difference->claimed_states), FALSE);
  return update;
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
  quoit_difference_compare_pools (difference);
  if (!quoit_difference_compare_nodes (difference, error))
    return FALSE;
  quoit_difference_add_removed_pools (difference);
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
      || !quoit_step_check_claims (fleet, *claims, update, error))
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

/* Imports the nodes, and then reserves the groups of fleet text. The rows stay where they are if the entry takes the
 * claims. */
static gboolean
import_source (const QuoitFleet *fleet, QuoitClaims **claims, QuoitVerb verb, gint64 now_ms, QuoitEntry **entry,
               QuoitOutcome *outcome, GError **error)
{
  guint32 n;
  const QuoitReservationClaim *reservations = quoit_claims_reservations (*claims, &n);
  QuoitSourceId source;
  gboolean is_known = quoit_layout_find_source (fleet->layout, quoit_claims_source (*claims), &source);

  if (!quoit_difference_import (fleet, claims, verb, NULL, now_ms, entry, &outcome->changes, error))
    return FALSE;
  if (quoit_step_import_reservations (fleet, reservations, n, verb, now_ms, entry, is_known ? outcome->changes : NULL,
                                      error))
    return TRUE;
  g_clear_pointer (entry, quoit_entry_unref);
  return FALSE;
}

gboolean
quoit_step_import (const QuoitFleet *fleet, QuoitClaims **claims, gint64 now_ms, QuoitEntry **entry,
                   QuoitOutcome *outcome, GError **error)
{
  return import_source (fleet, claims, QUOIT_VERB_IMPORT, now_ms, entry, outcome, error);
}

gboolean
quoit_step_sync (const QuoitFleet *fleet, QuoitClaims **claims, gint64 now_ms, QuoitEntry **entry,
                 QuoitOutcome *outcome, GError **error)
{
  return import_source (fleet, claims, QUOIT_VERB_SYNC, now_ms, entry, outcome, error);
}

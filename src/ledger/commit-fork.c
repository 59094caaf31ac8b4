/* SPDX-License-Identifier: Apache-2.0 */
/* Commits what was done on a fork as one entry. Why the fork chose these slices is not decided again. */
#include <string.h>

#include "ledger/ahead.h"
#include "ledger/quotas.h"
#include "ledger/rebase.h"

/* Applies the effect to the fleet of @rebase. What is free was not checked before. */
static gboolean
apply_effect (QuoitRebase *rebase, const QuoitEffect *effect, GError **error)
{
  g_autoptr (GError) contradiction = NULL;

  if (quoit_effect_apply (effect, rebase->entry->time_ms, &rebase->fleet, &contradiction))
    return TRUE;
  return quoit_fail (error, QUOIT_ERROR_CONFLICT, "fork: %s: make a new fork of a new snapshot",
                     contradiction->message);
}

/* The ledger itself ends the leases of groups that the fork has not added. */
static gboolean
is_left_to_ledger (const QuoitRebase *rebase, const QuoitEntry *entry, const QuoitEffect *effect)
{
  return entry->verb == QUOIT_VERB_EXPIRE && effect->group_id < rebase->base->next_group_id;
}

/* Others may have forgotten a record that the fork forgets, or ended its group without a record. */
static gboolean
is_forgotten_already (const QuoitRebase *rebase, const QuoitEffect *effect)
{
  return effect->type == QUOIT_EFFECT_GROUP_FORGOTTEN && effect->group_id < rebase->base->next_group_id
         && quoit_rebase_find_by_id (rebase->fleet, effect->group_name, effect->group_id) == NULL;
}

/* Returns the group as the last beginning or move of the fork leaves it. */
static const QuoitGroupData *
find_last_beginning (const QuoitRebase *rebase, guint64 id)
{
  for (guint e = rebase->entries->len; e-- > 0;)
    {
      const QuoitEntry *entry = rebase->entries->pdata[e];

      for (guint i = entry->verb == QUOIT_VERB_BEGIN ? entry->n_effects : 0; i-- > 0;)
        if (entry->effects[i].group->id == id)
          return entry->effects[i].group;
    }
  return NULL;
}

/* Returns whether the ledger is at the state in which the fork leaves the reservation with @effect, or further: one
 * entry can give a reservation other slices and make it begin. */
static gboolean
is_reached (const QuoitRebase *rebase, const QuoitGroupData *effect, const QuoitGroupData *now)
{
  return quoit_rebase_is_same_but_lease (effect, now)
         || quoit_rebase_is_same_but_lease (find_last_beginning (rebase, effect->id), now)
         || (quoit_group_is_ahead (effect) && !quoit_group_is_ahead (now) && quoit_group_same_nodes (effect, now));
}

/* The ledger has made the same reservation begin, or has given it the same other slices, since the snapshot. */
static gboolean
has_same_beginning (QuoitRebase *rebase, const QuoitEntry *entry, const QuoitEffect *effect)
{
  const QuoitGroupData *now;

  if (entry->verb != QUOIT_VERB_BEGIN || effect->group->id >= rebase->base->next_group_id)
    return FALSE;
  now = quoit_fleet_find_group (rebase->fleet, effect->group->name);
  if (now == NULL || now->id != effect->group->id || !is_reached (rebase, effect->group, now))
    return FALSE;
  g_hash_table_add (rebase->groups, g_memdup2 (&now->id, sizeof now->id));
  return TRUE;
}

/* Others have added the same window, or set the same quota. */
static gboolean
has_same_record (const QuoitRebase *rebase, const QuoitEffect *effect)
{
  const QuoitGroupData *now;

  if ((effect->type != QUOIT_EFFECT_GROUP_ADDED && effect->type != QUOIT_EFFECT_GROUP_CHANGED)
      || (effect->group->kind != QUOIT_RECORD_WINDOW && effect->group->kind != QUOIT_RECORD_QUOTA))
    return FALSE;
  now = quoit_fleet_find_group (rebase->fleet, effect->group->name);
  return now != NULL && strcmp (now->request, effect->group->request) == 0 && now->begins_ms == effect->group->begins_ms
         && now->until_ms == effect->group->until_ms;
}

/* Others have made the same change since the snapshot. */
static gboolean
is_made_already (const QuoitRebase *rebase, const QuoitEffect *effect)
{
  QuoitNodeId node = { QUOIT_NO_INDEX };

  if (effect->type == QUOIT_EFFECT_NODE_STATE)
    node.index = quoit_layout_find_id (rebase->fleet->layout, effect->node_id);
  return node.index != QUOIT_NO_INDEX && quoit_fleet_node_state (rebase->fleet, node) == effect->state;
}

/* Checks that the quotas admit the group now, beside what others have reserved since. */
static gboolean
check_quotas (const QuoitRebase *rebase, const QuoitEffect *effect, GError **error)
{
  g_autoptr (GError) why = NULL;

  if (effect->type != QUOIT_EFFECT_GROUP_ADDED && effect->type != QUOIT_EFFECT_GROUP_CHANGED)
    return TRUE;
  return quoit_step_check_growth (rebase->fleet, quoit_fleet_find_group (rebase->fleet, effect->group->name),
                                  effect->group, &why)
         || quoit_fail (error, QUOIT_ERROR_CONFLICT, "fork: %s: make a new fork of a new snapshot", why->message);
}

static gboolean
has_import (const QuoitEntry *entry)
{
  for (guint i = 0; i < entry->n_effects; i++)
    if (entry->effects[i].type == QUOIT_EFFECT_IMPORT)
      return TRUE;
  return FALSE;
}

static gboolean
rebase_entry (QuoitRebase *rebase, const QuoitEntry *entry, GError **error)
{
  gboolean is_import = has_import (entry);

  for (guint i = 0; i < entry->n_effects; i++)
    {
      QuoitEffect rebased;

      if (is_left_to_ledger (rebase, entry, &entry->effects[i]) || is_forgotten_already (rebase, &entry->effects[i])
          || has_same_beginning (rebase, entry, &entry->effects[i]) || has_same_record (rebase, &entry->effects[i]))
        continue;
      if (!quoit_rebase_effect (rebase, &entry->effects[i], is_import, &rebased, error))
        return FALSE;
      if (is_made_already (rebase, &rebased))
        continue;
      quoit_entry_add (rebase->entry, rebased);
      if ((entry->verb != QUOIT_VERB_REPAIR && !check_quotas (rebase, &rebased, error))
          || !apply_effect (rebase, &rebased, error))
        return FALSE;
    }
  if (is_import)
    {
      quoit_layout_unref (rebase->known);
      rebase->known = quoit_layout_ref (rebase->fleet->layout);
    }
  return TRUE;
}

/* Checks that no lease that the fork has set has ended since. */
static gboolean
check_leases (const QuoitRebase *rebase, GError **error)
{
  for (guint i = 0; i < rebase->leases->len; i++)
    {
      const QuoitGroupData *group = quoit_fleet_find_group (rebase->fleet, rebase->leases->pdata[i]);

      if (group != NULL && group->until_ms != 0 && group->until_ms <= rebase->entry->time_ms)
        return quoit_fail (error, QUOIT_ERROR_EXPIRED,
                           group->kind == QUOIT_RECORD_OWNER ? "fork: the lease of owner '%s' has ended"
                                                             : "fork: the lease of group '%s' has ended",
                           group->kind == QUOIT_RECORD_OWNER ? quoit_owner_record_owner (group) : group->name);
    }
  return TRUE;
}

/* Checks that no reservation ahead has a node of the window in its time. */
static gboolean
check_window (const QuoitRebase *rebase, const QuoitGroupData *window, GError **error)
{
  const QuoitGroupData *ahead = quoit_step_find_reservation (rebase->fleet, window);

  return ahead == NULL
         || quoit_rebase_conflict (error, "reservation", ahead->name, "has a node of a window of the fork in its time");
}

/* Checks that a lease that the fork has set does not reach into a window that others have added since. A window leaves
 * alone what is held, which counts as if it had no end. */
static gboolean
check_lease (const QuoitRebase *rebase, const char *name, GError **error)
{
  const QuoitGroupData *before = quoit_fleet_find_group (rebase->base, name);
  const QuoitGroupData *group = quoit_fleet_find_group (rebase->fleet, name);

  return group == NULL || (before != NULL && before->state == QUOIT_GROUP_HELD)
         || quoit_step_find_window (rebase->present, group, quoit_group_certain_end (group),
                                    rebase->base->next_group_id)
                == NULL
         || quoit_rebase_conflict (error, "the lease of group", name,
                                   "reaches into a window that was added since the snapshot");
}

/* Checks that new and changed groups have no node of a window that others have added since, and new windows none of a
 * reservation ahead. */
static gboolean
check_windows (const QuoitRebase *rebase, GError **error)
{
  for (guint i = 0; i < rebase->entry->n_effects; i++)
    {
      const QuoitEffect *effect = &rebase->entry->effects[i];

      if (effect->type == QUOIT_EFFECT_GROUP_LEASE && !check_lease (rebase, effect->group_name, error))
        return FALSE;
      if (effect->type != QUOIT_EFFECT_GROUP_ADDED && effect->type != QUOIT_EFFECT_GROUP_CHANGED)
        continue;
      if (effect->group->kind == QUOIT_RECORD_WINDOW)
        {
          if (!check_window (rebase, effect->group, error))
            return FALSE;
        }
      else if (*effect->group->source == '\0'
               && quoit_step_find_window (rebase->present, effect->group, quoit_group_latest_end (effect->group),
                                          rebase->base->next_group_id)
                      != NULL)
        return quoit_rebase_conflict (error, "group", effect->group->name,
                                      "has a node of a window that was added since the snapshot");
    }
  return TRUE;
}

/* Checks that what others have reserved ahead since, and what the fork has reserved, do not need the same nodes. */
static gboolean
check_promises (const QuoitRebase *rebase, GError **error)
{
  g_autoptr (GError) why = NULL;

  if (!check_windows (rebase, error))
    return FALSE;

  return (quoit_ahead_check (rebase->fleet, &why)
          && (!quoit_ahead_check_bundles (rebase->present, NULL) || quoit_ahead_check_bundles (rebase->fleet, &why)))
         || quoit_fail (error, QUOIT_ERROR_CONFLICT, "fork: %s: make a new fork of a new snapshot", why->message);
}

gboolean
quoit_step_commit_fork (const QuoitFleet *fleet, const QuoitForkChanges *changes, gint64 now_ms, QuoitEntry **entry,
                        GError **error)
{
  g_autoptr (GHashTable) groups = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  g_autoptr (GHashTable) nodes = g_hash_table_new (NULL, NULL);
  g_autoptr (QuoitFleet) scratch = NULL;
  g_autoptr (QuoitEntry) made = NULL;
  g_autoptr (GPtrArray) leases = g_ptr_array_new_with_free_func (g_free);
  QuoitRebase rebase = { .base = changes->base, .present = fleet, .groups = groups, .nodes = nodes, .leases = leases };
  gint64 time_ms;
  gboolean ok = TRUE;

  if (!quoit_step_clock (fleet, now_ms, &time_ms, error))
    return FALSE;
  if (changes->base->is_planned)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "fork: it was made from a snapshot of a fork: expected a snapshot of the ledger");
  if (changes->base->ledger != fleet->ledger)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "fork: it was made from another ledger");
  if (changes->base->seq > fleet->seq || changes->base->epoch != fleet->epoch)
    return quoit_fail (
        error, QUOIT_ERROR_CONFLICT,
        "fork: the ledger was restored, or a batch was cancelled, since the fork was made: make a new fork");
  if (changes->entries->len > 0)
    {
      const QuoitEntry *last = changes->entries->pdata[changes->entries->len - 1];

      if (last->time_ms > time_ms)
        return quoit_fail (error, QUOIT_ERROR_INVALID,
                           "now '%" G_GINT64_FORMAT "': expected at least %" G_GINT64_FORMAT
                           ", the time of the last change of the fork",
                           now_ms, last->time_ms);
    }

  rebase.entries = changes->entries;
  rebase.entry = made = quoit_entry_new (fleet, QUOIT_VERB_COMMIT_FORK, time_ms);
  rebase.fleet = quoit_fleet_fork (fleet);
  rebase.known = quoit_layout_ref (changes->base->layout);
  rebase.id_shift = fleet->next_group_id - changes->base->next_group_id;
  for (guint i = 0; ok && i < changes->entries->len; i++)
    ok = rebase_entry (&rebase, changes->entries->pdata[i], error);
  ok = ok && check_leases (&rebase, error) && check_promises (&rebase, error);
  quoit_layout_unref (rebase.known);
  scratch = rebase.fleet;
  if (!ok)
    return FALSE;
  if (made->n_effects > 0)
    *entry = g_steal_pointer (&made);
  return TRUE;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/ledger.h"

void
quoit_outcome_clear (QuoitOutcome *outcome)
{
  g_clear_pointer (&outcome->before, quoit_group_data_unref);
  g_clear_pointer (&outcome->after, quoit_group_data_unref);
  g_clear_pointer (&outcome->groups, g_ptr_array_unref);
  g_clear_pointer (&outcome->changes, g_array_unref);
  g_clear_pointer (&outcome->fleet, quoit_fleet_unref);
  quoit_refusal_clear (&outcome->refusal);
  outcome->n_groups = 0;
}

static gboolean
decide (const QuoitFleet *fleet, const QuoitAction *action, gint64 now_ms, QuoitEntry **entry, QuoitOutcome *outcome,
        GError **error)
{
  switch (action->type)
    {
    case QUOIT_ACTION_RESERVE:
      return quoit_step_reserve (fleet, action->request, now_ms, entry, outcome, error);
    case QUOIT_ACTION_RESERVE_AHEAD:
      return quoit_step_reserve_ahead (fleet, &action->ahead, now_ms, entry, outcome, error);
    case QUOIT_ACTION_RESERVE_ALL:
      return quoit_step_reserve_all (fleet, &action->list, now_ms, entry, outcome, error);
    case QUOIT_ACTION_HOLD:
      return quoit_step_hold (fleet, &action->hold, now_ms, entry, outcome, error);
    case QUOIT_ACTION_CONFIRM:
      return quoit_step_confirm (fleet, &action->lease, now_ms, entry, outcome, error);
    case QUOIT_ACTION_RENEW:
      return quoit_step_renew (fleet, &action->lease, now_ms, entry, outcome, error);
    case QUOIT_ACTION_RENEW_GROUPS:
      return quoit_step_renew_groups (fleet, &action->renewal, now_ms, entry, error);
    case QUOIT_ACTION_RELEASE:
      return quoit_step_release (fleet, &action->group, action->reason, now_ms, entry, outcome, error);
    case QUOIT_ACTION_RELEASE_SLICE:
      return quoit_step_release_slice (fleet, &action->slice, now_ms, entry, outcome, error);
    case QUOIT_ACTION_RESIZE:
      return quoit_step_resize (fleet, &action->resize, now_ms, entry, outcome, error);
    case QUOIT_ACTION_REPAIR:
      return quoit_step_repair (fleet, &action->group, now_ms, entry, outcome, error);
    case QUOIT_ACTION_UPDATE:
      return quoit_step_update (fleet, &action->update, now_ms, entry, outcome, error);
    case QUOIT_ACTION_FORGET:
      return quoit_step_forget (fleet, &action->group, now_ms, entry, error);
    case QUOIT_ACTION_FORGET_KEY:
      return quoit_step_forget_key (fleet, action->key, now_ms, entry, error);
    case QUOIT_ACTION_FORGET_BEFORE:
      return quoit_step_forget_before (fleet, &action->forgetting, now_ms, entry, outcome, error);
    case QUOIT_ACTION_SET_OWNER:
      return quoit_step_set_owner (fleet, &action->owner, now_ms, entry, error);
    case QUOIT_ACTION_RENEW_OWNER:
      return quoit_step_renew_owner (fleet, &action->owner, now_ms, entry, error);
    case QUOIT_ACTION_END_OWNER:
      return quoit_step_end_owner (fleet, action->owner.name, now_ms, entry, outcome, error);
    case QUOIT_ACTION_SET_STATES:
      return quoit_step_set_states (fleet, &action->states, now_ms, entry, error);
    case QUOIT_ACTION_ADD_WINDOW:
      return quoit_step_add_window (fleet, &action->window, now_ms, entry, error);
    case QUOIT_ACTION_REMOVE_WINDOW:
      return quoit_step_remove_window (fleet, action->window_name, now_ms, entry, error);
    case QUOIT_ACTION_SET_QUOTA:
      return quoit_step_set_quota (fleet, &action->quota, now_ms, entry, error);
    case QUOIT_ACTION_REMOVE_QUOTA:
      return quoit_step_remove_quota (fleet, action->quota_name, now_ms, entry, error);
    case QUOIT_ACTION_IMPORT:
      return quoit_step_import (fleet, action->claims, now_ms, entry, outcome, error);
    case QUOIT_ACTION_SYNC:
      return quoit_step_sync (fleet, action->claims, now_ms, entry, outcome, error);
    case QUOIT_ACTION_UPDATE_NODES:
      return quoit_step_update_nodes (fleet, &action->nodes, now_ms, entry, outcome, error);
    case QUOIT_ACTION_SET_CLOCK:
      return quoit_step_set_clock (fleet, &action->clock, now_ms, entry, error);
    case QUOIT_ACTION_SET_KEEP:
      return quoit_step_set_keep (fleet, action->keep_ms, now_ms, entry, error);
    case QUOIT_ACTION_RESTORE:
      return quoit_step_restore (fleet, &action->numbers, now_ms, entry, error);
    case QUOIT_ACTION_COMMIT_FORK:
      return quoit_step_commit_fork (fleet, &action->fork, now_ms, entry, error);
    }
  g_assert_not_reached ();
}

gboolean
quoit_entry_check_n_groups (const QuoitFleet *fleet, const QuoitEntry *entry, GError **error)
{
  guint64 n = fleet->n_groups;

  for (guint i = 0; i < entry->n_effects; i++)
    n += entry->effects[i].type == QUOIT_EFFECT_GROUP_ADDED;
  return n <= QUOIT_MAX_GROUPS || n == fleet->n_groups
         || quoit_fail (error, QUOIT_ERROR_INVALID,
                        "%" G_GUINT64_FORMAT
                        " groups, including the removed ones whose keys are kept: expected at most %d; "
                        "forget removed groups ('quoit forget')",
                        n, QUOIT_MAX_GROUPS);
}

gboolean
quoit_action_decide (const QuoitFleet *fleet, const QuoitAction *action, gint64 now_ms, QuoitEntry **entry,
                     QuoitOutcome *outcome, GError **error)
{
  if (!decide (fleet, action, now_ms, entry, outcome, error))
    return FALSE;
  if (*entry == NULL || quoit_entry_check_n_groups (fleet, *entry, error))
    return TRUE;
  g_clear_pointer (entry, quoit_entry_unref);
  quoit_outcome_clear (outcome);
  return FALSE;
}

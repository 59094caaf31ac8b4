/* SPDX-License-Identifier: Apache-2.0 */
/* Reserving, holding, confirming, renewing and releasing groups. */
#include "api/target.h"

gboolean
quoit_target_change_group (QuoitTarget target, const char *group, QuoitGroupRef *ref, const QuoitAction *action,
                           int64_t now_ms, QuoitOutcome *outcome, QuoitReport **report, GError **error)
{
  g_autofree char *name = NULL;

  return quoit_target_refuse_child (target, error) && quoit_group_ref_parse (group, ref, &name, error)
         && quoit_target_change (target, action, now_ms, outcome, report, error);
}

/* --- reserve and hold --- */

static QuoitGroup *
place (QuoitTarget target, const QuoitAction *action, int64_t now_ms, QuoitReport **report, GError **error)
{
  g_auto (QuoitOutcome) outcome = { 0 };

  return quoit_target_change (target, action, now_ms, &outcome, report, error)
             ? quoit_group_new_reserved (outcome.fleet, g_steal_pointer (&outcome.after))
             : NULL;
}

QuoitGroup *
quoit_ledger_reserve (QuoitLedger *ledger, const QuoitRequest *request, int64_t now_ms, QuoitReport **report,
                      GError **error)
{
  const QuoitAction action = { QUOIT_ACTION_RESERVE, .request = request };

  g_return_val_if_fail (ledger != NULL && request != NULL, NULL);

  return place (QUOIT_TARGET_LEDGER (ledger), &action, now_ms, report, error);
}

QuoitGroup *
quoit_fork_reserve (QuoitFork *fork, const QuoitRequest *request, int64_t now_ms, QuoitReport **report, GError **error)
{
  const QuoitAction action = { QUOIT_ACTION_RESERVE, .request = request };

  g_return_val_if_fail (fork != NULL && request != NULL, NULL);

  return place (QUOIT_TARGET_FORK (fork), &action, now_ms, report, error);
}

QuoitGroup *
quoit_ledger_reserve_at (QuoitLedger *ledger, const QuoitRequest *request, int64_t from_ms, int64_t until_ms,
                         int64_t now_ms, QuoitReport **report, GError **error)
{
  const QuoitAction action = { QUOIT_ACTION_RESERVE_AHEAD, .ahead = { request, from_ms, until_ms } };

  g_return_val_if_fail (ledger != NULL && request != NULL, NULL);

  return place (QUOIT_TARGET_LEDGER (ledger), &action, now_ms, report, error);
}

QuoitGroup *
quoit_fork_reserve_at (QuoitFork *fork, const QuoitRequest *request, int64_t from_ms, int64_t until_ms, int64_t now_ms,
                       QuoitReport **report, GError **error)
{
  const QuoitAction action = { QUOIT_ACTION_RESERVE_AHEAD, .ahead = { request, from_ms, until_ms } };

  g_return_val_if_fail (fork != NULL && request != NULL, NULL);

  return place (QUOIT_TARGET_FORK (fork), &action, now_ms, report, error);
}

QuoitGroup *
quoit_ledger_hold (QuoitLedger *ledger, const QuoitRequest *request, int64_t lease_ms, int64_t now_ms,
                   QuoitReport **report, GError **error)
{
  const QuoitAction action = { QUOIT_ACTION_HOLD, .hold = { request, lease_ms } };

  g_return_val_if_fail (ledger != NULL && request != NULL, NULL);

  return place (QUOIT_TARGET_LEDGER (ledger), &action, now_ms, report, error);
}

QuoitGroup *
quoit_fork_hold (QuoitFork *fork, const QuoitRequest *request, int64_t lease_ms, int64_t now_ms, QuoitReport **report,
                 GError **error)
{
  const QuoitAction action = { QUOIT_ACTION_HOLD, .hold = { request, lease_ms } };

  g_return_val_if_fail (fork != NULL && request != NULL, NULL);

  return place (QUOIT_TARGET_FORK (fork), &action, now_ms, report, error);
}

/* --- several groups --- */

static bool
reserve_all (QuoitTarget target, const QuoitRequest *const *requests, uint32_t n_requests, int64_t now_ms,
             QuoitGroup **groups, QuoitReport **report, GError **error)
{
  const QuoitAction action = { QUOIT_ACTION_RESERVE_ALL, .list = { requests, n_requests } };
  g_auto (QuoitOutcome) outcome = { 0 };

  if (!quoit_target_change (target, &action, now_ms, &outcome, report, error))
    return false;
  for (uint32_t i = 0; i < n_requests; i++)
    groups[i] = quoit_group_new_reserved (outcome.fleet, quoit_group_data_ref (outcome.groups->pdata[i]));
  return true;
}

static bool
are_all_set (const QuoitRequest *const *requests, uint32_t n_requests)
{
  for (uint32_t i = 0; i < n_requests; i++)
    if (requests[i] == NULL)
      return false;
  return true;
}

bool
quoit_ledger_reserve_all (QuoitLedger *ledger, const QuoitRequest *const *requests, uint32_t n_requests, int64_t now_ms,
                          QuoitGroup **groups, QuoitReport **report, GError **error)
{
  g_return_val_if_fail (ledger != NULL && ((requests != NULL && groups != NULL) || n_requests == 0), false);
  g_return_val_if_fail (are_all_set (requests, n_requests), false);

  return reserve_all (QUOIT_TARGET_LEDGER (ledger), requests, n_requests, now_ms, groups, report, error);
}

bool
quoit_fork_reserve_all (QuoitFork *fork, const QuoitRequest *const *requests, uint32_t n_requests, int64_t now_ms,
                        QuoitGroup **groups, QuoitReport **report, GError **error)
{
  g_return_val_if_fail (fork != NULL && ((requests != NULL && groups != NULL) || n_requests == 0), false);
  g_return_val_if_fail (are_all_set (requests, n_requests), false);

  return reserve_all (QUOIT_TARGET_FORK (fork), requests, n_requests, now_ms, groups, report, error);
}

/* --- confirm and renew --- */

static QuoitGroup *
change_lease (QuoitTarget target, QuoitActionType type, const char *group, int64_t lease_ms, int64_t now_ms,
              GError **error)
{
  QuoitAction action = { type, .lease = { .lease_ms = lease_ms } };
  g_auto (QuoitOutcome) outcome = { 0 };

  /* Unlike a group that was just reserved, this one may have lost nodes. */
  return quoit_target_change_group (target, group, &action.lease.ref, &action, now_ms, &outcome, NULL, error)
             ? quoit_group_new_from_fleet (outcome.fleet, outcome.after)
             : NULL;
}

QuoitGroup *
quoit_ledger_confirm (QuoitLedger *ledger, const char *group, int64_t lease_ms, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (ledger != NULL && group != NULL, NULL);

  return change_lease (QUOIT_TARGET_LEDGER (ledger), QUOIT_ACTION_CONFIRM, group, lease_ms, now_ms, error);
}

QuoitGroup *
quoit_fork_confirm (QuoitFork *fork, const char *group, int64_t lease_ms, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (fork != NULL && group != NULL, NULL);

  return change_lease (QUOIT_TARGET_FORK (fork), QUOIT_ACTION_CONFIRM, group, lease_ms, now_ms, error);
}

QuoitGroup *
quoit_ledger_renew (QuoitLedger *ledger, const char *group, int64_t lease_ms, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (ledger != NULL && group != NULL, NULL);

  return change_lease (QUOIT_TARGET_LEDGER (ledger), QUOIT_ACTION_RENEW, group, lease_ms, now_ms, error);
}

QuoitGroup *
quoit_fork_renew (QuoitFork *fork, const char *group, int64_t lease_ms, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (fork != NULL && group != NULL, NULL);

  return change_lease (QUOIT_TARGET_FORK (fork), QUOIT_ACTION_RENEW, group, lease_ms, now_ms, error);
}

static bool
renew_groups (QuoitTarget target, const char *const *groups, uint32_t n_groups, int64_t lease_ms, int64_t now_ms,
              GError **error)
{
  const QuoitAction action = { QUOIT_ACTION_RENEW_GROUPS, .renewal = { groups, n_groups, lease_ms } };

  return quoit_target_change (target, &action, now_ms, NULL, NULL, error);
}

bool
quoit_ledger_renew_groups (QuoitLedger *ledger, const char *const *groups, uint32_t n_groups, int64_t lease_ms,
                           int64_t now_ms, GError **error)
{
  g_return_val_if_fail (ledger != NULL && (groups != NULL || n_groups == 0), false);

  return renew_groups (QUOIT_TARGET_LEDGER (ledger), groups, n_groups, lease_ms, now_ms, error);
}

bool
quoit_fork_renew_groups (QuoitFork *fork, const char *const *groups, uint32_t n_groups, int64_t lease_ms,
                         int64_t now_ms, GError **error)
{
  g_return_val_if_fail (fork != NULL && (groups != NULL || n_groups == 0), false);

  return renew_groups (QUOIT_TARGET_FORK (fork), groups, n_groups, lease_ms, now_ms, error);
}

/* --- expected end, priority and labels --- */

static QuoitGroup *
update (QuoitTarget target, const char *group, QuoitAction *action, int64_t now_ms, GError **error)
{
  g_auto (QuoitOutcome) outcome = { 0 };

  action->type = QUOIT_ACTION_UPDATE;
  return quoit_target_change_group (target, group, &action->update.ref, action, now_ms, &outcome, NULL, error)
             ? quoit_group_new_from_fleet (outcome.fleet, outcome.after)
             : NULL;
}

QuoitGroup *
quoit_ledger_set_expected_end (QuoitLedger *ledger, const char *group, int64_t end_ms, int64_t now_ms, GError **error)
{
  QuoitAction action = { .update = { .sets_end = TRUE, .expected_end_ms = end_ms } };

  g_return_val_if_fail (ledger != NULL && group != NULL, NULL);

  return update (QUOIT_TARGET_LEDGER (ledger), group, &action, now_ms, error);
}

QuoitGroup *
quoit_fork_set_expected_end (QuoitFork *fork, const char *group, int64_t end_ms, int64_t now_ms, GError **error)
{
  QuoitAction action = { .update = { .sets_end = TRUE, .expected_end_ms = end_ms } };

  g_return_val_if_fail (fork != NULL && group != NULL, NULL);

  return update (QUOIT_TARGET_FORK (fork), group, &action, now_ms, error);
}

QuoitGroup *
quoit_ledger_set_priority (QuoitLedger *ledger, const char *group, int32_t priority, int64_t now_ms, GError **error)
{
  QuoitAction action = { .update = { .sets_priority = TRUE, .priority = priority } };

  g_return_val_if_fail (ledger != NULL && group != NULL, NULL);

  return update (QUOIT_TARGET_LEDGER (ledger), group, &action, now_ms, error);
}

QuoitGroup *
quoit_fork_set_priority (QuoitFork *fork, const char *group, int32_t priority, int64_t now_ms, GError **error)
{
  QuoitAction action = { .update = { .sets_priority = TRUE, .priority = priority } };

  g_return_val_if_fail (fork != NULL && group != NULL, NULL);

  return update (QUOIT_TARGET_FORK (fork), group, &action, now_ms, error);
}

static bool
has_keys (const char *const *keys, uint32_t n_labels)
{
  /* More labels are refused later, before anything reads them. */
  for (uint32_t i = 0; n_labels <= QUOIT_MAX_LABELS && i < n_labels; i++)
    if (keys[i] == NULL)
      return false;
  return true;
}

QuoitGroup *
quoit_ledger_set_labels (QuoitLedger *ledger, const char *group, const char *const *keys, const char *const *values,
                         uint32_t n_labels, int64_t now_ms, GError **error)
{
  QuoitAction action = { .update = { .n_labels = n_labels, .label_keys = keys, .label_values = values } };

  g_return_val_if_fail (ledger != NULL && group != NULL, NULL);
  g_return_val_if_fail (n_labels == 0 || (keys != NULL && values != NULL && has_keys (keys, n_labels)), NULL);

  return update (QUOIT_TARGET_LEDGER (ledger), group, &action, now_ms, error);
}

QuoitGroup *
quoit_fork_set_labels (QuoitFork *fork, const char *group, const char *const *keys, const char *const *values,
                       uint32_t n_labels, int64_t now_ms, GError **error)
{
  QuoitAction action = { .update = { .n_labels = n_labels, .label_keys = keys, .label_values = values } };

  g_return_val_if_fail (fork != NULL && group != NULL, NULL);
  g_return_val_if_fail (n_labels == 0 || (keys != NULL && values != NULL && has_keys (keys, n_labels)), NULL);

  return update (QUOIT_TARGET_FORK (fork), group, &action, now_ms, error);
}

/* --- release and forget --- */

static bool
release (QuoitTarget target, const char *group, const char *reason, int64_t now_ms, GError **error)
{
  QuoitAction action = { .type = QUOIT_ACTION_RELEASE, .reason = reason };

  return quoit_target_change_group (target, group, &action.group, &action, now_ms, NULL, NULL, error);
}

bool
quoit_ledger_release (QuoitLedger *ledger, const char *group, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (ledger != NULL && group != NULL, false);

  return release (QUOIT_TARGET_LEDGER (ledger), group, NULL, now_ms, error);
}

bool
quoit_fork_release (QuoitFork *fork, const char *group, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (fork != NULL && group != NULL, false);

  return release (QUOIT_TARGET_FORK (fork), group, NULL, now_ms, error);
}

bool
quoit_ledger_release_with_reason (QuoitLedger *ledger, const char *group, const char *reason, int64_t now_ms,
                                  GError **error)
{
  g_return_val_if_fail (ledger != NULL && group != NULL && reason != NULL, false);

  return release (QUOIT_TARGET_LEDGER (ledger), group, reason, now_ms, error);
}

bool
quoit_fork_release_with_reason (QuoitFork *fork, const char *group, const char *reason, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (fork != NULL && group != NULL && reason != NULL, false);

  return release (QUOIT_TARGET_FORK (fork), group, reason, now_ms, error);
}

static bool
forget (QuoitTarget target, const char *group, int64_t now_ms, GError **error)
{
  g_autofree char *name = NULL;
  QuoitAction action = { .type = QUOIT_ACTION_FORGET };

  if (!quoit_target_refuse_child (target, error) || !quoit_group_ref_parse (group, &action.group, &name, error))
    return false;
  if (action.group.id == 0)
    {
      g_autofree char *quoted = quoit_quote (group);

      return quoit_fail (error, QUOIT_ERROR_INVALID,
                         "group %s: expected NAME@ID, because only an id names a removed group", quoted);
    }
  return quoit_target_change (target, &action, now_ms, NULL, NULL, error);
}

bool
quoit_ledger_forget (QuoitLedger *ledger, const char *group, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (ledger != NULL && group != NULL, false);

  return forget (QUOIT_TARGET_LEDGER (ledger), group, now_ms, error);
}

bool
quoit_fork_forget (QuoitFork *fork, const char *group, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (fork != NULL && group != NULL, false);

  return forget (QUOIT_TARGET_FORK (fork), group, now_ms, error);
}

bool
quoit_ledger_forget_key (QuoitLedger *ledger, const char *key, int64_t now_ms, GError **error)
{
  const QuoitAction action = { QUOIT_ACTION_FORGET_KEY, .key = key };

  g_return_val_if_fail (ledger != NULL && key != NULL, false);

  return quoit_target_change (QUOIT_TARGET_LEDGER (ledger), &action, now_ms, NULL, NULL, error);
}

bool
quoit_fork_forget_key (QuoitFork *fork, const char *key, int64_t now_ms, GError **error)
{
  const QuoitAction action = { QUOIT_ACTION_FORGET_KEY, .key = key };

  g_return_val_if_fail (fork != NULL && key != NULL, false);

  return quoit_target_change (QUOIT_TARGET_FORK (fork), &action, now_ms, NULL, NULL, error);
}

static bool
forget_before (QuoitTarget target, int64_t before_ms, int64_t now_ms, uint32_t *n_groups, GError **error)
{
  const QuoitAction action = { QUOIT_ACTION_FORGET_BEFORE, .forgetting = { before_ms, 0 } };
  g_auto (QuoitOutcome) outcome = { 0 };

  if (!quoit_target_change (target, &action, now_ms, &outcome, NULL, error))
    return false;
  if (n_groups != NULL)
    *n_groups = outcome.n_groups;
  return true;
}

bool
quoit_ledger_forget_before (QuoitLedger *ledger, int64_t before_ms, int64_t now_ms, uint32_t *n_groups, GError **error)
{
  g_return_val_if_fail (ledger != NULL, false);

  return forget_before (QUOIT_TARGET_LEDGER (ledger), before_ms, now_ms, n_groups, error);
}

bool
quoit_fork_forget_before (QuoitFork *fork, int64_t before_ms, int64_t now_ms, uint32_t *n_groups, GError **error)
{
  g_return_val_if_fail (fork != NULL, false);

  return forget_before (QUOIT_TARGET_FORK (fork), before_ms, now_ms, n_groups, error);
}

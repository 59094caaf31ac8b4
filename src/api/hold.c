/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handles.h"

QuoitGroup *
quoit_ledger_hold (QuoitLedger *ledger, const QuoitRequest *request, int64_t lease_ms, int64_t now_ms,
                   QuoitReport **report, GError **error)
{
  const QuoitAction action = { QUOIT_ACTION_HOLD, .hold = { request, lease_ms } };
  g_auto (QuoitOutcome) outcome = { 0 };

  g_return_val_if_fail (ledger != NULL && request != NULL, NULL);

  return quoit_store_change (ledger->store, &action, now_ms, &outcome, report, error)
             ? quoit_group_new_reserved (outcome.fleet, g_steal_pointer (&outcome.after))
             : NULL;
}

QuoitGroup *
quoit_fork_hold (QuoitFork *fork, const QuoitRequest *request, int64_t lease_ms, int64_t now_ms, QuoitReport **report,
                 GError **error)
{
  const QuoitAction action = { QUOIT_ACTION_HOLD, .hold = { request, lease_ms } };
  g_auto (QuoitOutcome) outcome = { 0 };

  g_return_val_if_fail (fork != NULL && request != NULL, NULL);

  return quoit_fork_change (fork, &action, now_ms, &outcome, report, error)
             ? quoit_group_new_from_fleet (fork->fleet, outcome.after)
             : NULL;
}

static QuoitGroup *
change_lease (QuoitLedger *ledger, QuoitActionType type, const char *group, int64_t lease_ms, int64_t now_ms,
              GError **error)
{
  g_autofree char *name = NULL;
  QuoitAction action = { type, .lease = { .lease_ms = lease_ms } };
  g_auto (QuoitOutcome) outcome = { 0 };

  /* Unlike a group that was just reserved, this one may have lost nodes. */
  return quoit_handle_parse_group (ledger, group, &action.lease.ref, &name, error)
                 && quoit_store_change (ledger->store, &action, now_ms, &outcome, NULL, error)
             ? quoit_group_new_from_fleet (outcome.fleet, outcome.after)
             : NULL;
}

QuoitGroup *
quoit_ledger_confirm (QuoitLedger *ledger, const char *group, int64_t lease_ms, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (ledger != NULL && group != NULL, NULL);

  return change_lease (ledger, QUOIT_ACTION_CONFIRM, group, lease_ms, now_ms, error);
}

QuoitGroup *
quoit_ledger_renew (QuoitLedger *ledger, const char *group, int64_t lease_ms, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (ledger != NULL && group != NULL, NULL);

  return change_lease (ledger, QUOIT_ACTION_RENEW, group, lease_ms, now_ms, error);
}

bool
quoit_ledger_forget (QuoitLedger *ledger, const char *group, int64_t now_ms, GError **error)
{
  g_autofree char *name = NULL;
  QuoitAction action = { .type = QUOIT_ACTION_FORGET };

  g_return_val_if_fail (ledger != NULL && group != NULL, false);

  if (!quoit_handle_parse_group (ledger, group, &action.group, &name, error))
    return false;
  if (action.group.id == 0)
    {
      g_autofree char *quoted = quoit_quote (group);

      return quoit_fail (error, QUOIT_ERROR_INVALID,
                         "group %s: expected NAME@ID, because only an id names a removed group", quoted);
    }
  return quoit_store_change (ledger->store, &action, now_ms, NULL, NULL, error);
}

bool
quoit_ledger_forget_key (QuoitLedger *ledger, const char *key, int64_t now_ms, GError **error)
{
  const QuoitAction action = { QUOIT_ACTION_FORGET_KEY, .key = key };

  g_return_val_if_fail (ledger != NULL && key != NULL, false);

  return quoit_store_change (ledger->store, &action, now_ms, NULL, NULL, error);
}

/* --- owners --- */

bool
quoit_ledger_set_owner (QuoitLedger *ledger, const char *owner, int64_t lease_ms, int64_t now_ms, GError **error)
{
  const QuoitAction action = { QUOIT_ACTION_SET_OWNER, .owner = { owner, lease_ms } };

  g_return_val_if_fail (ledger != NULL && owner != NULL, false);

  return quoit_store_change (ledger->store, &action, now_ms, NULL, NULL, error);
}

bool
quoit_ledger_renew_owner (QuoitLedger *ledger, const char *owner, int64_t lease_ms, int64_t now_ms, GError **error)
{
  const QuoitAction action = { QUOIT_ACTION_RENEW_OWNER, .owner = { owner, lease_ms } };

  g_return_val_if_fail (ledger != NULL && owner != NULL, false);

  return quoit_store_change (ledger->store, &action, now_ms, NULL, NULL, error);
}

bool
quoit_ledger_end_owner (QuoitLedger *ledger, const char *owner, int64_t now_ms, uint32_t *n_groups, GError **error)
{
  const QuoitAction action = { QUOIT_ACTION_END_OWNER, .owner = { .name = owner } };
  g_auto (QuoitOutcome) outcome = { 0 };

  g_return_val_if_fail (ledger != NULL && owner != NULL, false);

  if (!quoit_store_change (ledger->store, &action, now_ms, &outcome, NULL, error))
    return false;
  if (n_groups != NULL)
    *n_groups = outcome.n_groups;
  return true;
}

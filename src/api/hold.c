/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handles.h"

QuoitGroup *
quoit_ledger_hold (QuoitLedger *ledger, const QuoitRequest *request, int64_t lease_ms, int64_t now_ms, GError **error)
{
  g_autoptr (QuoitFleet) fleet = NULL;
  QuoitHold hold = { request, lease_ms };
  QuoitGroupData *data = NULL;

  g_return_val_if_fail (ledger != NULL && request != NULL, NULL);

  if (!quoit_store_change_on (ledger->store, quoit_step_hold, &hold, now_ms, &data, &fleet, error))
    return NULL;
  return quoit_group_made (fleet, data);
}

QuoitGroup *
quoit_fork_hold (QuoitFork *fork, const QuoitRequest *request, int64_t lease_ms, int64_t now_ms, GError **error)
{
  QuoitHold hold = { request, lease_ms };
  g_autoptr (QuoitGroupData) data = NULL;

  g_return_val_if_fail (fork != NULL && request != NULL, NULL);

  if (!quoit_fork_change (fork, quoit_step_hold, &hold, now_ms, &data, error))
    return NULL;
  return quoit_group_in (fork->fleet, data);
}

static QuoitGroup *
change_lease (QuoitLedger *ledger, QuoitStepFunc step, const char *group, int64_t lease_ms, int64_t now_ms,
              GError **error)
{
  g_autoptr (QuoitFleet) fleet = NULL;
  g_autofree char *name = NULL;
  QuoitLeaseChange change = { .lease_ms = lease_ms };
  QuoitGroupData *data = NULL;
  QuoitGroup *changed;

  if (!quoit_handle_parse_group (ledger, group, &change.ref, &name, error)
      || !quoit_store_change_on (ledger->store, step, &change, now_ms, &data, &fleet, error))
    return NULL;
  /* It is not new: its nodes may have been lost since. */
  changed = quoit_group_in (fleet, data);
  quoit_group_data_unref (data);
  return changed;
}

QuoitGroup *
quoit_ledger_confirm (QuoitLedger *ledger, const char *group, int64_t lease_ms, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (ledger != NULL && group != NULL, NULL);

  return change_lease (ledger, quoit_step_confirm, group, lease_ms, now_ms, error);
}

QuoitGroup *
quoit_ledger_renew (QuoitLedger *ledger, const char *group, int64_t lease_ms, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (ledger != NULL && group != NULL, NULL);

  return change_lease (ledger, quoit_step_renew, group, lease_ms, now_ms, error);
}

bool
quoit_ledger_forget (QuoitLedger *ledger, const char *group, int64_t now_ms, GError **error)
{
  g_autofree char *name = NULL;
  QuoitGroupRef ref;

  g_return_val_if_fail (ledger != NULL && group != NULL, false);

  if (!quoit_handle_parse_group (ledger, group, &ref, &name, error))
    return false;
  if (ref.id == 0)
    {
      g_autofree char *quoted = quoit_quote (group);

      return quoit_fail (error, QUOIT_ERROR_INVALID,
                         "group %s: expected NAME@ID: which of that name is to be forgotten", quoted);
    }
  return quoit_store_change (ledger->store, quoit_step_forget, &ref, now_ms, NULL, error);
}

bool
quoit_ledger_forget_key (QuoitLedger *ledger, const char *key, int64_t now_ms, GError **error)
{
  QuoitGroupRef ref = { key, 0 };

  g_return_val_if_fail (ledger != NULL && key != NULL, false);

  return quoit_store_change (ledger->store, quoit_step_forget, &ref, now_ms, NULL, error);
}

/* --- owners --- */

bool
quoit_ledger_set_owner (QuoitLedger *ledger, const char *owner, int64_t lease_ms, int64_t now_ms, GError **error)
{
  QuoitOwnerChange change = { owner, lease_ms };

  g_return_val_if_fail (ledger != NULL && owner != NULL, false);

  return quoit_store_change (ledger->store, quoit_step_set_owner, &change, now_ms, NULL, error);
}

bool
quoit_ledger_renew_owner (QuoitLedger *ledger, const char *owner, int64_t lease_ms, int64_t now_ms, GError **error)
{
  QuoitOwnerChange change = { owner, lease_ms };

  g_return_val_if_fail (ledger != NULL && owner != NULL, false);

  return quoit_store_change (ledger->store, quoit_step_renew_owner, &change, now_ms, NULL, error);
}

bool
quoit_ledger_end_owner (QuoitLedger *ledger, const char *owner, int64_t now_ms, uint32_t *n_groups, GError **error)
{
  gpointer n = NULL;

  g_return_val_if_fail (ledger != NULL && owner != NULL, false);

  if (!quoit_store_change (ledger->store, quoit_step_end_owner, owner, now_ms, &n, error))
    return false;
  if (n_groups != NULL)
    *n_groups = GPOINTER_TO_UINT (n);
  return true;
}

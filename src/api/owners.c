/* SPDX-License-Identifier: Apache-2.0 */
#include "api/target.h"

static bool
change_owner (QuoitTarget target, QuoitActionType type, const char *owner, int64_t lease_ms, int64_t now_ms,
              GError **error)
{
  const QuoitAction action = { type, .owner = { owner, lease_ms } };

  return quoit_target_change (target, &action, now_ms, NULL, NULL, error);
}

static bool
end_owner (QuoitTarget target, const char *owner, int64_t now_ms, uint32_t *n_groups, GError **error)
{
  const QuoitAction action = { QUOIT_ACTION_END_OWNER, .owner = { .name = owner } };
  g_auto (QuoitOutcome) outcome = { 0 };

  if (!quoit_target_change (target, &action, now_ms, &outcome, NULL, error))
    return false;
  if (n_groups != NULL)
    *n_groups = outcome.n_groups;
  return true;
}

bool
quoit_ledger_set_owner (QuoitLedger *ledger, const char *owner, int64_t lease_ms, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (ledger != NULL && owner != NULL, false);

  return change_owner (QUOIT_TARGET_LEDGER (ledger), QUOIT_ACTION_SET_OWNER, owner, lease_ms, now_ms, error);
}

bool
quoit_fork_set_owner (QuoitFork *fork, const char *owner, int64_t lease_ms, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (fork != NULL && owner != NULL, false);

  return change_owner (QUOIT_TARGET_FORK (fork), QUOIT_ACTION_SET_OWNER, owner, lease_ms, now_ms, error);
}

bool
quoit_ledger_renew_owner (QuoitLedger *ledger, const char *owner, int64_t lease_ms, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (ledger != NULL && owner != NULL, false);

  return change_owner (QUOIT_TARGET_LEDGER (ledger), QUOIT_ACTION_RENEW_OWNER, owner, lease_ms, now_ms, error);
}

bool
quoit_fork_renew_owner (QuoitFork *fork, const char *owner, int64_t lease_ms, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (fork != NULL && owner != NULL, false);

  return change_owner (QUOIT_TARGET_FORK (fork), QUOIT_ACTION_RENEW_OWNER, owner, lease_ms, now_ms, error);
}

bool
quoit_ledger_end_owner (QuoitLedger *ledger, const char *owner, int64_t now_ms, uint32_t *n_groups, GError **error)
{
  g_return_val_if_fail (ledger != NULL && owner != NULL, false);

  return end_owner (QUOIT_TARGET_LEDGER (ledger), owner, now_ms, n_groups, error);
}

bool
quoit_fork_end_owner (QuoitFork *fork, const char *owner, int64_t now_ms, uint32_t *n_groups, GError **error)
{
  g_return_val_if_fail (fork != NULL && owner != NULL, false);

  return end_owner (QUOIT_TARGET_FORK (fork), owner, now_ms, n_groups, error);
}

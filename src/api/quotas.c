/* SPDX-License-Identifier: Apache-2.0 */
/* Quotas. */
#include "api/target.h"
#include "fleet/quotas.h"

static bool
set_quota (QuoitTarget target, const QuoitQuotaChange *quota, int64_t now_ms, GError **error)
{
  const QuoitAction action = { QUOIT_ACTION_SET_QUOTA, .quota = *quota };

  return quoit_target_change (target, &action, now_ms, NULL, NULL, error);
}

bool
quoit_ledger_set_quota (QuoitLedger *ledger, const char *name, const char *label, const char *value,
                        const char *accelerator, const char *topology, int64_t nominal_chips, int64_t max_chips,
                        const char *cohort, int64_t now_ms, GError **error)
{
  const QuoitQuotaChange quota = { name, label, value, accelerator, topology, nominal_chips, max_chips, cohort };

  g_return_val_if_fail (ledger != NULL && name != NULL && value != NULL, false);

  return set_quota (QUOIT_TARGET_LEDGER (ledger), &quota, now_ms, error);
}

bool
quoit_fork_set_quota (QuoitFork *fork, const char *name, const char *label, const char *value, const char *accelerator,
                      const char *topology, int64_t nominal_chips, int64_t max_chips, const char *cohort,
                      int64_t now_ms, GError **error)
{
  const QuoitQuotaChange quota = { name, label, value, accelerator, topology, nominal_chips, max_chips, cohort };

  g_return_val_if_fail (fork != NULL && name != NULL && value != NULL, false);

  return set_quota (QUOIT_TARGET_FORK (fork), &quota, now_ms, error);
}

static bool
remove_quota (QuoitTarget target, const char *name, int64_t now_ms, GError **error)
{
  const QuoitAction action = { QUOIT_ACTION_REMOVE_QUOTA, .quota_name = name };

  return quoit_target_change (target, &action, now_ms, NULL, NULL, error);
}

bool
quoit_ledger_remove_quota (QuoitLedger *ledger, const char *name, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (ledger != NULL && name != NULL, false);

  return remove_quota (QUOIT_TARGET_LEDGER (ledger), name, now_ms, error);
}

bool
quoit_fork_remove_quota (QuoitFork *fork, const char *name, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (fork != NULL && name != NULL, false);

  return remove_quota (QUOIT_TARGET_FORK (fork), name, now_ms, error);
}

/* --- reading --- */

static bool
has_quota (const QuoitSnapshot *snapshot, uint32_t quota)
{
  return snapshot != NULL && quota < quoit_quotas_n (snapshot->fleet->quotas);
}

static const QuoitQuota *
quota_at (const QuoitSnapshot *snapshot, uint32_t quota)
{
  return quoit_quotas_at (snapshot->fleet->quotas, quota);
}

uint32_t
quoit_snapshot_get_n_quotas (const QuoitSnapshot *snapshot)
{
  g_return_val_if_fail (snapshot != NULL, 0);

  return quoit_quotas_n (snapshot->fleet->quotas);
}

const char *
quoit_snapshot_get_quota_name (const QuoitSnapshot *snapshot, uint32_t quota)
{
  g_return_val_if_fail (has_quota (snapshot, quota), NULL);

  return quota_at (snapshot, quota)->name;
}

const char *
quoit_snapshot_get_quota_label (const QuoitSnapshot *snapshot, uint32_t quota)
{
  g_return_val_if_fail (has_quota (snapshot, quota), NULL);

  return quota_at (snapshot, quota)->label;
}

const char *
quoit_snapshot_get_quota_value (const QuoitSnapshot *snapshot, uint32_t quota)
{
  g_return_val_if_fail (has_quota (snapshot, quota), NULL);

  return quota_at (snapshot, quota)->value;
}

const char *
quoit_snapshot_get_quota_accelerator (const QuoitSnapshot *snapshot, uint32_t quota)
{
  g_return_val_if_fail (has_quota (snapshot, quota), NULL);

  return quota_at (snapshot, quota)->generation == QUOIT_GENERATION_NONE
             ? NULL
             : quoit_generation_name (quota_at (snapshot, quota)->generation);
}

const char *
quoit_snapshot_get_quota_topology (const QuoitSnapshot *snapshot, uint32_t quota)
{
  g_return_val_if_fail (has_quota (snapshot, quota), NULL);

  return quota_at (snapshot, quota)->topology;
}

int64_t
quoit_snapshot_get_quota_nominal_chips (const QuoitSnapshot *snapshot, uint32_t quota)
{
  g_return_val_if_fail (has_quota (snapshot, quota), 0);

  return quota_at (snapshot, quota)->nominal;
}

int64_t
quoit_snapshot_get_quota_max_chips (const QuoitSnapshot *snapshot, uint32_t quota)
{
  g_return_val_if_fail (has_quota (snapshot, quota), 0);

  return quota_at (snapshot, quota)->most;
}

const char *
quoit_snapshot_get_quota_cohort (const QuoitSnapshot *snapshot, uint32_t quota)
{
  g_return_val_if_fail (has_quota (snapshot, quota), NULL);

  return quota_at (snapshot, quota)->cohort;
}

QuoitAmount
quoit_snapshot_get_quota_used (const QuoitSnapshot *snapshot, uint32_t quota)
{
  g_return_val_if_fail (has_quota (snapshot, quota), (QuoitAmount) { 0 });

  return (QuoitAmount) { quoit_quotas_used_e4 (snapshot->fleet->quotas, quota) };
}

QuoitAmount
quoit_snapshot_get_quota_borrowed (const QuoitSnapshot *snapshot, uint32_t quota)
{
  gint64 used_e4;

  g_return_val_if_fail (has_quota (snapshot, quota), (QuoitAmount) { 0 });

  used_e4 = quoit_quotas_used_e4 (snapshot->fleet->quotas, quota);
  return (QuoitAmount) { MAX (used_e4 - quota_at (snapshot, quota)->nominal * QUOIT_AMOUNT_UNIT, 0) };
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handles.h"

QuoitSnapshot *
quoit_ledger_snapshot_at (QuoitLedger *ledger, uint64_t seq, GError **error)
{
  QuoitFleet *fleet;

  g_return_val_if_fail (ledger != NULL, NULL);

  fleet = quoit_store_fleet_at (ledger->store, seq, error);
  return fleet == NULL ? NULL : quoit_snapshot_new (fleet);
}

bool
quoit_ledger_compact_journal (QuoitLedger *ledger, uint64_t before_seq, int64_t now_ms, uint64_t *n_removed,
                              GError **error)
{
  g_return_val_if_fail (ledger != NULL, false);

  return quoit_store_compact (ledger->store, before_seq, now_ms, n_removed, error);
}

bool
quoit_ledger_set_keep (QuoitLedger *ledger, int64_t keep_ms, int64_t now_ms, GError **error)
{
  const QuoitAction action = { QUOIT_ACTION_SET_KEEP, .keep_ms = keep_ms };

  g_return_val_if_fail (ledger != NULL, false);

  return quoit_store_change (ledger->store, &action, now_ms, NULL, NULL, error);
}

bool
quoit_ledger_trim (QuoitLedger *ledger, int64_t now_ms, uint64_t *n_entries, uint32_t *n_groups, GError **error)
{
  QuoitTrimmed trimmed;

  g_return_val_if_fail (ledger != NULL, false);

  if (!quoit_store_trim (ledger->store, now_ms, &trimmed, error))
    return false;
  if (n_entries != NULL)
    *n_entries = trimmed.n_entries;
  if (n_groups != NULL)
    *n_groups = trimmed.n_groups;
  return true;
}

bool
quoit_ledger_read_checkpoint (QuoitLedger *ledger, uint64_t *seq, int64_t *made_ms, GError **error)
{
  g_return_val_if_fail (ledger != NULL && seq != NULL, false);

  return quoit_store_checkpoint (ledger->store, seq, made_ms, error);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handles.h"

QuoitSnapshot *
quoit_snapshot_at (Quoit *quoit, uint64_t seq, GError **error)
{
  QuoitFleet *fleet;

  g_return_val_if_fail (quoit != NULL, NULL);

  fleet = quoit_store_fleet_at (quoit->store, seq, error);
  return fleet == NULL ? NULL : quoit_snapshot_of (fleet);
}

bool
quoit_compact_journal (Quoit *quoit, uint64_t before_seq, int64_t now_ms, uint64_t *n_removed, GError **error)
{
  g_return_val_if_fail (quoit != NULL, false);

  return quoit_store_compact (quoit->store, before_seq, now_ms, n_removed, error);
}

bool
quoit_read_checkpoint (Quoit *quoit, uint64_t *seq, int64_t *made_ms, GError **error)
{
  g_return_val_if_fail (quoit != NULL && seq != NULL, false);

  return quoit_store_checkpoint (quoit->store, seq, made_ms, error);
}

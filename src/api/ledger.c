/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handles.h"

static QuoitLedger *
handle_new (QuoitStore *store)
{
  QuoitLedger *ledger;

  if (store == NULL)
    return NULL;
  ledger = g_new (QuoitLedger, 1);
  g_atomic_ref_count_init (&ledger->refs);
  ledger->store = store;
  return ledger;
}

QuoitLedger *
quoit_ledger_create (const char *path, int64_t wait_ms, GError **error)
{
  g_return_val_if_fail (path != NULL, NULL);

  return handle_new (quoit_store_create (path, wait_ms, error));
}

QuoitLedger *
quoit_ledger_open (const char *path, int64_t wait_ms, GError **error)
{
  g_return_val_if_fail (path != NULL, NULL);

  return handle_new (quoit_store_open (path, wait_ms, error));
}

QuoitLedger *
quoit_ledger_open_memory (void)
{
  return handle_new (quoit_store_new_memory ());
}

QuoitLedger *
quoit_ledger_open_snapshot (const QuoitSnapshot *snapshot, GError **error)
{
  return handle_new (quoit_store_open_fleet (snapshot == NULL ? NULL : snapshot->fleet, error));
}

bool
quoit_ledger_apply_entry (QuoitLedger *ledger, const uint8_t *bytes, size_t n_bytes, GError **error)
{
  g_return_val_if_fail (ledger != NULL && bytes != NULL, false);

  return quoit_store_apply_entry (ledger->store, bytes, n_bytes, error);
}

enum { MAX_LEADER_BYTES = 256 };

bool
quoit_ledger_lead (QuoitLedger *ledger, const char *leader, uint64_t *term, GError **error)
{
  guint64 begun = 0;

  g_return_val_if_fail (ledger != NULL && leader != NULL && term != NULL, false);

  if (!quoit_short_text_check ("leader", leader, MAX_LEADER_BYTES, error))
    return false;
  if (!quoit_store_lead (ledger->store, leader, &begun, error))
    return false;
  *term = begun;
  return true;
}

bool
quoit_ledger_restore (const char *path, const char *backup, int64_t wait_ms, const char *actor, int64_t now_ms,
                      GError **error)
{
  g_return_val_if_fail (path != NULL && backup != NULL, false);

  return quoit_store_restore (path, backup, wait_ms, actor, now_ms, error);
}

char *
quoit_ledger_dup_identity (QuoitLedger *ledger)
{
  g_return_val_if_fail (ledger != NULL, NULL);

  return quoit_store_is_own (ledger->store) ? quoit_store_identity (ledger->store) : NULL;
}

bool
quoit_ledger_set_clock (QuoitLedger *ledger, int64_t clock_ms, GError **error)
{
  const QuoitAction action = { QUOIT_ACTION_SET_CLOCK, .clock = { TRUE, -1 } };

  g_return_val_if_fail (ledger != NULL, false);

  return quoit_store_change (ledger->store, &action, clock_ms, NULL, NULL, error);
}

bool
quoit_ledger_set_max_clock_jump (QuoitLedger *ledger, int64_t max_jump_ms, int64_t now_ms, GError **error)
{
  const QuoitAction action = { QUOIT_ACTION_SET_CLOCK, .clock = { FALSE, max_jump_ms } };

  g_return_val_if_fail (ledger != NULL, false);

  if (!quoit_store_refuse_child (ledger->store, error))
    return false;
  if (max_jump_ms < 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "limit '%" G_GINT64_FORMAT "' ms: expected 0 or more", max_jump_ms);
  return quoit_store_change (ledger->store, &action, now_ms, NULL, NULL, error);
}

QuoitLedger *
quoit_ledger_ref (QuoitLedger *ledger)
{
  g_return_val_if_fail (ledger != NULL, NULL);

  g_atomic_ref_count_inc (&ledger->refs);
  return ledger;
}

void
quoit_ledger_unref (QuoitLedger *ledger)
{
  if (ledger == NULL || !g_atomic_ref_count_dec (&ledger->refs))
    return;
  quoit_store_free (ledger->store);
  g_free (ledger);
}

void
quoit_ledger_set_actor (QuoitLedger *ledger, const char *actor)
{
  g_return_if_fail (ledger != NULL);

  quoit_store_set_actor (ledger->store, actor);
}

void
quoit_ledger_interrupt (QuoitLedger *ledger)
{
  g_return_if_fail (ledger != NULL);

  quoit_store_interrupt (ledger->store);
}

QuoitSnapshot *
quoit_ledger_snapshot (QuoitLedger *ledger)
{
  g_return_val_if_fail (ledger != NULL, NULL);

  /* Another thread may have held the lock of the snapshot when the process forked. */
  if (!quoit_store_is_own (ledger->store))
    return NULL;
  return quoit_snapshot_new (quoit_store_pending_fleet (ledger->store));
}

bool
quoit_ledger_refresh (QuoitLedger *ledger, GError **error)
{
  g_return_val_if_fail (ledger != NULL, false);

  return quoit_store_refresh (ledger->store, error);
}

bool
quoit_ledger_begin_batch (QuoitLedger *ledger, GError **error)
{
  g_return_val_if_fail (ledger != NULL, false);

  return quoit_store_begin_batch (ledger->store, error);
}

bool
quoit_ledger_begin_unsynced_batch (QuoitLedger *ledger, GError **error)
{
  g_return_val_if_fail (ledger != NULL, false);

  return quoit_store_begin_unsynced_batch (ledger->store, error);
}

bool
quoit_ledger_commit_batch (QuoitLedger *ledger, GError **error)
{
  g_return_val_if_fail (ledger != NULL, false);

  return quoit_store_commit_batch (ledger->store, error);
}

void
quoit_ledger_cancel_batch (QuoitLedger *ledger)
{
  g_return_if_fail (ledger != NULL);

  quoit_store_cancel_batch (ledger->store);
}

uint32_t
quoit_ledger_mark_batch (QuoitLedger *ledger, GError **error)
{
  g_return_val_if_fail (ledger != NULL, 0);

  return quoit_store_mark_batch (ledger->store, error);
}

bool
quoit_ledger_roll_back_batch (QuoitLedger *ledger, uint32_t mark, GError **error)
{
  g_return_val_if_fail (ledger != NULL, false);

  return quoit_store_roll_back_batch (ledger->store, mark, error);
}

bool
quoit_ledger_verify (QuoitLedger *ledger, GError **error)
{
  g_return_val_if_fail (ledger != NULL, false);

  return quoit_store_verify (ledger->store, error);
}

bool
quoit_ledger_copy (QuoitLedger *ledger, const char *to, GError **error)
{
  g_return_val_if_fail (ledger != NULL && to != NULL, false);

  return quoit_store_copy (ledger->store, to, error);
}

bool
quoit_ledger_backup (QuoitLedger *ledger, const char *path, GError **error)
{
  g_return_val_if_fail (ledger != NULL && path != NULL, false);

  return quoit_store_backup (ledger->store, path, error);
}

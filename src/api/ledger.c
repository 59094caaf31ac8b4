/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handles.h"

static Quoit *
handle_of (QuoitStore *store)
{
  Quoit *quoit;

  if (store == NULL)
    return NULL;
  quoit = g_new (Quoit, 1);
  g_atomic_ref_count_init (&quoit->refs);
  quoit->store = store;
  return quoit;
}

Quoit *
quoit_create (const char *path, int64_t wait_ms, GError **error)
{
  g_return_val_if_fail (path != NULL, NULL);

  return handle_of (quoit_store_create (path, wait_ms, error));
}

Quoit *
quoit_open (const char *path, int64_t wait_ms, GError **error)
{
  g_return_val_if_fail (path != NULL, NULL);

  return handle_of (quoit_store_open (path, wait_ms, error));
}

Quoit *
quoit_open_memory (void)
{
  return handle_of (quoit_store_new_memory ());
}

bool
quoit_restore (const char *path, const char *backup, int64_t wait_ms, const char *actor, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (path != NULL && backup != NULL, false);

  return quoit_store_restore (path, backup, wait_ms, actor, now_ms, error);
}

char *
quoit_dup_identity (Quoit *quoit)
{
  g_return_val_if_fail (quoit != NULL, NULL);

  return quoit_store_is_own (quoit->store) ? quoit_store_identity (quoit->store) : NULL;
}

bool
quoit_set_clock (Quoit *quoit, int64_t clock_ms, GError **error)
{
  const QuoitClockChange change = { TRUE, -1 };

  g_return_val_if_fail (quoit != NULL, false);

  return quoit_store_change (quoit->store, quoit_ledger_set_clock, &change, clock_ms, NULL, error);
}

bool
quoit_set_max_clock_jump (Quoit *quoit, int64_t max_jump_ms, int64_t now_ms, GError **error)
{
  const QuoitClockChange change = { FALSE, max_jump_ms };

  g_return_val_if_fail (quoit != NULL, false);

  if (!quoit_store_refuse_child (quoit->store, error))
    return false;
  if (max_jump_ms < 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "limit '%" G_GINT64_FORMAT "' ms: expected 0 or more", max_jump_ms);
  return quoit_store_change (quoit->store, quoit_ledger_set_clock, &change, now_ms, NULL, error);
}

Quoit *
quoit_ref (Quoit *quoit)
{
  g_return_val_if_fail (quoit != NULL, NULL);

  g_atomic_ref_count_inc (&quoit->refs);
  return quoit;
}

void
quoit_unref (Quoit *quoit)
{
  if (quoit == NULL || !g_atomic_ref_count_dec (&quoit->refs))
    return;
  quoit_store_free (quoit->store);
  g_free (quoit);
}

void
quoit_set_actor (Quoit *quoit, const char *actor)
{
  g_return_if_fail (quoit != NULL);

  quoit_store_set_actor (quoit->store, actor);
}

void
quoit_interrupt (Quoit *quoit)
{
  g_return_if_fail (quoit != NULL);

  quoit_store_interrupt (quoit->store);
}

QuoitSnapshot *
quoit_snapshot (Quoit *quoit)
{
  g_return_val_if_fail (quoit != NULL, NULL);

  /* Another thread may have had its lock when the process forked. */
  if (!quoit_store_is_own (quoit->store))
    return NULL;
  return quoit_snapshot_of (quoit_store_pending_fleet (quoit->store));
}

bool
quoit_refresh (Quoit *quoit, GError **error)
{
  g_return_val_if_fail (quoit != NULL, false);

  return quoit_store_refresh (quoit->store, error);
}

QuoitGroup *
quoit_reserve (Quoit *quoit, const QuoitRequest *request, int64_t now_ms, GError **error)
{
  g_autoptr (QuoitFleet) fleet = NULL;
  QuoitGroupData *data = NULL;

  g_return_val_if_fail (quoit != NULL && request != NULL, NULL);

  if (!quoit_store_change_on (quoit->store, quoit_ledger_reserve, request, now_ms, &data, &fleet, error))
    return NULL;
  return quoit_group_made (fleet, data);
}

gboolean
quoit_handle_parse_group (const Quoit *quoit, const char *group, QuoitGroupRef *ref, char **name, GError **error)
{
  return quoit_store_refuse_child (quoit->store, error) && quoit_group_ref_parse (group, ref, name, error);
}

bool
quoit_release (Quoit *quoit, const char *group, int64_t now_ms, GError **error)
{
  g_autofree char *name = NULL;
  QuoitGroupRef ref;

  g_return_val_if_fail (quoit != NULL && group != NULL, false);

  return quoit_handle_parse_group (quoit, group, &ref, &name, error)
         && quoit_store_change (quoit->store, quoit_ledger_release, &ref, now_ms, NULL, error);
}

static bool
change_state (Quoit *quoit, const char *node, QuoitVerb verb, QuoitNodeState state, int64_t now_ms, GError **error)
{
  QuoitStateChange change = { node, verb, state };

  g_return_val_if_fail (quoit != NULL && node != NULL, false);

  return quoit_store_change (quoit->store, quoit_ledger_set_state, &change, now_ms, NULL, error);
}

bool
quoit_set_node_state (Quoit *quoit, const char *node, QuoitNodeState state, int64_t now_ms, GError **error)
{
  return change_state (quoit, node, QUOIT_VERB_SET_STATE, state, now_ms, error);
}

bool
quoit_drain_node (Quoit *quoit, const char *node, int64_t now_ms, GError **error)
{
  return change_state (quoit, node, QUOIT_VERB_DRAIN, QUOIT_NODE_DRAINING, now_ms, error);
}

bool
quoit_undrain_node (Quoit *quoit, const char *node, int64_t now_ms, GError **error)
{
  return change_state (quoit, node, QUOIT_VERB_UNDRAIN, QUOIT_NODE_ALIVE, now_ms, error);
}

bool
quoit_begin_batch (Quoit *quoit, GError **error)
{
  g_return_val_if_fail (quoit != NULL, false);

  return quoit_store_begin_batch (quoit->store, error);
}

bool
quoit_begin_unsynced_batch (Quoit *quoit, GError **error)
{
  g_return_val_if_fail (quoit != NULL, false);

  return quoit_store_begin_unsynced_batch (quoit->store, error);
}

bool
quoit_commit_batch (Quoit *quoit, GError **error)
{
  g_return_val_if_fail (quoit != NULL, false);

  return quoit_store_commit_batch (quoit->store, error);
}

void
quoit_cancel_batch (Quoit *quoit)
{
  g_return_if_fail (quoit != NULL);

  quoit_store_cancel_batch (quoit->store);
}

bool
quoit_verify (Quoit *quoit, GError **error)
{
  g_return_val_if_fail (quoit != NULL, false);

  return quoit_store_verify (quoit->store, error);
}

bool
quoit_backup (Quoit *quoit, const char *path, GError **error)
{
  g_return_val_if_fail (quoit != NULL && path != NULL, false);

  return quoit_store_backup (quoit->store, path, error);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of the calendar. */
#include "api/target.h"

static bool
add_window (QuoitTarget target, const QuoitWindowChange *window, int64_t now_ms, GError **error)
{
  const QuoitAction action = { QUOIT_ACTION_ADD_WINDOW, .window = *window };

  if ((guint) window->target.scope < QUOIT_WINDOW_NODE || (guint) window->target.scope > QUOIT_WINDOW_ZONE)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "scope '%d' of a window: expected node, slice, pool or zone",
                       (int) window->target.scope);
  return quoit_target_change (target, &action, now_ms, NULL, NULL, error);
}

bool
quoit_ledger_add_window (QuoitLedger *ledger, const char *name, QuoitWindowScope scope, const char *target,
                         int64_t from_ms, int64_t until_ms, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (ledger != NULL && name != NULL && target != NULL, false);

  return add_window (QUOIT_TARGET_LEDGER (ledger),
                     &(const QuoitWindowChange) { name, { scope, target }, from_ms, until_ms }, now_ms, error);
}

bool
quoit_fork_add_window (QuoitFork *fork, const char *name, QuoitWindowScope scope, const char *target, int64_t from_ms,
                       int64_t until_ms, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (fork != NULL && name != NULL && target != NULL, false);

  return add_window (QUOIT_TARGET_FORK (fork),
                     &(const QuoitWindowChange) { name, { scope, target }, from_ms, until_ms }, now_ms, error);
}

static bool
remove_window (QuoitTarget target, const char *name, int64_t now_ms, GError **error)
{
  const QuoitAction action = { QUOIT_ACTION_REMOVE_WINDOW, .window_name = name };

  return quoit_target_change (target, &action, now_ms, NULL, NULL, error);
}

bool
quoit_ledger_remove_window (QuoitLedger *ledger, const char *name, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (ledger != NULL && name != NULL, false);

  return remove_window (QUOIT_TARGET_LEDGER (ledger), name, now_ms, error);
}

bool
quoit_fork_remove_window (QuoitFork *fork, const char *name, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (fork != NULL && name != NULL, false);

  return remove_window (QUOIT_TARGET_FORK (fork), name, now_ms, error);
}

/* --- reading --- */

/* Returns the window at @index, or the number of windows in *@n. */
static const QuoitGroupData *
find_window (const QuoitSnapshot *snapshot, uint32_t index, uint32_t *n)
{
  uint32_t at = 0;

  for (guint i = 0; i < quoit_fleet_n_ahead (snapshot->fleet); i++)
    {
      const QuoitGroupData *record = quoit_fleet_ahead_at (snapshot->fleet, i);

      if (record->kind == QUOIT_RECORD_WINDOW && at++ == index)
        return record;
    }
  *n = at;
  return NULL;
}

static const QuoitGroupData *
window_at (const QuoitSnapshot *snapshot, uint32_t index)
{
  uint32_t n;

  return find_window (snapshot, index, &n);
}

static QuoitWindowTarget
target_of (const QuoitGroupData *window)
{
  QuoitWindowTarget target = { 0 };

  quoit_window_target_parse (window->request, &target);
  return target;
}

uint32_t
quoit_snapshot_get_n_windows (const QuoitSnapshot *snapshot)
{
  uint32_t n = 0;

  g_return_val_if_fail (snapshot != NULL, 0);

  find_window (snapshot, UINT32_MAX, &n);
  return n;
}

const char *
quoit_snapshot_get_window_name (const QuoitSnapshot *snapshot, uint32_t window)
{
  g_return_val_if_fail (snapshot != NULL && window_at (snapshot, window) != NULL, NULL);

  return quoit_window_record_window (window_at (snapshot, window));
}

QuoitWindowScope
quoit_snapshot_get_window_scope (const QuoitSnapshot *snapshot, uint32_t window)
{
  g_return_val_if_fail (snapshot != NULL && window_at (snapshot, window) != NULL, (QuoitWindowScope) 0);

  return target_of (window_at (snapshot, window)).scope;
}

const char *
quoit_snapshot_get_window_target (const QuoitSnapshot *snapshot, uint32_t window)
{
  g_return_val_if_fail (snapshot != NULL && window_at (snapshot, window) != NULL, NULL);

  return target_of (window_at (snapshot, window)).target;
}

int64_t
quoit_snapshot_get_window_from_ms (const QuoitSnapshot *snapshot, uint32_t window)
{
  g_return_val_if_fail (snapshot != NULL && window_at (snapshot, window) != NULL, 0);

  return window_at (snapshot, window)->begins_ms;
}

int64_t
quoit_snapshot_get_window_until_ms (const QuoitSnapshot *snapshot, uint32_t window)
{
  g_return_val_if_fail (snapshot != NULL && window_at (snapshot, window) != NULL, 0);

  return window_at (snapshot, window)->until_ms;
}

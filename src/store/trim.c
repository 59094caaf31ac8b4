/* SPDX-License-Identifier: Apache-2.0 */
/* Removes what is older than the ledger keeps it (see quoit_ledger_set_keep()): replaces old entries by a checkpoint,
 * and forgets records of ended groups. */
#include "base/time.h"
#include "store/store-private.h"

/* Bounds of one trim, so that other writers never wait long: one transaction forgets at most MAX_FORGOTTEN records, or
 * writes the image of the state and removes at most QUOIT_TRIM_MAX_ENTRIES entries. */
enum { MAX_FORGOTTEN = 4096 };

/* The image of a checkpoint has the whole state. An automatic trim waits for at least this many old entries, and as
 * many as there are nodes and groups, so that its cost for each change does not depend on the size of the fleet. */
enum { MIN_DUE_ENTRIES = 4096 };

/* Returns how long the ledger keeps entries, or 0 if there is no limit of time. */
static gint64
limit_ms (const QuoitFleet *fleet)
{
  return fleet->keep_ms == G_MAXINT64 ? 0 : fleet->keep_ms;
}

/* --- groups --- */

static gboolean
forget_groups (QuoitStore *store, gint64 before_ms, gint64 now_ms, QuoitTrimmed *trimmed, GError **error)
{
  const QuoitAction action = { QUOIT_ACTION_FORGET_BEFORE, .forgetting = { before_ms, MAX_FORGOTTEN } };
  guint n;

  do
    {
      g_auto (QuoitOutcome) outcome = { 0 };

      if (!quoit_store_change (store, &action, now_ms, &outcome, NULL, error))
        return FALSE;
      n = outcome.n_groups;
      trimmed->n_groups += n;
    }
  while (n == MAX_FORGOTTEN);
  return TRUE;
}

/* --- entries --- */

static gboolean
drop_entries (QuoitStore *store, gint64 before_ms, gint64 now_ms, QuoitTrimmed *trimmed, GError **error)
{
  guint64 seq = 0;
  gboolean found;

  if (!quoit_store_lock_writer (store, error))
    return FALSE;
  found = store->engine->find_first_kept (store, before_ms, &seq, error);
  quoit_store_unlock_writer (store);
  return found && quoit_store_compact (store, seq, now_ms, &trimmed->n_entries, error);
}

static gboolean
trim (QuoitStore *store, gint64 now_ms, QuoitTrimmed *trimmed, GError **error)
{
  g_autoptr (QuoitFleet) fleet = quoit_store_fleet (store);
  gint64 time_ms, before_ms;

  if (!quoit_step_clock (fleet, now_ms, &time_ms, error))
    return FALSE;
  before_ms = time_ms - limit_ms (fleet);
  if (limit_ms (fleet) == 0 || before_ms <= 0)
    return TRUE;
  /* Records first: the entry that forgets them is then part of the journal that a later trim replaces. The reference
   * must not make the first change copy a fleet in memory. */
  g_clear_pointer (&fleet, quoit_fleet_unref);
  return forget_groups (store, before_ms, now_ms, trimmed, error)
         && drop_entries (store, before_ms, now_ms, trimmed, error);
}

gboolean
quoit_store_trim (QuoitStore *store, gint64 now_ms, QuoitTrimmed *trimmed, GError **error)
{
  *trimmed = (QuoitTrimmed) { 0 };
  return quoit_store_refuse_child (store, error) && quoit_store_refuse_batch (store, error)
         && quoit_store_refresh (store, error) && trim (store, now_ms, trimmed, error);
}

/* --- automatic trims --- */

static gboolean
is_due (QuoitStore *store, gint64 now_ms)
{
  g_autoptr (QuoitFleet) fleet = quoit_store_fleet (store);
  guint64 n = MAX ((guint64) MIN_DUE_ENTRIES, (guint64) fleet->layout->n_nodes + fleet->n_groups);
  gboolean due;

  if (limit_ms (fleet) == 0 || !quoit_store_lock_writer (store, NULL))
    return FALSE;
  due = store->engine->has_old_entries (store, MAX (now_ms, fleet->clock_ms) - limit_ms (fleet), n);
  quoit_store_unlock_writer (store);
  return due;
}

void
quoit_store_trim_after (QuoitStore *store, const QuoitAction *action, gint64 now_ms)
{
  gboolean is_slow = action->type == QUOIT_ACTION_IMPORT || action->type == QUOIT_ACTION_SYNC;
  QuoitTrimmed trimmed = { 0 };

  if (!is_slow && !g_atomic_int_get (&store->must_trim))
    return;
  if (!quoit_store_refuse_batch (store, NULL) || !is_due (store, now_ms))
    return;
  g_atomic_int_set (&store->must_trim, FALSE);
  trim (store, now_ms, &trimmed, NULL);
}

void
quoit_store_trim_at_close (QuoitStore *store)
{
  QuoitTrimmed trimmed = { 0 };

  if (!store->has_changed || !store->engine->can_trim (store))
    return;
  /* Nobody else uses the handle. A caller that closes it does not expect to wait. */
  store->wait_ms = 0;
  if (is_due (store, 0))
    trim (store, store->fleet->clock_ms, &trimmed, NULL);
}

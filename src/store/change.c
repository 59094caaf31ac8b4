/* SPDX-License-Identifier: Apache-2.0 */
/* The single write path of a ledger. A change locks the writer, so that one thread of this process writes at a time,
 * and then begins a transaction, which excludes other processes. */
#include <string.h>

#include "base/time.h"
#include "store/entry-bytes.h"
#include "store/store-private.h"

#define DAY_MS G_GINT64_CONSTANT (86400000)

/* Fails with INVALID if @now_ms is too far ahead of the last entry of @fleet. */
static gboolean
check_jump (const QuoitStore *store, const QuoitFleet *fleet, gint64 now_ms, GError **error)
{
  gint64 max_ms = fleet->max_jump_ms;
  g_autofree char *now = NULL, *clock = NULL;

  if (max_ms == 0)
    max_ms = store->engine->is_private ? G_MAXINT64 : DAY_MS;
  if (fleet->clock_ms == 0 || now_ms - fleet->clock_ms <= max_ms || now_ms >= QUOIT_LAST_MS)
    return TRUE;
  if (store->engine->elapsed_ms != NULL && now_ms - fleet->clock_ms - max_ms <= store->engine->elapsed_ms (store))
    return TRUE;
  now = quoit_time_format (now_ms);
  clock = quoit_time_format (fleet->clock_ms);
  return quoit_fail (error, QUOIT_ERROR_INVALID,
                     "clock '%s': %" G_GINT64_FORMAT " s ahead of the last entry (%s), and at most "
                     "%" G_GINT64_FORMAT " s are accepted: check the clock; if it is right, set the ledger's clock "
                     "first ('quoit set-clock')",
                     now, (now_ms - fleet->clock_ms) / 1000, clock, max_ms / 1000);
}

/* Changes the fleet of a ledger in memory in place, which is much faster than a fork. No rollback can be needed: the
 * step has checked everything, so that applying its entry cannot fail, and a commit in memory cannot fail either. A
 * fleet that a reader shares is forked first. */
static gboolean
apply_in_place (QuoitStore *store, const QuoitEntry *entry, GError **error)
{
  gboolean applied;

  g_mutex_lock (&store->fleet_lock);
  if (!g_atomic_ref_count_compare (&store->fleet->refs, 1))
    {
      QuoitFleet *outcome_here = quoit_fleet_fork (store->fleet);

      quoit_fleet_unref (store->fleet);
      store->fleet = outcome_here;
    }
  applied = quoit_entry_apply (entry, &store->fleet, error);
  g_mutex_unlock (&store->fleet_lock);
  return applied;
}

static gboolean
can_apply_in_place (const QuoitStore *store, const QuoitEntry *entry)
{
  return !store->is_linked && !store->in_batch && store->pending == NULL && entry->n_effects == 1
         && entry->effects[0].type != QUOIT_EFFECT_IMPORT;
}

gboolean
quoit_store_append (QuoitStore *store, QuoitEntry *entry, const QuoitFleet *after, GError **error)
{
  if (store->is_linked)
    {
      if (entry->link == NULL || memcmp (entry->link->previous, store->pending_chain, sizeof store->pending_chain) != 0)
        quoit_entry_link (entry, store->pending_chain, after);
      memcpy (store->pending_chain, entry->link->chain, sizeof store->pending_chain);
    }
  return store->engine->append (store, entry, error);
}

/* Applies the entry to a fork of the fleet, and writes it. A rollback drops the fork. A fork that others share, such as
 * the report of a change of the same batch that was refused, stays as it is for them. */
static gboolean
apply_to_pending (QuoitStore *store, QuoitEntry *entry, GError **error)
{
  if (store->pending == NULL)
    store->pending = quoit_fleet_fork (store->fleet);
  else if (!g_atomic_ref_count_compare (&store->pending->refs, 1))
    {
      QuoitFleet *shared = store->pending;

      store->pending = quoit_fleet_fork (shared);
      quoit_fleet_unref (shared);
    }
  if (quoit_entry_apply (entry, &store->pending, error) && quoit_store_append (store, entry, store->pending, error))
    return TRUE;
  store->must_roll_back = TRUE;
  return FALSE;
}

void
quoit_store_forget_transaction (QuoitStore *store)
{
  g_clear_pointer (&store->pending, quoit_fleet_unref);
  g_clear_pointer (&store->marks, g_array_unref);
  store->must_roll_back = FALSE;
}

void
quoit_store_roll_back (QuoitStore *store)
{
  store->engine->rollback (store);
  quoit_store_forget_transaction (store);
}

QuoitCommit
quoit_store_commit (QuoitStore *store, GError **error)
{
  QuoitCommit result;

  if (store->must_roll_back)
    {
      quoit_store_roll_back (store);
      quoit_fail (error, QUOIT_ERROR_STORE, "a change of the batch could not be written; nothing was written");
      return QUOIT_COMMIT_FAILED;
    }
  result = store->engine->commit (store, error);
  if (result != QUOIT_COMMIT_DONE)
    {
      quoit_store_forget_transaction (store);
      return result;
    }
  if (store->pending != NULL)
    {
      store->has_changed = TRUE;
      quoit_store_publish (store, g_steal_pointer (&store->pending));
      if (store->engine->committed != NULL)
        store->engine->committed (store);
    }
  quoit_store_forget_transaction (store);
  quoit_store_wake_watches (store);
  return QUOIT_COMMIT_DONE;
}

/* Returns the fleet with the changes of the open transaction. */
static const QuoitFleet *
newest_fleet (const QuoitStore *store)
{
  return store->pending != NULL ? store->pending : store->fleet;
}

/* Writes an entry for the leases that have ended, and one for the reservations ahead that begin, so that the action is
 * decided after both. */
static gboolean
apply_due_steps (QuoitStore *store, gint64 now_ms, GError **error)
{
  for (guint i = 0; i < QUOIT_N_DUE_STEPS; i++)
    {
      g_autoptr (QuoitEntry) entry = NULL;

      quoit_due_steps[i](newest_fleet (store), now_ms, &entry);
      if (entry != NULL && !apply_to_pending (store, entry, error))
        return FALSE;
    }
  return TRUE;
}

/* Returns whether the action sets the clock. It is then the remedy for a wrong clock, and must not be refused because
 * of that clock. */
static gboolean
sets_clock (const QuoitAction *action)
{
  return action->type == QUOIT_ACTION_RESTORE || (action->type == QUOIT_ACTION_SET_CLOCK && action->clock.sets_clock);
}

gboolean
quoit_store_check_writable (const QuoitStore *store, GError **error)
{
  return !store->must_roll_back
         || quoit_fail (error, QUOIT_ERROR_STORE,
                        "a change of the batch could not be written: cancel it, and begin again");
}

/* Decides the action on the fleet with the changes of the open transaction, and applies and writes its entry. */
static gboolean
decide_and_apply (QuoitStore *store, const QuoitAction *action, gint64 now_ms, QuoitOutcome *outcome, GError **error)
{
  g_autoptr (QuoitEntry) entry = NULL;

  if (!quoit_store_check_writable (store, error))
    return FALSE;
  if (!sets_clock (action)
      && (!check_jump (store, newest_fleet (store), now_ms, error) || !apply_due_steps (store, now_ms, error)))
    return FALSE;
  if (!quoit_action_decide (newest_fleet (store), action, now_ms, &entry, outcome, error))
    {
      if (outcome->refusal.request != NULL && outcome->refusal.fleet == NULL)
        outcome->refusal.fleet = quoit_fleet_ref (newest_fleet (store));
      return FALSE;
    }
  if (entry == NULL)
    return TRUE;
  if (store->writer_actor != NULL)
    entry->actor = g_strdup (store->writer_actor);
  if (can_apply_in_place (store, entry))
    return apply_in_place (store, entry, error) && quoit_store_append (store, entry, store->fleet, error);
  return apply_to_pending (store, entry, error);
}

/* Returns a reference to the fleet that this thread has just changed. The thread must have locked the writer. */
static QuoitFleet *
changed_fleet (QuoitStore *store)
{
  return store->pending != NULL ? quoit_fleet_ref (store->pending) : quoit_store_fleet (store);
}

/* Returns whether other writers must wait from the beginning of the action, because it takes long, or cannot be decided
 * twice: the import of a new source takes its claims. */
static gboolean
must_exclude (const QuoitAction *action)
{
  return action->type == QUOIT_ACTION_IMPORT || action->type == QUOIT_ACTION_SYNC
         || action->type == QUOIT_ACTION_UPDATE_NODES;
}

static gboolean
can_repeat (const QuoitAction *action)
{
  return (action->type != QUOIT_ACTION_IMPORT && action->type != QUOIT_ACTION_SYNC) || *action->claims != NULL;
}

/* Tries the action once in a transaction of its own. */
static QuoitCommit
try_change (QuoitStore *store, const QuoitAction *action, gint64 now_ms, QuoitOutcome *outcome, GError **error)
{
  QuoitCommit result = QUOIT_COMMIT_DONE;

  if (!store->engine->begin (store, error))
    return QUOIT_COMMIT_FAILED;
  if (decide_and_apply (store, action, now_ms, outcome, error))
    return quoit_store_commit (store, error);
  /* A refusal counts only if it was decided on the present state. */
  if (store->engine->confirm != NULL && !store->must_roll_back)
    {
      g_autoptr (GError) failure = NULL;

      result = store->engine->confirm (store, &failure);
      if (result == QUOIT_COMMIT_FAILED)
        {
          quoit_outcome_clear (outcome);
          g_clear_error (error);
          g_propagate_error (error, g_steal_pointer (&failure));
        }
    }
  quoit_store_roll_back (store);
  return result == QUOIT_COMMIT_OVERTAKEN ? result : QUOIT_COMMIT_FAILED;
}

/* Tries the action until no other writer is faster. */
static gboolean
change_alone (QuoitStore *store, const QuoitAction *action, gint64 now_ms, QuoitOutcome *outcome, GError **error)
{
  for (;;)
    {
      g_autoptr (GError) failure = NULL;
      QuoitCommit result = try_change (store, action, now_ms, outcome, &failure);

      if (result != QUOIT_COMMIT_OVERTAKEN)
        {
          if (failure != NULL)
            g_propagate_error (error, g_steal_pointer (&failure));
          return result == QUOIT_COMMIT_DONE;
        }
      quoit_outcome_clear (outcome);
      if (!can_repeat (action))
        return quoit_fail (error, QUOIT_ERROR_BUSY, "another writer was faster; nothing was written: retry");
    }
}

/* Carries out the action in the batch of this thread, or else in a transaction of its own. */
static gboolean
change (QuoitStore *store, const QuoitAction *action, gint64 now_ms, QuoitOutcome *outcome, gboolean wants_fleet,
        GError **error)
{
  gboolean changed;

  if (quoit_store_is_in_own_batch (store))
    {
      changed = decide_and_apply (store, action, now_ms, outcome, error);
      if (changed && wants_fleet)
        outcome->fleet = changed_fleet (store);
      return changed;
    }
  if (!quoit_store_lock_writer (store, error))
    return FALSE;
  store->is_exclusive = must_exclude (action);
  changed = change_alone (store, action, now_ms, outcome, error);
  if (changed && wants_fleet)
    outcome->fleet = changed_fleet (store);
  quoit_store_unlock_writer (store);
  return changed;
}

gboolean
quoit_store_change (QuoitStore *store, const QuoitAction *action, gint64 now_ms, QuoitOutcome *outcome,
                    QuoitReport **report, GError **error)
{
  g_auto (QuoitOutcome) outcome_here = { 0 };

  if (change (store, action, now_ms, &outcome_here, outcome != NULL, error))
    {
      quoit_store_trim_after (store, action, now_ms);
      if (outcome != NULL)
        {
          *outcome = outcome_here;
          outcome_here = (QuoitOutcome) { 0 };
        }
      return TRUE;
    }
  if (outcome_here.refusal.request != NULL && (error != NULL || report != NULL))
    quoit_refusal_explain (&outcome_here.refusal, report, error);
  return quoit_store_add_path (store, FALSE, error);
}

gboolean
quoit_store_refresh (QuoitStore *store, GError **error)
{
  gboolean ok;

  if (quoit_store_is_in_own_batch (store))
    return TRUE;
  if (!quoit_store_lock_writer (store, error))
    return FALSE;
  ok = store->engine->catch_up (store, error);
  quoit_store_unlock_writer (store);
  return quoit_store_add_path (store, ok, error);
}

gboolean
quoit_store_lead (QuoitStore *store, const char *leader, guint64 *term, GError **error)
{
  gboolean ok;

  if (!quoit_store_lock_writer (store, error))
    return FALSE;
  ok = store->engine->lead != NULL
           ? store->engine->lead (store, leader, term, error)
           : quoit_fail (error, QUOIT_ERROR_INVALID,
                         "this ledger has no terms: only one in PostgreSQL can have leaders on several machines");
  quoit_store_unlock_writer (store);
  return quoit_store_add_path (store, ok, error);
}

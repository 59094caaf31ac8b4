/* SPDX-License-Identifier: Apache-2.0 */
/* The single write path of a ledger. A change locks the writer, so that one thread of this process writes at a time,
 * and then begins a transaction, which excludes other processes. */
#include <pthread.h>
#include <string.h>

#include "store/store-private.h"

static void install_fork_handlers (void);
static void unregister_batch (QuoitStore *store);
static void forget_transaction (QuoitStore *store);

QuoitStore *
quoit_store_alloc (const QuoitEngine *engine)
{
  QuoitStore *store = g_new0 (QuoitStore, 1);

  store->engine = engine;
  store->process = quoit_process_unique_id ();
  install_fork_handlers ();
  g_mutex_init (&store->writer_lock);
  g_cond_init (&store->writer_done);
  g_mutex_init (&store->fleet_lock);
  g_mutex_init (&store->watches_lock);
  return store;
}

void
quoit_store_free (QuoitStore *store)
{
  if (store == NULL)
    return;
  /* In a child of fork(2), free nothing: SQLite's locks belong to the process that opened the file, and another
   * thread of the parent may have held a mutex during the fork. */
  if (store->process != quoit_process_unique_id ())
    return;
  quoit_store_cancel_batch (store);
  unregister_batch (store);
  quoit_store_trim_at_close (store);
  quoit_sqlite_close_store (store);
  g_clear_pointer (&store->entries, g_ptr_array_unref);
  g_clear_pointer (&store->checkpoint_fleet, quoit_fleet_unref);
  g_clear_pointer (&store->next_base, quoit_fleet_unref);
  /* Another thread may have left a batch open. */
  forget_transaction (store);
  quoit_fleet_unref (store->fleet);
  g_mutex_clear (&store->writer_lock);
  g_cond_clear (&store->writer_done);
  g_mutex_clear (&store->fleet_lock);
  g_mutex_clear (&store->watches_lock);
  g_clear_pointer (&store->watches, g_ptr_array_unref);
  g_free (store->path);
  g_free (store->file);
  g_clear_pointer (&store->actor, g_ref_string_release);
  g_free (store);
}

/* Returns whether this thread has locked the writer. Needs no lock, because only this thread stores itself in writer.
 * In a child of fork(2), another thread of the parent may have held the lock for ever. */
static gboolean
is_writer (QuoitStore *store)
{
  return g_atomic_pointer_get (&store->writer) == g_thread_self ();
}

static void
replace_actor (char **actor, char *with)
{
  char *before = *actor;

  *actor = with == NULL ? NULL : g_ref_string_acquire (with);
  if (before != NULL)
    g_ref_string_release (before);
}

void
quoit_store_set_actor (QuoitStore *store, const char *actor)
{
  char *counted = actor == NULL || *actor == '\0' ? NULL : g_ref_string_new (actor);

  if (store->process == quoit_process_unique_id ())
    {
      g_mutex_lock (&store->writer_lock);
      replace_actor (&store->actor, counted);
      if (is_writer (store))
        replace_actor (&store->writer_actor, counted);
      g_mutex_unlock (&store->writer_lock);
    }
  if (counted != NULL)
    g_ref_string_release (counted);
}

void
quoit_store_interrupt (QuoitStore *store)
{
  if (store->process != quoit_process_unique_id ())
    return;
  g_mutex_lock (&store->writer_lock);
  g_atomic_int_inc ((gint *) &store->n_interrupts);
  g_cond_broadcast (&store->writer_done);
  g_mutex_unlock (&store->writer_lock);
}

char *
quoit_store_identity (const QuoitStore *store)
{
  GString *text = g_string_new (NULL);

  for (gsize i = 0; store->path != NULL && i < sizeof store->identity; i++)
    g_string_append_printf (text, "%02x", store->identity[i]);
  return g_string_free (text, FALSE);
}

gboolean
quoit_store_is_own (const QuoitStore *store)
{
  return store->process == quoit_process_unique_id ();
}

/* Adds the path of the database to errors of the store. Errors of steps do not concern a file. */
static gboolean
add_path_on_failure (const QuoitStore *store, gboolean ok, GError **error)
{
  if (!ok && store->path != NULL && error != NULL && *error != NULL && (*error)->domain == QUOIT_ERROR
      && ((*error)->code == QUOIT_ERROR_STORE || (*error)->code == QUOIT_ERROR_VERSION
          || (*error)->code == QUOIT_ERROR_DAMAGED))
    quoit_error_add_path (error, store->path);
  return ok;
}

/* --- the writer --- */

/* Waits of this many milliseconds or more never end. Their deadline would overflow. */
#define FOR_EVER_MS (G_MAXINT64 / 2000)

gint64
quoit_store_deadline_us (const QuoitStore *store)
{
  return g_get_monotonic_time () + MIN (store->wait_ms, FOR_EVER_MS) * 1000;
}

gboolean
quoit_store_refuse_child (const QuoitStore *store, GError **error)
{
  return G_LIKELY (quoit_store_is_own (store))
         || quoit_fail (error, QUOIT_ERROR_FAILED,
                        "the handle was opened before fork(2): open the ledger again in the child");
}

static gboolean
is_in_own_batch (QuoitStore *store)
{
  return is_writer (store) && store->in_batch && store->process == quoit_process_unique_id ();
}

gboolean
quoit_store_refuse_batch (QuoitStore *store, GError **error)
{
  return !is_in_own_batch (store)
         || quoit_fail (error, QUOIT_ERROR_CONFLICT, "this thread is in a batch: commit or cancel it first");
}

gboolean
quoit_store_lock_writer (QuoitStore *store, GError **error)
{
  guint n_interrupts;
  gint64 deadline_us = 0, wait_left_ms = store->wait_ms;
  gboolean timed_out = FALSE;

  if (!quoit_store_refuse_child (store, error))
    return FALSE;
  if (is_writer (store))
    return quoit_fail (error, QUOIT_ERROR_CONFLICT, "this thread is in a batch: commit or cancel it first");

  g_mutex_lock (&store->writer_lock);
  n_interrupts = store->n_interrupts;
  while (store->writer != NULL && !timed_out && store->n_interrupts == n_interrupts)
    {
      if (store->wait_ms >= FOR_EVER_MS)
        g_cond_wait (&store->writer_done, &store->writer_lock);
      else
        {
          deadline_us = deadline_us != 0 ? deadline_us : quoit_store_deadline_us (store);
          timed_out
              = !g_cond_wait_until (&store->writer_done, &store->writer_lock, deadline_us) && store->writer != NULL;
        }
    }
  if (store->writer != NULL)
    {
      g_mutex_unlock (&store->writer_lock);
      return timed_out
                 ? quoit_fail (error, QUOIT_ERROR_BUSY,
                               "another thread has been writing for %" G_GINT64_FORMAT " ms; retry, or wait longer",
                               store->wait_ms)
                 : quoit_fail (error, QUOIT_ERROR_CANCELLED, "the wait for another writer was interrupted");
    }
  /* The reference keeps the address of the thread in use. If this thread ended and a new thread got its address, the
   * new thread would seem to be in this thread's batch. */
  g_atomic_pointer_set (&store->writer, g_thread_ref (g_thread_self ()));
  replace_actor (&store->writer_actor, store->actor);
  store->interrupts_at_start = n_interrupts;
  if (deadline_us != 0)
    wait_left_ms = MAX ((deadline_us - g_get_monotonic_time ()) / 1000, 0);
  store->lock_wait_ms = wait_left_ms;
  g_mutex_unlock (&store->writer_lock);
  if (store->path == NULL || store->db.handle != NULL || quoit_sqlite_reconnect (store, error))
    return TRUE;
  quoit_store_unlock_writer (store);
  return FALSE;
}

void
quoit_store_unlock_writer (QuoitStore *store)
{
  GThread *thread = store->writer;

  g_mutex_lock (&store->writer_lock);
  replace_actor (&store->writer_actor, NULL);
  store->unsynced = FALSE;
  g_atomic_pointer_set (&store->writer, NULL);
  g_thread_unref (thread);
  g_cond_signal (&store->writer_done);
  g_mutex_unlock (&store->writer_lock);
}

/* --- readers --- */

QuoitFleet *
quoit_store_fleet (QuoitStore *store)
{
  QuoitFleet *fleet;

  g_mutex_lock (&store->fleet_lock);
  fleet = quoit_fleet_ref (store->fleet);
  g_mutex_unlock (&store->fleet_lock);
  return fleet;
}

QuoitLayout *
quoit_store_layout (QuoitStore *store)
{
  QuoitLayout *layout;

  g_mutex_lock (&store->fleet_lock);
  layout = quoit_layout_ref (store->fleet->layout);
  g_mutex_unlock (&store->fleet_lock);
  return layout;
}

QuoitFleet *
quoit_store_pending_fleet (QuoitStore *store)
{
  return is_in_own_batch (store) && store->pending != NULL ? quoit_fleet_fork (store->pending)
                                                           : quoit_store_fleet (store);
}

void
quoit_store_publish (QuoitStore *store, QuoitFleet *fleet)
{
  QuoitFleet *before;

  g_mutex_lock (&store->fleet_lock);
  before = store->fleet;
  store->fleet = fleet;
  g_mutex_unlock (&store->fleet_lock);
  quoit_fleet_unref (before);
}

/* --- changes --- */

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
  return store->engine == &quoit_engine_memory && !store->in_batch && store->pending == NULL && entry->n_effects == 1
         && entry->effects[0].type != QUOIT_EFFECT_IMPORT;
}

/* Applies the entry to a fork of the fleet, and writes it. A rollback drops the fork. A fork that others share, such as
 * the report of a change of the same batch that was refused, stays as it is for them. */
static gboolean
apply_to_pending (QuoitStore *store, const QuoitEntry *entry, GError **error)
{
  if (store->pending == NULL)
    store->pending = quoit_fleet_fork (store->fleet);
  else if (!g_atomic_ref_count_compare (&store->pending->refs, 1))
    {
      QuoitFleet *shared = store->pending;

      store->pending = quoit_fleet_fork (shared);
      quoit_fleet_unref (shared);
    }
  if (quoit_entry_apply (entry, &store->pending, error) && store->engine->append (store, entry, store->pending, error))
    return TRUE;
  store->must_roll_back = TRUE;
  return FALSE;
}

/* Forgets what belongs to the transaction that has ended. */
static void
forget_transaction (QuoitStore *store)
{
  g_clear_pointer (&store->pending, quoit_fleet_unref);
  g_clear_pointer (&store->marks, g_array_unref);
  store->must_roll_back = FALSE;
}

static void
roll_back (QuoitStore *store)
{
  store->engine->rollback (store);
  forget_transaction (store);
}

static gboolean
commit (QuoitStore *store, GError **error)
{
  if (store->must_roll_back)
    {
      roll_back (store);
      return quoit_fail (error, QUOIT_ERROR_STORE, "a change of the batch could not be written; nothing was written");
    }
  if (!store->engine->commit (store, error))
    {
      forget_transaction (store);
      return FALSE;
    }
  if (store->pending != NULL)
    {
      store->has_changed = TRUE;
      quoit_store_publish (store, g_steal_pointer (&store->pending));
    }
  forget_transaction (store);
  quoit_store_wake_watches (store);
  return TRUE;
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

static gboolean
check_writable (const QuoitStore *store, GError **error)
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

  if (!check_writable (store, error))
    return FALSE;
  if (!sets_clock (action)
      && (!quoit_store_check_jump (store, newest_fleet (store), now_ms, error)
          || !apply_due_steps (store, now_ms, error)))
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
    return apply_in_place (store, entry, error) && store->engine->append (store, entry, store->fleet, error);
  return apply_to_pending (store, entry, error);
}

/* Returns a reference to the fleet that this thread has just changed. The thread must have locked the writer. */
static QuoitFleet *
changed_fleet (QuoitStore *store)
{
  return store->pending != NULL ? quoit_fleet_ref (store->pending) : quoit_store_fleet (store);
}

/* Carries out the action in the batch of this thread, or else in a transaction of its own. */
static gboolean
change (QuoitStore *store, const QuoitAction *action, gint64 now_ms, QuoitOutcome *outcome, gboolean wants_fleet,
        GError **error)
{
  gboolean changed;

  if (is_in_own_batch (store))
    {
      changed = decide_and_apply (store, action, now_ms, outcome, error);
      if (changed && wants_fleet)
        outcome->fleet = changed_fleet (store);
      return changed;
    }
  if (!quoit_store_lock_writer (store, error))
    return FALSE;
  changed = store->engine->begin (store, error);
  if (changed)
    {
      changed = decide_and_apply (store, action, now_ms, outcome, error);
      if (!changed)
        roll_back (store);
      else
        changed = commit (store, error);
    }
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
  return add_path_on_failure (store, FALSE, error);
}

gboolean
quoit_store_refresh (QuoitStore *store, GError **error)
{
  gboolean ok;

  if (is_in_own_batch (store))
    return TRUE;
  if (!quoit_store_lock_writer (store, error))
    return FALSE;
  ok = store->engine->catch_up (store, error);
  quoit_store_unlock_writer (store);
  return add_path_on_failure (store, ok, error);
}

/* --- batches --- */

static GMutex batches_lock;
static GPtrArray *batches; /* stores in which a thread has an open batch */

static void
before_fork (void)
{
  g_mutex_lock (&batches_lock);
}

static void
after_fork (void)
{
  g_mutex_unlock (&batches_lock);
}

/* Without these handlers, a child of fork(2) would find the lock taken if another thread began a batch during the
 * fork. */
static void
install_fork_handlers (void)
{
  static gsize once;

  if (g_once_init_enter (&once))
    {
      pthread_atfork (before_fork, after_fork, after_fork);
      g_once_init_leave (&once, 1);
    }
}

static void
register_batch (QuoitStore *store)
{
  g_mutex_lock (&batches_lock);
  if (batches == NULL)
    batches = g_ptr_array_new ();
  g_ptr_array_add (batches, store);
  g_mutex_unlock (&batches_lock);
}

static void
unregister_batch (QuoitStore *store)
{
  g_mutex_lock (&batches_lock);
  if (batches != NULL)
    g_ptr_array_remove_fast (batches, store);
  if (batches != NULL && batches->len == 0)
    g_clear_pointer (&batches, g_ptr_array_unref);
  g_mutex_unlock (&batches_lock);
}

/* Returns the store in which @thread has an open batch, or NULL. */
static QuoitStore *
find_batch (const GThread *thread)
{
  QuoitStore *found = NULL;

  g_mutex_lock (&batches_lock);
  for (guint i = 0; batches != NULL && i < batches->len; i++)
    if (g_atomic_pointer_get (&((QuoitStore *) batches->pdata[i])->writer) == thread)
      found = batches->pdata[i];
  g_mutex_unlock (&batches_lock);
  return found;
}

gboolean
quoit_store_is_in_batch (const char *file, const GThread *thread)
{
  gboolean found = FALSE;

  g_mutex_lock (&batches_lock);
  for (guint i = 0; !found && batches != NULL && i < batches->len; i++)
    {
      QuoitStore *store = batches->pdata[i];

      /* A child of fork(2) has a copy of the list, but no part in the batches. */
      found = store->file != NULL && strcmp (store->file, file) == 0 && store->process == quoit_process_unique_id ()
              && (thread == NULL || g_atomic_pointer_get (&store->writer) == thread);
    }
  g_mutex_unlock (&batches_lock);
  return found;
}

static void
end_batch (QuoitStore *store)
{
  store->in_batch = FALSE;
  unregister_batch (store);
}

/* Runs when a thread ends. Cancels its open batches, so that they do not block other writers for ever. @thread is only
 * compared, because GLib may already have freed it. */
static void
cancel_batches_of_thread (gpointer thread)
{
  QuoitStore *store;

  while ((store = find_batch (thread)) != NULL)
    {
      end_batch (store);
      if (store->process != quoit_process_unique_id ())
        continue;
      roll_back (store);
      quoit_store_unlock_writer (store);
    }
}

static GPrivate thread_with_batch = G_PRIVATE_INIT (cancel_batches_of_thread);

static gboolean
begin_batch (QuoitStore *store, gboolean unsynced, GError **error)
{
  if (!quoit_store_lock_writer (store, error))
    return FALSE;
  store->unsynced = unsynced;
  if (!store->engine->begin (store, error))
    return quoit_store_unlock_writer (store), add_path_on_failure (store, FALSE, error);
  store->in_batch = TRUE;
  g_private_set (&thread_with_batch, g_thread_self ());
  register_batch (store);
  return TRUE;
}

gboolean
quoit_store_begin_batch (QuoitStore *store, GError **error)
{
  return begin_batch (store, FALSE, error);
}

gboolean
quoit_store_begin_unsynced_batch (QuoitStore *store, GError **error)
{
  return begin_batch (store, TRUE, error);
}

gboolean
quoit_store_commit_batch (QuoitStore *store, GError **error)
{
  gboolean committed;

  if (!quoit_store_refuse_child (store, error))
    return FALSE;
  if (!is_in_own_batch (store))
    return quoit_fail (error, QUOIT_ERROR_CONFLICT, "this thread is in no batch");
  end_batch (store);
  committed = commit (store, error);
  quoit_store_unlock_writer (store);
  return add_path_on_failure (store, committed, error);
}

void
quoit_store_cancel_batch (QuoitStore *store)
{
  if (!is_in_own_batch (store))
    return;
  end_batch (store);
  roll_back (store);
  quoit_store_unlock_writer (store);
}

/* --- marks of batches --- */

static void
mark_clear (gpointer data)
{
  quoit_fleet_unref (((QuoitBatchMark *) data)->pending);
}

static gboolean
check_in_batch (QuoitStore *store, GError **error)
{
  return quoit_store_refuse_child (store, error)
         && (is_in_own_batch (store) || quoit_fail (error, QUOIT_ERROR_CONFLICT, "this thread is in no batch"));
}

guint
quoit_store_mark_batch (QuoitStore *store, GError **error)
{
  QuoitBatchMark mark = { .n_entries = store->entries == NULL ? 0 : store->entries->len };
  guint number;

  if (!check_in_batch (store, error) || !check_writable (store, error))
    return 0;
  number = store->marks == NULL ? 1 : store->marks->len + 1;
  if (!store->engine->mark (store, number, error))
    return add_path_on_failure (store, FALSE, error), 0;
  if (store->marks == NULL)
    {
      store->marks = g_array_new (FALSE, FALSE, sizeof (QuoitBatchMark));
      g_array_set_clear_func (store->marks, mark_clear);
    }
  mark.pending = store->pending == NULL ? NULL : quoit_fleet_ref (store->pending);
  memcpy (mark.chain, store->pending_chain, sizeof mark.chain);
  g_array_append_val (store->marks, mark);
  return number;
}

gboolean
quoit_store_roll_back_batch (QuoitStore *store, guint mark, GError **error)
{
  guint n_marks = store->marks == NULL ? 0 : store->marks->len;
  const QuoitBatchMark *at;

  if (!check_in_batch (store, error))
    return FALSE;
  if (mark == 0 || mark > n_marks)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "mark '%u': the batch has %u marks, counted from 1", mark, n_marks);
  at = &g_array_index (store->marks, QuoitBatchMark, mark - 1);
  if (!store->engine->roll_back_to (store, mark, error))
    {
      store->must_roll_back = TRUE;
      return add_path_on_failure (store, FALSE, error);
    }
  g_clear_pointer (&store->pending, quoit_fleet_unref);
  if (at->pending != NULL)
    store->pending = quoit_fleet_ref (at->pending);
  memcpy (store->pending_chain, at->chain, sizeof at->chain);
  g_array_set_size (store->marks, mark);
  store->must_roll_back = FALSE;
  return TRUE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The single write path of a ledger, and the write turn: one writer at a time in a process. */
#include <pthread.h>

#include "store/store-private.h"

static void guard_batches (void);
static void unlist_batch (QuoitStore *store);

QuoitStore *
quoit_store_alloc (const QuoitEngine *engine)
{
  QuoitStore *store = g_new0 (QuoitStore, 1);

  store->engine = engine;
  store->process = quoit_process_mark ();
  guard_batches ();
  g_mutex_init (&store->turn_lock);
  g_cond_init (&store->turn_free);
  g_mutex_init (&store->fleet_lock);
  return store;
}

void
quoit_store_free (QuoitStore *store)
{
  if (store == NULL)
    return;
  /* In a child of fork(2), free nothing: SQLite's locks belong to the process that opened the file, and another
   * thread of the parent may have held a mutex during the fork. */
  if (store->process != quoit_process_mark ())
    return;
  quoit_store_cancel_batch (store);
  unlist_batch (store);
  quoit_sqlite_end (store);
  g_clear_pointer (&store->entries, g_ptr_array_unref);
  g_clear_pointer (&store->base, quoit_fleet_unref);
  /* Another thread may have left a batch open. */
  g_clear_pointer (&store->draft, quoit_fleet_unref);
  quoit_fleet_unref (store->fleet);
  g_mutex_clear (&store->turn_lock);
  g_cond_clear (&store->turn_free);
  g_mutex_clear (&store->fleet_lock);
  g_free (store->path);
  g_free (store->file);
  g_clear_pointer (&store->actor, g_ref_string_release);
  g_free (store);
}

/* Needs no lock: only this thread stores itself in turn_of. Another thread's fork(2) may have left the lock taken. */
static gboolean
has_turn (QuoitStore *store)
{
  return g_atomic_pointer_get (&store->turn_of) == g_thread_self ();
}

static void
replace_actor (char **actor, const char *with)
{
  char *before = *actor;

  *actor = with == NULL ? NULL : g_ref_string_acquire ((char *) with);
  if (before != NULL)
    g_ref_string_release (before);
}

void
quoit_store_set_actor (QuoitStore *store, const char *actor)
{
  char *counted = actor == NULL || *actor == '\0' ? NULL : g_ref_string_new (actor);

  if (store->process == quoit_process_mark ())
    {
      g_mutex_lock (&store->turn_lock);
      replace_actor (&store->actor, counted);
      if (has_turn (store))
        replace_actor (&store->turn_actor, counted);
      g_mutex_unlock (&store->turn_lock);
    }
  if (counted != NULL)
    g_ref_string_release (counted);
}

void
quoit_store_interrupt (QuoitStore *store)
{
  if (store->process != quoit_process_mark ())
    return;
  g_mutex_lock (&store->turn_lock);
  g_atomic_int_inc ((gint *) &store->interrupts);
  g_cond_broadcast (&store->turn_free);
  g_mutex_unlock (&store->turn_lock);
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
  return store->process == quoit_process_mark ();
}

/* Adds the path of the database to messages that do not say which database failed. */
static gboolean
named (const QuoitStore *store, gboolean ok, GError **error)
{
  if (!ok && store->path != NULL && error != NULL && *error != NULL && (*error)->domain == QUOIT_ERROR
      && ((*error)->code == QUOIT_ERROR_STORE || (*error)->code == QUOIT_ERROR_VERSION
          || (*error)->code == QUOIT_ERROR_DAMAGED))
    quoit_store_say_path (store->path, error);
  return ok;
}

/* --- the write turn --- */

/* Waits of this length or more, in milliseconds, never end. The monotonic clock cannot count so far. */
#define FOR_EVER_MS (G_MAXINT64 / 2000)

gint64
quoit_store_end_us (const QuoitStore *store)
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
in_own_batch (QuoitStore *store)
{
  return has_turn (store) && store->in_batch && store->process == quoit_process_mark ();
}

gboolean
quoit_store_take_turn (QuoitStore *store, GError **error)
{
  guint interrupts;
  gint64 until = 0, left_ms = store->wait_ms;
  gboolean late = FALSE;

  if (!quoit_store_refuse_child (store, error))
    return FALSE;
  if (has_turn (store))
    return quoit_fail (error, QUOIT_ERROR_CONFLICT, "this thread is in a batch: commit or cancel it first");

  g_mutex_lock (&store->turn_lock);
  interrupts = store->interrupts;
  while (store->turn_of != NULL && !late && store->interrupts == interrupts)
    {
      if (store->wait_ms >= FOR_EVER_MS)
        g_cond_wait (&store->turn_free, &store->turn_lock);
      else
        {
          until = until != 0 ? until : quoit_store_end_us (store);
          late = !g_cond_wait_until (&store->turn_free, &store->turn_lock, until) && store->turn_of != NULL;
        }
    }
  if (store->turn_of != NULL)
    {
      g_mutex_unlock (&store->turn_lock);
      return late ? quoit_fail (error, QUOIT_ERROR_BUSY,
                                "another thread has been writing for %" G_GINT64_FORMAT " ms; retry, or wait longer",
                                store->wait_ms)
                  : quoit_fail (error, QUOIT_ERROR_CANCELLED, "the wait for another writer was interrupted");
    }
  /* Holds a reference: if the thread ended, a new thread could get its address and would then be in its batch. */
  g_atomic_pointer_set (&store->turn_of, g_thread_ref (g_thread_self ()));
  replace_actor (&store->turn_actor, store->actor);
  store->waits_from = interrupts;
  if (until != 0)
    left_ms = MAX ((until - g_get_monotonic_time ()) / 1000, 0);
  store->lock_wait_ms = left_ms;
  g_mutex_unlock (&store->turn_lock);
  if (store->path == NULL || store->db.handle != NULL || quoit_sqlite_reconnect (store, error))
    return TRUE;
  quoit_store_leave_turn (store);
  return FALSE;
}

void
quoit_store_leave_turn (QuoitStore *store)
{
  GThread *thread = store->turn_of;

  g_mutex_lock (&store->turn_lock);
  replace_actor (&store->turn_actor, NULL);
  store->unsynced = FALSE;
  g_atomic_pointer_set (&store->turn_of, NULL);
  g_thread_unref (thread);
  g_cond_signal (&store->turn_free);
  g_mutex_unlock (&store->turn_lock);
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
  return in_own_batch (store) && store->draft != NULL ? quoit_fleet_fork (store->draft) : quoit_store_fleet (store);
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

/* --- changing --- */

/* A step checks everything that an entry needs, so applying the entry cannot fail. In memory no commit can fail
 * either, so nothing ever needs a rollback: the fleet is changed in place, unless a reader shares it. */
static gboolean
apply_in_place (QuoitStore *store, const QuoitEntry *entry, GError **error)
{
  gboolean applied;

  g_mutex_lock (&store->fleet_lock);
  if (!g_atomic_ref_count_compare (&store->fleet->refs, 1))
    {
      QuoitFleet *own = quoit_fleet_fork (store->fleet);

      quoit_fleet_unref (store->fleet);
      store->fleet = own;
    }
  applied = quoit_entry_apply (entry, &store->fleet, error);
  g_mutex_unlock (&store->fleet_lock);
  return applied;
}

static gboolean
is_alone_in_memory (const QuoitStore *store, const QuoitEntry *entry)
{
  return store->engine == &quoit_engine_memory && !store->in_batch && store->draft == NULL && entry->n_effects == 1
         && entry->effects[0].type != QUOIT_EFFECT_IMPORT;
}

/* Applies the entry to a draft, which is dropped with the transaction if the entry cannot be written. */
static gboolean
apply_to_draft (QuoitStore *store, const QuoitEntry *entry, GError **error)
{
  if (store->draft == NULL)
    store->draft = quoit_fleet_fork (store->fleet);
  if (quoit_entry_apply (entry, &store->draft, error) && store->engine->append (store, entry, store->draft, error))
    return TRUE;
  store->spoilt = TRUE;
  return FALSE;
}

static void
roll_back (QuoitStore *store)
{
  store->engine->rollback (store);
  g_clear_pointer (&store->draft, quoit_fleet_unref);
  store->spoilt = FALSE;
}

static gboolean
commit (QuoitStore *store, GError **error)
{
  if (store->spoilt)
    {
      roll_back (store);
      return quoit_fail (error, QUOIT_ERROR_STORE, "a change of the batch could not be written; nothing was written");
    }
  if (!store->engine->commit (store, error))
    {
      g_clear_pointer (&store->draft, quoit_fleet_unref);
      return FALSE;
    }
  if (store->draft != NULL)
    quoit_store_publish (store, g_steal_pointer (&store->draft));
  return TRUE;
}

/* Returns the fleet including the changes of the transaction. */
static const QuoitFleet *
fleet_so_far (const QuoitStore *store)
{
  return store->draft != NULL ? store->draft : store->fleet;
}

/* Journals expired leases before any decision. */
static gboolean
expire (QuoitStore *store, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitEntry) entry = NULL;

  quoit_step_expire (fleet_so_far (store), now_ms, &entry);
  return entry == NULL || apply_to_draft (store, entry, error);
}

/* Actions that repair a ledger whose clock is wrong. */
static gboolean
sets_clock (const QuoitAction *action)
{
  return action->type == QUOIT_ACTION_RESTORE || (action->type == QUOIT_ACTION_SET_CLOCK && action->clock.sets_clock);
}

/* Decides the action on the fleet as the transaction has made it so far, and writes the entry. */
static gboolean
carry_out (QuoitStore *store, const QuoitAction *action, gint64 now_ms, QuoitOutcome *outcome, GError **error)
{
  g_autoptr (QuoitEntry) entry = NULL;

  if (store->spoilt)
    return quoit_fail (error, QUOIT_ERROR_STORE,
                       "a change of the batch could not be written: cancel it, and begin again");
  if (!sets_clock (action)
      && (!quoit_store_check_jump (store, fleet_so_far (store), now_ms, error) || !expire (store, now_ms, error)))
    return FALSE;
  if (!quoit_action_decide (fleet_so_far (store), action, now_ms, &entry, outcome, error))
    {
      if (outcome->refusal.request != NULL && outcome->refusal.fleet == NULL)
        outcome->refusal.fleet = quoit_fleet_ref (fleet_so_far (store));
      return FALSE;
    }
  if (entry == NULL)
    return TRUE;
  if (store->turn_actor != NULL)
    entry->actor = g_strdup (store->turn_actor);
  if (is_alone_in_memory (store, entry))
    return apply_in_place (store, entry, error) && store->engine->append (store, entry, store->fleet, error);
  return apply_to_draft (store, entry, error);
}

/* Returns a reference to the fleet that this thread has just changed. The thread must have the write turn. */
static QuoitFleet *
changed_fleet (QuoitStore *store)
{
  return store->draft != NULL ? quoit_fleet_ref (store->draft) : quoit_store_fleet (store);
}

/* In a transaction of its own, unless the thread is in a batch. */
static gboolean
change (QuoitStore *store, const QuoitAction *action, gint64 now_ms, QuoitOutcome *outcome, gboolean wants_fleet,
        GError **error)
{
  gboolean changed;

  if (in_own_batch (store))
    {
      changed = carry_out (store, action, now_ms, outcome, error);
      if (changed && wants_fleet)
        outcome->fleet = changed_fleet (store);
      return changed;
    }
  if (!quoit_store_take_turn (store, error))
    return FALSE;
  changed = store->engine->begin (store, error);
  if (changed)
    {
      changed = carry_out (store, action, now_ms, outcome, error);
      if (!changed)
        roll_back (store);
      else
        changed = commit (store, error);
    }
  if (changed && wants_fleet)
    outcome->fleet = changed_fleet (store);
  quoit_store_leave_turn (store);
  return changed;
}

gboolean
quoit_store_change (QuoitStore *store, const QuoitAction *action, gint64 now_ms, QuoitOutcome *outcome,
                    QuoitReport **report, GError **error)
{
  g_auto (QuoitOutcome) own = { 0 };

  if (change (store, action, now_ms, &own, outcome != NULL, error))
    {
      if (outcome != NULL)
        {
          *outcome = own;
          own = (QuoitOutcome) { 0 };
        }
      return TRUE;
    }
  if (own.refusal.request != NULL && (error != NULL || report != NULL))
    quoit_refusal_explain (&own.refusal, report, error);
  return named (store, FALSE, error);
}

gboolean
quoit_store_refresh (QuoitStore *store, GError **error)
{
  gboolean ok;

  if (in_own_batch (store))
    return TRUE;
  if (!quoit_store_take_turn (store, error))
    return FALSE;
  ok = store->engine->catch_up (store, error);
  quoit_store_leave_turn (store);
  return named (store, ok, error);
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

/* Another thread may begin a batch while this thread forks. The child must find the lock free. */
static void
guard_batches (void)
{
  static gsize once;

  if (g_once_init_enter (&once))
    {
      pthread_atfork (before_fork, after_fork, after_fork);
      g_once_init_leave (&once, 1);
    }
}

static void
list_batch (QuoitStore *store)
{
  g_mutex_lock (&batches_lock);
  if (batches == NULL)
    batches = g_ptr_array_new ();
  g_ptr_array_add (batches, store);
  g_mutex_unlock (&batches_lock);
}

static void
unlist_batch (QuoitStore *store)
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
    if (g_atomic_pointer_get (&((QuoitStore *) batches->pdata[i])->turn_of) == thread)
      found = batches->pdata[i];
  g_mutex_unlock (&batches_lock);
  return found;
}

static void
end_batch (QuoitStore *store)
{
  store->in_batch = FALSE;
  unlist_batch (store);
}

/* Cancels the batch of a thread that ends, so that it does not block other writers forever. The thread is compared
 * by its address only, because GLib may already have freed it. */
static void
thread_ends (gpointer thread)
{
  QuoitStore *store;

  while ((store = find_batch (thread)) != NULL)
    {
      end_batch (store);
      if (store->process != quoit_process_mark ())
        continue;
      roll_back (store);
      quoit_store_leave_turn (store);
    }
}

static GPrivate thread_with_batch = G_PRIVATE_INIT (thread_ends);

static gboolean
begin_batch (QuoitStore *store, gboolean unsynced, GError **error)
{
  if (!quoit_store_take_turn (store, error))
    return FALSE;
  store->unsynced = unsynced;
  if (!store->engine->begin (store, error))
    return quoit_store_leave_turn (store), named (store, FALSE, error);
  store->in_batch = TRUE;
  g_private_set (&thread_with_batch, g_thread_self ());
  list_batch (store);
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
  if (!in_own_batch (store))
    return quoit_fail (error, QUOIT_ERROR_CONFLICT, "this thread is in no batch");
  end_batch (store);
  committed = commit (store, error);
  quoit_store_leave_turn (store);
  return named (store, committed, error);
}

void
quoit_store_cancel_batch (QuoitStore *store)
{
  if (!in_own_batch (store))
    return;
  end_batch (store);
  roll_back (store);
  quoit_store_leave_turn (store);
}

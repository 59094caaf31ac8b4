/* SPDX-License-Identifier: Apache-2.0 */
/* The handle of a ledger: its life, its writer, and what readers see. */
#include <string.h>

#include "store/store-private.h"

QuoitStore *
quoit_store_alloc (const QuoitEngine *engine)
{
  QuoitStore *store = g_new0 (QuoitStore, 1);

  store->engine = engine;
  store->process = quoit_process_unique_id ();
  store->is_linked = !engine->is_private;
  quoit_store_prepare_batches ();
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
  quoit_store_unregister_batch (store);
  quoit_store_trim_at_close (store);
  store->engine->close (store);
  /* Another thread may have left a batch open. */
  quoit_store_forget_transaction (store);
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

  for (gsize i = 0; store->is_linked && i < sizeof store->identity; i++)
    g_string_append_printf (text, "%02x", store->identity[i]);
  return g_string_free (text, FALSE);
}

void
quoit_store_copy_identity (const QuoitStore *store, guint8 *identity)
{
  memcpy (identity, store->identity, sizeof store->identity);
}

gboolean
quoit_store_is_own (const QuoitStore *store)
{
  return store->process == quoit_process_unique_id ();
}

gboolean
quoit_store_add_path (const QuoitStore *store, gboolean ok, GError **error)
{
  if (!ok && store->path != NULL && error != NULL && *error != NULL && (*error)->domain == QUOIT_ERROR
      && ((*error)->code == QUOIT_ERROR_STORE || (*error)->code == QUOIT_ERROR_VERSION
          || (*error)->code == QUOIT_ERROR_DAMAGED || (*error)->code == QUOIT_ERROR_FENCED))
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
quoit_store_is_interrupted (const QuoitStore *store)
{
  return (guint) g_atomic_int_get (&store->n_interrupts) != store->interrupts_at_start;
}

gboolean
quoit_store_fail_interrupted (GError **error)
{
  return quoit_fail (error, QUOIT_ERROR_CANCELLED, "the wait for another writer was interrupted");
}

gboolean
quoit_store_refuse_child (const QuoitStore *store, GError **error)
{
  return G_LIKELY (quoit_store_is_own (store))
         || quoit_fail (error, QUOIT_ERROR_FAILED,
                        "the handle was opened before fork(2): open the ledger again in the child");
}

gboolean
quoit_store_is_in_own_batch (QuoitStore *store)
{
  return is_writer (store) && store->in_batch && store->process == quoit_process_unique_id ();
}

gboolean
quoit_store_refuse_batch (QuoitStore *store, GError **error)
{
  return !quoit_store_is_in_own_batch (store)
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
  store->n_waiting++;
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
  store->n_waiting--;
  if (store->writer != NULL)
    {
      g_mutex_unlock (&store->writer_lock);
      return timed_out
                 ? quoit_fail (error, QUOIT_ERROR_BUSY,
                               "another thread has been writing for %" G_GINT64_FORMAT " ms; retry, or wait longer",
                               store->wait_ms)
                 : quoit_store_fail_interrupted (error);
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
  if (store->engine->connect == NULL || store->engine->connect (store, error))
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
  store->unsynced = store->is_exclusive = FALSE;
  g_atomic_pointer_set (&store->writer, NULL);
  g_thread_unref (thread);
  /* A signal is a system call, even if no thread waits. */
  if (store->n_waiting > 0)
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
  return quoit_store_is_in_own_batch (store) && store->pending != NULL ? quoit_fleet_fork (store->pending)
                                                                       : quoit_store_fleet (store);
}

void
quoit_store_set_link (const QuoitStore *store, QuoitFleet *fleet, const guint8 *chain)
{
  if (!store->is_linked)
    return;
  fleet->position = (QuoitJournalPosition) { .is_known = TRUE, .seq = fleet->seq };
  memcpy (fleet->position.identity, store->identity, sizeof store->identity);
  memcpy (fleet->position.chain, chain, sizeof fleet->position.chain);
}

void
quoit_store_set_position (const QuoitStore *store, QuoitFleet *fleet)
{
  if (!store->is_linked || quoit_fleet_position (fleet) != NULL)
    return;
  quoit_store_set_link (store, fleet, store->chain);
  memcpy (&fleet->ledger, store->identity, sizeof fleet->ledger);
}

void
quoit_store_publish (QuoitStore *store, QuoitFleet *fleet)
{
  QuoitFleet *before;

  quoit_store_set_position (store, fleet);
  g_mutex_lock (&store->fleet_lock);
  before = store->fleet;
  store->fleet = fleet;
  g_mutex_unlock (&store->fleet_lock);
  quoit_fleet_unref (before);
}

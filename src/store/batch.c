/* SPDX-License-Identifier: Apache-2.0 */
/* Batches: changes of one thread that are committed together, and marks in them. */
#include <pthread.h>
#include <string.h>

#include "store/store-private.h"

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
void
quoit_store_prepare_batches (void)
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

void
quoit_store_unregister_batch (QuoitStore *store)
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
  quoit_store_unregister_batch (store);
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
      quoit_store_roll_back (store);
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
  store->is_exclusive = TRUE;
  if (!store->engine->begin (store, error))
    return quoit_store_unlock_writer (store), quoit_store_add_path (store, FALSE, error);
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
  QuoitCommit result;
  gboolean committed;

  if (!quoit_store_refuse_child (store, error))
    return FALSE;
  if (!quoit_store_is_in_own_batch (store))
    return quoit_fail (error, QUOIT_ERROR_CONFLICT, "this thread is in no batch");
  end_batch (store);
  result = quoit_store_commit (store, error);
  committed = result == QUOIT_COMMIT_DONE;
  if (result == QUOIT_COMMIT_OVERTAKEN)
    quoit_fail (error, QUOIT_ERROR_BUSY,
                "the connection was lost during the batch, and another writer was faster; nothing was written: retry");
  quoit_store_unlock_writer (store);
  return quoit_store_add_path (store, committed, error);
}

void
quoit_store_cancel_batch (QuoitStore *store)
{
  if (!quoit_store_is_in_own_batch (store))
    return;
  end_batch (store);
  quoit_store_roll_back (store);
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
         && (quoit_store_is_in_own_batch (store)
             || quoit_fail (error, QUOIT_ERROR_CONFLICT, "this thread is in no batch"));
}

guint
quoit_store_mark_batch (QuoitStore *store, GError **error)
{
  QuoitBatchMark mark = { .n_entries = store->entries == NULL ? 0 : store->entries->len };
  guint number;

  if (!check_in_batch (store, error) || !quoit_store_check_writable (store, error))
    return 0;
  number = store->marks == NULL ? 1 : store->marks->len + 1;
  if (!store->engine->mark (store, number, error))
    return quoit_store_add_path (store, FALSE, error), 0;
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
      return quoit_store_add_path (store, FALSE, error);
    }
  g_clear_pointer (&store->pending, quoit_fleet_unref);
  if (at->pending != NULL)
    store->pending = quoit_fleet_ref (at->pending);
  memcpy (store->pending_chain, at->chain, sizeof at->chain);
  g_array_set_size (store->marks, mark);
  store->must_roll_back = FALSE;
  return TRUE;
}

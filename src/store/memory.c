/* SPDX-License-Identifier: Apache-2.0 */
/* The engine of a ledger in memory. Its journal is an array of entries. */
#include "store/store-private.h"

static gboolean
memory_begin (QuoitStore *store, GError **error)
{
  store->n_committed = store->entries->len;
  return TRUE;
}

static gboolean
memory_catch_up (QuoitStore *store, GError **error)
{
  return TRUE;
}

static gboolean
memory_append (QuoitStore *store, const QuoitEntry *entry, const QuoitFleet *after, GError **error)
{
  g_ptr_array_add (store->entries, quoit_entry_ref (entry));
  return TRUE;
}

static gboolean
memory_commit (QuoitStore *store, GError **error)
{
  return TRUE;
}

static void
memory_rollback (QuoitStore *store)
{
  g_ptr_array_set_size (store->entries, (gint) store->n_committed);
}

static gboolean
memory_mark (QuoitStore *store, guint number, GError **error)
{
  return TRUE;
}

static gboolean
memory_roll_back_to (QuoitStore *store, guint number, GError **error)
{
  g_ptr_array_set_size (store->entries, (gint) g_array_index (store->marks, QuoitBatchMark, number - 1).n_entries);
  return TRUE;
}

const QuoitEngine quoit_engine_memory = { memory_begin,    memory_catch_up, memory_append,      memory_commit,
                                          memory_rollback, memory_mark,     memory_roll_back_to };

QuoitStore *
quoit_store_new_memory (void)
{
  static gint n_ledgers; /* identifies the ledger; a count is enough, because other processes cannot see it */
  QuoitStore *store = quoit_store_alloc (&quoit_engine_memory);
  g_autoptr (QuoitLayout) nothing = quoit_layout_new (NULL, 0);

  store->lock_wait_ms = store->wait_ms = G_MAXINT64;
  store->entries = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_entry_unref);
  store->fleet = quoit_fleet_new (nothing);
  store->fleet->ledger = (guint) g_atomic_int_add (&n_ledgers, 1) + 1;
  return store;
}

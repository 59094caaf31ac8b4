/* SPDX-License-Identifier: Apache-2.0 */
/* The engine of a ledger in memory. Its journal is an array of entries. */
#include "store/store-private.h"

/* How many of the last entries are kept at least, whatever the ledger's limit. Keeping them costs a fork of the fleet
 * for each such number of entries. */
enum { N_KEPT = 4096 };

/* Returns whether the entries up to the one of next_base are old enough. */
static gboolean
are_old (const QuoitStore *store)
{
  const QuoitFleet *base = store->next_base, *fleet = store->fleet;

  return fleet->seq - base->seq >= N_KEPT && (fleet->keep_ms == 0 || base->clock_ms < fleet->clock_ms - fleet->keep_ms);
}

/* Drops old entries. A fork that was made when they were written becomes the checkpoint, because a replay would cost
 * each change about as much again. */
static void
drop_old_entries (QuoitStore *store)
{
  guint64 checkpoint = store->checkpoint_fleet == NULL ? 0 : store->checkpoint_fleet->seq;

  if (store->next_base != NULL && (store->next_base->seq <= checkpoint || store->next_base->seq > store->fleet->seq))
    g_clear_pointer (&store->next_base, quoit_fleet_unref);
  if (store->next_base != NULL && are_old (store))
    {
      g_ptr_array_remove_range (store->entries, 0, (guint) (store->next_base->seq - checkpoint));
      quoit_fleet_unref (store->checkpoint_fleet);
      store->checkpoint_fleet = g_steal_pointer (&store->next_base);
      store->checkpoint_made_ms = store->fleet->clock_ms;
      g_atomic_int_set (&store->must_trim, store->fleet->keep_ms != 0);
      checkpoint = store->checkpoint_fleet->seq;
    }
  if (store->next_base == NULL && store->fleet->seq - checkpoint >= N_KEPT)
    store->next_base = quoit_fleet_fork (store->fleet);
}

static gboolean
memory_begin (QuoitStore *store, GError **error)
{
  if (store->entries->len >= N_KEPT && store->fleet->keep_ms != G_MAXINT64)
    drop_old_entries (store);
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

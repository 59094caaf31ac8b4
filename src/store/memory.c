/* SPDX-License-Identifier: Apache-2.0 */
/* The engine of a ledger in memory. Its journal is an array of entries. Their links cost about as much as a change, so
 * that only a ledger whose entries may be stored elsewhere has them: see quoit_store_open_fleet(). */
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "store/entry-bytes.h"
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
  memcpy (store->pending_chain, store->chain, sizeof store->chain);
  return TRUE;
}

static gboolean
memory_catch_up (QuoitStore *store, GError **error)
{
  return TRUE;
}

static gboolean
memory_append (QuoitStore *store, const QuoitEntry *entry, GError **error)
{
  g_ptr_array_add (store->entries, quoit_entry_ref ((QuoitEntry *) entry));
  return TRUE;
}

static QuoitCommit
memory_commit (QuoitStore *store, GError **error)
{
  memcpy (store->chain, store->pending_chain, sizeof store->chain);
  return QUOIT_COMMIT_DONE;
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

/* --- the journal --- */

static QuoitJournalRange
journal_range (const QuoitStore *store)
{
  return (QuoitJournalRange) { store->checkpoint_fleet == NULL ? 0 : store->checkpoint_fleet->seq, store->fleet->seq,
                               store->checkpoint_made_ms };
}

static gboolean
memory_read_range (QuoitStore *store, QuoitJournalRange *range, GError **error)
{
  *range = journal_range (store);
  return TRUE;
}

/* Sets the position of a replayed fleet. */
static void
set_link (const QuoitStore *store, QuoitFleet *fleet)
{
  guint8 chain[QUOIT_CHAIN_BYTES];
  guint i = (guint) (fleet->seq - journal_range (store).checkpoint);

  if (i == 0)
    quoit_chain_begin (store->identity, chain);
  else
    memcpy (chain, ((const QuoitEntry *) store->entries->pdata[i - 1])->link->chain, sizeof chain);
  quoit_store_set_link (store, fleet, chain);
}

static QuoitFleet *
replay (const QuoitStore *store, guint64 until, GError **error)
{
  g_autoptr (QuoitFleet) fleet
      = store->checkpoint_fleet == NULL ? quoit_store_new_empty_fleet () : quoit_fleet_fork (store->checkpoint_fleet);

  for (guint i = 0; i < store->entries->len && fleet->seq < until; i++)
    if (!quoit_entry_apply (store->entries->pdata[i], &fleet, error))
      return NULL;
  if (store->is_linked && quoit_fleet_position (fleet) == NULL)
    set_link (store, fleet);
  return g_steal_pointer (&fleet);
}

static GPtrArray *
memory_entries (QuoitStore *store, guint64 seq, GError **error)
{
  QuoitJournalRange range = journal_range (store);
  GPtrArray *entries;

  if (!quoit_range_check_after (&range, seq, error))
    return NULL;
  entries = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_entry_unref);
  for (guint64 i = seq - range.checkpoint; i < store->entries->len; i++)
    g_ptr_array_add (entries, quoit_entry_ref (store->entries->pdata[i]));
  return entries;
}

static QuoitFleet *
memory_fleet_at (QuoitStore *store, guint64 seq, GError **error)
{
  QuoitFleet *fleet = NULL;
  QuoitJournalRange range;

  if (!quoit_store_lock_writer (store, error))
    return NULL;
  range = journal_range (store);
  if (quoit_range_check_entry (&range, seq, error))
    fleet = replay (store, seq, error);
  quoit_store_unlock_writer (store);
  return fleet;
}

static gboolean
memory_find_first_kept (QuoitStore *store, gint64 before_ms, guint64 *seq, GError **error)
{
  guint i = 0;

  while (i < store->entries->len && ((const QuoitEntry *) store->entries->pdata[i])->time_ms < before_ms)
    i++;
  *seq = journal_range (store).checkpoint + i + 1;
  return TRUE;
}

/* A trim in memory is cheap: it is due when must_trim says so. */
static gboolean
memory_has_old_entries (QuoitStore *store, gint64 before_ms, guint64 n)
{
  return TRUE;
}

static gboolean
memory_compact (QuoitStore *store, guint64 before_seq, gint64 made_ms, guint64 *n_removed, GError **error)
{
  QuoitFleet *base = NULL;
  QuoitJournalRange range;
  guint64 up_to = 0;
  gboolean ok;

  if (!quoit_store_lock_writer (store, error))
    return FALSE;
  range = journal_range (store);
  ok = quoit_range_check_compaction (&range, before_seq, &up_to, error)
       && (up_to == 0 || (base = replay (store, up_to, error)) != NULL);
  if (base != NULL)
    {
      *n_removed = up_to - range.checkpoint;
      g_ptr_array_remove_range (store->entries, 0, (guint) *n_removed);
      g_clear_pointer (&store->checkpoint_fleet, quoit_fleet_unref);
      store->checkpoint_fleet = base;
      store->checkpoint_made_ms = made_ms;
    }
  quoit_store_unlock_writer (store);
  return ok;
}

static gboolean
memory_verify (QuoitStore *store, GError **error)
{
  g_autoptr (QuoitFleet) replayed = replay (store, G_MAXUINT64, error);

  return replayed != NULL && quoit_store_check_equal (replayed, store->fleet, error);
}

/* --- copies --- */

static QuoitImage *
new_image (const QuoitStore *store)
{
  QuoitImage *image = quoit_image_new (store->checkpoint_fleet, store->checkpoint_made_ms);

  memcpy (image->chain, store->checkpoint_fleet->position.chain, sizeof image->chain);
  return image;
}

static gboolean
memory_read_history (QuoitStore *store, QuoitImage **image, QuoitTakeFunc take, gpointer data, GError **error)
{
  *image = store->checkpoint_fleet == NULL ? NULL : new_image (store);
  for (guint i = 0; i < store->entries->len; i++)
    {
      const QuoitEntry *entry = store->entries->pdata[i];

      if (!take (&(QuoitStoredEntry) { entry, quoit_entry_row (entry), entry->link->chain }, data, error))
        return FALSE;
    }
  return TRUE;
}

/* --- the handle --- */

static void
memory_close (QuoitStore *store)
{
  g_clear_pointer (&store->entries, g_ptr_array_unref);
  g_clear_pointer (&store->checkpoint_fleet, quoit_fleet_unref);
  g_clear_pointer (&store->next_base, quoit_fleet_unref);
}

static gboolean
memory_can_trim (const QuoitStore *store)
{
  return FALSE;
}

const QuoitEngine quoit_engine_memory = { .is_private = TRUE,
                                          .close = memory_close,
                                          .can_trim = memory_can_trim,
                                          .begin = memory_begin,
                                          .catch_up = memory_catch_up,
                                          .append = memory_append,
                                          .commit = memory_commit,
                                          .rollback = memory_rollback,
                                          .mark = memory_mark,
                                          .roll_back_to = memory_roll_back_to,
                                          .read_range = memory_read_range,
                                          .entries = memory_entries,
                                          .find_first_kept = memory_find_first_kept,
                                          .has_old_entries = memory_has_old_entries,
                                          .verify = memory_verify,
                                          .fleet_at = memory_fleet_at,
                                          .compact = memory_compact,
                                          .read_history = memory_read_history };

static QuoitStore *
new_store (void)
{
  QuoitStore *store = quoit_store_alloc (&quoit_engine_memory);

  store->lock_wait_ms = store->wait_ms = G_MAXINT64;
  store->entries = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_entry_unref);
  return store;
}

QuoitStore *
quoit_store_new_memory (void)
{
  static gint n_ledgers; /* identifies the ledger; a count is enough, because other processes cannot see it */
  QuoitStore *store = new_store ();

  store->fleet = quoit_store_new_empty_fleet ();
  store->fleet->ledger = (guint) g_atomic_int_add (&n_ledgers, 1) + 1;
  return store;
}

/* --- ledgers with links --- */

static gboolean
draw_identity (guint8 *identity, GError **error)
{
  gssize n;

  do
    n = getrandom (identity, QUOIT_IDENTITY_BYTES, 0);
  while (n < 0 && errno == EINTR);
  return n == QUOIT_IDENTITY_BYTES
         || quoit_fail (error, QUOIT_ERROR_STORE, "the system gives no random number for the identity of the ledger");
}

/* Begins a history at the state of the fleet. */
static gboolean
begin_history (QuoitStore *store, GError **error)
{
  if (!draw_identity (store->identity, error))
    return FALSE;
  if (store->fleet->seq == 0)
    quoit_chain_begin (store->identity, store->chain);
  else
    {
      g_autoptr (QuoitImage) image = quoit_image_new (store->fleet, store->fleet->clock_ms);

      quoit_chain_begin_at_checkpoint (store->identity, image->hash, sizeof image->hash, store->chain);
    }
  return TRUE;
}

QuoitStore *
quoit_store_open_fleet (const QuoitFleet *fleet, GError **error)
{
  const QuoitJournalPosition *position = fleet == NULL ? NULL : quoit_fleet_position (fleet);
  g_autoptr (QuoitStore) store = new_store ();

  store->is_linked = TRUE;
  store->fleet = fleet == NULL ? quoit_store_new_empty_fleet () : quoit_fleet_fork (fleet);
  store->fleet->is_planned = FALSE;
  if (position != NULL)
    {
      memcpy (store->identity, position->identity, sizeof store->identity);
      memcpy (store->chain, position->chain, sizeof store->chain);
    }
  else if (!begin_history (store, error))
    return NULL;
  quoit_store_set_position (store, store->fleet);
  if (store->fleet->seq > 0)
    {
      store->checkpoint_fleet = quoit_fleet_fork (store->fleet);
      store->checkpoint_made_ms = store->fleet->clock_ms;
    }
  return g_steal_pointer (&store);
}

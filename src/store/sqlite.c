/* SPDX-License-Identifier: Apache-2.0 */
/* The SQLite engine. Each transaction uses BEGIN IMMEDIATE and first catches up with other processes. */
#include <string.h>

#include "store/codec.h"
#include "store/store-private.h"
#include "store/vfs.h"

static void
sqlite_rollback (QuoitStore *store)
{
  quoit_db_end (&store->db, NULL);
}

QuoitEntry *
quoit_sqlite_entry_of_row (sqlite3_stmt *stmt, GError **error)
{
  return quoit_codec_decode ((guint64) sqlite3_column_int64 (stmt, 0), sqlite3_column_int64 (stmt, 1),
                             (QuoitVerb) sqlite3_column_int (stmt, 2), quoit_db_text (stmt, 3),
                             sqlite3_column_blob (stmt, 6), (gsize) sqlite3_column_bytes (stmt, 6), error);
}

/* The row of entry @seq, the last entry that this handle has read. */
typedef struct {
  gboolean is_there, is_same;
  gint64 time_ms;
  guint8 chain[QUOIT_CHAIN_BYTES]; /* the last link read */
} OwnRow;

/* Reads the entries after @seq. Also checks the row of @seq itself: if it is missing or different, the history is
 * not the one that was read. @own may be NULL to skip that check. */
static gboolean
read_entries (QuoitDb *db, guint64 seq, OwnRow *own, GPtrArray *entries, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, SQL_JOURNAL_SINCE, error);
  gboolean ok = TRUE;
  int result = SQLITE_DONE;

  if (stmt == NULL)
    return FALSE;
  sqlite3_bind_int64 (stmt, 1, (gint64) MIN (seq, (guint64) G_MAXINT64));
  while (ok && (result = sqlite3_step (stmt)) == SQLITE_ROW)
    {
      QuoitEntry *entry;

      if ((guint64) sqlite3_column_int64 (stmt, 0) == seq)
        {
          if (own != NULL)
            {
              own->is_there = TRUE;
              own->is_same = sqlite3_column_bytes (stmt, 7) == QUOIT_CHAIN_BYTES
                             && memcmp (sqlite3_column_blob (stmt, 7), own->chain, QUOIT_CHAIN_BYTES) == 0
                             && sqlite3_column_int64 (stmt, 1) == own->time_ms;
            }
          continue;
        }
      /* If a checkpoint replaced the next entries, there is no chain to follow. */
      if (own != NULL && (guint64) sqlite3_column_int64 (stmt, 0) == seq + entries->len + 1
          && !quoit_sqlite_follow_chain (stmt, own->chain, error))
        {
          ok = FALSE;
          continue;
        }
      entry = quoit_sqlite_entry_of_row (stmt, error);
      if (entry != NULL)
        g_ptr_array_add (entries, entry);
      ok = entry != NULL;
    }
  if (ok && result != SQLITE_DONE)
    ok = quoit_db_fail (db, result, "reading the journal", error);
  sqlite3_reset (stmt);
  return ok;
}

GPtrArray *
quoit_sqlite_entries (QuoitDb *db, guint64 seq, GError **error)
{
  g_autoptr (GPtrArray) entries = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_entry_unref);

  return read_entries (db, seq, NULL, entries, error) ? g_steal_pointer (&entries) : NULL;
}

/* How often one call recovers from deleted files, if another program keeps deleting them. */
enum { MOST_TRIES = 8 };

static gboolean
fail_deleting (const QuoitStore *store, GError **error)
{
  return quoit_fail (error, QUOIT_ERROR_BUSY, "%s: another program deletes its -wal or -shm file again and again",
                     store->path);
}

static gboolean
fail_replaced (const QuoitStore *store, GError **error)
{
  return quoit_fail (error, QUOIT_ERROR_DAMAGED,
                     "%s: entry %" G_GUINT64_FORMAT
                     ", which this handle has read, is not in the database any more: it was replaced while it was "
                     "open; open it again",
                     store->path, store->fleet->seq);
}

/* Finds the group or owner with the id of @group in @known, including removed and expired ones. */
static const QuoitGroupData *
find_known (const QuoitFleet *known, const QuoitGroupData *group)
{
  const QuoitGroupData *before
      = *group->key != '\0' ? quoit_fleet_find_key (known, group->key) : quoit_fleet_find_group (known, group->name);

  if (*group->key != '\0' || (before != NULL && before->id == group->id))
    return before;
  return group->kind == QUOIT_HOLDER_OWNER ? quoit_fleet_find_expired_owner (known, group->name)
                                           : quoit_fleet_find_removed (known, group->id);
}

/* Returns whether @later can follow @known by entries alone: the counters do not decrease, and every group with an
 * id that @known had issued was known there. */
static gboolean
goes_on (const QuoitFleet *known, const QuoitFleet *later)
{
  if (later->next_group_id < known->next_group_id || later->next_node_id < known->next_node_id)
    return FALSE;
  for (guint32 slot = 0; slot < later->n_slots; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (later, slot), *before;

      if (group == NULL || group->id >= known->next_group_id)
        continue;
      before = find_known (known, group);
      if (before == NULL || before->id != group->id || strcmp (before->name, group->name) != 0)
        return FALSE;
    }
  return TRUE;
}

/* Called if the last entry that this handle has read is not in the journal: a checkpoint has replaced it, or the
 * history is another one. If the checkpoint is later than that entry, *@fleet gets the saved state. If it is at that
 * entry, *@fleet stays NULL. */
static gboolean
catch_up_over_checkpoint (QuoitStore *store, QuoitFleet **fleet, GError **error)
{
  g_autoptr (GError) failure = NULL;
  g_autoptr (QuoitImage) checkpoint = quoit_sqlite_checkpoint (&store->db, &failure);
  g_autoptr (QuoitFleet) later = NULL;

  if (failure != NULL)
    return g_propagate_error (error, g_steal_pointer (&failure)), FALSE;
  if (checkpoint == NULL ? store->fleet->seq > 0 : checkpoint->seq < store->fleet->seq)
    return fail_replaced (store, error);
  if (checkpoint == NULL)
    return TRUE;
  if (checkpoint->seq == store->fleet->seq)
    return memcmp (checkpoint->chain, store->chain, sizeof store->chain) == 0 || fail_replaced (store, error);
  later = quoit_sqlite_load (&store->db, error);
  if (later == NULL)
    return FALSE;
  if (!goes_on (store->fleet, later))
    return fail_replaced (store, error);
  *fleet = g_steal_pointer (&later);
  return TRUE;
}

/* Checks that this is the same ledger, and that it was not restored from a backup, because ids that this handle
 * knows may then belong to other groups. */
static gboolean
check_identity (const QuoitStore *store, GError **error)
{
  QuoitIdentity identity;

  if (!quoit_sqlite_read_identity ((QuoitDb *) &store->db, &identity, error))
    return FALSE;
  if (memcmp (identity.bytes, store->identity, sizeof store->identity) != 0)
    return quoit_fail (error, QUOIT_ERROR_DAMAGED, "%s: another ledger was put here while it was open: open it again",
                       store->path);
  return identity.epoch == store->fleet->epoch
         || quoit_fail (error, QUOIT_ERROR_CONFLICT,
                        "%s: the ledger was restored from a backup while it was open: open it again, and look which "
                        "groups there are",
                        store->path);
}

gboolean
quoit_sqlite_check_handle (QuoitStore *store, GError **error)
{
  gboolean is_lost, ok;

  if (!quoit_sqlite_check_names (store, NULL, &is_lost, error) || (is_lost && !quoit_sqlite_mend_names (store, error))
      || !quoit_db_run (&store->db, SQL_BEGIN_READ, error))
    return FALSE;
  ok = quoit_sqlite_check_version (&store->db, error) && check_identity (store, error);
  return quoit_db_end (&store->db, ok ? error : NULL) && ok;
}

/* Returns SQLite's data version, which changes with every commit of any connection; 0 if unknown. Inside a
 * transaction that has read it, it is the version of the data that the transaction reads. */
static unsigned int
data_version (const QuoitStore *store)
{
  unsigned int version = 0;

  return sqlite3_file_control (store->db.handle, "main", SQLITE_FCNTL_DATA_VERSION, &version) == SQLITE_OK ? version
                                                                                                           : 0;
}

static gboolean
is_current (const QuoitStore *store)
{
  return store->db.current_version != 0 && store->db.current_version == data_version (store);
}

static void
note_current (QuoitStore *store)
{
  store->db.current_version = data_version (store);
}

static gboolean
catch_up (QuoitStore *store, GError **error)
{
  g_autoptr (GPtrArray) entries = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_entry_unref);
  g_autoptr (QuoitFleet) fleet = NULL;
  OwnRow own = { .is_same = TRUE, .time_ms = store->fleet->clock_ms };

  memcpy (own.chain, store->chain, sizeof own.chain);
  if (!check_identity (store, error) || !read_entries (&store->db, store->fleet->seq, &own, entries, error))
    return FALSE;
  if (!own.is_same)
    return fail_replaced (store, error);
  if (!own.is_there && !catch_up_over_checkpoint (store, &fleet, error))
    return FALSE;
  if (fleet != NULL)
    {
      guint64 seq;

      if (!quoit_sqlite_read_chain (&store->db, &seq, store->chain, error))
        return FALSE;
      quoit_store_publish (store, g_steal_pointer (&fleet));
    }
  else if (entries->len > 0)
    {
      fleet = quoit_fleet_fork (store->fleet);
      for (guint i = 0; i < entries->len; i++)
        if (!quoit_entry_apply (entries->pdata[i], &fleet, error))
          return FALSE;
      memcpy (store->chain, own.chain, sizeof store->chain);
      quoit_store_publish (store, g_steal_pointer (&fleet));
    }
  note_current (store);
  return TRUE;
}

/* Runs inside the transaction, while no other process can write. */
static gboolean
check_and_catch_up (QuoitStore *store, gboolean *is_lost, GError **error)
{
  struct stat file;

  if (!quoit_sqlite_check_names (store, &file, is_lost, error))
    return FALSE;
  return *is_lost
         || (quoit_sqlite_check_file (store, &file, error)
             && (is_current (store) || (quoit_sqlite_check_version (&store->db, error) && catch_up (store, error))));
}

static gboolean
is_interrupted (const QuoitStore *store)
{
  return (guint) g_atomic_int_get (&store->interrupts) != store->waits_from;
}

static gboolean
fail_interrupted (GError **error)
{
  return quoit_fail (error, QUOIT_ERROR_CANCELLED, "the wait for another writer was interrupted");
}

/* A connection that could not begin to read its WAL has nothing to save, so it is replaced. */
static gboolean
begin_anew (QuoitStore *store, GError **failure, gint64 end_us, GError **error)
{
  if ((*failure)->code != QUOIT_ERROR_BUSY || !quoit_vfs_is_split (store->db.handle)
      || g_get_monotonic_time () >= end_us)
    return g_propagate_error (error, g_steal_pointer (failure)), FALSE;
  if (is_interrupted (store))
    return fail_interrupted (error);
  g_usleep (1000);
  return quoit_sqlite_reconnect (store, error);
}

static gboolean
sqlite_catch_up (QuoitStore *store, GError **error)
{
  gint64 end_us = quoit_store_end_us (store);
  gboolean is_lost = TRUE;

  for (guint tries = 0; is_lost && tries < MOST_TRIES;)
    {
      /* Reads the version first, because only a read makes SQLite notice commits of other connections. */
      g_autoptr (GError) failure = NULL;
      gboolean ok = quoit_db_run (&store->db, SQL_BEGIN_READ, &failure)
                    && quoit_sqlite_check_version (&store->db, &failure)
                    && check_and_catch_up (store, &is_lost, &failure);

      ok = quoit_db_end (&store->db, ok ? &failure : NULL) && ok;
      tries += ok;
      if (ok ? is_lost && !quoit_sqlite_mend_names (store, error) : !begin_anew (store, &failure, end_us, error))
        return FALSE;
    }
  return !is_lost || fail_deleting (store, error);
}

gboolean
quoit_sqlite_set_synced (QuoitDb *db, gboolean synced, GError **error)
{
  /* Compiled each time, because this pragma takes effect when it is compiled. In WAL mode with NORMAL, a commit
   * reaches the disk with the next FULL commit. */
  if (!quoit_db_exec (db, synced ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL", error))
    return FALSE;
  db->synced = synced;
  return TRUE;
}

static gboolean
begin_writing (QuoitStore *store, gboolean *is_lost, GError **error)
{
  g_autoptr (GError) failure = NULL;

  if (store->db.synced == store->unsynced && !quoit_sqlite_set_synced (&store->db, !store->unsynced, error))
    return FALSE;
  if (quoit_db_run (&store->db, SQL_BEGIN, &failure))
    {
      if (check_and_catch_up (store, is_lost, &failure))
        {
          memcpy (store->draft_chain, store->chain, sizeof store->chain);
          return TRUE;
        }
      sqlite_rollback (store);
    }
  else if (failure->code == QUOIT_ERROR_BUSY && is_interrupted (store))
    return fail_interrupted (error);
  else if (failure->code == QUOIT_ERROR_BUSY)
    return quoit_fail (error, QUOIT_ERROR_BUSY,
                       "%s: another writer has held the database for %" G_GINT64_FORMAT " ms; retry, or wait longer",
                       store->path, store->wait_ms);
  g_propagate_error (error, g_steal_pointer (&failure));
  return FALSE;
}

static gboolean
sqlite_begin (QuoitStore *store, GError **error)
{
  gint64 end_us = quoit_store_end_us (store);
  gboolean is_lost = TRUE;

  for (guint tries = 0; tries < MOST_TRIES;)
    {
      g_autoptr (GError) failure = NULL;

      if (begin_writing (store, &is_lost, &failure))
        {
          if (!is_lost)
            return TRUE;
          tries++;
          sqlite_rollback (store);
          if (!quoit_sqlite_mend_names (store, error))
            return FALSE;
        }
      else if (!begin_anew (store, &failure, end_us, error))
        return FALSE;
    }
  return fail_deleting (store, error);
}

static gboolean
sqlite_append (QuoitStore *store, const QuoitEntry *entry, const QuoitFleet *after, GError **error)
{
  g_autoptr (GByteArray) effects = quoit_codec_encode (entry);
  sqlite3_stmt *stmt = quoit_db_stmt (&store->db, SQL_JOURNAL_INSERT, error);

  if (stmt == NULL)
    return FALSE;
  sqlite3_bind_int64 (stmt, 1, (gint64) entry->seq);
  sqlite3_bind_int64 (stmt, 2, entry->time_ms);
  sqlite3_bind_int (stmt, 3, entry->verb);
  if (entry->actor != NULL)
    sqlite3_bind_text (stmt, 4, entry->actor, -1, SQLITE_STATIC);
  sqlite3_bind_int64 (stmt, 5, (gint64) after->next_group_id);
  sqlite3_bind_int64 (stmt, 6, after->next_node_id);
  sqlite3_bind_blob (stmt, 7, effects->data, (int) effects->len, SQLITE_STATIC);
  quoit_chain_add (store->draft_chain, &(QuoitChainRow) { .seq = (gint64) entry->seq,
                                                          .time_ms = entry->time_ms,
                                                          .verb = entry->verb,
                                                          .actor = entry->actor,
                                                          .next_group_id = (gint64) after->next_group_id,
                                                          .next_node_id = after->next_node_id,
                                                          .effects = effects->data,
                                                          .n_effect_bytes = effects->len });
  sqlite3_bind_blob (stmt, 8, store->draft_chain, sizeof store->draft_chain, SQLITE_STATIC);
  return quoit_db_run (&store->db, SQL_JOURNAL_INSERT, error) && quoit_sqlite_keep (&store->db, entry, error);
}

/* Syncs commits that SQLite did not sync. */
static gboolean
sync_log (QuoitStore *store, GError **error)
{
  sqlite3_file *log = NULL;

  sqlite3_file_control (store->db.handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  return log == NULL || log->pMethods == NULL || log->pMethods->xSync (log, SQLITE_SYNC_FULL) == SQLITE_OK
         || quoit_fail (error, QUOIT_ERROR_STORE, "%s: what others have written could not be put on the disk",
                        store->path);
}

/* A change that finds its result already present, such as a retry with the same key, writes nothing that SQLite
 * would sync. But the entry that it found may belong to an unsynced batch of any process. */
static gboolean
sync_found (QuoitStore *store, GError **error)
{
  return store->unsynced || store->draft != NULL || store->fleet->seq <= store->db.synced_seq
         || sync_log (store, error);
}

static gboolean
sqlite_commit (QuoitStore *store, GError **error)
{
  guint64 seq = store->draft != NULL ? store->draft->seq : store->fleet->seq;

  if (!sync_found (store, error) || !quoit_db_run (&store->db, SQL_COMMIT, error))
    {
      sqlite_rollback (store);
      return FALSE;
    }
  note_current (store);
  if (!store->unsynced)
    store->db.synced_seq = seq;
  if (!quoit_sqlite_confirm (store, error))
    {
      store->db.current_version = 0;
      return FALSE;
    }
  memcpy (store->chain, store->draft_chain, sizeof store->chain);
  if (store->draft != NULL)
    quoit_sqlite_note_head (store, store->draft);
  return TRUE;
}

const QuoitEngine quoit_engine_sqlite
    = { sqlite_begin, sqlite_catch_up, sqlite_append, sqlite_commit, sqlite_rollback };

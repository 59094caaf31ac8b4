/* SPDX-License-Identifier: Apache-2.0 */
/* The SQLite engine. A change begins with BEGIN IMMEDIATE, which excludes other writers, and then reads what other
 * processes have written since. */
#include <string.h>

#include "store/codec.h"
#include "store/entry-bytes.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/vfs.h"

static void
sqlite_rollback (QuoitStore *store)
{
  quoit_db_roll_back (&store->db, NULL);
}

QuoitEntry *
quoit_sqlite_decode_entry (sqlite3_stmt *stmt, GError **error)
{
  return quoit_codec_decode ((guint64) sqlite3_column_int64 (stmt, 0), sqlite3_column_int64 (stmt, 1),
                             (QuoitVerb) sqlite3_column_int (stmt, 2), quoit_db_text (stmt, 3),
                             sqlite3_column_blob (stmt, 6), (gsize) sqlite3_column_bytes (stmt, 6), error);
}

/* The last entry that this handle has read, and whether the journal still has the same row for it. */
typedef struct {
  gboolean is_found, is_same;
  gint64 time_ms;
  guint8 chain[QUOIT_CHAIN_BYTES]; /* its link; advanced over the entries that are read after it */
} LastReadRow;

/* Gives the entry of a row its link. @previous is the link before it, and is replaced. */
static void
set_link (QuoitEntry *entry, sqlite3_stmt *stmt, guint8 *previous)
{
  const QuoitChainRow row = quoit_sqlite_chain_row (stmt);

  if (sqlite3_column_bytes (stmt, 7) == QUOIT_CHAIN_BYTES)
    quoit_entry_set_stored_link (entry, &row, previous, sqlite3_column_blob (stmt, 7));
}

/* Reads the entries after @seq. Also checks the row of @seq itself: if it is missing or different, the journal is not
 * the one that was read before. @last_read may be NULL to skip that check. If @link, the link at the checkpoint or
 * before entry 1, is not NULL, the entries get their links. */
static gboolean
read_entries (QuoitDb *db, guint64 seq, LastReadRow *last_read, const guint8 *link, GPtrArray *entries, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, SQL_JOURNAL_SINCE, error);
  guint8 previous[QUOIT_CHAIN_BYTES];
  gboolean ok = TRUE;
  int result = SQLITE_DONE;

  if (stmt == NULL)
    return FALSE;
  if (link != NULL)
    memcpy (previous, link, sizeof previous);
  sqlite3_bind_int64 (stmt, 1, (gint64) MIN (seq, (guint64) G_MAXINT64));
  while (ok && (result = sqlite3_step (stmt)) == SQLITE_ROW)
    {
      QuoitEntry *entry;

      if ((guint64) sqlite3_column_int64 (stmt, 0) == seq)
        {
          if (last_read != NULL)
            {
              last_read->is_found = TRUE;
              last_read->is_same = sqlite3_column_bytes (stmt, 7) == QUOIT_CHAIN_BYTES
                                   && memcmp (sqlite3_column_blob (stmt, 7), last_read->chain, QUOIT_CHAIN_BYTES) == 0
                                   && sqlite3_column_int64 (stmt, 1) == last_read->time_ms;
            }
          if (link != NULL && sqlite3_column_bytes (stmt, 7) == QUOIT_CHAIN_BYTES)
            memcpy (previous, sqlite3_column_blob (stmt, 7), sizeof previous);
          continue;
        }
      /* If a checkpoint replaced the next entries, there is no chain to follow. */
      if (last_read != NULL && (guint64) sqlite3_column_int64 (stmt, 0) == seq + entries->len + 1
          && !quoit_sqlite_check_link (stmt, last_read->chain, error))
        {
          ok = FALSE;
          continue;
        }
      entry = quoit_sqlite_decode_entry (stmt, error);
      if (entry != NULL)
        g_ptr_array_add (entries, entry);
      if (entry != NULL && link != NULL)
        set_link (entry, stmt, previous);
      ok = entry != NULL;
    }
  if (ok && result != SQLITE_DONE)
    ok = quoit_db_fail (db, result, "reading the journal", error);
  sqlite3_reset (stmt);
  return ok;
}

GPtrArray *
quoit_sqlite_entries (QuoitDb *db, guint64 seq, const guint8 *link, GError **error)
{
  g_autoptr (GPtrArray) entries = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_entry_unref);

  return read_entries (db, seq, NULL, link, entries, error) ? g_steal_pointer (&entries) : NULL;
}

/* How often one call recovers from deleted files before it fails, if another program keeps deleting them. */
enum { MAX_TRIES = 8 };

static gboolean
fail_deleting (const QuoitStore *store, GError **error)
{
  return quoit_fail_at (error, QUOIT_ERROR_BUSY, store->path, "another program keeps deleting its -wal or -shm file");
}

static gboolean
fail_replaced (const QuoitStore *store, GError **error)
{
  return quoit_fail_at (
      error, QUOIT_ERROR_DAMAGED, store->path,
      "entry %" G_GUINT64_FORMAT
      ", which this handle has read, is no longer in the database: the file was replaced while it was "
      "open; open it again",
      store->fleet->seq);
}

/* Catches up if the journal no longer has the last entry that this handle has read. Either a checkpoint has replaced
 * the entry, or this is another journal, which is refused. *@fleet gets the saved state if the checkpoint is later
 * than the entry. It stays NULL if the checkpoint is at the entry. */
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
  if (!quoit_store_continues (store->fleet, later))
    return fail_replaced (store, error);
  *fleet = g_steal_pointer (&later);
  return TRUE;
}

/* Checks that this is the same ledger, and that it was not restored from a backup, because ids that this handle
 * knows may then belong to other groups. */
static gboolean
check_identity (QuoitStore *store, GError **error)
{
  QuoitIdentity identity;

  if (!quoit_sqlite_read_identity (&store->db, &identity, error))
    return FALSE;
  if (memcmp (identity.bytes, store->identity, sizeof store->identity) != 0)
    return quoit_fail_at (error, QUOIT_ERROR_DAMAGED, store->path,
                          "another ledger has replaced the file while it was open: open it again");
  return identity.epoch == store->fleet->epoch
         || quoit_fail_at (error, QUOIT_ERROR_CONFLICT, store->path,
                           "the ledger was restored from a backup while it was open: open it again, and check its "
                           "groups");
}

gboolean
quoit_sqlite_check_handle (QuoitStore *store, GError **error)
{
  gboolean is_log_lost, ok;

  if (!quoit_sqlite_check_names (store, NULL, &is_log_lost, error)
      || (is_log_lost && !quoit_sqlite_recover_log (store, error)) || !quoit_db_run (&store->db, SQL_BEGIN_READ, error))
    return FALSE;
  ok = quoit_sqlite_check_version (&store->db, error) && check_identity (store, error);
  return quoit_db_roll_back (&store->db, ok ? error : NULL) && ok;
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
record_data_version (QuoitStore *store)
{
  store->db.current_version = data_version (store);
}

/* Returns whether what this connection has read may be a mixture of two states. If the -wal or -shm file has lost its
 * name, another process may have saved the WAL and continued with a new one. A reader can then find pages of a later
 * state in the database file. A writer excludes such processes. */
static gboolean
read_may_be_mixed (const QuoitStore *store)
{
  return sqlite3_txn_state (store->db.handle, "main") != SQLITE_TXN_WRITE
         && quoit_vfs_check_names (store->db.handle, NULL) == QUOIT_NAMES_LOG_REPLACED;
}

static gboolean
catch_up (QuoitStore *store, gboolean *is_log_lost, GError **error)
{
  g_autoptr (GPtrArray) entries = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_entry_unref);
  g_autoptr (QuoitFleet) fleet = NULL;
  LastReadRow last_read = { .is_same = TRUE, .time_ms = store->fleet->clock_ms };

  memcpy (last_read.chain, store->chain, sizeof last_read.chain);
  if (!check_identity (store, error) || !read_entries (&store->db, store->fleet->seq, &last_read, NULL, entries, error))
    return FALSE;
  if (!last_read.is_same)
    return fail_replaced (store, error);
  if (!last_read.is_found && !catch_up_over_checkpoint (store, &fleet, error))
    return FALSE;
  if (fleet != NULL)
    {
      guint64 seq;

      guint8 chain[QUOIT_CHAIN_BYTES];

      if (!quoit_sqlite_read_last_link (&store->db, &seq, chain, error))
        return FALSE;
      if (read_may_be_mixed (store))
        return *is_log_lost = TRUE;
      memcpy (store->chain, chain, sizeof store->chain);
      quoit_store_publish (store, g_steal_pointer (&fleet));
      quoit_sqlite_update_last_entry (store);
    }
  else if (entries->len > 0)
    {
      fleet = quoit_fleet_fork (store->fleet);
      for (guint i = 0; i < entries->len; i++)
        if (!quoit_entry_apply (entries->pdata[i], &fleet, error))
          return FALSE;
      if (read_may_be_mixed (store))
        return *is_log_lost = TRUE;
      memcpy (store->chain, last_read.chain, sizeof store->chain);
      quoit_store_publish (store, g_steal_pointer (&fleet));
      quoit_sqlite_update_last_entry (store);
    }
  record_data_version (store);
  return TRUE;
}

/* Checks the files and catches up. Runs inside the transaction, while no other process can write. */
static gboolean
check_and_catch_up (QuoitStore *store, gboolean *is_log_lost, GError **error)
{
  struct stat file;

  if (!quoit_sqlite_check_names (store, &file, is_log_lost, error))
    return FALSE;
  return *is_log_lost
         || (quoit_sqlite_check_file (store, &file, error)
             && (is_current (store)
                 || (quoit_sqlite_check_version (&store->db, error) && catch_up (store, is_log_lost, error))));
}

/* One call's attempts to begin a transaction. */
typedef struct {
  gint64 end_us;
  guint n_recoveries;       /* from deleted files */
  gboolean has_reconnected; /* after damaged pages */
} Attempts;

/* Prepares another attempt after *@failure, or fails with it. There is another attempt in three cases:
 * - The connection could not begin to read (see quoit_vfs_is_read_blocked()). A new connection replaces it.
 * - The -wal or -shm file was deleted or replaced, so the connection may have read a mixture of two states. The
 *   changes in the WAL are recovered first.
 * - The pages were damaged. A new connection reads them again, once. */
static gboolean
retry_begin (QuoitStore *store, Attempts *attempts, GError **failure, GError **error)
{
  QuoitErrorCode code = (QuoitErrorCode) (*failure)->code;

  if (code == QUOIT_ERROR_BUSY && quoit_vfs_is_read_blocked (store->db.handle)
      && g_get_monotonic_time () < attempts->end_us)
    {
      if (quoit_store_is_interrupted (store))
        return quoit_store_fail_interrupted (error);
      g_usleep (1000);
      return quoit_sqlite_reconnect (store, error);
    }
  if (code != QUOIT_ERROR_BUSY && read_may_be_mixed (store) && attempts->n_recoveries++ < MAX_TRIES)
    return quoit_sqlite_recover_log (store, error);
  if (code == QUOIT_ERROR_DAMAGED && !attempts->has_reconnected
      && quoit_vfs_check_names (store->db.handle, NULL) == QUOIT_NAMES_MATCH)
    return attempts->has_reconnected = TRUE, quoit_sqlite_reconnect (store, error);
  return g_propagate_error (error, g_steal_pointer (failure)), FALSE;
}

static gboolean
sqlite_catch_up (QuoitStore *store, GError **error)
{
  Attempts attempts = { .end_us = quoit_store_deadline_us (store) };
  gboolean is_log_lost = TRUE;

  while (is_log_lost && attempts.n_recoveries < MAX_TRIES)
    {
      /* Reads the version first, because only a read makes SQLite notice commits of other connections. */
      g_autoptr (GError) failure = NULL;
      gboolean ok = quoit_db_run (&store->db, SQL_BEGIN_READ, &failure)
                    && quoit_sqlite_check_version (&store->db, &failure)
                    && check_and_catch_up (store, &is_log_lost, &failure);

      ok = quoit_db_roll_back (&store->db, ok ? &failure : NULL) && ok;
      if (!ok)
        {
          if (!retry_begin (store, &attempts, &failure, error))
            return FALSE;
          is_log_lost = TRUE; /* try again */
        }
      else if (is_log_lost)
        {
          attempts.n_recoveries++;
          if (!quoit_sqlite_recover_log (store, error))
            return FALSE;
        }
    }
  return !is_log_lost || fail_deleting (store, error);
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
begin_writing (QuoitStore *store, gboolean *is_log_lost, GError **error)
{
  g_autoptr (GError) failure = NULL;

  if (store->db.synced == store->unsynced && !quoit_sqlite_set_synced (&store->db, !store->unsynced, error))
    return FALSE;
  if (quoit_db_run (&store->db, SQL_BEGIN, &failure))
    {
      if (check_and_catch_up (store, is_log_lost, &failure)
          && (*is_log_lost || quoit_sqlite_check_head_again (store, &failure)))
        {
          memcpy (store->pending_chain, store->chain, sizeof store->chain);
          return TRUE;
        }
      sqlite_rollback (store);
    }
  else if (failure->code == QUOIT_ERROR_BUSY && quoit_store_is_interrupted (store))
    return quoit_store_fail_interrupted (error);
  else if (failure->code == QUOIT_ERROR_BUSY)
    return quoit_fail_at (error, QUOIT_ERROR_BUSY, store->path,
                          "another writer has held the database for %" G_GINT64_FORMAT " ms; retry, or wait longer",
                          store->wait_ms);
  g_propagate_error (error, g_steal_pointer (&failure));
  return FALSE;
}

static gboolean
sqlite_begin (QuoitStore *store, GError **error)
{
  Attempts attempts = { .end_us = quoit_store_deadline_us (store) };
  gboolean is_log_lost = TRUE;

  while (attempts.n_recoveries < MAX_TRIES)
    {
      g_autoptr (GError) failure = NULL;

      if (begin_writing (store, &is_log_lost, &failure))
        {
          if (!is_log_lost)
            return TRUE;
          attempts.n_recoveries++;
          sqlite_rollback (store);
          if (!quoit_sqlite_recover_log (store, error))
            return FALSE;
        }
      else if (!retry_begin (store, &attempts, &failure, error))
        return FALSE;
    }
  return fail_deleting (store, error);
}

static gboolean
sqlite_append (QuoitStore *store, const QuoitEntry *entry, GError **error)
{
  const QuoitChainRow row = quoit_entry_row (entry);
  sqlite3_stmt *stmt = quoit_db_stmt (&store->db, SQL_JOURNAL_INSERT, error);

  if (stmt == NULL)
    return FALSE;
  sqlite3_bind_int64 (stmt, 1, row.seq);
  sqlite3_bind_int64 (stmt, 2, row.time_ms);
  sqlite3_bind_int64 (stmt, 3, row.verb);
  if (row.actor != NULL)
    sqlite3_bind_text (stmt, 4, row.actor, -1, SQLITE_STATIC);
  sqlite3_bind_int64 (stmt, 5, row.next_group_id);
  sqlite3_bind_int64 (stmt, 6, row.next_node_id);
  sqlite3_bind_blob (stmt, 7, row.effects, (int) row.n_effect_bytes, SQLITE_STATIC);
  sqlite3_bind_blob (stmt, 8, entry->link->chain, sizeof entry->link->chain, SQLITE_STATIC);
  return quoit_db_run (&store->db, SQL_JOURNAL_INSERT, error) && quoit_sqlite_save_effects (&store->db, entry, error);
}

/* Waits until unsynced commits, including those of other processes, are on the disk. */
static gboolean
sync_log (QuoitStore *store, GError **error)
{
  sqlite3_file *log = NULL;

  sqlite3_file_control (store->db.handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  return log == NULL || log->pMethods == NULL || log->pMethods->xSync (log, SQLITE_SYNC_FULL) == SQLITE_OK
         || quoit_fail_at (error, QUOIT_ERROR_STORE, store->path, "earlier commits could not be written to the disk");
}

/* Syncs earlier commits if the transaction writes nothing. A change that finds its result already present, such as a
 * retry with the same key, writes nothing, so its commit syncs nothing. But the entry that it found may belong to an
 * unsynced batch of this or another process, and the caller now relies on that entry. */
static gboolean
sync_earlier (QuoitStore *store, GError **error)
{
  return store->unsynced || store->pending != NULL || store->fleet->seq <= store->db.synced_seq
         || sync_log (store, error);
}

static QuoitCommit
sqlite_commit (QuoitStore *store, GError **error)
{
  guint64 seq = store->pending != NULL ? store->pending->seq : store->fleet->seq;

  if (!sync_earlier (store, error) || !quoit_db_run (&store->db, SQL_COMMIT, error))
    {
      sqlite_rollback (store);
      return QUOIT_COMMIT_FAILED;
    }
  record_data_version (store);
  if (!store->unsynced)
    store->db.synced_seq = seq;
  if (!quoit_sqlite_confirm_commit (store, error))
    {
      store->db.current_version = 0;
      return QUOIT_COMMIT_FAILED;
    }
  memcpy (store->chain, store->pending_chain, sizeof store->chain);
  if (store->pending != NULL)
    {
      quoit_sqlite_record_head (store, store->pending);
      store->last_entry
          = (QuoitFileEntry) { store->pending->epoch, store->pending->seq, quoit_head_chain_prefix (store->chain) };
    }
  return QUOIT_COMMIT_DONE;
}

static gboolean
sqlite_mark (QuoitStore *store, guint number, GError **error)
{
  g_autofree char *text = g_strdup_printf ("SAVEPOINT mark_%u", number);

  return quoit_db_exec (&store->db, text, error);
}

static gboolean
sqlite_roll_back_to (QuoitStore *store, guint number, GError **error)
{
  g_autofree char *text = g_strdup_printf ("ROLLBACK TO mark_%u", number);

  /* If the disk was full, SQLite itself may have ended the transaction, and with it the marks. */
  return quoit_db_exec (&store->db, text, error);
}

static gboolean
sqlite_connect (QuoitStore *store, GError **error)
{
  return store->db.handle != NULL || quoit_sqlite_reconnect (store, error);
}

static gboolean
sqlite_can_trim (const QuoitStore *store)
{
  return store->db.handle != NULL;
}

const QuoitEngine quoit_engine_sqlite = { .close = quoit_sqlite_close_store,
                                          .connect = sqlite_connect,
                                          .can_trim = sqlite_can_trim,
                                          .elapsed_ms = quoit_sqlite_elapsed_ms,
                                          .begin = sqlite_begin,
                                          .catch_up = sqlite_catch_up,
                                          .append = sqlite_append,
                                          .commit = sqlite_commit,
                                          .rollback = sqlite_rollback,
                                          .mark = sqlite_mark,
                                          .roll_back_to = sqlite_roll_back_to,
                                          .read_range = quoit_sqlite_read_range,
                                          .entries = quoit_sqlite_entries_after,
                                          .find_first_kept = quoit_sqlite_find_first_kept,
                                          .has_old_entries = quoit_sqlite_has_old_entries,
                                          .verify = quoit_sqlite_verify,
                                          .fleet_at = quoit_sqlite_fleet_at,
                                          .compact = quoit_sqlite_compact,
                                          .copy = quoit_sqlite_copy,
                                          .read_history = quoit_sqlite_read_history,
                                          .begin_history = quoit_sqlite_begin_history,
                                          .add_image = quoit_sqlite_add_image,
                                          .add_entry = quoit_sqlite_add_entry,
                                          .end_history = quoit_sqlite_end_history,
                                          .remove = quoit_store_remove_file,
                                          .open_news = quoit_sqlite_open_news,
                                          .read_news = quoit_sqlite_read_news,
                                          .close_news = quoit_sqlite_close_news };

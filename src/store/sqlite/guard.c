/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the open files of a handle are still the files that other processes read. The checks run when a change
 * begins, and before it is acknowledged. In this folder, "log" is SQLite's write-ahead log, the -wal file. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sqlite/path.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/vfs.h"

/* Copies the whole WAL into the database file. No other process of quoit can have changed that file: a process that
 * opens it sees that this handle still uses its own -wal and -shm files, and is refused. SQLite does not wait for the
 * checkpoint lock, which a writer can have, so this function waits. */
static gboolean
checkpoint_log (QuoitStore *store, GError **error)
{
  gint64 end_us = quoit_store_deadline_us (store);

  for (;;)
    {
      int n_frames = 0, n_saved = 0;
      int result = sqlite3_wal_checkpoint_v2 (store->db.handle, "main", SQLITE_CHECKPOINT_FULL, &n_frames, &n_saved);

      if (result == SQLITE_OK && n_frames == n_saved)
        return TRUE;
      if (result == SQLITE_OK)
        result = SQLITE_BUSY;
      if ((result & 0xff) != SQLITE_BUSY || g_get_monotonic_time () >= end_us)
        return quoit_db_fail (&store->db, result, "saving the deleted -wal file", error);
      g_usleep (1000);
    }
}

gboolean
quoit_sqlite_reconnect (QuoitStore *store, GError **error)
{
  gint64 end_us = quoit_store_deadline_us (store);

  for (;;)
    {
      g_autoptr (GError) failure = NULL;

      quoit_db_close (&store->db);
      memset (&store->db, 0, sizeof store->db);
      if (quoit_sqlite_connect_store (store, &failure))
        return store->must_check_head = TRUE;
      if (failure->code != QUOIT_ERROR_BUSY || g_get_monotonic_time () >= end_us)
        {
          quoit_db_close (&store->db);
          memset (&store->db, 0, sizeof store->db);
          return g_propagate_error (error, g_steal_pointer (&failure)), FALSE;
        }
      g_usleep (1000);
    }
}

/* --- writes of other programs to the database file --- */

enum { MIN_CHECKPOINT_WAIT_MS = 1000, MAX_CHECKPOINT_WAIT_MS = 60000 };

/* Returns whether entry @seq is stored, but the first 8 bytes of its link are not @chain. */
static gboolean
has_other_link (QuoitDb *db, guint64 seq, guint64 chain)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, SQL_JOURNAL_SINCE, NULL);
  gboolean differs = FALSE;

  if (stmt == NULL)
    return FALSE;
  sqlite3_bind_int64 (stmt, 1, (gint64) seq);
  if (sqlite3_step (stmt) == SQLITE_ROW && (guint64) sqlite3_column_int64 (stmt, 0) == seq
      && sqlite3_column_bytes (stmt, 7) == QUOIT_CHAIN_BYTES)
    differs = quoit_head_chain_prefix (sqlite3_column_blob (stmt, 7)) != chain;
  sqlite3_reset (stmt);
  return differs;
}

static guint64
hash_time (guint64 hash, const struct timespec *time)
{
  return hash * 31 + (guint64) time->tv_sec * 1000000000u + (guint64) time->tv_nsec;
}

static guint64
hash_file_state (const struct stat *file)
{
  return hash_time (hash_time ((guint64) file->st_size, &file->st_mtim), &file->st_ctim);
}

static guint64
file_state (const char *path)
{
  struct stat file;

  return stat (path, &file) == 0 ? hash_file_state (&file) : 0;
}

typedef enum {
  ENTRY_READ,
  ENTRY_UNREADABLE,  /* the file has some pages of its WAL, and cannot be read without it */
  ENTRY_IS_DIFFERENT /* the file has the known entry with another link */
} EntryResult;

/* Reads the last entry that the database file has without its WAL. */
static EntryResult
read_entry_in_file (const char *path, const QuoitFileEntry *known, QuoitFileEntry *entry)
{
  g_autofree char *absolute = g_canonicalize_filename (path, NULL);
  g_autofree char *escaped = g_uri_escape_string (absolute, "/", FALSE);
  g_autofree char *uri = g_strconcat ("file:", escaped, "?immutable=1", NULL);
  guint8 chain[QUOIT_CHAIN_BYTES];
  QuoitIdentity identity;
  QuoitDb db = { 0 };
  guint64 seq = 0;
  gboolean is_read, is_different;

  is_read = sqlite3_open_v2 (uri, &db.handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL)
            == SQLITE_OK;
  if (is_read)
    quoit_sqlite_restrict (db.handle);
  is_read = is_read && quoit_sqlite_read_identity (&db, &identity, NULL)
            && quoit_sqlite_read_last_link (&db, &seq, chain, NULL);
  is_different
      = is_read && known->seq != 0 && known->epoch == identity.epoch && has_other_link (&db, known->seq, known->chain);
  if (is_read)
    *entry = (QuoitFileEntry) { identity.epoch, seq, quoit_head_chain_prefix (chain) };
  for (sqlite3_stmt *stmt; db.handle != NULL && (stmt = sqlite3_next_stmt (db.handle, NULL)) != NULL;)
    sqlite3_finalize (stmt);
  sqlite3_close (db.handle);
  return !is_read ? ENTRY_UNREADABLE : is_different ? ENTRY_IS_DIFFERENT : ENTRY_READ;
}

static gboolean
fail_foreign (const QuoitStore *store, GError **error)
{
  return quoit_fail_at (error, QUOIT_ERROR_CONFLICT, store->path,
                        "another program has written to the file, which lacks changes that its -wal file has: "
                        "'quoit restore BACKUP' puts a backup in place, 'quoit restore %s' keeps the changes",
                        store->path);
}

/* Returns whether the journal that ends at @seq continues the history that this handle has read, if it has read any. */
static gboolean
continues_history (QuoitDb *db, const QuoitStore *store, guint64 seq, GError **error)
{
  if (store->fleet == NULL)
    return TRUE;
  if (seq >= store->fleet->seq && !has_other_link (db, store->fleet->seq, quoit_head_chain_prefix (store->chain)))
    return TRUE;
  return quoit_fail_at (error, QUOIT_ERROR_DAMAGED, store->path,
                        "the file ends at entry %" G_GUINT64_FORMAT
                        ", but this handle has read entry %" G_GUINT64_FORMAT
                        ": an older copy was put in its place; 'quoit restore BACKUP' puts a backup in place and "
                        "reuses no ids",
                        seq, store->fleet->seq);
}

static gboolean
fail_older_file (const QuoitStore *store, QuoitLastWriter writer, const QuoitFileEntry *known, GError **error)
{
  return quoit_fail_at (error, QUOIT_ERROR_DAMAGED, store->path,
                        "%s no longer has entry %" G_GUINT64_FORMAT
                        ": an older copy was put in its place; 'quoit restore BACKUP' puts a backup in place and "
                        "reuses no ids ('quoit restore %s' accepts the file as it is)",
                        writer == QUOIT_WRITER_OTHER_PROGRAM ? "another program has written to the file, which"
                                                             : "the file",
                        known->seq, store->path);
}

/* Checks that the WAL, which was verified together with the database file, belongs to it. An older copy of the file is
 * valid by itself, but together with the WAL it is a mixture of two states. A file that cannot be read without the WAL
 * is no copy: a checkpoint has written some of the pages. @seq is the last entry of both. */
static gboolean
check_entry_in_file (QuoitStore *store, QuoitLastWriter writer, const QuoitFileEntry *recorded, guint64 seq,
                     GError **error)
{
  const QuoitFileEntry known
      = quoit_file_entry_is_before (&store->entry_in_file, recorded) ? *recorded : store->entry_in_file;
  QuoitFileEntry now = { 0 };
  EntryResult result
      = writer == QUOIT_WRITER_INTERRUPTED ? ENTRY_UNREADABLE : read_entry_in_file (store->file, &known, &now);

  if (result == ENTRY_IS_DIFFERENT || (result == ENTRY_READ && quoit_file_entry_is_before (&now, &known)))
    return fail_older_file (store, writer, &known, error);
  /* The file is a newer copy, which the WAL would undo, or another program has left it unreadable. */
  if (writer == QUOIT_WRITER_OTHER_PROGRAM && (result == ENTRY_UNREADABLE || now.seq < seq))
    return fail_foreign (store, error);
  store->entry_in_file = now;
  return TRUE;
}

/* Verifies what a read transaction of @db reads, and that it continues the history of this handle. *@seq gets the last
 * entry. */
static gboolean
is_sound_history (QuoitDb *db, const QuoitStore *store, guint64 *seq, GError **error)
{
  guint8 chain[QUOIT_CHAIN_BYTES];

  return quoit_sqlite_check_replay (db, NULL, error) && quoit_sqlite_read_last_link (db, seq, chain, error)
         && continues_history (db, store, *seq, error);
}

/* Verifies the database on a new connection, because this handle's cache may contain pages that are no longer in the
 * file. */
static gboolean
verify_file (QuoitStore *store, QuoitLastWriter writer, const QuoitFileEntry *recorded, GError **error)
{
  QuoitDb reader = { 0 };
  guint64 seq = 0;
  gboolean ok = quoit_sqlite_connect (store, &reader, error) && quoit_sqlite_begin_reader (store, &reader, error)
                && is_sound_history (&reader, store, &seq, error);

  quoit_db_close (&reader);
  if (!ok && writer == QUOIT_WRITER_OTHER_PROGRAM)
    g_prefix_error (error, "another program has written to the file: ");
  return ok && check_entry_in_file (store, writer, recorded, seq, error);
}

/* Returns who wrote to the file last. While another process of quoit copies its WAL into the file, waits until that
 * process has recorded the new size and time of the file. @file gets the status that the result refers to, and
 * @recorded the entry that was recorded with the last write. */
static QuoitLastWriter
wait_for_last_writer (QuoitStore *store, struct stat *file, QuoitFileEntry *recorded)
{
  const gint64 max_ms = CLAMP (store->wait_ms, MIN_CHECKPOINT_WAIT_MS, MAX_CHECKPOINT_WAIT_MS);
  gint64 waited_ms = 0;
  QuoitLastWriter writer;

  do
    {
      gboolean is_checkpointing = quoit_vfs_is_checkpointing (store->db.handle);

      if (stat (store->file, file) != 0)
        memset (file, 0, sizeof *file);
      writer = quoit_head_last_writer (store->file, recorded);
      if (writer == QUOIT_WRITER_QUOIT
          || (!is_checkpointing && file_state (store->file) == hash_file_state (file)
              && quoit_head_last_writer (store->file, recorded) == writer
              && !quoit_vfs_is_checkpointing (store->db.handle)))
        return writer;
      g_usleep (1000);
    }
  while (++waited_ms < max_ms);
  return writer;
}

/* Returns whether the file or its record has changed since @writer and @state were read, for example because another
 * process has accepted the file. */
static gboolean
has_changed_since (const QuoitStore *store, QuoitLastWriter writer, guint64 state)
{
  QuoitFileEntry recorded;

  return quoit_head_last_writer (store->file, &recorded) != writer || file_state (store->file) != state;
}

enum { MAX_FILE_CHECKS = 8 };

gboolean
quoit_sqlite_check_file (QuoitStore *store, const struct stat *file, GError **error)
{
  guint64 state = file == NULL ? file_state (store->file) : hash_file_state (file);

  for (guint check = 1; state != store->file_state; check++)
    {
      g_autoptr (GError) failure = NULL;
      QuoitFileEntry recorded;
      struct stat status;
      QuoitLastWriter writer = wait_for_last_writer (store, &status, &recorded);

      state = hash_file_state (&status);
      /* Older copies have replaced both the file and the -head file. */
      if (writer == QUOIT_WRITER_QUOIT && recorded.seq != 0
          && quoit_file_entry_is_before (&recorded, &store->entry_in_file))
        writer = QUOIT_WRITER_UNKNOWN;
      if (writer == QUOIT_WRITER_QUOIT)
        {
          store->entry_in_file = recorded;
          store->file_state = state;
        }
      else if (verify_file (store, writer, &recorded, &failure))
        {
          quoit_vfs_record_file (store->db.handle, &status, &store->entry_in_file);
          store->db.current_version = 0;
          store->file_state = state;
        }
      else if (check == MAX_FILE_CHECKS || !has_changed_since (store, writer, state))
        return g_propagate_error (error, g_steal_pointer (&failure)), FALSE;
    }
  return TRUE;
}

/* --- deleted or replaced files --- */

static gboolean
fail_overwritten (const QuoitStore *store, GError **error)
{
  return quoit_fail_at (error, QUOIT_ERROR_CONFLICT, store->path,
                        "another program has deleted its -wal file and written to the database file: 'quoit restore "
                        "BACKUP' puts a backup in place, 'quoit restore %s' accepts the file as it is",
                        store->path);
}

/* Returns whether this handle can continue although another program has written to the file since the handle's -wal or
 * -shm file was deleted or replaced. It can if the file, read together with the handle's WAL, passes all checks and
 * continues the handle's history, for example after a checkpoint by SQLite, which only copies pages of that WAL. */
static gboolean
accept_other_writer (QuoitStore *store, const QuoitFileEntry *recorded)
{
  const QuoitFileEntry known
      = quoit_file_entry_is_before (&store->entry_in_file, recorded) ? *recorded : store->entry_in_file;
  QuoitFileEntry now = { 0 };
  struct stat status;
  guint64 seq;
  gboolean ok;

  if (stat (store->file, &status) != 0 || read_entry_in_file (store->file, &known, &now) == ENTRY_IS_DIFFERENT
      || (now.seq != 0 && quoit_file_entry_is_before (&now, &known)))
    return FALSE;
  /* Drop cached pages, so that they are read from the file again. */
  sqlite3_db_release_memory (store->db.handle);
  ok = quoit_db_run (&store->db, SQL_BEGIN_READ, NULL) && quoit_sqlite_check_version (&store->db, NULL)
       && is_sound_history (&store->db, store, &seq, NULL);
  if (!quoit_db_roll_back (&store->db, NULL) || !ok)
    return FALSE;
  store->entry_in_file = now;
  quoit_vfs_record_file (store->db.handle, &status, &now);
  return TRUE;
}

/* The changes in the WAL are not lost as long as this handle has its -wal and -shm files open. */
gboolean
quoit_sqlite_recover_log (QuoitStore *store, GError **error)
{
  QuoitFileEntry recorded;

  if (quoit_head_last_writer (store->file, &recorded) == QUOIT_WRITER_OTHER_PROGRAM
      && !accept_other_writer (store, &recorded))
    return fail_overwritten (store, error);
  if (!checkpoint_log (store, error))
    return FALSE;
  quoit_vfs_retire_pair (store->db.handle);
  return quoit_sqlite_reconnect (store, error);
}

static gboolean
fail_moved (const QuoitStore *store, GError **error)
{
  return quoit_fail_at (error, QUOIT_ERROR_CONFLICT, store->path,
                        "the database file was deleted or replaced while it was open: open it again");
}

gboolean
quoit_sqlite_check_names (QuoitStore *store, struct stat *file, gboolean *is_log_lost, GError **error)
{
  *is_log_lost = FALSE;
  switch (quoit_vfs_check_names (store->db.handle, file))
    {
    case QUOIT_NAMES_DATABASE_REPLACED:
      return fail_moved (store, error);
    case QUOIT_NAMES_SECOND_NAME:
      return quoit_path_check (store->file, error);
    case QUOIT_NAMES_LOG_REPLACED:
      return *is_log_lost = TRUE;
    case QUOIT_NAMES_MATCH:
    default:
      return TRUE;
    }
}

gboolean
quoit_sqlite_confirm_commit (QuoitStore *store, GError **error)
{
  g_autoptr (GError) failure = NULL;
  gboolean is_log_lost;

  if (quoit_sqlite_check_names (store, NULL, &is_log_lost, &failure)
          ? !is_log_lost || quoit_sqlite_recover_log (store, &failure)
          : failure->code == QUOIT_ERROR_STORE)
    return TRUE;
  return quoit_fail_at (
      error, QUOIT_ERROR_UNCONFIRMED, store->path,
      "the change was written, but the files were replaced meanwhile: check whether the ledger has it, or repeat the "
      "call with the same request key; if a repeated release of NAME@ID fails with CONFLICT or NOT_FOUND, it was done "
      "(%s)",
      failure->message);
}

/* --- the last acknowledged entry --- */

void
quoit_sqlite_record_head (QuoitStore *store, const QuoitFleet *fleet)
{
  QuoitHead head = { .epoch = fleet->epoch,
                     .seq = fleet->seq,
                     .next_group_id = fleet->next_group_id,
                     .chain = quoit_head_chain_prefix (store->chain),
                     .uptime_ms = quoit_head_uptime_ms (),
                     .unsynced = store->unsynced };

  memcpy (head.identity, store->identity, sizeof head.identity);
  quoit_vfs_write_head (store->db.handle, &head);
}

void
quoit_sqlite_update_last_entry (QuoitStore *store)
{
  store->last_entry
      = (QuoitFileEntry) { store->fleet->epoch, store->fleet->seq, quoit_head_chain_prefix (store->chain) };
}

void
quoit_sqlite_record_state (QuoitStore *store)
{
  struct stat status;

  store->entry_in_file = (QuoitFileEntry) { 0 };
  if (stat (store->file, &status) == 0)
    quoit_vfs_record_file (store->db.handle, &status, &store->entry_in_file);
  store->file_state = file_state (store->file);
  quoit_sqlite_record_head (store, store->fleet);
}

/* The WAL can be copied into the database file if it is empty, which changes nothing, or if the file was found sound
 * and quoit was its last writer. */
static gboolean
can_checkpoint_log (const QuoitStore *store)
{
  g_autofree char *log = g_strconcat (store->file, "-wal", NULL);
  QuoitFileEntry recorded;
  struct stat status;

  return quoit_vfs_check_names (store->db.handle, NULL) == QUOIT_NAMES_MATCH
         && ((stat (log, &status) == 0 && status.st_size == 0)
             || (store->file_state != 0 && quoit_head_last_writer (store->file, &recorded) == QUOIT_WRITER_QUOIT));
}

/* Copies a WAL whose -wal or -shm file was deleted or replaced into the database file if that is safe, and retires it.
 * This handle may be the last one that has the WAL open. */
static void
save_lost_log (QuoitStore *store)
{
  QuoitFileEntry recorded;

  if (store->fleet != NULL && quoit_vfs_check_names (store->db.handle, NULL) == QUOIT_NAMES_LOG_REPLACED
      && (quoit_head_last_writer (store->file, &recorded) != QUOIT_WRITER_OTHER_PROGRAM
          || accept_other_writer (store, &recorded))
      && checkpoint_log (store, NULL))
    quoit_vfs_retire_pair (store->db.handle);
}

void
quoit_sqlite_close_store (QuoitStore *store)
{
  if (store->db.handle != NULL)
    save_lost_log (store);
  if (store->db.handle != NULL && can_checkpoint_log (store))
    {
      sqlite3_db_config (store->db.handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
      /* A connection to a retired pair would keep SQLite from saving the WAL. */
      if (quoit_vfs_has_other_pair (store->db.handle))
        checkpoint_log (store, NULL);
    }
  quoit_db_close (&store->db);
}

static gboolean
fleet_is_behind (const QuoitStore *store, const QuoitHead *head)
{
  return head->epoch > store->fleet->epoch || (head->epoch == store->fleet->epoch && head->seq > store->fleet->seq);
}

static gboolean
fail_behind (const QuoitStore *store, const QuoitHead *head, GError **error)
{
  return quoit_fail_at (
      error, QUOIT_ERROR_DAMAGED, store->path,
      "the file ends at entry %" G_GUINT64_FORMAT ", but entry %" G_GUINT64_FORMAT
      " was acknowledged: an older copy of the file was put here, or its -wal file was deleted; "
      "'quoit restore BACKUP' puts a backup in place and reuses no ids ('quoit restore %s' accepts the "
      "file as it is)",
      store->fleet->seq, head->seq, store->path);
}

static gboolean
check_link_of_head (QuoitStore *store, const QuoitHead *head, GError **error)
{
  if (head->epoch == store->fleet->epoch && has_other_link (&store->db, head->seq, head->chain))
    return quoit_fail_at (
        error, QUOIT_ERROR_DAMAGED, store->path,
        "entry %" G_GUINT64_FORMAT
        " is not the one that was acknowledged: the file is another copy of this ledger; 'quoit restore "
        "BACKUP' puts a backup in place and reuses no ids",
        head->seq);
  return TRUE;
}

gboolean
quoit_sqlite_check_head (QuoitStore *store, GError **error)
{
  QuoitHead head;
  gboolean same_boot;

  if (!quoit_head_read (store->file, store->identity, &head, &same_boot))
    return TRUE;
  /* Another process may have written since this handle read the state. */
  if (fleet_is_behind (store, &head) && !store->engine->catch_up (store, error))
    return FALSE;
  return fleet_is_behind (store, &head) ? fail_behind (store, &head, error) : check_link_of_head (store, &head, error);
}

gboolean
quoit_sqlite_check_head_again (QuoitStore *store, GError **error)
{
  QuoitHead head;
  gboolean same_boot, ok;

  if (!store->must_check_head)
    return TRUE;
  ok = !quoit_head_read (store->file, store->identity, &head, &same_boot)
       || (fleet_is_behind (store, &head) ? fail_behind (store, &head, error)
                                          : check_link_of_head (store, &head, error));
  store->must_check_head = !ok;
  return ok;
}

/* --- the clock --- */

gint64
quoit_sqlite_elapsed_ms (const QuoitStore *store)
{
  gint64 uptime_ms = quoit_head_uptime_ms ();
  gboolean same_boot = FALSE;
  QuoitHead head = { 0 };

  if (quoit_head_read (store->file, store->identity, &head, &same_boot) && same_boot)
    return MAX (uptime_ms - head.uptime_ms, 0);
  return head.seq != 0 ? uptime_ms : 0;
}

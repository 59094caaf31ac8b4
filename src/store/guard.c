/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a handle's files are still the files that other processes read: when a change begins, and before it is
 * acknowledged. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/place.h"
#include "store/store-private.h"
#include "store/vfs.h"

/* --- deleted -wal and -shm files --- */

/* Copies the whole WAL into the database file. No other process can have changed that file: a process that opens it
 * sees that this pair of files is in use, and is refused. */
static gboolean
save_log (QuoitStore *store, GError **error)
{
  int n_frames = 0, n_saved = 0;
  int result = sqlite3_wal_checkpoint_v2 (store->db.handle, "main", SQLITE_CHECKPOINT_FULL, &n_frames, &n_saved);

  if (result == SQLITE_OK && n_frames == n_saved)
    return TRUE;
  if (result == SQLITE_OK)
    result = SQLITE_BUSY;
  return quoit_db_fail (&store->db, result, "saving a log that was deleted", error);
}

gboolean
quoit_sqlite_reconnect (QuoitStore *store, GError **error)
{
  gint64 end_us = quoit_store_end_us (store);

  for (;;)
    {
      g_autoptr (GError) failure = NULL;

      quoit_db_close (&store->db);
      memset (&store->db, 0, sizeof store->db);
      if (quoit_sqlite_connect_store (store, &failure))
        return TRUE;
      if (failure->code != QUOIT_ERROR_BUSY || g_get_monotonic_time () >= end_us)
        {
          quoit_db_close (&store->db);
          memset (&store->db, 0, sizeof store->db);
          return g_propagate_error (error, g_steal_pointer (&failure)), FALSE;
        }
      g_usleep (1000);
    }
}

static gboolean
fail_overwritten (const QuoitStore *store, GError **error)
{
  return quoit_fail (error, QUOIT_ERROR_CONFLICT,
                     "%s: another program has deleted its log and written to the file: 'quoit restore BACKUP' puts a "
                     "backup in place, 'quoit restore %s' goes on with what the file has",
                     store->path, store->path);
}

/* Another program has deleted or replaced the -wal or -shm file. Nothing is lost while this handle has them open. */
static gboolean
leave_lost_log (QuoitStore *store, GError **error)
{
  if (quoit_head_last_writer (store->file) == QUOIT_FILE_FOREIGN)
    return fail_overwritten (store, error);
  if (!save_log (store, error))
    return FALSE;
  quoit_vfs_retire_pair (store->db.handle);
  return quoit_sqlite_reconnect (store, error);
}

static gboolean
fail_moved (const QuoitStore *store, GError **error)
{
  return quoit_fail (error, QUOIT_ERROR_CONFLICT,
                     "%s: the database file was deleted or replaced while it was open: open it again", store->path);
}

gboolean
quoit_sqlite_check_names (QuoitStore *store, struct stat *file, gboolean *is_lost, GError **error)
{
  *is_lost = FALSE;
  switch (quoit_vfs_check_names (store->db.handle, file))
    {
    case QUOIT_NAMES_MOVED:
      return fail_moved (store, error);
    case QUOIT_NAMES_SHARED:
      return quoit_place_check (store->file, error);
    case QUOIT_NAMES_LOG:
      return *is_lost = TRUE;
    case QUOIT_NAMES_SAME:
    default:
      return TRUE;
    }
}

gboolean
quoit_sqlite_mend_names (QuoitStore *store, GError **error)
{
  return leave_lost_log (store, error);
}

/* After a commit, other processes must be able to read what was written. */
gboolean
quoit_sqlite_confirm (QuoitStore *store, GError **error)
{
  g_autoptr (GError) failure = NULL;
  gboolean is_lost;

  if (quoit_sqlite_check_names (store, NULL, &is_lost, &failure) ? !is_lost || leave_lost_log (store, &failure)
                                                                 : failure->code == QUOIT_ERROR_STORE)
    return TRUE;
  return quoit_fail (error, QUOIT_ERROR_UNCONFIRMED,
                     "%s: the change was written, but the files were replaced meanwhile: look, or retry with the same "
                     "request key (%s)",
                     store->path, failure->message);
}

/* --- writes of other programs to the database file --- */

enum { SHORTEST_SAVING_MS = 1000, LONGEST_SAVING_MS = 60000 };

/* Returns whether entry @seq is still stored and has a different link. */
static gboolean
has_other_link (QuoitDb *db, guint64 seq, guint64 chain)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, SQL_JOURNAL_SINCE, NULL);
  gboolean other = FALSE;

  if (stmt == NULL)
    return FALSE;
  sqlite3_bind_int64 (stmt, 1, (gint64) seq);
  if (sqlite3_step (stmt) == SQLITE_ROW && (guint64) sqlite3_column_int64 (stmt, 0) == seq
      && sqlite3_column_bytes (stmt, 7) == QUOIT_CHAIN_BYTES)
    other = quoit_head_chain (sqlite3_column_blob (stmt, 7)) != chain;
  sqlite3_reset (stmt);
  return other;
}

static guint64
state_of (const struct stat *file)
{
  return ((guint64) file->st_mtim.tv_sec * 1000000000u + (guint64) file->st_mtim.tv_nsec) * 31
         + (guint64) file->st_size;
}

static guint64
file_state (const char *path)
{
  struct stat file;

  return stat (path, &file) == 0 ? state_of (&file) : 0;
}

/* Returns the last entry in the database file without its WAL, or -1 if it cannot be read. */
static gint64
last_entry_in_file (const char *path)
{
  g_autofree char *absolute = g_canonicalize_filename (path, NULL);
  g_autofree char *escaped = g_uri_escape_string (absolute, "/", FALSE);
  g_autofree char *uri = g_strconcat ("file:", escaped, "?immutable=1", NULL);
  QuoitDb db = { 0 };
  gint64 seq = -1;

  if (sqlite3_open_v2 (uri, &db.handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL)
      == SQLITE_OK)
    {
      quoit_sqlite_limit (db.handle);
      if (!quoit_sqlite_query_number (&db,
                                      "SELECT max (seq) FROM (SELECT seq FROM journal UNION ALL SELECT seq FROM "
                                      "checkpoint)",
                                      &seq, NULL))
        seq = -1;
    }
  sqlite3_close (db.handle);
  return seq;
}

static gboolean
fail_foreign (const QuoitStore *store, GError **error)
{
  return quoit_fail (error, QUOIT_ERROR_CONFLICT,
                     "%s: another program has written to the file, which lacks changes that its -wal file has: "
                     "'quoit restore BACKUP' puts a backup in place, 'quoit restore %s' keeps the changes",
                     store->path, store->path);
}

/* Returns whether the journal that ends at @seq continues the history that this handle has read. */
static gboolean
goes_on (QuoitDb *db, const QuoitStore *store, guint64 seq, GError **error)
{
  if (seq >= store->fleet->seq && !has_other_link (db, store->fleet->seq, quoit_head_chain (store->chain)))
    return TRUE;
  return quoit_fail (error, QUOIT_ERROR_DAMAGED,
                     "%s: the file ends at entry %" G_GUINT64_FORMAT
                     ", but this handle has read entry %" G_GUINT64_FORMAT
                     ": an older copy was put in its place; 'quoit restore BACKUP' puts a backup in place and keeps "
                     "ids apart",
                     store->path, seq, store->fleet->seq);
}

/* Reads everything on a new connection, because pages in this handle's cache prove nothing. */
static gboolean
examine (QuoitStore *store, QuoitFileWriter writer, GError **error)
{
  QuoitDb reader = { 0 };
  guint64 seq = 0;
  guint8 chain[QUOIT_CHAIN_BYTES];
  gboolean ok = quoit_sqlite_connect (store, &reader, error);

  if (ok)
    sqlite3_busy_timeout (reader.handle, (int) MIN (store->wait_ms, G_MAXINT));
  ok = ok && quoit_db_run (&reader, SQL_BEGIN_READ, error) && quoit_sqlite_check_version (&reader, error)
       && quoit_sqlite_prove (&reader, NULL, error) && quoit_sqlite_read_chain (&reader, &seq, chain, error);
  ok = ok && goes_on (&reader, store, seq, error);
  quoit_db_close (&reader);
  if (!ok && writer == QUOIT_FILE_FOREIGN)
    g_prefix_error (error, "another program has written to the file: ");
  if (ok && writer == QUOIT_FILE_FOREIGN && last_entry_in_file (store->file) < (gint64) seq)
    return fail_foreign (store, error);
  return ok;
}

/* While another quoit process copies its WAL into the file, waits until that process has recorded the new state of
 * the file. */
static QuoitFileWriter
find_writer (QuoitStore *store, guint64 *state)
{
  const gint64 most_ms = CLAMP (store->wait_ms, SHORTEST_SAVING_MS, LONGEST_SAVING_MS);
  gint64 waited_ms = 0;
  QuoitFileWriter writer;

  do
    {
      gboolean is_being_saved = quoit_vfs_is_being_saved (store->db.handle);

      *state = file_state (store->file);
      writer = quoit_head_last_writer (store->file);
      if (writer == QUOIT_FILE_OURS
          || (!is_being_saved && file_state (store->file) == *state && quoit_head_last_writer (store->file) == writer
              && !quoit_vfs_is_being_saved (store->db.handle)))
        return writer;
      g_usleep (1000);
    }
  while (++waited_ms < most_ms);
  return writer;
}

static void
note_file (const QuoitStore *store)
{
  int fd = quoit_place_open (store->file, O_RDONLY, 0);

  if (fd < 0)
    return;
  quoit_head_note_written (store->file, fd);
  close (fd);
}

gboolean
quoit_sqlite_check_file (QuoitStore *store, const struct stat *file, GError **error)
{
  guint64 state = file == NULL ? file_state (store->file) : state_of (file);
  QuoitFileWriter writer;

  if (state == store->file_state)
    return TRUE;
  writer = find_writer (store, &state);
  if (writer != QUOIT_FILE_OURS)
    {
      if (!examine (store, writer, error))
        return FALSE;
      note_file (store);
      store->db.current_version = 0;
    }
  store->file_state = state;
  return TRUE;
}

/* --- the last acknowledged entry --- */

void
quoit_sqlite_note_head (QuoitStore *store, const QuoitFleet *fleet)
{
  QuoitHead head = { .epoch = fleet->epoch,
                     .seq = fleet->seq,
                     .next_group_id = fleet->next_group_id,
                     .chain = quoit_head_chain (store->chain),
                     .up_ms = quoit_head_up_ms (),
                     .unsynced = store->unsynced };

  memcpy (head.identity, store->identity, sizeof head.identity);
  quoit_head_write (store->file, &head);
}

void
quoit_sqlite_accept (QuoitStore *store)
{
  note_file (store);
  store->file_state = file_state (store->file);
  quoit_sqlite_note_head (store, store->fleet);
}

/* The WAL may be saved if it is empty, which changes nothing, or if the file was checked and quoit was its last
 * writer. */
static gboolean
can_save_log (const QuoitStore *store)
{
  g_autofree char *log = g_strconcat (store->file, "-wal", NULL);
  struct stat status;

  return quoit_vfs_check_names (store->db.handle, NULL) == QUOIT_NAMES_SAME
         && ((stat (log, &status) == 0 && status.st_size == 0)
             || (store->file_state != 0 && quoit_head_last_writer (store->file) == QUOIT_FILE_OURS));
}

void
quoit_sqlite_end (QuoitStore *store)
{
  if (store->db.handle != NULL && can_save_log (store))
    sqlite3_db_config (store->db.handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
  quoit_db_close (&store->db);
}

static gboolean
is_behind (const QuoitStore *store, const QuoitHead *head)
{
  return head->epoch > store->fleet->epoch || (head->epoch == store->fleet->epoch && head->seq > store->fleet->seq);
}

gboolean
quoit_sqlite_check_head (QuoitStore *store, GError **error)
{
  QuoitHead head;
  gboolean same_boot;

  if (!quoit_head_read (store->file, store->identity, &head, &same_boot))
    return TRUE;
  /* Another process may have written since this handle read the state. */
  if (is_behind (store, &head) && !store->engine->catch_up (store, error))
    return FALSE;
  if (is_behind (store, &head))
    return quoit_fail (error, QUOIT_ERROR_DAMAGED,
                       "%s: the file ends at entry %" G_GUINT64_FORMAT ", but entry %" G_GUINT64_FORMAT
                       " was acknowledged: an older copy of the file was put here, or its -wal file was deleted; "
                       "'quoit restore BACKUP' puts a backup in place and keeps ids apart ('quoit restore %s' goes on "
                       "with what there is)",
                       store->path, store->fleet->seq, head.seq, store->path);
  if (head.epoch == store->fleet->epoch && has_other_link (&store->db, head.seq, head.chain))
    return quoit_fail (error, QUOIT_ERROR_DAMAGED,
                       "%s: entry %" G_GUINT64_FORMAT
                       " is not the one that was acknowledged: the file is another copy of this ledger; 'quoit restore "
                       "BACKUP' puts a backup in place and keeps ids apart",
                       store->path, head.seq);
  return TRUE;
}

/* --- the clock --- */

#define DAY_MS G_GINT64_CONSTANT (86400000)

/* Returns how much time has certainly passed since the last entry, judging by the uptime of the machine. Without a
 * head file, that is 0. */
static gint64
known_to_have_passed_ms (const QuoitStore *store)
{
  gint64 up_ms = quoit_head_up_ms ();
  gboolean same_boot = FALSE;
  QuoitHead head = { 0 };

  if (store->path != NULL && quoit_head_read (store->file, store->identity, &head, &same_boot) && same_boot)
    return MAX (up_ms - head.up_ms, 0);
  return head.seq != 0 ? up_ms : 0;
}

gboolean
quoit_store_check_jump (const QuoitStore *store, const QuoitFleet *fleet, gint64 now_ms, GError **error)
{
  gint64 most_ms = fleet->max_jump_ms;
  g_autofree char *clock = NULL;

  if (most_ms == 0)
    most_ms = store->path == NULL ? G_MAXINT64 : DAY_MS;
  if (fleet->clock_ms == 0 || now_ms - fleet->clock_ms <= most_ms || now_ms >= QUOIT_LAST_MS)
    return TRUE;
  if (store->path != NULL && now_ms - fleet->clock_ms - most_ms <= known_to_have_passed_ms (store))
    return TRUE;
  clock = quoit_time_format (fleet->clock_ms);
  return quoit_fail (error, QUOIT_ERROR_INVALID,
                     "clock '%" G_GINT64_FORMAT "': %" G_GINT64_FORMAT " s ahead of the last entry (%s), and at most "
                     "%" G_GINT64_FORMAT " s are accepted: check the clock; if it is right, set the ledger's clock "
                     "first ('quoit set-clock')",
                     now_ms, (now_ms - fleet->clock_ms) / 1000, clock, most_ms / 1000);
}

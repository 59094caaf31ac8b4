/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces a ledger with a verified backup, in a new epoch and with ids that no group has had. */
#include <errno.h>
#include <stdio.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sqlite/path.h"
#include "store/sqlite/restore-copy.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/vfs.h"

/* The group ids of a new epoch begin at its time in microseconds. The ids that the replaced ledger issued after the
 * backup are unknown, but it did not issue a million groups per second on average, so that no id is issued twice. The
 * ids are exact in a double until the year 2255. */
enum { IDS_PER_MS = 1000 };
/* How many ids the present ledger may still issue between its inspection and its replacement. */
enum { N_SKIPPED_GROUP_IDS = 1 << 20 };
/* Node ids are internal to the ledger, so no time-based gap is needed. */
enum { N_SKIPPED_NODE_IDS = 1 << 20 };

/* --- copies --- */

static gboolean
exists (const char *path, const char *suffix)
{
  g_autofree char *name = g_strconcat (path, suffix, NULL);

  return g_file_test (name, G_FILE_TEST_EXISTS);
}

/* Opens the database to read it. A backup has no WAL and may be on read-only storage, so it is opened without locks. A
 * ledger that may be in use is opened with quoit's locks. */
static gboolean
open_source (const char *path, sqlite3 **handle, GError **error)
{
  g_autofree char *absolute = g_canonicalize_filename (path, NULL);
  g_autofree char *escaped = g_uri_escape_string (absolute, "/", FALSE);
  g_autofree char *uri = g_strconcat ("file:", escaped, "?immutable=1", NULL);
  gboolean is_idle = !exists (path, "-wal") && !quoit_vfs_is_in_use (path);
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  int result = is_idle ? sqlite3_open_v2 (uri, handle, flags | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL)
                       : sqlite3_open_v2 (absolute, handle, flags | SQLITE_OPEN_READWRITE, quoit_vfs_name ());

  return result == SQLITE_OK || quoit_db_fail_at (&(QuoitDb) { .handle = *handle }, result, path, error);
}

/* Checks that the ledger of @present is still in the epoch that was read, so that two concurrent restores do not begin
 * the same epoch. */
static gboolean
is_same_epoch (const QuoitStore *present, GError **error)
{
  QuoitDb reader = { 0 };
  QuoitIdentity identity = { 0 };
  gboolean ok
      = quoit_sqlite_connect (present, &reader, error) && quoit_sqlite_read_identity (&reader, &identity, error);

  quoit_db_close (&reader);
  return ok
         && (identity.epoch == present->fleet->epoch
             || quoit_fail (error, QUOIT_ERROR_BUSY,
                            "another restore finished first: check the ledger, and restore again if needed"));
}

/* Copies every page of @from to @to in one transaction. @present is the store that owns connection @to, or NULL. If it
 * is not NULL, its epoch is checked once more after the database is locked. */
static gboolean
copy_pages (sqlite3 *from, sqlite3 *to, const QuoitStore *present, GError **error)
{
  enum { STEP_US = 10000, WAIT_US = 5000000 };
  gint64 end_us = present == NULL ? g_get_monotonic_time () + WAIT_US : quoit_store_deadline_us (present);
  sqlite3_backup *backup = sqlite3_backup_init (to, "main", from, "main");
  int result = backup == NULL ? sqlite3_errcode (to) : sqlite3_backup_step (backup, 0);
  gboolean ok = TRUE;

  while (backup != NULL && (result & 0xff) == SQLITE_BUSY && g_get_monotonic_time () < end_us)
    {
      g_usleep (STEP_US);
      result = sqlite3_backup_step (backup, 0);
    }
  ok = result != SQLITE_OK || present == NULL || is_same_epoch (present, error);
  if (ok && result == SQLITE_OK)
    result = sqlite3_backup_step (backup, -1);
  if (backup != NULL)
    {
      int finished = sqlite3_backup_finish (backup);

      result = result == SQLITE_DONE ? finished : result;
    }
  return ok
         && (result == SQLITE_OK || quoit_db_fail (&(QuoitDb) { .handle = to }, result, "copying the backup", error));
}

static gboolean
copy_backup (const char *backup, const char *to, GError **error)
{
  sqlite3 *from = NULL, *copy = NULL;
  gboolean ok = FALSE;

  if (open_source (backup, &from, error))
    {
      if (sqlite3_open_v2 (to, &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        quoit_db_fail_at (&(QuoitDb) { .handle = copy }, sqlite3_errcode (copy), to, error);
      else
        ok = copy_pages (from, copy, NULL, error);
    }
  sqlite3_close (from);
  sqlite3_close (copy);
  return ok;
}

/* --- the replaced ledger --- */

/* The numbers of the replaced ledger, from the ledger itself if it is readable, and from its head file. */
typedef struct {
  guint32 epoch, next_node_id;
  guint64 next_group_id;
} ReplacedLedger;

static ReplacedLedger
read_replaced_ledger (const QuoitStore *backup, const char *path, const QuoitStore *present)
{
  ReplacedLedger replaced = { 0 };
  QuoitHead head = { 0 };
  gboolean same_boot;

  if (present != NULL)
    replaced = (ReplacedLedger) { present->fleet->epoch, present->fleet->next_node_id,
                                  present->fleet->next_group_id + N_SKIPPED_GROUP_IDS };
  /* Ignore a head with numbers that no ledger can reach. */
  if (quoit_head_read (path, backup->identity, &head, &same_boot) && head.epoch < G_MAXINT32
      && head.next_group_id < (guint64) 1 << 62)
    {
      replaced.epoch = MAX (replaced.epoch, head.epoch);
      replaced.next_group_id = MAX (replaced.next_group_id, head.next_group_id);
    }
  return replaced;
}

/* Returns numbers for the restored ledger that neither the backup nor the replaced ledger has used. */
static QuoitLedgerNumbers
next_numbers (const QuoitFleet *backup, const ReplacedLedger *replaced, gint64 now_ms)
{
  guint64 first_id_of_time = (guint64) MAX (now_ms, backup->clock_ms) * IDS_PER_MS + 1;
  guint32 nodes = MAX (backup->next_node_id, replaced->next_node_id);
  QuoitLedgerNumbers numbers = { .epoch = MAX (backup->epoch, replaced->epoch) + 1,
                                 .max_jump_ms = backup->max_jump_ms,
                                 .keep_ms = backup->keep_ms };

  numbers.next_group_id = MAX (MAX (backup->next_group_id, replaced->next_group_id), first_id_of_time);
  numbers.next_node_id = nodes > G_MAXINT32 - N_SKIPPED_NODE_IDS ? nodes : nodes + N_SKIPPED_NODE_IDS;
  return numbers;
}

/* Opens the ledger at @path. Sets *@present to NULL, and does not fail, if it does not exist or is damaged. */
static gboolean
open_present (const char *path, const QuoitStore *backup, gint64 wait_ms, QuoitStore **present, GError **error)
{
  g_autoptr (GError) failure = NULL;

  *present = NULL;
  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    return TRUE;
  if (!quoit_path_check (path, error))
    return FALSE;
  *present = quoit_sqlite_open (path, wait_ms, QUOIT_OPEN_UNCHECKED, &failure);
  if (*present == NULL)
    {
      /* A file that never was a ledger is not replaced. */
      if (failure->code == QUOIT_ERROR_DAMAGED || (failure->code == QUOIT_ERROR_INVALID && exists (path, "-head")))
        return TRUE;
      g_propagate_error (error, g_steal_pointer (&failure));
      return FALSE;
    }
  if (memcmp ((*present)->identity, backup->identity, sizeof backup->identity) == 0)
    return TRUE;
  g_clear_pointer (present, quoit_store_free);
  return quoit_fail_at (
      error, QUOIT_ERROR_CONFLICT, path,
      "the file is another ledger than the backup: name another file with --db, or move this one away");
}

/* --- replacing --- */

static gboolean
read_page_bytes (QuoitDb *db, gint64 *bytes, GError **error)
{
  return quoit_sqlite_query_number (db, "PRAGMA page_size", bytes, error);
}

/* Rewrites the copy with pages of @wanted bytes. The order of its writes does not matter, because the next restore
 * makes another copy. */
static gboolean
set_page_size (const char *copy_path, gint64 wanted, GError **error)
{
  QuoitDb copy = { 0 };
  gint64 bytes = 0;
  int result = sqlite3_open_v2 (copy_path, &copy.handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
  gboolean ok = result == SQLITE_OK || quoit_db_fail_at (&copy, result, copy_path, error);

  if (ok)
    {
      quoit_sqlite_restrict (copy.handle);
      /* VACUUM attaches a temporary database. */
      sqlite3_limit (copy.handle, SQLITE_LIMIT_ATTACHED, 1);
      ok = read_page_bytes (&copy, &bytes, error);
    }
  if (ok && bytes != wanted)
    {
      g_autofree char *sql = g_strdup_printf ("PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF;"
                                              "PRAGMA page_size = %" G_GINT64_FORMAT "; VACUUM",
                                              wanted);

      ok = quoit_db_exec (&copy, sql, error) && read_page_bytes (&copy, &bytes, error)
           && (bytes == wanted
               || quoit_fail_at (error, QUOIT_ERROR_STORE, copy_path,
                                 "the copy keeps pages of %" G_GINT64_FORMAT " bytes: expected %" G_GINT64_FORMAT,
                                 bytes, wanted));
    }
  sqlite3_close (copy.handle);
  return ok;
}

/* Copies the pages through SQLite in one transaction, so that open handles notice the restore. */
static gboolean
replace_pages (QuoitStore *present, const char *from, GError **error)
{
  sqlite3 *source = NULL;
  gint64 page_bytes = 0;
  gboolean ok = quoit_store_lock_writer (present, error);

  if (!ok)
    return FALSE;
  /* Without a WAL, the epoch could not be read while the database is locked for the copy. With a WAL, SQLite copies
   * only pages of the same size. */
  ok = quoit_sqlite_return_to_wal (&present->db, error) && read_page_bytes (&present->db, &page_bytes, error)
       && set_page_size (from, page_bytes, error) && open_source (from, &source, error)
       && copy_pages (source, present->db.handle, present, error);
  sqlite3_close (source);
  if (ok)
    ok = quoit_sqlite_confirm_commit (present, error);
  quoit_store_unlock_writer (present);
  return ok;
}

/* Unreadable files are renamed, and never deleted. */
static gboolean
move_aside (const char *path, GError **error)
{
  static const char *const suffixes[] = { "-wal", "-shm", "-journal", "" };
  g_autofree char *new_name = NULL;

  if (quoit_vfs_is_in_use (path))
    return quoit_fail_at (error, QUOIT_ERROR_BUSY, path,
                          "a process has it open, and it cannot be read: end that process first");
  for (guint i = 1; new_name == NULL || exists (new_name, "") || exists (new_name, "-wal"); i++)
    {
      g_free (new_name);
      new_name = g_strdup_printf ("%s.replaced-%u", path, i);
    }
  for (gsize i = 0; i < G_N_ELEMENTS (suffixes); i++)
    {
      g_autofree char *old = g_strconcat (path, suffixes[i], NULL), *new = g_strconcat (new_name, suffixes[i], NULL);

      if (rename (old, new) != 0 && errno != ENOENT)
        return quoit_fail_at (error, QUOIT_ERROR_STORE, old, "moving it to %s: %s", new, g_strerror (errno));
    }
  return TRUE;
}

static gboolean
replace_file (const char *path, const char *from, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  int fd;

  /* Needed even without a database file: a WAL that is left would be applied to the restored file. */
  if (!move_aside (path, error))
    return FALSE;
  if (rename (from, path) != 0)
    return quoit_fail_at (error, QUOIT_ERROR_STORE, path, "%s", g_strerror (errno));
  fd = quoit_path_open (folder, O_RDONLY | O_DIRECTORY, 0);
  if (fd >= 0)
    {
      (void) fsync (fd);
      close (fd);
    }
  return TRUE;
}

/* Verifies @copy, and begins the next epoch of its ledger in it. */
static gboolean
begin_next_epoch (QuoitStore *copy, const ReplacedLedger *replaced, gint64 now_ms, GError **error)
{
  QuoitLedgerNumbers numbers = next_numbers (copy->fleet, replaced, now_ms);

  return quoit_store_verify (copy, error)
         && quoit_store_change (copy, &(QuoitAction) { QUOIT_ACTION_RESTORE, .numbers = numbers }, now_ms, NULL, NULL,
                                error);
}

/* Copies the WAL of @copy into its database file, which must be complete before it is renamed. */
static gboolean
checkpoint_copy (QuoitStore *copy, GError **error)
{
  int result = sqlite3_wal_checkpoint_v2 (copy->db.handle, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);

  return result == SQLITE_OK || quoit_db_fail (&copy->db, result, "saving the copy", error);
}

/* Checks that the restored ledger is the one that was prepared. */
static gboolean
check_restored (const QuoitStore *restored, guint32 epoch, guint64 seq, GError **error)
{
  return (restored->fleet->epoch == epoch && restored->fleet->seq >= seq)
         || quoit_fail_at (error, QUOIT_ERROR_DAMAGED, restored->path,
                           "the ledger is not what the backup contains: restore it once more");
}

static gboolean
restore_copy (const char *path, const char *copy_path, gint64 wait_ms, const char *actor, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitStore) copy = quoit_sqlite_open (copy_path, 0, QUOIT_OPEN_UNCHECKED, error), present = NULL,
                         restored = NULL;

  ReplacedLedger replaced;
  guint32 epoch;
  guint64 seq;

  if (copy == NULL || !quoit_sqlite_return_to_wal (&copy->db, error)
      || !open_present (path, copy, wait_ms, &present, error))
    return FALSE;
  quoit_store_set_actor (copy, actor);
  replaced = read_replaced_ledger (copy, path, present);
  if (!begin_next_epoch (copy, &replaced, now_ms, error) || !checkpoint_copy (copy, error))
    return FALSE;
  epoch = copy->fleet->epoch;
  seq = copy->fleet->seq;
  g_clear_pointer (&copy, quoit_store_free);
  if (present == NULL ? !replace_file (path, copy_path, error) : !replace_pages (present, copy_path, error))
    return FALSE;
  g_clear_pointer (&present, quoit_store_free);
  restored = quoit_sqlite_open (path, wait_ms, QUOIT_OPEN_UNCHECKED, error);
  if (restored == NULL || !check_restored (restored, epoch, seq, error))
    return error == NULL ? FALSE : ((*error)->code = QUOIT_ERROR_UNCONFIRMED, FALSE);
  quoit_sqlite_record_state (restored);
  return TRUE;
}

static gboolean
is_same_name (const char *file, const char *other)
{
  g_autofree char *real = quoit_path_dup_real (other);

  return strcmp (file, real) == 0;
}

/* Continues the ledger at @path in a new epoch, without a copy. Concurrent changes of other processes are kept. */
static gboolean
restore_in_place (const char *path, gint64 wait_ms, const char *actor, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitStore) store = quoit_sqlite_open (path, wait_ms, QUOIT_OPEN_UNCHECKED, error);
  QuoitLedgerNumbers numbers;
  ReplacedLedger replaced;

  if (store == NULL || !quoit_path_check (path, error))
    return FALSE;
  quoit_store_set_actor (store, actor);
  if (!quoit_store_verify (store, error) || !quoit_sqlite_return_to_wal (&store->db, error))
    return FALSE;
  replaced = read_replaced_ledger (store, path, store);
  numbers = next_numbers (store->fleet, &replaced, now_ms);
  quoit_sqlite_record_state (store);
  return quoit_store_change (store, &(QuoitAction) { QUOIT_ACTION_RESTORE, .numbers = numbers }, now_ms, NULL, NULL,
                             error);
}

/* @path is the name of @file in messages. */
static gboolean
restore_from (const char *file, const char *path, const char *backup, gint64 wait_ms, const char *actor, gint64 now_ms,
              GError **error)
{
  g_auto (QuoitRestoreCopy) copy = { NULL, -1 };
  gboolean is_copied;

  if (!quoit_restore_copy_new (file, &copy, error))
    return FALSE;
  is_copied = copy_backup (backup, copy.path, error);
  if (is_copied && restore_copy (file, copy.path, wait_ms, actor, now_ms, error))
    return TRUE;
  quoit_error_add_path (error, is_copied ? path : backup);
  return FALSE;
}

static gboolean
fail_own_batch (const char *path, GError **error)
{
  return quoit_fail_at (error, QUOIT_ERROR_BUSY, path,
                        "a batch of this process has the ledger locked: commit or cancel it, and restore again");
}

static gboolean
restore (const char *file, const char *path, const char *backup, gint64 wait_ms, const char *actor, gint64 now_ms,
         GError **error)
{
  if (!is_same_name (file, backup))
    return restore_from (file, path, backup, wait_ms, actor, now_ms, error);
  if (restore_in_place (file, wait_ms, actor, now_ms, error))
    return TRUE;
  quoit_error_add_path (error, path);
  return FALSE;
}

gboolean
quoit_sqlite_restore (const char *path, const char *backup, gint64 wait_ms, const char *actor, gint64 now_ms,
                      GError **error)
{
  g_autofree char *file = quoit_path_dup_real (path), *backup_file = quoit_path_dup_real (backup);
  g_autoptr (GError) failure = NULL;

  if (!g_file_test (backup, G_FILE_TEST_IS_REGULAR))
    return quoit_fail_at (error, QUOIT_ERROR_NOT_FOUND, backup, "no such backup");
  /* A batch of this thread cannot end while the thread waits for it. */
  if (quoit_store_is_in_batch (file, g_thread_self ()))
    return fail_own_batch (path, error);
  quoit_restore_copy_delete_leftovers (file, backup_file);
  if (restore (file, path, backup, MAX (wait_ms, 0), actor, now_ms, &failure))
    return TRUE;
  if (failure->code == QUOIT_ERROR_BUSY && quoit_store_is_in_batch (file, NULL))
    return fail_own_batch (path, error);
  g_propagate_error (error, g_steal_pointer (&failure));
  return FALSE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces a ledger with a verified backup, in a new epoch and with ids that no group has had. */
#include <errno.h>
#include <stdio.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/place.h"
#include "store/store-private.h"
#include "store/vfs.h"

/* Group ids of a new epoch begin at its time in microseconds. The ids that the lost ledger issued after the backup
 * are unknown, but it did not issue a million groups per second on average. The numbers are exact in a double until
 * the year 2255. */
enum { IDS_PER_MS = 1000 };
/* Ids that the present ledger may still issue between its inspection and its replacement. */
enum { GROUPS_SKIPPED = 1 << 20 };
/* Node ids are internal to the ledger, so no time-based gap is needed. */
enum { NODES_SKIPPED = 1 << 20 };

/* --- copies --- */

static gboolean
exists (const char *path, const char *tail)
{
  g_autofree char *name = g_strconcat (path, tail, NULL);

  return g_file_test (name, G_FILE_TEST_EXISTS);
}

/* A backup has no WAL, and may be on read-only storage. A ledger in use is read with all locks. */
static gboolean
open_source (const char *path, sqlite3 **handle, GError **error)
{
  g_autofree char *absolute = g_canonicalize_filename (path, NULL);
  g_autofree char *escaped = g_uri_escape_string (absolute, "/", FALSE);
  g_autofree char *uri = g_strconcat ("file:", escaped, "?immutable=1", NULL);
  gboolean is_still = !exists (path, "-wal") && !quoit_vfs_is_in_use (path);
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  int result = is_still ? sqlite3_open_v2 (uri, handle, flags | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL)
                        : sqlite3_open_v2 (absolute, handle, flags | SQLITE_OPEN_READWRITE, quoit_vfs_name ());

  return result == SQLITE_OK || quoit_db_fail (&(QuoitDb) { .handle = *handle }, result, path, error);
}

/* Checks that @present is still in the epoch that was read, so that two concurrent restores do not begin the same
 * epoch. */
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
                            "another restore was quicker: look, and restore again if need be"));
}

/* Copies every page of @from to @to in one transaction. @present is the store of connection @to, or NULL. Its epoch
 * is checked once more after the database is locked. */
static gboolean
copy_pages (sqlite3 *from, sqlite3 *to, const QuoitStore *present, GError **error)
{
  enum { STEP_US = 10000, WAIT_US = 5000000 };
  gint64 end_us = present == NULL ? g_get_monotonic_time () + WAIT_US : quoit_store_end_us (present);
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
        quoit_db_fail (&(QuoitDb) { .handle = copy }, sqlite3_errcode (copy), to, error);
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
} Replaced;

static Replaced
replaced_by (const QuoitStore *backup, const char *path, const QuoitStore *present)
{
  Replaced replaced = { 0 };
  QuoitHead head = { 0 };
  gboolean same_boot;

  if (present != NULL)
    replaced = (Replaced) { present->fleet->epoch, present->fleet->next_node_id,
                            present->fleet->next_group_id + GROUPS_SKIPPED };
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
next_numbers (const QuoitFleet *backup, const Replaced *replaced, gint64 now_ms)
{
  guint64 of_time = (guint64) MAX (now_ms, backup->clock_ms) * IDS_PER_MS + 1;
  guint32 nodes = MAX (backup->next_node_id, replaced->next_node_id);
  QuoitLedgerNumbers numbers
      = { .epoch = MAX (backup->epoch, replaced->epoch) + 1, .max_jump_ms = backup->max_jump_ms };

  numbers.next_group_id = MAX (MAX (backup->next_group_id, replaced->next_group_id), of_time);
  numbers.next_node_id = nodes > G_MAXINT32 - NODES_SKIPPED ? nodes : nodes + NODES_SKIPPED;
  return numbers;
}

/* Opens the ledger at @path. *@present is NULL without an error if it does not exist or is damaged. */
static gboolean
open_present (const char *path, const QuoitStore *backup, gint64 wait_ms, QuoitStore **present, GError **error)
{
  g_autoptr (GError) failure = NULL;

  *present = NULL;
  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    return TRUE;
  if (!quoit_place_check (path, error))
    return FALSE;
  *present = quoit_sqlite_open (path, wait_ms, QUOIT_OPEN_AS_IT_IS, &failure);
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
  return quoit_fail (
      error, QUOIT_ERROR_CONFLICT,
      "%s: another ledger than the one of the backup: name another file with --db, or move this one away", path);
}

/* --- replacing --- */

/* Copies the pages through SQLite in one transaction, so that open handles notice the restore. */
static gboolean
replace_pages (QuoitStore *present, const char *from, GError **error)
{
  sqlite3 *source = NULL;
  gboolean ok = quoit_store_take_turn (present, error);

  if (!ok)
    return FALSE;
  ok = open_source (from, &source, error) && copy_pages (source, present->db.handle, present, error);
  sqlite3_close (source);
  if (ok)
    ok = quoit_sqlite_confirm (present, error);
  quoit_store_leave_turn (present);
  return ok;
}

/* Unreadable files are renamed, and never deleted. */
static gboolean
move_aside (const char *path, GError **error)
{
  static const char *const tails[] = { "-wal", "-shm", "-journal", "" };
  g_autofree char *aside = NULL;

  if (quoit_vfs_is_in_use (path))
    return quoit_fail (error, QUOIT_ERROR_BUSY,
                       "%s: a process has it open, and it cannot be read: end that process first", path);
  for (guint i = 1; aside == NULL || exists (aside, "") || exists (aside, "-wal"); i++)
    {
      g_free (aside);
      aside = g_strdup_printf ("%s.replaced-%u", path, i);
    }
  for (gsize i = 0; i < G_N_ELEMENTS (tails); i++)
    {
      g_autofree char *old = g_strconcat (path, tails[i], NULL), *new = g_strconcat (aside, tails[i], NULL);

      if (rename (old, new) != 0 && errno != ENOENT)
        return quoit_fail (error, QUOIT_ERROR_STORE, "%s: moving it to %s: %s", old, new, g_strerror (errno));
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
    return quoit_fail (error, QUOIT_ERROR_STORE, "%s: %s", path, g_strerror (errno));
  fd = quoit_place_open (folder, O_RDONLY | O_DIRECTORY, 0);
  if (fd >= 0)
    {
      (void) fsync (fd);
      close (fd);
    }
  return TRUE;
}

/* Verifies @copy and makes it the next epoch of its ledger. */
static gboolean
prepare (QuoitStore *copy, const Replaced *replaced, gint64 now_ms, GError **error)
{
  QuoitLedgerNumbers numbers = next_numbers (copy->fleet, replaced, now_ms);

  return quoit_store_verify (copy, error)
         && quoit_store_change (copy, &(QuoitAction) { QUOIT_ACTION_RESTORE, .numbers = numbers }, now_ms, NULL, NULL,
                                error);
}

/* The copy must be complete in its database file before that file is renamed. */
static gboolean
save_whole (QuoitStore *copy, GError **error)
{
  int result = sqlite3_wal_checkpoint_v2 (copy->db.handle, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);

  return result == SQLITE_OK || quoit_db_fail (&copy->db, result, "saving the copy", error);
}

/* Checks that the restored ledger is the one that was prepared. */
static gboolean
check_restored (const QuoitStore *restored, guint32 epoch, guint64 seq, GError **error)
{
  return (restored->fleet->epoch == epoch && restored->fleet->seq >= seq)
         || quoit_fail (error, QUOIT_ERROR_DAMAGED, "%s: is not what the backup contains: restore it once more",
                        restored->path);
}

static gboolean
restore_copy (const char *path, const char *copy_path, gint64 wait_ms, const char *actor, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitStore) copy = quoit_sqlite_open (copy_path, 0, QUOIT_OPEN_AS_IT_IS, error), present = NULL,
                         restored = NULL;

  Replaced replaced;
  guint32 epoch;
  guint64 seq;

  if (copy == NULL || !open_present (path, copy, wait_ms, &present, error))
    return FALSE;
  quoit_store_set_actor (copy, actor);
  replaced = replaced_by (copy, path, present);
  if (!prepare (copy, &replaced, now_ms, error) || !save_whole (copy, error))
    return FALSE;
  epoch = copy->fleet->epoch;
  seq = copy->fleet->seq;
  g_clear_pointer (&copy, quoit_store_free);
  if (present == NULL ? !replace_file (path, copy_path, error) : !replace_pages (present, copy_path, error))
    return FALSE;
  g_clear_pointer (&present, quoit_store_free);
  restored = quoit_sqlite_open (path, wait_ms, QUOIT_OPEN_AS_IT_IS, error);
  if (restored == NULL || !check_restored (restored, epoch, seq, error))
    return error == NULL ? FALSE : ((*error)->code = QUOIT_ERROR_UNCONFIRMED, FALSE);
  quoit_sqlite_accept (restored);
  return TRUE;
}

static gboolean
is_same_name (const char *file, const char *other)
{
  g_autofree char *real = quoit_place_dup_real (other);

  return strcmp (file, real) == 0;
}

/* Continues the ledger at @path in a new epoch, without a copy. Concurrent changes of other processes are kept. */
static gboolean
restore_in_place (const char *path, gint64 wait_ms, const char *actor, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitStore) store = quoit_sqlite_open (path, wait_ms, QUOIT_OPEN_AS_IT_IS, error);
  QuoitLedgerNumbers numbers;
  Replaced replaced;

  if (store == NULL || !quoit_place_check (path, error))
    return FALSE;
  quoit_store_set_actor (store, actor);
  if (!quoit_store_verify (store, error))
    return FALSE;
  replaced = replaced_by (store, path, store);
  numbers = next_numbers (store->fleet, &replaced, now_ms);
  quoit_sqlite_accept (store);
  return quoit_store_change (store, &(QuoitAction) { QUOIT_ACTION_RESTORE, .numbers = numbers }, now_ms, NULL, NULL,
                             error);
}

gboolean
quoit_store_restore (const char *path, const char *backup, gint64 wait_ms, const char *actor, gint64 now_ms,
                     GError **error)
{
  g_autofree char *file = quoit_place_dup_real (path), *copy = g_strconcat (file, "-restore-XXXXXX", NULL);
  gboolean ok;
  int fd;

  if (!g_file_test (backup, G_FILE_TEST_IS_REGULAR))
    return quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "%s: no such backup", backup);
  if (is_same_name (file, backup))
    {
      ok = restore_in_place (file, MAX (wait_ms, 0), actor, now_ms, error);
      if (!ok)
        quoit_store_say_path (path, error);
      return ok;
    }
  /* A unique name, because other files next to the database belong to the user. */
  fd = g_mkstemp_full (copy, O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0)
    return quoit_fail (error, QUOIT_ERROR_STORE, "%s: %s", copy, g_strerror (errno));
  close (fd);
  ok = copy_backup (backup, copy, error);
  if (!ok)
    quoit_store_say_path (backup, error);
  else if (!restore_copy (file, copy, MAX (wait_ms, 0), actor, now_ms, error))
    {
      quoit_store_say_path (path, error);
      ok = FALSE;
    }
  quoit_store_remove_file (copy);
  return ok;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the saved state with a replay of the journal, and copies a database to a backup. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sqlite/path.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/vfs.h"

/* Returns SQLite's code of an error that kept the integrity check from reading a page, or SQLITE_OK. SQLite states it
 * only in the text of the finding. */
static int
error_in_finding (const char *finding)
{
  const char *code = strstr (finding, "error code=");
  int number = code == NULL ? SQLITE_OK : (int) (g_ascii_strtoull (code + strlen ("error code="), NULL, 10) & 0xffff);

  return (number & 0xff) == SQLITE_CORRUPT || (number & 0xff) == SQLITE_NOTADB ? SQLITE_OK : number;
}

static gboolean
check_pages (QuoitDb *db, GError **error)
{
  sqlite3_stmt *stmt = NULL;
  int result = sqlite3_prepare_v2 (db->handle, "PRAGMA integrity_check(1)", -1, &stmt, NULL);
  gboolean ok;

  if (result == SQLITE_OK)
    result = sqlite3_step (stmt);
  if (result == SQLITE_ROW && error_in_finding (quoit_db_text (stmt, 0)) != SQLITE_OK)
    result = error_in_finding (quoit_db_text (stmt, 0));
  if (result != SQLITE_ROW)
    ok = quoit_db_fail (db, result, "checking the file", error);
  else
    ok = strcmp (quoit_db_text (stmt, 0), "ok") == 0
         || quoit_fail (error, QUOIT_ERROR_DAMAGED, "SQLite finds the file damaged: %s; restore a backup",
                        quoit_db_text (stmt, 0));
  sqlite3_finalize (stmt);
  return ok;
}

gboolean
quoit_sqlite_check_replay (QuoitDb *db, QuoitFleet **saved, GError **error)
{
  g_autoptr (QuoitFleet) loaded = NULL, replayed = NULL;

  if (!check_pages (db, error) || (loaded = quoit_sqlite_load (db, error)) == NULL
      || (replayed = quoit_sqlite_replay (db, G_MAXUINT64, NULL, error)) == NULL
      || !quoit_store_check_equal (replayed, loaded, error))
    return FALSE;
  if (saved != NULL)
    *saved = g_steal_pointer (&loaded);
  return TRUE;
}

gboolean
quoit_sqlite_verify (QuoitStore *store, GError **error)
{
  g_autoptr (QuoitFleet) saved = NULL;
  QuoitDb reader = { 0 };
  gboolean ok;

  /* A new connection, because this handle's cache may contain pages that are no longer in the file. It runs in one read
   * transaction, so that other processes can write. */
  ok = quoit_sqlite_check_handle (store, error) && quoit_sqlite_check_file (store, NULL, error)
       && quoit_sqlite_connect (store, &reader, error) && quoit_sqlite_begin_reader (store, &reader, error)
       && quoit_sqlite_check_replay (&reader, &saved, error);
  quoit_db_close (&reader);
  if (!ok)
    return FALSE;
  /* Also compares the fleet in memory, if it is at the same entry. */
  return store->fleet->seq != saved->seq || quoit_store_check_equal (store->fleet, saved, error);
}

/* --- backup --- */

static gboolean
copy_pages (QuoitStore *store, const char *path, GError **error)
{
  QuoitDb copy = { 0 };
  sqlite3_backup *backup;
  g_autofree char *file = g_path_is_absolute (path) ? g_strdup (path) : g_build_filename (".", path, NULL);
  int result = sqlite3_open_v2 (file, &copy.handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);

  if (result == SQLITE_OK)
    {
      backup = sqlite3_backup_init (copy.handle, "main", store->db.handle, "main");
      result = backup == NULL ? sqlite3_errcode (copy.handle) : sqlite3_backup_step (backup, -1);
      if (backup != NULL)
        {
          int finished = sqlite3_backup_finish (backup);

          result = result == SQLITE_DONE ? finished : result;
        }
    }
  if (result != SQLITE_OK)
    quoit_db_fail_at (&copy, result, path, error);
  sqlite3_close (copy.handle);
  return result == SQLITE_OK;
}

static gboolean
make_copy (QuoitStore *store, const char *path, GError **error)
{
  struct stat status;
  gboolean exists = lstat (path, &status) == 0;
  int fd;

  if (!exists && !quoit_path_check_new (path, error))
    return FALSE;
  fd = exists ? -1 : quoit_path_open (path, O_CREAT | O_EXCL | O_RDWR, 0600);
  if (exists || (fd < 0 && errno == EEXIST))
    return quoit_fail_at (error, QUOIT_ERROR_CONFLICT, path, "the path exists already: a backup overwrites nothing");
  if (fd < 0)
    return quoit_fail_at (error, QUOIT_ERROR_STORE, path, "%s", g_strerror (errno));
  close (fd);
  if (copy_pages (store, path, error))
    return TRUE;
  quoit_store_remove_file (path);
  return FALSE;
}

gboolean
quoit_sqlite_copy (QuoitStore *store, const char *path, GError **error)
{
  gboolean ok;

  if (!quoit_store_lock_writer (store, error))
    return FALSE;
  ok = quoit_sqlite_check_handle (store, error) && make_copy (store, path, error);
  /* If the names were lost during the copy, it may be a mixture of two states. */
  if (ok && quoit_vfs_check_names (store->db.handle, NULL) == QUOIT_NAMES_LOG_REPLACED)
    {
      quoit_store_remove_file (path);
      ok = quoit_sqlite_check_handle (store, error) && make_copy (store, path, error);
    }
  quoit_store_unlock_writer (store);
  return ok;
}

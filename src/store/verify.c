/* SPDX-License-Identifier: Apache-2.0 */
/* Replays the journal from its beginning or from the checkpoint, and compares the result with the saved state. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/place.h"
#include "store/store-private.h"

static gboolean
check_pages (QuoitDb *db, GError **error)
{
  sqlite3_stmt *stmt = NULL;
  int result = sqlite3_prepare_v2 (db->handle, "PRAGMA integrity_check(1)", -1, &stmt, NULL);
  gboolean ok;

  if (result == SQLITE_OK)
    result = sqlite3_step (stmt);
  if (result != SQLITE_ROW)
    ok = quoit_db_fail (db, result, "checking the file", error);
  else
    ok = strcmp (quoit_db_text (stmt, 0), "ok") == 0
         || quoit_fail (error, QUOIT_ERROR_DAMAGED, "SQLite finds the file damaged: %s; restore a backup",
                        quoit_db_text (stmt, 0));
  sqlite3_finalize (stmt);
  return ok;
}

static gboolean
same (const QuoitFleet *replayed, const QuoitFleet *kept, GError **error)
{
  return quoit_step_compare (replayed, kept, error) && quoit_fleet_check (replayed, error)
         && quoit_fleet_check (kept, error);
}

gboolean
quoit_sqlite_prove (QuoitDb *db, QuoitFleet **kept, GError **error)
{
  g_autoptr (QuoitFleet) state = NULL, replayed = NULL;

  if (!check_pages (db, error) || (state = quoit_sqlite_load (db, error)) == NULL
      || (replayed = quoit_sqlite_replay (db, G_MAXUINT64, NULL, error)) == NULL || !same (replayed, state, error))
    return FALSE;
  if (kept != NULL)
    *kept = g_steal_pointer (&state);
  return TRUE;
}

static gboolean
verify_sqlite (QuoitStore *store, GError **error)
{
  g_autoptr (QuoitFleet) kept = NULL;
  gboolean ok;

  /* Runs in one read transaction, so that other processes can write. */
  if (!quoit_sqlite_check_handle (store, error) || !quoit_db_run (&store->db, SQL_BEGIN_READ, error))
    return FALSE;
  ok = quoit_sqlite_check_version (&store->db, error) && quoit_sqlite_prove (&store->db, &kept, error);
  quoit_db_end (&store->db, NULL);
  if (!ok)
    return FALSE;
  /* Also compares the fleet in memory, if it is at the same entry. */
  return store->fleet->seq != kept->seq || same (store->fleet, kept, error);
}

static gboolean
verify_memory (QuoitStore *store, GError **error)
{
  g_autoptr (QuoitFleet) replayed = quoit_memory_replay (store, G_MAXUINT64, error);

  return replayed != NULL && same (replayed, store->fleet, error);
}

gboolean
quoit_store_verify (QuoitStore *store, GError **error)
{
  gboolean ok;

  if (!quoit_store_take_turn (store, error))
    return FALSE;
  ok = store->path == NULL ? verify_memory (store, error) : verify_sqlite (store, error);
  quoit_store_leave_turn (store);
  if (!ok)
    g_prefix_error (error, "verify: ");
  return ok;
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
    quoit_db_fail (&copy, result, path, error);
  sqlite3_close (copy.handle);
  return result == SQLITE_OK;
}

static gboolean
make_copy (QuoitStore *store, const char *path, GError **error)
{
  struct stat status;
  gboolean is_there = lstat (path, &status) == 0;
  int fd;

  if (!is_there && !quoit_place_check_new (path, error))
    return FALSE;
  fd = is_there ? -1 : quoit_place_open (path, O_CREAT | O_EXCL | O_RDWR, 0600);
  if (is_there || (fd < 0 && errno == EEXIST))
    return quoit_fail (error, QUOIT_ERROR_CONFLICT, "%s: there is something already: a backup overwrites nothing",
                       path);
  if (fd < 0)
    return quoit_fail (error, QUOIT_ERROR_STORE, "%s: %s", path, g_strerror (errno));
  close (fd);
  if (copy_pages (store, path, error))
    return TRUE;
  quoit_store_remove_file (path);
  return FALSE;
}

gboolean
quoit_store_backup (QuoitStore *store, const char *path, GError **error)
{
  gboolean ok;

  if (!quoit_store_refuse_child (store, error))
    return FALSE;
  if (store->path == NULL)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "a ledger in memory has no database to copy");
  if (!quoit_store_take_turn (store, error))
    return FALSE;
  ok = quoit_sqlite_check_handle (store, error) && make_copy (store, path, error);
  quoit_store_leave_turn (store);
  return ok;
}

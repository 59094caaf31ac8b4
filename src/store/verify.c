/* SPDX-License-Identifier: Apache-2.0 */
/* The journal read again, from nothing, and compared with the state that is kept. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "store/codec.h"
#include "store/store-private.h"

static QuoitFleet *
nothing (void)
{
  g_autoptr (QuoitLayout) layout = quoit_layout_new (NULL, 0);

  return quoit_fleet_new (layout);
}

/* Entry by entry: the history may be larger than memory. */
static QuoitFleet *
replay (QuoitDb *db, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, SQL_JOURNAL_SINCE, error);
  g_autoptr (QuoitFleet) fleet = nothing ();
  gboolean ok = TRUE;
  int result = SQLITE_DONE;

  if (stmt == NULL)
    return NULL;
  sqlite3_bind_int64 (stmt, 1, 0);
  while (ok && (result = sqlite3_step (stmt)) == SQLITE_ROW)
    {
      g_autoptr (QuoitEntry) entry
          = quoit_codec_decode ((guint64) sqlite3_column_int64 (stmt, 0), sqlite3_column_int64 (stmt, 1),
                                (QuoitVerb) sqlite3_column_int (stmt, 2), quoit_db_text (stmt, 3),
                                sqlite3_column_blob (stmt, 6), (gsize) sqlite3_column_bytes (stmt, 6), error);

      ok = entry != NULL && quoit_entry_apply (entry, &fleet, error);
      if (ok
          && ((guint64) sqlite3_column_int64 (stmt, 4) != fleet->next_group_id
              || sqlite3_column_int64 (stmt, 5) != fleet->next_node_id))
        ok = quoit_fail (error, QUOIT_ERROR_DAMAGED,
                         "journal entry %" G_GUINT64_FORMAT " has other counters than its effects", fleet->seq);
    }
  if (ok && result != SQLITE_DONE)
    ok = quoit_db_fail (db, result, "reading the journal", error);
  sqlite3_reset (stmt);
  return ok ? g_steal_pointer (&fleet) : NULL;
}

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
  return quoit_ledger_compare (replayed, kept, error) && quoit_fleet_check (replayed, error)
         && quoit_fleet_check (kept, error);
}

static gboolean
verify_sqlite (QuoitStore *store, GError **error)
{
  g_autoptr (QuoitFleet) kept = NULL, replayed = NULL;
  gboolean ok;

  /* One read transaction: others may write meanwhile. */
  if (!quoit_db_run (&store->db, SQL_BEGIN_READ, error))
    return FALSE;
  ok = quoit_sqlite_check_version (&store->db, error) && check_pages (&store->db, error)
       && (kept = quoit_sqlite_load (&store->db, error)) != NULL && (replayed = replay (&store->db, error)) != NULL
       && same (replayed, kept, error);
  quoit_db_end (&store->db, NULL);
  if (!ok)
    return FALSE;
  /* And what this handle believes, where it is at the same entry. */
  return store->fleet->seq != kept->seq || same (store->fleet, kept, error);
}

static gboolean
verify_memory (QuoitStore *store, GError **error)
{
  g_autoptr (QuoitFleet) replayed = nothing ();

  for (guint i = 0; i < store->entries->len; i++)
    if (!quoit_entry_apply (store->entries->pdata[i], &replayed, error))
      return FALSE;
  return same (replayed, store->fleet, error);
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

GPtrArray *
quoit_store_entries (QuoitStore *store, guint64 seq, GError **error)
{
  GPtrArray *entries = NULL;

  if (!quoit_store_take_turn (store, error))
    return NULL;
  if (store->path != NULL)
    {
      entries = quoit_sqlite_entries (&store->db, seq, error);
      /* No further than the handle knows: those are another change's to read, and may speak of nodes unknown here. */
      while (entries != NULL && entries->len > 0
             && ((const QuoitEntry *) entries->pdata[entries->len - 1])->seq > store->fleet->seq)
        g_ptr_array_set_size (entries, (gint) entries->len - 1);
    }
  else
    {
      entries = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_entry_unref);
      for (guint64 i = seq; i < store->entries->len; i++)
        g_ptr_array_add (entries, quoit_entry_ref (store->entries->pdata[i]));
    }
  quoit_store_leave_turn (store);
  return entries;
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

gboolean
quoit_store_backup (QuoitStore *store, const char *path, GError **error)
{
  gboolean ok;
  int fd;

  if (store->path == NULL)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "a ledger in memory has no database to copy");
  if (!quoit_store_take_turn (store, error))
    return FALSE;
  fd = open (path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0)
    {
      quoit_fail (error, errno == EEXIST ? QUOIT_ERROR_CONFLICT : QUOIT_ERROR_STORE, "%s: %s", path,
                  errno == EEXIST ? "there is something already: a backup overwrites nothing" : g_strerror (errno));
      quoit_store_leave_turn (store);
      return FALSE;
    }
  close (fd);
  ok = copy_pages (store, path, error);
  if (!ok)
    quoit_store_remove_file (path);
  quoit_store_leave_turn (store);
  return ok;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Making and opening a database, and refusing what is not a sound one of ours. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "store/store-private.h"

#ifndef CIFS_SUPER_MAGIC
#define CIFS_SUPER_MAGIC 0xff534d42
#endif
#ifndef SMB2_SUPER_MAGIC
#define SMB2_SUPER_MAGIC 0xfe534d42
#endif

/* Waiting for another process's lock, in small steps that are added up: no clock is needed. */
static int
wait_for_lock (void *data, int tries)
{
  static const gint64 steps_ms[] = { 1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100 };
  QuoitStore *store = data;
  gint64 waited_ms = 0, step_ms = 0;

  for (int i = 0; i <= tries; i++)
    {
      waited_ms += step_ms;
      step_ms = steps_ms[MIN ((gsize) i, G_N_ELEMENTS (steps_ms) - 1)];
    }
  if (waited_ms >= store->lock_wait_ms || g_atomic_int_get (&store->interrupts) != (gint) store->waits_from)
    return 0;
  g_usleep ((gulong) MIN (step_ms, store->lock_wait_ms - waited_ms) * 1000);
  return 1;
}

static gboolean
refuse_network (const char *path, GError **error)
{
  struct statfs fs;

  if (statfs (path, &fs) != 0)
    return TRUE;
  switch ((guint32) fs.f_type)
    {
    case NFS_SUPER_MAGIC:
    case SMB_SUPER_MAGIC:
    case CIFS_SUPER_MAGIC:
    case SMB2_SUPER_MAGIC:
      return quoit_fail (error, QUOIT_ERROR_STORE,
                         "%s: on a network file system, where locks are not safe: use a local disk", path);
    default:
      return TRUE;
    }
}

static gboolean
query_number (QuoitDb *db, const char *sql, gint64 *number, GError **error)
{
  sqlite3_stmt *stmt = NULL;
  int result = sqlite3_prepare_v2 (db->handle, sql, -1, &stmt, NULL);

  if (result == SQLITE_OK)
    result = sqlite3_step (stmt);
  if (result == SQLITE_ROW)
    *number = sqlite3_column_int64 (stmt, 0);
  sqlite3_finalize (stmt);
  return result == SQLITE_ROW || quoit_db_fail (db, result, "opening", error);
}

/* The first object of the schema that quoit did not make. */
static gboolean
refuse_foreign_objects (QuoitDb *db, GError **error)
{
  g_autofree char *sql = g_strdup_printf ("SELECT type || ' ''' || name || '''' FROM sqlite_schema"
                                          " WHERE name NOT LIKE 'sqlite\\_%%' ESCAPE '\\' AND"
                                          " (type <> 'table' OR name NOT IN (%s)) LIMIT 1",
                                          quoit_sql_objects);
  sqlite3_stmt *stmt = NULL;
  int result = sqlite3_prepare_v2 (db->handle, sql, -1, &stmt, NULL);

  if (result == SQLITE_OK)
    result = sqlite3_step (stmt);
  if (result == SQLITE_ROW)
    quoit_fail (error, QUOIT_ERROR_DAMAGED,
                "the database has a %s that quoit did not make: drop it, or restore a backup",
                sqlite3_column_text (stmt, 0));
  else if (result != SQLITE_DONE)
    quoit_db_fail (db, result, "opening", error);
  sqlite3_finalize (stmt);
  return result == SQLITE_DONE;
}

gboolean
quoit_sqlite_check_version (QuoitDb *db, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, SQL_VERSION, error);
  gint64 version;
  int result;

  if (stmt == NULL)
    return FALSE;
  result = sqlite3_step (stmt);
  version = result == SQLITE_ROW ? sqlite3_column_int64 (stmt, 0) : 0;
  sqlite3_reset (stmt);
  if (result != SQLITE_ROW)
    return quoit_db_fail (db, result, "reading the version", error);
  if (version > QUOIT_SCHEMA_VERSION)
    return quoit_fail (error, QUOIT_ERROR_VERSION,
                       "the database is of version %" G_GINT64_FORMAT ", this quoit knows up to %d: use a newer quoit",
                       version, QUOIT_SCHEMA_VERSION);
  if (version < 1)
    return quoit_fail (error, QUOIT_ERROR_DAMAGED, "the database says version %" G_GINT64_FORMAT ": restore a backup",
                       version);
  return TRUE;
}

static gboolean
check_ours (QuoitDb *db, GError **error)
{
  gint64 application = 0, tables = 0;

  if (!query_number (db, "PRAGMA application_id", &application, error))
    return FALSE;
  if (application != QUOIT_APPLICATION_ID)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "not a database of quoit; `quoit init` makes one");
  if (!quoit_sqlite_check_version (db, error) || !refuse_foreign_objects (db, error)
      || !query_number (
          db, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
          &tables, error))
    return FALSE;
  if (tables != 7)
    return quoit_fail (error, QUOIT_ERROR_DAMAGED,
                       "the database has %" G_GINT64_FORMAT " of its 7 tables: restore a backup", tables);
  return TRUE;
}

static gboolean
connect_to (QuoitStore *store, GError **error)
{
  QuoitDb *db = &store->db;
  /* SQLite has meanings of its own for ':memory:' and the like; with a folder in front it is a file. */
  g_autofree char *path
      = g_path_is_absolute (store->path) ? g_strdup (store->path) : g_build_filename (".", store->path, NULL);
  int result
      = sqlite3_open_v2 (path, &db->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);

  if (result != SQLITE_OK)
    return quoit_db_fail (db, result, "opening", error);
  sqlite3_busy_handler (db->handle, wait_for_lock, store);
  sqlite3_db_config (db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  sqlite3_db_config (db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
  return quoit_db_prepare_end (db, error) && quoit_db_exec (db, "PRAGMA synchronous = FULL", error);
}

/* Everything that upgrades do is one transaction; a second process that upgrades at the same time finds it done. */
static gboolean
make_schema (QuoitDb *db, GError **error)
{
  g_autofree char *close = g_strdup_printf ("PRAGMA application_id = %d; PRAGMA user_version = %d",
                                            QUOIT_APPLICATION_ID, QUOIT_SCHEMA_VERSION);
  gint64 objects = 0;

  if (!quoit_db_exec (db, "PRAGMA journal_mode = WAL", error) || !quoit_db_run (db, SQL_BEGIN, error))
    return FALSE;
  if (!query_number (db, "SELECT count(*) FROM sqlite_schema", &objects, error))
    return FALSE;
  if (objects > 0)
    return quoit_fail (error, QUOIT_ERROR_CONFLICT, "there is a database already");
  for (int step = 0; step < QUOIT_SCHEMA_VERSION; step++)
    if (!quoit_db_exec (db, quoit_sql_steps[step], error))
      return FALSE;
  return quoit_db_exec (db, close, error) && quoit_db_run (db, SQL_COMMIT, error);
}

/* An empty file is what a creation that was cut off leaves behind: it may be taken over. */
static gboolean
make_file (const char *path, gboolean *made, GError **error)
{
  struct stat status;
  int fd = open (path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);

  *made = fd >= 0;
  if (fd >= 0)
    return close (fd), TRUE;
  if (errno == EEXIST && lstat (path, &status) == 0 && S_ISREG (status.st_mode))
    return TRUE;
  if (errno == EEXIST)
    return quoit_fail (error, QUOIT_ERROR_CONFLICT, "%s: there is something already that is no file", path);
  return quoit_fail (error, QUOIT_ERROR_STORE, "%s: %s", path, g_strerror (errno));
}

void
quoit_store_remove_file (const char *path)
{
  static const char *const tails[] = { "", "-wal", "-shm", "-journal" };

  for (gsize i = 0; i < G_N_ELEMENTS (tails); i++)
    {
      g_autofree char *name = g_strconcat (path, tails[i], NULL);

      unlink (name);
    }
}

static QuoitStore *
store_on (const char *path, gint64 wait_ms)
{
  QuoitStore *store = quoit_store_alloc (&quoit_engine_sqlite);

  store->path = g_strdup (path);
  store->wait_ms = store->lock_wait_ms = MAX (wait_ms, 0);
  return store;
}

QuoitStore *
quoit_store_create (const char *path, gint64 wait_ms, GError **error)
{
  g_autoptr (QuoitStore) store = NULL;
  g_autoptr (GError) failure = NULL;
  gint64 application = 0, objects = 0;
  gboolean made;

  if (!make_file (path, &made, error))
    return NULL;
  store = store_on (path, wait_ms);
  if (!refuse_network (path, &failure) || !connect_to (store, &failure)
      || !query_number (&store->db, "PRAGMA application_id", &application, &failure)
      || !query_number (&store->db, "SELECT count(*) FROM sqlite_schema", &objects, &failure))
    application = application != 0 ? application : -1;
  if (failure == NULL && (application != 0 || objects != 0))
    return quoit_fail_null (error, QUOIT_ERROR_CONFLICT, "%s: there is a database already", path);
  if (failure == NULL && make_schema (&store->db, &failure))
    {
      store->fleet = quoit_sqlite_load (&store->db, &failure);
      if (store->fleet != NULL)
        return g_steal_pointer (&store);
    }

  g_clear_pointer (&store, quoit_store_free);
  /* Another process may have taken the empty file over meanwhile: then it is that one's. */
  if (made && failure->code != QUOIT_ERROR_BUSY && failure->code != QUOIT_ERROR_CONFLICT)
    quoit_store_remove_file (path);
  else if (failure->code == QUOIT_ERROR_INVALID)
    failure->code = QUOIT_ERROR_CONFLICT;
  g_prefix_error (&failure, "%s: ", path);
  g_propagate_error (error, g_steal_pointer (&failure));
  return NULL;
}

static gboolean
check_file (const char *path, GError **error)
{
  struct stat status;

  if (stat (path, &status) != 0)
    return errno == ENOENT
               ? quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "%s: no such database; `quoit init` makes one", path)
               : quoit_fail (error, QUOIT_ERROR_STORE, "%s: %s", path, g_strerror (errno));
  if (!S_ISREG (status.st_mode))
    return quoit_fail (error, QUOIT_ERROR_INVALID, "%s: expected a database, this is no file", path);
  if (status.st_size == 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "%s: the file is empty; `quoit init` makes a database of it", path);
  return refuse_network (path, error);
}

QuoitStore *
quoit_store_open (const char *path, gint64 wait_ms, GError **error)
{
  g_autoptr (QuoitStore) store = NULL;
  gboolean read = FALSE;

  if (!check_file (path, error))
    return NULL;
  store = store_on (path, wait_ms);
  if (connect_to (store, error) && quoit_db_run (&store->db, SQL_BEGIN_READ, error))
    {
      read = check_ours (&store->db, error) && (store->fleet = quoit_sqlite_load (&store->db, error)) != NULL;
      read = quoit_db_end (&store->db, read ? error : NULL) && read;
    }
  if (!read)
    return g_prefix_error (error, "%s: ", path), NULL;
  return g_steal_pointer (&store);
}

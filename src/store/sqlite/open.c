/* SPDX-License-Identifier: Apache-2.0 */
/* Creates and opens databases, and refuses files that are not sound databases of quoit. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sqlite/path.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/vfs.h"

/* SQLite's busy handler, which SQLite calls with @tries = 0, 1, 2, ... while another process holds a lock. Waits one
 * step, and computes the time of the previous steps instead of reading a clock. Returns 0 to give up. */
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
  if (waited_ms >= store->lock_wait_ms || g_atomic_int_get (&store->n_interrupts) != (gint) store->interrupts_at_start)
    return 0;
  g_usleep ((gulong) MIN (step_ms, store->lock_wait_ms - waited_ms) * 1000);
  return 1;
}

void
quoit_sqlite_restrict (sqlite3 *handle)
{
  static const struct {
    int what, on;
  } switches[] = { { SQLITE_DBCONFIG_DEFENSIVE, 1 },
                   { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
                   { SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
                   { SQLITE_DBCONFIG_ENABLE_VIEW, 0 } };
  static const struct {
    int what, most;
  } limits[] = { { SQLITE_LIMIT_SQL_LENGTH, 65536 },
                 { SQLITE_LIMIT_COLUMN, 64 },
                 { SQLITE_LIMIT_EXPR_DEPTH, 64 },
                 { SQLITE_LIMIT_ATTACHED, 0 },
                 { SQLITE_LIMIT_TRIGGER_DEPTH, 1 } };

  for (gsize i = 0; i < G_N_ELEMENTS (switches); i++)
    sqlite3_db_config (handle, switches[i].what, switches[i].on, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (limits); i++)
    sqlite3_limit (handle, limits[i].what, limits[i].most);
}

gboolean
quoit_sqlite_connect (const QuoitStore *store, QuoitDb *db, GError **error)
{
  const char *path = store->file;
  int result;

  /* Connections other than the store's own are closed by the call that opened them. */
  db->connection = quoit_connection_new (path, db == &store->db ? &store->writer : NULL, error);
  if (db->connection == NULL)
    return FALSE;
  result = sqlite3_open_v2 (path, &db->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                            quoit_vfs_name ());
  quoit_connection_set (db->connection, db->handle);
  if (result != SQLITE_OK)
    return quoit_db_fail (db, result, "opening", error);
  quoit_sqlite_restrict (db->handle);
  /* quoit_sqlite_close_store() decides whether to save the WAL: it must not be applied to a file that another program
   * has changed. */
  sqlite3_db_config (db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
  return quoit_db_exec (db, "PRAGMA cell_size_check = ON", error) && quoit_db_prepare_rollback (db, error);
}

gboolean
quoit_sqlite_connect_store (QuoitStore *store, GError **error)
{
  if (!quoit_sqlite_connect (store, &store->db, error))
    return FALSE;
  sqlite3_busy_handler (store->db.handle, wait_for_lock, store);
  quoit_vfs_watch_entry (store->db.handle, &store->last_entry);
  return quoit_sqlite_set_synced (&store->db, TRUE, error);
}

/* Refuses to create a ledger if files of an earlier one are left at the path. The user needs a restore then, and SQLite
 * would delete the old WAL. */
static gboolean
check_leftovers (const char *path, GError **error)
{
  struct stat status;

  return (stat (path, &status) == 0 && status.st_size > 0) || quoit_path_check_leftovers (path, error);
}

/* Creates the file. Accepts an existing file, because an interrupted creation leaves an empty one. */
static gboolean
make_file (const char *path, gboolean *was_created, GError **error)
{
  struct stat status;
  int fd = quoit_path_open (path, O_CREAT | O_EXCL | O_RDWR, 0600);

  *was_created = fd >= 0;
  if (fd >= 0)
    return close (fd), TRUE;
  if (errno == EEXIST && lstat (path, &status) == 0 && S_ISREG (status.st_mode))
    return status.st_size > 0 || (status.st_mode & 077) == 0 || chmod (path, 0600) == 0
           || quoit_fail_at (error, QUOIT_ERROR_STORE, path, "setting its mode to 0600: %s", g_strerror (errno));
  if (errno == EEXIST)
    return quoit_fail_at (error, QUOIT_ERROR_CONFLICT, path, "the path exists, but is not a file: choose another name");
  return quoit_fail_at (error, QUOIT_ERROR_STORE, path, "%s", g_strerror (errno));
}

void
quoit_store_remove_file (const char *path)
{
  static const char *const tails[] = { "", "-wal", "-shm", "-journal", "-head" };

  for (gsize i = 0; i < G_N_ELEMENTS (tails); i++)
    {
      g_autofree char *name = g_strconcat (path, tails[i], NULL);

      unlink (name);
    }
}

static QuoitStore *
new_store (const char *path, gint64 wait_ms)
{
  QuoitStore *store = quoit_store_alloc (&quoit_engine_sqlite);

  store->path = g_strdup (path);
  store->file = quoit_path_dup_real (path);
  store->wait_ms = store->lock_wait_ms = MAX (wait_ms, 0);
  return store;
}

/* Loads the state of the database. Call it in a read transaction, or while no other process can have the file open. */
static gboolean
load_store (QuoitStore *store, GError **error)
{
  QuoitIdentity identity;
  guint64 seq;

  store->fleet = quoit_sqlite_load (&store->db, error);
  if (store->fleet == NULL || !quoit_sqlite_read_identity (&store->db, &identity, error)
      || !quoit_sqlite_read_last_link (&store->db, &seq, store->chain, error))
    return FALSE;
  memcpy (store->identity, identity.bytes, sizeof store->identity);
  quoit_store_set_position (store, store->fleet);
  quoit_sqlite_update_last_entry (store);
  return TRUE;
}

QuoitStore *
quoit_sqlite_create (const char *path, gint64 wait_ms, GError **error)
{
  g_autoptr (QuoitStore) store = NULL;
  g_autoptr (GError) failure = NULL;
  gint64 application = 0, objects = 0;
  gboolean was_created;

  if (!check_leftovers (path, error) || !make_file (path, &was_created, error))
    return NULL;
  store = new_store (path, wait_ms);
  if (!quoit_path_check (path, &failure) || !quoit_sqlite_connect_store (store, &failure)
      || !quoit_sqlite_query_number (&store->db, "PRAGMA application_id", &application, &failure)
      || !quoit_sqlite_query_number (&store->db, "SELECT count(*) FROM sqlite_schema", &objects, &failure))
    application = application != 0 ? application : -1;
  if (failure == NULL && (application != 0 || objects != 0))
    return quoit_fail_at (error, QUOIT_ERROR_CONFLICT, path, "there is a database already"), NULL;
  if (failure == NULL && quoit_sqlite_make_schema (&store->db, &failure))
    {
      if (load_store (store, &failure) && quoit_sqlite_check_file (store, NULL, &failure))
        return g_steal_pointer (&store);
    }

  g_clear_pointer (&store, quoit_store_free);
  /* Another process may have taken the empty file over. The file then belongs to that process. */
  if (was_created && failure->code != QUOIT_ERROR_BUSY && failure->code != QUOIT_ERROR_CONFLICT)
    quoit_store_remove_file (path);
  else if (failure->code == QUOIT_ERROR_INVALID)
    failure->code = QUOIT_ERROR_CONFLICT;
  quoit_error_add_path (&failure, path);
  g_propagate_error (error, g_steal_pointer (&failure));
  return NULL;
}

static gboolean
check_file (const char *path, GError **error)
{
  struct stat status;

  if (stat (path, &status) != 0)
    return errno != ENOENT ? quoit_fail_at (error, QUOIT_ERROR_STORE, path, "%s", g_strerror (errno))
           : quoit_path_has_head (path)
               ? quoit_fail_at (error, QUOIT_ERROR_NOT_FOUND, path,
                                "the database is missing, but its -head file exists: 'quoit restore BACKUP' puts a "
                                "backup in place")
               : quoit_fail_at (error, QUOIT_ERROR_NOT_FOUND, path, "no such database; `quoit init` makes one");
  if (!S_ISREG (status.st_mode))
    return quoit_fail_at (error, QUOIT_ERROR_INVALID, path, "not a file: expected a database");
  if (status.st_size == 0 && quoit_path_has_head (path))
    return quoit_fail_at (error, QUOIT_ERROR_DAMAGED, path,
                          "the file was emptied: 'quoit restore BACKUP' puts a backup in place");
  if (status.st_size == 0)
    return quoit_fail_at (error, QUOIT_ERROR_INVALID, path, "the file is empty; `quoit init` makes a database of it");
  return quoit_path_check (path, error) && quoit_head_check_access (path, error);
}

/* Begins a read transaction. Upgrades a database of an older version first. */
static gboolean
begin_reading (QuoitDb *db, GError **error)
{
  int version;

  if (!quoit_db_run (db, SQL_BEGIN_READ, error) || !quoit_sqlite_check_database (db, &version, error))
    return FALSE;
  if (version == QUOIT_SCHEMA_VERSION)
    return TRUE;
  return quoit_db_roll_back (db, error) && quoit_sqlite_upgrade (db, error) && quoit_db_run (db, SQL_BEGIN_READ, error)
         && quoit_sqlite_check_database (db, &version, error);
}

static QuoitStore *
open_once (const char *path, gint64 wait_ms, QuoitOpenMode mode, GError **error)
{
  g_autoptr (QuoitStore) store = new_store (path, wait_ms);
  gboolean is_loaded = FALSE;

  if (quoit_sqlite_connect_store (store, error))
    {
      is_loaded = begin_reading (&store->db, error) && load_store (store, error);
      is_loaded = quoit_db_roll_back (&store->db, is_loaded ? error : NULL) && is_loaded;
    }
  if (is_loaded && mode == QUOIT_OPEN_CHECKED)
    is_loaded = quoit_sqlite_check_file (store, NULL, error) && quoit_sqlite_check_head (store, error);
  /* Another program may have set another journal mode. The mode cannot be reset while other connections read. */
  if (is_loaded && mode == QUOIT_OPEN_CHECKED)
    (void) quoit_sqlite_return_to_wal (&store->db, NULL);
  if (store->db.handle != NULL && quoit_vfs_check_names (store->db.handle, NULL) == QUOIT_NAMES_LOG_REPLACED)
    {
      /* What was read may be a mixture of two states. This connection may be the last one that has the WAL. */
      g_clear_error (error);
      if (quoit_sqlite_recover_log (store, error))
        quoit_fail_at (error, QUOIT_ERROR_BUSY, path, "its -wal or -shm file was deleted or replaced; retry");
      return NULL;
    }
  if (!is_loaded && error != NULL && (*error)->code == QUOIT_ERROR_BUSY && quoit_vfs_is_read_blocked (store->db.handle))
    {
      g_clear_error (error);
      quoit_fail_at (
          error, QUOIT_ERROR_BUSY, path,
          "cannot be read now: another process still uses a deleted or replaced -wal or -shm file (retry after "
          "its next change, or end it), or another program is copying the -wal file into the database file "
          "(retry when it has finished)");
    }
  return is_loaded ? g_steal_pointer (&store) : NULL;
}

/* Each attempt waits at most this long and uses a new connection, because a connection whose WAL was deleted while it
 * opened never succeeds. */
enum { OPEN_STEP_MS = 50 };

QuoitStore *
quoit_sqlite_open (const char *path, gint64 wait_ms, QuoitOpenMode mode, GError **error)
{
  gint64 start_us = g_get_monotonic_time ();

  if (!check_file (path, error))
    return NULL;
  wait_ms = MAX (wait_ms, 0);
  for (;;)
    {
      g_autoptr (GError) failure = NULL;
      QuoitStore *store = open_once (path, MIN (wait_ms, OPEN_STEP_MS), mode, &failure);

      if (store != NULL)
        {
          store->wait_ms = store->lock_wait_ms = wait_ms;
          return store;
        }
      if (failure->code != QUOIT_ERROR_BUSY || (g_get_monotonic_time () - start_us) / 1000 >= wait_ms)
        {
          quoit_error_add_path (&failure, path);
          g_propagate_error (error, g_steal_pointer (&failure));
          return NULL;
        }
      g_usleep (1000);
    }
}

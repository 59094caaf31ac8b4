/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/inherited.h"

#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

struct _QuoitConnection {
  guint64 process;
  dev_t device;
  ino_t inode;
  GThread *const *user;
  sqlite3 *handle; /* NULL while it is opened or closed */
};

static GMutex lock; /* guards connections and their handles; locked before the lock of process.c */
static GPtrArray *connections;

static void
before_fork (void)
{
  g_mutex_lock (&lock);
}

static void
after_fork (void)
{
  g_mutex_unlock (&lock);
}

static void
install_fork_handlers (void)
{
  static gsize once;

  if (g_once_init_enter (&once))
    {
      /* Before a fork, handlers run in reverse order of their registration. */
      quoit_process_count_forks ();
      pthread_atfork (before_fork, after_fork, after_fork);
      g_once_init_leave (&once, 1);
    }
}

static void
register_connection (QuoitConnection *connection)
{
  g_mutex_lock (&lock);
  if (connections == NULL)
    connections = g_ptr_array_new ();
  g_ptr_array_add (connections, connection);
  g_mutex_unlock (&lock);
}

static void
close_with_statements (sqlite3 *handle)
{
  sqlite3_stmt *stmt;

  while (handle != NULL && (stmt = sqlite3_next_stmt (handle, NULL)) != NULL)
    sqlite3_finalize (stmt);
  sqlite3_close (handle);
}

/* Returns whether the open file begins with @magic. */
static gboolean
begins_with (sqlite3_file *file, const void *magic, int n)
{
  guint8 bytes[16];

  return file != NULL && file->pMethods != NULL && file->pMethods->xRead (file, bytes, n, 0) == SQLITE_OK
         && memcmp (bytes, magic, (gsize) n) == 0;
}

/* Returns whether SQLite's descriptors still refer to its files. A child may have closed all descriptors, and opened
 * files of its own, which have the same numbers. */
static gboolean
has_own_files (sqlite3 *handle)
{
  static const guint8 log_magic[] = { 0x37, 0x7f, 0x06 };
  sqlite3_file *file = NULL, *log = NULL;

  sqlite3_file_control (handle, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  sqlite3_file_control (handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  return begins_with (file, "SQLite format 3", 16)
         && (log == NULL || log->pMethods == NULL || begins_with (log, log_magic, sizeof log_magic));
}

/* Closes a connection of the parent without writing to its files. The parent keeps its locks, because locks belong to
 * one process. If the descriptors belong to other files, the connection stays open. */
static void
close_inherited (sqlite3 *handle)
{
  if (!has_own_files (handle))
    return;
  sqlite3_db_config (handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
  close_with_statements (handle);
}

static gboolean
is_idle (const QuoitConnection *connection)
{
  return connection->handle != NULL && connection->user != NULL && *connection->user == NULL
         && sqlite3_txn_state (connection->handle, NULL) == SQLITE_TXN_NONE;
}

/* Closes the inherited connections to @file. Fails if one of them was in use during fork(2). */
static gboolean
close_inherited_to_file (const char *path, const struct stat *file, GError **error)
{
  guint64 process = quoit_process_unique_id ();
  gboolean all_closed = TRUE;

  g_mutex_lock (&lock);
  for (guint i = connections == NULL ? 0 : connections->len; all_closed && i-- > 0;)
    {
      QuoitConnection *candidate = connections->pdata[i];

      if (candidate->process == process || candidate->device != file->st_dev || candidate->inode != file->st_ino)
        continue;
      all_closed = is_idle (candidate);
      if (!all_closed)
        continue;
      close_inherited (candidate->handle);
      g_free (candidate);
      g_ptr_array_remove_index_fast (connections, i);
    }
  g_mutex_unlock (&lock);
  return all_closed
         || quoit_fail_at (error, QUOIT_ERROR_FAILED, path,
                           "the parent was using it during fork(2): fork while no call and no batch is open, "
                           "or open it in a new program");
}

QuoitConnection *
quoit_connection_new (const char *path, GThread *const *user, GError **error)
{
  QuoitConnection *connection;
  struct stat file = { 0 };

  install_fork_handlers ();
  /* If the file does not exist, SQLite reports that. */
  if (stat (path, &file) == 0 && !close_inherited_to_file (path, &file, error))
    return NULL;
  connection = g_new0 (QuoitConnection, 1);
  connection->process = quoit_process_unique_id ();
  connection->device = file.st_dev;
  connection->inode = file.st_ino;
  connection->user = user;
  register_connection (connection);
  return connection;
}

void
quoit_connection_set (QuoitConnection *connection, sqlite3 *handle)
{
  g_mutex_lock (&lock);
  connection->handle = handle;
  g_mutex_unlock (&lock);
}

void
quoit_connection_free (QuoitConnection *connection)
{
  sqlite3 *handle;

  if (connection == NULL)
    return;
  handle = connection->handle;
  quoit_connection_set (connection, NULL);
  close_with_statements (handle);
  g_mutex_lock (&lock);
  g_ptr_array_remove_fast (connections, connection);
  if (connections->len == 0)
    g_clear_pointer (&connections, g_ptr_array_unref);
  g_mutex_unlock (&lock);
  g_free (connection);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite's view of a ledger's files, with locks that belong to one open file and not to the process.
 *
 * POSIX record locks vanish when anything in the process closes the file: another copy of SQLite, a virus scanner, a
 * plain read. This VFS wraps the default one and takes the same byte ranges with open-file-description locks, which
 * only their own file descriptor can drop. Other copies of SQLite see these locks and respect them.
 *
 * It also knows which -wal and -shm files a connection uses, and refuses to use other ones while a process is alive
 * that still uses a deleted pair. */
#pragma once

#include <sqlite3.h>
#include <sys/stat.h>

#include <glib.h>

/* The name to pass to sqlite3_open_v2(). */
const char *quoit_vfs_name (void);

typedef enum {
  QUOIT_NAMES_SAME,  /* each name still leads to the file that the connection uses */
  QUOIT_NAMES_LOG,   /* the -wal or -shm file was deleted or replaced */
  QUOIT_NAMES_MOVED, /* the database file was deleted or replaced */
  QUOIT_NAMES_SHARED /* the database file has a second name */
} QuoitNames;

/* Compares the names of @handle's files with the files themselves. *@database (or NULL) gets the state of the file. */
QuoitNames quoit_vfs_check_names (sqlite3 *handle, struct stat *database);

/* Whether the connection could not begin to read, because a live process uses another pair of files, whose changes it
 * would not see. */
gboolean quoit_vfs_is_split (sqlite3 *handle);

/* Deletes the names of the pair, if they still lead to it. Everything in it must be in the database file by now. */
void quoit_vfs_retire_pair (sqlite3 *handle);

/* Whether another connection copies the log into the database file just now. */
gboolean quoit_vfs_is_being_saved (sqlite3 *handle);

/* Whether a process has the file open as a database. */
gboolean quoit_vfs_is_in_use (const char *path);

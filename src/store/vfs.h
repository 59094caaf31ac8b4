/* SPDX-License-Identifier: Apache-2.0 */
/* An SQLite VFS whose locks belong to an open file instead of the process.
 *
 * POSIX record locks vanish when any code in the process closes the file: another copy of SQLite, a virus scanner, a
 * plain read. This VFS wraps the default one and locks the same byte ranges with open-file-description locks, which
 * only their own file descriptor can release. Other copies of SQLite see and respect these locks.
 *
 * The VFS also records which -wal and -shm files (a pair) a connection uses. It refuses to use another pair while a
 * live process still uses a deleted pair. */
#pragma once

#include <sqlite3.h>
#include <sys/stat.h>

#include <glib.h>

/* Returns the name for sqlite3_open_v2(). */
const char *quoit_vfs_name (void);

typedef enum {
  QUOIT_NAMES_SAME,  /* each name still refers to the open file */
  QUOIT_NAMES_LOG,   /* the -wal or -shm file was deleted or replaced */
  QUOIT_NAMES_MOVED, /* the database file was deleted or replaced */
  QUOIT_NAMES_SHARED /* the database file has a second name */
} QuoitNames;

/* Compares the names of @handle's files with the open files. *@database gets the state of the database file;
 * @database may be NULL. */
QuoitNames quoit_vfs_check_names (sqlite3 *handle, struct stat *database);

/* Returns whether the connection could not begin to read because a live process uses another pair of files, whose
 * changes it would not see. */
gboolean quoit_vfs_is_split (sqlite3 *handle);

/* Deletes the names of the pair, if they still refer to it. The database file must already contain all of its
 * content. */
void quoit_vfs_retire_pair (sqlite3 *handle);

/* Returns whether another connection is copying the WAL into the database file. */
gboolean quoit_vfs_is_being_saved (sqlite3 *handle);

/* Returns whether a process has the file open as a database. */
gboolean quoit_vfs_is_in_use (const char *path);

/* SPDX-License-Identifier: Apache-2.0 */
/* An SQLite VFS (SQLite's interface to the operating system) whose locks belong to an open file instead of the process.
 *
 * POSIX record locks vanish when any code in the process closes the file: another copy of SQLite, a virus scanner, a
 * plain read. This VFS wraps the default one and locks the same byte ranges with open-file-description locks, which
 * only their own file descriptor can release. Other copies of SQLite see and respect these locks.
 *
 * The VFS also tracks which pair of -wal and -shm files a connection uses. If another program deletes these files while
 * a process uses them, that process still writes to the deleted pair. Other processes then refuse to open the database
 * with a new pair, because they would not see these writes. */
#pragma once

#include <sqlite3.h>
#include <sys/stat.h>

#include <glib.h>

#include "store/sqlite/head.h"

/* Returns the name for sqlite3_open_v2(). */
const char *quoit_vfs_name (void);

/* Whether the names of a connection's files still refer to the files that it has open. */
typedef enum {
  QUOIT_NAMES_MATCH,
  QUOIT_NAMES_LOG_REPLACED,      /* the -wal or -shm file was deleted or replaced */
  QUOIT_NAMES_DATABASE_REPLACED, /* the database file was deleted or replaced */
  QUOIT_NAMES_SECOND_NAME        /* the database file has a second name */
} QuoitNamesState;

/* Compares the names of @handle's files with the open files. @database, which may be NULL, gets the status of the
 * database file. */
QuoitNamesState quoit_vfs_check_names (sqlite3 *handle, struct stat *database);

/* Records @head as acknowledged. Call it after quoit_vfs_check_names(). Ignores failures. */
void quoit_vfs_write_head (sqlite3 *handle, const QuoitHead *head);

/* Gives the connection a pointer to the last entry that its handle knows, which the handle updates. A complete
 * checkpoint records that entry in the head file. @last_entry must live as long as the connection. */
void quoit_vfs_watch_entry (sqlite3 *handle, const QuoitFileEntry *last_entry);

/* Returns whether the connection could not begin to read for a reason that passes: another process uses another pair of
 * files, whose changes it would not see, or another program is copying the WAL into the database file. */
gboolean quoit_vfs_is_read_blocked (sqlite3 *handle);

/* Retires the pair of @handle: deletes its names, if they still refer to it, and records that it is retired. The
 * database file must already contain everything that the WAL has. */
void quoit_vfs_retire_pair (sqlite3 *handle);

/* Returns whether a connection uses another pair of files, even a retired one. */
gboolean quoit_vfs_has_other_pair (sqlite3 *handle);

/* Returns whether another connection is copying the WAL into the database file. */
gboolean quoit_vfs_is_checkpointing (sqlite3 *handle);

/* Records that the database file is sound with @status and has @entry. Does nothing if the file no longer has that
 * status, or while another process copies the WAL into it, because that process makes a newer record. */
void quoit_vfs_record_file (sqlite3 *handle, const struct stat *status, const QuoitFileEntry *entry);

/* Returns whether a process has the file open as a database. */
gboolean quoit_vfs_is_in_use (const char *path);

/* SPDX-License-Identifier: Apache-2.0 */
/* Checks on the path of a database, before SQLite opens it. */
#pragma once

#include <sys/stat.h>

#include "base/error.h"

/* Checks whether a database at @path is safe: the file system supports locks and shared memory between processes, and
 * the file has only one name. Fails with STORE. */
gboolean quoit_path_check (const char *path, GError **error);

/* Like open(2), but never returns a descriptor from 0 to 2. If the program has closed a standard stream, its output
 * would otherwise go into the file. */
int quoit_path_open (const char *path, int flags, guint mode);

/* Returns @path as an absolute path without symbolic links. Free it with g_free(). */
char *quoit_path_dup_real (const char *path);

/* Returns whether a -head file shows that a ledger existed at @path. */
gboolean quoit_path_has_head (const char *path);
/* Checks a path without a database. Fails with CONFLICT if files of an earlier database are left. */
gboolean quoit_path_check_leftovers (const char *path, GError **error);

/* Checks whether a database can be created at @path. Fails with CONFLICT if the WAL of an earlier database is left,
 * which SQLite would delete, or if the name is that of a companion file of another database. */
gboolean quoit_path_check_new (const char *path, GError **error);

/* Returns the name of a file system by its statfs(2) number, or NULL if it is not known to be safe. */
const char *quoit_path_file_system (guint32 magic);

/* Gives a companion file of @database its mode, with the bits @more, and its owner and group, as far as this user may.
 */
void quoit_path_copy_owner (int fd, const struct stat *database, mode_t more);

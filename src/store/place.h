/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether a path is safe for a database: the file system supports locks and shared memory between processes,
 * and the file has only one name. */
#pragma once

#include "base/error.h"

gboolean quoit_place_check (const char *path, GError **error);

/* Like open(2), but never returns the descriptor of a standard stream. If the caller has closed one, the program's
 * output would otherwise go into the file. */
int quoit_place_open (const char *path, int flags, guint mode);

/* Returns @path as an absolute path without symbolic links. Free it with g_free(). */
char *quoit_place_dup_real (const char *path);

/* Returns whether a -head file shows that a ledger existed here. */
gboolean quoit_place_has_head (const char *path);
/* For a path without a database: fails with CONFLICT if files of an earlier database are left. */
gboolean quoit_place_check_left (const char *path, GError **error);

/* Checks whether a database can be created at @path. Fails with CONFLICT if the WAL of an earlier database is left,
 * which SQLite would delete, or if the name is that of a companion file of another database. */
gboolean quoit_place_check_new (const char *path, GError **error);

/* Returns the name of a file system by its statfs(2) number, or NULL if it is not known to be safe. */
const char *quoit_place_file_system (guint32 magic);

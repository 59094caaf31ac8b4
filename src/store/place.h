/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a database can be safe in a place: on a file system whose locks and shared memory work between processes, and
 * under one name only. */
#pragma once

#include "base/error.h"

gboolean quoit_place_check (const char *path, GError **error);

/* open(2) that never returns the number of a standard stream: where the caller has closed one, what a program prints
 * would go into the file. */
int quoit_place_open (const char *path, int flags, guint mode);

/* @path absolute and without links; g_free() it. */
char *quoit_place_dup_real (const char *path);

/* Whether a -head file says that a ledger was here. */
gboolean quoit_place_has_head (const char *path);
/* Where there is no database: whether nothing is left of an earlier one. CONFLICT otherwise. */
gboolean quoit_place_check_left (const char *path, GError **error);

/* Whether a database can be made at @path: CONFLICT where the log of an earlier one is left beside, which SQLite would
 * delete, and where the name is that of a companion of another database. */
gboolean quoit_place_check_new (const char *path, GError **error);

/* The name of a file system by its number in statfs(2); NULL: not one that is known to be safe. */
const char *quoit_place_file_system (guint32 magic);

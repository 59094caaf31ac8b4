/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a database can be safe in a place: on a file system whose locks and shared memory work between processes, and
 * under one name only. */
#pragma once

#include "base/error.h"

gboolean quoit_place_check (const char *path, GError **error);

/* open(2) that never returns the number of a standard stream: where the caller has closed one, what a program prints
 * would go into the file. */
int quoit_place_open (const char *path, int flags, guint mode);

/* Whether a database can be made at @path: CONFLICT where the log of an earlier one is left beside, which SQLite would
 * delete, and where the name is that of a companion of another database. */
gboolean quoit_place_check_new (const char *path, GError **error);

/* The name of a file system by its number in statfs(2); NULL: not one that is known to be safe. */
const char *quoit_place_file_system (guint32 magic);

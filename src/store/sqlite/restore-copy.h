/* SPDX-License-Identifier: Apache-2.0 */
/* The temporary copy of a backup, which a restore prepares next to the ledger and then puts in its place. */
#pragma once

#include "base/error.h"

/* The copy is locked while a process uses it. A copy without a lock is left of a restore that was killed. */
typedef struct {
  char *path;
  int fd; /* of the lock; -1: no file */
} QuoitRestoreCopy;

/* Creates an empty file next to @ledger, and locks it. */
gboolean quoit_restore_copy_new (const char *ledger, QuoitRestoreCopy *copy, GError **error);
/* Deletes the copy and its companion files, unless it was renamed. */
void quoit_restore_copy_clear (QuoitRestoreCopy *copy);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitRestoreCopy, quoit_restore_copy_clear)

/* Deletes the copies that killed restores of @ledger have left, but never the file @backup. Both are absolute paths
 * without links. Ignores failures. */
void quoit_restore_copy_delete_leftovers (const char *ledger, const char *backup);

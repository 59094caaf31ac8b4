/* SPDX-License-Identifier: Apache-2.0 */
/* Handles SQLite connections that a child of fork(2) inherits from its parent.
 *
 * A child does not inherit file locks, but it inherits SQLite's record of them, which exists once per file. If the
 * child opened the file again next to an inherited connection, it would skip locks that SQLite believes it holds.
 * Another process that closes the database would then see no user, and would remove the WAL that the child writes
 * to. Therefore an inherited connection is closed before its file is opened again. */
#pragma once

#include <sqlite3.h>

#include <glib.h>

#include "base/error.h"

/* Identifies this process. The process id is not enough: a child may have the id of an ended ancestor, or that of
 * its parent in another namespace. */
guint64 quoit_process_mark (void);
/* Returns how many fork(2) calls lead to this process, as far as the C library knows. Makes no system call. */
guint32 quoit_process_count_forks (void);

/* Registers a descriptor that a child of fork(2) closes immediately, because open-file locks would otherwise survive
 * in the child. *@fd may be -1. The address must stay valid until quoit_process_close_file(). */
void quoit_process_remember_file (int *fd);
void quoit_process_close_file (int *fd);

/* A connection of this process or of its parent. */
typedef struct _QuoitConnection QuoitConnection;

/* Call before the file is opened. *@turn is not NULL while a thread uses the connection; children read it too. @turn
 * is NULL for connections that are always in use. Fails with FAILED in a child whose parent was using the file
 * during fork(2), because that operation can be neither completed nor undone. */
QuoitConnection *quoit_connection_new (const char *path, GThread *const *turn, GError **error);
/* Registers the opened handle. */
void quoit_connection_set (QuoitConnection *connection, sqlite3 *handle);
/* Closes and frees the connection. @connection may be NULL. */
void quoit_connection_free (QuoitConnection *connection);

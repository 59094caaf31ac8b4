/* SPDX-License-Identifier: Apache-2.0 */
/* Handles SQLite connections that a child of fork(2) inherits from its parent.
 *
 * A child does not inherit file locks, but it inherits SQLite's table of the locks that the process holds. If the child
 * opened the file again while it has an inherited connection, SQLite would not take the locks that it believes to hold.
 * Another process that closes the database would then see no user, and would remove the WAL that the child writes to.
 * Therefore an inherited connection is closed before its file is opened again. */
#pragma once

#include <sqlite3.h>

#include "store/process.h"

/* A connection of this process or of its parent. */
typedef struct _QuoitConnection QuoitConnection;

/* Call before the file is opened. *@user is the thread that uses the connection at the moment, or NULL. Children read
 * it, too, to learn whether the connection was in use during fork(2). @user is NULL for connections that are always in
 * use. Fails with FAILED in a child whose parent was using the file during fork(2), because that operation can be
 * neither completed nor undone. */
QuoitConnection *quoit_connection_new (const char *path, GThread *const *user, GError **error);
/* Registers the opened handle. */
void quoit_connection_set (QuoitConnection *connection, sqlite3 *handle);
/* Closes and frees the connection. @connection may be NULL. */
void quoit_connection_free (QuoitConnection *connection);

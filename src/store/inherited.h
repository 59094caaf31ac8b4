/* SPDX-License-Identifier: Apache-2.0 */
/* Handles SQLite connections that a child of fork(2) inherits from its parent.
 *
 * A child does not inherit file locks, but it inherits SQLite's table of the locks that the process holds. If the child
 * opened the file again while it has an inherited connection, SQLite would not take the locks that it believes to hold.
 * Another process that closes the database would then see no user, and would remove the WAL that the child writes to.
 * Therefore an inherited connection is closed before its file is opened again. */
#pragma once

#include <sqlite3.h>

#include <glib.h>

#include "base/error.h"

/* Returns a number that differs between this process and its ancestors. The process id is not enough, because a child
 * may get the id of an ended ancestor, or the id that its parent has in another PID namespace. */
guint64 quoit_process_unique_id (void);
/* Returns how many fork(2) calls lead to this process, as far as the C library knows. Makes no system call. */
guint32 quoit_process_count_forks (void);

/* Registers a descriptor that a child of fork(2) closes immediately, because open-file locks would otherwise survive
 * in the child. *@fd may be -1. The address must stay valid until quoit_process_close_file(). */
void quoit_process_register_file (int *fd);
void quoit_process_close_file (int *fd);
/* Closes *@fd, which stays registered, and sets it to @with, which may be -1. */
void quoit_process_set_file (int *fd, int with);

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

/* SPDX-License-Identifier: Apache-2.0 */
/* What a child of fork(2) has of its parent's connections.
 *
 * A process's locks of a file are not inherited, but what SQLite remembers of them is, once for each file: a connection
 * that the child opens beside an inherited one would take no lock that it thinks is there already, and another process
 * that closes the database would find nobody in it and remove its WAL with what the child goes on to write. So an
 * inherited connection is closed before its file is opened anew. */
#pragma once

#include <sqlite3.h>

#include <glib.h>

#include "base/error.h"

/* Which process this is. The number alone does not say so: a child may bear that of an ancestor that has ended, or that
 * of its parent in a namespace of its own. */
guint64 quoit_process_mark (void);
/* How often fork(2) has made this process from its ancestors, as far as the C library knows. Costs no system call. */
guint32 quoit_process_count_forks (void);

/* A file descriptor that a child of fork(2) closes at once: locks of an open file would live on with it. -1 is none;
 * the address must stay valid until it is closed. */
void quoit_process_remember_file (int *fd);
void quoit_process_close_file (int *fd);

/* A connection that this process has, or its parent had. */
typedef struct _QuoitConnection QuoitConnection;

/* Before the file is opened. @turn: not NULL while a thread uses the connection; it is looked at in children too, and
 * NULL where the connection is never at rest. Fails with FAILED in a child whose parent used the file at that moment:
 * what SQLite was about to do then can be neither ended nor undone. */
QuoitConnection *quoit_connection_new (const char *path, GThread *const *turn, GError **error);
/* It is open. */
void quoit_connection_set (QuoitConnection *connection, sqlite3 *handle);
/* Closes it, and forgets it; NULL is none. */
void quoit_connection_free (QuoitConnection *connection);

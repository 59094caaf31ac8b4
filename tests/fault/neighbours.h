/* SPDX-License-Identifier: Apache-2.0 */
/* Other programs that touch the files of a ledger, and a writer that works among them until it is killed. */
#pragma once

#include "calls.h"

/* Opens the database file, reads it and closes it, as a virus scanner or a copy does. */
void read_whole_file (const char *path);
/* Reads the database through SQLite without quoit's VFS, and closes it. */
void read_with_other_sqlite (const char *path);

/* Makes calls for ever, with a clock that jumps, and appends a line for each answer to the file @answers. @start_us:
 * when the clocks of all writers began, by the monotonic clock. */
int write_among_neighbours (const char *path, const char *answers, guint number, guint32 seed, gint64 start_us,
                            pid_t parent);

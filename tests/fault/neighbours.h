/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that touch the files of a ledger, and a writer that works until it is killed. */
#pragma once

#include "calls.h"

/* Opens, reads and closes the database file, like a virus scanner or a copy program. */
void read_whole_file (const char *path);
/* Reads the database through SQLite without quoit's VFS, and closes it. */
void read_with_other_sqlite (const char *path);
void checkpoint_with_other_sqlite (const char *path);

/* Makes calls until it is killed, with a clock that jumps, and appends a line per answer to the file @answers.
 * @start_us: start of all writers' clocks, by the monotonic clock. */
int run_writer (const char *path, const char *answers, guint number, guint32 seed, gint64 start_us, pid_t parent);

/* SPDX-License-Identifier: Apache-2.0 */
/* Runs another program and keeps its output. */
#pragma once

#include <stdbool.h>
#include <glib.h>

/* Free the members with g_free(). */
typedef struct {
  char *text;   /* stdout, at most 256 MiB */
  char *remark; /* the first line of stderr, or the line that begins with "Error"; NULL: none */
  gsize length; /* of @text */
} ProgramOutput;

/* Finds argv[0] in PATH and runs it, without a shell and without standard input, in a process group of its own. The
 * program and its children are killed if they need more than
 * @limit_ms, and when a signal comes that interrupt_begin() catches.
 *
 * Fails with NOT_FOUND if there is no such program, with CANCELLED after a signal, otherwise with INVALID: it cannot be
 * run, does not end in time, fails, or prints too much. The message has the command line, the exit status and the
 * remark. */
bool program_run (const char *const *argv, gint64 limit_ms, ProgramOutput *output, GError **error);

/* The command line for messages: with quotes for a shell where it needs them, and without the values of --token and
 * --password. g_free() it. */
char *program_dup_command_line (const char *const *argv);

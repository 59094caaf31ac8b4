/* SPDX-License-Identifier: Apache-2.0 */
/* A file that the user names for output. It never replaces a ledger, follows no symbolic link, and replaces a file of
 * another kind only with --force. */
#pragma once

#include <stdbool.h>
#include <glib.h>

/* Whether a file that begins with @head, which ends in NUL, may be replaced without --force. */
typedef bool (*OutputKind) (const char *head);

typedef struct {
  const char *option; /* that names the file, for messages: "--svg" */
  const char *path;
  const char *kind_name; /* "SVG picture" */
  OutputKind is_kind;
  bool is_forced; /* --force: replaces a symbolic link, and a file of another kind */
} OutputFile;

/* Replaces the file in one step; writes to a pipe, and to a descriptor that is named, such as /dev/stdout. USAGE for an
 * empty name, CONFLICT for what must not be replaced, else STORE. */
bool output_file_write (const OutputFile *file, const char *text, GError **error);

bool output_kind_svg (const char *head);

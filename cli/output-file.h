/* SPDX-License-Identifier: Apache-2.0 */
/* A file that the user names for output. It never replaces a ledger, follows no symbolic link, and replaces a file of
 * another kind only with --force. */
#pragma once

#include <stdbool.h>
#include <glib.h>

/* Whether a file that begins with @head, a string that ends in NUL, has the expected kind. Such a file may be replaced
 * without --force. */
typedef bool (*OutputKindFunc) (const char *head);

typedef struct {
  const char *option; /* the option with the path, for messages: "--svg" */
  const char *path;
  const char *kind_name; /* "SVG picture" */
  OutputKindFunc is_kind;
  bool is_forced; /* --force: also replace a symbolic link, or a file of another kind */
} OutputFile;

/* Writes @text. A regular file is replaced atomically; a pipe, or a descriptor such as /dev/stdout, is written to.
 * Fails with USAGE for an empty name, with CONFLICT for a file that must not be replaced, otherwise with STORE. */
bool output_file_write (const OutputFile *file, const char *text, GError **error);

/* An OutputKindFunc for SVG files. */
bool output_kind_svg (const char *head);

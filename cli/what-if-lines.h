/* SPDX-License-Identifier: Apache-2.0 */
/* Separates the text of `quoit what-if` into lines and words. */
#pragma once

#include <stdbool.h>
#include <glib.h>

typedef struct {
  char *place; /* for messages: "line 3", or "plan.txt: line 3" */
  guint number;
  char *text;   /* as given, without blanks and comments around it */
  char **words; /* without their quotes; at least one */
} WhatIfLine;

/* Appends the lines of a text to @lines, of WhatIfLine. A newline or ';' ends a line, and '#' at the start of a word
 * begins a comment. Quotes and '\\' protect these characters, and blanks. Lines of a file, @file, have the numbers that
 * an editor shows; those of an argument (@file NULL) are counted, from 1. Fails with INVALID for an open quote and for
 * text that is not UTF-8. */
bool what_if_read_lines (const char *file, const char *text, gsize length, GPtrArray *lines, GError **error);

GPtrArray *what_if_lines_new (void);

/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the word that the user probably meant. */
#pragma once

#include <glib.h>

typedef struct {
  const char *typed; /* what the user typed; not owned */
  char *found;       /* the nearest word so far; NULL: none is near enough */
  guint distance;    /* the number of edits between both */
} Nearest;

Nearest nearest_begin (const char *typed);
/* Compares one more word. Of words that are equally near, the first one is kept. */
void nearest_offer (Nearest *nearest, const char *word);
void nearest_clear (Nearest *nearest);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Nearest, nearest_clear)

/* Returns "; did you mean 'WORD'?" with @prefix before the word, or an empty text. g_free() it. */
char *nearest_format_question (const Nearest *nearest, const char *prefix);

/* SPDX-License-Identifier: Apache-2.0 */
/* What a shell needs to complete a command line of quoit: the options of each verb, and the words that can follow. */
#pragma once

#include "verbs.h"

typedef struct {
  const char *name; /* "output" */
  char letter;      /* 'o', or '\0' */
  bool has_value;
  char *values; /* the values and the words below, divided by blanks; "": any */
  const char *description;
} CompletionOption;

#define COMPLETE_FILES "@files"
#define COMPLETE_NAMES "@names" /* the groups, slices, pools and nodes of the ledger */

typedef struct {
  const Verb *verb;
  GArray *options; /* of CompletionOption */
  char *arguments; /* like values */
} CompletionVerb;

/* Returns all verbs, of CompletionVerb, in the order of the table. Each verb tells its own options. */
GArray *completion_read_verbs (void);

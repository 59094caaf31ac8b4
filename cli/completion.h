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
/* Names in the ledger. */
#define COMPLETE_NAMES "@names" /* of all kinds below */
#define COMPLETE_GROUPS "@group"
#define COMPLETE_POOLS "@pool"
#define COMPLETE_SLICES "@slice"
#define COMPLETE_NODES "@node"

typedef struct {
  const Verb *verb;
  GArray *options; /* of CompletionOption */
  char *arguments; /* like values */
} CompletionVerb;

/* Returns all verbs, of CompletionVerb, in the order of the table. Each verb tells its own options. */
GArray *completion_read_verbs (void);

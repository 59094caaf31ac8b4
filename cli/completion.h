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
#define COMPLETE_ZONES "@zone"
#define COMPLETE_OWNERS "@owner"
#define COMPLETE_QUOTAS "@quota"
#define COMPLETE_WINDOWS "@window"
#define COMPLETE_SOURCES "@source"
/* Topologies of the catalogue: of all generations, or with "/GEN" of one. */
#define COMPLETE_TOPOLOGIES "@topology"

/* What can follow a first argument. */
typedef struct {
  const char *first;  /* "pool"; "*": any */
  const char *values; /* like those of an option */
} CompletionFollowing;

typedef struct {
  const Verb *verb;
  GArray *options;   /* of CompletionOption */
  char *arguments;   /* like values */
  GArray *following; /* of CompletionFollowing: the words after the first argument; empty: the same words again */
} CompletionVerb;

/* Returns all verbs, of CompletionVerb, in the order of the table. The options of each verb are those that it parses.
 */
GArray *completion_read_verbs (void);

/* Appends the names that the scripts propose, one a line. @wanted: a kind without its '@', such as "group"; NULL: those
 * of COMPLETE_NAMES. */
bool completion_write_names (Session *session, const char *wanted, GString *lines, GError **error);

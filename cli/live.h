/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the lists of one moment with the user's own kubectl and ray. docs/live.md states what holds. */
#pragma once

#include <stdbool.h>
#include <glib.h>

#include "program.h"

/* A list, and where it comes from: the name of a file, or a command line. */
typedef struct {
  char *name;           /* NULL: there is no such list, or it is fleet text of the command line */
  ProgramOutput output; /* text NULL: there is no such list */
} SourceText;

void source_text_clear (SourceText *text);

/* Whether two lists of Ray's nodes have the same meaning. Sets *@is_same, or fails. */
typedef bool (*SameNodesFunc) (const SourceText *before, const SourceText *after, gconstpointer data, bool *is_same,
                               GError **error);

/* How the programs are run. */
typedef struct {
  const char *address;          /* the address of the Ray cluster; NULL: the one that ray finds */
  const char *const *arguments; /* further arguments of the programs, NULL-terminated; NULL: none */
  gint64 limit_ms;              /* how long each program may take */
  SameNodesFunc compare;        /* for Ray */
  gconstpointer data;           /* for @compare */
} LiveOptions;

/* Read the nodes and pods of a Kubernetes cluster, and the nodes and placement groups of a Ray cluster. Fail like
 * program_run(), and with INVALID if the lists are not of one moment, or may not have all rows. */
bool live_read_kubernetes (const LiveOptions *options, SourceText *nodes, SourceText *pods, GError **error);
bool live_read_ray (const LiveOptions *options, SourceText *nodes, SourceText *groups, GError **error);

/* SPDX-License-Identifier: Apache-2.0 */
/* What import, sync and top read: files, fleet text, or the lists that kubectl and ray print. */
#pragma once

#include <quoit/quoit.h>

#include "session.h"

typedef struct {
  /* Options of the command line; free them with source_options_clear(). */
  char *source, *join;             /* the names of the source, and of the source to join */
  char *groups, *available, *pods; /* the files of the lists */
  char *topology, *tpu_per_chip;
  char **variables;
  gboolean complete, from_kubectl, from_ray;
  char *timeout;    /* how long kubectl and ray may take */
  char **arguments; /* further arguments of kubectl and ray; NULL: none */

  /* Set by source_options_check(). */
  QuoitSourceKind kind;
  const char *given; /* the name of a file, or the fleet text; with --from-ray the address; NULL: none */
  gint64 timeout_ms;
} SourceOptions;

void source_options_clear (SourceOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SourceOptions, source_options_clear)

/* Parses these options and those in @more, and calls session_check(). Takes the words after "--" out of @session, if
 * they are for kubectl or ray. */
bool source_options_parse (SourceOptions *options, const GOptionEntry *more, Session *session, GError **error);

/* Checks the options and the arguments of the verb. */
bool source_options_check (SourceOptions *options, const Session *session, GError **error);

/* Whether kubectl or ray are run. */
bool source_options_is_live (const SourceOptions *options);

/* The input, and where its lists come from. */
typedef struct _SourceInput SourceInput;
void source_input_free (SourceInput *input);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SourceInput, source_input_free)

/* Reads all lists. */
SourceInput *source_input_read (const SourceOptions *options, GError **error);
const QuoitInput *source_input_get (const SourceInput *input);

/* Puts the name of the file or command line with the error in front of the library's message. */
void source_input_explain (const SourceInput *input, GError *error);

/* Reads the source once and brings @ledger, which is in memory, up to date. quoit_snapshot_unref() the state. */
QuoitSnapshot *source_sync (const SourceOptions *options, QuoitLedger *ledger, gint64 now_ms, GError **error);

/* The state in a file with bytes of quoit_snapshot_dup_bytes(). quoit_snapshot_unref() it. */
QuoitSnapshot *source_load_snapshot (const char *path, GError **error);

/* SPDX-License-Identifier: Apache-2.0 */
/* One run of the command: the options that every verb has, what is left of the command line, and the answer. */
#pragma once

#include <quoit/quoit.h>

#include "document.h"

typedef struct _Session Session;

typedef struct {
  const char *name;
  const char *parameters; /* as in the usage line */
  const char *summary;    /* one line */
  const char *details;    /* more for --help; or NULL */
  guint least, most;      /* arguments */
  bool (*run) (Session *session, GError **error);
} Verb;

struct _Session {
  const Verb *verb;
  char **words; /* of the command line, behind the verb; then its arguments alone, after session_parse() */
  char *db, *wait, *now, *at, *output;
  int exit_status;     /* of a run that succeeds: a refusal by `fits` is an answer, not an error */
  QuoitLedger *ledger; /* that was opened to change it; or NULL */
  uint64_t seq_before; /* its last entry then */
  bool has_written;    /* something that is no entry */
  bool has_answered;   /* stdout has got, or has refused, an answer */
  char *explanation;   /* lines for stderr below the message of a run that fails; or NULL */
};

/* The options of every verb, for a context of one's own: g_free() it, the strings belong to @session. */
GOptionEntry *session_options (Session *session);

/* Reads @options (NULL: none) and those of every verb; session->words are the arguments then. --help ends the process.
 */
bool session_parse (Session *session, const GOptionEntry *options, GError **error);

/* --db, else QUOIT_DB, else quoit.db here. */
const char *session_get_path (const Session *session);

/* Before anything is opened: --wait is a number, --output one of @outputs, or csv where the verb
 * answers with rows. */
bool session_check (const Session *session, const char *const *outputs, GError **error);

/* For verbs that concern only the present: USAGE if --at is given. */
bool session_refuse_past (const Session *session, GError **error);

/* The ledger as it is now, with the actor set. quoit_ledger_unref() it. */
QuoitLedger *session_open (Session *session, GError **error);
QuoitLedger *session_create (Session *session, GError **error);
/* Puts @backup in the place of the database. */
bool session_restore (Session *session, const char *backup, gint64 now_ms, GError **error);

/* The ledger as it is, or as it was at --at, for verbs that only look. quoit_snapshot_unref() it. */
QuoitSnapshot *session_snapshot (Session *session, GError **error);

/* --now, else the clock of this machine. */
bool session_now (const Session *session, gint64 *now_ms, GError **error);

bool session_wants_json (const Session *session);
bool session_wants_csv (const Session *session);

/* The same of a command line that could not be read to its end, when its words are @argv. */
bool session_asked_for_json (char **argv);

/* For changes that are no entry of the journal: a file, a checkpoint. */
void session_note_written (Session *session);

/* Writes to stdout as -o says, and takes @document. When stdout does not take it: UNCONFIRMED where something was
 * changed, else STORE. */
bool session_print (Session *session, Document *document, GError **error);
bool session_write (Session *session, const char *text, GError **error);

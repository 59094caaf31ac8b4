/* SPDX-License-Identifier: Apache-2.0 */
/* One run of the command: the verb, its command line with the options that all verbs share, and its output. */
#pragma once

#include <quoit/quoit.h>

#include "document.h"

typedef struct _Session Session;

typedef struct {
  const char *name;
  const char *parameters; /* the arguments as the usage line shows them */
  const char *summary;    /* one line; the summary of the manual page is the same */
  const char *details;    /* further text of --help; NULL: none */
  guint min_arguments, max_arguments;
  bool (*run) (Session *session, GError **error);
} Verb;

struct _Session {
  const Verb *verb;
  char **words;    /* the command line; after session_parse(), only the arguments of the verb */
  bool only_reads; /* the verb changes nothing, but sees the changes of others */
  char *db, *wait, *now, *at, *output, *color; /* the values of the options that all verbs share; NULL: not given */
  int exit_status;         /* 0 by default; verbs such as `fits` set it if their result is negative */
  QuoitLedger *ledger;     /* the ledger that the verb opened for changes; NULL: none */
  uint64_t seq_before;     /* the last entry of that ledger when the verb opened it */
  bool has_written;        /* the verb has changed something that is not in the journal */
  bool has_answered;       /* the verb has tried to write to stdout */
  bool ignores_sigpipe;    /* this process ignores SIGPIPE, and its parent does not */
  GPtrArray *seen_options; /* not NULL: session_parse() only adds its options, GOptionEntry, and fails */
  char *explanation;       /* lines for stderr below the message of a failure; NULL: none */
};

/* Returns the options that all verbs share; g_free() it. GOption stores their values in @session. */
GOptionEntry *session_options (Session *session);

/* Parses @options (NULL: none) and the options that all verbs share. Afterwards session->words has only the arguments.
 * --help ends the process. An unknown option is USAGE, with the nearest known one. */
bool session_parse (Session *session, const GOptionEntry *options, GError **error);

/* Parses @words with two tables of options; @options may be NULL. The message on an unknown option has the nearest one,
 * or the command that prints the help of @verb (NULL: of all verbs). */
bool session_parse_context (GOptionContext *context, const Verb *verb, char ***words, const GOptionEntry *options,
                            const GOptionEntry *common, GError **error);

/* Like session_parse(), for a line of `quoit what-if`, which has the words of a verb, but neither --help nor the
 * options that all verbs share. */
bool session_parse_line (Session *session, const GOptionEntry *options, GError **error);

/* Parses words that session_parse() shall not see, with @options and the options that all verbs share. Fails if an
 * argument is left. */
bool session_parse_part (Session *session, char ***words, const GOptionEntry *options, GError **error);

/* Returns --db, or else $QUOIT_DB, or else "quoit.db". */
const char *session_get_path (const Session *session);
/* Returns a path for output: a URL without its user, password and options. */
char *session_dup_shown_path (const char *path);

/* Checks --wait, --now, --at and --output before the verb opens anything. Fails with USAGE if the verb does not accept
 * --at or this form of output. */
bool session_check (const Session *session, GError **error);

/* Makes a write to a pipe without reader fail, instead of ending the process: a verb that has changed something must
 * report it. Call it first. */
void session_ignore_sigpipe (Session *session);

/* How far the time of a ledger's first change may be ahead of the system clock. The default of
 * quoit_ledger_set_max_clock_jump(), which limits later changes, is the same. */
enum { MAX_FIRST_JUMP_MS = 86400000 };

/* For the first change of a ledger, which sets the ledger's clock: checks that --now is at most @limit_ms ahead of the
 * system clock. For later changes, the ledger itself limits the jumps of its clock. */
bool session_check_first_time (const Session *session, gint64 limit_ms, GError **error);

/* Open or create the ledger for changes, and set its actor. quoit_ledger_unref() the result. session_open() calls
 * session_check_first_time() for a ledger without entries, except for "set-clock TIME". */
QuoitLedger *session_open (Session *session, GError **error);
QuoitLedger *session_create (Session *session, GError **error);
/* Replaces the database by @backup. */
bool session_restore (Session *session, const char *backup, gint64 now_ms, GError **error);

/* Returns the state of the ledger, or with --at its past state, for verbs that change nothing. quoit_snapshot_unref()
 * it. */
QuoitSnapshot *session_snapshot (Session *session, GError **error);

/* Gets --now, or else the time of the system clock. */
bool session_now (const Session *session, gint64 *now_ms, GError **error);

/* Returns the width of lines for people: of the terminal, $COLUMNS, or 80. */
guint session_get_width (const Session *session);

/* Whether --color, NO_COLOR and stdout ask for colours. */
bool session_wants_colors (const Session *session);

bool session_wants_json (const Session *session);
bool session_wants_csv (const Session *session);

/* Like session_wants_json(), for a command line @argv whose parsing failed. */
bool session_asked_for_json (char **argv);

/* Notes a change that is not an entry of the journal, such as a written file or a checkpoint. */
void session_note_written (Session *session);

/* Write to stdout; session_print() uses the form of -o and takes ownership of @document. If stdout fails, the error is
 * UNCONFIRMED if the verb has changed something, otherwise STORE. If nothing was changed and the reader of a pipe is
 * gone, they end the process by SIGPIPE, like other commands. */
bool session_print (Session *session, Document *document, GError **error);
bool session_write (Session *session, const char *text, GError **error);

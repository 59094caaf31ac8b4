/* SPDX-License-Identifier: Apache-2.0 */
/* The table of verbs. Each verb is a constant in cmd-NAME.c. Verbs that share their code share a file: hold is in
 * cmd-reserve.c, renew in cmd-confirm.c and sync in cmd-import.c. */
#pragma once

#include "session.h"

/* Expands VERB (identifier, outputs, has_past) for every verb, in the order of `quoit --help`. The constant of a verb
 * is verb_IDENTIFIER. The values of -o are outputs_OUTPUTS in verbs.c. If has_past is true, the verb can use a past
 * state of the ledger and accepts --at. */
/* clang-format off */
#define VERBS(VERB) \
  VERB (init, facts, false) \
  VERB (import, facts, false) \
  VERB (sync, facts, false) \
  VERB (export, facts, true) \
  VERB (verify, facts, false) \
  VERB (backup, facts, false) \
  VERB (copy, facts, false) \
  VERB (restore, facts, false) \
  VERB (set_clock, facts, false) \
  VERB (journal, rows, false) \
  VERB (watch, facts, false) \
  VERB (top, text, false) \
  VERB (status, facts, true) \
  VERB (nodes, rows, true) \
  VERB (slices, rows, true) \
  VERB (groups, rows, true) \
  VERB (show, rows, true) \
  VERB (map, facts, true) \
  VERB (slots, rows, true) \
  VERB (fragmentation, rows, true) \
  VERB (who_holds, rows, true) \
  VERB (metrics, prometheus, true) \
  VERB (report, html, true) \
  VERB (reserve, facts, false) \
  VERB (hold, facts, false) \
  VERB (confirm, facts, false) \
  VERB (renew, facts, false) \
  VERB (update, facts, false) \
  VERB (release, facts, false) \
  VERB (resize, facts, false) \
  VERB (repair, facts, false) \
  VERB (forget, facts, false) \
  VERB (owner, facts, false) \
  VERB (calendar, rows, true) \
  VERB (quota, facts, true) \
  VERB (set_state, facts, false) \
  VERB (drain, facts, false) \
  VERB (undrain, facts, false) \
  VERB (fits, facts, true) \
  VERB (when, facts, true) \
  VERB (explain, facts, true) \
  VERB (what_if, pages, true) \
  VERB (defrag, rows, true) \
  VERB (plan, rows, true) \
  VERB (promise, rows, true) \
  VERB (env, shell, true) \
  VERB (mesh, facts, true) \
  VERB (catalogue, rows, false) \
  VERB (check, findings, false) \
  VERB (completion, text, false) \
  VERB (help, text, false)

#define DECLARE_VERB(identifier, outputs, has_past) extern const Verb verb_##identifier;
VERBS (DECLARE_VERB)
#undef DECLARE_VERB
/* clang-format on */

/* Returns a verb of the table; NULL after the last one. */
const Verb *verb_at (guint index);
/* Finds a verb by its name. Fails with USAGE, and proposes the nearest name. */
const Verb *verb_find (const char *name, GError **error);

/* Returns the values of -o that the verb accepts. The first one is the default. NULL-terminated. */
const char *const *verb_outputs (const Verb *verb);
bool verb_has_past (const Verb *verb);

/* Formats the values as a list, such as "table, json or csv". g_free() it. */
char *format_outputs (const char *const *outputs);

/* The verbs that accept -o csv: "catalogue, groups and nodes". Such a verb answers with rows: -o csv writes one table,
 * and -o json has the same rows as an array. g_free() it. */
char *format_verbs_with_rows (void);

/* Returns what the user can do if the verb has changed something, but its answer was lost. */
const char *verb_lost_answer_advice (const Verb *verb);

/* Parses the options before the verb. Afterwards session->words begins with the verb, or is empty. --help ends the
 * process. */
bool session_parse_first (Session *session, gboolean *version, GError **error);

/* Parses and checks the command line of a verb that has no options of its own. */
bool session_begin (Session *session, GError **error);

/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"
#include "verbs.h"

static const Column columns[] = {
  { "before", "clock before", CELL_TEXT },
  { "clock", "clock", CELL_TEXT },
};

static bool
set_clock_or_limit (QuoitLedger *ledger, const char *limit, const Session *session, gint64 now_ms, GError **error)
{
  gint64 limit_ms = 0;

  if (limit != NULL && !text_parse_limit (limit, "--max-clock-jump", &limit_ms, error))
    return false;
  /* The clock first: with the wrong one, a change of the limit may be refused. */
  return ((session->words[0] == NULL && limit != NULL) || quoit_ledger_set_clock (ledger, now_ms, error))
         && (limit == NULL || quoit_ledger_set_max_clock_jump (ledger, limit_ms, now_ms, error));
}

/* NULL: there is no entry yet. Owned. */
static char *
format_clock (QuoitLedger *ledger)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);

  return text_format_time (quoit_snapshot_get_clock_ms (snapshot));
}

static bool
run (Session *session, GError **error)
{
  g_autofree char *limit = NULL;
  const GOptionEntry entries[] = {
    { "max-clock-jump", 0, 0, G_OPTION_ARG_FILENAME, &limit,
      "how far ahead of the last entry a change may be, as 2d; none: without limit", "TIME" },
    G_OPTION_ENTRY_NULL,
  };
  g_autofree char *before = NULL, *after = NULL;
  g_autoptr (QuoitLedger) ledger = NULL;
  Document *document;
  gint64 now_ms;
  Table *facts;

  if (!session_parse (session, entries, error) || !session_check (session, usual_outputs, error)
      || !session_now (session, &now_ms, error)
      || (session->words[0] != NULL && !text_parse_time (session->words[0], "TIME", &now_ms, error)))
    return false;
  ledger = session_open (session, error);
  if (ledger == NULL)
    return false;
  before = format_clock (ledger);
  if (!set_clock_or_limit (ledger, limit, session, now_ms, error))
    return false;

  after = format_clock (ledger);
  facts = table_new (columns, G_N_ELEMENTS (columns));
  table_add_text (facts, before);
  table_add_text (facts, after);
  document = document_new ();
  document_take_facts (document, facts);
  return session_print (session, document, error);
}

const Verb verb_set_clock = {
  "set-clock",
  "[TIME]",
  "set the ledger's clock, or the limit of its jumps",
  "TIME is ISO 8601 with an offset, or milliseconds since 1970; without it and without an option, it is the clock\n"
  "of this machine. Use it when a wrong clock has taken the ledger ahead,\n"
  "or when a change is refused because the ledger was not used for long.",
  0,
  1,
  run,
};

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
  /* Sets the clock first, because with a wrong clock the ledger may refuse the new limit. */
  return ((session->words[0] == NULL && limit != NULL) || quoit_ledger_set_clock (ledger, now_ms, error))
         && (limit == NULL || quoit_ledger_set_max_clock_jump (ledger, limit_ms, now_ms, error));
}

/* Returns the clock as text, or NULL if the ledger has no entry. g_free() it. */
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
      "the maximum time from the last entry to a change, for example 2d; none: no limit", "TIME" },
    G_OPTION_ENTRY_NULL,
  };
  g_autofree char *before = NULL, *after = NULL;
  g_autoptr (QuoitLedger) ledger = NULL;
  Document *document;
  gint64 now_ms;
  Table *facts;

  if (!session_parse (session, entries, error) || !session_check (session, error)
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
  "set the ledger's clock, or the maximum jump of its clock",
  "TIME is ISO 8601 with an offset, or milliseconds since 1970. Without TIME and options, the system clock is\n"
  "used. Use this verb if a wrong clock has set the ledger's clock too far ahead, or if a change is refused\n"
  "because the ledger was not used for a long time.",
  0,
  1,
  run,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"
#include "verbs.h"

static const Column columns[] = { { "database", "created", CELL_TEXT } };

/* Checks all options before it creates the file. */
static bool
create (Session *session, const char *limit, const char *keep, GError **error)
{
  g_autoptr (QuoitLedger) ledger = NULL;
  gint64 limit_ms = 0, keep_ms = 0, now_ms;

  if (limit != NULL
      && (!text_parse_limit (limit, "--max-clock-jump", &limit_ms, error)
          || !session_check_first_time (session, limit_ms, error)))
    return false;
  if ((keep != NULL
       && (!text_parse_keep (keep, "--keep", &keep_ms, error)
           || (limit == NULL && !session_check_first_time (session, MAX_FIRST_JUMP_MS, error))))
      || !session_now (session, &now_ms, error))
    return false;
  ledger = session_create (session, error);
  return ledger != NULL && (limit == NULL || quoit_ledger_set_max_clock_jump (ledger, limit_ms, now_ms, error))
         && (keep == NULL || quoit_ledger_set_keep (ledger, keep_ms, now_ms, error));
}

static bool
run (Session *session, GError **error)
{
  g_autofree char *limit = NULL, *keep = NULL;
  const GOptionEntry entries[] = {
    { "max-clock-jump", 0, 0, G_OPTION_ARG_FILENAME, &limit,
      "the maximum time from the last entry to a change (1d); none: no limit", "TIME" },
    { "keep", 0, 0, G_OPTION_ARG_FILENAME, &keep,
      "how long to keep journal entries and the records of ended groups (all), for example 7d", "TIME" },
    G_OPTION_ENTRY_NULL,
  };
  g_autofree char *shown = NULL;
  Document *document;
  Table *facts;

  if (!session_parse (session, entries, error) || !session_check (session, error)
      || !create (session, limit, keep, error))
    return false;

  shown = session_dup_shown_path (session_get_path (session));
  facts = table_new (columns, G_N_ELEMENTS (columns));
  table_add_text (facts, shown);
  document = document_new ();
  document_take_facts (document, facts);
  return session_print (session, document, error);
}

const Verb verb_init = { "init", "", "create a new, empty database", NULL, 0, 0, run };

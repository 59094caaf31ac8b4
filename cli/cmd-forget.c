/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"
#include "verbs.h"

static const Column columns[] = {
  { "forgotten", "forgotten", CELL_TEXT },
};

/* Returns what was forgotten, or NULL. g_free() it. */
static char *
forget (Session *session, const char *key, const gint64 *before_ms, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitLedger) ledger = session_open (session, error);
  uint32_t n_groups = 0;

  if (ledger == NULL)
    return NULL;
  if (before_ms != NULL)
    return quoit_ledger_forget_before (ledger, *before_ms, now_ms, &n_groups, error)
               ? g_strdup_printf ("%u group%s", n_groups, n_groups == 1 ? "" : "s")
               : NULL;
  if (key != NULL)
    return quoit_ledger_forget_key (ledger, key, now_ms, error) ? g_strdup (key) : NULL;
  return quoit_ledger_forget (ledger, session->words[0], now_ms, error) ? g_strdup (session->words[0]) : NULL;
}

static bool
run (Session *session, GError **error)
{
  g_autofree char *key = NULL, *before = NULL, *forgotten = NULL;
  const GOptionEntry entries[] = {
    { "key", 0, 0, G_OPTION_ARG_FILENAME, &key, "the request key of the group, instead of NAME@ID", "KEY" },
    { "before", 0, 0, G_OPTION_ARG_FILENAME, &before, "all groups that ended before this time, instead of NAME@ID",
      "TIME" },
    G_OPTION_ENTRY_NULL,
  };
  Document *document;
  gint64 now_ms, before_ms = 0;
  Table *facts;

  if (!session_parse (session, entries, error) || !session_check (session, error)
      || !session_now (session, &now_ms, error))
    return false;
  if ((session->words[0] != NULL) + (key != NULL) + (before != NULL) != 1)
    {
      g_set_error_literal (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
                           "expected either NAME@ID or --key KEY or --before TIME");
      return false;
    }
  if (before != NULL && !text_parse_time (before, "--before", &before_ms, error))
    return false;
  forgotten = forget (session, key, before != NULL ? &before_ms : NULL, now_ms, error);
  if (forgotten == NULL)
    return false;

  document = document_new ();
  facts = table_new (columns, G_N_ELEMENTS (columns));
  table_add_text (facts, forgotten);
  document_take_facts (document, facts);
  return session_print (session, document, error);
}

const Verb verb_forget = {
  "forget",
  "[NAME@ID]",
  "delete the records of removed groups",
  "Afterwards, a new request can use the same request key.",
  0,
  1,
  run,
};

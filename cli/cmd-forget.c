/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs.h"

static const Column columns[] = {
  { "forgotten", "forgotten", CELL_TEXT },
};

static bool
forget (Session *session, const char *key, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitLedger) ledger = session_open (session, error);

  if (ledger == NULL)
    return false;
  return key != NULL ? quoit_ledger_forget_key (ledger, key, now_ms, error)
                     : quoit_ledger_forget (ledger, session->words[0], now_ms, error);
}

static bool
run (Session *session, GError **error)
{
  g_autofree char *key = NULL;
  const GOptionEntry entries[] = {
    { "key", 0, 0, G_OPTION_ARG_FILENAME, &key, "the request key of the group, instead of NAME@ID", "KEY" },
    G_OPTION_ENTRY_NULL,
  };
  Document *document;
  gint64 now_ms;
  Table *facts;

  if (!session_parse (session, entries, error) || !session_check (session, error)
      || !session_now (session, &now_ms, error))
    return false;
  if ((key == NULL) == (session->words[0] == NULL))
    {
      g_set_error_literal (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "expected either NAME@ID or --key KEY");
      return false;
    }
  if (!forget (session, key, now_ms, error))
    return false;

  document = document_new ();
  facts = table_new (columns, G_N_ELEMENTS (columns));
  table_add_text (facts, key != NULL ? key : session->words[0]);
  document_take_facts (document, facts);
  return session_print (session, document, error);
}

const Verb verb_forget = {
  "forget",
  "[NAME@ID]",
  "delete the record of a removed group",
  "Afterwards, a new request can use the same request key.",
  0,
  1,
  run,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "group-names.h"
#include "text.h"
#include "verbs.h"

static const Column columns[] = {
  { "forgotten", "forgotten", CELL_TEXT },
};

static const Column count_columns[] = {
  { "n_forgotten", NULL, CELL_NUMBER },
  { NULL, "forgotten", CELL_TEXT },
};

/* Forgets all groups that ended before the time. Returns what to print, or NULL. */
static Table *
forget_before (Session *session, gint64 before_ms, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitLedger) ledger = session_open (session, error);
  uint32_t n_groups = 0;
  Table *facts;

  if (ledger == NULL || !quoit_ledger_forget_before (ledger, before_ms, now_ms, &n_groups, error))
    return NULL;
  facts = table_new (count_columns, G_N_ELEMENTS (count_columns));
  table_add_number (facts, n_groups);
  table_take_text (facts, g_strdup_printf ("%u group%s", n_groups, n_groups == 1 ? "" : "s"));
  return facts;
}

/* Returns what was forgotten, or NULL. g_free() it. */
static char *
forget (Session *session, const char *key, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitLedger) ledger = group_names_open (session, error);

  if (ledger == NULL)
    return NULL;
  if (key != NULL)
    return quoit_ledger_forget_key (ledger, key, now_ms, error) ? g_strdup (key) : NULL;
  return quoit_ledger_forget (ledger, session->words[0], now_ms, error) ? g_strdup (session->words[0]) : NULL;
}

static Table *
forget_one (Session *session, const char *key, gint64 now_ms, GError **error)
{
  g_autofree char *forgotten = forget (session, key, now_ms, error);
  Table *facts;

  if (forgotten == NULL)
    return NULL;
  facts = table_new (columns, G_N_ELEMENTS (columns));
  table_add_text (facts, forgotten);
  return facts;
}

static bool
run (Session *session, GError **error)
{
  g_autofree char *key = NULL, *before = NULL;
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
  facts = before != NULL ? forget_before (session, before_ms, now_ms, error) : forget_one (session, key, now_ms, error);
  if (facts == NULL)
    return false;

  document = document_new ();
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

/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs.h"

static const Column columns[] = {
  { "database", "restored", CELL_TEXT }, { "backup", "from", CELL_TEXT },       { "epoch", "epoch", CELL_NUMBER },
  { "seq", "last entry", CELL_NUMBER },  { "n_groups", "groups", CELL_NUMBER },
};

static bool
run (Session *session, GError **error)
{
  g_autoptr (QuoitLedger) ledger = NULL;
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autofree char *shown = NULL;
  Document *document;
  gint64 now_ms;
  Table *facts;

  if (!session_begin (session, error) || !session_now (session, &now_ms, error)
      || !session_restore (session, session->words[0], now_ms, error))
    return false;
  ledger = session_open (session, error);
  if (ledger == NULL)
    return false;

  shown = session_dup_shown_path (session_get_path (session));
  snapshot = quoit_ledger_snapshot (ledger);
  facts = table_new (columns, G_N_ELEMENTS (columns));
  table_add_text (facts, shown);
  table_add_text (facts, session->words[0]);
  table_add_number (facts, quoit_snapshot_get_epoch (snapshot));
  table_add_number (facts, (gint64) quoit_snapshot_get_seq (snapshot));
  table_add_number (facts, quoit_snapshot_get_n_groups (snapshot));
  document = document_new ();
  document_take_facts (document, facts);
  return session_print (session, document, error);
}

const Verb verb_restore = {
  "restore",
  "BACKUP",
  "replace the database by a backup",
  "Verifies BACKUP first. The database gets a new epoch, so that no id of a group is issued twice. Programs\n"
  "that have the database open must open it again. BACKUP can be the database itself: the ledger continues with\n"
  "its contents.",
  1,
  1,
  run,
};

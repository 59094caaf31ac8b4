/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs.h"

static const Column columns[] = { { "backup", "written", CELL_TEXT } };

static bool
run (Session *session, GError **error)
{
  g_autoptr (QuoitLedger) ledger = NULL;
  Document *document;
  Table *facts;

  if (!session_begin (session, error))
    return false;
  ledger = session_open (session, error);
  if (ledger == NULL || !quoit_ledger_backup (ledger, session->words[0], error))
    return false;

  session_note_written (session);
  facts = table_new (columns, G_N_ELEMENTS (columns));
  table_add_text (facts, session->words[0]);
  document = document_new ();
  document_take_facts (document, facts);
  return session_print (session, document, error);
}

const Verb verb_backup = {
  "backup", "FILE", "copy the database while others use it", "FILE must not exist.", 1, 1, run,
};

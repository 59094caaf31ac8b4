/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs.h"

static const Column columns[] = { { "from", "copied", CELL_TEXT }, { "to", "to", CELL_TEXT } };

static bool
run (Session *session, GError **error)
{
  g_autofree char *from = NULL, *to = NULL;
  g_autoptr (QuoitLedger) ledger = NULL;
  Document *document;
  Table *facts;

  if (session->db != NULL)
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--db '%s': expected no --db, because FROM names the ledger",
                   session->db);
      return false;
    }
  if (!session_begin (session, error))
    return false;
  session->db = g_strdup (session->words[0]);
  ledger = session_open (session, error);
  if (ledger == NULL || !quoit_ledger_copy (ledger, session->words[1], error))
    return false;

  session_note_written (session);
  from = session_dup_shown_path (session->words[0]);
  to = session_dup_shown_path (session->words[1]);
  facts = table_new (columns, G_N_ELEMENTS (columns));
  table_add_text (facts, from);
  table_add_text (facts, to);
  document = document_new ();
  document_take_facts (document, facts);
  return session_print (session, document, error);
}

const Verb verb_copy = {
  "copy",
  "FROM TO",
  "copy a ledger with its history to another engine",
  "FROM and TO are files, or URLs such as postgresql://HOST/DATABASE#FLEET. TO must not exist.",
  2,
  2,
  run,
};

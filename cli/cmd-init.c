/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs.h"

static const Column columns[] = { { "database", "created", CELL_TEXT } };

static bool
run (Session *session, GError **error)
{
  g_autoptr (Quoit) quoit = NULL;
  Document *document;
  Table *facts;

  if (!session_begin (session, error))
    return false;
  quoit = session_create (session, error);
  if (quoit == NULL)
    return false;

  facts = table_new (columns, G_N_ELEMENTS (columns));
  table_add_text (facts, session_get_path (session));
  document = document_new ();
  document_take_facts (document, facts);
  return session_print (session, document, error);
}

const Verb verb_init = { "init", "", "make a new, empty database", NULL, 0, 0, run };

/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs.h"

static const Column columns[] = {
  { "groups", "groups", CELL_NUMBER },
};

static bool
run (Session *session, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  Document *document;
  Table *facts;

  if (!session_begin (session, error))
    return false;
  snapshot = session_snapshot (session, error);
  if (snapshot == NULL)
    return false;

  facts = table_new (columns, G_N_ELEMENTS (columns));
  table_add_number (facts, quoit_snapshot_get_n_groups (snapshot));
  document = document_new ();
  document_take_facts (document, facts);
  return session_print (session, document, error);
}

const Verb verb_count
    = { "count", "", "print the number of groups, including removed ones that a request key names", NULL, 0, 0, run };

/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet-view.h"
#include "verbs.h"

static bool
run (Session *session, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  Document *document;
  Table *nodes;

  if (!session_begin (session, error))
    return false;
  snapshot = session_snapshot (session, error);
  if (snapshot == NULL)
    return false;

  nodes = nodes_table ();
  for (uint32_t node = 0; node < quoit_snapshot_get_n_nodes (snapshot); node++)
    nodes_add (nodes, snapshot, node);
  document = document_new ();
  document_take_table (document, "nodes", NULL, nodes);
  return session_print (session, document, error);
}

const Verb verb_nodes = { "nodes", "", "list the nodes, and the groups that use them", NULL, 0, 0, run };

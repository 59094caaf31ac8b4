/* SPDX-License-Identifier: Apache-2.0 */
#include "node-state.h"

#include "fleet-view.h"
#include "words.h"

static const Column columns[] = {
  { "node", "node", CELL_TEXT },
  { "before", "before", CELL_TEXT },
  { "after", "after", CELL_TEXT },
  { "held_by", "held by", CELL_LIST },
};

static bool
state_of (Quoit *quoit, const char *name, QuoitNodeState *state, GPtrArray **holders, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_snapshot (quoit);
  uint32_t node;

  if (!quoit_snapshot_lookup_node (snapshot, name, &node, error))
    return false;
  *state = quoit_snapshot_get_node_state (snapshot, node);
  if (holders != NULL)
    *holders = holders_of_node (snapshot, node);
  return true;
}

bool
node_change (Session *session, NodeChangeFunc change, gconstpointer input, GError **error)
{
  const char *name = session->words[0];
  g_autoptr (Quoit) quoit = session_open (session, error);
  GPtrArray *holders = NULL;
  QuoitNodeState before, after;
  gint64 now_ms;
  Document *document;
  Table *facts;

  if (quoit == NULL || !session_now (session, &now_ms, error) || !state_of (quoit, name, &before, NULL, error)
      || !change (quoit, name, now_ms, input, error) || !state_of (quoit, name, &after, &holders, error))
    return false;

  facts = table_new (columns, G_N_ELEMENTS (columns));
  table_add_text (facts, name);
  table_add_text (facts, word_of_node_state (before));
  table_add_text (facts, word_of_node_state (after));
  table_take_list (facts, holders);
  document = document_new ();
  document_take_facts (document, facts);
  return session_print (session, document, error);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "node-state.h"

#include "fleet-view.h"
#include "group-view.h"
#include "words.h"

static const Column columns[] = {
  { "node", NULL, CELL_TEXT },       { NULL, "node", CELL_TEXT },     { "full_name", NULL, CELL_TEXT },
  { "before", "before", CELL_TEXT }, { "after", "after", CELL_TEXT }, { "held_by", "held by", CELL_LIST },
};

static bool
lookup_state (QuoitLedger *ledger, const char *name, QuoitNodeState *state, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  uint32_t node;

  if (!quoit_snapshot_lookup_node (snapshot, name, &node, error))
    return false;
  *state = quoit_snapshot_get_node_state (snapshot, node);
  return true;
}

static bool
describe_change (Document *document, QuoitLedger *ledger, const char *name, QuoitNodeState before, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (GPtrArray) users = NULL;
  Table *facts;
  uint32_t node;

  if (!quoit_snapshot_lookup_node (snapshot, name, &node, error))
    return false;
  facts = table_new (columns, G_N_ELEMENTS (columns));
  table_add_text (facts, quoit_snapshot_get_node_name (snapshot, node));
  table_take_text (facts, node_display_name (snapshot, node));
  table_take_text (facts, quoit_snapshot_dup_node_full_name (snapshot, node));
  table_add_text (facts, node_state_word (before));
  table_add_text (facts, node_state_word (quoit_snapshot_get_node_state (snapshot, node)));
  table_take_list (facts, node_users (snapshot, node));
  document_take_facts (document, facts);
  users = node_users (snapshot, node);
  groups_take_problems (document, snapshot, users);
  return true;
}

bool
node_change (Session *session, QuoitLedger *ledger, NodeChangeFunc change, gconstpointer input, GError **error)
{
  const char *name = session->words[0];
  QuoitNodeState before;
  gint64 now_ms;
  g_autoptr (Document) document = document_new ();

  return session_now (session, &now_ms, error) && lookup_state (ledger, name, &before, error)
         && change (ledger, name, now_ms, input, error) && describe_change (document, ledger, name, before, error)
         && session_print (session, g_steal_pointer (&document), error);
}

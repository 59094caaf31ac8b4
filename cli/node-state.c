/* SPDX-License-Identifier: Apache-2.0 */
#include "node-state.h"

#include "fleet-view.h"
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

static Table *
change_facts (QuoitLedger *ledger, const char *name, QuoitNodeState before, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  Table *facts;
  uint32_t node;

  if (!quoit_snapshot_lookup_node (snapshot, name, &node, error))
    return NULL;
  facts = table_new (columns, G_N_ELEMENTS (columns));
  table_add_text (facts, quoit_snapshot_get_node_name (snapshot, node));
  table_take_text (facts, node_display_name (snapshot, node));
  table_take_text (facts, quoit_snapshot_dup_node_full_name (snapshot, node));
  table_add_text (facts, node_state_word (before));
  table_add_text (facts, node_state_word (quoit_snapshot_get_node_state (snapshot, node)));
  table_take_list (facts, node_users (snapshot, node));
  return facts;
}

bool
node_change (Session *session, QuoitLedger *ledger, NodeChangeFunc change, gconstpointer input, GError **error)
{
  const char *name = session->words[0];
  QuoitNodeState before;
  gint64 now_ms;
  Document *document;
  Table *facts;

  if (!session_now (session, &now_ms, error) || !lookup_state (ledger, name, &before, error)
      || !change (ledger, name, now_ms, input, error))
    return false;
  facts = change_facts (ledger, name, before, error);
  if (facts == NULL)
    return false;

  document = document_new ();
  document_take_facts (document, facts);
  return session_print (session, document, error);
}

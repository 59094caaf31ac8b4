/* SPDX-License-Identifier: Apache-2.0 */
#include "node-state.h"
#include "verbs.h"
#include "words.h"

static bool
change (QuoitLedger *ledger, const char *node, gint64 now_ms, gconstpointer input, GError **error)
{
  return quoit_ledger_set_node_state (ledger, node, *(const QuoitNodeState *) input, now_ms, error);
}

static bool
run (Session *session, GError **error)
{
  g_autoptr (QuoitLedger) ledger = NULL;
  QuoitNodeState state;

  if (!session_begin (session, error) || !node_state_parse (session->words[1], &state, error))
    return false;
  ledger = session_open (session, error);
  return ledger != NULL && node_change (session, ledger, change, &state, error);
}

const Verb verb_set_state = {
  "set-state",
  "NODE alive|draining|dead",
  "set the state of a node",
  "The state stays until the node's source reports another one.",
  2,
  2,
  run,
};

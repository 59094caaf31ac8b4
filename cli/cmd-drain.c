/* SPDX-License-Identifier: Apache-2.0 */
#include "node-state.h"
#include "verbs.h"

static bool
change (QuoitLedger *ledger, const char *node, gint64 now_ms, gconstpointer input, GError **error)
{
  return quoit_ledger_drain_node (ledger, node, now_ms, error);
}

static bool
run (Session *session, GError **error)
{
  return session_begin (session, error) && node_change (session, change, NULL, error);
}

const Verb verb_drain = {
  "drain", "NODE", "keep new work from a node and its slice", "Groups that use the node keep it.", 1, 1, run,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "node-drain.h"
#include "verbs.h"

static bool
run (Session *session, GError **error)
{
  return drain_change (session, quoit_ledger_drain_nodes, error);
}

const Verb verb_drain = {
  "drain",
  "[node|slice|pool|zone] NAME",
  "keep new work from nodes and their slices",
  "Groups that use the nodes keep them. A slice, pool or zone is drained as a whole, in one transaction.\n"
  "Its dead nodes are left alone.",
  1,
  2,
  run,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "node-drain.h"
#include "verbs.h"

static bool
run (Session *session, GError **error)
{
  return drain_change (session, quoit_ledger_undrain_nodes, error);
}

const Verb verb_undrain = {
  "undrain", "[node|slice|pool|zone] NAME", "end the draining of nodes", NULL, 1, 2, run,
};

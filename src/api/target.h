/* SPDX-License-Identifier: Apache-2.0 */
/* What a verb changes: a ledger or a fork. Each verb is written once, for both. */
#pragma once

#include "api/handles.h"

/* One of the two is NULL. */
typedef struct {
  QuoitLedger *ledger;
  QuoitFork *fork;
} QuoitTarget;

#define QUOIT_TARGET_LEDGER(ledger) ((QuoitTarget) { (ledger), NULL })
#define QUOIT_TARGET_FORK(fork) ((QuoitTarget) { NULL, (fork) })

/* Fails with FAILED in a child of fork(2) that has inherited the ledger. */
static inline gboolean
quoit_target_refuse_child (QuoitTarget target, GError **error)
{
  return target.fork != NULL || quoit_store_refuse_child (target.ledger->store, error);
}

/* Carries out the action. @outcome and @report may be NULL. */
static inline gboolean
quoit_target_change (QuoitTarget target, const QuoitAction *action, int64_t now_ms, QuoitOutcome *outcome,
                     QuoitReport **report, GError **error)
{
  return target.fork != NULL ? quoit_fork_change (target.fork, action, now_ms, outcome, report, error)
                             : quoit_store_change (target.ledger->store, action, now_ms, outcome, report, error);
}

/* Like quoit_target_change(), for an action whose member @ref names a group. @group: NAME or NAME@ID. */
gboolean quoit_target_change_group (QuoitTarget target, const char *group, QuoitGroupRef *ref,
                                    const QuoitAction *action, int64_t now_ms, QuoitOutcome *outcome,
                                    QuoitReport **report, GError **error);

/* SPDX-License-Identifier: Apache-2.0 */
#include "api/target.h"

static bool
change_states (QuoitTarget target, const char *const *nodes, uint32_t n_nodes, QuoitVerb verb, QuoitNodeState state,
               int64_t now_ms, GError **error)
{
  const QuoitAction action = { QUOIT_ACTION_SET_STATES, .states = { nodes, n_nodes, verb, state } };

  return quoit_target_change (target, &action, now_ms, NULL, NULL, error);
}

bool
quoit_ledger_set_node_state (QuoitLedger *ledger, const char *node, QuoitNodeState state, int64_t now_ms,
                             GError **error)
{
  g_return_val_if_fail (ledger != NULL && node != NULL, false);

  return change_states (QUOIT_TARGET_LEDGER (ledger), &node, 1, QUOIT_VERB_SET_STATE, state, now_ms, error);
}

bool
quoit_ledger_set_node_states (QuoitLedger *ledger, const char *const *nodes, uint32_t n_nodes, QuoitNodeState state,
                              int64_t now_ms, GError **error)
{
  g_return_val_if_fail (ledger != NULL && (nodes != NULL || n_nodes == 0), false);

  return change_states (QUOIT_TARGET_LEDGER (ledger), nodes, n_nodes, QUOIT_VERB_SET_STATE, state, now_ms, error);
}

bool
quoit_ledger_drain_node (QuoitLedger *ledger, const char *node, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (ledger != NULL && node != NULL, false);

  return change_states (QUOIT_TARGET_LEDGER (ledger), &node, 1, QUOIT_VERB_DRAIN, QUOIT_NODE_DRAINING, now_ms, error);
}

bool
quoit_ledger_drain_nodes (QuoitLedger *ledger, const char *const *nodes, uint32_t n_nodes, int64_t now_ms,
                          GError **error)
{
  g_return_val_if_fail (ledger != NULL && (nodes != NULL || n_nodes == 0), false);

  return change_states (QUOIT_TARGET_LEDGER (ledger), nodes, n_nodes, QUOIT_VERB_DRAIN, QUOIT_NODE_DRAINING, now_ms,
                        error);
}

bool
quoit_ledger_undrain_node (QuoitLedger *ledger, const char *node, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (ledger != NULL && node != NULL, false);

  return change_states (QUOIT_TARGET_LEDGER (ledger), &node, 1, QUOIT_VERB_UNDRAIN, QUOIT_NODE_ALIVE, now_ms, error);
}

bool
quoit_ledger_undrain_nodes (QuoitLedger *ledger, const char *const *nodes, uint32_t n_nodes, int64_t now_ms,
                            GError **error)
{
  g_return_val_if_fail (ledger != NULL && (nodes != NULL || n_nodes == 0), false);

  return change_states (QUOIT_TARGET_LEDGER (ledger), nodes, n_nodes, QUOIT_VERB_UNDRAIN, QUOIT_NODE_ALIVE, now_ms,
                        error);
}

bool
quoit_fork_set_node_state (QuoitFork *fork, const char *node, QuoitNodeState state, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (fork != NULL && node != NULL, false);

  return change_states (QUOIT_TARGET_FORK (fork), &node, 1, QUOIT_VERB_SET_STATE, state, now_ms, error);
}

bool
quoit_fork_set_node_states (QuoitFork *fork, const char *const *nodes, uint32_t n_nodes, QuoitNodeState state,
                            int64_t now_ms, GError **error)
{
  g_return_val_if_fail (fork != NULL && (nodes != NULL || n_nodes == 0), false);

  return change_states (QUOIT_TARGET_FORK (fork), nodes, n_nodes, QUOIT_VERB_SET_STATE, state, now_ms, error);
}

bool
quoit_fork_drain_nodes (QuoitFork *fork, const char *const *nodes, uint32_t n_nodes, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (fork != NULL && (nodes != NULL || n_nodes == 0), false);

  return change_states (QUOIT_TARGET_FORK (fork), nodes, n_nodes, QUOIT_VERB_DRAIN, QUOIT_NODE_DRAINING, now_ms, error);
}

bool
quoit_fork_undrain_nodes (QuoitFork *fork, const char *const *nodes, uint32_t n_nodes, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (fork != NULL && (nodes != NULL || n_nodes == 0), false);

  return change_states (QUOIT_TARGET_FORK (fork), nodes, n_nodes, QUOIT_VERB_UNDRAIN, QUOIT_NODE_ALIVE, now_ms, error);
}

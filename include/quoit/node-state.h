/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_NODE_STATE_H
#define QUOIT_NODE_STATE_H

#include <stdbool.h>

#include <quoit/fork.h>
#include <quoit/ledger.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * quoit_ledger_set_node_state:
 * @node: short or full name (source/pool/name)
 * @state: the new state
 * @now_ms: the caller's clock
 *
 * Sets the state of a node. The node keeps this state until its source reports another state than it reported last.
 * Setting the present state changes nothing.
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND for an unknown node, and %QUOIT_ERROR_INVALID for an ambiguous name. See also
 * "Errors of changes" of #QuoitLedger.
 */
QUOIT_API bool quoit_ledger_set_node_state (QuoitLedger *ledger, const char *node, QuoitNodeState state, int64_t now_ms,
                                            GError **error);

/**
 * quoit_ledger_set_node_states:
 * @nodes: (array length=n_nodes): short or full names (source/pool/name); a name may occur more than once
 * @state: the new state of all of them
 * @now_ms: the caller's clock
 *
 * Like quoit_ledger_set_node_state(), for many nodes in one journal entry: all of them, or none.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_set_node_states (QuoitLedger *ledger, const char *const *nodes, uint32_t n_nodes,
                                             QuoitNodeState state, int64_t now_ms, GError **error);

/**
 * quoit_ledger_drain_node:
 * @node: short or full name (source/pool/name)
 * @now_ms: the caller's clock
 *
 * Keeps new groups away from the node and its slice. Groups that have it stay.
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND for an unknown node, %QUOIT_ERROR_INVALID for an ambiguous name, and
 * %QUOIT_ERROR_CONFLICT for a dead node. See also "Errors of changes" of #QuoitLedger.
 */
QUOIT_API bool quoit_ledger_drain_node (QuoitLedger *ledger, const char *node, int64_t now_ms, GError **error);

/**
 * quoit_ledger_drain_nodes:
 * @nodes: (array length=n_nodes): short or full names (source/pool/name); a name may occur more than once
 * @now_ms: the caller's clock
 *
 * Like quoit_ledger_drain_node(), for many nodes in one journal entry: all of them, or none.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_drain_nodes (QuoitLedger *ledger, const char *const *nodes, uint32_t n_nodes,
                                         int64_t now_ms, GError **error);

/**
 * quoit_ledger_undrain_node:
 * @node: short or full name (source/pool/name)
 * @now_ms: the caller's clock
 *
 * Reverts quoit_ledger_drain_node(), and fails like it.
 */
QUOIT_API bool quoit_ledger_undrain_node (QuoitLedger *ledger, const char *node, int64_t now_ms, GError **error);

/**
 * quoit_ledger_undrain_nodes:
 * @nodes: (array length=n_nodes): short or full names (source/pool/name); a name may occur more than once
 * @now_ms: the caller's clock
 *
 * Reverts quoit_ledger_drain_nodes(), and fails like it.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_undrain_nodes (QuoitLedger *ledger, const char *const *nodes, uint32_t n_nodes,
                                           int64_t now_ms, GError **error);

/**
 * quoit_fork_set_node_state:
 * @node: short or full name
 * @state: the new state
 * @now_ms: the caller's clock
 *
 * Like quoit_ledger_set_node_state(), on the fork only.
 */
QUOIT_API bool quoit_fork_set_node_state (QuoitFork *fork, const char *node, QuoitNodeState state, int64_t now_ms,
                                          GError **error);

/**
 * quoit_fork_set_node_states:
 * @nodes: (array length=n_nodes): short or full names
 * @state: the new state of all of them
 * @now_ms: the caller's clock
 *
 * Like quoit_ledger_set_node_states(), on the fork only.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_fork_set_node_states (QuoitFork *fork, const char *const *nodes, uint32_t n_nodes,
                                           QuoitNodeState state, int64_t now_ms, GError **error);

/**
 * quoit_fork_drain_nodes:
 * @nodes: (array length=n_nodes): short or full names
 * @now_ms: the caller's clock
 *
 * Like quoit_ledger_drain_nodes(), on the fork only.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_fork_drain_nodes (QuoitFork *fork, const char *const *nodes, uint32_t n_nodes, int64_t now_ms,
                                       GError **error);

/**
 * quoit_fork_undrain_nodes:
 * @nodes: (array length=n_nodes): short or full names
 * @now_ms: the caller's clock
 *
 * Like quoit_ledger_undrain_nodes(), on the fork only.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_fork_undrain_nodes (QuoitFork *fork, const char *const *nodes, uint32_t n_nodes, int64_t now_ms,
                                         GError **error);

/* cdef-end */

G_END_DECLS

#endif

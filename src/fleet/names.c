/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/names.h"

static const char *const node_states[] = {
  [QUOIT_NODE_ALIVE] = "alive",
  [QUOIT_NODE_DRAINING] = "draining",
  [QUOIT_NODE_DEAD] = "dead",
};

/* What Kubernetes states about a node, and the state that follows. */
static const struct {
  const char *text;
  QuoitNodeState state;
} causes[] = {
  [QUOIT_CAUSE_NONE] = { "", QUOIT_NODE_ALIVE },
  [QUOIT_CAUSE_TAINTED] = { "a taint announces its removal", QUOIT_NODE_DRAINING },
  [QUOIT_CAUSE_UNSCHEDULABLE] = { "unschedulable", QUOIT_NODE_DRAINING },
  [QUOIT_CAUSE_DELETING] = { "being deleted", QUOIT_NODE_DRAINING },
  [QUOIT_CAUSE_FEWER_CHIPS] = { "gives pods fewer chips than it has", QUOIT_NODE_DEAD },
  [QUOIT_CAUSE_NOT_READY] = { "NotReady", QUOIT_NODE_DEAD },
  [QUOIT_CAUSE_NOT_REPORTING] = { "does not report", QUOIT_NODE_DEAD },
};

static const char *const group_states[] = {
  [QUOIT_GROUP_HELD] = "HELD",       [QUOIT_GROUP_RESERVED] = "RESERVED", [QUOIT_GROUP_RESCHEDULING] = "RESCHEDULING",
  [QUOIT_GROUP_REMOVED] = "REMOVED", [QUOIT_GROUP_PENDING] = "PENDING",   [QUOIT_GROUP_AHEAD] = "AHEAD",
};

#define LOOK_UP(table, value)                                                                                          \
  ((guint) (value) < G_N_ELEMENTS (table) && (table)[(value)] != NULL ? (table)[(value)] : "unknown")

const char *
quoit_node_state_name (QuoitNodeState state)
{
  return LOOK_UP (node_states, state);
}

const char *
quoit_node_cause_text (QuoitNodeCause cause)
{
  return (guint) cause < G_N_ELEMENTS (causes) ? causes[cause].text : "unknown";
}

/* Another source than that of the cause can have decided the state. */
static gboolean
is_cause_of (QuoitNodeCause cause, QuoitNodeState state)
{
  return (guint) cause < G_N_ELEMENTS (causes) && causes[cause].state == state;
}

const char *
quoit_fleet_node_reason (const QuoitFleet *fleet, QuoitNodeId node)
{
  const QuoitNodeState state = quoit_fleet_node_state (fleet, node);
  const guint8 flags = fleet->layout->nodes[node.index].flags;
  const QuoitNodeCause cause = quoit_layout_node_cause (fleet->layout, node);

  if (state == QUOIT_NODE_ALIVE || state != quoit_layout_claimed_state (fleet->layout, node))
    return "";
  if (is_cause_of (cause, state))
    return quoit_node_cause_text (cause);
  return (flags & QUOIT_NODE_LOST) != 0 && state == QUOIT_NODE_DEAD ? "no longer in its source" : "";
}

const char *
quoit_group_state_name (QuoitGroupState state)
{
  return LOOK_UP (group_states, state);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/names.h"

static const char *const node_states[] = {
  [QUOIT_NODE_ALIVE] = "alive",
  [QUOIT_NODE_DRAINING] = "draining",
  [QUOIT_NODE_DEAD] = "dead",
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
quoit_group_state_name (QuoitGroupState state)
{
  return LOOK_UP (group_states, state);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/names.h"

static const char *const node_states[] = {
  [QUOIT_NODE_ALIVE] = "alive",
  [QUOIT_NODE_DRAINING] = "draining",
  [QUOIT_NODE_DEAD] = "dead",
};

static const char *const source_kinds[] = {
  [QUOIT_SOURCE_KIND_FLEET] = "fleet",
  [QUOIT_SOURCE_KIND_RAYCLUSTER] = "raycluster",
  [QUOIT_SOURCE_KIND_RAY_NODES] = "ray-nodes",
  [QUOIT_SOURCE_KIND_K8S_NODES] = "k8s-nodes",
};

static const char *const group_states[] = {
  [QUOIT_GROUP_HELD] = "HELD",       [QUOIT_GROUP_RESERVED] = "RESERVED", [QUOIT_GROUP_RESCHEDULING] = "RESCHEDULING",
  [QUOIT_GROUP_REMOVED] = "REMOVED", [QUOIT_GROUP_PENDING] = "PENDING",
};

#define LOOK_UP(table, value)                                                                                          \
  ((guint) (value) < G_N_ELEMENTS (table) && (table)[(value)] != NULL ? (table)[(value)] : "unknown")

const char *
quoit_node_state_name (QuoitNodeState state)
{
  return LOOK_UP (node_states, state);
}

const char *
quoit_source_kind_name (QuoitSourceKind kind)
{
  return LOOK_UP (source_kinds, kind);
}

const char *
quoit_group_state_name (QuoitGroupState state)
{
  return LOOK_UP (group_states, state);
}

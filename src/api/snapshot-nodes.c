/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the nodes of a snapshot. */
#include "api/handles.h"

static const QuoitLayout *
layout_of (const QuoitSnapshot *snapshot)
{
  return snapshot->fleet->layout;
}

uint32_t
quoit_snapshot_get_n_nodes (const QuoitSnapshot *snapshot)
{
  g_return_val_if_fail (snapshot != NULL, 0);

  return layout_of (snapshot)->n_nodes;
}

uint32_t
quoit_snapshot_get_node_id (const QuoitSnapshot *snapshot, uint32_t node)
{
  g_return_val_if_fail (snapshot != NULL && node < layout_of (snapshot)->n_nodes, 0);

  return layout_of (snapshot)->nodes[node].id;
}

int64_t
quoit_snapshot_find_node (const QuoitSnapshot *snapshot, uint32_t node_id)
{
  guint32 index;

  g_return_val_if_fail (snapshot != NULL, -1);

  index = node_id == 0 ? QUOIT_NO_INDEX : quoit_layout_find_id (layout_of (snapshot), node_id);
  return index == QUOIT_NO_INDEX ? -1 : (int64_t) index;
}

const char *
quoit_snapshot_get_node_name (const QuoitSnapshot *snapshot, uint32_t node)
{
  g_return_val_if_fail (snapshot != NULL && node < layout_of (snapshot)->n_nodes, NULL);

  return quoit_layout_node_name (layout_of (snapshot), (QuoitNodeId) { node });
}

char *
quoit_snapshot_dup_node_full_name (const QuoitSnapshot *snapshot, uint32_t node)
{
  g_return_val_if_fail (snapshot != NULL && node < layout_of (snapshot)->n_nodes, NULL);

  return quoit_layout_node_full_name (layout_of (snapshot), (QuoitNodeId) { node });
}

const char *
quoit_snapshot_get_node_source (const QuoitSnapshot *snapshot, uint32_t node, uint32_t claim)
{
  QuoitSourceId source;

  g_return_val_if_fail (snapshot != NULL && node < layout_of (snapshot)->n_nodes, NULL);

  return quoit_layout_node_source (layout_of (snapshot), (QuoitNodeId) { node }, claim, &source)
             ? quoit_layout_text (layout_of (snapshot), layout_of (snapshot)->sources[source.index].name)
             : NULL;
}

char *
quoit_snapshot_dup_node_identity (const QuoitSnapshot *snapshot, uint32_t node)
{
  g_return_val_if_fail (snapshot != NULL && node < layout_of (snapshot)->n_nodes, NULL);

  return quoit_layout_node_identity (layout_of (snapshot), (QuoitNodeId) { node });
}

const char *
quoit_snapshot_get_node_address (const QuoitSnapshot *snapshot, uint32_t node)
{
  g_return_val_if_fail (snapshot != NULL && node < layout_of (snapshot)->n_nodes, NULL);

  return quoit_layout_node_address (layout_of (snapshot), (QuoitNodeId) { node });
}

QuoitNodeState
quoit_snapshot_get_node_state (const QuoitSnapshot *snapshot, uint32_t node)
{
  g_return_val_if_fail (snapshot != NULL && node < layout_of (snapshot)->n_nodes, QUOIT_NODE_DEAD);

  return quoit_fleet_node_state (snapshot->fleet, (QuoitNodeId) { node });
}

uint32_t
quoit_snapshot_get_node_pool (const QuoitSnapshot *snapshot, uint32_t node)
{
  g_return_val_if_fail (snapshot != NULL && node < layout_of (snapshot)->n_nodes, 0);

  return quoit_layout_node_pool (layout_of (snapshot), (QuoitNodeId) { node }).index;
}

int64_t
quoit_snapshot_get_node_slice (const QuoitSnapshot *snapshot, uint32_t node)
{
  g_return_val_if_fail (snapshot != NULL && node < layout_of (snapshot)->n_nodes, -1);

  return layout_of (snapshot)->nodes[node].slice == QUOIT_NO_INDEX ? -1
                                                                   : (int64_t) layout_of (snapshot)->nodes[node].slice;
}

int32_t
quoit_snapshot_get_node_worker_id (const QuoitSnapshot *snapshot, uint32_t node)
{
  g_return_val_if_fail (snapshot != NULL && node < layout_of (snapshot)->n_nodes, -1);

  return layout_of (snapshot)->nodes[node].worker_id;
}

uint32_t
quoit_snapshot_get_node_chips (const QuoitSnapshot *snapshot, uint32_t node)
{
  g_return_val_if_fail (snapshot != NULL && node < layout_of (snapshot)->n_nodes, 0);

  return quoit_layout_node_kind (layout_of (snapshot), (QuoitNodeId) { node })->chips;
}

bool
quoit_snapshot_is_node_ray_head (const QuoitSnapshot *snapshot, uint32_t node)
{
  g_return_val_if_fail (snapshot != NULL && node < layout_of (snapshot)->n_nodes, false);

  return (layout_of (snapshot)->nodes[node].flags & QUOIT_NODE_RAY_HEAD) != 0;
}

bool
quoit_snapshot_is_node_external (const QuoitSnapshot *snapshot, uint32_t node)
{
  g_return_val_if_fail (snapshot != NULL && node < layout_of (snapshot)->n_nodes, false);

  return quoit_fleet_node_is_external (snapshot->fleet, (QuoitNodeId) { node });
}

uint32_t
quoit_node_assumptions (const QuoitLayout *layout, uint32_t node)
{
  guint8 flags = layout->nodes[node].flags;

  return ((flags & QUOIT_NODE_ASSUMED_ID) != 0 ? QUOIT_NODE_ASSUMES_WORKER_ID : 0)
         | ((flags & QUOIT_NODE_ASSUMED_NAME) != 0 ? QUOIT_NODE_ASSUMES_HOST_NAME : 0);
}

uint32_t
quoit_snapshot_get_node_assumptions (const QuoitSnapshot *snapshot, uint32_t node)
{
  g_return_val_if_fail (snapshot != NULL && node < layout_of (snapshot)->n_nodes, 0);

  return quoit_node_assumptions (layout_of (snapshot), node);
}

uint32_t
quoit_snapshot_get_node_n_users (const QuoitSnapshot *snapshot, uint32_t node)
{
  g_autoptr (GPtrArray) groups = NULL;

  g_return_val_if_fail (snapshot != NULL && node < layout_of (snapshot)->n_nodes, 0);

  groups = quoit_fleet_node_groups (snapshot->fleet, (QuoitNodeId) { node });
  return groups->len;
}

static const QuoitGroupData *
user_at (const QuoitSnapshot *snapshot, uint32_t node, uint32_t user)
{
  g_autoptr (GPtrArray) groups = NULL;

  g_return_val_if_fail (snapshot != NULL && node < layout_of (snapshot)->n_nodes, NULL);

  groups = quoit_fleet_node_groups (snapshot->fleet, (QuoitNodeId) { node });
  g_return_val_if_fail (user < groups->len, NULL);

  return groups->pdata[user];
}

char *
quoit_snapshot_dup_node_user_share (const QuoitSnapshot *snapshot, uint32_t node, uint32_t user)
{
  const QuoitGroupData *group = user_at (snapshot, node, user);

  return group == NULL ? NULL : quoit_fleet_node_share_text (snapshot->fleet, (QuoitNodeId) { node }, group);
}

uint64_t
quoit_snapshot_get_node_user_id (const QuoitSnapshot *snapshot, uint32_t node, uint32_t user)
{
  const QuoitGroupData *group = user_at (snapshot, node, user);

  return group == NULL ? 0 : group->id;
}

uint64_t
quoit_snapshot_get_node_user_chips (const QuoitSnapshot *snapshot, uint32_t node, uint32_t user)
{
  const QuoitGroupData *group = user_at (snapshot, node, user);

  return group == NULL ? 0 : quoit_fleet_node_chips_of (snapshot->fleet, (QuoitNodeId) { node }, group);
}

uint64_t
quoit_snapshot_get_node_external_chips (const QuoitSnapshot *snapshot, uint32_t node)
{
  g_return_val_if_fail (snapshot != NULL && node < layout_of (snapshot)->n_nodes, 0);

  return quoit_fleet_node_chips_of (snapshot->fleet, (QuoitNodeId) { node }, NULL);
}

char *
quoit_snapshot_dup_node_label (const QuoitSnapshot *snapshot, uint32_t node, const char *key)
{
  char room[QUOIT_LABEL_ROOM];

  g_return_val_if_fail (snapshot != NULL && node < layout_of (snapshot)->n_nodes && key != NULL, NULL);

  return g_strdup (quoit_layout_node_label (layout_of (snapshot), (QuoitNodeId) { node }, key, room));
}

/* Resources are numbered: first those of the node kind, then those that Ray derives. */
static guint
n_stated (const QuoitSnapshot *snapshot, uint32_t node)
{
  return quoit_layout_node_kind (layout_of (snapshot), (QuoitNodeId) { node })->n_resources;
}

uint32_t
quoit_snapshot_get_node_n_resources (const QuoitSnapshot *snapshot, uint32_t node)
{
  guint n = 0;

  g_return_val_if_fail (snapshot != NULL && node < layout_of (snapshot)->n_nodes, 0);

  while (quoit_layout_node_derived (layout_of (snapshot), (QuoitNodeId) { node }, n) != NULL)
    n++;
  return n_stated (snapshot, node) + n;
}

const char *
quoit_snapshot_get_node_resource_name (const QuoitSnapshot *snapshot, uint32_t node, uint32_t resource)
{
  guint stated;

  g_return_val_if_fail (snapshot != NULL && node < layout_of (snapshot)->n_nodes, NULL);
  g_return_val_if_fail (resource < quoit_snapshot_get_node_n_resources (snapshot, node), NULL);

  stated = n_stated (snapshot, node);
  if (resource >= stated)
    return quoit_layout_node_derived (layout_of (snapshot), (QuoitNodeId) { node }, resource - stated);
  return quoit_layout_node_kind (layout_of (snapshot), (QuoitNodeId) { node })->resources[resource].name;
}

static QuoitAmount
total_of (const QuoitSnapshot *snapshot, uint32_t node, uint32_t resource)
{
  return resource >= n_stated (snapshot, node)
             ? (QuoitAmount) { QUOIT_AMOUNT_UNIT }
             : quoit_layout_node_kind (layout_of (snapshot), (QuoitNodeId) { node })->resources[resource].amount;
}

static QuoitAmount
left_of (const QuoitSnapshot *snapshot, uint32_t node, uint32_t resource)
{
  uint32_t stated = n_stated (snapshot, node);
  g_autofree QuoitAmount *left = g_new0 (QuoitAmount, stated + 1);
  QuoitChipsLeft chips;

  if (resource >= stated)
    return quoit_fleet_node_derived_left (snapshot->fleet, (QuoitNodeId) { node }, resource - stated);
  quoit_fleet_node_left (snapshot->fleet, (QuoitNodeId) { node }, left, &chips);
  return left[resource];
}

QuoitAmount
quoit_snapshot_get_node_amount (const QuoitSnapshot *snapshot, uint32_t node, uint32_t resource, QuoitAmountPart part)
{
  const char *name = quoit_snapshot_get_node_resource_name (snapshot, node, resource);
  const QuoitAmount none = { 0 };

  g_return_val_if_fail (name != NULL && (unsigned) part <= QUOIT_AMOUNT_EXTERNAL, none);

  if (part == QUOIT_AMOUNT_TOTAL)
    return total_of (snapshot, node, resource);
  if (part == QUOIT_AMOUNT_LEFT)
    return left_of (snapshot, node, resource);
  return quoit_fleet_node_external_of (snapshot->fleet, (QuoitNodeId) { node }, name,
                                       total_of (snapshot, node, resource));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the nodes of a snapshot. */
#include "api/handles.h"
#include "fleet/names.h"

static const QuoitLayout *
snapshot_layout (const QuoitSnapshot *snapshot)
{
  return snapshot->fleet->layout;
}

uint32_t
quoit_snapshot_get_n_nodes (const QuoitSnapshot *snapshot)
{
  g_return_val_if_fail (snapshot != NULL, 0);

  return snapshot_layout (snapshot)->n_nodes;
}

uint32_t
quoit_snapshot_get_node_id (const QuoitSnapshot *snapshot, uint32_t node)
{
  g_return_val_if_fail (snapshot != NULL && node < snapshot_layout (snapshot)->n_nodes, 0);

  return snapshot_layout (snapshot)->nodes[node].id;
}

int64_t
quoit_snapshot_find_node (const QuoitSnapshot *snapshot, uint32_t node_id)
{
  guint32 index;

  g_return_val_if_fail (snapshot != NULL, -1);

  index = node_id == 0 ? QUOIT_NO_INDEX : quoit_layout_find_id (snapshot_layout (snapshot), node_id);
  return index == QUOIT_NO_INDEX ? -1 : (int64_t) index;
}

const char *
quoit_snapshot_get_node_name (const QuoitSnapshot *snapshot, uint32_t node)
{
  g_return_val_if_fail (snapshot != NULL && node < snapshot_layout (snapshot)->n_nodes, NULL);

  return quoit_layout_node_name (snapshot_layout (snapshot), (QuoitNodeId) { node });
}

char *
quoit_snapshot_dup_node_full_name (const QuoitSnapshot *snapshot, uint32_t node)
{
  g_return_val_if_fail (snapshot != NULL && node < snapshot_layout (snapshot)->n_nodes, NULL);

  return quoit_layout_node_full_name (snapshot_layout (snapshot), (QuoitNodeId) { node });
}

const char *
quoit_snapshot_get_node_source (const QuoitSnapshot *snapshot, uint32_t node, uint32_t claim)
{
  QuoitSourceId source;

  g_return_val_if_fail (snapshot != NULL && node < snapshot_layout (snapshot)->n_nodes, NULL);

  return quoit_layout_node_source (snapshot_layout (snapshot), (QuoitNodeId) { node }, claim, &source)
             ? quoit_layout_text (snapshot_layout (snapshot), snapshot_layout (snapshot)->sources[source.index].name)
             : NULL;
}

char *
quoit_snapshot_dup_node_identity (const QuoitSnapshot *snapshot, uint32_t node)
{
  g_return_val_if_fail (snapshot != NULL && node < snapshot_layout (snapshot)->n_nodes, NULL);

  return quoit_layout_node_identity (snapshot_layout (snapshot), (QuoitNodeId) { node });
}

const char *
quoit_snapshot_get_node_address (const QuoitSnapshot *snapshot, uint32_t node)
{
  g_return_val_if_fail (snapshot != NULL && node < snapshot_layout (snapshot)->n_nodes, NULL);

  return quoit_layout_node_address (snapshot_layout (snapshot), (QuoitNodeId) { node });
}

QuoitNodeState
quoit_snapshot_get_node_state (const QuoitSnapshot *snapshot, uint32_t node)
{
  g_return_val_if_fail (snapshot != NULL && node < snapshot_layout (snapshot)->n_nodes, QUOIT_NODE_DEAD);

  return quoit_fleet_node_state (snapshot->fleet, (QuoitNodeId) { node });
}

const char *
quoit_snapshot_get_node_reason (const QuoitSnapshot *snapshot, uint32_t node)
{
  g_return_val_if_fail (snapshot != NULL && node < snapshot_layout (snapshot)->n_nodes, "");

  return quoit_fleet_node_reason (snapshot->fleet, (QuoitNodeId) { node });
}

uint32_t
quoit_snapshot_get_node_pool (const QuoitSnapshot *snapshot, uint32_t node)
{
  g_return_val_if_fail (snapshot != NULL && node < snapshot_layout (snapshot)->n_nodes, 0);

  return quoit_layout_node_pool (snapshot_layout (snapshot), (QuoitNodeId) { node }).index;
}

int64_t
quoit_snapshot_get_node_slice (const QuoitSnapshot *snapshot, uint32_t node)
{
  g_return_val_if_fail (snapshot != NULL && node < snapshot_layout (snapshot)->n_nodes, -1);

  return snapshot_layout (snapshot)->nodes[node].slice == QUOIT_NO_INDEX
             ? -1
             : (int64_t) snapshot_layout (snapshot)->nodes[node].slice;
}

int32_t
quoit_snapshot_get_node_worker_id (const QuoitSnapshot *snapshot, uint32_t node)
{
  g_return_val_if_fail (snapshot != NULL && node < snapshot_layout (snapshot)->n_nodes, -1);

  return snapshot_layout (snapshot)->nodes[node].worker_id;
}

QuoitAmount
quoit_snapshot_get_node_chip_amount (const QuoitSnapshot *snapshot, uint32_t node, QuoitAmountPart part)
{
  const QuoitAmount none = { 0 };

  g_return_val_if_fail (snapshot != NULL && node < snapshot_layout (snapshot)->n_nodes, none);
  g_return_val_if_fail (quoit_amount_part_is_valid (part), none);

  if (part == QUOIT_AMOUNT_TOTAL)
    return quoit_amount_from_int (quoit_layout_node_kind (snapshot_layout (snapshot), (QuoitNodeId) { node })->chips);
  return quoit_fleet_node_chip_units (snapshot->fleet, (QuoitNodeId) { node }).amount[quoit_amount_part_state (part)];
}

bool
quoit_snapshot_is_node_ray_head (const QuoitSnapshot *snapshot, uint32_t node)
{
  g_return_val_if_fail (snapshot != NULL && node < snapshot_layout (snapshot)->n_nodes, false);

  return (snapshot_layout (snapshot)->nodes[node].flags & QUOIT_NODE_RAY_HEAD) != 0;
}

bool
quoit_snapshot_is_node_external (const QuoitSnapshot *snapshot, uint32_t node)
{
  g_return_val_if_fail (snapshot != NULL && node < snapshot_layout (snapshot)->n_nodes, false);

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
  g_return_val_if_fail (snapshot != NULL && node < snapshot_layout (snapshot)->n_nodes, 0);

  return quoit_node_assumptions (snapshot_layout (snapshot), node);
}

uint32_t
quoit_snapshot_get_node_n_users (const QuoitSnapshot *snapshot, uint32_t node)
{
  g_autoptr (GPtrArray) groups = NULL;

  g_return_val_if_fail (snapshot != NULL && node < snapshot_layout (snapshot)->n_nodes, 0);

  groups = quoit_fleet_node_groups (snapshot->fleet, (QuoitNodeId) { node });
  return groups->len;
}

static const QuoitGroupData *
user_at (const QuoitSnapshot *snapshot, uint32_t node, uint32_t user)
{
  g_autoptr (GPtrArray) groups = NULL;

  g_return_val_if_fail (snapshot != NULL && node < snapshot_layout (snapshot)->n_nodes, NULL);

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

  return group == NULL ? 0 : quoit_fleet_node_group_chips (snapshot->fleet, (QuoitNodeId) { node }, group);
}

uint64_t
quoit_snapshot_get_node_external_chips (const QuoitSnapshot *snapshot, uint32_t node)
{
  g_return_val_if_fail (snapshot != NULL && node < snapshot_layout (snapshot)->n_nodes, 0);

  return quoit_fleet_node_group_chips (snapshot->fleet, (QuoitNodeId) { node }, NULL);
}

char *
quoit_snapshot_dup_node_label (const QuoitSnapshot *snapshot, uint32_t node, const char *key)
{
  char room[QUOIT_LABEL_BUFFER_SIZE];

  g_return_val_if_fail (snapshot != NULL && node < snapshot_layout (snapshot)->n_nodes && key != NULL, NULL);

  return g_strdup (quoit_layout_node_label (snapshot_layout (snapshot), (QuoitNodeId) { node }, key, room));
}

/* Resources are indexed: first those that the node kind has, then those that Ray derives. Returns the number of the
 * former. */
static guint
count_own_resources (const QuoitSnapshot *snapshot, uint32_t node)
{
  return quoit_layout_node_kind (snapshot_layout (snapshot), (QuoitNodeId) { node })->n_resources;
}

uint32_t
quoit_snapshot_get_node_n_resources (const QuoitSnapshot *snapshot, uint32_t node)
{
  g_return_val_if_fail (snapshot != NULL && node < snapshot_layout (snapshot)->n_nodes, 0);

  return quoit_fleet_node_n_resources (snapshot->fleet, (QuoitNodeId) { node });
}

const char *
quoit_snapshot_get_node_resource_name (const QuoitSnapshot *snapshot, uint32_t node, uint32_t resource)
{
  guint n_own;

  g_return_val_if_fail (snapshot != NULL && node < snapshot_layout (snapshot)->n_nodes, NULL);
  g_return_val_if_fail (resource < quoit_snapshot_get_node_n_resources (snapshot, node), NULL);

  n_own = count_own_resources (snapshot, node);
  if (resource >= n_own)
    return quoit_layout_node_derived (snapshot_layout (snapshot), (QuoitNodeId) { node }, resource - n_own);
  return quoit_layout_node_kind (snapshot_layout (snapshot), (QuoitNodeId) { node })->resources[resource].name;
}

QuoitAmount
quoit_snapshot_get_node_amount (const QuoitSnapshot *snapshot, uint32_t node, uint32_t resource, QuoitAmountPart part)
{
  const QuoitAmount none = { 0 };

  g_return_val_if_fail (resource < quoit_snapshot_get_node_n_resources (snapshot, node), none);
  g_return_val_if_fail (quoit_amount_part_is_valid (part), none);

  if (part == QUOIT_AMOUNT_TOTAL)
    return quoit_fleet_node_total (snapshot->fleet, (QuoitNodeId) { node }, resource);
  return quoit_fleet_node_units (snapshot->fleet, (QuoitNodeId) { node }, resource)
      .amount[quoit_amount_part_state (part)];
}

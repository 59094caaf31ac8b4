/* SPDX-License-Identifier: Apache-2.0 */
/* Derives the states of groups and of their slices from the states of their nodes. */
#include "fleet/fleet.h"

QuoitGroupSliceState
quoit_group_slice_state_from_node (QuoitNodeState node)
{
  switch (node)
    {
    case QUOIT_NODE_ALIVE:
      return QUOIT_GROUP_SLICE_WHOLE;
    case QUOIT_NODE_DRAINING:
      return QUOIT_GROUP_SLICE_LEAVING;
    case QUOIT_NODE_DEAD:
    default:
      return QUOIT_GROUP_SLICE_LOST;
    }
}

static QuoitGroupSliceState
node_state (const QuoitFleet *fleet, guint32 id)
{
  const QuoitLayout *layout = fleet->layout;
  guint32 index = quoit_layout_find_id (layout, id);

  return quoit_group_slice_state_from_node (
      index == QUOIT_NO_INDEX ? QUOIT_NODE_DEAD : quoit_fleet_node_state (fleet, (QuoitNodeId) { index }));
}

QuoitGroupSliceState
quoit_fleet_group_slice_state (const QuoitFleet *fleet, const QuoitGroupData *group, guint32 slice)
{
  QuoitGroupSliceState worst = QUOIT_GROUP_SLICE_WHOLE;

  for (guint32 i = quoit_group_first_node (group, slice); i < group->slice_end[slice]; i++)
    worst = MAX (worst, node_state (fleet, group->node_ids[i]));
  return worst;
}

QuoitGroupState
quoit_fleet_group_state (const QuoitFleet *fleet, const QuoitGroupData *group)
{
  if (group->state != QUOIT_GROUP_RESERVED)
    return group->state;
  for (guint32 i = 0; i < group->n_nodes; i++)
    if (node_state (fleet, group->node_ids[i]) != QUOIT_GROUP_SLICE_WHOLE)
      return QUOIT_GROUP_RESCHEDULING;
  return QUOIT_GROUP_RESERVED;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handles.h"

QuoitGroup *
quoit_group_of (QuoitGroupData *data, QuoitLayout *layout, QuoitGroupState state)
{
  QuoitGroup *group = g_new (QuoitGroup, 1);

  g_atomic_ref_count_init (&group->refs);
  group->data = data;
  group->layout = layout;
  group->state = state;
  return group;
}

QuoitGroup *
quoit_group_in (const QuoitFleet *fleet, const QuoitGroupData *data)
{
  return quoit_group_of (quoit_group_data_ref (data), quoit_layout_ref (fleet->layout),
                         quoit_ledger_group_state (fleet, data));
}

QuoitGroup *
quoit_group_ref (QuoitGroup *group)
{
  g_return_val_if_fail (group != NULL, NULL);

  g_atomic_ref_count_inc (&group->refs);
  return group;
}

void
quoit_group_unref (QuoitGroup *group)
{
  if (group == NULL || !g_atomic_ref_count_dec (&group->refs))
    return;
  quoit_group_data_unref (group->data);
  quoit_layout_unref (group->layout);
  g_free (group);
}

uint64_t
quoit_group_get_id (const QuoitGroup *group)
{
  g_return_val_if_fail (group != NULL, 0);

  return group->data->id;
}

const char *
quoit_group_get_name (const QuoitGroup *group)
{
  g_return_val_if_fail (group != NULL, NULL);

  return group->data->name;
}

const char *
quoit_group_get_owner (const QuoitGroup *group)
{
  g_return_val_if_fail (group != NULL, NULL);

  return group->data->owner;
}

const char *
quoit_group_get_key (const QuoitGroup *group)
{
  g_return_val_if_fail (group != NULL, NULL);

  return group->data->key;
}

const char *
quoit_group_get_request (const QuoitGroup *group)
{
  g_return_val_if_fail (group != NULL, NULL);

  return group->data->request;
}

QuoitGroupState
quoit_group_get_state (const QuoitGroup *group)
{
  g_return_val_if_fail (group != NULL, QUOIT_GROUP_REMOVED);

  return group->state;
}

int64_t
quoit_group_get_since_ms (const QuoitGroup *group)
{
  g_return_val_if_fail (group != NULL, 0);

  return group->data->since_ms;
}

int64_t
quoit_group_get_ended_ms (const QuoitGroup *group)
{
  g_return_val_if_fail (group != NULL, 0);

  return group->data->ended_ms;
}

uint32_t
quoit_group_get_n_slices (const QuoitGroup *group)
{
  g_return_val_if_fail (group != NULL, 0);

  return group->data->n_slices;
}

static guint32
first_of (const QuoitGroup *group, guint32 slice)
{
  return slice == 0 ? 0 : group->data->slice_end[slice - 1];
}

/* The node's place in the layout that the group was made in. */
static QuoitNodeId
node_at (const QuoitGroup *group, guint32 slice, guint32 worker)
{
  return (QuoitNodeId) { group->layout->by_id[group->data->node_ids[first_of (group, slice) + worker]] };
}

char *
quoit_group_dup_slice_name (const QuoitGroup *group, uint32_t slice)
{
  g_return_val_if_fail (group != NULL && slice < group->data->n_slices, NULL);

  return quoit_layout_slice_display (group->layout,
                                     (QuoitSliceId) { group->layout->nodes[node_at (group, slice, 0).index].slice });
}

uint32_t
quoit_group_get_n_workers (const QuoitGroup *group, uint32_t slice)
{
  g_return_val_if_fail (group != NULL && slice < group->data->n_slices, 0);

  return group->data->slice_end[slice] - first_of (group, slice);
}

const char *
quoit_group_get_worker_name (const QuoitGroup *group, uint32_t slice, uint32_t worker)
{
  g_return_val_if_fail (group != NULL && slice < group->data->n_slices, NULL);
  g_return_val_if_fail (worker < quoit_group_get_n_workers (group, slice), NULL);

  return quoit_layout_node_name (group->layout, node_at (group, slice, worker));
}

const char *
quoit_group_get_worker_address (const QuoitGroup *group, uint32_t slice, uint32_t worker)
{
  g_return_val_if_fail (group != NULL && slice < group->data->n_slices, NULL);
  g_return_val_if_fail (worker < quoit_group_get_n_workers (group, slice), NULL);

  return quoit_layout_node_address (group->layout, node_at (group, slice, worker));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handles.h"

QuoitGroup *
quoit_group_new_all_alive (QuoitGroupData *data, QuoitLayout *layout)
{
  QuoitGroup *group = g_new (QuoitGroup, 1);

  g_atomic_ref_count_init (&group->refs);
  group->data = data;
  group->layout = layout;
  group->state = data->state;
  group->until_ms = data->until_ms;
  group->handle = NULL;
  group->slice_states = NULL;
  group->not_alive = NULL;
  return group;
}

static guint8 *
slice_states (const QuoitFleet *fleet, const QuoitGroupData *data)
{
  guint8 *states = g_malloc (data->n_slices + 1);

  for (guint32 s = 0; s < data->n_slices; s++)
    states[s] = (guint8) quoit_fleet_group_slice_state (fleet, data, s);
  return states;
}

/* Returns the states of the group's nodes that are not alive, by durable id, or NULL if all are alive. */
static GHashTable *
find_not_alive (const QuoitFleet *fleet, const QuoitGroupData *data)
{
  const QuoitLayout *layout = fleet->layout;
  GHashTable *not_alive = NULL;

  for (guint32 i = 0; i < data->n_nodes; i++)
    {
      guint32 id = data->node_ids[i], index = quoit_layout_find_id (layout, id);
      QuoitNodeState state
          = index == QUOIT_NO_INDEX ? QUOIT_NODE_DEAD : quoit_fleet_node_state (fleet, (QuoitNodeId) { index });

      if (state == QUOIT_NODE_ALIVE || id == 0)
        continue;
      if (not_alive == NULL)
        not_alive = g_hash_table_new (NULL, NULL);
      g_hash_table_insert (not_alive, GUINT_TO_POINTER (id), GUINT_TO_POINTER (state));
    }
  return not_alive;
}

QuoitGroup *
quoit_group_new_from_fleet (const QuoitFleet *fleet, const QuoitGroupData *data)
{
  QuoitGroup *group = quoit_group_new_all_alive (quoit_group_data_ref (data), quoit_layout_ref (fleet->layout));

  group->state = quoit_fleet_group_state (fleet, data);
  group->until_ms = quoit_fleet_group_until_ms (fleet, data);
  if (data->n_slices > 0 && group->state != QUOIT_GROUP_RESERVED)
    group->slice_states = slice_states (fleet, data);
  group->not_alive = find_not_alive (fleet, data);
  return group;
}

QuoitGroup *
quoit_group_new_reserved (const QuoitFleet *fleet, QuoitGroupData *data)
{
  QuoitGroup *group;

  /* Fast path. A call without a key cannot return an older group, so the group was just created and all its nodes are
   * alive. Without an owner, no lease but its own can end it. So its state is as it was stored. */
  if (*data->key == '\0' && *data->owner == '\0')
    return quoit_group_new_all_alive (data, quoit_layout_ref (fleet->layout));
  group = quoit_group_new_from_fleet (fleet, data);
  quoit_group_data_unref (data);
  return group;
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
  g_free (group->handle);
  g_free (group->slice_states);
  g_clear_pointer (&group->not_alive, g_hash_table_unref);
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
quoit_group_get_handle (const QuoitGroup *group)
{
  QuoitGroup *mutable_group = (QuoitGroup *) group;
  char *handle;

  g_return_val_if_fail (group != NULL, NULL);

  handle = g_atomic_pointer_get (&mutable_group->handle);
  if (handle != NULL)
    return handle;
  handle = g_strdup_printf ("%s@%" G_GUINT64_FORMAT, group->data->name, group->data->id);
  /* Another thread may have set the handle first. */
  if (!g_atomic_pointer_compare_and_exchange (&mutable_group->handle, NULL, handle))
    g_free (handle);
  return g_atomic_pointer_get (&mutable_group->handle);
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

uint32_t
quoit_group_get_alternative (const QuoitGroup *group)
{
  g_return_val_if_fail (group != NULL, 0);

  /* A source has other texts. */
  return *group->data->source != '\0' ? 0 : quoit_request_text_alternative (group->data->request);
}

QuoitGroupState
quoit_group_get_state (const QuoitGroup *group)
{
  g_return_val_if_fail (group != NULL, QUOIT_GROUP_REMOVED);

  return group->state;
}

int64_t
quoit_group_get_created_ms (const QuoitGroup *group)
{
  g_return_val_if_fail (group != NULL, 0);

  return group->data->created_ms;
}

int64_t
quoit_group_get_ended_ms (const QuoitGroup *group)
{
  g_return_val_if_fail (group != NULL, 0);

  return group->data->ended_ms;
}

int64_t
quoit_group_get_until_ms (const QuoitGroup *group)
{
  g_return_val_if_fail (group != NULL, 0);

  return group->until_ms;
}

int64_t
quoit_group_get_begins_ms (const QuoitGroup *group)
{
  g_return_val_if_fail (group != NULL, 0);

  return group->data->begins_ms;
}

int64_t
quoit_group_get_expected_end_ms (const QuoitGroup *group)
{
  g_return_val_if_fail (group != NULL, 0);

  return group->data->expected_end_ms;
}

int32_t
quoit_group_get_priority (const QuoitGroup *group)
{
  g_return_val_if_fail (group != NULL, 0);

  return group->data->priority;
}

/* --- labels and reason --- */

uint32_t
quoit_group_get_n_labels (const QuoitGroup *group)
{
  g_return_val_if_fail (group != NULL, 0);

  return group->data->n_labels;
}

const char *
quoit_group_get_label_key (const QuoitGroup *group, uint32_t label)
{
  g_return_val_if_fail (group != NULL && label < group->data->n_labels, NULL);

  return group->data->labels[label].key;
}

const char *
quoit_group_get_label_value (const QuoitGroup *group, uint32_t label)
{
  g_return_val_if_fail (group != NULL && label < group->data->n_labels, NULL);

  return group->data->labels[label].value;
}

const char *
quoit_group_find_label (const QuoitGroup *group, const char *key)
{
  g_return_val_if_fail (group != NULL && key != NULL, NULL);

  return quoit_labels_find (group->data->labels, group->data->n_labels, key);
}

const char *
quoit_group_get_release_reason (const QuoitGroup *group)
{
  g_return_val_if_fail (group != NULL, NULL);

  return group->data->reason;
}

const char *
quoit_group_get_source (const QuoitGroup *group)
{
  g_return_val_if_fail (group != NULL, NULL);

  return group->data->source;
}

bool
quoit_group_has_expired (const QuoitGroup *group)
{
  g_return_val_if_fail (group != NULL, false);

  return group->data->end == QUOIT_END_EXPIRED;
}

QuoitGroupSliceState
quoit_group_get_slice_state (const QuoitGroup *group, uint32_t slice)
{
  g_return_val_if_fail (group != NULL && slice < group->data->n_slices, QUOIT_GROUP_SLICE_LOST);

  return group->slice_states == NULL ? QUOIT_GROUP_SLICE_WHOLE : (QuoitGroupSliceState) group->slice_states[slice];
}

/* --- bundles --- */

uint32_t
quoit_group_get_n_bundles (const QuoitGroup *group)
{
  g_return_val_if_fail (group != NULL, 0);

  return group->data->bundles == NULL ? 0 : group->data->n_nodes;
}

static guint32
find_bundle_node (const QuoitGroup *group, uint32_t bundle)
{
  guint32 id = group->data->node_ids[bundle];

  return quoit_layout_find_id (group->layout, id);
}

const char *
quoit_group_get_bundle_node (const QuoitGroup *group, uint32_t bundle)
{
  g_return_val_if_fail (group != NULL && bundle < quoit_group_get_n_bundles (group), NULL);

  return find_bundle_node (group, bundle) == QUOIT_NO_INDEX
             ? NULL
             : quoit_layout_node_name (group->layout, (QuoitNodeId) { find_bundle_node (group, bundle) });
}

uint32_t
quoit_group_get_bundle_node_id (const QuoitGroup *group, uint32_t bundle)
{
  g_return_val_if_fail (group != NULL && bundle < quoit_group_get_n_bundles (group), 0);

  return find_bundle_node (group, bundle) == QUOIT_NO_INDEX ? 0
                                                            : group->layout->nodes[find_bundle_node (group, bundle)].id;
}

QuoitGroupSliceState
quoit_group_get_bundle_state (const QuoitGroup *group, uint32_t bundle)
{
  gpointer state;

  g_return_val_if_fail (group != NULL && bundle < quoit_group_get_n_bundles (group), QUOIT_GROUP_SLICE_LOST);

  if (find_bundle_node (group, bundle) == QUOIT_NO_INDEX)
    return QUOIT_GROUP_SLICE_LOST;
  state = group->not_alive == NULL
              ? NULL
              : g_hash_table_lookup (group->not_alive, GUINT_TO_POINTER (group->data->node_ids[bundle]));
  return state == NULL ? QUOIT_GROUP_SLICE_WHOLE : quoit_group_slice_state_from_node (GPOINTER_TO_UINT (state));
}

uint64_t
quoit_group_get_bundle_chips (const QuoitGroup *group, uint32_t bundle)
{
  const QuoitBundle *row;

  g_return_val_if_fail (group != NULL && bundle < quoit_group_get_n_bundles (group), 0);

  row = &group->data->bundles[bundle];
  return row->chips | (row->part.e4 > 0 ? (uint64_t) 1 << row->chip : 0);
}

uint32_t
quoit_group_get_bundle_n_resources (const QuoitGroup *group, uint32_t bundle)
{
  g_return_val_if_fail (group != NULL && bundle < quoit_group_get_n_bundles (group), 0);

  return group->data->bundles[bundle].n_takes;
}

static const QuoitTake *
take_at (const QuoitGroup *group, uint32_t bundle, uint32_t resource)
{
  g_return_val_if_fail (resource < quoit_group_get_bundle_n_resources (group, bundle), NULL);

  return &group->data->bundles[bundle].takes[resource];
}

const char *
quoit_group_get_bundle_resource_name (const QuoitGroup *group, uint32_t bundle, uint32_t resource)
{
  const QuoitTake *take = take_at (group, bundle, resource);

  return take == NULL ? NULL : take->resource;
}

QuoitAmount
quoit_group_get_bundle_amount (const QuoitGroup *group, uint32_t bundle, uint32_t resource)
{
  const QuoitTake *take = take_at (group, bundle, resource);

  return take == NULL ? (QuoitAmount) { 0 } : take->amount;
}

uint32_t
quoit_group_get_n_slices (const QuoitGroup *group)
{
  g_return_val_if_fail (group != NULL, 0);

  return group->data->n_slices;
}

/* Returns the node of a worker in the layout of the group. The bundles of a node are adjacent and count as one
 * worker. */
static QuoitNodeId
worker_node (const QuoitGroup *group, guint32 slice, guint32 worker)
{
  guint32 i = quoit_group_first_node (group->data, slice);

  if (group->data->bundles == NULL)
    i += worker;
  else
    for (; worker > 0; i++)
      worker -= group->data->node_ids[i + 1] != group->data->node_ids[i];
  return (QuoitNodeId) { quoit_layout_find_id (group->layout, group->data->node_ids[i]) };
}

/* An import can remove nodes that are promised to a reservation ahead. */
static gboolean
is_removed (QuoitNodeId node)
{
  return node.index == QUOIT_NO_INDEX;
}

char *
quoit_group_dup_slice_name (const QuoitGroup *group, uint32_t slice)
{
  QuoitNodeId node;

  g_return_val_if_fail (group != NULL && slice < group->data->n_slices, NULL);

  node = worker_node (group, slice, 0);
  if (is_removed (node) || group->layout->nodes[node.index].slice == QUOIT_NO_INDEX)
    return g_strdup ("");
  return quoit_layout_slice_display (group->layout, (QuoitSliceId) { group->layout->nodes[node.index].slice });
}

uint32_t
quoit_group_get_n_workers (const QuoitGroup *group, uint32_t slice)
{
  guint32 n;

  g_return_val_if_fail (group != NULL && slice < group->data->n_slices, 0);

  n = group->data->slice_end[slice] - quoit_group_first_node (group->data, slice);
  for (guint32 i = quoit_group_first_node (group->data, slice) + 1;
       group->data->bundles != NULL && i < group->data->slice_end[slice]; i++)
    n -= group->data->node_ids[i] == group->data->node_ids[i - 1];
  return n;
}

const char *
quoit_group_get_worker_name (const QuoitGroup *group, uint32_t slice, uint32_t worker)
{
  QuoitNodeId node;

  g_return_val_if_fail (group != NULL && slice < group->data->n_slices, NULL);
  g_return_val_if_fail (worker < quoit_group_get_n_workers (group, slice), NULL);

  node = worker_node (group, slice, worker);
  return is_removed (node) ? "" : quoit_layout_node_name (group->layout, node);
}

const char *
quoit_group_get_worker_address (const QuoitGroup *group, uint32_t slice, uint32_t worker)
{
  QuoitNodeId node;

  g_return_val_if_fail (group != NULL && slice < group->data->n_slices, NULL);
  g_return_val_if_fail (worker < quoit_group_get_n_workers (group, slice), NULL);

  node = worker_node (group, slice, worker);
  return is_removed (node) ? NULL : quoit_layout_node_address (group->layout, node);
}

uint32_t
quoit_group_get_worker_node_id (const QuoitGroup *group, uint32_t slice, uint32_t worker)
{
  QuoitNodeId node;

  g_return_val_if_fail (group != NULL && slice < group->data->n_slices, 0);
  g_return_val_if_fail (worker < quoit_group_get_n_workers (group, slice), 0);

  node = worker_node (group, slice, worker);
  return is_removed (node) ? 0 : group->layout->nodes[node.index].id;
}

char *
quoit_group_dup_worker_full_name (const QuoitGroup *group, uint32_t slice, uint32_t worker)
{
  QuoitNodeId node;

  g_return_val_if_fail (group != NULL && slice < group->data->n_slices, NULL);
  g_return_val_if_fail (worker < quoit_group_get_n_workers (group, slice), NULL);

  node = worker_node (group, slice, worker);
  return is_removed (node) ? g_strdup ("") : quoit_layout_node_full_name (group->layout, node);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The slices of a group that are joined from cubes. */
#include <quoit/models/gke-slice.h>

#include "api/handles.h"
#include "fleet/joined.h"
#include "formats/gke-slice.h"
#include "ledger/ahead.h"

bool
quoit_group_find_joined (const QuoitGroup *group, uint32_t slice, uint32_t shape[3])
{
  QuoitSliceFacts facts;

  g_return_val_if_fail (group != NULL && slice < group->data->n_slices && shape != NULL, false);

  if (group->data->kind != QUOIT_RECORD_CUBES || !quoit_group_joined_facts (group->layout, group->data, slice, &facts))
    return false;
  for (guint axis = 0; axis < 3; axis++)
    shape[axis] = facts.shape.dims[axis];
  return true;
}

char *
quoit_group_dup_worker_slice (const QuoitGroup *group, uint32_t slice, uint32_t worker)
{
  guint32 node, index;

  g_return_val_if_fail (group != NULL && slice < group->data->n_slices, NULL);
  g_return_val_if_fail (worker < quoit_group_get_n_workers (group, slice), NULL);

  node = quoit_layout_find_id (group->layout, quoit_group_get_worker_node_id (group, slice, worker));
  index = node == QUOIT_NO_INDEX ? QUOIT_NO_INDEX : group->layout->nodes[node].slice;
  return index == QUOIT_NO_INDEX ? g_strdup ("") : quoit_layout_slice_display (group->layout, (QuoitSliceId) { index });
}

char *
quoit_gke_slice_format (const QuoitGroup *group, uint32_t slice, GError **error)
{
  g_return_val_if_fail (group != NULL && slice < group->data->n_slices, NULL);

  return quoit_step_check_has_begun (group->data, error)
             ? quoit_write_gke_slice (group->layout, group->data, slice, error)
             : NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The places of the parts of a group. */
#include <string.h>

#include "api/handles.h"
#include "geometry/coordinates.h"

/* Sets @at to the first chip of the host and @slice to its slice, and returns the class of the slice; NULL: unknown. */
static const QuoitClass *
find_host (const QuoitLayout *layout, guint32 id, guint32 *slice_of, guint32 at[QUOIT_N_AXES])
{
  const guint32 node = quoit_layout_find_id (layout, id);
  const guint32 slice = node == QUOIT_NO_INDEX ? QUOIT_NO_INDEX : layout->nodes[node].slice;
  const QuoitClass *class = slice == QUOIT_NO_INDEX ? NULL
                                                    : quoit_layout_slice_class (layout, (QuoitSliceId) { slice });
  QuoitPosition position;

  if (class == NULL || layout->nodes[node].worker_id < 0
      || (guint32) layout->nodes[node].worker_id >= class->facts.hosts)
    return NULL;
  *slice_of = slice;
  position = quoit_position_from_index (class->facts.host_grid, (guint32) layout->nodes[node].worker_id);
  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    at[axis] = position.at[axis] * class->facts.host_block.dims[axis];
  return class;
}

bool
quoit_group_find_part (const QuoitGroup *group, uint32_t slice, uint32_t origin[3], uint32_t shape[3])
{
  const QuoitGroupData *data;
  guint32 first[QUOIT_N_AXES], at[QUOIT_N_AXES], sides[QUOIT_N_AXES], own_slice, other_slice;
  const QuoitClass *class;

  g_return_val_if_fail (group != NULL && slice < group->data->n_slices && origin != NULL && shape != NULL, false);

  data = group->data;
  if (data->kind != QUOIT_RECORD_PARTS)
    return false;
  class = find_host (group->layout, data->node_ids[quoit_group_first_node (data, slice)], &own_slice, first);
  for (guint axis = 0; class != NULL && axis < QUOIT_N_AXES; axis++)
    sides[axis] = class->facts.host_block.dims[axis];
  for (guint32 i = quoit_group_first_node (data, slice); class != NULL && i < data->slice_end[slice]; i++)
    {
      if (find_host (group->layout, data->node_ids[i], &other_slice, at) == NULL || other_slice != own_slice)
        return false;
      for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
        {
          const guint32 side = class->facts.shape.dims[axis];

          sides[axis] = MAX (sides[axis], (at[axis] + side - first[axis]) % side + class->facts.host_block.dims[axis]);
        }
    }
  if (class == NULL)
    return false;
  memcpy (origin, first, sizeof first);
  memcpy (shape, sides, sizeof sides);
  return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handles.h"
#include "planner/fragmentation.h"

#define DEFAULT_STEPS G_GUINT64_CONSTANT (200000)

QuoitFragmentation *
quoit_snapshot_measure_fragmentation (const QuoitSnapshot *snapshot, uint64_t steps)
{
  QuoitFragmentation *fragmentation;

  g_return_val_if_fail (snapshot != NULL, NULL);

  fragmentation = g_new0 (QuoitFragmentation, 1);
  quoit_fragmentation_measure (fragmentation, snapshot->fleet, steps == 0 ? DEFAULT_STEPS : steps);
  return fragmentation;
}

QuoitFragmentation *
quoit_snapshot_measure_joined_fragmentation (const QuoitSnapshot *snapshot, QuoitCubes cubes)
{
  QuoitFragmentation *fragmentation;

  g_return_val_if_fail (snapshot != NULL && cubes >= QUOIT_CUBES_ANY && cubes <= QUOIT_CUBES_ADJACENT, NULL);

  fragmentation = g_new0 (QuoitFragmentation, 1);
  quoit_fragmentation_measure_joined (fragmentation, snapshot->fleet, cubes);
  return fragmentation;
}

void
quoit_fragmentation_free (QuoitFragmentation *fragmentation)
{
  if (fragmentation == NULL)
    return;
  quoit_fragmentation_clear (fragmentation);
  g_free (fragmentation);
}

uint32_t
quoit_fragmentation_get_n_classes (const QuoitFragmentation *fragmentation)
{
  g_return_val_if_fail (fragmentation != NULL, 0);

  return fragmentation->classes->len;
}

static const QuoitFragmentationClass *
class_at (const QuoitFragmentation *fragmentation, uint32_t class_index)
{
  return &g_array_index (fragmentation->classes, QuoitFragmentationClass, class_index);
}

uint64_t
quoit_fragmentation_get_n_hosts (const QuoitFragmentation *fragmentation, uint32_t class_index)
{
  g_return_val_if_fail (fragmentation != NULL && class_index < fragmentation->classes->len, 0);

  return class_at (fragmentation, class_index)->n_hosts;
}

uint32_t
quoit_fragmentation_get_least (const QuoitFragmentation *fragmentation, uint32_t class_index)
{
  g_return_val_if_fail (fragmentation != NULL && class_index < fragmentation->classes->len, 0);

  return class_at (fragmentation, class_index)->least_ppm;
}

uint32_t
quoit_fragmentation_get_most (const QuoitFragmentation *fragmentation, uint32_t class_index)
{
  g_return_val_if_fail (fragmentation != NULL && class_index < fragmentation->classes->len, 0);

  return class_at (fragmentation, class_index)->most_ppm;
}

uint32_t
quoit_fragmentation_get_n_parts (const QuoitFragmentation *fragmentation, uint32_t class_index)
{
  g_return_val_if_fail (fragmentation != NULL && class_index < fragmentation->classes->len, 0);

  return class_at (fragmentation, class_index)->parts->len;
}

/* Returns NULL if an index is out of range. */
static const QuoitFragmentationPart *
part_at (const QuoitFragmentation *fragmentation, uint32_t class_index, uint32_t part)
{
  if (fragmentation == NULL || class_index >= fragmentation->classes->len
      || part >= class_at (fragmentation, class_index)->parts->len)
    return NULL;
  return &g_array_index (class_at (fragmentation, class_index)->parts, QuoitFragmentationPart, part);
}

char *
quoit_fragmentation_dup_part_topology (const QuoitFragmentation *fragmentation, uint32_t class_index, uint32_t part)
{
  const QuoitFragmentationPart *row = part_at (fragmentation, class_index, part);

  g_return_val_if_fail (row != NULL, NULL);

  return quoit_shape_format (row->shape);
}

uint32_t
quoit_fragmentation_get_part_weight (const QuoitFragmentation *fragmentation, uint32_t class_index, uint32_t part)
{
  const QuoitFragmentationPart *row = part_at (fragmentation, class_index, part);

  g_return_val_if_fail (row != NULL, 0);

  return row->weight_ppm;
}

uint64_t
quoit_fragmentation_get_part_least (const QuoitFragmentation *fragmentation, uint32_t class_index, uint32_t part)
{
  const QuoitFragmentationPart *row = part_at (fragmentation, class_index, part);

  g_return_val_if_fail (row != NULL, 0);

  return row->least;
}

uint64_t
quoit_fragmentation_get_part_most (const QuoitFragmentation *fragmentation, uint32_t class_index, uint32_t part)
{
  const QuoitFragmentationPart *row = part_at (fragmentation, class_index, part);

  g_return_val_if_fail (row != NULL, 0);

  return row->most;
}

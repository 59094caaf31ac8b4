/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the sums of a snapshot: resources, classes, groups. */
#include "api/handles.h"

static const QuoitLayout *
snapshot_layout (const QuoitSnapshot *snapshot)
{
  return snapshot->fleet->layout;
}

/* Computed on first use, because most snapshots do not need it. */
static const GArray *
snapshot_totals (const QuoitSnapshot *snapshot)
{
  QuoitSnapshot *own = (QuoitSnapshot *) snapshot;

  g_mutex_lock (&own->lock);
  if (own->totals == NULL)
    own->totals = quoit_fleet_totals (own->fleet);
  g_mutex_unlock (&own->lock);
  return own->totals;
}

uint32_t
quoit_snapshot_get_n_resources (const QuoitSnapshot *snapshot)
{
  g_return_val_if_fail (snapshot != NULL, 0);

  return snapshot_totals (snapshot)->len;
}

static const QuoitTotal *
total_at (const QuoitSnapshot *snapshot, uint32_t resource)
{
  g_return_val_if_fail (snapshot != NULL && resource < snapshot_totals (snapshot)->len, NULL);

  return &g_array_index (snapshot_totals (snapshot), QuoitTotal, resource);
}

const char *
quoit_snapshot_get_resource_name (const QuoitSnapshot *snapshot, uint32_t resource)
{
  const QuoitTotal *total = total_at (snapshot, resource);

  return total == NULL ? NULL : total->name;
}

char *
quoit_snapshot_dup_resource_sum (const QuoitSnapshot *snapshot, uint32_t resource, QuoitAmountPart part)
{
  const QuoitTotal *total = total_at (snapshot, resource);

  g_return_val_if_fail (total != NULL && quoit_amount_part_is_valid (part), NULL);

  return quoit_sum_format (part == QUOIT_AMOUNT_TOTAL ? quoit_unit_sums_total (&total->units)
                                                      : total->units.sum[quoit_amount_part_state (part)]);
}

/* --- classes --- */

uint32_t
quoit_snapshot_get_n_classes (const QuoitSnapshot *snapshot)
{
  g_return_val_if_fail (snapshot != NULL, 0);

  return snapshot_layout (snapshot)->n_classes;
}

static const QuoitClass *
class_at (const QuoitSnapshot *snapshot, uint32_t class_index)
{
  g_return_val_if_fail (snapshot != NULL && class_index < snapshot_layout (snapshot)->n_classes, NULL);

  return &snapshot_layout (snapshot)->classes[class_index];
}

const char *
quoit_snapshot_get_class_accelerator (const QuoitSnapshot *snapshot, uint32_t class_index)
{
  const QuoitClass *class = class_at (snapshot, class_index);

  return class == NULL ? NULL : quoit_generation_name (class->facts.generation);
}

char *
quoit_snapshot_dup_class_topology (const QuoitSnapshot *snapshot, uint32_t class_index)
{
  const QuoitClass *class = class_at (snapshot, class_index);

  return class == NULL ? NULL : quoit_shape_format (class->facts.shape);
}

uint32_t
quoit_snapshot_get_class_chips_per_host (const QuoitSnapshot *snapshot, uint32_t class_index)
{
  const QuoitClass *class = class_at (snapshot, class_index);

  return class == NULL ? 0 : class->facts.chips_per_host;
}

uint32_t
quoit_snapshot_get_class_n_hosts (const QuoitSnapshot *snapshot, uint32_t class_index)
{
  const QuoitClass *class = class_at (snapshot, class_index);

  return class == NULL ? 0 : class->facts.hosts;
}

uint32_t
quoit_snapshot_count_slices_of_class (const QuoitSnapshot *snapshot, uint32_t class_index, QuoitSliceFlags flag)
{
  const QuoitClass *class = class_at (snapshot, class_index);

  g_return_val_if_fail (class != NULL && (flag & (flag - 1)) == 0 && flag <= QUOIT_SLICE_FREE, 0);

  return flag == 0 ? class->n_slices : quoit_fleet_class_count (snapshot->fleet, (QuoitClassId) { class_index }, flag);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/ends.h"

#include "base/time.h"
#include "fleet/ahead.h"

gboolean
quoit_group_end_find (const QuoitFleet *fleet, guint32 slot, gint64 now_ms, QuoitGroupEnd *end)
{
  const QuoitGroupData *group = quoit_fleet_group_at (fleet, slot);

  if (group == NULL || group->state == QUOIT_GROUP_REMOVED || !quoit_group_is_listed (group)
      || quoit_group_is_ahead (group))
    return FALSE;
  *end = (QuoitGroupEnd) { .slot = slot, .time_ms = group->expected_end_ms };
  end->is_estimate = end->time_ms != 0;
  end->is_overdue = end->is_estimate && end->time_ms <= now_ms;
  if (end->is_overdue)
    end->time_ms = now_ms + 1;
  if (!end->is_estimate)
    end->time_ms = *group->owner == '\0' ? group->until_ms : quoit_fleet_group_until_ms (fleet, group);
  return end->time_ms != 0;
}

gboolean
quoit_slice_is_free_without_groups (const QuoitFleet *fleet, guint32 slice)
{
  const QuoitLayout *layout = fleet->layout;
  const QuoitSlice *row = &layout->slices[slice];
  QuoitSliceFlags flags = quoit_slice_status_flags (quoit_fleet_slice_status (fleet, (QuoitSliceId) { slice }));

  if ((flags & QUOIT_SLICE_INTACT) == 0 || (flags & QUOIT_SLICE_DRAINING) != 0)
    return FALSE;
  /* A node that its source reports as used is not free when its group ends. */
  for (guint32 i = row->first_node; layout->n_external > 0 && i < row->first_node + row->n_nodes; i++)
    if ((layout->nodes[i].flags & QUOIT_NODE_EXTERNAL) != 0
        || quoit_fleet_node_is_external (fleet, (QuoitNodeId) { i }))
      return FALSE;
  return TRUE;
}

gboolean
quoit_candidates_can_become_free (const QuoitCandidates *candidates, const QuoitFleet *fleet, guint32 slice)
{
  return slice != QUOIT_NO_INDEX && quoit_candidates_contain (candidates, fleet, slice)
         && quoit_slice_is_free_without_groups (fleet, slice);
}

guint32
quoit_candidates_count_freed (const QuoitCandidates *candidates, const QuoitFleet *fleet, const QuoitGroupData *group)
{
  guint32 n = 0;

  for (guint32 s = 0, first = 0; s < group->n_slices; first = group->slice_end[s++])
    n += quoit_candidates_can_become_free (candidates, fleet,
                                           quoit_layout_slice_of_id (fleet->layout, group->node_ids[first]));
  return n;
}

/* Raises the times of the group's slices to @end_ms. */
static void
raise_times (const QuoitLayout *layout, const QuoitGroupData *group, gint64 end_ms, gint64 *times)
{
  guint32 previous = QUOIT_NO_INDEX;

  for (guint32 i = 0; i < group->n_nodes; i++)
    {
      guint32 slice = quoit_layout_slice_of_id (layout, group->node_ids[i]);

      if (slice != QUOIT_NO_INDEX && slice != previous)
        times[slice] = MAX (times[slice], end_ms);
      previous = slice;
    }
}

/* Like raise_times(), for a group of whole hosts: it has all hosts of its slices, so one of each is enough. */
static void
raise_whole_times (const QuoitLayout *layout, const QuoitGroupData *group, gint64 end_ms, gint64 *times)
{
  for (guint32 s = 0; s < group->n_slices; s++)
    {
      guint32 slice = quoit_layout_slice_of_id (layout, group->node_ids[s == 0 ? 0 : group->slice_end[s - 1]]);

      if (slice != QUOIT_NO_INDEX)
        times[slice] = MAX (times[slice], end_ms);
    }
}

gint64 *
quoit_slices_free_times (const QuoitFleet *fleet, gint64 now_ms)
{
  const QuoitLayout *layout = fleet->layout;
  gint64 *times = g_new0 (gint64, layout->n_slices + 1);

  for (guint32 slot = 0; slot < fleet->n_slots; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (fleet, slot);
      QuoitGroupEnd end;

      if (group == NULL || group->state == QUOIT_GROUP_REMOVED || quoit_group_is_ahead (group))
        continue;
      if (!quoit_group_end_find (fleet, slot, now_ms, &end))
        end.time_ms = QUOIT_FOREVER_MS;
      if (quoit_group_has_whole_slices (group))
        raise_whole_times (layout, group, end.time_ms, times);
      else
        raise_times (layout, group, end.time_ms, times);
    }
  for (guint32 s = 0; s < layout->n_slices; s++)
    if (quoit_bits_has (&fleet->free_slices, s))
      times[s] = now_ms;
    else if (times[s] == 0 || !quoit_slice_is_free_without_groups (fleet, s))
      times[s] = QUOIT_FOREVER_MS;
  return times;
}

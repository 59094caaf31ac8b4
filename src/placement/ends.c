/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/ends.h"

#include "base/time.h"
#include "fleet/ahead.h"

gint64
quoit_group_known_end (const QuoitFleet *fleet, const QuoitGroupData *group)
{
  if (group->state == QUOIT_GROUP_REMOVED || !quoit_group_is_listed (group) || quoit_group_is_ahead (group))
    return 0;
  if (group->expected_end_ms != 0)
    return group->expected_end_ms;
  return *group->owner == '\0' ? group->until_ms : quoit_fleet_group_until_ms (fleet, group);
}

gint64
quoit_group_planned_end (const QuoitGroupData *group, gint64 now_ms, gboolean *is_estimate)
{
  const gboolean is_expected = group->expected_end_ms > now_ms;

  if (is_estimate != NULL)
    *is_estimate = is_expected;
  return is_expected ? group->expected_end_ms : group->until_ms;
}

gboolean
quoit_group_end_find (const QuoitFleet *fleet, guint32 slot, gint64 now_ms, QuoitGroupEnd *end)
{
  const QuoitGroupData *group = quoit_fleet_group_at (fleet, slot);
  gint64 time_ms = group == NULL ? 0 : quoit_group_known_end (fleet, group);

  if (time_ms == 0)
    return FALSE;
  *end = (QuoitGroupEnd) { .slot = slot, .time_ms = time_ms, .is_estimate = group->expected_end_ms != 0 };
  end->is_overdue = end->is_estimate && time_ms <= now_ms;
  if (end->is_overdue)
    end->time_ms = now_ms + 1;
  return TRUE;
}

/* Returns the assumed end of a record that lies ahead, also of a window; 0: unknown. */
static gint64
end_ahead (const QuoitGroupData *group, gboolean *is_estimate)
{
  *is_estimate = quoit_group_is_listed (group) && group->expected_end_ms != 0
                 && (group->until_ms == 0 || group->expected_end_ms < group->until_ms);
  return *is_estimate ? MAX (group->expected_end_ms, group->begins_ms + 1) : group->until_ms;
}

gint64
quoit_group_assumed_end (const QuoitFleet *fleet, const QuoitGroupData *group, gint64 now_ms, gboolean *is_estimate)
{
  gboolean is_expected = group->expected_end_ms != 0;
  gint64 end_ms = quoit_group_is_ahead (group) || group->kind == QUOIT_RECORD_WINDOW
                      ? end_ahead (group, &is_expected)
                      : quoit_group_known_end (fleet, group);

  if (is_estimate != NULL)
    *is_estimate = is_expected;
  return is_expected && end_ms <= now_ms ? now_ms + 1 : end_ms;
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
      guint32 slice = quoit_layout_group_slice (layout, group, s);

      if (slice != QUOIT_NO_INDEX)
        times[slice] = MAX (times[slice], end_ms);
    }
}

gint64 *
quoit_slice_ends (const QuoitFleet *fleet)
{
  const QuoitLayout *layout = fleet->layout;
  gint64 *times = g_new0 (gint64, layout->n_slices + 1);

  for (guint32 slot = 0; slot < fleet->n_slots; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (fleet, slot);
      gint64 end_ms;

      if (group == NULL || group->state == QUOIT_GROUP_REMOVED || quoit_group_is_ahead (group))
        continue;
      end_ms = quoit_group_known_end (fleet, group);
      if (end_ms == 0)
        end_ms = QUOIT_FOREVER_MS;
      if (quoit_group_has_whole_slices (group))
        raise_whole_times (layout, group, end_ms, times);
      else
        raise_times (layout, group, end_ms, times);
    }
  for (guint32 s = 0; s < layout->n_slices; s++)
    if (quoit_bits_has (&fleet->free_slices, s))
      times[s] = 0;
    else if (times[s] == 0 || !quoit_slice_is_free_without_groups (fleet, s))
      times[s] = QUOIT_FOREVER_MS;
  return times;
}

gint64
quoit_node_end (const QuoitFleet *fleet, guint32 node)
{
  QuoitUsers users = quoit_fleet_node_users (fleet, (QuoitNodeId) { node });
  const QuoitGroupData *user;
  gint64 last_ms = 0;

  while ((user = quoit_fleet_users_next (&users)) != NULL)
    {
      gint64 end_ms = quoit_group_known_end (fleet, user);

      last_ms = MAX (last_ms, end_ms == 0 ? QUOIT_FOREVER_MS : end_ms);
    }
  return last_ms;
}

gint64
quoit_slice_end (const QuoitFleet *fleet, guint32 slice)
{
  const QuoitSlice *row = &fleet->layout->slices[slice];
  gint64 last_ms = 0;

  if (quoit_bits_has (&fleet->free_slices, slice))
    return 0;
  if (!quoit_slice_is_free_without_groups (fleet, slice))
    return QUOIT_FOREVER_MS;
  for (guint32 node = row->first_node; node < row->first_node + row->n_nodes; node++)
    last_ms = MAX (last_ms, quoit_node_end (fleet, node));
  return last_ms == 0 ? QUOIT_FOREVER_MS : last_ms;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What lies ahead takes slices out of the buckets of a timeline. */
#include "placement/queue/timeline-private.h"

#include "placement/ahead.h"
#include "placement/rows.h"

GArray *
quoit_timeline_slices_ahead (const QuoitLayout *layout, const QuoitGroupData *record)
{
  GArray *slices = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint n = 0;

  if (record->kind == QUOIT_RECORD_WINDOW)
    {
      g_array_unref (nodes);
      nodes = quoit_window_list_nodes (record, layout);
    }
  for (guint32 i = 0; i < record->n_nodes; i++)
    {
      guint32 node = quoit_layout_find_id (layout, record->node_ids[i]);

      if (node != QUOIT_NO_INDEX)
        g_array_append_val (nodes, node);
    }
  for (guint i = 0; i < nodes->len; i++)
    {
      guint32 slice = layout->nodes[g_array_index (nodes, guint32, i)].slice;

      if (slice != QUOIT_NO_INDEX)
        g_array_append_val (slices, slice);
    }
  quoit_numbers_sort ((guint32 *) (void *) slices->data, slices->len);
  for (guint i = 0; i < slices->len; i++)
    if (i == 0 || g_array_index (slices, guint32, i) != g_array_index (slices, guint32, i - 1))
      g_array_index (slices, guint32, n++) = g_array_index (slices, guint32, i);
  g_array_set_size (slices, n);
  return slices;
}

/* A group with a lease ends before what is promised its slices begins, whatever its estimate says. */
static void
end_before (QuoitTimeline *timeline, const QuoitGroupData *record)
{
  g_autoptr (GArray) slices = quoit_timeline_slices_ahead (timeline->fleet->layout, record);

  const gint64 begins_ms = MAX (record->begins_ms, timeline->now_ms);

  for (guint i = 0; i < slices->len; i++)
    {
      guint32 slice = g_array_index (slices, guint32, i);
      gint64 *free_from = &timeline->free_from[slice];

      if (*free_from == QUOIT_FOREVER_MS || *free_from <= begins_ms)
        continue;
      quoit_steps_add (&quoit_timeline_bucket (timeline, timeline->bucket_of[slice])->steps, begins_ms, *free_from, 1);
      *free_from = begins_ms;
    }
}

void
quoit_timeline_end_before_ahead (QuoitTimeline *timeline)
{
  for (guint i = 0; i < quoit_fleet_n_ahead (timeline->fleet); i++)
    if (quoit_fleet_ahead_at (timeline->fleet, i)->kind == QUOIT_RECORD_SLICES)
      end_before (timeline, quoit_fleet_ahead_at (timeline->fleet, i));
}

/* @until: by slice, until when it is promised already. The times of one slice may overlap, if windows do. */
static void
take_promise (QuoitTimeline *timeline, const QuoitGroupData *record, gint64 *until)
{
  g_autoptr (GArray) slices = quoit_timeline_slices_ahead (timeline->fleet->layout, record);
  const gint64 until_ms = record->until_ms == 0 ? QUOIT_FOREVER_MS : record->until_ms;

  for (guint i = 0; i < slices->len; i++)
    {
      guint32 slice = g_array_index (slices, guint32, i);
      gint64 from_ms = MAX (MAX (record->begins_ms, timeline->free_from[slice]), until[slice]);

      if (from_ms < until_ms)
        quoit_steps_add (&quoit_timeline_bucket (timeline, timeline->bucket_of[slice])->steps, from_ms, until_ms, -1);
      until[slice] = MAX (until[slice], until_ms);
    }
}

/* Which slices a reservation gets can still change, so that a number of slices of a bucket says enough. */
void
quoit_timeline_take_ahead (QuoitTimeline *timeline)
{
  g_autofree gint64 *until = NULL;

  if (quoit_fleet_n_ahead (timeline->fleet) == 0)
    return;
  until = g_new0 (gint64, timeline->fleet->layout->n_slices + 1);
  for (guint i = 0; i < quoit_fleet_n_ahead (timeline->fleet); i++)
    take_promise (timeline, quoit_fleet_ahead_at (timeline->fleet, i), until);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/queue/kept.h"

#include <stdlib.h>

#include "fleet/ahead.h"
#include "fleet/bits.h"
#include "placement/ends.h"

/* A scheduler has one or two kinds of queues. */
enum { MOST_DIVISIONS = 4 };

/* --- life --- */

static void
clear_bucket (gpointer data)
{
  quoit_steps_clear (&((QuoitKeptBucket *) data)->ends);
}

static void
free_division (gpointer data)
{
  QuoitDivision *division = data;

  for (guint i = 0; i < division->sets->len; i++)
    quoit_candidates_clear (&g_array_index (division->sets, QuoitKeptSet, i).candidates);
  g_array_unref (division->sets);
  quoit_ahead_unref (division->ahead);
  g_atomic_rc_box_release (division->bucket_of);
  g_atomic_rc_box_release (division->members);
  g_array_unref (division->buckets);
  g_ptr_array_unref (division->set_buckets);
  g_free (division);
}

static void
free_times (QuoitKept *kept)
{
  QuoitKeptTimes *times = (QuoitKeptTimes *) kept;

  quoit_past_clear (&times->past);
  g_free (times->ends);
  g_free (times->is_possible);
  g_ptr_array_unref (times->divisions);
  g_free (times);
}

static QuoitKeptTimes *
times_new (const QuoitFleet *fleet)
{
  const guint32 n_slices = fleet->layout->n_slices;
  QuoitKeptTimes *times = g_new (QuoitKeptTimes, 1);

  *times = (QuoitKeptTimes) { .kept = { free_times },
                              .ends = quoit_slice_ends (fleet),
                              .is_possible = g_new0 (guint8, n_slices + 1),
                              .divisions = g_ptr_array_new_with_free_func (free_division) };
  quoit_past_init (&times->past, fleet);
  for (guint32 s = 0; s < n_slices; s++)
    times->is_possible[s] = quoit_fleet_slice_could_be_intact (fleet, (QuoitSliceId) { s });
  return times;
}

/* --- ends of a bucket --- */

static gboolean
is_known (gint64 end_ms)
{
  return end_ms != 0 && end_ms != QUOIT_FOREVER_MS;
}

/* @n slices of the bucket have another end. */
static void
change_ends (QuoitKeptBucket *bucket, gint64 before_ms, gint64 now_ms, gint32 n)
{
  if (is_known (before_ms))
    quoit_steps_add (&bucket->ends, MAX (before_ms, bucket->first_ms), QUOIT_FOREVER_MS, -n);
  if (is_known (now_ms))
    quoit_steps_add (&bucket->ends, MAX (now_ms, bucket->first_ms), QUOIT_FOREVER_MS, n);
  bucket->n_free += (guint32) (((now_ms == 0) - (before_ms == 0)) * n);
}

static int
by_time (const void *a, const void *b)
{
  const gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

  return (x > y) - (x < y);
}

/* Sets the numbers of a new bucket. */
static void
count_bucket (const QuoitKeptTimes *times, const QuoitDivision *division, QuoitKeptBucket *bucket, gint64 now_ms)
{
  g_autofree gint64 *ends = g_new (gint64, bucket->n_slices + 1);
  guint n = 0;

  bucket->first_ms = now_ms;
  bucket->n_free = bucket->n_possible = 0;
  for (guint32 i = 0; i < bucket->n_slices; i++)
    {
      guint32 slice = division->members[bucket->first + i];

      bucket->n_possible += times->is_possible[slice];
      bucket->n_free += times->ends[slice] == 0;
      if (is_known (times->ends[slice]))
        ends[n++] = MAX (times->ends[slice], now_ms);
    }
  qsort (ends, n, sizeof *ends, by_time);
  quoit_steps_init (&bucket->ends, now_ms, 0);
  for (guint i = 0, end; i < n; i = end)
    {
      for (end = i + 1; end < n && ends[end] == ends[i]; end++)
        ;
      quoit_steps_add (&bucket->ends, ends[i], QUOIT_FOREVER_MS, (gint32) (end - i));
    }
  bucket->n_compact_steps = quoit_steps_count (&bucket->ends);
}

void
quoit_kept_times_add (QuoitKeptTimes *times, QuoitDivision *division, gint64 now_ms)
{
  g_array_set_clear_func (division->buckets, clear_bucket);
  for (guint b = 0; b < division->buckets->len; b++)
    count_bucket (times, division, &g_array_index (division->buckets, QuoitKeptBucket, b), now_ms);
  if (times->divisions->len == MOST_DIVISIONS)
    g_ptr_array_remove_index (times->divisions, 0);
  g_ptr_array_add (times->divisions, division);
}

void
quoit_kept_bucket_init_steps (QuoitKeptBucket *bucket, gint64 now_ms, QuoitSteps *steps)
{
  if (quoit_steps_count (&bucket->ends) > 2 * bucket->n_compact_steps + 16)
    {
      quoit_steps_compact (&bucket->ends, now_ms);
      bucket->first_ms = now_ms;
      bucket->n_compact_steps = quoit_steps_count (&bucket->ends);
    }
  quoit_steps_init_after (steps, now_ms, (gint32) bucket->n_free, &bucket->ends);
}

/* --- changes --- */

/* A slice that may have changed, and has if the values differ. */
typedef struct {
  guint32 slice;
  gint64 before_ms, now_ms;
  gint32 more_possible; /* 1, 0 or -1 */
} Change;

typedef struct {
  const QuoitFleet *fleet;
  guint64 *touched; /* slices, one bit each */
  gboolean has_owner;
} Update;

static void
touch_slice (gpointer data, guint32 slice)
{
  Update *update = data;

  if (slice != QUOIT_NO_INDEX)
    update->touched[slice / 64] |= (guint64) 1 << (slice % 64);
}

static void
touch_group (gpointer data, const QuoitGroupData *group)
{
  Update *update = data;
  const QuoitLayout *layout = update->fleet->layout;

  update->has_owner |= group->kind == QUOIT_RECORD_OWNER;
  if (group->state == QUOIT_GROUP_REMOVED || quoit_group_is_ahead (group))
    return;
  if (quoit_group_has_whole_slices (group))
    for (guint32 s = 0; s < group->n_slices; s++)
      touch_slice (update, quoit_layout_group_slice (layout, group, s));
  else
    for (guint32 i = 0; i < group->n_nodes; i++)
      touch_slice (update, quoit_layout_slice_of_id (layout, group->node_ids[i]));
}

/* The lease of an owner ends its groups, whose own records do not change with it. */
static void
touch_owned_groups (Update *update)
{
  for (guint32 slot = 0; slot < update->fleet->n_slots; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (update->fleet, slot);

      if (group != NULL && *group->owner != '\0' && group->expected_end_ms == 0)
        touch_group (update, group);
    }
}

/* Updates the slice, and appends a change if it is another one now. */
static void
update_slice (QuoitKeptTimes *times, const QuoitFleet *fleet, guint32 slice, GArray *changes)
{
  const guint8 is_possible = quoit_fleet_slice_could_be_intact (fleet, (QuoitSliceId) { slice });
  const Change change
      = { slice, times->ends[slice], quoit_slice_end (fleet, slice), is_possible - times->is_possible[slice] };

  if (change.before_ms == change.now_ms && change.more_possible == 0)
    return;
  times->ends[slice] = change.now_ms;
  times->is_possible[slice] = is_possible;
  g_array_append_val (changes, change);
}

static GArray *
update_slices (QuoitKeptTimes *times, const QuoitFleet *fleet)
{
  const guint32 n_words = fleet->layout->n_slices / 64 + 1;
  g_autofree guint64 *touched = g_new0 (guint64, n_words);
  Update update = { fleet, touched, FALSE };
  GArray *changes = g_array_new (FALSE, FALSE, sizeof (Change));

  quoit_past_each_group (&times->past, fleet, touch_group, &update);
  quoit_past_each_slice (&times->past, fleet, touch_slice, &update);
  if (update.has_owner)
    touch_owned_groups (&update);
  for (guint32 w = 0; w < n_words; w++)
    for (guint64 word = touched[w]; word != 0; word &= word - 1)
      update_slice (times, fleet, w * 64 + (guint32) __builtin_ctzll (word), changes);
  return changes;
}

/* Adjacent slices mostly change together. */
static void
update_division (QuoitDivision *division, const GArray *changes)
{
  for (guint i = 0, end; i < changes->len; i = end)
    {
      const Change *change = &g_array_index (changes, Change, i), *next;
      guint32 b = division->bucket_of[change->slice];
      QuoitKeptBucket *bucket = &g_array_index (division->buckets, QuoitKeptBucket, b);

      for (end = i; end < changes->len; end++)
        {
          next = &g_array_index (changes, Change, end);
          if (next->before_ms != change->before_ms || next->now_ms != change->now_ms
              || division->bucket_of[next->slice] != b)
            break;
          bucket->n_possible += (guint32) next->more_possible;
        }
      change_ends (bucket, change->before_ms, change->now_ms, (gint32) (end - i));
    }
}

/* Returns whether the division has numbers for @now_ms, which can be earlier than that of the last plan. */
static gboolean
has_time (const QuoitDivision *division, gint64 now_ms)
{
  for (guint b = 0; b < division->buckets->len; b++)
    if (g_array_index (division->buckets, QuoitKeptBucket, b).first_ms > now_ms)
      return FALSE;
  return TRUE;
}

QuoitKeptTimes *
quoit_kept_times_take (const QuoitFleet *fleet, gint64 now_ms)
{
  QuoitKeptTimes *times = (QuoitKeptTimes *) quoit_layout_take_kept (fleet->layout);
  g_autoptr (GArray) changes = NULL;

  if (times == NULL)
    return times_new (fleet);
  changes = update_slices (times, fleet);
  quoit_past_clear (&times->past);
  quoit_past_init (&times->past, fleet);
  for (guint d = times->divisions->len; d-- > 0;)
    if (has_time (times->divisions->pdata[d], now_ms))
      update_division (times->divisions->pdata[d], changes);
    else
      g_ptr_array_remove_index (times->divisions, d);
  return times;
}

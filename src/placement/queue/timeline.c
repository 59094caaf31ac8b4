/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/queue/timeline-private.h"

/* Returns by slice the time from which on it is free. An end that has passed counts as the next moment. */
static gint64 *
list_free_times (const QuoitKeptTimes *times, guint32 n_slices, gint64 now_ms)
{
  gint64 *free_from = g_new (gint64, n_slices + 1);

  for (guint32 s = 0; s < n_slices; s++)
    free_from[s] = times->ends[s] == 0 ? now_ms : MAX (times->ends[s], now_ms + 1);
  return free_from;
}

QuoitTimeline *
quoit_timeline_new (const QuoitFleet *fleet, const QuoitRequest *const *requests, const QuoitCandidates *candidates,
                    guint n, gint64 now_ms)
{
  QuoitTimeline *timeline = g_new0 (QuoitTimeline, 1);
  QuoitKeptTimes *times = quoit_kept_times_take (fleet, now_ms);

  timeline->fleet = fleet;
  timeline->requests = requests;
  timeline->n = n;
  timeline->has = g_new0 (GArray *, n + 1);
  timeline->now_ms = now_ms;
  timeline->free_from = list_free_times (times, fleet->layout->n_slices, now_ms);
  timeline->set_of = g_new (guint, n + 1);
  quoit_timeline_divide (timeline, times, candidates, n);
  quoit_layout_keep (fleet->layout, &times->kept);
  quoit_timeline_end_before_ahead (timeline);
  quoit_timeline_take_ahead (timeline);
  return timeline;
}

void
quoit_timeline_free (QuoitTimeline *timeline)
{
  if (timeline == NULL)
    return;
  for (guint i = 0; i < timeline->n; i++)
    g_clear_pointer (&timeline->has[i], g_array_unref);
  g_free (timeline->has);
  g_array_unref (timeline->buckets);
  g_array_unref (timeline->sets);
  g_free (timeline->free_from);
  g_atomic_rc_box_release (timeline->bucket_of);
  g_atomic_rc_box_release (timeline->members);
  g_free (timeline->set_of);
  g_free (timeline);
}

guint32
quoit_timeline_n_possible (const QuoitTimeline *timeline, guint request)
{
  return quoit_timeline_set (timeline, request)->n_possible;
}

void
quoit_timeline_set_members (QuoitTimeline *timeline, guint request, GArray *slices)
{
  g_clear_pointer (&timeline->has[request], g_array_unref);
  timeline->has[request] = g_array_ref (slices);
}

/* --- search --- */

static gboolean
is_no_easier (const QuoitFoundStart *found, guint32 n_slices, gint64 runtime_ms)
{
  return n_slices >= found->n_slices
         && (runtime_ms == 0 || (found->runtime_ms != 0 && runtime_ms >= found->runtime_ms));
}

/* Returns the greatest lower bound from earlier searches. */
static gint64
earliest_start (const QuoitTimeline *timeline, const QuoitSliceSet *set, guint32 n_slices, gint64 runtime_ms)
{
  gint64 start_ms = timeline->now_ms;

  for (guint i = 0; i < set->found->len; i++)
    {
      const QuoitFoundStart *found = &g_array_index (set->found, QuoitFoundStart, i);

      if (is_no_easier (found, n_slices, runtime_ms))
        start_ms = MAX (start_ms, found->start_ms);
    }
  return start_ms;
}

/* Remembers a result, instead of those that say less. */
static void
remember (QuoitSliceSet *set, guint32 n_slices, gint64 runtime_ms, gint64 start_ms)
{
  const QuoitFoundStart new = { n_slices, runtime_ms, start_ms };

  for (guint i = set->found->len; i > 0; i--)
    {
      const QuoitFoundStart *old = &g_array_index (set->found, QuoitFoundStart, i - 1);

      if (is_no_easier (&new, old->n_slices, old->runtime_ms) && start_ms >= old->start_ms)
        g_array_remove_index_fast (set->found, i - 1);
    }
  if (set->found->len < 32)
    g_array_append_val (set->found, new);
}

/* Searches a set of one bucket: jumps from each time with enough slices over the next time with too few. */
static gint64
search_bucket (QuoitBucket *bucket, guint32 n_slices, gint64 runtime_ms, gint64 start_ms)
{
  while ((start_ms = quoit_steps_next_at_least (&bucket->steps, start_ms, (gint32) n_slices)) != QUOIT_FOREVER_MS)
    {
      gint64 below_ms = quoit_steps_next_below (&bucket->steps, start_ms, (gint32) n_slices);

      if (below_ms >= quoit_runtime_end (start_ms, runtime_ms))
        return start_ms;
      start_ms = below_ms;
    }
  return QUOIT_FOREVER_MS;
}

/* Returns how many slices of the set are free from @start_ms on for the run time. *@next_ms: no earlier start has more.
 */
static guint64
count_free (const QuoitTimeline *timeline, const QuoitSliceSet *set, gint64 start_ms, gint64 runtime_ms,
            gint64 *next_ms)
{
  guint64 n = 0;

  if (set->map != NULL)
    return quoit_timeline_count_in_domains (timeline, set, NULL, start_ms, quoit_runtime_end (start_ms, runtime_ms),
                                            next_ms);
  *next_ms = QUOIT_FOREVER_MS;
  for (guint i = 0; i < set->buckets->len; i++)
    {
      gint64 after_ms;

      n += (guint64) quoit_steps_least (
          &quoit_timeline_bucket (timeline, g_array_index (set->buckets, guint32, i))->steps, start_ms,
          quoit_runtime_end (start_ms, runtime_ms), &after_ms);
      *next_ms = MIN (*next_ms, after_ms);
    }
  return n;
}

static gint64
search_buckets (const QuoitTimeline *timeline, const QuoitSliceSet *set, guint32 n_slices, gint64 runtime_ms,
                gint64 start_ms)
{
  gint64 next_ms;

  for (; start_ms != QUOIT_FOREVER_MS; start_ms = next_ms)
    if (count_free (timeline, set, start_ms, runtime_ms, &next_ms) >= n_slices)
      return start_ms;
  return QUOIT_FOREVER_MS;
}

guint32
quoit_timeline_count_now (const QuoitTimeline *timeline, guint request, gint64 runtime_ms)
{
  const QuoitSliceSet *set = quoit_timeline_set (timeline, request);
  gint64 next_ms;

  if (set->map != NULL)
    return (guint32) quoit_timeline_count_in_domains (timeline, set, timeline->has[request], timeline->now_ms,
                                                      quoit_runtime_end (timeline->now_ms, runtime_ms), &next_ms);
  return (guint32) count_free (timeline, quoit_timeline_set (timeline, request), timeline->now_ms, runtime_ms,
                               &next_ms);
}

gint64
quoit_timeline_find_start (QuoitTimeline *timeline, guint request, guint32 n_slices, gint64 runtime_ms)
{
  QuoitSliceSet *set = quoit_timeline_set (timeline, request);
  gint64 start_ms = earliest_start (timeline, set, n_slices, runtime_ms);

  if (start_ms == QUOIT_FOREVER_MS || set->buckets->len == 0)
    return QUOIT_FOREVER_MS;
  if (set->buckets->len == 1 && set->map == NULL)
    start_ms = search_bucket (quoit_timeline_bucket (timeline, g_array_index (set->buckets, guint32, 0)), n_slices,
                              runtime_ms, start_ms);
  else
    start_ms = search_buckets (timeline, set, n_slices, runtime_ms, start_ms);
  remember (set, n_slices, runtime_ms, start_ms);
  return start_ms;
}

/* --- taking --- */

void
quoit_timeline_take (QuoitTimeline *timeline, guint request, guint32 n_slices, gint64 start_ms, gint64 runtime_ms)
{
  const QuoitSliceSet *set = quoit_timeline_set (timeline, request);
  const gint64 end_ms = quoit_runtime_end (start_ms, runtime_ms);
  g_autofree guint32 *shares
      = set->map == NULL ? NULL : quoit_timeline_share (timeline, set, NULL, n_slices, start_ms, end_ms);

  for (guint i = 0; i < set->buckets->len && n_slices > 0; i++)
    {
      QuoitBucket *bucket = quoit_timeline_bucket (timeline, g_array_index (set->buckets, guint32, i));
      gint64 after_ms;
      guint32 n
          = MIN (shares != NULL ? shares[i] : (guint32) quoit_steps_least (&bucket->steps, start_ms, end_ms, &after_ms),
                 n_slices);

      quoit_steps_add (&bucket->steps, start_ms, end_ms, -(gint32) n);
      n_slices -= n;
    }
  g_assert (n_slices == 0);
}

/* Returns FALSE if the slice is needed for what was taken before. */
static gboolean
take_slice (QuoitTimeline *timeline, guint32 slice, gint64 until_ms)
{
  QuoitBucket *bucket = quoit_timeline_bucket (timeline, timeline->bucket_of[slice]);
  gint64 from_ms = timeline->free_from[slice], after_ms;

  if (from_ms >= until_ms)
    return TRUE;
  if (quoit_steps_least (&bucket->steps, from_ms, until_ms, &after_ms) < 1)
    return FALSE;
  quoit_steps_add (&bucket->steps, from_ms, until_ms, -1);
  timeline->free_from[slice] = until_ms;
  return TRUE;
}

static void
return_slice (QuoitTimeline *timeline, guint32 slice, gint64 from_ms)
{
  if (from_ms == timeline->free_from[slice])
    return;
  quoit_steps_add (&quoit_timeline_bucket (timeline, timeline->bucket_of[slice])->steps, from_ms,
                   timeline->free_from[slice], 1);
  timeline->free_from[slice] = from_ms;
}

gboolean
quoit_timeline_take_slices (QuoitTimeline *timeline, const GArray *slices, gint64 until_ms)
{
  g_autofree gint64 *before = g_new (gint64, slices->len + 1);

  for (guint i = 0; i < slices->len; i++)
    {
      guint32 slice = g_array_index (slices, guint32, i);

      before[i] = timeline->free_from[slice];
      if (take_slice (timeline, slice, until_ms))
        continue;
      for (; i > 0; i--)
        return_slice (timeline, g_array_index (slices, guint32, i - 1), before[i - 1]);
      return FALSE;
    }
  return TRUE;
}

gboolean
quoit_timeline_pin_slices (QuoitTimeline *timeline, const GArray *slices, gint64 until_ms)
{
  if (!quoit_timeline_take_slices (timeline, slices, until_ms))
    return FALSE;
  for (guint i = 0; i < slices->len; i++)
    {
      QuoitBucket *bucket = quoit_timeline_bucket (timeline, timeline->bucket_of[g_array_index (slices, guint32, i)]);

      g_clear_pointer (&bucket->eligible, quoit_eligible_unref);
    }
  timeline->has_pinned |= slices->len > 0;
  return TRUE;
}

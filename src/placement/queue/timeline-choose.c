/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses slices of the buckets of a timeline, or withholds those that are needed. */
#include "placement/queue/timeline-private.h"

#include "fleet/bits.h"
#include "placement/rows.h"

/* Returns the slices of the bucket, without those that are free but pinned. */
static QuoitEligible *
bucket_eligible (const QuoitTimeline *timeline, const QuoitFleet *fleet, guint32 class_index, QuoitBucket *bucket)
{
  if (bucket->eligible != NULL)
    return bucket->eligible;
  bucket->eligible = quoit_eligible_new (fleet->layout);
  for (guint32 i = 0; i < bucket->n_slices; i++)
    {
      guint32 slice = timeline->members[bucket->first + i];

      if (!quoit_bits_has (&fleet->free_slices, slice) || timeline->free_from[slice] == timeline->now_ms)
        quoit_eligible_add (bucket->eligible, slice, 1);
    }
  quoit_eligible_finish (bucket->eligible, fleet->layout, class_index);
  return bucket->eligible;
}

static gboolean
choose_from (const QuoitFleet *fleet, const QuoitRequest *request, const QuoitCandidates *candidates, guint32 n,
             QuoitPlan *plan)
{
  QuoitRequest share = *request;
  QuoitPlan chosen;
  gboolean ok;

  share.n_slices = n;
  share.min_slices = 0;
  share.keep_to = share.spread_over = QUOIT_DOMAIN_NONE;
  quoit_plan_init (&chosen);
  ok = quoit_plan_candidates (fleet, &share, candidates, &chosen);
  for (guint32 i = 0; i < chosen.n; i++)
    quoit_plan_append (plan, chosen.slices[i]);
  quoit_plan_clear (&chosen);
  return ok;
}

gboolean
quoit_timeline_choose (const QuoitTimeline *timeline, const QuoitFleet *fleet, guint request, guint32 n_slices,
                       gint64 runtime_ms, QuoitPlan *plan)
{
  const QuoitSliceSet *set = quoit_timeline_set (timeline, request);
  const gint64 until_ms = quoit_runtime_end (timeline->now_ms, runtime_ms);
  g_autofree guint32 *shares = NULL;

  plan->n = 0;
  if (set->buckets->len == 1 && !timeline->has_pinned)
    return choose_from (fleet, timeline->requests[request], &set->candidates, n_slices, plan);
  if (set->map != NULL)
    shares = quoit_timeline_share (timeline, set, timeline->has[request], n_slices, timeline->now_ms, until_ms);
  for (guint i = 0; i < set->buckets->len && n_slices > 0; i++)
    {
      QuoitBucket *bucket = quoit_timeline_bucket (timeline, g_array_index (set->buckets, guint32, i));
      QuoitCandidates candidates;
      gint64 after_ms;
      guint32 n = shares != NULL ? shares[i]
                                 : (guint32) quoit_steps_least (&bucket->steps, timeline->now_ms, until_ms, &after_ms);

      n = MIN (n, n_slices);
      candidates.class_index = set->candidates.class_index;
      if (n > 0)
        {
          candidates.eligible = bucket_eligible (timeline, fleet, candidates.class_index, bucket);
          if (!choose_from (fleet, timeline->requests[request], &candidates, n, plan))
            return FALSE;
        }
      n_slices -= n;
    }
  quoit_numbers_sort (plan->slices, plan->n);
  return TRUE;
}

/* --- withholding --- */

/* Withholds all free slices of the bucket except the first @n. */
static void
withhold_free (const QuoitTimeline *timeline, const QuoitBucket *bucket, guint32 n, QuoitSliceFunc withhold,
               gpointer data)
{
  for (guint32 i = 0; i < bucket->n_slices; i++)
    {
      guint32 slice = timeline->members[bucket->first + i];

      if (timeline->free_from[slice] != timeline->now_ms)
        continue;
      if (n > 0)
        n--;
      else
        withhold (data, slice);
    }
}

/* Withholds the slices of the bucket that become free before @until_ms. */
static void
withhold_used (const QuoitTimeline *timeline, const QuoitBucket *bucket, gint64 until_ms, QuoitSliceFunc withhold,
               gpointer data)
{
  for (guint32 i = 0; i < bucket->n_slices; i++)
    {
      guint32 slice = timeline->members[bucket->first + i];

      if (timeline->free_from[slice] != timeline->now_ms && timeline->free_from[slice] < until_ms)
        withhold (data, slice);
    }
}

void
quoit_timeline_withhold (const QuoitTimeline *timeline, gint64 until_ms, QuoitSliceFunc withhold, gpointer data)
{
  for (guint32 b = 0; b < timeline->buckets->len; b++)
    {
      QuoitBucket *bucket = quoit_timeline_bucket (timeline, b);
      gint64 needed_ms; /* if none is left at some time: until when */
      gint32 n = quoit_steps_least (&bucket->steps, timeline->now_ms, until_ms, &needed_ms);

      withhold_free (timeline, bucket, (guint32) n, withhold, data);
      if (n == 0)
        withhold_used (timeline, bucket, MIN (until_ms, needed_ms), withhold, data);
    }
}

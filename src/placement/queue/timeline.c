/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/queue/timeline.h"

#include <string.h>

#include "fleet/bits.h"
#include "placement/ends.h"

typedef struct {
  QuoitSteps steps; /* how many of its slices are free and not taken */
  guint32 first;    /* in QuoitTimeline.members */
  guint32 n_slices;
  guint32 n_sets; /* sets that contain it */
} Bucket;

/* A result of a search. Slices are only taken, so a request for at least as many slices and for at least as long does
 * not start earlier. */
typedef struct {
  guint32 n_slices;
  gint64 runtime_ms, start_ms;
} Found;

/* The slices that some requests accept, all of them the same ones. */
typedef struct {
  guint32 class_index;
  const QuoitEligible *eligible; /* NULL: the whole class */
  guint32 n_possible;            /* slices that could be free at any time */
  GArray *buckets;               /* of guint32: those that few sets contain come first */
  GArray *found;                 /* of Found */
} Set;

struct _QuoitTimeline {
  const QuoitFleet *fleet;
  gint64 now_ms;
  gint64 *free_from;  /* by slice */
  guint32 *bucket_of; /* by slice; QUOIT_NO_INDEX: no request accepts it */
  guint32 *members;   /* slices, by bucket */
  GArray *buckets;    /* of Bucket */
  GArray *sets;       /* of Set */
  guint *set_of;      /* by request */
};

static Bucket *
bucket_at (const QuoitTimeline *timeline, guint32 b)
{
  return &g_array_index (timeline->buckets, Bucket, b);
}

static Set *
set_of_request (const QuoitTimeline *timeline, guint request)
{
  return &g_array_index (timeline->sets, Set, timeline->set_of[request]);
}

/* --- sets --- */

/* Requests without rules have the same set if they have the same class; others if they got the same remembered
 * result. */
static guint
find_set (QuoitTimeline *timeline, GHashTable *by_key, const QuoitCandidates *candidates)
{
  gpointer key
      = candidates->eligible != NULL ? (gpointer) candidates->eligible : GUINT_TO_POINTER (candidates->class_index);
  gpointer found;
  Set set = { .class_index = candidates->class_index, .eligible = candidates->eligible };

  if (g_hash_table_lookup_extended (by_key, key, NULL, &found))
    return GPOINTER_TO_UINT (found);
  set.buckets = g_array_new (FALSE, FALSE, sizeof (guint32));
  set.found = g_array_new (FALSE, FALSE, sizeof (Found));
  g_array_append_val (timeline->sets, set);
  g_hash_table_insert (by_key, key, GUINT_TO_POINTER (timeline->sets->len - 1));
  return timeline->sets->len - 1;
}

static void
set_clear (gpointer data)
{
  Set *set = data;

  g_array_unref (set->buckets);
  g_array_unref (set->found);
}

static void
for_each_slice (const QuoitLayout *layout, const Set *set, QuoitSliceFunc func, gpointer data)
{
  if (set->class_index == QUOIT_NO_INDEX)
    return;
  for (guint32 w = 0; set->eligible != NULL && w < set->eligible->n_words; w++)
    for (guint64 word = set->eligible->slices[w]; word != 0; word &= word - 1)
      func (data, w * 64 + (guint32) __builtin_ctzll (word));
  for (guint32 s = 0; set->eligible == NULL && s < layout->n_shelves; s++)
    for (guint32 i = 0; layout->shelves[s].class_index == set->class_index && i < layout->shelves[s].n_slices; i++)
      func (data, layout->shelves[s].first_slice + i);
}

/* --- buckets --- */

/* Divides the buckets by one more set: the slices of a bucket that are in the set become a new bucket. */
typedef struct {
  guint32 *bucket_of;
  GArray *replacements; /* of guint32, by bucket + 1: the new bucket; 0: none yet */
  guint32 n;
} Division;

static void
divide_slice (gpointer data, guint32 slice)
{
  Division *division = data;
  guint32 *bucket = &division->bucket_of[slice];
  guint32 *replacement = &g_array_index (division->replacements, guint32, *bucket + 1);

  if (*replacement == 0)
    *replacement = ++division->n;
  *bucket = *replacement - 1;
}

/* Returns an upper bound of the numbers in bucket_of. */
static guint32
divide_slices (QuoitTimeline *timeline)
{
  Division division = { timeline->bucket_of, g_array_new (FALSE, TRUE, sizeof (guint32)), 0 };

  memset (timeline->bucket_of, 0xff, (timeline->fleet->layout->n_slices + 1) * sizeof *timeline->bucket_of);
  for (guint i = 0; i < timeline->sets->len; i++)
    {
      g_array_set_size (division.replacements, 0);
      g_array_set_size (division.replacements, division.n + 1);
      for_each_slice (timeline->fleet->layout, &g_array_index (timeline->sets, Set, i), divide_slice, &division);
    }
  g_array_unref (division.replacements);
  return division.n;
}

/* Numbers the buckets from 0 without gaps, and lists their slices. */
static void
list_members (QuoitTimeline *timeline, guint32 n_numbers)
{
  const guint32 n_slices = timeline->fleet->layout->n_slices;
  g_autofree guint32 *numbers = g_new (guint32, n_numbers + 1);
  guint32 first = 0;

  memset (numbers, 0xff, (n_numbers + 1) * sizeof *numbers);
  for (guint32 s = 0; s < n_slices; s++)
    {
      const Bucket empty = { { NULL }, 0, 0, 0 };
      guint32 *number;

      if (timeline->bucket_of[s] == QUOIT_NO_INDEX)
        continue;
      number = &numbers[timeline->bucket_of[s]];
      if (*number == QUOIT_NO_INDEX)
        {
          *number = timeline->buckets->len;
          g_array_append_val (timeline->buckets, empty);
        }
      timeline->bucket_of[s] = *number;
      bucket_at (timeline, *number)->n_slices++;
    }
  for (guint32 b = 0; b < timeline->buckets->len; b++)
    {
      bucket_at (timeline, b)->first = first;
      first += bucket_at (timeline, b)->n_slices;
      bucket_at (timeline, b)->n_slices = 0;
    }
  for (guint32 s = 0; s < n_slices; s++)
    if (timeline->bucket_of[s] != QUOIT_NO_INDEX)
      {
        Bucket *bucket = bucket_at (timeline, timeline->bucket_of[s]);

        timeline->members[bucket->first + bucket->n_slices++] = s;
      }
}

typedef struct {
  const QuoitFleet *fleet;
  guint32 n;
} PossibleCount;

static void
count_if_possible (gpointer data, guint32 slice)
{
  PossibleCount *count = data;

  count->n += quoit_fleet_slice_could_be_intact (count->fleet, (QuoitSliceId) { slice });
}

static void
count_possible (const QuoitFleet *fleet, Set *set)
{
  PossibleCount count = { fleet, 0 };

  for_each_slice (fleet->layout, set, count_if_possible, &count);
  set->n_possible = count.n;
}

/* A bucket is completely in a set or not at all, so its first slice decides. */
static gboolean
set_has_bucket (const QuoitTimeline *timeline, const Set *set, const Bucket *bucket)
{
  const QuoitCandidates candidates = { set->class_index, (QuoitEligible *) set->eligible };

  return quoit_candidates_contain (&candidates, timeline->fleet, timeline->members[bucket->first]);
}

static gint
by_n_sets (gconstpointer a, gconstpointer b, gpointer data)
{
  const guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;
  const Bucket *one = bucket_at (data, x), *other = bucket_at (data, y);

  if (one->n_sets != other->n_sets)
    return one->n_sets < other->n_sets ? -1 : 1;
  return x < y ? -1 : x > y;
}

static void
assign_buckets (QuoitTimeline *timeline)
{
  for (guint i = 0; i < timeline->sets->len; i++)
    for (guint32 b = 0; b < timeline->buckets->len; b++)
      if (set_has_bucket (timeline, &g_array_index (timeline->sets, Set, i), bucket_at (timeline, b)))
        {
          g_array_append_val (g_array_index (timeline->sets, Set, i).buckets, b);
          bucket_at (timeline, b)->n_sets++;
        }
  for (guint i = 0; i < timeline->sets->len; i++)
    g_array_sort_with_data (g_array_index (timeline->sets, Set, i).buckets, by_n_sets, timeline);
}

/* --- times --- */

static int
by_time (const void *a, const void *b)
{
  const gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

  return (x > y) - (x < y);
}

static void
count_bucket (QuoitTimeline *timeline, Bucket *bucket, GArray *times)
{
  gint32 n_free = 0;

  g_array_set_size (times, 0);
  for (guint32 i = 0; i < bucket->n_slices; i++)
    {
      gint64 time_ms = timeline->free_from[timeline->members[bucket->first + i]];

      if (time_ms == timeline->now_ms)
        n_free++;
      else if (time_ms != QUOIT_FOREVER_MS)
        g_array_append_val (times, time_ms);
    }
  g_array_sort (times, by_time);
  quoit_steps_init (&bucket->steps, timeline->now_ms, n_free);
  for (guint i = 0, end; i < times->len; i = end)
    {
      gint64 time_ms = g_array_index (times, gint64, i);

      for (end = i + 1; end < times->len && g_array_index (times, gint64, end) == time_ms; end++)
        ;
      quoit_steps_add (&bucket->steps, time_ms, QUOIT_FOREVER_MS, (gint32) (end - i));
    }
}

static void
bucket_clear (gpointer data)
{
  quoit_steps_clear (&((Bucket *) data)->steps);
}

QuoitTimeline *
quoit_timeline_new (const QuoitFleet *fleet, const QuoitCandidates *candidates, guint n, gint64 now_ms)
{
  const guint32 n_slices = fleet->layout->n_slices;
  QuoitTimeline *timeline = g_new0 (QuoitTimeline, 1);
  g_autoptr (GHashTable) by_key = g_hash_table_new (NULL, NULL);
  g_autoptr (GArray) times = g_array_new (FALSE, FALSE, sizeof (gint64));

  timeline->fleet = fleet;
  timeline->now_ms = now_ms;
  timeline->free_from = quoit_slices_free_times (fleet, now_ms);
  timeline->bucket_of = g_new (guint32, n_slices + 1);
  timeline->members = g_new (guint32, n_slices + 1);
  timeline->buckets = g_array_new (FALSE, FALSE, sizeof (Bucket));
  timeline->sets = g_array_new (FALSE, FALSE, sizeof (Set));
  timeline->set_of = g_new (guint, n + 1);
  g_array_set_clear_func (timeline->buckets, bucket_clear);
  g_array_set_clear_func (timeline->sets, set_clear);
  for (guint i = 0; i < n; i++)
    timeline->set_of[i] = find_set (timeline, by_key, &candidates[i]);
  list_members (timeline, divide_slices (timeline));
  assign_buckets (timeline);
  for (guint i = 0; i < timeline->sets->len; i++)
    count_possible (fleet, &g_array_index (timeline->sets, Set, i));
  for (guint32 b = 0; b < timeline->buckets->len; b++)
    count_bucket (timeline, bucket_at (timeline, b), times);
  return timeline;
}

void
quoit_timeline_free (QuoitTimeline *timeline)
{
  if (timeline == NULL)
    return;
  g_array_unref (timeline->buckets);
  g_array_unref (timeline->sets);
  g_free (timeline->free_from);
  g_free (timeline->bucket_of);
  g_free (timeline->members);
  g_free (timeline->set_of);
  g_free (timeline);
}

guint32
quoit_timeline_n_possible (const QuoitTimeline *timeline, guint request)
{
  return set_of_request (timeline, request)->n_possible;
}

/* --- search --- */

static gboolean
is_no_easier (const Found *found, guint32 n_slices, gint64 runtime_ms)
{
  return n_slices >= found->n_slices
         && (runtime_ms == 0 || (found->runtime_ms != 0 && runtime_ms >= found->runtime_ms));
}

/* Returns the greatest lower bound from earlier searches. */
static gint64
earliest_start (const QuoitTimeline *timeline, const Set *set, guint32 n_slices, gint64 runtime_ms)
{
  gint64 start_ms = timeline->now_ms;

  for (guint i = 0; i < set->found->len; i++)
    {
      const Found *found = &g_array_index (set->found, Found, i);

      if (is_no_easier (found, n_slices, runtime_ms))
        start_ms = MAX (start_ms, found->start_ms);
    }
  return start_ms;
}

/* Remembers a result, instead of those that say less. */
static void
remember (Set *set, guint32 n_slices, gint64 runtime_ms, gint64 start_ms)
{
  const Found new = { n_slices, runtime_ms, start_ms };

  for (guint i = set->found->len; i > 0; i--)
    {
      const Found *old = &g_array_index (set->found, Found, i - 1);

      if (is_no_easier (&new, old->n_slices, old->runtime_ms) && start_ms >= old->start_ms)
        g_array_remove_index_fast (set->found, i - 1);
    }
  if (set->found->len < 32)
    g_array_append_val (set->found, new);
}

/* Searches a set of one bucket: jumps from each time with enough slices over the next time with too few. */
static gint64
search_bucket (const Bucket *bucket, guint32 n_slices, gint64 runtime_ms, gint64 start_ms)
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
count_free (const QuoitTimeline *timeline, const Set *set, gint64 start_ms, gint64 runtime_ms, gint64 *next_ms)
{
  guint64 n = 0;

  *next_ms = QUOIT_FOREVER_MS;
  for (guint i = 0; i < set->buckets->len; i++)
    {
      gint64 after_ms;

      n += (guint64) quoit_steps_least (&bucket_at (timeline, g_array_index (set->buckets, guint32, i))->steps,
                                        start_ms, quoit_runtime_end (start_ms, runtime_ms), &after_ms);
      *next_ms = MIN (*next_ms, after_ms);
    }
  return n;
}

static gint64
search_buckets (const QuoitTimeline *timeline, const Set *set, guint32 n_slices, gint64 runtime_ms, gint64 start_ms)
{
  gint64 next_ms;

  for (; start_ms != QUOIT_FOREVER_MS; start_ms = next_ms)
    if (count_free (timeline, set, start_ms, runtime_ms, &next_ms) >= n_slices)
      return start_ms;
  return QUOIT_FOREVER_MS;
}

gboolean
quoit_timeline_fits_now (const QuoitTimeline *timeline, guint request, guint32 n_slices, gint64 runtime_ms)
{
  const Set *set = set_of_request (timeline, request);
  gint64 next_ms;

  return earliest_start (timeline, set, n_slices, runtime_ms) == timeline->now_ms
         && count_free (timeline, set, timeline->now_ms, runtime_ms, &next_ms) >= n_slices;
}

gint64
quoit_timeline_find_start (QuoitTimeline *timeline, guint request, guint32 n_slices, gint64 runtime_ms)
{
  Set *set = set_of_request (timeline, request);
  gint64 start_ms = earliest_start (timeline, set, n_slices, runtime_ms);

  if (start_ms == QUOIT_FOREVER_MS || set->buckets->len == 0)
    return QUOIT_FOREVER_MS;
  if (set->buckets->len == 1)
    start_ms = search_bucket (bucket_at (timeline, g_array_index (set->buckets, guint32, 0)), n_slices, runtime_ms,
                              start_ms);
  else
    start_ms = search_buckets (timeline, set, n_slices, runtime_ms, start_ms);
  remember (set, n_slices, runtime_ms, start_ms);
  return start_ms;
}

/* --- taking --- */

void
quoit_timeline_take (QuoitTimeline *timeline, guint request, guint32 n_slices, gint64 start_ms, gint64 runtime_ms)
{
  const Set *set = set_of_request (timeline, request);
  const gint64 end_ms = quoit_runtime_end (start_ms, runtime_ms);

  for (guint i = 0; i < set->buckets->len && n_slices > 0; i++)
    {
      Bucket *bucket = bucket_at (timeline, g_array_index (set->buckets, guint32, i));
      gint64 after_ms;
      guint32 n = MIN ((guint32) quoit_steps_least (&bucket->steps, start_ms, end_ms, &after_ms), n_slices);

      quoit_steps_add (&bucket->steps, start_ms, end_ms, -(gint32) n);
      n_slices -= n;
    }
  g_assert (n_slices == 0);
}

/* Returns FALSE if the slice is needed for what was taken before. */
static gboolean
take_slice (QuoitTimeline *timeline, guint32 slice, gint64 until_ms)
{
  gint64 from_ms = timeline->free_from[slice], after_ms;
  Bucket *bucket;

  if (timeline->bucket_of[slice] == QUOIT_NO_INDEX || from_ms >= until_ms)
    return TRUE;
  bucket = bucket_at (timeline, timeline->bucket_of[slice]);
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
  quoit_steps_add (&bucket_at (timeline, timeline->bucket_of[slice])->steps, from_ms, timeline->free_from[slice], 1);
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

/* --- withholding --- */

/* Withholds all free slices of the bucket except @n, the last ones in natural order. */
static void
withhold_free (const QuoitTimeline *timeline, const Bucket *bucket, guint32 n, QuoitSliceFunc withhold, gpointer data)
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

static guint32
n_left (const QuoitTimeline *timeline, const Bucket *bucket, gint64 until_ms, gboolean *is_all)
{
  gint64 after_ms;
  gint32 n = quoit_steps_least (&bucket->steps, timeline->now_ms, until_ms, &after_ms);

  *is_all = n == quoit_steps_least (&bucket->steps, timeline->now_ms, timeline->now_ms + 1, &after_ms);
  return (guint32) n;
}

void
quoit_timeline_withhold_for_request (const QuoitTimeline *timeline, guint request, guint32 n_slices, gint64 until_ms,
                                     QuoitSliceFunc withhold, gpointer data)
{
  const Set *set = set_of_request (timeline, request);

  for (guint i = 0; i < set->buckets->len; i++)
    {
      const Bucket *bucket = bucket_at (timeline, g_array_index (set->buckets, guint32, i));
      gboolean is_all;
      guint32 n = n_slices == 0 ? 0 : n_left (timeline, bucket, until_ms, &is_all);

      if (n_slices == 0 || !is_all)
        withhold_free (timeline, bucket, n, withhold, data);
      n_slices -= MIN (n, n_slices);
    }
}

void
quoit_timeline_withhold_for_bundles (const QuoitTimeline *timeline, gint64 until_ms, QuoitSliceFunc withhold,
                                     gpointer data)
{
  for (guint32 b = 0; b < timeline->buckets->len; b++)
    {
      const Bucket *bucket = bucket_at (timeline, b);
      gboolean is_all;

      withhold_free (timeline, bucket, n_left (timeline, bucket, until_ms, &is_all), withhold, data);
      for (guint32 i = 0; i < bucket->n_slices; i++)
        {
          guint32 slice = timeline->members[bucket->first + i];

          if (timeline->free_from[slice] != timeline->now_ms && timeline->free_from[slice] < until_ms)
            withhold (data, slice);
        }
    }
}

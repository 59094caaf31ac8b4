/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/queue/timeline.h"

#include <string.h>

#include "fleet/bits.h"
#include "placement/ahead.h"
#include "placement/ends.h"
#include "placement/rows.h"

typedef struct {
  QuoitSteps steps; /* how many of its slices are free and not taken */
  guint32 first;    /* in QuoitTimeline.members */
  guint32 n_slices;
  guint32 n_sets;          /* sets that contain it */
  QuoitEligible *eligible; /* its slices that can be chosen; NULL: not made yet */
} Bucket;

/* A result of a search. Slices are only taken, so a request for at least as many slices and for at least as long does
 * not start earlier. */
typedef struct {
  guint32 n_slices;
  gint64 runtime_ms, start_ms;
} Found;

/* The slices that some requests accept, all of them the same ones. */
typedef struct {
  QuoitCandidates candidates; /* borrowed */
  guint32 n_possible;         /* slices that could be free at any time */
  GArray *buckets;            /* of guint32: those that few sets contain come first */
  GArray *found;              /* of Found */
} Set;

struct _QuoitTimeline {
  const QuoitFleet *fleet;
  gint64 now_ms;
  gint64 *free_from;  /* by slice */
  guint32 *bucket_of; /* by slice; slices that no request accepts form a bucket, too */
  guint32 *members;   /* slices, by bucket */
  GArray *buckets;    /* of Bucket */
  GArray *sets;       /* of Set */
  guint *set_of;      /* by request */
  gboolean has_pinned;
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

static guint
set_hash (gconstpointer key)
{
  const Set *set = key;
  guint hash = set->candidates.class_index;

  for (guint32 w = 0; set->candidates.eligible != NULL && w < set->candidates.eligible->n_words; w++)
    hash = (hash ^ (guint) (set->candidates.eligible->slices[w] >> 32) ^ (guint) set->candidates.eligible->slices[w])
           * 16777619u;
  return hash;
}

static gboolean
sets_equal (gconstpointer a, gconstpointer b)
{
  const Set *x = a, *y = b;
  const QuoitEligible *a_eligible = x->candidates.eligible, *b_eligible = y->candidates.eligible;

  if (x->candidates.class_index != y->candidates.class_index || a_eligible == b_eligible)
    return x->candidates.class_index == y->candidates.class_index;
  return a_eligible != NULL && b_eligible != NULL
         && memcmp (a_eligible->slices, b_eligible->slices, a_eligible->n_words * sizeof (guint64)) == 0;
}

/* Requests have the same set if they accept the same slices. @by_content: Set, without its arrays -> index + 1.
 * @by_pointer: remembered result, or else class -> index + 1, which saves comparing contents. */
static guint
find_set (QuoitTimeline *timeline, GHashTable *by_content, GHashTable *by_pointer, const QuoitCandidates *candidates)
{
  const Set key = { .candidates = *candidates };
  gpointer pointer
      = candidates->eligible != NULL ? (gpointer) candidates->eligible : GUINT_TO_POINTER (candidates->class_index);
  guint found = GPOINTER_TO_UINT (g_hash_table_lookup (by_pointer, pointer));
  Set set = key;

  if (found == 0)
    found = GPOINTER_TO_UINT (g_hash_table_lookup (by_content, &key));
  if (found == 0)
    {
      set.buckets = g_array_new (FALSE, FALSE, sizeof (guint32));
      set.found = g_array_new (FALSE, FALSE, sizeof (Found));
      g_array_append_val (timeline->sets, set);
      found = timeline->sets->len;
      g_hash_table_insert (by_content, g_memdup2 (&key, sizeof key), GUINT_TO_POINTER (found));
    }
  g_hash_table_insert (by_pointer, pointer, GUINT_TO_POINTER (found));
  return found - 1;
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
  if (set->candidates.class_index == QUOIT_NO_INDEX)
    return;
  for (guint32 w = 0; set->candidates.eligible != NULL && w < set->candidates.eligible->n_words; w++)
    for (guint64 word = set->candidates.eligible->slices[w]; word != 0; word &= word - 1)
      func (data, w * 64 + (guint32) __builtin_ctzll (word));
  for (guint32 s = 0; set->candidates.eligible == NULL && s < layout->n_shelves; s++)
    for (guint32 i = 0;
         layout->shelves[s].class_index == set->candidates.class_index && i < layout->shelves[s].n_slices; i++)
      func (data, layout->shelves[s].first_slice + i);
}

/* --- buckets --- */

/* Divides the buckets by one more set: if only some slices of a bucket are in the set, they become a new bucket. */
typedef struct {
  guint32 *bucket_of;
  GArray *parts; /* of Part, by bucket; the first one is that of all slices in no set */
  guint32 set;   /* the present set, from 1 */
} Division;

typedef struct {
  guint32 n_slices;
  guint32 set;         /* the last set that has some of the slices, to which the next two members belong */
  guint32 n_in_set;    /* slices of the bucket in that set */
  guint32 replacement; /* the bucket for these slices */
} Part;

static Part *
part_of_slice (const Division *division, guint32 slice)
{
  return &g_array_index (division->parts, Part, division->bucket_of[slice]);
}

static void
count_slice (gpointer data, guint32 slice)
{
  const Division *division = data;
  Part *part = part_of_slice (division, slice);

  if (part->set != division->set)
    *part = (Part) { part->n_slices, division->set, 0, division->bucket_of[slice] };
  part->n_in_set++;
}

static void
divide_slice (gpointer data, guint32 slice)
{
  Division *division = data;
  guint32 bucket = division->bucket_of[slice];
  Part *part = part_of_slice (division, slice);

  if (part->set != division->set || part->n_in_set == part->n_slices)
    return;
  if (part->replacement == bucket)
    {
      const Part new = { .n_slices = part->n_in_set };

      part->replacement = division->parts->len;
      part->n_slices -= part->n_in_set;
      part->n_in_set = G_MAXUINT32; /* never equal to n_slices again during this set */
      g_array_append_val (division->parts, new);
      part = &g_array_index (division->parts, Part, bucket);
    }
  division->bucket_of[slice] = part->replacement;
}

/* Returns the slices of a record that lies ahead, each once, in an array of guint32. */
static GArray *
slices_ahead (const QuoitLayout *layout, const QuoitGroupData *record)
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

/* Divides by what lies ahead and cannot move, so that all slices of a bucket are not available at the same times. */
static void
divide_by_fixed (QuoitTimeline *timeline, Division *division)
{
  for (guint i = 0; i < quoit_fleet_n_ahead (timeline->fleet); i++)
    {
      const QuoitGroupData *record = quoit_fleet_ahead_at (timeline->fleet, i);
      g_autoptr (GArray) slices = NULL;

      if (record->kind == QUOIT_RECORD_SLICES)
        continue;
      division->set++;
      slices = slices_ahead (timeline->fleet->layout, record);
      for (guint s = 0; s < slices->len; s++)
        count_slice (division, g_array_index (slices, guint32, s));
      for (guint s = 0; s < slices->len; s++)
        divide_slice (division, g_array_index (slices, guint32, s));
    }
}

/* Returns an upper bound of the numbers in bucket_of. */
static guint32
divide_slices (QuoitTimeline *timeline)
{
  const guint32 n_slices = timeline->fleet->layout->n_slices;
  const Part all = { .n_slices = n_slices };
  Division division = { timeline->bucket_of, g_array_new (FALSE, FALSE, sizeof (Part)), 0 };
  guint32 n;

  g_array_append_val (division.parts, all);
  memset (timeline->bucket_of, 0, (n_slices + 1) * sizeof *timeline->bucket_of);
  for (guint i = 0; i < timeline->sets->len; i++)
    {
      division.set = i + 1;
      for_each_slice (timeline->fleet->layout, &g_array_index (timeline->sets, Set, i), count_slice, &division);
      for_each_slice (timeline->fleet->layout, &g_array_index (timeline->sets, Set, i), divide_slice, &division);
    }
  divide_by_fixed (timeline, &division);
  n = division.parts->len;
  g_array_unref (division.parts);
  return n;
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
      const Bucket empty = { .n_slices = 0 };
      guint32 *number = &numbers[timeline->bucket_of[s]];

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
  return quoit_candidates_contain (&set->candidates, timeline->fleet, timeline->members[bucket->first]);
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

/* --- what lies ahead --- */

/* By slice: until when it is promised already. The times of one slice may overlap, if windows do. */
typedef struct {
  QuoitTimeline *timeline;
  gint64 *until;
} Promises;

/* A group with a lease ends before what is promised its slices begins, whatever its estimate says. */
static void
end_before (QuoitTimeline *timeline, const QuoitGroupData *record)
{
  g_autoptr (GArray) slices = slices_ahead (timeline->fleet->layout, record);

  for (guint i = 0; i < slices->len && record->kind == QUOIT_RECORD_SLICES; i++)
    {
      gint64 *free_from = &timeline->free_from[g_array_index (slices, guint32, i)];

      if (*free_from != QUOIT_FOREVER_MS)
        *free_from = MIN (*free_from, MAX (record->begins_ms, timeline->now_ms));
    }
}

static void
take_promise (Promises *promises, const QuoitGroupData *record)
{
  QuoitTimeline *timeline = promises->timeline;
  g_autoptr (GArray) slices = slices_ahead (timeline->fleet->layout, record);
  const gint64 until_ms = record->until_ms == 0 ? QUOIT_FOREVER_MS : record->until_ms;

  for (guint i = 0; i < slices->len; i++)
    {
      guint32 slice = g_array_index (slices, guint32, i);
      gint64 from_ms = MAX (MAX (record->begins_ms, timeline->free_from[slice]), promises->until[slice]);

      if (from_ms < until_ms)
        quoit_steps_add (&bucket_at (timeline, timeline->bucket_of[slice])->steps, from_ms, until_ms, -1);
      promises->until[slice] = MAX (promises->until[slice], until_ms);
    }
}

/* Takes the slices of reservations ahead and windows out of their buckets for their time. Which slices a reservation
 * gets can still change, so that a number of slices of a bucket says enough. */
static void
take_promises (QuoitTimeline *timeline)
{
  g_autofree gint64 *until = g_new0 (gint64, timeline->fleet->layout->n_slices + 1);
  Promises promises = { timeline, until };

  for (guint i = 0; i < quoit_fleet_n_ahead (timeline->fleet); i++)
    take_promise (&promises, quoit_fleet_ahead_at (timeline->fleet, i));
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
  Bucket *bucket = data;

  quoit_steps_clear (&bucket->steps);
  g_clear_pointer (&bucket->eligible, quoit_eligible_unref);
}

QuoitTimeline *
quoit_timeline_new (const QuoitFleet *fleet, const QuoitCandidates *candidates, guint n, gint64 now_ms)
{
  const guint32 n_slices = fleet->layout->n_slices;
  QuoitTimeline *timeline = g_new0 (QuoitTimeline, 1);
  g_autoptr (GHashTable) by_content = g_hash_table_new_full (set_hash, sets_equal, g_free, NULL);
  g_autoptr (GHashTable) by_pointer = g_hash_table_new (NULL, NULL);
  g_autoptr (GArray) times = g_array_new (FALSE, FALSE, sizeof (gint64));

  timeline->fleet = fleet;
  timeline->now_ms = now_ms;
  timeline->free_from = quoit_slices_free_times (fleet, now_ms);
  for (guint i = 0; i < quoit_fleet_n_ahead (fleet); i++)
    end_before (timeline, quoit_fleet_ahead_at (fleet, i));
  timeline->bucket_of = g_new (guint32, n_slices + 1);
  timeline->members = g_new (guint32, n_slices + 1);
  timeline->buckets = g_array_new (FALSE, FALSE, sizeof (Bucket));
  timeline->sets = g_array_new (FALSE, FALSE, sizeof (Set));
  timeline->set_of = g_new (guint, n + 1);
  g_array_set_clear_func (timeline->buckets, bucket_clear);
  g_array_set_clear_func (timeline->sets, set_clear);
  for (guint i = 0; i < n; i++)
    timeline->set_of[i] = find_set (timeline, by_content, by_pointer, &candidates[i]);
  list_members (timeline, divide_slices (timeline));
  assign_buckets (timeline);
  for (guint i = 0; i < timeline->sets->len; i++)
    count_possible (fleet, &g_array_index (timeline->sets, Set, i));
  for (guint32 b = 0; b < timeline->buckets->len; b++)
    count_bucket (timeline, bucket_at (timeline, b), times);
  if (quoit_fleet_n_ahead (fleet) > 0)
    take_promises (timeline);
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
search_bucket (Bucket *bucket, guint32 n_slices, gint64 runtime_ms, gint64 start_ms)
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

guint32
quoit_timeline_count_now (const QuoitTimeline *timeline, guint request, gint64 runtime_ms)
{
  gint64 next_ms;

  return (guint32) count_free (timeline, set_of_request (timeline, request), timeline->now_ms, runtime_ms, &next_ms);
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
  Bucket *bucket = bucket_at (timeline, timeline->bucket_of[slice]);
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

gboolean
quoit_timeline_pin_slices (QuoitTimeline *timeline, const GArray *slices, gint64 until_ms)
{
  if (!quoit_timeline_take_slices (timeline, slices, until_ms))
    return FALSE;
  for (guint i = 0; i < slices->len; i++)
    {
      Bucket *bucket = bucket_at (timeline, timeline->bucket_of[g_array_index (slices, guint32, i)]);

      g_clear_pointer (&bucket->eligible, quoit_eligible_unref);
    }
  timeline->has_pinned |= slices->len > 0;
  return TRUE;
}

/* --- choosing --- */

/* Returns the slices of the bucket, without those that are free but pinned. */
static QuoitEligible *
bucket_eligible (const QuoitTimeline *timeline, const QuoitFleet *fleet, guint32 class_index, Bucket *bucket)
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
choose_from (const QuoitFleet *fleet, const QuoitCandidates *candidates, guint32 n, QuoitPlan *plan)
{
  QuoitPlan chosen;
  gboolean ok;

  quoit_plan_init (&chosen);
  ok = quoit_best_choose (fleet, candidates, n, &chosen);
  for (guint32 i = 0; i < chosen.n; i++)
    quoit_plan_append (plan, chosen.slices[i]);
  quoit_plan_clear (&chosen);
  return ok;
}

gboolean
quoit_timeline_choose (const QuoitTimeline *timeline, const QuoitFleet *fleet, guint request, guint32 n_slices,
                       gint64 runtime_ms, QuoitPlan *plan)
{
  const Set *set = set_of_request (timeline, request);
  const gint64 until_ms = quoit_runtime_end (timeline->now_ms, runtime_ms);

  plan->n = 0;
  if (set->buckets->len == 1 && !timeline->has_pinned)
    return choose_from (fleet, &set->candidates, n_slices, plan);
  for (guint i = 0; i < set->buckets->len && n_slices > 0; i++)
    {
      Bucket *bucket = bucket_at (timeline, g_array_index (set->buckets, guint32, i));
      QuoitCandidates candidates;
      gint64 after_ms;
      guint32 n = (guint32) quoit_steps_least (&bucket->steps, timeline->now_ms, until_ms, &after_ms);

      n = MIN (n, n_slices);
      candidates.class_index = set->candidates.class_index;
      if (n > 0)
        {
          candidates.eligible = bucket_eligible (timeline, fleet, candidates.class_index, bucket);
          if (!choose_from (fleet, &candidates, n, plan))
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

/* Withholds the slices of the bucket that become free before @until_ms. */
static void
withhold_used (const QuoitTimeline *timeline, const Bucket *bucket, gint64 until_ms, QuoitSliceFunc withhold,
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
      Bucket *bucket = bucket_at (timeline, b);
      gint64 needed_ms; /* if none is left at some time: until when */
      gint32 n = quoit_steps_least (&bucket->steps, timeline->now_ms, until_ms, &needed_ms);

      withhold_free (timeline, bucket, (guint32) n, withhold, data);
      if (n == 0)
        withhold_used (timeline, bucket, MIN (until_ms, needed_ms), withhold, data);
    }
}

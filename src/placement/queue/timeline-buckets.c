/* SPDX-License-Identifier: Apache-2.0 */
/* Divides slices into buckets. The slices of a bucket are in the same sets of the requests. */
#include <string.h>

#include "fleet/ahead.h"
#include "placement/queue/timeline-private.h"

/* --- sets --- */

static guint
set_hash (gconstpointer key)
{
  const QuoitSliceSet *set = key;
  guint hash = set->candidates.class_index;

  for (guint32 w = 0; set->candidates.eligible != NULL && w < set->candidates.eligible->n_words; w++)
    hash = (hash ^ (guint) (set->candidates.eligible->slices[w] >> 32) ^ (guint) set->candidates.eligible->slices[w])
           * 16777619u;
  return hash;
}

static gboolean
rules_equal (const QuoitDomainRule *a, const QuoitDomainRule *b)
{
  return a->keep_to == b->keep_to && a->spread_over == b->spread_over && a->max_skew == b->max_skew
         && a->min_domains == b->min_domains;
}

static gboolean
sets_equal (gconstpointer a, gconstpointer b)
{
  const QuoitSliceSet *x = a, *y = b;
  const QuoitEligible *a_eligible = x->candidates.eligible, *b_eligible = y->candidates.eligible;

  if (!rules_equal (&x->rule, &y->rule))
    return FALSE;
  if (x->candidates.class_index != y->candidates.class_index || a_eligible == b_eligible)
    return x->candidates.class_index == y->candidates.class_index;
  return a_eligible != NULL && b_eligible != NULL
         && memcmp (a_eligible->slices, b_eligible->slices, a_eligible->n_words * sizeof (guint64)) == 0;
}

/* Requests have the same set if they accept the same slices. @by_content: QuoitSliceSet, without its arrays -> index
 * + 1.
 * @by_pointer: remembered result, or else class -> index + 1, which saves comparing contents. */
static guint
find_set (QuoitTimeline *timeline, GHashTable *by_content, GHashTable *by_pointer, const QuoitRequest *request,
          const QuoitCandidates *candidates)
{
  const QuoitSliceSet key
      = { .candidates = *candidates,
          .rule = { request->keep_to, request->spread_over, request->max_skew, request->min_domains },
          .request = request };
  const gboolean uses_pointer = !quoit_request_has_domains (request);
  gpointer pointer
      = candidates->eligible != NULL ? (gpointer) candidates->eligible : GUINT_TO_POINTER (candidates->class_index);
  guint found = uses_pointer ? GPOINTER_TO_UINT (g_hash_table_lookup (by_pointer, pointer)) : 0;
  QuoitSliceSet set = key;

  if (found == 0)
    found = GPOINTER_TO_UINT (g_hash_table_lookup (by_content, &key));
  if (found == 0)
    {
      set.buckets = g_array_new (FALSE, FALSE, sizeof (guint32));
      set.found = g_array_new (FALSE, FALSE, sizeof (QuoitFoundStart));
      if (quoit_request_has_domains (request) && candidates->class_index != QUOIT_NO_INDEX)
        set.map
            = quoit_domain_map_get (timeline->fleet->layout, quoit_request_domain (request), candidates->class_index);
      g_array_append_val (timeline->sets, set);
      found = timeline->sets->len;
      g_hash_table_insert (by_content, g_memdup2 (&key, sizeof key), GUINT_TO_POINTER (found));
    }
  if (uses_pointer)
    g_hash_table_insert (by_pointer, pointer, GUINT_TO_POINTER (found));
  return found - 1;
}

static void
set_clear (gpointer data)
{
  QuoitSliceSet *set = data;

  g_array_unref (set->buckets);
  g_array_unref (set->found);
  g_clear_pointer (&set->map, quoit_domain_map_unref);
}

static void
for_each_slice (const QuoitLayout *layout, const QuoitSliceSet *set, QuoitSliceFunc func, gpointer data)
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
      slices = quoit_timeline_slices_ahead (timeline->fleet->layout, record);
      for (guint s = 0; s < slices->len; s++)
        count_slice (division, g_array_index (slices, guint32, s));
      for (guint s = 0; s < slices->len; s++)
        divide_slice (division, g_array_index (slices, guint32, s));
    }
}

/* Divides the slices of the set by domain. */
static void
divide_by_domain (const QuoitTimeline *timeline, const QuoitSliceSet *set, Division *division)
{
  const QuoitLayout *layout = timeline->fleet->layout;
  const QuoitDomainMap *map = set->map;

  for (guint32 d = 0; map != NULL && d < map->n_domains; d++)
    {
      division->set++;
      for (guint pass = 0; pass < 2; pass++)
        for (guint32 p = map->first_part[d]; p < map->first_part[d + 1]; p++)
          {
            const QuoitShelf *shelf = &layout->shelves[map->parts[p].shelf];

            for (guint32 s = shelf->first_slice; s < shelf->first_slice + shelf->n_slices; s++)
              if (quoit_domain_of_slice (map, layout, s) == d)
                (pass == 0 ? count_slice : divide_slice) (division, s);
          }
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
      division.set++;
      for_each_slice (timeline->fleet->layout, &g_array_index (timeline->sets, QuoitSliceSet, i), count_slice,
                      &division);
      for_each_slice (timeline->fleet->layout, &g_array_index (timeline->sets, QuoitSliceSet, i), divide_slice,
                      &division);
      divide_by_domain (timeline, &g_array_index (timeline->sets, QuoitSliceSet, i), &division);
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
      const QuoitBucket empty = { .n_slices = 0 };
      guint32 *number = &numbers[timeline->bucket_of[s]];

      if (*number == QUOIT_NO_INDEX)
        {
          *number = timeline->buckets->len;
          g_array_append_val (timeline->buckets, empty);
        }
      timeline->bucket_of[s] = *number;
      quoit_timeline_bucket (timeline, *number)->n_slices++;
    }
  for (guint32 b = 0; b < timeline->buckets->len; b++)
    {
      quoit_timeline_bucket (timeline, b)->first = first;
      first += quoit_timeline_bucket (timeline, b)->n_slices;
      quoit_timeline_bucket (timeline, b)->n_slices = 0;
    }
  for (guint32 s = 0; s < n_slices; s++)
    {
      QuoitBucket *bucket = quoit_timeline_bucket (timeline, timeline->bucket_of[s]);

      timeline->members[bucket->first + bucket->n_slices++] = s;
    }
}

/* A bucket is completely in a set or not at all, so its first slice decides. */
static gboolean
set_has_bucket (const QuoitTimeline *timeline, const QuoitSliceSet *set, const QuoitBucket *bucket)
{
  return quoit_candidates_contain (&set->candidates, timeline->fleet, timeline->members[bucket->first]);
}

static gint
by_n_sets (gconstpointer a, gconstpointer b, gpointer data)
{
  const guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;
  const QuoitBucket *one = quoit_timeline_bucket (data, x), *other = quoit_timeline_bucket (data, y);

  if (one->n_sets != other->n_sets)
    return one->n_sets < other->n_sets ? -1 : 1;
  return x < y ? -1 : x > y;
}

static void
assign_buckets (QuoitTimeline *timeline)
{
  for (guint i = 0; i < timeline->sets->len; i++)
    for (guint32 b = 0; b < timeline->buckets->len; b++)
      if (set_has_bucket (timeline, &g_array_index (timeline->sets, QuoitSliceSet, i),
                          quoit_timeline_bucket (timeline, b)))
        {
          g_array_append_val (g_array_index (timeline->sets, QuoitSliceSet, i).buckets, b);
          quoit_timeline_bucket (timeline, b)->n_sets++;
        }
  for (guint i = 0; i < timeline->sets->len; i++)
    g_array_sort_with_data (g_array_index (timeline->sets, QuoitSliceSet, i).buckets, by_n_sets, timeline);
}

static void
bucket_clear (gpointer data)
{
  QuoitBucket *bucket = data;

  quoit_steps_clear (&bucket->steps);
  g_clear_pointer (&bucket->eligible, quoit_eligible_unref);
}

/* Makes the buckets, which do not have numbers yet. */
static void
make_buckets (QuoitTimeline *timeline)
{
  const gsize n = timeline->fleet->layout->n_slices + 1;

  timeline->bucket_of = g_atomic_rc_box_alloc (n * sizeof (guint32));
  timeline->members = g_atomic_rc_box_alloc (n * sizeof (guint32));
  list_members (timeline, divide_slices (timeline));
  assign_buckets (timeline);
}

/* --- kept divisions --- */

static void
unref_array (gpointer data)
{
  g_array_unref (data);
}

/* Returns a division with the buckets of the timeline. */
static QuoitDivision *
division_new (const QuoitTimeline *timeline)
{
  QuoitDivision *division = g_new (QuoitDivision, 1);

  *division = (QuoitDivision) { .sets = g_array_new (FALSE, FALSE, sizeof (QuoitKeptSet)),
                                .ahead = timeline->fleet->ahead,
                                .bucket_of = g_atomic_rc_box_acquire (timeline->bucket_of),
                                .members = g_atomic_rc_box_acquire (timeline->members),
                                .buckets = g_array_new (FALSE, FALSE, sizeof (QuoitKeptBucket)),
                                .set_buckets = g_ptr_array_new_with_free_func (unref_array) };
  if (division->ahead != NULL)
    g_atomic_ref_count_inc (&division->ahead->refs);
  for (guint i = 0; i < timeline->sets->len; i++)
    {
      const QuoitSliceSet *set = &g_array_index (timeline->sets, QuoitSliceSet, i);
      QuoitKeptSet kept = { set->candidates, set->rule };

      if (kept.candidates.eligible != NULL)
        kept.candidates.eligible = g_atomic_rc_box_acquire (kept.candidates.eligible);
      g_array_append_val (division->sets, kept);
      g_ptr_array_add (division->set_buckets, g_array_copy (set->buckets));
    }
  for (guint b = 0; b < timeline->buckets->len; b++)
    {
      const QuoitBucket *bucket = quoit_timeline_bucket (timeline, b);
      const QuoitKeptBucket kept = { .first = bucket->first, .n_slices = bucket->n_slices, .n_sets = bucket->n_sets };

      g_array_append_val (division->buckets, kept);
    }
  return division;
}

/* Returns the buckets of the set of the division that has the same slices, or NULL. Queues mostly have their sets in
 * the same order. */
static GArray *
find_set_buckets (const QuoitDivision *division, const QuoitSliceSet *set, guint likely)
{
  for (guint i = 0; i < division->sets->len; i++)
    {
      guint at = (likely + i) % division->sets->len;
      const QuoitKeptSet *kept = &g_array_index (division->sets, QuoitKeptSet, at);
      const QuoitSliceSet other = { .candidates = kept->candidates, .rule = kept->rule };

      if (sets_equal (set, &other))
        return division->set_buckets->pdata[at];
    }
  return NULL;
}

static gboolean
has_same_sets (const QuoitTimeline *timeline, const QuoitDivision *division)
{
  if (division->ahead != timeline->fleet->ahead || division->sets->len != timeline->sets->len)
    return FALSE;
  for (guint i = 0; i < timeline->sets->len; i++)
    if (find_set_buckets (division, &g_array_index (timeline->sets, QuoitSliceSet, i), i) == NULL)
      return FALSE;
  return TRUE;
}

/* Returns the division with the same sets, which becomes the last one, or NULL. */
static QuoitDivision *
find_division (const QuoitTimeline *timeline, QuoitKeptTimes *times)
{
  for (guint d = times->divisions->len; d-- > 0;)
    if (has_same_sets (timeline, times->divisions->pdata[d]))
      {
        QuoitDivision *division = g_ptr_array_steal_index (times->divisions, d);

        g_ptr_array_add (times->divisions, division);
        return division;
      }
  return NULL;
}

static void
copy_buckets (QuoitTimeline *timeline, const QuoitDivision *division)
{
  timeline->bucket_of = g_atomic_rc_box_acquire (division->bucket_of);
  timeline->members = g_atomic_rc_box_acquire (division->members);
  for (guint b = 0; b < division->buckets->len; b++)
    {
      const QuoitKeptBucket *kept = &g_array_index (division->buckets, QuoitKeptBucket, b);
      const QuoitBucket bucket = { .first = kept->first, .n_slices = kept->n_slices, .n_sets = kept->n_sets };

      g_array_append_val (timeline->buckets, bucket);
    }
  for (guint i = 0; i < timeline->sets->len; i++)
    {
      QuoitSliceSet *set = &g_array_index (timeline->sets, QuoitSliceSet, i);
      const GArray *buckets = find_set_buckets (division, set, i);

      g_array_append_vals (set->buckets, buckets->data, buckets->len);
    }
}

static void
copy_numbers (QuoitTimeline *timeline, const QuoitDivision *division)
{
  for (guint b = 0; b < division->buckets->len; b++)
    quoit_kept_bucket_init_steps (&g_array_index (division->buckets, QuoitKeptBucket, b), timeline->now_ms,
                                  &quoit_timeline_bucket (timeline, b)->steps);
  for (guint i = 0; i < timeline->sets->len; i++)
    {
      QuoitSliceSet *set = &g_array_index (timeline->sets, QuoitSliceSet, i);

      if (set->map != NULL)
        set->n_possible = quoit_timeline_possible_in_domains (timeline, set, division);
      for (guint k = 0; set->map == NULL && k < set->buckets->len; k++)
        set->n_possible
            += g_array_index (division->buckets, QuoitKeptBucket, g_array_index (set->buckets, guint32, k)).n_possible;
    }
}

void
quoit_timeline_divide (QuoitTimeline *timeline, QuoitKeptTimes *times, const QuoitCandidates *candidates, guint n)
{
  g_autoptr (GHashTable) by_content = g_hash_table_new_full (set_hash, sets_equal, g_free, NULL);
  g_autoptr (GHashTable) by_pointer = g_hash_table_new (NULL, NULL);
  QuoitDivision *division;

  timeline->buckets = g_array_new (FALSE, FALSE, sizeof (QuoitBucket));
  timeline->sets = g_array_new (FALSE, FALSE, sizeof (QuoitSliceSet));
  g_array_set_clear_func (timeline->buckets, bucket_clear);
  g_array_set_clear_func (timeline->sets, set_clear);
  for (guint i = 0; i < n; i++)
    timeline->set_of[i] = find_set (timeline, by_content, by_pointer, timeline->requests[i], &candidates[i]);
  division = find_division (timeline, times);
  if (division != NULL)
    copy_buckets (timeline, division);
  else
    {
      make_buckets (timeline);
      division = division_new (timeline);
      quoit_kept_times_add (times, division, timeline->now_ms);
    }
  copy_numbers (timeline, division);
}

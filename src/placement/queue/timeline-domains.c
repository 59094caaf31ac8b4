/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of a queue that depend on the pools or zones of their slices. Each bucket is in one domain of the set, so
 * the free slices of its buckets are those of a domain. */
#include "placement/queue/timeline-private.h"

static guint32
domain_of_bucket (const QuoitTimeline *timeline, const QuoitSliceSet *set, guint32 b)
{
  const QuoitBucket *bucket = quoit_timeline_bucket (timeline, b);

  return quoit_domain_of_slice (set->map, timeline->fleet->layout, timeline->members[bucket->first]);
}

/* Returns a count of each domain without available slices. The caller owns it. */
static QuoitDomainCount *
count_members (const QuoitTimeline *timeline, const QuoitSliceSet *set, const GArray *has)
{
  QuoitDomainCount *counts = g_new0 (QuoitDomainCount, set->map->n_domains + 1);

  for (guint i = 0; i < set->buckets->len; i++)
    counts[domain_of_bucket (timeline, set, g_array_index (set->buckets, guint32, i))].counts = TRUE;
  for (guint i = 0; has != NULL && i < has->len; i++)
    {
      guint32 domain = quoit_domain_of_slice (set->map, timeline->fleet->layout, g_array_index (has, guint32, i));

      if (domain == QUOIT_NO_INDEX)
        continue;
      counts[domain].n_members++;
      counts[domain].counts = TRUE;
    }
  return counts;
}

guint32
quoit_timeline_possible_in_domains (const QuoitTimeline *timeline, const QuoitSliceSet *set,
                                    const QuoitDivision *division)
{
  g_autofree QuoitDomainCount *counts = count_members (timeline, set, NULL);

  for (guint i = 0; i < set->buckets->len; i++)
    {
      guint32 b = g_array_index (set->buckets, guint32, i);

      counts[domain_of_bucket (timeline, set, b)].n_available
          += g_array_index (division->buckets, QuoitKeptBucket, b).n_possible;
    }
  return (guint32) quoit_distribution_most (set->request, counts, set->map->n_domains);
}

/* Adds the slices that are free in the period, and writes those of each bucket to @n_free (or NULL). */
static void
add_free (const QuoitTimeline *timeline, const QuoitSliceSet *set, gint64 start_ms, gint64 end_ms,
          QuoitDomainCount *counts, guint32 *n_free, gint64 *next_ms)
{
  *next_ms = QUOIT_FOREVER_MS;
  for (guint i = 0; i < set->buckets->len; i++)
    {
      guint32 b = g_array_index (set->buckets, guint32, i);
      gint64 after_ms;
      gint32 n = quoit_steps_least (&quoit_timeline_bucket (timeline, b)->steps, start_ms, end_ms, &after_ms);

      counts[domain_of_bucket (timeline, set, b)].n_available += (guint32) n;
      if (n_free != NULL)
        n_free[i] = (guint32) n;
      *next_ms = MIN (*next_ms, after_ms);
    }
}

guint64
quoit_timeline_count_in_domains (const QuoitTimeline *timeline, const QuoitSliceSet *set, const GArray *has,
                                 gint64 start_ms, gint64 end_ms, gint64 *next_ms)
{
  g_autofree QuoitDomainCount *counts = count_members (timeline, set, has);

  add_free (timeline, set, start_ms, end_ms, counts, NULL, next_ms);
  return quoit_distribution_most (set->request, counts, set->map->n_domains);
}

guint32 *
quoit_timeline_share (const QuoitTimeline *timeline, const QuoitSliceSet *set, const GArray *has, guint32 n_slices,
                      gint64 start_ms, gint64 end_ms)
{
  g_autofree QuoitDomainCount *counts = count_members (timeline, set, has);
  g_autofree guint32 *shares = g_new (guint32, set->map->n_domains + 1);
  guint32 *n = g_new0 (guint32, set->buckets->len + 1);
  gint64 next_ms;

  add_free (timeline, set, start_ms, end_ms, counts, n, &next_ms);
  quoit_distribution_choose (set->request, counts, set->map->n_domains, n_slices, shares);
  for (guint i = 0; i < set->buckets->len; i++)
    {
      guint32 domain = domain_of_bucket (timeline, set, g_array_index (set->buckets, guint32, i));

      n[i] = MIN (n[i], shares[domain]);
      shares[domain] -= n[i];
    }
  return n;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a timeline, for the files of this folder only. */
#pragma once

#include "placement/domains.h"
#include "placement/queue/kept.h"
#include "placement/queue/timeline.h"

/* Slices that are in the same sets. */
typedef struct {
  QuoitSteps steps; /* how many of its slices are free and not taken */
  guint32 first;    /* in QuoitTimeline.members */
  guint32 n_slices;
  guint32 n_sets;          /* sets that contain it */
  QuoitEligible *eligible; /* its slices that can be chosen; NULL: not made yet */
} QuoitBucket;

/* A result of a search. Slices are only taken, so a request for at least as many slices and for at least as long does
 * not start earlier. */
typedef struct {
  guint32 n_slices;
  gint64 runtime_ms, start_ms;
} QuoitFoundStart;

/* The slices that some requests accept, all of them the same ones. */
typedef struct {
  QuoitCandidates candidates;  /* borrowed */
  QuoitDomainRule rule;        /* of all requests of the set */
  const QuoitRequest *request; /* one of them, borrowed */
  QuoitDomainMap *map;         /* if they depend on pools or zones: each bucket is in one domain. NULL: only numbers
                                * matter */
  guint32 n_possible;          /* slices that could be free at any time */
  GArray *buckets;             /* of guint32: those that few sets contain come first */
  GArray *found;               /* of QuoitFoundStart */
} QuoitSliceSet;

struct _QuoitTimeline {
  const QuoitFleet *fleet;
  const QuoitRequest *const *requests;
  guint n; /* requests */
  gint64 now_ms;
  gint64 *free_from;  /* by slice */
  guint32 *bucket_of; /* by slice; slices that no request accepts form a bucket, too. An atomic rc box */
  guint32 *members;   /* slices, by bucket. An atomic rc box */
  GArray *buckets;    /* of QuoitBucket */
  GArray *sets;       /* of QuoitSliceSet */
  guint *set_of;      /* by request */
  GArray **has;       /* by request: the slices that its group has, of guint32; NULL: none */
  gboolean has_pinned;
};

static inline QuoitBucket *
quoit_timeline_bucket (const QuoitTimeline *timeline, guint32 b)
{
  return &g_array_index (timeline->buckets, QuoitBucket, b);
}

static inline QuoitSliceSet *
quoit_timeline_set (const QuoitTimeline *timeline, guint request)
{
  return &g_array_index (timeline->sets, QuoitSliceSet, timeline->set_of[request]);
}

/* timeline-buckets.c: makes the sets and buckets of a new timeline, or takes them from @times if the sets are those of
 * an earlier plan. */
void quoit_timeline_divide (QuoitTimeline *timeline, QuoitKeptTimes *times, const QuoitCandidates *candidates, guint n);

/* timeline-domains.c, for sets with a map: returns how many slices a request of the set could get at any time. */
guint32 quoit_timeline_possible_in_domains (const QuoitTimeline *timeline, const QuoitSliceSet *set,
                                            const QuoitDivision *division);
/* Returns how many more slices a request of the set can get in the period, if its group has @has (NULL: none). Sets
 * *@next_ms: no earlier start has more. */
guint64 quoit_timeline_count_in_domains (const QuoitTimeline *timeline, const QuoitSliceSet *set, const GArray *has,
                                         gint64 start_ms, gint64 end_ms, gint64 *next_ms);
/* Divides @n_slices of the period among the buckets of the set. Returns the number of each, in the order of the set;
 * the caller owns it. */
guint32 *quoit_timeline_share (const QuoitTimeline *timeline, const QuoitSliceSet *set, const GArray *has,
                               guint32 n_slices, gint64 start_ms, gint64 end_ms);

/* timeline-ahead.c: the slices of a record that lies ahead, each once, in an array of guint32. The caller owns it. */
GArray *quoit_timeline_slices_ahead (const QuoitLayout *layout, const QuoitGroupData *record);
/* Ends the groups with a lease before what is promised their slices begins. */
void quoit_timeline_end_before_ahead (QuoitTimeline *timeline);
/* Takes the slices of reservations ahead and windows out of their buckets for their time. */
void quoit_timeline_take_ahead (QuoitTimeline *timeline);

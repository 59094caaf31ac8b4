/* SPDX-License-Identifier: Apache-2.0 */
/* A scheduler plans its queue again after few changes. So the end of each slice, and how many slices of each bucket end
 * when, are kept with the layout, and only what has changed since the last plan is computed again. Plans do not depend
 * on what is kept. */
#pragma once

#include "fleet/past.h"
#include "placement/placement.h"
#include "placement/queue/steps.h"

/* What a request states about the pools and zones of its slices. */
typedef struct {
  QuoitDomain keep_to, spread_over;
  guint32 max_skew, min_domains;
} QuoitDomainRule;

/* The slices that some requests accept. */
typedef struct {
  QuoitCandidates candidates;
  QuoitDomainRule rule;
} QuoitKeptSet;

typedef struct {
  guint32 first; /* in QuoitDivision.members */
  guint32 n_slices;
  guint32 n_sets; /* sets that contain it */
  guint32 n_free;
  guint32 n_possible;    /* slices that could be free at any time */
  QuoitSteps ends;       /* how many slices have ended, of those with a known end */
  gint64 first_ms;       /* of @ends; earlier ends count as this time */
  guint n_compact_steps; /* steps of @ends after quoit_steps_compact() */
} QuoitKeptBucket;

/* The slices of a fleet, divided into buckets (placement/queue/timeline.h). */
typedef struct {
  GArray *sets;                 /* of QuoitKeptSet, whose candidates the division owns */
  QuoitAhead *ahead;            /* what lies ahead, which divides slices too; NULL: nothing */
  guint32 *bucket_of, *members; /* like those of a timeline, which shares these rc boxes */
  GArray *buckets;              /* of QuoitKeptBucket */
  GPtrArray *set_buckets;       /* by set, of GArray of guint32 */
} QuoitDivision;

typedef struct {
  QuoitKept kept;       /* the first member: what the layout keeps */
  QuoitPast past;       /* the fleet to which this belongs */
  gint64 *ends;         /* by slice: see quoit_slice_end() */
  guint8 *is_possible;  /* by slice: quoit_fleet_slice_could_be_intact() */
  GPtrArray *divisions; /* of QuoitDivision; the last one was used last */
} QuoitKeptTimes;

/* Takes what the layout keeps, or makes it, for @fleet at @now_ms. Return it with quoit_layout_keep(). */
QuoitKeptTimes *quoit_kept_times_take (const QuoitFleet *fleet, gint64 now_ms);

/* Adds a division (transfer full), whose numbers are not set yet. */
void quoit_kept_times_add (QuoitKeptTimes *times, QuoitDivision *division, gint64 now_ms);
/* Sets @steps to how many slices of the bucket are free. */
void quoit_kept_bucket_init_steps (QuoitKeptBucket *bucket, gint64 now_ms, QuoitSteps *steps);

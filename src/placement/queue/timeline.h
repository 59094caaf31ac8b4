/* SPDX-License-Identifier: Apache-2.0 */
/* How many slices will be free at which time, for the requests of a queue. Slices that the same requests accept are
 * interchangeable. They form a bucket, whose free slices are counted over time (placement/queue/steps.h). What a
 * request takes later is only a number of slices of each bucket: enough of them are free at each time, so it can get
 * some of them when it starts. */
#pragma once

#include "placement/placement.h"
#include "placement/queue/steps.h"

typedef struct _QuoitTimeline QuoitTimeline;

/* @candidates: by request, @n in total. Both must stay valid. */
QuoitTimeline *quoit_timeline_new (const QuoitFleet *fleet, const QuoitRequest *const *requests,
                                   const QuoitCandidates *candidates, guint n, gint64 now_ms);
void quoit_timeline_free (QuoitTimeline *timeline);

/* Returns how many slices the request accepts that would be free if all groups ended, and all nodes were alive and
 * undrained. */
guint32 quoit_timeline_n_possible (const QuoitTimeline *timeline, guint request);

/* Returns the first time at which @n_slices of @request are free until @runtime_ms later (0: forever);
 * QUOIT_FOREVER_MS if there is none. */
gint64 quoit_timeline_find_start (QuoitTimeline *timeline, guint request, guint32 n_slices, gint64 runtime_ms);

/* Sets the slices that the group of @request has, an array of guint32. If pools or zones matter to the request, they
 * decide which slices it can get in addition. */
void quoit_timeline_set_members (QuoitTimeline *timeline, guint request, GArray *slices);

/* Returns how many slices of @request are free now and until @runtime_ms later (0: forever). */
guint32 quoit_timeline_count_now (const QuoitTimeline *timeline, guint request, gint64 runtime_ms);

/* Chooses @n_slices of them on @fleet, which is the fleet of the timeline with the groups that have started since.
 * Slices that few requests accept are chosen first; among equal ones policy `best` chooses. Returns FALSE only if
 * @fleet has fewer free slices, because it is one in which more has begun (placement/ahead.h). */
gboolean quoit_timeline_choose (const QuoitTimeline *timeline, const QuoitFleet *fleet, guint request, guint32 n_slices,
                                gint64 runtime_ms, QuoitPlan *plan);

/* Takes @n_slices slices of @request, which must be free from @start_ms on for @runtime_ms (0: forever). Slices that
 * few requests accept are taken first. */
void quoit_timeline_take (QuoitTimeline *timeline, guint request, guint32 n_slices, gint64 start_ms, gint64 runtime_ms);

/* Returns the end of a period that begins at @start_ms; QUOIT_FOREVER_MS for @runtime_ms 0. */
static inline gint64
quoit_runtime_end (gint64 start_ms, gint64 runtime_ms)
{
  return runtime_ms == 0 || runtime_ms >= QUOIT_FOREVER_MS - start_ms ? QUOIT_FOREVER_MS : start_ms + runtime_ms;
}

/* Takes each of the slices from when it becomes free until @until_ms. Returns FALSE, and takes nothing, if too few
 * slices of a bucket would be left for what was taken before. A slice can be listed several times. */
gboolean quoit_timeline_take_slices (QuoitTimeline *timeline, const GArray *slices, gint64 until_ms);
/* Like quoit_timeline_take_slices(), for slices that nobody uses yet: they are not chosen any more. */
gboolean quoit_timeline_pin_slices (QuoitTimeline *timeline, const GArray *slices, gint64 until_ms);

typedef void (*QuoitSliceFunc) (gpointer data, guint32 slice);

/* Calls @withhold with the slices of which a request for bundles, which can use parts of slices, must not use any host
 * until @until_ms, so that enough are left for what was taken before. */
void quoit_timeline_withhold (const QuoitTimeline *timeline, gint64 until_ms, QuoitSliceFunc withhold, gpointer data);

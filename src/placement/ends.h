/* SPDX-License-Identifier: Apache-2.0 */
/* When groups end and slices become free, as far as leases and estimates say. It is assumed that nodes stay as they
 * are. */
#pragma once

#include "placement/placement.h"

/* The end of a group. */
typedef struct {
  gint64 time_ms;
  guint32 slot;         /* of the group in the fleet */
  guint32 n_slices;     /* candidates of a request that the end makes free; for bundles: 0 */
  gboolean is_estimate; /* the expected end; otherwise the end of a lease */
  gboolean is_overdue;  /* the expected end has passed, and counts as the next moment */
} QuoitGroupEnd;

/* Sets @end to the estimate, or to the end of the lease if there is no estimate: a caller that renews leases as a sign
 * of life knows better when the group ends. Returns FALSE if both are unknown, or if @slot has no live group. */
gboolean quoit_group_end_find (const QuoitFleet *fleet, guint32 slot, gint64 now_ms, QuoitGroupEnd *end);

/* Returns the time that quoit_group_end_find() sets, even if it has passed; 0: unknown. */
gint64 quoit_group_known_end (const QuoitFleet *fleet, const QuoitGroupData *group);

/* Returns when an option can wait for the end of the group: its expected end, else the end of its own lease; 0:
 * unknown. An expected end that has passed does not count, because such a wait would never be over. The lease of its
 * owner does not count, because a live owner renews it. Sets *@is_estimate (or NULL) to whether it is the expected end.
 */
gint64 quoit_group_planned_end (const QuoitGroupData *group, gint64 now_ms, gboolean *is_estimate);

/* Returns the time at which a group that is live or lies ahead is assumed to end; 0: unknown. An estimate that has
 * passed counts as the next moment. An estimate for a reservation ahead that is later than the end that was reserved
 * does not count, because the promise does not last longer. Sets *@is_estimate (or NULL). */
gint64 quoit_group_assumed_end (const QuoitFleet *fleet, const QuoitGroupData *group, gint64 now_ms,
                                gboolean *is_estimate);

/* Returns whether the slice is free when no group uses it. */
gboolean quoit_slice_is_free_without_groups (const QuoitFleet *fleet, guint32 slice);

/* Returns whether the slice is a candidate that only groups keep from being free. */
gboolean quoit_candidates_can_become_free (const QuoitCandidates *candidates, const QuoitFleet *fleet, guint32 slice);

/* Returns how many candidates the end of @group, which has whole slices, makes free. */
guint32 quoit_candidates_count_freed (const QuoitCandidates *candidates, const QuoitFleet *fleet,
                                      const QuoitGroupData *group);

/* Returns when the last user of the node ends, which can have passed; 0 if it has none, QUOIT_FOREVER_MS if the end is
 * unknown. */
gint64 quoit_node_end (const QuoitFleet *fleet, guint32 node);
/* Returns when the last group on the slice ends, which can have passed; 0 if the slice is free now, QUOIT_FOREVER_MS if
 * the end is unknown or if the slice is not free without groups. */
gint64 quoit_slice_end (const QuoitFleet *fleet, guint32 slice);
/* Returns that of each slice, faster. The caller owns the array. */
gint64 *quoit_slice_ends (const QuoitFleet *fleet);

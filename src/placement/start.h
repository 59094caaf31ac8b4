/* SPDX-License-Identifier: Apache-2.0 */
/* Finds when a request fits: from which time on, if groups end as their leases and estimates say, nothing else is
 * requested, and nodes stay as they are. */
#pragma once

#include "fleet/fleet.h"
#include "placement/request.h"

/* The end of a group for which a request waits. */
typedef struct {
  gint64 time_ms;
  guint32 slot;         /* of the group in the fleet */
  guint32 n_slices;     /* candidates that the end makes free; for bundles: 0 */
  gboolean is_estimate; /* the expected end; otherwise the end of a lease */
  gboolean is_overdue;  /* the expected end has passed, and counts as the next moment */
} QuoitGroupEnd;

typedef struct {
  gint64 time_ms; /* 0: not before a group ends whose end is unknown */
  GArray *ends;   /* of QuoitGroupEnd, by time; empty: the request fits now */
} QuoitStartTime;

/* @fleet must have no group whose lease has ended at @now_ms. Fails like quoit_plan_slices(), and with NEVER if the
 * request would not fit if all groups ended. The caller owns start->ends, also on failure. */
gboolean quoit_find_start (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms, QuoitStartTime *start,
                           GError **error);

/* SPDX-License-Identifier: Apache-2.0 */
/* Finds when a request fits: from which time on, if groups end as their leases and estimates say, nothing else is
 * requested, and nodes stay as they are. */
#pragma once

#include "placement/ends.h"
#include "placement/request.h"

typedef struct {
  gint64 time_ms;    /* 0: not before a group ends whose end is unknown, or which the request is to be near to */
  GArray *ends;      /* of QuoitGroupEnd, by time; empty: the request fits now */
  GArray *nodes;     /* of guint32: for bundles that fit later, the nodes that they get then, by bundle */
  guint alternative; /* of the request: the one that fits first, and the first of several */
} QuoitStartTime;

/* @fleet must have no group whose lease has ended at @now_ms. Fails like quoit_plan_slices(), and with NEVER if the
 * request would not fit if all groups ended. The caller clears @start, also on failure. */
gboolean quoit_find_start (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms, QuoitStartTime *start,
                           GError **error);
/* Like quoit_find_start(), without the alternatives of @request. */
gboolean quoit_find_start_alone (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms,
                                 QuoitStartTime *start, GError **error);
/* Returns whether the group that the request is to be near to, if any, is assumed not to have ended at @time_ms. */
gboolean quoit_start_is_in_time (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms, gint64 time_ms);
/* Returns a start that waits for nothing. The caller clears it. */
QuoitStartTime quoit_start_time_at (gint64 time_ms);
void quoit_start_time_clear (QuoitStartTime *start);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitStartTime, quoit_start_time_clear)

/* Fails with NEVER: at most @n_possible slices are ever free for the request. Returns FALSE. */
gboolean quoit_start_fail_never (const QuoitRequest *request, guint32 n_possible, GError **error);

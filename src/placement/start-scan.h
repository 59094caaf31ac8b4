/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "placement/start.h"

/* Returns the first time at which quoit_step_reserve() would grant @request if groups end as #QuoitStart states; 0 if
 * it has to wait for something whose end is unknown. */
gint64 quoit_start_scan (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms);

/* Returns whether the request would be granted at @time_ms, after @now_ms. */
gboolean quoit_start_is_granted_at (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms,
                                    gint64 time_ms);

/* Appends the ends of reservations ahead, as far as they are known. */
void quoit_start_add_ends_ahead (const QuoitFleet *fleet, gint64 now_ms, GArray *ends);

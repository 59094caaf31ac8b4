/* SPDX-License-Identifier: Apache-2.0 */
/* Finds when bundles fit beside what lies ahead (placement/ahead.h), which can take nodes away again. */
#pragma once

#include "placement/ends.h"
#include "placement/request.h"

/* Returns the first time at which the request, for bundles, fits for @runtime_ms (0: forever): @now_ms, the end of a
 * group in @ends (of QuoitGroupEnd, by time), or that of a record that lies ahead; 0 if there is none. At each of these
 * times, the request is decided on the fleet in which the groups have ended, and everything has begun that lies ahead
 * in its run time. */
gint64 quoit_bundles_find_start (const QuoitFleet *fleet, const QuoitRequest *request, const GArray *ends,
                                 gint64 runtime_ms, gint64 now_ms);

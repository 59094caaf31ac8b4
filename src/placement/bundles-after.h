/* SPDX-License-Identifier: Apache-2.0 */
/* Whether bundles fit after some groups have ended, decided on a fork without them. */
#pragma once

#include "placement/view.h"

/* Returns the fleet without the first @n groups of @slots (of guint32). */
QuoitFleet *quoit_fleet_without (const QuoitFleet *fleet, const GArray *slots, guint n);

/* Returns whether @request fits without the first @n groups of @slots. Sets *@is_proven to FALSE if the search ended
 * without a result; it is not set otherwise. */
gboolean quoit_bundles_fit_without (const QuoitFleet *fleet, const QuoitRequest *request, const GArray *slots, guint n,
                                    gboolean *is_proven);

/* Returns the smallest n of 1 or more for which @request fits without the first n groups of @slots, or 0 if there is
 * none. Sets *@is_proven like quoit_bundles_fit_without(). */
guint quoit_bundles_count_ends (const QuoitFleet *fleet, const QuoitRequest *request, const GArray *slots,
                                gboolean *is_proven);

/* SPDX-License-Identifier: Apache-2.0 */
/* The chips of quotas that waiting requests of a queue are to get when they start. A later request must leave them:
 * they count for its quotas if it still runs then. Groups that run now count for the whole time. */
#pragma once

#include "placement/quota.h"

/* Returns an array of what each quota is to count for each waiting request. The caller owns it. */
GArray *quoit_pledges_new (void);

/* Adds a request, for its least number of slices, which is promised the start @start_ms. @nodes: of its bundles, like
 * for quoit_quota_admit_bundles(). */
void quoit_pledges_add (GArray *pledges, const QuoitFleet *fleet, const QuoitRequest *request, const guint32 *nodes,
                        gint64 start_ms);

/* Returns whether the quotas admit @n_slices slices of @request, or its bundles on @nodes, until @end_ms, beside the
 * pledges before it. */
gboolean quoit_pledges_admit (const GArray *pledges, const QuoitFleet *fleet, const QuoitRequest *request,
                              guint32 n_slices, const guint32 *nodes, gint64 end_ms);
/* Returns how many slices of @request, at most @n_slices, the quotas admit like that. */
guint32 quoit_pledges_limit_slices (const GArray *pledges, const QuoitFleet *fleet, const QuoitRequest *request,
                                    guint32 n_slices, gint64 end_ms);
/* Returns whether the pledges before @end_ms can be kept beside @group, which the quotas admit. */
gboolean quoit_pledges_admit_group (const GArray *pledges, const QuoitFleet *fleet, const QuoitGroupData *group,
                                    gint64 end_ms);

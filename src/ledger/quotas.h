/* SPDX-License-Identifier: Apache-2.0 */
/* Steps for quotas, and how the other steps keep to them. Repair is not checked, because a group has what it lost
 * already; neither are imports, and reservations ahead that begin. */
#pragma once

#include "ledger/ledger.h"
#include "placement/quota.h"

/* Limits the number of slices of @request to what the quotas admit. *@limited points into @request. Returns FALSE if
 * that is less than the request accepts. */
gboolean quoit_step_limit_by_quotas (const QuoitFleet *fleet, const QuoitRequest *request, QuoitRequest *limited);

/* Returns FALSE if a quota does not admit the bundles of @group, a new group for @request. Then sets @refusal. */
gboolean quoit_step_admit_bundles (const QuoitFleet *fleet, const QuoitRequest *request, const QuoitGroupData *group,
                                   QuoitRefusal *refusal);

/* Gives @request, which was made from the text of @group, the owner and the labels of the group. */
void quoit_step_set_quota_target (QuoitRequest *request, const QuoitGroupData *group);

/* Checks that no quota counts more of @after than of @before (NULL: none) and does not admit it. Fails with CONFLICT.
 */
gboolean quoit_step_check_growth (const QuoitFleet *fleet, const QuoitGroupData *before, const QuoitGroupData *after,
                                  GError **error);

/* SPDX-License-Identifier: Apache-2.0 */
/* What quotas (fleet/quotas.h) admit of a request. Quotas count what groups have at present. They have no time axis: a
 * reservation ahead counts from the time it is made, and a group counts until it ends, whatever is expected of it. */
#pragma once

#include "fleet/quotas.h"
#include "placement/placement.h"
#include "placement/view.h"

/* How many slices of a request the quotas admit. For parts, only quotas that count them wherever they are cut decide.
 */
typedef struct {
  guint32 n_now, n_ever;       /* at present; if all groups ended. G_MAXUINT32: no limit */
  guint now_quota, ever_quota; /* the indices of the quotas that admit the fewest; G_MAXUINT: none */
} QuoitQuotaSlices;

/* @group: a group that counts as released; NULL: none. */
QuoitQuotaSlices quoit_quota_admit_slices (const QuoitFleet *fleet, const QuoitRequest *request,
                                           const QuoitGroupData *group);

/* Whether the quotas admit bundles. */
typedef struct {
  QuoitVerdict verdict;
  guint quota;         /* the quota that does not admit them; G_MAXUINT: none */
  gint64 requested_e4; /* chips of the bundles that this quota counts */
} QuoitQuotaBundles;

/* Decides about all bundles of @request. @nodes: their nodes in the layout; NULL: not placed, so that only quotas for
 * any class decide. A quota for one class is never a reason for NEVER, because the bundles may fit elsewhere. */
QuoitQuotaBundles quoit_quota_admit_bundles (const QuoitFleet *fleet, const QuoitRequest *request,
                                             const guint32 *nodes);

/* Decides about the parts of a request that may be cut. @nodes: an array of guint32, all their hosts in the layout;
 * NULL: not placed, so that only quotas decide that count them anywhere, about the least number of parts. */
QuoitQuotaBundles quoit_quota_admit_parts (const QuoitFleet *fleet, const QuoitRequest *request, const GArray *nodes);
/* Returns how many parts may be cut from slices of a class, as far as quotas for its topology decide. G_MAXUINT32: no
 * limit. */
guint32 quoit_quota_count_parts (const QuoitFleet *fleet, const QuoitRequest *request, const QuoitSliceFacts *facts);

/* Returns whether a quota for some classes counts bundles or parts of @request only if they are placed there. */
gboolean quoit_quota_limits_class (const QuoitFleet *fleet, const QuoitRequest *request);

/* Some cohorts: by their number, whether it is one of them. NULL: none. */
typedef guint8 QuoitFullCohorts;

/* Returns the cohorts of the quotas that have no room for @request. For bundles, those of each quota that would have no
 * room if all bundles were of its class. The caller frees the result with g_free(). */
QuoitFullCohorts *quoit_quota_list_full (const QuoitFleet *fleet, const QuoitRequest *request);
/* Returns whether a quota of one of the cohorts counts the group. */
gboolean quoit_quota_counts_in (const QuoitFullCohorts *full, const QuoitFleet *fleet, const QuoitGroupData *group);

/* Describes a quota in a reason: "ana: 8 of 8 chips in use". The caller owns the text. */
char *quoit_quota_describe (const QuoitFleet *fleet, guint quota);
/* Describes a quota that can never admit the request: "ana: at most 8 chips". The caller owns the text. */
char *quoit_quota_describe_limit (const QuoitFleet *fleet, guint quota);

/* Chooses groups of callers, an array of QuoitGroupData which the fleet owns, whose end makes all quotas admit
 * @n_slices slices of @request. Returns NULL if there are no such groups. The caller owns the array. */
GPtrArray *quoit_quota_choose_ends (const QuoitFleet *fleet, const QuoitRequest *request, guint32 n_slices);

/* Returns the first quota that counts more of @after than of @before (NULL: none) and does not admit it instead of
 * @before; G_MAXUINT: none. Sets *@growth_e4 to the difference. */
guint quoit_quota_find_overrun (const QuoitFleet *fleet, const QuoitGroupData *before, const QuoitGroupData *after,
                                gint64 *growth_e4);

/* Chips that a quota counts. */
typedef struct {
  guint quota;
  gint64 chips_e4;
} QuoitQuotaChips;

/* Returns what each quota would count of @n_slices slices of @request, or of its bundles, as an array of
 * QuoitQuotaChips. @nodes: of the bundles, like for quoit_quota_admit_bundles(). The caller owns the array. */
GArray *quoit_quota_list_chips (const QuoitFleet *fleet, const QuoitRequest *request, guint32 n_slices,
                                const guint32 *nodes);

/* Returns whether the quotas would admit @request if the groups in @slots (the first @n of guint32) had ended. For
 * bundles, only quotas for any class decide. */
gboolean quoit_quota_admits_after (const QuoitFleet *fleet, const QuoitRequest *request, const GArray *slots, guint n);

/* Fails with NEVER if a quota would not admit @request even if all groups ended. */
gboolean quoit_quota_check_ever (const QuoitFleet *fleet, const QuoitRequest *request, GError **error);

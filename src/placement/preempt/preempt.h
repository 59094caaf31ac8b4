/* SPDX-License-Identifier: Apache-2.0 */
/* Preemption: which groups of lower priority to release, so that a request fits. It changes nothing. */
#pragma once

#include "placement/placement.h"
#include "placement/preempt/cover.h"

/* Which groups a search considers, and what it minimizes. */
typedef enum {
  QUOIT_PREEMPT_PRIORITY, /* groups of callers of lower priority: the greatest priority, then the chips */
  QUOIT_PREEMPT_GROUPS,   /* all groups: their number, then their chips */
  QUOIT_PREEMPT_CHIPS     /* all groups: their chips, then their number */
} QuoitPreemptAim;

/* A group that can be released for a request. */
typedef struct {
  guint32 slot;    /* in the fleet */
  gint32 priority; /* 0 unless the aim is PRIORITY */
  QuoitPreemptAim aim;
  QuoitPreemptCost cost; /* set where it is needed */
} QuoitVictim;

/* Returns the chips of the group, in ten-thousandths. */
guint64 quoit_group_chips_e4 (const QuoitFleet *fleet, const QuoitGroupData *group);
/* Returns what the release of the group costs for its aim. */
QuoitPreemptCost quoit_victim_cost (const QuoitFleet *fleet, const QuoitVictim *victim, gint64 now_ms);

/* Compares two QuoitVictim by priority, then by cost, then by slot. */
gint quoit_victim_compare (gconstpointer a, gconstpointer b);
/* Returns the slots of the groups, as an array of guint32. */
GArray *quoit_victims_list_slots (const GArray *victims);

/* Writes to @released (of QuoitVictim) the groups to release, and nothing if @request fits at @now_ms. Sets
 * *@alternative to the alternative of the request for which that is cheapest, and *@is_cheapest to whether it is proven
 * that no other set costs less. Fails with NEVER if the fleet can never have enough slices, with NOT_NOW if too few
 * groups have a lower priority, with either if a quota does not admit the request even then, and like
 * quoit_plan_slices(). */
gboolean quoit_find_preemption (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms, GArray *released,
                                guint *alternative, gboolean *is_cheapest, GError **error);

/* Like quoit_find_preemption(), for another aim than PRIORITY, and without the alternatives of @request. Sources own
 * some of the groups that it finds. */
gboolean quoit_find_fewest (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms, QuoitPreemptAim aim,
                            GArray *released, gboolean *is_fewest, GError **error);

/* --- internal --- */

/* Returns of how many victims all sets may be tried, at most @most. A report is not to take long. */
guint quoit_preempt_most_exact (const QuoitFleet *fleet, const GArray *victims, guint most);

/* @victims: the groups of lower priority (QuoitVictim), without costs. */
gboolean quoit_preempt_for_slices (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms,
                                   const GArray *victims, GArray *released, gboolean *is_cheapest, GError **error);
/* Finds the victims whose release makes @needed more of the candidates free, and appends them to @released. Returns
 * FALSE with the number of slices in *@n_freeable if there are not enough. */
gboolean quoit_preempt_among (const QuoitFleet *fleet, const QuoitCandidates *candidates, guint32 needed, gint64 now_ms,
                              const GArray *victims, GArray *released, gboolean *is_cheapest, guint64 *n_freeable);
/* Like quoit_preempt_for_slices(), for a request that depends on the pools or zones of its slices, could fit at some
 * time, and does not fit now. */
gboolean quoit_preempt_in_domains (const QuoitFleet *fleet, const QuoitRequest *request,
                                   const QuoitCandidates *candidates, gint64 now_ms, const GArray *victims,
                                   GArray *released, gboolean *is_cheapest, GError **error);
/* Adds victims to those in @released, whose nodes are enough, until quotas admit the request too. Returns FALSE if all
 * of them are not enough. */
gboolean quoit_preempt_for_quotas (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms,
                                   const GArray *victims, GArray *released, gboolean *is_cheapest);
/* Finds the victims whose release is enough on @fleet, with what lies ahead. @released: some that are enough, or none.
 * Returns FALSE if none are found. */
gboolean quoit_preempt_by_trying (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms,
                                  const GArray *victims, GArray *released, gboolean *is_cheapest);
/* Returns whether the release of these groups is enough there. Then removes those that need not be released. */
gboolean quoit_preempt_keep_running (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms,
                                     GArray *released);
/* Fails with NOT_NOW. */
gboolean quoit_preempt_fail_not_now (const QuoitRequest *request, guint64 n_freeable, GError **error);
gboolean quoit_preempt_for_bundles (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms,
                                    GArray *victims, GArray *released, gboolean *is_cheapest, GError **error);

/* SPDX-License-Identifier: Apache-2.0 */
/* Placement: decides which slices or nodes of a fleet a request gets, and explains why not. It changes nothing and
 * reads no clock. */
#pragma once

#include "fleet/fleet.h"
#include "placement/eligible.h"
#include "placement/report.h"
#include "placement/request.h"

/* A plan for slices: the chosen slices in natural order. A plan can be reused; call quoit_plan_clear() only at the
 * end. */
typedef struct {
  guint32 n, capacity;
  guint32 *slices; /* points to inline_slices or to the heap */
  guint32 inline_slices[16];
} QuoitPlan;

void quoit_plan_init (QuoitPlan *plan);
void quoit_plan_clear (QuoitPlan *plan);
void quoit_plan_grow (QuoitPlan *plan); /* doubles the capacity */

static inline void
quoit_plan_append (QuoitPlan *plan, guint32 slice)
{
  if (G_UNLIKELY (plan->n == plan->capacity))
    quoit_plan_grow (plan);
  plan->slices[plan->n++] = slice;
}

typedef struct _QuoitRefusal QuoitRefusal;

/* Chooses all slices of @request at once. Returns FALSE with @error NOT_FOUND if the request names a pool or slice
 * that is not in the fleet, and with INVALID if the request is incomplete. If the slices are not free, returns
 * FALSE, sets @refusal (or NULL) and does not set @error. */
gboolean quoit_plan_slices (const QuoitFleet *fleet, const QuoitRequest *request, QuoitPlan *plan,
                            QuoitRefusal *refusal, GError **error);

/* Decides whether @request, which must be for slices, fits, and counts the free slices that it accepts. Both results
 * may be NULL. Fails like quoit_plan_slices(). */
gboolean quoit_test_slices (const QuoitFleet *fleet, const QuoitRequest *request, QuoitVerdict *verdict,
                            guint32 *n_free, GError **error);
/* Returns whether @request, which must be for slices, fits now. */
gboolean quoit_slices_fit (const QuoitFleet *fleet, const QuoitRequest *request);

/* Returns the request of @group, without names that the fleet no longer has. The caller owns it. */
QuoitRequest *quoit_request_of_group (const QuoitLayout *layout, const QuoitGroupData *group, GError **error);

/* Explains why @request, which must be for slices, fits or not. Returns NULL only with NOT_FOUND or INVALID. */
QuoitReport *quoit_explain_slices (const QuoitFleet *fleet, const QuoitRequest *request, GError **error);
/* Like quoit_explain_slices(), but the report never has options, and counts the slices of @group as if nobody used
 * them; NULL: none. */
QuoitReport *quoit_explain_without_options (const QuoitFleet *fleet, const QuoitRequest *request,
                                            const QuoitGroupData *group, GError **error);
/* Releases a live group on a fork, which no entry does. */
void quoit_fork_fleet_release (QuoitFleet *fork, const QuoitGroupData *group);
/* Returns a fork of @fleet in which @group is released. */
QuoitFleet *quoit_fleet_without_group (const QuoitFleet *fleet, const QuoitGroupData *group);

/* --- internal --- */

/* The rules that a request has for single nodes (pool, zone, selectors, slices by name), with names resolved. */
typedef struct {
  const QuoitLayout *layout;
  const QuoitRequest *request;
  guint8 *pools;                 /* one byte per pool; NULL: any */
  guint64 *named, *not_excluded; /* slices, one bit each; NULL: the request has no such rule */
  guint64 *without_excluded_nodes, *in_one_zone;
  GArray *excluded_nodes; /* of guint32, ascending */
  guint n_used;
  guint8 used[QUOIT_MAX_CONSTRAINTS]; /* positions of the constraints whose rules the request has */
} QuoitNodeRules;

/* Fails with NOT_FOUND for a pool or slice that is not in the fleet, and with INVALID for an ambiguous name. */
gboolean quoit_node_rules_init (QuoitNodeRules *rules, const QuoitLayout *layout, const QuoitRequest *request,
                                GError **error);
void quoit_node_rules_clear (QuoitNodeRules *rules);
/* Returns whether the request uses no constraint that has a rule. */
static inline gboolean
quoit_node_rules_are_none (const QuoitRequest *request)
{
  return request->pool == NULL && request->zone == NULL && request->keep_to != QUOIT_DOMAIN_ZONE
         && request->spread_over != QUOIT_DOMAIN_ZONE
         && (request->selectors->len | request->slices->len | request->excluded->len | request->excluded_nodes->len)
                == 0;
}
gboolean quoit_node_rules_in_zone (const QuoitNodeRules *rules, QuoitNodeId node);
gboolean quoit_node_rules_match_selectors (const QuoitNodeRules *rules, QuoitNodeId node);
gboolean quoit_node_rules_in_pool (const QuoitNodeRules *rules, QuoitNodeId node);
gboolean quoit_node_rules_in_named_slice (const QuoitNodeRules *rules, QuoitNodeId node);
gboolean quoit_node_rules_in_no_excluded_slice (const QuoitNodeRules *rules, QuoitNodeId node);
gboolean quoit_node_rules_is_not_excluded (const QuoitNodeRules *rules, QuoitNodeId node);
gboolean quoit_node_rules_has_zone (const QuoitNodeRules *rules, QuoitNodeId node);
/* Return the slices that satisfy a rule, as bits: those that the request names, those that it does not exclude, those
 * without an excluded node, those in one zone. NULL: it has no such rule. */
const guint64 *quoit_node_rules_named (const QuoitNodeRules *rules);
const guint64 *quoit_node_rules_not_excluded (const QuoitNodeRules *rules);
const guint64 *quoit_node_rules_without_excluded_nodes (const QuoitNodeRules *rules);
const guint64 *quoit_node_rules_in_one_zone (const QuoitNodeRules *rules);
/* Returns the first zone label of the node, or NULL. See quoit_layout_node_label(). */
const char *quoit_node_zone (const QuoitLayout *layout, QuoitNodeId node, char *buffer);
/* Returns the position of the first constraint whose rule the node violates, or QUOIT_NO_CONSTRAINT. */
guint quoit_node_rules_first_broken (const QuoitNodeRules *rules, QuoitNodeId node);

/* The slices that have the class of the request and pass its rules, whatever their state. */
typedef struct {
  guint32 class_index;     /* QUOIT_NO_INDEX: the fleet has no slice of the requested class */
  QuoitEligible *eligible; /* NULL: the request has no rules, so every slice of the class is eligible */
} QuoitCandidates;

/* Also validates the request. Fails like quoit_plan_slices(). */
gboolean quoit_candidates_find (const QuoitFleet *fleet, const QuoitRequest *request, QuoitCandidates *candidates,
                                GError **error);
static inline void
quoit_candidates_clear (QuoitCandidates *candidates)
{
  g_clear_pointer (&candidates->eligible, quoit_eligible_unref);
}

/* The candidates of a request, counted. */
typedef struct {
  guint32 n_matching; /* candidates */
  guint32 n_free_now; /* candidates that are free */
  guint32 n_possible; /* candidates that would be free if all were released, alive and undrained */
  guint32 n_removed[QUOIT_MAX_CONSTRAINTS]; /* slices that each constraint removed, by position */
} QuoitCandidateCounts;

/* Counts in time that does not depend on the number of slices, if the request has no rules. */
void quoit_candidates_count (const QuoitCandidates *candidates, const QuoitFleet *fleet, const QuoitRequest *request,
                             QuoitCandidateCounts *counts);
/* Like quoit_candidates_count(), as if @group were released. Returns FALSE if that cannot be counted from its slices
 * alone, because others use them too. */
gboolean quoit_candidates_count_without (const QuoitCandidates *candidates, const QuoitFleet *fleet,
                                         const QuoitRequest *request, const QuoitGroupData *group,
                                         QuoitCandidateCounts *counts);
static inline gboolean
quoit_candidates_contain (const QuoitCandidates *candidates, const QuoitFleet *fleet, guint32 slice)
{
  if (candidates->eligible != NULL)
    return quoit_eligible_has (candidates->eligible, slice);
  return candidates->class_index != QUOIT_NO_INDEX
         && fleet->layout->shelves[fleet->layout->slices[slice].shelf].class_index == candidates->class_index;
}

/* Chooses @n slices by policy `best`. Returns FALSE with an empty @plan if fewer than @n are free. */
gboolean quoit_best_choose (const QuoitFleet *fleet, const QuoitCandidates *candidates, guint32 n, QuoitPlan *plan);

/* Chooses the slices of @request among @candidates, as many as it prefers or else as there are. Returns FALSE if too
 * few are free. */
gboolean quoit_plan_candidates (const QuoitFleet *fleet, const QuoitRequest *request, const QuoitCandidates *candidates,
                                QuoitPlan *plan);

/* Chooses all free slices, for a request that accepts fewer slices than it prefers. Returns FALSE if fewer than @min
 * are free. */
gboolean quoit_best_choose_all_free (const QuoitFleet *fleet, const QuoitCandidates *candidates, guint32 min,
                                     QuoitPlan *plan);

/* Chooses @most slices on the shelf that has the fewest free slices, but enough; if none has, as many as the fullest
 * shelf has. Returns FALSE if those are fewer than @least. */
gboolean quoit_best_choose_on_one_shelf (const QuoitFleet *fleet, const QuoitCandidates *candidates, guint32 least,
                                         guint32 most, QuoitPlan *plan);

/* Appends the first @n free slices of a shelf, which has as many, to @plan. */
void quoit_best_append_first (const QuoitFleet *fleet, guint32 shelf, guint32 n, QuoitPlan *plan);
/* Appends @n slices of the shelf with the fewest free slices that suffice, of the shelves of a class that @accepts
 * returns TRUE for. Returns FALSE if there is none, or if it gives up because @accepts has refused many. */
gboolean quoit_best_append_on_shelf (const QuoitFleet *fleet, guint32 class_index, guint32 n,
                                     gboolean (*accepts) (gconstpointer data, guint32 shelf), gconstpointer data,
                                     QuoitPlan *plan);

/* Chooses one slice on each of the @n shelves with the fewest free slices. Returns FALSE if fewer shelves have any, or
 * if the request has rules. */
gboolean quoit_best_choose_on_many_shelves (const QuoitFleet *fleet, const QuoitCandidates *candidates, guint32 n,
                                            QuoitPlan *plan);

/* Adds the step by which @group ends. @now_ms matters only for waiting: an expected end that has passed is the next
 * moment. */
void quoit_option_add_group_end (QuoitOption *option, const QuoitGroupData *group, QuoitEndManner manner,
                                 gint64 now_ms);

/* Adds options to the report of a refused request for slices. */
void quoit_report_find_options (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request,
                                const QuoitCandidates *candidates);
/* Adds those that change the fleet. */
void quoit_report_find_changes (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request,
                                const QuoitCandidates *candidates);
/* Adds the options that change the fleet. @report must have fewer slices now than it could have; then at least one
 * option is added, unless the group that the request is to be near to would have to end. */
void quoit_report_find_repairs (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request,
                                const QuoitCandidates *candidates);

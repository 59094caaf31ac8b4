/* SPDX-License-Identifier: Apache-2.0 */
/* Placement decisions: the input is a fleet and a request, the output is slices or reasons. Placement writes nothing
 * and reads no clock. */
#pragma once

#include "fleet/fleet.h"
#include "placement/report.h"
#include "placement/request.h"

/* The chosen slices in natural order. A plan can be reused; call quoit_plan_clear() only at the end. */
typedef struct {
  guint32 n, room;
  guint32 *slices; /* points to few or to a heap array */
  guint32 few[16];
} QuoitPlan;

void quoit_plan_init (QuoitPlan *plan);
void quoit_plan_clear (QuoitPlan *plan);
void quoit_plan_append (QuoitPlan *plan, guint32 slice);

typedef struct _QuoitRefusal QuoitRefusal;

/* Chooses all slices of @request at once. Returns FALSE with @error NOT_FOUND if the request names a pool or slice
 * that is not in the fleet, and with INVALID if the request is incomplete. If the slices are not free, returns
 * FALSE, sets @refusal (or NULL) and does not set @error. */
gboolean quoit_plan_slices (const QuoitFleet *fleet, const QuoitRequest *request, QuoitPlan *plan,
                            QuoitRefusal *refusal, GError **error);

/* Explains why @request fits or not. Returns NULL only with NOT_FOUND or INVALID. */
QuoitReport *quoit_explain_slices (const QuoitFleet *fleet, const QuoitRequest *request, GError **error);

/* --- internal --- */

/* The rules of @request for single nodes, with names resolved. */
typedef struct {
  const QuoitLayout *layout;
  const QuoitRequest *request;
  guint8 *pools;            /* one byte per pool; NULL: any */
  guint8 *named, *excluded; /* one byte per slice; NULL: no such rule */
  guint n_used;
  guint8 used[QUOIT_N_CONSTRAINTS]; /* positions of the constraints whose rules the request uses */
} QuoitNodeRules;

/* Fails with NOT_FOUND for a pool or slice that is not in the fleet, and with INVALID for an ambiguous name. */
gboolean quoit_node_rules_init (QuoitNodeRules *rules, const QuoitLayout *layout, const QuoitRequest *request,
                                GError **error);
void quoit_node_rules_clear (QuoitNodeRules *rules);
gboolean quoit_node_rules_are_none (const QuoitRequest *request);
gboolean quoit_node_rules_in_zone (const QuoitNodeRules *rules, QuoitNodeId node);
gboolean quoit_node_rules_select (const QuoitNodeRules *rules, QuoitNodeId node);
gboolean quoit_node_rules_in_pool (const QuoitNodeRules *rules, QuoitNodeId node);
gboolean quoit_node_rules_in_named_slice (const QuoitNodeRules *rules, QuoitNodeId node);
gboolean quoit_node_rules_in_no_excluded_slice (const QuoitNodeRules *rules, QuoitNodeId node);
/* Returns the position of the first constraint whose rule the node violates, or QUOIT_N_CONSTRAINTS. */
guint quoit_node_rules_first_broken (const QuoitNodeRules *rules, QuoitNodeId node);

/* The slices that match the fixed properties of the request, whatever their current state. */
typedef struct {
  guint32 class_index;                    /* QUOIT_NO_INDEX: the fleet has no slice of the requested class */
  gboolean unconstrained;                 /* every slice of the class is eligible; eligible is then NULL */
  guint8 *eligible;                       /* one byte per slice */
  guint32 n_removed[QUOIT_N_CONSTRAINTS]; /* unless unconstrained: number of slices that each constraint removed, by
                                           * position */
} QuoitCandidates;

/* Also validates the request. Fails like quoit_plan_slices(). */
gboolean quoit_candidates_find (const QuoitFleet *fleet, const QuoitRequest *request, QuoitCandidates *candidates,
                                GError **error);
void quoit_candidates_clear (QuoitCandidates *candidates);
/* Counts the slices that each constraint of class and rules removed. @n_removed has QUOIT_N_CONSTRAINTS members. */
void quoit_candidates_count_removed (const QuoitCandidates *candidates, const QuoitFleet *fleet,
                                     const QuoitRequest *request, guint32 *n_removed);
static inline gboolean
quoit_candidates_have (const QuoitCandidates *candidates, const QuoitFleet *fleet, guint32 slice)
{
  if (candidates->eligible != NULL)
    return candidates->eligible[slice];
  return candidates->class_index != QUOIT_NO_INDEX
         && fleet->layout->shelves[fleet->layout->slices[slice].shelf].class_index == candidates->class_index;
}

/* Chooses @n slices by policy `best`. Returns FALSE with an empty @plan if fewer than @n are free. */
gboolean quoit_best_choose (const QuoitFleet *fleet, const QuoitCandidates *candidates, guint32 n, QuoitPlan *plan);

/* Chooses all free slices, for a request that accepts fewer than it prefers. Returns FALSE if there are fewer than
 * @least. */
gboolean quoit_best_choose_most (const QuoitFleet *fleet, const QuoitCandidates *candidates, guint32 least,
                                 QuoitPlan *plan);

/* Adds the step that ends @group: the end of its lease, the removal by its source, or a release. */
void quoit_option_add_end_of (QuoitOption *option, const QuoitFleet *fleet, const QuoitGroupData *group);

void quoit_report_find_options (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request,
                                const QuoitCandidates *candidates);
/* Adds the options that change the fleet. The request must be able to fit; at least one option is added. */
void quoit_report_find_repairs (QuoitReport *report, const QuoitFleet *fleet, const QuoitCandidates *candidates);

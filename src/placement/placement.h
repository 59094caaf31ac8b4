/* SPDX-License-Identifier: Apache-2.0 */
/* Deciding: a fleet and a request in, slices or reasons out. Pure: nothing is written, no clock is read. */
#pragma once

#include "fleet/fleet.h"
#include "placement/report.h"
#include "placement/request.h"

/* The chosen slices in natural order. Reusable: quoit_plan_clear() only at the end of its life. */
typedef struct {
  guint32 n, room;
  guint32 *slices; /* points to few, or to room of its own */
  guint32 few[16];
} QuoitPlan;

void quoit_plan_init (QuoitPlan *plan);
void quoit_plan_clear (QuoitPlan *plan);
void quoit_plan_append (QuoitPlan *plan, guint32 slice);

typedef struct _QuoitRefusal QuoitRefusal;

/* Places all slices of @request at once. FALSE: @error is set to NOT_FOUND if the request names a pool or slice that is
 * not in the fleet, or to INVALID if it is incomplete; otherwise the slices are not free, @refusal (or NULL) is set,
 * and
 * @error is not. */
gboolean quoit_plan_slices (const QuoitFleet *fleet, const QuoitRequest *request, QuoitPlan *plan,
                            QuoitRefusal *refusal, GError **error);

/* Why that is so; also for requests that fit. NULL only with NOT_FOUND or INVALID. */
QuoitReport *quoit_explain_slices (const QuoitFleet *fleet, const QuoitRequest *request, GError **error);

/* --- inside --- */

/* What @request fixes of a node by itself, with names looked up. */
typedef struct {
  const QuoitLayout *layout;
  const QuoitRequest *request;
  guint8 *pools;            /* a byte a pool; NULL: any */
  guint8 *named, *excluded; /* a byte a slice; NULL: none is */
  guint n_used;
  guint8 used[QUOIT_N_CONSTRAINTS]; /* positions of the constraints whose rules the request has */
} QuoitNodeRules;

/* NOT_FOUND for a pool or slice that is not in the fleet, INVALID for a name of two. */
gboolean quoit_node_rules_init (QuoitNodeRules *rules, const QuoitLayout *layout, const QuoitRequest *request,
                                GError **error);
void quoit_node_rules_clear (QuoitNodeRules *rules);
gboolean quoit_node_rules_are_none (const QuoitRequest *request);
gboolean quoit_node_rules_in_zone (const QuoitNodeRules *rules, QuoitNodeId node);
gboolean quoit_node_rules_select (const QuoitNodeRules *rules, QuoitNodeId node);
gboolean quoit_node_rules_in_pool (const QuoitNodeRules *rules, QuoitNodeId node);
gboolean quoit_node_rules_in_named_slice (const QuoitNodeRules *rules, QuoitNodeId node);
gboolean quoit_node_rules_in_no_excluded_slice (const QuoitNodeRules *rules, QuoitNodeId node);
/* The position of the first constraint whose rule the node breaks; QUOIT_N_CONSTRAINTS: none. */
guint quoit_node_rules_first_broken (const QuoitNodeRules *rules, QuoitNodeId node);

/* The slices that satisfy what the request fixes, whatever their present condition. */
typedef struct {
  guint32 class_index;    /* QUOIT_NO_INDEX: no slice of the fleet is of the class that is asked */
  gboolean unconstrained; /* every slice of the class is eligible; eligible is NULL then */
  guint8 *eligible;       /* one byte a slice */
  guint32
      n_removed[QUOIT_N_CONSTRAINTS]; /* of constrained requests: slices that each constraint removed, by position */
} QuoitCandidates;

/* Checks the request too: fails as quoit_plan_slices() does. */
gboolean quoit_candidates_find (const QuoitFleet *fleet, const QuoitRequest *request, QuoitCandidates *candidates,
                                GError **error);
void quoit_candidates_clear (QuoitCandidates *candidates);
/* How many slices each constraint of class and rules removed; @n_removed has QUOIT_N_CONSTRAINTS members. */
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

/* Policy `best`. FALSE, and nothing in @plan, when fewer than @n are free. */
gboolean quoit_best_choose (const QuoitFleet *fleet, const QuoitCandidates *candidates, guint32 n, QuoitPlan *plan);

/* As many as are free, which is fewer than a request wanted: FALSE below @least. */
gboolean quoit_best_choose_most (const QuoitFleet *fleet, const QuoitCandidates *candidates, guint32 least,
                                 QuoitPlan *plan);

/* The step that ends what @group has: by itself, by its source, or by somebody's release. */
void quoit_option_add_end_of (QuoitOption *option, const QuoitFleet *fleet, const QuoitGroupData *group);

void quoit_report_find_options (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request,
                                const QuoitCandidates *candidates);
/* The options that change the fleet, for a request that could fit: at least one. */
void quoit_report_find_repairs (QuoitReport *report, const QuoitFleet *fleet, const QuoitCandidates *candidates);

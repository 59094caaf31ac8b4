/* SPDX-License-Identifier: Apache-2.0 */
/* A view: the bundles of a request and the nodes that may take them, as rows of numbers. Placement policies read only
 * views. */
#pragma once

#include "fleet/fleet.h"
#include "models/ray/scheduler/rows.h"
#include "placement/placement.h"

typedef enum {
  QUOIT_VIEW_NOW = 0, /* what is free now on nodes that are alive and not draining */
  QUOIT_VIEW_EVER = 1 /* the totals of all known nodes, whatever their use and state; decides `never` */
} QuoitViewTime;

/* A value of the topology label. Slices with the same name in different pools and sources are different values. */
typedef struct {
  const char *text;
  guint32 slice_or_source; /* distinguishes values with the same text; 0: the text is enough */
} QuoitLabelValue;

/* The input of a policy. A view owns all its arrays. */
typedef struct {
  const QuoitFleet *fleet;
  const QuoitRequest *request;
  QuoitBundles bundles;
  QuoitView view;
  QuoitPlacementRules rules;
  guint32 *nodes;  /* nodes of the layout, ascending, by index in the view */
  GArray *domains; /* of QuoitLabelValue, sorted */
  GStringChunk *texts;
} QuoitFleetView;

/* Makes a view of @n bundles of @request and of the nodes of @fleet that may take them, in the order of the layout.
 * @which has the indices of the bundles; NULL: the first @n. Nodes that satisfy the selectors of no bundle are
 * omitted if this is known without visiting them. The view has chips only if they matter: not under policy `ray`,
 * and not if all chips are whole and only whole chips are requested. Otherwise the sums of TPU are enough.
 *
 * Fails with NOT_FOUND for a pool or slice that is not in the fleet, and with INVALID for an ambiguous name. */
gboolean quoit_fleet_view_init (QuoitFleetView *view, const QuoitFleet *fleet, const QuoitRequest *request,
                                const guint32 *which, guint32 n, QuoitViewTime time, GError **error);
void quoit_fleet_view_clear (QuoitFleetView *view);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitFleetView, quoit_fleet_view_clear)

/* Returns the index of a node of the layout in the view, or QUOIT_NO_INDEX if it is not a candidate. */
guint32 quoit_fleet_view_find (const QuoitFleetView *view, QuoitNodeId node);
/* Excludes @node for STRICT_SPREAD, because it already has bundles of the group. */
void quoit_fleet_view_exclude_node (QuoitFleetView *view, QuoitNodeId node);
/* Returns the topology label value of @node, or QUOIT_NO_INDEX if no candidate has that value. */
guint32 quoit_fleet_view_domain (const QuoitFleetView *view, QuoitNodeId node);
/* Excludes all nodes with that value. */
void quoit_fleet_view_exclude_domain (QuoitFleetView *view, guint32 domain);

/* --- view-amounts.c --- */

/* Reads what is available now on single nodes of a view, on forks of its fleet. @view must stay valid. */
typedef struct _QuoitAmountReader QuoitAmountReader;

QuoitAmountReader *quoit_amount_reader_new (const QuoitFleetView *view);
void quoit_amount_reader_free (QuoitAmountReader *reader);
/* Writes the amounts, by resource, of a node of the view to @available. Ignores the state of the node. */
void quoit_amount_reader_read (QuoitAmountReader *reader, const QuoitFleet *fleet, guint32 node, gint64 *available);

/* --- plan-bundles.c --- */

/* A plan for bundles: the node and the chips of each bundle. */
typedef struct {
  guint32 n;
  guint32 *nodes;     /* of the layout; QUOIT_NO_INDEX: to be placed */
  QuoitBundle *chips; /* chips only; set for placed bundles */
} QuoitBundlePlan;

void quoit_bundle_plan_init (QuoitBundlePlan *plan, guint32 n); /* all bundles are to be placed */
void quoit_bundle_plan_clear (QuoitBundlePlan *plan);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitBundlePlan, quoit_bundle_plan_clear)

typedef enum {
  QUOIT_PLACEMENT_FOUND = 0,
  QUOIT_PLACEMENT_NONE = 1,    /* proven: no placement exists */
  QUOIT_PLACEMENT_UNKNOWN = 2, /* the search ended without a result */
  QUOIT_PLACEMENT_RAY_FAILED = 3,
  QUOIT_PLACEMENT_RAY_INFEASIBLE = 4
} QuoitPlacementResult;

/* Places bundles that describe whole slices. Uses the index of free slices, without a search. Returns FALSE if the
 * policy is not `best`, the bundles do not have that form, or not enough slices are free. Another placement may then
 * still exist. */
gboolean quoit_best_place_slices (const QuoitFleet *fleet, const QuoitRequest *request, QuoitBundlePlan *plan);

/* Returns whether the policy of the request can place its bundles now, including chips, and the quotas admit them
 * there; also for a request that may be cut (cut/plan.h).
 * *@result (or NULL) tells why not: UNKNOWN if the search ended without a result; FOUND if chips or quotas decided. */
gboolean quoit_bundles_fit (const QuoitFleet *fleet, const QuoitRequest *request, QuoitPlacementResult *result);

/* Places the bundles that have no node in @plan, under the policy of the request. The other bundles stay, and count
 * for STRICT_SPREAD and the topology label. Does not choose chips. Fails like quoit_fleet_view_init(). @plan is
 * usable only if *@result is FOUND. */
gboolean quoit_place_bundles (const QuoitFleet *fleet, const QuoitRequest *request, QuoitViewTime time,
                              QuoitPlacementResult *result, QuoitBundlePlan *plan, GError **error);

/* Places the bundles of @request now, with chips. Fails like quoit_plan_slices(). A bundle that has a node in @plan
 * stays there. Under policy `ray`, nodes are chosen like in Ray's control plane, and chips are checked like in its
 * raylet. */
gboolean quoit_plan_bundles (const QuoitFleet *fleet, const QuoitRequest *request, QuoitBundlePlan *plan,
                             QuoitRefusal *refusal, GError **error);

/* The limit of search steps for a placement, about a tenth of a second. */
enum { QUOIT_BEST_STEPS = 1000000 };

/* Place all bundles of @view by one policy. @nodes, indices in the view, is written only with FOUND. */
QuoitPlacementResult quoit_place_by_ray (const QuoitFleetView *view, guint32 *nodes);
QuoitPlacementResult quoit_place_by_best (const QuoitFleetView *view, guint32 *nodes);

/* Returns the amounts that the bundle requests, by resource. */
static inline const gint64 *
quoit_fleet_view_amounts (const QuoitFleetView *view, guint32 bundle)
{
  return view->bundles.amounts + (gsize) bundle * view->bundles.n_resources;
}

/* Whether @row, the amounts of a node, is enough for the bundle. */
gboolean quoit_fleet_view_row_suffices (const QuoitFleetView *view, guint32 bundle, const gint64 *row);
/* Whether the node satisfies the selectors of the bundle and has enough available. Ignores chips. */
gboolean quoit_fleet_view_bundle_fits (const QuoitFleetView *view, guint32 bundle, guint32 node);
/* Whether two bundles request the same of the same nodes. */
gboolean quoit_fleet_view_are_equal (const QuoitFleetView *view, guint32 a, guint32 b);
/* Whether the bundle equals the previous one. */
gboolean quoit_fleet_view_is_repeated (const QuoitFleetView *view, guint32 bundle);

/* --- internal: parts of quoit_fleet_view_init(); @which as there --- */

/* view-labels.c: which nodes pass the filter of each bundle, and the topology domain of each node. */
void quoit_fleet_view_fill_filters (QuoitFleetView *view, const guint32 *which);
void quoit_fleet_view_fill_domains (QuoitFleetView *view);
/* Returns the slices to which selectors limit all bundles, as an ascending array of guint32 that the caller owns.
 * Returns NULL if there is no such limit. */
GArray *quoit_fleet_view_find_slices (const QuoitFleetView *view, const guint32 *which);

/* view-amounts.c: the amounts that @n bundles request, and the amounts that nodes have. */
void quoit_fleet_view_fill_requested (QuoitFleetView *view, const guint32 *which, guint32 n);
void quoit_fleet_view_fill_amounts (QuoitFleetView *view, QuoitViewTime time);

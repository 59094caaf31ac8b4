/* SPDX-License-Identifier: Apache-2.0 */
/* A view: a fleet and a request as the numbers that placement policies use. */
#pragma once

#include "fleet/fleet.h"
#include "placement/bundles.h"
#include "placement/placement.h"

typedef enum {
  QUOIT_VIEW_NOW = 0, /* what is free now on nodes that are alive and not draining */
  QUOIT_VIEW_EVER = 1 /* the totals of all known nodes, whatever their use and state; decides `never` */
} QuoitViewTime;

/* A value of the topology label. Slices with the same name in different pools and sources are different values. */
typedef struct {
  const char *text;
  guint32 place; /* distinguishes values with the same text */
} QuoitDomain;

/* The input of a policy. A view owns all its arrays. */
typedef struct {
  const QuoitFleet *fleet;
  const QuoitRequest *request;
  QuoitBundles bundles;
  QuoitView view;
  QuoitStanding standing;
  guint32 *nodes;  /* nodes of the layout, ascending, by index in the view */
  GArray *domains; /* of QuoitDomain, sorted */
  GStringChunk *texts;
} QuoitFleetView;

/* Makes a view of the bundles @which of @request (NULL: all @n), and of the nodes of @fleet that may take them, in
 * the order of the layout. Nodes that no bundle's labels match are omitted if this is known without visiting them.
 * The view has plain sums instead of chips under policy `ray`, and if all chips are whole and only whole chips are
 * requested.
 *
 * Fails with NOT_FOUND for a pool or slice that is not in the fleet, and with INVALID for an ambiguous name. */
gboolean quoit_fleet_view_init (QuoitFleetView *view, const QuoitFleet *fleet, const QuoitRequest *request,
                                const guint32 *which, guint32 n, QuoitViewTime time, GError **error);
void quoit_fleet_view_clear (QuoitFleetView *view);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitFleetView, quoit_fleet_view_clear)

/* Returns the index of a node of the layout in the view, or QUOIT_NO_INDEX if it is not a candidate. */
guint32 quoit_fleet_view_find (const QuoitFleetView *view, QuoitNodeId node);
/* Excludes @node, which already has bundles of the group, for STRICT_SPREAD. */
void quoit_fleet_view_exclude (QuoitFleetView *view, QuoitNodeId node);
/* Returns the topology label value of @node, or QUOIT_NO_INDEX if no candidate has that value. */
guint32 quoit_fleet_view_domain (const QuoitFleetView *view, QuoitNodeId node);
/* Excludes all nodes with that value. */
void quoit_fleet_view_leave_domain (QuoitFleetView *view, guint32 domain);

/* --- plan-bundles.c --- */

/* The nodes of the bundles of a request, and the chips of the bundles. */
typedef struct {
  guint32 n;
  guint32 *nodes;     /* of the layout; QUOIT_NO_INDEX: to be placed */
  QuoitBundle *chips; /* chips only; set for placed bundles */
} QuoitBundlePlan;

void quoit_bundle_plan_init (QuoitBundlePlan *plan, guint32 n); /* all bundles are to be placed */
void quoit_bundle_plan_clear (QuoitBundlePlan *plan);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitBundlePlan, quoit_bundle_plan_clear)

typedef enum {
  QUOIT_PLACING_FOUND = 0,
  QUOIT_PLACING_NONE = 1,    /* proven: no placement exists */
  QUOIT_PLACING_UNKNOWN = 2, /* the search ended without a result */
  QUOIT_PLACING_RAY_FAILED = 3,
  QUOIT_PLACING_RAY_INFEASIBLE = 4
} QuoitPlacing;

/* Places bundles that describe whole slices, under policy `best`, with the index of free slices. Returns FALSE if
 * the request is not of that form or the index has no placement for it. Another placement may then still exist. */
gboolean quoit_best_place_slices (const QuoitFleet *fleet, const QuoitRequest *request, QuoitBundlePlan *plan);

/* Whether the policy of the request can place its bundles now, including chips. Gives no reasons. */
gboolean quoit_bundles_fit (const QuoitFleet *fleet, const QuoitRequest *request);

/* Places the bundles that have no node in @plan, under the policy of the request. The other bundles stay, and count
 * for STRICT_SPREAD and the topology label. Does not choose chips. Fails like quoit_fleet_view_init(). If *@placing
 * is not FOUND, do not use @plan. */
gboolean quoit_place_bundles (const QuoitFleet *fleet, const QuoitRequest *request, QuoitViewTime time,
                              QuoitPlacing *placing, QuoitBundlePlan *plan, GError **error);

/* Places the bundles of @request now, with chips. Fails like quoit_plan_slices(). A bundle that has a node in @plan
 * stays there. Under policy `ray`, nodes are chosen like in Ray's control plane, and chips are checked like in its
 * raylet. */
gboolean quoit_plan_bundles (const QuoitFleet *fleet, const QuoitRequest *request, QuoitBundlePlan *plan,
                             QuoitRefusal *refusal, GError **error);

/* The limit of search steps for a placement, about a tenth of a second. */
enum { QUOIT_BEST_STEPS = 1000000 };

/* Place all bundles of @view by one policy. @nodes, indices in the view, is written only with FOUND. */
QuoitPlacing quoit_place_by_ray (const QuoitFleetView *view, guint32 *nodes);
QuoitPlacing quoit_place_by_best (const QuoitFleetView *view, guint32 *nodes);

/* Returns the requested amount of each resource. */
static inline const gint64 *
quoit_fleet_view_amounts (const QuoitFleetView *view, guint32 bundle)
{
  return view->bundles.amounts + (gsize) bundle * view->bundles.n_resources;
}

/* quoit_fleet_view_suffices() returns whether @row, the amounts of a node, is enough for the bundle.
 * quoit_fleet_view_has_room() returns whether the labels of the node match and its available amounts are enough; it
 * ignores chips. quoit_fleet_view_is_repeated() returns whether the bundle equals the previous one. */
gboolean quoit_fleet_view_suffices (const QuoitFleetView *view, guint32 bundle, const gint64 *row);
gboolean quoit_fleet_view_has_room (const QuoitFleetView *view, guint32 bundle, guint32 node);
gboolean quoit_fleet_view_is_repeated (const QuoitFleetView *view, guint32 bundle);

/* --- internal --- */

/* view-labels.c: the filters of nodes, and their values of the topology label. */
void quoit_fleet_view_filter (QuoitFleetView *view, const guint32 *which);
void quoit_fleet_view_divide (QuoitFleetView *view);
/* Returns the slices whose nodes the bundles are limited to, as an ascending array of guint32 that the caller owns.
 * Returns NULL if no such limit is known. */
GArray *quoit_fleet_view_slices (const QuoitFleetView *view, const guint32 *which);

/* view-amounts.c: requested amounts and amounts of nodes. */
void quoit_fleet_view_ask (QuoitFleetView *view, const guint32 *which, guint32 n);
void quoit_fleet_view_measure (QuoitFleetView *view, QuoitViewTime time);

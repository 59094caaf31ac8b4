/* SPDX-License-Identifier: Apache-2.0 */
/* A fleet and a request as the numbers that policies place by. */
#pragma once

#include "fleet/fleet.h"
#include "placement/bundles.h"
#include "placement/placement.h"

typedef enum {
  QUOIT_VIEW_NOW = 0, /* what is free now of nodes that are alive and not draining */
  QUOIT_VIEW_EVER = 1 /* all of every known node, whoever has it and whatever it is: what would decide `never` */
} QuoitViewTime;

/* A value of the topology label. Slices of one name are several, in other pools and sources. */
typedef struct {
  const char *text;
  guint32 place; /* what tells values of one text apart */
} QuoitDomain;

/* What a policy is asked. Everything that it points to is its own. */
typedef struct {
  const QuoitFleet *fleet;
  const QuoitRequest *request;
  QuoitBundles bundles;
  QuoitView view;
  QuoitStanding standing;
  guint32 *nodes;  /* of the layout, upwards: what the numbers of nodes mean */
  GArray *domains; /* of QuoitDomain, in order */
  GStringChunk *texts;
} QuoitFleetView;

/* The bundles @which of @request (NULL: all @n of it), and the nodes of @fleet that may take them, in the layout's
 * order. Nodes are left out that no bundle's labels match where that is known without looking at them. Under policy
 * `ray` there are plain sums, and also where chips are whole and whole ones are asked for.
 *
 * NOT_FOUND for a pool or slice that is not in the fleet, INVALID for a name of two. */
gboolean quoit_fleet_view_init (QuoitFleetView *view, const QuoitFleet *fleet, const QuoitRequest *request,
                                const guint32 *which, guint32 n, QuoitViewTime time, GError **error);
void quoit_fleet_view_clear (QuoitFleetView *view);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitFleetView, quoit_fleet_view_clear)

/* The number of a node of the layout; QUOIT_NO_INDEX: it is not among those that may take bundles. */
guint32 quoit_fleet_view_find (const QuoitFleetView *view, QuoitNodeId node);
/* Bundles of the group that stand on @node already: STRICT_SPREAD leaves it out. */
void quoit_fleet_view_exclude (QuoitFleetView *view, QuoitNodeId node);
/* The value of the topology label that @node has; QUOIT_NO_INDEX: none that a node has which may take bundles. */
guint32 quoit_fleet_view_domain (const QuoitFleetView *view, QuoitNodeId node);
/* No bundle may go to nodes of that value. */
void quoit_fleet_view_leave_domain (QuoitFleetView *view, guint32 domain);

/* --- plan-bundles.c --- */

/* Where the bundles of a request go, and which chips of their nodes they have. */
typedef struct {
  guint32 n;
  guint32 *nodes;     /* of the layout; QUOIT_NO_INDEX: it is to be placed */
  QuoitBundle *chips; /* chips alone; of bundles that were placed */
} QuoitBundlePlan;

void quoit_bundle_plan_init (QuoitBundlePlan *plan, guint32 n); /* all are to be placed */
void quoit_bundle_plan_clear (QuoitBundlePlan *plan);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitBundlePlan, quoit_bundle_plan_clear)

typedef enum {
  QUOIT_PLACING_FOUND = 0,
  QUOIT_PLACING_NONE = 1,    /* there is none: proven */
  QUOIT_PLACING_UNKNOWN = 2, /* the search was ended before that was known */
  QUOIT_PLACING_RAY_FAILED = 3,
  QUOIT_PLACING_RAY_INFEASIBLE = 4
} QuoitPlacing;

/* Bundles that are whole slices said otherwise, from the index of free slices, under policy `best`. FALSE: the request
 * is not of that form, or the index has none for it, which does not say that there are none. */
gboolean quoit_best_place_slices (const QuoitFleet *fleet, const QuoitRequest *request, QuoitBundlePlan *plan);

/* Whether the request's policy places its bundles now, and chips can be shared out so: without a word on why not. */
gboolean quoit_bundles_fit (const QuoitFleet *fleet, const QuoitRequest *request);

/* Places the bundles that have no node in @plan under the request's policy; those that have one stay, and count for
 * STRICT_SPREAD and the topology label. FALSE: NOT_FOUND or INVALID, as of quoit_fleet_view_init(). Chips are not
 * shared out; of a plan that was not found nothing is to be used. */
gboolean quoit_place_bundles (const QuoitFleet *fleet, const QuoitRequest *request, QuoitViewTime time,
                              QuoitPlacing *placing, QuoitBundlePlan *plan, GError **error);

/* Places the bundles of @request now, with chips, and fails as quoit_plan_slices() does. A bundle that has a node in
 * @plan stays there. Under policy `ray`, nodes are chosen as Ray's control plane does, and chips are checked as its
 * raylet does. */
gboolean quoit_plan_bundles (const QuoitFleet *fleet, const QuoitRequest *request, QuoitBundlePlan *plan,
                             QuoitRefusal *refusal, GError **error);

/* The steps that a search for a placement may take: about a tenth of a second. */
enum { QUOIT_BEST_STEPS = 1000000 };

/* One policy's answer for all bundles of @view. @nodes, in numbers of the view, is written with FOUND only. */
QuoitPlacing quoit_place_by_ray (const QuoitFleetView *view, guint32 *nodes);
QuoitPlacing quoit_place_by_best (const QuoitFleetView *view, guint32 *nodes);

/* What the bundle takes of each resource. */
static inline const gint64 *
quoit_fleet_view_amounts (const QuoitFleetView *view, guint32 bundle)
{
  return view->bundles.amounts + (gsize) bundle * view->bundles.n_resources;
}

/* Whether @row, the amounts of some node, is enough for the bundle; whether the labels match too, and so much is
 * available there, chips not looked at; and whether the bundle asks what the one before it does. */
gboolean quoit_fleet_view_suffices (const QuoitFleetView *view, guint32 bundle, const gint64 *row);
gboolean quoit_fleet_view_has_room (const QuoitFleetView *view, guint32 bundle, guint32 node);
gboolean quoit_fleet_view_is_repeated (const QuoitFleetView *view, guint32 bundle);

/* --- inside --- */

/* view-labels.c: which nodes pass which filter, and their values of the topology label. */
void quoit_fleet_view_filter (QuoitFleetView *view, const guint32 *which);
void quoit_fleet_view_divide (QuoitFleetView *view);
/* The slices of which a node must be to take any of the bundles: an array of guint32, upwards; NULL: no such limit is
 * known. */
GArray *quoit_fleet_view_slices (const QuoitFleetView *view, const guint32 *which);

/* view-amounts.c: what is asked and what nodes have. */
void quoit_fleet_view_ask (QuoitFleetView *view, const guint32 *which, guint32 n);
void quoit_fleet_view_measure (QuoitFleetView *view, QuoitViewTime time);

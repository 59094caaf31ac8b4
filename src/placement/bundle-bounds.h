/* SPDX-License-Identifier: Apache-2.0 */
/* Upper bounds of how many bundles of a request fit on a fleet that changes, so that most times at which the request
 * cannot fit need no search. Equal bundles form a class. The bound of a class adds up what each node could take if it
 * took nothing else. A change costs only the nodes that it concerns. */
#pragma once

#include "placement/view.h"

typedef struct _QuoitBundleBounds QuoitBundleBounds;

/* Returns NULL if there is no bound: for requests that have no bundles or fail, and for a fleet in which releases
 * change the states of nodes (quoit_fleet_apply_promises()). @request must stay valid. */
QuoitBundleBounds *quoit_bundle_bounds_new (const QuoitFleet *fleet, const QuoitRequest *request);
void quoit_bundle_bounds_free (QuoitBundleBounds *bounds);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitBundleBounds, quoit_bundle_bounds_free)

/* In all of the following, @bounds may be NULL. */

/* Returns FALSE if the request certainly does not fit, under any policy. */
gboolean quoit_bundle_bounds_suffice (const QuoitBundleBounds *bounds);

/* Counts the nodes of @group again, which has begun or ended on @fleet: a fork of the fleet of the bounds. */
void quoit_bundle_bounds_update (QuoitBundleBounds *bounds, const QuoitFleet *fleet, const QuoitGroupData *group);

/* The request must leave alone what @record, which lies ahead, is promised; until the promise is removed. */
void quoit_bundle_bounds_add_promise (QuoitBundleBounds *bounds, const QuoitGroupData *record);
void quoit_bundle_bounds_remove_promise (QuoitBundleBounds *bounds, const QuoitGroupData *record);

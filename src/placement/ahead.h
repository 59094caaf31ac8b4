/* SPDX-License-Identifier: Apache-2.0 */
/* Placement beside what lies ahead (fleet/ahead.h).
 *
 * A reservation ahead is promised nodes from its beginning until its end. A request that could still run when it begins
 * must leave these nodes alone. Such a request is therefore placed in another fleet: one in which the reservation has
 * them already. The same placement code then decides, explains and finds options. If the request is refused there, it
 * may still fit: placement/ahead-moves.h gives the reservations other nodes.
 *
 * Quotas count in that other fleet what they count in @fleet itself, because they have no time axis.
 *
 * A promise needs ends that the ledger enforces. A group counts until the end of its lease, or until its expected end
 * if that is later; a group without a lease, or one that is only held, counts forever. Leases of owners do not count,
 * because renewing them would then depend on all groups of the owner. */
#pragma once

#include "fleet/ahead.h"
#include "placement/placement.h"

/* Returns the time until which a live group is to be left its nodes; QUOIT_FOREVER_MS if no lease ends it. */
gint64 quoit_group_latest_end (const QuoitGroupData *group);
/* Returns the time at which the lease ends the group, whatever is expected; QUOIT_FOREVER_MS if none does. The expected
 * end can be raised beyond the beginning of a reservation ahead; the lease cannot. */
gint64 quoit_group_certain_end (const QuoitGroupData *group);
/* The same for a group that @request would make at @now_ms. */
gint64 quoit_request_latest_end (const QuoitRequest *request, gint64 now_ms);

/* Returns a fork of @fleet in which everything that begins before @end_ms has begun; NULL if nothing does. Free nodes
 * of it are used, and the others are draining, so that nothing is placed on what others leave free of them. */
QuoitFleet *quoit_fleet_seen_until (const QuoitFleet *fleet, gint64 end_ms);

/* Returns a fork of @fleet for what is reserved from @from_ms until @end_ms: without groups that have ended by then,
 * and with everything that lies ahead in that time. */
QuoitFleet *quoit_fleet_seen_at (const QuoitFleet *fleet, gint64 from_ms, gint64 end_ms);

/* Returns a fork of @fleet in which everything has begun that lies ahead between the two times. */
QuoitFleet *quoit_fleet_seen_between (const QuoitFleet *fleet, gint64 from_ms, gint64 end_ms);

/* Makes a reservation ahead begin on @fork with all that it is to get. Returns FALSE if something of it is in use. */
gboolean quoit_ahead_begin (QuoitFleet *fork, const QuoitGroupData *group);

/* Removes the slices from @candidates that are promised to something that begins before @end_ms. For slices, choosing
 * among the rest decides like quoit_fleet_seen_until(), and the result is remembered. */
void quoit_candidates_leave_promised (QuoitCandidates *candidates, const QuoitFleet *fleet, gint64 end_ms);

/* Returns the nodes of a window that are in the fleet, as an array of guint32 in ascending order. The caller owns it.
 * The cost depends on the number of these nodes only. */
GArray *quoit_window_list_nodes (const QuoitGroupData *window, const QuoitLayout *layout);
/* Fails with NOT_FOUND for a target that is not in the fleet, and with INVALID for an ambiguous name. */
gboolean quoit_window_check_target (QuoitWindowTarget target, const QuoitLayout *layout, GError **error);

/* Checks that no group of a caller can still have a node that is promised to a reservation ahead when that begins.
 * Fails with CONFLICT, and names both. Nodes that a source reports as used are not checked. */
gboolean quoit_ahead_check (const QuoitFleet *fleet, GError **error);
/* Checks that the bundles of each reservation ahead fit when it begins. Fails like quoit_ahead_check(). A node that was
 * lost since can make it fail. */
gboolean quoit_ahead_check_bundles (const QuoitFleet *fleet, GError **error);

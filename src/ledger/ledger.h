/* SPDX-License-Identifier: Apache-2.0 */
/* Steps: the rules by which a ledger changes. A step looks at a fleet and an input, and returns an entry that changes
 * the fleet, or refuses. Steps do no I/O and read no clock.
 *
 * All steps have the same form. *@entry is NULL at the call, and stays NULL if nothing has to change. On FALSE either
 * @error is set, or placement refused the request and @outcome->refusal is set. @now_ms is the caller's clock; steps
 * fail with INVALID if it is not milliseconds of the years 2000 to 2199. */
#pragma once

#include "base/time.h"
#include "ledger/action.h"

/* The time of a change at @now_ms: never before the last entry. INVALID outside the years 2000 to 2199, which seconds
 * or microseconds are. */
gboolean quoit_step_clock (const QuoitFleet *fleet, gint64 now_ms, gint64 *time_ms, GError **error);

/* --- groups.c --- */

enum { QUOIT_LONGEST_REQUEST = 4 * 1024 * 1024 };

/* "train" or "train@17". @ref points into *@name, which the caller frees. */
gboolean quoit_group_ref_parse (const char *text, QuoitGroupRef *ref, char **name, GError **error);

/* A live group. NOT_FOUND if no group has the name; CONFLICT if the id is that of another group or of a released one;
 * EXPIRED if the group's lease has ended. */
const QuoitGroupData *quoit_step_lookup_group (const QuoitFleet *fleet, const QuoitGroupRef *ref, GError **error);
/* The same for a group that callers of this ledger made: CONFLICT if it belongs to a source. */
const QuoitGroupData *quoit_step_lookup_own_group (const QuoitFleet *fleet, const QuoitGroupRef *ref, GError **error);

/* A key that already names a group returns that group, also a removed one, if the request is the same; otherwise
 * CONFLICT. CONFLICT for a name that a live group has. */
gboolean quoit_step_reserve (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms, QuoitEntry **entry,
                             QuoitOutcome *outcome, GError **error);
/* The group is HELD until it is confirmed or its lease ends. */
gboolean quoit_step_hold (const QuoitFleet *fleet, const QuoitHold *hold, gint64 now_ms, QuoitEntry **entry,
                          QuoitOutcome *outcome, GError **error);
gboolean quoit_step_release (const QuoitFleet *fleet, const QuoitGroupRef *ref, gint64 now_ms, QuoitEntry **entry,
                             QuoitOutcome *outcome, GError **error);
/* NOT_FOUND for an unknown node; CONFLICT for drain and undrain of a dead node. */
gboolean quoit_step_set_state (const QuoitFleet *fleet, const QuoitStateChange *change, gint64 now_ms,
                               QuoitEntry **entry, GError **error);

/* --- bundles.c --- */

/* A group with @facts and, on each of the slices, what @request describes: whole hosts, or bundles. INVALID if the
 * hosts cannot be divided into these bundles. */
QuoitGroupData *quoit_step_group_of_slices (const QuoitFleet *fleet, const QuoitGroupData *facts,
                                            const QuoitRequest *request, const guint32 *slices, guint32 n_slices,
                                            GError **error);
/* @whole, which has whole hosts, as bundles of @tpu. */
QuoitGroupData *quoit_step_divide_hosts (const QuoitFleet *fleet, const QuoitGroupData *whole, QuoitAmount tpu,
                                         GError **error);

/* --- placed.c --- */

/* A group with @facts and the bundles of @request, each on the node where it was placed. Fails as quoit_plan_bundles()
 * does. */
QuoitGroupData *quoit_step_group_of_bundles (const QuoitFleet *fleet, const QuoitGroupData *facts,
                                             const QuoitRequest *request, QuoitRefusal *refusal, GError **error);
/* @group with the bundles placed again whose nodes are lost or leaving; @group itself if there are none. */
QuoitGroupData *quoit_step_repaired_bundles (const QuoitFleet *fleet, const QuoitGroupData *group,
                                             QuoitRefusal *refusal, GError **error);

/* Whether a node of @kind in the place of @node has what the bundles of this ledger's callers have of it. */
gboolean quoit_step_kind_suffices (const QuoitFleet *fleet, QuoitNodeId node, const QuoitNodeKind *kind);

/* --- unplaced.c --- */

/* The bundles of @group that have no node, as a request. CONFLICT if it has none. */
QuoitRequest *quoit_step_request_of_unplaced (const QuoitFleet *fleet, const QuoitGroupData *group, GError **error);

/* --- leases.c --- */

/* Ends groups whose lease, or whose owner's lease, is over at @now_ms. No entry if there are none, or if @now_ms is
 * invalid. Every change begins with this step. */
void quoit_step_expire (const QuoitFleet *fleet, gint64 now_ms, QuoitEntry **entry);

/* The end of a lease that begins at @time_ms. INVALID below 1 ms, and beyond the year 2199. */
gboolean quoit_step_lease (gint64 time_ms, gint64 lease_ms, gint64 *until_ms, GError **error);

/* A confirmed group stays as it is. EXPIRED if the lease has ended. */
gboolean quoit_step_confirm (const QuoitFleet *fleet, const QuoitLeaseChange *change, gint64 now_ms, QuoitEntry **entry,
                             QuoitOutcome *outcome, GError **error);
/* CONFLICT for a group without a lease. */
gboolean quoit_step_renew (const QuoitFleet *fleet, const QuoitLeaseChange *change, gint64 now_ms, QuoitEntry **entry,
                           QuoitOutcome *outcome, GError **error);
/* @ref: a removed group by name and id, or by its key as the name and no id. CONFLICT for a live group. */
gboolean quoit_step_forget (const QuoitFleet *fleet, const QuoitGroupRef *ref, gint64 now_ms, QuoitEntry **entry,
                            GError **error);

/* --- owners.c --- */

/* Registers the owner, or replaces its lease. */
gboolean quoit_step_set_owner (const QuoitFleet *fleet, const QuoitOwnerChange *change, gint64 now_ms,
                               QuoitEntry **entry, GError **error);
/* NOT_FOUND for an owner that was never set, EXPIRED after the end of its lease. */
gboolean quoit_step_renew_owner (const QuoitFleet *fleet, const QuoitOwnerChange *change, gint64 now_ms,
                                 QuoitEntry **entry, GError **error);
/* Ends the owner and its groups. An owner that was never set ends too if it has groups. */
gboolean quoit_step_end_owner (const QuoitFleet *fleet, const char *owner, gint64 now_ms, QuoitEntry **entry,
                               QuoitOutcome *outcome, GError **error);
/* EXPIRED if the owner's lease has ended and the owner was not set again. */
gboolean quoit_step_check_owner (const QuoitFleet *fleet, const char *owner, GError **error);

/* --- elastic.c --- */

/* The request of @group, without names that the fleet no longer has. */
QuoitRequest *quoit_step_request_of (const QuoitFleet *fleet, const QuoitGroupData *group, GError **error);

/* Growing follows the group's request. Shrinking gives up lost slices first, then leaving ones, then the last ones.
 * INVALID for a number that the request does not allow. */
gboolean quoit_step_resize (const QuoitFleet *fleet, const QuoitResize *resize, gint64 now_ms, QuoitEntry **entry,
                            QuoitOutcome *outcome, GError **error);
/* Replaces each slice that is lost or leaving, by the slice in its own place if that is whole again, and places bundles
 * on such nodes again. */
gboolean quoit_step_repair (const QuoitFleet *fleet, const QuoitGroupRef *ref, gint64 now_ms, QuoitEntry **entry,
                            QuoitOutcome *outcome, GError **error);
/* The group ends with its last slice. NOT_FOUND if the group does not have the slice. */
gboolean quoit_step_release_slice (const QuoitFleet *fleet, const QuoitSliceRelease *release, gint64 now_ms,
                                   QuoitEntry **entry, QuoitOutcome *outcome, GError **error);

/* --- settings.c --- */

/* The only step that may set the clock back. */
gboolean quoit_step_set_clock (const QuoitFleet *fleet, const QuoitClockChange *change, gint64 now_ms,
                               QuoitEntry **entry, GError **error);
/* Raises the numbers to at least @given. */
gboolean quoit_step_restore (const QuoitFleet *fleet, const QuoitLedgerNumbers *given, gint64 now_ms,
                             QuoitEntry **entry, GError **error);

/* --- import.c --- */

/* A new source takes *@claims, and sets it to NULL. CONFLICT if a held node would be dropped or become another, or if
 * another source of the kind claims one of the machines. */
gboolean quoit_step_import (const QuoitFleet *fleet, QuoitClaims **claims, gint64 now_ms, QuoitEntry **entry,
                            QuoitOutcome *outcome, GError **error);
/* The same for a fleet that has changed: a held node that the source no longer has stays, dead, while it is held. */
gboolean quoit_step_sync (const QuoitFleet *fleet, QuoitClaims **claims, gint64 now_ms, QuoitEntry **entry,
                          QuoitOutcome *outcome, GError **error);

/* Warnings for the user: how many nodes of planned slices a joined source does not have. @source is either of the two;
 * @named, or NULL, is the source that it is to be joined with. Owned. */
GStrv quoit_step_unseen (const QuoitFleet *fleet, const char *source, const char *named);

/* --- compare.c --- */

/* Whether two fleets are equal in all that counts; DAMAGED names the first difference. `verify` compares with this. */
gboolean quoit_step_compare (const QuoitFleet *replayed, const QuoitFleet *kept, GError **error);

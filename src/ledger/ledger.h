/* SPDX-License-Identifier: Apache-2.0 */
/* Steps: the rules by which a ledger changes. A step takes a fleet and an input, and returns an entry that changes
 * the fleet, or refuses. Steps do no I/O and read no clock.
 *
 * All steps have the same form. *@entry is NULL at the call, and stays NULL if nothing has to change. On FALSE,
 * either @error is set, or placement refused the request and @outcome->refusal is set. @now_ms is the caller's
 * clock. Steps fail with INVALID if it is not in milliseconds of the years 2000 to 2199. */
#pragma once

#include "base/time.h"
#include "ledger/action.h"

/* Sets *@time_ms to the time of a change at @now_ms, which is never before the last entry. Fails with INVALID
 * outside the years 2000 to 2199, which detects seconds and microseconds. */
gboolean quoit_step_clock (const QuoitFleet *fleet, gint64 now_ms, gint64 *time_ms, GError **error);

/* --- groups.c --- */

enum { QUOIT_LONGEST_REQUEST = 4 * 1024 * 1024 };

/* Parses "train" or "train@17". @ref points into *@name, which the caller frees. */
gboolean quoit_group_ref_parse (const char *text, QuoitGroupRef *ref, char **name, GError **error);

/* Returns a live group. Fails with NOT_FOUND if no group has the name, with CONFLICT if the id belongs to another
 * group or to a released one, and with EXPIRED if the lease of the group has ended. */
const QuoitGroupData *quoit_step_lookup_group (const QuoitFleet *fleet, const QuoitGroupRef *ref, GError **error);
/* As quoit_step_lookup_group(), and fails with CONFLICT if the group belongs to a source. */
const QuoitGroupData *quoit_step_lookup_own_group (const QuoitFleet *fleet, const QuoitGroupRef *ref, GError **error);

/* Reserves a group. If the key already names a group, even a removed one, returns that group if the request is the
 * same, and fails with CONFLICT otherwise. Fails with CONFLICT if a live group has the name. */
gboolean quoit_step_reserve (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms, QuoitEntry **entry,
                             QuoitOutcome *outcome, GError **error);
/* As quoit_step_reserve(), but the group is HELD until it is confirmed or its lease ends. */
gboolean quoit_step_hold (const QuoitFleet *fleet, const QuoitHold *hold, gint64 now_ms, QuoitEntry **entry,
                          QuoitOutcome *outcome, GError **error);
gboolean quoit_step_release (const QuoitFleet *fleet, const QuoitGroupRef *ref, gint64 now_ms, QuoitEntry **entry,
                             QuoitOutcome *outcome, GError **error);
/* Fails with NOT_FOUND for an unknown node, and with CONFLICT for drain and undrain of a dead node. */
gboolean quoit_step_set_state (const QuoitFleet *fleet, const QuoitStateChange *change, gint64 now_ms,
                               QuoitEntry **entry, GError **error);

/* --- bundles.c --- */

/* Returns a group with @facts on @slices. As @request states, its members are whole hosts or bundles. Fails with
 * INVALID if the hosts cannot be divided into these bundles. */
QuoitGroupData *quoit_step_group_of_slices (const QuoitFleet *fleet, const QuoitGroupData *facts,
                                            const QuoitRequest *request, const guint32 *slices, guint32 n_slices,
                                            GError **error);
/* Returns @whole, a group of whole hosts, divided into bundles of @tpu. Fails like quoit_step_group_of_slices(). */
QuoitGroupData *quoit_step_divide_hosts (const QuoitFleet *fleet, const QuoitGroupData *whole, QuoitAmount tpu,
                                         GError **error);

/* --- placed.c --- */

/* Returns a group with @facts and the bundles of @request on the nodes where placement put them. Fails like
 * quoit_plan_bundles(). */
QuoitGroupData *quoit_step_group_of_bundles (const QuoitFleet *fleet, const QuoitGroupData *facts,
                                             const QuoitRequest *request, QuoitRefusal *refusal, GError **error);
/* Returns @group with new nodes for the bundles whose nodes are lost or leaving. Returns @group itself if there are
 * no such bundles. Fails like quoit_plan_bundles(). */
QuoitGroupData *quoit_step_repaired_bundles (const QuoitFleet *fleet, const QuoitGroupData *group,
                                             QuoitRefusal *refusal, GError **error);

/* Whether a node of @kind in place of @node has enough resources for the bundles of this ledger's callers on @node. */
gboolean quoit_step_kind_suffices (const QuoitFleet *fleet, QuoitNodeId node, const QuoitNodeKind *kind);

/* --- unplaced.c --- */

/* Returns a request for the bundles of @group that have no node. Fails with CONFLICT if all have one. */
QuoitRequest *quoit_step_request_of_unplaced (const QuoitFleet *fleet, const QuoitGroupData *group, GError **error);

/* --- leases.c --- */

/* Ends groups whose lease, or whose owner's lease, has ended at @now_ms. Makes no entry if there are none or if
 * @now_ms is invalid. Every change begins with this step. */
void quoit_step_expire (const QuoitFleet *fleet, gint64 now_ms, QuoitEntry **entry);

/* Computes the end of a lease that begins at @time_ms. Fails with INVALID if @lease_ms is below 1, or if the lease
 * ends after the year 2199. */
gboolean quoit_step_lease (gint64 time_ms, gint64 lease_ms, gint64 *until_ms, GError **error);

/* Confirms a held group. Does not change a confirmed group. Fails with EXPIRED if the lease has ended. */
gboolean quoit_step_confirm (const QuoitFleet *fleet, const QuoitLeaseChange *change, gint64 now_ms, QuoitEntry **entry,
                             QuoitOutcome *outcome, GError **error);
/* Fails with CONFLICT for a group without a lease. */
gboolean quoit_step_renew (const QuoitFleet *fleet, const QuoitLeaseChange *change, gint64 now_ms, QuoitEntry **entry,
                           QuoitOutcome *outcome, GError **error);
/* Forgets a removed group. @ref: name and id, or the key as the name and id 0. Fails with CONFLICT for a live group. */
gboolean quoit_step_forget (const QuoitFleet *fleet, const QuoitGroupRef *ref, gint64 now_ms, QuoitEntry **entry,
                            GError **error);

/* --- owners.c --- */

/* Registers the owner, or replaces its lease. */
gboolean quoit_step_set_owner (const QuoitFleet *fleet, const QuoitOwnerChange *change, gint64 now_ms,
                               QuoitEntry **entry, GError **error);
/* Fails with NOT_FOUND for an owner that was never set, and with EXPIRED after the end of its lease. */
gboolean quoit_step_renew_owner (const QuoitFleet *fleet, const QuoitOwnerChange *change, gint64 now_ms,
                                 QuoitEntry **entry, GError **error);
/* Ends the owner and its groups. Also accepts an owner that was never set, if it has groups. */
gboolean quoit_step_end_owner (const QuoitFleet *fleet, const char *owner, gint64 now_ms, QuoitEntry **entry,
                               QuoitOutcome *outcome, GError **error);
/* Fails with EXPIRED if the lease of the owner has ended and the owner was not set again. */
gboolean quoit_step_check_owner (const QuoitFleet *fleet, const char *owner, GError **error);

/* --- elastic.c --- */

/* Returns the request of @group, without names that the fleet no longer has. The caller owns it. */
QuoitRequest *quoit_step_request_of (const QuoitFleet *fleet, const QuoitGroupData *group, GError **error);

/* Grows the group according to its request, or shrinks it. Shrinking gives up lost slices first, then leaving ones,
 * then the last ones. Fails with INVALID for a number that the request does not allow. */
gboolean quoit_step_resize (const QuoitFleet *fleet, const QuoitResize *resize, gint64 now_ms, QuoitEntry **entry,
                            QuoitOutcome *outcome, GError **error);
/* Replaces each slice that is lost or leaving, if possible by the same slice after it became whole again. Places
 * bundles on lost or leaving nodes again. */
gboolean quoit_step_repair (const QuoitFleet *fleet, const QuoitGroupRef *ref, gint64 now_ms, QuoitEntry **entry,
                            QuoitOutcome *outcome, GError **error);
/* Releases one slice. The group ends with its last slice. Fails with NOT_FOUND if the group does not have the slice. */
gboolean quoit_step_release_slice (const QuoitFleet *fleet, const QuoitSliceRelease *release, gint64 now_ms,
                                   QuoitEntry **entry, QuoitOutcome *outcome, GError **error);

/* --- settings.c --- */

/* The only step that may set the clock back. */
gboolean quoit_step_set_clock (const QuoitFleet *fleet, const QuoitClockChange *change, gint64 now_ms,
                               QuoitEntry **entry, GError **error);
/* Raises the numbers to at least @given, and the epoch by at least 1. */
gboolean quoit_step_restore (const QuoitFleet *fleet, const QuoitLedgerNumbers *given, gint64 now_ms,
                             QuoitEntry **entry, GError **error);

/* --- import.c --- */

/* Imports a source. A new source takes *@claims and sets it to NULL. Fails with CONFLICT if a held node would be
 * dropped or become another one, or if another source of the same kind claims one of the machines. */
gboolean quoit_step_import (const QuoitFleet *fleet, QuoitClaims **claims, gint64 now_ms, QuoitEntry **entry,
                            QuoitOutcome *outcome, GError **error);
/* As quoit_step_import(), for a fleet that has changed: a held node that the source no longer has stays, dead, while
 * it is held. */
gboolean quoit_step_sync (const QuoitFleet *fleet, QuoitClaims **claims, gint64 now_ms, QuoitEntry **entry,
                          QuoitOutcome *outcome, GError **error);

/* Returns warnings for the user: how many nodes of planned slices are missing in a joined source. @source is either
 * of the two sources. @named: the source to join, or NULL. The caller owns the result. */
GStrv quoit_step_unseen (const QuoitFleet *fleet, const char *source, const char *named);

/* --- compare.c --- */

/* Whether two fleets are equal in everything that the journal determines. Fails with DAMAGED, naming the first
 * difference. `verify` uses this. */
gboolean quoit_step_compare (const QuoitFleet *replayed, const QuoitFleet *kept, GError **error);

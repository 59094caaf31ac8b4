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

/* Parses "train" or "train@17". @ref points into *@name, which the caller frees. */
gboolean quoit_group_ref_parse (const char *text, QuoitGroupRef *ref, char **name, GError **error);

/* Returns a live group. Fails with NOT_FOUND if no group has the name, with CONFLICT if the id belongs to another
 * group or to a released one, and with EXPIRED if the lease of the group has ended. */
const QuoitGroupData *quoit_step_lookup_group (const QuoitFleet *fleet, const QuoitGroupRef *ref, GError **error);
/* Like quoit_step_lookup_group(), but also fails with CONFLICT if the group belongs to a source. */
const QuoitGroupData *quoit_step_lookup_own_group (const QuoitFleet *fleet, const QuoitGroupRef *ref, GError **error);

/* Reserves a group. If the key already names a group, even a removed one, returns that group if the request is the
 * same, and fails with CONFLICT otherwise. Fails with CONFLICT if a live group has the name. */
gboolean quoit_step_reserve (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms, QuoitEntry **entry,
                             QuoitOutcome *outcome, GError **error);
/* Reserves a group that begins at @ahead->from_ms. Fails with INVALID for times that are not after now, and not after
 * each other. */
gboolean quoit_step_reserve_ahead (const QuoitFleet *fleet, const QuoitReserveAhead *ahead, gint64 now_ms,
                                   QuoitEntry **entry, QuoitOutcome *outcome, GError **error);
/* Like quoit_step_reserve(), for one alternative of the request only. @chosen: free slices that it accepts, which the
 * caller has chosen; NULL: none. */
gboolean quoit_step_reserve_alternative (const QuoitFleet *fleet, const QuoitRequest *request, guint alternative,
                                         const QuoitPlan *chosen, gint64 now_ms, QuoitEntry **entry,
                                         QuoitOutcome *outcome, GError **error);
/* Fails with INVALID like quoit_step_reserve() for what does not depend on the fleet. */
gboolean quoit_step_check_request (const QuoitRequest *request, gint64 time_ms, GError **error);
/* Like quoit_step_reserve(), but the group is HELD until it is confirmed or its lease ends. */
gboolean quoit_step_hold (const QuoitFleet *fleet, const QuoitHold *hold, gint64 now_ms, QuoitEntry **entry,
                          QuoitOutcome *outcome, GError **error);
/* Releases a group. @reason NULL: not stated. A group that is released with a reason is recorded for a day, like an
 * expired one. Fails with INVALID for a reason that is not valid. */
gboolean quoit_step_release (const QuoitFleet *fleet, const QuoitGroupRef *ref, const char *reason, gint64 now_ms,
                             QuoitEntry **entry, QuoitOutcome *outcome, GError **error);
/* Sets the expected end, the priority or labels of a group. Fails with INVALID for an end or a label that is not
 * valid. */
gboolean quoit_step_update (const QuoitFleet *fleet, const QuoitGroupUpdate *update, gint64 now_ms, QuoitEntry **entry,
                            QuoitOutcome *outcome, GError **error);
/* Computes when a group that begins at @time_ms is expected to end; 0 if @runtime_ms is 0. Fails with INVALID for an
 * end after the year 2199. */
gboolean quoit_step_expected_end (gint64 time_ms, gint64 runtime_ms, gint64 *end_ms, GError **error);

/* --- reserve-all.c --- */

/* Reserves all groups, in one entry, or none. Tries the requests in their order. One that is refused is tried again as
 * the first one, because the others may accept something else. Sets the groups in @outcome. Fails with INVALID for two
 * requests for one group, or too many requests, and else like quoit_step_reserve(). */
gboolean quoit_step_reserve_all (const QuoitFleet *fleet, const QuoitRequestList *list, gint64 now_ms,
                                 QuoitEntry **entry, QuoitOutcome *outcome, GError **error);

/* --- node-states.c --- */

/* Sets the state of all nodes. Fails with NOT_FOUND for an unknown node, and with CONFLICT for drain and undrain of a
 * dead node. */
gboolean quoit_step_set_states (const QuoitFleet *fleet, const QuoitStatesChange *change, gint64 now_ms,
                                QuoitEntry **entry, GError **error);

/* --- bundles.c --- */

/* Returns a group with @facts on @slices. If @request states an amount of TPU per bundle, the hosts are divided into
 * bundles; otherwise the group has whole hosts. Fails with INVALID if the hosts cannot be divided. */
QuoitGroupData *quoit_step_make_slice_group (const QuoitFleet *fleet, const QuoitGroupData *facts,
                                             const QuoitRequest *request, const guint32 *slices, guint32 n_slices,
                                             GError **error);
/* Returns a copy of @whole, a group of whole hosts, whose hosts are divided into bundles of @tpu. Fails like
 * quoit_step_make_slice_group(). */
QuoitGroupData *quoit_step_divide_hosts (const QuoitFleet *fleet, const QuoitGroupData *whole, QuoitAmount tpu,
                                         GError **error);

/* --- parts.c --- */

/* Returns a group with @facts and the parts of slices that placement chose for @request. Returns NULL with a refusal if
 * there are too few. Fails like quoit_plan_slices(). */
QuoitGroupData *quoit_step_make_part_group (const QuoitFleet *fleet, const QuoitGroupData *facts,
                                            const QuoitRequest *request, QuoitRefusal *refusal, GError **error);
/* Returns the group with other parts for those with a dead, draining or removed host, which may use the rest of their
 * hosts; a reference to @group itself if there are none. Fails like quoit_step_make_part_group(). */
QuoitGroupData *quoit_step_repair_parts (const QuoitFleet *fleet, const QuoitGroupData *group, QuoitRefusal *refusal,
                                         GError **error);
/* Returns the group with @most parts, or with as many as possible, at least @least. It gives up lost and
 * leaving parts first, then its last ones. Fails
 * like quoit_step_make_part_group(). */
QuoitGroupData *quoit_step_resize_parts (const QuoitFleet *fleet, const QuoitGroupData *group, guint32 least,
                                         guint32 most, QuoitRequest *request, QuoitRefusal *refusal, GError **error);

/* --- cubes.c: the same for slices that are joined from cubes --- */

QuoitGroupData *quoit_step_make_cube_group (const QuoitFleet *fleet, const QuoitGroupData *facts,
                                            const QuoitRequest *request, QuoitRefusal *refusal, GError **error);
/* Takes the cubes that the caller has chosen, slice by slice. Also fails like quoit_cubes_take_named(). */
QuoitGroupData *quoit_step_take_cube_group (const QuoitFleet *fleet, const QuoitGroupData *facts,
                                            const QuoitRequest *request, const QuoitPlan *chosen, QuoitRefusal *refusal,
                                            GError **error);
/* Replaces cubes with a lost host by other ones of the block, and keeps the rest of each slice; slices for which the
 * block has too few cubes, and adjacent ones, are replaced as a whole. */
QuoitGroupData *quoit_step_repair_cubes (const QuoitFleet *fleet, const QuoitGroupData *group, QuoitRefusal *refusal,
                                         GError **error);
QuoitGroupData *quoit_step_resize_cubes (const QuoitFleet *fleet, const QuoitGroupData *group, guint32 least,
                                         guint32 most, QuoitRequest *request, QuoitRefusal *refusal, GError **error);

/* --- placed.c --- */

/* Returns a group with @facts and the bundles of @request on the nodes where placement put them. Fails like
 * quoit_plan_bundles(). */
QuoitGroupData *quoit_step_make_bundle_group (const QuoitFleet *fleet, const QuoitGroupData *facts,
                                              const QuoitRequest *request, QuoitRefusal *refusal, GError **error);
/* Returns a copy of @group with new nodes for the bundles whose nodes are dead, draining or gone, or a reference to
 * @group itself if there are no such bundles. The new nodes are chosen in @seen: see placement/ahead.h. Fails like
 * quoit_plan_bundles(). */
QuoitGroupData *quoit_step_repair_bundles (const QuoitFleet *fleet, const QuoitFleet *seen, const QuoitGroupData *group,
                                           QuoitRefusal *refusal, GError **error);

/* Returns whether a node of @kind would have enough resources for the bundles that this ledger's callers have on
 * @node. */
gboolean quoit_step_kind_has_room (const QuoitFleet *fleet, QuoitNodeId node, const QuoitNodeKind *kind);

/* --- explain-group.c --- */

/* Explains whether a group could have now what it has lost, or never had. A group of slices of this ledger is explained
 * as quoit_step_repair() decides. Fails with CONFLICT if it lacks nothing. */
QuoitReport *quoit_step_explain_group (const QuoitFleet *fleet, const QuoitGroupRef *ref, gint64 now_ms,
                                       GError **error);

/* --- unplaced.c --- */

/* Returns a request for the bundles of @group that have no node. Fails with CONFLICT if all have one. */
QuoitRequest *quoit_step_make_unplaced_request (const QuoitFleet *fleet, const QuoitGroupData *group, GError **error);

/* --- ahead.c --- */

/* Makes reservations ahead begin whose time has come, and gives other slices to those whose slices were lost. Makes no
 * entry if there is nothing to do. Every change begins with quoit_step_expire(), and then with this step. */
void quoit_step_begin (const QuoitFleet *fleet, gint64 now_ms, QuoitEntry **entry);

/* --- windows.c --- */

/* Adds a window of the calendar. Makes no entry if it exists already. Fails with CONFLICT if another window has the
 * name, or if a reservation ahead needs the nodes. */
gboolean quoit_step_add_window (const QuoitFleet *fleet, const QuoitWindowChange *change, gint64 now_ms,
                                QuoitEntry **entry, GError **error);
/* Removes a window. Fails with NOT_FOUND. */
gboolean quoit_step_remove_window (const QuoitFleet *fleet, const char *name, gint64 now_ms, QuoitEntry **entry,
                                   GError **error);

/* --- quotas.c --- */

/* Sets a quota. Makes no entry if it is set already. Fails with CONFLICT if another quota is for the same groups and
 * class, and with INVALID for numbers, names or a class that are not valid. */
gboolean quoit_step_set_quota (const QuoitFleet *fleet, const QuoitQuotaChange *change, gint64 now_ms,
                               QuoitEntry **entry, GError **error);
/* Removes a quota. Fails with NOT_FOUND. */
gboolean quoit_step_remove_quota (const QuoitFleet *fleet, const char *name, gint64 now_ms, QuoitEntry **entry,
                                  GError **error);

/* --- leases.c --- */

typedef void (*QuoitDueStep) (const QuoitFleet *fleet, gint64 now_ms, QuoitEntry **entry);
enum { QUOIT_N_DUE_STEPS = 2 };
/* The steps with which every change begins, in their order. */
extern const QuoitDueStep quoit_due_steps[QUOIT_N_DUE_STEPS];

/* Ends groups whose lease, or whose owner's lease, has ended at @now_ms. Makes no entry if there are none or if
 * @now_ms is invalid. Every change begins with this step. */
void quoit_step_expire (const QuoitFleet *fleet, gint64 now_ms, QuoitEntry **entry);

/* Adds effects to @entry that forget the groups without a key that ended more than a day before @time_ms. */
void quoit_step_forget_old (const QuoitFleet *fleet, gint64 time_ms, QuoitEntry *entry);

/* Computes the end of a lease that begins at @time_ms. Fails with INVALID if @lease_ms is below 1, or if the lease
 * ends after the year 2199. */
gboolean quoit_step_lease (gint64 time_ms, gint64 lease_ms, gint64 *until_ms, GError **error);

/* Confirms a held group. A confirmed group stays as it is. Fails with EXPIRED if the lease has ended. */
gboolean quoit_step_confirm (const QuoitFleet *fleet, const QuoitLeaseChange *change, gint64 now_ms, QuoitEntry **entry,
                             QuoitOutcome *outcome, GError **error);
/* Replaces the lease of a group. Fails with CONFLICT for a group without a lease. */
gboolean quoit_step_renew (const QuoitFleet *fleet, const QuoitLeaseChange *change, gint64 now_ms, QuoitEntry **entry,
                           QuoitOutcome *outcome, GError **error);
/* Replaces the leases of groups in one entry. Fails like quoit_step_renew() for the first group that refuses it. */
gboolean quoit_step_renew_groups (const QuoitFleet *fleet, const QuoitGroupsRenewal *renewal, gint64 now_ms,
                                  QuoitEntry **entry, GError **error);
/* Forgets a removed group, given by name and id. Fails with CONFLICT for a live group. */
gboolean quoit_step_forget (const QuoitFleet *fleet, const QuoitGroupRef *ref, gint64 now_ms, QuoitEntry **entry,
                            GError **error);
/* Forgets the removed group of the request key @key. Fails with CONFLICT for a live group. */
gboolean quoit_step_forget_key (const QuoitFleet *fleet, const char *key, gint64 now_ms, QuoitEntry **entry,
                                GError **error);
/* Forgets the groups that ended before a time, those with the lowest ids first. Sets the number of groups in @outcome.
 */
gboolean quoit_step_forget_before (const QuoitFleet *fleet, const QuoitForgetting *forgetting, gint64 now_ms,
                                   QuoitEntry **entry, QuoitOutcome *outcome, GError **error);

/* --- owners.c --- */

/* Registers the owner, or replaces its lease. */
gboolean quoit_step_set_owner (const QuoitFleet *fleet, const QuoitOwnerChange *change, gint64 now_ms,
                               QuoitEntry **entry, GError **error);
/* Replaces the lease of an owner. Fails with NOT_FOUND for an owner that was never set, and with EXPIRED after the end
 * of its lease. */
gboolean quoit_step_renew_owner (const QuoitFleet *fleet, const QuoitOwnerChange *change, gint64 now_ms,
                                 QuoitEntry **entry, GError **error);
/* Ends the owner and its groups. Also accepts an owner that was never set, if it has groups. */
gboolean quoit_step_end_owner (const QuoitFleet *fleet, const char *owner, gint64 now_ms, QuoitEntry **entry,
                               QuoitOutcome *outcome, GError **error);
/* Fails with EXPIRED if the lease of the owner has ended and the owner was not set again. */
gboolean quoit_step_check_owner (const QuoitFleet *fleet, const char *owner, GError **error);

/* --- elastic.c, repair.c --- */

/* Changes the number of slices of a group. New slices match its request. A group that shrinks gives up its lost slices
 * first, then leaving ones, then its last ones. Between two numbers, it gets as
 * many as possible. Fails with INVALID for a number that the request does not allow. */
gboolean quoit_step_resize (const QuoitFleet *fleet, const QuoitResize *resize, gint64 now_ms, QuoitEntry **entry,
                            QuoitOutcome *outcome, GError **error);
/* Replaces each slice that is lost or leaving, if possible with the same slice if that is intact again. In a group of
 * bundles, places the bundles on dead and draining nodes again. */
gboolean quoit_step_repair (const QuoitFleet *fleet, const QuoitGroupRef *ref, gint64 now_ms, QuoitEntry **entry,
                            QuoitOutcome *outcome, GError **error);
/* Releases one slice. The group ends with its last slice. Fails with NOT_FOUND if the group does not have the slice. */
gboolean quoit_step_release_slice (const QuoitFleet *fleet, const QuoitSliceRelease *release, gint64 now_ms,
                                   QuoitEntry **entry, QuoitOutcome *outcome, GError **error);

/* --- settings.c --- */

/* Sets the clock of the ledger, or the limit of clock jumps. The only step that can set the clock back. */
gboolean quoit_step_set_clock (const QuoitFleet *fleet, const QuoitClockChange *change, gint64 now_ms,
                               QuoitEntry **entry, GError **error);
/* Sets how long entries and records of ended groups are kept. Fails with INVALID below 0. */
gboolean quoit_step_set_keep (const QuoitFleet *fleet, gint64 keep_ms, gint64 now_ms, QuoitEntry **entry,
                              GError **error);
/* Begins a new epoch after a restore: raises the numbers to at least @given, and the epoch by at least 1. */
gboolean quoit_step_restore (const QuoitFleet *fleet, const QuoitLedgerNumbers *given, gint64 now_ms,
                             QuoitEntry **entry, GError **error);

/* --- commit-fork.c --- */

/* Makes one entry of the effects of a fork, for the present fleet. Fails with CONFLICT if something on which
 * they depend has changed, with EXPIRED if an owner or the lease of a new group has ended, and with INVALID if @now_ms
 * is before the last change of the fork. */
gboolean quoit_step_commit_fork (const QuoitFleet *fleet, const QuoitForkChanges *changes, gint64 now_ms,
                                 QuoitEntry **entry, GError **error);

/* --- import.c --- */

/* Imports a source. A new source takes *@claims and sets it to NULL. Fails with CONFLICT if a node that a group uses
 * would be dropped or become another machine, or if another source of the same kind claims one of the machines. */
gboolean quoit_step_import (const QuoitFleet *fleet, QuoitClaims **claims, gint64 now_ms, QuoitEntry **entry,
                            QuoitOutcome *outcome, GError **error);
/* Like quoit_step_import(), for a fleet that has changed: a node that the source no longer has stays, as a dead node,
 * as long as a group uses it. */
gboolean quoit_step_sync (const QuoitFleet *fleet, QuoitClaims **claims, gint64 now_ms, QuoitEntry **entry,
                          QuoitOutcome *outcome, GError **error);

/* --- import-reservations.c --- */

/* Reserves the groups of fleet text, after the import that *@entry makes (NULL: nothing), and adds their effects to it.
 * Appends them to @changes (of QuoitNodeChange; NULL: none). A live group with the same request and owner stays as it
 * is. Fails like quoit_step_reserve(), also with NOT_NOW and NEVER, and with INVALID for an end that has passed. */
gboolean quoit_step_import_reservations (const QuoitFleet *fleet, const QuoitReservationClaim *claims, guint32 n,
                                         QuoitVerb verb, gint64 now_ms, QuoitEntry **entry, GArray *changes,
                                         GError **error);

/* --- import-update.c --- */

/* Like quoit_step_sync() with the previous claims of the source, changed by @update. Fails with NOT_FOUND if there is
 * no such source, with INVALID if a node is both claimed and removed, and with CONFLICT if an alive node would get the
 * name of another alive node of the source. */
gboolean quoit_step_update_nodes (const QuoitFleet *fleet, const QuoitNodesUpdate *update, gint64 now_ms,
                                  QuoitEntry **entry, QuoitOutcome *outcome, GError **error);

/* --- import-joins.c --- */

/* Returns warnings for the user, such as how many nodes of planned slices a joined source does not contain. @source is
 * either of the two sources. @named is the source that the user has named to join, or NULL. The caller owns the
 * result. */
GStrv quoit_step_warn_unseen (const QuoitFleet *fleet, const char *source, const char *named);

/* --- compare.c --- */

/* Returns whether two groups are equal, except for their references. @b may be NULL. */
gboolean quoit_step_is_same_group (const QuoitGroupData *a, const QuoitGroupData *b);

/* Checks whether two fleets are equal in everything that the journal determines. Fails with DAMAGED, and names the
 * first difference. `quoit verify` uses this. */
gboolean quoit_step_compare (const QuoitFleet *replayed, const QuoitFleet *saved, GError **error);

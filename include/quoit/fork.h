/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_FORK_H
#define QUOIT_FORK_H

#include <stdbool.h>

#include <quoit/snapshot.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitFork:
 *
 * A private, mutable copy of a snapshot, for dry runs, what-if questions and plans. It runs the same code as a ledger
 * and shares all parts that it does not change. Nothing of it is written, unless quoit_ledger_commit_fork() commits its
 * changes. It keeps them in memory for that. Use it in one thread at a time.
 *
 * A fork has every call of the ledger that changes the fleet, its groups or its records; quoit_fork_drain_nodes() and
 * quoit_fork_undrain_nodes() also take a single node. The clock, the limits of the ledger (quoit_ledger_set_keep(),
 * quoit_ledger_set_max_clock_jump()) and its journal (quoit_ledger_trim(), quoit_ledger_compact_journal()) are not part
 * of the fleet: only the ledger changes them.
 */
typedef struct _QuoitFork QuoitFork;

/**
 * quoit_snapshot_fork:
 *
 * Returns: (transfer full): a mutable copy; quoit_fork_free() it
 */
QUOIT_API QuoitFork *quoit_snapshot_fork (const QuoitSnapshot *snapshot);

/**
 * quoit_fork_free:
 * @fork: (nullable): the fork
 *
 * Frees the fork.
 */
QUOIT_API void quoit_fork_free (QuoitFork *fork);

/**
 * quoit_fork_snapshot:
 *
 * Returns: (transfer full): the present state of the fork; quoit_snapshot_unref() it
 */
QUOIT_API QuoitSnapshot *quoit_fork_snapshot (QuoitFork *fork);

/**
 * quoit_fork_reserve:
 * @request: the request; not kept
 * @now_ms: the caller's clock
 * @report: (out) (optional): set to a report if placement refused
 *
 * Like quoit_ledger_reserve(), on the fork only. Errors of the database cannot occur.
 *
 * Returns: (transfer full): the group; quoit_group_unref() it
 */
QUOIT_API QuoitGroup *quoit_fork_reserve (QuoitFork *fork, const QuoitRequest *request, int64_t now_ms,
                                          QuoitReport **report, GError **error);

/**
 * quoit_fork_release:
 * @group: NAME or NAME@ID
 * @now_ms: the caller's clock
 *
 * Like quoit_ledger_release(), on the fork only.
 */
QUOIT_API bool quoit_fork_release (QuoitFork *fork, const char *group, int64_t now_ms, GError **error);

/**
 * quoit_fork_release_with_reason:
 * @group: NAME or NAME@ID
 * @reason: why the group is released
 * @now_ms: the caller's clock
 *
 * Like quoit_ledger_release_with_reason(), on the fork only.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_fork_release_with_reason (QuoitFork *fork, const char *group, const char *reason, int64_t now_ms,
                                               GError **error);

/**
 * quoit_fork_resize:
 * @group: NAME or NAME@ID
 * @n_slices: the new number of slices
 * @now_ms: the caller's clock
 * @report: (out) (optional): set to a report if placement refused
 *
 * Like quoit_ledger_resize(), on the fork only.
 *
 * Returns: (transfer full): the group before and after; quoit_group_change_free() it
 */
QUOIT_API QuoitGroupChange *quoit_fork_resize (QuoitFork *fork, const char *group, int64_t n_slices, int64_t now_ms,
                                               QuoitReport **report, GError **error);

/**
 * quoit_fork_resize_between:
 * @group: NAME or NAME@ID
 * @least: the smallest sufficient number of slices, from 1
 * @most: the wanted number of slices, @least to 1,000,000
 * @now_ms: the caller's clock
 * @report: (out) (optional): set to a report if placement refused @least
 *
 * Like quoit_ledger_resize_between(), on the fork only.
 *
 * Returns: (transfer full): the group before and after; quoit_group_change_free() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitGroupChange *quoit_fork_resize_between (QuoitFork *fork, const char *group, int64_t least, int64_t most,
                                                       int64_t now_ms, QuoitReport **report, GError **error);

/**
 * quoit_fork_repair:
 * @group: NAME or NAME@ID
 * @now_ms: the caller's clock
 * @report: (out) (optional): set to a report if placement refused
 *
 * Like quoit_ledger_repair(), on the fork only.
 *
 * Returns: (transfer full): the group before and after; quoit_group_change_free() it
 */
QUOIT_API QuoitGroupChange *quoit_fork_repair (QuoitFork *fork, const char *group, int64_t now_ms, QuoitReport **report,
                                               GError **error);

/**
 * quoit_fork_reserve_at:
 * @request: the request; not kept
 * @from_ms: when the group begins, after now
 * @until_ms: when the group ends, after @from_ms; 0: when it is released
 * @now_ms: the caller's clock
 * @report: (out) (optional): set to a report if placement refused
 *
 * Like quoit_ledger_reserve_at(), on the fork only.
 *
 * Returns: (transfer full): the group; quoit_group_unref() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitGroup *quoit_fork_reserve_at (QuoitFork *fork, const QuoitRequest *request, int64_t from_ms,
                                             int64_t until_ms, int64_t now_ms, QuoitReport **report, GError **error);

/**
 * quoit_fork_reserve_all:
 * @requests: (array length=n_requests): the requests; not kept
 * @n_requests: number of requests
 * @now_ms: the caller's clock
 * @groups: (out caller-allocates) (array length=n_requests): set to the group of each request
 * @report: (out) (optional): set to a report on the refused request if placement refused
 *
 * Like quoit_ledger_reserve_all(), on the fork only.
 *
 * Returns: true if all groups are reserved; quoit_group_unref() each of them
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_fork_reserve_all (QuoitFork *fork, const QuoitRequest *const *requests, uint32_t n_requests,
                                       int64_t now_ms, QuoitGroup **groups, QuoitReport **report, GError **error);

/**
 * quoit_fork_hold:
 * @request: the request; not kept
 * @lease_ms: how long the group lives unless it is confirmed or renewed, from 1 ms
 * @now_ms: the caller's clock
 * @report: (out) (optional): set to a report if placement refused
 *
 * Like quoit_ledger_hold(), on the fork only. Errors of the database cannot occur.
 *
 * Returns: (transfer full): the group; quoit_group_unref() it
 */
QUOIT_API QuoitGroup *quoit_fork_hold (QuoitFork *fork, const QuoitRequest *request, int64_t lease_ms, int64_t now_ms,
                                       QuoitReport **report, GError **error);

/**
 * quoit_fork_confirm:
 * @group: NAME or NAME@ID
 * @lease_ms: how long the group lives from now on unless it is renewed; 0: until it is released
 * @now_ms: the caller's clock
 *
 * Like quoit_ledger_confirm(), on the fork only.
 *
 * Returns: (transfer full): the group; quoit_group_unref() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitGroup *quoit_fork_confirm (QuoitFork *fork, const char *group, int64_t lease_ms, int64_t now_ms,
                                          GError **error);

/**
 * quoit_fork_renew:
 * @group: NAME or NAME@ID
 * @lease_ms: how long the group lives from now on, from 1 ms
 * @now_ms: the caller's clock
 *
 * Like quoit_ledger_renew(), on the fork only.
 *
 * Returns: (transfer full): the group; quoit_group_unref() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitGroup *quoit_fork_renew (QuoitFork *fork, const char *group, int64_t lease_ms, int64_t now_ms,
                                        GError **error);

/**
 * quoit_fork_renew_groups:
 * @groups: (array length=n_groups): NAME or NAME@ID; a group may occur more than once
 * @lease_ms: how long each group lives from now on, from 1 ms
 * @now_ms: the caller's clock
 *
 * Like quoit_ledger_renew_groups(), on the fork only.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_fork_renew_groups (QuoitFork *fork, const char *const *groups, uint32_t n_groups, int64_t lease_ms,
                                        int64_t now_ms, GError **error);

/**
 * quoit_fork_release_slice:
 * @group: NAME or NAME@ID
 * @slice: short or full name
 * @now_ms: the caller's clock
 *
 * Like quoit_ledger_release_slice(), on the fork only.
 *
 * Returns: (transfer full): the group before and after; quoit_group_change_free() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitGroupChange *quoit_fork_release_slice (QuoitFork *fork, const char *group, const char *slice,
                                                      int64_t now_ms, GError **error);

/**
 * quoit_fork_forget:
 * @group: NAME@ID
 * @now_ms: the caller's clock
 *
 * Like quoit_ledger_forget(), on the fork only. When the fork is committed, it is no conflict if others have forgotten
 * the record, too.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_fork_forget (QuoitFork *fork, const char *group, int64_t now_ms, GError **error);

/**
 * quoit_fork_forget_key:
 * @key: a request key
 * @now_ms: the caller's clock
 *
 * Like quoit_ledger_forget_key(), on the fork only. The commit forgets the group that has the key on the fork, not
 * another one to which others have given the key since.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_fork_forget_key (QuoitFork *fork, const char *key, int64_t now_ms, GError **error);

/**
 * quoit_fork_forget_before:
 * @before_ms: a time in milliseconds since 1970
 * @now_ms: the caller's clock
 * @n_groups: (out) (optional): the number of records that were deleted
 *
 * Like quoit_ledger_forget_before(), on the fork only. The commit forgets the groups that have ended on the fork, not
 * those that have ended in the ledger since.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_fork_forget_before (QuoitFork *fork, int64_t before_ms, int64_t now_ms, uint32_t *n_groups,
                                         GError **error);

/**
 * quoit_fork_set_expected_end:
 * @group: NAME or NAME@ID
 * @end_ms: when the group is expected to end, not before it was created; 0: unknown
 * @now_ms: the caller's clock
 *
 * Like quoit_ledger_set_expected_end(), on the fork only.
 *
 * Returns: (transfer full): the group; quoit_group_unref() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitGroup *quoit_fork_set_expected_end (QuoitFork *fork, const char *group, int64_t end_ms, int64_t now_ms,
                                                   GError **error);

/**
 * quoit_fork_set_priority:
 * @group: NAME or NAME@ID
 * @priority: the new priority
 * @now_ms: the caller's clock
 *
 * Like quoit_ledger_set_priority(), on the fork only.
 *
 * Returns: (transfer full): the group; quoit_group_unref() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitGroup *quoit_fork_set_priority (QuoitFork *fork, const char *group, int32_t priority, int64_t now_ms,
                                               GError **error);

/**
 * quoit_fork_set_labels:
 * @group: NAME or NAME@ID
 * @keys: (array length=n_labels): the keys of the labels
 * @values: (array length=n_labels): their new values; %NULL: removes the label
 * @n_labels: 0 to 64
 * @now_ms: the caller's clock
 *
 * Like quoit_ledger_set_labels(), on the fork only.
 *
 * Returns: (transfer full): the group; quoit_group_unref() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitGroup *quoit_fork_set_labels (QuoitFork *fork, const char *group, const char *const *keys,
                                             const char *const *values, uint32_t n_labels, int64_t now_ms,
                                             GError **error);

/**
 * quoit_fork_import:
 * @input: what the source contains
 * @now_ms: the caller's clock
 *
 * Like quoit_ledger_import(), on the fork only: the result is what the import would change.
 *
 * Returns: (transfer full): what changed; quoit_import_free() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitImport *quoit_fork_import (QuoitFork *fork, const QuoitInput *input, int64_t now_ms, GError **error);

/**
 * quoit_fork_sync:
 * @input: what the source contains
 * @now_ms: the caller's clock
 *
 * Like quoit_ledger_sync(), on the fork only: the result is what the sync would change.
 *
 * Returns: (transfer full): what changed; quoit_import_free() it
 */
QUOIT_API QuoitImport *quoit_fork_sync (QuoitFork *fork, const QuoitInput *input, int64_t now_ms, GError **error);

/**
 * quoit_fork_update_nodes:
 * @input: from quoit_input_new_nodes()
 * @now_ms: the caller's clock
 *
 * Like quoit_ledger_update_nodes(), on the fork only.
 *
 * Returns: (transfer full): what changed; quoit_import_free() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitImport *quoit_fork_update_nodes (QuoitFork *fork, const QuoitInput *input, int64_t now_ms,
                                                GError **error);

/**
 * quoit_fork_mark:
 *
 * Remembers the present state of the fork, in O(1), so that quoit_fork_roll_back() can return to it.
 *
 * Returns: the mark: 1 for the first one, 2 for the second...
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_fork_mark (QuoitFork *fork);

/**
 * quoit_fork_roll_back:
 * @mark: a mark of this fork
 *
 * Undoes all changes of the fork since @mark. Later marks are forgotten; @mark itself stays.
 *
 * Fails with %QUOIT_ERROR_INVALID if the fork has no such mark.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_fork_roll_back (QuoitFork *fork, uint32_t mark, GError **error);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitFork, quoit_fork_free)

G_END_DECLS

#endif

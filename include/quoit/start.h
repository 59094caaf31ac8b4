/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_START_H
#define QUOIT_START_H

#include <stdbool.h>

#include <quoit/snapshot.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitStart:
 *
 * When a request fits, and for which groups it waits. The answer assumes that each group ends at its expected end, or
 * at the end of its lease if it has no expected end; that nothing else is requested until then; and that nodes stay as
 * they are. An expected end that has passed counts as the next millisecond. A group with neither is assumed to stay. A
 * lease that is renewed again and again needs an expected end, because otherwise its group seems to end soon.
 *
 * Reservations ahead and windows of the calendar count: from the start on, the slices are free until the lease of the
 * request ends, or until its expected end if that is later, and forever without a lease. A group with a lease ends
 * before a reservation ahead of its slices begins, whatever its expected end. The request can also wait for
 * reservations ahead to end; these are among the groups. Windows that it waits for are not.
 *
 * A request that is to be near another group (quoit_request_set_near()) starts before that group ends, or not at a
 * known time.
 *
 * A QuoitStart is immutable, and any thread can read it.
 *
 * Since: 0.1
 */
typedef struct _QuoitStart QuoitStart;

/**
 * quoit_snapshot_find_start:
 * @request: the request; not kept
 * @now_ms: the caller's clock
 *
 * Finds the earliest time from which on @request, or one of its alternatives, fits. The time is exact under the
 * assumptions of #QuoitStart; for bundles of policy `ray`, it is the first time at which Ray's algorithm places them.
 * The cost grows with the number of groups and their slices.
 *
 * Fails with:
 *
 * - %QUOIT_ERROR_NEVER: the request is for slices, and would not fit if all groups ended; or a quota never admits it.
 * - %QUOIT_ERROR_INVALID, %QUOIT_ERROR_NOT_FOUND: like quoit_ledger_reserve().
 *
 * An alternative that fails so is skipped, unless all of them fail.
 *
 * Returns: (transfer full): the start; quoit_start_free() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitStart *quoit_snapshot_find_start (QuoitSnapshot *snapshot, const QuoitRequest *request, int64_t now_ms,
                                                 GError **error);

/**
 * quoit_snapshot_test_growth:
 * @group: NAME or NAME@ID of a group of slices that has begun
 * @n_now: (out) (optional): the number of slices that it could have now; its present number if it cannot grow
 * @n_most: (out) (optional): the most slices that its request allows, at least its present number
 *
 * Finds how much a group could grow now. *@n_now is the number of slices that it has after
 * quoit_ledger_resize_between() from its present number to *@n_most. For a group that was requested with one number,
 * *@n_most is that number. Like quoit_snapshot_test(), it decides for the time of the snapshot.
 *
 * Fails like quoit_ledger_resize(), but never because too few slices are free.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_snapshot_test_growth (const QuoitSnapshot *snapshot, const char *group, uint32_t *n_now,
                                           uint32_t *n_most, GError **error);

/**
 * quoit_snapshot_find_growth:
 * @group: NAME or NAME@ID of a group of slices that has begun
 * @n_slices: the number of slices that it is to have, within the range of its request
 * @now_ms: the caller's clock
 *
 * Finds the earliest time from which on the group could have @n_slices, under the assumptions of #QuoitStart. The group
 * itself is assumed not to end before. Beside what lies ahead, it needs the slices for as long as its lease now lasts.
 *
 * Fails like quoit_ledger_resize(), but never because too few slices are free, and with %QUOIT_ERROR_NEVER if the group
 * could not have so many slices if all other groups ended.
 *
 * Returns: (transfer full): the start, which is @now_ms if the group has as many slices already; quoit_start_free() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitStart *quoit_snapshot_find_growth (QuoitSnapshot *snapshot, const char *group, int64_t n_slices,
                                                  int64_t now_ms, GError **error);

/**
 * quoit_start_free:
 * @start: (nullable): the start
 *
 * Frees the start.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_start_free (QuoitStart *start);

/**
 * quoit_start_get_time_ms:
 *
 * Returns: the time; @now_ms if the request fits now; 0 if it has to wait for a group, or a reservation ahead, whose
 * end is unknown
 *
 * Since: 0.1
 */
QUOIT_API int64_t quoit_start_get_time_ms (const QuoitStart *start);

/**
 * quoit_start_get_alternative:
 *
 * Returns which alternative of the request fits first (quoit_request_add_alternative()). Of several that fit at the
 * same time, it is the first one, which a reservation at that time gets.
 *
 * Returns: the number of alternatives before it; 0: the request itself
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_start_get_alternative (const QuoitStart *start);

/**
 * quoit_start_get_n_ends:
 *
 * Returns: the number of groups for which the request waits, in the order of their ends
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_start_get_n_ends (const QuoitStart *start);

/**
 * quoit_start_dup_end_group:
 * @index: the end, below quoit_start_get_n_ends()
 *
 * Returns: (transfer full): the group; quoit_group_unref() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitGroup *quoit_start_dup_end_group (const QuoitStart *start, uint32_t index);

/**
 * quoit_start_get_end_ms:
 * @index: the end, below quoit_start_get_n_ends()
 *
 * Returns: when the group is assumed to end
 *
 * Since: 0.1
 */
QUOIT_API int64_t quoit_start_get_end_ms (const QuoitStart *start, uint32_t index);

/**
 * quoit_start_end_is_estimate:
 * @index: the end, below quoit_start_get_n_ends()
 *
 * Returns: true if the end is the expected one, false if it is that of a lease
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_start_end_is_estimate (const QuoitStart *start, uint32_t index);

/**
 * quoit_start_end_is_overdue:
 * @index: the end, below quoit_start_get_n_ends()
 *
 * Returns: true if the expected end has passed
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_start_end_is_overdue (const QuoitStart *start, uint32_t index);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitStart, quoit_start_free)

G_END_DECLS

#endif

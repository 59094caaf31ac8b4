/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_PREEMPTION_H
#define QUOIT_PREEMPTION_H

#include <stdbool.h>

#include <quoit/snapshot.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitPreemption:
 *
 * The groups to release so that a request fits. None of them can be left out.
 *
 * A QuoitPreemption is immutable, and any thread can read it.
 *
 * Since: 0.1
 */
typedef struct _QuoitPreemption QuoitPreemption;

/**
 * quoit_snapshot_find_preemption:
 * @request: the request; not kept. Its priority decides which groups can be released; see quoit_request_set_priority()
 * @now_ms: the caller's clock
 *
 * Finds the cheapest set of groups whose release makes @request fit now. It changes nothing: release the groups and
 * reserve the request on a fork, and commit the fork.
 *
 * Only groups with a lower priority than @request are released, and only those that callers of this ledger have made;
 * never the group that @request is to be near to. If @request could still run when a reservation ahead begins, that
 * reservation counts as one that has begun, and can be released too, also together with a group that has its slices
 * until then. Windows of the calendar are never removed. Sets of groups are compared in this order:
 *
 * 1. the greatest priority of a released group: the lowest is best
 * 2. the chips of all released groups, as few as possible
 * 3. the chip seconds that these groups have run since they were reserved, as few as possible
 *
 * For slices, the result is the cheapest set, and quoit_preemption_is_cheapest() returns true, except in three
 * cases. With more than 16 million pairs of a group and a needed slice, the released chips are at most twice the least
 * possible number. If more than 12 groups are connected by slices that they share, only some of the sets of these
 * groups are tried. If the slices are spread over pools or zones, their shares are decided first, and of the groups
 * that these need, up to 256 are tried to stay. For bundles, all sets are tried if at most 10 groups have a lower
 * priority. Otherwise groups are released by priority and cost until the request fits, and those that need not be
 * released stay; each of these groups costs at least one search for a placement.
 *
 * If a quota does not admit the request then, further groups that it counts are released by priority and cost. If
 * reservations ahead are in the way, the result is tried as quoit_ledger_reserve() decides, and if it is not enough,
 * groups are released by priority and cost until it is. In both cases, up to 256 of the released groups are tried to
 * stay, and all sets are tried if at most 10 groups have a lower priority: only then is the result proven.
 *
 * The greatest priority of a released group is the lowest possible one in all cases, except for bundles of policy
 * `ray`, and for bundles of policy `best` if a search for a placement ends without a proof.
 *
 * Fails with:
 *
 * - %QUOIT_ERROR_NOT_NOW: the request does not fit even if all groups of a lower priority are released.
 * - %QUOIT_ERROR_NEVER: the request is for slices, and would not fit if all groups ended.
 * - %QUOIT_ERROR_INVALID, %QUOIT_ERROR_NOT_FOUND: like quoit_ledger_reserve().
 *
 * An alternative of @request that fails so is skipped, unless all of them fail.
 *
 * Returns: (transfer full): the groups, none if @request fits; quoit_preemption_free() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitPreemption *quoit_snapshot_find_preemption (QuoitSnapshot *snapshot, const QuoitRequest *request,
                                                           int64_t now_ms, GError **error);

/**
 * quoit_preemption_free:
 * @preemption: (nullable): the preemption
 *
 * Frees the preemption.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_preemption_free (QuoitPreemption *preemption);

/**
 * quoit_preemption_get_alternative:
 *
 * Returns which alternative of the request fits then (quoit_request_add_alternative()): the one whose set of groups is
 * cheapest, and the first of several. That is the one which a reservation gets after the groups are released.
 *
 * Returns: the number of alternatives before it; 0: the request itself
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_preemption_get_alternative (const QuoitPreemption *preemption);

/**
 * quoit_preemption_get_n_groups:
 *
 * Returns: the number of groups, by priority, then by cost
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_preemption_get_n_groups (const QuoitPreemption *preemption);

/**
 * quoit_preemption_dup_group:
 * @index: the group, below quoit_preemption_get_n_groups()
 *
 * Returns: (transfer full): the group; quoit_group_unref() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitGroup *quoit_preemption_dup_group (const QuoitPreemption *preemption, uint32_t index);

/**
 * quoit_preemption_is_cheapest:
 *
 * Returns: true if it is proven that no other set is cheaper
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_preemption_is_cheapest (const QuoitPreemption *preemption);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitPreemption, quoit_preemption_free)

G_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_PLAN_H
#define QUOIT_PLAN_H

#include <stdbool.h>

#include <quoit/fork.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitBackfill:
 * @QUOIT_BACKFILL_NONE: none of them: the queue is served strictly in its order
 * @QUOIT_BACKFILL_EASY: those that do not delay the first request that has to wait and whose start is known
 * @QUOIT_BACKFILL_CONSERVATIVE: those that do not delay any earlier request that has to wait
 *
 * Which requests may start although an earlier one has to wait.
 *
 * Since: 0.1
 */
typedef enum { QUOIT_BACKFILL_NONE, QUOIT_BACKFILL_EASY, QUOIT_BACKFILL_CONSERVATIVE } QuoitBackfill;

/**
 * QuoitQueuedState:
 * @QUOIT_QUEUED_STARTS: it starts now, and the fork has its group; or its key has a group already
 * @QUOIT_QUEUED_WAITS: it waits
 * @QUOIT_QUEUED_REFUSED: it would be refused even if all groups had ended; see quoit_queue_plan_check()
 *
 * What a plan says about one request of a queue.
 *
 * Since: 0.1
 */
typedef enum { QUOIT_QUEUED_STARTS, QUOIT_QUEUED_WAITS, QUOIT_QUEUED_REFUSED } QuoitQueuedState;

/**
 * QuoitQueuePlan:
 *
 * Which requests of a queue start now, and when the others are to start.
 *
 * A QuoitQueuePlan is immutable, and any thread can read it.
 *
 * Since: 0.1
 */
typedef struct _QuoitQueuePlan QuoitQueuePlan;

/**
 * quoit_fork_plan_queue:
 * @requests: (array length=n_requests): the requests in the order of the queue, the first one first; not kept. The
 * caller decides the order, for example by priority and then by the time of arrival
 * @n_requests: number of requests
 * @backfill: which requests may start although an earlier one has to wait
 * @now_ms: the caller's clock
 *
 * Goes through a queue in its order, and reserves on the fork what starts now, like quoit_fork_reserve(). The caller
 * commits the fork with quoit_ledger_commit_fork(), and plans again when a group ends, a request arrives or the fleet
 * changes.
 *
 * The plan assumes what #QuoitStart assumes about the ends of groups. A request of the queue needs its slices for its
 * expected run time (quoit_request_set_expected_runtime_ms()), or else until its lease ends
 * (quoit_request_set_lease_ms()), and forever if it has neither. A request that must not wait for another one is
 * given slices so that enough are left, at each time, for what the plan has promised to the earlier ones. The slices of
 * a waiting request are chosen when it starts.
 *
 * Reservations ahead (quoit_ledger_reserve_at()) and windows (quoit_ledger_add_window()) keep their slices. If the fork
 * has any of them, a request of the queue needs its slices until its lease ends, or until its expected end if that is
 * later, and forever without a lease: a plan must not count on an estimate that quoit_fork_reserve() would not accept.
 *
 * A request with alternatives (quoit_request_add_alternative()) starts with the first one that can start now. If it has
 * to wait, the alternative that can start first is promised its slices or nodes, and the others nothing.
 *
 * An elastic request is promised the least number of slices that it accepts. When it starts, it also gets what is left
 * after all promises, by a second entry like that of quoit_fork_resize(). A name or key that a group has already is
 * handled as by quoit_fork_reserve(): a repeated request gets that group, whose state is %QUOIT_GROUP_REMOVED if it
 * has ended. Two waiting requests of one name are both
 * promised slices.
 *
 * A request whose start is unknown, because it waits for a group without a known end, is promised nothing and delays
 * nobody, except with %QUOIT_BACKFILL_NONE. Bundles that have to wait are promised the nodes that they would get if
 * only groups ended that have started; no other request of the queue gets these nodes before. If an earlier request
 * needs them, the start of the bundles is unknown.
 *
 * Fails with %QUOIT_ERROR_INVALID for a clock or @backfill that is not valid; the fork is unchanged then. What is wrong
 * with a single request is a part of the plan.
 *
 * Returns: (transfer full): the plan; quoit_queue_plan_free() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitQueuePlan *quoit_fork_plan_queue (QuoitFork *fork, const QuoitRequest *const *requests,
                                                 uint32_t n_requests, QuoitBackfill backfill, int64_t now_ms,
                                                 GError **error);

/**
 * quoit_queue_plan_free:
 * @plan: (nullable): the plan
 *
 * Frees the plan.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_queue_plan_free (QuoitQueuePlan *plan);

/**
 * quoit_queue_plan_get_n_requests:
 *
 * Returns: the number of requests
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_queue_plan_get_n_requests (const QuoitQueuePlan *plan);

/**
 * quoit_queue_plan_get_state:
 * @index: the request, below quoit_queue_plan_get_n_requests()
 *
 * Returns: whether the request starts; %QUOIT_QUEUED_REFUSED for an index out of range
 *
 * Since: 0.1
 */
QUOIT_API QuoitQueuedState quoit_queue_plan_get_state (const QuoitQueuePlan *plan, uint32_t index);

/**
 * quoit_queue_plan_get_start_ms:
 * @index: the request, below quoit_queue_plan_get_n_requests()
 *
 * Returns: the time of the plan for a request that starts now; for one that waits, when it is to start. 0: the start is
 *   unknown, the request is refused, or the plan promises it nothing: with %QUOIT_BACKFILL_EASY, all that wait after
 * the first one with a known start; with %QUOIT_BACKFILL_NONE, all that wait after the first one
 *
 * Since: 0.1
 */
QUOIT_API int64_t quoit_queue_plan_get_start_ms (const QuoitQueuePlan *plan, uint32_t index);

/**
 * quoit_queue_plan_get_alternative:
 * @index: the request, below quoit_queue_plan_get_n_requests()
 *
 * Returns which alternative of the request starts now, or is promised the start (quoit_request_add_alternative()). A
 * request that waits for one alternative can get another one, if a later plan finds that it can start first.
 *
 * Returns: the number of alternatives before it; 0: the request itself, or nothing starts
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_queue_plan_get_alternative (const QuoitQueuePlan *plan, uint32_t index);

/**
 * quoit_queue_plan_dup_group:
 * @index: the request, below quoit_queue_plan_get_n_requests()
 *
 * Returns: (transfer full) (nullable): the group of a request that starts now; quoit_group_unref() it. A commit of the
 *   fork can give it another id
 *
 * Since: 0.1
 */
QUOIT_API QuoitGroup *quoit_queue_plan_dup_group (const QuoitQueuePlan *plan, uint32_t index);

/**
 * quoit_queue_plan_check:
 * @index: the request, below quoit_queue_plan_get_n_requests()
 *
 * Fails for a refused request, with the code of the error that quoit_ledger_reserve() would set: %QUOIT_ERROR_NEVER,
 * %QUOIT_ERROR_INVALID, %QUOIT_ERROR_NOT_FOUND, %QUOIT_ERROR_CONFLICT or %QUOIT_ERROR_EXPIRED.
 *
 * Returns: true if the request starts or waits
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_queue_plan_check (const QuoitQueuePlan *plan, uint32_t index, GError **error);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitQueuePlan, quoit_queue_plan_free)

G_END_DECLS

#endif

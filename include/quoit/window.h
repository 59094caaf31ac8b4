/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_WINDOW_H
#define QUOIT_WINDOW_H

#include <stdbool.h>

#include <quoit/fork.h>
#include <quoit/ledger.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitWindowScope:
 *
 * What the target of a window names. A window of the calendar says that nodes are not available from one time until
 * another, for example for maintenance; see quoit_ledger_add_window().
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_WINDOW_NODE = 1,
  QUOIT_WINDOW_SLICE = 2,
  QUOIT_WINDOW_POOL = 3,
  QUOIT_WINDOW_ZONE = 4
} QuoitWindowScope;

/**
 * quoit_ledger_add_window:
 * @name: a name that no other window has, under the rules of group names
 * @scope: what @target names
 * @target: the short or full name of a node, slice or pool, or the name of a zone
 * @from_ms: when the window begins; it can be in the past
 * @until_ms: when it ends, after now and after @from_ms
 * @now_ms: the caller's clock
 *
 * Adds a window of the calendar: the nodes of the target are not available from @from_ms until @until_ms. Nothing is
 * granted there that could still have the nodes when the window begins (see quoit_ledger_reserve_at()), and no lease is
 * renewed beyond that time. Reservations ahead get other slices, but those of bundles keep their nodes. Nodes that are
 * imported later belong to the window of their slice, pool or zone too. A window does not end the groups that already
 * have its nodes.
 *
 * The window ends by itself: the first change after @until_ms removes it. Adding the same window again changes nothing.
 *
 * Fails with:
 *
 * - %QUOIT_ERROR_CONFLICT: there is another window of that name, or reservations ahead would not get their slices.
 * - %QUOIT_ERROR_INVALID: the name or the times are not valid, the scope is unknown, or the target is ambiguous.
 * - %QUOIT_ERROR_NOT_FOUND: the fleet has no such target.
 *
 * See also "Errors of changes" of #QuoitLedger.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_add_window (QuoitLedger *ledger, const char *name, QuoitWindowScope scope,
                                        const char *target, int64_t from_ms, int64_t until_ms, int64_t now_ms,
                                        GError **error);

/**
 * quoit_fork_add_window:
 * @name: a name that no other window has
 * @scope: what @target names
 * @target: the name of a node, slice, pool or zone
 * @from_ms: when the window begins
 * @until_ms: when it ends
 * @now_ms: the caller's clock
 *
 * Like quoit_ledger_add_window(), on the fork only.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_fork_add_window (QuoitFork *fork, const char *name, QuoitWindowScope scope, const char *target,
                                      int64_t from_ms, int64_t until_ms, int64_t now_ms, GError **error);

/**
 * quoit_ledger_remove_window:
 * @name: the name of a window
 * @now_ms: the caller's clock
 *
 * Removes a window of the calendar.
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND if there is no window of that name. See also "Errors of changes" of #QuoitLedger.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_remove_window (QuoitLedger *ledger, const char *name, int64_t now_ms, GError **error);

/**
 * quoit_fork_remove_window:
 * @name: the name of a window
 * @now_ms: the caller's clock
 *
 * Like quoit_ledger_remove_window(), on the fork only.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_fork_remove_window (QuoitFork *fork, const char *name, int64_t now_ms, GError **error);

/**
 * quoit_snapshot_get_n_windows:
 *
 * Returns: the number of windows of the calendar that have not ended
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_snapshot_get_n_windows (const QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_get_window_name:
 * @window: below quoit_snapshot_get_n_windows(); windows are in the order of their beginnings
 *
 * Returns: (transfer none): the name
 *
 * Since: 0.1
 */
QUOIT_API const char *quoit_snapshot_get_window_name (const QuoitSnapshot *snapshot, uint32_t window);

/**
 * quoit_snapshot_get_window_scope:
 * @window: below quoit_snapshot_get_n_windows()
 *
 * Returns: what the target of the window names
 *
 * Since: 0.1
 */
QUOIT_API QuoitWindowScope quoit_snapshot_get_window_scope (const QuoitSnapshot *snapshot, uint32_t window);

/**
 * quoit_snapshot_get_window_target:
 * @window: below quoit_snapshot_get_n_windows()
 *
 * Returns: (transfer none): the name of the node, slice, pool or zone, as it was given
 *
 * Since: 0.1
 */
QUOIT_API const char *quoit_snapshot_get_window_target (const QuoitSnapshot *snapshot, uint32_t window);

/**
 * quoit_snapshot_get_window_from_ms:
 * @window: below quoit_snapshot_get_n_windows()
 *
 * Returns: the time when the window begins
 *
 * Since: 0.1
 */
QUOIT_API int64_t quoit_snapshot_get_window_from_ms (const QuoitSnapshot *snapshot, uint32_t window);

/**
 * quoit_snapshot_get_window_until_ms:
 * @window: below quoit_snapshot_get_n_windows()
 *
 * Returns: the time when the window ends
 *
 * Since: 0.1
 */
QUOIT_API int64_t quoit_snapshot_get_window_until_ms (const QuoitSnapshot *snapshot, uint32_t window);

/* cdef-end */

G_END_DECLS

#endif

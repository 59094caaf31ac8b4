/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_ELASTIC_H
#define QUOIT_ELASTIC_H

#include <quoit/ledger.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitGroupChange:
 *
 * What a group was and what it is now, from one transaction: compare the two with quoit_topology_new() of each and
 * quoit_renumbering_new(). Immutable.
 *
 * Since: 0.1
 */
typedef struct _QuoitGroupChange QuoitGroupChange;

/**
 * quoit_group_change_free:
 * @change: (nullable): the change
 *
 * Since: 0.1
 */
QUOIT_API void quoit_group_change_free (QuoitGroupChange *change);

/**
 * quoit_group_change_get_before:
 * @change: the change
 *
 * Returns: (transfer none): the group as it was, valid as long as @change
 * Since: 0.1
 */
QUOIT_API QuoitGroup *quoit_group_change_get_before (const QuoitGroupChange *change);

/**
 * quoit_group_change_get_after:
 * @change: the change
 *
 * Returns: (transfer none) (nullable): the group as it is now; %NULL: its last slice went, and the group with it
 * Since: 0.1
 */
QUOIT_API QuoitGroup *quoit_group_change_get_after (const QuoitGroupChange *change);

/**
 * quoit_group_change_is_nothing:
 * @change: the change
 *
 * Returns: whether the group was already what was asked for, and nothing was written
 * Since: 0.1
 */
QUOIT_API bool quoit_group_change_is_nothing (const QuoitGroupChange *change);

/**
 * quoit_ledger_resize:
 * @ledger: the handle
 * @group: NAME or NAME@ID
 * @n_slices: how many slices it is to have
 * @now_ms: the caller's clock, milliseconds since 1970-01-01 UTC
 * @error: (out) (optional): set on failure
 *
 * Grows or shrinks a group, wholly or not at all. It grows by slices as its request asks for them; it gives up lost
 * slices first, then leaving ones, then from the last slice id on. The slices stand in natural order afterwards, so
 * that slice ids, process ids and environments may be others for those that stay. A group that has @n_slices already
 * stays as it is.
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND when no group bears the name, %QUOIT_ERROR_CONFLICT when the id is not
 * that of the group that bears it now or the group belongs to a source, %QUOIT_ERROR_EXPIRED when its lease has ended:
 * ask for slices again, %QUOIT_ERROR_INVALID when @group is neither NAME nor NAME@ID; %QUOIT_ERROR_INVALID also below
 * 1, outside what quoit_request_set_slices_between() allowed, and for a group that is not of whole slices;
 * %QUOIT_ERROR_NOT_NOW or %QUOIT_ERROR_NEVER as quoit_ledger_reserve(). Fails also with what any change can fail with:
 * %QUOIT_ERROR_INVALID for a clock outside the years 2000 to 2199, %QUOIT_ERROR_BUSY when another writer held the
 * database for longer than the handle waits (retry), %QUOIT_ERROR_CANCELLED after quoit_ledger_interrupt(),
 * %QUOIT_ERROR_STORE when the disk refuses (nothing was written; mend it and retry), %QUOIT_ERROR_VERSION when a newer
 * quoit has upgraded the database, %QUOIT_ERROR_DAMAGED when it contradicts itself.
 *
 * Returns: (transfer full): what was and is; quoit_group_change_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitGroupChange *quoit_ledger_resize (QuoitLedger *ledger, const char *group, int64_t n_slices,
                                                 int64_t now_ms, GError **error);

/**
 * quoit_ledger_repair:
 * @ledger: the handle
 * @group: NAME or NAME@ID
 * @now_ms: the caller's clock, milliseconds since 1970-01-01 UTC
 * @error: (out) (optional): set on failure
 *
 * Replaces each slice that is lost or leaving, all of them or none, with the smallest change: by what stands in its own
 * place where that is whole again (a replaced host, another incarnation of the slice), else by another slice as the
 * group's request asks for it. The others stay. A group that is whole stays as it is.
 *
 * Of a group of bundles those on nodes that are lost or leaving are placed again, under the same strategy and policy,
 * as Ray does: %QUOIT_STRATEGY_STRICT_SPREAD keeps away from the nodes of those that stay, and the value of a topology
 * label is theirs. Where all bundles of a value are lost, another value may be chosen.
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND when no group bears the name, %QUOIT_ERROR_CONFLICT when the id is not
 * that of the group that bears it now or the group belongs to a source, %QUOIT_ERROR_EXPIRED when its lease has ended:
 * ask for slices again, %QUOIT_ERROR_INVALID when @group is neither NAME nor NAME@ID; %QUOIT_ERROR_NOT_NOW or
 * %QUOIT_ERROR_NEVER when too few slices are free (quoit_ledger_resize() to fewer), or the bundles find no room. Fails
 * also with what any change can fail with: %QUOIT_ERROR_INVALID for a clock outside the years 2000 to 2199,
 * %QUOIT_ERROR_BUSY when another writer held the database for longer than the handle waits (retry),
 * %QUOIT_ERROR_CANCELLED after quoit_ledger_interrupt(), %QUOIT_ERROR_STORE when the disk refuses (nothing was written;
 * mend it and retry), %QUOIT_ERROR_VERSION when a newer quoit has upgraded the database, %QUOIT_ERROR_DAMAGED when it
 * contradicts itself.
 *
 * Returns: (transfer full): what was and is; quoit_group_change_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitGroupChange *quoit_ledger_repair (QuoitLedger *ledger, const char *group, int64_t now_ms,
                                                 GError **error);

/**
 * quoit_ledger_release_slice:
 * @ledger: the handle
 * @group: NAME or NAME@ID
 * @slice: short or full name (source/pool/name)
 * @now_ms: the caller's clock, milliseconds since 1970-01-01 UTC
 * @error: (out) (optional): set on failure
 *
 * Frees one slice of a group; with its last slice the group goes.
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND when no group bears the name, %QUOIT_ERROR_CONFLICT when the id is not
 * that of the group that bears it now or the group belongs to a source, %QUOIT_ERROR_EXPIRED when its lease has ended:
 * ask for slices again, %QUOIT_ERROR_INVALID when @group is neither NAME nor NAME@ID; %QUOIT_ERROR_NOT_FOUND also when
 * there is no such slice or the group does not have it, %QUOIT_ERROR_INVALID for a group that is not of whole slices.
 * Fails also with what any change can fail with: %QUOIT_ERROR_INVALID for a clock outside the years 2000 to 2199,
 * %QUOIT_ERROR_BUSY when another writer held the database for longer than the handle waits (retry),
 * %QUOIT_ERROR_CANCELLED after quoit_ledger_interrupt(), %QUOIT_ERROR_STORE when the disk refuses (nothing was written;
 * mend it and retry), %QUOIT_ERROR_VERSION when a newer quoit has upgraded the database, %QUOIT_ERROR_DAMAGED when it
 * contradicts itself.
 *
 * Returns: (transfer full): what was and is; quoit_group_change_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitGroupChange *quoit_ledger_release_slice (QuoitLedger *ledger, const char *group, const char *slice,
                                                        int64_t now_ms, GError **error);

/**
 * quoit_fork_resize:
 * @fork: the fork
 * @group: NAME or NAME@ID
 * @n_slices: how many slices it is to have
 * @now_ms: the caller's clock, milliseconds since 1970-01-01 UTC
 * @error: (out) (optional): set on failure
 *
 * As quoit_ledger_resize(), on the fork alone.
 *
 * Returns: (transfer full): what was and is; quoit_group_change_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitGroupChange *quoit_fork_resize (QuoitFork *fork, const char *group, int64_t n_slices, int64_t now_ms,
                                               GError **error);

/**
 * quoit_fork_repair:
 * @fork: the fork
 * @group: NAME or NAME@ID
 * @now_ms: the caller's clock, milliseconds since 1970-01-01 UTC
 * @error: (out) (optional): set on failure
 *
 * As quoit_ledger_repair(), on the fork alone.
 *
 * Returns: (transfer full): what was and is; quoit_group_change_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitGroupChange *quoit_fork_repair (QuoitFork *fork, const char *group, int64_t now_ms, GError **error);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitGroupChange, quoit_group_change_free)

G_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_HOLD_H
#define QUOIT_HOLD_H

#include <quoit/ledger.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * quoit_ledger_hold:
 * @ledger: the handle
 * @request: what is wanted; kept no longer than this call
 * @lease_ms: how long the group lives unless it is confirmed or renewed, from 1 ms
 * @now_ms: the caller's clock, milliseconds since 1970-01-01 UTC
 * @error: (out) (optional): set on failure
 *
 * Places @request as quoit_ledger_reserve() does, for a while: the group is %QUOIT_GROUP_HELD until
 * quoit_ledger_confirm(), and free again when its lease ends, whether or not anybody is there to see it. The first half
 * of a reservation that depends on something else, such as the placement groups of a running cluster.
 *
 * Fails as quoit_ledger_reserve() does; %QUOIT_ERROR_INVALID also for a lease below 1 ms or beyond the year 2199.
 *
 * Returns: (transfer full): the group; quoit_group_unref() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitGroup *quoit_ledger_hold (QuoitLedger *ledger, const QuoitRequest *request, int64_t lease_ms,
                                         int64_t now_ms, GError **error);

/**
 * quoit_fork_hold:
 * @fork: the fork
 * @request: what is wanted
 * @lease_ms: how long the group lives unless it is confirmed or renewed, from 1 ms
 * @now_ms: the caller's clock, milliseconds since 1970-01-01 UTC
 * @error: (out) (optional): set on failure
 *
 * As quoit_ledger_hold(), on the fork alone; fails as it does, but never with what a database causes.
 *
 * Returns: (transfer full): the group; quoit_group_unref() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitGroup *quoit_fork_hold (QuoitFork *fork, const QuoitRequest *request, int64_t lease_ms, int64_t now_ms,
                                       GError **error);

/**
 * quoit_ledger_confirm:
 * @ledger: the handle
 * @group: NAME or NAME@ID
 * @lease_ms: how long it lives from now on unless it is renewed; 0: until it is released
 * @now_ms: the caller's clock, milliseconds since 1970-01-01 UTC
 * @error: (out) (optional): set on failure
 *
 * Makes a held group a reserved one. A group that is reserved already stays as it is: a retry is safe.
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND when no group bears the name, %QUOIT_ERROR_CONFLICT when the id is not
 * that of the group that bears it now or the group belongs to a source, %QUOIT_ERROR_EXPIRED when its lease has ended:
 * ask for slices again, %QUOIT_ERROR_INVALID when @group is neither NAME nor NAME@ID; %QUOIT_ERROR_INVALID also for a
 * lease below 0 or beyond the year 2199. Fails also with what any change can fail with: %QUOIT_ERROR_INVALID for a
 * clock outside the years 2000 to 2199, %QUOIT_ERROR_BUSY when another writer held the database for longer than the
 * handle waits (retry), %QUOIT_ERROR_CANCELLED after quoit_ledger_interrupt(), %QUOIT_ERROR_STORE when the disk refuses
 * (nothing was written; mend it and retry), %QUOIT_ERROR_VERSION when a newer quoit has upgraded the database,
 * %QUOIT_ERROR_DAMAGED when it contradicts itself.
 *
 * Returns: (transfer full): the group; quoit_group_unref() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitGroup *quoit_ledger_confirm (QuoitLedger *ledger, const char *group, int64_t lease_ms, int64_t now_ms,
                                            GError **error);

/**
 * quoit_ledger_renew:
 * @ledger: the handle
 * @group: NAME or NAME@ID
 * @lease_ms: how long it lives from now on, from 1 ms
 * @now_ms: the caller's clock, milliseconds since 1970-01-01 UTC
 * @error: (out) (optional): set on failure
 *
 * Gives a group that has a lease another one, which begins now.
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND when no group bears the name, %QUOIT_ERROR_CONFLICT when the id is not
 * that of the group that bears it now or the group belongs to a source, %QUOIT_ERROR_EXPIRED when its lease has ended:
 * ask for slices again, %QUOIT_ERROR_INVALID when @group is neither NAME nor NAME@ID; %QUOIT_ERROR_CONFLICT also for a
 * group without a lease, %QUOIT_ERROR_INVALID for a lease below 1 ms or beyond the year 2199. Fails also with what any
 * change can fail with: %QUOIT_ERROR_INVALID for a clock outside the years 2000 to 2199, %QUOIT_ERROR_BUSY when another
 * writer held the database for longer than the handle waits (retry), %QUOIT_ERROR_CANCELLED after
 * quoit_ledger_interrupt(), %QUOIT_ERROR_STORE when the disk refuses (nothing was written; mend it and retry),
 * %QUOIT_ERROR_VERSION when a newer quoit has upgraded the database, %QUOIT_ERROR_DAMAGED when it contradicts itself.
 *
 * Returns: (transfer full): the group; quoit_group_unref() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitGroup *quoit_ledger_renew (QuoitLedger *ledger, const char *group, int64_t lease_ms, int64_t now_ms,
                                          GError **error);

/**
 * quoit_ledger_forget:
 * @ledger: the handle
 * @group: NAME@ID
 * @now_ms: the caller's clock, milliseconds since 1970-01-01 UTC
 * @error: (out) (optional): set on failure
 *
 * Drops what is kept of a group that is gone: its request key may be used again, and a late confirm of it is a conflict
 * rather than told that its lease has ended.
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND when nothing is kept, %QUOIT_ERROR_CONFLICT when the group is not gone (release
 * it), %QUOIT_ERROR_INVALID without an id. Fails also with what any change can fail with: %QUOIT_ERROR_INVALID for a
 * clock outside the years 2000 to 2199, %QUOIT_ERROR_BUSY when another writer held the database for longer than the
 * handle waits (retry), %QUOIT_ERROR_CANCELLED after quoit_ledger_interrupt(), %QUOIT_ERROR_STORE when the disk refuses
 * (nothing was written; mend it and retry), %QUOIT_ERROR_VERSION when a newer quoit has upgraded the database,
 * %QUOIT_ERROR_DAMAGED when it contradicts itself.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_forget (QuoitLedger *ledger, const char *group, int64_t now_ms, GError **error);

/**
 * quoit_ledger_forget_key:
 * @ledger: the handle
 * @key: a request key
 * @now_ms: the caller's clock, milliseconds since 1970-01-01 UTC
 * @error: (out) (optional): set on failure
 *
 * quoit_ledger_forget() of the group that the key names. Fails as it does.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_forget_key (QuoitLedger *ledger, const char *key, int64_t now_ms, GError **error);

/**
 * quoit_ledger_set_owner:
 * @ledger: the handle
 * @owner: the name that requests give as theirs; text as of a group name
 * @lease_ms: how long the owner lives unless it is renewed; 0: until quoit_ledger_end_owner()
 * @now_ms: the caller's clock, milliseconds since 1970-01-01 UTC
 * @error: (out) (optional): set on failure
 *
 * Makes an owner known, or gives one that is known another lease. When its lease ends, all that is held in its name is
 * free, groups with and without a lease alike, and requests in its name are %QUOIT_ERROR_EXPIRED until it is set again.
 * An owner need not be set to be given in a request: without that it has no lease.
 *
 * Fails with %QUOIT_ERROR_INVALID for a name that is none, a lease below 0 or beyond the year 2199. Fails also with
 * what any change can fail with: %QUOIT_ERROR_INVALID for a clock outside the years 2000 to 2199, %QUOIT_ERROR_BUSY
 * when another writer held the database for longer than the handle waits (retry), %QUOIT_ERROR_CANCELLED after
 * quoit_ledger_interrupt(), %QUOIT_ERROR_STORE when the disk refuses (nothing was written; mend it and retry),
 * %QUOIT_ERROR_VERSION when a newer quoit has upgraded the database, %QUOIT_ERROR_DAMAGED when it contradicts itself.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_set_owner (QuoitLedger *ledger, const char *owner, int64_t lease_ms, int64_t now_ms,
                                       GError **error);

/**
 * quoit_ledger_renew_owner:
 * @ledger: the handle
 * @owner: its name
 * @lease_ms: how long it lives from now on, from 1 ms
 * @now_ms: the caller's clock, milliseconds since 1970-01-01 UTC
 * @error: (out) (optional): set on failure
 *
 * The sign of life of an owner that has a lease.
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND for an owner that was never set, %QUOIT_ERROR_EXPIRED after the end of its lease
 * (what it held is free: quoit_ledger_set_owner() begins anew), %QUOIT_ERROR_CONFLICT when it has no lease,
 * %QUOIT_ERROR_INVALID as quoit_ledger_set_owner(). Fails also with what any
 * change can fail with: %QUOIT_ERROR_INVALID for a clock outside the years 2000 to 2199, %QUOIT_ERROR_BUSY when another
 * writer held the database for longer than the handle waits (retry), %QUOIT_ERROR_CANCELLED after
 * quoit_ledger_interrupt(), %QUOIT_ERROR_STORE when the disk refuses (nothing was written; mend it and retry),
 * %QUOIT_ERROR_VERSION when a newer quoit has upgraded the database, %QUOIT_ERROR_DAMAGED when it contradicts itself.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_renew_owner (QuoitLedger *ledger, const char *owner, int64_t lease_ms, int64_t now_ms,
                                         GError **error);

/**
 * quoit_ledger_end_owner:
 * @ledger: the handle
 * @owner: its name
 * @now_ms: the caller's clock, milliseconds since 1970-01-01 UTC
 * @n_groups: (out) (optional): how many groups were freed
 * @error: (out) (optional): set on failure
 *
 * Frees all that is held in the owner's name, and forgets the owner; in one transaction. One that was never set ends
 * too, when something is held in its name.
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND when it was never set and has nothing, %QUOIT_ERROR_EXPIRED when its lease has
 * ended already. Fails also with what any change can fail with: %QUOIT_ERROR_INVALID for a clock outside the years 2000
 * to 2199, %QUOIT_ERROR_BUSY when another writer held the database for longer than the handle waits (retry),
 * %QUOIT_ERROR_CANCELLED after quoit_ledger_interrupt(), %QUOIT_ERROR_STORE when the disk refuses (nothing was written;
 * mend it and retry), %QUOIT_ERROR_VERSION when a newer quoit has upgraded the database, %QUOIT_ERROR_DAMAGED when it
 * contradicts itself.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_end_owner (QuoitLedger *ledger, const char *owner, int64_t now_ms, uint32_t *n_groups,
                                       GError **error);

/**
 * quoit_snapshot_get_n_owners:
 * @snapshot: the snapshot
 *
 * Returns: how many owners are set
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_snapshot_get_n_owners (const QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_get_owner_name:
 * @snapshot: the snapshot
 * @owner: below quoit_snapshot_get_n_owners(); they stand in the order in which they were set
 *
 * Returns: (transfer none): the name
 * Since: 0.1
 */
QUOIT_API const char *quoit_snapshot_get_owner_name (const QuoitSnapshot *snapshot, uint32_t owner);

/**
 * quoit_snapshot_get_owner_since_ms:
 * @snapshot: the snapshot
 * @owner: below quoit_snapshot_get_n_owners()
 *
 * Returns: when it was set, milliseconds since 1970-01-01 UTC
 * Since: 0.1
 */
QUOIT_API int64_t quoit_snapshot_get_owner_since_ms (const QuoitSnapshot *snapshot, uint32_t owner);

/**
 * quoit_snapshot_get_owner_until_ms:
 * @snapshot: the snapshot
 * @owner: below quoit_snapshot_get_n_owners()
 *
 * Returns: when its lease ends, milliseconds since 1970-01-01 UTC; 0: it has none
 * Since: 0.1
 */
QUOIT_API int64_t quoit_snapshot_get_owner_until_ms (const QuoitSnapshot *snapshot, uint32_t owner);

/**
 * quoit_snapshot_count_owner_groups:
 * @snapshot: the snapshot
 * @owner: below quoit_snapshot_get_n_owners()
 *
 * Returns: how many groups are held in its name
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_snapshot_count_owner_groups (const QuoitSnapshot *snapshot, uint32_t owner);

/* cdef-end */

G_END_DECLS

#endif

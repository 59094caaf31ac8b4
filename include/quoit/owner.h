/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_OWNER_H
#define QUOIT_OWNER_H

#include <stdbool.h>

#include <quoit/fork.h>
#include <quoit/ledger.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * quoit_ledger_set_owner:
 * @owner: the name of the owner, as in quoit_request_set_owner(); the same characters as in group names
 * @lease_ms: how long the owner lives unless it is renewed; 0: until quoit_ledger_end_owner()
 * @now_ms: the caller's clock
 *
 * Registers an owner, or replaces the lease of a registered one. When the lease ends, all groups of the owner are
 * freed, with or without a lease of their own, and requests that name the owner fail with %QUOIT_ERROR_EXPIRED until it
 * is set again. A request can also name an owner that was never set; such an owner has no lease.
 *
 * Fails with %QUOIT_ERROR_INVALID for a name that is not valid, and for a lease below 0 or beyond the year 2199. See
 * also "Errors of changes" of #QuoitLedger.
 */
QUOIT_API bool quoit_ledger_set_owner (QuoitLedger *ledger, const char *owner, int64_t lease_ms, int64_t now_ms,
                                       GError **error);

/**
 * quoit_ledger_renew_owner:
 * @owner: the name of the owner
 * @lease_ms: how long the owner lives from now on, from 1 ms
 * @now_ms: the caller's clock
 *
 * Renews an owner's lease (a heartbeat).
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND for an owner that was never set, %QUOIT_ERROR_EXPIRED if its lease has ended and
 * its groups are free (quoit_ledger_set_owner() starts a new one), %QUOIT_ERROR_CONFLICT if it has no lease, and
 * %QUOIT_ERROR_INVALID like quoit_ledger_set_owner(). See also "Errors of changes" of #QuoitLedger.
 */
QUOIT_API bool quoit_ledger_renew_owner (QuoitLedger *ledger, const char *owner, int64_t lease_ms, int64_t now_ms,
                                         GError **error);

/**
 * quoit_ledger_end_owner:
 * @owner: the name of the owner
 * @now_ms: the caller's clock
 * @n_groups: (out) (optional): how many groups were freed
 *
 * Frees all groups of an owner and removes the owner, in one transaction. It also ends an owner that was never set but
 * has groups.
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND if the owner was never set and has no groups, and %QUOIT_ERROR_EXPIRED if its lease
 * has already ended. See also "Errors of changes" of #QuoitLedger.
 */
QUOIT_API bool quoit_ledger_end_owner (QuoitLedger *ledger, const char *owner, int64_t now_ms, uint32_t *n_groups,
                                       GError **error);

/**
 * quoit_fork_set_owner:
 * @owner: name of the owner
 * @lease_ms: length of the lease in milliseconds; 0: no lease
 * @now_ms: the caller's clock
 *
 * Like quoit_ledger_set_owner(), on the fork only.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_fork_set_owner (QuoitFork *fork, const char *owner, int64_t lease_ms, int64_t now_ms,
                                     GError **error);

/**
 * quoit_fork_renew_owner:
 * @owner: name of the owner
 * @lease_ms: length of the new lease in milliseconds, from 1
 * @now_ms: the caller's clock
 *
 * Like quoit_ledger_renew_owner(), on the fork only.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_fork_renew_owner (QuoitFork *fork, const char *owner, int64_t lease_ms, int64_t now_ms,
                                       GError **error);

/**
 * quoit_fork_end_owner:
 * @owner: name of the owner
 * @now_ms: the caller's clock
 * @n_groups: (out) (optional): set to the number of groups that were released
 *
 * Like quoit_ledger_end_owner(), on the fork only.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_fork_end_owner (QuoitFork *fork, const char *owner, int64_t now_ms, uint32_t *n_groups,
                                     GError **error);

/* cdef-end */

G_END_DECLS

#endif

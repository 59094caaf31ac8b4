/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_QUOTA_H
#define QUOIT_QUOTA_H

#include <stdbool.h>

#include <quoit/fork.h>
#include <quoit/ledger.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * quoit_ledger_set_quota:
 * @name: the name of the quota, under the rules of group names
 * @label: (nullable): the key of a label: the quota counts the groups that have this label with @value. %NULL: the
 * quota counts the groups of the owner @value
 * @value: the value of the label, or the name of the owner
 * @accelerator: (nullable): the quota counts chips of this TPU generation only; %NULL: all chips
 * @topology: (nullable): the quota counts chips of slices of this topology only. Needs @accelerator. %NULL: any
 * topology
 * @nominal_chips: how many chips its groups can always use; 0 to 1,000,000,000
 * @max_chips: how many chips its groups can use with what they borrow from the cohort, at least @nominal_chips; -1: no
 *   limit but that of the cohort
 * @cohort: (nullable): the quotas of one cohort and one class lend each other what they do not use; %NULL: the quota
 *   neither lends nor borrows
 * @now_ms: the caller's clock
 *
 * Sets a quota: how many chips some groups may use together. If there is a quota of that name, it is replaced. Setting
 * the same quota again changes nothing.
 *
 * A group counts with the chips of its slices or bundles from the time it is made until it ends: while it is held or
 * reserved, while it has lost nodes, and while it is a reservation ahead. Groups of sources have no owner and no
 * labels, so no quota counts them. A group can count for several quotas; all of them must admit it.
 *
 * A quota admits a request if the chips in use, with those of the request, are
 *
 * - at most its nominal chips, or
 * - at most its maximum, and the chips that the cohort uses, with those of the request, are at most the sum of the
 *   nominal chips of the cohort. The part over the nominal chips is borrowed.
 *
 * The cohort of a quota consists of the quotas with the same @cohort, @accelerator and @topology. Cohorts are flat:
 * they belong to no other cohort, so that no cycle can occur.
 *
 * quoit_ledger_reserve(), quoit_ledger_hold(), quoit_ledger_reserve_at() and quoit_ledger_resize() refuse what a quota
 * does not admit, with %QUOIT_ERROR_NOT_NOW, or with %QUOIT_ERROR_NEVER if the quota would not admit it even if all
 * groups ended. The report then has a reason of %QUOIT_CONSTRAINT_QUOTA. A request for a range of slices gets as many
 * as the quotas admit. quoit_ledger_set_labels() and quoit_ledger_commit_fork() fail with %QUOIT_ERROR_CONFLICT.
 * quoit_ledger_repair() and imports are not limited. For bundles, a quota for one class counts where they would be
 * placed; it does not make them be placed elsewhere.
 *
 * A quota never ends a group. If it is set below what its groups use, they keep what they have, and get nothing more.
 *
 * Fails with:
 *
 * - %QUOIT_ERROR_CONFLICT: another quota is for the same groups and the same class.
 * - %QUOIT_ERROR_INVALID: a name, label, number or class is not valid, @topology is set without @accelerator, or
 *   @max_chips is more than @nominal_chips without a @cohort.
 *
 * See also "Errors of changes" of #QuoitLedger.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_set_quota (QuoitLedger *ledger, const char *name, const char *label, const char *value,
                                       const char *accelerator, const char *topology, int64_t nominal_chips,
                                       int64_t max_chips, const char *cohort, int64_t now_ms, GError **error);

/**
 * quoit_fork_set_quota:
 * @name: the name of the quota
 * @label: (nullable): the key of a label; %NULL: @value is an owner
 * @value: the value of the label, or the name of the owner
 * @accelerator: (nullable): a TPU generation; %NULL: any
 * @topology: (nullable): a topology of it; %NULL: any
 * @nominal_chips: the nominal chips
 * @max_chips: the maximum; -1: no limit but that of the cohort
 * @cohort: (nullable): the cohort; %NULL: none
 * @now_ms: the caller's clock
 *
 * Like quoit_ledger_set_quota(), on the fork only.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_fork_set_quota (QuoitFork *fork, const char *name, const char *label, const char *value,
                                     const char *accelerator, const char *topology, int64_t nominal_chips,
                                     int64_t max_chips, const char *cohort, int64_t now_ms, GError **error);

/**
 * quoit_ledger_remove_quota:
 * @name: the name of a quota
 * @now_ms: the caller's clock
 *
 * Removes a quota. What it lent is no longer in its cohort: others keep what they have borrowed, and get nothing more
 * until that fits again.
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND if there is no quota of that name. See also "Errors of changes" of #QuoitLedger.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_remove_quota (QuoitLedger *ledger, const char *name, int64_t now_ms, GError **error);

/**
 * quoit_fork_remove_quota:
 * @name: the name of a quota
 * @now_ms: the caller's clock
 *
 * Like quoit_ledger_remove_quota(), on the fork only.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_fork_remove_quota (QuoitFork *fork, const char *name, int64_t now_ms, GError **error);

/**
 * quoit_snapshot_get_n_quotas:
 *
 * Returns: the number of quotas
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_snapshot_get_n_quotas (const QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_get_quota_name:
 * @quota: below quoit_snapshot_get_n_quotas(); quotas are in natural order of their names
 *
 * Returns: (transfer none): the name
 *
 * Since: 0.1
 */
QUOIT_API const char *quoit_snapshot_get_quota_name (const QuoitSnapshot *snapshot, uint32_t quota);

/**
 * quoit_snapshot_get_quota_label:
 * @quota: below quoit_snapshot_get_n_quotas()
 *
 * Returns: (transfer none) (nullable): the key of the label that the groups of the quota have; %NULL: the quota is for
 *   the groups of an owner
 *
 * Since: 0.1
 */
QUOIT_API const char *quoit_snapshot_get_quota_label (const QuoitSnapshot *snapshot, uint32_t quota);

/**
 * quoit_snapshot_get_quota_value:
 * @quota: below quoit_snapshot_get_n_quotas()
 *
 * Returns: (transfer none): the value of the label, or the name of the owner
 *
 * Since: 0.1
 */
QUOIT_API const char *quoit_snapshot_get_quota_value (const QuoitSnapshot *snapshot, uint32_t quota);

/**
 * quoit_snapshot_get_quota_accelerator:
 * @quota: below quoit_snapshot_get_n_quotas()
 *
 * Returns: (transfer none) (nullable): the name of the TPU generation in the catalogue, such as "v5e"; %NULL: any
 *
 * Since: 0.1
 */
QUOIT_API const char *quoit_snapshot_get_quota_accelerator (const QuoitSnapshot *snapshot, uint32_t quota);

/**
 * quoit_snapshot_get_quota_topology:
 * @quota: below quoit_snapshot_get_n_quotas()
 *
 * Returns: (transfer none) (nullable): the topology; %NULL: any
 *
 * Since: 0.1
 */
QUOIT_API const char *quoit_snapshot_get_quota_topology (const QuoitSnapshot *snapshot, uint32_t quota);

/**
 * quoit_snapshot_get_quota_nominal_chips:
 * @quota: below quoit_snapshot_get_n_quotas()
 *
 * Returns: the nominal chips
 *
 * Since: 0.1
 */
QUOIT_API int64_t quoit_snapshot_get_quota_nominal_chips (const QuoitSnapshot *snapshot, uint32_t quota);

/**
 * quoit_snapshot_get_quota_max_chips:
 * @quota: below quoit_snapshot_get_n_quotas()
 *
 * Returns: the maximum, with what can be borrowed; -1: no limit but that of the cohort
 *
 * Since: 0.1
 */
QUOIT_API int64_t quoit_snapshot_get_quota_max_chips (const QuoitSnapshot *snapshot, uint32_t quota);

/**
 * quoit_snapshot_get_quota_cohort:
 * @quota: below quoit_snapshot_get_n_quotas()
 *
 * Returns: (transfer none) (nullable): the cohort; %NULL: none
 *
 * Since: 0.1
 */
QUOIT_API const char *quoit_snapshot_get_quota_cohort (const QuoitSnapshot *snapshot, uint32_t quota);

/**
 * quoit_snapshot_get_quota_used:
 * @quota: below quoit_snapshot_get_n_quotas()
 *
 * Returns: the chips that the groups of the quota use
 *
 * Since: 0.1
 */
QUOIT_API QuoitAmount quoit_snapshot_get_quota_used (const QuoitSnapshot *snapshot, uint32_t quota);

/**
 * quoit_snapshot_get_quota_borrowed:
 * @quota: below quoit_snapshot_get_n_quotas()
 *
 * Returns: the part of the used chips that is over the nominal ones; 0 if there is none
 *
 * Since: 0.1
 */
QUOIT_API QuoitAmount quoit_snapshot_get_quota_borrowed (const QuoitSnapshot *snapshot, uint32_t quota);

/* cdef-end */

G_END_DECLS

#endif

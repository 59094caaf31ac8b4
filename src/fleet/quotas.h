/* SPDX-License-Identifier: Apache-2.0 */
/* The quotas of a fleet, and the chips that they count, so that a decision visits no groups. It visits only the quotas
 * of one request or group, which are found by owner and labels.
 *
 * Quotas with one cohort and one class share what they do not use. Cohorts are flat: a cohort belongs to no other one,
 * so that borrowing cannot form a cycle. Each quota is in one cohort: without a cohort of its own name, it is alone in
 * one.
 *
 * QuoitQuotas can be copied, to count groups that are only assumed. In all functions, a NULL table has no quotas. */
#pragma once

#include "fleet/quota.h"

enum { QUOIT_MAX_QUOTAS = 10000 }; /* of one ledger */

typedef struct {
  guint32 slot;        /* of the record */
  guint32 cohort;      /* its number, which another change of the quotas can change */
  guint32 target_hash; /* of the owner or the label */
  guint32 cohort_hash; /* 0: no cohort */
  QuoitQuota *quota;
} QuoitQuotaRow;

/* Returns the number of quotas. They are in natural order of their names. */
guint quoit_quotas_n (const QuoitQuotas *quotas);
const QuoitQuotaRow *quoit_quotas_row (const QuoitQuotas *quotas, guint i);
/* Returns the quota itself. */
const QuoitQuota *quoit_quotas_at (const QuoitQuotas *quotas, guint i);
/* Returns the number of cohorts. */
guint quoit_quotas_n_cohorts (const QuoitQuotas *quotas);

/* Iterates over the quotas that count groups of an owner with some labels, of any class. The order depends on the
 * quotas only, and is not that of their indices. */
typedef struct {
  const struct _QuoitQuotaList *list;
  const QuoitLabel *labels;
  guint n_labels, n_done;    /* labels; those that were looked up */
  const char *label, *value; /* the target that is looked up: like those of QuoitQuota */
  guint32 hash, at;
} QuoitQuotaMatches;

QuoitQuotaMatches quoit_quotas_match (const QuoitQuotas *quotas, const char *owner, const QuoitLabel *labels,
                                      guint n_labels);
gboolean quoit_quota_matches_next (QuoitQuotaMatches *matches, guint *i);

/* --- chips, in ten-thousandths --- */

gint64 quoit_quotas_used_e4 (const QuoitQuotas *quotas, guint i);
/* Return the sums of all quotas in the cohort of quota @i. */
gint64 quoit_quotas_cohort_nominal_e4 (const QuoitQuotas *quotas, guint i);
gint64 quoit_quotas_cohort_used_e4 (const QuoitQuotas *quotas, guint i);
/* Returns how many more chips quota @i admits if it uses @used_e4 fewer, and its cohort @cohort_used_e4 fewer. It
 * admits what its nominal chips leave. With a cohort it also admits what the nominal chips of the cohort leave, up to
 * its own maximum. Negative if a quota that was lowered counts more than it would admit. */
gint64 quoit_quotas_room_without_e4 (const QuoitQuotas *quotas, guint i, gint64 used_e4, gint64 cohort_used_e4);
/* The same with all that is used. */
gint64 quoit_quotas_room_e4 (const QuoitQuotas *quotas, guint i);
/* Returns how many chips quota @i would admit if no quota counted any. */
gint64 quoit_quotas_limit_e4 (const QuoitQuotas *quotas, guint i);

/* Returns a table with the same quotas and chips. NULL for NULL. */
QuoitQuotas *quoit_quotas_copy (const QuoitQuotas *quotas);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitQuotas, quoit_quotas_unref)
/* Changes what quota @i of a copy counts. */
void quoit_quotas_add_chips (QuoitQuotas *quotas, guint i, gint64 chips_e4);
/* Adds @times what the quotas of a copy count of the group. */
void quoit_quotas_add_group (QuoitQuotas *quotas, const QuoitLayout *layout, const QuoitGroupData *group, gint times);

/* --- changes of a fleet: the caller must have the only reference to the fleet --- */

/* Makes @fleet have the quotas of @from, and the chips that they count there. */
void quoit_fleet_share_quotas (QuoitFleet *fleet, const QuoitFleet *from);
/* Removes all quotas from a fork on which they must not decide. */
void quoit_fleet_drop_quotas (QuoitFleet *fleet);

/* Checks that the fleet can have @quota, which replaces that of its name: fails with CONFLICT if another quota has the
 * same scope, because chips would count twice in a cohort, and with INVALID if there would be too many quotas. */
gboolean quoit_fleet_check_quota (const QuoitFleet *fleet, const QuoitQuota *quota, GError **error);
/* The same for a new or changed record. Other records pass. */
gboolean quoit_fleet_check_quota_record (const QuoitFleet *fleet, const QuoitGroupData *record, GError **error);

/* Updates the quotas when a record changes. @before or @after is NULL for a record that is added or removed; @slot is
 * that of the record. */
void quoit_fleet_quotas_change (QuoitFleet *fleet, guint32 slot, const QuoitGroupData *before,
                                const QuoitGroupData *after);
/* Counts again after a change of the layout. */
void quoit_fleet_quotas_recount (QuoitFleet *fleet);
/* Finds the quotas among all records, and counts. Fails with CONFLICT like quoit_fleet_check_quota(). */
gboolean quoit_fleet_quotas_rebuild (QuoitFleet *fleet, GError **error);

/* Like quoit_fleet_quotas_change(), for all fleets: does nothing at the cost of a test if there are no quotas. */
static inline void
quoit_fleet_update_quotas (QuoitFleet *fleet, guint32 slot, const QuoitGroupData *before, const QuoitGroupData *after)
{
  if (G_UNLIKELY (fleet->quotas != NULL || (after != NULL && after->kind == QUOIT_RECORD_QUOTA)))
    quoit_fleet_quotas_change (fleet, slot, before, after);
}

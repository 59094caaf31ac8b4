/* SPDX-License-Identifier: Apache-2.0 */
/* Quotas: how many chips the groups of an owner, or those with a label, may use. A quota is a record without nodes. Its
 * request is text such as "nominal=8/max=16/accelerator=v6e/cohort=research/owner=ana".
 *
 * The fleet keeps the chips that each quota counts, so that a decision visits quotas and not groups. A group counts
 * with the chips of its slices, or of its bundles, from the time it is made until it ends: while it is held or
 * reserved, and also while it lies ahead or has lost nodes. Groups of sources have no owner and no labels, so no quota
 * counts them.
 *
 * Quotas with one cohort and one class share what they do not use. Cohorts are flat: a cohort belongs to no other one,
 * so that borrowing cannot form a cycle. */
#pragma once

#include "fleet/fleet.h"

typedef struct {
  const char *name;
  const char *label;          /* the key of a label; NULL: `value` is an owner */
  const char *value;          /* of the label, or the name of the owner */
  QuoitGeneration generation; /* NONE: any */
  QuoitShape shape;           /* n_dims 0: any */
  gint64 nominal, most;       /* chips; most -1: limited by the cohort only */
  const char *cohort;         /* NULL: none */
} QuoitQuota;

/* More chips than any fleet has. Sums of quotas cannot overflow. */
enum {
  QUOIT_MAX_QUOTA_CHIPS = 1000000000,
  QUOIT_MAX_QUOTAS = 10000 /* of one ledger, because every change of a group visits them */
};

typedef struct {
  guint32 slot;      /* of the record */
  QuoitQuota *quota; /* shared, immutable */
  char *topology;    /* text of its shape; owned by the quota; NULL: any */
  gint64 used_e4;    /* chips of the groups that it counts */
} QuoitQuotaRow;

/* Returns the quota as the request of a record. The caller owns it. */
char *quoit_quota_format (const QuoitQuota *quota);
/* Returns whether the text is one that quoit_quota_format() makes. */
gboolean quoit_quota_is_valid (const char *request);

char *quoit_quota_record_name (const char *quota);
const char *quoit_quota_record_quota (const QuoitGroupData *record);

/* Returns the number of quotas. They are in natural order of their names. */
guint quoit_fleet_n_quotas (const QuoitFleet *fleet);
const QuoitQuotaRow *quoit_fleet_quota_at (const QuoitFleet *fleet, guint i);

/* Returns whether the quota counts groups of this owner with these labels. */
gboolean quoit_quota_applies (const QuoitQuota *quota, const char *owner, const QuoitLabel *labels, guint n_labels);
/* Returns whether the quota counts chips of this class. */
static inline gboolean
quoit_quota_has_class (const QuoitQuota *quota, QuoitGeneration generation, QuoitShape shape)
{
  return (quota->generation == QUOIT_GENERATION_NONE || quota->generation == generation)
         && (quota->shape.n_dims == 0 || quoit_shape_equal (quota->shape, shape));
}
/* The same for a node. */
gboolean quoit_quota_has_node (const QuoitQuota *quota, const QuoitLayout *layout, QuoitNodeId node);
/* Returns the chips of @group that the quota counts, in ten-thousandths; 0 for records that are not live groups. */
gint64 quoit_quota_count (const QuoitQuota *quota, const QuoitLayout *layout, const QuoitGroupData *group);
/* Returns whether both quotas lend each other what they do not use. A quota shares with itself. */
gboolean quoit_quota_shares (const QuoitQuota *a, const QuoitQuota *b);

/* The chips of a cohort, in ten-thousandths: those of the quotas that share with one of them. */
typedef struct {
  gint64 nominal_e4, used_e4;
} QuoitCohortSums;

QuoitCohortSums quoit_fleet_quota_cohort (const QuoitFleet *fleet, guint i);

/* Returns how many more chips a quota admits that counts @used_e4. It admits what its nominal chips leave. With a
 * cohort it also admits what the nominal chips of the cohort leave, up to its own maximum. Negative if a quota that was
 * lowered counts more than it would admit. */
gint64 quoit_quota_room (const QuoitQuota *quota, gint64 used_e4, QuoitCohortSums cohort);
gint64 quoit_fleet_quota_room (const QuoitFleet *fleet, guint i);
/* Returns how many chips the quota would admit if no quota counted any. */
gint64 quoit_fleet_quota_limit (const QuoitFleet *fleet, guint i);

/* --- changes: the caller must have the only reference --- */

/* Makes @fleet have the quotas of @from, and the chips that they count there. */
void quoit_fleet_share_quotas (QuoitFleet *fleet, const QuoitFleet *from);
/* Removes all quotas from a fork on which they must not decide. */
void quoit_fleet_drop_quotas (QuoitFleet *fleet);

/* Updates the quotas when a record changes. @before or @after is NULL for a record that is added or removed; @slot is
 * that of the record. */
void quoit_fleet_quotas_change (QuoitFleet *fleet, guint32 slot, const QuoitGroupData *before,
                                const QuoitGroupData *after);
/* Counts again after a change of the layout. */
void quoit_fleet_quotas_recount (QuoitFleet *fleet);

/* Like quoit_fleet_quotas_change(), for all fleets: does nothing at the cost of a test if there are no quotas. */
static inline void
quoit_fleet_update_quotas (QuoitFleet *fleet, guint32 slot, const QuoitGroupData *before, const QuoitGroupData *after)
{
  if (G_UNLIKELY (fleet->quotas != NULL || (after != NULL && after->kind == QUOIT_RECORD_QUOTA)))
    quoit_fleet_quotas_change (fleet, slot, before, after);
}

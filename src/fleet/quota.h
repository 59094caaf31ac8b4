/* SPDX-License-Identifier: Apache-2.0 */
/* One quota: how many chips the groups of an owner, or those with a label, may use together. A quota is a record
 * without nodes. Its request is text such as "nominal=8/max=16/accelerator=v6e/cohort=research/owner=ana".
 *
 * A group counts with the chips of its slices, or of its bundles, from the time it is made until it ends: while it is
 * held or reserved, and also while it lies ahead or has lost nodes. Groups of sources have no owner and no labels, so
 * no quota counts them. fleet/quotas.h has the quotas of a fleet, and what they count together. */
#pragma once

#include "fleet/fleet.h"

typedef struct {
  const char *name;
  const char *label;          /* the key of a label; NULL: `value` is an owner */
  const char *value;          /* of the label, or the name of the owner */
  QuoitGeneration generation; /* NONE: any */
  QuoitShape shape;           /* n_dims 0: any */
  const char *topology;       /* its text, if the quota was parsed; NULL: any */
  gint64 nominal, most;       /* chips; most -1: limited by the cohort only */
  const char *cohort;         /* NULL: none */
} QuoitQuota;

/* More chips than any fleet has. Sums of quotas cannot overflow. */
enum { QUOIT_MAX_QUOTA_CHIPS = 1000000000 };

/* Returns the quota as the request of a record. The caller owns it. */
char *quoit_quota_format (const QuoitQuota *quota);
/* Returns the quota of a record, immutable and with a reference count. Returns NULL if @request is not a text that
 * quoit_quota_format() makes. */
QuoitQuota *quoit_quota_parse (const char *request, const char *name);
QuoitQuota *quoit_quota_ref (QuoitQuota *quota);
void quoit_quota_unref (QuoitQuota *quota);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitQuota, quoit_quota_unref)

char *quoit_quota_record_name (const char *quota);
const char *quoit_quota_record_quota (const QuoitGroupData *record);

/* Returns whether both quotas count chips of the same class. */
gboolean quoit_quota_same_class (const QuoitQuota *a, const QuoitQuota *b);

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

/* Returns the chips of @group that the quota counts, in ten-thousandths; 0 for records that are not live groups of
 * callers. */
gint64 quoit_quota_count (const QuoitQuota *quota, const QuoitLayout *layout, const QuoitGroupData *group);

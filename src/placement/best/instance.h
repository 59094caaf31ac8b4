/* SPDX-License-Identifier: Apache-2.0 */
/* An instance: the bins of a subproblem, sorted for a search. Equivalent bins and equivalent slices are next to each
 * other, so that the search needs to try only one of them. */
#pragma once

#include "placement/best/subproblem.h"

/* Bins of one group and one bin class. They are equivalent, and are opened in order. */
typedef struct {
  guint32 group, bin_class;
  guint32 first, n; /* index in bins of the instance */
} QuoitBestRun;

/* The bins of one slice, or all bins that are in no slice. */
typedef struct {
  guint32 group_class;
  guint32 first_run, n_runs;
  guint32 n_bins, first_bin; /* first_bin: the lowest bin of the subproblem in this group */
  gboolean is_slice;         /* FALSE for the group of bins in no slice */
  /* Volumes are fractions of the total request, summed over resources: what the largest bin has, what all bins of
   * that size have, and what all bins have. */
  guint64 largest, largest_bins_volume, volume;
} QuoitBestBinGroup;

/* Groups with equal runs. They are equivalent, and are used in order. */
typedef struct {
  guint32 first, n; /* index in groups */
} QuoitBestGroupClass;

typedef struct {
  guint32 *bins; /* all bins of the subproblem, by run */
  QuoitBestRun *runs;
  QuoitBestBinGroup *groups; /* by group class, the largest first */
  QuoitBestGroupClass *group_classes;
  guint32 n_runs, n_groups, n_group_classes;
  gint64 *requested; /* of each resource: sum over all items */
} QuoitBestInstance;

/* Only strategy PACK considers slices. With other strategies, all bins form one group. */
QuoitBestInstance *quoit_best_instance_new (const QuoitBestSubproblem *subproblem, QuoitStrategy strategy);
void quoit_best_instance_free (QuoitBestInstance *instance);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitBestInstance, quoit_best_instance_free)

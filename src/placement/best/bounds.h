/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds from the sums of single resources. A placement that violates them cannot exist, so no search is needed. */
#pragma once

#include "placement/best/instance.h"

typedef struct {
  const QuoitBestSubproblem *subproblem;
  const QuoitBestInstance *instance;
  guint32 n_resources;
  guint32 n_top;    /* maximum number of bins that a placement uses */
  gint64 *largest;  /* [resource * n_top + i]: amount of the i-th largest bin */
  __int128 *top;    /* [resource * (n_top + 1) + m]: sum of the m largest bins */
  __int128 *all;    /* [resource]: sum of all bins */
  __int128 *groups; /* [group of the instance * n_resources + resource]: sum of its bins */
  guint32 n_slices;
  __int128 *top_slices; /* [resource * (n_slices + 1) + t]: sum of the t largest slices */
} QuoitBestBounds;

QuoitBestBounds *quoit_best_bounds_new (const QuoitBestSubproblem *subproblem, const QuoitBestInstance *instance);
void quoit_best_bounds_free (QuoitBestBounds *bounds);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitBestBounds, quoit_best_bounds_free)

/* Returns a lower bound of the number of bins of a placement, or QUOIT_NO_INDEX if no placement exists. */
guint32 quoit_best_bounds_min_bins (const QuoitBestBounds *bounds);
/* Returns a lower bound of the number of slices of a placement on at least @n_bins bins. */
guint32 quoit_best_bounds_min_slices (const QuoitBestBounds *bounds, guint32 n_bins);

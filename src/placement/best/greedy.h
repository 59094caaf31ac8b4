/* SPDX-License-Identifier: Apache-2.0 */
/* Greedy placements without backtracking. They are fast and often good, but a failure proves nothing. */
#pragma once

#include "placement/best/partial.h"

/* Which of the bins that can take the next item gets it. */
typedef enum {
  QUOIT_BEST_FIT_TIGHT, /* the bin that becomes fullest */
  QUOIT_BEST_FIT_LOOSE  /* the bin that stays emptiest */
} QuoitBestFit;

/* Places one item after the other. @order has the class indices. */
gboolean quoit_best_greedy_fit (QuoitBestPartial *partial, const QuoitBestLimits *limits, const guint32 *order,
                                QuoitBestFit fit, guint32 *bins);

/* Fills one bin after the other: always the bin that can take the most of the remaining items. */
gboolean quoit_best_greedy_fill (const QuoitBestBounds *bounds, const guint32 *order, guint32 *bins);

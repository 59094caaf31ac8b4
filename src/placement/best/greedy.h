/* SPDX-License-Identifier: Apache-2.0 */
/* Greedy placements without backtracking. They are fast and often good, but a failure proves nothing. */
#pragma once

#include "placement/best/state.h"

/* Which of the nodes that can take the next bundle gets it. */
typedef enum {
  QUOIT_BEST_FIT_TIGHT, /* the node that becomes fullest */
  QUOIT_BEST_FIT_LOOSE  /* the node that stays emptiest */
} QuoitBestFit;

/* Places bundle by bundle, with kinds in @order. */
gboolean quoit_best_greedy_fit (QuoitBestState *state, const QuoitBestLimits *limits, const guint32 *order,
                                QuoitBestFit fit, guint32 *places);

/* Fills node by node, always the node that holds the most of the remaining bundles, with kinds in @order. */
gboolean quoit_best_greedy_fill (const QuoitBestBounds *bounds, const guint32 *order, guint32 *places);

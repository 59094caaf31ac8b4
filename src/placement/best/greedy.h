/* SPDX-License-Identifier: Apache-2.0 */
/* Placements that are made without ever going back: quick, often good, and no proof of anything where they fail. */
#pragma once

#include "placement/best/state.h"

/* What the next bundle goes to, of all nodes that take it. */
typedef enum {
  QUOIT_BEST_FIT_TIGHT, /* that it fills the most */
  QUOIT_BEST_FIT_LOOSE  /* that it fills the least */
} QuoitBestFit;

/* Bundle by bundle, kinds in @order. */
gboolean quoit_best_greedy_fit (QuoitBestState *state, const QuoitBestLimits *limits, const guint32 *order,
                                QuoitBestFit fit, guint32 *places);

/* Node by node: the one that can be filled the most with what is to come, kinds in @order. */
gboolean quoit_best_greedy_fill (const QuoitBestBounds *bounds, const guint32 *order, guint32 *places);

/* SPDX-License-Identifier: Apache-2.0 */
/* Bundle by bundle, every way there is: what policy `best` does where nothing simpler answers. */
#pragma once

#include "placement/best/state.h"

typedef struct _QuoitBestSearch QuoitBestSearch;

/* @strategy PACK fills nodes that are used, then slices that are; SPREAD takes other nodes first. */
QuoitBestSearch *quoit_best_search_new (const QuoitBestCase *it, QuoitStrategy strategy);
void quoit_best_search_free (QuoitBestSearch *search);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitBestSearch, quoit_best_search_free)

const QuoitBestBounds *quoit_best_search_bounds (const QuoitBestSearch *search);

/* Attempts, counted from 0: without ever going back, in several orders of the bundles and by several rules. They cost
 * no budget, and that nothing is found proves nothing. */
guint32 quoit_best_search_attempts (const QuoitBestSearch *search);
gboolean quoit_best_search_try (QuoitBestSearch *search, guint32 attempt, const QuoitBestLimits *limits,
                                guint32 *places);

/* Until a placement is found, there is none, or the budget ends. */
QuoitBestResult quoit_best_search_all (QuoitBestSearch *search, const QuoitBestLimits *limits, guint32 *places);

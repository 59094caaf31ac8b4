/* SPDX-License-Identifier: Apache-2.0 */
/* Exhaustive search, item by item. Policy `best` uses it when no simpler algorithm decides. */
#pragma once

#include "placement/best/partial.h"

typedef struct _QuoitBestSearch QuoitBestSearch;

/* With PACK, the search first tries open bins, then other bins of used slices. With SPREAD, it tries unopened bins
 * first. */
QuoitBestSearch *quoit_best_search_new (const QuoitBestSubproblem *subproblem, QuoitStrategy strategy);
void quoit_best_search_free (QuoitBestSearch *search);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitBestSearch, quoit_best_search_free)

const QuoitBestBounds *quoit_best_search_bounds (const QuoitBestSearch *search);

/* Greedy attempts, numbered from 0: several rules, each with several orders of the item classes. They use no budget.
 * A failed attempt proves nothing. */
guint32 quoit_best_search_attempts (const QuoitBestSearch *search);
gboolean quoit_best_search_try (QuoitBestSearch *search, guint32 attempt, const QuoitBestLimits *limits, guint32 *bins);

/* Searches until a placement is found, no placement is proven, or the budget ends. */
QuoitBestResult quoit_best_search_all (QuoitBestSearch *search, const QuoitBestLimits *limits, guint32 *bins);

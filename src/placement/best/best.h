/* SPDX-License-Identifier: Apache-2.0 */
/* Policy `best`: finds a placement of bundles on nodes whenever one exists. The input is the same rows of numbers
 * that the model of Ray's scheduler reads. */
#pragma once

#include "models/ray/scheduler/rows.h"

typedef enum {
  QUOIT_BEST_FOUND = 0,
  QUOIT_BEST_NONE = 1,  /* proven: no placement exists */
  QUOIT_BEST_BUDGET = 2 /* the budget ended before a result was known */
} QuoitBestResult;

/* Finds a placement if one exists, and prefers the best one for the strategy. PACK minimizes the number of nodes,
 * then of slices. SPREAD minimizes the largest number of bundles on a node. @budget is a number of search steps; the
 * call subtracts the steps that it takes. If the budget ends after a placement was found, the call returns that
 * placement with *@proven FALSE, because a better one may exist. *@proven is also FALSE if several values of the
 * topology label share slices, because PACK may then not use the fewest slices.
 *
 * With any budget, the result is a placement whenever Ray's algorithm finds one that the chips allow, and it is not
 * worse than Ray's. These cases never need the budget, because they are solved in polynomial time: STRICT_PACK of
 * whole chips, STRICT_SPREAD, bundles with equal amounts (for PACK with equal filters; with different ones, only
 * whether a placement exists), and one bundle per node. @nodes is written only with FOUND. *@proven is always
 * written: TRUE with NONE and FALSE with BUDGET. */
QuoitBestResult quoit_best_place (const QuoitBundles *bundles, const QuoitView *view, const QuoitPlacementRules *rules,
                                  guint64 *budget, gboolean *proven, guint32 *nodes);

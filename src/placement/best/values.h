/* SPDX-License-Identifier: Apache-2.0 */
/* The topology label: the bundles are divided evenly, in order, into shares, and each share is placed on nodes with a
 * different value of the label. */
#pragma once

#include "placement/best/subproblem.h"

/* Solves a subproblem by the strategy of @rules. */
void quoit_best_solve (const QuoitBestSubproblem *subproblem, const QuoitPlacementRules *rules,
                       QuoitBestSolution *solution);

/* Converts the bins of a solution to the nodes of the bundles from @first on. @bin_nodes has the node of each bin.
 * Equal bundles get nodes in ascending order. */
void quoit_best_write_nodes (const QuoitBestSubproblem *subproblem, const guint32 *bins, const guint32 *bin_nodes,
                             guint32 first, guint32 *nodes);

QuoitBestResult quoit_best_place_by_value (QuoitBestProblem *problem, const QuoitPlacementRules *rules, guint64 *budget,
                                           gboolean *proven, guint32 *nodes);

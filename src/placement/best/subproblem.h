/* SPDX-License-Identifier: Apache-2.0 */
/* A subproblem: some of the items, and the bins on which they may be placed. Without a topology label there is one
 * subproblem, all items on all bins. With a label there is one for each share of the bundles and each value of the
 * label. */
#pragma once

#include "placement/best/problem.h"

/* A bin is an index in @nodes. A class index is an index in @item_classes and @counts. Items are numbered by class:
 * the items of the first class come first. */
typedef struct {
  QuoitBestProblem *problem;
  guint32 n_item_classes;
  const guint32 *item_classes; /* item classes of the problem, each once */
  const guint32 *counts;       /* number of items of each class; their sum is n_items */
  guint32 n_items;
  const guint32 *nodes; /* nodes of the view, ascending */
  guint32 n_bins;
  guint64 *budget;
} QuoitBestSubproblem;

typedef struct {
  QuoitBestResult result;
  gboolean proven;  /* FOUND: no better placement exists */
  guint32 n_bins;   /* number of bins with items */
  guint32 n_slices; /* number of slices with such bins */
  guint32 load;     /* largest number of items on a bin */
  guint32 *bins;    /* of each item */
} QuoitBestSolution;

QuoitBestSolution *quoit_best_solution_new (const QuoitBestSubproblem *subproblem);
void quoit_best_solution_free (QuoitBestSolution *solution);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitBestSolution, quoit_best_solution_free)

/* Computes n_bins, n_slices and load of @solution from its bins. */
void quoit_best_solution_measure (QuoitBestSolution *solution, const QuoitBestSubproblem *subproblem);

/* One function per strategy. @soft_target is a node of the view. */
void quoit_best_pack (const QuoitBestSubproblem *subproblem, QuoitBestSolution *solution);
void quoit_best_spread (const QuoitBestSubproblem *subproblem, QuoitBestSolution *solution);
void quoit_best_strict_pack (const QuoitBestSubproblem *subproblem, guint32 soft_target, QuoitBestSolution *solution);
void quoit_best_strict_spread (const QuoitBestSubproblem *subproblem, QuoitBestSolution *solution);

/* Matches each item with a bin on which an item of its class fits. A bin gets at most @max_load items, and at most
 * as many as its amounts suffice for. The result is exact if all items request the same amounts or @max_load is 1.
 * Otherwise only FALSE is conclusive: no placement exists. *@load is the largest load of the matching. */
gboolean quoit_best_match_subproblem (const QuoitBestSubproblem *subproblem, guint32 max_load, guint32 *bins,
                                      guint32 *load);
/* Whether all items request the same amounts, so that their classes differ only in selectors. */
gboolean quoit_best_has_equal_amounts (const QuoitBestSubproblem *subproblem);

static inline guint32
quoit_best_subproblem_bin_class (const QuoitBestSubproblem *subproblem, guint32 bin)
{
  return quoit_best_find_bin_class (subproblem->problem, subproblem->nodes[bin]);
}

static inline guint32
quoit_best_subproblem_slice (const QuoitBestSubproblem *subproblem, guint32 bin)
{
  const guint32 *slice = subproblem->problem->view->slice;

  return slice == NULL ? QUOIT_NO_INDEX : slice[subproblem->nodes[bin]];
}

/* Whether the placement rules allow the node. */
static inline gboolean
quoit_best_allows (const QuoitPlacementRules *rules, guint32 node)
{
  return rules->strategy != QUOIT_STRATEGY_STRICT_SPREAD || rules->excluded == NULL
         || (rules->excluded[node / 64] >> (node % 64) & 1) == 0;
}

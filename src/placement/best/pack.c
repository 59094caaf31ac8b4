/* SPDX-License-Identifier: Apache-2.0 */
/* PACK: minimizes the number of bins, and then the number of slices. Greedy attempts find a first placement. Then
 * the search looks for better ones until no better one exists or the budget ends. */
#include "placement/best/search.h"

#include <string.h>

#include "placement/best/equal-items.h"

static gboolean
is_better (const QuoitBestSolution *a, const QuoitBestSolution *b)
{
  return a->n_bins != b->n_bins ? a->n_bins < b->n_bins : a->n_slices < b->n_slices;
}

/* Stores @bins in @solution if they are better. */
static void
keep_if_better (const QuoitBestSubproblem *subproblem, const guint32 *bins, QuoitBestSolution *solution)
{
  g_autoptr (QuoitBestSolution) other = quoit_best_solution_new (subproblem);

  memcpy (other->bins, bins, subproblem->n_items * sizeof *bins);
  quoit_best_solution_measure (other, subproblem);
  if (solution->result == QUOIT_BEST_FOUND && !is_better (other, solution))
    return;
  memcpy (solution->bins, bins, subproblem->n_items * sizeof *bins);
  quoit_best_solution_measure (solution, subproblem);
  solution->result = QUOIT_BEST_FOUND;
}

/* Whether the bounds prove that no better placement exists. */
static gboolean
is_proven_best (const QuoitBestSearch *search, const QuoitBestSolution *solution)
{
  const QuoitBestBounds *bounds = quoit_best_search_bounds (search);

  return solution->result == QUOIT_BEST_FOUND && solution->n_bins == quoit_best_bounds_min_bins (bounds)
         && solution->n_slices == quoit_best_bounds_min_slices (bounds, solution->n_bins);
}

static QuoitBestResult
find_better (const QuoitBestSubproblem *subproblem, QuoitBestSearch *search, QuoitBestLimits limits,
             QuoitBestSolution *solution)
{
  g_autofree guint32 *bins = g_new (guint32, subproblem->n_items + 1);
  QuoitBestResult result = quoit_best_search_all (search, &limits, bins);

  if (result == QUOIT_BEST_FOUND)
    keep_if_better (subproblem, bins, solution);
  return result;
}

/* Improves the solution until no better one is found. Returns FOUND if a bound proves that no better one exists, and
 * NONE if the search does. */
static QuoitBestResult
minimize_bins (const QuoitBestSubproblem *subproblem, QuoitBestSearch *search, QuoitBestSolution *solution)
{
  guint32 min = quoit_best_bounds_min_bins (quoit_best_search_bounds (search));
  QuoitBestResult result = QUOIT_BEST_FOUND;

  while (result == QUOIT_BEST_FOUND && solution->n_bins > min)
    result = find_better (subproblem, search,
                          (QuoitBestLimits) { solution->n_bins - 1, QUOIT_NO_INDEX, QUOIT_NO_INDEX }, solution);
  return result;
}

static QuoitBestResult
minimize_slices (const QuoitBestSubproblem *subproblem, QuoitBestSearch *search, QuoitBestSolution *solution)
{
  guint32 min = quoit_best_bounds_min_slices (quoit_best_search_bounds (search), solution->n_bins);
  QuoitBestResult result = QUOIT_BEST_FOUND;

  while (result == QUOIT_BEST_FOUND && solution->n_slices > min)
    result = find_better (subproblem, search,
                          (QuoitBestLimits) { solution->n_bins, solution->n_slices - 1, QUOIT_NO_INDEX }, solution);
  return result;
}

/* The first search gets half of the budget, so that slices are also minimized if minimizing bins takes too long.
 * Returns FALSE if the budget ended. */
static gboolean
improve (const QuoitBestSubproblem *subproblem, QuoitBestSearch *search, QuoitBestSolution *solution)
{
  guint64 reserved = *subproblem->budget / 2;
  QuoitBestResult bins, slices;

  *subproblem->budget -= reserved;
  bins = minimize_bins (subproblem, search, solution);
  *subproblem->budget += reserved;
  slices = minimize_slices (subproblem, search, solution);
  return bins != QUOIT_BEST_BUDGET && slices != QUOIT_BEST_BUDGET;
}

void
quoit_best_pack (const QuoitBestSubproblem *subproblem, QuoitBestSolution *solution)
{
  const QuoitBestLimits no_limits = { QUOIT_NO_INDEX, QUOIT_NO_INDEX, QUOIT_NO_INDEX };
  g_autofree guint32 *bins = g_new (guint32, subproblem->n_items + 1);
  g_autoptr (QuoitBestSearch) search = NULL;
  QuoitBestResult result = QUOIT_BEST_FOUND;
  guint32 load;

  solution->proven = TRUE;
  if (subproblem->n_item_classes == 1 && quoit_best_pack_equal_items (subproblem, solution))
    return;
  if (subproblem->n_item_classes > 1 && !quoit_best_match_subproblem (subproblem, subproblem->n_items, bins, &load))
    return;
  if (subproblem->n_item_classes > 1 && quoit_best_has_equal_amounts (subproblem))
    keep_if_better (subproblem, bins, solution);

  search = quoit_best_search_new (subproblem, QUOIT_STRATEGY_PACK);
  if (quoit_best_bounds_min_bins (quoit_best_search_bounds (search)) == QUOIT_NO_INDEX)
    return;
  for (guint32 a = 0; a < quoit_best_search_attempts (search) && !is_proven_best (search, solution); a++)
    if (quoit_best_search_try (search, a, &no_limits, bins))
      keep_if_better (subproblem, bins, solution);
  if (solution->result != QUOIT_BEST_FOUND)
    {
      result = quoit_best_search_all (search, &no_limits, bins);
      if (result == QUOIT_BEST_FOUND)
        keep_if_better (subproblem, bins, solution);
    }
  if (solution->result == QUOIT_BEST_FOUND)
    solution->proven = improve (subproblem, search, solution);
  else
    {
      solution->result = result;
      solution->proven = result == QUOIT_BEST_NONE;
    }
}

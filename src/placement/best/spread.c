/* SPDX-License-Identifier: Apache-2.0 */
/* SPREAD: minimizes the load, the largest number of items on a bin. A matching gives a lower bound of the load. Its
 * result is exact if the load is 1 or if all items request the same amounts. Otherwise searches begin at the bound. */
#include "placement/best/search.h"

#include <string.h>

/* Finds a placement with at most @load items on a bin. Each search gets half of the remaining budget, so that a hard
 * one leaves some for the others. */
static QuoitBestResult
search_load (const QuoitBestSubproblem *subproblem, QuoitBestSearch *search, guint32 load, guint32 *bins)
{
  QuoitBestLimits limits = { QUOIT_NO_INDEX, QUOIT_NO_INDEX, load };
  guint64 reserved = *subproblem->budget / 2;
  QuoitBestResult result;

  for (guint32 a = 0; a < quoit_best_search_attempts (search); a++)
    if (quoit_best_search_try (search, a, &limits, bins))
      return QUOIT_BEST_FOUND;
  *subproblem->budget -= reserved;
  result = quoit_best_search_all (search, &limits, bins);
  *subproblem->budget += reserved;
  return result;
}

/* Finds the smallest load between @min and the load of the solution, by binary search. */
static void
lower_load (const QuoitBestSubproblem *subproblem, QuoitBestSearch *search, guint32 min, QuoitBestSolution *solution)
{
  g_autofree guint32 *bins = g_new (guint32, subproblem->n_items + 1);

  quoit_best_solution_measure (solution, subproblem);
  while (min < solution->load)
    {
      guint32 middle = min + (solution->load - min) / 2;
      QuoitBestResult result = search_load (subproblem, search, middle, bins);

      if (result == QUOIT_BEST_FOUND)
        {
          memcpy (solution->bins, bins, subproblem->n_items * sizeof *bins);
          quoit_best_solution_measure (solution, subproblem);
        }
      else
        min = middle + 1;
      solution->proven &= result != QUOIT_BEST_BUDGET;
    }
}

static void
minimize_load (const QuoitBestSubproblem *subproblem, guint32 min, QuoitBestSolution *solution)
{
  g_autoptr (QuoitBestSearch) search = quoit_best_search_new (subproblem, QUOIT_STRATEGY_SPREAD);

  if (quoit_best_bounds_min_bins (quoit_best_search_bounds (search)) == QUOIT_NO_INDEX)
    return;
  /* The lower bound is usually the result. If not, first find out whether any placement exists. */
  solution->result = search_load (subproblem, search, min, solution->bins);
  solution->proven = solution->result != QUOIT_BEST_BUDGET;
  if (solution->result == QUOIT_BEST_FOUND || min == subproblem->n_items)
    return;
  solution->result = search_load (subproblem, search, subproblem->n_items, solution->bins);
  if (solution->result == QUOIT_BEST_FOUND)
    lower_load (subproblem, search, min + 1, solution);
  else
    solution->proven = solution->result == QUOIT_BEST_NONE;
}

void
quoit_best_spread (const QuoitBestSubproblem *subproblem, QuoitBestSolution *solution)
{
  guint32 load = 0;

  solution->proven = TRUE;
  if (!quoit_best_match_subproblem (subproblem, subproblem->n_items, solution->bins, &load))
    return;
  if (load <= 1 || quoit_best_has_equal_amounts (subproblem))
    solution->result = QUOIT_BEST_FOUND;
  else
    minimize_load (subproblem, load, solution);
}

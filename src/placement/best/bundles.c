/* SPDX-License-Identifier: Apache-2.0 */
/* The entry point of policy `best` for bundles. If the budget ends, Ray's placement is used if it is better. */
#include "placement/best/values.h"

#include "placement/best/ray.h"

void
quoit_best_solve (const QuoitBestSubproblem *subproblem, const QuoitPlacementRules *rules, QuoitBestSolution *solution)
{
  switch (rules->strategy)
    {
    case QUOIT_STRATEGY_PACK:
      quoit_best_pack (subproblem, solution);
      break;
    case QUOIT_STRATEGY_SPREAD:
      quoit_best_spread (subproblem, solution);
      break;
    case QUOIT_STRATEGY_STRICT_PACK:
      quoit_best_strict_pack (subproblem, rules->soft_target, solution);
      break;
    case QUOIT_STRATEGY_STRICT_SPREAD:
      quoit_best_strict_spread (subproblem, solution);
      break;
    }
  if (solution->result == QUOIT_BEST_FOUND)
    quoit_best_solution_measure (solution, subproblem);
}

void
quoit_best_write_nodes (const QuoitBestSubproblem *subproblem, const guint32 *bins, const guint32 *bin_nodes,
                        guint32 first, guint32 *nodes)
{
  g_autofree guint32 *sorted = g_memdup2 (bins, subproblem->n_items * sizeof *bins);
  g_autofree guint32 *next
      = g_new (guint32, subproblem->problem->n_item_classes); /* of each item class: index in sorted */
  guint32 from = 0;

  for (guint32 k = 0; k < subproblem->n_item_classes; k++)
    {
      next[subproblem->item_classes[k]] = from;
      quoit_numbers_sort (sorted + from, subproblem->counts[k]);
      from += subproblem->counts[k];
    }
  for (guint32 b = first; b < first + subproblem->n_items; b++)
    nodes[b] = bin_nodes[sorted[next[subproblem->problem->item_class[b]]++]];
}

static QuoitBestResult
place_anywhere (QuoitBestProblem *problem, const QuoitPlacementRules *rules, guint64 *budget, gboolean *proven,
                guint32 *nodes)
{
  const QuoitView *view = problem->view;
  g_autofree guint32 *item_classes = g_new (guint32, problem->n_item_classes),
                     *counts = g_new0 (guint32, problem->n_item_classes);
  g_autofree guint32 *candidates = g_new (guint32, view->n_nodes + 1);
  QuoitBestSubproblem subproblem = { .problem = problem,
                                     .n_item_classes = problem->n_item_classes,
                                     .item_classes = item_classes,
                                     .counts = counts,
                                     .n_items = problem->bundles->n_bundles,
                                     .nodes = candidates };
  g_autoptr (QuoitBestSolution) solution = quoit_best_solution_new (&subproblem);

  subproblem.budget = budget;
  for (guint32 c = 0; c < problem->n_item_classes; c++)
    item_classes[c] = c;
  for (guint32 b = 0; b < subproblem.n_items; b++)
    counts[problem->item_class[b]]++;
  for (guint32 n = 0; n < view->n_nodes; n++)
    if (quoit_best_allows (rules, n))
      candidates[subproblem.n_bins++] = n;
  quoit_best_solve (&subproblem, rules, solution);
  *proven = solution->proven;
  if (solution->result == QUOIT_BEST_FOUND)
    quoit_best_write_nodes (&subproblem, solution->bins, candidates, 0, nodes);
  return solution->result;
}

QuoitBestResult
quoit_best_place (const QuoitBundles *bundles, const QuoitView *view, const QuoitPlacementRules *rules, guint64 *budget,
                  gboolean *proven, guint32 *nodes)
{
  g_autoptr (QuoitBestProblem) problem = NULL;
  QuoitBestResult result;

  *proven = TRUE;
  if (bundles->n_bundles == 0)
    return QUOIT_BEST_FOUND;
  problem = quoit_best_problem_new (bundles, view);
  result = rules->n_values > 0 ? quoit_best_place_by_value (problem, rules, budget, proven, nodes)
                               : place_anywhere (problem, rules, budget, proven, nodes);
  if (!*proven && rules->n_values <= 1 && quoit_best_use_ray_placement (problem, rules, result, budget, nodes))
    return QUOIT_BEST_FOUND;
  return result;
}

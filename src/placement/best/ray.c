/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/best/ray.h"

#include <string.h>

#include "placement/best/subproblem.h"

/* Whether each node has chips for its bundles. Ray adds up the parts of all chips, so its placement may need a part
 * that no single chip has. */
static gboolean
chips_suffice (QuoitBestProblem *problem, const guint32 *nodes, guint64 *budget)
{
  g_autoptr (GHashTable) node_demands = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_array_unref);
  GHashTableIter iter;
  gpointer node, demands;

  for (guint32 b = 0; b < problem->bundles->n_bundles; b++)
    {
      const QuoitBestBinClass *bin_class
          = quoit_best_get_bin_class (problem, quoit_best_find_bin_class (problem, nodes[b]));
      QuoitChipDemand demand = { .needed_e4 = quoit_best_chips_e4 (problem, problem->item_class[b], bin_class) };

      demands = g_hash_table_lookup (node_demands, GUINT_TO_POINTER (nodes[b]));
      if (demands == NULL)
        {
          demands = g_array_new (FALSE, FALSE, sizeof demand);
          g_hash_table_insert (node_demands, GUINT_TO_POINTER (nodes[b]), demands);
        }
      if (demand.needed_e4 > 0)
        g_array_append_val ((GArray *) demands, demand);
    }
  g_hash_table_iter_init (&iter, node_demands);
  while (g_hash_table_iter_next (&iter, &node, &demands))
    if (quoit_best_check_chips (
            quoit_best_get_bin_class (problem, quoit_best_find_bin_class (problem, GPOINTER_TO_UINT (node))), demands,
            budget)
        != QUOIT_BEST_FOUND)
      return FALSE;
  return TRUE;
}

/* Whether @nodes is a better placement than @other. PACK compares the bins, then slices; SPREAD compares the load. */
static gboolean
is_better (const QuoitBestSubproblem *subproblem, QuoitStrategy strategy, const guint32 *nodes, const guint32 *other)
{
  g_autoptr (QuoitBestSolution) a = quoit_best_solution_new (subproblem), b = quoit_best_solution_new (subproblem);

  memcpy (a->bins, nodes, subproblem->n_items * sizeof *nodes);
  memcpy (b->bins, other, subproblem->n_items * sizeof *other);
  quoit_best_solution_measure (a, subproblem);
  quoit_best_solution_measure (b, subproblem);
  if (strategy == QUOIT_STRATEGY_SPREAD)
    return a->load < b->load;
  return a->n_bins != b->n_bins ? a->n_bins < b->n_bins : a->n_slices < b->n_slices;
}

gboolean
quoit_best_use_ray_placement (QuoitBestProblem *problem, const QuoitPlacementRules *rules, QuoitBestResult result,
                              guint64 *budget, guint32 *nodes)
{
  guint32 n = problem->bundles->n_bundles;
  g_autofree guint32 *ray_nodes = g_new (guint32, n), *all = g_new (guint32, problem->view->n_nodes + 1);
  QuoitBestSubproblem subproblem
      = { .problem = problem, .n_items = n, .nodes = all, .n_bins = problem->view->n_nodes, .budget = budget };

  for (guint32 i = 0; i < subproblem.n_bins; i++)
    all[i] = i;
  if (quoit_ray_place (problem->bundles, problem->view, rules, NULL, ray_nodes) != QUOIT_RAY_SUCCESS
      || (result == QUOIT_BEST_FOUND && !is_better (&subproblem, rules->strategy, ray_nodes, nodes))
      || !chips_suffice (problem, ray_nodes, budget))
    return FALSE;
  memcpy (nodes, ray_nodes, n * sizeof *nodes);
  return TRUE;
}

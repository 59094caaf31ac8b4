/* SPDX-License-Identifier: Apache-2.0 */
#include "geometry/packing-problem.h"

#include <string.h>

/* If all demands are limited in number, a packing of all of them is the greatest one. Weights of the demands prove it.
 */
static void
limit_by_demands (const QuoitPackingProblem *problem, QuoitPackingResult *result)
{
  guint64 *weights = (guint64 *) (void *) result->demand_weights->data, sum = 0;

  for (guint32 demand = 0; demand < problem->n_demands; demand++)
    if (problem->demands[demand].most == 0)
      return;
  for (guint32 demand = 0; demand < problem->n_demands; demand++)
    {
      weights[demand] = problem->demands[demand].value;
      sum += weights[demand] * problem->demands[demand].most;
    }
  result->most = sum;
}

/* Takes the first place again and again, the demand with the greatest value first. Proves an upper end by counting
 * hosts: they all have the same weight. */
static void
take_first_places (const QuoitGrid *grid, const QuoitHostSet *free, const QuoitPackingDemand *demands, guint n_demands,
                   QuoitPackingResult *result)
{
  guint64 *weights = (guint64 *) (void *) result->host_weights->data, weight = 0;
  QuoitHostSet left = *free;

  for (guint d = 0; d < n_demands; d++)
    weight = MAX (weight, demands[d].value);
  result->unit = G_MAXUINT64;
  for (guint d = 0; d < n_demands; d++)
    if (demands[d].n_turns > 0)
      result->unit = MIN (result->unit, weight * quoit_shape_chips (demands[d].turns[0].hosts) / demands[d].value);
  for (guint32 host = 0; host < quoit_grid_n_hosts (grid); host++)
    weights[host] = quoit_host_set_has (grid, free, host) ? weight : 0;
  result->most = quoit_host_set_count (grid, free) * weight / result->unit;
  for (guint64 value = weight; value > 0;)
    {
      guint64 next = 0;

      for (guint d = 0; d < n_demands; d++)
        {
          QuoitPlace place;

          for (guint32 n = 0; demands[d].value == value && (demands[d].most == 0 || n < demands[d].most)
                              && quoit_places_find_first (grid, &left, demands[d].turns, demands[d].n_turns, &place);
               n++)
            {
              const QuoitPackedPart part = { d, place.turn, place.origin };

              quoit_host_set_remove_box (grid, &left, demands[d].turns[place.turn].hosts, place.origin);
              g_array_append_val (result->parts, part);
              result->least += value;
            }
          if (demands[d].value < value)
            next = MAX (next, demands[d].value);
        }
      value = next;
    }
}

gboolean
quoit_packing_solve (const QuoitGrid *grid, const QuoitHostSet *free, const QuoitPackingDemand *demands,
                     guint n_demands, QuoitOffsets offsets, guint64 steps, QuoitPackingResult *result)
{
  QuoitPackingProblem problem;
  gboolean is_complete = quoit_packing_problem_init (&problem, grid, free, demands, n_demands, offsets);

  *result = (QuoitPackingResult) { .parts = g_array_new (FALSE, FALSE, sizeof (QuoitPackedPart)),
                                   .host_weights = g_array_new (FALSE, TRUE, sizeof (guint64)),
                                   .demand_weights = g_array_new (FALSE, TRUE, sizeof (guint64)),
                                   .unit = 1 };
  g_array_set_size (result->host_weights, problem.n_hosts);
  g_array_set_size (result->demand_weights, n_demands);
  problem.steps = steps;
  if (!is_complete)
    take_first_places (grid, free, demands, n_demands, result);
  else if (problem.n_places > 0)
    {
      QuoitPackingBound *bound;
      QuoitPackingSearch *search;

      result->most = G_MAXUINT64;
      limit_by_demands (&problem, result);
      quoit_packing_problem_find_conflicts (&problem);
      bound = quoit_packing_bound_new (&problem, result);
      search = quoit_packing_search_new (&problem, result);
      while (result->least < result->most && problem.steps > 0)
        {
          quoit_packing_bound_improve (bound, result);
          quoit_packing_search_improve (search, result);
        }
      quoit_packing_search_free (search);
      quoit_packing_bound_free (bound);
    }
  quoit_packing_problem_clear (&problem);
  return is_complete;
}

void
quoit_packing_result_clear (QuoitPackingResult *result)
{
  g_array_unref (result->parts);
  g_array_unref (result->host_weights);
  g_array_unref (result->demand_weights);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* STRICT_SPREAD: each bundle gets the best of the nodes without bundles of the group. */
#include "models/ray/scheduler/private.h"

/* Removes the excluded nodes from the candidates. Returns the number of remaining candidates, including nodes that
 * the view omits, because Ray counts candidates before it tests labels. */
static guint32
exclude (QuoitRayAttempt *attempt, const guint64 *excluded)
{
  guint32 n = attempt->view->n_candidates;

  for (guint32 w = 0; excluded != NULL && w < attempt->n_words; w++)
    {
      n -= (guint32) __builtin_popcountll (attempt->candidates[w] & excluded[w]);
      attempt->candidates[w] &= ~excluded[w];
    }
  return n;
}

QuoitRayResult
quoit_ray_strict_spread (QuoitRayAttempt *attempt, const guint64 *excluded, guint32 *nodes)
{
  guint32 n = exclude (attempt, excluded);

  if (n == 0 || n < attempt->bundles->n_bundles || !quoit_ray_is_each_feasible (attempt))
    return QUOIT_RAY_INFEASIBLE;
  for (guint32 i = 0; i < attempt->bundles->n_bundles; i++)
    {
      guint32 bundle = attempt->order[i];

      quoit_ray_set_demand (attempt, bundle);
      nodes[bundle] = quoit_ray_find_best_node (attempt, bundle);
      if (nodes[bundle] == QUOIT_NO_INDEX)
        return QUOIT_RAY_FAILED;
      quoit_ray_attempt_remove_candidate (attempt, nodes[bundle]);
    }
  return QUOIT_RAY_SUCCESS;
}

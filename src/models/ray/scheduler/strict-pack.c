/* SPDX-License-Identifier: Apache-2.0 */
/* STRICT_PACK: all bundles get one node, the soft target or the best one. */
#include "models/ray/scheduler/private.h"

/* Whether the soft target is a candidate with enough resources. If not, it is ignored. */
static gboolean
can_take (const QuoitRayAttempt *attempt, guint32 node)
{
  return node != QUOIT_NO_INDEX && quoit_ray_bit (attempt->candidates, node)
         && quoit_ray_demand_fits (&attempt->demand,
                                   attempt->view->available + (gsize) node * attempt->bundles->n_resources);
}

QuoitRayResult
quoit_ray_strict_pack (QuoitRayAttempt *attempt, guint32 soft_target, guint32 *nodes)
{
  g_autofree gint64 *sum = g_new (gint64, attempt->bundles->n_resources + 1);
  guint32 node;

  if (!quoit_ray_set_demand_sum (attempt, sum) || !quoit_ray_is_feasible (attempt))
    return QUOIT_RAY_INFEASIBLE;
  node = can_take (attempt, soft_target) ? soft_target : quoit_ray_find_best_node (attempt, 0);
  if (node == QUOIT_NO_INDEX)
    return QUOIT_RAY_FAILED;
  for (guint32 b = 0; b < attempt->bundles->n_bundles; b++)
    nodes[b] = node;
  return QUOIT_RAY_SUCCESS;
}

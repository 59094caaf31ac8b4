/* SPDX-License-Identifier: Apache-2.0 */
/* SPREAD: each bundle takes the best unused node. If no unused node fits, it takes the best used node. */
#include "models/ray/scheduler/private.h"

#include <string.h>

/* The nodes that have bundles of this attempt. */
typedef struct {
  guint64 *nodes; /* bits */
  guint32 *row;   /* of each used node: index of its row in rows */
  GArray *rows;   /* of gint64: what is left on the used nodes */
  guint32 n;
} Used;

static void
used_clear (Used *used)
{
  g_free (used->nodes);
  g_free (used->row);
  g_array_unref (used->rows);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Used, used_clear)

static void
use_node (QuoitRayAttempt *attempt, Used *used, guint32 node)
{
  guint32 n_resources = attempt->bundles->n_resources;

  quoit_ray_attempt_remove_candidate (attempt, node);
  used->nodes[node / 64] |= (guint64) 1 << (node % 64);
  used->row[node] = used->n++;
  if (n_resources > 0)
    g_array_append_vals (used->rows, attempt->view->available + (gsize) node * n_resources, n_resources);
}

static guint32
choose_node (QuoitRayAttempt *attempt, Used *used, guint32 bundle)
{
  guint32 node = quoit_ray_find_best_node (attempt, bundle);

  if (attempt->gave_up)
    return QUOIT_NO_INDEX;
  if (node == QUOIT_NO_INDEX)
    return quoit_ray_find_best_used_node (attempt, bundle, used->nodes, used->row, (const gint64 *) used->rows->data);
  use_node (attempt, used, node);
  return node;
}

QuoitRayResult
quoit_ray_spread (QuoitRayAttempt *attempt, guint32 *nodes)
{
  gsize n_resources = attempt->bundles->n_resources;
  g_auto (Used) used = { g_new0 (guint64, attempt->n_words + 1), g_new (guint32, attempt->view->n_nodes),
                         g_array_new (FALSE, FALSE, sizeof (gint64)), 0 };

  if (!quoit_ray_is_each_feasible (attempt))
    return QUOIT_RAY_INFEASIBLE;
  for (guint32 i = 0; i < attempt->bundles->n_bundles; i++)
    {
      guint32 bundle = attempt->order[i], node;

      quoit_ray_set_demand (attempt, bundle);
      node = choose_node (attempt, &used, bundle);
      if (node == QUOIT_NO_INDEX)
        return QUOIT_RAY_FAILED;
      quoit_ray_demand_subtract (&attempt->demand, (gint64 *) used.rows->data + used.row[node] * n_resources);
      nodes[bundle] = node;
    }
  return QUOIT_RAY_SUCCESS;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <quoit/models/ray-placement.h>

#include "models/ray/names.h"
#include "models/ray/scheduler/input.h"

bool
quoit_ray_group_place (const QuoitRayGroup *group, const QuoitRayCluster *cluster, QuoitRayResult *result,
                       uint32_t *nodes, GError **error)
{
  g_auto (QuoitRayInput) input = { .total = NULL };
  g_autofree guint32 *unwanted = NULL;

  g_return_val_if_fail (group != NULL && cluster != NULL && result != NULL, false);

  if (!quoit_ray_input_init (&input, group, cluster, error))
    return false;
  if (nodes == NULL)
    nodes = unwanted = g_new (guint32, group->n_bundles);
  *result = quoit_ray_place (&input.rows.bundles, &input.view, &input.rules, NULL, nodes);
  if (*result == QUOIT_RAY_SUCCESS)
    quoit_ray_input_convert_to_cluster (&input, nodes);
  return true;
}

bool
quoit_ray_group_is_determined (const QuoitRayGroup *group, const QuoitRayCluster *cluster, uint64_t budget,
                               QuoitRayCertainty *determined, GError **error)
{
  g_auto (QuoitRayInput) input = { .total = NULL };

  g_return_val_if_fail (group != NULL && cluster != NULL && determined != NULL, false);

  if (!quoit_ray_input_init (&input, group, cluster, error))
    return false;
  *determined = quoit_ray_is_determined (&input.rows.bundles, &input.view, &input.rules, budget);
  return true;
}

bool
quoit_ray_group_is_possible (const QuoitRayGroup *group, const QuoitRayCluster *cluster, QuoitRayResult result,
                             const uint32_t *nodes, uint64_t budget, QuoitRayCertainty *possible, GError **error)
{
  g_auto (QuoitRayInput) input = { .total = NULL };
  g_autofree guint32 *found = NULL;

  g_return_val_if_fail (group != NULL && cluster != NULL && possible != NULL, false);
  g_return_val_if_fail (result != QUOIT_RAY_SUCCESS || nodes != NULL, false);

  if (!quoit_ray_input_init (&input, group, cluster, error))
    return false;
  if (result == QUOIT_RAY_SUCCESS)
    found = g_memdup2 (nodes, group->n_bundles * sizeof *nodes);
  *possible = QUOIT_RAY_NO;
  if (found == NULL || quoit_ray_input_convert_to_view (&input, found))
    *possible = quoit_ray_is_possible (&input.rows.bundles, &input.view, &input.rules, result, found, budget);
  return true;
}

bool
quoit_ray_bundle_order (const QuoitRayGroup *group, uint32_t *order, GError **error)
{
  g_auto (QuoitRayBundleRows) rows = { .resources = NULL };

  g_return_val_if_fail (group != NULL && order != NULL, false);

  if (!quoit_ray_bundle_rows_init (&rows, group, error))
    return false;
  quoit_ray_order (&rows.bundles, order);
  return true;
}

char *
quoit_ray_dup_bundle_resource (const char *resource, const char *group_id, uint32_t bundle, GError **error)
{
  g_return_val_if_fail (resource != NULL && group_id != NULL, NULL);

  return quoit_ray_bundle_resource (resource, group_id, bundle, error);
}

char *
quoit_ray_dup_group_resource (const char *resource, const char *group_id, GError **error)
{
  g_return_val_if_fail (resource != NULL && group_id != NULL, NULL);

  return quoit_ray_group_resource (resource, group_id, error);
}

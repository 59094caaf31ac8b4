/* SPDX-License-Identifier: Apache-2.0 */
#include <quoit/models/ray-placement.h>

#include "models/ray/scheduler/cluster.h"
#include "models/ray/scheduler/input.h"

QuoitRayCluster *
quoit_ray_cluster_new (void)
{
  return quoit_ray_cluster_alloc ();
}

void
quoit_ray_cluster_free (QuoitRayCluster *cluster)
{
  if (cluster != NULL)
    quoit_ray_cluster_release (cluster);
}

bool
quoit_ray_cluster_add_node (QuoitRayCluster *cluster, const char *id, GError **error)
{
  g_return_val_if_fail (cluster != NULL && id != NULL, false);

  return quoit_ray_cluster_add (cluster, id, error);
}

uint32_t
quoit_ray_cluster_get_n_nodes (const QuoitRayCluster *cluster)
{
  g_return_val_if_fail (cluster != NULL, 0);

  return cluster->ids->len;
}

const char *
quoit_ray_cluster_get_node_id (const QuoitRayCluster *cluster, uint32_t node)
{
  g_return_val_if_fail (cluster != NULL && node < cluster->ids->len, NULL);

  return quoit_strings_get (cluster->strings, g_array_index (cluster->ids, QuoitStringId, node));
}

static bool
set_stock (QuoitRayCluster *cluster, guint32 node, const char *resource, QuoitAmount total, QuoitAmount available,
           GError **error)
{
  if (*resource == '\0')
    return quoit_fail (error, QUOIT_ERROR_INVALID, "resource '': expected a name");
  quoit_ray_cluster_store_resource (cluster, node, resource, total.e4, available.e4);
  return true;
}

bool
quoit_ray_cluster_set_resource (QuoitRayCluster *cluster, uint32_t node, const char *resource, double total,
                                double available, GError **error)
{
  QuoitAmount has, free;

  g_return_val_if_fail (cluster != NULL && node < cluster->ids->len && resource != NULL, false);

  if (!quoit_amount_from_double (total, &has, error))
    return g_prefix_error (error, "total: "), false;
  if (!quoit_amount_from_double (available, &free, error))
    return g_prefix_error (error, "available: "), false;
  return set_stock (cluster, node, resource, has, free, error);
}

static bool
check_e4 (const char *what, gint64 e4, GError **error)
{
  return e4 >= 0
         || quoit_fail (error, QUOIT_ERROR_INVALID,
                        "%s: '%" G_GINT64_FORMAT "' ten-thousandths: expected a number that is not negative", what, e4);
}

bool
quoit_ray_cluster_set_resource_e4 (QuoitRayCluster *cluster, uint32_t node, const char *resource, int64_t total_e4,
                                   int64_t available_e4, GError **error)
{
  g_return_val_if_fail (cluster != NULL && node < cluster->ids->len && resource != NULL, false);

  return check_e4 ("total", total_e4, error) && check_e4 ("available", available_e4, error)
         && set_stock (cluster, node, resource, (QuoitAmount) { total_e4 }, (QuoitAmount) { available_e4 }, error);
}

int64_t
quoit_ray_cluster_get_available_e4 (const QuoitRayCluster *cluster, uint32_t node, const char *resource)
{
  g_return_val_if_fail (cluster != NULL && node < cluster->ids->len && resource != NULL, 0);

  return quoit_ray_cluster_get_resource (cluster, node, resource).available;
}

void
quoit_ray_cluster_set_label (QuoitRayCluster *cluster, uint32_t node, const char *key, const char *value)
{
  g_return_if_fail (cluster != NULL && node < cluster->ids->len && key != NULL && value != NULL);

  quoit_ray_cluster_store_label (cluster, node, key, value);
}

static bool
check_nodes (const QuoitRayCluster *cluster, const QuoitRayGroup *group, const uint32_t *nodes, GError **error)
{
  for (guint32 b = 0; b < group->n_bundles; b++)
    if (nodes[b] >= cluster->ids->len)
      return quoit_fail (error, QUOIT_ERROR_INVALID, "bundle %u: node '%u': expected less than %u", b, nodes[b],
                         cluster->ids->len);
  return true;
}

bool
quoit_ray_cluster_allocate (QuoitRayCluster *cluster, const QuoitRayGroup *group, const uint32_t *nodes, GError **error)
{
  g_return_val_if_fail (cluster != NULL && group != NULL && nodes != NULL, false);

  return check_nodes (cluster, group, nodes, error) && quoit_ray_cluster_adjust (cluster, group, nodes, -1, error);
}

bool
quoit_ray_cluster_deallocate (QuoitRayCluster *cluster, const QuoitRayGroup *group, const uint32_t *nodes,
                              GError **error)
{
  g_return_val_if_fail (cluster != NULL && group != NULL && nodes != NULL, false);

  return check_nodes (cluster, group, nodes, error) && quoit_ray_cluster_adjust (cluster, group, nodes, 1, error);
}

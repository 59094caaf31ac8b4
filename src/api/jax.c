/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/topology.h"
#include "models/jax/cluster.h"

QuoitJaxCluster *
quoit_jax_cluster_detect_process (const QuoitTopology *topology, uint32_t process, GError **error)
{
  g_return_val_if_fail (topology != NULL && process < topology->processes->len, NULL);

  return quoit_jax_cluster_detect_shared (g_array_index (topology->processes, QuoitProcess, process).variables, error);
}

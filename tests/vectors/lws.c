/* SPDX-License-Identifier: Apache-2.0 */
/* LeaderWorkerSet: the variables for TPU jobs in the pods of a set, after its webhook has changed them. The program in
 * tests/live/lws recorded them from LeaderWorkerSet 0.9.0. */
#include "runner.h"

#include <quoit/models.h>
#include <quoit/quoit.h>
#include <string.h>

#define NOW_MS G_GINT64_CONSTANT (1793491200000)

/* --- slices --- */

static gint64
find_pool (const QuoitSnapshot *snapshot, uint32_t *first_slice)
{
  *first_slice = 0;
  for (uint32_t pool = 0; pool < quoit_snapshot_get_n_pools (snapshot); pool++)
    {
      if (quoit_snapshot_get_pool_n_slices (snapshot, pool) > 0)
        return pool;
      *first_slice += quoit_snapshot_get_pool_n_slices (snapshot, pool);
    }
  return -1;
}

/* Reserves all slices of the set. */
static QuoitGroup *
reserve (QuoitLedger *ledger, const QuoitSnapshot *snapshot, uint32_t pool, uint32_t first, GError **error)
{
  uint32_t class = (uint32_t) quoit_snapshot_get_slice_class (snapshot, first);
  g_autofree char *topology = quoit_snapshot_dup_class_topology (snapshot, class);
  g_autoptr (QuoitRequest) request = quoit_request_new ("g", error);

  if (!quoit_request_set_accelerator (request, quoit_snapshot_get_class_accelerator (snapshot, class), error)
      || !quoit_request_set_topology (request, topology, error)
      || !quoit_request_set_chips_per_host (request, quoit_snapshot_get_class_chips_per_host (snapshot, class), error)
      || !quoit_request_set_slices (request, quoit_snapshot_get_pool_n_slices (snapshot, pool), error))
    return NULL;
  return quoit_ledger_reserve (ledger, request, NOW_MS, NULL, error);
}

static QuoitTopology *
make_topology (const char *set, QuoitGroup **group, GError **error)
{
  g_autoptr (QuoitInput) input = quoit_input_new (QUOIT_SOURCE_KIND_RAYCLUSTER, set, strlen (set));
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitImport) imported = quoit_ledger_import (ledger, input, NOW_MS, error);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitLaunch) launch = NULL;
  uint32_t first;
  gint64 pool;

  if (imported == NULL)
    return NULL;
  snapshot = quoit_ledger_snapshot (ledger);
  pool = find_pool (snapshot, &first);
  if (pool < 0)
    return vector_skip (error, "a set without chips"), NULL;
  *group = reserve (ledger, snapshot, (uint32_t) pool, first, error);
  launch = *group == NULL
               ? NULL
               : quoit_launch_new_for_manifest (input, quoit_snapshot_get_pool_name (snapshot, (uint32_t) pool), error);
  return launch == NULL ? NULL : quoit_topology_new (*group, launch, error);
}

/* --- the answer --- */

/* The device plugin of GKE sets the other two, unless the manifest does. */
static gboolean
is_recorded (const char *name, const char *set)
{
  if (strcmp (name, "TPU_TOPOLOGY") == 0 || strcmp (name, "TPU_ACCELERATOR_TYPE") == 0)
    return strstr (set, name) != NULL;
  return g_str_has_prefix (name, "TPU_") || g_str_has_prefix (name, "LWS_");
}

static JsonObject *
variables (const QuoitTopology *topology, uint32_t process, const char *set)
{
  JsonObject *object = json_object_new ();

  for (uint32_t i = 0; i < quoit_topology_get_n_variables (topology, process); i++)
    {
      const char *name = quoit_topology_get_variable_name (topology, process, i);

      if (is_recorded (name, set))
        json_object_set_string_member (object, name, quoit_topology_get_variable_value (topology, process, i));
    }
  return object;
}

/* Each process is a container. */
static JsonNode *
node_of_pods (const QuoitTopology *topology, const QuoitGroup *group, const char *set)
{
  g_autoptr (JsonObject) object = json_object_new ();
  JsonArray *pods = json_array_new (), *containers = NULL;

  for (uint32_t i = 0; i < quoit_topology_get_n_processes (topology); i++)
    {
      if (quoit_topology_get_local_index (topology, i) == 0)
        {
          JsonObject *pod = json_object_new ();

          containers = json_array_new ();
          json_object_set_string_member (pod, "name",
                                         quoit_group_get_worker_name (group, quoit_topology_get_slice_id (topology, i),
                                                                      quoit_topology_get_worker_id (topology, i)));
          json_object_set_array_member (pod, "containers", containers);
          json_array_add_object_element (pods, pod);
        }
      json_array_add_object_element (containers, variables (topology, i, set));
    }
  json_object_set_array_member (object, "pods", pods);
  return json_node_init_object (json_node_alloc (), object);
}

static JsonNode *
lws_env (JsonNode *in, GError **error)
{
  static const char *const members[] = { "set", NULL };
  JsonObject *object = vector_object (in, members, error);
  g_autofree char *set = object == NULL ? NULL : json_to_string (json_object_get_member (object, "set"), FALSE);
  g_autoptr (QuoitGroup) group = NULL;
  g_autoptr (QuoitTopology) topology = set == NULL ? NULL : make_topology (set, &group, error);

  return topology == NULL ? NULL : node_of_pods (topology, group, set);
}

static const VectorOp ops[] = { { "lws_env", lws_env, VECTOR_ANY_ORDER }, { NULL, NULL, VECTOR_ANY_ORDER } };
static const VectorOp *const tables[] = { ops, NULL };
const VectorSuite vector_suite_lws = { "lws", tables };

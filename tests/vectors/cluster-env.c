/* SPDX-License-Identifier: Apache-2.0 */
/* Which cluster JAX detects for a process, and how it divides a host's chips among processes. */
#include "runner.h"

#include <quoit/models/jax.h>

/* The inputs of detection: environment and metadata as "NAME=value" texts that end with NULL, and a file. */
typedef struct {
  GPtrArray *env, *metadata;
  const char *addresses;
} HostInput;

static void
host_input_clear (HostInput *input)
{
  g_clear_pointer (&input->env, g_ptr_array_unref);
  g_clear_pointer (&input->metadata, g_ptr_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (HostInput, host_input_clear)

static gboolean
read_pairs (JsonObject *object, const char *member, GPtrArray **pairs, GError **error)
{
  *pairs = g_ptr_array_new_with_free_func (g_free);
  if (!vector_pairs (*pairs, json_object_get_member (object, member), error))
    return FALSE;

  g_ptr_array_add (*pairs, NULL);
  return TRUE;
}

static gboolean
read_host_input (JsonObject *object, HostInput *input, GError **error)
{
  return read_pairs (object, "env", &input->env, error) && read_pairs (object, "metadata", &input->metadata, error)
         && vector_text (object, "file", &input->addresses, error);
}

static const char *const *
texts (const GPtrArray *pairs)
{
  return (const char *const *) pairs->pdata;
}

/* --- answers, each of which may be a refusal --- */

static JsonNode *
node_of_refusal (GError *refused)
{
  g_autoptr (JsonObject) object = vector_object_of_refusal (refused);

  return json_node_init_object (json_node_alloc (), object);
}

static JsonNode *
node_of_workers (const QuoitJaxCluster *cluster)
{
  GError *refused = NULL;
  g_auto (GStrv) workers = quoit_jax_cluster_list_workers (cluster, &refused);
  g_autoptr (JsonArray) array = NULL;

  if (workers == NULL)
    return node_of_refusal (refused);

  array = vector_array_of_texts ((const char *const *) workers);
  return json_node_init_array (json_node_alloc (), array);
}

static JsonNode *
node_of_coordinator (const QuoitJaxCluster *cluster)
{
  GError *refused = NULL;
  char *coordinator = quoit_jax_cluster_dup_coordinator (cluster, &refused);

  return coordinator == NULL ? node_of_refusal (refused) : vector_node_of_text (coordinator);
}

static JsonNode *
node_of_number (const QuoitJaxCluster *cluster, bool (*ask) (const QuoitJaxCluster *, int64_t *, GError **))
{
  GError *refused = NULL;
  int64_t number;

  return ask (cluster, &number, &refused) ? vector_node_of_integer (number) : node_of_refusal (refused);
}

static JsonNode *
node_of_cluster (QuoitJaxClusterKind kind, const HostInput *input)
{
  g_autoptr (QuoitJaxCluster) cluster
      = quoit_jax_cluster_new (kind, texts (input->env), texts (input->metadata), input->addresses);
  g_autoptr (JsonObject) object = json_object_new ();

  json_object_set_member (object, "coordinator", node_of_coordinator (cluster));
  json_object_set_member (object, "process_count", node_of_number (cluster, quoit_jax_cluster_count_processes));
  json_object_set_member (object, "process_id", node_of_number (cluster, quoit_jax_cluster_find_process_id));
  json_object_set_member (object, "workers", node_of_workers (cluster));
  return json_node_init_object (json_node_alloc (), object);
}

/* The arguments of jax.distributed.initialize() in JAX's order, up to the first one that JAX cannot determine. On
   TPU hosts JAX never sets local_device_ids. */
static JsonNode *
node_of_arguments (const QuoitJaxCluster *cluster)
{
  JsonNode *found[] = { node_of_coordinator (cluster), node_of_number (cluster, quoit_jax_cluster_count_processes),
                        node_of_number (cluster, quoit_jax_cluster_find_process_id), vector_null_node () };
  g_autoptr (JsonArray) array = json_array_new ();
  g_autoptr (JsonNode) refusal = NULL;

  for (unsigned i = 0; i < G_N_ELEMENTS (found); i++)
    if (refusal == NULL && JSON_NODE_HOLDS_OBJECT (found[i]))
      refusal = found[i];
    else
      json_array_add_element (array, found[i]);

  return refusal != NULL ? g_steal_pointer (&refusal) : json_node_init_array (json_node_alloc (), array);
}

static JsonNode *
node_of_nothing_found (void)
{
  g_autoptr (JsonArray) array = json_array_new ();

  for (unsigned i = 0; i < 4; i++)
    json_array_add_null_element (array);
  return json_node_init_array (json_node_alloc (), array);
}

static JsonNode *
node_of_choice (const HostInput *input)
{
  GError *refused = NULL;
  g_autoptr (QuoitJaxCluster) cluster
      = quoit_jax_cluster_detect (texts (input->env), texts (input->metadata), input->addresses, &refused);

  if (cluster == NULL)
    return node_of_refusal (refused);
  return quoit_jax_cluster_get_kind (cluster) == QUOIT_JAX_CLUSTER_NONE ? node_of_nothing_found ()
                                                                        : node_of_arguments (cluster);
}

static JsonNode *
detect (JsonNode *in, GError **error)
{
  static const char *const members[]
      = { "name", "env", "tpu_vm", "metadata", "file", "gke_present", "gce_present", NULL };
  JsonObject *object = vector_object (in, members, error);
  g_auto (HostInput) input = { NULL, NULL, NULL };
  g_autoptr (JsonObject) answer = NULL;

  if (object == NULL || !read_host_input (object, &input, error))
    return NULL;
  if (!json_object_get_boolean_member_with_default (object, "tpu_vm", TRUE))
    return vector_skip (error, "no TPU host: its cluster is not modelled"), NULL;

  answer = json_object_new ();
  json_object_set_member (answer, "gke", node_of_cluster (QUOIT_JAX_CLUSTER_GKE_TPU, &input));
  json_object_set_member (answer, "gce", node_of_cluster (QUOIT_JAX_CLUSTER_GCE_TPU, &input));
  json_object_set_member (answer, "auto", node_of_choice (&input));
  vector_keep_recorded (in, answer);
  return json_node_init_object (json_node_alloc (), answer);
}

static JsonNode *
process_bounds (JsonNode *in, GError **error)
{
  static const char *const members[] = { "version", "host_chips", "chips_per_process", NULL };
  JsonObject *object = vector_object (in, members, error);
  g_autoptr (JsonObject) answer = NULL;
  const char *version, *bounds, *chips;
  gint64 host_chips, per_process;
  const gint64 *of_host, *of_process;

  if (object == NULL || !vector_text (object, "version", &version, error)
      || !vector_integer (object, "host_chips", &host_chips, &of_host, error)
      || !vector_integer (object, "chips_per_process", &per_process, &of_process, error))
    return NULL;
  if (version == NULL || of_host == NULL || of_process == NULL)
    return vector_skip (error, "Python only: no version or no number"), NULL;
  if (!quoit_jax_process_bounds (version, host_chips, per_process, &bounds, &chips, error))
    return NULL;

  answer = json_object_new ();
  json_object_set_string_member (answer, "process_bounds", bounds);
  json_object_set_string_member (answer, "chips_per_process_bounds", chips);
  return json_node_init_object (json_node_alloc (), answer);
}

static const VectorOp ops[] = {
  { "jax_cluster_detect", detect, VECTOR_REFUSALS },
  { "tpu_process_bounds", process_bounds, VECTOR_ANY_ORDER },
  { NULL, NULL, VECTOR_ANY_ORDER },
};

static const VectorOp *const tables[] = { ops, NULL };

const VectorSuite vector_suite_cluster_env = { "cluster-env", tables };

/* SPDX-License-Identifier: Apache-2.0 */
#include "runner.h"

#include <quoit/models/ray-tpu.h>

static JsonNode *
node_of_answer (gboolean answer)
{
  return json_node_init_boolean (json_node_alloc (), answer);
}

/* Reads the only member of @in, a text that may be null. FALSE on a skip. */
static gboolean
only_text (JsonNode *in, const char *member, const char **text, GError **error)
{
  const char *const members[] = { member, NULL };
  JsonObject *object = vector_object (in, members, error);

  return object != NULL && vector_text (object, member, text, error);
}

static gboolean
two_texts (JsonNode *in, const char *first, const char *second, const char **a, const char **b, GError **error)
{
  const char *const members[] = { first, second, NULL };
  JsonObject *object = vector_object (in, members, error);

  return object != NULL && vector_text (object, first, a, error) && vector_text (object, second, b, error);
}

static JsonNode *
version_from_type (JsonNode *in, GError **error)
{
  const char *type;
  char *version;

  if (!only_text (in, "accelerator_type", &type, error))
    return NULL;

  version = quoit_ray_version_from_type (type, error);
  return version != NULL ? vector_node_of_text (version) : NULL;
}

static JsonNode *
normalize_type (JsonNode *in, GError **error)
{
  const char *type;

  if (!only_text (in, "accelerator_type", &type, error))
    return NULL;

  return vector_node_of_text (quoit_ray_normalize_type (type));
}

static JsonNode *
type_is_valid (JsonNode *in, GError **error)
{
  const char *type;

  if (!only_text (in, "tpu_accelerator_type", &type, error))
    return NULL;
  if (type == NULL)
    return vector_skip (error, "Python only: None where Python expects a text"), NULL;

  return node_of_answer (quoit_ray_type_is_valid (type));
}

static JsonNode *
topology_is_valid (JsonNode *in, GError **error)
{
  const char *version, *topology;

  if (!two_texts (in, "tpu_accelerator_version", "tpu_topology", &version, &topology, error))
    return NULL;

  return node_of_answer (quoit_ray_topology_is_valid (version, topology));
}

static JsonNode *
list_topologies (JsonNode *in, GError **error)
{
  const char *version;
  g_autoptr (JsonArray) list = json_array_new ();
  char *topology;

  if (!only_text (in, "generation", &version, error))
    return NULL;

  for (unsigned i = 0; (topology = quoit_ray_dup_valid_topology (version, i)) != NULL; i++)
    json_array_add_element (list, vector_node_of_text (topology));
  return json_node_init_array (json_node_alloc (), list);
}

static JsonNode *
count_topologies (JsonNode *in, GError **error)
{
  g_autoptr (JsonNode) list = list_topologies (in, error);

  return list != NULL ? vector_node_of_integer (json_array_get_length (json_node_get_array (list))) : NULL;
}

typedef bool (*NumberOfText) (const char *text, int64_t *number, GError **error);
typedef bool (*NumberOfTwo) (const char *a, const char *b, int64_t *number, GError **error);

static JsonNode *
number_of_text (JsonNode *in, const char *member, NumberOfText function, GError **error)
{
  const char *text;
  int64_t number;

  if (!only_text (in, member, &text, error) || !function (text, &number, error))
    return NULL;

  return vector_node_of_integer (number);
}

static JsonNode *
number_of_two (JsonNode *in, NumberOfTwo function, GError **error)
{
  const char *topology, *version;
  int64_t number;

  if (!two_texts (in, "topology", "accelerator_version", &topology, &version, error)
      || !function (topology, version, &number, error))
    return NULL;

  return vector_node_of_integer (number);
}

static JsonNode *
chips_from_topology (JsonNode *in, GError **error)
{
  return number_of_text (in, "topology", quoit_ray_chips_from_topology, error);
}

static JsonNode *
cores_per_chip (JsonNode *in, GError **error)
{
  return number_of_text (in, "accelerator_type", quoit_ray_cores_per_chip, error);
}

static JsonNode *
chips_from_type (JsonNode *in, GError **error)
{
  return number_of_text (in, "accelerator_type", quoit_ray_chips_from_type, error);
}

static JsonNode *
visible_chips_per_host (JsonNode *in, GError **error)
{
  return number_of_text (in, "accelerator_type", quoit_ray_visible_chips_per_host, error);
}

static JsonNode *
chips_per_host (JsonNode *in, GError **error)
{
  return number_of_two (in, quoit_ray_chips_per_host, error);
}

static JsonNode *
default_chips_per_vm (JsonNode *in, GError **error)
{
  return number_of_two (in, quoit_ray_default_chips_per_vm, error);
}

static JsonNode *
pod_type (JsonNode *in, GError **error)
{
  const char *topology, *type;
  g_autoptr (GError) refused = NULL;
  char *answer;

  if (!two_texts (in, "topology", "accelerator_type", &topology, &type, error))
    return NULL;

  answer = quoit_ray_pod_type (topology, type, &refused);
  if (refused != NULL)
    return g_propagate_error (error, g_steal_pointer (&refused)), NULL;

  return answer != NULL ? vector_node_of_text (answer) : vector_null_node ();
}

/* Reads RAY_TPU_RESOURCE_PER_CHIP from a row's environment, in either of its two forms. */
static gboolean
text_of_env (JsonObject *in, const char **text, GError **error)
{
  JsonNode *env = json_object_get_member (in, "env");

  if (env == NULL)
    return vector_text (in, "env.RAY_TPU_RESOURCE_PER_CHIP", text, error);
  if (!JSON_NODE_HOLDS_OBJECT (env))
    return vector_skip (error, "an environment that is no object");

  return vector_text (json_node_get_object (env), "RAY_TPU_RESOURCE_PER_CHIP", text, error);
}

static JsonNode *
resource_per_chip (JsonNode *in, GError **error)
{
  static const char *const members[] = { "env", "env.RAY_TPU_RESOURCE_PER_CHIP", NULL };
  JsonObject *object = vector_object (in, members, error);
  const char *text;
  int64_t factor;

  if (object == NULL || !text_of_env (object, &text, error) || !quoit_ray_resource_per_chip (text, &factor, error))
    return NULL;

  return vector_node_of_integer (factor);
}

/* Reads the factor as Python does: the argument, or else the environment variable. FALSE on a skip or a refused
   environment. */
static gboolean
read_factor (JsonObject *in, int64_t *factor, GError **error)
{
  const gint64 *given;
  const char *text;
  gint64 value;

  if (!vector_integer (in, "tpu_resource_per_chip", &value, &given, error))
    return FALSE;
  if (given != NULL)
    return *factor = value, TRUE;

  return text_of_env (in, &text, error) && quoit_ray_resource_per_chip (text, factor, error);
}

static JsonNode *
node_of_workers (const QuoitRayResources *worker, int64_t n_workers)
{
  g_autoptr (JsonObject) answer = json_object_new ();

  json_object_set_int_member (answer, "num_workers", n_workers);
  json_object_set_object_member (answer, "worker_resources", vector_object_of_resources (worker));
  return json_node_init_object (json_node_alloc (), answer);
}

static JsonNode *
worker_resources (JsonNode *in, GError **error)
{
  static const char *const members[] = { "topology",
                                         "accelerator_type",
                                         "resources_per_worker",
                                         "num_slices",
                                         "chips_per_vm",
                                         "tpu_resource_per_chip",
                                         "env",
                                         "env.RAY_TPU_RESOURCE_PER_CHIP",
                                         NULL };
  JsonObject *object = vector_object (in, members, error);
  g_autoptr (QuoitRayResources) wanted = NULL, worker = NULL;
  const char *topology, *type;
  gint64 n_slices = 1, chips = 0;
  const gint64 *given_slices, *given_chips;
  int64_t factor, chips_per_vm, n_workers;

  if (object == NULL || !vector_text (object, "topology", &topology, error)
      || !vector_text (object, "accelerator_type", &type, error)
      || !vector_resources (object, "resources_per_worker", &wanted, error)
      || !vector_integer (object, "num_slices", &n_slices, &given_slices, error)
      || !vector_integer (object, "chips_per_vm", &chips, &given_chips, error) || !read_factor (object, &factor, error))
    return NULL;
  if (given_slices == NULL && json_object_has_member (object, "num_slices"))
    return vector_skip (error, "Python only: None where Python expects an integer"), NULL;

  chips_per_vm = chips;
  worker = quoit_ray_worker_resources (topology, type, wanted, n_slices, given_chips != NULL ? &chips_per_vm : NULL,
                                       &factor, &n_workers, error);
  return worker != NULL ? node_of_workers (worker, n_workers) : NULL;
}

static JsonNode *
slices_for_workers (JsonNode *in, GError **error)
{
  static const char *const members[] = { "topology",
                                         "accelerator_type",
                                         "resources_per_worker",
                                         "num_workers",
                                         "tpu_resource_per_chip",
                                         "env",
                                         "env.RAY_TPU_RESOURCE_PER_CHIP",
                                         NULL };
  JsonObject *object = vector_object (in, members, error);
  g_autoptr (QuoitRayResources) wanted = NULL;
  g_autoptr (GError) refused = NULL;
  const char *topology, *type;
  const gint64 *given;
  gint64 n_workers;
  int64_t factor;

  if (object == NULL || !vector_text (object, "topology", &topology, error)
      || !vector_text (object, "accelerator_type", &type, error)
      || !vector_resources (object, "resources_per_worker", &wanted, error)
      || !vector_integer (object, "num_workers", &n_workers, &given, error))
    return NULL;
  if (given == NULL)
    return vector_skip (error, "Python only: None where Python expects an integer"), NULL;
  /* A factor that cannot be read is a refusal like any other. */
  if (!read_factor (object, &factor, &refused))
    {
      if (refused->domain == VECTOR_SKIP)
        return g_propagate_error (error, g_steal_pointer (&refused)), NULL;
      return vector_node_of_integer (1);
    }

  return vector_node_of_integer (quoit_ray_slices_for_workers (topology, type, n_workers, wanted, &factor));
}

static JsonNode *
coordinator_env (JsonNode *in, GError **error)
{
  static const char *const members[] = { "coordinator_address", "num_slices", "slice_id", "coordinator_port", NULL };
  JsonObject *object = vector_object (in, members, error);
  const gint64 *given_slices, *given_id;
  const char *address, *port;
  gint64 n_slices, slice_id;

  if (object == NULL || !vector_text (object, "coordinator_address", &address, error)
      || !vector_text (object, "coordinator_port", &port, error)
      || !vector_integer (object, "num_slices", &n_slices, &given_slices, error)
      || !vector_integer (object, "slice_id", &slice_id, &given_id, error))
    return NULL;
  if (address == NULL || given_slices == NULL || given_id == NULL
      || (port == NULL && json_object_has_member (object, "coordinator_port")))
    return vector_skip (error, "Python only: None where Python expects a value"), NULL;

  return vector_node_of_env (quoit_ray_coordinator_env (address, n_slices, slice_id, port));
}

static const VectorOp ops[] = {
  { "accel.VALID_TPU_TOPOLOGY.count", count_topologies, VECTOR_ANY_ORDER },
  { "accel.VALID_TPU_TOPOLOGY.list", list_topologies, VECTOR_ANY_ORDER },
  { "accel._get_default_chips_per_vm", default_chips_per_vm, VECTOR_ANY_ORDER },
  { "accel.get_chips_per_host", chips_per_host, VECTOR_ANY_ORDER },
  { "accel.get_num_chips_from_topology", chips_from_topology, VECTOR_ANY_ORDER },
  { "accel.get_num_tpu_visible_chips_per_host", visible_chips_per_host, VECTOR_ANY_ORDER },
  { "accel.get_total_chips_from_accelerator_type", chips_from_type, VECTOR_ANY_ORDER },
  { "accel.get_tpu_cores_per_chip", cores_per_chip, VECTOR_ANY_ORDER },
  { "accel.get_tpu_resource_per_chip", resource_per_chip, VECTOR_ANY_ORDER },
  { "accel.infer_tpu_pod_type_from_topology", pod_type, VECTOR_ANY_ORDER },
  { "accel.normalize_tpu_accelerator_type", normalize_type, VECTOR_ANY_ORDER },
  { "mgr.is_valid_tpu_accelerator_topology", topology_is_valid, VECTOR_ANY_ORDER },
  { "mgr.is_valid_tpu_accelerator_type", type_is_valid, VECTOR_ANY_ORDER },
  { "util.get_tpu_coordinator_env_vars", coordinator_env, VECTOR_SAME_ORDER },
  { "util.get_tpu_num_slices_for_workers", slices_for_workers, VECTOR_ANY_ORDER },
  { "util.get_tpu_version_from_type", version_from_type, VECTOR_ANY_ORDER },
  { "util.get_tpu_worker_resources", worker_resources, VECTOR_SAME_ORDER },
  { NULL, NULL, VECTOR_ANY_ORDER },
};

static const VectorOp *const tables[] = { ops,
                                          vector_ops_ray_nodes,
                                          vector_ops_ray_slices,
                                          vector_ops_ray_subslices,
                                          vector_ops_ray_tpu_labels,
                                          vector_ops_ray_tpu_host,
                                          vector_ops_ray_train,
                                          vector_ops_ray_subslice_search,
                                          vector_ops_ray_train_runs,
                                          NULL };

const VectorSuite vector_suite_ray_tpu = { "ray-tpu", tables };

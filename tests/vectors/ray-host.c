/* SPDX-License-Identifier: Apache-2.0 */
/* Suite "ray-tpu": hosts, their nodes and chips, and the launchers that start them. */
#include "runner.h"

#include <quoit/models/ray-host.h>
#include <string.h>

/* The environment and the answers of the metadata server as "NAME=value" texts. */
typedef struct {
  GPtrArray *env, *metadata; /* end with NULL when they are read */
} HostInput;

static void
host_input_clear (HostInput *input)
{
  g_clear_pointer (&input->env, g_ptr_array_unref);
  g_clear_pointer (&input->metadata, g_ptr_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (HostInput, host_input_clear)

static const char *const *
texts (GPtrArray *array)
{
  return (const char *const *) array->pdata;
}

/* "metadata" has the server's answer to each query, or to the one query of the row. */
static gboolean
add_metadata (HostInput *input, JsonNode *node, GError **error)
{
  if (node != NULL && json_node_get_value_type (node) == G_TYPE_STRING)
    return vector_pair (input->metadata, "accelerator-type", node, error);

  return vector_pairs (input->metadata, node, error);
}

static gboolean
add_source (HostInput *input, JsonObject *in, GError **error)
{
  const char *source, *value;

  if (!vector_text (in, "source", &source, error) || !vector_text (in, "value", &value, error))
    return FALSE;
  if (source == NULL)
    return TRUE;
  if (strcmp (source, "gke") == 0)
    return vector_pair (input->env, "TPU_WORKER_ID", json_object_get_member (in, "value"), error);
  if (strcmp (source, "gce") == 0)
    return vector_pair (input->metadata, "agent-worker-number", json_object_get_member (in, "value"), error);

  return vector_skip (error, "a source that C has not");
}

/* Rows have several forms: whole environments, single variables, and the results of Ray's own functions. */
static gboolean
read_host_input (JsonObject *in, HostInput *input, GError **error)
{
  static const struct {
    const char *member, *variable;
  } names[] = { { "tpu_name", "TPU_NAME" },
                { "worker_id", "TPU_WORKER_ID" },
                { "resource_per_chip", "RAY_TPU_RESOURCE_PER_CHIP" } };
  g_autoptr (GList) members = json_object_get_members (in);

  input->env = g_ptr_array_new_with_free_func (g_free);
  input->metadata = g_ptr_array_new_with_free_func (g_free);
  if (!vector_pairs (input->env, json_object_get_member (in, "env"), error)
      || !add_metadata (input, json_object_get_member (in, "metadata"), error) || !add_source (input, in, error))
    return FALSE;

  for (GList *m = members; m != NULL; m = m->next)
    {
      const char *member = m->data;
      JsonNode *value = json_object_get_member (in, member);

      if (g_str_has_prefix (member, "env.") && !vector_pair (input->env, member + strlen ("env."), value, error))
        return FALSE;
      if (g_str_has_prefix (member, "metadata.")
          && !vector_pair (input->metadata, member + strlen ("metadata."), value, error))
        return FALSE;
      for (unsigned i = 0; i < G_N_ELEMENTS (names); i++)
        if (strcmp (member, names[i].member) == 0 && !vector_pair (input->env, names[i].variable, value, error))
          return FALSE;
    }
  g_ptr_array_add (input->env, NULL);
  g_ptr_array_add (input->metadata, NULL);
  return TRUE;
}

/* The object @in without the members that C does not read. */
static JsonObject *
object_of (JsonNode *in, const char *const *members, GError **error)
{
  static const char *const input[]
      = { "env", "metadata", "source", "value", "tpu_name", "worker_id", "resource_per_chip", NULL };
  g_autoptr (GList) there = NULL;

  if (!JSON_NODE_HOLDS_OBJECT (in))
    return vector_skip (error, "an input that is no object"), NULL;

  there = json_object_get_members (json_node_get_object (in));
  for (GList *m = there; m != NULL; m = m->next)
    if (!g_strv_contains (input, m->data) && !g_strv_contains (members, m->data) && !g_str_has_prefix (m->data, "env.")
        && !g_str_has_prefix (m->data, "metadata."))
      return vector_skip (error, "an argument that C has not"), NULL;

  return json_node_get_object (in);
}

static QuoitRayHost *
read_host (JsonNode *in, GError **error)
{
  static const char *const members[] = { NULL };
  JsonObject *object = object_of (in, members, error);
  g_auto (HostInput) input = { 0 };

  if (object == NULL || !read_host_input (object, &input, error))
    return NULL;

  return quoit_ray_host_new (texts (input.env), texts (input.metadata));
}

static JsonNode *
node_of_object (JsonObject *object)
{
  g_autoptr (JsonObject) owned = object;

  return json_node_init_object (json_node_alloc (), owned);
}

static JsonNode *
node_of_what_may_be (const char *text)
{
  return text != NULL ? vector_node_of_text (g_strdup (text)) : vector_null_node ();
}

/* A number that does not fit in 64 bits stays a text, which equals no answer. */
static JsonNode *
node_of_id (const char *id)
{
  gint64 number;

  if (id == NULL || !g_ascii_string_to_signed (id, 10, G_MININT64, G_MAXINT64, &number, NULL))
    return node_of_what_may_be (id);

  return vector_node_of_integer (number);
}

static JsonNode *
node_of_resources (const QuoitRayResources *resources)
{
  return resources != NULL ? node_of_object (vector_object_of_resources (resources)) : vector_null_node ();
}

static JsonNode *
all_of_host (JsonNode *in, GError **error)
{
  g_autoptr (QuoitRayHost) host = read_host (in, error);
  JsonObject *answer;

  if (host == NULL)
    return NULL;

  answer = json_object_new ();
  json_object_set_member (answer, "pod_type", node_of_what_may_be (quoit_ray_host_get_pod_type (host)));
  json_object_set_member (answer, "name", node_of_what_may_be (quoit_ray_host_get_slice_name (host)));
  json_object_set_member (answer, "worker_id", node_of_id (quoit_ray_host_get_worker_id (host)));
  json_object_set_member (answer, "topology", node_of_what_may_be (quoit_ray_host_get_topology (host)));
  json_object_set_member (answer, "accelerator_type", node_of_what_may_be (quoit_ray_host_get_accelerator_type (host)));
  json_object_set_member (answer, "additional_resources", node_of_resources (quoit_ray_host_get_resources (host)));
  json_object_set_object_member (answer, "labels", vector_object_of_labels (quoit_ray_host_get_labels (host)));
  return node_of_object (answer);
}

typedef const char *(*TextOfHost) (const QuoitRayHost *host);

static JsonNode *
text_of_host (JsonNode *in, TextOfHost function, GError **error)
{
  g_autoptr (QuoitRayHost) host = read_host (in, error);

  return host != NULL ? node_of_what_may_be (function (host)) : NULL;
}

static JsonNode *
pod_type (JsonNode *in, GError **error)
{
  return text_of_host (in, quoit_ray_host_get_pod_type, error);
}

static JsonNode *
slice_name (JsonNode *in, GError **error)
{
  return text_of_host (in, quoit_ray_host_get_slice_name, error);
}

static JsonNode *
topology (JsonNode *in, GError **error)
{
  return text_of_host (in, quoit_ray_host_get_topology, error);
}

static JsonNode *
accelerator_type (JsonNode *in, GError **error)
{
  return text_of_host (in, quoit_ray_host_get_accelerator_type, error);
}

static JsonNode *
worker_id (JsonNode *in, GError **error)
{
  g_autoptr (QuoitRayHost) host = read_host (in, error);

  return host != NULL ? node_of_id (quoit_ray_host_get_worker_id (host)) : NULL;
}

static JsonNode *
additional_resources (JsonNode *in, GError **error)
{
  g_autoptr (QuoitRayHost) host = read_host (in, error);
  JsonObject *answer;

  if (host == NULL)
    return NULL;

  answer = json_object_new ();
  json_object_set_member (answer, "resources", node_of_resources (quoit_ray_host_get_resources (host)));
  return node_of_object (answer);
}

static JsonNode *
labels_of_host (JsonNode *in, GError **error)
{
  g_autoptr (QuoitRayHost) host = read_host (in, error);

  return host != NULL ? node_of_object (vector_object_of_labels (quoit_ray_host_get_labels (host))) : NULL;
}

static JsonNode *
pod_workers (JsonNode *in, GError **error)
{
  static const char *const members[] = { "chips_on_node", "pod_type", NULL };
  JsonObject *object = object_of (in, members, error);
  g_auto (HostInput) input = { 0 };
  g_autoptr (QuoitRayHost) host = NULL;
  const gint64 *given;
  const char *type;
  gint64 n_chips;
  int64_t n_workers;

  if (object == NULL || !vector_integer (object, "chips_on_node", &n_chips, &given, error)
      || !vector_text (object, "pod_type", &type, error) || !read_host_input (object, &input, error))
    return NULL;
  if (given == NULL)
    return vector_skip (error, "Python only: None where Python expects an integer"), NULL;

  host = quoit_ray_host_new (texts (input.env), texts (input.metadata));
  if (!json_object_has_member (object, "pod_type"))
    type = quoit_ray_host_get_pod_type (host);
  if (!quoit_ray_pod_workers (type, n_chips, &n_workers, error))
    return NULL;

  return n_workers >= 0 ? vector_node_of_integer (n_workers) : vector_null_node ();
}

static QuoitRayNode *
read_node (JsonObject *in, const HostInput *input, GError **error)
{
  g_autoptr (QuoitRayResources) custom = NULL, predefined = quoit_ray_resources_new ();
  g_autoptr (QuoitRayLabels) labels = NULL;
  const gint64 *given_chips, *given_cpus;
  gint64 n_chips = 0, n_cpus = 0;
  const char *address;

  if (!vector_resources (in, "resources", &custom, error)
      || !vector_labels (json_object_get_member (in, "labels"), &labels, error)
      || !vector_integer (in, "chips_detected", &n_chips, &given_chips, error)
      || !vector_integer (in, "num_cpus", &n_cpus, &given_cpus, error) || !vector_text (in, "node_ip", &address, error))
    return NULL;
  if (given_cpus == NULL || address == NULL)
    return vector_skip (error, "an answer of the machine that Ray ran on"), NULL;

  quoit_ray_resources_set (predefined, "CPU", (double) n_cpus);
  return quoit_ray_node_new (address, texts (input->env), texts (input->metadata), predefined, custom, labels, n_chips,
                             error);
}

static JsonNode *
resolve (JsonNode *in, GError **error)
{
  static const char *const members[] = { "resources", "labels", "chips_detected", "num_cpus", "node_ip", NULL };
  static const char *const memory[] = { "memory", "object_store_memory" };
  JsonObject *object = object_of (in, members, error), *answer, *resources;
  g_auto (HostInput) input = { 0 };
  g_autoptr (QuoitRayNode) node = NULL;

  if (object == NULL || !read_host_input (object, &input, error))
    return NULL;
  node = read_node (object, &input, error);
  if (node == NULL)
    return NULL;

  /* The memory depends on the machine, so rows do not record it. */
  resources = vector_object_of_resources (quoit_ray_node_get_resources (node));
  for (guint i = 0; i < G_N_ELEMENTS (memory); i++)
    if (json_object_has_member (resources, memory[i]))
      json_object_remove_member (resources, memory[i]);
  answer = json_object_new ();
  json_object_set_object_member (answer, "resources", resources);
  json_object_set_object_member (answer, "labels", vector_object_of_labels (quoit_ray_node_get_labels (node)));
  return node_of_object (answer);
}

static JsonNode *
visible_ids (JsonNode *in, GError **error)
{
  static const char *const members[] = { NULL };
  JsonObject *object = object_of (in, members, error);
  g_autoptr (GError) refused = NULL;
  g_autoptr (JsonArray) array = NULL;
  g_auto (HostInput) input = { 0 };
  g_auto (GStrv) ids = NULL;

  if (object == NULL || !read_host_input (object, &input, error))
    return NULL;
  ids = quoit_ray_visible_ids (texts (input.env), &refused);
  if (refused != NULL)
    return g_propagate_error (error, g_steal_pointer (&refused)), NULL;
  if (ids == NULL)
    return vector_null_node ();

  array = json_array_new ();
  for (char **id = ids; *id != NULL; id++)
    json_array_add_string_element (array, *id);
  return json_node_init_array (json_node_alloc (), array);
}

static gboolean
read_texts (JsonNode *node, GPtrArray *into, GError **error)
{
  if (node == NULL || !JSON_NODE_HOLDS_ARRAY (node))
    return vector_skip (error, "Python only: another type where C takes texts");

  for (guint i = 0; i < json_array_get_length (json_node_get_array (node)); i++)
    {
      JsonNode *element = json_array_get_element (json_node_get_array (node), i);

      if (json_node_get_value_type (element) != G_TYPE_STRING)
        return vector_skip (error, "Python only: another type where C takes a text");
      g_ptr_array_add (into, g_strdup (json_node_get_string (element)));
    }
  g_ptr_array_add (into, NULL);
  return TRUE;
}

static const char *const tpu_variables[]
    = { "TPU_VISIBLE_CHIPS", "TPU_CHIPS_PER_HOST_BOUNDS", "TPU_HOST_BOUNDS", NULL };

/* {"env_after": the variables of the three that are set} */
static JsonNode *
node_after (char **after)
{
  JsonObject *answer = json_object_new (), *env = json_object_new ();

  for (const char *const *name = tpu_variables; *name != NULL; name++)
    if (g_environ_getenv (after, *name) != NULL)
      json_object_set_string_member (env, *name, g_environ_getenv (after, *name));
  json_object_set_object_member (answer, "env_after", env);
  return node_of_object (answer);
}

/* {"set": changed variables, "unset": removed variables} */
static JsonNode *
node_of_change (char **before, char **after)
{
  JsonObject *answer = json_object_new (), *set = json_object_new ();
  JsonArray *unset = json_array_new ();

  for (const char *const *name = tpu_variables; *name != NULL; name++)
    {
      const char *was = g_environ_getenv (before, *name), *is = g_environ_getenv (after, *name);

      if (is == NULL && was != NULL)
        json_array_add_string_element (unset, *name);
      if (is != NULL && g_strcmp0 (was, is) != 0)
        json_object_set_string_member (set, *name, is);
    }
  json_object_set_object_member (answer, "set", set);
  json_object_set_array_member (answer, "unset", unset);
  return node_of_object (answer);
}

/* Rows of devices record which variables Ray sets and removes; rows of chips record the variables afterwards. */
static JsonNode *
visible_env (JsonNode *in, GError **error)
{
  static const char *const members[] = { "chips_on_node", "devices_on_node", "visible", NULL };
  JsonObject *object = object_of (in, members, error);
  gboolean is_change = object != NULL && json_object_has_member (object, "devices_on_node");
  g_autoptr (GPtrArray) ids = g_ptr_array_new_with_free_func (g_free);
  g_auto (HostInput) input = { 0 };
  g_auto (GStrv) before = NULL, after = NULL;
  const gint64 *given;
  gint64 n_on_node;

  if (object == NULL
      || !vector_integer (object, is_change ? "devices_on_node" : "chips_on_node", &n_on_node, &given, error)
      || !read_texts (json_object_get_member (object, "visible"), ids, error)
      || !read_host_input (object, &input, error))
    return NULL;
  if (given == NULL)
    return vector_skip (error, "Python only: None where Python expects an integer"), NULL;

  before = g_strdupv ((char **) texts (input.env));
  /* So that its removal is visible. */
  if (is_change)
    before = g_environ_setenv (g_steal_pointer (&before), "TPU_VISIBLE_CHIPS", "something", FALSE);
  after = quoit_ray_visible_env (texts (ids), n_on_node, (const char *const *) before, error);
  if (after == NULL)
    return NULL;

  return is_change ? node_of_change (before, after) : node_after (after);
}

static JsonNode *
quantity (JsonNode *in, GError **error)
{
  static const char *const members[] = { "quantity", NULL };
  JsonObject *object = vector_object (in, members, error), *answer;
  JsonNode *node = object != NULL ? json_object_get_member (object, "quantity") : NULL;

  if (object == NULL)
    return NULL;
  if (node == NULL
      || (json_node_get_value_type (node) != G_TYPE_INT64 && json_node_get_value_type (node) != G_TYPE_DOUBLE))
    return vector_skip (error, "Python only: another type where C takes a number"), NULL;

  answer = json_object_new ();
  json_object_set_boolean_member (answer, "ok", quoit_ray_quantity_is_valid (json_node_get_double (node)));
  return node_of_object (answer);
}

static JsonNode *
gke_pod_type (JsonNode *in, GError **error)
{
  static const char *const members[] = { "topology", "accelerator", NULL };
  JsonObject *object = vector_object (in, members, error);
  g_autoptr (GError) refused = NULL;
  g_autofree char *answer = NULL;
  const char *shape, *accelerator;

  if (object == NULL || !vector_text (object, "topology", &shape, error)
      || !vector_text (object, "accelerator", &accelerator, error))
    return NULL;

  answer = quoit_ray_gke_pod_type (shape, accelerator, &refused);
  if (refused != NULL)
    return g_propagate_error (error, g_steal_pointer (&refused)), NULL;

  return node_of_what_may_be (answer);
}

/* {"value": @value}, or @refused; takes both. */
static JsonObject *
object_of_answer (JsonNode *value, GError *refused)
{
  JsonObject *object;

  if (refused != NULL)
    return json_node_free (value), vector_object_of_refusal (refused);

  object = json_object_new ();
  json_object_set_member (object, "value", value);
  return object;
}

/* The results of the three functions that Ray's launcher calls for one node. It computes the type only for a node with
   an acceleratorConfig. */
static JsonNode *
node_of_gce (const char *accelerator, gboolean has_config, const char *type, const char *shape)
{
  JsonObject *answer = json_object_new ();
  GError *invalid = NULL, *no_type = NULL, *unknown = NULL;
  g_autofree char *from_config = NULL;
  bool is_single = false;

  quoit_ray_gce_check_accelerator (accelerator, type, shape, &invalid);
  json_object_set_object_member (answer, "validate", object_of_answer (vector_null_node (), invalid));
  if (has_config)
    {
      from_config = quoit_ray_gce_pod_type (type, shape, &no_type);
      json_object_set_object_member (answer, "type", object_of_answer (node_of_what_may_be (from_config), no_type));
    }
  quoit_ray_gce_is_single_host (accelerator, type, shape, &is_single, &unknown);
  json_object_set_object_member (answer, "single_host",
                                 object_of_answer (json_node_init_boolean (json_node_alloc (), is_single), unknown));
  return node_of_object (answer);
}

static JsonNode *
gce (JsonNode *in, GError **error)
{
  static const char *const members[] = { "acceleratorType", "acceleratorConfig", NULL };
  static const char *const of_config[] = { "type", "topology", NULL };
  JsonObject *object = vector_object (in, members, error), *config = NULL;
  const char *accelerator, *type = NULL, *shape = NULL;

  if (object == NULL || !vector_text (object, "acceleratorType", &accelerator, error))
    return NULL;
  if (json_object_has_member (object, "acceleratorConfig"))
    {
      config = vector_object (json_object_get_member (object, "acceleratorConfig"), of_config, error);
      if (config == NULL || !vector_text (config, "type", &type, error)
          || !vector_text (config, "topology", &shape, error))
        return NULL;
      if (accelerator != NULL && type == NULL && shape == NULL)
        return vector_skip (error, "an empty configuration beside a type"), NULL;
    }
  return node_of_gce (accelerator, config != NULL, type, shape);
}

const VectorOp vector_ops_ray_tpu_host[] = {
  { "mgr.get_current_node_accelerator_labels", labels_of_host, VECTOR_ANY_ORDER },
  { "mgr.get_current_node_accelerator_type", accelerator_type, VECTOR_ANY_ORDER },
  { "mgr.get_current_node_additional_resources", additional_resources, VECTOR_ANY_ORDER },
  { "mgr.get_current_node_tpu_name", slice_name, VECTOR_ANY_ORDER },
  { "mgr.get_current_node_tpu_pod_type", pod_type, VECTOR_ANY_ORDER },
  { "mgr.get_current_node_tpu_topology", topology, VECTOR_ANY_ORDER },
  { "mgr.get_current_node_tpu_worker_id", worker_id, VECTOR_ANY_ORDER },
  { "mgr.get_current_node_{tpu_pod_type,tpu_name,tpu_worker_id,tpu_topology,accelerator_type,additional_resources,"
    "accelerator_labels}",
    all_of_host, VECTOR_ANY_ORDER },
  { "mgr.get_current_process_visible_accelerator_ids", visible_ids, VECTOR_ANY_ORDER },
  { "mgr.get_num_workers_in_current_tpu_pod", pod_workers, VECTOR_ANY_ORDER },
  { "mgr.set_current_process_visible_accelerator_ids", visible_env, VECTOR_ANY_ORDER },
  { "mgr.validate_resource_request_quantity", quantity, VECTOR_ANY_ORDER },
  { "ray._private.resource_and_label_spec.ResourceAndLabelSpec.resolve", resolve, VECTOR_ANY_ORDER },
  { "ray.autoscaler._private.gcp.config.{_validate_tpu_config,_is_single_host_tpu}", gce, VECTOR_REFUSALS },
  { "ray.autoscaler._private.gcp.config.{_validate_tpu_config,tpu_accelerator_config_to_type,_is_single_host_tpu}", gce,
    VECTOR_REFUSALS },
  { "ray.autoscaler._private.kuberay.utils.tpu_node_selectors_to_type", gke_pod_type, VECTOR_ANY_ORDER },
  { "util.get_current_pod_worker_count (TPUAcceleratorManager.get_num_workers_in_current_tpu_pod)", pod_workers,
    VECTOR_ANY_ORDER },
  { NULL, NULL, VECTOR_ANY_ORDER },
};

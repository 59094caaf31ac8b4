/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include <quoit/models/ray-train.h>

#include "ray-nodes.h"

/* An integer or a tuple of two (a list in JSON). Absent means one worker. */
static gboolean
read_n_workers (JsonObject *in, QuoitRayScaling *scaling, GError **error)
{
  JsonNode *node = json_object_get_member (in, "num_workers");
  JsonArray *range;

  if (node == NULL)
    return TRUE;
  if (JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_INT64)
    return quoit_ray_scaling_set_n_workers (scaling, json_node_get_int (node)), TRUE;
  if (!JSON_NODE_HOLDS_ARRAY (node))
    return vector_skip (error, "Python only: another type where C takes a number of workers");

  range = json_node_get_array (node);
  if (json_array_get_length (range) != 2 || json_node_get_value_type (json_array_get_element (range, 0)) != G_TYPE_INT64
      || json_node_get_value_type (json_array_get_element (range, 1)) != G_TYPE_INT64)
    return vector_skip (error, "Python only: a tuple where C takes two integers");

  quoit_ray_scaling_set_worker_range (scaling, json_array_get_int_element (range, 0),
                                      json_array_get_int_element (range, 1));
  return TRUE;
}

static gboolean
read_selectors (JsonObject *in, QuoitRayScaling *scaling, GError **error)
{
  JsonNode *node = json_object_get_member (in, "label_selector");
  g_autoptr (GPtrArray) each = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_ray_labels_free);

  if (node == NULL || JSON_NODE_HOLDS_NULL (node))
    return TRUE;
  if (!JSON_NODE_HOLDS_ARRAY (node))
    {
      g_autoptr (QuoitRayLabels) labels = vector_own_labels (node, error);

      quoit_ray_scaling_set_selector (scaling, labels);
      return labels != NULL;
    }
  for (unsigned i = 0; i < json_array_get_length (json_node_get_array (node)); i++)
    {
      QuoitRayLabels *labels = vector_own_labels (json_array_get_element (json_node_get_array (node), i), error);

      if (labels == NULL)
        return FALSE;
      g_ptr_array_add (each, labels);
    }
  quoit_ray_scaling_set_selectors (scaling, (const QuoitRayLabels *const *) each->pdata, each->len);
  return TRUE;
}

static gboolean
is_true (JsonObject *in, const char *member)
{
  return json_object_get_boolean_member_with_default (in, member, FALSE);
}

static gboolean
read_interval (JsonObject *in, QuoitRayScaling *scaling, GError **error)
{
  JsonNode *node = json_object_get_member (in, "elastic_resize_monitor_interval_s");
  double seconds;

  if (node == NULL)
    return TRUE;
  if (json_node_get_value_type (node) != G_TYPE_INT64 && json_node_get_value_type (node) != G_TYPE_DOUBLE)
    return vector_skip (error, "Python only: another type where C takes an interval");

  seconds = json_node_get_double (node);
  quoit_ray_scaling_set_monitor_interval (scaling, seconds < 0 ? -1 : (int64_t) (seconds * 1000));
  return TRUE;
}

static QuoitRayScaling *
read_scaling (JsonObject *in, GError **error)
{
  g_autoptr (QuoitRayScaling) scaling = quoit_ray_scaling_new ();
  g_autoptr (QuoitRayResources) per_worker = NULL;
  const char *topology, *type, *strategy;

  if (!vector_text (in, "topology", &topology, error) || !vector_text (in, "accelerator_type", &type, error)
      || !vector_text (in, "placement_strategy", &strategy, error)
      || !vector_resources (in, "resources_per_worker", &per_worker, error) || !read_n_workers (in, scaling, error)
      || !read_selectors (in, scaling, error) || !read_interval (in, scaling, error))
    return NULL;

  quoit_ray_scaling_set_topology (scaling, topology);
  quoit_ray_scaling_set_accelerator_type (scaling, type);
  quoit_ray_scaling_set_resources (scaling, per_worker);
  if (strategy != NULL)
    quoit_ray_scaling_set_strategy (scaling, strategy);
  quoit_ray_scaling_set_accelerators (scaling,
                                      (is_true (in, "use_gpu") ? QUOIT_RAY_USE_GPU : QUOIT_RAY_USE_NONE)
                                          | (is_true (in, "use_tpu") ? QUOIT_RAY_USE_TPU : QUOIT_RAY_USE_NONE));
  return g_steal_pointer (&scaling);
}

static JsonArray *
array_of_selectors (const QuoitRayTrainPlan *plan)
{
  JsonArray *array = json_array_new ();

  for (int64_t i = 0; i < quoit_ray_train_plan_get_max_workers (plan); i++)
    {
      const QuoitRayLabels *labels = quoit_ray_train_plan_get_labels (plan, i);
      JsonObject *object = json_object_new ();
      const char *key;

      for (unsigned k = 0; labels != NULL && (key = quoit_ray_labels_get_key (labels, k)) != NULL; k++)
        json_object_set_string_member (object, key, quoit_ray_labels_get_value (labels, k));
      json_array_add_object_element (array, object);
    }
  return array;
}

static JsonNode *
scaling_config (JsonNode *in, GError **error)
{
  static const char *const members[] = { "use_tpu",
                                         "use_gpu",
                                         "topology",
                                         "accelerator_type",
                                         "num_workers",
                                         "resources_per_worker",
                                         "placement_strategy",
                                         "label_selector",
                                         "elastic_resize_monitor_interval_s",
                                         NULL };
  JsonObject *object = vector_object (in, members, error);
  g_autoptr (QuoitRayScaling) scaling = object != NULL ? read_scaling (object, error) : NULL;
  g_autoptr (QuoitRayTrainPlan) plan = scaling != NULL ? quoit_ray_train_plan_new (scaling, error) : NULL;
  g_autoptr (QuoitRaySliceRequest) request = NULL;
  g_autoptr (QuoitRayResources) total = NULL;
  g_autoptr (JsonObject) answer = NULL;
  const char *name;
  double tpu = 0;
  int64_t most;

  if (plan == NULL)
    return NULL;

  answer = json_object_new ();
  most = quoit_ray_train_plan_get_max_workers (plan);
  request = quoit_ray_train_plan_dup_slice_request (plan, most);
  total = quoit_ray_train_plan_dup_total_resources (plan);
  for (unsigned i = 0; (name = quoit_ray_resources_get_name (quoit_ray_train_plan_get_resources (plan), i)) != NULL;
       i++)
    if (strcmp (name, "TPU") == 0)
      tpu = quoit_ray_resources_get_amount (quoit_ray_train_plan_get_resources (plan), i);
  json_object_set_boolean_member (answer, "valid", TRUE);
  json_object_set_int_member (answer, "min_workers", quoit_ray_train_plan_get_min_workers (plan));
  json_object_set_int_member (answer, "max_workers", most);
  json_object_set_boolean_member (answer, "elasticity_enabled", quoit_ray_train_plan_is_elastic (plan));
  json_object_set_object_member (answer, "resources_per_worker",
                                 vector_object_of_resources (quoit_ray_train_plan_get_resources (plan)));
  json_object_set_double_member (answer, "num_tpus_per_worker", tpu);
  json_object_set_object_member (answer, "total_resources", vector_object_of_resources (total));
  json_object_set_int_member (answer, "num_slices", quoit_ray_train_plan_n_slices (plan, most));
  json_object_set_boolean_member (answer, "slice_placement_group", request != NULL);
  json_object_set_int_member (answer, "workers_per_slice", quoit_ray_train_plan_get_workers_per_slice (plan));
  json_object_set_array_member (answer, "label_selector_per_worker", array_of_selectors (plan));
  vector_keep_recorded (in, answer);
  return json_node_init_object (json_node_alloc (), answer);
}

/* A number, or words for a value that only floating-point addition produces: "0.1 added 5 times in floating point". */
static gboolean
read_amount (JsonNode *node, double *amount, GError **error)
{
  GType type = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_INVALID;
  double step;
  unsigned times;

  if (type == G_TYPE_INT64 || type == G_TYPE_DOUBLE)
    return *amount = json_node_get_double (node), TRUE;
  if (type != G_TYPE_STRING
      || sscanf (json_node_get_string (node), "%lf added %u times in floating point", &step, &times) != 2)
    return vector_skip (error, "an amount in another form");

  for (*amount = 0; times > 0; times--)
    *amount += step;
  return TRUE;
}

static QuoitRayResources *
read_elastic_node (JsonObject *in, GError **error)
{
  g_autoptr (QuoitRayResources) has = quoit_ray_resources_new ();
  JsonNode *node = json_object_get_member (in, "node");
  g_autoptr (GList) names = NULL;

  if (node == NULL || !JSON_NODE_HOLDS_OBJECT (node))
    return vector_skip (error, "a node in another form"), NULL;

  names = json_object_get_members (json_node_get_object (node));
  for (GList *n = names; n != NULL; n = n->next)
    {
      double amount = 0;

      if (!read_amount (json_object_get_member (json_node_get_object (node), n->data), &amount, error))
        return NULL;
      quoit_ray_resources_set (has, n->data, amount);
    }
  return g_steal_pointer (&has);
}

/* Rows do not name the accelerator: requests with slices use TPU, and requests for GPU use GPU. */
static QuoitRayTrainPlan *
read_elastic_plan (JsonObject *in, GError **error)
{
  g_autoptr (QuoitRayScaling) scaling = read_scaling (in, error);
  g_autoptr (QuoitRayResources) per_worker = NULL;
  const char *name;

  if (scaling == NULL || !vector_resources (in, "resources_per_worker", &per_worker, error))
    return NULL;

  if (json_object_has_member (in, "topology"))
    quoit_ray_scaling_set_accelerators (scaling, QUOIT_RAY_USE_TPU);
  for (unsigned i = 0; per_worker != NULL && (name = quoit_ray_resources_get_name (per_worker, i)) != NULL; i++)
    if (strcmp (name, "GPU") == 0 && quoit_ray_resources_get_amount (per_worker, i) > 0)
      quoit_ray_scaling_set_accelerators (scaling, QUOIT_RAY_USE_GPU);
  return quoit_ray_train_plan_new (scaling, error);
}

static JsonNode *
count_possible (JsonNode *in, GError **error)
{
  static const char *const members[] = { "topology", "accelerator_type", "num_workers", "resources_per_worker", "nodes",
                                         "node",     "intact_slices",    NULL };
  JsonObject *object = vector_object (in, members, error);
  g_autoptr (QuoitRayTrainPlan) plan = object != NULL ? read_elastic_plan (object, error) : NULL;
  g_autoptr (QuoitRayResources) node = plan != NULL ? read_elastic_node (object, error) : NULL;
  g_autofree const QuoitRayResources **reserved = NULL;
  const gint64 *given_nodes, *given_intact;
  gint64 n_nodes, intact;
  int64_t n_intact, n_workers;

  if (node == NULL || !vector_integer (object, "nodes", &n_nodes, &given_nodes, error)
      || !vector_integer (object, "intact_slices", &intact, &given_intact, error))
    return NULL;

  reserved = g_new (const QuoitRayResources *, n_nodes + 1);
  for (gint64 i = 0; i < n_nodes; i++)
    reserved[i] = node;
  n_intact = given_intact != NULL ? *given_intact : 0;
  if (!quoit_ray_train_count_possible (plan, reserved, (unsigned) n_nodes, given_intact != NULL ? &n_intact : NULL,
                                       &n_workers, error))
    return NULL;
  return vector_node_of_integer (n_workers);
}

const VectorOp vector_ops_ray_train[] = {
  { "ray.train.v2._internal.execution.scaling_policy.elastic.ElasticScalingPolicy._count_possible_workers",
    count_possible, VECTOR_ANY_ORDER },
  { "ray.train.v2.api.config.ScalingConfig", scaling_config, VECTOR_ANY_ORDER },
  { NULL, NULL, VECTOR_ANY_ORDER },
};

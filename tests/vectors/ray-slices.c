/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <quoit/models/ray-slices.h>

#include "ray-nodes.h"

static const char *const request_members[] = { "topology",
                                               "accelerator_version",
                                               "num_slices",
                                               "chips_per_vm",
                                               "resources_per_bundle",
                                               "strategy",
                                               "name",
                                               "lifetime",
                                               "pg_per_slice",
                                               "bundle_label_selector",
                                               "reserved_slice",
                                               "tpu_resource_per_chip",
                                               NULL };

static gboolean
read_numbers (JsonObject *in, QuoitRaySliceRequest *request, GError **error)
{
  const gint64 *n_slices, *chips_per_vm, *factor;
  gint64 values[3];

  if (!vector_integer (in, "num_slices", &values[0], &n_slices, error)
      || !vector_integer (in, "chips_per_vm", &values[1], &chips_per_vm, error)
      || !vector_integer (in, "tpu_resource_per_chip", &values[2], &factor, error))
    return FALSE;

  if (n_slices != NULL)
    quoit_ray_slice_request_set_n_slices (request, *n_slices);
  if (chips_per_vm != NULL)
    quoit_ray_slice_request_set_chips_per_vm (request, *chips_per_vm);
  if (factor != NULL)
    quoit_ray_slice_request_set_resource_per_chip (request, *factor);
  return TRUE;
}

static gboolean
read_texts (JsonObject *in, QuoitRaySliceRequest *request, GError **error)
{
  const char *strategy, *name, *lifetime;

  if (!vector_text (in, "strategy", &strategy, error) || !vector_text (in, "name", &name, error)
      || !vector_text (in, "lifetime", &lifetime, error))
    return FALSE;

  if (strategy != NULL)
    quoit_ray_slice_request_set_strategy (request, strategy);
  if (name != NULL)
    quoit_ray_slice_request_set_name (request, name);
  quoit_ray_slice_request_set_lifetime (request, lifetime);
  return TRUE;
}

static gboolean
read_selectors (JsonObject *in, QuoitRaySliceRequest *request, GError **error)
{
  JsonNode *node = json_object_get_member (in, "bundle_label_selector");
  JsonArray *list;

  if (node == NULL || JSON_NODE_HOLDS_NULL (node))
    return TRUE;
  if (!JSON_NODE_HOLDS_ARRAY (node))
    return vector_skip (error, "Python only: another type where C takes selectors");

  list = json_node_get_array (node);
  for (unsigned i = 0; i < json_array_get_length (list); i++)
    {
      g_autoptr (QuoitRayLabels) labels = NULL;

      if (json_array_get_null_element (list, i))
        return vector_skip (error, "Python only: None where Python expects a dictionary");
      labels = vector_own_labels (json_array_get_element (list, i), error);
      if (labels == NULL)
        return FALSE;
      quoit_ray_slice_request_add_selector (request, labels);
    }
  return TRUE;
}

static QuoitRaySliceRequest *
read_request (JsonObject *in, GError **error)
{
  g_autoptr (QuoitRaySliceRequest) request = NULL;
  g_autoptr (QuoitRayResources) resources = NULL;
  const char *topology, *version;

  if (!vector_text (in, "topology", &topology, error) || !vector_text (in, "accelerator_version", &version, error)
      || !vector_resources (in, "resources_per_bundle", &resources, error))
    return NULL;

  /* Rows about names and properties have no topology. */
  if (!json_object_has_member (in, "topology"))
    topology = "4x4";
  if (!json_object_has_member (in, "accelerator_version"))
    version = "v6e";
  request = quoit_ray_slice_request_new (topology, version);
  quoit_ray_slice_request_set_resources (request, resources);
  if (json_object_get_boolean_member_with_default (in, "pg_per_slice", FALSE))
    quoit_ray_slice_request_set_layout (request, QUOIT_RAY_LAYOUT_GROUP_PER_SLICE);
  if (!read_numbers (in, request, error) || !read_texts (in, request, error) || !read_selectors (in, request, error))
    return NULL;
  return g_steal_pointer (&request);
}

/* Assigns the reserved heads to slices "slice-0" and on, or to the slice that the row names. */
static void
name_slices (QuoitRaySliceGroup *group, const char *reserved)
{
  for (int64_t head = 0; head < quoit_ray_slice_group_get_n_heads (group); head++)
    {
      g_autofree char *name = g_strdup_printf ("slice-%d", (int) head);

      quoit_ray_slice_group_set_slice_name (group, quoit_ray_slice_group_get_head_slice (group, head),
                                            reserved != NULL ? reserved : name, NULL);
    }
}

static QuoitRaySliceGroup *
read_group (JsonNode *in, GError **error)
{
  JsonObject *object = vector_object (in, request_members, error);
  g_autoptr (QuoitRaySliceRequest) request = object != NULL ? read_request (object, error) : NULL;
  QuoitRaySliceGroup *group;
  const char *reserved;

  if (request == NULL || !vector_text (object, "reserved_slice", &reserved, error))
    return NULL;

  group = quoit_ray_slice_group_new (request, error);
  if (group != NULL)
    name_slices (group, reserved);
  return group;
}

static JsonObject *
object_of_labels (const QuoitRayLabels *labels)
{
  JsonObject *object = json_object_new ();
  const char *key;

  for (unsigned i = 0; (key = quoit_ray_labels_get_key (labels, i)) != NULL; i++)
    {
      const char *value = quoit_ray_labels_get_value (labels, i);

      if (value != NULL)
        json_object_set_string_member (object, key, value);
      else
        json_object_set_null_member (object, key);
    }
  return object;
}

static JsonArray *
array_of_bundle_labels (const QuoitRaySliceGroup *group)
{
  JsonArray *array = json_array_new ();

  for (int64_t i = 0; i < quoit_ray_slice_group_get_n_bundles (group); i++)
    {
      g_autoptr (QuoitRayLabels) labels = quoit_ray_slice_group_dup_bundle_labels (group, i);

      json_array_add_object_element (array, object_of_labels (labels));
    }
  return array;
}

static JsonObject *
head_bundle (const QuoitRaySliceGroup *group)
{
  JsonObject *bundle = json_object_new ();

  json_object_set_int_member (bundle, quoit_ray_slice_group_get_head_resource (group), 1);
  return bundle;
}

/* One list per head, each with one bundle. */
static JsonArray *
array_of_heads (const QuoitRaySliceGroup *group, JsonObject *(*describe) (const QuoitRaySliceGroup *group))
{
  JsonArray *array = json_array_new ();

  for (int64_t i = 0; i < quoit_ray_slice_group_get_n_heads (group); i++)
    {
      JsonArray *bundles = json_array_new ();

      json_array_add_object_element (bundles, describe (group));
      json_array_add_array_element (array, bundles);
    }
  return array;
}

static JsonObject *
head_selector (const QuoitRaySliceGroup *group)
{
  return object_of_labels (quoit_ray_slice_group_get_head_labels (group));
}

static void
set_groups (JsonObject *answer, const QuoitRaySliceGroup *group)
{
  JsonArray *groups = json_array_new (), *names = json_array_new ();

  for (int64_t i = 0; i < quoit_ray_slice_group_get_n_groups (group); i++)
    {
      JsonObject *one = json_object_new ();
      g_autofree char *name = quoit_ray_slice_group_dup_group_name (group, i);
      const char *lifetime = quoit_ray_slice_group_get_lifetime (group);

      json_object_set_int_member (one, "bundles", quoit_ray_slice_group_get_group_n_bundles (group, i));
      json_object_set_string_member (one, "strategy", quoit_ray_slice_group_get_strategy (group));
      json_object_set_string_member (one, "name", name);
      if (lifetime != NULL)
        json_object_set_string_member (one, "lifetime", lifetime);
      else
        json_object_set_null_member (one, "lifetime");
      json_array_add_object_element (groups, one);
      json_array_add_string_element (names, name);
    }
  json_object_set_array_member (answer, "worker_groups", groups);
  json_object_set_array_member (answer, "names", names);
}

/* Whether each bundle keeps the slice selector of its request. */
static gboolean
keeps_user_values (JsonNode *in, const QuoitRaySliceGroup *group)
{
  JsonNode *asked = json_object_get_member (json_node_get_object (in), "bundle_label_selector");
  JsonArray *list = asked != NULL && JSON_NODE_HOLDS_ARRAY (asked) ? json_node_get_array (asked) : NULL;

  for (unsigned i = 0; list != NULL && i < json_array_get_length (list); i++)
    {
      g_autoptr (QuoitRayLabels) labels = quoit_ray_slice_group_dup_bundle_labels (group, i);
      const char *name = json_object_get_string_member_with_default (json_array_get_object_element (list, i),
                                                                     "ray.io/tpu-slice-name", NULL);

      if (name != NULL && g_strcmp0 (name, quoit_ray_labels_find (labels, "ray.io/tpu-slice-name")) != 0)
        return FALSE;
    }
  return TRUE;
}

static void
set_counts (JsonObject *answer, const QuoitRaySliceGroup *group)
{
  json_object_set_int_member (answer, "chips_per_host", quoit_ray_slice_group_get_chips_per_host (group));
  json_object_set_int_member (answer, "devices_per_host", quoit_ray_slice_group_get_devices_per_host (group));
  json_object_set_int_member (answer, "num_hosts", quoit_ray_slice_group_get_n_hosts (group));
  json_object_set_int_member (answer, "num_bundles", quoit_ray_slice_group_get_n_bundles (group));
  json_object_set_int_member (answer, "bundles_per_slice", quoit_ray_slice_group_get_bundles_per_slice (group));
  json_object_set_int_member (answer, "head_reservations", quoit_ray_slice_group_get_n_heads (group));
  json_object_set_boolean_member (answer, "single_host", quoit_ray_slice_group_is_single_host (group));
}

static JsonNode *
slice_group (JsonNode *in, GError **error)
{
  g_autoptr (QuoitRaySliceGroup) group = read_group (in, error);
  g_autoptr (JsonObject) answer = json_object_new ();

  if (group == NULL)
    return NULL;

  json_object_set_string_member (answer, "accelerator_version", quoit_ray_slice_group_get_version (group));
  json_object_set_string_member (answer, "topology", quoit_ray_slice_group_get_topology (group));
  set_counts (answer, group);
  json_object_set_object_member (answer, "bundle_resources",
                                 vector_object_of_resources (quoit_ray_slice_group_get_resources (group)));
  json_object_set_array_member (answer, "bundle_label_selector", array_of_bundle_labels (group));
  json_object_set_array_member (answer, "bundle_labels", array_of_bundle_labels (group));
  json_object_set_boolean_member (answer, "user_value_kept", keeps_user_values (in, group));
  if (quoit_ray_slice_group_get_n_heads (group) > 0)
    json_object_set_object_member (answer, "head_bundle", head_bundle (group));
  else
    json_object_set_null_member (answer, "head_bundle");
  json_object_set_array_member (answer, "head_bundles", array_of_heads (group, head_bundle));
  json_object_set_array_member (answer, "head_selectors", array_of_heads (group, head_selector));
  set_groups (answer, group);
  vector_keep_recorded (in, answer);
  return json_node_init_object (json_node_alloc (), answer);
}

static JsonNode *
names_of_layout (JsonNode *in, QuoitRaySliceLayout layout, GError **error)
{
  g_autoptr (QuoitRaySliceGroup) group = read_group (in, error);
  g_autoptr (JsonObject) answer = json_object_new ();

  if (group == NULL || !quoit_ray_slice_group_check_layout (group, layout, error))
    return NULL;

  set_groups (answer, group);
  vector_keep_recorded (in, answer);
  return json_node_init_object (json_node_alloc (), answer);
}

static JsonNode *
one_group (JsonNode *in, GError **error)
{
  return names_of_layout (in, QUOIT_RAY_LAYOUT_ONE_GROUP, error);
}

static JsonNode *
several_groups (JsonNode *in, GError **error)
{
  return names_of_layout (in, QUOIT_RAY_LAYOUT_GROUP_PER_SLICE, error);
}

const VectorOp vector_ops_ray_slices[] = {
  { "util.SlicePlacementGroup", slice_group, VECTOR_ANY_ORDER },
  { "util.SlicePlacementGroup.slice_placement_group", one_group, VECTOR_ANY_ORDER },
  { "util.SlicePlacementGroup.slice_placement_groups", several_groups, VECTOR_ANY_ORDER },
  { "util.slice_placement_group", slice_group, VECTOR_ANY_ORDER },
  { NULL, NULL, VECTOR_ANY_ORDER },
};

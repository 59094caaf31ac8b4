/* SPDX-License-Identifier: Apache-2.0 */
#include "ray-nodes.h"

QuoitRayLabels *
vector_own_labels (JsonNode *node, GError **error)
{
  QuoitRayLabels *labels = NULL;

  if (!vector_labels (node, &labels, error))
    return NULL;
  return labels != NULL ? labels : quoit_ray_labels_new ();
}

static gboolean
read_node (JsonNode *element, QuoitRayNodes *nodes, GError **error)
{
  g_autoptr (QuoitRayLabels) labels = NULL;
  g_autoptr (QuoitRayResources) total = NULL;
  JsonObject *row;
  const char *id;
  unsigned index;

  if (!JSON_NODE_HOLDS_OBJECT (element))
    return vector_skip (error, "Python only: another type where C takes a node");

  row = json_node_get_object (element);
  labels = vector_own_labels (json_object_get_member (row, "Labels"), error);
  if (labels == NULL || !vector_text (row, "NodeID", &id, error) || !vector_resources (row, "Resources", &total, error))
    return FALSE;

  /* Ray treats a missing node id like an empty one. */
  index = quoit_ray_nodes_add (nodes, id != NULL ? id : "", labels, total);
  if (!json_object_get_boolean_member_with_default (row, "Alive", FALSE))
    quoit_ray_nodes_set_dead (nodes, index);
  return TRUE;
}

gboolean
vector_available (JsonNode *available, QuoitRayNodes *nodes, GError **error)
{
  g_autoptr (GList) ids = NULL;

  if (available == NULL || JSON_NODE_HOLDS_NULL (available))
    return TRUE;
  if (!JSON_NODE_HOLDS_OBJECT (available))
    return vector_skip (error, "Python only: another type where C takes what is available");

  ids = json_object_get_members (json_node_get_object (available));
  for (GList *id = ids; id != NULL; id = id->next)
    {
      g_autoptr (QuoitRayResources) left = NULL;

      if (!vector_resources (json_node_get_object (available), id->data, &left, error))
        return FALSE;
      if (left != NULL)
        quoit_ray_nodes_set_available (nodes, id->data, left);
    }
  return TRUE;
}

QuoitRayNodes *
vector_nodes (JsonObject *object, GError **error)
{
  g_autoptr (QuoitRayNodes) nodes = quoit_ray_nodes_new ();
  JsonNode *list = json_object_get_member (object, "nodes");

  if (list != NULL && !JSON_NODE_HOLDS_NULL (list) && !JSON_NODE_HOLDS_ARRAY (list))
    return vector_skip (error, "Python only: another type where C takes nodes"), NULL;

  for (unsigned i = 0;
       list != NULL && JSON_NODE_HOLDS_ARRAY (list) && i < json_array_get_length (json_node_get_array (list)); i++)
    if (!read_node (json_array_get_element (json_node_get_array (list), i), nodes, error))
      return NULL;

  return vector_available (json_object_get_member (object, "available"), nodes, error) ? g_steal_pointer (&nodes)
                                                                                       : NULL;
}

typedef struct {
  QuoitRayNodes *nodes;
  const char *topology, *type;
  gint64 value;
  int64_t factor;
  const int64_t *given; /* NULL: the default */
} CountArguments;

static gboolean
read_count_arguments (JsonNode *in, CountArguments *arguments, GError **error)
{
  static const char *const members[]
      = { "topology", "accelerator_type", "nodes", "available", "tpu_resource_per_chip", "ray_initialized", NULL };
  JsonObject *object = vector_object (in, members, error);
  const gint64 *given;

  if (object == NULL || !vector_text (object, "topology", &arguments->topology, error)
      || !vector_text (object, "accelerator_type", &arguments->type, error)
      || !vector_integer (object, "tpu_resource_per_chip", &arguments->value, &given, error))
    return FALSE;

  /* An unconnected client gets no nodes. */
  if (!json_object_get_boolean_member_with_default (object, "ray_initialized", TRUE))
    json_object_remove_member (object, "nodes");
  arguments->factor = given != NULL ? *given : 1;
  arguments->given = given != NULL ? &arguments->factor : NULL;
  arguments->nodes = vector_nodes (object, error);
  return arguments->nodes != NULL;
}

static void
count_arguments_clear (CountArguments *arguments)
{
  g_clear_pointer (&arguments->nodes, quoit_ray_nodes_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CountArguments, count_arguments_clear)

static JsonNode *
count_ready (JsonNode *in, GError **error)
{
  g_auto (CountArguments) c = { 0 };

  if (!read_count_arguments (in, &c, error))
    return NULL;

  return vector_node_of_integer (quoit_ray_count_ready_slices (c.nodes, c.topology, c.type, c.given));
}

static JsonNode *
count_intact (JsonNode *in, GError **error)
{
  g_auto (CountArguments) c = { 0 };

  if (!read_count_arguments (in, &c, error))
    return NULL;

  return vector_node_of_integer (quoit_ray_count_slices (c.nodes, c.topology, c.type, c.given));
}

static JsonNode *
count_both (JsonNode *in, GError **error)
{
  g_auto (CountArguments) c = { 0 };
  g_autoptr (JsonObject) answer = json_object_new ();

  if (!read_count_arguments (in, &c, error))
    return NULL;

  json_object_set_int_member (answer, "ready", quoit_ray_count_ready_slices (c.nodes, c.topology, c.type, c.given));
  json_object_set_int_member (answer, "intact", quoit_ray_count_slices (c.nodes, c.topology, c.type, c.given));
  return json_node_init_object (json_node_alloc (), answer);
}

static JsonNode *
nodes_of_slice (JsonNode *in, GError **error)
{
  static const char *const members[] = { "slice_name", "nodes", NULL };
  JsonObject *object = vector_object (in, members, error);
  g_autoptr (QuoitRayNodes) nodes = object != NULL ? vector_nodes (object, error) : NULL;
  g_autoptr (JsonObject) answer = json_object_new ();
  JsonArray *ids;
  const char *name;

  if (nodes == NULL || !vector_text (object, "slice_name", &name, error))
    return NULL;

  ids = json_array_new ();
  for (unsigned i = 0; (i = quoit_ray_nodes_find_slice_node (nodes, name, i)) < quoit_ray_nodes_get_n (nodes); i++)
    json_array_add_string_element (ids, quoit_ray_nodes_get_id (nodes, i));
  json_object_set_array_member (answer, "node_ids", ids);
  return json_node_init_object (json_node_alloc (), answer);
}

static JsonNode *
slice_name_of_node (JsonNode *in, GError **error)
{
  static const char *const members[] = { "node", NULL };
  JsonObject *object = vector_object (in, members, error);
  g_autoptr (QuoitRayNodes) nodes = quoit_ray_nodes_new ();
  const char *name;

  if (object == NULL || !read_node (json_object_get_member (object, "node"), nodes, error))
    return NULL;

  name = quoit_ray_nodes_get_slice_name (nodes, 0);
  return name != NULL ? vector_node_of_text (g_strdup (name)) : json_node_init_null (json_node_alloc ());
}

const VectorOp vector_ops_ray_nodes[] = {
  { "util.get_num_ready_tpu_slices", count_ready, VECTOR_ANY_ORDER },
  { "util.get_num_ready_tpu_slices + get_num_tpu_slices", count_both, VECTOR_SAME_ORDER },
  { "util.get_num_tpu_slices", count_intact, VECTOR_ANY_ORDER },
  { "util.get_tpu_nodes_for_slice", nodes_of_slice, VECTOR_ANY_ORDER },
  { "util.get_tpu_slice_name_from_node", slice_name_of_node, VECTOR_ANY_ORDER },
  { NULL, NULL, VECTOR_ANY_ORDER },
};

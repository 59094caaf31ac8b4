/* SPDX-License-Identifier: Apache-2.0 */
/* Ray's choice of subslices from its records of a slice. */
#include <quoit/models/ray-subslices.h>

#include "ray-nodes.h"

static void
add_worker (QuoitRayNodes *nodes, const char *slice, const char *topology, const char *worker_id, double tpu)
{
  g_autofree char *id = g_strdup_printf ("n%s", worker_id);
  g_autoptr (QuoitRayLabels) labels = quoit_ray_labels_new ();
  g_autoptr (QuoitRayResources) total = quoit_ray_resources_new ();

  quoit_ray_labels_set (labels, "ray.io/tpu-slice-name", slice);
  quoit_ray_labels_set (labels, "ray.io/tpu-worker-id", worker_id);
  quoit_ray_labels_set (labels, "ray.io/tpu-topology", topology);
  quoit_ray_resources_set (total, "TPU", tpu);
  quoit_ray_nodes_add (nodes, id, labels, total);
}

static void
set_free (QuoitRayNodes *nodes, const char *worker_id, const char *resource, double amount)
{
  g_autofree char *id = g_strdup_printf ("n%s", worker_id);
  g_autoptr (QuoitRayResources) available = quoit_ray_resources_new ();

  quoit_ray_resources_set (available, resource, amount);
  quoit_ray_nodes_set_available (nodes, id, available);
}

static JsonNode *
is_head_free (JsonNode *in, GError **error)
{
  static const char *const members[] = { "available_on_worker_0", "head_resource", NULL };
  JsonObject *object = vector_object (in, members, error);
  g_autoptr (QuoitRayNodes) nodes = quoit_ray_nodes_new ();
  g_autoptr (QuoitRayResources) available = NULL;
  const char *resource;

  if (object == NULL || !vector_text (object, "head_resource", &resource, error)
      || !vector_resources (object, "available_on_worker_0", &available, error))
    return NULL;

  add_worker (nodes, "s", "4x4", "0", 4);
  if (available != NULL)
    quoit_ray_nodes_set_available (nodes, "n0", available);
  return json_node_init_boolean (json_node_alloc (), quoit_ray_nodes_is_head_free (nodes, "s", resource));
}

/* Reads the workers of a slice with their labels, or the four workers of the slice that some rows describe in words. */
static gboolean
read_workers (JsonObject *in, QuoitRaySubslices *known, QuoitRayNodes *nodes, GError **error)
{
  static const char words[] = "4x4 slice, worker k has 2x2 index k and 2x4 index k//2, 4 TPU each";
  JsonNode *node = json_object_get_member (in, "worker_labels");
  g_autoptr (GList) ids = NULL;

  if (node != NULL && JSON_NODE_HOLDS_VALUE (node) && g_strcmp0 (json_node_get_string (node), words) == 0)
    {
      for (int worker = 0; worker < 4; worker++)
        {
          g_autofree char *id = g_strdup_printf ("%d", worker);
          g_autoptr (QuoitRayLabels) labels = quoit_ray_subslice_labels (worker, "4x4", NULL);

          quoit_ray_subslices_set (known, "s", id, labels);
          add_worker (nodes, "s", "4x4", id, 4);
        }
      return TRUE;
    }
  if (node == NULL || !JSON_NODE_HOLDS_OBJECT (node))
    return vector_skip (error, "labels of workers in another form");

  ids = json_object_get_members (json_node_get_object (node));
  for (GList *id = ids; id != NULL; id = id->next)
    {
      g_autoptr (QuoitRayLabels) labels
          = vector_own_labels (json_object_get_member (json_node_get_object (node), id->data), error);

      if (labels == NULL)
        return FALSE;
      quoit_ray_subslices_set (known, "s", id->data, labels);
      add_worker (nodes, "s", "4x4", id->data, json_object_get_double_member (in, "node_total_TPU"));
    }
  return TRUE;
}

static gboolean
read_free (JsonObject *in, QuoitRayNodes *nodes, GError **error)
{
  g_autoptr (QuoitRayResources) left = NULL;
  const char *id;

  if (!vector_resources (in, "node_free_TPU", &left, error)
      || !vector_available (json_object_get_member (in, "available"), nodes, error))
    return FALSE;

  for (unsigned i = 0; left != NULL && (id = quoit_ray_resources_get_name (left, i)) != NULL; i++)
    set_free (nodes, id, "TPU", quoit_ray_resources_get_amount (left, i));
  return TRUE;
}

static JsonNode *
node_of_subslice (char **workers, int64_t index)
{
  g_autoptr (JsonObject) answer = json_object_new ();

  if (workers == NULL)
    {
      json_object_set_null_member (answer, "worker_ids");
      json_object_set_null_member (answer, "subslice_index");
      return json_node_init_object (json_node_alloc (), answer);
    }
  json_object_set_array_member (answer, "worker_ids", vector_array_of_texts ((const char *const *) workers));
  json_object_set_int_member (answer, "subslice_index", index);
  return json_node_init_object (json_node_alloc (), answer);
}

static JsonNode *
find_subslice (JsonNode *in, GError **error)
{
  static const char *const members[] = { "slice",         "subslice_topology", "worker_labels",  "node_total_TPU",
                                         "node_free_TPU", "available",         "subslice_index", NULL };
  JsonObject *object = vector_object (in, members, error);
  g_autoptr (QuoitRaySubslices) known = quoit_ray_subslices_new ();
  g_autoptr (QuoitRayNodes) nodes = quoit_ray_nodes_new ();
  g_autoptr (GError) refused = NULL;
  g_auto (GStrv) workers = NULL;
  const char *topology;
  const gint64 *given;
  gint64 value;
  int64_t index, found = 0;

  if (object == NULL || !vector_text (object, "subslice_topology", &topology, error)
      || !vector_integer (object, "subslice_index", &value, &given, error)
      || !read_workers (object, known, nodes, error) || !read_free (object, nodes, error))
    return NULL;

  index = given != NULL ? *given : 0;
  workers = quoit_ray_subslices_find (known, nodes, "s", topology, given != NULL ? &index : NULL, &found, &refused);
  if (refused != NULL)
    return g_propagate_error (error, g_steal_pointer (&refused)), NULL;
  return node_of_subslice (workers, found);
}

/* One 4x4 slice whose workers have the given TPU free. Rows record how much of the head is available, and whether
   the slice is known. */
static gboolean
read_one_slice (JsonObject *in, const char *slice, QuoitRaySubslices *known, QuoitRayNodes *nodes, GError **error)
{
  JsonNode *list = json_object_get_member (in, "free");

  if (list == NULL || !JSON_NODE_HOLDS_ARRAY (list))
    return vector_skip (error, "a slice in another form");

  for (unsigned i = 0; i < json_array_get_length (json_node_get_array (list)); i++)
    {
      g_autofree char *id = g_strdup_printf ("%u", i);
      double left = json_array_get_double_element (json_node_get_array (list), i);

      add_worker (nodes, slice, "4x4", id, 4);
      set_free (nodes, id, "TPU", left);
      if (i == 0 && json_object_has_member (in, "head_avail"))
        {
          g_autoptr (QuoitRayResources) available = quoit_ray_resources_new ();

          quoit_ray_resources_set (available, "TPU", left);
          quoit_ray_resources_set (available, "TPU-v6e-16-head", json_object_get_double_member (in, "head_avail"));
          quoit_ray_nodes_set_available (nodes, "n0", available);
        }
    }
  if (json_object_get_boolean_member_with_default (in, "cached", FALSE))
    quoit_ray_subslices_set (known, slice, NULL, NULL);
  return TRUE;
}

static JsonNode *
find_undiscovered (JsonNode *in, GError **error)
{
  static const char *const members[] = { "nodes", "available", "slice", "free", "cached", "head_avail", NULL };
  static const char *const parents[] = { "4x4", NULL };
  JsonObject *object = vector_object (in, members, error);
  g_autoptr (QuoitRayNodes) nodes = object != NULL ? vector_nodes (object, error) : NULL;
  g_autoptr (QuoitRaySubslices) known = quoit_ray_subslices_new ();
  g_autoptr (JsonArray) answer = json_array_new ();
  g_autoptr (GError) refused = NULL;
  g_autofree char *name = NULL;
  const char *slice;
  unsigned parent;

  if (nodes == NULL || !vector_text (object, "slice", &slice, error)
      || (slice != NULL && !read_one_slice (object, slice, known, nodes, error)))
    return NULL;

  name = quoit_ray_subslices_dup_undiscovered (known, nodes, parents, "v6e", &parent, &refused);
  if (refused != NULL)
    return g_propagate_error (error, g_steal_pointer (&refused)), NULL;
  if (name == NULL)
    return json_node_init_null (json_node_alloc ());

  json_array_add_string_element (answer, parents[parent]);
  json_array_add_string_element (answer, name);
  return json_node_init_array (json_node_alloc (), answer);
}

const VectorOp vector_ops_ray_subslice_search[] = {
  { "util._find_available_subslice", find_subslice, VECTOR_ANY_ORDER },
  { "util._find_undiscovered_idle_slice", find_undiscovered, VECTOR_ANY_ORDER },
  { "util._slice_head_available", is_head_free, VECTOR_ANY_ORDER },
  { NULL, NULL, VECTOR_ANY_ORDER },
};

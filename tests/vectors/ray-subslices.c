/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <quoit/models/ray-subslices.h>

#include "ray-nodes.h"

static JsonNode *
node_of_integers (int64_t *numbers, unsigned n)
{
  g_autofree int64_t *taken = numbers;
  g_autoptr (JsonArray) array = json_array_new ();

  for (unsigned i = 0; i < n; i++)
    json_array_add_int_element (array, taken[i]);
  return json_node_init_array (json_node_alloc (), array);
}

typedef int64_t *(*NumbersOfText) (const char *text, unsigned *n, GError **error);

static JsonNode *
numbers_of_topology (JsonNode *in, NumbersOfText function, GError **error)
{
  static const char *const members[] = { "topology", NULL };
  JsonObject *object = vector_object (in, members, error);
  const char *topology;
  int64_t *numbers;
  unsigned n;

  if (object == NULL || !vector_text (object, "topology", &topology, error))
    return NULL;

  numbers = function (topology, &n, error);
  return numbers != NULL ? node_of_integers (numbers, n) : NULL;
}

static JsonNode *
topology_dims (JsonNode *in, GError **error)
{
  return numbers_of_topology (in, quoit_ray_topology_dims, error);
}

static JsonNode *
worker_grid (JsonNode *in, GError **error)
{
  return numbers_of_topology (in, quoit_ray_worker_grid, error);
}

/* Chips may have different numbers of coordinates. Ray uses 0 for a missing third coordinate and fails for any
   other. */
static gboolean
count_axes (JsonArray *coords, unsigned *n_axes, GError **error)
{
  unsigned least = G_MAXUINT, most = 0;

  for (unsigned i = 0; i < json_array_get_length (coords); i++)
    {
      JsonNode *chip = json_array_get_element (coords, i);

      if (!JSON_NODE_HOLDS_ARRAY (chip))
        return vector_skip (error, "Python only: another type where C takes coordinates");
      least = MIN (least, json_array_get_length (json_node_get_array (chip)));
      most = MAX (most, json_array_get_length (json_node_get_array (chip)));
    }
  *n_axes = least < 2 ? least : most;
  return TRUE;
}

static gboolean
read_coords (JsonArray *coords, unsigned n_axes, int64_t *values, GError **error)
{
  for (unsigned i = 0; i < json_array_get_length (coords); i++)
    {
      JsonArray *chip = json_array_get_array_element (coords, i);

      for (unsigned axis = 0; axis < MIN (n_axes, json_array_get_length (chip)); axis++)
        {
          JsonNode *value = json_array_get_element (chip, axis);

          if (json_node_get_value_type (value) != G_TYPE_INT64)
            return vector_skip (error, "Python only: another type where C takes an integer");
          values[i * n_axes + axis] = json_node_get_int (value);
        }
    }
  return TRUE;
}

static JsonNode *
physical_worker_id (JsonNode *in, GError **error)
{
  static const char *const members[] = { "coords", "parent_topology", NULL };
  JsonObject *object = vector_object (in, members, error);
  g_autofree int64_t *values = NULL;
  JsonArray *coords;
  const char *parent;
  unsigned n_axes = 0;
  int64_t id;

  if (object == NULL || !vector_text (object, "parent_topology", &parent, error))
    return NULL;
  if (!JSON_NODE_HOLDS_ARRAY (json_object_get_member (object, "coords")))
    return vector_skip (error, "Python only: another type where C takes coordinates"), NULL;

  coords = json_object_get_array_member (object, "coords");
  if (!count_axes (coords, &n_axes, error))
    return NULL;
  values = g_new0 (int64_t, json_array_get_length (coords) * n_axes + 1);
  if (!read_coords (coords, n_axes, values, error)
      || !quoit_ray_physical_worker_id (values, json_array_get_length (coords), n_axes, parent, &id, error))
    return NULL;

  return vector_node_of_integer (id);
}

static JsonNode *
subslice_labels (JsonNode *in, GError **error)
{
  static const char *const members[] = { "physical_worker_id", "parent_topology", NULL };
  JsonObject *object = vector_object (in, members, error);
  g_autoptr (QuoitRayLabels) labels = NULL;
  g_autoptr (JsonObject) answer = json_object_new ();
  const gint64 *given;
  const char *parent, *key;
  gint64 id;

  if (object == NULL || !vector_integer (object, "physical_worker_id", &id, &given, error)
      || !vector_text (object, "parent_topology", &parent, error))
    return NULL;
  if (given == NULL)
    return vector_skip (error, "Python only: None where Python expects an integer"), NULL;

  labels = quoit_ray_subslice_labels (id, parent, error);
  if (labels == NULL)
    return NULL;
  for (unsigned i = 0; (key = quoit_ray_labels_get_key (labels, i)) != NULL; i++)
    json_object_set_string_member (answer, key, quoit_ray_labels_get_value (labels, i));
  return json_node_init_object (json_node_alloc (), answer);
}

/* Adds an idle slice of one node, alive or dead, for each topology. FALSE on a skip. */
static gboolean
add_topologies (JsonObject *in, const char *member, QuoitRayNodes *nodes, GError **error)
{
  JsonNode *list = json_object_get_member (in, member);

  if (list == NULL || JSON_NODE_HOLDS_NULL (list))
    return TRUE;
  if (!JSON_NODE_HOLDS_ARRAY (list))
    return vector_skip (error, "Python only: another type where C takes topologies");

  for (unsigned i = 0; i < json_array_get_length (json_node_get_array (list)); i++)
    {
      g_autoptr (QuoitRayLabels) labels = quoit_ray_labels_new ();
      g_autoptr (QuoitRayResources) chips = quoit_ray_resources_new ();
      g_autofree char *slice = g_strdup_printf ("slice-%u", i);
      const char *topology = json_array_get_string_element (json_node_get_array (list), i);
      unsigned row;

      quoit_ray_labels_set (labels, "ray.io/tpu-slice-name", slice);
      quoit_ray_labels_set (labels, "ray.io/tpu-worker-id", "0");
      if (topology != NULL)
        quoit_ray_labels_set (labels, "ray.io/tpu-topology", topology);
      quoit_ray_resources_set (chips, "TPU", 4);
      row = quoit_ray_nodes_add (nodes, slice, labels, chips);
      if (strcmp (member, "dead_topologies") == 0)
        quoit_ray_nodes_set_dead (nodes, row);
    }
  return TRUE;
}

static int
by_text (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* Rows record long lists as a set, with the hosts of each topology in their order. */
static JsonNode *
node_of_set (char **topologies)
{
  g_autoptr (JsonObject) answer = json_object_new ();
  JsonArray *counts = json_array_new ();

  for (char **topology = topologies; *topology != NULL; topology++)
    {
      unsigned n_dims;
      g_autofree int64_t *grid = quoit_ray_worker_grid (*topology, &n_dims, NULL);
      int64_t product = 1;

      for (unsigned i = 0; i < n_dims; i++)
        product *= grid[i];
      json_array_add_int_element (counts, product);
    }
  qsort (topologies, g_strv_length (topologies), sizeof (char *), by_text);
  json_object_set_array_member (answer, "value_as_set", vector_array_of_texts ((const char *const *) topologies));
  json_object_set_array_member (answer, "worker_counts_in_order", counts);
  return json_node_init_object (json_node_alloc (), answer);
}

static JsonNode *
parent_topologies (JsonNode *in, GError **error)
{
  static const char *const members[] = { "subslice_topology", "alive_topologies", "dead_topologies", NULL };
  JsonObject *object = vector_object (in, members, error);
  g_autoptr (QuoitRayNodes) nodes = quoit_ray_nodes_new ();
  g_auto (GStrv) parents = NULL;
  g_autoptr (JsonArray) list = NULL;
  const char *topology;

  if (object == NULL || !vector_text (object, "subslice_topology", &topology, error)
      || !add_topologies (object, "alive_topologies", nodes, error)
      || !add_topologies (object, "dead_topologies", nodes, error))
    return NULL;

  parents = quoit_ray_parent_topologies (nodes, topology, error);
  if (parents == NULL)
    return NULL;
  if (vector_has_recorded_member (in, "value_as_set"))
    return node_of_set (parents);
  list = vector_array_of_texts ((const char *const *) parents);
  return json_node_init_array (json_node_alloc (), list);
}

static JsonNode *
chips_per_vm (JsonNode *in, GError **error)
{
  static const char *const members[] = { "user_chips_per_vm", "parent_topology", "version", NULL };
  JsonObject *object = vector_object (in, members, error);
  const char *parent, *version;
  const gint64 *given;
  gint64 value;
  int64_t asked, n;

  if (object == NULL || !vector_integer (object, "user_chips_per_vm", &value, &given, error)
      || !vector_text (object, "parent_topology", &parent, error) || !vector_text (object, "version", &version, error))
    return NULL;

  asked = given != NULL ? *given : 0;
  if (!quoit_ray_subslice_chips_per_vm (given != NULL ? &asked : NULL, parent, version, &n, error))
    return NULL;
  return vector_node_of_integer (n);
}

static JsonNode *
subslice_group (JsonNode *in, GError **error)
{
  static const char *const members[] = { "subslice_topology", "accelerator_version", "chips_per_vm", "cluster", NULL };
  JsonObject *object = vector_object (in, members, error);
  g_autoptr (QuoitRayNodes) nodes = quoit_ray_nodes_new ();
  g_autoptr (QuoitRaySubslices) known = quoit_ray_subslices_new ();
  g_autoptr (QuoitRaySubslicePlan) plan = NULL;
  g_autoptr (JsonObject) answer = NULL;
  const char *topology, *version;
  const gint64 *given;
  gint64 value;
  int64_t chips;

  if (object == NULL || !vector_text (object, "subslice_topology", &topology, error)
      || !vector_text (object, "accelerator_version", &version, error)
      || !vector_integer (object, "chips_per_vm", &value, &given, error)
      || !add_topologies (object, "cluster", nodes, error))
    return NULL;

  chips = given != NULL ? *given : 0;
  plan
      = quoit_ray_subslice_plan_new (known, nodes, topology, version, given != NULL ? &chips : NULL, NULL, NULL, error);
  if (plan == NULL)
    return NULL;
  answer = json_object_new ();
  json_object_set_string_member (answer, "parent_topology", quoit_ray_subslice_plan_get_parent_topology (plan));
  json_object_set_int_member (answer, "chips_per_host", quoit_ray_subslice_plan_get_chips_per_vm (plan));
  return json_node_init_object (json_node_alloc (), answer);
}

const VectorOp vector_ops_ray_subslices[] = {
  { "accel._build_subslice_labels", subslice_labels, VECTOR_SAME_ORDER },
  { "accel._get_physical_worker_id_from_coords", physical_worker_id, VECTOR_ANY_ORDER },
  { "accel._get_worker_dims_for_topology", worker_grid, VECTOR_ANY_ORDER },
  { "accel._parse_topology_dims", topology_dims, VECTOR_ANY_ORDER },
  { "util._find_valid_parent_topologies", parent_topologies, VECTOR_ANY_ORDER },
  { "util._resolve_chips_per_vm", chips_per_vm, VECTOR_ANY_ORDER },
  { "util.subslice_placement_group", subslice_group, VECTOR_ANY_ORDER },
  { NULL, NULL, VECTOR_ANY_ORDER },
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "runner.h"

#include <string.h>

#include <quoit/models/ray-host.h>
#include <quoit/models/ray-subslices.h>
#include <quoit/models/ray-tpu.h>

static gboolean
is_of (JsonArray *args, unsigned i, GType type)
{
  return json_node_get_value_type (json_array_get_element (args, i)) == type;
}

/* "args" has the positional arguments of a call: address, slices, slice, and optionally the port. */
static JsonNode *
coordinator_env (JsonNode *in, GError **error)
{
  static const char *const members[] = { "args", NULL };
  JsonObject *object = vector_object (in, members, error);
  JsonArray *args = object != NULL ? json_object_get_array_member (object, "args") : NULL;
  unsigned n = args != NULL ? json_array_get_length (args) : 0;

  if (object == NULL)
    return NULL;
  if (n < 3 || n > 4 || !is_of (args, 0, G_TYPE_STRING) || !is_of (args, 1, G_TYPE_INT64)
      || !is_of (args, 2, G_TYPE_INT64) || (n == 4 && !is_of (args, 3, G_TYPE_STRING)))
    return vector_skip (error, "Python only: other arguments than C takes"), NULL;

  return vector_node_of_env (quoit_ray_coordinator_env (
      json_array_get_string_element (args, 0), json_array_get_int_element (args, 1),
      json_array_get_int_element (args, 2), n == 4 ? json_array_get_string_element (args, 3) : NULL));
}

/* The worker's previous environment: "env_before" as "NAME=value" texts. */
static GStrv
read_before (JsonObject *object)
{
  g_autoptr (GStrvBuilder) env = g_strv_builder_new ();
  JsonObject *before
      = json_object_has_member (object, "env_before") ? json_object_get_object_member (object, "env_before") : NULL;
  g_autoptr (GList) names = before != NULL ? json_object_get_members (before) : NULL;

  for (GList *name = names; name != NULL; name = name->next)
    {
      g_autofree char *variable
          = g_strconcat (name->data, "=", json_object_get_string_member (before, name->data), NULL);

      g_strv_builder_add (env, variable);
    }
  return g_strv_builder_end (env);
}

/* Worker i is 10.0.0.(i + 1), and worker 0 listens on port 45678. */
static JsonNode *
node_of_worker (gint64 index, gint64 n_workers, char **env)
{
  g_autoptr (JsonObject) object = json_object_new ();
  JsonArray *initialize = json_array_new ();

  json_array_add_string_element (initialize, "10.0.0.1:45678");
  json_array_add_int_element (initialize, n_workers);
  json_array_add_int_element (initialize, index);
  json_object_set_int_member (object, "index", index);
  json_object_set_array_member (object, "initialize", initialize);
  json_object_set_member (object, "env", vector_node_of_env (env));
  return json_node_init_object (json_node_alloc (), object);
}

static JsonNode *
train_env (JsonNode *in, GError **error)
{
  static const char *const members[]
      = { "name",    "workers",    "slices", "topology", "accelerator_type", "resources_per_worker",
          "use_tpu", "env_before", NULL };
  JsonObject *object = vector_object (in, members, error);
  g_autoptr (QuoitRayResources) wanted = NULL;
  g_autoptr (JsonArray) workers = NULL;
  g_auto (GStrv) before = NULL;
  const char *topology, *type;
  const gint64 *given;
  gint64 n_workers, n_slices;

  if (object == NULL || !vector_text (object, "topology", &topology, error)
      || !vector_text (object, "accelerator_type", &type, error)
      || !vector_integer (object, "workers", &n_workers, &given, error)
      || !vector_integer (object, "slices", &n_slices, &given, error)
      || !vector_resources (object, "resources_per_worker", &wanted, error))
    return NULL;
  if (topology == NULL || type == NULL)
    return vector_skip (error, "Python only: no topology or no accelerator type"), NULL;

  before = read_before (object);
  workers = json_array_new ();
  for (gint64 i = 0; json_object_get_boolean_member (object, "use_tpu") && i < n_workers; i++)
    {
      char **env
          = quoit_ray_train_env ("10.0.0.1", i, n_slices, topology, type, wanted, (const char *const *) before, error);

      if (env == NULL)
        return NULL;
      json_array_add_element (workers, node_of_worker (i, n_workers, env));
    }
  return json_node_init_array (json_node_alloc (), workers);
}

/* --- the chips that a process sees --- */

static const char *const bounds[] = { "TPU_VISIBLE_CHIPS", "TPU_CHIPS_PER_HOST_BOUNDS", "TPU_HOST_BOUNDS" };

static JsonNode *
visible_chips (JsonNode *in, GError **error)
{
  static const char *const members[] = { "node_accelerators", "ids", "env_before", NULL };
  JsonObject *object = vector_object (in, members, error);
  g_autoptr (GStrvBuilder) ids = g_strv_builder_new ();
  g_autoptr (JsonObject) answer = json_object_new ();
  g_auto (GStrv) before = NULL, after = NULL, texts = NULL;
  const gint64 *given;
  gint64 n_on_node;
  JsonArray *list;

  if (object == NULL || !vector_integer (object, "node_accelerators", &n_on_node, &given, error))
    return NULL;
  list = json_object_get_array_member (object, "ids");
  for (guint i = 0; i < json_array_get_length (list); i++)
    {
      JsonNode *id = json_array_get_element (list, i);
      g_autofree char *text = json_node_get_value_type (id) == G_TYPE_STRING
                                  ? json_node_dup_string (id)
                                  : g_strdup_printf ("%" G_GINT64_FORMAT, json_node_get_int (id));

      g_strv_builder_add (ids, text);
    }
  texts = g_strv_builder_end (ids);
  before = read_before (object);
  after = quoit_ray_visible_env ((const char *const *) texts, n_on_node, (const char *const *) before, error);
  if (after == NULL)
    return NULL;
  for (unsigned i = 0; i < G_N_ELEMENTS (bounds); i++)
    if (g_environ_getenv (after, bounds[i]) != NULL)
      json_object_set_string_member (answer, bounds[i], g_environ_getenv (after, bounds[i]));
  return json_node_init_object (json_node_alloc (), answer);
}

/* --- the numbers of hosts --- */

enum { MOST_CHIPS = 64 };

static unsigned
read_sizes (const char *text, gint64 sizes[3])
{
  g_auto (GStrv) parts = g_strsplit (text, "x", -1);
  unsigned n = g_strv_length (parts);

  for (unsigned i = 0; i < 3; i++)
    sizes[i] = i < n ? g_ascii_strtoll (parts[i], NULL, 10) : 1;
  return n;
}

static gsize
chips_of_host (const gint64 corner[3], const gint64 block[3], const gint64 sizes[3], int64_t values[3 * MOST_CHIPS])
{
  gsize n = 0;

  for (gint64 z = corner[2]; z < MIN (corner[2] + block[2], sizes[2]); z++)
    for (gint64 y = corner[1]; y < MIN (corner[1] + block[1], sizes[1]); y++)
      for (gint64 x = corner[0]; x < MIN (corner[0] + block[0], sizes[0]); x++, n++)
        {
          values[3 * n] = x;
          values[3 * n + 1] = y;
          values[3 * n + 2] = z;
        }
  return n;
}

/* Ray's index of the host, or Ray's error if the host has no index. */
static void
add_number (JsonArray *answer, const int64_t *values, gsize n, const char *topology)
{
  GError *refused = NULL;
  int64_t id;

  if (quoit_ray_physical_worker_id (values, n, 3, topology, &id, &refused))
    json_array_add_int_element (answer, id);
  else
    json_array_add_object_element (answer, vector_object_of_refusal (refused));
}

static JsonNode *
physical_worker_ids (JsonNode *in, GError **error)
{
  static const char *const members[] = { "topology", "chip_grid", "host_block", NULL };
  JsonObject *object = vector_object (in, members, error);
  g_autoptr (JsonArray) answer = json_array_new ();
  const char *topology, *grid, *host;
  gint64 sizes[3], block[3], corner[3];
  unsigned n;

  if (object == NULL || !vector_text (object, "topology", &topology, error)
      || !vector_text (object, "chip_grid", &grid, error) || !vector_text (object, "host_block", &host, error))
    return NULL;
  n = read_sizes (topology, sizes);
  read_sizes (host, block);
  if (strcmp (grid, "x=last") == 0)
    {
      gint64 first = sizes[0];

      sizes[0] = sizes[n - 1];
      sizes[n - 1] = first;
    }
  else if (strcmp (grid, "x=first (JAX order)") != 0)
    return vector_skip (error, "a grid that is neither x first nor x last"), NULL;
  if (block[0] * block[1] * block[2] > MOST_CHIPS)
    return vector_skip (error, "a host of more chips than there are"), NULL;

  for (corner[2] = 0; corner[2] < sizes[2]; corner[2] += block[2])
    for (corner[1] = 0; corner[1] < sizes[1]; corner[1] += block[1])
      for (corner[0] = 0; corner[0] < sizes[0]; corner[0] += block[0])
        {
          int64_t values[3 * MOST_CHIPS];

          add_number (answer, values, chips_of_host (corner, block, sizes, values), topology);
        }
  return json_node_init_array (json_node_alloc (), answer);
}

static const VectorOp ops[] = {
  { "get_tpu_coordinator_env_vars", coordinator_env, VECTOR_ANY_ORDER },
  { "ray_physical_worker_ids", physical_worker_ids, VECTOR_REFUSALS },
  { "ray_train_jax_env", train_env, VECTOR_ANY_ORDER },
  { "set_visible_chips", visible_chips, VECTOR_ANY_ORDER },
  { NULL, NULL, VECTOR_ANY_ORDER },
};

static const VectorOp *const tables[] = { ops, NULL };

const VectorSuite vector_suite_ray_train_env = { "ray-train-env", tables };

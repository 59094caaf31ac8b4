/* SPDX-License-Identifier: Apache-2.0 */
#include "runner.h"

#include <quoit/ray.h>

static gboolean
is_of (JsonArray *args, unsigned i, GType type)
{
  return json_node_get_value_type (json_array_get_element (args, i)) == type;
}

/* "args" is a call's positional arguments: address, slices, slice, and perhaps the port. */
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

/* What the worker has before: "env_before" as "NAME=value" texts. */
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

static const VectorOp ops[] = {
  { "get_tpu_coordinator_env_vars", coordinator_env, VECTOR_ANY_ORDER },
  { "ray_train_jax_env", train_env, VECTOR_ANY_ORDER },
  { NULL, NULL, VECTOR_ANY_ORDER },
};

static const VectorOp *const tables[] = { ops, NULL };

const VectorSuite vector_suite_ray_train_env = { "ray-train-env", tables };

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

static const VectorOp ops[] = {
  { "get_tpu_coordinator_env_vars", coordinator_env, VECTOR_ANY_ORDER },
  { NULL, NULL, VECTOR_ANY_ORDER },
};

const VectorSuite vector_suite_ray_train_env = { "ray-train-env", ops };

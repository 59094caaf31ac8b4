/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the two environment variables, RAY_OVERRIDE_RESOURCES and RAY_OVERRIDE_LABELS, by which Ray's autoscaler
 * overrides the resources and labels of a node that starts. */
#include <quoit/models/ray-host.h>
#include <string.h>

#include "formats/json.h"
#include "models/ray/ray.h"

/* Parses the variable @name. FALSE: it is malformed. *@root is NULL if the variable is not set or empty. */
static gboolean
read_variable (const char *const *env, const char *name, JsonNode **root, GError **error)
{
  const char *text = g_environ_getenv ((char **) env, name);

  *root = NULL;
  if (text == NULL || *text == '\0')
    return TRUE;

  *root = quoit_json_parse_as_python (text, strlen (text), error);
  if (*root == NULL)
    return g_prefix_error (error, "%s: ", name), FALSE;
  return TRUE;
}

static gboolean
refuse (const char *variable, const char *what, const char *expected, GError **error)
{
  g_autofree char *quoted = quoit_quote (what);

  return quoit_fail (error, QUOIT_ERROR_INVALID, "%s: %s: expected %s", variable, quoted, expected);
}

static gboolean
read_amount (QuoitRayResources *resources, const char *name, JsonNode *value, GError **error)
{
  GType type = json_node_get_value_type (value);

  if (type == G_TYPE_INT64 || type == G_TYPE_DOUBLE || type == G_TYPE_BOOLEAN)
    return quoit_ray_resources_set (
               resources, name, type == G_TYPE_BOOLEAN ? json_node_get_boolean (value) : json_node_get_double (value)),
           TRUE;
  /* For predefined resources, Python's None means that the amount is not overridden. */
  if (JSON_NODE_HOLDS_NULL (value) && quoit_ray_is_predefined (name))
    return TRUE;
  return refuse ("RAY_OVERRIDE_RESOURCES", name, "a number", error);
}

static gboolean
read_resources (const char *const *env, QuoitRayResources **resources, GError **error)
{
  g_autoptr (JsonNode) root = NULL;
  g_autoptr (QuoitRayResources) read = quoit_ray_resources_new ();
  g_autoptr (GList) names = NULL;

  if (!read_variable (env, "RAY_OVERRIDE_RESOURCES", &root, error))
    return FALSE;
  if (root != NULL && !JSON_NODE_HOLDS_OBJECT (root))
    return refuse ("RAY_OVERRIDE_RESOURCES", json_node_type_name (root), "an object", error);

  names = root != NULL ? json_object_get_members (json_node_get_object (root)) : NULL;
  for (GList *n = names; n != NULL; n = n->next)
    if (!read_amount (read, n->data, json_object_get_member (json_node_get_object (root), n->data), error))
      return FALSE;

  *resources = g_steal_pointer (&read);
  return TRUE;
}

static gboolean
read_labels (const char *const *env, QuoitRayLabels **labels, GError **error)
{
  g_autoptr (JsonNode) root = NULL;
  g_autoptr (QuoitRayLabels) read = quoit_ray_labels_new ();
  g_autoptr (GList) keys = NULL;

  if (!read_variable (env, "RAY_OVERRIDE_LABELS", &root, error))
    return FALSE;
  if (root != NULL && !quoit_json_is_false (root) && !JSON_NODE_HOLDS_OBJECT (root))
    return refuse ("RAY_OVERRIDE_LABELS", json_node_type_name (root), "an object", error);

  if (root != NULL && JSON_NODE_HOLDS_OBJECT (root))
    keys = json_object_get_members (json_node_get_object (root));
  for (GList *k = keys; k != NULL; k = k->next)
    {
      JsonNode *value = json_object_get_member (json_node_get_object (root), k->data);

      if (json_node_get_value_type (value) != G_TYPE_STRING)
        return refuse ("RAY_OVERRIDE_LABELS", k->data, "a text", error);
      quoit_ray_labels_set (read, k->data, json_node_get_string (value));
    }
  *labels = g_steal_pointer (&read);
  return TRUE;
}

QuoitRayNode *
quoit_ray_node_new (const char *address, const char *const *env, const char *const *metadata,
                    const QuoitRayResources *predefined, const QuoitRayResources *custom, const QuoitRayLabels *labels,
                    int64_t n_chips, GError **error)
{
  g_autoptr (QuoitRayResources) override = NULL;
  g_autoptr (QuoitRayLabels) override_labels = NULL;

  if (!read_resources (env, &override, error) || !read_labels (env, &override_labels, error))
    return NULL;

  return quoit_ray_node_resolve (&(QuoitRayNodeStart) { .address = address,
                                                        .env = env,
                                                        .metadata = metadata,
                                                        .predefined = predefined,
                                                        .custom = custom,
                                                        .override = override,
                                                        .labels = labels,
                                                        .override_labels = override_labels,
                                                        .n_chips = n_chips },
                                 error);
}

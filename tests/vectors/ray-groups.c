/* SPDX-License-Identifier: Apache-2.0 */
/* Suite "ray-core": the arguments of placement_group(), its refusals, and the order in which it places bundles. */
#include "placement.h"

#include <string.h>

static gboolean
read_bundle (JsonNode *node, QuoitRayGroup *group, GError **error)
{
  guint32 bundle = quoit_ray_group_add_bundle (group);
  g_autoptr (GList) names = NULL;

  if (!JSON_NODE_HOLDS_OBJECT (node))
    return vector_skip (error, "Python only: another type where C takes a bundle");

  names = json_object_get_members (json_node_get_object (node));
  for (GList *name = names; name != NULL; name = name->next)
    {
      double amount;

      if (!vector_number (json_object_get_member (json_node_get_object (node), name->data), &amount))
        return vector_skip (error, "Python only: another type where C takes an amount");
      quoit_ray_group_set_amount (group, bundle, name->data, amount);
    }
  return TRUE;
}

gboolean
vector_bundles (JsonNode *bundles, QuoitRayGroup *group, GError **error)
{
  if (bundles == NULL || !JSON_NODE_HOLDS_ARRAY (bundles))
    return vector_skip (error, "Python only: another type where C takes bundles");

  for (unsigned b = 0; b < json_array_get_length (json_node_get_array (bundles)); b++)
    if (!read_bundle (json_array_get_element (json_node_get_array (bundles), b), group, error))
      return FALSE;

  return TRUE;
}

static gboolean
read_selector (JsonNode *node, QuoitRayGroup *group, guint32 bundle, GError **error)
{
  g_autoptr (GList) keys = NULL;

  if (JSON_NODE_HOLDS_NULL (node))
    return TRUE;
  if (!JSON_NODE_HOLDS_OBJECT (node))
    return vector_skip (error, "Python only: another type where C takes selectors");

  keys = json_object_get_members (json_node_get_object (node));
  for (GList *key = keys; key != NULL; key = key->next)
    {
      const char *value;

      if (!vector_text (json_node_get_object (node), key->data, &value, error))
        return FALSE;
      if (value == NULL)
        return vector_skip (error, "Python only: another type where C takes a selector");
      quoit_ray_group_set_selector (group, bundle, key->data, value);
    }
  return TRUE;
}

gboolean
vector_selectors (JsonNode *selectors, QuoitRayGroup *group, GError **error)
{
  guint32 n = quoit_ray_group_get_n_bundles (group);

  if (selectors == NULL || JSON_NODE_HOLDS_NULL (selectors))
    return TRUE;
  if (!JSON_NODE_HOLDS_ARRAY (selectors) || json_array_get_length (json_node_get_array (selectors)) != n)
    return vector_skip (error, "Python only: selectors that are no list as long as the bundles");

  for (guint32 b = 0; b < n; b++)
    if (!read_selector (json_array_get_element (json_node_get_array (selectors), b), group, b, error))
      return FALSE;

  return TRUE;
}

static gboolean
read_levels (JsonObject *object, QuoitRayGroup *group, GError **error)
{
  JsonNode *node = json_object_get_member (object, "topology_strategy");
  g_autoptr (GList) keys = NULL;

  if (node == NULL || JSON_NODE_HOLDS_NULL (node))
    return TRUE;
  if (!JSON_NODE_HOLDS_OBJECT (node))
    return vector_skip (error, "Python only: another type where C takes a topology");

  keys = json_object_get_members (json_node_get_object (node));
  for (GList *key = keys; key != NULL; key = key->next)
    {
      QuoitStrategy strategy;
      const char *name;

      if (!vector_text (json_node_get_object (node), key->data, &name, error))
        return FALSE;
      if (name == NULL || !quoit_ray_strategy_parse (name, &strategy, error))
        return name != NULL ? FALSE : vector_skip (error, "Python only: another type where C takes a strategy");
      quoit_ray_group_add_topology (group, key->data, strategy);
    }
  return TRUE;
}

/* Reads the arguments in the order in which Ray checks them, so that an argument that C cannot express does not
   matter after a refused one. */
static gboolean
read_arguments (JsonObject *object, QuoitRayGroup *group, GError **error)
{
  const char *strategy, *soft_target, *lifetime;
  QuoitStrategy parsed;

  if (!vector_text (object, "strategy", &strategy, error)
      || !vector_text (object, "_soft_target_node_id", &soft_target, error)
      || !vector_text (object, "lifetime", &lifetime, error))
    return FALSE;
  if (strategy != NULL)
    {
      if (!quoit_ray_strategy_parse (strategy, &parsed, error))
        return FALSE;
      quoit_ray_group_set_strategy (group, parsed);
    }
  quoit_ray_group_set_soft_target (group, soft_target);
  quoit_ray_group_set_lifetime (group, lifetime);
  return read_levels (object, group, error) && vector_bundles (json_object_get_member (object, "bundles"), group, error)
         && vector_selectors (json_object_get_member (object, "bundle_label_selector"), group, error);
}

static JsonNode *
validate_placement_group (JsonNode *in, GError **error)
{
  static const char *const members[] = {
    "name", "bundles", "strategy", "topology_strategy", "lifetime", "_soft_target_node_id", "bundle_label_selector",
    NULL
  };
  g_autoptr (QuoitRayGroup) group = quoit_ray_group_new ();
  JsonObject *object = vector_object (in, members, error);

  if (object == NULL || !read_arguments (object, group, error) || !quoit_ray_group_check (group, error))
    return NULL;

  return json_node_new (JSON_NODE_NULL);
}

static JsonNode *
resource_id (JsonNode *in, GError **error)
{
  if (!JSON_NODE_HOLDS_VALUE (in) || json_node_get_value_type (in) != G_TYPE_STRING)
    return vector_skip (error, "Python only: another type where C takes a text"), NULL;

  return vector_node_of_text (g_strdup_printf ("%" G_GINT64_FORMAT, quoit_ray_resource_id (json_node_get_string (in))));
}

static JsonNode *
bundle_order (JsonNode *in, GError **error)
{
  g_autoptr (QuoitRayGroup) group = quoit_ray_group_new ();
  g_autofree uint32_t *order = NULL;
  g_autoptr (JsonArray) answer = json_array_new ();

  if (!vector_bundles (in, group, error))
    return NULL;
  order = g_new (uint32_t, quoit_ray_group_get_n_bundles (group));
  if (!quoit_ray_bundle_order (group, order, error))
    return NULL;

  for (guint32 b = 0; b < quoit_ray_group_get_n_bundles (group); b++)
    json_array_add_int_element (answer, order[b]);
  return json_node_init_array (json_node_alloc (), answer);
}

const VectorOp vector_ops_ray_groups[] = {
  { "bundle_order", bundle_order, VECTOR_ANY_ORDER },
  { "resource_id", resource_id, VECTOR_ANY_ORDER },
  { "validate_placement_group", validate_placement_group, VECTOR_ANY_ORDER },
  { NULL, NULL, VECTOR_ANY_ORDER },
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/raycluster.h"

#include <string.h>

#include "base/label-names.h"
#include "formats/json.h"
#include "formats/quantity.h"
#include "models/ray/label-syntax.h"

enum { MOST_ENTRIES = 256, MOST_NAME_BYTES = 253 };

static const gint64 most_units = G_MAXINT64 / QUOIT_AMOUNT_UNIT;

void
quoit_ray_params_clear (QuoitRayParams *params)
{
  g_clear_pointer (&params->resources, g_hash_table_unref);
  g_clear_pointer (&params->labels, g_hash_table_unref);
}

static void
set_resource (QuoitRayParams *params, const char *name, QuoitAmount amount)
{
  g_hash_table_replace (params->resources, g_strdup (name), g_memdup2 (&amount.e4, sizeof amount.e4));
}

/* Reads a parameter such as num-cpus, for which Ray accepts only whole numbers. */
static gboolean
read_param_count (const QuoitManifest *manifest, JsonNode *start_params, const char *param, const char *resource,
                  QuoitRayParams *params)
{
  JsonNode *node = quoit_tree_member (start_params, param);
  const char *text;
  guint64 value;

  if (node == NULL)
    return TRUE;
  if (!quoit_manifest_text (manifest, node, &text))
    return FALSE;
  if (!g_ascii_string_to_unsigned (text, 10, 0, (guint64) most_units, &value, NULL))
    return quoit_manifest_refuse (manifest, node, "a whole number of 0 to 922337203685477");
  set_resource (params, resource, quoit_amount_from_int ((int64_t) value));
  return TRUE;
}

/* Parses the JSON of the parameter "resources". KubeRay passes it through a shell, so manifests put it in single
 * quotes; older ones also write it as a JSON string. */
static JsonNode *
parse_resources (const char *text, GError **error)
{
  g_autofree char *bare = g_strstrip (g_strdup (text));
  gsize length = strlen (bare);
  g_autoptr (JsonNode) node = NULL;

  if (length >= 2 && bare[0] == '\'' && bare[length - 1] == '\'')
    {
      memmove (bare, bare + 1, length - 2);
      bare[length - 2] = '\0';
    }
  node = quoit_json_parse (bare, strlen (bare), error);
  if (node != NULL && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING)
    return quoit_json_parse (json_node_get_string (node), strlen (json_node_get_string (node)), error);
  return g_steal_pointer (&node);
}

static gboolean
read_json_amount (const char *name, JsonNode *node, QuoitAmount *amount, GError **error)
{
  GType type = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_NONE;
  g_autofree char *quoted = NULL;

  if ((type == G_TYPE_INT64 || type == G_TYPE_DOUBLE) && quoit_ray_amount (json_node_get_double (node), amount, error))
    return TRUE;
  quoted = quoit_quote (name);
  if (type != G_TYPE_INT64 && type != G_TYPE_DOUBLE)
    return quoit_fail_expected (error, QUOIT_ERROR_INVALID, "a number", "resource %s", quoted);
  g_prefix_error (error, "resource %s: ", quoted);
  return FALSE;
}

static gboolean
read_param_resources (const QuoitManifest *manifest, JsonNode *start_params, QuoitRayParams *params)
{
  JsonNode *node = quoit_tree_member (start_params, "resources"), *member;
  g_autoptr (JsonNode) json = NULL;
  JsonObjectIter iter;
  const char *text, *name;

  if (node == NULL)
    return TRUE;
  if (!quoit_manifest_text (manifest, node, &text))
    return FALSE;
  json = parse_resources (text, manifest->error);
  if (json == NULL)
    return quoit_manifest_prefix_place (manifest, node);
  if (!JSON_NODE_HOLDS_OBJECT (json) || json_object_get_size (json_node_get_object (json)) > MOST_ENTRIES)
    return quoit_manifest_refuse (manifest, node, "a JSON object such as '{\"special\": 1}' of at most 256 resources");

  json_object_iter_init (&iter, json_node_get_object (json));
  while (json_object_iter_next (&iter, &name, &member))
    {
      QuoitAmount amount;

      if (*name == '\0' || strlen (name) > MOST_NAME_BYTES)
        return quoit_manifest_refuse (manifest, node, "a name of 1 to 253 bytes for each resource");
      if (!read_json_amount (name, member, &amount, manifest->error))
        return quoit_manifest_prefix_place (manifest, node);
      set_resource (params, name, amount);
    }
  return TRUE;
}

static gboolean
set_label (const QuoitManifest *manifest, JsonNode *node, const char *key, const char *value, QuoitRayParams *params)
{
  if (!quoit_label_check_key (key, manifest->error) || !quoit_label_check_value (value, manifest->error))
    return quoit_manifest_prefix_place (manifest, node);
  g_hash_table_replace (params->labels, g_strdup (key), g_strdup (value));
  return TRUE;
}

static gboolean
read_param_labels (const QuoitManifest *manifest, JsonNode *start_params, QuoitRayParams *params)
{
  JsonNode *node = quoit_tree_member (start_params, "labels");
  g_auto (GStrv) pairs = NULL;
  const char *text;

  if (node == NULL)
    return TRUE;
  if (!quoit_manifest_text (manifest, node, &text))
    return FALSE;
  pairs = g_strsplit (text, ",", MOST_ENTRIES + 1);
  if (g_strv_length (pairs) > MOST_ENTRIES)
    return quoit_manifest_refuse (manifest, node, "at most 256 labels");
  for (char **pair = pairs; *pair != NULL; pair++)
    {
      char *equals = strchr (*pair, '=');

      if (equals == NULL)
        return quoit_manifest_refuse (manifest, node, "labels as key=value,key=value");
      *equals = '\0';
      if (!set_label (manifest, node, g_strstrip (*pair), g_strstrip (equals + 1), params))
        return FALSE;
    }
  return TRUE;
}

/* Returns Ray's name for a name that KubeRay accepts in the group's own field "resources". */
static const char *
ray_name (const char *name)
{
  if (g_ascii_strcasecmp (name, "cpu") == 0)
    return "CPU";
  if (g_ascii_strcasecmp (name, "gpu") == 0 || strcmp (name, QUOIT_K8S_GPU_RESOURCE) == 0)
    return "GPU";
  if (g_ascii_strcasecmp (name, "tpu") == 0 || strcmp (name, QUOIT_K8S_TPU_RESOURCE) == 0)
    return "TPU";
  if (g_ascii_strcasecmp (name, "memory") == 0)
    return "memory";
  return name;
}

static gboolean
find_map (const QuoitManifest *manifest, JsonNode *group, const char *name, JsonNode **node, JsonObject **object)
{
  *object = NULL;
  if (!quoit_manifest_find (manifest, group, node, name, NULL))
    return FALSE;
  if (*node == NULL)
    return TRUE;
  if (!quoit_tree_object (manifest->tree, *node, object, manifest->error))
    return FALSE;
  return json_object_get_size (*object) <= MOST_ENTRIES
         || quoit_manifest_refuse (manifest, *node, "at most 256 entries");
}

static gboolean
read_group_resources (const QuoitManifest *manifest, JsonNode *group, QuoitRayParams *params)
{
  JsonNode *node, *member;
  JsonObject *object;
  JsonObjectIter iter;
  const char *name;

  if (!find_map (manifest, group, "resources", &node, &object))
    return FALSE;
  if (object == NULL)
    return TRUE;
  json_object_iter_init (&iter, object);
  while (json_object_iter_next (&iter, &name, &member))
    {
      QuoitAmount amount;

      if (JSON_NODE_HOLDS_NULL (member))
        continue;
      if (*name == '\0' || strlen (name) > MOST_NAME_BYTES)
        return quoit_manifest_refuse (manifest, node, "a name of 1 to 253 bytes for each resource");
      if (!quoit_manifest_quantity (manifest, member, &amount))
        return FALSE;
      set_resource (params, ray_name (name), quoit_quantity_round_up (amount));
    }
  return TRUE;
}

static gboolean
read_group_labels (const QuoitManifest *manifest, JsonNode *group, QuoitRayParams *params)
{
  JsonNode *node, *member;
  JsonObject *object;
  JsonObjectIter iter;
  const char *key, *value;

  if (!find_map (manifest, group, "labels", &node, &object))
    return FALSE;
  if (object == NULL)
    return TRUE;
  json_object_iter_init (&iter, object);
  while (json_object_iter_next (&iter, &key, &member))
    if (!JSON_NODE_HOLDS_NULL (member)
        && (!quoit_manifest_text (manifest, member, &value) || !set_label (manifest, member, key, value, params)))
      return FALSE;
  return TRUE;
}

gboolean
quoit_ray_params_read (const QuoitManifest *manifest, JsonNode *group, QuoitRayParams *params)
{
  JsonNode *start_params;
  JsonObject *object;

  params->resources = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  params->labels = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  if (!quoit_manifest_find (manifest, group, &start_params, "rayStartParams", NULL))
    return FALSE;
  if (start_params != NULL && !quoit_tree_object (manifest->tree, start_params, &object, manifest->error))
    return FALSE;

  /* The order matters: later sources override earlier ones. */
  return read_param_resources (manifest, start_params, params)
         && read_param_count (manifest, start_params, "num-cpus", "CPU", params)
         && read_param_count (manifest, start_params, "num-gpus", "GPU", params)
         && read_param_count (manifest, start_params, "memory", "memory", params)
         && read_param_count (manifest, start_params, "object-store-memory", "object_store_memory", params)
         && read_group_resources (manifest, group, params) && read_param_labels (manifest, start_params, params)
         && read_group_labels (manifest, group, params);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/ray-values.h"

#include <math.h>
#include <string.h>

#include "formats/quantity.h"
#include "models/ray/resource-names.h"

const char *
quoit_ray_text (const QuoitTree *tree, JsonNode *node)
{
  GType type = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_NONE;
  const char *plain;

  if (type == G_TYPE_STRING)
    return json_node_get_string (node);
  plain = type == G_TYPE_NONE ? NULL : quoit_tree_plain (tree, node);
  return plain != NULL && (type != G_TYPE_BOOLEAN || strlen (plain) == 1) ? plain : NULL;
}

gboolean
quoit_ray_member_text (const QuoitTree *tree, JsonNode *object, const char *name, const char **text, GError **error)
{
  JsonNode *node = quoit_tree_member (object, name);
  const char *found = node == NULL ? NULL : quoit_ray_text (tree, node);

  if (node != NULL && found == NULL)
    return quoit_tree_refuse (tree, node, "text", error);
  if (found != NULL && strlen (found) > QUOIT_RAY_MOST_NAME_BYTES)
    return quoit_tree_refuse (tree, node, "at most 253 bytes", error);
  *text = found != NULL && *found == '\0' ? NULL : found;
  return TRUE;
}

gboolean
quoit_ray_resource_is_not_quantity (const char *resource)
{
  return g_str_has_prefix (resource, "node:") || quoit_resource_is_of_group (resource);
}

static gboolean
is_number (JsonNode *node)
{
  GType type = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_NONE;

  return type == G_TYPE_DOUBLE || type == G_TYPE_INT64;
}

gboolean
quoit_ray_given_amount (const QuoitTree *tree, const char *resource, JsonNode *node, QuoitAmount *amount,
                        GError **error)
{
  gboolean is_memory = quoit_resource_is_rounded (resource), ok;

  if (is_number (node))
    /* Ray keeps doubles, so even a whole number in the text counts as the double nearest to it. */
    ok = quoit_ray_amount (json_node_get_double (node), amount, error);
  else if (JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING && is_memory)
    ok = quoit_memory_text_parse (json_node_get_string (node), amount, error);
  else
    return quoit_tree_refuse (tree, node, is_memory ? "a number of bytes, or memory such as '1.000 GiB'" : "a number",
                              error);
  return ok || quoit_tree_prefix_place (tree, node, error);
}

gboolean
quoit_ray_counted_amount (const QuoitTree *tree, JsonNode *node, QuoitAmount *amount, GError **error)
{
  double value = is_number (node) ? json_node_get_double (node) : -1;
  QuoitAmount checked;

  if (value < 0)
    return quoit_tree_refuse (tree, node, "a number that is not negative", error);
  if (!quoit_amount_from_double (value, &checked, error))
    return quoit_tree_prefix_place (tree, node, error);
  /* For example, 5699 ten-thousandths are printed as 0.5699, and 0.5699 * 10,000 may be slightly less than 5699. */
  amount->e4 = (int64_t) round (value * QUOIT_AMOUNT_UNIT);
  return TRUE;
}

gboolean
quoit_ray_resources (const QuoitTree *tree, JsonNode *node, QuoitResource *resources, guint16 *n_resources,
                     GError **error)
{
  JsonObject *object;
  JsonObjectIter iter;
  const char *name;
  JsonNode *value;
  guint16 n = 0;

  *n_resources = 0;
  if (node == NULL)
    return TRUE;
  if (!quoit_tree_object (tree, node, &object, error))
    return FALSE;
  if (json_object_get_size (object) > QUOIT_RAY_MOST_ENTRIES)
    return quoit_tree_fail (tree, node, error, "%u resources: expected at most 256", json_object_get_size (object));

  json_object_iter_init_ordered (&iter, object);
  while (json_object_iter_next_ordered (&iter, &name, &value))
    {
      if (*name == '\0')
        return quoit_tree_fail (tree, node, error, "a resource without name: expected one such as CPU");
      if (strlen (name) > QUOIT_RAY_MOST_NAME_BYTES)
        return quoit_tree_fail (tree, value, error, "a resource whose name has %zu bytes: expected at most 253",
                                strlen (name));
      if (!quoit_ray_given_amount (tree, name, value, &resources[n].amount, error))
        return FALSE;
      resources[n++].name = name;
    }
  *n_resources = n;
  return TRUE;
}

gboolean
quoit_ray_pod_type_parse (const char *text, QuoitGeneration *generation, guint32 *cores, GError **error)
{
  const char *dash = strrchr (text, '-');
  g_autofree char *name = dash == NULL ? NULL : g_strndup (text, (gsize) (dash - text));
  QuoitGeneration parsed;

  if (dash == NULL || dash[1] == '\0' || strspn (dash + 1, "0123456789") != strlen (dash + 1))
    {
      g_autofree char *quoted = quoit_quote (text);

      return quoit_fail (error, QUOIT_ERROR_INVALID,
                         "%s: expected a pod type: a generation and its cores, such as 'v6e-16'", quoted);
    }
  if (!quoit_generation_parse (name, &parsed, error))
    return FALSE;
  *generation = parsed;
  *cores = (guint32) MIN (g_ascii_strtoull (dash + 1, NULL, 10), G_MAXUINT32);
  return TRUE;
}

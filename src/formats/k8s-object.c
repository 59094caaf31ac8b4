/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/k8s-object.h"

#include <string.h>

#include "base/dns.h"
#include "formats/quantity.h"

/* Enough for any key (at most 317 bytes), name (at most 253), id or address. */
enum { MOST_TEXT_BYTES = 512 };

gboolean
quoit_k8s_find (const QuoitTree *tree, JsonNode *object, const char *name, JsonNode **value, GError **error)
{
  JsonObject *checked;

  *value = NULL;
  if (object == NULL)
    return TRUE;
  if (!quoit_tree_object (tree, object, &checked, error))
    return FALSE;
  *value = quoit_tree_member (object, name);
  return TRUE;
}

gboolean
quoit_k8s_long_text (const QuoitTree *tree, JsonNode *node, const char **text, GError **error)
{
  *text = NULL;
  if (node == NULL)
    return TRUE;
  if (!JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_STRING
      || quoit_tree_plain (tree, node) != NULL)
    return quoit_tree_refuse (tree, node, "text", error);
  if (*json_node_get_string (node) != '\0')
    *text = json_node_get_string (node);
  return TRUE;
}

gboolean
quoit_k8s_text (const QuoitTree *tree, JsonNode *node, const char **text, GError **error)
{
  const char *read;

  if (!quoit_k8s_long_text (tree, node, &read, error))
    return FALSE;
  if (read != NULL && strlen (read) > MOST_TEXT_BYTES)
    return quoit_tree_fail (tree, node, error, "a text of %zu bytes: expected at most %d", strlen (read),
                            MOST_TEXT_BYTES);
  *text = read;
  return TRUE;
}

gboolean
quoit_k8s_find_text (const QuoitTree *tree, JsonNode *object, const char *name, const char **text, GError **error)
{
  JsonNode *node;

  return quoit_k8s_find (tree, object, name, &node, error) && quoit_k8s_text (tree, node, text, error);
}

gboolean
quoit_k8s_find_address (const QuoitTree *tree, JsonNode *object, const char *name, const char **address, GError **error)
{
  const char *text = NULL;

  if (!quoit_k8s_find_text (tree, object, name, &text, error))
    return FALSE;
  if (text != NULL && !quoit_is_ip_address (text))
    return quoit_tree_refuse (tree, quoit_tree_member (object, name), "an IPv4 or IPv6 address", error);
  *address = text;
  return TRUE;
}

gboolean
quoit_k8s_is_name (const char *text)
{
  return g_ascii_isalnum (*text) && strspn (text, "abcdefghijklmnopqrstuvwxyz0123456789-.") == strlen (text);
}

gboolean
quoit_k8s_find_list (const QuoitTree *tree, JsonNode *object, const char *name, JsonArray **list, guint *n,
                     GError **error)
{
  JsonNode *node;

  *n = 0;
  if (!quoit_k8s_find (tree, object, name, &node, error)
      || (node != NULL && !quoit_tree_array (tree, node, list, error)))
    return FALSE;
  *n = node == NULL ? 0 : json_array_get_length (*list);
  return TRUE;
}

gboolean
quoit_k8s_find_quantity (const QuoitTree *tree, JsonNode *map, const char *name, QuoitAmount *amount,
                         gboolean *is_there, GError **error)
{
  JsonNode *value;
  const char *text = NULL;

  *amount = (QuoitAmount) { 0 };
  if (!quoit_k8s_find (tree, map, name, &value, error))
    return FALSE;
  *is_there = value != NULL;
  if (value == NULL)
    return TRUE;
  /* Hand-written YAML may contain whole numbers without quotes. */
  if (JSON_NODE_HOLDS_VALUE (value) && json_node_get_value_type (value) == G_TYPE_INT64)
    {
      g_autofree char *digits = g_strdup_printf ("%" G_GINT64_FORMAT, json_node_get_int (value));

      return quoit_quantity_parse (digits, amount, error) || quoit_tree_prefix_place (tree, value, error);
    }
  if (!quoit_k8s_text (tree, value, &text, error))
    return FALSE;
  return quoit_quantity_parse (text == NULL ? "" : text, amount, error) || quoit_tree_prefix_place (tree, value, error);
}

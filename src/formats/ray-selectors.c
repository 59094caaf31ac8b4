/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions about label selectors: which of them Ray accepts, what they mean, and which labels match. */
#include <quoit/models/ray-labels.h>

#include <string.h>

#include "formats/json.h"
#include "models/ray/label-syntax.h"
#include "models/ray/selector.h"

bool
quoit_ray_selector_check (const QuoitRayLabels *selector, GError **error)
{
  const char *key;

  for (unsigned i = 0; selector != NULL && (key = quoit_ray_labels_get_key (selector, i)) != NULL; i++)
    {
      const char *value = quoit_ray_labels_get_value (selector, i);

      if (!quoit_selector_check (key, value != NULL ? value : "", error))
        return FALSE;
    }
  return TRUE;
}

bool
quoit_ray_selector_check_value (const char *value, GError **error)
{
  return quoit_selector_check ("label", value, error);
}

bool
quoit_ray_selector_is_negated (const char *value)
{
  g_autoptr (QuoitSelector) selector = quoit_selector_parse_unchecked ("", value);

  return quoit_selector_is_negated (selector);
}

static int
by_bytes (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

char **
quoit_ray_selector_dup_values (const char *value)
{
  g_autoptr (QuoitSelector) selector = quoit_selector_parse_unchecked ("", value);
  g_autoptr (GPtrArray) sorted = g_ptr_array_new ();
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  for (const char *const *each = quoit_selector_values (selector); *each != NULL; each++)
    g_ptr_array_add (sorted, (char *) *each);
  g_ptr_array_sort (sorted, by_bytes);
  for (guint i = 0; i < sorted->len; i++)
    if (i == 0 || strcmp (sorted->pdata[i - 1], sorted->pdata[i]) != 0)
      g_strv_builder_add (builder, sorted->pdata[i]);
  return g_strv_builder_end (builder);
}

bool
quoit_ray_selector_holds (const QuoitRayLabels *selector, const QuoitRayLabels *labels)
{
  const char *key;

  for (unsigned i = 0; (key = quoit_ray_labels_get_key (selector, i)) != NULL; i++)
    {
      const char *value = quoit_ray_labels_get_value (selector, i);
      g_autoptr (QuoitSelector) requirement = value != NULL ? quoit_selector_parse_unchecked (key, value) : NULL;

      if (requirement != NULL && !quoit_selector_matches (requirement, quoit_ray_labels_find (labels, key)))
        return FALSE;
    }
  return TRUE;
}

static gboolean
refuse (const char *what, const char *expected, GError **error)
{
  return quoit_fail (error, QUOIT_ERROR_INVALID, "%s: expected %s", what, expected);
}

static gboolean
check_selector (JsonNode *node, GError **error)
{
  g_autoptr (GList) keys = NULL;

  if (quoit_json_is_false (node))
    return TRUE;
  if (!JSON_NODE_HOLDS_OBJECT (node))
    return refuse ("label_selector", "an object", error);

  keys = json_object_get_members (json_node_get_object (node));
  for (GList *k = keys; k != NULL; k = k->next)
    {
      JsonNode *value = json_object_get_member (json_node_get_object (node), k->data);

      if (!JSON_NODE_HOLDS_NULL (value) && json_node_get_value_type (value) != G_TYPE_STRING)
        {
          g_autofree char *quoted = quoit_quote (k->data);

          return refuse (quoted, "a text or null", error);
        }
      if (!quoit_selector_check (k->data, JSON_NODE_HOLDS_NULL (value) ? "" : json_node_get_string (value), error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
check_element (JsonNode *element, GError **error)
{
  g_autoptr (GList) options = NULL;

  if (!JSON_NODE_HOLDS_OBJECT (element) || quoit_json_is_false (element))
    return refuse ("strategy", "an object with a 'label_selector'", error);

  options = json_object_get_members (json_node_get_object (element));
  for (GList *o = options; o != NULL; o = o->next)
    if (strcmp (o->data, "label_selector") != 0)
      {
        g_autofree char *quoted = quoit_quote (o->data);

        return refuse (quoted, "no option but 'label_selector'", error);
      }
  return check_selector (json_object_get_member (json_node_get_object (element), "label_selector"), error);
}

static gboolean
is_number (JsonNode *node)
{
  GType type = json_node_get_value_type (node);

  return type == G_TYPE_INT64 || type == G_TYPE_DOUBLE;
}

bool
quoit_ray_fallback_check_json (const char *text, size_t length, GError **error)
{
  g_autoptr (JsonNode) root = quoit_json_parse_as_python (text, length, error);

  if (root == NULL)
    return g_prefix_error (error, "fallback_strategy: "), FALSE;
  /* Ray's Python code also iterates over an empty object or text without an error. */
  if (quoit_json_is_false (root) && json_node_get_value_type (root) != G_TYPE_BOOLEAN && !is_number (root))
    return TRUE;
  if (!JSON_NODE_HOLDS_ARRAY (root))
    return refuse ("fallback_strategy", "a list", error);

  for (guint i = 0; i < json_array_get_length (json_node_get_array (root)); i++)
    if (!check_element (json_array_get_element (json_node_get_array (root), i), error))
      return g_prefix_error (error, "fallback_strategy: place %u: ", i + 1), FALSE;

  return TRUE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Parses labels that a user gives to Ray, on a command line or as JSON. */
#include <quoit/models/ray-labels.h>

#include <string.h>

#include "base/label-names.h"
#include "formats/json.h"
#include "models/ray/label-syntax.h"
#include "base/python.h"

bool
quoit_ray_label_check_key (const char *key, GError **error)
{
  return quoit_label_check_key (key, error);
}

bool
quoit_ray_label_check_value (const char *value, GError **error)
{
  return quoit_label_check_value (value, error);
}

/* Removes one pair of double quotes around @text. */
static char *
remove_quotes (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  gsize length = strlen (valid);

  if (length > 1 && valid[0] == '"' && valid[length - 1] == '"')
    return g_strndup (valid + 1, length - 2);
  return g_steal_pointer (&valid);
}

static gboolean
read_pair (QuoitRayLabels *labels, const char *pair, guint place, GError **error)
{
  const char *equals = strchr (pair, '=');
  g_autofree char *quoted = NULL, *before = NULL, *key = NULL, *value = NULL;

  if (equals == NULL || strchr (equals + 1, '=') != NULL)
    {
      quoted = quoit_quote (pair);
      return quoit_fail (error, QUOIT_ERROR_INVALID, "labels: place %u: %s: expected KEY=VALUE", place, quoted);
    }
  before = g_strndup (pair, (gsize) (equals - pair));
  key = quoit_python_strip (before);
  value = quoit_python_strip (equals + 1);
  quoit_ray_labels_set (labels, key, value);
  return TRUE;
}

static gboolean
check (const QuoitRayLabels *labels, GError **error)
{
  const char *key;

  for (unsigned i = 0; (key = quoit_ray_labels_get_key (labels, i)) != NULL; i++)
    if (!quoit_label_check_key (key, error) || !quoit_label_check_value (quoit_ray_labels_get_value (labels, i), error))
      return FALSE;

  return TRUE;
}

QuoitRayLabels *
quoit_ray_labels_parse (const char *text, GError **error)
{
  g_autoptr (QuoitRayLabels) labels = quoit_ray_labels_new ();
  g_autofree char *inside = remove_quotes (text);
  g_auto (GStrv) pairs = g_strsplit (inside, ",", -1);

  for (guint i = 0; pairs[i] != NULL; i++)
    if (!read_pair (labels, pairs[i], i + 1, error))
      return NULL;

  /* As in Ray, values that a later pair overwrites are not validated, so check at the end. */
  return check (labels, error) ? g_steal_pointer (&labels) : NULL;
}

static gboolean
read_member (QuoitRayLabels *labels, const char *key, JsonNode *value, GError **error)
{
  g_autofree char *quoted = NULL;

  if (json_node_get_value_type (value) == G_TYPE_STRING && !g_str_has_prefix (key, QUOIT_RAY_LABEL_PREFIX))
    return quoit_ray_labels_set (labels, key, json_node_get_string (value)), TRUE;

  quoted = quoit_quote (key);
  if (json_node_get_value_type (value) != G_TYPE_STRING)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "labels: the value of %s: expected a text", quoted);
  return quoit_fail (error, QUOIT_ERROR_INVALID,
                     "labels: key %s: expected one without 'ray.io/', which is for Ray's own", quoted);
}

QuoitRayLabels *
quoit_ray_labels_parse_json (const char *text, size_t length, GError **error)
{
  g_autoptr (JsonNode) root = quoit_json_parse_as_python (text, length, error);
  g_autoptr (QuoitRayLabels) labels = NULL;
  g_autoptr (GList) keys = NULL;

  if (root == NULL)
    return g_prefix_error (error, "labels: "), NULL;
  if (!JSON_NODE_HOLDS_OBJECT (root))
    return quoit_fail_null (error, QUOIT_ERROR_INVALID, "labels: '%s': expected an object", json_node_type_name (root));

  labels = quoit_ray_labels_new ();
  keys = json_object_get_members (json_node_get_object (root));
  for (GList *k = keys; k != NULL; k = k->next)
    if (!read_member (labels, k->data, json_object_get_member (json_node_get_object (root), k->data), error))
      return NULL;

  return g_steal_pointer (&labels);
}

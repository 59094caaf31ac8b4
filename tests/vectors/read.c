/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the arguments of rows and makes nodes of answers. */
#include "runner.h"

#include <string.h>

JsonObject *
vector_object (JsonNode *in, const char *const *members, GError **error)
{
  g_autoptr (GList) there = NULL;

  if (!JSON_NODE_HOLDS_OBJECT (in))
    return vector_skip (error, "an input that is no object"), NULL;

  there = json_object_get_members (json_node_get_object (in));
  for (GList *m = there; m != NULL; m = m->next)
    if (!g_strv_contains (members, m->data))
      return vector_skip (error, "an argument that C has not"), NULL;

  return json_node_get_object (in);
}

static JsonNode *
find (JsonObject *object, const char *member)
{
  JsonNode *node = json_object_get_member (object, member);

  return node == NULL || JSON_NODE_HOLDS_NULL (node) ? NULL : node;
}

gboolean
vector_text (JsonObject *object, const char *member, const char **text, GError **error)
{
  JsonNode *node = find (object, member);

  *text = NULL;
  if (node == NULL)
    return TRUE;
  if (json_node_get_value_type (node) != G_TYPE_STRING)
    return vector_skip (error, "Python only: another type where C takes a text");

  *text = json_node_get_string (node);
  return TRUE;
}

gboolean
vector_integer (JsonObject *object, const char *member, gint64 *value, const gint64 **given, GError **error)
{
  JsonNode *node = find (object, member);

  *given = NULL;
  if (node == NULL)
    return TRUE;
  if (json_node_get_value_type (node) != G_TYPE_INT64)
    return vector_skip (error, "Python only: another type where C takes an integer");

  *value = json_node_get_int (node);
  *given = value;
  return TRUE;
}

JsonNode *
vector_null_node (void)
{
  return json_node_init_null (json_node_alloc ());
}

JsonNode *
vector_node_of_text (char *text)
{
  JsonNode *node = json_node_init_string (json_node_alloc (), text);

  g_free (text);
  return node;
}

JsonNode *
vector_node_of_integer (gint64 value)
{
  return json_node_init_int (json_node_alloc (), value);
}

JsonNode *
vector_node_of_env (char **env)
{
  g_autoptr (JsonObject) object = json_object_new ();

  for (unsigned i = 0; env[i] != NULL; i++)
    {
      char *value = strchr (env[i], '=');

      *value++ = '\0';
      json_object_set_string_member (object, env[i], value);
    }
  g_strfreev (env);
  return json_node_init_object (json_node_alloc (), object);
}

gboolean
vector_resources (JsonObject *in, const char *member, QuoitRayResources **resources, GError **error)
{
  JsonNode *node = json_object_get_member (in, member);
  g_autoptr (QuoitRayResources) read = quoit_ray_resources_new ();
  g_autoptr (GList) names = NULL;

  *resources = NULL;
  if (node == NULL || JSON_NODE_HOLDS_NULL (node))
    return TRUE;
  if (!JSON_NODE_HOLDS_OBJECT (node))
    return vector_skip (error, "Python only: another type where C takes resources");

  names = json_object_get_members (json_node_get_object (node));
  for (GList *n = names; n != NULL; n = n->next)
    {
      JsonNode *amount = json_object_get_member (json_node_get_object (node), n->data);
      GType type = json_node_get_value_type (amount);

      if (type != G_TYPE_INT64 && type != G_TYPE_DOUBLE)
        return vector_skip (error, "Python only: another type where C takes an amount");
      quoit_ray_resources_set (read, n->data, json_node_get_double (amount));
    }
  *resources = g_steal_pointer (&read);
  return TRUE;
}

JsonArray *
vector_array_of_texts (const char *const *texts)
{
  JsonArray *array = json_array_new ();

  for (; *texts != NULL; texts++)
    json_array_add_string_element (array, *texts);
  return array;
}

JsonObject *
vector_object_of_resources (const QuoitRayResources *resources)
{
  JsonObject *object = json_object_new ();
  const char *name;

  for (unsigned i = 0; (name = quoit_ray_resources_get_name (resources, i)) != NULL; i++)
    json_object_set_double_member (object, name, quoit_ray_resources_get_amount (resources, i));
  return object;
}

/* NULL if the row records an error or another type. */
static JsonObject *
recorded_object (JsonNode *in)
{
  JsonNode *out = json_object_get_member (json_node_get_object (json_node_get_parent (in)), "out");

  return out != NULL && JSON_NODE_HOLDS_OBJECT (out) ? json_node_get_object (out) : NULL;
}

gboolean
vector_has_recorded_member (JsonNode *in, const char *member)
{
  JsonObject *out = recorded_object (in);

  return out != NULL && json_object_has_member (out, member);
}

void
vector_keep_recorded (JsonNode *in, JsonObject *answer)
{
  g_autoptr (GList) members = json_object_get_members (answer);

  for (GList *m = members; m != NULL && recorded_object (in) != NULL; m = m->next)
    if (!vector_has_recorded_member (in, m->data))
      json_object_remove_member (answer, m->data);
}

gboolean
vector_pair (GPtrArray *pairs, const char *name, JsonNode *value, GError **error)
{
  if (value == NULL || JSON_NODE_HOLDS_NULL (value))
    return TRUE;
  if (json_node_get_value_type (value) == G_TYPE_INT64)
    return g_ptr_array_add (pairs, g_strdup_printf ("%s=%" G_GINT64_FORMAT, name, json_node_get_int (value))), TRUE;
  if (json_node_get_value_type (value) != G_TYPE_STRING)
    return vector_skip (error, "Python only: another type where C takes a text");
  if (strchr (name, '=') != NULL)
    return vector_skip (error, "a variable that cannot be");

  g_ptr_array_add (pairs, g_strconcat (name, "=", json_node_get_string (value), NULL));
  return TRUE;
}

gboolean
vector_pairs (GPtrArray *pairs, JsonNode *node, GError **error)
{
  g_autoptr (GList) names = NULL;

  if (node == NULL || JSON_NODE_HOLDS_NULL (node))
    return TRUE;
  if (!JSON_NODE_HOLDS_OBJECT (node))
    return vector_skip (error, "an environment that is no object");

  names = json_object_get_members (json_node_get_object (node));
  for (GList *n = names; n != NULL; n = n->next)
    if (!vector_pair (pairs, n->data, json_object_get_member (json_node_get_object (node), n->data), error))
      return FALSE;

  return TRUE;
}

gboolean
vector_labels (JsonNode *node, QuoitRayLabels **labels, GError **error)
{
  g_autoptr (QuoitRayLabels) read = quoit_ray_labels_new ();
  g_autoptr (GList) keys = NULL;

  *labels = NULL;
  if (node == NULL || JSON_NODE_HOLDS_NULL (node))
    return TRUE;
  if (!JSON_NODE_HOLDS_OBJECT (node))
    return vector_skip (error, "Python only: another type where C takes labels");

  keys = json_object_get_members (json_node_get_object (node));
  for (GList *k = keys; k != NULL; k = k->next)
    {
      JsonNode *value = json_object_get_member (json_node_get_object (node), k->data);

      if (!JSON_NODE_HOLDS_NULL (value) && json_node_get_value_type (value) != G_TYPE_STRING)
        return vector_skip (error, "Python only: another type where C takes the text of a label");
      quoit_ray_labels_set (read, k->data, JSON_NODE_HOLDS_NULL (value) ? NULL : json_node_get_string (value));
    }
  *labels = g_steal_pointer (&read);
  return TRUE;
}

JsonObject *
vector_object_of_labels (const QuoitRayLabels *labels)
{
  JsonObject *object = json_object_new ();
  const char *key;

  for (unsigned i = 0; (key = quoit_ray_labels_get_key (labels, i)) != NULL; i++)
    json_object_set_string_member (object, key, quoit_ray_labels_get_value (labels, i));
  return object;
}

JsonObject *
vector_object_of_refusal (GError *refused)
{
  JsonObject *object = json_object_new ();

  json_object_set_string_member (object, "error", quoit_error_code_name ((QuoitErrorCode) refused->code));
  json_object_set_string_member (object, "message", refused->message);
  g_error_free (refused);
  return object;
}
JsonNode *
vector_recorded (JsonNode *in)
{
  return json_object_get_member (json_node_get_object (json_node_get_parent (in)), "out");
}

gboolean
vector_number (JsonNode *node, double *number)
{
  GType type = node != NULL && JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_NONE;

  if (type == G_TYPE_BOOLEAN)
    *number = json_node_get_boolean (node);
  else if (type == G_TYPE_INT64 || type == G_TYPE_DOUBLE)
    *number = json_node_get_double (node);
  else
    return FALSE;
  return TRUE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Suites "ray-core" and "ray-tpu": labels and selectors. Rows of "ray-core" have one argument, rows of "ray-tpu" an
   object of arguments. */
#include "runner.h"

#include <string.h>

/* Returns the argument @member; if @member is NULL, all of @in. Returns NULL if the row is to be skipped. */
static JsonNode *
argument (JsonNode *in, const char *member, GError **error)
{
  const char *const members[] = { member, NULL };
  JsonObject *object;

  if (member == NULL)
    return in;

  object = vector_object (in, members, error);
  if (object == NULL)
    return NULL;
  if (!json_object_has_member (object, member))
    return vector_skip (error, "the row does not have the argument"), NULL;
  return json_object_get_member (object, member);
}

static const char *
text_argument (JsonNode *in, const char *member, GError **error)
{
  JsonNode *node = argument (in, member, error);

  if (node == NULL)
    return NULL;
  if (json_node_get_value_type (node) != G_TYPE_STRING)
    return vector_skip (error, "Python only: another type where C takes a text"), NULL;
  return json_node_get_string (node);
}

/* Takes @labels, which is NULL after a refusal. */
static JsonNode *
node_of_labels (QuoitRayLabels *labels)
{
  g_autoptr (QuoitRayLabels) owned = labels;
  g_autoptr (JsonObject) object = owned != NULL ? vector_object_of_labels (owned) : NULL;

  return object != NULL ? json_node_init_object (json_node_alloc (), object) : NULL;
}

typedef bool (*CheckFunc) (const char *text, GError **error);

static JsonNode *
check_text (JsonNode *in, const char *member, CheckFunc check, GError **error)
{
  const char *text = text_argument (in, member, error);

  return text != NULL && check (text, error) ? vector_null_node () : NULL;
}

static JsonNode *
key (JsonNode *in, GError **error)
{
  return check_text (in, NULL, quoit_ray_label_check_key, error);
}

static JsonNode *
key_of_object (JsonNode *in, GError **error)
{
  return check_text (in, "key", quoit_ray_label_check_key, error);
}

static JsonNode *
value (JsonNode *in, GError **error)
{
  return check_text (in, NULL, quoit_ray_label_check_value, error);
}

static JsonNode *
value_of_object (JsonNode *in, GError **error)
{
  return check_text (in, "value", quoit_ray_label_check_value, error);
}

static JsonNode *
selector_value (JsonNode *in, GError **error)
{
  return check_text (in, NULL, quoit_ray_selector_check_value, error);
}

static JsonNode *
selector_value_of_object (JsonNode *in, GError **error)
{
  return check_text (in, "selector", quoit_ray_selector_check_value, error);
}

static JsonNode *
check_selector (JsonNode *in, const char *member, GError **error)
{
  JsonNode *node = argument (in, member, error);
  g_autoptr (QuoitRayLabels) selector = NULL;

  if (node == NULL || !vector_labels (node, &selector, error) || !quoit_ray_selector_check (selector, error))
    return NULL;

  return vector_null_node ();
}

static JsonNode *
selector (JsonNode *in, GError **error)
{
  return check_selector (in, NULL, error);
}

static JsonNode *
selector_of_object (JsonNode *in, GError **error)
{
  return check_selector (in, "label_selector", error);
}

static JsonNode *
fallback (JsonNode *in, GError **error)
{
  g_autofree char *text = json_to_string (in, FALSE);

  return quoit_ray_fallback_check_json (text, strlen (text), error) ? vector_null_node () : NULL;
}

static JsonNode *
parse_text (JsonNode *in, const char *member, GError **error)
{
  const char *text = text_argument (in, member, error);

  return text != NULL ? node_of_labels (quoit_ray_labels_parse (text, error)) : NULL;
}

static JsonNode *
text (JsonNode *in, GError **error)
{
  return parse_text (in, NULL, error);
}

static JsonNode *
text_of_object (JsonNode *in, GError **error)
{
  return parse_text (in, "labels_str", error);
}

static JsonNode *
parse_json (JsonNode *in, const char *member, GError **error)
{
  const char *json = text_argument (in, member, error);

  return json != NULL ? node_of_labels (quoit_ray_labels_parse_json (json, strlen (json), error)) : NULL;
}

static JsonNode *
json (JsonNode *in, GError **error)
{
  return parse_json (in, NULL, error);
}

static JsonNode *
json_of_object (JsonNode *in, GError **error)
{
  return parse_json (in, "labels_json", error);
}

static JsonNode *
read_selector (JsonNode *in, GError **error)
{
  const char *asked = text_argument (in, NULL, error);
  g_auto (GStrv) values = asked != NULL ? quoit_ray_selector_dup_values (asked) : NULL;
  g_autoptr (JsonArray) list = json_array_new ();
  JsonObject *constraint;
  JsonArray *of_values;

  if (asked == NULL)
    return NULL;

  constraint = json_object_new ();
  of_values = json_array_new ();
  for (char **each = values; *each != NULL; each++)
    json_array_add_string_element (of_values, *each);
  json_object_set_string_member (constraint, "operator", quoit_ray_selector_is_negated (asked) ? "NOT_IN" : "IN");
  json_object_set_array_member (constraint, "values", of_values);
  json_array_add_object_element (list, constraint);
  return json_node_init_array (json_node_alloc (), list);
}

static JsonNode *
match (JsonNode *in, GError **error)
{
  static const char *const members[] = { "labels", "selector", NULL };
  JsonObject *object = vector_object (in, members, error);
  g_autoptr (QuoitRayLabels) labels = NULL, asked = NULL;

  if (object == NULL || !vector_labels (json_object_get_member (object, "labels"), &labels, error)
      || !vector_labels (json_object_get_member (object, "selector"), &asked, error))
    return NULL;
  if (labels == NULL || asked == NULL)
    return vector_skip (error, "Python only: None where Python expects labels"), NULL;

  return json_node_init_boolean (json_node_alloc (), quoit_ray_selector_holds (asked, labels));
}

const VectorOp vector_ops_ray_core_labels[] = {
  { "label_selector.match", match, VECTOR_ANY_ORDER },
  { "label_selector.parse", read_selector, VECTOR_ANY_ORDER },
  { "parse_node_labels_json", json, VECTOR_ANY_ORDER },
  { "parse_node_labels_string", text, VECTOR_ANY_ORDER },
  { "validate_fallback_strategy", fallback, VECTOR_REFUSALS },
  { "validate_label_key", key, VECTOR_REFUSALS },
  { "validate_label_selector", selector, VECTOR_REFUSALS },
  { "validate_label_selector_value", selector_value, VECTOR_REFUSALS },
  { "validate_label_value", value, VECTOR_REFUSALS },
  { NULL, NULL, VECTOR_ANY_ORDER },
};

const VectorOp vector_ops_ray_tpu_labels[] = {
  { "ray._private.label_utils.parse_node_labels_json", json_of_object, VECTOR_ANY_ORDER },
  { "ray._private.label_utils.parse_node_labels_string", text_of_object, VECTOR_ANY_ORDER },
  { "ray._private.label_utils.validate_label_key", key_of_object, VECTOR_REFUSALS },
  { "ray._private.label_utils.validate_label_selector", selector_of_object, VECTOR_REFUSALS },
  { "ray._private.label_utils.validate_label_selector_value", selector_value_of_object, VECTOR_REFUSALS },
  { "ray._private.label_utils.validate_label_value", value_of_object, VECTOR_REFUSALS },
  { NULL, NULL, VECTOR_ANY_ORDER },
};

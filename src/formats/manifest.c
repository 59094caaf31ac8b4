/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/manifest.h"

#include <string.h>

#include "formats/quantity.h"
#include "formats/schema/value.h"
#include "formats/variables.h"
#include "formats/yaml.h"
#include "models/ray/label-syntax.h"

gboolean
quoit_manifest_refuse (const QuoitManifest *manifest, JsonNode *node, const char *expected)
{
  return quoit_tree_refuse (manifest->tree, node, expected, manifest->error);
}

gboolean
quoit_manifest_prefix_place (const QuoitManifest *manifest, JsonNode *node)
{
  return quoit_tree_prefix_place (manifest->tree, node, manifest->error);
}

static gboolean
is_string (JsonNode *node)
{
  return JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING;
}

/* Returns the text of a scalar with its variables replaced. NULL for lists and maps. If a variable has no value,
 * sets the error and *@ok to FALSE, and returns NULL. */
static const char *
expand_text (const QuoitManifest *manifest, JsonNode *node, gboolean *ok)
{
  const char *plain = quoit_tree_plain (manifest->tree, node);
  const char *text = plain != NULL ? plain : is_string (node) ? json_node_get_string (node) : NULL;
  g_autofree char *with_values = NULL;

  *ok = TRUE;
  if (text == NULL || strstr (text, "${") == NULL)
    return text;
  with_values = quoit_variables_expand (text, manifest->set, manifest->used, manifest->error);
  *ok = with_values != NULL || quoit_manifest_prefix_place (manifest, node);
  return *ok ? g_string_chunk_insert_const (manifest->texts, with_values) : NULL;
}

gboolean
quoit_manifest_text (const QuoitManifest *manifest, JsonNode *node, const char **text)
{
  gboolean is_plain = quoit_tree_plain (manifest->tree, node) != NULL, is_text = TRUE, ok;
  const char *value = expand_text (manifest, node, &ok);

  if (!ok)
    return FALSE;
  if (value == NULL)
    return quoit_manifest_refuse (manifest, node, "text");
  if (is_plain)
    json_node_unref (quoit_yaml_resolve (value, &is_text));
  if (!is_text)
    return quoit_manifest_refuse (manifest, node,
                                  "text: put it in quotes, because Kubernetes reads a number, a boolean or null");
  *text = value;
  return TRUE;
}

gboolean
quoit_manifest_count (const QuoitManifest *manifest, JsonNode *node, gint64 most, gint64 *value)
{
  gboolean is_plain = quoit_tree_plain (manifest->tree, node) != NULL, ok;
  const char *text = expand_text (manifest, node, &ok);
  g_autofree char *expected = NULL;
  QuoitScalar scalar;

  if (!ok)
    return FALSE;
  scalar = is_plain && text != NULL ? quoit_scalar_read (manifest, node) : (QuoitScalar) { 0 };
  if (scalar.type == QUOIT_SCALAR_INTEGER && scalar.integer >= 0 && scalar.integer <= most)
    {
      *value = scalar.integer;
      return TRUE;
    }
  expected = g_strdup_printf ("a whole number of 0 to %" G_GINT64_FORMAT ", without quotes", most);
  return quoit_manifest_refuse (manifest, node, expected);
}

/* Returns whether the unquoted text is a number of YAML 1.1 that no quantity is: octal, hexadecimal, with underscores.
 */
static gboolean
is_other_number (const char *text)
{
  const char *p = text + (*text == '+' || *text == '-');

  return (*p == '0' && p[1] != '\0' && p[1] != '.') || (g_ascii_isdigit (*p) && strchr (p, '_') != NULL);
}

gboolean
quoit_manifest_quantity (const QuoitManifest *manifest, JsonNode *node, QuoitAmount *amount)
{
  gboolean is_plain = quoit_tree_plain (manifest->tree, node) != NULL, ok;
  const char *text = expand_text (manifest, node, &ok);
  g_autofree char *number = NULL;

  if (!ok)
    return FALSE;
  if (text == NULL)
    return quoit_manifest_refuse (manifest, node, "a quantity such as '8', '500m' or '16Gi'");
  if (is_plain && is_other_number (text))
    {
      QuoitScalar scalar = quoit_scalar_read (manifest, node);

      if (scalar.type == QUOIT_SCALAR_INTEGER)
        text = number = g_strdup_printf ("%" G_GINT64_FORMAT, scalar.integer);
    }
  return quoit_quantity_parse (text, amount, manifest->error) || quoit_manifest_prefix_place (manifest, node);
}

gboolean
quoit_manifest_boolean (const QuoitManifest *manifest, JsonNode *node, gboolean *value)
{
  gboolean is_plain = quoit_tree_plain (manifest->tree, node) != NULL, is_text, ok;
  const char *text = expand_text (manifest, node, &ok);
  g_autoptr (JsonNode) resolved = NULL;

  if (!ok)
    return FALSE;
  resolved = is_plain ? quoit_yaml_resolve (text, &is_text) : NULL;
  if (resolved == NULL || !JSON_NODE_HOLDS_VALUE (resolved) || json_node_get_value_type (resolved) != G_TYPE_BOOLEAN)
    return quoit_manifest_refuse (manifest, node, "true or false");
  *value = json_node_get_boolean (resolved);
  return TRUE;
}

static gboolean
add_objects (const QuoitManifest *manifest, JsonNode *document, GPtrArray *objects)
{
  JsonNode *kind = quoit_tree_member (document, "kind");
  JsonArray *items;

  if (kind == NULL || !is_string (kind) || strcmp (json_node_get_string (kind), "List") != 0)
    {
      g_ptr_array_add (objects, document);
      return TRUE;
    }
  if (!quoit_manifest_find_list (manifest, document, "items", &items))
    return FALSE;
  for (guint i = 0; items != NULL && i < json_array_get_length (items); i++)
    g_ptr_array_add (objects, json_array_get_element (items, i));
  return TRUE;
}

GPtrArray *
quoit_manifest_objects (const QuoitManifest *manifest)
{
  g_autoptr (GPtrArray) objects = g_ptr_array_new ();

  for (unsigned i = 0; i < quoit_tree_n_documents (manifest->tree); i++)
    if (!add_objects (manifest, quoit_tree_document (manifest->tree, i), objects))
      return NULL;
  return g_steal_pointer (&objects);
}

gboolean
quoit_manifest_share_namespace (const char *a, const char *b)
{
  return a == NULL || b == NULL || strcmp (a, b) == 0;
}

gboolean
quoit_manifest_find (const QuoitManifest *manifest, JsonNode *from, JsonNode **node, const char *name, ...)
{
  gboolean ok = TRUE;
  va_list args;

  va_start (args, name);
  for (*node = from; ok && *node != NULL && name != NULL; name = va_arg (args, const char *))
    {
      JsonObject *object;

      ok = quoit_tree_object (manifest->tree, *node, &object, manifest->error);
      if (ok)
        *node = quoit_tree_member (*node, name);
    }
  va_end (args);
  return ok;
}

gboolean
quoit_manifest_name (const QuoitManifest *manifest, JsonNode *owner, JsonNode *node, const char *field,
                     const char *what, const char **name)
{
  if (node == NULL)
    return quoit_tree_fail (manifest->tree, owner, manifest->error, "no '%s': expected the name of the %s", field,
                            what);
  if (!quoit_manifest_text (manifest, node, name))
    return FALSE;
  if (**name == '\0')
    return quoit_manifest_refuse (manifest, node, "a name");
  return quoit_label_check_value (*name, manifest->error) || quoit_manifest_prefix_place (manifest, node);
}

gboolean
quoit_manifest_find_text (const QuoitManifest *manifest, JsonNode *from, const char *name, JsonNode **node,
                          const char **value)
{
  JsonNode *found;

  if (!quoit_manifest_find (manifest, from, &found, name, NULL)
      || (found != NULL && !quoit_manifest_text (manifest, found, value)))
    return FALSE;
  if (node != NULL)
    *node = found;
  return TRUE;
}

gboolean
quoit_manifest_find_count (const QuoitManifest *manifest, JsonNode *from, const char *name, JsonNode **node,
                           gint64 *value)
{
  JsonNode *found;

  if (!quoit_manifest_find (manifest, from, &found, name, NULL)
      || (found != NULL && !quoit_manifest_count (manifest, found, G_MAXINT32, value)))
    return FALSE;
  if (node != NULL)
    *node = found;
  return TRUE;
}

gboolean
quoit_manifest_find_boolean (const QuoitManifest *manifest, JsonNode *from, const char *name, gboolean *value)
{
  JsonNode *found;

  return quoit_manifest_find (manifest, from, &found, name, NULL)
         && (found == NULL || quoit_manifest_boolean (manifest, found, value));
}

gboolean
quoit_manifest_find_list (const QuoitManifest *manifest, JsonNode *from, const char *name, JsonArray **list)
{
  JsonNode *found;

  *list = NULL;
  return quoit_manifest_find (manifest, from, &found, name, NULL)
         && (found == NULL || quoit_tree_array (manifest->tree, found, list, manifest->error));
}

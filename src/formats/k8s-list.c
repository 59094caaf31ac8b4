/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/k8s-list.h"

#include <string.h>

#include "formats/yaml.h"

typedef struct {
  const QuoitTree *tree;
  const QuoitK8sList *list;
  gpointer data;
  guint n_wanted;
  GPtrArray *others; /* of JsonNode: objects of the other kinds */
} Reading;

/* Returns the kind, or NULL if it is missing or not text. */
static const char *
kind_of (JsonNode *object)
{
  JsonNode *kind = JSON_NODE_HOLDS_OBJECT (object) ? quoit_tree_member (object, "kind") : NULL;

  return kind != NULL && JSON_NODE_HOLDS_VALUE (kind) && json_node_get_value_type (kind) == G_TYPE_STRING
             ? json_node_get_string (kind)
             : NULL;
}

static gboolean
refuse_kind (const Reading *reading, JsonNode *object, GError **error)
{
  JsonNode *kind = JSON_NODE_HOLDS_OBJECT (object) ? quoit_tree_member (object, "kind") : NULL;

  if (kind != NULL)
    return quoit_tree_refuse (reading->tree, kind, reading->list->wanted, error);
  return JSON_NODE_HOLDS_OBJECT (object) ? quoit_tree_fail (
             reading->tree, object, error, "an object without kind: expected %s", reading->list->wanted)
                                         : quoit_tree_refuse (reading->tree, object, reading->list->wanted, error);
}

/* Objects of other kinds than the first one are kept for add_others(). */
static gboolean
add_object (Reading *reading, JsonNode *object, const char *kind, GError **error)
{
  const QuoitK8sReading *of = reading->list->readings;

  while (of->kind != NULL && g_strcmp0 (of->kind, kind) != 0)
    of++;
  if (of->kind == NULL)
    return refuse_kind (reading, object, error);
  if (of != reading->list->readings)
    {
      g_ptr_array_add (reading->others, object);
      return TRUE;
    }
  reading->n_wanted++;
  return of->add (reading->data, object, error);
}

/* Handles the other kinds after all objects of the first kind. Without any object of the first kind, it is the wrong
 * file. */
static gboolean
add_others (const Reading *reading, GError **error)
{
  if (reading->others->len > 0 && reading->n_wanted == 0)
    return refuse_kind (reading, reading->others->pdata[0], error);
  for (guint i = 0; i < reading->others->len; i++)
    {
      JsonNode *object = reading->others->pdata[i];
      const QuoitK8sReading *of = reading->list->readings + 1;

      while (strcmp (of->kind, kind_of (object)) != 0)
        of++;
      if (of->add != NULL && !of->add (reading->data, object, error))
        return FALSE;
    }
  return TRUE;
}

/* Returns whether @kind is "List", or the list of the first kind, such as "NodeList". */
static gboolean
is_list (const Reading *reading, const char *kind)
{
  g_autofree char *own = g_strconcat (reading->list->readings[0].kind, "List", NULL);

  return kind != NULL && (strcmp (kind, "List") == 0 || strcmp (kind, own) == 0);
}

static gboolean
add_document (Reading *reading, JsonNode *document, GError **error)
{
  JsonNode *items;
  JsonArray *list;

  if (!is_list (reading, kind_of (document)))
    return add_object (reading, document, kind_of (document), error);
  items = quoit_tree_member (document, "items");
  if (items == NULL)
    return quoit_tree_fail (reading->tree, document, error, "a list without items: expected items");
  if (!quoit_tree_array (reading->tree, items, &list, error))
    return FALSE;
  for (guint i = 0; i < json_array_get_length (list); i++)
    {
      JsonNode *object = json_array_get_element (list, i);
      gboolean says_kind = JSON_NODE_HOLDS_OBJECT (object) && quoit_tree_member (object, "kind") != NULL;

      /* The items of a NodeList may omit their kind. */
      if (!add_object (reading, object, says_kind ? kind_of (object) : reading->list->readings[0].kind, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
quoit_k8s_read_list (const QuoitTree *tree, const QuoitK8sList *list, gpointer data, GError **error)
{
  g_autoptr (GPtrArray) others = g_ptr_array_new ();
  Reading reading = { .tree = tree, .list = list, .data = data, .others = others };
  guint n_read = 0;

  for (unsigned i = 0; i < quoit_tree_n_documents (tree); i++)
    {
      JsonNode *document = quoit_tree_document (tree, i);

      if (JSON_NODE_HOLDS_NULL (document))
        continue;
      n_read++;
      if (!add_document (&reading, document, error))
        return FALSE;
    }
  if (n_read == 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "nothing in it: expected %s", list->wanted);
  return add_others (&reading, error);
}

QuoitTree *
quoit_k8s_parse (const char *text, gsize length, const QuoitK8sList *list, GError **error)
{
  gsize start = 0;

  while (start < length && g_ascii_isspace (text[start]))
    start++;
  if (start == length)
    return quoit_fail_null (error, QUOIT_ERROR_INVALID, "nothing in it: expected %s", list->wanted);
  return text[start] == '{' || text[start] == '[' ? quoit_tree_parse_json (text, length, error)
                                                  : quoit_tree_parse_yaml (text, length, error);
}

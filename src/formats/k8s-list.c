/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/k8s-list.h"

#include <string.h>

#include "formats/yaml.h"

/* The state while a file is read. */
typedef struct {
  const QuoitTree *tree;
  const QuoitK8sList *list;
  gpointer data;
  guint n_main_objects;
  GPtrArray *other_objects; /* of JsonNode: objects of the other kinds */
} ListReader;

/* Returns the kind, or NULL if it is missing or not text. */
static const char *
object_kind (JsonNode *object)
{
  JsonNode *kind = JSON_NODE_HOLDS_OBJECT (object) ? quoit_tree_member (object, "kind") : NULL;

  return kind != NULL && JSON_NODE_HOLDS_VALUE (kind) && json_node_get_value_type (kind) == G_TYPE_STRING
             ? json_node_get_string (kind)
             : NULL;
}

static gboolean
refuse_kind (const ListReader *reader, JsonNode *object, GError **error)
{
  JsonNode *kind = JSON_NODE_HOLDS_OBJECT (object) ? quoit_tree_member (object, "kind") : NULL;

  if (kind != NULL)
    return quoit_tree_refuse (reader->tree, kind, reader->list->expected, error);
  return JSON_NODE_HOLDS_OBJECT (object) ? quoit_tree_fail (
             reader->tree, object, error, "an object without kind: expected %s", reader->list->expected)
                                         : quoit_tree_refuse (reader->tree, object, reader->list->expected, error);
}

/* Reads objects of the first kind now, and keeps objects of the other kinds for add_other_objects(). */
static gboolean
add_object (ListReader *reader, JsonNode *object, const char *kind, GError **error)
{
  const QuoitK8sKindReader *kind_reader = reader->list->kinds;

  while (kind_reader->kind != NULL && g_strcmp0 (kind_reader->kind, kind) != 0)
    kind_reader++;
  if (kind_reader->kind == NULL)
    return refuse_kind (reader, object, error);
  if (kind_reader != reader->list->kinds)
    {
      g_ptr_array_add (reader->other_objects, object);
      return TRUE;
    }
  reader->n_main_objects++;
  return kind_reader->add (reader->data, object, error);
}

/* A file without any object of the first kind is the wrong file, even if it has objects of the other kinds. */
static gboolean
add_other_objects (const ListReader *reader, GError **error)
{
  if (reader->other_objects->len > 0 && reader->n_main_objects == 0)
    return refuse_kind (reader, reader->other_objects->pdata[0], error);
  for (guint i = 0; i < reader->other_objects->len; i++)
    {
      JsonNode *object = reader->other_objects->pdata[i];
      const QuoitK8sKindReader *kind_reader = reader->list->kinds + 1;

      while (strcmp (kind_reader->kind, object_kind (object)) != 0)
        kind_reader++;
      if (kind_reader->add != NULL && !kind_reader->add (reader->data, object, error))
        return FALSE;
    }
  return TRUE;
}

/* Returns whether @kind is "List", or the list of the first kind, such as "NodeList". */
static gboolean
is_list (const ListReader *reader, const char *kind)
{
  g_autofree char *own = g_strconcat (reader->list->kinds[0].kind, "List", NULL);

  return kind != NULL && (strcmp (kind, "List") == 0 || strcmp (kind, own) == 0);
}

static gboolean
add_document (ListReader *reader, JsonNode *document, GError **error)
{
  JsonNode *items;
  JsonArray *list;

  if (!is_list (reader, object_kind (document)))
    return add_object (reader, document, object_kind (document), error);
  items = quoit_tree_member (document, "items");
  if (items == NULL)
    return quoit_tree_fail (reader->tree, document, error, "a list without items: expected items");
  if (!quoit_tree_array (reader->tree, items, &list, error))
    return FALSE;
  for (guint i = 0; i < json_array_get_length (list); i++)
    {
      JsonNode *object = json_array_get_element (list, i);
      gboolean has_kind = JSON_NODE_HOLDS_OBJECT (object) && quoit_tree_member (object, "kind") != NULL;

      /* The items of a NodeList may omit their kind. */
      if (!add_object (reader, object, has_kind ? object_kind (object) : reader->list->kinds[0].kind, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
quoit_k8s_read_list (const QuoitTree *tree, const QuoitK8sList *list, gpointer data, GError **error)
{
  g_autoptr (GPtrArray) other_objects = g_ptr_array_new ();
  ListReader reader = { .tree = tree, .list = list, .data = data, .other_objects = other_objects };
  guint n_read = 0;

  for (unsigned i = 0; i < quoit_tree_n_documents (tree); i++)
    {
      JsonNode *document = quoit_tree_document (tree, i);

      if (JSON_NODE_HOLDS_NULL (document))
        continue;
      n_read++;
      if (!add_document (&reader, document, error))
        return FALSE;
    }
  if (n_read == 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "nothing in it: expected %s", list->expected);
  return add_other_objects (&reader, error);
}

QuoitTree *
quoit_k8s_parse (const char *text, gsize length, const QuoitK8sList *list, GError **error)
{
  gsize start = 0;

  while (start < length && g_ascii_isspace (text[start]))
    start++;
  if (start == length)
    return quoit_fail_null (error, QUOIT_ERROR_INVALID, "nothing in it: expected %s", list->expected);
  return text[start] == '{' || text[start] == '[' ? quoit_tree_parse_json (text, length, error)
                                                  : quoit_tree_parse_yaml (text, length, error);
}

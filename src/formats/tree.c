/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/tree.h"

#include "formats/json.h"

struct _QuoitTree {
  GPtrArray *documents;
  GHashTable *places; /* node -> line << 24 | column */
  GHashTable *plain;  /* node -> text in texts */
  GStringChunk *texts;
  gboolean has_lines;    /* the file is YAML */
  gboolean omits_places; /* quoit_tree_place() returns "" */
  int element; /* index of the list element that is the only content of the tree; -1: the tree has the whole file */
};

#define COLUMN_BITS 24
#define MOST_COLUMN ((1u << COLUMN_BITS) - 1)

QuoitTree *
quoit_tree_new (void)
{
  QuoitTree *tree = g_new0 (QuoitTree, 1);

  tree->documents = g_ptr_array_new_with_free_func ((GDestroyNotify) json_node_unref);
  tree->places = g_hash_table_new (g_direct_hash, g_direct_equal);
  tree->plain = g_hash_table_new (g_direct_hash, g_direct_equal);
  tree->texts = g_string_chunk_new (4096);
  tree->element = -1;
  return tree;
}

void
quoit_tree_free (QuoitTree *tree)
{
  if (tree == NULL)
    return;
  g_ptr_array_unref (tree->documents);
  g_hash_table_unref (tree->places);
  g_hash_table_unref (tree->plain);
  g_string_chunk_free (tree->texts);
  g_free (tree);
}

QuoitTree *
quoit_tree_parse_json (const char *text, gsize length, GError **error)
{
  JsonNode *root = quoit_json_parse (text, length, error);
  QuoitTree *tree;

  if (root == NULL)
    return NULL;
  tree = quoit_tree_new ();
  quoit_tree_take_document (tree, root);
  return tree;
}

void
quoit_tree_take_element (QuoitTree *tree, JsonNode *root, unsigned index)
{
  g_ptr_array_set_size (tree->documents, 0);
  g_ptr_array_add (tree->documents, root);
  tree->element = (int) index;
}

int
quoit_tree_element (const QuoitTree *tree)
{
  return tree->element;
}

void
quoit_tree_take_document (QuoitTree *tree, JsonNode *root)
{
  g_ptr_array_add (tree->documents, root);
}

unsigned
quoit_tree_n_documents (const QuoitTree *tree)
{
  return tree->documents->len;
}

JsonNode *
quoit_tree_document (const QuoitTree *tree, unsigned index)
{
  return g_ptr_array_index (tree->documents, index);
}

void
quoit_tree_set_place (QuoitTree *tree, JsonNode *node, unsigned line, unsigned column)
{
  gsize place = (gsize) line << COLUMN_BITS | MIN (column, MOST_COLUMN);

  tree->has_lines = TRUE;
  g_hash_table_insert (tree->places, node, GSIZE_TO_POINTER (place));
}

unsigned
quoit_tree_line (const QuoitTree *tree, JsonNode *node)
{
  return (unsigned) (GPOINTER_TO_SIZE (g_hash_table_lookup (tree->places, node)) >> COLUMN_BITS);
}

unsigned
quoit_tree_column (const QuoitTree *tree, JsonNode *node)
{
  return (unsigned) (GPOINTER_TO_SIZE (g_hash_table_lookup (tree->places, node)) & MOST_COLUMN);
}

void
quoit_tree_set_plain (QuoitTree *tree, JsonNode *node, const char *text)
{
  g_hash_table_insert (tree->plain, node, g_string_chunk_insert_const (tree->texts, text));
}

const char *
quoit_tree_plain (const QuoitTree *tree, JsonNode *node)
{
  return g_hash_table_lookup (tree->plain, node);
}

static void
append_member (GString *path, const char *name)
{
  gboolean simple = *name != '\0';

  for (const char *p = name; *p != '\0'; p++)
    simple = simple && (g_ascii_isalnum (*p) || *p == '_' || *p == '-');
  if (simple)
    g_string_append_printf (path, ".%s", name);
  else
    {
      g_autofree char *quoted = quoit_quote (name);

      g_string_append_printf (path, "[%s]", quoted);
    }
}

/* Called for each node with its path. TRUE ends the walk. */
typedef gboolean (*VisitFunc) (JsonNode *node, const GString *path, gpointer data);

/* Visits @from and everything below it. Returns TRUE if a visit ended the walk; then @path is the path of that node. */
static gboolean
walk (JsonNode *from, GString *path, VisitFunc visit, gpointer data)
{
  gsize length = path->len;

  if (visit (from, path, data))
    return TRUE;
  if (JSON_NODE_HOLDS_ARRAY (from))
    {
      JsonArray *array = json_node_get_array (from);

      for (guint i = 0; i < json_array_get_length (array); i++)
        {
          g_string_append_printf (path, "[%u]", i);
          if (walk (json_array_get_element (array, i), path, visit, data))
            return TRUE;
          g_string_truncate (path, length);
        }
    }
  else if (JSON_NODE_HOLDS_OBJECT (from))
    {
      JsonObjectIter iter;
      const char *name;
      JsonNode *member;

      json_object_iter_init (&iter, json_node_get_object (from));
      while (json_object_iter_next (&iter, &name, &member))
        {
          append_member (path, name);
          if (walk (member, path, visit, data))
            return TRUE;
          g_string_truncate (path, length);
        }
    }
  return FALSE;
}

static gboolean
is_wanted (JsonNode *node, const GString *path, gpointer data)
{
  (void) path;
  return node == data;
}

void
quoit_tree_omit_places (QuoitTree *tree)
{
  tree->omits_places = TRUE;
}

static gboolean
keep_path (JsonNode *node, const GString *path, gpointer data)
{
  GHashTable *paths = data;
  gpointer known;

  /* If aliases repeat a node, the node keeps its first path. */
  if (g_hash_table_lookup_extended (paths, node, NULL, &known) && known == NULL)
    g_hash_table_insert (paths, node, g_strdup (path->str));
  return FALSE;
}

void
quoit_tree_find_paths (const QuoitTree *tree, GHashTable *paths)
{
  g_autoptr (GString) path = g_string_new ("$");

  for (unsigned i = 0; i < tree->documents->len; i++)
    walk (quoit_tree_document (tree, i), path, keep_path, paths);
}

char *
quoit_tree_place (const QuoitTree *tree, JsonNode *node)
{
  GString *place = g_string_new (tree->has_lines ? "" : "$");

  if (tree->omits_places)
    return g_string_free (g_string_truncate (place, 0), FALSE);
  if (tree->element >= 0)
    g_string_append_printf (place, "[%d]", tree->element);
  for (unsigned i = 0; i < tree->documents->len; i++)
    if (walk (quoit_tree_document (tree, i), place, is_wanted, node))
      break;
  if (tree->has_lines)
    {
      g_autofree char *line = NULL;

      if (place->len > 0 && place->str[0] == '.')
        g_string_erase (place, 0, 1);
      line = g_strdup_printf (place->len > 0 ? "line %u: " : "line %u", quoit_tree_line (tree, node));
      g_string_prepend (place, line);
    }
  return g_string_free (place, FALSE);
}

gboolean
quoit_tree_fail (const QuoitTree *tree, JsonNode *node, GError **error, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  quoit_fail (error, QUOIT_ERROR_INVALID, "%s", text);
  return quoit_tree_prefix_place (tree, node, error);
}

char *
quoit_tree_quote (const QuoitTree *tree, JsonNode *node)
{
  const char *plain = quoit_tree_plain (tree, node);
  g_autofree char *json = NULL;

  if (plain != NULL)
    return quoit_quote (plain);
  if (JSON_NODE_HOLDS_ARRAY (node))
    return g_strdup ("a list");
  if (JSON_NODE_HOLDS_OBJECT (node))
    return g_strdup ("a map");
  if (JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING)
    return quoit_quote (json_node_get_string (node));
  if (JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_DOUBLE)
    return g_strdup_printf ("'%.15g'", json_node_get_double (node));

  json = json_to_string (node, FALSE);
  return quoit_quote (json);
}

JsonNode *
quoit_tree_member (JsonNode *object, const char *name)
{
  JsonNode *member;

  if (object == NULL || !JSON_NODE_HOLDS_OBJECT (object))
    return NULL;
  member = json_object_get_member (json_node_get_object (object), name);
  return member == NULL || JSON_NODE_HOLDS_NULL (member) ? NULL : member;
}

gboolean
quoit_tree_refuse (const QuoitTree *tree, JsonNode *node, const char *expected, GError **error)
{
  g_autofree char *quoted = quoit_tree_quote (tree, node);

  if (JSON_NODE_HOLDS_ARRAY (node) || JSON_NODE_HOLDS_OBJECT (node))
    quoit_fail_expected (error, QUOIT_ERROR_INVALID, expected, "%s", quoted);
  else
    quoit_fail_value (error, QUOIT_ERROR_INVALID, quoted, expected);
  return quoit_tree_prefix_place (tree, node, error);
}

gboolean
quoit_tree_prefix_place (const QuoitTree *tree, JsonNode *node, GError **error)
{
  g_autofree char *place = quoit_tree_place (tree, node);

  if (*place != '\0')
    g_prefix_error (error, "%s: ", place);
  return FALSE;
}

gboolean
quoit_tree_object (const QuoitTree *tree, JsonNode *node, JsonObject **value, GError **error)
{
  if (!JSON_NODE_HOLDS_OBJECT (node))
    return quoit_tree_refuse (tree, node, "a map", error);
  *value = json_node_get_object (node);
  return TRUE;
}

gboolean
quoit_tree_array (const QuoitTree *tree, JsonNode *node, JsonArray **value, GError **error)
{
  if (!JSON_NODE_HOLDS_ARRAY (node))
    return quoit_tree_refuse (tree, node, "a list", error);
  *value = json_node_get_array (node);
  return TRUE;
}

gboolean
quoit_tree_boolean (const QuoitTree *tree, JsonNode *node, gboolean *value, GError **error)
{
  if (!JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_BOOLEAN)
    return quoit_tree_refuse (tree, node, "true or false", error);
  *value = json_node_get_boolean (node);
  return TRUE;
}

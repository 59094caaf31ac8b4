/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/ray-rows.h"

#include <string.h>

#include "formats/json.h"
#include "formats/yaml.h"

static const char empty_listing[] = "No resource in the cluster";

/* Parses one row, and moves *@at behind it. Sets *@is_end if there is none. */
static gboolean
add_parsed_row (const QuoitRayRows *rows, QuoitTree *tree, const char **at, unsigned index, gboolean *is_end,
                gpointer data, GError **error)
{
  g_autoptr (GError) inner = NULL;
  gsize length;
  const char *row = quoit_json_next_element (at, &length);
  JsonNode *root;

  *is_end = row == NULL;
  if (row == NULL)
    return TRUE;
  root = quoit_json_parse_checked (row, length, &inner);
  if (root == NULL)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "$[%u]: %s", index, inner->message);
  quoit_tree_take_element (tree, root, index);
  return rows->add_row (tree, quoit_tree_document (tree, 0), data, error);
}

/* Reads one row at a time. This keeps the row in the processor's cache, and needs the memory of one row only. */
static gboolean
add_json_rows (const QuoitRayRows *rows, const char *text, gsize length, gsize start, gpointer data, GError **error)
{
  g_autoptr (QuoitTree) tree = quoit_tree_new ();
  const char *at = text + start;
  gboolean is_end = FALSE;

  if (rows->begin_text != NULL)
    rows->begin_text (text, length, data);
  for (unsigned i = 0; !is_end; i++)
    {
      gboolean is_added = FALSE;

      if (rows->add_text != NULL && !rows->add_text (tree, &at, i, &is_added, data, error))
        return FALSE;
      if (!is_added && !add_parsed_row (rows, tree, &at, i, &is_end, data, error))
        return FALSE;
    }
  return rows->finish == NULL || rows->finish (tree, data, error);
}

static gboolean
add_members (const QuoitRayRows *rows, const QuoitTree *tree, JsonNode *map, gpointer data, GError **error)
{
  JsonObjectIter iter;
  JsonObject *object;
  const char *name;
  JsonNode *row;

  if (!quoit_tree_object (tree, map, &object, error))
    return FALSE;
  json_object_iter_init_ordered (&iter, object);
  while (json_object_iter_next_ordered (&iter, &name, &row))
    if (!rows->add_member (tree, name, row, data, error))
      return FALSE;
  return TRUE;
}

/* Parses each member as a map of its own, so that its path is the same as in the whole file. */
static gboolean
add_json_members (const QuoitRayRows *rows, const char *text, gpointer data, GError **error)
{
  g_autoptr (JsonParser) parser = json_parser_new_immutable ();
  g_autoptr (GString) map = g_string_new (NULL);
  const char *member;
  gsize length;

  while ((member = quoit_json_next_element (&text, &length)) != NULL)
    {
      g_autoptr (QuoitTree) tree = quoit_tree_new ();
      g_autoptr (GError) inner = NULL;

      g_string_assign (map, "{");
      g_string_append_len (map, member, (gssize) length);
      g_string_append_c (map, '}');
      if (!json_parser_load_from_data (parser, map->str, (gssize) map->len, &inner))
        return quoit_fail (error, QUOIT_ERROR_INVALID, "$: %s", inner->message);
      quoit_tree_take_document (tree, json_parser_steal_root (parser));
      if (!add_members (rows, tree, quoit_tree_document (tree, 0), data, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
add_array (const QuoitRayRows *rows, QuoitTree *tree, JsonNode *list, gpointer data, GError **error)
{
  JsonArray *array;

  if (!JSON_NODE_HOLDS_ARRAY (list))
    {
      g_autofree char *expected = rows->command == NULL
                                      ? g_strdup_printf ("a list of %s", rows->what)
                                      : g_strdup_printf ("a list of %s, as '%s' prints it", rows->what, rows->command);

      return quoit_tree_refuse (tree, list, expected, error);
    }
  array = json_node_get_array (list);
  for (guint i = 0; i < json_array_get_length (array); i++)
    if (!rows->add_row (tree, json_array_get_element (array, i), data, error))
      return FALSE;
  return rows->finish == NULL || rows->finish (tree, data, error);
}

static gboolean
add_tree_rows (const QuoitRayRows *rows, QuoitTree *tree, gpointer data, GError **error)
{
  JsonNode *root = NULL;

  for (unsigned i = 0; i < quoit_tree_n_documents (tree); i++)
    {
      JsonNode *node = quoit_tree_document (tree, i);

      if (JSON_NODE_HOLDS_NULL (node))
        continue;
      if (root != NULL)
        return quoit_tree_fail (tree, node, error, "a second document: expected one list of %s", rows->what);
      root = node;
    }
  if (root == NULL)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "nothing in it: expected a list of %s", rows->what);
  if (rows->add_row == NULL || (rows->add_member != NULL && JSON_NODE_HOLDS_OBJECT (root)))
    return add_members (rows, tree, root, data, error);
  return add_array (rows, tree, root, data, error);
}

gboolean
quoit_ray_text_lists_nothing (const char *text, gsize length)
{
  while (length > 0 && g_ascii_isspace (text[length - 1]))
    length--;
  while (length > 0 && g_ascii_isspace (*text))
    text++, length--;
  return length == strlen (empty_listing) && memcmp (text, empty_listing, length) == 0;
}

static gboolean
refuse_table (const QuoitRayRows *rows, unsigned line, GError **error)
{
  if (rows->command == NULL)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "line %u: a table: expected %s", line, rows->expected);
  return quoit_fail (error, QUOIT_ERROR_INVALID,
                     "line %u: a table, which ray prints without --format: expected %s; run '%s'", line, rows->expected,
                     rows->command);
}

/* Recognizes Ray's tables and empty files, for better messages than those of the YAML reader. */
static gboolean
check_form (const QuoitRayRows *rows, const char *text, gsize length, GError **error)
{
  const char *end = text + length, *line = text;
  unsigned n = 1;

  for (; line < end; n++)
    {
      const char *stop = memchr (line, '\n', (gsize) (end - line)), *p = line;
      gsize left;

      stop = stop == NULL ? end : stop;
      while (p < stop && g_ascii_isspace (*p))
        p++;
      left = (gsize) (stop - p);
      if (left >= 3 && memcmp (p, "===", 3) == 0)
        return refuse_table (rows, n, error);
      if (left >= strlen (empty_listing) && memcmp (p, empty_listing, strlen (empty_listing)) == 0)
        return quoit_fail (error, QUOIT_ERROR_INVALID,
                           "line %u: '%s', which ray prints if it lists nothing: expected %s", n, empty_listing,
                           rows->expected);
      if (left >= 2 && (memcmp (p, "//", 2) == 0 || memcmp (p, "/*", 2) == 0))
        return quoit_fail (error, QUOIT_ERROR_INVALID, "line %u: a comment: expected %s", n, rows->expected);
      if (left > 0 && *p != '#')
        return TRUE;
      line = stop + 1;
    }
  return quoit_fail (error, QUOIT_ERROR_INVALID, "%s: expected %s",
                     length == 0 ? "nothing in it" : "nothing but blanks and comments in it", rows->expected);
}

gboolean
quoit_ray_rows_read (const QuoitRayRows *rows, const char *text, gsize length, gpointer data, GError **error)
{
  g_autoptr (QuoitTree) tree = NULL;
  gsize start = 0;
  char first;

  while (start < length && g_ascii_isspace (text[start]))
    start++;
  first = start < length ? text[start] : '\0';
  if (first == '[' && rows->add_row != NULL)
    return quoit_json_check (text, length, error) && add_json_rows (rows, text, length, start, data, error);
  if (first == '{' && rows->add_member != NULL)
    return quoit_json_check (text, length, error) && add_json_members (rows, text + start, data, error);
  if (!check_form (rows, text, length, error))
    return FALSE;

  tree = first == '{' || first == '[' ? quoit_tree_parse_json (text, length, error)
                                      : quoit_tree_parse_yaml (text, length, error);
  return tree != NULL && add_tree_rows (rows, tree, data, error);
}

gboolean
quoit_ray_rows_check_limit (const QuoitRayRows *rows, guint n_listed, GError **error)
{
  if (n_listed != QUOIT_RAY_LISTING_LIMIT)
    return TRUE;
  return quoit_fail (error, QUOIT_ERROR_INVALID,
                     "exactly 100 rows, the default limit of ray list: expected all %s: use ray list "
                     "--limit 10000, or add --complete if there are no more",
                     rows->what);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/bundles.h"

#include <stdlib.h>
#include <string.h>

#include "formats/ray-values.h"
#include "formats/tree.h"
#include "formats/yaml.h"

#define NODE_LABEL "ray.io/node-id"

typedef struct {
  const QuoitTree *tree;
  GArray *bundles;   /* of QuoitFileBundle; the pointers are set after everything is read */
  GArray *takes;     /* of QuoitResource, grouped by bundle */
  GArray *selectors; /* of QuoitPair, grouped by bundle */
  const char *strategy, *topology_label;
} Reading;

static gboolean
add_bundle (Reading *reading, JsonNode *node, GError **error)
{
  QuoitResource takes[QUOIT_RAY_MOST_ENTRIES];
  QuoitFileBundle bundle = { 0 };
  guint16 n = 0;

  if (!quoit_ray_resources (reading->tree, node, takes, &n, error))
    return FALSE;
  qsort (takes, n, sizeof *takes, quoit_resource_compare);
  for (guint16 i = 0; i < n; i++)
    if (takes[i].amount.e4 > 0)
      {
        g_array_append_val (reading->takes, takes[i]);
        bundle.n_takes++;
      }
  if (bundle.n_takes == 0)
    return quoit_tree_refuse (reading->tree, node, "a bundle with an amount above 0", error);
  g_array_append_val (reading->bundles, bundle);
  return TRUE;
}

static gboolean
add_bundles (Reading *reading, JsonNode *node, GError **error)
{
  JsonArray *array;
  guint n;

  if (!quoit_tree_array (reading->tree, node, &array, error))
    return FALSE;
  n = json_array_get_length (array);
  if (n == 0 || n > QUOIT_FILE_MOST_BUNDLES)
    return quoit_tree_fail (reading->tree, node, error, "%u bundles: expected 1 to %d", n, QUOIT_FILE_MOST_BUNDLES);
  for (guint i = 0; i < n; i++)
    if (!add_bundle (reading, json_array_get_element (array, i), error))
      return FALSE;
  return TRUE;
}

static gboolean
add_selectors_of (Reading *reading, guint bundle, JsonNode *node, GError **error)
{
  JsonObject *object;
  JsonObjectIter iter;
  const char *key;
  JsonNode *value;

  if (JSON_NODE_HOLDS_NULL (node))
    return TRUE;
  if (!quoit_tree_object (reading->tree, node, &object, error))
    return FALSE;
  json_object_iter_init_ordered (&iter, object);
  while (json_object_iter_next_ordered (&iter, &key, &value))
    {
      QuoitPair pair = { key, quoit_ray_text (reading->tree, value) };

      if (pair.value == NULL)
        return quoit_tree_refuse (reading->tree, value, "a selector as text, such as in(a,b)", error);
      g_array_append_val (reading->selectors, pair);
      g_array_index (reading->bundles, QuoitFileBundle, bundle).n_selectors++;
    }
  return TRUE;
}

static gboolean
add_selectors (Reading *reading, JsonNode *node, GError **error)
{
  JsonArray *array;

  if (node == NULL)
    return TRUE;
  if (!quoit_tree_array (reading->tree, node, &array, error))
    return FALSE;
  if (json_array_get_length (array) != reading->bundles->len)
    return quoit_tree_fail (reading->tree, node, error, "selectors of %u bundles: expected those of %u",
                            json_array_get_length (array), reading->bundles->len);
  for (guint i = 0; i < reading->bundles->len; i++)
    if (!add_selectors_of (reading, i, json_array_get_element (array, i), error))
      return FALSE;
  return TRUE;
}

/* Reads topology_strategy: at most the strategy for nodes and one more label, which must be STRICT_PACK, as in Ray. */
static gboolean
read_topology (Reading *reading, JsonNode *node, GError **error)
{
  JsonObject *object;
  JsonObjectIter iter;
  const char *key, *text;
  JsonNode *value;

  if (node == NULL)
    return TRUE;
  if (reading->strategy != NULL)
    return quoit_tree_fail (reading->tree, node, error,
                            "strategy and topology_strategy: expected one of them; the strategy for nodes is "
                            "topology_strategy's '%s'",
                            NODE_LABEL);
  if (!quoit_tree_object (reading->tree, node, &object, error))
    return FALSE;
  json_object_iter_init_ordered (&iter, object);
  while (json_object_iter_next_ordered (&iter, &key, &value))
    {
      text = quoit_ray_text (reading->tree, value);
      if (strcmp (key, NODE_LABEL) == 0 && text != NULL)
        reading->strategy = text;
      else if (text == NULL || strcmp (text, "STRICT_PACK") != 0)
        return quoit_tree_refuse (reading->tree, value, "STRICT_PACK, the only one for a label", error);
      else if (reading->topology_label != NULL)
        return quoit_tree_fail (reading->tree, value, error, "label '%s' in addition to '%s': expected one label", key,
                                reading->topology_label);
      else
        reading->topology_label = key;
    }
  return TRUE;
}

static gboolean
check_members (const Reading *reading, JsonNode *root, GError **error)
{
  static const char *const known[] = { "bundles", "strategy", "bundle_label_selector", "topology_strategy", NULL };
  JsonObjectIter iter;
  const char *name;
  JsonNode *value;

  json_object_iter_init_ordered (&iter, json_node_get_object (root));
  while (json_object_iter_next_ordered (&iter, &name, &value))
    if (!g_strv_contains (known, name))
      {
        g_autofree char *quoted = quoit_quote (name);

        return quoit_tree_fail (reading->tree, value, error,
                                "%s: expected bundles, strategy, bundle_label_selector or topology_strategy", quoted);
      }
  return TRUE;
}

static gboolean
read_arguments (Reading *reading, JsonNode *root, GError **error)
{
  JsonNode *bundles = quoit_tree_member (root, "bundles"), *strategy = quoit_tree_member (root, "strategy");

  if (!check_members (reading, root, error))
    return FALSE;
  if (bundles == NULL)
    return quoit_tree_fail (reading->tree, root, error, "no 'bundles': expected a list of them");
  if (strategy != NULL && (reading->strategy = quoit_ray_text (reading->tree, strategy)) == NULL)
    return quoit_tree_refuse (reading->tree, strategy, "PACK, SPREAD, STRICT_PACK or STRICT_SPREAD", error);
  return add_bundles (reading, bundles, error)
         && add_selectors (reading, quoit_tree_member (root, "bundle_label_selector"), error)
         && read_topology (reading, quoit_tree_member (root, "topology_strategy"), error);
}

static gboolean
read_root (Reading *reading, GError **error)
{
  JsonNode *root;

  if (quoit_tree_n_documents (reading->tree) != 1)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "%u documents: expected one, a list of bundles",
                       quoit_tree_n_documents (reading->tree));
  root = quoit_tree_document (reading->tree, 0);
  if (JSON_NODE_HOLDS_OBJECT (root))
    return read_arguments (reading, root, error);
  if (JSON_NODE_HOLDS_ARRAY (root))
    return add_bundles (reading, root, error);
  return quoit_tree_refuse (reading->tree, root, "a list of bundles, or a map that has them", error);
}

static gboolean
give (const Reading *reading, QuoitBundlesTaker take, gpointer data, GError **error)
{
  const QuoitResource *takes = (const QuoitResource *) (void *) reading->takes->data;
  const QuoitPair *selectors = (const QuoitPair *) (void *) reading->selectors->data;
  QuoitBundlesFile file = { (const QuoitFileBundle *) (void *) reading->bundles->data, reading->bundles->len,
                            reading->strategy, reading->topology_label };

  for (guint i = 0, t = 0, s = 0; i < reading->bundles->len; i++)
    {
      QuoitFileBundle *bundle = &g_array_index (reading->bundles, QuoitFileBundle, i);

      bundle->takes = &takes[t];
      /* If no bundle has selectors, the array has no memory. */
      bundle->selectors = bundle->n_selectors == 0 ? NULL : &selectors[s];
      t += bundle->n_takes;
      s += bundle->n_selectors;
    }
  return take (&file, data, error);
}

gboolean
quoit_read_bundles (const char *text, gsize length, QuoitBundlesTaker take, gpointer data, GError **error)
{
  g_autoptr (QuoitTree) tree = NULL;
  g_autoptr (GArray) bundles = g_array_new (FALSE, FALSE, sizeof (QuoitFileBundle));
  g_autoptr (GArray) takes = g_array_new (FALSE, FALSE, sizeof (QuoitResource));
  g_autoptr (GArray) selectors = g_array_new (FALSE, TRUE, sizeof (QuoitPair));
  Reading reading = { NULL, bundles, takes, selectors, NULL, NULL };
  gsize start = 0;

  while (start < length && g_ascii_isspace (text[start]))
    start++;
  tree = start < length && (text[start] == '[' || text[start] == '{') ? quoit_tree_parse_json (text, length, error)
                                                                      : quoit_tree_parse_yaml (text, length, error);
  if (tree == NULL)
    return FALSE;
  reading.tree = tree;
  return read_root (&reading, error) && give (&reading, take, data, error);
}

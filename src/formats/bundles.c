/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/bundles.h"

#include <stdlib.h>
#include <string.h>

#include "base/label-names.h"
#include "formats/ray-values.h"
#include "formats/tree.h"
#include "formats/yaml.h"
#include "models/ray/names.h"

/* The state while the text is read. */
typedef struct {
  const QuoitTree *tree;
  GArray *bundles;   /* of QuoitFileBundle; pass_result() sets their pointers, when the arrays no longer grow */
  GArray *takes;     /* of QuoitResource, grouped by bundle */
  GArray *selectors; /* of QuoitPair, grouped by bundle */
  const char *strategy, *topology_label;
} BundlesReader;

static gboolean
add_bundle (BundlesReader *reader, JsonNode *node, GError **error)
{
  QuoitResource takes[QUOIT_RAY_MOST_ENTRIES];
  QuoitFileBundle bundle = { 0 };
  guint16 n = 0;

  if (!quoit_ray_resources (reader->tree, node, takes, &n, error))
    return FALSE;
  qsort (takes, n, sizeof *takes, quoit_resource_compare);
  for (guint16 i = 0; i < n; i++)
    if (takes[i].amount.e4 > 0)
      {
        g_array_append_val (reader->takes, takes[i]);
        bundle.n_takes++;
      }
  if (bundle.n_takes == 0)
    return quoit_tree_refuse (reader->tree, node, "a bundle with an amount above 0", error);
  g_array_append_val (reader->bundles, bundle);
  return TRUE;
}

static gboolean
add_bundles (BundlesReader *reader, JsonNode *node, GError **error)
{
  JsonArray *array;
  guint n;

  if (!quoit_tree_array (reader->tree, node, &array, error))
    return FALSE;
  n = json_array_get_length (array);
  if (n == 0 || n > QUOIT_FILE_MOST_BUNDLES)
    return quoit_tree_fail (reader->tree, node, error, "%u bundles: expected 1 to %d", n, QUOIT_FILE_MOST_BUNDLES);
  for (guint i = 0; i < n; i++)
    if (!add_bundle (reader, json_array_get_element (array, i), error))
      return FALSE;
  return TRUE;
}

static gboolean
add_bundle_selectors (BundlesReader *reader, guint bundle, JsonNode *node, GError **error)
{
  JsonObject *object;
  JsonObjectIter iter;
  const char *key;
  JsonNode *value;

  if (JSON_NODE_HOLDS_NULL (node))
    return TRUE;
  if (!quoit_tree_object (reader->tree, node, &object, error))
    return FALSE;
  json_object_iter_init_ordered (&iter, object);
  while (json_object_iter_next_ordered (&iter, &key, &value))
    {
      QuoitPair pair = { key, quoit_ray_text (reader->tree, value) };

      if (pair.value == NULL)
        return quoit_tree_refuse (reader->tree, value, "a selector as text, such as in(a,b)", error);
      g_array_append_val (reader->selectors, pair);
      g_array_index (reader->bundles, QuoitFileBundle, bundle).n_selectors++;
    }
  return TRUE;
}

static gboolean
add_selectors (BundlesReader *reader, JsonNode *node, GError **error)
{
  JsonArray *array;

  if (node == NULL)
    return TRUE;
  if (!quoit_tree_array (reader->tree, node, &array, error))
    return FALSE;
  if (json_array_get_length (array) != reader->bundles->len)
    return quoit_tree_fail (reader->tree, node, error, "selectors of %u bundles: expected those of %u",
                            json_array_get_length (array), reader->bundles->len);
  for (guint i = 0; i < reader->bundles->len; i++)
    if (!add_bundle_selectors (reader, i, json_array_get_element (array, i), error))
      return FALSE;
  return TRUE;
}

/* Reads topology_strategy. As in Ray, it has at most two labels: the node id, whose value is the strategy for
 * nodes, and one other label, whose value must be STRICT_PACK. */
static gboolean
read_topology (BundlesReader *reader, JsonNode *node, GError **error)
{
  JsonObject *object;
  JsonObjectIter iter;
  const char *key, *text;
  JsonNode *value;

  if (node == NULL)
    return TRUE;
  if (reader->strategy != NULL)
    return quoit_tree_fail (reader->tree, node, error,
                            "strategy and topology_strategy: expected one of them; the strategy for nodes is "
                            "topology_strategy's '%s'",
                            QUOIT_RAY_LABEL_NODE_ID);
  if (!quoit_tree_object (reader->tree, node, &object, error))
    return FALSE;
  json_object_iter_init_ordered (&iter, object);
  while (json_object_iter_next_ordered (&iter, &key, &value))
    {
      text = quoit_ray_text (reader->tree, value);
      if (strcmp (key, QUOIT_RAY_LABEL_NODE_ID) == 0 && text != NULL)
        reader->strategy = text;
      else if (text == NULL || strcmp (text, "STRICT_PACK") != 0)
        return quoit_tree_refuse (reader->tree, value, "STRICT_PACK, the only one for a label", error);
      else if (reader->topology_label != NULL)
        return quoit_tree_fail (reader->tree, value, error, "label '%s' in addition to '%s': expected one label", key,
                                reader->topology_label);
      else
        reader->topology_label = key;
    }
  return TRUE;
}

static gboolean
check_members (const BundlesReader *reader, JsonNode *root, GError **error)
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

        return quoit_tree_fail (reader->tree, value, error,
                                "%s: expected bundles, strategy, bundle_label_selector or topology_strategy", quoted);
      }
  return TRUE;
}

static gboolean
read_arguments (BundlesReader *reader, JsonNode *root, GError **error)
{
  JsonNode *bundles = quoit_tree_member (root, "bundles"), *strategy = quoit_tree_member (root, "strategy");

  if (!check_members (reader, root, error))
    return FALSE;
  if (bundles == NULL)
    return quoit_tree_fail (reader->tree, root, error, "no 'bundles': expected a list of them");
  if (strategy != NULL && (reader->strategy = quoit_ray_text (reader->tree, strategy)) == NULL)
    return quoit_tree_refuse (reader->tree, strategy, QUOIT_STRATEGY_NAMES, error);
  return add_bundles (reader, bundles, error)
         && add_selectors (reader, quoit_tree_member (root, "bundle_label_selector"), error)
         && read_topology (reader, quoit_tree_member (root, "topology_strategy"), error);
}

static gboolean
read_root (BundlesReader *reader, GError **error)
{
  JsonNode *root;

  if (quoit_tree_n_documents (reader->tree) != 1)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "%u documents: expected one, a list of bundles",
                       quoit_tree_n_documents (reader->tree));
  root = quoit_tree_document (reader->tree, 0);
  if (JSON_NODE_HOLDS_OBJECT (root))
    return read_arguments (reader, root, error);
  if (JSON_NODE_HOLDS_ARRAY (root))
    return add_bundles (reader, root, error);
  return quoit_tree_refuse (reader->tree, root, "a list of bundles, or a map that has them", error);
}

static gboolean
pass_result (const BundlesReader *reader, QuoitBundlesFunc function, gpointer data, GError **error)
{
  const QuoitResource *takes = (const QuoitResource *) (void *) reader->takes->data;
  const QuoitPair *selectors = (const QuoitPair *) (void *) reader->selectors->data;
  QuoitBundlesFile file = { (const QuoitFileBundle *) (void *) reader->bundles->data, reader->bundles->len,
                            reader->strategy, reader->topology_label };

  for (guint i = 0, t = 0, s = 0; i < reader->bundles->len; i++)
    {
      QuoitFileBundle *bundle = &g_array_index (reader->bundles, QuoitFileBundle, i);

      bundle->takes = &takes[t];
      /* An empty array has no memory that a pointer could refer to. */
      bundle->selectors = bundle->n_selectors == 0 ? NULL : &selectors[s];
      t += bundle->n_takes;
      s += bundle->n_selectors;
    }
  return function (&file, data, error);
}

gboolean
quoit_read_bundles (const char *text, gsize length, QuoitBundlesFunc function, gpointer data, GError **error)
{
  g_autoptr (QuoitTree) tree = NULL;
  g_autoptr (GArray) bundles = g_array_new (FALSE, FALSE, sizeof (QuoitFileBundle));
  g_autoptr (GArray) takes = g_array_new (FALSE, FALSE, sizeof (QuoitResource));
  g_autoptr (GArray) selectors = g_array_new (FALSE, TRUE, sizeof (QuoitPair));
  BundlesReader reader = { NULL, bundles, takes, selectors, NULL, NULL };
  gsize start = 0;

  while (start < length && g_ascii_isspace (text[start]))
    start++;
  tree = start < length && (text[start] == '[' || text[start] == '{') ? quoit_tree_parse_json (text, length, error)
                                                                      : quoit_tree_parse_yaml (text, length, error);
  if (tree == NULL)
    return FALSE;
  reader.tree = tree;
  return read_root (&reader, error) && pass_result (&reader, function, data, error);
}

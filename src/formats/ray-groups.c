/* SPDX-License-Identifier: Apache-2.0 */
/* Reads Ray's placement groups: `ray list placement-groups --detail` and placement_group_table(). */
#include <stdlib.h>
#include <string.h>

#include "formats/ray-use.h"
#include "base/name-hash.h"
#include "formats/ray-rows.h"
#include "formats/ray-values.h"

enum { MOST_BUNDLES = 1000000, MOST_SHOWN_BUNDLES = 4 };

/* The state while the list is read. */
typedef struct {
  QuoitRayListing *listing;
  GHashTable *ids;
  GArray *bundles; /* of QuoitBundleClaim: the bundles of the current group */
  GArray *takes;   /* of QuoitResource: what these bundles take, in the same order */
  guint32 n_unplaced_bundles;
  guint n_listed;
} GroupReader;

static void
clear_group_reader (GroupReader *reader)
{
  g_clear_pointer (&reader->ids, g_hash_table_unref);
  g_clear_pointer (&reader->bundles, g_array_unref);
  g_clear_pointer (&reader->takes, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (GroupReader, clear_group_reader)

/* Reads the node id of a bundle, which is null or "" if the bundle is not placed. A missing id is refused by the
 * callers: the file may have been cut off, and resources in use would seem free. */
static gboolean
read_node (const GroupReader *reader, const QuoitTree *tree, JsonNode *node, guint32 *index, GError **error)
{
  const char *id = JSON_NODE_HOLDS_NULL (node) ? "" : quoit_ray_text (tree, node);
  gpointer found;

  if (id == NULL)
    return quoit_tree_refuse (tree, node, "a node id, or '' if the bundle is not placed", error);
  found = *id == '\0' ? NULL : g_hash_table_lookup (reader->listing->ids, id);
  if (*id != '\0' && found == NULL)
    {
      g_autofree char *quoted = quoit_quote (id);

      return quoit_tree_fail (tree, node, error, "node %s: expected one of the list of nodes: %s", quoted,
                              QUOIT_RAY_OTHER_MOMENT);
    }
  *index = *id == '\0' ? QUOIT_NOT_PLACED : GPOINTER_TO_UINT (found) - 1;
  return TRUE;
}

static gboolean
add_bundle (GroupReader *reader, const QuoitTree *tree, JsonNode *resources, JsonNode *node, GError **error)
{
  QuoitBundleClaim bundle = { 0 };
  QuoitResource takes[QUOIT_RAY_MOST_ENTRIES];

  if (!quoit_ray_resources (tree, resources, takes, &bundle.n_takes, error)
      || !read_node (reader, tree, node, &bundle.node, error))
    return FALSE;
  if (reader->bundles->len == MOST_BUNDLES)
    return quoit_tree_fail (tree, resources, error, "one bundle too many: expected at most %d", MOST_BUNDLES);
  reader->n_unplaced_bundles += bundle.node == QUOIT_NOT_PLACED;
  qsort (takes, bundle.n_takes, sizeof *takes, quoit_resource_compare);
  for (guint16 i = 0; i < bundle.n_takes; i++)
    takes[i].name = quoit_claims_intern_text (reader->listing->claims, takes[i].name);
  g_array_append_vals (reader->takes, takes, bundle.n_takes);
  g_array_append_val (reader->bundles, bundle);
  return TRUE;
}

static gboolean
find_required_member (const QuoitTree *tree, JsonNode *object, const char *name, const char *what, JsonNode **member,
                      GError **error)
{
  JsonObject *map;

  if (!quoit_tree_object (tree, object, &map, error))
    return FALSE;
  *member = json_object_get_member (map, name);
  return *member != NULL || quoit_tree_fail (tree, object, error, "no '%s': expected %s", name, what);
}

static gboolean
add_listed_bundles (GroupReader *reader, const QuoitTree *tree, JsonNode *list, GError **error)
{
  JsonArray *array;

  if (!quoit_tree_array (tree, list, &array, error))
    return FALSE;
  for (guint i = 0; i < json_array_get_length (array); i++)
    {
      JsonNode *bundle = json_array_get_element (array, i), *resources, *node;

      if (!find_required_member (tree, bundle, "unit_resources", "what the bundle takes", &resources, error)
          || !find_required_member (tree, bundle, "node_id", "the node of the bundle, or '' if it is not placed", &node,
                                    error)
          || !add_bundle (reader, tree, resources, node, error))
        return FALSE;
    }
  return TRUE;
}

/* Reads the bundles of placement_group_table(), which are members "0", "1" and so on, in any order. A missing one
 * is refused, because the file may have been cut off. */
static gboolean
add_mapped_bundles (GroupReader *reader, const QuoitTree *tree, JsonNode *row, JsonNode *bundles, GError **error)
{
  JsonNode *nodes;
  JsonObject *map, *places;
  guint n_bundles;

  if (!find_required_member (tree, row, "bundles_to_node_id", "the nodes of the bundles", &nodes, error)
      || !quoit_tree_object (tree, bundles, &map, error) || !quoit_tree_object (tree, nodes, &places, error))
    return FALSE;
  n_bundles = json_object_get_size (map);
  if (json_object_get_size (places) != n_bundles)
    return quoit_tree_fail (tree, nodes, error, "%u nodes: expected one for each of the %u bundles",
                            json_object_get_size (places), n_bundles);
  for (guint i = 0; i < n_bundles; i++)
    {
      g_autofree char *index = g_strdup_printf ("%u", i);
      JsonNode *resources, *node;

      if (!find_required_member (tree, bundles, index, "the bundles to be numbered from 0", &resources, error)
          || !find_required_member (tree, nodes, index, "the node of each bundle", &node, error)
          || !add_bundle (reader, tree, resources, node, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
add_bundles (GroupReader *reader, const QuoitTree *tree, JsonNode *row, GError **error)
{
  JsonNode *bundles = quoit_tree_member (row, "bundles");
  gsize at = 0;

  g_array_set_size (reader->bundles, 0);
  g_array_set_size (reader->takes, 0);
  reader->n_unplaced_bundles = 0;
  if (JSON_NODE_HOLDS_OBJECT (bundles) ? !add_mapped_bundles (reader, tree, row, bundles, error)
                                       : !add_listed_bundles (reader, tree, bundles, error))
    return FALSE;
  if (reader->bundles->len == 0)
    return quoit_tree_fail (tree, bundles, error, "no bundle in it: expected at least one");

  for (guint i = 0; i < reader->bundles->len; i++)
    {
      QuoitBundleClaim *bundle = &g_array_index (reader->bundles, QuoitBundleClaim, i);

      bundle->takes = &g_array_index (reader->takes, QuoitResource, at);
      at += bundle->n_takes;
    }
  return TRUE;
}

static const struct {
  const char *word;
  guint8 placed, unplaced; /* QuoitGroupState: placed if all bundles are placed, else unplaced */
} states[] = {
  { "PENDING", QUOIT_GROUP_PENDING, QUOIT_GROUP_PENDING },
  /* The nodes have already reserved the resources. */
  { "PREPARED", QUOIT_GROUP_RESERVED, QUOIT_GROUP_PENDING },
  { "CREATED", QUOIT_GROUP_RESERVED, QUOIT_GROUP_RESCHEDULING },
  { "RESCHEDULING", QUOIT_GROUP_RESCHEDULING, QUOIT_GROUP_RESCHEDULING },
  { "REMOVED", QUOIT_GROUP_REMOVED, QUOIT_GROUP_REMOVED },
};

static gboolean
read_state (const QuoitTree *tree, JsonNode *row, guint *state, GError **error)
{
  static const char expected[] = "PENDING, PREPARED, CREATED, RESCHEDULING or REMOVED";
  JsonNode *node;
  const char *text;

  if (!find_required_member (tree, row, "state", expected, &node, error))
    return FALSE;
  text = quoit_ray_text (tree, node);
  for (guint i = 0; text != NULL && i < G_N_ELEMENTS (states); i++)
    if (strcmp (states[i].word, text) == 0)
      {
        *state = i;
        return TRUE;
      }
  return quoit_tree_refuse (tree, node, expected, error);
}

static gboolean
same_takes (const QuoitBundleClaim *a, const QuoitBundleClaim *b)
{
  if (a->n_takes != b->n_takes)
    return FALSE;
  for (guint16 i = 0; i < a->n_takes; i++)
    if (a->takes[i].name != b->takes[i].name || a->takes[i].amount.e4 != b->takes[i].amount.e4)
      return FALSE;
  return TRUE;
}

static void
append_takes (GString *text, const QuoitBundleClaim *bundle)
{
  g_string_append_c (text, '{');
  for (guint16 i = 0; i < bundle->n_takes; i++)
    {
      g_autofree char *amount = quoit_amount_format (bundle->takes[i].amount);

      g_string_append_printf (text, "%s%s: %s", i > 0 ? ", " : "", bundle->takes[i].name, amount);
    }
  g_string_append_c (text, '}');
}

/* Formats the request as "PACK {CPU: 1, TPU: 4} x 4 + {CPU: 1}", with at most MOST_SHOWN_BUNDLES different bundles. */
static char *
format_request (const GroupReader *reader, const char *strategy)
{
  const QuoitBundleClaim *bundles = (const QuoitBundleClaim *) (void *) reader->bundles->data;
  GString *text = g_string_new (strategy);
  guint n = reader->bundles->len, shown = 0, same;

  for (guint i = 0; i < n && shown < MOST_SHOWN_BUNDLES; i += same, shown++)
    {
      for (same = 1; i + same < n && same_takes (&bundles[i], &bundles[i + same]); same++)
        ;
      g_string_append (text, i > 0 ? " + " : strategy != NULL ? " " : "");
      append_takes (text, &bundles[i]);
      if (same > 1)
        g_string_append_printf (text, " x %u", same);
      if (shown + 1 == MOST_SHOWN_BUNDLES && i + same < n)
        g_string_append_printf (text, " + %u more", n - i - same);
    }
  return g_string_free (text, FALSE);
}

static gboolean
add_id (GroupReader *reader, const QuoitTree *tree, JsonNode *row, const char *id, GError **error)
{
  g_autofree char *quoted = NULL;

  if (g_hash_table_add (reader->ids, g_string_chunk_insert (reader->listing->texts, id)))
    return TRUE;
  quoted = quoit_quote (id);
  return quoit_tree_fail (tree, row, error, "placement group %s: expected each id once", quoted);
}

static gboolean
add_group (GroupReader *reader, const QuoitTree *tree, JsonNode *row, const char *id, GError **error)
{
  g_autofree char *request = NULL;
  const char *name = NULL, *strategy = NULL;
  QuoitGroupClaim group = { .identity = id };
  guint state = 0;

  if (!add_id (reader, tree, row, id, error) || !read_state (tree, row, &state, error))
    return FALSE;
  if (quoit_tree_member (row, "bundles") == NULL)
    return quoit_tree_fail (tree, row, error,
                            "no 'bundles': expected the output of ray list placement-groups with --detail");
  if (states[state].placed == QUOIT_GROUP_REMOVED)
    return TRUE;
  if (!quoit_ray_member_text (tree, row, "name", &name, error)
      || !quoit_ray_member_text (tree, row, "strategy", &strategy, error) || !add_bundles (reader, tree, row, error))
    return FALSE;

  request = format_request (reader, strategy);
  group.name = name == NULL ? "" : name;
  group.request = request;
  group.state = reader->n_unplaced_bundles > 0 ? states[state].unplaced : states[state].placed;
  group.n_bundles = reader->bundles->len;
  group.bundles = (const QuoitBundleClaim *) (void *) reader->bundles->data;
  quoit_claims_add_group (reader->listing->claims, &group);
  return TRUE;
}

static gboolean
read_id (const QuoitTree *tree, JsonNode *row, const char **id, GError **error)
{
  JsonNode *node;

  if (!find_required_member (tree, row, "placement_group_id", "the id of a placement group", &node, error)
      || !quoit_ray_member_text (tree, row, "placement_group_id", id, error))
    return FALSE;
  return *id != NULL || quoit_tree_refuse (tree, node, "the id of a placement group", error);
}

static gboolean
add_row (QuoitTree *tree, JsonNode *row, gpointer data, GError **error)
{
  GroupReader *reader = data;
  const char *id = NULL;

  reader->n_listed++;
  return read_id (tree, row, &id, error) && add_group (reader, tree, row, id, error);
}

static gboolean
add_member (const QuoitTree *tree, const char *key, JsonNode *row, gpointer data, GError **error)
{
  const char *id = NULL;

  if (!read_id (tree, row, &id, error))
    return FALSE;
  if (strcmp (id, key) != 0)
    return quoit_tree_refuse (tree, quoit_tree_member (row, "placement_group_id"), "the key of the group", error);
  return add_group (data, tree, row, id, error);
}

gboolean
quoit_ray_groups_read (const QuoitRayFiles *files, QuoitRayListing *listing, GError **error)
{
  static const QuoitRayRows rows
      = { .what = "placement groups",
          .expected = "the output of ray list placement-groups with --detail, or the JSON of placement_group_table()",
          .command = "ray list placement-groups --detail --format json --limit 10000",
          .add_row = add_row,
          .add_member = add_member };
  g_auto (GroupReader) reader = { .listing = listing };

  if (quoit_ray_text_lists_nothing (files->groups, files->n_groups))
    return TRUE;
  reader.ids = g_hash_table_new (quoit_hash_text, g_str_equal);
  reader.bundles = g_array_new (FALSE, FALSE, sizeof (QuoitBundleClaim));
  reader.takes = g_array_sized_new (FALSE, FALSE, sizeof (QuoitResource), 16);
  return quoit_ray_rows_read (&rows, files->groups, files->n_groups, &reader, error)
         && ((files->flags & QUOIT_RAY_COMPLETE) != 0 || quoit_ray_rows_check_limit (&rows, reader.n_listed, error));
}

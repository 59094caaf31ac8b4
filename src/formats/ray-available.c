/* SPDX-License-Identifier: Apache-2.0 */
/* Reads available_resources_per_node(), and derives external use: the resources of a node that are not available
 * although no group takes them. */
#include <string.h>

#include "formats/ray-use.h"
#include "formats/ray-rows.h"
#include "formats/ray-values.h"
#include "models/ray/resource-names.h"

/* The external use of one node: a range of the array uses. */
typedef struct {
  guint first;
  guint16 n;
  gboolean is_listed; /* the text has the node */
} NodeUse;

/* The state while the text is read. */
typedef struct {
  QuoitRayListing *listing;
  const QuoitRayUse *use;
  NodeUse *nodes;
  GArray *uses;
  GArray *remaining; /* of QuoitResource: what remains of the current node after the groups */
  gboolean has_group_resources;
} AvailableReader;

static void
clear_available_reader (AvailableReader *reader)
{
  g_clear_pointer (&reader->nodes, g_free);
  g_clear_pointer (&reader->uses, g_array_unref);
  g_clear_pointer (&reader->remaining, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AvailableReader, clear_available_reader)

static gboolean
fail_too_much (const QuoitTree *tree, JsonNode *node, QuoitAmount at_most, GError **error)
{
  g_autofree char *quoted = quoit_tree_quote (tree, node), *most = quoit_amount_format (at_most);

  return quoit_tree_fail (tree, node, error, "%s: expected at most %s, the amount that no group takes: %s", quoted,
                          most, QUOIT_RAY_OTHER_MOMENT);
}

static gboolean
subtract_available (AvailableReader *reader, const QuoitTree *tree, const char *name, JsonNode *node, GError **error)
{
  QuoitAmount amount, none = { 0 };

  if (!quoit_ray_counted_amount (tree, node, &amount, error))
    return FALSE;
  for (guint i = 0; i < reader->remaining->len; i++)
    {
      QuoitResource *left = &g_array_index (reader->remaining, QuoitResource, i);

      if (strcmp (left->name, name) != 0)
        continue;
      if (amount.e4 > left->amount.e4)
        return fail_too_much (tree, node, left->amount, error);
      left->amount.e4 -= amount.e4;
      return TRUE;
    }
  return amount.e4 == 0 || fail_too_much (tree, node, none, error);
}

static gboolean
read_resources (AvailableReader *reader, const QuoitTree *tree, JsonNode *map, guint32 index, GError **error)
{
  JsonObject *object;
  JsonObjectIter iter;
  const char *name;
  JsonNode *node;

  if (!quoit_tree_object (tree, map, &object, error))
    return FALSE;
  json_object_iter_init_ordered (&iter, object);
  while (json_object_iter_next_ordered (&iter, &name, &node))
    {
      reader->has_group_resources = reader->has_group_resources || quoit_resource_is_of_group (name);
      if (!quoit_ray_resource_is_not_quantity (name) && quoit_ray_use_is_exact (reader->use, index, name)
          && !subtract_available (reader, tree, name, node, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
add_node (const QuoitTree *tree, const char *id, JsonNode *map, gpointer data, GError **error)
{
  AvailableReader *reader = data;
  guint32 index = GPOINTER_TO_UINT (g_hash_table_lookup (reader->listing->ids, id)) - 1, n_nodes;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (reader->listing->claims, &n_nodes);
  NodeUse *external;

  if (index == QUOIT_NOT_PLACED)
    {
      g_autofree char *quoted = quoit_quote (id);

      return quoit_tree_fail (tree, map, error, "node %s: expected one of the list of nodes: %s", quoted,
                              QUOIT_RAY_OTHER_MOMENT);
    }
  external = &reader->nodes[index];
  external->is_listed = TRUE;
  if (nodes[index].state == QUOIT_NODE_DEAD)
    return TRUE;
  if (!quoit_ray_use_subtract_groups (reader->use, index, reader->remaining, error))
    return quoit_tree_prefix_place (tree, map, error);
  if (!read_resources (reader, tree, map, index, error))
    return FALSE;

  external->first = reader->uses->len;
  for (guint i = 0; i < reader->remaining->len; i++)
    if (g_array_index (reader->remaining, QuoitResource, i).amount.e4 > 0)
      g_array_append_val (reader->uses, g_array_index (reader->remaining, QuoitResource, i));
  external->n = (guint16) (reader->uses->len - external->first);
  return TRUE;
}

static gboolean
check_all_listed (const AvailableReader *reader, GError **error)
{
  guint32 n_nodes;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (reader->listing->claims, &n_nodes);

  for (guint32 i = 0; i < n_nodes; i++)
    if (nodes[i].state != QUOIT_NODE_DEAD && !reader->nodes[i].is_listed)
      {
        g_autofree char *id = quoit_quote (nodes[i].identity), *name = quoit_quote (nodes[i].name);

        return quoit_fail (error, QUOIT_ERROR_INVALID,
                           "$: no %s, the alive node %s: expected every node that is alive: %s", id, name,
                           QUOIT_RAY_OTHER_MOMENT);
      }
  return TRUE;
}

static void
add_external (const AvailableReader *reader)
{
  for (guint32 i = 0; i < reader->use->n_nodes; i++)
    {
      QuoitBundleClaim claim = { .node = i, .n_takes = reader->nodes[i].n };

      if (claim.n_takes == 0)
        continue;
      claim.takes = &g_array_index (reader->uses, QuoitResource, reader->nodes[i].first);
      quoit_claims_add_external (reader->listing->claims, &claim);
    }
}

gboolean
quoit_ray_available_read (const QuoitRayFiles *files, QuoitRayListing *listing, const QuoitRayUse *use, GError **error)
{
  static const QuoitRayRows rows = { .what = "available resources",
                                     .expected = "the JSON of available_resources_per_node()",
                                     .add_member = add_node };
  g_auto (AvailableReader) reader = { .listing = listing, .use = use };

  reader.nodes = g_new0 (NodeUse, use->n_nodes);
  reader.uses = g_array_new (FALSE, FALSE, sizeof (QuoitResource));
  reader.remaining = g_array_new (FALSE, FALSE, sizeof (QuoitResource));
  if (!quoit_ray_rows_read (&rows, files->available, files->n_available, &reader, error)
      || !check_all_listed (&reader, error))
    return FALSE;

  add_external (&reader);
  if (reader.has_group_resources && files->groups == NULL)
    quoit_claims_warn (listing->claims,
                       "placement groups use resources, but no list of groups is given: all use counts as external");
  return TRUE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads available_resources_per_node(). Resources that are neither available nor taken by a group are external use. */
#include <string.h>

#include "formats/ray-use.h"
#include "formats/ray-rows.h"
#include "formats/ray-values.h"
#include "fleet/resource-names.h"

/* The external use of one node, as indexes into uses. */
typedef struct {
  guint first;
  guint16 n;
  gboolean is_seen;
} External;

typedef struct {
  QuoitRayCluster *cluster;
  const QuoitRayUse *use;
  External *nodes;
  GArray *uses;
  GArray *rest; /* of QuoitResource: of the node being read */
  gboolean shows_groups;
} Availability;

static void
clear_availability (Availability *availability)
{
  g_clear_pointer (&availability->nodes, g_free);
  g_clear_pointer (&availability->uses, g_array_unref);
  g_clear_pointer (&availability->rest, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Availability, clear_availability)

static gboolean
fail_more (const QuoitTree *tree, JsonNode *node, QuoitAmount at_most, GError **error)
{
  g_autofree char *quoted = quoit_tree_quote (tree, node), *most = quoit_amount_format (at_most);

  return quoit_tree_fail (tree, node, error, "%s: expected at most %s, which the groups leave: %s", quoted, most,
                          QUOIT_RAY_OTHER_MOMENT);
}

static gboolean
subtract (Availability *availability, const QuoitTree *tree, const char *name, JsonNode *node, GError **error)
{
  QuoitAmount amount, none = { 0 };

  if (!quoit_ray_counted_amount (tree, node, &amount, error))
    return FALSE;
  for (guint i = 0; i < availability->rest->len; i++)
    {
      QuoitResource *left = &g_array_index (availability->rest, QuoitResource, i);

      if (strcmp (left->name, name) != 0)
        continue;
      if (amount.e4 > left->amount.e4)
        return fail_more (tree, node, left->amount, error);
      left->amount.e4 -= amount.e4;
      return TRUE;
    }
  return amount.e4 == 0 || fail_more (tree, node, none, error);
}

static gboolean
read_resources (Availability *availability, const QuoitTree *tree, JsonNode *map, guint32 index, GError **error)
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
      availability->shows_groups = availability->shows_groups || quoit_resource_is_of_group (name);
      if (!quoit_ray_resource_is_no_quantity (name) && quoit_ray_use_is_known (availability->use, index, name)
          && !subtract (availability, tree, name, node, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
add_node (const QuoitTree *tree, const char *id, JsonNode *map, gpointer data, GError **error)
{
  Availability *availability = data;
  guint32 index = GPOINTER_TO_UINT (g_hash_table_lookup (availability->cluster->ids, id)) - 1, n_nodes;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (availability->cluster->claims, &n_nodes);
  External *external;

  if (index == QUOIT_NOT_PLACED)
    {
      g_autofree char *quoted = quoit_quote (id);

      return quoit_tree_fail (tree, map, error, "node %s: expected one of the list of nodes: %s", quoted,
                              QUOIT_RAY_OTHER_MOMENT);
    }
  external = &availability->nodes[index];
  external->is_seen = TRUE;
  if (nodes[index].state == QUOIT_NODE_DEAD)
    return TRUE;
  if (!quoit_ray_use_rest (availability->use, index, availability->rest, error))
    return quoit_tree_pass_on (tree, map, error);
  if (!read_resources (availability, tree, map, index, error))
    return FALSE;

  external->first = availability->uses->len;
  for (guint i = 0; i < availability->rest->len; i++)
    if (g_array_index (availability->rest, QuoitResource, i).amount.e4 > 0)
      g_array_append_val (availability->uses, g_array_index (availability->rest, QuoitResource, i));
  external->n = (guint16) (availability->uses->len - external->first);
  return TRUE;
}

static gboolean
check_all_are_seen (const Availability *availability, GError **error)
{
  guint32 n_nodes;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (availability->cluster->claims, &n_nodes);

  for (guint32 i = 0; i < n_nodes; i++)
    if (nodes[i].state != QUOIT_NODE_DEAD && !availability->nodes[i].is_seen)
      {
        g_autofree char *id = quoit_quote (nodes[i].identity), *name = quoit_quote (nodes[i].name);

        return quoit_fail (error, QUOIT_ERROR_INVALID,
                           "$: no %s, the alive node %s: expected every node that is alive: %s", id, name,
                           QUOIT_RAY_OTHER_MOMENT);
      }
  return TRUE;
}

static void
add_external (const Availability *availability)
{
  for (guint32 i = 0; i < availability->use->n_nodes; i++)
    {
      QuoitBundleClaim claim = { .node = i, .n_takes = availability->nodes[i].n };

      if (claim.n_takes == 0)
        continue;
      claim.takes = &g_array_index (availability->uses, QuoitResource, availability->nodes[i].first);
      quoit_claims_add_external (availability->cluster->claims, &claim);
    }
}

gboolean
quoit_ray_available_read (const QuoitRayFiles *files, QuoitRayCluster *cluster, const QuoitRayUse *use, GError **error)
{
  static const QuoitRayRows rows = { .what = "available resources",
                                     .wanted = "the JSON of available_resources_per_node()",
                                     .add_member = add_node };
  g_auto (Availability) availability = { .cluster = cluster, .use = use };

  availability.nodes = g_new0 (External, use->n_nodes);
  availability.uses = g_array_new (FALSE, FALSE, sizeof (QuoitResource));
  availability.rest = g_array_new (FALSE, FALSE, sizeof (QuoitResource));
  if (!quoit_ray_rows_read (&rows, files->available, files->n_available, &availability, error)
      || !check_all_are_seen (&availability, error))
    return FALSE;

  add_external (&availability);
  if (availability.shows_groups && files->groups == NULL)
    quoit_claims_warn (
        cluster->claims,
        "placement groups hold some of what is in use, but are not listed: all of it counts as external");
  return TRUE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Ends external use. Forks do this to evaluate the options of a report. */
#include "fleet/ahead.h"
#include "fleet/private.h"

/* Returns a copy of @external without its bundles on @node. */
static QuoitGroupData *
without_node (const QuoitFleet *fleet, const QuoitGroupData *external, QuoitNodeId node)
{
  g_autofree guint32 *ids = g_new (guint32, external->n_nodes + 1);
  g_autofree QuoitBundle *bundles = g_new (QuoitBundle, external->n_nodes + 1);
  QuoitGroupData fields = quoit_group_data_copy_fields (external);
  guint32 id = fleet->layout->nodes[node.index].id, n = 0;

  for (guint32 i = 0; i < external->n_nodes; i++)
    if (external->node_ids[i] != id)
      {
        ids[n] = external->node_ids[i];
        bundles[n++] = external->bundles[i];
      }
  fields.n_nodes = n;
  fields.node_ids = ids;
  fields.bundles = bundles;
  return quoit_group_data_new (&fields);
}

static const QuoitGroupData *
external_user (const QuoitFleet *fleet, QuoitNodeId node)
{
  QuoitUsers users = quoit_fleet_node_users (fleet, node);
  const QuoitGroupData *user;

  while ((user = quoit_fleet_users_next (&users)) != NULL)
    if (user->kind == QUOIT_RECORD_EXTERNAL)
      return user;
  return NULL;
}

gboolean
quoit_fleet_end_external (QuoitFleet *fleet, QuoitNodeId node, GError **error)
{
  const QuoitGroupData *user;

  if (quoit_fleet_node_use (fleet, node) == QUOIT_USE_EXTERNAL)
    {
      quoit_fleet_ahead_retry (fleet);
      quoit_fleet_own_nodes (fleet, node.index)->use[node.index % QUOIT_NODES_PER_CHUNK] = QUOIT_USE_NONE;
      if (fleet->layout->nodes[node.index].slice != QUOIT_NO_INDEX)
        quoit_fleet_recount_slice (fleet, fleet->layout->nodes[node.index].slice);
    }
  while ((user = external_user (fleet, node)) != NULL)
    if (!quoit_fleet_replace_group (fleet, without_node (fleet, user, node), error))
      return FALSE;
  return TRUE;
}

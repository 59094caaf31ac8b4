/* SPDX-License-Identifier: Apache-2.0 */
/* Who uses a node, as callers see it: groups in the order of their ids. The shares of a node stand in an order that
 * hangs on what came and went before, which two handles of one ledger need not have in common. */
#include "model/fleet.h"

GPtrArray *
quoit_fleet_node_groups (const QuoitFleet *fleet, QuoitNodeId node)
{
  GPtrArray *groups = g_ptr_array_new ();
  const QuoitGroupData *user;

  for (guint i = 0; (user = quoit_fleet_node_user (fleet, node, i, NULL)) != NULL; i++)
    if (quoit_group_is_listed (user) && !g_ptr_array_find (groups, user, NULL))
      g_ptr_array_add (groups, (gpointer) user);
  g_ptr_array_sort (groups, quoit_group_by_id);
  return groups;
}

char *
quoit_fleet_node_share_text (const QuoitFleet *fleet, QuoitNodeId node, const QuoitGroupData *group)
{
  guint32 id = fleet->layout->nodes[node.index].id;
  GString *text;

  if (group->bundles == NULL)
    return NULL;
  text = g_string_new (NULL);
  for (guint32 i = 0; i < group->n_nodes; i++)
    if (group->node_ids[i] == id)
      {
        g_autofree char *bundle = quoit_bundle_text (&group->bundles[i]);

        g_string_append_printf (text, "%s%s", text->len > 0 ? " + " : "", bundle);
      }
  return g_string_free (text, FALSE);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the users of a node: each bundle, or each group once. */
#include "fleet/private.h"

QuoitUsers
quoit_fleet_node_users (const QuoitFleet *fleet, QuoitNodeId node)
{
  guint32 use = quoit_fleet_node_use (fleet, node);

  return (QuoitUsers) { .fleet = fleet, .use = use == QUOIT_USE_EXTERNAL ? QUOIT_USE_NONE : use };
}

const QuoitGroupData *
quoit_fleet_users_next (QuoitUsers *users)
{
  const QuoitGroupData *group;
  const QuoitShare *share;
  guint32 use = users->use;

  users->bundle = NULL;
  users->use = QUOIT_USE_NONE;
  if (use == QUOIT_USE_NONE)
    return NULL;
  if ((use & QUOIT_USE_SHARED) == 0)
    return quoit_fleet_group_at (users->fleet, use - 1);
  share = quoit_fleet_share_at (users->fleet, use & ~QUOIT_USE_SHARED);
  group = quoit_fleet_group_at (users->fleet, share->slot);
  users->bundle = &group->bundles[share->bundle];
  if (share->next != 0)
    users->use = QUOIT_USE_SHARED | (share->next - 1);
  return group;
}

const QuoitGroupData *
quoit_fleet_node_user (const QuoitFleet *fleet, QuoitNodeId node)
{
  QuoitUsers users = quoit_fleet_node_users (fleet, node);

  return quoit_fleet_users_next (&users);
}

gboolean
quoit_fleet_node_is_external (const QuoitFleet *fleet, QuoitNodeId node)
{
  QuoitUsers users = quoit_fleet_node_users (fleet, node);
  const QuoitGroupData *user;

  while ((user = quoit_fleet_users_next (&users)) != NULL)
    if (user->kind == QUOIT_RECORD_EXTERNAL)
      return TRUE;
  return quoit_fleet_node_use (fleet, node) == QUOIT_USE_EXTERNAL;
}

QuoitAmount
quoit_fleet_node_external_amount (const QuoitFleet *fleet, QuoitNodeId node, const char *name, QuoitAmount total)
{
  QuoitUsers users = quoit_fleet_node_users (fleet, node);
  QuoitAmount sum = { 0 };
  const QuoitGroupData *user;

  if (quoit_fleet_node_use (fleet, node) == QUOIT_USE_EXTERNAL)
    return total;
  while ((user = quoit_fleet_users_next (&users)) != NULL)
    if (user->kind == QUOIT_RECORD_EXTERNAL)
      sum.e4 += quoit_bundle_amount (users.bundle, name);
  return sum;
}

GPtrArray *
quoit_fleet_node_groups (const QuoitFleet *fleet, QuoitNodeId node)
{
  QuoitUsers users = quoit_fleet_node_users (fleet, node);
  GPtrArray *groups = g_ptr_array_new ();
  const QuoitGroupData *user;

  while ((user = quoit_fleet_users_next (&users)) != NULL)
    if (quoit_group_is_listed (user) && (groups->len == 0 || groups->pdata[groups->len - 1] != user))
      g_ptr_array_add (groups, (gpointer) user);
  return groups;
}

char *
quoit_fleet_node_share_text (const QuoitFleet *fleet, QuoitNodeId node, const QuoitGroupData *group)
{
  QuoitUsers users = quoit_fleet_node_users (fleet, node);
  const QuoitGroupData *user;
  GString *text;

  if (group->bundles == NULL)
    return NULL;
  text = g_string_new (NULL);
  while ((user = quoit_fleet_users_next (&users)) != NULL)
    if (user == group)
      {
        g_autofree char *bundle = quoit_bundle_text (users.bundle);

        g_string_append_printf (text, "%s%s", text->len > 0 ? " + " : "", bundle);
      }
  return g_string_free (text, FALSE);
}

static guint64
node_chips (const QuoitFleet *fleet, QuoitNodeId node)
{
  guint n = quoit_layout_node_kind (fleet->layout, node)->chips;

  return n < 64 ? ((guint64) 1 << n) - 1 : G_MAXUINT64;
}

static guint64
bundle_chips (const QuoitBundle *bundle)
{
  return bundle->chips | (bundle->part.e4 > 0 ? (guint64) 1 << bundle->chip : 0);
}

guint64
quoit_fleet_node_group_chips (const QuoitFleet *fleet, QuoitNodeId node, const QuoitGroupData *group)
{
  QuoitUsers users = quoit_fleet_node_users (fleet, node);
  const QuoitGroupData *user;
  guint64 chips = 0;

  if (group == NULL && quoit_fleet_node_use (fleet, node) == QUOIT_USE_EXTERNAL)
    return node_chips (fleet, node);
  while ((user = quoit_fleet_users_next (&users)) != NULL)
    if (group != NULL ? user == group : user->kind == QUOIT_RECORD_EXTERNAL)
      chips |= users.bundle == NULL ? node_chips (fleet, node) : bundle_chips (users.bundle);
  return chips;
}

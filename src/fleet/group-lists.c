/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/group-lists.h"

#include "base/name-hash.h"

static gint
compare_ids (gconstpointer a, gconstpointer b)
{
  guint64 x = (*(const QuoitGroupData *const *) a)->id, y = (*(const QuoitGroupData *const *) b)->id;

  return (x > y) - (x < y);
}

static void
add_to_owner (QuoitGroupLists *lists, QuoitGroupData *group)
{
  GPtrArray *groups;

  if (*group->owner == '\0' || group->state == QUOIT_GROUP_REMOVED)
    return;
  groups = g_hash_table_lookup (lists->by_owner, group->owner);
  if (groups == NULL)
    {
      groups = g_ptr_array_new ();
      g_hash_table_insert (lists->by_owner, (gpointer) group->owner, groups);
    }
  g_ptr_array_add (groups, group);
}

QuoitGroupLists *
quoit_group_lists_new (const QuoitFleet *fleet)
{
  QuoitGroupLists *lists = g_new (QuoitGroupLists, 1);

  lists->groups = g_ptr_array_new ();
  lists->owners = g_ptr_array_new ();
  lists->by_owner = g_hash_table_new_full (quoit_hash_text, g_str_equal, NULL, (GDestroyNotify) g_ptr_array_unref);
  for (guint32 slot = 0; slot < fleet->n_slots; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (fleet, slot);

      if (group != NULL && quoit_group_is_listed (group))
        g_ptr_array_add (lists->groups, (gpointer) group);
      else if (group != NULL && group->kind == QUOIT_RECORD_OWNER && group->state != QUOIT_GROUP_REMOVED)
        g_ptr_array_add (lists->owners, (gpointer) group);
    }
  g_ptr_array_sort (lists->groups, compare_ids);
  g_ptr_array_sort (lists->owners, compare_ids);
  for (guint i = 0; i < lists->groups->len; i++)
    add_to_owner (lists, lists->groups->pdata[i]);
  return lists;
}

void
quoit_group_lists_free (QuoitGroupLists *lists)
{
  if (lists == NULL)
    return;
  g_ptr_array_unref (lists->groups);
  g_ptr_array_unref (lists->owners);
  g_hash_table_unref (lists->by_owner);
  g_free (lists);
}

const QuoitGroupData *
quoit_group_lists_find (const QuoitGroupLists *lists, guint64 id)
{
  guint low = 0, high = lists->groups->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;
      const QuoitGroupData *group = lists->groups->pdata[middle];

      if (group->id == id)
        return group;
      if (group->id < id)
        low = middle + 1;
      else
        high = middle;
    }
  return NULL;
}

const GPtrArray *
quoit_group_lists_of_owner (const QuoitGroupLists *lists, const char *owner)
{
  return g_hash_table_lookup (lists->by_owner, owner);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Hold-and-wait: callers that each have a part of what they need, and wait for the rest. */
#include "api/handles.h"

#include <string.h>

enum { MOST_NAMED = 3 };

/* Returns the resource of a head if the group has one bundle that takes only that, as Ray's reservation of a slice
 * does; else NULL. */
static const char *
head_of (const QuoitGroup *group)
{
  const char *resource;

  if (quoit_group_get_source (group)[0] == '\0' || quoit_group_get_n_bundles (group) != 1
      || quoit_group_get_bundle_n_resources (group, 0) != 1)
    return NULL;
  resource = quoit_group_get_bundle_resource_name (group, 0, 0);
  return g_str_has_prefix (resource, "TPU-") && g_str_has_suffix (resource, "-head") ? resource : NULL;
}

/* Returns the only group that has a part of the slice, if it has only the head; else NULL. The caller owns it. */
static QuoitGroup *
find_holder_of_head (const QuoitSnapshot *snapshot, uint32_t slice, const char *head)
{
  const uint32_t first = quoit_snapshot_get_slice_first_node (snapshot, slice),
                 n = quoit_snapshot_get_slice_n_nodes (snapshot, slice);
  g_autoptr (QuoitGroup) holder = NULL;
  uint64_t id = 0;

  for (uint32_t node = first; node < first + n; node++)
    for (uint32_t user = 0; user < quoit_snapshot_get_node_n_users (snapshot, node); user++)
      {
        if (id != 0)
          return NULL;
        id = quoit_snapshot_get_node_user_id (snapshot, node, user);
      }
  holder = id == 0 ? NULL : quoit_snapshot_lookup_group_by_id (snapshot, id, NULL);
  return holder != NULL && g_strcmp0 (head_of (holder), head) == 0 ? g_steal_pointer (&holder) : NULL;
}

/* Lists who has only the head of a slice of that type. Returns their number. */
static guint
list_holders (const QuoitSnapshot *snapshot, const char *head, GString *text)
{
  guint n = 0;

  for (uint32_t slice = 0; slice < quoit_snapshot_get_n_slices (snapshot); slice++)
    {
      g_autoptr (QuoitGroup) holder = find_holder_of_head (snapshot, slice, head);
      g_autofree char *name
          = holder == NULL ? NULL : quoit_layout_slice_display (snapshot->fleet->layout, (QuoitSliceId) { slice });

      if (holder != NULL && n++ < MOST_NAMED)
        g_string_append_printf (text, "%s%s has only the head of %s", n == 1 ? "" : ", ",
                                quoit_group_get_handle (holder), name);
    }
  if (n > MOST_NAMED)
    g_string_append_printf (text, " and %u more", n - MOST_NAMED);
  return n;
}

char *
quoit_snapshot_dup_hold_and_wait (const QuoitSnapshot *snapshot, const char *group, GError **error)
{
  g_autoptr (QuoitGroup) waiting = NULL;
  g_autoptr (GString) holders = g_string_new (NULL);
  const char *head;

  g_return_val_if_fail (snapshot != NULL && group != NULL, NULL);

  waiting = quoit_snapshot_lookup_group (snapshot, group, error);
  if (waiting == NULL)
    return NULL;
  head = quoit_group_get_state (waiting) == QUOIT_GROUP_PENDING ? head_of (waiting) : NULL;
  if (head == NULL || list_holders (snapshot, head, holders) == 0)
    return g_strdup ("");
  return g_strdup_printf (
      "hold-and-wait: %s waits for '%s', while %s; callers that each have some slices and wait for more "
      "can block each other until one gives up",
      quoit_group_get_handle (waiting), head, holders->str);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the groups and owners of a snapshot. */
#include "api/handles.h"

/* The lists are created on first use, because most snapshots do not need them. */
static const QuoitGroupLists *
group_lists (const QuoitSnapshot *snapshot)
{
  QuoitSnapshot *own = (QuoitSnapshot *) snapshot;

  g_mutex_lock (&own->lock);
  if (own->groups == NULL)
    own->groups = quoit_group_lists_new (own->fleet);
  g_mutex_unlock (&own->lock);
  return own->groups;
}

uint32_t
quoit_snapshot_get_n_groups (const QuoitSnapshot *snapshot)
{
  g_return_val_if_fail (snapshot != NULL, 0);

  return group_lists (snapshot)->groups->len;
}

QuoitGroup *
quoit_snapshot_dup_group (const QuoitSnapshot *snapshot, uint32_t group)
{
  g_return_val_if_fail (snapshot != NULL && group < group_lists (snapshot)->groups->len, NULL);

  return quoit_group_new_from_fleet (snapshot->fleet, group_lists (snapshot)->groups->pdata[group]);
}

QuoitGroup *
quoit_snapshot_lookup_group (const QuoitSnapshot *snapshot, const char *name, GError **error)
{
  const QuoitGroupData *group;
  g_autofree char *short_name = NULL;
  QuoitGroupRef ref;

  g_return_val_if_fail (snapshot != NULL && name != NULL, NULL);

  if (!quoit_group_ref_parse (name, &ref, &short_name, error))
    return NULL;
  group = quoit_step_lookup_group (snapshot->fleet, &ref, error);
  return group == NULL ? NULL : quoit_group_new_from_fleet (snapshot->fleet, group);
}

QuoitGroup *
quoit_snapshot_lookup_group_by_id (const QuoitSnapshot *snapshot, uint64_t id, GError **error)
{
  const QuoitGroupData *group;

  g_return_val_if_fail (snapshot != NULL, NULL);

  group = quoit_group_lists_find (group_lists (snapshot), id);
  if (group != NULL)
    return quoit_group_new_from_fleet (snapshot->fleet, group);
  quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "group id '%" G_GUINT64_FORMAT "': no live or recorded group has it", id);
  return NULL;
}

QuoitGroup *
quoit_snapshot_lookup_group_by_key (const QuoitSnapshot *snapshot, const char *key, GError **error)
{
  const QuoitGroupData *group;
  g_autofree char *quoted = NULL;

  g_return_val_if_fail (snapshot != NULL && key != NULL, NULL);

  group = *key == '\0' ? NULL : quoit_fleet_find_key (snapshot->fleet, key);
  if (group != NULL)
    return quoit_group_new_from_fleet (snapshot->fleet, group);
  quoted = quoit_quote (key);
  quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "request key %s: no live or recorded group has it", quoted);
  return NULL;
}

/* --- owners --- */

/* Returns the record of an owner, or NULL if the index is out of range. */
static const QuoitGroupData *
owner_at (const QuoitSnapshot *snapshot, uint32_t owner)
{
  const GPtrArray *owners = group_lists (snapshot)->owners;

  return owner < owners->len ? owners->pdata[owner] : NULL;
}

uint32_t
quoit_snapshot_get_n_owners (const QuoitSnapshot *snapshot)
{
  g_return_val_if_fail (snapshot != NULL, 0);

  return group_lists (snapshot)->owners->len;
}

const char *
quoit_snapshot_get_owner_name (const QuoitSnapshot *snapshot, uint32_t owner)
{
  g_return_val_if_fail (snapshot != NULL && owner_at (snapshot, owner) != NULL, NULL);

  return quoit_owner_record_owner (owner_at (snapshot, owner));
}

int64_t
quoit_snapshot_get_owner_registered_ms (const QuoitSnapshot *snapshot, uint32_t owner)
{
  g_return_val_if_fail (snapshot != NULL && owner_at (snapshot, owner) != NULL, 0);

  return owner_at (snapshot, owner)->created_ms;
}

int64_t
quoit_snapshot_get_owner_until_ms (const QuoitSnapshot *snapshot, uint32_t owner)
{
  g_return_val_if_fail (snapshot != NULL && owner_at (snapshot, owner) != NULL, 0);

  return owner_at (snapshot, owner)->until_ms;
}

uint32_t
quoit_snapshot_count_owner_groups (const QuoitSnapshot *snapshot, const char *owner)
{
  const GPtrArray *groups;

  g_return_val_if_fail (snapshot != NULL && owner != NULL, 0);

  groups = quoit_group_lists_of_owner (group_lists (snapshot), owner);
  return groups == NULL ? 0 : groups->len;
}

QuoitGroup *
quoit_snapshot_dup_owner_group (const QuoitSnapshot *snapshot, const char *owner, uint32_t group)
{
  const GPtrArray *groups;

  g_return_val_if_fail (snapshot != NULL && owner != NULL, NULL);

  groups = quoit_group_lists_of_owner (group_lists (snapshot), owner);
  g_return_val_if_fail (groups != NULL && group < groups->len, NULL);
  return quoit_group_new_from_fleet (snapshot->fleet, groups->pdata[group]);
}

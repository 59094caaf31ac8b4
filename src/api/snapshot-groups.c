/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the groups and owners of a snapshot. Their lists are created on first use. */
#include "api/handles.h"

static gint
by_id (gconstpointer a, gconstpointer b, gpointer fleet)
{
  guint64 x = quoit_fleet_group_at (fleet, *(const guint32 *) a)->id;
  guint64 y = quoit_fleet_group_at (fleet, *(const guint32 *) b)->id;

  return (x > y) - (x < y);
}

/* Must be called in the order of group ids. Names stay valid as long as the snapshot, which keeps the groups. */
static void
list_for_owner (QuoitSnapshot *own, guint32 slot)
{
  const QuoitGroupData *group = quoit_fleet_group_at (own->fleet, slot);
  GArray *slots;

  if (*group->owner == '\0' || group->state == QUOIT_GROUP_REMOVED)
    return;
  slots = g_hash_table_lookup (own->by_owner, group->owner);
  if (slots == NULL)
    {
      slots = g_array_new (FALSE, FALSE, sizeof (guint32));
      g_hash_table_insert (own->by_owner, (gpointer) group->owner, slots);
    }
  g_array_append_val (slots, slot);
}

static void
list_slots (QuoitSnapshot *own)
{
  own->slots = g_array_new (FALSE, FALSE, sizeof (guint32));
  own->owners = g_array_new (FALSE, FALSE, sizeof (guint32));
  own->by_owner = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify) g_array_unref);
  for (guint32 slot = 0; slot < own->fleet->n_slots; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (own->fleet, slot);

      if (group != NULL && quoit_group_is_listed (group))
        g_array_append_val (own->slots, slot);
      else if (group != NULL && group->kind == QUOIT_HOLDER_OWNER && group->state != QUOIT_GROUP_REMOVED)
        g_array_append_val (own->owners, slot);
    }
  g_array_sort_with_data (own->slots, by_id, own->fleet);
  g_array_sort_with_data (own->owners, by_id, own->fleet);
  for (guint i = 0; i < own->slots->len; i++)
    list_for_owner (own, g_array_index (own->slots, guint32, i));
}

static QuoitSnapshot *
with_slots (const QuoitSnapshot *snapshot)
{
  QuoitSnapshot *own = (QuoitSnapshot *) snapshot;

  g_mutex_lock (&own->lock);
  if (own->slots == NULL)
    list_slots (own);
  g_mutex_unlock (&own->lock);
  return own;
}

static const GArray *
slots_of (const QuoitSnapshot *snapshot)
{
  return with_slots (snapshot)->slots;
}

uint32_t
quoit_snapshot_get_n_groups (const QuoitSnapshot *snapshot)
{
  g_return_val_if_fail (snapshot != NULL, 0);

  return slots_of (snapshot)->len;
}

QuoitGroup *
quoit_snapshot_dup_group (const QuoitSnapshot *snapshot, uint32_t group)
{
  g_return_val_if_fail (snapshot != NULL && group < slots_of (snapshot)->len, NULL);

  return quoit_group_in (snapshot->fleet,
                         quoit_fleet_group_at (snapshot->fleet, g_array_index (slots_of (snapshot), guint32, group)));
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
  return group == NULL ? NULL : quoit_group_in (snapshot->fleet, group);
}

/* Returns the listed group with the id, live or ended, or NULL. */
static const QuoitGroupData *
find_id (const QuoitSnapshot *snapshot, guint64 id)
{
  const GArray *slots = slots_of (snapshot);
  guint low = 0, high = slots->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;
      const QuoitGroupData *group = quoit_fleet_group_at (snapshot->fleet, g_array_index (slots, guint32, middle));

      if (group->id == id)
        return group;
      if (group->id < id)
        low = middle + 1;
      else
        high = middle;
    }
  return NULL;
}

QuoitGroup *
quoit_snapshot_lookup_group_by_id (const QuoitSnapshot *snapshot, uint64_t id, GError **error)
{
  const QuoitGroupData *group;

  g_return_val_if_fail (snapshot != NULL, NULL);

  group = find_id (snapshot, id);
  if (group != NULL)
    return quoit_group_in (snapshot->fleet, group);
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
    return quoit_group_in (snapshot->fleet, group);
  quoted = quoit_quote (key);
  quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "request key %s: no live or recorded group has it", quoted);
  return NULL;
}

/* --- owners --- */

/* Returns the record of an owner, or NULL if the index is out of range. */
static const QuoitGroupData *
owner_at (const QuoitSnapshot *snapshot, uint32_t owner)
{
  const GArray *slots = with_slots (snapshot)->owners;

  return owner < slots->len ? quoit_fleet_group_at (snapshot->fleet, g_array_index (slots, guint32, owner)) : NULL;
}

uint32_t
quoit_snapshot_get_n_owners (const QuoitSnapshot *snapshot)
{
  g_return_val_if_fail (snapshot != NULL, 0);

  return with_slots (snapshot)->owners->len;
}

const char *
quoit_snapshot_get_owner_name (const QuoitSnapshot *snapshot, uint32_t owner)
{
  g_return_val_if_fail (snapshot != NULL && owner_at (snapshot, owner) != NULL, NULL);

  return quoit_owner_of_record (owner_at (snapshot, owner));
}

int64_t
quoit_snapshot_get_owner_since_ms (const QuoitSnapshot *snapshot, uint32_t owner)
{
  g_return_val_if_fail (snapshot != NULL && owner_at (snapshot, owner) != NULL, 0);

  return owner_at (snapshot, owner)->since_ms;
}

int64_t
quoit_snapshot_get_owner_until_ms (const QuoitSnapshot *snapshot, uint32_t owner)
{
  g_return_val_if_fail (snapshot != NULL && owner_at (snapshot, owner) != NULL, 0);

  return owner_at (snapshot, owner)->until_ms;
}

static const GArray *
slots_of_owner (const QuoitSnapshot *snapshot, const char *owner)
{
  return g_hash_table_lookup (with_slots (snapshot)->by_owner, owner);
}

uint32_t
quoit_snapshot_count_owner_groups (const QuoitSnapshot *snapshot, const char *owner)
{
  const GArray *slots;

  g_return_val_if_fail (snapshot != NULL && owner != NULL, 0);

  slots = slots_of_owner (snapshot, owner);
  return slots == NULL ? 0 : slots->len;
}

QuoitGroup *
quoit_snapshot_dup_owner_group (const QuoitSnapshot *snapshot, const char *owner, uint32_t group)
{
  const GArray *slots;

  g_return_val_if_fail (snapshot != NULL && owner != NULL, NULL);

  slots = slots_of_owner (snapshot, owner);
  g_return_val_if_fail (slots != NULL && group < slots->len, NULL);
  return quoit_group_in (snapshot->fleet,
                         quoit_fleet_group_at (snapshot->fleet, g_array_index (slots, guint32, group)));
}

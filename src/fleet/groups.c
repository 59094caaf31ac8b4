/* SPDX-License-Identifier: Apache-2.0 */
/* Stores groups, and the indexes that find them. */
#include "fleet/ahead.h"
#include "fleet/private.h"
#include "fleet/quotas.h"

#include <stdlib.h>
#include <string.h>

#include "base/name-hash.h"

/* A slot stores a group or, if it is free, the next free slot. Pointers are aligned, so their lowest bit is 0; a free
 * slot has (next free slot + 1) << 1 | 1. */
typedef union {
  QuoitGroupData *group;
  guintptr next_free;
} Slot;

static void
ref_slot_groups (void *bytes)
{
  Slot *slots = bytes;

  for (guint i = 0; i < QUOIT_SLOTS_PER_CHUNK; i++)
    if (slots[i].group != NULL && (slots[i].next_free & 1) == 0)
      quoit_group_data_ref (slots[i].group);
}

static void
unref_slot_groups (void *bytes)
{
  Slot *slots = bytes;

  for (guint i = 0; i < QUOIT_SLOTS_PER_CHUNK; i++)
    if ((slots[i].next_free & 1) == 0)
      quoit_group_data_unref (slots[i].group);
}

const QuoitTableType quoit_slots_type = { .chunk_bytes = QUOIT_SLOTS_PER_CHUNK * sizeof (Slot),
                                          .on_copy = ref_slot_groups,
                                          .on_free = unref_slot_groups };

static inline Slot *
own_slot (QuoitFleet *fleet, guint32 slot)
{
  return (Slot *) quoit_table_own_nearby (&fleet->groups, slot / QUOIT_SLOTS_PER_CHUNK, 0)
         + slot % QUOIT_SLOTS_PER_CHUNK;
}

const QuoitGroupData *
quoit_fleet_group_at (const QuoitFleet *fleet, guint32 slot)
{
  const Slot *row
      = (const Slot *) quoit_table_peek (&fleet->groups, slot / QUOIT_SLOTS_PER_CHUNK) + slot % QUOIT_SLOTS_PER_CHUNK;

  return (row->next_free & 1) != 0 ? NULL : row->group;
}

/* Returns the slot of the next group that is added. */
static inline guint32
next_slot (const QuoitFleet *fleet)
{
  return fleet->first_free_slot == 0 ? fleet->n_slots : fleet->first_free_slot - 1;
}

/* @slot: next_slot(). */
static inline void
add_to_slot (QuoitFleet *fleet, QuoitGroupData *group, guint32 slot)
{
  Slot *row;

  if (fleet->first_free_slot == 0)
    quoit_table_grow (&fleet->groups, fleet->n_slots++ / QUOIT_SLOTS_PER_CHUNK + 1);
  row = own_slot (fleet, slot);
  if (fleet->first_free_slot != 0)
    fleet->first_free_slot = (guint32) (row->next_free >> 1);
  row->group = group;
}

static void
clear_slot (QuoitFleet *fleet, guint32 slot)
{
  own_slot (fleet, slot)->next_free = (guintptr) fleet->first_free_slot << 1 | 1;
  fleet->first_free_slot = slot + 1;
}

/* --- lookup --- */

/* Finds the slot of a live group, or returns QUOIT_NO_INDEX. Sets *@at to the place in the index by_name: that of the
 * group, or an empty one for a new group. */
static inline guint32
find_slot_by_name (const QuoitFleet *fleet, const char *name, guint32 hash, guint32 *at)
{
  guint32 next = hash, slot;

  while ((slot = quoit_index_next (&fleet->by_name, hash, &next)) != QUOIT_INDEX_NONE)
    if (strcmp (quoit_fleet_group_at (fleet, slot)->name, name) == 0)
      break;
  *at = slot == QUOIT_INDEX_NONE ? next : next - 1;
  return slot;
}

guint32
quoit_fleet_group_slot (const QuoitFleet *fleet, const QuoitGroupData *group)
{
  guint32 at;

  return find_slot_by_name (fleet, group->name, group->name_hash, &at);
}

static const QuoitGroupData *
find_by_key (const QuoitFleet *fleet, const char *key, guint32 hash)
{
  guint32 at = hash, slot;

  while ((slot = quoit_index_next (&fleet->by_key, hash, &at)) != QUOIT_INDEX_NONE)
    if (strcmp (quoit_fleet_group_at (fleet, slot)->key, key) == 0)
      return quoit_fleet_group_at (fleet, slot);
  return NULL;
}

const QuoitGroupData *
quoit_fleet_find_group (const QuoitFleet *fleet, const char *name)
{
  guint32 at, slot = find_slot_by_name (fleet, name, quoit_hash_text (name), &at);

  return slot == QUOIT_NO_INDEX ? NULL : quoit_fleet_group_at (fleet, slot);
}

const QuoitGroupData *
quoit_fleet_find_key (const QuoitFleet *fleet, const char *key)
{
  return find_by_key (fleet, key, quoit_hash_text (key));
}

/* Returns whether the group is in the index by_key. An owner with an expired lease has no key, but is in that index
 * with its name. */
static gboolean
is_in_key_index (const QuoitGroupData *group)
{
  return *group->key != '\0' || (group->state == QUOIT_GROUP_REMOVED && group->kind == QUOIT_RECORD_OWNER);
}

static guint32
key_hash (const QuoitGroupData *group)
{
  return *group->key != '\0' ? group->key_hash : group->name_hash;
}

static guint32
id_hash (guint64 id)
{
  return (guint32) (id * G_GUINT64_CONSTANT (0x9e3779b1));
}

const QuoitGroupData *
quoit_fleet_find_removed (const QuoitFleet *fleet, guint64 id)
{
  guint32 at = id_hash (id), slot;

  while ((slot = quoit_index_next (&fleet->by_removed_id, id_hash (id), &at)) != QUOIT_INDEX_NONE)
    if (quoit_fleet_group_at (fleet, slot)->id == id)
      return quoit_fleet_group_at (fleet, slot);
  return NULL;
}

const QuoitGroupData *
quoit_fleet_find_expired_owner (const QuoitFleet *fleet, const char *record)
{
  guint32 hash = quoit_hash_text (record), at = hash, slot;

  while ((slot = quoit_index_next (&fleet->by_key, hash, &at)) != QUOIT_INDEX_NONE)
    if (quoit_fleet_group_at (fleet, slot)->kind == QUOIT_RECORD_OWNER
        && strcmp (quoit_fleet_group_at (fleet, slot)->name, record) == 0)
      return quoit_fleet_group_at (fleet, slot);
  return NULL;
}

/* --- addition and removal --- */

static void
update_first_lease (QuoitFleet *fleet, const QuoitGroupData *group)
{
  gint64 next_ms = quoit_group_next_change_ms (group);

  if (next_ms != 0 && next_ms < fleet->first_lease_ms)
    fleet->first_lease_ms = next_ms;
}

/* Writes the ids of the nodes that a group with @slice gets to @ids, and returns their number. A slice with more nodes
 * than hosts still contains dead nodes that were replaced; they are skipped. */
static inline guint32
list_slice_nodes (const QuoitFleet *fleet, const QuoitSlice *slice, guint32 *ids)
{
  const QuoitLayout *layout = fleet->layout;
  const QuoitNode *nodes = &layout->nodes[slice->first_node];
  const guint32 class_index = layout->shelves[slice->shelf].class_index, n_nodes = slice->n_nodes;
  guint32 n = 0;

  if (G_LIKELY (class_index == QUOIT_NO_INDEX || layout->classes[class_index].facts.hosts == n_nodes))
    {
      for (guint32 i = 0; i < n_nodes; i++)
        ids[i] = nodes[i].id;
      return n_nodes;
    }
  for (guint32 i = 0; i < n_nodes; i++)
    if (quoit_fleet_node_state (fleet, (QuoitNodeId) { slice->first_node + i }) != QUOIT_NODE_DEAD)
      ids[n++] = nodes[i].id;
  return n;
}

QuoitGroupData *
quoit_fleet_group_of_slices (const QuoitFleet *fleet, const QuoitGroupData *base, const guint32 *slices,
                             guint32 n_slices)
{
  const QuoitSlice *rows = fleet->layout->slices;
  guint32 *slice_end, *node_ids, most = 0, n_nodes = 0;
  QuoitGroupData *group;

  for (guint32 i = 0; i < n_slices; i++)
    most += rows[slices[i]].n_nodes;
  group = quoit_group_data_alloc (base, n_slices, most);
  slice_end = (guint32 *) group->slice_end;
  node_ids = (guint32 *) group->node_ids;
  for (guint32 i = 0; i < n_slices; i++)
    slice_end[i] = n_nodes += list_slice_nodes (fleet, &rows[slices[i]], node_ids + n_nodes);
  group->n_nodes = n_nodes;
  return group;
}

/* Sets *@name_at to the place of the group in the index by_name. */
static inline gboolean
check_names_unused (const QuoitFleet *fleet, const QuoitGroupData *group, guint32 *name_at, GError **error)
{
  if (group->state != QUOIT_GROUP_REMOVED
      && find_slot_by_name (fleet, group->name, group->name_hash, name_at) != QUOIT_NO_INDEX)
    return quoit_fail (error, QUOIT_ERROR_CONFLICT, "there is a group '%s' already", group->name);
  if (*group->key != '\0' && find_by_key (fleet, group->key, group->key_hash) != NULL)
    return quoit_fail (error, QUOIT_ERROR_CONFLICT, "key '%s' names a group already", group->key);
  return TRUE;
}

/* Returns whether the group is recorded as a user of its nodes. */
static gboolean
uses_nodes (const QuoitGroupData *group)
{
  return group->state != QUOIT_GROUP_REMOVED && !quoit_group_is_ahead (group);
}

static gboolean
check_n_ahead (const QuoitFleet *fleet, const QuoitGroupData *group, const QuoitBulkAdd *bulk, GError **error)
{
  return !quoit_group_is_ahead (group) || (bulk != NULL ? bulk->n_ahead : quoit_fleet_n_ahead (fleet)) < QUOIT_MAX_AHEAD
         || quoit_fail (error, QUOIT_ERROR_CONFLICT, "more than %d reservations ahead and windows", QUOIT_MAX_AHEAD);
}

/* Records the group, which is to get @slot, as the user of whole nodes, or checks that its bundles fit. */
static inline gboolean
take_or_check_nodes (QuoitFleet *fleet, const QuoitGroupData *group, guint32 slot, QuoitBulkAdd *bulk, GError **error)
{
  return group->bundles == NULL ? quoit_fleet_take_whole_nodes (fleet, group, slot, error)
                                : quoit_fleet_nodes_are_free (fleet, group, bulk, error);
}

static gboolean
add_group (QuoitFleet *fleet, QuoitGroupData *group, QuoitBulkAdd *bulk, GError **error)
{
  const guint32 slot = next_slot (fleet);
  guint32 name_at = 0;

  if (group->state == QUOIT_GROUP_REMOVED && group->n_nodes > 0)
    {
      quoit_fail (error, QUOIT_ERROR_CONFLICT, "group '%s' is removed, but has nodes", group->name);
      return quoit_group_data_unref (group), FALSE;
    }
  if (!check_names_unused (fleet, group, &name_at, error) || !check_n_ahead (fleet, group, bulk, error)
      || (bulk == NULL && group->kind == QUOIT_RECORD_QUOTA && !quoit_fleet_check_quota_record (fleet, group, error))
      || (uses_nodes (group) && !take_or_check_nodes (fleet, group, slot, bulk, error)))
    return quoit_group_data_unref (group), FALSE;

  add_to_slot (fleet, group, slot);
  if (is_in_key_index (group))
    quoit_index_add (&fleet->by_key, key_hash (group), slot);
  fleet->n_groups++;
  fleet->next_group_id = MAX (fleet->next_group_id, group->id + 1);
  if (group->state == QUOIT_GROUP_REMOVED)
    return quoit_index_add (&fleet->by_removed_id, id_hash (group->id), slot), TRUE;

  quoit_index_add_at (&fleet->by_name, name_at, group->name_hash, slot);
  update_first_lease (fleet, group);
  quoit_fleet_ahead_retry (fleet);
  if (!quoit_group_is_ahead (group))
    {
      if (group->bundles != NULL)
        quoit_fleet_add_edges (fleet, group, slot, bulk);
    }
  else if (bulk != NULL)
    bulk->n_ahead++;
  else
    quoit_fleet_ahead_add (fleet, slot);
  if (bulk == NULL)
    quoit_fleet_update_quotas (fleet, slot, NULL, group);
  else
    bulk->has_quotas |= group->kind == QUOIT_RECORD_QUOTA;
  return TRUE;
}

gboolean
quoit_fleet_add_group (QuoitFleet *fleet, QuoitGroupData *group, GError **error)
{
  return add_group (fleet, group, NULL, error);
}

static gboolean
restore_group (QuoitFleet *fleet, QuoitGroupData *group, QuoitBulkAdd *bulk, GError **error)
{
  g_autoptr (QuoitGroupData) kept = quoit_group_data_ref (group);

  if (*group->source != '\0')
    quoit_fleet_ahead_doubt (fleet);
  if (quoit_group_is_ahead (group))
    return add_group (fleet, group, bulk, error);
  quoit_fleet_set_external_use (fleet, kept, QUOIT_USE_EXTERNAL, QUOIT_USE_NONE, bulk);
  if (add_group (fleet, group, bulk, error))
    return TRUE;
  quoit_fleet_set_external_use (fleet, kept, QUOIT_USE_NONE, QUOIT_USE_EXTERNAL, bulk);
  return FALSE;
}

gboolean
quoit_fleet_restore_group (QuoitFleet *fleet, QuoitGroupData *group, GError **error)
{
  return restore_group (fleet, group, NULL, error);
}

gboolean
quoit_fleet_restore_groups (QuoitFleet *fleet, const GPtrArray *groups, GError **error)
{
  g_autoptr (QuoitBulkAdd) bulk = quoit_bulk_add_new ();
  gboolean ok = TRUE;

  for (guint i = 0; ok && i < groups->len; i++)
    ok = restore_group (fleet, quoit_group_data_ref (groups->pdata[i]), bulk, error);
  quoit_fleet_recount_slices (fleet, bulk->slices);
  if (bulk->n_ahead > 0)
    quoit_fleet_ahead_rebuild (fleet);
  return ok && ((fleet->quotas == NULL && !bulk->has_quotas) || quoit_fleet_quotas_rebuild (fleet, error));
}

/* Finds the slot of the live group with this name and id, and its place in the index by_name. */
static inline gboolean
find_slot (const QuoitFleet *fleet, const char *name, guint64 id, guint32 *slot, guint32 *at, GError **error)
{
  *slot = find_slot_by_name (fleet, name, quoit_hash_text (name), at);
  return (*slot != QUOIT_NO_INDEX && quoit_fleet_group_at (fleet, *slot)->id == id)
         || quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "no group '%s@%" G_GUINT64_FORMAT "'", name, id);
}

/* Ends what the group uses, or what it is to use when it begins. */
static void
leave_nodes (QuoitFleet *fleet, const QuoitGroupData *group, guint32 slot)
{
  if (quoit_group_is_ahead (group))
    {
      quoit_fleet_ahead_remove (fleet, slot);
      return;
    }
  quoit_fleet_remove_edges (fleet, group, slot);
  if (fleet->layout->n_external > 0)
    quoit_fleet_set_external_use (fleet, group, QUOIT_USE_NONE, QUOIT_USE_EXTERNAL, NULL);
}

gboolean
quoit_fleet_remove_group (QuoitFleet *fleet, const char *name, guint64 id, QuoitEnd end, gint64 ended_ms,
                          GError **error)
{
  return quoit_fleet_remove_group_with_reason (fleet, name, id, end, "", ended_ms, error);
}

gboolean
quoit_fleet_remove_group_with_reason (QuoitFleet *fleet, const char *name, guint64 id, QuoitEnd end, const char *reason,
                                      gint64 ended_ms, GError **error)
{
  QuoitGroupData *group;
  guint32 slot, at;

  if (!find_slot (fleet, name, id, &slot, &at, error))
    return FALSE;

  group = (QuoitGroupData *) quoit_fleet_group_at (fleet, slot);
  quoit_fleet_ahead_retry (fleet);
  leave_nodes (fleet, group, slot);
  quoit_fleet_update_quotas (fleet, slot, group, NULL);
  quoit_index_remove_at (&fleet->by_name, at);
  if (*group->key != '\0' || end == QUOIT_END_EXPIRED || *reason != '\0')
    {
      QuoitGroupData removed = quoit_group_data_copy_fields (group);

      removed.state = QUOIT_GROUP_REMOVED;
      removed.end = (guint8) end;
      removed.reason = reason;
      removed.ended_ms = ended_ms;
      removed.n_slices = removed.n_nodes = 0;
      removed.bundles = NULL;
      /* A group with a key is already in the index. */
      if (*group->key == '\0' && is_in_key_index (&removed))
        quoit_index_add (&fleet->by_key, key_hash (group), slot);
      quoit_index_add (&fleet->by_removed_id, id_hash (group->id), slot);
      own_slot (fleet, slot)->group = quoit_group_data_new (&removed);
      return quoit_group_data_unref (group), TRUE;
    }
  clear_slot (fleet, slot);
  fleet->n_groups--;
  return quoit_group_data_unref (group), TRUE;
}

gboolean
quoit_fleet_forget_group (QuoitFleet *fleet, const QuoitGroupData *group, GError **error)
{
  guint32 hash = id_hash (group->id), at = hash, slot;

  while ((slot = quoit_index_next (&fleet->by_removed_id, hash, &at)) != QUOIT_INDEX_NONE)
    if (quoit_fleet_group_at (fleet, slot) == group)
      break;
  if (slot == QUOIT_INDEX_NONE)
    return quoit_fail (error, QUOIT_ERROR_CONFLICT, "group '%s' is not removed", group->name);
  quoit_index_remove (&fleet->by_removed_id, hash, slot);
  if (is_in_key_index (group))
    quoit_index_remove (&fleet->by_key, key_hash (group), slot);
  clear_slot (fleet, slot);
  fleet->n_groups--;
  return quoit_group_data_unref ((QuoitGroupData *) group), TRUE;
}

/* --- replacement --- */

static void
replace_in_slot (QuoitFleet *fleet, guint32 slot, QuoitGroupData *group)
{
  own_slot (fleet, slot)->group = group;
  update_first_lease (fleet, group);
}

/* Checks that the group may use its nodes. Nodes that a source reports as used are free for it. */
static gboolean
check_new_nodes (QuoitFleet *fleet, const QuoitGroupData *group, GError **error)
{
  if (quoit_group_is_ahead (group))
    return TRUE;
  quoit_fleet_set_external_use (fleet, group, QUOIT_USE_EXTERNAL, QUOIT_USE_NONE, NULL);
  if (quoit_fleet_nodes_are_free (fleet, group, NULL, error))
    return TRUE;
  quoit_fleet_set_external_use (fleet, group, QUOIT_USE_NONE, QUOIT_USE_EXTERNAL, NULL);
  return FALSE;
}

/* The opposite of leave_nodes(), for a group that is in the slot. */
static void
enter_nodes (QuoitFleet *fleet, const QuoitGroupData *group, guint32 slot)
{
  if (quoit_group_is_ahead (group))
    {
      quoit_fleet_ahead_add (fleet, slot);
      return;
    }
  quoit_fleet_set_external_use (fleet, group, QUOIT_USE_EXTERNAL, QUOIT_USE_NONE, NULL);
  quoit_fleet_add_edges (fleet, group, slot, NULL);
}

gboolean
quoit_fleet_replace_group (QuoitFleet *fleet, QuoitGroupData *group, GError **error)
{
  QuoitGroupData *before;
  gboolean moves;
  guint32 slot, at;

  if (!find_slot (fleet, group->name, group->id, &slot, &at, error))
    return quoit_group_data_unref (group), FALSE;
  before = (QuoitGroupData *) quoit_fleet_group_at (fleet, slot);
  if (group->state == QUOIT_GROUP_REMOVED || strcmp (group->key, before->key) != 0
      || (quoit_group_is_ahead (group) && !quoit_group_is_ahead (before)))
    {
      quoit_fail (error, QUOIT_ERROR_CONFLICT,
                  "group '%s' cannot change its key, be removed or lie ahead again by a replacement", group->name);
      return quoit_group_data_unref (group), FALSE;
    }
  if (!quoit_fleet_check_quota_record (fleet, group, error))
    return quoit_group_data_unref (group), FALSE;
  moves = !quoit_group_same_nodes (before, group) || quoit_group_is_ahead (before) != quoit_group_is_ahead (group)
          || before->begins_ms != group->begins_ms;
  /* A record that lies ahead uses no nodes yet. It leaves the list only when nothing can fail. */
  if (moves && !quoit_group_is_ahead (before))
    leave_nodes (fleet, before, slot);
  if (moves && !check_new_nodes (fleet, group, error))
    {
      if (!quoit_group_is_ahead (before))
        enter_nodes (fleet, before, slot);
      return quoit_group_data_unref (group), FALSE;
    }
  if (moves && quoit_group_is_ahead (before))
    leave_nodes (fleet, before, slot);
  if (*group->source != '\0')
    quoit_fleet_ahead_doubt (fleet);
  quoit_fleet_ahead_retry (fleet);
  /* Replace the group before the shares are added, because shares refer to the bundles of the group in the slot. */
  replace_in_slot (fleet, slot, group);
  if (moves)
    enter_nodes (fleet, group, slot);
  quoit_fleet_update_quotas (fleet, slot, before, group);
  return quoit_group_data_unref (before), TRUE;
}

gboolean
quoit_fleet_set_lease (QuoitFleet *fleet, const char *name, guint64 id, QuoitGroupState state, gint64 until_ms,
                       GError **error)
{
  QuoitGroupData *before, changed;
  guint32 slot, at;

  if (!find_slot (fleet, name, id, &slot, &at, error))
    return FALSE;
  before = (QuoitGroupData *) quoit_fleet_group_at (fleet, slot);
  changed = quoit_group_data_copy_fields (before);
  changed.state = state;
  changed.until_ms = until_ms;
  quoit_fleet_ahead_retry (fleet);
  replace_in_slot (fleet, slot, quoit_group_data_new (&changed));
  return quoit_group_data_unref (before), TRUE;
}

/* --- leases --- */

gint64
quoit_fleet_group_until_ms (const QuoitFleet *fleet, const QuoitGroupData *group)
{
  g_autofree char *name = *group->owner == '\0' ? NULL : quoit_owner_record_name (group->owner);
  const QuoitGroupData *owner
      = name == NULL || group->state == QUOIT_GROUP_REMOVED ? NULL : quoit_fleet_find_group (fleet, name);

  if (owner != NULL && owner->until_ms != 0 && (group->until_ms == 0 || owner->until_ms < group->until_ms))
    return owner->until_ms;
  return group->until_ms;
}

void
quoit_fleet_update_first_lease (const QuoitFleet *fleet)
{
  gint64 first = G_MAXINT64;

  for (guint32 slot = 0; slot < fleet->n_slots; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (fleet, slot);

      gint64 next_ms = group == NULL || group->state == QUOIT_GROUP_REMOVED ? 0 : quoit_group_next_change_ms (group);

      if (next_ms != 0)
        first = MIN (first, next_ms);
    }
  __atomic_store_n (&((QuoitFleet *) fleet)->first_lease_ms, first, __ATOMIC_RELAXED);
}

void
quoit_fleet_share_groups (QuoitFleet *fleet, const QuoitFleet *from)
{
  quoit_table_share (&from->shares, &fleet->shares);
  quoit_table_share (&from->groups, &fleet->groups);
  quoit_index_share (&from->by_name, &fleet->by_name);
  quoit_index_share (&from->by_key, &fleet->by_key);
  quoit_index_share (&from->by_removed_id, &fleet->by_removed_id);
  fleet->n_slots = from->n_slots;
  fleet->first_free_slot = from->first_free_slot;
  fleet->n_shares = from->n_shares;
  fleet->first_free_share = from->first_free_share;
  fleet->n_groups = from->n_groups;
  fleet->seq = from->seq;
  fleet->next_group_id = from->next_group_id;
  fleet->clock_ms = from->clock_ms;
  fleet->max_jump_ms = from->max_jump_ms;
  fleet->keep_ms = from->keep_ms;
  fleet->epoch = from->epoch;
  fleet->ledger = from->ledger;
  fleet->is_planned = from->is_planned;
  fleet->first_lease_ms = quoit_fleet_first_lease (from);
  fleet->ahead = from->ahead;
  if (fleet->ahead != NULL)
    g_atomic_ref_count_inc (&fleet->ahead->refs);
  quoit_fleet_share_quotas (fleet, from);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Groups as vertices: the edges from a group to its nodes, and the indexes that find it. */
#include "model/fleet-private.h"

#include <stdlib.h>
#include <string.h>

/* A slot holds a group, or, with its lowest bit set, the number of the next empty slot: the list needs no room. */
typedef union {
  QuoitGroupData *group;
  guintptr next_free;
} Slot;

static void
slots_copied (void *bytes)
{
  Slot *slots = bytes;

  for (guint i = 0; i < QUOIT_SLOTS_PER_CHUNK; i++)
    if (slots[i].group != NULL && (slots[i].next_free & 1) == 0)
      quoit_group_data_ref (slots[i].group);
}

static void
slots_dropped (void *bytes)
{
  Slot *slots = bytes;

  for (guint i = 0; i < QUOIT_SLOTS_PER_CHUNK; i++)
    if ((slots[i].next_free & 1) == 0)
      quoit_group_data_unref (slots[i].group);
}

const QuoitTableType quoit_slots_type
    = { .chunk_bytes = QUOIT_SLOTS_PER_CHUNK * sizeof (Slot), .copied = slots_copied, .dropped = slots_dropped };
const QuoitTableType quoit_shares_type = { .chunk_bytes = QUOIT_SHARES_PER_CHUNK * sizeof (QuoitShare) };

static Slot *
own_slot (QuoitFleet *fleet, guint32 slot)
{
  return (Slot *) quoit_table_own (&fleet->groups, slot / QUOIT_SLOTS_PER_CHUNK) + slot % QUOIT_SLOTS_PER_CHUNK;
}

const QuoitGroupData *
quoit_fleet_group_at (const QuoitFleet *fleet, guint32 slot)
{
  const Slot *row
      = (const Slot *) quoit_table_peek (&fleet->groups, slot / QUOIT_SLOTS_PER_CHUNK) + slot % QUOIT_SLOTS_PER_CHUNK;

  return (row->next_free & 1) != 0 ? NULL : row->group;
}

static guint32
take_slot (QuoitFleet *fleet, QuoitGroupData *group)
{
  guint32 slot = fleet->first_free_slot - 1;
  Slot *row;

  if (fleet->first_free_slot == 0)
    {
      slot = fleet->n_slots++;
      quoit_table_grow (&fleet->groups, slot / QUOIT_SLOTS_PER_CHUNK + 1);
    }
  row = own_slot (fleet, slot);
  if (fleet->first_free_slot != 0)
    fleet->first_free_slot = (guint32) (row->next_free >> 1);
  row->group = group;
  return slot;
}

static void
leave_slot (QuoitFleet *fleet, guint32 slot)
{
  own_slot (fleet, slot)->next_free = (guintptr) fleet->first_free_slot << 1 | 1;
  fleet->first_free_slot = slot + 1;
}

static const QuoitShare *
share_at (const QuoitFleet *fleet, guint32 share)
{
  return (const QuoitShare *) quoit_table_peek (&fleet->shares, share / QUOIT_SHARES_PER_CHUNK)
         + share % QUOIT_SHARES_PER_CHUNK;
}

static QuoitShare *
own_share (QuoitFleet *fleet, guint32 share)
{
  return (QuoitShare *) quoit_table_own (&fleet->shares, share / QUOIT_SHARES_PER_CHUNK)
         + share % QUOIT_SHARES_PER_CHUNK;
}

/* --- finding --- */

static guint32
slot_of_name (const QuoitFleet *fleet, const char *name, guint32 hash)
{
  guint32 at = hash, slot;

  while ((slot = quoit_index_next (&fleet->by_name, hash, &at)) != QUOIT_INDEX_NONE)
    if (strcmp (quoit_fleet_group_at (fleet, slot)->name, name) == 0)
      return slot;
  return QUOIT_NO_INDEX;
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
  guint32 slot = slot_of_name (fleet, name, quoit_group_text_hash (name));

  return slot == QUOIT_NO_INDEX ? NULL : quoit_fleet_group_at (fleet, slot);
}

const QuoitGroupData *
quoit_fleet_find_key (const QuoitFleet *fleet, const char *key)
{
  return find_by_key (fleet, key, quoit_group_text_hash (key));
}

const QuoitGroupData *
quoit_fleet_node_user (const QuoitFleet *fleet, QuoitNodeId node, guint i, const QuoitBundle **bundle)
{
  guint32 use = quoit_fleet_node_use (fleet, node);
  const QuoitShare *share;

  if (bundle != NULL)
    *bundle = NULL;
  if (use == QUOIT_USE_NONE || use == QUOIT_USE_EXTERNAL)
    return NULL;
  if ((use & QUOIT_USE_SHARED) == 0)
    return i == 0 ? quoit_fleet_group_at (fleet, use - 1) : NULL;

  for (share = share_at (fleet, use & ~QUOIT_USE_SHARED); i > 0; i--)
    {
      if (share->next == 0)
        return NULL;
      share = share_at (fleet, share->next - 1);
    }
  if (bundle != NULL)
    *bundle = &quoit_fleet_group_at (fleet, share->slot)->bundles[share->bundle];
  return quoit_fleet_group_at (fleet, share->slot);
}

/* --- what is left of a node --- */

static void
subtract (const QuoitNodeKind *kind, const QuoitBundle *bundle, QuoitAmount *left, QuoitChipsLeft *chips)
{
  for (guint16 t = 0; t < bundle->n_takes; t++)
    for (guint16 r = 0; r < kind->n_resources; r++)
      if (strcmp (kind->resources[r].name, bundle->takes[t].resource) == 0)
        left[r].e4 -= bundle->takes[t].amount.e4;
  for (guint c = 0; c < chips->n_chips; c++)
    if ((bundle->chips >> c & 1) != 0)
      chips->chip_e4[c] -= QUOIT_AMOUNT_UNIT;
  if (bundle->part.e4 > 0)
    chips->chip_e4[bundle->chip] -= (gint32) bundle->part.e4;
}

void
quoit_fleet_node_left (const QuoitFleet *fleet, QuoitNodeId node, QuoitAmount *left, QuoitChipsLeft *chips)
{
  const QuoitNodeKind *kind = quoit_layout_node_kind (fleet->layout, node);
  guint32 use = quoit_fleet_node_use (fleet, node);
  gboolean whole = use != QUOIT_USE_NONE && (use == QUOIT_USE_EXTERNAL || (use & QUOIT_USE_SHARED) == 0);
  const QuoitBundle *bundle;

  chips->n_chips = MIN (kind->chips, G_N_ELEMENTS (chips->chip_e4));
  for (guint c = 0; c < chips->n_chips; c++)
    chips->chip_e4[c] = whole ? 0 : QUOIT_AMOUNT_UNIT;
  for (guint16 r = 0; r < kind->n_resources; r++)
    left[r].e4 = whole ? 0 : kind->resources[r].amount.e4;
  if (whole)
    return;
  for (guint i = 0; quoit_fleet_node_user (fleet, node, i, &bundle) != NULL; i++)
    subtract (kind, bundle, left, chips);
}

/* Whether bundle @i of @group fits into what is left of @node: each amount, and each chip by itself. Bundles of the
 * group that come before it on the same node are counted as placed. */
static gboolean
bundle_fits (const QuoitFleet *fleet, QuoitNodeId node, const QuoitGroupData *group, guint32 i)
{
  const QuoitBundle *bundle = &group->bundles[i];
  const QuoitNodeKind *kind = quoit_layout_node_kind (fleet->layout, node);
  g_autofree QuoitAmount *left = g_new0 (QuoitAmount, kind->n_resources + 1);
  QuoitChipsLeft chips;
  guint known = 0;

  quoit_fleet_node_left (fleet, node, left, &chips);
  if ((chips.n_chips < 64 && bundle->chips >> chips.n_chips != 0)
      || (bundle->part.e4 > 0 && bundle->chip >= chips.n_chips))
    return FALSE;
  for (guint16 t = 0; t < bundle->n_takes; t++)
    for (guint16 r = 0; r < kind->n_resources; r++)
      known += strcmp (kind->resources[r].name, bundle->takes[t].resource) == 0;
  if (known != bundle->n_takes)
    return FALSE;
  for (guint32 j = 0; j <= i; j++)
    if (group->node_ids[j] == group->node_ids[i])
      subtract (kind, &group->bundles[j], left, &chips);
  for (guint16 r = 0; r < kind->n_resources; r++)
    if (left[r].e4 < 0)
      return FALSE;
  for (guint c = 0; c < chips.n_chips; c++)
    if (chips.chip_e4[c] < 0)
      return FALSE;
  return TRUE;
}

/* --- edges --- */

static gboolean
refuse_node (const QuoitFleet *fleet, const QuoitGroupData *group, guint32 i, GError **error)
{
  guint32 id = group->node_ids[i];
  const QuoitGroupData *other;
  QuoitNodeId node;

  if (id >= fleet->layout->n_ids || fleet->layout->by_id[id] == QUOIT_NO_INDEX)
    return quoit_fail (error, QUOIT_ERROR_CONFLICT, "group '%s': its node of id %u is not in the fleet", group->name,
                       id);
  node.index = fleet->layout->by_id[id];
  other = quoit_fleet_node_user (fleet, node, 0, NULL);
  return quoit_fail (error, QUOIT_ERROR_CONFLICT, "group '%s': node '%s' is used by %s%s", group->name,
                     quoit_layout_node_name (fleet->layout, node), other == NULL ? "something external" : "group ",
                     other == NULL ? "" : other->name);
}

/* Where a run of nodes ends that begins with @index: the nodes behind it of the same slice, in the same chunk. A group
 * that has a slice names them in this order, so that most of a walk is along such runs. */
static inline guint32
run_end (const QuoitLayout *layout, guint32 index)
{
  guint32 slice = layout->nodes[index].slice, chunk_end = (index / QUOIT_NODES_PER_CHUNK + 1) * QUOIT_NODES_PER_CHUNK;

  if (slice == QUOIT_NO_INDEX)
    return index + 1;
  return MIN (layout->slices[slice].first_node + layout->slices[slice].n_nodes, chunk_end);
}

static int
by_number (gconstpointer a, gconstpointer b)
{
  guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

  return (x > y) - (x < y);
}

static gboolean
names_a_node_twice (const QuoitGroupData *group)
{
  g_autofree guint32 *ids = g_memdup2 (group->node_ids, group->n_nodes * sizeof *ids);

  qsort (ids, group->n_nodes, sizeof *ids, by_number);
  for (guint32 i = 1; i < group->n_nodes; i++)
    if (ids[i] == ids[i - 1])
      return TRUE;
  return FALSE;
}

/* Nothing is written before all nodes are known to be free. */
static gboolean
whole_nodes_are_free (const QuoitFleet *fleet, const QuoitGroupData *group, GError **error)
{
  const QuoitLayout *layout = fleet->layout;
  const guint32 *by_id = layout->by_id, *ids = group->node_ids;
  guint32 n_nodes = group->n_nodes, n_ids = layout->n_ids, behind = 0;
  gboolean ascending = TRUE;

  for (guint32 i = 0; i < n_nodes;)
    {
      guint32 index = ids[i] < n_ids ? by_id[ids[i]] : QUOIT_NO_INDEX, end;
      const guint32 *use;

      if (index == QUOIT_NO_INDEX)
        return refuse_node (fleet, group, i, error);
      ascending &= index >= behind;
      end = run_end (layout, index);
      use = &quoit_fleet_node_chunk (fleet, (QuoitNodeId) { index })->use[index % QUOIT_NODES_PER_CHUNK];
      do
        if (*use++ != QUOIT_USE_NONE)
          return refuse_node (fleet, group, i, error);
      while (++i < n_nodes && ++index < end && ids[i] < n_ids && by_id[ids[i]] == index);
      behind = index;
    }
  /* Runs that go upwards have no node in common; an import may have moved them, and a damaged journal repeats them. */
  if (G_UNLIKELY (!ascending) && names_a_node_twice (group))
    return quoit_fail (error, QUOIT_ERROR_CONFLICT, "group '%s' names a node twice", group->name);
  return TRUE;
}

static gboolean
bundles_fit (const QuoitFleet *fleet, const QuoitGroupData *group, GError **error)
{
  const QuoitLayout *layout = fleet->layout;

  for (guint32 i = 0; i < group->n_nodes; i++)
    {
      guint32 id = group->node_ids[i], index = id < layout->n_ids ? layout->by_id[id] : QUOIT_NO_INDEX, use;

      if (index == QUOIT_NO_INDEX)
        return refuse_node (fleet, group, i, error);
      use = quoit_fleet_node_use (fleet, (QuoitNodeId) { index });
      if ((use != QUOIT_USE_NONE && (use & QUOIT_USE_SHARED) == 0) || use == QUOIT_USE_EXTERNAL
          || !bundle_fits (fleet, (QuoitNodeId) { index }, group, i))
        return refuse_node (fleet, group, i, error);
    }
  return TRUE;
}

static gboolean
nodes_are_free (const QuoitFleet *fleet, const QuoitGroupData *group, GError **error)
{
  return group->bundles == NULL ? whole_nodes_are_free (fleet, group, error) : bundles_fit (fleet, group, error);
}

static inline void
count_whole_nodes (QuoitFleet *fleet, QuoitSettling *settling, guint32 slice, guint32 n, guint32 use)
{
  QuoitSliceStatus *status = quoit_fleet_own_slice (fleet, slice);
  guint16 change = (guint16) (use == QUOIT_USE_NONE ? 0 - n : n);

  status->n_used += change;
  status->n_whole += change;
  status->n_held += change;
  quoit_fleet_settle_next (fleet, settling, slice, status);
}

/* A slice is counted once a run of its nodes, a shelf once a run of its slices. */
static void
set_whole_nodes (QuoitFleet *fleet, const QuoitGroupData *group, guint32 use)
{
  const QuoitLayout *layout = fleet->layout;
  const guint32 *by_id = layout->by_id, *ids = group->node_ids;
  guint32 n_nodes = group->n_nodes;
  QuoitSettling settling = { .shelf = QUOIT_NO_INDEX };

  for (guint32 i = 0; i < n_nodes;)
    {
      guint32 index = by_id[ids[i]], slice = layout->nodes[index].slice, end = run_end (layout, index), first = i;
      guint32 *at = &quoit_fleet_own_nodes (fleet, index)->use[index % QUOIT_NODES_PER_CHUNK];

      do
        *at++ = use;
      while (++i < n_nodes && ++index < end && by_id[ids[i]] == index);
      if (slice != QUOIT_NO_INDEX)
        count_whole_nodes (fleet, &settling, slice, i - first, use);
    }
  quoit_fleet_settle_end (fleet, &settling);
}

static void
recount_slice_of (QuoitFleet *fleet, guint32 node)
{
  if (fleet->layout->nodes[node].slice != QUOIT_NO_INDEX)
    quoit_fleet_recount_slice (fleet, fleet->layout->nodes[node].slice);
}

static void
add_shares (QuoitFleet *fleet, const QuoitGroupData *group, guint32 slot)
{
  for (guint32 i = 0; i < group->n_nodes; i++)
    {
      guint32 index = fleet->layout->by_id[group->node_ids[i]], share = fleet->first_free_share - 1;
      guint32 *use = &quoit_fleet_own_nodes (fleet, index)->use[index % QUOIT_NODES_PER_CHUNK];

      if (fleet->first_free_share == 0)
        {
          share = fleet->n_shares++;
          quoit_table_grow (&fleet->shares, share / QUOIT_SHARES_PER_CHUNK + 1);
        }
      else
        fleet->first_free_share = share_at (fleet, share)->next;
      *own_share (fleet, share) = (QuoitShare) { slot, i, *use == QUOIT_USE_NONE ? 0 : (*use & ~QUOIT_USE_SHARED) + 1 };
      *use = QUOIT_USE_SHARED | share;
      recount_slice_of (fleet, index);
    }
}

static void
remove_shares (QuoitFleet *fleet, const QuoitGroupData *group, guint32 slot)
{
  for (guint32 i = 0; i < group->n_nodes; i++)
    {
      guint32 index = fleet->layout->by_id[group->node_ids[i]];
      guint32 *use = &quoit_fleet_own_nodes (fleet, index)->use[index % QUOIT_NODES_PER_CHUNK];
      guint32 share = *use & ~QUOIT_USE_SHARED, previous = QUOIT_NO_INDEX, next;

      while (share_at (fleet, share)->slot != slot || share_at (fleet, share)->bundle != i)
        {
          previous = share;
          share = share_at (fleet, share)->next - 1;
        }
      next = share_at (fleet, share)->next;
      if (previous != QUOIT_NO_INDEX)
        own_share (fleet, previous)->next = next;
      else
        *use = next == 0 ? QUOIT_USE_NONE : QUOIT_USE_SHARED | (next - 1);
      *own_share (fleet, share) = (QuoitShare) { .next = fleet->first_free_share };
      fleet->first_free_share = share + 1;
      recount_slice_of (fleet, index);
    }
}

/* --- adding and removing --- */

/* The nodes of @slice that a group of it has, written to @ids unless it is NULL; how many. Dead nodes that others have
 * replaced stand in the slice too, but are no part of it. */
static guint32
members_of (const QuoitFleet *fleet, guint32 slice, guint32 *ids)
{
  const QuoitLayout *layout = fleet->layout;
  const QuoitSlice *row = &layout->slices[slice];
  const QuoitClass *class = quoit_layout_slice_class (layout, (QuoitSliceId) { slice });
  gboolean all = class == NULL || class->facts.hosts == row->n_nodes;
  guint32 n = 0;

  if (all && ids == NULL)
    return row->n_nodes;
  for (guint32 i = row->first_node; i < row->first_node + row->n_nodes; i++)
    if (all || quoit_fleet_node_state (fleet, (QuoitNodeId) { i }) != QUOIT_NODE_DEAD)
      {
        if (ids != NULL)
          ids[n] = layout->nodes[i].id;
        n++;
      }
  return n;
}

QuoitGroupData *
quoit_fleet_group_of_slices (const QuoitFleet *fleet, const QuoitGroupData *facts, const guint32 *slices,
                             guint32 n_slices)
{
  QuoitGroupData data = *facts, *group;
  guint32 *slice_end, *node_ids, at = 0;

  data.bundles = NULL;
  data.n_slices = n_slices;
  data.n_nodes = 0;
  for (guint32 i = 0; i < n_slices; i++)
    data.n_nodes += members_of (fleet, slices[i], NULL);
  group = quoit_group_data_alloc (&data, &slice_end, &node_ids);
  for (guint32 i = 0; i < n_slices; i++)
    {
      at += members_of (fleet, slices[i], node_ids + at);
      slice_end[i] = at;
    }
  return group;
}

static gboolean
names_are_free (const QuoitFleet *fleet, const QuoitGroupData *group, GError **error)
{
  if (group->state != QUOIT_GROUP_REMOVED && slot_of_name (fleet, group->name, group->name_hash) != QUOIT_NO_INDEX)
    return quoit_fail (error, QUOIT_ERROR_CONFLICT, "there is a group '%s' already", group->name);
  if (*group->key != '\0' && find_by_key (fleet, group->key, group->key_hash) != NULL)
    return quoit_fail (error, QUOIT_ERROR_CONFLICT, "key '%s' names a group already", group->key);
  return TRUE;
}

gboolean
quoit_fleet_add_group (QuoitFleet *fleet, QuoitGroupData *group, GError **error)
{
  guint32 slot;

  if (group->state == QUOIT_GROUP_REMOVED && group->n_nodes > 0)
    {
      quoit_fail (error, QUOIT_ERROR_CONFLICT, "group '%s' is removed, but has nodes", group->name);
      return quoit_group_data_unref (group), FALSE;
    }
  if (!names_are_free (fleet, group, error)
      || (group->state != QUOIT_GROUP_REMOVED && !nodes_are_free (fleet, group, error)))
    return quoit_group_data_unref (group), FALSE;

  slot = take_slot (fleet, group);
  if (*group->key != '\0')
    quoit_index_add (&fleet->by_key, group->key_hash, slot);
  fleet->n_groups++;
  fleet->next_group_id = MAX (fleet->next_group_id, group->id + 1);
  if (group->state == QUOIT_GROUP_REMOVED)
    return TRUE;

  quoit_index_add (&fleet->by_name, group->name_hash, slot);
  if (group->bundles == NULL)
    set_whole_nodes (fleet, group, slot + 1);
  else
    add_shares (fleet, group, slot);
  return TRUE;
}

/* Makes what @from says of the group's nodes @to, where their source calls them used: what a group explains is not
 * external, and what no group explains any more is again. So how a node is used hangs on what its source says now and
 * on who has it, and not on which came first: the state of a database has forgotten that. */
static void
turn_external (QuoitFleet *fleet, const QuoitGroupData *group, guint32 from, guint32 to)
{
  const QuoitLayout *layout = fleet->layout;

  for (guint32 i = 0; layout->n_external > 0 && i < group->n_nodes; i++)
    {
      guint32 id = group->node_ids[i], index = id < layout->n_ids ? layout->by_id[id] : QUOIT_NO_INDEX;

      if (index == QUOIT_NO_INDEX || (layout->nodes[index].flags & QUOIT_NODE_EXTERNAL) == 0
          || quoit_fleet_node_use (fleet, (QuoitNodeId) { index }) != from)
        continue;
      quoit_fleet_own_nodes (fleet, index)->use[index % QUOIT_NODES_PER_CHUNK] = to;
      recount_slice_of (fleet, index);
    }
}

gboolean
quoit_fleet_restore_group (QuoitFleet *fleet, QuoitGroupData *group, GError **error)
{
  turn_external (fleet, group, QUOIT_USE_EXTERNAL, QUOIT_USE_NONE);
  return quoit_fleet_add_group (fleet, group, error);
}

gboolean
quoit_fleet_remove_group (QuoitFleet *fleet, const char *name, guint64 id, gint64 ended_ms, GError **error)
{
  guint32 slot = slot_of_name (fleet, name, quoit_group_text_hash (name));
  QuoitGroupData *group;

  if (slot == QUOIT_NO_INDEX || quoit_fleet_group_at (fleet, slot)->id != id)
    return quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "no group '%s@%" G_GUINT64_FORMAT "'", name, id);

  group = (QuoitGroupData *) quoit_fleet_group_at (fleet, slot);
  if (group->bundles == NULL)
    set_whole_nodes (fleet, group, QUOIT_USE_NONE);
  else
    remove_shares (fleet, group, slot);
  turn_external (fleet, group, QUOIT_USE_NONE, QUOIT_USE_EXTERNAL);
  quoit_index_remove (&fleet->by_name, group->name_hash, slot);
  if (*group->key != '\0')
    {
      QuoitGroupData removed = *group;

      removed.state = QUOIT_GROUP_REMOVED;
      removed.ended_ms = ended_ms;
      removed.n_slices = removed.n_nodes = 0;
      removed.bundles = NULL;
      own_slot (fleet, slot)->group = quoit_group_data_new (&removed);
      return quoit_group_data_unref (group), TRUE;
    }
  leave_slot (fleet, slot);
  fleet->n_groups--;
  return quoit_group_data_unref (group), TRUE;
}

void
quoit_fleet_adopt_groups (QuoitFleet *fleet, const QuoitFleet *from)
{
  quoit_table_share (&from->shares, &fleet->shares);
  quoit_table_share (&from->groups, &fleet->groups);
  quoit_index_share (&from->by_name, &fleet->by_name);
  quoit_index_share (&from->by_key, &fleet->by_key);
  fleet->n_slots = from->n_slots;
  fleet->first_free_slot = from->first_free_slot;
  fleet->n_shares = from->n_shares;
  fleet->first_free_share = from->first_free_share;
  fleet->n_groups = from->n_groups;
  fleet->seq = from->seq;
  fleet->next_group_id = from->next_group_id;
  fleet->clock_ms = from->clock_ms;
}

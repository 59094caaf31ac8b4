/* SPDX-License-Identifier: Apache-2.0 */
/* The edges from groups to nodes: what is left of a node, whether a group's nodes are free, taking and leaving them. */
#include "model/fleet-private.h"

#include <stdlib.h>
#include <string.h>

const QuoitTableType quoit_shares_type = { .chunk_bytes = QUOIT_SHARES_PER_CHUNK * sizeof (QuoitShare) };

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

gboolean
quoit_fleet_node_is_external (const QuoitFleet *fleet, QuoitNodeId node)
{
  const QuoitGroupData *user;

  for (guint i = 0; (user = quoit_fleet_node_user (fleet, node, i, NULL)) != NULL; i++)
    if (user->kind == QUOIT_HOLDER_EXTERNAL)
      return TRUE;
  return quoit_fleet_node_use (fleet, node) == QUOIT_USE_EXTERNAL;
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
  for (guint i = 0; quoit_fleet_node_user (fleet, node, i, &bundle) != NULL && bundle != NULL; i++)
    subtract (kind, bundle, left, chips);
}

/* How much of the resource @name the bundle takes. */
static gint64
take_of (const QuoitBundle *bundle, const char *name)
{
  gint64 e4 = 0;

  for (guint16 t = 0; t < bundle->n_takes; t++)
    if (strcmp (bundle->takes[t].resource, name) == 0)
      e4 += bundle->takes[t].amount.e4;
  return e4;
}

QuoitAmount
quoit_fleet_node_derived_left (const QuoitFleet *fleet, QuoitNodeId node, guint i)
{
  const char *name = quoit_layout_node_derived (fleet->layout, node, i);
  guint32 use = quoit_fleet_node_use (fleet, node);
  QuoitAmount left = { QUOIT_AMOUNT_UNIT };
  const QuoitGroupData *user;
  const QuoitBundle *bundle;

  if (use == QUOIT_USE_NONE)
    return left;
  if (use == QUOIT_USE_EXTERNAL || (use & QUOIT_USE_SHARED) == 0)
    return (QuoitAmount) { 0 };
  for (guint u = 0; (user = quoit_fleet_node_user (fleet, node, u, &bundle)) != NULL && bundle != NULL; u++)
    /* A group of slices has them, though its bundles name the chips alone. */
    left.e4 -= user->kind == QUOIT_HOLDER_SLICES ? left.e4 : take_of (bundle, name);
  return left;
}

/* Takes of what Ray derives: they are not among the resources of the kind. */
static guint
count_derived_takes (const QuoitFleet *fleet, QuoitNodeId node, const QuoitGroupData *group, guint32 i)
{
  const char *name;
  guint n = 0;

  for (guint d = 0; (name = quoit_layout_node_derived (fleet->layout, node, d)) != NULL; d++)
    {
      gint64 left = quoit_fleet_node_derived_left (fleet, node, d).e4;

      for (guint32 j = 0; j <= i; j++)
        if (group->node_ids[j] == group->node_ids[i])
          left -= take_of (&group->bundles[j], name);
      if (left >= 0)
        for (guint16 t = 0; t < group->bundles[i].n_takes; t++)
          n += strcmp (group->bundles[i].takes[t].resource, name) == 0;
    }
  return n;
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
  if (known != bundle->n_takes && known + count_derived_takes (fleet, node, group, i) != bundle->n_takes)
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

      if (id == 0 && group->kind != QUOIT_HOLDER_SLICES)
        continue;
      if (index == QUOIT_NO_INDEX)
        return refuse_node (fleet, group, i, error);
      use = quoit_fleet_node_use (fleet, (QuoitNodeId) { index });
      if ((use != QUOIT_USE_NONE && (use & QUOIT_USE_SHARED) == 0) || use == QUOIT_USE_EXTERNAL
          || !bundle_fits (fleet, (QuoitNodeId) { index }, group, i))
        return refuse_node (fleet, group, i, error);
    }
  return TRUE;
}

gboolean
quoit_fleet_nodes_are_free (const QuoitFleet *fleet, const QuoitGroupData *group, GError **error)
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

static guint32
new_share (QuoitFleet *fleet)
{
  guint32 share = fleet->first_free_share - 1;

  if (fleet->first_free_share == 0)
    {
      share = fleet->n_shares++;
      quoit_table_grow (&fleet->shares, share / QUOIT_SHARES_PER_CHUNK + 1);
    }
  else
    fleet->first_free_share = share_at (fleet, share)->next;
  return share;
}

static gboolean
stands_before (const QuoitFleet *fleet, const QuoitShare *share, const QuoitGroupData *group, guint32 bundle)
{
  guint64 id = quoit_fleet_group_at (fleet, share->slot)->id;

  return id != group->id ? id < group->id : share->bundle < bundle;
}

/* In the order of groups and their bundles: which one came first is no part of the state, and must not show. */
static void
add_shares (QuoitFleet *fleet, const QuoitGroupData *group, guint32 slot)
{
  for (guint32 i = 0; i < group->n_nodes; i++)
    {
      guint32 index = fleet->layout->by_id[group->node_ids[i]], share, previous = QUOIT_NO_INDEX, next, *use;

      if (group->node_ids[i] == 0)
        continue;
      use = &quoit_fleet_own_nodes (fleet, index)->use[index % QUOIT_NODES_PER_CHUNK];
      share = new_share (fleet);
      next = *use == QUOIT_USE_NONE ? 0 : (*use & ~QUOIT_USE_SHARED) + 1;
      while (next != 0 && stands_before (fleet, share_at (fleet, next - 1), group, i))
        {
          previous = next - 1;
          next = share_at (fleet, previous)->next;
        }
      *own_share (fleet, share) = (QuoitShare) { slot, i, next };
      if (previous != QUOIT_NO_INDEX)
        own_share (fleet, previous)->next = share + 1;
      else
        *use = QUOIT_USE_SHARED | share;
      recount_slice_of (fleet, index);
    }
}

static void
remove_shares (QuoitFleet *fleet, const QuoitGroupData *group, guint32 slot)
{
  for (guint32 i = 0; i < group->n_nodes; i++)
    {
      guint32 index = fleet->layout->by_id[group->node_ids[i]], share, previous = QUOIT_NO_INDEX, next, *use;

      if (group->node_ids[i] == 0)
        continue;
      use = &quoit_fleet_own_nodes (fleet, index)->use[index % QUOIT_NODES_PER_CHUNK];
      share = *use & ~QUOIT_USE_SHARED;
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

void
quoit_fleet_take_nodes (QuoitFleet *fleet, const QuoitGroupData *group, guint32 slot)
{
  if (group->bundles == NULL)
    set_whole_nodes (fleet, group, slot + 1);
  else
    add_shares (fleet, group, slot);
}

void
quoit_fleet_leave_nodes (QuoitFleet *fleet, const QuoitGroupData *group, guint32 slot)
{
  if (group->bundles == NULL)
    set_whole_nodes (fleet, group, QUOIT_USE_NONE);
  else
    remove_shares (fleet, group, slot);
}

/* Makes what @from says of the group's nodes @to, where their source calls them used: what a group explains is not
 * external, and what no group explains any more is again. So how a node is used hangs on what its source says now and
 * on who has it, and not on which came first: the state of a database has forgotten that. */
void
quoit_fleet_turn_external (QuoitFleet *fleet, const QuoitGroupData *group, guint32 from, guint32 to)
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

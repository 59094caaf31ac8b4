/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that groups share: what is left of them, whether bundles fit, and the addition and removal of shares. */
#include "fleet/private.h"

#include <stdlib.h>
#include <string.h>

#include "fleet/resource-names.h"

const QuoitTableType quoit_shares_type = { .chunk_bytes = QUOIT_SHARES_PER_CHUNK * sizeof (QuoitShare) };

static QuoitShare *
own_share (QuoitFleet *fleet, guint32 share)
{
  return (QuoitShare *) quoit_table_own (&fleet->shares, share / QUOIT_SHARES_PER_CHUNK)
         + share % QUOIT_SHARES_PER_CHUNK;
}

/* --- remaining resources of a node --- */

/* Binary search: the resources of a kind are sorted by name. */
static guint16
find_resource (const QuoitNodeKind *kind, const char *name)
{
  guint low = 0, high = kind->n_resources;

  while (low < high)
    {
      guint middle = (low + high) / 2;
      int order = strcmp (kind->resources[middle].name, name);

      if (order == 0)
        return (guint16) middle;
      if (order < 0)
        low = middle + 1;
      else
        high = middle;
    }
  return kind->n_resources;
}

/* Returns how many of the bundle's takes are resources of the kind. */
static guint
subtract (const QuoitNodeKind *kind, const QuoitBundle *bundle, QuoitAmount *left, QuoitChipsLeft *chips)
{
  guint known = 0;

  for (guint16 t = 0; t < bundle->n_takes; t++)
    {
      guint16 r = find_resource (kind, bundle->takes[t].resource);

      if (r == kind->n_resources)
        continue;
      left[r].e4 -= bundle->takes[t].amount.e4;
      known++;
    }
  for (guint c = 0; c < chips->n_chips; c++)
    if ((bundle->chips >> c & 1) != 0)
      chips->chip_e4[c] -= QUOIT_AMOUNT_UNIT;
  if (bundle->part.e4 > 0)
    chips->chip_e4[bundle->chip] -= (gint32) bundle->part.e4;
  return known;
}

void
quoit_fleet_node_left (const QuoitFleet *fleet, QuoitNodeId node, QuoitAmount *left, QuoitChipsLeft *chips)
{
  const QuoitNodeKind *kind = quoit_layout_node_kind (fleet->layout, node);
  guint32 use = quoit_fleet_node_use (fleet, node);
  gboolean whole = use != QUOIT_USE_NONE && (use == QUOIT_USE_EXTERNAL || (use & QUOIT_USE_SHARED) == 0);
  QuoitUsers users = quoit_fleet_node_users (fleet, node);

  chips->n_chips = MIN (kind->chips, G_N_ELEMENTS (chips->chip_e4));
  for (guint c = 0; c < chips->n_chips; c++)
    chips->chip_e4[c] = whole ? 0 : QUOIT_AMOUNT_UNIT;
  for (guint16 r = 0; r < kind->n_resources; r++)
    left[r].e4 = whole ? 0 : kind->resources[r].amount.e4;
  if (whole)
    return;
  while (quoit_fleet_users_next (&users) != NULL)
    subtract (kind, users.bundle, left, chips);
}

/* Returns what is left of the resource @name, whose total is 1. With @goes_with_slices, a group of slices has all of
 * it, although its bundles list only chips. */
static QuoitAmount
left_of_one (const QuoitFleet *fleet, QuoitNodeId node, const char *name, gboolean goes_with_slices)
{
  guint32 use = quoit_fleet_node_use (fleet, node);
  QuoitAmount left = { QUOIT_AMOUNT_UNIT };
  QuoitUsers users = quoit_fleet_node_users (fleet, node);
  const QuoitGroupData *user;

  if (use == QUOIT_USE_NONE)
    return left;
  if (use == QUOIT_USE_EXTERNAL || (use & QUOIT_USE_SHARED) == 0)
    return (QuoitAmount) { 0 };
  while ((user = quoit_fleet_users_next (&users)) != NULL)
    left.e4
        -= user->kind == QUOIT_HOLDER_SLICES && goes_with_slices ? left.e4 : quoit_bundle_take_of (users.bundle, name);
  return left;
}

QuoitAmount
quoit_fleet_node_derived_left (const QuoitFleet *fleet, QuoitNodeId node, guint i)
{
  return left_of_one (fleet, node, quoit_layout_node_derived (fleet->layout, node, i), TRUE);
}

QuoitAmount
quoit_fleet_node_implicit_left (const QuoitFleet *fleet, QuoitNodeId node, const char *name)
{
  return left_of_one (fleet, node, name, FALSE);
}

/* The remaining resources of a node while the bundles of a group are placed on it one by one. */
typedef struct {
  QuoitNodeId node;
  const QuoitNodeKind *kind;
  QuoitAmount *left; /* resources of the kind, then derived resources of Ray that the kind lacks */
  GArray *implicit;  /* of Implicit: those that bundles request; NULL: none so far */
  QuoitChipsLeft chips;
} Room;

typedef struct {
  const char *name;
  QuoitAmount left;
} Implicit;

static void
room_init (Room *room, const QuoitFleet *fleet, QuoitNodeId node)
{
  guint16 n;
  guint n_derived = 0;

  room->node = node;
  room->implicit = NULL;
  room->kind = quoit_layout_node_kind (fleet->layout, node);
  n = room->kind->n_resources;
  while (quoit_layout_node_derived (fleet->layout, node, n_derived) != NULL)
    n_derived++;
  room->left = g_new0 (QuoitAmount, n + n_derived + 1);
  quoit_fleet_node_left (fleet, node, room->left, &room->chips);
  for (guint d = 0; d < n_derived; d++)
    room->left[n + d] = quoit_fleet_node_derived_left (fleet, node, d);
}

static void
room_clear (Room *room)
{
  g_free (room->left);
  g_clear_pointer (&room->implicit, g_array_unref);
}

enum { MANY_USERS = 8 };

/* The remaining resources of a node while several groups are placed on it one by one. */
typedef struct {
  Room room;
  guint32 last; /* share + 1 before those of the next group; 0: unknown */
} KeptRoom;

static void
kept_room_free (gpointer data)
{
  KeptRoom *kept = data;

  room_clear (&kept->room);
  g_free (kept);
}

QuoitFilling *
quoit_filling_new (void)
{
  QuoitFilling *filling = g_new (QuoitFilling, 1);

  filling->rooms = g_hash_table_new_full (NULL, NULL, NULL, kept_room_free);
  filling->slices = g_array_new (FALSE, FALSE, sizeof (guint32));
  return filling;
}

void
quoit_filling_free (QuoitFilling *filling)
{
  g_hash_table_unref (filling->rooms);
  g_array_unref (filling->slices);
  g_free (filling);
}

/* Returns whether the node has so many users that caching is worth the memory. */
static gboolean
is_crowded (const QuoitFleet *fleet, QuoitNodeId node)
{
  QuoitUsers users = quoit_fleet_node_users (fleet, node);
  guint n = 0;

  while (n < MANY_USERS && quoit_fleet_users_next (&users) != NULL)
    n++;
  return n == MANY_USERS;
}

/* Returns NULL if caching is not worthwhile. */
static KeptRoom *
kept_room (QuoitFilling *filling, const QuoitFleet *fleet, QuoitNodeId node)
{
  KeptRoom *kept;

  if (filling == NULL || !is_crowded (fleet, node))
    return NULL;
  kept = g_hash_table_lookup (filling->rooms, GUINT_TO_POINTER (node.index));
  if (kept != NULL)
    return kept;
  kept = g_new0 (KeptRoom, 1);
  room_init (&kept->room, fleet, node);
  g_hash_table_insert (filling->rooms, GUINT_TO_POINTER (node.index), kept);
  return kept;
}

/* A group of slices has all derived resources, although its bundles list only chips. */
static void
take_derived (KeptRoom *kept, const QuoitLayout *layout)
{
  for (guint d = 0; quoit_layout_node_derived (layout, kept->room.node, d) != NULL; d++)
    kept->room.left[kept->room.kind->n_resources + d].e4 = 0;
}

static QuoitAmount *
implicit_left (Room *room, const QuoitFleet *fleet, const char *name)
{
  Implicit fresh = { .name = name };

  if (room->implicit == NULL)
    room->implicit = g_array_new (FALSE, FALSE, sizeof (Implicit));
  for (guint i = 0; i < room->implicit->len; i++)
    if (strcmp (g_array_index (room->implicit, Implicit, i).name, name) == 0)
      return &g_array_index (room->implicit, Implicit, i).left;
  fresh.left = quoit_fleet_node_implicit_left (fleet, room->node, name);
  g_array_append_val (room->implicit, fresh);
  return &g_array_index (room->implicit, Implicit, room->implicit->len - 1).left;
}

/* Returns how many takes of the bundle are implicit resources with enough left. */
static guint
subtract_implicit (Room *room, const QuoitFleet *fleet, const QuoitBundle *bundle)
{
  guint n = 0;

  for (guint16 t = 0; t < bundle->n_takes; t++)
    {
      const QuoitTake *take = &bundle->takes[t];
      QuoitAmount *left;

      if (!quoit_resource_is_implicit (take->resource))
        continue;
      left = implicit_left (room, fleet, take->resource);
      left->e4 -= take->amount.e4;
      n += left->e4 >= 0;
    }
  return n;
}

/* Returns how many takes of the bundle are derived resources with enough left. */
static guint
subtract_derived (const Room *room, const QuoitLayout *layout, const QuoitBundle *bundle)
{
  const char *name;
  guint n = 0;

  for (guint d = 0; (name = quoit_layout_node_derived (layout, room->node, d)) != NULL; d++)
    {
      QuoitAmount *left = &room->left[room->kind->n_resources + d];

      left->e4 -= quoit_bundle_take_of (bundle, name);
      for (guint16 t = 0; t < bundle->n_takes && left->e4 >= 0; t++)
        n += strcmp (bundle->takes[t].resource, name) == 0;
    }
  return n;
}

/* Subtracts the bundle and returns whether it fits: each resource, and each chip separately. */
static gboolean
room_takes (Room *room, const QuoitFleet *fleet, const QuoitBundle *bundle)
{
  QuoitChipsLeft *chips = &room->chips;
  guint known, derived;

  if ((chips->n_chips < 64 && bundle->chips >> chips->n_chips != 0)
      || (bundle->part.e4 > 0 && bundle->chip >= chips->n_chips))
    return FALSE;
  known = subtract (room->kind, bundle, room->left, chips);
  derived = subtract_derived (room, fleet->layout, bundle);
  if (known != bundle->n_takes && known + derived != bundle->n_takes
      && known + derived + subtract_implicit (room, fleet, bundle) != bundle->n_takes)
    return FALSE;
  for (guint16 r = 0; r < room->kind->n_resources; r++)
    if (room->left[r].e4 < 0)
      return FALSE;
  for (guint c = 0; c < chips->n_chips; c++)
    if (chips->chip_e4[c] < 0)
      return FALSE;
  return TRUE;
}

/* --- bundles of a group, by node --- */

typedef struct {
  guint32 node; /* QUOIT_NO_INDEX: not in the fleet */
  guint32 bundle;
} Edge;

static int
by_node (const void *a, const void *b)
{
  const Edge *x = a, *y = b;

  if (x->node != y->node)
    return x->node < y->node ? -1 : 1;
  return (x->bundle > y->bundle) - (x->bundle < y->bundle);
}

/* Returns the placed bundles of @group, sorted by node, so that lookups and searches run once per node, in whatever
 * order the source lists bundles. */
static Edge *
edges_by_node (const QuoitFleet *fleet, const QuoitGroupData *group, guint32 *n)
{
  const QuoitLayout *layout = fleet->layout;
  Edge *edges = g_new0 (Edge, group->n_nodes + 1);
  gboolean ascending = TRUE;

  *n = 0;
  for (guint32 i = 0; i < group->n_nodes; i++)
    {
      guint32 id = group->node_ids[i];

      if (id == 0 && group->kind != QUOIT_HOLDER_SLICES)
        continue;
      edges[*n] = (Edge) { quoit_layout_find_id (layout, id), i };
      ascending &= *n == 0 || edges[*n - 1].node <= edges[*n].node;
      (*n)++;
    }
  if (!ascending)
    qsort (edges, *n, sizeof *edges, by_node);
  return edges;
}

/* Returns the end of the edges to the node of edge @first. */
static guint32
end_of_node (const Edge *edges, guint32 n, guint32 first)
{
  guint32 end = first;

  while (end < n && edges[end].node == edges[first].node)
    end++;
  return end;
}

/* Returns the first bundle of @edges to one node that does not fit, or QUOIT_NO_INDEX. */
static guint32
misfit_of_node (const QuoitFleet *fleet, const QuoitGroupData *group, const Edge *edges, guint32 n,
                QuoitFilling *filling)
{
  QuoitNodeId node = { edges->node };
  guint32 use = node.index == QUOIT_NO_INDEX ? QUOIT_USE_EXTERNAL : quoit_fleet_node_use (fleet, node), e = 0;
  KeptRoom *kept;
  Room own, *room = &own;

  if ((use != QUOIT_USE_NONE && (use & QUOIT_USE_SHARED) == 0) || use == QUOIT_USE_EXTERNAL)
    return edges->bundle;
  kept = kept_room (filling, fleet, node);
  if (kept != NULL)
    room = &kept->room;
  else
    room_init (room, fleet, node);
  while (e < n && room_takes (room, fleet, &group->bundles[edges[e].bundle]))
    e++;
  if (kept == NULL)
    room_clear (room);
  return e < n ? edges[e].bundle : QUOIT_NO_INDEX;
}

guint32
quoit_fleet_first_misfit (const QuoitFleet *fleet, const QuoitGroupData *group, QuoitFilling *filling)
{
  guint32 n, first = QUOIT_NO_INDEX;
  g_autofree Edge *edges = edges_by_node (fleet, group, &n);

  for (guint32 e = 0, end; e < n; e = end)
    {
      guint32 misfit;

      end = end_of_node (edges, n, e);
      misfit = misfit_of_node (fleet, group, edges + e, end - e, filling);
      first = MIN (first, misfit);
    }
  return first;
}

/* --- addition and removal --- */

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
    fleet->first_free_share = quoit_fleet_share_at (fleet, share)->next;
  return share;
}

/* Returns the share + 1 after @share in the node's list, or the first one if @share is QUOIT_NO_INDEX; 0 at the end. */
static guint32
share_behind (const QuoitFleet *fleet, guint32 node, guint32 share)
{
  guint32 use = quoit_fleet_node_use (fleet, (QuoitNodeId) { node });

  if (share != QUOIT_NO_INDEX)
    return quoit_fleet_share_at (fleet, share)->next;
  return use == QUOIT_USE_NONE ? 0 : (use & ~QUOIT_USE_SHARED) + 1;
}

/* Sets what share_behind() returns for @share. */
static void
link_behind (QuoitFleet *fleet, guint32 node, guint32 share, guint32 next)
{
  if (share != QUOIT_NO_INDEX)
    own_share (fleet, share)->next = next;
  else
    quoit_fleet_own_nodes (fleet, node)->use[node % QUOIT_NODES_PER_CHUNK]
        = next == 0 ? QUOIT_USE_NONE : QUOIT_USE_SHARED | (next - 1);
}

/* Returns the share after which those of group @id belong; QUOIT_NO_INDEX if they come first. Shares are sorted by
 * group and bundle, because the order of their creation is not part of the state and must not be visible. */
static guint32
share_before (const QuoitFleet *fleet, guint32 node, guint64 id)
{
  guint32 share = QUOIT_NO_INDEX, next;

  while ((next = share_behind (fleet, node, share)) != 0
         && quoit_fleet_group_at (fleet, quoit_fleet_share_at (fleet, next - 1)->slot)->id < id)
    share = next - 1;
  return share;
}

/* Recounts a slice once, after its last edge. The edges to nodes of a slice are adjacent. */
static void
recount_at_end (QuoitFleet *fleet, const Edge *edges, guint32 n, guint32 end)
{
  const QuoitNode *nodes = fleet->layout->nodes;
  guint32 slice = nodes[edges[end - 1].node].slice;

  if (slice != QUOIT_NO_INDEX && (end == n || nodes[edges[end].node].slice != slice))
    quoit_fleet_recount_slice (fleet, slice);
}

void
quoit_fleet_add_shares (QuoitFleet *fleet, const QuoitGroupData *group, guint32 slot, QuoitFilling *filling)
{
  guint32 n;
  g_autofree Edge *edges = edges_by_node (fleet, group, &n);

  for (guint32 e = 0, end; e < n; e = end)
    {
      guint32 node = edges[e].node, previous, behind;
      KeptRoom *kept = kept_room (filling, fleet, (QuoitNodeId) { node });

      previous = kept != NULL && kept->last != 0 ? kept->last - 1 : share_before (fleet, node, group->id);
      behind = share_behind (fleet, node, previous);
      end = end_of_node (edges, n, e);
      for (guint32 i = e; i < end; i++)
        {
          guint32 share = new_share (fleet);

          link_behind (fleet, node, previous, share + 1);
          *own_share (fleet, share) = (QuoitShare) { slot, edges[i].bundle, behind };
          previous = share;
        }
      if (kept != NULL)
        kept->last = previous + 1;
      if (kept != NULL && group->kind == QUOIT_HOLDER_SLICES)
        take_derived (kept, fleet->layout);
      if (filling != NULL)
        g_array_append_val (filling->slices, fleet->layout->nodes[node].slice);
      else
        recount_at_end (fleet, edges, n, end);
    }
}

void
quoit_fleet_remove_shares (QuoitFleet *fleet, const QuoitGroupData *group)
{
  guint32 n;
  g_autofree Edge *edges = edges_by_node (fleet, group, &n);

  for (guint32 e = 0, end; e < n; e = end)
    {
      guint32 node = edges[e].node, previous = share_before (fleet, node, group->id),
              next = share_behind (fleet, node, previous);

      end = end_of_node (edges, n, e);
      for (guint32 i = e; i < end; i++)
        {
          QuoitShare *share = own_share (fleet, next - 1);
          guint32 gone = next;

          next = share->next;
          *share = (QuoitShare) { .next = fleet->first_free_share };
          fleet->first_free_share = gone;
        }
      link_behind (fleet, node, previous, next);
      recount_at_end (fleet, edges, n, end);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of which groups have parts: what is left of them, whether a group's bundles fit, taking and leaving them. */
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

/* --- what is left of a node --- */

/* Resources of a kind are sorted by name. */
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

/* How many of the bundle's takes are resources of the kind. */
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

/* What is left of 1 of the resource @name. @goes_with_slices: a group of slices has all of it, though its bundles name
 * the chips alone. */
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

/* What is left of a node while the bundles of a group are placed there one after the other. */
typedef struct {
  QuoitNodeId node;
  const QuoitNodeKind *kind;
  QuoitAmount *left; /* of the kind's resources, then of what Ray derives, which is not among them */
  GArray *implicit;  /* of Implicit, that bundles asked for; NULL: none */
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

/* What is left of a node while groups are placed there one after the other. */
typedef struct {
  Room room;
  guint32 last; /* share + 1 behind which the next group's stand; 0: to be looked for */
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

/* Whether so many use the node that looking at all of them again and again is worth more than the memory. */
static gboolean
is_crowded (const QuoitFleet *fleet, QuoitNodeId node)
{
  QuoitUsers users = quoit_fleet_node_users (fleet, node);
  guint n = 0;

  while (n < MANY_USERS && quoit_fleet_users_next (&users) != NULL)
    n++;
  return n == MANY_USERS;
}

/* NULL where it is not worth it. */
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

/* Slices have all of what Ray derives, though their bundles name the chips alone. */
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

/* How many takes of the bundle are of what every node has, and still there. */
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

/* How many takes of the bundle are of what Ray derives, and there. */
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

/* Whether the bundle fits into what is left: each amount, and each chip by itself. */
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

/* --- a group's bundles, node by node --- */

typedef struct {
  guint32 node; /* QUOIT_NO_INDEX: it is not in the fleet */
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

/* The bundles of @group that are placed, node by node: what is looked up or looked for on a node is so once, however
 * many bundles there are and however a source lists them. */
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

/* Where the edges to the node of the one at @first end. */
static guint32
end_of_node (const Edge *edges, guint32 n, guint32 first)
{
  guint32 end = first;

  while (end < n && edges[end].node == edges[first].node)
    end++;
  return end;
}

/* The first bundle that does not fit, of @edges to one node; QUOIT_NO_INDEX: all do. */
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

/* --- taking and leaving --- */

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

/* The share + 1 that begins the node's list, and the one behind @share of it; 0: none. */
static guint32
share_behind (const QuoitFleet *fleet, guint32 node, guint32 share)
{
  guint32 use = quoit_fleet_node_use (fleet, (QuoitNodeId) { node });

  if (share != QUOIT_NO_INDEX)
    return quoit_fleet_share_at (fleet, share)->next;
  return use == QUOIT_USE_NONE ? 0 : (use & ~QUOIT_USE_SHARED) + 1;
}

/* Makes @next what share_behind() says of @share. */
static void
link_behind (QuoitFleet *fleet, guint32 node, guint32 share, guint32 next)
{
  if (share != QUOIT_NO_INDEX)
    own_share (fleet, share)->next = next;
  else
    quoit_fleet_own_nodes (fleet, node)->use[node % QUOIT_NODES_PER_CHUNK]
        = next == 0 ? QUOIT_USE_NONE : QUOIT_USE_SHARED | (next - 1);
}

/* The share behind which those of group @id stand, or would; QUOIT_NO_INDEX: they are the first. Shares stand in the
 * order of groups and their bundles: which one came first is no part of the state, and must not show. */
static guint32
share_before (const QuoitFleet *fleet, guint32 node, guint64 id)
{
  guint32 share = QUOIT_NO_INDEX, next;

  while ((next = share_behind (fleet, node, share)) != 0
         && quoit_fleet_group_at (fleet, quoit_fleet_share_at (fleet, next - 1)->slot)->id < id)
    share = next - 1;
  return share;
}

/* Once behind all edges to nodes of one slice, which stand together as its nodes do. */
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

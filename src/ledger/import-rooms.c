/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/import-rooms.h"

#include <string.h>

#include "fleet/kind.h"

void
quoit_import_rooms_init (QuoitImportRooms *rooms, const QuoitDifference *difference)
{
  rooms->difference = difference;
  rooms->nodes = quoit_claims_nodes (difference->claims, &rooms->n_nodes);
  rooms->rooms = g_new0 (QuoitImportRoom *, rooms->n_nodes + 1);
  rooms->heads = g_ptr_array_new_with_free_func (g_free);
}

void
quoit_import_rooms_clear (QuoitImportRooms *rooms)
{
  for (guint32 i = 0; i < rooms->n_nodes; i++)
    if (rooms->rooms[i] != NULL)
      {
        g_free (rooms->rooms[i]->left);
        g_free (rooms->rooms[i]->explained);
        g_free (rooms->rooms[i]->own);
        g_free (rooms->rooms[i]->rest);
        g_array_unref (rooms->rooms[i]->wishes);
        g_free (rooms->rooms[i]);
      }
  g_free (rooms->rooms);
  g_ptr_array_unref (rooms->heads);
}

int
quoit_import_room_place (const QuoitImportRoom *room, const char *resource)
{
  for (guint16 r = 0; r < room->kind->n_resources; r++)
    if (strcmp (room->kind->resources[r].name, resource) == 0)
      return r;
  for (int d = 0; d < 2; d++)
    if (g_strcmp0 (room->derived[d], resource) == 0)
      return room->kind->n_resources + d;
  return -1;
}

gint64
quoit_import_room_chips_e4 (const QuoitImportRoom *room, QuoitAmount tpu)
{
  return quoit_chips_e4 (tpu, room->tpu_per_chip_e4);
}

static void
take_share (QuoitImportRoom *room, const QuoitBundle *bundle, gboolean is_explained)
{
  for (guint16 t = 0; t < bundle->n_takes; t++)
    {
      int place = quoit_import_room_place (room, bundle->takes[t].resource);

      if (place < 0)
        continue;
      room->left[place].e4 -= bundle->takes[t].amount.e4;
      if (is_explained)
        room->explained[place].e4 += bundle->takes[t].amount.e4;
    }
  quoit_chips_take (&room->chips, bundle);
}

guint32
quoit_import_id_after (const QuoitDifference *difference, guint32 id)
{
  const QuoitLayout *layout = difference->fleet->layout;
  guint32 index = quoit_layout_find_id (layout, id);
  guint32 moved = GPOINTER_TO_UINT (g_hash_table_lookup (difference->moved, GUINT_TO_POINTER (id)));

  if (moved != 0)
    return moved;
  return index != QUOIT_NO_INDEX && difference->changed[index] ? 0 : id;
}

/* Takes the share of a bundle of this ledger. The source's bundles of the same amount are later attributed to it. */
static void
take_own_share (QuoitImportRoom *room, const QuoitBundle *bundle)
{
  if (room->own == NULL)
    room->own = g_new0 (QuoitAmount, room->kind->n_resources + 2);
  take_share (room, bundle, TRUE);
  for (guint16 t = 0; t < bundle->n_takes; t++)
    {
      int place = quoit_import_room_place (room, bundle->takes[t].resource);

      if (place >= 0)
        room->own[place].e4 += bundle->takes[t].amount.e4;
    }
}

/* Takes the shares of groups that stay on the node: groups of this ledger, and groups and use of the source if it
 * did not report them. @id: 0 for no node. */
static void
take_users (const QuoitDifference *difference, QuoitImportRoom *room, guint32 id)
{
  const QuoitFleet *fleet = difference->fleet;
  guint scope = quoit_claims_scope (difference->claims);
  guint32 index = quoit_layout_find_id (fleet->layout, id);
  const QuoitGroupData *user;
  QuoitUsers users;

  if (index == QUOIT_NO_INDEX)
    return;
  users = quoit_fleet_node_users (fleet, (QuoitNodeId) { index });
  while ((user = quoit_fleet_users_next (&users)) != NULL)
    {
      gboolean is_external = user->kind == QUOIT_HOLDER_EXTERNAL;

      if (*user->source == '\0' && user->kind == QUOIT_HOLDER_BUNDLES)
        take_own_share (room, users.bundle);
      else if (*user->source == '\0')
        room->is_taken = TRUE;
      else if ((scope & (is_external ? QUOIT_CLAIMS_SAY_EXTERNAL : QUOIT_CLAIMS_SAY_GROUPS)) == 0
               && quoit_import_id_after (difference, id) != 0)
        take_share (room, users.bundle, !is_external);
    }
}

/* Takes the shares of the users of the node, and of those that move to it from their previous node. */
static void
take_all_users (const QuoitDifference *difference, QuoitImportRoom *room, guint32 id)
{
  take_users (difference, room, id);
  take_users (difference, room, GPOINTER_TO_UINT (g_hash_table_lookup (difference->moved_from, GUINT_TO_POINTER (id))));
}

/* Sets the names of the resources that Ray adds. They contain the slice name, which another source may determine. */
static void
name_derived (QuoitImportRooms *rooms, QuoitImportRoom *room, guint32 node)
{
  const QuoitLayout *layout = rooms->difference->fleet->layout;
  guint32 index = rooms->difference->at[node];
  const char *slice = rooms->nodes[node].slice;
  gint32 worker = rooms->nodes[node].worker_id;

  if (index != QUOIT_NO_INDEX && quoit_difference_stands_elsewhere (rooms->difference, index))
    {
      slice = quoit_layout_node_slice_name (layout, (QuoitNodeId) { index });
      worker = layout->nodes[index].worker_id;
    }
  room->derived[0] = slice;
  if (slice == NULL || worker != 0 || room->kind->pod_type == NULL)
    return;
  g_ptr_array_add (rooms->heads, g_strdup_printf ("TPU-%s-head", room->kind->pod_type));
  room->derived[1] = rooms->heads->pdata[rooms->heads->len - 1];
}

QuoitImportRoom *
quoit_import_room (QuoitImportRooms *rooms, guint32 node)
{
  const QuoitNodeClaim *claim = &rooms->nodes[node];
  QuoitImportRoom *room = rooms->rooms[node];

  if (room != NULL)
    return room;
  room = rooms->rooms[node] = g_new0 (QuoitImportRoom, 1);
  room->kind = quoit_claims_kind_at (rooms->difference->claims, claim->kind);
  room->chips.n = MIN (room->kind->chips, G_N_ELEMENTS (room->chips.e4));
  room->left = g_new0 (QuoitAmount, room->kind->n_resources + 2);
  room->explained = g_new0 (QuoitAmount, room->kind->n_resources + 2);
  room->wishes = g_array_new (FALSE, FALSE, sizeof (QuoitChipWish));
  for (guint c = 0; c < room->chips.n; c++)
    room->chips.e4[c] = QUOIT_AMOUNT_UNIT;
  for (guint16 r = 0; r < room->kind->n_resources; r++)
    room->left[r] = room->kind->resources[r].amount;
  room->tpu_per_chip_e4 = quoit_node_kind_tpu_per_chip (room->kind).e4;
  name_derived (rooms, room, node);
  for (guint d = 0; d < 2; d++)
    room->left[room->kind->n_resources + d].e4 = QUOIT_AMOUNT_UNIT;
  take_all_users (rooms->difference, room, rooms->difference->claim_ids[node]);
  if (room->own != NULL)
    room->rest = g_memdup2 (room->left, (room->kind->n_resources + 2) * sizeof *room->left);
  return room;
}

void
quoit_import_rooms_share_out (QuoitImportRooms *rooms)
{
  for (guint32 i = 0; i < rooms->n_nodes; i++)
    if (rooms->rooms[i] != NULL)
      {
        GArray *wishes = rooms->rooms[i]->wishes;
        guint steps = QUOIT_CHIPS_STEPS;

        rooms->rooms[i]->chips_fit = quoit_chips_share_out (
            &rooms->rooms[i]->chips, (QuoitChipWish *) (void *) wishes->data, wishes->len, &steps);
      }
}

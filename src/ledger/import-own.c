/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the bundles of a source that are bundles of this ledger. A caller that reserves bundles here usually places
 * them in Ray afterwards, so that both are the same. The source's bundles count as this ledger's as far as this
 * ledger's amounts on the node cover them. Bundles that the source had before, and bundles for which the node has
 * further capacity, are the source's own. */
#include <string.h>

#include "ledger/import-rooms.h"

/* Whether @take helps to identify a bundle. Memory does not, because lists round it. *@place is set to the resource. */
static gboolean
is_counted (const QuoitImportRoom *room, const QuoitResource *take, int *place)
{
  *place = quoit_import_room_place (room, take->name);
  return *place >= 0 && strcmp (take->name, "memory") != 0 && strcmp (take->name, "object_store_memory") != 0;
}

/* Subtracts @claim from @from, amounts of @room. Returns FALSE and changes nothing if they do not suffice. */
static gboolean
take_whole (const QuoitImportRoom *room, const QuoitBundleClaim *claim, QuoitAmount *from)
{
  int place;

  for (guint16 t = 0; t < claim->n_takes; t++)
    if (is_counted (room, &claim->takes[t], &place) && claim->takes[t].amount.e4 > from[place].e4)
      return FALSE;
  for (guint16 t = 0; t < claim->n_takes; t++)
    if (is_counted (room, &claim->takes[t], &place))
      from[place].e4 -= claim->takes[t].amount.e4;
  return TRUE;
}

static gboolean
is_covered (QuoitImportRoom *room, const QuoitBundleClaim *claim)
{
  int place;

  if (!take_whole (room, claim, room->own))
    return FALSE;
  /* The source reports these amounts for a group, so they are not part of its external use. */
  for (guint16 t = 0; t < claim->n_takes; t++)
    if (is_counted (room, &claim->takes[t], &place))
      room->explained[place].e4 -= claim->takes[t].amount.e4;
  return TRUE;
}

static gboolean
takes_the_same (const QuoitImportRoom *room, const QuoitBundleClaim *claim, const QuoitBundle *bundle)
{
  guint n = 0;
  int place;

  for (guint16 t = 0; t < claim->n_takes; t++)
    {
      gboolean found = !is_counted (room, &claim->takes[t], &place);

      n += !found;
      for (guint16 b = 0; b < bundle->n_takes && !found; b++)
        found = strcmp (bundle->takes[b].resource, claim->takes[t].name) == 0
                && bundle->takes[b].amount.e4 == claim->takes[t].amount.e4;
      if (!found)
        return FALSE;
    }
  return n > 0;
}

/* Returns the room of the node of @claim if bundles of this ledger are on it, otherwise NULL. */
static QuoitImportRoom *
shared_room (QuoitImportRooms *rooms, const QuoitBundleClaim *claim)
{
  QuoitImportRoom *room;

  if (claim->node == QUOIT_NOT_PLACED || rooms->nodes[claim->node].state == QUOIT_NODE_DEAD)
    return NULL;
  room = quoit_import_room (rooms, claim->node);
  return room->is_taken || room->own == NULL ? NULL : room;
}

/* Adds to @kept the bundles of @group that have the same amounts on the same nodes as bundles of @before. Both lists
 * are in the order of the group. */
static void
keep_standing (QuoitImportRooms *rooms, const QuoitGroupClaim *group, const QuoitGroupData *before, GHashTable *kept)
{
  guint32 at = 0;

  for (guint32 i = 0; i < group->n_bundles && at < before->n_nodes; i++)
    {
      const QuoitBundleClaim *claim = &group->bundles[i];
      QuoitImportRoom *room = shared_room (rooms, claim);
      guint32 id = claim->node == QUOIT_NOT_PLACED ? 0 : rooms->difference->claim_ids[claim->node], b = at;

      /* Skipped bundles of @before are those that Ray has given up since. */
      while (b < before->n_nodes
             && (before->node_ids[b] != id || (room != NULL && !takes_the_same (room, claim, &before->bundles[b]))))
        b++;
      if (b == before->n_nodes)
        continue;
      at = b + 1;
      if (room != NULL && take_whole (room, claim, room->rest))
        g_hash_table_add (kept, (gpointer) claim);
    }
}

GHashTable *
quoit_import_own (QuoitImportRooms *rooms, GHashTable *mine)
{
  g_autoptr (GHashTable) kept = g_hash_table_new (NULL, NULL);
  GHashTable *own = g_hash_table_new (NULL, NULL);
  guint32 n;
  const QuoitGroupClaim *groups = quoit_claims_groups (rooms->difference->claims, &n);

  for (guint32 g = 0; g < n; g++)
    {
      const QuoitGroupData *before = g_hash_table_lookup (mine, groups[g].identity);

      if (before != NULL)
        keep_standing (rooms, &groups[g], before, kept);
    }
  for (guint32 g = 0; g < n; g++)
    for (guint32 i = 0; i < groups[g].n_bundles; i++)
      {
        const QuoitBundleClaim *claim = &groups[g].bundles[i];
        QuoitImportRoom *room = shared_room (rooms, claim);

        if (room != NULL && !g_hash_table_contains (kept, claim)
            && (is_covered (room, claim) || !take_whole (room, claim, room->rest)))
          g_hash_table_add (own, (gpointer) claim);
      }
  return own;
}

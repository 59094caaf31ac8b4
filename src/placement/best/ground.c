/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/best/ground.h"

#include <stdlib.h>

/* The unit of volumes. */
enum { WHOLE = 1 << 20 };

/* A node of the case, before blocks are formed. */
typedef struct {
  guint32 slice, room, place;
  guint64 volume;
} Spot;

static guint64
part_of (gint64 amount, gint64 most)
{
  return most == 0 ? 0 : (guint64) ((__int128) MIN (amount, most) * WHOLE / most);
}

static guint64
room_volume (const QuoitBestCase *it, const gint64 *most, guint32 room)
{
  const gint64 *left = quoit_best_room (it->question, room)->left;
  guint64 volume = 0;

  for (guint32 r = 0; r < it->question->bundles->n_resources; r++)
    volume += part_of (left[r], most[r]);
  return volume;
}

static gint64 *
add_up (const QuoitBestCase *it)
{
  guint32 n_resources = it->question->bundles->n_resources;
  gint64 *most = g_new0 (gint64, n_resources + 1);

  for (guint32 r = 0; r < n_resources; r++)
    {
      __int128 sum = 0;

      for (guint32 k = 0; k < it->n_kinds; k++)
        sum += (__int128) quoit_best_amounts (it->question, it->asks[k])[r] * it->counts[k];
      most[r] = (gint64) MIN (sum, G_MAXINT64);
    }
  return most;
}

/* Sorts by slice, nodes in no slice first. Within a slice, sorts by volume, the largest first, then by room. */
static int
by_block (const void *a, const void *b)
{
  const Spot *x = a, *y = b;

  if (x->slice != y->slice)
    return x->slice + 1 < y->slice + 1 ? -1 : 1;
  if (x->volume != y->volume)
    return x->volume > y->volume ? -1 : 1;
  if (x->room != y->room)
    return x->room < y->room ? -1 : 1;
  return (x->place > y->place) - (x->place < y->place);
}

static Spot *
sorted_spots (const QuoitBestCase *it, const gint64 *most, QuoitStrategy strategy)
{
  Spot *spots = g_new (Spot, it->n_nodes + 1);
  g_autoptr (GArray) volumes = g_array_new (FALSE, TRUE, sizeof (guint64)); /* of each room: volume + 1; 0: unknown */

  for (guint32 p = 0; p < it->n_nodes; p++)
    {
      guint32 room = quoit_best_case_room (it, p);
      guint64 *volume;

      if (room >= volumes->len)
        g_array_set_size (volumes, room + 1);
      volume = &g_array_index (volumes, guint64, room);
      if (*volume == 0)
        *volume = room_volume (it, most, room) + 1;
      spots[p] = (Spot) { strategy == QUOIT_STRATEGY_PACK ? quoit_best_case_slice (it, p) : QUOIT_NO_INDEX, room, p,
                          *volume };
    }
  qsort (spots, it->n_nodes, sizeof *spots, by_block);
  return spots;
}

/* Returns which part of the total request the nodes of the slice can hold, limited to all of it: a slice that
 * suffices is as good as a larger one. */
static guint64
stand_volume (const QuoitBestCase *it, const QuoitBestGround *ground, const QuoitBestStand *stand)
{
  guint64 volume = 0;

  for (guint32 r = 0; r < it->question->bundles->n_resources; r++)
    {
      __int128 sum = 0;

      for (guint32 b = stand->first_block; b < stand->first_block + stand->n_blocks; b++)
        sum += (__int128) quoit_best_room (it->question, ground->blocks[b].room)->left[r] * ground->blocks[b].n;
      volume += part_of ((gint64) MIN (sum, G_MAXINT64), ground->most[r]);
    }
  return volume;
}

/* Returns a number that is equal for slices with equal blocks. */
static guint32
family_of (const QuoitBestGround *ground, const QuoitBestStand *stand, QuoitRows *families)
{
  g_autofree gint64 *row = g_new (gint64, 1 + 2 * (gsize) stand->n_blocks);
  guint32 at = 0;

  row[at++] = stand->counts;
  for (guint32 b = stand->first_block; b < stand->first_block + stand->n_blocks; b++)
    {
      row[at++] = ground->blocks[b].room;
      row[at++] = ground->blocks[b].n;
    }
  return quoit_rows_intern (families, row, at);
}

static void
put_together (const QuoitBestCase *it, QuoitBestGround *ground, const Spot *spots)
{
  for (guint32 i = 0; i < it->n_nodes; i++)
    {
      gboolean new_stand = i == 0 || spots[i].slice != spots[i - 1].slice;
      QuoitBestStand *stand;

      if (new_stand)
        ground->stands[ground->n_stands++] = (QuoitBestStand) { .first_block = ground->n_blocks,
                                                                .first_place = spots[i].place,
                                                                .counts = spots[i].slice != QUOIT_NO_INDEX,
                                                                .largest = spots[i].volume };
      stand = &ground->stands[ground->n_stands - 1];
      if (new_stand || spots[i].room != spots[i - 1].room)
        {
          ground->blocks[ground->n_blocks++] = (QuoitBestBlock) { .room = spots[i].room, .first = i };
          stand->n_blocks++;
        }
      ground->blocks[ground->n_blocks - 1].n++;
      stand->n_nodes++;
      stand->largest_ones += spots[i].volume == stand->largest ? stand->largest : 0;
      stand->first_place = MIN (stand->first_place, spots[i].place);
      ground->places[i] = spots[i].place;
    }
}

/* Nodes in no slice come first, because they add no slice. Slices with the largest nodes come next, because few of
 * these are needed, and before others those with several such nodes. */
static int
by_family (const void *a, const void *b)
{
  const QuoitBestStand *x = a, *y = b;

  if (x->counts != y->counts)
    return x->counts < y->counts ? -1 : 1;
  if (x->largest != y->largest)
    return x->largest > y->largest ? -1 : 1;
  if (x->largest_ones != y->largest_ones)
    return x->largest_ones > y->largest_ones ? -1 : 1;
  if (x->volume != y->volume)
    return x->volume > y->volume ? -1 : 1;
  if (x->family != y->family)
    return x->family < y->family ? -1 : 1;
  return (x->first_place > y->first_place) - (x->first_place < y->first_place);
}

static void
sort_stands (const QuoitBestCase *it, QuoitBestGround *ground)
{
  g_autoptr (QuoitRows) families = quoit_rows_new ();

  for (guint32 s = 0; s < ground->n_stands; s++)
    {
      ground->stands[s].volume = stand_volume (it, ground, &ground->stands[s]);
      ground->stands[s].largest_ones = MIN (ground->stands[s].largest_ones, ground->stands[s].volume);
      ground->stands[s].family = family_of (ground, &ground->stands[s], families);
    }
  qsort (ground->stands, ground->n_stands, sizeof *ground->stands, by_family);
  for (guint32 s = 0, before = QUOIT_NO_INDEX; s < ground->n_stands; s++)
    {
      QuoitBestStand *stand = &ground->stands[s];

      if (stand->family != before)
        ground->families[ground->n_families++].first = s;
      before = stand->family;
      stand->family = ground->n_families - 1;
      ground->families[stand->family].n++;
      for (guint32 b = stand->first_block; b < stand->first_block + stand->n_blocks; b++)
        ground->blocks[b].stand = s;
    }
}

QuoitBestGround *
quoit_best_ground_new (const QuoitBestCase *it, QuoitStrategy strategy)
{
  QuoitBestGround *ground = g_new0 (QuoitBestGround, 1);
  g_autofree Spot *spots = NULL;

  ground->most = add_up (it);
  spots = sorted_spots (it, ground->most, strategy);
  ground->places = g_new (guint32, it->n_nodes + 1);
  ground->blocks = g_new0 (QuoitBestBlock, it->n_nodes + 1);
  ground->stands = g_new0 (QuoitBestStand, it->n_nodes + 1);
  ground->families = g_new0 (QuoitBestFamily, it->n_nodes + 1);
  put_together (it, ground, spots);
  sort_stands (it, ground);
  return ground;
}

void
quoit_best_ground_free (QuoitBestGround *ground)
{
  if (ground == NULL)
    return;
  g_free (ground->places);
  g_free (ground->blocks);
  g_free (ground->stands);
  g_free (ground->families);
  g_free (ground->most);
  g_free (ground);
}

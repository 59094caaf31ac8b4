/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the cubes of slices one after the other. */
#include "placement/cubes/cubes.h"

#include <stdlib.h>

#include "base/time.h"
#include "placement/cubes/costs.h"
#include "placement/cut/cutting.h"
#include "placement/cut/later.h"
#include "placement/ends.h"

enum { N_COMPARED = 4 }; /* cheapest blocks whose costs over time are compared */

void
quoit_joined_init (QuoitJoined *joined)
{
  joined->boxes = g_array_new (FALSE, FALSE, sizeof (QuoitShape));
  joined->cubes = g_array_new (FALSE, FALSE, sizeof (guint32));
}

void
quoit_joined_clear (QuoitJoined *joined)
{
  g_clear_pointer (&joined->boxes, g_array_unref);
  g_clear_pointer (&joined->cubes, g_array_unref);
}

/* --- blocks as a heap --- */

/* A block that can hold a slice. */
typedef struct {
  guint64 cost;   /* of the cheapest place, or the rank of the block for other policies than the best one */
  guint32 n_free; /* cubes */
  guint32 block;
  QuoitPlace place; /* of adjacent cubes */
} Offer;

typedef struct {
  const QuoitCubing *cubing;
  QuoitCubeSet *set;
  QuoitCubeSizes sizes;
  GArray *offers;                 /* of Offer: a heap, the cheapest first */
  gint64 times_ms[QUOIT_N_LATER]; /* when costs are compared over time */
  gboolean is_over_time;
} Choice;

static Offer *
offer_at (const Choice *choice, guint index)
{
  return &g_array_index (choice->offers, Offer, index);
}

static gboolean
is_before (const Offer *a, const Offer *b)
{
  if (a->cost != b->cost)
    return a->cost < b->cost;
  return a->n_free != b->n_free ? a->n_free < b->n_free : a->block < b->block;
}

static void
exchange (const Choice *choice, guint a, guint b)
{
  const Offer offer = *offer_at (choice, a);

  *offer_at (choice, a) = *offer_at (choice, b);
  *offer_at (choice, b) = offer;
}

static void
sift (const Choice *choice, guint index)
{
  const guint n = choice->offers->len;

  while (index > 0 && is_before (offer_at (choice, index), offer_at (choice, (index - 1) / 2)))
    {
      exchange (choice, index, (index - 1) / 2);
      index = (index - 1) / 2;
    }
  for (guint child; (child = 2 * index + 1) < n; index = child)
    {
      if (child + 1 < n && is_before (offer_at (choice, child + 1), offer_at (choice, child)))
        child++;
      if (!is_before (offer_at (choice, child), offer_at (choice, index)))
        return;
      exchange (choice, index, child);
    }
}

/* --- the cost of a block --- */

static guint64
rank (const Choice *choice, const Offer *offer)
{
  switch (choice->cubing->request->place)
    {
    case QUOIT_PLACE_PACK:
      return offer->n_free;
    case QUOIT_PLACE_SPREAD:
      return G_MAXUINT32 - offer->n_free;
    case QUOIT_PLACE_FIRST:
    case QUOIT_PLACE_BEST:
    default:
      return offer->block;
    }
}

/* Finds the cheapest place of adjacent cubes; for other policies than the best one, the first. */
static gboolean
find_place (const Choice *choice, Offer *offer)
{
  const QuoitCubing *cubing = choice->cubing;
  QuoitCubeCosts *costs;
  QuoitHostSet free;
  QuoitGrid grid;
  gboolean is_found;

  if (!quoit_cubing_grid (cubing, offer->block, &grid))
    return FALSE;
  quoit_cubing_list_positions (cubing, choice->set, offer->block, &grid, &free);
  if (cubing->request->place != QUOIT_PLACE_BEST)
    {
      offer->cost = rank (choice, offer);
      return quoit_places_find_first (&grid, &free, cubing->turns, cubing->n_turns, &offer->place);
    }
  costs = quoit_cube_costs_get (cubing->fleet->layout, cubing->request->generation, &grid);
  is_found = quoit_cube_costs_find_best (costs, &(QuoitCubeQuestion) { &grid, &free, cubing->turns, cubing->n_turns },
                                         &offer->place);
  quoit_cube_costs_unref (costs);
  offer->cost = offer->place.cost;
  return is_found;
}

/* Sets the cost of the block. Returns FALSE if it cannot hold a slice. */
static gboolean
price (const Choice *choice, Offer *offer)
{
  const QuoitCubing *cubing = choice->cubing;

  if (offer->n_free < cubing->n_cubes)
    return FALSE;
  if (quoit_cubing_is_adjacent (cubing))
    return find_place (choice, offer);
  offer->cost = cubing->request->place == QUOIT_PLACE_BEST ? quoit_cube_sizes_cost (
                    &choice->sizes, cubing->blocks->blocks[offer->block].n, offer->n_free, cubing->n_cubes)
                                                           : rank (choice, offer);
  return TRUE;
}

static void
make_offers (const Choice *choice)
{
  g_autofree guint32 *counts = quoit_cubing_count_by_block (choice->cubing, choice->set);

  for (guint32 block = 0; block < choice->cubing->blocks->n; block++)
    {
      Offer offer = { .block = block, .n_free = counts[block] };

      if (!price (choice, &offer))
        continue;
      g_array_append_val (choice->offers, offer);
      sift (choice, choice->offers->len - 1);
    }
}

/* --- over time --- */

/* Sets @set to the cubes of the block that are free at the time: those that are free now, and those whose groups end by
 * then. Returns their number. */
static guint32
list_later (const Choice *choice, guint32 block, gint64 time_ms, QuoitCubeSet *set)
{
  const QuoitCubing *cubing = choice->cubing;
  const QuoitBlock *row = &cubing->blocks->blocks[block];
  guint32 n = 0;

  for (guint32 i = row->first; i < row->first + row->n; i++)
    {
      const guint32 slice = cubing->blocks->cubes[i];
      gboolean is_free = quoit_cube_set_has (choice->set, slice);

      /* A cube that is free in the fleet but not in the set was chosen before. */
      if (!is_free && quoit_candidates_contain (&cubing->candidates, cubing->fleet, slice)
          && !quoit_bits_has (&cubing->fleet->free_slices, slice))
        is_free = quoit_slice_end (cubing->fleet, slice) <= time_ms;
      (is_free ? quoit_cube_set_add : quoit_cube_set_remove) (set, slice);
      n += is_free;
    }
  return n;
}

static guint64
cost_later (const Choice *choice, const Offer *offer, gint64 time_ms, QuoitCubeSet *set)
{
  const QuoitCubing *cubing = choice->cubing;
  const guint32 n_free = list_later (choice, offer->block, time_ms, set);
  QuoitCubeCosts *costs;
  QuoitHostSet free;
  QuoitGrid grid;
  guint64 cost;

  if (!quoit_cubing_is_adjacent (cubing) || !quoit_cubing_grid (cubing, offer->block, &grid))
    return quoit_cube_sizes_cost (&choice->sizes, cubing->blocks->blocks[offer->block].n, n_free, cubing->n_cubes);
  quoit_cubing_list_positions (cubing, set, offer->block, &grid, &free);
  costs = quoit_cube_costs_get (cubing->fleet->layout, cubing->request->generation, &grid);
  cost = quoit_places_cost (costs->costs, &free, cubing->turns[offer->place.turn].hosts, offer->place.origin);
  quoit_cube_costs_unref (costs);
  return cost;
}

/* Sets @found to the first offers of the heap, in order, and returns how many there are. */
static guint
list_first_offers (const Choice *choice, guint found[N_COMPARED])
{
  guint open[N_COMPARED + 2] = { 0 }, n_open = choice->offers->len > 0 ? 1 : 0, n = 0;

  while (n < N_COMPARED && n_open > 0)
    {
      guint first = 0, index;

      for (guint i = 1; i < n_open; i++)
        if (is_before (offer_at (choice, open[i]), offer_at (choice, open[first])))
          first = i;
      index = open[first];
      open[first] = open[--n_open];
      found[n++] = index;
      for (guint child = 2 * index + 1; child <= 2 * index + 2 && child < choice->offers->len; child++)
        open[n_open++] = child;
    }
  return n;
}

/* Returns the offer that costs least, now or over time; of equal ones the first. */
static guint
choose_offer (const Choice *choice)
{
  g_autofree QuoitCubeSet *set = NULL;
  guint found[N_COMPARED], n, best = 0;
  guint64 least = G_MAXUINT64;

  if (!choice->is_over_time)
    return 0;
  set = g_malloc0 (quoit_cubing_set_bytes (choice->cubing));
  n = list_first_offers (choice, found);
  for (guint i = 0; i < n; i++)
    {
      const Offer *offer = offer_at (choice, found[i]);
      guint64 cost = QUOIT_WEIGHT_NOW * offer->cost;

      for (guint t = 0; t < QUOIT_N_LATER; t++)
        cost += cost_later (choice, offer, choice->times_ms[t], set);
      if (cost >= least)
        continue;
      least = cost;
      best = found[i];
    }
  return best;
}

/* --- taking --- */

static int
ascending (const void *a, const void *b)
{
  const guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

  return (x > y) - (x < y);
}

/* Returns the slice at each position of the block. The caller owns the array. */
static guint32 *
list_slices_by_position (const QuoitCubing *cubing, guint32 block, const QuoitGrid *grid)
{
  const QuoitBlocks *blocks = cubing->blocks;
  const QuoitBlock *row = &blocks->blocks[block];
  guint32 *slices = g_new0 (guint32, quoit_grid_n_hosts (grid) + 1);

  for (guint32 i = row->first; i < row->first + row->n; i++)
    if (blocks->positions[blocks->cubes[i]] != QUOIT_NO_INDEX)
      slices[blocks->positions[blocks->cubes[i]]] = blocks->cubes[i];
  return slices;
}

/* Takes the cubes whose positions cost requests for adjacent cubes least. */
static guint32
take_cheapest (const QuoitCubing *cubing, const QuoitCubeSet *set, guint32 block, const QuoitGrid *grid, guint32 n,
               guint32 *cubes)
{
  static const QuoitTurn one = { .hosts = { { 1, 1, 1 }, QUOIT_N_AXES } };
  g_autofree QuoitPlace *places = g_new (QuoitPlace, n + 1);
  g_autofree guint32 *slices = list_slices_by_position (cubing, block, grid);
  QuoitCubeCosts *costs = quoit_cube_costs_get (cubing->fleet->layout, cubing->request->generation, grid);
  QuoitHostSet free;
  guint32 n_found;

  quoit_cubing_list_positions (cubing, set, block, grid, &free);
  n_found = quoit_places_find_cheapest (costs->costs, &free, &one, 1, places, n);
  for (guint32 i = 0; i < n_found; i++)
    cubes[i] = slices[places[i].origin];
  quoit_cube_costs_unref (costs);
  return n_found;
}

void
quoit_cubing_take (const QuoitCubing *cubing, QuoitCubeSet *set, guint32 block, guint32 n, guint32 *cubes)
{
  const QuoitBlocks *blocks = cubing->blocks;
  const QuoitBlock *row = &blocks->blocks[block];
  guint32 n_taken = 0;
  QuoitGrid grid;

  /* Cubes without a position serve no request for adjacent ones. */
  for (guint32 i = row->first; i < row->first + row->n && n_taken < n; i++)
    if (quoit_cube_set_has (set, blocks->cubes[i])
        && (row->grid[0] == 0 || blocks->positions[blocks->cubes[i]] == QUOIT_NO_INDEX))
      cubes[n_taken++] = blocks->cubes[i];
  if (n_taken < n && quoit_cubing_grid (cubing, block, &grid))
    n_taken += take_cheapest (cubing, set, block, &grid, n - n_taken, cubes + n_taken);
  /* A block with too many positions for a grid. */
  for (guint32 i = row->first; i < row->first + row->n && n_taken < n; i++)
    if (quoit_cube_set_has (set, blocks->cubes[i]) && blocks->positions[blocks->cubes[i]] != QUOIT_NO_INDEX)
      cubes[n_taken++] = blocks->cubes[i];
  g_assert (n_taken == n);
  qsort (cubes, n, sizeof *cubes, ascending);
  for (guint32 i = 0; i < n; i++)
    quoit_cube_set_remove (set, cubes[i]);
}

/* Takes a box of adjacent cubes. */
static void
take_box (const QuoitCubing *cubing, QuoitCubeSet *set, guint32 block, guint32 turn, guint32 origin, guint32 *cubes)
{
  g_autofree guint32 *positions = g_new (guint32, cubing->n_cubes + 1), *slices = NULL;
  QuoitGrid grid;

  quoit_cubing_grid (cubing, block, &grid);
  slices = list_slices_by_position (cubing, block, &grid);
  quoit_grid_list_box (&grid, cubing->turns[turn].hosts, origin, positions);
  for (guint32 i = 0; i < cubing->n_cubes; i++)
    {
      cubes[i] = slices[positions[i]];
      quoit_cube_set_remove (set, cubes[i]);
    }
}

static void
append_slice (const QuoitCubing *cubing, guint32 turn, const guint32 *cubes, QuoitJoined *joined)
{
  g_array_append_val (joined->boxes, cubing->turns[turn].hosts);
  g_array_append_vals (joined->cubes, cubes, cubing->n_cubes);
}

/* Takes the slice of an offer, and prices the rest of its block. */
static void
take_offer (const Choice *choice, guint index, QuoitJoined *joined)
{
  const QuoitCubing *cubing = choice->cubing;
  Offer *offer = offer_at (choice, index);
  g_autofree guint32 *cubes = g_new (guint32, cubing->n_cubes + 1);
  const gboolean is_adjacent = quoit_cubing_is_adjacent (cubing);

  if (is_adjacent)
    take_box (cubing, choice->set, offer->block, offer->place.turn, offer->place.origin, cubes);
  else
    quoit_cubing_take (cubing, choice->set, offer->block, cubing->n_cubes, cubes);
  append_slice (cubing, is_adjacent ? offer->place.turn : 0, cubes, joined);
  offer->n_free -= cubing->n_cubes;
  if (!price (choice, offer))
    {
      *offer = *offer_at (choice, choice->offers->len - 1);
      g_array_set_size (choice->offers, choice->offers->len - 1);
    }
  if (index < choice->offers->len)
    sift (choice, index);
}

/* Packs adjacent boxes again, into all blocks. */
static void
pack_all (const QuoitCubing *cubing, QuoitCubeSet *set, guint32 most, QuoitJoined *joined)
{
  g_autofree guint32 *cubes = g_new (guint32, cubing->n_cubes + 1);

  for (guint32 block = 0; block < cubing->blocks->n && joined->boxes->len < most; block++)
    {
      QuoitPackingResult result;
      QuoitHostSet free;
      QuoitGrid grid;

      if (!quoit_cubing_grid (cubing, block, &grid))
        continue;
      quoit_cubing_list_positions (cubing, set, block, &grid, &free);
      quoit_cube_question_pack (&(QuoitCubeQuestion) { &grid, &free, cubing->turns, cubing->n_turns }, &result);
      for (guint i = 0; i < result.parts->len && joined->boxes->len < most; i++)
        {
          const QuoitPackedPart *part = &g_array_index (result.parts, QuoitPackedPart, i);

          take_box (cubing, set, block, part->turn, part->origin, cubes);
          append_slice (cubing, part->turn, cubes, joined);
        }
      quoit_packing_result_clear (&result);
    }
}

void
quoit_cubing_choose (const QuoitCubing *cubing, QuoitCubeSet *set, guint32 most, QuoitJoined *joined)
{
  const gint64 length_ms = cubing->request->place == QUOIT_PLACE_BEST ? quoit_request_length (cubing->request) : 0;
  const gsize size = quoit_cubing_set_bytes (cubing);
  g_autofree QuoitCubeSet *before = quoit_cubing_is_adjacent (cubing) ? g_memdup2 (set, size) : NULL;
  g_autoptr (GArray) offers = g_array_new (FALSE, FALSE, sizeof (Offer));
  Choice choice = { .cubing = cubing, .set = set, .offers = offers, .is_over_time = length_ms > 0 };
  guint32 n, at_most;

  if (cubing->blocks == NULL || most == 0)
    return;
  for (gint i = 0; i < QUOIT_N_LATER; i++)
    choice.times_ms[i] = cubing->fleet->clock_ms + length_ms * (i + 1) / QUOIT_N_LATER;
  quoit_cube_sizes_init (&choice.sizes, cubing->request->generation);
  make_offers (&choice);
  while (joined->boxes->len < most && offers->len > 0)
    take_offer (&choice, choose_offer (&choice), joined);
  quoit_cube_sizes_clear (&choice.sizes);
  if (before == NULL || joined->boxes->len >= most)
    return;
  quoit_cubing_count (cubing, before, most, &n, &at_most);
  if (MIN (n, most) <= joined->boxes->len)
    return;
  g_array_set_size (joined->boxes, 0);
  g_array_set_size (joined->cubes, 0);
  memcpy (set, before, size);
  pack_all (cubing, set, most, joined);
}

void
quoit_joined_list_nodes (const QuoitFleet *fleet, QuoitShape box, const guint32 *cubes, GArray *nodes)
{
  const guint32 n_cubes = quoit_shape_chips (box), n = n_cubes * QUOIT_CUBE_HOSTS, first = nodes->len;
  g_autofree guint32 *by_cube = g_new (guint32, n + 1);
  guint32 workers[QUOIT_CUBE_HOSTS];

  for (guint32 w = 0; w < QUOIT_CUBE_HOSTS; w++)
    workers[w] = w;
  for (guint32 c = 0; c < n_cubes; c++)
    quoit_free_hosts_find (fleet, cubes[c], workers, QUOIT_CUBE_HOSTS, by_cube + c * QUOIT_CUBE_HOSTS);
  g_array_set_size (nodes, first + n);
  for (guint32 worker = 0; worker < n; worker++)
    {
      guint32 cube, host;

      quoit_joined_find_host (box, worker, &cube, &host);
      g_array_index (nodes, guint32, first + worker) = by_cube[cube * QUOIT_CUBE_HOSTS + host];
    }
}

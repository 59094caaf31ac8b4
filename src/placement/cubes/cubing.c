/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/cubes/cubing.h"

#include "placement/cubes/costs.h"

/* --- the cubes of a request --- */

/* Lists the boxes that cubes may form: the requested one, and for adjacent cubes its turns that are topologies. */
void
quoit_cubing_set_shape (QuoitCubing *cubing)
{
  const QuoitGenerationFacts *facts = quoit_generation_facts (cubing->request->generation);
  const QuoitShape shape = cubing->request->shape;
  QuoitShape boxes[QUOIT_MAX_CUBE_TURNS] = { { .n_dims = QUOIT_N_AXES } };

  cubing->n_cubes = quoit_shape_chips (shape) / quoit_shape_chips (facts->ocs_cube);
  cubing->n_turns = 1;
  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    boxes[0].dims[axis] = shape.dims[axis] / QUOIT_CUBE_SIDE;
  if (quoit_cubing_is_adjacent (cubing))
    cubing->n_turns = quoit_joined_list_boxes (cubing->request->generation, shape, boxes);
  for (guint turn = 0; turn < cubing->n_turns; turn++)
    cubing->turns[turn] = (QuoitTurn) { .hosts = boxes[turn] };
}

gboolean
quoit_cubing_init (QuoitCubing *cubing, const QuoitFleet *fleet, const QuoitRequest *request, GError **error)
{
  const QuoitGenerationFacts *facts;
  QuoitRequest cube = *request;

  *cubing = (QuoitCubing) { .fleet = fleet, .request = request };
  if (!quoit_request_check_complete (request, error) || !quoit_shape_check (request->generation, request->shape, error))
    return FALSE;
  facts = quoit_generation_facts (request->generation);
  quoit_cubing_set_shape (cubing);
  /* The cubes that pass the rules are the candidates of a request for whole cubes. */
  cube.cubes = QUOIT_CUBES_NONE;
  cube.place = QUOIT_PLACE_BEST;
  cube.shape = facts->ocs_cube;
  cube.chips_per_host = 4;
  if (!quoit_candidates_find (fleet, &cube, &cubing->candidates, error))
    return FALSE;
  if (cubing->candidates.class_index != QUOIT_NO_INDEX)
    cubing->blocks = quoit_blocks_get (fleet->layout, cubing->candidates.class_index);
  return TRUE;
}

void
quoit_cubing_clear (QuoitCubing *cubing)
{
  quoit_candidates_clear (&cubing->candidates);
  g_clear_pointer (&cubing->blocks, quoit_blocks_unref);
}

static gboolean
counts (const QuoitFleet *fleet, guint32 slice, QuoitCubeState state)
{
  const guint8 condition = quoit_fleet_slice_status (fleet, (QuoitSliceId) { slice })->condition;
  const QuoitSliceFlags flags = quoit_condition_flags (condition);

  if (state == QUOIT_CUBE_KNOWN)
    return quoit_condition_health (condition) != QUOIT_SLICE_CANNOT_BE_INTACT;
  return (flags & QUOIT_SLICE_INTACT) != 0
         && (state == QUOIT_CUBE_INTACT
             || ((flags & QUOIT_SLICE_DRAINING) == 0
                 && (state == QUOIT_CUBE_HEALTHY || (flags & QUOIT_SLICE_FREE) != 0)));
}

QuoitCubeSet *
quoit_cubing_list (const QuoitCubing *cubing, QuoitCubeState state)
{
  const QuoitBlocks *blocks = cubing->blocks;
  QuoitCubeSet *set = g_malloc0 (quoit_cubing_set_bytes (cubing));

  for (guint32 w = blocks == NULL ? 0 : blocks->first_word; blocks != NULL && w < blocks->end_word; w++)
    {
      const guint64 word
          = blocks->set[w]
            & (cubing->candidates.eligible == NULL ? ~(guint64) 0 : cubing->candidates.eligible->slices[w]);

      if (state == QUOIT_CUBE_FREE)
        set[w] = word & quoit_bits_word (&cubing->fleet->free_slices, w);
      else
        for (guint64 rest = word; rest != 0; rest &= rest - 1)
          if (counts (cubing->fleet, w * 64 + (guint32) __builtin_ctzll (rest), state))
            set[w] |= rest & -rest;
    }
  return set;
}

/* --- counting --- */

guint32 *
quoit_cubing_count_by_block (const QuoitCubing *cubing, const QuoitCubeSet *set)
{
  const QuoitBlocks *blocks = cubing->blocks;
  guint32 *counts = g_new0 (guint32, (blocks == NULL ? 0 : blocks->n) + 1);

  for (guint32 w = blocks == NULL ? 0 : blocks->first_word; blocks != NULL && w < blocks->end_word; w++)
    for (guint64 rest = set[w]; rest != 0; rest &= rest - 1)
      counts[blocks->of_slice[w * 64 + (guint32) __builtin_ctzll (rest)]]++;
  return counts;
}

gboolean
quoit_cubing_grid (const QuoitCubing *cubing, guint32 block, QuoitGrid *grid)
{
  const guint32 *n = cubing->blocks->blocks[block].grid;

  return n[0] > 0
         && quoit_grid_init (grid, (QuoitShape) { { (guint16) n[0], (guint16) n[1], (guint16) n[2] }, QUOIT_N_AXES },
                             0);
}

void
quoit_cubing_list_positions (const QuoitCubing *cubing, const QuoitCubeSet *set, guint32 block, const QuoitGrid *grid,
                             QuoitHostSet *free)
{
  const QuoitBlocks *blocks = cubing->blocks;
  const QuoitBlock *row = &blocks->blocks[block];

  quoit_host_set_clear (grid, free);
  for (guint32 i = row->first; i < row->first + row->n; i++)
    {
      const guint32 slice = blocks->cubes[i];

      if (blocks->positions[slice] != QUOIT_NO_INDEX && quoit_cube_set_has (set, slice))
        quoit_host_set_add (grid, free, blocks->positions[slice]);
    }
}

/* Counts how many slices of adjacent cubes the block can hold at once. */
static QuoitCubeCount
count_adjacent (const QuoitCubing *cubing, const QuoitCubeSet *set, guint32 block)
{
  QuoitCubeCosts *costs;
  QuoitCubeCount count;
  QuoitHostSet free;
  QuoitGrid grid;

  if (!quoit_cubing_grid (cubing, block, &grid))
    return (QuoitCubeCount) { 0, 0 };
  quoit_cubing_list_positions (cubing, set, block, &grid, &free);
  costs = quoit_cube_costs_get (cubing->fleet->layout, cubing->request->generation, &grid);
  count = quoit_cube_costs_count (costs, &(QuoitCubeQuestion) { &grid, &free, cubing->turns, cubing->n_turns });
  quoit_cube_costs_unref (costs);
  return count;
}

gboolean
quoit_cubing_can_hold (const QuoitCubing *cubing, guint32 block)
{
  const guint32 *grid = cubing->blocks->blocks[block].grid;

  if (cubing->blocks->blocks[block].n < cubing->n_cubes || !quoit_cubing_is_adjacent (cubing))
    return cubing->blocks->blocks[block].n >= cubing->n_cubes;
  for (guint turn = 0; turn < cubing->n_turns; turn++)
    {
      const guint16 *box = cubing->turns[turn].hosts.dims;

      if (box[0] <= grid[0] && box[1] <= grid[1] && box[2] <= grid[2])
        return TRUE;
    }
  return FALSE;
}

QuoitCubeCount
quoit_cubing_count_block (const QuoitCubing *cubing, const QuoitCubeSet *set, guint32 block, guint32 n_free)
{
  const guint32 n = n_free / cubing->n_cubes;
  QuoitCubeCount count = { n, n };

  if (quoit_cubing_is_adjacent (cubing) && n > 0)
    {
      count = count_adjacent (cubing, set, block);
      count.most = MIN (count.most, n);
    }
  return count;
}

void
quoit_cubing_count (const QuoitCubing *cubing, const QuoitCubeSet *set, guint32 enough, guint32 *least, guint32 *most)
{
  g_autofree guint32 *counts = quoit_cubing_count_by_block (cubing, set);

  *least = *most = 0;
  for (guint32 block = 0; cubing->blocks != NULL && block < cubing->blocks->n && *least < enough; block++)
    {
      const QuoitCubeCount count = quoit_cubing_count_block (cubing, set, block, counts[block]);

      *least += count.least;
      *most += count.most;
    }
}

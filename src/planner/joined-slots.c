/* SPDX-License-Identifier: Apache-2.0 */
/* How many slices the free cubes of a fleet make at once, if they are joined. Any cubes of a block can be joined, so
 * that number is a division; adjacent ones are packed into the grid of the block. */
#include "planner/slots.h"

#include <string.h>

#include "base/indices.h"
#include "base/label-names.h"
#include "placement/ahead.h"
#include "placement/cubes/costs.h"
#include "placement/cut/cutting.h"

typedef struct {
  const QuoitSlots *slots;
  QuoitRequest *request;
  QuoitCubing cubing;
  QuoitCubeSet *sets[QUOIT_N_SLOTS_IF];
  guint32 *n_free[QUOIT_N_SLOTS_IF]; /* by block */
} Counting;

/* --- free cubes --- */

static gboolean
counts (const QuoitFleet *fleet, guint32 slice, QuoitSlotsIf assumption)
{
  const QuoitSliceStatus *status = quoit_fleet_slice_status (fleet, (QuoitSliceId) { slice });
  const QuoitSliceHealth health = quoit_condition_health (status->condition);

  if (status->n_used > 0)
    return FALSE;
  switch (assumption)
    {
    case QUOIT_SLOTS_UNDRAINED:
      return health == QUOIT_SLICE_IS_INTACT;
    case QUOIT_SLOTS_MENDED:
      return health != QUOIT_SLICE_CANNOT_BE_INTACT;
    default:
      return health == QUOIT_SLICE_IS_INTACT && status->n_draining == 0;
    }
}

/* Returns the cubes in blocks that are free under the assumption. The caller owns the set. */
static QuoitCubeSet *
list_cubes (const Counting *counting, QuoitSlotsIf assumption)
{
  const QuoitSlots *slots = counting->slots;
  const QuoitFleet *fleet = assumption == QUOIT_SLOTS_GROUPS_ENDED ? slots->later : slots->fleet;
  const QuoitBlocks *blocks = counting->cubing.blocks;
  QuoitCubeSet *set;

  if (assumption == QUOIT_SLOTS_NOW)
    return quoit_cubing_list (&counting->cubing, QUOIT_CUBE_FREE);
  set = g_malloc0 (quoit_cubing_set_bytes (&counting->cubing));
  for (guint32 w = blocks == NULL ? 0 : blocks->first_word; blocks != NULL && w < blocks->end_word; w++)
    for (guint64 rest = blocks->set[w]; rest != 0; rest &= rest - 1)
      if (counts (fleet, w * 64 + (guint32) __builtin_ctzll (rest), assumption))
        set[w] |= rest & -rest;
  return set;
}

/* Fails with INVALID if the cubes of the generation cannot be joined like this. */
static gboolean
counting_init (Counting *counting, const QuoitSlots *slots, QuoitShape shape, GError **error)
{
  const QuoitGenerationFacts *facts = quoit_generation_facts (slots->generation);

  *counting = (Counting) { .slots = slots, .request = quoit_request_new ("slots", NULL) };
  counting->request->generation = slots->generation;
  counting->request->shape = shape.n_dims != 0 ? shape : facts->ocs_cube;
  counting->request->cubes = slots->cubes;
  counting->request->n_slices = 1;
  if (facts->ocs_cube.n_dims == 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "cubes '%s': expected a generation with cubes, %s has none",
                       quoit_cubes_name (slots->cubes), quoit_generation_name (slots->generation)),
           FALSE;
  if (slots->cubes == QUOIT_CUBES_ANY_TWISTED && shape.n_dims == 0)
    counting->request->shape = (QuoitShape) { { 4, 4, 8 }, QUOIT_N_AXES };
  return quoit_request_check_cubes (counting->request, error)
         && quoit_cubing_init (&counting->cubing, slots->fleet, counting->request, error);
}

static void
counting_clear (Counting *counting)
{
  for (guint i = 0; i < QUOIT_N_SLOTS_IF; i++)
    {
      g_free (counting->sets[i]);
      g_free (counting->n_free[i]);
    }
  quoit_cubing_clear (&counting->cubing);
  quoit_request_free (counting->request);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Counting, counting_clear)

static void
list_sets (Counting *counting)
{
  for (guint i = 0; i < QUOIT_N_SLOTS_IF; i++)
    {
      counting->sets[i] = list_cubes (counting, (QuoitSlotsIf) i);
      counting->n_free[i] = quoit_cubing_count_by_block (&counting->cubing, counting->sets[i]);
    }
}

/* --- rows --- */

/* Counts the slices of a shape. Appends no row if no block is large enough. */
static void
count_shape (Counting *counting, QuoitShape shape)
{
  QuoitCubing *cubing = &counting->cubing;
  QuoitSlotsRow row = { .shape = shape };
  gboolean is_possible = FALSE;

  counting->request->shape = shape;
  if (!quoit_request_check_cubes (counting->request, NULL))
    return;
  quoit_cubing_set_shape (cubing);
  for (guint32 block = 0; cubing->blocks != NULL && block < cubing->blocks->n; block++)
    {
      guint32 least[QUOIT_N_SLOTS_IF], most[QUOIT_N_SLOTS_IF];

      if (!quoit_cubing_can_hold (cubing, block))
        continue;
      is_possible = TRUE;
      for (guint i = 0; i < QUOIT_N_SLOTS_IF; i++)
        {
          const QuoitCubeCount count
              = quoit_cubing_count_block (cubing, counting->sets[i], block, counting->n_free[i][block]);

          least[i] = count.least;
          most[i] = count.most;
        }
      quoit_slots_row_add (&row, least, most);
    }
  if (is_possible)
    g_array_append_val (counting->slots->rows, row);
}

static void
count_shapes (Counting *counting, QuoitShape shape)
{
  unsigned n_rows;
  const QuoitTopologyRow *rows = quoit_topology_rows (counting->slots->generation, &n_rows);

  list_sets (counting);
  if (shape.n_dims != 0)
    count_shape (counting, shape);
  for (unsigned i = 0; i < n_rows && shape.n_dims == 0; i++)
    if (quoit_topology_is_new (rows, i))
      count_shape (counting, rows[i].shape);
}

gboolean
quoit_slots_count_joined (QuoitSlots *slots, const QuoitFleet *fleet, QuoitGeneration generation, QuoitShape shape,
                          QuoitCubes cubes, gint64 until_ms, GError **error)
{
  g_autofree char *text = shape.n_dims == 0 ? NULL : quoit_shape_format (shape);
  g_auto (Counting) counting = { 0 };
  gboolean is_valid;

  *slots = (QuoitSlots) { .fleet = quoit_fleet_ref (fleet),
                          .later = quoit_fleet_seen_at (fleet, until_ms, until_ms + 1),
                          .generation = generation,
                          .cubes = cubes,
                          .rows = g_array_new (FALSE, FALSE, sizeof (QuoitSlotsRow)) };
  is_valid = counting_init (&counting, slots, shape, error);
  if (is_valid)
    count_shapes (&counting, shape);
  if (slots->rows->len > 0)
    return TRUE;
  quoit_slots_clear (slots);
  if (!is_valid)
    return FALSE;
  return text != NULL ? quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "no block of %s that can hold a slice of '%s'%s",
                                    quoit_generation_name (generation), text, quoit_slots_position_hint (cubes))
                      : quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "no block of cubes of %s%s",
                                    quoit_generation_name (generation), quoit_slots_position_hint (cubes));
}

const char *
quoit_slots_position_hint (QuoitCubes cubes)
{
  return cubes == QUOIT_CUBES_ADJACENT ? ": adjacent cubes need positions, by the label '" QUOIT_LABEL_CUBE_POSITION "'"
                                       : "";
}

/* --- proofs --- */

/* Every slice has @n_cubes cubes. */
static void
prove_by_number (QuoitJoinedProof *proof, guint32 n_cubes)
{
  for (guint32 i = 0; i < proof->n_free; i++)
    proof->weights[i] = 1;
  proof->unit = n_cubes;
  proof->most = proof->n_free / n_cubes;
}

/* Uses the weights of a packing, if they prove a lower number. */
static void
prove_by_packing (QuoitJoinedProof *proof, const Counting *counting, const QuoitCubeSet *set)
{
  const QuoitCubing *cubing = &counting->cubing;
  QuoitPackingResult result;
  QuoitHostSet free;
  QuoitGrid grid;
  guint64 sum = 0;

  if (!quoit_cubing_grid (cubing, proof->block, &grid))
    return;
  quoit_cubing_list_positions (cubing, set, proof->block, &grid, &free);
  quoit_cube_question_pack (&(QuoitCubeQuestion) { &grid, &free, cubing->turns, cubing->n_turns }, &result);
  for (guint32 i = 0; i < proof->n_free; i++)
    sum += g_array_index (result.host_weights, guint64, cubing->blocks->positions[proof->cubes[i]]);
  if (result.unit > 0 && sum / result.unit < proof->most)
    {
      for (guint32 i = 0; i < proof->n_free; i++)
        proof->weights[i] = g_array_index (result.host_weights, guint64, cubing->blocks->positions[proof->cubes[i]]);
      proof->unit = result.unit;
      proof->most = sum / result.unit;
    }
  quoit_packing_result_clear (&result);
}

static void
prove_block (const Counting *counting, const QuoitCubeSet *set, guint32 block,
             void (*func) (const QuoitJoinedProof *proof, gpointer data), gpointer data)
{
  const QuoitCubing *cubing = &counting->cubing;
  const QuoitBlocks *blocks = cubing->blocks;
  const QuoitBlock *row = &blocks->blocks[block];
  g_autofree guint32 *cubes = g_new (guint32, row->n + 1);
  g_autofree guint64 *weights = g_new (guint64, row->n + 1);
  QuoitJoinedProof proof = { counting->slots->fleet->layout, blocks, block, 0, cubes, weights, 0, 0 };

  for (guint32 i = row->first; i < row->first + row->n; i++)
    if (quoit_cube_set_has (set, blocks->cubes[i])
        && (!quoit_cubing_is_adjacent (cubing) || blocks->positions[blocks->cubes[i]] != QUOIT_NO_INDEX))
      cubes[proof.n_free++] = blocks->cubes[i];
  prove_by_number (&proof, cubing->n_cubes);
  if (quoit_cubing_is_adjacent (cubing) && cubing->n_cubes > 1 && proof.most > 0)
    prove_by_packing (&proof, counting, set);
  func (&proof, data);
}

void
quoit_slots_prove_joined (const QuoitSlots *slots, const QuoitSlotsRow *row, QuoitSlotsIf assumption,
                          void (*func) (const QuoitJoinedProof *proof, gpointer data), gpointer data)
{
  g_auto (Counting) counting = { 0 };

  if (!counting_init (&counting, slots, row->shape, NULL))
    return;
  counting.sets[assumption] = list_cubes (&counting, assumption);
  for (guint32 block = 0; counting.cubing.blocks != NULL && block < counting.cubing.blocks->n; block++)
    if (quoit_cubing_can_hold (&counting.cubing, block))
      prove_block (&counting, counting.sets[assumption], block, func, data);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The fragmentation of the cubes in blocks, for slices that are joined: as in planner/fragmentation.c, with whole cubes
 * instead of hosts. Any cubes of a block can be joined, so that only the number of cubes of a slice matters, and a
 * place is one of the slices that an empty block makes. */
#include "planner/fragmentation.h"

#include <string.h>

#include "base/indices.h"
#include "placement/cubes/cubing.h"
#include "placement/cut/cutting.h"

typedef struct {
  QuoitRequest *request;
  QuoitCubing cubing;
  QuoitCubeSet *set; /* of free cubes */
  guint32 *n_free;   /* by block */
} Counting;

static void
counting_clear (Counting *counting)
{
  g_free (counting->set);
  g_free (counting->n_free);
  quoit_cubing_clear (&counting->cubing);
  quoit_request_free (counting->request);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Counting, counting_clear)

/* Returns FALSE if the cubes cannot be joined like this, or are in no block. */
static gboolean
counting_init (Counting *counting, const QuoitFleet *fleet, QuoitGeneration generation, QuoitCubes cubes)
{
  *counting = (Counting) { .request = quoit_request_new ("fragmentation", NULL) };
  counting->request->generation = generation;
  counting->request->shape = cubes == QUOIT_CUBES_ANY_TWISTED ? (QuoitShape) { { 4, 4, 8 }, QUOIT_N_AXES }
                                                              : quoit_generation_facts (generation)->ocs_cube;
  counting->request->cubes = cubes;
  counting->request->n_slices = 1;
  if (!quoit_request_check_cubes (counting->request, NULL)
      || !quoit_cubing_init (&counting->cubing, fleet, counting->request, NULL) || counting->cubing.blocks == NULL)
    return FALSE;
  counting->set = quoit_cubing_list (&counting->cubing, QUOIT_CUBE_FREE);
  counting->n_free = quoit_cubing_count_by_block (&counting->cubing, counting->set);
  return TRUE;
}

/* Returns how many free cubes could be in a joined slice: of adjacent ones, those with a position. */
static guint64
count_cubes (const Counting *counting)
{
  const QuoitBlocks *blocks = counting->cubing.blocks;
  guint64 n = 0;

  for (guint32 block = 0; block < blocks->n; block++)
    for (guint32 i = blocks->blocks[block].first; i < blocks->blocks[block].first + blocks->blocks[block].n; i++)
      n += quoit_cube_set_has (counting->set, blocks->cubes[i])
           && (!quoit_cubing_is_adjacent (&counting->cubing) || blocks->positions[blocks->cubes[i]] != QUOIT_NO_INDEX);
  return n;
}

/* --- parts --- */

/* Returns the slices that the block makes if all its cubes are free; of adjacent cubes, the places of one in its
 * grid. */
static guint64
count_places (const QuoitCubing *cubing, guint32 block)
{
  const guint32 *grid = cubing->blocks->blocks[block].grid;
  guint64 n_places = 0;

  if (!quoit_cubing_is_adjacent (cubing))
    return cubing->blocks->blocks[block].n / cubing->n_cubes;
  for (guint turn = 0; turn < cubing->n_turns; turn++)
    {
      guint64 n = 1;

      for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
        n *= grid[axis] + 1 - MIN (grid[axis] + 1, cubing->turns[turn].hosts.dims[axis]);
      n_places += n;
    }
  return n_places;
}

static gboolean
are_turns (QuoitShape a, QuoitShape b)
{
  guint16 sides[2][QUOIT_N_AXES];

  memcpy (sides[0], a.dims, sizeof sides[0]);
  memcpy (sides[1], b.dims, sizeof sides[1]);
  for (guint i = 0; i < 2; i++)
    for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
      for (guint next = axis + 1; next < QUOIT_N_AXES; next++)
        if (sides[i][next] < sides[i][axis])
          {
            const guint16 side = sides[i][axis];

            sides[i][axis] = sides[i][next];
            sides[i][next] = side;
          }
  return memcmp (sides[0], sides[1], sizeof sides[0]) == 0;
}

/* Returns whether a slice of the shape needs other cubes than those of all parts before. */
static gboolean
is_new (const Counting *counting, const QuoitFragmentationClass *row, QuoitShape shape)
{
  for (guint i = 0; i < row->parts->len; i++)
    {
      const QuoitShape other = g_array_index (row->parts, QuoitFragmentationPart, i).shape;

      if (quoit_cubing_is_adjacent (&counting->cubing) ? are_turns (shape, other)
                                                       : quoit_shape_chips (shape) == quoit_shape_chips (other))
        return FALSE;
    }
  return TRUE;
}

static void
add_part (Counting *counting, QuoitFragmentationClass *row, QuoitShape shape, QuoitFragmentationSums *sums)
{
  QuoitCubing *cubing = &counting->cubing;
  QuoitFragmentationPart part = { .shape = shape };
  guint64 n_places = 0;

  counting->request->shape = shape;
  if (!quoit_request_check_cubes (counting->request, NULL) || !is_new (counting, row, shape))
    return;
  quoit_cubing_set_shape (cubing);
  for (guint32 block = 0; block < cubing->blocks->n; block++)
    {
      const QuoitCubeCount count = quoit_cubing_count_block (cubing, counting->set, block, counting->n_free[block]);

      n_places += count_places (cubing, block);
      part.least += count.least;
      part.most += count.most;
    }
  part.most = MIN (part.most, row->n_hosts / ((guint64) cubing->n_cubes * QUOIT_CUBE_HOSTS));
  if (n_places > 0)
    quoit_fragmentation_sums_add (sums, row, &part, n_places, (guint64) cubing->n_cubes * QUOIT_CUBE_HOSTS);
}

/* --- classes --- */

static void
measure_class (QuoitFragmentationClass *row, const QuoitFleet *fleet, const QuoitClass *class, QuoitCubes cubes)
{
  g_auto (Counting) counting = { 0 };
  QuoitFragmentationSums sums;
  unsigned n_rows;
  const QuoitTopologyRow *rows = quoit_topology_rows (class->facts.generation, &n_rows);

  *row = (QuoitFragmentationClass) { .parts = g_array_new (FALSE, FALSE, sizeof (QuoitFragmentationPart)) };
  if (!quoit_slice_facts_are_cube (&class->facts) || !counting_init (&counting, fleet, class->facts.generation, cubes))
    return;
  row->n_hosts = count_cubes (&counting) * QUOIT_CUBE_HOSTS;
  quoit_fragmentation_sums_init (&sums);
  for (unsigned i = 0; i < n_rows; i++)
    if (quoit_topology_is_new (rows, i))
      add_part (&counting, row, rows[i].shape, &sums);
  quoit_fragmentation_sums_finish (&sums, row);
}

void
quoit_fragmentation_measure_joined (QuoitFragmentation *fragmentation, const QuoitFleet *fleet, QuoitCubes cubes)
{
  fragmentation->classes = g_array_new (FALSE, FALSE, sizeof (QuoitFragmentationClass));
  g_array_set_clear_func (fragmentation->classes, (GDestroyNotify) quoit_fragmentation_class_clear);
  for (guint32 class = 0; class < fleet->layout->n_classes; class ++)
    {
      QuoitFragmentationClass row;

      measure_class (&row, fleet, &fleet->layout->classes[class], cubes);
      g_array_append_val (fragmentation->classes, row);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The fragmentation of a class is the sum of w_t (1 - packed_t size_t / free) over the shapes t of parts that its
 * slices can have: w_t is the chips of t divided by its places in an empty slice, divided by the sum of all of them;
 * packed_t is how many parts fit at once; size_t and free are counted in hosts. It is 0 if the free hosts can be used
 * completely by parts of each shape, and 1 if they can be used by none. */
#include "planner/fragmentation.h"

#include <string.h>

#include "base/indices.h"
#include "placement/cut/cutting.h"

enum { MILLION = 1000000, WEIGHT_SHIFT = 16 };

/* Slices with the same free hosts. */
typedef struct {
  QuoitHostSet free;
  guint64 n_slices;
} Occupancy;

typedef struct {
  const QuoitFleet *fleet;
  const QuoitClass *class;
  QuoitGrid grid;
  GPtrArray *occupancies; /* of Occupancy */
  GHashTable *known;      /* GBytes of the free hosts -> Occupancy */
} Counting;

/* --- free hosts --- */

static void
add_occupancy (Counting *counting, const QuoitHostSet *free)
{
  const gsize size = quoit_grid_n_rows (&counting->grid) * sizeof *free->rows;
  g_autoptr (GBytes) key = g_bytes_new (free->rows, size);
  Occupancy *occupancy = g_hash_table_lookup (counting->known, key);

  if (occupancy == NULL)
    {
      occupancy = g_new0 (Occupancy, 1);
      memcpy (occupancy->free.rows, free->rows, size);
      g_ptr_array_add (counting->occupancies, occupancy);
      g_hash_table_insert (counting->known, g_steal_pointer (&key), occupancy);
    }
  occupancy->n_slices++;
}

static void
list_occupancies (Counting *counting, guint32 class_index)
{
  const QuoitLayout *layout = counting->fleet->layout;
  const QuoitFreeHosts now = { counting->fleet, QUOIT_NODE_ALIVE, FALSE };

  for (guint32 i = 0; i < layout->n_shelves; i++)
    {
      const QuoitShelf *shelf = &layout->shelves[i];

      if (shelf->class_index != class_index)
        continue;
      for (guint32 slice = shelf->first_slice; slice < shelf->first_slice + shelf->n_slices; slice++)
        {
          QuoitHostSet free;

          if (quoit_bits_has (&counting->fleet->free_slices, slice))
            quoit_host_set_fill (&counting->grid, &free);
          else
            quoit_free_hosts_list (&now, slice, &counting->grid, &free);
          if (quoit_host_set_first (&counting->grid, &free) != QUOIT_NO_INDEX)
            add_occupancy (counting, &free);
        }
    }
}

static guint64
count_hosts (const Counting *counting)
{
  guint64 n = 0;

  for (guint i = 0; i < counting->occupancies->len; i++)
    {
      const Occupancy *occupancy = counting->occupancies->pdata[i];

      n += occupancy->n_slices * quoit_host_set_count (&counting->grid, &occupancy->free);
    }
  return n;
}

/* --- parts --- */

/* Returns the places of the part in a slice whose hosts are all free. */
static guint64
count_places (const QuoitCutting *cutting)
{
  guint64 n_places = 0;

  for (guint turn = 0; turn < cutting->n_turns; turn++)
    {
      guint64 n = 1;

      for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
        n *= cutting->grid.n[axis] + 1 - MIN (cutting->grid.n[axis] + 1, cutting->turns[turn].hosts.dims[axis]);
      n_places += n;
    }
  return n_places;
}

static void
pack (const Counting *counting, const QuoitCutting *cutting, guint64 steps, QuoitFragmentationPart *part)
{
  const QuoitPackingDemand demand = { cutting->turns, cutting->n_turns, 1, 0 };

  for (guint i = 0; i < counting->occupancies->len; i++)
    {
      const Occupancy *occupancy = counting->occupancies->pdata[i];
      QuoitPackingResult result;

      quoit_packing_solve (&cutting->grid, &occupancy->free, &demand, 1, cutting->offsets, steps, &result);
      part->least += occupancy->n_slices * result.least;
      part->most += occupancy->n_slices * result.most;
      quoit_packing_result_clear (&result);
    }
}

/* Sums of w_t (free - packed_t size_t), with the greatest and the least packed_t, and of w_t. */
typedef struct {
  unsigned __int128 least, most;
  guint64 weight;
} Sums;

static void
add_part (const Counting *counting, QuoitFragmentationClass *row, QuoitShape shape, guint64 steps, Sums *sums,
          GArray *weights)
{
  QuoitFragmentationPart part = { .shape = shape };
  QuoitCutting cutting;
  guint64 weight, size, n_places;

  if (!quoit_cutting_init (&cutting, &counting->class->facts, shape, QUOIT_CUT_ANY)
      || (n_places = count_places (&cutting)) == 0)
    return;
  weight = ((guint64) quoit_shape_chips (shape) << WEIGHT_SHIFT) / n_places;
  size = quoit_shape_chips (cutting.turns[0].hosts);
  pack (counting, &cutting, steps, &part);
  part.most = MIN (part.most, row->n_hosts / size);
  sums->least += (unsigned __int128) weight * (row->n_hosts - part.most * size);
  sums->most += (unsigned __int128) weight * (row->n_hosts - part.least * size);
  sums->weight += weight;
  g_array_append_val (weights, weight);
  g_array_append_val (row->parts, part);
}

static void
set_results (QuoitFragmentationClass *row, const Sums *sums, const GArray *weights)
{
  const unsigned __int128 whole = (unsigned __int128) sums->weight * row->n_hosts;

  if (whole > 0)
    {
      row->least_ppm = (guint32) (sums->least * MILLION / whole);
      row->most_ppm = (guint32) ((sums->most * MILLION + whole - 1) / whole);
      /* One number if it is exact, also if it is rounded. */
      if (sums->least == sums->most)
        row->most_ppm = row->least_ppm;
    }
  for (guint i = 0; i < weights->len; i++)
    g_array_index (row->parts, QuoitFragmentationPart, i).weight_ppm
        = (guint32) ((unsigned __int128) g_array_index (weights, guint64, i) * MILLION / sums->weight);
}

static void
measure (Counting *counting, guint32 class_index, QuoitFragmentationClass *row, guint64 steps)
{
  g_autoptr (GArray) weights = g_array_new (FALSE, FALSE, sizeof (guint64));
  unsigned n_rows;
  const QuoitTopologyRow *rows = quoit_topology_rows (counting->class->facts.generation, &n_rows);
  Sums sums = { 0, 0, 0 };

  list_occupancies (counting, class_index);
  row->n_hosts = count_hosts (counting);
  for (unsigned i = 0; i < n_rows; i++)
    if (quoit_topology_is_new (rows, i))
      add_part (counting, row, rows[i].shape, steps, &sums, weights);
  set_results (row, &sums, weights);
}

void
quoit_fragmentation_measure_class (QuoitFragmentationClass *row, const QuoitFleet *fleet, QuoitClassId class_id,
                                   guint64 steps)
{
  Counting counting
      = { .fleet = fleet,
          .class = &fleet->layout->classes[class_id.index],
          .occupancies = g_ptr_array_new_with_free_func (g_free),
          .known = g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, NULL) };

  *row = (QuoitFragmentationClass) { .parts = g_array_new (FALSE, FALSE, sizeof (QuoitFragmentationPart)) };
  if (quoit_grid_init (&counting.grid, counting.class->facts.host_grid, 0))
    measure (&counting, class_id.index, row, steps);
  g_hash_table_unref (counting.known);
  g_ptr_array_unref (counting.occupancies);
}

void
quoit_fragmentation_class_clear (QuoitFragmentationClass *row)
{
  g_array_unref (row->parts);
}

void
quoit_fragmentation_measure (QuoitFragmentation *fragmentation, const QuoitFleet *fleet, guint64 steps)
{
  fragmentation->classes = g_array_new (FALSE, FALSE, sizeof (QuoitFragmentationClass));
  g_array_set_clear_func (fragmentation->classes, (GDestroyNotify) quoit_fragmentation_class_clear);
  for (guint32 class = 0; class < fleet->layout->n_classes; class ++)
    {
      QuoitFragmentationClass row;

      quoit_fragmentation_measure_class (&row, fleet, (QuoitClassId) { class }, steps);
      g_array_append_val (fragmentation->classes, row);
    }
}

void
quoit_fragmentation_clear (QuoitFragmentation *fragmentation)
{
  g_array_unref (fragmentation->classes);
}

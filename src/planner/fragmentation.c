/* SPDX-License-Identifier: Apache-2.0 */
/* The fragmentation of a class is the sum of w_t (1 - packed_t size_t / free) over the shapes t of parts that its
 * slices can have: w_t is the chips of t divided by its places in an empty slice, divided by the sum of all of them;
 * packed_t is how many parts fit at once; size_t and free are counted in hosts. It is 0 if the free hosts can be used
 * completely by parts of each shape, and 1 if they can be used by none. */
#include "planner/fragmentation.h"

#include "base/indices.h"
#include "placement/cut/counts.h"

enum { MILLION = 1000000, WEIGHT_SHIFT = 16 };

typedef struct {
  const QuoitClass *class;
  QuoitGrid grid;
  QuoitCutMemory *memory;
  guint64 steps;
} Counting;

static guint64
count_hosts (const Counting *counting)
{
  guint64 n = 0;
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, counting->memory->sets);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    {
      const QuoitFreeSet *set = key;
      QuoitHostSet free;

      if (set->n_slices == 0)
        continue;
      quoit_free_set_copy (set, &free);
      n += (guint64) set->n_slices * quoit_host_set_count (&counting->grid, &free);
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

void
quoit_fragmentation_sums_init (QuoitFragmentationSums *sums)
{
  *sums = (QuoitFragmentationSums) { .weights = g_array_new (FALSE, FALSE, sizeof (guint64)) };
}

void
quoit_fragmentation_sums_add (QuoitFragmentationSums *sums, QuoitFragmentationClass *row,
                              const QuoitFragmentationPart *part, guint64 n_places, guint64 n_hosts)
{
  const guint64 weight = ((guint64) quoit_shape_chips (part->shape) << WEIGHT_SHIFT) / n_places;

  sums->least += (unsigned __int128) weight * (row->n_hosts - part->most * n_hosts);
  sums->most += (unsigned __int128) weight * (row->n_hosts - part->least * n_hosts);
  sums->weight += weight;
  g_array_append_val (sums->weights, weight);
  g_array_append_vals (row->parts, part, 1);
}

static void
add_part (const Counting *counting, QuoitFragmentationClass *row, QuoitShape shape, QuoitFragmentationSums *sums)
{
  QuoitFragmentationPart part = { .shape = shape };
  QuoitCutting cutting;
  guint64 size, n_places;
  guint32 least, most;

  if (!quoit_cutting_init (&cutting, &counting->class->facts, shape, QUOIT_CUT_ANY)
      || (n_places = count_places (&cutting)) == 0)
    return;
  size = quoit_shape_chips (cutting.turns[0].hosts);
  quoit_part_counts_sum (counting->memory, &cutting, counting->steps, G_MAXUINT32, &least, &most);
  part.least = least;
  part.most = MIN (most, row->n_hosts / size);
  quoit_fragmentation_sums_add (sums, row, &part, n_places, size);
}

void
quoit_fragmentation_sums_finish (QuoitFragmentationSums *sums, QuoitFragmentationClass *row)
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
  for (guint i = 0; i < sums->weights->len && sums->weight > 0; i++)
    g_array_index (row->parts, QuoitFragmentationPart, i).weight_ppm
        = (guint32) ((unsigned __int128) g_array_index (sums->weights, guint64, i) * MILLION / sums->weight);
  g_array_unref (sums->weights);
}

static void
measure (const Counting *counting, QuoitFragmentationClass *row)
{
  unsigned n_rows;
  const QuoitTopologyRow *rows = quoit_topology_rows (counting->class->facts.generation, &n_rows);
  QuoitFragmentationSums sums;

  quoit_fragmentation_sums_init (&sums);
  row->n_hosts = count_hosts (counting);
  for (unsigned i = 0; i < n_rows; i++)
    if (quoit_topology_is_new (rows, i))
      add_part (counting, row, rows[i].shape, &sums);
  quoit_fragmentation_sums_finish (&sums, row);
}

void
quoit_fragmentation_measure_class (QuoitFragmentationClass *row, const QuoitFleet *fleet, QuoitClassId class_id,
                                   guint64 steps)
{
  Counting counting = { .class = &fleet->layout->classes[class_id.index], .steps = steps };
  QuoitCutStore *store;

  *row = (QuoitFragmentationClass) { .parts = g_array_new (FALSE, FALSE, sizeof (QuoitFragmentationPart)) };
  if (!quoit_grid_init (&counting.grid, counting.class->facts.host_grid, 0))
    return;
  store = quoit_cut_store_get (fleet->layout, counting.class, &counting.grid);
  counting.memory = quoit_cut_memory_take (store, fleet);
  measure (&counting, row);
  quoit_cut_memory_keep (counting.memory);
  quoit_cut_store_unref (store);
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

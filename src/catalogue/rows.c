/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the topologies of the catalogue on first use, as one array. */
#include "catalogue/table.h"

typedef struct {
  QuoitTopologyRow *rows;
  unsigned begin[QUOIT_N_GENERATIONS + 1]; /* by generation: its first row; the next generation's is its end */
} AllRows;

static int
compare_rows (gconstpointer a, gconstpointer b)
{
  const QuoitTopologyRow *x = a, *y = b;
  guint32 n = quoit_shape_chips (x->shape), m = quoit_shape_chips (y->shape);

  if (x->listing != y->listing)
    return x->listing < y->listing ? -1 : 1;
  if (n != m)
    return n < m ? -1 : 1;
  for (unsigned axis = 0; axis < 3; axis++)
    if (x->shape.dims[axis] != y->shape.dims[axis])
      return x->shape.dims[axis] < y->shape.dims[axis] ? -1 : 1;

  return 0;
}

static void
add_listed (GArray *rows, QuoitGeneration generation)
{
  for (unsigned i = 0; i < quoit_table_n_listed; i++)
    {
      const QuoitListedTopology *from = &quoit_table_listed[i];
      QuoitTopologyRow row = { from->generation,  from->shape,           from->chips_per_host,
                               from->accepted_by, QUOIT_TOPOLOGY_LISTED, from->machine_type };

      if (from->generation == generation)
        g_array_append_val (rows, row);
    }
}

static void
add_cubes (GArray *rows, QuoitGeneration generation)
{
  const QuoitCubeRule *rule = &quoit_table_cubes[generation];
  unsigned first = rows->len, side = rule->longest_side;
  QuoitTopologyRow row;

  for (unsigned x = 4; x <= side && x * 16 <= rule->max_chips; x += 4)
    for (unsigned y = 4; y <= side && x * y * 4 <= rule->max_chips; y += 4)
      for (unsigned z = 4; z <= side && x * y * z <= rule->max_chips; z += 4)
        if (quoit_row_find (generation, (QuoitShape) { { x, y, z }, 3 }, 4, &row))
          g_array_append_val (rows, row);

  if (rows->len > first)
    qsort (&g_array_index (rows, QuoitTopologyRow, first), rows->len - first, sizeof row, compare_rows);
}

static void
add_ray_only (GArray *rows, QuoitGeneration generation)
{
  QuoitTopologyRow row;

  for (unsigned i = 0; i < quoit_table_n_ray_only; i++)
    if (quoit_table_ray_only[i].generation == generation
        && quoit_row_find (generation, quoit_table_ray_only[i].shape, 0, &row))
      g_array_append_val (rows, row);
}

static void
build (AllRows *cache)
{
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (QuoitTopologyRow));

  for (unsigned generation = 1; generation < QUOIT_N_GENERATIONS; generation++)
    {
      cache->begin[generation] = rows->len;
      add_listed (rows, generation);
      add_cubes (rows, generation);
      add_ray_only (rows, generation);
    }
  cache->begin[QUOIT_N_GENERATIONS] = rows->len;
  cache->rows = (QuoitTopologyRow *) (void *) g_array_free (rows, FALSE);
}

const QuoitTopologyRow *
quoit_topology_rows (QuoitGeneration generation, unsigned *n_rows)
{
  static AllRows cache;
  static gsize is_built;

  if (g_once_init_enter (&is_built))
    {
      build (&cache);
      g_once_init_leave (&is_built, 1);
    }

  g_assert (generation > QUOIT_GENERATION_NONE && generation < QUOIT_N_GENERATIONS);
  *n_rows = cache.begin[generation + 1] - cache.begin[generation];
  return cache.rows + cache.begin[generation];
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/cubes/costs.h"

#include <string.h>

#include "fleet/blocks.h"

enum { CUBE_CHIPS = QUOIT_CUBE_SIDE * QUOIT_CUBE_SIDE * QUOIT_CUBE_SIDE };

static gboolean
is_made_of_cubes (QuoitShape shape)
{
  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    if (shape.dims[axis] % QUOIT_CUBE_SIDE != 0)
      return FALSE;
  return TRUE;
}

/* --- numbers of cubes --- */

void
quoit_cube_sizes_init (QuoitCubeSizes *sizes, QuoitGeneration generation)
{
  unsigned n_rows;
  const QuoitTopologyRow *rows = quoit_topology_rows (generation, &n_rows);

  *sizes = (QuoitCubeSizes) { 0, g_new (guint32, n_rows + 1) };
  for (unsigned i = 0; i < n_rows; i++)
    {
      const guint32 size = quoit_shape_chips (rows[i].shape) / CUBE_CHIPS;
      gboolean is_new = is_made_of_cubes (rows[i].shape);

      for (guint s = 0; s < sizes->n && is_new; s++)
        is_new = sizes->sizes[s] != size;
      if (is_new)
        sizes->sizes[sizes->n++] = size;
    }
}

void
quoit_cube_sizes_clear (QuoitCubeSizes *sizes)
{
  g_clear_pointer (&sizes->sizes, g_free);
}

guint64
quoit_cube_sizes_cost (const QuoitCubeSizes *sizes, guint32 n_all, guint32 n_free, guint32 n)
{
  guint64 cost = 0;

  for (guint s = 0; s < sizes->n; s++)
    {
      const guint32 size = sizes->sizes[s];

      if (size <= n_free)
        cost += (((guint64) size * CUBE_CHIPS) << 16) / (n_all / size) * (n_free / size - (n_free - n) / size);
    }
  return cost;
}

/* --- places of adjacent cubes --- */

/* Returns the shape with its sides in ascending order. */
static QuoitShape
sort_sides (QuoitShape shape)
{
  for (guint i = 1; i < QUOIT_N_AXES; i++)
    for (guint at = i; at > 0 && shape.dims[at - 1] > shape.dims[at]; at--)
      {
        const guint16 side = shape.dims[at];

        shape.dims[at] = shape.dims[at - 1];
        shape.dims[at - 1] = side;
      }
  return shape;
}

/* Returns the topologies that are made of cubes, of several that are turns of each other only one. */
static GArray *
list_shapes (QuoitGeneration generation)
{
  GArray *shapes = g_array_new (FALSE, FALSE, sizeof (QuoitShape));
  unsigned n_rows;
  const QuoitTopologyRow *rows = quoit_topology_rows (generation, &n_rows);

  for (unsigned i = 0; i < n_rows; i++)
    {
      const QuoitShape sorted = sort_sides (rows[i].shape);
      gboolean is_new = is_made_of_cubes (sorted);

      for (guint s = 0; s < shapes->len && is_new; s++)
        is_new = !quoit_shape_equal (g_array_index (shapes, QuoitShape, s), sorted);
      if (is_new)
        g_array_append_val (shapes, sorted);
    }
  return shapes;
}

static void
costs_clear (gpointer data)
{
  quoit_place_costs_free (((QuoitCubeCosts *) data)->costs);
}

QuoitCubeCosts *
quoit_cube_costs_get (const QuoitLayout *layout, QuoitGeneration generation, const QuoitGrid *grid)
{
  static const QuoitShape cube = { { QUOIT_CUBE_SIDE, QUOIT_CUBE_SIDE, QUOIT_CUBE_SIDE }, QUOIT_N_AXES };
  const guint32 key[] = { generation, grid->n[0], grid->n[1], grid->n[2] };
  QuoitCubeCosts *costs = quoit_recent_get (layout->place_costs, key, sizeof key);
  g_autoptr (GArray) shapes = NULL;

  if (costs != NULL)
    return costs;
  shapes = list_shapes (generation);
  costs = g_atomic_rc_box_new0 (QuoitCubeCosts);
  costs->costs
      = quoit_place_costs_new (grid, cube, (const QuoitShape *) (const void *) shapes->data, shapes->len);
  quoit_recent_put (layout->place_costs, key, sizeof key, costs, costs_clear);
  return costs;
}

void
quoit_cube_costs_unref (QuoitCubeCosts *costs)
{
  g_atomic_rc_box_release_full (costs, costs_clear);
}

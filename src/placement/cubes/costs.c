/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/cubes/costs.h"

#include <string.h>

#include "base/indices.h"
#include "fleet/blocks.h"
#include "geometry/pairs.h"

enum {
  CUBE_CHIPS = QUOIT_CUBE_SIDE * QUOIT_CUBE_SIDE * QUOIT_CUBE_SIDE,
  MOST_KNOWN = 4096 /* answers that are remembered for a grid */
};

/* About ten milliseconds for one block. */
#define STEPS G_GUINT64_CONSTANT (2000000)

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
  QuoitCubeCosts *costs = data;

  quoit_place_costs_free (costs->costs);
  g_hash_table_unref (costs->known);
  g_mutex_clear (&costs->lock);
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
  costs->costs = quoit_place_costs_new (grid, cube, (const QuoitShape *) (const void *) shapes->data, shapes->len);
  costs->known = g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, g_free);
  g_mutex_init (&costs->lock);
  quoit_recent_put (layout->place_costs, key, sizeof key, costs, costs_clear);
  return costs;
}

void
quoit_cube_costs_unref (QuoitCubeCosts *costs)
{
  g_atomic_rc_box_release_full (costs, costs_clear);
}

/* --- answers --- */

typedef enum { COUNT, BEST_PLACE } What;

/* Returns what the answer depends on. */
static GBytes *
make_key (const QuoitCubeQuestion *question, What what)
{
  const guint n_rows = quoit_grid_n_rows (question->grid);
  GByteArray *key = g_byte_array_sized_new (64 + n_rows * (guint) sizeof *question->free->rows);
  const guint8 byte = (guint8) what;

  g_byte_array_append (key, &byte, sizeof byte);
  for (guint turn = 0; turn < question->n_turns; turn++)
    g_byte_array_append (key, (const guint8 *) question->turns[turn].hosts.dims, sizeof question->turns->hosts.dims);
  g_byte_array_append (key, (const guint8 *) question->free->rows, n_rows * (guint) sizeof *question->free->rows);
  return g_byte_array_free_to_bytes (key);
}

/* Remembers an answer. The lock must be held. */
static void
remember (QuoitCubeCosts *costs, GBytes *key, gconstpointer answer, gsize size)
{
  if (g_hash_table_size (costs->known) >= MOST_KNOWN)
    g_hash_table_remove_all (costs->known);
  g_hash_table_insert (costs->known, g_bytes_ref (key), g_memdup2 (answer, size));
}

/* Returns the axis along which the box has two cubes; QUOIT_N_AXES: it is not a pair. */
static guint
pair_axis (QuoitShape box)
{
  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    if (box.dims[axis] == 2 && quoit_shape_chips (box) == 2)
      return axis;
  return QUOIT_N_AXES;
}

/* Returns the axes along which a slice of two cubes may lie; 0: the slices have other boxes. */
static unsigned
pair_axes (const QuoitCubeQuestion *question)
{
  unsigned axes = 0;

  for (guint turn = 0; turn < question->n_turns; turn++)
    axes |= 1u << pair_axis (question->turns[turn].hosts);
  return axes & ((1u << QUOIT_N_AXES) - 1);
}

static QuoitPackedPart
pack_pair (const QuoitCubeQuestion *question, guint32 one, guint32 other)
{
  const QuoitGrid *grid = question->grid;
  QuoitPackedPart part = { .origin = one };
  guint32 step = 1;
  guint axis = 0;

  while (grid->n[axis] == 1 || other - one != step)
    step *= grid->n[axis++];
  while (pair_axis (question->turns[part.turn].hosts) != axis)
    part.turn++;
  return part;
}

static void
pack_pairs (const QuoitCubeQuestion *question, unsigned axes, QuoitPackingResult *result)
{
  const guint32 n = quoit_grid_n_hosts (question->grid);
  g_autofree guint32 *partners = g_new (guint32, n + 1);

  *result = (QuoitPackingResult) { .parts = g_array_new (FALSE, FALSE, sizeof (QuoitPackedPart)),
                                   .host_weights = g_array_new (FALSE, TRUE, sizeof (guint64)),
                                   .demand_weights = g_array_new (FALSE, TRUE, sizeof (guint64)),
                                   .unit = 1 };
  result->least = result->most = quoit_grid_find_pairs (question->grid, question->free, axes, partners);
  g_array_set_size (result->host_weights, n);
  g_array_set_size (result->demand_weights, 1);
  quoit_grid_cover_pairs (question->grid, question->free, axes, partners,
                          (guint64 *) (void *) result->host_weights->data);
  for (guint32 one = 0; one < n; one++)
    if (partners[one] != QUOIT_NO_INDEX && partners[one] > one)
      {
        const QuoitPackedPart part = pack_pair (question, one, partners[one]);

        g_array_append_val (result->parts, part);
      }
}

void
quoit_cube_question_pack (const QuoitCubeQuestion *question, QuoitPackingResult *result)
{
  const QuoitPackingDemand demand = { question->turns, question->n_turns, 1, 0 };
  const unsigned axes = pair_axes (question);

  if (axes != 0)
    {
      pack_pairs (question, axes, result);
      return;
    }

  quoit_packing_solve (question->grid, question->free, &demand, 1, QUOIT_OFFSETS_ANY, STEPS, result);
}

static QuoitCubeCount
count (const QuoitCubeQuestion *question)
{
  const guint32 n_free = quoit_host_set_count (question->grid, question->free);
  QuoitPackingResult result;
  QuoitCubeCount counted = { n_free, n_free };

  if (quoit_shape_chips (question->turns[0].hosts) == 1)
    return counted;
  quoit_cube_question_pack (question, &result);
  counted = (QuoitCubeCount) { (guint32) result.least, (guint32) result.most };
  quoit_packing_result_clear (&result);
  return counted;
}

QuoitCubeCount
quoit_cube_costs_count (QuoitCubeCosts *costs, const QuoitCubeQuestion *question)
{
  g_autoptr (GBytes) key = NULL;
  const QuoitCubeCount *known;
  QuoitCubeCount counted;

  if (!g_mutex_trylock (&costs->lock))
    return count (question);
  key = make_key (question, COUNT);
  known = g_hash_table_lookup (costs->known, key);
  counted = known != NULL ? *known : count (question);
  if (known == NULL)
    remember (costs, key, &counted, sizeof counted);
  g_mutex_unlock (&costs->lock);
  return counted;
}

static QuoitPlace
find_best (const QuoitCubeCosts *costs, const QuoitCubeQuestion *question)
{
  QuoitPlace place;

  if (!quoit_places_find_best (costs->costs, question->free, question->turns, question->n_turns, &place))
    place = (QuoitPlace) { QUOIT_NO_INDEX, 0, 0 };
  return place;
}

gboolean
quoit_cube_costs_find_best (QuoitCubeCosts *costs, const QuoitCubeQuestion *question, QuoitPlace *place)
{
  g_autoptr (GBytes) key = NULL;
  const QuoitPlace *known;

  if (!g_mutex_trylock (&costs->lock))
    {
      *place = find_best (costs, question);
      return place->origin != QUOIT_NO_INDEX;
    }
  key = make_key (question, BEST_PLACE);
  known = g_hash_table_lookup (costs->known, key);
  *place = known != NULL ? *known : find_best (costs, question);
  if (known == NULL)
    remember (costs, key, place, sizeof *place);
  g_mutex_unlock (&costs->lock);
  return place->origin != QUOIT_NO_INDEX;
}

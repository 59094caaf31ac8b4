/* SPDX-License-Identifier: Apache-2.0 */
/* Ray's grids of hosts: computes the place of a host in the grid, and the sub-slices that contain it. */
#include "models/ray/subslices.h"

#include <string.h>

#include "base/name-hash.h"
#include "models/ray/nodes.h"
#include "base/python.h"
#include "models/ray/ray.h"

/* The axes of a grid in the order of worker ids: the id changes fastest along x. */
enum { Z, Y, X, N_AXES };

typedef struct {
  const char *topology;
  unsigned n_dims;
  int64_t hosts[N_AXES]; /* hosts along each axis; a grid of two dimensions has one layer */
} Grid;

/* Ray's table. It assumes certain hosts; real hosts may have another size. For each number of dimensions, the grids are
 * sorted by size. */
static const Grid grids[] = {
  { "2x2", 2, { 1, 1, 1 } },       { "2x4", 2, { 1, 1, 2 } },      { "4x4", 2, { 1, 2, 2 } },
  { "4x8", 2, { 1, 2, 4 } },       { "8x8", 2, { 1, 4, 4 } },      { "8x16", 2, { 1, 4, 8 } },
  { "16x16", 2, { 1, 8, 8 } },     { "2x2x1", 3, { 1, 1, 1 } },    { "2x2x2", 3, { 1, 1, 2 } },
  { "2x2x4", 3, { 1, 1, 4 } },     { "2x4x4", 3, { 1, 2, 4 } },    { "4x4x4", 3, { 2, 2, 4 } },
  { "4x4x8", 3, { 2, 2, 8 } },     { "4x8x8", 3, { 2, 4, 8 } },    { "8x8x8", 3, { 4, 4, 8 } },
  { "8x8x16", 3, { 4, 4, 16 } },   { "8x16x16", 3, { 4, 8, 16 } }, { "16x16x16", 3, { 8, 8, 16 } },
  { "16x16x24", 3, { 8, 8, 24 } },
};

int64_t *
quoit_ray_topology_dims (const char *topology, uint32_t *n_dims, GError **error)
{
  g_autoptr (GPtrArray) numbers = quoit_ray_parse_sides (topology, error);
  g_autofree int64_t *dims = NULL;

  if (numbers == NULL)
    return NULL;

  dims = g_new (int64_t, numbers->len);
  for (unsigned i = 0; i < numbers->len; i++)
    if (!quoit_big_to_int (numbers->pdata[i], &dims[i]))
      {
        g_autofree char *quoted = quoit_quote (topology);

        return quoit_fail_null (error, QUOIT_ERROR_INVALID, "topology %s: place %u: expected an integer of 64 bits",
                                quoted, i + 1);
      }
  *n_dims = numbers->len;
  return g_steal_pointer (&dims);
}

static const Grid *
find_grid (const char *topology)
{
  for (unsigned i = 0; i < G_N_ELEMENTS (grids); i++)
    if (g_strcmp0 (grids[i].topology, topology) == 0)
      return &grids[i];

  return NULL;
}

static const Grid *
require_grid (const char *topology, GError **error)
{
  const Grid *grid = find_grid (topology);
  g_autofree char *quoted = NULL;

  if (grid != NULL || !quoit_ray_require_text (topology, "topology", error))
    return grid;

  quoted = quoit_quote (topology);
  return quoit_fail_null (error, QUOIT_ERROR_INVALID,
                          "topology %s: expected one for which Ray has a grid of hosts, of 2x2 to 16x16 or 2x2x1 to "
                          "16x16x24",
                          quoted);
}

int64_t *
quoit_ray_worker_grid (const char *topology, uint32_t *n_dims, GError **error)
{
  const Grid *grid = require_grid (topology, error);

  if (grid == NULL)
    return NULL;

  *n_dims = grid->n_dims;
  return g_memdup2 (&grid->hosts[N_AXES - grid->n_dims], grid->n_dims * sizeof (int64_t));
}

gboolean
quoit_ray_count_hosts (const char *topology, int64_t *n_hosts, GError **error)
{
  const Grid *grid = require_grid (topology, error);

  if (grid == NULL)
    return FALSE;

  *n_hosts = grid->hosts[Z] * grid->hosts[Y] * grid->hosts[X];
  return TRUE;
}

/* Returns the smallest coordinate of all chips along @axis of the grid. The coordinates of a chip begin with x; missing
 * ones count as 0. */
static int64_t
least_coordinate (const int64_t *coords, unsigned n_chips, unsigned n_axes, unsigned axis)
{
  unsigned coordinate = X - axis;
  int64_t least = coordinate < n_axes ? coords[coordinate] : 0;

  for (unsigned chip = 1; chip < n_chips && coordinate < n_axes; chip++)
    least = MIN (least, coords[(gsize) chip * n_axes + coordinate]);
  return least;
}

/* Computes the number of chips along each axis of the grid. */
static void
read_chips (const Grid *grid, int64_t chips[N_AXES])
{
  unsigned n_dims = 0;
  g_autofree int64_t *dims = quoit_ray_topology_dims (grid->topology, &n_dims, NULL);

  g_assert (dims != NULL && n_dims == grid->n_dims);
  chips[Z] = 1;
  memcpy (chips + N_AXES - n_dims, dims, n_dims * sizeof (int64_t));
}

bool
quoit_ray_physical_worker_id (const int64_t *coords, uint32_t n_chips, uint32_t n_axes, const char *parent_topology,
                              int64_t *worker_id, GError **error)
{
  const Grid *grid;
  int64_t chips[N_AXES];
  __int128 id = 0;

  if (n_chips == 0 || n_axes < 2)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "coordinates '%u of %u': expected one chip or more, of two or more",
                       n_chips, n_axes);

  grid = require_grid (parent_topology, error);
  if (grid == NULL)
    return FALSE;

  read_chips (grid, chips);
  for (unsigned axis = N_AXES - grid->n_dims; axis < N_AXES; axis++)
    {
      int64_t block = MAX (1, chips[axis] / grid->hosts[axis]);
      int64_t least = least_coordinate (coords, n_chips, n_axes, axis);
      int64_t position = (int64_t) quoit_python_floor_divide (least, block);

      if (position >= grid->hosts[axis])
        return quoit_fail (error, QUOIT_ERROR_INVALID,
                           "coordinate '%" G_GINT64_FORMAT "' of %c: expected less than %" G_GINT64_FORMAT " in %s",
                           (gint64) least, "zyx"[axis], (gint64) (block * grid->hosts[axis]), grid -> topology);
      id = id * grid->hosts[axis] + position;
    }
  if (id < INT64_MIN)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "coordinates: expected a place in the grid of 64 bits");

  *worker_id = (int64_t) id;
  return TRUE;
}

static gboolean
is_within (const Grid *inner, const Grid *outer)
{
  for (unsigned axis = 0; axis < N_AXES; axis++)
    if (inner->hosts[axis] > outer->hosts[axis])
      return FALSE;

  return inner->n_dims == outer->n_dims;
}

/* Computes the index of the sub-slice that contains the worker, from the layer, row and column of the worker. A worker
 * id beyond the grid continues in further layers. Ray continues in rows if the grid has two dimensions; the result is
 * the same, because all sides of such grids are powers of two. */
static __int128
subslice_index (const Grid *sub, const Grid *parent, int64_t worker_id)
{
  int64_t hosts_per_layer = parent->hosts[Y] * parent->hosts[X];
  int64_t layer = (int64_t) quoit_python_floor_divide (worker_id, hosts_per_layer);
  int64_t rest = (int64_t) ((__int128) worker_id - (__int128) layer * hosts_per_layer);
  __int128 index = quoit_python_floor_divide (layer, sub->hosts[Z]);

  index = index * (parent->hosts[Y] / sub->hosts[Y]) + rest / parent->hosts[X] / sub->hosts[Y];
  return index * (parent->hosts[X] / sub->hosts[X]) + rest % parent->hosts[X] / sub->hosts[X];
}

QuoitRayLabels *
quoit_ray_subslice_labels (int64_t worker_id, const char *parent_topology, GError **error)
{
  const Grid *parent = require_grid (parent_topology, error);
  QuoitRayLabels *labels;

  if (parent == NULL)
    return NULL;

  labels = quoit_ray_labels_new ();
  for (const Grid *sub = grids; sub < parent; sub++)
    if (is_within (sub, parent))
      {
        g_autofree char *key = g_strconcat (QUOIT_RAY_LABEL_SUBSLICE_PREFIX, sub->topology, NULL);
        g_autofree char *value
            = g_strdup_printf ("%" G_GINT64_FORMAT, (gint64) subslice_index (sub, parent, worker_id));

        quoit_ray_labels_set (labels, key, value);
      }
  return labels;
}

char **
quoit_ray_parent_topologies (const QuoitRayNodes *nodes, const char *subslice_topology, GError **error)
{
  const Grid *sub = require_grid (subslice_topology, error);
  g_autoptr (GHashTable) alive = NULL;
  g_autoptr (GStrvBuilder) parents = NULL;

  if (sub == NULL)
    return NULL;

  alive = g_hash_table_new (quoit_hash_text, g_str_equal);
  for (unsigned i = 0; i < quoit_ray_nodes_get_n (nodes); i++)
    {
      const char *topology = quoit_ray_nodes_label (nodes, i, QUOIT_RAY_LABEL_TOPOLOGY);

      if (topology != NULL && quoit_ray_nodes_is_alive (nodes, i))
        g_hash_table_add (alive, (gpointer) topology);
    }
  parents = g_strv_builder_new ();
  for (unsigned i = 0; i < G_N_ELEMENTS (grids); i++)
    if (&grids[i] != sub && is_within (sub, &grids[i]) && g_hash_table_contains (alive, grids[i].topology))
      g_strv_builder_add (parents, grids[i].topology);
  return g_strv_builder_end (parents);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The device mesh of a MaxText job: a mesh of JAX with the sizes filled in, or one of MaxText's rings in each slice. */
#include <string.h>

#include "models/maxtext/mesh.h"
#include "models/jax/mesh.h"

/* MaxText's rings use a mesh of 16x16 devices, in blocks of two rows; a ring runs along one row and back along the
 * other. */
enum { SIDE = 16, N_PLACES = SIDE * SIDE };

/* Fills @flat_places, which is row-major in the sizes of the ring, with indices into the row-major mesh of 16x16. */
static void
order_rings (unsigned columns, guint32 *flat_places)
{
  for (unsigned row = 0, at = 0; row < SIDE; row += 2)
    for (unsigned column = 0; column < SIDE; column += columns)
      for (unsigned i = 0; i < 2 * columns; i++)
        flat_places[at++] = i < columns ? row * SIDE + column + i : (row + 1) * SIDE + column + 2 * columns - 1 - i;
}

/* Splits a row-major index of a hybrid mesh into the index of its granule and the index within that granule. */
static void
split_place (guint32 place, const QuoitMesh *mesh, guint32 *granule, guint32 *within)
{
  guint32 n_granules = 1, n_within = 1;

  *granule = *within = 0;
  for (guint axis = mesh->n_axes; axis-- > 0;)
    {
      guint32 ici = mesh->sizes[axis] / mesh->dcn_sizes[axis], at = place % mesh->sizes[axis];

      *granule += at / ici * n_granules;
      *within += at % ici * n_within;
      n_granules *= mesh->dcn_sizes[axis];
      n_within *= ici;
      place /= mesh->sizes[axis];
    }
}

/* Builds the mesh from @flat, a mesh of 16x16 devices for each granule, one after the other. */
static QuoitMesh *
build_ring_mesh (const QuoitDevices *devices, const QuoitMesh *flat, const gint64 *ici, const gint64 *dcn, guint n_axes,
                 unsigned columns)
{
  QuoitMeshPart part = { .order = QUOIT_MESH_ORDER_RING };
  g_autofree gint64 *sizes = g_new (gint64, n_axes);
  guint32 *indices = g_new (guint32, flat->n_devices), rings[N_PLACES];
  QuoitMesh *mesh;

  order_rings (columns, rings);
  for (guint axis = 0; axis < n_axes; axis++)
    sizes[axis] = ici[axis] * dcn[axis];
  memcpy (indices, flat->indices, flat->n_devices * sizeof *indices);
  mesh = quoit_mesh_new_from_indices (devices, sizes, n_axes, indices, flat->n_devices, &part);
  mesh->n_granules = flat->n_granules;
  mesh->keys = flat->keys == NULL ? NULL : g_memdup2 (flat->keys, flat->n_granules * sizeof *flat->keys);
  for (guint axis = 0; axis < n_axes; axis++)
    mesh->dcn_sizes[axis] = (guint32) dcn[axis];

  for (guint32 place = 0; place < mesh->n_devices; place++)
    {
      guint32 granule, within;

      split_place (place, mesh, &granule, &within);
      mesh->indices[place] = flat->indices[granule * N_PLACES + rings[within]];
      mesh->ids[place] = g_array_index (devices->list, QuoitDevice, mesh->indices[place]).id;
    }
  return mesh;
}

/* Returns the mesh of a ring. @dcn is NULL for one slice. */
static QuoitMesh *
ring_mesh_new (const QuoitDevices *devices, const gint64 *ici, const gint64 *dcn, guint n_axes, int64_t n_slices,
               unsigned columns, GError **error)
{
  static const int64_t square[] = { SIDE, SIDE };
  const int64_t stacked[] = { n_slices, 1 };
  g_autoptr (QuoitMesh) flat = dcn == NULL ? quoit_mesh_new (devices, square, 2, 0, error)
                                           : quoit_mesh_new_hybrid (devices, square, 2, stacked, 2, 0, error);
  g_autofree gint64 *ones = g_new (gint64, n_axes);

  for (guint axis = 0; axis < n_axes; axis++)
    ones[axis] = 1;
  return flat == NULL ? NULL : build_ring_mesh (devices, flat, ici, dcn == NULL ? ones : dcn, n_axes, columns);
}

/* --- MaxText's order for v6e --- */

static gboolean
is_box_of_v6e (const QuoitDevices *devices)
{
  static const gint32 wanted[3] = { 2, 4, 1 };
  const QuoitDevice *list = &g_array_index (devices->list, QuoitDevice, 0);

  if (strcmp (devices->kind.name, "TPU v6 lite") != 0)
    return FALSE;
  for (unsigned axis = 0; axis < 3; axis++)
    {
      gint32 lowest = list[0].at[axis], highest = lowest;

      for (guint i = 1; i < devices->list->len; i++)
        {
          lowest = MIN (lowest, list[i].at[axis]);
          highest = MAX (highest, list[i].at[axis]);
        }
      if (highest - lowest + 1 != wanted[axis])
        return FALSE;
    }
  return TRUE;
}

static void
swap (QuoitMesh *mesh, guint32 a, guint32 b)
{
  guint32 index = mesh->indices[a];
  gint64 id = mesh->ids[a];

  mesh->indices[a] = mesh->indices[b];
  mesh->ids[a] = mesh->ids[b];
  mesh->indices[b] = index;
  mesh->ids[b] = id;
}

/* If one axis has all devices of a 2x4 box, MaxText reverses the last four. Their order is then no longer a ring. */
static void
optimize_for_v6e (QuoitMesh *mesh, const QuoitDevices *devices)
{
  guint axis = 0;

  while (axis < mesh->n_axes && mesh->sizes[axis] != mesh->n_devices)
    axis++;
  if (axis == mesh->n_axes || mesh->n_devices != 8 || !is_box_of_v6e (devices))
    return;
  swap (mesh, 4, 7);
  swap (mesh, 5, 6);
}

/* --- mesh --- */

/* Returns a copy of the sizes with -1 filled in; free it with g_free(). NULL if that is impossible. */
static int64_t *
fill_copy (QuoitMaxtextLinks links, const int64_t *sizes, unsigned n_axes, int64_t target, GError **error)
{
  g_autofree int64_t *copy = g_memdup2 (sizes, n_axes * sizeof *sizes);

  return quoit_maxtext_fill (links, copy, n_axes, target, error) ? g_steal_pointer (&copy) : NULL;
}

QuoitMesh *
quoit_maxtext_mesh_new (const QuoitDevices *devices, const int64_t *ici, const int64_t *dcn, uint32_t n_axes,
                        int64_t n_slices, const char *custom_mesh, uint32_t flags, GError **error)
{
  const unsigned known = QUOIT_MAXTEXT_MESH_SPLIT_PHYSICAL_AXES | QUOIT_MAXTEXT_MESH_OPTIMIZE_FOR_V6E;
  gboolean splits_axes = (flags & QUOIT_MAXTEXT_MESH_SPLIT_PHYSICAL_AXES) != 0;
  unsigned mesh_flags = splits_axes ? QUOIT_MESH_SPLIT_PHYSICAL_AXES : 0, columns = 0;
  g_autofree int64_t *ici_filled = NULL, *dcn_filled = NULL;
  QuoitMesh *mesh;

  g_return_val_if_fail (devices != NULL && ici != NULL && dcn != NULL, NULL);

  if (!quoit_mesh_flags_check (flags, known, error))
    return NULL;
  if (n_axes == 0 || n_axes > QUOIT_MESH_MOST_AXES)
    return quoit_fail_null (error, QUOIT_ERROR_INVALID, "mesh of '%u' axes: expected 1 to %d", n_axes,
                            QUOIT_MESH_MOST_AXES);
  if (n_slices < 1 || n_slices > QUOIT_MAXTEXT_MOST_SLICES)
    return quoit_fail_null (error, QUOIT_ERROR_INVALID, "slices '%" G_GINT64_FORMAT "': expected 1 to %d",
                            (gint64) n_slices, QUOIT_MAXTEXT_MOST_SLICES);
  ici_filled = fill_copy (QUOIT_MAXTEXT_ICI, ici, n_axes, devices->list->len / n_slices, error);
  if (ici_filled == NULL)
    return NULL;
  if (n_slices > 1 && (dcn_filled = fill_copy (QUOIT_MAXTEXT_DCN, dcn, n_axes, n_slices, error)) == NULL)
    return NULL;
  if (custom_mesh != NULL && *custom_mesh != '\0' && (n_slices > 1 || splits_axes)
      && !quoit_maxtext_lookup_ring (custom_mesh, ici_filled, n_axes, &columns, error))
    return NULL;

  if (columns > 0)
    return ring_mesh_new (devices, ici_filled, dcn_filled, n_axes, n_slices, columns, error);
  if (n_slices > 1)
    return quoit_mesh_new_hybrid (devices, ici_filled, n_axes, dcn_filled, n_axes, mesh_flags, error);
  mesh = quoit_mesh_new (devices, ici_filled, n_axes, mesh_flags, error);
  if (mesh != NULL && !splits_axes && (flags & QUOIT_MAXTEXT_MESH_OPTIMIZE_FOR_V6E) != 0)
    optimize_for_v6e (mesh, devices);
  return mesh;
}

/* --- part of a slice --- */

QuoitDevices *
quoit_maxtext_devices_new_box (const QuoitDevices *devices, const int64_t *sides, uint32_t n_sides, GError **error)
{
  g_autoptr (QuoitDevices) selected = NULL;
  gint32 lowest[3] = { G_MAXINT32, G_MAXINT32, G_MAXINT32 };

  g_return_val_if_fail (devices != NULL && (sides != NULL || n_sides == 0), NULL);

  if (n_sides > 3)
    return quoit_fail_null (error, QUOIT_ERROR_INVALID, "box of '%u' sides: expected at most 3", n_sides);
  for (guint i = 0; i < devices->list->len; i++)
    for (unsigned axis = 0; axis < 3; axis++)
      lowest[axis] = MIN (lowest[axis], g_array_index (devices->list, QuoitDevice, i).at[axis]);

  selected = quoit_devices_new (quoit_devices_get_kind (devices), error);
  for (guint i = 0; selected != NULL && i < devices->list->len; i++)
    {
      const QuoitDevice *device = &g_array_index (devices->list, QuoitDevice, i);
      unsigned axis = 0;

      while (axis < n_sides && (gint64) device->at[axis] - lowest[axis] < sides[axis])
        axis++;
      if (axis == n_sides)
        g_array_append_vals (selected->list, device, 1);
    }
  if (selected != NULL && selected->list->len == 0)
    return quoit_fail_null (error, QUOIT_ERROR_INVALID, "box: expected sides of 1 or more, and devices");
  return g_steal_pointer (&selected);
}

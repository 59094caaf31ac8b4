/* SPDX-License-Identifier: Apache-2.0 */
/* Meshes of one granule: create_device_mesh() and make_mesh() (gke-kuberay-jax 6.2, 6.4). */
#include "models/jax/mesh.h"

#include <string.h>

/* JAX's make_mesh() iterates over a NumPy array, which supports at most 32 axes. */
enum { MOST_MADE_AXES = 32 };

gboolean
quoit_mesh_flags_check (unsigned flags, unsigned allowed, GError **error)
{
  return (flags & ~allowed) == 0
         || quoit_fail (error, QUOIT_ERROR_INVALID, "flags '%u': expected some of %u for this mesh", flags, allowed);
}

static gboolean
arrange_on_torus (const QuoitDeviceSet *set, const gint64 *sizes, guint n, unsigned flags, guint32 *places,
                  QuoitMeshPart *part, GError **error)
{
  g_autofree guint32 *cells = g_new (guint32, set->n);
  QuoitTorus torus;

  if (!quoit_mesh_physical (set, &torus, cells, error))
    return FALSE;
  if ((flags & QUOIT_MESH_CONTIGUOUS_SUBMESHES) != 0 && !quoit_mesh_make_contiguous (&torus, sizes, n, error))
    return FALSE;
  if (!quoit_mesh_assign_axes (&torus, sizes, n, flags, part, error))
    return FALSE;

  quoit_torus_order (&torus, &part->shares, n, places);
  for (guint32 i = 0; i < set->n; i++)
    places[i] = cells[places[i]];
  return TRUE;
}

gboolean
quoit_mesh_order_ring (const QuoitDeviceSet *set, const gint64 *sizes, guint n, guint32 *places, QuoitMeshOrder *order,
                       GError **error)
{
  QuoitRing ring = set->devices->kind.ring;

  *order = QUOIT_MESH_ORDER_TORUS;
  return ring == NULL || ring (set, sizes, n, places, order, error);
}

gboolean
quoit_mesh_arrange (const QuoitDeviceSet *set, const gint64 *sizes, guint n, unsigned flags, guint32 *places,
                    QuoitMeshPart *part, GError **error)
{
  QuoitMeshOrder order;

  if (!quoit_mesh_sizes_fit ("mesh shape", sizes, n, set->n, "devices", error))
    return FALSE;
  if (!quoit_mesh_order_ring (set, sizes, n, places, &order, error))
    return FALSE;
  if (order == QUOIT_MESH_ORDER_TORUS)
    return arrange_on_torus (set, sizes, n, flags, places, part, error);

  memset (part, 0, sizeof *part);
  part->order = order;
  return TRUE;
}

QuoitMesh *
quoit_mesh_new_from_indices (const QuoitDevices *devices, const gint64 *sizes, guint n, guint32 *indices, guint32 count,
                             const QuoitMeshPart *part)
{
  QuoitMesh *mesh = g_new0 (QuoitMesh, 1);

  mesh->n_axes = n;
  for (guint l = 0; l < n; l++)
    {
      mesh->sizes[l] = (guint32) sizes[l];
      mesh->dcn_sizes[l] = 1;
    }
  mesh->n_devices = count;
  mesh->n_granules = 1;
  mesh->indices = indices;
  mesh->ids = g_new (gint64, count);
  for (guint32 i = 0; i < count; i++)
    mesh->ids[i] = devices == NULL ? indices[i] : g_array_index (devices->list, QuoitDevice, indices[i]).id;
  mesh->parts = g_array_new (FALSE, FALSE, sizeof (QuoitMeshPart));
  if (part != NULL)
    g_array_append_vals (mesh->parts, part, 1);
  return mesh;
}

static QuoitMesh *
arrange_first_devices (const QuoitDevices *devices, guint32 count, const gint64 *sizes, guint n, unsigned flags,
                       GError **error)
{
  g_autofree guint32 *members = g_new (guint32, count), *places = g_new (guint32, count);
  QuoitDeviceSet set = { devices, members, count };
  QuoitMeshPart part = { 0 };

  for (guint32 i = 0; i < count; i++)
    members[i] = i;
  if (!quoit_mesh_arrange (&set, sizes, n, flags, places, &part, error))
    return NULL;

  return quoit_mesh_new_from_indices (devices, sizes, n, g_steal_pointer (&places), count, &part);
}

QuoitMesh *
quoit_mesh_new (const QuoitDevices *devices, const int64_t *sizes, uint32_t n_axes, uint32_t flags, GError **error)
{
  g_return_val_if_fail (devices != NULL && (sizes != NULL || n_axes == 0), NULL);

  if (!quoit_mesh_flags_check (flags, QUOIT_MESH_CONTIGUOUS_SUBMESHES | QUOIT_MESH_SPLIT_PHYSICAL_AXES, error)
      || !quoit_mesh_sizes_check ("mesh shape", sizes, n_axes, error))
    return NULL;

  return arrange_first_devices (devices, devices->list->len, sizes, n_axes, flags, error);
}

/* Returns whether the devices belong to one slice according to make_mesh(), which only checks whether the first
 * device has a slice. */
static gboolean
is_of_one_slice (const QuoitMesh *mesh, const QuoitDevices *devices)
{
  const QuoitDevice *list = &g_array_index (devices->list, QuoitDevice, 0);
  gint32 slice = list[mesh->indices[0]].slice;

  for (guint32 i = 0; slice != -1 && i < mesh->n_devices; i++)
    if (list[mesh->indices[i]].slice != slice)
      return FALSE;
  return TRUE;
}

QuoitMesh *
quoit_mesh_new_auto (const QuoitDevices *devices, const int64_t *sizes, uint32_t n_axes, GError **error)
{
  g_autoptr (QuoitMesh) mesh = NULL;
  guint64 count;

  g_return_val_if_fail (devices != NULL && (sizes != NULL || n_axes == 0), NULL);

  if (!quoit_mesh_sizes_check ("mesh shape", sizes, n_axes, error))
    return NULL;
  if (n_axes > MOST_MADE_AXES)
    return quoit_fail_null (error, QUOIT_ERROR_INVALID, "mesh shape of '%u' axes: expected at most %d for make_mesh",
                            n_axes, MOST_MADE_AXES);
  count = quoit_mesh_sizes_product (sizes, n_axes);
  if (count > devices->list->len
      && !quoit_mesh_sizes_fit ("mesh shape", sizes, n_axes, devices->list->len, "devices", error))
    return NULL;

  mesh = arrange_first_devices (devices, (guint32) count, sizes, n_axes,
                                devices->kind.make_mesh_splits ? QUOIT_MESH_SPLIT_PHYSICAL_AXES : 0, error);
  if (mesh != NULL && !is_of_one_slice (mesh, devices))
    return quoit_fail_null (error, QUOIT_ERROR_INVALID,
                            "'%u' devices of several slices: expected those of one, or a hybrid mesh", mesh->n_devices);

  return g_steal_pointer (&mesh);
}

/* --- without devices --- */

static gboolean
read_torus (const gint64 *sizes, unsigned n, QuoitTorus *torus, GError **error)
{
  guint32 checked[QUOIT_TORUS_MOST_AXES];

  if (n == 0 || n > QUOIT_TORUS_MOST_AXES)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "'%u' physical axes: expected 1 to %d", n, QUOIT_TORUS_MOST_AXES);
  if (!quoit_mesh_sizes_check ("physical shape", sizes, n, error))
    return FALSE;
  if (quoit_mesh_sizes_product (sizes, n) > QUOIT_MESH_MOST_DEVICES)
    {
      g_autofree char *text = quoit_mesh_sizes_format (sizes, n), *quoted = quoit_quote (text);

      return quoit_fail (error, QUOIT_ERROR_INVALID, "physical shape %s: expected at most %d places", quoted,
                         QUOIT_MESH_MOST_DEVICES);
    }

  for (guint p = 0; p < n; p++)
    checked[p] = (guint32) sizes[p];
  *torus = quoit_torus_make (checked, n);
  return TRUE;
}

/* JAX passes a single size of -1 on to NumPy, which infers that size from the others. JAX checks the product of the
 * sizes only if it splits physical axes. So it accepts -1 if the other axes already use all physical axes, and NumPy
 * infers 1. */
static gboolean
infer_size (const QuoitTorus *torus, const gint64 *sizes, guint n, gint64 *inferred, QuoitMeshPart *part)
{
  guint n_unspecified = 0;

  if (n < 2 || n > QUOIT_MESH_MOST_AXES)
    return FALSE;
  for (guint l = 0; l < n; l++)
    {
      n_unspecified += sizes[l] == -1;
      inferred[l] = sizes[l] == -1 ? 1 : sizes[l];
    }
  return n_unspecified == 1 && quoit_mesh_sizes_check ("mesh shape", inferred, n, NULL)
         && quoit_mesh_sizes_product (inferred, n) == quoit_torus_volume (torus)
         && quoit_mesh_assign_axes (torus, inferred, n, 0, part, NULL);
}

static gboolean
assign_places (const QuoitTorus *torus, const gint64 *sizes, guint n, unsigned flags, QuoitMeshPart *part,
               GError **error)
{
  return quoit_mesh_sizes_check ("mesh shape", sizes, n, error)
         && quoit_mesh_sizes_fit ("mesh shape", sizes, n, quoit_torus_volume (torus), "places", error)
         && quoit_mesh_assign_axes (torus, sizes, n, flags, part, error);
}

QuoitMesh *
quoit_mesh_new_torus (const char *kind, const int64_t *physical_sizes, uint32_t n_physical_axes, const int64_t *sizes,
                      uint32_t n_axes, uint32_t flags, GError **error)
{
  QuoitDeviceKind device_kind = { .name = NULL };
  QuoitTorus torus = { .n_axes = 0 };
  QuoitMeshPart part = { 0 }, inferred_part = { 0 };
  gint64 inferred[QUOIT_MESH_MOST_AXES];
  guint32 volume, *places;
  gboolean is_inferred;

  g_return_val_if_fail ((physical_sizes != NULL || n_physical_axes == 0) && (sizes != NULL || n_axes == 0), NULL);

  if ((kind != NULL && !quoit_device_kind_lookup (kind, &device_kind, error))
      || !quoit_mesh_flags_check (flags, QUOIT_MESH_SPLIT_PHYSICAL_AXES, error)
      || !read_torus (physical_sizes, n_physical_axes, &torus, error))
    return NULL;
  torus.core_first = device_kind.core_first && torus.n_axes == 4;
  is_inferred = infer_size (&torus, sizes, n_axes, inferred, &inferred_part);
  if (!is_inferred && !assign_places (&torus, sizes, n_axes, flags, &part, error))
    return NULL;

  volume = quoit_torus_volume (&torus);
  places = g_new (guint32, volume);
  if (is_inferred)
    part = inferred_part;
  quoit_torus_order (&torus, &part.shares, n_axes, places);
  return quoit_mesh_new_from_indices (NULL, is_inferred ? inferred : sizes, n_axes, places, volume, &part);
}

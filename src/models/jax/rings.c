/* SPDX-License-Identifier: Apache-2.0 */
/* JAX's rings for small sets of devices, which it tries before the torus (gke-kuberay-jax 6.2, step 2). A ring is one
 * order of the devices, which the sizes of the mesh only divide; the flags of the mesh have no effect. */
#include "models/jax/mesh.h"

enum { MOST_STACKED_DEVICES = 32 };

/* The rings as indices into the devices in order. */
static const guint8 tray_ring[] = { 0, 1, 2, 3, 6, 7, 4, 5 };
static const guint8 ring_2x2[] = { 0, 1, 3, 2 };
static const guint8 ring_4x4[] = { 0, 1, 2, 3, 7, 6, 5, 9, 10, 11, 15, 14, 13, 12, 8, 4 };
static const guint8 ring_2x4[] = { 0, 1, 2, 3, 7, 6, 5, 4 };
static const guint8 ring_flat_2x2x2[] = { 0, 4, 2, 6, 1, 5, 3, 7 };
static const guint8 ring_2x2x2[] = { 0, 1, 3, 2, 6, 7, 5, 4 };

/* Applies the ring to each @length devices in list order. */
static void
order_rows (guint32 *places, guint32 n, const guint8 *ring, guint32 length)
{
  for (guint32 i = 0; i < n; i++)
    places[i] = i / length * length + ring[i % length];
}

static gint
by_position (gconstpointer a, gconstpointer b, gpointer data)
{
  const QuoitDevice *x = quoit_device_set_at (data, *(const guint32 *) a);
  const QuoitDevice *y = quoit_device_set_at (data, *(const guint32 *) b);

  for (guint axis = 3; axis-- > 0;)
    if (x->at[axis] != y->at[axis])
      return x->at[axis] < y->at[axis] ? -1 : 1;
  return 0;
}

/* Orders the devices by coordinates, z slowest, and then by @ring. Devices of one chip keep their list order. */
static void
order_sorted (const QuoitDeviceSet *set, guint32 *places, const guint8 *ring)
{
  guint32 sorted[16];

  g_assert (set->n <= G_N_ELEMENTS (sorted));
  for (guint32 i = 0; i < set->n; i++)
    sorted[i] = i;
  g_qsort_with_data (sorted, (gint) set->n, sizeof *sorted, by_position, (gpointer) set);
  for (guint32 i = 0; i < set->n; i++)
    places[i] = sorted[ring[i]];
}

/* Returns whether JAX takes the devices for a box of @x by @y by @z chips whose first chip is 0,0,0. JAX looks only at
 * the largest coordinates, compared as tuples with x first: for such a box they are those of its last corner. So JAX
 * does not recognize a box elsewhere in a slice, and it may accept other devices that end at the same corner. */
static gboolean
is_box_at_origin (const QuoitDeviceSet *set, gint32 x, gint32 y, gint32 z)
{
  const QuoitDevice *last = quoit_device_set_at (set, 0);

  for (guint32 i = 1; i < set->n; i++)
    {
      const QuoitDevice *device = quoit_device_set_at (set, i);
      guint axis = 0;

      while (axis < 2 && device->at[axis] == last->at[axis])
        axis++;
      if (device->at[axis] > last->at[axis])
        last = device;
    }
  return last->at[0] == x - 1 && last->at[1] == y - 1 && last->at[2] == z - 1;
}

static gint64
largest_size (const gint64 *sizes, guint n)
{
  gint64 most = 0;

  for (guint i = 0; i < n; i++)
    most = MAX (most, sizes[i]);
  return most;
}

static const guint8 *
find_flat_ring (const QuoitDeviceSet *set, const gint64 *sizes, guint n)
{
  if (set->n == 4 && is_box_at_origin (set, 2, 2, 1))
    return ring_2x2;
  if (set->n == 8)
    return is_box_at_origin (set, 2, 2, 2) ? ring_flat_2x2x2 : ring_2x4;
  /* The ring helps only an axis that contains all of it. */
  if (set->n == 16 && largest_size (sizes, n) == 16 && is_box_at_origin (set, 4, 4, 1))
    return ring_4x4;

  return NULL;
}

gboolean
quoit_ring_tray (const QuoitDeviceSet *set, const gint64 *sizes, guint n, guint32 *places, QuoitMeshOrder *order,
                 GError **error G_GNUC_UNUSED)
{
  gboolean is_ring = set->n == G_N_ELEMENTS (tray_ring) || sizes[n - 1] == G_N_ELEMENTS (tray_ring);

  for (guint32 i = 0; i < set->n; i++)
    places[i] = i;
  if (is_ring)
    order_rows (places, set->n, tray_ring, G_N_ELEMENTS (tray_ring));
  *order = is_ring ? QUOIT_MESH_ORDER_RING : QUOIT_MESH_ORDER_LISTED;
  return TRUE;
}

gboolean
quoit_ring_four (const QuoitDeviceSet *set, const gint64 *sizes G_GNUC_UNUSED, guint n G_GNUC_UNUSED, guint32 *places,
                 QuoitMeshOrder *order, GError **error G_GNUC_UNUSED)
{
  if (set->n == G_N_ELEMENTS (ring_2x2))
    {
      order_rows (places, set->n, ring_2x2, G_N_ELEMENTS (ring_2x2));
      *order = QUOIT_MESH_ORDER_RING;
    }
  return TRUE;
}

gboolean
quoit_ring_flat (const QuoitDeviceSet *set, const gint64 *sizes, guint n, guint32 *places, QuoitMeshOrder *order,
                 GError **error G_GNUC_UNUSED)
{
  const guint8 *ring = find_flat_ring (set, sizes, n);

  if (ring != NULL)
    {
      order_sorted (set, places, ring);
      *order = QUOIT_MESH_ORDER_RING;
    }
  return TRUE;
}

gboolean
quoit_ring_cube (const QuoitDeviceSet *set, const gint64 *sizes G_GNUC_UNUSED, guint n G_GNUC_UNUSED, guint32 *places,
                 QuoitMeshOrder *order, GError **error G_GNUC_UNUSED)
{
  if (set->n == G_N_ELEMENTS (ring_2x2x2) && is_box_at_origin (set, 2, 2, 2))
    {
      order_sorted (set, places, ring_2x2x2);
      *order = QUOIT_MESH_ORDER_RING;
    }
  return TRUE;
}

/* A ring of 8 devices along x, y and the cores for each z. */
gboolean
quoit_ring_stacks (const QuoitDeviceSet *set, const gint64 *sizes G_GNUC_UNUSED, guint n G_GNUC_UNUSED, guint32 *places,
                   QuoitMeshOrder *order, GError **error)
{
  guint32 cells[MOST_STACKED_DEVICES];
  QuoitTorus torus;

  if (set->n % G_N_ELEMENTS (tray_ring) != 0 || set->n > MOST_STACKED_DEVICES)
    return TRUE;
  if (!quoit_mesh_physical (set, &torus, cells, error))
    return FALSE;
  if (torus.sizes[QUOIT_TORUS_X] <= 2 && torus.sizes[QUOIT_TORUS_Y] <= 2)
    {
      order_rows (places, set->n, tray_ring, G_N_ELEMENTS (tray_ring));
      *order = QUOIT_MESH_ORDER_RING;
    }
  return TRUE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the torus that devices form (gke-kuberay-jax 6.2, step 4). */
#include <string.h>

#include "models/jax/mesh.h"

typedef struct {
  gint64 lowest[4], sizes[4]; /* x, y, z and cores */
} Box;

static gint64
coordinate (const QuoitDevice *device, guint axis)
{
  return axis == QUOIT_TORUS_CORE ? device->core : device->at[axis];
}

static Box
find_box (const QuoitDeviceSet *set)
{
  Box box;

  for (guint axis = 0; axis < 4; axis++)
    {
      gint64 highest = coordinate (quoit_device_set_at (set, 0), axis);

      box.lowest[axis] = highest;
      for (guint32 i = 1; i < set->n; i++)
        {
          gint64 value = coordinate (quoit_device_set_at (set, i), axis);

          box.lowest[axis] = MIN (box.lowest[axis], value);
          highest = MAX (highest, value);
        }
      box.sizes[axis] = highest - box.lowest[axis] + 1;
    }
  return box;
}

static gboolean
check_volume (const QuoitDeviceSet *set, const Box *box, GError **error)
{
  if (quoit_mesh_sizes_product (box->sizes, 4) == set->n)
    return TRUE;
  return quoit_fail (error, QUOIT_ERROR_INVALID,
                     "'%u' devices in a box of %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT
                     " chips with %" G_GINT64_FORMAT " each: expected one device at each place, all of one slice",
                     set->n, box->sizes[0], box->sizes[1], box->sizes[2], box->sizes[3]);
}

static gboolean
check_cores (const QuoitDeviceSet *set, GError **error)
{
  for (guint32 i = 0; i < set->n; i++)
    {
      const QuoitDevice *device = quoit_device_set_at (set, i);

      if (device->core != 0)
        return quoit_fail (error, QUOIT_ERROR_INVALID,
                           "device '%" G_GINT64_FORMAT "' is core %d of its chip: expected one device per chip, "
                           "core 0, for '%s'",
                           device->id, device->core, set->devices->kind.name);
    }
  return TRUE;
}

static gboolean
check_holes (const Box *box, const QuoitTorus *torus, const guint32 *cells, GError **error)
{
  for (guint32 i = 0, volume = quoit_torus_volume (torus); i < volume; i++)
    if (cells[i] == G_MAXUINT32)
      {
        gint64 at[3];

        for (guint axis = 0; axis < 3; axis++)
          at[axis] = box->lowest[axis] + i / torus->strides[axis] % torus->sizes[axis];
        return quoit_fail (error, QUOIT_ERROR_INVALID,
                           "no device at '%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT
                           "', and two at another place: expected one at each place of a box",
                           at[0], at[1], at[2]);
      }
  return TRUE;
}

gboolean
quoit_mesh_physical (const QuoitDeviceSet *set, QuoitTorus *torus, guint32 *cells, GError **error)
{
  const QuoitDeviceKind *kind = &set->devices->kind;
  Box box = find_box (set);
  gboolean has_cores
      = kind->cores == QUOIT_CORES_ALWAYS || (kind->cores == QUOIT_CORES_IF_TWO && box.sizes[QUOIT_TORUS_CORE] == 2);
  guint32 sizes[4];

  if (!check_volume (set, &box, error) || (!has_cores && !check_cores (set, error)))
    return FALSE;

  for (guint axis = 0; axis < 4; axis++)
    sizes[axis] = (guint32) box.sizes[axis];
  *torus = quoit_torus_make (sizes, has_cores ? 4 : 3);
  torus->core_first = kind->core_first;
  memset (cells, 0xff, set->n * sizeof *cells);
  for (guint32 i = 0; i < set->n; i++)
    {
      const QuoitDevice *device = quoit_device_set_at (set, i);
      guint32 place = 0;

      for (guint axis = 0; axis < torus->n_axes; axis++)
        place += (guint32) (coordinate (device, axis) - box.lowest[axis]) * torus->strides[axis];
      cells[place] = i;
    }
  return check_holes (&box, torus, cells, error);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of devices, and the lists that JAX makes for whole slices (gke-kuberay-jax 6.1). */
#include "models/jax/mesh.h"

void
quoit_devices_set_torus (QuoitDevices *devices, QuoitShape shape, unsigned wrap)
{
  devices->shape = shape;
  devices->wrap = wrap;
  g_clear_pointer (&devices->tori, g_array_unref);
}

void
quoit_devices_set_slice_torus (QuoitDevices *devices, gint32 slice, QuoitShape shape, unsigned wrap)
{
  const guint32 n = devices->tori == NULL ? 0 : devices->tori->len;

  if (devices->tori == NULL)
    devices->tori = g_array_new (FALSE, TRUE, sizeof (QuoitDeviceTorus));
  if ((guint32) slice >= n)
    g_array_set_size (devices->tori, (guint32) slice + 1);
  g_array_index (devices->tori, QuoitDeviceTorus, slice) = (QuoitDeviceTorus) { shape, wrap };
}

QuoitDeviceTorus
quoit_devices_torus (const QuoitDevices *devices, gint32 slice)
{
  if (devices->tori != NULL && slice >= 0 && (guint32) slice < devices->tori->len)
    return g_array_index (devices->tori, QuoitDeviceTorus, slice);
  return (QuoitDeviceTorus) { devices->shape, devices->wrap };
}

static QuoitDevices *
devices_alloc (const QuoitDeviceKind *kind, guint32 n)
{
  QuoitDevices *devices = g_new (QuoitDevices, 1);

  devices->kind = *kind;
  devices->tori = NULL;
  quoit_devices_set_torus (devices, (QuoitShape) { { 0, 0, 0 }, 0 }, 0);
  devices->list = g_array_sized_new (FALSE, FALSE, sizeof (QuoitDevice), n);
  return devices;
}

QuoitDevices *
quoit_devices_new (const char *kind, GError **error)
{
  QuoitDeviceKind device_kind;

  g_return_val_if_fail (kind != NULL, NULL);

  return quoit_device_kind_lookup (kind, &device_kind, error) ? devices_alloc (&device_kind, 0) : NULL;
}

void
quoit_devices_free (QuoitDevices *devices)
{
  if (devices == NULL)
    return;
  g_array_unref (devices->list);
  g_clear_pointer (&devices->tori, g_array_unref);
  g_free (devices);
}

static gboolean
check_minimum (const char *what, gint64 value, gint64 minimum, GError **error)
{
  return value >= minimum
         || quoit_fail (error, QUOIT_ERROR_INVALID, "%s '%" G_GINT64_FORMAT "': expected %" G_GINT64_FORMAT " or more",
                        what, value, minimum);
}

bool
quoit_devices_add (QuoitDevices *devices, int64_t id, const int32_t *coordinates, int32_t core, int32_t process_index,
                   int32_t slice_index, GError **error)
{
  QuoitDevice device;

  g_return_val_if_fail (devices != NULL && coordinates != NULL, FALSE);

  if (devices->list->len >= QUOIT_MESH_MOST_DEVICES)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "device '%" G_GINT64_FORMAT "': expected at most %d devices", id,
                       QUOIT_MESH_MOST_DEVICES);
  if (!check_minimum ("core", core, 0, error) || !check_minimum ("process index", process_index, 0, error)
      || !check_minimum ("slice index", slice_index, -1, error))
    return FALSE;

  device = (QuoitDevice) {
    id, { coordinates[0], coordinates[1], coordinates[2] }, core, process_index, slice_index,
  };
  g_array_append_val (devices->list, device);
  quoit_devices_set_torus (devices, (QuoitShape) { { 0, 0, 0 }, 0 }, 0);
  return TRUE;
}

/* --- whole slices --- */

/* How a slice is divided into hosts. */
typedef struct {
  QuoitShape shape;
  guint32 sides[3]; /* of the slice, in chips */
  guint32 block[3]; /* sides of a host, in chips */
  guint32 grid[3];  /* sides of the slice, in hosts */
  guint32 per_chip; /* devices per chip */
} SliceLayout;

/* Finds the block of chips of a host. If @chips_per_host is 0, it is JAX's default, otherwise that of the catalogue. */
static gboolean
find_block (const QuoitDeviceKind *kind, QuoitShape shape, unsigned chips_per_host, QuoitShape *block, GError **error)
{
  QuoitSliceFacts facts;

  if (chips_per_host == 0)
    {
      *block = (QuoitShape) { { MIN (shape.dims[0], 2), MIN (shape.dims[1], 2), 1 }, 3 };
      return TRUE;
    }
  if (kind->generation == QUOIT_GENERATION_NONE)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "chips per host '%u': expected 0, because no hosts of '%s' are known", chips_per_host,
                       kind->name);
  if (!quoit_slice_facts (kind->generation, shape, chips_per_host, &facts, error))
    return FALSE;

  *block = facts.host_block;
  return TRUE;
}

static gboolean
init_layout (const QuoitDeviceKind *kind, const char *topology, unsigned chips_per_host, SliceLayout *layout,
             GError **error)
{
  QuoitShape shape = { { 1, 1, 1 }, 0 }, block = { { 1, 1, 1 }, 0 };

  if (!quoit_shape_parse (topology, &shape, error) || !find_block (kind, shape, chips_per_host, &block, error))
    return FALSE;

  layout->shape = shape;
  for (guint axis = 0; axis < 3; axis++)
    {
      if (shape.dims[axis] % block.dims[axis] != 0)
        return quoit_fail (error, QUOIT_ERROR_INVALID,
                           "topology '%s': expected sides in x and y that are 1 or even, for hosts of 2x2 chips",
                           topology);
      layout->sides[axis] = shape.dims[axis];
      layout->block[axis] = block.dims[axis];
      layout->grid[axis] = shape.dims[axis] / block.dims[axis];
    }
  return TRUE;
}

static void
append_host (QuoitDevices *devices, const SliceLayout *layout, const guint32 *host, guint32 slice)
{
  const guint32 *sides = layout->sides, *block = layout->block, *grid = layout->grid;
  guint32 process = host[0] + grid[0] * (host[1] + grid[1] * (host[2] + grid[2] * slice));

  for (guint32 chip = 0; chip < block[0] * block[1]; chip++)
    {
      guint32 x = host[0] * block[0] + chip % block[0], y = host[1] * block[1] + chip / block[0], z = host[2];
      guint32 slice_chip = x + sides[0] * (y + sides[1] * (z + sides[2] * slice));

      for (guint32 core = 0; core < layout->per_chip; core++)
        {
          QuoitDevice device = { (gint64) slice_chip * layout->per_chip + core,
                                 { (gint32) x, (gint32) y, (gint32) z },
                                 (gint32) core,
                                 (gint32) process,
                                 (gint32) slice };

          g_array_append_val (devices->list, device);
        }
    }
}

static void
append_slice (QuoitDevices *devices, const SliceLayout *layout, guint32 slice)
{
  guint32 host[3];

  for (host[2] = 0; host[2] < layout->grid[2]; host[2]++)
    for (host[1] = 0; host[1] < layout->grid[1]; host[1]++)
      for (host[0] = 0; host[0] < layout->grid[0]; host[0]++)
        append_host (devices, layout, host, slice);
}

static gboolean
find_devices_per_chip (const QuoitDeviceKind *kind, unsigned requested, guint32 *per_chip, GError **error)
{
  if (requested > 2)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "devices per chip '%u': expected 1 or 2", requested);
  if (requested == 0 && kind->devices_per_chip == 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "devices per chip '0': expected 1 or 2, because the default of '%s' is not known", kind->name);

  *per_chip = requested != 0 ? requested : kind->devices_per_chip;
  return TRUE;
}

QuoitDevices *
quoit_devices_new_slices (const char *kind, const char *topology, uint32_t n_slices, uint32_t chips_per_host,
                          uint32_t devices_per_chip, GError **error)
{
  QuoitDeviceKind device_kind;
  SliceLayout layout = { .per_chip = 0 };
  guint64 n_per_slice;
  QuoitDevices *devices;

  g_return_val_if_fail (kind != NULL && topology != NULL, NULL);

  if (!quoit_device_kind_lookup (kind, &device_kind, error)
      || !init_layout (&device_kind, topology, chips_per_host, &layout, error)
      || !find_devices_per_chip (&device_kind, devices_per_chip, &layout.per_chip, error))
    return NULL;
  n_per_slice = (guint64) layout.sides[0] * layout.sides[1] * layout.sides[2] * layout.per_chip;
  if (n_slices == 0 || n_per_slice > QUOIT_MESH_MOST_DEVICES / n_slices)
    return quoit_fail_null (error, QUOIT_ERROR_INVALID,
                            "slices '%u' of %s, %" G_GUINT64_FORMAT " devices each: expected 1 or more slices, and at "
                            "most %d devices",
                            n_slices, topology, n_per_slice, QUOIT_MESH_MOST_DEVICES);

  devices = devices_alloc (&device_kind, (guint32) n_per_slice * n_slices);
  quoit_devices_set_torus (
      devices, layout.shape,
      device_kind.generation == QUOIT_GENERATION_NONE ? 0 : quoit_shape_wrap (device_kind.generation, layout.shape));
  for (guint32 slice = 0; slice < n_slices; slice++)
    append_slice (devices, &layout, slice);
  return devices;
}

/* --- getters --- */

const char *
quoit_devices_get_kind (const QuoitDevices *devices)
{
  g_return_val_if_fail (devices != NULL, NULL);

  return devices->kind.name;
}

uint32_t
quoit_devices_get_n_devices (const QuoitDevices *devices)
{
  g_return_val_if_fail (devices != NULL, 0);

  return devices->list->len;
}

static const QuoitDevice *
device_at (const QuoitDevices *devices, uint32_t index)
{
  g_return_val_if_fail (devices != NULL && index < devices->list->len, NULL);

  return &g_array_index (devices->list, QuoitDevice, index);
}

int64_t
quoit_devices_get_id (const QuoitDevices *devices, uint32_t index)
{
  const QuoitDevice *device = device_at (devices, index);

  return device == NULL ? 0 : device->id;
}

const int32_t *
quoit_devices_get_coordinates (const QuoitDevices *devices, uint32_t index)
{
  const QuoitDevice *device = device_at (devices, index);

  return device == NULL ? NULL : device->at;
}

int32_t
quoit_devices_get_core (const QuoitDevices *devices, uint32_t index)
{
  const QuoitDevice *device = device_at (devices, index);

  return device == NULL ? 0 : device->core;
}

int32_t
quoit_devices_get_process_index (const QuoitDevices *devices, uint32_t index)
{
  const QuoitDevice *device = device_at (devices, index);

  return device == NULL ? 0 : device->process;
}

int32_t
quoit_devices_get_slice_index (const QuoitDevices *devices, uint32_t index)
{
  const QuoitDevice *device = device_at (devices, index);

  return device == NULL ? -1 : device->slice;
}

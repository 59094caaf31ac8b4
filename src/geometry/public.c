/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions of quoit/models/coordinates.h. */
#include "base/error.h"
#include "geometry/coordinates.h"

static gboolean
check_wiring (const QuoitSliceFacts *facts, QuoitWiring wiring, GError **error)
{
  g_autofree char *shape = NULL;

  if (wiring == QUOIT_WIRING_STRAIGHT)
    return TRUE;
  if (wiring != QUOIT_WIRING_TWISTED)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "wiring '%d': expected straight or twisted", (int) wiring);
  if (quoit_shape_is_twistable (facts->generation, facts->shape))
    return TRUE;

  shape = quoit_shape_format (facts->shape);
  return quoit_fail (
      error, QUOIT_ERROR_INVALID,
      "topology '%s': expected one that can be twisted: k k 2k or k 2k 2k of a generation that is made of "
      "cubes, with a k that is a multiple of 4",
      shape);
}

QuoitCoordinates *
quoit_coordinates_new (const char *accelerator, const char *topology, uint32_t chips_per_host, QuoitWiring wiring,
                       GError **error)
{
  QuoitCoordinates coordinates;
  QuoitGeneration generation;
  QuoitSliceFacts facts;
  QuoitShape shape;

  g_return_val_if_fail (accelerator != NULL && topology != NULL, NULL);

  if (!quoit_generation_parse (accelerator, &generation, error) || !quoit_shape_parse (topology, &shape, error)
      || !quoit_slice_facts (generation, shape, chips_per_host, &facts, error) || !check_wiring (&facts, wiring, error))
    return NULL;

  coordinates = quoit_coordinates_make (&facts, wiring);
  return g_memdup2 (&coordinates, sizeof coordinates);
}

void
quoit_coordinates_free (QuoitCoordinates *coordinates)
{
  g_free (coordinates);
}

static gboolean
has_axis (QuoitAxis axis)
{
  return (unsigned) axis < QUOIT_N_AXES;
}

uint32_t
quoit_coordinates_get_n_chips (const QuoitCoordinates *coordinates)
{
  g_return_val_if_fail (coordinates != NULL, 0);

  return quoit_shape_chips (coordinates->facts.shape);
}

uint32_t
quoit_coordinates_get_n_hosts (const QuoitCoordinates *coordinates)
{
  g_return_val_if_fail (coordinates != NULL, 0);

  return coordinates->facts.hosts;
}

uint32_t
quoit_coordinates_get_n_devices (const QuoitCoordinates *coordinates)
{
  g_return_val_if_fail (coordinates != NULL, 0);

  return quoit_shape_devices (coordinates->facts.generation, coordinates->facts.shape);
}

uint32_t
quoit_coordinates_get_length (const QuoitCoordinates *coordinates, QuoitAxis axis)
{
  g_return_val_if_fail (coordinates != NULL && has_axis (axis), 0);

  return coordinates->facts.shape.dims[axis];
}

uint32_t
quoit_coordinates_get_host_length (const QuoitCoordinates *coordinates, QuoitAxis axis)
{
  g_return_val_if_fail (coordinates != NULL && has_axis (axis), 0);

  return coordinates->facts.host_block.dims[axis];
}

bool
quoit_coordinates_is_ring (const QuoitCoordinates *coordinates, QuoitAxis axis)
{
  g_return_val_if_fail (coordinates != NULL && has_axis (axis), false);

  return (coordinates->wrap & 1u << axis) != 0;
}

uint32_t
quoit_coordinates_get_twist (const QuoitCoordinates *coordinates, QuoitAxis axis, QuoitAxis along)
{
  g_return_val_if_fail (coordinates != NULL && has_axis (axis) && has_axis (along), 0);

  return coordinates->twist[axis][along];
}

static gboolean
has_chip (const QuoitCoordinates *coordinates, uint32_t chip)
{
  return coordinates != NULL && chip < quoit_shape_chips (coordinates->facts.shape);
}

static gboolean
has_worker (const QuoitCoordinates *coordinates, uint32_t worker_id)
{
  return coordinates != NULL && worker_id < coordinates->facts.hosts;
}

static int64_t
find_index (QuoitShape grid, QuoitPosition position)
{
  return quoit_position_is_inside (grid, position) ? (int64_t) quoit_position_index (grid, position) : -1;
}

uint32_t
quoit_coordinates_get_chip_at (const QuoitCoordinates *coordinates, uint32_t chip, QuoitAxis axis)
{
  g_return_val_if_fail (has_chip (coordinates, chip) && has_axis (axis), 0);

  return quoit_position_from_index (coordinates->facts.shape, chip).at[axis];
}

int64_t
quoit_coordinates_find_chip (const QuoitCoordinates *coordinates, uint32_t x, uint32_t y, uint32_t z)
{
  g_return_val_if_fail (coordinates != NULL, -1);

  return find_index (coordinates->facts.shape, (QuoitPosition) { { x, y, z } });
}

uint32_t
quoit_coordinates_get_worker_at (const QuoitCoordinates *coordinates, uint32_t worker_id, QuoitAxis axis)
{
  g_return_val_if_fail (has_worker (coordinates, worker_id) && has_axis (axis), 0);

  return quoit_position_from_index (coordinates->facts.host_grid, worker_id).at[axis];
}

int64_t
quoit_coordinates_find_worker (const QuoitCoordinates *coordinates, uint32_t x, uint32_t y, uint32_t z)
{
  g_return_val_if_fail (coordinates != NULL, -1);

  return find_index (coordinates->facts.host_grid, (QuoitPosition) { { x, y, z } });
}

uint32_t
quoit_coordinates_get_chip_worker (const QuoitCoordinates *coordinates, uint32_t chip)
{
  g_return_val_if_fail (has_chip (coordinates, chip), 0);

  return quoit_coordinates_worker (coordinates, chip);
}

uint32_t
quoit_coordinates_get_chip_index_on_host (const QuoitCoordinates *coordinates, uint32_t chip)
{
  g_return_val_if_fail (has_chip (coordinates, chip), 0);

  return quoit_coordinates_index_on_host (coordinates, chip);
}

uint32_t
quoit_coordinates_get_worker_chip (const QuoitCoordinates *coordinates, uint32_t worker_id, uint32_t index_on_host)
{
  g_return_val_if_fail (has_worker (coordinates, worker_id) && index_on_host < coordinates->facts.chips_per_host, 0);

  return quoit_coordinates_chip (coordinates, worker_id, index_on_host);
}

uint32_t
quoit_coordinates_get_device_chip (const QuoitCoordinates *coordinates, uint32_t device)
{
  g_return_val_if_fail (device < quoit_coordinates_get_n_devices (coordinates), 0);

  return device / coordinates->devices_per_chip;
}

uint32_t
quoit_coordinates_get_chip_device (const QuoitCoordinates *coordinates, uint32_t chip, uint32_t core)
{
  g_return_val_if_fail (has_chip (coordinates, chip) && core < coordinates->devices_per_chip, 0);

  return chip * coordinates->devices_per_chip + core;
}

int64_t
quoit_coordinates_find_neighbour (const QuoitCoordinates *coordinates, uint32_t chip, QuoitAxis axis,
                                  QuoitDirection direction)
{
  guint32 neighbour;

  g_return_val_if_fail (has_chip (coordinates, chip) && has_axis (axis), -1);
  g_return_val_if_fail (direction == QUOIT_DIRECTION_UP || direction == QUOIT_DIRECTION_DOWN, -1);

  return quoit_coordinates_step (coordinates, chip, axis, direction, &neighbour) ? (int64_t) neighbour : -1;
}

uint32_t
quoit_coordinates_get_hops (const QuoitCoordinates *coordinates, uint32_t from, uint32_t to)
{
  g_return_val_if_fail (has_chip (coordinates, from) && has_chip (coordinates, to), 0);

  return quoit_coordinates_hops (coordinates, from, to);
}

uint32_t
quoit_coordinates_get_bisection (const QuoitCoordinates *coordinates)
{
  g_return_val_if_fail (coordinates != NULL, 0);

  return quoit_coordinates_bisection (coordinates);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "geometry/coordinates.h"

/* Twists the wraparound links of the short axes by half the length of the axes that are twice as long. Shapes k,k,2k
 * and k,2k,2k then look the same from every chip and along every axis. */
static void
twist (QuoitCoordinates *coordinates)
{
  const guint16 *dims = coordinates->facts.shape.dims;

  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    for (guint along = 0; along < QUOIT_N_AXES; along++)
      if (dims[along] == 2 * dims[axis])
        coordinates->twist[axis][along] = dims[axis];
}

QuoitCoordinates
quoit_coordinates_of (const QuoitSliceFacts *facts, QuoitWiring wiring)
{
  QuoitCoordinates coordinates = { .facts = *facts };

  coordinates.wrap = quoit_shape_wrap (facts->generation, facts->shape);
  coordinates.devices_per_chip = quoit_generation_facts (facts->generation)->devices_per_chip;
  if (wiring == QUOIT_WIRING_TWISTED)
    {
      g_assert (quoit_shape_twistable (facts->generation, facts->shape));
      twist (&coordinates);
    }
  return coordinates;
}

QuoitSpot
quoit_spot_of (QuoitShape grid, guint32 number)
{
  QuoitSpot spot;

  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    {
      spot.at[axis] = number % grid.dims[axis];
      number /= grid.dims[axis];
    }
  return spot;
}

guint32
quoit_spot_number (QuoitShape grid, QuoitSpot spot)
{
  return spot.at[0] + grid.dims[0] * (spot.at[1] + grid.dims[1] * spot.at[2]);
}

gboolean
quoit_spot_is_in (QuoitShape grid, QuoitSpot spot)
{
  return spot.at[0] < grid.dims[0] && spot.at[1] < grid.dims[1] && spot.at[2] < grid.dims[2];
}

/* JAX and Ray give chips 0 and 1 of a host the bounds 1,2,1, so the first two chips of a 2x2 square form a column.
 * The squares of a host follow each other along y (docs/decisions/0015). */
enum { COLUMN = 2 };

QuoitSpot
quoit_place_in_host (QuoitShape block, guint32 local)
{
  guint32 square = COLUMN * block.dims[0];

  return (QuoitSpot) { { local % square / COLUMN, local / square * COLUMN + local % COLUMN, 0 } };
}

static guint32
number_in_host (QuoitShape block, QuoitSpot spot)
{
  return spot.at[1] / COLUMN * COLUMN * block.dims[0] + spot.at[0] * COLUMN + spot.at[1] % COLUMN;
}

guint32
quoit_coordinates_worker (const QuoitCoordinates *coordinates, guint32 chip)
{
  const QuoitSliceFacts *facts = &coordinates->facts;
  QuoitSpot spot = quoit_spot_of (facts->shape, chip);

  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    spot.at[axis] /= facts->host_block.dims[axis];
  return quoit_spot_number (facts->host_grid, spot);
}

guint32
quoit_coordinates_local (const QuoitCoordinates *coordinates, guint32 chip)
{
  const QuoitSliceFacts *facts = &coordinates->facts;
  QuoitSpot spot = quoit_spot_of (facts->shape, chip);

  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    spot.at[axis] %= facts->host_block.dims[axis];
  return number_in_host (facts->host_block, spot);
}

guint32
quoit_coordinates_chip (const QuoitCoordinates *coordinates, guint32 worker_id, guint32 local)
{
  const QuoitSliceFacts *facts = &coordinates->facts;
  QuoitSpot host = quoit_spot_of (facts->host_grid, worker_id), spot = quoit_place_in_host (facts->host_block, local);

  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    spot.at[axis] += host.at[axis] * facts->host_block.dims[axis];
  return quoit_spot_number (facts->shape, spot);
}

gboolean
quoit_coordinates_step (const QuoitCoordinates *coordinates, guint32 chip, guint axis, QuoitDirection direction,
                        guint32 *neighbour)
{
  QuoitShape shape = coordinates->facts.shape;
  QuoitSpot spot = quoit_spot_of (shape, chip);
  guint32 length = shape.dims[axis], end = direction == QUOIT_DIRECTION_UP ? length - 1 : 0;
  gboolean closes = spot.at[axis] == end;

  if (closes && (coordinates->wrap & 1u << axis) == 0)
    return FALSE;

  spot.at[axis] = (spot.at[axis] + (direction == QUOIT_DIRECTION_UP ? 1 : length - 1)) % length;
  /* The shift is half the length of a ring, so its direction does not matter. */
  for (guint along = 0; closes && along < QUOIT_N_AXES; along++)
    spot.at[along] = (spot.at[along] + coordinates->twist[axis][along]) % shape.dims[along];
  *neighbour = quoit_spot_number (shape, spot);
  return TRUE;
}

static guint32
apart (guint32 a, guint32 b)
{
  return a > b ? a - b : b - a;
}

/* Returns the hops along one axis after a shift of @shift, by the shorter way if the axis wraps around. */
static guint32
along_axis (const QuoitCoordinates *coordinates, guint axis, guint32 from, guint32 to, guint32 shift)
{
  guint32 length = coordinates->facts.shape.dims[axis], d;

  if ((coordinates->wrap & 1u << axis) == 0)
    return apart (from, to);
  d = apart ((from + shift) % length, to);
  return MIN (d, length - d);
}

/* Returns the hops of a path that crosses the wraparound of each twisted axis in @closed exactly once. */
static guint32
hops_closing (const QuoitCoordinates *coordinates, QuoitSpot from, QuoitSpot to, unsigned closed)
{
  const guint16 *dims = coordinates->facts.shape.dims;
  guint32 shift[QUOIT_N_AXES] = { 0 }, hops = 0;

  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    for (guint along = 0; along < QUOIT_N_AXES; along++)
      if ((closed & 1u << axis) != 0)
        shift[along] += coordinates->twist[axis][along];
  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    {
      gboolean is_twisted = coordinates->twist[axis][0] + coordinates->twist[axis][1] + coordinates->twist[axis][2] > 0;
      guint32 d = apart (from.at[axis], to.at[axis]);

      if (is_twisted)
        hops += (closed & 1u << axis) != 0 ? dims[axis] - d : d;
      else
        hops += along_axis (coordinates, axis, from.at[axis], to.at[axis], shift[axis]);
    }
  return hops;
}

/* Crossing a twisted wraparound twice never helps, because two shifts by half a ring cancel out. */
guint32
quoit_coordinates_hops (const QuoitCoordinates *coordinates, guint32 from, guint32 to)
{
  QuoitSpot a = quoit_spot_of (coordinates->facts.shape, from), b = quoit_spot_of (coordinates->facts.shape, to);
  guint32 fewest = G_MAXUINT32;

  for (unsigned closed = 0; closed < 1u << QUOIT_N_AXES; closed++)
    fewest = MIN (fewest, hops_closing (coordinates, a, b, closed));
  return fewest;
}

/* Counts the links between the two halves of @axis: those of the axis itself, and twisted links that cross the cut. */
static guint32
severed (const QuoitCoordinates *coordinates, guint axis)
{
  const guint16 *dims = coordinates->facts.shape.dims;
  guint32 chips = quoit_shape_chips (coordinates->facts.shape);
  guint32 links = chips / dims[axis] * ((coordinates->wrap & 1u << axis) != 0 ? 2 : 1);

  for (guint other = 0; other < QUOIT_N_AXES; other++)
    if (coordinates->twist[other][axis] > 0)
      links += chips / dims[other];
  return links;
}

guint32
quoit_coordinates_bisection (const QuoitCoordinates *coordinates)
{
  guint32 fewest = G_MAXUINT32;

  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    if (coordinates->facts.shape.dims[axis] % 2 == 0)
      fewest = MIN (fewest, severed (coordinates, axis));
  return fewest == G_MAXUINT32 ? 0 : fewest;
}

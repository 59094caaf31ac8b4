/* SPDX-License-Identifier: Apache-2.0 */
#include "geometry/coordinates.h"

/* Shifts the wraparound links of the short axes by half the length of the axes that are twice as long. With these
 * twists the shapes k,k,2k and k,2k,2k look the same from every chip and along every axis. */
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
quoit_coordinates_make (const QuoitSliceFacts *facts, QuoitWiring wiring)
{
  QuoitCoordinates coordinates = { .facts = *facts };

  coordinates.wrap = quoit_shape_wrap (facts->generation, facts->shape);
  coordinates.devices_per_chip = quoit_generation_facts (facts->generation)->devices_per_chip;
  if (wiring == QUOIT_WIRING_TWISTED)
    {
      g_assert (quoit_shape_is_twistable (facts->generation, facts->shape));
      twist (&coordinates);
    }
  return coordinates;
}

QuoitPosition
quoit_position_from_index (QuoitShape grid, guint32 index)
{
  QuoitPosition position;

  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    {
      position.at[axis] = index % grid.dims[axis];
      index /= grid.dims[axis];
    }
  return position;
}

guint32
quoit_position_index (QuoitShape grid, QuoitPosition position)
{
  return position.at[0] + grid.dims[0] * (position.at[1] + grid.dims[1] * position.at[2]);
}

gboolean
quoit_position_is_inside (QuoitShape grid, QuoitPosition position)
{
  return position.at[0] < grid.dims[0] && position.at[1] < grid.dims[1] && position.at[2] < grid.dims[2];
}

/* JAX and Ray give chips 0 and 1 of a host the bounds 1,2,1, so the first two chips of a 2x2 square form a column.
 * The squares of a host follow each other along y (docs/decisions/0015). */
enum { COLUMN_LENGTH = 2 };

QuoitPosition
quoit_position_in_host (QuoitShape block, guint32 index_on_host)
{
  guint32 square = COLUMN_LENGTH * block.dims[0];

  return (QuoitPosition) { { index_on_host % square / COLUMN_LENGTH,
                             index_on_host / square * COLUMN_LENGTH + index_on_host % COLUMN_LENGTH, 0 } };
}

static guint32
index_in_host (QuoitShape block, QuoitPosition position)
{
  return position.at[1] / COLUMN_LENGTH * COLUMN_LENGTH * block.dims[0] + position.at[0] * COLUMN_LENGTH
         + position.at[1] % COLUMN_LENGTH;
}

guint32
quoit_coordinates_worker (const QuoitCoordinates *coordinates, guint32 chip)
{
  const QuoitSliceFacts *facts = &coordinates->facts;
  QuoitPosition position = quoit_position_from_index (facts->shape, chip);

  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    position.at[axis] /= facts->host_block.dims[axis];
  return quoit_position_index (facts->host_grid, position);
}

guint32
quoit_coordinates_index_on_host (const QuoitCoordinates *coordinates, guint32 chip)
{
  const QuoitSliceFacts *facts = &coordinates->facts;
  QuoitPosition position = quoit_position_from_index (facts->shape, chip);

  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    position.at[axis] %= facts->host_block.dims[axis];
  return index_in_host (facts->host_block, position);
}

guint32
quoit_coordinates_chip (const QuoitCoordinates *coordinates, guint32 worker_id, guint32 index_on_host)
{
  const QuoitSliceFacts *facts = &coordinates->facts;
  QuoitPosition host = quoit_position_from_index (facts->host_grid, worker_id),
                position = quoit_position_in_host (facts->host_block, index_on_host);

  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    position.at[axis] += host.at[axis] * facts->host_block.dims[axis];
  return quoit_position_index (facts->shape, position);
}

gboolean
quoit_coordinates_step (const QuoitCoordinates *coordinates, guint32 chip, guint axis, QuoitDirection direction,
                        guint32 *neighbour)
{
  QuoitShape shape = coordinates->facts.shape;
  QuoitPosition position = quoit_position_from_index (shape, chip);
  guint32 length = shape.dims[axis], end = direction == QUOIT_DIRECTION_UP ? length - 1 : 0;
  gboolean is_at_end = position.at[axis] == end;

  if (is_at_end && (coordinates->wrap & 1u << axis) == 0)
    return FALSE;

  position.at[axis] = (position.at[axis] + (direction == QUOIT_DIRECTION_UP ? 1 : length - 1)) % length;
  /* The twist shifts by half the length of a ring, so the direction of the shift does not matter. */
  for (guint along = 0; is_at_end && along < QUOIT_N_AXES; along++)
    position.at[along] = (position.at[along] + coordinates->twist[axis][along]) % shape.dims[along];
  *neighbour = quoit_position_index (shape, position);
  return TRUE;
}

static guint32
distance (guint32 a, guint32 b)
{
  return a > b ? a - b : b - a;
}

/* Returns the hops along one axis from @from, shifted by @shift, to @to: by the shorter way if the axis wraps around.
 */
static guint32
axis_hops (const QuoitCoordinates *coordinates, guint axis, guint32 from, guint32 to, guint32 shift)
{
  guint32 length = coordinates->facts.shape.dims[axis], d;

  if ((coordinates->wrap & 1u << axis) == 0)
    return distance (from, to);
  d = distance ((from + shift) % length, to);
  return MIN (d, length - d);
}

/* Returns the hops of a path that crosses a wraparound link of each twisted axis in @crossed once, and no wraparound
 * link of the other twisted axes. */
static guint32
hops_across (const QuoitCoordinates *coordinates, QuoitPosition from, QuoitPosition to, unsigned crossed)
{
  const guint16 *dims = coordinates->facts.shape.dims;
  guint32 shift[QUOIT_N_AXES] = { 0 }, hops = 0;

  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    for (guint along = 0; along < QUOIT_N_AXES; along++)
      if ((crossed & 1u << axis) != 0)
        shift[along] += coordinates->twist[axis][along];
  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    {
      gboolean is_twisted = coordinates->twist[axis][0] + coordinates->twist[axis][1] + coordinates->twist[axis][2] > 0;
      guint32 d = distance (from.at[axis], to.at[axis]);

      if (is_twisted)
        hops += (crossed & 1u << axis) != 0 ? dims[axis] - d : d;
      else
        hops += axis_hops (coordinates, axis, from.at[axis], to.at[axis], shift[axis]);
    }
  return hops;
}

/* Tries all sets of twisted axes to cross. Crossing an axis twice never helps, because two shifts by half a ring cancel
 * out. */
guint32
quoit_coordinates_hops (const QuoitCoordinates *coordinates, guint32 from, guint32 to)
{
  QuoitPosition a = quoit_position_from_index (coordinates->facts.shape, from),
                b = quoit_position_from_index (coordinates->facts.shape, to);
  guint32 fewest = G_MAXUINT32;

  for (unsigned closed = 0; closed < 1u << QUOIT_N_AXES; closed++)
    fewest = MIN (fewest, hops_across (coordinates, a, b, closed));
  return fewest;
}

/* Counts the links between the two halves of @axis: those along the axis, and twisted links that shift along it. */
static guint32
count_cut_links (const QuoitCoordinates *coordinates, guint axis)
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
      fewest = MIN (fewest, count_cut_links (coordinates, axis));
  return fewest == G_MAXUINT32 ? 0 : fewest;
}

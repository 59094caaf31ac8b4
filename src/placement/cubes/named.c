/* SPDX-License-Identifier: Apache-2.0 */
/* Takes cubes that the caller names for the slices of a request. */
#include "placement/cubes/cubes.h"

#include <string.h>

#include "base/indices.h"

static char *
name_cube (const QuoitCubing *cubing, guint32 cube)
{
  return quoit_layout_slice_display (cubing->fleet->layout, (QuoitSliceId) { cube });
}

static gboolean
fail_cube (const QuoitCubing *cubing, guint32 cube, QuoitErrorCode code, const char *expected, GError **error)
{
  g_autofree char *name = name_cube (cubing, cube);

  return quoit_fail (error, code, "slice '%s': expected %s", name, expected);
}

/* Checks that each cube is free, and removes it from the set. */
static gboolean
take_free (const QuoitCubing *cubing, QuoitCubeSet *set, const guint32 *cubes, guint32 n, GError **error)
{
  g_autofree QuoitCubeSet *known = quoit_cubing_list (cubing, QUOIT_CUBE_KNOWN);

  for (guint32 i = 0; i < n; i++)
    {
      if (cubing->blocks == NULL || !quoit_cube_set_has (known, cubes[i]))
        return fail_cube (cubing, cubes[i], QUOIT_ERROR_NEVER, "a cube of a block that the request accepts", error);
      if (!quoit_cube_set_has (set, cubes[i]))
        return fail_cube (cubing, cubes[i], QUOIT_ERROR_NOT_NOW, "a cube that is intact, not draining and free", error);
      quoit_cube_set_remove (set, cubes[i]);
    }
  return TRUE;
}

/* Returns whether the cubes have the positions of the box, x fastest, in the grid of their block. */
static gboolean
are_at (const QuoitCubing *cubing, QuoitShape box, const guint32 *cubes)
{
  const QuoitBlocks *blocks = cubing->blocks;
  const guint32 *grid = blocks->blocks[blocks->of_slice[cubes[0]]].grid, origin = blocks->positions[cubes[0]];

  if (origin == QUOIT_NO_INDEX || origin % grid[0] + box.dims[0] > grid[0]
      || origin / grid[0] % grid[1] + box.dims[1] > grid[1])
    return FALSE;
  for (guint32 i = 0; i < quoit_shape_chips (box); i++)
    {
      const guint32 x = i % box.dims[0], y = i / box.dims[0] % box.dims[1], z = i / box.dims[0] / box.dims[1];

      if (blocks->positions[cubes[i]] != origin + (z * grid[1] + y) * grid[0] + x)
        return FALSE;
    }
  return TRUE;
}

/* Finds the box of one slice. */
static gboolean
find_box (const QuoitCubing *cubing, const guint32 *cubes, QuoitShape *box, GError **error)
{
  const QuoitBlocks *blocks = cubing->blocks;

  for (guint32 i = 1; i < cubing->n_cubes; i++)
    if (blocks->of_slice[cubes[i]] != blocks->of_slice[cubes[0]])
      return fail_cube (cubing, cubes[i], QUOIT_ERROR_INVALID, "a cube of the same block as the others of its slice",
                        error);
  *box = cubing->turns[0].hosts;
  if (!quoit_cubing_is_adjacent (cubing))
    return TRUE;
  for (guint turn = 0; turn < cubing->n_turns; turn++)
    if (are_at (cubing, cubing->turns[turn].hosts, cubes))
      return *box = cubing->turns[turn].hosts, TRUE;
  return fail_cube (cubing, cubes[0], QUOIT_ERROR_INVALID,
                    "cubes of the slice that it begins at adjacent positions, x fastest", error);
}

static gboolean
take (const QuoitCubing *cubing, const guint32 *cubes, guint32 n, QuoitJoined *joined, GError **error)
{
  g_autofree QuoitCubeSet *set = quoit_cubing_list (cubing, QUOIT_CUBE_FREE);

  if (!take_free (cubing, set, cubes, n, error))
    return FALSE;
  for (guint32 at = 0; at + cubing->n_cubes <= n; at += cubing->n_cubes)
    {
      QuoitShape box;

      if (!find_box (cubing, cubes + at, &box, error))
        return FALSE;
      g_array_append_val (joined->boxes, box);
      g_array_append_vals (joined->cubes, cubes + at, cubing->n_cubes);
    }
  return TRUE;
}

gboolean
quoit_cubes_take_named (const QuoitFleet *fleet, const QuoitRequest *request, const guint32 *cubes, guint32 n,
                        QuoitJoined *joined, GError **error)
{
  g_auto (QuoitCubing) cubing = { 0 };

  return quoit_cubing_init (&cubing, fleet, request, error) && take (&cubing, cubes, n, joined, error);
}

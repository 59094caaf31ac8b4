/* SPDX-License-Identifier: Apache-2.0 */
/* Facts that rules imply: the shapes of cubes, the tools that accept them, and the machine types that build a shape. */
#include "catalogue/table.h"

#include <string.h>

/* A cube that is doubled along one axis after another. */
static const guint16 common_shapes[][3]
    = { { 4, 4, 4 }, { 4, 4, 8 }, { 4, 8, 8 }, { 8, 8, 8 }, { 8, 8, 16 }, { 8, 16, 16 } };

static const QuoitCubeRule *
cube_rule (QuoitGeneration generation)
{
  return &quoit_table_cubes[generation < QUOIT_N_GENERATIONS ? generation : QUOIT_GENERATION_NONE];
}

static gboolean
consists_of_cubes (QuoitShape s)
{
  return s.n_dims == 3 && s.dims[0] % 4 == 0 && s.dims[1] % 4 == 0 && s.dims[2] % 4 == 0;
}

static gboolean
same_sides (const guint16 sides[3], QuoitShape s)
{
  return sides[0] == s.dims[0] && sides[1] == s.dims[1] && sides[2] == s.dims[2];
}

static gboolean
is_common (QuoitShape s)
{
  for (unsigned i = 0; i < G_N_ELEMENTS (common_shapes); i++)
    if (same_sides (common_shapes[i], s))
      return TRUE;

  return FALSE;
}

/* Returns whether no shape with the same number of cubes has a shorter longest side, or the same longest side and a
 * shorter middle side. */
static gboolean
is_most_compact (QuoitShape s)
{
  guint32 a = s.dims[0] / 4, b = s.dims[1] / 4, c = s.dims[2] / 4, n = a * b * c;

  for (guint32 z = 1; z <= c; z++)
    for (guint32 y = 1; n % z == 0 && y <= z; y++)
      if (n % (z * y) == 0 && n / (z * y) <= y && (z < c || y < b))
        return FALSE;

  return TRUE;
}

static gboolean
maxtext_accepts (const QuoitCubeRule *rule, QuoitShape s)
{
  for (unsigned i = 0; i < G_N_ELEMENTS (rule->maxtext_more); i++)
    if (same_sides (rule->maxtext_more[i], s))
      return TRUE;

  return quoit_shape_chips (s) / 64 <= rule->maxtext_cubes && is_most_compact (s);
}

static gboolean
ray_accepts (const QuoitCubeRule *rule, QuoitShape s)
{
  return s.dims[0] <= rule->ray_sides[0] && s.dims[1] <= rule->ray_sides[1] && s.dims[2] <= rule->ray_sides[2];
}

gboolean
quoit_cubes_are_listed (QuoitGeneration generation, QuoitShape s)
{
  const QuoitCubeRule *rule = cube_rule (generation);

  return consists_of_cubes (s) && s.dims[0] <= s.dims[1] && s.dims[1] <= s.dims[2] && s.dims[2] <= rule->longest_side
         && quoit_shape_chips (s) <= rule->max_chips;
}

gboolean
quoit_cubes_are_ray_only (QuoitGeneration generation, QuoitShape s)
{
  return consists_of_cubes (s) && ray_accepts (cube_rule (generation), s) && !quoit_cubes_are_listed (generation, s);
}

unsigned
quoit_cubes_accepted_by (QuoitGeneration generation, QuoitShape s)
{
  const QuoitCubeRule *rule = cube_rule (generation);
  unsigned tools = ray_accepts (rule, s) ? QUOIT_ACCEPTED_BY_RAY : 0;

  if (!quoit_cubes_are_listed (generation, s))
    return tools;

  tools |= QUOIT_ACCEPTED_BY_XPK;
  if (quoit_shape_chips (s) <= rule->kubectl_max_chips)
    tools |= QUOIT_ACCEPTED_BY_KUBECTL_RAY;
  if (maxtext_accepts (rule, s))
    tools |= QUOIT_ACCEPTED_BY_MAXTEXT;
  if (is_common (s))
    tools |= rule->common_accepted_by;

  return tools;
}

const char *
quoit_machine_find (QuoitGeneration generation, QuoitShape shape, unsigned chips_per_host)
{
  const char *id = quoit_generation_row (generation - 1)->id;
  gboolean is_one_host = quoit_shape_chips (shape) == chips_per_host;

  for (unsigned i = 0; i < quoit_table_n_machines; i++)
    {
      const QuoitMachineType *machine = &quoit_table_machines[i];

      if (machine->chips != chips_per_host || strcmp (machine->generation_id, id) != 0)
        continue;
      if (is_one_host ? quoit_shape_equal (machine->single_host, shape) : machine->hosts == QUOIT_MACHINE_MULTI_HOST)
        return machine->name;
    }
  return NULL;
}

static gboolean
find_listed (const QuoitListedTopology *rows, unsigned n, QuoitGeneration generation, QuoitShape shape,
             unsigned chips_per_host, QuoitTopologyRow *row)
{
  for (unsigned i = 0; i < n; i++)
    if (rows[i].generation == generation && quoit_shape_equal (rows[i].shape, shape)
        && (chips_per_host == 0 || chips_per_host == rows[i].chips_per_host))
      {
        *row = (QuoitTopologyRow) { generation,
                                    shape,
                                    rows[i].chips_per_host,
                                    rows[i].accepted_by,
                                    rows == quoit_table_ray_only ? QUOIT_TOPOLOGY_RAY_ONLY : QUOIT_TOPOLOGY_LISTED,
                                    rows[i].machine_type };
        return TRUE;
      }
  return FALSE;
}

gboolean
quoit_row_find (QuoitGeneration generation, QuoitShape shape, unsigned chips_per_host, QuoitTopologyRow *row)
{
  gboolean is_listed = quoit_cubes_are_listed (generation, shape);

  if (is_listed || quoit_cubes_are_ray_only (generation, shape))
    {
      if (chips_per_host != 0 && chips_per_host != 4)
        return FALSE;
      *row = (QuoitTopologyRow) { generation,
                                  shape,
                                  4,
                                  quoit_cubes_accepted_by (generation, shape),
                                  is_listed ? QUOIT_TOPOLOGY_LISTED : QUOIT_TOPOLOGY_RAY_ONLY,
                                  quoit_machine_find (generation, shape, 4) };
      return TRUE;
    }

  return find_listed (quoit_table_listed, quoit_table_n_listed, generation, shape, chips_per_host, row)
         || find_listed (quoit_table_ray_only, quoit_table_n_ray_only, generation, shape, chips_per_host, row);
}

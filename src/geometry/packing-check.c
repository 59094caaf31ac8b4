/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the result of a packing. It visits every origin of every box by itself, and shares no code with the search. */
#include "geometry/packing.h"

static QuoitPosition
position_of (const QuoitGrid *grid, guint32 host)
{
  return (QuoitPosition) { { host % grid->n[0], host / grid->n[0] % grid->n[1], host / grid->n[0] / grid->n[1] } };
}

/* Returns whether a box may begin at @origin, and writes its hosts. */
static gboolean
list_place (const QuoitGrid *grid, const QuoitHostSet *free, QuoitShape box, QuoitOffsets offsets, guint32 origin,
            guint32 *hosts)
{
  const QuoitPosition from = position_of (grid, origin);
  guint32 n = 0;

  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    {
      const guint32 side = box.dims[axis], length = grid->n[axis];
      const gboolean may_wrap = (grid->wrap >> axis & 1) != 0 && offsets == QUOIT_OFFSETS_ANY;

      if (side > length || (!may_wrap && from.at[axis] + side > length)
          || (may_wrap && side == length && from.at[axis] > 0)
          || (offsets == QUOIT_OFFSETS_ALIGNED && from.at[axis] % side != 0))
        return FALSE;
    }
  for (guint32 z = 0; z < box.dims[2]; z++)
    for (guint32 y = 0; y < box.dims[1]; y++)
      for (guint32 x = 0; x < box.dims[0]; x++)
        {
          guint32 host = ((from.at[2] + z) % grid->n[2] * grid->n[1] + (from.at[1] + y) % grid->n[1]) * grid->n[0]
                         + (from.at[0] + x) % grid->n[0];

          if (!quoit_host_set_has (grid, free, host))
            return FALSE;
          hosts[n++] = host;
        }
  return TRUE;
}

static gboolean
check_parts (const QuoitGrid *grid, const QuoitHostSet *free, const QuoitPackingDemand *demands, guint n_demands,
             QuoitOffsets offsets, const QuoitPackingResult *result)
{
  g_autofree guint32 *hosts = g_new0 (guint32, quoit_grid_n_hosts (grid)), *n_parts = g_new0 (guint32, n_demands);
  g_autofree guint8 *is_used = g_malloc0 (quoit_grid_n_hosts (grid));
  guint64 value = 0;

  for (guint i = 0; i < result->parts->len; i++)
    {
      const QuoitPackedPart *part = &g_array_index (result->parts, QuoitPackedPart, i);
      const QuoitPackingDemand *demand = &demands[part->demand];
      const QuoitShape box = demand->turns[part->turn].hosts;

      if (!list_place (grid, free, box, offsets, part->origin, hosts))
        return FALSE;
      for (guint32 h = 0; h < quoit_shape_chips (box); h++)
        if (is_used[hosts[h]]++ != 0)
          return FALSE;
      if (demand->most != 0 && ++n_parts[part->demand] > demand->most)
        return FALSE;
      value += demand->value;
    }
  return value == result->least;
}

static gboolean
check_weights (const QuoitGrid *grid, const QuoitHostSet *free, const QuoitPackingDemand *demands, guint n_demands,
               QuoitOffsets offsets, const QuoitPackingResult *result)
{
  const guint64 *weights = (const guint64 *) (const void *) result->host_weights->data;
  g_autofree guint32 *hosts = g_new0 (guint32, quoit_grid_n_hosts (grid));
  guint64 sum = 0;

  for (guint d = 0; d < n_demands; d++)
    {
      const guint64 own = g_array_index (result->demand_weights, guint64, d);

      if (demands[d].most == 0 && own != 0)
        return FALSE;
      sum += own * demands[d].most;
      for (guint turn = 0; turn < demands[d].n_turns; turn++)
        for (guint32 origin = 0; origin < quoit_grid_n_hosts (grid); origin++)
          if (list_place (grid, free, demands[d].turns[turn].hosts, offsets, origin, hosts))
            {
              guint64 of_place = own;

              for (guint32 h = 0; h < quoit_shape_chips (demands[d].turns[turn].hosts); h++)
                of_place += weights[hosts[h]];
              if (of_place < result->unit * demands[d].value)
                return FALSE;
            }
    }
  for (guint32 host = 0; host < quoit_grid_n_hosts (grid); host++)
    sum += weights[host];
  return sum / result->unit <= result->most;
}

gboolean
quoit_packing_check (const QuoitGrid *grid, const QuoitHostSet *free, const QuoitPackingDemand *demands,
                     guint n_demands, QuoitOffsets offsets, const QuoitPackingResult *result)
{
  return result->least <= result->most && check_parts (grid, free, demands, n_demands, offsets, result)
         && check_weights (grid, free, demands, n_demands, offsets, result);
}

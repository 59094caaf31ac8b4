/* SPDX-License-Identifier: Apache-2.0 */
/* Sets the current demand, one bundle or the sum of all, and finds nodes whose totals suffice for it. */
#include "models/ray/scheduler/private.h"

#include <string.h>

static void
set_demand_row (QuoitRayAttempt *attempt, const gint64 *row)
{
  QuoitRayDemand *demand = &attempt->demand;
  guint32 n = attempt->bundles->n_resources;

  if (attempt->demand_number > 0 && (n == 0 || memcmp (attempt->demand_row, row, n * sizeof (gint64)) == 0))
    return;
  attempt->demand_row = row;
  attempt->demand_number++;
  attempt->n_decreases = 0;
  memset (attempt->scored, 0, attempt->n_words * sizeof (guint64));
  demand->n = 0;
  for (guint32 r = 0; r < n; r++)
    if (row[r] != 0)
      {
        demand->resources[demand->n] = r;
        demand->amounts[demand->n++] = row[r];
      }
}

static const guint64 *
filter_bits (const QuoitRayAttempt *attempt, guint32 bundle)
{
  const QuoitBundles *bundles = attempt->bundles;

  return bundles->filter == NULL ? NULL : attempt->view->passes + (gsize) bundles->filter[bundle] * attempt->n_words;
}

void
quoit_ray_set_demand (QuoitRayAttempt *attempt, guint32 bundle)
{
  set_demand_row (attempt, attempt->bundles->amounts + (gsize) bundle * attempt->bundles->n_resources);
  attempt->demand.passes = filter_bits (attempt, bundle);
}

gboolean
quoit_ray_set_demand_sum (QuoitRayAttempt *attempt, gint64 *row)
{
  const QuoitBundles *bundles = attempt->bundles;

  for (guint32 r = 0; r < bundles->n_resources; r++)
    {
      __int128 sum = 0;

      for (guint32 b = 0; b < bundles->n_bundles; b++)
        sum += bundles->amounts[(gsize) b * bundles->n_resources + r];
      if (sum > G_MAXINT64)
        return FALSE;
      row[r] = (gint64) MAX (sum, G_MININT64);
    }
  set_demand_row (attempt, row);
  for (guint32 b = 0; bundles->filter != NULL && b < bundles->n_bundles; b++)
    {
      const guint64 *passes = filter_bits (attempt, b);

      if (b > 0 && bundles->filter[b] == bundles->filter[b - 1])
        continue;
      for (guint32 w = 0; w < attempt->n_words; w++)
        attempt->candidates[w] &= passes[w];
    }
  return TRUE;
}

gboolean
quoit_ray_demand_fits (const QuoitRayDemand *demand, const gint64 *row)
{
  for (guint32 i = 0; i < demand->n; i++)
    if (row[demand->resources[i]] < demand->amounts[i])
      return FALSE;
  return TRUE;
}

void
quoit_ray_demand_subtract (const QuoitRayDemand *demand, gint64 *row)
{
  for (guint32 i = 0; i < demand->n; i++)
    row[demand->resources[i]] = quoit_ray_subtract (row[demand->resources[i]], demand->amounts[i]);
}

/* Returns a candidate whose totals suffice, or QUOIT_NO_INDEX. The search begins at @hint, because the node that
 * sufficed for the previous bundle usually suffices for this one. */
static guint32
find_feasible (QuoitRayAttempt *attempt, guint32 hint)
{
  for (guint32 n = quoit_ray_next_candidate (attempt, attempt->candidates, hint); n != QUOIT_NO_INDEX;
       n = quoit_ray_next_candidate (attempt, attempt->candidates, n + 1))
    {
      attempt->n_tests++;
      if (quoit_ray_demand_fits (&attempt->demand, quoit_ray_row (attempt, attempt->view->total, n)))
        return n;
    }
  return hint == 0 ? QUOIT_NO_INDEX : find_feasible (attempt, 0);
}

gboolean
quoit_ray_is_feasible (QuoitRayAttempt *attempt)
{
  return find_feasible (attempt, 0) != QUOIT_NO_INDEX;
}

gboolean
quoit_ray_is_each_feasible (QuoitRayAttempt *attempt)
{
  guint32 node = 0;

  for (guint32 i = 0; i < attempt->bundles->n_bundles && node != QUOIT_NO_INDEX; i++)
    {
      quoit_ray_set_demand (attempt, attempt->order[i]);
      node = find_feasible (attempt, node);
    }
  return node != QUOIT_NO_INDEX;
}

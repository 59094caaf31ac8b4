/* SPDX-License-Identifier: Apache-2.0 */
/* Sets the current ask, one bundle or the sum of all, and finds nodes whose totals suffice for it. */
#include "placement/ray/private.h"

#include <string.h>

static void
ask_row (QuoitRayAttempt *attempt, const gint64 *row)
{
  QuoitRayAsk *ask = &attempt->ask;
  guint32 n = attempt->bundles->n_resources;

  if (attempt->n_asked > 0 && (n == 0 || memcmp (attempt->asked_row, row, n * sizeof (gint64)) == 0))
    return;
  attempt->asked_row = row;
  attempt->n_asked++;
  attempt->n_sunk = 0;
  memset (attempt->scored, 0, attempt->n_words * sizeof (guint64));
  ask->n = 0;
  for (guint32 r = 0; r < n; r++)
    if (row[r] != 0)
      {
        ask->resources[ask->n] = r;
        ask->amounts[ask->n++] = row[r];
      }
}

static const guint64 *
bits_of_filter (const QuoitRayAttempt *attempt, guint32 bundle)
{
  const QuoitBundles *bundles = attempt->bundles;

  return bundles->filter == NULL ? NULL : attempt->view->passes + (gsize) bundles->filter[bundle] * attempt->n_words;
}

void
quoit_ray_ask (QuoitRayAttempt *attempt, guint32 bundle)
{
  ask_row (attempt, attempt->bundles->amounts + (gsize) bundle * attempt->bundles->n_resources);
  attempt->ask.passes = bits_of_filter (attempt, bundle);
}

gboolean
quoit_ray_ask_sum (QuoitRayAttempt *attempt, gint64 *row)
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
  ask_row (attempt, row);
  for (guint32 b = 0; bundles->filter != NULL && b < bundles->n_bundles; b++)
    {
      const guint64 *passes = bits_of_filter (attempt, b);

      if (b > 0 && bundles->filter[b] == bundles->filter[b - 1])
        continue;
      for (guint32 w = 0; w < attempt->n_words; w++)
        attempt->candidates[w] &= passes[w];
    }
  return TRUE;
}

gboolean
quoit_ray_ask_fits (const QuoitRayAsk *ask, const gint64 *row)
{
  for (guint32 i = 0; i < ask->n; i++)
    if (row[ask->resources[i]] < ask->amounts[i])
      return FALSE;
  return TRUE;
}

void
quoit_ray_ask_take (const QuoitRayAsk *ask, gint64 *row)
{
  for (guint32 i = 0; i < ask->n; i++)
    row[ask->resources[i]] = quoit_ray_left (row[ask->resources[i]], ask->amounts[i]);
}

/* Searches from @hint on, cyclically. The node that sufficed for the previous bundle usually suffices for this one. */
static guint32
find_feasible (QuoitRayAttempt *attempt, guint32 hint)
{
  for (guint32 n = quoit_ray_next (attempt, attempt->candidates, hint); n != QUOIT_NO_INDEX;
       n = quoit_ray_next (attempt, attempt->candidates, n + 1))
    {
      attempt->n_looks++;
      if (quoit_ray_ask_fits (&attempt->ask, quoit_ray_row (attempt, attempt->view->total, n)))
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
      quoit_ray_ask (attempt, attempt->order[i]);
      node = find_feasible (attempt, node);
    }
  return node != QUOIT_NO_INDEX;
}

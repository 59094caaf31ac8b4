/* SPDX-License-Identifier: Apache-2.0 */
/* Which node is best for a bundle: the one of which it takes the smallest share. */
#include "placement/ray-private.h"

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

double
quoit_ray_ask_score (const QuoitRayAsk *ask, const gint64 *row)
{
  double score = 0;

  for (guint32 i = 0; i < ask->n; i++)
    {
      gint64 has = row[ask->resources[i]];
      double units = (double) has / QUOIT_AMOUNT_UNIT;

      if (has < ask->amounts[i])
        return -1;
      if (has != 0)
        score += (units - (double) ask->amounts[i] / QUOIT_AMOUNT_UNIT) / units;
    }
  return score;
}

void
quoit_ray_ask_take (const QuoitRayAsk *ask, gint64 *row)
{
  for (guint32 i = 0; i < ask->n; i++)
    row[ask->resources[i]] = quoit_ray_left (row[ask->resources[i]], ask->amounts[i]);
}

/* From @hint on, round and round: what was enough for the bundle before is mostly enough for this one. */
static guint32
find_feasible (QuoitRayAttempt *attempt, guint32 hint)
{
  for (guint32 n = quoit_ray_next (attempt, attempt->candidates, hint); n != QUOIT_NO_INDEX;
       n = quoit_ray_next (attempt, attempt->candidates, n + 1), attempt->n_looks++)
    if (quoit_ray_ask_fits (&attempt->ask, quoit_ray_row (attempt, attempt->view->total, n)))
      return n;
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

double
quoit_ray_score (QuoitRayAttempt *attempt, guint32 node)
{
  guint64 bit = (guint64) 1 << (node % 64);

  attempt->n_looks++;
  if ((attempt->scored[node / 64] & bit) == 0)
    {
      attempt->scored[node / 64] |= bit;
      attempt->scores[node]
          = quoit_ray_ask_score (&attempt->ask, quoit_ray_row (attempt, attempt->view->available, node));
    }
  return attempt->scores[node];
}

/* One of @attempt->tied. */
static guint32
choose (QuoitRayAttempt *attempt, guint32 bundle, guint32 n)
{
  QuoitTies *ties = attempt->ties;
  guint32 chosen;

  if (n > 1)
    ties->n_choices++;
  if (n < 2 || ties->choose == NULL)
    return attempt->tied[0];
  chosen = ties->choose (ties->data, bundle, attempt->tied, n);
  if (chosen < n)
    return attempt->tied[chosen];
  attempt->gave_up = TRUE;
  return QUOIT_NO_INDEX;
}

/* Whether somebody chooses who need not see @node: one that is as it is, and has @row left too, is tied already. */
static gboolean
is_seen (QuoitRayAttempt *attempt, guint32 n_tied, guint32 node, const gint64 *row, const guint32 *row_of_node,
         const gint64 *rows)
{
  gsize size = attempt->bundles->n_resources * sizeof (gint64);

  if (attempt->ties == NULL || attempt->ties->choose == NULL || !attempt->ties->of_a_kind)
    return FALSE;
  if (attempt->alike == NULL)
    attempt->alike = quoit_ray_alike (attempt->bundles, attempt->view);
  for (guint32 i = 0; i < n_tied; i++)
    {
      guint32 other = attempt->tied[i];

      if (attempt->alike[other] == attempt->alike[node]
          && (row == NULL || size == 0 || memcmp (row, quoit_ray_row (attempt, rows, row_of_node[other]), size) == 0))
        return TRUE;
    }
  return FALSE;
}

static void
make_room_for_ties (QuoitRayAttempt *attempt)
{
  if (attempt->tied == NULL)
    attempt->tied = g_new (guint32, attempt->view->n_nodes);
}

guint32
quoit_ray_best (QuoitRayAttempt *attempt, guint32 bundle)
{
  const QuoitRayMost *most = quoit_ray_most (attempt, bundle);
  guint32 n = 0;

  if (most->from == QUOIT_NO_INDEX || most->is_alone || attempt->ties == NULL)
    return most->from;
  make_room_for_ties (attempt);
  for (guint32 node = most->from; node != QUOIT_NO_INDEX && (n < 2 || attempt->ties->choose != NULL);
       node = quoit_ray_find_score (attempt, node + 1, most->score - QUOIT_RAY_AS_GOOD))
    if (!is_seen (attempt, n, node, NULL, NULL, NULL))
      attempt->tied[n++] = node;
  return choose (attempt, bundle, n);
}

guint32
quoit_ray_best_used (QuoitRayAttempt *attempt, guint32 bundle, const guint64 *used, const guint32 *row,
                     const gint64 *rows)
{
  double most = -1;
  guint32 n = 0;

  for (guint32 node = quoit_ray_next (attempt, used, 0); node != QUOIT_NO_INDEX;
       node = quoit_ray_next (attempt, used, node + 1))
    {
      attempt->n_looks++;
      attempt->scores[node] = quoit_ray_ask_score (&attempt->ask, quoit_ray_row (attempt, rows, row[node]));
      most = MAX (most, attempt->scores[node]);
    }
  if (most < 0)
    return QUOIT_NO_INDEX;
  make_room_for_ties (attempt);
  for (guint32 node = quoit_ray_next (attempt, used, 0); node != QUOIT_NO_INDEX;
       node = quoit_ray_next (attempt, used, node + 1))
    if (attempt->scores[node] >= most - QUOIT_RAY_AS_GOOD
        && !is_seen (attempt, n, node, quoit_ray_row (attempt, rows, row[node]), row, rows))
      attempt->tied[n++] = node;
  return attempt->ties == NULL ? attempt->tied[0] : choose (attempt, bundle, n);
}

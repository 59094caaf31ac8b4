/* SPDX-License-Identifier: Apache-2.0 */
/* Scores nodes for a bundle. The best node is the one of which the bundle takes the smallest share. */
#include "placement/ray/private.h"

#include <string.h>

static double
score_of (const QuoitRayAsk *ask, const gint64 *row)
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

double
quoit_ray_score (QuoitRayAttempt *attempt, guint32 node)
{
  guint64 bit = (guint64) 1 << (node % 64);

  attempt->n_looks++;
  if ((attempt->scored[node / 64] & bit) == 0)
    {
      attempt->scored[node / 64] |= bit;
      attempt->scores[node] = score_of (&attempt->ask, quoit_ray_row (attempt, attempt->view->available, node));
    }
  return attempt->scores[node];
}

/* Chooses one of @attempt->tied. */
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

/* Whether ties->choose does not need @node, because it gets one node of each kind, and @attempt->tied already has an
 * equal node with the same @row left. */
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
    attempt->tied = g_new0 (guint32, attempt->view->n_nodes);
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
      attempt->scores[node] = score_of (&attempt->ask, quoit_ray_row (attempt, rows, row[node]));
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

/* SPDX-License-Identifier: Apache-2.0 */
/* Scores nodes for the current demand. The best node is the one of which the demand takes the smallest fraction. */
#include "models/ray/scheduler/private.h"

#include <string.h>

static double
compute_score (const QuoitRayDemand *demand, const gint64 *row)
{
  double score = 0;

  for (guint32 i = 0; i < demand->n; i++)
    {
      gint64 has = row[demand->resources[i]];
      double available = (double) has / QUOIT_AMOUNT_UNIT;

      if (has < demand->amounts[i])
        return -1;
      if (has != 0)
        score += (available - (double) demand->amounts[i] / QUOIT_AMOUNT_UNIT) / available;
    }
  return score;
}

double
quoit_ray_score (QuoitRayAttempt *attempt, guint32 node)
{
  guint64 bit = (guint64) 1 << (node % 64);

  attempt->n_tests++;
  if ((attempt->scored[node / 64] & bit) == 0)
    {
      attempt->scored[node / 64] |= bit;
      attempt->scores[node] = compute_score (&attempt->demand, quoit_ray_row (attempt, attempt->view->available, node));
    }
  return attempt->scores[node];
}

/* Chooses one of the @n nodes in attempt->tied. */
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

/* Whether ties->choose does not need @node, because attempt->tied already has an equivalent node with the same
 * amounts left. @row is what is left on @node; NULL: all nodes are unused. */
static gboolean
is_represented (QuoitRayAttempt *attempt, guint32 n_tied, guint32 node, const gint64 *row, const guint32 *row_of_node,
                const gint64 *rows)
{
  gsize size = attempt->bundles->n_resources * sizeof (gint64);

  if (attempt->ties == NULL || attempt->ties->choose == NULL || !attempt->ties->skip_equivalent)
    return FALSE;
  if (attempt->equivalent == NULL)
    attempt->equivalent = quoit_ray_find_equivalent (attempt->bundles, attempt->view);
  for (guint32 i = 0; i < n_tied; i++)
    {
      guint32 other = attempt->tied[i];

      if (attempt->equivalent[other] == attempt->equivalent[node]
          && (row == NULL || size == 0 || memcmp (row, quoit_ray_row (attempt, rows, row_of_node[other]), size) == 0))
        return TRUE;
    }
  return FALSE;
}

static void
allocate_ties (QuoitRayAttempt *attempt)
{
  if (attempt->tied == NULL)
    attempt->tied = g_new0 (guint32, attempt->view->n_nodes);
}

guint32
quoit_ray_find_best_node (QuoitRayAttempt *attempt, guint32 bundle)
{
  const QuoitRayTopScore *top = quoit_ray_find_top_score (attempt, bundle);
  guint32 n = 0;

  if (top->first == QUOIT_NO_INDEX || top->is_unique || attempt->ties == NULL)
    return top->first;
  allocate_ties (attempt);
  for (guint32 node = top->first; node != QUOIT_NO_INDEX && (n < 2 || attempt->ties->choose != NULL);
       node = quoit_ray_find_score (attempt, node + 1, top->score - QUOIT_RAY_SCORE_TOLERANCE))
    if (!is_represented (attempt, n, node, NULL, NULL, NULL))
      attempt->tied[n++] = node;
  return choose (attempt, bundle, n);
}

guint32
quoit_ray_find_best_used_node (QuoitRayAttempt *attempt, guint32 bundle, const guint64 *used, const guint32 *row,
                               const gint64 *rows)
{
  double top = -1;
  guint32 n = 0;

  for (guint32 node = quoit_ray_next_candidate (attempt, used, 0); node != QUOIT_NO_INDEX;
       node = quoit_ray_next_candidate (attempt, used, node + 1))
    {
      attempt->n_tests++;
      attempt->scores[node] = compute_score (&attempt->demand, quoit_ray_row (attempt, rows, row[node]));
      top = MAX (top, attempt->scores[node]);
    }
  if (top < 0)
    return QUOIT_NO_INDEX;
  allocate_ties (attempt);
  for (guint32 node = quoit_ray_next_candidate (attempt, used, 0); node != QUOIT_NO_INDEX;
       node = quoit_ray_next_candidate (attempt, used, node + 1))
    if (attempt->scores[node] >= top - QUOIT_RAY_SCORE_TOLERANCE
        && !is_represented (attempt, n, node, quoit_ray_row (attempt, rows, row[node]), row, rows))
      attempt->tied[n++] = node;
  return attempt->ties == NULL ? attempt->tied[0] : choose (attempt, bundle, n);
}

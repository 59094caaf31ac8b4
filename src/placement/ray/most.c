/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the best candidate repeatedly, while candidates are removed. The score of a candidate for an ask does not
 * change, so that the highest score only decreases. Until it does, the search continues at the first candidate that
 * was as good. If it decreases often, the candidates are sorted once. */
#include "placement/ray/private.h"

#include <math.h>

enum {
  OFTEN = 16, /* number of decreases after which sorting costs less than searching */
  FEW = 32    /* up to this many candidates with equal score are compared in the ranking */
};

guint32
quoit_ray_find_score (QuoitRayAttempt *attempt, guint32 from, double least)
{
  for (guint32 n = quoit_ray_next (attempt, attempt->candidates, from); n != QUOIT_NO_INDEX;
       n = quoit_ray_next (attempt, attempt->candidates, n + 1))
    if (quoit_ray_score (attempt, n) >= least)
      return n;
  return QUOIT_NO_INDEX;
}

/* --- searching --- */

static double
highest (QuoitRayAttempt *attempt)
{
  double most = -1;

  for (guint32 n = quoit_ray_next (attempt, attempt->candidates, 0); n != QUOIT_NO_INDEX;
       n = quoit_ray_next (attempt, attempt->candidates, n + 1))
    most = MAX (most, quoit_ray_score (attempt, n));
  return most;
}

static void
look (QuoitRayAttempt *attempt, QuoitRayMost *most)
{
  if (isfinite (most->score))
    {
      most->from = quoit_ray_find_score (attempt, most->from, most->score - QUOIT_RAY_AS_GOOD);
      if (most->from != QUOIT_NO_INDEX && quoit_ray_find_score (attempt, most->from, most->score) != QUOIT_NO_INDEX)
        return;
      attempt->n_sunk++;
    }
  most->score = highest (attempt);
  most->from = most->score < 0 ? QUOIT_NO_INDEX : quoit_ray_find_score (attempt, 0, most->score - QUOIT_RAY_AS_GOOD);
}

/* --- sorting --- */

static int
by_score (gconstpointer a, gconstpointer b, gpointer scores)
{
  guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;
  double of_x = ((const double *) scores)[x], of_y = ((const double *) scores)[y];

  if (of_x != of_y)
    return of_x > of_y ? -1 : 1;
  return (x > y) - (x < y);
}

/* Ranks all candidates with enough resources, whatever their labels. */
static void
rank (QuoitRayAttempt *attempt)
{
  const guint64 *passes = attempt->ask.passes;

  if (attempt->ranking == NULL)
    attempt->ranking = g_new (guint32, attempt->view->n_nodes);
  attempt->n_ranked = 0;
  attempt->ranked_for = attempt->n_asked;
  attempt->ask.passes = NULL;
  for (guint32 n = quoit_ray_next (attempt, attempt->candidates, 0); n != QUOIT_NO_INDEX;
       n = quoit_ray_next (attempt, attempt->candidates, n + 1))
    if (quoit_ray_score (attempt, n) >= 0)
      attempt->ranking[attempt->n_ranked++] = n;
  attempt->ask.passes = passes;
  g_qsort_with_data (attempt->ranking, (gint) attempt->n_ranked, sizeof *attempt->ranking, by_score, attempt->scores);
}

static gboolean
is_left (QuoitRayAttempt *attempt, guint32 place)
{
  guint32 node = attempt->ranking[place];

  attempt->n_looks++;
  return quoit_ray_bit (attempt->candidates, node) && quoit_ray_ask_passes (&attempt->ask, node);
}

/* Finds the first of the nodes that are as good as the first ranked one. Returns FALSE if there are too many. */
static gboolean
find_among_few (QuoitRayAttempt *attempt, QuoitRayMost *most)
{
  guint32 end = MIN (attempt->n_ranked, most->ranked + FEW), first = QUOIT_NO_INDEX, n = 0, i;

  for (i = most->ranked; i < end && attempt->scores[attempt->ranking[i]] >= most->score - QUOIT_RAY_AS_GOOD; i++)
    if (is_left (attempt, i))
      {
        first = MIN (first, attempt->ranking[i]);
        n++;
      }
  if (i == end && end < attempt->n_ranked)
    return FALSE;
  most->from = first;
  most->is_alone = n == 1;
  return TRUE;
}

static void
look_up (QuoitRayAttempt *attempt, QuoitRayMost *most)
{
  double before = most->score;
  guint32 from;

  if (attempt->ranked_for != attempt->n_asked)
    rank (attempt);
  while (most->ranked < attempt->n_ranked && !is_left (attempt, most->ranked))
    most->ranked++;
  if (most->ranked == attempt->n_ranked)
    {
      most->score = -1;
      most->from = QUOIT_NO_INDEX;
      return;
    }
  most->score = attempt->scores[attempt->ranking[most->ranked]];
  from = most->score == before ? most->from : 0;
  if (!find_among_few (attempt, most))
    most->from = quoit_ray_find_score (attempt, from, most->score - QUOIT_RAY_AS_GOOD);
}

const QuoitRayMost *
quoit_ray_most (QuoitRayAttempt *attempt, guint32 bundle)
{
  const guint32 *filter = attempt->bundles->filter;
  QuoitRayMost *most = &attempt->most[filter == NULL ? 0 : filter[bundle]];

  if (most->asked != attempt->n_asked)
    *most = (QuoitRayMost) { attempt->n_asked, 0, 0, INFINITY, FALSE };
  if (most->score < 0)
    return most;
  most->is_alone = FALSE;
  if (attempt->n_sunk < OFTEN)
    look (attempt, most);
  else
    look_up (attempt, most);
  return most;
}

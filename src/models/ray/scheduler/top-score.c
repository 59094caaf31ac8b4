/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the highest score repeatedly, while candidates are removed. The score of a candidate for one demand does not
 * change, so the highest score can only decrease. As long as it does not, the search continues at the previous
 * candidate. If it decreases often, the candidates are sorted by score once. */
#include "models/ray/scheduler/private.h"

#include <math.h>

enum {
  MAX_SEARCHES = 16, /* after this many decreases, sorting costs less than searching */
  MAX_TIES = 32      /* up to this many candidates of equal score are compared in the ranking */
};

guint32
quoit_ray_find_score (QuoitRayAttempt *attempt, guint32 from, double min_score)
{
  for (guint32 n = quoit_ray_next_candidate (attempt, attempt->candidates, from); n != QUOIT_NO_INDEX;
       n = quoit_ray_next_candidate (attempt, attempt->candidates, n + 1))
    if (quoit_ray_score (attempt, n) >= min_score)
      return n;
  return QUOIT_NO_INDEX;
}

/* --- searching --- */

static double
compute_highest (QuoitRayAttempt *attempt)
{
  double top = -1;

  for (guint32 n = quoit_ray_next_candidate (attempt, attempt->candidates, 0); n != QUOIT_NO_INDEX;
       n = quoit_ray_next_candidate (attempt, attempt->candidates, n + 1))
    top = MAX (top, quoit_ray_score (attempt, n));
  return top;
}

static void
search_top (QuoitRayAttempt *attempt, QuoitRayTopScore *top)
{
  if (isfinite (top->score))
    {
      top->first = quoit_ray_find_score (attempt, top->first, top->score - QUOIT_RAY_SCORE_TOLERANCE);
      if (top->first != QUOIT_NO_INDEX && quoit_ray_find_score (attempt, top->first, top->score) != QUOIT_NO_INDEX)
        return;
      attempt->n_decreases++;
    }
  top->score = compute_highest (attempt);
  top->first
      = top->score < 0 ? QUOIT_NO_INDEX : quoit_ray_find_score (attempt, 0, top->score - QUOIT_RAY_SCORE_TOLERANCE);
}

/* --- sorting --- */

static int
by_score (gconstpointer a, gconstpointer b, gpointer scores)
{
  guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;
  double score_x = ((const double *) scores)[x], score_y = ((const double *) scores)[y];

  if (score_x != score_y)
    return score_x > score_y ? -1 : 1;
  return (x > y) - (x < y);
}

/* Ranks all candidates with enough resources, whatever filter they pass: all filters share the ranking. */
static void
rank (QuoitRayAttempt *attempt)
{
  const guint64 *passes = attempt->demand.passes;

  if (attempt->ranking == NULL)
    attempt->ranking = g_new (guint32, attempt->view->n_nodes);
  attempt->n_ranked = 0;
  attempt->ranked_demand = attempt->demand_number;
  attempt->demand.passes = NULL;
  for (guint32 n = quoit_ray_next_candidate (attempt, attempt->candidates, 0); n != QUOIT_NO_INDEX;
       n = quoit_ray_next_candidate (attempt, attempt->candidates, n + 1))
    if (quoit_ray_score (attempt, n) >= 0)
      attempt->ranking[attempt->n_ranked++] = n;
  attempt->demand.passes = passes;
  g_qsort_with_data (attempt->ranking, (gint) attempt->n_ranked, sizeof *attempt->ranking, by_score, attempt->scores);
}

static gboolean
is_candidate (QuoitRayAttempt *attempt, guint32 rank_index)
{
  guint32 node = attempt->ranking[rank_index];

  attempt->n_tests++;
  return quoit_ray_bit (attempt->candidates, node) && quoit_ray_demand_passes (&attempt->demand, node);
}

/* Finds the first of the nodes that are as good as the best ranked one. Returns FALSE if there are too many of them. */
static gboolean
compare_ties (QuoitRayAttempt *attempt, QuoitRayTopScore *top)
{
  guint32 end = MIN (attempt->n_ranked, top->rank + MAX_TIES), first = QUOIT_NO_INDEX, n = 0, i;

  for (i = top->rank; i < end && attempt->scores[attempt->ranking[i]] >= top->score - QUOIT_RAY_SCORE_TOLERANCE; i++)
    if (is_candidate (attempt, i))
      {
        first = MIN (first, attempt->ranking[i]);
        n++;
      }
  if (i == end && end < attempt->n_ranked)
    return FALSE;
  top->first = first;
  top->is_unique = n == 1;
  return TRUE;
}

static void
rank_top (QuoitRayAttempt *attempt, QuoitRayTopScore *top)
{
  double previous = top->score;
  guint32 from;

  if (attempt->ranked_demand != attempt->demand_number)
    rank (attempt);
  while (top->rank < attempt->n_ranked && !is_candidate (attempt, top->rank))
    top->rank++;
  if (top->rank == attempt->n_ranked)
    {
      top->score = -1;
      top->first = QUOIT_NO_INDEX;
      return;
    }
  top->score = attempt->scores[attempt->ranking[top->rank]];
  from = top->score == previous ? top->first : 0;
  if (!compare_ties (attempt, top))
    top->first = quoit_ray_find_score (attempt, from, top->score - QUOIT_RAY_SCORE_TOLERANCE);
}

const QuoitRayTopScore *
quoit_ray_find_top_score (QuoitRayAttempt *attempt, guint32 bundle)
{
  const guint32 *filter = attempt->bundles->filter;
  QuoitRayTopScore *top = &attempt->top_scores[filter == NULL ? 0 : filter[bundle]];

  if (top->demand_number != attempt->demand_number)
    *top = (QuoitRayTopScore) { attempt->demand_number, 0, 0, INFINITY, FALSE };
  if (top->score < 0)
    return top;
  top->is_unique = FALSE;
  if (attempt->n_decreases < MAX_SEARCHES)
    search_top (attempt, top);
  else
    rank_top (attempt, top);
  return top;
}

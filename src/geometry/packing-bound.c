/* SPDX-License-Identifier: Apache-2.0 */
/* The upper end of a packing, by weights. Each step takes the place whose weights sum up to the least for its value,
 * and raises them by a small part. This is the multiplicative method for linear programs of packing; the part becomes
 * smaller when the bound no longer improves. */
#include "geometry/packing-problem.h"

#include <string.h>

enum { STEPS_PER_ROUND = 800, ROUNDS_PER_PART = 3 };

/* Weights stay below this number, so that sums do not overflow. */
#define GREATEST ((guint64) 1 << 40)
#define FIRST_WEIGHT ((guint64) 1 << 24)

/* Parts in 1/65536. */
enum { FIRST_PART = 7864, LAST_PART = 330 };

struct _QuoitPackingBound {
  QuoitPackingProblem *problem;
  guint64 *hosts;   /* weights */
  guint64 *demands; /* weights of limited demands */
  guint64 *sums;    /* by place */
  guint32 part;
  guint n_failed; /* rounds without a lower bound */
  guint64 most;   /* the lowest bound */
};

static void
sum_up (QuoitPackingBound *bound)
{
  const QuoitPackingProblem *problem = bound->problem;

  for (guint32 p = 0; p < problem->n_places; p++)
    {
      bound->sums[p] = bound->demands[problem->parts[p].demand];
      for (guint32 i = problem->first[p]; i < problem->first[p + 1]; i++)
        bound->sums[p] += bound->hosts[problem->hosts[i]];
    }
}

/* Returns the place with the least sum for its value. */
static guint32
find_lightest (const QuoitPackingBound *bound)
{
  const QuoitPackingProblem *problem = bound->problem;
  guint32 lightest = 0;
  guint64 sum = bound->sums[0], value = quoit_packing_value (problem, 0);

  for (guint32 p = 1; p < problem->n_places; p++)
    if (bound->sums[p] * value < sum * quoit_packing_value (problem, p))
      {
        lightest = p;
        sum = bound->sums[p];
        value = quoit_packing_value (problem, p);
      }
  return lightest;
}

/* Keeps the weights if they prove a lower bound. */
static gboolean
keep_if_lower (QuoitPackingBound *bound, QuoitPackingResult *result)
{
  const QuoitPackingProblem *problem = bound->problem;
  const guint32 lightest = find_lightest (bound);
  const guint64 unit = bound->sums[lightest] / quoit_packing_value (problem, lightest);
  guint64 sum = 0;

  for (guint32 host = 0; host < problem->n_hosts; host++)
    sum += bound->hosts[host];
  for (guint32 demand = 0; demand < problem->n_demands; demand++)
    sum += bound->demands[demand] * problem->demands[demand].most;
  if (sum / unit >= bound->most)
    return FALSE;
  bound->most = sum / unit;
  if (bound->most < result->most)
    {
      result->most = bound->most;
      result->unit = unit;
      memcpy (result->host_weights->data, bound->hosts, problem->n_hosts * sizeof *bound->hosts);
      memcpy (result->demand_weights->data, bound->demands, problem->n_demands * sizeof *bound->demands);
    }
  return TRUE;
}

QuoitPackingBound *
quoit_packing_bound_new (QuoitPackingProblem *problem, QuoitPackingResult *result)
{
  QuoitPackingBound *bound = g_new0 (QuoitPackingBound, 1);

  bound->problem = problem;
  bound->hosts = g_new0 (guint64, problem->n_hosts);
  bound->demands = g_new0 (guint64, problem->n_demands);
  bound->sums = g_new (guint64, problem->n_places);
  bound->part = FIRST_PART;
  bound->most = G_MAXUINT64;
  for (guint32 host = 0; host < problem->n_hosts; host++)
    if (problem->first_at[host] < problem->first_at[host + 1])
      bound->hosts[host] = FIRST_WEIGHT;
  sum_up (bound);
  keep_if_lower (bound, result);
  return bound;
}

void
quoit_packing_bound_free (QuoitPackingBound *bound)
{
  g_free (bound->hosts);
  g_free (bound->demands);
  g_free (bound->sums);
  g_free (bound);
}

static void
raise_host (QuoitPackingBound *bound, guint32 host)
{
  const QuoitPackingProblem *problem = bound->problem;
  const guint64 more = MAX (bound->hosts[host] * bound->part >> 16, 1);

  bound->hosts[host] += more;
  for (guint32 i = problem->first_at[host]; i < problem->first_at[host + 1]; i++)
    bound->sums[problem->at[i]] += more;
  quoit_packing_spend (bound->problem, problem->first_at[host + 1] - problem->first_at[host]);
}

/* Raises the weight of a limited demand. Its capacity is @most parts, so that it rises as much slower. */
static void
raise_demand (QuoitPackingBound *bound, guint32 demand)
{
  const QuoitPackingProblem *problem = bound->problem;
  const guint32 most = problem->demands[demand].most;
  guint64 more;

  if (most == 0)
    return;
  if (bound->demands[demand] == 0)
    bound->demands[demand] = FIRST_WEIGHT / 256;
  more = MAX ((bound->demands[demand] * bound->part >> 16) / most, 1);
  bound->demands[demand] += more;
  for (guint32 p = 0; p < problem->n_places; p++)
    if (problem->parts[p].demand == demand)
      bound->sums[p] += more;
}

/* Halves all weights until they are far below the limit. */
static void
scale_down (QuoitPackingBound *bound)
{
  for (guint32 host = 0; host < bound->problem->n_hosts; host++)
    if (bound->hosts[host] > 0)
      bound->hosts[host] = MAX (bound->hosts[host] >> 14, 1);
  for (guint32 demand = 0; demand < bound->problem->n_demands; demand++)
    bound->demands[demand] >>= 14;
  sum_up (bound);
}

static void
raise_place (QuoitPackingBound *bound, guint32 place)
{
  const QuoitPackingProblem *problem = bound->problem;

  for (guint32 i = problem->first[place]; i < problem->first[place + 1]; i++)
    raise_host (bound, problem->hosts[i]);
  raise_demand (bound, problem->parts[place].demand);
}

/* Raises the weights of the lightest place, and of those that are almost as light when their turn comes. Returns their
 * number. */
static guint
raise_lightest (QuoitPackingBound *bound)
{
  const QuoitPackingProblem *problem = bound->problem;
  const guint32 lightest = find_lightest (bound);
  const guint64 sum = bound->sums[lightest], value = quoit_packing_value (problem, lightest);
  const guint64 limit = sum + (sum * bound->part >> 17);
  guint n = 0;

  for (guint32 p = lightest; p < problem->n_places; p++)
    if (bound->sums[p] * value <= limit * quoit_packing_value (problem, p))
      {
        raise_place (bound, p);
        n++;
      }
  quoit_packing_spend (bound->problem, 2 * problem->n_places);
  if (sum > GREATEST)
    scale_down (bound);
  return n;
}

void
quoit_packing_bound_improve (QuoitPackingBound *bound, QuoitPackingResult *result)
{
  for (guint n = 0; n < STEPS_PER_ROUND;)
    n += raise_lightest (bound);
  if (keep_if_lower (bound, result))
    bound->n_failed = 0;
  else if (++bound->n_failed % ROUNDS_PER_PART == 0 && bound->part > LAST_PART)
    bound->part = bound->part * 7 / 10;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/promise.h"

#include <float.h>

/* The binomial distribution of the number of cubes that work. It is walked from its mode, whose weight is 1: the ratio
 * of neighbouring weights is a rational function. Their sum then gives the probabilities. Unlike logarithms of
 * factorials, this loses no digits for many cubes, and takes only as many steps as there are weights that matter. */
typedef struct {
  guint32 n_cubes;
  double odds;       /* of a cube: probability that it works / probability that it does not */
  guint32 low, high; /* weights outside are negligible */
  double low_weight, high_weight;
  guint32 mode;
  double sum; /* of all weights */
} Distribution;

/* The part of a confidence that rounding of the arguments may decide: 0.9 * 0.9 is as good as 0.81. */
#define TOLERANCE 1e-9

/* Weights below this part of the smallest probability that matters do not matter together either. */
#define NEGLIGIBLE 1e-20

/* Returns the weight of @n + 1 divided by that of @n. */
static double
ratio_up (const Distribution *distribution, guint32 n)
{
  return (double) (distribution->n_cubes - n) * distribution->odds / (double) (n + 1);
}

static void
walk_up (Distribution *distribution, double limit)
{
  double weight = 1;

  for (guint32 n = distribution->mode; n < distribution->n_cubes; n++)
    {
      weight *= ratio_up (distribution, n);
      if (weight < limit)
        return;
      distribution->high = n + 1;
      distribution->high_weight = weight;
      distribution->sum += weight;
    }
}

static void
walk_down (Distribution *distribution, double limit)
{
  double weight = 1;

  for (guint32 n = distribution->mode; n > 0; n--)
    {
      weight /= ratio_up (distribution, n - 1);
      if (weight < limit)
        return;
      distribution->low = n - 1;
      distribution->low_weight = weight;
      distribution->sum += weight;
    }
}

/* @matters: the smallest probability of which the caller needs the first digits. */
static Distribution
distribution_new (guint32 n_cubes, double availability, double matters)
{
  const double limit = MAX (matters * NEGLIGIBLE, DBL_MIN);
  Distribution distribution = { .n_cubes = n_cubes, .low_weight = 1, .high_weight = 1, .sum = 1 };

  distribution.mode = availability < 1 ? (guint32) MIN ((n_cubes + 1.0) * availability, n_cubes) : n_cubes;
  distribution.low = distribution.high = distribution.mode;
  if (availability > 0 && availability < 1)
    {
      distribution.odds = availability / (1 - availability);
      walk_up (&distribution, limit);
      walk_down (&distribution, limit);
    }
  return distribution;
}

/* Returns the sum of the weights of all numbers below @n, or from @n on. Adds the smallest weights first. */
static double
sum_below (const Distribution *distribution, guint32 n)
{
  double weight = distribution->low_weight, sum = 0;

  for (guint32 i = distribution->low; i < n && i <= distribution->high; i++)
    {
      sum += weight;
      weight *= ratio_up (distribution, i);
    }
  return sum;
}

static double
sum_from (const Distribution *distribution, guint32 n)
{
  double weight = distribution->high_weight, sum = 0;

  for (guint32 i = distribution->high; i >= n; i--)
    {
      sum += weight;
      if (i == distribution->low)
        break;
      weight /= ratio_up (distribution, i - 1);
    }
  return sum;
}

double
quoit_planner_all_work (double availability, guint32 n)
{
  double result = 1;

  /* Not pow(), whose last bit depends on the C library. */
  for (double power = availability; n > 0; n /= 2, power *= power)
    if (n % 2 == 1)
      result *= power;
  return result;
}

double
quoit_planner_probability (guint32 n_cubes, double availability, guint32 n_needed)
{
  Distribution distribution;

  if (n_needed == 0 || n_needed > n_cubes)
    return n_needed == 0 ? 1 : 0;
  distribution = distribution_new (n_cubes, availability, DBL_MIN);
  if (n_needed > distribution.mode)
    return sum_from (&distribution, n_needed) / distribution.sum;
  return 1 - MIN (sum_below (&distribution, n_needed) / distribution.sum, 1);
}

/* Searches from below, because the probability of fewer cubes has more digits than 1 minus it. */
static guint32
sure_from_below (const Distribution *distribution, double confidence)
{
  const double limit = (1 - confidence) * (1 + TOLERANCE) * distribution->sum;
  double weight = distribution->low_weight, sum = weight;
  guint32 n = distribution->low;

  for (; n < distribution->high && sum <= limit; n++)
    {
      weight *= ratio_up (distribution, n);
      sum += weight;
    }
  return n;
}

static guint32
sure_from_above (const Distribution *distribution, double confidence)
{
  const double needed = confidence * (1 - TOLERANCE) * distribution->sum;
  double weight = distribution->high_weight, sum = weight;
  guint32 n = distribution->high;

  for (; n > distribution->low && sum < needed; n--)
    {
      weight /= ratio_up (distribution, n - 1);
      sum += weight;
    }
  return n;
}

guint32
quoit_planner_sure_cubes (guint32 n_cubes, double availability, double confidence)
{
  Distribution distribution;

  if (confidence == 0)
    return n_cubes;
  if (confidence == 1)
    return availability == 1 ? n_cubes : 0;
  distribution = distribution_new (n_cubes, availability, MIN (confidence, 1 - confidence));
  return confidence < 0.5 ? sure_from_above (&distribution, confidence) : sure_from_below (&distribution, confidence);
}

double
quoit_planner_goodput (guint32 n_cubes, double availability, guint32 cubes_each)
{
  const Distribution distribution = distribution_new (n_cubes, availability, DBL_MIN);
  double weight = distribution.low_weight, sum = 0;

  for (guint32 n = distribution.low; n <= distribution.high; n++)
    {
      const guint32 n_slices = n / cubes_each;

      sum += weight * n_slices;
      weight *= ratio_up (&distribution, n);
    }
  return sum / distribution.sum * cubes_each / n_cubes;
}

double
quoit_planner_static_goodput (guint32 n_cubes, double availability, guint32 cubes_each)
{
  const guint32 n_slices = n_cubes / cubes_each;

  return quoit_planner_all_work (availability, cubes_each) * n_slices * cubes_each / n_cubes;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Computes how many workers an elastic job would run, and when that number changes. */
#include <math.h>

#include "base/python.h"
#include "models/ray/ray.h"
#include "models/ray/train-plan.h"

/* Computes how many workers fit on a node, limited by the scarcest resource, in Python's floats. FALSE if a worker
 * needs more than 0 of no resource, because Python's min() fails for an empty list. */
static gboolean
count_on_node (const QuoitRayResources *worker, const QuoitRayResources *node, double *fits)
{
  gboolean has_any = FALSE;
  const char *name;

  for (unsigned i = 0; (name = quoit_ray_resources_get_name (worker, i)) != NULL; i++)
    {
      double need = quoit_ray_resources_get_amount (worker, i), rest, times;
      const double *have = quoit_ray_resources_find (node, name);

      if (!(need > 0))
        continue;
      times = quoit_python_divide (have != NULL ? *have : 0, need, &rest);
      if (!has_any || times < *fits)
        *fits = times;
      has_any = TRUE;
    }
  return has_any;
}

static double
sum_of_resources (const QuoitRayResources *resources)
{
  double sum = 0;

  for (unsigned i = 0; quoit_ray_resources_get_name (resources, i) != NULL; i++)
    sum += quoit_ray_resources_get_amount (resources, i);
  return sum;
}

static gboolean
count_on_nodes (const QuoitRayTrainPlan *plan, const QuoitRayResources *const *reserved, unsigned n_nodes,
                int64_t *n_workers, GError **error)
{
  double sum = 0, fits = 0;

  for (unsigned i = 0; i < n_nodes; i++)
    {
      if (!count_on_node (plan->resources, reserved[i], &fits))
        return quoit_fail (error, QUOIT_ERROR_INVALID,
                           "resources of a worker: expected more than 0 of one, or of all nothing");
      sum += fits;
    }
  if (!isfinite (sum) || sum < -0x1p63)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "resources of nodes: expected amounts that workers can be counted by");

  *n_workers = sum < 0x1p63 ? MIN ((int64_t) sum, plan->asked->max_workers) : plan->asked->max_workers;
  return TRUE;
}

/* Rounds down to whole slices. The product is at most @fit, so it cannot overflow, except for a negative number of
 * workers per slice, which Ray accepts. */
static gboolean
round_to_slices (const QuoitRayTrainPlan *plan, const int64_t *n_intact, int64_t fit, int64_t *n_workers,
                 GError **error)
{
  __int128 slices, workers;

  if (plan->workers_per_slice == 0)
    return *n_workers = 0, TRUE;

  slices = quoit_python_floor_divide (fit, plan->workers_per_slice);
  if (slices > 0 && n_intact != NULL)
    slices = MIN (slices, *n_intact);
  workers = slices * plan->workers_per_slice;
  if (workers < INT64_MIN || workers > INT64_MAX)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "resources of nodes: expected fewer workers than 64 bits count");

  *n_workers = (int64_t) workers;
  return TRUE;
}

int
quoit_ray_train_count_possible (const QuoitRayTrainPlan *plan, const QuoitRayResources *const *reserved,
                                unsigned n_nodes, const int64_t *n_intact, int64_t *n_workers, GError **error)
{
  int64_t fit = 0;

  if (sum_of_resources (plan->resources) == 0)
    return *n_workers = plan->asked->max_workers, TRUE;
  if (!count_on_nodes (plan, reserved, n_nodes, &fit, error))
    return FALSE;
  if (quoit_ray_scaling_uses_slices (plan->asked))
    return round_to_slices (plan, n_intact, fit, n_workers, error);

  *n_workers = fit;
  return TRUE;
}

int
quoit_ray_train_starts (const QuoitRayTrainPlan *plan, const int64_t *possible)
{
  return possible != NULL && *possible >= plan->asked->min_workers;
}

int
quoit_ray_train_looks (const QuoitRayTrainPlan *plan, int64_t started_ms, const int64_t *looked_ms, int64_t now_ms)
{
  __int128 since = (__int128) now_ms - (looked_ms != NULL ? MAX (started_ms, *looked_ms) : started_ms);

  return since >= plan->asked->monitor_interval_ms;
}

int
quoit_ray_train_resizes (const QuoitRayTrainPlan *plan, int64_t n_running, const int64_t *possible)
{
  return possible != NULL && *possible != n_running && *possible >= plan->asked->min_workers;
}

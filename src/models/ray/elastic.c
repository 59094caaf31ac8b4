/* SPDX-License-Identifier: Apache-2.0 */
/* Computes how many workers an elastic job of Ray Train runs, and when that number changes. */
#include <math.h>

#include "base/python.h"
#include "models/ray/ray.h"
#include "models/ray/train-plan.h"

/* Computes how many workers fit on a node; the scarcest resource limits them. Like Ray, it computes with floats.
 * Returns FALSE if a worker needs no resource, because Ray then calls Python's min() for an empty list, which fails. */
static gboolean
count_on_node (const QuoitRayResources *worker, const QuoitRayResources *node, double *n_fit)
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
      if (!has_any || times < *n_fit)
        *n_fit = times;
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
  double sum = 0, n_fit = 0;

  for (unsigned i = 0; i < n_nodes; i++)
    {
      if (!count_on_node (plan->resources, reserved[i], &n_fit))
        return quoit_fail (error, QUOIT_ERROR_INVALID,
                           "resources of a worker: expected more than 0 of at least one resource, or 0 of all");
      sum += n_fit;
    }
  if (!isfinite (sum) || sum < -0x1p63)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "resources of nodes: expected amounts that give a finite number of workers");

  *n_workers = sum < 0x1p63 ? MIN ((int64_t) sum, plan->scaling->max_workers) : plan->scaling->max_workers;
  return TRUE;
}

/* Rounds @fit workers down to whole slices. The result is at most @fit, except for a negative number of workers per
 * slice, which Ray accepts; only then can it overflow. */
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
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "resources of nodes: expected a number of workers that fits in 64 bits");

  *n_workers = (int64_t) workers;
  return TRUE;
}

bool
quoit_ray_train_count_possible (const QuoitRayTrainPlan *plan, const QuoitRayResources *const *reserved,
                                uint32_t n_nodes, const int64_t *n_intact, int64_t *n_workers, GError **error)
{
  int64_t fit = 0;

  if (sum_of_resources (plan->resources) == 0)
    return *n_workers = plan->scaling->max_workers, TRUE;
  if (!count_on_nodes (plan, reserved, n_nodes, &fit, error))
    return FALSE;
  if (quoit_ray_scaling_uses_slices (plan->scaling))
    return round_to_slices (plan, n_intact, fit, n_workers, error);

  *n_workers = fit;
  return TRUE;
}

bool
quoit_ray_train_would_start (const QuoitRayTrainPlan *plan, const int64_t *possible)
{
  return possible != NULL && *possible >= plan->scaling->min_workers;
}

bool
quoit_ray_train_is_resize_check_due (const QuoitRayTrainPlan *plan, int64_t started_ms, const int64_t *checked_ms,
                                     int64_t now_ms)
{
  __int128 since = (__int128) now_ms - (checked_ms != NULL ? MAX (started_ms, *checked_ms) : started_ms);

  return since >= plan->scaling->monitor_interval_ms;
}

bool
quoit_ray_train_would_resize (const QuoitRayTrainPlan *plan, int64_t n_running, const int64_t *possible)
{
  return possible != NULL && *possible != n_running && *possible >= plan->scaling->min_workers;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a ScalingConfig as Ray does, and computes the resources of its workers. */
#include "models/ray/train-plan.h"

#include "models/ray/nodes.h"
#include "models/ray/ray.h"

void
quoit_ray_train_plan_free (QuoitRayTrainPlan *plan)
{
  if (plan == NULL)
    return;

  quoit_ray_scaling_free (plan->scaling);
  quoit_ray_resources_free (plan->resources);
  g_free (plan);
}

static gboolean
is_nonempty (const char *text)
{
  return text != NULL && *text != '\0';
}

static gboolean
uses_accelerator (const QuoitRayScaling *scaling, QuoitRayAccelerators accelerator)
{
  return (scaling->accelerators & accelerator) != 0;
}

gboolean
quoit_ray_scaling_uses_slices (const QuoitRayScaling *scaling)
{
  return uses_accelerator (scaling, QUOIT_RAY_USE_TPU) && is_nonempty (scaling->topology)
         && is_nonempty (scaling->type);
}

static void
set_default (QuoitRayResources *resources, const char *name, double amount)
{
  if (quoit_ray_resources_find (resources, name) == NULL)
    quoit_ray_resources_set (resources, name, amount);
}

/* Computes the resources of a worker: the given amounts except 0, and those that accelerators add. If no resources are
 * given, a TPU worker requests one TPU and nothing for its accelerator type. */
static QuoitRayResources *
new_worker_resources (const QuoitRayScaling *scaling)
{
  QuoitRayResources *resources = quoit_ray_resources_new ();
  const char *name;

  if (scaling->per_worker == NULL && uses_accelerator (scaling, QUOIT_RAY_USE_TPU))
    return quoit_ray_resources_set (resources, "TPU", 1), resources;

  if (scaling->per_worker == NULL)
    quoit_ray_resources_set (resources, uses_accelerator (scaling, QUOIT_RAY_USE_GPU) ? "GPU" : "CPU", 1);
  for (unsigned i = 0;
       scaling->per_worker != NULL && (name = quoit_ray_resources_get_name (scaling->per_worker, i)) != NULL; i++)
    if (quoit_ray_resources_get_amount (scaling->per_worker, i) != 0)
      quoit_ray_resources_set (resources, name, quoit_ray_resources_get_amount (scaling->per_worker, i));

  if (uses_accelerator (scaling, QUOIT_RAY_USE_GPU))
    set_default (resources, "GPU", 1);
  if (is_nonempty (scaling->type))
    {
      g_autofree char *of_type = g_strconcat ("accelerator_type:", scaling->type, NULL);

      set_default (resources, of_type, 0.001);
    }
  return resources;
}

static double
worker_amount (const QuoitRayScaling *scaling, const char *name)
{
  g_autoptr (QuoitRayResources) resources = new_worker_resources (scaling);
  const double *amount = quoit_ray_resources_find (resources, name);

  return amount != NULL ? *amount : 0;
}

static gboolean
check_numbers (const QuoitRayScaling *scaling, GError **error)
{
  if (scaling->monitor_interval_ms < 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "monitor interval '%" G_GINT64_FORMAT "': expected 0 ms or more",
                       (gint64) scaling->monitor_interval_ms);
  if (scaling->min_workers < 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "number of workers '%" G_GINT64_FORMAT "': expected 0 or more",
                       (gint64) scaling->min_workers);
  if (scaling->min_workers > scaling->max_workers)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "number of workers '%" G_GINT64_FORMAT "' to '%" G_GINT64_FORMAT "': expected the minimum first",
                       (gint64) scaling->min_workers, (gint64) scaling->max_workers);

  return TRUE;
}

static gboolean
has_selector (const QuoitRayScaling *scaling)
{
  if (scaling->selector_scope == QUOIT_RAY_SELECTOR_ALL_WORKERS)
    return quoit_ray_labels_get_key (scaling->selectors->pdata[0], 0) != NULL;

  return scaling->selectors->len > 0;
}

/* Checks a job with several TPU workers. They need several hosts, so they need a slice. */
static gboolean
check_several_hosts (const QuoitRayScaling *scaling, GError **error)
{
  if (scaling->max_workers <= 1)
    return TRUE;
  if (!is_nonempty (scaling->topology))
    return quoit_fail (error, QUOIT_ERROR_INVALID, "topology: expected one, because several workers use TPU");
  if (!is_nonempty (scaling->type))
    return quoit_fail (error, QUOIT_ERROR_INVALID, "accelerator type: expected one, because several workers use TPU");
  if (has_selector (scaling))
    return quoit_fail (
        error, QUOIT_ERROR_INVALID,
        "label selector: expected none, because several workers use TPU and their slice selects the nodes");

  return TRUE;
}

static gboolean
check_multiple (const QuoitRayScaling *scaling, int64_t n_workers, int64_t per_slice, GError **error)
{
  g_autofree char *quoted = NULL;

  if (per_slice <= 0 || n_workers % per_slice == 0)
    return TRUE;

  quoted = quoit_quote (scaling->topology);
  return quoit_fail (error, QUOIT_ERROR_INVALID,
                     "number of workers '%" G_GINT64_FORMAT "': expected a multiple of the %" G_GINT64_FORMAT
                     " of a slice of topology %s",
                     (gint64) n_workers, (gint64) per_slice, quoted);
}

/* If the job uses slices, computes the workers per slice and, unless given, the resources of a worker. */
static gboolean
resolve_slices (QuoitRayTrainPlan *plan, GError **error)
{
  QuoitRayScaling *scaling = plan->scaling;
  g_autoptr (QuoitRayResources) worker = NULL;

  if (!quoit_ray_scaling_uses_slices (scaling))
    return TRUE;

  worker = quoit_ray_worker_resources (scaling->topology, scaling->type, scaling->per_worker, 1, NULL,
                                       &scaling->resource_per_chip, &plan->workers_per_slice, error);
  if (worker == NULL || !check_multiple (scaling, scaling->max_workers, plan->workers_per_slice, error)
      || !check_multiple (scaling, scaling->min_workers, plan->workers_per_slice, error))
    return FALSE;

  if (scaling->per_worker == NULL)
    scaling->per_worker = g_steal_pointer (&worker);
  return TRUE;
}

static gboolean
check_tpu (const QuoitRayScaling *scaling, GError **error)
{
  double tpu = worker_amount (scaling, "TPU");

  if (uses_accelerator (scaling, QUOIT_RAY_USE_GPU) && uses_accelerator (scaling, QUOIT_RAY_USE_TPU))
    return quoit_fail (error, QUOIT_ERROR_INVALID, "accelerators 'GPU and TPU': expected at most one of them");
  if (!uses_accelerator (scaling, QUOIT_RAY_USE_TPU) && tpu > 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "TPU of a worker '%.17g': expected none, because TPU is not used",
                       tpu);
  if (uses_accelerator (scaling, QUOIT_RAY_USE_TPU) && tpu == 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "TPU of a worker '0': expected more, because TPU is used");

  return !uses_accelerator (scaling, QUOIT_RAY_USE_TPU) || check_several_hosts (scaling, error);
}

static gboolean
check_selectors_and_gpu (const QuoitRayScaling *scaling, GError **error)
{
  double gpu = worker_amount (scaling, "GPU");

  if (scaling->selector_scope == QUOIT_RAY_SELECTOR_PER_WORKER && scaling->selectors->len != scaling->max_workers)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "label selectors '%u': expected one for each of %" G_GINT64_FORMAT " workers",
                       scaling->selectors->len, (gint64) scaling->max_workers);
  if (!uses_accelerator (scaling, QUOIT_RAY_USE_GPU) && gpu > 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "GPU of a worker '%.17g': expected none, because GPU is not used",
                       gpu);

  return TRUE;
}

QuoitRayTrainPlan *
quoit_ray_train_plan_new (const QuoitRayScaling *scaling, GError **error)
{
  g_autoptr (QuoitRayTrainPlan) plan = NULL;

  if (!check_numbers (scaling, error) || !check_tpu (scaling, error))
    return NULL;

  plan = g_new0 (QuoitRayTrainPlan, 1);
  plan->scaling = quoit_ray_scaling_copy (scaling);
  if (!resolve_slices (plan, error) || !check_selectors_and_gpu (plan->scaling, error))
    return NULL;

  plan->resources = new_worker_resources (plan->scaling);
  return g_steal_pointer (&plan);
}

int64_t
quoit_ray_train_plan_get_min_workers (const QuoitRayTrainPlan *plan)
{
  return plan->scaling->min_workers;
}

int64_t
quoit_ray_train_plan_get_max_workers (const QuoitRayTrainPlan *plan)
{
  return plan->scaling->max_workers;
}

bool
quoit_ray_train_plan_is_elastic (const QuoitRayTrainPlan *plan)
{
  return plan->scaling->is_elastic;
}

const QuoitRayResources *
quoit_ray_train_plan_get_resources (const QuoitRayTrainPlan *plan)
{
  return plan->resources;
}

QuoitRayResources *
quoit_ray_train_plan_dup_total_resources (const QuoitRayTrainPlan *plan)
{
  QuoitRayResources *total = quoit_ray_resources_new ();
  const char *name;

  for (unsigned i = 0; (name = quoit_ray_resources_get_name (plan->resources, i)) != NULL; i++)
    quoit_ray_resources_set (total, name,
                             quoit_ray_resources_get_amount (plan->resources, i) * (double) plan->scaling->max_workers);
  return total;
}

int64_t
quoit_ray_train_plan_get_workers_per_slice (const QuoitRayTrainPlan *plan)
{
  return plan->workers_per_slice;
}

int64_t
quoit_ray_train_plan_n_slices (const QuoitRayTrainPlan *plan, int64_t n_workers)
{
  if (!uses_accelerator (plan->scaling, QUOIT_RAY_USE_TPU))
    return 1;

  return quoit_ray_slices_for_workers (plan->scaling->topology, plan->scaling->type, n_workers, plan->resources,
                                       &plan->scaling->resource_per_chip);
}

QuoitRaySliceRequest *
quoit_ray_train_plan_dup_slice_request (const QuoitRayTrainPlan *plan, int64_t n_workers)
{
  g_autofree char *version = NULL;
  QuoitRaySliceRequest *request;

  if (!quoit_ray_scaling_uses_slices (plan->scaling))
    return NULL;

  version = quoit_ray_version_from_type (plan->scaling->type, NULL);
  request = quoit_ray_slice_request_new (plan->scaling->topology, version);
  quoit_ray_slice_request_set_n_slices (request, quoit_ray_train_plan_n_slices (plan, n_workers));
  quoit_ray_slice_request_set_resources (request, plan->resources);
  quoit_ray_slice_request_set_resource_per_chip (request, plan->scaling->resource_per_chip);
  quoit_ray_slice_request_set_strategy (request, plan->scaling->strategy);
  return request;
}

const char *
quoit_ray_train_plan_get_strategy (const QuoitRayTrainPlan *plan)
{
  return plan->scaling->strategy;
}

const QuoitRayLabels *
quoit_ray_train_plan_get_labels (const QuoitRayTrainPlan *plan, int64_t worker)
{
  const GPtrArray *selectors = plan->scaling->selectors;

  if (worker < 0 || worker >= plan->scaling->max_workers || selectors->len == 0)
    return NULL;

  return plan->scaling->selector_scope == QUOIT_RAY_SELECTOR_ALL_WORKERS ? selectors->pdata[0]
                                                                         : selectors->pdata[worker];
}

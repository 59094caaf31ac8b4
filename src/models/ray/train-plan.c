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

  quoit_ray_scaling_free (plan->asked);
  quoit_ray_resources_free (plan->resources);
  g_free (plan);
}

static gboolean
is_set (const char *text)
{
  return text != NULL && *text != '\0';
}

static gboolean
uses (const QuoitRayScaling *scaling, QuoitRayAccelerators accelerator)
{
  return (scaling->accelerators & accelerator) != 0;
}

gboolean
quoit_ray_scaling_uses_slices (const QuoitRayScaling *scaling)
{
  return uses (scaling, QUOIT_RAY_USE_TPU) && is_set (scaling->topology) && is_set (scaling->type);
}

static void
set_default (QuoitRayResources *resources, const char *name, double amount)
{
  if (quoit_ray_resources_find (resources, name) == NULL)
    quoit_ray_resources_set (resources, name, amount);
}

/* Computes the resources of a worker: the given amounts except 0, and those that its accelerators add. A TPU worker
 * without given resources requests one TPU, and its accelerator type adds nothing. */
static QuoitRayResources *
resources_of_worker (const QuoitRayScaling *scaling)
{
  QuoitRayResources *resources = quoit_ray_resources_new ();
  const char *name;

  if (scaling->per_worker == NULL && uses (scaling, QUOIT_RAY_USE_TPU))
    return quoit_ray_resources_set (resources, "TPU", 1), resources;

  if (scaling->per_worker == NULL)
    quoit_ray_resources_set (resources, uses (scaling, QUOIT_RAY_USE_GPU) ? "GPU" : "CPU", 1);
  for (unsigned i = 0;
       scaling->per_worker != NULL && (name = quoit_ray_resources_get_name (scaling->per_worker, i)) != NULL; i++)
    if (quoit_ray_resources_get_amount (scaling->per_worker, i) != 0)
      quoit_ray_resources_set (resources, name, quoit_ray_resources_get_amount (scaling->per_worker, i));

  if (uses (scaling, QUOIT_RAY_USE_GPU))
    set_default (resources, "GPU", 1);
  if (is_set (scaling->type))
    {
      g_autofree char *of_type = g_strconcat ("accelerator_type:", scaling->type, NULL);

      set_default (resources, of_type, 0.001);
    }
  return resources;
}

static double
amount_of_worker (const QuoitRayScaling *scaling, const char *name)
{
  g_autoptr (QuoitRayResources) resources = resources_of_worker (scaling);
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
                       "number of workers '%" G_GINT64_FORMAT "' to '%" G_GINT64_FORMAT "': expected the fewest first",
                       (gint64) scaling->min_workers, (gint64) scaling->max_workers);

  return TRUE;
}

static gboolean
selects_something (const QuoitRayScaling *scaling)
{
  if (scaling->selects == QUOIT_RAY_SELECTS_ALIKE)
    return quoit_ray_labels_get_key (scaling->selectors->pdata[0], 0) != NULL;

  return scaling->selectors->len > 0;
}

/* Several TPU workers need several hosts, and only a slice has several hosts. */
static gboolean
check_several_hosts (const QuoitRayScaling *scaling, GError **error)
{
  if (scaling->max_workers <= 1)
    return TRUE;
  if (!is_set (scaling->topology))
    return quoit_fail (error, QUOIT_ERROR_INVALID, "topology: expected one for several workers with TPU");
  if (!is_set (scaling->type))
    return quoit_fail (error, QUOIT_ERROR_INVALID, "accelerator type: expected one for several workers with TPU");
  if (selects_something (scaling))
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "label selector: expected none for several workers with TPU, whose slice selects their nodes");

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

/* Computes the workers per slice, and the default resources of a worker. */
static gboolean
fill_slices (QuoitRayTrainPlan *plan, GError **error)
{
  QuoitRayScaling *asked = plan->asked;
  g_autoptr (QuoitRayResources) worker = NULL;

  if (!quoit_ray_scaling_uses_slices (asked))
    return TRUE;

  worker = quoit_ray_worker_resources (asked->topology, asked->type, asked->per_worker, 1, NULL,
                                       &asked->resource_per_chip, &plan->workers_per_slice, error);
  if (worker == NULL || !check_multiple (asked, asked->max_workers, plan->workers_per_slice, error)
      || !check_multiple (asked, asked->min_workers, plan->workers_per_slice, error))
    return FALSE;

  if (asked->per_worker == NULL)
    asked->per_worker = g_steal_pointer (&worker);
  return TRUE;
}

static gboolean
check_tpu (const QuoitRayScaling *scaling, GError **error)
{
  double tpu = amount_of_worker (scaling, "TPU");

  if (uses (scaling, QUOIT_RAY_USE_GPU) && uses (scaling, QUOIT_RAY_USE_TPU))
    return quoit_fail (error, QUOIT_ERROR_INVALID, "accelerators 'GPU and TPU': expected at most one of them");
  if (!uses (scaling, QUOIT_RAY_USE_TPU) && tpu > 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "TPU of a worker '%.17g': expected none where TPU is not used", tpu);
  if (uses (scaling, QUOIT_RAY_USE_TPU) && tpu == 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "TPU of a worker '0': expected more where TPU is used");

  return !uses (scaling, QUOIT_RAY_USE_TPU) || check_several_hosts (scaling, error);
}

static gboolean
check_rest (const QuoitRayScaling *scaling, GError **error)
{
  double gpu = amount_of_worker (scaling, "GPU");

  if (scaling->selects == QUOIT_RAY_SELECTS_EACH && scaling->selectors->len != scaling->max_workers)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "label selectors '%u': expected one for each of %" G_GINT64_FORMAT " workers",
                       scaling->selectors->len, (gint64) scaling->max_workers);
  if (!uses (scaling, QUOIT_RAY_USE_GPU) && gpu > 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "GPU of a worker '%.17g': expected none where GPU is not used", gpu);

  return TRUE;
}

QuoitRayTrainPlan *
quoit_ray_train_plan_new (const QuoitRayScaling *scaling, GError **error)
{
  g_autoptr (QuoitRayTrainPlan) plan = NULL;

  if (!check_numbers (scaling, error) || !check_tpu (scaling, error))
    return NULL;

  plan = g_new0 (QuoitRayTrainPlan, 1);
  plan->asked = quoit_ray_scaling_copy (scaling);
  if (!fill_slices (plan, error) || !check_rest (plan->asked, error))
    return NULL;

  plan->resources = resources_of_worker (plan->asked);
  return g_steal_pointer (&plan);
}

int64_t
quoit_ray_train_plan_get_min_workers (const QuoitRayTrainPlan *plan)
{
  return plan->asked->min_workers;
}

int64_t
quoit_ray_train_plan_get_max_workers (const QuoitRayTrainPlan *plan)
{
  return plan->asked->max_workers;
}

int
quoit_ray_train_plan_is_elastic (const QuoitRayTrainPlan *plan)
{
  return plan->asked->is_elastic;
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
                             quoit_ray_resources_get_amount (plan->resources, i) * (double) plan->asked->max_workers);
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
  if (!uses (plan->asked, QUOIT_RAY_USE_TPU))
    return 1;

  return quoit_ray_slices_for_workers (plan->asked->topology, plan->asked->type, n_workers, plan->resources,
                                       &plan->asked->resource_per_chip);
}

QuoitRaySliceRequest *
quoit_ray_train_plan_dup_slice_request (const QuoitRayTrainPlan *plan, int64_t n_workers)
{
  g_autofree char *version = NULL;
  QuoitRaySliceRequest *request;

  if (!quoit_ray_scaling_uses_slices (plan->asked))
    return NULL;

  version = quoit_ray_version_from_type (plan->asked->type, NULL);
  request = quoit_ray_slice_request_new (plan->asked->topology, version);
  quoit_ray_slice_request_set_n_slices (request, quoit_ray_train_plan_n_slices (plan, n_workers));
  quoit_ray_slice_request_set_resources (request, plan->resources);
  quoit_ray_slice_request_set_resource_per_chip (request, plan->asked->resource_per_chip);
  quoit_ray_slice_request_set_strategy (request, plan->asked->strategy);
  return request;
}

const char *
quoit_ray_train_plan_get_strategy (const QuoitRayTrainPlan *plan)
{
  return plan->asked->strategy;
}

const QuoitRayLabels *
quoit_ray_train_plan_get_labels (const QuoitRayTrainPlan *plan, int64_t worker)
{
  const GPtrArray *selectors = plan->asked->selectors;

  if (worker < 0 || worker >= plan->asked->max_workers || selectors->len == 0)
    return NULL;

  return plan->asked->selects == QUOIT_RAY_SELECTS_ALIKE ? selectors->pdata[0] : selectors->pdata[worker];
}

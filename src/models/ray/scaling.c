/* SPDX-License-Identifier: Apache-2.0 */
#include "models/ray/scaling.h"

#include "models/ray/nodes.h"
#include "models/ray/ray.h"

enum { MONITOR_INTERVAL_MS = 60000 };

QuoitRayScaling *
quoit_ray_scaling_new (void)
{
  QuoitRayScaling *scaling = g_new0 (QuoitRayScaling, 1);

  scaling->min_workers = scaling->max_workers = 1;
  scaling->monitor_interval_ms = MONITOR_INTERVAL_MS;
  scaling->resource_per_chip = 1;
  scaling->strategy = g_strdup ("PACK");
  scaling->selectors = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_ray_labels_free);
  return scaling;
}

void
quoit_ray_scaling_free (QuoitRayScaling *scaling)
{
  if (scaling == NULL)
    return;

  g_free (scaling->topology);
  g_free (scaling->type);
  g_free (scaling->strategy);
  quoit_ray_resources_free (scaling->per_worker);
  g_ptr_array_unref (scaling->selectors);
  g_free (scaling);
}

QuoitRayScaling *
quoit_ray_scaling_copy (const QuoitRayScaling *scaling)
{
  QuoitRayScaling *copy = g_memdup2 (scaling, sizeof *scaling);

  copy->topology = g_strdup (scaling->topology);
  copy->type = g_strdup (scaling->type);
  copy->strategy = g_strdup (scaling->strategy);
  copy->per_worker = scaling->per_worker != NULL ? quoit_ray_resources_copy (scaling->per_worker) : NULL;
  copy->selectors = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_ray_labels_free);
  for (unsigned i = 0; i < scaling->selectors->len; i++)
    g_ptr_array_add (copy->selectors, quoit_ray_labels_copy (scaling->selectors->pdata[i]));
  return copy;
}

void
quoit_ray_scaling_set_n_workers (QuoitRayScaling *scaling, int64_t n_workers)
{
  scaling->min_workers = scaling->max_workers = n_workers;
  scaling->is_elastic = FALSE;
}

void
quoit_ray_scaling_set_worker_range (QuoitRayScaling *scaling, int64_t min, int64_t max)
{
  scaling->min_workers = min;
  scaling->max_workers = max;
  scaling->is_elastic = TRUE;
}

void
quoit_ray_scaling_set_accelerators (QuoitRayScaling *scaling, QuoitRayAccelerators accelerators)
{
  scaling->accelerators = accelerators;
}

void
quoit_ray_scaling_set_topology (QuoitRayScaling *scaling, const char *topology)
{
  quoit_ray_replace_text (&scaling->topology, topology);
}

void
quoit_ray_scaling_set_accelerator_type (QuoitRayScaling *scaling, const char *accelerator_type)
{
  quoit_ray_replace_text (&scaling->type, accelerator_type);
}

void
quoit_ray_scaling_set_strategy (QuoitRayScaling *scaling, const char *strategy)
{
  quoit_ray_replace_text (&scaling->strategy, strategy);
}

void
quoit_ray_scaling_set_resources (QuoitRayScaling *scaling, const QuoitRayResources *per_worker)
{
  QuoitRayResources *before = scaling->per_worker;

  scaling->per_worker = per_worker != NULL ? quoit_ray_resources_copy (per_worker) : NULL;
  quoit_ray_resources_free (before);
}

void
quoit_ray_scaling_set_resource_per_chip (QuoitRayScaling *scaling, int64_t factor)
{
  scaling->resource_per_chip = factor;
}

void
quoit_ray_scaling_set_monitor_interval (QuoitRayScaling *scaling, int64_t interval_ms)
{
  scaling->monitor_interval_ms = interval_ms;
}

static void
set_selectors (QuoitRayScaling *scaling, QuoitRaySelectorScope selector_scope, const QuoitRayLabels *const *labels,
               unsigned n)
{
  GPtrArray *before = scaling->selectors;

  scaling->selector_scope = selector_scope;
  scaling->selectors = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_ray_labels_free);
  for (unsigned i = 0; i < n; i++)
    g_ptr_array_add (scaling->selectors, quoit_ray_labels_copy (labels[i]));
  g_ptr_array_unref (before);
}

void
quoit_ray_scaling_set_selector (QuoitRayScaling *scaling, const QuoitRayLabels *labels)
{
  if (labels != NULL)
    set_selectors (scaling, QUOIT_RAY_SELECTOR_ALL_WORKERS, &labels, 1);
  else
    set_selectors (scaling, QUOIT_RAY_SELECTOR_NONE, NULL, 0);
}

void
quoit_ray_scaling_set_selectors (QuoitRayScaling *scaling, const QuoitRayLabels *const *labels, uint32_t n)
{
  set_selectors (scaling, QUOIT_RAY_SELECTOR_PER_WORKER, labels, n);
}

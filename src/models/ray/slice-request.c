/* SPDX-License-Identifier: Apache-2.0 */
#include "models/ray/slice-request.h"

#include "models/ray/nodes.h"
#include "models/ray/ray.h"

QuoitRaySliceRequest *
quoit_ray_slice_request_new (const char *topology, const char *accelerator_version)
{
  QuoitRaySliceRequest *request = g_new0 (QuoitRaySliceRequest, 1);

  request->topology = g_strdup (topology);
  request->version = g_strdup (accelerator_version);
  request->strategy = g_strdup ("SPREAD");
  request->name = g_strdup ("");
  request->n_slices = 1;
  request->resource_per_chip = 1;
  request->selectors = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_ray_labels_free);
  return request;
}

void
quoit_ray_slice_request_free (QuoitRaySliceRequest *request)
{
  if (request == NULL)
    return;

  g_free (request->topology);
  g_free (request->version);
  g_free (request->strategy);
  g_free (request->name);
  g_free (request->lifetime);
  quoit_ray_resources_free (request->per_bundle);
  g_ptr_array_unref (request->selectors);
  g_free (request);
}

void
quoit_ray_slice_request_set_n_slices (QuoitRaySliceRequest *request, int64_t n_slices)
{
  request->n_slices = n_slices;
}

void
quoit_ray_slice_request_set_chips_per_vm (QuoitRaySliceRequest *request, int64_t n_chips)
{
  request->chips_per_vm = n_chips;
  request->has_chips_per_vm = TRUE;
}

void
quoit_ray_slice_request_set_resource_per_chip (QuoitRaySliceRequest *request, int64_t factor)
{
  request->resource_per_chip = factor;
}

void
quoit_ray_slice_request_set_resources (QuoitRaySliceRequest *request, const QuoitRayResources *per_bundle)
{
  QuoitRayResources *before = request->per_bundle;

  request->per_bundle = quoit_ray_resources_copy (per_bundle);
  quoit_ray_resources_free (before);
}

void
quoit_ray_slice_request_set_strategy (QuoitRaySliceRequest *request, const char *strategy)
{
  quoit_ray_replace_text (&request->strategy, strategy);
}

void
quoit_ray_slice_request_set_name (QuoitRaySliceRequest *request, const char *name)
{
  quoit_ray_replace_text (&request->name, name);
}

void
quoit_ray_slice_request_set_lifetime (QuoitRaySliceRequest *request, const char *lifetime)
{
  quoit_ray_replace_text (&request->lifetime, lifetime);
}

void
quoit_ray_slice_request_set_layout (QuoitRaySliceRequest *request, QuoitRaySliceLayout layout)
{
  request->layout = layout;
}

void
quoit_ray_slice_request_add_selector (QuoitRaySliceRequest *request, const QuoitRayLabels *labels)
{
  g_ptr_array_add (request->selectors, quoit_ray_labels_copy (labels));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What the files about sub-slices share beside the public functions. */
#pragma once

#include <quoit/models/ray-subslices.h>

#define QUOIT_RAY_LABEL_SUBSLICE_PREFIX "ray.io/tpu-subslice-"

/* The hosts of a slice of @topology. INVALID where Ray has no grid for it. */
gboolean quoit_ray_count_hosts (const char *topology, int64_t *n_hosts, GError **error);

gboolean quoit_ray_subslices_is_known (const QuoitRaySubslices *known, const char *slice_name);

/* The slices that are known, in the order in which they were first set; NULL behind the last. */
const char *quoit_ray_subslices_get_name (const QuoitRaySubslices *known, unsigned index);

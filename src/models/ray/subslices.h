/* SPDX-License-Identifier: Apache-2.0 */
/* Internal functions for sub-slices. */
#pragma once

#include <quoit/models/ray-subslices.h>

#define QUOIT_RAY_LABEL_SUBSLICE_PREFIX "ray.io/tpu-subslice-"

/* Computes the number of hosts of a slice of @topology. INVALID if Ray has no grid for it. */
gboolean quoit_ray_count_hosts (const char *topology, int64_t *n_hosts, GError **error);

gboolean quoit_ray_subslices_is_known (const QuoitRaySubslices *known, const char *slice_name);

/* Returns the names of the known slices in the order in which they were first set. NULL: @index is past the last
 * one. */
const char *quoit_ray_subslices_get_name (const QuoitRaySubslices *known, unsigned index);

/* SPDX-License-Identifier: Apache-2.0 */
/* Functions for sub-slices that the files of this folder share. */
#pragma once

#include <quoit/models/ray-subslices.h>

#include "base/label-names.h"

/* Computes the number of hosts of a slice of @topology. Fails with INVALID if Ray has no grid of hosts for the
 * topology. */
gboolean quoit_ray_count_hosts (const char *topology, int64_t *n_hosts, GError **error);

/* Returns whether the slice was set. */
gboolean quoit_ray_subslices_is_known (const QuoitRaySubslices *known, const char *slice_name);

/* Returns the name of a known slice, or NULL if @index is too large. The order is that in which the slices were first
 * set. */
const char *quoit_ray_subslices_get_name (const QuoitRaySubslices *known, unsigned index);

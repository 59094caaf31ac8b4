/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of a slice group, not yet checked. */
#pragma once

#include <quoit/models/ray-slices.h>

struct _QuoitRaySliceRequest {
  char *topology, *version, *strategy, *name, *lifetime;
  int64_t n_slices, chips_per_vm, resource_per_chip;
  gboolean has_chips_per_vm;
  QuoitRaySliceLayout layout;
  QuoitRayResources *per_bundle;
  GPtrArray *selectors; /* of QuoitRayLabels */
};

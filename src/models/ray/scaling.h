/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of a ScalingConfig, as given. */
#pragma once

#include <quoit/models/ray-train.h>

typedef enum {
  QUOIT_RAY_SELECTS_NOTHING = 0,
  QUOIT_RAY_SELECTS_ALIKE, /* one selector for all workers */
  QUOIT_RAY_SELECTS_EACH   /* one selector per worker */
} QuoitRaySelects;

struct _QuoitRayScaling {
  int64_t min_workers, max_workers, monitor_interval_ms, resource_per_chip;
  gboolean is_elastic;
  QuoitRayAccelerators accelerators;
  char *topology, *type, *strategy;
  QuoitRayResources *per_worker; /* NULL: not given */
  QuoitRaySelects selects;
  GPtrArray *selectors; /* of QuoitRayLabels */
};

QuoitRayScaling *quoit_ray_scaling_copy (const QuoitRayScaling *scaling);

/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of Ray Train's ScalingConfig, not yet checked. */
#pragma once

#include <quoit/models/ray-train.h>

/* Which workers the label selectors are for. */
typedef enum {
  QUOIT_RAY_SELECTOR_NONE = 0,
  QUOIT_RAY_SELECTOR_ALL_WORKERS, /* one selector for all workers */
  QUOIT_RAY_SELECTOR_PER_WORKER   /* one selector per worker */
} QuoitRaySelectorScope;

struct _QuoitRayScaling {
  int64_t min_workers, max_workers, monitor_interval_ms, resource_per_chip;
  gboolean is_elastic;
  QuoitRayAccelerators accelerators;
  char *topology, *type, *strategy;
  QuoitRayResources *per_worker; /* NULL: not given */
  QuoitRaySelectorScope selector_scope;
  GPtrArray *selectors; /* of QuoitRayLabels */
};

QuoitRayScaling *quoit_ray_scaling_copy (const QuoitRayScaling *scaling);

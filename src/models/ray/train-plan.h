/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "models/ray/scaling.h"

struct _QuoitRayTrainPlan {
  QuoitRayScaling *asked;
  QuoitRayResources *resources; /* what each worker asks for */
  int64_t workers_per_slice;    /* 0: no slices are asked for */
};

/* Whether the workers are placed on slices. */
gboolean quoit_ray_scaling_uses_slices (const QuoitRayScaling *scaling);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "models/ray/scaling.h"

struct _QuoitRayTrainPlan {
  QuoitRayScaling *asked;
  QuoitRayResources *resources; /* of each worker */
  int64_t workers_per_slice;    /* 0: the job does not use slices */
};

/* Returns whether the workers are placed on slices. */
gboolean quoit_ray_scaling_uses_slices (const QuoitRayScaling *scaling);

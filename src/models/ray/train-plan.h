/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of a Ray Train job: a checked ScalingConfig, and what follows from it. */
#pragma once

#include "models/ray/scaling.h"

struct _QuoitRayTrainPlan {
  QuoitRayScaling *scaling;
  QuoitRayResources *resources; /* of each worker */
  int64_t workers_per_slice;    /* 0: the job does not use slices */
};

/* Returns whether the workers are placed on slices. */
gboolean quoit_ray_scaling_uses_slices (const QuoitRayScaling *scaling);

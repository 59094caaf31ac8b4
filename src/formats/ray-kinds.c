/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/ray-kinds.h"

/* clang-format off */
const QuoitRayKindFacts quoit_ray_kinds[QUOIT_N_RAY_KINDS] = {
  [QUOIT_RAY_CLUSTER] = { "RayCluster", NULL, { NULL }, 53 },
  [QUOIT_RAY_JOB]     = { "RayJob", "rayClusterSpec", { "status", "rayClusterName", NULL }, 47 },
  [QUOIT_RAY_SERVICE] = { "RayService", "rayClusterConfig", { "status", "activeServiceStatus", "rayClusterName" }, 47 },
};
/* clang-format on */

gboolean
quoit_ray_kind_find (const char *name, QuoitRayKind *kind)
{
  for (guint i = 0; i < QUOIT_N_RAY_KINDS; i++)
    if (g_strcmp0 (name, quoit_ray_kinds[i].name) == 0)
      return *kind = (QuoitRayKind) i, TRUE;
  return FALSE;
}

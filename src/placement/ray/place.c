/* SPDX-License-Identifier: Apache-2.0 */
/* Policy `ray`: passes the rows of a view to the model of Ray's scheduler. */
#include "placement/view.h"

QuoitPlacementResult
quoit_place_by_ray (const QuoitFleetView *view, guint32 *nodes)
{
  static const QuoitPlacementResult placings[] = { [QUOIT_RAY_SUCCESS] = QUOIT_PLACEMENT_FOUND,
                                                   [QUOIT_RAY_FAILED] = QUOIT_PLACEMENT_RAY_FAILED,
                                                   [QUOIT_RAY_INFEASIBLE] = QUOIT_PLACEMENT_RAY_INFEASIBLE };

  return placings[quoit_ray_place (&view->bundles, &view->view, &view->rules, NULL, nodes)];
}

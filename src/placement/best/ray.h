/* SPDX-License-Identifier: Apache-2.0 */
/* Uses the placement of Ray's algorithm if the budget ended and that placement is better than the result so far. */
#pragma once

#include "placement/best/problem.h"

/* If Ray's algorithm finds a placement that the chips allow and that is better than @nodes (or if @result is not
 * FOUND), writes it to @nodes and returns TRUE. */
gboolean quoit_best_use_ray_placement (QuoitBestProblem *problem, const QuoitPlacementRules *rules,
                                       QuoitBestResult result, guint64 *budget, guint32 *nodes);

/* SPDX-License-Identifier: Apache-2.0 */
/* Uses the placement of Ray's algorithm if it is better than the result when the budget ended. */
#pragma once

#include "placement/best/question.h"

/* If Ray's algorithm finds a placement that the chips allow and that is better than @nodes (or if @result is not
 * FOUND), writes it to @nodes and returns TRUE. */
gboolean quoit_best_take_ray (QuoitBestQuestion *question, const QuoitStanding *standing, QuoitBestResult result,
                              guint64 *budget, guint32 *nodes);

/* SPDX-License-Identifier: Apache-2.0 */
/* Where the budget ended, what Ray's own algorithm finds is not passed over. */
#pragma once

#include "placement/best/question.h"

/* Whether Ray's placement is there, and better than @nodes, or than none where @result is not FOUND: then it is
 * written. */
gboolean quoit_best_take_ray (QuoitBestQuestion *question, const QuoitStanding *standing, QuoitBestResult result,
                              guint64 *budget, guint32 *nodes);

/* SPDX-License-Identifier: Apache-2.0 */
/* PACK of equal items. The only relevant property of a bin is its capacity: how many items it can take. */
#pragma once

#include "placement/best/subproblem.h"

/* Writes a placement on the fewest bins and on few slices, if one exists. Returns TRUE if the number of slices is
 * proven to be minimal, or if no placement exists. */
gboolean quoit_best_pack_equal_items (const QuoitBestSubproblem *subproblem, QuoitBestSolution *solution);

/* SPDX-License-Identifier: Apache-2.0 */
/* PACK of equal bundles. The only relevant property of a node is how many bundles it holds. */
#pragma once

#include "placement/best/case.h"

/* Writes a placement on the fewest nodes and on few slices, if one exists. Returns TRUE if the number of slices is
 * proven to be minimal, or if no placement exists. */
gboolean quoit_best_pack_equals (const QuoitBestCase *it, QuoitBestAnswer *answer);

/* SPDX-License-Identifier: Apache-2.0 */
/* PACK of bundles that are all alike: what counts of a node is how many it holds. */
#pragma once

#include "placement/best/case.h"

/* Writes a placement on the fewest nodes, and on few slices. TRUE: on the fewest, too, or there is none. */
gboolean quoit_best_pack_equals (const QuoitBestCase *it, QuoitBestAnswer *answer);

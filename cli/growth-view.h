/* SPDX-License-Identifier: Apache-2.0 */
/* Which groups have fewer slices than they could use, and when they could grow. */
#pragma once

#include <quoit/quoit.h>

#include "table.h"

/* Returns a row for each group of slices that has fewer slices than its request allows. @now_ms: the time of
 * @snapshot. */
Table *growth_table (QuoitSnapshot *snapshot, int64_t now_ms);

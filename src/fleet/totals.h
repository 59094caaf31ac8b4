/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of resources over the nodes that are not dead, exact. */
#pragma once

#include "fleet/fleet.h"

typedef struct {
  char *name;
  QuoitSum total, left;
} QuoitTotal;

/* Of QuoitTotal, sorted by name as text. What Ray derives is in it: the head resource of each slice ("TPU-v6e-16-head",
 * on worker 0). */
GArray *quoit_fleet_totals (const QuoitFleet *fleet);

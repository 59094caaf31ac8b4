/* SPDX-License-Identifier: Apache-2.0 */
/* Exact sums of resources over all nodes that are not dead. */
#pragma once

#include "fleet/fleet.h"

typedef struct {
  char *name;
  QuoitSum total, left;
} QuoitTotal;

/* Returns an array of QuoitTotal, sorted by name as text. It includes Ray's head resource of each slice
 * ("TPU-v6e-16-head", on worker 0). */
GArray *quoit_fleet_totals (const QuoitFleet *fleet);

/* SPDX-License-Identifier: Apache-2.0 */
/* Exact sums of resources over all nodes. */
#pragma once

#include "fleet/units.h"

/* How much of one resource is in each state. The amounts of all states add up to the total. */
typedef struct {
  char *name;
  QuoitUnitSums units;
} QuoitTotal;

/* Returns an array of QuoitTotal, sorted by name as text. It includes the head resources of slices, which Ray adds to
 * worker 0 ("TPU-v6e-16-head"). */
GArray *quoit_fleet_totals (const QuoitFleet *fleet);

/* SPDX-License-Identifier: Apache-2.0 */
/* How many parts fit at once into slices with given free hosts. Remembered: slices with equal hosts share a search. */
#pragma once

#include "placement/cut/memory.h"

typedef struct {
  guint32 least, most; /* see geometry/packing.h */
} QuoitPartCount;

/* Returns the question that the next function takes. */
QuoitCutQuestion *quoit_part_counts_ask (QuoitCutMemory *memory, const QuoitCutting *cutting, guint64 steps);
QuoitPartCount quoit_part_counts_look_up (QuoitCutQuestion *counts, const QuoitCutting *cutting,
                                          const QuoitFreeSet *set, guint64 steps);

/* Sets *@least and *@most to the sums for all slices of the class. Stops when *@least is @enough; the counts of further
 * slices are then not in the sums. */
void quoit_part_counts_sum (QuoitCutMemory *memory, const QuoitCutting *cutting, guint64 steps, guint32 enough,
                            guint32 *least, guint32 *most);

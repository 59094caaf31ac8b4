/* SPDX-License-Identifier: Apache-2.0 */
/* How many parts fit into a slice at once, when they may be moved freely: the greatest value of places without a common
 * host.
 *
 * The answer is a range. Its lower end is a packing that a search found. Its upper end has a certificate that can be
 * checked without this code: a weight for each host, and for each demand that is limited in number, such that the
 * weights of every place sum up to at least its value in units. The sum of all weights in the same units is then at
 * least the value of every packing. If both ends are equal, the answer is proven.
 *
 * Pure functions, in integers only: the same problem and budget give the same answer on every machine. */
#pragma once

#include "geometry/places.h"

/* Where the corner of a place may be. */
typedef enum {
  QUOIT_OFFSETS_ANY,    /* at any host */
  QUOIT_OFFSETS_ALIGNED /* at multiples of the box along each axis, without wrapping */
} QuoitOffsets;

/* Parts of one shape that may be in a packing. */
typedef struct {
  const QuoitTurn *turns;
  guint n_turns;
  guint32 value; /* of one part, from 1 */
  guint32 most;  /* how many count; 0: any number */
} QuoitPackingDemand;

typedef struct {
  guint32 demand, turn, origin;
} QuoitPackedPart;

typedef struct {
  guint64 least, most;    /* the greatest value is in this range */
  GArray *parts;          /* of QuoitPackedPart: a packing with the value @least */
  GArray *host_weights;   /* of guint64, by worker id */
  GArray *demand_weights; /* of guint64, by demand; 0 for one that is not limited */
  guint64 unit;           /* the weights of a place sum up to at least its value times the unit */
} QuoitPackingResult;

enum { QUOIT_PACKING_MAX_PLACES = 16384 };

/* Fills @result. @steps limits the work: one step costs about as much as visiting one host. Returns FALSE if there are
 * more than QUOIT_PACKING_MAX_PLACES places, which no slice of the catalogue has for the parts that it is cut into.
 * Then each part is put where it fits first, and the upper end follows from the number of hosts. */
gboolean quoit_packing_solve (const QuoitGrid *grid, const QuoitHostSet *free, const QuoitPackingDemand *demands,
                              guint n_demands, QuoitOffsets offsets, guint64 steps, QuoitPackingResult *result);
void quoit_packing_result_clear (QuoitPackingResult *result);

/* Returns whether the parts are free places without a common host with the value @least, and whether the weights prove
 * @most. Uses nothing of the search. */
gboolean quoit_packing_check (const QuoitGrid *grid, const QuoitHostSet *free, const QuoitPackingDemand *demands,
                              guint n_demands, QuoitOffsets offsets, const QuoitPackingResult *result);

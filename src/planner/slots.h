/* SPDX-License-Identifier: Apache-2.0 */
/* How many parts of a shape the slices of a fleet can hold at once, now and under assumptions. */
#pragma once

#include <quoit/slots.h>

#include "fleet/fleet.h"
#include "geometry/packing.h"

enum { QUOIT_N_SLOTS_IF = QUOIT_SLOTS_MENDED + 1 };

/* The answer for one set of free hosts. Slices with the same set share it. */
typedef struct {
  guint32 least, most;
  guint64 unit;      /* of the weights */
  GArray *weights;   /* of guint64, by worker id */
  QuoitHostSet free; /* the hosts */
} QuoitSlotsAnswer;

/* A slice that has room for a part, or could have it. */
typedef struct {
  guint32 slice;
  guint answer; /* index of answers */
} QuoitSlotsSlice;

typedef struct {
  QuoitShape shape;
  guint32 least[QUOIT_N_SLOTS_IF], most[QUOIT_N_SLOTS_IF];
  GArray *slices[QUOIT_N_SLOTS_IF]; /* of QuoitSlotsSlice */
} QuoitSlotsRow;

struct _QuoitSlots {
  QuoitFleet *fleet;
  QuoitCut cut;
  GArray *rows;    /* of QuoitSlotsRow */
  GArray *answers; /* of QuoitSlotsAnswer */
};

/* Fills @slots with the parts of @shape; without dimensions: of every shape that the catalogue lists and a slice of the
 * fleet is large enough for. Fails with NOT_FOUND if there is none. */
gboolean quoit_slots_count (QuoitSlots *slots, const QuoitFleet *fleet, QuoitGeneration generation, QuoitShape shape,
                            QuoitCut cut, gint64 until_ms, guint64 steps, GError **error);
void quoit_slots_clear (QuoitSlots *slots);

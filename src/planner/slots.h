/* SPDX-License-Identifier: Apache-2.0 */
/* How many parts of a shape the slices of a fleet can hold at once, now and under assumptions. */
#pragma once

#include <quoit/slots.h>

#include "fleet/fleet.h"
#include "geometry/packing.h"

enum { QUOIT_N_SLOTS_IF = QUOIT_SLOTS_MENDED + 1 };

typedef struct {
  QuoitShape shape;
  guint32 least[QUOIT_N_SLOTS_IF], most[QUOIT_N_SLOTS_IF];
} QuoitSlotsRow;

struct _QuoitSlots {
  QuoitFleet *fleet, *later; /* @later: see QUOIT_SLOTS_GROUPS_ENDED */
  QuoitGeneration generation;
  QuoitCut cut;
  guint64 steps;
  GArray *rows; /* of QuoitSlotsRow */
};

/* The proof for one slice. */
typedef struct {
  guint32 slice;
  QuoitGrid grid;
  QuoitHostSet free;
  QuoitPackingResult result;
} QuoitSlotsProof;

/* Fills @slots with the parts of @shape; without dimensions: of every shape that the catalogue lists and a slice of the
 * fleet is large enough for. Fails with NOT_FOUND if there is none. */
gboolean quoit_slots_count (QuoitSlots *slots, const QuoitFleet *fleet, QuoitGeneration generation, QuoitShape shape,
                            QuoitCut cut, gint64 until_ms, guint64 steps, GError **error);
void quoit_slots_clear (QuoitSlots *slots);

/* Calls @func with the proof of each slice that could have parts of @row, in the order of the layout. Searches again,
 * because proofs are long and few are read. */
void quoit_slots_prove (const QuoitSlots *slots, const QuoitSlotsRow *row, QuoitSlotsIf assumption,
                        void (*func) (const QuoitSlotsProof *proof, gpointer data), gpointer data);

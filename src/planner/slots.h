/* SPDX-License-Identifier: Apache-2.0 */
/* How many parts of a shape the slices of a fleet can hold at once, now and under assumptions. */
#pragma once

#include <quoit/slots.h>

#include "fleet/blocks.h"
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
  QuoitCubes cubes; /* NONE: parts are counted, else joined slices */
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
/* The same for the slices of @shape that free cubes make, if they are joined as @cubes states; without dimensions: of
 * every shape that the catalogue lists and a block of the fleet is large enough for. Fails with INVALID if cubes of the
 * generation cannot be joined so, and with NOT_FOUND if no block is large enough. */
gboolean quoit_slots_count_joined (QuoitSlots *slots, const QuoitFleet *fleet, QuoitGeneration generation,
                                   QuoitShape shape, QuoitCubes cubes, gint64 until_ms, GError **error);
/* Returns what to add to a message that no block is large enough: for adjacent cubes, what makes one. */
const char *quoit_slots_position_hint (QuoitCubes cubes);
/* Adds what fits into one slice or block, by assumption. What fits now also fits if more is free, and what cannot fit
 * then cannot fit now, even if one of the searches did not find out. */
void quoit_slots_row_add (QuoitSlotsRow *row, const guint32 *least, const guint32 *most);
void quoit_slots_clear (QuoitSlots *slots);

/* Calls @func with the proof of each slice that could have parts of @row, in the order of the layout. Searches again,
 * because proofs are long and few are read. */
void quoit_slots_prove (const QuoitSlots *slots, const QuoitSlotsRow *row, QuoitSlotsIf assumption,
                        void (*func) (const QuoitSlotsProof *proof, gpointer data), gpointer data);

/* The proof for one block. */
typedef struct {
  const QuoitLayout *layout;
  const QuoitBlocks *blocks;
  guint32 block;
  guint32 n_free;
  guint32 *cubes;   /* the free ones, as slices of the layout; adjacent slices have only those with positions */
  guint64 *weights; /* by free cube */
  guint64 unit, most;
} QuoitJoinedProof;

/* Calls @func with the proof of each block that could have slices of @row, in the order of their names. */
void quoit_slots_prove_joined (const QuoitSlots *slots, const QuoitSlotsRow *row, QuoitSlotsIf assumption,
                               void (*func) (const QuoitJoinedProof *proof, gpointer data), gpointer data);

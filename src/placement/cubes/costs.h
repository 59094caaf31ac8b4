/* SPDX-License-Identifier: Apache-2.0 */
/* What it costs later requests to take cubes from a block, in 1/65536 chips: see placement/cubes/cubes.h. */
#pragma once

#include "catalogue/catalogue.h"
#include "fleet/layout.h"
#include "geometry/packing.h"
#include "placement/cubes/cubing.h"

/* The numbers of cubes that the topologies of a generation need, each once. */
typedef struct {
  guint n;
  guint32 *sizes;
} QuoitCubeSizes;

void quoit_cube_sizes_init (QuoitCubeSizes *sizes, QuoitGeneration generation);
void quoit_cube_sizes_clear (QuoitCubeSizes *sizes);

/* Returns the cost of taking @n cubes from a block with @n_free free ones of @n_all. */
guint64 quoit_cube_sizes_cost (const QuoitCubeSizes *sizes, guint32 n_all, guint32 n_free, guint32 n);

/* The costs of places of adjacent cubes in a grid of cubes, and what was found out about blocks with this grid. The
 * layout remembers them, because most blocks keep their free cubes from one request to the next. An atomic rc box. */
typedef struct {
  QuoitPlaceCosts *costs;
  GMutex lock;       /* of the table; in a child of fork(2), a thread of the parent may have it for ever */
  GHashTable *known; /* GBytes of a question -> its answer */
} QuoitCubeCosts;

/* Returns a reference. */
QuoitCubeCosts *quoit_cube_costs_get (const QuoitLayout *layout, QuoitGeneration generation, const QuoitGrid *grid);
void quoit_cube_costs_unref (QuoitCubeCosts *costs);

/* A question about the free cubes of a block. */
typedef struct {
  const QuoitGrid *grid;
  const QuoitHostSet *free;
  const QuoitTurn *turns; /* of the box */
  guint n_turns;
} QuoitCubeQuestion;

/* Packs boxes into the free cubes. The caller clears @result. */
void quoit_cube_question_pack (const QuoitCubeQuestion *question, QuoitPackingResult *result);

/* Counts the boxes, or looks up what is known. */
QuoitCubeCount quoit_cube_costs_count (QuoitCubeCosts *costs, const QuoitCubeQuestion *question);
/* Finds the cheapest place of the box. Returns FALSE if there is none. */
gboolean quoit_cube_costs_find_best (QuoitCubeCosts *costs, const QuoitCubeQuestion *question, QuoitPlace *place);

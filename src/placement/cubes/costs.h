/* SPDX-License-Identifier: Apache-2.0 */
/* What it costs later requests to take cubes from a block, in 1/65536 chips: see placement/cubes/cubes.h. */
#pragma once

#include "catalogue/catalogue.h"
#include "fleet/layout.h"
#include "geometry/places.h"

/* The numbers of cubes that the topologies of a generation need, each once. */
typedef struct {
  guint n;
  guint32 *sizes;
} QuoitCubeSizes;

void quoit_cube_sizes_init (QuoitCubeSizes *sizes, QuoitGeneration generation);
void quoit_cube_sizes_clear (QuoitCubeSizes *sizes);

/* Returns the cost of taking @n cubes from a block with @n_free free ones of @n_all. */
guint64 quoit_cube_sizes_cost (const QuoitCubeSizes *sizes, guint32 n_all, guint32 n_free, guint32 n);

/* The costs of places of adjacent cubes in a grid of cubes. The layout remembers them. */
typedef struct {
  QuoitPlaceCosts *costs;
} QuoitCubeCosts;

/* Returns a reference. */
QuoitCubeCosts *quoit_cube_costs_get (const QuoitLayout *layout, QuoitGeneration generation, const QuoitGrid *grid);
void quoit_cube_costs_unref (QuoitCubeCosts *costs);

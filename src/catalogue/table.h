/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of the catalogue that no rule implies. Only the files of this folder read them. */
#pragma once

#include "catalogue/catalogue.h"

/* A topology that is listed individually: all two-dimensional ones, and three-dimensional ones smaller than a cube. */
typedef struct {
  QuoitGeneration generation;
  QuoitShape shape;
  guint8 chips_per_host;
  guint8 accepted_by;
  const char *machine_type;
} QuoitListedTopology;

/* Topologies of whole 4x4x4 cubes: three multiples of 4 in ascending order. Rules decide which tool accepts which
 * one. */
typedef struct {
  guint16 longest_side;      /* 0: the generation has no cubes */
  guint32 max_chips;         /* limit of listed topologies, which xpk accepts */
  guint32 kubectl_max_chips; /* limit of the kubectl plugin; 0: it does not support the generation */
  guint16 ray_sides[3];      /* Ray: limit of each side, in any order; 0: only the six common shapes */
  guint8 common_by;          /* tools that also accept 4x4x4 4x4x8 4x8x8 8x8x8 8x8x16 8x16x16 */
  guint8 maxtext_cubes;      /* MaxText: the most compact shape for each number of cubes up to this, and maxtext_more */
  guint16 maxtext_more[9][3];
} QuoitCubeRule;

extern const QuoitGenerationFacts quoit_table_generations[];
extern const unsigned quoit_table_n_generations;
extern const QuoitMachineType quoit_table_machines[];
extern const unsigned quoit_table_n_machines;
extern const QuoitGkeLabel quoit_table_labels[];
extern const unsigned quoit_table_n_labels;
extern const QuoitProcessBounds quoit_table_bounds[];
extern const unsigned quoit_table_n_bounds;
extern const QuoitListedTopology quoit_table_listed[];
extern const unsigned quoit_table_n_listed;
extern const QuoitListedTopology quoit_table_ray_only[];
extern const unsigned quoit_table_n_ray_only;
extern const QuoitCubeRule quoit_table_cubes[QUOIT_N_GENERATIONS];

/* Returns whether the catalogue lists @shape as made of cubes: ascending multiples of 4 within the limits. */
gboolean quoit_cubes_listed (QuoitGeneration generation, QuoitShape shape);
/* Returns whether only Ray accepts @shape: multiples of 4 in another order. */
gboolean quoit_cubes_of_ray_alone (QuoitGeneration generation, QuoitShape shape);
unsigned quoit_cubes_accepted_by (QuoitGeneration generation, QuoitShape shape);

/* Returns the first machine type that can build @shape from hosts of @chips_per_host chips, or NULL. */
const char *quoit_machine_for (QuoitGeneration generation, QuoitShape shape, unsigned chips_per_host);

/* Finds the first row of @shape. A @chips_per_host of 0 matches any number. */
gboolean quoit_row_find (QuoitGeneration generation, QuoitShape shape, unsigned chips_per_host, QuoitTopologyRow *row);

/* SPDX-License-Identifier: Apache-2.0 */
/* The tables behind catalogue.h, and the rules that complete them. Only the files of this folder include this header.
 */
#pragma once

#include "catalogue/catalogue.h"

/* A topology that table.c lists individually: all two-dimensional ones, and three-dimensional ones that are smaller
 * than a cube of 4x4x4. */
typedef struct {
  QuoitGeneration generation;
  QuoitShape shape;
  guint8 chips_per_host;
  guint8 accepted_by;
  const char *machine_type;
} QuoitListedTopology;

/* The topologies of a generation that consist of whole 4x4x4 cubes: three multiples of 4 in ascending order. They are
 * too many to list, so these limits state which tool accepts which one. The common shapes are 4x4x4, 4x4x8, 4x8x8,
 * 8x8x8, 8x8x16 and 8x16x16. */
typedef struct {
  guint16 longest_side;       /* 0: the generation has no cubes */
  guint32 max_chips;          /* the catalogue lists, and xpk accepts, topologies of at most this size */
  guint32 kubectl_max_chips;  /* the kubectl plugin accepts topologies of at most this size; 0: none */
  guint16 ray_sides[3];       /* Ray accepts multiples of 4 up to these sides, in any order; 0: only common shapes */
  guint8 common_accepted_by;  /* tools that accept the common shapes in addition to these limits */
  guint8 maxtext_cubes;       /* MaxText accepts the most compact shape of each number of cubes up to this number */
  guint16 maxtext_more[9][3]; /* other shapes that MaxText accepts */
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

/* Returns whether the catalogue lists @shape as one of whole cubes: ascending multiples of 4 within the limits. */
gboolean quoit_cubes_are_listed (QuoitGeneration generation, QuoitShape shape);
/* Returns whether @shape consists of whole cubes and only Ray accepts it, because its sides do not ascend. */
gboolean quoit_cubes_are_ray_only (QuoitGeneration generation, QuoitShape shape);
/* Returns the tools that accept a shape of whole cubes. */
unsigned quoit_cubes_accepted_by (QuoitGeneration generation, QuoitShape shape);

/* Returns the first machine type that can build @shape from hosts of @chips_per_host chips, or NULL. */
const char *quoit_machine_find (QuoitGeneration generation, QuoitShape shape, unsigned chips_per_host);

/* Finds the first row of the catalogue with @shape. A @chips_per_host of 0 matches any number. */
gboolean quoit_row_find (QuoitGeneration generation, QuoitShape shape, unsigned chips_per_host, QuoitTopologyRow *row);

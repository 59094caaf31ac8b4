/* SPDX-License-Identifier: Apache-2.0 */
/* The facts of the catalogue that no rule gives. Only the files of this folder read it. */
#pragma once

#include "catalogue/catalogue.h"

/* A topology that is listed by itself: all of two dimensions, and those smaller than a cube. */
typedef struct {
  QuoitGeneration generation;
  QuoitShape shape;
  guint8 chips_per_host;
  guint8 accepted_by;
  const char *machine_type;
} QuoitListedTopology;

/* The topologies made of whole 4x4x4 cubes: three multiples of 4 that do not decrease. Who accepts which is a rule. */
typedef struct {
  guint16 longest_side;      /* 0: the generation is not made of cubes */
  guint32 max_chips;         /* listed, and accepted by xpk, up to here */
  guint32 kubectl_max_chips; /* the kubectl plugin's own limit; 0: does not know the generation */
  guint16 ray_sides[3];      /* Ray: any order, each side up to this; 0: the six common ones alone */
  guint8 common_by;          /* who accepts 4x4x4 4x4x8 4x8x8 8x8x8 8x8x16 8x16x16, beside the rules above */
  guint8 maxtext_cubes;      /* MaxText: the most compact shape for each number of cubes up to this, and these: */
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

/* Whether @shape is made of cubes that the catalogue lists: multiples of 4 that do not decrease, up to the limits. */
gboolean quoit_cubes_listed (QuoitGeneration generation, QuoitShape shape);
/* The same where only Ray takes it: multiples of 4 in another order. */
gboolean quoit_cubes_of_ray_alone (QuoitGeneration generation, QuoitShape shape);
unsigned quoit_cubes_accepted_by (QuoitGeneration generation, QuoitShape shape);

/* The first machine type that builds @shape from hosts of @chips_per_host chips; NULL where there is none. */
const char *quoit_machine_for (QuoitGeneration generation, QuoitShape shape, unsigned chips_per_host);

/* The first row of @shape, of any number of chips a host when @chips_per_host is 0. */
gboolean quoit_row_find (QuoitGeneration generation, QuoitShape shape, unsigned chips_per_host, QuoitTopologyRow *row);

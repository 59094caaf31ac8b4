/* SPDX-License-Identifier: Apache-2.0 */
/* How much of the free hosts of a class is no use for parts of each shape. */
#pragma once

#include <quoit/fragmentation.h>
#include <quoit/request.h>

#include "fleet/fleet.h"

/* The parts of one shape. */
typedef struct {
  QuoitShape shape;
  guint32 weight_ppm;  /* of all shapes of the class: 1,000,000, up to rounding */
  guint64 least, most; /* how many fit at once */
} QuoitFragmentationPart;

/* The free hosts of one class. */
typedef struct {
  guint64 n_hosts; /* free ones */
  guint32 least_ppm, most_ppm;
  GArray *parts; /* of QuoitFragmentationPart */
} QuoitFragmentationClass;

struct _QuoitFragmentation {
  GArray *classes; /* of QuoitFragmentationClass, in the order of the layout */
};

/* Fills @fragmentation. @steps limits the work for each shape and each different set of free hosts. */
void quoit_fragmentation_measure (QuoitFragmentation *fragmentation, const QuoitFleet *fleet, guint64 steps);
void quoit_fragmentation_clear (QuoitFragmentation *fragmentation);

/* The same for slices that are joined from free cubes. Classes of other slices have no parts. */
void quoit_fragmentation_measure_joined (QuoitFragmentation *fragmentation, const QuoitFleet *fleet, QuoitCubes cubes);

/* The sums for one class while its parts are added: of w_t (free - packed_t size_t), with the greatest and the least
 * packed_t, and of w_t. */
typedef struct {
  unsigned __int128 least, most;
  guint64 weight;
  GArray *weights; /* of guint64, by part */
} QuoitFragmentationSums;

void quoit_fragmentation_sums_init (QuoitFragmentationSums *sums);
/* Adds a part with its shape, and how many fit at once. @n_places: in empty slices. @n_hosts: of a part. */
void quoit_fragmentation_sums_add (QuoitFragmentationSums *sums, QuoitFragmentationClass *row,
                                   const QuoitFragmentationPart *part, guint64 n_places, guint64 n_hosts);
/* Sets the results of @row, and clears @sums. */
void quoit_fragmentation_sums_finish (QuoitFragmentationSums *sums, QuoitFragmentationClass *row);

/* Measures one class; clear the result with quoit_fragmentation_class_clear(). */
void quoit_fragmentation_measure_class (QuoitFragmentationClass *row, const QuoitFleet *fleet, QuoitClassId class_id,
                                        guint64 steps);
void quoit_fragmentation_class_clear (QuoitFragmentationClass *row);

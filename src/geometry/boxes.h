/* SPDX-License-Identifier: Apache-2.0 */
/* Cuboids of chips, and the chips of a host as bits: as they are reckoned with, dealt and written. Pure. */
#pragma once

#include "geometry/coordinates.h"

/* Chips that are a cuboid of their slice. */
typedef struct {
  QuoitSpot origin;
  QuoitShape shape; /* no dimensions: they are none */
} QuoitBox;

/* What chips span, and how many they are. */
typedef struct {
  QuoitSpot low, high;
  guint32 n;
} QuoitExtent;

/* Of no chip. */
#define QUOIT_EXTENT_NOTHING                                                                                           \
  {                                                                                                                    \
    { { G_MAXUINT32, G_MAXUINT32, G_MAXUINT32 } }, { { 0, 0, 0 } }, 0                                                  \
  }

void quoit_extent_widen (QuoitExtent *extent, const QuoitExtent *by);
QuoitExtent quoit_box_extent (const QuoitBox *box);
/* Chips that are told apart fill their extent, or are no box. */
QuoitBox quoit_extent_box (const QuoitExtent *extent);
gboolean quoit_box_same_size (const QuoitBox *a, const QuoitBox *b);

/* The chips of the @local-th of @per_host processes of a host, which take them in order: JAX, Ray and PyTorch/XLA deal
 * so. */
guint64 quoit_dealt_chips (guint32 chips_per_host, guint32 per_host, guint32 local);
/* "0,1": the numbers of the bits. Owned. */
char *quoit_chips_format (guint64 chips);
/* "1,2,1". Owned. */
char *quoit_bounds_format (QuoitShape shape);

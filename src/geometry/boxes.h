/* SPDX-License-Identifier: Apache-2.0 */
/* Cuboids of chips, and the chips of a host as bit masks. Pure functions. */
#pragma once

#include "geometry/coordinates.h"

/* A cuboid of chips in a slice. */
typedef struct {
  QuoitPosition origin;
  QuoitShape shape; /* no dimensions: the chips form no cuboid */
} QuoitBox;

/* The bounding box of some chips, and their number. */
typedef struct {
  QuoitPosition low, high;
  guint32 n;
} QuoitExtent;

/* The extent of no chips. */
#define QUOIT_EXTENT_EMPTY                                                                                             \
  {                                                                                                                    \
    { { G_MAXUINT32, G_MAXUINT32, G_MAXUINT32 } }, { { 0, 0, 0 } }, 0                                                  \
  }

/* Extends @extent to include @by. */
void quoit_extent_widen (QuoitExtent *extent, const QuoitExtent *by);
QuoitExtent quoit_box_extent (const QuoitBox *box);
/* Returns the box that the chips of the extent form, if they are distinct. They form one only if they fill it. */
QuoitBox quoit_extent_box (const QuoitExtent *extent);
/* Returns whether @a is a box and @b has the same shape. */
gboolean quoit_box_same_size (const QuoitBox *a, const QuoitBox *b);

/* Returns the chips of process @local_index of @per_host processes on a host, as a bit mask. Like in JAX, Ray and
 * PyTorch/XLA, each process gets the next chips. */
guint64 quoit_chips_for_process (guint32 chips_per_host, guint32 per_host, guint32 local_index);
/* Returns the bit numbers, such as "0,1". Owned by the caller. */
char *quoit_chips_format (guint64 chips);
/* Returns text such as "1,2,1". Owned by the caller. */
char *quoit_bounds_format (QuoitShape shape);

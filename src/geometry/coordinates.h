/* SPDX-License-Identifier: Apache-2.0 */
/* Indices and coordinates of the chips and hosts of a slice, and the ICI links between them. Pure functions. */
#pragma once

#include <quoit/models/coordinates.h>

#include "catalogue/catalogue.h"

enum { QUOIT_N_AXES = 3 };

/* The coordinates x, y, z of a chip or of a host in its slice. */
typedef struct {
  guint32 at[QUOIT_N_AXES];
} QuoitPosition;

/* A slice: its shape, its hosts and its links. */
struct _QuoitCoordinates {
  QuoitSliceFacts facts;
  unsigned wrap;                             /* axes with wraparound links: bit 0 for x */
  guint32 twist[QUOIT_N_AXES][QUOIT_N_AXES]; /* [a][b]: shift along b of the wraparound link of a */
  guint32 devices_per_chip;
};

/* Asserts that the shape is twistable if @wiring is %QUOIT_WIRING_TWISTED. */
QuoitCoordinates quoit_coordinates_make (const QuoitSliceFacts *facts, QuoitWiring wiring);

/* Convert between an index and coordinates in @grid. x varies fastest. */
QuoitPosition quoit_position_from_index (QuoitShape grid, guint32 index);
guint32 quoit_position_index (QuoitShape grid, QuoitPosition position);
gboolean quoit_position_is_inside (QuoitShape grid, QuoitPosition position);

/* Returns the coordinates of chip @index_on_host inside its host. libtpu, Ray and bundles number the chips of a host in
 * the same way. */
QuoitPosition quoit_position_in_host (QuoitShape block, guint32 index_on_host);

/* Return the worker id of the host of @chip, and the index of @chip on that host. */
guint32 quoit_coordinates_worker (const QuoitCoordinates *coordinates, guint32 chip);
guint32 quoit_coordinates_index_on_host (const QuoitCoordinates *coordinates, guint32 chip);
/* The inverse of the two functions above. */
guint32 quoit_coordinates_chip (const QuoitCoordinates *coordinates, guint32 worker_id, guint32 index_on_host);

/* Sets *@neighbour to the next chip along @axis. Returns FALSE at an end without a wraparound link. */
gboolean quoit_coordinates_step (const QuoitCoordinates *coordinates, guint32 chip, guint axis,
                                 QuoitDirection direction, guint32 *neighbour);
/* Returns the number of links on a shortest path. */
guint32 quoit_coordinates_hops (const QuoitCoordinates *coordinates, guint32 from, guint32 to);
/* Returns the number of links that must be cut to divide the slice into two halves. */
guint32 quoit_coordinates_bisection (const QuoitCoordinates *coordinates);

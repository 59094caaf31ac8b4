/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and coordinates of the chips and hosts of a slice, and the ICI links between them. Pure functions. */
#pragma once

#include <quoit/models/coordinates.h>

#include "catalogue/catalogue.h"

enum { QUOIT_N_AXES = 3 };

/* Coordinates x, y, z in a grid of chips or of hosts. */
typedef struct {
  guint32 at[QUOIT_N_AXES];
} QuoitSpot;

struct _QuoitCoordinates {
  QuoitSliceFacts facts;
  unsigned wrap;                             /* axes with wraparound links: bit 0 for x */
  guint32 twist[QUOIT_N_AXES][QUOIT_N_AXES]; /* [a][b]: shift along b of the wraparound link of a */
  guint32 devices_per_chip;
};

/* Asserts that the shape is twistable if @wiring is %QUOIT_WIRING_TWISTED. */
QuoitCoordinates quoit_coordinates_of (const QuoitSliceFacts *facts, QuoitWiring wiring);

/* Converts between numbers and coordinates in @grid. x varies fastest. */
QuoitSpot quoit_spot_of (QuoitShape grid, guint32 number);
guint32 quoit_spot_number (QuoitShape grid, QuoitSpot spot);
gboolean quoit_spot_is_in (QuoitShape grid, QuoitSpot spot);

/* Returns the coordinates of chip @local inside its host. libtpu, Ray and bundles number the chips of a host in the
 * same way. */
QuoitSpot quoit_place_in_host (QuoitShape block, guint32 local);

/* Return the worker id of the host of @chip, and the number of @chip on that host. */
guint32 quoit_coordinates_worker (const QuoitCoordinates *coordinates, guint32 chip);
guint32 quoit_coordinates_local (const QuoitCoordinates *coordinates, guint32 chip);
/* The inverse of the two functions above. */
guint32 quoit_coordinates_chip (const QuoitCoordinates *coordinates, guint32 worker_id, guint32 local);

/* Sets *@neighbour to the next chip along @axis. Returns FALSE at an end without a wraparound link. */
gboolean quoit_coordinates_step (const QuoitCoordinates *coordinates, guint32 chip, guint axis,
                                 QuoitDirection direction, guint32 *neighbour);
guint32 quoit_coordinates_hops (const QuoitCoordinates *coordinates, guint32 from, guint32 to);
guint32 quoit_coordinates_bisection (const QuoitCoordinates *coordinates);

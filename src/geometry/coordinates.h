/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and places of the chips and hosts of a slice, and the links between them. Pure. */
#pragma once

#include <quoit/models/coordinates.h>

#include "catalogue/catalogue.h"

enum { QUOIT_N_AXES = 3 };

/* A place in a grid of chips, or of hosts: x, y, z. */
typedef struct {
  guint32 at[QUOIT_N_AXES];
} QuoitSpot;

struct _QuoitCoordinates {
  QuoitSliceFacts facts;
  unsigned wrap;                             /* the axes whose ends are joined: bit 0 for x */
  guint32 twist[QUOIT_N_AXES][QUOIT_N_AXES]; /* the link that closes the first comes out so far along the second */
  guint32 devices_per_chip;
};

/* @facts must be twistable for %QUOIT_WIRING_TWISTED. */
QuoitCoordinates quoit_coordinates_of (const QuoitSliceFacts *facts, QuoitWiring wiring);

/* Of a grid, x first. */
QuoitSpot quoit_spot_of (QuoitShape grid, guint32 number);
guint32 quoit_spot_number (QuoitShape grid, QuoitSpot spot);
gboolean quoit_spot_is_in (QuoitShape grid, QuoitSpot spot);

/* Where a host has the chip of that number, which is its own number to libtpu, Ray and bundles. */
QuoitSpot quoit_place_in_host (QuoitShape block, guint32 local);

/* The host that has a chip, and which of its chips that is. */
guint32 quoit_coordinates_worker (const QuoitCoordinates *coordinates, guint32 chip);
guint32 quoit_coordinates_local (const QuoitCoordinates *coordinates, guint32 chip);
/* And back. */
guint32 quoit_coordinates_chip (const QuoitCoordinates *coordinates, guint32 worker_id, guint32 local);

/* FALSE where the axis ends there. */
gboolean quoit_coordinates_step (const QuoitCoordinates *coordinates, guint32 chip, guint axis,
                                 QuoitDirection direction, guint32 *neighbour);
guint32 quoit_coordinates_hops (const QuoitCoordinates *coordinates, guint32 from, guint32 to);
guint32 quoit_coordinates_bisection (const QuoitCoordinates *coordinates);

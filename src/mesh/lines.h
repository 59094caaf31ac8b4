/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of mesh devices, and the ICI links of a slice that they use. Pure functions. */
#pragma once

#include "models/jax/mesh.h"

/* Links are counted in ten-thousandths: a jump over h hops counts as 1/h of a link. */
enum { QUOIT_LINK_E4 = 10000 };

/* The slices that contain the devices. */
typedef struct {
  gint32 sides[3]; /* 0: unknown */
  unsigned wrap;   /* axes with wraparound links: bit 0 for x */
} QuoitLinkSpace;

/* The measures of a line of devices in one slice, or the worst measures of several lines. */
typedef struct {
  guint32 n_devices, n_chips;
  guint32 n_per_chip; /* devices per chip */
  guint32 hops, hops_back;
  guint32 links_e4; /* of the chip with the fewest links to other chips of the line; 0: the line has one chip */
  guint32 spans[4]; /* number of positions along x, y, z, and of cores */
} QuoitLine;

QuoitLinkSpace quoit_link_space_of (const QuoitDevices *devices);
/* Measures the line of @devices, which are in order and in one slice. */
void quoit_line_measure (const QuoitLinkSpace *space, const QuoitDevice *const *devices, guint32 n, QuoitLine *line);
/* Merges the worse of each measure into @worst, which must start as zeros. */
void quoit_line_add (QuoitLine *worst, const QuoitLine *line);

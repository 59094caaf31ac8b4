/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a mesh on the links of a slice. Pure. */
#pragma once

#include "models/jax/mesh.h"

/* Links are counted in ten-thousandths: a jump over h hops has 1/h of its links. */
enum { QUOIT_LINK_E4 = 10000 };

/* The slices that the devices are of. */
typedef struct {
  gint32 sides[3]; /* 0: not known */
  unsigned wrap;   /* bit 0: links along x close */
} QuoitLinkSpace;

/* Some devices of one slice, or the worst that was found of several times some. */
typedef struct {
  guint32 n_devices, n_chips;
  guint32 n_per_chip; /* devices of each chip */
  guint32 hops, hops_back;
  guint32 links_e4; /* of the chip that has the fewest to others of them; 0: of one chip alone */
  guint32 spans[4]; /* the places that they take along x, y, z, and of cores */
} QuoitLine;

QuoitLinkSpace quoit_link_space_of (const QuoitDevices *devices);
/* The line of @devices, n in order, all of one slice. */
void quoit_line_measure (const QuoitLinkSpace *space, const QuoitDevice *const *devices, guint32 n, QuoitLine *line);
/* What is worse of both, into @worst, which begins as zeros. */
void quoit_line_add (QuoitLine *worst, const QuoitLine *line);

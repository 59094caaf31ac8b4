/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of mesh devices, and the ICI links of a slice that they use. Pure functions. */
#pragma once

#include "models/jax/mesh.h"

/* Links are counted in ten-thousandths: a jump over h hops counts as 1/h of a link. */
enum { QUOIT_LINK_E4 = 10000 };

/* The size of the slices that contain the devices. */
typedef struct {
  gint32 sides[3]; /* 0: unknown */
  unsigned wrap;   /* axes with wraparound links: bit 0 for x */
} QuoitSliceDimensions;

/* What a line uses of the axes of a slice. */
typedef struct {
  gint32 sides[3]; /* of the slice */
  guint32 n[4];    /* the most chips in a row along x, y and z, and the number of cores */
} QuoitSpans;

/* A slice that parts are cut from can have parts of one shape with so many different sides. */
enum { QUOIT_MOST_SPANS = 6 };

/* The measures of a line of devices in one slice, or the worst measures of several lines. */
typedef struct {
  guint32 n_devices, n_chips;
  guint32 n_per_chip; /* devices per chip */
  guint32 hops;       /* the most hops between neighbours of the line */
  guint32 hops_back;  /* from the last device to the first one */
  guint32 links_e4;   /* of the chip with the fewest links to other chips of the line; 0: the line has one chip */
  guint32 n_spans;
  QuoitSpans spans[QUOIT_MOST_SPANS]; /* one for all slices with the same sides */
} QuoitLine;

QuoitSliceDimensions quoit_slice_dimensions (const QuoitDevices *devices, gint32 slice);
/* Measures the line of @devices, which are in order and in one slice. */
void quoit_line_measure (const QuoitSliceDimensions *slice_dimensions, const QuoitDevice *const *devices, guint32 n,
                         QuoitLine *line);
/* Replaces each measure of @worst that is better than that of @line. @worst must start as zeros. */
void quoit_line_keep_worst (QuoitLine *worst, const QuoitLine *line);

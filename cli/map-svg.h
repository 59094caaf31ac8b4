/* SPDX-License-Identifier: Apache-2.0 */
/* Shared parts of map-svg.c and map-svg-axis.c. */
#pragma once

#include "map.h"

enum {
  BOX = 15,            /* the height of a chip, and the width of a chip with one letter */
  LINE = 20,           /* the height of a line of text */
  LETTER = 8,          /* the maximum width of a letter */
  MARGIN = 16,         /* around the picture, and between layers */
  MAX_ROW_WIDTH = 1200 /* of layers side by side */
};

/* A picture that grows downwards. */
typedef struct {
  GString *body;
  guint left;     /* the left edge of the slice that is drawn */
  guint y, width; /* the bottom and the right edge so far */
  guint box, gap; /* the width of a chip, and the distance to the next chip */
} Picture;

/* A top left corner. The layers of a slice are an array of corners by z. */
typedef struct {
  guint x, y;
} Corner;

/* Returns the corner of a chip. */
Corner svg_chip_corner (const Picture *picture, const MapSlice *slice, const Corner *layers, uint32_t chip);

/* Appends @text to @out, escaped for XML. */
void svg_escape (GString *out, const char *text);

/* Append a line of text, at @x or at the margin, and widen the picture if the line is longer. */
void svg_append_line (Picture *picture, guint x, const char *text);
void svg_append_text (Picture *picture, const char *text);

/* --- the parts of a map with an axis: map-svg-axis.c --- */

/* Sets the width and distance of chips so that the indices and hops fit. */
void svg_axis_measure (Picture *picture, const Map *map);

void svg_axis_append_style (GString *svg);

/* The parts before and after the slices, and the description of the picture for screen readers. */
void svg_axis_append_head (Picture *picture, const MapAxis *axis);
void svg_axis_append_legend (Picture *picture, const MapAxis *axis);
void svg_axis_append_description (GString *svg, const MapAxis *axis);

/* Appends the lines for the hops of the axis. Call it before the chips, which cover the ends of the lines. */
void svg_axis_append_hops (Picture *picture, const MapSlice *slice, const Corner *layers);

/* Appends a chip that has devices in the mesh. */
void svg_axis_append_chip (Picture *picture, const MapAxis *axis, const MapSlice *slice, uint32_t chip, Corner at);

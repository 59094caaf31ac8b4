/* SPDX-License-Identifier: Apache-2.0 */
/* Shared parts of the SVG of the fleet and the SVG of an axis. */
#pragma once

#include "map.h"

enum {
  BOX = 15,    /* the height of a chip, and its width unless it holds more than one letter */
  LINE = 20,   /* of text */
  LETTER = 8,  /* of which none is wider */
  MARGIN = 16, /* around all, and between layers */
  WIDEST = 1200
};

typedef struct {
  GString *body;
  guint y, width;
  guint box, gap; /* the width of a chip, and what is between it and the next */
} Picture;

/* The top left corners of the layers of a slice, by z. */
typedef struct {
  guint x, y;
} Corner;

/* Where a chip is in the picture. */
Corner svg_chip_corner (const Picture *picture, const MapSlice *slice, const Corner *layers, uint32_t chip);

/* As text of XML. */
void svg_escape (GString *out, const char *text);

/* A line of text, at @x; the picture is as wide as its longest. */
void svg_append_line (Picture *picture, guint x, const char *text);
void svg_append_text (Picture *picture, const char *text);

/* --- of an axis: map-svg-axis.c --- */

/* Wide enough for the indices. */
void svg_axis_measure (Picture *picture, const Map *map);

void svg_axis_append_style (GString *svg);

/* The parts before and after the slices, and the description of the picture for screen readers. */
void svg_axis_append_head (Picture *picture, const MapAxis *axis);
void svg_axis_append_legend (Picture *picture, const MapAxis *axis);
void svg_axis_append_description (GString *svg, const MapAxis *axis);

/* The way of the axis from chip to chip, below these. */
void svg_axis_append_hops (Picture *picture, const MapSlice *slice, const Corner *layers);

/* A chip that has devices of the mesh. */
void svg_axis_append_chip (Picture *picture, const MapAxis *axis, const MapSlice *slice, uint32_t chip, Corner at);

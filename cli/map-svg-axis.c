/* SPDX-License-Identifier: Apache-2.0 */
/* The SVG of a map with an axis. Each chip shows its index along the axis, on the colour of that index. Lines join
 * successive chips that are one hop apart. The colours are the same on light and dark pages. */
#include "map-svg.h"

#include <stdlib.h>

enum {
  DIGIT = 7,         /* the maximum width of a digit in a chip */
  HOP_GAP = 6,       /* the distance of chips, so that the hops are visible */
  MAX_SWATCHES = 32, /* with more indices, the legend is a band of colours */
  N_STRIPES = 64,    /* in the band */
  STRIPE = 9,        /* the width of a stripe */
  N_INTERVALS = 4    /* of the band; an index is below each end of an interval */
};

static guint
count_digits (uint32_t number)
{
  guint n = 1;

  for (; number > 9; number /= 10)
    n++;
  return n;
}

/* The width of a box with any index. */
static guint
index_width (const MapAxis *axis)
{
  return MAX (BOX, count_digits (map_axis_size (axis) - 1) * DIGIT + 3);
}

void
svg_axis_measure (Picture *picture, const Map *map)
{
  guint n = 1;

  for (guint s = 0; s < map->slices->len; s++)
    {
      const MapSlice *slice = map->slices->pdata[s];
      uint32_t n_chips = slice->torus == NULL ? 0 : quoit_coordinates_get_n_chips (slice->torus);

      for (uint32_t chip = 0; chip < n_chips && n == 1; chip++)
        n = map_axis_has_one_index (map->axis, slice->axis_slice, chip) ? 1 : map->axis->n_cores;
    }
  picture->box = n * index_width (map->axis);
  picture->gap = HOP_GAP;
}

void
svg_axis_append_style (GString *svg)
{
  g_string_append (svg, ".i{stroke:#8a939e;stroke-width:.5}.k{fill:#000}.w{fill:#fff}"
                        ".way{fill:none;stroke:#8a939e;stroke-width:3}\n");
}

/* Appends a box with the colour of an index and the text @number; NULL: no text. */
static void
append_box (Picture *picture, const MapAxis *axis, uint32_t index, Corner at, guint width, const char *number)
{
  uint32_t colour = map_axis_colour (axis, index);

  g_string_append_printf (picture->body,
                          "<rect class=\"i\" fill=\"#%06x\" x=\"%u\" y=\"%u\" width=\"%u\" height=\"%d\"/>", colour,
                          at.x, at.y, width, BOX);
  if (number != NULL)
    g_string_append_printf (picture->body, "<text class=\"c %s\" x=\"%u\" y=\"%u\">%s</text>",
                            map_colour_is_light (colour) ? "k" : "w", at.x + width / 2, at.y + BOX - 4, number);
}

/* --- the chips --- */

/* "chip 2,0,0: device 2, fsdp 2" */
static void
append_tooltip (Picture *picture, const MapAxis *axis, const MapSlice *slice, uint32_t chip)
{
  g_autoptr (GString) text = g_string_new (NULL);

  g_string_append_printf (text, "chip %u,%u,%u:", quoit_coordinates_get_chip_at (slice->torus, chip, QUOIT_AXIS_X),
                          quoit_coordinates_get_chip_at (slice->torus, chip, QUOIT_AXIS_Y),
                          quoit_coordinates_get_chip_at (slice->torus, chip, QUOIT_AXIS_Z));
  for (uint32_t core = 0; core < axis->n_cores; core++)
    {
      int64_t device = slice->axis_slice->devices[chip * axis->n_cores + core];

      if (device < 0)
        continue;
      g_string_append_printf (text, "%s device %" G_GINT64_FORMAT ", %s %u", core == 0 ? "" : ";",
                              (gint64) quoit_devices_get_id (axis->group_mesh->devices, (uint32_t) device),
                              axis->axes->names[axis->axis], axis->indices[device]);
    }
  g_string_append (picture->body, "<title>");
  svg_escape (picture->body, text->str);
  g_string_append (picture->body, "</title>");
}

void
svg_axis_append_chip (Picture *picture, const MapAxis *axis, const MapSlice *slice, uint32_t chip, Corner at)
{
  guint n = map_axis_has_one_index (axis, slice->axis_slice, chip) ? 1 : axis->n_cores, width = picture->box / n;

  g_string_append (picture->body, "<g class=\"chip\">");
  append_tooltip (picture, axis, slice, chip);
  for (uint32_t core = 0; core < n; core++)
    {
      int64_t index = map_axis_index (axis, slice->axis_slice, chip, core);
      g_autofree char *number = g_strdup_printf ("%" G_GINT64_FORMAT, (gint64) index);

      if (index >= 0)
        append_box (picture, axis, (uint32_t) index, (Corner) { at.x + core * width, at.y }, width, number);
    }
  g_string_append (picture->body, "</g>\n");
}

/* --- the hops --- */

static Corner
chip_centre (const Picture *picture, const MapSlice *slice, const Corner *layers, uint32_t chip)
{
  Corner at = svg_chip_corner (picture, slice, layers, chip);

  return (Corner) { at.x + picture->box / 2, at.y + BOX / 2 };
}

static int
distance (const MapSlice *slice, const MapHop *hop, QuoitAxis axis)
{
  return (int) quoit_coordinates_get_chip_at (slice->torus, hop->to, axis)
         - (int) quoit_coordinates_get_chip_at (slice->torus, hop->from, axis);
}

static void
append_line (GString *path, Corner from, int dx, int dy)
{
  g_string_append_printf (path, "M%u %ul%d %d", from.x, from.y, dx, dy);
}

/* Draws a hop as a line between neighbours. A hop over a link that closes a ring is a stub at either end. A hop between
 * layers is not drawn; the description of the axis mentions z. */
static void
append_hop (GString *path, const Picture *picture, const MapSlice *slice, const Corner *layers, const MapHop *hop)
{
  int dx = distance (slice, hop, QUOIT_AXIS_X), dy = distance (slice, hop, QUOIT_AXIS_Y);
  Corner from = chip_centre (picture, slice, layers, hop->from), to = chip_centre (picture, slice, layers, hop->to);
  int out_x = (int) (picture->box / 2 + picture->gap), out_y = BOX / 2 + (int) picture->gap;

  if (distance (slice, hop, QUOIT_AXIS_Z) != 0)
    return;
  if (abs (dx) + abs (dy) == 1)
    {
      append_line (path, from, (int) to.x - (int) from.x, (int) to.y - (int) from.y);
      return;
    }
  out_x = dx == 0 ? 0 : dx > 0 ? -out_x : out_x;
  out_y = dy == 0 ? 0 : dy > 0 ? -out_y : out_y;
  append_line (path, from, out_x, out_y);
  append_line (path, to, -out_x, -out_y);
}

void
svg_axis_append_hops (Picture *picture, const MapSlice *slice, const Corner *layers)
{
  g_autoptr (GString) path = g_string_new (NULL);

  for (guint i = 0; i < slice->axis_slice->hops->len; i++)
    append_hop (path, picture, slice, layers, &g_array_index (slice->axis_slice->hops, MapHop, i));
  if (path->len > 0)
    g_string_append_printf (picture->body, "<path class=\"way\" d=\"%s\"/>\n", path->str);
}

/* --- text and legend --- */

void
svg_axis_append_head (Picture *picture, const MapAxis *axis)
{
  g_autofree char *title = map_axis_title (axis), *description = map_axis_describe (axis);

  svg_append_text (picture, title);
  svg_append_text (picture, description);
}

static void
append_swatches (Picture *picture, const MapAxis *axis)
{
  guint width = index_width (axis);
  Corner at = { MARGIN, picture->y };

  for (uint32_t index = 0; index < map_axis_size (axis); index++, at.x += width + 2)
    {
      g_autofree char *number = g_strdup_printf ("%u", index);

      append_box (picture, axis, index, at, width, number);
    }
  picture->width = MAX (picture->width, at.x + MARGIN);
}

/* The band has all colours from dark to light, with some of the indices below. */
static void
append_band (Picture *picture, const MapAxis *axis)
{
  uint64_t last = map_axis_size (axis) - 1;

  for (guint i = 0; i < N_STRIPES; i++)
    append_box (picture, axis, (uint32_t) (i * last / (N_STRIPES - 1)), (Corner) { MARGIN + i * STRIPE, picture->y },
                STRIPE, NULL);
  for (guint i = 0; i <= N_INTERVALS; i++)
    g_string_append_printf (picture->body, "<text class=\"c\" x=\"%u\" y=\"%u\">%u</text>",
                            MARGIN + STRIPE / 2 + i * (N_STRIPES - 1) * STRIPE / N_INTERVALS, picture->y + BOX + 12,
                            (guint) (i * last / N_INTERVALS));
  picture->y += BOX;
  picture->width = MAX (picture->width, MARGIN + N_STRIPES * STRIPE + MARGIN);
}

void
svg_axis_append_legend (Picture *picture, const MapAxis *axis)
{
  svg_append_text (picture, axis->axes->names[axis->axis]);
  picture->y += BOX / 2;
  g_string_append (picture->body, "<g class=\"legend\">");
  if (map_axis_size (axis) <= MAX_SWATCHES)
    append_swatches (picture, axis);
  else
    append_band (picture, axis);
  g_string_append (picture->body, "</g>\n");
  picture->y += BOX;
}

void
svg_axis_append_description (GString *svg, const MapAxis *axis)
{
  g_autofree char *description = map_axis_describe (axis);

  svg_escape (svg, description);
  g_string_append_printf (svg, "; colours go from #%06x of index 0 to #%06x of index %u; ", map_axis_colour (axis, 0),
                          map_axis_colour (axis, map_axis_size (axis) - 1), map_axis_size (axis) - 1);
}

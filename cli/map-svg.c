/* SPDX-License-Identifier: Apache-2.0 */
/* A map as one SVG file. It loads nothing from other files, and is dark if the reader prefers dark pages. */
#include "map-svg.h"

#include "fleet-view.h"
#include "text.h"
#include "words.h"

enum {
  GAP = 3,         /* between chips */
  MIN_WIDTH = 420, /* room for the title and the legend */
  N_COLOURS = 10
};

/* Colours of groups that most people can distinguish. The light ones are for dark letters, the dark ones for light
 * letters. */
static const char *const light[N_COLOURS]
    = { "#a6cee3", "#fdbf6f", "#b2df8a", "#cab2d6", "#fb9a99", "#ffe08a", "#9fd8cb", "#e5c494", "#f4b6d9", "#b8c4f0" };
static const char *const dark[N_COLOURS]
    = { "#1f618d", "#a35a00", "#2e7d32", "#6a3d9a", "#a32a2a", "#7a6200", "#11695b", "#6d4c2f", "#93326c", "#3949a3" };

static const char plain_style[]
    = "text{font:13px ui-monospace,monospace;fill:#1b1f24}text.c{font-size:11px;text-anchor:middle}\n"
      ".paper{fill:#fff}.host{fill:none;stroke:#8a939e}\n"
      ".idle{fill:#eceff2}.external{fill:#c3c9d0}.draining{fill:#fff0b3;stroke:#b58900}.dead{fill:#5c2a2a}\n"
      ".missing{fill:none;stroke:#8a939e;stroke-dasharray:2}.dead+text{fill:#fff}\n";
static const char dark_style[]
    = "text{fill:#e6e9ed}.paper{fill:#14181d}.host{stroke:#6b7480}.idle{fill:#262c33}.external{fill:#59626d}\n"
      ".draining{fill:#4d3f00;stroke:#d9a900}.dead{fill:#d98c8c}.missing{stroke:#6b7480}.dead+text{fill:#000}\n";

void
svg_escape (GString *out, const char *text)
{
  text_append_markup (out, text);
}

void
svg_append_line (Picture *picture, guint x, const char *text)
{
  g_autofree char *line = text_in_one_line (text);

  picture->width = MAX (picture->width, x + (guint) g_utf8_strlen (line, -1) * LETTER + MARGIN);
  g_string_append_printf (picture->body, "<text x=\"%u\" y=\"%u\">", x, picture->y);
  svg_escape (picture->body, line);
  g_string_append (picture->body, "</text>\n");
}

void
svg_append_text (Picture *picture, const char *text)
{
  picture->y += LINE;
  svg_append_line (picture, picture->left, text);
}

static void
append_box (Picture *picture, guint x, guint y, ChipState state, int64_t group, char symbol)
{
  g_autofree char *class = state == CHIP_ALLOCATED ? g_strdup_printf ("g%u", (guint) group % N_COLOURS)
                                                   : g_strdup (map_state_word (state));

  g_string_append_printf (picture->body,
                          "<rect class=\"%s\" x=\"%u\" y=\"%u\" width=\"%d\" height=\"%d\" rx=\"2\"/>"
                          "<text class=\"c\" x=\"%u\" y=\"%u\">%c</text>\n",
                          class, x, y, BOX, BOX, x + BOX / 2, y + BOX - 4, symbol);
}

/* Appends the tooltip of a host, as the first element of its group. */
static void
append_tooltip (Picture *picture, const Map *map, const MapSlice *slice, uint32_t worker)
{
  int64_t node = slice->nodes[worker];
  g_autofree char *name = node < 0 ? g_strdup ("no node") : node_display_name (map->snapshot, (uint32_t) node);
  const char *state
      = node < 0 ? "missing" : node_state_word (quoit_snapshot_get_node_state (map->snapshot, (uint32_t) node));
  g_autofree char *line = g_strdup_printf ("worker %u: %s, %s", worker, name, state);

  g_string_append (picture->body, "<title>");
  svg_escape (picture->body, line);
  g_string_append (picture->body, "</title>");
}

Corner
svg_chip_corner (const Picture *picture, const MapSlice *slice, const Corner *layers, uint32_t chip)
{
  const Corner *layer = &layers[quoit_coordinates_get_chip_at (slice->torus, chip, QUOIT_AXIS_Z)];

  return (Corner) {
    layer->x + quoit_coordinates_get_chip_at (slice->torus, chip, QUOIT_AXIS_X) * (picture->box + picture->gap),
    layer->y + quoit_coordinates_get_chip_at (slice->torus, chip, QUOIT_AXIS_Y) * (BOX + picture->gap)
  };
}

static void
append_chip (Picture *picture, const Map *map, const MapSlice *slice, uint32_t number, Corner at)
{
  const MapChip *chip = &slice->chips[number];

  if (map->axis != NULL && map_axis_index (map->axis, slice->axis_slice, number, 0) >= 0)
    svg_axis_append_chip (picture, map->axis, slice, number, at);
  else
    append_box (picture, at.x, at.y, chip->state, chip->group, map_symbol (chip));
}

static void
append_host (Picture *picture, const Map *map, const MapSlice *slice, const Corner *layers, uint32_t worker)
{
  const QuoitCoordinates *torus = slice->torus;
  uint32_t n = quoit_coordinates_get_n_chips (torus) / quoit_coordinates_get_n_hosts (torus);
  Corner first = svg_chip_corner (picture, slice, layers, quoit_coordinates_get_worker_chip (torus, worker, 0));
  guint edge = (picture->gap - 1) / 2;

  g_string_append (picture->body, "<g>");
  append_tooltip (picture, map, slice, worker);
  g_string_append_printf (
      picture->body, "<rect class=\"host\" x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" rx=\"3\"/>\n", first.x - edge,
      first.y - edge,
      quoit_coordinates_get_host_length (torus, QUOIT_AXIS_X) * (picture->box + picture->gap) - picture->gap + 2 * edge,
      quoit_coordinates_get_host_length (torus, QUOIT_AXIS_Y) * (BOX + picture->gap) - picture->gap + 2 * edge);
  for (uint32_t index_on_host = 0; index_on_host < n; index_on_host++)
    {
      uint32_t number = quoit_coordinates_get_worker_chip (torus, worker, index_on_host);

      append_chip (picture, map, slice, number, svg_chip_corner (picture, slice, layers, number));
    }
  g_string_append (picture->body, "</g>\n");
}

/* Places the layers next to each other, in as many rows as needed, and grows the picture to fit. */
static Corner *
place_layers (Picture *picture, const MapSlice *slice)
{
  guint width = quoit_coordinates_get_length (slice->torus, QUOIT_AXIS_X) * (picture->box + picture->gap) + MARGIN;
  guint height = quoit_coordinates_get_length (slice->torus, QUOIT_AXIS_Y) * (BOX + picture->gap) + MARGIN;
  uint32_t n = quoit_coordinates_get_length (slice->torus, QUOIT_AXIS_Z), per_row = MAX (MAX_ROW_WIDTH / width, 1);
  guint heading = n > 1 ? LINE : 0;
  Corner *corners = g_new (Corner, n);

  for (uint32_t z = 0; z < n; z++)
    {
      corners[z].x = picture->left + z % per_row * width;
      corners[z].y = picture->y + MARGIN / 2 + heading + z / per_row * (height + heading);
      picture->width = MAX (picture->width, corners[z].x + width);
      if (n > 1)
        g_string_append_printf (picture->body, "<text x=\"%u\" y=\"%u\">z=%u</text>\n", corners[z].x, corners[z].y - 5,
                                z);
    }
  picture->y = corners[n - 1].y + height;
  return corners;
}

static void
append_torus (Picture *picture, const Map *map, const MapSlice *slice)
{
  g_autofree Corner *corners = place_layers (picture, slice);

  if (map->axis != NULL)
    svg_axis_append_hops (picture, slice, corners);
  for (uint32_t w = 0; w < quoit_coordinates_get_n_hosts (slice->torus); w++)
    append_host (picture, map, slice, corners, w);
}

static void
append_slice (Picture *picture, const Map *map, const MapSlice *slice)
{
  g_autofree char *description = map_describe_slice (map, slice);

  svg_append_text (picture, description);
  if (slice->torus != NULL)
    append_torus (picture, map, slice);
  for (guint i = 0; i < slice->undrawn->len; i++)
    {
      g_autofree char *line = g_strconcat ("not drawn: ", slice->undrawn->pdata[i], NULL);

      svg_append_text (picture, line);
    }
}

/* Draws slices of one class side by side, under one line, with their names. */
static void
append_alike (Picture *picture, const Map *map, guint first, guint n)
{
  g_autofree char *class = map_describe_class (map, map->slices->pdata[first]);
  guint top, left = MARGIN, bottom;

  svg_append_text (picture, class);
  top = bottom = picture->y;
  for (guint i = 0; i < n; i++)
    {
      const MapSlice *slice = map->slices->pdata[first + i];
      g_autofree char *name = slice_display_name (map->snapshot, slice->slice), *shown = text_in_one_line (name);
      const guint layers = quoit_coordinates_get_length (slice->torus, QUOIT_AXIS_Z);
      const guint layer
          = quoit_coordinates_get_length (slice->torus, QUOIT_AXIS_X) * (picture->box + picture->gap) + MARGIN;
      const guint per_row = MIN (MAX (MAX_ROW_WIDTH / layer, 1), layers);
      const guint width = MAX (per_row * layer, (guint) g_utf8_strlen (shown, -1) * LETTER + MARGIN);

      if (left > MARGIN && left + width > MAX_ROW_WIDTH)
        {
          left = MARGIN;
          top = bottom;
        }
      picture->left = left;
      picture->y = top;
      svg_append_text (picture, name);
      append_torus (picture, map, slice);
      bottom = MAX (bottom, picture->y);
      left += width + (layers > 1 ? MARGIN : 0); /* layers are as far from each other as slices of one layer */
    }
  picture->left = MARGIN;
  picture->y = bottom;
}

static void
append_legend_row (Picture *picture, ChipState state, int64_t group, char symbol, const char *text)
{
  picture->y += LINE;
  append_box (picture, MARGIN, picture->y - BOX + 3, state, group, symbol);
  svg_append_line (picture, MARGIN + BOX + GAP + 4, text);
}

static void
append_legend (Picture *picture, const Map *map)
{
  for (guint i = 0; i < map->groups->len; i++)
    {
      g_autofree char *text = map_describe_group (&g_array_index (map->groups, MapGroup, i));

      append_legend_row (picture, CHIP_ALLOCATED, i, map_group_symbol (i), text);
    }
  for (guint state = 0; state < N_CHIP_STATES; state++)
    if (state != CHIP_ALLOCATED)
      {
        g_autofree char *text = g_strdup_printf ("%s: %u", map_state_word (state), map->n_chips[state]);

        append_legend_row (picture, state, -1, map_state_symbol (state), text);
      }
}

static void
append_style (GString *svg)
{
  g_string_append_printf (svg, "<style>\n%s", plain_style);
  for (guint i = 0; i < N_COLOURS; i++)
    g_string_append_printf (svg, ".g%u{fill:%s}", i, light[i]);
  g_string_append_printf (svg, "\n@media (prefers-color-scheme:dark){\n%s", dark_style);
  for (guint i = 0; i < N_COLOURS; i++)
    g_string_append_printf (svg, ".g%u{fill:%s}", i, dark[i]);
  g_string_append (svg, "}\n");
  svg_axis_append_style (svg);
  g_string_append (svg, "</style>\n");
}

/* The description of the picture for screen readers. */
static void
append_description (GString *svg, const Map *map)
{
  g_string_append_printf (svg, "<desc id=\"desc\">%u slices with %u chips: ", map->slices->len,
                          map_count_chips (map->n_chips));
  if (map->axis != NULL)
    svg_axis_append_description (svg, map->axis);
  for (guint i = 0; i < map->groups->len; i++)
    {
      g_autofree char *text = map_describe_group (&g_array_index (map->groups, MapGroup, i));

      svg_escape (svg, text);
      g_string_append (svg, "; ");
    }
  g_string_append_printf (svg, "%u idle, %u draining, %u dead, %u external, %u missing</desc>\n",
                          map->n_chips[CHIP_IDLE], map->n_chips[CHIP_DRAINING], map->n_chips[CHIP_DEAD],
                          map->n_chips[CHIP_EXTERNAL], map->n_chips[CHIP_MISSING]);
}

static void
append_body (Picture *picture, const Map *map)
{
  if (map->axis != NULL)
    {
      svg_axis_measure (picture, map);
      svg_axis_append_head (picture, map->axis);
    }
  for (guint i = 0, n; i < map->slices->len; i += n)
    {
      n = map_count_alike (map, i);
      if (n == 1)
        append_slice (picture, map, map->slices->pdata[i]);
      else
        append_alike (picture, map, i, n);
    }
  if (map->axis != NULL)
    svg_axis_append_legend (picture, map->axis);
  if (map_has_symbols (map))
    append_legend (picture, map);
}

char *
map_format_svg (const Map *map, const char *title)
{
  g_autoptr (GString) body = g_string_new (NULL);
  Picture picture = { .body = body, .left = MARGIN, .y = MARGIN / 2, .width = MIN_WIDTH, .box = BOX, .gap = GAP };
  GString *svg = g_string_new ("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");

  append_body (&picture, map);
  g_string_append_printf (svg,
                          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\" "
                          "role=\"img\" aria-labelledby=\"title desc\">\n<title id=\"title\">",
                          picture.width, picture.y + MARGIN, picture.width, picture.y + MARGIN);
  svg_escape (svg, title);
  g_string_append (svg, "</title>\n");
  append_description (svg, map);
  append_style (svg);
  g_string_append (svg, "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n");
  g_string_append_printf (svg, "%s</svg>\n", body->str);
  return g_string_free (svg, FALSE);
}

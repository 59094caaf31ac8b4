/* SPDX-License-Identifier: Apache-2.0 */
/* A map as one SVG file: nothing is loaded from elsewhere, and it is dark where the reader's pages are. */
#include "map.h"

#include "fleet-view.h"
#include "text.h"
#include "words.h"

enum {
  CHIP = 18,   /* from one chip to the next */
  BOX = 15,    /* of which it has so much */
  LINE = 20,   /* of text */
  LETTER = 8,  /* of which none is wider */
  MARGIN = 16, /* around all, and between layers */
  WIDEST = 1200,
  LEAST = 420, /* what titles and legend take */
  N_COLOURS = 10
};

typedef struct {
  GString *body;
  guint y, width;
} Picture;

/* Colours that are told apart by most people, light below dark letters and dark below light ones. */
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

static void
append_escaped (GString *out, const char *text)
{
  g_autofree char *line = text_in_one_line (text);
  g_autofree char *escaped = g_markup_escape_text (line, -1);

  g_string_append (out, escaped);
}

/* A line of text, at @x; the picture is as wide as its longest. */
static void
append_line (Picture *picture, guint x, const char *text)
{
  g_autofree char *line = text_in_one_line (text);

  picture->width = MAX (picture->width, x + (guint) g_utf8_strlen (line, -1) * LETTER + MARGIN);
  g_string_append_printf (picture->body, "<text x=\"%u\" y=\"%u\">", x, picture->y);
  append_escaped (picture->body, line);
  g_string_append (picture->body, "</text>\n");
}

static void
append_text (Picture *picture, const char *text)
{
  picture->y += LINE;
  append_line (picture, MARGIN, text);
}

static void
append_box (Picture *picture, guint x, guint y, ChipState state, int64_t group, char symbol)
{
  g_autofree char *class = state == CHIP_HELD ? g_strdup_printf ("g%u", (guint) group % N_COLOURS)
                                              : g_strdup (map_word (state));

  g_string_append_printf (picture->body,
                          "<rect class=\"%s\" x=\"%u\" y=\"%u\" width=\"%d\" height=\"%d\" rx=\"2\"/>"
                          "<text class=\"c\" x=\"%u\" y=\"%u\">%c</text>\n",
                          class, x, y, BOX, BOX, x + BOX / 2, y + BOX - 4, symbol);
}

/* What one sees where the pointer rests. */
static void
append_tooltip (Picture *picture, const Map *map, const MapSlice *slice, uint32_t worker)
{
  int64_t node = slice->nodes[worker];
  g_autofree char *name = node < 0 ? g_strdup ("no node") : shown_node (map->snapshot, (uint32_t) node);
  const char *state
      = node < 0 ? "missing" : word_of_node_state (quoit_snapshot_get_node_state (map->snapshot, (uint32_t) node));
  g_autofree char *line = g_strdup_printf ("worker %u: %s, %s", worker, name, state);

  g_string_append (picture->body, "<title>");
  append_escaped (picture->body, line);
  g_string_append (picture->body, "</title>");
}

/* The top left corners of the layers, by z. */
typedef struct {
  guint x, y;
} Corner;

static void
append_host (Picture *picture, const Map *map, const MapSlice *slice, const Corner *corners, uint32_t worker)
{
  const QuoitCoordinates *torus = slice->torus;
  uint32_t n = quoit_coordinates_get_n_chips (torus) / quoit_coordinates_get_n_hosts (torus);
  uint32_t first = quoit_coordinates_get_worker_chip (torus, worker, 0);
  const Corner *corner = &corners[quoit_coordinates_get_chip_at (torus, first, QUOIT_AXIS_Z)];

  g_string_append (picture->body, "<g>");
  append_tooltip (picture, map, slice, worker);
  g_string_append_printf (picture->body,
                          "<rect class=\"host\" x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" rx=\"3\"/>\n",
                          corner->x + quoit_coordinates_get_chip_at (torus, first, QUOIT_AXIS_X) * CHIP - 1,
                          corner->y + quoit_coordinates_get_chip_at (torus, first, QUOIT_AXIS_Y) * CHIP - 1,
                          quoit_coordinates_get_host_length (torus, QUOIT_AXIS_X) * CHIP - 1,
                          quoit_coordinates_get_host_length (torus, QUOIT_AXIS_Y) * CHIP - 1);
  for (uint32_t local = 0; local < n; local++)
    {
      uint32_t number = quoit_coordinates_get_worker_chip (torus, worker, local);
      const MapChip *chip = &slice->chips[number];

      append_box (picture, corner->x + quoit_coordinates_get_chip_at (torus, number, QUOIT_AXIS_X) * CHIP,
                  corner->y + quoit_coordinates_get_chip_at (torus, number, QUOIT_AXIS_Y) * CHIP, chip->state,
                  chip->group, map_symbol (chip));
    }
  g_string_append (picture->body, "</g>\n");
}

/* Layers beside each other, in as many rows as it takes; the picture has room for them afterwards. */
static Corner *
place_layers (Picture *picture, const MapSlice *slice)
{
  guint width = quoit_coordinates_get_length (slice->torus, QUOIT_AXIS_X) * CHIP + MARGIN;
  guint height = quoit_coordinates_get_length (slice->torus, QUOIT_AXIS_Y) * CHIP + MARGIN;
  uint32_t n = quoit_coordinates_get_length (slice->torus, QUOIT_AXIS_Z), abreast = MAX (WIDEST / width, 1);
  guint head = n > 1 ? LINE : 0;
  Corner *corners = g_new (Corner, n);

  for (uint32_t z = 0; z < n; z++)
    {
      corners[z].x = MARGIN + z % abreast * width;
      corners[z].y = picture->y + MARGIN / 2 + head + z / abreast * (height + head);
      picture->width = MAX (picture->width, corners[z].x + width);
      if (n > 1)
        g_string_append_printf (picture->body, "<text x=\"%u\" y=\"%u\">z=%u</text>\n", corners[z].x, corners[z].y - 5,
                                z);
    }
  picture->y = corners[n - 1].y + height;
  return corners;
}

static void
append_slice (Picture *picture, const Map *map, const MapSlice *slice)
{
  g_autofree char *description = map_describe (map, slice);

  append_text (picture, description);
  if (slice->torus != NULL)
    {
      g_autofree Corner *corners = place_layers (picture, slice);

      for (uint32_t w = 0; w < quoit_coordinates_get_n_hosts (slice->torus); w++)
        append_host (picture, map, slice, corners, w);
    }
  for (guint i = 0; i < slice->undrawn->len; i++)
    {
      g_autofree char *line = g_strconcat ("not drawn: ", slice->undrawn->pdata[i], NULL);

      append_text (picture, line);
    }
}

static void
append_legend_row (Picture *picture, ChipState state, int64_t group, char symbol, const char *means)
{
  picture->y += LINE;
  append_box (picture, MARGIN, picture->y - BOX + 3, state, group, symbol);
  append_line (picture, MARGIN + CHIP + 4, means);
}

static void
append_legend (Picture *picture, const Map *map)
{
  for (guint i = 0; i < map->groups->len; i++)
    {
      g_autofree char *means = map_describe_group (&g_array_index (map->groups, MapGroup, i));

      append_legend_row (picture, CHIP_HELD, i, map_group_symbol (i), means);
    }
  for (guint state = 0; state < N_CHIP_STATES; state++)
    if (state != CHIP_HELD)
      {
        g_autofree char *means = g_strdup_printf ("%s: %u", map_word (state), map->n_chips[state]);

        append_legend_row (picture, state, -1, map_state_symbol (state), means);
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
  g_string_append (svg, "}\n</style>\n");
}

/* What the picture shows, for those who do not see it. */
static void
append_description (GString *svg, const Map *map)
{
  g_string_append_printf (svg, "<desc id=\"desc\">%u slices with %u chips: ", map->slices->len,
                          map_count_chips (map->n_chips));
  for (guint i = 0; i < map->groups->len; i++)
    {
      g_autofree char *means = map_describe_group (&g_array_index (map->groups, MapGroup, i));

      append_escaped (svg, means);
      g_string_append (svg, "; ");
    }
  g_string_append_printf (svg, "%u idle, %u draining, %u dead, %u external, %u missing</desc>\n",
                          map->n_chips[CHIP_IDLE], map->n_chips[CHIP_DRAINING], map->n_chips[CHIP_DEAD],
                          map->n_chips[CHIP_EXTERNAL], map->n_chips[CHIP_MISSING]);
}

char *
map_format_svg (const Map *map, const char *title)
{
  g_autoptr (GString) body = g_string_new (NULL);
  Picture picture = { .body = body, .y = MARGIN / 2, .width = LEAST };
  GString *svg = g_string_new ("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");

  for (guint i = 0; i < map->slices->len; i++)
    append_slice (&picture, map, map->slices->pdata[i]);
  append_legend (&picture, map);
  g_string_append_printf (svg,
                          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\" "
                          "role=\"img\" aria-labelledby=\"title desc\">\n<title id=\"title\">",
                          picture.width, picture.y + MARGIN, picture.width, picture.y + MARGIN);
  append_escaped (svg, title);
  g_string_append (svg, "</title>\n");
  append_description (svg, map);
  append_style (svg);
  g_string_append (svg, "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n");
  g_string_append_printf (svg, "%s</svg>\n", body->str);
  return g_string_free (svg, FALSE);
}

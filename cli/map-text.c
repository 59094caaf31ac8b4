/* SPDX-License-Identifier: Apache-2.0 */
/* A map as text. x goes to the right and y down. Each z is a layer; as many layers as fit a line are side by side, and
 * so are slices of one class. */
#include "map.h"

#include <string.h>

#include "fleet-view.h"
#include "text.h"

enum { WIDTH = 100, GAP = 4 };

/* The size of a slice in chips, and the width of its widest chip in characters. */
typedef struct {
  guint32 x, y, z;
  guint cell_width;
} SliceSize;

static guint
widest_cell (const Map *map, const MapSlice *slice)
{
  gsize widest = 1;

  for (uint32_t chip = 0; map->axis != NULL && chip < quoit_coordinates_get_n_chips (slice->torus); chip++)
    {
      g_autofree char *cell = map_format_chip (map, slice, chip);

      widest = MAX (widest, strlen (cell));
    }
  return (guint) widest;
}

static SliceSize
measure_slice (const Map *map, const MapSlice *slice)
{
  return (SliceSize) { quoit_coordinates_get_length (slice->torus, QUOIT_AXIS_X),
                       quoit_coordinates_get_length (slice->torus, QUOIT_AXIS_Y),
                       quoit_coordinates_get_length (slice->torus, QUOIT_AXIS_Z), widest_cell (map, slice) };
}

static guint
layer_width (SliceSize size)
{
  return (size.cell_width + 1) * size.x - 1;
}

/* The width of a layer and the gap after it. No heading is wider than a layer of four chips. */
static guint
padded_layer_width (SliceSize size)
{
  return MAX (layer_width (size), 4) + GAP;
}

static void
append_line (GString *text, const char *line)
{
  g_autofree char *shown = text_for_terminal (line);

  g_string_append_printf (text, "%s\n", shown);
}

/* Appends a heading "z=0" above each layer. */
static void
append_headings (GString *text, SliceSize size, guint32 first, guint32 end)
{
  guint width = padded_layer_width (size);

  for (guint32 z = first; z < end; z++)
    {
      g_autofree char *head = g_strdup_printf ("z=%u", z);

      g_string_append_printf (text, "%-*s", z + 1 < end ? (int) width : 0, head);
    }
  g_string_append_c (text, '\n');
}

static void
append_row (GString *text, const Map *map, const MapSlice *slice, SliceSize size, guint32 y, guint32 z)
{
  for (guint32 x = 0; x < size.x; x++)
    {
      g_autofree char *cell
          = map_format_chip (map, slice, (uint32_t) quoit_coordinates_find_chip (slice->torus, x, y, z));

      g_string_append_printf (text, "%s%*s", x > 0 ? " " : "", (int) size.cell_width, cell);
    }
}

static void
append_layers (GString *text, const Map *map, const MapSlice *slice, SliceSize size, guint32 first, guint32 end)
{
  guint width = padded_layer_width (size);

  if (size.z > 1)
    append_headings (text, size, first, end);
  for (guint32 y = 0; y < size.y; y++)
    {
      for (guint32 z = first; z < end; z++)
        {
          append_row (text, map, slice, size, y, z);
          if (z + 1 < end)
            g_string_append_printf (text, "%*s", (int) (width - layer_width (size)), "");
        }
      g_string_append_c (text, '\n');
    }
}

static void
append_torus (GString *text, const Map *map, const MapSlice *slice)
{
  SliceSize size = measure_slice (map, slice);
  guint32 per_row = MAX (WIDTH / padded_layer_width (size), 1);

  for (guint32 z = 0; z < size.z; z += per_row)
    {
      if (z > 0)
        g_string_append_c (text, '\n');
      append_layers (text, map, slice, size, z, MIN (z + per_row, size.z));
    }
}

static void
append_slice (GString *text, const Map *map, const MapSlice *slice)
{
  g_autofree char *description = map_describe_slice (map, slice);

  append_line (text, description);
  if (slice->torus != NULL)
    append_torus (text, map, slice);
  for (guint i = 0; i < slice->undrawn->len; i++)
    {
      g_autofree char *line = g_strconcat ("not drawn: ", slice->undrawn->pdata[i], NULL);

      append_line (text, line);
    }
  g_string_append_c (text, '\n');
}

/* --- slices of one class, side by side --- */

/* The lines of a slice: its name, and its chips. g_strfreev() them. */
static char **
dup_block (const Map *map, const MapSlice *slice)
{
  g_autofree char *name = slice_display_name (map->snapshot, slice->slice);
  g_autoptr (GString) block = g_string_new (NULL);

  append_line (block, name);
  append_torus (block, map, slice);
  g_string_truncate (block, block->len - 1);
  return g_strsplit (block->str, "\n", -1);
}

static guint
block_width (char *const *lines)
{
  guint width = 0;

  for (; *lines != NULL; lines++)
    width = MAX (width, text_width (*lines));
  return width;
}

static void
append_padded (GString *text, const char *line, guint width)
{
  g_string_append (text, line);
  for (guint used = text_width (line); used < width; used++)
    g_string_append_c (text, ' ');
}

/* Appends a row of blocks of equal heights. */
static void
append_blocks (GString *text, char **const *blocks, guint n, guint width)
{
  for (guint line = 0; blocks[0][line] != NULL; line++)
    {
      for (guint i = 0; i < n; i++)
        append_padded (text, blocks[i][line], i + 1 < n ? width + GAP : 0);
      g_string_append_c (text, '\n');
    }
  g_string_append_c (text, '\n');
}

static void
append_alike (GString *text, const Map *map, guint first, guint n, guint width)
{
  g_autofree char *class = map_describe_class (map, map->slices->pdata[first]);
  g_autofree char ***blocks = g_new (char **, n);
  guint widest = 1, per_row;

  for (guint i = 0; i < n; i++)
    {
      blocks[i] = dup_block (map, map->slices->pdata[first + i]);
      widest = MAX (widest, block_width (blocks[i]));
    }
  per_row = MAX ((width + GAP) / (widest + GAP), 1);
  g_string_append_printf (text, "%s:\n\n", class);
  for (guint i = 0; i < n; i += per_row)
    append_blocks (text, blocks + i, MIN (per_row, n - i), widest);
  for (guint i = 0; i < n; i++)
    g_strfreev (blocks[i]);
}

static void
append_legend (GString *text, const Map *map)
{
  static const struct {
    ChipState state;
    const char *text;
    bool is_always_shown;
  } rows[] = {
    { CHIP_IDLE, "idle", true },           { CHIP_DRAINING, "on a draining host", true },
    { CHIP_DEAD, "on a dead host", true }, { CHIP_EXTERNAL, "in external use", false },
    { CHIP_MISSING, "missing", false },
  };

  for (guint i = 0; i < map->groups->len; i++)
    {
      g_autofree char *description = map_describe_group (&g_array_index (map->groups, MapGroup, i));
      g_autofree char *line = g_strdup_printf ("%c %s", map_group_symbol (i), description);

      append_line (text, line);
    }
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].is_always_shown || map->n_chips[rows[i].state] > 0)
      g_string_append_printf (text, "%c %s: %u\n", map_state_symbol (rows[i].state), rows[i].text,
                              map->n_chips[rows[i].state]);
}

static void
append_axis (GString *text, const Map *map)
{
  g_autofree char *title = map_axis_title (map->axis), *description = map_axis_describe (map->axis);

  append_line (text, title);
  append_line (text, description);
  g_string_append_c (text, '\n');
}

/* Lists the groups without symbols, for a map on which every chip shows an index. */
static void
append_groups (GString *text, const Map *map)
{
  for (guint i = 0; i < map->groups->len; i++)
    {
      g_autofree char *description = map_describe_group (&g_array_index (map->groups, MapGroup, i));

      append_line (text, description);
    }
}

char *
map_format_text (const Map *map, guint width)
{
  GString *text = g_string_new (NULL);

  if (map->axis != NULL)
    append_axis (text, map);
  for (guint i = 0, n; i < map->slices->len; i += n)
    {
      n = map_count_alike (map, i);
      if (n == 1)
        append_slice (text, map, map->slices->pdata[i]);
      else
        append_alike (text, map, i, n, width);
    }
  if (map_has_symbols (map))
    append_legend (text, map);
  else
    append_groups (text, map);
  return g_string_free (text, FALSE);
}

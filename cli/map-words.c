/* SPDX-License-Identifier: Apache-2.0 */
/* Names of chips, slices and groups in all forms of a map. */
#include <string.h>

#include "fleet-view.h"
#include "map.h"

static const struct {
  char symbol;
  const char *word;
} states[N_CHIP_STATES] = {
  [CHIP_IDLE] = { '.', "idle" },         [CHIP_HELD] = { 'a', "held" }, [CHIP_EXTERNAL] = { '+', "external" },
  [CHIP_DRAINING] = { '~', "draining" }, [CHIP_DEAD] = { '#', "dead" }, [CHIP_MISSING] = { '?', "missing" },
};

const char *
map_state_word (ChipState state)
{
  return states[state].word;
}

char
map_state_symbol (ChipState state)
{
  return states[state].symbol;
}

/* Letters first; who has more groups than characters sees the others by their rows in the JSON. */
char
map_group_symbol (guint group)
{
  static const char symbols[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

  return group < strlen (symbols) ? symbols[group] : '*';
}

char
map_symbol (const MapChip *chip)
{
  return chip->state == CHIP_HELD ? map_group_symbol ((guint) chip->group) : states[chip->state].symbol;
}

/* "3", or where the devices of the chip have several "0,1". */
static char *
format_indices (const MapAxis *axis, const MapAxisSlice *axis_slice, uint32_t chip)
{
  GString *text = g_string_new (NULL);
  uint32_t n = map_axis_is_even (axis, axis_slice, chip) ? 1 : axis->n_cores;

  for (uint32_t core = 0; core < n; core++)
    {
      int64_t index = map_axis_index (axis, axis_slice, chip, core);

      g_string_append (text, core == 0 ? "" : ",");
      if (index < 0)
        g_string_append_c (text, '-');
      else
        g_string_append_printf (text, "%" G_GINT64_FORMAT, (gint64) index);
    }
  return g_string_free (text, FALSE);
}

char *
map_cell (const Map *map, const MapSlice *slice, uint32_t chip)
{
  if (map->axis != NULL && map_axis_index (map->axis, slice->axis_slice, chip, 0) >= 0)
    return format_indices (map->axis, slice->axis_slice, chip);
  return g_strdup_printf ("%c", map_symbol (&slice->chips[chip]));
}

bool
map_has_symbols (const Map *map)
{
  return map->axis == NULL || map->axis->n_without_device > 0;
}

/* "2x2", "2x2x1": as many numbers as the topology has. */
char *
map_host_block (const MapSlice *slice, const char *topology)
{
  guint32 x = quoit_coordinates_get_host_length (slice->torus, QUOIT_AXIS_X);
  guint32 y = quoit_coordinates_get_host_length (slice->torus, QUOIT_AXIS_Y);
  guint32 z = quoit_coordinates_get_host_length (slice->torus, QUOIT_AXIS_Z);

  if (strchr (topology, 'x') == strrchr (topology, 'x'))
    return g_strdup_printf ("%ux%u", x, y);
  return g_strdup_printf ("%ux%ux%u", x, y, z);
}

char *
map_rings (const MapSlice *slice)
{
  static const QuoitAxis axes[] = { QUOIT_AXIS_X, QUOIT_AXIS_Y, QUOIT_AXIS_Z };
  GString *rings = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (axes); i++)
    if (quoit_coordinates_is_ring (slice->torus, axes[i]))
      g_string_append_c (rings, "xyz"[i]);
  return g_string_free (rings, FALSE);
}

char *
map_describe (const Map *map, const MapSlice *slice)
{
  g_autofree char *name = slice_display_name (map->snapshot, slice->slice), *block = NULL, *rings = NULL, *id = NULL;
  uint32_t class = (uint32_t) quoit_snapshot_get_slice_class (map->snapshot, slice->slice);
  g_autofree char *topology = NULL;

  if (slice->torus == NULL)
    return g_strdup_printf ("%s: not drawn, its nodes name no topology of the catalogue", name);
  topology = quoit_snapshot_dup_class_topology (map->snapshot, class);
  block = map_host_block (slice, topology);
  rings = map_rings (slice);
  id = slice->axis_slice == NULL ? g_strdup ("") : g_strdup_printf (", slice id %u", slice->axis_slice->slice_id);
  return g_strdup_printf ("%s: %s %s, hosts of %s chips, %s%s%s", name,
                          quoit_snapshot_get_class_accelerator (map->snapshot, class), topology, block,
                          rings[0] == '\0' ? "no ring" : "rings along ", rings, id);
}

guint
map_count_chips (const guint n_chips[N_CHIP_STATES])
{
  guint n = 0;

  for (guint state = 0; state < N_CHIP_STATES; state++)
    n += n_chips[state];
  return n;
}

static void
add_count (GString *text, guint n, const char *what)
{
  if (n > 0)
    g_string_append_printf (text, "%s%u %s", text->len > 0 ? ", " : "", n, what);
}

char *
map_describe_group (const MapGroup *group)
{
  GString *text = g_string_new (NULL);
  guint n = map_count_chips (group->n_chips);

  g_string_append_printf (text, "%s: %u chip%s", group->label, n, n == 1 ? "" : "s");
  for (guint state = CHIP_DRAINING; state < N_CHIP_STATES; state++)
    add_count (text, group->n_chips[state], states[state].word);
  return g_string_free (text, FALSE);
}

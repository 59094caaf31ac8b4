/* SPDX-License-Identifier: Apache-2.0 */
/* The symbols and descriptions of chips, slices and groups, which all forms of a map share. */
#include <string.h>

#include "fleet-view.h"
#include "map.h"

/* The words are part of the JSON schema. The symbol of an allocated chip is that of its group. */
static const struct {
  char symbol;
  const char *word;
} states[N_CHIP_STATES] = {
  [CHIP_IDLE] = { '.', "idle" },         [CHIP_ALLOCATED] = { 'a', "allocated" }, [CHIP_EXTERNAL] = { '+', "external" },
  [CHIP_DRAINING] = { '~', "draining" }, [CHIP_DEAD] = { '#', "dead" },           [CHIP_MISSING] = { '?', "missing" },
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

/* With more groups than characters, the remaining groups share a symbol. The JSON still has a row for each group. */
char
map_group_symbol (guint group)
{
  static const char symbols[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

  return group < strlen (symbols) ? symbols[group] : '*';
}

char
map_symbol (const MapChip *chip)
{
  return chip->state == CHIP_ALLOCATED ? map_group_symbol ((guint) chip->group) : states[chip->state].symbol;
}

/* Returns "3", or "0,1" if the devices of the chip have different indices. */
static char *
format_indices (const MapAxis *axis, const MapAxisSlice *axis_slice, uint32_t chip)
{
  GString *text = g_string_new (NULL);
  uint32_t n = map_axis_has_one_index (axis, axis_slice, chip) ? 1 : axis->n_cores;

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
map_format_chip (const Map *map, const MapSlice *slice, uint32_t chip)
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

/* Returns "2x2" or "2x2x1", with as many numbers as the topology. */
char *
map_format_host_shape (const MapSlice *slice, const char *topology)
{
  guint32 x = quoit_coordinates_get_host_length (slice->torus, QUOIT_AXIS_X);
  guint32 y = quoit_coordinates_get_host_length (slice->torus, QUOIT_AXIS_Y);
  guint32 z = quoit_coordinates_get_host_length (slice->torus, QUOIT_AXIS_Z);

  if (strchr (topology, 'x') == strrchr (topology, 'x'))
    return g_strdup_printf ("%ux%u", x, y);
  return g_strdup_printf ("%ux%ux%u", x, y, z);
}

char *
map_format_ring_axes (const MapSlice *slice)
{
  static const QuoitAxis axes[] = { QUOIT_AXIS_X, QUOIT_AXIS_Y, QUOIT_AXIS_Z };
  GString *rings = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (axes); i++)
    if (quoit_coordinates_is_ring (slice->torus, axes[i]))
      g_string_append_c (rings, "xyz"[i]);
  return g_string_free (rings, FALSE);
}

char *
map_describe_class (const Map *map, const MapSlice *slice)
{
  uint32_t class = (uint32_t) quoit_snapshot_get_slice_class (map->snapshot, slice->slice);
  g_autofree char *topology = quoit_snapshot_dup_class_topology (map->snapshot, class);
  g_autofree char *block = map_format_host_shape (slice, topology), *rings = map_format_ring_axes (slice);

  return g_strdup_printf ("%s %s, hosts of %s chips, %s%s", quoit_snapshot_get_class_accelerator (map->snapshot, class),
                          topology, block, rings[0] == '\0' ? "no ring" : "rings along ", rings);
}

char *
map_describe_slice (const Map *map, const MapSlice *slice)
{
  g_autofree char *name = slice_display_name (map->snapshot, slice->slice), *class = NULL, *id = NULL;

  if (slice->torus == NULL)
    return g_strdup_printf ("%s: not drawn: its topology is not in the catalogue", name);
  class = map_describe_class (map, slice);
  id = slice->axis_slice == NULL ? g_strdup ("") : g_strdup_printf (", slice id %u", slice->axis_slice->slice_id);
  return g_strdup_printf ("%s: %s%s", name, class, id);
}

static bool
can_be_packed (const Map *map, const MapSlice *slice)
{
  return map->axis == NULL && slice->torus != NULL && slice->undrawn->len == 0;
}

guint
map_count_alike (const Map *map, guint first)
{
  const MapSlice *slice = map->slices->pdata[first];
  const int64_t class = quoit_snapshot_get_slice_class (map->snapshot, slice->slice);
  guint n = 1;

  while (can_be_packed (map, slice) && first + n < map->slices->len
         && can_be_packed (map, map->slices->pdata[first + n])
         && quoit_snapshot_get_slice_class (map->snapshot, ((const MapSlice *) map->slices->pdata[first + n])->slice)
                == class)
    n++;
  return n;
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
add_count (GString *text, guint n, const char *word)
{
  if (n > 0)
    g_string_append_printf (text, "%s%u %s", text->len > 0 ? ", " : "", n, word);
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

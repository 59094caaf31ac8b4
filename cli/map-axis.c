/* SPDX-License-Identifier: Apache-2.0 */
#include <quoit/models/systems.h>

#include "map.h"

#include <string.h>

#include "words.h"

void
map_axis_free (MapAxis *axis)
{
  if (axis == NULL)
    return;
  g_free (axis->group);
  g_free (axis->indices);
  g_free (axis->chips);
  g_free (axis);
}

void
map_axis_slice_free (MapAxisSlice *axis_slice)
{
  if (axis_slice == NULL)
    return;
  g_free (axis_slice->devices);
  g_array_unref (axis_slice->hops);
  g_free (axis_slice);
}

uint32_t
map_axis_size (const MapAxis *axis)
{
  return quoit_mesh_get_size (axis->group_mesh->mesh, axis->axis);
}

/* The distance in the mesh, in row-major order, between neighbours along the axis. */
static uint32_t
get_stride (const MapAxis *axis)
{
  uint32_t stride = 1;

  for (unsigned i = axis->axis + 1; i < quoit_mesh_get_n_axes (axis->group_mesh->mesh); i++)
    stride *= quoit_mesh_get_size (axis->group_mesh->mesh, i);
  return stride;
}

static uint32_t *
find_indices (const MapAxis *axis)
{
  const QuoitMesh *mesh = axis->group_mesh->mesh;
  const uint32_t *devices = quoit_mesh_get_indices (mesh);
  uint32_t *indices = g_new0 (uint32_t, quoit_devices_get_n_devices (axis->group_mesh->devices));
  uint32_t stride = get_stride (axis), size = map_axis_size (axis);

  for (uint32_t position = 0; position < quoit_mesh_get_n_devices (mesh); position++)
    indices[devices[position]] = position / stride % size;
  return indices;
}

static uint32_t
count_cores (const QuoitDevices *devices)
{
  int32_t last = 0;

  for (uint32_t i = 0; i < quoit_devices_get_n_devices (devices); i++)
    last = MAX (last, quoit_devices_get_core (devices, i));
  return (uint32_t) last + 1;
}

/* --- the chips of the devices --- */

/* Sets the chip of each device of a process. @chips: by device id, because the ids of a job start from 0. */
static void
set_chips (const QuoitTopology *processes, uint32_t process, int64_t *chips, uint32_t n)
{
  uint32_t n_devices = quoit_topology_get_n_devices (processes, process);
  uint32_t per_chip = n_devices / MAX (quoit_topology_get_n_chips (processes, process), 1);

  for (uint32_t d = 0; d < n_devices; d++)
    {
      uint64_t id = quoit_topology_get_device (processes, process, d);

      if (id < n)
        chips[id] = quoit_topology_get_chip (processes, process, d / per_chip);
    }
}

static int64_t *
find_chips (const QuoitDevices *devices, const QuoitTopology *processes)
{
  uint32_t n = quoit_devices_get_n_devices (devices);
  g_autofree int64_t *by_id = g_new (int64_t, n);
  int64_t *chips = g_new (int64_t, n);

  for (uint32_t i = 0; i < n; i++)
    by_id[i] = -1;
  for (uint32_t p = 0; p < quoit_topology_get_n_processes (processes); p++)
    set_chips (processes, p, by_id, n);
  for (uint32_t i = 0; i < n; i++)
    {
      int64_t id = quoit_devices_get_id (devices, i);

      chips[i] = id >= 0 && id < n ? by_id[id] : -1;
    }
  return chips;
}

/* Returns the slice of a device and the number of its chip there; NULL if the device is not on the map. */
static MapSlice *
find_chip (const Map *map, uint32_t device, int64_t *chip)
{
  int32_t index = quoit_devices_get_slice_index (map->axis->group_mesh->devices, device);
  MapSlice *slice = index >= 0 && (guint) index < map->slices->len ? map->slices->pdata[index] : NULL;

  if (slice == NULL || slice->torus == NULL)
    return NULL;
  *chip = map->axis->chips[device];
  return *chip < 0 || *chip >= quoit_coordinates_get_n_chips (slice->torus) ? NULL : slice;
}

static MapAxisSlice *
new_axis_slice (const MapAxis *axis, const MapSlice *slice, uint32_t slice_id)
{
  MapAxisSlice *axis_slice = g_new0 (MapAxisSlice, 1);
  uint32_t n = slice->torus == NULL ? 0 : quoit_coordinates_get_n_chips (slice->torus) * axis->n_cores;

  axis_slice->slice_id = slice_id;
  axis_slice->devices = g_new (int64_t, n);
  for (uint32_t i = 0; i < n; i++)
    axis_slice->devices[i] = -1;
  axis_slice->hops = g_array_new (FALSE, FALSE, sizeof (MapHop));
  return axis_slice;
}

static void
place_devices (Map *map)
{
  const MapAxis *axis = map->axis;

  for (uint32_t i = 0; i < quoit_devices_get_n_devices (axis->group_mesh->devices); i++)
    {
      int64_t chip = -1;
      MapSlice *slice = find_chip (map, i, &chip);

      if (slice != NULL)
        slice->axis_slice->devices[chip * axis->n_cores + quoit_devices_get_core (axis->group_mesh->devices, i)] = i;
    }
}

static uint32_t
count_without_device (const Map *map)
{
  uint32_t n = 0;

  for (guint s = 0; s < map->slices->len; s++)
    {
      const MapSlice *slice = map->slices->pdata[s];
      uint32_t n_chips = slice->torus == NULL ? 0 : quoit_coordinates_get_n_chips (slice->torus);

      for (uint32_t chip = 0; chip < n_chips; chip++)
        n += slice->axis_slice->devices[chip * map->axis->n_cores] < 0;
    }
  return n;
}

/* --- the hops of the axis --- */

/* A line is the devices that differ only in their index along the axis. A LinePart is the part of the current line in
 * one slice. */
typedef struct {
  uint32_t line;        /* the number of the line, from 1; 0: none */
  uint32_t first, last; /* the chips of the first and the latest device */
  uint32_t n_devices;
} LinePart;

static void
add_hop (MapSlice *slice, uint32_t from, uint32_t to)
{
  MapHop hop = { from, to };

  if (from != to && quoit_coordinates_get_hops (slice->torus, from, to) == 1)
    g_array_append_val (slice->axis_slice->hops, hop);
}

/* Adds a device to its slice's part of the line, and the hop from the previous device of that part. */
static void
add_device_to_line (const Map *map, uint32_t device, uint32_t line, LinePart *parts)
{
  int64_t chip = -1;
  MapSlice *slice = find_chip (map, device, &chip);
  LinePart *part;

  if (slice == NULL)
    return;
  part = &parts[quoit_devices_get_slice_index (map->axis->group_mesh->devices, device)];
  if (part->line != line)
    *part = (LinePart) { line, (uint32_t) chip, (uint32_t) chip, 0 };
  add_hop (slice, part->last, (uint32_t) chip);
  part->last = (uint32_t) chip;
  part->n_devices++;
}

/* Adds the hop from the last device of a line in the slice back to the first. A line of two devices already has that
 * hop. */
static void
close_line (const Map *map, uint32_t device, uint32_t line, LinePart *parts)
{
  int64_t chip = -1;
  MapSlice *slice = find_chip (map, device, &chip);
  LinePart *part
      = slice == NULL ? NULL : &parts[quoit_devices_get_slice_index (map->axis->group_mesh->devices, device)];

  if (part == NULL || part->line != line)
    return;
  if (part->n_devices > 2)
    add_hop (slice, part->last, part->first);
  part->line = 0;
}

static void
follow_lines (Map *map)
{
  const QuoitMesh *mesh = map->axis->group_mesh->mesh;
  const uint32_t *devices = quoit_mesh_get_indices (mesh);
  uint32_t stride = get_stride (map->axis), size = map_axis_size (map->axis);
  g_autofree LinePart *parts = g_new0 (LinePart, map->slices->len);

  for (uint32_t first = 0; first < quoit_mesh_get_n_devices (mesh); first++)
    if (first / stride % size == 0)
      {
        for (uint32_t i = 0; i < size; i++)
          add_device_to_line (map, devices[first + i * stride], first + 1, parts);
        for (uint32_t i = 0; i < size; i++)
          close_line (map, devices[first + i * stride], first + 1, parts);
      }
}

void
map_set_axis (Map *map, const char *group, const MeshSpec *spec, const GroupMesh *group_mesh,
              const QuoitTopology *processes, guint index)
{
  MapAxis *axis = g_new0 (MapAxis, 1);

  *axis = (MapAxis) { .group = g_strdup (group),
                      .axes = &spec->axes,
                      .dcn_sizes = spec->dcn_sizes,
                      .group_mesh = group_mesh,
                      .axis = index,
                      .n_cores = count_cores (group_mesh->devices) };
  axis->indices = find_indices (axis);
  axis->chips = find_chips (group_mesh->devices, processes);
  map->axis = axis;
  for (guint i = 0; i < map->slices->len; i++)
    ((MapSlice *) map->slices->pdata[i])->axis_slice = new_axis_slice (axis, map->slices->pdata[i], i);
  place_devices (map);
  axis->n_without_device = count_without_device (map);
  follow_lines (map);
}

/* --- queries --- */

int64_t
map_axis_index (const MapAxis *axis, const MapAxisSlice *axis_slice, uint32_t chip, uint32_t core)
{
  int64_t device = axis_slice->devices[chip * axis->n_cores + core];

  return device < 0 ? -1 : (int64_t) axis->indices[device];
}

bool
map_axis_has_one_index (const MapAxis *axis, const MapAxisSlice *axis_slice, uint32_t chip)
{
  for (uint32_t core = 1; core < axis->n_cores; core++)
    if (map_axis_index (axis, axis_slice, chip, core) != map_axis_index (axis, axis_slice, chip, 0))
      return false;
  return true;
}

char *
map_axis_title (const MapAxis *axis)
{
  g_autofree char *axes = axes_format (axis->axes, axis->axes->sizes, 1);

  return g_strdup_printf ("%s, mesh %s: index along %s", axis->group, axes, axis->axes->names[axis->axis]);
}

char *
map_axis_describe (const MapAxis *axis)
{
  const QuoitMeshLinks *links = axis->group_mesh->links;
  g_autofree char *physical = quoit_mesh_links_dup_physical (links, axis->axis);
  QuoitMeshForm form = quoit_mesh_links_get_form (links, axis->axis);
  uint32_t hops = quoit_mesh_links_get_hops (links, axis->axis);
  GString *text = g_string_new (axis->axes->names[axis->axis]);

  g_string_append_printf (text, ": %u over %s", map_axis_size (axis),
                          mesh_network_word (quoit_mesh_links_get_network (links, axis->axis)));
  if (physical[0] != '\0')
    g_string_append_printf (text, ", %s", physical);
  if (form != QUOIT_MESH_FORM_NONE)
    g_string_append_printf (text, "; %s of %u hop%s, %u back", mesh_form_word (form), hops, hops == 1 ? "" : "s",
                            quoit_mesh_links_get_hops_back (links, axis->axis));
  return g_string_free (text, FALSE);
}

/* --- colours --- */

/* Samples of matplotlib's viridis (CC0) at equal distances. Its lightness grows evenly, also for people with any colour
 * blindness. */
static const uint32_t viridis[]
    = { 0x440154, 0x472d7b, 0x3b528b, 0x2c728e, 0x21918c, 0x28ae80, 0x5ec962, 0xaddc30, 0xfde725 };

static uint32_t
get_channel (uint32_t colour, guint shift)
{
  return colour >> shift & 0xff;
}

/* Interpolates between two neighbouring samples: index 0 has the first colour, the last index the last one. */
uint32_t
map_axis_colour (const MapAxis *axis, uint32_t index)
{
  const guint n_steps = G_N_ELEMENTS (viridis) - 1;
  uint64_t last = MAX (map_axis_size (axis), 2) - 1, scaled = (uint64_t) index * n_steps;
  guint step = MIN ((guint) (scaled / last), n_steps - 1);
  int64_t offset = (int64_t) (scaled - step * last); /* the position between the two samples, 0 to @last */
  uint32_t colour = 0;

  for (guint shift = 0; shift < 24; shift += 8)
    {
      int64_t from = get_channel (viridis[step], shift), to = get_channel (viridis[step + 1], shift);

      colour |= (uint32_t) (from + (to - from) * offset / (int64_t) last) << shift;
    }
  return colour;
}

/* Compares the luminance with the one at which black and white text have equal contrast. */
bool
map_colour_is_light (uint32_t colour)
{
  enum { EQUAL_CONTRAST = 11640 };
  uint32_t red = get_channel (colour, 16), green = get_channel (colour, 8), blue = get_channel (colour, 0);

  return (2126 * red * red + 7152 * green * green + 722 * blue * blue) / 10000 > EQUAL_CONTRAST;
}

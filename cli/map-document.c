/* SPDX-License-Identifier: Apache-2.0 */
/* A map as a document for -o json: the slices with their hosts, the hosts with their chips, and the legend. */
#include "map.h"

#include "mesh-view.h"
#include "words.h"

/* Only a map with an axis has the last column. */
static const Column chip_columns[] = {
  { "chip", NULL, CELL_NUMBER },  { "x", NULL, CELL_NUMBER },      { "y", NULL, CELL_NUMBER },
  { "z", NULL, CELL_NUMBER },     { "state", NULL, CELL_TEXT },    { "symbol", NULL, CELL_TEXT },
  { "held_by", NULL, CELL_LIST }, { "devices", NULL, CELL_TABLE },
};

static const Column device_columns[] = {
  { "id", NULL, CELL_NUMBER },
  { "core", NULL, CELL_NUMBER },
  { "index", NULL, CELL_NUMBER },
};

static const Column host_columns[] = {
  { "worker_id", NULL, CELL_NUMBER }, { "x", NULL, CELL_NUMBER },    { "y", NULL, CELL_NUMBER },
  { "z", NULL, CELL_NUMBER },         { "node", NULL, CELL_TEXT },   { "full_name", NULL, CELL_TEXT },
  { "state", NULL, CELL_TEXT },       { "chips", NULL, CELL_TABLE },
};

/* Only a map with an axis has the last column. */
static const Column slice_columns[] = {
  { "slice", NULL, CELL_TEXT },      { "full_name", NULL, CELL_TEXT },        { "accelerator", NULL, CELL_TEXT },
  { "topology", NULL, CELL_TEXT },   { "chips_per_host", NULL, CELL_NUMBER }, { "host_block", NULL, CELL_TEXT },
  { "wrap", NULL, CELL_TEXT },       { "hosts", NULL, CELL_TABLE },           { "not_drawn", NULL, CELL_LIST },
  { "slice_id", NULL, CELL_NUMBER },
};

static const Column legend_columns[] = {
  { "symbol", NULL, CELL_TEXT },  { "state", NULL, CELL_TEXT },      { "group", NULL, CELL_TEXT },
  { "chips", NULL, CELL_NUMBER }, { "draining", NULL, CELL_NUMBER }, { "dead", NULL, CELL_NUMBER },
};

static void
take_symbol (Table *table, char symbol)
{
  table_take_text (table, g_strdup_printf ("%c", symbol));
}

/* The groups that use the chip or part of it. */
static GPtrArray *
chip_groups (const Map *map, int64_t node, uint32_t index_on_host)
{
  const QuoitSnapshot *snapshot = map->snapshot;
  GPtrArray *groups = g_ptr_array_new_with_free_func (g_free);
  uint32_t n = node < 0 ? 0 : quoit_snapshot_get_node_n_users (snapshot, (uint32_t) node);

  for (uint32_t u = 0; u < n; u++)
    if ((quoit_snapshot_get_node_user_chips (snapshot, (uint32_t) node, u) >> index_on_host & 1) != 0)
      {
        guint group = map_find_group (map, quoit_snapshot_get_node_user_id (snapshot, (uint32_t) node, u));

        g_ptr_array_add (groups, g_strdup (g_array_index (map->groups, MapGroup, group).label));
      }
  return groups;
}

/* The devices of the chip that are in the mesh. */
static Table *
chip_devices (const MapAxis *axis, const MapAxisSlice *axis_slice, uint32_t chip)
{
  Table *devices = table_new (device_columns, G_N_ELEMENTS (device_columns));

  for (uint32_t core = 0; core < axis->n_cores; core++)
    {
      int64_t device = axis_slice->devices[chip * axis->n_cores + core];

      if (device < 0)
        continue;
      table_add_number (devices, quoit_devices_get_id (axis->group_mesh->devices, (uint32_t) device));
      table_add_number (devices, core);
      table_add_number (devices, axis->indices[device]);
    }
  return devices;
}

static Table *
worker_chips (const Map *map, const MapSlice *slice, uint32_t worker)
{
  Table *chips = table_new (chip_columns, G_N_ELEMENTS (chip_columns) - (map->axis == NULL));
  uint32_t n = quoit_coordinates_get_n_chips (slice->torus) / quoit_coordinates_get_n_hosts (slice->torus);

  for (uint32_t index_on_host = 0; index_on_host < n; index_on_host++)
    {
      uint32_t number = quoit_coordinates_get_worker_chip (slice->torus, worker, index_on_host);
      const MapChip *chip = &slice->chips[number];

      table_add_number (chips, number);
      for (guint axis = QUOIT_AXIS_X; axis <= QUOIT_AXIS_Z; axis++)
        table_add_number (chips, quoit_coordinates_get_chip_at (slice->torus, number, (QuoitAxis) axis));
      table_add_text (chips, map_state_word (chip->state));
      take_symbol (chips, map_symbol (chip));
      table_take_list (chips, chip_groups (map, slice->nodes[worker], index_on_host));
      if (map->axis != NULL)
        table_take_table (chips, chip_devices (map->axis, slice->axis_slice, number));
    }
  return chips;
}

static Table *
slice_hosts (const Map *map, const MapSlice *slice)
{
  Table *hosts = table_new (host_columns, G_N_ELEMENTS (host_columns));
  uint32_t n = slice->torus == NULL ? 0 : quoit_coordinates_get_n_hosts (slice->torus);

  for (uint32_t w = 0; w < n; w++)
    {
      int64_t node = slice->nodes[w];

      table_add_number (hosts, w);
      for (guint axis = QUOIT_AXIS_X; axis <= QUOIT_AXIS_Z; axis++)
        table_add_number (hosts, quoit_coordinates_get_worker_at (slice->torus, w, (QuoitAxis) axis));
      table_add_text (hosts, node < 0 ? NULL : quoit_snapshot_get_node_name (map->snapshot, (uint32_t) node));
      table_take_text (hosts, node < 0 ? NULL : quoit_snapshot_dup_node_full_name (map->snapshot, (uint32_t) node));
      table_add_text (
          hosts, node < 0 ? NULL : node_state_word (quoit_snapshot_get_node_state (map->snapshot, (uint32_t) node)));
      table_take_table (hosts, worker_chips (map, slice, w));
    }
  return hosts;
}

static void
add_slice (Table *slices, const Map *map, const MapSlice *slice)
{
  uint32_t class = (uint32_t) quoit_snapshot_get_slice_class (map->snapshot, slice->slice);

  table_add_text (slices, quoit_snapshot_get_slice_name (map->snapshot, slice->slice));
  table_take_text (slices, quoit_snapshot_dup_slice_full_name (map->snapshot, slice->slice));
  if (slice->torus == NULL)
    for (guint i = 0; i < 5; i++)
      table_skip (slices);
  else
    {
      g_autofree char *topology = quoit_snapshot_dup_class_topology (map->snapshot, class);

      table_add_text (slices, quoit_snapshot_get_class_accelerator (map->snapshot, class));
      table_add_text (slices, topology);
      table_add_number (slices, quoit_snapshot_get_class_chips_per_host (map->snapshot, class));
      table_take_text (slices, map_format_host_shape (slice, topology));
      table_take_text (slices, map_format_ring_axes (slice));
    }
  table_take_table (slices, slice_hosts (map, slice));
  table_take_list (slices, g_ptr_array_ref (slice->undrawn));
  if (map->axis != NULL)
    table_add_number (slices, slice->axis_slice->slice_id);
}

static Table *
legend_table (const Map *map)
{
  Table *legend = table_new (legend_columns, G_N_ELEMENTS (legend_columns));

  for (guint i = 0; i < map->groups->len; i++)
    {
      const MapGroup *group = &g_array_index (map->groups, MapGroup, i);

      take_symbol (legend, map_group_symbol (i));
      table_add_text (legend, map_state_word (CHIP_ALLOCATED));
      table_add_text (legend, group->label);
      table_add_number (legend, map_count_chips (group->n_chips));
      table_add_number (legend, group->n_chips[CHIP_DRAINING]);
      table_add_number (legend, group->n_chips[CHIP_DEAD]);
    }
  for (guint state = 0; state < N_CHIP_STATES; state++)
    if (state != CHIP_ALLOCATED)
      {
        take_symbol (legend, map_state_symbol (state));
        table_add_text (legend, map_state_word (state));
        table_skip (legend);
        table_add_number (legend, map->n_chips[state]);
        table_skip (legend);
        table_skip (legend);
      }
  return legend;
}

static const Column axis_columns[] = {
  { "group", NULL, CELL_TEXT },   { "axes", NULL, CELL_TEXT },        { "dcn", NULL, CELL_TEXT },
  { "axis", NULL, CELL_TEXT },    { "size", NULL, CELL_NUMBER },      { "dcn_size", NULL, CELL_NUMBER },
  { "network", NULL, CELL_TEXT }, { "physical", NULL, CELL_TEXT },    { "form", NULL, CELL_TEXT },
  { "hops", NULL, CELL_NUMBER },  { "hops_back", NULL, CELL_NUMBER },
};

static Table *
axis_facts (const MapAxis *axis)
{
  Table *facts = table_new (axis_columns, G_N_ELEMENTS (axis_columns));

  table_add_text (facts, axis->group);
  table_take_text (facts, axes_format (axis->axes, axis->axes->sizes, 1));
  table_take_text (facts, axis->dcn_sizes == NULL ? NULL : axes_format (axis->axes, axis->dcn_sizes, 2));
  mesh_axis_add_links (facts, axis->group_mesh->mesh, axis->group_mesh->links, axis->axes, axis->axis);
  return facts;
}

Document *
map_document (const Map *map)
{
  Document *document = document_new ();
  /* Only a map with an axis has the last column, slice_id. */
  guint n_columns = G_N_ELEMENTS (slice_columns) - (map->axis == NULL ? 1 : 0);
  Table *slices = table_new (slice_columns, n_columns);

  for (guint i = 0; i < map->slices->len; i++)
    add_slice (slices, map, map->slices->pdata[i]);
  if (map->axis != NULL)
    document_take_facts (document, axis_facts (map->axis));
  document_take_table (document, "slices", NULL, slices);
  document_take_table (document, "legend", NULL, legend_table (map));
  return document;
}

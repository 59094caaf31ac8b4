/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the data of a map: the state and the group of each chip. */
#include "map.h"

#include "fleet-view.h"
#include "group-view.h"

static void
slice_free (gpointer data)
{
  MapSlice *slice = data;

  quoit_coordinates_free (slice->torus);
  g_free (slice->chips);
  g_free (slice->nodes);
  g_ptr_array_unref (slice->undrawn);
  map_axis_slice_free (slice->axis_slice);
  g_free (slice);
}

static void
group_clear (gpointer data)
{
  g_free (((MapGroup *) data)->label);
}

void
map_free (Map *map)
{
  if (map == NULL)
    return;
  g_ptr_array_unref (map->slices);
  g_array_unref (map->groups);
  map_axis_free (map->axis);
  g_free (map);
}

static QuoitCoordinates *
new_torus (const QuoitSnapshot *snapshot, uint32_t slice)
{
  int64_t class = quoit_snapshot_get_slice_class (snapshot, slice);
  g_autofree char *topology = class < 0 ? NULL : quoit_snapshot_dup_class_topology (snapshot, (uint32_t) class);

  if (topology == NULL)
    return NULL;
  return quoit_coordinates_new (quoit_snapshot_get_class_accelerator (snapshot, (uint32_t) class), topology,
                                quoit_snapshot_get_class_chips_per_host (snapshot, (uint32_t) class),
                                QUOIT_WIRING_STRAIGHT, NULL);
}

static void
note_undrawn (MapSlice *slice, const QuoitSnapshot *snapshot, uint32_t node, const char *why)
{
  g_autofree char *name = node_display_name (snapshot, node);

  g_ptr_array_add (slice->undrawn, g_strdup_printf ("%s: %s", name, why));
}

static bool
is_dead (const QuoitSnapshot *snapshot, int64_t node)
{
  return quoit_snapshot_get_node_state (snapshot, (uint32_t) node) == QUOIT_NODE_DEAD;
}

/* Draws the node at the place of its worker. If two nodes have the same worker id, the alive one is drawn. */
static void
place_node (MapSlice *slice, const QuoitSnapshot *snapshot, uint32_t node)
{
  int32_t worker = quoit_snapshot_get_node_worker_id (snapshot, node);
  int64_t *drawn;

  if (worker < 0 || (uint32_t) worker >= quoit_coordinates_get_n_hosts (slice->torus))
    {
      note_undrawn (slice, snapshot, node, worker < 0 ? "no worker id" : "its worker id is too large for the topology");
      return;
    }
  drawn = &slice->nodes[worker];
  if (*drawn >= 0 && !(is_dead (snapshot, *drawn) && !is_dead (snapshot, node)))
    {
      note_undrawn (slice, snapshot, node, "another node has its worker id");
      return;
    }
  if (*drawn >= 0)
    note_undrawn (slice, snapshot, (uint32_t) *drawn, "another node has its worker id");
  *drawn = node;
}

static MapSlice *
new_slice (const QuoitSnapshot *snapshot, uint32_t index)
{
  MapSlice *slice = g_new0 (MapSlice, 1);
  uint32_t first = quoit_snapshot_get_slice_first_node (snapshot, index), n_hosts;

  slice->slice = index;
  slice->undrawn = g_ptr_array_new_with_free_func (g_free);
  slice->torus = new_torus (snapshot, index);
  if (slice->torus == NULL)
    return slice;
  n_hosts = quoit_coordinates_get_n_hosts (slice->torus);
  slice->chips = g_new0 (MapChip, quoit_coordinates_get_n_chips (slice->torus));
  slice->nodes = g_new (int64_t, n_hosts);
  for (uint32_t i = 0; i < n_hosts; i++)
    slice->nodes[i] = -1;
  for (uint32_t i = 0; i < quoit_snapshot_get_slice_n_nodes (snapshot, index); i++)
    place_node (slice, snapshot, first + i);
  return slice;
}

/* --- groups --- */

static gint
by_id (gconstpointer a, gconstpointer b)
{
  const MapGroup *x = a, *y = b;

  return (x->id > y->id) - (x->id < y->id);
}

static guint32
count_hosts (const MapSlice *slice)
{
  return slice->torus == NULL ? 0 : quoit_coordinates_get_n_hosts (slice->torus);
}

static guint32
count_users (const Map *map, int64_t node)
{
  return node < 0 ? 0 : quoit_snapshot_get_node_n_users (map->snapshot, (uint32_t) node);
}

/* Returns the ids of the groups that use a node on the map. */
static GHashTable *
list_group_ids (const Map *map)
{
  GHashTable *ids = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);

  for (guint s = 0; s < map->slices->len; s++)
    {
      const MapSlice *slice = map->slices->pdata[s];

      for (uint32_t w = 0; w < count_hosts (slice); w++)
        for (uint32_t u = 0; u < count_users (map, slice->nodes[w]); u++)
          {
            uint64_t id = quoit_snapshot_get_node_user_id (map->snapshot, (uint32_t) slice->nodes[w], u);

            if (!g_hash_table_contains (ids, &id))
              g_hash_table_add (ids, g_memdup2 (&id, sizeof id));
          }
    }
  return ids;
}

static void
find_groups (Map *map)
{
  g_autoptr (GHashTable) ids = list_group_ids (map);

  for (uint32_t i = 0; i < quoit_snapshot_get_n_groups (map->snapshot); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (map->snapshot, i);
      uint64_t id = quoit_group_get_id (group);

      if (g_hash_table_contains (ids, &id))
        g_array_append_val (map->groups, ((MapGroup) { .id = id, .label = g_strdup (quoit_group_get_handle (group)) }));
    }
  g_array_sort (map->groups, by_id);
}

guint
map_find_group (const Map *map, uint64_t id)
{
  const MapGroup wanted = { .id = id };
  guint index = 0;

  g_assert (g_array_binary_search (map->groups, &wanted, by_id, &index));
  return index;
}

/* Returns the state of a chip on an alive host. */
static ChipState
get_chip_state_by_use (const QuoitSnapshot *snapshot, uint32_t node, uint32_t index_on_host, bool is_allocated)
{
  if (index_on_host >= node_n_chips (snapshot, node))
    return CHIP_MISSING;
  if (is_allocated)
    return CHIP_ALLOCATED;
  return (quoit_snapshot_get_node_external_chips (snapshot, node) >> index_on_host & 1) != 0 ? CHIP_EXTERNAL
                                                                                             : CHIP_IDLE;
}

static ChipState
get_chip_state (const QuoitSnapshot *snapshot, int64_t node, uint32_t index_on_host, bool is_allocated)
{
  QuoitNodeState state;

  if (node < 0)
    return CHIP_MISSING;
  state = quoit_snapshot_get_node_state (snapshot, (uint32_t) node);
  if (state == QUOIT_NODE_DEAD)
    return CHIP_DEAD;
  return state == QUOIT_NODE_DRAINING ? CHIP_DRAINING
                                      : get_chip_state_by_use (snapshot, (uint32_t) node, index_on_host, is_allocated);
}

/* Assigns the chips of a host to the groups that use them. If several groups share a chip, the map shows the first one,
 * and each of them counts the chip. */
static void
assign_chips (Map *map, MapChip **chips, uint32_t n, int64_t node)
{
  for (uint32_t u = 0; u < count_users (map, node); u++)
    {
      uint64_t mask = quoit_snapshot_get_node_user_chips (map->snapshot, (uint32_t) node, u);
      guint index = map_find_group (map, quoit_snapshot_get_node_user_id (map->snapshot, (uint32_t) node, u));
      MapGroup *group = &g_array_index (map->groups, MapGroup, index);

      for (uint32_t i = 0; i < n; i++)
        if ((mask >> i & 1) != 0)
          {
            if (chips[i]->n_groups++ == 0)
              chips[i]->group = index;
            group->n_chips[get_chip_state (map->snapshot, node, i, true)]++;
          }
    }
}

static void
fill_host (Map *map, MapSlice *slice, uint32_t worker)
{
  uint32_t n = quoit_coordinates_get_n_chips (slice->torus) / count_hosts (slice);
  g_autofree MapChip **chips = g_new (MapChip *, n);

  for (uint32_t i = 0; i < n; i++)
    {
      chips[i] = &slice->chips[quoit_coordinates_get_worker_chip (slice->torus, worker, i)];
      chips[i]->group = -1;
    }
  assign_chips (map, chips, n, slice->nodes[worker]);
  for (uint32_t i = 0; i < n; i++)
    {
      chips[i]->state = get_chip_state (map->snapshot, slice->nodes[worker], i, chips[i]->n_groups > 0);
      map->n_chips[chips[i]->state]++;
    }
}

Map *
map_new (const QuoitSnapshot *snapshot, const GArray *slices)
{
  Map *map = g_new0 (Map, 1);

  map->snapshot = snapshot;
  map->slices = g_ptr_array_new_with_free_func (slice_free);
  map->groups = g_array_new (FALSE, TRUE, sizeof (MapGroup));
  g_array_set_clear_func (map->groups, group_clear);
  for (guint i = 0; i < slices->len; i++)
    g_ptr_array_add (map->slices, new_slice (snapshot, g_array_index (slices, uint32_t, i)));
  find_groups (map);
  for (guint i = 0; i < map->slices->len; i++)
    {
      MapSlice *slice = map->slices->pdata[i];

      for (uint32_t w = 0; w < count_hosts (slice); w++)
        fill_host (map, slice, w);
    }
  return map;
}

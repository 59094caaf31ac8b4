/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/cut/cutting.h"

#include <string.h>

/* GKE's partitions of a cube (gke-kuberay-jax 9). */
static const QuoitShape partitions[]
    = { { { 2, 2, 1 }, 3 }, { { 2, 2, 2 }, 3 }, { { 2, 2, 4 }, 3 }, { { 2, 4, 4 }, 3 }, { { 4, 4, 4 }, 3 } };

static gboolean
is_partition (QuoitShape shape)
{
  for (guint i = 0; i < G_N_ELEMENTS (partitions); i++)
    if (quoit_shape_equal (shape, partitions[i]))
      return TRUE;
  return FALSE;
}

/* Ray numbers the hosts of sub-slices with the first number of a topology along y (ray-tpu 6). In a slice with equal
 * sides, a part along the axes in this order is the same hosts as in Ray. */
static gboolean
lies_like_ray (const QuoitSliceFacts *facts)
{
  return facts->shape.n_dims == 2 && facts->shape.dims[0] == facts->shape.dims[1];
}

/* Keeps the one turn in which the part lies along the axes x, y, z, or y, x. */
static void
keep_one_turn (QuoitCutting *cutting, const QuoitSliceFacts *facts, QuoitShape shape, gboolean is_swapped)
{
  const guint16 wanted[QUOIT_N_AXES]
      = { shape.dims[is_swapped ? 1 : 0], shape.dims[is_swapped ? 0 : 1], shape.dims[2] };

  for (guint turn = 0; turn < cutting->n_turns; turn++)
    {
      const QuoitShape hosts = cutting->turns[turn].hosts;
      gboolean is_wanted = TRUE;

      for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
        is_wanted = is_wanted && hosts.dims[axis] * facts->host_block.dims[axis] == wanted[axis];
      if (!is_wanted)
        continue;
      cutting->turns[0] = cutting->turns[turn];
      cutting->n_turns = 1;
      return;
    }
  cutting->n_turns = 0;
}

gboolean
quoit_cutting_init (QuoitCutting *cutting, const QuoitSliceFacts *facts, QuoitShape shape, QuoitCut cut)
{
  const unsigned wrap = cut == QUOIT_CUT_ANY_OR_WRAPPED ? quoit_shape_wrap (facts->generation, facts->shape) : 0;
  const gboolean is_aligned = cut == QUOIT_CUT_ALIGNED || cut == QUOIT_CUT_PARTITION;
  gboolean fits = FALSE;

  *cutting = (QuoitCutting) { .offsets = is_aligned ? QUOIT_OFFSETS_ALIGNED : QUOIT_OFFSETS_ANY };
  if (!quoit_grid_init (&cutting->grid, facts->host_grid, wrap) || shape.n_dims != facts->shape.n_dims
      || (cut == QUOIT_CUT_WHOLE && !quoit_shape_equal (shape, facts->shape))
      || (cut == QUOIT_CUT_PARTITION && !is_partition (shape)))
    return FALSE;
  cutting->n_turns = quoit_shape_list_turns (shape, facts->host_block, cutting->turns);
  if (is_aligned || cut == QUOIT_CUT_WHOLE)
    keep_one_turn (cutting, facts, shape, cut == QUOIT_CUT_ALIGNED && lies_like_ray (facts));
  for (guint turn = 0; turn < cutting->n_turns; turn++)
    {
      const QuoitShape hosts = cutting->turns[turn].hosts;

      fits = fits
             || (hosts.dims[0] <= cutting->grid.n[0] && hosts.dims[1] <= cutting->grid.n[1]
                 && hosts.dims[2] <= cutting->grid.n[2]);
    }
  return fits;
}

gboolean
quoit_free_hosts_are_all (const QuoitFreeHosts *rule, guint32 slice)
{
  return quoit_bits_has (&rule->fleet->free_slices, slice)
         || (rule->ignores_use && rule->worst == QUOIT_NODE_DEAD
             && quoit_fleet_slice_could_be_intact (rule->fleet, (QuoitSliceId) { slice }));
}

/* Returns whether node i of the slice is its host i, and has no rival: nodes are sorted by worker id. */
static gboolean
is_by_index (const QuoitFleet *fleet, guint32 slice, const QuoitGrid *grid)
{
  const guint32 n_nodes = fleet->layout->slices[slice].n_nodes;

  return n_nodes == quoit_grid_n_hosts (grid) && n_nodes > 0
         && quoit_fleet_slice_could_be_intact (fleet, (QuoitSliceId) { slice });
}

gboolean
quoit_free_hosts_have_all (const QuoitFreeHosts *rule, guint32 slice, const QuoitGrid *grid)
{
  const QuoitSliceStatus *status = quoit_fleet_slice_status (rule->fleet, (QuoitSliceId) { slice });
  QuoitHostSet free;

  if (is_by_index (rule->fleet, slice, grid))
    return (rule->ignores_use || status->n_used == 0) && (rule->worst >= QUOIT_NODE_DEAD || status->n_missing == 0)
           && (rule->worst >= QUOIT_NODE_DRAINING || status->n_draining == 0);
  quoit_free_hosts_list (rule, slice, grid, &free);
  return quoit_host_set_count (grid, &free) == quoit_grid_n_hosts (grid);
}

gboolean
quoit_free_hosts_are_same (const QuoitFreeHosts *a, const QuoitFreeHosts *b, guint32 slice, const QuoitGrid *grid)
{
  const QuoitSliceStatus *status = quoit_fleet_slice_status (a->fleet, (QuoitSliceId) { slice });
  const QuoitNodeState better = MIN (a->worst, b->worst), worse = MAX (a->worst, b->worst);

  return is_by_index (a->fleet, slice, grid) && (a->ignores_use == b->ignores_use || status->n_used == 0)
         && (better >= QUOIT_NODE_DRAINING || worse < QUOIT_NODE_DRAINING || status->n_draining == 0)
         && (better >= QUOIT_NODE_DEAD || worse < QUOIT_NODE_DEAD || status->n_missing == 0);
}

/* Lists the free hosts of a slice whose nodes are by index. */
static void
list_by_index (const QuoitFreeHosts *rule, const QuoitSlice *row, const QuoitGrid *grid, QuoitHostSet *free)
{
  const QuoitNodeChunk *chunk = NULL;
  guint32 node = row->first_node;

  for (guint32 i = 0; i < quoit_grid_n_rows (grid); i++)
    {
      guint16 bits = 0;

      for (guint32 x = 0; x < grid->n[0]; x++, node++)
        {
          const guint32 at = node % QUOIT_NODES_PER_CHUNK;

          if (chunk == NULL || at == 0)
            chunk = quoit_fleet_node_chunk (rule->fleet, (QuoitNodeId) { node });
          bits |= (guint16) ((guint) (chunk->state[at] <= rule->worst
                                      && (rule->ignores_use || chunk->use[at] == QUOIT_USE_NONE))
                             << x);
        }
      free->rows[i] = bits;
    }
}

void
quoit_free_hosts_list (const QuoitFreeHosts *rule, guint32 slice, const QuoitGrid *grid, QuoitHostSet *free)
{
  const QuoitLayout *layout = rule->fleet->layout;
  const QuoitSlice *row = &layout->slices[slice];
  QuoitHostSet taken, alive;

  if (quoit_free_hosts_are_all (rule, slice))
    {
      quoit_host_set_fill (grid, free);
      return;
    }
  if (is_by_index (rule->fleet, slice, grid))
    {
      list_by_index (rule, row, grid, free);
      return;
    }
  quoit_host_set_clear (grid, free);
  quoit_host_set_clear (grid, &taken);
  quoit_host_set_clear (grid, &alive);
  for (guint32 n = row->first_node; n < row->first_node + row->n_nodes; n++)
    {
      const gint16 worker_id = layout->nodes[n].worker_id;
      const QuoitNodeState state = quoit_fleet_node_state (rule->fleet, (QuoitNodeId) { n });

      if (worker_id < 0 || (guint32) worker_id >= quoit_grid_n_hosts (grid))
        continue;
      if ((!rule->ignores_use && quoit_fleet_node_use (rule->fleet, (QuoitNodeId) { n }) != QUOIT_USE_NONE)
          || (state != QUOIT_NODE_DEAD && quoit_host_set_has (grid, &alive, (guint32) worker_id)))
        quoit_host_set_add (grid, &taken, (guint32) worker_id);
      if (state != QUOIT_NODE_DEAD)
        quoit_host_set_add (grid, &alive, (guint32) worker_id);
      if (state <= rule->worst)
        quoit_host_set_add (grid, free, (guint32) worker_id);
    }
  for (guint32 i = 0; i < quoit_grid_n_rows (grid); i++)
    free->rows[i] &= (guint16) ~taken.rows[i];
}

void
quoit_free_hosts_find (const QuoitFleet *fleet, guint32 slice, const guint32 *workers, guint32 n, guint32 *nodes)
{
  const QuoitLayout *layout = fleet->layout;
  const QuoitSlice *row = &layout->slices[slice];

  for (guint32 i = 0; i < n; i++)
    {
      guint32 node = row->first_node + MIN (workers[i], row->n_nodes - 1);

      if (layout->nodes[node].worker_id == (gint32) workers[i]
          && quoit_fleet_node_state (fleet, (QuoitNodeId) { node }) == QUOIT_NODE_ALIVE)
        {
          nodes[i] = node;
          continue;
        }
      node = row->first_node;

      /* Nodes are sorted by worker id. A dead node can have the same one. */
      while (layout->nodes[node].worker_id != (gint32) workers[i]
             || quoit_fleet_node_state (fleet, (QuoitNodeId) { node }) != QUOIT_NODE_ALIVE)
        g_assert (++node < row->first_node + row->n_nodes);
      nodes[i] = node;
    }
}

gboolean
quoit_topology_is_new (const QuoitTopologyRow *rows, unsigned index)
{
  gboolean is_new = rows[index].listing == QUOIT_TOPOLOGY_LISTED;

  for (unsigned i = 0; i < index && is_new; i++)
    is_new = !quoit_shape_equal (rows[i].shape, rows[index].shape);
  return is_new;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Adds, checks and removes the edges between groups and nodes. This file handles groups that have whole nodes; shares.c
 * handles groups that have parts of nodes. */
#include "fleet/counts.h"

#include <stdlib.h>

static gboolean
refuse_node (const QuoitFleet *fleet, const QuoitGroupData *group, guint32 i, GError **error)
{
  guint32 id = group->node_ids[i];
  const QuoitGroupData *other;
  QuoitNodeId node;

  if (quoit_layout_find_id (fleet->layout, id) == QUOIT_NO_INDEX)
    return quoit_fail (error, QUOIT_ERROR_CONFLICT, "group '%s': its node with the id %u is not in the fleet",
                       group->name, id);
  node.index = quoit_layout_find_id (fleet->layout, id);
  other = quoit_fleet_node_user (fleet, node);
  return quoit_fail (error, QUOIT_ERROR_CONFLICT, "group '%s': node '%s' is used by %s%s", group->name,
                     quoit_layout_node_name (fleet->layout, node), other == NULL ? "external use" : "group ",
                     other == NULL ? "" : other->name);
}

/* Returns the end of the nodes from @index on that are in the same slice and chunk as the node @index. A group of
 * slices lists its nodes in index order, so it can be processed in a few such runs. */
static inline guint32
run_end (const QuoitLayout *layout, guint32 index)
{
  guint32 slice = layout->nodes[index].slice, chunk_end = (index / QUOIT_NODES_PER_CHUNK + 1) * QUOIT_NODES_PER_CHUNK;

  if (slice == QUOIT_NO_INDEX)
    return index + 1;
  return MIN (layout->slices[slice].first_node + layout->slices[slice].n_nodes, chunk_end);
}

static int
compare_numbers (gconstpointer a, gconstpointer b)
{
  guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

  return (x > y) - (x < y);
}

static gboolean
has_duplicate_node (const QuoitGroupData *group)
{
  g_autofree guint32 *ids = g_memdup2 (group->node_ids, group->n_nodes * sizeof *ids);

  qsort (ids, group->n_nodes, sizeof *ids, compare_numbers);
  for (guint32 i = 1; i < group->n_nodes; i++)
    if (ids[i] == ids[i - 1])
      return TRUE;
  return FALSE;
}

static gboolean
whole_nodes_are_free (const QuoitFleet *fleet, const QuoitGroupData *group, GError **error)
{
  const QuoitLayout *layout = fleet->layout;
  const guint32 *ids = group->node_ids;
  guint32 n_nodes = group->n_nodes, previous_end = 0;
  gboolean ascending = TRUE;

  for (guint32 i = 0; i < n_nodes;)
    {
      guint32 index = quoit_layout_find_id (layout, ids[i]), end;
      const guint32 *use;

      if (index == QUOIT_NO_INDEX)
        return refuse_node (fleet, group, i, error);
      ascending &= index >= previous_end;
      end = run_end (layout, index);
      use = &quoit_fleet_node_chunk (fleet, (QuoitNodeId) { index })->use[index % QUOIT_NODES_PER_CHUNK];
      do
        if (*use++ != QUOIT_USE_NONE)
          return refuse_node (fleet, group, i, error);
      while (++i < n_nodes && ++index < end && layout->nodes[index].id == ids[i]);
      previous_end = index;
    }
  /* If the runs ascend, no node is in two of them. They do not ascend if an import has moved nodes, or if a damaged
   * journal repeats a node. */
  if (G_UNLIKELY (!ascending) && has_duplicate_node (group))
    return quoit_fail (error, QUOIT_ERROR_CONFLICT, "group '%s' names a node twice", group->name);
  return TRUE;
}

static gboolean
bundles_fit (const QuoitFleet *fleet, const QuoitGroupData *group, QuoitBulkAdd *bulk, GError **error)
{
  guint32 misfit = quoit_fleet_first_misfit (fleet, group, bulk);

  return misfit == QUOIT_NO_INDEX ? TRUE : refuse_node (fleet, group, misfit, error);
}

gboolean
quoit_fleet_nodes_are_free (const QuoitFleet *fleet, const QuoitGroupData *group, QuoitBulkAdd *bulk, GError **error)
{
  return group->bundles == NULL ? whole_nodes_are_free (fleet, group, error) : bundles_fit (fleet, group, bulk, error);
}

/* Adjacent nodes of a group that are adjacent in one slice and chunk. */
typedef struct {
  guint32 n, slice;
} NodeRun;

/* Changes the use of a run of at most @n_ids nodes, the first of which has *@ids, from @from to @to. Stops before a
 * node that is not in the fleet or has another use. */
static inline NodeRun
change_run (QuoitFleet *fleet, const guint32 *ids, guint32 n_ids, guint32 from, guint32 to)
{
  const QuoitLayout *layout = fleet->layout;
  guint32 index = quoit_layout_find_id (layout, *ids), most;
  NodeRun run = { 0, QUOIT_NO_INDEX };
  const QuoitNode *nodes;
  guint32 *use;

  if (index == QUOIT_NO_INDEX)
    return run;
  nodes = &layout->nodes[index];
  run.slice = nodes->slice;
  most = MIN (run_end (layout, index) - index, n_ids);
  use = &quoit_fleet_own_nodes (fleet, index)->use[index % QUOIT_NODES_PER_CHUNK];
  while (run.n < most && nodes[run.n].id == ids[run.n] && use[run.n] == from)
    use[run.n++] = to;
  return run;
}

/* Updates the status of the slice of @run, whose nodes have got the use @to, and returns its condition before. */
static inline guint8
change_status (QuoitSliceStatus *status, const QuoitSlice *slice, const NodeRun *run, guint32 to)
{
  const guint16 change = (guint16) (to == QUOIT_USE_NONE ? 0 - run->n : run->n);
  const guint8 before = status->condition;
  QuoitSliceUse use_before;

  if (run->n == slice->n_nodes && status->n_used == (to == QUOIT_USE_NONE ? run->n : 0))
    {
      /* The group gets or leaves a whole slice. */
      status->n_used = status->n_whole = status->n_allocated = to == QUOIT_USE_NONE ? 0 : change;
      status->condition = (guint8) (to == QUOIT_USE_NONE ? before - QUOIT_SLICE_USE_FULL_ALLOCATED
                                                         : before + QUOIT_SLICE_USE_FULL_ALLOCATED);
      return before;
    }
  use_before = quoit_slice_status_use (status, slice->n_nodes);
  status->n_used += change;
  status->n_whole += change;
  status->n_allocated += change;
  /* The use is the last part of a condition. */
  status->condition = (guint8) (before - use_before + quoit_slice_status_use (status, slice->n_nodes));
  return before;
}

/* Changes the use of the first @n_nodes nodes of @group from @from to @to. Stops before a node that is not in the fleet
 * or has another use, and returns how many were changed. Updates each slice once per run of its nodes. */
static guint32
change_whole_nodes (QuoitFleet *fleet, const QuoitGroupData *group, guint32 n_nodes, guint32 from, guint32 to)
{
  const QuoitSlice *slices = fleet->layout->slices;
  QuoitCountsUpdate update = { .n_on_shelf = 0 };
  guint32 n = 0;

  while (n < n_nodes)
    {
      const NodeRun run = change_run (fleet, group->node_ids + n, n_nodes - n, from, to);
      QuoitSliceStatus *status;
      guint8 before;

      if (run.n == 0)
        break;
      n += run.n;
      if (run.slice == QUOIT_NO_INDEX)
        continue;
      status = quoit_fleet_own_slice (fleet, run.slice);
      before = change_status (status, &slices[run.slice], &run, to);
      if (status->condition == before)
        continue;
      if (run.n == n_nodes)
        return quoit_fleet_count_change (fleet, run.slice, slices[run.slice].shelf, before, status->condition), n;
      quoit_counts_update_add (fleet, &update, run.slice, slices[run.slice].shelf, before, status->condition);
    }
  quoit_counts_update_flush (fleet, &update);
  return n;
}

/* Frees the first @n_nodes nodes of @group, which has them. */
static void
leave_whole_nodes (QuoitFleet *fleet, const QuoitGroupData *group, guint32 n_nodes, guint32 slot)
{
  guint32 n = change_whole_nodes (fleet, group, n_nodes, slot + 1, QUOIT_USE_NONE);

  g_assert (n == n_nodes);
}

/* Frees the first @n_nodes nodes again. Fails, and names the reason. */
G_GNUC_NO_INLINE static gboolean
undo_and_fail (QuoitFleet *fleet, const QuoitGroupData *group, guint32 n_nodes, guint32 slot, GError **error)
{
  leave_whole_nodes (fleet, group, n_nodes, slot);
  return whole_nodes_are_free (fleet, group, error);
}

gboolean
quoit_fleet_take_whole_nodes (QuoitFleet *fleet, const QuoitGroupData *group, guint32 slot, GError **error)
{
  guint32 n = change_whole_nodes (fleet, group, group->n_nodes, QUOIT_USE_NONE, slot + 1);

  return G_LIKELY (n == group->n_nodes) || undo_and_fail (fleet, group, n, slot, error);
}

void
quoit_fleet_add_edges (QuoitFleet *fleet, const QuoitGroupData *group, guint32 slot, QuoitBulkAdd *bulk)
{
  if (group->bundles == NULL)
    quoit_fleet_take_whole_nodes (fleet, group, slot, NULL);
  else
    quoit_fleet_add_shares (fleet, group, slot, bulk);
}

void
quoit_fleet_remove_edges (QuoitFleet *fleet, const QuoitGroupData *group, guint32 slot)
{
  if (group->bundles == NULL)
    leave_whole_nodes (fleet, group, group->n_nodes, slot);
  else
    quoit_fleet_remove_shares (fleet, group);
}

void
quoit_fleet_set_external_use (QuoitFleet *fleet, const QuoitGroupData *group, guint32 from, guint32 to,
                              QuoitBulkAdd *bulk)
{
  const QuoitLayout *layout = fleet->layout;
  g_autoptr (GArray) own = NULL;
  GArray *slices;

  if (layout->n_external == 0)
    return;
  if (bulk == NULL)
    own = g_array_new (FALSE, FALSE, sizeof (guint32));
  slices = bulk != NULL ? bulk->slices : own;
  for (guint32 i = 0; i < group->n_nodes; i++)
    {
      guint32 id = group->node_ids[i], index = quoit_layout_find_id (layout, id);

      if (index == QUOIT_NO_INDEX || (layout->nodes[index].flags & QUOIT_NODE_EXTERNAL) == 0
          || quoit_fleet_node_use (fleet, (QuoitNodeId) { index }) != from)
        continue;
      quoit_fleet_own_nodes (fleet, index)->use[index % QUOIT_NODES_PER_CHUNK] = to;
      g_array_append_val (slices, layout->nodes[index].slice);
    }
  if (own != NULL)
    quoit_fleet_recount_slices (fleet, own);
}

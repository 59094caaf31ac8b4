/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/joined-plan.h"

#include "base/indices.h"
#include "placement/cubes/costs.h"
#include "placement/cubes/cubes.h"

enum { MAX_AVOIDED = 2 /* how often blocks are kept one by one for a repair */ };

static void
count_block (QuoitJoinedPlan *plan, guint32 block)
{
  plan->n_total -= plan->n_slices[block];
  plan->n_slices[block] = quoit_cubing_count_block (plan->cubing, plan->free, block, plan->n_free[block]).least;
  plan->n_total += plan->n_slices[block];
}

void
quoit_joined_plan_init (QuoitJoinedPlan *plan, const QuoitCubing *cubing)
{
  *plan = (QuoitJoinedPlan) { .cubing = cubing, .fork = quoit_fleet_fork (cubing->fleet) };
  plan->fork->is_planned = TRUE;
  quoit_closing_init (&plan->closing);
  plan->free = quoit_cubing_list (cubing, QUOIT_CUBE_FREE);
  plan->closed = g_malloc0 (quoit_cubing_set_bytes (cubing));
  plan->n_free = quoit_cubing_count_by_block (cubing, plan->free);
  plan->n_slices = g_new0 (guint32, quoit_joined_plan_n_blocks (plan) + 1);
  plan->is_kept = g_new0 (guint8, quoit_joined_plan_n_blocks (plan) + 1);
  for (guint32 block = 0; block < quoit_joined_plan_n_blocks (plan); block++)
    count_block (plan, block);
}

static void
closing_copy (const QuoitClosing *closing, QuoitClosing *copy)
{
  quoit_closing_init (copy);
  g_array_append_vals (copy->slices, closing->slices->data, closing->slices->len);
  g_array_append_vals (copy->moves, closing->moves->data, closing->moves->len);
  for (guint i = 0; i < closing->groups->len; i++)
    g_ptr_array_add (copy->groups, quoit_group_data_ref (closing->groups->pdata[i]));
}

void
quoit_joined_plan_copy (const QuoitJoinedPlan *plan, QuoitJoinedPlan *copy)
{
  const gsize n = quoit_joined_plan_n_blocks (plan) + 1;

  *copy = *plan;
  copy->fork = quoit_fleet_fork (plan->fork);
  closing_copy (&plan->closing, &copy->closing);
  copy->free = g_memdup2 (plan->free, quoit_cubing_set_bytes (plan->cubing));
  copy->closed = g_memdup2 (plan->closed, quoit_cubing_set_bytes (plan->cubing));
  copy->n_free = g_memdup2 (plan->n_free, n * sizeof *plan->n_free);
  copy->n_slices = g_memdup2 (plan->n_slices, n * sizeof *plan->n_slices);
  copy->is_kept = g_memdup2 (plan->is_kept, n * sizeof *plan->is_kept);
}

void
quoit_joined_plan_clear (QuoitJoinedPlan *plan)
{
  quoit_fleet_unref (plan->fork);
  quoit_closing_clear (&plan->closing);
  g_free (plan->free);
  g_free (plan->closed);
  g_free (plan->n_free);
  g_free (plan->n_slices);
  g_free (plan->is_kept);
}

/* --- closing --- */

void
quoit_joined_plan_close (QuoitJoinedPlan *plan, const guint32 *cubes, guint n)
{
  const guint first = plan->closing.slices->len;

  for (guint i = 0; i < n; i++)
    if (!quoit_cube_set_has (plan->closed, cubes[i]))
      {
        quoit_cube_set_add (plan->closed, cubes[i]);
        g_array_append_val (plan->closing.slices, cubes[i]);
        if (plan->closing.groups->len > 0 && quoit_cube_set_has (plan->free, cubes[i]))
          plan->is_mixed = TRUE;
      }
  if (plan->closing.slices->len > first)
    quoit_closing_set_states (plan->fork, &g_array_index (plan->closing.slices, guint32, first),
                              plan->closing.slices->len - first, QUOIT_NODE_DRAINING);
}

void
quoit_joined_plan_open_group (QuoitJoinedPlan *plan, const QuoitGroupData *group)
{
  g_autoptr (GArray) opened = g_array_new (FALSE, FALSE, sizeof (guint32)),
                     left = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint32 i = 0; i < group->n_nodes; i++)
    {
      const guint32 cube = quoit_layout_slice_of_id (plan->cubing->fleet->layout, group->node_ids[i]);

      if (cube == QUOIT_NO_INDEX || !quoit_cube_set_has (plan->closed, cube))
        continue;
      quoit_cube_set_remove (plan->closed, cube);
      g_array_append_val (opened, cube);
    }
  for (guint i = 0; i < plan->closing.slices->len; i++)
    if (quoit_cube_set_has (plan->closed, g_array_index (plan->closing.slices, guint32, i)))
      g_array_append_val (left, g_array_index (plan->closing.slices, guint32, i));
  g_array_set_size (plan->closing.slices, 0);
  g_array_append_vals (plan->closing.slices, left->data, left->len);
  quoit_closing_set_states (plan->fork, (const guint32 *) (const void *) opened->data, opened->len, QUOIT_NODE_ALIVE);
}

/* Appends the cubes of the block in @set without those in @without. */
static void
list_cubes (const QuoitJoinedPlan *plan, guint32 block, const QuoitCubeSet *set, const QuoitCubeSet *without,
            GArray *cubes)
{
  const QuoitBlocks *blocks = plan->cubing->blocks;

  for (guint32 i = blocks->blocks[block].first; i < blocks->blocks[block].first + blocks->blocks[block].n; i++)
    if (quoit_cube_set_has (set, blocks->cubes[i]) && !quoit_cube_set_has (without, blocks->cubes[i]))
      g_array_append_val (cubes, blocks->cubes[i]);
}

/* Any cubes make a slice: as many have to stay closed as the slices need besides those that leave. */
static void
keep_any (QuoitJoinedPlan *plan, guint32 block, guint32 n_leaving)
{
  const guint32 n = plan->cubing->n_cubes, n_needed = (plan->n_free[block] + n_leaving) / n * n;
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autofree QuoitCubeSet *set = NULL;
  guint32 n_closed;

  list_cubes (plan, block, plan->free, plan->closed, open);
  n_closed = plan->n_free[block] - open->len + n_leaving;
  if (n_closed >= n_needed)
    return;
  set = g_malloc0 (quoit_cubing_set_bytes (plan->cubing));
  for (guint i = 0; i < open->len; i++)
    quoit_cube_set_add (set, g_array_index (open, guint32, i));
  quoit_cubing_take (plan->cubing, set, block, n_needed - n_closed, (guint32 *) (void *) open->data);
  quoit_joined_plan_close (plan, (const guint32 *) (const void *) open->data, n_needed - n_closed);
}

/* Sets @kept to the positions of the boxes that the free cubes of the block make. */
static void
pack_block (const QuoitJoinedPlan *plan, guint32 block, const QuoitCubeSet *set, const QuoitGrid *grid,
            QuoitHostSet *kept)
{
  const QuoitCubing *cubing = plan->cubing;
  g_autofree guint32 *positions = g_new (guint32, cubing->n_cubes + 1);
  QuoitPackingResult result;
  QuoitHostSet free;

  quoit_host_set_clear (grid, kept);
  quoit_cubing_list_positions (cubing, set, block, grid, &free);
  quoit_cube_question_pack (&(QuoitCubeQuestion) { grid, &free, cubing->turns, cubing->n_turns }, &result);
  for (guint i = 0; i < result.parts->len; i++)
    {
      const QuoitPackedPart *part = &g_array_index (result.parts, QuoitPackedPart, i);

      quoit_grid_list_box (grid, cubing->turns[part->turn].hosts, part->origin, positions);
      for (guint32 c = 0; c < cubing->n_cubes; c++)
        quoit_host_set_add (grid, kept, positions[c]);
    }
  quoit_packing_result_clear (&result);
}

static void
keep_adjacent (QuoitJoinedPlan *plan, guint32 block, const guint32 *leaving, guint n)
{
  g_autofree QuoitCubeSet *set = g_memdup2 (plan->free, quoit_cubing_set_bytes (plan->cubing));
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint n_kept = 0;
  QuoitHostSet kept;
  QuoitGrid grid;

  if (!quoit_cubing_grid (plan->cubing, block, &grid))
    return;
  for (guint i = 0; i < n; i++)
    quoit_cube_set_add (set, leaving[i]);
  pack_block (plan, block, set, &grid, &kept);
  list_cubes (plan, block, plan->free, plan->closed, open);
  for (guint i = 0; i < open->len; i++)
    {
      const guint32 cube = g_array_index (open, guint32, i), position = plan->cubing->blocks->positions[cube];

      if (position != QUOIT_NO_INDEX && quoit_host_set_has (&grid, &kept, position))
        g_array_index (open, guint32, n_kept++) = cube;
    }
  quoit_joined_plan_close (plan, (const guint32 *) (const void *) open->data, n_kept);
}

void
quoit_joined_plan_keep (QuoitJoinedPlan *plan, guint32 block, const guint32 *leaving, guint n)
{
  if (quoit_cubing_is_adjacent (plan->cubing))
    keep_adjacent (plan, block, leaving, n);
  else
    keep_any (plan, block, n);
  plan->is_kept[block] = TRUE;
}

/* --- repairing --- */

/* Counts the cube as free or used from now on. */
static void
set_free (QuoitJoinedPlan *plan, guint32 node_id, gboolean is_free)
{
  const guint32 cube = quoit_layout_slice_of_id (plan->cubing->fleet->layout, node_id);
  const guint32 block = cube == QUOIT_NO_INDEX ? QUOIT_NO_INDEX : plan->cubing->blocks->of_slice[cube];

  if (block == QUOIT_NO_INDEX)
    return;
  (is_free ? quoit_cube_set_add : quoit_cube_set_remove) (plan->free, cube);
  plan->n_free[block] += is_free ? 1 : G_MAXUINT32;
  count_block (plan, block);
}

static gboolean
repair (QuoitJoinedPlan *plan, const QuoitGroupData *group)
{
  const gint64 n_chips = quoit_shape_chips (plan->cubing->request->shape);
  const guint32 n_before = plan->n_total;
  const guint first = plan->closing.moves->len;

  if (!quoit_closing_repair (&plan->closing, &plan->fork, group))
    return FALSE;
  for (guint i = first; i < plan->closing.moves->len; i++)
    {
      QuoitBundleMove *move = &g_array_index (plan->closing.moves, QuoitBundleMove, i);

      set_free (plan, move->to_id, FALSE);
      set_free (plan, move->from_id, TRUE);
      if (i + 1 == plan->closing.moves->len)
        move->gain = ((gint64) plan->n_total - n_before) * n_chips;
    }
  return TRUE;
}

gboolean
quoit_joined_plan_repair (QuoitJoinedPlan *plan, const QuoitGroupData *group, guint64 *steps)
{
  if (*steps == 0)
    return FALSE;
  (*steps)--;
  return repair (plan, group);
}

/* Keeps the blocks that hold fewer slices in @after; with @all, all blocks if there is one. Returns whether that closes
 * cubes. */
static gboolean
keep_spoilt (QuoitJoinedPlan *plan, const QuoitJoinedPlan *after, gboolean all)
{
  const guint n_closed = plan->closing.slices->len;
  gboolean is_spoilt = FALSE;

  for (guint32 block = 0; block < quoit_joined_plan_n_blocks (plan); block++)
    is_spoilt |= !plan->is_kept[block] && after->n_slices[block] < plan->n_slices[block];
  for (guint32 block = 0; block < quoit_joined_plan_n_blocks (plan) && is_spoilt; block++)
    if (!plan->is_kept[block] && (all || after->n_slices[block] < plan->n_slices[block]))
      quoit_joined_plan_keep (plan, block, NULL, 0);
  return plan->closing.slices->len > n_closed;
}

gboolean
quoit_joined_plan_repair_apart (QuoitJoinedPlan *plan, const QuoitGroupData *group, guint64 *steps)
{
  for (guint i = 0;; i++)
    {
      QuoitJoinedPlan after;

      quoit_joined_plan_copy (plan, &after);
      if (!quoit_joined_plan_repair (&after, group, steps))
        return quoit_joined_plan_clear (&after), FALSE;
      if (!keep_spoilt (plan, &after, i >= MAX_AVOIDED))
        {
          quoit_joined_plan_clear (plan);
          *plan = after;
          return TRUE;
        }
      quoit_joined_plan_clear (&after);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Which slices of groups can move, and which of them should leave a block. */
#include "planner/joined-search.h"

#include <string.h>

#include "base/indices.h"

enum { MAX_CHOICES = 64 /* sets of units that are compared for a box of adjacent cubes */ };

/* --- what can move --- */

/* Appends the cubes of slice @slice of the group to @cubes. Returns their block, or QUOIT_NO_INDEX if they are not all
 * intact, undrained cubes of one block. */
static guint32
list_unit (const QuoitCubing *cubing, const QuoitGroupData *group, guint32 slice, GArray *cubes)
{
  const QuoitLayout *layout = cubing->fleet->layout;
  guint32 block = QUOIT_NO_INDEX;

  for (guint32 i = quoit_group_first_node (group, slice); i < group->slice_end[slice]; i++)
    {
      const guint32 node = quoit_layout_find_id (layout, group->node_ids[i]);
      const guint32 cube = node == QUOIT_NO_INDEX ? QUOIT_NO_INDEX : layout->nodes[node].slice;
      const guint32 of_cube = cube == QUOIT_NO_INDEX ? QUOIT_NO_INDEX : cubing->blocks->of_slice[cube];
      const QuoitSliceStatus *status;

      if (of_cube == QUOIT_NO_INDEX || (block != QUOIT_NO_INDEX && of_cube != block))
        return QUOIT_NO_INDEX;
      block = of_cube;
      status = quoit_fleet_slice_status (cubing->fleet, (QuoitSliceId) { cube });
      if ((quoit_slice_status_flags (status) & QUOIT_SLICE_INTACT) == 0 || status->n_draining > 0)
        return QUOIT_NO_INDEX;
      if (layout->nodes[node].worker_id == 0)
        g_array_append_val (cubes, cube);
    }
  return block;
}

/* Returns whether no slice of the group has a lost or draining host, so that a repair moves only what is drained. */
static gboolean
is_healthy (const QuoitFleet *fleet, const QuoitGroupData *group)
{
  for (guint32 i = 0; i < group->n_nodes; i++)
    {
      const guint32 node = quoit_layout_find_id (fleet->layout, group->node_ids[i]);

      if (node == QUOIT_NO_INDEX || quoit_fleet_node_state (fleet, (QuoitNodeId) { node }) != QUOIT_NODE_ALIVE)
        return FALSE;
    }
  return TRUE;
}

static gboolean
can_move (const QuoitFleet *fleet, const QuoitGroupData *group)
{
  return group != NULL && quoit_group_is_callers (group) && group->state != QUOIT_GROUP_REMOVED
         && (group->kind == QUOIT_RECORD_CUBES || quoit_group_has_whole_slices (group))
         && group->state != QUOIT_GROUP_AHEAD && is_healthy (fleet, group);
}

static void
add_units (QuoitUnits *units, const QuoitCubing *cubing, const QuoitGroupData *group)
{
  for (guint32 s = 0; s < group->n_slices; s++)
    {
      QuoitUnit unit = { .first = units->cubes->len, .group = units->groups->len };

      unit.block = list_unit (cubing, group, s, units->cubes);
      unit.slice_first = unit.first;
      unit.n = unit.n_slice = units->cubes->len - unit.first;
      if (unit.block == QUOIT_NO_INDEX || unit.n == 0)
        g_array_set_size (units->cubes, unit.first);
      else
        g_array_append_val (units->units, unit);
    }
  g_ptr_array_add (units->groups, quoit_group_data_ref (group));
}

static gint
by_block (gconstpointer a, gconstpointer b)
{
  const QuoitUnit *x = a, *y = b;

  if (x->block != y->block)
    return x->block < y->block ? -1 : 1;
  if (x->n != y->n)
    return x->n < y->n ? -1 : 1;
  return x->first < y->first ? -1 : x->first > y->first;
}

static void
count_by_block (QuoitUnits *units, guint32 n_blocks)
{
  units->first = g_new0 (guint32, n_blocks + 1);
  for (guint i = 0; i < units->units->len; i++)
    units->first[quoit_unit_at (units, i)->block + 1]++;
  for (guint32 block = 0; block < n_blocks; block++)
    units->first[block + 1] += units->first[block];
}

void
quoit_units_init (QuoitUnits *units, const QuoitCubing *cubing)
{
  *units = (QuoitUnits) { g_array_new (FALSE, FALSE, sizeof (QuoitUnit)), g_array_new (FALSE, FALSE, sizeof (guint32)),
                          g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_group_data_unref), NULL };
  for (guint32 slot = 0; slot < cubing->fleet->n_slots; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (cubing->fleet, slot);

      if (can_move (cubing->fleet, group))
        add_units (units, cubing, group);
    }
  g_array_sort (units->units, by_block);
  count_by_block (units, cubing->blocks == NULL ? 0 : cubing->blocks->n);
}

void
quoit_units_split (const QuoitUnits *units, guint32 n_blocks, QuoitUnits *parts)
{
  *parts = (QuoitUnits) { g_array_new (FALSE, FALSE, sizeof (QuoitUnit)), g_array_ref (units->cubes),
                          g_ptr_array_ref (units->groups), NULL };
  for (guint i = 0; i < units->units->len; i++)
    {
      QuoitUnit part = *quoit_unit_at (units, i);

      for (part.n = 1; part.first < part.slice_first + part.n_slice; part.first++)
        g_array_append_val (parts->units, part);
    }
  count_by_block (parts, n_blocks);
}

void
quoit_units_clear (QuoitUnits *units)
{
  g_array_unref (units->units);
  g_array_unref (units->cubes);
  g_ptr_array_unref (units->groups);
  g_free (units->first);
}

static gint
by_size (gconstpointer a, gconstpointer b, gpointer data)
{
  const guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;
  const guint32 n = quoit_unit_at (data, x)->n_slice, m = quoit_unit_at (data, y)->n_slice;

  if (n != m)
    return n > m ? -1 : 1;
  return x < y ? -1 : x > y;
}

void
quoit_units_sort (const QuoitUnits *units, GArray *chosen)
{
  g_array_sort_with_data (chosen, by_size, (gpointer) units);
}

void
quoit_units_list_cubes (const QuoitUnits *units, const GArray *chosen, GArray *cubes)
{
  for (guint i = 0; i < chosen->len; i++)
    {
      const guint32 unit = g_array_index (chosen, guint32, i);

      g_array_append_vals (cubes, quoit_unit_cubes (units, unit), quoit_unit_at (units, unit)->n);
    }
}

/* --- any cubes --- */

static gboolean
can_leave (const QuoitLeaving *leaving, guint unit)
{
  const QuoitUnit *row = quoit_unit_at (leaving->units, unit);
  const QuoitGroupData *group = leaving->units->groups->pdata[row->group];

  return leaving->can_leave[unit] && (row->n <= leaving->most || group->kind != QUOIT_RECORD_CUBES);
}

static guint32
find_any (const QuoitLeaving *leaving, const QuoitJoinedPlan *plan, guint32 block, GArray *chosen)
{
  const guint first = leaving->units->first[block], end = leaving->units->first[block + 1];
  g_autoptr (GArray) sizes = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) members = g_array_new (FALSE, FALSE, sizeof (guint32));
  const QuoitBlockLoad load = { plan->n_free[block], sizes, plan->n_slices[block], NULL, 0 };
  g_autofree guint8 *is_chosen = g_new0 (guint8, end - first + 1);
  guint32 cost;

  for (guint i = 0; i < end - first; i++)
    {
      const guint32 unit = leaving->small_first ? first + i : end - 1 - i;

      if (!can_leave (leaving, unit))
        continue;
      g_array_append_val (members, unit);
      g_array_append_val (sizes, quoit_unit_at (leaving->units, unit)->n);
    }
  cost = quoit_block_load_find_cheapest (&load, quoit_block_load_need (&load, plan->cubing->n_cubes, 1),
                                         chosen == NULL ? NULL : is_chosen);
  for (guint i = 0; i < members->len && chosen != NULL; i++)
    if (is_chosen[i])
      g_array_append_val (chosen, g_array_index (members, guint32, i));
  return cost;
}

/* --- adjacent cubes --- */

/* Units that have to leave so that a box is free. */
typedef struct {
  guint32 cost;
  guint32 order;
  GArray *units; /* of guint32 */
} Choice;

static void
choice_clear (gpointer data)
{
  g_array_unref (((Choice *) data)->units);
}

static gint
by_cost (gconstpointer a, gconstpointer b)
{
  const Choice *x = a, *y = b;

  if (x->cost != y->cost)
    return x->cost < y->cost ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

#define NOT_FREE (QUOIT_NO_INDEX - 1)

/* Returns for each position of the block the unit that has its cube; QUOIT_NO_INDEX: none; NOT_FREE: the cube is
 * not free, and nothing can leave it. The caller owns the array. */
static guint32 *
list_owners (const QuoitLeaving *leaving, const QuoitJoinedPlan *plan, guint32 block, const QuoitGrid *grid)
{
  const QuoitBlocks *blocks = plan->cubing->blocks;
  const QuoitBlock *row = &blocks->blocks[block];
  const guint32 n = quoit_grid_n_hosts (grid);
  guint32 *owners = g_new (guint32, n + 1);

  for (guint32 i = 0; i < n; i++)
    owners[i] = NOT_FREE;
  for (guint32 i = row->first; i < row->first + row->n; i++)
    if (blocks->positions[blocks->cubes[i]] != QUOIT_NO_INDEX && quoit_cube_set_has (plan->free, blocks->cubes[i]))
      owners[blocks->positions[blocks->cubes[i]]] = QUOIT_NO_INDEX;
  for (guint32 unit = leaving->units->first[block]; unit < leaving->units->first[block + 1]; unit++)
    for (guint32 i = 0; i < quoit_unit_at (leaving->units, unit)->n && can_leave (leaving, unit); i++)
      {
        const guint32 position = blocks->positions[quoit_unit_cubes (leaving->units, unit)[i]];

        if (position != QUOIT_NO_INDEX)
          owners[position] = unit;
      }
  return owners;
}

static gboolean
has_unit (const GArray *units, guint32 unit)
{
  for (guint i = 0; i < units->len; i++)
    if (g_array_index (units, guint32, i) == unit)
      return TRUE;
  return FALSE;
}

/* Adds the units that have cubes of the box, if there are any, and all can leave. */
static void
add_choice (const QuoitLeaving *leaving, const guint32 *owners, const guint32 *positions, guint32 n, GArray *choices)
{
  Choice choice = { 0, choices->len, g_array_new (FALSE, FALSE, sizeof (guint32)) };
  gboolean ok = TRUE;

  for (guint32 i = 0; i < n && ok; i++)
    {
      const guint32 unit = owners[positions[i]];

      ok = unit != NOT_FREE;
      if (!ok || unit == QUOIT_NO_INDEX || has_unit (choice.units, unit))
        continue;
      choice.cost += quoit_unit_at (leaving->units, unit)->n;
      g_array_append_val (choice.units, unit);
    }
  if (ok && choice.units->len > 0)
    g_array_append_val (choices, choice);
  else
    choice_clear (&choice);
}

/* Lists what has to leave for each place of a box. The caller owns the array. */
static GArray *
list_choices (const QuoitLeaving *leaving, const QuoitJoinedPlan *plan, guint32 block, const QuoitGrid *grid)
{
  const QuoitCubing *cubing = plan->cubing;
  g_autofree guint32 *owners = list_owners (leaving, plan, block, grid);
  g_autofree guint32 *positions = g_new (guint32, cubing->n_cubes + 1);
  GArray *choices = g_array_new (FALSE, FALSE, sizeof (Choice));

  g_array_set_clear_func (choices, choice_clear);
  for (guint turn = 0; turn < cubing->n_turns; turn++)
    {
      const QuoitShape box = cubing->turns[turn].hosts;

      for (guint32 z = 0; z + box.dims[2] <= grid->n[2]; z++)
        for (guint32 y = 0; y + box.dims[1] <= grid->n[1]; y++)
          for (guint32 x = 0; x + box.dims[0] <= grid->n[0]; x++)
            {
              quoit_grid_list_box (grid, box, (z * grid->n[1] + y) * grid->n[0] + x, positions);
              add_choice (leaving, owners, positions, cubing->n_cubes, choices);
            }
    }
  g_array_sort (choices, by_cost);
  return choices;
}

/* Returns the cubes that are free without the units. The caller owns the set. */
static QuoitCubeSet *
list_without (const QuoitUnits *units, const QuoitJoinedPlan *plan, const GArray *chosen)
{
  QuoitCubeSet *set = g_memdup2 (plan->free, quoit_cubing_set_bytes (plan->cubing));

  for (guint i = 0; i < chosen->len; i++)
    {
      const guint32 unit = g_array_index (chosen, guint32, i), n = quoit_unit_at (units, unit)->n;

      for (guint32 c = 0; c < n; c++)
        quoit_cube_set_add (set, quoit_unit_cubes (units, unit)[c]);
    }
  return set;
}

/* Returns whether the block holds more slices without the units, which have @n cubes. */
static gboolean
is_enough (const QuoitLeaving *leaving, const QuoitJoinedPlan *plan, guint32 block, const GArray *units, guint32 n)
{
  g_autofree QuoitCubeSet *set = list_without (leaving->units, plan, units);

  return quoit_cubing_count_block (plan->cubing, set, block, plan->n_free[block] + n).least > plan->n_slices[block];
}

static guint32
find_adjacent (const QuoitLeaving *leaving, const QuoitJoinedPlan *plan, guint32 block, GArray *chosen)
{
  g_autoptr (GArray) choices = NULL;
  QuoitGrid grid;

  if (!quoit_cubing_grid (plan->cubing, block, &grid))
    return G_MAXUINT32;
  choices = list_choices (leaving, plan, block, &grid);
  for (guint i = 0; i < choices->len && i < MAX_CHOICES; i++)
    {
      const Choice *choice = &g_array_index (choices, Choice, i);

      if (!is_enough (leaving, plan, block, choice->units, choice->cost))
        continue;
      if (chosen != NULL)
        g_array_append_vals (chosen, choice->units->data, choice->units->len);
      return choice->cost;
    }
  return G_MAXUINT32;
}

guint32
quoit_leaving_find (const QuoitLeaving *leaving, const QuoitJoinedPlan *plan, guint32 block, GArray *chosen)
{
  if (!quoit_cubing_can_hold (plan->cubing, block))
    return G_MAXUINT32;
  return quoit_cubing_is_adjacent (plan->cubing) ? find_adjacent (leaving, plan, block, chosen)
                                                 : find_any (leaving, plan, block, chosen);
}

/* --- loads --- */

/* Sets what a box of adjacent cubes costs at each place of the block, and how many fit when everything has left. */
static void
set_costs (const QuoitUnits *parts, const QuoitJoinedPlan *plan, guint32 block, QuoitBlockLoad *load)
{
  const guint n_parts = parts->units->len, n = parts->first[block + 1] - parts->first[block];
  g_autofree guint8 *can_leave = g_malloc (n_parts + 1);
  const QuoitLeaving leaving = { parts, can_leave, G_MAXUINT32, FALSE };
  g_autoptr (GArray) choices = NULL, all = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autofree QuoitCubeSet *set = NULL;
  QuoitGrid grid;

  load->costs = g_array_new (FALSE, FALSE, sizeof (guint32));
  if (!quoit_cubing_grid (plan->cubing, block, &grid))
    return;
  memset (can_leave, TRUE, n_parts + 1);
  choices = list_choices (&leaving, plan, block, &grid);
  for (guint i = 0; i < choices->len; i++)
    g_array_append_val (load->costs, g_array_index (choices, Choice, i).cost);
  for (guint32 part = parts->first[block]; part < parts->first[block + 1]; part++)
    g_array_append_val (all, part);
  set = list_without (parts, plan, all);
  load->n_packed = quoit_cubing_count_block (plan->cubing, set, block, plan->n_free[block] + n).most;
}

QuoitBlockLoad *
quoit_units_list_loads (const QuoitUnits *units, const QuoitUnits *parts, const QuoitJoinedPlan *plan)
{
  const guint32 n_blocks = quoit_joined_plan_n_blocks (plan);
  QuoitBlockLoad *loads = g_new0 (QuoitBlockLoad, n_blocks + 1);

  for (guint32 block = 0; block < n_blocks; block++)
    {
      loads[block].n_free = plan->n_free[block];
      loads[block].sizes = g_array_new (FALSE, FALSE, sizeof (guint32));
      loads[block].n_slices = quoit_cubing_count_block (plan->cubing, plan->free, block, plan->n_free[block]).most;
      for (guint unit = units->first[block]; unit < units->first[block + 1]; unit++)
        g_array_append_val (loads[block].sizes, quoit_unit_at (units, unit)->n);
      if (quoit_cubing_is_adjacent (plan->cubing))
        set_costs (parts, plan, block, &loads[block]);
    }
  return loads;
}

void
quoit_block_loads_free (QuoitBlockLoad *loads, guint32 n_blocks)
{
  for (guint32 block = 0; block < n_blocks; block++)
    {
      g_array_unref (loads[block].sizes);
      g_clear_pointer (&loads[block].costs, g_array_unref);
    }
  g_free (loads);
}

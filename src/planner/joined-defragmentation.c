/* SPDX-License-Identifier: Apache-2.0 */
/* Moves slices of groups to other blocks, so that the free cubes make more joined slices. A slice leaves its block if
 * its cubes and the free cubes of the block are drained while its group is repaired. */
#include "planner/defragmentation.h"

#include <string.h>

#include "base/indices.h"
#include "placement/cubes/cubing.h"
#include "planner/closing.h"
#include "planner/joined-moves.h"

enum {
  MAX_TRIED = 16, /* slices of which all sets are tried */
  MAX_AVOIDED = 3 /* how often blocks are closed one by one */
};

/* A slice of a group that can move. */
typedef struct {
  guint32 block;
  guint32 first, n; /* its cubes in Search.cubes */
} Unit;

typedef struct {
  const QuoitFleet *fleet;
  QuoitRequest *request;
  QuoitCubing cubing;
  GArray *units, *cubes; /* of Unit; of guint32 */
  QuoitCubeSet *free;    /* before */
  QuoitBlockLoad *loads; /* by block */
  guint32 n_before;      /* slices that can be joined */
  guint32 n_at_most;     /* how many more can ever be */
  guint64 steps;
  QuoitClosing best;
  gint64 n_best; /* slices more */
} Search;

static guint32
n_blocks (const Search *search)
{
  return search->cubing.blocks == NULL ? 0 : search->cubing.blocks->n;
}

static const Unit *
unit_at (const Search *search, guint unit)
{
  return &g_array_index (search->units, Unit, unit);
}

/* Returns how many slices the free cubes of a fork make. */
static guint32
count_slices (const Search *search, const QuoitFleet *fleet)
{
  g_autofree QuoitCubeSet *set = NULL;
  QuoitCubing cubing = search->cubing;
  guint32 least, most;

  cubing.fleet = fleet;
  set = quoit_cubing_list (&cubing, QUOIT_CUBE_FREE);
  quoit_cubing_count (&cubing, set, G_MAXUINT32, &least, &most);
  return least;
}

/* --- what can move --- */

/* Appends the cubes of slice @slice of the group to @cubes. Returns their block, or QUOIT_NO_INDEX if they are not all
 * intact, undrained cubes of one block. */
static guint32
list_unit (const Search *search, const QuoitGroupData *group, guint32 slice, GArray *cubes)
{
  const QuoitLayout *layout = search->fleet->layout;
  guint32 block = QUOIT_NO_INDEX;

  for (guint32 i = quoit_group_first_node (group, slice); i < group->slice_end[slice]; i++)
    {
      const guint32 node = quoit_layout_find_id (layout, group->node_ids[i]);
      const guint32 cube = node == QUOIT_NO_INDEX ? QUOIT_NO_INDEX : layout->nodes[node].slice;
      const guint32 of_cube = cube == QUOIT_NO_INDEX ? QUOIT_NO_INDEX : search->cubing.blocks->of_slice[cube];
      const QuoitSliceStatus *status;

      if (of_cube == QUOIT_NO_INDEX || (block != QUOIT_NO_INDEX && of_cube != block))
        return QUOIT_NO_INDEX;
      block = of_cube;
      status = quoit_fleet_slice_status (search->fleet, (QuoitSliceId) { cube });
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

static void
list_units (Search *search)
{
  const QuoitFleet *fleet = search->fleet;

  for (guint32 slot = 0; slot < fleet->n_slots; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (fleet, slot);

      if (group == NULL || !quoit_group_is_callers (group) || group->state == QUOIT_GROUP_REMOVED
          || (group->kind != QUOIT_RECORD_CUBES && !quoit_group_has_whole_slices (group))
          || group->state == QUOIT_GROUP_AHEAD || !is_healthy (fleet, group))
        continue;
      for (guint32 s = 0; s < group->n_slices; s++)
        {
          Unit unit = { .first = search->cubes->len };

          unit.block = list_unit (search, group, s, search->cubes);
          unit.n = search->cubes->len - unit.first;
          if (unit.block == QUOIT_NO_INDEX || unit.n == 0)
            g_array_set_size (search->cubes, unit.first);
          else
            g_array_append_val (search->units, unit);
        }
    }
}

static void
list_loads (Search *search)
{
  g_autofree guint32 *n_free = quoit_cubing_count_by_block (&search->cubing, search->free);

  search->loads = g_new0 (QuoitBlockLoad, n_blocks (search) + 1);
  for (guint32 block = 0; block < n_blocks (search); block++)
    search->loads[block] = (QuoitBlockLoad) { n_free[block], g_array_new (FALSE, FALSE, sizeof (guint32)) };
  for (guint i = 0; i < search->units->len; i++)
    g_array_append_val (search->loads[unit_at (search, i)->block].sizes, unit_at (search, i)->n);
}

/* --- bounds --- */

/* Moves keep the number of free cubes, except that whole slices can leave the blocks. */
static guint32
bound_gain (const Search *search)
{
  const QuoitClassId class = { search->cubing.candidates.class_index };
  const guint32 n = search->cubing.n_cubes;
  guint64 n_free = 0, n_whole = 0, by_block = 0, n_outside;

  for (guint32 block = 0; block < n_blocks (search); block++)
    {
      n_free += search->loads[block].n_free;
      if (quoit_cubing_can_hold (&search->cubing, block))
        by_block += search->loads[block].n_free / n + quoit_block_load_most (&search->loads[block], n);
      for (guint i = 0; i < search->loads[block].sizes->len; i++)
        n_whole += g_array_index (search->loads[block].sizes, guint32, i) == 1;
    }
  n_outside = quoit_fleet_class_n_free (search->fleet, class) - n_free;
  n_free += MIN (n_whole, n_outside);
  by_block = MIN (by_block, n_free / n);
  return by_block > search->n_before ? (guint32) (by_block - search->n_before) : 0;
}

/* Adjacent cubes can also be moved inside a block. */
static guint32
bound_moves (const Search *search, guint32 n_more)
{
  if (n_more == 0 || quoit_cubing_is_adjacent (&search->cubing))
    return n_more == 0 ? 0 : 1;
  return quoit_block_loads_bound (search->loads, n_blocks (search), search->cubing.n_cubes, n_more);
}

/* --- search --- */

static gboolean
is_better (const Search *search, gint64 n_more, guint n_moves)
{
  return n_more != search->n_best ? n_more > search->n_best : n_moves < search->best.moves->len;
}

static void
add_free_cubes (const Search *search, guint32 block, GArray *slices)
{
  const QuoitBlocks *blocks = search->cubing.blocks;

  for (guint32 i = blocks->blocks[block].first; i < blocks->blocks[block].first + blocks->blocks[block].n; i++)
    if (quoit_cube_set_has (search->free, blocks->cubes[i]))
      g_array_append_val (slices, blocks->cubes[i]);
}

/* Closes the blocks that a move has entered so that they hold fewer slices than before. Returns whether there are any.
 */
static gboolean
close_spoilt (const Search *search, const QuoitClosing *closing, guint8 *is_closed)
{
  const QuoitLayout *layout = search->fleet->layout;
  const guint32 n = search->cubing.n_cubes;
  g_autofree guint32 *n_entered = g_new0 (guint32, n_blocks (search) + 1);
  gboolean found = FALSE;

  for (guint i = 0; i < closing->moves->len; i++)
    {
      const guint32 cube = quoit_layout_slice_of_id (layout, g_array_index (closing->moves, QuoitBundleMove, i).to_id);
      const guint32 block = cube == QUOIT_NO_INDEX ? QUOIT_NO_INDEX : search->cubing.blocks->of_slice[cube];

      if (block != QUOIT_NO_INDEX && !is_closed[block])
        n_entered[block]++;
    }
  for (guint32 block = 0; block < n_blocks (search); block++)
    if (n_entered[block] > 0
        && (search->loads[block].n_free - MIN (n_entered[block], search->loads[block].n_free)) / n
               < search->loads[block].n_free / n)
      is_closed[block] = found = TRUE;
  return found;
}

/* Moves the slices away from the closed blocks, and keeps the plan if it is the best one. Also closes the blocks that
 * were spoilt. Returns FALSE if there are none, or the moves are impossible. */
static gboolean
move (Search *search, const guint8 *members, guint8 *is_closed)
{
  g_autoptr (GArray) slices = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (QuoitFleet) after = NULL;
  QuoitClosing closing;
  gboolean is_spoilt;
  gint64 n_more;

  for (guint i = 0; i < search->units->len; i++)
    if (members[i])
      g_array_append_vals (slices, &g_array_index (search->cubes, guint32, unit_at (search, i)->first),
                           unit_at (search, i)->n);
  for (guint32 block = 0; block < n_blocks (search); block++)
    if (is_closed[block])
      add_free_cubes (search, block, slices);
  if (!quoit_closing_run (&closing, search->fleet, (const guint32 *) (const void *) slices->data, slices->len,
                          &search->steps, &after))
    return FALSE;
  n_more = (gint64) count_slices (search, after) - search->n_before;
  is_spoilt = close_spoilt (search, &closing, is_closed);
  if (is_better (search, n_more, closing.moves->len))
    {
      quoit_closing_clear (&search->best);
      search->best = closing;
      search->n_best = n_more;
    }
  else
    quoit_closing_clear (&closing);
  return is_spoilt;
}

/* Moves the slices in @members to other blocks. Returns whether that gives a better plan. */
static gboolean
try_members (Search *search, const guint8 *members)
{
  const gint64 n_best = search->n_best;
  const guint n_moves = search->best.moves->len;
  g_autofree guint8 *is_closed = g_new0 (guint8, n_blocks (search) + 1);

  if (quoit_cubing_is_adjacent (&search->cubing))
    move (search, members, is_closed);
  memset (is_closed, 0, n_blocks (search) + 1);
  for (guint i = 0; i < search->units->len; i++)
    if (members[i])
      is_closed[unit_at (search, i)->block] = TRUE;
  for (guint i = 0; i < MAX_AVOIDED && move (search, members, is_closed); i++)
    ;
  return search->n_best != n_best || search->best.moves->len != n_moves;
}

/* Sets the members of the block to those that leave it most cheaply so that it holds @n_more slices more. Returns the
 * number of their cubes; G_MAXUINT32: that is impossible. */
static guint32
choose_members (const Search *search, guint32 block, guint32 n_more, guint8 *members)
{
  const QuoitBlockLoad *load = &search->loads[block];
  g_autofree guint8 *chosen = g_new0 (guint8, load->sizes->len + 1);
  const guint32 cost
      = quoit_block_load_find_cheapest (load, quoit_block_load_need (load, search->cubing.n_cubes, n_more), chosen);
  guint at = 0;

  for (guint i = 0; i < search->units->len && cost != G_MAXUINT32 && members != NULL; i++)
    if (unit_at (search, i)->block == block)
      members[i] = chosen[at++];
  return cost;
}

/* Makes block after block hold one slice more, those with the fewest cubes to move first, as long as that helps. */
static void
move_greedily (Search *search)
{
  g_autofree guint32 *n_more = g_new0 (guint32, n_blocks (search) + 1);
  g_autofree guint8 *is_done = g_new0 (guint8, n_blocks (search) + 1);
  g_autofree guint8 *members = g_new0 (guint8, search->units->len + 1);

  while (search->steps > 0 && search->n_best < search->n_at_most)
    {
      guint32 cheapest = QUOIT_NO_INDEX, least = G_MAXUINT32;
      g_autofree guint8 *before = g_memdup2 (members, search->units->len + 1);

      for (guint32 block = 0; block < n_blocks (search); block++)
        {
          const guint32 cost = is_done[block] ? G_MAXUINT32 : choose_members (search, block, n_more[block] + 1, NULL);

          if (cost < least)
            {
              least = cost;
              cheapest = block;
            }
        }
      if (cheapest == QUOIT_NO_INDEX)
        return;
      choose_members (search, cheapest, ++n_more[cheapest], members);
      if (try_members (search, members))
        continue;
      memcpy (members, before, search->units->len + 1);
      is_done[cheapest] = TRUE;
    }
}

/* Tries all sets of slices that can be better than the best plan. Returns FALSE if there are too many, or if the budget
 * ends before. */
static gboolean
try_all_sets (Search *search)
{
  const guint n = search->units->len;

  if (n > MAX_TRIED)
    return search->n_at_most == 0;
  for (guint32 set = 1; set < 1u << n; set++)
    {
      guint8 members[MAX_TRIED] = { 0 };
      guint32 n_cubes = 0;

      for (guint i = 0; i < n; i++)
        {
          members[i] = set >> i & 1;
          n_cubes += members[i] ? unit_at (search, i)->n : 0;
        }
      if (search->n_best == search->n_at_most && n_cubes >= search->best.moves->len)
        continue;
      try_members (search, members);
      /* The last moves of this set may not have been tried. */
      if (search->steps == 0)
        return FALSE;
    }
  return TRUE;
}

/* --- the plan --- */

/* Sets the gain of each group to what the free cubes make after its repair. */
static void
set_gains (Search *search)
{
  const gint64 n_chips = quoit_shape_chips (search->request->shape);
  guint32 before = search->n_before;

  for (guint i = 0; i < search->best.groups->len; i++)
    {
      g_autoptr (QuoitFleet) after = quoit_closing_replay (&search->best, search->fleet, i + 1);
      const guint32 n = after == NULL ? before : count_slices (search, after);

      for (guint m = search->best.moves->len; m-- > 0;)
        if (g_array_index (search->best.moves, QuoitBundleMove, m).group == i)
          {
            g_array_index (search->best.moves, QuoitBundleMove, m).gain = ((gint64) n - before) * n_chips;
            before = n;
            break;
          }
    }
}

static void
set_result (QuoitDefragmentation *defragmentation, Search *search, gboolean is_complete)
{
  const guint64 n_chips = quoit_shape_chips (search->request->shape);

  set_gains (search);
  *defragmentation = (QuoitDefragmentation) { .fleet = quoit_fleet_ref (search->fleet),
                                              .is_joined = TRUE,
                                              .gain = (guint64) search->n_best * n_chips,
                                              .gain_bound = search->n_at_most * n_chips,
                                              .moves_bound = bound_moves (search, (guint32) search->n_best),
                                              .slices = g_array_ref (search->best.slices),
                                              .groups = g_ptr_array_ref (search->best.groups),
                                              .moves = g_array_ref (search->best.moves) };
  if (search->n_best == search->n_at_most && search->best.moves->len == defragmentation->moves_bound)
    defragmentation->state = QUOIT_DEFRAGMENTATION_BEST;
  else
    defragmentation->state = is_complete ? QUOIT_DEFRAGMENTATION_ALL_TRIED : QUOIT_DEFRAGMENTATION_FOUND;
}

static gboolean
has_large_block (const Search *search)
{
  for (guint32 block = 0; block < n_blocks (search); block++)
    if (quoit_cubing_can_hold (&search->cubing, block))
      return TRUE;
  return FALSE;
}

static gboolean
search_init (Search *search, const QuoitFleet *fleet, QuoitRequest *request, guint64 steps, GError **error)
{
  g_autofree char *shape = quoit_shape_format (request->shape);

  *search = (Search) { .fleet = fleet,
                       .request = request,
                       .units = g_array_new (FALSE, FALSE, sizeof (Unit)),
                       .cubes = g_array_new (FALSE, FALSE, sizeof (guint32)),
                       .steps = steps };
  quoit_closing_init (&search->best);
  if (!quoit_request_check_cubes (request, error) || !quoit_cubing_init (&search->cubing, fleet, request, error))
    return FALSE;
  if (!has_large_block (search))
    return quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "no block of %s that can hold a slice of '%s'",
                       quoit_generation_name (request->generation), shape);
  search->free = quoit_cubing_list (&search->cubing, QUOIT_CUBE_FREE);
  search->n_before = count_slices (search, fleet);
  list_units (search);
  list_loads (search);
  search->n_at_most = bound_gain (search);
  return TRUE;
}

static void
search_clear (Search *search)
{
  for (guint32 block = 0; search->loads != NULL && block < n_blocks (search); block++)
    g_array_unref (search->loads[block].sizes);
  g_free (search->loads);
  g_free (search->free);
  g_array_unref (search->units);
  g_array_unref (search->cubes);
  quoit_closing_clear (&search->best);
  quoit_cubing_clear (&search->cubing);
}

gboolean
quoit_defragmentation_plan_joined (QuoitDefragmentation *defragmentation, const QuoitFleet *fleet,
                                   QuoitGeneration generation, QuoitShape shape, QuoitCubes cubes, guint64 steps,
                                   GError **error)
{
  QuoitRequest *request = quoit_request_new ("defrag", NULL);
  Search search;
  gboolean ok;

  request->generation = generation;
  request->shape = shape;
  request->cubes = cubes;
  request->n_slices = 1;
  ok = search_init (&search, fleet, request, steps, error);
  if (ok)
    {
      move_greedily (&search);
      set_result (defragmentation, &search, try_all_sets (&search));
    }
  search_clear (&search);
  quoit_request_free (request);
  return ok;
}

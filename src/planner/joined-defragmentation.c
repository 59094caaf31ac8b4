/* SPDX-License-Identifier: Apache-2.0 */
/* Moves slices of groups to other blocks, so that the free cubes make more joined slices. A slice leaves its block if
 * its cubes and the free cubes of the block that it must not get are drained while its group is repaired. */
#include "placement/rows.h"
#include "planner/joined-search.h"
#include "planner/slots.h"

/* --- the best plan --- */

gboolean
quoit_joined_search_is_done (const QuoitJoinedSearch *search)
{
  return search->best.n_total >= search->start.n_total + search->n_at_most
         && search->best.closing.moves->len <= search->moves_bound;
}

static gboolean
is_better (const QuoitJoinedPlan *plan, const QuoitJoinedPlan *other)
{
  if (plan->n_total != other->n_total)
    return plan->n_total > other->n_total;
  if (plan->closing.moves->len != other->closing.moves->len)
    return plan->closing.moves->len < other->closing.moves->len;
  return plan->closing.groups->len < other->closing.groups->len;
}

void
quoit_joined_search_offer (QuoitJoinedSearch *search, const QuoitJoinedPlan *plan)
{
  if (!is_better (plan, &search->best))
    return;
  quoit_joined_plan_clear (&search->best);
  quoit_joined_plan_copy (plan, &search->best);
}

/* --- bounds --- */

/* Moves keep the number of free cubes, except that whole slices can leave the blocks. */
static guint32
bound_gain (const QuoitJoinedSearch *search, const QuoitBlockLoad *loads)
{
  const QuoitClassId class = { search->cubing->candidates.class_index };
  const guint32 n = search->cubing->n_cubes, n_before = search->start.n_total;
  guint64 n_free = 0, n_whole = 0, by_block = 0, n_outside;

  for (guint32 block = 0; block < quoit_joined_plan_n_blocks (&search->start); block++)
    {
      n_free += loads[block].n_free;
      if (quoit_cubing_can_hold (search->cubing, block))
        by_block += loads[block].n_slices + quoit_block_load_most (&loads[block], n);
      for (guint i = 0; i < loads[block].sizes->len; i++)
        n_whole += g_array_index (loads[block].sizes, guint32, i) == 1;
    }
  n_outside = quoit_fleet_class_n_free (search->cubing->fleet, class) - n_free;
  n_free += MIN (n_whole, n_outside);
  by_block = MIN (by_block, n_free / n);
  return by_block > n_before ? (guint32) (by_block - n_before) : 0;
}

/* Returns a number of cubes: fewer moves cannot make @n_more slices more. */
static guint32
bound_moves (const QuoitJoinedSearch *search, const QuoitBlockLoad *loads, guint32 n_more)
{
  const guint32 n_blocks = quoit_joined_plan_n_blocks (&search->start);
  guint32 n_at_most = 0;

  /* More slices may have been possible without moves. */
  for (guint32 block = 0; block < n_blocks; block++)
    n_at_most += loads[block].n_slices;
  n_at_most -= search->start.n_total;
  return n_more <= n_at_most ? 0
                             : quoit_block_loads_bound (loads, n_blocks, search->cubing->n_cubes, n_more - n_at_most);
}

/* --- the plan --- */

static void
set_result (QuoitDefragmentation *defragmentation, const QuoitJoinedSearch *search, const QuoitBlockLoad *loads,
            gboolean is_complete)
{
  const QuoitClosing *best = &search->best.closing;
  const guint64 n_chips = quoit_shape_chips (search->cubing->request->shape);
  const guint32 n_more = search->best.n_total - search->start.n_total;

  quoit_numbers_sort ((guint32 *) (void *) best->slices->data, best->slices->len);
  *defragmentation = (QuoitDefragmentation) { .fleet = quoit_fleet_ref (search->cubing->fleet),
                                              .is_joined = TRUE,
                                              .gain = n_more * n_chips,
                                              .gain_bound = search->n_at_most * n_chips,
                                              .moves_bound = bound_moves (search, loads, n_more),
                                              .slices = g_array_ref (best->slices),
                                              .groups = g_ptr_array_ref (best->groups),
                                              .moves = g_array_ref (best->moves) };
  if (n_more == search->n_at_most && best->moves->len == defragmentation->moves_bound)
    defragmentation->state = QUOIT_DEFRAGMENTATION_BEST;
  else
    defragmentation->state = is_complete ? QUOIT_DEFRAGMENTATION_ALL_TRIED : QUOIT_DEFRAGMENTATION_FOUND;
}

static const QuoitJoinedManner manners[] = { { FALSE, FALSE }, { TRUE, FALSE }, { TRUE, TRUE }, { FALSE, TRUE } };

/* Moves whole slices, and for adjacent cubes also only those cubes of a slice that are in the way. Returns whether all
 * sets were tried. */
static gboolean
run_search (QuoitJoinedSearch *search)
{
  const gboolean is_adjacent = quoit_cubing_is_adjacent (search->cubing);
  gboolean is_complete;

  for (guint i = 0; i < 2 * G_N_ELEMENTS (manners) && search->steps > 0 && !quoit_joined_search_is_done (search); i++)
    if (i % 2 == 0 || is_adjacent)
      quoit_joined_search_greedily (search, i % 2 == 0 ? &search->units : &search->parts, manners[i / 2]);
  is_complete = is_adjacent && quoit_joined_search_all (search, &search->parts);
  is_complete = is_complete || quoit_joined_search_all (search, &search->units);
  return is_complete;
}

static void
search_plan (QuoitDefragmentation *defragmentation, const QuoitCubing *cubing, guint64 steps)
{
  QuoitJoinedSearch search = { .cubing = cubing, .steps = steps };
  QuoitBlockLoad *loads;
  gboolean is_complete;

  quoit_units_init (&search.units, cubing);
  quoit_joined_plan_init (&search.start, cubing);
  quoit_joined_plan_copy (&search.start, &search.best);
  quoit_units_split (&search.units, quoit_joined_plan_n_blocks (&search.start), &search.parts);
  loads = quoit_units_list_loads (&search.units, &search.parts, &search.start);
  search.n_at_most = bound_gain (&search, loads);
  search.moves_bound = bound_moves (&search, loads, search.n_at_most);
  is_complete = run_search (&search);
  set_result (defragmentation, &search, loads, is_complete);
  quoit_block_loads_free (loads, quoit_joined_plan_n_blocks (&search.start));
  quoit_joined_plan_clear (&search.best);
  quoit_joined_plan_clear (&search.start);
  quoit_units_clear (&search.parts);
  quoit_units_clear (&search.units);
}

static gboolean
has_large_block (const QuoitCubing *cubing)
{
  for (guint32 block = 0; cubing->blocks != NULL && block < cubing->blocks->n; block++)
    if (quoit_cubing_can_hold (cubing, block))
      return TRUE;
  return FALSE;
}

static gboolean
plan (QuoitDefragmentation *defragmentation, const QuoitFleet *fleet, const QuoitRequest *request, guint64 steps,
      GError **error)
{
  g_autofree char *shape = quoit_shape_format (request->shape);
  g_auto (QuoitCubing) cubing = { 0 };

  if (!quoit_request_check_cubes (request, error) || !quoit_cubing_init (&cubing, fleet, request, error))
    return FALSE;
  if (!has_large_block (&cubing))
    return quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "no block of %s that can hold a slice of '%s'%s",
                       quoit_generation_name (request->generation), shape, quoit_slots_position_hint (request->cubes));
  search_plan (defragmentation, &cubing, steps);
  return TRUE;
}

gboolean
quoit_defragmentation_plan_joined (QuoitDefragmentation *defragmentation, const QuoitFleet *fleet,
                                   QuoitGeneration generation, QuoitShape shape, QuoitCubes cubes, guint64 steps,
                                   GError **error)
{
  QuoitRequest *request = quoit_request_new ("defrag", NULL);
  gboolean ok;

  request->generation = generation;
  request->shape = shape;
  request->cubes = cubes;
  request->n_slices = 1;
  ok = plan (defragmentation, fleet, request, steps, error);
  quoit_request_free (request);
  return ok;
}

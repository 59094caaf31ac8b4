/* SPDX-License-Identifier: Apache-2.0 */
/* Moves units away from block after block, each time on the fork of the moves before. */
#include "planner/joined-search.h"

#include <string.h>

#include "base/indices.h"

enum { MAX_ROUNDS = 3 /* how often a plan is made from the beginning again, and continued */ };

typedef struct {
  QuoitJoinedSearch *search;
  const QuoitUnits *units;
  QuoitJoinedPlan plan;
  guint8 *can_leave; /* by unit */
  guint8 *is_done;   /* by block: no more is tried */
  guint8 *is_stale;  /* by block: its cost is unknown */
  guint32 *costs;    /* by block: cubes that have to leave it for one slice more */
  guint32 most;      /* the greatest rest of a block */
  QuoitJoinedManner manner;
} Attempt;

/* --- choosing a block --- */

/* Returns how many free cubes of the block none of its slices needs. */
static guint32
count_rest (const QuoitJoinedPlan *plan, guint32 block)
{
  return plan->n_free[block] - plan->n_slices[block] * plan->cubing->n_cubes;
}

/* Returns the greatest rest of a block other than @except. */
static guint32
find_most (const QuoitJoinedPlan *plan, guint32 except)
{
  guint32 most = 0;

  for (guint32 block = 0; block < quoit_joined_plan_n_blocks (plan); block++)
    if (block != except)
      most = MAX (most, count_rest (plan, block));
  return most;
}

static guint32
find_leaving (const Attempt *attempt, guint32 block, GArray *chosen)
{
  /* Adjacent cubes can also move inside their block. */
  const guint32 own = quoit_cubing_is_adjacent (attempt->search->cubing) ? attempt->plan.n_free[block] : 0;
  const QuoitLeaving leaving = { attempt->units, attempt->can_leave, MAX (find_most (&attempt->plan, block), own),
                                 attempt->manner.small_first };

  return quoit_leaving_find (&leaving, &attempt->plan, block, chosen);
}

/* Returns the block with the fewest cubes to move, or QUOIT_NO_INDEX. */
static guint32
find_block (Attempt *attempt)
{
  guint32 least = G_MAXUINT32, found = QUOIT_NO_INDEX;

  for (guint32 block = 0; block < quoit_joined_plan_n_blocks (&attempt->plan); block++)
    {
      if (attempt->is_done[block])
        continue;
      if (attempt->is_stale[block])
        attempt->costs[block] = find_leaving (attempt, block, NULL);
      attempt->is_stale[block] = FALSE;
      if (attempt->costs[block] == G_MAXUINT32 || attempt->costs[block] > least
          || (attempt->costs[block] == least && !attempt->manner.last_first))
        continue;
      least = attempt->costs[block];
      found = block;
    }
  return found;
}

/* --- moving --- */

static void
mark_all_stale (Attempt *attempt)
{
  memset (attempt->is_stale, TRUE, quoit_joined_plan_n_blocks (&attempt->plan) + 1);
}

static void
give_up_unit (Attempt *attempt, guint32 unit)
{
  attempt->can_leave[unit] = FALSE;
  attempt->is_stale[quoit_unit_at (attempt->units, unit)->block] = TRUE;
}

/* Marks the blocks whose cost has changed. @before: the plan with fewer groups. */
static void
mark_stale (Attempt *attempt, const QuoitJoinedPlan *before)
{
  const QuoitUnits *units = attempt->units;
  const guint32 most = find_most (&attempt->plan, QUOIT_NO_INDEX);

  for (guint32 block = 0; block < quoit_joined_plan_n_blocks (before); block++)
    attempt->is_stale[block] |= before->n_free[block] != attempt->plan.n_free[block];
  for (guint unit = 0; unit < units->units->len; unit++)
    for (guint i = before->closing.groups->len; i < attempt->plan.closing.groups->len; i++)
      if (attempt->plan.closing.groups->pdata[i] == quoit_unit_group (units, unit))
        {
          /* The one repair of a group moves everything of it that moves. */
          give_up_unit (attempt, unit);
        }
  /* Units that were chosen can be too large now. */
  if (most != attempt->most)
    mark_all_stale (attempt);
  attempt->most = most;
}

/* Returns the block with the least rest that is enough for @n cubes; QUOIT_NO_INDEX: none. */
static guint32
find_fitting (const guint32 *rests, guint32 n_blocks, guint32 n)
{
  guint32 found = QUOIT_NO_INDEX;

  for (guint32 block = 0; block < n_blocks; block++)
    if (rests[block] >= n && (found == QUOIT_NO_INDEX || rests[block] < rests[found]))
      found = block;
  return found;
}

/* Returns how many cubes of their own block the units may enter, so that it holds one slice more. */
static guint32
count_own_rest (const Attempt *attempt, guint32 block, const GArray *chosen)
{
  const guint32 n_needed = (attempt->plan.n_slices[block] + 1) * attempt->search->cubing->n_cubes;
  guint32 n_free = attempt->plan.n_free[block];

  for (guint i = 0; i < chosen->len; i++)
    n_free += quoit_unit_at (attempt->units, g_array_index (chosen, guint32, i))->n;
  return quoit_cubing_is_adjacent (attempt->search->cubing) ? n_free - n_needed : 0;
}

/* Returns a unit for which the rests of the blocks are too small, after the units before it; QUOIT_NO_INDEX: none is
 * known. So no repair is needed to find that out. */
static guint32
find_too_large (const Attempt *attempt, guint32 from, const GArray *chosen)
{
  const guint32 n_blocks = quoit_joined_plan_n_blocks (&attempt->plan);
  g_autofree guint32 *rests = g_new0 (guint32, n_blocks + 1);

  /* The rest of a slice that loses a cube can stay. */
  if (attempt->units != &attempt->search->units)
    return QUOIT_NO_INDEX;
  for (guint32 block = 0; block < n_blocks; block++)
    rests[block] = block == from ? count_own_rest (attempt, from, chosen) : count_rest (&attempt->plan, block);
  for (guint i = 0; i < chosen->len; i++)
    {
      const guint32 unit = g_array_index (chosen, guint32, i);
      const QuoitUnit *row = quoit_unit_at (attempt->units, unit);
      const QuoitGroupData *group = attempt->units->groups->pdata[row->group];
      const guint32 block = find_fitting (rests, n_blocks, row->n);

      /* Whole cubes can also leave the blocks. */
      if (block == QUOIT_NO_INDEX && group->kind == QUOIT_RECORD_CUBES)
        return unit;
      if (block != QUOIT_NO_INDEX)
        rests[block] -= row->n;
    }
  return QUOIT_NO_INDEX;
}

/* Repairs the groups of the units, and closes blocks that they must not enter. Sets *@failed to the unit that found no
 * place. */
static gboolean
repair_groups (Attempt *attempt, QuoitJoinedPlan *plan, const GArray *chosen, guint32 *failed)
{
  QuoitJoinedSearch *search = attempt->search;

  for (guint i = 0; i < chosen->len; i++)
    {
      const guint32 unit = g_array_index (chosen, guint32, i);
      const QuoitGroupData *group = quoit_unit_group (attempt->units, unit);

      if (g_ptr_array_find (plan->closing.groups, group, NULL)
          || quoit_joined_plan_repair_apart (plan, group, &search->steps))
        continue;
      *failed = unit;
      return FALSE;
    }
  return TRUE;
}

/* Keeps the blocks that a failed plan has found to be spoilt. */
static void
keep_again (Attempt *attempt, const QuoitJoinedPlan *failed, guint32 from)
{
  for (guint32 block = 0; block < quoit_joined_plan_n_blocks (failed); block++)
    if (block != from && failed->is_kept[block] && !attempt->plan.is_kept[block])
      quoit_joined_plan_keep (&attempt->plan, block, NULL, 0);
}

/* Moves the chosen units, so that the block holds one slice more. Otherwise, marks what is not to be tried again. */
static void
move_units (Attempt *attempt, guint32 block, const GArray *chosen)
{
  g_autoptr (GArray) cubes = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint32 failed = QUOIT_NO_INDEX;
  QuoitJoinedPlan next;

  quoit_units_list_cubes (attempt->units, chosen, cubes);
  quoit_joined_plan_copy (&attempt->plan, &next);
  quoit_joined_plan_keep (&next, block, (const guint32 *) (const void *) cubes->data, cubes->len);
  quoit_joined_plan_close (&next, (const guint32 *) (const void *) cubes->data, cubes->len);
  if (repair_groups (attempt, &next, chosen, &failed) && next.n_total > attempt->plan.n_total)
    {
      const QuoitJoinedPlan before = attempt->plan;

      attempt->plan = next;
      mark_stale (attempt, &before);
      next = before;
    }
  else
    {
      keep_again (attempt, &next, block);
      if (failed != QUOIT_NO_INDEX)
        give_up_unit (attempt, failed);
      else
        attempt->is_done[block] = TRUE;
    }
  quoit_joined_plan_clear (&next);
}

static void
move_from (Attempt *attempt, guint32 block)
{
  g_autoptr (GArray) chosen = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint32 too_large;

  find_leaving (attempt, block, chosen);
  quoit_units_sort (attempt->units, chosen);
  too_large = find_too_large (attempt, block, chosen);
  if (too_large != QUOIT_NO_INDEX)
    give_up_unit (attempt, too_large);
  else
    move_units (attempt, block, chosen);
}

/* Continues the plan as long as there are steps to make it from the beginning again. */
static void
extend (Attempt *attempt)
{
  QuoitJoinedSearch *search = attempt->search;

  while (search->steps > attempt->plan.closing.groups->len
         && attempt->plan.n_total < search->start.n_total + search->n_at_most)
    {
      const guint32 block = find_block (attempt);

      if (block == QUOIT_NO_INDEX)
        return;
      move_from (attempt, block);
    }
}

/* --- from the beginning --- */

/* Makes the plan with all its cubes closed from the beginning, as its user does. Returns whether it has the same
 * result. */
static gboolean
make_again (Attempt *attempt)
{
  QuoitJoinedSearch *search = attempt->search;
  const QuoitClosing *closing = &attempt->plan.closing;
  QuoitJoinedPlan again;
  gboolean is_same;

  quoit_joined_plan_copy (&search->start, &again);
  quoit_joined_plan_close (&again, (const guint32 *) (const void *) closing->slices->data, closing->slices->len);
  memcpy (again.is_kept, attempt->plan.is_kept, quoit_joined_plan_n_blocks (&again));
  for (guint i = 0; i < closing->groups->len; i++)
    if (!quoit_joined_plan_repair (&again, closing->groups->pdata[i], &search->steps))
      quoit_joined_plan_open_group (&again, closing->groups->pdata[i]);
  is_same = again.n_total >= attempt->plan.n_total;
  quoit_joined_plan_clear (&attempt->plan);
  attempt->plan = again;
  return is_same;
}

static void
attempt_clear (Attempt *attempt)
{
  quoit_joined_plan_clear (&attempt->plan);
  g_free (attempt->can_leave);
  g_free (attempt->is_done);
  g_free (attempt->is_stale);
  g_free (attempt->costs);
}

void
quoit_joined_search_greedily (QuoitJoinedSearch *search, const QuoitUnits *units, QuoitJoinedManner manner)
{
  const guint32 n_blocks = quoit_joined_plan_n_blocks (&search->start);
  Attempt attempt = { .search = search,
                      .units = units,
                      .can_leave = g_malloc (units->units->len + 1),
                      .is_done = g_new0 (guint8, n_blocks + 1),
                      .is_stale = g_new0 (guint8, n_blocks + 1),
                      .costs = g_new0 (guint32, n_blocks + 1),
                      .manner = manner };

  memset (attempt.can_leave, TRUE, units->units->len);
  quoit_joined_plan_copy (&search->start, &attempt.plan);
  mark_all_stale (&attempt);
  attempt.most = find_most (&attempt.plan, QUOIT_NO_INDEX);
  for (guint i = 0; i < MAX_ROUNDS; i++)
    {
      gboolean is_same;

      extend (&attempt);
      is_same = !attempt.plan.is_mixed || make_again (&attempt);
      quoit_joined_search_offer (search, &attempt.plan);
      if (is_same)
        break;
      mark_all_stale (&attempt);
    }
  attempt_clear (&attempt);
}

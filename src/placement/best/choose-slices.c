/* SPDX-License-Identifier: Apache-2.0 */
/* Policy `best` for whole slices. "Small" and "large" are the numbers of free slices of a pool here. The slices come
 * from the smallest pool that suffices. If no pool suffices, all free slices of the largest pools are chosen, and
 * the rest comes from the smallest pool that suffices for it. Large pools are spared for later requests. Equal pools
 * are used in natural order.
 *
 * The ranks of the fleet sort the pools of a class by their number of free slices, so that a choice does not visit
 * them all. */
#include "placement/placement.h"

#include <stdlib.h>
#include <string.h>

#include "placement/rows.h"

void
quoit_plan_init (QuoitPlan *plan)
{
  plan->n = 0;
  plan->capacity = G_N_ELEMENTS (plan->inline_slices);
  plan->slices = plan->inline_slices;
}

void
quoit_plan_clear (QuoitPlan *plan)
{
  if (plan->slices != plan->inline_slices)
    g_free (plan->slices);
  quoit_plan_init (plan);
}

void
quoit_plan_append (QuoitPlan *plan, guint32 slice)
{
  if (plan->n == plan->capacity)
    {
      plan->capacity *= 2;
      plan->slices = plan->slices == plan->inline_slices
                         ? memcpy (g_new (guint32, plan->capacity), plan->inline_slices, sizeof plan->inline_slices)
                         : g_renew (guint32, plan->slices, plan->capacity);
    }
  plan->slices[plan->n++] = slice;
}

/* Slices are appended by pool and are sorted within a pool, so that they are usually sorted already. */
static void
sort_slices (QuoitPlan *plan)
{
  for (guint32 i = 1; i < plan->n; i++)
    if (plan->slices[i] < plan->slices[i - 1])
      {
        quoit_numbers_sort (plan->slices, plan->n);
        return;
      }
}

/* --- every slice of the class is eligible: use the ranks --- */

static void
append_first (const QuoitFleet *fleet, const QuoitShelf *shelf, guint32 n, QuoitPlan *plan)
{
  guint32 at = shelf->first_slice;

  for (; n > 0; n--, at++)
    {
      at = quoit_bits_next (&fleet->free_slices, at);
      quoit_plan_append (plan, at);
    }
}

/* The pools of a class that have not been used up. Row c has the ranks of the pools with c free slices. Pools are
 * used up from the largest row down. What remains are the rows below `fullest`, and the ranks from `next` on in row
 * `fullest`. */
typedef struct {
  const guint32 *row; /* row[c]: the first rank of pools with c free slices */
  guint32 largest, fullest, next;
} RemainingPools;

/* Returns the rank of the remaining pool with the fewest free slices, but at least @n. If there is no such pool,
 * returns QUOIT_BITS_NONE. */
static guint32
find_sufficient (const QuoitFleet *fleet, const RemainingPools *remaining, guint32 n)
{
  guint32 rank;

  if (n > remaining->largest)
    return QUOIT_BITS_NONE;
  rank = quoit_bits_next (&fleet->ranks, remaining->row[n]);
  if (rank < remaining->row[remaining->fullest])
    return rank;
  if (remaining->fullest > remaining->largest || n > remaining->fullest)
    return QUOIT_BITS_NONE;
  rank = quoit_bits_next (&fleet->ranks, remaining->next);
  return rank < remaining->row[remaining->fullest + 1] ? rank : QUOIT_BITS_NONE;
}

/* Returns the rank of the fullest remaining pool, which must exist. */
static guint32
next_fullest (const QuoitFleet *fleet, RemainingPools *remaining)
{
  guint32 rank = QUOIT_BITS_NONE, shelf;

  if (remaining->fullest <= remaining->largest)
    rank = quoit_bits_next (&fleet->ranks, remaining->next);
  if (remaining->fullest > remaining->largest || rank >= remaining->row[remaining->fullest + 1])
    {
      shelf = fleet->layout->rank_shelf[quoit_bits_previous (&fleet->ranks, remaining->row[remaining->fullest])];
      remaining->fullest
          = quoit_tally_get (quoit_fleet_shelf_tally (fleet, (QuoitShelfId) { shelf }), QUOIT_SLICE_FREE);
      rank = quoit_bits_next (&fleet->ranks, remaining->row[remaining->fullest]);
    }
  remaining->next = rank + 1;
  return rank;
}

static gboolean
choose_by_rank (const QuoitFleet *fleet, guint32 class_index, guint32 n, QuoitPlan *plan)
{
  const QuoitLayout *layout = fleet->layout;
  const QuoitClass *class = &layout->classes[class_index];
  RemainingPools remaining = { &layout->rows[class->first_row], class->largest, class->largest + 1, 0 };
  guint32 rank;

  if (quoit_tally_get (quoit_fleet_class_tally (fleet, (QuoitClassId) { class_index }), QUOIT_SLICE_FREE) < n)
    return FALSE;

  while ((rank = find_sufficient (fleet, &remaining, n)) == QUOIT_BITS_NONE)
    {
      rank = next_fullest (fleet, &remaining);
      append_first (fleet, &layout->shelves[layout->rank_shelf[rank]], remaining.fullest, plan);
      n -= remaining.fullest;
    }
  append_first (fleet, &layout->shelves[layout->rank_shelf[rank]], n, plan);
  sort_slices (plan);
  return TRUE;
}

/* --- some slices are not eligible: count the eligible ones by pool --- */

typedef struct {
  guint32 shelf, n_free;
} ShelfCount;

static gboolean
is_free_candidate (const QuoitFleet *fleet, const QuoitCandidates *candidates, guint32 slice)
{
  return candidates->eligible[slice] && quoit_bits_has (&fleet->free_slices, slice);
}

/* Sorts by the number of free slices, the largest first; equal ones by pool. */
static int
by_free (const void *a, const void *b)
{
  const ShelfCount *x = a, *y = b;

  if (x->n_free != y->n_free)
    return x->n_free > y->n_free ? -1 : 1;
  return (x->shelf > y->shelf) - (x->shelf < y->shelf);
}

/* Returns the earliest of the smallest sufficient counts in counts[first] to counts[end - 1]. counts[first] must
 * suffice. */
static guint32
smallest_sufficient (const ShelfCount *counts, guint32 first, guint32 end, guint32 n)
{
  guint32 last = first;

  while (last + 1 < end && counts[last + 1].n_free >= n)
    last++;
  while (last > first && counts[last - 1].n_free == counts[last].n_free)
    last--;
  return last;
}

static void
append_eligible (const QuoitFleet *fleet, const QuoitCandidates *candidates, guint32 shelf, guint32 n, QuoitPlan *plan)
{
  for (guint32 s = fleet->layout->shelves[shelf].first_slice; n > 0; s++)
    if (is_free_candidate (fleet, candidates, s))
      {
        quoit_plan_append (plan, s);
        n--;
      }
}

static gboolean
choose_by_count (const QuoitFleet *fleet, const QuoitCandidates *candidates, guint32 n, QuoitPlan *plan)
{
  const QuoitLayout *layout = fleet->layout;
  g_autofree ShelfCount *counts = g_new (ShelfCount, layout->n_shelves + 1);
  guint32 n_counts = 0, total = 0;

  for (guint32 h = 0; h < layout->n_shelves; h++)
    {
      const QuoitShelf *shelf = &layout->shelves[h];
      ShelfCount count = { h, 0 };

      if (shelf->class_index != candidates->class_index)
        continue;
      for (guint32 s = shelf->first_slice; s < shelf->first_slice + shelf->n_slices; s++)
        count.n_free += is_free_candidate (fleet, candidates, s);
      if (count.n_free > 0)
        counts[n_counts++] = count;
      total += count.n_free;
    }
  if (total < n)
    return FALSE;

  qsort (counts, n_counts, sizeof *counts, by_free);
  for (guint32 k = 0; n > 0; k++)
    {
      guint32 i = counts[k].n_free >= n ? smallest_sufficient (counts, k, n_counts, n) : k;
      guint32 take = MIN (n, counts[i].n_free);

      append_eligible (fleet, candidates, counts[i].shelf, take, plan);
      n -= take;
    }
  sort_slices (plan);
  return TRUE;
}

gboolean
quoit_best_choose (const QuoitFleet *fleet, const QuoitCandidates *candidates, guint32 n, QuoitPlan *plan)
{
  plan->n = 0;
  if (candidates->class_index == QUOIT_NO_INDEX)
    return FALSE;
  return candidates->unconstrained ? choose_by_rank (fleet, candidates->class_index, n, plan)
                                   : choose_by_count (fleet, candidates, n, plan);
}

gboolean
quoit_best_choose_all_free (const QuoitFleet *fleet, const QuoitCandidates *candidates, guint32 min, QuoitPlan *plan)
{
  guint32 n = 0;

  if (candidates->class_index == QUOIT_NO_INDEX)
    return plan->n = 0, FALSE;
  if (candidates->unconstrained)
    n = quoit_tally_get (quoit_fleet_class_tally (fleet, (QuoitClassId) { candidates->class_index }), QUOIT_SLICE_FREE);
  else
    for (guint32 s = 0; s < fleet->layout->n_slices; s++)
      n += is_free_candidate (fleet, candidates, s);
  return n >= min && quoit_best_choose (fleet, candidates, n, plan);
}

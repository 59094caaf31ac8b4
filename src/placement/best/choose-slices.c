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
      remaining->fullest = quoit_fleet_shelf_n_free (fleet, (QuoitShelfId) { shelf });
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

  if (quoit_fleet_class_n_free (fleet, (QuoitClassId) { class_index }) < n)
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

/* --- some slices are not eligible: count the free eligible ones by pool --- */

typedef struct {
  guint32 shelf, n_free;
} ShelfCount;

/* Returns the eligible slices that are free, of the 64 slices from 64 * @w on. */
static guint64
free_word (const QuoitFleet *fleet, const QuoitCandidates *candidates, guint32 w)
{
  return candidates->eligible[w] & quoit_bits_word (&fleet->free_slices, w);
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

/* Returns the first of the smallest counts that are at least @n, or NULL. */
static const ShelfCount *
smallest_sufficient (const ShelfCount *counts, guint32 n_counts, guint32 n)
{
  const ShelfCount *best = NULL;

  for (const ShelfCount *count = counts; count < counts + n_counts; count++)
    if (count->n_free >= n && (best == NULL || count->n_free < best->n_free))
      best = count;
  return best;
}

static void
append_eligible (const QuoitFleet *fleet, const QuoitCandidates *candidates, guint32 shelf, guint32 n, QuoitPlan *plan)
{
  guint32 first = fleet->layout->shelves[shelf].first_slice, w = first / 64;
  guint64 word = free_word (fleet, candidates, w) & ~(guint64) 0 << (first % 64);

  for (; n > 0; n--, word &= word - 1)
    {
      while (word == 0)
        word = free_word (fleet, candidates, ++w);
      quoit_plan_append (plan, w * 64 + (guint32) __builtin_ctzll (word));
    }
}

/* Counts the free eligible slices of each shelf that has some, and returns the sum. Sets *@counts, which the caller
 * owns. */
static guint32
count_by_shelf (const QuoitFleet *fleet, const QuoitCandidates *candidates, ShelfCount **counts, guint32 *n_counts)
{
  const QuoitLayout *layout = fleet->layout;
  guint32 n = 0, total = 0, end = 0; /* of the current shelf */

  *counts = g_new (ShelfCount, layout->n_shelves + 1);
  for (guint32 w = 0; w < candidates->n_words; w++)
    for (guint64 word = free_word (fleet, candidates, w), here; word != 0; word &= ~here)
      {
        guint32 slice = w * 64 + (guint32) __builtin_ctzll (word);

        if (slice >= end)
          {
            guint32 shelf = layout->slices[slice].shelf;

            (*counts)[n++] = (ShelfCount) { shelf, 0 };
            end = layout->shelves[shelf].first_slice + layout->shelves[shelf].n_slices;
          }
        here = end - w * 64 >= 64 ? word : word & (((guint64) 1 << (end - w * 64)) - 1);
        (*counts)[n - 1].n_free += (guint32) __builtin_popcountll (here);
        total += (guint32) __builtin_popcountll (here);
      }
  *n_counts = n;
  return total;
}

static gboolean
choose_by_count (const QuoitFleet *fleet, const QuoitCandidates *candidates, guint32 n, QuoitPlan *plan)
{
  g_autofree ShelfCount *counts = NULL;
  const ShelfCount *best;
  guint32 n_counts;

  if (count_by_shelf (fleet, candidates, &counts, &n_counts) < n)
    return FALSE;
  best = smallest_sufficient (counts, n_counts, n);
  if (best == NULL)
    qsort (counts, n_counts, sizeof *counts, by_free);
  for (guint32 k = 0; best == NULL; k++)
    {
      append_eligible (fleet, candidates, counts[k].shelf, counts[k].n_free, plan);
      n -= counts[k].n_free;
      best = smallest_sufficient (counts + k + 1, n_counts - k - 1, n);
    }
  append_eligible (fleet, candidates, best->shelf, n, plan);
  sort_slices (plan);
  return TRUE;
}

/* Returns the number of free candidates. */
static guint32
count_free (const QuoitFleet *fleet, const QuoitCandidates *candidates)
{
  guint32 n = 0;

  if (candidates->eligible == NULL)
    return quoit_fleet_class_n_free (fleet, (QuoitClassId) { candidates->class_index });
  for (guint32 w = 0; w < candidates->n_words; w++)
    n += (guint32) __builtin_popcountll (free_word (fleet, candidates, w));
  return n;
}

gboolean
quoit_best_choose (const QuoitFleet *fleet, const QuoitCandidates *candidates, guint32 n, QuoitPlan *plan)
{
  plan->n = 0;
  if (candidates->class_index == QUOIT_NO_INDEX)
    return FALSE;
  return candidates->eligible == NULL ? choose_by_rank (fleet, candidates->class_index, n, plan)
                                      : choose_by_count (fleet, candidates, n, plan);
}

gboolean
quoit_best_choose_all_free (const QuoitFleet *fleet, const QuoitCandidates *candidates, guint32 min, QuoitPlan *plan)
{
  guint32 n = 0;

  if (candidates->class_index == QUOIT_NO_INDEX)
    return plan->n = 0, FALSE;
  n = count_free (fleet, candidates);
  return n >= min && quoit_best_choose (fleet, candidates, n, plan);
}

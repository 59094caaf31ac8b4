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
quoit_plan_grow (QuoitPlan *plan)
{
  plan->capacity *= 2;
  plan->slices = plan->slices == plan->inline_slices
                     ? memcpy (g_new (guint32, plan->capacity), plan->inline_slices, sizeof plan->inline_slices)
                     : g_renew (guint32, plan->slices, plan->capacity);
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

/* --- free slices --- */

/* Returns the candidates that are free, of the 64 slices from 64 * @w on. */
static guint64
free_word (const QuoitFleet *fleet, const QuoitEligible *eligible, guint32 w)
{
  return eligible->slices[w] & quoit_bits_word (&fleet->free_slices, w);
}

/* Appends the first @n free candidates of the shelf. */
static void
append_first (const QuoitFleet *fleet, const QuoitEligible *eligible, guint32 shelf, guint32 n, QuoitPlan *plan)
{
  const QuoitShelf *row = &fleet->layout->shelves[shelf];
  guint32 at = row->first_slice;

  if (n == row->n_slices)
    {
      /* All are free. */
      for (; n > 0; n--)
        quoit_plan_append (plan, at++);
      return;
    }
  while (n > 0)
    {
      guint64 word
          = eligible == NULL ? quoit_bits_word (&fleet->free_slices, at / 64) : free_word (fleet, eligible, at / 64);

      for (word &= ~(guint64) 0 << (at % 64); word != 0 && n > 0; word &= word - 1, n--)
        quoit_plan_append (plan, (at & ~63u) + (guint32) __builtin_ctzll (word));
      if (n > 0)
        at = quoit_bits_next (&fleet->free_slices, (at | 63) + 1);
    }
}

/* Returns the number of free candidates. */
static guint32
count_free (const QuoitFleet *fleet, const QuoitCandidates *candidates)
{
  guint32 n = 0;

  if (candidates->eligible == NULL)
    return quoit_fleet_class_n_free (fleet, (QuoitClassId) { candidates->class_index });
  for (guint32 w = 0; w < candidates->eligible->n_words; w++)
    n += quoit_bits_count (free_word (fleet, candidates->eligible, w));
  return n;
}

/* A shelf of which @n_free candidates are free. */
typedef struct {
  guint32 shelf, n_free;
} FreeShelf;

#define NO_SHELF ((FreeShelf) { QUOIT_NO_INDEX, 0 })

/* Returns whether the first shelf fits a request better: it has fewer free slices, and comes first if they are equal.
 */
static gboolean
fits_better (FreeShelf a, FreeShelf b)
{
  if (a.shelf == QUOIT_NO_INDEX || b.shelf == QUOIT_NO_INDEX)
    return b.shelf == QUOIT_NO_INDEX;
  return a.n_free != b.n_free ? a.n_free < b.n_free : a.shelf < b.shelf;
}

/* Returns whether the first shelf is used up before the other: it has more free slices, or comes first. */
static gboolean
is_fuller (FreeShelf a, FreeShelf b)
{
  if (a.shelf == QUOIT_NO_INDEX || b.shelf == QUOIT_NO_INDEX)
    return b.shelf == QUOIT_NO_INDEX;
  return a.n_free != b.n_free ? a.n_free > b.n_free : a.shelf < b.shelf;
}

/* --- whole shelves: all of their slices are candidates, and the ranks of the fleet find the best one --- */

/* The shelves that have not been used up. Row c has the ranks of the shelves with c free slices. Shelves are used up
 * from the largest row down. What remains are the rows below `fullest`, and the ranks from `next` on in row `fullest`.
 */
typedef struct {
  const QuoitFleet *fleet;
  const guint64 *ranks; /* of the candidates; NULL: all */
  const guint32 *row;   /* row[c]: the first rank of shelves with c free slices */
  guint32 largest, fullest, next;
} WholeShelves;

static WholeShelves
whole_shelves (const QuoitFleet *fleet, const QuoitCandidates *candidates)
{
  const QuoitClass *class = &fleet->layout->classes[candidates->class_index];

  return (WholeShelves) { fleet,
                          candidates->eligible == NULL ? NULL : candidates->eligible->ranks,
                          &fleet->layout->rows[class->first_row],
                          class->largest,
                          class->largest + 1,
                          0 };
}

/* Returns the first rank in [@from, @end) that a whole shelf has, or QUOIT_BITS_NONE. */
static guint32
first_rank (const WholeShelves *shelves, guint32 from, guint32 end)
{
  const QuoitBits *ranks = &shelves->fleet->ranks;
  guint64 mask = ~(guint64) 0 << (from % 64);
  guint32 rank = QUOIT_BITS_NONE;

  if (shelves->ranks == NULL)
    rank = quoit_bits_next (ranks, from);
  for (guint32 w = from / 64; shelves->ranks != NULL && w * 64 < end && rank == QUOIT_BITS_NONE;
       w++, mask = ~(guint64) 0)
    {
      guint64 word = shelves->ranks[w] & mask;

      if (word != 0 && (word &= quoit_bits_word (ranks, w)) != 0)
        rank = w * 64 + (guint32) __builtin_ctzll (word);
    }
  return rank < end ? rank : QUOIT_BITS_NONE;
}

/* Returns the last rank in [@first, @below) that a whole shelf has, or QUOIT_BITS_NONE. */
static guint32
last_rank (const WholeShelves *shelves, guint32 first, guint32 below)
{
  const QuoitBits *ranks = &shelves->fleet->ranks;
  guint32 rank = QUOIT_BITS_NONE;

  if (first >= below)
    return QUOIT_BITS_NONE;
  if (shelves->ranks == NULL)
    rank = quoit_bits_previous (ranks, below);
  else
    for (guint32 at = below - 1; rank == QUOIT_BITS_NONE; at = at / 64 * 64 - 1)
      {
        guint64 word = shelves->ranks[at / 64] & quoit_bits_word (ranks, at / 64) & ~(guint64) 0 >> (63 - at % 64);

        if (word != 0)
          rank = at / 64 * 64 + 63 - (guint32) __builtin_clzll (word);
        if (at / 64 * 64 <= first)
          break;
      }
  return rank != QUOIT_BITS_NONE && rank >= first ? rank : QUOIT_BITS_NONE;
}

static FreeShelf
shelf_of_rank (const WholeShelves *shelves, guint32 rank)
{
  guint32 shelf;

  if (rank == QUOIT_BITS_NONE)
    return NO_SHELF;
  shelf = shelves->fleet->layout->rank_shelf[rank];
  return (FreeShelf) { shelf, quoit_fleet_shelf_n_free (shelves->fleet, (QuoitShelfId) { shelf }) };
}

/* Returns the remaining shelf with the fewest free slices, but at least @n. */
static FreeShelf
sufficient_whole (const WholeShelves *shelves, guint32 n)
{
  guint32 rank = QUOIT_BITS_NONE;

  if (n < shelves->fullest && n <= shelves->largest)
    rank = first_rank (shelves, shelves->row[n], shelves->row[shelves->fullest]);
  if (rank == QUOIT_BITS_NONE && n <= shelves->fullest && shelves->fullest <= shelves->largest)
    rank = first_rank (shelves, shelves->next, shelves->row[shelves->fullest + 1]);
  return shelf_of_rank (shelves, rank);
}

/* Returns the fullest remaining shelf, which has the rank `next` then. Increase `next` to use it up. */
static FreeShelf
fullest_whole (WholeShelves *shelves)
{
  guint32 rank = QUOIT_BITS_NONE;

  if (shelves->fullest <= shelves->largest)
    rank = first_rank (shelves, shelves->next, shelves->row[shelves->fullest + 1]);
  if (rank == QUOIT_BITS_NONE)
    {
      FreeShelf shelf = shelf_of_rank (shelves, last_rank (shelves, shelves->row[1], shelves->row[shelves->fullest]));

      shelves->fullest = shelf.n_free;
      if (shelf.shelf == QUOIT_NO_INDEX)
        return shelf;
      rank = first_rank (shelves, shelves->row[shelf.n_free], shelves->row[shelf.n_free + 1]);
    }
  shelves->next = rank;
  return (FreeShelf) { shelves->fleet->layout->rank_shelf[rank], shelves->fullest };
}

/* Uses up the fullest remaining shelves, of which all slices are candidates, as long as a request for @n slices needs
 * all of the next one. Stops at the end of a row. Returns the number of slices that were appended. */
static guint32
use_up_row (WholeShelves *shelves, guint32 n, QuoitPlan *plan)
{
  const guint32 n_free = fullest_whole (shelves).n_free, end = shelves->row[n_free + 1];
  const guint32 *rank_shelf = shelves->fleet->layout->rank_shelf;
  guint32 rank = shelves->next, left = n;

  while (rank < end && left > n_free)
    {
      const guint32 first = rank & ~63u;
      guint64 word = quoit_bits_word (&shelves->fleet->ranks, rank / 64) & quoit_bits_range_mask (rank, end);

      for (; word != 0 && left > n_free; word &= word - 1, left -= n_free)
        append_first (shelves->fleet, NULL, rank_shelf[first + (guint32) __builtin_ctzll (word)], n_free, plan);
      rank = word != 0 ? first + (guint32) __builtin_ctzll (word) : first + 64;
    }
  shelves->next = rank;
  return n - left;
}

/* --- partial shelves: only some of their slices are candidates, which are counted --- */

typedef struct {
  FreeShelf *shelves; /* those that remain */
  guint32 n;
  gboolean is_sorted; /* the fullest first */
} PartialShelves;

static int
by_fullness (const void *a, const void *b)
{
  return is_fuller (*(const FreeShelf *) a, *(const FreeShelf *) b) ? -1 : 1;
}

static guint32
count_free_on_shelf (const QuoitFleet *fleet, const QuoitEligible *eligible, const QuoitShelf *shelf)
{
  guint32 end = shelf->first_slice + shelf->n_slices, n = 0;

  for (guint32 at = shelf->first_slice; at < end; at = (at | 63) + 1)
    n += quoit_bits_count (free_word (fleet, eligible, at / 64) & quoit_bits_range_mask (at, end));
  return n;
}

/* @buffer: a place for all partial shelves. */
static PartialShelves
partial_shelves (const QuoitFleet *fleet, const QuoitEligible *eligible, FreeShelf *buffer)
{
  PartialShelves partial = { buffer, 0, FALSE };

  for (guint32 i = 0; eligible != NULL && i < eligible->n_partial; i++)
    {
      guint32 n = count_free_on_shelf (fleet, eligible, &fleet->layout->shelves[eligible->partial[i]]);

      if (n > 0)
        buffer[partial.n++] = (FreeShelf) { eligible->partial[i], n };
    }
  return partial;
}

static FreeShelf
sufficient_partial (const PartialShelves *partial, guint32 n)
{
  FreeShelf best = NO_SHELF;

  for (guint32 i = 0; i < partial->n; i++)
    if (partial->shelves[i].n_free >= n && fits_better (partial->shelves[i], best))
      best = partial->shelves[i];
  return best;
}

static FreeShelf
fullest_partial (PartialShelves *partial)
{
  if (!partial->is_sorted && partial->n > 0)
    qsort (partial->shelves, partial->n, sizeof *partial->shelves, by_fullness);
  partial->is_sorted = TRUE;
  return partial->n > 0 ? partial->shelves[0] : NO_SHELF;
}

/* --- both --- */

/* Returns the remaining shelf with the fewest free candidates, but at least @n. */
static FreeShelf
find_sufficient (const WholeShelves *whole, const PartialShelves *partial, guint32 n)
{
  FreeShelf a = sufficient_whole (whole, n), b = sufficient_partial (partial, n);

  return fits_better (a, b) ? a : b;
}

/* Removes the fullest shelf, which must exist, from those that remain. */
static FreeShelf
use_up_fullest (WholeShelves *whole, PartialShelves *partial)
{
  FreeShelf a = fullest_whole (whole), b = partial->n == 0 ? NO_SHELF : fullest_partial (partial);

  if (b.shelf == QUOIT_NO_INDEX || is_fuller (a, b))
    return whole->next++, a;
  partial->shelves++;
  partial->n--;
  return b;
}

G_GNUC_NO_INLINE static gboolean
choose (const QuoitFleet *fleet, const QuoitCandidates *candidates, guint32 n, QuoitPlan *plan)
{
  FreeShelf few[64], best;
  guint32 n_partial = candidates->eligible == NULL ? 0 : candidates->eligible->n_partial;
  g_autofree FreeShelf *many = n_partial > G_N_ELEMENTS (few) ? g_new (FreeShelf, n_partial) : NULL;
  WholeShelves whole = whole_shelves (fleet, candidates);
  PartialShelves partial = partial_shelves (fleet, candidates->eligible, many != NULL ? many : few);

  best = find_sufficient (&whole, &partial, n);
  if (best.shelf == QUOIT_NO_INDEX && count_free (fleet, candidates) < n)
    return FALSE;
  while (best.shelf == QUOIT_NO_INDEX)
    {
      guint32 most; /* no remaining shelf has more */

      if (candidates->eligible == NULL)
        {
          n -= use_up_row (&whole, n, plan);
          most = whole.fullest;
        }
      else
        {
          FreeShelf fullest = use_up_fullest (&whole, &partial);

          append_first (fleet, candidates->eligible, fullest.shelf, fullest.n_free, plan);
          n -= fullest.n_free;
          most = fullest.n_free;
        }
      if (n <= most)
        best = find_sufficient (&whole, &partial, n);
    }
  append_first (fleet, candidates->eligible, best.shelf, n, plan);
  sort_slices (plan);
  return TRUE;
}

/* Does the same as choose() for most requests: all slices of the class are candidates, and one shelf suffices. */
static gboolean
choose_on_whole_shelf (const QuoitFleet *fleet, const QuoitCandidates *candidates, guint32 n, QuoitPlan *plan)
{
  const QuoitLayout *layout = fleet->layout;
  const QuoitClass *class = &layout->classes[candidates->class_index];
  const guint32 *row = &layout->rows[class->first_row];
  guint32 rank;

  if (candidates->eligible != NULL || n > class->largest)
    return FALSE;
  rank = quoit_bits_next (&fleet->ranks, row[n]);
  if (rank >= row[class->largest + 1])
    return FALSE;
  if (n == 1)
    quoit_plan_append (plan,
                       quoit_bits_next (&fleet->free_slices, layout->shelves[layout->rank_shelf[rank]].first_slice));
  else
    append_first (fleet, NULL, layout->rank_shelf[rank], n, plan);
  return TRUE;
}

gboolean
quoit_best_choose (const QuoitFleet *fleet, const QuoitCandidates *candidates, guint32 n, QuoitPlan *plan)
{
  plan->n = 0;
  return candidates->class_index != QUOIT_NO_INDEX
         && (choose_on_whole_shelf (fleet, candidates, n, plan) || choose (fleet, candidates, n, plan));
}

gboolean
quoit_best_choose_on_one_shelf (const QuoitFleet *fleet, const QuoitCandidates *candidates, guint32 least, guint32 most,
                                QuoitPlan *plan)
{
  const guint32 n_partial = candidates->eligible == NULL ? 0 : candidates->eligible->n_partial;
  g_autofree FreeShelf *buffer = g_new (FreeShelf, n_partial + 1);
  WholeShelves whole = whole_shelves (fleet, candidates);
  PartialShelves partial = partial_shelves (fleet, candidates->eligible, buffer);
  FreeShelf best = find_sufficient (&whole, &partial, most);

  plan->n = 0;
  if (best.shelf == QUOIT_NO_INDEX)
    {
      FreeShelf a = fullest_whole (&whole), b = fullest_partial (&partial);

      best = is_fuller (a, b) ? a : b;
    }
  if (best.n_free < least)
    return FALSE;
  append_first (fleet, candidates->eligible, best.shelf, MIN (best.n_free, most), plan);
  return TRUE;
}

gboolean
quoit_best_choose_on_many_shelves (const QuoitFleet *fleet, const QuoitCandidates *candidates, guint32 n,
                                   QuoitPlan *plan)
{
  const WholeShelves whole = whole_shelves (fleet, candidates);
  const guint32 end = whole.row[whole.largest + 1];
  guint32 rank = whole.row[1];

  plan->n = 0;
  if (candidates->eligible != NULL)
    return FALSE;
  while (plan->n < n && rank < end && (rank = first_rank (&whole, rank, end)) != QUOIT_BITS_NONE)
    append_first (fleet, NULL, shelf_of_rank (&whole, rank++).shelf, 1, plan);
  sort_slices (plan);
  return plan->n == n;
}

void
quoit_best_append_first (const QuoitFleet *fleet, guint32 shelf, guint32 n, QuoitPlan *plan)
{
  append_first (fleet, NULL, shelf, n, plan);
}

enum { MOST_REFUSED = 64 };

gboolean
quoit_best_append_on_shelf (const QuoitFleet *fleet, guint32 class_index, guint32 n,
                            gboolean (*accepts) (gconstpointer data, guint32 shelf), gconstpointer data,
                            QuoitPlan *plan)
{
  const WholeShelves whole = whole_shelves (fleet, &(QuoitCandidates) { class_index, NULL });
  const guint32 end = whole.row[whole.largest + 1];
  guint32 rank = n > whole.largest ? end : whole.row[n];

  for (guint i = 0; i < MOST_REFUSED && (rank = first_rank (&whole, rank, end)) != QUOIT_BITS_NONE; i++, rank++)
    {
      const guint32 shelf = shelf_of_rank (&whole, rank).shelf;

      if (!accepts (data, shelf))
        continue;
      append_first (fleet, NULL, shelf, n, plan);
      return TRUE;
    }
  return FALSE;
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

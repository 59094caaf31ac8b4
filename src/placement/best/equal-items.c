/* SPDX-License-Identifier: Apache-2.0 */
/* The fewest bins are those with the largest capacities; let their number be m. It is harder to minimize the slices
 * of m bins that suffice. This file uses a bound that depends on a threshold c. The excess of a bin is its capacity
 * above c, and the excess of a slice is the sum over its bins. m bins in t slices, and in no slice, take at most
 *
 *   m * c + the excess of the t slices + the excess of all bins in no slice
 *
 * items. Therefore t slices are too few if this does not suffice for the t slices with the largest excess. These
 * slices are also the ones that are tried. Several thresholds are used: the best bound and the best attempt count. */
#include "placement/best/equal-items.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_THRESHOLDS = 32 };

typedef struct {
  guint32 bin;
  guint32 slice; /* numbered in the order of first use; QUOIT_NO_INDEX: none */
  guint32 capacity;
} Bin;

typedef struct {
  const QuoitBestSubproblem *subproblem;
  Bin *bins; /* bins that can take items, the largest capacity first; equal ones in the order of the view */
  guint32 n_bins;
  guint32 n_slices;
  guint32 n_needed; /* m: the minimum number of bins */
} EqualItems;

static guint32
slice_number (GHashTable *numbers, guint32 slice)
{
  gpointer number;

  if (slice == QUOIT_NO_INDEX)
    return QUOIT_NO_INDEX;
  number = g_hash_table_lookup (numbers, GUINT_TO_POINTER (slice + 1));
  if (number != NULL)
    return GPOINTER_TO_UINT (number) - 1;
  g_hash_table_insert (numbers, GUINT_TO_POINTER (slice + 1), GUINT_TO_POINTER (g_hash_table_size (numbers) + 1));
  return g_hash_table_size (numbers) - 1;
}

/* A counting sort, because there are at most as many different capacities as items. */
static void
sort_bins (EqualItems *equal_items)
{
  guint32 max = equal_items->subproblem->n_items;
  g_autofree guint32 *from
      = g_new0 (guint32, (gsize) max + 2); /* of each capacity, from the largest: index of its next bin */
  Bin *sorted = g_new0 (Bin, equal_items->n_bins + 1);

  for (guint32 i = 0; i < equal_items->n_bins; i++)
    from[max - equal_items->bins[i].capacity + 1]++;
  for (guint32 h = 0; h < max; h++)
    from[h + 1] += from[h];
  for (guint32 i = 0; i < equal_items->n_bins; i++)
    sorted[from[max - equal_items->bins[i].capacity]++] = equal_items->bins[i];
  g_free (equal_items->bins);
  equal_items->bins = sorted;
}

/* Returns FALSE if all bins together cannot take all items. */
static gboolean
collect_bins (EqualItems *equal_items)
{
  const QuoitBestSubproblem *subproblem = equal_items->subproblem;
  g_autoptr (GHashTable) numbers = g_hash_table_new (NULL, NULL);
  guint64 n_taken = 0;

  for (guint32 bin = 0; bin < subproblem->n_bins; bin++)
    {
      guint32 bin_class = quoit_best_subproblem_bin_class (subproblem, bin), capacity = 0;

      if (quoit_best_passes_filter (subproblem->problem, subproblem->item_classes[0], bin_class))
        capacity
            = quoit_best_capacity (subproblem->problem, subproblem->item_classes[0], bin_class, subproblem->n_items);
      if (capacity > 0)
        equal_items->bins[equal_items->n_bins++]
            = (Bin) { bin, slice_number (numbers, quoit_best_subproblem_slice (subproblem, bin)), capacity };
    }
  equal_items->n_slices = g_hash_table_size (numbers);
  sort_bins (equal_items);
  while (n_taken < subproblem->n_items && equal_items->n_needed < equal_items->n_bins)
    n_taken += equal_items->bins[equal_items->n_needed++].capacity;
  return n_taken >= subproblem->n_items;
}

/* Writes the n_needed largest bins of the chosen slices and of no slice to @chosen, which may be NULL. Returns how many
 * items they can take, or 0 if there are fewer than n_needed bins. */
static guint64
largest_bins (const EqualItems *equal_items, const gboolean *is_chosen, guint32 *chosen)
{
  guint64 n_taken = 0;
  guint32 n = 0;

  for (guint32 i = 0; i < equal_items->n_bins && n < equal_items->n_needed; i++)
    {
      const Bin *bin = &equal_items->bins[i];

      if (bin->slice != QUOIT_NO_INDEX && !is_chosen[bin->slice])
        continue;
      n_taken += bin->capacity;
      if (chosen != NULL)
        chosen[n] = bin->bin;
      n++;
    }
  return n < equal_items->n_needed ? 0 : n_taken;
}

/* --- few slices --- */

typedef struct {
  guint64 excess;
  guint32 n_bins; /* number of bins whose capacity is at least the threshold */
  guint32 slice;
} SliceExcess;

static int
largest_excess_first (const void *a, const void *b)
{
  const SliceExcess *x = a, *y = b;

  if (x->excess != y->excess)
    return x->excess > y->excess ? -1 : 1;
  if (x->n_bins != y->n_bins)
    return x->n_bins > y->n_bins ? -1 : 1;
  return (x->slice > y->slice) - (x->slice < y->slice);
}

/* Computes the excess of each slice, and sorts the slices by it. Returns the excess of all bins in no slice. */
static guint64
compute_excess (const EqualItems *equal_items, guint32 threshold, SliceExcess *slices)
{
  guint64 outside = 0;

  for (guint32 s = 0; s < equal_items->n_slices; s++)
    slices[s] = (SliceExcess) { 0, 0, s };
  for (guint32 i = 0; i < equal_items->n_bins && equal_items->bins[i].capacity >= threshold; i++)
    if (equal_items->bins[i].slice == QUOIT_NO_INDEX)
      outside += equal_items->bins[i].capacity - threshold;
    else
      {
        slices[equal_items->bins[i].slice].excess += equal_items->bins[i].capacity - threshold;
        slices[equal_items->bins[i].slice].n_bins++;
      }
  qsort (slices, equal_items->n_slices, sizeof *slices, largest_excess_first);
  return outside;
}

/* Returns a lower bound of the number of slices, from the formula at the top. */
static guint32
min_slices (const EqualItems *equal_items, guint32 threshold, guint64 outside, const SliceExcess *slices)
{
  guint64 max = (guint64) equal_items->n_needed * threshold + outside;
  guint32 t = 0;

  while (t < equal_items->n_slices && max < equal_items->subproblem->n_items)
    max += slices[t++].excess;
  return t;
}

/* Returns how many of the first slices in @slices suffice, if fewer than @limit, otherwise @limit. */
static guint32
sufficient_slices (const EqualItems *equal_items, const SliceExcess *slices, guint32 limit, gboolean *is_chosen)
{
  guint32 low = 0, high = MIN (limit, equal_items->n_slices + 1);

  while (low < high)
    {
      guint32 middle = low + (high - low) / 2;

      memset (is_chosen, 0, (equal_items->n_slices + 1) * sizeof *is_chosen);
      for (guint32 t = 0; t < MIN (middle, equal_items->n_slices); t++)
        is_chosen[slices[t].slice] = TRUE;
      if (largest_bins (equal_items, is_chosen, NULL) >= equal_items->subproblem->n_items)
        high = middle;
      else
        low = middle + 1;
    }
  return low;
}

/* Collects thresholds: 0, and capacities around that of the last of the m largest bins. */
static guint32
find_thresholds (const EqualItems *equal_items, guint32 *thresholds)
{
  guint32 n = 0, i = equal_items->n_needed - 1, last = equal_items->bins[i].capacity;

  thresholds[n++] = last;
  for (; i > 0 && n < MAX_THRESHOLDS / 2; i--)
    if (equal_items->bins[i - 1].capacity != thresholds[n - 1])
      thresholds[n++] = equal_items->bins[i - 1].capacity;
  for (i = equal_items->n_needed; i < equal_items->n_bins && n < MAX_THRESHOLDS; i++)
    if (equal_items->bins[i].capacity != last)
      last = thresholds[n++] = equal_items->bins[i].capacity;
  thresholds[n++] = 0;
  return n;
}

/* For each threshold c (see the top of this file), tries the slices with the largest excess. Writes the bins of the
 * attempt with the fewest slices to @chosen. Returns whether fewer slices are proven to be too few. */
static gboolean
choose_bins (const EqualItems *equal_items, guint32 *chosen)
{
  g_autofree SliceExcess *slices = g_new0 (SliceExcess, equal_items->n_slices + 1);
  g_autofree gboolean *is_chosen = g_new0 (gboolean, equal_items->n_slices + 1);
  guint32 thresholds[MAX_THRESHOLDS + 1], n = find_thresholds (equal_items, thresholds);
  guint32 min = 0, found = QUOIT_NO_INDEX;

  for (guint32 i = 0; i < n && found > min; i++)
    {
      guint64 outside = compute_excess (equal_items, thresholds[i], slices);
      guint32 bound = min_slices (equal_items, thresholds[i], outside, slices), n_sufficient;

      min = MAX (min, bound);
      n_sufficient = sufficient_slices (equal_items, slices, found, is_chosen);
      if (n_sufficient >= found)
        continue;
      found = n_sufficient;
      memset (is_chosen, 0, (equal_items->n_slices + 1) * sizeof *is_chosen);
      for (guint32 t = 0; t < n_sufficient; t++)
        is_chosen[slices[t].slice] = TRUE;
      largest_bins (equal_items, is_chosen, chosen);
    }
  return found <= min;
}

/* --- the placement --- */

gboolean
quoit_best_pack_equal_items (const QuoitBestSubproblem *subproblem, QuoitBestSolution *solution)
{
  EqualItems equal_items = { .subproblem = subproblem };
  g_autofree guint32 *chosen = NULL;
  guint32 item = 0;
  gboolean is_possible, is_proven;

  equal_items.bins = g_new0 (Bin, subproblem->n_bins + 1);
  is_possible = collect_bins (&equal_items);
  chosen = g_new (guint32, equal_items.n_needed + 1);
  is_proven = !is_possible || choose_bins (&equal_items, chosen);
  g_free (equal_items.bins);
  if (!is_possible)
    return TRUE;

  quoit_numbers_sort (chosen, equal_items.n_needed);
  for (guint32 i = 0; i < equal_items.n_needed; i++)
    {
      guint32 capacity
          = quoit_best_capacity (subproblem->problem, subproblem->item_classes[0],
                                 quoit_best_subproblem_bin_class (subproblem, chosen[i]), subproblem->n_items - item);

      for (guint32 h = 0; h < capacity; h++)
        solution->bins[item++] = chosen[i];
    }
  quoit_best_solution_measure (solution, subproblem);
  solution->result = QUOIT_BEST_FOUND;
  return is_proven;
}

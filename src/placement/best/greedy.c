/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/best/greedy.h"

#include "placement/best/order.h"

enum {
  WHOLE = 1 << 20,    /* the tightness of an item that takes all of one resource that is left */
  MAX_TESTS = 4000000 /* tests of an item class on a bin; a subproblem that may need more is not tried */
};

/* --- item by item --- */

/* Returns which part of @left the next item takes, summed over resources like in Ray's scorer. */
static guint64
tightness (const QuoitBestPartial *partial, const gint64 *left)
{
  const gint64 *amounts
      = quoit_best_amounts (partial->subproblem->problem,
                            partial->subproblem->item_classes[partial->order[partial->phase[partial->n_placed]]]);
  guint64 sum = 0;

  for (guint32 r = 0; r < partial->n_resources; r++)
    if (amounts[r] > 0)
      sum += (guint64) ((__int128) amounts[r] * WHOLE / left[r]);
  return sum;
}

/* The best bin for the next item so far. */
typedef struct {
  QuoitBestFit fit;
  guint64 tightness;
  guint32 index; /* index of an open bin; for an unopened one: of its run */
  gboolean is_found, is_new;
} BestBin;

static void
keep_if_better (BestBin *best, guint64 bin_tightness, guint32 index, gboolean is_new)
{
  if (best->is_found
      && (best->fit == QUOIT_BEST_FIT_TIGHT ? bin_tightness <= best->tightness : bin_tightness >= best->tightness))
    return;
  *best = (BestBin) { best->fit, bin_tightness, index, TRUE, is_new };
}

static gboolean
place_best (QuoitBestPartial *partial, QuoitBestFit fit)
{
  const QuoitBestInstance *instance = partial->instance;
  BestBin best = { .fit = fit };

  for (guint32 o = 0; o < partial->n_open; o++)
    if (quoit_best_partial_fits (partial, o))
      keep_if_better (&best, tightness (partial, partial->left + (gsize) o * partial->n_resources), o, FALSE);
  for (guint32 b = 0; b < instance->n_runs; b++)
    if (partial->n_opened[b] < instance->runs[b].n && quoit_best_partial_fits_new (partial, b))
      keep_if_better (
          &best,
          tightness (partial,
                     quoit_best_get_bin_class (partial->subproblem->problem, instance->runs[b].bin_class)->left),
          b, TRUE);
  if (!best.is_found)
    return FALSE;
  if (best.is_new)
    return quoit_best_partial_place_new (partial, best.index);
  return quoit_best_partial_place (partial, best.index);
}

gboolean
quoit_best_greedy_fit (QuoitBestPartial *partial, const QuoitBestLimits *limits, const guint32 *order, QuoitBestFit fit,
                       guint32 *bins)
{
  const QuoitBestSubproblem *subproblem = partial->subproblem;

  if ((guint64) subproblem->n_items * (partial->instance->n_runs + partial->bounds->n_top) > MAX_TESTS)
    return FALSE;
  quoit_best_partial_reset (partial, limits, order);
  while (partial->n_placed < subproblem->n_items)
    if (!place_best (partial, fit))
      return FALSE;
  quoit_best_partial_write (partial, bins);
  return TRUE;
}

/* --- bin by bin --- */

/* The state of greedy_fill(). Bins are filled one after the other; a round is the number of the bin, from 1. */
typedef struct {
  const QuoitBestSubproblem *subproblem;
  const QuoitBestInstance *instance;
  const guint32 *order;
  guint64 *sizes;       /* of each class */
  guint32 *unplaced;    /* of each class: number of unplaced items */
  guint32 *first;       /* of each class: its first item */
  guint32 *n_opened;    /* of each run */
  gboolean *is_used;    /* of each group */
  gint64 *left;         /* on the bin that is being filled */
  guint32 *takes;       /* of each class: number of items that the bin takes */
  guint32 *computed_in; /* of each bin class: the round for which size_taken was last computed */
  guint64 *size_taken;  /* of each bin class: the total size of the items that a bin takes */
} Filling;

static gboolean
takes_one_more (const Filling *filling, const QuoitBestBinClass *bin_class, guint32 class_index, GArray *demands)
{
  const gint64 *amounts
      = quoit_best_amounts (filling->subproblem->problem, filling->subproblem->item_classes[class_index]);
  QuoitChipDemand demand
      = { .needed_e4 = quoit_best_chips_e4 (filling->subproblem->problem,
                                            filling->subproblem->item_classes[class_index], bin_class) };
  guint64 no_budget = 0;

  for (guint32 r = 0; r < filling->subproblem->problem->bundles->n_resources; r++)
    if (amounts[r] > filling->left[r])
      return FALSE;
  if (demand.needed_e4 == 0)
    return TRUE;
  g_array_append_val (demands, demand);
  if (quoit_best_check_chips (bin_class, demands, &no_budget) == QUOIT_BEST_FOUND)
    return TRUE;
  g_array_set_size (demands, demands->len - 1);
  return FALSE;
}

/* Sets @filling->takes to the items that an unopened bin of the run would take. Returns their total size. */
static guint64
fill (Filling *filling, guint32 run)
{
  const QuoitBestProblem *problem = filling->subproblem->problem;
  const QuoitBestBinClass *bin_class = quoit_best_get_bin_class (problem, filling->instance->runs[run].bin_class);
  g_autoptr (GArray) demands = g_array_new (FALSE, FALSE, sizeof (QuoitChipDemand));
  guint64 size = 0;

  for (guint32 r = 0; r < problem->bundles->n_resources; r++)
    filling->left[r] = bin_class->left[r];
  for (guint32 t = 0; t < filling->subproblem->n_item_classes; t++)
    {
      guint32 class_index = filling->order[t];
      const gint64 *amounts = quoit_best_amounts (problem, filling->subproblem->item_classes[class_index]);

      filling->takes[class_index] = 0;
      if (!quoit_best_passes_filter (problem, filling->subproblem->item_classes[class_index],
                                     filling->instance->runs[run].bin_class))
        continue;
      while (filling->takes[class_index] < filling->unplaced[class_index]
             && takes_one_more (filling, bin_class, class_index, demands))
        {
          filling->takes[class_index]++;
          size += filling->sizes[class_index] + 1;
          for (guint32 r = 0; r < problem->bundles->n_resources; r++)
            filling->left[r] -= amounts[r];
        }
    }
  return size;
}

/* Returns what fill() returns, but calls it only once for each bin class in a round. */
static guint64
filled_size (Filling *filling, guint32 run, guint32 round)
{
  guint32 bin_class = filling->instance->runs[run].bin_class;

  if (filling->computed_in[bin_class] != round)
    {
      filling->computed_in[bin_class] = round;
      filling->size_taken[bin_class] = fill (filling, run);
    }
  return filling->size_taken[bin_class];
}

/* Returns the run whose bins take the most. Of equal runs, prefers one in a used slice, and then the first. */
static guint32
fullest_run (Filling *filling, guint32 round)
{
  const QuoitBestInstance *instance = filling->instance;
  guint32 best = QUOIT_NO_INDEX;
  guint64 size = 0;
  gboolean best_is_used = FALSE;

  for (guint32 b = 0; b < instance->n_runs; b++)
    {
      guint32 group = instance->runs[b].group;
      gboolean is_used = !instance->groups[group].is_slice || filling->is_used[group];
      guint64 taken = filling->n_opened[b] < instance->runs[b].n ? filled_size (filling, b, round) : 0;

      if (taken > size || (taken > 0 && taken == size && is_used && !best_is_used))
        {
          best = b;
          size = taken;
          best_is_used = is_used;
        }
    }
  return best;
}

/* Opens a bin of the run and fills it. Returns the number of placed items. */
static guint32
fill_next_bin (Filling *filling, guint32 run_index, guint32 *bins)
{
  const QuoitBestRun *run = &filling->instance->runs[run_index];
  guint32 bin = filling->instance->bins[run->first + filling->n_opened[run_index]++], n = 0;

  fill (filling, run_index);
  filling->is_used[run->group] = TRUE;
  for (guint32 k = 0; k < filling->subproblem->n_item_classes; k++)
    for (; filling->takes[k] > 0; filling->takes[k]--, n++)
      bins[filling->first[k] + --filling->unplaced[k]] = bin;
  return n;
}

gboolean
quoit_best_greedy_fill (const QuoitBestBounds *bounds, const guint32 *order, guint32 *bins)
{
  const QuoitBestSubproblem *subproblem = bounds->subproblem;
  g_autofree guint64 *sizes = g_new (guint64, subproblem->n_item_classes + 1);
  g_autofree guint32 *unplaced = g_memdup2 (subproblem->counts, subproblem->n_item_classes * sizeof *unplaced);
  g_autofree guint32 *first = g_new (guint32, subproblem->n_item_classes + 1),
                     *takes = g_new0 (guint32, subproblem->n_item_classes + 1);
  g_autofree guint32 *n_opened = g_new0 (guint32, bounds->instance->n_runs + 1);
  g_autofree gboolean *is_used = g_new0 (gboolean, bounds->instance->n_groups + 1);
  g_autofree gint64 *left = g_new (gint64, bounds->n_resources + 1);
  guint32 n_bin_classes = subproblem->problem->bin_classes->len, n_left = subproblem->n_items;
  g_autofree guint32 *computed_in = g_new0 (guint32, n_bin_classes + 1);
  g_autofree guint64 *size_taken = g_new0 (guint64, n_bin_classes + 1);
  Filling filling = { subproblem, bounds->instance, order, sizes, unplaced,    first,
                      n_opened,   is_used,          left,  takes, computed_in, size_taken };

  if (bounds->n_top * ((guint64) n_bin_classes * subproblem->n_item_classes + bounds->instance->n_runs) > MAX_TESTS)
    return FALSE;
  for (guint32 k = 0, from = 0; k < subproblem->n_item_classes; from += subproblem->counts[k++])
    {
      first[k] = from;
      sizes[k] = quoit_best_item_size (bounds, k);
    }
  for (guint32 round = 1; n_left > 0; round++)
    {
      guint32 run = fullest_run (&filling, round);

      if (run == QUOIT_NO_INDEX)
        return FALSE;
      n_left -= fill_next_bin (&filling, run, bins);
    }
  return TRUE;
}

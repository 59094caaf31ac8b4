/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/best/subproblem.h"

#include <stdlib.h>
#include <string.h>

#include "placement/best/match.h"

QuoitBestSolution *
quoit_best_solution_new (const QuoitBestSubproblem *subproblem)
{
  QuoitBestSolution *solution = g_new0 (QuoitBestSolution, 1);

  solution->result = QUOIT_BEST_NONE;
  solution->bins = g_new0 (guint32, subproblem->n_items + 1);
  return solution;
}

void
quoit_best_solution_free (QuoitBestSolution *solution)
{
  if (solution == NULL)
    return;
  g_free (solution->bins);
  g_free (solution);
}

void
quoit_best_solution_measure (QuoitBestSolution *solution, const QuoitBestSubproblem *subproblem)
{
  guint32 n = subproblem->n_items, load = 0, n_slices = 0;
  g_autofree guint32 *numbers = g_memdup2 (solution->bins, (n + 1) * sizeof *numbers);

  solution->n_bins = solution->n_slices = solution->load = 0;
  quoit_numbers_sort (numbers, n);
  for (guint32 i = 0; i < n; i++)
    {
      load = i > 0 && numbers[i] == numbers[i - 1] ? load + 1 : 1;
      solution->n_bins += load == 1;
      solution->load = MAX (solution->load, load);
    }
  for (guint32 i = 0; i < n; i++)
    if (quoit_best_subproblem_slice (subproblem, numbers[i]) != QUOIT_NO_INDEX)
      numbers[n_slices++] = quoit_best_subproblem_slice (subproblem, numbers[i]);
  quoit_numbers_sort (numbers, n_slices);
  for (guint32 i = 0; i < n_slices; i++)
    solution->n_slices += i == 0 || numbers[i] != numbers[i - 1];
}

/* --- matching --- */

gboolean
quoit_best_has_equal_amounts (const QuoitBestSubproblem *subproblem)
{
  gsize size = subproblem->problem->bundles->n_resources * sizeof (gint64);

  for (guint32 k = 1; k < subproblem->n_item_classes; k++)
    if (memcmp (quoit_best_amounts (subproblem->problem, subproblem->item_classes[k]),
                quoit_best_amounts (subproblem->problem, subproblem->item_classes[0]), size)
        != 0)
      return FALSE;
  return TRUE;
}

/* An amount of one resource, and the number of items that request it. */
typedef struct {
  gint64 amount;
  guint32 n;
} RequestedAmount;

/* The data of the callbacks of a matching. */
typedef struct {
  const QuoitBestSubproblem *subproblem;
  guint32 max_load;
  gboolean has_equal_amounts;
  RequestedAmount *amounts; /* [resource * n_item_classes + i], ascending for each resource; NULL: not needed */
} MatchData;

static int
by_amount (const void *a, const void *b)
{
  const RequestedAmount *x = a, *y = b;

  return (x->amount > y->amount) - (x->amount < y->amount);
}

static void
sort_amounts (MatchData *data)
{
  const QuoitBestSubproblem *subproblem = data->subproblem;
  guint32 n_resources = subproblem->problem->bundles->n_resources;

  data->amounts = g_new (RequestedAmount, (gsize) subproblem->n_item_classes * n_resources + 1);
  for (guint32 r = 0; r < n_resources; r++)
    {
      RequestedAmount *amounts = data->amounts + (gsize) r * subproblem->n_item_classes;

      for (guint32 k = 0; k < subproblem->n_item_classes; k++)
        amounts[k] = (RequestedAmount) { quoit_best_amounts (subproblem->problem, subproblem->item_classes[k])[r],
                                         subproblem->counts[k] };
      qsort (amounts, subproblem->n_item_classes, sizeof *amounts, by_amount);
    }
}

/* Returns an upper bound of the number of items, of any classes, on one bin. For each resource, the smallest items
 * are counted. */
static guint32
max_mixed_load (const MatchData *data, guint32 bin_class)
{
  const QuoitBestSubproblem *subproblem = data->subproblem;
  guint32 max = data->max_load;

  for (guint32 r = 0; r < subproblem->problem->bundles->n_resources; r++)
    {
      const RequestedAmount *amounts = data->amounts + (gsize) r * subproblem->n_item_classes;
      gint64 left = quoit_best_get_bin_class (subproblem->problem, bin_class)->left[r];
      guint32 n = 0, k = 0;

      for (; k < subproblem->n_item_classes && n < max; k++)
        {
          gint64 fit = amounts[k].amount == 0 ? amounts[k].n : MIN (amounts[k].n, left / amounts[k].amount);

          n += (guint32) fit;
          left -= fit * amounts[k].amount;
          if (fit < amounts[k].n)
            break;
        }
      max = MIN (max, n);
    }
  return max;
}

static guint32
matched_bin_class (gpointer data, guint32 bin)
{
  const MatchData *match = data;

  return quoit_best_subproblem_bin_class (match->subproblem, bin);
}

static gboolean
matched_fits (gpointer data, guint32 class_index, guint32 bin_class)
{
  const MatchData *match = data;

  return quoit_best_fits (match->subproblem->problem, match->subproblem->item_classes[class_index], bin_class);
}

static guint32
matched_capacity (gpointer data, guint32 bin_class)
{
  const MatchData *match = data;

  if (match->max_load == 1)
    return 1;
  return match->has_equal_amounts ? quoit_best_capacity (match->subproblem->problem, match->subproblem->item_classes[0],
                                                         bin_class, match->max_load)
                                  : max_mixed_load (match, bin_class);
}

gboolean
quoit_best_match_subproblem (const QuoitBestSubproblem *subproblem, guint32 max_load, guint32 *bins, guint32 *load)
{
  MatchData match = { .subproblem = subproblem,
                      .max_load = max_load,
                      .has_equal_amounts = quoit_best_has_equal_amounts (subproblem) };
  QuoitBestMatching matching = { .n_item_classes = subproblem->n_item_classes,
                                 .counts = subproblem->counts,
                                 .n_bins = subproblem->n_bins,
                                 .bin_class = matched_bin_class,
                                 .fits = matched_fits,
                                 .capacity = matched_capacity,
                                 .data = &match };
  gboolean is_matched;

  if (!match.has_equal_amounts && max_load > 1)
    sort_amounts (&match);
  is_matched = quoit_best_match (&matching, bins, load);
  g_free (match.amounts);
  return is_matched;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* STRICT_PACK places all bundles on one node; STRICT_SPREAD places each on a different node. */
#include "placement/best/subproblem.h"

#include <string.h>

/* --- STRICT_PACK --- */

/* All items as one: the sums of their amounts. */
typedef struct {
  const QuoitBestSubproblem *subproblem;
  __int128 *sums; /* of each resource */
} ItemSum;

static gboolean
bin_class_passes_filters (const QuoitBestSubproblem *subproblem, guint32 bin_class)
{
  for (guint32 k = 0; k < subproblem->n_item_classes; k++)
    if (!quoit_best_passes_filter (subproblem->problem, subproblem->item_classes[k], bin_class))
      return FALSE;
  return TRUE;
}

static void
sum_requested (ItemSum *sum)
{
  const QuoitBestSubproblem *subproblem = sum->subproblem;
  guint32 n_resources = subproblem->problem->bundles->n_resources;

  sum->sums = g_new0 (__int128, n_resources + 1);
  for (guint32 k = 0; k < subproblem->n_item_classes; k++)
    for (guint32 r = 0; r < n_resources; r++)
      sum->sums[r] += (__int128) quoit_best_amounts (subproblem->problem, subproblem->item_classes[k])[r]
                      * subproblem->counts[k];
}

static gboolean
bin_class_has_resources (const ItemSum *sum, guint32 bin_class)
{
  const QuoitBestProblem *problem = sum->subproblem->problem;

  for (guint32 r = 0; r < problem->bundles->n_resources; r++)
    if (sum->sums[r] > quoit_best_get_bin_class (problem, bin_class)->left[r])
      return FALSE;
  return TRUE;
}

static QuoitBestResult
bin_class_has_chips (const QuoitBestSubproblem *subproblem, guint32 bin_class)
{
  const QuoitBestBinClass *class = quoit_best_get_bin_class (subproblem->problem, bin_class);
  g_autoptr (GArray) demands = g_array_new (FALSE, FALSE, sizeof (QuoitChipDemand));
  gint64 sum_e4 = 0;

  for (guint32 k = 0; k < subproblem->n_item_classes; k++)
    {
      QuoitChipDemand demand
          = { .needed_e4 = quoit_best_chips_e4 (subproblem->problem, subproblem->item_classes[k], class) };

      for (guint32 i = 0; i < subproblem->counts[k] && demand.needed_e4 > 0; i++)
        {
          sum_e4 += demand.needed_e4;
          if (sum_e4 > (gint64) class->chips.n * QUOIT_AMOUNT_UNIT)
            return QUOIT_BEST_NONE;
          g_array_append_val (demands, demand);
        }
    }
  return quoit_best_check_chips (class, demands, subproblem->budget);
}

static QuoitBestResult
bin_class_fits_all (const ItemSum *sum, guint32 bin_class)
{
  if (!bin_class_has_resources (sum, bin_class) || !bin_class_passes_filters (sum->subproblem, bin_class))
    return QUOIT_BEST_NONE;
  return bin_class_has_chips (sum->subproblem, bin_class);
}

static void
use_one_bin (const QuoitBestSubproblem *subproblem, guint32 bin, QuoitBestSolution *solution)
{
  for (guint32 item = 0; item < subproblem->n_items; item++)
    solution->bins[item] = bin;
  solution->result = QUOIT_BEST_FOUND;
  solution->proven = TRUE;
}

/* Finds the first bin on which all items fit. If none is found and the budget ended for some bin, the result is
 * BUDGET. */
static void
find_one_bin (const ItemSum *sum, QuoitBestSolution *solution)
{
  const QuoitBestSubproblem *subproblem = sum->subproblem;
  g_autoptr (GByteArray) known = g_byte_array_new (); /* of each bin class: result + 1; 0: not tested */

  for (guint32 bin = 0; bin < subproblem->n_bins; bin++)
    {
      guint32 bin_class = quoit_best_subproblem_bin_class (subproblem, bin), n = known->len;

      if (bin_class >= n)
        {
          g_byte_array_set_size (known, 2 * bin_class + 16);
          memset (known->data + n, 0, known->len - n);
        }
      if (known->data[bin_class] == 0)
        known->data[bin_class] = (guint8) (bin_class_fits_all (sum, bin_class) + 1);
      if (known->data[bin_class] == QUOIT_BEST_FOUND + 1)
        {
          use_one_bin (subproblem, bin, solution);
          return;
        }
      if (known->data[bin_class] == QUOIT_BEST_BUDGET + 1)
        solution->result = QUOIT_BEST_BUDGET;
      solution->proven &= solution->result != QUOIT_BEST_BUDGET;
    }
}

void
quoit_best_strict_pack (const QuoitBestSubproblem *subproblem, guint32 soft_target, QuoitBestSolution *solution)
{
  ItemSum sum = { .subproblem = subproblem };

  solution->proven = TRUE;
  sum_requested (&sum);
  for (guint32 bin = 0; bin < subproblem->n_bins && soft_target != QUOIT_NO_INDEX; bin++)
    if (subproblem->nodes[bin] == soft_target
        && bin_class_fits_all (&sum, quoit_best_subproblem_bin_class (subproblem, bin)) == QUOIT_BEST_FOUND)
      use_one_bin (subproblem, bin, solution);
  if (solution->result != QUOIT_BEST_FOUND)
    find_one_bin (&sum, solution);
  g_free (sum.sums);
}

/* --- STRICT_SPREAD --- */

void
quoit_best_strict_spread (const QuoitBestSubproblem *subproblem, QuoitBestSolution *solution)
{
  guint32 load;

  solution->proven = TRUE;
  if (quoit_best_match_subproblem (subproblem, 1, solution->bins, &load))
    solution->result = QUOIT_BEST_FOUND;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/best/problem.h"

#include <stdlib.h>
#include <string.h>

static gint64
saturating_add (gint64 a, gint64 b)
{
  gint64 sum;

  return __builtin_add_overflow (a, b, &sum) ? G_MAXINT64 : sum;
}

/* Returns the bit of the bundle's filter. Bits are given to the used filters in the order of the bundles. */
static guint32
filter_bit (QuoitBestProblem *problem, guint32 *bits, guint32 bundle)
{
  guint32 filter;

  if (problem->bundles->filter == NULL)
    return QUOIT_NO_INDEX;
  filter = problem->bundles->filter[bundle];
  if (bits[filter] == QUOIT_NO_INDEX)
    {
      bits[filter] = problem->n_filters;
      problem->filters[problem->n_filters++] = filter;
    }
  return bits[filter];
}

static void
merge_bundles (QuoitBestProblem *problem)
{
  const QuoitBundles *bundles = problem->bundles;
  guint32 n_resources = bundles->n_resources;
  g_autoptr (QuoitRows) rows = quoit_rows_new ();
  g_autofree gint64 *row = g_new (gint64, n_resources + 1);
  g_autofree guint32 *bits = g_new (guint32, bundles->n_filters + 1);

  for (guint32 f = 0; f < bundles->n_filters; f++)
    bits[f] = QUOIT_NO_INDEX;
  for (guint32 b = 0; b < bundles->n_bundles; b++)
    {
      const gint64 *amounts = bundles->amounts + (gsize) b * n_resources;
      guint32 filter = filter_bit (problem, bits, b), item_class;

      for (guint32 r = 0; r < n_resources; r++)
        {
          row[r] = amounts[r];
          problem->requested[r] = saturating_add (problem->requested[r], amounts[r]);
        }
      row[n_resources] = filter;
      item_class = problem->item_class[b] = quoit_rows_intern (rows, row, n_resources + 1);
      if (item_class < problem->n_item_classes)
        continue;
      problem->first_bundle[item_class] = b;
      problem->class_filter[item_class] = filter;
      problem->n_item_classes++;
    }
}

QuoitBestProblem *
quoit_best_problem_new (const QuoitBundles *bundles, const QuoitView *view)
{
  QuoitBestProblem *problem = g_new0 (QuoitBestProblem, 1);

  problem->bundles = bundles;
  problem->view = view;
  problem->item_class = g_new (guint32, bundles->n_bundles + 1);
  problem->first_bundle = g_new (guint32, bundles->n_bundles + 1);
  problem->class_filter = g_new (guint32, bundles->n_bundles + 1);
  problem->filters = g_new (guint32, bundles->n_filters + 1);
  problem->requested = g_new0 (gint64, bundles->n_resources + 1);
  problem->bin_class = g_new (guint32, view->n_nodes + 1);
  for (guint32 n = 0; n < view->n_nodes; n++)
    problem->bin_class[n] = QUOIT_NO_INDEX;
  problem->bin_rows = quoit_rows_new ();
  problem->bin_classes = g_ptr_array_new_with_free_func (g_free);
  problem->chip_units = quoit_rows_new ();
  problem->needed_chips = g_ptr_array_new_with_free_func (g_free);
  merge_bundles (problem);
  problem->row
      = g_new (gint64, bundles->n_resources + (problem->n_filters + 63) / 64 + 1 + G_N_ELEMENTS (view->chips->chip_e4));
  return problem;
}

void
quoit_best_problem_free (QuoitBestProblem *problem)
{
  if (problem == NULL)
    return;
  g_free (problem->item_class);
  g_free (problem->first_bundle);
  g_free (problem->class_filter);
  g_free (problem->filters);
  g_free (problem->requested);
  g_free (problem->bin_class);
  g_free (problem->row);
  quoit_rows_free (problem->bin_rows);
  g_ptr_array_unref (problem->bin_classes);
  quoit_rows_free (problem->chip_units);
  g_ptr_array_unref (problem->needed_chips);
  g_free (problem);
}

/* --- bin classes --- */

/* Returns the index in chip_units of the way in which a node counts chips. */
static guint32
find_chip_unit (QuoitBestProblem *problem, const QuoitNodeChips *chips)
{
  gint64 row[] = { chips->resource, chips->per_chip };
  guint32 chip_unit = quoit_rows_intern (problem->chip_units, row, G_N_ELEMENTS (row));

  if (chip_unit == problem->needed_chips->len)
    {
      gint64 *needed_chips = g_new (gint64, problem->n_item_classes + 1);

      for (guint32 a = 0; a < problem->n_item_classes; a++)
        needed_chips[a]
            = quoit_chips_e4 ((QuoitAmount) { quoit_best_amounts (problem, a)[chips->resource] }, chips->per_chip);
      g_ptr_array_add (problem->needed_chips, needed_chips);
    }
  return chip_unit;
}

static int
freest_last (const void *a, const void *b)
{
  const gint64 *x = a, *y = b;

  return (x[0] > y[0]) - (x[0] < y[0]);
}

/* A row of a bin class has the amounts left, @n_words words of filter bits, the chip unit, and the free part of each
 * chip. */
static QuoitBestBinClass *
bin_class_new (const QuoitBestProblem *problem, const gint64 *row, guint32 n_words, guint32 chip_unit, guint32 n_chips)
{
  QuoitBestBinClass *bin_class = g_new0 (QuoitBestBinClass, 1);

  bin_class->left = row;
  bin_class->passes = row + problem->bundles->n_resources;
  bin_class->chip_unit = chip_unit;
  bin_class->chips.n = n_chips;
  for (guint32 c = 0; c < n_chips; c++)
    {
      bin_class->chips.e4[c] = (gint32) bin_class->passes[n_words + 1 + c];
      bin_class->n_whole += bin_class->chips.e4[c] == QUOIT_AMOUNT_UNIT;
    }
  return bin_class;
}

static guint32
compute_bin_class (QuoitBestProblem *problem, guint32 node)
{
  const QuoitView *view = problem->view;
  guint32 n_resources = problem->bundles->n_resources, n_words = (problem->n_filters + 63) / 64;
  const gint64 *available = view->available + (gsize) node * n_resources;
  const QuoitNodeChips *chips = view->chips == NULL ? NULL : &view->chips[node];
  gint64 *row = problem->row, *passes = row + n_resources;
  guint32 chip_unit = QUOIT_NO_INDEX, n_chips = 0, number;

  memset (passes, 0, n_words * sizeof *passes);
  for (guint32 r = 0; r < n_resources; r++)
    row[r] = CLAMP (available[r], 0, problem->requested[r]);
  for (guint32 f = 0; f < problem->n_filters; f++)
    if ((view->passes[(gsize) problem->filters[f] * quoit_view_words (view) + node / 64] >> (node % 64) & 1) != 0)
      passes[f / 64] |= (gint64) (G_GUINT64_CONSTANT (1) << (f % 64));
  if (chips != NULL && chips->resource != QUOIT_NO_INDEX && problem->requested[chips->resource] > 0)
    {
      chip_unit = find_chip_unit (problem, chips);
      n_chips = MIN (chips->n, G_N_ELEMENTS (chips->chip_e4));
      for (guint32 c = 0; c < n_chips; c++)
        passes[n_words + 1 + c] = CLAMP (chips->chip_e4[c], 0, QUOIT_AMOUNT_UNIT);
      qsort (passes + n_words + 1, n_chips, sizeof *passes, freest_last);
    }
  passes[n_words] = chip_unit;

  number = quoit_rows_intern (problem->bin_rows, row, n_resources + n_words + 1 + n_chips);
  if (number == problem->bin_classes->len)
    g_ptr_array_add (problem->bin_classes,
                     bin_class_new (problem, quoit_rows_get (problem->bin_rows, number), n_words, chip_unit, n_chips));
  return number;
}

guint32
quoit_best_find_bin_class (QuoitBestProblem *problem, guint32 node)
{
  if (problem->bin_class[node] == QUOIT_NO_INDEX)
    problem->bin_class[node] = compute_bin_class (problem, node);
  return problem->bin_class[node];
}

/* --- items of one class on an empty bin --- */

gboolean
quoit_best_passes_filter (const QuoitBestProblem *problem, guint32 item_class, guint32 bin_class)
{
  guint32 filter = problem->class_filter[item_class];

  return filter == QUOIT_NO_INDEX
         || ((guint64) quoit_best_get_bin_class (problem, bin_class)->passes[filter / 64] >> (filter % 64) & 1) != 0;
}

/* Each of n items takes `whole` free chips and one part of another chip. Let P be the number of parts that fit on
 * all chips with free space, and c the number that fit on a free chip. Whole chips of the items leave P - n * whole
 * * c parts, so n <= P - n * whole * c, and therefore n <= P / (1 + whole * c). */
static gint64
capacity_in_chips (const QuoitBestBinClass *bin_class, gint64 needed_e4)
{
  gint64 whole = needed_e4 / QUOIT_AMOUNT_UNIT, part_e4 = needed_e4 % QUOIT_AMOUNT_UNIT;
  gint64 max = whole > 0 ? bin_class->n_whole / whole : G_MAXINT64, parts = 0, parts_per_chip;

  if (part_e4 == 0)
    return max;
  parts_per_chip = QUOIT_AMOUNT_UNIT / part_e4;
  for (guint c = 0; c < bin_class->chips.n; c++)
    parts += bin_class->chips.e4[c] / part_e4;
  return MIN (max, parts / (1 + whole * parts_per_chip));
}

guint32
quoit_best_capacity (const QuoitBestProblem *problem, guint32 item_class, guint32 bin_class, guint32 max)
{
  const QuoitBestBinClass *class = quoit_best_get_bin_class (problem, bin_class);
  const gint64 *amounts = quoit_best_amounts (problem, item_class);
  gint64 needed_e4 = quoit_best_chips_e4 (problem, item_class, class), n = max;

  for (guint32 r = 0; r < problem->bundles->n_resources; r++)
    if (amounts[r] > 0)
      n = MIN (n, class->left[r] / amounts[r]);
  if (needed_e4 > 0)
    n = MIN (n, capacity_in_chips (class, needed_e4));
  return (guint32) n;
}

gboolean
quoit_best_fits (const QuoitBestProblem *problem, guint32 item_class, guint32 bin_class)
{
  return quoit_best_passes_filter (problem, item_class, bin_class)
         && quoit_best_capacity (problem, item_class, bin_class, 1) == 1;
}

/* --- items of several classes on one bin --- */

QuoitBestResult
quoit_best_check_chips (const QuoitBestBinClass *bin_class, const GArray *demands, guint64 *budget)
{
  QuoitFreeChips chips = bin_class->chips;
  gint64 n_whole = 0, n_parts = 0;
  guint before = (guint) MIN (*budget, QUOIT_CHIPS_MAX_STEPS), steps = before;
  gboolean is_found;

  for (guint i = 0; i < demands->len; i++)
    {
      gint64 needed_e4 = g_array_index (demands, QuoitChipDemand, i).needed_e4;

      n_whole += needed_e4 / QUOIT_AMOUNT_UNIT;
      n_parts += needed_e4 % QUOIT_AMOUNT_UNIT != 0;
    }
  if (n_whole > bin_class->n_whole)
    return QUOIT_BEST_NONE;
  if (n_parts == 0)
    return QUOIT_BEST_FOUND;

  is_found = quoit_chips_assign (&chips, (QuoitChipDemand *) (void *) demands->data, demands->len, &steps);
  *budget -= before - steps;
  return is_found ? QUOIT_BEST_FOUND : steps > 0 ? QUOIT_BEST_NONE : QUOIT_BEST_BUDGET;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/best/bounds.h"

#include <stdlib.h>

/* Number of different item sizes for which min_bins_in_multiples() is tried. */
enum { MAX_SIZES = 64 };

static int
largest_amount_first (const void *a, const void *b)
{
  const gint64 *x = a, *y = b;

  return (*x < *y) - (*x > *y);
}

static int
largest_sum_first (const void *a, const void *b)
{
  const __int128 *x = a, *y = b;

  return (*x < *y) - (*x > *y);
}

static const gint64 *
bin_amounts (const QuoitBestBounds *bounds, guint32 run)
{
  return quoit_best_get_bin_class (bounds->subproblem->problem, bounds->instance->runs[run].bin_class)->left;
}

static void
sum_bins (QuoitBestBounds *bounds, guint32 r)
{
  g_autofree gint64 *amounts = g_new (gint64, bounds->subproblem->n_bins + 1);
  __int128 *top = bounds->top + (gsize) r * (bounds->n_top + 1);
  guint32 n = 0;

  for (guint32 b = 0; b < bounds->instance->n_runs; b++)
    for (guint32 i = 0; i < bounds->instance->runs[b].n; i++)
      {
        amounts[n++] = bin_amounts (bounds, b)[r];
        bounds->all[r] += amounts[n - 1];
      }
  qsort (amounts, n, sizeof *amounts, largest_amount_first);
  for (guint32 m = 0; m < bounds->n_top; m++)
    {
      bounds->largest[(gsize) r * bounds->n_top + m] = amounts[m];
      top[m + 1] = top[m] + amounts[m];
    }
}

static void
sum_slices (QuoitBestBounds *bounds, guint32 r)
{
  const QuoitBestInstance *instance = bounds->instance;
  g_autofree __int128 *sums = g_new (__int128, bounds->n_slices + 1);
  __int128 *top = bounds->top_slices + (gsize) r * (bounds->n_slices + 1);
  guint32 n = 0;

  for (guint32 s = 0; s < instance->n_groups; s++)
    {
      __int128 *sum = &bounds->groups[(gsize) s * bounds->n_resources + r];

      for (guint32 b = instance->groups[s].first_run; b < instance->groups[s].first_run + instance->groups[s].n_runs;
           b++)
        *sum += (__int128) bin_amounts (bounds, b)[r] * instance->runs[b].n;
      if (instance->groups[s].is_slice)
        sums[n++] = *sum;
    }
  qsort (sums, n, sizeof *sums, largest_sum_first);
  for (guint32 t = 0; t < n; t++)
    top[t + 1] = top[t] + sums[t];
}

QuoitBestBounds *
quoit_best_bounds_new (const QuoitBestSubproblem *subproblem, const QuoitBestInstance *instance)
{
  QuoitBestBounds *bounds = g_new0 (QuoitBestBounds, 1);
  gsize n_resources = subproblem->problem->bundles->n_resources;

  bounds->subproblem = subproblem;
  bounds->instance = instance;
  bounds->n_resources = (guint32) n_resources;
  bounds->n_top = MIN (subproblem->n_items, subproblem->n_bins);
  for (guint32 s = 0; s < instance->n_groups; s++)
    bounds->n_slices += instance->groups[s].is_slice != FALSE;
  bounds->largest = g_new (gint64, n_resources * bounds->n_top + 1);
  bounds->top = g_new0 (__int128, n_resources *(bounds->n_top + 1) + 1);
  bounds->all = g_new0 (__int128, n_resources + 1);
  bounds->groups = g_new0 (__int128, n_resources * instance->n_groups + 1);
  bounds->top_slices = g_new0 (__int128, n_resources *(bounds->n_slices + 1) + 1);
  for (guint32 r = 0; r < n_resources; r++)
    {
      sum_bins (bounds, r);
      sum_slices (bounds, r);
    }
  return bounds;
}

void
quoit_best_bounds_free (QuoitBestBounds *bounds)
{
  if (bounds == NULL)
    return;
  g_free (bounds->largest);
  g_free (bounds->top);
  g_free (bounds->all);
  g_free (bounds->groups);
  g_free (bounds->top_slices);
  g_free (bounds);
}

/* --- bins --- */

/* Returns a lower bound of the number of bins, from amounts of resource @r that are rounded down to multiples of
 * @size. The bound stays valid, because items that fit on a bin still fit if all amounts are rounded down. For
 * example, three items of 2 need three bins of 3 with @size 2, and only two by the plain sum. */
static guint32
min_bins_in_multiples (const QuoitBestBounds *bounds, guint32 r, gint64 size)
{
  const gint64 *largest = bounds->largest + (gsize) r * bounds->n_top;
  const QuoitBestSubproblem *subproblem = bounds->subproblem;
  __int128 requested = 0;

  for (guint32 k = 0; k < subproblem->n_item_classes; k++)
    requested += (__int128) (quoit_best_amounts (subproblem->problem, subproblem->item_classes[k])[r] / size)
                 * subproblem->counts[k];
  for (guint32 m = 0; m < bounds->n_top; m++)
    {
      if (requested <= 0)
        return m;
      requested -= largest[m] / size;
    }
  return requested <= 0 ? bounds->n_top : QUOIT_NO_INDEX;
}

/* Returns the best lower bound for resource @r. */
static guint32
min_bins_for (const QuoitBestBounds *bounds, guint32 r)
{
  const QuoitBestSubproblem *subproblem = bounds->subproblem;
  guint32 min = min_bins_in_multiples (bounds, r, 1), n_sizes = 0;
  g_autoptr (GHashTable) sizes = g_hash_table_new (g_int64_hash, g_int64_equal);

  for (guint32 k = 0; k < subproblem->n_item_classes && n_sizes < MAX_SIZES && min != QUOIT_NO_INDEX; k++)
    {
      const gint64 *size = &quoit_best_amounts (subproblem->problem, subproblem->item_classes[k])[r];

      if (*size > 0 && g_hash_table_add (sizes, (gpointer) size))
        {
          guint32 n = min_bins_in_multiples (bounds, r, *size);

          n_sizes++;
          min = MAX (min, n); /* QUOIT_NO_INDEX is the largest */
        }
    }
  return min;
}

guint32
quoit_best_bounds_min_bins (const QuoitBestBounds *bounds)
{
  guint32 min = bounds->subproblem->n_items > 0;

  for (guint32 r = 0; r < bounds->n_resources; r++)
    {
      guint32 n = min_bins_for (bounds, r);

      min = MAX (min, n);
    }
  return min;
}

/* --- slices --- */

/* Returns how many of the slices with the most of resource @r, together with the bins in no slice, have the
 * requested sum. */
static guint32
min_slices_for (const QuoitBestBounds *bounds, guint32 r)
{
  const __int128 *top = bounds->top_slices + (gsize) r * (bounds->n_slices + 1);
  __int128 in_no_slice = bounds->all[r] - top[bounds->n_slices], requested = 0;
  const QuoitBestSubproblem *subproblem = bounds->subproblem;
  guint32 t = 0;

  for (guint32 k = 0; k < subproblem->n_item_classes; k++)
    requested
        += (__int128) quoit_best_amounts (subproblem->problem, subproblem->item_classes[k])[r] * subproblem->counts[k];
  while (t < bounds->n_slices && in_no_slice + top[t] < requested)
    t++;
  return t;
}

static gboolean
fits_any_item (const QuoitBestBounds *bounds, guint32 run)
{
  const QuoitBestSubproblem *subproblem = bounds->subproblem;

  for (guint32 k = 0; k < subproblem->n_item_classes; k++)
    if (quoit_best_fits (subproblem->problem, subproblem->item_classes[k], bounds->instance->runs[run].bin_class))
      return TRUE;
  return FALSE;
}

/* Returns how many of the largest slices, together with the bins in no slice, are needed for @n_bins bins on which
 * at least one item fits. */
static guint32
slices_with_bins (const QuoitBestBounds *bounds, guint32 n_bins)
{
  const QuoitBestInstance *instance = bounds->instance;
  g_autofree gint64 *sizes = g_new0 (gint64, bounds->n_slices + 1);
  guint32 n = 0, t = 0;
  gint64 n_covered = 0;

  for (guint32 s = 0; s < instance->n_groups; s++)
    {
      gint64 size = 0;

      for (guint32 b = instance->groups[s].first_run; b < instance->groups[s].first_run + instance->groups[s].n_runs;
           b++)
        size += fits_any_item (bounds, b) ? instance->runs[b].n : 0;
      if (instance->groups[s].is_slice)
        sizes[n++] = size;
      else
        n_covered += size;
    }
  qsort (sizes, n, sizeof *sizes, largest_amount_first);
  while (t < n && n_covered < n_bins)
    n_covered += sizes[t++];
  return t;
}

guint32
quoit_best_bounds_min_slices (const QuoitBestBounds *bounds, guint32 n_bins)
{
  guint32 min = slices_with_bins (bounds, n_bins);

  for (guint32 r = 0; r < bounds->n_resources; r++)
    {
      guint32 n = min_slices_for (bounds, r);

      min = MAX (min, n);
    }
  return min;
}

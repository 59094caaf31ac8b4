/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/best/bounds.h"

#include <stdlib.h>

/* Number of different bundle sizes that are tried as the unit of a bound. */
enum { MOST_SIZES = 64 };

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
left_on (const QuoitBestBounds *bounds, guint32 block)
{
  return quoit_best_room (bounds->it->question, bounds->ground->blocks[block].room)->left;
}

static void
sum_nodes (QuoitBestBounds *bounds, guint32 r)
{
  g_autofree gint64 *amounts = g_new (gint64, bounds->it->n_nodes + 1);
  __int128 *top = bounds->top + (gsize) r * (bounds->n_top + 1);
  guint32 n = 0;

  for (guint32 b = 0; b < bounds->ground->n_blocks; b++)
    for (guint32 i = 0; i < bounds->ground->blocks[b].n; i++)
      {
        amounts[n++] = left_on (bounds, b)[r];
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
  const QuoitBestGround *ground = bounds->ground;
  g_autofree __int128 *sums = g_new (__int128, bounds->n_slices + 1);
  __int128 *top = bounds->top_slices + (gsize) r * (bounds->n_slices + 1);
  guint32 n = 0;

  for (guint32 s = 0; s < ground->n_stands; s++)
    {
      __int128 *sum = &bounds->stands[(gsize) s * bounds->n_resources + r];

      for (guint32 b = ground->stands[s].first_block; b < ground->stands[s].first_block + ground->stands[s].n_blocks;
           b++)
        *sum += (__int128) left_on (bounds, b)[r] * ground->blocks[b].n;
      if (ground->stands[s].counts)
        sums[n++] = *sum;
    }
  qsort (sums, n, sizeof *sums, largest_sum_first);
  for (guint32 t = 0; t < n; t++)
    top[t + 1] = top[t] + sums[t];
}

QuoitBestBounds *
quoit_best_bounds_new (const QuoitBestCase *it, const QuoitBestGround *ground)
{
  QuoitBestBounds *bounds = g_new0 (QuoitBestBounds, 1);
  gsize n_resources = it->question->bundles->n_resources;

  bounds->it = it;
  bounds->ground = ground;
  bounds->n_resources = (guint32) n_resources;
  bounds->n_top = MIN (it->n_units, it->n_nodes);
  for (guint32 s = 0; s < ground->n_stands; s++)
    bounds->n_slices += ground->stands[s].counts != FALSE;
  bounds->largest = g_new (gint64, n_resources * bounds->n_top + 1);
  bounds->top = g_new0 (__int128, n_resources *(bounds->n_top + 1) + 1);
  bounds->all = g_new0 (__int128, n_resources + 1);
  bounds->stands = g_new0 (__int128, n_resources * ground->n_stands + 1);
  bounds->top_slices = g_new0 (__int128, n_resources *(bounds->n_slices + 1) + 1);
  for (guint32 r = 0; r < n_resources; r++)
    {
      sum_nodes (bounds, r);
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
  g_free (bounds->stands);
  g_free (bounds->top_slices);
  g_free (bounds);
}

/* --- nodes --- */

/* Computes the bound in whole multiples of @size. Bundles that fit on a node also fit if their amounts and the
 * node's amount are rounded down to multiples. */
static guint32
nodes_in_sizes (const QuoitBestBounds *bounds, guint32 r, gint64 size)
{
  const gint64 *largest = bounds->largest + (gsize) r * bounds->n_top;
  const QuoitBestCase *it = bounds->it;
  __int128 wanted = 0;

  for (guint32 k = 0; k < it->n_kinds; k++)
    wanted += (__int128) (quoit_best_amounts (it->question, it->asks[k])[r] / size) * it->counts[k];
  for (guint32 m = 0; m < bounds->n_top; m++)
    {
      if (wanted <= 0)
        return m;
      wanted -= largest[m] / size;
    }
  return wanted <= 0 ? bounds->n_top : QUOIT_NO_INDEX;
}

static guint32
nodes_for (const QuoitBestBounds *bounds, guint32 r)
{
  const QuoitBestCase *it = bounds->it;
  guint32 least = nodes_in_sizes (bounds, r, 1), n_sizes = 0;
  g_autoptr (GHashTable) sizes = g_hash_table_new (g_int64_hash, g_int64_equal);

  for (guint32 k = 0; k < it->n_kinds && n_sizes < MOST_SIZES && least != QUOIT_NO_INDEX; k++)
    {
      const gint64 *size = &quoit_best_amounts (it->question, it->asks[k])[r];

      if (*size > 0 && g_hash_table_add (sizes, (gpointer) size))
        {
          guint32 n = nodes_in_sizes (bounds, r, *size);

          n_sizes++;
          least = MAX (least, n); /* QUOIT_NO_INDEX is the largest */
        }
    }
  return least;
}

guint32
quoit_best_bounds_nodes (const QuoitBestBounds *bounds)
{
  guint32 least = bounds->it->n_units > 0;

  for (guint32 r = 0; r < bounds->n_resources; r++)
    {
      guint32 n = nodes_for (bounds, r);

      least = MAX (least, n);
    }
  return least;
}

/* --- slices --- */

static guint32
slices_for (const QuoitBestBounds *bounds, guint32 r)
{
  const __int128 *top = bounds->top_slices + (gsize) r * (bounds->n_slices + 1);
  __int128 loose = bounds->all[r] - top[bounds->n_slices], wanted = 0;
  const QuoitBestCase *it = bounds->it;
  guint32 t = 0;

  for (guint32 k = 0; k < it->n_kinds; k++)
    wanted += (__int128) quoit_best_amounts (it->question, it->asks[k])[r] * it->counts[k];
  while (t < bounds->n_slices && loose + top[t] < wanted)
    t++;
  return t;
}

static gboolean
is_of_use (const QuoitBestBounds *bounds, guint32 block)
{
  const QuoitBestCase *it = bounds->it;

  for (guint32 k = 0; k < it->n_kinds; k++)
    if (quoit_best_fits (it->question, it->asks[k], bounds->ground->blocks[block].room))
      return TRUE;
  return FALSE;
}

/* Returns how many of the largest slices, together with nodes in no slice, have @n_nodes nodes that can hold a
 * bundle. */
static guint32
slices_with_nodes (const QuoitBestBounds *bounds, guint32 n_nodes)
{
  const QuoitBestGround *ground = bounds->ground;
  g_autofree gint64 *sizes = g_new0 (gint64, bounds->n_slices + 1);
  guint32 n = 0, t = 0;
  gint64 held = 0;

  for (guint32 s = 0; s < ground->n_stands; s++)
    {
      gint64 size = 0;

      for (guint32 b = ground->stands[s].first_block; b < ground->stands[s].first_block + ground->stands[s].n_blocks;
           b++)
        size += is_of_use (bounds, b) ? ground->blocks[b].n : 0;
      if (ground->stands[s].counts)
        sizes[n++] = size;
      else
        held += size;
    }
  qsort (sizes, n, sizeof *sizes, largest_amount_first);
  while (t < n && held < n_nodes)
    held += sizes[t++];
  return t;
}

guint32
quoit_best_bounds_slices (const QuoitBestBounds *bounds, guint32 n_nodes)
{
  guint32 least = slices_with_nodes (bounds, n_nodes);

  for (guint32 r = 0; r < bounds->n_resources; r++)
    {
      guint32 n = slices_for (bounds, r);

      least = MAX (least, n);
    }
  return least;
}

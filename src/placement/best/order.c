/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/best/order.h"

#include <stdlib.h>

/* The orders. */
enum {
  BY_FEW_BINS, /* the classes that fit on the fewest bins first */
  BY_SIZE,
  BY_RESOURCES, /* and further: by the size in one resource */
  MAX_ORDERS = 10
};

enum {
  WHOLE = 1 << 20,     /* the size of an item that takes the whole largest bin, in one resource */
  MAX_TESTS = 10000000 /* a larger product of classes and runs is not tested for BY_FEW_BINS */
};

typedef struct {
  guint64 n_bins;
  guint64 size;
  guint32 class_index;
} Key;

guint32
quoit_best_count_orders (const QuoitBestSubproblem *subproblem)
{
  return subproblem->n_item_classes > 1 ? MIN (BY_RESOURCES + subproblem->problem->bundles->n_resources, MAX_ORDERS)
                                        : 1;
}

static int
hardest_first (const void *a, const void *b)
{
  const Key *x = a, *y = b;

  if (x->n_bins != y->n_bins)
    return x->n_bins < y->n_bins ? -1 : 1;
  if (x->size != y->size)
    return x->size > y->size ? -1 : 1;
  return (x->class_index > y->class_index) - (x->class_index < y->class_index);
}

/* Returns which part of the largest bin an item of the class takes: in @resource, or summed over all resources for
 * QUOIT_NO_INDEX. */
static guint64
size_in (const QuoitBestBounds *bounds, guint32 class_index, guint32 resource)
{
  const QuoitBestSubproblem *subproblem = bounds->subproblem;
  const gint64 *amounts = quoit_best_amounts (subproblem->problem, subproblem->item_classes[class_index]);
  guint64 size = 0;

  for (guint32 r = 0; r < bounds->n_resources; r++)
    {
      gint64 largest = bounds->n_top == 0 ? 0 : bounds->largest[(gsize) r * bounds->n_top];

      if (amounts[r] > 0 && (resource == QUOIT_NO_INDEX || resource == r))
        size += largest < amounts[r] || largest == 0 ? WHOLE : (guint64) ((__int128) amounts[r] * WHOLE / largest);
    }
  return size;
}

guint64
quoit_best_item_size (const QuoitBestBounds *bounds, guint32 class_index)
{
  return size_in (bounds, class_index, QUOIT_NO_INDEX);
}

static guint64
count_bins (const QuoitBestBounds *bounds, guint32 class_index)
{
  const QuoitBestSubproblem *subproblem = bounds->subproblem;
  guint64 n = 0;

  for (guint32 b = 0; b < bounds->instance->n_runs; b++)
    if (quoit_best_fits (subproblem->problem, subproblem->item_classes[class_index],
                         bounds->instance->runs[b].bin_class))
      n += bounds->instance->runs[b].n;
  return n;
}

void
quoit_best_get_order (const QuoitBestBounds *bounds, guint32 which, guint32 *order)
{
  const QuoitBestSubproblem *subproblem = bounds->subproblem;
  g_autofree Key *keys = g_new (Key, subproblem->n_item_classes + 1);
  gboolean counts_bins
      = which == BY_FEW_BINS && (guint64) subproblem->n_item_classes * bounds->instance->n_runs <= MAX_TESTS;

  for (guint32 k = 0; k < subproblem->n_item_classes; k++)
    keys[k] = (Key) { counts_bins ? count_bins (bounds, k) : 0,
                      size_in (bounds, k, which < BY_RESOURCES ? QUOIT_NO_INDEX : which - BY_RESOURCES), k };
  qsort (keys, subproblem->n_item_classes, sizeof *keys, hardest_first);
  for (guint32 k = 0; k < subproblem->n_item_classes; k++)
    order[k] = keys[k].class_index;
}

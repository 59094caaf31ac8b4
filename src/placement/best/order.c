/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/best/order.h"

#include <stdlib.h>

enum {
  BY_FEW_NODES,
  BY_SIZE,
  BY_RESOURCES,
  MOST_ORDERS = 10,
  SCALE = 1 << 20,
  MOST_TESTS = 10000000 /* limit for counting the nodes of each kind */
};

typedef struct {
  guint64 n_nodes;
  guint64 size;
  guint32 kind;
} Key;

guint32
quoit_best_orders (const QuoitBestCase *it)
{
  return it->n_kinds > 1 ? MIN (BY_RESOURCES + it->question->bundles->n_resources, MOST_ORDERS) : 1;
}

static int
hardest_first (const void *a, const void *b)
{
  const Key *x = a, *y = b;

  if (x->n_nodes != y->n_nodes)
    return x->n_nodes < y->n_nodes ? -1 : 1;
  if (x->size != y->size)
    return x->size > y->size ? -1 : 1;
  return (x->kind > y->kind) - (x->kind < y->kind);
}

/* Returns which part of the largest node the kind takes, of resource @one, or summed over all for QUOIT_NO_INDEX. */
static guint64
size_of (const QuoitBestBounds *bounds, guint32 kind, guint32 one)
{
  const QuoitBestCase *it = bounds->it;
  const gint64 *amounts = quoit_best_amounts (it->question, it->asks[kind]);
  guint64 size = 0;

  for (guint32 r = 0; r < bounds->n_resources; r++)
    {
      gint64 largest = bounds->n_top == 0 ? 0 : bounds->largest[(gsize) r * bounds->n_top];

      if (amounts[r] > 0 && (one == QUOIT_NO_INDEX || one == r))
        size += largest < amounts[r] || largest == 0 ? SCALE : (guint64) ((__int128) amounts[r] * SCALE / largest);
    }
  return size;
}

guint64
quoit_best_size (const QuoitBestBounds *bounds, guint32 kind)
{
  return size_of (bounds, kind, QUOIT_NO_INDEX);
}

static guint64
count_nodes (const QuoitBestBounds *bounds, guint32 kind)
{
  const QuoitBestCase *it = bounds->it;
  guint64 n = 0;

  for (guint32 b = 0; b < bounds->ground->n_blocks; b++)
    if (quoit_best_fits (it->question, it->asks[kind], bounds->ground->blocks[b].room))
      n += bounds->ground->blocks[b].n;
  return n;
}

void
quoit_best_order (const QuoitBestBounds *bounds, guint32 which, guint32 *order)
{
  const QuoitBestCase *it = bounds->it;
  g_autofree Key *keys = g_new (Key, it->n_kinds + 1);
  gboolean counting = which == BY_FEW_NODES && (guint64) it->n_kinds * bounds->ground->n_blocks <= MOST_TESTS;

  for (guint32 k = 0; k < it->n_kinds; k++)
    keys[k] = (Key) { counting ? count_nodes (bounds, k) : 0,
                      size_of (bounds, k, which < BY_RESOURCES ? QUOIT_NO_INDEX : which - BY_RESOURCES), k };
  qsort (keys, it->n_kinds, sizeof *keys, hardest_first);
  for (guint32 k = 0; k < it->n_kinds; k++)
    order[k] = keys[k].kind;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/joined-moves.h"

#include <string.h>

/* About a second. */
#define MOST_WORK G_GUINT64_CONSTANT (100000000)

static guint32
size_at (const QuoitBlockLoad *load, guint i)
{
  return g_array_index (load->sizes, guint32, i);
}

static guint32
sum_sizes (const QuoitBlockLoad *load)
{
  guint32 sum = 0;

  for (guint i = 0; i < load->sizes->len; i++)
    sum += size_at (load, i);
  return sum;
}

static guint32
largest_size (const QuoitBlockLoad *load)
{
  guint32 largest = 0;

  for (guint i = 0; i < load->sizes->len; i++)
    largest = MAX (largest, size_at (load, i));
  return largest;
}

guint32
quoit_block_load_find_cheapest (const QuoitBlockLoad *load, guint32 need, guint8 *chosen)
{
  const guint32 all = sum_sizes (load);
  const guint n = load->sizes->len;
  g_autofree guint8 *makes = NULL; /* by number of slices and sum: whether the first slices make this sum */
  guint32 most, best = need, rest;

  if (need > all)
    return G_MAXUINT32;
  /* A greater sum is enough without any one of its slices. */
  most = (guint32) MIN (all, (guint64) need + largest_size (load));
  makes = g_new0 (guint8, (gsize) (n + 1) * (most + 1));
  makes[0] = 1;
  for (guint i = 0; i < n; i++)
    for (guint32 sum = 0; sum <= most; sum++)
      makes[(gsize) (i + 1) * (most + 1) + sum]
          = makes[(gsize) i * (most + 1) + sum]
            || (sum >= size_at (load, i) && makes[(gsize) i * (most + 1) + sum - size_at (load, i)]);
  while (!makes[(gsize) n * (most + 1) + best])
    best++;
  rest = best;
  for (guint i = n; i-- > 0 && chosen != NULL;)
    {
      chosen[i] = !makes[(gsize) i * (most + 1) + rest];
      rest -= chosen[i] ? size_at (load, i) : 0;
    }
  return best;
}

guint32
quoit_block_load_need (const QuoitBlockLoad *load, guint32 n_cubes, guint32 n_more)
{
  const guint32 n_wanted = (load->n_slices + n_more) * n_cubes;

  return n_more == 0 || n_wanted <= load->n_free ? 0 : n_wanted - load->n_free;
}

guint32
quoit_block_load_most (const QuoitBlockLoad *load, guint32 n_cubes)
{
  const guint32 most = (load->n_free + sum_sizes (load)) / n_cubes;

  return MAX (load->costs == NULL ? most : MIN (most, load->n_packed), load->n_slices) - load->n_slices;
}

/* Returns a number of cubes: fewer moves cannot make the block hold @n_more slices more. */
static guint32
bound_moves (const QuoitBlockLoad *load, guint32 n_cubes, guint32 n_more)
{
  const guint32 need = quoit_block_load_need (load, n_cubes, n_more);
  guint32 sum = load->costs == NULL ? 1 : 0;

  /* At most as many places of adjacent cubes as the block holds slices were free and disjoint before. */
  for (guint i = 0; load->costs != NULL && i < n_more; i++)
    {
      if (i == load->costs->len)
        return G_MAXUINT32;
      sum += g_array_index (load->costs, guint32, i);
    }
  return MAX (quoit_block_load_find_cheapest (load, need, NULL), sum);
}

guint32
quoit_block_loads_bound (const QuoitBlockLoad *loads, guint n_loads, guint32 n_cubes, guint32 n_more)
{
  g_autofree guint32 *least = g_new (guint32, n_more + 1); /* by number of slices: cubes that have to leave */
  guint64 work = 0;

  for (guint i = 0; i < n_loads; i++)
    {
      const guint64 most = quoit_block_load_most (&loads[i], n_cubes);

      work += most * (n_more + (guint64) loads[i].sizes->len * sum_sizes (&loads[i]));
    }
  /* Each slice more needs one cube at least. */
  if (work > MOST_WORK)
    return n_more;
  memset (least, 0xff, (n_more + 1) * sizeof *least);
  least[0] = 0;
  for (guint i = 0; i < n_loads; i++)
    {
      const guint32 most = MIN (quoit_block_load_most (&loads[i], n_cubes), n_more);
      g_autofree guint32 *costs = g_new (guint32, most + 1);

      for (guint32 more = 1; more <= most; more++)
        costs[more] = bound_moves (&loads[i], n_cubes, more);
      for (guint32 at = n_more; at > 0; at--)
        for (guint32 more = 1; more <= most; more++)
          {
            const guint32 before = least[at - MIN (at, more)];

            if (before != G_MAXUINT32 && costs[more] != G_MAXUINT32)
              least[at] = MIN (least[at], before + costs[more]);
          }
    }
  return least[n_more] == G_MAXUINT32 ? n_more : least[n_more];
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which Ray places bundles: the largest first. Ray sorts with std::sort of libstdc++, which is not
 * stable, so this file repeats that sort step by step. Resources are compared in an order that depends on std::hash
 * of their names, so this file repeats that hash, too. */
#include "models/ray/scheduler/private.h"

#include <string.h>

/* --- resources --- */

static const char *const predefined[] = { "CPU", "memory", "GPU", "object_store_memory" };

static guint64
little_endian (const guint8 *bytes, gsize n)
{
  guint64 word = 0;

  for (gsize i = n; i > 0; i--)
    word = word << 8 | bytes[i - 1];
  return word;
}

/* std::hash of a std::string in 64-bit libstdc++. */
static guint64
std_hash (const char *name)
{
  const guint64 factor = G_GUINT64_CONSTANT (0xc6a4a7935bd1e995);
  const guint8 *bytes = (const guint8 *) name;
  gsize length = strlen (name), whole = length / 8 * 8;
  guint64 hash = G_GUINT64_CONSTANT (0xc70f6907) ^ (length * factor);

  for (gsize i = 0; i < whole; i += 8)
    {
      guint64 word = little_endian (bytes + i, 8) * factor;

      hash = (hash ^ (word ^ word >> 47) * factor) * factor;
    }
  if (whole < length)
    hash = (hash ^ little_endian (bytes + whole, length - whole)) * factor;
  hash = (hash ^ hash >> 47) * factor;
  return hash ^ hash >> 47;
}

gint64
quoit_ray_resource_id (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (predefined); i++)
    if (strcmp (name, predefined[i]) == 0)
      return i;
  return (gint64) std_hash (name);
}

/* Returns the rank of a resource in comparisons of bundles: GPU, then custom resources by id, then the resources in
 * `last`. */
static int
resource_rank (const char *name)
{
  static const char *const last[] = { "object_store_memory", "memory", "CPU" };

  if (strcmp (name, "GPU") == 0)
    return 0;
  for (guint i = 0; i < G_N_ELEMENTS (last); i++)
    if (strcmp (name, last[i]) == 0)
      return 2 + (int) i;
  return 1;
}

typedef struct {
  const char *name;
  gint64 id;
  int rank;
  guint32 index;
} Resource;

/* If two names have the same id, Ray's order depends on which name its server saw first, which is not known here. */
static int
by_weight (const void *a, const void *b)
{
  const Resource *x = a, *y = b;

  if (x->rank != y->rank)
    return x->rank < y->rank ? -1 : 1;
  if (x->id != y->id)
    return x->id < y->id ? -1 : 1;
  return strcmp (x->name, y->name);
}

/* --- bundles --- */

typedef struct {
  const QuoitBundles *bundles;
  guint32 *resources; /* by weight, the most important first */
  guint32 *v;
} Sort;

/* The comparison of libstdc++'s sort: the larger bundle comes first. */
static gboolean
comes_first (const Sort *sort, guint32 a, guint32 b)
{
  guint32 n = sort->bundles->n_resources;
  const gint64 *x = sort->bundles->amounts + (gsize) a * n, *y = sort->bundles->amounts + (gsize) b * n;

  for (guint32 i = 0; i < n; i++)
    if (x[sort->resources[i]] != y[sort->resources[i]])
      return x[sort->resources[i]] > y[sort->resources[i]];
  return FALSE;
}

static void
swap (guint32 *v, guint32 a, guint32 b)
{
  guint32 saved = v[a];

  v[a] = v[b];
  v[b] = saved;
}

/* Inserts v[last] into the sorted bundles before it. The loop ends at a bundle that does not come after v[last], so
 * there must be one. */
static void
insert_unguarded (const Sort *sort, guint32 last)
{
  guint32 *v = sort->v, bundle = v[last];

  for (; comes_first (sort, bundle, v[last - 1]); last--)
    v[last] = v[last - 1];
  v[last] = bundle;
}

static void
insertion_sort (const Sort *sort, guint32 n)
{
  guint32 *v = sort->v;

  for (guint32 i = 1; i < n; i++)
    if (comes_first (sort, v[i], v[0]))
      {
        guint32 bundle = v[i];

        memmove (v + 1, v, i * sizeof *v);
        v[0] = bundle;
      }
    else
      insert_unguarded (sort, i);
}

static guint32
median (const Sort *sort, guint32 a, guint32 b, guint32 c)
{
  const guint32 *v = sort->v;

  if (comes_first (sort, v[a], v[b]))
    {
      if (comes_first (sort, v[b], v[c]))
        return b;
      return comes_first (sort, v[a], v[c]) ? c : a;
    }
  if (comes_first (sort, v[a], v[c]))
    return a;
  return comes_first (sort, v[b], v[c]) ? c : b;
}

static guint32
partition (const Sort *sort, guint32 first, guint32 last)
{
  guint32 *v = sort->v, low = first + 1, high = last;

  swap (v, first, median (sort, first + 1, first + (last - first) / 2, last - 1));
  for (;; low++)
    {
      while (comes_first (sort, v[low], v[first]))
        low++;
      do
        high--;
      while (comes_first (sort, v[first], v[high]));
      if (low >= high)
        return low;
      swap (v, low, high);
    }
}

/* Moves the hole at @hole down to a leaf of the heap of @n bundles, and then moves @bundle up from there. */
static void
adjust_heap (const Sort *sort, guint32 first, guint32 hole, guint32 n, guint32 bundle)
{
  guint32 *v = sort->v + first, top = hole, child = hole;

  while (child < (n - 1) / 2)
    {
      child = 2 * (child + 1);
      if (comes_first (sort, v[child], v[child - 1]))
        child--;
      v[hole] = v[child];
      hole = child;
    }
  if (n % 2 == 0 && child == (n - 2) / 2)
    {
      child = 2 * child + 1;
      v[hole] = v[child];
      hole = child;
    }
  for (guint32 parent; hole > top && comes_first (sort, v[parent = (hole - 1) / 2], bundle); hole = parent)
    v[hole] = v[parent];
  v[hole] = bundle;
}

static void
heap_sort (const Sort *sort, guint32 first, guint32 last)
{
  guint32 *v = sort->v + first, n = last - first;

  for (guint32 parent = n / 2; parent > 0; parent--)
    adjust_heap (sort, first, parent - 1, n, v[parent - 1]);
  while (n > 1)
    {
      guint32 bundle = v[--n];

      v[n] = v[0];
      adjust_heap (sort, first, 0, n, bundle);
    }
}

enum { SHORT_RANGE = 16 }; /* ranges up to this length are left to the insertion sort at the end */

static void
introsort (const Sort *sort, guint32 first, guint32 last, guint depth)
{
  while (last - first > SHORT_RANGE)
    {
      guint32 cut;

      if (depth-- == 0)
        {
          heap_sort (sort, first, last);
          return;
        }
      cut = partition (sort, first, last);
      introsort (sort, cut, last, depth);
      last = cut;
    }
}

void
quoit_ray_order (const QuoitBundles *bundles, guint32 *order)
{
  guint32 n = bundles->n_bundles, n_resources = bundles->n_resources;
  g_autofree Resource *resources = g_new (Resource, n_resources);
  g_autofree guint32 *weights = g_new (guint32, n_resources);
  Sort sort = { bundles, weights, order };

  for (guint32 r = 0; r < n_resources; r++)
    resources[r] = (Resource) { bundles->resources[r], quoit_ray_resource_id (bundles->resources[r]),
                                resource_rank (bundles->resources[r]), r };
  if (n_resources > 0)
    qsort (resources, n_resources, sizeof *resources, by_weight);
  for (guint32 r = 0; r < n_resources; r++)
    weights[r] = resources[r].index;
  for (guint32 b = 0; b < n; b++)
    order[b] = b;
  if (n < 2)
    return;
  introsort (&sort, 0, n, 2 * (guint) g_bit_storage (n) - 2);
  insertion_sort (&sort, MIN (n, SHORT_RANGE));
  for (guint32 i = SHORT_RANGE; i < n; i++)
    insert_unguarded (&sort, i);
}

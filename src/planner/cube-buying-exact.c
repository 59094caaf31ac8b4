/* SPDX-License-Identifier: Apache-2.0 */
/* Branch and bound: first how many blocks of each offer are bought, then where each slice is joined. Slices of one
 * shape go into bins in ascending order, and of equal bins with equal contents only the first one is tried, because
 * exchanging them changes nothing. */
#include "planner/cube-buying-types.h"

#include <string.h>

enum { MOST_SLICES = 4096 /* that are tried one by one */ };

typedef struct {
  QuoitCubeBuying *buying;
  QuoitCubePlan plan;
  guint32 *shapes;  /* by slice, in the order in which they are tried */
  guint64 n_left;   /* free cubes in the bins, and in no block */
  guint64 n_wanted; /* cubes of the slices that have no bin yet, and single ones */
  gint64 price;     /* the least for @n_price cubes; -1: none can be bought */
  guint64 n_price;
  gboolean is_complete;
} Search;

/* --- where slices are joined --- */

static gboolean
are_equal_rows (const QuoitCubeMarket *market, guint32 a, guint32 b)
{
  const QuoitCubeBlock *x, *y;

  if (a == b || a >= market->n_blocks || b >= market->n_blocks)
    return a == b;
  x = &market->blocks[a];
  y = &market->blocks[b];
  return x->grid == NULL && y->grid == NULL && x->n_free == y->n_free && x->limit == y->limit
         && (x->limit == 0 || x->price == y->price);
}

/* Returns whether an equal bin from @first on has been tried. */
static gboolean
has_equal (const Search *search, guint32 first, guint32 index)
{
  const QuoitCubeMarket *market = search->buying->market;
  const QuoitCubeBin *bin = quoit_cube_plan_bin (&search->plan, index);
  const guint32 *counts = quoit_cube_plan_counts (search->buying, &search->plan, index);

  for (guint32 i = first; i < index; i++)
    {
      const QuoitCubeBin *other = quoit_cube_plan_bin (&search->plan, i);

      if (other->load == bin->load && are_equal_rows (market, other->row, bin->row)
          && memcmp (quoit_cube_plan_counts (search->buying, &search->plan, i), counts,
                     market->n_shapes * sizeof *counts)
                 == 0)
        return TRUE;
    }
  return FALSE;
}

/* Returns whether no plan of that cost is better than the best one. */
static gboolean
is_too_expensive (const QuoitCubeBuying *buying, __int128 cost)
{
  return buying->best->is_found && cost > buying->best->cost - buying->price_unit;
}

/* Returns whether the cubes that are missing cost so much that no better plan follows. */
static gboolean
is_hopeless (const Search *search)
{
  const guint64 n_missing = search->n_wanted - MIN (search->n_wanted, search->n_left);
  __int128 cost = search->plan.cost;

  if (n_missing > 0 && search->price < 0)
    return TRUE;
  if (n_missing > 0)
    cost += (__int128) search->price * n_missing / search->n_price;
  return is_too_expensive (search->buying, cost);
}

static void
put (Search *search, guint32 index, guint32 shape, gint32 n)
{
  const QuoitCubeBin *bin = quoit_cube_plan_bin (&search->plan, index);

  search->n_left -= quoit_cube_bin_left (search->buying, bin);
  quoit_cube_plan_add (&search->plan, search->buying, index, shape, n);
  search->n_left += quoit_cube_bin_left (search->buying, bin);
}

static void
finish (Search *search)
{
  if (quoit_cube_plan_add_singles (&search->plan, search->buying) == 0)
    quoit_cube_plan_keep (&search->plan, search->buying);
  quoit_cube_plan_remove_singles (&search->plan, search->buying);
}

/* Puts the slices from @slice on, those of the same shape not into bins before @first. */
static void
put_slices (Search *search, guint32 slice, guint32 first)
{
  QuoitCubeBuying *buying = search->buying;
  const guint32 shape = search->shapes[slice],
                n_cubes = slice == buying->n_slices ? 0 : buying->market->shapes[shape].n_cubes;

  if (*buying->steps == 0)
    {
      search->is_complete = FALSE;
      return;
    }
  quoit_cube_buying_spend (buying, 1 + search->plan.bins->len);
  if (is_hopeless (search))
    return;
  if (slice == buying->n_slices)
    {
      finish (search);
      return;
    }
  if (slice == 0 || search->shapes[slice - 1] != shape)
    first = 0;
  search->n_wanted -= n_cubes;
  for (guint32 i = first; i < search->plan.bins->len; i++)
    {
      if (has_equal (search, first, i) || !quoit_cube_plan_can_add (buying, &search->plan, i, shape))
        continue;
      put (search, i, shape, 1);
      put_slices (search, slice + 1, i);
      put (search, i, shape, -1);
    }
  if (buying->market->shapes[shape].price >= 0)
    {
      search->plan.whole[shape]++;
      search->plan.cost += buying->market->shapes[shape].price;
      put_slices (search, slice + 1, search->plan.bins->len);
      search->plan.cost -= buying->market->shapes[shape].price;
      search->plan.whole[shape]--;
    }
  search->n_wanted += n_cubes;
}

/* --- which blocks are bought --- */

static void
offer_price (Search *search, gint64 price, guint64 n)
{
  if (search->price >= 0 && (__int128) price * search->n_price >= (__int128) search->price * n)
    return;
  search->price = price;
  search->n_price = n;
}

static void
find_price (Search *search)
{
  const QuoitCubeMarket *market = search->buying->market;

  search->price = -1;
  search->n_price = 1;
  for (guint32 i = 0; i <= market->n_blocks; i++)
    {
      const QuoitCubeBlock *block = quoit_cube_market_block (market, i);

      if (block->limit > 0)
        offer_price (search, block->price, 1);
    }
  for (guint32 s = 0; s < market->n_shapes; s++)
    if (market->shapes[s].price >= 0 && search->buying->demand->n_slices[s] > 0)
      offer_price (search, market->shapes[s].price, market->shapes[s].n_cubes);
}

/* Begins a plan that has these blocks. */
static void
begin_plan (Search *search, const guint32 *n_new)
{
  quoit_cube_plan_init (&search->plan, search->buying);
  for (guint32 i = 0; i < search->buying->market->n_offers; i++)
    quoit_cube_plan_open (&search->plan, search->buying, i, n_new[i]);
}

/* Tries the plans with these blocks. */
static void
try_blocks (Search *search, const guint32 *n_new)
{
  QuoitCubeBuying *buying = search->buying;

  begin_plan (search, n_new);
  if (quoit_cube_plan_fill (&search->plan, buying, NULL))
    quoit_cube_plan_keep (&search->plan, buying);
  quoit_cube_plan_clear (&search->plan);
  /* The bound costs steps, so it is not computed in vain. */
  if (buying->best->is_found
      && is_too_expensive (buying, quoit_cube_buying_bound (buying, n_new, buying->market->n_offers)))
    return;
  if (buying->n_slices > MOST_SLICES)
    {
      search->is_complete = FALSE;
      return;
    }
  begin_plan (search, n_new);
  search->n_left = buying->market->loose.n_free;
  for (guint32 i = 0; i < search->plan.bins->len; i++)
    search->n_left += quoit_cube_bin_free (buying, quoit_cube_plan_bin (&search->plan, i));
  search->n_wanted = buying->n_joined + buying->demand->n_single;
  put_slices (search, 0, 0);
  quoit_cube_plan_clear (&search->plan);
}

static void
choose_blocks (Search *search, guint32 *n_new, guint32 offer)
{
  QuoitCubeBuying *buying = search->buying;
  guint32 most;

  if (offer == buying->market->n_offers)
    {
      try_blocks (search, n_new);
      return;
    }
  most = quoit_cube_buying_most_blocks (buying, offer);
  for (n_new[offer] = 0; n_new[offer] <= most; n_new[offer]++)
    {
      const gint64 bound = quoit_cube_buying_bound (buying, n_new, offer + 1);

      if (*buying->steps == 0)
        {
          search->is_complete = FALSE;
          break;
        }
      if (bound == G_MAXINT64 || is_too_expensive (buying, bound))
        continue;
      choose_blocks (search, n_new, offer + 1);
    }
  n_new[offer] = 0;
}

gboolean
quoit_cube_buying_try_all (QuoitCubeBuying *buying)
{
  g_autofree guint32 *n_new = g_new0 (guint32, buying->market->n_offers + 1);
  Search search = { .buying = buying, .shapes = g_new (guint32, buying->n_slices + 1), .is_complete = TRUE };
  guint32 n = 0;

  for (guint32 i = 0; i < buying->market->n_shapes; i++)
    for (guint32 k = 0; k < buying->demand->n_slices[buying->order[i]]; k++)
      search.shapes[n++] = buying->order[i];
  search.shapes[n] = 0;
  find_price (&search);
  buying->has_gaps = FALSE;
  choose_blocks (&search, n_new, 0);
  g_free (search.shapes);
  return search.is_complete && !buying->has_gaps;
}

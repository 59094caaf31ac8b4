/* SPDX-License-Identifier: Apache-2.0 */
/* The lower end of a purchase of cubes. Cubes are counted as if slices could be divided. Of each block, only as many
 * cubes count as slices can use: a multiple of what all numbers of cubes are multiples of. The cheapest cubes are then
 * taken first, of blocks that can be bought also a part. */
#include "planner/cube-buying-types.h"

/* A number of cubes that cost so much together, and any part of them its share. */
typedef struct {
  guint64 n;
  gint64 cost;
} Tier;

static gint
by_rate (gconstpointer a, gconstpointer b)
{
  const Tier *x = a, *y = b;
  const __int128 left = (__int128) x->cost * y->n, right = (__int128) y->cost * x->n;

  return left < right ? -1 : left > right;
}

static void
add_tier (GArray *tiers, guint64 n, gint64 cost)
{
  const Tier tier = { n, cost };

  if (n > 0)
    g_array_append_val (tiers, tier);
}

/* Returns the cost of @need cubes, rounded down; G_MAXINT64 if the tiers have too few. */
static gint64
fill (GArray *tiers, guint64 need)
{
  __int128 cost = 0;

  g_array_sort (tiers, by_rate);
  for (guint i = 0; i < tiers->len && need > 0; i++)
    {
      const Tier *tier = &g_array_index (tiers, Tier, i);
      const guint64 n = MIN (need, tier->n);

      cost += n == tier->n ? (__int128) tier->cost : (__int128) tier->cost * n / tier->n;
      need -= n;
    }
  return need > 0 ? G_MAXINT64 : (gint64) cost;
}

/* What slices can use of a block. */
typedef struct {
  guint32 divisor, least; /* of the numbers of cubes of all slices */
  gboolean all_adjacent;
} Use;

static Use
find_use (const QuoitCubeBuying *buying)
{
  Use use = { 0, G_MAXUINT32, TRUE };

  for (guint32 s = 0; s < buying->market->n_shapes; s++)
    if (buying->demand->n_slices[s] > 0)
      {
        const QuoitCubeShape *shape = &buying->market->shapes[s];

        use.divisor = (guint32) quoit_buying_common_divisor (use.divisor, shape->n_cubes);
        use.least = MIN (use.least, shape->n_cubes);
        use.all_adjacent = use.all_adjacent && shape->n_turns > 0;
      }
  use.divisor = MAX (use.divisor, 1);
  return use;
}

static guint64
usable (const Use *use, guint64 n)
{
  return n < use->least ? 0 : n / use->divisor * use->divisor;
}

static void
add_block (GArray *tiers, const Use *use, const QuoitCubeBlock *block)
{
  guint64 n_free = block->n_free, n_all = (guint64) block->n_free + block->limit, n_first;

  if (use->all_adjacent)
    n_all = n_free = block->grid == NULL ? 0 : quoit_host_set_count (block->grid, block->free);
  n_free = usable (use, n_free);
  n_all = usable (use, n_all);
  add_tier (tiers, n_free, 0);
  if (n_all == n_free)
    return;
  /* The first cubes that are bought also make use of the free ones that are left. */
  n_first = n_free == 0 ? use->least : use->divisor;
  add_tier (tiers, n_first, (gint64) (n_free + n_first - block->n_free) * block->price);
  add_tier (tiers, n_all - n_free - n_first, (gint64) (n_all - n_free - n_first) * block->price);
}

static void
add_offers (GArray *tiers, const QuoitCubeBuying *buying, const Use *use, const guint32 *n_new, guint32 n_decided)
{
  for (guint32 i = 0; i < buying->market->n_offers; i++)
    {
      const QuoitCubeOffer *offer = &buying->market->offers[i];
      guint64 n = offer->n_cubes;

      if (use != NULL)
        n = use->all_adjacent && offer->grid == NULL ? 0 : usable (use, n);
      if (i < n_decided)
        add_tier (tiers, n * n_new[i], 0);
      else
        {
          const guint32 most = quoit_cube_buying_most_blocks (buying, i);

          add_tier (tiers, n * most, most * offer->price);
        }
    }
}

static void
add_whole_slices (GArray *tiers, const QuoitCubeBuying *buying)
{
  for (guint32 s = 0; s < buying->market->n_shapes; s++)
    {
      const QuoitCubeShape *shape = &buying->market->shapes[s];
      const guint32 n = buying->demand->n_slices[s];

      if (shape->price >= 0)
        add_tier (tiers, (guint64) n * shape->n_cubes, n * shape->price);
    }
}

/* The cost of the joined slices alone. */
static gint64
bound_of_slices (const QuoitCubeBuying *buying, const guint32 *n_new, guint32 n_decided)
{
  g_autoptr (GArray) tiers = g_array_new (FALSE, FALSE, sizeof (Tier));
  const Use use = find_use (buying);

  if (buying->n_joined == 0)
    return 0;
  for (guint32 block = 0; block < buying->market->n_blocks; block++)
    add_block (tiers, &use, &buying->market->blocks[block]);
  add_offers (tiers, buying, &use, n_new, n_decided);
  add_whole_slices (tiers, buying);
  return fill (tiers, buying->n_joined);
}

/* The cost of as many cubes as all requests need. */
static gint64
bound_of_cubes (const QuoitCubeBuying *buying, const guint32 *n_new, guint32 n_decided)
{
  g_autoptr (GArray) tiers = g_array_new (FALSE, FALSE, sizeof (Tier));

  for (guint32 i = 0; i <= buying->market->n_blocks; i++)
    {
      const QuoitCubeBlock *block = quoit_cube_market_block (buying->market, i);

      add_tier (tiers, block->n_free, 0);
      add_tier (tiers, block->limit, block->limit * block->price);
    }
  add_offers (tiers, buying, NULL, n_new, n_decided);
  add_whole_slices (tiers, buying);
  return fill (tiers, buying->n_joined + buying->demand->n_single);
}

gint64
quoit_cube_buying_bound (QuoitCubeBuying *buying, const guint32 *n_new, guint32 n_decided)
{
  const gint64 slices = bound_of_slices (buying, n_new, n_decided), cubes = bound_of_cubes (buying, n_new, n_decided);
  const gint64 bound = MAX (slices, cubes);
  __int128 sum = bound;

  quoit_cube_buying_spend (buying, 4 * (buying->n_rows + 1));
  for (guint32 i = 0; i < n_decided; i++)
    sum += (__int128) n_new[i] * buying->market->offers[i].price;
  if (buying->weights != NULL && bound != G_MAXINT64)
    sum = MAX (sum, quoit_cube_weights_bound (buying->weights, buying->demand, n_new, n_decided));
  return (gint64) MIN (sum, (__int128) G_MAXINT64);
}

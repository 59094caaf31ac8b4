/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/cube-weights.h"

#include <string.h>

enum {
  MAX_VALUE = 60000, /* of a slice in a packing */
  PACKING_STEPS = 20000,
  PACKING_SPENDS = 1000, /* what a packing takes of the budget */
  MOST_PACKED = 512,     /* positions of a grid; no block of the catalogue has more */
  MOST_FILLS = 4096,     /* cubes without positions; more of them are worth as much as if slices could be divided */
  OBEY_ROUNDS = 4
};

/* Blocks that can be used in the same ways. */
typedef struct {
  const QuoitCubeBlock *block;
  gint64 n;
} Group;

/* The use of a block that is worth most: an upper end of its worth, and what a good use has. */
typedef struct {
  gint64 worth;
  guint32 *counts; /* by kind: slices, or single cubes */
} Use;

typedef struct {
  QuoitCubeWeights public;
  GArray *groups;   /* of Group */
  guint32 *most;    /* by shape: how many slices are wanted at most */
  guint32 n_slices; /* of all shapes */
  guint32 n_single; /* cubes that are wanted at most */
  guint32 n_fills;  /* numbers of cubes for which the best use without positions is known */
  gint64 *fills;    /* by number of cubes: what that use is worth */
  guint32 *last;    /* by number of cubes: a kind that is in the use; n_kinds: a cube without use */
  gint64 rate;      /* the greatest weight of a kind without positions */
  gint64 *offers;   /* by offer: what one block is worth beyond its price */
  __int128 blocks;  /* what everything else is worth */
  Use use, packed;
} Weights;

static Weights *
private_of (const QuoitCubeWeights *weights)
{
  return (Weights *) (gpointer) weights;
}

static guint32
single_kind (const Weights *weights)
{
  return weights->public.market->n_shapes;
}

/* Returns how many cubes one slice of the kind has. */
static guint32
size_of (const Weights *weights, guint32 kind)
{
  return kind == single_kind (weights) ? 1 : weights->public.market->shapes[kind].n_cubes;
}

/* Returns whether the kind is wanted, and takes cubes with positions, or any cubes. */
static gboolean
is_wanted (const Weights *weights, guint32 kind, gboolean with_positions)
{
  if (kind == single_kind (weights))
    return weights->n_single > 0 && !with_positions;
  return weights->most[kind] > 0 && (weights->public.market->shapes[kind].n_turns > 0) == with_positions;
}

/* --- cubes without positions --- */

/* Finds the best uses of any numbers of cubes, with as many slices of each kind as one likes. */
static void
fill_numbers (Weights *weights, guint64 *steps)
{
  const gint64 *values = weights->public.weights;

  weights->rate = 0;
  for (guint32 kind = 0; kind < weights->public.n_kinds; kind++)
    if (is_wanted (weights, kind, FALSE))
      weights->rate = MAX (weights->rate, values[kind]);
  weights->fills[0] = 0;
  for (guint32 n = 1; n < weights->n_fills; n++)
    {
      weights->fills[n] = weights->fills[n - 1];
      weights->last[n] = weights->public.n_kinds;
      for (guint32 kind = 0; kind < weights->public.n_kinds && weights->rate > 0; kind++)
        {
          const guint32 size = size_of (weights, kind);

          if (!is_wanted (weights, kind, FALSE) || size > n
              || weights->fills[n - size] + values[kind] * size <= weights->fills[n])
            continue;
          weights->fills[n] = weights->fills[n - size] + values[kind] * size;
          weights->last[n] = kind;
        }
    }
  *steps -= MIN (*steps, weights->n_fills);
}

/* Adds the best use of @n cubes without positions. */
static void
add_fill (Weights *weights, guint64 n, Use *use)
{
  guint32 left = (guint32) MIN (n, weights->n_fills - 1);

  while (left > 0)
    if (weights->last[left] == weights->public.n_kinds)
      left--;
    else
      {
        use->counts[weights->last[left]]++;
        left -= size_of (weights, weights->last[left]);
      }
}

/* --- packings --- */

static void
clear_use (const Weights *weights, Use *use)
{
  use->worth = 0;
  memset (use->counts, 0, weights->public.n_kinds * sizeof *use->counts);
}

/* Takes as many slices as there are cubes for, of the shape that is worth most beyond @cube for each cube and has a
 * place. For grids that take too long to pack. */
static void
divide (Weights *weights, const QuoitGrid *grid, const QuoitHostSet *free, gint64 cube, Use *use)
{
  const guint32 n_free = quoit_host_set_count (grid, free);
  gint64 more = 0;
  guint32 best = 0;

  for (guint32 s = 0; s < weights->public.market->n_shapes; s++)
    {
      const QuoitCubeShape *shape = &weights->public.market->shapes[s];
      QuoitPlace place;

      if (!is_wanted (weights, s, TRUE) || weights->public.weights[s] - cube <= more
          || !quoit_places_find_first (grid, free, shape->turns, shape->n_turns, &place))
        continue;
      more = weights->public.weights[s] - cube;
      best = s;
    }
  if (more == 0)
    return;
  use->worth = more * n_free;
  use->counts[best] = n_free / size_of (weights, best);
}

/* Packs the slices of adjacent cubes that are worth most together, beyond @cube for each cube. The worth is an upper
 * end. */
static void
pack (Weights *weights, const QuoitGrid *grid, const QuoitHostSet *free, gint64 cube, Use *use, guint64 *steps)
{
  const QuoitCubeMarket *market = weights->public.market;
  g_autofree QuoitPackingDemand *demands = g_new (QuoitPackingDemand, market->n_shapes + 1);
  g_autofree guint32 *shapes = g_new (guint32, market->n_shapes + 1);
  QuoitPackingResult result;
  gint64 greatest = 0, unit;
  guint n_demands = 0;

  clear_use (weights, use);
  if (quoit_grid_n_hosts (grid) > MOST_PACKED)
    {
      divide (weights, grid, free, cube, use);
      return;
    }
  for (guint32 s = 0; s < market->n_shapes; s++)
    if (is_wanted (weights, s, TRUE))
      greatest = MAX (greatest, (weights->public.weights[s] - cube) * market->shapes[s].n_cubes);
  if (greatest == 0)
    return;
  unit = (greatest + MAX_VALUE - 1) / MAX_VALUE;
  for (guint32 s = 0; s < market->n_shapes; s++)
    {
      const gint64 value = (weights->public.weights[s] - cube) * market->shapes[s].n_cubes;

      if (!is_wanted (weights, s, TRUE) || value <= 0)
        continue;
      shapes[n_demands] = s;
      demands[n_demands++] = (QuoitPackingDemand) { market->shapes[s].turns, market->shapes[s].n_turns,
                                                    (guint32) ((value + unit - 1) / unit), weights->most[s] };
    }
  quoit_packing_solve (grid, free, demands, n_demands, QUOIT_OFFSETS_ANY, PACKING_STEPS, &result);
  use->worth = (gint64) result.most * unit;
  for (guint i = 0; i < result.parts->len; i++)
    use->counts[shapes[g_array_index (result.parts, QuoitPackedPart, i).demand]]++;
  quoit_packing_result_clear (&result);
  *steps -= MIN (*steps, PACKING_SPENDS);
}

static guint32
count_cubes (const Weights *weights, const Use *use)
{
  guint32 n = 0;

  for (guint32 kind = 0; kind < weights->public.n_kinds; kind++)
    n += use->counts[kind] * size_of (weights, kind);
  return n;
}

/* --- blocks --- */

/* Returns how many cubes are sold if each is worth @weight: the free ones, and those that cost less. */
static guint64
count_sold (const QuoitCubeBlock *block, gint64 weight)
{
  return (guint64) block->n_free + (block->limit > 0 && weight > block->price ? block->limit : 0);
}

/* Returns what these cubes are worth beyond the price of those that are bought. */
static gint64
worth_of (const QuoitCubeBlock *block, gint64 weight)
{
  const gint64 n_bought = (gint64) (count_sold (block, weight) - block->n_free);

  return weight * block->n_free + (n_bought > 0 ? (weight - block->price) * n_bought : 0);
}

/* Finds the best use of the cubes of a block without positions. */
static void
use_any (Weights *weights, const QuoitCubeBlock *block, Use *use, guint64 *steps)
{
  const guint64 most = (guint64) block->n_free + block->limit;
  guint64 best = block->n_free;

  if (most >= weights->n_fills)
    {
      best = count_sold (block, weights->rate);
      use->worth += worth_of (block, weights->rate);
    }
  else
    {
      gint64 worth = weights->fills[block->n_free];

      for (guint64 n = best + 1; n <= most; n++)
        {
          const gint64 other = weights->fills[n] - block->price * (gint64) (n - block->n_free);

          if (other <= worth)
            continue;
          worth = other;
          best = n;
        }
      use->worth += worth;
      *steps -= MIN (*steps, block->limit / 8);
    }
  add_fill (weights, best, use);
}

/* Finds the best use of a block. If adjacent slices and others share it, two upper ends are computed: each of both gets
 * the block for itself, or a cube of an adjacent slice is worth only what it is worth beyond the other uses. */
static void
use_block (Weights *weights, const QuoitCubeBlock *block, guint64 *steps)
{
  Use *use = &weights->use, *packed = &weights->packed;
  gint64 shared;

  clear_use (weights, use);
  if (block->grid != NULL)
    pack (weights, block->grid, block->free, 0, use, steps);
  if (count_cubes (weights, use) == 0 || weights->rate == 0)
    {
      use_any (weights, block, use, steps);
      return;
    }
  pack (weights, block->grid, block->free, weights->rate, packed, steps);
  shared = packed->worth + worth_of (block, weights->rate);
  use_any (weights, block, use, steps);
  if (shared >= use->worth)
    return;
  use->worth = shared;
  memcpy (use->counts, packed->counts, weights->public.n_kinds * sizeof *use->counts);
  add_fill (weights, count_sold (block, weights->rate) - count_cubes (weights, packed), use);
}

/* Finds the best use of an empty block of an offer. */
static void
use_offer (Weights *weights, const QuoitCubeOffer *offer, guint64 *steps)
{
  QuoitHostSet all;

  if (offer->grid != NULL)
    quoit_host_set_fill (offer->grid, &all);
  use_block (weights, &(QuoitCubeBlock) { 0, offer->n_cubes, 0, offer->grid, &all }, steps);
}

/* Sells the use of @n blocks. */
static void
sell (Weights *weights, gint64 n)
{
  for (guint32 kind = 0; kind < weights->public.n_kinds; kind++)
    weights->public.sold[kind] += n * weights->use.counts[kind] * size_of (weights, kind);
}

/* --- what is worth how much --- */

static guint32
most_blocks (const Weights *weights, const QuoitCubeOffer *offer)
{
  return quoit_cube_offer_most (offer, weights->n_slices, weights->n_single);
}

/* Lowers the weights of what an empty block of the offer sells, until the block is worth no more than its price. */
static void
obey_price (Weights *weights, const QuoitCubeOffer *offer, guint64 *steps)
{
  gint64 *values = weights->public.weights;

  for (guint round = 0; round < OBEY_ROUNDS; round++)
    {
      use_offer (weights, offer, steps);
      if (weights->use.worth <= offer->price)
        return;
      for (guint32 kind = 0; kind < weights->public.n_kinds; kind++)
        if (weights->use.counts[kind] > 0)
          values[kind] = (gint64) ((__int128) values[kind] * offer->price / weights->use.worth);
      fill_numbers (weights, steps);
    }
}

static void
sell_blocks (Weights *weights, guint64 *steps)
{
  for (guint i = 0; i < weights->groups->len; i++)
    {
      const Group *group = &g_array_index (weights->groups, Group, i);

      use_block (weights, group->block, steps);
      weights->blocks += (__int128) weights->use.worth * group->n;
      sell (weights, group->n);
    }
}

/* Sells the cubes in no block. */
static void
sell_loose_cubes (Weights *weights)
{
  const QuoitCubeBlock *loose = &weights->public.market->loose;
  const guint32 kind = single_kind (weights);
  const gint64 weight = weights->public.weights[kind];

  weights->blocks += worth_of (loose, weight);
  weights->public.sold[kind] += (gint64) count_sold (loose, weight);
}

static void
sell_whole_slices (Weights *weights)
{
  for (guint32 s = 0; s < weights->public.market->n_shapes; s++)
    {
      const QuoitCubeShape *shape = &weights->public.market->shapes[s];
      const __int128 profit = (__int128) weights->public.weights[s] * shape->n_cubes - shape->price;

      if (shape->price < 0 || profit <= 0)
        continue;
      weights->blocks += profit * weights->most[s];
      weights->public.sold[s] += (gint64) weights->most[s] * shape->n_cubes;
    }
}

__int128
quoit_cube_weights_sell (QuoitCubeWeights *weights, guint64 *steps)
{
  Weights *private = private_of (weights);
  const QuoitCubeMarket *market = weights->market;
  __int128 offers = 0;

  fill_numbers (private, steps);
  for (guint32 i = 0; i < market->n_offers; i++)
    if (most_blocks (private, &market->offers[i]) > 0)
      obey_price (private, &market->offers[i], steps);
  memset (weights->sold, 0, weights->n_kinds * sizeof *weights->sold);
  private->blocks = 0;
  sell_blocks (private, steps);
  sell_loose_cubes (private);
  sell_whole_slices (private);
  for (guint32 i = 0; i < market->n_offers; i++)
    {
      const guint32 most = most_blocks (private, &market->offers[i]);

      use_offer (private, &market->offers[i], steps);
      private->offers[i] = private->use.worth - market->offers[i].price;
      if (private->offers[i] <= 0)
        continue;
      offers += (__int128) private->offers[i] * most;
      sell (private, most);
    }
  *steps -= MIN (*steps, market->n_blocks + market->n_offers + 1);
  return private->blocks + offers;
}

/* --- what is kept --- */

void
quoit_cube_weights_keep (QuoitCubeWeights *weights)
{
  const Weights *private = private_of (weights);

  weights->kept_blocks = private->blocks;
  memcpy (weights->kept, weights->weights, weights->n_kinds * sizeof *weights->kept);
  memcpy (weights->kept_offers, private->offers, weights->market->n_offers * sizeof *weights->kept_offers);
}

__int128
quoit_cube_weights_bound (const QuoitCubeWeights *weights, const QuoitCubeDemand *demand, const guint32 *n_new,
                          guint32 n_decided)
{
  const Weights *private = private_of (weights);
  const QuoitCubeMarket *market = weights->market;
  __int128 bound = (__int128) weights->kept[single_kind (private)] * demand->n_single - weights->kept_blocks;

  for (guint32 s = 0; s < market->n_shapes; s++)
    bound += (__int128) weights->kept[s] * market->shapes[s].n_cubes * demand->n_slices[s];
  for (guint32 i = 0; i < market->n_offers; i++)
    if (i < n_decided)
      bound -= (__int128) weights->kept_offers[i] * n_new[i];
    else if (weights->kept_offers[i] > 0)
      bound -= (__int128) weights->kept_offers[i] * most_blocks (private, &market->offers[i]);
  return bound;
}

/* --- prices --- */

static gint64
cheaper (gint64 price, gint64 other)
{
  return price < 0 ? other : MIN (price, other);
}

gint64
quoit_cube_weights_price (const QuoitCubeWeights *weights, guint32 kind)
{
  const Weights *private = private_of (weights);
  const QuoitCubeMarket *market = weights->market;
  const QuoitCubeShape *shape = kind == single_kind (private) ? NULL : &market->shapes[kind];
  const gboolean is_adjacent = shape != NULL && shape->n_turns > 0;
  gint64 price = -1;

  if (!is_wanted (private, kind, is_adjacent))
    return 0;
  for (guint32 i = 0; i <= market->n_blocks && !is_adjacent; i++)
    if (quoit_cube_market_block (market, i)->limit > 0 && (shape == NULL || i < market->n_blocks))
      price = cheaper (price, quoit_cube_market_block (market, i)->price);
  for (guint32 i = 0; i < market->n_offers; i++)
    {
      const QuoitCubeOffer *offer = &market->offers[i];
      const guint32 size = size_of (private, kind), n_cubes = offer->n_cubes / size * size;

      if (offer->limit > 0 && n_cubes > 0 && (!is_adjacent || offer->grid != NULL))
        price = cheaper (price, offer->price / n_cubes);
    }
  if (shape != NULL && shape->price >= 0)
    price = cheaper (price, shape->price / shape->n_cubes);
  return MAX (price, 0);
}

/* --- memory --- */

static GBytes *
key_of (const QuoitCubeBlock *block)
{
  const gint64 numbers[] = { block->n_free, block->limit, block->limit > 0 ? block->price : 0 };
  GByteArray *bytes = g_byte_array_new ();

  g_byte_array_append (bytes, (const guint8 *) numbers, sizeof numbers);
  if (block->grid != NULL)
    {
      g_byte_array_append (bytes, (const guint8 *) block->grid, sizeof *block->grid);
      g_byte_array_append (bytes, (const guint8 *) block->free->rows,
                           (guint) (quoit_grid_n_rows (block->grid) * sizeof *block->free->rows));
    }
  return g_byte_array_free_to_bytes (bytes);
}

static void
add_block (Weights *weights, GHashTable *known, const QuoitCubeBlock *block)
{
  const Group group = { block, 1 };
  GBytes *key = key_of (block);
  gpointer number;

  if (g_hash_table_lookup_extended (known, key, NULL, &number))
    {
      g_array_index (weights->groups, Group, GPOINTER_TO_UINT (number)).n++;
      g_bytes_unref (key);
      return;
    }
  g_hash_table_insert (known, key, GUINT_TO_POINTER (weights->groups->len));
  g_array_append_val (weights->groups, group);
}

/* Returns the greatest number of cubes of one block, limited to what is filled exactly. */
static guint32
most_cubes (const QuoitCubeMarket *market)
{
  guint64 most = 0;

  for (guint32 i = 0; i < market->n_blocks; i++)
    most = MAX (most, (guint64) market->blocks[i].n_free + market->blocks[i].limit);
  for (guint32 i = 0; i < market->n_offers; i++)
    most = MAX (most, market->offers[i].n_cubes);
  return (guint32) MIN (most, MOST_FILLS);
}

QuoitCubeWeights *
quoit_cube_weights_new (const QuoitCubeMarket *market, const QuoitCubeDemand *most)
{
  g_autoptr (GHashTable) known
      = g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, NULL);
  Weights *weights = g_new0 (Weights, 1);
  const guint32 n_kinds = market->n_shapes + 1;

  weights->public = (QuoitCubeWeights) { .market = market,
                                         .n_kinds = n_kinds,
                                         .weights = g_new0 (gint64, n_kinds),
                                         .sold = g_new0 (gint64, n_kinds),
                                         .kept = g_new0 (gint64, n_kinds),
                                         .kept_offers = g_new0 (gint64, market->n_offers + 1) };
  weights->groups = g_array_new (FALSE, FALSE, sizeof (Group));
  weights->most = g_new0 (guint32, market->n_shapes + 1);
  weights->n_single = most->n_single;
  weights->offers = g_new0 (gint64, market->n_offers + 1);
  weights->use.counts = g_new0 (guint32, n_kinds);
  weights->packed.counts = g_new0 (guint32, n_kinds);
  weights->n_fills = most_cubes (market) + 1;
  weights->fills = g_new0 (gint64, weights->n_fills);
  weights->last = g_new0 (guint32, weights->n_fills);
  for (guint32 s = 0; s < market->n_shapes; s++)
    {
      weights->most[s] = most->n_slices[s];
      weights->n_slices += most->n_slices[s];
    }
  for (guint32 i = 0; i < market->n_blocks; i++)
    add_block (weights, known, &market->blocks[i]);
  return &weights->public;
}

void
quoit_cube_weights_free (QuoitCubeWeights *weights)
{
  Weights *private;

  if (weights == NULL)
    return;
  private = private_of (weights);
  g_free (weights->weights);
  g_free (weights->sold);
  g_free (weights->kept);
  g_free (weights->kept_offers);
  g_array_unref (private->groups);
  g_free (private->most);
  g_free (private->offers);
  g_free (private->use.counts);
  g_free (private->packed.counts);
  g_free (private->fills);
  g_free (private->last);
  g_free (private);
}

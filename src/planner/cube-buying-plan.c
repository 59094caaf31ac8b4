/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/cube-buying-types.h"

#include <string.h>

/* About a millisecond; few blocks need more than a hundredth of it. */
#define PACKING_STEPS G_GUINT64_CONSTANT (200000)

/* What a packing takes of the budget. */
enum { PACKING_SPENDS = 2000 };

/* --- bins --- */

static void
add_bins (QuoitCubePlan *plan, const QuoitCubeBuying *buying, guint32 row, guint32 n)
{
  const QuoitCubeBin bin = { row, 0 };

  for (guint32 i = 0; i < n; i++)
    g_array_append_val (plan->bins, bin);
  /* One more, so that the bins of a market without shapes have counts, too. */
  g_array_set_size (plan->counts, plan->bins->len * buying->market->n_shapes + 1);
}

void
quoit_cube_plan_init (QuoitCubePlan *plan, const QuoitCubeBuying *buying)
{
  const QuoitCubeMarket *market = buying->market;

  *plan = (QuoitCubePlan) { .bins = g_array_new (FALSE, FALSE, sizeof (QuoitCubeBin)),
                            .counts = g_array_new (FALSE, TRUE, sizeof (guint32)),
                            .n_new = g_new0 (guint32, market->n_offers + 1),
                            .whole = g_new0 (guint32, market->n_shapes + 1),
                            .singles = g_new0 (guint32, buying->n_rows + 1) };
  for (guint32 block = 0; block < market->n_blocks; block++)
    add_bins (plan, buying, block, 1);
}

void
quoit_cube_plan_clear (QuoitCubePlan *plan)
{
  g_array_unref (plan->bins);
  g_array_unref (plan->counts);
  g_free (plan->n_new);
  g_free (plan->whole);
  g_free (plan->singles);
}

void
quoit_cube_plan_open (QuoitCubePlan *plan, const QuoitCubeBuying *buying, guint32 offer, guint32 n)
{
  add_bins (plan, buying, buying->market->n_blocks + offer, n);
  plan->n_new[offer] += n;
  plan->cost += n * buying->market->offers[offer].price;
}

guint32
quoit_cube_bin_free (const QuoitCubeBuying *buying, const QuoitCubeBin *bin)
{
  const QuoitCubeMarket *market = buying->market;

  return bin->row < market->n_blocks ? market->blocks[bin->row].n_free
                                     : market->offers[bin->row - market->n_blocks].n_cubes;
}

guint32
quoit_cube_bin_left (const QuoitCubeBuying *buying, const QuoitCubeBin *bin)
{
  const guint32 n_free = quoit_cube_bin_free (buying, bin);

  return n_free - MIN (n_free, bin->load);
}

/* Returns how many cubes can be bought for the bin. */
static guint32
bin_limit (const QuoitCubeBuying *buying, const QuoitCubeBin *bin)
{
  return bin->row < buying->market->n_blocks ? buying->market->blocks[bin->row].limit : 0;
}

gint64
quoit_cube_bin_cost (const QuoitCubeBuying *buying, const QuoitCubeBin *bin, guint32 load)
{
  const guint32 n_free = quoit_cube_bin_free (buying, bin);

  return load <= n_free ? 0 : (load - n_free) * buying->market->blocks[bin->row].price;
}

/* --- adjacent cubes --- */

typedef enum { PACKED = 1, NOT_PACKED, UNKNOWN } Answer;

/* Packs the slices of adjacent cubes that the bin should have. */
static Answer
pack (const QuoitCubeBuying *buying, const QuoitCubeBin *bin, const guint32 *counts)
{
  const QuoitCubeMarket *market = buying->market;
  const gboolean is_new = bin->row >= market->n_blocks;
  const QuoitGrid *grid = is_new ? market->offers[bin->row - market->n_blocks].grid : market->blocks[bin->row].grid;
  g_autofree QuoitPackingDemand *demands = g_new0 (QuoitPackingDemand, market->n_shapes + 1);
  QuoitPackingResult result;
  QuoitHostSet all;
  guint n_demands = 0;
  guint64 wanted = 0;
  Answer answer;

  if (grid == NULL)
    return NOT_PACKED;
  if (is_new)
    quoit_host_set_fill (grid, &all);
  for (guint32 s = 0; s < market->n_shapes; s++)
    if (market->shapes[s].n_turns > 0 && counts[s] > 0)
      {
        demands[n_demands++] = (QuoitPackingDemand) { market->shapes[s].turns, market->shapes[s].n_turns,
                                                      market->shapes[s].n_cubes, counts[s] };
        wanted += (guint64) market->shapes[s].n_cubes * counts[s];
      }
  quoit_packing_solve (grid, is_new ? &all : market->blocks[bin->row].free, demands, n_demands, QUOIT_OFFSETS_ANY,
                       PACKING_STEPS, &result);
  answer = result.least >= wanted ? PACKED : result.most < wanted ? NOT_PACKED : UNKNOWN;
  quoit_packing_result_clear (&result);
  return answer;
}

/* Returns the answer for the bin, from what is known if possible. */
static Answer
look_up (QuoitCubeBuying *buying, const QuoitCubeBin *bin, const guint32 *counts)
{
  const guint32 n_shapes = buying->market->n_shapes;
  g_autofree guint32 *words = g_new0 (guint32, n_shapes + 1);
  GBytes *key;
  Answer answer;

  words[0] = bin->row;
  for (guint32 s = 0; s < n_shapes; s++)
    words[s + 1] = buying->market->shapes[s].n_turns > 0 ? counts[s] : 0;
  key = g_bytes_new (words, (n_shapes + 1) * sizeof *words);
  answer = (Answer) GPOINTER_TO_UINT (g_hash_table_lookup (buying->packed, key));
  if (answer == 0)
    {
      answer = pack (buying, bin, counts);
      quoit_cube_buying_spend (buying, PACKING_SPENDS);
      g_hash_table_insert (buying->packed, g_bytes_ref (key), GUINT_TO_POINTER (answer));
    }
  g_bytes_unref (key);
  return answer;
}

gboolean
quoit_cube_plan_can_add (QuoitCubeBuying *buying, QuoitCubePlan *plan, guint32 index, guint32 s)
{
  const QuoitCubeBin *bin = quoit_cube_plan_bin (plan, index);
  const QuoitCubeShape *shape = &buying->market->shapes[s];
  guint32 *counts = quoit_cube_plan_counts (buying, plan, index);
  Answer answer;

  if ((guint64) bin->load + shape->n_cubes > (guint64) quoit_cube_bin_free (buying, bin) + bin_limit (buying, bin))
    return FALSE;
  if (shape->n_turns == 0)
    return TRUE;
  counts[s]++;
  answer = look_up (buying, bin, counts);
  counts[s]--;
  buying->has_gaps = buying->has_gaps || answer == UNKNOWN;
  return answer == PACKED;
}

/* --- slices and single cubes --- */

void
quoit_cube_plan_add (QuoitCubePlan *plan, const QuoitCubeBuying *buying, guint32 index, guint32 shape, gint32 n)
{
  QuoitCubeBin *bin = quoit_cube_plan_bin (plan, index);
  const gint64 load = bin->load + (gint64) n * buying->market->shapes[shape].n_cubes;
  guint32 *counts = quoit_cube_plan_counts (buying, plan, index);

  plan->cost += quoit_cube_bin_cost (buying, bin, (guint32) load) - quoit_cube_bin_cost (buying, bin, bin->load);
  bin->load = (guint32) load;
  counts[shape] = (guint32) (counts[shape] + n);
}

/* Returns how many single cubes the bins and the cubes in no block have, before any are bought. */
static guint64
count_left (const QuoitCubePlan *plan, const QuoitCubeBuying *buying)
{
  guint64 n = buying->market->loose.n_free;

  for (guint32 i = 0; i < plan->bins->len; i++)
    n += quoit_cube_bin_left (buying, quoit_cube_plan_bin (plan, i));
  return n;
}

guint32
quoit_cube_plan_count_missing (const QuoitCubePlan *plan, const QuoitCubeBuying *buying)
{
  const guint32 n = buying->demand->n_single;

  return n - (guint32) MIN (n, count_left (plan, buying));
}

guint32
quoit_cube_plan_add_singles (QuoitCubePlan *plan, const QuoitCubeBuying *buying)
{
  const QuoitCubeMarket *market = buying->market;
  guint32 n = quoit_cube_plan_count_missing (plan, buying);

  for (guint32 i = 0; i < buying->n_cheapest && n > 0; i++)
    {
      const guint32 row = buying->cheapest[i];
      const gboolean is_loose = row == market->n_blocks;
      const QuoitCubeBlock *block = quoit_cube_market_block (market, row);
      const guint32 load = is_loose ? 0 : quoit_cube_plan_bin (plan, row)->load;
      const guint32 n_here = MIN (n, block->limit - (load > block->n_free ? load - block->n_free : 0));

      *(is_loose ? &plan->n_loose_bought : &plan->singles[row]) = n_here;
      plan->cost += n_here * block->price;
      n -= n_here;
    }
  return n;
}

void
quoit_cube_plan_remove_singles (QuoitCubePlan *plan, const QuoitCubeBuying *buying)
{
  const QuoitCubeMarket *market = buying->market;

  plan->cost -= plan->n_loose_bought * market->loose.price;
  plan->n_loose_bought = 0;
  for (guint32 block = 0; block < market->n_blocks; block++)
    plan->cost -= plan->singles[block] * market->blocks[block].price;
  memset (plan->singles, 0, (buying->n_rows + 1) * sizeof *plan->singles);
}

/* --- the best plan --- */

/* Takes the free cubes for single use: the ones in no block first, and then of blocks in order. */
static void
take_singles (const QuoitCubePlan *plan, const QuoitCubeBuying *buying, QuoitCubePurchase *purchase)
{
  const QuoitCubeBlock *loose = &buying->market->loose;
  guint32 n = buying->demand->n_single;

  purchase->n_loose_bought = plan->n_loose_bought;
  n -= plan->n_loose_bought;
  for (guint32 row = 0; row < buying->n_rows; row++)
    n -= plan->singles[row];
  purchase->n_loose_taken = plan->n_loose_bought + MIN (n, loose->n_free);
  n -= MIN (n, loose->n_free);
  for (guint32 i = 0; i < plan->bins->len; i++)
    {
      const QuoitCubeBin *bin = quoit_cube_plan_bin (plan, i);
      const guint32 n_here = MIN (n, quoit_cube_bin_left (buying, bin));

      purchase->taken[bin->row] += n_here;
      n -= n_here;
    }
}

void
quoit_cube_plan_keep (const QuoitCubePlan *plan, QuoitCubeBuying *buying)
{
  const QuoitCubeMarket *market = buying->market;
  QuoitCubePurchase *best = buying->best;

  if (best->is_found && plan->cost >= best->cost)
    return;
  best->is_found = TRUE;
  best->cost = plan->cost;
  memset (best->taken, 0, buying->n_rows * sizeof *best->taken);
  memset (best->joined, 0, (gsize) buying->n_rows * market->n_shapes * sizeof *best->joined);
  memcpy (best->bought, plan->singles, buying->n_rows * sizeof *best->bought);
  memcpy (best->bought + market->n_blocks, plan->n_new, market->n_offers * sizeof *best->bought);
  memcpy (best->whole, plan->whole, market->n_shapes * sizeof *best->whole);
  for (guint32 i = 0; i < plan->bins->len; i++)
    {
      const QuoitCubeBin *bin = quoit_cube_plan_bin (plan, i);
      const guint32 *counts = quoit_cube_plan_counts (buying, plan, i), n_free = quoit_cube_bin_free (buying, bin);

      best->taken[bin->row] += bin->load + (bin->row < market->n_blocks ? plan->singles[bin->row] : 0);
      if (bin->load > n_free)
        best->bought[bin->row] += bin->load - n_free;
      for (guint32 s = 0; s < market->n_shapes; s++)
        best->joined[(gsize) bin->row * market->n_shapes + s] += counts[s];
    }
  take_singles (plan, buying, best);
}

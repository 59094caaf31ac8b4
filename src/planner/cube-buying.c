/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/cube-buying-types.h"

/* --- purchases --- */

static QuoitCubePurchase *
purchase_new (guint32 n_rows, guint32 n_shapes)
{
  QuoitCubePurchase *purchase = g_rc_box_new0 (QuoitCubePurchase);

  purchase->bought = g_new0 (guint32, n_rows + 1);
  purchase->taken = g_new0 (guint32, n_rows + 1);
  purchase->joined = g_new0 (guint32, (gsize) n_rows * n_shapes + 1);
  purchase->whole = g_new0 (guint32, n_shapes + 1);
  return purchase;
}

QuoitCubePurchase *
quoit_cube_purchase_ref (QuoitCubePurchase *purchase)
{
  return g_rc_box_acquire (purchase);
}

static void
purchase_clear (gpointer data)
{
  QuoitCubePurchase *purchase = data;

  g_free (purchase->bought);
  g_free (purchase->taken);
  g_free (purchase->joined);
  g_free (purchase->whole);
}

void
quoit_cube_purchase_unref (QuoitCubePurchase *purchase)
{
  if (purchase != NULL)
    g_rc_box_release_full (purchase, purchase_clear);
}

/* --- prices --- */

gint64
quoit_buying_common_divisor (gint64 a, gint64 b)
{
  while (b != 0)
    {
      const gint64 rest = a % b;

      a = b;
      b = rest;
    }
  return a;
}

gint64
quoit_cube_market_price_unit (const QuoitCubeMarket *market, gint64 unit)
{
  for (guint32 i = 0; i <= market->n_blocks; i++)
    if (quoit_cube_market_block (market, i)->limit > 0)
      unit = quoit_buying_common_divisor (unit, quoit_cube_market_block (market, i)->price);
  for (guint32 i = 0; i < market->n_offers; i++)
    if (market->offers[i].limit > 0)
      unit = quoit_buying_common_divisor (unit, market->offers[i].price);
  for (guint32 s = 0; s < market->n_shapes; s++)
    if (market->shapes[s].price > 0)
      unit = quoit_buying_common_divisor (unit, market->shapes[s].price);
  return unit;
}

static void
add_estimate (QuoitCubeEstimate *estimate, gint64 price, guint64 n)
{
  if (n == 0)
    return;
  estimate->price = estimate->limit == 0 ? price : MIN (estimate->price, price);
  estimate->limit = (guint32) MIN (estimate->limit + n, QUOIT_CUBE_BUYING_MAX);
}

QuoitCubeEstimate
quoit_cube_market_estimate (const QuoitCubeMarket *market)
{
  QuoitCubeEstimate estimate = { 0, 0, 0 };
  guint64 n_free = 0;

  for (guint32 i = 0; i <= market->n_blocks; i++)
    {
      n_free += quoit_cube_market_block (market, i)->n_free;
      add_estimate (&estimate, quoit_cube_market_block (market, i)->price, quoit_cube_market_block (market, i)->limit);
    }
  for (guint32 i = 0; i < market->n_offers; i++)
    add_estimate (&estimate, market->offers[i].price / market->offers[i].n_cubes,
                  (guint64) market->offers[i].limit * market->offers[i].n_cubes);
  for (guint32 s = 0; s < market->n_shapes; s++)
    if (market->shapes[s].price >= 0)
      add_estimate (&estimate, market->shapes[s].price / market->shapes[s].n_cubes, QUOIT_CUBE_BUYING_MAX);
  estimate.n_free = (guint32) MIN (n_free, QUOIT_CUBE_BUYING_MAX);
  return estimate;
}

/* --- solving --- */

guint32
quoit_cube_offer_most (const QuoitCubeOffer *offer, guint32 n_slices, guint32 n_single)
{
  const guint64 most = (guint64) n_slices + ((guint64) n_single + offer->n_cubes - 1) / offer->n_cubes;

  return (guint32) MIN (most, offer->limit);
}

static gint
by_size (gconstpointer a, gconstpointer b, gpointer data)
{
  const QuoitCubeMarket *market = data;
  const guint32 *x = a, *y = b;
  const QuoitCubeShape *left = &market->shapes[*x], *right = &market->shapes[*y];

  if ((left->n_turns > 0) != (right->n_turns > 0))
    return left->n_turns > 0 ? -1 : 1;
  if (left->n_cubes != right->n_cubes)
    return left->n_cubes > right->n_cubes ? -1 : 1;
  return *x < *y ? -1 : *x > *y;
}

guint32 *
quoit_cube_market_order (const QuoitCubeMarket *market)
{
  guint32 *order = g_new (guint32, market->n_shapes + 1);

  for (guint32 s = 0; s < market->n_shapes; s++)
    order[s] = s;
  g_qsort_with_data (order, (gint) market->n_shapes, sizeof (guint32), by_size, (gpointer) market);
  return order;
}

static gint
by_price (gconstpointer a, gconstpointer b, gpointer data)
{
  const QuoitCubeMarket *market = data;
  const guint32 *x = a, *y = b;
  const gint64 left = quoit_cube_market_block (market, *x)->price, right = quoit_cube_market_block (market, *y)->price;

  if (left != right)
    return left < right ? -1 : 1;
  return *x < *y ? -1 : *x > *y;
}

static void
buying_init (QuoitCubeBuying *buying, const QuoitCubeMarket *market, const QuoitCubeDemand *demand,
             const QuoitCubeWeights *weights, guint64 *steps)
{
  *buying = (QuoitCubeBuying) {
    .market = market,
    .demand = demand,
    .weights = weights,
    .n_rows = market->n_blocks + market->n_offers,
    .order = quoit_cube_market_order (market),
    .cheapest = g_new (guint32, market->n_blocks + 1),
    .price_unit = MAX (quoit_cube_market_price_unit (market, 0), 1),
    .packed = g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, NULL),
    .best = purchase_new (market->n_blocks + market->n_offers, market->n_shapes),
  };
  buying->steps = steps;
  for (guint32 s = 0; s < market->n_shapes; s++)
    {
      buying->n_slices += demand->n_slices[s];
      buying->n_joined += (guint64) demand->n_slices[s] * market->shapes[s].n_cubes;
    }
  for (guint32 i = 0; i <= market->n_blocks; i++)
    if (quoit_cube_market_block (market, i)->limit > 0)
      buying->cheapest[buying->n_cheapest++] = i;
  g_qsort_with_data (buying->cheapest, (gint) buying->n_cheapest, sizeof (guint32), by_price, (gpointer) market);
}

static void
buying_clear (QuoitCubeBuying *buying)
{
  g_free (buying->order);
  g_free (buying->cheapest);
  g_hash_table_unref (buying->packed);
}

static void
fill (QuoitCubeBuying *buying, const gboolean *may_open)
{
  QuoitCubePlan plan;

  quoit_cube_plan_init (&plan, buying);
  if (quoit_cube_plan_fill (&plan, buying, may_open))
    quoit_cube_plan_keep (&plan, buying);
  quoit_cube_plan_clear (&plan);
}

/* Fills plans with no offer, with each offer alone, and with all of them. */
static void
fill_plans (QuoitCubeBuying *buying)
{
  const guint32 n = buying->market->n_offers;
  g_autofree gboolean *may_open = g_new0 (gboolean, n + 1);

  fill (buying, NULL);
  for (guint32 i = 0; i < n && n > 1; i++)
    {
      may_open[i] = TRUE;
      fill (buying, may_open);
      may_open[i] = FALSE;
    }
  for (guint32 i = 0; i < n; i++)
    may_open[i] = TRUE;
  if (n > 0)
    fill (buying, may_open);
}

/* Returns whether an empty bin of the plan has room for one slice of the shape, or whether this cannot be decided. */
static gboolean
has_room (QuoitCubeBuying *buying, QuoitCubePlan *plan, guint32 shape)
{
  buying->has_gaps = FALSE;
  for (guint32 i = 0; i < plan->bins->len; i++)
    if (quoit_cube_plan_can_add (buying, plan, i, shape))
      return TRUE;
  return buying->has_gaps;
}

/* Returns whether each slice that must be joined has room, if nothing else is wanted. */
static gboolean
have_room_alone (QuoitCubeBuying *buying)
{
  const QuoitCubeMarket *market = buying->market;
  QuoitCubePlan plan;
  gboolean have_room = TRUE;

  quoit_cube_plan_init (&plan, buying);
  for (guint32 i = 0; i < market->n_offers; i++)
    if (market->offers[i].limit > 0)
      quoit_cube_plan_open (&plan, buying, i, 1);
  for (guint32 s = 0; s < market->n_shapes && have_room; s++)
    have_room = buying->demand->n_slices[s] == 0 || market->shapes[s].price >= 0 || has_room (buying, &plan, s);
  quoit_cube_plan_clear (&plan);
  return have_room;
}

QuoitCubePurchase *
quoit_cube_buying_solve (const QuoitCubeMarket *market, const QuoitCubeDemand *demand, const QuoitCubeWeights *weights,
                         guint64 *steps)
{
  QuoitCubeBuying buying;
  QuoitCubePurchase *best;
  gint64 bound;

  buying_init (&buying, market, demand, weights, steps);
  best = buying.best;
  fill_plans (&buying);
  bound = quoit_cube_buying_bound (&buying, NULL, 0);
  if (bound != G_MAXINT64)
    bound = (bound + buying.price_unit - 1) / buying.price_unit * buying.price_unit;
  best->is_proven = best->is_found ? bound >= best->cost : bound == G_MAXINT64 || !have_room_alone (&buying);
  if (!best->is_proven)
    best->is_proven = quoit_cube_buying_try_all (&buying);
  if (best->is_found)
    best->bound = best->is_proven ? best->cost : bound;
  else
    best->bound = best->is_proven ? 0 : bound;
  best->is_proven = best->is_proven || (best->is_found && best->bound == best->cost);
  buying_clear (&buying);
  return best;
}

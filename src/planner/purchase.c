/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/purchase.h"

#include "base/indices.h"
#include "base/time.h"
#include "placement/ahead.h"
#include "planner/buying.h"
#include "planner/purchase-cubes.h"

/* In the problem, the markets come first, and then the classes of the purchase. */
typedef struct {
  QuoitPurchase *purchase;
  const QuoitLayout *layout;
  const QuoitFleet *fleet; /* with everything that lies ahead; NULL: from nothing */
  const QuoitPriceList *prices;
  GArray *options;  /* of QuoitBuyingOption */
  GArray *requests; /* of QuoitBuyingRequest */
  GArray *markets;  /* of QuoitPurchaseMarket */
  GArray *shapes;   /* of guint32, by class: its shape in the market, plus 1; 0: none */
} Planning;

guint32
quoit_purchase_count_free (const QuoitFleet *fleet, const QuoitSliceFacts *facts)
{
  for (guint32 class = 0; class < fleet->layout->n_classes; class ++)
    if (quoit_slice_facts_same_class (&fleet->layout->classes[class].facts, facts))
      return MIN (quoit_fleet_class_n_free (fleet, (QuoitClassId) { class }), QUOIT_BUYING_MAX_SLICES);
  return 0;
}

static QuoitPurchaseClass *
class_at (const Planning *planning, guint32 index)
{
  return &g_array_index (planning->purchase->classes, QuoitPurchaseClass, index);
}

/* --- markets --- */

/* Returns the market of the generation; NULL: none. */
static QuoitPurchaseMarket *
find_market (const Planning *planning, QuoitGeneration generation)
{
  for (guint i = 0; i < planning->markets->len; i++)
    {
      QuoitPurchaseMarket *market = &g_array_index (planning->markets, QuoitPurchaseMarket, i);

      if (market->generation == generation)
        return market;
    }
  return NULL;
}

static guint32
market_index (const Planning *planning, const QuoitPurchaseMarket *market)
{
  return (guint32) (market - &g_array_index (planning->markets, QuoitPurchaseMarket, 0));
}

static gboolean
has_prices_of_cubes (const QuoitPriceList *prices, QuoitGeneration generation)
{
  for (guint i = 0; prices != NULL && i < prices->prices->len; i++)
    {
      const QuoitPrice *price = &g_array_index (prices->prices, QuoitPrice, i);

      if ((price->block != NULL || price->n_cubes > 0) && price->facts.generation == generation)
        return TRUE;
    }
  return FALSE;
}

static void
find_facts (const QuoitRequest *request, QuoitSliceFacts *facts)
{
  quoit_slice_facts (request->generation, request->shape, quoit_request_chips_per_host (request), facts, NULL);
}

/* Whether what the request costs depends on blocks of cubes. */
static gboolean
needs_market (const Planning *planning, const QuoitRequest *request)
{
  QuoitSliceFacts facts;

  if (request->cubes != QUOIT_CUBES_NONE)
    return TRUE;
  find_facts (request, &facts);
  return quoit_slice_facts_are_cube (&facts) && has_prices_of_cubes (planning->prices, request->generation);
}

static void
add_markets (Planning *planning, const QuoitQueue *queue)
{
  for (guint i = 0; i < queue->requests->len; i++)
    {
      const QuoitRequest *request = queue->requests->pdata[i];

      for (guint k = 0; k < quoit_request_n_alternatives (request); k++)
        {
          const QuoitRequest *alternative = quoit_request_alternative (request, k);
          QuoitPurchaseMarket market;

          if (find_market (planning, alternative->generation) != NULL || !needs_market (planning, alternative))
            continue;
          quoit_purchase_market_init (&market, planning->purchase, planning->layout, planning->fleet, planning->prices,
                                      alternative->generation);
          g_array_append_val (planning->markets, market);
        }
    }
}

/* --- classes --- */

static void
set_price (QuoitPurchaseClass *class, const QuoitPriceList *prices)
{
  const QuoitPrice *price = prices == NULL ? NULL : quoit_price_list_find (prices, &class->facts);

  class->price_e4 = -1;
  if (prices == NULL)
    class->price_e4 = (gint64) quoit_shape_chips (class->facts.shape) * QUOIT_AMOUNT_UNIT;
  else if (price != NULL && class->cubes == QUOIT_CUBES_NONE)
    class->price_e4 = price->price.e4;
  class->limit = class->price_e4 < 0 ? 0 : QUOIT_BUYING_MAX_SLICES;
  if (price != NULL && price->max_slices >= 0 && class->cubes == QUOIT_CUBES_NONE)
    class->limit = (guint32) price->max_slices;
}

/* Adds the class to a market: slices that are joined, or single cubes. */
static void
add_to_market (Planning *planning, const QuoitRequest *request, guint32 index)
{
  const QuoitPurchaseClass *class = class_at (planning, index);
  QuoitPurchaseMarket *market = find_market (planning, request->generation);
  guint32 shape = 0;

  if (market != NULL && class->cubes != QUOIT_CUBES_NONE)
    shape = quoit_purchase_market_add_shape (market, request, class->price_e4) + 1;
  else if (market != NULL && quoit_slice_facts_are_cube (&class->facts))
    {
      market->class_index = index;
      market->loose.price = class->price_e4;
      market->loose.limit = class->limit;
    }
  g_array_append_val (planning->shapes, shape);
}

/* Returns the index of the class of the slices that @request asks for. */
static guint32
find_class (Planning *planning, const QuoitRequest *request)
{
  GArray *classes = planning->purchase->classes;
  QuoitPurchaseClass class = { .cubes = request->cubes };

  find_facts (request, &class.facts);
  for (guint32 i = 0; i < classes->len; i++)
    if (quoit_slice_facts_same_class (&class_at (planning, i)->facts, &class.facts)
        && class_at (planning, i)->cubes == class.cubes)
      return i;
  if (planning->fleet != NULL)
    class.n_free = class.cubes == QUOIT_CUBES_NONE ? quoit_purchase_count_free (planning->fleet, &class.facts)
                                                   : quoit_purchase_count_joined (planning->fleet, request);
  set_price (&class, planning->prices);
  g_array_append_val (classes, class);
  add_to_market (planning, request, classes->len - 1);
  return classes->len - 1;
}

/* --- requests --- */

static void
add_option (Planning *planning, const QuoitRequest *request, guint32 class_index)
{
  const QuoitPurchaseMarket *market = find_market (planning, request->generation);
  const guint32 shape = g_array_index (planning->shapes, guint32, class_index);
  QuoitBuyingOption option = { planning->markets->len + class_index,
                               quoit_request_min_slices (request) * quoit_queue_n_cubes (request), shape };

  if (market != NULL && (shape > 0 || market->class_index == class_index))
    option.class_index = market_index (planning, market);
  g_array_append_val (planning->options, option);
}

static void
add_request (Planning *planning, const QuoitRequest *request)
{
  const QuoitBuyingRequest row = { planning->options->len, quoit_request_n_alternatives (request) };

  for (guint i = 0; i < row.n_options; i++)
    {
      const QuoitRequest *alternative = quoit_request_alternative (request, i);
      const guint32 class_index = find_class (planning, alternative);

      add_option (planning, alternative, class_index);
      if (i == 0)
        class_at (planning, class_index)->n_wanted += quoit_request_min_slices (alternative);
    }
  g_array_append_val (planning->requests, row);
}

/* --- the answer --- */

/* Returns the option that the request is granted with. */
static const QuoitBuyingOption *
chosen_option (const Planning *planning, guint32 request)
{
  const QuoitBuyingRequest *row = &g_array_index (planning->requests, QuoitBuyingRequest, request);

  return &g_array_index (planning->options, QuoitBuyingOption,
                         row->first_option + g_array_index (planning->purchase->alternatives, guint32, request));
}

/* Sets what is bought and taken in a market. */
static void
set_market (Planning *planning, const QuoitPurchaseMarket *market, const QuoitCubePurchase *cubes)
{
  const guint32 n_rows = market->market.n_blocks + market->market.n_offers;

  for (guint32 row = 0; row < n_rows; row++)
    {
      QuoitPurchaseBlock *block
          = &g_array_index (planning->purchase->blocks, QuoitPurchaseBlock, market->first_row + row);

      block->n_taken = cubes->taken[row];
      block->n_bought = cubes->bought[row];
    }
  for (guint32 c = 0; c < planning->purchase->classes->len; c++)
    {
      QuoitPurchaseClass *class = class_at (planning, c);
      const guint32 shape = g_array_index (planning->shapes, guint32, c);

      if (class->facts.generation == market->generation && shape > 0)
        class->n_bought = cubes->whole[shape - 1];
    }
  if (market->class_index != QUOIT_NO_INDEX)
    class_at (planning, market->class_index)->n_bought = cubes->n_loose_bought;
}

/* Distributes the slices that are joined in each block over the requests, the first requests first. */
static void
list_joined (Planning *planning, const QuoitPurchaseMarket *market, const QuoitCubePurchase *cubes)
{
  const guint32 n_rows = market->market.n_blocks + market->market.n_offers, n_shapes = market->market.n_shapes;
  g_autofree guint32 *left = g_memdup2 (cubes->joined, ((gsize) n_rows * n_shapes + 1) * sizeof *left);
  g_autofree guint32 *at = g_new0 (guint32, n_shapes + 1); /* by shape: the first row that may have some left */

  for (guint32 i = 0; i < planning->requests->len; i++)
    {
      const QuoitBuyingOption *option = chosen_option (planning, i);
      guint32 shape, n, *row;

      if (option->class_index != market_index (planning, market) || option->shape == 0)
        continue;
      shape = option->shape - 1;
      n = option->n_slices / market->market.shapes[shape].n_cubes;
      for (row = &at[shape]; n > 0 && *row < n_rows;)
        {
          guint32 *here = &left[(gsize) *row * n_shapes + shape];
          const QuoitPurchaseJoined joined = { i, market->first_row + *row, MIN (n, *here) };

          if (joined.n_slices > 0)
            g_array_append_val (planning->purchase->joined, joined);
          *here -= joined.n_slices;
          n -= joined.n_slices;
          if (*here == 0)
            (*row)++;
        }
    }
}

static gint
by_request (gconstpointer a, gconstpointer b)
{
  const QuoitPurchaseJoined *x = a, *y = b;

  if (x->request != y->request)
    return x->request < y->request ? -1 : 1;
  return x->block < y->block ? -1 : x->block > y->block;
}

/* Sets what is taken and bought. */
static void
set_purchase (Planning *planning, const QuoitBuyingResult *result)
{
  QuoitPurchase *purchase = planning->purchase;

  for (guint32 i = 0; i < purchase->requests->len; i++)
    {
      const QuoitRequest *alternative = quoit_request_alternative (purchase->requests->pdata[i],
                                                                   g_array_index (purchase->alternatives, guint32, i));

      class_at (planning, find_class (planning, alternative))->n_taken += quoit_request_min_slices (alternative);
    }
  for (guint32 c = 0; c < purchase->classes->len; c++)
    class_at (planning, c)->n_bought
        = class_at (planning, c)->n_taken - MIN (class_at (planning, c)->n_taken, class_at (planning, c)->n_free);
  for (guint32 i = 0; i < planning->markets->len; i++)
    {
      const QuoitPurchaseMarket *market = &g_array_index (planning->markets, QuoitPurchaseMarket, i);

      set_market (planning, market, result->cubes->pdata[i]);
      list_joined (planning, market, result->cubes->pdata[i]);
    }
  g_array_sort (purchase->joined, by_request);
}

static void
set_result (Planning *planning, const QuoitBuyingResult *result)
{
  QuoitPurchase *purchase = planning->purchase;

  if (result->is_found)
    purchase->state = result->is_proven ? QUOIT_PURCHASE_CHEAPEST : QUOIT_PURCHASE_FOUND;
  else
    purchase->state = result->is_proven ? QUOIT_PURCHASE_IMPOSSIBLE : QUOIT_PURCHASE_UNKNOWN;
  purchase->cost_e4 = result->cost;
  purchase->bound_e4 = purchase->state == QUOIT_PURCHASE_IMPOSSIBLE ? 0 : result->bound;
  for (guint i = 0; i < purchase->requests->len; i++)
    {
      const guint32 choice = result->is_found ? g_array_index (result->choices, guint32, i) : 0;

      g_array_append_val (purchase->alternatives, choice);
    }
  if (result->is_found)
    set_purchase (planning, result);
}

/* --- the problem --- */

static void
solve (Planning *planning, guint64 steps)
{
  const guint32 n_markets = planning->markets->len, n_classes = planning->purchase->classes->len;
  g_autofree QuoitBuyingClass *rows = g_new0 (QuoitBuyingClass, n_markets + n_classes + 1);
  g_autofree QuoitBuyingMarket *markets = g_new0 (QuoitBuyingMarket, n_markets + 1);
  const QuoitBuyingProblem problem = { rows,
                                       n_markets + n_classes,
                                       (const QuoitBuyingOption *) (const void *) planning->options->data,
                                       (const QuoitBuyingRequest *) (const void *) planning->requests->data,
                                       planning->requests->len,
                                       markets,
                                       n_markets };
  QuoitBuyingResult result;

  for (guint32 i = 0; i < n_markets; i++)
    {
      QuoitPurchaseMarket *market = &g_array_index (planning->markets, QuoitPurchaseMarket, i);
      QuoitCubeEstimate estimate;

      quoit_purchase_market_finish (market);
      markets[i] = (QuoitBuyingMarket) { i, &market->market };
      estimate = quoit_cube_market_estimate (&market->market);
      rows[i] = (QuoitBuyingClass) { estimate.price, estimate.n_free, estimate.limit };
    }
  for (guint32 i = 0; i < n_classes; i++)
    {
      const QuoitPurchaseClass *class = class_at (planning, i);

      rows[n_markets + i] = (QuoitBuyingClass) { MAX (class->price_e4, 0), class->n_free, class->limit };
    }
  quoit_buying_solve (&problem, steps, &result);
  set_result (planning, &result);
  quoit_buying_result_clear (&result);
}

static void
block_clear (gpointer data)
{
  g_free (((QuoitPurchaseBlock *) data)->name);
}

static void
purchase_init (QuoitPurchase *purchase, const QuoitPriceList *prices)
{
  *purchase = (QuoitPurchase) { .unit = prices == NULL ? NULL : g_strdup (prices->unit),
                                .classes = g_array_new (FALSE, FALSE, sizeof (QuoitPurchaseClass)),
                                .blocks = g_array_new (FALSE, FALSE, sizeof (QuoitPurchaseBlock)),
                                .requests = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_request_free),
                                .alternatives = g_array_new (FALSE, FALSE, sizeof (guint32)),
                                .joined = g_array_new (FALSE, FALSE, sizeof (QuoitPurchaseJoined)) };
  g_array_set_clear_func (purchase->blocks, block_clear);
}

gboolean
quoit_purchase_plan (QuoitPurchase *purchase, const QuoitFleet *fleet, const QuoitQueue *queue,
                     const QuoitPriceList *prices, QuoitPurchaseStart start, guint64 steps, GError **error)
{
  g_autoptr (QuoitFleet) ahead = quoit_fleet_seen_until (fleet, QUOIT_FOREVER_MS);
  g_autoptr (GArray) options = g_array_new (FALSE, FALSE, sizeof (QuoitBuyingOption));
  g_autoptr (GArray) requests = g_array_new (FALSE, FALSE, sizeof (QuoitBuyingRequest));
  g_autoptr (GArray) markets = g_array_new (FALSE, FALSE, sizeof (QuoitPurchaseMarket));
  g_autoptr (GArray) shapes = g_array_new (FALSE, FALSE, sizeof (guint32));
  Planning planning
      = { purchase, fleet->layout, ahead != NULL ? ahead : fleet, prices, options, requests, markets, shapes };

  if (!quoit_purchase_check_blocks (fleet->layout, prices, error))
    return FALSE;
  if (start == QUOIT_PURCHASE_FROM_NOTHING)
    planning.fleet = NULL;
  g_array_set_clear_func (markets, quoit_purchase_market_clear);
  purchase_init (purchase, prices);
  add_markets (&planning, queue);
  for (guint i = 0; i < queue->requests->len; i++)
    {
      const QuoitRequest *request = queue->requests->pdata[i];

      g_ptr_array_add (purchase->requests, quoit_request_dup (request, request->name));
      add_request (&planning, request);
    }
  solve (&planning, steps);
  return TRUE;
}

void
quoit_purchase_clear (QuoitPurchase *purchase)
{
  g_free (purchase->unit);
  g_array_unref (purchase->classes);
  g_array_unref (purchase->blocks);
  g_ptr_array_unref (purchase->requests);
  g_array_unref (purchase->alternatives);
  g_array_unref (purchase->joined);
}

guint32
quoit_purchase_count_in_block (const QuoitPurchase *purchase, guint32 request, guint32 block)
{
  const QuoitPurchaseJoined key = { request, block, 0 };
  guint at;

  return g_array_binary_search (purchase->joined, &key, by_request, &at)
             ? g_array_index (purchase->joined, QuoitPurchaseJoined, at).n_slices
             : 0;
}

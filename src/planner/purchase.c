/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/purchase.h"

#include "base/indices.h"
#include "base/time.h"
#include "placement/ahead.h"
#include "planner/buying.h"

typedef struct {
  QuoitPurchase *purchase;
  const QuoitFleet *fleet; /* with everything that lies ahead; NULL: from nothing */
  const QuoitPriceList *prices;
  GArray *options;  /* of QuoitBuyingOption */
  GArray *requests; /* of QuoitBuyingRequest */
} Planning;

static guint32
count_free (const QuoitFleet *fleet, const QuoitSliceFacts *facts)
{
  for (guint32 class = 0; class < fleet->layout->n_classes; class ++)
    if (quoit_slice_facts_same_class (&fleet->layout->classes[class].facts, facts))
      return MIN (quoit_fleet_class_n_free (fleet, (QuoitClassId) { class }), QUOIT_BUYING_MAX_SLICES);
  return 0;
}

static void
set_price (QuoitPurchaseClass *class, const QuoitPriceList *prices)
{
  const QuoitPrice *price = prices == NULL ? NULL : quoit_price_list_find (prices, &class->facts);

  class->price_e4 = -1;
  if (prices == NULL)
    class->price_e4 = (gint64) quoit_shape_chips (class->facts.shape) * QUOIT_AMOUNT_UNIT;
  else if (price != NULL)
    class->price_e4 = price->price.e4;
  class->limit = class->price_e4 < 0 ? 0 : QUOIT_BUYING_MAX_SLICES;
  if (price != NULL && price->max_slices >= 0)
    class->limit = (guint32) price->max_slices;
}

/* Returns the index of the class of the slices that @request asks for. */
static guint32
find_class (Planning *planning, const QuoitRequest *request)
{
  GArray *classes = planning->purchase->classes;
  QuoitPurchaseClass class = { .n_wanted = 0 };

  quoit_slice_facts (request->generation, request->shape, quoit_request_chips_per_host (request), &class.facts, NULL);
  for (guint i = 0; i < classes->len; i++)
    if (quoit_slice_facts_same_class (&g_array_index (classes, QuoitPurchaseClass, i).facts, &class.facts))
      return i;
  class.n_free = planning->fleet == NULL ? 0 : count_free (planning->fleet, &class.facts);
  set_price (&class, planning->prices);
  g_array_append_val (classes, class);
  return classes->len - 1;
}

static void
add_request (Planning *planning, const QuoitRequest *request)
{
  const QuoitBuyingRequest row = { planning->options->len, quoit_request_n_alternatives (request) };

  for (guint i = 0; i < row.n_options; i++)
    {
      const QuoitRequest *alternative = quoit_request_alternative (request, i);
      const QuoitBuyingOption option = { find_class (planning, alternative), quoit_request_min_slices (alternative) };

      g_array_append_val (planning->options, option);
      if (i == 0)
        g_array_index (planning->purchase->classes, QuoitPurchaseClass, option.class_index).n_wanted += option.n_slices;
    }
  g_array_append_val (planning->requests, row);
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
      if (result->is_found)
        {
          const QuoitBuyingRequest *request = &g_array_index (planning->requests, QuoitBuyingRequest, i);
          const QuoitBuyingOption *option
              = &g_array_index (planning->options, QuoitBuyingOption, request->first_option + choice);

          g_array_index (purchase->classes, QuoitPurchaseClass, option->class_index).n_taken += option->n_slices;
        }
    }
}

static void
solve (Planning *planning, guint64 steps)
{
  const GArray *classes = planning->purchase->classes;
  g_autofree QuoitBuyingClass *rows = g_new0 (QuoitBuyingClass, classes->len + 1);
  const QuoitBuyingProblem problem
      = { rows, classes->len, (const QuoitBuyingOption *) (const void *) planning->options->data,
          (const QuoitBuyingRequest *) (const void *) planning->requests->data, planning->requests->len };
  QuoitBuyingResult result;

  for (guint i = 0; i < classes->len; i++)
    {
      const QuoitPurchaseClass *class = &g_array_index (classes, QuoitPurchaseClass, i);

      rows[i] = (QuoitBuyingClass) { MAX (class->price_e4, 0), class->n_free, class->limit };
    }
  quoit_buying_solve (&problem, steps, &result);
  set_result (planning, &result);
  quoit_buying_result_clear (&result);
}

void
quoit_purchase_plan (QuoitPurchase *purchase, const QuoitFleet *fleet, const QuoitQueue *queue,
                     const QuoitPriceList *prices, QuoitPurchaseStart start, guint64 steps)
{
  g_autoptr (QuoitFleet) ahead = quoit_fleet_seen_until (fleet, QUOIT_FOREVER_MS);
  g_autoptr (GArray) options = g_array_new (FALSE, FALSE, sizeof (QuoitBuyingOption));
  g_autoptr (GArray) requests = g_array_new (FALSE, FALSE, sizeof (QuoitBuyingRequest));
  Planning planning = { purchase, ahead != NULL ? ahead : fleet, prices, options, requests };

  if (start == QUOIT_PURCHASE_FROM_NOTHING)
    planning.fleet = NULL;
  *purchase = (QuoitPurchase) { .unit = prices == NULL ? NULL : g_strdup (prices->unit),
                                .classes = g_array_new (FALSE, FALSE, sizeof (QuoitPurchaseClass)),
                                .requests = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_request_free),
                                .alternatives = g_array_new (FALSE, FALSE, sizeof (guint32)) };
  for (guint i = 0; i < queue->requests->len; i++)
    {
      const QuoitRequest *request = queue->requests->pdata[i];

      g_ptr_array_add (purchase->requests, quoit_request_dup (request, request->name));
      add_request (&planning, request);
    }
  solve (&planning, steps);
}

void
quoit_purchase_clear (QuoitPurchase *purchase)
{
  g_free (purchase->unit);
  g_array_unref (purchase->classes);
  g_ptr_array_unref (purchase->requests);
  g_array_unref (purchase->alternatives);
}

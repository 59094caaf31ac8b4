/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handles.h"
#include "planner/purchase.h"

#define DEFAULT_STEPS G_GUINT64_CONSTANT (20000000)

/* --- queues --- */

QuoitQueue *
quoit_queue_new (void)
{
  QuoitQueue *queue = g_new0 (QuoitQueue, 1);

  queue->requests = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_request_free);
  return queue;
}

void
quoit_queue_free (QuoitQueue *queue)
{
  if (queue == NULL)
    return;
  g_ptr_array_unref (queue->requests);
  g_free (queue);
}

bool
quoit_queue_add (QuoitQueue *queue, const QuoitRequest *request, GError **error)
{
  g_return_val_if_fail (queue != NULL && request != NULL, false);

  return quoit_queue_add_copy (queue, request, error);
}

bool
quoit_queue_read (QuoitQueue *queue, const char *text, size_t length, GError **error)
{
  g_return_val_if_fail (queue != NULL && (text != NULL || length == 0), false);

  return quoit_queue_add_lines (queue, text, length, error);
}

/* --- price lists --- */

static void
price_clear (gpointer data)
{
  g_free (((QuoitPrice *) data)->block);
}

QuoitPriceList *
quoit_price_list_new (void)
{
  QuoitPriceList *list = g_new0 (QuoitPriceList, 1);

  list->prices = g_array_new (FALSE, FALSE, sizeof (QuoitPrice));
  g_array_set_clear_func (list->prices, price_clear);
  return list;
}

void
quoit_price_list_free (QuoitPriceList *list)
{
  if (list == NULL)
    return;
  g_array_unref (list->prices);
  g_free (list->unit);
  g_free (list);
}

bool
quoit_price_list_add (QuoitPriceList *list, const char *accelerator, const char *topology, uint32_t chips_per_host,
                      const char *price, int64_t max_slices, GError **error)
{
  QuoitPrice row = { .max_slices = max_slices };
  QuoitGeneration generation;
  QuoitShape shape;

  g_return_val_if_fail (list != NULL && accelerator != NULL && topology != NULL && price != NULL, false);

  return quoit_generation_parse (accelerator, &generation, error) && quoit_shape_parse (topology, &shape, error)
         && quoit_shape_check (generation, shape, error)
         && quoit_slice_facts (generation, shape, chips_per_host, &row.facts, error)
         && quoit_price_list_add_row (list, &row, price, error);
}

bool
quoit_price_list_add_cubes (QuoitPriceList *list, const char *accelerator, const char *block, const char *price,
                            int64_t max_cubes, GError **error)
{
  QuoitPrice row = { .max_slices = max_cubes, .block = (char *) block };

  g_return_val_if_fail (list != NULL && accelerator != NULL && block != NULL && price != NULL, false);

  return quoit_price_set_cube (&row, accelerator, error) && quoit_price_list_add_row (list, &row, price, error);
}

bool
quoit_price_list_add_block (QuoitPriceList *list, const char *accelerator, uint32_t n_cubes, const char *grid,
                            const char *price, int64_t max_blocks, GError **error)
{
  QuoitPrice row = { .max_slices = max_blocks };

  g_return_val_if_fail (list != NULL && accelerator != NULL && price != NULL, false);

  return quoit_price_set_cube (&row, accelerator, error) && quoit_price_set_block (&row, n_cubes, grid, error)
         && quoit_price_list_add_row (list, &row, price, error);
}

bool
quoit_price_list_read (QuoitPriceList *list, const char *text, size_t length, GError **error)
{
  g_return_val_if_fail (list != NULL && (text != NULL || length == 0), false);

  return quoit_price_list_add_lines (list, text, length, error);
}

/* --- purchases --- */

QuoitPurchase *
quoit_snapshot_plan_purchase (const QuoitSnapshot *snapshot, const QuoitQueue *queue, const QuoitPriceList *prices,
                              QuoitPurchaseStart start, uint64_t steps, GError **error)
{
  QuoitPurchase *purchase;

  g_return_val_if_fail (snapshot != NULL && queue != NULL, NULL);

  if ((guint) start > QUOIT_PURCHASE_FROM_NOTHING)
    return quoit_fail_null (error, QUOIT_ERROR_INVALID, "start of a purchase '%d': expected free or nothing",
                            (int) start);
  purchase = g_new0 (QuoitPurchase, 1);
  if (quoit_purchase_plan (purchase, snapshot->fleet, queue, prices, start, steps == 0 ? DEFAULT_STEPS : steps, error))
    return purchase;
  g_free (purchase);
  return NULL;
}

void
quoit_purchase_free (QuoitPurchase *purchase)
{
  if (purchase == NULL)
    return;
  quoit_purchase_clear (purchase);
  g_free (purchase);
}

QuoitPurchaseState
quoit_purchase_get_state (const QuoitPurchase *purchase)
{
  g_return_val_if_fail (purchase != NULL, QUOIT_PURCHASE_UNKNOWN);

  return purchase->state;
}

QuoitAmount
quoit_purchase_get_cost (const QuoitPurchase *purchase)
{
  g_return_val_if_fail (purchase != NULL, (QuoitAmount) { 0 });

  return (QuoitAmount) { purchase->cost_e4 };
}

QuoitAmount
quoit_purchase_get_bound (const QuoitPurchase *purchase)
{
  g_return_val_if_fail (purchase != NULL, (QuoitAmount) { 0 });

  return (QuoitAmount) { purchase->bound_e4 };
}

const char *
quoit_purchase_get_unit (const QuoitPurchase *purchase)
{
  g_return_val_if_fail (purchase != NULL, NULL);

  return purchase->unit;
}

/* --- classes --- */

uint32_t
quoit_purchase_get_n_classes (const QuoitPurchase *purchase)
{
  g_return_val_if_fail (purchase != NULL, 0);

  return purchase->classes->len;
}

static const QuoitPurchaseClass *
class_at (const QuoitPurchase *purchase, uint32_t index)
{
  return &g_array_index (purchase->classes, QuoitPurchaseClass, index);
}

const char *
quoit_purchase_get_class_accelerator (const QuoitPurchase *purchase, uint32_t index)
{
  g_return_val_if_fail (purchase != NULL && index < purchase->classes->len, NULL);

  return quoit_generation_name (class_at (purchase, index)->facts.generation);
}

char *
quoit_purchase_dup_class_topology (const QuoitPurchase *purchase, uint32_t index)
{
  g_return_val_if_fail (purchase != NULL && index < purchase->classes->len, NULL);

  return quoit_shape_format (class_at (purchase, index)->facts.shape);
}

uint32_t
quoit_purchase_get_class_number (const QuoitPurchase *purchase, uint32_t index, QuoitPurchaseNumber number)
{
  const QuoitPurchaseClass *class;

  g_return_val_if_fail (purchase != NULL && index < purchase->classes->len, 0);
  g_return_val_if_fail ((guint) number <= QUOIT_PURCHASE_NUMBER_LIMIT, 0);

  class = class_at (purchase, index);
  switch (number)
    {
    case QUOIT_PURCHASE_NUMBER_CHIPS_PER_HOST:
      return class->facts.chips_per_host;
    case QUOIT_PURCHASE_NUMBER_WANTED:
      return class->n_wanted;
    case QUOIT_PURCHASE_NUMBER_FREE:
      return class->n_free;
    case QUOIT_PURCHASE_NUMBER_SHORTFALL:
      return class->n_wanted - MIN (class->n_wanted, class->n_free);
    case QUOIT_PURCHASE_NUMBER_TAKEN:
      return class->n_taken;
    case QUOIT_PURCHASE_NUMBER_BOUGHT:
      return class->n_bought;
    case QUOIT_PURCHASE_NUMBER_LIMIT:
      return class->limit;
    }
  return 0;
}

QuoitAmount
quoit_purchase_get_class_price (const QuoitPurchase *purchase, uint32_t index)
{
  g_return_val_if_fail (purchase != NULL && index < purchase->classes->len, (QuoitAmount) { -1 });

  return (QuoitAmount) { class_at (purchase, index)->price_e4 };
}

QuoitCubes
quoit_purchase_get_class_cubes (const QuoitPurchase *purchase, uint32_t index)
{
  g_return_val_if_fail (purchase != NULL && index < purchase->classes->len, QUOIT_CUBES_NONE);

  return class_at (purchase, index)->cubes;
}

/* --- blocks --- */

uint32_t
quoit_purchase_get_n_blocks (const QuoitPurchase *purchase)
{
  g_return_val_if_fail (purchase != NULL, 0);

  return purchase->blocks->len;
}

static const QuoitPurchaseBlock *
block_at (const QuoitPurchase *purchase, uint32_t index)
{
  return &g_array_index (purchase->blocks, QuoitPurchaseBlock, index);
}

const char *
quoit_purchase_get_block_accelerator (const QuoitPurchase *purchase, uint32_t index)
{
  g_return_val_if_fail (purchase != NULL && index < purchase->blocks->len, NULL);

  return quoit_generation_name (block_at (purchase, index)->generation);
}

const char *
quoit_purchase_get_block_name (const QuoitPurchase *purchase, uint32_t index)
{
  g_return_val_if_fail (purchase != NULL && index < purchase->blocks->len, NULL);

  return block_at (purchase, index)->name;
}

char *
quoit_purchase_dup_block_grid (const QuoitPurchase *purchase, uint32_t index)
{
  g_return_val_if_fail (purchase != NULL && index < purchase->blocks->len, NULL);

  return block_at (purchase, index)->grid.n_dims == 0 ? NULL : quoit_shape_format (block_at (purchase, index)->grid);
}

uint32_t
quoit_purchase_get_block_number (const QuoitPurchase *purchase, uint32_t index, QuoitPurchaseBlockNumber number)
{
  const QuoitPurchaseBlock *block;

  g_return_val_if_fail (purchase != NULL && index < purchase->blocks->len, 0);
  g_return_val_if_fail ((guint) number <= QUOIT_PURCHASE_BLOCK_NUMBER_LIMIT, 0);

  block = block_at (purchase, index);
  switch (number)
    {
    case QUOIT_PURCHASE_BLOCK_NUMBER_CUBES:
      return block->n_cubes;
    case QUOIT_PURCHASE_BLOCK_NUMBER_FREE:
      return block->n_free;
    case QUOIT_PURCHASE_BLOCK_NUMBER_TAKEN:
      return block->n_taken;
    case QUOIT_PURCHASE_BLOCK_NUMBER_BOUGHT:
      return block->n_bought;
    case QUOIT_PURCHASE_BLOCK_NUMBER_LIMIT:
      return block->limit;
    }
  return 0;
}

QuoitAmount
quoit_purchase_get_block_price (const QuoitPurchase *purchase, uint32_t index)
{
  g_return_val_if_fail (purchase != NULL && index < purchase->blocks->len, (QuoitAmount) { -1 });

  return (QuoitAmount) { block_at (purchase, index)->price_e4 };
}

/* --- requests --- */

uint32_t
quoit_purchase_get_n_requests (const QuoitPurchase *purchase)
{
  g_return_val_if_fail (purchase != NULL, 0);

  return purchase->requests->len;
}

uint32_t
quoit_purchase_get_alternative (const QuoitPurchase *purchase, uint32_t index)
{
  g_return_val_if_fail (purchase != NULL && index < purchase->requests->len, 0);

  return g_array_index (purchase->alternatives, guint32, index);
}

char *
quoit_purchase_dup_request (const QuoitPurchase *purchase, uint32_t index)
{
  g_return_val_if_fail (purchase != NULL && index < purchase->requests->len, NULL);

  return quoit_request_format_canonical (quoit_request_alternative (
      purchase->requests->pdata[index], g_array_index (purchase->alternatives, guint32, index)));
}

uint32_t
quoit_purchase_get_joined (const QuoitPurchase *purchase, uint32_t index, uint32_t block)
{
  g_return_val_if_fail (purchase != NULL && index < purchase->requests->len, 0);
  g_return_val_if_fail (block < purchase->blocks->len, 0);

  return quoit_purchase_count_in_block (purchase, index, block);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/purchase-cubes.h"

#include <string.h>

#include "base/indices.h"
#include "placement/cubes/cubing.h"
#include "planner/buying.h"

/* --- names of blocks --- */

/* Returns the blocks of a generation; NULL: the layout has no cubes of it. */
static QuoitBlocks *
find_blocks (const QuoitLayout *layout, QuoitGeneration generation)
{
  for (guint32 class = 0; class < layout->n_classes; class ++)
    if (layout->classes[class].facts.generation == generation
        && quoit_slice_facts_are_cube (&layout->classes[class].facts))
      return quoit_blocks_get (layout, class);
  return NULL;
}

/* Returns SOURCE/BLOCK. The caller owns it. */
static char *
full_name (const QuoitLayout *layout, const QuoitBlock *block)
{
  return g_strdup_printf ("%s/%s", quoit_layout_text (layout, layout->sources[block->source].name), block->name);
}

/* Whether the block is NAME or SOURCE/NAME. */
static gboolean
has_name (const QuoitLayout *layout, const QuoitBlock *block, const char *name)
{
  const char *source = quoit_layout_text (layout, layout->sources[block->source].name);
  const gsize length = strlen (source);

  return strcmp (block->name, name) == 0
         || (strncmp (name, source, length) == 0 && name[length] == '/'
             && strcmp (name + length + 1, block->name) == 0);
}

/* Returns the first block with the name, and sets *@n to their number; NULL: none. */
static const QuoitBlock *
find_block (const QuoitLayout *layout, const QuoitBlocks *blocks, const char *name, guint *n)
{
  const QuoitBlock *found = NULL;

  *n = 0;
  for (guint32 b = 0; blocks != NULL && b < blocks->n; b++)
    if (has_name (layout, &blocks->blocks[b], name))
      {
        found = *n == 0 ? &blocks->blocks[b] : found;
        (*n)++;
      }
  return found;
}

/* Returns the price among the first @n that is for the block; NULL: none. */
static const QuoitPrice *
find_price (const QuoitLayout *layout, const QuoitPriceList *prices, guint n, QuoitGeneration generation,
            const QuoitBlock *block)
{
  for (guint i = 0; i < n; i++)
    {
      const QuoitPrice *price = &g_array_index (prices->prices, QuoitPrice, i);

      if (price->block != NULL && price->facts.generation == generation && has_name (layout, block, price->block))
        return price;
    }
  return NULL;
}

/* Checks the price at @index. The list itself cannot know that NAME and SOURCE/NAME are the same block. */
static gboolean
check_block (const QuoitLayout *layout, const QuoitPriceList *prices, guint index, GError **error)
{
  const QuoitPrice *price = &g_array_index (prices->prices, QuoitPrice, index), *other;
  QuoitBlocks *blocks = find_blocks (layout, price->facts.generation);
  g_autofree char *quoted = quoit_quote (price->block), *example = NULL;
  guint n;
  const QuoitBlock *block = find_block (layout, blocks, price->block, &n);

  if (blocks != NULL && blocks->n > 0)
    example = full_name (layout, block != NULL ? block : &blocks->blocks[0]);
  other = n == 1 ? find_price (layout, prices, index, price->facts.generation, block) : NULL;
  g_clear_pointer (&blocks, quoit_blocks_unref);
  if (other != NULL)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "price of cubes for block %s: expected one price for each block, and an earlier one is for %s",
                       quoted, example);
  if (n == 1)
    return TRUE;
  if (n > 1)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "price of cubes for block %s: expected SOURCE/BLOCK, such as %s, because %u sources have one",
                       quoted, example, n);
  return quoit_fail (error, QUOIT_ERROR_NOT_FOUND,
                     "price of cubes for block %s: expected a block of %s in the fleet, %s%s", quoted,
                     quoit_generation_name (price->facts.generation), example == NULL ? "which has none" : "such as ",
                     example == NULL ? "" : example);
}

gboolean
quoit_purchase_check_blocks (const QuoitLayout *layout, const QuoitPriceList *prices, GError **error)
{
  for (guint i = 0; prices != NULL && i < prices->prices->len; i++)
    if (g_array_index (prices->prices, QuoitPrice, i).block != NULL && !check_block (layout, prices, i, error))
      return FALSE;
  return TRUE;
}

/* --- blocks of the fleet --- */

static guint32
limit_of (const QuoitPrice *price)
{
  return price->max_slices < 0 ? QUOIT_BUYING_MAX_SLICES : (guint32) price->max_slices;
}

/* Returns the price of cubes for the block; NULL: none. */
static const QuoitPrice *
price_of (const QuoitLayout *layout, const QuoitPriceList *prices, QuoitGeneration generation, const QuoitBlock *block)
{
  return prices == NULL ? NULL : find_price (layout, prices, prices->prices->len, generation, block);
}

/* Sets the positions of the free cubes of a block. */
static void
set_positions (QuoitPurchaseMarket *market, const QuoitCubing *cubing, const QuoitCubeSet *set, guint32 b,
               QuoitCubeBlock *block)
{
  QuoitGrid *grid = g_new (QuoitGrid, 1);
  QuoitHostSet *free;

  g_ptr_array_add (market->memory, grid);
  if (!quoit_cubing_grid (cubing, b, grid))
    return;
  free = g_new0 (QuoitHostSet, 1);
  g_ptr_array_add (market->memory, free);
  quoit_cubing_list_positions (cubing, set, b, grid, free);
  block->grid = grid;
  block->free = free;
}

/* Adds the block if it has free cubes, or if cubes can be bought for it. */
static void
add_block (QuoitPurchaseMarket *market, QuoitPurchase *purchase, const QuoitLayout *layout, const QuoitBlock *block,
           const QuoitPrice *price, QuoitCubeBlock *row)
{
  if (row->n_free == 0 && price == NULL)
    return;
  if (price != NULL)
    {
      row->price = price->price.e4;
      row->limit = limit_of (price);
    }
  g_array_append_vals (market->blocks, row, 1);
  g_array_append_vals (purchase->blocks,
                       &(QuoitPurchaseBlock) { .generation = market->generation,
                                               .name = full_name (layout, block),
                                               .n_cubes = 1,
                                               .n_free = row->n_free,
                                               .limit = row->limit,
                                               .price_e4 = price == NULL ? -1 : row->price },
                       1);
}

/* A request for single cubes of blocks, for the functions that find free ones. */
static QuoitRequest *
request_of_cubes (QuoitGeneration generation)
{
  QuoitRequest *request = quoit_request_new ("cubes", NULL);

  request->generation = generation;
  request->shape = quoit_generation_facts (generation)->ocs_cube;
  request->cubes = QUOIT_CUBES_ANY;
  request->n_slices = 1;
  return request;
}

static void
add_blocks (QuoitPurchaseMarket *market, QuoitPurchase *purchase, const QuoitFleet *fleet, const QuoitPriceList *prices)
{
  QuoitRequest *request = request_of_cubes (market->generation);
  QuoitCubing cubing;

  if (quoit_cubing_init (&cubing, fleet, request, NULL))
    {
      g_autofree QuoitCubeSet *set = quoit_cubing_list (&cubing, QUOIT_CUBE_FREE);
      g_autofree guint32 *counts = quoit_cubing_count_by_block (&cubing, set);

      for (guint32 b = 0; cubing.blocks != NULL && b < cubing.blocks->n; b++)
        {
          const QuoitBlock *block = &cubing.blocks->blocks[b];
          QuoitCubeBlock row = { .n_free = counts[b] };

          if (counts[b] > 0)
            set_positions (market, &cubing, set, b, &row);
          add_block (market, purchase, fleet->layout, block,
                     price_of (fleet->layout, prices, market->generation, block), &row);
          market->loose.n_free -= MIN (market->loose.n_free, counts[b]);
        }
    }
  quoit_cubing_clear (&cubing);
  quoit_request_free (request);
}

/* Adds the blocks for which cubes can be bought. No cube is free. */
static void
add_priced_blocks (QuoitPurchaseMarket *market, QuoitPurchase *purchase, const QuoitLayout *layout,
                   const QuoitPriceList *prices)
{
  QuoitBlocks *blocks = find_blocks (layout, market->generation);

  for (guint32 b = 0; blocks != NULL && b < blocks->n; b++)
    add_block (market, purchase, layout, &blocks->blocks[b],
               price_of (layout, prices, market->generation, &blocks->blocks[b]), &(QuoitCubeBlock) { 0 });
  g_clear_pointer (&blocks, quoit_blocks_unref);
}

/* --- new blocks --- */

static void
add_offers (QuoitPurchaseMarket *market, QuoitPurchase *purchase, const QuoitPriceList *prices)
{
  for (guint i = 0; prices != NULL && i < prices->prices->len; i++)
    {
      const QuoitPrice *price = &g_array_index (prices->prices, QuoitPrice, i);
      QuoitCubeOffer offer = { price->price.e4, price->n_cubes, limit_of (price), NULL };

      if (price->n_cubes == 0 || price->facts.generation != market->generation)
        continue;
      if (price->grid.n_dims > 0)
        {
          QuoitGrid *grid = g_new (QuoitGrid, 1);

          g_ptr_array_add (market->memory, grid);
          quoit_grid_init (grid, price->grid, 0);
          offer.grid = grid;
        }
      g_array_append_val (market->offers, offer);
      g_array_append_vals (purchase->blocks,
                           &(QuoitPurchaseBlock) { .generation = market->generation,
                                                   .grid = price->grid,
                                                   .n_cubes = price->n_cubes,
                                                   .limit = offer.limit,
                                                   .price_e4 = offer.price },
                           1);
    }
}

/* --- markets --- */

void
quoit_purchase_market_init (QuoitPurchaseMarket *market, QuoitPurchase *purchase, const QuoitLayout *layout,
                            const QuoitFleet *fleet, const QuoitPriceList *prices, QuoitGeneration generation)
{
  *market = (QuoitPurchaseMarket) { .generation = generation,
                                    .class_index = QUOIT_NO_INDEX,
                                    .first_row = purchase->blocks->len,
                                    .blocks = g_array_new (FALSE, FALSE, sizeof (QuoitCubeBlock)),
                                    .offers = g_array_new (FALSE, FALSE, sizeof (QuoitCubeOffer)),
                                    .shapes = g_array_new (FALSE, FALSE, sizeof (QuoitCubeShape)),
                                    .memory = g_ptr_array_new_with_free_func (g_free) };
  if (fleet != NULL)
    {
      QuoitSliceFacts facts;

      quoit_slice_facts (generation, quoit_generation_facts (generation)->ocs_cube, 4, &facts, NULL);
      market->loose.n_free = quoit_purchase_count_free (fleet, &facts);
      add_blocks (market, purchase, fleet, prices);
    }
  else
    add_priced_blocks (market, purchase, layout, prices);
  add_offers (market, purchase, prices);
}

void
quoit_purchase_market_clear (gpointer data)
{
  QuoitPurchaseMarket *market = data;

  g_array_unref (market->blocks);
  g_array_unref (market->offers);
  g_array_unref (market->shapes);
  g_ptr_array_unref (market->memory);
}

guint32
quoit_purchase_market_add_shape (QuoitPurchaseMarket *market, const QuoitRequest *request, gint64 price)
{
  QuoitCubeShape shape = { quoit_queue_n_cubes (request), NULL, 0, price };

  if (request->cubes == QUOIT_CUBES_ADJACENT)
    {
      QuoitShape boxes[QUOIT_MAX_CUBE_TURNS];
      QuoitTurn *turns = g_new0 (QuoitTurn, QUOIT_MAX_CUBE_TURNS);

      g_ptr_array_add (market->memory, turns);
      shape.n_turns = quoit_joined_list_boxes (request->generation, request->shape, boxes);
      for (guint i = 0; i < shape.n_turns; i++)
        turns[i].hosts = boxes[i];
      shape.turns = turns;
    }
  g_array_append_val (market->shapes, shape);
  return market->shapes->len - 1;
}

void
quoit_purchase_market_finish (QuoitPurchaseMarket *market)
{
  market->market = (QuoitCubeMarket) { (const QuoitCubeBlock *) (const void *) market->blocks->data,
                                       (const QuoitCubeOffer *) (const void *) market->offers->data,
                                       (const QuoitCubeShape *) (const void *) market->shapes->data,
                                       market->blocks->len,
                                       market->offers->len,
                                       market->shapes->len,
                                       market->loose };
}

guint32
quoit_purchase_count_joined (const QuoitFleet *fleet, const QuoitRequest *request)
{
  QuoitCubing cubing;
  guint32 least = 0, most = 0;

  if (quoit_cubing_init (&cubing, fleet, request, NULL))
    {
      g_autofree QuoitCubeSet *set = quoit_cubing_list (&cubing, QUOIT_CUBE_FREE);

      quoit_cubing_count (&cubing, set, QUOIT_BUYING_MAX_SLICES, &least, &most);
    }
  quoit_cubing_clear (&cubing);
  return least;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The blocks of a fleet and the blocks of a price list as a market of cubes (planner/cube-buying.h). */
#pragma once

#include "fleet/blocks.h"
#include "planner/cube-buying.h"
#include "planner/purchase.h"

/* The market of the cubes of one generation. */
typedef struct {
  QuoitGeneration generation;
  guint32 class_index; /* of the classes in the purchase: single cubes; QUOIT_NO_INDEX: no request wants them */
  guint32 first_row;   /* of its blocks in the purchase */
  GArray *blocks;      /* of QuoitCubeBlock */
  GArray *offers;      /* of QuoitCubeOffer */
  GArray *shapes;      /* of QuoitCubeShape */
  GPtrArray *memory;   /* grids, sets of positions and turns */
  QuoitCubeBlock loose;
  QuoitCubeMarket market;
} QuoitPurchaseMarket;

/* Fills @market, and appends its blocks to those of the purchase. @layout knows the blocks; @fleet has the free cubes;
 * NULL: there are none. @prices: NULL: no block can be bought, and each slice costs its chips. */
void quoit_purchase_market_init (QuoitPurchaseMarket *market, QuoitPurchase *purchase, const QuoitLayout *layout,
                                 const QuoitFleet *fleet, const QuoitPriceList *prices, QuoitGeneration generation);
void quoit_purchase_market_clear (gpointer data);
/* Adds the slices of a request that joins cubes. Returns the number of the shape. */
guint32 quoit_purchase_market_add_shape (QuoitPurchaseMarket *market, const QuoitRequest *request, gint64 price);
/* Sets market->market, after the shapes and the cubes in no block are known. */
void quoit_purchase_market_finish (QuoitPurchaseMarket *market);
/* Returns how many slices the request could get, if no other one took cubes. */
guint32 quoit_purchase_count_joined (const QuoitFleet *fleet, const QuoitRequest *request);

/* Returns whether the blocks that the list names are in the fleet, each in one source and with one price. Fails with
 * NOT_FOUND, or with INVALID. */
gboolean quoit_purchase_check_blocks (const QuoitLayout *layout, const QuoitPriceList *prices, GError **error);

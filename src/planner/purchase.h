/* SPDX-License-Identifier: Apache-2.0 */
/* Which slices to buy so that a queue of requests can be granted: a problem of planner/buying.h, made from a fleet. */
#pragma once

#include "fleet/fleet.h"
#include "planner/queue.h"

typedef struct {
  QuoitSliceFacts facts;
  QuoitCubes cubes; /* NONE: slices of the fleet */
  guint32 n_wanted, n_free, n_taken, n_bought, limit;
  gint64 price_e4; /* -1: none */
} QuoitPurchaseClass;

/* A block of the fleet, or new blocks of one size. */
typedef struct {
  QuoitGeneration generation;
  char *name;      /* SOURCE/BLOCK; NULL: new blocks */
  QuoitShape grid; /* of new blocks; n_dims 0: their cubes have no positions */
  guint32 n_cubes; /* that are bought at once */
  guint32 n_free, n_taken, n_bought, limit;
  gint64 price_e4; /* -1: none */
} QuoitPurchaseBlock;

/* How many slices of a request are joined in a block. */
typedef struct {
  guint32 request, block, n_slices;
} QuoitPurchaseJoined;

struct _QuoitPurchase {
  QuoitPurchaseState state;
  gint64 cost_e4, bound_e4;
  char *unit;
  GArray *classes;      /* of QuoitPurchaseClass */
  GArray *blocks;       /* of QuoitPurchaseBlock: those that have free cubes or a price */
  GPtrArray *requests;  /* of QuoitRequest */
  GArray *alternatives; /* of guint32, by request */
  GArray *joined;       /* of QuoitPurchaseJoined, by request and block */
};

/* Fills @purchase. @prices: NULL: each slice costs its chips. Fails like quoit_purchase_check_blocks(). */
gboolean quoit_purchase_plan (QuoitPurchase *purchase, const QuoitFleet *fleet, const QuoitQueue *queue,
                              const QuoitPriceList *prices, QuoitPurchaseStart start, guint64 steps, GError **error);
void quoit_purchase_clear (QuoitPurchase *purchase);
/* Returns how many slices of the request are joined in the block. */
guint32 quoit_purchase_count_in_block (const QuoitPurchase *purchase, guint32 request, guint32 block);

/* Returns how many slices of the class are free. */
guint32 quoit_purchase_count_free (const QuoitFleet *fleet, const QuoitSliceFacts *facts);

/* SPDX-License-Identifier: Apache-2.0 */
/* Which slices to buy so that a queue of requests can be granted: a problem of planner/buying.h, made from a fleet. */
#pragma once

#include "fleet/fleet.h"
#include "planner/queue.h"

typedef struct {
  QuoitSliceFacts facts;
  guint32 n_wanted, n_free, n_taken, limit;
  gint64 price_e4; /* -1: none */
} QuoitPurchaseClass;

struct _QuoitPurchase {
  QuoitPurchaseState state;
  gint64 cost_e4, bound_e4;
  char *unit;
  GArray *classes;      /* of QuoitPurchaseClass */
  GPtrArray *requests;  /* of QuoitRequest */
  GArray *alternatives; /* of guint32, by request */
};

/* Fills @purchase. @prices: NULL: each slice costs its chips. */
void quoit_purchase_plan (QuoitPurchase *purchase, const QuoitFleet *fleet, const QuoitQueue *queue,
                          const QuoitPriceList *prices, QuoitPurchaseStart start, guint64 steps);
void quoit_purchase_clear (QuoitPurchase *purchase);

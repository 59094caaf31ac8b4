/* SPDX-License-Identifier: Apache-2.0 */
/* A queue of requests for slices, and the prices of slices, for purchases. */
#pragma once

#include <quoit/purchase.h>

#include "placement/request.h"

struct _QuoitQueue {
  GPtrArray *requests; /* of QuoitRequest */
  guint64 n_slices;    /* the most that all of them can take together */
};

/* The price of the slices of one class. */
typedef struct {
  QuoitSliceFacts facts;
  QuoitAmount price;
  gint64 max_slices; /* -1: any number */
} QuoitPrice;

struct _QuoitPriceList {
  GArray *prices; /* of QuoitPrice */
  char *unit;     /* "hour" or "month"; NULL: not stated */
};

/* Adds a copy of @request. Fails with INVALID if it is not only for a number of slices, or for too many. */
gboolean quoit_queue_add_copy (QuoitQueue *queue, const QuoitRequest *request, GError **error);
/* Adds the requests of a text, or none. Fails with INVALID, and names the line. */
gboolean quoit_queue_add_lines (QuoitQueue *queue, const char *text, gsize length, GError **error);

/* Adds a price. Fails with INVALID. */
gboolean quoit_price_list_add_price (QuoitPriceList *list, const QuoitSliceFacts *facts, const char *price,
                                     gint64 max_slices, GError **error);
/* Adds the prices of a text, or none. Fails with INVALID, and names the line. */
gboolean quoit_price_list_add_lines (QuoitPriceList *list, const char *text, gsize length, GError **error);
/* Returns the price of the class; NULL: none. */
const QuoitPrice *quoit_price_list_find (const QuoitPriceList *list, const QuoitSliceFacts *facts);

/* SPDX-License-Identifier: Apache-2.0 */
/* A queue of requests for slices, and the prices of slices, for purchases. */
#pragma once

#include <quoit/purchase.h>

#include "placement/request.h"

struct _QuoitQueue {
  GPtrArray *requests; /* of QuoitRequest */
  guint64 n_slices;    /* the most that all of them can take together */
};

enum { QUOIT_MAX_PRICED_SIDE = 16 /* cubes along each axis of a block that is bought */ };

/* The price of the slices of one class, of cubes for a block of the fleet, or of new blocks of cubes. */
typedef struct {
  QuoitSliceFacts facts;
  QuoitAmount price;
  gint64 max_slices; /* or cubes, or blocks; -1: any number */
  char *block;       /* the name of a block; NULL: none */
  guint32 n_cubes;   /* of a new block; 0: none */
  QuoitShape grid;   /* of a new block; n_dims 0: its cubes have no positions */
} QuoitPrice;

struct _QuoitPriceList {
  GArray *prices; /* of QuoitPrice */
  char *unit;     /* "hour" or "month"; NULL: not stated */
};

/* Adds a copy of @request. Fails with INVALID if it is not only for a number of slices, or for too many. */
gboolean quoit_queue_add_copy (QuoitQueue *queue, const QuoitRequest *request, GError **error);
/* Adds the requests of a text, or none. Fails with INVALID, and names the line. */
gboolean quoit_queue_add_lines (QuoitQueue *queue, const char *text, gsize length, GError **error);

/* Returns the number of cubes of a slice of the request; 1: its slices are not joined. */
guint32 quoit_queue_n_cubes (const QuoitRequest *request);

/* Adds a copy of @given with a price. Fails with INVALID. */
gboolean quoit_price_list_add_row (QuoitPriceList *list, const QuoitPrice *given, const char *price, GError **error);
/* Sets the class of @row to the cubes of a generation. Fails with INVALID. */
gboolean quoit_price_set_cube (QuoitPrice *row, const char *accelerator, GError **error);
/* Sets the size of a new block: @n_cubes, or @grid, which is text; 0 and NULL: not stated. Fails with INVALID. */
gboolean quoit_price_set_block (QuoitPrice *row, guint32 n_cubes, const char *grid, GError **error);
/* Adds the prices of a text, or none. Fails with INVALID, and names the line. */
gboolean quoit_price_list_add_lines (QuoitPriceList *list, const char *text, gsize length, GError **error);
/* Returns the price of the slices of the class; NULL: none. Prices of cubes in blocks do not count. */
const QuoitPrice *quoit_price_list_find (const QuoitPriceList *list, const QuoitSliceFacts *facts);

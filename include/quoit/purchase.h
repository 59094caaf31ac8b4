/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_PURCHASE_H
#define QUOIT_PURCHASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <quoit/amount.h>
#include <quoit/request.h>
#include <quoit/snapshot.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitQueue:
 *
 * Requests that a caller wants to be granted at the same time. They are only counted: a queue keeps no order, and
 * nothing is reserved. (For a queue with an order, see quoit_fork_plan_queue().) No thread may change a queue while
 * another one uses it.
 *
 * Since: 0.1
 */
typedef struct _QuoitQueue QuoitQueue;

/**
 * quoit_queue_new:
 *
 * Creates an empty queue.
 *
 * Returns: (transfer full): the queue; quoit_queue_free() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitQueue *quoit_queue_new (void);

/**
 * quoit_queue_free:
 * @queue: (nullable): the queue
 *
 * Since: 0.1
 */
QUOIT_API void quoit_queue_free (QuoitQueue *queue);

/**
 * quoit_queue_add:
 * @request: a request for slices, with its alternatives; it is copied. Of an elastic request, the least number of
 *   slices counts.
 *
 * Adds a request.
 *
 * Fails with %QUOIT_ERROR_INVALID if the request is incomplete or not in the catalogue, if it has bundles, a pool, a
 * zone, selectors, names of slices or nodes, a domain to keep to, a spread or a near group (slices that are bought have
 * no place yet), if its slices may be cut from larger ones (whole slices are bought), or if the requests of the queue
 * can take more than 1,000,000 slices, of which those that are joined count as their cubes.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_queue_add (QuoitQueue *queue, const QuoitRequest *request, GError **error);

/**
 * quoit_queue_read:
 * @text: one request on each line, as quoit_group_get_request() returns them: "v6e 4x4 x 2"; with other hosts than
 *   usual, "v6e 2x4 x 1 hostchips=4"; with alternatives, "v6e 4x4 x 2 else=\"v5e 4x4 x 2\"". Text from '#' on is a
 *   comment.
 * @length: the number of bytes
 *
 * Adds the requests of a text.
 *
 * Fails with %QUOIT_ERROR_INVALID if a line is not such a request, or if quoit_queue_add() would fail. The message has
 * the number of the line, and nothing is added.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_queue_read (QuoitQueue *queue, const char *text, size_t length, GError **error);

/**
 * QuoitPriceList:
 *
 * What one slice of each class costs, and cubes of blocks, and how many can be bought. No thread may change a list
 * while another one uses it.
 *
 * Since: 0.1
 */
typedef struct _QuoitPriceList QuoitPriceList;

/**
 * quoit_price_list_new:
 *
 * Creates an empty list.
 *
 * Returns: (transfer full): the list; quoit_price_list_free() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitPriceList *quoit_price_list_new (void);

/**
 * quoit_price_list_free:
 * @list: (nullable): the list
 *
 * Since: 0.1
 */
QUOIT_API void quoit_price_list_free (QuoitPriceList *list);

/**
 * quoit_price_list_add:
 * @accelerator: the TPU generation, as for quoit_request_set_accelerator()
 * @topology: the shape of a slice in chips, "4x4"
 * @chips_per_host: as for quoit_request_set_chips_per_host(); 0: the default
 * @price: decimal text from 0 to 100,000,000 with at most 4 decimals, "10.75"; with a unit of time, "10.75/hour" or
 *   "7800/month". All prices of a list have the same unit, or none.
 * @max_slices: how many can be bought, 0 to 1,000,000; -1: any number
 *
 * Adds the price of one slice of a class. Cubes at this price are in no block: no slice can be joined from them.
 *
 * Fails with %QUOIT_ERROR_INVALID for anything else, and if the class has a price already.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_price_list_add (QuoitPriceList *list, const char *accelerator, const char *topology,
                                     uint32_t chips_per_host, const char *price, int64_t max_slices, GError **error);

/**
 * quoit_price_list_add_cubes:
 * @accelerator: the TPU generation: v4, v5p or tpu7x
 * @block: a block of the fleet: its name, or SOURCE/NAME
 * @price: as for quoit_price_list_add()
 * @max_cubes: how many can be bought, 0 to 1,000,000; -1: any number
 *
 * Adds the price of one cube for a block of the fleet. Slices can be joined from it and other cubes of the block. It
 * has no position, so no slice of adjacent cubes gets it.
 *
 * Fails with %QUOIT_ERROR_INVALID for anything else, and if the block has a price already. Whether the fleet has the
 * block is checked by quoit_snapshot_plan_purchase().
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_price_list_add_cubes (QuoitPriceList *list, const char *accelerator, const char *block,
                                           const char *price, int64_t max_cubes, GError **error);

/**
 * quoit_price_list_add_block:
 * @accelerator: the TPU generation: v4, v5p or tpu7x
 * @n_cubes: the number of cubes, 1 to 1,000,000; with @grid, 0
 * @grid: (nullable): the cubes along each axis, "4x4x8", each 1 to 16: the cubes have positions, and slices of adjacent
 *   cubes can be joined from them; %NULL: they have no positions
 * @price: of the whole block, as for quoit_price_list_add()
 * @max_blocks: how many can be bought, 0 to 1,000,000; -1: any number
 *
 * Adds the price of a new block of cubes.
 *
 * Fails with %QUOIT_ERROR_INVALID for anything else, and if blocks of this size have a price already.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_price_list_add_block (QuoitPriceList *list, const char *accelerator, uint32_t n_cubes,
                                           const char *grid, const char *price, int64_t max_blocks, GError **error);

/**
 * quoit_price_list_read:
 * @text: one price on each line: "v6e 4x4 10.75/hour", and if wanted "hostchips=N" and "limit=N" after it. With
 *   "block=NAME" it is the price of a cube for a block of the fleet, with "cubes=N" or "grid=AxBxC" that of a new
 *   block: "v5p 4x4x4 900/hour cubes=64". Text from '#' on is a comment.
 * @length: the number of bytes
 *
 * Adds the prices of a text.
 *
 * Fails with %QUOIT_ERROR_INVALID if a line is not such a price, or if quoit_price_list_add() would fail. The message
 * has the number of the line, and nothing is added.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_price_list_read (QuoitPriceList *list, const char *text, size_t length, GError **error);

/**
 * QuoitPurchaseState:
 *
 * What is known about a purchase.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_PURCHASE_CHEAPEST = 0,   /* the purchase grants all requests, and no other one is cheaper */
  QUOIT_PURCHASE_FOUND = 1,      /* it grants all requests; a cheaper one may exist, at least for the bound */
  QUOIT_PURCHASE_IMPOSSIBLE = 2, /* the price list cannot grant all requests */
  QUOIT_PURCHASE_UNKNOWN = 3     /* the search ended before it found a purchase */
} QuoitPurchaseState;

/**
 * QuoitPurchaseStart:
 *
 * What is there before the purchase.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_PURCHASE_FROM_FREE = 0,   /* the free slices of the fleet, without those that something ahead will need */
  QUOIT_PURCHASE_FROM_NOTHING = 1 /* nothing: all slices are bought */
} QuoitPurchaseStart;

/**
 * QuoitPurchaseNumber:
 *
 * A number of a class of slices in a purchase.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_PURCHASE_NUMBER_CHIPS_PER_HOST = 0,
  QUOIT_PURCHASE_NUMBER_WANTED = 1,    /* slices, if each request is granted as it is, without its alternatives */
  QUOIT_PURCHASE_NUMBER_FREE = 2,      /* slices that are free before the purchase; of joined slices, how many the
                                        * free cubes make if nothing else takes them */
  QUOIT_PURCHASE_NUMBER_SHORTFALL = 3, /* how many more are wanted than are free */
  QUOIT_PURCHASE_NUMBER_TAKEN = 4,     /* slices that the requests get, with the alternatives that the purchase chose */
  QUOIT_PURCHASE_NUMBER_BOUGHT = 5,    /* how many are bought. Cubes in blocks are not among them; joined slices are
                                        * bought only without prices, and are then those that free cubes do not make */
  QUOIT_PURCHASE_NUMBER_LIMIT = 6      /* how many can be bought; 1,000,000: any number */
} QuoitPurchaseNumber;

/**
 * QuoitPurchaseBlockNumber:
 *
 * A number of a block of cubes in a purchase.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_PURCHASE_BLOCK_NUMBER_CUBES = 0,  /* how many cubes are bought at once: 1, or those of a new block */
  QUOIT_PURCHASE_BLOCK_NUMBER_FREE = 1,   /* cubes that are free before the purchase */
  QUOIT_PURCHASE_BLOCK_NUMBER_TAKEN = 2,  /* cubes that the requests get; of new blocks, all of them together */
  QUOIT_PURCHASE_BLOCK_NUMBER_BOUGHT = 3, /* cubes that are bought for the block, or the number of new blocks */
  QUOIT_PURCHASE_BLOCK_NUMBER_LIMIT = 4   /* how many can be bought; 1,000,000: any number */
} QuoitPurchaseBlockNumber;

/**
 * QuoitPurchase:
 *
 * Which slices to buy so that all requests of a queue can be granted at the same time.
 *
 * A QuoitPurchase is immutable, and any thread can read it.
 *
 * Since: 0.1
 */
typedef struct _QuoitPurchase QuoitPurchase;

/**
 * quoit_snapshot_plan_purchase:
 * @queue: the requests
 * @prices: (nullable): what slices cost; %NULL: as many units as they have chips, any number of each class. The
 *   purchase is then the smallest shortfall in chips.
 * @start: what is there before
 * @steps: limits the work; 0: 20,000,000, which is enough to prove the cheapest purchase for most queues of some dozens
 *   of requests with alternatives, and for queues of any length without alternatives
 *
 * Finds the cheapest set of slices that, together with the free ones, grants all requests of the queue at the same
 * time. A request with alternatives can be granted by any of them, all of its slices by the same one. Requests keep
 * their slices forever. Which one of several cheapest sets is found is not specified, but always the same.
 *
 * Each slice that joins cubes gets all of them in one block, of which some can be free and others bought. The purchase
 * states a choice of blocks that grants all requests; reservations choose blocks one after the other, and can choose
 * others, unless a request selects its block.
 *
 * Fails with %QUOIT_ERROR_INVALID for an unknown @start, and if cubes for a block have a price and several sources have
 * a block of that name, or the block has another price under its other name; with %QUOIT_ERROR_NOT_FOUND if the fleet
 * has no such block.
 *
 * Returns: (transfer full): the purchase; quoit_purchase_free() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitPurchase *quoit_snapshot_plan_purchase (const QuoitSnapshot *snapshot, const QuoitQueue *queue,
                                                       const QuoitPriceList *prices, QuoitPurchaseStart start,
                                                       uint64_t steps, GError **error);

/**
 * quoit_purchase_free:
 * @purchase: (nullable): the purchase
 *
 * Since: 0.1
 */
QUOIT_API void quoit_purchase_free (QuoitPurchase *purchase);

/**
 * quoit_purchase_get_state:
 *
 * Returns: what is known about the purchase
 *
 * Since: 0.1
 */
QUOIT_API QuoitPurchaseState quoit_purchase_get_state (const QuoitPurchase *purchase);

/**
 * quoit_purchase_get_cost:
 *
 * Returns: the price of all slices to buy; 0 if no purchase was found
 *
 * Since: 0.1
 */
QUOIT_API QuoitAmount quoit_purchase_get_cost (const QuoitPurchase *purchase);

/**
 * quoit_purchase_get_bound:
 *
 * Returns: a proven lower bound: no set of slices that grants all requests costs less. It is the cost itself if the
 *   state is %QUOIT_PURCHASE_CHEAPEST, and 0 if it is %QUOIT_PURCHASE_IMPOSSIBLE.
 *
 * Since: 0.1
 */
QUOIT_API QuoitAmount quoit_purchase_get_bound (const QuoitPurchase *purchase);

/**
 * quoit_purchase_get_unit:
 *
 * Returns: (nullable): the unit of time of the prices, "hour" or "month"; %NULL if they have none
 *
 * Since: 0.1
 */
QUOIT_API const char *quoit_purchase_get_unit (const QuoitPurchase *purchase);

/**
 * quoit_purchase_get_n_classes:
 *
 * Returns: the number of classes that a request can get, in the order in which the queue names them
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_purchase_get_n_classes (const QuoitPurchase *purchase);

/**
 * quoit_purchase_get_class_accelerator:
 * @index: the class, below quoit_purchase_get_n_classes()
 *
 * Returns: (nullable): the name of the generation
 *
 * Since: 0.1
 */
QUOIT_API const char *quoit_purchase_get_class_accelerator (const QuoitPurchase *purchase, uint32_t index);

/**
 * quoit_purchase_dup_class_topology:
 * @index: the class, below quoit_purchase_get_n_classes()
 *
 * Returns: (transfer full) (nullable): the topology, "4x4"; g_free() it
 *
 * Since: 0.1
 */
QUOIT_API char *quoit_purchase_dup_class_topology (const QuoitPurchase *purchase, uint32_t index);

/**
 * quoit_purchase_get_class_number:
 * @index: the class, below quoit_purchase_get_n_classes()
 * @number: which number
 *
 * Returns: the number; 0 for an index or a @number out of range. %QUOIT_PURCHASE_NUMBER_TAKEN and
 *   %QUOIT_PURCHASE_NUMBER_BOUGHT are 0 if no purchase was found.
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_purchase_get_class_number (const QuoitPurchase *purchase, uint32_t index,
                                                    QuoitPurchaseNumber number);

/**
 * quoit_purchase_get_class_price:
 * @index: the class, below quoit_purchase_get_n_classes()
 *
 * Returns: the price of one slice; -0.0001 (e4 is -1) if the list has no price, so that none can be bought
 *
 * Since: 0.1
 */
QUOIT_API QuoitAmount quoit_purchase_get_class_price (const QuoitPurchase *purchase, uint32_t index);

/**
 * quoit_purchase_get_class_cubes:
 * @index: the class, below quoit_purchase_get_n_classes()
 *
 * Returns: which cubes the slices of the class are joined from; %QUOIT_CUBES_NONE: they are slices of the fleet
 *
 * Since: 0.1
 */
QUOIT_API QuoitCubes quoit_purchase_get_class_cubes (const QuoitPurchase *purchase, uint32_t index);

/**
 * quoit_purchase_get_n_blocks:
 *
 * Returns: the number of blocks of cubes that have free cubes or a price, if a request of the queue can use them; new
 *   blocks of one size count once
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_purchase_get_n_blocks (const QuoitPurchase *purchase);

/**
 * quoit_purchase_get_block_accelerator:
 * @index: the block, below quoit_purchase_get_n_blocks()
 *
 * Returns: (nullable): the name of the generation
 *
 * Since: 0.1
 */
QUOIT_API const char *quoit_purchase_get_block_accelerator (const QuoitPurchase *purchase, uint32_t index);

/**
 * quoit_purchase_get_block_name:
 * @index: the block, below quoit_purchase_get_n_blocks()
 *
 * Returns: (nullable): SOURCE/NAME of a block of the fleet; %NULL: new blocks
 *
 * Since: 0.1
 */
QUOIT_API const char *quoit_purchase_get_block_name (const QuoitPurchase *purchase, uint32_t index);

/**
 * quoit_purchase_dup_block_grid:
 * @index: the block, below quoit_purchase_get_n_blocks()
 *
 * Returns: (transfer full) (nullable): the grid of new blocks whose cubes have positions, "4x4x8"; %NULL: none.
 *   g_free() it
 *
 * Since: 0.1
 */
QUOIT_API char *quoit_purchase_dup_block_grid (const QuoitPurchase *purchase, uint32_t index);

/**
 * quoit_purchase_get_block_number:
 * @index: the block, below quoit_purchase_get_n_blocks()
 * @number: which number
 *
 * Returns: the number; 0 for an index or a @number out of range. %QUOIT_PURCHASE_BLOCK_NUMBER_TAKEN and
 *   %QUOIT_PURCHASE_BLOCK_NUMBER_BOUGHT are 0 if no purchase was found.
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_purchase_get_block_number (const QuoitPurchase *purchase, uint32_t index,
                                                    QuoitPurchaseBlockNumber number);

/**
 * quoit_purchase_get_block_price:
 * @index: the block, below quoit_purchase_get_n_blocks()
 *
 * Returns: the price of one cube for a block of the fleet, or of a new block; -0.0001 (e4 is -1) if none can be bought
 *
 * Since: 0.1
 */
QUOIT_API QuoitAmount quoit_purchase_get_block_price (const QuoitPurchase *purchase, uint32_t index);

/**
 * quoit_purchase_get_n_requests:
 *
 * Returns: the number of requests of the queue
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_purchase_get_n_requests (const QuoitPurchase *purchase);

/**
 * quoit_purchase_get_alternative:
 * @index: the request, below quoit_purchase_get_n_requests()
 *
 * Returns: which alternative of the request is granted, counted from 1; 0: the request itself, or no purchase was found
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_purchase_get_alternative (const QuoitPurchase *purchase, uint32_t index);

/**
 * quoit_purchase_dup_request:
 * @index: the request, below quoit_purchase_get_n_requests()
 *
 * Returns: (transfer full) (nullable): what is granted, as canonical text without other alternatives; g_free() it
 *
 * Since: 0.1
 */
QUOIT_API char *quoit_purchase_dup_request (const QuoitPurchase *purchase, uint32_t index);

/**
 * quoit_purchase_get_joined:
 * @index: the request, below quoit_purchase_get_n_requests()
 * @block: the block, below quoit_purchase_get_n_blocks()
 *
 * Returns: how many slices of the request are joined from cubes of the block, or of all new blocks of this size
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_purchase_get_joined (const QuoitPurchase *purchase, uint32_t index, uint32_t block);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitQueue, quoit_queue_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitPriceList, quoit_price_list_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitPurchase, quoit_purchase_free)

G_END_DECLS

#endif

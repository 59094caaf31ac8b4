/* SPDX-License-Identifier: Apache-2.0 */
/* Which slices to buy so that all requests can be served at the same time, at the least cost.
 *
 * Each request takes a number of slices of one class, and can choose the class from its options. Free slices cost
 * nothing; the others are bought. A class can be a market of cubes (planner/cube-buying.h). Its slices are cubes then,
 * which cost at least as much as the class states, and what they cost depends on the slices that are joined from them.
 *
 * The answer is a range. Its upper end is the cost of a choice that a search found. Its lower end is proven: by weights
 * of the classes and of the shapes of joined slices (Lagrangian bounds), or because the search tried all choices that
 * could cost less. Integers only, so that every machine gives the same answer. */
#pragma once

#include "planner/cube-buying.h"

enum { QUOIT_BUYING_MAX_SLICES = 1000000 }; /* of all requests together */

/* Of one slice, so that no sum overflows. */
#define QUOIT_BUYING_MAX_PRICE G_GINT64_CONSTANT (1000000000000)

typedef struct {
  gint64 price;   /* of one slice; not read if none can be bought */
  guint32 n_free; /* at most QUOIT_BUYING_MAX_SLICES count */
  guint32 limit;  /* how many can be bought */
} QuoitBuyingClass;

typedef struct {
  guint32 class_index;
  guint32 n_slices; /* from 1; of a market, the number of cubes */
  guint32 shape;    /* of a market: 1 + the shape of the joined slices; 0: single cubes */
} QuoitBuyingOption;

/* The class of a market has to be what quoit_cube_market_estimate() returns for it: bounds depend on that. */
typedef struct {
  guint32 class_index;
  const QuoitCubeMarket *market;
} QuoitBuyingMarket;

typedef struct {
  guint32 first_option, n_options; /* at least 1 */
} QuoitBuyingRequest;

typedef struct {
  const QuoitBuyingClass *classes;
  guint32 n_classes;
  const QuoitBuyingOption *options;
  const QuoitBuyingRequest *requests;
  guint32 n_requests;
  const QuoitBuyingMarket *markets;
  guint32 n_markets;
} QuoitBuyingProblem;

typedef struct {
  gboolean is_found;  /* a choice that serves all requests */
  gboolean is_proven; /* it is a cheapest one, or there is none */
  gint64 cost, bound; /* of the choice that was found; no choice costs less than @bound */
  GArray *choices;    /* of guint32, by request: which of its options; empty if none was found */
  GPtrArray *cubes;   /* of QuoitCubePurchase, by market; empty if none was found */
} QuoitBuyingResult;

/* Fills @result. @steps limits the work: a step is about one look at an option. */
void quoit_buying_solve (const QuoitBuyingProblem *problem, guint64 steps, QuoitBuyingResult *result);
void quoit_buying_result_clear (QuoitBuyingResult *result);

/* SPDX-License-Identifier: Apache-2.0 */
/* Private to buying*.c: requests with equal options are one type, and options that cannot be the best are left out. */
#pragma once

#include "planner/buying.h"

typedef struct {
  guint32 first_option, n_options; /* in QuoitBuying.options */
  guint32 n_requests;
} QuoitBuyingType;

typedef struct {
  guint32 class_index, n_slices;
  guint32 shape;
  guint32 number; /* of the option in the request */
} QuoitBuyingChoice;

typedef struct {
  const QuoitBuyingClass *classes;
  guint32 n_classes;
  GArray *types;    /* of QuoitBuyingType; the ones with the most slices come first */
  GArray *options;  /* of QuoitBuyingChoice */
  guint32 *type_of; /* by request */
  guint32 n_requests;
  guint64 steps;     /* what is left of the budget */
  gint64 price_unit; /* all prices are multiples of it; from 1 */
  const QuoitBuyingMarket *markets;
  guint32 n_markets;
  QuoitCubeWeights **cube_weights; /* by market; NULL: none */
  GHashTable *purchases;           /* of markets, by demand: GBytes -> QuoitCubePurchase */
  GPtrArray *chosen;               /* of QuoitCubePurchase, by market: those of the best plan; empty: none was found */
  gint64 unproven;                 /* plans whose cost in markets is not known exactly cost no less; G_MAXINT64: none */
} QuoitBuying;

static inline const QuoitBuyingType *
quoit_buying_type (const QuoitBuying *buying, guint32 type)
{
  return &g_array_index (buying->types, QuoitBuyingType, type);
}

static inline const QuoitBuyingChoice *
quoit_buying_option (const QuoitBuying *buying, const QuoitBuyingType *type, guint32 option)
{
  return &g_array_index (buying->options, QuoitBuyingChoice, type->first_option + option);
}

static inline void
quoit_buying_spend (QuoitBuying *buying, guint64 steps)
{
  buying->steps -= MIN (buying->steps, steps);
}

/* Returns what one of several plans may take of the budget: other plans need some, too. */
static inline guint64
quoit_buying_share (const QuoitBuying *buying)
{
  return buying->steps / 4;
}

/* Whether each request has only one option. */
static inline gboolean
quoit_buying_has_one_plan (const QuoitBuying *buying)
{
  return buying->options->len == buying->types->len;
}

/* Returns what @n slices of a class cost. */
static inline gint64
quoit_buying_cost (const QuoitBuyingClass *class, gint64 n)
{
  return n > class->n_free ? (n - class->n_free) * class->price : 0;
}

/* --- buying-bound.c --- */

/* Weights of options. If each request takes the option that weighs least, the sum minus what the slices that are free
 * and those that can be bought are worth at these weights is at most the cost of any choice. */
typedef struct {
  gint64 *weights; /* by option: of all its slices */
  __int128 *worth; /* by class: of its free slices, and the profit of buying others */
  gint64 bound;
} QuoitBuyingBound;

/* Improves the weights with the knowledge that a choice for the cost @target may exist; G_MAXINT64: unknown. */
void quoit_buying_bound_init (QuoitBuyingBound *bound, QuoitBuying *buying, gint64 target);
void quoit_buying_bound_clear (QuoitBuyingBound *bound);
/* Returns the option of the type of that index that weighs least; @weights: by option. */
guint32 quoit_buying_lightest (const QuoitBuying *buying, const gint64 *weights, guint32 index);
/* Moves weights by what is missing at them. Returns FALSE if they do not change. */
gboolean quoit_buying_move (gint64 *weights, const gint64 *missing, guint32 n, gint64 step);

/* --- buying-search.c --- */

/* How many requests of each type take each option: by option. */
typedef struct {
  guint32 *counts;
  gint64 *taken; /* slices, by class */
  gint64 excess; /* slices beyond what can be had; 0: all requests are served */
  gint64 cost;   /* without the excess */
} QuoitBuyingPlan;

void quoit_buying_plan_init (QuoitBuyingPlan *plan, const QuoitBuying *buying);
void quoit_buying_plan_clear (QuoitBuyingPlan *plan);
void quoit_buying_plan_copy (QuoitBuyingPlan *plan, const QuoitBuying *buying, const QuoitBuyingPlan *from);
/* Finds a good plan, which may have an excess. Markets are only estimated. */
void quoit_buying_search (QuoitBuying *buying, const QuoitBuyingBound *bound, QuoitBuyingPlan *best);
/* Fills a plan in which each request takes the option that weighs least. It may have an excess. */
void quoit_buying_take_lightest (QuoitBuying *buying, const QuoitBuyingBound *bound, QuoitBuyingPlan *plan);

/* --- buying-weights.c --- */

/* Weighs the options of markets by shape, if that improves the bound, and keeps the weights for what plans cost in
 * these markets. A choice for the cost @target is known. */
void quoit_buying_weigh_markets (QuoitBuying *buying, QuoitBuyingBound *bound, gint64 target);

/* --- buying-markets.c --- */

/* Returns the demand in the market of that index as words: the market, the single cubes, and the slices of each shape.
 * @counts: by option, how many requests take it. The caller owns them. */
guint32 *quoit_buying_list_demand (const QuoitBuying *buying, const guint32 *counts, guint32 index);
/* Replaces @best by the plan, which has no excess, if that costs less with what it costs in markets. What that is takes
 * at most @steps of the budget. */
void quoit_buying_plan_keep (QuoitBuying *buying, QuoitBuyingPlan *best, const QuoitBuyingPlan *plan, guint64 steps);

/* --- buying-exact.c --- */

/* Tries all plans that can cost less than @best, and replaces it. Returns FALSE if the budget ends before. */
gboolean quoit_buying_try_all (QuoitBuying *buying, const QuoitBuyingBound *bound, QuoitBuyingPlan *best);

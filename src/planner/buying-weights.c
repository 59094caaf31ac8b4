/* SPDX-License-Identifier: Apache-2.0 */
/* The lower end of a purchase of cubes. The bound of the classes counts cubes. Here, each shape has a weight of its
 * own, and blocks are worth what the slices are worth that fit into them. First the kinds of use that are scarce get
 * the weight at which their cubes are bought; then all weights follow the difference between what is wanted and what is
 * sold, as in buying-bound.c. */
#include "planner/buying-types.h"
#include "planner/cube-weights.h"

#include <string.h>

enum { N_ROUNDS = 40 };

typedef struct {
  QuoitBuying *buying;
  const QuoitBuyingBound *bound;
  guint32 class_index;
  QuoitCubeWeights *cubes;
  __int128 others; /* what the other classes are worth */
  __int128 worth;  /* what the market is worth at the best weights */
  gint64 *options; /* by option: what all its slices weigh */
  gint64 *missing; /* by kind: cubes that are wanted minus those that are sold */
  gint64 value, best;
  guint64 steps; /* what is left for this market */
} Weighing;

static gboolean
is_in_market (const Weighing *weighing, const QuoitBuyingChoice *choice)
{
  return choice->class_index == weighing->class_index;
}

static guint32
kind_of (const Weighing *weighing, const QuoitBuyingChoice *choice)
{
  return quoit_cube_weights_kind (weighing->cubes, choice->shape);
}

/* Sets what options weigh if kinds have these weights. Returns the sum if each request takes the lightest one. */
static __int128
weigh_options (Weighing *weighing, const gint64 *weights)
{
  const QuoitBuying *buying = weighing->buying;
  __int128 sum = 0;

  for (guint32 option = 0; option < buying->options->len; option++)
    {
      const QuoitBuyingChoice *choice = &g_array_index (buying->options, QuoitBuyingChoice, option);

      weighing->options[option] = is_in_market (weighing, choice)
                                      ? weights[kind_of (weighing, choice)] * choice->n_slices
                                      : weighing->bound->weights[option];
    }
  for (guint32 t = 0; t < buying->types->len; t++)
    sum += (__int128) weighing->options[quoit_buying_lightest (buying, weighing->options, t)]
           * quoit_buying_type (buying, t)->n_requests;
  return sum;
}

/* Sets what is missing if each request takes the option that weighs least. */
static void
find_missing (Weighing *weighing)
{
  const QuoitBuying *buying = weighing->buying;

  for (guint32 kind = 0; kind < weighing->cubes->n_kinds; kind++)
    weighing->missing[kind] = -weighing->cubes->sold[kind];
  for (guint32 t = 0; t < buying->types->len; t++)
    {
      const guint32 lightest = quoit_buying_lightest (buying, weighing->options, t);
      const QuoitBuyingChoice *choice = &g_array_index (buying->options, QuoitBuyingChoice, lightest);

      if (is_in_market (weighing, choice))
        weighing->missing[kind_of (weighing, choice)]
            += (gint64) choice->n_slices * quoit_buying_type (buying, t)->n_requests;
    }
}

/* Computes the bound of the present weights, and keeps them if it is better. */
static void
evaluate (Weighing *weighing)
{
  const __int128 worth = quoit_cube_weights_sell (weighing->cubes, &weighing->steps);
  const __int128 value = weigh_options (weighing, weighing->cubes->weights) - worth - weighing->others;

  find_missing (weighing);
  weighing->steps -= MIN (weighing->steps, weighing->buying->options->len);
  weighing->value = (gint64) CLAMP (value, G_MININT64 / 2, G_MAXINT64);
  if (weighing->value <= weighing->best)
    return;
  weighing->best = weighing->value;
  weighing->worth = worth;
  quoit_cube_weights_keep (weighing->cubes);
}

/* Returns to the best weights. */
static void
restore (Weighing *weighing)
{
  memcpy (weighing->cubes->weights, weighing->cubes->kept, weighing->cubes->n_kinds * sizeof *weighing->cubes->weights);
}

/* For one kind after the other, changes the weight between 0 and the price of its cubes if that improves the bound.
 * Shapes with many cubes come first. */
static void
change_kinds (Weighing *weighing)
{
  QuoitCubeWeights *cubes = weighing->cubes;
  g_autofree guint32 *order = quoit_cube_market_order (cubes->market);

  for (guint32 i = 0; i < cubes->n_kinds && weighing->steps > 0; i++)
    {
      const guint32 kind = i < cubes->market->n_shapes ? order[i] : i;
      const gint64 price = quoit_cube_weights_price (cubes, kind);

      restore (weighing);
      if (price == 0)
        continue;
      cubes->weights[kind] = cubes->weights[kind] == 0 ? price : 0;
      evaluate (weighing);
    }
}

/* Begins with the weight 0 for kinds of which there is enough, and the price of their cubes for the others. */
static void
try_prices (Weighing *weighing)
{
  QuoitCubeWeights *cubes = weighing->cubes;
  gint64 best;

  evaluate (weighing);
  change_kinds (weighing);
  best = weighing->best;
  for (guint32 kind = 0; kind < cubes->n_kinds; kind++)
    cubes->weights[kind] = quoit_cube_weights_price (cubes, kind);
  if (weighing->steps > 0)
    evaluate (weighing);
  if (weighing->best > best)
    change_kinds (weighing);
  restore (weighing);
  if (weighing->steps > 0)
    evaluate (weighing);
}

/* --- markets --- */

/* Returns weights for the most that a plan can want of each shape, and of single cubes. */
static QuoitCubeWeights *
weights_of (const QuoitBuying *buying, guint32 market)
{
  g_autofree guint32 *counts = g_new (guint32, buying->options->len + 1), *words = NULL;

  for (guint32 t = 0; t < buying->types->len; t++)
    for (guint32 option = 0; option < quoit_buying_type (buying, t)->n_options; option++)
      counts[quoit_buying_type (buying, t)->first_option + option] = quoit_buying_type (buying, t)->n_requests;
  words = quoit_buying_list_demand (buying, counts, market);
  return quoit_cube_weights_new (buying->markets[market].market, &(QuoitCubeDemand) { words + 2, words[1] });
}

/* Replaces what the options of the market weigh. */
static void
set_weights (Weighing *weighing, QuoitBuyingBound *bound)
{
  __int128 value = weigh_options (weighing, weighing->cubes->kept);

  bound->worth[weighing->class_index] = weighing->worth;
  for (guint32 c = 0; c < weighing->buying->n_classes; c++)
    value -= bound->worth[c];
  bound->bound = (gint64) value;
  memcpy (bound->weights, weighing->options, weighing->buying->options->len * sizeof *bound->weights);
}

static void
weigh_market (QuoitBuying *buying, guint32 index, QuoitBuyingBound *bound, gint64 target, guint64 steps)
{
  const QuoitBuyingMarket *market = &buying->markets[index];
  Weighing weighing = { .buying = buying,
                        .bound = bound,
                        .class_index = market->class_index,
                        .cubes = weights_of (buying, index),
                        .best = G_MININT64,
                        .steps = steps };

  weighing.options = g_new (gint64, buying->options->len);
  weighing.missing = g_new (gint64, weighing.cubes->n_kinds);
  for (guint32 c = 0; c < buying->n_classes; c++)
    weighing.others += c == market->class_index ? 0 : bound->worth[c];
  try_prices (&weighing);
  for (guint i = 0; i < N_ROUNDS && weighing.steps > 0 && weighing.best < target; i++)
    {
      quoit_buying_move (weighing.cubes->weights, weighing.missing, weighing.cubes->n_kinds,
                         MAX (target - weighing.value, 1) / (1 + i / 10));
      evaluate (&weighing);
    }
  quoit_buying_spend (buying, steps - weighing.steps);
  if (weighing.best > bound->bound)
    set_weights (&weighing, bound);
  quoit_cube_weights_free (buying->cube_weights[index]);
  buying->cube_weights[index] = weighing.cubes;
  g_free (weighing.options);
  g_free (weighing.missing);
}

void
quoit_buying_weigh_markets (QuoitBuying *buying, QuoitBuyingBound *bound, gint64 target)
{
  /* Half of the budget is for the search. */
  const guint64 steps = buying->steps / 2 / MAX (buying->n_markets, 1);

  for (guint32 i = 0; i < buying->n_markets && bound->bound < target; i++)
    weigh_market (buying, i, bound, target, steps);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The lower end of a purchase. Each class gets a weight for one slice. If a request takes the option that weighs least,
 * and each slice that is bought is sold for its weight, then
 *
 *   sum over requests of the least weight - sum over classes of (weight * free + max (0, weight - price) * limit)
 *
 * is at most the cost of any choice. The weights follow the difference between the slices that are taken and those that
 * are there: a subgradient method with the steps of Polyak. */
#include "planner/buying-types.h"

#include <string.h>

enum { N_ROUNDS = 400 };

/* More than any weight needs: no sum then overflows. */
#define MAX_WEIGHT (4 * QUOIT_BUYING_MAX_PRICE)

guint32
quoit_buying_lightest (const QuoitBuying *buying, const gint64 *weights, guint32 index)
{
  const QuoitBuyingType *type = quoit_buying_type (buying, index);
  guint32 lightest = type->first_option;

  for (guint32 option = type->first_option + 1; option < type->first_option + type->n_options; option++)
    if (weights[option] < weights[lightest])
      lightest = option;
  return lightest;
}

/* Returns what the free slices of a class, and the profit of buying others, are worth at a weight. */
static __int128
worth_of (const QuoitBuyingClass *class, gint64 weight)
{
  const gint64 profit = class->limit > 0 && weight > class->price ? weight - class->price : 0;

  return (__int128) weight * class->n_free + (__int128) profit * class->limit;
}

/* Sets what the options weigh if one slice of a class weighs that much. */
static void
weigh_options (const QuoitBuying *buying, const gint64 *weights, gint64 *options)
{
  for (guint option = 0; option < buying->options->len; option++)
    {
      const QuoitBuyingChoice *choice = &g_array_index (buying->options, QuoitBuyingChoice, option);

      options[option] = weights[choice->class_index] * choice->n_slices;
    }
}

/* Returns the bound of the weights. Sets @options to what options weigh, and @missing to the slices that are taken
 * minus those that are there. */
static gint64
bound_of (QuoitBuying *buying, const gint64 *weights, gint64 *options, gint64 *missing)
{
  __int128 bound = 0;

  memset (missing, 0, buying->n_classes * sizeof *missing);
  weigh_options (buying, weights, options);
  for (guint32 t = 0; t < buying->types->len; t++)
    {
      const guint32 lightest = quoit_buying_lightest (buying, options, t);
      const QuoitBuyingChoice *choice = &g_array_index (buying->options, QuoitBuyingChoice, lightest);
      const guint32 n_requests = quoit_buying_type (buying, t)->n_requests;

      bound += (__int128) options[lightest] * n_requests;
      missing[choice->class_index] += (gint64) choice->n_slices * n_requests;
    }
  for (guint32 c = 0; c < buying->n_classes; c++)
    {
      const QuoitBuyingClass *class = &buying->classes[c];
      const gboolean is_bought = class->limit > 0 && weights[c] >= class->price && missing[c] > class->n_free;

      bound -= worth_of (class, weights[c]);
      missing[c] -= class->n_free;
      if (class->limit > 0 && weights[c] > class->price)
        missing[c] -= class->limit;
      else if (is_bought)
        missing[c] -= MIN (missing[c], class->limit); /* at the price, any number is as good */
    }
  quoit_buying_spend (buying, buying->options->len + buying->n_classes);
  return (gint64) CLAMP (bound, G_MININT64 / 2, G_MAXINT64); /* so that a distance to it does not overflow */
}

gboolean
quoit_buying_move (gint64 *weights, const gint64 *missing, guint32 n, gint64 step)
{
  gboolean has_changed = FALSE;
  __int128 square = 0;

  for (guint32 i = 0; i < n; i++)
    square += (__int128) missing[i] * missing[i];
  for (guint32 i = 0; i < n && square > 0; i++)
    {
      const __int128 to
          = CLAMP (weights[i] + (__int128) step * missing[i] / square, (__int128) 0, (__int128) MAX_WEIGHT);

      has_changed = has_changed || to != weights[i];
      weights[i] = (gint64) to;
    }
  return has_changed;
}

/* The distance to the cost that the best choice may have. */
static gint64
distance (const QuoitBuying *buying, gint64 bound, gint64 target)
{
  gint64 guess = 1;

  if (target != G_MAXINT64)
    return MAX (target - bound, 1);
  for (guint32 c = 0; c < buying->n_classes; c++)
    if (buying->classes[c].limit > 0)
      guess = MAX (guess, buying->classes[c].price);
  return MAX (MAX (bound, 0) / 8, guess);
}

void
quoit_buying_bound_init (QuoitBuyingBound *bound, QuoitBuying *buying, gint64 target)
{
  g_autofree gint64 *weights = g_new0 (gint64, buying->n_classes + 1);
  g_autofree gint64 *missing = g_new0 (gint64, buying->n_classes + 1);
  g_autofree gint64 *best = g_new0 (gint64, buying->n_classes + 1);

  *bound
      = (QuoitBuyingBound) { g_new0 (gint64, buying->options->len + 1), g_new0 (__int128, buying->n_classes + 1), 0 };
  for (guint32 c = 0; c < buying->n_classes; c++)
    weights[c] = buying->classes[c].limit > 0 ? buying->classes[c].price : 0;
  for (guint i = 0; i < N_ROUNDS && buying->steps > 0 && bound->bound < target; i++)
    {
      const gint64 value = bound_of (buying, weights, bound->weights, missing);

      if (value > bound->bound)
        {
          bound->bound = value;
          memcpy (best, weights, buying->n_classes * sizeof *weights);
        }
      /* Later rounds take smaller steps. */
      if (!quoit_buying_move (weights, missing, buying->n_classes, distance (buying, value, target) / (1 + i / 40)))
        break;
    }
  weigh_options (buying, best, bound->weights);
  for (guint32 c = 0; c < buying->n_classes; c++)
    bound->worth[c] = worth_of (&buying->classes[c], best[c]);
}

void
quoit_buying_bound_clear (QuoitBuyingBound *bound)
{
  g_free (bound->weights);
  g_free (bound->worth);
}

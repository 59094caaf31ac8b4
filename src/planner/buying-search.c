/* SPDX-License-Identifier: Apache-2.0 */
/* The upper end of a purchase: requests take what costs least at the moment, in several orders; then single requests
 * and pairs of them change to other options as long as that helps. */
#include "planner/buying-types.h"

#include <string.h>

/* A plan is better if less of it cannot be had, and then if it costs less. */
typedef struct {
  gint64 excess, cost;
} Worth;

static gboolean
is_less (Worth a, Worth b)
{
  return a.excess != b.excess ? a.excess < b.excess : a.cost < b.cost;
}

static Worth
worth_of (const QuoitBuyingClass *class, gint64 n)
{
  const gint64 most = (gint64) class->n_free + class->limit;

  return (Worth) { MAX (n - most, 0), quoit_buying_cost (class, MIN (n, most)) };
}

/* Returns what taking @n more slices changes. */
static Worth
change_of (const QuoitBuying *buying, const QuoitBuyingPlan *plan, guint32 class_index, gint64 n)
{
  const QuoitBuyingClass *class = &buying->classes[class_index];
  const Worth before = worth_of (class, plan->taken[class_index]);
  const Worth after = worth_of (class, plan->taken[class_index] + n);

  return (Worth) { after.excess - before.excess, after.cost - before.cost };
}

/* Adds @n requests that take the option, or removes them if @n is negative. */
static void
take (const QuoitBuying *buying, QuoitBuyingPlan *plan, guint32 option, gint64 n)
{
  const QuoitBuyingChoice *choice = &g_array_index (buying->options, QuoitBuyingChoice, option);
  const Worth change = change_of (buying, plan, choice->class_index, n * choice->n_slices);

  plan->counts[option] = (guint32) (plan->counts[option] + n);
  plan->taken[choice->class_index] += n * choice->n_slices;
  plan->excess += change.excess;
  plan->cost += change.cost;
}

/* --- a first plan --- */

typedef enum {
  BY_COST,   /* what costs least now; then what weighs least */
  BY_WEIGHT, /* what weighs least, as long as there is something of it */
  N_ORDERS
} Order;

static guint32
choose (const QuoitBuying *buying, const QuoitBuyingBound *bound, const QuoitBuyingPlan *plan,
        const QuoitBuyingType *type, Order order)
{
  guint32 best = 0;
  Worth least = { G_MAXINT64, G_MAXINT64 };
  gint64 least_weight = G_MAXINT64;

  for (guint32 option = 0; option < type->n_options; option++)
    {
      const QuoitBuyingChoice *choice = quoit_buying_option (buying, type, option);
      const gint64 weight = bound->weights[type->first_option + option];
      Worth worth = change_of (buying, plan, choice->class_index, choice->n_slices);
      gint64 next = weight;

      if (order == BY_WEIGHT)
        {
          next = worth.cost;
          worth.cost = weight;
        }
      if (!is_less (worth, least) && (is_less (least, worth) || next >= least_weight))
        continue;
      least = worth;
      least_weight = next;
      best = option;
    }
  return type->first_option + best;
}

static void
fill (QuoitBuying *buying, const QuoitBuyingBound *bound, QuoitBuyingPlan *plan, Order order)
{
  for (guint32 t = 0; t < buying->types->len; t++)
    {
      const QuoitBuyingType *type = quoit_buying_type (buying, t);

      if (type->n_options == 1)
        take (buying, plan, type->first_option, type->n_requests);
      for (guint32 i = 0; i < type->n_requests && type->n_options > 1; i++)
        take (buying, plan, choose (buying, bound, plan, type, order), 1);
      quoit_buying_spend (buying, (guint64) type->n_requests * type->n_options);
    }
}

void
quoit_buying_take_lightest (QuoitBuying *buying, const QuoitBuyingBound *bound, QuoitBuyingPlan *plan)
{
  for (guint32 t = 0; t < buying->types->len; t++)
    take (buying, plan, quoit_buying_lightest (buying, bound->weights, t), quoit_buying_type (buying, t)->n_requests);
  quoit_buying_spend (buying, buying->options->len);
}

/* --- changes --- */

typedef struct {
  guint32 from, to; /* options of one type */
} Move;

static void
make (const QuoitBuying *buying, QuoitBuyingPlan *plan, Move move)
{
  take (buying, plan, move.from, -1);
  take (buying, plan, move.to, 1);
}

static void
undo (const QuoitBuying *buying, QuoitBuyingPlan *plan, Move move)
{
  make (buying, plan, (Move) { move.to, move.from });
}

static GArray *
list_moves (const QuoitBuying *buying)
{
  GArray *moves = g_array_new (FALSE, FALSE, sizeof (Move));

  for (guint32 t = 0; t < buying->types->len; t++)
    {
      const QuoitBuyingType *type = quoit_buying_type (buying, t);

      for (guint32 a = 0; a < type->n_options; a++)
        for (guint32 b = 0; b < type->n_options; b++)
          {
            const Move move = { type->first_option + a, type->first_option + b };

            if (a != b)
              g_array_append_val (moves, move);
          }
    }
  return moves;
}

/* Makes one move, or two together, that make the plan better. Returns FALSE if there are none. */
static gboolean
improve_once (QuoitBuying *buying, const GArray *moves, QuoitBuyingPlan *plan)
{
  const Worth before = { plan->excess, plan->cost };

  for (guint i = 0; i < moves->len && buying->steps > 0; i++)
    {
      const Move first = g_array_index (moves, Move, i);

      if (plan->counts[first.from] == 0)
        continue;
      make (buying, plan, first);
      if (is_less ((Worth) { plan->excess, plan->cost }, before))
        return TRUE;
      quoit_buying_spend (buying, moves->len);
      for (guint j = 0; j < moves->len; j++)
        {
          const Move second = g_array_index (moves, Move, j);

          if (plan->counts[second.from] == 0)
            continue;
          make (buying, plan, second);
          if (is_less ((Worth) { plan->excess, plan->cost }, before))
            return TRUE;
          undo (buying, plan, second);
        }
      undo (buying, plan, first);
    }
  return FALSE;
}

void
quoit_buying_search (QuoitBuying *buying, const QuoitBuyingBound *bound, QuoitBuyingPlan *best)
{
  g_autoptr (GArray) moves = list_moves (buying);
  QuoitBuyingPlan plan;

  for (Order order = BY_COST; order < N_ORDERS; order++)
    {
      guint64 kept;

      quoit_buying_plan_init (&plan, buying);
      fill (buying, bound, &plan, order);
      kept = buying->steps / 2; /* for the other order, and for trying all */
      buying->steps -= kept;
      while (improve_once (buying, moves, &plan))
        ;
      buying->steps += kept;
      if (order == BY_COST || is_less ((Worth) { plan.excess, plan.cost }, (Worth) { best->excess, best->cost }))
        quoit_buying_plan_copy (best, buying, &plan);
      quoit_buying_plan_clear (&plan);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Branch and bound over the requests, one after the other. Requests of one type take their options in ascending order,
 * because exchanging them changes nothing. A branch ends if what it has bought already, or the bound of the weights for
 * it, is not below the best plan. */
#include "planner/buying-types.h"

#include <string.h>

typedef struct {
  QuoitBuying *buying;
  const QuoitBuyingBound *bound;
  QuoitBuyingPlan *best;
  guint32 *type_of;   /* by depth */
  guint32 *option_of; /* by depth: the option of its type that is tried */
  gint64 *least;      /* by type: the least weight of its options */
  QuoitBuyingPlan plan;
  gint64 lower; /* the bound for the present branch */
} Search;

static void
take (Search *search, guint32 depth, gint64 n)
{
  const QuoitBuyingType *type = quoit_buying_type (search->buying, search->type_of[depth]);
  const QuoitBuyingChoice *choice = quoit_buying_option (search->buying, type, search->option_of[depth]);
  const QuoitBuyingClass *class = &search->buying->classes[choice->class_index];
  gint64 *taken = &search->plan.taken[choice->class_index];

  search->plan.cost -= quoit_buying_cost (class, *taken);
  *taken += n * choice->n_slices;
  search->plan.cost += quoit_buying_cost (class, *taken);
  search->plan.counts[type->first_option + search->option_of[depth]]
      = (guint32) (search->plan.counts[type->first_option + search->option_of[depth]] + n);
  search->lower += n
                   * (search->bound->weights[type->first_option + search->option_of[depth]]
                      - search->least[search->type_of[depth]]);
}

/* Returns whether the branch can have a plan that is better than the best one. */
static gboolean
is_promising (const Search *search, guint32 depth)
{
  const QuoitBuyingType *type = quoit_buying_type (search->buying, search->type_of[depth]);
  const QuoitBuyingChoice *choice = quoit_buying_option (search->buying, type, search->option_of[depth]);
  const QuoitBuyingClass *class = &search->buying->classes[choice->class_index];

  if (search->plan.taken[choice->class_index] > (gint64) class->n_free + class->limit)
    return FALSE;
  return search->best->excess > 0
         || MAX (search->plan.cost, search->lower) <= search->best->cost - search->buying->price_unit;
}

static void
search_init (Search *search, QuoitBuying *buying, const QuoitBuyingBound *bound, QuoitBuyingPlan *best)
{
  guint32 depth = 0;

  *search = (Search) { .buying = buying, .bound = bound, .best = best, .lower = bound->bound };
  search->type_of = g_new (guint32, buying->n_requests + 1);
  search->option_of = g_new (guint32, buying->n_requests + 1);
  search->least = g_new (gint64, buying->types->len + 1);
  quoit_buying_plan_init (&search->plan, buying);
  for (guint32 t = 0; t < buying->types->len; t++)
    {
      const QuoitBuyingType *type = quoit_buying_type (buying, t);

      search->least[t] = bound->weights[quoit_buying_lightest (buying, bound->weights, t)];
      for (guint32 i = 0; i < type->n_requests; i++)
        search->type_of[depth++] = t;
    }
}

static void
search_clear (Search *search)
{
  g_free (search->type_of);
  g_free (search->option_of);
  g_free (search->least);
  quoit_buying_plan_clear (&search->plan);
}

/* Returns the first option to try at this depth. */
static guint32
first_option (const Search *search, guint32 depth)
{
  return depth > 0 && search->type_of[depth] == search->type_of[depth - 1] ? search->option_of[depth - 1] : 0;
}

/* Leaves the options at this depth and before that are exhausted. Returns FALSE if all are. */
static gboolean
advance (Search *search, guint32 *depth)
{
  for (;; (*depth)--)
    {
      take (search, *depth, -1);
      if (++search->option_of[*depth] < quoit_buying_type (search->buying, search->type_of[*depth])->n_options)
        {
          take (search, *depth, 1);
          return TRUE;
        }
      if (*depth == 0)
        return FALSE;
    }
}

static gboolean
is_done (const Search *search)
{
  return search->best->excess == 0 && search->best->cost - search->buying->price_unit < MAX (search->bound->bound, 0);
}

static gboolean
run (Search *search)
{
  guint32 depth = 0;

  search->option_of[0] = 0;
  take (search, 0, 1);
  while (!is_done (search))
    {
      if (search->buying->steps == 0)
        return FALSE;
      quoit_buying_spend (search->buying, 1);
      if (!is_promising (search, depth))
        {
          if (!advance (search, &depth))
            return TRUE;
          continue;
        }
      if (depth + 1 < search->buying->n_requests)
        {
          depth++;
          search->option_of[depth] = first_option (search, depth);
          take (search, depth, 1);
          continue;
        }
      quoit_buying_plan_keep (search->buying, search->best, &search->plan, quoit_buying_share (search->buying));
      if (!advance (search, &depth))
        return TRUE;
    }
  return TRUE;
}

gboolean
quoit_buying_try_all (QuoitBuying *buying, const QuoitBuyingBound *bound, QuoitBuyingPlan *best)
{
  gboolean is_complete = TRUE;
  Search search;

  search_init (&search, buying, bound, best);
  if (buying->n_requests > 0)
    is_complete = run (&search);
  search_clear (&search);
  return is_complete;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/buying-types.h"
#include "planner/cube-weights.h"

#include <string.h>

/* --- types --- */

/* Returns whether a request can have this option at all. */
static gboolean
is_possible (const QuoitBuyingProblem *problem, const QuoitBuyingOption *option)
{
  const QuoitBuyingClass *class = &problem->classes[option->class_index];

  return option->n_slices <= (guint64) class->n_free + class->limit;
}

/* Whether two options take the same slices. */
static gboolean
are_alike (const QuoitBuyingChoice *a, const QuoitBuyingChoice *b)
{
  return a->class_index == b->class_index && a->shape == b->shape;
}

/* Adds the options of a request to @options. Of two options of one class, the one with fewer slices is enough. */
static void
list_options (const QuoitBuyingProblem *problem, const QuoitBuyingRequest *request, GArray *options)
{
  const guint first = options->len;

  for (guint32 i = 0; i < request->n_options; i++)
    {
      const QuoitBuyingOption *option = &problem->options[request->first_option + i];
      const QuoitBuyingChoice choice = { option->class_index, option->n_slices, option->shape, i };
      guint at = first;

      if (!is_possible (problem, option))
        continue;
      while (at < options->len && !are_alike (&g_array_index (options, QuoitBuyingChoice, at), &choice))
        at++;
      if (at == options->len)
        g_array_append_val (options, choice);
      else if (g_array_index (options, QuoitBuyingChoice, at).n_slices > choice.n_slices)
        g_array_index (options, QuoitBuyingChoice, at) = choice;
    }
}

static gint
by_slices (gconstpointer a, gconstpointer b, gpointer data)
{
  const QuoitBuying *buying = data;
  const QuoitBuyingType *types[] = { a, b };
  guint32 most[2] = { 0, 0 };

  for (guint i = 0; i < 2; i++)
    for (guint32 option = 0; option < types[i]->n_options; option++)
      most[i] = MAX (most[i], quoit_buying_option (buying, types[i], option)->n_slices);
  if ((types[0]->n_options == 1) != (types[1]->n_options == 1))
    return types[0]->n_options == 1 ? -1 : 1;
  if (most[0] != most[1])
    return most[0] > most[1] ? -1 : 1;
  return types[0]->first_option < types[1]->first_option ? -1 : types[0]->first_option > types[1]->first_option;
}

/* Numbers the types again after sorting: @firsts has the first option of each type before. */
static void
sort_types (QuoitBuying *buying)
{
  const guint n = buying->types->len;
  g_autofree guint32 *firsts = g_new (guint32, n + 1);
  g_autoptr (GHashTable) numbers = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < n; i++)
    firsts[i] = quoit_buying_type (buying, i)->first_option;
  g_array_sort_with_data (buying->types, by_slices, buying);
  for (guint i = 0; i < n; i++)
    g_hash_table_insert (numbers, GUINT_TO_POINTER (quoit_buying_type (buying, i)->first_option), GUINT_TO_POINTER (i));
  for (guint32 i = 0; i < buying->n_requests; i++)
    buying->type_of[i]
        = GPOINTER_TO_UINT (g_hash_table_lookup (numbers, GUINT_TO_POINTER (firsts[buying->type_of[i]])));
}

/* Returns FALSE if a request has no possible option. */
static gboolean
list_types (QuoitBuying *buying, const QuoitBuyingProblem *problem)
{
  g_autoptr (GHashTable) known
      = g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, NULL);

  for (guint32 i = 0; i < problem->n_requests; i++)
    {
      const guint first = buying->options->len;
      QuoitBuyingType type = { .first_option = first, .n_requests = 1 };
      g_autoptr (GBytes) key = NULL;
      gpointer number;

      list_options (problem, &problem->requests[i], buying->options);
      type.n_options = buying->options->len - first;
      if (type.n_options == 0)
        return FALSE;
      key = g_bytes_new (&g_array_index (buying->options, QuoitBuyingChoice, first),
                         type.n_options * sizeof (QuoitBuyingChoice));
      if (g_hash_table_lookup_extended (known, key, NULL, &number))
        {
          g_array_set_size (buying->options, first);
          g_array_index (buying->types, QuoitBuyingType, GPOINTER_TO_UINT (number)).n_requests++;
        }
      else
        {
          number = GUINT_TO_POINTER (buying->types->len);
          g_hash_table_insert (known, g_steal_pointer (&key), number);
          g_array_append_val (buying->types, type);
        }
      buying->type_of[i] = GPOINTER_TO_UINT (number);
    }
  sort_types (buying);
  return TRUE;
}

static gboolean
is_market (const QuoitBuying *buying, guint32 class_index)
{
  for (guint32 i = 0; i < buying->n_markets; i++)
    if (buying->markets[i].class_index == class_index)
      return TRUE;
  return FALSE;
}

static void
find_price_unit (QuoitBuying *buying)
{
  for (guint32 class = 0; class < buying->n_classes; class ++)
    if (buying->classes[class].limit > 0 && !is_market (buying, class))
      buying->price_unit = quoit_buying_common_divisor (buying->price_unit, buying->classes[class].price);
  for (guint32 i = 0; i < buying->n_markets; i++)
    buying->price_unit = quoit_cube_market_price_unit (buying->markets[i].market, buying->price_unit);
  buying->price_unit = MAX (buying->price_unit, 1);
}

static gboolean
buying_init (QuoitBuying *buying, const QuoitBuyingProblem *problem, guint64 steps)
{
  *buying
      = (QuoitBuying) { .classes = problem->classes,
                        .n_classes = problem->n_classes,
                        .types = g_array_new (FALSE, FALSE, sizeof (QuoitBuyingType)),
                        .options = g_array_new (FALSE, FALSE, sizeof (QuoitBuyingChoice)),
                        .type_of = g_new (guint32, problem->n_requests),
                        .n_requests = problem->n_requests,
                        .steps = steps,
                        .markets = problem->markets,
                        .n_markets = problem->n_markets,
                        .cube_weights = g_new0 (QuoitCubeWeights *, problem->n_markets + 1),
                        .purchases = g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref,
                                                            (GDestroyNotify) quoit_cube_purchase_unref),
                        .chosen = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_cube_purchase_unref),
                        .unproven = G_MAXINT64 };
  find_price_unit (buying);
  return list_types (buying, problem);
}

static void
buying_clear (QuoitBuying *buying)
{
  g_array_unref (buying->types);
  g_array_unref (buying->options);
  g_free (buying->type_of);
  for (guint32 i = 0; i < buying->n_markets; i++)
    quoit_cube_weights_free (buying->cube_weights[i]);
  g_free (buying->cube_weights);
  g_hash_table_unref (buying->purchases);
  g_ptr_array_unref (buying->chosen);
}

/* --- plans --- */

void
quoit_buying_plan_init (QuoitBuyingPlan *plan, const QuoitBuying *buying)
{
  *plan
      = (QuoitBuyingPlan) { g_new0 (guint32, buying->options->len + 1), g_new0 (gint64, buying->n_classes + 1), 0, 0 };
}

void
quoit_buying_plan_clear (QuoitBuyingPlan *plan)
{
  g_free (plan->counts);
  g_free (plan->taken);
}

void
quoit_buying_plan_copy (QuoitBuyingPlan *plan, const QuoitBuying *buying, const QuoitBuyingPlan *from)
{
  memcpy (plan->counts, from->counts, buying->options->len * sizeof *plan->counts);
  memcpy (plan->taken, from->taken, buying->n_classes * sizeof *plan->taken);
  plan->excess = from->excess;
  plan->cost = from->cost;
}

/* The first requests of a type take its first options. */
static void
list_choices (const QuoitBuying *buying, QuoitBuyingPlan *plan, GArray *choices)
{
  for (guint32 i = 0; i < buying->n_requests; i++)
    {
      const QuoitBuyingType *type = quoit_buying_type (buying, buying->type_of[i]);
      guint32 option = 0;

      while (plan->counts[type->first_option + option] == 0)
        option++;
      plan->counts[type->first_option + option]--;
      g_array_append_val (choices, quoit_buying_option (buying, type, option)->number);
    }
}

/* --- solving --- */

/* The cost of the first plan takes at most this part of the budget. */
enum { FIRST_SHARE = 16 };

/* Finds a plan, which may have an excess. */
typedef void (*Find) (QuoitBuying *buying, const QuoitBuyingBound *bound, QuoitBuyingPlan *plan);

static gint64
round_up (gint64 value, gint64 unit)
{
  return (value + unit - 1) / unit * unit;
}

/* Finds a plan, and replaces @best by it if it can be had and costs less. Returns whether it can be had. */
static gboolean
try_plan (QuoitBuying *buying, const QuoitBuyingBound *bound, Find find, QuoitBuyingPlan *best, guint64 steps)
{
  QuoitBuyingPlan plan;
  gboolean can_be_had;

  quoit_buying_plan_init (&plan, buying);
  find (buying, bound, &plan);
  can_be_had = plan.excess == 0;
  if (can_be_had)
    quoit_buying_plan_keep (buying, best, &plan, steps);
  quoit_buying_plan_clear (&plan);
  return can_be_had;
}

/* Improves the bound with the knowledge of what a plan costs. */
static void
improve_weights (QuoitBuying *buying, gint64 cost, QuoitBuyingBound *bound)
{
  QuoitBuyingBound better;

  quoit_buying_bound_init (&better, buying, cost);
  if (better.bound > bound->bound)
    {
      const QuoitBuyingBound worse = *bound;

      *bound = better;
      better = worse;
    }
  quoit_buying_bound_clear (&better);
}

/* Sets what was found, and what is known about cheaper plans. */
static void
set_result (QuoitBuying *buying, const QuoitBuyingBound *bound, QuoitBuyingPlan *best, gboolean is_complete,
            QuoitBuyingResult *result)
{
  const gint64 cost = best->excess == 0 ? best->cost : G_MAXINT64;
  gint64 least = round_up (MAX (bound->bound, 0), buying->price_unit);

  if (is_complete)
    least = MAX (least, MIN (buying->unproven, cost));
  result->is_found = best->excess == 0;
  result->is_proven = least == cost;
  result->bound = least == G_MAXINT64 ? 0 : least;
  if (!result->is_found)
    return;
  result->cost = cost;
  list_choices (buying, best, result->choices);
  for (guint i = 0; i < buying->chosen->len; i++)
    g_ptr_array_add (result->cubes, quoit_cube_purchase_ref (buying->chosen->pdata[i]));
}

static gboolean
is_unproven (gpointer key, gpointer purchase, gpointer data)
{
  return !((const QuoitCubePurchase *) purchase)->is_proven;
}

/* Improves the bound now that the cost of a plan is known, and then, with the weights of the bound, the plan. */
static void
improve (QuoitBuying *buying, QuoitBuyingBound *bound, QuoitBuyingPlan *best)
{
  if (best->excess == 0)
    {
      improve_weights (buying, best->cost, bound);
      quoit_buying_weigh_markets (buying, bound, best->cost);
    }
  /* What plans cost in markets is computed again, unless it is proven. */
  buying->unproven = G_MAXINT64;
  g_hash_table_foreach_remove (buying->purchases, is_unproven, NULL);
  if (quoit_buying_has_one_plan (buying))
    try_plan (buying, bound, quoit_buying_search, best, buying->steps);
  else if (best->excess == 0)
    try_plan (buying, bound, quoit_buying_take_lightest, best, quoit_buying_share (buying));
}

static void
solve (QuoitBuying *buying, QuoitBuyingResult *result)
{
  QuoitBuyingBound bound;
  QuoitBuyingPlan best;
  gboolean is_complete;

  quoit_buying_plan_init (&best, buying);
  best.excess = 1;
  quoit_buying_bound_init (&bound, buying, G_MAXINT64);
  is_complete = try_plan (buying, &bound, quoit_buying_search, &best, buying->steps / FIRST_SHARE)
                && quoit_buying_has_one_plan (buying);
  if (!(is_complete && buying->unproven == G_MAXINT64) && !(best.excess == 0 && best.cost <= bound.bound))
    improve (buying, &bound, &best);
  is_complete = is_complete || quoit_buying_try_all (buying, &bound, &best);
  set_result (buying, &bound, &best, is_complete, result);
  quoit_buying_bound_clear (&bound);
  quoit_buying_plan_clear (&best);
}

void
quoit_buying_solve (const QuoitBuyingProblem *problem, guint64 steps, QuoitBuyingResult *result)
{
  QuoitBuying buying;

  *result = (QuoitBuyingResult) {
    .choices = g_array_new (FALSE, FALSE, sizeof (guint32)),
    .cubes = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_cube_purchase_unref),
  };
  if (buying_init (&buying, problem, steps))
    solve (&buying, result);
  else
    result->is_proven = TRUE;
  buying_clear (&buying);
}

void
quoit_buying_result_clear (QuoitBuyingResult *result)
{
  g_array_unref (result->choices);
  g_ptr_array_unref (result->cubes);
}

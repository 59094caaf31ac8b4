/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/buying-types.h"

#include <string.h>

/* --- types --- */

/* Returns whether a request can have this option at all. */
static gboolean
is_possible (const QuoitBuyingProblem *problem, const QuoitBuyingOption *option)
{
  const QuoitBuyingClass *class = &problem->classes[option->class_index];

  return option->n_slices <= (guint64) class->n_free + class->limit;
}

/* Adds the options of a request to @options. Of two options of one class, the one with fewer slices is enough. */
static void
list_options (const QuoitBuyingProblem *problem, const QuoitBuyingRequest *request, GArray *options)
{
  const guint first = options->len;

  for (guint32 i = 0; i < request->n_options; i++)
    {
      const QuoitBuyingOption *option = &problem->options[request->first_option + i];
      const QuoitBuyingChoice choice = { option->class_index, option->n_slices, i };
      guint at = first;

      if (!is_possible (problem, option))
        continue;
      while (at < options->len && g_array_index (options, QuoitBuyingChoice, at).class_index != choice.class_index)
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

static gint64
common_divisor (gint64 a, gint64 b)
{
  while (b != 0)
    {
      const gint64 rest = a % b;

      a = b;
      b = rest;
    }
  return a;
}

static gboolean
buying_init (QuoitBuying *buying, const QuoitBuyingProblem *problem, guint64 steps)
{
  *buying = (QuoitBuying) { .classes = problem->classes,
                            .n_classes = problem->n_classes,
                            .types = g_array_new (FALSE, FALSE, sizeof (QuoitBuyingType)),
                            .options = g_array_new (FALSE, FALSE, sizeof (QuoitBuyingChoice)),
                            .type_of = g_new (guint32, problem->n_requests),
                            .n_requests = problem->n_requests,
                            .steps = steps };
  for (guint32 class = 0; class < problem->n_classes; class ++)
    if (problem->classes[class].limit > 0)
      buying->price_unit = common_divisor (buying->price_unit, problem->classes[class].price);
  buying->price_unit = MAX (buying->price_unit, 1);
  return list_types (buying, problem);
}

static void
buying_clear (QuoitBuying *buying)
{
  g_array_unref (buying->types);
  g_array_unref (buying->options);
  g_free (buying->type_of);
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

static gint64
round_up (gint64 value, gint64 unit)
{
  return (value + unit - 1) / unit * unit;
}

static void
solve (QuoitBuying *buying, QuoitBuyingResult *result)
{
  QuoitBuyingBound bound;
  QuoitBuyingPlan best;

  quoit_buying_plan_init (&best, buying);
  quoit_buying_bound_init (&bound, buying, G_MAXINT64);
  quoit_buying_search (buying, &bound, &best);
  if (best.excess == 0 && best.cost > bound.bound)
    {
      quoit_buying_bound_clear (&bound);
      quoit_buying_bound_init (&bound, buying, best.cost);
    }
  result->is_proven = quoit_buying_try_all (buying, &bound, &best);
  result->is_found = best.excess == 0;
  result->bound = round_up (MAX (bound.bound, 0), buying->price_unit);
  if (result->is_found)
    {
      result->cost = best.cost;
      result->bound = result->is_proven ? best.cost : MIN (result->bound, best.cost);
      result->is_proven = result->bound == best.cost;
      list_choices (buying, &best, result->choices);
    }
  quoit_buying_bound_clear (&bound);
  quoit_buying_plan_clear (&best);
}

void
quoit_buying_solve (const QuoitBuyingProblem *problem, guint64 steps, QuoitBuyingResult *result)
{
  QuoitBuying buying;

  *result = (QuoitBuyingResult) { .choices = g_array_new (FALSE, FALSE, sizeof (guint32)) };
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
}

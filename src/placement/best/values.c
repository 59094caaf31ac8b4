/* SPDX-License-Identifier: Apache-2.0 */
/* Each pair of a share of the bundles and a value of the label is one subproblem. Shares with the same item classes
 * are merged to one share class, and values with the same sequence of bin classes to one value class. A matching or
 * an assignment then chooses a value for each share. The costs of the pairs can be added, because different values
 * have different nodes. */
#include "placement/best/values.h"

#include <stdlib.h>
#include <string.h>

#include "placement/best/assign.h"
#include "placement/best/match.h"

/* Shares with equal item classes. */
typedef struct {
  guint32 n_item_classes, *item_classes, *counts;
} ShareClass;

/* Values whose nodes have equal bin classes. */
typedef struct {
  guint32 n_nodes;
  const guint32 *nodes; /* of the first value of the class */
} ValueClass;

/* The division of the bundles into shares, and the values for the shares. */
typedef struct {
  QuoitBestProblem *problem;
  const QuoitPlacementRules *rules;
  guint64 *budget;
  guint32 n_shares, n_items;        /* n_items: bundles per share */
  guint32 *share_class;             /* of each share: index in share_classes */
  GPtrArray *share_classes;         /* of ShareClass */
  guint32 n_values;                 /* values with nodes, in the order of their first node */
  guint32 *first_node;              /* of each value: its first index in nodes; one more at the end */
  guint32 *nodes;                   /* by value, each in the order of the view */
  guint32 *value_class;             /* of each value: index in value_classes */
  GPtrArray *value_classes;         /* of ValueClass */
  GHashTable *solutions;            /* share class and value class -> QuoitBestSolution */
  guint32 max_load;                 /* placements with a larger load do not count */
  gboolean all_proven, all_decided; /* of the solutions so far */
} Division;

/* --- shares --- */

static void
share_class_free (gpointer data)
{
  ShareClass *share = data;

  g_free (share->item_classes);
  g_free (share->counts);
  g_free (share);
}

static int
by_number (const void *a, const void *b)
{
  const gint64 *x = a, *y = b;

  return (*x > *y) - (*x < *y);
}

/* @item_classes has the item class of each bundle, sorted. */
static ShareClass *
share_class_new (const gint64 *item_classes, guint32 n)
{
  ShareClass *share = g_new0 (ShareClass, 1);

  share->item_classes = g_new (guint32, n + 1);
  share->counts = g_new0 (guint32, n + 1);
  for (guint32 i = 0; i < n; i++)
    {
      if (i == 0 || item_classes[i] != item_classes[i - 1])
        share->item_classes[share->n_item_classes++] = (guint32) item_classes[i];
      share->counts[share->n_item_classes - 1]++;
    }
  return share;
}

static void
find_shares (Division *division)
{
  g_autofree gint64 *item_classes = g_new (gint64, division->n_items + 1);
  g_autoptr (QuoitRows) rows = quoit_rows_new ();

  division->share_class = g_new0 (guint32, division->n_shares);
  division->share_classes = g_ptr_array_new_with_free_func (share_class_free);
  for (guint32 s = 0; s < division->n_shares; s++)
    {
      for (guint32 i = 0; i < division->n_items; i++)
        item_classes[i] = division->problem->item_class[s * division->n_items + i];
      qsort (item_classes, division->n_items, sizeof *item_classes, by_number);
      division->share_class[s] = quoit_rows_intern (rows, item_classes, division->n_items);
      if (division->share_class[s] == division->share_classes->len)
        g_ptr_array_add (division->share_classes, share_class_new (item_classes, division->n_items));
    }
}

/* --- values of the topology label --- */

static gboolean
is_usable (const Division *division, guint32 node)
{
  guint32 domain = division->problem->view->domain[node];

  return domain != QUOIT_NO_INDEX
         && (division->rules->required_domain == QUOIT_NO_INDEX || division->rules->required_domain == domain)
         && quoit_best_allows (division->rules, node);
}

/* Numbers the values in the order of their first nodes, and groups the nodes by value. */
static void
sort_nodes (Division *division)
{
  const QuoitView *view = division->problem->view;
  g_autofree guint32 *number = g_new (guint32, view->n_domains + 1), *next = NULL;

  for (guint32 d = 0; d < view->n_domains; d++)
    number[d] = QUOIT_NO_INDEX;
  division->first_node = g_new0 (guint32, (gsize) view->n_domains + 2);
  division->nodes = g_new (guint32, view->n_nodes + 1);
  for (guint32 n = 0; n < view->n_nodes; n++)
    if (is_usable (division, n))
      {
        if (number[view->domain[n]] == QUOIT_NO_INDEX)
          number[view->domain[n]] = division->n_values++;
        division->first_node[number[view->domain[n]] + 1]++;
      }
  for (guint32 v = 0; v < division->n_values; v++)
    division->first_node[v + 1] += division->first_node[v];
  next = g_memdup2 (division->first_node, (division->n_values + 1) * sizeof *next);
  for (guint32 n = 0; n < view->n_nodes; n++)
    if (is_usable (division, n))
      division->nodes[next[number[view->domain[n]]]++] = n;
}

/* Returns the number of @slice within a value, counted from 1 in the order of first use. */
static gint64
slice_number (GHashTable *slices, guint32 slice)
{
  gpointer number = g_hash_table_lookup (slices, GUINT_TO_POINTER (slice));

  if (number == NULL)
    {
      number = GUINT_TO_POINTER (g_hash_table_size (slices) + 1);
      g_hash_table_insert (slices, GUINT_TO_POINTER (slice), number);
    }
  return GPOINTER_TO_UINT (number);
}

static void
merge_values (Division *division)
{
  const guint32 *slice = division->problem->view->slice;
  g_autofree gint64 *row = g_new (gint64, 2 * (gsize) division->problem->view->n_nodes + 2);
  g_autoptr (QuoitRows) rows = quoit_rows_new ();
  g_autoptr (GHashTable) slices = g_hash_table_new (NULL, NULL);
  gboolean counts_slices = division->rules->strategy == QUOIT_STRATEGY_PACK && slice != NULL;

  division->value_class = g_new (guint32, (gsize) division->n_values + 1);
  division->value_classes = g_ptr_array_new_with_free_func (g_free);
  for (guint32 v = 0; v < division->n_values; v++)
    {
      const guint32 *nodes = division->nodes + division->first_node[v];
      guint32 n = division->first_node[v + 1] - division->first_node[v], at = 0;

      row[at++] = QUOIT_NO_INDEX;
      for (guint32 i = 0; i < n; i++)
        {
          row[at++] = quoit_best_find_bin_class (division->problem, nodes[i]);
          row[at++] = counts_slices && slice[nodes[i]] != QUOIT_NO_INDEX ? slice_number (slices, slice[nodes[i]]) : 0;
          if (nodes[i] == division->rules->soft_target)
            row[0] = i;
        }
      g_hash_table_remove_all (slices);
      division->value_class[v] = quoit_rows_intern (rows, row, at);
      if (division->value_class[v] == division->value_classes->len)
        {
          ValueClass value = { n, nodes };

          g_ptr_array_add (division->value_classes, g_memdup2 (&value, sizeof value));
        }
    }
}

/* --- subproblems --- */

static QuoitBestSubproblem
make_subproblem (const Division *division, guint32 share_class, guint32 value_class)
{
  const ShareClass *share = division->share_classes->pdata[share_class];
  const ValueClass *value = division->value_classes->pdata[value_class];

  return (QuoitBestSubproblem) { .problem = division->problem,
                                 .n_item_classes = share->n_item_classes,
                                 .item_classes = share->item_classes,
                                 .counts = share->counts,
                                 .n_items = division->n_items,
                                 .nodes = value->nodes,
                                 .n_bins = value->n_nodes,
                                 .budget = division->budget };
}

/* Returns the solution for a share class and a value class. Each subproblem gets half of the remaining budget, so
 * that a hard one leaves some for the others. */
static const QuoitBestSolution *
solve_pair (Division *division, guint32 share_class, guint32 value_class)
{
  gint64 pair = (gint64) ((guint64) share_class << 32 | value_class);
  QuoitBestSolution *solution = g_hash_table_lookup (division->solutions, &pair);
  guint64 reserved = *division->budget / 2;
  QuoitBestSubproblem subproblem;

  if (solution != NULL)
    return solution;
  subproblem = make_subproblem (division, share_class, value_class);
  solution = quoit_best_solution_new (&subproblem);
  *division->budget -= reserved;
  quoit_best_solve (&subproblem, division->rules, solution);
  *division->budget += reserved;
  division->all_decided &= solution->result != QUOIT_BEST_BUDGET;
  division->all_proven &= solution->result == QUOIT_BEST_NONE || solution->proven;
  g_hash_table_insert (division->solutions, g_memdup2 (&pair, sizeof pair), solution);
  return solution;
}

/* --- choosing values --- */

static guint32
matched_value_class (gpointer data, guint32 value)
{
  const Division *division = data;

  return division->value_class[value];
}

static gboolean
share_fits (gpointer data, guint32 share_class, guint32 value_class)
{
  Division *division = data;
  const QuoitBestSolution *solution = solve_pair (division, share_class, value_class);

  return solution->result == QUOIT_BEST_FOUND && solution->load <= division->max_load;
}

/* A value can take one share. */
static guint32
share_capacity (gpointer data, guint32 value_class)
{
  return 1;
}

/* Chooses the earliest values; equal shares get them in order. */
static gboolean
match_values (Division *division, guint32 max_load, guint32 *chosen)
{
  g_autofree guint32 *counts = g_new0 (guint32, division->share_classes->len),
                     *found = g_new (guint32, division->n_shares);
  QuoitBestMatching matching = { .n_item_classes = division->share_classes->len,
                                 .counts = counts,
                                 .n_bins = division->n_values,
                                 .bin_class = matched_value_class,
                                 .fits = share_fits,
                                 .capacity = share_capacity,
                                 .data = division };
  guint32 load, at = 0;

  division->max_load = max_load;
  for (guint32 s = 0; s < division->n_shares; s++)
    counts[division->share_class[s]]++;
  if (!quoit_best_match (&matching, found, &load))
    return FALSE;
  for (guint32 k = 0; k < division->share_classes->len; k++)
    for (guint32 s = 0; s < division->n_shares; s++)
      if (division->share_class[s] == k)
        chosen[s] = found[at++];
  return TRUE;
}

/* Finds the smallest load for which a matching exists. */
static gboolean
match_min_load (Division *division, guint32 *chosen)
{
  guint32 low = 1, high = division->n_items;

  if (!match_values (division, high, chosen))
    return FALSE;
  while (low < high)
    {
      guint32 middle = low + (high - low) / 2;

      if (match_values (division, middle, chosen))
        high = middle;
      else
        low = middle + 1;
    }
  return match_values (division, high, chosen);
}

/* Returns the cost of a share on a value: the number of bins counts first, then the number of slices. With
 * STRICT_PACK, the cost is 0 on the soft target and 1 elsewhere. */
static gint64
pair_cost (gpointer data, guint32 share, guint32 value)
{
  Division *division = data;
  const QuoitBestSolution *solution = solve_pair (division, division->share_class[share], division->value_class[value]);
  gint64 scale = (gint64) division->problem->bundles->n_bundles + 1;

  if (solution->result != QUOIT_BEST_FOUND)
    return QUOIT_BEST_IMPOSSIBLE;
  if (division->rules->strategy == QUOIT_STRATEGY_STRICT_PACK)
    return division->nodes[division->first_node[value] + solution->bins[0]] != division->rules->soft_target;
  return solution->n_bins * scale + solution->n_slices;
}

typedef struct {
  gint64 cost;
  guint32 value;
} ValueCost;

static int
cheapest_first (const void *a, const void *b)
{
  const ValueCost *x = a, *y = b;

  if (x->cost != y->cost)
    return x->cost < y->cost ? -1 : 1;
  return (x->value > y->value) - (x->value < y->value);
}

static ValueCost *
cheapest_values (Division *division, guint32 share)
{
  ValueCost *choices = g_new (ValueCost, (gsize) division->n_values + 1);

  for (guint32 v = 0; v < division->n_values; v++)
    choices[v] = (ValueCost) { pair_cost (division, share, v), v };
  qsort (choices, division->n_values, sizeof *choices, cheapest_first);
  return choices;
}

/* For equal shares: chooses the cheapest values, and the earliest of equal ones. */
static gboolean
choose_cheapest (Division *division, guint32 *chosen)
{
  g_autofree ValueCost *choices = NULL;

  if (division->n_shares > division->n_values)
    return FALSE;
  choices = cheapest_values (division, 0);
  if (choices[division->n_shares - 1].cost == QUOIT_BEST_IMPOSSIBLE)
    return FALSE;
  for (guint32 s = 0; s < division->n_shares; s++)
    chosen[s] = choices[s].value;
  quoit_numbers_sort (chosen, division->n_shares);
  return TRUE;
}

/* The columns of the assignment: only the n_shares cheapest values of each share, because an optimal assignment
 * needs no others. */
typedef struct {
  Division *division;
  guint32 *candidates;
} CandidateCosts;

static gint64
candidate_cost (gpointer data, guint32 share, guint32 candidate)
{
  CandidateCosts *costs = data;

  return pair_cost (costs->division, share, costs->candidates[candidate]);
}

static guint32 *
find_candidates (Division *division, guint32 *n)
{
  guint32 *candidates = g_new (guint32, (gsize) division->n_values + 1);
  g_autofree gboolean *is_candidate = g_new0 (gboolean, (gsize) division->n_values + 1);

  for (guint32 k = 0; k < division->share_classes->len; k++)
    {
      guint32 s = 0;
      g_autofree ValueCost *choices = NULL;

      while (s + 1 < division->n_shares && division->share_class[s] != k)
        s++;
      choices = cheapest_values (division, s);
      for (guint32 i = 0; i < MIN (division->n_shares, division->n_values); i++)
        is_candidate[choices[i].value] |= choices[i].cost != QUOIT_BEST_IMPOSSIBLE;
    }
  for (guint32 v = 0; v < division->n_values; v++)
    if (is_candidate[v])
      candidates[(*n)++] = v;
  return candidates;
}

static gboolean
assign_values (Division *division, guint32 *chosen)
{
  guint32 n = 0;
  g_autofree guint32 *candidates = find_candidates (division, &n);
  CandidateCosts costs = { division, candidates };

  if (n < division->n_shares || !quoit_best_assign (division->n_shares, n, candidate_cost, &costs, chosen))
    return FALSE;
  for (guint32 s = 0; s < division->n_shares; s++)
    chosen[s] = candidates[chosen[s]];
  return TRUE;
}

static gboolean
choose_values (Division *division, guint32 *chosen)
{
  const QuoitPlacementRules *rules = division->rules;

  if (rules->strategy == QUOIT_STRATEGY_SPREAD)
    return match_min_load (division, chosen);
  if (rules->strategy != QUOIT_STRATEGY_PACK && rules->soft_target == QUOIT_NO_INDEX)
    return match_values (division, QUOIT_NO_INDEX, chosen);
  return division->share_classes->len == 1 ? choose_cheapest (division, chosen) : assign_values (division, chosen);
}

/* --- the placement --- */

/* Whether nodes of one slice have different values. Such a slice would be counted more than once. */
static gboolean
divides_slices (const Division *division)
{
  const guint32 *slice = division->problem->view->slice;
  g_autoptr (GHashTable) slice_value = g_hash_table_new (NULL, NULL); /* slice -> value + 1 */

  if (slice == NULL || division->n_shares == 1 || division->rules->strategy != QUOIT_STRATEGY_PACK)
    return FALSE;
  for (guint32 v = 0; v < division->n_values; v++)
    for (guint32 i = division->first_node[v]; i < division->first_node[v + 1]; i++)
      {
        gpointer key = GUINT_TO_POINTER (slice[division->nodes[i]]);
        guint32 previous = GPOINTER_TO_UINT (g_hash_table_lookup (slice_value, key));

        if (slice[division->nodes[i]] != QUOIT_NO_INDEX && previous != 0 && previous != v + 1)
          return TRUE;
        g_hash_table_insert (slice_value, key, GUINT_TO_POINTER (v + 1));
      }
  return FALSE;
}

/* Whether all placements of the strategy are equally good. */
static gboolean
is_strict (QuoitStrategy strategy)
{
  return strategy == QUOIT_STRATEGY_STRICT_PACK || strategy == QUOIT_STRATEGY_STRICT_SPREAD;
}

static void
write_shares (Division *division, const guint32 *chosen, guint32 *nodes)
{
  for (guint32 s = 0; s < division->n_shares; s++)
    {
      guint32 value_class = division->value_class[chosen[s]];
      QuoitBestSubproblem subproblem = make_subproblem (division, division->share_class[s], value_class);

      quoit_best_write_nodes (&subproblem, solve_pair (division, division->share_class[s], value_class)->bins,
                              division->nodes + division->first_node[chosen[s]], s * division->n_items, nodes);
    }
}

static void
solution_free (gpointer data)
{
  quoit_best_solution_free (data);
}

static void
division_clear (Division *division)
{
  g_free (division->share_class);
  g_ptr_array_unref (division->share_classes);
  g_free (division->first_node);
  g_free (division->nodes);
  g_free (division->value_class);
  g_ptr_array_unref (division->value_classes);
  g_hash_table_unref (division->solutions);
}

QuoitBestResult
quoit_best_place_by_value (QuoitBestProblem *problem, const QuoitPlacementRules *rules, guint64 *budget,
                           gboolean *proven, guint32 *nodes)
{
  Division division = { .problem = problem, .rules = rules, .n_shares = rules->n_values };
  g_autofree guint32 *chosen = g_new0 (guint32, rules->n_values);
  QuoitBestResult result;

  division.budget = budget;
  division.n_items = problem->bundles->n_bundles / rules->n_values;
  division.all_proven = division.all_decided = TRUE;
  division.solutions = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, solution_free);
  find_shares (&division);
  sort_nodes (&division);
  merge_values (&division);
  if (choose_values (&division, chosen))
    {
      write_shares (&division, chosen, nodes);
      *proven
          = is_strict (rules->strategy) || (division.all_decided && division.all_proven && !divides_slices (&division));
      result = QUOIT_BEST_FOUND;
    }
  else
    {
      *proven = division.all_decided;
      result = division.all_decided ? QUOIT_BEST_NONE : QUOIT_BEST_BUDGET;
    }
  division_clear (&division);
  return result;
}

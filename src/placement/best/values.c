/* SPDX-License-Identifier: Apache-2.0 */
/* Solves one case for each pair of a share of the bundles and a value of the label. Shares with the same asks are
 * merged, and values with the same sequence of rooms too. A matching or an assignment then chooses the values.
 * Different values have different nodes, so that the costs of their placements add up. */
#include "placement/best/values.h"

#include <stdlib.h>
#include <string.h>

#include "placement/best/assign.h"
#include "placement/best/match.h"

/* A class of shares with the same asks. */
typedef struct {
  guint32 n_kinds, *asks, *counts;
} Share;

/* A class of values with equal nodes. */
typedef struct {
  guint32 n_nodes;
  const guint32 *nodes; /* of the first value of the class */
} Value;

typedef struct {
  QuoitBestQuestion *question;
  const QuoitStanding *standing;
  guint64 *budget;
  guint32 n_shares, n_units; /* n_units: bundles per share */
  guint32 *share_of;         /* of each share: its class in `shares` */
  GPtrArray *shares;         /* of Share */
  guint32 n_values;          /* values with nodes, in the order of their first node */
  guint32 *first_of;         /* of each value: its first index in nodes; one more at the end */
  guint32 *nodes;            /* by value, each in the order of the view */
  guint32 *value_of;         /* of each value: its class in `values` */
  GPtrArray *values;         /* of Value */
  GHashTable *answers;       /* share and value -> QuoitBestAnswer */
  guint32 most_load;         /* placements with a larger load do not count */
  gboolean all_proven, all_decided;
} Values;

/* --- shares --- */

static void
share_free (gpointer data)
{
  Share *share = data;

  g_free (share->asks);
  g_free (share->counts);
  g_free (share);
}

static int
by_number (const void *a, const void *b)
{
  const gint64 *x = a, *y = b;

  return (*x > *y) - (*x < *y);
}

/* @asks: of the bundles, sorted. */
static Share *
share_new (const gint64 *asks, guint32 n)
{
  Share *share = g_new0 (Share, 1);

  share->asks = g_new (guint32, n + 1);
  share->counts = g_new0 (guint32, n + 1);
  for (guint32 i = 0; i < n; i++)
    {
      if (i == 0 || asks[i] != asks[i - 1])
        share->asks[share->n_kinds++] = (guint32) asks[i];
      share->counts[share->n_kinds - 1]++;
    }
  return share;
}

static void
find_shares (Values *values)
{
  g_autofree gint64 *asks = g_new (gint64, values->n_units + 1);
  g_autoptr (QuoitRows) rows = quoit_rows_new ();

  values->share_of = g_new0 (guint32, values->n_shares);
  values->shares = g_ptr_array_new_with_free_func (share_free);
  for (guint32 s = 0; s < values->n_shares; s++)
    {
      for (guint32 i = 0; i < values->n_units; i++)
        asks[i] = values->question->ask_of[s * values->n_units + i];
      qsort (asks, values->n_units, sizeof *asks, by_number);
      values->share_of[s] = quoit_rows_intern (rows, asks, values->n_units);
      if (values->share_of[s] == values->shares->len)
        g_ptr_array_add (values->shares, share_new (asks, values->n_units));
    }
}

/* --- values --- */

static gboolean
counts (const Values *values, guint32 node)
{
  guint32 domain = values->question->view->domain[node];

  return domain != QUOIT_NO_INDEX && (values->standing->bound == QUOIT_NO_INDEX || values->standing->bound == domain)
         && quoit_best_allows (values->standing, node);
}

/* Numbers the values in the order of first use, and groups their nodes. */
static void
sort_nodes (Values *values)
{
  const QuoitView *view = values->question->view;
  g_autofree guint32 *number = g_new (guint32, view->n_domains + 1), *next = NULL;

  for (guint32 d = 0; d < view->n_domains; d++)
    number[d] = QUOIT_NO_INDEX;
  values->first_of = g_new0 (guint32, (gsize) view->n_domains + 2);
  values->nodes = g_new (guint32, view->n_nodes + 1);
  for (guint32 n = 0; n < view->n_nodes; n++)
    if (counts (values, n))
      {
        if (number[view->domain[n]] == QUOIT_NO_INDEX)
          number[view->domain[n]] = values->n_values++;
        values->first_of[number[view->domain[n]] + 1]++;
      }
  for (guint32 v = 0; v < values->n_values; v++)
    values->first_of[v + 1] += values->first_of[v];
  next = g_memdup2 (values->first_of, (values->n_values + 1) * sizeof *next);
  for (guint32 n = 0; n < view->n_nodes; n++)
    if (counts (values, n))
      values->nodes[next[number[view->domain[n]]]++] = n;
}

/* Returns the number of @slice, counted from 1 in the order of first use. */
static gint64
slice_among (GHashTable *slices, guint32 slice)
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
merge_values (Values *values)
{
  const guint32 *slice = values->question->view->slice;
  g_autofree gint64 *row = g_new (gint64, 2 * (gsize) values->question->view->n_nodes + 2);
  g_autoptr (QuoitRows) rows = quoit_rows_new ();
  g_autoptr (GHashTable) slices = g_hash_table_new (NULL, NULL);
  gboolean packs = values->standing->strategy == QUOIT_STRATEGY_PACK && slice != NULL;

  values->value_of = g_new (guint32, (gsize) values->n_values + 1);
  values->values = g_ptr_array_new_with_free_func (g_free);
  for (guint32 v = 0; v < values->n_values; v++)
    {
      const guint32 *nodes = values->nodes + values->first_of[v];
      guint32 n = values->first_of[v + 1] - values->first_of[v], at = 0;

      row[at++] = QUOIT_NO_INDEX;
      for (guint32 i = 0; i < n; i++)
        {
          row[at++] = quoit_best_room_of (values->question, nodes[i]);
          row[at++] = packs && slice[nodes[i]] != QUOIT_NO_INDEX ? slice_among (slices, slice[nodes[i]]) : 0;
          if (nodes[i] == values->standing->soft_target)
            row[0] = i;
        }
      g_hash_table_remove_all (slices);
      values->value_of[v] = quoit_rows_intern (rows, row, at);
      if (values->value_of[v] == values->values->len)
        {
          Value value = { n, nodes };

          g_ptr_array_add (values->values, g_memdup2 (&value, sizeof value));
        }
    }
}

/* --- cases --- */

static QuoitBestCase
case_of (const Values *values, guint32 share_number, guint32 value_number)
{
  const Share *share = values->shares->pdata[share_number];
  const Value *value = values->values->pdata[value_number];

  return (QuoitBestCase) { .question = values->question,
                           .n_kinds = share->n_kinds,
                           .asks = share->asks,
                           .counts = share->counts,
                           .n_units = values->n_units,
                           .nodes = value->nodes,
                           .n_nodes = value->n_nodes,
                           .budget = values->budget };
}

/* Each case gets half of the remaining budget, so that a hard one leaves some for the others. */
static const QuoitBestAnswer *
answer_of (Values *values, guint32 share, guint32 value)
{
  gint64 pair = (gint64) ((guint64) share << 32 | value);
  QuoitBestAnswer *answer = g_hash_table_lookup (values->answers, &pair);
  guint64 kept = *values->budget / 2;
  QuoitBestCase it;

  if (answer != NULL)
    return answer;
  it = case_of (values, share, value);
  answer = quoit_best_answer_new (&it);
  *values->budget -= kept;
  quoit_best_solve (&it, values->standing, answer);
  *values->budget += kept;
  values->all_decided &= answer->result != QUOIT_BEST_BUDGET;
  values->all_proven &= answer->result == QUOIT_BEST_NONE || answer->proven;
  g_hash_table_insert (values->answers, g_memdup2 (&pair, sizeof pair), answer);
  return answer;
}

/* --- choosing values --- */

static guint32
like_value (gpointer data, guint32 value)
{
  const Values *values = data;

  return values->value_of[value];
}

static gboolean
may_stand (gpointer data, guint32 share, guint32 value)
{
  Values *values = data;
  const QuoitBestAnswer *answer = answer_of (values, share, value);

  return answer->result == QUOIT_BEST_FOUND && answer->load <= values->most_load;
}

static guint32
one (gpointer data, guint32 value)
{
  return 1;
}

/* Chooses the earliest values; equal shares get them in order. */
static gboolean
match_values (Values *values, guint32 most_load, guint32 *chosen)
{
  g_autofree guint32 *counts_of = g_new0 (guint32, values->shares->len), *found = g_new (guint32, values->n_shares);
  QuoitBestMatching matching = { .n_kinds = values->shares->len,
                                 .counts = counts_of,
                                 .n_places = values->n_values,
                                 .room_of = like_value,
                                 .fits = may_stand,
                                 .capacity = one,
                                 .data = values };
  guint32 load, at = 0;

  values->most_load = most_load;
  for (guint32 s = 0; s < values->n_shares; s++)
    counts_of[values->share_of[s]]++;
  if (!quoit_best_match (&matching, found, &load))
    return FALSE;
  for (guint32 k = 0; k < values->shares->len; k++)
    for (guint32 s = 0; s < values->n_shares; s++)
      if (values->share_of[s] == k)
        chosen[s] = found[at++];
  return TRUE;
}

/* Finds the smallest load for which a matching exists. */
static gboolean
match_least_load (Values *values, guint32 *chosen)
{
  guint32 low = 1, high = values->n_units;

  if (!match_values (values, high, chosen))
    return FALSE;
  while (low < high)
    {
      guint32 middle = low + (high - low) / 2;

      if (match_values (values, middle, chosen))
        high = middle;
      else
        low = middle + 1;
    }
  return match_values (values, high, chosen);
}

/* Returns the cost of a placement: nodes, then slices. For STRICT_PACK: 0 on the soft target, otherwise 1. */
static gint64
cost_of (gpointer data, guint32 share, guint32 value)
{
  Values *values = data;
  const QuoitBestAnswer *answer = answer_of (values, values->share_of[share], values->value_of[value]);
  gint64 scale = (gint64) values->question->bundles->n_bundles + 1;

  if (answer->result != QUOIT_BEST_FOUND)
    return QUOIT_BEST_NO_WAY;
  if (values->standing->strategy == QUOIT_STRATEGY_STRICT_PACK)
    return values->nodes[values->first_of[value] + answer->places[0]] != values->standing->soft_target;
  return answer->n_nodes * scale + answer->n_slices;
}

typedef struct {
  gint64 cost;
  guint32 value;
} Choice;

static int
cheapest_first (const void *a, const void *b)
{
  const Choice *x = a, *y = b;

  if (x->cost != y->cost)
    return x->cost < y->cost ? -1 : 1;
  return (x->value > y->value) - (x->value < y->value);
}

static Choice *
cheapest_values (Values *values, guint32 share)
{
  Choice *choices = g_new (Choice, (gsize) values->n_values + 1);

  for (guint32 v = 0; v < values->n_values; v++)
    choices[v] = (Choice) { cost_of (values, share, v), v };
  qsort (choices, values->n_values, sizeof *choices, cheapest_first);
  return choices;
}

/* If all shares are equal, chooses the cheapest values, and the earliest of equal ones. */
static gboolean
take_cheapest (Values *values, guint32 *chosen)
{
  g_autofree Choice *choices = NULL;

  if (values->n_shares > values->n_values)
    return FALSE;
  choices = cheapest_values (values, 0);
  if (choices[values->n_shares - 1].cost == QUOIT_BEST_NO_WAY)
    return FALSE;
  for (guint32 s = 0; s < values->n_shares; s++)
    chosen[s] = choices[s].value;
  quoit_numbers_sort (chosen, values->n_shares);
  return TRUE;
}

/* The assignment is restricted to the n_shares cheapest values of each share. An optimal assignment needs no others. */
typedef struct {
  Values *values;
  guint32 *candidates;
} Assigning;

static gint64
cost_of_candidate (gpointer data, guint32 share, guint32 candidate)
{
  Assigning *assigning = data;

  return cost_of (assigning->values, share, assigning->candidates[candidate]);
}

static guint32 *
find_candidates (Values *values, guint32 *n)
{
  guint32 *candidates = g_new (guint32, (gsize) values->n_values + 1);
  g_autofree gboolean *is_candidate = g_new0 (gboolean, (gsize) values->n_values + 1);

  for (guint32 k = 0; k < values->shares->len; k++)
    {
      guint32 s = 0;
      g_autofree Choice *choices = NULL;

      while (s + 1 < values->n_shares && values->share_of[s] != k)
        s++;
      choices = cheapest_values (values, s);
      for (guint32 i = 0; i < MIN (values->n_shares, values->n_values); i++)
        is_candidate[choices[i].value] |= choices[i].cost != QUOIT_BEST_NO_WAY;
    }
  for (guint32 v = 0; v < values->n_values; v++)
    if (is_candidate[v])
      candidates[(*n)++] = v;
  return candidates;
}

static gboolean
assign_values (Values *values, guint32 *chosen)
{
  guint32 n = 0;
  g_autofree guint32 *candidates = find_candidates (values, &n);
  Assigning assigning = { values, candidates };

  if (n < values->n_shares || !quoit_best_assign (values->n_shares, n, cost_of_candidate, &assigning, chosen))
    return FALSE;
  for (guint32 s = 0; s < values->n_shares; s++)
    chosen[s] = candidates[chosen[s]];
  return TRUE;
}

static gboolean
choose_values (Values *values, guint32 *chosen)
{
  const QuoitStanding *standing = values->standing;

  if (standing->strategy == QUOIT_STRATEGY_SPREAD)
    return match_least_load (values, chosen);
  if (standing->strategy != QUOIT_STRATEGY_PACK && standing->soft_target == QUOIT_NO_INDEX)
    return match_values (values, QUOIT_NO_INDEX, chosen);
  return values->shares->len == 1 ? take_cheapest (values, chosen) : assign_values (values, chosen);
}

/* --- the placement --- */

/* Whether nodes of one slice have different values. Such a slice is then counted more than once. */
static gboolean
divides_slices (const Values *values)
{
  const guint32 *slice = values->question->view->slice;
  g_autoptr (GHashTable) value_of = g_hash_table_new (NULL, NULL); /* slice -> value + 1 */

  if (slice == NULL || values->n_shares == 1 || values->standing->strategy != QUOIT_STRATEGY_PACK)
    return FALSE;
  for (guint32 v = 0; v < values->n_values; v++)
    for (guint32 i = values->first_of[v]; i < values->first_of[v + 1]; i++)
      {
        gpointer key = GUINT_TO_POINTER (slice[values->nodes[i]]);
        guint32 before = GPOINTER_TO_UINT (g_hash_table_lookup (value_of, key));

        if (slice[values->nodes[i]] != QUOIT_NO_INDEX && before != 0 && before != v + 1)
          return TRUE;
        g_hash_table_insert (value_of, key, GUINT_TO_POINTER (v + 1));
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
write_shares (Values *values, const guint32 *chosen, guint32 *nodes)
{
  for (guint32 s = 0; s < values->n_shares; s++)
    {
      guint32 value = values->value_of[chosen[s]];
      QuoitBestCase it = case_of (values, values->share_of[s], value);

      quoit_best_write (&it, answer_of (values, values->share_of[s], value)->places,
                        values->nodes + values->first_of[chosen[s]], s * values->n_units, nodes);
    }
}

static void
answer_free (gpointer data)
{
  quoit_best_answer_free (data);
}

static void
clear (Values *values)
{
  g_free (values->share_of);
  g_ptr_array_unref (values->shares);
  g_free (values->first_of);
  g_free (values->nodes);
  g_free (values->value_of);
  g_ptr_array_unref (values->values);
  g_hash_table_unref (values->answers);
}

QuoitBestResult
quoit_best_place_by_value (QuoitBestQuestion *question, const QuoitStanding *standing, guint64 *budget,
                           gboolean *proven, guint32 *nodes)
{
  Values values = { .question = question, .standing = standing, .n_shares = standing->n_values };
  g_autofree guint32 *chosen = g_new0 (guint32, standing->n_values);
  QuoitBestResult result;

  values.budget = budget;
  values.n_units = question->bundles->n_bundles / standing->n_values;
  values.all_proven = values.all_decided = TRUE;
  values.answers = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, answer_free);
  find_shares (&values);
  sort_nodes (&values);
  merge_values (&values);
  if (choose_values (&values, chosen))
    {
      write_shares (&values, chosen, nodes);
      *proven
          = is_strict (standing->strategy) || (values.all_decided && values.all_proven && !divides_slices (&values));
      result = QUOIT_BEST_FOUND;
    }
  else
    {
      *proven = values.all_decided;
      result = values.all_decided ? QUOIT_BEST_NONE : QUOIT_BEST_BUDGET;
    }
  clear (&values);
  return result;
}

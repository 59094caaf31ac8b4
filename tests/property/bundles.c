/* SPDX-License-Identifier: Apache-2.0 */
/* Compares policy `best` for bundles with an exhaustive search. The cases are every fleet of up to five nodes and
 * every group of up to five bundles, with one or two resources and small amounts, and then random cases with all
 * features: labels, slices, partial chips, values of a topology label, excluded nodes. The search here uses no
 * symmetries, bounds or matchings. */
#include "../sanitized.h"
#include "../support.h"
#include "../unit/suite.h"

#include <stdio.h>
#include <string.h>

#include "models/ray/scheduler/rows.h"
#include "placement/best/best.h"

enum { STRIDE = IS_SANITIZED ? 23 : 1 };

enum { MAX_SIZE = 8, SMALL_SIZE = 5, RESOURCES = 2, FILTERS = 3, UNIT = 10000, BUDGET = 10000000 };

#define NONE QUOIT_NO_INDEX

typedef struct {
  guint32 n_nodes, n_bundles, n_resources;
  gint64 requested[MAX_SIZE * RESOURCES], has[MAX_SIZE * RESOURCES];
  gboolean has_filters, has_chips, has_slices;
  guint32 filter[MAX_SIZE];
  guint64 passes[FILTERS];
  guint32 slice[MAX_SIZE], domain[MAX_SIZE];
  QuoitNodeChips chips[MAX_SIZE];
  QuoitPlacementRules rules;
  guint64 excluded;
} Problem;

/* --- exhaustive search --- */

typedef struct {
  const Problem *problem;
  guint32 node_of[MAX_SIZE];
  guint32 best;       /* NONE: no placement */
  guint32 best_nodes; /* for PACK: without regard to slices */
} Search;

typedef struct {
  guint32 n;
  gint32 e4[8];
} Chips;

/* Tries every choice of the bundle's whole chips, one after another, and then of its partial chip. */
static gboolean rest_fits_chips (const Problem *problem, const guint32 *node_of, guint32 node, guint32 bundle,
                                 Chips chips);

static gboolean
bundle_fits_chips (const Problem *problem, const guint32 *node_of, guint32 node, guint32 bundle, Chips chips,
                   gint64 whole, gint64 part_e4, guint32 from)
{
  if (whole == 0 && part_e4 == 0)
    return rest_fits_chips (problem, node_of, node, bundle + 1, chips);
  for (guint32 c = whole > 0 ? from : 0; c < chips.n; c++)
    {
      gint64 take = whole > 0 ? UNIT : part_e4;
      Chips rest = chips;

      if (chips.e4[c] < take)
        continue;
      rest.e4[c] -= (gint32) take;
      if (bundle_fits_chips (problem, node_of, node, bundle, rest, whole > 0 ? whole - 1 : 0, whole > 0 ? part_e4 : 0,
                             c + 1))
        return TRUE;
    }
  return FALSE;
}

static gboolean
rest_fits_chips (const Problem *problem, const guint32 *node_of, guint32 node, guint32 bundle, Chips chips)
{
  const QuoitNodeChips *node_chips = &problem->chips[node];
  gint64 e4;

  while (bundle < problem->n_bundles && node_of[bundle] != node)
    bundle++;
  if (bundle == problem->n_bundles)
    return TRUE;
  e4 = problem->requested[bundle * problem->n_resources + node_chips->resource] * UNIT / node_chips->per_chip;
  return bundle_fits_chips (problem, node_of, node, bundle, chips, e4 / UNIT, e4 % UNIT, 0);
}

static gboolean
node_fits_bundles (const Problem *problem, const guint32 *node_of, guint32 node)
{
  Chips chips = { 0 };

  for (guint32 r = 0; r < problem->n_resources; r++)
    {
      gint64 sum = 0;

      for (guint32 b = 0; b < problem->n_bundles; b++)
        sum += node_of[b] == node ? problem->requested[b * problem->n_resources + r] : 0;
      if (sum > problem->has[node * problem->n_resources + r])
        return FALSE;
    }
  if (!problem->has_chips || problem->chips[node].resource == NONE)
    return TRUE;
  chips.n = problem->chips[node].n;
  memcpy (chips.e4, problem->chips[node].chip_e4, chips.n * sizeof *chips.e4);
  return rest_fits_chips (problem, node_of, node, 0, chips);
}

/* The bundles of a request are divided evenly among the values of the topology label. */
static guint32
share_index (const Problem *problem, guint32 bundle)
{
  return problem->rules.n_values == 0 ? 0 : bundle / (problem->n_bundles / problem->rules.n_values);
}

/* Whether the rules allow two bundles on these two nodes. */
static gboolean
rules_allow_pair (const Problem *problem, guint32 a, guint32 node_a, guint32 b, guint32 node_b)
{
  gboolean same_share = share_index (problem, a) == share_index (problem, b);

  if (problem->rules.n_values > 0 && (problem->domain[node_a] == problem->domain[node_b]) != same_share)
    return FALSE;
  if (problem->rules.strategy == QUOIT_STRATEGY_STRICT_PACK)
    return !same_share || node_a == node_b;
  return problem->rules.strategy != QUOIT_STRATEGY_STRICT_SPREAD || node_a != node_b;
}

static gboolean
rules_allow_node (const Problem *problem, guint32 bundle, guint32 node)
{
  if (problem->has_filters && (problem->passes[problem->filter[bundle]] >> node & 1) == 0)
    return FALSE;
  if (problem->rules.n_values > 0
      && (problem->domain[node] == NONE
          || (problem->rules.required_domain != NONE && problem->rules.required_domain != problem->domain[node])))
    return FALSE;
  return problem->rules.strategy != QUOIT_STRATEGY_STRICT_SPREAD || (problem->excluded >> node & 1) == 0;
}

static guint32
count_nodes (const Problem *problem, const guint32 *node_of)
{
  guint32 seen = 0;

  for (guint32 b = 0; b < problem->n_bundles; b++)
    seen |= 1u << node_of[b];
  return (guint32) __builtin_popcount (seen);
}

/* The objective that the strategy minimises. */
static guint32
cost (const Problem *problem, const guint32 *node_of)
{
  guint32 slices = 0, loads[MAX_SIZE] = { 0 }, largest = 0;

  for (guint32 b = 0; b < problem->n_bundles; b++)
    {
      if (problem->has_slices && problem->slice[node_of[b]] != NONE)
        slices |= 1u << problem->slice[node_of[b]];
      loads[node_of[b]]++;
      largest = MAX (largest, loads[node_of[b]]);
    }
  if (problem->rules.strategy == QUOIT_STRATEGY_PACK)
    return count_nodes (problem, node_of) * 100 + (guint32) __builtin_popcount (slices);
  if (problem->rules.strategy == QUOIT_STRATEGY_STRICT_PACK)
    for (guint32 b = 0; b < problem->n_bundles; b++)
      if (node_of[b] == problem->rules.soft_target)
        return 0;
  return problem->rules.strategy == QUOIT_STRATEGY_SPREAD ? largest : 1;
}

static gboolean
is_placement (const Problem *problem, const guint32 *node_of)
{
  for (guint32 b = 0; b < problem->n_bundles; b++)
    {
      if (node_of[b] >= problem->n_nodes || !rules_allow_node (problem, b, node_of[b]))
        return FALSE;
      for (guint32 a = 0; a < b; a++)
        if (!rules_allow_pair (problem, a, node_of[a], b, node_of[b]))
          return FALSE;
    }
  for (guint32 n = 0; n < problem->n_nodes; n++)
    if (!node_fits_bundles (problem, node_of, n))
      return FALSE;
  return TRUE;
}

static void
try_all (Search *search, guint32 bundle)
{
  const Problem *problem = search->problem;

  if (bundle == problem->n_bundles)
    {
      guint32 found = cost (problem, search->node_of);

      search->best = MIN (search->best, found);
      return;
    }
  for (guint32 n = 0; n < problem->n_nodes; n++)
    {
      gboolean may = rules_allow_node (problem, bundle, n);

      for (guint32 a = 0; a < bundle && may; a++)
        may = rules_allow_pair (problem, a, search->node_of[a], bundle, n);
      search->node_of[bundle] = n;
      if (may && node_fits_bundles (problem, search->node_of, n))
        try_all (search, bundle + 1);
      search->node_of[bundle] = NONE;
    }
}

/* --- the library's answers --- */

static char *
show (const Problem *problem)
{
  GString *text = g_string_new (NULL);
  static const char *const strategies[] = { "PACK", "SPREAD", "STRICT_PACK", "STRICT_SPREAD" };

  g_string_append_printf (text, "%s, values %u, bound %d, soft %d, excluded %x\n", strategies[problem->rules.strategy],
                          problem->rules.n_values, (int) problem->rules.required_domain,
                          (int) problem->rules.soft_target, (guint) problem->excluded);
  for (guint32 b = 0; b < problem->n_bundles; b++)
    {
      g_string_append_printf (text, "  bundle");
      for (guint32 r = 0; r < problem->n_resources; r++)
        g_string_append_printf (text, " %d", (int) problem->requested[b * problem->n_resources + r]);
      g_string_append_printf (text, " filter %u\n", problem->has_filters ? problem->filter[b] : 0);
    }
  for (guint32 n = 0; n < problem->n_nodes; n++)
    {
      g_string_append_printf (text, "  node");
      for (guint32 r = 0; r < problem->n_resources; r++)
        g_string_append_printf (text, " %d", (int) problem->has[n * problem->n_resources + r]);
      for (guint32 f = 0; problem->has_filters && f < FILTERS; f++)
        g_string_append_printf (text, " %s", (problem->passes[f] >> n & 1) != 0 ? "yes" : "no");
      if (problem->has_slices)
        g_string_append_printf (text, " slice %d", (int) problem->slice[n]);
      if (problem->rules.n_values > 0)
        g_string_append_printf (text, " value %d", (int) problem->domain[n]);
      if (problem->has_chips && problem->chips[n].resource != NONE)
        {
          g_string_append_printf (text, " chips of %u, %d each:", problem->chips[n].resource,
                                  (int) problem->chips[n].per_chip);
          for (guint32 c = 0; c < problem->chips[n].n; c++)
            g_string_append_printf (text, " %d", problem->chips[n].chip_e4[c]);
        }
      g_string_append_c (text, '\n');
    }
  return g_string_free (text, FALSE);
}

/* If slices have nodes with several values and the group uses several values, the minimal number of slices is not
 * guaranteed. */
static gboolean
divides_slices (const Problem *problem)
{
  for (guint32 a = 0; a < problem->n_nodes && problem->has_slices && problem->rules.n_values > 1; a++)
    for (guint32 b = 0; b < a; b++)
      if (problem->slice[a] == problem->slice[b] && problem->slice[a] != NONE
          && problem->domain[a] != problem->domain[b] && problem->domain[a] != NONE && problem->domain[b] != NONE)
        return TRUE;
  return FALSE;
}

typedef struct {
  guint32 n, n_found;
} Count;

static void
check_problem (const Problem *problem, Count *count)
{
  static const char *const resources[] = { "TPU", "CPU" };
  QuoitBundles bundles = { .n_bundles = problem->n_bundles,
                           .n_resources = problem->n_resources,
                           .n_filters = problem->has_filters ? FILTERS : 0,
                           .resources = resources,
                           .amounts = problem->requested,
                           .filter = problem->has_filters ? problem->filter : NULL };
  QuoitView view = { .n_nodes = problem->n_nodes,
                     .n_candidates = problem->n_nodes,
                     .total = problem->has,
                     .available = problem->has,
                     .passes = problem->passes,
                     .domain = problem->rules.n_values > 0 ? problem->domain : NULL,
                     .n_domains = MAX_SIZE,
                     .slice = problem->has_slices ? problem->slice : NULL,
                     .chips = problem->has_chips ? problem->chips : NULL };
  QuoitPlacementRules rules = problem->rules;
  Search search = { .problem = problem, .best = NONE };
  guint32 nodes[MAX_SIZE] = { 0 }, again[MAX_SIZE] = { 0 };
  guint64 budget = BUDGET;
  gboolean proven = FALSE;
  QuoitBestResult result;

  rules.excluded = problem->excluded == 0 ? NULL : &problem->excluded;
  for (guint32 b = 0; b < MAX_SIZE; b++)
    search.node_of[b] = NONE;
  try_all (&search, 0);
  result = quoit_best_place (&bundles, &view, &rules, &budget, &proven, nodes);
  count->n++;
  count->n_found += result == QUOIT_BEST_FOUND;

#define check(condition, ...)                                                                                          \
  do                                                                                                                   \
    if (!(condition))                                                                                                  \
      {                                                                                                                \
        g_autofree char *shown_ = show (problem), *reason_ = g_strdup_printf (__VA_ARGS__);                            \
                                                                                                                       \
        ck_abort_msg ("%s does not hold: %s, on nodes %u %u %u %u %u %u %u %u of\n%s", #condition, reason_, nodes[0],  \
                      nodes[1], nodes[2], nodes[3], nodes[4], nodes[5], nodes[6], nodes[7], shown_);                   \
      }                                                                                                                \
  while (0)

  check (result == (search.best == NONE ? QUOIT_BEST_NONE : QUOIT_BEST_FOUND), "result %d, the least cost is %d",
         result, (int) search.best);
  check (
      proven
          == (result == QUOIT_BEST_NONE || !divides_slices (problem) || problem->rules.strategy != QUOIT_STRATEGY_PACK),
      "%d", proven);
  if (result != QUOIT_BEST_FOUND)
    return;
  check (is_placement (problem, nodes), "result %d", result);
  if (proven)
    check (cost (problem, nodes) == search.best, "%u instead of %u", cost (problem, nodes), search.best);
  else
    check (count_nodes (problem, nodes) == search.best / 100, "%u instead of %u", cost (problem, nodes), search.best);

  budget = BUDGET;
  quoit_best_place (&bundles, &view, &rules, &budget, &proven, again);
  check (memcmp (nodes, again, sizeof nodes) == 0, "another answer");
}

/* --- every fleet and every group --- */

/* Advances to the next set of @n digits below @base. Digits do not decrease, so that each set comes once. */
static gboolean
next_digits (guint32 *digits, guint32 n, guint32 base)
{
  for (guint32 i = n; i > 0; i--)
    if (digits[i - 1] + 1 < base)
      {
        digits[i - 1]++;
        for (guint32 j = i; j < n; j++)
          digits[j] = digits[i - 1];
        return TRUE;
      }
  return FALSE;
}

static void
write_amounts (const guint32 *digits, guint32 n, guint32 n_resources, guint32 base, gint64 *amounts)
{
  for (guint32 i = 0; i < n; i++)
    for (guint32 r = 0, digit = digits[i]; r < n_resources; r++, digit /= base)
      amounts[i * n_resources + r] = digit % base;
}

/* Amounts are below @base. One case in @stride is checked, which has no factor in common with the 4 strategies and the
 * 3 arrangements of slices; QUOIT_TEST_SCALE=@stride checks all. */
typedef struct {
  guint32 n_resources, most_nodes, max_bundles, base, stride;
} Family;

static const Family families[] = { { 1, 5, 5, 5, 1 }, { 2, 5, 5, 2, 1 }, { 2, 3, 4, 3, 5 }, { 2, 5, 5, 3, 55 } };

static void
check_nodes (Problem *problem, const Family *family, guint32 *at, Count *count)
{
  guint32 most = family->n_resources == 1 ? family->base : family->base * family->base;
  guint32 digits[MAX_SIZE] = { 0 };

  do
    {
      write_amounts (digits, problem->n_nodes, problem->n_resources, family->base, problem->has);
      for (guint32 n = 0; n < problem->n_nodes; n++)
        problem->slice[n] = (n + *at) % 4 == 0 ? NONE : (n * (1 + *at % 3)) % 3;
      for (guint32 s = 0; s < 4; s++)
        {
          problem->rules.strategy = (QuoitStrategy) s;
          if ((*at)++ % (STRIDE * MAX (1, family->stride / scaled (1))) == 0)
            check_problem (problem, count);
        }
    }
  while (next_digits (digits, problem->n_nodes, most));
}

START_TEST (best_agrees_with_exhaustive_search)
{
  const Family *family = &families[_i];
  guint32 most = family->n_resources == 1 ? family->base : family->base * family->base, at = 0;
  Count count = { 0 };

  for (guint32 n_bundles = 1; n_bundles <= family->max_bundles; n_bundles++)
    for (guint32 n_nodes = 1; n_nodes <= family->most_nodes; n_nodes++)
      {
        guint32 digits[MAX_SIZE] = { 0 };
        Problem problem
            = { .n_nodes = n_nodes, .n_bundles = n_bundles, .n_resources = family->n_resources, .has_slices = TRUE };

        problem.rules.soft_target = problem.rules.required_domain = NONE;
        do
          {
            write_amounts (digits, n_bundles, problem.n_resources, family->base, problem.requested);
            check_nodes (&problem, family, &at, &count);
          }
        while (next_digits (digits, n_bundles, most));
      }
  printf ("%u cases, %u with a placement\n", count.n, count.n_found);
  ck_assert_uint_gt (count.n_found, count.n / 10);
  ck_assert_uint_lt (count.n_found, count.n);
}
END_TEST

/* --- drawn cases --- */

static void
draw_chips (GRand *rand, Problem *problem, guint32 node)
{
  QuoitNodeChips *chips = &problem->chips[node];
  gint64 sum = 0;

  *chips = (QuoitNodeChips) { .resource = NONE };
  if (g_rand_int_range (rand, 0, 6) == 0)
    return;
  chips->resource
      = (guint32) g_rand_int_range (rand, 0, g_rand_int_range (rand, 0, 4) == 0 ? (gint32) problem->n_resources : 1);
  chips->per_chip = g_rand_int_range (rand, 0, 4) == 0 ? 2 * UNIT : UNIT;
  chips->n = (guint32) g_rand_int_range (rand, 1, 5);
  for (guint32 c = 0; c < chips->n; c++)
    {
      chips->chip_e4[c] = g_rand_boolean (rand) ? UNIT : 2500 * g_rand_int_range (rand, 0, 5);
      sum += chips->chip_e4[c];
    }
  problem->has[node * problem->n_resources + chips->resource] = sum * (chips->per_chip / UNIT);
}

static void
draw_problem (GRand *rand, guint32 min_bundles, guint32 max_bundles, Problem *problem)
{
  static const gint64 quarters[] = { 2500, 3000, 5000, 7500, UNIT, 15000, 2 * UNIT, 12500 };
  gint64 most = g_rand_int_range (rand, 2, 6);

  memset (problem, 0, sizeof *problem);
  problem->n_nodes = (guint32) g_rand_int_range (rand, 1, max_bundles > SMALL_SIZE ? SMALL_SIZE : SMALL_SIZE + 1);
  problem->n_resources = (guint32) g_rand_int_range (rand, 1, RESOURCES + 1);
  problem->has_filters = g_rand_boolean (rand);
  problem->has_chips = g_rand_boolean (rand);
  problem->has_slices = g_rand_boolean (rand);
  problem->rules = (QuoitPlacementRules) { .strategy = (QuoitStrategy) g_rand_int_range (rand, 0, 4),
                                           .soft_target = NONE,
                                           .required_domain = NONE,
                                           .n_values = (guint32) g_rand_int_range (rand, 0, 3) };
  problem->n_bundles = (guint32) g_rand_int_range (rand, (gint32) min_bundles, (gint32) max_bundles + 1);
  if (problem->rules.n_values == 2)
    problem->n_bundles = problem->n_bundles / 2 * 2 + (problem->n_bundles == 1) * 2;
  if (problem->rules.strategy == QUOIT_STRATEGY_STRICT_PACK && g_rand_boolean (rand))
    problem->rules.soft_target = (guint32) g_rand_int_range (rand, 0, (gint32) problem->n_nodes);
  if (problem->rules.n_values == 1 && g_rand_int_range (rand, 0, 4) == 0)
    problem->rules.required_domain = (guint32) g_rand_int_range (rand, 0, 3);
  if (problem->rules.strategy == QUOIT_STRATEGY_STRICT_SPREAD && g_rand_int_range (rand, 0, 3) == 0)
    problem->excluded = g_rand_int (rand) & 31;
  for (guint32 i = 0; i < problem->n_bundles * problem->n_resources; i++)
    problem->requested[i] = problem->has_chips ? quarters[g_rand_int_range (rand, 0, G_N_ELEMENTS (quarters))]
                                               : UNIT * g_rand_int_range (rand, 0, (gint32) most);
  for (guint32 b = 1; b < problem->n_bundles; b++)
    if (g_rand_boolean (rand))
      memcpy (&problem->requested[b * problem->n_resources], &problem->requested[(b - 1) * problem->n_resources],
              problem->n_resources * sizeof (gint64));
  for (guint32 b = 0; b < problem->n_bundles; b++)
    problem->filter[b] = (guint32) g_rand_int_range (rand, 0, FILTERS);
  for (guint32 f = 0; f < FILTERS; f++)
    problem->passes[f] = g_rand_int (rand) | (g_rand_boolean (rand) ? g_rand_int (rand) : 0);
  for (guint32 n = 0; n < problem->n_nodes; n++)
    {
      for (guint32 r = 0; r < problem->n_resources; r++)
        problem->has[n * problem->n_resources + r] = UNIT * g_rand_int_range (rand, 0, (gint32) most + 3);
      problem->slice[n] = g_rand_int_range (rand, 0, 4) == 0 ? NONE : (guint32) g_rand_int_range (rand, 0, 3);
      problem->domain[n] = g_rand_int_range (rand, 0, 8) == 0 ? NONE : (guint32) g_rand_int_range (rand, 0, 3);
      if (problem->has_chips)
        draw_chips (rand, problem, n);
      if (n > 0 && g_rand_int_range (rand, 0, 3) == 0)
        {
          memcpy (&problem->has[n * problem->n_resources], &problem->has[(n - 1) * problem->n_resources],
                  problem->n_resources * sizeof (gint64));
          problem->chips[n] = problem->chips[n - 1];
        }
    }
}

enum { SEEDS = 8, DRAWN = 8000, MORE_DRAWN = 2000 };

START_TEST (best_agrees_with_exhaustive_search_on_random_fleets)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) _i + 1);
  Count count = { 0 };

  for (guint32 i = 0; i < scaled (DRAWN) / STRIDE; i++)
    {
      Problem problem;

      draw_problem (rand, 1, SMALL_SIZE, &problem);
      check_problem (&problem, &count);
    }
  printf ("%u drawn cases, %u with a placement\n", count.n, count.n_found);
  ck_assert_uint_gt (count.n_found, count.n / 10);
  ck_assert_uint_lt (count.n_found, count.n * 9 / 10);
}
END_TEST

/* More bundles than the bounds and the first attempts can handle. */
START_TEST (best_agrees_with_exhaustive_search_for_more_bundles)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) _i + 1);
  Count count = { 0 };

  for (guint32 i = 0; i < scaled (MORE_DRAWN) / STRIDE; i++)
    {
      Problem problem;

      draw_problem (rand, SMALL_SIZE + 1, MAX_SIZE, &problem);
      check_problem (&problem, &count);
    }
  printf ("%u drawn cases of more bundles, %u with a placement\n", count.n, count.n_found);
  ck_assert_uint_gt (count.n_found, count.n / 20);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("bundles");
  TCase *tcase = tcase_create ("bundles");

  tcase_set_timeout (tcase, 600);
  tcase_add_loop_test (tcase, best_agrees_with_exhaustive_search, 0, G_N_ELEMENTS (families));
  tcase_add_loop_test (tcase, best_agrees_with_exhaustive_search_on_random_fleets, 0, SEEDS);
  tcase_add_loop_test (tcase, best_agrees_with_exhaustive_search_for_more_bundles, 0, SEEDS);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Compares policy `best` for bundles with an exhaustive search. The cases are every fleet of up to five nodes and
 * every group of up to five bundles, with one or two resources and small amounts, and then drawn ones with all
 * features: labels, slices, partial chips, values of a topology label, excluded nodes. The search here uses no
 * symmetries, bounds or matchings. */
#include "../unit/suite.h"

#include <stdio.h>
#include <string.h>

#include "placement/bundles.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { STRIDE = 23 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { STRIDE = 23 };
#else
enum { STRIDE = 1 };
#endif
#else
enum { STRIDE = 1 };
#endif

enum { MOST = 8, FEW = 5, RESOURCES = 2, FILTERS = 3, UNIT = 10000, BUDGET = 10000000 };

#define NONE QUOIT_NO_INDEX

typedef struct {
  guint32 n_nodes, n_bundles, n_resources;
  gint64 asks[MOST * RESOURCES], has[MOST * RESOURCES];
  gboolean has_filters, has_units, has_slices;
  guint32 filter[MOST];
  guint64 passes[FILTERS];
  guint32 slice[MOST], domain[MOST];
  QuoitUnits units[MOST];
  QuoitStanding standing;
  guint64 excluded;
} Case;

/* --- exhaustive search --- */

typedef struct {
  const Case *it;
  guint32 node_of[MOST];
  guint32 best;       /* NONE: no placement */
  guint32 best_nodes; /* for PACK: without regard to slices */
} Trying;

typedef struct {
  guint32 n;
  gint32 e4[8];
} Chips;

/* Tries every choice of the bundle's whole chips, one after another, and then of its partial chip. */
static gboolean chips_hold (const Case *it, const guint32 *node_of, guint32 node, guint32 bundle, Chips chips);

static gboolean
chips_hold_this (const Case *it, const guint32 *node_of, guint32 node, guint32 bundle, Chips chips, gint64 whole,
                 gint64 part_e4, guint32 from)
{
  if (whole == 0 && part_e4 == 0)
    return chips_hold (it, node_of, node, bundle + 1, chips);
  for (guint32 c = whole > 0 ? from : 0; c < chips.n; c++)
    {
      gint64 take = whole > 0 ? UNIT : part_e4;
      Chips rest = chips;

      if (chips.e4[c] < take)
        continue;
      rest.e4[c] -= (gint32) take;
      if (chips_hold_this (it, node_of, node, bundle, rest, whole > 0 ? whole - 1 : 0, whole > 0 ? part_e4 : 0, c + 1))
        return TRUE;
    }
  return FALSE;
}

static gboolean
chips_hold (const Case *it, const guint32 *node_of, guint32 node, guint32 bundle, Chips chips)
{
  const QuoitUnits *units = &it->units[node];
  gint64 e4;

  while (bundle < it->n_bundles && node_of[bundle] != node)
    bundle++;
  if (bundle == it->n_bundles)
    return TRUE;
  e4 = it->asks[bundle * it->n_resources + units->resource] * UNIT / units->per_chip;
  return chips_hold_this (it, node_of, node, bundle, chips, e4 / UNIT, e4 % UNIT, 0);
}

static gboolean
node_holds (const Case *it, const guint32 *node_of, guint32 node)
{
  Chips chips = { 0 };

  for (guint32 r = 0; r < it->n_resources; r++)
    {
      gint64 sum = 0;

      for (guint32 b = 0; b < it->n_bundles; b++)
        sum += node_of[b] == node ? it->asks[b * it->n_resources + r] : 0;
      if (sum > it->has[node * it->n_resources + r])
        return FALSE;
    }
  if (!it->has_units || it->units[node].resource == NONE)
    return TRUE;
  chips.n = it->units[node].n;
  memcpy (chips.e4, it->units[node].chip_e4, chips.n * sizeof *chips.e4);
  return chips_hold (it, node_of, node, 0, chips);
}

static guint32
share_of (const Case *it, guint32 bundle)
{
  return it->standing.n_values == 0 ? 0 : bundle / (it->n_bundles / it->standing.n_values);
}

/* Whether the rules allow two bundles on these two nodes. */
static gboolean
may_stand (const Case *it, guint32 a, guint32 node_a, guint32 b, guint32 node_b)
{
  gboolean same_share = share_of (it, a) == share_of (it, b);

  if (it->standing.n_values > 0 && (it->domain[node_a] == it->domain[node_b]) != same_share)
    return FALSE;
  if (it->standing.strategy == QUOIT_STRATEGY_STRICT_PACK)
    return !same_share || node_a == node_b;
  return it->standing.strategy != QUOIT_STRATEGY_STRICT_SPREAD || node_a != node_b;
}

static gboolean
may_use (const Case *it, guint32 bundle, guint32 node)
{
  if (it->has_filters && (it->passes[it->filter[bundle]] >> node & 1) == 0)
    return FALSE;
  if (it->standing.n_values > 0
      && (it->domain[node] == NONE || (it->standing.bound != NONE && it->standing.bound != it->domain[node])))
    return FALSE;
  return it->standing.strategy != QUOIT_STRATEGY_STRICT_SPREAD || (it->excluded >> node & 1) == 0;
}

static guint32
count_nodes (const Case *it, const guint32 *node_of)
{
  guint32 seen = 0;

  for (guint32 b = 0; b < it->n_bundles; b++)
    seen |= 1u << node_of[b];
  return (guint32) __builtin_popcount (seen);
}

/* The objective that the strategy minimises. */
static guint32
cost (const Case *it, const guint32 *node_of)
{
  guint32 slices = 0, loads[MOST] = { 0 }, largest = 0;

  for (guint32 b = 0; b < it->n_bundles; b++)
    {
      if (it->has_slices && it->slice[node_of[b]] != NONE)
        slices |= 1u << it->slice[node_of[b]];
      loads[node_of[b]]++;
      largest = MAX (largest, loads[node_of[b]]);
    }
  if (it->standing.strategy == QUOIT_STRATEGY_PACK)
    return count_nodes (it, node_of) * 100 + (guint32) __builtin_popcount (slices);
  if (it->standing.strategy == QUOIT_STRATEGY_STRICT_PACK)
    for (guint32 b = 0; b < it->n_bundles; b++)
      if (node_of[b] == it->standing.soft_target)
        return 0;
  return it->standing.strategy == QUOIT_STRATEGY_SPREAD ? largest : 1;
}

static gboolean
is_placement (const Case *it, const guint32 *node_of)
{
  for (guint32 b = 0; b < it->n_bundles; b++)
    {
      if (node_of[b] >= it->n_nodes || !may_use (it, b, node_of[b]))
        return FALSE;
      for (guint32 a = 0; a < b; a++)
        if (!may_stand (it, a, node_of[a], b, node_of[b]))
          return FALSE;
    }
  for (guint32 n = 0; n < it->n_nodes; n++)
    if (!node_holds (it, node_of, n))
      return FALSE;
  return TRUE;
}

static void
try_all (Trying *trying, guint32 bundle)
{
  const Case *it = trying->it;

  if (bundle == it->n_bundles)
    {
      guint32 found = cost (it, trying->node_of);

      trying->best = MIN (trying->best, found);
      return;
    }
  for (guint32 n = 0; n < it->n_nodes; n++)
    {
      gboolean may = may_use (it, bundle, n);

      for (guint32 a = 0; a < bundle && may; a++)
        may = may_stand (it, a, trying->node_of[a], bundle, n);
      trying->node_of[bundle] = n;
      if (may && node_holds (it, trying->node_of, n))
        try_all (trying, bundle + 1);
      trying->node_of[bundle] = NONE;
    }
}

/* --- the library's answers --- */

static char *
show (const Case *it)
{
  GString *text = g_string_new (NULL);
  static const char *const strategies[] = { "PACK", "SPREAD", "STRICT_PACK", "STRICT_SPREAD" };

  g_string_append_printf (text, "%s, values %u, bound %d, soft %d, excluded %x\n", strategies[it->standing.strategy],
                          it->standing.n_values, (int) it->standing.bound, (int) it->standing.soft_target,
                          (guint) it->excluded);
  for (guint32 b = 0; b < it->n_bundles; b++)
    {
      g_string_append_printf (text, "  bundle");
      for (guint32 r = 0; r < it->n_resources; r++)
        g_string_append_printf (text, " %d", (int) it->asks[b * it->n_resources + r]);
      g_string_append_printf (text, " filter %u\n", it->has_filters ? it->filter[b] : 0);
    }
  for (guint32 n = 0; n < it->n_nodes; n++)
    {
      g_string_append_printf (text, "  node");
      for (guint32 r = 0; r < it->n_resources; r++)
        g_string_append_printf (text, " %d", (int) it->has[n * it->n_resources + r]);
      for (guint32 f = 0; it->has_filters && f < FILTERS; f++)
        g_string_append_printf (text, " %s", (it->passes[f] >> n & 1) != 0 ? "yes" : "no");
      if (it->has_slices)
        g_string_append_printf (text, " slice %d", (int) it->slice[n]);
      if (it->standing.n_values > 0)
        g_string_append_printf (text, " value %d", (int) it->domain[n]);
      if (it->has_units && it->units[n].resource != NONE)
        {
          g_string_append_printf (text, " chips of %u, %d each:", it->units[n].resource, (int) it->units[n].per_chip);
          for (guint32 c = 0; c < it->units[n].n; c++)
            g_string_append_printf (text, " %d", it->units[n].chip_e4[c]);
        }
      g_string_append_c (text, '\n');
    }
  return g_string_free (text, FALSE);
}

/* If slices have nodes with several values and the group uses several values, the minimal number of slices is not
 * guaranteed. */
static gboolean
divides_slices (const Case *it)
{
  for (guint32 a = 0; a < it->n_nodes && it->has_slices && it->standing.n_values > 1; a++)
    for (guint32 b = 0; b < a; b++)
      if (it->slice[a] == it->slice[b] && it->slice[a] != NONE && it->domain[a] != it->domain[b]
          && it->domain[a] != NONE && it->domain[b] != NONE)
        return TRUE;
  return FALSE;
}

typedef struct {
  guint32 n, n_found;
} Count;

static void
check_case (const Case *it, Count *count)
{
  static const char *const resources[] = { "TPU", "CPU" };
  QuoitBundles bundles = { .n_bundles = it->n_bundles,
                           .n_resources = it->n_resources,
                           .n_filters = it->has_filters ? FILTERS : 0,
                           .resources = resources,
                           .amounts = it->asks,
                           .filter = it->has_filters ? it->filter : NULL };
  QuoitView view = { .n_nodes = it->n_nodes,
                     .n_candidates = it->n_nodes,
                     .total = it->has,
                     .available = it->has,
                     .passes = it->passes,
                     .domain = it->standing.n_values > 0 ? it->domain : NULL,
                     .n_domains = MOST,
                     .slice = it->has_slices ? it->slice : NULL,
                     .units = it->has_units ? it->units : NULL };
  QuoitStanding standing = it->standing;
  Trying trying = { .it = it, .best = NONE };
  guint32 nodes[MOST] = { 0 }, again[MOST] = { 0 };
  guint64 budget = BUDGET;
  gboolean proven = FALSE;
  QuoitBestResult result;

  standing.excluded = it->excluded == 0 ? NULL : &it->excluded;
  for (guint32 b = 0; b < MOST; b++)
    trying.node_of[b] = NONE;
  try_all (&trying, 0);
  result = quoit_best_place (&bundles, &view, &standing, &budget, &proven, nodes);
  count->n++;
  count->n_found += result == QUOIT_BEST_FOUND;

#define hold(condition, ...)                                                                                           \
  do                                                                                                                   \
    if (!(condition))                                                                                                  \
      {                                                                                                                \
        g_autofree char *shown_ = show (it), *said_ = g_strdup_printf (__VA_ARGS__);                                   \
                                                                                                                       \
        ck_abort_msg ("%s does not hold: %s, on nodes %u %u %u %u %u %u %u %u of\n%s", #condition, said_, nodes[0],    \
                      nodes[1], nodes[2], nodes[3], nodes[4], nodes[5], nodes[6], nodes[7], shown_);                   \
      }                                                                                                                \
  while (0)

  hold (result == (trying.best == NONE ? QUOIT_BEST_NONE : QUOIT_BEST_FOUND), "result %d, the least cost is %d", result,
        (int) trying.best);
  hold (proven == (result == QUOIT_BEST_NONE || !divides_slices (it) || it->standing.strategy != QUOIT_STRATEGY_PACK),
        "%d", proven);
  if (result != QUOIT_BEST_FOUND)
    return;
  hold (is_placement (it, nodes), "result %d", result);
  if (proven)
    hold (cost (it, nodes) == trying.best, "%u instead of %u", cost (it, nodes), trying.best);
  else
    hold (count_nodes (it, nodes) == trying.best / 100, "%u instead of %u", cost (it, nodes), trying.best);

  budget = BUDGET;
  quoit_best_place (&bundles, &view, &standing, &budget, &proven, again);
  hold (memcmp (nodes, again, sizeof nodes) == 0, "another answer");
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

/* Amounts are below @base. One case of @stride is checked; QUOIT_TEST_SCALE=@stride checks all. */
typedef struct {
  guint32 n_resources, most_nodes, most_bundles, base, stride;
} Family;

static const Family families[] = { { 1, 5, 5, 5, 1 }, { 2, 5, 5, 2, 1 }, { 2, 3, 4, 3, 1 }, { 2, 5, 5, 3, 11 } };

static guint32
scale (void)
{
  const char *text = g_getenv ("QUOIT_TEST_SCALE");

  return text == NULL ? 1 : (guint32) MAX (1, g_ascii_strtoull (text, NULL, 10));
}

static void
check_nodes (Case *it, const Family *family, guint32 *at, Count *count)
{
  guint32 most = family->n_resources == 1 ? family->base : family->base * family->base;
  guint32 digits[MOST] = { 0 };

  do
    {
      write_amounts (digits, it->n_nodes, it->n_resources, family->base, it->has);
      for (guint32 n = 0; n < it->n_nodes; n++)
        it->slice[n] = (n + *at) % 4 == 0 ? NONE : (n * (1 + *at % 3)) % 3;
      for (guint32 s = 0; s < 4; s++)
        {
          it->standing.strategy = (QuoitStrategy) s;
          if ((*at)++ % (STRIDE * MAX (1, family->stride / scale ())) == 0)
            check_case (it, count);
        }
    }
  while (next_digits (digits, it->n_nodes, most));
}

START_TEST (best_is_what_trying_everything_finds)
{
  const Family *family = &families[_i];
  guint32 most = family->n_resources == 1 ? family->base : family->base * family->base, at = 0;
  Count count = { 0 };

  for (guint32 n_bundles = 1; n_bundles <= family->most_bundles; n_bundles++)
    for (guint32 n_nodes = 1; n_nodes <= family->most_nodes; n_nodes++)
      {
        guint32 digits[MOST] = { 0 };
        Case it
            = { .n_nodes = n_nodes, .n_bundles = n_bundles, .n_resources = family->n_resources, .has_slices = TRUE };

        it.standing.soft_target = it.standing.bound = NONE;
        do
          {
            write_amounts (digits, n_bundles, it.n_resources, family->base, it.asks);
            check_nodes (&it, family, &at, &count);
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
draw_units (GRand *rand, Case *it, guint32 node)
{
  QuoitUnits *units = &it->units[node];
  gint64 sum = 0;

  *units = (QuoitUnits) { .resource = NONE };
  if (g_rand_int_range (rand, 0, 6) == 0)
    return;
  units->resource
      = (guint32) g_rand_int_range (rand, 0, g_rand_int_range (rand, 0, 4) == 0 ? (gint32) it->n_resources : 1);
  units->per_chip = g_rand_int_range (rand, 0, 4) == 0 ? 2 * UNIT : UNIT;
  units->n = (guint32) g_rand_int_range (rand, 1, 5);
  for (guint32 c = 0; c < units->n; c++)
    {
      units->chip_e4[c] = g_rand_boolean (rand) ? UNIT : 2500 * g_rand_int_range (rand, 0, 5);
      sum += units->chip_e4[c];
    }
  it->has[node * it->n_resources + units->resource] = sum * (units->per_chip / UNIT);
}

static void
draw_case (GRand *rand, guint32 least_bundles, guint32 most_bundles, Case *it)
{
  static const gint64 quarters[] = { 2500, 3000, 5000, 7500, UNIT, 15000, 2 * UNIT, 12500 };
  gint64 most = g_rand_int_range (rand, 2, 6);

  memset (it, 0, sizeof *it);
  it->n_nodes = (guint32) g_rand_int_range (rand, 1, most_bundles > FEW ? FEW : FEW + 1);
  it->n_resources = (guint32) g_rand_int_range (rand, 1, RESOURCES + 1);
  it->has_filters = g_rand_boolean (rand);
  it->has_units = g_rand_boolean (rand);
  it->has_slices = g_rand_boolean (rand);
  it->standing = (QuoitStanding) { .strategy = (QuoitStrategy) g_rand_int_range (rand, 0, 4),
                                   .soft_target = NONE,
                                   .bound = NONE,
                                   .n_values = (guint32) g_rand_int_range (rand, 0, 3) };
  it->n_bundles = (guint32) g_rand_int_range (rand, (gint32) least_bundles, (gint32) most_bundles + 1);
  if (it->standing.n_values == 2)
    it->n_bundles = it->n_bundles / 2 * 2 + (it->n_bundles == 1) * 2;
  if (it->standing.strategy == QUOIT_STRATEGY_STRICT_PACK && g_rand_boolean (rand))
    it->standing.soft_target = (guint32) g_rand_int_range (rand, 0, (gint32) it->n_nodes);
  if (it->standing.n_values == 1 && g_rand_int_range (rand, 0, 4) == 0)
    it->standing.bound = (guint32) g_rand_int_range (rand, 0, 3);
  if (it->standing.strategy == QUOIT_STRATEGY_STRICT_SPREAD && g_rand_int_range (rand, 0, 3) == 0)
    it->excluded = g_rand_int (rand) & 31;
  for (guint32 i = 0; i < it->n_bundles * it->n_resources; i++)
    it->asks[i] = it->has_units ? quarters[g_rand_int_range (rand, 0, G_N_ELEMENTS (quarters))]
                                : UNIT * g_rand_int_range (rand, 0, (gint32) most);
  for (guint32 b = 1; b < it->n_bundles; b++)
    if (g_rand_boolean (rand))
      memcpy (&it->asks[b * it->n_resources], &it->asks[(b - 1) * it->n_resources], it->n_resources * sizeof (gint64));
  for (guint32 b = 0; b < it->n_bundles; b++)
    it->filter[b] = (guint32) g_rand_int_range (rand, 0, FILTERS);
  for (guint32 f = 0; f < FILTERS; f++)
    it->passes[f] = g_rand_int (rand) | (g_rand_boolean (rand) ? g_rand_int (rand) : 0);
  for (guint32 n = 0; n < it->n_nodes; n++)
    {
      for (guint32 r = 0; r < it->n_resources; r++)
        it->has[n * it->n_resources + r] = UNIT * g_rand_int_range (rand, 0, (gint32) most + 3);
      it->slice[n] = g_rand_int_range (rand, 0, 4) == 0 ? NONE : (guint32) g_rand_int_range (rand, 0, 3);
      it->domain[n] = g_rand_int_range (rand, 0, 8) == 0 ? NONE : (guint32) g_rand_int_range (rand, 0, 3);
      if (it->has_units)
        draw_units (rand, it, n);
      if (n > 0 && g_rand_int_range (rand, 0, 3) == 0)
        {
          memcpy (&it->has[n * it->n_resources], &it->has[(n - 1) * it->n_resources],
                  it->n_resources * sizeof (gint64));
          it->units[n] = it->units[n - 1];
        }
    }
}

enum { SEEDS = 8, DRAWN = 40000, MORE_DRAWN = 10000 };

START_TEST (best_is_what_trying_everything_finds_on_drawn_fleets)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) _i + 1);
  Count count = { 0 };

  for (guint32 i = 0; i < DRAWN / STRIDE; i++)
    {
      Case it;

      draw_case (rand, 1, FEW, &it);
      check_case (&it, &count);
    }
  printf ("%u drawn cases, %u with a placement\n", count.n, count.n_found);
  ck_assert_uint_gt (count.n_found, count.n / 10);
  ck_assert_uint_lt (count.n_found, count.n * 9 / 10);
}
END_TEST

/* More bundles than the bounds and the first attempts can handle. */
START_TEST (best_is_what_trying_everything_finds_with_more_bundles)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) _i + 1);
  Count count = { 0 };

  for (guint32 i = 0; i < MORE_DRAWN / STRIDE; i++)
    {
      Case it;

      draw_case (rand, FEW + 1, MOST, &it);
      check_case (&it, &count);
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
  tcase_add_loop_test (tcase, best_is_what_trying_everything_finds, 0, G_N_ELEMENTS (families));
  tcase_add_loop_test (tcase, best_is_what_trying_everything_finds_on_drawn_fleets, 0, SEEDS);
  tcase_add_loop_test (tcase, best_is_what_trying_everything_finds_with_more_bundles, 0, SEEDS);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}

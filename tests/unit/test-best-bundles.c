/* SPDX-License-Identifier: Apache-2.0 */
/* Policy `best` for bundles in cases too large for an exhaustive search: large fleets, thousands of equal nodes,
 * exhausted budgets, and the choice among equals. tests/property/bundles.c has the other cases. */
#include "suite.h"

#include <string.h>

#include "placement/best/best.h"

enum { UNIT = 10000, BUDGET = 1000000 };

#define NONE QUOIT_NO_INDEX

typedef struct {
  QuoitBundles bundles;
  QuoitView view;
  QuoitPlacementRules rules;
  gint64 *requested, *available;
  guint32 *slice, *domain, *filter, *nodes;
  guint64 *passes;
  guint64 budget;
  gboolean proven;
} Fixture;

/* One resource, with 4 on every node and in every bundle; slices of four nodes, which are also values of the label. */
static Fixture *
fixture_new (guint32 n_nodes, guint32 n_bundles, QuoitStrategy strategy)
{
  Fixture *f = g_new0 (Fixture, 1);
  static const char *const resources[] = { "TPU" };

  f->requested = g_new (gint64, n_bundles + 1);
  f->available = g_new (gint64, n_nodes + 1);
  f->slice = g_new (guint32, n_nodes + 1);
  f->nodes = g_new0 (guint32, n_bundles + 1);
  f->filter = g_new0 (guint32, n_bundles + 1);
  f->passes = g_new0 (guint64, 2 * (gsize) ((n_nodes + 63) / 64) + 1);
  for (guint32 b = 0; b < n_bundles; b++)
    f->requested[b] = 4 * UNIT;
  for (guint32 n = 0; n < n_nodes; n++)
    {
      f->available[n] = 4 * UNIT;
      f->slice[n] = n / 4;
    }
  f->bundles = (QuoitBundles) {
    .n_bundles = n_bundles, .n_resources = 1, .n_filters = 2, .resources = resources, .amounts = f->requested
  };
  f->view = (QuoitView) { .n_nodes = n_nodes,
                          .n_candidates = n_nodes,
                          .total = f->available,
                          .available = f->available,
                          .passes = f->passes,
                          .slice = f->slice };
  f->rules = (QuoitPlacementRules) { .strategy = strategy, .soft_target = NONE, .required_domain = NONE };
  f->budget = BUDGET;
  return f;
}

static void
fixture_free (Fixture *f)
{
  g_free (f->requested);
  g_free (f->available);
  g_free (f->slice);
  g_free (f->nodes);
  g_free (f->filter);
  g_free (f->passes);
  g_free (f);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Fixture, fixture_free)

static QuoitBestResult
place (Fixture *f)
{
  return quoit_best_place (&f->bundles, &f->view, &f->rules, &f->budget, &f->proven, f->nodes);
}

static void
by_values (Fixture *f, guint32 n_values)
{
  f->rules.n_values = n_values;
  f->view.domain = f->slice;
  f->view.n_domains = f->view.n_nodes / 4 + 1;
}

/* --- choice among equal nodes --- */

START_TEST (equal_nodes_are_used_in_the_order_of_the_view)
{
  static const guint32 expected[4][4] = { { 4, 5, 6, 7 }, { 0, 2, 3, 4 }, { 0, 0, 0, 0 }, { 0, 2, 3, 4 } };
  g_autoptr (Fixture) f = fixture_new (12, 4, (QuoitStrategy) _i);

  /* Slice 0 lacks a host, so PACK uses the next one. */
  f->available[1] = 0;
  if (_i == QUOIT_STRATEGY_STRICT_PACK)
    for (guint32 b = 0; b < 4; b++)
      f->requested[b] = UNIT;
  ck_assert_int_eq (place (f), QUOIT_BEST_FOUND);
  ck_assert_int_eq (f->proven, TRUE);
  for (guint32 b = 0; b < 4; b++)
    ck_assert_uint_eq (f->nodes[b], expected[_i][b]);
  ck_assert_uint_eq (f->budget, BUDGET);
}
END_TEST

START_TEST (pack_uses_the_smallest_slices_that_suffice)
{
  g_autoptr (Fixture) f = fixture_new (12, 2, QUOIT_STRATEGY_PACK);

  for (guint32 n = 4; n < 12; n++)
    f->slice[n] = 1;
  f->requested[1] = 3 * UNIT;
  ck_assert_int_eq (place (f), QUOIT_BEST_FOUND);
  ck_assert_uint_eq (f->nodes[0], 0);
  ck_assert_uint_eq (f->nodes[1], 1);
}
END_TEST

/* With equal bundles, each node has a fixed capacity, so every choice of slices can be tried. */
static guint32
fewest_slices (const guint32 *capacity, const guint32 *slice, guint32 n_nodes, guint32 n_bundles, guint32 m)
{
  guint32 fewest = NONE;

  for (guint32 chosen = 0; chosen < 1u << 7; chosen++)
    {
      guint32 held = 0, n = 0;

      for (guint32 h = n_bundles; h > 0; h--)
        for (guint32 i = 0; i < n_nodes && n < m; i++)
          if (capacity[i] == h && (slice[i] == NONE || (chosen >> slice[i] & 1) != 0))
            {
              held += h;
              n++;
            }
      if (held >= n_bundles)
        fewest = MIN (fewest, (guint32) __builtin_popcount (chosen));
    }
  return fewest;
}

/* Returns whether the number of slices is proven to be minimal. */
static gboolean
pack_drawn_equals (guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  guint32 n_bundles = (guint32) g_rand_int_range (rand, 2, 30), n_used = 0;
  g_autoptr (Fixture) f = fixture_new (28, n_bundles, QUOIT_STRATEGY_PACK);
  guint32 capacity[28], seen = 0, used = 0, max = (guint32) g_rand_int_range (rand, 2, 8);

  for (guint32 n = 0; n < 28; n++)
    {
      capacity[n] = (guint32) g_rand_int_range (rand, 0, (gint32) max);
      f->available[n] = 4 * UNIT * capacity[n];
      capacity[n] = MIN (capacity[n], n_bundles);
      f->slice[n] = g_rand_int_range (rand, 0, 20) == 0 ? NONE : (guint32) g_rand_int_range (rand, 0, 7);
    }
  if (place (f) != QUOIT_BEST_FOUND)
    return TRUE;
  for (guint32 b = 0; b < n_bundles; b++)
    {
      n_used += (seen >> f->nodes[b] & 1) == 0;
      seen |= 1u << f->nodes[b];
      if (f->slice[f->nodes[b]] != NONE)
        used |= 1u << f->slice[f->nodes[b]];
    }
  ck_assert_uint_eq (fewest_slices (capacity, f->slice, 28, n_bundles, n_used - 1), NONE);
  if (f->proven)
    ck_assert_uint_eq ((guint) __builtin_popcount (used), fewest_slices (capacity, f->slice, 28, n_bundles, n_used));
  return f->proven;
}

START_TEST (equal_bundles_are_packed_into_the_fewest_slices)
{
  guint32 n_unproven = 0;

  for (guint32 seed = 1; seed <= 1000; seed++)
    n_unproven += !pack_drawn_equals (seed);
  ck_assert_uint_le (n_unproven, 5);
}
END_TEST

START_TEST (pack_prefers_nodes_in_no_slice)
{
  g_autoptr (Fixture) f = fixture_new (12, 3, QUOIT_STRATEGY_PACK);

  f->slice[9] = f->slice[10] = f->slice[11] = NONE;
  f->requested[2] = 2 * UNIT;
  ck_assert_int_eq (place (f), QUOIT_BEST_FOUND);
  for (guint32 b = 0; b < 3; b++)
    ck_assert_uint_eq (f->nodes[b], 9 + b);
}
END_TEST

START_TEST (the_soft_target_decides_which_value_is_used)
{
  g_autoptr (Fixture) f = fixture_new (400, 2, QUOIT_STRATEGY_STRICT_PACK);

  f->requested[0] = f->requested[1] = UNIT;
  by_values (f, 1);
  f->rules.soft_target = 203;
  ck_assert_int_eq (place (f), QUOIT_BEST_FOUND);
  ck_assert_uint_eq (f->nodes[0], 203);
  ck_assert_uint_eq (f->nodes[1], 203);

  f->available[203] = UNIT;
  ck_assert_int_eq (place (f), QUOIT_BEST_FOUND);
  ck_assert_uint_eq (f->nodes[0], 0);
}
END_TEST

START_TEST (each_share_gets_a_value_on_which_it_fits)
{
  g_autoptr (Fixture) f = fixture_new (40, 4, QUOIT_STRATEGY_PACK);

  /* The second share fits only on slice 0, which could also hold the first one. */
  for (guint32 n = 0; n < 4; n++)
    f->available[n] = 8 * UNIT;
  f->requested[2] = f->requested[3] = 7 * UNIT;
  by_values (f, 2);
  ck_assert_int_eq (place (f), QUOIT_BEST_FOUND);
  ck_assert_int_eq (f->proven, TRUE);
  ck_assert_uint_eq (f->nodes[0], 4);
  ck_assert_uint_eq (f->nodes[1], 5);
  ck_assert_uint_eq (f->nodes[2], 0);
  ck_assert_uint_eq (f->nodes[3], 1);
}
END_TEST

START_TEST (spread_minimizes_the_largest_load)
{
  g_autoptr (Fixture) f = fixture_new (10, 35, QUOIT_STRATEGY_SPREAD);
  guint32 loads[10] = { 0 };

  for (guint32 b = 0; b < 35; b++)
    f->requested[b] = UNIT * (b < 5 ? 2 : 1);
  for (guint32 n = 0; n < 10; n++)
    f->available[n] = UNIT * 50;
  ck_assert_int_eq (place (f), QUOIT_BEST_FOUND);
  ck_assert_int_eq (f->proven, TRUE);
  for (guint32 b = 0; b < 35; b++)
    ck_assert_uint_le (++loads[f->nodes[b]], 4);
}
END_TEST

/* --- budgets --- */

/* Halves and thirds on seven nodes: no bound detects that the last ones do not fit. */
static Fixture *
hard_new (void)
{
  static const gint64 requested[]
      = { 47, 47, 46, 46, 44, 44, 43, 43, 38, 38, 37, 37, 34, 34, 31, 31, 29, 28, 27, 26, 24, 23 };
  Fixture *f = fixture_new (8, G_N_ELEMENTS (requested), QUOIT_STRATEGY_PACK);

  for (guint32 b = 0; b < G_N_ELEMENTS (requested); b++)
    f->requested[b] = requested[b];
  for (guint32 n = 0; n < 8; n++)
    f->available[n] = 100;
  return f;
}

START_TEST (a_search_without_budget_is_reported_as_not_proven)
{
  g_autoptr (Fixture) f = hard_new ();
  QuoitBestResult result;

  f->budget = 100;
  result = place (f);
  ck_assert_int_eq (f->proven, FALSE);
  ck_assert_int_ne (result, QUOIT_BEST_NONE);
  ck_assert_uint_eq (f->budget, 0);
}
END_TEST

START_TEST (polynomial_problems_need_no_budget)
{
  g_autoptr (Fixture) f = fixture_new (1000, 500, (QuoitStrategy) _i);

  f->budget = 0;
  if (_i == QUOIT_STRATEGY_STRICT_PACK)
    f->available[700] = 4 * UNIT * 500;
  /* Half of them need one of the last 300 nodes. */
  f->bundles.filter = f->filter;
  for (guint32 b = 0; b < 250; b++)
    f->filter[b] = _i != QUOIT_STRATEGY_PACK;
  for (guint32 n = 0; n < 1000; n++)
    {
      f->passes[n / 64] |= G_GUINT64_CONSTANT (1) << (n % 64);
      if (n >= 700)
        f->passes[16 + n / 64] |= G_GUINT64_CONSTANT (1) << (n % 64);
    }
  ck_assert_int_eq (place (f), QUOIT_BEST_FOUND);
  ck_assert_int_eq (f->proven, TRUE);
  for (guint32 b = 0; b < 250; b++)
    ck_assert (_i == QUOIT_STRATEGY_PACK || f->nodes[b] >= 700);

  if (_i != QUOIT_STRATEGY_STRICT_PACK)
    {
      for (guint32 n = 0; n < 1000; n += 2)
        f->available[n] = UNIT;
      f->available[1] = UNIT;
      ck_assert_int_eq (place (f), QUOIT_BEST_NONE);
      ck_assert_int_eq (f->proven, TRUE);
    }
}
END_TEST

START_TEST (equal_problems_have_equal_solutions)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) _i + 1);
  g_autoptr (Fixture) f = fixture_new (30, 40, (QuoitStrategy) (_i % 2));
  guint32 first[40];
  QuoitBestResult result;
  guint64 left;
  gboolean proven;

  for (guint32 b = 0; b < 40; b++)
    f->requested[b] = g_rand_int_range (rand, 1, 60);
  for (guint32 n = 0; n < 30; n++)
    f->available[n] = g_rand_int_range (rand, 20, 100);
  f->budget = 5000;
  result = place (f);
  left = f->budget;
  proven = f->proven;
  memcpy (first, f->nodes, sizeof first);
  f->budget = 5000;
  ck_assert_int_eq (place (f), result);
  ck_assert_uint_eq (f->budget, left);
  ck_assert_int_eq (f->proven, proven);
  ck_assert_int_eq (memcmp (first, f->nodes, sizeof first), 0);
}
END_TEST

/* --- thousands of equal nodes: quadratic work would take too long --- */

START_TEST (ten_thousand_equal_bundles_need_no_search)
{
  g_autoptr (Fixture) f = fixture_new (100000, 10000, (QuoitStrategy) _i);

  f->budget = 0;
  if (_i == QUOIT_STRATEGY_STRICT_PACK)
    f->available[99999] = 10000 * 4 * (gint64) UNIT;
  ck_assert_int_eq (place (f), QUOIT_BEST_FOUND);
  ck_assert_int_eq (f->proven, TRUE);
  for (guint32 b = 0; b < 10000; b++)
    ck_assert_uint_eq (f->nodes[b], _i == QUOIT_STRATEGY_STRICT_PACK ? 99999 : b);
}
END_TEST

START_TEST (a_thousand_equal_values_are_tried_once)
{
  g_autoptr (Fixture) f = fixture_new (100000, 8, (QuoitStrategy) _i);

  by_values (f, 2);
  if (_i == QUOIT_STRATEGY_STRICT_PACK)
    for (guint32 b = 0; b < 8; b++)
      f->requested[b] = UNIT;
  /* Shares for which no bound is exact, so that each different value needs a search. */
  if (_i == QUOIT_STRATEGY_PACK)
    f->requested[3] = f->requested[7] = 2 * UNIT;
  ck_assert_int_eq (place (f), QUOIT_BEST_FOUND);
  ck_assert_int_eq (f->proven, TRUE);
  for (guint32 b = 0; b < 8; b++)
    ck_assert_uint_eq (f->nodes[b] / 4, b / 4);
  ck_assert_uint_eq (f->budget, BUDGET);
}
END_TEST

START_TEST (ten_thousand_different_bundles_are_placed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  g_autoptr (Fixture) f = fixture_new (5000, 10000, (QuoitStrategy) _i);
  g_autofree gint64 *left = NULL;

  for (guint32 b = 0; b < 10000; b++)
    f->requested[b] = g_rand_int_range (rand, 1, 500000);
  for (guint32 n = 0; n < 5000; n++)
    f->available[n] = g_rand_int_range (rand, 500000, 1500000);
  f->budget = 100000;
  ck_assert_int_eq (place (f), QUOIT_BEST_FOUND);
  left = g_memdup2 (f->available, 5000 * sizeof *left);
  for (guint32 b = 0; b < 10000; b++)
    ck_assert_int_ge (left[f->nodes[b]] -= f->requested[b], 0);
}
END_TEST

/* --- sums beyond 64 bits --- */

START_TEST (sums_do_not_overflow)
{
  g_autoptr (Fixture) f = fixture_new (8, 6, (QuoitStrategy) _i);
  gint64 max = G_MAXINT64 / 2;

  for (guint32 b = 0; b < 6; b++)
    f->requested[b] = max - b;
  for (guint32 n = 0; n < 8; n++)
    f->available[n] = n % 2 == 0 ? G_MAXINT64 : max - 1;
  ck_assert_int_eq (place (f), _i == QUOIT_STRATEGY_STRICT_PACK ? QUOIT_BEST_NONE : QUOIT_BEST_FOUND);
  if (_i == QUOIT_STRATEGY_PACK)
    for (guint32 b = 0; b < 6; b++)
      ck_assert_uint_eq (f->nodes[b] % 2, 0);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("best-bundles");
  TCase *tcase = tcase_create ("best-bundles");

  tcase_set_timeout (tcase, 120);
  tcase_add_loop_test (tcase, equal_nodes_are_used_in_the_order_of_the_view, 0, 4);
  tcase_add_test (tcase, pack_uses_the_smallest_slices_that_suffice);
  tcase_add_test (tcase, equal_bundles_are_packed_into_the_fewest_slices);
  tcase_add_test (tcase, pack_prefers_nodes_in_no_slice);
  tcase_add_test (tcase, the_soft_target_decides_which_value_is_used);
  tcase_add_test (tcase, each_share_gets_a_value_on_which_it_fits);
  tcase_add_test (tcase, spread_minimizes_the_largest_load);
  tcase_add_test (tcase, a_search_without_budget_is_reported_as_not_proven);
  tcase_add_loop_test (tcase, polynomial_problems_need_no_budget, 0, 4);
  tcase_add_loop_test (tcase, equal_problems_have_equal_solutions, 0, 20);
  tcase_add_loop_test (tcase, ten_thousand_equal_bundles_need_no_search, 0, 4);
  tcase_add_loop_test (tcase, a_thousand_equal_values_are_tried_once, 0, 4);
  tcase_add_loop_test (tcase, ten_thousand_different_bundles_are_placed, 0, 2);
  tcase_add_loop_test (tcase, sums_do_not_overflow, 0, 4);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}

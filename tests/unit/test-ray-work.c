/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of a decision of policy `ray`, in tests of a node for a bundle. Also checks that the optimizations change no
 * result. */
#include "suite.h"

#include "models/ray/scheduler/rows.h"

#include <string.h>

/* --- requests for one resource --- */

typedef struct {
  guint32 n_bundles, n_nodes;
  gint64 *requested, *total, *available;
  guint32 *filter;
  guint64 *passes;
  QuoitBundles bundles;
  QuoitView view;
  QuoitPlacementRules rules;
} Problem;

static void
problem_clear (Problem *problem)
{
  g_free (problem->requested);
  g_free (problem->total);
  g_free (problem->available);
  g_free (problem->filter);
  g_free (problem->passes);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Problem, problem_clear)

static void
problem_init (Problem *problem, QuoitStrategy strategy, guint32 n_bundles, guint32 n_nodes, guint32 n_resources)
{
  static const char *const names[] = { "TPU", "CPU" };

  *problem = (Problem) { .n_bundles = n_bundles, .n_nodes = n_nodes };
  problem->requested = g_new0 (gint64, (gsize) n_bundles * n_resources);
  problem->total = g_new0 (gint64, (gsize) n_nodes * n_resources);
  problem->available = g_new0 (gint64, (gsize) n_nodes * n_resources);
  problem->bundles = (QuoitBundles) { n_bundles, n_resources, 0, names, problem->requested, NULL };
  problem->view = (QuoitView) {
    .n_nodes = n_nodes, .n_candidates = n_nodes, .total = problem->total, .available = problem->available
  };
  problem->rules = (QuoitPlacementRules) { .strategy = strategy,
                                           .soft_target = QUOIT_NO_INDEX,
                                           .required_domain = QUOIT_NO_INDEX };
}

typedef gint64 (*Amount) (guint32 i);

static gint64
four (G_GNUC_UNUSED guint32 i)
{
  return 40000;
}

/* Different amounts in no particular order. */
static gint64
four_and_some (guint32 i)
{
  return 40000 + (gint64) (i * 7919 % 10007);
}

static gint64
seven (G_GNUC_UNUSED guint32 i)
{
  return 70000;
}

static void
fill (Problem *problem, Amount bundle, Amount node)
{
  for (guint32 b = 0; b < problem->n_bundles; b++)
    problem->requested[b] = bundle (b);
  for (guint32 n = 0; n < problem->n_nodes; n++)
    problem->total[n] = problem->available[n] = node (n) + 10000;
}

static guint64
count_tests (const Problem *problem, QuoitRayResult expected)
{
  g_autofree guint32 *nodes = g_new (guint32, problem->n_bundles);
  QuoitTies ties = { .choose = NULL };

  ck_assert_int_eq (quoit_ray_place (&problem->bundles, &problem->view, &problem->rules, &ties, nodes), expected);
  return ties.n_tests;
}

/* --- costs --- */

enum { MANY = 2000 };

typedef struct {
  const char *why;
  QuoitStrategy strategy;
  Amount bundle, node;
  guint64 most; /* limit of tests per bundle and node */
} Cost;

static const Cost costs[] = {
  { "PACK, all equal", QUOIT_STRATEGY_PACK, four, four, 10 },
  { "SPREAD, all equal", QUOIT_STRATEGY_SPREAD, four, four, 10 },
  { "STRICT_SPREAD, all equal", QUOIT_STRATEGY_STRICT_SPREAD, four, four, 10 },
  { "PACK, no two nodes equal", QUOIT_STRATEGY_PACK, four, four_and_some, 60 },
  { "SPREAD, no two nodes equal", QUOIT_STRATEGY_SPREAD, four, four_and_some, 60 },
  { "STRICT_SPREAD, no two nodes equal", QUOIT_STRATEGY_STRICT_SPREAD, four, four_and_some, 60 },
};

START_TEST (equal_bundles_do_not_each_test_all_nodes)
{
  const Cost *cost = &costs[_i];
  g_auto (Problem) problem = { 0 };
  guint64 n;

  problem_init (&problem, cost->strategy, MANY, MANY, 1);
  fill (&problem, cost->bundle, cost->node);
  n = count_tests (&problem, QUOIT_RAY_SUCCESS);
  ck_assert_msg (n <= cost->most * 2 * MANY, "%s: %" G_GUINT64_FORMAT " looks", cost->why, n);
}
END_TEST

START_TEST (different_bundles_test_each_node_a_few_times)
{
  g_auto (Problem) problem = { 0 };
  guint64 n;

  problem_init (&problem, QUOIT_STRATEGY_PACK, MANY, MANY, 1);
  fill (&problem, four_and_some, seven);
  n = count_tests (&problem, QUOIT_RAY_SUCCESS);
  ck_assert_msg (n <= (guint64) 3 * MANY * MANY, "%" G_GUINT64_FORMAT " looks", n);
}
END_TEST

/* Bundles that only the nodes 64 to 67 can hold. */
static void
select_four (Problem *problem)
{
  problem->filter = g_new0 (guint32, problem->n_bundles);
  problem->passes = g_new0 (guint64, problem->n_nodes / 64 + 1);
  problem->passes[1] = 0xf;
  problem->bundles.filter = problem->filter;
  problem->bundles.n_filters = 1;
  problem->view.passes = problem->passes;
}

START_TEST (only_matching_nodes_are_tested_and_refusal_costs_no_more)
{
  g_auto (Problem) problem = { 0 };
  guint64 granted, refused;

  problem_init (&problem, QUOIT_STRATEGY_STRICT_SPREAD, 4, MANY, 1);
  fill (&problem, four, four);
  select_four (&problem);
  granted = count_tests (&problem, QUOIT_RAY_SUCCESS);
  ck_assert_uint_le (granted, 4 * 10);
  for (guint32 n = 64; n < 68; n++)
    problem.available[n] = 0;
  refused = count_tests (&problem, QUOIT_RAY_FAILED);
  ck_assert_uint_le (refused, granted);
}
END_TEST

/* --- optimizations change no result --- */

/* Collects all possible results by trying every sequence of choices. */
typedef struct {
  guint32 chosen[64], n[64], depth, at;
  GHashTable *answers; /* as text */
} Walk;

static guint32
choose_on_walk (gpointer data, G_GNUC_UNUSED guint32 bundle, G_GNUC_UNUSED const guint32 *ties, guint32 n)
{
  Walk *walk = data;

  g_assert (walk->at < G_N_ELEMENTS (walk->chosen));
  if (walk->at == walk->depth)
    walk->chosen[walk->depth++] = 0;
  walk->n[walk->at] = n;
  return walk->chosen[walk->at++];
}

static gboolean
next_walk (Walk *walk)
{
  for (walk->depth = walk->at; walk->depth > 0; walk->depth--)
    if (++walk->chosen[walk->depth - 1] < walk->n[walk->depth - 1])
      return TRUE;
  return FALSE;
}

static char *
format_result (QuoitRayResult result, const guint32 *nodes, guint32 n)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "%u", (guint) result);
  for (guint32 b = 0; b < n && result == QUOIT_RAY_SUCCESS; b++)
    g_string_append_printf (text, " %u", nodes[b]);
  return g_string_free (text, FALSE);
}

/* Collects the results of @domain if it is tried first. Failures continue with the other domains. */
static void
walk_domain (const Problem *problem, guint32 domain, Walk *walk, GHashTable *failures)
{
  QuoitPlacementRules rules = problem->rules;
  QuoitTies ties = { choose_on_walk, walk, FALSE, 0, 0 };
  guint32 nodes[8];

  if (problem->view.domain != NULL)
    rules.required_domain = domain;
  walk->depth = 0;
  do
    {
      QuoitRayResult result;

      walk->at = 0;
      result = quoit_ray_place (&problem->bundles, &problem->view, &rules, &ties, nodes);
      g_hash_table_add (result == QUOIT_RAY_SUCCESS ? walk->answers : failures,
                        format_result (result, nodes, problem->n_bundles));
    }
  while (next_walk (walk));
}

/* FAILED is an answer if some domain can fail and no domain always succeeds. */
static GHashTable *
all_answers (const Problem *problem)
{
  guint32 n_domains = problem->view.domain != NULL ? problem->view.n_domains : 1;
  Walk walk = { .answers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL) };
  gboolean some_fails = FALSE, one_never_does = FALSE;

  for (guint32 d = 0; d < n_domains; d++)
    {
      g_autoptr (GHashTable) failures = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

      walk_domain (problem, d, &walk, failures);
      some_fails |= g_hash_table_contains (failures, "1");
      one_never_does |= g_hash_table_size (failures) == 0;
    }
  if (!one_never_does)
    g_hash_table_add (walk.answers, g_strdup (some_fails ? "1" : "2"));
  return walk.answers;
}

/* Draws few classes of nodes and bundles, so that there are ties, and small nodes, so that some choices fail. */
static void
draw (Problem *problem, GRand *rand, guint32 *domain)
{
  static const gint64 amounts[] = { 0, 10000, 20000, 30000 };

  problem_init (problem, (QuoitStrategy) g_rand_int_range (rand, 0, 4), (guint32) g_rand_int_range (rand, 1, 5),
                (guint32) g_rand_int_range (rand, 1, 5), 2);
  for (guint32 i = 0; i < problem->n_bundles * 2; i++)
    problem->requested[i] = amounts[g_rand_int_range (rand, 0, 3)];
  for (guint32 i = 0; i < problem->n_nodes * 2; i++)
    {
      problem->total[i] = amounts[g_rand_int_range (rand, 1, 4)];
      problem->available[i] = MIN (problem->total[i], amounts[g_rand_int_range (rand, 1, 4)]);
    }
  if (g_rand_boolean (rand))
    {
      problem->filter = g_new (guint32, problem->n_bundles);
      for (guint32 b = 0; b < problem->n_bundles; b++)
        problem->filter[b] = (guint32) g_rand_int_range (rand, 0, 2);
      problem->passes = g_new (guint64, 2);
      problem->passes[0] = problem->passes[1] = ~(guint64) 0;
      problem->passes[1] = g_rand_int (rand);
      problem->bundles.filter = problem->filter;
      problem->bundles.n_filters = 2;
      problem->view.passes = problem->passes;
    }
  if (g_rand_int_range (rand, 0, 3) == 0)
    {
      for (guint32 n = 0; n < problem->n_nodes; n++)
        domain[n] = (guint32) g_rand_int_range (rand, 0, 2);
      problem->view.domain = domain;
      problem->view.n_domains = 2;
      problem->rules.n_values = 1;
    }
}

static void
check_answers (const Problem *problem, guint32 seed)
{
  g_autoptr (GHashTable) answers = all_answers (problem);
  gboolean fails = g_hash_table_contains (answers, "1"), never = g_hash_table_contains (answers, "2");
  guint32 nodes[8];
  g_autofree char *ours = format_result (
      quoit_ray_place (&problem->bundles, &problem->view, &problem->rules, NULL, nodes), nodes, problem->n_bundles);
  QuoitRayCertainty one = g_hash_table_size (answers) == 1 ? QUOIT_RAY_YES : QUOIT_RAY_NO;

  ck_assert_msg (g_hash_table_contains (answers, ours), "seed %u: '%s' is no answer", seed, ours);
  ck_assert_msg (quoit_ray_is_determined (&problem->bundles, &problem->view, &problem->rules, 100000) == one,
                 "seed %u: %u answers", seed, g_hash_table_size (answers));
  ck_assert_msg (
      (quoit_ray_is_possible (&problem->bundles, &problem->view, &problem->rules, QUOIT_RAY_FAILED, NULL, 100000)
       == QUOIT_RAY_YES)
          == fails,
      "seed %u: failing", seed);
  ck_assert_msg (
      (quoit_ray_is_possible (&problem->bundles, &problem->view, &problem->rules, QUOIT_RAY_INFEASIBLE, NULL, 0)
       == QUOIT_RAY_YES)
          == never,
      "seed %u: never", seed);
}

/* Checks every placement of the bundles: possible means that it is among the answers. */
static void
check_placements (const Problem *problem, guint32 seed)
{
  g_autoptr (GHashTable) answers = all_answers (problem);
  guint32 nodes[8] = { 0 }, b;

  do
    {
      g_autofree char *text = format_result (QUOIT_RAY_SUCCESS, nodes, problem->n_bundles);

      ck_assert_msg (
          (quoit_ray_is_possible (&problem->bundles, &problem->view, &problem->rules, QUOIT_RAY_SUCCESS, nodes, 0)
           == QUOIT_RAY_YES)
              == g_hash_table_contains (answers, text),
          "seed %u: %s", seed, text);
      for (b = 0; b < problem->n_bundles && ++nodes[b] == problem->n_nodes; b++)
        nodes[b] = 0;
    }
  while (b < problem->n_bundles);
}

START_TEST (possible_and_determined_agree_with_exhaustive_search)
{
  for (guint32 seed = 0; seed < 3000; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      g_auto (Problem) problem = { 0 };
      guint32 domain[8];

      draw (&problem, rand, domain);
      check_answers (&problem, seed);
      check_placements (&problem, seed);
    }
}
END_TEST

/* Places each bundle on the best unused node, by Ray's rule without optimizations. Counts equally good nodes. */
static guint32
place_by_the_rule (const Problem *problem, const guint32 *order, guint32 *nodes)
{
  g_autofree guint8 *taken = g_new0 (guint8, problem->n_nodes);
  guint32 n_choices = 0;

  for (guint32 i = 0; i < problem->n_bundles; i++)
    {
      gint64 requested = problem->requested[order[i]];
      double most = -1, score;
      guint32 best = QUOIT_NO_INDEX, n_best = 0;

      for (int pass = 0; pass < 2; pass++)
        for (guint32 n = problem->n_nodes; n > 0; n--)
          {
            double has = (double) problem->available[n - 1] / 10000;

            score
                = taken[n - 1] || problem->available[n - 1] < requested ? -1 : (has - (double) requested / 10000) / has;
            if (pass == 0)
              most = MAX (most, score);
            else if (score >= 0 && score >= most - 1e-12)
              best = n - 1, n_best++;
          }
      nodes[order[i]] = best;
      taken[best] = 1;
      n_choices += n_best > 1;
    }
  return n_choices;
}

/* Large amounts, whose scores differ by less than Ray's precision, and small ones; some equal, many nodes. */
static gint64
near_and_far (guint32 i)
{
  return i % 3 == 0 ? G_GINT64_CONSTANT (8000000000000000) + i * 7919 % 503 * 40000000000 : 100000 + i * 7919 % 37;
}

static gint64
thrice (guint32 i)
{
  return 50000 + i / 97;
}

/* Seven or eight nearly equal nodes; the last one has a little more. */
static gint64
small_sets (guint32 i)
{
  return G_GINT64_CONSTANT (10000000000) + i * 7919 % 137 * 100000 + i / 137 * 200;
}

/* Fifty nodes whose scores differ by less than Ray's precision. */
static gint64
sets (guint32 i)
{
  return G_GINT64_CONSTANT (10000000000) + i % 20 * 100000 + i / 20 * 30;
}

static gint64
large_sets (guint32 i)
{
  return 100000 + i % 25 * 1000;
}

static gint64
five (G_GNUC_UNUSED guint32 i)
{
  return 50000;
}

static const struct {
  Amount bundle, node;
} choices[] = { { thrice, near_and_far }, { five, small_sets }, { five, sets }, { five, large_sets } };

START_TEST (sorted_search_chooses_the_same_of_equal_nodes)
{
  enum { BUNDLES = 900, NODES = 1000 };
  g_auto (Problem) problem = { 0 };
  guint32 order[BUNDLES], expected[BUNDLES], nodes[BUNDLES], n_choices;
  QuoitTies ties = { .choose = NULL };

  problem_init (&problem, QUOIT_STRATEGY_STRICT_SPREAD, BUNDLES, NODES, 1);
  fill (&problem, choices[_i].bundle, choices[_i].node);
  quoit_ray_order (&problem.bundles, order);
  n_choices = place_by_the_rule (&problem, order, expected);
  ck_assert_int_eq (quoit_ray_place (&problem.bundles, &problem.view, &problem.rules, &ties, nodes), QUOIT_RAY_SUCCESS);
  ck_assert_uint_eq (ties.n_choices, n_choices);
  for (guint32 b = 0; b < BUNDLES; b++)
    ck_assert_uint_eq (nodes[b], expected[b]);
}
END_TEST

/* --- names with equal hashes --- */

/* libstdc++'s mixing of eight bytes, and its inverse. */
static guint64
mixed (guint64 word)
{
  const guint64 factor = G_GUINT64_CONSTANT (0xc6a4a7935bd1e995);

  word *= factor;
  return (word ^ word >> 47) * factor;
}

static guint64
unmixed (guint64 word)
{
  const guint64 factor = G_GUINT64_CONSTANT (0xc6a4a7935bd1e995);
  guint64 inverse = factor;

  for (int i = 0; i < 6; i++)
    inverse *= 2 - factor * inverse;
  word *= inverse;
  return (word ^ word >> 47) * inverse;
}

static gboolean
is_text (const char *name, gsize n)
{
  for (gsize i = 0; i < n; i++)
    if (!g_ascii_isprint (name[i]))
      return FALSE;
  return TRUE;
}

/* Another name of 16 bytes with the hash of @name: a different first half, and a second half that compensates for
 * it. */
static void
find_twin (const char *name, char *twin)
{
  const guint64 factor = G_GUINT64_CONSTANT (0xc6a4a7935bd1e995), seed = 0xc70f6907 ^ 16 * factor;
  guint64 first, last, other;

  memcpy (&first, name, 8);
  memcpy (&last, name + 8, 8);
  for (guint i = 0;; i++)
    {
      g_snprintf (twin, 17, "%08u", i);
      memcpy (&other, twin, 8);
      other = unmixed (((seed ^ mixed (first)) * factor) ^ mixed (last) ^ ((seed ^ mixed (other)) * factor));
      memcpy (twin + 8, &other, 8);
      twin[16] = '\0';
      if (is_text (twin, 16))
        return;
    }
}

START_TEST (resources_with_equal_hashes_are_ordered_by_name)
{
  const char *name = "tpu-slice-000001";
  char twin[17];
  const char *names[] = { name, twin };
  const gint64 requested[] = { 10000, 0, 0, 10000 }, total[] = { 0, 10000, 10000, 0 };
  guint32 order[2], nodes[2];
  QuoitBundles bundles = { 2, 2, 0, names, requested, NULL };
  QuoitView view = { .n_nodes = 2, .n_candidates = 2, .total = total, .available = total };
  QuoitPlacementRules rules
      = { .strategy = QUOIT_STRATEGY_PACK, .soft_target = QUOIT_NO_INDEX, .required_domain = QUOIT_NO_INDEX };

  find_twin (name, twin);
  ck_assert_str_ne (name, twin);
  ck_assert_int_eq (quoit_ray_resource_id (name), quoit_ray_resource_id (twin));
  ck_assert_int_eq (quoit_ray_place (&bundles, &view, &rules, NULL, nodes), QUOIT_RAY_SUCCESS);
  ck_assert_uint_eq (nodes[0], 1);
  ck_assert_uint_eq (nodes[1], 0);
  quoit_ray_order (&bundles, order);
  ck_assert_uint_eq (order[0], strcmp (name, twin) < 0 ? 0 : 1);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("ray-work");
  TCase *tcase = tcase_create ("ray-work");

  tcase_set_timeout (tcase, 120);
  tcase_add_loop_test (tcase, equal_bundles_do_not_each_test_all_nodes, 0, G_N_ELEMENTS (costs));
  tcase_add_test (tcase, different_bundles_test_each_node_a_few_times);
  tcase_add_test (tcase, only_matching_nodes_are_tested_and_refusal_costs_no_more);
  tcase_add_test (tcase, possible_and_determined_agree_with_exhaustive_search);
  tcase_add_loop_test (tcase, sorted_search_chooses_the_same_of_equal_nodes, 0, G_N_ELEMENTS (choices));
  tcase_add_test (tcase, resources_with_equal_hashes_are_ordered_by_name);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}

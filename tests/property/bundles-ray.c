/* SPDX-License-Identifier: Apache-2.0 */
/* Compares policy `best` with policy `ray` on drawn fleets that are too large for an exhaustive search. If Ray finds
 * a placement, `best` finds one that is at least as good by the strategy, however small its budget is. */
#include "../unit/suite.h"

#include <stdio.h>
#include <string.h>

#include "placement/bundles.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { CASES = 200 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { CASES = 200 };
#else
enum { CASES = 3000 };
#endif
#else
enum { CASES = 3000 };
#endif

enum { MOST = 40, RESOURCES = 3, FILTERS = 3 };

typedef struct {
  guint32 n_nodes, n_bundles, n_resources, n_filters;
  gint64 asks[MOST * RESOURCES], has[MOST * RESOURCES];
  guint32 filter[MOST], slice[MOST], domain[MOST];
  guint64 passes[FILTERS];
  QuoitStanding standing;
} Case;

static void
draw_case (GRand *rand, Case *it)
{
  gint32 unit = g_rand_int_range (rand, 0, 3) == 0 ? 10000 : 1;
  gint32 most = unit == 1 ? g_rand_int_range (rand, 10, 2000) : 5, has = most * g_rand_int_range (rand, 1, 5);

  memset (it, 0, sizeof *it);
  it->n_nodes = (guint32) g_rand_int_range (rand, 3, MOST);
  it->n_bundles = (guint32) g_rand_int_range (rand, 2, MOST);
  it->n_resources = (guint32) g_rand_int_range (rand, 1, RESOURCES + 1);
  it->n_filters = (guint32) g_rand_int_range (rand, 1, FILTERS + 1);
  it->standing = (QuoitStanding) { .strategy = (QuoitStrategy) g_rand_int_range (rand, 0, 4),
                                   .soft_target = QUOIT_NO_INDEX,
                                   .bound = QUOIT_NO_INDEX,
                                   .n_values = g_rand_int_range (rand, 0, 4) == 0 };
  for (guint32 n = 0; n < it->n_nodes; n++)
    {
      it->slice[n] = n / 3;
      it->domain[n] = (guint32) g_rand_int_range (rand, 0, 3);
      for (guint32 r = 0; r < it->n_resources; r++)
        it->has[n * it->n_resources + r] = (gint64) unit * g_rand_int_range (rand, most / 2, has + 1);
    }
  for (guint32 b = 0; b < it->n_bundles; b++)
    {
      guint32 like = b > 0 && g_rand_boolean (rand) ? b - 1 : b;

      it->filter[b] = like == b ? (guint32) g_rand_int_range (rand, 0, (gint32) it->n_filters) : it->filter[like];
      for (guint32 r = 0; r < it->n_resources; r++)
        it->asks[b * it->n_resources + r] = like == b ? (gint64) unit * g_rand_int_range (rand, r == 0, most + 1)
                                                      : it->asks[like * it->n_resources + r];
    }
  it->passes[0] = G_MAXUINT64;
  for (guint32 f = 1; f < it->n_filters; f++)
    it->passes[f] = (guint64) g_rand_int (rand) << 32 | g_rand_int (rand);
}

/* The objective that the strategy minimises. */
static guint32
cost (const Case *it, const guint32 *nodes)
{
  guint32 loads[MOST] = { 0 }, slices[MOST] = { 0 }, n_nodes = 0, n_slices = 0, load = 0;

  for (guint32 b = 0; b < it->n_bundles; b++)
    {
      n_nodes += loads[nodes[b]]++ == 0;
      n_slices += slices[it->slice[nodes[b]]]++ == 0;
      load = MAX (load, loads[nodes[b]]);
    }
  if (it->standing.strategy == QUOIT_STRATEGY_SPREAD)
    return load;
  return it->standing.strategy == QUOIT_STRATEGY_PACK ? n_nodes * MOST + n_slices : 0;
}

START_TEST (best_finds_whatever_ray_does)
{
  static const char *const resources[] = { "CPU", "TPU", "memory" };
  static const guint64 budgets[] = { 0, 100, 20000 };
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) _i + 1);
  guint32 n_both = 0, n_best = 0;

  for (guint32 i = 0; i < CASES; i++)
    {
      Case it;
      guint32 rays[MOST], nodes[MOST];
      guint64 budget = budgets[_i % G_N_ELEMENTS (budgets)];
      gboolean proven;
      QuoitRayResult ray;
      QuoitBestResult best;

      draw_case (rand, &it);
      const QuoitBundles bundles = { .n_bundles = it.n_bundles,
                                     .n_resources = it.n_resources,
                                     .n_filters = it.n_filters,
                                     .resources = resources,
                                     .amounts = it.asks,
                                     .filter = it.filter };
      const QuoitView view = { .n_nodes = it.n_nodes,
                               .n_candidates = it.n_nodes,
                               .total = it.has,
                               .available = it.has,
                               .passes = it.passes,
                               .domain = it.standing.n_values > 0 ? it.domain : NULL,
                               .n_domains = 3,
                               .slice = it.slice };

      ray = quoit_ray_place (&bundles, &view, &it.standing, NULL, rays);
      best = quoit_best_place (&bundles, &view, &it.standing, &budget, &proven, nodes);
      ck_assert_msg (ray != QUOIT_RAY_SUCCESS || best == QUOIT_BEST_FOUND, "case %u: %d", i, best);
      ck_assert_msg (ray != QUOIT_RAY_SUCCESS || cost (&it, nodes) <= cost (&it, rays), "case %u: %u instead of %u", i,
                     cost (&it, nodes), cost (&it, rays));
      n_both += ray == QUOIT_RAY_SUCCESS;
      n_best += ray != QUOIT_RAY_SUCCESS && best == QUOIT_BEST_FOUND;
    }
  printf ("%u cases: %u placed by Ray, %u by `best` alone\n", (guint) CASES, n_both, n_best);
  ck_assert_uint_gt (n_both, CASES / 5);
  ck_assert_uint_gt (n_best, 0);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("bundles-ray");
  TCase *tcase = tcase_create ("bundles-ray");

  tcase_set_timeout (tcase, 600);
  tcase_add_loop_test (tcase, best_finds_whatever_ray_does, 0, 6);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}

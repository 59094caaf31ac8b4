/* SPDX-License-Identifier: Apache-2.0 */
/* Packings of small grids, compared with a search of all of them, and certificates. */
#include "suite.h"

#include <string.h>

#include "geometry/packing.h"
#include "geometry/pairs.h"

enum { MAX_TURNS = QUOIT_MAX_TURNS, N_DEMANDS = 3, STEPS = 20000000 };

static QuoitShape
shape_of (guint x, guint y, guint z)
{
  return (QuoitShape) { { (guint16) x, (guint16) y, (guint16) z }, 3 };
}

typedef struct {
  QuoitGrid grid;
  QuoitHostSet free;
  QuoitOffsets offsets;
  guint n_demands;
  QuoitTurn turns[N_DEMANDS][MAX_TURNS];
  QuoitPackingDemand demands[N_DEMANDS];
} Problem;

/* --- a search of all packings --- */

/* Returns the greatest value of places on the hosts from @host. Each packing is visited once: its places in the order
 * of their lowest hosts. */
static guint64
best_from (const Problem *problem, guint32 host, guint32 *n_parts, const QuoitHostSet *left)
{
  guint64 best;

  if (host == quoit_grid_n_hosts (&problem->grid))
    return 0;
  best = best_from (problem, host + 1, n_parts, left);
  for (guint d = 0; d < problem->n_demands; d++)
    for (guint turn = 0; turn < problem->demands[d].n_turns; turn++)
      {
        const QuoitShape hosts = problem->demands[d].turns[turn].hosts;
        const guint32 most = problem->demands[d].most;
        QuoitHostSet places, after = *left;

        if (most != 0 && n_parts[d] == most)
          continue;
        if (!quoit_places_find (&problem->grid, left, hosts, &places)
            || !quoit_host_set_has (&problem->grid, &places, host))
          continue;
        if (problem->offsets == QUOIT_OFFSETS_ALIGNED)
          {
            QuoitPosition at = quoit_position_from_index (
                shape_of (problem->grid.n[0], problem->grid.n[1], problem->grid.n[2]), host);

            if (at.at[0] % hosts.dims[0] != 0 || at.at[1] % hosts.dims[1] != 0 || at.at[2] % hosts.dims[2] != 0
                || at.at[0] + hosts.dims[0] > problem->grid.n[0] || at.at[1] + hosts.dims[1] > problem->grid.n[1]
                || at.at[2] + hosts.dims[2] > problem->grid.n[2])
              continue;
          }
        quoit_host_set_remove_box (&problem->grid, &after, hosts, host);
        n_parts[d]++;
        best = MAX (best, problem->demands[d].value + best_from (problem, host + 1, n_parts, &after));
        n_parts[d]--;
      }
  return best;
}

/* --- drawn problems --- */

static void
draw_problem (GRand *rand, Problem *problem)
{
  const gboolean is_flat = g_rand_boolean (rand);
  const guint x = (guint) g_rand_int_range (rand, 1, 5), y = (guint) g_rand_int_range (rand, 1, is_flat ? 4 : 3);
  const guint z = is_flat ? 1 : (guint) g_rand_int_range (rand, 1, 3);
  const guint n_holes = (guint) g_rand_int_range (rand, 0, 5);

  *problem = (Problem) { .offsets = g_rand_int_range (rand, 0, 3) == 0 ? QUOIT_OFFSETS_ALIGNED : QUOIT_OFFSETS_ANY,
                         .n_demands = (guint) g_rand_int_range (rand, 1, N_DEMANDS + 1) };
  ck_assert (quoit_grid_init (&problem->grid, shape_of (x, y, z), (unsigned) g_rand_int_range (rand, 0, 8)));
  quoit_host_set_fill (&problem->grid, &problem->free);
  for (guint i = 0; i < n_holes; i++)
    quoit_host_set_remove_box (&problem->grid, &problem->free, shape_of (1, 1, 1),
                               (guint32) g_rand_int_range (rand, 0, (gint32) (x * y * z)));
  for (guint d = 0; d < problem->n_demands; d++)
    {
      const QuoitShape shape = shape_of ((guint) g_rand_int_range (rand, 1, 3), (guint) g_rand_int_range (rand, 1, 4),
                                         (guint) g_rand_int_range (rand, 1, is_flat ? 2 : 3));

      problem->demands[d].turns = problem->turns[d];
      problem->demands[d].n_turns = quoit_shape_list_turns (shape, shape_of (1, 1, 1), problem->turns[d]);
      problem->demands[d].value = g_rand_boolean (rand) ? quoit_shape_chips (shape) : 1;
      problem->demands[d].most = (guint32) g_rand_int_range (rand, 0, 4);
    }
}

START_TEST (small_packings_are_the_greatest)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (22);
  guint n_proven = 0, n = 400;

  for (guint i = 0; i < n; i++)
    {
      QuoitPackingResult result;
      guint32 n_parts[N_DEMANDS] = { 0 };
      Problem problem;
      guint64 expected;

      draw_problem (rand, &problem);
      expected = best_from (&problem, 0, n_parts, &problem.free);
      ck_assert (quoit_packing_solve (&problem.grid, &problem.free, problem.demands, problem.n_demands, problem.offsets,
                                      STEPS / 100, &result));
      ck_assert_uint_eq (result.least, expected);
      ck_assert_uint_ge (result.most, expected);
      ck_assert (quoit_packing_check (&problem.grid, &problem.free, problem.demands, problem.n_demands, problem.offsets,
                                      &result));
      n_proven += result.least == result.most;
      quoit_packing_result_clear (&result);
    }
  /* The bound is that of a linear program, which is not always reached. */
  ck_assert_uint_ge (n_proven, n * 97 / 100);
}
END_TEST

START_TEST (a_wrong_result_is_refused)
{
  Problem problem = { .n_demands = 1 };
  QuoitPackingResult result;

  ck_assert (quoit_grid_init (&problem.grid, shape_of (4, 4, 1), 0));
  quoit_host_set_fill (&problem.grid, &problem.free);
  problem.demands[0] = (QuoitPackingDemand) {
    problem.turns[0], quoit_shape_list_turns (shape_of (2, 2, 1), shape_of (1, 1, 1), problem.turns[0]), 1, 0
  };
  ck_assert (quoit_packing_solve (&problem.grid, &problem.free, problem.demands, 1, QUOIT_OFFSETS_ANY, STEPS, &result));
  ck_assert_uint_eq (result.least, 4);
  ck_assert_uint_eq (result.most, 4);
#define CHECK() quoit_packing_check (&problem.grid, &problem.free, problem.demands, 1, QUOIT_OFFSETS_ANY, &result)
  ck_assert (CHECK ());
  result.most = 3;
  ck_assert (!CHECK ());
  result.most = 4;
  result.least = 5;
  ck_assert (!CHECK ());
  result.least = 4;
  g_array_index (result.parts, QuoitPackedPart, 0).origin = 5; /* meets others */
  ck_assert (!CHECK ());
  g_array_index (result.parts, QuoitPackedPart, 0).origin = 3; /* leaves the grid */
  ck_assert (!CHECK ());
  g_array_index (result.parts, QuoitPackedPart, 0).origin = 0;
  for (guint host = 0; host < 16; host++)
    if (g_array_index (result.host_weights, guint64, host) > 0)
      {
        g_array_index (result.host_weights, guint64, host) = 0; /* proves nothing about its places */
        break;
      }
  ck_assert (!CHECK ());
#undef CHECK
  quoit_packing_result_clear (&result);
}
END_TEST

START_TEST (a_budget_ends_the_search)
{
  Problem problem = { .n_demands = 1 };
  QuoitPackingResult result;

  ck_assert (quoit_grid_init (&problem.grid, shape_of (8, 8, 24), 7));
  quoit_host_set_fill (&problem.grid, &problem.free);
  quoit_host_set_remove_box (&problem.grid, &problem.free, shape_of (1, 1, 1), 100);
  problem.demands[0] = (QuoitPackingDemand) {
    problem.turns[0], quoit_shape_list_turns (shape_of (3, 4, 5), shape_of (1, 1, 1), problem.turns[0]), 1, 0
  };
  ck_assert (quoit_packing_solve (&problem.grid, &problem.free, problem.demands, 1, QUOIT_OFFSETS_ANY, 1000, &result));
  ck_assert (quoit_packing_check (&problem.grid, &problem.free, problem.demands, 1, QUOIT_OFFSETS_ANY, &result));
  ck_assert_uint_gt (result.least, 0);
  quoit_packing_result_clear (&result);
}
END_TEST

/* The packings are proven, so that there are as many pairs as parts. */
START_TEST (pairs_are_as_many_as_parts_of_two_hosts)
{
  GRand *rand = g_rand_new_with_seed (5);

  for (guint round = 0; round < 300; round++)
    {
      const guint x = (guint) g_rand_int_range (rand, 1, 5), y = (guint) g_rand_int_range (rand, 1, 5);
      const guint z = (guint) g_rand_int_range (rand, 1, 5), n = x * y * z;
      const unsigned axes = (unsigned) g_rand_int_range (rand, 1, 8);
      QuoitTurn turns[QUOIT_N_AXES];
      guint32 partners[64];
      guint n_turns = 0, n_paired = 0;
      QuoitPackingResult result;
      QuoitHostSet free;
      QuoitGrid grid;

      ck_assert (quoit_grid_init (&grid, shape_of (x, y, z), 0));
      quoit_host_set_clear (&grid, &free);
      for (guint32 host = 0; host < n; host++)
        if (g_rand_int_range (rand, 0, 3) > 0)
          quoit_host_set_add (&grid, &free, host);
      for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
        if ((axes >> axis & 1) != 0)
          turns[n_turns++]
              = (QuoitTurn) { .hosts = shape_of (axis == 0 ? 2 : 1, axis == 1 ? 2 : 1, axis == 2 ? 2 : 1) };
      quoit_packing_solve (&grid, &free, &(QuoitPackingDemand) { turns, n_turns, 1, 0 }, 1, QUOIT_OFFSETS_ANY, STEPS,
                           &result);
      ck_assert_uint_eq (result.least, result.most);
      ck_assert_uint_eq (quoit_grid_find_pairs (&grid, &free, axes, partners), result.least);
      for (guint32 host = 0; host < n; host++)
        if (partners[host] != G_MAXUINT32)
          {
            ck_assert (quoit_host_set_has (&grid, &free, host));
            ck_assert_uint_eq (partners[partners[host]], host);
            n_paired++;
          }
      ck_assert_uint_eq (n_paired, 2 * result.least);
      quoit_packing_result_clear (&result);
    }
  g_rand_free (rand);
}
END_TEST

static Suite *
packing_suite (void)
{
  Suite *suite = suite_create ("packing");
  TCase *tcase = tcase_create ("packing");

  tcase_set_timeout (tcase, 120);
  tcase_add_test (tcase, small_packings_are_the_greatest);
  tcase_add_test (tcase, a_wrong_result_is_refused);
  tcase_add_test (tcase, a_budget_ends_the_search);
  tcase_add_test (tcase, pairs_are_as_many_as_parts_of_two_hosts);
  suite_add_tcase (suite, tcase);
  return suite;
}

int
main (void)
{
  return suite_main (packing_suite ());
}

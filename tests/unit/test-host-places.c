/* SPDX-License-Identifier: Apache-2.0 */
/* Places of boxes of hosts, compared with a search that tests every host of every box. */
#include "suite.h"

#include <string.h>

#include "base/indices.h"
#include "geometry/places.h"

enum { MAX_HOLES = 6, N_SHAPES = 4 };

static QuoitShape
shape_of (guint x, guint y, guint z)
{
  return (QuoitShape) { { (guint16) x, (guint16) y, (guint16) z }, 3 };
}

static QuoitGrid
grid_of (guint x, guint y, guint z, unsigned wrap)
{
  QuoitGrid grid;

  ck_assert (quoit_grid_init (&grid, shape_of (x, y, z), wrap));
  return grid;
}

/* --- the search to compare with --- */

static QuoitPosition
position_of (const QuoitGrid *grid, guint32 worker)
{
  return quoit_position_from_index (shape_of (grid->n[0], grid->n[1], grid->n[2]), worker);
}

/* Returns whether a box of @hosts can begin at @origin, by the definition in places.h. */
static gboolean
is_place (const QuoitGrid *grid, const QuoitHostSet *free, QuoitShape hosts, guint32 origin)
{
  const QuoitPosition from = position_of (grid, origin);
  guint32 workers[512], n = quoit_shape_chips (hosts);

  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    {
      gboolean wraps = (grid->wrap >> axis & 1) != 0;

      if (hosts.dims[axis] > grid->n[axis] || (!wraps && from.at[axis] + hosts.dims[axis] > grid->n[axis])
          || (wraps && hosts.dims[axis] == grid->n[axis] && from.at[axis] > 0))
        return FALSE;
    }
  quoit_grid_list_box (grid, hosts, origin, workers);
  for (guint32 i = 0; i < n; i++)
    if (!quoit_host_set_has (grid, free, workers[i]))
      return FALSE;
  return TRUE;
}

static guint32
count_places (const QuoitGrid *grid, const QuoitHostSet *free, QuoitShape hosts)
{
  guint32 n = 0;

  for (guint32 origin = 0; origin < quoit_grid_n_hosts (grid); origin++)
    n += is_place (grid, free, hosts, origin);
  return n;
}

/* Returns the cost of a place by counting the places of every turn of every shape before and after. */
static guint64
cost_of (const QuoitGrid *grid, const QuoitHostSet *free, const QuoitShape *shapes, guint n_shapes, QuoitShape hosts,
         guint32 origin)
{
  QuoitHostSet all, after = *free;
  guint64 cost = 0;

  quoit_host_set_fill (grid, &all);
  quoit_host_set_remove_box (grid, &after, hosts, origin);
  for (guint shape = 0; shape < n_shapes; shape++)
    {
      QuoitTurn turns[QUOIT_MAX_TURNS];
      guint n_turns = quoit_shape_list_turns (shapes[shape], shape_of (1, 1, 1), turns);
      guint64 n_all = 0, destroyed = 0;

      for (guint turn = 0; turn < n_turns; turn++)
        {
          n_all += count_places (grid, &all, turns[turn].hosts);
          destroyed += count_places (grid, free, turns[turn].hosts) - count_places (grid, &after, turns[turn].hosts);
        }
      if (n_all > 0)
        cost += ((guint64) quoit_shape_chips (shapes[shape]) << 16) / n_all * destroyed;
    }
  return cost;
}

/* --- drawn and exhaustive grids --- */

static void
check_places (const QuoitGrid *grid, const QuoitHostSet *free, QuoitShape hosts)
{
  QuoitHostSet places;
  guint32 n = 0;
  gboolean found;

  quoit_host_set_clear (grid, &places);
  found = quoit_places_find (grid, free, hosts, &places);
  for (guint32 origin = 0; origin < quoit_grid_n_hosts (grid); origin++)
    {
      gboolean expected = is_place (grid, free, hosts, origin);

      n += expected;
      if (found)
        ck_assert_int_eq (quoit_host_set_has (grid, &places, origin), expected);
    }
  ck_assert_int_eq (found, n > 0);
  if (found)
    ck_assert_uint_eq (quoit_host_set_count (grid, &places), n);
}

/* Compares the first and the best place of the first shape with those that the definitions give. */
static void
check_best (const QuoitGrid *grid, const QuoitHostSet *free, const QuoitShape *shapes, guint n_shapes)
{
  g_autoptr (QuoitPlaceCosts) costs = quoit_place_costs_new (grid, shape_of (1, 1, 1), shapes, n_shapes);
  QuoitPlace best, first, expected_best = { QUOIT_NO_INDEX, 0, G_MAXUINT64 };
  guint32 expected_first = QUOIT_NO_INDEX;
  QuoitTurn turns[QUOIT_MAX_TURNS];
  guint n_turns = quoit_shape_list_turns (shapes[0], shape_of (1, 1, 1), turns);

  for (guint turn = 0; turn < n_turns; turn++)
    for (guint32 origin = 0; origin < quoit_grid_n_hosts (grid); origin++)
      if (is_place (grid, free, turns[turn].hosts, origin))
        {
          guint64 cost = cost_of (grid, free, shapes, n_shapes, turns[turn].hosts, origin);

          ck_assert_uint_eq (quoit_places_cost (costs, free, turns[turn].hosts, origin), cost);
          expected_first = MIN (expected_first, origin);
          if (cost < expected_best.cost || (cost == expected_best.cost && origin < expected_best.origin))
            expected_best = (QuoitPlace) { origin, turn, cost };
        }
  ck_assert_int_eq (quoit_places_find_first (grid, free, turns, n_turns, &first), expected_first != QUOIT_NO_INDEX);
  ck_assert_uint_eq (first.origin, expected_first);
  ck_assert_int_eq (quoit_places_find_best (costs, free, turns, n_turns, &best), expected_first != QUOIT_NO_INDEX);
  ck_assert_uint_eq (best.origin, expected_best.origin);
  ck_assert_uint_eq (best.turn, expected_best.turn);
  ck_assert_uint_eq (best.cost, expected_best.cost);
}

static void
remove_hosts (const QuoitGrid *grid, QuoitHostSet *set, guint64 holes)
{
  for (guint32 worker = 0; worker < quoit_grid_n_hosts (grid); worker++)
    if ((holes >> worker & 1) != 0)
      quoit_host_set_remove_box (grid, set, shape_of (1, 1, 1), worker);
}

START_TEST (places_of_every_small_grid_are_found)
{
  /* All sets of holes in all grids of up to seven hosts. */
  for (guint x = 1; x <= 3; x++)
    for (guint y = 1; y <= 3; y++)
      for (guint z = 1; x * y * z <= 7; z++)
        for (unsigned wrap = 0; wrap < 8; wrap++)
          for (guint64 holes = 0; holes < (guint64) 1 << (x * y * z); holes++)
            {
              const QuoitGrid grid = grid_of (x, y, z, wrap);
              QuoitHostSet free;

              quoit_host_set_fill (&grid, &free);
              remove_hosts (&grid, &free, holes);
              for (guint a = 1; a <= x; a++)
                for (guint b = 1; b <= y; b++)
                  for (guint c = 1; c <= z; c++)
                    check_places (&grid, &free, shape_of (a, b, c));
            }
}
END_TEST

static QuoitShape
draw_shape (GRand *rand, const QuoitGrid *grid)
{
  guint16 dims[QUOIT_N_AXES];

  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    dims[axis] = (guint16) g_rand_int_range (rand, 1, (gint32) MIN (grid->n[axis], 4) + 1);
  return shape_of (dims[0], dims[1], dims[2]);
}

static void
check_drawn (GRand *rand, const QuoitGrid *grid, guint n_holes)
{
  QuoitShape shapes[N_SHAPES];
  QuoitHostSet free;

  quoit_host_set_fill (grid, &free);
  for (guint i = 0; i < n_holes; i++)
    quoit_host_set_remove_box (grid, &free, shape_of (1, 1, 1),
                               (guint32) g_rand_int_range (rand, 0, (gint32) quoit_grid_n_hosts (grid)));
  for (guint i = 0; i < N_SHAPES; i++)
    {
      shapes[i] = draw_shape (rand, grid);
      check_places (grid, &free, shapes[i]);
    }
  check_best (grid, &free, shapes, N_SHAPES);
}

START_TEST (the_best_place_of_small_grids_is_that_of_a_search)
{
  /* All grids of up to 4x4x4 hosts, with and without wraparound, with up to six holes. */
  g_autoptr (GRand) rand = g_rand_new_with_seed (20);

  for (guint x = 1; x <= 4; x++)
    for (guint y = 1; y <= 4; y++)
      for (guint z = 1; z <= 4; z++)
        for (unsigned wrap = 0; wrap < 8; wrap++)
          {
            const QuoitGrid grid = grid_of (x, y, z, wrap);

            for (guint holes = 0; holes <= MAX_HOLES; holes++)
              check_drawn (rand, &grid, holes);
          }
}
END_TEST

START_TEST (the_best_place_of_long_rows_is_that_of_a_search)
{
  /* Rows of more than eight hosts, of a v3 pod, and long cycles. */
  static const guint sides[][QUOIT_N_AXES]
      = { { 16, 3, 1 }, { 16, 2, 2 }, { 11, 3, 2 }, { 9, 1, 3 }, { 3, 16, 1 }, { 2, 2, 14 }, { 8, 8, 1 }, { 8, 8, 2 } };
  g_autoptr (GRand) rand = g_rand_new_with_seed (21);

  for (guint i = 0; i < G_N_ELEMENTS (sides); i++)
    for (unsigned wrap = 0; wrap < 8; wrap++)
      for (guint holes = 0; holes < 10; holes += 3)
        {
          const QuoitGrid grid = grid_of (sides[i][0], sides[i][1], sides[i][2], wrap);

          check_drawn (rand, &grid, holes);
        }
}
END_TEST

START_TEST (every_slice_of_the_catalogue_has_a_grid)
{
  /* Every slice that the catalogue knows has a grid. */
  for (unsigned generation = 1; generation < QUOIT_N_GENERATIONS; generation++)
    {
      unsigned n_rows;
      const QuoitTopologyRow *rows = quoit_topology_rows ((QuoitGeneration) generation, &n_rows);

      for (unsigned i = 0; i < n_rows; i++)
        {
          QuoitSliceFacts facts;
          QuoitGrid grid;

          ck_assert (quoit_slice_facts (rows[i].generation, rows[i].shape, rows[i].chips_per_host, &facts, NULL));
          ck_assert (quoit_grid_init (&grid, facts.host_grid, 7));
          ck_assert_uint_eq (quoit_grid_n_hosts (&grid), facts.hosts);
        }
    }
}
END_TEST

START_TEST (turns_are_multiples_of_the_host)
{
  QuoitTurn turns[QUOIT_MAX_TURNS];

  /* Hosts of 2x2x1 chips: z takes any number of chips, x and y even ones. */
  ck_assert_uint_eq (quoit_shape_list_turns (shape_of (2, 4, 4), shape_of (2, 2, 1), turns), 3);
  ck_assert (quoit_shape_equal (turns[0].hosts, shape_of (1, 2, 4)));
  ck_assert_uint_eq (quoit_shape_list_turns (shape_of (2, 2, 1), shape_of (2, 2, 1), turns), 1);
  ck_assert_uint_eq (quoit_shape_list_turns (shape_of (4, 8, 12), shape_of (2, 2, 1), turns), 6);
  ck_assert_uint_eq (quoit_shape_list_turns (shape_of (1, 1, 1), shape_of (2, 2, 1), turns), 0);
  /* A flat shape is turned in its plane: 2x4 chips on hosts of 2x2. */
  ck_assert_uint_eq (quoit_shape_list_turns ((QuoitShape) { { 2, 4, 1 }, 2 }, (QuoitShape) { { 2, 2, 1 }, 2 }, turns),
                     2);
  ck_assert (quoit_shape_equal (turns[1].hosts, shape_of (2, 1, 1)));
  ck_assert_uint_eq (turns[1].axes[0], 1);
  /* With hosts of 2x4 chips, only the shape as it is. */
  ck_assert_uint_eq (quoit_shape_list_turns ((QuoitShape) { { 2, 4, 1 }, 2 }, (QuoitShape) { { 2, 4, 1 }, 2 }, turns),
                     1);
}
END_TEST

static Suite *
host_places_suite (void)
{
  Suite *suite = suite_create ("host-places");
  TCase *tcase = tcase_create ("places");

  tcase_set_timeout (tcase, 120);
  tcase_add_test (tcase, places_of_every_small_grid_are_found);
  tcase_add_test (tcase, the_best_place_of_small_grids_is_that_of_a_search);
  tcase_add_test (tcase, the_best_place_of_long_rows_is_that_of_a_search);
  tcase_add_test (tcase, every_slice_of_the_catalogue_has_a_grid);
  tcase_add_test (tcase, turns_are_multiples_of_the_host);
  suite_add_tcase (suite, tcase);
  return suite;
}

int
main (void)
{
  return suite_main (host_places_suite ());
}

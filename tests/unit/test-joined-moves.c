/* SPDX-License-Identifier: Apache-2.0 */
/* Which slices leave a block most cheaply, compared with all sets of slices, and in a large block. */
#include "suite.h"

#include "planner/joined-moves.h"

enum { N_BLOCKS = 2000, MOST_SIZES = 10, MOST_SIZE = 9, N_LARGE = 60000 };

static guint32
sum_of_set (const QuoitBlockLoad *load, guint set)
{
  guint32 sum = 0;

  for (guint i = 0; i < load->sizes->len; i++)
    sum += (set >> i & 1) != 0 ? g_array_index (load->sizes, guint32, i) : 0;
  return sum;
}

START_TEST (the_cheapest_set_is_found)
{
  GRand *rand = g_rand_new_with_seed (7);

  for (guint n = 0; n < N_BLOCKS; n++)
    {
      QuoitBlockLoad load = { 0, g_array_new (FALSE, FALSE, sizeof (guint32)), 0, NULL, 0 };
      const guint n_sizes = (guint) g_rand_int_range (rand, 0, MOST_SIZES + 1);
      guint32 most;

      for (guint i = 0; i < n_sizes; i++)
        {
          const guint32 size = (guint32) g_rand_int_range (rand, 1, MOST_SIZE + 1);

          g_array_append_val (load.sizes, size);
        }
      most = sum_of_set (&load, G_MAXUINT);
      for (guint32 need = 0; need <= most + 1; need++)
        {
          guint8 chosen[MOST_SIZES] = { 0 };
          guint32 best = G_MAXUINT32, found, sum = 0;

          for (guint set = 0; set < 1u << n_sizes; set++)
            if (sum_of_set (&load, set) >= need)
              best = MIN (best, sum_of_set (&load, set));
          found = quoit_block_load_find_cheapest (&load, need, chosen);
          ck_assert_uint_eq (found, best);
          for (guint i = 0; i < n_sizes; i++)
            sum += chosen[i] ? g_array_index (load.sizes, guint32, i) : 0;
          ck_assert_uint_eq (sum, found == G_MAXUINT32 ? 0 : found);
        }
      g_array_unref (load.sizes);
    }
  g_rand_free (rand);
}
END_TEST

/* The memory depends on the cubes that have to leave, not on all cubes of the block. */
START_TEST (a_large_block_needs_little_memory)
{
  QuoitBlockLoad load = { 1, g_array_new (FALSE, FALSE, sizeof (guint32)), 0, NULL, 0 };
  g_autofree guint8 *chosen = g_new0 (guint8, N_LARGE);
  guint n = 0;

  for (guint i = 0; i < N_LARGE; i++)
    {
      const guint32 size = 1 + i % 2;

      g_array_append_val (load.sizes, size);
    }
  ck_assert_uint_eq (quoit_block_load_find_cheapest (&load, 7, chosen), 7);
  for (guint i = 0; i < N_LARGE; i++)
    n += chosen[i];
  ck_assert_uint_ge (n, 4);
  ck_assert_uint_eq (quoit_block_load_find_cheapest (&load, G_MAXUINT32 - 1, chosen), G_MAXUINT32);
  g_array_unref (load.sizes);
}
END_TEST

static Suite *
joined_moves_suite (void)
{
  Suite *suite = suite_create ("joined-moves");
  TCase *tcase = tcase_create ("joined-moves");

  tcase_add_test (tcase, the_cheapest_set_is_found);
  tcase_add_test (tcase, a_large_block_needs_little_memory);
  suite_add_tcase (suite, tcase);
  return suite;
}

int
main (void)
{
  return suite_main (joined_moves_suite ());
}

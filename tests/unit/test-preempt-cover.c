/* SPDX-License-Identifier: Apache-2.0 */
/* The cheapest options that free enough slices, against all sets of options; and the bound of the greedy search. */
#include "placement/preempt/cover.h"
#include "suite.h"

enum { N_CASES = 400, MOST_OPTIONS = 12, N_MANY = 6000, MANY_NEEDED = 20000 };

static guint32
draw (GRand *rand, guint32 n)
{
  return (guint32) g_rand_int_range (rand, 0, (gint32) n);
}

static GArray *
draw_options (GRand *rand, guint n)
{
  GArray *options = g_array_new (FALSE, FALSE, sizeof (QuoitPreemptOption));
  guint32 choice = 0;

  for (guint i = 0; i < n; i++)
    {
      QuoitPreemptOption option;

      choice += i > 0 && draw (rand, 3) > 0;
      option = (QuoitPreemptOption) { choice, 1 + draw (rand, 5), { draw (rand, 6), draw (rand, 4) } };
      g_array_append_val (options, option);
    }
  return options;
}

/* Adds up the options of @set (bits). Returns FALSE if it has two options of one choice. */
static gboolean
add_up (const GArray *options, guint32 set, guint64 *n_slices, QuoitPreemptCost *cost)
{
  guint32 last = G_MAXUINT32;

  *n_slices = 0;
  *cost = (QuoitPreemptCost) { 0, 0 };
  for (guint i = 0; i < options->len; i++)
    {
      const QuoitPreemptOption *option = &g_array_index (options, QuoitPreemptOption, i);

      if ((set >> i & 1) == 0)
        continue;
      if (option->choice == last)
        return FALSE;
      last = option->choice;
      *n_slices += option->n_slices;
      *cost = quoit_preempt_cost_add (*cost, option->cost);
    }
  return TRUE;
}

static gboolean
find_cheapest (const GArray *options, guint32 needed, QuoitPreemptCost *best)
{
  gboolean found = FALSE;

  for (guint32 set = 0; set < 1u << options->len; set++)
    {
      QuoitPreemptCost cost;
      guint64 n;

      if (!add_up (options, set, &n, &cost) || n < needed)
        continue;
      if (!found || quoit_preempt_cost_compare (cost, *best) < 0)
        *best = cost;
      found = TRUE;
    }
  return found;
}

START_TEST (the_result_is_the_cheapest_set)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  guint n_compared = 0;

  for (guint i = 0; i < N_CASES; i++)
    {
      g_autoptr (GArray) options = draw_options (rand, 1 + draw (rand, MOST_OPTIONS));
      g_autoptr (GArray) taken = g_array_new (FALSE, FALSE, sizeof (guint32));
      guint32 needed = 1 + draw (rand, 14), set = 0;
      QuoitPreemptCost best, cost;
      guint64 n;

      if (!find_cheapest (options, needed, &best))
        continue;
      ck_assert (quoit_preempt_cover (options, needed, taken));
      for (guint t = 0; t < taken->len; t++)
        set |= 1u << g_array_index (taken, guint32, t);
      ck_assert (add_up (options, set, &n, &cost));
      ck_assert_uint_ge (n, needed);
      ck_assert_int_eq (quoit_preempt_cost_compare (cost, best), 0);
      n_compared++;
    }
  ck_assert_uint_gt (n_compared, N_CASES / 2);
}
END_TEST

/* All groups cost 8 chips for each slice, so a set that frees exactly the needed slices is the cheapest one. */
START_TEST (many_options_cost_at_most_twice_the_least)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (8);
  g_autoptr (GArray) options = g_array_new (FALSE, FALSE, sizeof (QuoitPreemptOption));
  g_autoptr (GArray) taken = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint64 n = 0, chips = 0;

  for (guint32 i = 0; i < N_MANY; i++)
    {
      guint32 n_slices = 1 + draw (rand, 9);
      const QuoitPreemptOption option = { i, n_slices, { 8 * n_slices + draw (rand, 5), 0 } };

      g_array_append_val (options, option);
    }
  ck_assert (!quoit_preempt_cover (options, MANY_NEEDED, taken));
  for (guint t = 0; t < taken->len; t++)
    {
      const QuoitPreemptOption *option
          = &g_array_index (options, QuoitPreemptOption, g_array_index (taken, guint32, t));

      n += option->n_slices;
      chips += option->cost.chips_e4;
      ck_assert_uint_gt (option->n_slices, 0);
    }
  ck_assert_uint_ge (n, MANY_NEEDED);
  ck_assert_uint_le (chips, 2 * 8 * (guint64) MANY_NEEDED);
  for (guint t = 0; t < taken->len; t++)
    ck_assert_uint_lt (n - g_array_index (options, QuoitPreemptOption, g_array_index (taken, guint32, t)).n_slices,
                       MANY_NEEDED);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("preempt-cover");
  TCase *tcase = tcase_create ("preempt-cover");

  tcase_add_test (tcase, the_result_is_the_cheapest_set);
  tcase_add_test (tcase, many_options_cost_at_most_twice_the_least);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}

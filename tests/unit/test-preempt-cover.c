/* SPDX-License-Identifier: Apache-2.0 */
/* The cheapest options that free enough slices, against all sets of options; and the bound of the greedy search. */
#include "placement/preempt/cover.h"
#include "suite.h"

enum { N_CASES = 400, MOST_OPTIONS = 12, N_MANY = 6000, MANY_NEEDED = 20000, MOST_CHIPS = 1000 };

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

static int
by_density (const void *a, const void *b)
{
  const QuoitPreemptOption *x = a, *y = b;
  guint64 one = x->cost.chips_e4 * y->n_slices, other = y->cost.chips_e4 * x->n_slices;

  return one < other ? -1 : one > other;
}

/* The cost if options could be taken in part, rounded down: no set costs less. */
static guint64
fractional_cost (const GArray *options, guint32 needed)
{
  g_autoptr (GArray) sorted = g_array_copy ((GArray *) options);
  guint64 cost = 0;

  g_array_sort (sorted, by_density);
  for (guint i = 0; needed > 0; i++)
    {
      const QuoitPreemptOption *option = &g_array_index (sorted, QuoitPreemptOption, i);
      guint32 n = MIN (needed, option->n_slices);

      cost += option->cost.chips_e4 * n / option->n_slices;
      needed -= n;
    }
  return cost;
}

/* Checks that the options free enough, and no option can be left out. Returns their cost. */
static guint64
check_taken (const GArray *options, const GArray *taken, guint32 needed)
{
  guint64 n = 0, chips = 0;

  for (guint t = 0; t < taken->len; t++)
    {
      const QuoitPreemptOption *option
          = &g_array_index (options, QuoitPreemptOption, g_array_index (taken, guint32, t));

      n += option->n_slices;
      chips += option->cost.chips_e4;
    }
  ck_assert_uint_ge (n, needed);
  for (guint t = 0; t < taken->len; t++)
    ck_assert_uint_lt (n - g_array_index (options, QuoitPreemptOption, g_array_index (taken, guint32, t)).n_slices,
                       needed);
  return chips;
}

START_TEST (many_options_cost_little_more_than_the_least)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (8);
  g_autoptr (GArray) options = g_array_new (FALSE, FALSE, sizeof (QuoitPreemptOption));
  g_autoptr (GArray) taken = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint64 least;

  for (guint32 i = 0; i < N_MANY; i++)
    {
      const QuoitPreemptOption option = { i, 1 + draw (rand, 9), { 1 + draw (rand, MOST_CHIPS), 0 } };

      g_array_append_val (options, option);
    }
  least = fractional_cost (options, MANY_NEEDED);
  ck_assert (!quoit_preempt_cover (options, MANY_NEEDED, taken));
  ck_assert_uint_le (check_taken (options, taken, MANY_NEEDED), least + MOST_CHIPS + N_MANY);
}
END_TEST

/* The densest option frees far more than is needed. Options of one choice: only the largest counts. */
START_TEST (a_large_cheap_option_is_no_trap)
{
  g_autoptr (GArray) options = g_array_new (FALSE, FALSE, sizeof (QuoitPreemptOption));
  g_autoptr (GArray) taken = g_array_new (FALSE, FALSE, sizeof (guint32));
  const QuoitPreemptOption huge = { 0, 100 * MANY_NEEDED, { 40 * MANY_NEEDED, 0 } };

  g_array_append_val (options, huge);
  for (guint32 i = 1; i < N_MANY; i++)
    for (guint32 n = 3; n <= 6; n += 3)
      {
        const QuoitPreemptOption option = { i, n, { n, 0 } };

        g_array_append_val (options, option);
      }
  ck_assert (!quoit_preempt_cover (options, MANY_NEEDED, taken));
  ck_assert_uint_le (check_taken (options, taken, MANY_NEEDED), MANY_NEEDED + 6);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("preempt-cover");
  TCase *tcase = tcase_create ("preempt-cover");

  tcase_add_test (tcase, the_result_is_the_cheapest_set);
  tcase_add_test (tcase, many_options_cost_little_more_than_the_least);
  tcase_add_test (tcase, a_large_cheap_option_is_no_trap);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}

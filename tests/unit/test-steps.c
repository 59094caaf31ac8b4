/* SPDX-License-Identifier: Apache-2.0 */
/* Step functions against an array with one value per millisecond. */
#include "placement/queue/steps.h"
#include "suite.h"

enum { FIRST_MS = 1000, LENGTH = 700, N_CHANGES = 900 };

static gint64
draw_time (GRand *rand)
{
  return FIRST_MS + g_rand_int_range (rand, 0, LENGTH);
}

/* The array stands for the time until FIRST_MS + LENGTH; all later times have the last value. */
static void
add (QuoitSteps *steps, gint32 *values, gint64 from_ms, gint64 until_ms, gint32 difference)
{
  quoit_steps_add (steps, from_ms, until_ms, difference);
  for (gint64 t = from_ms; t < MIN (until_ms, FIRST_MS + LENGTH); t++)
    values[t - FIRST_MS] += difference;
}

static gint64
find (const gint32 *values, gint64 from_ms, gboolean below, gint32 value)
{
  for (gint64 t = from_ms; t < FIRST_MS + LENGTH; t++)
    if (below ? values[t - FIRST_MS] < value : values[t - FIRST_MS] >= value)
      return t;
  return QUOIT_FOREVER_MS;
}

static void
check_least (QuoitSteps *steps, const gint32 *values, gint64 from_ms, gint64 until_ms)
{
  gint32 least = G_MAXINT32;
  gint64 after_ms, last_ms = 0;

  for (gint64 t = from_ms; t < MIN (until_ms, FIRST_MS + LENGTH); t++)
    if (values[t - FIRST_MS] <= least)
      {
        least = values[t - FIRST_MS];
        last_ms = t;
      }
  ck_assert_int_eq (quoit_steps_least (steps, from_ms, until_ms, &after_ms), least);
  /* The step may go on after the period, so that all later values in it are equal. */
  ck_assert_int_gt (after_ms, last_ms);
  for (gint64 t = last_ms; t < MIN (after_ms, FIRST_MS + LENGTH); t++)
    ck_assert_int_eq (values[t - FIRST_MS], least);
}

START_TEST (a_step_function_has_the_values_of_an_array)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) _i + 1);
  gint32 values[LENGTH];
  QuoitSteps steps;

  quoit_steps_init (&steps, FIRST_MS, 5);
  for (guint i = 0; i < LENGTH; i++)
    values[i] = 5;
  for (guint i = 0; i < N_CHANGES; i++)
    {
      gint64 from_ms = draw_time (rand), until_ms = draw_time (rand), at_ms = draw_time (rand);
      gint32 value = g_rand_int_range (rand, -6, 12);

      if (from_ms > until_ms)
        until_ms = QUOIT_FOREVER_MS;
      /* Values must stay near the values that are asked for. */
      add (&steps, values, from_ms, until_ms, values[from_ms - FIRST_MS] > 3 ? -g_rand_int_range (rand, 0, 4) : 2);
      if (at_ms < until_ms)
        check_least (&steps, values, at_ms, until_ms);
      ck_assert_int_eq (quoit_steps_next_at_least (&steps, at_ms, value), find (values, at_ms, FALSE, value));
      ck_assert_int_eq (quoit_steps_next_below (&steps, at_ms, value), find (values, at_ms, TRUE, value));
    }
  quoit_steps_clear (&steps);
}
END_TEST

/* Draws a step function, and the array with its values. */
static void
draw_steps (GRand *rand, QuoitSteps *steps, gint32 *values)
{
  quoit_steps_init (steps, FIRST_MS, 5);
  for (guint i = 0; i < LENGTH; i++)
    values[i] = 5;
  for (guint i = 0; i < N_CHANGES; i++)
    {
      gint64 from_ms = draw_time (rand), until_ms = draw_time (rand);

      add (steps, values, from_ms, from_ms < until_ms ? until_ms : QUOIT_FOREVER_MS, g_rand_int_range (rand, -1, 2));
    }
}

static void
check_values (QuoitSteps *steps, gint64 from_ms, const gint32 *values, gint32 more)
{
  gint64 after_ms;

  for (gint64 t = from_ms; t < FIRST_MS + LENGTH; t++)
    ck_assert_int_eq (quoit_steps_least (steps, t, t + 1, &after_ms), values[t - FIRST_MS] + more);
}

START_TEST (a_compact_step_function_and_a_copy_have_the_same_values)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) _i + 1);
  gint32 values[LENGTH];
  QuoitSteps steps, copy;
  gint64 from_ms = draw_time (rand), after_ms;
  guint n_changes = 1;

  draw_steps (rand, &steps, values);
  quoit_steps_init_after (&copy, from_ms - 1, 7, &steps);
  ck_assert_int_eq (quoit_steps_least (&copy, from_ms - 1, from_ms, &after_ms), 7);
  check_values (&copy, from_ms, values, 7);
  for (gint64 t = from_ms + 1; t < FIRST_MS + LENGTH; t++)
    n_changes += values[t - FIRST_MS] != values[t - 1 - FIRST_MS];
  quoit_steps_compact (&steps, from_ms);
  check_values (&steps, from_ms, values, 0);
  ck_assert_uint_eq (quoit_steps_count (&steps), n_changes);
  /* Both can be changed afterwards. */
  for (guint i = 0; i < LENGTH; i++)
    {
      gint64 at_ms = MAX (draw_time (rand), from_ms);

      add (&steps, values, at_ms, QUOIT_FOREVER_MS, 1);
      quoit_steps_add (&copy, at_ms, QUOIT_FOREVER_MS, 1);
    }
  check_values (&steps, from_ms, values, 0);
  check_values (&copy, from_ms, values, 7);
  quoit_steps_clear (&steps);
  quoit_steps_clear (&copy);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("steps");
  TCase *tcase = tcase_create ("steps");

  tcase_add_loop_test (tcase, a_step_function_has_the_values_of_an_array, 0, 20);
  tcase_add_loop_test (tcase, a_compact_step_function_and_a_copy_have_the_same_values, 0, 200);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}

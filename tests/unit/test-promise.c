/* SPDX-License-Identifier: Apache-2.0 */
/* Promises: the numbers of the papers, exact sums for few cubes, and bad input. bindings/python/tests/test_promise.py
 * compares with rational arithmetic. */
#include <math.h>
#include <string.h>

#include <quoit/quoit.h>

#include "suite.h"

static double
cube_of (double host_availability)
{
  double availability = -1;

  ck_assert (quoit_promise_availability (host_availability, 16, &availability, NULL));
  return availability;
}

static uint32_t
count_slices (uint32_t n_cubes, double availability, uint32_t cubes_each, uint32_t n_held, double confidence)
{
  uint32_t count = UINT32_MAX;
  GError *error = NULL;

  ck_assert (quoit_promise_count (n_cubes, availability, cubes_each, n_held, confidence, &count, &error));
  ck_assert_ok (error);
  return count;
}

static double
probability_of (uint32_t n_cubes, double availability, uint32_t n_needed)
{
  double probability = -1;

  ck_assert (quoit_promise_probability (n_cubes, availability, n_needed, &probability, NULL));
  return probability;
}

static double
goodput_of (uint32_t n_cubes, double availability, uint32_t cubes_each)
{
  double goodput = -1;

  ck_assert (quoit_promise_goodput (n_cubes, availability, cubes_each, &goodput, NULL));
  return goodput;
}

static double
static_goodput_of (uint32_t n_cubes, double availability, uint32_t cubes_each)
{
  double goodput = -1;

  ck_assert (quoit_promise_static_goodput (n_cubes, availability, cubes_each, &goodput, NULL));
  return goodput;
}

#define ck_assert_near(got, expected, distance)                                                                        \
  ck_assert_msg (fabs ((got) - (expected)) <= (distance), "%.17g, expected %.17g", (got), (expected))

/* --- what the papers state --- */

START_TEST (count_promises_130_of_144_cubes_from_the_threshold_on)
{
  ck_assert_uint_eq (count_slices (144, 0.93469, 1, 0, 0.95), 130);
  ck_assert_uint_eq (count_slices (144, 0.9346, 1, 0, 0.95), 129);
}
END_TEST

START_TEST (count_at_99_percent_depends_on_the_hosts)
{
  ck_assert_uint_eq (count_slices (144, cube_of (0.99), 1, 0, 0.99), 112);
  ck_assert_uint_eq (count_slices (144, cube_of (0.995), 1, 0, 0.99), 125);
  ck_assert_uint_eq (count_slices (144, cube_of (0.999), 1, 0, 0.99), 138);
}
END_TEST

START_TEST (count_of_slices_with_four_cubes)
{
  ck_assert_uint_eq (count_slices (144, cube_of (0.999), 4, 0, 0.95), 34);
  ck_assert (probability_of (144, cube_of (0.999), 136) >= 0.95 && probability_of (144, cube_of (0.999), 140) < 0.95);
}
END_TEST

/* The TPU v4 paper: 4,096 chips, hosts that work 99.0, 99.5 and 99.9 % of the time. */
START_TEST (goodput_is_that_of_the_tpu_v4_paper)
{
  static const double hosts[] = { 0.99, 0.995, 0.999 };
  static const struct {
    uint32_t cubes_each;
    double goodput[3];
  } rows[] = {
    { 16, { 0.747, 0.751, 0.840 } },
    { 32, { 0.500, 0.503, 0.679 } },
    { 48, { 0.742, 0.750, 0.750 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint j = 0; j < G_N_ELEMENTS (hosts); j++)
      ck_assert_near (goodput_of (64, cube_of (hosts[j]), rows[i].cubes_each), rows[i].goodput[j], 0.0005);
}
END_TEST

START_TEST (static_goodput_needs_all_hosts_of_a_slice)
{
  static const double hosts[] = { 0.99, 0.995, 0.999 };

  for (guint i = 0; i < G_N_ELEMENTS (hosts); i++)
    for (uint32_t chips = 64; chips <= 4096; chips += 64)
      {
        const uint32_t each = chips / 64;

        ck_assert_near (static_goodput_of (64, cube_of (hosts[i]), each),
                        pow (hosts[i], chips / 4.0) * (double) (64 / each) * (double) each / 64, 1e-12);
        ck_assert (static_goodput_of (64, cube_of (hosts[i]), each)
                   <= goodput_of (64, cube_of (hosts[i]), each) * (1 + 1e-12));
      }
}
END_TEST

/* "Resiliency at Scale", figure 1: the availability of so many cubes of 64, with machines that fail 0.782 % of the
 * time. */
START_TEST (probability_is_that_of_the_resiliency_paper)
{
  static const struct {
    uint32_t cubes;
    double probability;
  } points[] = { { 50, 0.993 }, { 54, 0.871 }, { 56, 0.659 }, { 58, 0.357 }, { 60, 0.113 } };

  for (guint i = 0; i < G_N_ELEMENTS (points); i++)
    ck_assert_near (probability_of (64, cube_of (1 - 0.00782), points[i].cubes), points[i].probability, 0.0005);
}
END_TEST

/* --- exact sums for few cubes --- */

static const double availabilities[] = { 0, 1e-300, 1e-9, 0.01, 0.3, 0.5, 0.75, 0.93469, 0.999, 1 - 1e-12, 1 };

/* The probability that exactly @h of @n cubes work. */
static long double
probability_of_exactly (uint32_t n, double availability, uint32_t h)
{
  long double result = 1;

  for (uint32_t i = 0; i < h; i++)
    result *= (long double) (n - i) / (h - i) * availability;
  for (uint32_t i = h; i < n; i++)
    result *= 1 - (long double) availability;
  return result;
}

START_TEST (probability_and_goodput_are_sums_over_all_cases)
{
  for (guint i = 0; i < G_N_ELEMENTS (availabilities); i++)
    for (uint32_t n = 1; n <= 40; n++)
      {
        const double availability = availabilities[i];
        long double at_least = 0;

        for (uint32_t h = n; h > 0; h--)
          {
            at_least += probability_of_exactly (n, availability, h);
            ck_assert_near (probability_of (n, availability, h), (double) at_least, 1e-14 + (double) at_least * 1e-13);
          }
        for (uint32_t each = 1; each <= n; each++)
          {
            long double goodput = 0;

            for (uint32_t h = 0; h <= n; h++)
              goodput += probability_of_exactly (n, availability, h) * (h / each) * each / n;
            ck_assert_near (goodput_of (n, availability, each), (double) goodput, 1e-15 + (double) goodput * 1e-13);
          }
      }
}
END_TEST

START_TEST (small_probabilities_have_all_digits)
{
  ck_assert_near (probability_of (64, 0.01, 64) / 1e-128, 1.0, 1e-12);
  ck_assert_near (goodput_of (64, 0.01, 64) / 1e-128, 1.0, 1e-12);
}
END_TEST

/* The count is the greatest number that the probability allows. */
START_TEST (count_agrees_with_probability)
{
  static const double confidences[] = { 1e-12, 0.05, 0.49, 0.5, 0.51, 0.9, 0.95, 0.999999 };

  for (guint i = 0; i < G_N_ELEMENTS (availabilities); i++)
    for (guint j = 0; j < G_N_ELEMENTS (confidences); j++)
      for (uint32_t n = 1; n <= 150; n += 7)
        for (uint32_t each = 1; each <= n; each += 3)
          {
            const uint32_t held = n / 4;
            const uint32_t count = count_slices (n, availabilities[i], each, held, confidences[j]);

            ck_assert (count == 0
                       || probability_of (n, availabilities[i], held + count * each) >= confidences[j] - 1e-12);
            ck_assert (probability_of (n, availabilities[i], held + (count + 1) * each) < confidences[j] + 1e-12);
          }
}
END_TEST

/* --- limits --- */

START_TEST (certain_confidence_needs_certain_cubes)
{
  ck_assert_uint_eq (count_slices (144, 1, 4, 0, 1), 36);
  ck_assert_uint_eq (count_slices (144, 1 - 1e-16, 4, 0, 1), 0);
  ck_assert_uint_eq (count_slices (144, 0, 4, 0, 1), 0);
  ck_assert_uint_eq (count_slices (144, 0, 4, 0, 1e-300), 0);
  ck_assert_uint_eq (count_slices (144, 0, 4, 0, 0), 36);
  ck_assert_uint_eq (count_slices (144, 0.5, 4, 100, 0), 11);
}
END_TEST

START_TEST (rounding_of_the_arguments_decides_nothing)
{
  ck_assert_uint_eq (count_slices (1, 0.9, 1, 0, 0.9), 1);
  ck_assert_uint_eq (count_slices (2, 0.9, 1, 0, 0.81), 2);
  ck_assert_uint_eq (count_slices (2, 0.9, 1, 0, 0.99), 1);
  ck_assert_uint_eq (count_slices (2, 0.1, 1, 0, 0.01), 2);
  ck_assert_uint_eq (count_slices (3, 0.1, 1, 0, 0.001), 3);
  ck_assert_uint_eq (count_slices (2, 0.9, 1, 0, 0.8100001), 1);
}
END_TEST

START_TEST (held_cubes_must_work_too)
{
  ck_assert_uint_eq (count_slices (144, 0.93469, 1, 100, 0.95), 30);
  ck_assert_uint_eq (count_slices (144, 0.93469, 4, 100, 0.95), 7);
  ck_assert_uint_eq (count_slices (144, 0.93469, 1, 130, 0.95), 0);
  ck_assert_uint_eq (count_slices (144, 0.93469, 1, 131, 0.95), 0);
  ck_assert_uint_eq (count_slices (144, 0.93469, 1, 144, 0.95), 0);
}
END_TEST

/* For many cubes, the number that works is close to normally distributed. */
START_TEST (many_cubes_follow_the_normal_distribution)
{
  ck_assert_near ((double) count_slices (1000000, 0.5, 1, 0, 0.95), 500000 - 1.6449 * 500, 1.0);
  ck_assert_near ((double) count_slices (1000000, 0.5, 1, 0, 0.05), 500000 + 1.6449 * 500, 1.0);
  ck_assert_near (goodput_of (1000000, 0.25, 1), 0.25, 1e-11);
  ck_assert_near (probability_of (1000000, 0.5, 500000), 0.5 + 0.5 * 0.000797884, 1e-9);
}
END_TEST

/* --- cubes of the catalogue --- */

static uint32_t
cubes_of (const char *generation, const char *shape, GError **error)
{
  return quoit_catalogue_lookup_cubes (quoit_catalogue_lookup_generation (generation, NULL), shape, error);
}

START_TEST (catalogue_counts_the_cubes_of_a_shape)
{
  GError *error = NULL;

  ck_assert_uint_eq (cubes_of ("tpu7x", "4x8x8", &error), 4);
  ck_assert_uint_eq (cubes_of ("v4", "4x4x4", &error), 1);
  ck_assert_uint_eq (cubes_of ("v4", "12x16x16", &error), 48);
  ck_assert_uint_eq (cubes_of ("v5p", "16x16x24", &error), 96);
  ck_assert_uint_eq (cubes_of ("v5p", "8x4x4", &error), 2);
  ck_assert_ok (error);
  ck_assert_uint_eq (cubes_of ("v6e", "4x4", &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_INVALID,
                     "accelerator 'v6e': expected a generation whose slices consist of cubes");
  ck_assert_uint_eq (cubes_of ("v4", "2x2x4", &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "topology '2x2x4': expected whole cubes of 4x4x4");
  ck_assert_uint_eq (cubes_of ("v4", "4x4", &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "'4x4'");
  ck_assert_uint_eq (cubes_of ("v4", "4x4x6", &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "'4x4x6'");
  ck_assert_uint_eq (cubes_of ("v4", "4x4x2147483648", &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "'4x4x2147483648'");
}
END_TEST

/* --- bad input --- */

START_TEST (bad_input_is_refused_and_changes_nothing)
{
  static const struct {
    uint32_t n, each, held;
    double availability, confidence;
    const char *message;
  } rows[] = {
    { 0, 1, 0, 0.5, 0.5, "cubes '0': expected 1 to 1000000 cubes" },
    { 1000001, 1, 0, 0.5, 0.5, "cubes '1000001': expected 1 to 1000000 cubes" },
    { 2147483648U, 1, 0, 0.5, 0.5, "cubes '2147483648'" },
    { 144, 0, 0, 0.5, 0.5, "cubes of each slice '0': expected 1 to 144, the number of cubes" },
    { 144, 145, 0, 0.5, 0.5, "cubes of each slice '145'" },
    { 144, 4294967295U, 0, 0.5, 0.5, "cubes of each slice '4294967295'" },
    { 144, 1, 145, 0.5, 0.5, "held cubes '145': expected at most 144, the number of cubes" },
    { 144, 1, 0, -0.1, 0.5, "availability '-0.1': expected a probability from 0 to 1" },
    { 144, 1, 0, 1 + 2.3e-16, 0.5, "availability '1.0000000000000002'" },
    { 144, 1, 0, NAN, 0.5, "availability 'nan'" },
    { 144, 1, 0, INFINITY, 0.5, "availability 'inf'" },
    { 144, 1, 0, 0.5, -1e-300, "confidence '-1e-300'" },
    { 144, 1, 0, 0.5, 95, "confidence '95'" },
    { 144, 1, 0, 0.5, NAN, "confidence 'nan'" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      uint32_t count = 77;
      double share = 77;
      GError *error = NULL;

      ck_assert (!quoit_promise_count (rows[i].n, rows[i].availability, rows[i].each, rows[i].held, rows[i].confidence,
                                       &count, &error));
      ck_assert_refused (error, QUOIT_ERROR_INVALID, rows[i].message);
      ck_assert_uint_eq (count, 77);
      if (strstr (rows[i].message, "held") != NULL || strstr (rows[i].message, "confidence") != NULL)
        continue;
      ck_assert (!quoit_promise_goodput (rows[i].n, rows[i].availability, rows[i].each, &share, &error));
      ck_assert_refused (error, QUOIT_ERROR_INVALID, rows[i].message);
      ck_assert (!quoit_promise_static_goodput (rows[i].n, rows[i].availability, rows[i].each, &share, &error));
      ck_assert_refused (error, QUOIT_ERROR_INVALID, rows[i].message);
      if (strstr (rows[i].message, "each") == NULL)
        {
          ck_assert (!quoit_promise_probability (rows[i].n, rows[i].availability, 1, &share, &error));
          ck_assert_refused (error, QUOIT_ERROR_INVALID, rows[i].message);
        }
      ck_assert (share == 77);
    }
}
END_TEST

START_TEST (bad_hosts_are_refused)
{
  double availability = 77;
  GError *error = NULL;

  ck_assert (!quoit_promise_availability (1.5, 16, &availability, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "host availability '1.5': expected a probability from 0 to 1");
  ck_assert (!quoit_promise_availability (NAN, 16, &availability, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "host availability 'nan'");
  ck_assert (!quoit_promise_availability (0.5, 0, &availability, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "hosts '0': expected 1 to 1000000 hosts");
  ck_assert (!quoit_promise_availability (0.5, 2147483648U, &availability, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "hosts '2147483648'");
  ck_assert (availability == 77);
  ck_assert (!quoit_promise_availability (0.5, 0, &availability, NULL));
}
END_TEST

START_TEST (more_cubes_than_there_are_never_work)
{
  ck_assert (probability_of (144, 1, 144) == 1);
  ck_assert (probability_of (144, 1, 145) == 0);
  ck_assert (probability_of (144, 0, 0) == 1);
  ck_assert (probability_of (144, 0.5, UINT32_MAX) == 0);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("promise");
  TCase *papers = tcase_create ("papers");
  TCase *sums = tcase_create ("sums");
  TCase *limits = tcase_create ("limits");

  suite_add_tcase (suite, papers);
  tcase_add_test (papers, count_promises_130_of_144_cubes_from_the_threshold_on);
  tcase_add_test (papers, count_at_99_percent_depends_on_the_hosts);
  tcase_add_test (papers, count_of_slices_with_four_cubes);
  tcase_add_test (papers, goodput_is_that_of_the_tpu_v4_paper);
  tcase_add_test (papers, static_goodput_needs_all_hosts_of_a_slice);
  tcase_add_test (papers, probability_is_that_of_the_resiliency_paper);
  suite_add_tcase (suite, sums);
  tcase_add_test (sums, probability_and_goodput_are_sums_over_all_cases);
  tcase_add_test (sums, small_probabilities_have_all_digits);
  tcase_add_test (sums, count_agrees_with_probability);
  suite_add_tcase (suite, limits);
  tcase_add_test (limits, certain_confidence_needs_certain_cubes);
  tcase_add_test (limits, rounding_of_the_arguments_decides_nothing);
  tcase_add_test (limits, held_cubes_must_work_too);
  tcase_add_test (limits, many_cubes_follow_the_normal_distribution);
  tcase_add_test (limits, catalogue_counts_the_cubes_of_a_shape);
  tcase_add_test (limits, bad_input_is_refused_and_changes_nothing);
  tcase_add_test (limits, bad_hosts_are_refused);
  tcase_add_test (limits, more_cubes_than_there_are_never_work);
  return suite_main (suite);
}

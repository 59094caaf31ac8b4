/* SPDX-License-Identifier: Apache-2.0 */
/* The Ray layer beyond the vectors: its helpers, its refusals, and its agreement with the catalogue. */
#include <json-glib/json-glib.h>
#include <string.h>

#include <quoit/models/ray-tpu.h>

#include "suite.h"
#include "catalogue/catalogue.h"
#include "base/python.h"

static const struct {
  const char *text, *lower, *stripped;
} texts[] = {
  { "TPU-V6E", "tpu-v6e", "TPU-V6E" },
  { " \t4X4\r\n", " \t4x4\r\n", "4X4" },
  { "\x1c\x1f"
    "a",
    "\x1c\x1f"
    "a",
    "a" },
  { "\xc2\x85\xe3\x80\x80v4\xc2\xa0", "\xc2\x85\xe3\x80\x80v4\xc2\xa0", "v4" },
  { "\xe2\x80\x8bv4", "\xe2\x80\x8bv4", "\xe2\x80\x8bv4" }, /* a zero-width space is not a space */
  { "\xc4\xb0", "i\xcc\x87", "\xc4\xb0" },                  /* I with a dot: two characters */
  { "\xe2\x84\xaa", "k", "\xe2\x84\xaa" },                  /* the sign of the kelvin */
  { "\xe2\x85\xa3", "\xe2\x85\xb3", "\xe2\x85\xa3" },       /* a Roman numeral */
  { "A\xce\xa3", "a\xcf\x82", "A\xce\xa3" },                /* sigma at the end */
  { "A\xce\xa3.B", "a\xcf\x83.b", "A\xce\xa3.B" },          /* and within a word */
  { "\xce\xa3", "\xcf\x83", "\xce\xa3" },
  { "v\xff", "v\xef\xbf\xbd", "v\xef\xbf\xbd" },
  { "", "", "" },
  { " \n", " \n", "" },
};

START_TEST (text_is_lowercased_and_stripped_as_in_python)
{
  g_autofree char *lower = quoit_python_lower (texts[_i].text), *stripped = quoit_python_strip (texts[_i].text);

  ck_assert_str_eq (lower, texts[_i].lower);
  ck_assert_str_eq (stripped, texts[_i].stripped);
}
END_TEST

static const struct {
  const char *text, *value; /* NULL: refused */
} integers[] = {
  { "4", "4" },
  { "-4", "-4" },
  { "+4", "4" },
  { "-0", "0" },
  { "007", "7" },
  { "1_6", "16" },
  { "0_0", "0" },
  { " 4\n", "4" },
  { "\xc2\x85"
    "5",
    "5" },
  { "\xd9\xa4", "4" },              /* an Arabic digit */
  { "\xef\xbc\x94\xd9\xa5", "45" }, /* scripts may be mixed */
  { "99999999999999999999", "99999999999999999999" },
  { "1111111111111111111111111111111111111111", "1111111111111111111111111111111111111111" },
  { "", NULL },
  { " ", NULL },
  { "-", NULL },
  { "- 4", NULL },
  { "+-4", NULL },
  { "_4", NULL },
  { "4_", NULL },
  { "1__6", NULL },
  { "-_4", NULL },
  { "4 4", NULL },
  { "4.0", NULL },
  { "0x4", NULL },
  { "\x1c"
    "4",
    NULL },             /* strip() treats it as a space, int() does not */
  { "\xc2\xb2", NULL }, /* a superscript is a digit, but not a decimal one */
  { "\xe2\x88\x92"
    "4",
    NULL },
  { "4\xff", NULL },
};

START_TEST (integer_is_parsed_as_in_python)
{
  GError *error = NULL;
  g_autoptr (QuoitBig) big = quoit_python_int (integers[_i].text, "number", &error);
  g_autofree char *text = NULL;

  if (integers[_i].value == NULL)
    {
      ck_assert_ptr_null (big);
      ck_assert_refused (error, QUOIT_ERROR_INVALID, "expected an integer");
      return;
    }
  ck_assert_ok (error);
  text = quoit_big_format (big);
  ck_assert_str_eq (text, integers[_i].value);
}
END_TEST

START_TEST (integer_with_more_digits_than_python_accepts_is_refused)
{
  GError *error = NULL;
  g_autofree char *digits = g_strnfill (QUOIT_BIG_MAX_DIGITS + 1, '7');
  g_autoptr (QuoitBig) longer = quoit_python_int (digits, "number", &error), longest = NULL;

  ck_assert_ptr_null (longer);
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "at most 4300 digits");
  longest = quoit_python_int (digits + 1, "number", &error);
  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_big_n_digits (longest), QUOIT_BIG_MAX_DIGITS);
}
END_TEST

/* 128-bit arithmetic gives the expected values. */
START_TEST (products_and_quotients_of_random_numbers_are_exact)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (20260);

  for (unsigned i = 0; i < 20000; i++)
    {
      unsigned shift_a = (unsigned) g_rand_int_range (random, 0, 63),
               shift_b = (unsigned) g_rand_int_range (random, 0, 63);
      int64_t a = (int64_t) (((guint64) g_rand_int (random) << 32 | g_rand_int (random)) >> shift_a);
      int64_t b = (int64_t) (((guint64) g_rand_int (random) << 32 | g_rand_int (random)) >> shift_b);
      int64_t divisor = (int64_t) (g_rand_int (random) >> g_rand_int_range (random, 0, 31)) | 1, rest, back;
      g_autoptr (QuoitBig) x = quoit_big_from_int (a), y = quoit_big_from_int (b);
      g_autoptr (QuoitBig) product = quoit_big_multiply (x, y), quotient = NULL, product_again = NULL, d = NULL;
      __int128 expected = (__int128) a * b, floor = expected / divisor - (expected % divisor < 0), low;

      quotient = quoit_big_divide (product, divisor, &rest);
      ck_assert_int_eq (rest, (int64_t) (expected - floor * divisor));
      ck_assert_int_eq (quoit_big_to_int (product, &back), expected >= INT64_MIN && expected <= INT64_MAX);
      if (quoit_big_to_int (product, &back))
        ck_assert (back == (int64_t) expected);
      d = quoit_big_from_int (divisor);
      product_again = quoit_big_multiply (quotient, d);
      low = expected - rest;
      ck_assert_int_eq (quoit_big_sign (product_again), (low > 0) - (low < 0));
      if (quoit_big_to_int (product_again, &back))
        ck_assert (back == (int64_t) low);
    }
}
END_TEST

/* Likewise, around and beyond 64 bits. */
START_TEST (sums_and_comparisons_of_random_numbers_are_exact)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (20261);

  for (unsigned i = 0; i < 20000; i++)
    {
      unsigned shift_a = (unsigned) g_rand_int_range (random, 0, 63),
               shift_b = (unsigned) g_rand_int_range (random, 0, 63);
      int64_t a = (int64_t) (((guint64) g_rand_int (random) << 32 | g_rand_int (random)) >> shift_a);
      int64_t b = (int64_t) (((guint64) g_rand_int (random) << 32 | g_rand_int (random)) >> shift_b), rest;
      guint32 n = g_rand_int (random) >> g_rand_int_range (random, 0, 32), m = g_rand_int (random) >> 30;
      g_autoptr (QuoitBig) x = quoit_big_from_int (a), y = quoit_big_from_int (b), ten = quoit_big_from_int (INT64_MAX);
      g_autoptr (QuoitBig) p = quoit_big_multiply (x, ten),
                           q = m > 0 ? quoit_big_add (p, m) : quoit_big_multiply (y, ten);
      g_autoptr (QuoitBig) small = quoit_big_add (x, n), large = quoit_big_add (p, n), again = NULL;
      __int128 wide = (__int128) a * INT64_MAX, other = m > 0 ? wide + m : (__int128) b * INT64_MAX;
      __int128 sum = wide + n, floor = sum / 1000003 - (sum % 1000003 < 0);
      int64_t back;

      ck_assert_int_eq (quoit_big_compare (x, y), (a > b) - (a < b));
      ck_assert_int_eq (quoit_big_compare (p, q), (wide > other) - (wide < other));
      ck_assert_int_eq (quoit_big_to_int (small, &back), (__int128) a + n <= INT64_MAX);
      if (quoit_big_to_int (small, &back))
        ck_assert (back == a + (int64_t) n);
      again = quoit_big_divide (large, 1000003, &rest);
      ck_assert_int_eq (rest, (int64_t) (sum - floor * 1000003));
      ck_assert_int_eq (quoit_big_sign (large), (sum > 0) - (sum < 0));
      ck_assert_int_eq (quoit_big_compare (large, p), n > 0);
      if (quoit_big_to_int (again, &back))
        ck_assert (back == (int64_t) floor);
    }
}
END_TEST

START_TEST (sum_carries_and_borrows_through_all_digits)
{
  g_autofree char *nines = g_strnfill (90, '9');
  g_autoptr (QuoitBig) large = quoit_big_from_digits (nines, 90, 1), more = quoit_big_add (large, 1), less = NULL;
  g_autoptr (QuoitBig) back = NULL;
  g_autofree char *text = quoit_big_format (more), *again = NULL;

  ck_assert_uint_eq (strlen (text), 91);
  ck_assert_uint_eq (strspn (text, "1"), 1);
  ck_assert_uint_eq (strspn (text + 1, "0"), 90);
  less = quoit_big_from_digits (text, 91, -1);
  back = quoit_big_add (less, 1);
  again = quoit_big_format (back);
  ck_assert_int_eq (*again, '-');
  ck_assert_str_eq (again + 1, nines);
}
END_TEST

START_TEST (limits_of_64_bits_are_kept)
{
  static const int64_t values[] = { INT64_MIN, INT64_MIN + 1, -1000000000, -1, 0, 1, 999999999, 1000000000, INT64_MAX };

  for (unsigned i = 0; i < G_N_ELEMENTS (values); i++)
    {
      g_autoptr (QuoitBig) big = quoit_big_from_int (values[i]);
      g_autofree char *text = quoit_big_format (big), *expected = g_strdup_printf ("%" G_GINT64_FORMAT, values[i]);
      int64_t back;

      ck_assert (quoit_big_to_int (big, &back));
      ck_assert_int_eq (back, values[i]);
      ck_assert_str_eq (text, expected);
    }
}
END_TEST

static const struct {
  const char *topology, *type, *pod_type; /* NULL and an error: refused */
  const char *expected;
} pod_types[] = {
  { "2x2x2", "TPU-V4", "v4-16", NULL },
  { " 4 x 4 ", "v6e", "v6e-16", NULL },
  { "-4x4", "v6e", "v6e--16", NULL },
  { "4x4", "v2-16", "v2-16-32", NULL },
  { "99999999999x99999999999x99999999999x99999999999", "v6e", "v6e-99999999996000000000059999999999600000000001",
    NULL },
  { "0x99999999999999999999", "v4", "v4-0", NULL },
  { NULL, "v4", NULL, NULL },
  { "", "v4", NULL, NULL },
  { "4x4", "", NULL, NULL },
  { "4xa", "v4", NULL,
    "pod type of topology '4xa' and type 'v4': topology '4xa': place 2: number 'a': expected an integer" },
  { "4x4", "tpu6e", NULL, "type 'tpu6e': accelerator type 'tpu6e': expected a text that begins with one of v2" },
  { "4x4", "TPU", NULL, "expected a text that begins with one of" },
};

START_TEST (pod_type_is_formatted_absent_or_refused)
{
  GError *error = NULL;
  g_autofree char *got = quoit_ray_pod_type (pod_types[_i].topology, pod_types[_i].type, &error);

  ck_assert_pstr_eq (got, pod_types[_i].pod_type);
  if (pod_types[_i].expected != NULL)
    ck_assert_refused (error, QUOIT_ERROR_INVALID, pod_types[_i].expected);
  else
    ck_assert_ok (error);
}
END_TEST

/* Integers beyond C's range, and Ray's exceptions: refused, and nothing is written. */
static const struct {
  bool (*function) (const char *, int64_t *, GError **);
  const char *text, *expected;
} refusals[] = {
  { quoit_ray_chips_from_topology, "4294967296x4294967296", "a number of chips that fits in 64 bits" },
  { quoit_ray_chips_from_topology, "-9223372036854775808x-1", "a number of chips that fits in 64 bits" },
  { quoit_ray_chips_from_topology, "4x", "place 2: number '': expected an integer" },
  { quoit_ray_chips_from_topology, "", "place 1: number '': expected an integer" },
  { quoit_ray_chips_from_topology, NULL, "topology: expected a text, none is given" },
  { quoit_ray_cores_per_chip, "tpu7x", "accelerator type 'tpu7x': expected a text that begins with" },
  { quoit_ray_cores_per_chip, NULL, "accelerator type: expected a text" },
  { quoit_ray_chips_from_type, "v6e", "expected a number of cores behind a dash" },
  { quoit_ray_chips_from_type, "v6e-x", "number of cores 'x': expected an integer" },
  { quoit_ray_chips_from_type, "v6e-9223372036854775808", "a number of chips that fits in 64 bits" },
  { quoit_ray_visible_chips_per_host, "v6e-", "expected an integer" },
  { quoit_ray_resource_per_chip, "0", "RAY_TPU_RESOURCE_PER_CHIP '0': expected decimal digits, 1 or more" },
  { quoit_ray_resource_per_chip, "", "expected decimal digits" },
  { quoit_ray_resource_per_chip, "1_0", "expected decimal digits" },
  { quoit_ray_resource_per_chip, "99999999999999999999", "expected decimal digits" },
};

START_TEST (invalid_input_is_refused_and_results_are_unchanged)
{
  GError *error = NULL;
  int64_t number = 77;

  ck_assert (!refusals[_i].function (refusals[_i].text, &number, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, refusals[_i].expected);
  ck_assert_int_eq (number, 77);
}
END_TEST

START_TEST (topology_of_a_megabyte_is_refused_in_bounded_time)
{
  g_autoptr (GString) topology = g_string_new ("9");
  GError *error = NULL;
  int64_t n;

  for (unsigned i = 0; i < 500000; i++)
    g_string_append (topology, "x9");
  ck_assert (!quoit_ray_chips_from_topology (topology->str, &n, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "at most 10^4300 chips");
  g_string_append (topology, "x0");
  ck_assert (quoit_ray_chips_from_topology (topology->str, &n, &error));
  ck_assert_int_eq (n, 0);
}
END_TEST

static char *
format_worker (const QuoitRayResources *worker, int64_t n_workers)
{
  GString *text = g_string_new (NULL);
  const char *name;

  g_string_append_printf (text, "%" G_GINT64_FORMAT, (gint64) n_workers);
  for (unsigned i = 0; (name = quoit_ray_resources_get_name (worker, i)) != NULL; i++)
    g_string_append_printf (text, " %s=%g", name, quoit_ray_resources_get_amount (worker, i));
  return g_string_free (text, FALSE);
}

static const struct {
  const char *topology, *type;
  double tpu;                             /* 0: not requested */
  int64_t n_slices, chips_per_vm, factor; /* -99: not given */
  const char *expected;
} workers[] = {
  { "4x4", "v6e", 0, 1, -99, -99, "4 CPU=1 TPU=4" },
  { "4x4", "TPU-V6E", 0, 2, -99, -99, "8 CPU=1 TPU=4" },
  { "2x4", "v6e", 0, 1, -99, -99, "1 CPU=1 TPU=8" },
  { "2x4", "v6e", 0, 1, 4, -99, "2 CPU=1 TPU=4" },
  { "2x2x2", "v7x", 0, 1, -99, 2, "2 CPU=1 TPU=8" },
  { "4x4", "v6e", 0.5, 1, -99, -99, "32 TPU=0.5 CPU=1" },
  { "4x4", "v6e", 0, 0, -99, -99, "0 CPU=1 TPU=4" },
  { "4x4", "v6e", 0, -1, -99, -99, "-4 CPU=1 TPU=4" },
  { "4294967296x4294967296", "v6e", 0, 1, -99, -99, "4611686018427387904 CPU=1 TPU=4" },
  { "4x4", "v6e", 0.1, 1, -99, -99, "TPU of a worker '0.1" },
  { "4x4", "v6e", 3, 3, -99, -99, "expected a number that divides the 16 TPU of a slice" },
  { "4x4", "v6e", -4, 1, -99, -99, "TPU of a worker '-4': expected more than 0" },
  { "4x4", "v6e", 0.0 / 0.0, 1, -99, -99, "expected more than 0" },
  { "4x4", "v6e", 1.0 / 0.0, 1, -99, -99, "expected a number that divides" },
  { "0x4", "v6e", 1.0 / 0.0, 1, -99, -99, "0 TPU=inf CPU=1" },
  { "4x4", "v6e", 0, 1, 0, -99, "chips per VM '0': expected 1 or more" },
  { "4x4", "v6e", 0, 1, -99, -1, "TPU per chip '-1': expected 1 or more" },
  { "4x4", "v6e-16", 0, 1, -99, -99, "accelerator type 'v6e-16': expected 'TPU-' and a generation, or one of" },
  { "4xq", "v6e", 0, 1, -99, -99, "topology '4xq': place 2" },
  { "99999999999999999999x4", "v6e", 0, 1, -99, -99, "a number of workers that fits in 64 bits" },
};

START_TEST (workers_are_counted_as_ray_counts_them)
{
  g_autoptr (QuoitRayResources) wanted = quoit_ray_resources_new (), got = NULL;
  GError *error = NULL;
  int64_t n = 77;

  if (workers[_i].tpu != 0)
    quoit_ray_resources_set (wanted, "TPU", workers[_i].tpu);
  got = quoit_ray_worker_resources (workers[_i].topology, workers[_i].type, wanted, workers[_i].n_slices,
                                    workers[_i].chips_per_vm != -99 ? &workers[_i].chips_per_vm : NULL,
                                    workers[_i].factor != -99 ? &workers[_i].factor : NULL, &n, &error);
  if (got == NULL)
    {
      ck_assert_int_eq (n, 77);
      ck_assert_refused (error, QUOIT_ERROR_INVALID, workers[_i].expected);
      return;
    }
  g_autofree char *text = format_worker (got, n);

  ck_assert_ok (error);
  ck_assert_str_eq (text, workers[_i].expected);
}
END_TEST

START_TEST (slices_for_workers_never_fails)
{
  int64_t factor = 0;

  ck_assert_int_eq (quoit_ray_slices_for_workers ("4x4", "v6e", 5, NULL, NULL), 2);
  ck_assert_int_eq (quoit_ray_slices_for_workers ("4x4", "v6e", -5, NULL, NULL), 1);
  ck_assert_int_eq (quoit_ray_slices_for_workers (NULL, "v6e", 5, NULL, NULL), 1);
  ck_assert_int_eq (quoit_ray_slices_for_workers ("4x4", "", 5, NULL, NULL), 1);
  ck_assert_int_eq (quoit_ray_slices_for_workers ("4x4", "v9", 5, NULL, NULL), 1);
  ck_assert_int_eq (quoit_ray_slices_for_workers ("4x4", "v6e", 500, NULL, &factor), 1);
  ck_assert_int_eq (quoit_ray_slices_for_workers ("0x4", "v6e", 500, NULL, NULL), 1);
  ck_assert_int_eq (quoit_ray_slices_for_workers ("1x1", "v6e", INT64_MAX, NULL, NULL), INT64_MAX);
}
END_TEST

START_TEST (resources_keep_their_order_and_their_last_amount)
{
  g_autoptr (QuoitRayResources) resources = quoit_ray_resources_new ();
  g_autofree char *text = NULL;

  quoit_ray_resources_set (resources, "TPU", 4);
  quoit_ray_resources_set (resources, "CPU", 1);
  quoit_ray_resources_set (resources, "TPU", 8);
  text = format_worker (resources, 0);
  ck_assert_str_eq (text, "0 TPU=8 CPU=1");
  ck_assert_ptr_null (quoit_ray_resources_get_name (resources, 2));
  ck_assert (quoit_ray_resources_get_amount (resources, 2) == 0);
  quoit_ray_resources_free (NULL);
}
END_TEST

/* Compares the column "ray get_chips_per_host" of the recorded catalogue, and the letter R, with Ray's own list. */
START_TEST (ray_and_the_catalogue_agree_on_every_row)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autofree char *path = g_build_filename (g_getenv ("top_srcdir"), "tests/data/tpu-catalogue.json", NULL);
  JsonObject *topologies;
  GError *error = NULL;

  ck_assert (json_parser_load_from_file (parser, path, &error));
  topologies = json_object_get_object_member (json_node_get_object (json_parser_get_root (parser)), "topologies");
  for (QuoitGeneration g = 1; g < QUOIT_N_GENERATIONS; g++)
    {
      const QuoitGenerationFacts *facts = quoit_generation_facts (g);
      JsonArray *rows = json_object_get_array_member (topologies, facts->id);

      for (unsigned i = 0; i < json_array_get_length (rows); i++)
        {
          JsonArray *row = json_array_get_array_element (rows, i);
          const char *topology = json_array_get_string_element (row, 0);
          int64_t n = 0;

          ck_assert_int_eq (quoit_ray_topology_is_valid (facts->ray_version, topology),
                            strchr (json_array_get_string_element (row, 12), 'R') != NULL);
          if (json_array_get_null_element (row, 7))
            {
              ck_assert_ptr_null (facts->ray_version);
              continue;
            }
          ck_assert (quoit_ray_chips_per_host (topology, facts->ray_version, &n, &error));
          ck_assert_int_eq (n, json_array_get_int_element (row, 7));
        }
    }
}
END_TEST

START_TEST (every_topology_of_ray_is_in_the_catalogue)
{
  static const struct {
    const char *version;
    unsigned count;
  } counts[]
      = { { "v2", 5 }, { "v3", 7 }, { "v4", 40 }, { "v5p", 100 }, { "v5litepod", 9 }, { "v6e", 9 }, { "v7x", 10 } };

  for (unsigned i = 0; i < G_N_ELEMENTS (counts); i++)
    {
      QuoitGeneration generation;
      unsigned n = 0;
      char *text;

      ck_assert (quoit_generation_parse (counts[i].version, &generation, NULL));
      for (; (text = quoit_ray_dup_valid_topology (counts[i].version, n)) != NULL; n++)
        {
          g_autofree char *topology = text;
          GError *error = NULL;
          QuoitShape shape;

          ck_assert (quoit_shape_parse (topology, &shape, &error));
          ck_assert (quoit_shape_check (generation, shape, &error));
          ck_assert (quoit_ray_topology_is_valid (counts[i].version, topology));
        }
      ck_assert_uint_eq (n, counts[i].count);
    }
  ck_assert_ptr_null (quoit_ray_dup_valid_topology ("tpu7", 0));
  ck_assert_ptr_null (quoit_ray_dup_valid_topology ("V4", 0));
}
END_TEST

START_TEST (the_coordinator_has_four_variables)
{
  g_auto (GStrv) env = quoit_ray_coordinator_env ("h", 2, 1, NULL);
  g_autofree char *text = g_strjoinv (" ", env);

  ck_assert_str_eq (text, "MEGASCALE_COORDINATOR_ADDRESS=h MEGASCALE_PORT=8081 MEGASCALE_NUM_SLICES=2 "
                          "MEGASCALE_SLICE_ID=1");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("ray");
  TCase *tcase = tcase_create ("ray");

  tcase_set_timeout (tcase, 60);
  tcase_add_loop_test (tcase, text_is_lowercased_and_stripped_as_in_python, 0, G_N_ELEMENTS (texts));
  tcase_add_loop_test (tcase, integer_is_parsed_as_in_python, 0, G_N_ELEMENTS (integers));
  tcase_add_test (tcase, integer_with_more_digits_than_python_accepts_is_refused);
  tcase_add_test (tcase, products_and_quotients_of_random_numbers_are_exact);
  tcase_add_test (tcase, sums_and_comparisons_of_random_numbers_are_exact);
  tcase_add_test (tcase, sum_carries_and_borrows_through_all_digits);
  tcase_add_test (tcase, limits_of_64_bits_are_kept);
  tcase_add_loop_test (tcase, pod_type_is_formatted_absent_or_refused, 0, G_N_ELEMENTS (pod_types));
  tcase_add_loop_test (tcase, invalid_input_is_refused_and_results_are_unchanged, 0, G_N_ELEMENTS (refusals));
  tcase_add_test (tcase, topology_of_a_megabyte_is_refused_in_bounded_time);
  tcase_add_loop_test (tcase, workers_are_counted_as_ray_counts_them, 0, G_N_ELEMENTS (workers));
  tcase_add_test (tcase, slices_for_workers_never_fails);
  tcase_add_test (tcase, resources_keep_their_order_and_their_last_amount);
  tcase_add_test (tcase, ray_and_the_catalogue_agree_on_every_row);
  tcase_add_test (tcase, every_topology_of_ray_is_in_the_catalogue);
  tcase_add_test (tcase, the_coordinator_has_four_variables);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}

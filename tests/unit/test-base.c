/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "suite.h"
#include "base/amount.h"
#include "base/dns.h"
#include "base/name-hash.h"
#include "base/natural.h"
#include "base/sha256.h"
#include "base/strings.h"
#include "base/time.h"

/* Measured on Ray 2.60 (ray-scheduling 1): the product is truncated, not rounded. */
static const struct {
  double value;
  int64_t e4;
} cuts[] = {
  { 0.57, 5699 },
  { 0.69, 6899 },
  { 0.043, 429 },
  { 0.051, 509 },
  { 0.0003, 2 },
  { 0.0006, 5 },
  { 0.0012, 11 },
  { 0.0029, 28 },
  { 0.1, 1000 },
  { 0.1 + 0.2, 3000 },
  { 1.0 / 3, 3333 },
  { 1.1, 11000 },
  { 4.35, 43500 },
  { 5e-5, 0 },
  { 4, 40000 },
  { 0, 0 },
  { 9.2e14, 9200000000000000000 },
};

START_TEST (a_double_is_cut_to_ten_thousandths_as_ray_does)
{
  g_autoptr (GError) error = NULL;
  QuoitAmount amount;

  ck_assert (quoit_amount_from_double (cuts[_i].value, &amount, &error));
  ck_assert_int_eq (amount.e4, cuts[_i].e4);
}
END_TEST

static const struct {
  double value;
  const char *expected;
} bad_doubles[] = {
  { -1, "not negative" }, { 0.0 / 0.0, "finite" }, { 1.0 / 0.0, "finite" },
  { 1e15, "less than" },  { 1e308, "less than" },
};

START_TEST (a_double_that_ray_would_lose_is_refused)
{
  GError *error = NULL;
  QuoitAmount amount = { 77 };

  ck_assert (!quoit_amount_from_double (bad_doubles[_i].value, &amount, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, bad_doubles[_i].expected);
  ck_assert_int_eq (amount.e4, 77);
}
END_TEST

static const struct {
  const char *text;
  int64_t e4; /* -1: refused */
  const char *back;
} texts[] = {
  { "4", 40000, "4" },
  { "0.5", 5000, "0.5" },
  { "1.0001", 10001, "1.0001" },
  { "0.10", 1000, "0.1" },
  { "0.00010000", 1, "0.0001" },
  { "007", 70000, "7" },
  { "922337203685477.5807", INT64_MAX, "922337203685477.5807" },
  { "0.57", 5700, "0.57" },
  { "922337203685477.5808", -1, "less than" },
  { "99999999999999999999", -1, "less than" },
  { "0.00001", -1, "finer" },
  { "-1", -1, "not negative" },
  { "", -1, "decimal number" },
  { ".5", -1, "decimal number" },
  { "5.", -1, "behind the point" },
  { "1e3", -1, "decimal number" },
  { "nan", -1, "decimal number" },
  { " 1", -1, "decimal number" },
  { "1 ", -1, "decimal number" },
  { "0x10", -1, "decimal number" },
};

START_TEST (decimal_text_is_read_exactly_or_refused)
{
  GError *error = NULL;
  QuoitAmount amount;
  gboolean ok = quoit_amount_parse (texts[_i].text, &amount, &error);

  if (texts[_i].e4 < 0)
    {
      ck_assert (!ok);
      ck_assert_refused (error, QUOIT_ERROR_INVALID, texts[_i].back);
      return;
    }
  g_autofree char *back = NULL;

  ck_assert_ok (error);
  ck_assert_int_eq (amount.e4, texts[_i].e4);
  back = quoit_amount_format (amount);
  ck_assert_str_eq (back, texts[_i].back);
}
END_TEST

START_TEST (sum_of_250000_terabytes_is_exact)
{
  QuoitAmount tb = quoit_amount_from_int (1099511627776);
  g_autofree char *one_by_one = NULL, *at_once = NULL;
  QuoitSum sum = { 0 };

  for (unsigned i = 0; i < 250000; i++)
    sum = quoit_sum_add (sum, tb);
  one_by_one = quoit_sum_format (sum);
  at_once = quoit_sum_format (quoit_sum_add_times ((QuoitSum) { 0 }, tb, 250000));
  ck_assert_str_eq (one_by_one, "274877906944000000");
  ck_assert_str_eq (at_once, "274877906944000000");
}
END_TEST

START_TEST (adding_amounts_beyond_63_bits_is_refused)
{
  GError *error = NULL;
  QuoitAmount sum = { 1 };

  ck_assert (!quoit_amount_add ((QuoitAmount) { INT64_MAX }, (QuoitAmount) { 1 }, &sum, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "too large");
  ck_assert_int_eq (sum.e4, 1);
}
END_TEST

/* Each pair is in order; the test also checks the reverse. */
static const char *const in_order[][2] = {
  { "host-9", "host-10" },
  { "a", "b" },
  { "a", "a0" },
  { "a1", "a01x" },
  { "a01", "a1" },
  { "", "a" },
  { "a2b10", "a10b2" },
  { "a-1", "a1" },
  { "9", "a" },
  { "x1y", "x1z" },
  { "99999999999999999999999", "100000000000000000000000" },
};

START_TEST (digits_compare_as_numbers_and_the_order_is_total)
{
  ck_assert_int_lt (quoit_natural_compare (in_order[_i][0], in_order[_i][1]), 0);
  ck_assert_int_gt (quoit_natural_compare (in_order[_i][1], in_order[_i][0]), 0);
  ck_assert_int_eq (quoit_natural_compare (in_order[_i][0], in_order[_i][0]), 0);
}
END_TEST

START_TEST (natural_order_is_transitive_on_all_short_texts)
{
  static const char letters[] = "019a-";
  char text[31][4];
  unsigned n = 0;

  strcpy (text[n++], "");
  for (unsigned i = 0; i < 5; i++)
    {
      g_snprintf (text[n++], 4, "%c", letters[i]);
      for (unsigned j = 0; j < 5; j++)
        g_snprintf (text[n++], 4, "%c%c", letters[i], letters[j]);
    }
  for (unsigned a = 0; a < n; a++)
    for (unsigned b = 0; b < n; b++)
      {
        int ab = quoit_natural_compare (text[a], text[b]);

        ck_assert_int_eq (ab == 0, a == b);
        for (unsigned c = 0; c < n; c++)
          if (ab < 0 && quoit_natural_compare (text[b], text[c]) < 0)
            ck_assert_int_lt (quoit_natural_compare (text[a], text[c]), 0);
      }
}
END_TEST

START_TEST (equal_texts_have_one_id_after_table_growth)
{
  g_autoptr (QuoitStrings) strings = quoit_strings_new (0, 0);
  QuoitStringId id;

  for (unsigned round = 0; round < 2; round++)
    for (unsigned i = 0; i < 5000; i++)
      {
        g_autofree char *text = g_strdup_printf ("name-%u", i);

        id = quoit_strings_intern (strings, text);
        ck_assert_uint_eq (id.index, i + 1);
        ck_assert_str_eq (quoit_strings_get (strings, id), text);
      }
  ck_assert_uint_eq (quoit_strings_count (strings), 5001);
  ck_assert (quoit_strings_find (strings, "name-42", &id));
  ck_assert_uint_eq (id.index, 43);
  ck_assert (!quoit_strings_find (strings, "name-4", &id) || id.index == 5);
  ck_assert (!quoit_strings_find (strings, "never", &id));
  ck_assert_uint_eq (quoit_strings_intern (strings, "").index, 0);
  ck_assert_uint_eq (quoit_strings_intern_n (strings, "name-42xyz", 7).index, 43);
}
END_TEST

enum { N_CHOSEN = 4096, CHOSEN_BYTES = 16, N_CHOSEN_SLOTS = 2 * N_CHOSEN };

/* Writes a text that has the same quoit_hash_bytes() as all others: the second word takes the state after the first one
 * to the same value. */
static void
choose_name (unsigned number, char name[CHOSEN_BYTES])
{
  const guint64 multiplier = G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  g_autofree char *first = g_strdup_printf ("%08x", number);
  guint64 word, state;

  memcpy (&word, first, sizeof word);
  state = (CHOSEN_BYTES * multiplier ^ word) * multiplier;
  state ^= state >> 29;
  word = state ^ G_GUINT64_CONSTANT (0x0123456789abcdef);
  memcpy (name, first, 8);
  memcpy (name + 8, &word, 8);
}

/* Returns how many slots a table with open addressing reads while all chosen names are added. */
static unsigned
count_probes (guint64 (*hash) (const char *bytes, gsize length))
{
  g_autofree gboolean *is_used = g_new0 (gboolean, N_CHOSEN_SLOTS);
  unsigned n = 0;

  for (unsigned i = 0; i < N_CHOSEN; i++)
    {
      char name[CHOSEN_BYTES];
      unsigned slot;

      choose_name (i, name);
      slot = (guint32) hash (name, sizeof name) % N_CHOSEN_SLOTS;
      for (n++; is_used[slot]; n++)
        slot = (slot + 1) % N_CHOSEN_SLOTS;
      is_used[slot] = TRUE;
    }
  return n;
}

START_TEST (chosen_names_do_not_make_searches_long)
{
  ck_assert_uint_eq (count_probes (quoit_hash_bytes), N_CHOSEN * (N_CHOSEN + 1) / 2);
  ck_assert_uint_lt (count_probes (quoit_hash_name), 3 * N_CHOSEN);
}
END_TEST

START_TEST (the_hash_of_a_name_depends_on_each_byte_and_the_length)
{
  char zeros[40] = { 0 };
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);

  for (unsigned length = 0; length <= sizeof zeros; length++)
    {
      guint64 hash = quoit_hash_name (zeros, length);

      ck_assert (g_hash_table_add (seen, g_memdup2 (&hash, sizeof hash)));
      for (unsigned i = 0; i < length; i++)
        {
          zeros[i] = 'a';
          hash = quoit_hash_name (zeros, length);
          zeros[i] = 0;
          ck_assert (g_hash_table_add (seen, g_memdup2 (&hash, sizeof hash)));
        }
    }
  ck_assert_uint_eq (quoit_hash_text ("train"), (guint) quoit_hash_name ("train", 5));
}
END_TEST

START_TEST (every_error_code_has_a_unique_name_and_number)
{
  unsigned n;
  const QuoitErrorRow *rows = quoit_error_table (&n);

  ck_assert_uint_eq (n, 15);
  for (unsigned i = 0; i < n; i++)
    {
      ck_assert_int_eq (rows[i].code, i + 1);
      ck_assert_str_eq (quoit_error_code_name (rows[i].code), rows[i].nick);
    }
  ck_assert_str_eq (quoit_error_code_name ((QuoitErrorCode) 99), "FAILED");
}
END_TEST

START_TEST (error_messages_escape_control_bytes)
{
  g_autoptr (GError) error = NULL;

  ck_assert (!quoit_fail (&error, QUOIT_ERROR_INVALID, "node '%s' of '%s'", "a\n\x1b[1m\xff\\", "b\u202e\u00e9"));
  ck_assert_str_eq (error->message, "node 'a\\n\\u{1b}[1m\\xff\\' of 'b\\u{202e}\u00e9'");
  g_clear_error (&error);
  ck_assert_ptr_null (quoit_fail_null (&error, QUOIT_ERROR_INVALID, "node '%s'", "\t\x80"));
  ck_assert_str_eq (error->message, "node '\\t\\x80'");
}
END_TEST

START_TEST (quoted_text_escapes_control_bytes)
{
  g_autofree char *a = quoit_quote ("a'b\n\x1b[1m\xff"), *b = quoit_quote_bytes ("x\0y", 3), *c = NULL;
  char longer[200];

  memset (longer, 'z', sizeof longer);
  longer[199] = '\0';
  c = quoit_quote (longer);
  ck_assert_str_eq (a, "'a\\'b\\n\\u{1b}[1m\\xff'");
  ck_assert_str_eq (b, "'x\\x00y'");
  ck_assert_uint_eq (strlen (c), 80 + 5);
}
END_TEST

/* --- times --- */

static const struct {
  gint64 time_ms;
  const char *text;
} times[] = {
  { 0, "1970-01-01T00:00:00.000Z" },
  { 1750000000007, "2025-06-15T15:06:40.007Z" },
  { 1709164800120, "2024-02-29T00:00:00.120Z" },
  { QUOIT_LAST_MS - 1, "2199-12-31T23:59:59.999Z" },
};

START_TEST (every_valid_time_is_formatted_to_the_millisecond)
{
  g_autofree char *text = quoit_time_format (times[_i].time_ms);

  ck_assert (quoit_time_is_valid (times[_i].time_ms));
  ck_assert_str_eq (text, times[_i].text);
}
END_TEST

START_TEST (times_before_1970_and_after_2199_are_invalid)
{
  static const gint64 bad[] = { -1, QUOIT_LAST_MS, G_MININT64, G_MAXINT64, G_GINT64_CONSTANT (9000000000000000000) };

  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    ck_assert (!quoit_time_is_valid (bad[i]));
}
END_TEST

static const struct {
  const char *text;
  gboolean is_address;
} addresses[] = {
  { "10.0.0.7", TRUE },   { "fd00::9", TRUE },     { "::ffff:10.0.0.7", TRUE }, { "2001:db8:0:0:0:0:0:1", TRUE },
  { "", FALSE },          { "10.0.0", FALSE },     { "10.0.0.256", FALSE },     { "10.0.0.7 ", FALSE },
  { "999.bogus", FALSE }, { "[fd00::9]", FALSE },  { "fe80::1%eth0", FALSE },   { "10.0.0.7/24", FALSE },
  { "host-1", FALSE },    { "fd00::9::1", FALSE },
};

START_TEST (an_address_is_ipv4_or_ipv6)
{
  ck_assert_msg (quoit_is_ip_address (addresses[_i].text) == addresses[_i].is_address, "'%s'", addresses[_i].text);
}
END_TEST

/* --- SHA-256 --- */

static char *
hash_text (const char *bytes, gsize length)
{
  guint8 digest[QUOIT_SHA256_BYTES];
  GString *text = g_string_new (NULL);
  QuoitSha256 sha;

  quoit_sha256_init (&sha);
  quoit_sha256_add (&sha, bytes, length);
  quoit_sha256_finish (&sha, digest);
  for (gsize i = 0; i < sizeof digest; i++)
    g_string_append_printf (text, "%02x", digest[i]);
  return g_string_free (text, FALSE);
}

START_TEST (sha_256_of_published_examples)
{
  static const struct {
    const char *text, *hash;
  } examples[] = { /* FIPS 180-2, appendix B, and the empty text of NIST's test vectors */
                   { "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
                   { "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
                   { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" }
  };
  g_autofree char *million = g_strnfill (1000000, 'a'), *hash = hash_text (million, 1000000);

  ck_assert_str_eq (hash, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  for (gsize i = 0; i < G_N_ELEMENTS (examples); i++)
    {
      g_autofree char *of_example = hash_text (examples[i].text, strlen (examples[i].text));

      ck_assert_str_eq (of_example, examples[i].hash);
    }
}
END_TEST

/* Adds the bytes in parts of any size, with and without the instructions of the CPU. */
START_TEST (sha_256_does_not_depend_on_the_parts_or_the_cpu)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  guint8 bytes[1000];

  for (gsize i = 0; i < sizeof bytes; i++)
    bytes[i] = (guint8) g_rand_int (rand);
  for (gsize length = 0; length <= sizeof bytes; length++)
    {
      guint8 digest[QUOIT_SHA256_BYTES], expected[QUOIT_SHA256_BYTES];
      QuoitSha256 sha, portable;

      quoit_sha256_init (&sha);
      quoit_sha256_init_portable (&portable);
      for (gsize at = 0; at < length;)
        {
          gsize part = (gsize) g_rand_int_range (rand, 0, 200), n = MIN (part, length - at);

          quoit_sha256_add (&sha, bytes + at, n);
          at += n;
        }
      quoit_sha256_add (&portable, bytes, length);
      quoit_sha256_finish (&sha, digest);
      quoit_sha256_finish (&portable, expected);
      ck_assert_mem_eq (digest, expected, sizeof digest);
    }
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("base");
  TCase *tcase = tcase_create ("base");

  tcase_add_loop_test (tcase, a_double_is_cut_to_ten_thousandths_as_ray_does, 0, G_N_ELEMENTS (cuts));
  tcase_add_loop_test (tcase, a_double_that_ray_would_lose_is_refused, 0, G_N_ELEMENTS (bad_doubles));
  tcase_add_loop_test (tcase, decimal_text_is_read_exactly_or_refused, 0, G_N_ELEMENTS (texts));
  tcase_add_test (tcase, sum_of_250000_terabytes_is_exact);
  tcase_add_test (tcase, adding_amounts_beyond_63_bits_is_refused);
  tcase_add_loop_test (tcase, digits_compare_as_numbers_and_the_order_is_total, 0, G_N_ELEMENTS (in_order));
  tcase_add_test (tcase, natural_order_is_transitive_on_all_short_texts);
  tcase_add_test (tcase, equal_texts_have_one_id_after_table_growth);
  tcase_add_test (tcase, chosen_names_do_not_make_searches_long);
  tcase_add_test (tcase, the_hash_of_a_name_depends_on_each_byte_and_the_length);
  tcase_add_test (tcase, every_error_code_has_a_unique_name_and_number);
  tcase_add_test (tcase, error_messages_escape_control_bytes);
  tcase_add_test (tcase, quoted_text_escapes_control_bytes);
  tcase_add_loop_test (tcase, every_valid_time_is_formatted_to_the_millisecond, 0, G_N_ELEMENTS (times));
  tcase_add_test (tcase, times_before_1970_and_after_2199_are_invalid);
  tcase_add_test (tcase, sha_256_of_published_examples);
  tcase_add_test (tcase, sha_256_does_not_depend_on_the_parts_or_the_cpu);
  tcase_add_loop_test (tcase, an_address_is_ipv4_or_ipv6, 0, G_N_ELEMENTS (addresses));
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}

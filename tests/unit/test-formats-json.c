/* SPDX-License-Identifier: Apache-2.0 */
#include <json-glib/json-glib.h>
#include <sqlite3.h>
#include <string.h>

#include "suite.h"
#include "formats/json.h"

static const char *const accepted[] = {
  "{}",
  "[]",
  "null",
  "true",
  "false",
  "0",
  "-0",
  "\"\"",
  " [ 1 , 2 ] \r\n\t",
  "[1,[2,[3]],{}]",
  "9223372036854775807",
  "-9223372036854775808",
  "1e5",
  "1E+5",
  "-0.0e-9",
  "1e-400",
  "1.7976931348623157e308",
  "{\"a\":1,\"A\":2,\"\":3}",
  "{\"a\":{\"a\":{\"a\":1}}}",
  "[{\"a\":1},{\"a\":1}]",
  "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\"",
  "\"\\ud83d\\ude00\"",
  "\"\xf0\x9f\x98\x80 and \x7f\"",
  "\"long enough to be read eight bytes at a time \\n and again after it\"",
};

/* Texts that RFC 8259 forbids, or that cannot be read without loss; @message is in the message. */
static const struct {
  const char *text;
  const char *message;
} refused[] = {
  { "", "the end: expected a JSON document" },
  { "  \n ", "line 2, column 2 (byte 4): the end: expected a JSON document" },
  { "/* comment */ {}", "(byte 0): '/* comment */ {}': expected a value" },
  { "[1, // one\n 2]", "column 5 (byte 4): '// one" },
  { "['a']", "(byte 1): '\\'a\\']': expected a value" },
  { "var x = {};", "(byte 0)" },
  { "{} {}", "(byte 3): '{}': expected nothing after the document" },
  { "1 2", "expected nothing after the document" },
  { "0x10", "'0x10': expected a decimal number without leading zeros" },
  { "010", "'010': expected a decimal number without leading zeros" },
  { "-01", "'-01': expected a decimal number without leading zeros" },
  { "+1", "expected a value" },
  { ".5", "expected a value" },
  { "5.", "expected a digit after the point" },
  { "1e", "expected a digit in the exponent" },
  { "1e+", "expected a digit in the exponent" },
  { "-", "expected a digit after '-'" },
  { "NaN", "expected a value" },
  { "Infinity", "expected a value" },
  { "[1,]", "(byte 3): ']': expected a value" },
  { "[,1]", "expected a value" },
  { "[1 2]", "(byte 3): '2]': expected ',' or ']' after the value" },
  { "{\"a\":1,}", "expected a key in double quotes" },
  { "{\"a\" 1}", "expected ':' after the key" },
  { "{\"a\":}", "expected a value" },
  { "{'a': 1}", "(byte 1): '\\'a\\': 1}': expected a key in double quotes, as Python's json.dumps() writes it" },
  { "{a:1}", "(byte 1): 'a:1}': expected a key in double quotes" },
  { "{1:1}", "expected a key in double quotes" },
  { "{\"a\":1 \"b\":2}", "expected ',' or '}' after the value" },
  { "[1}", "expected ',' or ']' after the value" },
  { "{\"a\":1]", "expected ',' or '}' after the value" },
  { "]", "expected a value" },
  { "[", "the end: expected a value" },
  { "{", "the end: expected a key in double quotes" },
  { "{\"a\":1", "the end: expected ',' or '}' after the value" },
  { "\"abc", "expected a string with its closing quote" },
  { "\"abc\\", "expected an escape such as \\n" },
  { "tru", "'tru': expected a value" },
  { "nulll", "expected nothing after the document" },
  { "{\"a\":1,\n \"a\":2}", "line 2, column 2 (byte 9): '\"a\":2}': expected each key once in an object" },
  { "{\"a\":1,\"\\u0061\":2}", "(byte 7): '\"\\\\u0061\":2}': expected each key once" },
  { "[[{\"x\":{\"k\":0},\"x\":1}]]", "expected each key once" },
  { "\"a\\u0000b\"", "(byte 2): '\\\\u0000b\"': expected text without NUL" },
  { "\"\\ud800\"", "expected the second half of the surrogate pair" },
  { "\"\\ud800\\u0041\"", "expected the second half of the surrogate pair" },
  { "\"\\udc00\"", "expected the first half of a surrogate pair" },
  { "\"\\x41\"", "expected one of the escapes" },
  { "\"\\u12g4\"", "expected four hexadecimal digits" },
  { "\"a\tb\"", "(byte 2): '\\tb\"': expected control bytes written as escapes" },
  { "\"a\nb\"", "expected control bytes written as escapes" },
  { "\"\xff\"", "(byte 1): '\\xff\"': expected UTF-8" },
  { "\"\xc0\x80\"", "expected UTF-8" },
  { "\"\xed\xa0\x80\"", "expected UTF-8" },
  { "\xef\xbb\xbf{}", "(byte 0)" },
  { "9223372036854775808",
    "'9223372036854775808': expected an integer of -9223372036854775808 to 9223372036854775807" },
  { "-9223372036854775809", "expected an integer of" },
  { "99999999999999999999", "expected an integer of" },
  { "{\"a\":[0, 1e400]}", "(byte 9): '1e400]}': expected a number below 1.8e308" },
  { "-1e400", "expected a number below 1.8e308" },
};

START_TEST (strict_json_is_accepted_and_read)
{
  GError *error = NULL;
  g_autoptr (JsonNode) node = quoit_json_parse (accepted[_i], strlen (accepted[_i]), &error);

  ck_assert_ok (error);
  ck_assert_msg (node != NULL, "%s", accepted[_i]);
}
END_TEST

START_TEST (invalid_json_that_json_glib_accepts_is_refused)
{
  GError *error = NULL;

  ck_assert (!quoit_json_check (refused[_i].text, strlen (refused[_i].text), &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, refused[_i].message);
  ck_assert_ptr_null (quoit_json_parse (refused[_i].text, strlen (refused[_i].text), NULL));
}
END_TEST

START_TEST (smallest_and_largest_integers_are_read_exactly)
{
  static const gint64 values[] = { G_MAXINT64, G_MININT64, G_MININT64 + 1, 0, -1 };

  for (unsigned i = 0; i < G_N_ELEMENTS (values); i++)
    {
      g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, values[i]);
      g_autoptr (JsonNode) node = quoit_json_parse (text, strlen (text), NULL);

      ck_assert_int_eq (json_node_get_int (node), values[i]);
    }
}
END_TEST

START_TEST (nul_byte_is_refused_anywhere)
{
  static const char text[] = "{\"a\0\":1}", after[] = "{}\0";
  GError *error = NULL;

  ck_assert (!quoit_json_check (text, sizeof text - 1, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "(byte 3): '\\x00\":1}'");
  ck_assert (!quoit_json_check (after, sizeof after - 1, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "expected nothing after the document");
}
END_TEST

START_TEST (nesting_depth_is_limited_and_uses_no_c_stack)
{
  g_autofree char *deep = g_strnfill (1000000, '[');
  g_autoptr (GString) text = g_string_new (NULL);
  GError *error = NULL;

  ck_assert (!quoit_json_check (deep, 1000000, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "(byte 512)");
  for (unsigned i = 0; i < QUOIT_JSON_DEPTH; i++)
    g_string_append_c (text, '[');
  for (unsigned i = 0; i < QUOIT_JSON_DEPTH; i++)
    g_string_append_c (text, ']');
  ck_assert (quoit_json_check (text->str, text->len, &error));
  ck_assert_ok (error);
}
END_TEST

/* A quadratic search would take minutes. */
START_TEST (duplicate_is_found_among_a_million_keys)
{
  g_autoptr (GString) text = g_string_new ("{");
  GError *error = NULL;

  for (unsigned i = 0; i < 1000000; i++)
    g_string_append_printf (text, "\"%u\":0,", i);
  g_string_append (text, "\"last\":0}");
  ck_assert (quoit_json_check (text->str, text->len, &error));
  ck_assert_ok (error);
  g_string_truncate (text, text->len - 1);
  g_string_append (text, ",\"777\":0}");
  ck_assert (!quoit_json_check (text->str, text->len, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "'\"777\":0}': expected each key once");
}
END_TEST

START_TEST (text_is_split_into_elements_and_members)
{
  static const struct {
    const char *text, *elements;
  } rows[] = { { "[]", "" },
               { "[ \n]", "" },
               { "[1]", "1|" },
               { "{}", "" },
               { "{ \"a\": 1, \"b,}\": {\"c\": [{}, 2]} }", "\"a\": 1|\"b,}\": {\"c\": [{}, 2]} |" },
               { "[ {\"a,]\": [1, {}]} ,[2],\"\\\"]\\\\\", null ]", "{\"a,]\": [1, {}]} |[2]|\"\\\"]\\\\\"|null |" } };

  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GString) seen = g_string_new (NULL);
      const char *at = rows[i].text, *element;
      gsize length;

      ck_assert (quoit_json_check (rows[i].text, strlen (rows[i].text), NULL));
      while ((element = quoit_json_next_element (&at, &length)) != NULL)
        g_string_append_printf (seen, "%.*s|", (int) length, element);
      ck_assert_str_eq (seen->str, rows[i].elements);
    }
}
END_TEST

static gboolean
sqlite_accepts (sqlite3_stmt *stmt, const char *text, gsize length)
{
  gboolean ok;

  sqlite3_reset (stmt);
  sqlite3_bind_text (stmt, 1, text, (int) length, SQLITE_STATIC);
  ck_assert_int_eq (sqlite3_step (stmt), SQLITE_ROW);
  ok = sqlite3_column_int (stmt, 0);
  return ok;
}

static void
append_random (GString *text, GRand *rand, unsigned depth)
{
  static const char *const scalars[]
      = { "0",    "-1",    "12.5",           "1e3",       "true",         "false", "null",
          "\"\"", "\"k\"", "\"\\u00e9\\n\"", "123456789", "\"\xc3\xa9\"", "-0.0",  "2E-2" };
  unsigned n = (unsigned) g_rand_int_range (rand, 0, 4),
           kind = (unsigned) g_rand_int_range (rand, 0, depth < 5 ? 3 : 1);

  if (kind == 0)
    {
      g_string_append (text, scalars[g_rand_int_range (rand, 0, G_N_ELEMENTS (scalars))]);
      return;
    }
  g_string_append_c (text, kind == 1 ? '[' : '{');
  for (unsigned i = 0; i < n; i++)
    {
      g_string_append (text, i > 0 ? ", " : " ");
      if (kind == 2)
        g_string_append_printf (text, "\"k%u\": ", i);
      append_random (text, rand, depth + 1);
    }
  g_string_append_c (text, kind == 1 ? ']' : '}');
}

/* quoit's check refuses more than SQLite (duplicate keys, overflow), so the test avoids such texts: documents of
 * small parts, unchanged and with one byte changed, removed or inserted. */
START_TEST (json_check_agrees_with_sqlite)
{
  static const char bytes[] = " ,:[]{}\"\\0123456789.eE+-truefalsn/u'\n";
  guint32 seed = g_random_int ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  sqlite3_stmt *stmt;
  unsigned n_valid = 0;
  sqlite3 *db;

  ck_assert_int_eq (sqlite3_open (":memory:", &db), SQLITE_OK);
  ck_assert_int_eq (sqlite3_prepare_v2 (db, "SELECT json_valid(?1)", -1, &stmt, NULL), SQLITE_OK);
  for (unsigned i = 0; i < 100000; i++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      g_autoptr (GError) error = NULL;
      gboolean ours, theirs;

      append_random (text, rand, 0);
      for (unsigned n = (unsigned) g_rand_int_range (rand, 0, 3); n > 0 && text->len > 0; n--)
        {
          gsize at = (gsize) g_rand_int_range (rand, 0, (gint32) text->len);
          char byte = bytes[g_rand_int_range (rand, 0, sizeof bytes - 1)];

          if (g_rand_boolean (rand))
            text->str[at] = byte;
          else if (g_rand_boolean (rand))
            g_string_erase (text, (gssize) at, 1);
          else
            g_string_insert_c (text, (gssize) at, byte);
        }
      ours = quoit_json_check (text->str, text->len, &error);
      theirs = sqlite_accepts (stmt, text->str, text->len);
      n_valid += ours;
      ck_assert_msg (ours == (error == NULL), "%s", text->str);
      if (!ours && theirs
          && (strstr (error->message, "each key once") != NULL
              || strstr (error->message, "expected a number below") != NULL
              || strstr (error->message, "an integer of") != NULL || strstr (error->message, "surrogate") != NULL
              || strstr (error->message, "without NUL") != NULL))
        continue;
      /* SQLite 3.40 accepts an array or an object as a key if a string is its last value. */
      if (!ours && theirs && strstr (error->message, "expected a key in double quotes") != NULL
          && (strstr (error->message, "'[") != NULL || strstr (error->message, "'{") != NULL))
        continue;
      /* SQLite 3.40 accepts a control character in a string, and does not check UTF-8. */
      if (!ours && theirs
          && (strstr (error->message, "control bytes") != NULL || strstr (error->message, "UTF-8") != NULL))
        continue;
      ck_assert_msg (ours == theirs, "seed %u: quoit %d, SQLite %d (%s): %s", seed, ours, theirs,
                     error == NULL ? "" : error->message, text->str);
      if (ours)
        {
          g_autoptr (JsonNode) node = quoit_json_parse (text->str, text->len, NULL);

          ck_assert_msg (node != NULL, "json-glib refuses: %s", text->str);
        }
    }
  ck_assert_uint_gt (n_valid, 20000);
  sqlite3_finalize (stmt);
  sqlite3_close (db);
}
END_TEST

START_TEST (last_duplicate_key_wins_as_in_python)
{
  static const char text[] = "{\"b\":{\"x\":1,\"x\":2},\"a\":1,\"\\u0062\":3}";
  g_autoptr (JsonNode) node = quoit_json_parse_as_python (text, strlen (text), NULL);
  g_autofree char *again = node != NULL ? json_to_string (node, FALSE) : NULL;

  ck_assert (!quoit_json_check (text, strlen (text), NULL));
  ck_assert_str_eq (again, "{\"b\":3,\"a\":1}");
}
END_TEST

START_TEST (invalid_json_is_refused_when_duplicate_keys_are_allowed)
{
  for (unsigned i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      gboolean is_of_keys = strstr (refused[i].message, "each key once") != NULL;
      g_autoptr (JsonNode) node = quoit_json_parse_as_python (refused[i].text, strlen (refused[i].text), NULL);

      ck_assert_msg ((node != NULL) == is_of_keys, "%s", refused[i].text);
    }
}
END_TEST

START_TEST (empty_values_are_false_as_in_python)
{
  static const char *const false_texts[] = { "null", "false", "0", "-0.0", "\"\"", "[]", "{}" };
  static const char *const true_texts[] = { "true", "1", "0.1", "\" \"", "[0]", "{\"\":0}", "\"false\"" };

  for (unsigned i = 0; i < G_N_ELEMENTS (false_texts); i++)
    {
      g_autoptr (JsonNode) nothing = quoit_json_parse (false_texts[i], strlen (false_texts[i]), NULL);
      g_autoptr (JsonNode) something = quoit_json_parse (true_texts[i], strlen (true_texts[i]), NULL);

      ck_assert_msg (quoit_json_is_false (nothing), "%s", false_texts[i]);
      ck_assert_msg (!quoit_json_is_false (something), "%s", true_texts[i]);
    }
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("formats-json");
  TCase *parser = tcase_create ("parser");

  tcase_set_timeout (parser, 120);
  tcase_add_loop_test (parser, strict_json_is_accepted_and_read, 0, G_N_ELEMENTS (accepted));
  tcase_add_loop_test (parser, invalid_json_that_json_glib_accepts_is_refused, 0, G_N_ELEMENTS (refused));
  tcase_add_test (parser, smallest_and_largest_integers_are_read_exactly);
  tcase_add_test (parser, nul_byte_is_refused_anywhere);
  tcase_add_test (parser, nesting_depth_is_limited_and_uses_no_c_stack);
  tcase_add_test (parser, duplicate_is_found_among_a_million_keys);
  tcase_add_test (parser, text_is_split_into_elements_and_members);
  tcase_add_test (parser, last_duplicate_key_wins_as_in_python);
  tcase_add_test (parser, invalid_json_is_refused_when_duplicate_keys_are_allowed);
  tcase_add_test (parser, empty_values_are_false_as_in_python);
  tcase_add_test (parser, json_check_agrees_with_sqlite);
  suite_add_tcase (suite, parser);
  return suite_main (suite);
}

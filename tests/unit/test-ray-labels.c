/* SPDX-License-Identifier: Apache-2.0 */
/* Ray's labels and selectors beyond the vectors. */
#include <quoit/models/ray-labels.h>
#include <string.h>

#include "models/ray/label-syntax.h"
#include "models/ray/selector.h"
#include "suite.h"

/* "key=value;key=value", and "key" for None. */
static char *
show (const QuoitRayLabels *labels)
{
  GString *text = g_string_new (NULL);
  const char *key;

  for (unsigned i = 0; (key = quoit_ray_labels_get_key (labels, i)) != NULL; i++)
    {
      const char *value = quoit_ray_labels_get_value (labels, i);

      g_string_append_printf (text, "%s%s%s%s", i > 0 ? ";" : "", key, value != NULL ? "=" : "",
                              value != NULL ? value : "");
    }
  return g_string_free (text, FALSE);
}

START_TEST (label_that_is_set_again_keeps_its_position)
{
  g_autoptr (QuoitRayLabels) labels = quoit_ray_labels_new ();
  g_autofree char *text = NULL;

  quoit_ray_labels_set (labels, "b", "1");
  quoit_ray_labels_set (labels, "a", NULL);
  quoit_ray_labels_set (labels, "b", "2");
  quoit_ray_labels_set (labels, "c", "");
  text = show (labels);
  ck_assert_str_eq (text, "b=2;a;c=");
  ck_assert_str_eq (quoit_ray_labels_find (labels, "b"), "2");
  ck_assert_ptr_null (quoit_ray_labels_find (labels, "a"));
  ck_assert_ptr_null (quoit_ray_labels_find (labels, "d"));
  ck_assert_ptr_null (quoit_ray_labels_get_key (labels, 3));
  ck_assert_ptr_null (quoit_ray_labels_get_value (labels, 3));
}
END_TEST

START_TEST (label_value_can_be_set_to_itself)
{
  g_autoptr (QuoitRayLabels) labels = quoit_ray_labels_new ();

  quoit_ray_labels_set (labels, "a", "long enough to be moved");
  quoit_ray_labels_set (labels, quoit_ray_labels_get_key (labels, 0), quoit_ray_labels_get_value (labels, 0));
  ck_assert_str_eq (quoit_ray_labels_find (labels, "a"), "long enough to be moved");
}
END_TEST

static const struct {
  const char *text, *labels; /* labels: NULL if refused */
  const char *why;
} command_lines[] = {
  { "", "", NULL },
  { "\"\"", "", NULL },
  { "\"a=b\"", "a=b", NULL },
  { "\"\"a=b\"\"", NULL, "'\"a'" },
  { "a=\"b\"", NULL, "label value '\"b\"'" },
  { "\xe3\x80\x80"
    "a\xc2\xa0=\x1c"
    "b\n",
    "a=b", NULL }, /* all characters that Python strips */
  { "\xe2\x80\x8b"
    "a=b",
    NULL, "label key" },      /* a zero-width space is not stripped */
  { "a=_,a=c", "a=c", NULL }, /* replaced values are not checked */
  { "a=c,a=_", NULL, "label value '_'" },
  { "b=1,a=2,b=3", "b=3;a=2", NULL },
  { "a=", "a=", NULL },
  { "=", NULL, "label key ''" },
  { "a=b,,c=d", NULL, "place 2: '': expected KEY=VALUE" },
  { "a=b,c", NULL, "place 2: 'c': expected KEY=VALUE" },
  { "a==b", NULL, "place 1: 'a==b': expected KEY=VALUE" },
  { "a=b;c=d", NULL, "expected KEY=VALUE" },
  { "ray.io/x=y", "ray.io/x=y", NULL },
  { "a=\xff", NULL, "label value" },
  { "\"", NULL, "place 1: '\"': expected KEY=VALUE" },
};

START_TEST (command_line_labels_are_parsed_or_refused_with_the_place)
{
  GError *error = NULL;
  g_autoptr (QuoitRayLabels) labels = quoit_ray_labels_parse (command_lines[_i].text, &error);
  g_autofree char *text = NULL;

  if (command_lines[_i].labels == NULL)
    {
      ck_assert_ptr_null (labels);
      ck_assert_refused (error, QUOIT_ERROR_INVALID, command_lines[_i].why);
      return;
    }
  ck_assert_ok (error);
  text = show (labels);
  ck_assert_str_eq (text, command_lines[_i].labels);
}
END_TEST

static const struct {
  const char *text, *labels;
  const char *why;
} documents[] = {
  { "{}", "", NULL },
  { " {\"b\": \"1\", \"a\": \"\"} ", "b=1;a=", NULL },
  { "{\"a\":\"b\",\"a\":\"c\"}", "a=c", NULL },
  { "{\"a\":1,\"\\u0061\":\"c\"}", "a=c", NULL },
  { "{\"a\":\"c\",\"a\":1}", NULL, "the value of 'a': expected a text" },
  { "{\"\":\"-\", \"a b\":\"\xc3\xa9\"}", "=-;a b=\xc3\xa9", NULL }, /* the JSON form is not checked further */
  { "{\"RAY.io/x\":\"y\"}", "RAY.io/x=y", NULL },
  { "{\"ray.io/x\":\"y\"}", NULL, "key 'ray.io/x'" },
  { "{\"a\":null}", NULL, "the value of 'a': expected a text" },
  { "{\"a\":{\"b\":\"c\"}}", NULL, "expected a text" },
  { "[\"a\"]", NULL, "expected an object" },
  { "null", NULL, "expected an object" },
  { "\"a\"", NULL, "expected an object" },
  { "", NULL, "the end" },
  { "{'a':'b'}", NULL, "a key in double quotes" },
  { "{\"a\":\"b\",}", NULL, "a key in double quotes" },
  { "{\"a\":\"b\"} {}", NULL, "nothing after the document" },
  { "{\"a\":\"\\u0000\"}", NULL, "text without NUL" },
  { "{\"a\":\"\\ud800\"}", NULL, "surrogate pair" },
  { "{\"a\":\"\xff\"}", NULL, "UTF-8" },
  { "{\"a\":NaN}", NULL, "a value" },
};

START_TEST (json_labels_are_parsed_or_refused_as_in_python)
{
  GError *error = NULL;
  g_autoptr (QuoitRayLabels) labels
      = quoit_ray_labels_parse_json (documents[_i].text, strlen (documents[_i].text), &error);
  g_autofree char *text = NULL;

  if (documents[_i].labels == NULL)
    {
      ck_assert_ptr_null (labels);
      ck_assert_msg (error == NULL || g_str_has_prefix (error->message, "labels: "), "%s", error->message);
      ck_assert_refused (error, QUOIT_ERROR_INVALID, documents[_i].why);
      return;
    }
  ck_assert_ok (error);
  text = show (labels);
  ck_assert_str_eq (text, documents[_i].labels);
}
END_TEST

START_TEST (json_document_ends_at_its_length)
{
  g_autoptr (QuoitRayLabels) labels = quoit_ray_labels_parse_json ("{} and more", 2, NULL);

  ck_assert_ptr_nonnull (labels);
}
END_TEST

/* A linear search for each key would take minutes. */
START_TEST (two_hundred_thousand_labels_are_read_in_bounded_time)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (QuoitRayLabels) labels = NULL;
  GError *error = NULL;

  for (unsigned i = 0; i < 200000; i++)
    g_string_append_printf (text, "%sk%u=v%u", i > 0 ? "," : "", i, i);
  labels = quoit_ray_labels_parse (text->str, &error);
  ck_assert_ok (error);
  ck_assert_str_eq (quoit_ray_labels_get_key (labels, 199999), "k199999");
  ck_assert_str_eq (quoit_ray_labels_find (labels, "k77777"), "v77777");
}
END_TEST

START_TEST (a_selector_is_checked_key_and_value)
{
  static const struct {
    const char *key, *value, *why;
  } rows[] = {
    { "a", "in(b, c)", NULL },    { "a", NULL, NULL },           { "a", "", NULL },
    { "-a", NULL, "'-a'" },       { "-a", "in()", "'-a'" },      { "a", "in()", "'a=' 'in()'" },
    { "a", "!", "'a=' '!'" },     { "a/b/c", "d", "'a/b/c'" },   { "a", "in(b,,c)", "'in(b,,c)'" },
    { "a", "b\n", "'b\\n'" },     { "a", "in(b,c", "'in(b,c'" }, { "a", "in(b)c", "'in(b)c'" },
    { "a", "!in(b)!", "in(b)!" }, { "", "", "label key ''" },
  };

  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (QuoitRayLabels) selector = quoit_ray_labels_new ();
      GError *error = NULL;
      gboolean ok;

      quoit_ray_labels_set (selector, "first", "!in(x)");
      quoit_ray_labels_set (selector, rows[i].key, rows[i].value);
      ok = quoit_ray_selector_check (selector, &error);
      ck_assert_int_eq (ok, rows[i].why == NULL);
      if (rows[i].why != NULL)
        ck_assert_refused (error, QUOIT_ERROR_INVALID, rows[i].why);
      ck_assert_ok (error);
    }
  ck_assert_int_eq (quoit_ray_selector_check (NULL, NULL), 1);
}
END_TEST

START_TEST (any_selector_text_is_parsed)
{
  static const struct {
    const char *text, *values;
    int negated;
  } rows[] = {
    { "", "<>", 0 },
    { "!", "<>", 1 },
    { "in()", "", 0 },
    { "!in()", "", 1 },
    { "in(,)", "<>", 0 },
    { "in(,,)", "<>", 0 },
    { "in(a,)", "<a>", 0 },
    { "in(b,a,b)", "<a><b>", 0 },
    { "in( b,a)", "< b><a>", 0 },
    { "in(a))", "<a)>", 0 },
    { "in(a,in(b))", "<a><in(b)>", 0 },
    { "in(", "<in(>", 0 },
    { "in)", "<in)>", 0 },
    { "in", "<in>", 0 },
    { "!!in(a)", "<!in(a)>", 1 },
    { " in(a)", "< in(a)>", 0 },
    { "in(a) ", "<in(a) >", 0 },
    { "in(\xff,A)", "<A><\xff>", 0 }, /* sorted by bytes */
  };

  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_auto (GStrv) values = quoit_ray_selector_dup_values (rows[i].text);
      g_autoptr (GString) shown = g_string_new (NULL);

      for (char **value = values; *value != NULL; value++)
        g_string_append_printf (shown, "<%s>", *value);
      ck_assert_str_eq (shown->str, rows[i].values);
      ck_assert_int_eq (quoit_ray_selector_is_negated (rows[i].text), rows[i].negated);
    }
}
END_TEST

START_TEST (all_conditions_of_a_selector_must_match)
{
  g_autoptr (QuoitRayLabels) labels = quoit_ray_labels_new (), selector = quoit_ray_labels_new ();

  ck_assert_int_eq (quoit_ray_selector_holds (selector, labels), 1);
  quoit_ray_labels_set (labels, "zone", "b");
  quoit_ray_labels_set (labels, "spot", "");
  quoit_ray_labels_set (selector, "zone", "in(a,b)");
  ck_assert_int_eq (quoit_ray_selector_holds (selector, labels), 1);
  quoit_ray_labels_set (selector, "spot", "");
  ck_assert_int_eq (quoit_ray_selector_holds (selector, labels), 1);
  quoit_ray_labels_set (selector, "absent", "!x");
  ck_assert_int_eq (quoit_ray_selector_holds (selector, labels), 1);
  quoit_ray_labels_set (selector, "absent", "");
  ck_assert_int_eq (quoit_ray_selector_holds (selector, labels), 0);
  quoit_ray_labels_set (selector, "absent", NULL);
  ck_assert_int_eq (quoit_ray_selector_holds (selector, labels), 1);
  quoit_ray_labels_set (selector, "zone", "!in(a,b)");
  ck_assert_int_eq (quoit_ray_selector_holds (selector, labels), 0);
}
END_TEST

/* For texts with the grammar's special characters, and nodes with and without the label. */
START_TEST (leading_exclamation_mark_negates_every_selector)
{
  static const char alphabet[] = "ab,()in! ";
  g_autoptr (GRand) random = g_rand_new_with_seed (41);
  unsigned n_held = 0;

  for (unsigned i = 0; i < 20000; i++)
    {
      g_autoptr (QuoitRayLabels) labels = quoit_ray_labels_new (), plain = quoit_ray_labels_new ();
      g_autoptr (QuoitRayLabels) turned = quoit_ray_labels_new ();
      g_autoptr (GString) text = g_string_new ("!");
      int holds;

      for (int n = g_rand_int_range (random, 0, 8); n > 0; n--)
        g_string_append_c (text, alphabet[g_rand_int_range (random, 0, (int) strlen (alphabet))]);
      if (text->str[1] == '!')
        continue;
      if (g_rand_boolean (random))
        quoit_ray_labels_set (labels, "k", g_rand_boolean (random) ? "a" : text->str + 1);
      quoit_ray_labels_set (plain, "k", text->str + 1);
      quoit_ray_labels_set (turned, "k", text->str);
      holds = quoit_ray_selector_holds (plain, labels);
      ck_assert_msg (quoit_ray_selector_holds (turned, labels) == !holds, "'%s'", text->str);
      n_held += (unsigned) holds;
    }
  ck_assert_uint_gt (n_held, 1000);
}
END_TEST

static const struct {
  const char *text, *why; /* why: NULL if Ray accepts it */
} strategies[] = {
  { "null", NULL },
  { "[]", NULL },
  { "{}", NULL },
  { "\"\"", NULL },
  { "[{\"label_selector\":{\"a\":\"in(b,c)\"}},{\"label_selector\":{}}]", NULL },
  { "[{\"label_selector\":null}]", NULL },
  { "[{\"label_selector\":0}]", NULL },
  { "[{\"label_selector\":{\"a\":null}}]", NULL },
  { "[{\"label_selector\":1,\"label_selector\":[]}]", NULL },
  { "0", "expected a list" },
  { "false", "expected a list" },
  { "{\"label_selector\":{}}", "expected a list" },
  { "\"a\"", "expected a list" },
  { "[{}]", "place 1: strategy" },
  { "[{\"label_selector\":{}},[]]", "place 2: strategy" },
  { "[{\"label_selector\":{}},{\"other\":1}]", "place 2: 'other'" },
  { "[{\"label_selector\":{\"a\":1}}]", "place 1: 'a': expected a text or null" },
  { "[{\"label_selector\":\"a\"}]", "place 1: label_selector" },
  { "[{\"label_selector\":{\"a\":\"in()\"}}]", "place 1: selector 'a=' 'in()'" },
  { "[{\"label_selector\":{\"-\":\"a\"}}]", "place 1: label key '-'" },
  { "[", "fallback_strategy: line 1" },
};

START_TEST (fallback_strategy_is_accepted_or_refused_with_the_place)
{
  GError *error = NULL;
  const char *text = strategies[_i].text;

  ck_assert_int_eq (quoit_ray_fallback_check_json (text, strlen (text), &error), strategies[_i].why == NULL);
  if (strategies[_i].why != NULL)
    ck_assert_refused (error, QUOIT_ERROR_INVALID, strategies[_i].why);
  ck_assert_ok (error);
}
END_TEST

/* --- the syntax, measured with Ray (ray-scheduling 4) --- */

static const struct {
  const char *selector, *value; /* NULL: no such label */
  int holds;                    /* -1: refused */
} selections[] = {
  { "a", "a", 1 },          { "a", "b", 0 },         { "a", NULL, 0 },       { "!a", NULL, 1 },
  { "!a", "b", 1 },         { "!a", "a", 0 },        { "in(a,b)", "b", 1 },  { "in(a,b)", "c", 0 },
  { "!in(a,b)", "c", 1 },   { "!in(a,b)", NULL, 1 }, { "in(a, b)", "a", 1 }, { "in(a, b)", "b", 0 },
  { "!in(a, b)", "b", 1 },  { "", "", 1 },           { "", NULL, 0 },        { "(a,b)", "a", 0 },
  { "in", "in", 1 },        { "in()", "a", -1 },     { "!!a", "a", -1 },     { "in(a,,b)", "a", -1 },
  { "in(a,  b)", "a", -1 }, { "a b", "a", -1 },      { "-a", "a", -1 },      { "a\n", "a", -1 },
};

START_TEST (selector_matches_as_in_ray)
{
  GError *error = NULL;
  g_autoptr (QuoitSelector) selector = quoit_selector_new ("k", selections[_i].selector, &error);

  if (selections[_i].holds < 0)
    {
      ck_assert_ptr_null (selector);
      ck_assert_refused (error, QUOIT_ERROR_INVALID, "expected a label value");
      return;
    }
  ck_assert_ok (error);
  ck_assert_int_eq (quoit_selector_matches (selector, selections[_i].value), selections[_i].holds);
}
END_TEST

static const struct {
  const char *key;
  gboolean ok;
} keys[] = {
  { "a", TRUE },      { "ray.io/x", TRUE }, { "/x", TRUE },     { ".a/x", TRUE },       { "a./x", TRUE },
  { "a..b/x", TRUE }, { "a_b.c/x", TRUE },  { "a/b/x", FALSE }, { "prefix_/x", FALSE }, { "-a/x", FALSE },
  { "x/", FALSE },    { "", FALSE },        { "a_.b/x", TRUE }, { "a b", FALSE },
};

START_TEST (label_keys_are_checked_as_in_ray)
{
  g_autoptr (GError) error = NULL;

  ck_assert_msg (quoit_label_check_key (keys[_i].key, &error) == keys[_i].ok, "%s", keys[_i].key);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("ray-labels");
  TCase *labels = tcase_create ("labels"), *selectors = tcase_create ("selectors");

  tcase_set_timeout (labels, 20);
  tcase_add_test (labels, label_that_is_set_again_keeps_its_position);
  tcase_add_test (labels, label_value_can_be_set_to_itself);
  tcase_add_loop_test (labels, command_line_labels_are_parsed_or_refused_with_the_place, 0,
                       G_N_ELEMENTS (command_lines));
  tcase_add_loop_test (labels, json_labels_are_parsed_or_refused_as_in_python, 0, G_N_ELEMENTS (documents));
  tcase_add_test (labels, json_document_ends_at_its_length);
  tcase_add_test (labels, two_hundred_thousand_labels_are_read_in_bounded_time);
  tcase_add_loop_test (labels, label_keys_are_checked_as_in_ray, 0, G_N_ELEMENTS (keys));
  suite_add_tcase (suite, labels);
  tcase_set_timeout (selectors, 20);
  tcase_add_test (selectors, a_selector_is_checked_key_and_value);
  tcase_add_test (selectors, any_selector_text_is_parsed);
  tcase_add_test (selectors, all_conditions_of_a_selector_must_match);
  tcase_add_test (selectors, leading_exclamation_mark_negates_every_selector);
  tcase_add_loop_test (selectors, fallback_strategy_is_accepted_or_refused_with_the_place, 0,
                       G_N_ELEMENTS (strategies));
  tcase_add_loop_test (selectors, selector_matches_as_in_ray, 0, G_N_ELEMENTS (selections));
  suite_add_tcase (suite, selectors);
  return suite_main (suite);
}

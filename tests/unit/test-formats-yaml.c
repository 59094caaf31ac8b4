/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "suite.h"
#include "formats/yaml.h"

static char *
as_json (const QuoitTree *tree)
{
  GString *text = g_string_new (NULL);

  for (unsigned i = 0; i < quoit_tree_n_documents (tree); i++)
    {
      g_autofree char *json = json_to_string (quoit_tree_document (tree, i), FALSE);

      g_string_append_printf (text, "%s%s", i > 0 ? " " : "", json);
    }
  return g_string_free (text, FALSE);
}

static const struct {
  const char *yaml, *json;
} accepted[] = {
  { "a: 1", "{\"a\":1}" },
  { "a: [x, 'y', \"z\\n\"]\nb: {c: d}", "{\"a\":[\"x\",\"y\",\"z\\n\"],\"b\":{\"c\":\"d\"}}" },
  { "---\na: 1\n...\n", "{\"a\":1}" },
  { "a\n--- b\n---\n- c\n", "\"a\" \"b\" [\"c\"]" },
  { "- 1\n- -1\n- 0\n- +3\n- 9223372036854775807", "[1,-1,0,3,9223372036854775807]" },
  { "- 1.5\n- 1e3\n- .5\n- 5.", "[1.5,1000.0,0.5,5.0]" },
  { "- true\n- False\n- yes\n- No\n- on\n- OFF\n- y\n- N", "[true,false,true,false,true,false,true,false]" },
  { "- 'true'\n- \"yes\"\n- '1'\n- \"~\"", "[\"true\",\"yes\",\"1\",\"~\"]" },
  { "- null\n- ~\n-\n- Null", "[null,null,null,null]" },
  { "- 127.0.0.1\n- 2026-11-21\n- 12:30:45\n- 4x4\n- 200G\n- v6e-16",
    "[\"127.0.0.1\",\"2026-11-21\",\"12:30:45\",\"4x4\",\"200G\",\"v6e-16\"]" },
  { "- 010\n- 0x1f\n- 1_000\n- .inf\n- 0o17", "[\"010\",\"0x1f\",\"1_000\",\".inf\",\"0o17\"]" },
  { "- !!str 5\n- ! 6\n- !!int 7\n- !!seq []", "[\"5\",\"6\",7,[]]" },
  { "a: &x {k: [1, 2]}\nb: *x\nc: *x", "{\"a\":{\"k\":[1,2]},\"b\":{\"k\":[1,2]},\"c\":{\"k\":[1,2]}}" },
  { "- &s text\n- *s", "[\"text\",\"text\"]" },
  { "a: &x {k: 1, l: 2}\nb: {<<: *x, l: 3}", "{\"a\":{\"k\":1,\"l\":2},\"b\":{\"l\":3,\"k\":1}}" },
  { "a: |\n  two\n  lines\nb: >-\n  one\n  line", "{\"a\":\"two\\nlines\\n\",\"b\":\"one line\"}" },
  { "yes: 1\n\"yes \": 2\n1: 3", "{\"yes\":1,\"yes \":2,\"1\":3}" },
  { "# only\n--- # a comment\n", "null" },
  { "\xef\xbb\xbf"
    "a: \xc3\xa9",
    "{\"a\":\"\xc3\xa9\"}" },
};

static const struct {
  const char *yaml, *message;
} refused[] = {
  { "", "line 1: the end: expected a YAML document" },
  { "# nothing\n", "expected a YAML document" },
  { "a: 1\n\tb: 2", "line 2, column 1: a tab: expected spaces" },
  { "a:\n\t- 1", "line 2, column 1: a tab: expected spaces" },
  { "a:\n  \tb: 1", "line 2, column 3: a tab: expected spaces" },
  { "a: [1, 2", "line 2, column 1: did not find expected ',' or ']'" },
  { "a: {b", "line 1" },
  { "a: 'x", "line 1" },
  { "a: b: c", "line 1, column 5: mapping values are not allowed" },
  { "- a\nb: c", "line 2, column 1: did not find expected '-' indicator" },
  { "a: 1\nb: 2\na: 3", "line 3, column 1: key 'a': expected each key once in a map; line 1 has it too" },
  { "x:\n  a: 1\n  \"a\": {}", "line 3, column 3: key 'a': expected each key once in a map; line 2 has it too" },
  { "a: *x", "line 1, column 4: 'x': expected an earlier anchor of that name" },
  { "a: &x [*x]", "line 1, column 8: 'x': expected an earlier anchor of that name whose value has ended" },
  { "a: &x 1\n---\nb: *x", "line 3, column 4: 'x': expected an earlier anchor" },
  { "[a]: 1", "line 1, column 1: a list or map: expected a key that is text" },
  { "? {a: b}\n: 1", "expected a key that is text" },
  { "- &x a\n- *x : 1", "expected a key that is text, not an alias" },
  { "a: !!binary aGVsbG8=", "line 1, column 4: 'tag:yaml.org,2002:binary': expected no tag" },
  { "a: !mine {}", "line 1, column 4: '!mine': expected no tag" },
  { "a: !!int x", "line 1, column 4: 'x': expected a value of its tag" },
  { "a: !!int 1.5", "line 1, column 4: '1.5': expected a value of its tag" },
  { "a: !!bool 1", "line 1, column 4: '1': expected a value of its tag" },
  { "a: !!float 2.60.0", "line 1, column 4: '2.60.0': expected a value of its tag" },
  { "a: !!null 0", "line 1, column 4: '0': expected a value of its tag" },
  { "a: {<<: 1}", "'<<': expected a map, or a list of maps, to merge" },
  { "a: \"x\\0y\"", "line 1, column 4: 'x': expected text without NUL" },
  { "a: \xff", "line 1, column 4 (byte 3): '\\xff': expected UTF-8 text without NUL" },
  { "a: b\nc: \x01", "control characters are not allowed" },
  { "%YAML 9.1\n--- a", "incompatible YAML document" },
};

START_TEST (yaml_is_read_as_kubernetes_reads_it)
{
  GError *error = NULL;
  g_autoptr (QuoitTree) tree = quoit_tree_parse_yaml (accepted[_i].yaml, strlen (accepted[_i].yaml), &error);
  g_autofree char *json = NULL;

  ck_assert_ok (error);
  json = as_json (tree);
  ck_assert_str_eq (json, accepted[_i].json);
}
END_TEST

START_TEST (invalid_or_ambiguous_yaml_is_refused_with_the_line)
{
  GError *error = NULL;

  ck_assert_msg (quoit_tree_parse_yaml (refused[_i].yaml, strlen (refused[_i].yaml), &error) == NULL, "%s",
                 refused[_i].yaml);
  ck_assert_refused (error, QUOIT_ERROR_INVALID, refused[_i].message);
  ck_assert_ptr_null (quoit_tree_parse_yaml (refused[_i].yaml, strlen (refused[_i].yaml), NULL));
}
END_TEST

START_TEST (every_value_keeps_its_line_and_source_text)
{
  static const char yaml[] = "a:\n  - k: yes\n    l: 'yes'\n  - ${N}\nb: 1.50\n";
  g_autoptr (QuoitTree) tree = quoit_tree_parse_yaml (yaml, strlen (yaml), NULL);
  JsonNode *root = quoit_tree_document (tree, 0), *a = quoit_tree_member (root, "a"),
           *b = quoit_tree_member (root, "b");
  JsonNode *first = json_array_get_element (json_node_get_array (a), 0);
  JsonNode *second = json_array_get_element (json_node_get_array (a), 1);
  g_autofree char *place = quoit_tree_place (tree, quoit_tree_member (first, "k"));

  ck_assert_str_eq (place, "line 2: a[0].k");
  ck_assert_uint_eq (quoit_tree_line (tree, quoit_tree_member (first, "l")), 3);
  ck_assert_uint_eq (quoit_tree_line (tree, a), 1);
  ck_assert_uint_eq (quoit_tree_line (tree, b), 5);
  ck_assert_str_eq (quoit_tree_plain (tree, quoit_tree_member (first, "k")), "yes");
  ck_assert_ptr_null (quoit_tree_plain (tree, quoit_tree_member (first, "l")));
  ck_assert_str_eq (quoit_tree_plain (tree, second), "${N}");
  ck_assert_str_eq (quoit_tree_plain (tree, b), "1.50");
}
END_TEST

START_TEST (a_nul_byte_is_refused)
{
  static const char yaml[] = "a: 1\nb: x\0y";
  GError *error = NULL;

  ck_assert_ptr_null (quoit_tree_parse_yaml (yaml, sizeof yaml - 1, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "line 2, column 5 (byte 9): '\\x00': expected UTF-8 text without NUL");
}
END_TEST

START_TEST (alias_bomb_is_refused_at_the_first_line_over_the_limit)
{
  g_autoptr (GString) yaml = g_string_new ("a0: &a0 [x,x,x,x,x,x,x,x,x]\n");
  GError *error = NULL;

  for (unsigned i = 1; i < 10; i++)
    {
      g_string_append_printf (yaml, "a%u: &a%u [", i, i);
      for (unsigned n = 0; n < 9; n++)
        g_string_append_printf (yaml, "%s*a%u", n > 0 ? "," : "", i - 1);
      g_string_append (yaml, "]\n");
    }
  ck_assert_ptr_null (quoit_tree_parse_yaml (yaml->str, yaml->len, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "expected aliases for at most 100,000 values together");
}
END_TEST

START_TEST (aliases_cannot_nest_deeper_than_lists)
{
  g_autoptr (GString) yaml = g_string_new ("a0: &a0 [x]\n");
  GError *error = NULL;

  for (unsigned i = 1; i < 600; i++)
    g_string_append_printf (yaml, "a%u: &a%u [*a%u]\n", i, i, i - 1);
  ck_assert_ptr_null (quoit_tree_parse_yaml (yaml->str, yaml->len, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "expected no more than 512 lists and maps inside each other");
}
END_TEST

START_TEST (deep_nesting_is_refused)
{
  g_autofree char *flow = g_strnfill (100000, '['), *maps = g_strnfill (100000, '{');
  g_autoptr (GString) block = g_string_new (NULL);
  GError *error = NULL;

  ck_assert_ptr_null (quoit_tree_parse_yaml (flow, 100000, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "line 1, column 513: a list or map inside 512 others");
  ck_assert_ptr_null (quoit_tree_parse_yaml (maps, 100000, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "line 1");
  for (unsigned i = 0; i < 1000; i++)
    g_string_append (block, "- ");
  ck_assert_ptr_null (quoit_tree_parse_yaml (block->str, block->len, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "a list or map inside 512 others");
}
END_TEST

/* libyaml compares each line with all lines before it: 150,000 lines took two minutes. */
START_TEST (many_tag_lines_are_refused_at_once)
{
  static const char *const ends[] = { "\n", "\r", "\r\n", "\xc2\x85", "\xe2\x80\xa8" };
  g_autoptr (GString) yaml = g_string_new (NULL);
  g_autoptr (QuoitTree) tree = NULL;
  GError *error = NULL;

  for (unsigned i = 0; i < 150000; i++)
    g_string_append_printf (yaml, "%%TAG !a%u! x:%u%s", i, i, ends[_i]);
  g_string_append (yaml, "---\na: 1\n");
  ck_assert_ptr_null (quoit_tree_parse_yaml (yaml->str, yaml->len, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "'%TAG': expected at most 16 such lines");
  g_string_assign (yaml, "%TAG !a! x:\n---\na: \"");
  for (unsigned i = 0; i < 100; i++)
    g_string_append (yaml, " %TAG");
  g_string_append (yaml, "\"\n");
  tree = quoit_tree_parse_yaml (yaml->str, yaml->len, &error);
  ck_assert_ok (error);
  ck_assert_ptr_nonnull (tree);
}
END_TEST

START_TEST (values_over_three_million_are_refused)
{
  g_autoptr (GString) yaml = g_string_sized_new (40000000);
  GError *error = NULL;

  for (unsigned i = 0; i < 10000000; i++)
    g_string_append (yaml, "- a\n");
  ck_assert_ptr_null (quoit_tree_parse_yaml (yaml->str, yaml->len, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "line 3000000, column 3: value 3,000,001");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("formats-yaml");
  TCase *yaml = tcase_create ("yaml");

  tcase_set_timeout (yaml, 180);
  tcase_add_loop_test (yaml, yaml_is_read_as_kubernetes_reads_it, 0, G_N_ELEMENTS (accepted));
  tcase_add_loop_test (yaml, invalid_or_ambiguous_yaml_is_refused_with_the_line, 0, G_N_ELEMENTS (refused));
  tcase_add_test (yaml, every_value_keeps_its_line_and_source_text);
  tcase_add_test (yaml, a_nul_byte_is_refused);
  tcase_add_test (yaml, alias_bomb_is_refused_at_the_first_line_over_the_limit);
  tcase_add_test (yaml, aliases_cannot_nest_deeper_than_lists);
  tcase_add_test (yaml, deep_nesting_is_refused);
  tcase_add_loop_test (yaml, many_tag_lines_are_refused_at_once, 0, 5);
  tcase_add_test (yaml, values_over_three_million_are_refused);
  suite_add_tcase (suite, yaml);
  return suite_main (suite);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Each rule of a check, with a manifest that breaks it and a similar one that does not. */
#define CHECK_KINDS_CASES
#include "check-between.h"
#include "check-kinds.h"

START_TEST (valid_manifest_has_no_findings)
{
  g_autoptr (QuoitCheck) check = check_text (good, NULL);
  g_autofree char *found = as_text (check);

  ck_assert_str_eq (found, "");
}
END_TEST

enum { N_CASES = G_N_ELEMENTS (group_cases) + G_N_ELEMENTS (between_cases) + G_N_ELEMENTS (kind_cases) };

static const Case *
case_at (guint index)
{
  if (index < G_N_ELEMENTS (group_cases))
    return &group_cases[index];
  index -= G_N_ELEMENTS (group_cases);
  return index < G_N_ELEMENTS (between_cases) ? &between_cases[index]
                                              : &kind_cases[index - G_N_ELEMENTS (between_cases)];
}

static char *
edit_case (const Case *tested, Edit how)
{
  const char *base = tested->base == NULL ? good : tested->base;
  g_autofree char *text = tested->also.from == NULL ? g_strdup (base) : edit (base, tested->also);

  return edit (text, how);
}

START_TEST (valid_object_of_another_kind_has_no_findings)
{
  g_autoptr (QuoitCheck) check = check_text (good_kinds[_i], NULL);
  g_autofree char *found = as_text (check);

  ck_assert_str_eq (found, "");
}
END_TEST

START_TEST (finding_has_place_value_and_expectation)
{
  const Case *tested = case_at ((guint) _i);
  g_autofree char *text = edit_case (tested, tested->has);
  g_autoptr (QuoitCheck) check = check_text (text, NULL);
  g_autofree char *found = as_text (check);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  int at = find (check, tested->rule);
  uint32_t n;

  ck_assert_msg (at >= 0, "%s is not found, but:\n%s", tested->rule, found);
  n = (uint32_t) at;
  ck_assert_str_eq (quoit_check_get_path (check, n), tested->path);
  ck_assert_pstr_eq (quoit_check_get_value (check, n), tested->value);
  ck_assert_msg (strstr (quoit_check_get_expected (check, n), tested->expected) != NULL, "expected '%s'",
                 quoit_check_get_expected (check, n));
  ck_assert (g_str_has_suffix (quoit_check_get_message (check, n), quoit_check_get_expected (check, n)));
  ck_assert_msg (strstr (quoit_check_get_message (check, n), "expected ") != NULL, "%s",
                 quoit_check_get_message (check, n));
  /* The value is on the reported line. */
  if (tested->value != NULL && strpbrk (tested->value, "\"\\") == NULL)
    ck_assert_msg (strstr (lines[quoit_check_get_line (check, n) - 1], tested->value) != NULL,
                   "line %u does not have '%s'", quoit_check_get_line (check, n), tested->value);
}
END_TEST

START_TEST (value_at_the_limit_of_a_rule_has_no_finding)
{
  const Case *tested = case_at ((guint) _i);
  g_autofree char *text = edit_case (tested, tested->has_not);
  g_autoptr (QuoitCheck) check = check_text (text, NULL);
  g_autofree char *found = as_text (check);

  ck_assert_msg (find (check, tested->rule) < 0, "found:\n%s", found);
}
END_TEST

START_TEST (every_rule_has_a_case_and_is_documented)
{
  g_autofree char *path = g_build_filename (g_getenv ("top_srcdir"), "docs", "checking.md", NULL), *page = NULL;
  const char *rule;
  guint n = 0;

  ck_assert (g_file_get_contents (path, &page, NULL, NULL));
  for (; (rule = quoit_check_rule_get_name (n)) != NULL; n++)
    {
      static const char *const words[] = { "", "error", "warning", "note" };
      g_autofree char *line = g_strdup_printf ("| `%s` | %s |", rule, words[quoit_check_rule_get_severity (n)]);
      gboolean has_case = strcmp (rule, "more-findings") == 0;

      for (guint i = 0; i < N_CASES; i++)
        has_case = has_case || strcmp (case_at (i)->rule, rule) == 0;
      ck_assert_msg (has_case, "%s has no case", rule);
      ck_assert_msg (strstr (page, line) != NULL, "docs/checking.md has no '%s'", line);
      for (guint i = 0; i < n; i++)
        ck_assert_str_ne (quoit_check_rule_get_name (i), rule);
    }
  ck_assert_uint_gt (n, 40);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("check");
  TCase *rules = tcase_create ("rules");

  tcase_add_test (rules, valid_manifest_has_no_findings);
  tcase_add_loop_test (rules, valid_object_of_another_kind_has_no_findings, 0, G_N_ELEMENTS (good_kinds));
  tcase_add_loop_test (rules, finding_has_place_value_and_expectation, 0, N_CASES);
  tcase_add_loop_test (rules, value_at_the_limit_of_a_rule_has_no_finding, 0, N_CASES);
  tcase_add_test (rules, every_rule_has_a_case_and_is_documented);
  suite_add_tcase (suite, rules);
  return suite_main (suite);
}

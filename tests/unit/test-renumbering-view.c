/* SPDX-License-Identifier: Apache-2.0 */
/* The text and JSON forms of a renumbering. */
#include "elastic.h"

#include "cli/renumbering-view.h"

static Document *
document_of (const char *before, const char *after)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitTopology) was = elastic_job (ledger, before, QUOIT_PROFILE_QUOIT);
  g_autoptr (QuoitTopology) is = elastic_job (ledger, after, QUOIT_PROFILE_QUOIT);
  g_autoptr (QuoitRenumbering) renumbering = quoit_renumbering_new (was, is);
  Document *document = document_new ();

  describe_renumbering (document, renumbering);
  return document;
}

static const struct {
  const char *before, *after, *text;
} shown[] = {
  { "a b", "b",
    "numbers, before and after:\n"
    "NODE SLICE SLICE ID WORKER PROCESS CHANGE\n"
    "b-0  b     1 -> 0   0      4 -> 0  moved\n"
    "b-1  b     1 -> 0   1      5 -> 1  moved\n"
    "b-2  b     1 -> 0   2      6 -> 2  moved\n"
    "b-3  b     1 -> 0   3      7 -> 3  moved\n"
    "a-0  a     0 -> -   0      0 -> -  left\n"
    "a-1  a     0 -> -   1      1 -> -  left\n"
    "a-2  a     0 -> -   2      2 -> -  left\n"
    "a-3  a     0 -> -   3      3 -> -  left\n"
    "\n"
    "changed variables of the processes that stay:\n"
    "VARIABLE                      PROCESS BEFORE   AFTER\n"
    "MEGASCALE_COORDINATOR_ADDRESS 0-3     10.0.0.0 (not set)\n"
    "MEGASCALE_NUM_SLICES          0-3     2        (not set)\n"
    "MEGASCALE_PORT                0-3     8081     (not set)\n"
    "MEGASCALE_SLICE_ID            0-3     1        (not set)\n" },
  { "a b c", "a c=0100",
    "numbers, before and after:\n"
    "NODE SLICE SLICE ID WORKER PROCESS CHANGE\n"
    "a-0  a     0        0      0       environment\n"
    "a-1  a     0        1      1       environment\n"
    "a-2  a     0        2      2       environment\n"
    "a-3  a     0        3      3       environment\n"
    "c-0  c     2 -> 1   0      8 -> 4  moved\n"
    "c-1  c     - -> 1   1      - -> 5  joined, in place of another host of that name\n"
    "c-2  c     2 -> 1   2      10 -> 6 moved\n"
    "c-3  c     2 -> 1   3      11 -> 7 moved\n"
    "b-0  b     1 -> -   0      4 -> -  left\n"
    "b-1  b     1 -> -   1      5 -> -  left\n"
    "b-2  b     1 -> -   2      6 -> -  left\n"
    "b-3  b     1 -> -   3      7 -> -  left\n"
    "c-1  c     2 -> -   1      9 -> -  left, replaced by another host of that name\n"
    "\n"
    "changed variables of the processes that stay:\n"
    "VARIABLE             PROCESS  BEFORE                              AFTER\n"
    "MEGASCALE_NUM_SLICES 0-4, 6-7 3                                   2\n"
    "MEGASCALE_SLICE_ID   4, 6-7   2                                   1\n"
    "TPU_WORKER_HOSTNAMES 4, 6-7   10.2.0.0,10.2.0.1,10.2.0.2,10.2.0.3 10.2.0.0,10.2.1.1,10.2.0.2,10.2.0.3\n" },
  { "a", "a",
    "numbers, before and after:\n"
    "NODE SLICE SLICE ID WORKER PROCESS CHANGE\n"
    "a-0  a     0        0      0       same\n"
    "a-1  a     0        1      1       same\n"
    "a-2  a     0        2      2       same\n"
    "a-3  a     0        3      3       same\n"
    "\n"
    "changed variables of the processes that stay: none\n" },
  { "", "",
    "numbers, before and after: none\n"
    "\n"
    "changed variables of the processes that stay: none\n" },
};

START_TEST (text_shows_moved_processes_and_each_change_once)
{
  g_autoptr (Document) document = document_of (shown[_i].before, shown[_i].after);
  g_autofree char *text = document_format_text (document, (TextForm) { .width = 80 });

  ck_assert_str_eq (text, shown[_i].text);
}
END_TEST

static JsonArray *
rows_of (JsonNode *root, const char *member)
{
  return json_object_get_array_member (json_node_get_object (root), member);
}

static const char *
text_in (JsonArray *rows, guint row, const char *member)
{
  return json_object_get_string_member_with_default (json_array_get_object_element (rows, row), member, NULL);
}

static gint64
number_in (JsonArray *rows, guint row, const char *member)
{
  return json_object_get_int_member_with_default (json_array_get_object_element (rows, row), member, -1);
}

START_TEST (json_has_every_number_and_variable)
{
  g_autoptr (Document) document = document_of ("a b", "a c");
  g_autofree char *json = document_format_json (document);
  g_autoptr (JsonNode) root = json_from_string (json, NULL);
  JsonArray *rows = rows_of (root, "renumbering"), *variables;

  ck_assert_uint_eq (json_array_get_length (rows), 12);
  ck_assert_str_eq (text_in (rows, 4, "node"), "c-0");
  ck_assert_str_eq (text_in (rows, 4, "change"), "joined");
  ck_assert_str_eq (text_in (rows, 4, "in_place_of"), "b-0");
  ck_assert_ptr_null (text_in (rows, 4, "replaced_by"));
  ck_assert_int_eq (number_in (rows, 4, "process_before"), -1);
  ck_assert_int_eq (number_in (rows, 4, "process_after"), 4);
  ck_assert_int_eq (number_in (rows, 4, "slice_id_after"), 1);
  variables = json_object_get_array_member (json_array_get_object_element (rows, 4), "variables");
  ck_assert_uint_eq (json_array_get_length (variables), 9);
  ck_assert_str_eq (text_in (variables, 5, "name"), "TPU_NAME");
  ck_assert_ptr_null (text_in (variables, 5, "before"));
  ck_assert_str_eq (text_in (variables, 5, "after"), "c");
  ck_assert_str_eq (text_in (rows, 11, "change"), "left");
  ck_assert_str_eq (text_in (rows, 11, "replaced_by"), "c-3");
  ck_assert_int_eq (number_in (rows, 11, "worker_id_before"), 3);
  ck_assert_int_eq (number_in (rows, 11, "worker_id_after"), -1);
}
END_TEST

START_TEST (json_lists_the_hosts_of_each_change)
{
  g_autoptr (Document) document = document_of ("a b c", "a c");
  g_autofree char *json = document_format_json (document);
  g_autoptr (JsonNode) root = json_from_string (json, NULL);
  JsonArray *changes = rows_of (root, "changed_variables"), *nodes;

  ck_assert_uint_eq (json_array_get_length (changes), 2);
  ck_assert_str_eq (text_in (changes, 1, "name"), "MEGASCALE_SLICE_ID");
  ck_assert_str_eq (text_in (changes, 1, "before"), "2");
  ck_assert_str_eq (text_in (changes, 1, "after"), "1");
  nodes = json_object_get_array_member (json_array_get_object_element (changes, 1), "nodes");
  ck_assert_uint_eq (json_array_get_length (nodes), 4);
  ck_assert_str_eq (json_array_get_string_element (nodes, 3), "c-3");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("renumbering view");
  TCase *tcase = tcase_create ("view");

  tcase_add_loop_test (tcase, text_shows_moved_processes_and_each_change_once, 0, G_N_ELEMENTS (shown));
  tcase_add_test (tcase, json_has_every_number_and_variable);
  tcase_add_test (tcase, json_lists_the_hosts_of_each_change);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}

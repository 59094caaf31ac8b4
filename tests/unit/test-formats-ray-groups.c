/* SPDX-License-Identifier: Apache-2.0 */
#include "ray-suite.h"

#define HOST(id, address)                                                                                              \
  "{\"NodeID\": \"" id "\", \"Alive\": true, \"NodeName\": \"" address "\", "                                          \
  "\"NodeManagerAddress\": \"" address "\", \"Resources\": {\"CPU\": 8.0, \"TPU\": 4.0, \"memory\": 1000.0}, "         \
  "\"Labels\": {\"ray.io/tpu-slice-name\": \"s\"}}"
#define TWO_HOSTS "[" HOST ("aa", "a") ", " HOST ("bb", "b") "]"
#define ROW(id, state, bundles)                                                                                        \
  "{\"placement_group_id\": \"" id "\", \"name\": \"n\", \"state\": \"" state "\", \"bundles\": " bundles "}"
#define BUNDLE(takes, node) "{\"unit_resources\": {" takes "}, \"node_id\": " node "}"
#define TABLE(id, state, bundles, nodes)                                                                               \
  "{\"" id "\": {\"placement_group_id\": \"" id "\", \"name\": \"\", \"strategy\": \"SPREAD\", \"state\": \"" state    \
  "\", \"bundles\": {" bundles "}, \"bundles_to_node_id\": {" nodes "}}}"

/* On two hosts, aa and bb, of 8 CPU and 4 TPU. */
static const struct {
  const char *groups, *expected, *request;
} accepted[] = {
  { "[]", "", NULL },
  { "{}", "", NULL },
  { "No resource in the cluster", "", NULL },
  { "\n  No resource in the cluster\n\n", "", NULL },
  { "[" ROW ("cc", "REMOVED", "[]") "]", "", NULL },
  { "[" ROW ("cc", "REMOVED", "[{\"node_id\": \"gone\"}]") "]", "", NULL },
  { "[" ROW ("cc", "CREATED", "[" BUNDLE ("\"TPU\": 4.0, \"CPU\": 1.0", "\"aa\"") "]") "]",
    "cc 'n' RESERVED a CPU=1 TPU=4", "{CPU: 1, TPU: 4}" },
  { "[" ROW ("cc", "PENDING", "[" BUNDLE ("\"TPU\": 4.0", "\"\"") ", " BUNDLE ("\"TPU\": 4.0", "null") "]") "]",
    "cc 'n' PENDING - TPU=4, - TPU=4", "{TPU: 4} x 2" },
  { "[" ROW ("cc", "PREPARED", "[" BUNDLE ("\"TPU\": 2", "\"aa\"") "]") "]", "cc 'n' RESERVED a TPU=2", "{TPU: 2}" },
  { "[" ROW ("cc", "PREPARED", "[" BUNDLE ("\"TPU\": 2", "\"aa\"") ", " BUNDLE ("\"TPU\": 2", "\"\"") "]") "]",
    "cc 'n' PENDING a TPU=2, - TPU=2", "{TPU: 2} x 2" },
  { "[" ROW ("cc", "RESCHEDULING", "[" BUNDLE ("\"TPU\": 2", "\"aa\"") ", " BUNDLE ("\"TPU\": 2", "\"\"") "]") "]",
    "cc 'n' RESCHEDULING a TPU=2, - TPU=2", NULL },
  { "[" ROW ("cc", "CREATED", "[" BUNDLE ("\"TPU\": 2", "\"aa\"") ", " BUNDLE ("\"TPU\": 2", "null") "]") "]",
    "cc 'n' RESCHEDULING a TPU=2, - TPU=2", NULL },
  /* Ray counts 0.57 as 0.5699, and ignores 0. */
  { "[" ROW ("cc", "CREATED", "[" BUNDLE ("\"TPU\": 0.57, \"CPU\": 0", "\"bb\"") "]") "]",
    "cc 'n' RESERVED b TPU=0.5699", NULL },
  /* Equal bundles are counted; of many different ones the first four are shown. */
  { "[" ROW (
        "cc", "CREATED",
        "[" BUNDLE ("\"CPU\": 1", "\"aa\"") ", " BUNDLE ("\"CPU\": 2", "\"aa\"") ", " BUNDLE (
            "\"CPU\": 2",
            "\"bb\"") ", " BUNDLE ("\"TPU\": 1",
                                   "\"aa\"") ", " BUNDLE ("\"TPU\": 2",
                                                          "\"aa\"") ", " BUNDLE ("\"TPU\": 1",
                                                                                 "\"aa\"") ", " BUNDLE ("\"TPU\": 1",
                                                                                                        "\"bb\"") "]") "]",
    NULL, "{CPU: 1} + {CPU: 2} x 2 + {TPU: 1} + {TPU: 2} + 2 more" },
  { TABLE ("cc", "CREATED", "\"1\": {\"TPU\": 1}, \"0\": {\"TPU\": 2}", "\"0\": \"aa\", \"1\": \"bb\""),
    "cc '' RESERVED a TPU=2, b TPU=1", "SPREAD {TPU: 2} + {TPU: 1}" },
  { TABLE ("cc", "PENDING", "\"0\": {\"TPU\": 2}", "\"0\": null"), "cc '' PENDING - TPU=2", "SPREAD {TPU: 2}" },
  { "---\n-   placement_group_id: cc\n    name: y\n    state: CREATED\n    bundles:\n    -   unit_resources:\n"
    "            TPU: 4.0\n        node_id: bb\n...\n",
    "cc 'y' RESERVED b TPU=4", "{TPU: 4}" },
  { "---\n-   placement_group_id: 12e4567\n    name: ''\n    state: PENDING\n    bundles:\n    -   unit_resources:\n"
    "            TPU: 4.0\n        node_id: ''\n...\n",
    "12e4 '' PENDING - TPU=4", NULL },
};

START_TEST (groups_match_the_listing)
{
  GError *error = NULL;
  g_autoptr (QuoitClaims) claims = read_texts (TWO_HOSTS, accepted[_i].groups, NULL, &error);
  guint32 n_groups;
  const QuoitGroupClaim *groups;

  ck_assert_ok (error);
  if (accepted[_i].expected != NULL)
    ck_assert_text (groups_as_text (claims), accepted[_i].expected);
  groups = quoit_claims_groups (claims, &n_groups);
  if (accepted[_i].request != NULL)
    ck_assert_str_eq (groups[0].request, accepted[_i].request);
  ck_assert_uint_eq (quoit_claims_scope (claims), QUOIT_CLAIMS_SCOPE_GROUPS);
}
END_TEST

static const struct {
  const char *groups, *message;
} refused[] = {
  { "", "groups: nothing in it: expected the output of ray list placement-groups with --detail, or the JSON of" },
  { "======== List: 2026-11-21",
    "groups: line 1: a table, which ray prints without --format: expected the output of ray list placement-groups with "
    "--detail, or the JSON of placement_group_table(); run 'ray list placement-groups --detail --format json --limit" },
  { "[1]", "groups: $[0]: '1': expected a map" },
  { "[{}]", "groups: $[0]: no 'placement_group_id': expected the id of a placement group" },
  { "[{\"placement_group_id\": \"\"}]", "groups: $[0].placement_group_id: '': expected the id of a placement group" },
  { "[{\"placement_group_id\": 7}]", "groups: $[0].placement_group_id: '7': expected text" },
  { "[{\"placement_group_id\": \"cc\"}]",
    "groups: $[0]: no 'state': expected PENDING, PREPARED, CREATED, RESCHEDULING" },
  { "[" ROW ("cc", "created", "[]") "]", "groups: $[0].state: 'created': expected PENDING, PREPARED, CREATED" },
  { "[" ROW ("cc", "CREATED", "null") "]",
    "groups: $[0]: no 'bundles': expected the output of ray list placement-groups with --detail" },
  { "[" ROW ("cc", "REMOVED", "null") "]", "groups: $[0]: no 'bundles': expected the output" },
  { "[" ROW ("cc", "CREATED", "[]") "]", "groups: $[0].bundles: no bundle in it: expected at least one" },
  { "[" ROW ("cc", "CREATED", "7") "]", "groups: $[0].bundles: '7': expected a list" },
  { "[" ROW ("cc", "CREATED", "[7]") "]", "groups: $[0].bundles[0]: '7': expected a map" },
  { "[" ROW ("cc", "CREATED", "[{\"node_id\": \"aa\"}]") "]",
    "groups: $[0].bundles[0]: no 'unit_resources': expected" },
  { "[" ROW ("cc", "CREATED", "[{\"unit_resources\": {}}]") "]", "groups: $[0].bundles[0]: no 'node_id': expected" },
  { "[" ROW ("cc", "CREATED", "[" BUNDLE ("\"TPU\": 4", "7") "]") "]",
    "groups: $[0].bundles[0].node_id: '7': expected a node id, or '' if the bundle is not placed" },
  { "[" ROW ("cc", "CREATED", "[" BUNDLE ("\"TPU\": 4", "\"dd\"") "]") "]",
    "groups: $[0].bundles[0].node_id: node 'dd': expected one of the list of nodes: the files are from different "
    "times" },
  { "[" ROW ("cc", "CREATED", "[" BUNDLE ("\"TPU\": -4", "\"aa\"") "]") "]",
    "groups: $[0].bundles[0].unit_resources.TPU: amount '-4': expected a number that is not negative" },
  { "[" ROW ("cc", "CREATED", "[" BUNDLE ("\"TPU\": \"4\"", "\"aa\"") "]") "]",
    "groups: $[0].bundles[0].unit_resources.TPU: '4': expected a number" },
  { "[" ROW ("cc", "PENDING", "[" BUNDLE ("", "\"\"") "]") ", " ROW ("cc", "PENDING", "[" BUNDLE ("", "\"\"") "]") "]",
    "groups: $[1]: placement group 'cc': expected each id once" },
  { "[" ROW ("cc", "CREATED", "[" BUNDLE ("\"TPU\": 4", "\"aa\"") ", " BUNDLE ("\"TPU\": 1", "\"aa\"") "]") "]",
    "groups: node 'a': groups take more 'TPU' than it has: the files are from different times" },
  { "[" ROW ("cc", "CREATED", "[" BUNDLE ("\"x\": 1", "\"aa\"") "]") "]",
    "groups: node 'a': groups take more 'x' than it has" },
  { "{\"cc\": 7}", "groups: $.cc: '7': expected a map" },
  { "{\"cc\": {\"placement_group_id\": \"dd\"}}",
    "groups: $.cc.placement_group_id: 'dd': expected the key of the group" },
  { TABLE ("cc", "CREATED", "\"0\": {\"TPU\": 2}", ""),
    "groups: $.cc.bundles_to_node_id: 0 nodes: expected one for each of the 1 bundles" },
  { TABLE ("cc", "CREATED", "\"1\": {\"TPU\": 2}", "\"1\": \"aa\""),
    "groups: $.cc.bundles: no '0': expected the bundles to be numbered from 0" },
  { TABLE ("cc", "CREATED", "\"0\": {\"TPU\": 2}", "\"1\": \"aa\""),
    "groups: $.cc.bundles_to_node_id: no '0': expected the node of each bundle" },
  { "{\"cc\": {\"placement_group_id\": \"cc\", \"state\": \"CREATED\", \"bundles\": {\"0\": {}}}}",
    "groups: $.cc: no 'bundles_to_node_id': expected the nodes of the bundles" },
  { TABLE ("cc", "CREATED", "\"0\": 7", "\"0\": \"aa\""), "groups: $.cc.bundles.0: '7': expected a map" },
  { "- placement_group_id: cc\n  state: CREATED\n  bundles: yes\n",
    "groups: line 3: [0].bundles: 'yes': expected a list" },
};

START_TEST (invalid_group_is_refused_with_its_path)
{
  GError *error = NULL;

  ck_assert_msg (read_texts (TWO_HOSTS, refused[_i].groups, NULL, &error) == NULL, "%s", refused[_i].groups);
  ck_assert_refused (error, QUOIT_ERROR_INVALID, refused[_i].message);
  ck_assert_ptr_null (read_texts (TWO_HOSTS, refused[_i].groups, NULL, NULL));
}
END_TEST

static char *
many_rows (const char *format, unsigned n)
{
  GString *text = g_string_new ("[");

  for (unsigned i = 0; i < n; i++)
    {
      g_autofree char *number = g_strdup_printf ("%u", i);
      g_auto (GStrv) parts = g_strsplit (format, "%", -1);
      g_autofree char *row = g_strjoinv (number, parts);

      g_string_append_printf (text, "%s%s", i > 0 ? "," : "", row);
    }
  g_string_append_c (text, ']');
  return g_string_free (text, FALSE);
}

#define LISTED_NODE "{\"node_id\": \"%\", \"state\": \"ALIVE\"}"
#define OBJECT_NODE "{\"NodeID\": \"%\", \"Alive\": true}"
#define REMOVED_GROUP ROW ("%", "REMOVED", "[]")

START_TEST (list_of_exactly_100_rows_is_refused_unless_marked_complete)
{
  static const struct {
    const char *nodes, *groups, *message;
  } lists[] = {
    { LISTED_NODE, NULL, "nodes: exactly 100 rows" },
    { OBJECT_NODE, NULL, NULL },
    { OBJECT_NODE, REMOVED_GROUP, "groups: exactly 100 rows" },
  };

  for (unsigned i = 0; i < G_N_ELEMENTS (lists); i++)
    for (unsigned n = 99; n <= 101; n++)
      {
        g_autofree char *nodes = many_rows (lists[i].nodes, n);
        g_autofree char *groups = lists[i].groups == NULL ? NULL : many_rows (lists[i].groups, n);
        QuoitRayFiles files = {
          .nodes = nodes, .n_nodes = strlen (nodes), .groups = groups, .n_groups = groups == NULL ? 0 : strlen (groups)
        };
        GError *error = NULL;
        g_autoptr (QuoitClaims) claims = quoit_read_ray_files (&files, &error), complete = NULL;

        if (n == 100 && lists[i].message != NULL)
          {
            ck_assert_ptr_null (claims);
            ck_assert_ptr_nonnull (strstr (error->message, "--complete"));
            ck_assert_ptr_nonnull (strstr (error->message, "--limit"));
            ck_assert_refused (error, QUOIT_ERROR_INVALID, lists[i].message);
          }
        ck_assert_ok (error);
        files.flags = QUOIT_RAY_COMPLETE;
        complete = quoit_read_ray_files (&files, &error);
        ck_assert_ok (error);
        ck_assert_ptr_nonnull (complete);
      }
}
END_TEST

#define GROUP_OF_2 "[" ROW ("cc", "CREATED", "[" BUNDLE ("\"TPU\": 2, \"CPU\": 0.57", "\"aa\"") "]") "]"
#define B_IS_FREE "\"bb\": {\"CPU\": 8, \"TPU\": 4, \"memory\": 1000}"

/* With GROUP_OF_2 on the first of two hosts. */
static const struct {
  const char *available, *external, *message;
} availabilities[] = {
  { "{\"aa\": {\"CPU\": 7.4301, \"TPU\": 2, \"memory\": 1000}, " B_IS_FREE "}", "", NULL },
  { "{\"aa\": {\"CPU\": 7.4301, \"TPU\": 2}, \"bb\": {}}", "a memory=1000; b CPU=8 TPU=4 memory=1000", NULL },
  { "{\"aa\": {\"memory\": 1000.0}, " B_IS_FREE "}", "a CPU=7.4301 TPU=2", NULL },
  { "{\"aa\": {\"CPU\": 7.43, \"TPU\": 1.5, \"memory\": 400}, " B_IS_FREE "}", "a CPU=0.0001 TPU=0.5 memory=600",
    NULL },
  { "{\"aa\": {\"CPU\": 7.4301, \"TPU\": 2, \"memory\": 1000, \"node:10.0.0.1\": 0.9,"
    " \"CPU_group_0_c942a9370a57d4a49a1132a0a65201000000\": 0.57, "
    "\"bundle_group_c942a9370a57d4a49a1132a0a65201000000\": "
    "1000, \"tpu_group_0_group_c942a9370a57d4a49a1132a0a65201000000\": 1}, " B_IS_FREE "}",
    "", NULL },
  { "{\"aa\": {\"CPU\": 7.4301, \"TPU\": 2, \"memory\": 1000, \"x\": 0}, " B_IS_FREE "}", "", NULL },
  /* 1.0009 times 10,000 is less than 10009. */
  { "{\"aa\": {\"CPU\": 7.4301, \"TPU\": 1.0009, \"memory\": 1000}, " B_IS_FREE "}", "a TPU=0.9991", NULL },
  { "{\"aa\": {\"CPU\": 7.4301, \"TPU\": 4, \"memory\": 1000}, " B_IS_FREE "}", NULL,
    "available: $.aa.TPU: '4': expected at most 2, the amount that no group takes: the files are from different "
    "times" },
  { "{\"aa\": {\"CPU\": 7.4301, \"TPU\": 2.0001, \"memory\": 1000}, " B_IS_FREE "}", NULL,
    "available: $.aa.TPU: '2.0001': expected at most 2" },
  { "{\"aa\": {\"CPU\": 7.4301, \"TPU\": 2, \"memory\": 1000, \"x\": 1}, " B_IS_FREE "}", NULL,
    "available: $.aa.x: '1': expected at most 0" },
  { "{" B_IS_FREE "}", NULL, "available: $: no 'aa', the alive node 'a': expected every node that is alive" },
  { "{\"aa\": {\"TPU\": 2}, " B_IS_FREE ", \"cc\": {}}", NULL,
    "available: $.cc: node 'cc': expected one of the list of nodes: the files are from different times" },
  { "{\"aa\": {\"TPU\": \"2\"}, " B_IS_FREE "}", NULL,
    "available: $.aa.TPU: '2': expected a number that is not negative" },
  { "{\"aa\": {\"TPU\": -2}, " B_IS_FREE "}", NULL,
    "available: $.aa.TPU: '-2': expected a number that is not negative" },
  { "{\"aa\": {\"TPU\": 1e300}, " B_IS_FREE "}", NULL, "available: $.aa.TPU: amount '1" },
  { "{\"aa\": 7, " B_IS_FREE "}", NULL, "available: $.aa: '7': expected a map" },
  { "[]", NULL, "available: $: a list: expected a map" },
  { "", NULL, "available: nothing in it: expected the JSON of available_resources_per_node()" },
  { "7", NULL, "available: line 1: '7': expected a map" },
  { "{'aa': {}}", NULL, "available: line 1, column 2" },
};

START_TEST (external_use_is_total_minus_available_minus_groups)
{
  GError *error = NULL;
  g_autoptr (QuoitClaims) claims = read_texts (TWO_HOSTS, GROUP_OF_2, availabilities[_i].available, &error);

  if (availabilities[_i].message != NULL)
    {
      ck_assert_ptr_null (claims);
      ck_assert_refused (error, QUOIT_ERROR_INVALID, availabilities[_i].message);
      return;
    }
  ck_assert_ok (error);
  ck_assert_text (external_as_text (claims), availabilities[_i].external);
  ck_assert_uint_eq (quoit_claims_scope (claims), QUOIT_CLAIMS_SCOPE_GROUPS | QUOIT_CLAIMS_SCOPE_EXTERNAL);
  ck_assert_ptr_null (quoit_claims_warnings (claims)[0]);
}
END_TEST

START_TEST (rounded_memory_gives_no_external_use)
{
  static const char nodes[] = "[{\"node_id\": \"aa\", \"state\": \"ALIVE\", \"resources_total\": {\"CPU\": 8.0, "
                              "\"memory\": \"1.000 GiB\", \"object_store_memory\": \"80.000 MiB\"}}]";
  static const char groups[]
      = "[" ROW ("cc", "CREATED", "[" BUNDLE ("\"CPU\": 1, \"memory\": 2000000000", "\"aa\"") "]") "]";
  GError *error = NULL;
  g_autoptr (QuoitClaims) claims
      = read_texts (nodes, groups, "{\"aa\": {\"CPU\": 6, \"memory\": 9e9, \"object_store_memory\": 5}}", &error);

  ck_assert_ok (error);
  ck_assert_text (groups_as_text (claims), "cc 'n' RESERVED aa CPU=1 memory=2000000000");
  ck_assert_text (external_as_text (claims), "aa CPU=1");
}
END_TEST

#define DEAD_HOST "{\"NodeID\": \"bb\", \"Alive\": false, \"NodeName\": \"b\", \"Resources\": {}}"

START_TEST (dead_node_keeps_bundles_and_may_lack_availability)
{
  static const char nodes[] = "[" HOST ("aa", "a") ", " DEAD_HOST "]";
  static const char groups[] = "[" ROW ("cc", "CREATED", "[" BUNDLE ("\"TPU\": 4", "\"bb\"") "]") "]";
  static const char *const available[]
      = { "{\"aa\": {\"CPU\": 8, \"TPU\": 4, \"memory\": 1000}}",
          "{\"aa\": {\"CPU\": 8, \"TPU\": 4, \"memory\": 1000}, \"bb\": {\"TPU\": 4}}" };

  for (unsigned i = 0; i < G_N_ELEMENTS (available); i++)
    {
      GError *error = NULL;
      g_autoptr (QuoitClaims) claims = read_texts (nodes, groups, available[i], &error);

      ck_assert_ok (error);
      ck_assert_text (groups_as_text (claims), "cc 'n' RESERVED b TPU=4");
      ck_assert_text (external_as_text (claims), "");
    }
}
END_TEST

START_TEST (missing_lists_are_warned_of)
{
  static const char free_of_groups[] = "{\"aa\": {\"CPU\": 8, \"TPU\": 4, \"memory\": 1000}, " B_IS_FREE "}";
  static const char with_groups[] = "{\"aa\": {\"CPU\": 8, \"TPU\": 2, \"memory\": 1000, "
                                    "\"TPU_group_c942a9370a57d4a49a1132a0a65201000000\": 2}, " B_IS_FREE "}";
  static const struct {
    const char *groups, *available, *message;
    guint scope;
  } asked[] = {
    { NULL, NULL, "the list has the nodes' resources, but not what is in use", 0 },
    { "[]", NULL, "the lists have the nodes' resources and the placement groups, but not what else is in use",
      QUOIT_CLAIMS_SCOPE_GROUPS },
    { NULL, free_of_groups, NULL, QUOIT_CLAIMS_SCOPE_EXTERNAL },
    { NULL, with_groups, "placement groups use resources, but no list of groups is given",
      QUOIT_CLAIMS_SCOPE_EXTERNAL },
    { "[]", free_of_groups, NULL, QUOIT_CLAIMS_SCOPE_GROUPS | QUOIT_CLAIMS_SCOPE_EXTERNAL },
  };

  for (unsigned i = 0; i < G_N_ELEMENTS (asked); i++)
    {
      g_autoptr (QuoitClaims) claims = read_texts (TWO_HOSTS, asked[i].groups, asked[i].available, NULL);
      const char *warning = quoit_claims_warnings (claims)[0];

      ck_assert_uint_eq (quoit_claims_scope (claims), asked[i].scope);
      ck_assert_msg (asked[i].message == NULL ? warning == NULL
                                              : warning != NULL && g_str_has_prefix (warning, asked[i].message),
                     "%u: %s", i, warning);
    }
}
END_TEST

START_TEST (chips_are_devices_divided_by_devices_per_chip)
{
  static const char nodes[] = "[" HOST ("aa", "a") "]";
  static const char groups[] = "[" ROW ("cc", "CREATED", "[" BUNDLE ("\"TPU\": 4", "\"aa\"") "]") "]";
  static const struct {
    guint per_chip, chips;
    const char *message;
  } factors[] = { { 0, 4, NULL },
                  { 1, 4, NULL },
                  { 2, 2, NULL },
                  { 4, 1, NULL },
                  { 3, 0, "nodes: $[0].Resources.TPU: '4': expected a multiple of 3" } };

  for (unsigned i = 0; i < G_N_ELEMENTS (factors); i++)
    {
      QuoitRayFiles files = { .nodes = nodes,
                              .n_nodes = strlen (nodes),
                              .groups = groups,
                              .n_groups = strlen (groups),
                              .tpu_per_chip = factors[i].per_chip };
      GError *error = NULL;
      g_autoptr (QuoitClaims) claims = quoit_read_ray_files (&files, &error);

      if (factors[i].message != NULL)
        {
          ck_assert_refused (error, QUOIT_ERROR_INVALID, factors[i].message);
          continue;
        }
      ck_assert_ok (error);
      ck_assert_uint_eq (quoit_claims_kind_at (claims, 0)->chips, factors[i].chips);
      ck_assert_text (resources_as_text (claims, 0), "CPU=8 TPU=4 memory=1000");
      ck_assert_text (groups_as_text (claims), "cc 'n' RESERVED a TPU=4");
    }
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("formats-ray-groups");
  TCase *rows = tcase_create ("rows");

  tcase_set_timeout (rows, 60);
  tcase_add_loop_test (rows, groups_match_the_listing, 0, G_N_ELEMENTS (accepted));
  tcase_add_loop_test (rows, invalid_group_is_refused_with_its_path, 0, G_N_ELEMENTS (refused));
  tcase_add_test (rows, list_of_exactly_100_rows_is_refused_unless_marked_complete);
  tcase_add_loop_test (rows, external_use_is_total_minus_available_minus_groups, 0, G_N_ELEMENTS (availabilities));
  tcase_add_test (rows, rounded_memory_gives_no_external_use);
  tcase_add_test (rows, dead_node_keeps_bundles_and_may_lack_availability);
  tcase_add_test (rows, missing_lists_are_warned_of);
  tcase_add_test (rows, chips_are_devices_divided_by_devices_per_chip);
  suite_add_tcase (suite, rows);
  return suite_main (suite);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "ray-drawn.h"

/* --- placement --- */

typedef struct {
  const char *why, *cluster, *group, *answer;
} Fact;

static const Fact placements[] = {
  { "of equal nodes, the one that was added first is used", "CPU:4 | CPU:4 | CPU:4", "PACK CPU:1", "0" },
  { "the emptier node is better", "CPU:4 | CPU:8 | CPU:8/7", "PACK CPU:1", "1" },
  { "scores that differ in their last bit are equal", "CPU:7 a:13 b:3 | CPU:3 a:7 b:13", "PACK CPU:1 a:1 b:1", "0" },
  { "PACK fills a node in the order of Ray's queue", "CPU:4 | CPU:4", "PACK CPU:1 | CPU:3 | CPU:2 | CPU:1", "0 0 1 1" },
  { "PACK is greedy and can miss a placement", "CPU:4 | CPU:3", "PACK CPU:3 | CPU:2 | CPU:2", "FAILED" },
  { "SPREAD uses a node again if no unused node fits", "CPU:4 | CPU:2", "SPREAD CPU:1 | CPU:1 | CPU:1", "0 1 0" },
  { "STRICT_SPREAD never uses a node again", "CPU:4 | CPU:2", "STRICT_SPREAD CPU:1 | CPU:1 | CPU:1", "INFEASIBLE" },
  { "STRICT_PACK places the sum of all bundles", "CPU:2 | CPU:3", "STRICT_PACK CPU:1 | CPU:2", "1 1" },
  { "STRICT_PACK requires one node with all selected labels", "CPU:4 z=a | CPU:4 z=b",
    "STRICT_PACK CPU:1 z=a | CPU:1 z=b", "INFEASIBLE" },
  { "infeasibility is tested per bundle, not for their sum", "CPU:2", "PACK CPU:2 | CPU:2", "FAILED" },
  { "an amount above every node's total is infeasible", "CPU:2 | CPU:2", "SPREAD CPU:3", "INFEASIBLE" },
  { "an amount that no node has free fails", "CPU:4/1 | CPU:4/0", "SPREAD CPU:3", "FAILED" },
  { "a resource that a node does not list is 0", "CPU:4", "PACK TPU:1", "INFEASIBLE" },
  { "an implicit resource is 1", "CPU:4", "PACK node:__internal_implicit_resource_x:1", "0" },
  { "an implicit resource is never more than 1", "CPU:4", "PACK node:__internal_implicit_resource_x:1.1",
    "INFEASIBLE" },
  { "an implicit resource that a node lists has the listed amount", "CPU:4 | node:__internal_implicit_resource_x:2",
    "PACK node:__internal_implicit_resource_x:1.1", "1" },
  { "a selector list is read in any order", "CPU:1 z=b | CPU:1 z=a", "PACK CPU:1 z=in(b,a)", "0" },
  { "an absent label differs from every value", "CPU:1 | CPU:1 z=a", "PACK CPU:1 z=!a", "0" },
  { "in() matches no value", "CPU:1 z= | CPU:1 z=a", "PACK CPU:1 z=in()", "INFEASIBLE" },
  { "in(a,) has only the value a", "CPU:1 z= | CPU:1 z=a", "PACK CPU:1 z=in(a,)", "1" },
  { "contradictory selectors match no node", "CPU:1 z=a y=b", "PACK CPU:1 z=a y=!b", "INFEASIBLE" },
};

static const Fact rules[] = {
  { "a soft target is used", "CPU:4 | CPU:2 | CPU:4", "STRICT_PACK CPU:1 ->1", "1" },
  { "a full soft target is not used", "CPU:4 | CPU:2/0 | CPU:4", "STRICT_PACK CPU:1 ->1", "0" },
  { "a soft target without the selected label is not used", "CPU:4 z=a | CPU:4", "STRICT_PACK CPU:1 z=a ->1", "0" },
  { "an unknown soft target is ignored", "CPU:4 | CPU:4", "STRICT_PACK CPU:1 ->7", "0" },
  { "other strategies ignore the soft target", "CPU:4 | CPU:2", "PACK CPU:1 ->1", "0" },
  { "STRICT_SPREAD does not use an excluded node", "CPU:4 | CPU:4", "STRICT_SPREAD CPU:1 -0", "1" },
  { "other strategies use an excluded node", "CPU:4 | CPU:4", "SPREAD CPU:1 -0", "0" },
  { "an excluded node is no candidate", "CPU:4 | CPU:4 | CPU:4", "STRICT_SPREAD CPU:1 -0 -1 | CPU:1", "INFEASIBLE" },
  { "an excluded node without the label is no candidate", "CPU:1 z=a | CPU:1 z=b | CPU:1/0 z=a",
    "STRICT_SPREAD CPU:1 z=a -1 | CPU:1 z=a", "FAILED" },
  { "a node without the label counts as a candidate", "CPU:1 z=a | CPU:1 z=b", "STRICT_SPREAD CPU:1 z=a | CPU:1 z=a",
    "FAILED" },
  { "a topology label places all bundles in one domain", "CPU:1 z=a | CPU:1 z=b | CPU:1 z=b",
    "STRICT_SPREAD @z CPU:1 | CPU:1", "1 2" },
  { "the first sufficient domain is used", "CPU:1 z=b | CPU:1 z=a", "PACK @z CPU:1", "0" },
  { "nodes with no or an empty label are in no domain", "CPU:4 | CPU:4 z= | CPU:4 z=a", "PACK @z CPU:1", "2" },
  { "a topology label that no node has is infeasible", "CPU:4 | CPU:4 z=a", "PACK @y CPU:1", "INFEASIBLE" },
  { "one full domain and one that is too small fail", "CPU:2/0 z=a | CPU:1 z=b", "PACK @z CPU:2", "FAILED" },
  { "no domain has room for all bundles together", "CPU:1 z=a | CPU:1 z=b", "PACK @z CPU:1 | CPU:1", "INFEASIBLE" },
  { "a node that no selector matches still adds to its domain", "CPU:1/0 z=a y=b | CPU:1 z=a",
    "PACK @z CPU:1 y=b | CPU:1 y=b", "FAILED" },
  { "a bundle larger than every node of its domain is infeasible", "CPU:3 z=a | CPU:3 z=a",
    "STRICT_PACK @z CPU:5 | CPU:-3", "INFEASIBLE" },
  { "lost bundles go back to their domain", "CPU:4 z=a | CPU:1 z=b", "PACK @z=b CPU:1", "1" },
  { "lost bundles fail if their domain is full, although a different one is free", "CPU:4 z=a | CPU:1/0 z=b",
    "PACK @z=b CPU:1", "FAILED" },
  { "lost bundles are infeasible if their domain has no nodes", "CPU:4 z=a", "PACK @z=b CPU:1", "INFEASIBLE" },
  { "a soft target in a different domain is ignored", "CPU:1 z=a | CPU:1/0 z=b | CPU:1 z=a", "STRICT_PACK @z CPU:1 ->1",
    "0" },
  { "a soft target in the chosen domain is used", "CPU:1/0 z=b | CPU:2 z=a | CPU:1 z=a", "STRICT_PACK @z CPU:1 ->2",
    "2" },
  { "an excluded node is excluded in its domain", "CPU:1 z=a | CPU:1 z=b | CPU:1 z=b", "STRICT_SPREAD @z=b CPU:1 -1",
    "2" },
};

static void
check_fact (const Fact *fact)
{
  g_autoptr (QuoitRayCluster) cluster = drawn_ray_cluster (fact->cluster);
  g_autoptr (QuoitRayGroup) group = drawn_ray_group (fact->group);
  g_autofree char *answer = drawn_ray_answer (cluster, group);

  ck_assert_msg (strcmp (answer, fact->answer) == 0, "%s: %s", fact->why, answer);
}

START_TEST (bundles_are_placed_as_in_ray) { check_fact (&placements[_i]); }
END_TEST

START_TEST (placement_rules_narrow_the_choice) { check_fact (&rules[_i]); }
END_TEST

/* --- invalid arguments that Ray accepts --- */

static const Fact invalid[] = {
  { "a negative amount fits everywhere", "CPU:4 | CPU:4", "PACK CPU:-1", "0" },
  { "a negative amount scores best on the node with the least", "CPU:4 | CPU:1", "PACK CPU:-1", "1" },
  { "a negative amount of an absent resource fits", "CPU:4", "PACK CPU:1 | GPU:-2", "0 0" },
  { "a negative amount cannot raise a node above its total", "CPU:4 TPU:1", "PACK TPU:1 CPU:-2 | CPU:6", "INFEASIBLE" },
  { "a negative amount frees what is used", "CPU:6/4 TPU:1", "PACK TPU:1 CPU:-2 | CPU:6", "0 0" },
  { "0.00005 is truncated to 0", "TPU:1", "PACK CPU:0.00005", "0" },
  { "0.57 as a double is truncated to 0.5699", "TPU:0.5699", "PACK TPU:0.57", "0" },
  { "1.5 TPU and 0.5 TPU are placed as plain sums", "TPU:2 | TPU:2", "SPREAD TPU:1.5 | TPU:0.5", "0 1" },
  { "NaN is refused", "CPU:4", "PACK CPU:nan", "bundle 0: 'CPU': amount 'nan': expected a finite number" },
  { "infinity is refused", "CPU:4", "PACK CPU:1 | TPU:inf", "bundle 1: 'TPU': amount 'inf': expected a finite number" },
  { "an amount beyond 64 bits is refused", "CPU:4", "PACK CPU:922337203685477.625",
    "bundle 0: 'CPU': amount '922337203685477.62': expected less than 922337203685477.5808" },
  { "a negative amount beyond 64 bits is refused", "CPU:4", "PACK CPU:-1e15",
    "bundle 0: 'CPU': amount '-1000000000000000': expected more than -922337203685477.5808" },
  { "the largest amount of 64 bits is accepted", "CPU:922337203685477.5", "PACK CPU:922337203685477.5", "0" },
  { "STRICT_PACK with a sum beyond 64 bits is refused", "CPU:4", "STRICT_PACK CPU:9e14 | CPU:9e14",
    "resource 'CPU': the sum of all bundles, '1800000000000000': expected less than 922337203685477.5808" },
  { "a topology label with a sum beyond 64 bits is refused", "CPU:4 z=a", "PACK @z CPU:9e14 | CPU:9e14",
    "resource 'CPU': the sum of all bundles, '1800000000000000': expected less than 922337203685477.5808" },
  { "PACK with a sum beyond 64 bits is accepted", "CPU:9e14 | CPU:9e14", "PACK CPU:9e14 | CPU:9e14", "0 1" },
  { "an empty resource name is refused", "CPU:4", "PACK :1", "bundle 0: '': resource '': expected a name" },
  { "resource name bundle is refused", "bundle:4", "PACK bundle:1",
    "bundle 0: 'bundle': resource 'bundle': expected a name that Ray does not use itself" },
  { "two topology labels", "CPU:4 z=a y=b", "PACK @z @y CPU:1", "topology labels 'z' and 'y': expected one at most" },
  { "a bundle without amounts", "CPU:4 | CPU:4", "STRICT_SPREAD  | ", "0 1" },
};

START_TEST (invalid_input_that_ray_accepts_is_answered_as_in_ray_or_refused) { check_fact (&invalid[_i]); }
END_TEST

START_TEST (refusal_leaves_results_unchanged)
{
  g_autoptr (QuoitRayCluster) cluster = drawn_ray_cluster ("CPU:4");
  g_autoptr (QuoitRayGroup) group = drawn_ray_group ("PACK CPU:nan");
  QuoitRayResult result = (QuoitRayResult) 77;
  QuoitRayCertainty whether = (QuoitRayCertainty) 77;
  guint32 node = 77;
  GError *error = NULL;

  ck_assert (!quoit_ray_group_place (group, cluster, &result, &node, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "'nan'");
  ck_assert (!quoit_ray_group_is_determined (group, cluster, 1, &whether, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "'nan'");
  ck_assert (!quoit_ray_group_is_possible (group, cluster, QUOIT_RAY_FAILED, NULL, 1, &whether, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "'nan'");
  ck_assert (!quoit_ray_bundle_order (group, &node, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "'nan'");
  ck_assert (!quoit_ray_cluster_allocate (cluster, group, (const guint32[]) { 0 }, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "'nan'");
  ck_assert_int_eq (result, 77);
  ck_assert_int_eq (whether, 77);
  ck_assert_uint_eq (node, 77);
  ck_assert_int_eq (quoit_ray_cluster_get_available_e4 (cluster, 0, "CPU"), 40000);
}
END_TEST

START_TEST (nodes_are_written_only_on_success)
{
  g_autoptr (QuoitRayCluster) cluster = drawn_ray_cluster ("CPU:4 | CPU:4");
  g_autoptr (QuoitRayGroup) group = drawn_ray_group ("SPREAD CPU:4 | CPU:4 | CPU:1");
  guint32 nodes[] = { 77, 77, 77 };
  QuoitRayResult result;

  ck_assert (quoit_ray_group_place (group, cluster, &result, nodes, NULL));
  ck_assert_int_eq (result, QUOIT_RAY_FAILED);
  for (guint i = 0; i < G_N_ELEMENTS (nodes); i++)
    ck_assert_uint_eq (nodes[i], 77);
  ck_assert (quoit_ray_group_place (group, cluster, &result, NULL, NULL));
}
END_TEST

/* --- nodes --- */

START_TEST (invalid_node_resources_are_refused)
{
  g_autoptr (QuoitRayCluster) cluster = drawn_ray_cluster ("CPU:4");
  GError *error = NULL;

  ck_assert (!quoit_ray_cluster_add_node (cluster, "0", &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "node '0'");
  ck_assert (!quoit_ray_cluster_set_resource (cluster, 0, "CPU", -1, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "total: amount '-1'");
  ck_assert (!quoit_ray_cluster_set_resource (cluster, 0, "CPU", 1, 1e15, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "available: amount '1000000000000000'");
  ck_assert (!quoit_ray_cluster_set_resource_e4 (cluster, 0, "CPU", 1, -1, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "available: '-1'");
  ck_assert (!quoit_ray_cluster_set_resource (cluster, 0, "", 1, 1, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "resource ''");
  ck_assert_uint_eq (quoit_ray_cluster_get_n_nodes (cluster), 1);
  ck_assert_int_eq (quoit_ray_cluster_get_available_e4 (cluster, 0, "CPU"), 40000);
  ck_assert_str_eq (quoit_ray_cluster_get_node_id (cluster, 0), "0");
}
END_TEST

START_TEST (repeated_setting_replaces_the_old_value)
{
  g_autoptr (QuoitRayCluster) cluster = drawn_ray_cluster ("CPU:4 z=a | CPU:4 z=b | CPU:4 z=a");
  g_autoptr (QuoitRayGroup) group = drawn_ray_group ("PACK CPU:9 z=a");
  g_autofree char *before = drawn_ray_answer (cluster, group), *after = NULL;

  ck_assert_str_eq (before, "INFEASIBLE");
  quoit_ray_group_set_amount (group, 0, "CPU", 1);
  quoit_ray_group_set_selector (group, 0, "z", "b");
  quoit_ray_cluster_set_label (cluster, 1, "z", "c");
  quoit_ray_cluster_set_label (cluster, 0, "z", "b");
  quoit_ray_cluster_set_label (cluster, 2, "z", "b");
  ck_assert (quoit_ray_cluster_set_resource (cluster, 0, "CPU", 4, 0.5, NULL));
  after = drawn_ray_answer (cluster, group);
  ck_assert_str_eq (after, "2");
}
END_TEST

START_TEST (group_returns_exactly_the_amounts_it_took)
{
  g_autoptr (QuoitRayCluster) cluster = drawn_ray_cluster ("CPU:4 TPU:4/1 | CPU:4");
  g_autoptr (QuoitRayGroup) group = drawn_ray_group ("PACK CPU:1.5 TPU:2 | CPU:2 | CPU:-1");
  const guint32 nodes[] = { 0, 0, 1 }, wrong[] = { 0, 0, 2 };
  GError *error = NULL;

  ck_assert (quoit_ray_cluster_allocate (cluster, group, nodes, NULL));
  ck_assert_int_eq (quoit_ray_cluster_get_available_e4 (cluster, 0, "CPU"), 5000);
  ck_assert_int_eq (quoit_ray_cluster_get_available_e4 (cluster, 0, "TPU"), 0);
  ck_assert_int_eq (quoit_ray_cluster_get_available_e4 (cluster, 1, "CPU"), 50000);
  ck_assert (quoit_ray_cluster_deallocate (cluster, group, nodes, NULL));
  ck_assert_int_eq (quoit_ray_cluster_get_available_e4 (cluster, 0, "CPU"), 40000);
  ck_assert_int_eq (quoit_ray_cluster_get_available_e4 (cluster, 0, "TPU"), 20000);
  ck_assert_int_eq (quoit_ray_cluster_get_available_e4 (cluster, 1, "CPU"), 40000);
  ck_assert (!quoit_ray_cluster_allocate (cluster, group, wrong, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "bundle 2: node '2'");
  ck_assert_int_eq (quoit_ray_cluster_get_available_e4 (cluster, 0, "CPU"), 40000);
}
END_TEST

/* --- other possible answers of Ray --- */

typedef struct {
  const char *why, *cluster, *group;
  guint64 budget;
  QuoitRayCertainty determined;
} Certainty;

static const Certainty certainties[] = {
  { "determined: one best node", "CPU:4 | CPU:2", "PACK CPU:1", 0, QUOIT_RAY_YES },
  { "not determined: two best nodes", "CPU:4 | CPU:4", "PACK CPU:1", 0, QUOIT_RAY_NO },
  { "determined: never fits", "CPU:4 | CPU:4", "PACK CPU:5", 0, QUOIT_RAY_YES },
  { "determined: fits nowhere now", "CPU:4/0 | CPU:4/0", "PACK CPU:1", 0, QUOIT_RAY_YES },
  { "determined: every first choice fails", "CPU:4 | CPU:4", "SPREAD CPU:3 | CPU:3 | CPU:3", 100, QUOIT_RAY_YES },
  { "unknown: every first choice fails, but the budget is 0", "CPU:4 | CPU:4", "SPREAD CPU:3 | CPU:3 | CPU:3", 0,
    QUOIT_RAY_UNKNOWN },
  { "not determined: one first choice succeeds", "CPU:4 | CPU:4 z=a | CPU:2/1",
    "STRICT_SPREAD CPU:2 | CPU:2 z=a | CPU:1", 100, QUOIT_RAY_NO },
  { "not determined: one first choice fails", "CPU:4 z=a | CPU:4", "STRICT_SPREAD CPU:2 | CPU:2 z=a", 100,
    QUOIT_RAY_NO },
  { "determined: one sufficient domain", "CPU:1 z=a | CPU:2 z=b", "PACK @z CPU:2", 0, QUOIT_RAY_YES },
  { "not determined: two sufficient domains", "CPU:2 z=a | CPU:2 z=b", "PACK @z CPU:2", 0, QUOIT_RAY_NO },
  { "determined: the domain is fixed", "CPU:2 z=a | CPU:2 z=b", "PACK @z=a CPU:2", 0, QUOIT_RAY_YES },
  { "not determined: equal nodes in the sufficient domain", "CPU:2 z=a | CPU:2 z=a", "PACK @z CPU:2", 0, QUOIT_RAY_NO },
  { "not determined: a second domain suffices for one choice",
    "CPU:2 z=a | CPU:2 z=a y=b | CPU:2 z=c y=b | CPU:2 z=c y=b", "STRICT_SPREAD @z CPU:1 | CPU:1 y=b", 100,
    QUOIT_RAY_NO },
};

START_TEST (result_is_determined_if_all_choices_give_it)
{
  const Certainty *fact = &certainties[_i];
  g_autoptr (QuoitRayCluster) cluster = drawn_ray_cluster (fact->cluster);
  g_autoptr (QuoitRayGroup) group = drawn_ray_group (fact->group);
  QuoitRayCertainty determined;

  ck_assert (quoit_ray_group_is_determined (group, cluster, fact->budget, &determined, NULL));
  ck_assert_msg (determined == fact->determined, "%s: %u", fact->why, (guint) determined);
}
END_TEST

typedef struct {
  const char *why, *cluster, *group, *answer;
  guint64 budget;
  QuoitRayCertainty possible;
} Possibility;

static const Possibility possibilities[] = {
  { "possible: any of equal nodes", "CPU:4 | CPU:4 | CPU:4", "SPREAD CPU:1 | CPU:1", "2 0", 0, QUOIT_RAY_YES },
  { "impossible: a node with a lower score", "CPU:4 | CPU:2", "PACK CPU:1", "1", 0, QUOIT_RAY_NO },
  { "impossible: a node without the label", "CPU:4 z=a | CPU:4", "PACK CPU:1 z=a", "1", 0, QUOIT_RAY_NO },
  { "impossible: an unknown node", "CPU:4 | CPU:4", "PACK CPU:1", "2", 0, QUOIT_RAY_NO },
  { "impossible: SPREAD with two bundles on one node", "CPU:4 | CPU:4", "SPREAD CPU:1 | CPU:1", "1 1", 0,
    QUOIT_RAY_NO },
  { "impossible: PACK on two nodes if one suffices", "CPU:4 | CPU:4", "PACK CPU:1 | CPU:1", "0 1", 0, QUOIT_RAY_NO },
  { "possible: a domain that is not the first", "CPU:1 z=a | CPU:1 z=b", "PACK @z CPU:1", "1", 0, QUOIT_RAY_YES },
  { "impossible: bundles in two domains", "CPU:1 z=a | CPU:1 z=b", "SPREAD @z CPU:0.5 | CPU:0.5", "0 1", 0,
    QUOIT_RAY_NO },
  { "impossible: a node in no domain", "CPU:1 z=a | CPU:1", "PACK @z CPU:1", "1", 0, QUOIT_RAY_NO },
  { "impossible: a domain other than the fixed one", "CPU:1 z=a | CPU:1 z=b", "PACK @z=a CPU:1", "1", 0, QUOIT_RAY_NO },
  { "impossible: a node other than the free soft target", "CPU:4 | CPU:4", "STRICT_PACK CPU:1 ->1", "0", 0,
    QUOIT_RAY_NO },
  { "possible: failure if nothing is free", "CPU:4/0", "PACK CPU:1", "FAILED", 0, QUOIT_RAY_YES },
  { "impossible: failure if a node is free", "CPU:4", "PACK CPU:1", "FAILED", 0, QUOIT_RAY_NO },
  { "impossible: failure if nothing ever fits", "CPU:4", "PACK CPU:5", "FAILED", 0, QUOIT_RAY_NO },
  { "possible: failure after a bad choice", "CPU:4 | CPU:4 z=a", "STRICT_SPREAD CPU:2 | CPU:2 z=a", "FAILED", 100,
    QUOIT_RAY_YES },
  { "unknown: failure after a bad choice, but the budget is 0", "CPU:4 | CPU:4 z=a", "STRICT_SPREAD CPU:2 | CPU:2 z=a",
    "FAILED", 0, QUOIT_RAY_UNKNOWN },
  { "impossible: failure if every choice succeeds", "CPU:4 | CPU:4", "STRICT_SPREAD CPU:2 | CPU:2", "FAILED", 100,
    QUOIT_RAY_NO },
  { "impossible: failure if a different domain suffices", "CPU:1/0 z=a | CPU:1 z=b", "PACK @z CPU:1", "FAILED", 100,
    QUOIT_RAY_NO },
  { "possible: failure if only a full domain could suffice", "CPU:1/0 z=a | CPU:0.5 z=b", "PACK @z CPU:1", "FAILED", 0,
    QUOIT_RAY_YES },
  { "possible: infeasible if no domain suffices", "CPU:1 z=a", "PACK @z CPU:2", "INFEASIBLE", 0, QUOIT_RAY_YES },
  { "impossible: infeasible if a node has the total", "CPU:1/0", "PACK CPU:1", "INFEASIBLE", 0, QUOIT_RAY_NO },
};

START_TEST (result_is_possible_if_some_choice_gives_it)
{
  const Possibility *fact = &possibilities[_i];
  g_autoptr (QuoitRayCluster) cluster = drawn_ray_cluster (fact->cluster);
  g_autoptr (QuoitRayGroup) group = drawn_ray_group (fact->group);
  g_auto (GStrv) words = g_strsplit (fact->answer, " ", -1);
  guint32 nodes[4] = { 0 };
  QuoitRayCertainty possible;
  QuoitRayResult result = QUOIT_RAY_SUCCESS;

  if (g_ascii_isalpha (*fact->answer))
    result = *fact->answer == 'F' ? QUOIT_RAY_FAILED : QUOIT_RAY_INFEASIBLE;
  for (guint i = 0; words[i] != NULL; i++)
    nodes[i] = (guint32) g_ascii_strtoull (words[i], NULL, 10);
  ck_assert (quoit_ray_group_is_possible (group, cluster, result, nodes, fact->budget, &possible, NULL));
  ck_assert_msg (possible == fact->possible, "%s: %u", fact->why, (guint) possible);
}
END_TEST

/* --- names --- */

START_TEST (the_resources_of_a_group_are_named_by_bundle_and_by_group)
{
  const char *id = "0123456789abcdef0123456789abcdef0123";
  g_autofree char *bundle = quoit_ray_dup_bundle_resource ("TPU", id, 12, NULL);
  g_autofree char *group = quoit_ray_dup_group_resource ("bundle", id, NULL);
  GError *error = NULL;

  ck_assert_str_eq (bundle, "TPU_group_12_0123456789abcdef0123456789abcdef0123");
  ck_assert_str_eq (group, "bundle_group_0123456789abcdef0123456789abcdef0123");
  ck_assert_ptr_null (quoit_ray_dup_group_resource ("TPU", "0123456789abcdef0123456789abcdef01234", &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "expected an id of 36 hexadecimal digits");
  ck_assert_ptr_null (quoit_ray_dup_bundle_resource ("TPU", "0123456789abcdef0123456789abcdef012g", 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "expected an id of 36 hexadecimal digits");
  ck_assert_ptr_null (quoit_ray_dup_bundle_resource ("", id, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "resource ''");
}
END_TEST

START_TEST (strategy_names_are_parsed_as_formatted)
{
  QuoitStrategy strategy = QUOIT_STRATEGY_PACK;
  GError *error = NULL;

  for (int i = QUOIT_STRATEGY_PACK; i <= QUOIT_STRATEGY_STRICT_SPREAD; i++)
    {
      ck_assert (quoit_ray_strategy_parse (quoit_ray_strategy_get_name ((QuoitStrategy) i), &strategy, NULL));
      ck_assert_int_eq ((int) strategy, i);
    }
  ck_assert (!quoit_ray_strategy_parse ("pack", &strategy, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "strategy 'pack'");
  ck_assert_int_eq (strategy, QUOIT_STRATEGY_STRICT_SPREAD);
  ck_assert_ptr_null (quoit_ray_strategy_get_name ((QuoitStrategy) 4));
}
END_TEST

/* --- checks of placement_group() without a recorded row --- */

START_TEST (repeated_topology_key_is_one_entry)
{
  g_autoptr (QuoitRayGroup) group = quoit_ray_group_new ();

  quoit_ray_group_set_amount (group, quoit_ray_group_add_bundle (group), "CPU", 1);
  for (int i = 0; i < 3; i++)
    quoit_ray_group_add_topology (group, "ray.io/node-id", QUOIT_STRATEGY_SPREAD);
  ck_assert (quoit_ray_group_check (group, NULL));
}
END_TEST

START_TEST (strategy_with_topology_is_refused)
{
  g_autoptr (QuoitRayGroup) group = drawn_ray_group ("PACK @z CPU:1");
  GError *error = NULL;

  ck_assert (!quoit_ray_group_check (group, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "strategy 'PACK' and a topology");
}
END_TEST

START_TEST (accelerator_of_one_domain_must_be_in_all_bundles)
{
  g_autoptr (QuoitRayGroup) group
      = drawn_ray_group ("PACK CPU:1 ray.io/accelerator-type=A100 | CPU:1 ray.io/accelerator-type=GB300");
  GError *error = NULL;

  ck_assert (!quoit_ray_group_check (group, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "accelerator 'GB300' for '1' of '2' bundles");
  quoit_ray_group_set_selector (group, 0, "ray.io/accelerator-type", "GB300");
  ck_assert (quoit_ray_group_check (group, NULL));
}
END_TEST

/* --- large inputs --- */

START_TEST (million_selectors_are_answered)
{
  enum { BUNDLES = 10000, KEYS = 100, NODES = 1000 };
  g_autoptr (QuoitRayCluster) cluster = quoit_ray_cluster_new ();
  g_autoptr (QuoitRayGroup) group = quoit_ray_group_new ();
  g_autofree char *answer = NULL;

  for (guint32 n = 0; n < NODES; n++)
    {
      g_autofree char *id = g_strdup_printf ("%u", n);

      quoit_ray_cluster_add_node (cluster, id, NULL);
      quoit_ray_cluster_set_resource (cluster, n, "CPU", BUNDLES, BUNDLES, NULL);
      quoit_ray_cluster_set_label (cluster, n, "k0", n == NODES / 2 ? "here" : "there");
    }
  for (guint32 b = 0; b < BUNDLES; b++)
    {
      quoit_ray_group_add_bundle (group);
      quoit_ray_group_set_amount (group, b, "CPU", 1);
      for (guint32 k = 0; k < KEYS; k++)
        {
          g_autofree char *key = g_strdup_printf ("k%u", k);
          g_autofree char *value = k == 0 ? g_strdup ("in(here,nowhere)") : g_strdup_printf ("!in(v%u,w)", b);

          quoit_ray_group_set_selector (group, b, key, value);
        }
    }
  quoit_ray_group_set_strategy (group, QUOIT_STRATEGY_STRICT_PACK);
  answer = drawn_ray_answer (cluster, group);
  ck_assert (g_str_has_prefix (answer, "500 500 500 "));
}
END_TEST

START_TEST (number_of_amounts_is_limited)
{
  enum { BUNDLES = 5000 };
  g_autoptr (QuoitRayCluster) cluster = drawn_ray_cluster ("CPU:1");
  g_autoptr (QuoitRayGroup) group = quoit_ray_group_new ();
  GError *error = NULL;
  QuoitRayResult result;

  for (guint32 b = 0; b < BUNDLES; b++)
    {
      g_autofree char *name = g_strdup_printf ("r%u", b);

      quoit_ray_group_set_amount (group, quoit_ray_group_add_bundle (group), name, 1);
    }
  ck_assert (!quoit_ray_group_place (group, cluster, &result, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "'5000' bundles of '5000' resources");
}
END_TEST

START_TEST (number_of_selectors_is_limited)
{
  enum { BUNDLES = 43000, NODES = 100000 };
  g_autoptr (QuoitRayCluster) cluster = quoit_ray_cluster_new ();
  g_autoptr (QuoitRayGroup) group = quoit_ray_group_new ();
  GError *error = NULL;
  QuoitRayResult result;

  for (guint32 n = 0; n < NODES; n++)
    {
      g_autofree char *id = g_strdup_printf ("%u", n);

      ck_assert (quoit_ray_cluster_add_node (cluster, id, NULL));
    }
  for (guint32 b = 0; b < BUNDLES; b++)
    {
      g_autofree char *value = g_strdup_printf ("!v%u", b);

      quoit_ray_group_set_selector (group, quoit_ray_group_add_bundle (group), "k", value);
    }
  ck_assert (!quoit_ray_group_place (group, cluster, &result, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "bundles with '43000' different selectors and '100000' nodes");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("ray-placement");
  TCase *tcase = tcase_create ("ray-placement");

  tcase_set_timeout (tcase, 60);
  tcase_add_loop_test (tcase, bundles_are_placed_as_in_ray, 0, G_N_ELEMENTS (placements));
  tcase_add_loop_test (tcase, placement_rules_narrow_the_choice, 0, G_N_ELEMENTS (rules));
  tcase_add_loop_test (tcase, invalid_input_that_ray_accepts_is_answered_as_in_ray_or_refused, 0,
                       G_N_ELEMENTS (invalid));
  tcase_add_test (tcase, refusal_leaves_results_unchanged);
  tcase_add_test (tcase, nodes_are_written_only_on_success);
  tcase_add_test (tcase, invalid_node_resources_are_refused);
  tcase_add_test (tcase, repeated_setting_replaces_the_old_value);
  tcase_add_test (tcase, group_returns_exactly_the_amounts_it_took);
  tcase_add_loop_test (tcase, result_is_determined_if_all_choices_give_it, 0, G_N_ELEMENTS (certainties));
  tcase_add_loop_test (tcase, result_is_possible_if_some_choice_gives_it, 0, G_N_ELEMENTS (possibilities));
  tcase_add_test (tcase, the_resources_of_a_group_are_named_by_bundle_and_by_group);
  tcase_add_test (tcase, strategy_names_are_parsed_as_formatted);
  tcase_add_test (tcase, repeated_topology_key_is_one_entry);
  tcase_add_test (tcase, strategy_with_topology_is_refused);
  tcase_add_test (tcase, accelerator_of_one_domain_must_be_in_all_bundles);
  tcase_add_test (tcase, million_selectors_are_answered);
  tcase_add_test (tcase, number_of_amounts_is_limited);
  tcase_add_test (tcase, number_of_selectors_is_limited);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}

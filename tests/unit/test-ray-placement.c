/* SPDX-License-Identifier: Apache-2.0 */
#include "ray-drawn.h"

/* --- placement --- */

typedef struct {
  const char *why, *cluster, *group, *answer;
} Fact;

static const Fact placements[] = {
  { "of equals the node that was added first", "CPU:4 | CPU:4 | CPU:4", "PACK CPU:1", "0" },
  { "the emptier node is better", "CPU:4 | CPU:8 | CPU:8/7", "PACK CPU:1", "1" },
  { "scores that differ in their last bit are equal", "CPU:7 a:13 b:3 | CPU:3 a:7 b:13", "PACK CPU:1 a:1 b:1", "0" },
  { "PACK fills a node up in the order of the queue", "CPU:4 | CPU:4", "PACK CPU:1 | CPU:3 | CPU:2 | CPU:1",
    "0 0 1 1" },
  { "PACK is greedy", "CPU:4 | CPU:3", "PACK CPU:3 | CPU:2 | CPU:2", "FAILED" },
  { "SPREAD uses a node again where none is left", "CPU:4 | CPU:2", "SPREAD CPU:1 | CPU:1 | CPU:1", "0 1 0" },
  { "STRICT_SPREAD never does", "CPU:4 | CPU:2", "STRICT_SPREAD CPU:1 | CPU:1 | CPU:1", "INFEASIBLE" },
  { "STRICT_PACK adds bundles up", "CPU:2 | CPU:3", "STRICT_PACK CPU:1 | CPU:2", "1 1" },
  { "STRICT_PACK wants all labels at once", "CPU:4 z=a | CPU:4 z=b", "STRICT_PACK CPU:1 z=a | CPU:1 z=b",
    "INFEASIBLE" },
  { "bundles are judged one by one, never together", "CPU:2", "PACK CPU:2 | CPU:2", "FAILED" },
  { "what no node has in total is infeasible", "CPU:2 | CPU:2", "SPREAD CPU:3", "INFEASIBLE" },
  { "what none has free fails", "CPU:4/1 | CPU:4/0", "SPREAD CPU:3", "FAILED" },
  { "a resource that is not stated is 0", "CPU:4", "PACK TPU:1", "INFEASIBLE" },
  { "but for implicit ones, which are 1", "CPU:4", "PACK node:__internal_implicit_resource_x:1", "0" },
  { "of which there is no more", "CPU:4", "PACK node:__internal_implicit_resource_x:1.1", "INFEASIBLE" },
  { "unless the node says so", "CPU:4 | node:__internal_implicit_resource_x:2",
    "PACK node:__internal_implicit_resource_x:1.1", "1" },
  { "nothing is trimmed", "CPU:1 z=b | CPU:1 z=a", "PACK CPU:1 z=in(b,a)", "0" },
  { "a key that is absent is none of the values", "CPU:1 | CPU:1 z=a", "PACK CPU:1 z=!a", "0" },
  { "an empty list has no values", "CPU:1 z= | CPU:1 z=a", "PACK CPU:1 z=in()", "INFEASIBLE" },
  { "and a last comma none behind it", "CPU:1 z= | CPU:1 z=a", "PACK CPU:1 z=in(a,)", "1" },
  { "contradictory selectors", "CPU:1 z=a y=b", "PACK CPU:1 z=a y=!b", "INFEASIBLE" },
};

static const Fact standings[] = {
  { "a soft target is taken", "CPU:4 | CPU:2 | CPU:4", "STRICT_PACK CPU:1 ->1", "1" },
  { "not when it is full", "CPU:4 | CPU:2/0 | CPU:4", "STRICT_PACK CPU:1 ->1", "0" },
  { "not against labels", "CPU:4 z=a | CPU:4", "STRICT_PACK CPU:1 z=a ->1", "0" },
  { "one that nobody knows is none", "CPU:4 | CPU:4", "STRICT_PACK CPU:1 ->7", "0" },
  { "other strategies do not care", "CPU:4 | CPU:2", "PACK CPU:1 ->1", "0" },
  { "what is excluded STRICT_SPREAD does not use", "CPU:4 | CPU:4", "STRICT_SPREAD CPU:1 -0", "1" },
  { "the others do", "CPU:4 | CPU:4", "SPREAD CPU:1 -0", "0" },
  { "nor does it count as a candidate", "CPU:4 | CPU:4 | CPU:4", "STRICT_SPREAD CPU:1 -0 -1 | CPU:1", "INFEASIBLE" },
  { "nor where its labels do not match", "CPU:1 z=a | CPU:1 z=b | CPU:1/0 z=a",
    "STRICT_SPREAD CPU:1 z=a -1 | CPU:1 z=a", "FAILED" },
  { "whereas a node whose labels do not match counts", "CPU:1 z=a | CPU:1 z=b", "STRICT_SPREAD CPU:1 z=a | CPU:1 z=a",
    "FAILED" },
  { "all bundles in one domain", "CPU:1 z=a | CPU:1 z=b | CPU:1 z=b", "STRICT_SPREAD @z CPU:1 | CPU:1", "1 2" },
  { "the first that suffices", "CPU:1 z=b | CPU:1 z=a", "PACK @z CPU:1", "0" },
  { "no value and an empty one are no domain", "CPU:4 | CPU:4 z= | CPU:4 z=a", "PACK @z CPU:1", "2" },
  { "nobody has such a label", "CPU:4 | CPU:4 z=a", "PACK @y CPU:1", "INFEASIBLE" },
  { "one domain is full, another too small", "CPU:2/0 z=a | CPU:1 z=b", "PACK @z CPU:2", "FAILED" },
  { "all are too small together", "CPU:1 z=a | CPU:1 z=b", "PACK @z CPU:1 | CPU:1", "INFEASIBLE" },
  { "a node that no bundle may use adds to its domain", "CPU:1/0 z=a y=b | CPU:1 z=a", "PACK @z CPU:1 y=b | CPU:1 y=b",
    "FAILED" },
  { "a bundle too big for its domain, though all together fit", "CPU:3 z=a | CPU:3 z=a",
    "STRICT_PACK @z CPU:5 | CPU:-3", "INFEASIBLE" },
  { "lost bundles go back to their domain", "CPU:4 z=a | CPU:1 z=b", "PACK @z=b CPU:1", "1" },
  { "though others have room", "CPU:4 z=a | CPU:1/0 z=b", "PACK @z=b CPU:1", "FAILED" },
  { "also when nothing is left of it", "CPU:4 z=a", "PACK @z=b CPU:1", "INFEASIBLE" },
  { "a soft target in another domain is none", "CPU:1 z=a | CPU:1/0 z=b | CPU:1 z=a", "STRICT_PACK @z CPU:1 ->1", "0" },
  { "one in the domain is taken", "CPU:1/0 z=b | CPU:2 z=a | CPU:1 z=a", "STRICT_PACK @z CPU:1 ->2", "2" },
  { "what is excluded is so in its domain", "CPU:1 z=a | CPU:1 z=b | CPU:1 z=b", "STRICT_SPREAD @z=b CPU:1 -1", "2" },
};

static void
check_fact (const Fact *fact)
{
  g_autoptr (QuoitRayCluster) cluster = drawn_ray_cluster (fact->cluster);
  g_autoptr (QuoitRayGroup) group = drawn_ray_group (fact->group);
  g_autofree char *answer = drawn_ray_answer (cluster, group);

  ck_assert_msg (strcmp (answer, fact->answer) == 0, "%s: %s", fact->why, answer);
}

START_TEST (bundles_go_where_ray_would_put_them) { check_fact (&placements[_i]); }
END_TEST

START_TEST (targets_lost_bundles_and_topology_labels_narrow_the_choice) { check_fact (&standings[_i]); }
END_TEST

/* --- invalid arguments that Ray accepts --- */

static const Fact odd[] = {
  { "less than nothing fits everywhere", "CPU:4 | CPU:4", "PACK CPU:-1", "0" },
  { "and is the best of shares where there is little", "CPU:4 | CPU:1", "PACK CPU:-1", "1" },
  { "also of what no node has", "CPU:4", "PACK CPU:1 | GPU:-2", "0 0" },
  { "a bundle that gives makes no room that was never there", "CPU:4 TPU:1", "PACK TPU:1 CPU:-2 | CPU:6",
    "INFEASIBLE" },
  { "but where it was", "CPU:6/4 TPU:1", "PACK TPU:1 CPU:-2 | CPU:6", "0 0" },
  { "0.00005 is nothing", "TPU:1", "PACK CPU:0.00005", "0" },
  { "0.57 is less than 0.57", "TPU:0.5699", "PACK TPU:0.57", "0" },
  { "1.5 TPU straddle two hosts' halves", "TPU:2 | TPU:2", "SPREAD TPU:1.5 | TPU:0.5", "0 1" },
  { "NaN is undefined", "CPU:4", "PACK CPU:nan", "bundle 0: 'CPU': amount 'nan': expected a finite number" },
  { "so is infinity", "CPU:4", "PACK CPU:1 | TPU:inf", "bundle 1: 'TPU': amount 'inf': expected a finite number" },
  { "and what 64 bits do not hold", "CPU:4", "PACK CPU:922337203685477.625",
    "bundle 0: 'CPU': amount '922337203685477.62': expected less than 922337203685477.5808" },
  { "on both sides", "CPU:4", "PACK CPU:-1e15",
    "bundle 0: 'CPU': amount '-1000000000000000': expected more than -922337203685477.5808" },
  { "but for the last number that they do", "CPU:922337203685477.5", "PACK CPU:922337203685477.5", "0" },
  { "a sum is undefined where Ray adds up", "CPU:4", "STRICT_PACK CPU:9e14 | CPU:9e14",
    "resource 'CPU': the sum of all bundles, '1800000000000000': expected less than 922337203685477.5808" },
  { "for a topology label too", "CPU:4 z=a", "PACK @z CPU:9e14 | CPU:9e14",
    "resource 'CPU': the sum of all bundles, '1800000000000000': expected less than 922337203685477.5808" },
  { "elsewhere it is not", "CPU:9e14 | CPU:9e14", "PACK CPU:9e14 | CPU:9e14", "0 1" },
  { "a resource without a name ends Ray's process", "CPU:4", "PACK :1", "bundle 0: '': resource '': expected a name" },
  { "and one name is Ray's own", "bundle:4", "PACK bundle:1",
    "bundle 0: 'bundle': resource 'bundle': expected a name that Ray does not use itself" },
  { "two topology labels", "CPU:4 z=a y=b", "PACK @z @y CPU:1", "topology labels 'z' and 'y': expected one at most" },
  { "a bundle that asks for nothing", "CPU:4 | CPU:4", "STRICT_SPREAD  | ", "0 1" },
};

START_TEST (what_ray_lets_through_is_answered_as_ray_does_or_refused_where_that_is_undefined) { check_fact (&odd[_i]); }
END_TEST

START_TEST (a_refusal_writes_nothing)
{
  g_autoptr (QuoitRayCluster) cluster = drawn_ray_cluster ("CPU:4");
  g_autoptr (QuoitRayGroup) group = drawn_ray_group ("PACK CPU:nan");
  QuoitRayResult result = (QuoitRayResult) 77;
  QuoitRayWhether whether = (QuoitRayWhether) 77;
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
  ck_assert (!quoit_ray_cluster_take (cluster, group, (const guint32[]) { 0 }, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "'nan'");
  ck_assert_int_eq (result, 77);
  ck_assert_int_eq (whether, 77);
  ck_assert_uint_eq (node, 77);
  ck_assert_int_eq (quoit_ray_cluster_get_available_e4 (cluster, 0, "CPU"), 40000);
}
END_TEST

START_TEST (without_success_no_node_is_written)
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

START_TEST (a_node_has_what_a_report_could_state)
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

START_TEST (what_is_stated_again_replaces_what_was)
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

START_TEST (what_a_group_takes_comes_back_and_no_more)
{
  g_autoptr (QuoitRayCluster) cluster = drawn_ray_cluster ("CPU:4 TPU:4/1 | CPU:4");
  g_autoptr (QuoitRayGroup) group = drawn_ray_group ("PACK CPU:1.5 TPU:2 | CPU:2 | CPU:-1");
  const guint32 nodes[] = { 0, 0, 1 }, wrong[] = { 0, 0, 2 };
  GError *error = NULL;

  ck_assert (quoit_ray_cluster_take (cluster, group, nodes, NULL));
  ck_assert_int_eq (quoit_ray_cluster_get_available_e4 (cluster, 0, "CPU"), 5000);
  ck_assert_int_eq (quoit_ray_cluster_get_available_e4 (cluster, 0, "TPU"), 0);
  ck_assert_int_eq (quoit_ray_cluster_get_available_e4 (cluster, 1, "CPU"), 50000);
  ck_assert (quoit_ray_cluster_give_back (cluster, group, nodes, NULL));
  ck_assert_int_eq (quoit_ray_cluster_get_available_e4 (cluster, 0, "CPU"), 40000);
  ck_assert_int_eq (quoit_ray_cluster_get_available_e4 (cluster, 0, "TPU"), 20000);
  ck_assert_int_eq (quoit_ray_cluster_get_available_e4 (cluster, 1, "CPU"), 40000);
  ck_assert (!quoit_ray_cluster_take (cluster, group, wrong, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "bundle 2: node '2'");
  ck_assert_int_eq (quoit_ray_cluster_get_available_e4 (cluster, 0, "CPU"), 40000);
}
END_TEST

/* --- other possible answers of Ray --- */

typedef struct {
  const char *why, *cluster, *group;
  guint64 budget;
  QuoitRayWhether determined;
} Certainty;

static const Certainty certainties[] = {
  { "one best node", "CPU:4 | CPU:2", "PACK CPU:1", 0, QUOIT_RAY_YES },
  { "two of them", "CPU:4 | CPU:4", "PACK CPU:1", 0, QUOIT_RAY_NO },
  { "nowhere", "CPU:4 | CPU:4", "PACK CPU:5", 0, QUOIT_RAY_YES },
  { "nowhere now", "CPU:4/0 | CPU:4/0", "PACK CPU:1", 0, QUOIT_RAY_YES },
  { "it fails whichever it takes first", "CPU:4 | CPU:4", "SPREAD CPU:3 | CPU:3 | CPU:3", 100, QUOIT_RAY_YES },
  { "which nobody looked into", "CPU:4 | CPU:4", "SPREAD CPU:3 | CPU:3 | CPU:3", 0, QUOIT_RAY_UNKNOWN },
  { "it may succeed in taking another first", "CPU:4 | CPU:4 z=a | CPU:2/1", "STRICT_SPREAD CPU:2 | CPU:2 z=a | CPU:1",
    100, QUOIT_RAY_NO },
  { "it may fail in doing so", "CPU:4 z=a | CPU:4", "STRICT_SPREAD CPU:2 | CPU:2 z=a", 100, QUOIT_RAY_NO },
  { "one domain suffices", "CPU:1 z=a | CPU:2 z=b", "PACK @z CPU:2", 0, QUOIT_RAY_YES },
  { "two do", "CPU:2 z=a | CPU:2 z=b", "PACK @z CPU:2", 0, QUOIT_RAY_NO },
  { "one is bound", "CPU:2 z=a | CPU:2 z=b", "PACK @z=a CPU:2", 0, QUOIT_RAY_YES },
  { "one suffices, and its nodes are equal", "CPU:2 z=a | CPU:2 z=a", "PACK @z CPU:2", 0, QUOIT_RAY_NO },
  { "one suffices, another would if Ray chose so", "CPU:2 z=a | CPU:2 z=a y=b | CPU:2 z=c y=b | CPU:2 z=c y=b",
    "STRICT_SPREAD @z CPU:1 | CPU:1 y=b", 100, QUOIT_RAY_NO },
};

START_TEST (an_answer_is_determined_when_no_choice_leads_to_another)
{
  const Certainty *fact = &certainties[_i];
  g_autoptr (QuoitRayCluster) cluster = drawn_ray_cluster (fact->cluster);
  g_autoptr (QuoitRayGroup) group = drawn_ray_group (fact->group);
  QuoitRayWhether determined;

  ck_assert (quoit_ray_group_is_determined (group, cluster, fact->budget, &determined, NULL));
  ck_assert_msg (determined == fact->determined, "%s: %u", fact->why, (guint) determined);
}
END_TEST

typedef struct {
  const char *why, *cluster, *group, *answer;
  guint64 budget;
  QuoitRayWhether possible;
} Possibility;

static const Possibility possibilities[] = {
  { "any of the equals", "CPU:4 | CPU:4 | CPU:4", "SPREAD CPU:1 | CPU:1", "2 0", 0, QUOIT_RAY_YES },
  { "not one of fewer points", "CPU:4 | CPU:2", "PACK CPU:1", "1", 0, QUOIT_RAY_NO },
  { "not one that is no candidate", "CPU:4 z=a | CPU:4", "PACK CPU:1 z=a", "1", 0, QUOIT_RAY_NO },
  { "not one that there is not", "CPU:4 | CPU:4", "PACK CPU:1", "2", 0, QUOIT_RAY_NO },
  { "not two on one node", "CPU:4 | CPU:4", "SPREAD CPU:1 | CPU:1", "1 1", 0, QUOIT_RAY_NO },
  { "not half of it", "CPU:4 | CPU:4", "PACK CPU:1 | CPU:1", "0 1", 0, QUOIT_RAY_NO },
  { "a domain that is not the first", "CPU:1 z=a | CPU:1 z=b", "PACK @z CPU:1", "1", 0, QUOIT_RAY_YES },
  { "not two domains", "CPU:1 z=a | CPU:1 z=b", "SPREAD @z CPU:0.5 | CPU:0.5", "0 1", 0, QUOIT_RAY_NO },
  { "not a node outside of all", "CPU:1 z=a | CPU:1", "PACK @z CPU:1", "1", 0, QUOIT_RAY_NO },
  { "not the wrong domain", "CPU:1 z=a | CPU:1 z=b", "PACK @z=a CPU:1", "1", 0, QUOIT_RAY_NO },
  { "not the soft target's rival", "CPU:4 | CPU:4", "STRICT_PACK CPU:1 ->1", "0", 0, QUOIT_RAY_NO },
  { "failing where it must", "CPU:4/0", "PACK CPU:1", "FAILED", 0, QUOIT_RAY_YES },
  { "not where it cannot", "CPU:4", "PACK CPU:1", "FAILED", 0, QUOIT_RAY_NO },
  { "not where nothing fits ever", "CPU:4", "PACK CPU:5", "FAILED", 0, QUOIT_RAY_NO },
  { "failing by a bad choice", "CPU:4 | CPU:4 z=a", "STRICT_SPREAD CPU:2 | CPU:2 z=a", "FAILED", 100, QUOIT_RAY_YES },
  { "a choice that nobody looked into", "CPU:4 | CPU:4 z=a", "STRICT_SPREAD CPU:2 | CPU:2 z=a", "FAILED", 0,
    QUOIT_RAY_UNKNOWN },
  { "not where each choice is good", "CPU:4 | CPU:4", "STRICT_SPREAD CPU:2 | CPU:2", "FAILED", 100, QUOIT_RAY_NO },
  { "not where another domain will do", "CPU:1/0 z=a | CPU:1 z=b", "PACK @z CPU:1", "FAILED", 100, QUOIT_RAY_NO },
  { "failing in one, never in the other", "CPU:1/0 z=a | CPU:0.5 z=b", "PACK @z CPU:1", "FAILED", 0, QUOIT_RAY_YES },
  { "never", "CPU:1 z=a", "PACK @z CPU:2", "INFEASIBLE", 0, QUOIT_RAY_YES },
  { "not never", "CPU:1/0", "PACK CPU:1", "INFEASIBLE", 0, QUOIT_RAY_NO },
};

START_TEST (an_answer_is_possible_when_some_choice_leads_to_it)
{
  const Possibility *fact = &possibilities[_i];
  g_autoptr (QuoitRayCluster) cluster = drawn_ray_cluster (fact->cluster);
  g_autoptr (QuoitRayGroup) group = drawn_ray_group (fact->group);
  g_auto (GStrv) words = g_strsplit (fact->answer, " ", -1);
  guint32 nodes[4] = { 0 };
  QuoitRayWhether possible;
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

START_TEST (a_strategy_has_the_name_that_is_read)
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

START_TEST (one_key_twice_is_one_entry_of_the_topology)
{
  g_autoptr (QuoitRayGroup) group = quoit_ray_group_new ();

  quoit_ray_group_set_amount (group, quoit_ray_group_add_bundle (group), "CPU", 1);
  for (int i = 0; i < 3; i++)
    quoit_ray_group_add_topology (group, "ray.io/node-id", QUOIT_STRATEGY_SPREAD);
  ck_assert (quoit_ray_group_check (group, NULL));
}
END_TEST

START_TEST (a_strategy_beside_a_topology_is_refused)
{
  g_autoptr (QuoitRayGroup) group = drawn_ray_group ("PACK @z CPU:1");
  GError *error = NULL;

  ck_assert (!quoit_ray_group_check (group, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "strategy 'PACK' and a topology");
}
END_TEST

START_TEST (accelerators_of_one_domain_are_for_all_bundles)
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

START_TEST (a_million_selectors_are_answered)
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

START_TEST (more_amounts_than_memory_should_hold_are_refused)
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

START_TEST (more_selectors_than_memory_should_hold_are_refused)
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
  tcase_add_loop_test (tcase, bundles_go_where_ray_would_put_them, 0, G_N_ELEMENTS (placements));
  tcase_add_loop_test (tcase, targets_lost_bundles_and_topology_labels_narrow_the_choice, 0, G_N_ELEMENTS (standings));
  tcase_add_loop_test (tcase, what_ray_lets_through_is_answered_as_ray_does_or_refused_where_that_is_undefined, 0,
                       G_N_ELEMENTS (odd));
  tcase_add_test (tcase, a_refusal_writes_nothing);
  tcase_add_test (tcase, without_success_no_node_is_written);
  tcase_add_test (tcase, a_node_has_what_a_report_could_state);
  tcase_add_test (tcase, what_is_stated_again_replaces_what_was);
  tcase_add_test (tcase, what_a_group_takes_comes_back_and_no_more);
  tcase_add_loop_test (tcase, an_answer_is_determined_when_no_choice_leads_to_another, 0, G_N_ELEMENTS (certainties));
  tcase_add_loop_test (tcase, an_answer_is_possible_when_some_choice_leads_to_it, 0, G_N_ELEMENTS (possibilities));
  tcase_add_test (tcase, the_resources_of_a_group_are_named_by_bundle_and_by_group);
  tcase_add_test (tcase, a_strategy_has_the_name_that_is_read);
  tcase_add_test (tcase, one_key_twice_is_one_entry_of_the_topology);
  tcase_add_test (tcase, a_strategy_beside_a_topology_is_refused);
  tcase_add_test (tcase, accelerators_of_one_domain_are_for_all_bundles);
  tcase_add_test (tcase, a_million_selectors_are_answered);
  tcase_add_test (tcase, more_amounts_than_memory_should_hold_are_refused);
  tcase_add_test (tcase, more_selectors_than_memory_should_hold_are_refused);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}

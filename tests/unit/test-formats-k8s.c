/* SPDX-License-Identifier: Apache-2.0 */
/* Kubernetes' node list: the slices of nodes, and nodes that accept no new work. */
#include "claims-suite.h"

#define TPU_TAINT "{key: google.com/tpu, value: present, effect: NoSchedule}"
#define READY "conditions: [{type: DiskPressure, status: 'False'}, {type: Ready, status: 'True'}]"
#define ROOM(chips)                                                                                                    \
  "capacity: {cpu: '8', google.com/tpu: '" chips "'}, allocatable: {cpu: 7500m, google.com/tpu: '" chips "'}"
#define POOL(pool, accelerator, topology)                                                                              \
  "cloud.google.com/gke-nodepool: " pool ", cloud.google.com/gke-tpu-accelerator: " accelerator                        \
  ", cloud.google.com/gke-tpu-topology: '" topology "'"
#define NODE_OF(name, labels, more, spec, status)                                                                      \
  "kind: Node\nmetadata: {name: " name ", uid: u-" name ", labels: {" labels "}" more "}\nspec: {" spec "}\nstatus: "  \
  "{" status "}\n"
#define HOST(name, more, spec, status) NODE_OF (name, POOL ("p", "tpu-v6e-slice", "4x4"), more, spec, status)
#define GOOD(name) HOST (name, "", "taints: [" TPU_TAINT "]", READY ", " ROOM ("4"))
#define AND "---\n"

/* @second is the second of four hosts. */
#define FOUR(second) GOOD ("n-9") AND second AND GOOD ("n-11") AND GOOD ("n-12")
#define PLACED(mark) "p:n-9@p.0 p:n-10@p.1" mark " p:n-11@p.2 p:n-12@p.3"

static const struct {
  const char *text, *nodes, *warning; /* NULL: only that of worker ids */
} accepted[] = {
  { FOUR (GOOD ("n-10")), PLACED (""), NULL },
  { GOOD ("n-12") AND GOOD ("n-10") AND GOOD ("n-9") AND GOOD ("n-11"), PLACED (""), NULL },
  { FOUR (HOST ("n-10", "", "unschedulable: true", READY ", " ROOM ("4"))), PLACED ("!draining"),
    "draining: nodes that are unschedulable: 1, such as 'n-10'" },
  { FOUR (HOST ("n-10", "", "unschedulable: false", READY ", " ROOM ("4"))), PLACED (""), NULL },
  { FOUR (HOST ("n-10", ", deletionTimestamp: '2026-05-01T09:30:00Z'", "", READY ", " ROOM ("4"))),
    PLACED ("!draining"), "draining: nodes that are being deleted: 1" },
  { FOUR (HOST ("n-10", "", "taints: [{key: ToBeDeletedByClusterAutoscaler, effect: NoSchedule}]",
                READY ", " ROOM ("4"))),
    PLACED ("!draining"), "draining: nodes that have a taint that announces their removal: 1" },
  { FOUR (HOST ("n-10", "", "taints: [{key: cloud.google.com/impending-node-termination, effect: NoSchedule}]",
                READY ", " ROOM ("4"))),
    PLACED ("!draining"), "draining: nodes that have a taint" },
  { FOUR (HOST ("n-10", "", "taints: [{key: cloud.google.com/gke-spot, value: 'true', effect: NoSchedule}]",
                READY ", " ROOM ("4"))),
    PLACED (""), NULL },
  { FOUR (HOST ("n-10", "", "taints: [{key: team, value: a, effect: NoExecute}]", READY ", " ROOM ("4"))), PLACED (""),
    "TPU nodes with taints that keep away pods that do not tolerate them: 1, such as 'n-10' with 'team'" },
  { FOUR (HOST ("n-10", "", "taints: [{key: team, effect: PreferNoSchedule}]", READY ", " ROOM ("4"))), PLACED (""),
    NULL },
  { FOUR (HOST ("n-10", "", "", "conditions: [{type: Ready, status: 'False'}], " ROOM ("4"))), PLACED ("!dead"),
    "dead: nodes that are not Ready: 1, such as 'n-10'" },
  { FOUR (HOST ("n-10", "", "unschedulable: true", "conditions: [{type: Ready, status: Unknown}], " ROOM ("4"))),
    PLACED ("!dead"), "dead: nodes that do not report (Ready is Unknown, or missing): 1" },
  { FOUR (HOST ("n-10", "", "", ROOM ("4"))), PLACED ("!dead"), "dead: nodes that do not report" },
  { FOUR (HOST ("n-10", "", "", READY ", capacity: {google.com/tpu: '4'}, allocatable: {google.com/tpu: '3'}")),
    PLACED ("!dead"), "dead: nodes that give pods fewer chips than they have: 1" },
  /* More nodes than hosts: dead nodes get no place. */
  { GOOD ("n-9") AND HOST ("n-10", "", "", "conditions: [{type: Ready, status: 'False'}], " ROOM ("4"))
        AND GOOD ("n-11") AND GOOD ("n-12") AND GOOD ("n-13"),
    "p:n-9@p.0 p:n-11@p.1 p:n-12@p.2 p:n-13@p.3 p:n-10@p.-1!dead", "dead: nodes that are not Ready: 1" },
};

/* One of several warnings is about worker ids in slices of several hosts. */
static void
check_warnings (const QuoitClaims *claims, const char *part)
{
  const char *const *warnings = quoit_claims_warnings (claims);

  ck_assert_ptr_nonnull (warnings[0]);
  ck_assert_msg (strstr (warnings[0], "worker ids") != NULL, "warns: %s", warnings[0]);
  ck_assert_msg ((part == NULL) == (warnings[1] == NULL), "warns: %s", warnings[1]);
  ck_assert_msg (part == NULL || (strstr (warnings[1], part) != NULL && warnings[2] == NULL), "warns: %s, expected: %s",
                 warnings[1], part);
}

START_TEST (nodes_of_a_pool_form_a_slice)
{
  GError *error = NULL;
  g_autoptr (QuoitClaims) claims = quoit_read_k8s_nodes (accepted[_i].text, strlen (accepted[_i].text), NULL, &error);

  ck_assert_ok (error);
  ck_assert_str_eq (quoit_claims_source (claims), "k8s");
  ck_assert_text (nodes_as_text (claims), accepted[_i].nodes);
  check_warnings (claims, accepted[_i].warning);
}
END_TEST

START_TEST (worker_ids_of_slices_with_several_hosts_are_assumed)
{
  static const char text[]
      = FOUR (GOOD ("n-10")) AND NODE_OF ("one", POOL ("q", "tpu-v6e-slice", "2x2"), "", "", READY ", " ROOM ("4"));
  g_autoptr (QuoitClaims) claims = quoit_read_k8s_nodes (text, strlen (text), "west", NULL);
  guint32 n_nodes;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (claims, &n_nodes);

  ck_assert_str_eq (quoit_claims_source (claims), "west");
  ck_assert_uint_eq (n_nodes, 5);
  for (guint32 i = 0; i < n_nodes; i++)
    {
      gboolean is_alone = strcmp (nodes[i].name, "one") == 0;

      ck_assert_int_eq ((nodes[i].flags & QUOIT_NODE_ASSUMED_ID) == 0, is_alone);
      ck_assert_int_eq (nodes[i].worker_id, is_alone ? 0 : (gint32) i);
      ck_assert_str_eq (nodes[i].slice, is_alone ? "one" : "p");
    }
}
END_TEST

static const struct {
  const char *labels, *chips, *nodes, *warning;
} alone[] = {
  { POOL ("q", "tpu-v6e-slice", "2x2"), "4", "q:a@a.0", NULL },
  { POOL ("q", "tpu-v5-lite-podslice", "2x4"), "8", "q:a@a.0", NULL },
  { POOL ("q", "tpu7x", "2x2x1"), "4", "q:a@a.0", NULL },
  { "cloud.google.com/gke-nodepool: cpus", "0", "cpus:a", NULL },
  /* A host without chips yet belongs to its slice. */
  { POOL ("q", "tpu-v6e-slice", "2x2"), "0", "q:a@a.0!dead",
    "dead: nodes that give pods fewer chips than they have: 1" },
  { POOL ("q", "tpu-v99", "2x2"), "4", "q:a", "TPU nodes in no slice: 1, such as 'a'" },
  { "a: b", "0", "default:a", NULL },
  { POOL ("q", "tpu-v6e-slice", "4x4") ", cloud.google.com/gke-accelerator-topology-mode: PROVISION_ONLY", "4", "q:a",
    NULL },
  /* Until a dynamic slice uses it, a node that is only provisioned is a host of its cube. */
  { POOL ("q", "tpu7x", "4x4x4") ", cloud.google.com/gke-accelerator-topology-mode: PROVISION_ONLY, "
                                 "cloud.google.com/gke-tpu-partition-4x4x4-id: cube-1",
    "4", "q:a@cube-1.0", "slices of several hosts: 1" },
  { POOL ("q", "tpu7x", "4x4x8") ", cloud.google.com/gke-accelerator-topology-mode: PROVISION_ONLY, "
                                 "cloud.google.com/gke-tpu-partition-4x4x4-id: cube-1, "
                                 "cloud.google.com/gke-tpu-slice: joined",
    "4", "q:a@joined.0", "slices of several hosts: 1" },
  { POOL ("q", "tpu-v6e-slice", "4x4") ", cloud.google.com/gke-accelerator-topology-mode: PROVISION_ONLY, "
                                       "cloud.google.com/gke-tpu-partition-4x4x4-id: cube-1",
    "4", "q:a@cube-1.0", "slices of several hosts: 1" },
  { POOL ("q", "tpu-v6e-slice", "3x5"), "4", "q:a", "TPU nodes in no slice: 1, such as 'a'" },
  { POOL ("q", "tpu-v6e-slice", "4x"), "4", "q:a", "topology '4x'" },
  { POOL ("q", "tpu-v6e-slice", "2x2"), "3", "q:a", "TPU nodes in no slice: 1" },
  { "cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice", "4", "default:a",
    "no label cloud.google.com/gke-tpu-topology" },
};

START_TEST (node_without_pool_is_a_slice_if_it_has_all_chips)
{
  g_autofree char *text = g_strdup_printf (NODE_OF ("a", "%s", "", "", READY ", " ROOM ("%s")), alone[_i].labels,
                                           alone[_i].chips, alone[_i].chips);
  GError *error = NULL;
  g_autoptr (QuoitClaims) claims = quoit_read_k8s_nodes (text, strlen (text), NULL, &error);

  ck_assert_ok (error);
  ck_assert_text (nodes_as_text (claims), alone[_i].nodes);
  check_only_warning (claims, alone[_i].warning);
}
END_TEST

START_TEST (dynamic_slice_can_have_nodes_of_several_pools)
{
#define PART(name, pool)                                                                                               \
  NODE_OF (name, POOL (pool, "tpu-v5p-slice", "2x2x2") ", cloud.google.com/gke-tpu-slice: joined", "", "",             \
           READY ", " ROOM ("4"))
  static const char text[] = PART ("b", "q") AND PART ("a", "r");
  g_autoptr (QuoitClaims) claims = quoit_read_k8s_nodes (text, strlen (text), NULL, NULL);

  ck_assert_text (nodes_as_text (claims), "q:a@joined.0 q:b@joined.1");
}
END_TEST

START_TEST (node_has_allocatable_resources_and_ray_labels)
{
  static const char text[] = NODE_OF (
      "a",
      POOL ("q", "tpu-v6e-slice", "2x2") ", topology.kubernetes.io/zone: us-east5-b, topology.kubernetes.io/region: "
                                         "us-east5, cloud.google.com/gke-spot: 'true', kubernetes.io/hostname: a, "
                                         "cloud.google.com/reservation-name: mine",
      "", "",
      READY ", capacity: {cpu: '180', memory: 4Gi, google.com/tpu: '4', pods: '110'}, allocatable: {cpu: 179210m, "
            "memory: 2Gi, google.com/tpu: '4'}, addresses: [{type: Hostname, address: a}, {type: InternalIP, address: "
            "10.0.0.7}]");
  g_autoptr (QuoitClaims) claims = quoit_read_k8s_nodes (text, strlen (text), NULL, NULL);
  guint32 n_nodes;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (claims, &n_nodes);

  ck_assert_text (resources_as_text (claims, 0), "CPU=179.21 TPU=4 memory=2147483648");
  ck_assert_text (
      labels_as_text (claims, 0),
      "cloud.google.com/gke-nodepool=q cloud.google.com/gke-spot=true "
      "cloud.google.com/gke-tpu-accelerator=tpu-v6e-slice "
      "cloud.google.com/gke-tpu-topology=2x2 cloud.google.com/reservation-name=mine ray.io/accelerator-type=TPU-V6E "
      "ray.io/availability-region=us-east5 ray.io/availability-zone=us-east5-b ray.io/market-type=spot "
      "ray.io/tpu-pod-type=v6e-4 ray.io/tpu-topology=2x2 topology.kubernetes.io/region=us-east5 "
      "topology.kubernetes.io/zone=us-east5-b");
  ck_assert_str_eq (nodes[0].address, "10.0.0.7");
  ck_assert_str_eq (nodes[0].identity, "u-a");
}
END_TEST

START_TEST (json_and_yaml_lists_have_the_same_nodes)
{
  static const char *const texts[]
      = { "{\"kind\": \"List\", \"items\": [{\"kind\": \"Node\", \"metadata\": {\"name\": \"a\"}}]}",
          " \n{\"kind\": \"NodeList\", \"items\": [{\"metadata\": {\"name\": \"a\"}}]}",
          "kind: List\nitems:\n- kind: Node\n  metadata: {name: a}\n", "kind: Node\nmetadata: {name: a}\n",
          "---\n---\nkind: Node\nmetadata: {name: a}\n---\n" };

  for (unsigned i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      GError *error = NULL;
      g_autoptr (QuoitClaims) claims = quoit_read_k8s_nodes (texts[i], strlen (texts[i]), NULL, &error);

      ck_assert_ok (error);
      ck_assert_text (nodes_as_text (claims), "default:a!dead");
    }
}
END_TEST

START_TEST (empty_list_is_a_cluster_without_nodes)
{
  static const char text[] = "{\"kind\": \"List\", \"items\": []}";
  g_autoptr (QuoitClaims) claims = quoit_read_k8s_nodes (text, strlen (text), NULL, NULL);

  ck_assert_text (nodes_as_text (claims), "");
}
END_TEST

static const struct {
  const char *text, *message;
} refused[] = {
  { "", "nothing in it: expected nodes, as 'kubectl get nodes -o json' shows them" },
  { "---\n", "nothing in it" },
  { "NAME STATUS ROLES AGE VERSION\n", "expected nodes, as 'kubectl get nodes -o json' shows them" },
  { "[]", "expected nodes, as 'kubectl get nodes -o json'" },
  { "{\"kind\": \"List\", \"items\": [{\"kind\": \"Pod\"}]}", "$.items[0].kind: 'Pod': expected nodes" },
  { "kind: RayCluster\n", "line 1: kind: 'RayCluster': expected nodes" },
  { "{\"items\": []}", "an object without kind" },
  { "{\"kind\": \"List\"}", "a list without items" },
  { "{\"kind\": \"List\", \"items\": {}}", "$.items: a map: expected a list" },
  { "{\"kind\": \"List\", \"items\": [7]}", "$.items[0]: '7': expected a map" },
  { "{\"kind\": \"Node\"}", "a node without name: expected metadata.name" },
  { "{\"kind\": \"Node\", \"metadata\": {\"name\": 7}}", "$.metadata.name: '7': expected text" },
  { "kind: Node\nmetadata: {name: a}\nstatus:\n  addresses:\n  - {type: Hostname, address: a}\n"
    "  - {type: InternalIP, address: not an address}\n",
    "line 6: status.addresses[1].address: 'not an address': expected an IPv4 or IPv6 address" },
  { "{\"kind\": \"Node\", \"metadata\": {\"name\": \"a/b\"}}", "$.metadata.name: 'a/b': expected a DNS name" },
  { "{\"kind\": \"Node\", \"metadata\": {\"name\": \"a\", \"labels\": {\"k\": 1}}}",
    "$.metadata.labels.k: '1': expected text" },
  { "{\"kind\": \"Node\", \"metadata\": {\"name\": \"a\", \"labels\": {\"k\": \"a b\"}}}", "label value 'a b'" },
  { GOOD ("a") AND GOOD ("a"), "line 6: name 'a': expected each name once" },
  { "kind: Node\nmetadata: {name: a, uid: x}\n---\nkind: Node\nmetadata: {name: b, uid: x}\n",
    "uid 'x': expected each uid once" },
  /* a node without uid is identified by its name */
  { "kind: Node\nmetadata: {name: a, uid: b}\n---\nkind: Node\nmetadata: {name: b}\n",
    "line 4: name 'b' is the uid of another node: add a uid to this node" },
  { "kind: Node\nmetadata: {name: b}\n---\nkind: Node\nmetadata: {name: a, uid: b}\n",
    "uid 'b': expected each uid once" },
  { HOST ("a", "", "unschedulable: maybe", READY), "line 3: spec.unschedulable: 'maybe': expected true or false" },
  { HOST ("a", "", "taints: 7", READY), "line 3: spec.taints: '7': expected a list" },
  { HOST ("a", "", "", "conditions: [{type: Ready, status: Perhaps}]"),
    "line 4: status.conditions[0].status: 'Perhaps': expected the status True, False or Unknown" },
  { HOST ("a", "", "", READY ", capacity: {google.com/tpu: '0.5'}"), "'0.5': expected a whole number of chips" },
  { HOST ("a", "", "", READY ", capacity: {google.com/tpu: '-4'}"), "line 4: status.capacity['google.com/tpu']: " },
  { HOST ("a", "", "", READY ", capacity: {google.com/tpu: '70000'}"),
    "expected a whole number of chips, at most 65535" },
  { HOST ("a", "", "", READY ", allocatable: {cpu: lots}"), "line 4: status.allocatable.cpu: " },
  { HOST ("a", "", "", READY ", allocatable: {memory: [1]}"), "line 4: status.allocatable.memory: " },
  { HOST ("a", "", "", READY ", addresses: [7]"), "line 4: status.addresses[0]: '7': expected a map" },
};

START_TEST (invalid_list_of_nodes_is_refused)
{
  GError *error = NULL;

  ck_assert_msg (quoit_read_k8s_nodes (refused[_i].text, strlen (refused[_i].text), NULL, &error) == NULL,
                 "was accepted: %s", refused[_i].text);
  ck_assert_refused (error, QUOIT_ERROR_INVALID, refused[_i].message);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("formats-k8s");
  TCase *nodes = tcase_create ("nodes");

  tcase_add_loop_test (nodes, nodes_of_a_pool_form_a_slice, 0, G_N_ELEMENTS (accepted));
  tcase_add_test (nodes, worker_ids_of_slices_with_several_hosts_are_assumed);
  tcase_add_loop_test (nodes, node_without_pool_is_a_slice_if_it_has_all_chips, 0, G_N_ELEMENTS (alone));
  tcase_add_test (nodes, dynamic_slice_can_have_nodes_of_several_pools);
  tcase_add_test (nodes, node_has_allocatable_resources_and_ray_labels);
  tcase_add_test (nodes, json_and_yaml_lists_have_the_same_nodes);
  tcase_add_test (nodes, empty_list_is_a_cluster_without_nodes);
  tcase_add_loop_test (nodes, invalid_list_of_nodes_is_refused, 0, G_N_ELEMENTS (refused));
  suite_add_tcase (suite, nodes);
  return suite_main (suite);
}

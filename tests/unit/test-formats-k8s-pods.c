/* SPDX-License-Identifier: Apache-2.0 */
/* Kubernetes' list of pods together with its list of nodes: information of pods about their nodes. */
#include <time.h>

#include "claims-suite.h"

/* --- a cluster: a slice of four hosts, a slice of one host, and a host without chips --- */

#define NODE(name, labels, chips, ready, number)                                                                       \
  "kind: Node\nmetadata: {name: " name ", uid: u-" name ", labels: {" labels "}}\nstatus: {capacity: "                 \
  "{google.com/tpu: '" chips "'}, conditions: [{type: Ready, status: '" ready "'}], addresses: [{type: InternalIP, "   \
  "address: 10.0.0." number "}]}\n---\n"
#define POOL(pool, topology)                                                                                           \
  "cloud.google.com/gke-nodepool: " pool ", cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice, "                     \
  "cloud.google.com/gke-tpu-topology: '" topology "'"
#define HOST(number, ready) NODE ("n-" number, POOL ("p", "4x4"), "4", ready, number)
#define ALONE NODE ("one", POOL ("q", "2x2"), "4", "True", "1")
#define CPUS NODE ("cpus", "cloud.google.com/gke-nodepool: c", "0", "True", "2")

static const char four_hosts[]
    = HOST ("9", "True") HOST ("10", "True") HOST ("11", "True") HOST ("12", "True") ALONE CPUS,
    three_hosts[] = HOST ("9", "True") HOST ("10", "True") HOST ("11", "True"),
    one_is_dead[] = HOST ("9", "True") HOST ("10", "False") HOST ("11", "True") HOST ("12", "True"),
    five_hosts[] = HOST ("8", "True") HOST ("9", "True") HOST ("10", "True") HOST ("11", "True") HOST ("12", "False");

/* --- pods --- */

#define CHIPS "resources: {requests: {google.com/tpu: '4'}, limits: {google.com/tpu: '4'}}"
#define ENV(name, value) "{name: " name ", value: '" value "'}"
#define ID(id) ENV ("TPU_WORKER_ID", id)
#define FROM(name, path) "{name: " name ", valueFrom: {fieldRef: {fieldPath: \"" path "\"}}}"
#define POD_OF(name, metadata, node, containers, spec, status)                                                         \
  "kind: Pod\nmetadata: {namespace: s, name: " name metadata "}\nspec: {nodeName: " node ", containers: [" containers  \
  "]" spec "}\nstatus: {hostIP: 10.0.0.1" status "}\n---\n"
#define AT(name) ", phase: Running, podIP: 10.4.0." name
#define POD(number, env) POD_OF ("w-" number, "", "n-" number, "{name: w, env: [" env "], " CHIPS "}", "", AT (number))
#define MARKED(number, metadata) POD_OF ("w-" number, metadata, "n-" number, "{" CHIPS "}", "", AT (number))
#define REVERSED POD ("9", ID ("3")) POD ("10", ID ("2")) POD ("11", ID ("1")) POD ("12", ID ("0"))
#define HOST_NAMES ENV ("TPU_WORKER_HOSTNAMES", "g-0-0.s,g-0-1.s,10.4.0.9,g-0-10.s")
#define REST " one=one.0@10.0.0.1 cpus@10.0.0.2"
#define NOTHING_SAID "n-9=p.0?@10.0.0.9 n-10=p.1?@10.0.0.10 n-11=p.2?@10.0.0.11 n-12=p.3?@10.0.0.12"

/* "NAME=SLICE.WORKER", '?' if it is assumed, "@ADDRESS", for all nodes in the reader's order. */
static char *
show (const QuoitClaims *claims)
{
  GString *text = g_string_new (NULL);
  guint32 n_nodes;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (claims, &n_nodes);

  for (guint32 i = 0; i < n_nodes; i++)
    {
      g_string_append_printf (text, "%s%s", i == 0 ? "" : " ", nodes[i].name);
      if (nodes[i].slice != NULL)
        g_string_append_printf (text, "=%s.%d", nodes[i].slice, nodes[i].worker_id);
      g_string_append_printf (text, "%s@%s", (nodes[i].flags & QUOIT_NODE_ASSUMED_ID) == 0 ? "" : "?",
                              nodes[i].address == NULL ? "" : nodes[i].address);
    }
  return g_string_free (text, FALSE);
}

static const struct {
  const char *nodes, *pods, *shown, *warning; /* NULL: only that of worker ids, if one is assumed */
} heard[] = {
  { four_hosts, "kind: List\nitems: []\n", NOTHING_SAID REST, NULL },
  { four_hosts, REVERSED, "n-12=p.0@10.4.0.12 n-11=p.1@10.4.0.11 n-10=p.2@10.4.0.10 n-9=p.3@10.4.0.9" REST, NULL },
  /* nodes without a pod get the remaining worker ids */
  { four_hosts, POD ("11", ID ("0")),
    "n-11=p.0@10.4.0.11 n-9=p.1?@10.0.0.9 n-10=p.2?@10.0.0.10 n-12=p.3?@10.0.0.12" REST, NULL },
  { five_hosts, POD ("11", ID ("1")),
    "n-8=p.0?@10.0.0.8 n-11=p.1@10.4.0.11 n-9=p.2?@10.0.0.9 n-10=p.3?@10.0.0.10 n-12=p.-1?@10.0.0.12",
    "dead: nodes that are not Ready" },
  { three_hosts, POD ("9", ID ("3")), "n-10=p.0?@10.0.0.10 n-11=p.1?@10.0.0.11 n-9=p.3@10.4.0.9", NULL },
  /* the only host of a slice is worker 0, whatever its pod's id is */
  { four_hosts, POD_OF ("x", "", "one", "{env: [" ID ("7") "], " CHIPS "}", "", AT ("1")),
    NOTHING_SAID " one=one.0@10.4.0.1 cpus@10.0.0.2", NULL },
  /* pods that count */
  { four_hosts, POD_OF ("x", "", "n-9", "{env: [" ID ("1") "]}", "", AT ("9")), NOTHING_SAID REST, NULL },
  { four_hosts, "kind: Pod\nmetadata: {name: x}\nspec: {containers: [{env: [" ID ("1") "], " CHIPS "}]}\n",
    NOTHING_SAID REST, NULL },
  { four_hosts, POD_OF ("x", "", "n-9", "{env: [" ID ("99") "], " CHIPS "}", "", ", phase: Succeeded, podIP: 10.4.0.7"),
    NOTHING_SAID REST, NULL },
  { four_hosts, POD_OF ("x", "", "gone", "{env: [" ID ("x") "], " CHIPS "}", "", ", phase: Failed"), NOTHING_SAID REST,
    NULL },
  { four_hosts, POD_OF ("x", "", "n-9", "{env: [" ID ("2") "], " CHIPS "}", "", ", phase: Pending"),
    "n-10=p.0?@10.0.0.10 n-11=p.1?@10.0.0.11 n-9=p.2@10.0.0.9 n-12=p.3?@10.0.0.12" REST, NULL },
  { four_hosts,
    POD_OF ("x", "", "n-9", "{name: sidecar, env: [" ID ("1") "]}, {env: [" ID ("2") "], " CHIPS "}", "", AT ("9")),
    "n-10=p.0?@10.0.0.10 n-11=p.1?@10.0.0.11 n-9=p.2@10.4.0.9 n-12=p.3?@10.0.0.12" REST, NULL },
  { four_hosts,
    POD_OF ("x", "", "n-9", "{env: [" ID ("2") "], resources: {limits: {google.com/tpu: 4}}}", "",
            ", podIPs: [{ip: 10.4.0.9}, {ip: 'fd00::9'}]"),
    "n-10=p.0?@10.0.0.10 n-11=p.1?@10.0.0.11 n-9=p.2@10.4.0.9 n-12=p.3?@10.0.0.12" REST, NULL },
  /* a terminating pod is ignored if another one remains */
  { four_hosts,
    POD ("9", ID ("1")) POD_OF ("old", ", deletionTimestamp: '2026-05-01T09:30:00Z'", "n-10",
                                "{env: [" ID ("1") "], " CHIPS "}", "", AT ("99")),
    "n-10=p.0?@10.4.0.99 n-9=p.1@10.4.0.9 n-11=p.2?@10.0.0.11 n-12=p.3?@10.0.0.12" REST, NULL },
  { four_hosts,
    POD_OF ("old", ", deletionTimestamp: '2026-05-01T09:30:00Z'", "n-9", "{env: [" ID ("2") "], " CHIPS "}", "",
            AT ("99")) POD ("9", ID ("1")),
    "n-10=p.0?@10.0.0.10 n-9=p.1@10.4.0.9 n-11=p.2?@10.0.0.11 n-12=p.3?@10.0.0.12" REST, NULL },
  { four_hosts,
    POD_OF ("old", ", deletionTimestamp: '2026-05-01T09:30:00Z'", "n-9", "{env: [" ID ("2") "], " CHIPS "}", "",
            AT ("99")),
    "n-10=p.0?@10.0.0.10 n-11=p.1?@10.0.0.11 n-9=p.2@10.4.0.99 n-12=p.3?@10.0.0.12" REST, NULL },
  { four_hosts,
    POD_OF ("old", ", deletionTimestamp: '2026-05-01T09:30:00Z'", "n-9", "{env: [" ID ("9") "], " CHIPS "}", "",
            AT ("99")),
    "n-9=p.0?@10.4.0.99 n-10=p.1?@10.0.0.10 n-11=p.2?@10.0.0.11 n-12=p.3?@10.0.0.12" REST, NULL },
  { four_hosts,
    POD_OF ("old", ", deletionTimestamp: '2026-05-01T09:30:00Z'", "gone", "{env: [" ID ("2") "], " CHIPS "}", "", ""),
    NOTHING_SAID REST, NULL },
  { one_is_dead, POD ("10", ID ("1")) POD ("12", ID ("1")),
    "n-9=p.0?@10.0.0.9 n-12=p.1@10.4.0.12 n-10=p.2?@10.4.0.10 n-11=p.3?@10.0.0.11", "dead: nodes that are not Ready" },
  { one_is_dead, POD ("10", ID ("0")), "n-10=p.0@10.4.0.10 n-9=p.1?@10.0.0.9 n-11=p.2?@10.0.0.11 n-12=p.3?@10.0.0.12",
    "dead: nodes that are not Ready" },
  /* forms of an id */
  { four_hosts, POD ("9", ID ("1") ", " ID ("2")),
    "n-10=p.0?@10.0.0.10 n-11=p.1?@10.0.0.11 n-9=p.2@10.4.0.9 n-12=p.3?@10.0.0.12" REST, NULL },
  { four_hosts, POD ("9", "{name: X, value: '2'}, " ID ("$(X)")),
    "n-10=p.0?@10.0.0.10 n-11=p.1?@10.0.0.11 n-9=p.2@10.4.0.9 n-12=p.3?@10.0.0.12" REST, NULL },
  { four_hosts,
    POD_OF ("x", ", labels: {'batch.kubernetes.io/job-completion-index': '2'}", "n-9",
            "{env: [" FROM ("TPU_WORKER_ID", "metadata.labels['batch.kubernetes.io/job-completion-index']") "], " CHIPS
                                                                                                            "}",
            "", AT ("9")),
    "n-10=p.0?@10.0.0.10 n-11=p.1?@10.0.0.11 n-9=p.2@10.4.0.9 n-12=p.3?@10.0.0.12" REST, NULL },
  { four_hosts,
    POD_OF ("x", ", annotations: {a: '2'}", "n-9",
            "{env: [" FROM ("INDEX", "metadata.annotations['a']") ", " ID ("$(INDEX)") "], " CHIPS "}", "", AT ("9")),
    "n-10=p.0?@10.0.0.10 n-11=p.1?@10.0.0.11 n-9=p.2@10.4.0.9 n-12=p.3?@10.0.0.12" REST, NULL },
  { four_hosts, POD_OF ("x", "", "n-9", "{env: [" HOST_NAMES "], " CHIPS "}", ", hostname: g-0-1", AT ("77")),
    "n-10=p.0?@10.0.0.10 n-9=p.1@10.4.0.77 n-11=p.2?@10.0.0.11 n-12=p.3?@10.0.0.12" REST, NULL },
  { four_hosts, POD ("9", HOST_NAMES),
    "n-10=p.0?@10.0.0.10 n-11=p.1?@10.0.0.11 n-9=p.2@10.4.0.9 n-12=p.3?@10.0.0.12" REST, NULL },
  { four_hosts, POD ("9", ID ("1") ", " HOST_NAMES),
    "n-10=p.0?@10.0.0.10 n-9=p.1@10.4.0.9 n-11=p.2?@10.0.0.11 n-12=p.3?@10.0.0.12" REST, NULL },
  { four_hosts, MARKED ("9", ", labels: {ray.io/replica-host-index: '2'}"),
    "n-10=p.0?@10.0.0.10 n-11=p.1?@10.0.0.11 n-9=p.2@10.4.0.9 n-12=p.3?@10.0.0.12" REST, NULL },
  { four_hosts,
    MARKED ("9", ", annotations: {jobset.sigs.k8s.io/jobset-name: j, batch.kubernetes.io/job-completion-index: '2'}"),
    "n-10=p.0?@10.0.0.10 n-11=p.1?@10.0.0.11 n-9=p.2@10.4.0.9 n-12=p.3?@10.0.0.12" REST, NULL },
  /* nothing shows that a plain job uses one slice */
  { four_hosts, MARKED ("9", ", labels: {batch.kubernetes.io/job-completion-index: '6'}"),
    "n-9=p.0?@10.4.0.9 n-10=p.1?@10.0.0.10 n-11=p.2?@10.0.0.11 n-12=p.3?@10.0.0.12" REST,
    "pods without a worker id on multi-host slices: 1, such as 's/w-9'" },
  { four_hosts, POD ("9", ID ("")),
    "n-9=p.0?@10.4.0.9 n-10=p.1?@10.0.0.10 n-11=p.2?@10.0.0.11 n-12=p.3?@10.0.0.12" REST,
    "pods without a worker id on multi-host slices: 1" },
  { four_hosts, POD ("9", FROM ("TPU_WORKER_ID", "metadata.name")),
    "n-9=p.0?@10.4.0.9 n-10=p.1?@10.0.0.10 n-11=p.2?@10.0.0.11 n-12=p.3?@10.0.0.12" REST,
    "pods without a worker id on multi-host slices: 1" },
  { four_hosts, POD ("9", FROM ("TPU_WORKER_ID", "metadata.labels['absent']")),
    "n-9=p.0?@10.4.0.9 n-10=p.1?@10.0.0.10 n-11=p.2?@10.0.0.11 n-12=p.3?@10.0.0.12" REST,
    "pods without a worker id on multi-host slices: 1" },
  { four_hosts, POD ("9", "{name: A, value: '2'}, {name: X, value: $(A)}, " ID ("$(X)")),
    "n-9=p.0?@10.4.0.9 n-10=p.1?@10.0.0.10 n-11=p.2?@10.0.0.11 n-12=p.3?@10.0.0.12" REST,
    "pods without a worker id on multi-host slices: 1" },
  { four_hosts, POD ("9", ID ("$(X)") ", {name: X, value: '2'}"),
    "n-9=p.0?@10.4.0.9 n-10=p.1?@10.0.0.10 n-11=p.2?@10.0.0.11 n-12=p.3?@10.0.0.12" REST,
    "pods without a worker id on multi-host slices: 1" },
  /* several containers with chips: the same id, or consecutive ids, host by host */
  { four_hosts,
    POD_OF ("x", "", "n-9", "{env: [" ID ("2") "], " CHIPS "}, {env: [" ID ("2") "], " CHIPS "}", "", AT ("9")),
    "n-10=p.0?@10.0.0.10 n-11=p.1?@10.0.0.11 n-9=p.2@10.4.0.9 n-12=p.3?@10.0.0.12" REST, NULL },
  { four_hosts,
    POD_OF ("x", "", "n-9", "{env: [" ID ("4") "], " CHIPS "}, {env: [" ID ("5") "], " CHIPS "}", "", AT ("9")),
    "n-10=p.0?@10.0.0.10 n-11=p.1?@10.0.0.11 n-9=p.2@10.4.0.9 n-12=p.3?@10.0.0.12" REST, NULL },
  /* one node, several pods */
  { four_hosts, POD ("9", ID ("2")) POD_OF ("z", "", "n-9", "{env: [" ID ("2") "], " CHIPS "}", "", AT ("99")),
    "n-10=p.0?@10.0.0.10 n-11=p.1?@10.0.0.11 n-9=p.2@10.4.0.9 n-12=p.3?@10.0.0.12" REST,
    "nodes with several pods: 1, such as 'n-9', which gets the address of 's/w-9'" },
  /* Ray's head has no chips, but it is a Ray node */
  { four_hosts,
    POD_OF ("head", ", labels: {ray.io/is-ray-node: 'yes'}", "cpus", "{name: ray}", "", AT ("2"))
        POD_OF ("dns", "", "cpus", "{name: dns}", "", AT ("3")),
    NOTHING_SAID " one=one.0@10.0.0.1 cpus@10.4.0.2", NULL },
  { four_hosts, POD_OF ("head", ", labels: {ray.io/is-ray-node: 'yes'}", "unlisted", "{name: ray}", "", AT ("2")),
    NOTHING_SAID REST, NULL },
};

static QuoitClaims *
read_both (const char *nodes, const char *pods, GError **error)
{
  const QuoitK8sFiles files = { .nodes = nodes, .n_nodes = strlen (nodes), .pods = pods, .n_pods = strlen (pods) };

  return quoit_read_k8s_files (&files, error);
}

/* One of several warnings is about assumed worker ids, if there are any. */
static void
check_warnings (const QuoitClaims *claims, const char *shown, const char *part)
{
  const char *const *warnings = quoit_claims_warnings (claims);
  guint n_assumed = 0, n_part = 0;

  for (guint i = 0; warnings[i] != NULL; i++)
    {
      gboolean is_of_ids = strstr (warnings[i], "so they are assumed") != NULL;

      n_assumed += is_of_ids;
      n_part += !is_of_ids && part != NULL && strstr (warnings[i], part) != NULL;
      ck_assert_msg (is_of_ids || n_part == 1, "warns: %s", warnings[i]);
    }
  ck_assert_uint_eq (n_assumed, strchr (shown, '?') != NULL);
  ck_assert_uint_eq (n_part, part != NULL);
}

START_TEST (pods_give_worker_ids_and_node_addresses)
{
  GError *error = NULL;
  g_autoptr (QuoitClaims) claims = read_both (heard[_i].nodes, heard[_i].pods, &error);

  ck_assert_ok (error);
  ck_assert_text (show (claims), heard[_i].shown);
  check_warnings (claims, heard[_i].shown, heard[_i].warning);
}
END_TEST

/* --- forms of input --- */

START_TEST (one_list_can_have_nodes_and_pods)
{
  g_autofree char *both = g_strconcat (REVERSED, four_hosts, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitClaims) apart = read_both (four_hosts, REVERSED, &error);
  g_autoptr (QuoitClaims) together = quoit_read_k8s_nodes (both, strlen (both), NULL, &error);
  g_autoptr (QuoitClaims) twice = read_both (both, both, &error);
  g_autofree char *shown = NULL;

  ck_assert_ok (error);
  shown = show (apart);
  ck_assert_text (show (together), shown);
  ck_assert_text (show (twice), shown);
}
END_TEST

START_TEST (list_of_pods_can_be_json_or_yaml)
{
#define JSON_POD                                                                                                       \
  "\"metadata\": {\"name\": \"w\"}, \"spec\": {\"nodeName\": \"one\", \"containers\": [{\"resources\": {\"limits\": "  \
  "{\"google.com/tpu\": \"4\"}}}]}, \"status\": {\"phase\": \"Running\", \"podIP\": \"10.4.0.1\"}"
  static const char *const texts[]
      = { "{\"kind\": \"List\", \"items\": [{\"kind\": \"Pod\", " JSON_POD "}]}",
          "\n{\"kind\": \"PodList\", \"items\": [{" JSON_POD "}]}", "{\"kind\": \"Pod\", " JSON_POD "}",
          "kind: PodList\nitems:\n- {" JSON_POD "}\n" };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (QuoitClaims) claims = read_both (ALONE, texts[i], &error);

      ck_assert_ok (error);
      ck_assert_text (show (claims), "one=one.0@10.4.0.1");
    }
}
END_TEST

/* --- refusals --- */

#define JOBS "labels: {'batch.kubernetes.io/job-completion-index': x, 'jobset.sigs.k8s.io/jobset-name': j}"

static const struct {
  const char *pods, *message;
} refused[] = {
  { "", "pods: nothing in it: expected pods, as 'kubectl get pods -A -o json' shows them" },
  { "NAME READY\n", "expected pods, as 'kubectl get pods -A -o json' shows them" },
  { "kind: Node\nmetadata: {name: a}\n", "pods: line 1: kind: 'Node': expected pods" },
  { "kind: Job\n", "pods: line 1: kind: 'Job': expected pods" },
  { "kind: Pod\n", "a pod without name: expected metadata.name" },
  { "kind: Pod\nmetadata: {name: a}\nspec: {nodeName: n-1}\nstatus: {podIP: 999.bogus; rm}\n",
    "line 4: status.podIP: '999.bogus; rm': expected an IPv4 or IPv6 address" },
  { "kind: Pod\nmetadata: {name: a}\nspec: {nodeName: n-1}\nstatus:\n  podIPs:\n  - {ip: 10.4.0.1000}\n",
    "line 6: status.podIPs[0].ip: '10.4.0.1000': expected an IPv4 or IPv6 address" },
  { "kind: Pod\nmetadata: {name: A/b}\n", "line 2: metadata.name: 'A/b': expected a DNS name" },
  { "kind: Pod\nmetadata: {name: a, namespace: B}\n", "line 2: metadata.namespace: 'B': expected a DNS name" },
  { REVERSED POD ("9", ID ("3")), "pod 's/w-9': expected each pod once" },
  { POD_OF ("x", "", "n-9", "{" CHIPS "}", "", ", phase: Perhaps"),
    "status.phase: 'Perhaps': expected the phase Pending, Running" },
  { POD_OF ("x", "", "n-13", "{" CHIPS "}", "", ""),
    "pods: line 3: spec.nodeName: 'n-13': expected a node in the list of nodes" },
  { POD ("9", ID ("first")),
    "pods: line 3: spec.containers[0].env[0].value: 'first': expected a worker id: a whole number of 0 to 32767" },
  { POD ("9", ID ("-1")), "'-1': expected a worker id" },
  { POD ("9", ID (" 1")), "' 1': expected a worker id" },
  { POD ("9", ID ("1.0")), "'1.0': expected a worker id" },
  { POD ("9", ID ("99999999999999999999")), "'99999999999999999999': expected a worker id" },
  { POD ("9", "{name: TPU_WORKER_ID, value: 1}"), "env[0].value: '1': expected text" },
  { POD ("9", "7"), "env[0]: '7': expected a map" },
  { MARKED ("9", ", " JOBS), "job-completion-index']: 'x': expected a worker id" },
  { POD ("9", ID ("4")), "env[0].value: worker id '4' of node 'n-9': expected 0 to 3, because slice 'p' has 4 hosts" },
  { POD ("9", ID ("1")) POD ("11", ID ("1")),
    "worker id '1' of node 'n-11': expected another one, because pod 's/w-9' on node 'n-9' of the same slice has it" },
  { POD ("9", ID ("1")) POD_OF ("z", "", "n-9", "{env: [" ID ("2") "], " CHIPS "}", "", ""),
    "worker id '2' of node 'n-9': expected 1, which pod 's/w-9' on the same node states" },
  { POD ("9", ID ("1")) POD_OF ("w-11", "", "n-11", "{env: [" ID ("2") "], " CHIPS "}", "", AT ("9")),
    "address '10.4.0.9' of pod 's/w-11' on node 'n-11': expected another one, because pod 's/w-9' on node 'n-9' has "
    "it" },
  { POD_OF ("x", "", "n-9", "{env: [" ID ("1") "], " CHIPS "}, {env: [" ID ("3") "], " CHIPS "}", "", ""),
    "containers[1].env[0].value: '3': expected the worker id of the container before it, or the next one" },
  { POD_OF ("x", "", "n-9", "{env: [" ID ("1") "], " CHIPS "}, {env: [" ID ("2") "], " CHIPS "}", "", ""),
    "'1': expected a multiple of the containers with chips" },
  { POD_OF ("x", "", "n-9", "{resources: {limits: {google.com/tpu: four}}}", "", ""),
    "resources.limits['google.com/tpu']: " },
  { POD_OF ("x", "", "n-9", "{resources: 7}", "", ""), "containers[0].resources: '7': expected a map" },
};

START_TEST (pods_that_form_no_slice_are_refused)
{
  GError *error = NULL;

  ck_assert_msg (read_both (four_hosts, refused[_i].pods, &error) == NULL, "was accepted: %s", refused[_i].pods);
  ck_assert_refused (error, QUOIT_ERROR_INVALID, refused[_i].message);
}
END_TEST

START_TEST (message_names_the_list)
{
  GError *error = NULL;

  ck_assert_ptr_null (read_both ("kind: Job\n", REVERSED, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "nodes: line 1: kind: 'Job': expected nodes");
  ck_assert_ptr_null (quoit_read_k8s_nodes ("kind: Pod\n", 10, NULL, &error));
  ck_assert_msg (g_str_has_prefix (error->message, "line 1: kind: 'Pod'"), "%s", error->message);
  g_clear_error (&error);
}
END_TEST

/* --- limits --- */

/* Variables are looked up from the end, and each refers to the next. */
START_TEST (a_list_of_thousands_of_variables_is_read_in_bounded_time)
{
  enum { N_PODS = 50, N_VARIABLES = 4000, MOST_SECONDS = 20 };
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitClaims) claims = NULL;
  clock_t begin;

  for (guint i = 0; i < N_PODS; i++)
    {
      g_string_append_printf (text,
                              "%s{\"kind\": \"Pod\", \"metadata\": {\"name\": \"w-%u\"}, \"spec\": {\"nodeName\": "
                              "\"n-9\", \"containers\": [{\"resources\": {\"limits\": {\"google.com/tpu\": \"4\"}}, "
                              "\"env\": [{\"name\": \"TPU_WORKER_ID\", \"value\": \"$(V1)\"}",
                              i == 0 ? "{\"kind\": \"List\", \"items\": [" : ", ", i);
      for (guint v = 0; v < N_VARIABLES; v++)
        g_string_append_printf (text, ", {\"name\": \"V%u\", \"value\": \"$(V%u)\"}", v, v + 1);
      g_string_append (text, "]}]}}");
    }
  g_string_append (text, "]}");
  begin = clock ();
  claims = read_both (four_hosts, text->str, &error);
  ck_assert_ok (error);
  ck_assert_int_lt ((clock () - begin) / CLOCKS_PER_SEC, MOST_SECONDS);
  ck_assert_text (show (claims), NOTHING_SAID REST);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("formats-k8s-pods");
  TCase *pods = tcase_create ("pods");

  tcase_set_timeout (pods, 300);
  tcase_add_loop_test (pods, pods_give_worker_ids_and_node_addresses, 0, G_N_ELEMENTS (heard));
  tcase_add_test (pods, one_list_can_have_nodes_and_pods);
  tcase_add_test (pods, list_of_pods_can_be_json_or_yaml);
  tcase_add_loop_test (pods, pods_that_form_no_slice_are_refused, 0, G_N_ELEMENTS (refused));
  tcase_add_test (pods, message_names_the_list);
  tcase_add_test (pods, a_list_of_thousands_of_variables_is_read_in_bounded_time);
  suite_add_tcase (suite, pods);
  return suite_main (suite);
}

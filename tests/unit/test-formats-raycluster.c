/* SPDX-License-Identifier: Apache-2.0 */
/* Most cases edit the example of the tutorial's demo. */
#include "claims-suite.h"
#include "formats/quantity.h"

static char *base;

static char *
load (const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (g_getenv ("top_srcdir"), folder, name, NULL);
  char *text = NULL;
  gsize length;

  quoit_read_file (path, &text, &length, NULL);
  return text;
}

static void
load_base (void)
{
  base = load ("examples", "raycluster-v6e-4x4-x2.yaml");
  ck_assert_ptr_nonnull (base);
}

static void
drop_base (void)
{
  g_clear_pointer (&base, g_free);
}

/* The example with the last @from replaced by @to. */
static char *
edited (const char *from, const char *to)
{
  const char *at = g_strrstr (base, from);

  ck_assert_msg (at != NULL, "the example has no '%s'", from);
  return g_strdup_printf ("%.*s%s%s", (int) (at - base), base, to, at + strlen (from));
}

static QuoitClaims *
read_text (const char *text, GError **error)
{
  return quoit_read_raycluster (text, strlen (text), NULL, NULL, error);
}

static void
check_sums (const QuoitClaims *claims, guint32 n_pods, const char *cpu, const char *memory)
{
  QuoitSum sum_cpu = { 0 }, sum_memory = { 0 };
  QuoitAmount expected;
  guint32 pods = 0;

  for (guint32 i = 0; i < quoit_claims_n_pools (claims); i++)
    {
      const QuoitPoolClaim *pool = quoit_claims_pool_at (claims, i);

      sum_cpu.e4 += pool->pod_cpu.e4;
      sum_memory.e4 += pool->pod_memory.e4;
      pods += pool->n_pods;
    }
  ck_assert_uint_eq (pods, n_pods);
  ck_assert (quoit_quantity_parse (cpu, &expected, NULL));
  ck_assert (sum_cpu.e4 == expected.e4);
  ck_assert (quoit_quantity_parse (memory, &expected, NULL));
  ck_assert (sum_memory.e4 == expected.e4);
}

START_TEST (the_example_has_two_slices_and_a_head)
{
  GError *error = NULL;
  g_autoptr (QuoitClaims) claims = read_text (base, &error);
  const QuoitPoolClaim *pool;
  const QuoitNodeClaim *nodes;
  guint32 n_nodes;

  ck_assert_ok (error);
  ck_assert_str_eq (quoit_claims_source (claims), "two-slices");
  ck_assert_text (nodes_as_text (claims),
                  "headgroup:two-slices-head!head "
                  "tpu-group:tpu-group-0-0@tpu-group-0.0 tpu-group:tpu-group-0-1@tpu-group-0.1 "
                  "tpu-group:tpu-group-0-2@tpu-group-0.2 tpu-group:tpu-group-0-3@tpu-group-0.3 "
                  "tpu-group:tpu-group-1-0@tpu-group-1.0 tpu-group:tpu-group-1-1@tpu-group-1.1 "
                  "tpu-group:tpu-group-1-2@tpu-group-1.2 tpu-group:tpu-group-1-3@tpu-group-1.3");
  check_sums (claims, 8, "72", "1579277216Ki");
  ck_assert_text (resources_as_text (claims, 0), "CPU=8 memory=17179869184");
  ck_assert_text (resources_as_text (claims, 1), "CPU=8 TPU=4 accelerator_type:TPU-V6E=1 memory=200000000000");
  ck_assert_text (labels_as_text (claims, 0), "ray.io/node-group=headgroup");
  ck_assert_text (labels_as_text (claims, 1),
                  "ray.io/accelerator-type=TPU-V6E ray.io/node-group=tpu-group ray.io/tpu-pod-type=v6e-16 "
                  "ray.io/tpu-topology=4x4");
  nodes = quoit_claims_nodes (claims, &n_nodes);
  for (guint32 i = 0; i < n_nodes; i++)
    ck_assert (nodes[i].address == NULL && nodes[i].identity == NULL && nodes[i].incarnation == NULL);
  ck_assert_int_eq (nodes[0].worker_id, -1);
  ck_assert_uint_eq (quoit_claims_kind_at (claims, nodes[1].kind)->chips, 4);

  pool = quoit_claims_pool_at (claims, 1);
  ck_assert_uint_eq (pool->n_env, 3);
  ck_assert_str_eq (pool->env[0].key, "MEGASCALE_NUM_SLICES");
  ck_assert_str_eq (pool->env[0].value, "2");
  ck_assert_str_eq (pool->env[1].key, "MEGASCALE_PORT");
  ck_assert_str_eq (pool->env[1].value, "9915");
  ck_assert_str_eq (pool->env[2].value, "tpu,cpu");
}
END_TEST

START_TEST (single_slice_example_has_the_sums_of_the_tutorial)
{
  g_autofree char *text = load ("examples", "raycluster-v6e-4x4.yaml");
  g_autoptr (QuoitClaims) claims = read_text (text, NULL);

  check_sums (claims, 4, "40", "798027216Ki");
}
END_TEST

/* An edit, and one resulting node (the last one, or the head if the edit concerns it). */
static const struct {
  const char *from, *to;
  const char *resources, *labels, *last_node;
} edits[] = {
  { "rayStartParams: {}", "rayStartParams: {num-cpus: '3', memory: \"1000\", num-gpus: '1', object-store-memory: '7'}",
    "CPU=3 GPU=1 TPU=4 accelerator_type:TPU-V6E=1 memory=1000 object_store_memory=7", NULL, NULL },
  { "rayStartParams: {}", "rayStartParams: {num-cpus: '0'}", "TPU=4 accelerator_type:TPU-V6E=1 memory=200000000000",
    NULL, NULL },
  { "rayStartParams: {}", "rayStartParams: {resources: '{\"x\": 2, \"y\": 0.5}'}",
    "CPU=8 TPU=4 accelerator_type:TPU-V6E=1 memory=200000000000 x=2 y=0.5", NULL, NULL },
  { "rayStartParams: {}", "rayStartParams: {resources: '\"{\\\"x\\\": 2}\"'}",
    "CPU=8 TPU=4 accelerator_type:TPU-V6E=1 memory=200000000000 x=2", NULL, NULL },
  { "rayStartParams: {}", "rayStartParams: {resources: \"'{\\\"x\\\": 2, \\\"TPU\\\": 4}'\"}",
    "CPU=8 TPU=4 accelerator_type:TPU-V6E=1 memory=200000000000 x=2", NULL, NULL },
  { "rayStartParams: {}",
    "rayStartParams: {num-cpus: '3'}\n    resources: {CPU: 2500m, memory: 1Gi, google.com/tpu: 4, x: '1'}",
    "CPU=3 TPU=4 accelerator_type:TPU-V6E=1 memory=1073741824 x=1", NULL, NULL },
  { "rayStartParams: {}", "rayStartParams: {labels: 'a=1, b=2'}\n    labels: {b: '3', ray.io/node-group: other}", NULL,
    "a=1 b=3 ray.io/accelerator-type=TPU-V6E ray.io/node-group=other ray.io/tpu-pod-type=v6e-16 "
    "ray.io/tpu-topology=4x4",
    NULL },
  { "nodeSelector:",
    "nodeSelector:\n          topology.kubernetes.io/zone: us-east5-b\n          cloud.google.com/gke-spot: \"true\"",
    NULL,
    "ray.io/accelerator-type=TPU-V6E ray.io/availability-zone=us-east5-b ray.io/market-type=spot "
    "ray.io/node-group=tpu-group ray.io/tpu-pod-type=v6e-16 ray.io/tpu-topology=4x4",
    NULL },
  /* Limits take precedence over requests, and are rounded up; Ray ignores requests of memory. */
  { "limits: {memory: 200G, google.com/tpu: \"4\"}", "limits: {cpu: 2500m, google.com/tpu: 4}",
    "CPU=3 TPU=4 accelerator_type:TPU-V6E=1", NULL, NULL },
  { "limits: {memory: 200G, google", "limits: {memory: 0.5, google", "CPU=8 TPU=4 accelerator_type:TPU-V6E=1 memory=1",
    NULL, NULL },
  { "replicas: 2", "replicas: 9\n    maxReplicas: 3", NULL, NULL, "tpu-group-2-3" },
  { "replicas: 2", "replicas: 3\n    minReplicas: 5\n    maxReplicas: 2", NULL, NULL, "tpu-group-4-3" },
  { "replicas: 2", "minReplicas: 1", NULL, NULL, "tpu-group-0-3" },
  { "replicas: 2", "maxReplicas: 4", NULL, NULL, "two-slices-head" },
  { "replicas: 2", "replicas: 2\n    suspend: true", NULL, NULL, "two-slices-head" },
  { "replicas: 2", "replicas: ~\n    minReplicas: 2", NULL, NULL, "tpu-group-1-3" },
  { "4x4\n", "\"4x4\"\n", NULL, NULL, "tpu-group-1-3" },
};

START_TEST (an_edit_of_the_manifest_changes_what_ray_would_see)
{
  g_autofree char *text = NULL;
  g_autoptr (QuoitClaims) claims = NULL;
  const QuoitNodeClaim *nodes;
  GError *error = NULL;
  guint32 n_nodes;

  text = edited (edits[_i].from, edits[_i].to);
  claims = read_text (text, &error);
  ck_assert_ok (error);
  nodes = quoit_claims_nodes (claims, &n_nodes);
  if (edits[_i].resources != NULL)
    ck_assert_text (resources_as_text (claims, n_nodes - 1), edits[_i].resources);
  if (edits[_i].labels != NULL)
    ck_assert_text (labels_as_text (claims, n_nodes - 1), edits[_i].labels);
  if (edits[_i].last_node != NULL)
    ck_assert_str_eq (nodes[n_nodes - 1].name, edits[_i].last_node);
}
END_TEST

static const struct {
  const char *from, *to, *message;
} refused[] = {
  { "numOfHosts: 4", "numOfHosts: 3",
    "line 23: spec.workerGroupSpecs[0].numOfHosts: numOfHosts 3: expected 4, the hosts of topology '4x4' with 4 chips "
    "per "
    "pod" },
  { "    numOfHosts: 4\n", "", "no 'numOfHosts', which means 1: expected 4" },
  { "numOfHosts: 4", "numOfHosts: 0", "numOfHosts 0: expected 4" },
  { "numOfHosts: 4", "numOfHosts: -4",
    "line 23: spec.workerGroupSpecs[0].numOfHosts: '-4': expected a whole number of 0 to 2147483647" },
  { "numOfHosts: 4", "numOfHosts: 4.5", "'4.5': expected a whole number" },
  { "numOfHosts: 4", "numOfHosts: \"4\"", "'4': expected a whole number of 0 to 2147483647, without quotes" },
  { "numOfHosts: 4", "numOfHosts: 03", "numOfHosts 3: expected 4" },
  { "numOfHosts: 4", "numOfHosts: 3.0", "numOfHosts 3: expected 4" },
  { "replicas: 2\n    numOfHosts: 4", "replicas: 2000000000\n    numOfHosts: 2",
    "line 22: spec.workerGroupSpecs[0].replicas: 2000000000 replicas of 2 hosts: expected at most 4000000 pods, "
    "KubeRay itself would count wrongly" },
  { "replicas: 2", "replicas: 1000001", "1000001 replicas of 4 hosts: expected at most 4000000 pods" },
  { "replicas: 2", "replicas: 2147483648", "expected a whole number of 0 to 2147483647" },
  { "replicas: 2", "replicas: yes", "'yes': expected a whole number" },
  { "replicas: 2", "replicas: ${N}",
    "line 22: spec.workerGroupSpecs[0].replicas: variable '${N}' has no value: expected --set N=VALUE" },
  { "replicas: 2", "suspend: maybe", "'maybe': expected true or false" },
  { "replicas: 2", "suspend: 'true'", "'true': expected true or false" },
  { "google.com/tpu: \"4\"}", "google.com/tpu: \"3\"}",
    "line 42: spec.workerGroupSpecs[0].template.spec.containers[0].resources.requests['google.com/tpu']: '4': expected "
    "the limit of this container, 3" },
  { "tpu: \"4\"}\n            limits: {memory: 200G, google.com/tpu: \"4\"}",
    "tpu: \"3\"}\n            limits: {memory: 200G, google.com/tpu: \"3\"}",
    "line 43: spec.workerGroupSpecs[0].template.spec.containers[0].resources.limits['google.com/tpu']: " },
  { "limits: {memory: 200G, google.com/tpu: \"4\"}", "limits: {memory: 200G}",
    "'4': expected the limit of this container, which is not set" },
  { "requests: {cpu: \"8\", memory: 200G, google.com/tpu: \"4\"}\n            limits: {memory: 200G, google.com/tpu: "
    "\"4\"}",
    "limits: {google.com/tpu: 99999}", "'99999': expected the chips of one host" },
  { "requests: {cpu: \"8\"", "requests: {cpu: \"-8\"",
    "resources.requests.cpu: quantity '-8': expected one that is not negative" },
  { "requests: {cpu: \"8\"", "requests: {cpu: NaN", "quantity 'NaN': expected a quantity" },
  { "requests: {cpu: \"8\"", "requests: {cpu: .nan", "quantity '.nan': expected a quantity such as" },
  { "requests: {cpu: \"8\"", "requests: {cpu: .inf", "quantity '.inf': expected a quantity such as" },
  { "requests: {cpu: \"8\"", "requests: {cpu: -.inf", "quantity '-.inf': expected a quantity such as" },
  { "requests: {cpu: \"8\"", "requests: {cpu: ''", "quantity '': expected a quantity such as" },
  { "requests: {cpu: \"8\"", "requests: {cpu: .", "quantity '.': expected a quantity such as" },
  { "requests: {cpu: \"8\"", "requests: {cpu: -010", "quantity '-8': expected one that is not negative" },
  { "rayStartParams: {}", "rayStartParams: {resources: '{\"x\": 0.00001}'}",
    "resource 'x': amount '1e-05': expected 0, or at least 0.0001" },
  { "rayStartParams: {}", "resources: {cpu: -010}", "quantity '-8': expected one that is not negative" },
  { "apiVersion: ray.io/v1\n", "apiVersion: ray.io/v2\n", "'ray.io/v2': expected ray.io/v1 or ray.io/v1alpha1" },
  { "apiVersion: ray.io/v1\n", "apiVersion: v1\n", "'v1': expected ray.io/v1 or ray.io/v1alpha1" },
  { "apiVersion: ray.io/v1\n", "apiVersion: 1\n", "apiVersion: '1': expected text" },
  { "requests: {cpu: \"8\"", "requests: {cpu: 1e400", "quantity '1e400': expected less than" },
  { "requests: {cpu: \"8\"", "requests: {cpu: 0.00001", "quantity '0.00001': expected no part finer than 0.0001" },
  { "requests: {cpu: \"8\"", "requests: {cpu: [8]", "a list: expected a quantity" },
  { "requests: {cpu: \"8\"", "requests: {cpu: ${CPUS}", "expected" },
  { "requests: {cpu: \"8\"", "requests: {cpu: \"${CPUS}\"",
    "line 42: spec.workerGroupSpecs[0].template.spec.containers[0].resources.requests.cpu: variable '${CPUS}' has no "
    "value" },
  { "tpu-v6e-slice", "tpu-v99-slice",
    "line 29: spec.workerGroupSpecs[0].template.spec.nodeSelector['cloud.google.com/gke-tpu-accelerator']: " },
  { "tpu-v6e-slice", "${ACC}", "variable '${ACC}' has no value" },
  { "          cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice\n", "",
    "chips without a node selector 'cloud.google.com/gke-tpu-accelerator'" },
  { "          cloud.google.com/gke-tpu-topology: 4x4\n", "",
    "chips without a node selector 'cloud.google.com/gke-tpu-topology'" },
  { "topology: 4x4", "topology: 4X4",
    "line 30: spec.workerGroupSpecs[0].template.spec.nodeSelector['cloud.google.com/gke-tpu-topology']: " },
  { "topology: 4x4", "topology: 4x", "line 30: " },
  { "topology: 4x4", "topology: 0x4", "line 30: " },
  { "topology: 4x4", "topology: 4x4x", "line 30: " },
  { "topology: 4x4", "topology: 5x5", "line 30: " },
  { "topology: 4x4", "topology: 2x2x2", "line 30: " },
  { "topology: 4x4", "topology: 99999x99999", "line 30: " },
  { "topology: 4x4", "topology: 16", "'16': expected text: put it in quotes" },
  { "groupName: tpu-group", "groupName: headgroup",
    "'headgroup': expected a name for the group, other than 'headgroup'" },
  { "groupName: tpu-group", "groupName: yes",
    "line 21: spec.workerGroupSpecs[0].groupName: 'yes': expected text: put it in quotes" },
  { "groupName: tpu-group", "groupName: \"\"", "expected a name for the group" },
  { "groupName: tpu-group", "groupName: \"a\\nb\"", "label value 'a\\nb'" },
  { "groupName: tpu-group\n    replicas", "replicas", "no 'groupName'" },
  { "rayStartParams: {}", "rayStartParams: {num-cpus: 3}",
    "rayStartParams.num-cpus: '3': expected text: put it in quotes" },
  { "rayStartParams: {}", "rayStartParams: {num-cpus: '3.5'}", "'3.5': expected a whole number" },
  { "rayStartParams: {}", "rayStartParams: {memory: '16Gi'}", "'16Gi': expected a whole number" },
  { "rayStartParams: {}", "rayStartParams: {memory: '-1'}", "'-1': expected a whole number" },
  { "rayStartParams: {}", "rayStartParams: []", "rayStartParams: a list: expected a map" },
  { "rayStartParams: {}", "rayStartParams: {resources: '{x: 1}'}",
    "line 24: spec.workerGroupSpecs[0].rayStartParams.resources: line 1, column 2" },
  { "rayStartParams: {}", "rayStartParams: {resources: '[1]'}", "expected a JSON object" },
  { "rayStartParams: {}", "rayStartParams: {resources: '{\"x\": -1}'}",
    "resource 'x': amount '-1': expected a number that is not negative" },
  { "rayStartParams: {}", "rayStartParams: {resources: '{\"TPU\": 3}'}", "resource TPU 3: expected the 4 chips" },
  { "rayStartParams: {}", "rayStartParams: {labels: 'a'}", "'a': expected labels as key=value,key=value" },
  { "rayStartParams: {}", "rayStartParams: {labels: 'a=-'}", "rayStartParams.labels: label value '-'" },
  { "rayStartParams: {}", "labels: {a: 1}", "labels.a: '1': expected text: put it in quotes" },
  { "rayStartParams: {}", "labels: {a: 'x y'}", "labels.a: label value 'x y'" },
  { "rayStartParams: {}", "resources: {x: -1}", "resources.x: quantity '-1'" },
  { "value: \"9915\"", "value: 9915",
    "line 38: spec.workerGroupSpecs[0].template.spec.containers[0].env[1].value: '9915': expected text: put it in "
    "quotes" },
  { "value: \"9915\"", "value: \"${PORT}\"", "variable '${PORT}' has no value" },
  { "name: MEGASCALE_PORT", "name: $(id)", "'$(id)': expected a variable's name" },
  { "name: MEGASCALE_PORT", "nam: MEGASCALE_PORT", "env[1]: a variable without name" },
  { "name: worker\n          image: ${IMAGE}\n          env:", "env: {}\n          x:", "env: a map: expected a list" },
  { "name: two-slices", "name: ${NAME}", "line 7: metadata.name: variable '${NAME}' has no value" },
  { "name: two-slices", "name: 12", "line 7: metadata.name: '12': expected text: put it in quotes" },
  { "name: two-slices", "name: \"$(id)\"", "label value '$(id)'" },
  { "name: two-slices", "nam: x", "no 'metadata.name'" },
  { "kind: RayCluster", "kind: RayCronJob",
    "no Ray object in it, but 'RayCronJob' in line 5: expected a document of kind RayCluster, RayJob or RayService" },
  { "kind: RayCluster", "kin: RayJob", "no Ray object in it, but nothing with a kind" },
  { "  headGroupSpec:", "  headGroup:", "no 'headGroupSpec'" },
  { "kind: RayCluster", "kind: RayCluster\nspec: 3\nx:", "spec" },
  { "        containers:\n        - name: worker", "        container:\n        - name: worker",
    "no 'template.spec.containers'" },
  { "kind: RayCluster",
    "kind: RayCluster\nmetadata: {name: a}\nspec: {headGroupSpec: {template: {spec: {containers: [{}]}}}}\n---\nkind: "
    "RayCluster",
    "a second Ray object, RayCluster 'two-slices' after RayCluster 'a' in line 5: expected one per file" },
  { "  workerGroupSpecs:", "\tworkerGroupSpecs:", "line 20, column 1: a tab: expected spaces" },
};

START_TEST (unused_variable_is_warned_of)
{
  static const char *const set[] = { "N=3", "TOPO=4x4", NULL };
  g_autofree char *text = edited ("replicas: 2", "replicas: ${N}");
  g_autoptr (QuoitClaims) claims = quoit_read_raycluster (text, strlen (text), NULL, set, NULL);

  ck_assert_str_eq (quoit_claims_warnings (claims)[0],
                    "variable 'TOPO' has a value, but no field that is read uses ${TOPO}");
  ck_assert_ptr_null (quoit_claims_warnings (claims)[1]);
}
END_TEST

START_TEST (both_api_versions_are_read)
{
  g_autofree char *old = edited ("ray.io/v1\n", "ray.io/v1alpha1\n"), *none = edited ("apiVersion: ray.io/v1\n", "");
  g_autoptr (QuoitClaims) of_old = read_text (old, NULL), of_none = read_text (none, NULL);

  ck_assert (of_old != NULL && of_none != NULL);
}
END_TEST

START_TEST (invalid_manifest_is_refused_with_line_and_field)
{
  g_autofree char *text = edited (refused[_i].from, refused[_i].to);
  GError *error = NULL;

  ck_assert_msg (read_text (text, &error) == NULL, "was accepted: %s", refused[_i].to);
  ck_assert_refused (error, QUOIT_ERROR_INVALID, refused[_i].message);
  ck_assert_ptr_null (read_text (text, NULL));
}
END_TEST

START_TEST (variables_are_read_as_their_values)
{
  static const char *const set[] = { "N=3", "TOPOLOGY=4x4", "NAME=mine", "CPUS=500m", NULL };
  static const char *const wrong[] = { "N=three", NULL }, *const bad[] = { "N", NULL };
  g_autofree char *text = NULL;
  g_autoptr (QuoitClaims) claims = NULL;
  GError *error = NULL;

  text = edited ("replicas: 2", "replicas: ${N}");
  g_free (base);
  base = g_steal_pointer (&text);
  ck_assert_ptr_null (quoit_read_raycluster (base, strlen (base), NULL, wrong, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "'${N}': expected a whole number");
  ck_assert_ptr_null (quoit_read_raycluster (base, strlen (base), NULL, bad, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "variable 'N': expected NAME=value");

  text = edited ("topology: 4x4", "topology: ${TOPOLOGY}");
  g_free (base);
  base = g_steal_pointer (&text);
  text = edited ("name: two-slices", "name: \"${NAME}-1\"");
  g_free (base);
  base = g_steal_pointer (&text);
  text = edited ("requests: {cpu: \"8\"", "requests: {cpu: \"${CPUS}\"");
  claims = quoit_read_raycluster (text, strlen (text), NULL, set, &error);
  ck_assert_ok (error);
  ck_assert_str_eq (quoit_claims_source (claims), "mine-1");
  check_sums (claims, 12, "14", "2360527216Ki");
}
END_TEST

START_TEST (objects_of_other_kinds_are_skipped)
{
  g_autofree char *text = g_strconcat ("kind: ResourceClaimTemplate\nspec:\n  x: ${Y}\n---\n---\njust text\n---\n",
                                       base, "\n---\n", NULL);
  g_autoptr (QuoitClaims) claims = quoit_read_raycluster (text, strlen (text), "given", NULL, NULL);

  ck_assert_ptr_nonnull (claims);
  ck_assert_str_eq (quoit_claims_source (claims), "given");
}
END_TEST

START_TEST (a_suspended_cluster_has_no_pods)
{
  g_autofree char *text = edited ("  headGroupSpec:", "  suspend: true\n  headGroupSpec:");
  g_autoptr (QuoitClaims) claims = read_text (text, NULL);

  ck_assert_text (nodes_as_text (claims), "");
  check_sums (claims, 0, "0", "0");
}
END_TEST

#define POD(more, resources) "template: {spec: {" more "containers: [{resources: {limits: {" resources "}}}]}}"
#define SELECT(type, topology)                                                                                         \
  "nodeSelector: {cloud.google.com/gke-tpu-accelerator: " type ", cloud.google.com/gke-tpu-topology: " topology "}, "
#define CLUSTER(head, workers)                                                                                         \
  "kind: RayCluster\nmetadata: {name: c}\nspec:\n  headGroupSpec: {" head "}\n  workerGroupSpecs:\n" workers

static const struct {
  const char *text, *nodes, *refusal;
} clusters[] = {
  { CLUSTER (POD ("", "cpu: 1"), "  - {groupName: cpu, replicas: 2, " POD ("", "cpu: 4") "}\n"),
    "headgroup:c-head!head cpu:cpu-0 cpu:cpu-1", NULL },
  { CLUSTER (POD ("", "cpu: 1"), "  - {groupName: cpu, replicas: 1, numOfHosts: 2, " POD ("", "cpu: 4") "}\n"),
    "headgroup:c-head!head cpu:cpu-0-0 cpu:cpu-0-1", NULL },
  { CLUSTER (POD ("", "cpu: 1"), "  - {groupName: t, replicas: 2, " POD (SELECT ("tpu-v5-lite-podslice", "2x4"),
                                                                         "google.com/tpu: 8") "}\n"),
    "headgroup:c-head!head t:t-0@t-0.0 t:t-1@t-1.0", NULL },
  { CLUSTER (POD ("", "cpu: 1"), "  - {groupName: t, replicas: 1, numOfHosts: 2, " POD (
                                     SELECT ("tpu-v5-lite-podslice", "2x4"), "google.com/tpu: 4") "}\n"),
    "headgroup:c-head!head t:t-0-0@t-0.0 t:t-0-1@t-0.1", NULL },
  { CLUSTER (POD ("", "cpu: 1"), "  - {groupName: t, replicas: 1, numOfHosts: 2, " POD (SELECT ("tpu7x", "2x2x2"),
                                                                                        "google.com/tpu: 4") "}\n"),
    "headgroup:c-head!head t:t-0-0@t-0.0 t:t-0-1@t-0.1", NULL },
  { CLUSTER (POD (SELECT ("tpu-v6e-slice", "2x2"), "google.com/tpu: 4"), "    []\n"),
    "headgroup:c-head@headgroup-0.0!head", NULL },
  { CLUSTER (POD (SELECT ("tpu-v6e-slice", "4x4"), "google.com/tpu: 4"), "    []\n"), NULL,
    "topology '4x4' has 4 hosts with 4 chips per pod: expected 1, because the head is one pod" },
  { CLUSTER (POD ("", "cpu: 1"), "  - {groupName: a, replicas: 1, " POD (
                                     "", "cpu: 4") "}\n  - {groupName: a, replicas: 1, " POD ("", "cpu: 4") "}\n"),
    NULL, "line 7: spec.workerGroupSpecs[1].groupName: 'a': expected each groupName once" },
  { CLUSTER (POD ("", "cpu: 1"), "  - {groupName: a, replicas: 1, numOfHosts: 2, " POD (
                                     "", "cpu: 4") "}\n  - {groupName: a-0, replicas: 2, " POD ("", "cpu: 4") "}\n"),
    NULL, "node name 'a-0-0' is also that of a node of another group" },
  /* Two containers with chips, and a sidecar that counts only in the pod's sum. */
  { CLUSTER (POD ("", "cpu: 1"), "  - {groupName: t, replicas: 1, template: {spec: {" SELECT (
                                     "tpu-v6e-slice", "2x2") "containers: "
                                                             "[{resources: {limits: {google.com/tpu: 2}}}, {resources: "
                                                             "{limits: {google.com/tpu: 2, cpu: 1}}}]}}}\n"),
    "headgroup:c-head!head t:t-0@t-0.0", NULL },
  { CLUSTER (POD ("", "cpu: 1"), "  - {groupName: t, replicas: 1, template: {spec: {containers: []}}}\n"), NULL,
    "expected at least one container" },
  { CLUSTER (POD ("", "cpu: 1"), "  - {groupName: t, replicas: 1, template: {spec: {" SELECT (
                                     "tpu-v6e-slice", "2x2") "containers: "
                                                             "[{resources: {limits: {google.com/tpu: 4}}, env: [{name: "
                                                             "TPU_NAME, value: mine}, {name: X}]}]}}}\n"),
    "headgroup:c-head!head t:t-0@mine.0", NULL },
  { CLUSTER (POD ("", "cpu: 1"),
             "  - {groupName: t, replicas: 2, template: {spec: {" SELECT (
                 "tpu-v6e-slice",
                 "2x2") "containers: "
                        "[{resources: {limits: {google.com/tpu: 4}}, env: [{name: TPU_NAME, value: mine}]}]}}}\n"),
    "headgroup:c-head!head t:t-0@t-0.0 t:t-1@t-1.0", NULL },
};

START_TEST (a_cluster_has_the_nodes_that_kuberay_would_make)
{
  GError *error = NULL;
  g_autoptr (QuoitClaims) claims = read_text (clusters[_i].text, &error);

  if (clusters[_i].refusal != NULL)
    {
      ck_assert_ptr_null (claims);
      ck_assert_refused (error, QUOIT_ERROR_INVALID, clusters[_i].refusal);
      return;
    }
  ck_assert_ok (error);
  ck_assert_text (nodes_as_text (claims), clusters[_i].nodes);
}
END_TEST

START_TEST (a_tpu_name_for_several_slices_is_warned_of)
{
  g_autoptr (QuoitClaims) claims = read_text (clusters[G_N_ELEMENTS (clusters) - 1].text, NULL);

  ck_assert_ptr_nonnull (strstr (quoit_claims_warnings (claims)[0], "TPU_NAME 'mine' in 2 slices"));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("formats-raycluster");
  TCase *example = tcase_create ("example"), *cluster = tcase_create ("cluster");

  tcase_set_timeout (example, 60);
  tcase_add_checked_fixture (example, load_base, drop_base);
  tcase_add_test (example, the_example_has_two_slices_and_a_head);
  tcase_add_test (example, single_slice_example_has_the_sums_of_the_tutorial);
  tcase_add_loop_test (example, an_edit_of_the_manifest_changes_what_ray_would_see, 0, G_N_ELEMENTS (edits));
  tcase_add_test (example, unused_variable_is_warned_of);
  tcase_add_test (example, both_api_versions_are_read);
  tcase_add_loop_test (example, invalid_manifest_is_refused_with_line_and_field, 0, G_N_ELEMENTS (refused));
  tcase_add_test (example, variables_are_read_as_their_values);
  tcase_add_test (example, objects_of_other_kinds_are_skipped);
  tcase_add_test (example, a_suspended_cluster_has_no_pods);
  suite_add_tcase (suite, example);
  tcase_add_loop_test (cluster, a_cluster_has_the_nodes_that_kuberay_would_make, 0, G_N_ELEMENTS (clusters));
  tcase_add_test (cluster, a_tpu_name_for_several_slices_is_warned_of);
  suite_add_tcase (suite, cluster);
  return suite_main (suite);
}

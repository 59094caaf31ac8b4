/* SPDX-License-Identifier: Apache-2.0 */
/* The three kinds of Ray objects, and the choice among a file's documents. */
#include "claims-suite.h"

#define HEAD "headGroupSpec: {template: {spec: {containers: [{resources: {limits: {cpu: 1}}}]}}}"
#define WORKERS                                                                                                        \
  "workerGroupSpecs: [{groupName: t, replicas: 1, numOfHosts: 2, template: {spec: {nodeSelector: "                     \
  "{cloud.google.com/gke-tpu-accelerator: tpu-v4-podslice, cloud.google.com/gke-tpu-topology: 2x2x2}, containers: "    \
  "[{resources: {limits: {google.com/tpu: 4}}}]}}}]"
#define CLUSTER "{" HEAD ", " WORKERS "}"
#define NODES(cluster, mark) "headgroup:" cluster "-head!head" mark " t:t-0-0@t-0.0" mark " t:t-0-1@t-0.1" mark
#define JOB(more) "kind: RayJob\nmetadata: {name: train}\nspec:\n" more "  rayClusterSpec: " CLUSTER "\n"
#define SERVICE(more) "kind: RayService\nmetadata: {name: chat}\nspec:\n" more "  rayClusterConfig: " CLUSTER "\n"

#define END_OF_NAME "'kubectl get RayJob train -o yaml' prints the real name"

static const struct {
  const char *text, *source, *nodes;
  const char *warning; /* NULL: none */
} accepted[] = {
  { "kind: RayCluster\nmetadata: {name: c}\nspec: " CLUSTER "\n", "c", NODES ("c", ""), NULL },
  { JOB (""), "train", NODES ("train-xxxxx", "!assumed"),
    "line 1: KubeRay ends the name of a RayJob's cluster with five random characters: 'train-xxxxx' is assumed, "
    "and so are the names of its hosts; " END_OF_NAME },
  { SERVICE (""), "chat", NODES ("chat-xxxxx", "!assumed"), "line 1: KubeRay ends the name of a RayService's cluster" },
  { "apiVersion: ray.io/v1alpha1\n" JOB (""), "train", NODES ("train-xxxxx", "!assumed"), "line 2: KubeRay ends" },
  /* The object as read back from Kubernetes has the name. */
  { JOB ("") "status: {rayClusterName: train-4kq7c}\n", "train", NODES ("train-4kq7c", ""), NULL },
  { JOB ("") "status: {rayClusterName: ''}\n", "train", NODES ("train-xxxxx", "!assumed"), "KubeRay ends" },
  { JOB ("") "status: {jobId: train-4kq7c}\n", "train", NODES ("train-xxxxx", "!assumed"), "KubeRay ends" },
  { SERVICE ("") "status: {activeServiceStatus: {rayClusterName: chat-zz2xx}}\n", "chat", NODES ("chat-zz2xx", ""),
    NULL },
  { SERVICE ("") "status: {rayClusterName: chat-zz2xx}\n", "chat", NODES ("chat-xxxxx", "!assumed"), "KubeRay ends" },
  { "kind: RayCluster\nmetadata: {name: c}\nspec: " CLUSTER "\nstatus: {rayClusterName: other}\n", "c", NODES ("c", ""),
    NULL },
  /* A suspended object has no pods, so no name can be wrong. */
  { JOB ("  suspend: true\n"), "train", "", NULL },
  { JOB ("  suspend: false\n"), "train", NODES ("train-xxxxx", "!assumed"), "KubeRay ends" },
  { SERVICE ("  suspend: true\n"), "chat", "", NULL },
  { "kind: RayJob\nmetadata: {name: train}\nspec: {rayClusterSpec: {suspend: true, " HEAD ", " WORKERS "}}\n", "train",
    "", NULL },
  { "kind: RayJob\nmetadata: {name: train}\nspec: {suspend: true, rayClusterSpec: {suspend: false, " HEAD ", " WORKERS
    "}}\n",
    "train", "", NULL },
  { "kind: RayJob\nmetadata: {name: train}\nspec: {rayClusterSpec: {" HEAD
    ", workerGroupSpecs: [{groupName: w, replicas: 2, suspend: true, template: {spec: {containers: [{}]}}}]}}\n",
    "train", "headgroup:train-xxxxx-head!head!assumed", "KubeRay ends" },
  { JOB ("  clusterSelector: {}\n"), "train", NODES ("train-xxxxx", "!assumed"), "KubeRay ends" },
  /* kubectl's output for several objects. */
  { "apiVersion: v1\nkind: List\nitems:\n- {kind: ConfigMap}\n- kind: RayCluster\n  metadata: {name: c}\n  "
    "spec: " CLUSTER "\n",
    "c", NODES ("c", ""), NULL },
  { "kind: List\n---\nkind: List\nitems: [{kind: RayJob, metadata: {name: train}, spec: {rayClusterSpec: " CLUSTER
    "}}]\n",
    "train", NODES ("train-xxxxx", "!assumed"), "line 4: KubeRay ends" },
  { "kind: ConfigMap\nmetadata: {name: [1]}\n---\n" JOB (
        "") "---\nkind: PersistentVolumeClaim\n---\nkind: LocalQueue\nspec: ${X}\n---\n- 1\n",
    "train", NODES ("train-xxxxx", "!assumed"), "line 4: KubeRay ends" },
};

START_TEST (a_ray_object_has_the_nodes_of_its_cluster)
{
  GError *error = NULL;
  g_autoptr (QuoitClaims) claims
      = quoit_read_raycluster (accepted[_i].text, strlen (accepted[_i].text), NULL, NULL, &error);

  ck_assert_ok (error);
  ck_assert_str_eq (quoit_claims_source (claims), accepted[_i].source);
  ck_assert_text (nodes_as_text (claims), accepted[_i].nodes);
  check_only_warning (claims, accepted[_i].warning);
}
END_TEST

static const struct {
  const char *text, *message;
} refused[] = {
  { "kind: RayJob\nmetadata: {name: train}\nspec:\n  clusterSelector: {ray.io/cluster: mine}\n",
    "line 4: spec.clusterSelector: the job has no cluster of its own and runs on RayCluster 'mine': expected the "
    "manifest of that cluster, or a job with 'rayClusterSpec' and without 'clusterSelector'" },
  { JOB ("  clusterSelector: {ray.io/cluster: mine}\n"),
    "line 4: spec.clusterSelector: the job has no cluster of its own and runs on RayCluster 'mine'" },
  { JOB ("  clusterSelector: {a: b}\n"), "runs on RayCluster ''" },
  { JOB ("  clusterSelector: mine\n"), "line 4: spec.clusterSelector: 'mine': expected a map" },
  { JOB ("  clusterSelector: {ray.io/cluster: 7}\n"), "spec.clusterSelector['ray.io/cluster']: '7': expected text" },
  { "kind: RayJob\nmetadata: {name: train}\nspec: {entrypoint: x}\n",
    "line 3: spec: no 'rayClusterSpec': expected the cluster of the RayJob" },
  { "kind: RayService\nmetadata: {name: chat}\nspec: {rayClusterSpec: " CLUSTER "}\n",
    "line 3: spec: no 'rayClusterConfig': expected the cluster of the RayService" },
  { "kind: RayJob\nmetadata: {name: train}\nspec: " CLUSTER "\n", "line 3: spec: no 'rayClusterSpec'" },
  { "kind: RayJob\nmetadata: {name: train}\n", "line 1: no 'spec': expected the spec of the RayJob" },
  { "kind: RayJob\nmetadata: {generateName: train-}\nspec: {}\n",
    "line 1: no 'metadata.name': expected the name of the RayJob" },
  { "kind: RayJob\nmetadata: {name: ''}\nspec: {}\n", "line 2: metadata.name: '': expected a name" },
  { "kind: RayJob\napiVersion: batch/v1\n", "line 2: apiVersion: 'batch/v1': expected ray.io/v1 or ray.io/v1alpha1" },
  { JOB ("  suspend: maybe\n"), "line 4: spec.suspend: 'maybe': expected true or false" },
  { SERVICE ("  suspend: 'true'\n"), "spec.suspend: 'true': expected true or false" },
  { "kind: RayJob\nmetadata: {name: a}\nspec: {rayClusterSpec: {suspend: 1, " HEAD "}}\n",
    "spec.rayClusterSpec.suspend: '1': expected true or false" },
  { JOB ("") "status: {rayClusterName: 7}\n", "status.rayClusterName: '7': expected text" },
  { JOB ("") "status: {rayClusterName: 'a b'}\n", "status.rayClusterName: label value 'a b'" },
  { JOB ("") "status: gone\n", "status: 'gone': expected a map" },
  { JOB ("") "---\n" SERVICE (""),
    "line 6: a second Ray object, RayService 'chat' after RayJob 'train' in line 1: expected one per file, because "
    "each is a separate source" },
  { JOB ("") "---\nkind: RayCluster\n", "line 6: no 'metadata.name': expected the name of the RayCluster" },
  { "kind: RayCronJob\nspec: {jobTemplate: {}}\n---\nkind: ConfigMap\n",
    "no Ray object in it, but 'RayCronJob' in line 1, 'ConfigMap' in line 4: expected a document of kind RayCluster, "
    "RayJob or RayService" },
  { "kind: List\nitems: {}\n", "line 2: items: a map: expected a list" },
  { "kind: List\nitems: [{kind: ConfigMap}, 7]\n", "no Ray object in it, but 'ConfigMap' in line 2: expected" },
  { "kind: List\nitems:\n- {kind: RayCluster, metadata: {name: a}}\n- {kind: RayJob, metadata: {name: b}}\n",
    "line 4: a second Ray object, RayJob 'b' after RayCluster 'a' in line 3" },
  { "kind: List\nitems:\n- {kind: RayCluster, metadata: {name: 7}, spec: {}}\n",
    "line 3: items[0].metadata.name: '7': expected text" },
  { "kind: rayjob\n", "no Ray object in it, but 'rayjob' in line 1" },
  { "kind: Node\n---\nkind: Node\n---\nkind: Pod\n",
    "no Ray object in it, but 2 Node objects, first in line 1, 'Pod' in line 5: expected a document of kind "
    "RayCluster, "
    "RayJob or RayService; for a list of nodes use 'quoit import k8s-nodes'" },
  { "kind: List\nitems: [{kind: A}, {kind: B}, {kind: C}, {kind: 'd e'}, {kind: 'd e'}, {kind: F}, {kind: G}]\n",
    "no Ray object in it, but 'A' in line 2, 'B' in line 2, 'C' in line 2, 2 'd e' objects, first in line 2, 2 of "
    "other "
    "kinds: expected a document of kind RayCluster, RayJob or RayService" },
  { "kind: RayJob\nmetadata: {name: t}\nspec: {rayClusterSpec: {" HEAD
    ", workerGroupSpecs: [{groupName: w, suspend: 1, template: {spec: {containers: [{}]}}}]}}\n",
    "spec.rayClusterSpec.workerGroupSpecs[0].suspend: '1': expected true or false" },
};

START_TEST (object_without_own_cluster_is_refused)
{
  GError *error = NULL;

  ck_assert_msg (quoit_read_raycluster (refused[_i].text, strlen (refused[_i].text), NULL, NULL, &error) == NULL,
                 "was accepted: %s", refused[_i].text);
  ck_assert_refused (error, QUOIT_ERROR_INVALID, refused[_i].message);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("formats-ray-objects");
  TCase *objects = tcase_create ("objects");

  tcase_add_loop_test (objects, a_ray_object_has_the_nodes_of_its_cluster, 0, G_N_ELEMENTS (accepted));
  tcase_add_loop_test (objects, object_without_own_cluster_is_refused, 0, G_N_ELEMENTS (refused));
  suite_add_tcase (suite, objects);
  return suite_main (suite);
}

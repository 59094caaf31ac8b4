/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of other kinds than Ray's, without findings, and cases that break the rules about them. */
#pragma once

#include "check-fixture.h"

#define CHIPS_4 "resources: {limits: {google.com/tpu: 4}}"

static const char good_jobset[] = "apiVersion: jobset.x-k8s.io/v1alpha2\n"
                                  "kind: JobSet\n"
                                  "metadata:\n"
                                  "  name: train\n"
                                  "spec:\n"
                                  "  replicatedJobs:\n"
                                  "  - name: workers\n"
                                  "    replicas: 2\n"
                                  "    template:\n"
                                  "      spec:\n"
                                  "        parallelism: 4\n"
                                  "        completions: 4\n"
                                  "        template:\n"
                                  "          metadata:\n"
                                  "            labels: {app: train}\n"
                                  "          spec:\n"
                                  "            nodeSelector:\n"
                                  "              " ACCELERATOR "              cloud.google.com/gke-tpu-topology: 4x4\n"
                                  "            containers:\n"
                                  "            - name: jax\n"
                                  "              image: jax\n"
                                  "              command: [bash, -c]\n"
                                  "              args:\n"
                                  "              - |\n"
                                  "                set -e\n"
                                  "                python3 -m MaxText.train configs/base.yml steps=5\n"
                                  "              " CHIPS_4 "\n";

static const char good_lws[] = "apiVersion: leaderworkerset.x-k8s.io/v1\n"
                               "kind: LeaderWorkerSet\n"
                               "metadata: {name: serve}\n"
                               "spec:\n"
                               "  replicas: 3\n"
                               "  leaderWorkerTemplate:\n"
                               "    size: 4\n"
                               "    workerTemplate:\n"
                               "      spec:\n"
                               "        nodeSelector:\n"
                               "          " ACCELERATOR "          cloud.google.com/gke-tpu-topology: 4x4\n"
                               "        containers:\n"
                               "        - name: serve\n"
                               "          image: serve\n"
                               "          " CHIPS_4 "\n";

static const char good_job[] = "apiVersion: batch/v1\n"
                               "kind: Job\n"
                               "metadata: {name: train}\n"
                               "spec:\n"
                               "  parallelism: 4\n"
                               "  completions: 4\n"
                               "  completionMode: Indexed\n"
                               "  template:\n"
                               "    spec:\n"
                               "      subdomain: hosts\n"
                               "      nodeSelector:\n"
                               "        " ACCELERATOR "        cloud.google.com/gke-tpu-topology: 4x4\n"
                               "      restartPolicy: Never\n"
                               "      containers:\n"
                               "      - name: jax\n"
                               "        image: jax\n"
                               "        " CHIPS_4 "\n";

static const char good_pod[] = "apiVersion: v1\n"
                               "kind: Pod\n"
                               "metadata: {name: train}\n"
                               "spec:\n"
                               "  nodeSelector:\n"
                               "    " ACCELERATOR "    cloud.google.com/gke-tpu-topology: 2x2\n"
                               "  containers:\n"
                               "  - name: jax\n"
                               "    image: jax\n"
                               "    " CHIPS_4 "\n";

static const char good_workload[] = "apiVersion: kueue.x-k8s.io/v1beta2\n"
                                    "kind: Workload\n"
                                    "metadata: {name: train}\n"
                                    "spec:\n"
                                    "  podSets:\n"
                                    "  - name: main\n"
                                    "    count: 8\n"
                                    "    template:\n"
                                    "      spec:\n"
                                    "        nodeSelector:\n"
                                    "          " ACCELERATOR "          cloud.google.com/gke-tpu-topology: 4x4\n"
                                    "        containers:\n"
                                    "        - name: jax\n"
                                    "          image: jax\n"
                                    "          " CHIPS_4 "\n";

static const char good_queues[] = "apiVersion: kueue.x-k8s.io/v1beta2\n"
                                  "kind: Topology\n"
                                  "metadata: {name: blocks}\n"
                                  "spec:\n"
                                  "  levels:\n"
                                  "  - nodeLabel: cloud.google.com/gce-topology-block\n"
                                  "  - nodeLabel: kubernetes.io/hostname\n"
                                  "---\n"
                                  "apiVersion: kueue.x-k8s.io/v1beta2\n"
                                  "kind: ResourceFlavor\n"
                                  "metadata: {name: v6e-4x4}\n"
                                  "spec:\n"
                                  "  nodeLabels:\n"
                                  "    " ACCELERATOR "    cloud.google.com/gke-tpu-topology: 4x4\n"
                                  "  topologyName: blocks\n"
                                  "---\n"
                                  "apiVersion: kueue.x-k8s.io/v1beta2\n"
                                  "kind: ClusterQueue\n"
                                  "metadata: {name: tpus}\n"
                                  "spec:\n"
                                  "  resourceGroups:\n"
                                  "  - coveredResources: [cpu, google.com/tpu]\n"
                                  "    flavors:\n"
                                  "    - name: v6e-4x4\n"
                                  "      resources:\n"
                                  "      - {name: cpu, nominalQuota: 96}\n"
                                  "      - name: google.com/tpu\n"
                                  "        nominalQuota: 32\n"
                                  "---\n"
                                  "apiVersion: kueue.x-k8s.io/v1beta2\n"
                                  "kind: LocalQueue\n"
                                  "metadata: {name: mine, namespace: default}\n"
                                  "spec: {clusterQueue: tpus}\n";

static const char good_slice[] = "apiVersion: accelerator.gke.io/v1beta1\n"
                                 "kind: Slice\n"
                                 "metadata: {name: train}\n"
                                 "spec:\n"
                                 "  type: tpu7x\n"
                                 "  topology: 4x4x8\n"
                                 "  partitionIds:\n"
                                 "  - a9476d1b\n"
                                 "  - ba898ffc\n";

static const char good_class[] = "apiVersion: cloud.google.com/v1\n"
                                 "kind: ComputeClass\n"
                                 "metadata: {name: tpus}\n"
                                 "spec:\n"
                                 "  priorities:\n"
                                 "  - tpu: {type: tpu-v6e-slice, count: 4, topology: 4x4}\n"
                                 "  - machineType: n2-standard-8\n";

#define QUEUED_JOB(queue, slices)                                                                                      \
  "spec: {clusterQueue: tpus}\n---\napiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: train, "      \
  "labels: "                                                                                                           \
  "{kueue.x-k8s.io/queue-name: " queue "}}\nspec: {replicatedJobs: [{name: w, replicas: " slices                       \
  ", template: {spec: {parallelism: 4, completions: 4, template: {spec: {nodeSelector: "                               \
  "{cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice, cloud.google.com/gke-tpu-topology: 4x4}, containers: "        \
  "[{name: "                                                                                                           \
  "a, resources: {limits: {google.com/tpu: 4}}}]}}}}}]}\n"

static const char *const good_kinds[]
    = { good_jobset, good_lws, good_job, good_pod, good_workload, good_queues, good_slice, good_class };

#define JOB "$.spec.replicatedJobs[0].template.spec"
#define TOPOLOGY_OF_PODS "cloud.google.com/gke-tpu-topology: 4x4\n"

/* Only one of the programs has the cases. */
#ifdef CHECK_KINDS_CASES
static const Case kind_cases[] = {
  { "kind-unread",
    { "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet", "apiVersion: kubeflow.org/v1\nkind: PyTorchJob" },
    "$.kind",
    "PyTorchJob",
    "this object was not checked",
    { "apiVersion: jobset.x-k8s.io/v1alpha2\n", "" },
    .base = good_jobset },
  { "kind-unread",
    { "kueue.x-k8s.io/v1beta2\nkind: Topology", "example.com/v1\nkind: Topology" },
    "$.kind",
    "Topology",
    "this object was not checked",
    { "kueue.x-k8s.io/v1beta2\nkind: Topology", "v1\nkind: Service" },
    .base = good_queues },

  /* workloads */
  { "pods-topology",
    { "parallelism: 4", "parallelism: 3" },
    JOB ".parallelism",
    "3",
    "4, the hosts of topology '4x4' with 4 chips per pod",
    { "parallelism: 4", "parallelism: ${HOSTS}" },
    .base = good_jobset },
  { "pods-topology",
    { "        parallelism: 4\n", "" },
    JOB,
    NULL,
    "4, the hosts of topology '4x4' with 4 chips per pod",
    { "topology: 4x4", "topology: 2x2" },
    .base = good_jobset },
  { "pods-topology",
    { "            labels: {app: train}\n",
      "            annotations: {cloud.google.com/gke-tpu-slice-topology: 8x8}\n" },
    JOB ".parallelism",
    "4",
    "16, the hosts of topology '8x8' with 4 chips per pod",
    { "            labels: {app: train}\n",
      "            annotations: {cloud.google.com/gke-tpu-slice-topology: 4x4}\n" },
    { TOPOLOGY_OF_PODS, "a: b\n" },
    good_jobset },
  { "pods-topology",
    { "size: 4", "size: 5" },
    "$.spec.leaderWorkerTemplate.size",
    "5",
    "4, the hosts of topology '4x4' with 4 chips per pod",
    { "size: 4", "size: 8\n    subGroupPolicy: {subGroupSize: 4}" },
    .base = good_lws },
  { "pods-topology",
    { "size: 4", "size: 4\n    leaderTemplate: {spec: {containers: [{name: leader}]}}" },
    "$.spec.leaderWorkerTemplate.size",
    "4",
    "5, the hosts of topology '4x4' with 4 chips per pod, and the leader",
    { "size: 4", "size: 5\n    leaderTemplate: {spec: {containers: [{name: leader}]}}" },
    .base = good_lws },
  { "pods-topology",
    { "parallelism: 4", "parallelism: 8" },
    "$.spec.parallelism",
    "8",
    "4, the hosts of topology '4x4' with 4 chips per pod",
    { "topology: 4x4", "topology: 2x2" },
    .base = good_job },
  { "pods-topology",
    { "topology: 2x2", "topology: 4x4" },
    "$",
    NULL,
    "4, the hosts of topology '4x4' with 4 chips per pod",
    { "topology: 2x2", "topology: 2x2 # one host" },
    .base = good_pod },
  { "pods-topology",
    { "count: 8", "count: 6" },
    "$.spec.podSets[0].count",
    "6",
    "a multiple of 4, the hosts of topology '4x4' with 4 chips per pod",
    { "count: 8", "count: 12" },
    .base = good_workload },
  { "job-indexed",
    { "  completionMode: Indexed\n", "" },
    "$.spec",
    NULL,
    "Indexed: the completion index of a pod is its worker id",
    { "topology: 4x4", "topology: 2x2" },
    .base = good_job },
  { "job-indexed",
    { "completions: 4", "completions: 4\n        completionMode: NonIndexed" },
    JOB ".completionMode",
    "NonIndexed",
    "Indexed: the completion index of a pod is its worker id",
    { "completions: 4", "completions: 4\n        completionMode: Indexed" },
    .base = good_jobset },
  { "job-subdomain",
    { "      subdomain: hosts\n", "" },
    "$.spec.template.spec",
    NULL,
    "the name of a headless service: without it GKE gives the pods no TPU_WORKER_HOSTNAMES",
    { "topology: 4x4", "topology: 2x2" },
    .base = good_job },
  { "subgroup-leader",
    { "size: 4", "size: 4\n    subGroupPolicy: {subGroupSize: 4}" },
    "$.spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize",
    "4",
    "a leaderTemplate without chips and subGroupPolicyType LeaderExcluded",
    { "size: 4", "size: 4 # no subgroups" },
    .base = good_lws },
  { "job-completions",
    { "completions: 4", "completions: 8" },
    JOB ".completions",
    "8",
    "4, which is parallelism",
    { "        completions: 4\n", "" },
    .base = good_jobset },
  { "completions-missing",
    { "        completions: 4\n", "" },
    JOB,
    NULL,
    "the number of completions: Kubernetes refuses an indexed job that has only parallelism",
    { "completions: 4", "completionMode: NonIndexed" },
    .base = good_jobset },
  { "completions-missing",
    { "  completions: 4\n", "" },
    "$.spec",
    NULL,
    "the number of completions",
    { "  parallelism: 4\n  completions: 4\n", "" },
    .base = good_job },
  { "topology-unselected",
    { TOPOLOGY_OF_PODS, "cloud.google.com/gke-spot: \"true\"\n" },
    JOB ".template.spec.nodeSelector",
    NULL,
    "one such as '4x4'",
    { TOPOLOGY_OF_PODS, "cloud.google.com/compute-class: tpus\n" },
    .base = good_jobset },
  { "accelerator-missing",
    { ACCELERATOR, "cloud.google.com/gke-spot: \"true\"\n" },
    JOB ".template.spec.nodeSelector",
    NULL,
    "one such as 'tpu-v6e-slice'",
    { ACCELERATOR, "cloud.google.com/gke-nodepool: mine\n" },
    .base = good_jobset },
  { "topology-unselected",
    { "    cloud.google.com/gke-tpu-topology: 2x2\n", "" },
    "$.spec.nodeSelector",
    NULL,
    "one such as '4x4'",
    { "    cloud.google.com/gke-tpu-topology: 2x2\n",
      "  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}\n" },
    .base = good_pod },
  { "topology-unselected",
    { TOPOLOGY_OF_PODS, "a: b\n" },
    JOB ".template.spec.nodeSelector",
    NULL,
    "one such as '4x4'",
    { TOPOLOGY_OF_PODS, "node.kubernetes.io/instance-type: ct6e-standard-4t\n" },
    .base = good_jobset },
  { "job-name",
    { "name: workers", "name: Workers" },
    "$.spec.replicatedJobs[0].name",
    "Workers",
    "JobSet makes 'train-Workers-1' of 15",
    { "name: workers", "name: workers-2" },
    .base = good_jobset },
  { "job-name",
    { "name: workers", "name: a123456789b123456789c123456789d123456789e1234567" },
    "$.spec.replicatedJobs[0].name",
    "a123456789b123456789c123456789d123456789e1234567",
    "JobSet makes 'train-a123456789b123456789c123456789d123456789e1234567-1-3-abcde' of 64",
    { "name: workers", "name: a123456789b123456789c123456789d123456789e123456" },
    .base = good_jobset },
  { "job-name",
    { "completions: 4", "completions: 12" },
    "$.spec.replicatedJobs[0].name",
    "a123456789b123456789c123456789d123456789e123456",
    "-1-11-abcde' of 64",
    { "completions: 4", "completions: 12\n        completionMode: NonIndexed" },
    { "name: workers", "name: a123456789b123456789c123456789d123456789e123456" },
    good_jobset },
  { "chips-missing",
    { CHIPS_4, "tty: true" },
    JOB ".template.spec.nodeSelector['cloud.google.com/gke-tpu-accelerator']",
    "tpu-v6e-slice",
    "a request and a limit of google.com/tpu",
    { CHIPS_4, "resources: {limits: {google.com/tpu: four}}" },
    .base = good_jobset },
  { "topology-unknown",
    { "topology: 4x4", "topology: 4xq" },
    JOB ".template.spec.nodeSelector['cloud.google.com/gke-tpu-topology']",
    "4xq",
    "a number of 1 to 4096",
    { "topology: 4x4", "topology: 8x8" },
    .base = good_jobset },
  { "slices-number",
    { "name: jax\n", "name: jax\n              env: [{name: MEGASCALE_NUM_SLICES, value: \"4\"}]\n" },
    JOB ".template.spec.containers[0].env[0].value",
    "4",
    "2, the slices of the group",
    { "name: jax\n", "name: jax\n              env: [{name: MEGASCALE_NUM_SLICES, value: \"2\"}]\n" },
    .base = good_jobset },
  { "entrypoint-mesh",
    { "steps=5", "ici_tensor_parallelism=3" },
    JOB ".template.spec.containers[0].args",
    NULL,
    "other axes whose product divides 16",
    { "steps=5", "ici_tensor_parallelism=$TENSOR ici_fsdp_parallelism=3" },
    .base = good_jobset },

  { "entrypoint-mesh",
    { "command: [bash, -c]\n              args:\n              - |\n                set -e\n                python3 -m "
      "MaxText.train configs/base.yml steps=5\n",
      "command: [python3, -m, MaxText.train, configs/base.yml, steps=5, ici_fsdp_parallelism=8]\n" },
    JOB ".template.spec.containers[0].command[5]",
    "ici_fsdp_parallelism=8",
    "a product of 16",
    { "steps=5", "custom.yml ici_fsdp_parallelism=8" },
    .base = good_jobset },

  { "entrypoint-mesh",
    { "command: [bash, -c]\n              args:\n              - |\n                set -e\n                python3 -m "
      "MaxText.train configs/base.yml steps=5\n",
      "command: [python3, -m, MaxText.train, configs/base.yml, ici_fsdp_parallelism=8]\n              args: "
      "[steps=5]\n" },
    JOB ".template.spec.containers[0].command[4]",
    "ici_fsdp_parallelism=8",
    "a product of 16",
    { "steps=5", "steps=5 ici_fsdp_parallelism=16" },
    .base = good_jobset },
  { "entrypoint-setting",
    { "steps=5", "\\\n                  ici_fdsp_parallelism=16" },
    JOB ".template.spec.containers[0].args",
    NULL,
    "such as 'ici_fsdp_parallelism'",
    { "steps=5", "steps=5\n                # a comment with 'one quote\n                python3 other.py "
                 "ici_fdsp_parallelism=16" },
    .base = good_jobset },

  /* queues */
  { "flavor-name",
    { "    - name: v6e-4x4\n", "    - name: v6e-8x8\n" },
    "$.spec.resourceGroups[0].flavors[0].name",
    "v6e-8x8",
    "the name of a ResourceFlavor: the file has others",
    { "kind: ResourceFlavor", "kind: ConfigMap" },
    .base = good_queues },
  { "flavor-resources",
    { "      - {name: cpu, nominalQuota: 96}\n", "" },
    "$.spec.resourceGroups[0].flavors[0].resources",
    NULL,
    "a quota for each of the 2 'coveredResources', in the same order",
    { "[cpu, google.com/tpu]", "[cpu, \"google.com/tpu\"]" },
    .base = good_queues },
  { "quota-slices",
    { "nominalQuota: 32", "nominalQuota: 40" },
    "$.spec.resourceGroups[0].flavors[0].resources[1].nominalQuota",
    "40",
    "a multiple of 16, the chips of a slice of this flavor",
    { "nominalQuota: 32", "nominalQuota: 48" },
    .base = good_queues },
  { "quota-slices",
    { "nominalQuota: 32", "nominalQuota: 99999" },
    "$.spec.resourceGroups[0].flavors[0].resources[1].nominalQuota",
    "99999",
    "a multiple of 16",
    { "nominalQuota: 32", "nominalQuota: 999999" },
    .base = good_queues },
  { "queue-name",
    { "clusterQueue: tpus", "clusterQueue: cpus" },
    "$.spec.clusterQueue",
    "cpus",
    "the name of a ClusterQueue",
    { "kind: ClusterQueue", "kind: ConfigMap" },
    .base = good_queues },
  { "queue-name",
    { "spec: {clusterQueue: tpus}\n", QUEUED_JOB ("yours", "1") },
    "$.metadata.labels['kueue.x-k8s.io/queue-name']",
    "yours",
    "the name of a LocalQueue",
    { "spec: {clusterQueue: tpus}\n", QUEUED_JOB ("mine", "1") },
    .base = good_queues },
  { "quota-jobs",
    { "spec: {clusterQueue: tpus}\n", QUEUED_JOB ("mine", "3") },
    "$.metadata.labels['kueue.x-k8s.io/queue-name']",
    "mine",
    "one with a quota of 48 chips for the pods of one template: the greatest of its ClusterQueue is 32",
    { "spec: {clusterQueue: tpus}\n", QUEUED_JOB ("mine", "2") },
    .base = good_queues },
  { "quota-jobs",
    { "spec: {clusterQueue: tpus}\n", QUEUED_JOB ("mine", "3") },
    "$.metadata.labels['kueue.x-k8s.io/queue-name']",
    "mine",
    "the greatest of its ClusterQueue is 16",
    { "spec: {clusterQueue: tpus}\n", QUEUED_JOB ("\"${QUEUE}\"", "3") },
    { "nominalQuota: 32", "nominalQuota: 16" },
    good_queues },
  { "topology-name",
    { "topologyName: blocks", "topologyName: racks" },
    "$.spec.topologyName",
    "racks",
    "the name of a Topology",
    { "kind: Topology", "kind: ConfigMap" },
    .base = good_queues },
  { "topology-levels",
    { "kubernetes.io/hostname", "cloud.google.com/gce-topology-block" },
    "$.spec.levels[1].nodeLabel",
    "cloud.google.com/gce-topology-block",
    "each label once",
    { "cloud.google.com/gce-topology-block", "cloud.google.com/gce-topology-subblock" },
    .base = good_queues },
  { "topology-levels",
    { "  - nodeLabel: kubernetes.io/hostname\n",
      "  - nodeLabel: kubernetes.io/hostname\n  - nodeLabel: cloud.google.com/gce-topology-host\n" },
    "$.spec.levels[1].nodeLabel",
    "kubernetes.io/hostname",
    "another label here",
    { "  - nodeLabel: kubernetes.io/hostname\n", "" },
    .base = good_queues },
  { "accelerator-unknown",
    { "tpu-v6e-slice", "v6e" },
    "$.spec.nodeLabels['cloud.google.com/gke-tpu-accelerator']",
    "v6e",
    "a value of that label on GKE's nodes",
    { "tpu-v6e-slice", "tpu-v5-lite-podslice" },
    .base = good_queues },

  /* GKE */
  { "slice-name",
    { "name: train", "name: Train" },
    "$.metadata.name",
    "Train",
    "at most 54 lower-case letters",
    { "name: train", "name: train-1" },
    .base = good_slice },
  { "slice-partitions",
    { "  - ba898ffc\n", "" },
    "$.spec.partitionIds",
    NULL,
    "2 of them, the cubes of 4x4x4 chips in topology '4x4x8'",
    { "4x4x8\n  partitionIds:\n  - a9476d1b\n  - ba898ffc\n", "4x4x4\n  partitionIds:\n  - a9476d1b\n" },
    .base = good_slice },
  { "slice-partitions",
    { "ba898ffc", "a9476d1b" },
    "$.spec.partitionIds[1]",
    "a9476d1b",
    "each partition once",
    { "ba898ffc", "ba898ffd" },
    .base = good_slice },
  { "topology-unknown",
    { "topology: 4x4x8", "topology: 4x5x8" },
    "$.spec.topology",
    "4x5x8",
    "one that tpu7x has",
    { "topology: 4x4x8", "topology: 4x8x8" },
    .base = good_slice },
  { "chips-per-host",
    { "count: 4", "count: 3" },
    "$.spec.priorities[0].tpu.count",
    "3",
    "1, 2, 4 or 8",
    { "count: 4, topology: 4x4", "count: 8, topology: 2x4" },
    .base = good_class },
};
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Each rule of a check, in a manifest that breaks it and in one that just does not. */
#include "check-fixture.h"

#define TOPOLOGY "          cloud.google.com/gke-tpu-topology: 4x4\n"
#define POD GROUP ".template.spec"
#define SELECTOR(name) POD ".nodeSelector['cloud.google.com/gke-tpu-" name "']"
#define WORKER POD ".containers[0]"
#define LIMIT WORKER ".resources.limits['google.com/tpu']"
#define LONG "extremely-long-raycluster-name-to-be-truncated"

/* @has breaks the rule, @has_not comes close. */
static const struct {
  const char *rule;
  Edit has;
  const char *path, *value, *expected;
  Edit has_not;
} cases[] = {
  /* reading */
  { "field",
    { "replicas: 2", "replicas: '2'" },
    GROUP ".replicas",
    "2",
    "a whole number of 0 to 2147483647",
    { "replicas: 2", "replicas: 1" } },
  { "field",
    { "numOfHosts: 4", "numOfHosts: -4" },
    GROUP ".numOfHosts",
    "-4",
    "a whole number of 0 to",
    { "numOfHosts: 4", "numOfHosts: 3" } },
  { "field",
    { "replicas: 2", "replicas: 2147483648" },
    GROUP ".replicas",
    "2147483648",
    "a whole number of 0 to",
    { "replicas: 2", "replicas: 2147483647" } },
  { "field",
    { "google.com/tpu: \"4\"", "google.com/tpu: four" },
    LIMIT,
    "four",
    "a quantity such as",
    { "google.com/tpu: \"4\"", "google.com/tpu: 4" } },
  { "field",
    { "cpu: \"24\"", "cpu: 24 cores" },
    WORKER ".resources.limits.cpu",
    "24 cores",
    "a quantity such as",
    { "cpu: \"24\"", "cpu: 24000m" } },
  { "field",
    { "topology: 4x4", "topology: [4, 4]" },
    SELECTOR ("topology"),
    NULL,
    "text",
    { "topology: 4x4", "topology: '4x4'" } },
  { "field",
    { "groupName: tpu-group", "groupName: 8" },
    GROUP ".groupName",
    "8",
    "put it in quotes",
    { "groupName: tpu-group", "groupName: '8'" } },
  { "field",
    { "metrics-export-port: \"8082\"", "metrics-export-port: 8082" },
    GROUP ".rayStartParams.metrics-export-port",
    "8082",
    "put it in quotes",
    { "metrics-export-port: \"8082\"", "metrics-export-port: ''" } },
  { "field",
    { "        containers:\n        - name: worker\n", "        containers:\n          worker: worker\n" },
    POD ".containers",
    NULL,
    "a list",
    { "name: worker", "name: other" } },
  { "variable",
    { "name: train", "name: train-${JOB_ID}" },
    "$.metadata.name",
    "train-${JOB_ID}",
    "--set JOB_ID=VALUE",
    { "name: worker", "image: ${IMAGE}" } },
  { "ray-params",
    { "metrics-export-port: \"8082\"", "num-cpus: \"8.5\"" },
    GROUP ".rayStartParams.num-cpus",
    "8.5",
    "a whole number of 0 to",
    { "metrics-export-port: \"8082\"", "num-cpus: \"24\"" } },
  { "ray-params",
    { "metrics-export-port: \"8082\"", "resources: '{TPU: 4}'" },
    GROUP ".rayStartParams.resources",
    "{TPU: 4}",
    "a key in double quotes",
    { "metrics-export-port: \"8082\"", "resources: '\"{\\\"TPU\\\": 4}\"'" } },
  { "no-ray-object",
    { "kind: RayCluster", "kind: JobSet" },
    "$",
    NULL,
    "a RayCluster, RayJob or RayService",
    { "kind: ResourceClaimTemplate", "kind: ConfigMap" } },

  /* objects and names */
  { "api-version",
    { "apiVersion: ray.io/v1\n", "apiVersion: ray.io/v2\n" },
    "$.apiVersion",
    "ray.io/v2",
    "ray.io/v1, or",
    { "apiVersion: ray.io/v1\n", "apiVersion: ray.io/v1alpha1\n" } },
  { "api-version",
    { "apiVersion: ray.io/v1\n", "" },
    "$",
    NULL,
    "ray.io/v1",
    { "apiVersion: resource.k8s.io/v1\n", "" } },
  { "cluster-spec",
    { "kind: RayCluster", "kind: RayJob" },
    "$",
    NULL,
    "the groups of a RayCluster",
    { "kind: RayCluster\nmetadata:\n  name: train\nspec:\n  headGroupSpec:\n",
      "kind: RayJob\nmetadata:\n  name: train\nspec:\n  clusterSelector: {ray.io/cluster: other}\n  other:\n" } },
  { "cluster-spec",
    { "headGroupSpec:", "headGroup:" },
    "$.spec",
    NULL,
    "the head's group",
    { "workerGroupSpecs:", "workers:" } },
  { "cluster-name",
    { "name: train\n", "name: Train\n" },
    "$.metadata.name",
    "Train",
    "at most 53 lower-case",
    { "name: train\n", "name: tr-4-in\n" } },
  { "cluster-name",
    { "name: train\n", "name: 4-train\n" },
    "$.metadata.name",
    "4-train",
    "a letter first",
    { "name: train\n", "name: t-4\n" } },
  { "cluster-name",
    { "name: train\n", "name: " LONG "-12345678\n" },
    "$.metadata.name",
    LONG "-12345678",
    "at most 53",
    { "name: train\n", "name: " LONG "-123456\n" } },
  { "cluster-name",
    { "  name: train\n", "  labels: {}\n" },
    "$.metadata",
    NULL,
    "the name of the RayCluster",
    { "  name: train\n", "  generateName: train-\n" } },
  { "service-name",
    { "name: train\n", "name: " LONG "\n" },
    "$.metadata.name",
    LONG,
    "at most 41 bytes, a letter first: the headless service is called '" LONG
    "-headless', the TPU webhook tells the hosts 'mely-long-raycluster-name-to-be-truncated-headless'",
    { "name: train\n", "name: extremely-long-raycluster-name-to-be-trun\n" } },
  { "group-name",
    { "groupName: tpu-group", "groupName: headgroup" },
    GROUP ".groupName",
    "headgroup",
    "a name that no other group has",
    { "groupName: tpu-group", "groupName: head" } },
  { "group-name",
    { "groupName: tpu-group", "groupName: tpu group" },
    GROUP ".groupName",
    "tpu group",
    "at most 63 letters",
    { "groupName: tpu-group", "groupName: tpu_group" } },
  { "group-name",
    { "  - groupName: tpu-group\n    replicas: 2\n", "  - replicas: 2\n" },
    GROUP,
    NULL,
    "the name of the group",
    { "groupName: tpu-group", "groupName: ${GROUP}" } },
  { "host-name",
    { "groupName: tpu-group", "groupName: a123456789b123456789c123456789d123456789e123456789f123456789" },
    GROUP ".groupName",
    "a123456789b123456789c123456789d123456789e123456789f123456789",
    "host names of at most 63 bytes, the TPU webhook makes "
    "'a123456789b123456789c123456789d123456789e123456789f123456789-2-3' of 64",
    { "groupName: tpu-group", "groupName: a123456789b123456789c123456789d123456789e123456789f12345678" } },
  { "host-name",
    { "groupName: tpu-group", "groupName: tpu_group" },
    GROUP ".groupName",
    "tpu_group",
    "lower-case letters, digits and '-'",
    { "groupName: tpu-group", "groupName: 4-tpus" } },

  /* replicas */
  { "replicas-bounds",
    { "minReplicas: 1", "minReplicas: 4" },
    GROUP ".minReplicas",
    "4",
    "at most 3, which maxReplicas",
    { "minReplicas: 1", "minReplicas: 3" } },
  { "replicas-range",
    { "replicas: 2", "replicas: 4" },
    GROUP ".replicas",
    "4",
    "1 to 3, ",
    { "replicas: 2", "replicas: 3" } },
  { "replicas-range",
    { "replicas: 2", "replicas: 0" },
    GROUP ".replicas",
    "0",
    "KubeRay makes it 1",
    { "    replicas: 2\n", "" } },
  { "pods-overflow",
    { "replicas: 2\n    minReplicas: 1\n    maxReplicas: 3\n", "replicas: 536870912\n" },
    GROUP ".replicas",
    "536870912",
    "at most 2147483647 pods in all, KubeRay would count these 2147483648 as -2147483648",
    { "replicas: 2\n    minReplicas: 1\n    maxReplicas: 3\n", "replicas: 536870911\n" } },

  /* slices */
  { "numofhosts-zero",
    { "numOfHosts: 4", "numOfHosts: 0" },
    GROUP ".numOfHosts",
    "0",
    "the hosts of a slice",
    { "numOfHosts: 4", "numOfHosts: 1" } },
  { "numofhosts-topology",
    { "numOfHosts: 4", "numOfHosts: 3" },
    GROUP ".numOfHosts",
    "3",
    "4, which topology '4x4' has with 4 chips a pod",
    { "numOfHosts: 4", "numOfHosts: 4 # of 4 chips" } },
  { "numofhosts-topology",
    { "    numOfHosts: 4\n", "" },
    GROUP,
    NULL,
    "4, which topology '4x4' has",
    { "topology: 4x4", "topology: ${T}" } },
  { "numofhosts-topology",
    { "topology: 4x4", "topology: 5x5" },
    GROUP ".numOfHosts",
    "4",
    "6, the chips of topology '5x5' divided by 4 a pod",
    { "topology: 4x4", "topology: 3x6" } },
  { "head-topology",
    { "        - name: head\n          resources: {limits: {cpu: \"8\", memory: 16Gi}}\n",
      "        - resources: {limits: {google.com/tpu: 4}}\n        nodeSelector:\n          " ACCELERATOR TOPOLOGY },
    "$.spec.headGroupSpec.template.spec.nodeSelector['cloud.google.com/gke-tpu-topology']",
    "4x4",
    "one of a single host of 4 chips",
    { "        - name: head\n          resources: {limits: {cpu: \"8\", memory: 16Gi}}\n",
      "        - resources: {limits: {google.com/tpu: 4}}\n        nodeSelector:\n          " ACCELERATOR
      "          cloud.google.com/gke-tpu-topology: 2x2\n" } },
  { "topology-missing",
    { TOPOLOGY, "" },
    POD ".nodeSelector",
    NULL,
    "one such as '4x4'",
    { "topology: 4x4", "topology: ${TOPOLOGY}" } },
  { "topology-missing",
    { "topology: 4x4", "topology: ''" },
    SELECTOR ("topology"),
    "",
    "one such as '4x4'",
    { "topology: 4x4", "topology: '4'" } },
  { "topology-syntax",
    { "topology: 4x4", "topology: 4xq" },
    SELECTOR ("topology"),
    "4xq",
    "a number of 1 to 4096 at byte 2",
    { "topology: 4x4", "topology: 3x5" } },
  { "topology-syntax",
    { "topology: 4x4", "topology: 4X4" },
    SELECTOR ("topology"),
    "4X4",
    "a lower-case 'x'",
    { "topology: 4x4", "topology: 0x4" } },
  { "topology-unknown",
    { "topology: 4x4", "topology: 2x8x1" },
    SELECTOR ("topology"),
    "2x8x1",
    "two numbers",
    { "topology: 4x4", "topology: 8x8" } },
  { "topology-unknown",
    { "topology: 4x4", "topology: 3x5" },
    SELECTOR ("topology"),
    "3x5",
    "one that v6e has; the nearest are",
    { "topology: 4x4", "topology: 16x16" } },
  { "topology-unknown",
    { "topology: 4x4", "topology: '-4x-4'" },
    SELECTOR ("topology"),
    "-4x-4",
    "a number of 1 to 4096",
    { "topology: 4x4", "topology: '4x-q'" } },
  { "topology-ray",
    { "v6e-slice\n" TOPOLOGY, "v5p-slice\n          cloud.google.com/gke-tpu-topology: 4x4x28\n" },
    SELECTOR ("topology"),
    "4x4x28",
    "one that Ray knows of v5p",
    { "v6e-slice\n" TOPOLOGY, "v5p-slice\n          cloud.google.com/gke-tpu-topology: 4x4x24\n" } },
  { "topology-gke",
    { "topology: 4x4", "topology: 2x8" },
    SELECTOR ("topology"),
    "2x8",
    "one that GKE offers of v6e",
    { "topology: 4x4", "topology: 2x4" } },
  { "accelerator-missing",
    { ACCELERATOR, "a: b\n" },
    POD ".nodeSelector",
    NULL,
    "one such as 'tpu-v6e-slice'",
    { "tpu-v6e-slice", "${TPU}" } },
  { "accelerator-unknown",
    { "tpu-v6e-slice", "tpu-v9-slice" },
    SELECTOR ("accelerator"),
    "tpu-v9-slice",
    "a value of that label on GKE's nodes: 'tpu-v3-device'",
    { "tpu-v6e-slice", "tpu-v5-lite-podslice" } },
  { "accelerator-unknown",
    { "tpu-v6e-slice", "v6e" },
    SELECTOR ("accelerator"),
    "v6e",
    "a value of that label on GKE's nodes: 'tpu-v6e-slice'",
    { "tpu-v6e-slice", "tpu7x" } },
  { "accelerator-unknown",
    { "tpu-v6e-slice", "tpu-v4-lite-device" },
    SELECTOR ("accelerator"),
    "tpu-v4-lite-device",
    "published topologies",
    { "tpu-v6e-slice", "tpu-v4-podslice" } },
  { "accelerator-single-host",
    { "tpu-v6e-slice", "tpu-v5-lite-device" },
    SELECTOR ("accelerator"),
    "tpu-v5-lite-device",
    "one whose machines are joined into slices",
    { "tpu-v6e-slice", "tpu-v5-lite-podslice" } },

  /* chips and machines */
  { "chips-request",
    { "requests:\n              google.com/tpu: \"4\"", "requests:\n              google.com/tpu: \"8\"" },
    WORKER ".resources.requests['google.com/tpu']",
    "8",
    "the limit of this container, 4",
    { "requests:\n              google.com/tpu: \"4\"", "requests:\n              google.com/tpu: 4000m" } },
  { "chips-request",
    { "limits:\n              google.com/tpu: \"4\"\n", "limits:\n" },
    WORKER ".resources.requests['google.com/tpu']",
    "4",
    "a limit of as many beside it",
    { "requests:\n              google.com/tpu: \"4\"\n", "requests:\n" } },
  { "chips-fraction",
    { "limits:\n              google.com/tpu: \"4\"", "limits:\n              google.com/tpu: 3500m" },
    LIMIT,
    "3500m",
    "whole chips",
    { "limits:\n              google.com/tpu: \"4\"", "limits:\n              google.com/tpu: 4000m" } },
  { "chips-zero",
    { "limits:\n              google.com/tpu: \"4\"", "limits:\n              google.com/tpu: \"0\"" },
    LIMIT,
    "0",
    "1, 2, 4 or 8 chips, or no such line",
    { "limits:\n              google.com/tpu: \"4\"", "limits:\n              google.com/tpu: \"1\"" } },
  { "chips-per-host",
    { "tpu: \"4\"\n              cpu: \"24\"\n              memory: 40G\n            requests:\n              "
      "google.com/tpu: \"4\"",
      "tpu: \"3\"\n              cpu: \"24\"\n              memory: 40G\n            requests:\n              "
      "google.com/tpu: \"3\"" },
    LIMIT,
    "3",
    "1, 2, 4 or 8",
    { "cpu: \"24\"", "cpu: \"3\"" } },
  { "chips-per-host",
    { "tpu: \"4\"\n              cpu: \"24\"\n              memory: 40G\n            requests:\n              "
      "google.com/tpu: \"4\"",
      "tpu: \"8\"\n              cpu: \"24\"\n              memory: 40G\n            requests:\n              "
      "google.com/tpu: \"8\"" },
    LIMIT,
    "8",
    "a number that hosts of v6e 4x4 have, as 4",
    { "cpu: \"24\"", "cpu: \"8\"" } },
  { "machine-unknown",
    { ACCELERATOR, ACCELERATOR "          node.kubernetes.io/instance-type: n2-standard-8\n" },
    POD ".nodeSelector['node.kubernetes.io/instance-type']",
    "n2-standard-8",
    "one with TPUs: 'ct6e-standard-4t'",
    { ACCELERATOR, ACCELERATOR "          node.kubernetes.io/instance-type: ct6e-standard-4t\n" } },
  { "machine-chips",
    { ACCELERATOR, ACCELERATOR "          node.kubernetes.io/instance-type: ct6e-standard-8t\n" },
    LIMIT,
    "4",
    "8 in all, which a 'ct6e-standard-8t' has",
    { ACCELERATOR, ACCELERATOR "          cloud.google.com/machine-type: ct6e-standard-4t\n" } },
  { "machine-chips",
    { ACCELERATOR, ACCELERATOR "          cloud.google.com/machine-type: ct6e-standard-1t\n" },
    LIMIT,
    "4",
    "1 in all, which a 'ct6e-standard-1t' has",
    { ACCELERATOR, ACCELERATOR "          cloud.google.com/machine-type: ${MACHINE}\n" } },
  { "machine-accelerator",
    { ACCELERATOR, ACCELERATOR "          node.kubernetes.io/instance-type: ct5lp-hightpu-4t\n" },
    SELECTOR ("accelerator"),
    "tpu-v6e-slice",
    "'tpu-v5-lite-podslice', as nodes of type 'ct5lp-hightpu-4t'",
    { ACCELERATOR, ACCELERATOR "          node.kubernetes.io/instance-type: ct6e-standard-4t\n" } },
  { "machine-topology",
    { ACCELERATOR, "cloud.google.com/gke-tpu-accelerator: tpu-v5-lite-device\n          "
                   "node.kubernetes.io/instance-type: ct5l-hightpu-4t\n" },
    SELECTOR ("topology"),
    "4x4",
    "'2x2', machines of type 'ct5l-hightpu-4t' are never joined",
    { ACCELERATOR, "cloud.google.com/gke-tpu-accelerator: tpu-v5-lite-podslice\n          "
                   "node.kubernetes.io/instance-type: ct5lp-hightpu-4t\n" } },

  /* pods */
  { "containers",
    { "        containers:\n        - name: head\n          resources: {limits: {cpu: \"8\", memory: 16Gi}}\n",
      "        containers: []\n" },
    "$.spec.headGroupSpec.template.spec.containers",
    NULL,
    "at least one",
    { "resources: {limits: {cpu: \"8\", memory: 16Gi}}", "image: ray" } },
  { "containers",
    { "    template:\n      spec:\n        resourceClaims", "    pod:\n      spec:\n        resourceClaims" },
    GROUP,
    NULL,
    "at least one",
    { "name: worker", "name: other" } },
  { "claim-template",
    { "TemplateName: two-netdev", "TemplateName: all-netdev" },
    POD ".resourceClaims[0].resourceClaimTemplateName",
    "all-netdev",
    "a ResourceClaimTemplate in this file",
    { "name: two-netdev\n---", "name: two-netdev\nspec: {}\n---" } },
  { "claim-template",
    { "resourceClaimTemplateName", "resourceClaimName" },
    POD ".resourceClaims[0].resourceClaimName",
    "two-netdev",
    "a ResourceClaim in this file",
    { "resourceClaimTemplateName: two-netdev", "resourceClaimTemplateName: ${CLAIM}" } },
  { "claim-name",
    { "            - name: netdev\n", "            - name: other\n" },
    WORKER ".resources.claims[0].name",
    "other",
    "one of the pod's 'resourceClaims'",
    { "            - name: netdev\n", "            - name: netdev\n              request: r\n" } },
  { "pod-variable",
    { "name: MEGASCALE_NUM_SLICES\n            value: \"2\"", "name: TPU_NAME\n            value: mine" },
    WORKER ".env[0].value",
    "mine",
    "no value: the TPU webhook keeps it, in every slice of the group",
    { "    replicas: 2\n    minReplicas: 1\n", "    replicas: 1\n" } },
  { "pod-variable",
    { "name: MEGASCALE_NUM_SLICES\n            value: \"2\"", "name: TPU_WORKER_ID\n            value: \"2\"" },
    WORKER ".env[0].value",
    "2",
    "in every host of the group",
    { "name: MEGASCALE_NUM_SLICES\n            value: \"2\"", "name: TPU_WORKER_ID\n            value: \"0\"" } },
  { "pod-variable",
    { "name: MEGASCALE_NUM_SLICES\n            value: \"2\"", "name: TPU_WORKER_HOSTNAMES\n            value: a,b" },
    WORKER ".env[0].value",
    "a,b",
    "in every slice of the group",
    { "name: MEGASCALE_NUM_SLICES\n            value: \"2\"",
      "name: TPU_WORKER_HOSTNAMES\n            value: localhost" } },
  { "worker-id-twice",
    { "        nodeSelector:\n",
      "        - name: second\n          resources: {limits: {google.com/tpu: 2}, requests: {google.com/tpu: 2}}\n"
      "        nodeSelector:\n" },
    POD ".containers[1].resources.limits['google.com/tpu']",
    "2",
    "no second container with chips: the TPU webhook gives both the same TPU_WORKER_ID",
    { "        nodeSelector:\n",
      "        - name: second\n          resources: {limits: {google.com/tpu: 0}, requests: {google.com/tpu: 0}}\n"
      "        nodeSelector:\n" } },

  /* what Ray is told */
  { "ray-resources-twice",
    { "metrics-export-port: \"8082\"\n", "num-cpus: \"24\"\n    resources: {CPU: 24}\n" },
    GROUP ".rayStartParams.num-cpus",
    "24",
    "nothing beside the group's own 'resources'",
    { "metrics-export-port: \"8082\"\n", "num-cpus: \"24\"\n    resources: {}\n" } },
  { "ray-params-labels",
    { "metrics-export-port: \"8082\"", "labels: \"a=b\"" },
    GROUP ".rayStartParams.labels",
    "a=b",
    "the group's own field 'labels'",
    { "metrics-export-port: \"8082\"\n", "a: b\n    labels: {a: b}\n" } },
  { "ray-tpu",
    { "metrics-export-port: \"8082\"", "resources: '{\"TPU\": 8}'" },
    GROUP ".rayStartParams.resources",
    "{\"TPU\": 8}",
    "TPU 4, the chips that the containers ask for",
    { "metrics-export-port: \"8082\"", "resources: '{\"TPU\": 4}'" } },
  { "ray-tpu",
    { "metrics-export-port: \"8082\"\n", "a: b\n    resources: {google.com/tpu: 8}\n" },
    GROUP ".resources['google.com/tpu']",
    "8",
    "TPU 4",
    { "metrics-export-port: \"8082\"\n", "a: b\n    resources: {google.com/tpu: 4}\n" } },
  { "ray-above-limit",
    { "metrics-export-port: \"8082\"", "num-cpus: \"25\"" },
    GROUP ".rayStartParams.num-cpus",
    "25",
    "at most 24, the container's limit of cpu",
    { "metrics-export-port: \"8082\"", "num-cpus: \"24\"" } },
  { "ray-above-limit",
    { "metrics-export-port: \"8082\"", "memory: \"40000000001\"" },
    GROUP ".rayStartParams.memory",
    "40000000001",
    "at most 40000000000, the container's limit of memory",
    { "metrics-export-port: \"8082\"", "memory: \"40000000000\"" } },
  { "ray-below-limit",
    { "metrics-export-port: \"8082\"", "resources: '{\"CPU\": 23}'" },
    GROUP ".rayStartParams.resources",
    "{\"CPU\": 23}",
    "24, the container's limit of cpu",
    { "metrics-export-port: \"8082\"", "num-cpus: \"0\"" } },
  { "ray-slice-resource",
    { "metrics-export-port: \"8082\"", "resources: '{\"TPU-v5p-16-head\": 1}'" },
    GROUP ".rayStartParams.resources",
    "{\"TPU-v5p-16-head\": 1}",
    "'TPU-v6e-16-head' and 'accelerator_type:TPU-V6E'",
    { "metrics-export-port: \"8082\"", "resources: '{\"TPU-v6e-16-head\": 1}'" } },
  { "ray-label",
    { "metrics-export-port: \"8082\"\n", "a: b\n    labels: {ray.io/tpu-topology: 8x8}\n" },
    GROUP ".labels['ray.io/tpu-topology']",
    "8x8",
    "ray.io/tpu-topology=4x4, the topology selector",
    { "metrics-export-port: \"8082\"\n", "a: b\n    labels: {ray.io/tpu-topology: 4x4}\n" } },
  { "ray-label",
    { "metrics-export-port: \"8082\"\n", "a: b\n    labels: {ray.io/tpu-pod-type: v6e-8}\n" },
    GROUP ".labels['ray.io/tpu-pod-type']",
    "v6e-8",
    "ray.io/tpu-pod-type=v6e-16",
    { "metrics-export-port: \"8082\"\n", "a: b\n    labels: {ray.io/node-group: tpu-group}\n" } },
};

START_TEST (what_is_right_has_no_findings)
{
  g_autoptr (QuoitCheck) check = check_text (good, NULL);
  g_autofree char *found = as_text (check);

  ck_assert_str_eq (found, "");
}
END_TEST

START_TEST (a_broken_rule_is_told_with_place_value_and_expectation)
{
  g_autofree char *text = edit (good, cases[_i].has);
  g_autoptr (QuoitCheck) check = check_text (text, NULL);
  g_autofree char *found = as_text (check);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  int at = find (check, cases[_i].rule);
  uint32_t n;

  ck_assert_msg (at >= 0, "%s is not found, but:\n%s", cases[_i].rule, found);
  n = (uint32_t) at;
  ck_assert_str_eq (quoit_check_get_path (check, n), cases[_i].path);
  ck_assert_pstr_eq (quoit_check_get_value (check, n), cases[_i].value);
  ck_assert_msg (strstr (quoit_check_get_expected (check, n), cases[_i].expected) != NULL, "expected '%s'",
                 quoit_check_get_expected (check, n));
  ck_assert (g_str_has_suffix (quoit_check_get_message (check, n), quoit_check_get_expected (check, n)));
  ck_assert_msg (strstr (quoit_check_get_message (check, n), "expected ") != NULL, "%s",
                 quoit_check_get_message (check, n));
  /* A value stands in the line that is named. */
  if (cases[_i].value != NULL && strpbrk (cases[_i].value, "\"\\") == NULL)
    ck_assert_msg (strstr (lines[quoit_check_get_line (check, n) - 1], cases[_i].value) != NULL,
                   "line %u does not have '%s'", quoit_check_get_line (check, n), cases[_i].value);
}
END_TEST

START_TEST (a_rule_that_is_just_not_broken_is_not_told)
{
  g_autofree char *text = edit (good, cases[_i].has_not);
  g_autoptr (QuoitCheck) check = check_text (text, NULL);
  g_autofree char *found = as_text (check);

  ck_assert_msg (find (check, cases[_i].rule) < 0, "found:\n%s", found);
}
END_TEST

START_TEST (every_rule_but_the_limit_has_a_case_and_a_line_in_the_documentation)
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

      for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
        has_case = has_case || strcmp (cases[i].rule, rule) == 0;
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

  tcase_add_test (rules, what_is_right_has_no_findings);
  tcase_add_loop_test (rules, a_broken_rule_is_told_with_place_value_and_expectation, 0, G_N_ELEMENTS (cases));
  tcase_add_loop_test (rules, a_rule_that_is_just_not_broken_is_not_told, 0, G_N_ELEMENTS (cases));
  tcase_add_test (rules, every_rule_but_the_limit_has_a_case_and_a_line_in_the_documentation);
  suite_add_tcase (suite, rules);
  return suite_main (suite);
}

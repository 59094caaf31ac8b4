/* SPDX-License-Identifier: Apache-2.0 */
/* Each rule of a check, with a manifest that breaks it and a similar one that does not. */
#define CHECK_KINDS_CASES
#include "check-kinds.h"

#define TOPOLOGY "          cloud.google.com/gke-tpu-topology: 4x4\n"
#define POD GROUP ".template.spec"
#define SELECTOR(name) POD ".nodeSelector['cloud.google.com/gke-tpu-" name "']"
#define WORKER POD ".containers[0]"
#define LIMIT WORKER ".resources.limits['google.com/tpu']"
#define TPU7X "          cloud.google.com/gke-tpu-accelerator: tpu7x\n"
#define SECOND(env)                                                                                                    \
  "        - name: second\n          env: [" env "]\n"                                                                 \
  "          resources: {limits: {google.com/tpu: 2}, requests: {google.com/tpu: 2}}\n        nodeSelector:\n"
#define CHIPS                                                                                                          \
  "limits:\n              google.com/tpu: \"4\"\n              cpu: \"24\"\n              memory: 40G\n"               \
  "            requests:\n              google.com/tpu: \"4\"\n"
#define NO_CHIPS "limits:\n              cpu: \"24\"\n              memory: 40G\n            requests:\n"
#define VARIABLE(name, value) "value: \"2\"\n          - name: " name "\n            value: " value
#define HEAD "$.spec.headGroupSpec.template.spec.containers[0]"
#define HEAD_PORTS(ports)                                                                                              \
  {                                                                                                                    \
    "- name: head\n", "- name: head\n          ports: [" ports "]\n"                                                   \
  }
#define AS_JOB                                                                                                         \
  {                                                                                                                    \
    "kind: RayCluster\nmetadata:\n  name: train\nspec:\n",                                                             \
        "kind: RayJob\nmetadata:\n  name: train\nspec:\n entrypoint: python3 -m MaxText.train base.yml steps=5 "       \
        "dcn_data_parallelism=2\n rayClusterSpec:\n"                                                                   \
  }
#define LONG "extremely-long-raycluster-name-to-be-truncated"

static const Case cases[] = {
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
    { "kind: RayCluster", "kind: ConfigMap" },
    "$",
    NULL,
    "a RayCluster, RayJob or RayService",
    { "kind: ResourceClaimTemplate", "kind: ConfigMap" } },

  /* objects and names */
  { "api-version",
    { "apiVersion: ray.io/v1\n", "apiVersion: ray.io/v2\n" },
    "$.apiVersion",
    "ray.io/v2",
    "ray.io/v1 or",
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
    "at most 41 bytes, with a letter first: KubeRay names the headless service '" LONG
    "-headless', but the TPU webhook assigns the hosts to service 'mely-long-raycluster-name-to-be-truncated-headless'",
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
    "host names of at most 63 bytes: the TPU webhook makes "
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
    "at most 3, which is maxReplicas",
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
    "at most 2147483647 pods in all: KubeRay would count these 2147483648 as -2147483648",
    { "replicas: 2\n    minReplicas: 1\n    maxReplicas: 3\n", "replicas: 536870911\n" } },

  /* slices */
  { "numofhosts-zero",
    { "numOfHosts: 4", "numOfHosts: 0" },
    GROUP ".numOfHosts",
    "0",
    "the number of hosts of a slice",
    { "numOfHosts: 4", "numOfHosts: 1" } },
  { "numofhosts-topology",
    { "numOfHosts: 4", "numOfHosts: 3" },
    GROUP ".numOfHosts",
    "3",
    "4, the hosts of topology '4x4' with 4 chips per pod",
    { "numOfHosts: 4", "numOfHosts: 4 # of 4 chips" } },
  { "numofhosts-topology",
    { "    numOfHosts: 4\n", "" },
    GROUP,
    NULL,
    "4, the hosts of topology '4x4'",
    { "topology: 4x4", "topology: ${T}" } },
  { "numofhosts-topology",
    { "topology: 4x4", "topology: 5x5" },
    GROUP ".numOfHosts",
    "4",
    "6, the chips of topology '5x5' divided by 4 per pod",
    { "topology: 4x4", "topology: 3x6" } },
  { "head-topology",
    { "        - name: head\n          resources: {limits: {cpu: \"8\", memory: 16Gi}}\n",
      "        - resources: {limits: {google.com/tpu: 4}}\n        nodeSelector:\n          " ACCELERATOR TOPOLOGY },
    "$.spec.headGroupSpec.template.spec.nodeSelector['cloud.google.com/gke-tpu-topology']",
    "4x4",
    "one of a single host with 4 chips",
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
    "one that Ray knows for v5p",
    { "v6e-slice\n" TOPOLOGY, "v5p-slice\n          cloud.google.com/gke-tpu-topology: 4x4x24\n" } },
  { "topology-gke",
    { "topology: 4x4", "topology: 2x8" },
    SELECTOR ("topology"),
    "2x8",
    "one that GKE offers for v6e",
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
    "one whose machines form multi-host slices",
    { "tpu-v6e-slice", "tpu-v5-lite-podslice" } },

  /* chips and machines */
  { "chips-request",
    { "requests:\n              google.com/tpu: \"4\"", "requests:\n              google.com/tpu: \"8\"" },
    WORKER ".resources.requests['google.com/tpu']",
    "8",
    "4, the limit of this container",
    { "requests:\n              google.com/tpu: \"4\"", "requests:\n              google.com/tpu: 4000m" } },
  { "chips-request",
    { "limits:\n              google.com/tpu: \"4\"\n", "limits:\n" },
    WORKER ".resources.requests['google.com/tpu']",
    "4",
    "an equal limit in the same container",
    { "requests:\n              google.com/tpu: \"4\"\n", "requests:\n" } },
  { "chips-fraction",
    { "limits:\n              google.com/tpu: \"4\"", "limits:\n              google.com/tpu: 3500m" },
    LIMIT,
    "3500m",
    "a whole number of chips",
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
    "a number that hosts of v6e 4x4 have, such as 4",
    { "cpu: \"24\"", "cpu: \"8\"" } },
  { "machine-unknown",
    { ACCELERATOR, ACCELERATOR "          node.kubernetes.io/instance-type: n2-standard-8\n" },
    POD ".nodeSelector['node.kubernetes.io/instance-type']",
    "n2-standard-8",
    "a machine type with TPUs: 'ct6e-standard-4t'",
    { ACCELERATOR, ACCELERATOR "          node.kubernetes.io/instance-type: ct6e-standard-4t\n" } },
  { "machine-chips",
    { ACCELERATOR, ACCELERATOR "          node.kubernetes.io/instance-type: ct6e-standard-8t\n" },
    LIMIT,
    "4",
    "8 in all, the chips of a 'ct6e-standard-8t'",
    { ACCELERATOR, ACCELERATOR "          cloud.google.com/machine-type: ct6e-standard-4t\n" } },
  { "machine-chips",
    { ACCELERATOR, ACCELERATOR "          cloud.google.com/machine-type: ct6e-standard-1t\n" },
    LIMIT,
    "4",
    "1 in all, the chips of a 'ct6e-standard-1t'",
    { ACCELERATOR, ACCELERATOR "          cloud.google.com/machine-type: ${MACHINE}\n" } },
  { "machine-accelerator",
    { ACCELERATOR, ACCELERATOR "          node.kubernetes.io/instance-type: ct5lp-hightpu-4t\n" },
    SELECTOR ("accelerator"),
    "tpu-v6e-slice",
    "'tpu-v5-lite-podslice', the accelerator of nodes of type 'ct5lp-hightpu-4t'",
    { ACCELERATOR, ACCELERATOR "          node.kubernetes.io/instance-type: ct6e-standard-4t\n" } },
  { "machine-topology",
    { ACCELERATOR, "cloud.google.com/gke-tpu-accelerator: tpu-v5-lite-device\n          "
                   "node.kubernetes.io/instance-type: ct5l-hightpu-4t\n" },
    SELECTOR ("topology"),
    "4x4",
    "'2x2': machines of type 'ct5l-hightpu-4t' never form larger slices",
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
    { "name: two-netdev\nspec: {spec:", "name: two-netdev\n  labels: {}\nspec: {spec:" } },
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
    "no value: the TPU webhook would keep it in every slice of the group",
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
    "a TPU_WORKER_ID that no other container has: on host 0 the TPU webhook leaves two with '0'",
    { "        nodeSelector:\n",
      "        - name: second\n          resources: {limits: {google.com/tpu: 0}, requests: {google.com/tpu: 0}}\n"
      "        nodeSelector:\n" } },
  { "worker-id-twice",
    { "        nodeSelector:\n", SECOND ("{name: TPU_WORKER_ID, value: '3'}") },
    POD ".containers[1].resources.limits['google.com/tpu']",
    "2",
    "on host 3 the TPU webhook leaves two with '3'",
    { "        nodeSelector:\n", SECOND ("{name: TPU_WORKER_ID, value: '4'}") } },
  { "worker-id-twice",
    { "        nodeSelector:\n", SECOND ("{name: TPU_WORKER_ID, value: '1'}") },
    POD ".containers[1].resources.limits['google.com/tpu']",
    "2",
    "on host 0 the TPU webhook leaves two with '0'",
    { "        nodeSelector:\n", SECOND ("{name: TPU_WORKER_ID, value: '7'}, {name: TPU_WORKER_ID, value: '4'}") } },
  { "worker-id-twice",
    { "        nodeSelector:\n", SECOND ("{name: TPU_WORKER_ID, value: '7'}, {name: TPU_WORKER_ID, value: '2'}") },
    POD ".containers[1].resources.limits['google.com/tpu']",
    "2",
    "on host 2 the TPU webhook leaves two with '2'",
    { "        nodeSelector:\n",
      SECOND ("{name: TPU_WORKER_ID, value: '7'}, {name: TPU_WORKER_ID, valueFrom: {fieldRef: {fieldPath: a}}}") } },
  { "worker-id-twice",
    { "        nodeSelector:\n          " ACCELERATOR, SECOND ("{name: TPU_WORKER_ID, value: '4'}") TPU7X },
    POD ".containers[1].resources.limits['google.com/tpu']",
    "2",
    "on host 2 the TPU webhook leaves two with '4'",
    { "        nodeSelector:\n          " ACCELERATOR, SECOND ("{name: TPU_WORKER_ID, value: '5'}") TPU7X } },

  /* resources in Ray's start parameters */
  { "ray-resources-twice",
    { "metrics-export-port: \"8082\"\n", "num-cpus: \"24\"\n    resources: {CPU: 24}\n" },
    GROUP ".rayStartParams.num-cpus",
    "24",
    "only one of these and the group's own 'resources'",
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
    "TPU 4, the chips that the containers request",
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
    "'TPU-v6e-16-head' or 'accelerator_type:TPU-V6E'",
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

  /* numbers of slices, and selectors without chips */
  { "slices-value",
    { "value: \"2\"", "value: two" },
    WORKER ".env[0].value",
    "two",
    "a number of slices, 1 or more",
    { "value: \"2\"", "value: ' 2 '" } },
  { "slices-value",
    { "value: \"2\"", "value: \"0\"" },
    WORKER ".env[0].value",
    "0",
    "a number of slices, 1 or more",
    { "value: \"2\"", "value: ''" } },
  { "slices-number",
    { "value: \"2\"", "value: \"3\"" },
    WORKER ".env[0].value",
    "3",
    "2, the slices of the group: JAX waits until all of them have joined",
    { "  workerGroupSpecs:\n  - groupName: tpu-group\n    replicas: 2\n",
      "  enableInTreeAutoscaling: true\n  workerGroupSpecs:\n  - groupName: tpu-group\n    replicas: 3\n" } },
  { "slices-number",
    { "replicas: 2", "replicas: 3" },
    WORKER ".env[0].value",
    "2",
    "3, the slices of the group: JAX has no place for the others",
    { "value: \"2\"", "value: \"4\"\n          - name: MEGASCALE_COORDINATOR_ADDRESS\n            value: other" } },
  { "chips-missing",
    { CHIPS, NO_CHIPS },
    SELECTOR ("accelerator"),
    "tpu-v6e-slice",
    "a request and a limit of google.com/tpu",
    { CHIPS "              cpu: \"24\"\n        nodeSelector:\n          " ACCELERATOR TOPOLOGY, NO_CHIPS } },
  { "chips-missing",
    { CHIPS "              cpu: \"24\"\n        nodeSelector:\n          " ACCELERATOR TOPOLOGY,
      NO_CHIPS "        nodeSelector:\n          node.kubernetes.io/instance-type: ct6e-standard-4t\n" },
    POD ".nodeSelector['node.kubernetes.io/instance-type']",
    "ct6e-standard-4t",
    "a request and a limit of google.com/tpu",
    { CHIPS "              cpu: \"24\"\n        nodeSelector:\n          " ACCELERATOR TOPOLOGY,
      NO_CHIPS "        nodeSelector:\n          node.kubernetes.io/instance-type: n2-standard-8\n" } },
  { "chips-missing",
    { "        nodeSelector:\n",
      "        tolerations: [{key: google.com/tpu, operator: Exists}]\n        nodeSelector:\n" },
    SELECTOR ("accelerator"),
    "tpu-v6e-slice",
    "a request and a limit of google.com/tpu",
    { "netdev.google.com", "tpu.google.com" },
    { CHIPS, NO_CHIPS } },

  /* ports */
  { "port",
    { "value: \"2\"", VARIABLE ("MEGASCALE_PORT", "\"99155\"") },
    WORKER ".env[1].value",
    "99155",
    "a port from 1 to 65535",
    { "value: \"2\"", VARIABLE ("MEGASCALE_PORT", "\"9915\"") } },
  { "port",
    { "value: \"2\"", VARIABLE ("JAX_COORDINATOR_PORT", "\"0\"") },
    WORKER ".env[1].value",
    "0",
    "a port from 1 to 65535",
    { "value: \"2\"", VARIABLE ("JAX_COORDINATOR_PORT", "''") } },
  { "port",
    { "value: \"2\"", VARIABLE ("MEGASCALE_COORDINATOR_ADDRESS", "a:99155") },
    WORKER ".env[1].value",
    "a:99155",
    "an address whose port is from 1 to 65535",
    { "value: \"2\"", VARIABLE ("MEGASCALE_COORDINATOR_ADDRESS", "a") } },
  { "port", HEAD_PORTS ("{containerPort: 65536}"), HEAD ".ports[0].containerPort", "65536", "a port from 1 to 65535",
    HEAD_PORTS ("{containerPort: 65535}") },
  { "port",
    { "metrics-export-port: \"8082\"", "metrics-export-port: \"65536\"" },
    GROUP ".rayStartParams.metrics-export-port",
    "65536",
    "a port from 0 to 65535",
    { "metrics-export-port: \"8082\"", "metrics-export-port: \"0\"" } },
  { "port-twice",
    { "value: \"2\"", VARIABLE ("MEGASCALE_PORT", "\"8082\"") },
    WORKER ".env[1].value",
    "8082",
    "another port: Ray uses this one for metrics-export-port",
    { "value: \"2\"", VARIABLE ("MEGASCALE_PORT", "\"8080\"") } },
  { "port-twice",
    { "value: \"2\"", VARIABLE ("MEGASCALE_PORT", "\"52365\"") },
    WORKER ".env[1].value",
    "52365",
    "another port: Ray uses this one for dashboard-agent-listen-port",
    { "value: \"2\"", VARIABLE ("MEGASCALE_PORT", "\"52366\"") } },
  { "head-port", HEAD_PORTS ("{name: dashboard, containerPort: 8266}"), HEAD ".ports[0].containerPort", "8266",
    "8265, where Ray listens: set 'dashboard-port' in rayStartParams",
    HEAD_PORTS ("{name: http, containerPort: 8266}") },
  { "head-port",
    { "rayStartParams: {num-cpus: \"0\"}", "rayStartParams: {port: \"6380\"}" },
    HEAD ".ports[0].containerPort",
    "6379",
    "6380, where Ray listens: set 'port' in rayStartParams",
    { "rayStartParams: {num-cpus: \"0\"}", "rayStartParams: {port: \"6379\"}" },
    HEAD_PORTS ("{name: gcs-server, containerPort: 6379}") },
  { "head-port", HEAD_PORTS ("{name: client, containerPort: 10001}"),
    "$.spec.rayClusterSpec.headGroupSpec.template.spec.containers[0].ports", NULL,
    "KubeRay sends the RayJob to that port of the head", HEAD_PORTS ("{name: dashboard, containerPort: 8265}"),
    AS_JOB },

  /* claims */
  { "claim-source",
    { "          resourceClaimTemplateName: two-netdev\n", "" },
    POD ".resourceClaims[0]",
    NULL,
    "one of 'resourceClaimName' and 'resourceClaimTemplateName'",
    { "resourceClaimTemplateName: two-netdev", "resourceClaimTemplateName: ${T}" } },
  { "claim-source",
    { "          resourceClaimTemplateName: two-netdev\n",
      "          resourceClaimTemplateName: two-netdev\n          resourceClaimName: mine\n" },
    POD ".resourceClaims[0]",
    NULL,
    "one of 'resourceClaimName' and 'resourceClaimTemplateName'",
    { "resourceClaimTemplateName: two-netdev", "resourceClaimName: mine" } },
  { "claim-twice",
    { "        containers:\n        - name: worker",
      "        - {name: netdev, resourceClaimTemplateName: two-netdev}\n        containers:\n        - name: worker" },
    POD ".resourceClaims[1].name",
    "netdev",
    "each claim of a pod once",
    { "        containers:\n        - name: worker", "        - {name: second, resourceClaimTemplateName: "
                                                     "two-netdev}\n        containers:\n        - name: worker" } },
  { "claim-shared",
    { "resourceClaimTemplateName: two-netdev", "resourceClaimName: mine" },
    POD ".resourceClaims[0].resourceClaimName",
    "mine",
    "but the group has 8 pods",
    { "name: worker", "name: other" },
    { "---\n",
      "---\nkind: ResourceClaim\nmetadata: {name: mine}\nspec: {devices: {requests: [{name: nets}]}}\n---\n" } },
  { "claim-request",
    { "            - name: netdev\n", "            - name: netdev\n              request: other\n" },
    WORKER ".resources.claims[0].request",
    "other",
    "the name of a request of that claim",
    { "            - name: netdev\n", "            - name: netdev\n              request: nets\n" } },

  /* MaxText's settings in the command of a job */
  { "entrypoint-mesh",
    { "steps=5", "ici_tensor_parallelism=3" },
    "$.spec.entrypoint",
    "python3 -m MaxText.train base.yml ici_tensor_parallelism=3 dcn_data_parallelism=2",
    "other axes whose product divides 16",
    { "steps=5", "ici_tensor_parallelism=4" },
    AS_JOB },
  { "entrypoint-slices",
    { "dcn_data_parallelism=2", "dcn_data_parallelism=4" },
    "$.spec.entrypoint",
    "python3 -m MaxText.train base.yml steps=5 dcn_data_parallelism=4",
    "2",
    { "steps=5", "num_slices=2" },
    AS_JOB },
  { "entrypoint-memory",
    { "steps=5", "model_name=llama2-70b" },
    "$.spec.entrypoint",
    "python3 -m MaxText.train base.yml model_name=llama2-70b dcn_data_parallelism=2",
    "of at most 32.0 GiB per device",
    { "steps=5", "model_name=llama2-7b per_device_batch_size=1" },
    AS_JOB },
  { "entrypoint-setting",
    { "steps=5", "ici_fdsp_parallelism=16" },
    "$.spec.entrypoint",
    "python3 -m MaxText.train base.yml ici_fdsp_parallelism=16 dcn_data_parallelism=2",
    "such as 'ici_fsdp_parallelism'",
    { "steps=5", "ici_fsdp_parallelism=16" },
    AS_JOB },
};

START_TEST (valid_manifest_has_no_findings)
{
  g_autoptr (QuoitCheck) check = check_text (good, NULL);
  g_autofree char *found = as_text (check);

  ck_assert_str_eq (found, "");
}
END_TEST

enum { N_CASES = G_N_ELEMENTS (cases) + G_N_ELEMENTS (kind_cases) };

static const Case *
case_at (guint index)
{
  return index < G_N_ELEMENTS (cases) ? &cases[index] : &kind_cases[index - G_N_ELEMENTS (cases)];
}

static char *
edit_case (const Case *tested, Edit how)
{
  const char *base = tested->base == NULL ? good : tested->base;
  g_autofree char *text = tested->also.from == NULL ? g_strdup (base) : edit (base, tested->also);

  return edit (text, how);
}

START_TEST (valid_object_of_another_kind_has_no_findings)
{
  g_autoptr (QuoitCheck) check = check_text (good_kinds[_i], NULL);
  g_autofree char *found = as_text (check);

  ck_assert_str_eq (found, "");
}
END_TEST

START_TEST (finding_has_place_value_and_expectation)
{
  const Case *tested = case_at ((guint) _i);
  g_autofree char *text = edit_case (tested, tested->has);
  g_autoptr (QuoitCheck) check = check_text (text, NULL);
  g_autofree char *found = as_text (check);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  int at = find (check, tested->rule);
  uint32_t n;

  ck_assert_msg (at >= 0, "%s is not found, but:\n%s", tested->rule, found);
  n = (uint32_t) at;
  ck_assert_str_eq (quoit_check_get_path (check, n), tested->path);
  ck_assert_pstr_eq (quoit_check_get_value (check, n), tested->value);
  ck_assert_msg (strstr (quoit_check_get_expected (check, n), tested->expected) != NULL, "expected '%s'",
                 quoit_check_get_expected (check, n));
  ck_assert (g_str_has_suffix (quoit_check_get_message (check, n), quoit_check_get_expected (check, n)));
  ck_assert_msg (strstr (quoit_check_get_message (check, n), "expected ") != NULL, "%s",
                 quoit_check_get_message (check, n));
  /* The value is on the reported line. */
  if (tested->value != NULL && strpbrk (tested->value, "\"\\") == NULL)
    ck_assert_msg (strstr (lines[quoit_check_get_line (check, n) - 1], tested->value) != NULL,
                   "line %u does not have '%s'", quoit_check_get_line (check, n), tested->value);
}
END_TEST

START_TEST (value_at_the_limit_of_a_rule_has_no_finding)
{
  const Case *tested = case_at ((guint) _i);
  g_autofree char *text = edit_case (tested, tested->has_not);
  g_autoptr (QuoitCheck) check = check_text (text, NULL);
  g_autofree char *found = as_text (check);

  ck_assert_msg (find (check, tested->rule) < 0, "found:\n%s", found);
}
END_TEST

START_TEST (every_rule_has_a_case_and_is_documented)
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

      for (guint i = 0; i < N_CASES; i++)
        has_case = has_case || strcmp (case_at (i)->rule, rule) == 0;
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

  tcase_add_test (rules, valid_manifest_has_no_findings);
  tcase_add_loop_test (rules, valid_object_of_another_kind_has_no_findings, 0, G_N_ELEMENTS (good_kinds));
  tcase_add_loop_test (rules, finding_has_place_value_and_expectation, 0, N_CASES);
  tcase_add_loop_test (rules, value_at_the_limit_of_a_rule_has_no_finding, 0, N_CASES);
  tcase_add_test (rules, every_rule_has_a_case_and_is_documented);
  suite_add_tcase (suite, rules);
  return suite_main (suite);
}

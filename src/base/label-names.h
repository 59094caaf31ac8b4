/* SPDX-License-Identifier: Apache-2.0 */
/* The names of labels and resources that Kubernetes, GKE, KubeRay and Ray define, each in one place. */
#pragma once

/* Resources of Kubernetes: TPU chips, and GPUs. */
#define QUOIT_K8S_TPU_RESOURCE "google.com/tpu"
#define QUOIT_K8S_GPU_RESOURCE "nvidia.com/gpu"

/* Labels of Kubernetes' nodes. */
#define QUOIT_K8S_LABEL_HOST_NAME "kubernetes.io/hostname"
#define QUOIT_K8S_LABEL_ZONE "topology.kubernetes.io/zone"
#define QUOIT_K8S_LABEL_REGION "topology.kubernetes.io/region"

/* Labels of GKE's nodes. Pods select nodes by them. */
#define QUOIT_GKE_LABEL_ACCELERATOR "cloud.google.com/gke-tpu-accelerator"
#define QUOIT_GKE_LABEL_TOPOLOGY "cloud.google.com/gke-tpu-topology"
#define QUOIT_GKE_LABEL_TOPOLOGY_MODE "cloud.google.com/gke-accelerator-topology-mode"
#define QUOIT_GKE_LABEL_CHIPS "cloud.google.com/gke-accelerator-count"
#define QUOIT_GKE_LABEL_NODE_POOL "cloud.google.com/gke-nodepool"
#define QUOIT_GKE_LABEL_COMPUTE_CLASS "cloud.google.com/compute-class"
#define QUOIT_GKE_LABEL_SLICE "cloud.google.com/gke-tpu-slice"
#define QUOIT_GKE_LABEL_SPOT "cloud.google.com/gke-spot"
#define QUOIT_GKE_LABEL_PREEMPTIBLE "cloud.google.com/gke-preemptible"
#define QUOIT_GKE_LABEL_BLOCK "cloud.google.com/gce-topology-block"
#define QUOIT_GKE_LABEL_SUBBLOCK "cloud.google.com/gce-topology-subblock"
#define QUOIT_GKE_LABEL_CUBE_ID "cloud.google.com/gke-tpu-partition-4x4x4-id"

/* The annotation of pods with the topology of the slice that GKE makes for them. */
#define QUOIT_GKE_ANNOTATION_SLICE_TOPOLOGY "cloud.google.com/gke-tpu-slice-topology"

/* The only label of quoit itself: where a cube is in its block, "X-Y-Z". No other system states that. */
#define QUOIT_LABEL_CUBE_POSITION "quoit/cube-position"

/* Labels that KubeRay and the TPU webhook give to the pods of a RayCluster. */
#define QUOIT_KUBERAY_LABEL_CLUSTER "ray.io/cluster"
#define QUOIT_KUBERAY_LABEL_GROUP "ray.io/group"
#define QUOIT_KUBERAY_LABEL_IDENTIFIER "ray.io/identifier"
#define QUOIT_KUBERAY_LABEL_IS_RAY_NODE "ray.io/is-ray-node"
#define QUOIT_KUBERAY_LABEL_NODE_TYPE "ray.io/node-type"
#define QUOIT_KUBERAY_LABEL_REPLICA_INDEX "ray.io/worker-group-replica-index"
#define QUOIT_KUBERAY_LABEL_REPLICA_NAME "ray.io/worker-group-replica-name"
#define QUOIT_KUBERAY_LABEL_HOST_INDEX "ray.io/replica-host-index"

/* Labels that Ray gives to its nodes. */
#define QUOIT_RAY_LABEL_PREFIX "ray.io/"
#define QUOIT_RAY_LABEL_NODE_ID "ray.io/node-id" /* also the key of topology_strategy that means nodes */
#define QUOIT_RAY_LABEL_NODE_GROUP "ray.io/node-group"
#define QUOIT_RAY_LABEL_MARKET_TYPE "ray.io/market-type"
#define QUOIT_RAY_LABEL_ZONE "ray.io/availability-zone"
#define QUOIT_RAY_LABEL_REGION "ray.io/availability-region"
#define QUOIT_RAY_LABEL_ACCELERATOR_TYPE "ray.io/accelerator-type"
#define QUOIT_RAY_LABEL_SLICE_NAME "ray.io/tpu-slice-name"
#define QUOIT_RAY_LABEL_WORKER_ID "ray.io/tpu-worker-id"
#define QUOIT_RAY_LABEL_TOPOLOGY "ray.io/tpu-topology"
#define QUOIT_RAY_LABEL_POD_TYPE "ray.io/tpu-pod-type"
#define QUOIT_RAY_LABEL_SUBSLICE_PREFIX "ray.io/tpu-subslice-"

/* The resource that marks the node of Ray's head. */
#define QUOIT_RAY_HEAD_RESOURCE "node:__internal_head__"

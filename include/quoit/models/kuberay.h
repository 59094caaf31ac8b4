/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A RayCluster as the operator of KubeRay 1.7.0 keeps it: which pods its worker groups have, with which indices, and
 * what becomes of them when one fails and when the groups grow and shrink. No cluster is asked: pods are made here,
 * pass by pass, as the operator makes them, and quoit_kuberay_mutate_pod() says what the TPU webhook writes into each.
 */
#ifndef QUOIT_KUBERAY_H
#define QUOIT_KUBERAY_H

#include <stddef.h>

#include <quoit/models/webhook.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitKuberay:
 *
 * The worker groups of a RayCluster and the pods that there are. It changes: one thread at a time.
 *
 * Since: 0.1
 */
typedef struct _QuoitKuberay QuoitKuberay;

/**
 * QuoitKuberayFlags:
 *
 * How the operator runs.
 *
 * %QUOIT_KUBERAY_AUTOSCALING: spec.enableInTreeAutoscaling: what is too many stays until the autoscaler names it.
 *
 * %QUOIT_KUBERAY_RANDOM_DELETION: ENABLE_RANDOM_POD_DELETE is true in its environment: it does not stay all the same.
 *
 * %QUOIT_KUBERAY_NO_INDICES: its gate RayMultiHostIndexing is off, as before 1.6: pods without indices, one by one.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_KUBERAY_AUTOSCALING = 1,
  QUOIT_KUBERAY_RANDOM_DELETION = 2,
  QUOIT_KUBERAY_NO_INDICES = 4
} QuoitKuberayFlags;

/**
 * QuoitKuberayEvent:
 *
 * What may happen to a pod between two passes.
 *
 * %QUOIT_KUBERAY_EVENT_FAILED: its phase is Failed or Succeeded.
 *
 * %QUOIT_KUBERAY_EVENT_ENDED: its Ray container has ended, and its restartPolicy is Never.
 *
 * %QUOIT_KUBERAY_EVENT_RESTARTED: its Ray container has ended, and its restartPolicy is another.
 *
 * %QUOIT_KUBERAY_EVENT_GONE: somebody else has deleted it, or its node is gone.
 *
 * %QUOIT_KUBERAY_EVENT_NAMED: scaleStrategy.workersToDelete names it, as the autoscaler does.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_KUBERAY_EVENT_FAILED = 0,
  QUOIT_KUBERAY_EVENT_ENDED = 1,
  QUOIT_KUBERAY_EVENT_RESTARTED = 2,
  QUOIT_KUBERAY_EVENT_GONE = 3,
  QUOIT_KUBERAY_EVENT_NAMED = 4
} QuoitKuberayEvent;

/**
 * quoit_kuberay_dup_checked_name:
 * @name: the name of a service
 *
 * KubeRay's CheckName, which the TPU webhook asks for the name of the headless service: the last 50 bytes, and "r" in
 * place of a digit or a punctuation mark that comes first.
 *
 * Returns: (transfer full): the name, which may begin within a character of UTF-8; g_free() it
 * Since: 0.1
 */
QUOIT_API char *quoit_kuberay_dup_checked_name (const char *name);

/**
 * quoit_kuberay_dup_pod_prefix:
 * @name: "CLUSTER-GROUP"
 *
 * What the names of a group's pods begin with; Kubernetes appends five random characters. It is the first 50 bytes of
 * @name, in lower case, and "-worker-".
 *
 * Returns: (transfer full): the prefix; g_free() it
 * Since: 0.1
 */
QUOIT_API char *quoit_kuberay_dup_pod_prefix (const char *name);

/**
 * quoit_kuberay_new:
 * @cluster: the name of the RayCluster
 * @flags: of #QuoitKuberayFlags; 0: none of them
 *
 * Returns: (transfer full): a cluster without groups; quoit_kuberay_free() it
 * Since: 0.1
 */
QUOIT_API QuoitKuberay *quoit_kuberay_new (const char *cluster, uint32_t flags);

/**
 * quoit_kuberay_parse_manifest:
 * @text: YAML with one RayCluster, RayJob or RayService
 * @length: bytes of @text
 * @variables: (nullable) (array zero-terminated=1): "NAME=value" for each ${NAME} in it; %NULL for none
 * @flags: of #QuoitKuberayFlags, beside what the manifest says of autoscaling
 * @error: (out) (optional): set on failure
 *
 * The cluster of a manifest with its worker groups, and no pods yet: the first pass makes them. A group that is
 * suspended, or that of a suspended cluster, has none. KubeRay ends the name of a RayJob's or RayService's cluster with
 * five random characters, "xxxxx" here. What no slice can be is not refused: quoit_check_manifest() says what is wrong.
 *
 * Fails with %QUOIT_ERROR_INVALID when @text is not YAML, has no such object or two, or a field that is read is none of
 * Kubernetes's; the message begins with the line. Likewise when @variables are not such texts, or lack one.
 *
 * Returns: (transfer full): the cluster; quoit_kuberay_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitKuberay *quoit_kuberay_parse_manifest (const char *text, size_t length, const char *const *variables,
                                                      uint32_t flags, GError **error);

/**
 * quoit_kuberay_free:
 * @kuberay: (nullable) (transfer full): a cluster
 *
 * Frees @kuberay and all that was borrowed from it.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_kuberay_free (QuoitKuberay *kuberay);

/**
 * quoit_kuberay_get_cluster:
 * @kuberay: a cluster
 *
 * Returns: (transfer none): the name of the RayCluster
 * Since: 0.1
 */
QUOIT_API const char *quoit_kuberay_get_cluster (const QuoitKuberay *kuberay);

/**
 * quoit_kuberay_is_name_assumed:
 * @kuberay: a cluster
 *
 * Whether nobody knows yet what the RayCluster will be called: KubeRay ends the name of a RayJob's or RayService's
 * cluster with "-" and five random characters, for which "xxxxx" stands until the manifest is read back from
 * Kubernetes. Its service, the host names with it, and what is cut off names that are too long, are as doubtful.
 *
 * Returns: 1 when it is assumed, 0 when the manifest says it
 * Since: 0.1
 */
QUOIT_API int quoit_kuberay_is_name_assumed (const QuoitKuberay *kuberay);

/**
 * quoit_kuberay_get_longest_name:
 * @kuberay: a cluster
 *
 * How long the manifest's metadata.name may be if hosts of a slice are to find each other: a longer one makes a
 * headless service of more bytes than the TPU webhook says. Where the cluster's name is assumed, what KubeRay appends
 * is left room for.
 *
 * Returns: the bytes
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_kuberay_get_longest_name (const QuoitKuberay *kuberay);

/**
 * quoit_kuberay_get_service:
 * @kuberay: a cluster
 *
 * The headless service as KubeRay calls it. The TPU webhook tells the hosts another name where this one has more than
 * 50 bytes or begins with a digit: quoit_kuberay_check_names() refuses that.
 *
 * Returns: (transfer none) (nullable): the name, valid until @kuberay is freed; %NULL where each group has one host
 * Since: 0.1
 */
QUOIT_API const char *quoit_kuberay_get_service (const QuoitKuberay *kuberay);

/**
 * quoit_kuberay_add_group:
 * @kuberay: a cluster
 * @name: groupName
 * @n_hosts: numOfHosts
 * @pod: (nullable): the template of its pods; copied. %NULL: one that asks for no TPUs
 * @error: (out) (optional): set on failure
 *
 * Adds a group behind the others, with no replicas and without bounds.
 *
 * Fails with %QUOIT_ERROR_INVALID when a group has that name, or @n_hosts is not 0 to 2147483647.
 *
 * Returns: 1 when it was added, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_kuberay_add_group (QuoitKuberay *kuberay, const char *name, int64_t n_hosts,
                                       const QuoitWebhookPod *pod, GError **error);

/**
 * quoit_kuberay_get_n_groups:
 * @kuberay: a cluster
 *
 * Returns: the worker groups
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_kuberay_get_n_groups (const QuoitKuberay *kuberay);

/**
 * quoit_kuberay_get_group_name:
 * @kuberay: a cluster
 * @group: below quoit_kuberay_get_n_groups()
 *
 * Returns: (transfer none): its groupName, valid until @kuberay is freed
 * Since: 0.1
 */
QUOIT_API const char *quoit_kuberay_get_group_name (const QuoitKuberay *kuberay, uint32_t group);

/**
 * quoit_kuberay_get_group_hosts:
 * @kuberay: a cluster
 * @group: below quoit_kuberay_get_n_groups()
 *
 * Returns: its numOfHosts
 * Since: 0.1
 */
QUOIT_API int64_t quoit_kuberay_get_group_hosts (const QuoitKuberay *kuberay, uint32_t group);

/**
 * quoit_kuberay_get_group_containers:
 * @kuberay: a cluster
 * @group: below quoit_kuberay_get_n_groups()
 *
 * Returns: the containers of each of its pods
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_kuberay_get_group_containers (const QuoitKuberay *kuberay, uint32_t group);

/**
 * quoit_kuberay_check_group:
 * @kuberay: a cluster
 * @group: below quoit_kuberay_get_n_groups()
 * @denial: (out) (nullable) (transfer none): what the TPU webhook says when it does not admit the cluster for this
 * group, a constant; %NULL when it has nothing against it
 * @error: (out) (optional): set on failure
 *
 * What the TPU webhook says of the group when the RayCluster is applied: quoit_webhook_check_group(). For one that it
 * refuses or denies there is no cluster, and so no pod of any group.
 *
 * Fails with %QUOIT_ERROR_INVALID as that does; @denial is untouched.
 *
 * Returns: 1 when @denial was set, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_kuberay_check_group (const QuoitKuberay *kuberay, uint32_t group, const char **denial,
                                         GError **error);

/**
 * quoit_kuberay_set_replicas:
 * @kuberay: a cluster
 * @group: below quoit_kuberay_get_n_groups()
 * @replicas: wanted
 *
 * Since: 0.1
 */
QUOIT_API void quoit_kuberay_set_replicas (QuoitKuberay *kuberay, uint32_t group, int32_t replicas);

/**
 * quoit_kuberay_set_bounds:
 * @kuberay: a cluster
 * @group: below quoit_kuberay_get_n_groups()
 * @lowest: minReplicas; 0 where it is not set
 * @highest: maxReplicas; 2147483647 where it is not set
 *
 * Since: 0.1
 */
QUOIT_API void quoit_kuberay_set_bounds (QuoitKuberay *kuberay, uint32_t group, int32_t lowest, int32_t highest);

/**
 * quoit_kuberay_suspend_group:
 * @kuberay: a cluster
 * @group: below quoit_kuberay_get_n_groups()
 *
 * The group is to have no pods, until it is resumed.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_kuberay_suspend_group (QuoitKuberay *kuberay, uint32_t group);

/**
 * quoit_kuberay_resume_group:
 * @kuberay: a cluster
 * @group: below quoit_kuberay_get_n_groups()
 *
 * The group is to have its pods again.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_kuberay_resume_group (QuoitKuberay *kuberay, uint32_t group);

/**
 * quoit_kuberay_get_n_desired:
 * @kuberay: a cluster
 * @group: below quoit_kuberay_get_n_groups()
 *
 * How many pods the group is to have: the replicas within their bounds, times the hosts of each, in 32 bits as the
 * operator counts, which may wrap below 0; none while it is suspended.
 *
 * Returns: the pods
 * Since: 0.1
 */
QUOIT_API int32_t quoit_kuberay_get_n_desired (const QuoitKuberay *kuberay, uint32_t group);

/**
 * quoit_kuberay_reconcile:
 * @kuberay: a cluster
 * @requeued: (out) (nullable) (transfer none): what the operator says where the pass ends early and another follows,
 * valid until the next call that changes @kuberay; %NULL: it came to its end
 * @error: (out) (optional): set on failure
 *
 * One pass of the operator over the groups, in their order. Of several hosts a replica lives and dies as one: an
 * incomplete one is deleted and ends the pass; one with a host that has failed is replaced in the pass, most often
 * under its own index; one of which a pod is named is deleted and ends the pass. New replicas take the lowest free
 * indices.
 *
 * Fails with %QUOIT_ERROR_INVALID when the groups are to have more than 65536 pods together, or these more than 256 MiB
 * of environment; no pod has changed, and @requeued is untouched.
 *
 * Returns: 1 when the pass was made, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_kuberay_reconcile (QuoitKuberay *kuberay, const char **requeued, GError **error);

/**
 * quoit_kuberay_is_arbitrary:
 * @kuberay: a cluster
 *
 * Whether the last pass deleted some of a group's pods of which the operator does not say which: here the last ones go.
 *
 * Returns: 1 when it did, else 0
 * Since: 0.1
 */
QUOIT_API int quoit_kuberay_is_arbitrary (const QuoitKuberay *kuberay);

/**
 * quoit_kuberay_get_n_pods:
 * @kuberay: a cluster
 *
 * Pods are in the order of groups, then of replicas and hosts, or of age where they have no indices.
 *
 * Returns: the pods that there are
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_kuberay_get_n_pods (const QuoitKuberay *kuberay);

/**
 * quoit_kuberay_get_pod_serial:
 * @kuberay: a cluster
 * @pod: below quoit_kuberay_get_n_pods()
 *
 * Which pod it is, of all that were ever made: 0 for the first. Its place in the list changes, this does not.
 *
 * Returns: the number
 * Since: 0.1
 */
QUOIT_API uint64_t quoit_kuberay_get_pod_serial (const QuoitKuberay *kuberay, uint32_t pod);

/**
 * quoit_kuberay_get_pod_group:
 * @kuberay: a cluster
 * @pod: below quoit_kuberay_get_n_pods()
 *
 * Returns: its group
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_kuberay_get_pod_group (const QuoitKuberay *kuberay, uint32_t pod);

/**
 * quoit_kuberay_get_pod_replica:
 * @kuberay: a cluster
 * @pod: below quoit_kuberay_get_n_pods()
 *
 * Returns: its replica index, a place that survives replacement; -1 where it has none
 * Since: 0.1
 */
QUOIT_API int64_t quoit_kuberay_get_pod_replica (const QuoitKuberay *kuberay, uint32_t pod);

/**
 * quoit_kuberay_get_pod_host:
 * @kuberay: a cluster
 * @pod: below quoit_kuberay_get_n_pods()
 *
 * Returns: its host index in the replica; -1 where it has none, as where the replica has one host
 * Since: 0.1
 */
QUOIT_API int64_t quoit_kuberay_get_pod_host (const QuoitKuberay *kuberay, uint32_t pod);

/**
 * quoit_kuberay_get_pod_incarnation:
 * @kuberay: a cluster
 * @pod: below quoit_kuberay_get_n_pods()
 *
 * Which of the replicas of several hosts that were ever made it belongs to: 0 for the first. Where KubeRay puts five
 * random characters into the name of the replica, this number stands in angle brackets: "GROUP-<0>".
 *
 * Returns: the number; -1 where the replica has no name, as where it has one host
 * Since: 0.1
 */
QUOIT_API int64_t quoit_kuberay_get_pod_incarnation (const QuoitKuberay *kuberay, uint32_t pod);

/**
 * quoit_kuberay_dup_pod_labels:
 * @kuberay: a cluster
 * @pod: below quoit_kuberay_get_n_pods()
 *
 * The labels that KubeRay gives it, without those that only the template has.
 *
 * Returns: (transfer full) (array zero-terminated=1): "KEY=VALUE", by key; g_strfreev() them
 * Since: 0.1
 */
QUOIT_API char **quoit_kuberay_dup_pod_labels (const QuoitKuberay *kuberay, uint32_t pod);

/**
 * quoit_kuberay_mutate_pod:
 * @kuberay: a cluster
 * @pod: below quoit_kuberay_get_n_pods()
 * @error: (out) (optional): set on failure
 *
 * What the TPU webhook wrote into the pod when it was made. A pod without both indices it numbers by the pods that
 * there were then: quoit_webhook_mutate().
 *
 * Fails with %QUOIT_ERROR_INVALID as that does, and when the pod was not admitted for it.
 *
 * Returns: (transfer full): the patch; quoit_webhook_patch_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitWebhookPatch *quoit_kuberay_mutate_pod (const QuoitKuberay *kuberay, uint32_t pod, GError **error);

/**
 * quoit_kuberay_admit_pod:
 * @kuberay: a cluster
 * @pod: below quoit_kuberay_get_n_pods()
 * @error: (out) (optional): set on failure
 *
 * The pod as it is once the TPU webhook has seen it: KubeRay's labels and the one that the webhook may add, and the
 * variables of its containers, the template's before those of quoit_kuberay_mutate_pod().
 *
 * Fails as quoit_kuberay_mutate_pod().
 *
 * Returns: (transfer full): the pod; quoit_webhook_pod_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitWebhookPod *quoit_kuberay_admit_pod (const QuoitKuberay *kuberay, uint32_t pod, GError **error);

/**
 * quoit_kuberay_mark_pod:
 * @kuberay: a cluster
 * @pod: below quoit_kuberay_get_n_pods()
 * @event: what happens to it
 *
 * What is to be seen by the next pass. A pod that is gone is gone at once; those behind it move up.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_kuberay_mark_pod (QuoitKuberay *kuberay, uint32_t pod, QuoitKuberayEvent event);

/**
 * quoit_kuberay_check_names:
 * @kuberay: a cluster
 * @error: (out) (optional): set on failure
 *
 * Whether the hosts of the groups that ask for TPUs will find each other: the headless service is called as the TPU
 * webhook says, and all host names that it makes for the replicas up to the wanted ones are DNS labels of at most 63
 * bytes.
 *
 * Fails with %QUOIT_ERROR_INVALID when one does not hold; the message has the name and how much shorter it has to be.
 *
 * Returns: 1 when they will, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_kuberay_check_names (const QuoitKuberay *kuberay, GError **error);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitKuberay, quoit_kuberay_free)

G_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A RayCluster as the operator of KubeRay 1.7.0 maintains it: the pods of its worker groups, their indices, and what
 * happens to them when a pod fails and when groups grow and shrink. No cluster is contacted: each pass creates pods
 * like the operator does, and quoit_kuberay_mutate_pod() returns what the TPU webhook writes into each pod. */
#ifndef QUOIT_KUBERAY_H
#define QUOIT_KUBERAY_H

#include <stdbool.h>
#include <stddef.h>

#include <quoit/models/webhook.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitKuberay:
 *
 * The worker groups of a RayCluster and their pods. Mutable: use it in one thread at a time.
 */
typedef struct _QuoitKuberay QuoitKuberay;

/**
 * QuoitKuberayFlags:
 *
 * How the operator runs.
 *
 * - %QUOIT_KUBERAY_AUTOSCALING: spec.enableInTreeAutoscaling is true. Surplus pods stay until the autoscaler adds them
 *   to scaleStrategy.workersToDelete.
 * - %QUOIT_KUBERAY_RANDOM_DELETION: ENABLE_RANDOM_POD_DELETE is true in the operator's environment. Surplus pods are
 *   deleted even with autoscaling.
 * - %QUOIT_KUBERAY_NO_INDICES: the feature gate RayMultiHostIndexing is off, as before KubeRay 1.6. Pods have no
 *   indices and are managed one by one.
 */
typedef enum {
  QUOIT_KUBERAY_AUTOSCALING = 1,
  QUOIT_KUBERAY_RANDOM_DELETION = 2,
  QUOIT_KUBERAY_NO_INDICES = 4
} QuoitKuberayFlags;

/**
 * QuoitKuberayEvent:
 *
 * What can happen to a pod between two passes.
 *
 * - %QUOIT_KUBERAY_EVENT_FAILED: its phase is Failed or Succeeded.
 * - %QUOIT_KUBERAY_EVENT_ENDED: its Ray container has ended, and its restartPolicy is Never.
 * - %QUOIT_KUBERAY_EVENT_RESTARTED: its Ray container has ended, and its restartPolicy is not Never.
 * - %QUOIT_KUBERAY_EVENT_GONE: the pod was deleted from outside, or its node is gone.
 * - %QUOIT_KUBERAY_EVENT_TO_DELETE: the pod is added to scaleStrategy.workersToDelete, as the autoscaler does.
 */
typedef enum {
  QUOIT_KUBERAY_EVENT_FAILED = 0,
  QUOIT_KUBERAY_EVENT_ENDED = 1,
  QUOIT_KUBERAY_EVENT_RESTARTED = 2,
  QUOIT_KUBERAY_EVENT_GONE = 3,
  QUOIT_KUBERAY_EVENT_TO_DELETE = 4
} QuoitKuberayEvent;

/**
 * quoit_kuberay_dup_checked_name:
 * @name: the name of a service
 *
 * Applies KubeRay's CheckName, which the TPU webhook uses for the name of the headless service: keeps the last 50 bytes
 * and replaces a leading digit or punctuation mark by "r".
 *
 * Returns: (transfer full): the name, which can begin in the middle of a UTF-8 character; g_free() it
 */
QUOIT_API char *quoit_kuberay_dup_checked_name (const char *name);

/**
 * quoit_kuberay_dup_pod_prefix:
 * @name: "CLUSTER-GROUP"
 *
 * Returns the prefix of the names of a group's pods: the first 50 bytes of @name in lower case, and "-worker-".
 * Kubernetes appends five random characters.
 *
 * Returns: (transfer full): the prefix; g_free() it
 */
QUOIT_API char *quoit_kuberay_dup_pod_prefix (const char *name);

/**
 * quoit_kuberay_new:
 * @cluster: the name of the RayCluster
 * @flags: bits of #QuoitKuberayFlags
 *
 * Creates a cluster without groups.
 *
 * Returns: (transfer full): the cluster; quoit_kuberay_free() it
 */
QUOIT_API QuoitKuberay *quoit_kuberay_new (const char *cluster, uint32_t flags);

/**
 * quoit_kuberay_parse_manifest:
 * @text: YAML with one RayCluster, RayJob or RayService
 * @length: bytes of @text
 * @variables: (nullable) (array zero-terminated=1): "NAME=value" for each ${NAME} in @text; %NULL for none
 * @flags: bits of #QuoitKuberayFlags, in addition to the manifest's autoscaling setting
 *
 * Creates the cluster of a manifest with its worker groups and without pods: the first pass creates them. Suspended
 * groups and the groups of a suspended cluster get no pods. The name of a RayJob's or RayService's cluster is assumed;
 * see quoit_kuberay_is_name_assumed(). The envFrom of containers is read from the ConfigMaps and Secrets in @text; see
 * quoit_kuberay_get_note(). Groups that cannot be slices are accepted: use quoit_check_manifest() to find
 * errors.
 *
 * Fails with %QUOIT_ERROR_INVALID when @text is not YAML, has no such object or more than one, or has a value in a
 * field that Kubernetes refuses (the message begins with the line), and when @variables are not "NAME=value" or lack a
 * variable of @text.
 *
 * Returns: (transfer full): the cluster; quoit_kuberay_free() it. %NULL on failure
 */
QUOIT_API QuoitKuberay *quoit_kuberay_parse_manifest (const char *text, size_t length, const char *const *variables,
                                                      uint32_t flags, GError **error);

/**
 * quoit_kuberay_free:
 * @kuberay: (nullable) (transfer full): a cluster
 *
 * Frees @kuberay and everything borrowed from it.
 */
QUOIT_API void quoit_kuberay_free (QuoitKuberay *kuberay);

/**
 * quoit_kuberay_get_cluster:
 *
 * Returns: (transfer none): the name of the RayCluster
 */
QUOIT_API const char *quoit_kuberay_get_cluster (const QuoitKuberay *kuberay);

/**
 * quoit_kuberay_is_name_assumed:
 *
 * Returns whether the name of the RayCluster is not known yet. KubeRay appends "-" and five random characters to the
 * name of a RayJob's or RayService's cluster; "xxxxx" represents them until the manifest is read back from Kubernetes.
 * The names that depend on it (the service, the host names, names cut to their maximum length) are then assumed too.
 *
 * Returns: true if the name is assumed, false if the manifest has it
 */
QUOIT_API bool quoit_kuberay_is_name_assumed (const QuoitKuberay *kuberay);

/**
 * quoit_kuberay_get_n_notes:
 *
 * Returns: the number of notes about the manifest
 */
QUOIT_API uint32_t quoit_kuberay_get_n_notes (const QuoitKuberay *kuberay);

/**
 * quoit_kuberay_get_note:
 * @note: below quoit_kuberay_get_n_notes()
 *
 * Returns what is not known about the variables of a manifest: a container's envFrom names a ConfigMap or Secret that
 * is not in the file and not optional, or a Secret has a value that is not text.
 *
 * Returns: (transfer none): one sentence that begins with the line, valid until @kuberay is freed
 */
QUOIT_API const char *quoit_kuberay_get_note (const QuoitKuberay *kuberay, uint32_t note);

/**
 * quoit_kuberay_get_longest_name:
 *
 * Returns the longest metadata.name with which the hosts of a slice can find each other. With a longer name, the name
 * of the headless service has more bytes than the TPU webhook uses. If the cluster's name is assumed, the limit leaves
 * room for the characters that KubeRay appends.
 *
 * Returns: the length in bytes
 */
QUOIT_API uint32_t quoit_kuberay_get_longest_name (const QuoitKuberay *kuberay);

/**
 * quoit_kuberay_get_service:
 *
 * Returns the name that KubeRay gives the headless service. If it has more than 50 bytes or begins with a digit, the
 * TPU webhook passes a different service name to the hosts, and quoit_kuberay_check_names() fails.
 *
 * Returns: (transfer none) (nullable): the name, valid until @kuberay is freed; %NULL if each group has one host
 */
QUOIT_API const char *quoit_kuberay_get_service (const QuoitKuberay *kuberay);

/**
 * quoit_kuberay_add_group:
 * @name: groupName
 * @n_hosts: numOfHosts
 * @pod: (nullable): the template of its pods; copied. %NULL: a template without TPUs
 *
 * Adds a group after the others, with no replicas and no bounds.
 *
 * Fails with %QUOIT_ERROR_INVALID when a group has that name, or @n_hosts is not 0 to 2147483647.
 *
 * Returns: true when it was added, false on failure
 */
QUOIT_API bool quoit_kuberay_add_group (QuoitKuberay *kuberay, const char *name, int64_t n_hosts,
                                        const QuoitWebhookPod *pod, GError **error);

/**
 * quoit_kuberay_get_n_groups:
 *
 * Returns: the number of worker groups
 */
QUOIT_API uint32_t quoit_kuberay_get_n_groups (const QuoitKuberay *kuberay);

/**
 * quoit_kuberay_get_group_name:
 * @group: below quoit_kuberay_get_n_groups()
 *
 * Returns: (transfer none): its groupName, valid until @kuberay is freed
 */
QUOIT_API const char *quoit_kuberay_get_group_name (const QuoitKuberay *kuberay, uint32_t group);

/**
 * quoit_kuberay_get_group_hosts:
 * @group: below quoit_kuberay_get_n_groups()
 *
 * Returns: its numOfHosts
 */
QUOIT_API int64_t quoit_kuberay_get_group_hosts (const QuoitKuberay *kuberay, uint32_t group);

/**
 * quoit_kuberay_get_group_containers:
 * @group: below quoit_kuberay_get_n_groups()
 *
 * Returns: the number of containers of each of its pods
 */
QUOIT_API uint32_t quoit_kuberay_get_group_containers (const QuoitKuberay *kuberay, uint32_t group);

/**
 * quoit_kuberay_check_group:
 * @group: below quoit_kuberay_get_n_groups()
 * @denial: (out) (nullable) (transfer none): the webhook's message if it denies the cluster because of this group, a
 *   constant; %NULL if it admits the group
 *
 * Runs the TPU webhook's validation of the group: quoit_webhook_check_group(). If the webhook refuses or denies one
 * group, the RayCluster is not created, and no group has pods.
 *
 * Fails with %QUOIT_ERROR_INVALID like that function; @denial is untouched.
 *
 * Returns: true when @denial was set, false on failure
 */
QUOIT_API bool quoit_kuberay_check_group (const QuoitKuberay *kuberay, uint32_t group, const char **denial,
                                          GError **error);

/**
 * quoit_kuberay_set_replicas:
 * @group: below quoit_kuberay_get_n_groups()
 * @replicas: the new number
 *
 * Sets the wanted number of replicas.
 */
QUOIT_API void quoit_kuberay_set_replicas (QuoitKuberay *kuberay, uint32_t group, int32_t replicas);

/**
 * quoit_kuberay_set_bounds:
 * @group: below quoit_kuberay_get_n_groups()
 * @lowest: minReplicas; 0 if it is not set
 * @highest: maxReplicas; 2147483647 if it is not set
 *
 * Sets the bounds of the replicas.
 */
QUOIT_API void quoit_kuberay_set_bounds (QuoitKuberay *kuberay, uint32_t group, int32_t lowest, int32_t highest);

/**
 * quoit_kuberay_suspend_group:
 * @group: below quoit_kuberay_get_n_groups()
 *
 * Suspends the group: the next pass deletes its pods.
 */
QUOIT_API void quoit_kuberay_suspend_group (QuoitKuberay *kuberay, uint32_t group);

/**
 * quoit_kuberay_resume_group:
 * @group: below quoit_kuberay_get_n_groups()
 *
 * Resumes a suspended group: the next pass creates its pods.
 */
QUOIT_API void quoit_kuberay_resume_group (QuoitKuberay *kuberay, uint32_t group);

/**
 * quoit_kuberay_get_n_desired:
 * @group: below quoit_kuberay_get_n_groups()
 *
 * Returns the desired number of pods: the replicas within their bounds, times the hosts of each. It is computed in 32
 * bits like in the operator, so it can wrap below 0. It is 0 while the group is suspended.
 *
 * Returns: the number of pods
 */
QUOIT_API int32_t quoit_kuberay_get_n_desired (const QuoitKuberay *kuberay, uint32_t group);

/**
 * quoit_kuberay_reconcile:
 * @requeued: (out) (nullable) (transfer none): the operator's message if the pass ends early and another pass follows,
 *   valid until the next call that changes @kuberay; %NULL if the pass was complete
 *
 * Runs one pass of the operator over the groups, in their order. A replica with several hosts is handled as one unit:
 *
 * - An incomplete replica is deleted, which ends the pass.
 * - A replica with a failed host is replaced in the same pass, usually with the same index.
 * - A replica with a pod in scaleStrategy.workersToDelete is deleted, which ends the pass.
 *
 * New replicas get the lowest free indices.
 *
 * Fails with %QUOIT_ERROR_INVALID when the groups would have more than 65536 pods together, or the pods more than 256
 * MiB of environment; no pod has changed, and @requeued is untouched.
 *
 * Returns: true when the pass was made, false on failure
 */
QUOIT_API bool quoit_kuberay_reconcile (QuoitKuberay *kuberay, const char **requeued, GError **error);

/**
 * quoit_kuberay_is_deletion_arbitrary:
 *
 * Returns whether the last pass deleted pods that the operator chooses arbitrarily. This model deletes the last ones.
 *
 * Returns: true if it did, else false
 */
QUOIT_API bool quoit_kuberay_is_deletion_arbitrary (const QuoitKuberay *kuberay);

/**
 * quoit_kuberay_get_n_pods:
 *
 * Pods are ordered by group, then by replica index and host index. Pods without these indices are ordered by age.
 *
 * Returns: the number of pods
 */
QUOIT_API uint32_t quoit_kuberay_get_n_pods (const QuoitKuberay *kuberay);

/**
 * quoit_kuberay_get_pod_serial:
 * @pod: below quoit_kuberay_get_n_pods()
 *
 * Returns the pod's number among all pods ever created, from 0. It never changes, unlike the pod's index.
 *
 * Returns: the serial number
 */
QUOIT_API uint64_t quoit_kuberay_get_pod_serial (const QuoitKuberay *kuberay, uint32_t pod);

/**
 * quoit_kuberay_get_pod_group:
 * @pod: below quoit_kuberay_get_n_pods()
 *
 * Returns: the index of its group
 */
QUOIT_API uint32_t quoit_kuberay_get_pod_group (const QuoitKuberay *kuberay, uint32_t pod);

/**
 * quoit_kuberay_get_pod_replica:
 * @pod: below quoit_kuberay_get_n_pods()
 *
 * Returns: its replica index, which a replacement keeps; -1 if it has none
 */
QUOIT_API int64_t quoit_kuberay_get_pod_replica (const QuoitKuberay *kuberay, uint32_t pod);

/**
 * quoit_kuberay_get_pod_host:
 * @pod: below quoit_kuberay_get_n_pods()
 *
 * Returns: its host index in the replica; -1 if it has none, for example in a replica with one host
 */
QUOIT_API int64_t quoit_kuberay_get_pod_host (const QuoitKuberay *kuberay, uint32_t pod);

/**
 * quoit_kuberay_get_pod_incarnation:
 * @pod: below quoit_kuberay_get_n_pods()
 *
 * Returns the number of the pod's replica among all replicas with several hosts ever created, from 0. In replica names,
 * this number in angle brackets replaces KubeRay's five random characters: "GROUP-<0>".
 *
 * Returns: the number; -1 if the replica has no name, for example a replica with one host
 */
QUOIT_API int64_t quoit_kuberay_get_pod_incarnation (const QuoitKuberay *kuberay, uint32_t pod);

/**
 * quoit_kuberay_dup_pod_labels:
 * @pod: below quoit_kuberay_get_n_pods()
 *
 * Returns the labels that KubeRay sets, without those that only the template has.
 *
 * Returns: (transfer full) (array zero-terminated=1): "KEY=VALUE", sorted by key; g_strfreev() them
 */
QUOIT_API char **quoit_kuberay_dup_pod_labels (const QuoitKuberay *kuberay, uint32_t pod);

/**
 * quoit_kuberay_mutate_pod:
 * @pod: below quoit_kuberay_get_n_pods()
 *
 * Returns what the TPU webhook wrote into the pod at its creation. If the pod lacks its replica index or its host
 * index, the webhook numbers it by counting the pods that existed then; see quoit_webhook_mutate().
 *
 * Fails with %QUOIT_ERROR_INVALID like that function, which means that the pod was not admitted.
 *
 * Returns: (transfer full): the patch; quoit_webhook_patch_free() it. %NULL on failure
 */
QUOIT_API QuoitWebhookPatch *quoit_kuberay_mutate_pod (const QuoitKuberay *kuberay, uint32_t pod, GError **error);

/**
 * quoit_kuberay_admit_pod:
 * @pod: below quoit_kuberay_get_n_pods()
 *
 * Returns the pod after the TPU webhook has changed it, with the variables that processes get. It has KubeRay's labels,
 * the label that the webhook can add, and the variables of its containers in this order: those of envFrom, those of the
 * template, those of quoit_kuberay_mutate_pod(). $(NAME) is replaced by the value of an earlier variable like in
 * Kubernetes, and stays if that value is not known.
 *
 * Fails like quoit_kuberay_mutate_pod(), and with %QUOIT_ERROR_INVALID when the variables of a container have more than
 * 6 MiB.
 *
 * Returns: (transfer full): the pod; quoit_webhook_pod_free() it. %NULL on failure
 */
QUOIT_API QuoitWebhookPod *quoit_kuberay_admit_pod (const QuoitKuberay *kuberay, uint32_t pod, GError **error);

/**
 * quoit_kuberay_mark_pod:
 * @pod: below quoit_kuberay_get_n_pods()
 * @event: what happens to it
 *
 * Records an event for the next pass. %QUOIT_KUBERAY_EVENT_GONE removes the pod immediately; the pods after it move up.
 */
QUOIT_API void quoit_kuberay_mark_pod (QuoitKuberay *kuberay, uint32_t pod, QuoitKuberayEvent event);

/**
 * quoit_kuberay_check_names:
 *
 * Checks that the hosts of the groups with TPUs can find each other: the headless service has the name that the TPU
 * webhook uses, and the host names of all wanted replicas are DNS labels of at most 63 bytes.
 *
 * Fails with %QUOIT_ERROR_INVALID when a name does not fit; the message has the name and how much shorter it must be.
 *
 * Returns: true if the hosts can find each other, false on failure
 */
QUOIT_API bool quoit_kuberay_check_names (const QuoitKuberay *kuberay, GError **error);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitKuberay, quoit_kuberay_free)

G_END_DECLS

#endif

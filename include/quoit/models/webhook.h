/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the TPU webhook of GKE's KubeRay (kuberay-tpu-webhook ef658db) says of a worker group, and what it writes into
 * the pods of one: names, places, environment. Pods are values that the caller fills in; nothing is asked of a cluster.
 * What the webhook accepts though it means nothing is accepted here too: quoit_check_manifest() says what is wrong with
 * it.
 */
#ifndef QUOIT_WEBHOOK_H
#define QUOIT_WEBHOOK_H

#include <quoit/error.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitWebhookPod:
 *
 * A pod, or the template of a worker group, with what the webhook looks at.
 *
 * Since: 0.1
 */
typedef struct _QuoitWebhookPod QuoitWebhookPod;

/**
 * QuoitWebhookPatch:
 *
 * What the webhook writes into a pod. Immutable.
 *
 * Since: 0.1
 */
typedef struct _QuoitWebhookPatch QuoitWebhookPatch;

/**
 * QuoitWebhookTerm:
 *
 * The terms of the affinity that the webhook requires, all with the topology key "cloud.google.com/gke-nodepool".
 *
 * %QUOIT_WEBHOOK_TERM_TOGETHER: the node pool of the pods of the same slice.
 *
 * %QUOIT_WEBHOOK_TERM_APART: not one with pods of another slice of the cluster.
 *
 * %QUOIT_WEBHOOK_TERM_OTHERS: nor one with slices of other clusters, in the namespaces of the next.
 *
 * %QUOIT_WEBHOOK_TERM_NAMESPACES: where the term before looks.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_WEBHOOK_TERM_TOGETHER = 0,
  QUOIT_WEBHOOK_TERM_APART = 1,
  QUOIT_WEBHOOK_TERM_OTHERS = 2,
  QUOIT_WEBHOOK_TERM_NAMESPACES = 3
} QuoitWebhookTerm;

/**
 * quoit_webhook_pod_new:
 *
 * Returns: (transfer full): a pod without anything; quoit_webhook_pod_free() it
 * Since: 0.1
 */
QUOIT_API QuoitWebhookPod *quoit_webhook_pod_new (void);

/**
 * quoit_webhook_pod_free:
 * @pod: (nullable) (transfer full): a pod
 *
 * Since: 0.1
 */
QUOIT_API void quoit_webhook_pod_free (QuoitWebhookPod *pod);

/**
 * quoit_webhook_pod_set_label:
 * @pod: a pod
 * @key: "ray.io/cluster", "ray.io/group"...
 * @value: (nullable): %NULL: it has none
 *
 * Since: 0.1
 */
QUOIT_API void quoit_webhook_pod_set_label (QuoitWebhookPod *pod, const char *key, const char *value);

/**
 * quoit_webhook_pod_set_selector:
 * @pod: a pod
 * @key: of its node selector: "cloud.google.com/gke-tpu-topology"...
 * @value: (nullable): %NULL: it has none
 *
 * Since: 0.1
 */
QUOIT_API void quoit_webhook_pod_set_selector (QuoitWebhookPod *pod, const char *key, const char *value);

/**
 * quoit_webhook_pod_add_container:
 * @pod: a pod
 * @request: (nullable): google.com/tpu in its requests, "4"; %NULL without such a request
 * @limit: (nullable): likewise in its limits
 * @error: (out) (optional): set on failure
 *
 * Adds a container behind the others.
 *
 * Fails with %QUOIT_ERROR_INVALID when a text is no quantity of Kubernetes's, or a negative one.
 *
 * Returns: 1 when it was added, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_webhook_pod_add_container (QuoitWebhookPod *pod, const char *request, const char *limit,
                                               GError **error);

/**
 * quoit_webhook_pod_add_variable:
 * @pod: a pod that has a container
 * @name: of the variable
 * @value: (nullable): %NULL where it has a valueFrom instead
 *
 * Adds a variable behind those that the last container has; a name may be there twice.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_webhook_pod_add_variable (QuoitWebhookPod *pod, const char *name, const char *value);

/**
 * quoit_webhook_check_group:
 * @pod: the template of the group's pods
 * @n_hosts: its numOfHosts
 * @denial: (out) (nullable) (transfer none): what the webhook says when it does not admit the cluster, a constant;
 * %NULL when it has nothing against the group
 * @error: (out) (optional): set on failure
 *
 * What the webhook says of one worker group of a RayCluster; of several the first that it refuses or denies decides. It
 * compares @n_hosts with the chips of the topology over those of a pod, without their rest and in 32 bits.
 *
 * Fails with %QUOIT_ERROR_INVALID when the webhook answers with an error, which Kubernetes shows as "Failed to validate
 * RayCluster": numOfHosts, containers or the topology are missing, or a number of the topology cannot be read; @denial
 * is untouched.
 *
 * Returns: 1 when @denial was set, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_webhook_check_group (const QuoitWebhookPod *pod, int64_t n_hosts, const char **denial,
                                         GError **error);

/**
 * quoit_webhook_mutate:
 * @pod: a pod that is to be created
 * @others: (nullable) (array zero-terminated=1): the pods of its group that there are, as they are after the webhook
 * has seen them, without those that are being deleted; they matter where KubeRay has given @pod no indices
 * @error: (out) (optional): set on failure
 *
 * What the webhook writes into @pod. A topology that it cannot read makes a slice of one host, and indices are taken
 * from labels without a look at their range.
 *
 * Fails with %QUOIT_ERROR_INVALID when the webhook answers with an error, which Kubernetes shows as "Failed to mutate
 * Pod": labels, containers or the topology are missing, an index is no number, or the worker ids of @others are missing
 * or there twice; and, other than the webhook, for more than 262144 hosts.
 *
 * Returns: (transfer full): the patch; quoit_webhook_patch_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitWebhookPatch *quoit_webhook_mutate (const QuoitWebhookPod *pod, const QuoitWebhookPod *const *others,
                                                   GError **error);

/**
 * quoit_webhook_pod_apply:
 * @pod: the pod that @patch was made for
 * @patch: what to write into it
 *
 * Makes @pod what it is once the webhook has seen it: its labels and variables.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_webhook_pod_apply (QuoitWebhookPod *pod, const QuoitWebhookPatch *patch);

/**
 * quoit_webhook_pod_dup_labels:
 * @pod: a pod
 *
 * Returns: (transfer full) (array zero-terminated=1): "KEY=VALUE", by key; g_strfreev() them
 * Since: 0.1
 */
QUOIT_API char **quoit_webhook_pod_dup_labels (const QuoitWebhookPod *pod);

/**
 * quoit_webhook_pod_get_n_containers:
 * @pod: a pod
 *
 * Returns: its containers
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_webhook_pod_get_n_containers (const QuoitWebhookPod *pod);

/**
 * quoit_webhook_pod_get_n_variables:
 * @pod: a pod
 * @container: from 0
 *
 * Returns: the variables of the container, with repetitions; 0 after the last container
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_webhook_pod_get_n_variables (const QuoitWebhookPod *pod, uint32_t container);

/**
 * quoit_webhook_pod_get_variable_name:
 * @pod: a pod
 * @container: from 0
 * @variable: below quoit_webhook_pod_get_n_variables()
 *
 * Returns: (transfer none): the name, valid until @pod changes
 * Since: 0.1
 */
QUOIT_API const char *quoit_webhook_pod_get_variable_name (const QuoitWebhookPod *pod, uint32_t container,
                                                           uint32_t variable);

/**
 * quoit_webhook_pod_get_variable_value:
 * @pod: a pod
 * @container: from 0
 * @variable: below quoit_webhook_pod_get_n_variables()
 *
 * The value as it is written: Kubernetes would expand $(NAME) in it.
 *
 * Returns: (transfer none) (nullable): the value, valid until @pod changes; %NULL where it comes from elsewhere
 * Since: 0.1
 */
QUOIT_API const char *quoit_webhook_pod_get_variable_value (const QuoitWebhookPod *pod, uint32_t container,
                                                            uint32_t variable);

/**
 * quoit_webhook_pod_get_variable_field:
 * @pod: a pod
 * @container: from 0
 * @variable: below quoit_webhook_pod_get_n_variables()
 *
 * Returns: (transfer none) (nullable): the field of the pod that it is, where the webhook wrote it; %NULL for others
 * Since: 0.1
 */
QUOIT_API const char *quoit_webhook_pod_get_variable_field (const QuoitWebhookPod *pod, uint32_t container,
                                                            uint32_t variable);

/**
 * quoit_webhook_pod_is_variable_written:
 * @pod: a pod
 * @container: from 0
 * @variable: below quoit_webhook_pod_get_n_variables()
 *
 * Returns: 1 when quoit_webhook_pod_apply() has added it, 0 for one of the container's own
 * Since: 0.1
 */
QUOIT_API int quoit_webhook_pod_is_variable_written (const QuoitWebhookPod *pod, uint32_t container, uint32_t variable);

/**
 * quoit_webhook_pod_is_variable_seen:
 * @pod: a pod
 * @container: from 0
 * @variable: below quoit_webhook_pod_get_n_variables()
 *
 * Whether a process of the container gets this one: of several of a name Kubernetes takes the last, also where that is
 * empty. The webhook looks at the first that has a value, and so may leave what no process gets.
 *
 * Returns: 1 when it does, 0 where another of its name comes behind it
 * Since: 0.1
 */
QUOIT_API int quoit_webhook_pod_is_variable_seen (const QuoitWebhookPod *pod, uint32_t container, uint32_t variable);

/**
 * quoit_webhook_patch_free:
 * @patch: (nullable) (transfer full): a patch
 *
 * Frees @patch and all that was borrowed from it.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_webhook_patch_free (QuoitWebhookPatch *patch);

/**
 * quoit_webhook_patch_is_empty:
 * @patch: a patch
 *
 * Returns: 1 when the pod asks for no TPUs and stays as it is, else 0
 * Since: 0.1
 */
QUOIT_API int quoit_webhook_patch_is_empty (const QuoitWebhookPatch *patch);

/**
 * quoit_webhook_patch_get_hostname:
 * @patch: a patch
 *
 * The pod's host name, GROUP-REPLICA-HOST, of any length.
 *
 * Returns: (transfer none) (nullable): the name, valid until @patch is freed; %NULL where the slice has one host
 * Since: 0.1
 */
QUOIT_API const char *quoit_webhook_patch_get_hostname (const QuoitWebhookPatch *patch);

/**
 * quoit_webhook_patch_get_subdomain:
 * @patch: a patch
 *
 * The headless service that makes the host name one of DNS. KubeRay uses another name for a long cluster name.
 *
 * Returns: (transfer none) (nullable): the service, valid until @patch is freed; %NULL where the slice has one host
 * Since: 0.1
 */
QUOIT_API const char *quoit_webhook_patch_get_subdomain (const QuoitWebhookPatch *patch);

/**
 * quoit_webhook_patch_get_replica_label:
 * @patch: a patch
 *
 * The label "replicaIndex" that is added where KubeRay has given no indices.
 *
 * Returns: (transfer none) (nullable): "GROUP-REPLICA", valid until @patch is freed
 * Since: 0.1
 */
QUOIT_API const char *quoit_webhook_patch_get_replica_label (const QuoitWebhookPatch *patch);

/**
 * quoit_webhook_patch_get_affinity:
 * @patch: a patch
 * @term: of the affinity
 * @requirement: from 0
 *
 * A requirement on the labels of pods, or of namespaces: key, operator and values with blanks between.
 *
 * Returns: (transfer none) (nullable): "ray.io/cluster In c", valid until @patch is freed; %NULL past the last
 * Since: 0.1
 */
QUOIT_API const char *quoit_webhook_patch_get_affinity (const QuoitWebhookPatch *patch, QuoitWebhookTerm term,
                                                        uint32_t requirement);

/**
 * quoit_webhook_patch_get_n_variables:
 * @patch: a patch
 * @container: from 0, in the order of the pod
 *
 * Returns: the variables that are added behind those that the container has
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_webhook_patch_get_n_variables (const QuoitWebhookPatch *patch, uint32_t container);

/**
 * quoit_webhook_patch_get_variable_name:
 * @patch: a patch
 * @container: from 0
 * @variable: below quoit_webhook_patch_get_n_variables()
 *
 * Returns: (transfer none): the name, valid until @patch is freed
 * Since: 0.1
 */
QUOIT_API const char *quoit_webhook_patch_get_variable_name (const QuoitWebhookPatch *patch, uint32_t container,
                                                             uint32_t variable);

/**
 * quoit_webhook_patch_get_variable_value:
 * @patch: a patch
 * @container: from 0
 * @variable: below quoit_webhook_patch_get_n_variables()
 *
 * Returns: (transfer none) (nullable): the value, valid until @patch is freed; %NULL where it comes from a field
 * Since: 0.1
 */
QUOIT_API const char *quoit_webhook_patch_get_variable_value (const QuoitWebhookPatch *patch, uint32_t container,
                                                              uint32_t variable);

/**
 * quoit_webhook_patch_get_variable_field:
 * @patch: a patch
 * @container: from 0
 * @variable: below quoit_webhook_patch_get_n_variables()
 *
 * Returns: (transfer none) (nullable): the field of the pod that it is, "status.hostIP"; %NULL where it has a value
 * Since: 0.1
 */
QUOIT_API const char *quoit_webhook_patch_get_variable_field (const QuoitWebhookPatch *patch, uint32_t container,
                                                              uint32_t variable);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitWebhookPod, quoit_webhook_pod_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitWebhookPatch, quoit_webhook_patch_free)

G_END_DECLS

#endif

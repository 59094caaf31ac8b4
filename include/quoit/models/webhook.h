/* SPDX-License-Identifier: Apache-2.0 */
/* The TPU webhook of GKE's KubeRay (kuberay-tpu-webhook ef658db), without a cluster: its validation of worker groups,
 * and the names, indices and variables that it writes into pods.
 *
 * The caller describes pods as values. The functions accept what the webhook accepts, even if it cannot work; use
 * quoit_check_manifest() to find errors. */
#ifndef QUOIT_WEBHOOK_H
#define QUOIT_WEBHOOK_H

#include <stdbool.h>

#include <quoit/error.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitWebhookPod:
 *
 * A pod, or the pod template of a worker group, with the parts that the webhook reads. Mutable: use it in one thread at
 * a time.
 *
 * Container indices are in the order of quoit_webhook_pod_add_container(), and variable indices in the order of the
 * container's environment.
 */
typedef struct _QuoitWebhookPod QuoitWebhookPod;

/**
 * QuoitWebhookPatch:
 *
 * The changes that the webhook makes to a pod. Immutable.
 */
typedef struct _QuoitWebhookPatch QuoitWebhookPatch;

/**
 * QuoitWebhookTerm:
 *
 * A term of the pod affinity that the webhook requires. All terms have the topology key
 * "cloud.google.com/gke-nodepool".
 *
 * - %QUOIT_WEBHOOK_TERM_TOGETHER: the pod runs in the node pool of the other pods of its slice.
 * - %QUOIT_WEBHOOK_TERM_APART: the pod does not run in a node pool with pods of another slice of its cluster.
 * - %QUOIT_WEBHOOK_TERM_OTHERS: the pod does not run in a node pool with slices of other clusters.
 * - %QUOIT_WEBHOOK_TERM_NAMESPACES: the namespaces to which %QUOIT_WEBHOOK_TERM_OTHERS applies.
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
 * Creates a pod without labels, node selectors and containers.
 *
 * Returns: (transfer full): the pod; quoit_webhook_pod_free() it
 */
QUOIT_API QuoitWebhookPod *quoit_webhook_pod_new (void);

/**
 * quoit_webhook_pod_free:
 * @pod: (nullable) (transfer full): the pod
 */
QUOIT_API void quoit_webhook_pod_free (QuoitWebhookPod *pod);

/**
 * quoit_webhook_pod_set_label:
 * @key: "ray.io/cluster", "ray.io/group"...
 * @value: (nullable): the value; %NULL: the pod does not have the label
 *
 * Sets or removes a label.
 */
QUOIT_API void quoit_webhook_pod_set_label (QuoitWebhookPod *pod, const char *key, const char *value);

/**
 * quoit_webhook_pod_set_selector:
 * @key: "cloud.google.com/gke-tpu-topology"...
 * @value: (nullable): the value; %NULL: the pod does not have the selector
 *
 * Sets or removes a node selector.
 */
QUOIT_API void quoit_webhook_pod_set_selector (QuoitWebhookPod *pod, const char *key, const char *value);

/**
 * quoit_webhook_pod_add_container:
 * @request: (nullable): the amount of google.com/tpu in its requests, "4"; %NULL: none
 * @limit: (nullable): the amount of google.com/tpu in its limits; %NULL: none
 *
 * Adds a container after the others.
 *
 * Fails with %QUOIT_ERROR_INVALID when a text is not a Kubernetes quantity, or is negative.
 *
 * Returns: true on success, false on failure
 */
QUOIT_API bool quoit_webhook_pod_add_container (QuoitWebhookPod *pod, const char *request, const char *limit,
                                                GError **error);

/**
 * quoit_webhook_pod_add_variable:
 * @pod: a pod that has a container
 * @name: the name; it can be repeated
 * @value: (nullable): the value; %NULL if the variable has a valueFrom instead
 *
 * Adds a variable to the end of the last container's environment. The pod must have a container.
 */
QUOIT_API void quoit_webhook_pod_add_variable (QuoitWebhookPod *pod, const char *name, const char *value);

/**
 * quoit_webhook_check_group:
 * @pod: the template of the group's pods
 * @n_hosts: numOfHosts
 * @denial: (out) (nullable) (transfer none): the webhook's message if it denies the cluster because of this group, a
 *   constant; %NULL if it admits the group
 *
 * Runs the webhook's validation of one worker group of a RayCluster. The webhook checks the groups in order and stops
 * at the first that it refuses or denies. It compares @n_hosts with the chips of the topology divided by the chips of a
 * pod, rounded down, in 32 bits.
 *
 * Fails with %QUOIT_ERROR_INVALID when the webhook answers with an error, which Kubernetes shows as "Failed to validate
 * RayCluster": numOfHosts, containers or the topology are missing, or a number of the topology cannot be read; @denial
 * is untouched.
 *
 * Returns: true when @denial was set, false on failure
 */
QUOIT_API bool quoit_webhook_check_group (const QuoitWebhookPod *pod, int64_t n_hosts, const char **denial,
                                          GError **error);

/**
 * quoit_webhook_mutate:
 * @pod: the pod to be created
 * @others: (nullable) (array zero-terminated=1): the existing pods of its group after their mutation, without those
 *   that are being deleted. They are used only if KubeRay has given @pod no indices
 *
 * Computes the changes that the webhook makes to a pod. A topology that it cannot read counts as a slice of one host,
 * and indices in labels are not checked for their range.
 *
 * Fails with %QUOIT_ERROR_INVALID when the webhook answers with an error, which Kubernetes shows as "Failed to mutate
 * Pod": labels, containers or the topology are missing, an index is not a number, or the worker ids of @others are
 * missing or repeated. Unlike the webhook, it also fails for more than 262144 hosts.
 *
 * Returns: (transfer full): the patch; quoit_webhook_patch_free() it
 */
QUOIT_API QuoitWebhookPatch *quoit_webhook_mutate (const QuoitWebhookPod *pod, const QuoitWebhookPod *const *others,
                                                   GError **error);

/**
 * quoit_webhook_pod_apply:
 * @pod: the pod that @patch was made for
 * @patch: the patch of quoit_webhook_mutate() for this pod
 *
 * Applies the labels and variables of @patch to the pod.
 */
QUOIT_API void quoit_webhook_pod_apply (QuoitWebhookPod *pod, const QuoitWebhookPatch *patch);

/**
 * quoit_webhook_pod_dup_labels:
 *
 * Returns: (transfer full) (array zero-terminated=1): "KEY=VALUE", sorted by key; g_strfreev() them
 */
QUOIT_API char **quoit_webhook_pod_dup_labels (const QuoitWebhookPod *pod);

/**
 * quoit_webhook_pod_get_n_containers:
 *
 * Returns: the number of containers
 */
QUOIT_API uint32_t quoit_webhook_pod_get_n_containers (const QuoitWebhookPod *pod);

/**
 * quoit_webhook_pod_get_n_variables:
 * @container: index of a container
 *
 * Returns: the number of variables of the container, including repeated names; 0 if there is no such container
 */
QUOIT_API uint32_t quoit_webhook_pod_get_n_variables (const QuoitWebhookPod *pod, uint32_t container);

/**
 * quoit_webhook_pod_get_variable_name:
 * @container: index of a container
 * @variable: below quoit_webhook_pod_get_n_variables()
 *
 * Returns: (transfer none): the name, valid until @pod changes
 */
QUOIT_API const char *quoit_webhook_pod_get_variable_name (const QuoitWebhookPod *pod, uint32_t container,
                                                           uint32_t variable);

/**
 * quoit_webhook_pod_get_variable_value:
 * @container: index of a container
 * @variable: below quoit_webhook_pod_get_n_variables()
 *
 * Returns the value as it was set. Kubernetes would expand $(NAME); only pods of quoit_kuberay_admit_pod() have
 * expanded values.
 *
 * Returns: (transfer none) (nullable): the value, valid until @pod changes; %NULL if the variable has a valueFrom
 */
QUOIT_API const char *quoit_webhook_pod_get_variable_value (const QuoitWebhookPod *pod, uint32_t container,
                                                            uint32_t variable);

/**
 * quoit_webhook_pod_get_variable_field:
 * @container: index of a container
 * @variable: below quoit_webhook_pod_get_n_variables()
 *
 * Returns: (transfer none) (nullable): the path of the pod's field that is the value of a variable of the webhook;
 *   %NULL for other variables
 */
QUOIT_API const char *quoit_webhook_pod_get_variable_field (const QuoitWebhookPod *pod, uint32_t container,
                                                            uint32_t variable);

/**
 * quoit_webhook_pod_is_variable_written:
 * @container: index of a container
 * @variable: below quoit_webhook_pod_get_n_variables()
 *
 * Returns: true if quoit_webhook_pod_apply() added the variable, false if the container had it before
 */
QUOIT_API bool quoit_webhook_pod_is_variable_written (const QuoitWebhookPod *pod, uint32_t container,
                                                      uint32_t variable);

/**
 * quoit_webhook_pod_is_variable_effective:
 * @container: index of a container
 * @variable: below quoit_webhook_pod_get_n_variables()
 *
 * Returns whether processes get this variable. If several variables have the same name, Kubernetes uses the last one,
 * even if it is empty. The webhook checks only the first one with a value, so it can add variables that have no effect.
 *
 * Returns: true if processes get it, false if a later variable has the same name
 */
QUOIT_API bool quoit_webhook_pod_is_variable_effective (const QuoitWebhookPod *pod, uint32_t container,
                                                        uint32_t variable);

/**
 * quoit_webhook_patch_free:
 * @patch: (nullable) (transfer full): the patch
 *
 * Frees @patch and everything borrowed from it.
 */
QUOIT_API void quoit_webhook_patch_free (QuoitWebhookPatch *patch);

/**
 * quoit_webhook_patch_is_empty:
 *
 * Returns: true if the webhook does not change the pod, because it requests no TPUs; else false
 */
QUOIT_API bool quoit_webhook_patch_is_empty (const QuoitWebhookPatch *patch);

/**
 * quoit_webhook_patch_get_hostname:
 *
 * Returns the host name of the pod, GROUP-REPLICA-HOST. Its length is not limited.
 *
 * Returns: (transfer none) (nullable): the name, valid until @patch is freed; %NULL if the slice has one host
 */
QUOIT_API const char *quoit_webhook_patch_get_hostname (const QuoitWebhookPatch *patch);

/**
 * quoit_webhook_patch_get_subdomain:
 *
 * Returns the name of the headless service that makes the host name resolvable in DNS. For a long cluster name, the
 * service that KubeRay creates has another name.
 *
 * Returns: (transfer none) (nullable): the service, valid until @patch is freed; %NULL if the slice has one host
 */
QUOIT_API const char *quoit_webhook_patch_get_subdomain (const QuoitWebhookPatch *patch);

/**
 * quoit_webhook_patch_get_replica_label:
 *
 * Returns the value of the label "replicaIndex", which the webhook adds if KubeRay has given no indices.
 *
 * Returns: (transfer none) (nullable): "GROUP-REPLICA", valid until @patch is freed; %NULL if it adds no label
 */
QUOIT_API const char *quoit_webhook_patch_get_replica_label (const QuoitWebhookPatch *patch);

/**
 * quoit_webhook_patch_get_affinity:
 * @term: a term of the affinity
 * @requirement: index of a requirement, from 0
 *
 * Returns a requirement on the labels of pods or namespaces: key, operator and values, separated by blanks.
 *
 * Returns: (transfer none) (nullable): "ray.io/cluster In c", valid until @patch is freed; %NULL after the last
 */
QUOIT_API const char *quoit_webhook_patch_get_affinity (const QuoitWebhookPatch *patch, QuoitWebhookTerm term,
                                                        uint32_t requirement);

/**
 * quoit_webhook_patch_get_n_variables:
 * @container: index of a container of the pod
 *
 * Returns: the number of variables that are added to the end of the container's environment
 */
QUOIT_API uint32_t quoit_webhook_patch_get_n_variables (const QuoitWebhookPatch *patch, uint32_t container);

/**
 * quoit_webhook_patch_get_variable_name:
 * @container: index of a container
 * @variable: below quoit_webhook_patch_get_n_variables()
 *
 * Returns: (transfer none): the name, valid until @patch is freed
 */
QUOIT_API const char *quoit_webhook_patch_get_variable_name (const QuoitWebhookPatch *patch, uint32_t container,
                                                             uint32_t variable);

/**
 * quoit_webhook_patch_get_variable_value:
 * @container: index of a container
 * @variable: below quoit_webhook_patch_get_n_variables()
 *
 * Returns: (transfer none) (nullable): the value, valid until @patch is freed; %NULL if the value is a field of the pod
 */
QUOIT_API const char *quoit_webhook_patch_get_variable_value (const QuoitWebhookPatch *patch, uint32_t container,
                                                              uint32_t variable);

/**
 * quoit_webhook_patch_get_variable_field:
 * @container: index of a container
 * @variable: below quoit_webhook_patch_get_n_variables()
 *
 * Returns: (transfer none) (nullable): the path of the field of the pod, "status.hostIP"; %NULL if the variable has a
 *   value
 */
QUOIT_API const char *quoit_webhook_patch_get_variable_field (const QuoitWebhookPatch *patch, uint32_t container,
                                                              uint32_t variable);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitWebhookPod, quoit_webhook_pod_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitWebhookPatch, quoit_webhook_patch_free)

G_END_DECLS

#endif

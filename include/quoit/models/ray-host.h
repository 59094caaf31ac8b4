/* SPDX-License-Identifier: Apache-2.0 */
/* A host with TPU chips as Ray 2.60 sees it: its identity, the resources of its node, the chips that a process can
 * see, and the names that cluster launchers use. The rules of quoit/models/ray-tpu.h apply here too. Nothing is read
 * from the calling process: the environment and the answers of a metadata server are arguments, "NAME=value" texts
 * that end with %NULL. */
#ifndef QUOIT_RAY_HOST_H
#define QUOIT_RAY_HOST_H

#include <stdbool.h>

#include <quoit/models/ray-labels.h>
#include <quoit/models/ray-tpu.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitRayHost:
 *
 * The identity of a TPU host in Ray. Unknown values are %NULL. Immutable; any thread can read it.
 */
typedef struct _QuoitRayHost QuoitRayHost;

/**
 * quoit_ray_host_new:
 * @env: (nullable) (array zero-terminated=1): environment of the host: TPU_ACCELERATOR_TYPE, TPU_NAME, TPU_WORKER_ID,
 *   TPU_TOPOLOGY
 * @metadata: (nullable) (array zero-terminated=1): "accelerator-type=v4-16", "instance-id=...",
 *   "agent-worker-number=0", "tpu-env=..."; %NULL if no metadata server answers
 *
 * Detects the identity of a host, like Ray does on GKE and GCE. A variable that is set and not empty overrides the
 * metadata, even if its value is not valid.
 *
 * Returns: (transfer full): the host; quoit_ray_host_free() it
 */
QUOIT_API QuoitRayHost *quoit_ray_host_new (const char *const *env, const char *const *metadata);

/**
 * quoit_ray_host_free:
 * @host: (nullable) (transfer full): a host
 *
 * Frees @host and everything borrowed from it.
 */
QUOIT_API void quoit_ray_host_free (QuoitRayHost *host);

/**
 * quoit_ray_host_get_pod_type:
 *
 * Returns the pod type of its slice in Ray's spelling, if the detected type passes quoit_ray_type_is_valid().
 *
 * Returns: (transfer none) (nullable): "v6e-16", valid until @host is freed
 */
QUOIT_API const char *quoit_ray_host_get_pod_type (const QuoitRayHost *host);

/**
 * quoit_ray_host_get_slice_name:
 *
 * Returns the name of its slice, unchanged.
 *
 * Returns: (transfer none) (nullable): the name, valid until @host is freed
 */
QUOIT_API const char *quoit_ray_host_get_slice_name (const QuoitRayHost *host);

/**
 * quoit_ray_host_get_worker_id:
 *
 * Returns its number in the slice, if Python's int() can read it. It is text because it can have any length and can be
 * negative.
 *
 * Returns: (transfer none) (nullable): "0", without blanks or leading zeros, valid until @host is freed
 */
QUOIT_API const char *quoit_ray_host_get_worker_id (const QuoitRayHost *host);

/**
 * quoit_ray_host_get_topology:
 *
 * Returns the topology of its slice, stripped and in lower case. It is not checked and can be empty.
 *
 * Returns: (transfer none) (nullable): "4x4", valid until @host is freed
 */
QUOIT_API const char *quoit_ray_host_get_topology (const QuoitRayHost *host);

/**
 * quoit_ray_host_get_accelerator_type:
 *
 * Returns the generation of its chips, derived from the pod type.
 *
 * Returns: (transfer none) (nullable): "TPU-V6E", valid until @host is freed
 */
QUOIT_API const char *quoit_ray_host_get_accelerator_type (const QuoitRayHost *host);

/**
 * quoit_ray_host_get_resources:
 *
 * Returns the resources that the host offers in addition to chips if slice, worker id and pod type are known: 1 of the
 * resource named after its slice and, on worker 0, 1 of the head resource, "TPU-v6e-16-head".
 *
 * Returns: (transfer none) (nullable): the resources, valid until @host is freed
 */
QUOIT_API const QuoitRayResources *quoit_ray_host_get_resources (const QuoitRayHost *host);

/**
 * quoit_ray_host_get_labels:
 *
 * Returns the known values as labels: ray.io/tpu-slice-name, ray.io/tpu-worker-id, ray.io/tpu-topology,
 * ray.io/tpu-pod-type.
 *
 * Returns: (transfer none): the labels, valid until @host is freed
 */
QUOIT_API const QuoitRayLabels *quoit_ray_host_get_labels (const QuoitRayHost *host);

/**
 * quoit_ray_pod_workers:
 * @pod_type: (nullable): pod type of a host, "v4-16"
 * @n_chips: the chips of this host
 * @n_workers: (out): the number of hosts of the slice; -1 if @n_chips is 0 or less, where Ray returns no number
 *
 * Computes the number of hosts like this one in a slice, rounded up.
 *
 * Fails with %QUOIT_ERROR_INVALID when @pod_type is %NULL or does not begin with one of Ray's generations, its number
 * of cores cannot be read, or the result exceeds 64 bits; @n_workers is untouched.
 *
 * Returns: true if @n_workers was set, false on failure
 */
QUOIT_API bool quoit_ray_pod_workers (const char *pod_type, int64_t n_chips, int64_t *n_workers, GError **error);

/**
 * QuoitRayNode:
 *
 * The resources and labels of a Ray node. Immutable; any thread can read it.
 */
typedef struct _QuoitRayNode QuoitRayNode;

/**
 * quoit_ray_node_new:
 * @address: address of the node; it becomes the resource "node:ADDRESS"
 * @env: (nullable) (array zero-terminated=1): environment of the host
 * @metadata: (nullable) (array zero-terminated=1): as for quoit_ray_host_new()
 * @predefined: (nullable): the given amounts of CPU, GPU, memory and object_store_memory; Ray detects the missing ones
 * @custom: (nullable): the other given amounts, including TPU
 * @labels: (nullable): the given labels; not checked
 * @n_chips: the number of chips that Ray would detect on the host
 *
 * Computes the resources and labels of a worker node like its raylet does. Given values are those of `ray start`. A
 * node is a TPU host if its amount of TPU is more than 0. If TPU is not given, it is the number of detected chips, but
 * at most the number of chips in TPU_VISIBLE_CHIPS. Resources with amount 0 are omitted. If the host has other
 * accelerators too, Ray can choose those.
 *
 * If several places have a value for the same resource or label, the first of these is used:
 *
 * - for the resource named after the slice, and the head resource: the values that Ray detects;
 * - RAY_OVERRIDE_RESOURCES and RAY_OVERRIDE_LABELS;
 * - the given values;
 * - the labels that Ray detects.
 *
 * Fails with %QUOIT_ERROR_INVALID when an amount is not a whole number from 0 to 1e14, TPU is more than the visible
 * chips, a variable cannot be read, or a resource has the name of Ray's head node. Unlike Ray, it also fails for a
 * label in RAY_OVERRIDE_LABELS that is not text, and for any resource in RAY_OVERRIDE_RESOURCES that is not a number.
 *
 * Returns: (transfer full): the node; quoit_ray_node_free() it
 */
QUOIT_API QuoitRayNode *quoit_ray_node_new (const char *address, const char *const *env, const char *const *metadata,
                                            const QuoitRayResources *predefined, const QuoitRayResources *custom,
                                            const QuoitRayLabels *labels, int64_t n_chips, GError **error);

/**
 * quoit_ray_node_free:
 * @node: (nullable) (transfer full): a node
 *
 * Frees @node and everything borrowed from it.
 */
QUOIT_API void quoit_ray_node_free (QuoitRayNode *node);

/**
 * quoit_ray_node_get_resources:
 *
 * Returns: (transfer none): its resources, valid until @node is freed
 */
QUOIT_API const QuoitRayResources *quoit_ray_node_get_resources (const QuoitRayNode *node);

/**
 * quoit_ray_node_get_labels:
 *
 * Returns: (transfer none): its labels, valid until @node is freed
 */
QUOIT_API const QuoitRayLabels *quoit_ray_node_get_labels (const QuoitRayNode *node);

/**
 * quoit_ray_visible_ids:
 * @env: (nullable) (array zero-terminated=1): environment of a process
 *
 * Returns the ids that TPU_VISIBLE_CHIPS gives to a process: the parts of its value between commas, unchanged. If
 * RAY_TPU_RESOURCE_PER_CHIP is 2 or more, each chip has that many ids.
 *
 * Fails with %QUOIT_ERROR_INVALID when RAY_TPU_RESOURCE_PER_CHIP or, if it is set, a chip cannot be read, or when there
 * are more than 65536 ids.
 *
 * Returns: (transfer full) (nullable): the ids; g_strfreev() them. %NULL on failure, and without an error if
 *   TPU_VISIBLE_CHIPS is not set
 */
QUOIT_API char **quoit_ray_visible_ids (const char *const *env, GError **error);

/**
 * quoit_ray_visible_env:
 * @ids: (array zero-terminated=1): the chips, or devices, of the process
 * @n_on_node: the number of chips, or devices, that Ray detects on the node
 * @env: (nullable) (array zero-terminated=1): present environment of the process
 *
 * Changes the environment of a process so that it sees only its chips, like Ray does. It sets TPU_VISIBLE_CHIPS and,
 * for one or two chips, TPU_CHIPS_PER_HOST_BOUNDS and TPU_HOST_BOUNDS. A process with all chips of the node has no
 * TPU_VISIBLE_CHIPS. RAY_EXPERIMENTAL_NOSET_TPU_VISIBLE_CHIPS disables all changes.
 *
 * Fails with %QUOIT_ERROR_INVALID when RAY_TPU_RESOURCE_PER_CHIP or an id cannot be read.
 *
 * Returns: (transfer full): @env with the changes; g_strfreev() it. %NULL on failure
 */
QUOIT_API char **quoit_ray_visible_env (const char *const *ids, int64_t n_on_node, const char *const *env,
                                        GError **error);

/**
 * quoit_ray_quantity_is_valid:
 * @quantity: the TPU amount of a task or an actor; a double, because it is a float in Ray
 *
 * Checks whether Ray accepts the amount: 1, 2, 4 or 8. Bundles of placement groups are not checked this way.
 *
 * Returns: true if Ray accepts it, else false
 */
QUOIT_API bool quoit_ray_quantity_is_valid (double quantity);

/**
 * quoit_ray_amount_to_ten_thousandths:
 * @amount: amount of a resource
 *
 * Converts an amount to the ten-thousandths that Ray counts: the product in double, rounded toward zero. Ray accepts
 * any double, unlike the rest of this library: if the product does not fit in 64 bits, or the amount is infinite or
 * NaN, the result is the most negative number, as on x86.
 *
 * Returns: the number, for example 5699 for 0.57
 */
QUOIT_API int64_t quoit_ray_amount_to_ten_thousandths (double amount);

/**
 * quoit_ray_gke_pod_type:
 * @topology: (nullable): the node selector cloud.google.com/gke-tpu-topology, "4x4"
 * @accelerator: (nullable): the node selector cloud.google.com/gke-tpu-accelerator, "tpu-v6e-slice"
 *
 * Returns the pod type that KubeRay's autoscaler expects of a worker group. The existence of the topology is not
 * checked.
 *
 * Fails with %QUOIT_ERROR_INVALID when @topology cannot be read.
 *
 * Returns: (transfer full) (nullable): "v6e-16"; g_free() it. %NULL on failure, and without an error if an argument is
 *   %NULL or Ray does not know the accelerator
 */
QUOIT_API char *quoit_ray_gke_pod_type (const char *topology, const char *accelerator, GError **error);

/**
 * quoit_ray_gce_check_accelerator:
 * @accelerator_type: (nullable): acceleratorType of a node, "v4-8"; %NULL if it has none
 * @type: (nullable): acceleratorConfig.type, "V4"; %NULL if it has none
 * @topology: (nullable): acceleratorConfig.topology, "2x2x1"; %NULL if it has none
 *
 * Checks whether Ray's cluster launcher accepts the accelerator of a TPU node. It needs a type that passes
 * quoit_ray_type_is_valid(), or a configuration: "V5LITE_POD" or "V" and a generation (but not V2 or V3), and a
 * topology of two or three numbers.
 *
 * Fails with %QUOIT_ERROR_INVALID when the launcher refuses it.
 *
 * Returns: true if the launcher accepts it, false on failure
 */
QUOIT_API bool quoit_ray_gce_check_accelerator (const char *accelerator_type, const char *type, const char *topology,
                                                GError **error);

/**
 * quoit_ray_gce_pod_type:
 * @type: (nullable): acceleratorConfig.type, "V5LITE_POD"
 * @topology: (nullable): acceleratorConfig.topology, "4x4"; blanks around the numbers are ignored, upper case is not
 *
 * Returns the pod type of a configuration, without checking the configuration.
 *
 * Returns: (transfer full): "v5litepod-16"; g_free() it. %NULL on failure
 */
QUOIT_API char *quoit_ray_gce_pod_type (const char *type, const char *topology, GError **error);

/**
 * quoit_ray_gce_is_single_host:
 * @accelerator_type: (nullable): as for quoit_ray_gce_check_accelerator()
 * @type: (nullable): as for quoit_ray_gce_check_accelerator()
 * @topology: (nullable): as for quoit_ray_gce_check_accelerator()
 * @is_single: (out): true if the slice has one host, else false
 *
 * Computes whether Ray's cluster launcher treats the slice of a TPU node as one host: it has no more chips than
 * quoit_ray_visible_chips_per_host(). The node is not checked.
 *
 * Fails with %QUOIT_ERROR_INVALID when the chips or the generation cannot be read; @is_single is untouched.
 *
 * Returns: true if @is_single was set, false on failure
 */
QUOIT_API bool quoit_ray_gce_is_single_host (const char *accelerator_type, const char *type, const char *topology,
                                             bool *is_single, GError **error);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRayHost, quoit_ray_host_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRayNode, quoit_ray_node_free)

G_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host with TPU chips as Ray 2.60 sees it: who it is, what its node offers, which chips a process may see, and what
 * those who start machines call it. What was said of quoit/models/ray-tpu.h holds here too. Nothing is read from the
 * process: an environment is an argument, "NAME=value" texts that end with %NULL, and so is what a metadata server
 * would say.
 */
#ifndef QUOIT_RAY_HOST_H
#define QUOIT_RAY_HOST_H

#include <quoit/models/ray-labels.h>
#include <quoit/models/ray-tpu.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitRayHost:
 *
 * Who a TPU host is in Ray's eyes. What it is not told is %NULL.
 *
 * Since: 0.1
 */
typedef struct _QuoitRayHost QuoitRayHost;

/**
 * quoit_ray_host_new:
 * @env: (nullable) (array zero-terminated=1): of the host: TPU_ACCELERATOR_TYPE, TPU_NAME, TPU_WORKER_ID, TPU_TOPOLOGY
 * @metadata: (nullable) (array zero-terminated=1): "accelerator-type=v4-16", "instance-id=...",
 *   "agent-worker-number=0", "tpu-env=..."; %NULL where no metadata server answers
 *
 * Finds out who a host is, as Ray does on GKE and on GCE: a variable that is set and not empty wins over the metadata,
 * also where its value is of no use.
 *
 * Returns: (transfer full): the host; quoit_ray_host_free() it
 * Since: 0.1
 */
QUOIT_API QuoitRayHost *quoit_ray_host_new (const char *const *env, const char *const *metadata);

/**
 * quoit_ray_host_free:
 * @host: (nullable) (transfer full): a host
 *
 * Frees @host and all that was borrowed from it.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_host_free (QuoitRayHost *host);

/**
 * quoit_ray_host_get_pod_type:
 * @host: a host
 *
 * The pod type of its slice in Ray's spelling, when what it is told passes quoit_ray_type_is_valid().
 *
 * Returns: (transfer none) (nullable): "v6e-16", valid until @host is freed
 * Since: 0.1
 */
QUOIT_API const char *quoit_ray_host_get_pod_type (const QuoitRayHost *host);

/**
 * quoit_ray_host_get_slice_name:
 * @host: a host
 *
 * The name of its slice, taken as it is.
 *
 * Returns: (transfer none) (nullable): the name, valid until @host is freed
 * Since: 0.1
 */
QUOIT_API const char *quoit_ray_host_get_slice_name (const QuoitRayHost *host);

/**
 * quoit_ray_host_get_worker_id:
 * @host: a host
 *
 * Its number in the slice, when Python's int() reads it. It is text because it may be of any length, and negative.
 *
 * Returns: (transfer none) (nullable): "0", without blanks or leading zeros, valid until @host is freed
 * Since: 0.1
 */
QUOIT_API const char *quoit_ray_host_get_worker_id (const QuoitRayHost *host);

/**
 * quoit_ray_host_get_topology:
 * @host: a host
 *
 * The topology of its slice, stripped and in small letters; nothing else is checked, and it may be empty.
 *
 * Returns: (transfer none) (nullable): "4x4", valid until @host is freed
 * Since: 0.1
 */
QUOIT_API const char *quoit_ray_host_get_topology (const QuoitRayHost *host);

/**
 * quoit_ray_host_get_accelerator_type:
 * @host: a host
 *
 * The generation of its chips, out of the pod type.
 *
 * Returns: (transfer none) (nullable): "TPU-V6E", valid until @host is freed
 * Since: 0.1
 */
QUOIT_API const char *quoit_ray_host_get_accelerator_type (const QuoitRayHost *host);

/**
 * quoit_ray_host_get_resources:
 * @host: a host
 *
 * What it offers beside chips once slice, worker id and pod type are known: 1 of its slice's name, and as worker 0 one
 * slice head, "TPU-v6e-16-head".
 *
 * Returns: (transfer none) (nullable): the resources, valid until @host is freed
 * Since: 0.1
 */
QUOIT_API const QuoitRayResources *quoit_ray_host_get_resources (const QuoitRayHost *host);

/**
 * quoit_ray_host_get_labels:
 * @host: a host
 *
 * What is known of it as labels: ray.io/tpu-slice-name, ray.io/tpu-worker-id, ray.io/tpu-topology, ray.io/tpu-pod-type.
 *
 * Returns: (transfer none): the labels, valid until @host is freed
 * Since: 0.1
 */
QUOIT_API const QuoitRayLabels *quoit_ray_host_get_labels (const QuoitRayHost *host);

/**
 * quoit_ray_pod_workers:
 * @pod_type: (nullable): of a host, "v4-16"
 * @n_chips: the chips of this host
 * @n_workers: (out): the hosts of the slice; -1 when @n_chips is 0 or less, where Ray says nothing
 * @error: (out) (optional): set on failure
 *
 * How many hosts like this one a slice has; one that is not full counts.
 *
 * Fails with %QUOIT_ERROR_INVALID when @pod_type is %NULL or begins with no generation of Ray's, its number of cores
 * cannot be read, or the answer is beyond 64 bits; @n_workers is untouched.
 *
 * Returns: 1 when @n_workers was set, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_ray_pod_workers (const char *pod_type, int64_t n_chips, int64_t *n_workers, GError **error);

/**
 * QuoitRayNode:
 *
 * What a node offers to Ray, and how it is labelled.
 *
 * Since: 0.1
 */
typedef struct _QuoitRayNode QuoitRayNode;

/**
 * quoit_ray_node_new:
 * @address: of the node; it becomes the resource "node:ADDRESS"
 * @env: (nullable) (array zero-terminated=1): of the host
 * @metadata: (nullable) (array zero-terminated=1): as for quoit_ray_host_new()
 * @predefined: (nullable): CPU, GPU, memory and object_store_memory, which Ray detects where they are not given
 * @custom: (nullable): the other resources that it is given, TPU among them
 * @labels: (nullable): those that it is given; not checked
 * @n_chips: the chips that Ray would detect on the machine
 * @error: (out) (optional): set on failure
 *
 * What a raylet, not the head's, makes of what it is given and finds out. It is a TPU host when TPU is more than 0;
 * what is not given is detected, and no more than TPU_VISIBLE_CHIPS has. RAY_OVERRIDE_RESOURCES and RAY_OVERRIDE_LABELS
 * win over what is given, and that over Ray's own labels; but the names of slice and slice head replace a custom
 * resource of theirs. Amounts of 0 are left out. On a host that has other accelerators too, Ray may choose those.
 *
 * Fails with %QUOIT_ERROR_INVALID when an amount is not a whole number of 0 to 1e14, TPU is more than what is visible,
 * a variable cannot be read, or a resource has the name of Ray's head; and, other than Ray, for a label in
 * RAY_OVERRIDE_LABELS that is no text, and a resource in RAY_OVERRIDE_RESOURCES that is no number whatever its name.
 *
 * Returns: (transfer full): the node; quoit_ray_node_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitRayNode *quoit_ray_node_new (const char *address, const char *const *env, const char *const *metadata,
                                            const QuoitRayResources *predefined, const QuoitRayResources *custom,
                                            const QuoitRayLabels *labels, int64_t n_chips, GError **error);

/**
 * quoit_ray_node_free:
 * @node: (nullable) (transfer full): a node
 *
 * Frees @node and all that was borrowed from it.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_node_free (QuoitRayNode *node);

/**
 * quoit_ray_node_get_resources:
 * @node: a node
 *
 * Returns: (transfer none): what it offers, valid until @node is freed
 * Since: 0.1
 */
QUOIT_API const QuoitRayResources *quoit_ray_node_get_resources (const QuoitRayNode *node);

/**
 * quoit_ray_node_get_labels:
 * @node: a node
 *
 * Returns: (transfer none): its labels, valid until @node is freed
 * Since: 0.1
 */
QUOIT_API const QuoitRayLabels *quoit_ray_node_get_labels (const QuoitRayNode *node);

/**
 * quoit_ray_visible_ids:
 * @env: (nullable) (array zero-terminated=1): of a process
 * @error: (out) (optional): set on failure
 *
 * The ids that TPU_VISIBLE_CHIPS leaves to a process: its parts between commas as they are; where
 * RAY_TPU_RESOURCE_PER_CHIP is 2 or more, so many for each chip.
 *
 * Fails with %QUOIT_ERROR_INVALID when that factor or, with one, a chip cannot be read, or there would be more than
 * 65536 ids. %NULL without an error: TPU_VISIBLE_CHIPS is not set.
 *
 * Returns: (transfer full) (nullable): the ids; g_strfreev() them
 * Since: 0.1
 */
QUOIT_API char **quoit_ray_visible_ids (const char *const *env, GError **error);

/**
 * quoit_ray_visible_env:
 * @ids: (array zero-terminated=1): the chips, or devices, that a process is given
 * @n_on_node: how many Ray detects on the node
 * @env: (nullable) (array zero-terminated=1): of the process so far
 * @error: (out) (optional): set on failure
 *
 * What Ray makes of a process's environment so that it sees just its chips: TPU_VISIBLE_CHIPS, and for one or two chips
 * TPU_CHIPS_PER_HOST_BOUNDS and TPU_HOST_BOUNDS. Who is given as many as the node has sees all.
 * RAY_EXPERIMENTAL_NOSET_TPU_VISIBLE_CHIPS leaves everything as it is.
 *
 * Fails with %QUOIT_ERROR_INVALID when RAY_TPU_RESOURCE_PER_CHIP or an id cannot be read.
 *
 * Returns: (transfer full): @env with the changes; g_strfreev() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API char **quoit_ray_visible_env (const char *const *ids, int64_t n_on_node, const char *const *env,
                                        GError **error);

/**
 * quoit_ray_quantity_is_valid:
 * @quantity: how much TPU a task or an actor asks for
 *
 * Whether Ray takes it: 1, 2, 4 and 8. Bundles of placement groups are not held to that.
 *
 * Returns: 1 when it does, else 0
 * Since: 0.1
 */
QUOIT_API int quoit_ray_quantity_is_valid (double quantity);

/**
 * quoit_ray_units:
 * @amount: of a resource
 *
 * The ten-thousandths that Ray counts: the product in double, cut toward zero. Other than quoit, Ray takes any double:
 * of one whose product no 64 bits hold, infinite or not a number, it makes the most negative number, on x86.
 *
 * Returns: the number, 5699 for 0.57
 * Since: 0.1
 */
QUOIT_API int64_t quoit_ray_units (double amount);

/**
 * quoit_ray_gke_pod_type:
 * @topology: (nullable): the node selector cloud.google.com/gke-tpu-topology, "4x4"
 * @accelerator: (nullable): the node selector cloud.google.com/gke-tpu-accelerator, "tpu-v6e-slice"
 * @error: (out) (optional): set on failure
 *
 * The pod type that KubeRay's autoscaler expects of a worker group. Whether such a topology exists is not checked.
 *
 * Fails with %QUOIT_ERROR_INVALID when @topology cannot be read. %NULL without an error: Ray does not know the
 * accelerator, or one of both is missing.
 *
 * Returns: (transfer full) (nullable): "v6e-16"; g_free() it
 * Since: 0.1
 */
QUOIT_API char *quoit_ray_gke_pod_type (const char *topology, const char *accelerator, GError **error);

/**
 * quoit_ray_gce_check:
 * @accelerator_type: (nullable): acceleratorType of a node, "v4-8"; %NULL where it has none
 * @type: (nullable): acceleratorConfig.type, "V4"; %NULL where it has none
 * @topology: (nullable): acceleratorConfig.topology, "2x2x1"; %NULL where it has none
 * @error: (out) (optional): set on failure
 *
 * Whether Ray's cluster launcher takes a TPU node: a type that passes quoit_ray_type_is_valid(), or else a
 * configuration: "V5LITE_POD" or "V" and a generation, but not V2 or V3, and two or three numbers.
 *
 * Fails with %QUOIT_ERROR_INVALID when it does not.
 *
 * Returns: 1 when it does, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_ray_gce_check (const char *accelerator_type, const char *type, const char *topology,
                                   GError **error);

/**
 * quoit_ray_gce_pod_type:
 * @type: (nullable): acceleratorConfig.type, "V5LITE_POD"
 * @topology: (nullable): acceleratorConfig.topology, "4x4"; blanks around the numbers do not matter, capitals do
 * @error: (out) (optional): set on failure
 *
 * The pod type of a configuration, checked or not.
 *
 * Fails with %QUOIT_ERROR_INVALID when either is %NULL or cannot be read.
 *
 * Returns: (transfer full): "v5litepod-16"; g_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API char *quoit_ray_gce_pod_type (const char *type, const char *topology, GError **error);

/**
 * quoit_ray_gce_is_single_host:
 * @accelerator_type: (nullable): as for quoit_ray_gce_check()
 * @type: (nullable): likewise
 * @topology: (nullable): likewise
 * @is_single: (out): 1 when the slice has one host, else 0
 * @error: (out) (optional): set on failure
 *
 * Whether Ray's cluster launcher takes the slice of a TPU node, checked or not, for one host: one with no more chips
 * than quoit_ray_visible_chips_per_host().
 *
 * Fails with %QUOIT_ERROR_INVALID when the chips or the generation cannot be read; @is_single is untouched.
 *
 * Returns: 1 when @is_single was set, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_ray_gce_is_single_host (const char *accelerator_type, const char *type, const char *topology,
                                            int *is_single, GError **error);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRayHost, quoit_ray_host_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRayNode, quoit_ray_node_free)

G_END_DECLS

#endif

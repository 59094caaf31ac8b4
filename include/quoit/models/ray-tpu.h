/* SPDX-License-Identifier: Apache-2.0 */
/* Ray 2.60's arithmetic for TPUs, without Ray: types, topologies, chips, workers, and the environment of workers.
 *
 * The functions return what Ray returns, even if it makes no sense: "-4x4" has -16 chips, " 0_4 x 4 " has 16, and types
 * are hardly checked. For the values that quoit itself accepts, see quoit/catalogue.h. Where Ray raises an exception,
 * they fail with QUOIT_ERROR_INVALID and their own message. They also fail if Ray's result is an integer that exceeds
 * 64 bits.
 *
 * All functions are pure: they use only their arguments, and no environment or clock. Any thread can call them. Text is
 * UTF-8; an invalid byte is read as U+FFFD. */
#ifndef QUOIT_RAY_TPU_H
#define QUOIT_RAY_TPU_H

#include <stdbool.h>

#include <quoit/error.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * quoit_ray_normalize_type:
 * @accelerator_type: (nullable): "TPU-V7X", "tpu7x-8"
 *
 * Rewrites the beginning of a type to Ray's spelling: strips blanks, converts to lower case, and replaces one leading
 * "tpu", with an optional "-" and an optional "v", by "v". Nothing is checked.
 *
 * Returns: (transfer full): "v7x", "v7x-8"; "" for %NULL. g_free() it
 */
QUOIT_API char *quoit_ray_normalize_type (const char *accelerator_type);

/**
 * quoit_ray_version_from_type:
 * @accelerator_type: a generation as Ray users write it: "v6e", "TPU-V6E", "tpu7x"
 *
 * Returns Ray's name of the generation.
 *
 * Fails with %QUOIT_ERROR_INVALID when the text is not the name of a generation, such as "v6e-16" and "tpuv4"; the
 * message lists Ray's generations.
 *
 * Returns: (transfer full): "v6e"; g_free() it
 */
QUOIT_API char *quoit_ray_version_from_type (const char *accelerator_type, GError **error);

/**
 * quoit_ray_type_is_valid:
 * @accelerator_type: (nullable): "v6e-16", "tpu7x-8"
 *
 * Returns whether Ray accepts the value of TPU_ACCELERATOR_TYPE. Ray checks only its form: "v99zz-1" is valid, "V4-8"
 * is not.
 *
 * Returns: true if it is valid; false if not, and for %NULL
 */
QUOIT_API bool quoit_ray_type_is_valid (const char *accelerator_type);

/**
 * quoit_ray_topology_is_valid:
 * @version: (nullable): a generation, in any spelling that quoit_ray_normalize_type() reads
 * @topology: (nullable): "4x4"; blanks around it and upper case are accepted
 *
 * Returns whether Ray lists the topology for the generation. The order of the numbers matters.
 *
 * Returns: true if it is listed; false if not, and for %NULL
 */
QUOIT_API bool quoit_ray_topology_is_valid (const char *version, const char *topology);

/**
 * quoit_ray_dup_valid_topology:
 * @version: a generation in Ray's spelling: "v5litepod"
 * @index: 0 for the first
 *
 * Lists the topologies that Ray has for the generation, sorted by their numbers. Call it with @index 0, 1, ... until it
 * returns %NULL.
 *
 * Returns: (transfer full) (nullable): "2x4"; g_free() it. %NULL after the last, and for an unknown generation
 */
QUOIT_API char *quoit_ray_dup_valid_topology (const char *version, uint32_t index);

/**
 * quoit_ray_chips_from_topology:
 * @topology: "4x4"
 * @n_chips: (out): the product of its numbers; like in Ray, it can be negative or 0
 *
 * Multiplies the numbers between the "x". There can be any number of them, in any form that Python's int() reads.
 *
 * Fails with %QUOIT_ERROR_INVALID when a part is not a number, or the product exceeds 64 bits; @n_chips is untouched.
 *
 * Returns: true when @n_chips was set, false on failure
 */
QUOIT_API bool quoit_ray_chips_from_topology (const char *topology, int64_t *n_chips, GError **error);

/**
 * quoit_ray_cores_per_chip:
 * @accelerator_type: text that begins with a generation in lower case: "v6e", "v4-16"
 * @n_cores: (out): 1 or 2
 *
 * Computes the number of TensorCores of one chip.
 *
 * Fails with %QUOIT_ERROR_INVALID when the text does not begin with one of Ray's generations; @n_cores is untouched.
 *
 * Returns: true when @n_cores was set, false on failure
 */
QUOIT_API bool quoit_ray_cores_per_chip (const char *accelerator_type, int64_t *n_cores, GError **error);

/**
 * quoit_ray_chips_from_type:
 * @accelerator_type: a pod type: "v4-16"
 * @n_chips: (out): the number of chips, rounded down: 0 for "v3-1"
 *
 * Computes the number of chips of a whole slice from the number of cores in its pod type.
 *
 * Fails with %QUOIT_ERROR_INVALID when the text does not begin with a generation, or its number is missing or exceeds
 * 64 bits; @n_chips is untouched.
 *
 * Returns: true when @n_chips was set, false on failure
 */
QUOIT_API bool quoit_ray_chips_from_type (const char *accelerator_type, int64_t *n_chips, GError **error);

/**
 * quoit_ray_visible_chips_per_host:
 * @accelerator_type: a pod type: "v6e-8"
 * @n_chips: (out): the number of chips that a process on one host sees
 *
 * Computes the visible chips of a host: all chips of a v5litepod or v6e with up to 8 chips, else 4.
 *
 * Fails with %QUOIT_ERROR_INVALID like quoit_ray_chips_from_type(), but reads the number only for v5litepod and v6e;
 * @n_chips is untouched.
 *
 * Returns: true when @n_chips was set, false on failure
 */
QUOIT_API bool quoit_ray_visible_chips_per_host (const char *accelerator_type, int64_t *n_chips, GError **error);

/**
 * quoit_ray_pod_type:
 * @topology: (nullable): "2x2x2"
 * @accelerator_type: (nullable): "TPU-V4"
 *
 * Returns the pod type of a slice: the generation and the number of cores, which can have any length. The existence of
 * the topology is not checked.
 *
 * Fails with %QUOIT_ERROR_INVALID when an argument cannot be read.
 *
 * Returns: (transfer full) (nullable): "v4-16"; g_free() it. %NULL on failure, and without an error if an argument is
 *   %NULL or ""
 */
QUOIT_API char *quoit_ray_pod_type (const char *topology, const char *accelerator_type, GError **error);

/**
 * quoit_ray_chips_per_host:
 * @topology: "2x4"
 * @version: a generation in Ray's spelling
 * @n_chips: (out): the number of chips of one host
 *
 * Computes the chips of a host: all chips of 1x1, 2x2 and 2x4 of v5litepod and v6e, else 4.
 *
 * Fails with %QUOIT_ERROR_INVALID when @topology cannot be read; @n_chips is untouched.
 *
 * Returns: true when @n_chips was set, false on failure
 */
QUOIT_API bool quoit_ray_chips_per_host (const char *topology, const char *version, int64_t *n_chips, GError **error);

/**
 * quoit_ray_default_chips_per_vm:
 * @topology: "2x4"
 * @version: a generation in Ray's spelling
 * @n_chips: (out): the number of chips of one host
 *
 * Computes the chips of a host as Ray assumes them for sub-slices. For v5litepod and v6e with a topology of at most 8
 * chips, in any shape, one host has all of them. In all other cases a host has 4.
 *
 * Fails with %QUOIT_ERROR_INVALID when @topology cannot be read (only v5litepod and v6e need it); @n_chips is
 * untouched.
 *
 * Returns: true when @n_chips was set, false on failure
 */
QUOIT_API bool quoit_ray_default_chips_per_vm (const char *topology, const char *version, int64_t *n_chips,
                                               GError **error);

/**
 * quoit_ray_resource_per_chip:
 * @text: (nullable): the value of RAY_TPU_RESOURCE_PER_CHIP; %NULL if it is not set
 * @factor: (out): units of the resource TPU per chip; 1 if the variable is not set
 *
 * Reads the variable like Ray does.
 *
 * Fails with %QUOIT_ERROR_INVALID when the text has characters other than decimal digits, is 0, or exceeds 64 bits;
 * @factor is untouched.
 *
 * Returns: true when @factor was set, false on failure
 */
QUOIT_API bool quoit_ray_resource_per_chip (const char *text, int64_t *factor, GError **error);

/**
 * QuoitRayResources:
 *
 * Resource names with their amounts, in the order in which they were first set. Amounts are doubles because Ray
 * computes with doubles here, unlike the rest of quoit. Mutable: use it in one thread at a time while it changes.
 */
typedef struct _QuoitRayResources QuoitRayResources;

/**
 * quoit_ray_resources_new:
 *
 * Creates an empty list.
 *
 * Returns: (transfer full): the list; quoit_ray_resources_free() it
 */
QUOIT_API QuoitRayResources *quoit_ray_resources_new (void);

/**
 * quoit_ray_resources_free:
 * @resources: (nullable) (transfer full): a list
 *
 * Frees @resources and the names borrowed from it.
 */
QUOIT_API void quoit_ray_resources_free (QuoitRayResources *resources);

/**
 * quoit_ray_resources_set:
 * @name: a resource, "TPU"; copied
 * @amount: the amount
 *
 * Sets an amount. An existing resource keeps its position; a new one is added at the end.
 */
QUOIT_API void quoit_ray_resources_set (QuoitRayResources *resources, const char *name, double amount);

/**
 * quoit_ray_resources_get_name:
 * @index: 0 for the first
 *
 * Returns: (transfer none) (nullable): the name, valid until @resources is freed; %NULL after the last
 */
QUOIT_API const char *quoit_ray_resources_get_name (const QuoitRayResources *resources, uint32_t index);

/**
 * quoit_ray_resources_get_amount:
 * @index: 0 for the first
 *
 * Returns: the amount; 0 after the last
 */
QUOIT_API double quoit_ray_resources_get_amount (const QuoitRayResources *resources, uint32_t index);

/**
 * quoit_ray_worker_resources:
 * @topology: the topology of one slice, "4x4"
 * @accelerator_type: "TPU-V6E", as for quoit_ray_version_from_type()
 * @per_worker: (nullable): the resources that the user requests for each worker; not changed, not kept
 * @n_slices: the number of slices; 0 or a negative number is multiplied like any other
 * @chips_per_vm: (nullable): the chips of one host; %NULL for quoit_ray_chips_per_host()
 * @resource_per_chip: (nullable): units of the resource TPU per chip; %NULL for 1
 * @n_workers: (out): the number of workers of all slices
 *
 * Computes how many workers fill @n_slices slices, and the resources of each: @per_worker, and 1 CPU and the TPU of one
 * host if @per_worker does not have them. The existence of the topology is not checked.
 *
 * Fails with %QUOIT_ERROR_INVALID when @topology or @accelerator_type cannot be read, a given number is not positive,
 * the TPU of one worker does not divide that of a slice (request a divisor), or the number of workers exceeds 64 bits;
 * @n_workers is untouched.
 *
 * Returns: (transfer full): the resources of one worker; quoit_ray_resources_free() it
 */
QUOIT_API QuoitRayResources *quoit_ray_worker_resources (const char *topology, const char *accelerator_type,
                                                         const QuoitRayResources *per_worker, int64_t n_slices,
                                                         const int64_t *chips_per_vm, const int64_t *resource_per_chip,
                                                         int64_t *n_workers, GError **error);

/**
 * quoit_ray_slices_for_workers:
 * @topology: (nullable): the topology of one slice, "4x4"
 * @accelerator_type: (nullable): "TPU-V6E"
 * @n_workers: the number of workers
 * @per_worker: (nullable): the resources that the user requests for each worker; not changed, not kept
 * @resource_per_chip: (nullable): units of the resource TPU per chip; %NULL for 1
 *
 * Computes how many slices @n_workers workers need. Like Ray it never fails: the result is 1 if
 * quoit_ray_worker_resources() would fail. Call that function first if you must distinguish these cases.
 *
 * Returns: the number of slices, at least 1
 */
QUOIT_API int64_t quoit_ray_slices_for_workers (const char *topology, const char *accelerator_type, int64_t n_workers,
                                                const QuoitRayResources *per_worker, const int64_t *resource_per_chip);

/**
 * quoit_ray_coordinator_env:
 * @address: the host of the coordinator; used unchanged
 * @n_slices: the number of slices of the job
 * @slice_id: the slice id of this process
 * @port: (nullable): the coordinator's port; %NULL for Ray's default, 8081
 *
 * Returns the variables with which the slices of one job find each other: MEGASCALE_COORDINATOR_ADDRESS,
 * MEGASCALE_PORT, MEGASCALE_NUM_SLICES and MEGASCALE_SLICE_ID, in this order. Nothing is checked.
 *
 * Returns: (transfer full) (array zero-terminated=1): "NAME=value" texts; g_strfreev() them
 */
QUOIT_API char **quoit_ray_coordinator_env (const char *address, int64_t n_slices, int64_t slice_id, const char *port);

/**
 * quoit_ray_train_env:
 * @address: the address of worker 0
 * @index: the index of the worker in Ray's order: slices sorted as text, workers of a slice by id
 * @n_slices: the number of slices of the job
 * @topology: the topology of each slice, "4x4"
 * @type: the accelerator type, "TPU-V6E"
 * @per_worker: (nullable): the resources of each worker; %NULL: the chips of a host
 * @before: (nullable): the present environment of the worker, "NAME=value", %NULL-terminated
 *
 * Returns the environment of a worker after Ray Train's JAX backend has changed it. JAX_PLATFORMS is set if it is empty
 * or not set. For more than one slice, the MEGASCALE_ variables are replaced, except for an existing port. If there are
 * more workers than the slices can hold, the surplus ones count as workers of the last slice.
 *
 * Fails with %QUOIT_ERROR_INVALID for more than one slice if quoit_ray_worker_resources() fails for one slice.
 *
 * Returns: (transfer full): the environment, "NAME=value", %NULL-terminated; g_strfreev() it
 */
QUOIT_API char **quoit_ray_train_env (const char *address, int64_t index, int64_t n_slices, const char *topology,
                                      const char *type, const QuoitRayResources *per_worker, const char *const *before,
                                      GError **error);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRayResources, quoit_ray_resources_free)

G_END_DECLS

#endif

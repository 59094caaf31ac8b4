/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ray's own TPU arithmetic, as Ray 2.60 does it, so that what Ray would say can be asked without Ray.
 *
 * These functions answer what Ray answers, also where that is odd: "-4x4" has -16 chips, " 0_4 x 4 " has 16, and a type
 * is hardly looked at. For what quoit itself accepts, see quoit/catalogue.h. What Ray refuses, they refuse with
 * QUOIT_ERROR_INVALID and a message of their own; so they do with the few answers that Ray can write and C cannot,
 * integers beyond 64 bits. All are pure: no state, no environment, no clock; any thread may call them. Text is UTF-8; a
 * byte that is not is read as U+FFFD. An int that answers yes or no is 1 or 0.
 */
#ifndef QUOIT_RAY_H
#define QUOIT_RAY_H

#include <quoit/error.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * quoit_ray_normalize_type:
 * @accelerator_type: (nullable): "TPU-V7X", "tpu7x-8"
 *
 * Rewrites the beginning of a type to Ray's spelling: blanks around it go, capitals become small, and one leading "tpu"
 * with an optional "-" and an optional "v" becomes "v". Nothing is checked.
 *
 * Returns: (transfer full): "v7x", "v7x-8"; "" for %NULL. g_free() it
 * Since: 0.1
 */
QUOIT_API char *quoit_ray_normalize_type (const char *accelerator_type);

/**
 * quoit_ray_version_from_type:
 * @accelerator_type: a generation as Ray users write it: "v6e", "TPU-V6E", "tpu7x"
 * @error: (out) (optional): set on failure
 *
 * The generation that @accelerator_type names.
 *
 * Fails with %QUOIT_ERROR_INVALID when it names none; the message lists what Ray knows. "v6e-16" and "tpuv4" name none.
 *
 * Returns: (transfer full): "v6e"; g_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API char *quoit_ray_version_from_type (const char *accelerator_type, GError **error);

/**
 * quoit_ray_type_is_valid:
 * @accelerator_type: (nullable): "v6e-16", "tpu7x-8"
 *
 * Whether Ray takes @accelerator_type from TPU_ACCELERATOR_TYPE. Only the form counts: "v99zz-1" is valid, "V4-8" is
 * not.
 *
 * Returns: 1 when it is valid; 0 when not, and for %NULL
 * Since: 0.1
 */
QUOIT_API int quoit_ray_type_is_valid (const char *accelerator_type);

/**
 * quoit_ray_topology_is_valid:
 * @version: (nullable): a generation, in any spelling that quoit_ray_normalize_type() understands
 * @topology: (nullable): "4x4"; blanks around it and capitals do not matter
 *
 * Whether Ray lists @topology for @version. The order of the numbers matters.
 *
 * Returns: 1 when it is listed; 0 when not, and for %NULL
 * Since: 0.1
 */
QUOIT_API int quoit_ray_topology_is_valid (const char *version, const char *topology);

/**
 * quoit_ray_dup_valid_topology:
 * @version: a generation as Ray writes it: "v5litepod"
 * @index: 0 for the first
 *
 * The topologies that Ray lists for @version, in the order of their numbers. Count up until %NULL.
 *
 * Returns: (transfer full) (nullable): "2x4"; g_free() it. %NULL behind the last, and for a @version unknown to Ray
 * Since: 0.1
 */
QUOIT_API char *quoit_ray_dup_valid_topology (const char *version, unsigned index);

/**
 * quoit_ray_chips_from_topology:
 * @topology: "4x4"
 * @n_chips: (out): the product of its numbers; may be negative or 0, as Ray's
 * @error: (out) (optional): set on failure
 *
 * Multiplies the numbers between the "x". There may be any number of them, in any form that Python's int() reads.
 *
 * Fails with %QUOIT_ERROR_INVALID when one of them is none, or when the product is beyond 64 bits; @n_chips is
 * untouched.
 *
 * Returns: 1 when @n_chips was set, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_ray_chips_from_topology (const char *topology, int64_t *n_chips, GError **error);

/**
 * quoit_ray_cores_per_chip:
 * @accelerator_type: what begins with a generation, in small letters: "v6e", "v4-16"
 * @n_cores: (out): 1 or 2
 * @error: (out) (optional): set on failure
 *
 * The TensorCores of one chip.
 *
 * Fails with %QUOIT_ERROR_INVALID when @accelerator_type begins with no generation of Ray's; @n_cores is untouched.
 *
 * Returns: 1 when @n_cores was set, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_ray_cores_per_chip (const char *accelerator_type, int64_t *n_cores, GError **error);

/**
 * quoit_ray_chips_from_type:
 * @accelerator_type: a pod type: "v4-16"
 * @n_chips: (out): its chips; a number of cores that does not divide is rounded down: 0 for "v3-1"
 * @error: (out) (optional): set on failure
 *
 * The chips of a whole slice, from the number of cores in its pod type.
 *
 * Fails with %QUOIT_ERROR_INVALID when @accelerator_type begins with no generation, has no number, or has one beyond 64
 * bits; @n_chips is untouched.
 *
 * Returns: 1 when @n_chips was set, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_ray_chips_from_type (const char *accelerator_type, int64_t *n_chips, GError **error);

/**
 * quoit_ray_visible_chips_per_host:
 * @accelerator_type: a pod type: "v6e-8"
 * @n_chips: (out): the chips that one host shows
 * @error: (out) (optional): set on failure
 *
 * v5litepod and v6e of up to 8 chips: all of them; everything else: 4.
 *
 * Fails with %QUOIT_ERROR_INVALID where quoit_ray_chips_from_type() would, but looks at the number for v5litepod and
 * v6e only; @n_chips is untouched.
 *
 * Returns: 1 when @n_chips was set, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_ray_visible_chips_per_host (const char *accelerator_type, int64_t *n_chips, GError **error);

/**
 * quoit_ray_pod_type:
 * @topology: (nullable): "2x2x2"
 * @accelerator_type: (nullable): "TPU-V4"
 * @error: (out) (optional): set on failure
 *
 * The pod type of a slice: the generation and the number of cores. Whether such a topology exists is not checked; the
 * number may have any length.
 *
 * Fails with %QUOIT_ERROR_INVALID when either cannot be read.
 *
 * Returns: (transfer full) (nullable): "v4-16"; g_free() it. %NULL without an error when either is %NULL or "", and
 * with one on failure
 *
 * Since: 0.1
 */
QUOIT_API char *quoit_ray_pod_type (const char *topology, const char *accelerator_type, GError **error);

/**
 * quoit_ray_chips_per_host:
 * @topology: "2x4"
 * @version: a generation as Ray writes it
 * @n_chips: (out): the chips of one host
 * @error: (out) (optional): set on failure
 *
 * v5litepod and v6e with 1x1, 2x2 or 2x4: all chips; everything else: 4.
 *
 * Fails with %QUOIT_ERROR_INVALID when @topology cannot be read; @n_chips is untouched.
 *
 * Returns: 1 when @n_chips was set, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_ray_chips_per_host (const char *topology, const char *version, int64_t *n_chips, GError **error);

/**
 * quoit_ray_default_chips_per_vm:
 * @topology: "2x4"
 * @version: a generation as Ray writes it
 * @n_chips: (out): the chips of one host
 * @error: (out) (optional): set on failure
 *
 * What Ray's sub-slices assume: v5litepod and v6e of up to 8 chips in any shape: all chips; everything else: 4.
 *
 * Fails with %QUOIT_ERROR_INVALID when @topology cannot be read, which is tried for v5litepod and v6e only; @n_chips is
 * untouched.
 *
 * Returns: 1 when @n_chips was set, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_ray_default_chips_per_vm (const char *topology, const char *version, int64_t *n_chips,
                                              GError **error);

/**
 * quoit_ray_resource_per_chip:
 * @text: (nullable): what RAY_TPU_RESOURCE_PER_CHIP is set to; %NULL where it is not set
 * @factor: (out): how many units of the resource TPU one chip counts for; 1 where it is not set
 * @error: (out) (optional): set on failure
 *
 * Reads the number in the way Ray reads its environment.
 *
 * Fails with %QUOIT_ERROR_INVALID for what is not all decimal digits, is 0, or is beyond 64 bits; @factor is untouched.
 *
 * Returns: 1 when @factor was set, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_ray_resource_per_chip (const char *text, int64_t *factor, GError **error);

/**
 * QuoitRayResources:
 *
 * Resource names with their amounts, in the order in which they were first set. Amounts are doubles because Ray's
 * arithmetic is; quoit's own is not.
 *
 * Since: 0.1
 */
typedef struct _QuoitRayResources QuoitRayResources;

/**
 * quoit_ray_resources_new:
 *
 * An empty list.
 *
 * Returns: (transfer full): the list; quoit_ray_resources_free() it
 * Since: 0.1
 */
QUOIT_API QuoitRayResources *quoit_ray_resources_new (void);

/**
 * quoit_ray_resources_free:
 * @resources: (nullable) (transfer full): a list
 *
 * Frees @resources and the names that were borrowed from it.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_resources_free (QuoitRayResources *resources);

/**
 * quoit_ray_resources_set:
 * @resources: a list
 * @name: a resource, "TPU"; copied
 * @amount: how much of it
 *
 * Sets @name to @amount: in its place where it is there, else behind the others.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_resources_set (QuoitRayResources *resources, const char *name, double amount);

/**
 * quoit_ray_resources_get_name:
 * @resources: a list
 * @index: 0 for the first
 *
 * Returns: (transfer none) (nullable): the name, valid until @resources is freed; %NULL behind the last
 * Since: 0.1
 */
QUOIT_API const char *quoit_ray_resources_get_name (const QuoitRayResources *resources, unsigned index);

/**
 * quoit_ray_resources_get_amount:
 * @resources: a list
 * @index: 0 for the first
 *
 * Returns: the amount; 0 behind the last
 * Since: 0.1
 */
QUOIT_API double quoit_ray_resources_get_amount (const QuoitRayResources *resources, unsigned index);

/**
 * quoit_ray_worker_resources:
 * @topology: "4x4", of one slice
 * @accelerator_type: "TPU-V6E", as for quoit_ray_version_from_type()
 * @per_worker: (nullable): what the user asks for each worker; not changed, not kept
 * @n_slices: how many slices; 0 and less give 0 and fewer workers
 * @chips_per_vm: (nullable): the chips of one host; %NULL for quoit_ray_chips_per_host()
 * @resource_per_chip: (nullable): how many units of TPU one chip counts for; %NULL for 1
 * @n_workers: (out): the workers over all slices
 * @error: (out) (optional): set on failure
 *
 * How many workers fill @n_slices slices, and what each of them asks for: @per_worker, then 1 CPU and one host's TPU
 * where it does not have them. Whether such a topology exists is not checked.
 *
 * Fails with %QUOIT_ERROR_INVALID when @topology or @accelerator_type cannot be read, a given number is not positive,
 * the TPU of one worker does not divide those of a slice (ask for a divisor), or there are more workers than 64 bits
 * count;
 * @n_workers is untouched.
 *
 * Returns: (transfer full): what one worker asks for; quoit_ray_resources_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitRayResources *quoit_ray_worker_resources (const char *topology, const char *accelerator_type,
                                                         const QuoitRayResources *per_worker, int64_t n_slices,
                                                         const int64_t *chips_per_vm, const int64_t *resource_per_chip,
                                                         int64_t *n_workers, GError **error);

/**
 * quoit_ray_slices_for_workers:
 * @topology: (nullable): "4x4", of one slice
 * @accelerator_type: (nullable): "TPU-V6E"
 * @n_workers: the workers wanted
 * @per_worker: (nullable): what the user asks for each worker; not changed, not kept
 * @resource_per_chip: (nullable): how many units of TPU one chip counts for; %NULL for 1
 *
 * How many slices @n_workers need. Like Ray it never fails: what quoit_ray_worker_resources() refuses counts as one
 * slice, so ask that one first where the difference matters.
 *
 * Returns: the number of slices, at least 1
 * Since: 0.1
 */
QUOIT_API int64_t quoit_ray_slices_for_workers (const char *topology, const char *accelerator_type, int64_t n_workers,
                                                const QuoitRayResources *per_worker, const int64_t *resource_per_chip);

/**
 * quoit_ray_coordinator_env:
 * @address: the host of the coordinator; taken as it is
 * @n_slices: the slices of the job
 * @slice_id: the slice of this process
 * @port: (nullable): the coordinator's port; %NULL for Ray's, 8081
 *
 * The variables by which the slices of one job find each other: MEGASCALE_COORDINATOR_ADDRESS, MEGASCALE_PORT,
 * MEGASCALE_NUM_SLICES and MEGASCALE_SLICE_ID, in this order. Nothing is checked.
 *
 * Returns: (transfer full) (array zero-terminated=1): "NAME=value" texts; g_strfreev() them
 * Since: 0.1
 */
QUOIT_API char **quoit_ray_coordinator_env (const char *address, int64_t n_slices, int64_t slice_id, const char *port);

/**
 * quoit_ray_train_env:
 * @address: the address of worker 0
 * @index: of the worker, in Ray's order: slices sorted as text, workers of a slice by id
 * @n_slices: slices of the job
 * @topology: of each slice, "4x4"
 * @type: accelerator type, "TPU-V6E"
 * @per_worker: (nullable): what each worker asks for; %NULL: the chips of a host
 * @before: (nullable): the worker's environment so far, "NAME=value", %NULL-terminated
 * @error: (out) (optional): set on failure
 *
 * What Ray Train's JAX backend sets for a worker: JAX_PLATFORMS where it is empty or not set; for more than one slice
 * the MEGASCALE_ variables instead of what they were, except that a port that is set is kept. A worker beyond what the
 * slices hold falls into the last slice. Rules: ray-train-env of Ray 2.60.
 *
 * Fails with %QUOIT_ERROR_INVALID as quoit_ray_worker_resources() for one slice, when there is more than one.
 *
 * Returns: (transfer full): @before with the changes, "NAME=value", %NULL-terminated; g_strfreev() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API char **quoit_ray_train_env (const char *address, int64_t index, int64_t n_slices, const char *topology,
                                      const char *type, const QuoitRayResources *per_worker, const char *const *before,
                                      GError **error);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRayResources, quoit_ray_resources_free)

G_END_DECLS

#endif

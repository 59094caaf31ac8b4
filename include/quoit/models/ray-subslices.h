/* SPDX-License-Identifier: Apache-2.0 */
/* Ray's sub-slices: cuboids of hosts inside a slice, as Ray 2.60 numbers, labels and chooses them.
 *
 * This is Ray's view of a slice and no second geometry: Ray reads "2x4" and "2x2x4" with the last axis fastest, (y,
 * x) and (z, y, x), where quoit, GKE and JAX read x first; the sub-slices 0 and 1 of shape 2x4 in 4x4 are its rows.
 * In three dimensions different hosts may have one number, because Ray's blocks are not those of the machines. No
 * placement of quoit's uses it.
 *
 * Ray treats a host without an entry for available TPU as free, although a fully used host has no such entry. It
 * then chooses an occupied sub-slice, and the group waits. These functions do the same.
 *
 * Everything here is pure: no state but what is passed, no environment, no clock. */
#ifndef QUOIT_RAY_SUBSLICES_H
#define QUOIT_RAY_SUBSLICES_H

#include <quoit/models/ray-nodes.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * quoit_ray_topology_dims:
 * @topology: "2x2x4"
 * @n_dims: (out): how many numbers there are
 * @error: (out) (optional): set on failure
 *
 * The numbers between the "x", in any form that Python's int() reads.
 *
 * Fails with %QUOIT_ERROR_INVALID when one of them is none, or is beyond 64 bits; @n_dims is untouched.
 *
 * Returns: (transfer full) (array length=n_dims): the numbers; g_free() them. %NULL on failure
 * Since: 0.1
 */
QUOIT_API int64_t *quoit_ray_topology_dims (const char *topology, unsigned *n_dims, GError **error);

/**
 * quoit_ray_worker_grid:
 * @topology: "2x2x4", exactly as Ray writes it
 * @n_dims: (out): 2 or 3
 * @error: (out) (optional): set on failure
 *
 * The hosts of a slice along its axes, the slowest first: (y, x) or (z, y, x).
 *
 * Fails with %QUOIT_ERROR_INVALID when Ray has no grid for @topology: it has them for some topologies only, among which
 * 1x1, 2x8 and whatever is larger than 16x16 or 16x16x24 are not. @n_dims is untouched.
 *
 * Returns: (transfer full) (array length=n_dims): the hosts of each axis; g_free() them. %NULL on failure
 * Since: 0.1
 */
QUOIT_API int64_t *quoit_ray_worker_grid (const char *topology, unsigned *n_dims, GError **error);

/**
 * quoit_ray_physical_worker_id:
 * @coords: the coordinates of a host's chips, x first, chip after chip
 * @n_chips: how many chips
 * @n_axes: how many coordinates each chip has; what is behind the third is not read
 * @parent_topology: "4x4", of the whole slice
 * @worker_id: (out): the place of the host in the grid; below 0 for coordinates below 0
 * @error: (out) (optional): set on failure
 *
 * The place of a host in the grid as Ray computes it, from the least of its chips' coordinates. A third coordinate that
 * is not known is 0.
 *
 * Fails with %QUOIT_ERROR_INVALID when there are no chips or less than two coordinates, when Ray has no grid for
 * @parent_topology, or if the host is outside of it; @worker_id is untouched.
 *
 * Returns: 1 when @worker_id was set, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_ray_physical_worker_id (const int64_t *coords, unsigned n_chips, unsigned n_axes,
                                            const char *parent_topology, int64_t *worker_id, GError **error);

/**
 * quoit_ray_subslice_labels:
 * @worker_id: the place of a host in the grid; one outside of it is not refused
 * @parent_topology: "4x4", of the whole slice
 * @error: (out) (optional): set on failure
 *
 * The sub-slice of each smaller shape that a host belongs to: "ray.io/tpu-subslice-2x4" is "1". Shapes that do not
 * divide the slice are labelled too, and then not all of their sub-slices have all hosts.
 *
 * Fails with %QUOIT_ERROR_INVALID when Ray has no grid for @parent_topology.
 *
 * Returns: (transfer full): the labels; quoit_ray_labels_free() them. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitRayLabels *quoit_ray_subslice_labels (int64_t worker_id, const char *parent_topology, GError **error);

/**
 * quoit_ray_parent_topologies:
 * @nodes: a node list
 * @subslice_topology: "2x4", exactly as Ray writes it
 * @error: (out) (optional): set on failure
 *
 * The topologies of nodes alive in which a sub-slice fits, by their grids, those of the fewest hosts first. The
 * generation is not looked at.
 *
 * Fails with %QUOIT_ERROR_INVALID when Ray has no grid for @subslice_topology.
 *
 * Returns: (transfer full) (array zero-terminated=1): topologies; g_strfreev() them. %NULL on failure
 * Since: 0.1
 */
QUOIT_API char **quoit_ray_parent_topologies (const QuoitRayNodes *nodes, const char *subslice_topology,
                                              GError **error);

/**
 * quoit_ray_head_looks_free:
 * @nodes: a node list
 * @slice_name: (nullable): a slice; %NULL for the nodes that name none
 * @head_resource: (nullable): "TPU-v6e-16-head"
 *
 * Whether Ray takes the head of a slice for free: of its first worker 0 that is alive, 1 of @head_resource is available
 * or unknown. The same holds without a worker 0, and without a @head_resource.
 *
 * Returns: 1 when it does, 0 when not
 * Since: 0.1
 */
QUOIT_API int quoit_ray_head_looks_free (const QuoitRayNodes *nodes, const char *slice_name, const char *head_resource);

/**
 * quoit_ray_subslice_chips_per_vm:
 * @given: (nullable): chips_per_vm, where it was given
 * @parent_topology: of the whole slice
 * @version: the generation as Ray writes it
 * @n_chips: (out): the chips of one host
 * @error: (out) (optional): set on failure
 *
 * The chips of a host of a sub-slice: those given, else quoit_ray_default_chips_per_vm() of the whole slice.
 *
 * Fails with %QUOIT_ERROR_INVALID where that fails; @n_chips is untouched.
 *
 * Returns: 1 when @n_chips was set, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_ray_subslice_chips_per_vm (const int64_t *given, const char *parent_topology, const char *version,
                                               int64_t *n_chips, GError **error);

/**
 * QuoitRaySubslices:
 *
 * What Ray has found out of slices: for each worker id its labels. It is Ray's cache, and what it keeps in its
 * key-value store.
 *
 * Since: 0.1
 */
typedef struct _QuoitRaySubslices QuoitRaySubslices;

/**
 * quoit_ray_subslices_new:
 *
 * Nothing is found out yet.
 *
 * Returns: (transfer full): the cache; quoit_ray_subslices_free() it
 * Since: 0.1
 */
QUOIT_API QuoitRaySubslices *quoit_ray_subslices_new (void);

/**
 * quoit_ray_subslices_free:
 * @known: (nullable) (transfer full): a cache
 *
 * Frees @known.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_subslices_free (QuoitRaySubslices *known);

/**
 * quoit_ray_subslices_set:
 * @known: a cache
 * @slice_name: a slice
 * @worker_id: (nullable): one of its workers, as its node says it; %NULL: the slice is known, and nothing of it
 * @labels: (nullable): quoit_ray_subslice_labels() of that worker; copied
 *
 * Stores the labels of a worker, and replaces earlier ones.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_subslices_set (QuoitRaySubslices *known, const char *slice_name, const char *worker_id,
                                        const QuoitRayLabels *labels);

/**
 * quoit_ray_subslices_find:
 * @known: a cache
 * @nodes: a node list
 * @slice_name: the slice to look in
 * @topology: "2x4", of the sub-slice
 * @index: (nullable): the only sub-slice that will do; %NULL for the first
 * @found: (out): the sub-slice that was found
 * @error: (out) (optional): set on failure
 *
 * The first sub-slice of a slice, by its index, that has all its hosts, each alive and in Ray's eyes idle. If several
 * rows have one worker id, the last of them counts, dead or alive.
 *
 * Fails with %QUOIT_ERROR_INVALID when an index or a worker id that is needed is no integer of 64 bits, or when Ray has
 * no grid for a @topology that is labelled.
 *
 * Returns: (transfer full) (nullable) (array zero-terminated=1): its worker ids, the least first; g_strfreev() them.
 * %NULL on failure, and without an error if there is no such sub-slice; @found is unchanged then
 *
 * Since: 0.1
 */
QUOIT_API char **quoit_ray_subslices_find (const QuoitRaySubslices *known, const QuoitRayNodes *nodes,
                                           const char *slice_name, const char *topology, const int64_t *index,
                                           int64_t *found, GError **error);

/**
 * quoit_ray_subslices_dup_undiscovered:
 * @known: a cache
 * @nodes: a node list
 * @parents: (array zero-terminated=1): topologies, in the order in which they will do
 * @version: the generation as Ray writes it
 * @parent: (out): the index of its topology in @parents
 * @error: (out) (optional): set on failure
 *
 * The slice that Ray would find out about next: the first that is not in @known and whose nodes alive and head are free
 * in its eyes.
 *
 * Fails with %QUOIT_ERROR_INVALID when quoit_ray_pod_type() does for one of @parents.
 *
 * Returns: (transfer full) (nullable): its name; g_free() it. %NULL on failure, and without an error if there is no
 * such slice
 * Since: 0.1
 */
QUOIT_API char *quoit_ray_subslices_dup_undiscovered (const QuoitRaySubslices *known, const QuoitRayNodes *nodes,
                                                      const char *const *parents, const char *version, unsigned *parent,
                                                      GError **error);

/**
 * QuoitRaySubsliceStep:
 * @QUOIT_RAY_SUBSLICE_RESERVE: it makes a placement group of these bundles
 * @QUOIT_RAY_SUBSLICE_DISCOVER: it first takes this whole slice, to find out about it, and lets it go again
 *
 * What subslice_placement_group() does next.
 *
 * Since: 0.1
 */
typedef enum { QUOIT_RAY_SUBSLICE_RESERVE = 0, QUOIT_RAY_SUBSLICE_DISCOVER = 1 } QuoitRaySubsliceStep;

/**
 * QuoitRaySubslicePlan:
 *
 * One step of subslice_placement_group().
 *
 * Since: 0.1
 */
typedef struct _QuoitRaySubslicePlan QuoitRaySubslicePlan;

/**
 * quoit_ray_subslice_plan_new:
 * @known: what Ray has found out
 * @nodes: a node list
 * @topology: "2x4", of the sub-slice; blanks around it and capitals do not matter
 * @accelerator_version: "v6e"; blanks do matter
 * @chips_per_vm: (nullable): the chips of one host
 * @per_bundle: (nullable): what each bundle asks for; %NULL for 1 CPU and the TPU of a host
 * @index: (nullable): the only sub-slice that will do
 * @error: (out) (optional): set on failure
 *
 * What Ray does next to get a sub-slice.
 *
 * Fails with %QUOIT_ERROR_INVALID when Ray does not list @topology for the generation or has no grid for it, when a
 * given number is not positive, or when no slice alive is larger; with %QUOIT_ERROR_NOT_NOW when all that are known are
 * in use in Ray's eyes, and none is left to find out about.
 *
 * Returns: (transfer full): the step; quoit_ray_subslice_plan_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitRaySubslicePlan *quoit_ray_subslice_plan_new (const QuoitRaySubslices *known, const QuoitRayNodes *nodes,
                                                             const char *topology, const char *accelerator_version,
                                                             const int64_t *chips_per_vm,
                                                             const QuoitRayResources *per_bundle, const int64_t *index,
                                                             GError **error);

/**
 * quoit_ray_subslice_plan_free:
 * @plan: (nullable) (transfer full): a step
 *
 * Frees @plan and what was borrowed from it.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_subslice_plan_free (QuoitRaySubslicePlan *plan);

/**
 * quoit_ray_subslice_plan_get_step:
 * @plan: a step
 *
 * What is done.
 *
 * Returns: the step
 * Since: 0.1
 */
QUOIT_API QuoitRaySubsliceStep quoit_ray_subslice_plan_get_step (const QuoitRaySubslicePlan *plan);

/**
 * quoit_ray_subslice_plan_get_parent_topology:
 * @plan: a step
 *
 * The topology of the whole slice.
 *
 * Returns: (transfer none): "4x4", valid until @plan is freed
 * Since: 0.1
 */
QUOIT_API const char *quoit_ray_subslice_plan_get_parent_topology (const QuoitRaySubslicePlan *plan);

/**
 * quoit_ray_subslice_plan_get_slice_name:
 * @plan: a step
 *
 * The slice that it is done with.
 *
 * Returns: (transfer none): its name, valid until @plan is freed
 * Since: 0.1
 */
QUOIT_API const char *quoit_ray_subslice_plan_get_slice_name (const QuoitRaySubslicePlan *plan);

/**
 * quoit_ray_subslice_plan_get_index:
 * @plan: a step
 *
 * The sub-slice that is reserved.
 *
 * Returns: its index; 0 where a slice is found out about
 * Since: 0.1
 */
QUOIT_API int64_t quoit_ray_subslice_plan_get_index (const QuoitRaySubslicePlan *plan);

/**
 * quoit_ray_subslice_plan_get_chips_per_vm:
 * @plan: a step
 *
 * The chips of one host.
 *
 * Returns: the number of chips
 * Since: 0.1
 */
QUOIT_API int64_t quoit_ray_subslice_plan_get_chips_per_vm (const QuoitRaySubslicePlan *plan);

/**
 * quoit_ray_subslice_plan_get_n_bundles:
 * @plan: a step
 *
 * The bundles that are reserved, one a host.
 *
 * Returns: the number of bundles; 0 where a slice is found out about
 * Since: 0.1
 */
QUOIT_API unsigned quoit_ray_subslice_plan_get_n_bundles (const QuoitRaySubslicePlan *plan);

/**
 * quoit_ray_subslice_plan_get_resources:
 * @plan: a step
 *
 * What each bundle asks for.
 *
 * Returns: (transfer none): the resources, valid until @plan is freed
 * Since: 0.1
 */
QUOIT_API const QuoitRayResources *quoit_ray_subslice_plan_get_resources (const QuoitRaySubslicePlan *plan);

/**
 * quoit_ray_subslice_plan_dup_bundle_labels:
 * @plan: a step
 * @bundle: 0 for the first
 *
 * What a bundle selects its node by: the slice, and the worker id.
 *
 * Returns: (transfer full) (nullable): the labels; quoit_ray_labels_free() them. %NULL where there is no such bundle
 * Since: 0.1
 */
QUOIT_API QuoitRayLabels *quoit_ray_subslice_plan_dup_bundle_labels (const QuoitRaySubslicePlan *plan, unsigned bundle);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRaySubslices, quoit_ray_subslices_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRaySubslicePlan, quoit_ray_subslice_plan_free)

G_END_DECLS

#endif

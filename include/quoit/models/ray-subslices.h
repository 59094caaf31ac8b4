/* SPDX-License-Identifier: Apache-2.0 */
/* Ray 2.60's sub-slices, without Ray: cuboids of hosts inside a slice, their numbers and labels, and their choice.
 *
 * The positions are those of Ray, not of the hardware: Ray reads "2x4" and "2x2x4" with the last axis as the fastest,
 * (y, x) and (z, y, x), but quoit, GKE and JAX read x first. In a 4x4 slice, the sub-slices 0 and 1 of shape 2x4 are
 * its rows. In three dimensions, different hosts can have the same number, because Ray assumes other blocks of chips
 * per host than there are. quoit's own placement does not use these numbers.
 *
 * Ray treats a host without an entry for available TPU as free, although a fully used host has no such entry. Ray can
 * therefore choose an occupied sub-slice, and the placement group waits. These functions do the same.
 *
 * All functions are pure: they use only their arguments, and no environment or clock. */
#ifndef QUOIT_RAY_SUBSLICES_H
#define QUOIT_RAY_SUBSLICES_H

#include <stdbool.h>

#include <quoit/models/ray-nodes.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * quoit_ray_topology_dims:
 * @topology: "2x2x4"
 * @n_dims: (out): the number of dimensions
 *
 * Reads the numbers between the "x", in any form that Python's int() reads.
 *
 * Fails with %QUOIT_ERROR_INVALID when a part is not a number, or exceeds 64 bits; @n_dims is untouched.
 *
 * Returns: (transfer full) (array length=n_dims): the numbers; g_free() them
 */
QUOIT_API int64_t *quoit_ray_topology_dims (const char *topology, uint32_t *n_dims, GError **error);

/**
 * quoit_ray_worker_grid:
 * @topology: "2x2x4", exactly in Ray's spelling
 * @n_dims: (out): 2 or 3
 *
 * Returns the numbers of hosts along the axes of a slice, the slowest axis first: (y, x) or (z, y, x).
 *
 * Fails with %QUOIT_ERROR_INVALID when Ray has no grid for the topology, as for 1x1, 2x8, and everything larger than
 * 16x16 or 16x16x24; @n_dims is untouched.
 *
 * Returns: (transfer full) (array length=n_dims): the numbers of hosts; g_free() them
 */
QUOIT_API int64_t *quoit_ray_worker_grid (const char *topology, uint32_t *n_dims, GError **error);

/**
 * quoit_ray_physical_worker_id:
 * @coords: the coordinates of a host's chips, x first, chip by chip
 * @n_chips: the number of chips
 * @n_axes: the number of coordinates of each chip; those after the third are ignored
 * @parent_topology: the topology of the whole slice, "4x4"
 * @worker_id: (out): the position of the host in the grid; negative for negative coordinates
 *
 * Computes the position of a host in the grid like Ray does, from the smallest coordinates of its chips. A missing
 * third coordinate is 0.
 *
 * Fails with %QUOIT_ERROR_INVALID when there are no chips or fewer than two coordinates, when Ray has no grid for
 * @parent_topology, or when the host is beyond the grid; @worker_id is untouched.
 *
 * Returns: true when @worker_id was set, false on failure
 */
QUOIT_API bool quoit_ray_physical_worker_id (const int64_t *coords, uint32_t n_chips, uint32_t n_axes,
                                             const char *parent_topology, int64_t *worker_id, GError **error);

/**
 * quoit_ray_subslice_labels:
 * @worker_id: the position of a host in the grid; a position beyond the grid is not refused
 * @parent_topology: the topology of the whole slice, "4x4"
 *
 * Returns the labels of a host, which have the index of its sub-slice for each smaller shape: "ray.io/tpu-subslice-2x4"
 * is "1". Shapes that do not divide the slice have labels too; some of their sub-slices lack hosts.
 *
 * Fails with %QUOIT_ERROR_INVALID when Ray has no grid for @parent_topology.
 *
 * Returns: (transfer full): the labels; quoit_ray_labels_free() them
 */
QUOIT_API QuoitRayLabels *quoit_ray_subslice_labels (int64_t worker_id, const char *parent_topology, GError **error);

/**
 * quoit_ray_parent_topologies:
 * @subslice_topology: "2x4", exactly in Ray's spelling
 * @nodes: a node list
 *
 * Lists the topologies of alive nodes whose grids have room for a sub-slice, those with the fewest hosts first. The
 * generation is not compared.
 *
 * Fails with %QUOIT_ERROR_INVALID when Ray has no grid for @subslice_topology.
 *
 * Returns: (transfer full) (array zero-terminated=1): the topologies; g_strfreev() them
 */
QUOIT_API char **quoit_ray_parent_topologies (const QuoitRayNodes *nodes, const char *subslice_topology,
                                              GError **error);

/**
 * quoit_ray_nodes_is_head_free:
 * @slice_name: (nullable): a slice; %NULL for the nodes without a slice name
 * @head_resource: (nullable): "TPU-v6e-16-head"
 *
 * Returns whether Ray treats the head of a slice as free. It is free if the first alive worker 0 of the slice has 1 of
 * @head_resource available, or if that amount is unknown. It also counts as free without a worker 0, and without
 * @head_resource.
 *
 * Returns: true if it is free, else false
 */
QUOIT_API bool quoit_ray_nodes_is_head_free (const QuoitRayNodes *nodes, const char *slice_name,
                                             const char *head_resource);

/**
 * quoit_ray_subslice_chips_per_vm:
 * @given: (nullable): the argument chips_per_vm; %NULL: not given
 * @parent_topology: the topology of the whole slice
 * @version: the generation in Ray's spelling
 * @n_chips: (out): the chips of one host
 *
 * Returns the chips of a host of a sub-slice: the given number, else quoit_ray_default_chips_per_vm() of the whole
 * slice.
 *
 * Fails with %QUOIT_ERROR_INVALID when that function fails; @n_chips is untouched.
 *
 * Returns: true when @n_chips was set, false on failure
 */
QUOIT_API bool quoit_ray_subslice_chips_per_vm (const int64_t *given, const char *parent_topology, const char *version,
                                                int64_t *n_chips, GError **error);

/**
 * QuoitRaySubslices:
 *
 * The discovered slices: for each worker, its labels of quoit_ray_subslice_labels(). It models the cache of a Ray
 * process, and the entries in Ray's key-value store. Mutable: use it in one thread at a time while it changes.
 */
typedef struct _QuoitRaySubslices QuoitRaySubslices;

/**
 * quoit_ray_subslices_new:
 *
 * Creates an empty record of discovered slices.
 *
 * Returns: (transfer full): the record; quoit_ray_subslices_free() it
 */
QUOIT_API QuoitRaySubslices *quoit_ray_subslices_new (void);

/**
 * quoit_ray_subslices_free:
 * @known: (nullable) (transfer full): the discovered slices
 */
QUOIT_API void quoit_ray_subslices_free (QuoitRaySubslices *known);

/**
 * quoit_ray_subslices_set:
 * @slice_name: a slice
 * @worker_id: (nullable): a worker id as in its node's label; %NULL: the slice was discovered, and no worker is known
 * @labels: (nullable): quoit_ray_subslice_labels() of that worker; copied
 * @known: the discovered slices
 *
 * Stores the labels of a worker, and replaces earlier ones.
 */
QUOIT_API void quoit_ray_subslices_set (QuoitRaySubslices *known, const char *slice_name, const char *worker_id,
                                        const QuoitRayLabels *labels);

/**
 * quoit_ray_subslices_find:
 * @nodes: a node list
 * @slice_name: the slice to search
 * @topology: the topology of the sub-slice, "2x4"
 * @index: (nullable): the required sub-slice; %NULL for any
 * @found: (out): the index of the found sub-slice
 * @known: the discovered slices
 *
 * Finds the first sub-slice, by index, with all of its hosts alive and idle in Ray's view. If several rows have the
 * same worker id, the last one counts, dead or alive.
 *
 * Fails with %QUOIT_ERROR_INVALID when a needed index or worker id is not an integer of 64 bits, or when Ray has no
 * grid for a @topology that has labels.
 *
 * Returns: (transfer full) (nullable) (array zero-terminated=1): the worker ids, sorted by number; g_strfreev() them.
 *   %NULL on failure, and without an error if there is no such sub-slice; @found is unchanged then
 */
QUOIT_API char **quoit_ray_subslices_find (const QuoitRaySubslices *known, const QuoitRayNodes *nodes,
                                           const char *slice_name, const char *topology, const int64_t *index,
                                           int64_t *found, GError **error);

/**
 * quoit_ray_subslices_dup_undiscovered:
 * @nodes: a node list
 * @parents: (array zero-terminated=1): topologies, in order of preference
 * @version: the generation in Ray's spelling
 * @parent: (out): the index of the slice's topology in @parents
 * @known: the discovered slices
 *
 * Finds the slice that Ray would discover next: the first one that is not in @known and whose alive nodes and head are
 * free in Ray's view.
 *
 * Fails with %QUOIT_ERROR_INVALID when quoit_ray_pod_type() fails for one of @parents.
 *
 * Returns: (transfer full) (nullable): the name of the slice; g_free() it. %NULL on failure, and without an error if
 *   there is no such slice
 */
QUOIT_API char *quoit_ray_subslices_dup_undiscovered (const QuoitRaySubslices *known, const QuoitRayNodes *nodes,
                                                      const char *const *parents, const char *version, uint32_t *parent,
                                                      GError **error);

/**
 * QuoitRaySubsliceStep:
 * @QUOIT_RAY_SUBSLICE_RESERVE: it creates a placement group on the hosts of a sub-slice
 * @QUOIT_RAY_SUBSLICE_DISCOVER: it reserves a whole slice, reads the coordinates of its hosts, and releases it again
 *
 * The next step of subslice_placement_group().
 */
typedef enum { QUOIT_RAY_SUBSLICE_RESERVE = 0, QUOIT_RAY_SUBSLICE_DISCOVER = 1 } QuoitRaySubsliceStep;

/**
 * QuoitRaySubslicePlan:
 *
 * A step of subslice_placement_group(), with its slice and bundles.
 */
typedef struct _QuoitRaySubslicePlan QuoitRaySubslicePlan;

/**
 * quoit_ray_subslice_plan_new:
 * @known: the discovered slices
 * @nodes: a node list
 * @topology: the topology of the sub-slice, "2x4"; blanks around it and upper case are accepted
 * @accelerator_version: "v6e"; blanks are not accepted
 * @chips_per_vm: (nullable): the chips of one host
 * @per_bundle: (nullable): the resources of each bundle; %NULL for 1 CPU and the TPU of a host
 * @index: (nullable): the required sub-slice; %NULL for any
 *
 * Computes what Ray does next to get a sub-slice.
 *
 * Fails with %QUOIT_ERROR_INVALID when Ray does not list @topology for the generation or has no grid for it, when a
 * given number is not positive, or when there is no larger alive slice. Fails with %QUOIT_ERROR_NOT_NOW when all
 * discovered sub-slices are in use in Ray's view, and there is no other slice to discover.
 *
 * Returns: (transfer full): the step; quoit_ray_subslice_plan_free() it
 */
QUOIT_API QuoitRaySubslicePlan *quoit_ray_subslice_plan_new (const QuoitRaySubslices *known, const QuoitRayNodes *nodes,
                                                             const char *topology, const char *accelerator_version,
                                                             const int64_t *chips_per_vm,
                                                             const QuoitRayResources *per_bundle, const int64_t *index,
                                                             GError **error);

/**
 * quoit_ray_subslice_plan_free:
 * @plan: (nullable) (transfer full): the step
 *
 * Frees @plan and everything borrowed from it.
 */
QUOIT_API void quoit_ray_subslice_plan_free (QuoitRaySubslicePlan *plan);

/**
 * quoit_ray_subslice_plan_get_step:
 *
 * Returns: the kind of the step
 */
QUOIT_API QuoitRaySubsliceStep quoit_ray_subslice_plan_get_step (const QuoitRaySubslicePlan *plan);

/**
 * quoit_ray_subslice_plan_get_parent_topology:
 *
 * Returns: (transfer none): the topology of the whole slice, "4x4", valid until @plan is freed
 */
QUOIT_API const char *quoit_ray_subslice_plan_get_parent_topology (const QuoitRaySubslicePlan *plan);

/**
 * quoit_ray_subslice_plan_get_slice_name:
 *
 * Returns: (transfer none): the name of the slice, valid until @plan is freed
 */
QUOIT_API const char *quoit_ray_subslice_plan_get_slice_name (const QuoitRaySubslicePlan *plan);

/**
 * quoit_ray_subslice_plan_get_index:
 *
 * Returns: the index of the sub-slice to reserve; 0 for a step that discovers a slice
 */
QUOIT_API int64_t quoit_ray_subslice_plan_get_index (const QuoitRaySubslicePlan *plan);

/**
 * quoit_ray_subslice_plan_get_chips_per_vm:
 *
 * Returns: the chips of one host
 */
QUOIT_API int64_t quoit_ray_subslice_plan_get_chips_per_vm (const QuoitRaySubslicePlan *plan);

/**
 * quoit_ray_subslice_plan_get_n_bundles:
 *
 * Returns: the number of bundles to reserve, one per host; 0 for a step that discovers a slice
 */
QUOIT_API uint32_t quoit_ray_subslice_plan_get_n_bundles (const QuoitRaySubslicePlan *plan);

/**
 * quoit_ray_subslice_plan_get_resources:
 *
 * Returns: (transfer none): the resources of each bundle, valid until @plan is freed
 */
QUOIT_API const QuoitRayResources *quoit_ray_subslice_plan_get_resources (const QuoitRaySubslicePlan *plan);

/**
 * quoit_ray_subslice_plan_dup_bundle_labels:
 * @bundle: index of a bundle
 *
 * Returns: (transfer full) (nullable): the label selector of the bundle: the slice and the worker id;
 *   quoit_ray_labels_free() it. %NULL if there is no such bundle
 */
QUOIT_API QuoitRayLabels *quoit_ray_subslice_plan_dup_bundle_labels (const QuoitRaySubslicePlan *plan, uint32_t bundle);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRaySubslices, quoit_ray_subslices_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRaySubslicePlan, quoit_ray_subslice_plan_free)

G_END_DECLS

#endif

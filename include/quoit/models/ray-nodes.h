/* SPDX-License-Identifier: Apache-2.0 */
/* A list of Ray's nodes, as ray.nodes() and Ray's availability report return it, and the number of slices in it.
 *
 * Ray 2.60 counts a slice as ready if no host has less TPU available than in total. But Ray omits fully used
 * resources from the availability report and counts omitted resources as free. So Ray counts a slice with all chips
 * in use as ready. quoit_ray_count_ready_slices() returns Ray's number; quoit_ray_count_free_slices() returns the
 * number of slices that are really free. For the fleet of a ledger use quoit/snapshot.h, which also includes holds
 * and drains.
 *
 * All functions are pure: they use only the passed lists, and no environment or clock. */
#ifndef QUOIT_RAY_NODES_H
#define QUOIT_RAY_NODES_H

#include <quoit/models/ray-labels.h>
#include <quoit/models/ray-tpu.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitRayNodes:
 *
 * A node list: rows for alive and dead nodes, in the order in which they were added, and the available resources of
 * each node id. Mutable: use it in one thread at a time while it changes.
 */
typedef struct _QuoitRayNodes QuoitRayNodes;

/**
 * quoit_ray_nodes_new:
 *
 * Creates an empty node list.
 *
 * Returns: (transfer full): the list; quoit_ray_nodes_free() it
 */
QUOIT_API QuoitRayNodes *quoit_ray_nodes_new (void);

/**
 * quoit_ray_nodes_free:
 * @nodes: (nullable) (transfer full): a list
 *
 * Frees @nodes and the texts borrowed from it.
 */
QUOIT_API void quoit_ray_nodes_free (QuoitRayNodes *nodes);

/**
 * quoit_ray_nodes_add:
 * @id: the NodeID of the node; copied
 * @labels: (nullable): its Labels; copied
 * @total: (nullable): its Resources; copied
 *
 * Adds a row for an alive node after the others. Nothing is checked: ids can repeat, as in Ray's data.
 *
 * Returns: the index of the row, 0 for the first
 */
QUOIT_API uint32_t quoit_ray_nodes_add (QuoitRayNodes *nodes, const char *id, const QuoitRayLabels *labels,
                                        const QuoitRayResources *total);

/**
 * quoit_ray_nodes_set_dead:
 * @index: index of a row; an index without a row is ignored
 *
 * Marks the row's node as dead.
 */
QUOIT_API void quoit_ray_nodes_set_dead (QuoitRayNodes *nodes, uint32_t index);

/**
 * quoit_ray_nodes_set_available:
 * @id: id of a node
 * @available: its available resources; copied. Ray omits resources that are in full use. If TPU is missing, the
 *   function that counts slices determines whether the node is in use
 *
 * Sets the available resources of the node @id, replacing earlier ones.
 */
QUOIT_API void quoit_ray_nodes_set_available (QuoitRayNodes *nodes, const char *id, const QuoitRayResources *available);

/**
 * quoit_ray_nodes_get_n:
 *
 * Returns: the number of rows, including dead nodes
 */
QUOIT_API uint32_t quoit_ray_nodes_get_n (const QuoitRayNodes *nodes);

/**
 * quoit_ray_nodes_get_id:
 * @index: index of a row
 *
 * Returns: (transfer none) (nullable): the id of the row's node, valid until @nodes is freed; %NULL after the last
 */
QUOIT_API const char *quoit_ray_nodes_get_id (const QuoitRayNodes *nodes, uint32_t index);

/**
 * quoit_ray_nodes_get_slice_name:
 * @index: index of a row
 *
 * Returns the slice name in the node's label ray.io/tpu-slice-name.
 *
 * Returns: (transfer none) (nullable): the name, valid until @nodes is freed; %NULL without the label, and after the
 *   last
 */
QUOIT_API const char *quoit_ray_nodes_get_slice_name (const QuoitRayNodes *nodes, uint32_t index);

/**
 * quoit_ray_nodes_find_slice_node:
 * @slice_name: (nullable): a slice; %NULL for the nodes without a slice name
 * @from: the first row to examine: 0, then the last result plus 1
 *
 * Finds the next row whose node is alive and in the slice.
 *
 * Returns: the index of the row; quoit_ray_nodes_get_n() if there is none
 */
QUOIT_API uint32_t quoit_ray_nodes_find_slice_node (const QuoitRayNodes *nodes, const char *slice_name, uint32_t from);

/**
 * quoit_ray_count_slices:
 * @topology: (nullable): topology of each slice, "4x4"
 * @accelerator_type: (nullable): "TPU-V6E", or the generation
 * @resource_per_chip: (nullable): units of TPU per chip; %NULL for 1
 *
 * Counts the slices that Ray calls intact. The nodes of such a slice are alive, and have this pod type and the same
 * slice name. Their amounts of TPU add up to exactly that of the topology, and one of them is worker 0. A node that has
 * this amount by itself is a slice, whatever its slice name is. Ray compares pod types, not topologies, so it counts
 * 4x4 and 2x8 as the same, and also 2x2x4 and 4x2x2. It does not check whether worker ids repeat.
 *
 * Like Ray, it never fails: arguments that cannot be read give 0.
 *
 * Returns: the number of slices
 */
QUOIT_API uint32_t quoit_ray_count_slices (const QuoitRayNodes *nodes, const char *topology,
                                           const char *accelerator_type, const int64_t *resource_per_chip);

/**
 * quoit_ray_count_ready_slices:
 * @topology: (nullable): topology of each slice, "4x4"
 * @accelerator_type: (nullable): "TPU-V6E", or the generation
 * @resource_per_chip: (nullable): units of TPU per chip; %NULL for 1
 *
 * Counts the slices of quoit_ray_count_slices() that Ray calls ready: no member has less TPU available than in total. A
 * member without a reported TPU availability counts as free, although Ray reports a fully used node like this.
 *
 * Returns: the number of slices
 */
QUOIT_API uint32_t quoit_ray_count_ready_slices (const QuoitRayNodes *nodes, const char *topology,
                                                 const char *accelerator_type, const int64_t *resource_per_chip);

/**
 * quoit_ray_count_free_slices:
 * @topology: (nullable): topology of each slice, "4x4"
 * @accelerator_type: (nullable): "TPU-V6E", or the generation
 * @resource_per_chip: (nullable): units of TPU per chip; %NULL for 1
 *
 * Counts the slices that are completely free. It differs from Ray's counts:
 *
 * - A member without a reported TPU availability is in use.
 * - If a member has the label ray.io/tpu-topology, it must be this topology.
 * - Nodes with one slice name are one slice, even if one of them alone has enough TPU.
 * - If there are several members, their worker ids are 0 to n - 1 without duplicates.
 *
 * Returns: the number of slices
 */
QUOIT_API uint32_t quoit_ray_count_free_slices (const QuoitRayNodes *nodes, const char *topology,
                                                const char *accelerator_type, const int64_t *resource_per_chip);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRayNodes, quoit_ray_nodes_free)

G_END_DECLS

#endif

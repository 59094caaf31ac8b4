/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list of Ray's nodes, as ray.nodes() and Ray's availability give it, and the slices that are counted in it.
 *
 * Ray 2.60 counts a slice as ready when none of its hosts has less TPU available than it has in all; but it leaves out
 * of the availability what is wholly used, and takes what is left out for free. So a slice that somebody uses to the
 * last chip is ready in Ray's eyes. quoit_ray_count_ready_slices() says what Ray says; quoit_ray_count_free_slices()
 * counts those that can be had. For a fleet that quoit keeps, ask quoit/snapshot.h, which knows of holds and drains
 * too.
 *
 * Everything here is pure: no state but the lists that are passed, no environment, no clock.
 */
#ifndef QUOIT_RAY_NODES_H
#define QUOIT_RAY_NODES_H

#include <quoit/models/ray-labels.h>
#include <quoit/models/ray-tpu.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitRayNodes:
 *
 * A node list: rows in their order, dead ones too, and beside them what each node id has available.
 *
 * Since: 0.1
 */
typedef struct _QuoitRayNodes QuoitRayNodes;

/**
 * quoit_ray_nodes_new:
 *
 * An empty node list.
 *
 * Returns: (transfer full): the list; quoit_ray_nodes_free() it
 * Since: 0.1
 */
QUOIT_API QuoitRayNodes *quoit_ray_nodes_new (void);

/**
 * quoit_ray_nodes_free:
 * @nodes: (nullable) (transfer full): a list
 *
 * Frees @nodes and the texts that were borrowed from it.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_nodes_free (QuoitRayNodes *nodes);

/**
 * quoit_ray_nodes_add:
 * @nodes: a list
 * @id: its NodeID; copied
 * @labels: (nullable): its Labels; copied
 * @total: (nullable): its Resources; copied
 *
 * Adds a row that is alive behind the others. Nothing is checked: an id may come twice, as it may in what Ray is told.
 *
 * Returns: the index of the row, 0 for the first
 * Since: 0.1
 */
QUOIT_API unsigned quoit_ray_nodes_add (QuoitRayNodes *nodes, const char *id, const QuoitRayLabels *labels,
                                        const QuoitRayResources *total);

/**
 * quoit_ray_nodes_set_dead:
 * @nodes: a list
 * @index: of a row; one that is not there is passed over
 *
 * Says that the row's node is not alive.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_nodes_set_dead (QuoitRayNodes *nodes, unsigned index);

/**
 * quoit_ray_nodes_set_available:
 * @nodes: a list
 * @id: the id of a node
 * @available: what it has left; copied. What is not in it is left out, as Ray leaves out what is wholly used
 *
 * Says what the node @id has available, in place of what was said before.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_nodes_set_available (QuoitRayNodes *nodes, const char *id, const QuoitRayResources *available);

/**
 * quoit_ray_nodes_get_n:
 * @nodes: a list
 *
 * How many rows there are, dead ones too.
 *
 * Returns: the number of rows
 * Since: 0.1
 */
QUOIT_API unsigned quoit_ray_nodes_get_n (const QuoitRayNodes *nodes);

/**
 * quoit_ray_nodes_get_id:
 * @nodes: a list
 * @index: of a row
 *
 * The id of a row's node.
 *
 * Returns: (transfer none) (nullable): the id, valid until @nodes is freed; %NULL behind the last
 * Since: 0.1
 */
QUOIT_API const char *quoit_ray_nodes_get_id (const QuoitRayNodes *nodes, unsigned index);

/**
 * quoit_ray_nodes_get_slice_name:
 * @nodes: a list
 * @index: of a row
 *
 * The slice that a row's node says it is in: its label ray.io/tpu-slice-name.
 *
 * Returns: (transfer none) (nullable): the name, valid until @nodes is freed; %NULL without one, and behind the last
 * Since: 0.1
 */
QUOIT_API const char *quoit_ray_nodes_get_slice_name (const QuoitRayNodes *nodes, unsigned index);

/**
 * quoit_ray_nodes_find_of_slice:
 * @nodes: a list
 * @slice_name: (nullable): a slice; %NULL for the nodes that name none
 * @from: the row to begin with: 0, then the one behind the last answer
 *
 * The next row whose node is alive and in the slice.
 *
 * Returns: the index of the row; quoit_ray_nodes_get_n() when there is none
 * Since: 0.1
 */
QUOIT_API unsigned quoit_ray_nodes_find_of_slice (const QuoitRayNodes *nodes, const char *slice_name, unsigned from);

/**
 * quoit_ray_count_slices:
 * @nodes: a list
 * @topology: (nullable): "4x4", of each slice
 * @accelerator_type: (nullable): "TPU-V6E", or the generation
 * @resource_per_chip: (nullable): how many units of TPU one chip counts for; %NULL for 1
 *
 * Counts the slices that Ray calls intact: nodes alive, of this pod type and of one slice name, whose TPU make up
 * exactly what the topology has, one of them worker 0. A node that alone has as much is a slice whatever it is called.
 * Only the pod type is looked at, so that 4x4 and 2x8, or 2x2x4 and 4x2x2, count together, and worker ids may repeat.
 *
 * Like Ray it never fails: what cannot be read counts as no slice.
 *
 * Returns: the number of slices
 * Since: 0.1
 */
QUOIT_API unsigned quoit_ray_count_slices (const QuoitRayNodes *nodes, const char *topology,
                                           const char *accelerator_type, const int64_t *resource_per_chip);

/**
 * quoit_ray_count_ready_slices:
 * @nodes: a list
 * @topology: (nullable): "4x4", of each slice
 * @accelerator_type: (nullable): "TPU-V6E", or the generation
 * @resource_per_chip: (nullable): how many units of TPU one chip counts for; %NULL for 1
 *
 * Counts the slices of quoit_ray_count_slices() that Ray calls ready: no member has less TPU available than in all. A
 * member of which no available TPU is told counts as free, though that is how Ray tells of one that is wholly used.
 *
 * Returns: the number of slices
 * Since: 0.1
 */
QUOIT_API unsigned quoit_ray_count_ready_slices (const QuoitRayNodes *nodes, const char *topology,
                                                 const char *accelerator_type, const int64_t *resource_per_chip);

/**
 * quoit_ray_count_free_slices:
 * @nodes: a list
 * @topology: (nullable): "4x4", of each slice
 * @accelerator_type: (nullable): "TPU-V6E", or the generation
 * @resource_per_chip: (nullable): how many units of TPU one chip counts for; %NULL for 1
 *
 * Counts the slices that can be had whole. It differs from Ray's counts in this: a member of which no available TPU is
 * told is used; a member that says ray.io/tpu-topology must say this topology; nodes of one slice name are one slice
 * also where one of them alone has enough; and worker ids, where there are several members, are 0 and on, each once.
 *
 * Returns: the number of slices
 * Since: 0.1
 */
QUOIT_API unsigned quoit_ray_count_free_slices (const QuoitRayNodes *nodes, const char *topology,
                                                const char *accelerator_type, const int64_t *resource_per_chip);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRayNodes, quoit_ray_nodes_free)

G_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_TOPOLOGY_H
#define QUOIT_TOPOLOGY_H

#include <quoit/group.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitTopology:
 *
 * Where each process of a group stands: one process a host, in the order of the profile. Immutable; any thread may read
 * it.
 *
 * Since: 0.1
 */
typedef struct _QuoitTopology QuoitTopology;

/**
 * QuoitProfile:
 *
 * Whose environment is made.
 *
 * %QUOIT_PROFILE_QUOIT: slices and workers in natural order; TPU_ACCELERATOR_TYPE in GKE's spelling; hosts by the
 * webhook's names where nodes come from a manifest, else by address; MEGASCALE_* only for more than one slice,
 * coordinator = host of slice 0, worker 0.
 *
 * %QUOIT_PROFILE_RAY_TRAIN: what Ray Train 2.60's JAX backend sets, in Ray's order: slices sorted as text.
 *
 * Variables that the manifest sets are kept where the profile's system keeps them: MEGASCALE_PORT in both.
 *
 * Since: 0.1
 */
typedef enum { QUOIT_PROFILE_QUOIT = 1, QUOIT_PROFILE_RAY_TRAIN = 2 } QuoitProfile;

/**
 * quoit_topology_new:
 * @group: a group that has nodes
 * @profile: whose environment
 * @error: (out) (optional): set on failure
 *
 * Fails with %QUOIT_ERROR_INVALID for a removed group, for one that has parts of nodes, for a profile that this version
 * does not know, or when Ray's own arithmetic refuses the slices; %QUOIT_ERROR_NOT_NOW when the profile needs
 * addresses, or the topology of a slice, that the group's sources do not know: import the node list of the running
 * cluster.
 *
 * Returns: (transfer full): the topology; quoit_topology_unref() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitTopology *quoit_topology_new (const QuoitGroup *group, QuoitProfile profile, GError **error);

/**
 * quoit_topology_unref:
 * @topology: (nullable): the topology
 *
 * Since: 0.1
 */
QUOIT_API void quoit_topology_unref (QuoitTopology *topology);

/**
 * quoit_topology_get_n_processes:
 * @topology: the topology
 *
 * Returns: the processes of the group; their ids are 0 to n - 1
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_topology_get_n_processes (const QuoitTopology *topology);

/**
 * quoit_topology_get_slice_id:
 * @topology: the topology
 * @process: below quoit_topology_get_n_processes()
 *
 * Returns: the slice id that the profile gives the process's slice
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_topology_get_slice_id (const QuoitTopology *topology, uint32_t process);

/**
 * quoit_topology_get_slice_name:
 * @topology: the topology
 * @process: below quoit_topology_get_n_processes()
 *
 * Returns: (transfer none): the name of the process's slice
 * Since: 0.1
 */
QUOIT_API const char *quoit_topology_get_slice_name (const QuoitTopology *topology, uint32_t process);

/**
 * quoit_topology_get_worker_id:
 * @topology: the topology
 * @process: below quoit_topology_get_n_processes()
 *
 * Returns: the worker id of its host in the slice
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_topology_get_worker_id (const QuoitTopology *topology, uint32_t process);

/**
 * quoit_topology_get_node_name:
 * @topology: the topology
 * @process: below quoit_topology_get_n_processes()
 *
 * Returns: (transfer none): the node that it runs on
 * Since: 0.1
 */
QUOIT_API const char *quoit_topology_get_node_name (const QuoitTopology *topology, uint32_t process);

/**
 * quoit_topology_get_node_address:
 * @topology: the topology
 * @process: below quoit_topology_get_n_processes()
 *
 * Returns: (transfer none) (nullable): the address of that node; %NULL where it is not known
 * Since: 0.1
 */
QUOIT_API const char *quoit_topology_get_node_address (const QuoitTopology *topology, uint32_t process);

/**
 * quoit_topology_get_n_variables:
 * @topology: the topology
 * @process: below quoit_topology_get_n_processes()
 *
 * Returns: the variables of the process's environment, sorted by name
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_topology_get_n_variables (const QuoitTopology *topology, uint32_t process);

/**
 * quoit_topology_get_variable_name:
 * @topology: the topology
 * @process: below quoit_topology_get_n_processes()
 * @variable: below quoit_topology_get_n_variables()
 *
 * Returns: (transfer none): the name
 * Since: 0.1
 */
QUOIT_API const char *quoit_topology_get_variable_name (const QuoitTopology *topology, uint32_t process,
                                                        uint32_t variable);

/**
 * quoit_topology_get_variable_value:
 * @topology: the topology
 * @process: below quoit_topology_get_n_processes()
 * @variable: below quoit_topology_get_n_variables()
 *
 * Returns: (transfer none): the value, as it is: whoever writes it to a shell must quote it
 * Since: 0.1
 */
QUOIT_API const char *quoit_topology_get_variable_value (const QuoitTopology *topology, uint32_t process,
                                                         uint32_t variable);

/**
 * quoit_topology_get_n_notes:
 * @topology: the topology
 *
 * Returns: how many things the caller should know, such as that no addresses are known or that a host is dead
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_topology_get_n_notes (const QuoitTopology *topology);

/**
 * quoit_topology_get_note:
 * @topology: the topology
 * @note: below quoit_topology_get_n_notes()
 *
 * Returns: (transfer none): one sentence
 * Since: 0.1
 */
QUOIT_API const char *quoit_topology_get_note (const QuoitTopology *topology, uint32_t note);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitTopology, quoit_topology_unref)

G_END_DECLS

#endif

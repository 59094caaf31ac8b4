/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_TOPOLOGY_H
#define QUOIT_TOPOLOGY_H

#include <quoit/catalogue.h>
#include <quoit/group.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitTopology:
 *
 * Where each process of a group stands, in the order of the profile: slice by slice, host by host, chip by chip; of
 * %QUOIT_PROFILE_RAY_TRAIN slice by slice, and in a slice bundle by bundle. Processes without chips are behind all
 * others. Immutable; any thread may read it.
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
 * %QUOIT_PROFILE_KUBERAY: what stands in a pod once GKE's TPU webhook has seen it (see quoit/models/webhook.h): a
 * slice's id is its replica's index, whichever others the group has, and there are MEGASCALE_* only where the manifest
 * sets MEGASCALE_NUM_SLICES.
 *
 * %QUOIT_PROFILE_JOBSET: the slices as the jobs of a JobSet, in natural order, and the workers as their pods: host
 * JOBSET-REPLICATEDJOB-JOB-POD.JOBSET, JOB_COMPLETION_INDEX for the worker id (see quoit_launch_set_jobset()).
 *
 * Variables that the manifest sets are kept where the profile's system keeps them: MEGASCALE_PORT in the first three,
 * none in the last, whose pods no RayCluster makes.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_PROFILE_QUOIT = 1,
  QUOIT_PROFILE_RAY_TRAIN = 2,
  QUOIT_PROFILE_KUBERAY = 3,
  QUOIT_PROFILE_JOBSET = 4
} QuoitProfile;

/**
 * QuoitJob:
 *
 * What the processes of a group are together.
 *
 * %QUOIT_JOB_SLICES: one job on whole slices, each host of which has as many processes as any other.
 *
 * %QUOIT_JOB_BOXES: one job on a part of each slice: a box of chips, the same of every slice, which the processes
 * divide as a grid. JAX counts chips and devices from the first chip of the box.
 *
 * %QUOIT_JOB_APART: no job over ICI: each process starts alone, as process 0 of 1, and counts its own chips. Notes say
 * why.
 *
 * Since: 0.1
 */
typedef enum { QUOIT_JOB_SLICES = 1, QUOIT_JOB_BOXES = 2, QUOIT_JOB_APART = 3 } QuoitJob;

/**
 * quoit_topology_new:
 * @group: a group that has nodes
 * @profile: whose environment
 * @error: (out) (optional): set on failure
 *
 * One process a host; quoit_topology_new_launched() starts several. Of a group of bundles each bundle is a process.
 *
 * Fails with %QUOIT_ERROR_INVALID for a removed group, for a bundle whose chips are no box of 1, 2, 4 or 8, which no
 * process can have, for bundles that are no whole slices in a profile of pods, for a profile that this version does not
 * know, when Ray's own arithmetic or the webhook refuses the slices, or when Kubernetes refuses the group's name for a
 * JobSet; %QUOIT_ERROR_NOT_NOW when a bundle is not placed, and when the profile needs addresses, the topology of a
 * slice, or the cluster and the replica that a slice is, which the group's sources do not know: import the node list of
 * the running cluster, or the manifest.
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
 * quoit_topology_get_job:
 * @topology: the topology
 *
 * Returns: what its processes are together; those that have no chips are in no job
 * Since: 0.1
 */
QUOIT_API QuoitJob quoit_topology_get_job (const QuoitTopology *topology);

/**
 * quoit_topology_get_bundle:
 * @topology: the topology
 * @process: below quoit_topology_get_n_processes()
 *
 * Returns: which bundle of the group the process is; -1: the group has its hosts whole
 * Since: 0.1
 */
QUOIT_API int64_t quoit_topology_get_bundle (const QuoitTopology *topology, uint32_t process);

/**
 * quoit_topology_get_slice_id:
 * @topology: the topology
 * @process: below quoit_topology_get_n_processes()
 *
 * Returns: the slice id that the profile gives the process's slice; 0 where it has no chips, and one behind all others
 * where its node is in no slice
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_topology_get_slice_id (const QuoitTopology *topology, uint32_t process);

/**
 * quoit_topology_find_slice_id:
 * @topology: the topology
 * @process: below quoit_topology_get_n_processes()
 * @profile: any profile
 *
 * The slice id that another profile gives the process's slice. They differ: Ray Train overrides the webhook's.
 *
 * Returns: the slice id; -1: none, as for KUBERAY of a slice that is not called GROUP-REPLICA
 * Since: 0.1
 */
QUOIT_API int64_t quoit_topology_find_slice_id (const QuoitTopology *topology, uint32_t process, QuoitProfile profile);

/**
 * quoit_topology_get_group_slice:
 * @topology: the topology
 * @process: below quoit_topology_get_n_processes()
 *
 * Which slice of the group the process is in, in every profile: for quoit_group_dup_slice_name() where the group has
 * slices; of a group of bundles, those that its chips are in are counted in natural order.
 *
 * Returns: the slice; how many there are where the process's node is in none; 4294967295 where the process has no chips
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_topology_get_group_slice (const QuoitTopology *topology, uint32_t process);

/**
 * quoit_topology_get_slice_name:
 * @topology: the topology
 * @process: below quoit_topology_get_n_processes()
 *
 * Returns: (transfer none): the name of the process's slice; "": its node is in none
 * Since: 0.1
 */
QUOIT_API const char *quoit_topology_get_slice_name (const QuoitTopology *topology, uint32_t process);

/**
 * quoit_topology_dup_slice_full_name:
 * @topology: the topology
 * @process: below quoit_topology_get_n_processes()
 *
 * Returns: (transfer full): source/pool/name of the process's slice; "": its node is in none. g_free() it
 * Since: 0.1
 */
QUOIT_API char *quoit_topology_dup_slice_full_name (const QuoitTopology *topology, uint32_t process);

/**
 * quoit_topology_get_worker_id:
 * @topology: the topology
 * @process: below quoit_topology_get_n_processes()
 *
 * Returns: the worker id of its host in the slice; 0 where a process of a bundle has none
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_topology_get_worker_id (const QuoitTopology *topology, uint32_t process);

/**
 * quoit_topology_get_processes_per_host:
 * @topology: the topology
 *
 * Returns: how many processes each host has; 0 unless they are %QUOIT_JOB_SLICES, as hosts may differ then
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_topology_get_processes_per_host (const QuoitTopology *topology);

/**
 * quoit_topology_get_local:
 * @topology: the topology
 * @process: below quoit_topology_get_n_processes()
 *
 * Returns: its number among the processes of its host, from 0
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_topology_get_local (const QuoitTopology *topology, uint32_t process);

/**
 * quoit_topology_get_host_chips:
 * @topology: the topology
 * @process: below quoit_topology_get_n_processes()
 *
 * The chips of its host that the process has: bit 0 is chip 0, and so on by the numbers that TPU_VISIBLE_CHIPS, Ray and
 * bundles know them by. A chip of which a bundle has a part is among them.
 *
 * Returns: the chips; 0 where it has none, or which these are is not known
 * Since: 0.1
 */
QUOIT_API uint64_t quoit_topology_get_host_chips (const QuoitTopology *topology, uint32_t process);

/**
 * quoit_topology_get_n_chips:
 * @topology: the topology
 * @process: below quoit_topology_get_n_processes()
 *
 * Returns: the chips that the process has; 0 where it has none, or its place in a slice is not known
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_topology_get_n_chips (const QuoitTopology *topology, uint32_t process);

/**
 * quoit_topology_get_chip:
 * @topology: the topology
 * @process: below quoit_topology_get_n_processes()
 * @chip: below quoit_topology_get_n_chips()
 *
 * A chip of the process, of those of quoit_topology_get_host_chips(): they ascend by their numbers in the slice, which
 * is how JAX lists the devices of a process.
 *
 * Returns: its number in the slice, as in quoit/models/coordinates.h
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_topology_get_chip (const QuoitTopology *topology, uint32_t process, uint32_t chip);

/**
 * quoit_topology_get_chip_at:
 * @topology: the topology
 * @process: below quoit_topology_get_n_processes()
 * @chip: below quoit_topology_get_n_chips()
 * @axis: an axis
 *
 * Returns: where that chip is on @axis of its slice's torus, from 0
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_topology_get_chip_at (const QuoitTopology *topology, uint32_t process, uint32_t chip,
                                               QuoitAxis axis);

/**
 * quoit_topology_get_n_devices:
 * @topology: the topology
 * @process: below quoit_topology_get_n_processes()
 *
 * Returns: what JAX calls the local devices of the process; 0 where quoit_topology_get_n_chips() is
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_topology_get_n_devices (const QuoitTopology *topology, uint32_t process);

/**
 * quoit_topology_get_device:
 * @topology: the topology
 * @process: below quoit_topology_get_n_processes()
 * @device: below quoit_topology_get_n_devices(); chip by chip, the devices of a chip follow each other
 *
 * The devices of a slice are numbered behind those of the slices before it in the order of the processes. Where the job
 * has a part of each slice they are those of the part, and where a process is alone its own.
 *
 * Returns: the id of that device in the whole job, as quoit_devices_new_group() has it
 * Since: 0.1
 */
QUOIT_API uint64_t quoit_topology_get_device (const QuoitTopology *topology, uint32_t process, uint32_t device);

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
 * quoit_topology_dup_node_full_name:
 * @topology: the topology
 * @process: below quoit_topology_get_n_processes()
 *
 * Returns: (transfer full): source/pool/name of the node that it runs on; g_free() it
 * Since: 0.1
 */
QUOIT_API char *quoit_topology_dup_node_full_name (const QuoitTopology *topology, uint32_t process);

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
 * quoit_topology_get_node_assumptions:
 * @topology: the topology
 * @process: below quoit_topology_get_n_processes()
 *
 * What the sources of that node did not say. Of %QUOIT_NODE_ASSUMES_HOST_NAME a note says which variables are not right
 * then.
 *
 * Returns: what was assumed, of #QuoitNodeAssumptions
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_topology_get_node_assumptions (const QuoitTopology *topology, uint32_t process);

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

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_TOPOLOGY_H
#define QUOIT_TOPOLOGY_H

#include <stdbool.h>

#include <quoit/catalogue.h>
#include <quoit/group.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitTopology:
 *
 * The processes of a group: for each its ids, its chips, its node and its environment. The order is that of the
 * profile: slice by slice, host by host, chip by chip; with %QUOIT_PROFILE_RAY_TRAIN bundle by bundle in each slice.
 * Processes without chips come last. Immutable; any thread can read it.
 */
typedef struct _QuoitTopology QuoitTopology;

/**
 * QuoitProfile:
 *
 * The system whose environment is computed.
 *
 * - %QUOIT_PROFILE_QUOIT: slices and workers in natural order; TPU_ACCELERATOR_TYPE in GKE's spelling; host names of
 *   the webhook for nodes of a manifest, else addresses; MEGASCALE_* only for more than one slice, with worker 0 of
 *   slice 0 as coordinator.
 * - %QUOIT_PROFILE_RAY_TRAIN: what Ray Train 2.60's JAX backend sets. Slices are sorted as text, like Ray does.
 * - %QUOIT_PROFILE_KUBERAY: what a pod contains after GKE's TPU webhook has changed it (quoit/models/webhook.h). The id
 *   of a slice is its replica index, independent of the group's other slices. MEGASCALE_* exist only if the manifest
 *   sets MEGASCALE_NUM_SLICES.
 * - %QUOIT_PROFILE_JOBSET: the slices are the jobs of a JobSet in natural order, the workers are their pods: host
 *   JOBSET-REPLICATEDJOB-JOB-POD.JOBSET, and JOB_COMPLETION_INDEX is the worker id (quoit_launch_set_jobset()).
 * - %QUOIT_PROFILE_LWS: what a pod contains after the webhook of LeaderWorkerSet 0.9 has changed it. The slices are the
 *   replicas in natural order, or their subgroups; each replica is a job of its own (quoit_launch_set_lws()).
 * - %QUOIT_PROFILE_JOB: the slice is one indexed Job. GKE's webhook gives its pods their worker ids and host names,
 *   JOB-INDEX.SUBDOMAIN (quoit_launch_set_job()). Or each slice has one host, and is one pod of a Job, StatefulSet,
 *   Deployment, ReplicaSet or Pod.
 *
 * The first three profiles and %QUOIT_PROFILE_LWS keep the variables of a manifest that the modelled system keeps, such
 * as MEGASCALE_PORT. %QUOIT_PROFILE_JOBSET and %QUOIT_PROFILE_JOB keep none.
 */
typedef enum {
  QUOIT_PROFILE_QUOIT = 1,
  QUOIT_PROFILE_RAY_TRAIN = 2,
  QUOIT_PROFILE_KUBERAY = 3,
  QUOIT_PROFILE_JOBSET = 4,
  QUOIT_PROFILE_LWS = 5,
  QUOIT_PROFILE_JOB = 6
} QuoitProfile;

/**
 * QuoitLwsFlags:
 *
 * The form of the replicas of a LeaderWorkerSet.
 *
 * - %QUOIT_LWS_LEADER_APART: the leader requests no chips, so it is no worker of a slice.
 * - %QUOIT_LWS_OWN_SUBDOMAINS: subdomainPolicy UniquePerReplica: each replica has a service of its own.
 * - %QUOIT_LWS_SUBGROUPS: subGroupPolicy: a replica has subgroups, each of which is a slice. LeaderWorkerSet then sets
 *   the variables for TPU only in the first container of a pod.
 */
typedef enum {
  QUOIT_LWS_LEADER_APART = 1 << 0,
  QUOIT_LWS_OWN_SUBDOMAINS = 1 << 1,
  QUOIT_LWS_SUBGROUPS = 1 << 2
} QuoitLwsFlags;

/**
 * QuoitJob:
 *
 * How the processes of a group work together.
 *
 * - %QUOIT_JOB_SLICES: one job on whole slices, with the same number of processes on each host.
 * - %QUOIT_JOB_BOXES: one job on the same box of chips in each slice; the processes divide the box as a grid. JAX
 *   counts chips and devices from the first chip of the box.
 * - %QUOIT_JOB_SEPARATE: no common job over ICI. Each process starts alone, as process 0 of 1, and counts its own
 *   chips. Notes give the reason.
 */
typedef enum { QUOIT_JOB_SLICES = 1, QUOIT_JOB_BOXES = 2, QUOIT_JOB_SEPARATE = 3 } QuoitJob;

/**
 * QuoitLaunch:
 *
 * How processes are started. Use it in one thread at a time.
 */
typedef struct _QuoitLaunch QuoitLaunch;

/**
 * QuoitRenumbering:
 *
 * The effect of a change of a group on each of its processes: ids and environment before and after. It has one row for
 * each process: first the present ones by process id, then those that are gone by their old process id. Immutable; any
 * thread can read it. It does not need the topologies after its creation.
 *
 * A process is identified by its host's identity in the host's source: a new machine with an old name is another
 * process.
 */
typedef struct _QuoitRenumbering QuoitRenumbering;

/**
 * QuoitProcessChange:
 *
 * The change of a process.
 *
 * - %QUOIT_PROCESS_SAME: ids and environment are unchanged.
 * - %QUOIT_PROCESS_CHANGED: the ids are unchanged, the environment is not.
 * - %QUOIT_PROCESS_MOVED: the process id, slice id or worker id changed.
 * - %QUOIT_PROCESS_JOINED: the process is new.
 * - %QUOIT_PROCESS_LEFT: the process is gone.
 */
typedef enum {
  QUOIT_PROCESS_SAME = 1,
  QUOIT_PROCESS_CHANGED = 2,
  QUOIT_PROCESS_MOVED = 3,
  QUOIT_PROCESS_JOINED = 4,
  QUOIT_PROCESS_LEFT = 5
} QuoitProcessChange;

/**
 * QuoitRenumberingSide:
 *
 * The two states that a renumbering compares.
 */
typedef enum { QUOIT_RENUMBERING_BEFORE = 0, QUOIT_RENUMBERING_AFTER = 1 } QuoitRenumberingSide;

/**
 * quoit_launch_new:
 * @profile: the system whose environment is computed; another number is a programming error
 *
 * Creates a launch with one process per host.
 *
 * Returns: (transfer full): the launch; quoit_launch_free() it
 */
QUOIT_API QuoitLaunch *quoit_launch_new (QuoitProfile profile);

/**
 * quoit_launch_free:
 * @launch: (nullable): the launch
 *
 * Frees the launch.
 */
QUOIT_API void quoit_launch_free (QuoitLaunch *launch);

/**
 * quoit_launch_get_profile:
 *
 * Returns: the system whose environment is computed
 *
 * Since: 0.1
 */
QUOIT_API QuoitProfile quoit_launch_get_profile (const QuoitLaunch *launch);

/**
 * quoit_launch_set_processes_per_host:
 * @n: 1, 2, 4 or 8; they share the host's chips evenly
 *
 * Sets how many processes each host has: 1 for JAX, one per chip for PyTorch/XLA.
 *
 * Profiles quoit and jobset then set TPU_PROCESS_BOUNDS, TPU_CHIPS_PER_PROCESS_BOUNDS and TPU_VISIBLE_CHIPS (the chips
 * of each process), TPU_PROCESS_ADDRESSES and TPU_PROCESS_PORT (port 8471 or the manifest's, plus 1 for each further
 * process of a host), and CLOUD_TPU_TASK_ID and TPU_WORKER_ID (the number of the process in its slice, host by host).
 * Profile ray-train sets what Ray sets for a worker with that part of a host, profile kuberay what the webhook sets in
 * a pod with that many containers.
 *
 * Fails with %QUOIT_ERROR_INVALID for another number. quoit_topology_new() checks whether the hosts can be divided.
 */
QUOIT_API bool quoit_launch_set_processes_per_host (QuoitLaunch *launch, uint32_t n, GError **error);

/**
 * quoit_topology_new:
 * @group: a group that has nodes
 * @launch: (nullable): how its processes are started; %NULL: profile quoit, one process per host
 *
 * Computes the processes of a group. Whole hosts are divided as @launch states; a bundle that is a part of a host is
 * one process.
 *
 * Fails with %QUOIT_ERROR_INVALID if:
 *
 * - the group has ended, or the profile is unknown;
 * - the chips of a bundle are not a box of 1, 2, 4 or 8 chips;
 * - a profile of pods is used for bundles that are not whole slices;
 * - JAX cannot divide a host's chips among that many processes, or several processes per host are wanted for bundles
 *   with parts of hosts, or for a slice of which the group has only some hosts;
 * - TPU_PROCESS_PORT of the manifest leaves too few ports;
 * - Ray's arithmetic or the webhook refuses the slices, or Kubernetes refuses a JobSet's name.
 *
 * Fails with %QUOIT_ERROR_NOT_NOW if a bundle is not placed, or the profile needs addresses, the topology of a slice,
 * or its cluster and replica, which the group's sources do not contain: import the node list of the running cluster, or
 * the manifest.
 *
 * Returns: (transfer full): the topology; quoit_topology_free() it
 */
QUOIT_API QuoitTopology *quoit_topology_new (const QuoitGroup *group, const QuoitLaunch *launch, GError **error);

/**
 * quoit_topology_free:
 * @topology: (nullable): the topology
 *
 * Frees the topology.
 */
QUOIT_API void quoit_topology_free (QuoitTopology *topology);

/**
 * quoit_topology_get_n_processes:
 *
 * Returns: the number of processes; their ids are 0 to n - 1
 */
QUOIT_API uint32_t quoit_topology_get_n_processes (const QuoitTopology *topology);

/**
 * quoit_topology_get_job:
 *
 * Returns: how the processes with chips work together
 */
QUOIT_API QuoitJob quoit_topology_get_job (const QuoitTopology *topology);

/**
 * quoit_topology_get_bundle:
 * @process: below quoit_topology_get_n_processes()
 *
 * Returns: the index of the bundle that the process runs in; -1 if the group has whole hosts
 */
QUOIT_API int64_t quoit_topology_get_bundle (const QuoitTopology *topology, uint32_t process);

/**
 * quoit_topology_get_slice_id:
 * @process: below quoit_topology_get_n_processes()
 *
 * Returns: the id that the profile gives the process's slice; 0 if the process has no chips; the number of slices if
 *   its node is in no slice
 */
QUOIT_API uint32_t quoit_topology_get_slice_id (const QuoitTopology *topology, uint32_t process);

/**
 * quoit_topology_get_group_slice:
 * @process: below quoit_topology_get_n_processes()
 *
 * Returns the index of the process's slice in the group, the same in every profile. For groups of slices it is the
 * index of quoit_group_dup_slice_name(); for groups of bundles the slices with their chips are counted in natural
 * order.
 *
 * Returns: the index; the number of slices if the node is in no slice; 4294967295 if the process has no chips
 */
QUOIT_API uint32_t quoit_topology_get_group_slice (const QuoitTopology *topology, uint32_t process);

/**
 * quoit_topology_get_slice_name:
 * @process: below quoit_topology_get_n_processes()
 *
 * Returns: (transfer none): the name of the process's slice; "" if its node is in no slice
 */
QUOIT_API const char *quoit_topology_get_slice_name (const QuoitTopology *topology, uint32_t process);

/**
 * quoit_topology_dup_slice_full_name:
 * @process: below quoit_topology_get_n_processes()
 *
 * Returns: (transfer full): source/pool/name of the process's slice; "" if its node is in no slice; g_free() it
 */
QUOIT_API char *quoit_topology_dup_slice_full_name (const QuoitTopology *topology, uint32_t process);

/**
 * quoit_topology_get_worker_id:
 * @process: below quoit_topology_get_n_processes()
 *
 * Returns: the worker id of the process's host in the slice; 0 if it has none
 */
QUOIT_API uint32_t quoit_topology_get_worker_id (const QuoitTopology *topology, uint32_t process);

/**
 * quoit_topology_get_local_index:
 * @process: below quoit_topology_get_n_processes()
 *
 * Returns: the index of the process among those of its host, from 0
 */
QUOIT_API uint32_t quoit_topology_get_local_index (const QuoitTopology *topology, uint32_t process);

/**
 * quoit_topology_get_host_chips:
 * @process: below quoit_topology_get_n_processes()
 *
 * Returns the chips of its host that the process uses, as bits: bit 0 is chip 0, in the numbering of TPU_VISIBLE_CHIPS,
 * Ray and bundles. A chip is included even if the bundle has only a part of it.
 *
 * Returns: the chips; 0 if the process has none or they are unknown
 */
QUOIT_API uint64_t quoit_topology_get_host_chips (const QuoitTopology *topology, uint32_t process);

/**
 * quoit_topology_get_n_chips:
 * @process: below quoit_topology_get_n_processes()
 *
 * Returns: the number of the process's chips; 0 if it has none or its place in a slice is unknown
 */
QUOIT_API uint32_t quoit_topology_get_n_chips (const QuoitTopology *topology, uint32_t process);

/**
 * quoit_topology_get_chip:
 * @process: below quoit_topology_get_n_processes()
 * @chip: below quoit_topology_get_n_chips()
 *
 * Returns a chip of the process. They are in ascending order of their numbers in the slice, which is the order of JAX's
 * local devices.
 *
 * Returns: the chip's number in the slice, as in quoit/models/coordinates.h
 */
QUOIT_API uint32_t quoit_topology_get_chip (const QuoitTopology *topology, uint32_t process, uint32_t chip);

/**
 * quoit_topology_get_chip_at:
 * @process: below quoit_topology_get_n_processes()
 * @chip: below quoit_topology_get_n_chips()
 * @axis: an axis
 *
 * Returns: the chip's coordinate on @axis of its slice's torus, from 0
 */
QUOIT_API uint32_t quoit_topology_get_chip_at (const QuoitTopology *topology, uint32_t process, uint32_t chip,
                                               QuoitAxis axis);

/**
 * quoit_topology_get_node_name:
 * @process: below quoit_topology_get_n_processes()
 *
 * Returns: (transfer none): the short name of the process's node
 */
QUOIT_API const char *quoit_topology_get_node_name (const QuoitTopology *topology, uint32_t process);

/**
 * quoit_topology_dup_node_full_name:
 * @process: below quoit_topology_get_n_processes()
 *
 * Returns: (transfer full): source/pool/name of the process's node; g_free() it
 */
QUOIT_API char *quoit_topology_dup_node_full_name (const QuoitTopology *topology, uint32_t process);

/**
 * quoit_topology_get_node_address:
 * @process: below quoit_topology_get_n_processes()
 *
 * Returns: (transfer none) (nullable): the address of the process's node; %NULL if it is unknown
 */
QUOIT_API const char *quoit_topology_get_node_address (const QuoitTopology *topology, uint32_t process);

/**
 * quoit_topology_get_n_variables:
 * @process: below quoit_topology_get_n_processes()
 *
 * Returns: the number of variables in the process's environment; they are sorted by name
 */
QUOIT_API uint32_t quoit_topology_get_n_variables (const QuoitTopology *topology, uint32_t process);

/**
 * quoit_topology_get_variable_name:
 * @process: below quoit_topology_get_n_processes()
 * @variable: below quoit_topology_get_n_variables()
 *
 * Returns: (transfer none): the name
 */
QUOIT_API const char *quoit_topology_get_variable_name (const QuoitTopology *topology, uint32_t process,
                                                        uint32_t variable);

/**
 * quoit_topology_get_variable_value:
 * @process: below quoit_topology_get_n_processes()
 * @variable: below quoit_topology_get_n_variables()
 *
 * Returns: (transfer none): the value, not quoted; quote it for a shell
 */
QUOIT_API const char *quoit_topology_get_variable_value (const QuoitTopology *topology, uint32_t process,
                                                         uint32_t variable);

/**
 * quoit_topology_get_n_notes:
 *
 * Returns: the number of notes, such as that addresses are unknown or that a host is dead
 */
QUOIT_API uint32_t quoit_topology_get_n_notes (const QuoitTopology *topology);

/**
 * quoit_topology_get_note:
 * @note: below quoit_topology_get_n_notes()
 *
 * Returns: (transfer none): one sentence
 */
QUOIT_API const char *quoit_topology_get_note (const QuoitTopology *topology, uint32_t note);

/**
 * quoit_renumbering_new:
 * @before: (nullable): the group before the change; %NULL: it had no processes
 * @after: (nullable): the group after the change, in the same profile and ledger; %NULL: it has no processes
 *
 * Compares two topologies. Cannot fail.
 *
 * Returns: (transfer full): the difference; quoit_renumbering_free() it
 */
QUOIT_API QuoitRenumbering *quoit_renumbering_new (const QuoitTopology *before, const QuoitTopology *after);

/**
 * quoit_renumbering_free:
 * @renumbering: (nullable): the renumbering
 *
 * Frees the renumbering.
 */
QUOIT_API void quoit_renumbering_free (QuoitRenumbering *renumbering);

/**
 * quoit_renumbering_get_n_rows:
 *
 * Returns: the number of processes before and after, each counted once
 */
QUOIT_API uint32_t quoit_renumbering_get_n_rows (const QuoitRenumbering *renumbering);

/**
 * quoit_renumbering_get_change:
 * @row: below quoit_renumbering_get_n_rows()
 *
 * Returns: the change of the process
 */
QUOIT_API QuoitProcessChange quoit_renumbering_get_change (const QuoitRenumbering *renumbering, uint32_t row);

/**
 * quoit_renumbering_get_node_name:
 * @row: below quoit_renumbering_get_n_rows()
 *
 * Returns the present name of the process's node, or the last one if the process is gone: the short name if it is
 * unambiguous in the fleet, else source/pool/name.
 *
 * Returns: (transfer none): the name
 */
QUOIT_API const char *quoit_renumbering_get_node_name (const QuoitRenumbering *renumbering, uint32_t row);

/**
 * quoit_renumbering_get_slice_name:
 * @row: below quoit_renumbering_get_n_rows()
 *
 * Returns: (transfer none): the name of the node's slice, in the same form
 */
QUOIT_API const char *quoit_renumbering_get_slice_name (const QuoitRenumbering *renumbering, uint32_t row);

/**
 * quoit_renumbering_get_counterpart:
 * @row: below quoit_renumbering_get_n_rows()
 *
 * Returns the node that a new process replaces, or the node that replaces a process that is gone: the one with its
 * worker id in the slice of the same name, else in the slice with the same slice id. Both nodes can have the same name.
 *
 * Returns: (transfer none) (nullable): the node; %NULL if there is none, and for processes that stay
 */
QUOIT_API const char *quoit_renumbering_get_counterpart (const QuoitRenumbering *renumbering, uint32_t row);

/**
 * quoit_renumbering_get_process:
 * @row: below quoit_renumbering_get_n_rows()
 * @side: before or after
 *
 * Returns: the process id on that side; -1 if the process does not exist there
 */
QUOIT_API int64_t quoit_renumbering_get_process (const QuoitRenumbering *renumbering, uint32_t row,
                                                 QuoitRenumberingSide side);

/**
 * quoit_renumbering_get_slice_id:
 * @row: below quoit_renumbering_get_n_rows()
 * @side: before or after
 *
 * Returns: the id of the process's slice on that side; -1 if the process does not exist there, or has no slice
 */
QUOIT_API int64_t quoit_renumbering_get_slice_id (const QuoitRenumbering *renumbering, uint32_t row,
                                                  QuoitRenumberingSide side);

/**
 * quoit_renumbering_get_worker_id:
 * @row: below quoit_renumbering_get_n_rows()
 * @side: before or after
 *
 * Returns: the worker id of the process's host on that side; -1 if the process does not exist there, or its host has no
 *   worker id
 */
QUOIT_API int64_t quoit_renumbering_get_worker_id (const QuoitRenumbering *renumbering, uint32_t row,
                                                   QuoitRenumberingSide side);

/**
 * quoit_renumbering_get_n_variables:
 * @row: below quoit_renumbering_get_n_rows()
 *
 * Returns: the number of variables that differ, sorted by name; all variables of a process that is new or gone
 */
QUOIT_API uint32_t quoit_renumbering_get_n_variables (const QuoitRenumbering *renumbering, uint32_t row);

/**
 * quoit_renumbering_get_variable_name:
 * @row: below quoit_renumbering_get_n_rows()
 * @variable: below quoit_renumbering_get_n_variables()
 *
 * Returns: (transfer none): the name
 */
QUOIT_API const char *quoit_renumbering_get_variable_name (const QuoitRenumbering *renumbering, uint32_t row,
                                                           uint32_t variable);

/**
 * quoit_renumbering_get_variable_value:
 * @row: below quoit_renumbering_get_n_rows()
 * @variable: below quoit_renumbering_get_n_variables()
 * @side: before or after
 *
 * Returns: (transfer none) (nullable): the value; %NULL: the variable is not set
 */
QUOIT_API const char *quoit_renumbering_get_variable_value (const QuoitRenumbering *renumbering, uint32_t row,
                                                            uint32_t variable, QuoitRenumberingSide side);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRenumbering, quoit_renumbering_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitTopology, quoit_topology_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitLaunch, quoit_launch_free)

G_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What reports, snapshots and topologies know of other systems: Ray's answers and head node, KubeRay's pods and names,
 * JAX's devices, JobSet, and the files of graph tools.
 */
#ifndef QUOIT_SYSTEMS_H
#define QUOIT_SYSTEMS_H

#include <stdbool.h>

#include <quoit/report.h>
#include <quoit/snapshot.h>
#include <quoit/topology.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitRayAnswer:
 *
 * What Ray 2.60's control plane would answer.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_RAY_ANSWER_NONE = 0,      /* it has no such request: whole slices, several values of a label */
  QUOIT_RAY_ANSWER_SUCCESS = 1,   /* placed */
  QUOIT_RAY_ANSWER_FAILED = 2,    /* not placed; tried again each second */
  QUOIT_RAY_ANSWER_INFEASIBLE = 3 /* not placed; tried again when a node joins */
} QuoitRayAnswer;

/**
 * quoit_report_get_ray_answer:
 * @report: the report
 *
 * The answer is independent of the request's policy. Modelled on Ray 2.60's scheduler.
 *
 * Returns: what Ray would answer now
 * Since: 0.1
 */
QUOIT_API QuoitRayAnswer quoit_report_get_ray_answer (const QuoitReport *report);

/**
 * quoit_report_does_ray_vary:
 * @report: the report
 *
 * Ray chooses at random among nodes with equal scores, so its answer can differ from call to call.
 *
 * Returns: whether Ray had such a choice
 * Since: 0.1
 */
QUOIT_API bool quoit_report_does_ray_vary (const QuoitReport *report);

/**
 * quoit_request_set_soft_target:
 * @request: the request
 * @node: (nullable): short or full name; %QUOIT_ERROR_NOT_FOUND on use for an unknown name
 *
 * The node that %QUOIT_STRATEGY_STRICT_PACK takes if all bundles fit there, as Ray's `_soft_target_node_id` does;
 * otherwise it takes another node. With any other strategy the request is %QUOIT_ERROR_INVALID when it is used.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_request_set_soft_target (QuoitRequest *request, const char *node);

/**
 * quoit_snapshot_is_node_ray_head:
 * @snapshot: the snapshot
 * @node: below quoit_snapshot_get_n_nodes()
 *
 * Returns: whether Ray's head runs on it; a Ray head may be a TPU node
 * Since: 0.1
 */
QUOIT_API bool quoit_snapshot_is_node_ray_head (const QuoitSnapshot *snapshot, uint32_t node);

/**
 * QuoitNodeAssumptions:
 *
 * What a node's source did not say, so that it was assumed; any number of them may hold.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_NODE_ASSUMES_WORKER_ID = 1, /* its place in the slice, by the order of addresses */
  QUOIT_NODE_ASSUMES_HOST_NAME = 2  /* the cluster's name, of which KubeRay chooses the end, and so the host's */
} QuoitNodeAssumptions;

/**
 * quoit_snapshot_get_node_assumptions:
 * @snapshot: the snapshot
 * @node: below quoit_snapshot_get_n_nodes()
 *
 * The facts of the node that quoit assumed because its source does not state them.
 *
 * Returns: what was assumed, of #QuoitNodeAssumptions
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_snapshot_get_node_assumptions (const QuoitSnapshot *snapshot, uint32_t node);

/**
 * quoit_snapshot_get_pool_n_pods:
 * @snapshot: the snapshot
 * @pool: below quoit_snapshot_get_n_pools()
 *
 * Returns: the worker pods that a manifest desires; 0 for other sources and for a head
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_snapshot_get_pool_n_pods (const QuoitSnapshot *snapshot, uint32_t pool);

/**
 * quoit_snapshot_dup_pool_cpu:
 * @snapshot: the snapshot
 * @pool: below quoit_snapshot_get_n_pools()
 *
 * The sum over the pods of what they request, or else limit: what `kubectl get raycluster` adds up.
 *
 * Returns: (transfer full): CPUs, as decimal text; g_free() it
 * Since: 0.1
 */
QUOIT_API char *quoit_snapshot_dup_pool_cpu (const QuoitSnapshot *snapshot, uint32_t pool);

/**
 * quoit_snapshot_dup_pool_memory:
 * @snapshot: the snapshot
 * @pool: below quoit_snapshot_get_n_pools()
 *
 * The sum over the pods of what they request, or else limit: what `kubectl get raycluster` adds up.
 *
 * Returns: (transfer full): bytes, as decimal text; g_free() it
 * Since: 0.1
 */
QUOIT_API char *quoit_snapshot_dup_pool_memory (const QuoitSnapshot *snapshot, uint32_t pool);

/**
 * QuoitGraphForm:
 *
 * How a graph is written.
 *
 * %QUOIT_GRAPH_FORM_DOT: for Graphviz: `dot -Tsvg`.
 *
 * %QUOIT_GRAPH_FORM_JGF: the JSON graph that Fluxion's resource-query reads with `--load-format=jgf`.
 *
 * Since: 0.1
 */
typedef enum { QUOIT_GRAPH_FORM_DOT = 1, QUOIT_GRAPH_FORM_JGF = 2 } QuoitGraphForm;

/**
 * quoit_snapshot_dup_graph:
 * @snapshot: the snapshot
 * @form: how it is written
 * @error: (out) (optional): set on failure
 *
 * The fleet as a graph. Vertices are the fleet, sources, pools, slices, nodes, the chips of nodes, and live groups;
 * edges are `contains` (fleet to source, pool, slice, node and chip), `ici` (between chips of a slice, once a link, for
 * nodes that have a place in their slice), `dcn` (between the slices of a group, of more than 64 each to the next) and
 * `holds` (a group to its nodes, with the chips where it has not all). Vertices have names and states; of nodes also
 * address and worker id, of chips their coordinates, x first. Equal states give equal text. It has a vertex a chip and
 * three edges at most: a fleet of 100,000 chips is some 100 MB.
 *
 * In JGF each of the four is a subsystem of its own, `contains` being Fluxion's "containment"; nodes that are not alive
 * are down. Types are the words above.
 *
 * Fails with %QUOIT_ERROR_INVALID for a form that this version does not know.
 *
 * Returns: (transfer full): the text; g_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API char *quoit_snapshot_dup_graph (const QuoitSnapshot *snapshot, QuoitGraphForm form, GError **error);

/**
 * quoit_topology_get_node_assumptions:
 * @topology: the topology
 * @process: below quoit_topology_get_n_processes()
 *
 * Returns what the sources of the process's node left open, so that quoit assumed it. With
 * %QUOIT_NODE_ASSUMES_HOST_NAME, a note names the affected variables.
 *
 * Returns: a set of #QuoitNodeAssumptions
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_topology_get_node_assumptions (const QuoitTopology *topology, uint32_t process);

/**
 * quoit_topology_find_slice_id:
 * @topology: the topology
 * @process: below quoit_topology_get_n_processes()
 * @profile: any profile
 *
 * Returns the id that another profile gives the process's slice. Profiles differ: Ray Train overrides the webhook's
 * ids.
 *
 * Returns: the slice id; -1: none, such as for profile kuberay if the slice's name is not GROUP-REPLICA
 * Since: 0.1
 */
QUOIT_API int64_t quoit_topology_find_slice_id (const QuoitTopology *topology, uint32_t process, QuoitProfile profile);

/**
 * quoit_topology_get_n_devices:
 * @topology: the topology
 * @process: below quoit_topology_get_n_processes()
 *
 * Returns: the number of JAX's local devices of the process; 0 if quoit_topology_get_n_chips() is 0
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_topology_get_n_devices (const QuoitTopology *topology, uint32_t process);

/**
 * quoit_topology_get_device:
 * @topology: the topology
 * @process: below quoit_topology_get_n_processes()
 * @device: below quoit_topology_get_n_devices(), chip by chip
 *
 * Returns the id of a JAX device. The devices of a slice follow those of the slices before it, in the order of the
 * processes. If the job has a part of each slice, only devices of that part count; if a process is alone, only its own.
 *
 * Returns: the id in the whole job, as in quoit_devices_new_group()
 * Since: 0.1
 */
QUOIT_API uint64_t quoit_topology_get_device (const QuoitTopology *topology, uint32_t process, uint32_t device);

/**
 * quoit_launch_set_jobset:
 * @launch: the launch
 * @name: (nullable): name of the JobSet and of its headless service; %NULL: the group's name
 * @replicated_job: (nullable): name of the replicated job whose jobs are the slices; %NULL: "slice-job"
 * @error: (out) (optional): set on failure
 *
 * Sets the names for profile jobset.
 *
 * Fails with %QUOIT_ERROR_INVALID if Kubernetes refuses a name: @name consists of lower-case letters, digits and "-",
 * begins with a letter and does not end with "-"; @replicated_job can also begin with a digit.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_launch_set_jobset (QuoitLaunch *launch, const char *name, const char *replicated_job,
                                        GError **error);

/* cdef-end */

G_END_DECLS

#endif

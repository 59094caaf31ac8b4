/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of reports, requests, snapshots, launches and topologies that model other systems: Ray's answers and head
 * node, KubeRay's pods and names, JAX's devices, JobSet, LeaderWorkerSet, Jobs, and the files of graph tools. */
#ifndef QUOIT_SYSTEMS_H
#define QUOIT_SYSTEMS_H

#include <stdbool.h>

#include <quoit/input.h>
#include <quoit/report.h>
#include <quoit/snapshot.h>
#include <quoit/topology.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitRayAnswer:
 *
 * The answer of Ray 2.60's control plane to a placement group.
 */
typedef enum {
  QUOIT_RAY_ANSWER_NONE = 0,      /* Ray has no such request: whole slices, several values of a label */
  QUOIT_RAY_ANSWER_SUCCESS = 1,   /* placed */
  QUOIT_RAY_ANSWER_FAILED = 2,    /* not placed; Ray retries each second */
  QUOIT_RAY_ANSWER_INFEASIBLE = 3 /* not placed; Ray retries when a node joins */
} QuoitRayAnswer;

/**
 * quoit_report_get_ray_answer:
 *
 * Returns Ray's present answer to the request, whatever the policy of the request is.
 *
 * Returns: the answer
 */
QUOIT_API QuoitRayAnswer quoit_report_get_ray_answer (const QuoitReport *report);

/**
 * quoit_report_can_ray_answer_vary:
 *
 * Ray chooses at random among nodes with equal scores. If it has such a choice, its answer can differ from call to
 * call.
 *
 * Returns: true if Ray has such a choice
 */
QUOIT_API bool quoit_report_can_ray_answer_vary (const QuoitReport *report);

/**
 * quoit_request_set_soft_target:
 * @node: (nullable): short or full name of a node
 *
 * Sets the node that %QUOIT_STRATEGY_STRICT_PACK uses if all bundles fit on it, like Ray's `_soft_target_node_id`;
 * otherwise it uses another node. On use, an unknown name is %QUOIT_ERROR_NOT_FOUND, and another strategy is refused.
 */
QUOIT_API void quoit_request_set_soft_target (QuoitRequest *request, const char *node);

/**
 * quoit_snapshot_is_node_ray_head:
 * @node: below quoit_snapshot_get_n_nodes()
 *
 * Returns: true if the node is the head of a Ray cluster; a head can also be a TPU node
 */
QUOIT_API bool quoit_snapshot_is_node_ray_head (const QuoitSnapshot *snapshot, uint32_t node);

/**
 * QuoitNodeAssumptions:
 *
 * Facts of a node that quoit assumes because its source does not state them, as bits. Several can be set.
 */
typedef enum {
  QUOIT_NODE_ASSUMES_WORKER_ID = 1, /* the worker id, by the order of addresses */
  QUOIT_NODE_ASSUMES_HOST_NAME = 2  /* the host name, because KubeRay chooses the end of the cluster's name */
} QuoitNodeAssumptions;

/**
 * quoit_snapshot_get_node_assumptions:
 * @node: below quoit_snapshot_get_n_nodes()
 *
 * Returns: a set of #QuoitNodeAssumptions
 */
QUOIT_API uint32_t quoit_snapshot_get_node_assumptions (const QuoitSnapshot *snapshot, uint32_t node);

/**
 * quoit_snapshot_get_pool_n_pods:
 * @pool: below quoit_snapshot_get_n_pools()
 *
 * Returns: the number of worker pods that the manifest desires; 0 for other sources and for a head
 */
QUOIT_API uint32_t quoit_snapshot_get_pool_n_pods (const QuoitSnapshot *snapshot, uint32_t pool);

/**
 * quoit_snapshot_dup_pool_cpu:
 * @pool: below quoit_snapshot_get_n_pools()
 *
 * Returns the CPUs of the pool's pods, summed like in `kubectl get raycluster`: the requests of the pods, or their
 * limits if they have no requests.
 *
 * Returns: (transfer full): the sum as decimal text; g_free() it
 */
QUOIT_API char *quoit_snapshot_dup_pool_cpu (const QuoitSnapshot *snapshot, uint32_t pool);

/**
 * quoit_snapshot_dup_pool_memory:
 * @pool: below quoit_snapshot_get_n_pools()
 *
 * Returns the memory of the pool's pods, summed like the CPUs.
 *
 * Returns: (transfer full): bytes as decimal text; g_free() it
 */
QUOIT_API char *quoit_snapshot_dup_pool_memory (const QuoitSnapshot *snapshot, uint32_t pool);

/**
 * QuoitGraphForm:
 *
 * The format of a graph.
 *
 * - %QUOIT_GRAPH_FORM_DOT: for Graphviz, `dot -Tsvg`.
 * - %QUOIT_GRAPH_FORM_JGF: the JSON graph that Fluxion's resource-query reads with `--load-format=jgf`.
 */
typedef enum { QUOIT_GRAPH_FORM_DOT = 1, QUOIT_GRAPH_FORM_JGF = 2 } QuoitGraphForm;

/**
 * quoit_snapshot_dup_graph:
 * @form: the format
 *
 * Returns the fleet as a graph. Equal states give equal text. The size is proportional to the number of chips: about
 * 100 MB for 100,000 chips.
 *
 * The vertices are the fleet, sources, pools, slices, nodes, the chips of nodes, and live groups. They have names and
 * states; nodes also have address and worker id, and chips have coordinates, x first. The edges are:
 *
 * - `contains`: from the fleet down to each source, pool, slice, node and chip.
 * - `ici`: between neighbouring chips of a slice, one edge per link, for nodes with a known place in their slice.
 * - `dcn`: between all slices of a group; if it has more than 64, between consecutive slices only.
 * - `holds`: from a group to its nodes, with the chips if the group does not have all of them.
 *
 * In JGF, each kind of edge is a subsystem; `contains` is Fluxion's "containment". Nodes that are not alive have the
 * status down.
 *
 * Fails with %QUOIT_ERROR_INVALID for an unknown format.
 *
 * Returns: (transfer full): the text; g_free() it
 */
QUOIT_API char *quoit_snapshot_dup_graph (const QuoitSnapshot *snapshot, QuoitGraphForm form, GError **error);

/**
 * quoit_topology_get_node_assumptions:
 * @process: below quoit_topology_get_n_processes()
 *
 * Returns the facts of the process's node that its sources do not state, so that quoit assumed them. With
 * %QUOIT_NODE_ASSUMES_HOST_NAME, a note names the affected variables.
 *
 * Returns: a set of #QuoitNodeAssumptions
 */
QUOIT_API uint32_t quoit_topology_get_node_assumptions (const QuoitTopology *topology, uint32_t process);

/**
 * quoit_topology_find_profile_slice_id:
 * @process: below quoit_topology_get_n_processes()
 * @profile: any profile
 *
 * Returns the id that another profile gives the process's slice. Profiles differ: Ray Train overrides the webhook's
 * ids.
 *
 * Returns: the slice id; -1: none, such as for profile kuberay if the slice's name is not GROUP-REPLICA
 */
QUOIT_API int64_t quoit_topology_find_profile_slice_id (const QuoitTopology *topology, uint32_t process,
                                                        QuoitProfile profile);

/**
 * quoit_topology_get_n_devices:
 * @process: below quoit_topology_get_n_processes()
 *
 * Returns: the number of JAX's local devices of the process; 0 if quoit_topology_get_n_chips() is 0
 */
QUOIT_API uint32_t quoit_topology_get_n_devices (const QuoitTopology *topology, uint32_t process);

/**
 * quoit_topology_get_device:
 * @process: below quoit_topology_get_n_processes()
 * @device: below quoit_topology_get_n_devices(), chip by chip
 *
 * Returns the id of a JAX device. The devices of a slice follow those of the slices before it, in the order of the
 * processes. If the job has a part of each slice, only devices of that part are counted; with %QUOIT_JOB_SEPARATE, only
 * those of the process.
 *
 * Returns: the id in the whole job, as in quoit_devices_new_group()
 */
QUOIT_API uint64_t quoit_topology_get_device (const QuoitTopology *topology, uint32_t process, uint32_t device);

/**
 * quoit_launch_set_jobset:
 * @name: (nullable): name of the JobSet and of its headless service; %NULL: the group's name
 * @replicated_job: (nullable): name of the replicated job whose jobs are the slices; %NULL: "slice-job"
 *
 * Sets the names for profile jobset.
 *
 * Fails with %QUOIT_ERROR_INVALID if Kubernetes refuses a name: @name consists of lower-case letters, digits and "-",
 * begins with a letter and does not end with "-"; @replicated_job can also begin with a digit.
 */
QUOIT_API bool quoit_launch_set_jobset (QuoitLaunch *launch, const char *name, const char *replicated_job,
                                        GError **error);

/**
 * quoit_launch_set_lws:
 * @name: (nullable): name of the LeaderWorkerSet; %NULL: the group's name
 * @kubernetes_namespace: (nullable): its namespace; %NULL: "default"
 * @slices_per_replica: the number of subgroups of a replica; 1 without %QUOIT_LWS_SUBGROUPS
 * @flags: of QuoitLwsFlags; 0: each leader is worker 0 of a slice, and all pods are in one service
 *
 * Sets the object for profile lws. Slice i of the group belongs to replica i / @slices_per_replica. With several
 * processes per host, a pod has that many containers with chips.
 *
 * Fails with %QUOIT_ERROR_INVALID if @slices_per_replica is 0, or is more than 1 without %QUOIT_LWS_SUBGROUPS; if
 * @flags has other bits; or if Kubernetes refuses a name: it consists of lower-case letters, digits and "-", it does
 * not end with "-", and @name begins with a letter.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_launch_set_lws (QuoitLaunch *launch, const char *name, const char *kubernetes_namespace,
                                     uint32_t slices_per_replica, uint32_t flags, GError **error);

/**
 * quoit_launch_set_job:
 * @name: (nullable): name of the Job; %NULL: the group's name
 * @subdomain: (nullable): "subdomain" of its pods, the name of a headless service; %NULL: none, which is right only
 *   for slices with one host
 *
 * Sets the names for profile job.
 *
 * Fails with %QUOIT_ERROR_INVALID if Kubernetes refuses a name: it consists of lower-case letters, digits and "-", and
 * neither begins nor ends with "-".
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_launch_set_job (QuoitLaunch *launch, const char *name, const char *subdomain, GError **error);

/**
 * quoit_launch_new_for_manifest:
 * @input: a manifest: an input of kind %QUOIT_SOURCE_KIND_RAYCLUSTER
 * @pool: the pool of the pods: for a JobSet, the name of a replicated job
 *
 * Creates the launch of the pods that the object of a manifest makes: profile jobset, lws, job or, for a Ray object,
 * kuberay, with the names in the manifest. Use it for groups on the nodes of this manifest, such as those that
 * quoit_ledger_import() makes of it. The name of a Job that a CronJob makes ends with "-xxxxxxxx" instead of its time.
 *
 * Fails with %QUOIT_ERROR_INVALID if the manifest cannot be read, if Kubernetes refuses a name in it, or if the pods of
 * a LeaderWorkerSet have a number of containers with chips other than 1, 2, 4 or 8; with %QUOIT_ERROR_NOT_FOUND if it
 * has no such pool. Several containers with chips in the pods of other objects count as one process.
 *
 * Returns: (transfer full): the launch; quoit_launch_free() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitLaunch *quoit_launch_new_for_manifest (const QuoitInput *input, const char *pool, GError **error);

/* cdef-end */

G_END_DECLS

#endif

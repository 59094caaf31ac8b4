/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who a process is in the eyes of JAX 0.12.0.1: what jax.distributed.initialize() finds out on a TPU host when it is
 * given no arguments, and how the chips of a host are dealt to several processes. Nothing is read from the process: an
 * environment is an argument, "NAME=value" texts that end with %NULL, and so is what a metadata server would say.
 */
#ifndef QUOIT_IDENTITY_H
#define QUOIT_IDENTITY_H

#include <quoit/topology.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitJaxClusterKind:
 *
 * Which of JAX's ways to find a cluster on a TPU host it takes. JAX looks for Open MPI and Slurm before these, and for
 * a Kubernetes without TPUs after them: not modelled.
 *
 * %QUOIT_JAX_CLUSTER_NONE: none of these finds one.
 *
 * %QUOIT_JAX_CLUSTER_GCE_TPU: "gcetpu", a TPU VM by itself, which asks its metadata server.
 *
 * %QUOIT_JAX_CLUSTER_GKE_TPU: "gketpu", a pod, which asks its environment.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_JAX_CLUSTER_NONE = 0,
  QUOIT_JAX_CLUSTER_GCE_TPU = 1,
  QUOIT_JAX_CLUSTER_GKE_TPU = 2
} QuoitJaxClusterKind;

/**
 * QuoitJaxCluster:
 *
 * The cluster that JAX finds around one process. Immutable; any thread may read it.
 *
 * Since: 0.1
 */
typedef struct _QuoitJaxCluster QuoitJaxCluster;

/**
 * quoit_jax_cluster_detect:
 * @env: (nullable) (array zero-terminated=1): of the process
 * @metadata: (nullable) (array zero-terminated=1): "agent-worker-number=0", "worker-network-endpoints=10.0.0.1",
 *   "tpu-env=..."; %NULL where no metadata server answers
 * @addresses: (nullable): what is in the file that TPU_PROCESS_ADDRESSES_PATH names; %NULL: it cannot be read
 * @error: (out) (optional): set on failure
 *
 * The cluster that JAX chooses on a TPU host: a TPU VM by itself where the metadata has an agent-worker-number and
 * TPU_SKIP_MDS_QUERY is not set, else a pod where its environment lists workers.
 *
 * Fails with %QUOIT_ERROR_INVALID when JAX gives up while it looks: the file that TPU_PROCESS_ADDRESSES_PATH names is
 * empty or cannot be read.
 *
 * Returns: (transfer full): the cluster, which may be of kind NONE; quoit_jax_cluster_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitJaxCluster *quoit_jax_cluster_detect (const char *const *env, const char *const *metadata,
                                                     const char *addresses, GError **error);

/**
 * quoit_jax_cluster_detect_process:
 * @topology: the processes of a group
 * @process: below quoit_topology_get_n_processes()
 * @error: (out) (optional): set on failure
 *
 * The cluster that JAX chooses in the environment that @topology has for @process, where no metadata server answers and
 * no file can be read: quoit_jax_cluster_detect() of that. Lists of hosts, which all processes of a slice are told, are
 * not copied, so that to ask all of them takes as long as there are processes. The cluster outlives @topology.
 *
 * Fails with %QUOIT_ERROR_INVALID when JAX gives up while it looks: TPU_PROCESS_ADDRESSES_PATH names a file.
 *
 * Returns: (transfer full): the cluster, which may be of kind NONE; quoit_jax_cluster_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitJaxCluster *quoit_jax_cluster_detect_process (const QuoitTopology *topology, uint32_t process,
                                                             GError **error);

/**
 * quoit_jax_cluster_new:
 * @kind: what to take it for
 * @env: (nullable) (array zero-terminated=1): as for quoit_jax_cluster_detect()
 * @metadata: (nullable) (array zero-terminated=1): likewise
 * @addresses: (nullable): likewise
 *
 * The cluster that JAX finds when it is told which kind to look for, whatever it would have chosen.
 *
 * Returns: (transfer full): the cluster; quoit_jax_cluster_free() it
 * Since: 0.1
 */
QUOIT_API QuoitJaxCluster *quoit_jax_cluster_new (QuoitJaxClusterKind kind, const char *const *env,
                                                  const char *const *metadata, const char *addresses);

/**
 * quoit_jax_cluster_free:
 * @cluster: (nullable) (transfer full): a cluster
 *
 * Since: 0.1
 */
QUOIT_API void quoit_jax_cluster_free (QuoitJaxCluster *cluster);

/**
 * quoit_jax_cluster_get_kind:
 * @cluster: a cluster
 *
 * Returns: what it is
 * Since: 0.1
 */
QUOIT_API QuoitJaxClusterKind quoit_jax_cluster_get_kind (const QuoitJaxCluster *cluster);

/**
 * quoit_jax_cluster_list_workers:
 * @cluster: a cluster
 * @error: (out) (optional): set on failure
 *
 * The processes of its slice, as hosts or addresses and as they are written: JAX strips no blanks, and two commas have
 * an empty one between them.
 *
 * Fails with %QUOIT_ERROR_INVALID when the list cannot be read, and %QUOIT_ERROR_NOT_FOUND when the cluster is of kind
 * NONE, as the functions below do.
 *
 * Returns: (transfer full) (array zero-terminated=1): one or more; g_strfreev() them. %NULL on failure
 * Since: 0.1
 */
QUOIT_API char **quoit_jax_cluster_list_workers (const QuoitJaxCluster *cluster, GError **error);

/**
 * quoit_jax_cluster_dup_coordinator:
 * @cluster: a cluster
 * @error: (out) (optional): set on failure
 *
 * Where JAX meets the other processes: MEGASCALE_COORDINATOR_ADDRESS, else the first worker, up to its first colon (so
 * that an IPv6 address is broken), and JAX_COORDINATOR_PORT, else 8482. Whether the host is known is not asked.
 *
 * Fails with %QUOIT_ERROR_INVALID when the list of workers is needed and cannot be read, or the cluster is a pod whose
 * TPU_PROCESS_ADDRESSES_PATH names a file that is empty or cannot be read: JAX looks for the workers before it asks for
 * anything. Fails with %QUOIT_ERROR_NOT_FOUND when the cluster is of kind NONE.
 *
 * Returns: (transfer full): "HOST:PORT"; g_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API char *quoit_jax_cluster_dup_coordinator (const QuoitJaxCluster *cluster, GError **error);

/**
 * quoit_jax_cluster_count_processes:
 * @cluster: a cluster
 * @count: (out): the processes of the job
 * @error: (out) (optional): set on failure
 *
 * The workers times MEGASCALE_NUM_SLICES, 1 where that is not set or empty. JAX checks no range: it may be 0 or less.
 *
 * Fails with %QUOIT_ERROR_INVALID when a number is none for Python's int(), or beyond 64 bits, or the list of workers
 * cannot be read, and %QUOIT_ERROR_NOT_FOUND when the cluster is of kind NONE; @count is untouched.
 *
 * Returns: 1 when @count was set, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_jax_cluster_count_processes (const QuoitJaxCluster *cluster, int64_t *count, GError **error);

/**
 * quoit_jax_cluster_find_process_id:
 * @cluster: a cluster
 * @process_id: (out): of this process
 * @error: (out) (optional): set on failure
 *
 * The worker's number in its slice, and the workers of a slice for each of the slices before: MEGASCALE_SLICE_ID, 0
 * where that is not set or empty. JAX checks no range: it may be negative, and no less than the count of processes.
 *
 * Fails with %QUOIT_ERROR_INVALID when a number is missing, none for Python's int(), or beyond 64 bits, or the list of
 * workers cannot be read, and %QUOIT_ERROR_NOT_FOUND when the cluster is of kind NONE; @process_id is untouched.
 *
 * Returns: 1 when @process_id was set, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_jax_cluster_find_process_id (const QuoitJaxCluster *cluster, int64_t *process_id, GError **error);

/**
 * quoit_jax_process_bounds:
 * @generation: any system's name of the generation, and JAX's "plc", "tpu8i", "tpu8t"
 * @host_chips: the chips of the host
 * @chips_per_process: how many of them each process is given
 * @process_bounds: (out) (transfer none): for TPU_PROCESS_BOUNDS, "2,2,1", a constant
 * @chips_per_process_bounds: (out) (transfer none): for TPU_CHIPS_PER_PROCESS_BOUNDS, "1,1,1", a constant
 * @error: (out) (optional): set on failure
 *
 * How JAX deals a host's chips to several processes of it. 0 of either means no bounds: two empty texts.
 *
 * Fails with %QUOIT_ERROR_INVALID when JAX knows no such host or does not deal its chips so; the message has the
 * numbers that it knows, and both outputs are untouched.
 *
 * Returns: 1 when both were set, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_jax_process_bounds (const char *generation, int64_t host_chips, int64_t chips_per_process,
                                        const char **process_bounds, const char **chips_per_process_bounds,
                                        GError **error);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitJaxCluster, quoit_jax_cluster_free)

G_END_DECLS

#endif

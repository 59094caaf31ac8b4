/* SPDX-License-Identifier: Apache-2.0 */
/* The identity of a process in JAX 0.12.0.1: what jax.distributed.initialize() detects on a TPU host when it gets no
 * arguments, and how the chips of a host are divided among several processes. Nothing is read from the calling
 * process: the environment and the answers of a metadata server are arguments, "NAME=value" texts that end with
 * %NULL. */
#ifndef QUOIT_JAX_H
#define QUOIT_JAX_H

#include <stdbool.h>

#include <quoit/topology.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitJaxClusterKind:
 *
 * The cluster environment that JAX detects on a TPU host. JAX tries Open MPI and Slurm before these, and Kubernetes
 * without TPUs after them; those are not modelled.
 *
 * - %QUOIT_JAX_CLUSTER_NONE: none of these is detected.
 * - %QUOIT_JAX_CLUSTER_GCE_TPU: "gcetpu", a TPU VM outside Kubernetes, described by its metadata server.
 * - %QUOIT_JAX_CLUSTER_GKE_TPU: "gketpu", a pod, described by its environment.
 */
typedef enum {
  QUOIT_JAX_CLUSTER_NONE = 0,
  QUOIT_JAX_CLUSTER_GCE_TPU = 1,
  QUOIT_JAX_CLUSTER_GKE_TPU = 2
} QuoitJaxClusterKind;

/**
 * QuoitJaxCluster:
 *
 * The cluster that JAX detects for one process. Immutable; any thread can read it.
 *
 * Except for quoit_jax_cluster_get_kind(), the functions that read a cluster fail with %QUOIT_ERROR_NOT_FOUND if it is
 * of kind %QUOIT_JAX_CLUSTER_NONE.
 */
typedef struct _QuoitJaxCluster QuoitJaxCluster;

/**
 * quoit_jax_cluster_detect:
 * @env: (nullable) (array zero-terminated=1): environment of the process
 * @metadata: (nullable) (array zero-terminated=1): "agent-worker-number=0", "worker-network-endpoints=10.0.0.1",
 *   "tpu-env=..."; %NULL if no metadata server answers
 * @addresses: (nullable): contents of the file that TPU_PROCESS_ADDRESSES_PATH names; %NULL if it cannot be read
 *
 * Detects the cluster as JAX does on a TPU host: a TPU VM if the metadata has an agent-worker-number and
 * TPU_SKIP_MDS_QUERY is not set, otherwise a pod if the environment lists workers.
 *
 * Fails with %QUOIT_ERROR_INVALID when detection fails in JAX: the file that TPU_PROCESS_ADDRESSES_PATH names is empty
 * or cannot be read.
 *
 * Returns: (transfer full): the cluster, possibly of kind NONE; quoit_jax_cluster_free() it. %NULL on failure
 */
QUOIT_API QuoitJaxCluster *quoit_jax_cluster_detect (const char *const *env, const char *const *metadata,
                                                     const char *addresses, GError **error);

/**
 * quoit_jax_cluster_detect_process:
 * @topology: the processes of a group
 * @process: below quoit_topology_get_n_processes()
 *
 * Calls quoit_jax_cluster_detect() with the environment that @topology has for @process, without a metadata server and
 * without the file of TPU_PROCESS_ADDRESSES_PATH. The cluster shares the host lists of @topology instead of copying
 * them, so that the cost for all processes is linear in their number. It stays valid after @topology is freed.
 *
 * Fails with %QUOIT_ERROR_INVALID when TPU_PROCESS_ADDRESSES_PATH names a file.
 *
 * Returns: (transfer full): the cluster, possibly of kind NONE; quoit_jax_cluster_free() it. %NULL on failure
 */
QUOIT_API QuoitJaxCluster *quoit_jax_cluster_detect_process (const QuoitTopology *topology, uint32_t process,
                                                             GError **error);

/**
 * quoit_jax_cluster_new:
 * @kind: the kind of the cluster
 * @env: (nullable) (array zero-terminated=1): as for quoit_jax_cluster_detect()
 * @metadata: (nullable) (array zero-terminated=1): as for quoit_jax_cluster_detect()
 * @addresses: (nullable): as for quoit_jax_cluster_detect()
 *
 * Creates a cluster of the given kind without detection.
 *
 * Returns: (transfer full): the cluster; quoit_jax_cluster_free() it
 */
QUOIT_API QuoitJaxCluster *quoit_jax_cluster_new (QuoitJaxClusterKind kind, const char *const *env,
                                                  const char *const *metadata, const char *addresses);

/**
 * quoit_jax_cluster_free:
 * @cluster: (nullable) (transfer full): a cluster
 *
 * Frees @cluster.
 */
QUOIT_API void quoit_jax_cluster_free (QuoitJaxCluster *cluster);

/**
 * quoit_jax_cluster_get_kind:
 *
 * Returns: the kind
 */
QUOIT_API QuoitJaxClusterKind quoit_jax_cluster_get_kind (const QuoitJaxCluster *cluster);

/**
 * quoit_jax_cluster_list_workers:
 *
 * Lists the processes of the slice as the hosts or addresses that the environment has. JAX strips no blanks, and there
 * is an empty entry between two commas.
 *
 * Fails with %QUOIT_ERROR_INVALID when the list cannot be read.
 *
 * Returns: (transfer full) (array zero-terminated=1): one or more texts; g_strfreev() them. %NULL on failure
 */
QUOIT_API char **quoit_jax_cluster_list_workers (const QuoitJaxCluster *cluster, GError **error);

/**
 * quoit_jax_cluster_dup_coordinator:
 *
 * Returns the coordinator address. The host is MEGASCALE_COORDINATOR_ADDRESS, otherwise the first worker, up to its
 * first colon (which breaks an IPv6 address). The port is JAX_COORDINATOR_PORT, otherwise 8482. The host name is not
 * looked up.
 *
 * Fails with %QUOIT_ERROR_INVALID when the list of workers is needed and cannot be read. In a pod, it also fails when
 * the file that TPU_PROCESS_ADDRESSES_PATH names is empty or cannot be read, even if the list is not needed, because
 * JAX always lists the workers first.
 *
 * Returns: (transfer full): "HOST:PORT"; g_free() it. %NULL on failure
 */
QUOIT_API char *quoit_jax_cluster_dup_coordinator (const QuoitJaxCluster *cluster, GError **error);

/**
 * quoit_jax_cluster_count_processes:
 * @count: (out): the number of processes of the job
 *
 * Counts the workers times MEGASCALE_NUM_SLICES, which is 1 if it is empty or not set. JAX checks no range: the result
 * can be 0 or less.
 *
 * Fails with %QUOIT_ERROR_INVALID when Python's int() refuses a number, when a number exceeds 64 bits, or when the list
 * of workers cannot be read; @count is untouched.
 *
 * Returns: true when @count was set, false on failure
 */
QUOIT_API bool quoit_jax_cluster_count_processes (const QuoitJaxCluster *cluster, int64_t *count, GError **error);

/**
 * quoit_jax_cluster_find_process_id:
 * @process_id: (out): the id of this process
 *
 * Computes the process id: the worker's number in its slice, plus the workers of one slice times MEGASCALE_SLICE_ID,
 * which is 0 if it is empty or not set. JAX checks no range: the result can be negative or exceed the number of
 * processes.
 *
 * Fails with %QUOIT_ERROR_INVALID when a number is missing, is refused by Python's int() or exceeds 64 bits, or when
 * the list of workers cannot be read; @process_id is untouched.
 *
 * Returns: true when @process_id was set, false on failure
 */
QUOIT_API bool quoit_jax_cluster_find_process_id (const QuoitJaxCluster *cluster, int64_t *process_id, GError **error);

/**
 * quoit_jax_process_bounds:
 * @generation: any system's name of the generation, and JAX's "plc", "tpu8i", "tpu8t"
 * @host_chips: the chips of the host
 * @chips_per_process: the chips of each process
 * @process_bounds: (out) (transfer none): the value for TPU_PROCESS_BOUNDS, "2,2,1", a constant
 * @chips_per_process_bounds: (out) (transfer none): the value for TPU_CHIPS_PER_PROCESS_BOUNDS, "1,1,1", a constant
 *
 * Looks up how JAX divides a host's chips among several processes. If @host_chips or @chips_per_process is 0, there are
 * no bounds: both texts are empty.
 *
 * Fails with %QUOIT_ERROR_INVALID when JAX has no such host or cannot divide its chips this way; the message has the
 * numbers that JAX has, and both outputs are untouched.
 *
 * Returns: true when both outputs were set, false on failure
 */
QUOIT_API bool quoit_jax_process_bounds (const char *generation, int64_t host_chips, int64_t chips_per_process,
                                         const char **process_bounds, const char **chips_per_process_bounds,
                                         GError **error);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitJaxCluster, quoit_jax_cluster_free)

G_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ray Train without Ray: what a ScalingConfig of Ray 2.60, as a JaxTrainer takes it, means in workers, slices and
 * ranks, how many workers an elastic job would run, and whether a failure is retried.
 *
 * A QuoitRayScaling holds the arguments; quoit_ray_train_plan_new() checks them as Ray does. What Ray checks only when
 * it makes the worker group is checked by quoit_ray_slice_group_new() of quoit_ray_train_plan_dup_slice_request().
 * Everything here is pure: no state but what is passed, no environment, no clock.
 */
#ifndef QUOIT_RAY_TRAIN_H
#define QUOIT_RAY_TRAIN_H

#include <quoit/models/ray-labels.h>
#include <quoit/models/ray-slices.h>
#include <quoit/models/ray-tpu.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitRayAccelerators:
 * @QUOIT_RAY_USE_NONE: neither
 * @QUOIT_RAY_USE_GPU: use_gpu
 * @QUOIT_RAY_USE_TPU: use_tpu
 * @QUOIT_RAY_USE_BOTH: both, which Ray refuses
 *
 * What the workers compute with.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_RAY_USE_NONE = 0,
  QUOIT_RAY_USE_GPU = 1,
  QUOIT_RAY_USE_TPU = 2,
  QUOIT_RAY_USE_BOTH = 3
} QuoitRayAccelerators;

/**
 * QuoitRayScaling:
 *
 * The arguments of a ScalingConfig. Nothing is checked before quoit_ray_train_plan_new().
 *
 * Since: 0.1
 */
typedef struct _QuoitRayScaling QuoitRayScaling;

/**
 * quoit_ray_scaling_new:
 *
 * Asks for one worker, PACK, without accelerators, and a look at elastic sizes each 60 s.
 *
 * Returns: (transfer full): the arguments; quoit_ray_scaling_free() them
 * Since: 0.1
 */
QUOIT_API QuoitRayScaling *quoit_ray_scaling_new (void);

/**
 * quoit_ray_scaling_free:
 * @scaling: (nullable) (transfer full): arguments
 *
 * Frees @scaling.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_scaling_free (QuoitRayScaling *scaling);

/**
 * quoit_ray_scaling_set_n_workers:
 * @scaling: arguments
 * @n_workers: how many workers; 0 is Ray's local mode
 *
 * Sets num_workers to a fixed number.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_scaling_set_n_workers (QuoitRayScaling *scaling, int64_t n_workers);

/**
 * quoit_ray_scaling_set_worker_range:
 * @scaling: arguments
 * @min: the fewest workers
 * @max: the most
 *
 * Sets num_workers to a range: the job is elastic, also where both are equal.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_scaling_set_worker_range (QuoitRayScaling *scaling, int64_t min, int64_t max);

/**
 * quoit_ray_scaling_set_accelerators:
 * @scaling: arguments
 * @accelerators: what the workers compute with
 *
 * Sets use_gpu and use_tpu.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_scaling_set_accelerators (QuoitRayScaling *scaling, QuoitRayAccelerators accelerators);

/**
 * quoit_ray_scaling_set_topology:
 * @scaling: arguments
 * @topology: (nullable): "4x4", of each slice; copied
 *
 * Sets topology.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_scaling_set_topology (QuoitRayScaling *scaling, const char *topology);

/**
 * quoit_ray_scaling_set_accelerator_type:
 * @scaling: arguments
 * @accelerator_type: (nullable): "TPU-V6E"; copied
 *
 * Sets accelerator_type.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_scaling_set_accelerator_type (QuoitRayScaling *scaling, const char *accelerator_type);

/**
 * quoit_ray_scaling_set_resources:
 * @scaling: arguments
 * @per_worker: (nullable): what each worker asks for; copied. %NULL is not the same as nothing
 *
 * Sets resources_per_worker.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_scaling_set_resources (QuoitRayScaling *scaling, const QuoitRayResources *per_worker);

/**
 * quoit_ray_scaling_set_resource_per_chip:
 * @scaling: arguments
 * @factor: how many units of the resource TPU one chip counts for; 1 if it is not said
 *
 * Says what the driver's RAY_TPU_RESOURCE_PER_CHIP is: see quoit_ray_resource_per_chip().
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_scaling_set_resource_per_chip (QuoitRayScaling *scaling, int64_t factor);

/**
 * quoit_ray_scaling_set_strategy:
 * @scaling: arguments
 * @strategy: "PACK", "SPREAD", "STRICT_PACK", "STRICT_SPREAD"; copied. Ray checks it when it makes the group, not here
 *
 * Sets placement_strategy.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_scaling_set_strategy (QuoitRayScaling *scaling, const char *strategy);

/**
 * quoit_ray_scaling_set_monitor_interval:
 * @scaling: arguments
 * @interval_ms: how often the size of a job that runs is looked at, in milliseconds
 *
 * Sets elastic_resize_monitor_interval_s.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_scaling_set_monitor_interval (QuoitRayScaling *scaling, int64_t interval_ms);

/**
 * quoit_ray_scaling_set_selector:
 * @scaling: arguments
 * @labels: (nullable): what every worker selects its node by; copied. %NULL: nothing was given
 *
 * Sets label_selector to one for all workers.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_scaling_set_selector (QuoitRayScaling *scaling, const QuoitRayLabels *labels);

/**
 * quoit_ray_scaling_set_selectors:
 * @scaling: arguments
 * @labels: (array length=n) (nullable): what each worker selects its node by; copied
 * @n: how many; 0 is a list too
 *
 * Sets label_selector to a list, one for each of the most workers.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_scaling_set_selectors (QuoitRayScaling *scaling, const QuoitRayLabels *const *labels,
                                                unsigned n);

/**
 * QuoitRayTrainPlan:
 *
 * Arguments that Ray accepts, and what they mean.
 *
 * Since: 0.1
 */
typedef struct _QuoitRayTrainPlan QuoitRayTrainPlan;

/**
 * quoit_ray_train_plan_new:
 * @scaling: arguments; kept no longer than this call
 * @error: (out) (optional): set on failure
 *
 * Checks @scaling as Ray does. Whether the topology exists is not checked, as by Ray.
 *
 * Fails with %QUOIT_ERROR_INVALID when numbers are below 0 or in the wrong order; when TPU or GPU are asked for and not
 * used, or used and none are asked for; when several workers on TPU have no topology, no type, or a selector; when
 * quoit_ray_worker_resources() fails; when the workers do not fill whole slices; or when there are not as many
 * selectors as the most workers.
 *
 * Returns: (transfer full): the plan; quoit_ray_train_plan_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitRayTrainPlan *quoit_ray_train_plan_new (const QuoitRayScaling *scaling, GError **error);

/**
 * quoit_ray_train_plan_free:
 * @plan: (nullable) (transfer full): a plan
 *
 * Frees @plan and what was borrowed from it.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_train_plan_free (QuoitRayTrainPlan *plan);

/**
 * quoit_ray_train_plan_get_min_workers:
 * @plan: a plan
 *
 * The fewest workers.
 *
 * Returns: the number of workers
 * Since: 0.1
 */
QUOIT_API int64_t quoit_ray_train_plan_get_min_workers (const QuoitRayTrainPlan *plan);

/**
 * quoit_ray_train_plan_get_max_workers:
 * @plan: a plan
 *
 * The most workers.
 *
 * Returns: the number of workers
 * Since: 0.1
 */
QUOIT_API int64_t quoit_ray_train_plan_get_max_workers (const QuoitRayTrainPlan *plan);

/**
 * quoit_ray_train_plan_is_elastic:
 * @plan: a plan
 *
 * Whether a range of workers was asked for.
 *
 * Returns: 1 when it was, 0 when a fixed number was
 * Since: 0.1
 */
QUOIT_API int quoit_ray_train_plan_is_elastic (const QuoitRayTrainPlan *plan);

/**
 * quoit_ray_train_plan_get_resources:
 * @plan: a plan
 *
 * What each worker asks for. A type adds 0.001 of "accelerator_type:TPU-V6E", also inside the bundles of slices.
 *
 * Returns: (transfer none): the resources, valid until @plan is freed
 * Since: 0.1
 */
QUOIT_API const QuoitRayResources *quoit_ray_train_plan_get_resources (const QuoitRayTrainPlan *plan);

/**
 * quoit_ray_train_plan_dup_total_resources:
 * @plan: a plan
 *
 * What the most workers ask for together.
 *
 * Returns: (transfer full): the resources; quoit_ray_resources_free() them
 * Since: 0.1
 */
QUOIT_API QuoitRayResources *quoit_ray_train_plan_dup_total_resources (const QuoitRayTrainPlan *plan);

/**
 * quoit_ray_train_plan_get_workers_per_slice:
 * @plan: a plan
 *
 * The workers that fill one slice.
 *
 * Returns: the number of workers; 0 where the job asks for no slices
 * Since: 0.1
 */
QUOIT_API int64_t quoit_ray_train_plan_get_workers_per_slice (const QuoitRayTrainPlan *plan);

/**
 * quoit_ray_train_plan_n_slices:
 * @plan: a plan
 * @n_workers: the workers of one run
 *
 * The slices that Ray takes @n_workers to fill.
 *
 * Returns: the number of slices; 1 where the job asks for none
 * Since: 0.1
 */
QUOIT_API int64_t quoit_ray_train_plan_n_slices (const QuoitRayTrainPlan *plan, int64_t n_workers);

/**
 * quoit_ray_train_plan_dup_slice_request:
 * @plan: a plan
 * @n_workers: the workers of one run
 *
 * What Ray asks for to run @n_workers on slices.
 *
 * Returns: (transfer full) (nullable): the request; quoit_ray_slice_request_free() it. %NULL: a plain placement group
 * Since: 0.1
 */
QUOIT_API QuoitRaySliceRequest *quoit_ray_train_plan_dup_slice_request (const QuoitRayTrainPlan *plan,
                                                                        int64_t n_workers);

/**
 * quoit_ray_train_plan_get_strategy:
 * @plan: a plan
 *
 * The strategy of the placement group.
 *
 * Returns: (transfer none): the strategy, valid until @plan is freed
 * Since: 0.1
 */
QUOIT_API const char *quoit_ray_train_plan_get_strategy (const QuoitRayTrainPlan *plan);

/**
 * quoit_ray_train_plan_get_labels:
 * @plan: a plan
 * @worker: 0 for the first
 *
 * What a worker selects its node by.
 *
 * Returns: (transfer none) (nullable): the labels, valid until @plan is freed; %NULL where none were given
 * Since: 0.1
 */
QUOIT_API const QuoitRayLabels *quoit_ray_train_plan_get_labels (const QuoitRayTrainPlan *plan, int64_t worker);

/**
 * quoit_ray_train_count_possible:
 * @plan: a plan
 * @reserved: (array length=n_nodes): what each node has for the job
 * @n_nodes: how many nodes
 * @n_intact: (nullable): quoit_ray_count_slices(); %NULL if Ray does not know the number
 * @n_workers: (out): how many workers can run
 * @error: (out) (optional): set on failure
 *
 * How many workers an elastic job would run: as many as fit on each node in floating-point numbers, so that five times
 * 0.1 holds four, at most the most workers, and in slices only those that are whole.
 *
 * Fails with %QUOIT_ERROR_INVALID where Ray does: for workers that ask for less than nothing, and for nodes that have
 * no finite amount; @n_workers is untouched.
 *
 * Returns: 1 when @n_workers was set, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_ray_train_count_possible (const QuoitRayTrainPlan *plan, const QuoitRayResources *const *reserved,
                                              unsigned n_nodes, const int64_t *n_intact, int64_t *n_workers,
                                              GError **error);

/**
 * quoit_ray_train_starts:
 * @plan: a plan
 * @possible: (nullable): quoit_ray_train_count_possible(); %NULL where it is not known
 *
 * Whether an elastic job that does not run is started with @possible workers.
 *
 * Returns: 1 when it is, 0 when it waits
 * Since: 0.1
 */
QUOIT_API int quoit_ray_train_starts (const QuoitRayTrainPlan *plan, const int64_t *possible);

/**
 * quoit_ray_train_looks:
 * @plan: a plan
 * @started_ms: when the workers were started
 * @looked_ms: (nullable): when the size was last looked at
 * @now_ms: the caller's clock
 *
 * Whether it is time to look at the size of an elastic job that runs, by one clock of milliseconds, whatever it counts
 * from. If so, @now_ms is the next @looked_ms.
 *
 * Returns: 1 when it is, 0 when not yet
 * Since: 0.1
 */
QUOIT_API int quoit_ray_train_looks (const QuoitRayTrainPlan *plan, int64_t started_ms, const int64_t *looked_ms,
                                     int64_t now_ms);

/**
 * quoit_ray_train_resizes:
 * @plan: a plan
 * @n_running: the workers that run
 * @possible: (nullable): quoit_ray_train_count_possible(); %NULL where it is not known
 *
 * Whether an elastic job that runs, and whose size is looked at, is started again with @possible workers.
 *
 * Returns: 1 when it is, 0 when it goes on
 * Since: 0.1
 */
QUOIT_API int quoit_ray_train_resizes (const QuoitRayTrainPlan *plan, int64_t n_running, const int64_t *possible);

/**
 * QuoitRayRanks:
 *
 * The ranks of workers.
 *
 * Since: 0.1
 */
typedef struct _QuoitRayRanks QuoitRayRanks;

/**
 * quoit_ray_ranks_new_by_slice:
 * @slices: (array length=n) (element-type nullable): the TPU_NAME of each worker's process, in the order of bundles
 * @nodes: (array length=n): the address of each worker's node
 * @n: how many workers
 *
 * Ranks workers with TPU: by the name of their slice as text, "s-10" before "s-9", and within a slice as they come,
 * which is not the order of worker ids.
 *
 * Returns: (transfer full): the ranks; quoit_ray_ranks_free() them
 * Since: 0.1
 */
QUOIT_API QuoitRayRanks *quoit_ray_ranks_new_by_slice (const char *const *slices, const char *const *nodes, unsigned n);

/**
 * quoit_ray_ranks_new_by_node:
 * @node_ids: (array length=n): the id of each worker's node, in the order of bundles
 * @lowest_gpu: (array length=n) (nullable): the lowest GPU of each worker; %NULL for workers without GPU
 * @first_id: (nullable): the id of the node that comes first whoever is there
 * @n: how many workers
 *
 * Ranks workers without TPU: by their node, in the order in which nodes first come, and on a node by their lowest GPU.
 *
 * Returns: (transfer full): the ranks; quoit_ray_ranks_free() them
 * Since: 0.1
 */
QUOIT_API QuoitRayRanks *quoit_ray_ranks_new_by_node (const char *const *node_ids, const int64_t *lowest_gpu,
                                                      const char *first_id, unsigned n);

/**
 * quoit_ray_ranks_free:
 * @ranks: (nullable) (transfer full): ranks
 *
 * Frees @ranks.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_ranks_free (QuoitRayRanks *ranks);

/**
 * quoit_ray_ranks_get_worker:
 * @ranks: ranks
 * @rank: 0 for the first
 *
 * The worker with a world rank.
 *
 * Returns: its place in what was given; the number of workers behind the last
 * Since: 0.1
 */
QUOIT_API unsigned quoit_ray_ranks_get_worker (const QuoitRayRanks *ranks, unsigned rank);

/**
 * quoit_ray_ranks_get_local_rank:
 * @ranks: ranks
 * @rank: 0 for the first
 *
 * The place of the worker with a world rank among those of its node.
 *
 * Returns: the local rank; 0 behind the last
 * Since: 0.1
 */
QUOIT_API unsigned quoit_ray_ranks_get_local_rank (const QuoitRayRanks *ranks, unsigned rank);

/**
 * quoit_ray_ranks_get_local_size:
 * @ranks: ranks
 * @rank: 0 for the first
 *
 * The workers on the node of the worker with a world rank.
 *
 * Returns: the number of workers; 0 behind the last
 * Since: 0.1
 */
QUOIT_API unsigned quoit_ray_ranks_get_local_size (const QuoitRayRanks *ranks, unsigned rank);

/**
 * quoit_ray_ranks_get_node_rank:
 * @ranks: ranks
 * @rank: 0 for the first
 *
 * The node of the worker with a world rank, in the order in which ranks come to nodes.
 *
 * Returns: the node's rank; 0 behind the last
 * Since: 0.1
 */
QUOIT_API unsigned quoit_ray_ranks_get_node_rank (const QuoitRayRanks *ranks, unsigned rank);

/**
 * quoit_ray_train_slice_id:
 * @rank: the world rank of a worker
 * @workers_per_slice: how many workers fill a slice
 * @n_slices: the slices of the job
 *
 * The slice that the JAX backend takes a worker to be in, by its rank alone; workers beyond what the slices hold are in
 * the last.
 *
 * Returns: the index of the slice
 * Since: 0.1
 */
QUOIT_API int64_t quoit_ray_train_slice_id (int64_t rank, int64_t workers_per_slice, int64_t n_slices);

/**
 * QuoitRayFailureKind:
 * @QUOIT_RAY_FAILURE_WORKER: a worker failed
 * @QUOIT_RAY_FAILURE_STARTUP_FAILED: the workers could not be started
 * @QUOIT_RAY_FAILURE_STARTUP_TIMEOUT: they were not started in time
 * @QUOIT_RAY_FAILURE_PREEMPTION: a node was taken away
 * @QUOIT_RAY_FAILURE_CONTROLLER: anything else; so is a kind that is not known
 *
 * What went wrong with a run.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_RAY_FAILURE_WORKER = 0,
  QUOIT_RAY_FAILURE_STARTUP_FAILED = 1,
  QUOIT_RAY_FAILURE_STARTUP_TIMEOUT = 2,
  QUOIT_RAY_FAILURE_PREEMPTION = 3,
  QUOIT_RAY_FAILURE_CONTROLLER = 4
} QuoitRayFailureKind;

/**
 * QuoitRayFailures:
 *
 * What went wrong with a run so far, and how often it may.
 *
 * Since: 0.1
 */
typedef struct _QuoitRayFailures QuoitRayFailures;

/**
 * quoit_ray_failures_new:
 * @worker_limit: max_failures, by itself 0
 * @controller_limit: controller_failure_limit, for starts that fail or take too long; by itself -1
 * @preemption_limit: max_preemption_failures, by itself -1
 *
 * Nothing went wrong yet. Each limit is counted for itself, and -1 is none.
 *
 * Returns: (transfer full): the count; quoit_ray_failures_free() it
 * Since: 0.1
 */
QUOIT_API QuoitRayFailures *quoit_ray_failures_new (int64_t worker_limit, int64_t controller_limit,
                                                    int64_t preemption_limit);

/**
 * quoit_ray_failures_free:
 * @failures: (nullable) (transfer full): a count
 *
 * Frees @failures.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_failures_free (QuoitRayFailures *failures);

/**
 * quoit_ray_failures_retries:
 * @failures: a count
 * @kind: what went wrong
 *
 * Counts a failure, and says what Ray does.
 *
 * Returns: 1 when the run is started again (RETRY), 0 when it ends (RAISE)
 * Since: 0.1
 */
QUOIT_API int quoit_ray_failures_retries (QuoitRayFailures *failures, QuoitRayFailureKind kind);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRayScaling, quoit_ray_scaling_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRayTrainPlan, quoit_ray_train_plan_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRayRanks, quoit_ray_ranks_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRayFailures, quoit_ray_failures_free)

G_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Ray Train 2.60 without Ray: the workers, slices and ranks that follow from the ScalingConfig of a JaxTrainer, the
 * size of an elastic job, and the retries after failures.
 *
 * Fill a QuoitRayScaling with the arguments, and pass it to quoit_ray_train_plan_new(), which checks them like Ray
 * does. Ray checks some arguments only when it creates the worker group. For these checks, pass the result of
 * quoit_ray_train_plan_dup_slice_request() to quoit_ray_slice_group_new().
 *
 * All functions are pure: they use only their arguments, and no environment or clock. */
#ifndef QUOIT_RAY_TRAIN_H
#define QUOIT_RAY_TRAIN_H

#include <stdbool.h>

#include <quoit/models/ray-labels.h>
#include <quoit/models/ray-slices.h>
#include <quoit/models/ray-tpu.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitRayAccelerators:
 * @QUOIT_RAY_USE_NONE: no accelerator
 * @QUOIT_RAY_USE_GPU: use_gpu
 * @QUOIT_RAY_USE_TPU: use_tpu
 * @QUOIT_RAY_USE_BOTH: both, which Ray refuses
 *
 * The accelerator that the workers use.
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
 * The arguments of a ScalingConfig. The setters check nothing; quoit_ray_train_plan_new() checks all arguments.
 */
typedef struct _QuoitRayScaling QuoitRayScaling;

/**
 * quoit_ray_scaling_new:
 *
 * Creates the arguments that Ray uses by default: one worker, PACK, no accelerators, and a resize check every 60 s.
 *
 * Returns: (transfer full): the arguments; quoit_ray_scaling_free() them
 */
QUOIT_API QuoitRayScaling *quoit_ray_scaling_new (void);

/**
 * quoit_ray_scaling_free:
 * @scaling: (nullable) (transfer full): the arguments
 */
QUOIT_API void quoit_ray_scaling_free (QuoitRayScaling *scaling);

/**
 * quoit_ray_scaling_set_n_workers:
 * @n_workers: the number of workers; 0 is Ray's local mode
 *
 * Sets num_workers to a fixed number.
 */
QUOIT_API void quoit_ray_scaling_set_n_workers (QuoitRayScaling *scaling, int64_t n_workers);

/**
 * quoit_ray_scaling_set_worker_range:
 * @min: the smallest number of workers
 * @max: the largest number of workers
 *
 * Sets num_workers to a range, which makes the job elastic, even if both numbers are equal.
 */
QUOIT_API void quoit_ray_scaling_set_worker_range (QuoitRayScaling *scaling, int64_t min, int64_t max);

/**
 * quoit_ray_scaling_set_accelerators:
 * @accelerators: the accelerator that the workers use
 *
 * Sets use_gpu and use_tpu.
 */
QUOIT_API void quoit_ray_scaling_set_accelerators (QuoitRayScaling *scaling, QuoitRayAccelerators accelerators);

/**
 * quoit_ray_scaling_set_topology:
 * @topology: (nullable): the topology of each slice, "4x4"; copied
 *
 * Sets topology.
 */
QUOIT_API void quoit_ray_scaling_set_topology (QuoitRayScaling *scaling, const char *topology);

/**
 * quoit_ray_scaling_set_accelerator_type:
 * @accelerator_type: (nullable): "TPU-V6E"; copied
 *
 * Sets accelerator_type.
 */
QUOIT_API void quoit_ray_scaling_set_accelerator_type (QuoitRayScaling *scaling, const char *accelerator_type);

/**
 * quoit_ray_scaling_set_resources:
 * @per_worker: (nullable): the resources that each worker requests; copied. An empty list differs from %NULL: Ray adds
 *   defaults only for %NULL
 *
 * Sets resources_per_worker.
 */
QUOIT_API void quoit_ray_scaling_set_resources (QuoitRayScaling *scaling, const QuoitRayResources *per_worker);

/**
 * quoit_ray_scaling_set_resource_per_chip:
 * @factor: units of the resource TPU per chip; 1 if this function is not called
 *
 * Sets the factor that the driver has in RAY_TPU_RESOURCE_PER_CHIP; see quoit_ray_resource_per_chip().
 */
QUOIT_API void quoit_ray_scaling_set_resource_per_chip (QuoitRayScaling *scaling, int64_t factor);

/**
 * quoit_ray_scaling_set_strategy:
 * @strategy: "PACK", "SPREAD", "STRICT_PACK", "STRICT_SPREAD"; copied. Like in Ray, an invalid name is refused only
 *   when the placement group is created
 *
 * Sets placement_strategy.
 */
QUOIT_API void quoit_ray_scaling_set_strategy (QuoitRayScaling *scaling, const char *strategy);

/**
 * quoit_ray_scaling_set_monitor_interval:
 * @interval_ms: the interval between two resize checks of a running job
 *
 * Sets elastic_resize_monitor_interval_s.
 */
QUOIT_API void quoit_ray_scaling_set_monitor_interval (QuoitRayScaling *scaling, int64_t interval_ms);

/**
 * quoit_ray_scaling_set_selector:
 * @labels: (nullable): the label selector of every worker; copied. %NULL: none
 *
 * Sets label_selector to one selector for all workers.
 */
QUOIT_API void quoit_ray_scaling_set_selector (QuoitRayScaling *scaling, const QuoitRayLabels *labels);

/**
 * quoit_ray_scaling_set_selectors:
 * @labels: (array length=n) (nullable): the label selector of each worker; copied
 * @n: the number of selectors; an empty list differs from no list
 *
 * Sets label_selector to a list with one selector for each worker, up to the largest number.
 */
QUOIT_API void quoit_ray_scaling_set_selectors (QuoitRayScaling *scaling, const QuoitRayLabels *const *labels,
                                                uint32_t n);

/**
 * QuoitRayTrainPlan:
 *
 * A ScalingConfig that Ray accepts, and the worker group that Ray creates for it.
 */
typedef struct _QuoitRayTrainPlan QuoitRayTrainPlan;

/**
 * quoit_ray_train_plan_new:
 * @scaling: the arguments; used only during this call
 *
 * Checks the arguments like Ray does. Like Ray, it does not check whether the topology exists.
 *
 * Fails with %QUOIT_ERROR_INVALID when:
 *
 * - a number is negative, or the smallest number of workers exceeds the largest;
 * - use_tpu or use_gpu contradicts the resources of a worker: resources without the flag, or the flag without
 *   resources;
 * - several workers use TPUs, and the topology or the accelerator type is missing, or there is a label selector;
 * - quoit_ray_worker_resources() fails;
 * - the number of workers does not fill whole slices;
 * - the number of selectors in a list is not the largest number of workers.
 *
 * Returns: (transfer full): the plan; quoit_ray_train_plan_free() it
 */
QUOIT_API QuoitRayTrainPlan *quoit_ray_train_plan_new (const QuoitRayScaling *scaling, GError **error);

/**
 * quoit_ray_train_plan_free:
 * @plan: (nullable) (transfer full): a plan
 *
 * Frees @plan and everything borrowed from it.
 */
QUOIT_API void quoit_ray_train_plan_free (QuoitRayTrainPlan *plan);

/**
 * quoit_ray_train_plan_get_min_workers:
 *
 * Returns: the smallest number of workers
 */
QUOIT_API int64_t quoit_ray_train_plan_get_min_workers (const QuoitRayTrainPlan *plan);

/**
 * quoit_ray_train_plan_get_max_workers:
 *
 * Returns: the largest number of workers
 */
QUOIT_API int64_t quoit_ray_train_plan_get_max_workers (const QuoitRayTrainPlan *plan);

/**
 * quoit_ray_train_plan_is_elastic:
 *
 * Returns: true if the number of workers is a range, false if it is fixed
 */
QUOIT_API bool quoit_ray_train_plan_is_elastic (const QuoitRayTrainPlan *plan);

/**
 * quoit_ray_train_plan_get_resources:
 *
 * Returns the resources that each worker requests. An accelerator type adds 0.001 of a resource such as
 * "accelerator_type:TPU-V6E", also to the bundles of slices.
 *
 * Returns: (transfer none): the resources, valid until @plan is freed
 */
QUOIT_API const QuoitRayResources *quoit_ray_train_plan_get_resources (const QuoitRayTrainPlan *plan);

/**
 * quoit_ray_train_plan_dup_total_resources:
 *
 * Returns: (transfer full): the resources that the largest number of workers requests together;
 *   quoit_ray_resources_free() them
 */
QUOIT_API QuoitRayResources *quoit_ray_train_plan_dup_total_resources (const QuoitRayTrainPlan *plan);

/**
 * quoit_ray_train_plan_get_workers_per_slice:
 *
 * Returns: the number of workers that fill one slice; 0 if the job does not request slices
 */
QUOIT_API int64_t quoit_ray_train_plan_get_workers_per_slice (const QuoitRayTrainPlan *plan);

/**
 * quoit_ray_train_plan_n_slices:
 * @n_workers: the number of workers of a run
 *
 * Computes the number of slices that Ray reserves for a run.
 *
 * Returns: the number of slices; 1 if the job does not request slices
 */
QUOIT_API int64_t quoit_ray_train_plan_n_slices (const QuoitRayTrainPlan *plan, int64_t n_workers);

/**
 * quoit_ray_train_plan_dup_slice_request:
 * @n_workers: the number of workers of a run
 *
 * Returns the arguments with which Ray calls slice_placement_group() to reserve the slices of a run.
 *
 * Returns: (transfer full) (nullable): the request; quoit_ray_slice_request_free() it. %NULL if Ray uses a plain
 *   placement group
 */
QUOIT_API QuoitRaySliceRequest *quoit_ray_train_plan_dup_slice_request (const QuoitRayTrainPlan *plan,
                                                                        int64_t n_workers);

/**
 * quoit_ray_train_plan_get_strategy:
 *
 * Returns: (transfer none): the strategy of the placement group, valid until @plan is freed
 */
QUOIT_API const char *quoit_ray_train_plan_get_strategy (const QuoitRayTrainPlan *plan);

/**
 * quoit_ray_train_plan_get_labels:
 * @worker: index of a worker, from 0
 *
 * Returns: (transfer none) (nullable): the label selector of the worker, valid until @plan is freed; %NULL if none was
 *   set
 */
QUOIT_API const QuoitRayLabels *quoit_ray_train_plan_get_labels (const QuoitRayTrainPlan *plan, int64_t worker);

/**
 * quoit_ray_train_count_possible:
 * @reserved: (array length=n_nodes): for each node, the resources that the job can use
 * @n_nodes: the number of nodes
 * @n_intact: (nullable): the result of quoit_ray_count_slices(); %NULL if it is unknown to Ray
 * @n_workers: (out): the number of workers that can run
 *
 * Computes with how many workers Ray would run an elastic job: the workers that fit on each node, summed, at most the
 * largest number of workers. If the job uses slices, the result is rounded down to whole slices, and is at most
 * @n_intact slices.
 *
 * Like Ray, it divides floating-point numbers: five times 0.1 holds only four workers of 0.1.
 *
 * Fails with %QUOIT_ERROR_INVALID where Ray fails: a worker requests a negative amount, or a node has an amount that is
 * not finite. @n_workers is untouched.
 *
 * Returns: true on success, false on failure
 */
QUOIT_API bool quoit_ray_train_count_possible (const QuoitRayTrainPlan *plan, const QuoitRayResources *const *reserved,
                                               uint32_t n_nodes, const int64_t *n_intact, int64_t *n_workers,
                                               GError **error);

/**
 * quoit_ray_train_would_start:
 * @possible: (nullable): the result of quoit_ray_train_count_possible(); %NULL if it is unknown
 *
 * Determines whether Ray starts an elastic job that is not running: the possible workers are at least the smallest
 * number.
 *
 * Returns: true if Ray starts it with @possible workers, false if it waits
 */
QUOIT_API bool quoit_ray_train_would_start (const QuoitRayTrainPlan *plan, const int64_t *possible);

/**
 * quoit_ray_train_is_resize_check_due:
 * @started_ms: the time when the workers started
 * @checked_ms: (nullable): the time of the last resize check; %NULL: there was none
 * @now_ms: the present time
 *
 * Ray checks at intervals whether a running elastic job should get another size. This function determines whether the
 * next check is due: the interval of quoit_ray_scaling_set_monitor_interval() has passed since the start and since the
 * last check. If so, call quoit_ray_train_would_resize() and pass @now_ms as the next @checked_ms.
 *
 * The three times are milliseconds of the same clock, whatever its origin.
 *
 * Returns: true if the check is due, false if it is not
 */
QUOIT_API bool quoit_ray_train_is_resize_check_due (const QuoitRayTrainPlan *plan, int64_t started_ms,
                                                    const int64_t *checked_ms, int64_t now_ms);

/**
 * quoit_ray_train_would_resize:
 * @n_running: the number of running workers
 * @possible: (nullable): the result of quoit_ray_train_count_possible(); %NULL if it is unknown
 *
 * Returns what Ray decides at a resize check of a running elastic job. Ray restarts the job if the possible workers
 * differ from the running ones and are at least the smallest number.
 *
 * Returns: true if Ray restarts the job with @possible workers, false if the job continues
 */
QUOIT_API bool quoit_ray_train_would_resize (const QuoitRayTrainPlan *plan, int64_t n_running, const int64_t *possible);

/**
 * QuoitRayRanks:
 *
 * The ranks of the workers of a job. World ranks are 0 to n - 1. A worker index is the position of the worker in the
 * arrays that were passed when the ranks were created. A rank without a worker gives the number of workers as index,
 * and 0 as any other result.
 */
typedef struct _QuoitRayRanks QuoitRayRanks;

/**
 * quoit_ray_ranks_new_by_slice:
 * @slices: (array length=n) (element-type nullable): for each worker, the TPU_NAME of its process, in the order of
 *   bundles; %NULL: not set, which sorts first
 * @nodes: (array length=n): for each worker, the address of its node
 * @n: the number of workers
 *
 * Ranks the workers of a job with TPUs. Workers are sorted by the name of their slice as text, so that "s-10" precedes
 * "s-9". Within a slice they keep the order of bundles, which is not the order of worker ids.
 *
 * Returns: (transfer full): the ranks; quoit_ray_ranks_free() them
 */
QUOIT_API QuoitRayRanks *quoit_ray_ranks_new_by_slice (const char *const *slices, const char *const *nodes, uint32_t n);

/**
 * quoit_ray_ranks_new_by_node:
 * @node_ids: (array length=n): for each worker, the id of its node, in the order of bundles
 * @lowest_gpu: (array length=n) (nullable): for each worker, its lowest GPU; %NULL for workers without GPUs
 * @first_id: (nullable): the id of a node whose workers come first
 * @n: the number of workers
 *
 * Ranks the workers of a job without TPUs. Workers are sorted by node, in the order in which the nodes first occur, and
 * on each node by their lowest GPU.
 *
 * Returns: (transfer full): the ranks; quoit_ray_ranks_free() them
 */
QUOIT_API QuoitRayRanks *quoit_ray_ranks_new_by_node (const char *const *node_ids, const int64_t *lowest_gpu,
                                                      const char *first_id, uint32_t n);

/**
 * quoit_ray_ranks_free:
 * @ranks: (nullable) (transfer full): the ranks
 */
QUOIT_API void quoit_ray_ranks_free (QuoitRayRanks *ranks);

/**
 * quoit_ray_ranks_get_worker:
 * @rank: a world rank
 *
 * Returns: the index of the worker with that rank
 */
QUOIT_API uint32_t quoit_ray_ranks_get_worker (const QuoitRayRanks *ranks, uint32_t rank);

/**
 * quoit_ray_ranks_get_local_rank:
 * @rank: a world rank
 *
 * Returns: the rank of that worker among the workers of its node
 */
QUOIT_API uint32_t quoit_ray_ranks_get_local_rank (const QuoitRayRanks *ranks, uint32_t rank);

/**
 * quoit_ray_ranks_get_local_size:
 * @rank: a world rank
 *
 * Returns: the number of workers on that worker's node
 */
QUOIT_API uint32_t quoit_ray_ranks_get_local_size (const QuoitRayRanks *ranks, uint32_t rank);

/**
 * quoit_ray_ranks_get_node_rank:
 * @rank: a world rank
 *
 * Returns: the rank of that worker's node; nodes are ranked in the order in which they occur among the sorted workers
 */
QUOIT_API uint32_t quoit_ray_ranks_get_node_rank (const QuoitRayRanks *ranks, uint32_t rank);

/**
 * quoit_ray_train_slice_id:
 * @rank: the world rank of a worker
 * @workers_per_slice: the number of workers that fill a slice
 * @n_slices: the number of slices of the job
 *
 * Computes the slice id that the JAX backend assigns to a worker. It depends only on the rank. If there are more
 * workers than the slices can hold, the surplus ones get the id of the last slice.
 *
 * Returns: the slice id
 */
QUOIT_API int64_t quoit_ray_train_slice_id (int64_t rank, int64_t workers_per_slice, int64_t n_slices);

/**
 * QuoitRayFailureKind:
 * @QUOIT_RAY_FAILURE_WORKER: a worker failed
 * @QUOIT_RAY_FAILURE_STARTUP_FAILED: the workers could not be started
 * @QUOIT_RAY_FAILURE_STARTUP_TIMEOUT: the workers did not start in time
 * @QUOIT_RAY_FAILURE_PREEMPTION: a node was preempted
 * @QUOIT_RAY_FAILURE_CONTROLLER: any other error of the controller, after which Ray never retries; unknown values are
 *   treated like this one
 *
 * The cause of the failure of a run.
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
 * The failures of a run so far, and the limits up to which Ray retries.
 */
typedef struct _QuoitRayFailures QuoitRayFailures;

/**
 * quoit_ray_failures_new:
 * @worker_limit: max_failures, the limit for failed workers; Ray's default is 0
 * @controller_limit: controller_failure_limit, the limit for starts that fail or time out; Ray's default is -1
 * @preemption_limit: max_preemption_failures, the limit for preemptions; Ray's default is -1
 *
 * Creates three counters, all at 0, each with its own limit. -1 means no limit.
 *
 * Returns: (transfer full): the counters; quoit_ray_failures_free() them
 */
QUOIT_API QuoitRayFailures *quoit_ray_failures_new (int64_t worker_limit, int64_t controller_limit,
                                                    int64_t preemption_limit);

/**
 * quoit_ray_failures_free:
 * @failures: (nullable) (transfer full): the counters
 */
QUOIT_API void quoit_ray_failures_free (QuoitRayFailures *failures);

/**
 * quoit_ray_failures_retries:
 * @kind: the cause of the failure
 *
 * Counts a failure and returns Ray's decision.
 *
 * Returns: true if Ray starts the run again (RETRY), false if the run ends (RAISE)
 */
QUOIT_API bool quoit_ray_failures_retries (QuoitRayFailures *failures, QuoitRayFailureKind kind);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRayScaling, quoit_ray_scaling_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRayTrainPlan, quoit_ray_train_plan_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRayRanks, quoit_ray_ranks_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRayFailures, quoit_ray_failures_free)

G_END_DECLS

#endif

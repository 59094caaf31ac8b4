/* SPDX-License-Identifier: Apache-2.0 */
/* The placement of a placement group by Ray 2.60's control plane, computed without Ray.
 *
 * A cluster is what that control plane knows about its nodes; a group has the arguments of placement_group().
 * quoit_ray_group_place() computes the answer. If several nodes are equally good, Ray chooses one of them, and the
 * choice varies from call to call; this model chooses the node that was added first. quoit_ray_group_is_determined()
 * returns whether there is such a choice, and quoit_ray_group_is_possible() whether an answer is one that Ray could
 * have given.
 *
 * The model also reproduces wrong answers of Ray: negative amounts count backwards, and 0.00005 of a resource is 0.
 * It refuses, with QUOIT_ERROR_INVALID, what ends Ray's process or is undefined there: NaN, infinity, amounts from
 * 922337203685477.5808 up, sums of that size where Ray adds bundles, and a resource without a name. */
#ifndef QUOIT_RAY_PLACEMENT_H
#define QUOIT_RAY_PLACEMENT_H

#include <quoit/request.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitRayResult:
 *
 * Ray's answer for a placement group.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_RAY_SUCCESS = 0,   /* every bundle has a node */
  QUOIT_RAY_FAILED = 1,    /* not now: Ray will retry */
  QUOIT_RAY_INFEASIBLE = 2 /* not with these nodes: Ray waits for new nodes */
} QuoitRayResult;

/**
 * QuoitRayWhether:
 *
 * An answer whose search can exceed its budget.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_RAY_NO = 0,
  QUOIT_RAY_YES = 1,
  QUOIT_RAY_UNKNOWN = 2 /* the budget was used up before the answer was found */
} QuoitRayWhether;

/**
 * QuoitRayCluster:
 *
 * The usable nodes: those that are alive and not draining, because Ray considers no others. Nodes are numbered from 0
 * in the order in which they were added. Any number of threads can read a cluster while no thread changes it.
 *
 * Nodes passed by number must exist. The error-returning functions return true on success.
 *
 * Since: 0.1
 */
typedef struct _QuoitRayCluster QuoitRayCluster;

/**
 * QuoitRayGroup:
 *
 * The arguments of a placement group. Bundles are numbered from 0 in the order in which they were added. Any number of
 * threads can read a group while no thread changes it.
 *
 * Since: 0.1
 */
typedef struct _QuoitRayGroup QuoitRayGroup;

/**
 * quoit_ray_cluster_new:
 *
 * Creates a cluster without nodes.
 *
 * Returns: (transfer full): the cluster; quoit_ray_cluster_free() it
 * Since: 0.1
 */
QUOIT_API QuoitRayCluster *quoit_ray_cluster_new (void);

/**
 * quoit_ray_cluster_free:
 * @cluster: (nullable): the cluster
 *
 * Frees the cluster.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_cluster_free (QuoitRayCluster *cluster);

/**
 * quoit_ray_cluster_add_node:
 * @cluster: the cluster
 * @id: Ray's id of the node, or any other text that groups use as its id
 * @error: (out) (optional): set on failure
 *
 * Adds a node without resources. Its number is the previous number of nodes. If several nodes are equally good for a
 * bundle, the one with the smallest number is used.
 *
 * Fails with %QUOIT_ERROR_INVALID when a node with that @id exists.
 *
 * Returns: true when it was added
 * Since: 0.1
 */
QUOIT_API bool quoit_ray_cluster_add_node (QuoitRayCluster *cluster, const char *id, GError **error);

/**
 * quoit_ray_cluster_get_n_nodes:
 * @cluster: the cluster
 *
 * Returns: the number of nodes
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_ray_cluster_get_n_nodes (const QuoitRayCluster *cluster);

/**
 * quoit_ray_cluster_get_node_id:
 * @cluster: the cluster
 * @node: number of a node
 *
 * Returns: (transfer none): the id passed to quoit_ray_cluster_add_node(), valid until @cluster is freed
 * Since: 0.1
 */
QUOIT_API const char *quoit_ray_cluster_get_node_id (const QuoitRayCluster *cluster, uint32_t node);

/**
 * quoit_ray_cluster_set_resource:
 * @cluster: the cluster
 * @node: number of a node
 * @resource: "CPU", "TPU", "TPU-v6e-16-head"
 * @total: the total amount of the node, in Ray's units
 * @available: the free part of it
 * @error: (out) (optional): set on failure
 *
 * Sets an amount like a report of the node would, in doubles that are cut to ten-thousandths like in Ray: 0.57 is
 * 0.5699. A resource that is never set is 0; one whose name begins with "node:__internal_implicit_resource_" is 1.
 *
 * Fails with %QUOIT_ERROR_INVALID for amounts that are negative, not finite, or at least 922337203685477.5808, and for
 * a resource without a name.
 *
 * Returns: true when it was set
 * Since: 0.1
 */
QUOIT_API bool quoit_ray_cluster_set_resource (QuoitRayCluster *cluster, uint32_t node, const char *resource,
                                               double total, double available, GError **error);

/**
 * quoit_ray_cluster_set_resource_e4:
 * @cluster: the cluster
 * @node: number of a node
 * @resource: "CPU", "TPU", "TPU-v6e-16-head"
 * @total_e4: the total amount of the node, in ten-thousandths
 * @available_e4: the free part of it, in ten-thousandths
 * @error: (out) (optional): set on failure
 *
 * Sets an amount like quoit_ray_cluster_set_resource(), without conversion from doubles.
 *
 * Returns: true when it was set
 * Since: 0.1
 */
QUOIT_API bool quoit_ray_cluster_set_resource_e4 (QuoitRayCluster *cluster, uint32_t node, const char *resource,
                                                  int64_t total_e4, int64_t available_e4, GError **error);

/**
 * quoit_ray_cluster_get_available_e4:
 * @cluster: the cluster
 * @node: number of a node
 * @resource: "CPU", "TPU", "TPU-v6e-16-head"
 *
 * Returns the free amount of @resource, after the changes of quoit_ray_cluster_take().
 *
 * Returns: the amount in ten-thousandths
 * Since: 0.1
 */
QUOIT_API int64_t quoit_ray_cluster_get_available_e4 (const QuoitRayCluster *cluster, uint32_t node,
                                                      const char *resource);

/**
 * quoit_ray_cluster_set_label:
 * @cluster: the cluster
 * @node: number of a node
 * @key: "ray.io/tpu-slice-name"
 * @value: any text
 *
 * Sets a label of a node, or replaces its value. Like in Ray's control plane, texts are not checked.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_cluster_set_label (QuoitRayCluster *cluster, uint32_t node, const char *key,
                                            const char *value);

/**
 * quoit_ray_cluster_take:
 * @cluster: the cluster
 * @group: a placed group
 * @nodes: the number of a node for each bundle
 * @error: (out) (optional): set on failure
 *
 * Subtracts the bundles of a placed group from the free amounts, like Ray's control plane does: at once, and never
 * below 0.
 *
 * Fails with %QUOIT_ERROR_INVALID for a number without a node, and for groups that quoit_ray_group_place() refuses.
 *
 * Returns: true when it was taken
 * Since: 0.1
 */
QUOIT_API bool quoit_ray_cluster_take (QuoitRayCluster *cluster, const QuoitRayGroup *group, const uint32_t *nodes,
                                       GError **error);

/**
 * quoit_ray_cluster_give_back:
 * @cluster: the cluster
 * @group: a placed group
 * @nodes: the number of a node for each bundle
 * @error: (out) (optional): set on failure
 *
 * Adds the bundles of a removed group to the free amounts, like the reports of the nodes do: never above the total.
 *
 * Fails with %QUOIT_ERROR_INVALID for a number without a node, and for groups that quoit_ray_group_place() refuses.
 *
 * Returns: true when it was given back
 * Since: 0.1
 */
QUOIT_API bool quoit_ray_cluster_give_back (QuoitRayCluster *cluster, const QuoitRayGroup *group, const uint32_t *nodes,
                                            GError **error);

/**
 * quoit_ray_strategy_parse:
 * @name: "PACK", "SPREAD", "STRICT_PACK", "STRICT_SPREAD"
 * @strategy: (out): the strategy
 * @error: (out) (optional): set on failure
 *
 * Reads the name of a strategy.
 *
 * Fails with %QUOIT_ERROR_INVALID for any other text, including "pack", like Ray; @strategy is untouched.
 *
 * Returns: true when @strategy was set
 * Since: 0.1
 */
QUOIT_API bool quoit_ray_strategy_parse (const char *name, QuoitStrategy *strategy, GError **error);

/**
 * quoit_ray_strategy_get_name:
 * @strategy: one of #QuoitStrategy
 *
 * Returns: (transfer none) (nullable): the name that quoit_ray_strategy_parse() reads, a constant; %NULL for an unknown
 * value
 * Since: 0.1
 */
QUOIT_API const char *quoit_ray_strategy_get_name (QuoitStrategy strategy);

/**
 * quoit_ray_group_new:
 *
 * Creates a group without bundles, with Ray's default strategy PACK.
 *
 * Returns: (transfer full): the group; quoit_ray_group_free() it
 * Since: 0.1
 */
QUOIT_API QuoitRayGroup *quoit_ray_group_new (void);

/**
 * quoit_ray_group_free:
 * @group: (nullable): the group
 *
 * Frees the group.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_group_free (QuoitRayGroup *group);

/**
 * quoit_ray_group_add_bundle:
 * @group: the group
 *
 * Adds a bundle without resources.
 *
 * Returns: its number
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_ray_group_add_bundle (QuoitRayGroup *group);

/**
 * quoit_ray_group_get_n_bundles:
 * @group: the group
 *
 * Returns: the number of bundles
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_ray_group_get_n_bundles (const QuoitRayGroup *group);

/**
 * quoit_ray_group_set_amount:
 * @group: the group
 * @bundle: number of a bundle
 * @resource: "CPU", "TPU", "TPU-v6e-16-head"
 * @amount: amount of it, in Ray's units
 *
 * Sets an amount. Any number is stored, like in Python; quoit_ray_group_check() and quoit_ray_group_place() validate
 * it.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_group_set_amount (QuoitRayGroup *group, uint32_t bundle, const char *resource, double amount);

/**
 * quoit_ray_group_set_selector:
 * @group: the group
 * @bundle: number of a bundle
 * @key: a label's key: "ray.io/tpu-slice-name"
 * @value: "v", "!v", "in(a,b)", "!in(a,b)"; other text is read as Ray's control plane reads it
 *
 * Restricts a bundle to nodes that satisfy all of its selectors. A new @value for the same @key replaces the old one.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_group_set_selector (QuoitRayGroup *group, uint32_t bundle, const char *key, const char *value);

/**
 * quoit_ray_group_set_strategy:
 * @group: the group
 * @strategy: the strategy for its bundles
 *
 * Sets the argument strategy of placement_group().
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_group_set_strategy (QuoitRayGroup *group, QuoitStrategy strategy);

/**
 * quoit_ray_group_add_topology:
 * @group: the group
 * @key: a label's key; "ray.io/node-id" means the nodes themselves
 * @strategy: the strategy for the values of that label
 *
 * Adds one entry of the argument topology_strategy of placement_group(). If there is an entry for a label other than
 * "ray.io/node-id", all bundles are placed on nodes that share one value of it, whatever @strategy is, because Ray's
 * control plane implements nothing else. Among these nodes, the strategy is that of "ray.io/node-id", otherwise that of
 * quoit_ray_group_set_strategy().
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_group_add_topology (QuoitRayGroup *group, const char *key, QuoitStrategy strategy);

/**
 * quoit_ray_group_bind:
 * @group: the group
 * @value: (nullable): value of the topology label; %NULL: any
 *
 * Binds the group to one value of its topology label. Use it if this group consists of the lost bundles of another
 * group whose remaining bundles are on nodes with @value: Ray replaces lost bundles only there.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_group_bind (QuoitRayGroup *group, const char *value);

/**
 * quoit_ray_group_exclude:
 * @group: the group
 * @id: id of a node; an id that is not in the cluster is ignored
 *
 * Excludes the node of a remaining bundle, if this group consists of the lost bundles of another group. Only
 * STRICT_SPREAD uses it.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_group_exclude (QuoitRayGroup *group, const char *id);

/**
 * quoit_ray_group_set_soft_target:
 * @group: the group
 * @id: (nullable): id of a node; a missing or full node is ignored
 *
 * Sets the node that STRICT_PACK prefers: _soft_target_node_id of placement_group().
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_group_set_soft_target (QuoitRayGroup *group, const char *id);

/**
 * quoit_ray_group_set_lifetime:
 * @group: the group
 * @lifetime: (nullable): "detached"
 *
 * Sets the argument lifetime of placement_group(). It is checked, but has no effect on the placement.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_group_set_lifetime (QuoitRayGroup *group, const char *lifetime);

/**
 * quoit_ray_group_check:
 * @group: the group
 * @error: (out) (optional): set on failure
 *
 * Runs the checks of placement_group() itself, which Ray makes before its control plane gets the group. A group that
 * passes can still be refused by quoit_ray_group_place(), and a group that fails could be placed.
 *
 * Fails with %QUOIT_ERROR_INVALID where placement_group() raises, with the first check that fails.
 *
 * Returns: true if placement_group() accepts the group
 * Since: 0.1
 */
QUOIT_API bool quoit_ray_group_check (const QuoitRayGroup *group, GError **error);

/**
 * quoit_ray_group_place:
 * @group: the group
 * @cluster: the cluster, which is not changed
 * @result: (out): Ray's answer
 * @nodes: (out) (optional): array with room for one node number per bundle; written only with %QUOIT_RAY_SUCCESS
 * @error: (out) (optional): set on failure
 *
 * Computes the nodes on which Ray's control plane would put the bundles. Either all bundles are placed or none.
 *
 * Fails with %QUOIT_ERROR_INVALID for:
 *
 * - amounts that are not finite or at least 922337203685477.5808, and sums of that size where Ray adds bundles;
 * - a resource without a name or named "bundle";
 * - a @group with several topology labels;
 * - inputs that need too much memory: more than 16,777,216 amounts (bundles times resources), 33,554,432 (nodes times
 *   resources), or 67,108,864 times 64 nodes for bundles with different selectors.
 *
 * Returns: true when @result was set
 * Since: 0.1
 */
QUOIT_API bool quoit_ray_group_place (const QuoitRayGroup *group, const QuoitRayCluster *cluster,
                                      QuoitRayResult *result, uint32_t *nodes, GError **error);

/**
 * quoit_ray_group_is_determined:
 * @group: the group
 * @cluster: the cluster, which is not changed
 * @budget: the number of placements to try in the search for another answer; 1,000 take some milliseconds
 * @determined: (out): whether Ray always gives the answer of quoit_ray_group_place()
 * @error: (out) (optional): set on failure
 *
 * Determines whether Ray has a choice: among nodes with equal scores, and among values of a topology label. Nodes with
 * the same resources and the same permitted bundles are tried once.
 *
 * Fails like quoit_ray_group_place().
 *
 * Returns: true when @determined was set
 * Since: 0.1
 */
QUOIT_API bool quoit_ray_group_is_determined (const QuoitRayGroup *group, const QuoitRayCluster *cluster,
                                              uint64_t budget, QuoitRayWhether *determined, GError **error);

/**
 * quoit_ray_group_is_possible:
 * @group: the group
 * @cluster: the cluster, which is not changed
 * @result: an answer of Ray
 * @nodes: (nullable): with %QUOIT_RAY_SUCCESS, the number of a node for each bundle
 * @budget: the number of placements to try if @result is not %QUOIT_RAY_SUCCESS; 1,000 take some milliseconds
 * @possible: (out): whether Ray could give this answer
 * @error: (out) (optional): set on failure
 *
 * Determines whether Ray's choices can lead to an answer. For %QUOIT_RAY_SUCCESS, @possible is never
 * %QUOIT_RAY_UNKNOWN.
 *
 * Fails like quoit_ray_group_place().
 *
 * Returns: true when @possible was set
 * Since: 0.1
 */
QUOIT_API bool quoit_ray_group_is_possible (const QuoitRayGroup *group, const QuoitRayCluster *cluster,
                                            QuoitRayResult result, const uint32_t *nodes, uint64_t budget,
                                            QuoitRayWhether *possible, GError **error);

/**
 * quoit_ray_bundle_order:
 * @group: the group
 * @order: (out): array with room for one number per bundle: the bundles in the order in which PACK, SPREAD and
 *   STRICT_SPREAD place them
 * @error: (out) (optional): set on failure
 *
 * Computes the order in which bundles are placed, largest first: by GPU, then by custom resources in the order of
 * quoit_ray_resource_id(), then by object_store_memory, memory and CPU. With more than 16 bundles, the order of equal
 * ones is that of libstdc++'s sort.
 *
 * Fails with %QUOIT_ERROR_INVALID for amounts, and for numbers of amounts, that quoit_ray_group_place() refuses.
 *
 * Returns: true when @order was set
 * Since: 0.1
 */
QUOIT_API bool quoit_ray_bundle_order (const QuoitRayGroup *group, uint32_t *order, GError **error);

/**
 * quoit_ray_resource_id:
 * @resource: "TPU"
 *
 * Returns the number by which Ray orders resources: 0 to 3 for CPU, memory, GPU and object_store_memory, otherwise
 * libstdc++'s hash of the name as a signed number.
 *
 * Returns: the number
 * Since: 0.1
 */
QUOIT_API int64_t quoit_ray_resource_id (const char *resource);

/**
 * quoit_ray_dup_bundle_resource:
 * @resource: "TPU"; "bundle" is the resource that Ray adds to each bundle, 1000 units of it
 * @group_id: Ray's id of the placement group: 36 hexadecimal digits
 * @bundle: number of the bundle
 * @error: (out) (optional): set on failure
 *
 * Returns Ray's name for the part of @resource on a node that belongs to one bundle.
 *
 * Fails with %QUOIT_ERROR_INVALID for a @resource without a name, or an invalid @group_id.
 *
 * Returns: (transfer full): "TPU_group_0_<id>"; g_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API char *quoit_ray_dup_bundle_resource (const char *resource, const char *group_id, uint32_t bundle,
                                               GError **error);

/**
 * quoit_ray_dup_group_resource:
 * @resource: "TPU"; "bundle" is the resource that Ray adds to each bundle, 1000 units of it
 * @group_id: Ray's id of the placement group: 36 hexadecimal digits
 * @error: (out) (optional): set on failure
 *
 * Returns Ray's name for the part of @resource on a node that belongs to any bundle of the group.
 *
 * Fails with %QUOIT_ERROR_INVALID for a @resource without a name, or an invalid @group_id.
 *
 * Returns: (transfer full): "TPU_group_<id>"; g_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API char *quoit_ray_dup_group_resource (const char *resource, const char *group_id, GError **error);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRayCluster, quoit_ray_cluster_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRayGroup, quoit_ray_group_free)

G_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The placement of a placement group by Ray 2.60's control plane, computed without Ray.
 *
 * A QuoitRayCluster has the nodes as the control plane sees them; a QuoitRayGroup has the arguments of
 * placement_group(). quoit_ray_group_place() computes the answer. If several nodes are equally good, Ray chooses one of
 * them, and the choice varies from call to call; this model chooses the node that was added first.
 * quoit_ray_group_is_determined() returns whether Ray has no such choice, and quoit_ray_group_is_possible() whether an
 * answer is one that Ray could have given.
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
 */
typedef enum {
  QUOIT_RAY_SUCCESS = 0,   /* every bundle has a node */
  QUOIT_RAY_FAILED = 1,    /* not now: Ray will retry */
  QUOIT_RAY_INFEASIBLE = 2 /* not with these nodes: Ray waits for new nodes */
} QuoitRayResult;

/**
 * QuoitRayCertainty:
 *
 * An answer whose search can exceed its budget.
 */
typedef enum {
  QUOIT_RAY_NO = 0,
  QUOIT_RAY_YES = 1,
  QUOIT_RAY_UNKNOWN = 2 /* the budget was used up before the answer was found */
} QuoitRayCertainty;

/**
 * QuoitRayCluster:
 *
 * The usable nodes: those that are alive and not draining, because Ray considers no others. Nodes are numbered from 0
 * in the order in which they were added. Any number of threads can read a cluster while no thread changes it.
 *
 * Nodes passed by number must exist. Functions that can fail return true on success.
 */
typedef struct _QuoitRayCluster QuoitRayCluster;

/**
 * QuoitRayGroup:
 *
 * The arguments of a placement group. Bundles are numbered from 0 in the order in which they were added. Any number of
 * threads can read a group while no thread changes it.
 */
typedef struct _QuoitRayGroup QuoitRayGroup;

/**
 * quoit_ray_cluster_new:
 *
 * Creates a cluster without nodes.
 *
 * Returns: (transfer full): the cluster; quoit_ray_cluster_free() it
 */
QUOIT_API QuoitRayCluster *quoit_ray_cluster_new (void);

/**
 * quoit_ray_cluster_free:
 * @cluster: (nullable): the cluster
 *
 * Frees the cluster.
 */
QUOIT_API void quoit_ray_cluster_free (QuoitRayCluster *cluster);

/**
 * quoit_ray_cluster_add_node:
 * @id: Ray's id of the node, or any other text that is unique in the cluster. Groups refer to the node by it; see
 *   quoit_ray_group_exclude()
 *
 * Adds a node without resources. Its number is the number of nodes before it. If several nodes are equally good for a
 * bundle, the one with the smallest number is used.
 *
 * Fails with %QUOIT_ERROR_INVALID when a node with that @id exists.
 *
 * Returns: true when it was added
 */
QUOIT_API bool quoit_ray_cluster_add_node (QuoitRayCluster *cluster, const char *id, GError **error);

/**
 * quoit_ray_cluster_get_n_nodes:
 *
 * Returns: the number of nodes
 */
QUOIT_API uint32_t quoit_ray_cluster_get_n_nodes (const QuoitRayCluster *cluster);

/**
 * quoit_ray_cluster_get_node_id:
 * @node: number of a node
 *
 * Returns: (transfer none): the id passed to quoit_ray_cluster_add_node(), valid until @cluster is freed
 */
QUOIT_API const char *quoit_ray_cluster_get_node_id (const QuoitRayCluster *cluster, uint32_t node);

/**
 * quoit_ray_cluster_set_resource:
 * @node: number of a node
 * @resource: "CPU", "TPU", "TPU-v6e-16-head"
 * @total: the total amount of the node, in Ray's units
 * @available: the free part of it
 *
 * Sets an amount, as a report of the node to the control plane does, in doubles that are cut to ten-thousandths like in
 * Ray: 0.57 is 0.5699. A resource that is never set is 0; one whose name begins with
 * "node:__internal_implicit_resource_" is 1.
 *
 * Fails with %QUOIT_ERROR_INVALID for amounts that are negative, not finite, or at least 922337203685477.5808, and for
 * a resource without a name.
 *
 * Returns: true when it was set
 */
QUOIT_API bool quoit_ray_cluster_set_resource (QuoitRayCluster *cluster, uint32_t node, const char *resource,
                                               double total, double available, GError **error);

/**
 * quoit_ray_cluster_set_resource_e4:
 * @node: number of a node
 * @resource: "CPU", "TPU", "TPU-v6e-16-head"
 * @total_e4: the total amount of the node, in ten-thousandths
 * @available_e4: the free part of it, in ten-thousandths
 *
 * Sets an amount like quoit_ray_cluster_set_resource(), without conversion from doubles.
 *
 * Returns: true when it was set
 */
QUOIT_API bool quoit_ray_cluster_set_resource_e4 (QuoitRayCluster *cluster, uint32_t node, const char *resource,
                                                  int64_t total_e4, int64_t available_e4, GError **error);

/**
 * quoit_ray_cluster_get_available_e4:
 * @node: number of a node
 * @resource: "CPU", "TPU", "TPU-v6e-16-head"
 *
 * Returns the free amount of @resource, after the changes of quoit_ray_cluster_allocate() and
 * quoit_ray_cluster_deallocate().
 *
 * Returns: the amount in ten-thousandths
 */
QUOIT_API int64_t quoit_ray_cluster_get_available_e4 (const QuoitRayCluster *cluster, uint32_t node,
                                                      const char *resource);

/**
 * quoit_ray_cluster_set_label:
 * @node: number of a node
 * @key: "ray.io/tpu-slice-name"
 * @value: any text
 *
 * Sets a label of a node, or replaces its value. Like in Ray's control plane, texts are not checked.
 */
QUOIT_API void quoit_ray_cluster_set_label (QuoitRayCluster *cluster, uint32_t node, const char *key,
                                            const char *value);

/**
 * quoit_ray_cluster_allocate:
 * @group: a placed group
 * @nodes: the number of a node for each bundle
 *
 * Subtracts the bundles of a placed group from the free amounts, like Ray's control plane does: at once, and never
 * below 0.
 *
 * Fails with %QUOIT_ERROR_INVALID for a number without a node, and for groups that quoit_ray_group_place() refuses.
 *
 * Returns: true when the amounts were subtracted
 */
QUOIT_API bool quoit_ray_cluster_allocate (QuoitRayCluster *cluster, const QuoitRayGroup *group, const uint32_t *nodes,
                                           GError **error);

/**
 * quoit_ray_cluster_deallocate:
 * @group: a placed group
 * @nodes: the number of a node for each bundle
 *
 * Adds the bundles of a removed group to the free amounts, like the reports of the nodes do: never above the total.
 *
 * Fails with %QUOIT_ERROR_INVALID for a number without a node, and for groups that quoit_ray_group_place() refuses.
 *
 * Returns: true when the amounts were added
 */
QUOIT_API bool quoit_ray_cluster_deallocate (QuoitRayCluster *cluster, const QuoitRayGroup *group,
                                             const uint32_t *nodes, GError **error);

/**
 * quoit_ray_strategy_parse:
 * @name: "PACK", "SPREAD", "STRICT_PACK", "STRICT_SPREAD"
 * @strategy: (out): the strategy
 *
 * Reads the name of a strategy.
 *
 * Fails with %QUOIT_ERROR_INVALID for any other text, including "pack", like Ray; @strategy is untouched.
 *
 * Returns: true when @strategy was set
 */
QUOIT_API bool quoit_ray_strategy_parse (const char *name, QuoitStrategy *strategy, GError **error);

/**
 * quoit_ray_strategy_get_name:
 * @strategy: one of #QuoitStrategy
 *
 * Returns: (transfer none) (nullable): the name that quoit_ray_strategy_parse() reads, a constant; %NULL for an unknown
 *   value
 */
QUOIT_API const char *quoit_ray_strategy_get_name (QuoitStrategy strategy);

/**
 * quoit_ray_group_new:
 *
 * Creates a group without bundles, with Ray's default strategy PACK.
 *
 * Returns: (transfer full): the group; quoit_ray_group_free() it
 */
QUOIT_API QuoitRayGroup *quoit_ray_group_new (void);

/**
 * quoit_ray_group_free:
 * @group: (nullable): the group
 *
 * Frees the group.
 */
QUOIT_API void quoit_ray_group_free (QuoitRayGroup *group);

/**
 * quoit_ray_group_add_bundle:
 *
 * Adds a bundle without resources.
 *
 * Returns: the number of the bundle
 */
QUOIT_API uint32_t quoit_ray_group_add_bundle (QuoitRayGroup *group);

/**
 * quoit_ray_group_get_n_bundles:
 *
 * Returns: the number of bundles
 */
QUOIT_API uint32_t quoit_ray_group_get_n_bundles (const QuoitRayGroup *group);

/**
 * quoit_ray_group_set_amount:
 * @bundle: number of a bundle
 * @resource: "CPU", "TPU", "TPU-v6e-16-head"
 * @amount: amount of it, in Ray's units; a double, because Ray stores it as a float
 *
 * Sets an amount. Any number is stored, like in Python; quoit_ray_group_check() and quoit_ray_group_place() validate
 * it.
 */
QUOIT_API void quoit_ray_group_set_amount (QuoitRayGroup *group, uint32_t bundle, const char *resource, double amount);

/**
 * quoit_ray_group_set_selector:
 * @bundle: number of a bundle
 * @key: a label's key: "ray.io/tpu-slice-name"
 * @value: "v", "!v", "in(a,b)", "!in(a,b)"; other text is read as Ray's control plane reads it
 *
 * Restricts a bundle to nodes that satisfy all of its selectors. A new @value for the same @key replaces the old one.
 */
QUOIT_API void quoit_ray_group_set_selector (QuoitRayGroup *group, uint32_t bundle, const char *key, const char *value);

/**
 * quoit_ray_group_set_strategy:
 * @strategy: the strategy for its bundles
 *
 * Sets the argument strategy of placement_group().
 */
QUOIT_API void quoit_ray_group_set_strategy (QuoitRayGroup *group, QuoitStrategy strategy);

/**
 * quoit_ray_group_add_topology:
 * @key: a label's key; "ray.io/node-id" means the nodes themselves
 * @strategy: the strategy for the values of that label
 *
 * Adds one entry of the argument topology_strategy of placement_group(). If there is an entry for a label other than
 * "ray.io/node-id", all bundles are placed on nodes that share one value of it, whatever @strategy is, because Ray's
 * control plane implements nothing else. Among these nodes, the strategy is that of "ray.io/node-id", otherwise that of
 * quoit_ray_group_set_strategy().
 */
QUOIT_API void quoit_ray_group_add_topology (QuoitRayGroup *group, const char *key, QuoitStrategy strategy);

/**
 * quoit_ray_group_bind:
 * @value: (nullable): value of the topology label; %NULL: any
 *
 * Binds the group to one value of its topology label. Use it if this group consists of the lost bundles of another
 * group whose remaining bundles are on nodes with @value: Ray replaces lost bundles only there.
 */
QUOIT_API void quoit_ray_group_bind (QuoitRayGroup *group, const char *value);

/**
 * quoit_ray_group_exclude:
 * @id: id of a node; an id that is not in the cluster is ignored
 *
 * Excludes the node of a remaining bundle, if this group consists of the lost bundles of another group. Only
 * STRICT_SPREAD uses it.
 */
QUOIT_API void quoit_ray_group_exclude (QuoitRayGroup *group, const char *id);

/**
 * quoit_ray_group_set_soft_target:
 * @id: (nullable): id of a node; a missing or full node is ignored
 *
 * Sets the node that STRICT_PACK prefers: _soft_target_node_id of placement_group().
 */
QUOIT_API void quoit_ray_group_set_soft_target (QuoitRayGroup *group, const char *id);

/**
 * quoit_ray_group_set_lifetime:
 * @lifetime: (nullable): "detached"
 *
 * Sets the argument lifetime of placement_group(). It is checked, but has no effect on the placement.
 */
QUOIT_API void quoit_ray_group_set_lifetime (QuoitRayGroup *group, const char *lifetime);

/**
 * quoit_ray_group_check:
 *
 * Runs the checks of placement_group() itself, which Ray makes before its control plane gets the group. A group that
 * passes can still be refused by quoit_ray_group_place(), and a group that fails could be placed.
 *
 * Fails with %QUOIT_ERROR_INVALID where placement_group() raises, with the first check that fails.
 *
 * Returns: true if placement_group() accepts the group
 */
QUOIT_API bool quoit_ray_group_check (const QuoitRayGroup *group, GError **error);

/**
 * quoit_ray_group_place:
 * @cluster: the cluster, which is not changed
 * @result: (out): Ray's answer
 * @nodes: (out) (optional): array with room for one node number per bundle; written only with %QUOIT_RAY_SUCCESS
 *
 * Computes the nodes on which Ray's control plane would put the bundles. Either all bundles are placed or none.
 *
 * Fails with %QUOIT_ERROR_INVALID for:
 *
 * - amounts that are not finite or at least 922337203685477.5808, and sums of that size where Ray adds bundles;
 * - a resource without a name or named "bundle";
 * - a @group with several topology labels;
 * - inputs that need too much memory: more than 16,777,216 amounts of bundles (bundles times resources), 33,554,432
 *   amounts of nodes (nodes times resources), or 67,108,864 times 64 nodes for bundles with different selectors.
 *
 * Returns: true when @result was set
 */
QUOIT_API bool quoit_ray_group_place (const QuoitRayGroup *group, const QuoitRayCluster *cluster,
                                      QuoitRayResult *result, uint32_t *nodes, GError **error);

/**
 * quoit_ray_group_is_determined:
 * @cluster: the cluster, which is not changed
 * @budget: the number of placements to try in the search for another answer; 1,000 take some milliseconds
 * @determined: (out): whether Ray always gives the answer of quoit_ray_group_place()
 *
 * Determines whether Ray has a choice: among nodes with equal scores, and among values of a topology label. Nodes with
 * the same resources and the same permitted bundles are tried once.
 *
 * Fails like quoit_ray_group_place().
 *
 * Returns: true when @determined was set
 */
QUOIT_API bool quoit_ray_group_is_determined (const QuoitRayGroup *group, const QuoitRayCluster *cluster,
                                              uint64_t budget, QuoitRayCertainty *determined, GError **error);

/**
 * quoit_ray_group_is_possible:
 * @cluster: the cluster, which is not changed
 * @result: an answer of Ray
 * @nodes: (nullable): with %QUOIT_RAY_SUCCESS, the number of a node for each bundle
 * @budget: the number of placements to try if @result is not %QUOIT_RAY_SUCCESS; 1,000 take some milliseconds
 * @possible: (out): whether Ray could give this answer
 *
 * Determines whether Ray's choices can lead to an answer. For %QUOIT_RAY_SUCCESS, @possible is never
 * %QUOIT_RAY_UNKNOWN.
 *
 * Fails like quoit_ray_group_place().
 *
 * Returns: true when @possible was set
 */
QUOIT_API bool quoit_ray_group_is_possible (const QuoitRayGroup *group, const QuoitRayCluster *cluster,
                                            QuoitRayResult result, const uint32_t *nodes, uint64_t budget,
                                            QuoitRayCertainty *possible, GError **error);

/**
 * quoit_ray_bundle_order:
 * @order: (out): array with room for one number per bundle: the bundles in the order in which PACK, SPREAD and
 *   STRICT_SPREAD place them
 *
 * Computes the order in which bundles are placed, largest first: by GPU, then by custom resources in the order of
 * quoit_ray_resource_id(), then by object_store_memory, memory and CPU. With more than 16 bundles, the order of equal
 * ones is that of libstdc++'s sort.
 *
 * Fails with %QUOIT_ERROR_INVALID for amounts, and for numbers of amounts, that quoit_ray_group_place() refuses.
 *
 * Returns: true when @order was set
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
 */
QUOIT_API int64_t quoit_ray_resource_id (const char *resource);

/**
 * quoit_ray_dup_bundle_resource:
 * @resource: "TPU"; "bundle" is the resource that Ray adds to each bundle, 1000 units of it
 * @group_id: Ray's id of the placement group: 36 hexadecimal digits
 * @bundle: number of the bundle
 *
 * Returns Ray's name for the part of @resource on a node that belongs to one bundle.
 *
 * Fails with %QUOIT_ERROR_INVALID for a @resource without a name, or an invalid @group_id.
 *
 * Returns: (transfer full): "TPU_group_0_<id>"; g_free() it. %NULL on failure
 */
QUOIT_API char *quoit_ray_dup_bundle_resource (const char *resource, const char *group_id, uint32_t bundle,
                                               GError **error);

/**
 * quoit_ray_dup_group_resource:
 * @resource: "TPU"; "bundle" is the resource that Ray adds to each bundle, 1000 units of it
 * @group_id: Ray's id of the placement group: 36 hexadecimal digits
 *
 * Returns Ray's name for the amount of @resource that all bundles of the group together have on a node.
 *
 * Fails with %QUOIT_ERROR_INVALID for a @resource without a name, or an invalid @group_id.
 *
 * Returns: (transfer full): "TPU_group_<id>"; g_free() it. %NULL on failure
 */
QUOIT_API char *quoit_ray_dup_group_resource (const char *resource, const char *group_id, GError **error);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRayCluster, quoit_ray_cluster_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRayGroup, quoit_ray_group_free)

G_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where Ray 2.60's control plane would put a placement group, asked without Ray.
 *
 * A cluster is what that control plane knows of its nodes, a group is what placement_group() is called with.
 * quoit_ray_group_place() gives its answer. Where several nodes are equally good Ray takes any, another one from call
 * to call; here it is the one that was added first. quoit_ray_group_is_determined() says whether that matters, and
 * quoit_ray_group_is_possible() whether an answer of Ray's is one of those it could have given.
 *
 * What Ray answers though it should not is answered here too: negative amounts count backwards, 0.00005 of anything is
 * nothing. Refused with QUOIT_ERROR_INVALID is what ends Ray's process or is undefined in it: NaN, infinity, amounts of
 * 922337203685477.5808 and up, sums of that size where Ray adds bundles up, and a resource without a name.
 */
#ifndef QUOIT_RAY_PLACEMENT_H
#define QUOIT_RAY_PLACEMENT_H

#include <quoit/request.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitRayResult:
 *
 * What Ray says of a placement group.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_RAY_SUCCESS = 0,   /* every bundle has a node */
  QUOIT_RAY_FAILED = 1,    /* not now: Ray tries again */
  QUOIT_RAY_INFEASIBLE = 2 /* not with these nodes: Ray waits for another to join */
} QuoitRayResult;

/**
 * QuoitRayWhether:
 *
 * An answer that may be out of reach.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_RAY_NO = 0,
  QUOIT_RAY_YES = 1,
  QUOIT_RAY_UNKNOWN = 2 /* the budget ended before it was known */
} QuoitRayWhether;

/**
 * QuoitRayCluster:
 *
 * The nodes that may be used: those that are alive and not draining, which is all that Ray looks at. They have numbers,
 * 0 and up, in the order in which they were added. Any number of threads may ask about one that nobody changes.
 *
 * Since: 0.1
 */
typedef struct _QuoitRayCluster QuoitRayCluster;

/**
 * QuoitRayGroup:
 *
 * What a placement group asks for. Bundles have numbers, 0 and up, in the order in which they were added. Any number of
 * threads may ask about one that nobody changes.
 *
 * Since: 0.1
 */
typedef struct _QuoitRayGroup QuoitRayGroup;

/**
 * quoit_ray_cluster_new:
 *
 * A cluster without nodes.
 *
 * Returns: (transfer full): the cluster; quoit_ray_cluster_free() it
 * Since: 0.1
 */
QUOIT_API QuoitRayCluster *quoit_ray_cluster_new (void);

/**
 * quoit_ray_cluster_free:
 * @cluster: (nullable): the cluster
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_cluster_free (QuoitRayCluster *cluster);

/**
 * quoit_ray_cluster_add_node:
 * @cluster: the cluster
 * @id: Ray's id of the node, or any other text by which groups may name it
 * @error: (out) (optional): set on failure
 *
 * Adds a node that has nothing yet. Its number is how many there were before; of nodes that are equally good the one
 * with the smallest number is taken.
 *
 * Fails with %QUOIT_ERROR_INVALID when there is a node of that @id already.
 *
 * Returns: true when it was added
 * Since: 0.1
 */
QUOIT_API bool quoit_ray_cluster_add_node (QuoitRayCluster *cluster, const char *id, GError **error);

/**
 * quoit_ray_cluster_get_n_nodes:
 * @cluster: the cluster
 *
 * How many nodes were added.
 *
 * Returns: their number
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_ray_cluster_get_n_nodes (const QuoitRayCluster *cluster);

/**
 * quoit_ray_cluster_get_node_id:
 * @cluster: the cluster
 * @node: number of a node
 *
 * What quoit_ray_cluster_add_node() was given.
 *
 * Returns: (transfer none): the id; lives as long as @cluster
 * Since: 0.1
 */
QUOIT_API const char *quoit_ray_cluster_get_node_id (const QuoitRayCluster *cluster, uint32_t node);

/**
 * quoit_ray_cluster_set_resource:
 * @cluster: the cluster
 * @node: number of a node
 * @resource: "CPU", "TPU", "TPU-v6e-16-head"
 * @total: what the node has, in Ray's units
 * @available: what of it is free
 * @error: (out) (optional): set on failure
 *
 * States an amount as a report of the node would, in doubles that are cut to ten-thousandths as Ray cuts them: 0.57 is
 * 0.5699. A resource that is never stated is 0; one whose name begins with "node:__internal_implicit_resource_" is 1.
 *
 * Fails with %QUOIT_ERROR_INVALID for amounts that are negative, not finite, or 922337203685477.5808 and up, and for a
 * resource without a name.
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
 * @total_e4: what the node has, in ten-thousandths
 * @available_e4: what of it is free, in ten-thousandths
 * @error: (out) (optional): set on failure
 *
 * quoit_ray_cluster_set_resource() without Ray's doubles.
 *
 * Fails with %QUOIT_ERROR_INVALID for negative amounts, and for a resource without a name.
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
 * What is free of @resource, after what quoit_ray_cluster_take() took.
 *
 * Returns: ten-thousandths
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
 * Gives a node a label, or another value for it. Texts are not checked: Ray's control plane does not either.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_cluster_set_label (QuoitRayCluster *cluster, uint32_t node, const char *key,
                                            const char *value);

/**
 * quoit_ray_cluster_take:
 * @cluster: the cluster
 * @group: a group that was placed
 * @nodes: the number of a node for each bundle
 * @error: (out) (optional): set on failure
 *
 * Lowers what is free as Ray's control plane does when it has placed @group: at once, and never below 0.
 *
 * Fails with %QUOIT_ERROR_INVALID for a number that is no node's, and for what quoit_ray_group_place() would refuse.
 *
 * Returns: true when it was taken
 * Since: 0.1
 */
QUOIT_API bool quoit_ray_cluster_take (QuoitRayCluster *cluster, const QuoitRayGroup *group, const uint32_t *nodes,
                                       GError **error);

/**
 * quoit_ray_cluster_give_back:
 * @cluster: the cluster
 * @group: a group that was placed
 * @nodes: the number of a node for each bundle
 * @error: (out) (optional): set on failure
 *
 * Raises what is free as the reports of the nodes do after @group was removed: never above what there is in total.
 *
 * Fails with %QUOIT_ERROR_INVALID for a number that is no node's, and for what quoit_ray_group_place() would refuse.
 *
 * Returns: true when it was given back
 * Since: 0.1
 */
QUOIT_API bool quoit_ray_cluster_give_back (QuoitRayCluster *cluster, const QuoitRayGroup *group, const uint32_t *nodes,
                                            GError **error);

/**
 * quoit_ray_strategy_parse:
 * @name: "PACK", "SPREAD", "STRICT_PACK", "STRICT_SPREAD"
 * @strategy: (out): which one it is
 * @error: (out) (optional): set on failure
 *
 * The strategy that Ray means by @name.
 *
 * Fails with %QUOIT_ERROR_INVALID for any other text, as Ray does for "pack"; @strategy is untouched.
 *
 * Returns: true when @strategy was set
 * Since: 0.1
 */
QUOIT_API bool quoit_ray_strategy_parse (const char *name, QuoitStrategy *strategy, GError **error);

/**
 * quoit_ray_strategy_get_name:
 * @strategy: one of #QuoitStrategy
 *
 * The name that quoit_ray_strategy_parse() reads.
 *
 * Returns: (transfer none) (nullable): a constant; %NULL for a value that is no strategy
 * Since: 0.1
 */
QUOIT_API const char *quoit_ray_strategy_get_name (QuoitStrategy strategy);

/**
 * quoit_ray_group_new:
 *
 * A group without bundles, whose strategy is PACK, as Ray's is.
 *
 * Returns: (transfer full): the group; quoit_ray_group_free() it
 * Since: 0.1
 */
QUOIT_API QuoitRayGroup *quoit_ray_group_new (void);

/**
 * quoit_ray_group_free:
 * @group: (nullable): the group
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_group_free (QuoitRayGroup *group);

/**
 * quoit_ray_group_add_bundle:
 * @group: the group
 *
 * Adds a bundle that asks for nothing yet.
 *
 * Returns: its number
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_ray_group_add_bundle (QuoitRayGroup *group);

/**
 * quoit_ray_group_get_n_bundles:
 * @group: the group
 *
 * How many bundles were added.
 *
 * Returns: their number
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_ray_group_get_n_bundles (const QuoitRayGroup *group);

/**
 * quoit_ray_group_set_amount:
 * @group: the group
 * @bundle: number of a bundle
 * @resource: "CPU", "TPU", "TPU-v6e-16-head"
 * @amount: how much of it, in Ray's units
 *
 * Any number is kept, as Python keeps it; quoit_ray_group_check() and quoit_ray_group_place() say what they think of
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
 * Only nodes that satisfy all selectors of a bundle may have it. Another @value for the same @key replaces it.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_group_set_selector (QuoitRayGroup *group, uint32_t bundle, const char *key, const char *value);

/**
 * quoit_ray_group_set_strategy:
 * @group: the group
 * @strategy: how the bundles stand to each other
 *
 * placement_group (strategy=...).
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_group_set_strategy (QuoitRayGroup *group, QuoitStrategy strategy);

/**
 * quoit_ray_group_add_topology:
 * @group: the group
 * @key: a label's key; "ray.io/node-id" stands for the nodes themselves
 * @strategy: how the bundles stand to the values of that label
 *
 * One entry of placement_group (topology_strategy={...}). With an entry for another label than "ray.io/node-id" all
 * bundles are placed on nodes that share one value of it, whatever @strategy says: Ray's control plane knows no other.
 * The strategy inside is that of "ray.io/node-id", else that of quoit_ray_group_set_strategy().
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_group_add_topology (QuoitRayGroup *group, const char *key, QuoitStrategy strategy);

/**
 * quoit_ray_group_bind:
 * @group: the group
 * @value: (nullable): of the topology label; %NULL: any
 *
 * Says where those bundles stand that have their nodes already, when this group is what was lost of another: Ray puts
 * lost bundles nowhere else.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_group_bind (QuoitRayGroup *group, const char *value);

/**
 * quoit_ray_group_exclude:
 * @group: the group
 * @id: of a node; one that is not in the cluster is not missed
 *
 * Says where a bundle stands that has its node already, when this group is what was lost of another: STRICT_SPREAD
 * takes no such node. The other strategies do not care.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_group_exclude (QuoitRayGroup *group, const char *id);

/**
 * quoit_ray_group_set_soft_target:
 * @group: the group
 * @id: (nullable): of a node; one that is not in the cluster, or full, is as good as none
 *
 * The node that STRICT_PACK prefers: placement_group (_soft_target_node_id=...).
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_group_set_soft_target (QuoitRayGroup *group, const char *id);

/**
 * quoit_ray_group_set_lifetime:
 * @group: the group
 * @lifetime: (nullable): "detached"
 *
 * placement_group (lifetime=...), which is only checked.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ray_group_set_lifetime (QuoitRayGroup *group, const char *lifetime);

/**
 * quoit_ray_group_check:
 * @group: the group
 * @error: (out) (optional): set on failure
 *
 * The checks of placement_group() itself, before Ray's control plane hears of the group. What they let through may be
 * refused by quoit_ray_group_place(), and what they refuse may be placed.
 *
 * Fails with %QUOIT_ERROR_INVALID where placement_group() raises; the first check that fails has the word.
 *
 * Returns: true when Ray would take it
 * Since: 0.1
 */
QUOIT_API bool quoit_ray_group_check (const QuoitRayGroup *group, GError **error);

/**
 * quoit_ray_group_place:
 * @group: the group
 * @cluster: the cluster, which is not changed
 * @result: (out): Ray's answer
 * @nodes: (out) (optional): room for a number a bundle; written with %QUOIT_RAY_SUCCESS alone
 * @error: (out) (optional): set on failure
 *
 * Where Ray's control plane would put the bundles. All or nothing.
 *
 * Fails with %QUOIT_ERROR_INVALID for amounts that are not finite or 922337203685477.5808 and up, for sums of that size
 * where Ray adds bundles up, for a resource without a name or called "bundle", for a @group with several topology
 * labels, and for what memory should not hold: more than 16,777,216 amounts, bundles times resources, or 33,554,432,
 * nodes times resources, or than 67,108,864 times 64 nodes for bundles with different selectors.
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
 * @budget: how many placements may be tried to find another answer: 1,000 takes some milliseconds
 * @determined: (out): whether Ray gives the answer of quoit_ray_group_place() each time
 * @error: (out) (optional): set on failure
 *
 * Ray chooses at will among nodes whose scores are equal, and among values of a topology label. Nodes that have and may
 * the same are tried once.
 *
 * Fails as quoit_ray_group_place() does.
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
 * @result: an answer of Ray's
 * @nodes: (nullable): with %QUOIT_RAY_SUCCESS the number of a node for each bundle
 * @budget: how many placements may be tried where it is not %QUOIT_RAY_SUCCESS: 1,000 takes some milliseconds
 * @possible: (out): whether Ray could answer so
 * @error: (out) (optional): set on failure
 *
 * Follows an answer through the choices that Ray may make. %QUOIT_RAY_SUCCESS is never unknown.
 *
 * Fails as quoit_ray_group_place() does.
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
 * @order: (out): room for a number a bundle: the bundle that PACK, SPREAD and STRICT_SPREAD place first, then the next
 * @error: (out) (optional): set on failure
 *
 * The largest bundle first: by GPU, then by custom resources in the order of quoit_ray_resource_id(), then by
 * object_store_memory, memory and CPU. Of more than 16 bundles equal ones come out as libstdc++'s sort leaves them.
 *
 * Fails with %QUOIT_ERROR_INVALID for amounts and numbers of them that quoit_ray_group_place() refuses.
 *
 * Returns: true when @order was set
 * Since: 0.1
 */
QUOIT_API bool quoit_ray_bundle_order (const QuoitRayGroup *group, uint32_t *order, GError **error);

/**
 * quoit_ray_resource_id:
 * @resource: "TPU"
 *
 * The number by which Ray orders resources: 0 to 3 for CPU, memory, GPU and object_store_memory, else libstdc++'s hash
 * of the name as a signed number.
 *
 * Returns: the number
 * Since: 0.1
 */
QUOIT_API int64_t quoit_ray_resource_id (const char *resource);

/**
 * quoit_ray_dup_bundle_resource:
 * @resource: "TPU"; "bundle" is what Ray adds to each bundle, 1000 of it
 * @group_id: Ray's id of the placement group: 36 hexadecimal digits
 * @bundle: number of the bundle
 * @error: (out) (optional): set on failure
 *
 * What Ray calls the part of @resource on a node that belongs to one bundle.
 *
 * Fails with %QUOIT_ERROR_INVALID for a @resource without a name, or a @group_id that is none.
 *
 * Returns: (transfer full): "TPU_group_0_<id>"; g_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API char *quoit_ray_dup_bundle_resource (const char *resource, const char *group_id, uint32_t bundle,
                                               GError **error);

/**
 * quoit_ray_dup_group_resource:
 * @resource: "TPU"; "bundle" is what Ray adds to each bundle, 1000 of it
 * @group_id: Ray's id of the placement group: 36 hexadecimal digits
 * @error: (out) (optional): set on failure
 *
 * What Ray calls the part of @resource on a node that belongs to any bundle of the group.
 *
 * Fails with %QUOIT_ERROR_INVALID for a @resource without a name, or a @group_id that is none.
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

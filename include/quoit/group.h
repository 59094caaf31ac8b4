/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_GROUP_H
#define QUOIT_GROUP_H

#include <stdbool.h>

#include <quoit/amount.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitGroup:
 *
 * What one request holds, at the time of the call: slices in natural order, in each slice the nodes by
 * worker id. Immutable; any thread may read it; it outlives the handle that it came from.
 *
 * Since: 0.1
 */
typedef struct _QuoitGroup QuoitGroup;

/**
 * QuoitGroupState:
 *
 * Ray's names are in the comments. PREPARED has no counterpart: such a group is imported as pending.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_GROUP_HELD = 1,         /* not yet confirmed */
  QUOIT_GROUP_RESERVED = 2,     /* Ray: CREATED */
  QUOIT_GROUP_RESCHEDULING = 3, /* one of its nodes is dead or draining, or a bundle of it is not placed any more */
  QUOIT_GROUP_REMOVED = 4,      /* gone; kept for its request key, or because its lease ended less than a day ago */
  QUOIT_GROUP_PENDING = 5       /* imported from Ray alone: not placed yet; Ray: PENDING */
} QuoitGroupState;

/**
 * QuoitGroupSliceState:
 *
 * How a slice or a bundle of a group is.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_GROUP_SLICE_WHOLE = 1,
  QUOIT_GROUP_SLICE_LEAVING = 2, /* a host is draining */
  QUOIT_GROUP_SLICE_LOST = 3     /* a host is dead, or the bundle is not placed */
} QuoitGroupSliceState;

/**
 * QuoitGroupChange:
 *
 * What a group was and what it is now, from one transaction: compare the two with quoit_topology_new() of each and
 * quoit_renumbering_new(). Immutable.
 *
 * Since: 0.1
 */
typedef struct _QuoitGroupChange QuoitGroupChange;

/**
 * quoit_group_ref:
 * @group: the group
 *
 * Returns: (transfer full): @group with one more owner
 * Since: 0.1
 */
QUOIT_API QuoitGroup *quoit_group_ref (QuoitGroup *group);

/**
 * quoit_group_unref:
 * @group: (nullable): the group
 *
 * Since: 0.1
 */
QUOIT_API void quoit_group_unref (QuoitGroup *group);

/**
 * quoit_group_get_id:
 * @group: the group
 *
 * Returns: the id, which no other group of this ledger ever had or will have
 * Since: 0.1
 */
QUOIT_API uint64_t quoit_group_get_id (const QuoitGroup *group);

/**
 * quoit_group_get_name:
 * @group: the group
 *
 * Returns: (transfer none): the name, unique among the live groups
 * Since: 0.1
 */
QUOIT_API const char *quoit_group_get_name (const QuoitGroup *group);

/**
 * quoit_group_get_handle:
 * @group: the group
 *
 * Returns the text to pass to calls that change the group. A late or repeated call with it never affects a newer group
 * of that name.
 *
 * Returns: (transfer none): NAME@ID
 * Since: 0.1
 */
QUOIT_API const char *quoit_group_get_handle (const QuoitGroup *group);

/**
 * quoit_group_get_owner:
 * @group: the group
 *
 * Returns: (transfer none): the owner; "" where none was given
 * Since: 0.1
 */
QUOIT_API const char *quoit_group_get_owner (const QuoitGroup *group);

/**
 * quoit_group_get_key:
 * @group: the group
 *
 * Returns: (transfer none): the request key; "" where none was given
 * Since: 0.1
 */
QUOIT_API const char *quoit_group_get_key (const QuoitGroup *group);

/**
 * quoit_group_get_request:
 * @group: the group
 *
 * Returns: (transfer none): what was asked, in canonical text
 * Since: 0.1
 */
QUOIT_API const char *quoit_group_get_request (const QuoitGroup *group);

/**
 * quoit_group_get_state:
 * @group: the group
 *
 * Returns: the state when this value was made
 * Since: 0.1
 */
QUOIT_API QuoitGroupState quoit_group_get_state (const QuoitGroup *group);

/**
 * quoit_group_get_since_ms:
 * @group: the group
 *
 * Returns: when it was reserved by the ledger's clock, milliseconds since 1970-01-01 UTC
 * Since: 0.1
 */
QUOIT_API int64_t quoit_group_get_since_ms (const QuoitGroup *group);

/**
 * quoit_group_get_ended_ms:
 * @group: the group
 *
 * Returns: when it was released; 0 while it is not
 * Since: 0.1
 */
QUOIT_API int64_t quoit_group_get_ended_ms (const QuoitGroup *group);

/**
 * quoit_group_get_until_ms:
 * @group: the group
 *
 * When the group ends unless it, or its owner, is renewed: the earlier of the ends of their leases, by the ledger's
 * clock, milliseconds since 1970-01-01 UTC. It lives while the clock is less.
 *
 * Returns: that time; 0 when neither has a lease
 * Since: 0.1
 */
QUOIT_API int64_t quoit_group_get_until_ms (const QuoitGroup *group);

/**
 * quoit_group_get_source:
 * @group: the group
 *
 * A group that was imported belongs to its source: it cannot be released here, and goes when a later import or sync of
 * the source lacks it.
 *
 * Returns: (transfer none): the source's name; "" for a group that was made here
 * Since: 0.1
 */
QUOIT_API const char *quoit_group_get_source (const QuoitGroup *group);

/**
 * quoit_group_has_expired:
 * @group: the group
 *
 * Returns: whether the group is gone because its lease, or its owner's, has ended
 * Since: 0.1
 */
QUOIT_API bool quoit_group_has_expired (const QuoitGroup *group);

/**
 * quoit_group_get_slice_state:
 * @group: the group
 * @slice: slice id, below quoit_group_get_n_slices()
 *
 * Returns: how the slice was when this value was made
 * Since: 0.1
 */
QUOIT_API QuoitGroupSliceState quoit_group_get_slice_state (const QuoitGroup *group, uint32_t slice);

/**
 * quoit_group_get_n_bundles:
 * @group: the group
 *
 * How many bundles the group has: those of the request, in its order, where bundles were asked for; those that Ray
 * placed of an imported group; those of all its hosts where quoit_request_set_tpu_per_bundle() was used.
 *
 * Returns: the number; 0 for a group that has its nodes whole
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_group_get_n_bundles (const QuoitGroup *group);

/**
 * quoit_group_get_bundle_node:
 * @group: the group
 * @bundle: below quoit_group_get_n_bundles()
 *
 * Returns: (transfer none) (nullable): the node's short name; %NULL for a bundle that is not placed
 * Since: 0.1
 */
QUOIT_API const char *quoit_group_get_bundle_node (const QuoitGroup *group, uint32_t bundle);

/**
 * quoit_group_get_bundle_node_id:
 * @group: the group
 * @bundle: below quoit_group_get_n_bundles()
 *
 * Returns: the durable id of the bundle's node, for quoit_snapshot_find_node(); 0 if the bundle is not placed
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_group_get_bundle_node_id (const QuoitGroup *group, uint32_t bundle);

/**
 * quoit_group_get_bundle_chips:
 * @group: the group
 * @bundle: below quoit_group_get_n_bundles()
 *
 * The chips of its node that the bundle has, wholly or in part: bit 0 is chip 0. For an imported group, Ray decides how
 * many; quoit chooses which ones.
 *
 * Returns: the chips; 0 when it has none, or is not placed
 * Since: 0.1
 */
QUOIT_API uint64_t quoit_group_get_bundle_chips (const QuoitGroup *group, uint32_t bundle);

/**
 * quoit_group_get_bundle_state:
 * @group: the group
 * @bundle: below quoit_group_get_n_bundles()
 *
 * Whether the node of the bundle is alive, draining or dead. One that is not placed is lost.
 *
 * Returns: how the bundle is
 * Since: 0.1
 */
QUOIT_API QuoitGroupSliceState quoit_group_get_bundle_state (const QuoitGroup *group, uint32_t bundle);

/**
 * quoit_group_get_bundle_n_resources:
 * @group: the group
 * @bundle: below quoit_group_get_n_bundles()
 *
 * Returns: how many resources the bundle is of, whether or not it is placed
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_group_get_bundle_n_resources (const QuoitGroup *group, uint32_t bundle);

/**
 * quoit_group_get_bundle_resource_name:
 * @group: the group
 * @bundle: below quoit_group_get_n_bundles()
 * @resource: below quoit_group_get_bundle_n_resources()
 *
 * Returns: (transfer none): its name; sorted as text
 * Since: 0.1
 */
QUOIT_API const char *quoit_group_get_bundle_resource_name (const QuoitGroup *group, uint32_t bundle,
                                                            uint32_t resource);

/**
 * quoit_group_get_bundle_amount:
 * @group: the group
 * @bundle: below quoit_group_get_n_bundles()
 * @resource: below quoit_group_get_bundle_n_resources()
 *
 * Returns: (transfer full): how much of it, as decimal text; g_free() it
 * Since: 0.1
 */
QUOIT_API QuoitAmount quoit_group_get_bundle_amount (const QuoitGroup *group, uint32_t bundle, uint32_t resource);

/**
 * quoit_group_get_n_slices:
 * @group: the group
 *
 * Returns: the number of slices; 0 for a removed group
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_group_get_n_slices (const QuoitGroup *group);

/**
 * quoit_group_dup_slice_name:
 * @group: the group
 * @slice: slice id, below quoit_group_get_n_slices()
 *
 * Returns: (transfer full): the short name where it is unambiguous in the fleet, else source/pool/name; g_free() it
 * Since: 0.1
 */
QUOIT_API char *quoit_group_dup_slice_name (const QuoitGroup *group, uint32_t slice);

/**
 * quoit_group_get_n_workers:
 * @group: the group
 * @slice: slice id, below quoit_group_get_n_slices()
 *
 * Returns: the nodes of the slice that the group has
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_group_get_n_workers (const QuoitGroup *group, uint32_t slice);

/**
 * quoit_group_get_worker_name:
 * @group: the group
 * @slice: slice id, below quoit_group_get_n_slices()
 * @worker: below quoit_group_get_n_workers()
 *
 * Returns: (transfer none): the node's short name, valid as long as @group
 * Since: 0.1
 */
QUOIT_API const char *quoit_group_get_worker_name (const QuoitGroup *group, uint32_t slice, uint32_t worker);

/**
 * quoit_group_get_worker_address:
 * @group: the group
 * @slice: slice id, below quoit_group_get_n_slices()
 * @worker: below quoit_group_get_n_workers()
 *
 * Returns: (transfer none) (nullable): the node's address; %NULL where its source knows none, as a manifest
 * Since: 0.1
 */
QUOIT_API const char *quoit_group_get_worker_address (const QuoitGroup *group, uint32_t slice, uint32_t worker);

/**
 * quoit_group_get_worker_node_id:
 * @group: the group
 * @slice: slice id, below quoit_group_get_n_slices()
 * @worker: below quoit_group_get_n_workers()
 *
 * Returns: the durable id of the worker's node, for quoit_snapshot_find_node()
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_group_get_worker_node_id (const QuoitGroup *group, uint32_t slice, uint32_t worker);

/**
 * quoit_group_dup_worker_full_name:
 * @group: the group
 * @slice: slice id, below quoit_group_get_n_slices()
 * @worker: below quoit_group_get_n_workers()
 *
 * Returns: (transfer full): source/pool/name of the worker's node; g_free() it
 * Since: 0.1
 */
QUOIT_API char *quoit_group_dup_worker_full_name (const QuoitGroup *group, uint32_t slice, uint32_t worker);

/**
 * quoit_group_change_free:
 * @change: (nullable): the change
 *
 * Since: 0.1
 */
QUOIT_API void quoit_group_change_free (QuoitGroupChange *change);

/**
 * quoit_group_change_get_before:
 * @change: the change
 *
 * Returns: (transfer none): the group as it was, valid as long as @change
 * Since: 0.1
 */
QUOIT_API QuoitGroup *quoit_group_change_get_before (const QuoitGroupChange *change);

/**
 * quoit_group_change_get_after:
 * @change: the change
 *
 * Returns: (transfer none) (nullable): the group as it is now: the same object as quoit_group_change_get_before() if
 *   it already had the requested form and nothing was written; %NULL if it ended with its last slice
 * Since: 0.1
 */
QUOIT_API QuoitGroup *quoit_group_change_get_after (const QuoitGroupChange *change);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitGroup, quoit_group_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitGroupChange, quoit_group_change_free)

G_END_DECLS

#endif

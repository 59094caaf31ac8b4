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
 * A group as it was when it was returned: the slices in natural order and their nodes by worker id, or the bundles.
 * Immutable; any thread can read it. It stays valid after the ledger was closed.
 */
typedef struct _QuoitGroup QuoitGroup;

/**
 * QuoitGroupState:
 *
 * The state of a group. The comments have Ray's names. Ray's state PREPARED is imported as pending.
 */
typedef enum {
  QUOIT_GROUP_HELD = 1,         /* not yet confirmed */
  QUOIT_GROUP_RESERVED = 2,     /* Ray: CREATED */
  QUOIT_GROUP_RESCHEDULING = 3, /* a node of the group is dead or draining, or a bundle has lost its place */
  QUOIT_GROUP_REMOVED = 4,      /* ended; recorded because of its request key, or for a day after its lease ended or
                                 * it was released with a reason */
  QUOIT_GROUP_PENDING = 5,      /* imported, and not placed by Ray yet; Ray: PENDING */
  QUOIT_GROUP_AHEAD = 6         /* a reservation ahead, which holds nothing before it begins */
} QuoitGroupState;

/**
 * QuoitGroupSliceState:
 *
 * The state of a slice or a bundle of a group.
 */
typedef enum {
  QUOIT_GROUP_SLICE_WHOLE = 1,
  QUOIT_GROUP_SLICE_LEAVING = 2, /* a host is draining */
  QUOIT_GROUP_SLICE_LOST = 3     /* a host is dead, or the bundle is not placed */
} QuoitGroupSliceState;

/**
 * QuoitGroupChange:
 *
 * A group before and after one transaction. To see what the change means for its processes, pass both to
 * quoit_topology_new(), and the results to quoit_renumbering_new(). Immutable.
 */
typedef struct _QuoitGroupChange QuoitGroupChange;

/**
 * quoit_group_ref:
 *
 * Returns: (transfer full): @group with one more owner
 */
QUOIT_API QuoitGroup *quoit_group_ref (QuoitGroup *group);

/**
 * quoit_group_unref:
 * @group: (nullable): the group
 */
QUOIT_API void quoit_group_unref (QuoitGroup *group);

/**
 * quoit_group_get_id:
 *
 * Returns: the id, which no other group of this ledger ever had or will have
 */
QUOIT_API uint64_t quoit_group_get_id (const QuoitGroup *group);

/**
 * quoit_group_get_name:
 *
 * Returns: (transfer none): the name, unique among the live groups
 */
QUOIT_API const char *quoit_group_get_name (const QuoitGroup *group);

/**
 * quoit_group_get_handle:
 *
 * Returns the text to pass to calls that change the group. A late or repeated call with it never affects a newer group
 * of that name.
 *
 * Returns: (transfer none): NAME@ID
 */
QUOIT_API const char *quoit_group_get_handle (const QuoitGroup *group);

/**
 * quoit_group_get_owner:
 *
 * Returns: (transfer none): the owner; "" if the group has none
 */
QUOIT_API const char *quoit_group_get_owner (const QuoitGroup *group);

/**
 * quoit_group_get_key:
 *
 * Returns: (transfer none): the request key; "" if the group has none
 */
QUOIT_API const char *quoit_group_get_key (const QuoitGroup *group);

/**
 * quoit_group_get_request:
 *
 * Returns: (transfer none): the request as canonical text, for people. Of a request with alternatives
 *   (quoit_request_add_alternative()), it is the one that the group got, and then the others: " instead-of=..." for
 *   those before it, " else=..." for those after it
 */
QUOIT_API const char *quoit_group_get_request (const QuoitGroup *group);

/**
 * quoit_group_get_alternative:
 *
 * Returns: which alternative of its request the group got (quoit_request_add_alternative()): the number of alternatives
 *   before it; 0: the request itself
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_group_get_alternative (const QuoitGroup *group);

/**
 * quoit_group_get_state:
 *
 * Returns: the state
 */
QUOIT_API QuoitGroupState quoit_group_get_state (const QuoitGroup *group);

/**
 * quoit_group_get_created_ms:
 *
 * Returns: the time when the group was created: reserved, held or first imported; by the ledger's clock
 */
QUOIT_API int64_t quoit_group_get_created_ms (const QuoitGroup *group);

/**
 * quoit_group_get_ended_ms:
 *
 * Returns: the time when the group ended; 0 if it is live
 */
QUOIT_API int64_t quoit_group_get_ended_ms (const QuoitGroup *group);

/**
 * quoit_group_get_until_ms:
 *
 * Returns when the group ends unless its lease, or that of its owner, is renewed: the earlier of the two ends. The
 * group is live while the ledger's clock is before that time.
 *
 * Returns: the time; 0 if there is no lease
 */
QUOIT_API int64_t quoit_group_get_until_ms (const QuoitGroup *group);

/**
 * quoit_group_get_begins_ms:
 *
 * Returns: the time from which on quoit_ledger_reserve_at() has reserved the group; 0 if it began when it was made
 *
 * Since: 0.1
 */
QUOIT_API int64_t quoit_group_get_begins_ms (const QuoitGroup *group);

/**
 * quoit_group_get_expected_end_ms:
 *
 * Returns when the group is expected to end. The estimate ends nothing, and may have passed.
 *
 * Returns: the time; 0 if unknown
 *
 * Since: 0.1
 */
QUOIT_API int64_t quoit_group_get_expected_end_ms (const QuoitGroup *group);

/**
 * quoit_group_get_priority:
 *
 * Returns: the priority, as set by quoit_request_set_priority() or quoit_ledger_set_priority()
 *
 * Since: 0.1
 */
QUOIT_API int32_t quoit_group_get_priority (const QuoitGroup *group);

/**
 * quoit_group_get_n_labels:
 *
 * Returns: the number of labels: see quoit_request_set_label() and quoit_ledger_set_labels()
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_group_get_n_labels (const QuoitGroup *group);

/**
 * quoit_group_get_label_key:
 * @label: below quoit_group_get_n_labels()
 *
 * Returns: (transfer none): the key of the label; the labels are sorted by key as text
 *
 * Since: 0.1
 */
QUOIT_API const char *quoit_group_get_label_key (const QuoitGroup *group, uint32_t label);

/**
 * quoit_group_get_label_value:
 * @label: below quoit_group_get_n_labels()
 *
 * Returns: (transfer none): the value of the label
 *
 * Since: 0.1
 */
QUOIT_API const char *quoit_group_get_label_value (const QuoitGroup *group, uint32_t label);

/**
 * quoit_group_find_label:
 * @key: the key of a label
 *
 * Returns: (transfer none) (nullable): the value of the label; %NULL if the group does not have it
 *
 * Since: 0.1
 */
QUOIT_API const char *quoit_group_find_label (const QuoitGroup *group, const char *key);

/**
 * quoit_group_get_release_reason:
 *
 * Returns: (transfer none): why the group was released, as given to quoit_ledger_release_with_reason(); "" if the group
 *   is live or no reason was given
 *
 * Since: 0.1
 */
QUOIT_API const char *quoit_group_get_release_reason (const QuoitGroup *group);

/**
 * quoit_group_get_source:
 *
 * Returns the source that the group was imported from. Such a group belongs to its source: it cannot be released, and
 * ends when a later import or sync of the source no longer contains it.
 *
 * Returns: (transfer none): the source's name; "" for a group that was reserved in this ledger
 */
QUOIT_API const char *quoit_group_get_source (const QuoitGroup *group);

/**
 * quoit_group_has_expired:
 *
 * Returns: true if the group ended because its lease, or that of its owner, ended
 */
QUOIT_API bool quoit_group_has_expired (const QuoitGroup *group);

/**
 * quoit_group_get_slice_state:
 * @slice: slice id, below quoit_group_get_n_slices()
 *
 * Returns: the state of the slice
 */
QUOIT_API QuoitGroupSliceState quoit_group_get_slice_state (const QuoitGroup *group, uint32_t slice);

/**
 * quoit_group_get_n_bundles:
 *
 * Returns the number of bundles of the group:
 *
 * - after a request of bundles: the requested ones, in that order;
 * - in an imported group: those of Ray's placement group;
 * - after quoit_request_set_tpu_per_bundle(): those of all hosts.
 *
 * Returns: the number; 0 if the group has whole nodes
 */
QUOIT_API uint32_t quoit_group_get_n_bundles (const QuoitGroup *group);

/**
 * quoit_group_get_bundle_node:
 * @bundle: below quoit_group_get_n_bundles()
 *
 * Returns: (transfer none) (nullable): the short name of the bundle's node; %NULL if the bundle is not placed
 */
QUOIT_API const char *quoit_group_get_bundle_node (const QuoitGroup *group, uint32_t bundle);

/**
 * quoit_group_get_bundle_node_id:
 * @bundle: below quoit_group_get_n_bundles()
 *
 * Returns: the durable id of the bundle's node, for quoit_snapshot_find_node(); 0 if the bundle is not placed
 */
QUOIT_API uint32_t quoit_group_get_bundle_node_id (const QuoitGroup *group, uint32_t bundle);

/**
 * quoit_group_get_bundle_chips:
 * @bundle: below quoit_group_get_n_bundles()
 *
 * Returns the chips of the node that the bundle has, completely or in part, as bits: bit 0 is chip 0. In an imported
 * group, Ray determines the number of chips, and quoit assumes which ones.
 *
 * Returns: the chips; 0 if the bundle has none, or is not placed
 */
QUOIT_API uint64_t quoit_group_get_bundle_chips (const QuoitGroup *group, uint32_t bundle);

/**
 * quoit_group_get_bundle_state:
 * @bundle: below quoit_group_get_n_bundles()
 *
 * Returns: the state, which follows from that of the bundle's node; %QUOIT_GROUP_SLICE_LOST if the bundle is not placed
 */
QUOIT_API QuoitGroupSliceState quoit_group_get_bundle_state (const QuoitGroup *group, uint32_t bundle);

/**
 * quoit_group_get_bundle_n_resources:
 * @bundle: below quoit_group_get_n_bundles()
 *
 * Returns: the number of resources of the bundle, placed or not
 */
QUOIT_API uint32_t quoit_group_get_bundle_n_resources (const QuoitGroup *group, uint32_t bundle);

/**
 * quoit_group_get_bundle_resource_name:
 * @bundle: below quoit_group_get_n_bundles()
 * @resource: below quoit_group_get_bundle_n_resources()
 *
 * Returns: (transfer none): the name of the resource; the resources are sorted by name as text
 */
QUOIT_API const char *quoit_group_get_bundle_resource_name (const QuoitGroup *group, uint32_t bundle,
                                                            uint32_t resource);

/**
 * quoit_group_get_bundle_amount:
 * @bundle: below quoit_group_get_n_bundles()
 * @resource: below quoit_group_get_bundle_n_resources()
 *
 * Returns: the amount of the resource
 */
QUOIT_API QuoitAmount quoit_group_get_bundle_amount (const QuoitGroup *group, uint32_t bundle, uint32_t resource);

/**
 * quoit_group_get_n_slices:
 *
 * Returns: the number of slices; 0 for a removed group
 */
QUOIT_API uint32_t quoit_group_get_n_slices (const QuoitGroup *group);

/**
 * quoit_group_dup_slice_name:
 * @slice: slice id, below quoit_group_get_n_slices()
 *
 * Returns: (transfer full): the short name where it is unambiguous in the fleet, else source/pool/name; "" if an import
 *   has removed the nodes from a reservation ahead; g_free() it
 */
QUOIT_API char *quoit_group_dup_slice_name (const QuoitGroup *group, uint32_t slice);

/**
 * quoit_group_get_n_workers:
 * @slice: slice id, below quoit_group_get_n_slices()
 *
 * Returns: the number of nodes of the slice that belong to the group
 */
QUOIT_API uint32_t quoit_group_get_n_workers (const QuoitGroup *group, uint32_t slice);

/**
 * quoit_group_get_worker_name:
 * @slice: slice id, below quoit_group_get_n_slices()
 * @worker: below quoit_group_get_n_workers()
 *
 * Returns: (transfer none): the node's short name, valid as long as @group; "" if an import has removed the node from
 *   a reservation ahead
 */
QUOIT_API const char *quoit_group_get_worker_name (const QuoitGroup *group, uint32_t slice, uint32_t worker);

/**
 * quoit_group_get_worker_address:
 * @slice: slice id, below quoit_group_get_n_slices()
 * @worker: below quoit_group_get_n_workers()
 *
 * Returns: (transfer none) (nullable): the node's address; %NULL if its source, such as a manifest, has none
 */
QUOIT_API const char *quoit_group_get_worker_address (const QuoitGroup *group, uint32_t slice, uint32_t worker);

/**
 * quoit_group_get_worker_node_id:
 * @slice: slice id, below quoit_group_get_n_slices()
 * @worker: below quoit_group_get_n_workers()
 *
 * Returns: the durable id of the worker's node, for quoit_snapshot_find_node()
 */
QUOIT_API uint32_t quoit_group_get_worker_node_id (const QuoitGroup *group, uint32_t slice, uint32_t worker);

/**
 * quoit_group_dup_worker_full_name:
 * @slice: slice id, below quoit_group_get_n_slices()
 * @worker: below quoit_group_get_n_workers()
 *
 * Returns: (transfer full): source/pool/name of the worker's node; g_free() it
 */
QUOIT_API char *quoit_group_dup_worker_full_name (const QuoitGroup *group, uint32_t slice, uint32_t worker);

/**
 * quoit_group_find_part:
 * @slice: slice id, below quoit_group_get_n_slices()
 * @origin: (out) (array fixed-size=3): the coordinates of its first chip in the slice of the fleet, x first
 * @shape: (out) (array fixed-size=3): its chips along x, y and z; 1 along z in two dimensions
 *
 * Finds where a part is in the slice of the fleet that it is cut from (quoit_request_set_cut()). The workers of the
 * part are the hosts of this box, x fastest. A turned part has the sides of the requested topology in another order. A
 * part that crosses the wraparound of an axis ends outside of the slice: its origin and shape add up to more than the
 * side.
 *
 * Returns: whether the slice of the group is such a part, and its place is known; otherwise nothing is set
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_group_find_part (const QuoitGroup *group, uint32_t slice, uint32_t origin[3], uint32_t shape[3]);

/**
 * quoit_group_find_joined:
 * @slice: slice id, below quoit_group_get_n_slices()
 * @shape: (out) (array fixed-size=3): its chips along x, y and z
 *
 * Finds the shape of a slice that is joined from cubes (quoit_request_set_cubes()). The workers of the slice are the
 * hosts of this box, x fastest. A turned slice has the sides of the requested topology in another order.
 * quoit_group_dup_worker_slice() returns the cube of each worker.
 *
 * Returns: whether the slice of the group is joined from cubes; otherwise nothing is set
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_group_find_joined (const QuoitGroup *group, uint32_t slice, uint32_t shape[3]);

/**
 * quoit_group_dup_worker_slice:
 * @slice: slice id, below quoit_group_get_n_slices()
 * @worker: below quoit_group_get_n_workers()
 *
 * Returns: (transfer full): the name of the slice of the fleet that has the worker's node. It differs from
 *   quoit_group_dup_slice_name() for slices that are joined from cubes. "" if the node is in no slice or no longer in
 * the fleet; g_free() it
 *
 * Since: 0.1
 */
QUOIT_API char *quoit_group_dup_worker_slice (const QuoitGroup *group, uint32_t slice, uint32_t worker);

/**
 * quoit_group_change_free:
 * @change: (nullable): the change
 */
QUOIT_API void quoit_group_change_free (QuoitGroupChange *change);

/**
 * quoit_group_change_get_before:
 *
 * Returns: (transfer none): the group before the change, valid as long as @change
 */
QUOIT_API QuoitGroup *quoit_group_change_get_before (const QuoitGroupChange *change);

/**
 * quoit_group_change_get_after:
 *
 * Returns: (transfer none) (nullable): the group after the change; the same object as quoit_group_change_get_before()
 *   if nothing had to change; %NULL if the group ended with its last slice
 */
QUOIT_API QuoitGroup *quoit_group_change_get_after (const QuoitGroupChange *change);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitGroup, quoit_group_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitGroupChange, quoit_group_change_free)

G_END_DECLS

#endif

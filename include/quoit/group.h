/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_GROUP_H
#define QUOIT_GROUP_H

#include <quoit/error.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitGroup:
 *
 * What one request holds, as it was when this value was made: slices in natural order, in each slice the nodes by
 * worker id. Immutable; any thread may read it; it outlives the handle that it came from.
 *
 * Since: 0.1
 */
typedef struct _QuoitGroup QuoitGroup;

/**
 * QuoitGroupState:
 *
 * Ray's words for them stand beside. PREPARED has no counterpart: such a group is imported as pending.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_GROUP_HELD = 1,         /* not yet confirmed; later releases */
  QUOIT_GROUP_RESERVED = 2,     /* Ray: CREATED */
  QUOIT_GROUP_RESCHEDULING = 3, /* one of its nodes is dead */
  QUOIT_GROUP_REMOVED = 4,      /* released; kept for its request key */
  QUOIT_GROUP_PENDING = 5       /* imported from Ray alone: not placed yet; Ray: PENDING */
} QuoitGroupState;

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

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitGroup, quoit_group_unref)

G_END_DECLS

#endif

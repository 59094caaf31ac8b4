/* SPDX-License-Identifier: Apache-2.0 */
/* A fleet is all that a ledger knows about nodes and groups at one journal entry. It has a layout, which only imports
 * change, tables of node states, node users and groups, and counters that every change updates.
 *
 * A fleet with several references is an immutable snapshot. To change it, the caller needs the only reference, or a
 * private copy from quoit_fleet_fork(). A fork shares all data that neither side changes. */
#pragma once

#include "fleet/bits.h"
#include "fleet/condition.h"
#include "fleet/group.h"
#include "fleet/index.h"
#include "fleet/layout.h"
#include "fleet/recent.h"

/* The use of a node is one of these values, or the slot + 1 of a group that has the whole node. */
#define QUOIT_USE_NONE 0u
#define QUOIT_USE_EXTERNAL 0xffffffffu /* external use of the whole node */
#define QUOIT_USE_SHARED 0x80000000u   /* plus the index of the first QuoitShare of the node */

enum { QUOIT_NODES_PER_CHUNK = 256 };

/* The changing data of 256 adjacent nodes. */
typedef struct {
  guint32 use[QUOIT_NODES_PER_CHUNK];  /* slot + 1 of the group that has the whole node, or QUOIT_USE_* */
  guint8 state[QUOIT_NODES_PER_CHUNK]; /* QuoitNodeState */
} QuoitNodeChunk;

/* The number of slices of a class in each condition. */
typedef struct {
  guint32 count[QUOIT_N_SLICE_CONDITIONS];
} QuoitTally;

/* The condition of a slice, counted over its nodes. */
typedef struct {
  guint16 n_used;      /* nodes in any use */
  guint16 n_whole;     /* nodes that one user has completely */
  guint16 n_allocated; /* nodes of which a group has all or a part */
  guint16 n_draining;
  guint16 n_missing; /* workers of the topology without an alive node */
  guint8 faults;     /* QuoitFault */
  guint8 condition;  /* see fleet/condition.h */
} QuoitSliceStatus;

static inline QuoitSliceFlags
quoit_slice_status_flags (const QuoitSliceStatus *status)
{
  return quoit_condition_flags (status->condition);
}

/* Records that a bundle of a group has a part of a node. The shares of a node form a linked list. */
typedef struct {
  guint32 slot, bundle; /* of the group; index in the bundles of the group */
  guint32 next;         /* next share of the node + 1; 0: end */
} QuoitShare;

/* What lies ahead: see fleet/ahead.h. */
typedef struct {
  gatomicrefcount refs;
  GArray *slots;        /* of guint32 */
  QuoitRecent *results; /* which slices are promised; see placement/ahead.c */
} QuoitAhead;

/* See fleet/quotas.h. */
typedef struct _QuoitQuotas QuoitQuotas;
QuoitQuotas *quoit_quotas_ref (QuoitQuotas *quotas);
void quoit_quotas_unref (QuoitQuotas *quotas);

enum { QUOIT_IDENTITY_BYTES = 16, QUOIT_CHAIN_BYTES = 32 };

/* Where a fleet is in the history of a ledger. A fork keeps the position of its origin, so the position counts only
 * while the fleet is at the same entry: see quoit_fleet_position(). */
typedef struct {
  gboolean is_known;
  guint64 seq;
  guint8 identity[QUOIT_IDENTITY_BYTES]; /* of the ledger */
  guint8 chain[QUOIT_CHAIN_BYTES];       /* the link of entry @seq in its hash chain */
} QuoitJournalPosition;

typedef struct {
  gatomicrefcount refs;
  QuoitLayout *layout;
  QuoitTable nodes, slices, shelves, classes, shares, groups;
  QuoitBits free_slices;                     /* indices of the slices with QUOIT_CONDITION_FREE */
  QuoitBits ranks;                           /* see quoit_layout_assign_ranks() */
  QuoitIndex by_name, by_key, by_removed_id; /* find the slot of a group */
  guint32 n_slots, first_free_slot;          /* slot + 1; free slots form a list */
  guint32 n_shares, first_free_share;        /* share + 1; free shares form a list */
  guint32 n_groups;      /* all stored groups: live, or removed with a key or by the end of a lease */
  guint64 seq;           /* sequence number of the last journal entry that the fleet contains */
  guint64 next_group_id; /* the greatest id ever used, plus 1 */
  guint32 next_node_id;
  gint64 clock_ms;               /* time of the last entry; only a set-clock entry can decrease it */
  gint64 max_jump_ms;            /* how far a change may be ahead of clock_ms; 0: default of the engine */
  gint64 keep_ms;                /* how long entries and records of ended groups are kept; 0: default of the engine */
  guint32 epoch;                 /* number of restores from a backup */
  guint64 ledger;                /* identifies the ledger; 0: a fleet of no ledger. A fork has that of its ledger. */
  gboolean is_planned;           /* has changes that are only on a fork */
  QuoitJournalPosition position; /* the last known one */
  gint64 first_lease_ms;         /* no lease ends, and nothing begins, earlier; see quoit_fleet_first_lease() */
  QuoitAhead *ahead;             /* immutable; NULL: nothing lies ahead */
  gboolean ahead_is_sound;       /* a cache: see quoit_fleet_ahead_is_sound() */
  gboolean ahead_is_stuck;       /* a cache: see quoit_fleet_ahead_is_stuck() */
  GHashTable *promised;          /* see quoit_fleet_promise_node(); NULL: empty */
  QuoitQuotas *quotas;           /* see fleet/quotas.h; NULL: none */
} QuoitFleet;

/* Returns a fleet without groups. Node states and external use are those that the claims report. Adds a reference to
 * @layout. */
QuoitFleet *quoit_fleet_new (QuoitLayout *layout);
/* Adds a reference. @fleet is const because readers share fleets and the reference count is not part of the value.
 * The result is not const, because quoit_fleet_unref() needs it; do not change a fleet with several references. */
QuoitFleet *quoit_fleet_ref (const QuoitFleet *fleet);
void quoit_fleet_unref (QuoitFleet *fleet);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitFleet, quoit_fleet_unref)
QuoitFleet *quoit_fleet_fork (const QuoitFleet *fleet);

/* Returns a copy of @fleet with another layout, for an import. Nodes of @layout keep the state and use of the node with
 * the same id; new nodes get their claimed state. Fails with CONFLICT if a node of a group is not in @layout. */
QuoitFleet *quoit_fleet_with_layout (const QuoitFleet *fleet, QuoitLayout *layout, GError **error);
/* Like quoit_fleet_with_layout(), but changes @fleet in place. @layout must come from quoit_layout_patch(), and
 * @changed are the nodes in which it differs. The caller must have the only reference to @fleet. */
gboolean quoit_fleet_set_layout (QuoitFleet *fleet, QuoitLayout *layout, const guint32 *changed, guint32 n_changed,
                                 GError **error);

/* --- reading --- */

/* Returns where the fleet is in the history of a ledger, or NULL if it is in none, such as a fork with changes. */
static inline const QuoitJournalPosition *
quoit_fleet_position (const QuoitFleet *fleet)
{
  return fleet->position.is_known && fleet->position.seq == fleet->seq ? &fleet->position : NULL;
}

static inline const QuoitNodeChunk *
quoit_fleet_node_chunk (const QuoitFleet *fleet, QuoitNodeId node)
{
  return quoit_table_peek (&fleet->nodes, node.index / QUOIT_NODES_PER_CHUNK);
}

static inline QuoitNodeState
quoit_fleet_node_state (const QuoitFleet *fleet, QuoitNodeId node)
{
  return quoit_fleet_node_chunk (fleet, node)->state[node.index % QUOIT_NODES_PER_CHUNK];
}

static inline guint32
quoit_fleet_node_use (const QuoitFleet *fleet, QuoitNodeId node)
{
  return quoit_fleet_node_chunk (fleet, node)->use[node.index % QUOIT_NODES_PER_CHUNK];
}

/* Notes that placement/ahead.h drains the node for the record of a slot, while others still use the node. Call it
 * before the node is drained. @fleet must not be a fork of a fleet with such notes. */
void quoit_fleet_promise_node (QuoitFleet *fleet, QuoitNodeId node, guint32 slot);
/* Returns the record at @i of those for which the node is drained, without removed ones; NULL: there are no more. */
const QuoitGroupData *quoit_fleet_node_promise (const QuoitFleet *fleet, QuoitNodeId node, guint i);
/* Returns whether the node is draining, and not only for such records. */
gboolean quoit_fleet_node_is_leaving (const QuoitFleet *fleet, QuoitNodeId node);
/* Drains the nodes with such records again, and undrains those whose records have all been removed from @fleet. */
void quoit_fleet_apply_promises (QuoitFleet *fleet);

/* Returns how much is left of the i-th resource of quoit_layout_node_derived(). */
QuoitAmount quoit_fleet_node_derived_left (const QuoitFleet *fleet, QuoitNodeId node, guint i);
/* Returns how much is left of an implicit resource that @node does not state. The total is 1. */
QuoitAmount quoit_fleet_node_implicit_left (const QuoitFleet *fleet, QuoitNodeId node, const char *name);

const QuoitSliceStatus *quoit_fleet_slice_status (const QuoitFleet *fleet, QuoitSliceId slice);
/* Returns the number of free slices on a shelf. */
guint32 quoit_fleet_shelf_n_free (const QuoitFleet *fleet, QuoitShelfId shelf);
/* Writes the number of free slices of every shelf to @n_free. */
void quoit_fleet_copy_shelves_n_free (const QuoitFleet *fleet, guint32 *n_free);
const QuoitTally *quoit_fleet_class_tally (const QuoitFleet *fleet, QuoitClassId class_id);
/* Returns the number of slices of a class that have @flag. */
guint32 quoit_fleet_class_count (const QuoitFleet *fleet, QuoitClassId class_id, QuoitSliceFlags flag);
static inline guint32
quoit_fleet_class_n_free (const QuoitFleet *fleet, QuoitClassId class_id)
{
  return quoit_fleet_class_tally (fleet, class_id)->count[QUOIT_CONDITION_FREE];
}
/* Returns NULL for an empty slot. */
const QuoitGroupData *quoit_fleet_group_at (const QuoitFleet *fleet, guint32 slot);

/* Returns the state of a group's slice whose worst node has the state @node. */
QuoitGroupSliceState quoit_group_slice_state_from_node (QuoitNodeState node);
/* Returns the state of slice @slice of a group of slices. The worst node of the slice decides. */
QuoitGroupSliceState quoit_fleet_group_slice_state (const QuoitFleet *fleet, const QuoitGroupData *group,
                                                    guint32 slice);
/* Returns the state to report: RESCHEDULING for a reserved group that has lost a node or is losing one. */
QuoitGroupState quoit_fleet_group_state (const QuoitFleet *fleet, const QuoitGroupData *group);

/* Returns the time when the lease of the group or that of its owner ends, whichever is first; 0: no lease. */
gint64 quoit_fleet_group_until_ms (const QuoitFleet *fleet, const QuoitGroupData *group);

/* Returns the slot of a live group of this fleet. */
guint32 quoit_fleet_group_slot (const QuoitFleet *fleet, const QuoitGroupData *group);

/* Find live groups by name, and all stored groups by key. Return NULL if not found. */
const QuoitGroupData *quoit_fleet_find_group (const QuoitFleet *fleet, const char *name);
const QuoitGroupData *quoit_fleet_find_key (const QuoitFleet *fleet, const char *key);

/* Find the record of a removed group by id, and the record of an owner with an expired lease by record name. Return
 * NULL if not found. */
const QuoitGroupData *quoit_fleet_find_removed (const QuoitFleet *fleet, guint64 id);
const QuoitGroupData *quoit_fleet_find_expired_owner (const QuoitFleet *fleet, const char *record);

/* Returns whether @node has external use, of the whole node or of a part. */
gboolean quoit_fleet_node_is_external (const QuoitFleet *fleet, QuoitNodeId node);
/* Returns how much of the resource @name of @node is in external use. @total is the total of that resource. */
QuoitAmount quoit_fleet_node_external_amount (const QuoitFleet *fleet, QuoitNodeId node, const char *name,
                                              QuoitAmount total);

/* An iterator over the users of a node, in the order of group ids and then of bundles. Each bundle is a user. External
 * use of the whole node is not included. The iterator visits each share once, and is valid until the fleet changes. */
typedef struct {
  const QuoitFleet *fleet;
  const QuoitBundle *bundle; /* the bundle of the last user; NULL: the group has the whole node */
  guint32 use;               /* the remaining users, encoded like the use of a node */
} QuoitUsers;

QuoitUsers quoit_fleet_node_users (const QuoitFleet *fleet, QuoitNodeId node);
/* Returns the next user; NULL at the end. */
const QuoitGroupData *quoit_fleet_users_next (QuoitUsers *users);
/* Returns the first user, or NULL. */
const QuoitGroupData *quoit_fleet_node_user (const QuoitFleet *fleet, QuoitNodeId node);

/* Returns the groups of callers that use @node, each once, by id: an array of QuoitGroupData, which the fleet owns.
 * The caller owns the array. */
GPtrArray *quoit_fleet_node_groups (const QuoitFleet *fleet, QuoitNodeId node);
/* Describes the shares of @group's bundles in @node: "chips 0,1: CPU 1, TPU 2 + chip 3: TPU 1". Owned by the caller.
 * Returns NULL if @group has the whole node. */
char *quoit_fleet_node_share_text (const QuoitFleet *fleet, QuoitNodeId node, const QuoitGroupData *group);
/* Returns the chips of @node that @group has, completely or in part, as bits; bit 0 is chip 0. If @group is NULL,
 * returns the chips in external use. */
guint64 quoit_fleet_node_group_chips (const QuoitFleet *fleet, QuoitNodeId node, const QuoitGroupData *group);

/* How much of each chip of a node is left, in ten-thousandths. */
typedef struct {
  guint n_chips;
  gint32 chip_e4[64];
} QuoitChipsLeft;

/* Computes how much of @node no user has: of each chip, and of each resource of the node's kind, in the order of the
 * kind. All values are 0 if a group or external use has the whole node. @left needs an element for each resource. */
void quoit_fleet_node_left (const QuoitFleet *fleet, QuoitNodeId node, QuoitAmount *left, QuoitChipsLeft *chips);

/* --- changes: the caller must have the only reference --- */

/* Returns a new group like @base that has all nodes of @slices. The counts and nodes of @base are ignored. */
QuoitGroupData *quoit_fleet_group_of_slices (const QuoitFleet *fleet, const QuoitGroupData *base, const guint32 *slices,
                                             guint32 n_slices);

/* Adds @group (transfer full). Each node of the group must exist, and what the group uses of the node must be free;
 * otherwise the function fails with CONFLICT, names the node and changes nothing. A REMOVED group has no nodes and is
 * stored so that its key and its id are still found. */
gboolean quoit_fleet_add_group (QuoitFleet *fleet, QuoitGroupData *group, GError **error);

/* Like quoit_fleet_add_group(), for a group of a saved state or of a source. The group may use nodes that a source
 * reports as used, because the group is the user that the source sees. */
gboolean quoit_fleet_restore_group (QuoitFleet *fleet, QuoitGroupData *group, GError **error);
/* Restores many groups, which must be in the order of their ids. The function visits the users of each node and the
 * nodes of each slice only once. If a group is refused, the groups before it stay added. */
gboolean quoit_fleet_restore_groups (QuoitFleet *fleet, const GPtrArray *groups, GError **error);

/* Removes the group with this name and id. Each of its nodes becomes free, or external if the source of the node
 * reports it as used. If the group has a key or its lease has expired, a REMOVED record with @ended_ms is kept. */
gboolean quoit_fleet_remove_group (QuoitFleet *fleet, const char *name, guint64 id, QuoitEnd end, gint64 ended_ms,
                                   GError **error);
/* Like quoit_fleet_remove_group(), for a release for which the caller gave a reason; "": none. With a reason, a record
 * is always kept. */
gboolean quoit_fleet_remove_group_with_reason (QuoitFleet *fleet, const char *name, guint64 id, QuoitEnd end,
                                               const char *reason, gint64 ended_ms, GError **error);
/* Deletes the record of a removed group. @group must be a REMOVED group of this fleet. */
gboolean quoit_fleet_forget_group (QuoitFleet *fleet, const QuoitGroupData *group, GError **error);

/* Replaces the live group with the same name and id by @group (transfer full). Its nodes must exist and be free or
 * belong to the replaced group; otherwise fails with CONFLICT, names the node and changes nothing. */
gboolean quoit_fleet_replace_group (QuoitFleet *fleet, QuoitGroupData *group, GError **error);
/* Sets the state and the lease of the live group with this name and id. */
gboolean quoit_fleet_set_lease (QuoitFleet *fleet, const char *name, guint64 id, QuoitGroupState state, gint64 until_ms,
                                GError **error);

/* Returns a time before which no lease ends and no reservation ahead begins. Renewals do not update it, so the first
 * lease may end later. Callers use the time to skip the search for expired leases. A caller that searched and found
 * none calls quoit_fleet_update_first_lease(), so that the next caller can skip the search again. */
static inline gint64
quoit_fleet_first_lease (const QuoitFleet *fleet)
{
  return __atomic_load_n (&fleet->first_lease_ms, __ATOMIC_RELAXED);
}
/* Recomputes the time of quoit_fleet_first_lease(). The time is a cache that is stored atomically and is not part of
 * the value, so this is the only function that may write to a shared fleet. */
void quoit_fleet_update_first_lease (const QuoitFleet *fleet);

/* Ends the external use of @node. Only forks that evaluate the options of a report do this. */
gboolean quoit_fleet_end_external (QuoitFleet *fleet, QuoitNodeId node, GError **error);

void quoit_fleet_set_node_state (QuoitFleet *fleet, QuoitNodeId node, QuoitNodeState state);

/* Sets the states of many nodes, and recounts each slice only once. */
void quoit_fleet_set_node_states (QuoitFleet *fleet, const QuoitNodeStateChange *states, gsize n);

/* Recounts everything. Checks that all counters are right, that each unit of each resource of a node is in exactly one
 * state (QuoitUnitState), that all ids are valid, and that all indexes are complete. Fails with FAILED and names the
 * first contradiction. */
gboolean quoit_fleet_check (const QuoitFleet *fleet, GError **error);

/* Returns whether @slice would be intact if all of its nodes were alive: each worker id has a node, and the alive nodes
 * do not contradict each other. */
static inline gboolean
quoit_fleet_slice_could_be_intact (const QuoitFleet *fleet, QuoitSliceId slice)
{
  return quoit_condition_health (quoit_fleet_slice_status (fleet, slice)->condition) != QUOIT_SLICE_CANNOT_BE_INTACT;
}

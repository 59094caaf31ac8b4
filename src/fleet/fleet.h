/* SPDX-License-Identifier: Apache-2.0 */
/* A fleet: a layout, plus the part that changes (users and states of nodes) and summaries that every change updates.
 *
 * A fleet is a value. A reference is a snapshot; quoit_fleet_fork() returns a private copy that shares all data that
 * neither side changes. A writer must hold the only reference. */
#pragma once

#include "fleet/bits.h"
#include "fleet/group.h"
#include "fleet/index.h"
#include "fleet/layout.h"

/* Values of a node's use, other than the slot + 1 of a group that has the whole node. */
#define QUOIT_USE_NONE 0u
#define QUOIT_USE_EXTERNAL 0xffffffffu
#define QUOIT_USE_SHARED 0x80000000u /* plus the number of the first share */

enum { QUOIT_NODES_PER_CHUNK = 256 };

typedef struct {
  guint32 use[QUOIT_NODES_PER_CHUNK]; /* slot + 1 of the group that has the whole node, or QUOIT_USE_* */
  guint8 state[QUOIT_NODES_PER_CHUNK];
} QuoitNodeChunk;

/* Each shelf and class has a counter for each of QuoitSliceFlags. */
enum { QUOIT_N_SLICE_FLAGS = 7 };

typedef struct {
  guint32 count[QUOIT_N_SLICE_FLAGS + 1]; /* the last one pads to 32 bytes */
} QuoitTally;

static inline guint32
quoit_tally_get (const QuoitTally *tally, QuoitSliceFlags flag)
{
  return tally->count[__builtin_ctz (flag)];
}

typedef struct {
  guint16 n_used, n_whole, n_held; /* nodes in any use, wholly used, and used by a group */
  guint16 n_draining;
  guint16 n_missing; /* workers of the topology without an alive node */
  guint8 faults;     /* QuoitFault */
  guint8 flags;      /* QuoitSliceFlags */
} QuoitSliceStatus;

/* The part of a node that a bundle of a group has. */
typedef struct {
  guint32 slot, bundle;
  guint32 next; /* next share of the node + 1; 0: end */
} QuoitShare;

typedef struct {
  gatomicrefcount refs;
  QuoitLayout *layout;
  QuoitTable nodes, slices, shelves, classes, shares, groups;
  QuoitBits free_slices, ranks;
  QuoitIndex by_name, by_key, by_removed_id;
  guint32 n_slots, first_free_slot; /* slot + 1; free slots form a list */
  guint32 n_shares, first_free_share;
  guint32 n_groups;      /* all stored groups: live, or removed with a key or by the end of a lease */
  guint64 seq;           /* the last journal entry that it contains */
  guint64 next_group_id; /* the greatest id ever used, plus 1 */
  guint32 next_node_id;
  gint64 clock_ms;       /* time of the last entry; only a set-clock entry can decrease it */
  gint64 max_jump_ms;    /* how far a change may be ahead of clock_ms; 0: default of the engine */
  guint32 epoch;         /* number of restores from a backup */
  gint64 first_lease_ms; /* no lease ends earlier; see quoit_fleet_count_leases() */
} QuoitFleet;

/* Returns a fleet without groups: node states as claimed, external use as flagged. Adds a reference to @layout. */
QuoitFleet *quoit_fleet_new (QuoitLayout *layout);
QuoitFleet *quoit_fleet_ref (const QuoitFleet *fleet);
void quoit_fleet_unref (QuoitFleet *fleet);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitFleet, quoit_fleet_unref)
QuoitFleet *quoit_fleet_fork (const QuoitFleet *fleet);

/* Returns @fleet after an import. Nodes of @layout keep the state and use of the node with the same id; new nodes
 * get their claimed state. Fails with CONFLICT if a node of a group is not in @layout. */
QuoitFleet *quoit_fleet_relaid (const QuoitFleet *fleet, QuoitLayout *layout, GError **error);
/* Like quoit_fleet_relaid(), for a @layout from quoit_layout_patched() that differs in the nodes @changed. Changes
 * @fleet in place; the caller must have the only reference to it. */
gboolean quoit_fleet_stand_on (QuoitFleet *fleet, QuoitLayout *layout, const guint32 *changed, guint32 n_changed,
                               GError **error);

/* --- reading --- */
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

/* Returns how much is left of the i-th resource of quoit_layout_node_derived(). */
QuoitAmount quoit_fleet_node_derived_left (const QuoitFleet *fleet, QuoitNodeId node, guint i);
/* Returns how much is left of an implicit resource that @node does not state. The total is 1. */
QuoitAmount quoit_fleet_node_implicit_left (const QuoitFleet *fleet, QuoitNodeId node, const char *name);

const QuoitSliceStatus *quoit_fleet_slice_status (const QuoitFleet *fleet, QuoitSliceId slice);
const QuoitTally *quoit_fleet_shelf_tally (const QuoitFleet *fleet, QuoitShelfId shelf);
const QuoitTally *quoit_fleet_class_tally (const QuoitFleet *fleet, QuoitClassId class_id);
/* Returns NULL for an empty slot. */
const QuoitGroupData *quoit_fleet_group_at (const QuoitFleet *fleet, guint32 slot);

/* Returns the state of a group's slice whose worst host has state @host. */
QuoitGroupSliceState quoit_slice_state_by_host (QuoitNodeState host);
/* Returns the state of slice @slice of a group of slices. The worst of its nodes decides. */
QuoitGroupSliceState quoit_fleet_group_slice_state (const QuoitFleet *fleet, const QuoitGroupData *group,
                                                    guint32 slice);
/* Returns the state to report: RESCHEDULING for a reserved group that has lost a node or is losing one. */
QuoitGroupState quoit_fleet_group_state (const QuoitFleet *fleet, const QuoitGroupData *group);

/* Returns when the group ends by its own lease or its owner's, whichever ends first; 0: no lease. */
gint64 quoit_fleet_group_until (const QuoitFleet *fleet, const QuoitGroupData *group);

/* Find live groups by name, and all stored groups by key. Return NULL if not found. */
const QuoitGroupData *quoit_fleet_find_group (const QuoitFleet *fleet, const char *name);
const QuoitGroupData *quoit_fleet_find_key (const QuoitFleet *fleet, const char *key);

/* Find the record of a removed group by its id, and of an owner with an expired lease by its record name. Return
 * NULL if not found. */
const QuoitGroupData *quoit_fleet_find_removed (const QuoitFleet *fleet, guint64 id);
const QuoitGroupData *quoit_fleet_find_expired_owner (const QuoitFleet *fleet, const char *record);

/* Returns whether @node has external use, of the whole node or of a part. */
gboolean quoit_fleet_node_is_external (const QuoitFleet *fleet, QuoitNodeId node);
/* Returns how much of the resource @name is in external use. @total is the node's total of it. */
QuoitAmount quoit_fleet_node_external_of (const QuoitFleet *fleet, QuoitNodeId node, const char *name,
                                          QuoitAmount total);

/* Iterates over the users of a node, in the order of group ids and then of bundles. Each bundle is a user. External
 * use of the whole node is not included. The iterator visits each share once, and is valid until the fleet changes. */
typedef struct {
  const QuoitFleet *fleet;
  const QuoitBundle *bundle; /* the last user's part of the node; NULL: all of it */
  guint32 use;               /* the remaining users */
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
/* Returns the chips of @node that @group has, wholly or in part, or those in external use if @group is NULL. Bit 0
 * is chip 0. */
guint64 quoit_fleet_node_chips_of (const QuoitFleet *fleet, QuoitNodeId node, const QuoitGroupData *group);

/* Computes what the shares of groups leave of @node: of each chip, and of each resource of its kind, in their order.
 * All values are 0 if a group or external use has the whole node. @left must have room for all resources of the
 * kind. */
typedef struct {
  guint n_chips;
  gint32 chip_e4[64];
} QuoitChipsLeft;
void quoit_fleet_node_left (const QuoitFleet *fleet, QuoitNodeId node, QuoitAmount *left, QuoitChipsLeft *chips);

/* --- changes: the caller must have the only reference --- */

/* Returns a group with the fields of @facts and all nodes of @slices. The counts and nodes of @facts are ignored. */
QuoitGroupData *quoit_fleet_group_of_slices (const QuoitFleet *fleet, const QuoitGroupData *facts,
                                             const guint32 *slices, guint32 n_slices);

/* Adds @group (transfer full). Each of its nodes must exist and have the requested resources free; otherwise fails
 * with CONFLICT, names the node and changes nothing. REMOVED groups use no nodes and are stored for their key. */
gboolean quoit_fleet_add_group (QuoitFleet *fleet, QuoitGroupData *group, GError **error);

/* Like quoit_fleet_add_group(), for a group of a saved state or of a source. It may use nodes that a source reports
 * as used, because it is the user. */
gboolean quoit_fleet_restore_group (QuoitFleet *fleet, QuoitGroupData *group, GError **error);
/* Restores many groups, in the order of their ids. Visits the users of a node and the nodes of a slice only once. If
 * a group is refused, the groups before it stay added. */
gboolean quoit_fleet_restore_groups (QuoitFleet *fleet, const GPtrArray *groups, GError **error);

/* Removes the group with this name and id. Its nodes become free, or external if their source reports them as used.
 * A group with a key or an expired lease is kept as REMOVED, with @ended_ms. */
gboolean quoit_fleet_remove_group (QuoitFleet *fleet, const char *name, guint64 id, QuoitEnd end, gint64 ended_ms,
                                   GError **error);
/* Drops @group, which must be a removed group of this fleet. */
gboolean quoit_fleet_forget_group (QuoitFleet *fleet, const QuoitGroupData *group, GError **error);

/* Replaces the live group with the same name and id by @group (transfer full). Its nodes must exist and be free or
 * belong to the replaced group; otherwise fails with CONFLICT, names the node and changes nothing. */
gboolean quoit_fleet_replace_group (QuoitFleet *fleet, QuoitGroupData *group, GError **error);
/* Like quoit_fleet_replace_group(), but only for state and lease. */
gboolean quoit_fleet_set_lease (QuoitFleet *fleet, const char *name, guint64 id, QuoitGroupState state, gint64 until_ms,
                                GError **error);

/* Returns a time before which no lease ends. It may be too early, because renewals do not update it. A caller that
 * finds no expired lease calls quoit_fleet_count_leases(), the only changing function that is safe on a shared
 * fleet. */
static inline gint64
quoit_fleet_first_lease (const QuoitFleet *fleet)
{
  return __atomic_load_n (&fleet->first_lease_ms, __ATOMIC_RELAXED);
}
void quoit_fleet_count_leases (const QuoitFleet *fleet);

/* Ends the external use of @node, for forks that evaluate options. */
gboolean quoit_fleet_end_external (QuoitFleet *fleet, QuoitNodeId node, GError **error);

void quoit_fleet_set_node_state (QuoitFleet *fleet, QuoitNodeId node, QuoitNodeState state);

typedef struct {
  guint32 id; /* durable id of a node */
  QuoitNodeState state;
} QuoitStateOfNode;

/* Sets many states, but recounts each slice only once. */
void quoit_fleet_set_node_states (QuoitFleet *fleet, const QuoitStateOfNode *states, gsize n);

/* Recounts everything and checks that summaries are right, no node is used twice, no id dangles, and indexes are
 * complete. Fails with FAILED and names the first contradiction. */
gboolean quoit_fleet_check (const QuoitFleet *fleet, GError **error);

/* Returns whether @slice would be intact if all known nodes were alive: each worker has a known node, and the alive
 * nodes do not contradict each other. */
gboolean quoit_fleet_slice_could_be_intact (const QuoitFleet *fleet, QuoitSliceId slice);

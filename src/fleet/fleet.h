/* SPDX-License-Identifier: Apache-2.0 */
/* The graph with its changing part: who uses which node, the nodes' states, and summaries that every change keeps up.
 *
 * A fleet is a value. Taking a reference is a snapshot; quoit_fleet_fork() gives a copy of one's own that shares all
 * that neither side writes to. Who writes must hold the only reference. */
#pragma once

#include "fleet/bits.h"
#include "fleet/group.h"
#include "fleet/index.h"
#include "fleet/layout.h"

/* How a node is used, beside the slot of a group that has it whole. */
#define QUOIT_USE_NONE 0u
#define QUOIT_USE_EXTERNAL 0xffffffffu
#define QUOIT_USE_SHARED 0x80000000u /* with the number of the first share */

enum { QUOIT_NODES_PER_CHUNK = 256 };

typedef struct {
  guint32 use[QUOIT_NODES_PER_CHUNK]; /* slot + 1 of the group that has the node whole, or one of QUOIT_USE_ */
  guint8 state[QUOIT_NODES_PER_CHUNK];
} QuoitNodeChunk;

/* Each of QuoitSliceFlags has a counter of its own on every shelf and class. */
enum { QUOIT_N_SLICE_FLAGS = 7 };

typedef struct {
  guint32 count[QUOIT_N_SLICE_FLAGS + 1]; /* the last one fills 32 bytes */
} QuoitTally;

static inline guint32
quoit_tally_get (const QuoitTally *tally, QuoitSliceFlags flag)
{
  return tally->count[__builtin_ctz (flag)];
}

typedef struct {
  guint16 n_used, n_whole, n_held; /* nodes that are used at all, used whole, held by a group */
  guint16 n_draining;
  guint16 n_missing; /* workers of the topology that no alive node is */
  guint8 faults;     /* QuoitFault */
  guint8 flags;      /* QuoitSliceFlags */
} QuoitSliceStatus;

/* A part of a node that a bundle of a group has. */
typedef struct {
  guint32 slot, bundle;
  guint32 next; /* share + 1 */
} QuoitShare;

typedef struct {
  gatomicrefcount refs;
  QuoitLayout *layout;
  QuoitTable nodes, slices, shelves, classes, shares, groups;
  QuoitBits free_slices, ranks;
  QuoitIndex by_name, by_key, by_removed_id;
  guint32 n_slots, first_free_slot; /* slot + 1; the slots of gone groups form a list */
  guint32 n_shares, first_free_share;
  guint32 n_groups;      /* kept at all: live, or removed with a key or by the end of a lease */
  guint64 seq;           /* of the last journal entry that it contains */
  guint64 next_group_id; /* the greatest ever used, plus 1 */
  guint32 next_node_id;
  gint64 clock_ms;       /* time of the last entry, but one of set-clock may take it back */
  gint64 max_jump_ms;    /* how far ahead of it a change may be; 0: the usual limit of the engine */
  guint32 epoch;         /* how often the ledger was restored from a backup */
  gint64 first_lease_ms; /* no lease ends before; see quoit_fleet_count_leases() */
} QuoitFleet;

/* An idle fleet: node states as claimed, external use as flagged. Takes its own reference to @layout. */
QuoitFleet *quoit_fleet_new (QuoitLayout *layout);
QuoitFleet *quoit_fleet_ref (const QuoitFleet *fleet);
void quoit_fleet_unref (QuoitFleet *fleet);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitFleet, quoit_fleet_unref)
QuoitFleet *quoit_fleet_fork (const QuoitFleet *fleet);

/* @fleet after an import: @layout's nodes with the states and uses that nodes of the same id had; new nodes as claimed.
 * CONFLICT when a node that a group has is not in @layout. */
QuoitFleet *quoit_fleet_relaid (const QuoitFleet *fleet, QuoitLayout *layout, GError **error);
/* The same where @layout is of quoit_layout_patched(), and differs in the nodes @changed: @fleet itself, which the
 * caller owns alone, stands on it from then on. */
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

/* Of the i-th resource that quoit_layout_node_derived() names. */
QuoitAmount quoit_fleet_node_derived_left (const QuoitFleet *fleet, QuoitNodeId node, guint i);
/* Of an implicit resource that @node does not state, and so has 1 of. */
QuoitAmount quoit_fleet_node_implicit_left (const QuoitFleet *fleet, QuoitNodeId node, const char *name);

const QuoitSliceStatus *quoit_fleet_slice_status (const QuoitFleet *fleet, QuoitSliceId slice);
const QuoitTally *quoit_fleet_shelf_tally (const QuoitFleet *fleet, QuoitShelfId shelf);
const QuoitTally *quoit_fleet_class_tally (const QuoitFleet *fleet, QuoitClassId class_id);
/* NULL where the slot is empty. */
const QuoitGroupData *quoit_fleet_group_at (const QuoitFleet *fleet, guint32 slot);

/* What a host of that state makes of its slice. */
QuoitGroupSliceState quoit_slice_state_by_host (QuoitNodeState host);
/* What has become of the nodes of slice @slice of a group of slices; the worst of them counts. */
QuoitGroupSliceState quoit_fleet_group_slice_state (const QuoitFleet *fleet, const QuoitGroupData *group,
                                                    guint32 slice);
/* The state that is shown: RESCHEDULING for a group that is reserved, and has lost a node or is losing one. */
QuoitGroupState quoit_fleet_group_state (const QuoitFleet *fleet, const QuoitGroupData *group);

/* When the group ends by its own lease or its owner's, whichever is first; 0: by neither. */
gint64 quoit_fleet_group_until (const QuoitFleet *fleet, const QuoitGroupData *group);

/* Live groups by name, all kept groups by key. NULL when there is none. */
const QuoitGroupData *quoit_fleet_find_group (const QuoitFleet *fleet, const char *name);
const QuoitGroupData *quoit_fleet_find_key (const QuoitFleet *fleet, const char *key);

/* What stayed of a removed group, and of an owner whose lease has ended (by the name of its record). */
const QuoitGroupData *quoit_fleet_find_removed (const QuoitFleet *fleet, guint64 id);
const QuoitGroupData *quoit_fleet_find_expired_owner (const QuoitFleet *fleet, const char *record);

/* Whether something that no group explains uses @node, wholly or in part. */
gboolean quoit_fleet_node_is_external (const QuoitFleet *fleet, QuoitNodeId node);
/* How much it has of the resource @name, of which the node has @total. */
QuoitAmount quoit_fleet_node_external_of (const QuoitFleet *fleet, QuoitNodeId node, const char *name,
                                          QuoitAmount total);

/* Who uses a node, in the order of the groups' ids and, within a group, of its bundles: each bundle is a user.
 * External use is not a group. A walk costs one look at each share, and lasts as long as the fleet does not change. */
typedef struct {
  const QuoitFleet *fleet;
  const QuoitBundle *bundle; /* what the last user has of the node; NULL: all of it */
  guint32 use;               /* what of the node's use is still to be told */
} QuoitUsers;

QuoitUsers quoit_fleet_node_users (const QuoitFleet *fleet, QuoitNodeId node);
/* The next user; NULL: there are no more. */
const QuoitGroupData *quoit_fleet_users_next (QuoitUsers *users);
/* The first user; NULL: there is none. */
const QuoitGroupData *quoit_fleet_node_user (const QuoitFleet *fleet, QuoitNodeId node);

/* The groups, as callers call them, that use @node: each once, by id. Of QuoitGroupData, borrowed from the fleet. */
GPtrArray *quoit_fleet_node_groups (const QuoitFleet *fleet, QuoitNodeId node);
/* What the bundles of @group have of @node, in words: "chips 0,1: CPU 1, TPU 2 + chip 3: TPU 1". Owned; NULL: all of
 * it. */
char *quoit_fleet_node_share_text (const QuoitFleet *fleet, QuoitNodeId node, const QuoitGroupData *group);
/* The chips of @node that @group has, wholly or in part, or something external where it is NULL: bit 0 is chip 0. */
guint64 quoit_fleet_node_chips_of (const QuoitFleet *fleet, QuoitNodeId node, const QuoitGroupData *group);

/* What is left of @node, chip by chip, and of each of its kind's resources (in their order), after the shares of
 * groups. All zero when a group or something external has the node whole. @left has room for the kind's resources. */
typedef struct {
  guint n_chips;
  gint32 chip_e4[64];
} QuoitChipsLeft;
void quoit_fleet_node_left (const QuoitFleet *fleet, QuoitNodeId node, QuoitAmount *left, QuoitChipsLeft *chips);

/* --- changing: the caller has the only reference --- */

/* A group with the facts of @facts that has all nodes of @slices. Its own numbers and nodes are not read. */
QuoitGroupData *quoit_fleet_group_of_slices (const QuoitFleet *fleet, const QuoitGroupData *facts,
                                             const guint32 *slices, guint32 n_slices);

/* Puts @group (transfer full) into the graph. Every node must be there and free of what the group takes: CONFLICT names
 * the node, and nothing has changed. REMOVED groups hold nothing and are kept for their key. */
gboolean quoit_fleet_add_group (QuoitFleet *fleet, QuoitGroupData *group, GError **error);

/* The same for a group of a state that was kept, and for one that a source has made: nodes that a source calls used may
 * be the group's, which is who uses them. */
gboolean quoit_fleet_restore_group (QuoitFleet *fleet, QuoitGroupData *group, GError **error);
/* Many of them, in the order of their ids: the users of a node and the nodes of a slice are looked at once. Where one
 * is refused those before it are there. */
gboolean quoit_fleet_restore_groups (QuoitFleet *fleet, const GPtrArray *groups, GError **error);

/* Takes the group of that name and id out: its nodes are free again, or external where their source called them used.
 * With a key, and when a lease has ended, it stays, REMOVED, as of @ended_ms. */
gboolean quoit_fleet_remove_group (QuoitFleet *fleet, const char *name, guint64 id, QuoitEnd end, gint64 ended_ms,
                                   GError **error);
/* Drops @group, which is what stayed of a removed one in this fleet. */
gboolean quoit_fleet_forget_group (QuoitFleet *fleet, const QuoitGroupData *group, GError **error);

/* Puts @group (transfer full) in the place of the live one of its name and id. Its nodes must be there, and free or
 * those of the one before: CONFLICT names the node, and nothing has changed. */
gboolean quoit_fleet_replace_group (QuoitFleet *fleet, QuoitGroupData *group, GError **error);
/* The same for state and lease alone. */
gboolean quoit_fleet_set_lease (QuoitFleet *fleet, const char *name, guint64 id, QuoitGroupState state, gint64 until_ms,
                                GError **error);

/* A time before which no lease of the fleet ends. Renewed leases leave it too early: who looked and found none ended
 * calls quoit_fleet_count_leases(), which alone may be called on a fleet that others read. */
static inline gint64
quoit_fleet_first_lease (const QuoitFleet *fleet)
{
  return __atomic_load_n (&fleet->first_lease_ms, __ATOMIC_RELAXED);
}
void quoit_fleet_count_leases (const QuoitFleet *fleet);

/* What no group explains of @node ends: for forks that try what would help. */
gboolean quoit_fleet_end_external (QuoitFleet *fleet, QuoitNodeId node, GError **error);

void quoit_fleet_set_node_state (QuoitFleet *fleet, QuoitNodeId node, QuoitNodeState state);

typedef struct {
  guint32 id; /* of a node of the fleet */
  QuoitNodeState state;
} QuoitStateOfNode;

/* The same one after the other, with one look at the other nodes of each slice. */
void quoit_fleet_set_node_states (QuoitFleet *fleet, const QuoitStateOfNode *states, gsize n);

/* Walks everything: summaries equal recounts, nothing is held twice, no id dangles, indexes are complete. FAILED names
 * the first contradiction. */
gboolean quoit_fleet_check (const QuoitFleet *fleet, GError **error);

/* Whether every worker of @slice is some known node, and nothing among the alive ones contradicts: it would be intact
 * if all known nodes were alive. */
gboolean quoit_fleet_slice_could_be_intact (const QuoitFleet *fleet, QuoitSliceId slice);

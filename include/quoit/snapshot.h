/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_SNAPSHOT_H
#define QUOIT_SNAPSHOT_H

#include <stdbool.h>

#include <quoit/group.h>
#include <quoit/input.h>
#include <quoit/amount.h>
#include <quoit/report.h>
#include <quoit/request.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitSnapshot:
 *
 * The fleet at one journal entry: an immutable view that any number of threads may read while others write. Taking one
 * costs a reference.
 *
 * Sources, pools, slices and nodes are numbered from 0 in natural order of their names (nodes by worker id within their
 * slice). The numbers are good within one snapshot; across snapshots use names.
 *
 * Since: 0.1
 */
typedef struct _QuoitSnapshot QuoitSnapshot;

/**
 * QuoitNodeState:
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_NODE_ALIVE = 0,
  QUOIT_NODE_DRAINING = 1, /* what runs may go on; nothing new comes */
  QUOIT_NODE_DEAD = 2
} QuoitNodeState;

/**
 * QuoitAmountPart:
 *
 * Which amount of a resource of a node.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_AMOUNT_TOTAL = 0,   /* all that the node has */
  QUOIT_AMOUNT_LEFT = 1,    /* what neither groups nor external use have; a dead node has its total left */
  QUOIT_AMOUNT_EXTERNAL = 2 /* what external use has */
} QuoitAmountPart;

/**
 * QuoitSliceFlags:
 *
 * Conditions of a slice; any number of them may hold.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_SLICE_INTACT = 1,    /* every worker is there once, alive or draining, and nothing contradicts; else degraded */
  QUOIT_SLICE_IDLE = 2,      /* no node is used */
  QUOIT_SLICE_PARTLY = 4,    /* some nodes are used, or one is used in part */
  QUOIT_SLICE_FULL = 8,      /* every node is used whole */
  QUOIT_SLICE_HELD = 16,     /* a group has part of it */
  QUOIT_SLICE_DRAINING = 32, /* a node is draining */
  QUOIT_SLICE_FREE = 64      /* intact, idle, not draining: can be reserved now */
} QuoitSliceFlags;

/**
 * QuoitFault:
 *
 * Contradictions among the alive nodes of a slice.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_FAULT_WORKER_TWICE = 1,   /* two nodes with one worker id */
  QUOIT_FAULT_NO_WORKER_ID = 2,   /* a node that states none */
  QUOIT_FAULT_TOO_MANY_HOSTS = 4, /* a worker id that the topology has no host for */
  QUOIT_FAULT_CHIPS = 8,          /* chips that disagree with the others or with the topology */
  QUOIT_FAULT_TOPOLOGY = 16,      /* two topologies, or one that is not in the catalogue */
  QUOIT_FAULT_POD_TYPE = 32       /* two pod types, or one that is not the topology's */
} QuoitFault;

/**
 * quoit_snapshot_as_of:
 * @snapshot: the snapshot
 * @now_ms: the caller's clock, milliseconds since 1970-01-01 UTC
 * @error: (out) (optional): set on failure
 *
 * The fleet as a change at @now_ms would find it: what groups hold whose lease, or whose owner's lease, has ended is
 * free. Nothing is written. What decides (quoit_ledger_reserve() and the rest) does the same by itself; this is for
 * looking. Its sequence is that of @snapshot, plus 1 where something has ended.
 *
 * Fails with %QUOIT_ERROR_INVALID for a clock outside the years 2000 to 2199.
 *
 * Returns: (transfer full): the snapshot, @snapshot itself where nothing has ended; quoit_snapshot_unref() it
 * Since: 0.1
 */
QUOIT_API QuoitSnapshot *quoit_snapshot_as_of (QuoitSnapshot *snapshot, int64_t now_ms, GError **error);

/**
 * quoit_snapshot_ref:
 * @snapshot: the snapshot
 *
 * Returns: (transfer full): @snapshot with one more owner
 * Since: 0.1
 */
QUOIT_API QuoitSnapshot *quoit_snapshot_ref (QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_unref:
 * @snapshot: (nullable): the snapshot
 *
 * Since: 0.1
 */
QUOIT_API void quoit_snapshot_unref (QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_get_seq:
 * @snapshot: the snapshot
 *
 * Returns: the number of the last journal entry that it contains; 0: none
 * Since: 0.1
 */
QUOIT_API uint64_t quoit_snapshot_get_seq (const QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_get_epoch:
 * @snapshot: the snapshot
 *
 * Returns: how often the ledger had been restored from a backup (quoit_ledger_restore())
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_snapshot_get_epoch (const QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_get_layout_number:
 * @snapshot: the snapshot
 *
 * Returns a number that shows whether two snapshots use the same indices. Within one process, snapshots with the same
 * number have the same sources, pools, slices and nodes at the same indices; only their states can differ. A change of
 * the number does not mean that every index changed.
 *
 * Returns: the number, unique within this process
 * Since: 0.1
 */
QUOIT_API uint64_t quoit_snapshot_get_layout_number (const QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_get_clock_ms:
 * @snapshot: the snapshot
 *
 * Returns: the ledger's clock: the time of that entry, milliseconds since 1970-01-01 UTC; 0: none
 * Since: 0.1
 */
QUOIT_API int64_t quoit_snapshot_get_clock_ms (const QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_explain:
 * @snapshot: the snapshot
 * @request: what is wanted
 * @error: (out) (optional): set on failure
 *
 * Whether @request fits now, and why not: the decision that quoit_ledger_reserve() would make, without making it. Costs
 * a look at every slice, or node.
 *
 * Fails with %QUOIT_ERROR_INVALID when the request is not complete, not in the catalogue or says what does not go
 * together, %QUOIT_ERROR_NOT_FOUND when it names a pool, slice or node that is not there. A request that does not fit
 * is no failure: see quoit_report_get_verdict().
 *
 * Returns: (transfer full): the report; quoit_report_unref() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitReport *quoit_snapshot_explain (const QuoitSnapshot *snapshot, const QuoitRequest *request,
                                               GError **error);

/**
 * quoit_snapshot_explain_group:
 * @snapshot: the snapshot
 * @group: NAME or NAME@ID of a group with bundles that are not placed
 * @error: (out) (optional): set on failure
 *
 * Why its bundles that are not placed, or have lost their nodes, are not placed now: as quoit_snapshot_explain() of a
 * request for just these. The label selectors of a group that Ray made are unknown; an unknown strategy counts as PACK.
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND when there is no such group, and %QUOIT_ERROR_CONFLICT when all of it is placed.
 *
 * Returns: (transfer full): the report; quoit_report_unref() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitReport *quoit_snapshot_explain_group (const QuoitSnapshot *snapshot, const char *group, GError **error);

/**
 * quoit_snapshot_dup_json:
 * @snapshot: the snapshot
 *
 * Everything that the ledger knows, as one JSON document with "schema": "quoit/1": sources, pools, slices, nodes,
 * groups. Amounts are decimal text. Equal states give equal text.
 *
 * Returns: (transfer full): the document; g_free() it
 * Since: 0.1
 */
QUOIT_API char *quoit_snapshot_dup_json (const QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_check:
 * @snapshot: the snapshot
 * @error: (out) (optional): set on failure
 *
 * Counts everything again: summaries, indexes, who holds what. For tests and for the suspicious.
 *
 * Fails with %QUOIT_ERROR_FAILED, which is a bug of quoit; the message names the contradiction.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_snapshot_check (const QuoitSnapshot *snapshot, GError **error);

/**
 * quoit_snapshot_get_n_sources:
 * @snapshot: the snapshot
 *
 * Returns: the number of sources
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_snapshot_get_n_sources (const QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_get_source_name:
 * @snapshot: the snapshot
 * @source: below quoit_snapshot_get_n_sources()
 *
 * Returns: (transfer none): its name
 * Since: 0.1
 */
QUOIT_API const char *quoit_snapshot_get_source_name (const QuoitSnapshot *snapshot, uint32_t source);

/**
 * quoit_snapshot_get_source_kind:
 * @snapshot: the snapshot
 * @source: below quoit_snapshot_get_n_sources()
 *
 * Returns: what it was read from
 * Since: 0.1
 */
QUOIT_API QuoitSourceKind quoit_snapshot_get_source_kind (const QuoitSnapshot *snapshot, uint32_t source);

/**
 * quoit_snapshot_get_n_pools:
 * @snapshot: the snapshot
 *
 * Returns: the number of pools
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_snapshot_get_n_pools (const QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_get_pool_name:
 * @snapshot: the snapshot
 * @pool: below quoit_snapshot_get_n_pools()
 *
 * Returns: (transfer none): its name
 * Since: 0.1
 */
QUOIT_API const char *quoit_snapshot_get_pool_name (const QuoitSnapshot *snapshot, uint32_t pool);

/**
 * quoit_snapshot_get_pool_source:
 * @snapshot: the snapshot
 * @pool: below quoit_snapshot_get_n_pools()
 *
 * Returns: the number of its source
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_snapshot_get_pool_source (const QuoitSnapshot *snapshot, uint32_t pool);

/**
 * quoit_snapshot_get_pool_n_slices:
 * @snapshot: the snapshot
 * @pool: below quoit_snapshot_get_n_pools()
 *
 * Returns: how many slices it has
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_snapshot_get_pool_n_slices (const QuoitSnapshot *snapshot, uint32_t pool);

/**
 * quoit_snapshot_get_pool_n_nodes:
 * @snapshot: the snapshot
 * @pool: below quoit_snapshot_get_n_pools()
 *
 * Returns: how many nodes it has, dead ones included
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_snapshot_get_pool_n_nodes (const QuoitSnapshot *snapshot, uint32_t pool);

/**
 * quoit_snapshot_get_n_slices:
 * @snapshot: the snapshot
 *
 * Returns: the number of slices
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_snapshot_get_n_slices (const QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_lookup_slice:
 * @snapshot: the snapshot
 * @name: short or full name (source/pool/name)
 * @slice: (out): its number
 * @error: (out) (optional): set on failure
 *
 * Finds the slice of that name.
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND, or %QUOIT_ERROR_INVALID when the short name is ambiguous: the message has full
 * names.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_snapshot_lookup_slice (const QuoitSnapshot *snapshot, const char *name, uint32_t *slice,
                                            GError **error);

/**
 * quoit_snapshot_get_slice_name:
 * @snapshot: the snapshot
 * @slice: below quoit_snapshot_get_n_slices()
 *
 * Returns: (transfer none): its short name
 * Since: 0.1
 */
QUOIT_API const char *quoit_snapshot_get_slice_name (const QuoitSnapshot *snapshot, uint32_t slice);

/**
 * quoit_snapshot_dup_slice_full_name:
 * @snapshot: the snapshot
 * @slice: below quoit_snapshot_get_n_slices()
 *
 * Returns: (transfer full): source/pool/name; g_free() it
 * Since: 0.1
 */
QUOIT_API char *quoit_snapshot_dup_slice_full_name (const QuoitSnapshot *snapshot, uint32_t slice);

/**
 * quoit_snapshot_get_slice_pool:
 * @snapshot: the snapshot
 * @slice: below quoit_snapshot_get_n_slices()
 *
 * Returns: the number of its pool
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_snapshot_get_slice_pool (const QuoitSnapshot *snapshot, uint32_t slice);

/**
 * quoit_snapshot_get_slice_class:
 * @snapshot: the snapshot
 * @slice: below quoit_snapshot_get_n_slices()
 *
 * Returns: the slice's class, below quoit_snapshot_get_n_classes(); -1 if its nodes state no class of the catalogue
 * Since: 0.1
 */
QUOIT_API int64_t quoit_snapshot_get_slice_class (const QuoitSnapshot *snapshot, uint32_t slice);

/**
 * quoit_snapshot_get_slice_flags:
 * @snapshot: the snapshot
 * @slice: below quoit_snapshot_get_n_slices()
 *
 * Returns: its conditions, of #QuoitSliceFlags
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_snapshot_get_slice_flags (const QuoitSnapshot *snapshot, uint32_t slice);

/**
 * quoit_snapshot_get_slice_faults:
 * @snapshot: the snapshot
 * @slice: below quoit_snapshot_get_n_slices()
 *
 * Returns: contradictions among its alive nodes, of #QuoitFault
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_snapshot_get_slice_faults (const QuoitSnapshot *snapshot, uint32_t slice);

/**
 * quoit_snapshot_get_slice_n_missing:
 * @snapshot: the snapshot
 * @slice: below quoit_snapshot_get_n_slices()
 *
 * Returns: workers of its topology that no alive node is
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_snapshot_get_slice_n_missing (const QuoitSnapshot *snapshot, uint32_t slice);

/**
 * quoit_snapshot_dup_slice_problem:
 * @snapshot: the snapshot
 * @slice: below quoit_snapshot_get_n_slices()
 *
 * Returns: (transfer full): why it is degraded, in words; "" when it is intact; g_free() it
 * Since: 0.1
 */
QUOIT_API char *quoit_snapshot_dup_slice_problem (const QuoitSnapshot *snapshot, uint32_t slice);

/**
 * quoit_snapshot_get_slice_first_node:
 * @snapshot: the snapshot
 * @slice: below quoit_snapshot_get_n_slices()
 *
 * Returns: the number of its first node; the others follow
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_snapshot_get_slice_first_node (const QuoitSnapshot *snapshot, uint32_t slice);

/**
 * quoit_snapshot_get_slice_n_nodes:
 * @snapshot: the snapshot
 * @slice: below quoit_snapshot_get_n_slices()
 *
 * Returns: how many nodes it has, dead ones included
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_snapshot_get_slice_n_nodes (const QuoitSnapshot *snapshot, uint32_t slice);

/**
 * quoit_snapshot_get_n_nodes:
 * @snapshot: the snapshot
 *
 * Returns: the number of nodes, dead ones included
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_snapshot_get_n_nodes (const QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_lookup_node:
 * @snapshot: the snapshot
 * @name: short or full name (source/pool/name)
 * @node: (out): its number
 * @error: (out) (optional): set on failure
 *
 * Finds the node of that name.
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND, or %QUOIT_ERROR_INVALID when the short name is ambiguous: the message has full
 * names.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_snapshot_lookup_node (const QuoitSnapshot *snapshot, const char *name, uint32_t *node,
                                           GError **error);

/**
 * quoit_snapshot_get_node_id:
 * @snapshot: the snapshot
 * @node: below quoit_snapshot_get_n_nodes()
 *
 * Returns the durable id of a node. Unlike indices, ids stay the same in all snapshots of a ledger and are never used
 * again.
 *
 * Returns: the id, from 1
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_snapshot_get_node_id (const QuoitSnapshot *snapshot, uint32_t node);

/**
 * quoit_snapshot_find_node:
 * @snapshot: the snapshot
 * @node_id: a durable id
 *
 * Returns: the index of the node with that id; -1 if this snapshot has none
 * Since: 0.1
 */
QUOIT_API int64_t quoit_snapshot_find_node (const QuoitSnapshot *snapshot, uint32_t node_id);

/**
 * quoit_snapshot_get_node_name:
 * @snapshot: the snapshot
 * @node: below quoit_snapshot_get_n_nodes()
 *
 * Returns: (transfer none): its short name
 * Since: 0.1
 */
QUOIT_API const char *quoit_snapshot_get_node_name (const QuoitSnapshot *snapshot, uint32_t node);

/**
 * quoit_snapshot_dup_node_full_name:
 * @snapshot: the snapshot
 * @node: below quoit_snapshot_get_n_nodes()
 *
 * Returns: (transfer full): source/pool/name; g_free() it
 * Since: 0.1
 */
QUOIT_API char *quoit_snapshot_dup_node_full_name (const QuoitSnapshot *snapshot, uint32_t node);

/**
 * quoit_snapshot_get_node_source:
 * @snapshot: the snapshot
 * @node: below quoit_snapshot_get_n_nodes()
 * @claim: from 0 on
 *
 * The sources that claim the node: the first is the source of its pool, the others are joined with it
 * (see quoit_input_set_join()).
 *
 * Returns: (transfer none) (nullable): the source's name; %NULL behind the last
 * Since: 0.1
 */
QUOIT_API const char *quoit_snapshot_get_node_source (const QuoitSnapshot *snapshot, uint32_t node, uint32_t claim);

/**
 * quoit_snapshot_dup_node_identity:
 * @snapshot: the snapshot
 * @node: below quoit_snapshot_get_n_nodes()
 *
 * Returns: (transfer full): its Ray node id, or its name where the source gives no id; g_free() it
 * Since: 0.1
 */
QUOIT_API char *quoit_snapshot_dup_node_identity (const QuoitSnapshot *snapshot, uint32_t node);

/**
 * quoit_snapshot_get_node_address:
 * @snapshot: the snapshot
 * @node: below quoit_snapshot_get_n_nodes()
 *
 * Returns: (transfer none) (nullable): its address; %NULL where its source knows none
 * Since: 0.1
 */
QUOIT_API const char *quoit_snapshot_get_node_address (const QuoitSnapshot *snapshot, uint32_t node);

/**
 * quoit_snapshot_get_node_state:
 * @snapshot: the snapshot
 * @node: below quoit_snapshot_get_n_nodes()
 *
 * Returns: its state
 * Since: 0.1
 */
QUOIT_API QuoitNodeState quoit_snapshot_get_node_state (const QuoitSnapshot *snapshot, uint32_t node);

/**
 * quoit_snapshot_get_node_pool:
 * @snapshot: the snapshot
 * @node: below quoit_snapshot_get_n_nodes()
 *
 * Returns: the number of its pool
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_snapshot_get_node_pool (const QuoitSnapshot *snapshot, uint32_t node);

/**
 * quoit_snapshot_get_node_slice:
 * @snapshot: the snapshot
 * @node: below quoit_snapshot_get_n_nodes()
 *
 * Returns: the number of its slice; -1: it is in none
 * Since: 0.1
 */
QUOIT_API int64_t quoit_snapshot_get_node_slice (const QuoitSnapshot *snapshot, uint32_t node);

/**
 * quoit_snapshot_get_node_worker_id:
 * @snapshot: the snapshot
 * @node: below quoit_snapshot_get_n_nodes()
 *
 * Returns: its worker id in the slice; -1: not stated
 * Since: 0.1
 */
QUOIT_API int32_t quoit_snapshot_get_node_worker_id (const QuoitSnapshot *snapshot, uint32_t node);

/**
 * quoit_snapshot_get_node_chips:
 * @snapshot: the snapshot
 * @node: below quoit_snapshot_get_n_nodes()
 *
 * Returns: its TPU chips
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_snapshot_get_node_chips (const QuoitSnapshot *snapshot, uint32_t node);

/**
 * quoit_snapshot_is_node_external:
 * @snapshot: the snapshot
 * @node: below quoit_snapshot_get_n_nodes()
 *
 * Returns: whether something that is no group uses all of it
 * Since: 0.1
 */
QUOIT_API bool quoit_snapshot_is_node_external (const QuoitSnapshot *snapshot, uint32_t node);

/**
 * quoit_snapshot_get_node_n_users:
 * @snapshot: the snapshot
 * @node: below quoit_snapshot_get_n_nodes()
 *
 * Returns: how many groups have it or part of it
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_snapshot_get_node_n_users (const QuoitSnapshot *snapshot, uint32_t node);

/**
 * quoit_snapshot_dup_node_user_share:
 * @snapshot: the snapshot
 * @node: below quoit_snapshot_get_n_nodes()
 * @user: below quoit_snapshot_get_node_n_users()
 *
 * What the bundles of that user have of the node, in words: "chips 0,1: CPU 1, TPU 2 + chip 3: TPU 1". It is to be
 * freed with g_free().
 *
 * Returns: (transfer full) (nullable): the words; %NULL when the group has the node whole
 * Since: 0.1
 */
QUOIT_API char *quoit_snapshot_dup_node_user_share (const QuoitSnapshot *snapshot, uint32_t node, uint32_t user);

/**
 * quoit_snapshot_get_node_user_id:
 * @snapshot: the snapshot
 * @node: below quoit_snapshot_get_n_nodes()
 * @user: below quoit_snapshot_get_node_n_users()
 *
 * Costs the same for a group of any size, which quoit_snapshot_dup_node_user() does not.
 *
 * Returns: the id of that group
 * Since: 0.1
 */
QUOIT_API uint64_t quoit_snapshot_get_node_user_id (const QuoitSnapshot *snapshot, uint32_t node, uint32_t user);

/**
 * quoit_snapshot_get_node_user_chips:
 * @snapshot: the snapshot
 * @node: below quoit_snapshot_get_n_nodes()
 * @user: below quoit_snapshot_get_node_n_users()
 *
 * Which chips of the node the bundles of that user have, wholly or in part; all when the group has the node whole. For
 * an imported group, Ray decides how many; quoit chooses which ones.
 *
 * Returns: the chips: bit 0 is chip 0
 * Since: 0.1
 */
QUOIT_API uint64_t quoit_snapshot_get_node_user_chips (const QuoitSnapshot *snapshot, uint32_t node, uint32_t user);

/**
 * quoit_snapshot_get_node_external_chips:
 * @snapshot: the snapshot
 * @node: below quoit_snapshot_get_n_nodes()
 *
 * Which chips of the node something has that is no group, wholly or in part. Ray says how many, and which ones is
 * quoit's choice.
 *
 * Returns: the chips: bit 0 is chip 0
 * Since: 0.1
 */
QUOIT_API uint64_t quoit_snapshot_get_node_external_chips (const QuoitSnapshot *snapshot, uint32_t node);

/**
 * quoit_snapshot_dup_node_label:
 * @snapshot: the snapshot
 * @node: below quoit_snapshot_get_n_nodes()
 * @key: a label key
 *
 * Returns: (transfer full) (nullable): the label's value, %NULL where it has none; g_free() it
 * Since: 0.1
 */
QUOIT_API char *quoit_snapshot_dup_node_label (const QuoitSnapshot *snapshot, uint32_t node, const char *key);

/**
 * quoit_snapshot_get_node_n_resources:
 * @snapshot: the snapshot
 * @node: below quoit_snapshot_get_n_nodes()
 *
 * Those that it states, and those that Ray derives: its slice's name, and on worker 0 the head ("TPU-v6e-16-head").
 *
 * Returns: how many resources it has
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_snapshot_get_node_n_resources (const QuoitSnapshot *snapshot, uint32_t node);

/**
 * quoit_snapshot_get_node_resource_name:
 * @snapshot: the snapshot
 * @node: below quoit_snapshot_get_n_nodes()
 * @resource: below quoit_snapshot_get_node_n_resources()
 *
 * Returns: (transfer none): the resource's name
 * Since: 0.1
 */
QUOIT_API const char *quoit_snapshot_get_node_resource_name (const QuoitSnapshot *snapshot, uint32_t node,
                                                             uint32_t resource);

/**
 * quoit_snapshot_get_node_amount:
 * @snapshot: the snapshot
 * @node: below quoit_snapshot_get_n_nodes()
 * @resource: below quoit_snapshot_get_node_n_resources()
 * @part: which amount
 *
 * Returns: what the node has of the resource in all, what is left of it for groups, or what external use has of it
 * Since: 0.1
 */
QUOIT_API QuoitAmount quoit_snapshot_get_node_amount (const QuoitSnapshot *snapshot, uint32_t node, uint32_t resource,
                                                      QuoitAmountPart part);

/**
 * quoit_snapshot_get_n_resources:
 * @snapshot: the snapshot
 *
 * Sums over the nodes that are not dead, those that Ray derives included: accelerator heads ("TPU-v6e-16-head");
 * but not a resource for each slice's name.
 *
 * Returns: how many different resources there are
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_snapshot_get_n_resources (const QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_get_resource_name:
 * @snapshot: the snapshot
 * @resource: below quoit_snapshot_get_n_resources()
 *
 * Returns: (transfer none): its name; sorted as text
 * Since: 0.1
 */
QUOIT_API const char *quoit_snapshot_get_resource_name (const QuoitSnapshot *snapshot, uint32_t resource);

/**
 * quoit_snapshot_dup_resource_sum:
 * @snapshot: the snapshot
 * @resource: below quoit_snapshot_get_n_resources()
 * @part: %QUOIT_AMOUNT_TOTAL or %QUOIT_AMOUNT_LEFT
 *
 * Returns: (transfer full): the sum over the nodes as decimal text, exact, because it can exceed a #QuoitAmount;
 *   g_free() it
 * Since: 0.1
 */
QUOIT_API char *quoit_snapshot_dup_resource_sum (const QuoitSnapshot *snapshot, uint32_t resource,
                                                 QuoitAmountPart part);

/**
 * quoit_snapshot_get_n_classes:
 * @snapshot: the snapshot
 *
 * A class is all slices of one generation, topology and number of chips a host.
 *
 * Returns: the number of classes
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_snapshot_get_n_classes (const QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_get_class_accelerator:
 * @snapshot: the snapshot
 * @class_index: below quoit_snapshot_get_n_classes()
 *
 * Returns: (transfer none): its generation by Ray's name
 * Since: 0.1
 */
QUOIT_API const char *quoit_snapshot_get_class_accelerator (const QuoitSnapshot *snapshot, uint32_t class_index);

/**
 * quoit_snapshot_dup_class_topology:
 * @snapshot: the snapshot
 * @class_index: below quoit_snapshot_get_n_classes()
 *
 * Returns: (transfer full): its topology; g_free() it
 * Since: 0.1
 */
QUOIT_API char *quoit_snapshot_dup_class_topology (const QuoitSnapshot *snapshot, uint32_t class_index);

/**
 * quoit_snapshot_get_class_chips_per_host:
 * @snapshot: the snapshot
 * @class_index: below quoit_snapshot_get_n_classes()
 *
 * Returns: chips of each host
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_snapshot_get_class_chips_per_host (const QuoitSnapshot *snapshot, uint32_t class_index);

/**
 * quoit_snapshot_get_class_n_hosts:
 * @snapshot: the snapshot
 * @class_index: below quoit_snapshot_get_n_classes()
 *
 * Returns: hosts of each slice
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_snapshot_get_class_n_hosts (const QuoitSnapshot *snapshot, uint32_t class_index);

/**
 * quoit_snapshot_count_class:
 * @snapshot: the snapshot
 * @class_index: below quoit_snapshot_get_n_classes()
 * @flag: one condition
 *
 * From counters that every change keeps up: the cost does not depend on the fleet.
 *
 * Returns: how many of its slices have @flag
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_snapshot_count_class (const QuoitSnapshot *snapshot, uint32_t class_index,
                                               QuoitSliceFlags flag);

/**
 * quoit_snapshot_get_n_groups:
 * @snapshot: the snapshot
 *
 * Returns: how many groups are kept: live ones, and removed ones that a request key names
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_snapshot_get_n_groups (const QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_dup_group:
 * @snapshot: the snapshot
 * @group: below quoit_snapshot_get_n_groups(); in the order of ids
 *
 * Returns: (transfer full): the group; quoit_group_unref() it
 * Since: 0.1
 */
QUOIT_API QuoitGroup *quoit_snapshot_dup_group (const QuoitSnapshot *snapshot, uint32_t group);

/**
 * quoit_snapshot_lookup_group:
 * @snapshot: the snapshot
 * @name: NAME or NAME@ID
 * @error: (out) (optional): set on failure
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND if no live group has the name; %QUOIT_ERROR_CONFLICT if the id is not that of the
 * live group; %QUOIT_ERROR_INVALID for malformed text.
 *
 * Returns: (transfer full): the group; quoit_group_unref() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitGroup *quoit_snapshot_lookup_group (const QuoitSnapshot *snapshot, const char *name, GError **error);

/**
 * quoit_snapshot_lookup_group_by_id:
 * @snapshot: the snapshot
 * @id: a group id
 * @error: (out) (optional): set on failure
 *
 * Also finds an ended group while its record is kept (state %QUOIT_GROUP_REMOVED).
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND if no live or recorded group has the id.
 *
 * Returns: (transfer full): the group; quoit_group_unref() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitGroup *quoit_snapshot_lookup_group_by_id (const QuoitSnapshot *snapshot, uint64_t id, GError **error);

/**
 * quoit_snapshot_lookup_group_by_key:
 * @snapshot: the snapshot
 * @key: a request key
 * @error: (out) (optional): set on failure
 *
 * Finds the group of a request key, also after its end (state %QUOIT_GROUP_REMOVED) until quoit_ledger_forget().
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND if no live or recorded group has the key.
 *
 * Returns: (transfer full): the group; quoit_group_unref() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitGroup *quoit_snapshot_lookup_group_by_key (const QuoitSnapshot *snapshot, const char *key,
                                                          GError **error);

/**
 * quoit_snapshot_get_n_owners:
 * @snapshot: the snapshot
 *
 * Returns: how many owners are set
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_snapshot_get_n_owners (const QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_get_owner_name:
 * @snapshot: the snapshot
 * @owner: below quoit_snapshot_get_n_owners(); in the order in which they were set
 *
 * Returns: (transfer none): the name
 * Since: 0.1
 */
QUOIT_API const char *quoit_snapshot_get_owner_name (const QuoitSnapshot *snapshot, uint32_t owner);

/**
 * quoit_snapshot_get_owner_since_ms:
 * @snapshot: the snapshot
 * @owner: below quoit_snapshot_get_n_owners()
 *
 * Returns: when it was set, milliseconds since 1970-01-01 UTC
 * Since: 0.1
 */
QUOIT_API int64_t quoit_snapshot_get_owner_since_ms (const QuoitSnapshot *snapshot, uint32_t owner);

/**
 * quoit_snapshot_get_owner_until_ms:
 * @snapshot: the snapshot
 * @owner: below quoit_snapshot_get_n_owners()
 *
 * Returns: when its lease ends, milliseconds since 1970-01-01 UTC; 0: it has none
 * Since: 0.1
 */
QUOIT_API int64_t quoit_snapshot_get_owner_until_ms (const QuoitSnapshot *snapshot, uint32_t owner);

/**
 * quoit_snapshot_count_owner_groups:
 * @snapshot: the snapshot
 * @owner: the name of an owner, which need not be set
 *
 * Returns: the number of live groups of the owner
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_snapshot_count_owner_groups (const QuoitSnapshot *snapshot, const char *owner);

/**
 * quoit_snapshot_dup_owner_group:
 * @snapshot: the snapshot
 * @owner: the name of an owner, which need not be set
 * @group: below quoit_snapshot_count_owner_groups(); in the order of ids
 *
 * Returns: (transfer full): the group; quoit_group_unref() it
 * Since: 0.1
 */
QUOIT_API QuoitGroup *quoit_snapshot_dup_owner_group (const QuoitSnapshot *snapshot, const char *owner, uint32_t group);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitSnapshot, quoit_snapshot_unref)

G_END_DECLS

#endif

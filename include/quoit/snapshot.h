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
 * An immutable view of the ledger at one journal entry. Any number of threads can read it while others change the
 * ledger. Taking a snapshot costs one reference.
 *
 * Sources, pools, slices, nodes, resources, classes, groups and owners have indices from 0. Sources, pools and slices
 * are in natural order of their names, and the nodes of a slice by worker id. Indices are valid in one snapshot. Across
 * snapshots, use names, or the ids of nodes and groups.
 */
typedef struct _QuoitSnapshot QuoitSnapshot;

/**
 * QuoitAmountPart:
 *
 * The total of a resource, or the part of it in one state. Each unit of a resource is in exactly one of the seven
 * states, so that the seven parts add up to the total, on one node and over all nodes. The total therefore includes
 * dead nodes.
 */
typedef enum {
  QUOIT_AMOUNT_TOTAL = 0,
  QUOIT_AMOUNT_AVAILABLE = 1, /* unused, on an alive node */
  QUOIT_AMOUNT_DRAINING = 2,  /* unused, on a draining node */
  QUOIT_AMOUNT_HELD = 3,      /* allocated to a group that is not confirmed */
  QUOIT_AMOUNT_RESERVED = 4,  /* allocated to a confirmed group, or to a group of a source */
  QUOIT_AMOUNT_EXTERNAL = 5,  /* in external use */
  QUOIT_AMOUNT_DOWN = 6,      /* on a dead node, and not allocated */
  QUOIT_AMOUNT_LOST = 7       /* on a dead node, and allocated to a group */
} QuoitAmountPart;

/**
 * QuoitSliceFlags:
 *
 * Conditions of a slice, as bits. Several can be true.
 */
typedef enum {
  QUOIT_SLICE_INTACT = 1,     /* every worker exists once, alive or draining, and there is no fault; else degraded */
  QUOIT_SLICE_IDLE = 2,       /* no node is used */
  QUOIT_SLICE_PARTLY = 4,     /* some nodes are used, or one is used in part */
  QUOIT_SLICE_FULL = 8,       /* every node is used whole */
  QUOIT_SLICE_ALLOCATED = 16, /* a part or all of it is allocated to a group, confirmed or not */
  QUOIT_SLICE_DRAINING = 32,  /* a node is draining */
  QUOIT_SLICE_FREE = 64       /* intact, idle, not draining: can be reserved now */
} QuoitSliceFlags;

/**
 * QuoitFault:
 *
 * Contradictions among the alive nodes of a slice, as bits.
 */
typedef enum {
  QUOIT_FAULT_DUPLICATE_WORKER_ID = 1, /* two nodes have the same worker id */
  QUOIT_FAULT_NO_WORKER_ID = 2,        /* a node has none */
  QUOIT_FAULT_TOO_MANY_HOSTS = 4,      /* a worker id is too large for the topology */
  QUOIT_FAULT_CHIPS = 8,               /* the nodes have different numbers of chips, or a wrong one for the topology */
  QUOIT_FAULT_TOPOLOGY = 16,           /* the nodes have different topologies, or one that is not in the catalogue */
  QUOIT_FAULT_POD_TYPE = 32            /* the nodes have different pod types, or a wrong one for the topology */
} QuoitFault;

/**
 * quoit_snapshot_as_of:
 * @now_ms: the caller's clock
 *
 * Returns the ledger as a change at @now_ms would find it: groups whose lease, or whose owner's lease, has ended are
 * removed, and their slices are free; reservations ahead have begun if their time has come; windows have ended.
 * quoit_snapshot_test() and quoit_snapshot_explain() decide for this time. Nothing is written. Use it to display a
 * snapshot; quoit_ledger_reserve() and the other changes do the same themselves.
 *
 * Fails with %QUOIT_ERROR_INVALID for a clock outside the years 2000 to 2199.
 *
 * Returns: (transfer full): the snapshot; quoit_snapshot_unref() it. It is @snapshot itself if no lease has ended
 *   and nothing lies ahead. For each entry that a change would write first, its sequence number is one more
 */
QUOIT_API QuoitSnapshot *quoit_snapshot_as_of (QuoitSnapshot *snapshot, int64_t now_ms, GError **error);

/**
 * quoit_snapshot_ref:
 *
 * Returns: (transfer full): @snapshot with one more owner
 */
QUOIT_API QuoitSnapshot *quoit_snapshot_ref (QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_unref:
 * @snapshot: (nullable): the snapshot
 */
QUOIT_API void quoit_snapshot_unref (QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_get_seq:
 *
 * Returns: the sequence number of the last entry that the snapshot contains; 0: none
 */
QUOIT_API uint64_t quoit_snapshot_get_seq (const QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_get_epoch:
 *
 * Returns: how often quoit_ledger_restore() has restored the ledger
 */
QUOIT_API uint32_t quoit_snapshot_get_epoch (const QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_get_layout_number:
 *
 * Returns a number that shows whether two snapshots use the same indices. Within one process, snapshots with the same
 * number have the same sources, pools, slices and nodes at the same indices; only their states can differ. A change of
 * the number does not mean that every index changed.
 *
 * Returns: the number, unique within this process
 */
QUOIT_API uint64_t quoit_snapshot_get_layout_number (const QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_get_clock_ms:
 *
 * Returns: the ledger's clock: the time of the last entry; 0: none
 */
QUOIT_API int64_t quoit_snapshot_get_clock_ms (const QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_get_keep_ms:
 *
 * Returns: how long the ledger keeps journal entries and records of ended groups, as quoit_ledger_set_keep() has set
 * it; 0: the default
 *
 * Since: 0.1
 */
QUOIT_API int64_t quoit_snapshot_get_keep_ms (const QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_test:
 * @request: a request for slices
 * @verdict: (out) (optional): whether the request fits now
 * @n_free: (out) (optional): how many slices that the request accepts are free now, which may be more than it
 * requests; if it is kept to one domain or spread, how many of them it could get together
 *
 * Decides like quoit_ledger_reserve() at the time of the snapshot (quoit_snapshot_as_of(), or else that of its last
 * entry), without a report. The cost does not depend on the size of the fleet if the request has no pool, zone,
 * selector, name of a slice or node, domain to keep to, or spread. Such a call allocates no memory. With a pool, zone,
 * selector, names, a domain to keep to or a spread, only the first calls with them do, because the slices that they
 * select and their domains are remembered, for the last 32 different sets of these constraints. Memory is needed in
 * each call with a domain to keep to or a spread in a fleet of more than 1,024 pools, with a selector that matches only
 * some hosts of a slice, with a group to be near to, and if something ahead begins before the lease of the request
 * ends. A request that does not fit is not a failure. With alternatives, both results are those of the alternative that
 * quoit_snapshot_explain() reports on.
 *
 * Fails with:
 *
 * - %QUOIT_ERROR_INVALID: the request, or an alternative, has bundles, is incomplete or not in the catalogue.
 * - %QUOIT_ERROR_NOT_FOUND: the request names an unknown pool or slice.
 *
 * Returns: false on failure
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_snapshot_test (const QuoitSnapshot *snapshot, const QuoitRequest *request, QuoitVerdict *verdict,
                                    uint32_t *n_free, GError **error);

/**
 * quoit_snapshot_explain:
 * @request: the request; not kept
 *
 * Decides whether @request fits now, and why not, like quoit_ledger_reserve() at the time of the snapshot
 * (quoit_snapshot_as_of(), or else that of its last entry), but without a change. What is promised to a reservation
 * ahead, and the nodes of a window, count as allocated if the request has no lease that ends before. A request
 * for slices without pool, zone, selectors and names is decided from counters; the options of its report are found when
 * they are first read, which visits every slice. A request for bundles visits every node.
 *
 * Fails with %QUOIT_ERROR_INVALID if the request is incomplete, contradictory or not in the catalogue, and
 * %QUOIT_ERROR_NOT_FOUND if it names an unknown pool, slice or node. A request that does not fit is not a failure: see
 * quoit_report_get_verdict().
 *
 * Returns: (transfer full): the report; quoit_report_unref() it
 */
QUOIT_API QuoitReport *quoit_snapshot_explain (const QuoitSnapshot *snapshot, const QuoitRequest *request,
                                               GError **error);

/**
 * quoit_snapshot_explain_group:
 * @group: NAME or NAME@ID of a group that has lost slices or nodes, or has bundles that are not placed
 *
 * For a group of slices of this ledger, decides whether quoit_ledger_repair() would succeed now. The numbers of the
 * report count the slices that the group keeps as well, and quotas do not matter, because the group has had as many.
 *
 * For a group of bundles, decides whether those that are not placed, or whose nodes are lost, could be placed now, like
 * quoit_snapshot_explain() for a request of only these bundles. For an imported group, the label selectors are unknown
 * and ignored, and an unknown strategy counts as PACK.
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND if there is no such group, and %QUOIT_ERROR_CONFLICT if it has all of its slices or
 * bundles, or is reserved ahead and has not begun. Also fails like quoit_ledger_repair().
 *
 * Returns: (transfer full): the report; quoit_report_unref() it
 */
QUOIT_API QuoitReport *quoit_snapshot_explain_group (const QuoitSnapshot *snapshot, const char *group, GError **error);

/**
 * quoit_snapshot_dup_hold_and_wait:
 * @group: NAME or NAME@ID of a group
 *
 * Describes a deadlock of Ray's callers. They reserve the heads of their slices one after the other, so two of them can
 * each have a head and wait for another one. The sentence names @group, the head's resource for which it waits, and the
 * groups that have nothing but a head of that type, with their slices. quoit does not know which caller made a group.
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND if there is no such group.
 *
 * Returns: (transfer full): the sentence; "" if the group is placed, or waits for something else, or if no group has
 * only a head; g_free() it
 *
 * Since: 0.1
 */
QUOIT_API char *quoit_snapshot_dup_hold_and_wait (const QuoitSnapshot *snapshot, const char *group, GError **error);

/**
 * quoit_snapshot_dup_json:
 *
 * Returns everything in the snapshot as one JSON document with "schema": "quoit/1": sources, pools, slices, nodes,
 * groups, windows of the calendar and quotas. Amounts are decimal text. Equal states give equal text.
 *
 * Returns: (transfer full): the document; g_free() it
 */
QUOIT_API char *quoit_snapshot_dup_json (const QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_dup_fleet_text:
 *
 * Returns the slices and groups as fleet text, for quoit_input_new(). Importing it into an empty ledger makes slices of
 * the same classes, with the same numbers of free, draining and degraded ones. Pools keep their names, and get that of
 * their source before it if several have one name; slices are numbered. Groups of whole, intact slices keep their
 * names, slices, owners, priorities, labels and ends. What fleet text cannot state is left out: nodes outside of slices
 * and slices that are not in the catalogue, reservations ahead, windows and quotas, and labels with blanks. The nodes
 * of other groups, such as those of bundles, are busy.
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND if there is no slice to write.
 *
 * Returns: (transfer full): the text; g_free() it
 *
 * Since: 0.1
 */
QUOIT_API char *quoit_snapshot_dup_fleet_text (const QuoitSnapshot *snapshot, GError **error);

/**
 * quoit_snapshot_check:
 *
 * Recomputes all counters and indexes from the nodes and groups, and compares them. Use it in tests.
 *
 * Fails with %QUOIT_ERROR_FAILED if they differ, which is a bug of quoit; the message names the first difference.
 */
QUOIT_API bool quoit_snapshot_check (const QuoitSnapshot *snapshot, GError **error);

/**
 * quoit_snapshot_get_n_sources:
 *
 * Returns: the number of sources
 */
QUOIT_API uint32_t quoit_snapshot_get_n_sources (const QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_get_source_name:
 * @source: below quoit_snapshot_get_n_sources()
 *
 * Returns: (transfer none): the name
 */
QUOIT_API const char *quoit_snapshot_get_source_name (const QuoitSnapshot *snapshot, uint32_t source);

/**
 * quoit_snapshot_get_source_kind:
 * @source: below quoit_snapshot_get_n_sources()
 *
 * Returns: the kind of input that describes the source
 */
QUOIT_API QuoitSourceKind quoit_snapshot_get_source_kind (const QuoitSnapshot *snapshot, uint32_t source);

/**
 * quoit_snapshot_get_n_pools:
 *
 * Returns: the number of pools
 */
QUOIT_API uint32_t quoit_snapshot_get_n_pools (const QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_get_pool_name:
 * @pool: below quoit_snapshot_get_n_pools()
 *
 * Returns: (transfer none): the name
 */
QUOIT_API const char *quoit_snapshot_get_pool_name (const QuoitSnapshot *snapshot, uint32_t pool);

/**
 * quoit_snapshot_get_pool_source:
 * @pool: below quoit_snapshot_get_n_pools()
 *
 * Returns: the index of its source
 */
QUOIT_API uint32_t quoit_snapshot_get_pool_source (const QuoitSnapshot *snapshot, uint32_t pool);

/**
 * quoit_snapshot_get_pool_n_slices:
 * @pool: below quoit_snapshot_get_n_pools()
 *
 * Returns: the number of its slices
 */
QUOIT_API uint32_t quoit_snapshot_get_pool_n_slices (const QuoitSnapshot *snapshot, uint32_t pool);

/**
 * quoit_snapshot_get_pool_n_nodes:
 * @pool: below quoit_snapshot_get_n_pools()
 *
 * Returns: the number of its nodes, including dead ones
 */
QUOIT_API uint32_t quoit_snapshot_get_pool_n_nodes (const QuoitSnapshot *snapshot, uint32_t pool);

/**
 * quoit_snapshot_get_n_slices:
 *
 * Returns: the number of slices
 */
QUOIT_API uint32_t quoit_snapshot_get_n_slices (const QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_lookup_slice:
 * @name: short or full name (source/pool/name)
 * @slice: (out): the index of the slice
 *
 * Finds the slice with that name.
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND if there is no such slice, and %QUOIT_ERROR_INVALID if several have that short
 * name; the message lists the full names.
 *
 * Returns: true if @slice was set
 */
QUOIT_API bool quoit_snapshot_lookup_slice (const QuoitSnapshot *snapshot, const char *name, uint32_t *slice,
                                            GError **error);

/**
 * quoit_snapshot_get_slice_name:
 * @slice: below quoit_snapshot_get_n_slices()
 *
 * Returns: (transfer none): the short name
 */
QUOIT_API const char *quoit_snapshot_get_slice_name (const QuoitSnapshot *snapshot, uint32_t slice);

/**
 * quoit_snapshot_dup_slice_full_name:
 * @slice: below quoit_snapshot_get_n_slices()
 *
 * Returns: (transfer full): source/pool/name; g_free() it
 */
QUOIT_API char *quoit_snapshot_dup_slice_full_name (const QuoitSnapshot *snapshot, uint32_t slice);

/**
 * quoit_snapshot_get_slice_pool:
 * @slice: below quoit_snapshot_get_n_slices()
 *
 * Returns: the index of its pool
 */
QUOIT_API uint32_t quoit_snapshot_get_slice_pool (const QuoitSnapshot *snapshot, uint32_t slice);

/**
 * quoit_snapshot_get_slice_class:
 * @slice: below quoit_snapshot_get_n_slices()
 *
 * Returns: the index of its class; -1 if its nodes match no class of the catalogue
 */
QUOIT_API int64_t quoit_snapshot_get_slice_class (const QuoitSnapshot *snapshot, uint32_t slice);

/**
 * quoit_snapshot_get_slice_flags:
 * @slice: below quoit_snapshot_get_n_slices()
 *
 * Returns: a set of #QuoitSliceFlags
 */
QUOIT_API uint32_t quoit_snapshot_get_slice_flags (const QuoitSnapshot *snapshot, uint32_t slice);

/**
 * quoit_snapshot_get_slice_faults:
 * @slice: below quoit_snapshot_get_n_slices()
 *
 * Returns: a set of #QuoitFault
 */
QUOIT_API uint32_t quoit_snapshot_get_slice_faults (const QuoitSnapshot *snapshot, uint32_t slice);

/**
 * quoit_snapshot_get_slice_n_missing:
 * @slice: below quoit_snapshot_get_n_slices()
 *
 * Returns: the number of workers of its topology for which there is no alive node
 */
QUOIT_API uint32_t quoit_snapshot_get_slice_n_missing (const QuoitSnapshot *snapshot, uint32_t slice);

/**
 * quoit_snapshot_dup_slice_problem:
 * @slice: below quoit_snapshot_get_n_slices()
 *
 * Names the dead nodes whose worker no other node serves, the workers without a node, and what the nodes contradict.
 *
 * Returns: (transfer full): why the slice is degraded, in words, such as "node tpu-0-2 is dead; worker 3 is missing";
 * "" if it is intact; g_free() it
 */
QUOIT_API char *quoit_snapshot_dup_slice_problem (const QuoitSnapshot *snapshot, uint32_t slice);

/**
 * quoit_snapshot_get_slice_first_node:
 * @slice: below quoit_snapshot_get_n_slices()
 *
 * Returns: the index of its first node; its other nodes have the next indices
 */
QUOIT_API uint32_t quoit_snapshot_get_slice_first_node (const QuoitSnapshot *snapshot, uint32_t slice);

/**
 * quoit_snapshot_get_slice_n_nodes:
 * @slice: below quoit_snapshot_get_n_slices()
 *
 * Returns: the number of its nodes, including dead ones
 */
QUOIT_API uint32_t quoit_snapshot_get_slice_n_nodes (const QuoitSnapshot *snapshot, uint32_t slice);

/**
 * quoit_snapshot_get_n_nodes:
 *
 * Returns: the number of nodes, including dead ones
 */
QUOIT_API uint32_t quoit_snapshot_get_n_nodes (const QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_lookup_node:
 * @name: short or full name (source/pool/name)
 * @node: (out): the index of the node
 *
 * Finds the node with that name.
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND if there is no such node, and %QUOIT_ERROR_INVALID if several have that short name;
 * the message lists the full names.
 *
 * Returns: true if @node was set
 */
QUOIT_API bool quoit_snapshot_lookup_node (const QuoitSnapshot *snapshot, const char *name, uint32_t *node,
                                           GError **error);

/**
 * quoit_snapshot_get_node_id:
 * @node: below quoit_snapshot_get_n_nodes()
 *
 * Returns the durable id of a node. Unlike indices, ids are the same in all snapshots of a ledger, and are never used
 * again.
 *
 * Returns: the id, from 1
 */
QUOIT_API uint32_t quoit_snapshot_get_node_id (const QuoitSnapshot *snapshot, uint32_t node);

/**
 * quoit_snapshot_find_node:
 * @node_id: a durable id
 *
 * Returns: the index of the node with that id; -1 if this snapshot has none
 */
QUOIT_API int64_t quoit_snapshot_find_node (const QuoitSnapshot *snapshot, uint32_t node_id);

/**
 * quoit_snapshot_get_node_name:
 * @node: below quoit_snapshot_get_n_nodes()
 *
 * Returns: (transfer none): the short name
 */
QUOIT_API const char *quoit_snapshot_get_node_name (const QuoitSnapshot *snapshot, uint32_t node);

/**
 * quoit_snapshot_dup_node_full_name:
 * @node: below quoit_snapshot_get_n_nodes()
 *
 * Returns: (transfer full): source/pool/name; g_free() it
 */
QUOIT_API char *quoit_snapshot_dup_node_full_name (const QuoitSnapshot *snapshot, uint32_t node);

/**
 * quoit_snapshot_get_node_source:
 * @node: below quoit_snapshot_get_n_nodes()
 * @claim: index of a claim, from 0
 *
 * Returns a source that claims the node. The first claim is that of the source of its pool; the other sources are
 * joined with it (quoit_input_set_join()).
 *
 * Returns: (transfer none) (nullable): the source's name; %NULL after the last claim
 */
QUOIT_API const char *quoit_snapshot_get_node_source (const QuoitSnapshot *snapshot, uint32_t node, uint32_t claim);

/**
 * quoit_snapshot_dup_node_identity:
 * @node: below quoit_snapshot_get_n_nodes()
 *
 * Returns: (transfer full): the Ray node id, or the name if the source has no ids; g_free() it
 */
QUOIT_API char *quoit_snapshot_dup_node_identity (const QuoitSnapshot *snapshot, uint32_t node);

/**
 * quoit_snapshot_get_node_address:
 * @node: below quoit_snapshot_get_n_nodes()
 *
 * Returns: (transfer none) (nullable): the address; %NULL if it is unknown
 */
QUOIT_API const char *quoit_snapshot_get_node_address (const QuoitSnapshot *snapshot, uint32_t node);

/**
 * quoit_snapshot_get_node_state:
 * @node: below quoit_snapshot_get_n_nodes()
 *
 * Returns: the state
 */
QUOIT_API QuoitNodeState quoit_snapshot_get_node_state (const QuoitSnapshot *snapshot, uint32_t node);

/**
 * quoit_snapshot_get_node_reason:
 * @node: below quoit_snapshot_get_n_nodes()
 *
 * Returns why the source of the node reports this state: for Kubernetes "NotReady", "does not report", "gives pods
 * fewer chips than it has", "being deleted", "unschedulable" or "a taint announces its removal"; for a node that its
 * source no longer has, "no longer in its source". Later versions may have more reasons.
 *
 * Returns: (transfer none): the reason; "" if the node is alive, if its source states none, or if a user has set the
 * state
 *
 * Since: 0.1
 */
QUOIT_API const char *quoit_snapshot_get_node_reason (const QuoitSnapshot *snapshot, uint32_t node);

/**
 * quoit_snapshot_get_node_pool:
 * @node: below quoit_snapshot_get_n_nodes()
 *
 * Returns: the index of its pool
 */
QUOIT_API uint32_t quoit_snapshot_get_node_pool (const QuoitSnapshot *snapshot, uint32_t node);

/**
 * quoit_snapshot_get_node_slice:
 * @node: below quoit_snapshot_get_n_nodes()
 *
 * Returns: the index of its slice; -1 if it is in no slice
 */
QUOIT_API int64_t quoit_snapshot_get_node_slice (const QuoitSnapshot *snapshot, uint32_t node);

/**
 * quoit_snapshot_get_node_worker_id:
 * @node: below quoit_snapshot_get_n_nodes()
 *
 * Returns: the worker id; -1 if it is unknown
 */
QUOIT_API int32_t quoit_snapshot_get_node_worker_id (const QuoitSnapshot *snapshot, uint32_t node);

/**
 * quoit_snapshot_get_node_chip_amount:
 * @node: below quoit_snapshot_get_n_nodes()
 * @part: the total, or a state
 *
 * Counts chips, even if the cluster counts several devices of a chip as TPU. If bundles share a chip, each of its parts
 * is counted as a fraction in its own state.
 *
 * Returns: the number of its TPU chips, or how many of them are in that state
 */
QUOIT_API QuoitAmount quoit_snapshot_get_node_chip_amount (const QuoitSnapshot *snapshot, uint32_t node,
                                                           QuoitAmountPart part);

/**
 * quoit_snapshot_is_node_external:
 * @node: below quoit_snapshot_get_n_nodes()
 *
 * Returns: true if external use has the whole node
 */
QUOIT_API bool quoit_snapshot_is_node_external (const QuoitSnapshot *snapshot, uint32_t node);

/**
 * quoit_snapshot_get_node_n_users:
 * @node: below quoit_snapshot_get_n_nodes()
 *
 * Returns: the number of groups that have the node or a part of it
 */
QUOIT_API uint32_t quoit_snapshot_get_node_n_users (const QuoitSnapshot *snapshot, uint32_t node);

/**
 * quoit_snapshot_dup_node_user_share:
 * @node: below quoit_snapshot_get_n_nodes()
 * @user: below quoit_snapshot_get_node_n_users()
 *
 * Returns what the bundles of a group have of the node, in words: "chips 0,1: CPU 1, TPU 2 + chip 3: TPU 1".
 *
 * Returns: (transfer full) (nullable): the text; g_free() it. %NULL if the group has the whole node
 */
QUOIT_API char *quoit_snapshot_dup_node_user_share (const QuoitSnapshot *snapshot, uint32_t node, uint32_t user);

/**
 * quoit_snapshot_get_node_user_id:
 * @node: below quoit_snapshot_get_n_nodes()
 * @user: below quoit_snapshot_get_node_n_users()
 *
 * Returns: the id of the group, for quoit_snapshot_lookup_group_by_id(); the cost does not depend on the group's size
 */
QUOIT_API uint64_t quoit_snapshot_get_node_user_id (const QuoitSnapshot *snapshot, uint32_t node, uint32_t user);

/**
 * quoit_snapshot_get_node_user_chips:
 * @node: below quoit_snapshot_get_n_nodes()
 * @user: below quoit_snapshot_get_node_n_users()
 *
 * Returns the chips of the node that the bundles of a group have, completely or in part, as bits: bit 0 is chip 0. In
 * an imported group, Ray determines the number of chips, and quoit assumes which ones.
 *
 * Returns: the chips; all of them if the group has the whole node
 */
QUOIT_API uint64_t quoit_snapshot_get_node_user_chips (const QuoitSnapshot *snapshot, uint32_t node, uint32_t user);

/**
 * quoit_snapshot_get_node_external_chips:
 * @node: below quoit_snapshot_get_n_nodes()
 *
 * Returns the chips of the node in external use, completely or in part, as bits: bit 0 is chip 0. Ray reports their
 * number, and quoit assumes which ones.
 *
 * Returns: the chips
 */
QUOIT_API uint64_t quoit_snapshot_get_node_external_chips (const QuoitSnapshot *snapshot, uint32_t node);

/**
 * quoit_snapshot_dup_node_label:
 * @node: below quoit_snapshot_get_n_nodes()
 * @key: a label key
 *
 * Returns: (transfer full) (nullable): the value of the label; %NULL if the node does not have it; g_free() it
 */
QUOIT_API char *quoit_snapshot_dup_node_label (const QuoitSnapshot *snapshot, uint32_t node, const char *key);

/**
 * quoit_snapshot_get_node_n_resources:
 * @node: below quoit_snapshot_get_n_nodes()
 *
 * Returns the number of resources of the node: those in its source, and those that Ray derives: the name of its slice
 * and, on worker 0, the head resource of the slice ("TPU-v6e-16-head").
 *
 * Returns: the number of resources
 */
QUOIT_API uint32_t quoit_snapshot_get_node_n_resources (const QuoitSnapshot *snapshot, uint32_t node);

/**
 * quoit_snapshot_get_node_resource_name:
 * @node: below quoit_snapshot_get_n_nodes()
 * @resource: below quoit_snapshot_get_node_n_resources()
 *
 * Returns: (transfer none): the name of the resource
 */
QUOIT_API const char *quoit_snapshot_get_node_resource_name (const QuoitSnapshot *snapshot, uint32_t node,
                                                             uint32_t resource);

/**
 * quoit_snapshot_get_node_amount:
 * @node: below quoit_snapshot_get_n_nodes()
 * @resource: below quoit_snapshot_get_node_n_resources()
 * @part: the total, or a state
 *
 * Returns: the total of the resource, or how much of it is in that state
 */
QUOIT_API QuoitAmount quoit_snapshot_get_node_amount (const QuoitSnapshot *snapshot, uint32_t node, uint32_t resource,
                                                      QuoitAmountPart part);

/**
 * quoit_snapshot_get_n_resources:
 *
 * Returns the number of different resources of all nodes. Head resources are included; the resources that are named
 * after slices are not.
 *
 * Returns: the number of resources
 */
QUOIT_API uint32_t quoit_snapshot_get_n_resources (const QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_get_resource_name:
 * @resource: below quoit_snapshot_get_n_resources()
 *
 * Returns: (transfer none): the name; resources are sorted by name as text
 */
QUOIT_API const char *quoit_snapshot_get_resource_name (const QuoitSnapshot *snapshot, uint32_t resource);

/**
 * quoit_snapshot_dup_resource_sum:
 * @resource: below quoit_snapshot_get_n_resources()
 * @part: the total, or a state
 *
 * Returns: (transfer full): the exact sum over all nodes as decimal text, because it can exceed a #QuoitAmount;
 *   g_free() it. The total includes dead nodes: subtract %QUOIT_AMOUNT_DOWN and %QUOIT_AMOUNT_LOST to exclude them
 */
QUOIT_API char *quoit_snapshot_dup_resource_sum (const QuoitSnapshot *snapshot, uint32_t resource,
                                                 QuoitAmountPart part);

/**
 * quoit_snapshot_get_n_classes:
 *
 * Returns: the number of classes; a class is all slices with the same generation, topology and chips per host
 */
QUOIT_API uint32_t quoit_snapshot_get_n_classes (const QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_get_class_accelerator:
 * @class_index: below quoit_snapshot_get_n_classes()
 *
 * Returns: (transfer none): the name of its generation in the catalogue, such as "v5e" or "tpu7x"
 */
QUOIT_API const char *quoit_snapshot_get_class_accelerator (const QuoitSnapshot *snapshot, uint32_t class_index);

/**
 * quoit_snapshot_dup_class_topology:
 * @class_index: below quoit_snapshot_get_n_classes()
 *
 * Returns: (transfer full): the topology; g_free() it
 */
QUOIT_API char *quoit_snapshot_dup_class_topology (const QuoitSnapshot *snapshot, uint32_t class_index);

/**
 * quoit_snapshot_get_class_chips_per_host:
 * @class_index: below quoit_snapshot_get_n_classes()
 *
 * Returns: the number of chips of each host
 */
QUOIT_API uint32_t quoit_snapshot_get_class_chips_per_host (const QuoitSnapshot *snapshot, uint32_t class_index);

/**
 * quoit_snapshot_get_class_n_hosts:
 * @class_index: below quoit_snapshot_get_n_classes()
 *
 * Returns: the number of hosts of each slice
 */
QUOIT_API uint32_t quoit_snapshot_get_class_n_hosts (const QuoitSnapshot *snapshot, uint32_t class_index);

/**
 * quoit_snapshot_count_slices_of_class:
 * @class_index: below quoit_snapshot_get_n_classes()
 * @flag: one condition
 *
 * Returns: the number of slices of the class with that condition; the cost does not depend on the size of the fleet
 */
QUOIT_API uint32_t quoit_snapshot_count_slices_of_class (const QuoitSnapshot *snapshot, uint32_t class_index,
                                                         QuoitSliceFlags flag);

/**
 * quoit_snapshot_get_n_groups:
 *
 * Returns: the number of groups: live ones, and the records of ended ones
 */
QUOIT_API uint32_t quoit_snapshot_get_n_groups (const QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_dup_group:
 * @group: below quoit_snapshot_get_n_groups(); groups are in the order of ids
 *
 * Returns: (transfer full): the group; quoit_group_unref() it
 */
QUOIT_API QuoitGroup *quoit_snapshot_dup_group (const QuoitSnapshot *snapshot, uint32_t group);

/**
 * quoit_snapshot_lookup_group:
 * @name: NAME or NAME@ID
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND if no live group has the name; %QUOIT_ERROR_CONFLICT if the id is not that of the
 * live group; %QUOIT_ERROR_INVALID for malformed text.
 *
 * Returns: (transfer full): the group; quoit_group_unref() it
 */
QUOIT_API QuoitGroup *quoit_snapshot_lookup_group (const QuoitSnapshot *snapshot, const char *name, GError **error);

/**
 * quoit_snapshot_lookup_group_by_id:
 * @id: a group id
 *
 * Also finds an ended group while its record is kept (state %QUOIT_GROUP_REMOVED).
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND if no live or recorded group has the id.
 *
 * Returns: (transfer full): the group; quoit_group_unref() it
 */
QUOIT_API QuoitGroup *quoit_snapshot_lookup_group_by_id (const QuoitSnapshot *snapshot, uint64_t id, GError **error);

/**
 * quoit_snapshot_lookup_group_by_key:
 * @key: a request key
 *
 * Finds the group of a request key, also after its end (state %QUOIT_GROUP_REMOVED) until quoit_ledger_forget().
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND if no live or recorded group has the key.
 *
 * Returns: (transfer full): the group; quoit_group_unref() it
 */
QUOIT_API QuoitGroup *quoit_snapshot_lookup_group_by_key (const QuoitSnapshot *snapshot, const char *key,
                                                          GError **error);

/**
 * quoit_snapshot_get_n_owners:
 *
 * Returns: the number of registered owners
 */
QUOIT_API uint32_t quoit_snapshot_get_n_owners (const QuoitSnapshot *snapshot);

/**
 * quoit_snapshot_get_owner_name:
 * @owner: below quoit_snapshot_get_n_owners(); owners are in the order of registration
 *
 * Returns: (transfer none): the name
 */
QUOIT_API const char *quoit_snapshot_get_owner_name (const QuoitSnapshot *snapshot, uint32_t owner);

/**
 * quoit_snapshot_get_owner_registered_ms:
 * @owner: below quoit_snapshot_get_n_owners()
 *
 * Returns: the time when the owner was registered; another lease does not change it
 */
QUOIT_API int64_t quoit_snapshot_get_owner_registered_ms (const QuoitSnapshot *snapshot, uint32_t owner);

/**
 * quoit_snapshot_get_owner_until_ms:
 * @owner: below quoit_snapshot_get_n_owners()
 *
 * Returns: the time when its lease ends; 0 if it has no lease
 */
QUOIT_API int64_t quoit_snapshot_get_owner_until_ms (const QuoitSnapshot *snapshot, uint32_t owner);

/**
 * quoit_snapshot_count_owner_groups:
 * @owner: the name of an owner, registered or not
 *
 * Returns: the number of live groups of the owner
 */
QUOIT_API uint32_t quoit_snapshot_count_owner_groups (const QuoitSnapshot *snapshot, const char *owner);

/**
 * quoit_snapshot_dup_owner_group:
 * @owner: the name of an owner, registered or not
 * @group: below quoit_snapshot_count_owner_groups(); groups are in the order of ids
 *
 * Returns: (transfer full): the group; quoit_group_unref() it
 */
QUOIT_API QuoitGroup *quoit_snapshot_dup_owner_group (const QuoitSnapshot *snapshot, const char *owner, uint32_t group);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitSnapshot, quoit_snapshot_unref)

G_END_DECLS

#endif

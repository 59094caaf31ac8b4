/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a fleet that only imports change: sources, pools, slices and nodes, and their order.
 *
 * A layout is immutable and shared by all snapshots and forks. Its order is canonical: sources, pools and slices in
 * natural order of their names, nodes by worker id. The slices of one class in a pool are adjacent (a shelf).
 * Therefore containment is an index range, the first in natural order is the lowest index, and equal claims give
 * equal layouts, whatever the order of the imports. Indices are valid for one layout. Node ids (guint32 > 0) are
 * durable and never reused. */
#pragma once

#include "base/strings.h"
#include "fleet/claims.h"
#include "fleet/ids.h"

typedef struct {
  guint32 index;
} QuoitSourceId; /* clang-format keeps only short structs on one line */
typedef struct {
  guint32 index;
} QuoitPoolId;
typedef struct {
  guint32 index;
} QuoitClassId;
typedef struct {
  guint32 index;
} QuoitShelfId;
typedef struct {
  guint32 index;
} QuoitSliceId;
typedef struct {
  guint32 index;
} QuoitNodeId;

#define QUOIT_NO_INDEX G_MAXUINT32

typedef struct {
  QuoitStringId name;
  QuoitSourceKind kind;
  guint32 first_pool, n_pools;
  guint32 first_node, n_nodes;   /* nodes in its pools */
  guint32 first_guest, n_guests; /* in joined: its claims of nodes in pools of other sources */
  guint32 first_host, n_hosts;   /* in joined: its claims of nodes in its own pools that others claim too */
} QuoitSource;

typedef struct {
  QuoitStringId name;
  guint32 source;
  guint32 first_shelf, n_shelves;
  guint32 first_slice, n_slices;
  guint32 first_node, n_nodes; /* the nodes of its slices, then nodes without a slice */
  guint32 n_pods;
  guint32 first_env, n_env; /* in the layout's env */
  QuoitSum pod_cpu, pod_memory;
} QuoitPool;

/* All slices with the same generation, topology and chips per host. */
typedef struct {
  QuoitSliceFacts facts;
  guint32 n_slices;
  guint32 first_rank; /* its ranks are [first_rank, first_rank + n_slices) */
  guint32 largest;    /* number of slices on its largest shelf */
  guint32 first_row;  /* row c of its ranks begins at rows[first_row + c], 1 <= c <= largest + 1 */
} QuoitClass;

/* The slices of one class in one pool. */
typedef struct {
  guint32 pool;
  guint32 class_index; /* QUOIT_NO_INDEX: slices without a class */
  guint32 first_slice, n_slices;
  guint32 first_position; /* positions[first_position + c - 1] is the shelf's rank with c free slices */
} QuoitShelf;

typedef struct {
  QuoitStringId name, incarnation;
  guint32 shelf;
  guint32 first_node, n_nodes;
} QuoitSlice;

typedef struct {
  guint32 name, address, identity; /* offsets in texts; 0: not set */
  guint32 slice;                   /* QUOIT_NO_INDEX: not in a slice */
  guint32 kind;
  guint32 id;       /* durable */
  gint16 worker_id; /* -1: not stated */
  guint8 flags;     /* QuoitNodeFlags */
  guint8 claimed;   /* QuoitNodeState that its sources last reported */
} QuoitNode;

/* One claim of a node that several sources claim. The node has the name, pool, slice and worker id of the first
 * claim by QuoitSourceKind (its home), and the identity, address, kind and state of the best-informed one. Each of
 * its claims has a row. */
typedef struct {
  guint32 node;                    /* index */
  guint32 pool;                    /* of the claiming source */
  guint32 name, address, identity; /* offsets in texts; 0: not set */
  guint32 slice, incarnation;      /* indices of QuoitStringId; QUOIT_NO_INDEX: not set */
  guint32 kind;
  gint16 worker_id;
  guint8 flags, state;
} QuoitJoinedClaim;

/* What a kind implies for its slice. */
typedef struct {
  guint32 class_index; /* QUOIT_NO_INDEX: no class */
  QuoitStringId head;  /* Ray's resource of worker 0, such as "TPU-v6e-16-head"; empty: unknown pod type */
  guint8 faults;       /* QuoitFault of the kind itself, such as a pod type that does not match its topology */
} QuoitKindClass;

typedef struct _QuoitLayoutFrame QuoitLayoutFrame;

typedef struct {
  gatomicrefcount refs;
  guint64 number;          /* layouts with the same number have the same nodes, slices and pools at the same indices */
  QuoitLayoutFrame *frame; /* data that patched layouts share: all except nodes, texts, node slots and ids */
  guint32 n_sources, n_pools, n_classes, n_shelves, n_slices, n_nodes, n_ranks, n_kinds;
  guint32 n_external; /* nodes that their source reports as used */
  guint32 n_joined;
  QuoitStrings *strings;
  QuoitSource *sources;
  QuoitPool *pools;
  QuoitClass *classes;
  QuoitShelf *shelves;
  QuoitSlice *slices;
  QuoitNode *nodes;
  QuoitJoinedClaim *joined; /* by source: guests, then hosts, each by node */
  guint32 *joined_of;       /* indices of joined, by node, then by source */
  char *texts;              /* names, addresses and identities of nodes; see quoit_identity_pack() */
  gsize n_texts;
  QuoitClaims *kinds; /* only holds the kinds of all nodes */
  QuoitKindClass *kind_class;
  QuoitPair *env;
  guint32 *rows, *positions, *rank_shelf;
  guint32 *node_slots, *slice_slots; /* by name; index + 1 */
  guint32 node_mask, slice_mask;
  QuoitIds ids;      /* of nodes */
  guint32 *index_of; /* by slot of a durable id: node index, or QUOIT_NO_INDEX */
  guint32 end_id;    /* greater than every id */
} QuoitLayout;

/* The claims of one source, and the durable ids of its nodes in the same order. */
typedef struct {
  const QuoitClaims *claims;
  const guint32 *ids;
} QuoitLayoutPart;

/* Copies what it needs. Asserts that parts have distinct source names, and that ids are > 0 and distinct within a
 * part. Parts of different kinds may share an id: they claim the same node. */
QuoitLayout *quoit_layout_new (const QuoitLayoutPart *parts, guint n_parts);
/* Like quoit_layout_new(), for parts from a file: returns NULL with DAMAGED if a condition does not hold or a limit
 * is exceeded. */
QuoitLayout *quoit_layout_new_checked (const QuoitLayoutPart *parts, guint n_parts, GError **error);
QuoitLayout *quoit_layout_ref (QuoitLayout *layout);
void quoit_layout_unref (QuoitLayout *layout);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitLayout, quoit_layout_unref)

/* Returns a copy of @layout in which the nodes of @update, new or changed nodes of @source, take the positions of
 * the nodes with the same ids or of the @removed ones. Appends their indices to @changed (of guint32). Returns NULL
 * if that is not possible: a position would be new or stay empty, a pool, slice, incarnation, worker id, kind or
 * class would change, or unused texts would take too much space. Use quoit_layout_new() then. */
QuoitLayout *quoit_layout_patched (const QuoitLayout *layout, QuoitSourceId source, const QuoitLayoutPart *update,
                                   const guint32 *removed, guint32 n_removed, GArray *changed);

/* Returns the claims of @source as last imported, in the order of the layout, and sets *@ids to the ids of its
 * nodes. The caller owns both. */
QuoitClaims *quoit_layout_claims (const QuoitLayout *layout, QuoitSourceId source, guint32 **ids);

/* Return the number of nodes that @source claims, in any pool, and the i-th of them. */
guint32 quoit_layout_n_claimed (const QuoitLayout *layout, QuoitSourceId source);
QuoitNodeId quoit_layout_claimed_node (const QuoitLayout *layout, QuoitSourceId source, guint32 i);
/* Finds the i-th source that claims @node: first its home, then the others by name. Returns FALSE at the end. */
gboolean quoit_layout_node_source (const QuoitLayout *layout, QuoitNodeId node, guint32 i, QuoitSourceId *source);
/* Return whether @source claims @node, and the claim. The pool and kind of the claim are indices of the layout. Its
 * identity is owned by the caller as *@identity; if @identity is NULL, the claim has no identity. */
gboolean quoit_layout_claims_node (const QuoitLayout *layout, QuoitSourceId source, QuoitNodeId node);
QuoitNodeClaim quoit_layout_claim (const QuoitLayout *layout, QuoitSourceId source, QuoitNodeId node, char **identity);

/* Returns the node with this durable id, or QUOIT_NO_INDEX. */
static inline guint32
quoit_layout_find_id (const QuoitLayout *layout, guint32 id)
{
  guint32 slot = quoit_ids_slot (&layout->ids, id);

  return slot == QUOIT_NO_SLOT ? QUOIT_NO_INDEX : layout->index_of[slot];
}

static inline const char *
quoit_layout_text (const QuoitLayout *layout, QuoitStringId id)
{
  return quoit_strings_get (layout->strings, id);
}

static inline const char *
quoit_layout_node_name (const QuoitLayout *layout, QuoitNodeId node)
{
  return layout->texts + layout->nodes[node.index].name;
}

/* Returns NULL if the address is unknown. */
const char *quoit_layout_node_address (const QuoitLayout *layout, QuoitNodeId node);
/* Returns NULL for a node without a slice. */
const char *quoit_layout_node_slice_name (const QuoitLayout *layout, QuoitNodeId node);
/* Returns the identity, or the name if the source reported no identity. Owned by the caller. */
char *quoit_layout_node_identity (const QuoitLayout *layout, QuoitNodeId node);
/* Returns the i-th resource that Ray adds to those of the node's kind, each with an amount of 1: the name of its
 * slice, and the head resource on worker 0. Returns NULL at the end. */
const char *quoit_layout_node_derived (const QuoitLayout *layout, QuoitNodeId node, guint i);
/* Returns whether the pool has the properties in @claim. Names are not compared. */
gboolean quoit_layout_pool_is (const QuoitLayout *layout, QuoitPoolId pool, const QuoitPoolClaim *claim);
QuoitPoolId quoit_layout_node_pool (const QuoitLayout *layout, QuoitNodeId node);
const QuoitNodeKind *quoit_layout_node_kind (const QuoitLayout *layout, QuoitNodeId node);
char *quoit_layout_node_full_name (const QuoitLayout *layout, QuoitNodeId node); /* source/pool/name, owned */
char *quoit_layout_slice_full_name (const QuoitLayout *layout, QuoitSliceId slice);

/* Return the name for users: the short name if it is unambiguous in the fleet, otherwise the full name. Owned by the
 * caller. */
char *quoit_layout_node_display (const QuoitLayout *layout, QuoitNodeId node);
char *quoit_layout_slice_display (const QuoitLayout *layout, QuoitSliceId slice);

/* Look up by short or full name. Fail with NOT_FOUND, or with INVALID and the full names if a short name is
 * ambiguous. */
gboolean quoit_layout_lookup_node (const QuoitLayout *layout, const char *name, QuoitNodeId *node, GError **error);
gboolean quoit_layout_lookup_slice (const QuoitLayout *layout, const char *name, QuoitSliceId *slice, GError **error);
/* Iterates over the slices with this short name, which each source and pool may have. *@at must start as
 * QUOIT_NO_INDEX. Returns FALSE at the end. */
gboolean quoit_layout_next_slice_named (const QuoitLayout *layout, const char *name, guint32 *at, QuoitSliceId *slice);
gboolean quoit_layout_find_source (const QuoitLayout *layout, const char *name, QuoitSourceId *source);
enum { QUOIT_LABEL_ROOM = 64 };
/* Returns the label @key of @node, including labels that are stored in other fields; NULL if not found. The result
 * may point to @room (QUOIT_LABEL_ROOM bytes). */
const char *quoit_layout_node_label (const QuoitLayout *layout, QuoitNodeId node, const char *key, char *room);
/* Returns whether the label @key depends only on the kind of a node. */
gboolean quoit_layout_label_is_of_kind (const char *key);

static inline const QuoitClass *
quoit_layout_slice_class (const QuoitLayout *layout, QuoitSliceId slice)
{
  guint32 index = layout->shelves[layout->slices[slice.index].shelf].class_index;

  return index == QUOIT_NO_INDEX ? NULL : &layout->classes[index];
}

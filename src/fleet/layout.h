/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the graph that only an import changes: sources, pools, slices, nodes, and where each stands.
 *
 * A layout is sealed when it is made and shared by every snapshot and fork. Its order is canonical: sources, pools,
 * slices by natural order of their names, nodes by worker id; a pool's slices of one class stand together (a shelf). So
 * containment is index ranges, "the first in natural order" is the lowest index, and equal claims give equal layouts
 * whatever the history of imports. Indices are good for one layout; node ids (guint32 > 0) are durable, never used
 * again. */
#pragma once

#include "base/strings.h"
#include "fleet/claims.h"
#include "fleet/ids.h"

typedef struct {
  guint32 index;
} QuoitSourceId; /* clang-format keeps these on one line only when they are short */
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
  guint32 first_node, n_nodes;   /* that stand in its pools */
  guint32 first_guest, n_guests; /* into joined: its claims of nodes that stand in another source's pools */
  guint32 first_host, n_hosts;   /* into joined: its claims of nodes of its own that others claim too */
} QuoitSource;

typedef struct {
  QuoitStringId name;
  guint32 source;
  guint32 first_shelf, n_shelves;
  guint32 first_slice, n_slices;
  guint32 first_node, n_nodes; /* the nodes of its slices, then those in no slice */
  guint32 n_pods;
  guint32 first_env, n_env; /* into the layout's pairs */
  QuoitSum pod_cpu, pod_memory;
} QuoitPool;

/* All slices of one generation, topology and number of chips a host. */
typedef struct {
  QuoitSliceFacts facts;
  guint32 n_slices;
  guint32 first_rank; /* its ranks are [first_rank, first_rank + n_slices) */
  guint32 largest;    /* slices on its largest shelf */
  guint32 first_row;  /* row c of its ranks begins at rows[first_row + c], 1 <= c <= largest + 1 */
} QuoitClass;

/* The slices of one class in one pool. */
typedef struct {
  guint32 pool;
  guint32 class_index; /* QUOIT_NO_INDEX: slices whose nodes name no class */
  guint32 first_slice, n_slices;
  guint32 first_position; /* positions[first_position + c - 1] is the rank of this shelf when it has c free slices */
} QuoitShelf;

typedef struct {
  QuoitStringId name, incarnation;
  guint32 shelf;
  guint32 first_node, n_nodes;
} QuoitSlice;

typedef struct {
  guint32 name, address, identity; /* offsets into texts; 0: none */
  guint32 slice;                   /* QUOIT_NO_INDEX: in no slice */
  guint32 kind;
  guint32 id;       /* durable */
  gint16 worker_id; /* -1: not stated */
  guint8 flags;     /* QuoitNodeFlags */
  guint8 claimed;   /* QuoitNodeState as the source said last */
} QuoitNode;

/* One of the claims of a node that several sources claim: what that source said of it. The node itself has name, pool,
 * slice and worker id of the first of them by QuoitSourceKind, which is where it stands, and of the last whatever that
 * knows better: identity, address, kind and state. Each of them has a row. */
typedef struct {
  guint32 node;                    /* index */
  guint32 pool;                    /* of the source that claims it */
  guint32 name, address, identity; /* offsets into texts; 0: none */
  guint32 slice, incarnation;      /* names, QuoitStringId's index; QUOIT_NO_INDEX: none */
  guint32 kind;
  gint16 worker_id;
  guint8 flags, state;
} QuoitJoinedClaim;

/* What a kind says of the slice it belongs to. */
typedef struct {
  guint32 class_index; /* QUOIT_NO_INDEX: none */
  QuoitStringId head;  /* what Ray gives worker 0: "TPU-v6e-16-head"; empty where no pod type is known */
  guint8 faults;       /* QuoitFault that the kind has by itself: its pod type is not that of its topology... */
} QuoitKindClass;

typedef struct _QuoitLayoutFrame QuoitLayoutFrame;

typedef struct {
  gatomicrefcount refs;
  guint64 number;          /* layouts of one number have the same nodes, slices and pools at the same indices */
  QuoitLayoutFrame *frame; /* has what layouts share that differ in single nodes: all but nodes, texts, slots, ids */
  guint32 n_sources, n_pools, n_classes, n_shelves, n_slices, n_nodes, n_ranks, n_kinds;
  guint32 n_external; /* nodes that their source calls used */
  guint32 n_joined;
  QuoitStrings *strings;
  QuoitSource *sources;
  QuoitPool *pools;
  QuoitClass *classes;
  QuoitShelf *shelves;
  QuoitSlice *slices;
  QuoitNode *nodes;
  QuoitJoinedClaim *joined; /* by source; its guests, then its hosts, each by node */
  guint32 *joined_of;       /* the same rows by node, then by source */
  char *texts;              /* names, addresses and identities of nodes; identities of 56 hexadecimal digits packed */
  gsize n_texts;
  QuoitClaims *kinds; /* holds the kinds of all nodes, and nothing else */
  QuoitKindClass *kind_class;
  QuoitPair *env;
  guint32 *rows, *positions, *rank_shelf;
  guint32 *node_slots, *slice_slots; /* by name; index + 1 */
  guint32 node_mask, slice_mask;
  QuoitIds ids;      /* of nodes */
  guint32 *index_of; /* slot of a durable id -> index, QUOIT_NO_INDEX where gone */
  guint32 end_id;    /* greater than every id */
} QuoitLayout;

/* One source's claims and the durable ids of its nodes, in the claims' order. */
typedef struct {
  const QuoitClaims *claims;
  const guint32 *ids;
} QuoitLayoutPart;

/* Copies what it needs. Parts have distinct source names; ids are > 0 and distinct within a part. Parts of different
 * kinds may share an id: they claim one node. All this is asserted. */
QuoitLayout *quoit_layout_new (const QuoitLayoutPart *parts, guint n_parts);
/* The same for parts that come out of a file: NULL and DAMAGED where they are not so, or more than any fleet has. */
QuoitLayout *quoit_layout_new_checked (const QuoitLayoutPart *parts, guint n_parts, GError **error);
QuoitLayout *quoit_layout_ref (QuoitLayout *layout);
void quoit_layout_unref (QuoitLayout *layout);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitLayout, quoit_layout_unref)

/* @layout with the nodes of @update, new or different ones of @source, in the places of those that they are or that
 * were
 * @removed; appends where they stand to @changed (of guint32). NULL where that is not all of it: a place is new or
 * stays empty, a pool, slice, incarnation, worker id, kind or class would be another, or the texts of what is gone have
 * become many. quoit_layout_new() takes everything. */
QuoitLayout *quoit_layout_patched (const QuoitLayout *layout, QuoitSourceId source, const QuoitLayoutPart *update,
                                   const guint32 *removed, guint32 n_removed, GArray *changed);

/* The claims of @source as they were when it was imported last, in the layout's order, and the ids of its nodes. */
QuoitClaims *quoit_layout_claims (const QuoitLayout *layout, QuoitSourceId source, guint32 **ids);

/* The nodes that @source claims, wherever they stand, by numbers below this one. */
guint32 quoit_layout_n_claimed (const QuoitLayout *layout, QuoitSourceId source);
QuoitNodeId quoit_layout_claimed_node (const QuoitLayout *layout, QuoitSourceId source, guint32 i);
/* The i-th source that claims @node: first the one in whose pool it stands, then the others by name. FALSE: there are
 * no more. */
gboolean quoit_layout_node_source (const QuoitLayout *layout, QuoitNodeId node, guint32 i, QuoitSourceId *source);
/* Whether @source claims @node, and what it said of it. @claim's pool and kind are indices of the layout, its identity
 * is *@identity, owned; NULL: it is not wanted. */
gboolean quoit_layout_claims_node (const QuoitLayout *layout, QuoitSourceId source, QuoitNodeId node);
QuoitNodeClaim quoit_layout_claim (const QuoitLayout *layout, QuoitSourceId source, QuoitNodeId node, char **identity);

/* The node of that durable id; QUOIT_NO_INDEX: there is none. */
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

/* NULL where the source knew none. */
const char *quoit_layout_node_address (const QuoitLayout *layout, QuoitNodeId node);
/* NULL where it is in no slice. */
const char *quoit_layout_node_slice_name (const QuoitLayout *layout, QuoitNodeId node);
/* Owned; the name where the source gave no identity. */
char *quoit_layout_node_identity (const QuoitLayout *layout, QuoitNodeId node);
/* What Ray gives the node beside what its kind states: its slice's name, and worker 0 the head; 1 of each. NULL behind
 * the last. */
const char *quoit_layout_node_derived (const QuoitLayout *layout, QuoitNodeId node, guint i);
/* Whether @claim says of the pool what is known of it; names are not looked at. */
gboolean quoit_layout_pool_is (const QuoitLayout *layout, QuoitPoolId pool, const QuoitPoolClaim *claim);
QuoitPoolId quoit_layout_node_pool (const QuoitLayout *layout, QuoitNodeId node);
const QuoitNodeKind *quoit_layout_node_kind (const QuoitLayout *layout, QuoitNodeId node);
char *quoit_layout_node_full_name (const QuoitLayout *layout, QuoitNodeId node); /* source/pool/name */
char *quoit_layout_slice_full_name (const QuoitLayout *layout, QuoitSliceId slice);

/* The name people use: short where it is unambiguous in the fleet. Owned. */
char *quoit_layout_node_display (const QuoitLayout *layout, QuoitNodeId node);
char *quoit_layout_slice_display (const QuoitLayout *layout, QuoitSliceId slice);

/* By short or full name. NOT_FOUND, or INVALID naming the full names when the short one is ambiguous. */
gboolean quoit_layout_lookup_node (const QuoitLayout *layout, const char *name, QuoitNodeId *node, GError **error);
gboolean quoit_layout_lookup_slice (const QuoitLayout *layout, const char *name, QuoitSliceId *slice, GError **error);
/* The slices of that short name, of which each source and pool may have one: the next behind *@at, which is
 * QUOIT_NO_INDEX at first. FALSE: there are no more. */
gboolean quoit_layout_next_slice_named (const QuoitLayout *layout, const char *name, guint32 *at, QuoitSliceId *slice);
gboolean quoit_layout_find_source (const QuoitLayout *layout, const char *name, QuoitSourceId *source);
enum { QUOIT_LABEL_ROOM = 64 };
/* The label of @node under @key, those that are kept elsewhere included; NULL where it has none. May be written to
 * @room (QUOIT_LABEL_ROOM bytes). */
const char *quoit_layout_node_label (const QuoitLayout *layout, QuoitNodeId node, const char *key, char *room);
/* Whether nodes of one kind have the label @key in common: it is told by nothing but the kind. */
gboolean quoit_layout_label_is_of_kind (const char *key);

static inline const QuoitClass *
quoit_layout_slice_class (const QuoitLayout *layout, QuoitSliceId slice)
{
  guint32 index = layout->shelves[layout->slices[slice.index].shelf].class_index;

  return index == QUOIT_NO_INDEX ? NULL : &layout->classes[index];
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A layout is the part of a fleet that only imports change: sources, pools, slices and nodes, and their order.
 *
 * A layout is immutable and shared by all snapshots and forks. Its order is canonical: sources, pools and slices are in
 * natural order of their names, and nodes are ordered by worker id. The slices of one class in a pool are adjacent and
 * form a shelf. This order has three advantages: containment is an index range, the first candidate in natural order
 * has the lowest index, and equal claims give equal layouts, whatever the order of the imports.
 *
 * Indices are valid for one layout. Node ids (guint32 > 0) are durable and never reused. */
#pragma once

#include "base/indices.h"
#include "base/strings.h"
#include "fleet/claims.h"
#include "fleet/group.h"
#include "fleet/ids.h"
#include "fleet/recent.h"

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

typedef struct {
  QuoitStringId name;
  QuoitSourceKind kind;
  guint32 first_pool, n_pools;
  guint32 first_node, n_nodes;      /* nodes in the pools of the source */
  guint32 first_foreign, n_foreign; /* in QuoitLayout.joined: claims of nodes in pools of other sources */
  guint32 first_shared, n_shared;   /* in QuoitLayout.joined: claims of nodes in own pools that others claim too */
} QuoitSource;

typedef struct {
  QuoitStringId name;
  guint32 source;
  guint32 first_shelf, n_shelves;
  guint32 first_slice, n_slices;
  guint32 first_node, n_nodes; /* the nodes of the slices, then nodes without a slice */
  guint32 n_pods;              /* see QuoitPoolClaim */
  guint32 first_env, n_env;    /* in QuoitLayout.env */
  QuoitSum pod_cpu, pod_memory;
} QuoitPool;

/* All slices with the same generation, topology and chips per host. */
typedef struct {
  QuoitSliceFacts facts;
  guint32 n_slices;
  guint32 first_rank; /* the class has the ranks [first_rank, first_rank + n_slices) */
  guint32 largest;    /* number of slices on the largest shelf of the class */
  guint32 first_row;  /* row c of the ranks begins at rows[first_row + c], 1 <= c <= largest + 1 */
} QuoitClass;

/* The slices of one class in one pool. */
typedef struct {
  guint32 pool;
  guint32 class_index; /* QUOIT_NO_INDEX: slices without a class */
  guint32 first_slice, n_slices;
  guint32 first_position; /* with c free slices, the shelf has the rank positions[first_position + c - 1] */
} QuoitShelf;

typedef struct {
  QuoitStringId name, incarnation;
  guint32 shelf;
  guint32 first_node, n_nodes;
} QuoitSlice;

typedef struct {
  guint32 name, address, identity; /* offsets in texts; 0: not set */
  guint32 slice;                   /* QUOIT_NO_INDEX: not in a slice */
  guint32 kind;                    /* index in QuoitLayout.kinds */
  guint32 id;                      /* durable node id */
  gint16 worker_id;                /* -1: not stated */
  guint8 flags;                    /* QuoitNodeFlags, without the cause */
} QuoitNode;

/* One claim of a node that several sources claim. The node has the name, pool, slice and worker id of its home claim,
 * which is the claim of the source with the lowest QuoitSourceKind. It has the identity, address, kind and state of the
 * best-informed claim. Each claim of such a node has a row; a node with one claim has none. */
typedef struct {
  guint32 node;                    /* index */
  guint32 pool;                    /* of the claiming source */
  guint32 name, address, identity; /* offsets in texts; 0: not set */
  guint32 slice, incarnation;      /* indices of QuoitStringId; QUOIT_NO_INDEX: not set */
  guint32 kind;
  gint16 worker_id;
  guint8 flags, state;
} QuoitJoinedClaim;

/* The class of a node's slice, as far as the kind of the node determines it. */
typedef struct {
  guint32 class_index; /* QUOIT_NO_INDEX: no class */
  QuoitStringId head;  /* Ray's resource of worker 0, such as "TPU-v6e-16-head"; empty: unknown pod type */
  guint8 faults;       /* QuoitFault within the kind, such as a pod type that does not match the topology */
} QuoitKindClass;

/* Adjacent slices of one shelf whose nodes are all of one kind. A slice with nodes of several kinds is a run of its
 * own. */
typedef struct {
  guint32 first_slice, n_slices;
  guint32 shelf;
  guint32 kind; /* QUOIT_NO_INDEX: several kinds */
} QuoitSliceRun;

typedef struct {
  guint32 n;
  QuoitSliceRun *runs; /* every slice, in order */
} QuoitSliceRuns;

typedef struct _QuoitLayoutFrame QuoitLayoutFrame;
typedef struct _QuoitKept QuoitKept;
typedef struct _QuoitLayoutNodes QuoitLayoutNodes;

typedef struct {
  gatomicrefcount refs;
  guint64 number;          /* layouts with the same number have the same nodes, slices and pools at the same indices */
  guint64 version;         /* differs between layouts, also between patched copies */
  QuoitLayoutFrame *frame; /* data that patched layouts share: all that does not depend on single nodes */
  QuoitLayoutNodes *node_data; /* nodes, texts, node slots and ids; layouts that differ only in states share it */
  guint32 n_sources, n_pools, n_classes, n_shelves, n_slices, n_nodes, n_ranks, n_kinds;
  guint32 n_external; /* nodes with QUOIT_NODE_EXTERNAL */
  guint32 n_joined;
  QuoitStrings *strings;
  QuoitSource *sources;
  QuoitPool *pools;
  QuoitClass *classes;
  QuoitShelf *shelves;
  QuoitSlice *slices;
  QuoitNode *nodes;
  guint8 *claimed;          /* by node, 2 bits each: see quoit_layout_claimed_state() */
  guint8 *causes;           /* by node: QuoitNodeCause; NULL: none is stated */
  QuoitJoinedClaim *joined; /* by source: foreign claims, then shared ones; each by node */
  guint32 *joined_by_node;  /* indices of joined, by node, then by source */
  char *texts;              /* names, addresses and identities of nodes; see quoit_identity_pack() */
  gsize n_texts;
  QuoitClaims *kinds;                     /* claims without nodes, for the kinds of all nodes */
  QuoitKindClass *kind_class;             /* by kind */
  QuoitRecent *kind_results;              /* of rules, by kind; shared with patched copies. See candidates.c */
  QuoitPair *env;                         /* variables of all pools */
  guint32 *rows, *positions, *rank_shelf; /* see quoit_layout_assign_ranks() */
  guint32 *node_slots, *slice_slots;      /* by name; see layout-names.c */
  guint32 n_node_slots, n_slice_slots;
  QuoitIds ids;               /* of nodes */
  guint32 *index_by_slot;     /* by slot of a durable id: node index, or QUOIT_NO_INDEX */
  guint32 end_id;             /* greater than every id */
  QuoitSliceRuns *slice_runs; /* a cache; see quoit_layout_slice_runs() */
  QuoitRecent *eligible;      /* slices that pass the rules of requests. See candidates.c */
  QuoitKept *kept;            /* free times of slices. See placement/queue/kept.h */
  QuoitRecent *zones;         /* nodes of zones, for windows. See placement/window-nodes.c */
  QuoitRecent *domains;       /* the pools and zones of slices. See placement/domain-map.c */
  QuoitRecent *place_costs;   /* of parts, by class. See placement/cut/plan.c */
} QuoitLayout;

/* Whatever another layer keeps with a layout, for one user at a time. It must not refer to the layout. */
struct _QuoitKept {
  void (*free) (QuoitKept *kept);
};

/* Takes what is kept; NULL: nothing, or another thread has it. Any thread may call it. */
QuoitKept *quoit_layout_take_kept (const QuoitLayout *layout);
/* Keeps @kept (transfer full) instead of what is kept now. */
void quoit_layout_keep (const QuoitLayout *layout, QuoitKept *kept);

/* The claims of one source, and the durable ids of its nodes in the same order. */
typedef struct {
  const QuoitClaims *claims;
  const guint32 *ids;
} QuoitLayoutPart;

/* Builds a layout from copies of the claims. The parts must have distinct source names, and the ids of a part must be
 * distinct and greater than 0; otherwise the function aborts. An id in two parts means that both sources claim the same
 * node; the sources must then have different kinds. */
QuoitLayout *quoit_layout_new (const QuoitLayoutPart *parts, guint n_parts);
/* Like quoit_layout_new(), for parts from a file: returns NULL with DAMAGED if a condition does not hold or a limit
 * is exceeded. */
QuoitLayout *quoit_layout_new_checked (const QuoitLayoutPart *parts, guint n_parts, GError **error);
QuoitLayout *quoit_layout_ref (QuoitLayout *layout);
void quoit_layout_unref (QuoitLayout *layout);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitLayout, quoit_layout_unref)

/* The state of a node with a durable id. */
typedef struct {
  guint32 id;
  QuoitNodeState state;
} QuoitNodeStateChange;

/* The state that a source reports, and why. */
typedef struct {
  guint32 id;
  QuoitNodeState state;
  guint8 cause; /* QuoitNodeCause or QUOIT_CAUSE_UNCHANGED */
} QuoitReportedState;

/* What a source reports differently from before. */
typedef struct {
  QuoitLayoutPart nodes; /* new and changed nodes, and all pools */
  gboolean keeps_pools;  /* the pools of the source stay as they are; @nodes has only the pools of its nodes */
  guint32 n_removed, n_states;
  const guint32 *removed;           /* ids */
  const QuoitReportedState *states; /* nodes with another reported state and cause, but nothing else */
} QuoitLayoutUpdate;

/* Returns a copy of @layout with the nodes of @update. Each new or changed node gets the position of the node with the
 * same id, or of a removed node. Appends their indices to @changed (of guint32). This is faster than
 * quoit_layout_new(), but not always possible. Returns NULL if a position would be new or stay empty, if the pool,
 * slice, incarnation, worker id or class of a node would change, if a kind would be new, if another source also claims
 * a node, or if unused texts would take too much space. */
QuoitLayout *quoit_layout_patch (const QuoitLayout *layout, QuoitSourceId source, const QuoitLayoutUpdate *update,
                                 GArray *changed);

/* Returns the last imported claims of @source in the order of the layout, and sets *@ids to the ids of the claimed
 * nodes. The caller owns both. */
QuoitClaims *quoit_layout_dup_claims (const QuoitLayout *layout, QuoitSourceId source, guint32 **ids);

/* Return the number of nodes that @source claims, in any pool, and the i-th of them. */
guint32 quoit_layout_count_claimed (const QuoitLayout *layout, QuoitSourceId source);
QuoitNodeId quoit_layout_claimed_node (const QuoitLayout *layout, QuoitSourceId source, guint32 i);
/* Finds the i-th source that claims @node: first the home source, then the others by name. Returns FALSE at the end. */
gboolean quoit_layout_node_source (const QuoitLayout *layout, QuoitNodeId node, guint32 i, QuoitSourceId *source);
/* Returns whether @source claims @node. */
gboolean quoit_layout_claims_node (const QuoitLayout *layout, QuoitSourceId source, QuoitNodeId node);
/* Returns the claim of @node by @source. The pool and kind of the claim are indices of the layout. The identity is
 * stored in *@identity, which the caller owns; if @identity is NULL, the claim gets no identity. */
QuoitNodeClaim quoit_layout_claim (const QuoitLayout *layout, QuoitSourceId source, QuoitNodeId node, char **identity);

/* Returns the state that the sources of the node last reported. */
static inline QuoitNodeState
quoit_layout_claimed_state (const QuoitLayout *layout, QuoitNodeId node)
{
  return (QuoitNodeState) (layout->claimed[node.index / 4] >> node.index % 4 * 2 & 3);
}

/* Returns why the node has that state, as far as a source of the node reported it. */
static inline QuoitNodeCause
quoit_layout_node_cause (const QuoitLayout *layout, QuoitNodeId node)
{
  return layout->causes == NULL ? QUOIT_CAUSE_NONE : (QuoitNodeCause) layout->causes[node.index];
}

/* Returns the node with this durable id, or QUOIT_NO_INDEX. */
static inline guint32
quoit_layout_find_id (const QuoitLayout *layout, guint32 id)
{
  guint32 slot = quoit_ids_slot (&layout->ids, id);

  return slot == QUOIT_NO_SLOT ? QUOIT_NO_INDEX : layout->index_by_slot[slot];
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
/* Returns whether the pool has the same properties as @claim, except for the name. */
gboolean quoit_layout_pool_matches (const QuoitLayout *layout, QuoitPoolId pool, const QuoitPoolClaim *claim);
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
/* Iterates over the slices with this short name; slices of different sources or pools can have the same one. *@at must
 * be QUOIT_NO_INDEX at first. Returns FALSE at the end. */
gboolean quoit_layout_next_slice_named (const QuoitLayout *layout, const char *name, guint32 *at, QuoitSliceId *slice);
/* The same for nodes. */
gboolean quoit_layout_next_node_named (const QuoitLayout *layout, const char *name, guint32 *at, QuoitNodeId *node);
gboolean quoit_layout_find_source (const QuoitLayout *layout, const char *name, QuoitSourceId *source);
enum { QUOIT_LABEL_BUFFER_SIZE = 64 };
/* Returns the label @key of @node, or NULL. The function also finds labels that are stored in fields of the node. The
 * result may point to @buffer, which must have QUOIT_LABEL_BUFFER_SIZE bytes. */
const char *quoit_layout_node_label (const QuoitLayout *layout, QuoitNodeId node, const char *key, char *buffer);
/* Which nodes have the same value of a label, or the same result of a rule for nodes. A later one has fewer nodes. */
typedef enum {
  QUOIT_LABEL_OF_KIND, /* all nodes of a kind */
  QUOIT_LABEL_OF_POOL, /* all nodes of a kind in a pool */
  QUOIT_LABEL_OF_NODE  /* no others */
} QuoitLabelScope;

QuoitLabelScope quoit_layout_label_scope (const char *key);

/* Returns the runs of the slices. The first call on a layout visits every node. Any thread may call it. */
const QuoitSliceRuns *quoit_layout_slice_runs (const QuoitLayout *layout);

/* Returns the slice of the node with this durable id, or QUOIT_NO_INDEX. */
static inline guint32
quoit_layout_slice_of_id (const QuoitLayout *layout, guint32 id)
{
  guint32 node = id == 0 ? QUOIT_NO_INDEX : quoit_layout_find_id (layout, id);

  return node == QUOIT_NO_INDEX ? QUOIT_NO_INDEX : layout->nodes[node].slice;
}

/* Returns the slice of the layout that is slice @slice of the group, or QUOIT_NO_INDEX if its first node is no longer
 * in the fleet. */
static inline guint32
quoit_layout_group_slice (const QuoitLayout *layout, const QuoitGroupData *group, guint32 slice)
{
  return quoit_layout_slice_of_id (layout, group->node_ids[quoit_group_first_node (group, slice)]);
}

static inline const QuoitClass *
quoit_layout_slice_class (const QuoitLayout *layout, QuoitSliceId slice)
{
  guint32 index = layout->shelves[layout->slices[slice.index].shelf].class_index;

  return index == QUOIT_NO_INDEX ? NULL : &layout->classes[index];
}

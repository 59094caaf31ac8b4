/* SPDX-License-Identifier: Apache-2.0 */
/* The data of a layout while it is built. layout-gather.c collects the claims into drafts of pools, slices and nodes;
 * layout-build.c sorts the drafts and builds the layout from them. */
#pragma once

#include "fleet/layout-private.h"

#include "fleet/source-kinds.h"

typedef struct {
  guint32 part, pool_claim; /* index of the part; index of the pool in the claims of the part */
  QuoitStringId name;
  guint32 rank; /* position of the pool in the layout */
} QuoitPoolDraft;

typedef struct {
  guint32 pool; /* index of the QuoitPoolDraft */
  QuoitStringId name, incarnation;
  guint32 class_index;
  guint32 bucket; /* see build_slices() */
} QuoitSliceDraft;

/* Refers to one claim of a node. */
typedef struct {
  guint32 part, claim; /* index of the part; index of the node in the claims of the part */
} QuoitClaimRef;

typedef struct {
  guint64 key;              /* sort key: bucket, then worker id */
  QuoitClaimRef home;       /* the claim that decides the position of the node */
  QuoitClaimRef best_claim; /* the claim of the best-informed source; usually the same */
  QuoitClaimRef kind;       /* the claim that decides the kind; usually the same */
  guint32 slice;            /* index of the QuoitSliceDraft; QUOIT_NO_INDEX: no slice */
  guint32 pool;             /* index of the QuoitPoolDraft */
  QuoitClaimRef labels;     /* the claim of Kubernetes, which adds its labels; part QUOIT_NO_INDEX: no such claim */
  guint32 joined_kind;      /* kind of the layout with the labels of Kubernetes added; QUOIT_NO_INDEX: none are added */
  QuoitClaimedState state;
  guint8 flags; /* the flags of all claims, combined. A node has one claim of Kubernetes at most, which alone states a
                   cause */
} QuoitNodeDraft;

/* The kinds of the sources that claim a node, as bits (1 << QuoitSourceKind). The lowest bit that is set is the kind of
 * the home source. */
typedef guint8 QuoitClaimants;

typedef struct {
  QuoitLayout *layout;
  const QuoitLayoutPart *parts;
  guint n_parts;
  guint *part_order;         /* parts in natural order of their names */
  guint32 **kind_map;        /* by part and kind of the claims: kind of the layout */
  guint32 *first_pool;       /* by part: index of the first QuoitPoolDraft */
  QuoitIds ids;              /* of all parts */
  QuoitClaimants *claimants; /* by slot of the id */
  GArray *pools, *slices, *nodes;
  GArray *joined;          /* of QuoitClaimRef: all claims of nodes with several claims */
  GHashTable *slice_index; /* (pool draft, name) -> slice draft + 1 */
} QuoitBuilder;

static inline const QuoitNodeClaim *
quoit_builder_claim (const QuoitBuilder *builder, QuoitClaimRef ref)
{
  guint32 n;

  return &quoit_claims_nodes (builder->parts[ref.part].claims, &n)[ref.claim];
}

static inline const QuoitNodeClaim *
quoit_builder_home (const QuoitBuilder *builder, const QuoitNodeDraft *draft)
{
  return quoit_builder_claim (builder, draft->home);
}

static inline guint32
quoit_builder_claimed_kind (const QuoitBuilder *builder, QuoitClaimRef ref)
{
  return builder->kind_map[ref.part][quoit_builder_claim (builder, ref)->kind];
}

static inline guint32
quoit_builder_kind (const QuoitBuilder *builder, const QuoitNodeDraft *draft)
{
  return draft->joined_kind != QUOIT_NO_INDEX ? draft->joined_kind : quoit_builder_claimed_kind (builder, draft->kind);
}

/* Checks the parts before anything is built, because they may come from a damaged file. */
gboolean quoit_builder_check (QuoitBuilder *builder, GError **error);
/* Collects the kinds, pools, slices and nodes of all parts. Several claims of a node become one draft. Determines the
 * classes of the slices. */
gboolean quoit_builder_gather (QuoitBuilder *builder, GError **error);
void quoit_builder_clear (QuoitBuilder *builder);

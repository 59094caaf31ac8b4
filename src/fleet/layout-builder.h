/* SPDX-License-Identifier: Apache-2.0 */
/* The data of a layout while it is built: claims collected into drafts, which are not sorted yet. */
#pragma once

#include "fleet/layout-private.h"

#include "fleet/source-kinds.h"

typedef struct {
  guint32 part, pool_claim; /* its claim */
  QuoitStringId name;
  guint32 rank; /* position in natural order */
} QuoitPoolDraft;

typedef struct {
  guint32 pool; /* index of the QuoitPoolDraft */
  QuoitStringId name, incarnation;
  guint32 class_index;
  guint32 bucket; /* position among all slices and the slice-less nodes of pools */
} QuoitSliceDraft;

typedef struct {
  guint32 part, claim;
} QuoitClaimRef;

typedef struct {
  guint64 key;          /* sort key: bucket, then worker id */
  QuoitClaimRef home;   /* the claim that decides its position */
  QuoitClaimRef seen;   /* the claim of the best-informed source; usually the same */
  QuoitClaimRef kind;   /* the claim that decides its kind; usually the same */
  guint32 slice;        /* QuoitSliceDraft, or QUOIT_NO_INDEX */
  guint32 pool;         /* QuoitPoolDraft */
  QuoitClaimRef labels; /* Kubernetes' claim, for its labels; part QUOIT_NO_INDEX: no claim */
  guint32 joined_kind;  /* the kind plus Kubernetes' labels, in the layout; QUOIT_NO_INDEX: not joined */
  QuoitClaimedState state;
  guint8 flags; /* of all its claims */
} QuoitNodeDraft;

/* The kinds of the sources that claim a node, as bits. The lowest bit is the kind of the home source. */
typedef guint8 QuoitClaimants;

typedef struct {
  QuoitLayout *layout;
  const QuoitLayoutPart *parts;
  guint n_parts;
  guint *part_order;         /* parts in natural order of their names */
  guint32 **kind_of;         /* [part][claimed kind]: kind of the layout */
  guint32 *first_pool;       /* by part: its first QuoitPoolDraft */
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
  return builder->kind_of[ref.part][quoit_builder_claim (builder, ref)->kind];
}

static inline guint32
quoit_builder_kind (const QuoitBuilder *builder, const QuoitNodeDraft *draft)
{
  return draft->joined_kind != QUOIT_NO_INDEX ? draft->joined_kind : quoit_builder_claimed_kind (builder, draft->kind);
}

/* Checks the preconditions of a layout before anything is built, because the parts may come from a file. */
gboolean quoit_builder_check (QuoitBuilder *builder, GError **error);
/* Collects the kinds, pools, slices and nodes of all parts, each node once, and determines the classes of the
 * slices. */
gboolean quoit_builder_gather (QuoitBuilder *builder, GError **error);
void quoit_builder_clear (QuoitBuilder *builder);

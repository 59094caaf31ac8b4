/* SPDX-License-Identifier: Apache-2.0 */
/* What a layout is made of while it is made: claims gathered to drafts, which have no order yet. */
#pragma once

#include "fleet/layout-private.h"

#include "fleet/source-kinds.h"

typedef struct {
  guint32 part, pool_claim; /* where it comes from */
  QuoitStringId name;
  guint32 rank; /* its place in natural order */
} QuoitPoolDraft;

typedef struct {
  guint32 pool; /* draft */
  QuoitStringId name, incarnation;
  guint32 class_index;
  guint32 bucket; /* its place among all slices and the rests of pools */
} QuoitSliceDraft;

typedef struct {
  guint32 part, claim;
} QuoitClaimRef;

typedef struct {
  guint64 key;          /* bucket, then worker id */
  QuoitClaimRef home;   /* which says where it stands */
  QuoitClaimRef seen;   /* which knows best what it is; mostly the same */
  QuoitClaimRef kind;   /* likewise */
  guint32 slice;        /* draft, or QUOIT_NO_INDEX */
  guint32 pool;         /* draft */
  QuoitClaimRef labels; /* Kubernetes' claim, where another says what the node is; part QUOIT_NO_INDEX: there is none */
  guint32 joined_kind;  /* of the layout: that kind, with the labels that Kubernetes adds; QUOIT_NO_INDEX: as it is */
  QuoitClaimedState state;
  guint8 flags; /* of all its claims */
} QuoitNodeDraft;

/* The kinds of the sources that claim a node, as bits: the least is that of the one where it stands. */
typedef guint8 QuoitClaimants;

typedef struct {
  QuoitLayout *layout;
  const QuoitLayoutPart *parts;
  guint n_parts;
  guint *part_order;         /* parts by natural order of their names */
  guint32 **kind_of;         /* part, claimed kind -> kind of the layout */
  guint32 *first_pool;       /* part -> its first pool draft */
  QuoitIds ids;              /* of all parts */
  QuoitClaimants *claimants; /* by slot */
  GArray *pools, *slices, *nodes;
  GArray *joined;          /* of QuoitClaimRef: each claim of a node that has several */
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

/* What a layout needs of its parts: it is looked at before anything is made of them, as they may come out of a file. */
gboolean quoit_builder_check (QuoitBuilder *builder, GError **error);
/* Kinds, pools, slices and nodes of all parts, each node once; and of which class each slice is. */
gboolean quoit_builder_gather (QuoitBuilder *builder, GError **error);
void quoit_builder_clear (QuoitBuilder *builder);

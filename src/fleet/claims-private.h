/* SPDX-License-Identifier: Apache-2.0 */
/* How claims keep what they are told; for the files that make them, nobody else. */
#pragma once

#include "fleet/claims.h"

/* Texts do not move once they are written, so that claims may point to them: blocks, not one growing buffer. */
typedef struct {
  GPtrArray *blocks;
  char *next;
  gsize room;
  gsize used; /* in all blocks */
} QuoitClaimsArena;

typedef struct {
  guint32 hash;
  const char *text; /* NULL: the slot is empty */
} QuoitClaimsText;

struct _QuoitClaims {
  const char *source, *join;
  QuoitSourceKind source_kind;
  QuoitClaimsArena arena;
  QuoitClaimsText *texts; /* open addressing */
  guint32 n_texts, texts_mask;
  GArray *pools;
  GHashTable *pool_index; /* interned name -> index + 1 */
  GArray *kinds;
  guint32 *kind_slots; /* open addressing; index + 1, 0 is empty */
  GArray *kind_hashes;
  guint32 kinds_mask;
  GArray *nodes;
  GArray *labels;      /* of QuoitPair, and */
  GArray *resources;   /* of QuoitResource: the kind being made */
  GArray *groups;      /* of QuoitGroupClaim */
  GArray *external;    /* of QuoitBundleClaim */
  guint scope;         /* of QuoitClaimsScope */
  GPtrArray *warnings; /* always closed with NULL */
};

/* Room for @size bytes that stays where it is as long as the claims; aligned for pointers where all sizes are multiples
 * of 8. */
void *quoit_claims_take (QuoitClaims *claims, gsize size);
/* NULL for nothing. */
void *quoit_claims_take_copy (QuoitClaims *claims, const void *data, gsize size);
/* Without looking for an equal one, as quoit_claims_text() does. NULL stays NULL. */
const char *quoit_claims_copy_text (QuoitClaims *claims, const char *text);

/* SPDX-License-Identifier: Apache-2.0 */
/* The representation of claims, private to the files that implement them. */
#pragma once

#include "base/texts.h"
#include "fleet/claims.h"

struct _QuoitClaims {
  const char *source, *join;
  QuoitSourceKind source_kind;
  QuoitTexts texts; /* all texts and lists */
  GArray *pools;
  GHashTable *pool_index; /* interned name -> index + 1 */
  GArray *kinds;
  guint32 *kind_slots; /* open addressing; index + 1, or 0 if empty */
  GArray *kind_hashes;
  guint32 kinds_mask;
  GArray *nodes;
  GArray *labels;       /* scratch: QuoitPair of the current kind */
  GArray *resources;    /* scratch: QuoitResource of the current kind */
  GArray *groups;       /* of QuoitGroupClaim */
  GArray *external;     /* of QuoitBundleClaim */
  GArray *reservations; /* of QuoitReservationClaim */
  guint scope;          /* of QuoitClaimsScope */
  GPtrArray *warnings;  /* NULL-terminated */
};

/* Returns @size bytes that do not move and live as long as the claims. They are aligned for pointers if all sizes
 * are multiples of 8. */
void *quoit_claims_alloc (QuoitClaims *claims, gsize size);
/* Copies @data into memory of the claims. Returns NULL for a size of 0. */
void *quoit_claims_alloc_copy (QuoitClaims *claims, const void *data, gsize size);
/* Like quoit_claims_intern_text(), but does not search for an equal text. Returns NULL for NULL. */
const char *quoit_claims_copy_text (QuoitClaims *claims, const char *text);

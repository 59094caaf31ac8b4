/* SPDX-License-Identifier: Apache-2.0 */
/* An import in the making: what a source says now against what it said last. What the files of the import share. */
#pragma once

#include "ledger/ledger.h"
#include "model/identities.h"

typedef struct {
  const QuoitFleet *fleet;
  const QuoitClaims *claims;
  QuoitVerb verb;         /* IMPORT or SYNC */
  QuoitSourceId source;   /* QUOIT_NO_INDEX: it is new */
  guint32 first_node;     /* of the source in the layout */
  QuoitIdentities old;    /* its nodes there */
  guint32 *known_equal;   /* claimed kind -> a kind of the layout that is equal; QUOIT_NO_INDEX */
  guint32 *claim_ids;     /* durable ids of the claims' nodes */
  guint8 *kept;           /* nodes of the source, by index from its first, that the claims have again */
  guint8 *changed;        /* likewise: that are gone, or another */
  GHashTable *new_states; /* durable id -> QuoitNodeState, plus 1 */
  GArray *changes;        /* of QuoitNodeChange */
  /* of the entry */
  QuoitClaims *upserts;
  GArray *ids, *removed;
  GArray *lifted, *states, *placed; /* of QuoitEffect */
} QuoitDifference;

void quoit_difference_note (QuoitDifference *difference, QuoitChangeKind kind, const char *name, char *detail);

/* Notes each group of callers that loses a slice, or gets one back, by the new states of nodes. */
void quoit_difference_of_losses (QuoitDifference *difference);
/* The groups that the source has made, and what is used of its nodes without one: fills lifted and placed. */
gboolean quoit_difference_of_groups (QuoitDifference *difference, gint64 time_ms, GError **error);

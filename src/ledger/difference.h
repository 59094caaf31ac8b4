/* SPDX-License-Identifier: Apache-2.0 */
/* An import in the making: what a source says now against what it said last. What the files of the import share. */
#pragma once

#include "ledger/ledger.h"
#include "fleet/identities.h"

typedef struct {
  const QuoitFleet *fleet;
  const QuoitClaims *claims;
  QuoitVerb verb;         /* IMPORT or SYNC */
  QuoitSourceId source;   /* QUOIT_NO_INDEX: it is new */
  QuoitIdentities old;    /* its nodes in the layout */
  GHashTable *old_joined; /* identity -> index, plus 1, of those that other sources claim too */
  guint32 *at;            /* the node that each of the claims is of, QUOIT_NO_INDEX: a new one */
  guint32 *known_equal;   /* claimed kind -> a kind of the layout that is equal; QUOIT_NO_INDEX */
  guint32 *claim_ids;     /* durable ids of the claims' nodes */
  guint8 *kept;           /* by index of the node: that the claims have (again) */
  guint8 *changed;        /* likewise: that are gone, or another */
  GHashTable *moved;      /* durable id -> that of the node of another source which it turns out to be */
  GHashTable *moved_from; /* the same from the other side */
  GHashTable *new_states; /* durable id -> QuoitNodeState, plus 1 */
  GArray *changes;        /* of QuoitNodeChange */
  /* of the entry */
  QuoitClaims *upserts;
  GArray *ids, *removed;
  GArray *lifted, *states, *placed; /* of QuoitEffect */
} QuoitDifference;

void quoit_difference_note (QuoitDifference *difference, QuoitChangeKind kind, const char *name, char *detail);

/* The first group that has the node and is no source's; NULL: none. */
const QuoitGroupData *quoit_step_holder (const QuoitFleet *fleet, QuoitNodeId node);
const QuoitGroupData *quoit_difference_holder (const QuoitDifference *difference, guint32 index);

/* The node that the source called so when it was imported last; QUOIT_NO_INDEX: it is new. */
guint32 quoit_difference_find (QuoitDifference *difference, const QuoitNodeClaim *claim);

/* --- import-joins.c --- */

/* Finds the node that each of the claims is of, nodes of other sources included: fills at. INVALID, NOT_FOUND for a
 * source to join that cannot be joined. */
gboolean quoit_difference_of_joins (QuoitDifference *difference, GError **error);
/* Gives nodes whose worker ids the list does not say those that they had, and new ones what is left; one that is dead
 * and held has its own beside the one that replaces it. */
void quoit_step_keep_assumed_ids (const QuoitFleet *fleet, QuoitSourceId source, QuoitClaims *claims);

/* What the sources claim of the node's state when this one says @claim of it; NULL: nothing. */
QuoitNodeState quoit_difference_claimed_state (const QuoitDifference *difference, guint32 index,
                                               const QuoitNodeClaim *claim);
/* Whether this source is the one that knows best what the node is. */
gboolean quoit_difference_knows_best (const QuoitDifference *difference, guint32 index);
/* Whether the node is another source's too. */
gboolean quoit_difference_is_shared (const QuoitDifference *difference, guint32 index);
/* Whether the node is a machine of another topology or other chips, or divided otherwise, once this source says @claim
 * of it: not where another source knows better. */
gboolean quoit_difference_makes_another (const QuoitDifference *difference, guint32 index, const QuoitNodeClaim *claim);
/* Whether the node stands where another source puts it, whatever this one says. */
gboolean quoit_difference_stands_elsewhere (const QuoitDifference *difference, guint32 index);
/* Why the node, which this source has not claimed so far, cannot be what @claim says while a group holds it; NULL: it
 * can. */
const char *quoit_difference_refuses (const QuoitDifference *difference, guint32 index, const QuoitNodeClaim *claim);

/* Notes each group of callers that loses a slice, or gets one back, by the new states of nodes. */
void quoit_difference_of_losses (QuoitDifference *difference);
/* The groups that the source has made, and what is used of its nodes without one: fills lifted and placed. */
gboolean quoit_difference_of_groups (QuoitDifference *difference, gint64 time_ms, GError **error);

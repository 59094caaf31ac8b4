/* SPDX-License-Identifier: Apache-2.0 */
/* The state of one import, which compares the claims of a source with its previous ones. Shared by the import files. */
#pragma once

#include "ledger/ledger.h"
#include "fleet/identities.h"

typedef struct {
  const QuoitFleet *fleet;
  const QuoitClaims *claims;
  QuoitVerb verb;         /* IMPORT or SYNC */
  QuoitSourceId source;   /* QUOIT_NO_INDEX: new */
  QuoitIdentities old;    /* nodes of the source in the layout */
  GHashTable *old_joined; /* identity -> node index + 1, for nodes that other sources also claim */
  guint32 *at;            /* node index of each claim; QUOIT_NO_INDEX: new node */
  guint32 *known_equal;   /* claimed kind -> an equal kind of the layout; QUOIT_NO_INDEX: none known */
  guint32 *claim_ids;     /* durable node id of each claim */
  guint8 *kept;           /* by node index: the claims contain the node */
  guint8 *changed;        /* by node index: the source dropped the node or changed it */
  GHashTable *moved;      /* durable id -> id of the node of another source that turned out to be the same machine */
  GHashTable *moved_from; /* inverse of moved */
  GHashTable *new_states; /* durable id -> QuoitNodeState + 1 */
  GArray *changes;        /* of QuoitNodeChange */
  /* parts of the entry */
  QuoitClaims *upserts;
  GArray *ids, *removed;
  GArray *lifted, *states, *placed; /* of QuoitEffect */
} QuoitDifference;

void quoit_difference_note (QuoitDifference *difference, QuoitChangeKind kind, const char *name, char *detail);

/* Returns the first group on the node that does not belong to a source, or NULL. */
const QuoitGroupData *quoit_step_holder (const QuoitFleet *fleet, QuoitNodeId node);
const QuoitGroupData *quoit_difference_holder (const QuoitDifference *difference, guint32 index);

/* Returns the index of the node that the source identified like @claim in its last import. Returns QUOIT_NO_INDEX
 * for a new node. */
guint32 quoit_difference_find (QuoitDifference *difference, const QuoitNodeClaim *claim);

/* --- import-joins.c --- */

/* Finds the node of each claim, including nodes of other sources, and fills @difference->at. Fails with NOT_FOUND if
 * the source to join does not exist and with INVALID if it is of the same kind. */
gboolean quoit_difference_of_joins (QuoitDifference *difference, GError **error);
/* Sets the assumed worker ids of @claims. Nodes keep their previous ids, and new nodes get the remaining ones. A
 * dead node that a group holds keeps its id even if its replacement gets the same one. */
void quoit_step_keep_assumed_ids (const QuoitFleet *fleet, QuoitSourceId source, QuoitClaims *claims);

/* Returns the state of the node that results from the claims of all sources, if this source claims @claim. @claim
 * may be NULL: this source does not claim the node. */
QuoitNodeState quoit_difference_claimed_state (const QuoitDifference *difference, guint32 index,
                                               const QuoitNodeClaim *claim);
/* Whether no better-informed source (see source-kinds.h) claims the node. */
gboolean quoit_difference_knows_best (const QuoitDifference *difference, guint32 index);
/* Whether another source also claims the node. */
gboolean quoit_difference_is_shared (const QuoitDifference *difference, guint32 index);
/* Whether @claim changes the topology, the chips or the devices per chip of the node. FALSE if a better-informed
 * source claims the node. */
gboolean quoit_difference_makes_another (const QuoitDifference *difference, guint32 index, const QuoitNodeClaim *claim);
/* Whether a source whose kind has precedence determines the slice and worker id of the node. */
gboolean quoit_difference_stands_elsewhere (const QuoitDifference *difference, guint32 index);
/* Returns why @claim of a source that did not claim the node before conflicts with a group that holds the node.
 * Returns NULL if it does not. The text is static. */
const char *quoit_difference_refuses (const QuoitDifference *difference, guint32 index, const QuoitNodeClaim *claim);

/* Notes the slices and bundles of callers' groups that the new node states make lost, leaving or whole again. */
void quoit_difference_of_losses (QuoitDifference *difference);
/* Computes the groups and the external use of the source. Fills @difference->lifted and @difference->placed. */
gboolean quoit_difference_of_groups (QuoitDifference *difference, gint64 time_ms, GError **error);

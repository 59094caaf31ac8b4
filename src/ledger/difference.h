/* SPDX-License-Identifier: Apache-2.0 */
/* The difference between the new claims of a source and its previous ones, and the journal entry of the
 * import. Shared by the files import*.c. */
#pragma once

#include "ledger/ledger.h"
#include "fleet/identities.h"

typedef struct {
  const QuoitFleet *fleet;        /* before the import */
  const QuoitClaims *claims;      /* the new claims */
  QuoitVerb verb;                 /* IMPORT or SYNC */
  const QuoitNodesUpdate *update; /* the claims are only those of an update; NULL: they are the complete source */
  QuoitSourceId source;           /* QUOIT_NO_INDEX: new */
  QuoitIdentities old_nodes;      /* the nodes that the source claimed before */
  GHashTable *old_joined;         /* the same for nodes that other sources also claim: identity -> node index + 1 */

  /* arrays indexed by claim */
  guint32 *claim_nodes; /* index of the node of the claim; QUOIT_NO_INDEX: a new node */
  guint32 *claim_ids;   /* durable id of that node */

  guint32 *equal_kinds; /* by kind in the claims: an equal kind of the layout; QUOIT_NO_INDEX: none known yet */

  /* arrays indexed by node */
  guint8 *is_claimed;  /* the new claims contain the node */
  guint8 *has_changed; /* the source dropped the node or changed it */
  guint8 *is_removed;  /* the update removes the node, or the source had lost it before; NULL: no update */

  /* A machine of this source can turn out to be the same as a node of another source. */
  GHashTable *moved_to;   /* durable id of its previous node -> id of the node of the other source */
  GHashTable *moved_from; /* inverse of moved_to */

  GHashTable *new_states; /* durable id -> QuoitNodeState + 1 */
  GArray *changes;        /* of QuoitNodeChange */

  /* The entry consists of effects_before, the source update, state_effects and effects_after, in this order. */
  QuoitClaims *upserts;             /* the new and changed claims of the source update */
  GArray *upsert_ids, *removed_ids; /* of guint32 */
  GByteArray *upsert_events;        /* of QuoitNodeEvent */
  GPtrArray *removed_names;         /* owned by upserts; "": another source still claims the node */
  GArray *claimed_states; /* of QuoitReportedState: nodes that differ only in the claimed state and its cause */
  gboolean keeps_pools;
  GHashTable *kept_pools; /* names of the pools that keep nodes which the update does not contain */
  GArray *effects_before; /* of QuoitEffect: groups leave nodes that change */
  GArray *state_effects;  /* of QuoitEffect */
  GArray *effects_after;  /* of QuoitEffect: groups are placed on the changed nodes */
} QuoitDifference;

/* Returns whether the source no longer has the node that it claimed before. */
static inline gboolean
quoit_difference_drops (const QuoitDifference *difference, guint32 index)
{
  return !difference->is_claimed[index] && (difference->is_removed == NULL || difference->is_removed[index]);
}

/* Makes the entry of an import. @update: NULL if *@claims are complete. */
gboolean quoit_difference_import (const QuoitFleet *fleet, QuoitClaims **claims, QuoitVerb verb,
                                  const QuoitNodesUpdate *update, gint64 now_ms, QuoitEntry **entry, GArray **changes,
                                  GError **error);

/* --- import-update.c --- */

/* Fills @difference->is_removed, and adds the pools that keep nodes to the source update. The nodes of the claims must
 * be known. Fails with INVALID if the fleet becomes too large, and with CONFLICT if two alive nodes would have the same
 * name. */
gboolean quoit_difference_begin_update (QuoitDifference *difference, GError **error);

/* --- import-checks.c --- */

/* Fails with INVALID if the source or the fleet would become too large, or a text is too long, and with CONFLICT if
 * another source of the same kind claims one of the machines. @update: NULL if @claims are complete. */
gboolean quoit_step_check_claims (const QuoitFleet *fleet, const QuoitClaims *claims, const QuoitNodesUpdate *update,
                                  GError **error);

/* --- import-changes.c --- */

/* Adds a line to the list of changes that the caller gets. */
void quoit_difference_add_change (QuoitDifference *difference, QuoitChangeKind kind, const char *name, char *detail);

/* Returns the first group of this ledger's callers on the node, or NULL. Groups of sources do not count. */
const QuoitGroupData *quoit_step_find_own_group (const QuoitFleet *fleet, QuoitNodeId node);
const QuoitGroupData *quoit_difference_find_own_group (const QuoitDifference *difference, guint32 index);

/* Returns the claim of this source before the import, like quoit_layout_claim(). */
QuoitNodeClaim quoit_difference_previous_claim (const QuoitDifference *difference, guint32 index, char **identity);
/* Returns whether the kind with the index @claimed in the claims equals the one with @layout_kind in the layout. */
gboolean quoit_difference_is_equal_kind (QuoitDifference *difference, guint32 claimed, guint32 layout_kind);
/* Returns whether @claim reports a dead node without resources, as Ray does. Such a node keeps its previous kind. */
gboolean quoit_difference_is_bare_dead_claim (const QuoitDifference *difference, const QuoitNodeClaim *claim,
                                              const QuoitNodeClaim *previous);
/* Returns whether the node is still the machine that had the identity of @claim in the last import. A node that only
 * this source claims always is, because it was found by its identity. A node of several sources may have become another
 * machine. */
gboolean quoit_difference_is_same_machine (QuoitDifference *difference, guint32 index, const QuoitNodeClaim *claim);
/* Describes how a known node changes, and sets *@event. Returns NULL if it does not change. Sets *@breaks_use to
 * whether the change would take the node from a group. */
char *quoit_difference_describe_change (QuoitDifference *difference, guint32 index, const QuoitNodeClaim *claim,
                                        gboolean *breaks_use, QuoitNodeEvent *event);

/* --- import-compare.c --- */

/* Compares all nodes, and fills the source update. Fails with CONFLICT if a node that a group uses would be dropped or
 * replaced. */
gboolean quoit_difference_compare_nodes (QuoitDifference *difference, GError **error);
/* Adds a claim of this source to a node of other sources. */
gboolean quoit_difference_join_node (QuoitDifference *difference, guint32 index, const QuoitNodeClaim *claim,
                                     GError **error);

/* --- import-pools.c --- */

/* Finds out whether all pools of the source stay as they are, and adds new and changed ones to the list of changes. */
void quoit_difference_compare_pools (QuoitDifference *difference);
/* Adds the pools that the source no longer has to the list of changes. Runs after the nodes were compared, because a
 * pool with lost nodes stays. */
void quoit_difference_add_removed_pools (QuoitDifference *difference);
/* Adds all current pools to the source update. */
void quoit_difference_add_pools (QuoitDifference *difference);

/* --- import.c --- */

/* Returns the index of the node that had the identity of @claim in the last import of the source, or QUOIT_NO_INDEX. */
guint32 quoit_difference_find_node (QuoitDifference *difference, const QuoitNodeClaim *claim);

/* --- import-joins.c --- */

/* Finds the node of each claim, including nodes of other sources, and fills @difference->claim_nodes. Fails with
 * NOT_FOUND if the source to join does not exist and with INVALID if it is of the same kind. */
gboolean quoit_difference_join_nodes (QuoitDifference *difference, GError **error);
/* Sets the assumed worker ids of @claims. Nodes keep their previous ids, and new nodes get the remaining ones. A dead
 * node of a group keeps its id even if its replacement gets the same one. */
void quoit_step_keep_assumed_ids (const QuoitFleet *fleet, QuoitSourceId source, QuoitClaims *claims);

/* Returns the state of the node that results from the claims of all sources, with @claim as the claim of this source.
 * @claim is NULL if this source does not claim the node. */
QuoitNodeState quoit_difference_claimed_state (const QuoitDifference *difference, guint32 index,
                                               const QuoitNodeClaim *claim);
/* Returns whether no source of a kind that knows more (see source-kinds.h) claims the node. */
gboolean quoit_difference_has_precedence (const QuoitDifference *difference, guint32 index);
/* Returns whether another source also claims the node. */
gboolean quoit_difference_is_shared (const QuoitDifference *difference, guint32 index);
/* Returns whether @claim changes the topology, the chips or the devices per chip of the node. Returns FALSE if a
 * source of a kind that knows more claims the node. */
gboolean quoit_difference_changes_hardware (const QuoitDifference *difference, guint32 index,
                                            const QuoitNodeClaim *claim);
/* Returns whether another source, whose kind comes first, determines the slice and the worker id of the node. */
gboolean quoit_difference_is_placed_by_other_source (const QuoitDifference *difference, guint32 index);
/* Returns why a group on the node could not keep the node if this source, which did not claim the node before, claimed
 * it with @claim: for example "would have another place". Returns NULL if it could keep the node. The text is
 * static. */
const char *quoit_difference_explain_conflict (const QuoitDifference *difference, guint32 index,
                                               const QuoitNodeClaim *claim);

/* Adds the slices and bundles of callers' groups that become lost, leaving or whole again to the list of changes. */
void quoit_difference_add_losses (QuoitDifference *difference);
/* Computes the groups and the external use of the source. Fills @difference->effects_before and
 * @difference->effects_after. */
gboolean quoit_difference_import_groups (QuoitDifference *difference, gint64 time_ms, GError **error);

/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of a source while an import places its groups and its external use on them: what is left of each node, and
 * what groups of this ledger have there. */
#pragma once

#include "ledger/difference.h"
#include "fleet/chips.h"

/* The arrays of amounts have one element per resource of the kind, and then one per derived resource. */
typedef struct {
  const QuoitNodeKind *kind;
  const char *derived[2];  /* resources that Ray adds: the slice name, and the head of the slice; NULL: none */
  QuoitAmount *left;       /* what is not used yet */
  QuoitAmount *unreported; /* used by groups that this import does not report; not part of the external use */
  QuoitAmount *own; /* used by this ledger's bundles that are not matched to a bundle of the source yet; NULL: there
                     * are none on the node */
  QuoitAmount *for_others; /* if own is set: left for bundles of the source that match no bundle of this ledger */
  QuoitFreeChips chips;
  gint64 tpu_per_chip_e4;
  GArray *demands;          /* of QuoitChipDemand, in the order in which bundles are placed */
  guint next_demand;        /* index of the demand of the next bundle that is placed */
  gboolean chips_suffice;   /* all demands got chips */
  gboolean has_slice_group; /* a group of this ledger uses the node as a host of a slice */
} QuoitImportNode;

typedef struct {
  const QuoitDifference *difference;
  const QuoitNodeClaim *claims;
  guint32 n_claims;
  QuoitImportNode **nodes; /* by index of the claim; created on first use */
  GPtrArray *head_names;   /* owns the texts of derived[1] */
} QuoitImportNodeTable;

void quoit_import_nodes_init (QuoitImportNodeTable *table, const QuoitDifference *difference);
void quoit_import_nodes_clear (QuoitImportNodeTable *table);
QuoitImportNode *quoit_import_nodes_get (QuoitImportNodeTable *table, guint32 index);

/* Returns the index of the resource in the arrays of amounts. Returns -1 if the node does not state the resource, for
 * example one that Ray adds for internal use. */
int quoit_import_node_find_resource (const QuoitImportNode *node, const char *resource);
/* Converts an amount of TPU to ten-thousandths of chips. */
gint64 quoit_import_node_chips_e4 (const QuoitImportNode *node, QuoitAmount tpu);
/* Returns the id of the node that gets the source's bundles of node @id: @id itself, or the node of another source that
 * turned out to be the same machine, or 0 if the node is gone or has changed. */
guint32 quoit_import_successor_id (const QuoitDifference *difference, guint32 id);
/* Returns the set of the bundles (QuoitBundleClaim) in the source's groups that are bundles of this ledger; the caller
 * owns it. @source_groups: foreign id -> QuoitGroupData, the groups of the source in the fleet. See import-match.c. */
GHashTable *quoit_import_match_own_bundles (QuoitImportNodeTable *table, GHashTable *source_groups);
/* Assigns chips to the demands of all nodes. */
void quoit_import_nodes_assign_chips (QuoitImportNodeTable *table);

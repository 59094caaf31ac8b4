/* SPDX-License-Identifier: Apache-2.0 */
/* The remaining capacity of the nodes of a source while an import places its groups and its use on them. */
#pragma once

#include "ledger/difference.h"
#include "fleet/chips.h"

typedef struct {
  const QuoitNodeKind *kind;
  const char *derived[2]; /* resources that Ray adds: slice name, head; NULL: none */
  QuoitAmount *left;      /* resources of the kind, then derived ones */
  QuoitAmount *explained; /* same order: amounts of groups that stay without being reported again */
  QuoitAmount *own;       /* same order: amounts of this ledger's bundles that no reported bundle is attributed to
                           * yet; NULL: no such bundles */
  QuoitAmount *rest;      /* same order, if own is set: capacity for bundles that are not attributed to this ledger's */
  QuoitChipRoom chips;
  gint64 tpu_per_chip_e4;
  GArray *wishes;     /* of QuoitChipWish, in the order in which bundles are placed */
  guint next_wish;    /* index in wishes */
  gboolean chips_fit; /* all wishes got chips */
  gboolean is_taken;  /* a group of this ledger uses the node as a host of a slice */
} QuoitImportRoom;

typedef struct {
  const QuoitDifference *difference;
  const QuoitNodeClaim *nodes;
  guint32 n_nodes;
  QuoitImportRoom **rooms; /* by node index in the claims; created on first use */
  GPtrArray *heads;        /* texts of derived[1] */
} QuoitImportRooms;

void quoit_import_rooms_init (QuoitImportRooms *rooms, const QuoitDifference *difference);
void quoit_import_rooms_clear (QuoitImportRooms *rooms);
QuoitImportRoom *quoit_import_room (QuoitImportRooms *rooms, guint32 node);

/* Returns the index of the resource in left. Returns -1 if the node does not state it, for example a resource that
 * Ray adds for internal use. */
int quoit_import_room_place (const QuoitImportRoom *room, const char *resource);
/* Converts an amount of TPU to ten-thousandths of chips. */
gint64 quoit_import_room_chips_e4 (const QuoitImportRoom *room, QuoitAmount tpu);
/* Returns the id of the node that takes over bundles of node @id: @id itself, the node that turned out to be the
 * same machine, or 0 if the node is gone or has changed. */
guint32 quoit_import_id_after (const QuoitDifference *difference, guint32 id);
/* Returns the set of the bundles (QuoitBundleClaim) in the source's groups that are bundles of this ledger; the
 * caller owns it. @mine: foreign id -> QuoitGroupData, the groups of the source in the fleet. Defined in
 * import-own.c. */
GHashTable *quoit_import_own (QuoitImportRooms *rooms, GHashTable *mine);
/* Chooses chips for all wishes of all rooms. */
void quoit_import_rooms_share_out (QuoitImportRooms *rooms);

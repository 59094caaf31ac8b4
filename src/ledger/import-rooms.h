/* SPDX-License-Identifier: Apache-2.0 */
/* What is left of a source's nodes while what it says of use is put down on them. */
#pragma once

#include "ledger/difference.h"
#include "fleet/chips.h"

typedef struct {
  const QuoitNodeKind *kind;
  const char *derived[2]; /* what Ray adds: the slice's name, the head; NULL: none */
  QuoitAmount *left;      /* of the kind's resources, then of the derived ones */
  QuoitAmount *explained; /* likewise: what groups have that stay without being said again */
  QuoitAmount *own;       /* likewise: what bundles of this ledger have that nothing said has been taken for yet; NULL:
                             there are none */
  QuoitAmount *rest;      /* likewise, where own is: what is left for bundles that are not taken for those */
  QuoitChipRoom chips;
  gint64 tpu_per_chip_e4;
  GArray *wishes;     /* of QuoitChipWish, in the order in which bundles are put down */
  guint next_wish;    /* of the next one */
  gboolean chips_fit; /* all of them have found their chips */
  gboolean is_taken;  /* a group of this ledger has it as a host of a slice: that is who uses it */
} QuoitImportRoom;

typedef struct {
  const QuoitDifference *difference;
  const QuoitNodeClaim *nodes;
  guint32 n_nodes;
  QuoitImportRoom **rooms; /* by index of the claims; made when first needed */
  GPtrArray *heads;        /* texts */
} QuoitImportRooms;

void quoit_import_rooms_init (QuoitImportRooms *rooms, const QuoitDifference *difference);
void quoit_import_rooms_clear (QuoitImportRooms *rooms);
QuoitImportRoom *quoit_import_room (QuoitImportRooms *rooms, guint32 node);

/* The resource's place in what is left; -1: the node does not state it, as with what Ray adds for its own use. */
int quoit_import_room_place (const QuoitImportRoom *room, const char *resource);
/* That much TPU in ten-thousandths of chips. */
gint64 quoit_import_room_chips_e4 (const QuoitImportRoom *room, QuoitAmount tpu);
/* Where stands what has stood on the node of that id: there, on the node that it turns out to be, or (0) nowhere where
 * it is gone, or another now. */
guint32 quoit_import_id_after (const QuoitDifference *difference, guint32 id);
/* import-own.c: the bundles (of QuoitBundleClaim) of the source's groups that are bundles of this ledger. @mine:
 * foreign id -> QuoitGroupData, the source's groups that the fleet has. Owned. */
GHashTable *quoit_import_own (QuoitImportRooms *rooms, GHashTable *mine);
/* All wishes of all rooms. */
void quoit_import_rooms_share_out (QuoitImportRooms *rooms);

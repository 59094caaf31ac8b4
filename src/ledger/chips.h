/* SPDX-License-Identifier: Apache-2.0 */
/* Which chips of a host its bundles have, where their source only says how many. */
#pragma once

#include "model/group.h"

/* The chips of one host, and what is free of each, in ten-thousandths. */
typedef struct {
  guint n;
  gint32 e4[64];
} QuoitChipRoom;

typedef struct {
  gint64 want_e4;          /* ten-thousandths of chips */
  const QuoitBundle *kept; /* had these chips so far; NULL: none */
  QuoitBundle has;         /* its chips alone; written when all have found room */
} QuoitChipWish;

/* Gives each wish whole chips, and for the rest a part of one chip: those that it had, if the others find room beside
 * them, else others. FALSE when it cannot be done, or would take too long to find: nothing is written. */
gboolean quoit_chips_share_out (QuoitChipRoom *room, QuoitChipWish *wishes, guint n);

/* Takes @want_e4 from wherever something is free, as one bundle's whole chips and a part, and a part more for each
 * bundle that follows: an array of QuoitBundle. NULL when less is free. */
GArray *quoit_chips_spread (QuoitChipRoom *room, gint64 want_e4);

void quoit_chips_take (QuoitChipRoom *room, const QuoitBundle *bundle);

/* SPDX-License-Identifier: Apache-2.0 */
/* Which chips of a host its bundles have, where it is only said how many. */
#pragma once

#include "fleet/group.h"

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

/* Far more than it takes where fractions are of a few sizes. */
enum { QUOIT_CHIPS_STEPS = 200000 };

/* What @amount of a resource is in ten-thousandths of chips, where a whole chip is @per_chip_e4 of it; 0: no chips. */
static inline gint64
quoit_chips_e4 (QuoitAmount amount, gint64 per_chip_e4)
{
  return per_chip_e4 > 0 ? (gint64) ((__int128) amount.e4 * QUOIT_AMOUNT_UNIT / per_chip_e4) : 0;
}

/* Gives each wish whole chips, and for the rest a part of one chip: those that it had, if the others find room beside
 * them, else others. FALSE when it cannot be done, or is not found within @steps, which are lowered by those taken and
 * are 0 then: nothing else is written. */
gboolean quoit_chips_share_out (QuoitChipRoom *room, QuoitChipWish *wishes, guint n, guint *steps);

/* Takes @want_e4 from wherever something is free, as one bundle's whole chips and a part, and a part more for each
 * bundle that follows: an array of QuoitBundle. NULL when less is free. */
GArray *quoit_chips_spread (QuoitChipRoom *room, gint64 want_e4);

void quoit_chips_take (QuoitChipRoom *room, const QuoitBundle *bundle);

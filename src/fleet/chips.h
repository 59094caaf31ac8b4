/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns the chips of a host to bundles. Sources report only how many chips each bundle has, not which ones. */
#pragma once

#include "fleet/group.h"

/* How much of each chip of one host is free, in ten-thousandths. */
typedef struct {
  guint n; /* number of chips */
  gint32 e4[64];
} QuoitFreeChips;

/* How much TPU one bundle needs, and the chips that it gets. */
typedef struct {
  gint64 needed_e4;            /* ten-thousandths of a chip */
  const QuoitBundle *previous; /* the bundle with its present chips; NULL: it has none */
  QuoitBundle assigned;        /* result: only the members for chips are set, and only if all bundles fit */
} QuoitChipDemand;

/* Maximum number of search steps. Searches with a few different fractions need far fewer. */
enum { QUOIT_CHIPS_MAX_STEPS = 200000 };

/* Converts @amount of a resource to ten-thousandths of chips. A whole chip counts as @per_chip_e4 of the resource; if
 * that is 0, the resource has no chips, and the result is 0. */
static inline gint64
quoit_chips_e4 (QuoitAmount amount, gint64 per_chip_e4)
{
  return per_chip_e4 > 0 ? (gint64) ((__int128) amount.e4 * QUOIT_AMOUNT_UNIT / per_chip_e4) : 0;
}

/* Gives each bundle whole chips, and a part of one more chip for the remainder. A bundle keeps its previous chips if
 * the other bundles still fit. Returns FALSE, and changes only *@steps, if there is no assignment or the search does
 * not find one within *@steps steps. Each step decrements *@steps. */
gboolean quoit_chips_assign (QuoitFreeChips *free_chips, QuoitChipDemand *demands, guint n, guint *steps);

/* Assigns @needed_e4 from any free chips, also as parts of several chips. Returns an array of QuoitBundle, because a
 * bundle can have a part of one chip only: the first has the whole chips, and each of the others has a part of another
 * chip. Returns NULL if less than @needed_e4 is free. */
GArray *quoit_chips_assign_anywhere (QuoitFreeChips *free_chips, gint64 needed_e4);

/* Subtracts the chips of @bundle from @free_chips. */
void quoit_chips_subtract (QuoitFreeChips *free_chips, const QuoitBundle *bundle);

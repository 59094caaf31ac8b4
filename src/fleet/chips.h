/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses chips of a host for its bundles when a source reports only how many chips each bundle has. */
#pragma once

#include "fleet/group.h"

/* The chips of one host, and how much of each is free, in ten-thousandths. */
typedef struct {
  guint n;
  gint32 e4[64];
} QuoitChipRoom;

typedef struct {
  gint64 want_e4;          /* ten-thousandths of a chip */
  const QuoitBundle *kept; /* its chips so far; NULL: none */
  QuoitBundle has;         /* result, chips only; written if all bundles fit */
} QuoitChipWish;

/* Limit of search steps, far more than needed for fractions of a few sizes. */
enum { QUOIT_CHIPS_STEPS = 200000 };

/* Converts @amount of a resource to ten-thousandths of chips, if a whole chip is @per_chip_e4 of it. Returns 0 for a
 * resource without chips. */
static inline gint64
quoit_chips_e4 (QuoitAmount amount, gint64 per_chip_e4)
{
  return per_chip_e4 > 0 ? (gint64) ((__int128) amount.e4 * QUOIT_AMOUNT_UNIT / per_chip_e4) : 0;
}

/* Gives each bundle whole chips, and for the remainder a part of one chip. Bundles keep their previous chips if the
 * others still fit. Returns FALSE if no assignment exists or none is found within *@steps, which counts down to 0.
 * Then only *@steps is changed. */
gboolean quoit_chips_share_out (QuoitChipRoom *room, QuoitChipWish *wishes, guint n, guint *steps);

/* Takes @want_e4 from any free chips. Returns an array of QuoitBundle: the first has the whole chips and a part,
 * each further one has another part. Returns NULL if less is free. */
GArray *quoit_chips_spread (QuoitChipRoom *room, gint64 want_e4);

void quoit_chips_take (QuoitChipRoom *room, const QuoitBundle *bundle);

/* SPDX-License-Identifier: Apache-2.0 */
/* Amounts of a resource in ten-thousandths, the unit in which Ray counts them. Sums of amounts need 128 bits. */
#pragma once

#include <quoit/amount.h>

#include "base/error.h"

typedef struct {
  __int128 e4;
} QuoitSum;

enum { QUOIT_AMOUNT_UNIT = 10000 };

/* Converts @value as Ray does: multiplies it by 10,000 in double and truncates toward zero (ray-scheduling 1).
 * INVALID for values that Ray would lose or turn negative: NaN, infinity, negative numbers, and 922337203685477.5808
 * and up. */
gboolean quoit_amount_from_double (double value, QuoitAmount *amount, GError **error);

/* Like quoit_amount_from_double(), but accepts negative numbers, because some requests of Ray contain them. INVALID
 * for values with an undefined result: NaN, infinity, and magnitudes of 922337203685477.5808 and up. */
gboolean quoit_amount_from_signed_double (double value, QuoitAmount *amount, GError **error);

/* Parses decimal text exactly: digits, optionally followed by a point and digits. INVALID if @text is malformed,
 * negative, too large, or finer than 0.0001. */
gboolean quoit_amount_parse (const char *text, QuoitAmount *amount, GError **error);

QuoitAmount quoit_amount_from_int (int64_t units); /* asserts @units <= 922,337,203,685,477 */
gboolean quoit_amount_add (QuoitAmount a, QuoitAmount b, QuoitAmount *sum, GError **error);

static inline QuoitSum
quoit_sum_add (QuoitSum sum, QuoitAmount amount)
{
  return (QuoitSum) { sum.e4 + amount.e4 };
}

/* Adds @amount for each of @times nodes. Cannot overflow: 63 bits times 32 bits. */
static inline QuoitSum
quoit_sum_add_times (QuoitSum sum, QuoitAmount amount, guint32 times)
{
  return (QuoitSum) { sum.e4 + (__int128) amount.e4 * times };
}

char *quoit_sum_format (QuoitSum sum);

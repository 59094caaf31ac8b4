/* SPDX-License-Identifier: Apache-2.0 */
/* Amounts of a resource, in ten-thousandths as Ray counts them, and sums of amounts, which need 128 bits. */
#pragma once

#include "base/error.h"

typedef struct {
  int64_t e4;
} QuoitAmount;

typedef struct {
  __int128 e4;
} QuoitSum;

enum { QUOIT_AMOUNT_UNIT = 10000 };

/* What Ray makes of a double: times 10,000 in double, cut toward zero (ray-scheduling 1).
 * INVALID for what Ray would lose or count backwards: NaN, infinity, negative numbers, 922337203685477.5808 and up. */
gboolean quoit_amount_from_double (double value, QuoitAmount *amount, GError **error);

/* The same where Ray asks for less than nothing and means it. INVALID for what is undefined there: NaN, infinity,
 * numbers of 922337203685477.5808 and up, and as far below 0. */
gboolean quoit_amount_from_signed_double (double value, QuoitAmount *amount, GError **error);

/* Decimal text, exactly: digits, optionally a point and digits. INVALID when it is not that, is negative, too large,
 * or finer than a ten-thousandth. */
gboolean quoit_amount_parse (const char *text, QuoitAmount *amount, GError **error);

QuoitAmount quoit_amount_from_int (int64_t units); /* of at most 922,337,203,685,477 units; asserts */
gboolean quoit_amount_add (QuoitAmount a, QuoitAmount b, QuoitAmount *sum, GError **error);

/* The shortest decimal text that parses back to the same amount: "4", "0.5", "1.0001". */
char *quoit_amount_format (QuoitAmount amount);

static inline QuoitSum
quoit_sum_add (QuoitSum sum, QuoitAmount amount)
{
  return (QuoitSum) { sum.e4 + amount.e4 };
}

/* @times: how many nodes have @amount. Cannot overflow: 63 bits times 32 bits. */
static inline QuoitSum
quoit_sum_add_times (QuoitSum sum, QuoitAmount amount, guint32 times)
{
  return (QuoitSum) { sum.e4 + (__int128) amount.e4 * times };
}

char *quoit_sum_format (QuoitSum sum);

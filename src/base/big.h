/* SPDX-License-Identifier: Apache-2.0 */
/* Integers of arbitrary length, like Python's. Ray multiplies the numbers of a topology without a limit, so quoit
 * must too. */
#pragma once

#include "base/error.h"

typedef struct _QuoitBig QuoitBig;

/* Python refuses to parse or print more digits than this. */
enum { QUOIT_BIG_MAX_DIGITS = 4300 };

QuoitBig *quoit_big_from_int (int64_t value);
/* @digits: ASCII digits. @sign: -1 or 1. */
QuoitBig *quoit_big_from_digits (const char *digits, gsize n_digits, int sign);
void quoit_big_free (QuoitBig *big);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitBig, quoit_big_free)

int quoit_big_sign (const QuoitBig *big); /* -1, 0, 1 */
QuoitBig *quoit_big_multiply (const QuoitBig *a, const QuoitBig *b);
QuoitBig *quoit_big_add (const QuoitBig *a, guint32 n);
int quoit_big_compare (const QuoitBig *a, const QuoitBig *b); /* < 0, 0, > 0 */
/* Returns the quotient, rounded down, so that *@rest is never negative. @divisor must be positive. */
QuoitBig *quoit_big_divide (const QuoitBig *a, int64_t divisor, int64_t *rest);
gboolean quoit_big_to_int (const QuoitBig *big, int64_t *value); /* FALSE beyond 64 bits, with @value unchanged */
double quoit_big_to_double (const QuoitBig *big);                /* the nearest double; infinity if too large */
gsize quoit_big_n_digits (const QuoitBig *big);
char *quoit_big_format (const QuoitBig *big);

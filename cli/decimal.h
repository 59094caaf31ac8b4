/* SPDX-License-Identifier: Apache-2.0 */
/* Exact arithmetic with the decimal text of the library, for sums that exceed a QuoitAmount. */
#pragma once

#include <glib.h>

typedef struct {
  __int128 e4; /* ten-thousandths */
} Decimal;

Decimal decimal_parse (const char *text);
char *decimal_format (Decimal decimal);

/* Formats whole bytes like Kubernetes: "1579277216Ki", with the largest unit that divides the number. */
char *decimal_format_bytes (Decimal bytes);

/* Formats bytes for people, rounded to two decimals: "1.46 TiB". */
char *decimal_format_size (Decimal bytes);

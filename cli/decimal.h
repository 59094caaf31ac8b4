/* SPDX-License-Identifier: Apache-2.0 */
/* Sums and differences of the library's decimal text: exact, as the library's own are. */
#pragma once

#include <glib.h>

typedef struct {
  __int128 e4; /* ten-thousandths */
} Decimal;

Decimal decimal_parse (const char *text);
char *decimal_format (Decimal decimal);
char *decimal_difference (const char *a, const char *b);

/* Whole bytes as Kubernetes writes them: "1579277216Ki", with the greatest unit that leaves no rest. */
char *decimal_format_bytes (Decimal bytes);

/* SPDX-License-Identifier: Apache-2.0 */
/* Natural order: runs of digits compare as numbers, so "host-9" comes before "host-10". */
#pragma once

#include <glib.h>

/* Total order. If the numbers are equal ("a1", "a01"), the bytes decide. Returns < 0, 0 or > 0, like strcmp(). */
int quoit_natural_compare (const char *a, const char *b);

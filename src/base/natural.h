/* SPDX-License-Identifier: Apache-2.0 */
/* Natural order: runs of digits compare as numbers, "host-9" before "host-10". */
#pragma once

#include <glib.h>

/* A total order: where the numbers are equal ("a1", "a01") the bytes decide. < 0, 0, > 0 as strcmp(). */
int quoit_natural_compare (const char *a, const char *b);

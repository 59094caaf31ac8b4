/* SPDX-License-Identifier: Apache-2.0 */
/* The table of resources, with their used and total amounts. */
#pragma once

#include "table.h"

Table *resources_table (void);
/* @used and @total: exact decimal text, which the table takes. People read an amount of memory as a size: "10 GiB". */
void resources_take (Table *resources, const char *name, char *used, char *total);

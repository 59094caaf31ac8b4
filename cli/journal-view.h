/* SPDX-License-Identifier: Apache-2.0 */
/* The entries of the journal as rows. */
#pragma once

#include <quoit/quoit.h>

#include "table.h"

Table *journal_table_new (void);
void journal_table_add (Table *table, const QuoitJournal *journal, uint32_t entry);

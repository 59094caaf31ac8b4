/* SPDX-License-Identifier: Apache-2.0 */
/* A copy-on-write hash table from 32-bit hashes to integers. The caller computes the hashes and compares keys, because
 * different keys can have the same hash. */
#pragma once

#include "fleet/table.h"

typedef struct {
  QuoitTable entries; /* open addressing: hash << 32 | value + 1; 0: empty */
  guint32 mask;       /* number of slots - 1 */
  guint32 n;          /* number of entries */
} QuoitIndex;

#define QUOIT_INDEX_NONE G_MAXUINT32

void quoit_index_init (QuoitIndex *index);
void quoit_index_clear (QuoitIndex *index);
void quoit_index_share (const QuoitIndex *index, QuoitIndex *copy);
void quoit_index_add (QuoitIndex *index, guint32 hash, guint32 value);
void quoit_index_remove (QuoitIndex *index, guint32 hash, guint32 value); /* the entry must exist */

/* Iterates over the values with the hash @hash. *@at must be @hash at first. Returns QUOIT_INDEX_NONE at the end. */
guint32 quoit_index_next (const QuoitIndex *index, guint32 hash, guint32 *at);

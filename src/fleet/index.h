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

enum { QUOIT_INDEX_PER_CHUNK = 128 }; /* entries */

void quoit_index_init (QuoitIndex *index);
void quoit_index_clear (QuoitIndex *index);
void quoit_index_share (const QuoitIndex *index, QuoitIndex *copy);
void quoit_index_add (QuoitIndex *index, guint32 hash, guint32 value);
void quoit_index_remove (QuoitIndex *index, guint32 hash, guint32 value); /* the entry must exist */

/* Like quoit_index_add() and quoit_index_remove(), for the place that quoit_index_next() has found: @at is its *@at
 * after the end, or its *@at - 1 after the entry. The index must not have changed since. */
void quoit_index_add_at (QuoitIndex *index, guint32 at, guint32 hash, guint32 value);
void quoit_index_remove_at (QuoitIndex *index, guint32 at);

/* Iterates over the values with the hash @hash. *@at must be @hash at first. Returns QUOIT_INDEX_NONE at the end, and
 * *@at is then the place of an empty entry. */
static inline guint32
quoit_index_next (const QuoitIndex *index, guint32 hash, guint32 *at)
{
  const guint64 *chunk = quoit_table_peek (&index->entries, (*at & index->mask) / QUOIT_INDEX_PER_CHUNK);

  for (;;)
    {
      const guint64 entry = chunk[*at % QUOIT_INDEX_PER_CHUNK];

      if (entry == 0)
        return QUOIT_INDEX_NONE;
      ++*at;
      if (entry >> 32 == hash)
        return (guint32) entry - 1;
      if (*at % QUOIT_INDEX_PER_CHUNK == 0)
        chunk = quoit_table_peek (&index->entries, (*at & index->mask) / QUOIT_INDEX_PER_CHUNK);
    }
}

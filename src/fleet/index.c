/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/index.h"

enum { PER_CHUNK = QUOIT_INDEX_PER_CHUNK };

static const QuoitTableType entries_type = { .chunk_bytes = PER_CHUNK * sizeof (guint64) };

static void
init (QuoitIndex *index, guint32 n_entries)
{
  index->mask = n_entries - 1;
  index->n = 0;
  quoit_table_init (&index->entries, &entries_type, n_entries / PER_CHUNK);
}

void
quoit_index_init (QuoitIndex *index)
{
  init (index, PER_CHUNK);
}

void
quoit_index_clear (QuoitIndex *index)
{
  quoit_table_clear (&index->entries);
}

void
quoit_index_share (const QuoitIndex *index, QuoitIndex *copy)
{
  *copy = *index;
  quoit_table_share (&index->entries, &copy->entries);
}

/* Returns the chunk of an entry. Loops call this once per chunk instead of once per entry, because it is slow. */
static inline const guint64 *
peek_chunk (const QuoitIndex *index, guint32 at)
{
  return quoit_table_peek (&index->entries, at / PER_CHUNK);
}

static inline guint64
get (const QuoitIndex *index, guint32 at)
{
  return peek_chunk (index, at)[at % PER_CHUNK];
}

static inline void
set (QuoitIndex *index, guint32 at, guint64 entry)
{
  ((guint64 *) quoit_table_own (&index->entries, at / PER_CHUNK))[at % PER_CHUNK] = entry;
}

static inline void
insert (QuoitIndex *index, guint64 entry)
{
  guint32 at = (guint32) (entry >> 32) & index->mask;
  const guint64 *chunk = peek_chunk (index, at);

  for (; chunk[at % PER_CHUNK] != 0; at = (at + 1) & index->mask)
    if (at % PER_CHUNK == PER_CHUNK - 1)
      chunk = peek_chunk (index, (at + 1) & index->mask);
  set (index, at, entry);
  index->n++;
}

G_GNUC_NO_INLINE static void
grow (QuoitIndex *index)
{
  QuoitIndex larger;

  init (&larger, (index->mask + 1) * 2);
  for (guint32 at = 0; at <= index->mask; at++)
    if (get (index, at) != 0)
      insert (&larger, get (index, at));
  quoit_index_clear (index);
  *index = larger;
}

static inline guint64
make_entry (guint32 hash, guint32 value)
{
  return (guint64) hash << 32 | (value + 1);
}

static inline gboolean
is_full (const QuoitIndex *index)
{
  return index->n >= index->mask - index->mask / 4;
}

void
quoit_index_add (QuoitIndex *index, guint32 hash, guint32 value)
{
  if (G_UNLIKELY (is_full (index)))
    grow (index);
  insert (index, make_entry (hash, value));
}

void
quoit_index_add_at (QuoitIndex *index, guint32 at, guint32 hash, guint32 value)
{
  if (G_UNLIKELY (is_full (index)))
    return quoit_index_add (index, hash, value);
  set (index, at & index->mask, make_entry (hash, value));
  index->n++;
}

void
quoit_index_remove (QuoitIndex *index, guint32 hash, guint32 value)
{
  const guint64 entry = make_entry (hash, value);
  guint32 at = hash & index->mask;
  const guint64 *chunk = peek_chunk (index, at);

  for (; chunk[at % PER_CHUNK] != entry; at = (at + 1) & index->mask)
    if (at % PER_CHUNK == PER_CHUNK - 1)
      chunk = peek_chunk (index, (at + 1) & index->mask);
  quoit_index_remove_at (index, at);
}

void
quoit_index_remove_at (QuoitIndex *index, guint32 at)
{
  guint32 hole = at & index->mask;
  const guint64 *chunk = peek_chunk (index, hole);

  index->n--;

  /* A search stops at an empty slot, so the hole must be filled: move later entries into it, except entries that would
   * then be before their home slot. */
  for (at = (hole + 1) & index->mask;; at = (at + 1) & index->mask)
    {
      guint64 entry;
      guint32 home;

      if (at % PER_CHUNK == 0)
        chunk = peek_chunk (index, at);
      entry = chunk[at % PER_CHUNK];
      if (entry == 0)
        break;
      home = (guint32) (entry >> 32) & index->mask;
      if (((at - home) & index->mask) < ((at - hole) & index->mask))
        continue;
      set (index, hole, entry);
      hole = at;
      chunk = peek_chunk (index, at); /* writing may have copied the chunk */
    }
  set (index, hole, 0);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "model/index.h"

enum { PER_CHUNK = 128 };

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

static guint64
get (const QuoitIndex *index, guint32 at)
{
  return ((const guint64 *) quoit_table_peek (&index->entries, at / PER_CHUNK))[at % PER_CHUNK];
}

static void
set (QuoitIndex *index, guint32 at, guint64 entry)
{
  ((guint64 *) quoit_table_own (&index->entries, at / PER_CHUNK))[at % PER_CHUNK] = entry;
}

static void
insert (QuoitIndex *index, guint64 entry)
{
  guint32 at = (guint32) (entry >> 32) & index->mask;

  while (get (index, at) != 0)
    at = (at + 1) & index->mask;
  set (index, at, entry);
  index->n++;
}

void
quoit_index_add (QuoitIndex *index, guint32 hash, guint32 value)
{
  if (index->n >= index->mask - index->mask / 4)
    {
      QuoitIndex larger;

      init (&larger, (index->mask + 1) * 2);
      for (guint32 at = 0; at <= index->mask; at++)
        if (get (index, at) != 0)
          insert (&larger, get (index, at));
      quoit_index_clear (index);
      *index = larger;
    }
  insert (index, (guint64) hash << 32 | (value + 1));
}

void
quoit_index_remove (QuoitIndex *index, guint32 hash, guint32 value)
{
  guint32 hole = hash & index->mask, at;

  while (get (index, hole) != ((guint64) hash << 32 | (value + 1)))
    hole = (hole + 1) & index->mask;
  index->n--;

  /* Entries behind the hole move into it unless that would put them before their home. */
  for (at = (hole + 1) & index->mask; get (index, at) != 0; at = (at + 1) & index->mask)
    {
      guint64 entry = get (index, at);
      guint32 home = (guint32) (entry >> 32) & index->mask;

      if (((at - home) & index->mask) < ((at - hole) & index->mask))
        continue;
      set (index, hole, entry);
      hole = at;
    }
  set (index, hole, 0);
}

guint32
quoit_index_next (const QuoitIndex *index, guint32 hash, guint32 *at)
{
  for (;; (*at)++)
    {
      guint64 entry = get (index, *at & index->mask);

      if (entry == 0)
        return QUOIT_INDEX_NONE;
      if (entry >> 32 == hash)
        {
          (*at)++;
          return (guint32) entry - 1;
        }
    }
}

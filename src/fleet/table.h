/* SPDX-License-Identifier: Apache-2.0 */
/* A copy-on-write array of bytes. The bytes are in chunks of equal size; a root refers to directories, and each
 * directory refers to 16 chunks. All of them have reference counts. To copy a table, only the count of the root is
 * incremented. A write to a shared table copies the root, one directory and one chunk, whatever the size of the fleet.
 * Without directories, the first write to a fork would have to increment the counts of all chunks. */
#pragma once

#include <glib.h>

enum { QUOIT_TABLE_FAN_OUT = 16 };

typedef struct {
  gatomicrefcount refs;
  guint32 pad[3];
  /* followed by the bytes, 16-byte aligned like the allocation */
} QuoitChunk;

typedef struct {
  gatomicrefcount refs;
  QuoitChunk *chunks[QUOIT_TABLE_FAN_OUT];
} QuoitDirectory;

typedef struct {
  gatomicrefcount refs;
  guint32 n_directories;
  gint is_exclusive; /* FALSE once a table has shared this root, until its only table owns a chunk again */
  QuoitDirectory *directories[];
} QuoitRoot;

/* The type of the chunks of a table. If chunks contain references, the functions count them; otherwise they are
 * NULL. */
typedef struct {
  guint32 chunk_bytes;
  void (*on_copy) (void *bytes); /* called with the bytes of a new copy of a chunk */
  void (*on_free) (void *bytes); /* called with the bytes of a chunk before it is freed */
} QuoitTableType;

/* A chunk that a table owned recently. While the root is exclusive, no other table can reach the chunk, so the counts
 * on the path to it need not be tested again. */
typedef struct {
  guint32 chunk; /* G_MAXUINT32: none */
  void *bytes;
} QuoitOwnedChunk;

enum { QUOIT_TABLE_N_OWNED = 2 };

typedef struct {
  QuoitRoot *root;
  const QuoitTableType *type;
  guint32 n_chunks;
  QuoitOwnedChunk owned[QUOIT_TABLE_N_OWNED];
} QuoitTable;

/* Creates a table of @n_chunks zeroed chunks. */
void quoit_table_init (QuoitTable *table, const QuoitTableType *type, guint32 n_chunks);
void quoit_table_clear (QuoitTable *table);
/* Makes @copy share the data of @table, in O(1). */
void quoit_table_share (const QuoitTable *table, QuoitTable *copy);
/* Grows the table to at least @n_chunks chunks. New chunks are zeroed. */
void quoit_table_grow (QuoitTable *table, guint32 n_chunks);
/* Returns the first chunk from @from on that the tables, which are of one type, do not share. Returns the number of
 * chunks of @b if there is none. */
guint32 quoit_table_next_difference (const QuoitTable *a, const QuoitTable *b, guint32 from);
/* Like quoit_table_own_nearby(), for a chunk that is not in owned[@place]. */
void *quoit_table_own_other (QuoitTable *table, guint32 chunk, guint place);
/* Like quoit_table_own(), for a chunk that may be shared. */
void *quoit_table_unshare_chunk (QuoitTable *table, guint32 chunk);

/* Returns the bytes of a chunk for reading. */
static inline const void *
quoit_table_peek (const QuoitTable *table, guint32 chunk)
{
  return table->root->directories[chunk / QUOIT_TABLE_FAN_OUT]->chunks[chunk % QUOIT_TABLE_FAN_OUT] + 1;
}

/* Returns the bytes of a chunk for writing. Copies the chunk and its directory first if another table shares them. The
 * result is valid until the table is shared again. */
static inline void *
quoit_table_own (QuoitTable *table, guint32 chunk)
{
  QuoitRoot *root = table->root;
  QuoitDirectory *directory = root->directories[chunk / QUOIT_TABLE_FAN_OUT];
  QuoitChunk *own = directory->chunks[chunk % QUOIT_TABLE_FAN_OUT];

  /* If every count on the path is 1, no other table can reach these bytes. Counts are not 0, so one test is enough. */
  if (G_LIKELY ((g_atomic_int_get (&root->refs) | g_atomic_int_get (&directory->refs) | g_atomic_int_get (&own->refs))
                == 1))
    return own + 1;

  return quoit_table_unshare_chunk (table, chunk);
}

/* Like quoit_table_own(), for a caller that writes to the same chunks many times. @place: in owned[]. A caller that
 * alternates between two chunks has a place for each. */
static inline void *
quoit_table_own_nearby (QuoitTable *table, guint32 chunk, guint place)
{
  if (G_UNLIKELY (table->owned[place].chunk != chunk)
      || G_UNLIKELY (!__atomic_load_n (&table->root->is_exclusive, __ATOMIC_RELAXED)))
    return quoit_table_own_other (table, chunk, place);
  return table->owned[place].bytes;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A copy-on-write array: chunks of bytes behind two levels of reference-counted tables. Copying a table is one count;
 * writing to a copy copies the root, one directory and one chunk, whatever the size of the fleet.
 *
 * A directory holds 32 chunks: with one flat level, a write to a fork would touch the count of every chunk of the
 * fleet. */
#pragma once

#include <glib.h>

enum { QUOIT_TABLE_FAN_OUT = 32 };

typedef struct {
  gatomicrefcount refs;
  guint32 pad[3];
  /* the bytes; 16-byte aligned like the allocation */
} QuoitChunk;

typedef struct {
  gatomicrefcount refs;
  QuoitChunk *chunks[QUOIT_TABLE_FAN_OUT];
} QuoitDirectory;

typedef struct {
  gatomicrefcount refs;
  guint32 n_directories;
  QuoitDirectory *directories[];
} QuoitRoot;

/* What a table's chunks are. The hooks, where they are set, keep the counts of what the bytes point to. */
typedef struct {
  guint32 chunk_bytes;
  void (*copied) (void *bytes);
  void (*dropped) (void *bytes);
} QuoitTableType;

typedef struct {
  QuoitRoot *root;
  const QuoitTableType *type;
  guint32 n_chunks;
} QuoitTable;

/* @n_chunks zeroed chunks. */
void quoit_table_init (QuoitTable *table, const QuoitTableType *type, guint32 n_chunks);
void quoit_table_clear (QuoitTable *table);
/* Makes @copy another owner of what @table has: O(1). */
void quoit_table_share (const QuoitTable *table, QuoitTable *copy);
/* At least @n_chunks chunks from now on, the new ones zeroed. */
void quoit_table_grow (QuoitTable *table, guint32 n_chunks);
void *quoit_table_own_shared (QuoitTable *table, guint32 chunk);

static inline const void *
quoit_table_peek (const QuoitTable *table, guint32 chunk)
{
  return table->root->directories[chunk / QUOIT_TABLE_FAN_OUT]->chunks[chunk % QUOIT_TABLE_FAN_OUT] + 1;
}

/* The bytes of a chunk for writing: copies what others share. Valid until the table is shared again. */
static inline void *
quoit_table_own (QuoitTable *table, guint32 chunk)
{
  QuoitRoot *root = table->root;
  QuoitDirectory *directory = root->directories[chunk / QUOIT_TABLE_FAN_OUT];
  QuoitChunk *own = directory->chunks[chunk % QUOIT_TABLE_FAN_OUT];

  /* A count of 1 on the whole path means that no other table can reach these bytes. */
  if (G_LIKELY (g_atomic_int_get (&root->refs) == 1 && g_atomic_int_get (&directory->refs) == 1
                && g_atomic_int_get (&own->refs) == 1))
    return own + 1;

  return quoit_table_own_shared (table, chunk);
}

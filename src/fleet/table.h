/* SPDX-License-Identifier: Apache-2.0 */
/* A copy-on-write array: chunks of bytes under two levels of reference-counted tables. Copying a table increments
 * one count. Writing to a copy copies the root, one directory and one chunk, whatever the size of the fleet.
 *
 * A directory holds 32 chunks. With a single level, the first write to a fork would increment the count of every
 * chunk. */
#pragma once

#include <glib.h>

enum { QUOIT_TABLE_FAN_OUT = 32 };

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
  QuoitDirectory *directories[];
} QuoitRoot;

/* The type of a table's chunks. The hooks may be NULL; they maintain the reference counts of what the bytes point
 * to. */
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

/* Creates a table of @n_chunks zeroed chunks. */
void quoit_table_init (QuoitTable *table, const QuoitTableType *type, guint32 n_chunks);
void quoit_table_clear (QuoitTable *table);
/* Makes @copy share the data of @table, in O(1). */
void quoit_table_share (const QuoitTable *table, QuoitTable *copy);
/* Grows the table to at least @n_chunks chunks. New chunks are zeroed. */
void quoit_table_grow (QuoitTable *table, guint32 n_chunks);
void *quoit_table_own_shared (QuoitTable *table, guint32 chunk);

static inline const void *
quoit_table_peek (const QuoitTable *table, guint32 chunk)
{
  return table->root->directories[chunk / QUOIT_TABLE_FAN_OUT]->chunks[chunk % QUOIT_TABLE_FAN_OUT] + 1;
}

/* Returns the bytes of a chunk for writing, and copies shared parts first. Valid until the table is shared again. */
static inline void *
quoit_table_own (QuoitTable *table, guint32 chunk)
{
  QuoitRoot *root = table->root;
  QuoitDirectory *directory = root->directories[chunk / QUOIT_TABLE_FAN_OUT];
  QuoitChunk *own = directory->chunks[chunk % QUOIT_TABLE_FAN_OUT];

  /* If every count on the path is 1, no other table can reach these bytes. */
  if (G_LIKELY (g_atomic_int_get (&root->refs) == 1 && g_atomic_int_get (&directory->refs) == 1
                && g_atomic_int_get (&own->refs) == 1))
    return own + 1;

  return quoit_table_own_shared (table, chunk);
}

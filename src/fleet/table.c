/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/table.h"

#include <string.h>

G_STATIC_ASSERT (sizeof (QuoitChunk) == 16);

static QuoitChunk *
chunk_new (const QuoitTableType *type, const QuoitChunk *copied_from)
{
  QuoitChunk *chunk = g_malloc (sizeof *chunk + type->chunk_bytes);

  chunk->refs = 1;
  if (copied_from == NULL)
    {
      memset (chunk + 1, 0, type->chunk_bytes);
      return chunk;
    }
  memcpy (chunk + 1, copied_from + 1, type->chunk_bytes);
  if (type->on_copy != NULL)
    type->on_copy (chunk + 1);
  return chunk;
}

static void
chunk_unref (const QuoitTableType *type, QuoitChunk *chunk)
{
  if (!g_atomic_int_dec_and_test (&chunk->refs))
    return;
  if (type->on_free != NULL)
    type->on_free (chunk + 1);
  g_free (chunk);
}

static void
directory_unref (const QuoitTableType *type, QuoitDirectory *directory)
{
  if (!g_atomic_int_dec_and_test (&directory->refs))
    return;
  for (guint32 i = 0; i < QUOIT_TABLE_FAN_OUT && directory->chunks[i] != NULL; i++)
    chunk_unref (type, directory->chunks[i]);
  g_free (directory);
}

static void
root_unref (const QuoitTableType *type, QuoitRoot *root)
{
  if (!g_atomic_int_dec_and_test (&root->refs))
    return;
  for (guint32 i = 0; i < root->n_directories; i++)
    directory_unref (type, root->directories[i]);
  g_free (root);
}

static QuoitDirectory *
directory_copy (const QuoitDirectory *from)
{
  QuoitDirectory *directory = g_memdup2 (from, sizeof *from);

  directory->refs = 1;
  for (guint32 i = 0; i < QUOIT_TABLE_FAN_OUT && directory->chunks[i] != NULL; i++)
    g_atomic_int_inc (&directory->chunks[i]->refs);
  return directory;
}

/* Returns a root of @n_directories that shares the directories of @from. The further ones are NULL. */
static QuoitRoot *
root_copy (const QuoitRoot *from, guint32 n_directories)
{
  QuoitRoot *root = g_malloc0 (sizeof *root + n_directories * sizeof root->directories[0]);

  root->refs = 1; /* and not exclusive yet */
  root->n_directories = n_directories;
  for (guint32 i = 0; i < from->n_directories; i++)
    {
      root->directories[i] = from->directories[i];
      g_atomic_int_inc (&root->directories[i]->refs);
    }
  return root;
}

static void
own_root (QuoitTable *table, guint32 n_directories)
{
  QuoitRoot *root = table->root;

  if (g_atomic_int_get (&root->refs) == 1 && root->n_directories >= n_directories)
    return;
  table->root = root_copy (root, MAX (root->n_directories, n_directories));
  root_unref (table->type, root);
}

static QuoitDirectory *
own_directory (QuoitTable *table, guint32 index)
{
  QuoitDirectory *directory = table->root->directories[index];

  if (g_atomic_int_get (&directory->refs) == 1)
    return directory;
  table->root->directories[index] = directory_copy (directory);
  directory_unref (table->type, directory);
  return table->root->directories[index];
}

void
quoit_table_init (QuoitTable *table, const QuoitTableType *type, guint32 n_chunks)
{
  static const QuoitRoot none = { .n_directories = 0 };

  table->type = type;
  table->n_chunks = 0;
  table->root = root_copy (&none, 0);
  for (guint i = 0; i < QUOIT_TABLE_N_OWNED; i++)
    table->owned[i] = (QuoitOwnedChunk) { G_MAXUINT32, NULL };
  quoit_table_grow (table, n_chunks);
}

void
quoit_table_clear (QuoitTable *table)
{
  if (table->root != NULL)
    root_unref (table->type, table->root);
  table->root = NULL;
}

void
quoit_table_share (const QuoitTable *table, QuoitTable *copy)
{
  /* Several threads can share one table at the same time. */
  __atomic_store_n (&table->root->is_exclusive, FALSE, __ATOMIC_RELAXED);
  *copy = *table;
  g_atomic_int_inc (&copy->root->refs);
}

void
quoit_table_grow (QuoitTable *table, guint32 n_chunks)
{
  guint32 had = table->root->n_directories;

  if (n_chunks <= table->n_chunks)
    return;
  own_root (table, (n_chunks + QUOIT_TABLE_FAN_OUT - 1) / QUOIT_TABLE_FAN_OUT);
  for (guint32 i = had; i < table->root->n_directories; i++)
    {
      table->root->directories[i] = g_new0 (QuoitDirectory, 1);
      table->root->directories[i]->refs = 1;
    }
  for (guint32 i = table->n_chunks; i < n_chunks; i++)
    own_directory (table, i / QUOIT_TABLE_FAN_OUT)->chunks[i % QUOIT_TABLE_FAN_OUT] = chunk_new (table->type, NULL);
  table->n_chunks = n_chunks;
}

guint32
quoit_table_next_difference (const QuoitTable *a, const QuoitTable *b, guint32 from)
{
  guint32 chunk = from;

  while (chunk < b->n_chunks && chunk < a->n_chunks)
    {
      const guint32 index = chunk / QUOIT_TABLE_FAN_OUT, at = chunk % QUOIT_TABLE_FAN_OUT;
      const QuoitDirectory *x = a->root->directories[index], *y = b->root->directories[index];

      if (x == y)
        chunk = (index + 1) * QUOIT_TABLE_FAN_OUT;
      else if (x->chunks[at] != y->chunks[at])
        return chunk;
      else
        chunk++;
    }
  return MIN (chunk, b->n_chunks);
}

void *
quoit_table_unshare_chunk (QuoitTable *table, guint32 chunk)
{
  QuoitDirectory *directory;
  QuoitChunk **slot;

  own_root (table, 0);
  directory = own_directory (table, chunk / QUOIT_TABLE_FAN_OUT);
  slot = &directory->chunks[chunk % QUOIT_TABLE_FAN_OUT];
  if (g_atomic_int_get (&(*slot)->refs) != 1)
    {
      QuoitChunk *shared = *slot;

      *slot = chunk_new (table->type, shared);
      chunk_unref (table->type, shared);
    }
  return *slot + 1;
}

void *
quoit_table_own_other (QuoitTable *table, guint32 chunk, guint place)
{
  void *bytes = quoit_table_own (table, chunk);

  /* Now no other table has the root. Chunks that were owned before it was shared may be shared, too. */
  if (!table->root->is_exclusive)
    {
      for (guint i = 0; i < QUOIT_TABLE_N_OWNED; i++)
        table->owned[i].chunk = G_MAXUINT32;
      table->root->is_exclusive = TRUE;
    }
  table->owned[place] = (QuoitOwnedChunk) { chunk, bytes };
  return bytes;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for texts and lists that do not move, and texts that are stored once. Unlike QuoitStrings, which gives ids and
 * moves its texts, this gives pointers that are valid until the memory is freed. */
#pragma once

#include <glib.h>

/* A slot of the hash table of interned texts. */
typedef struct {
  guint32 hash;
  const char *text; /* NULL: empty slot */
} QuoitTextSlot;

/* The members are private. */
typedef struct {
  GPtrArray *blocks;
  char *next;           /* the unused bytes of the last block */
  gsize n_free;         /* their number */
  gsize used;           /* bytes, in all blocks */
  QuoitTextSlot *slots; /* open addressing */
  guint32 n_texts, mask;
} QuoitTexts;

void quoit_texts_init (QuoitTexts *texts);
void quoit_texts_clear (QuoitTexts *texts);

/* Returns @size bytes. They are aligned for pointers if all sizes are multiples of 8. */
void *quoit_texts_alloc (QuoitTexts *texts, gsize size);
/* Copies @data. Returns NULL for a size of 0. The next allocation is aligned for pointers. */
void *quoit_texts_alloc_copy (QuoitTexts *texts, const void *data, gsize size);

/* Returns the stored text that is equal to the @length bytes, which contain no NUL; stores it if there is none. Equal
 * texts have equal pointers. */
const char *quoit_texts_intern (QuoitTexts *texts, const char *text, gsize length);

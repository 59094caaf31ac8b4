/* SPDX-License-Identifier: Apache-2.0 */
#include "base/texts.h"

#include <string.h>

#include "base/name-hash.h"

/* Each block is as large as all blocks before it, within these limits; a larger allocation gets a block of its own
 * size. The first block is small, because a ledger may have many small sources. */
enum { FIRST_BLOCK_BYTES = 512, MAX_BLOCK_BYTES = 65536 };

void
quoit_texts_init (QuoitTexts *texts)
{
  *texts = (QuoitTexts) { .mask = 15 };
  texts->blocks = g_ptr_array_new_with_free_func (g_free);
  texts->slots = g_new0 (QuoitTextSlot, texts->mask + 1);
}

void
quoit_texts_clear (QuoitTexts *texts)
{
  g_clear_pointer (&texts->blocks, g_ptr_array_unref);
  g_clear_pointer (&texts->slots, g_free);
}

void *
quoit_texts_alloc (QuoitTexts *texts, gsize size)
{
  void *result;

  if (size > texts->n_free)
    {
      gsize block = MAX (size, CLAMP (texts->used, FIRST_BLOCK_BYTES, MAX_BLOCK_BYTES));

      texts->next = g_malloc (block);
      texts->n_free = block;
      g_ptr_array_add (texts->blocks, texts->next);
    }
  result = texts->next;
  texts->next += size;
  texts->n_free -= size;
  texts->used += size;
  return result;
}

/* The size is rounded up, so that the next allocation is aligned for pointers. */
static gsize
aligned (gsize size)
{
  return (size + 7) & ~(gsize) 7;
}

void *
quoit_texts_alloc_copy (QuoitTexts *texts, const void *data, gsize size)
{
  return size == 0 ? NULL : memcpy (quoit_texts_alloc (texts, aligned (size)), data, size);
}

static void
grow (QuoitTexts *texts)
{
  guint32 old_slots = texts->mask + 1;
  g_autofree QuoitTextSlot *old = texts->slots;

  texts->mask = old_slots * 2 - 1;
  texts->slots = g_new0 (QuoitTextSlot, old_slots * 2);
  for (guint32 i = 0; i < old_slots; i++)
    {
      guint32 slot = old[i].hash & texts->mask;

      if (old[i].text == NULL)
        continue;
      while (texts->slots[slot].text != NULL)
        slot = (slot + 1) & texts->mask;
      texts->slots[slot] = old[i];
    }
}

const char *
quoit_texts_intern (QuoitTexts *texts, const char *text, gsize length)
{
  guint32 hash = (guint32) quoit_hash_name (text, length), slot;
  char *stored;

  for (slot = hash & texts->mask; texts->slots[slot].text != NULL; slot = (slot + 1) & texts->mask)
    if (texts->slots[slot].hash == hash && strncmp (texts->slots[slot].text, text, length) == 0
        && texts->slots[slot].text[length] == '\0')
      return texts->slots[slot].text;

  stored = quoit_texts_alloc (texts, aligned (length + 1));
  memcpy (stored, text, length);
  stored[length] = '\0';
  texts->slots[slot] = (QuoitTextSlot) { hash, stored };
  if (++texts->n_texts > texts->mask - texts->mask / 4)
    grow (texts);
  return stored;
}

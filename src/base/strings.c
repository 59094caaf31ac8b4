/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strings.h"

#include <string.h>

#include "base/name-hash.h"

struct _QuoitStrings {
  char *bytes; /* all texts, each NUL-terminated */
  gsize n_bytes, bytes_capacity;
  guint32 *offset; /* by id: offset of the text in bytes */
  guint32 *hash;   /* by id: hash of the text, so that growing needs no rehash */
  guint32 n, capacity;
  guint32 *slots; /* hash table with open addressing: id + 1, or 0 if empty */
  guint32 mask;   /* the number of slots is a power of two; mask is that number - 1 */
};

guint64
quoit_hash_bytes (const char *bytes, gsize length)
{
  const guint64 multiplier = G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  guint64 h = length * multiplier, word;

  for (; length >= 8; bytes += 8, length -= 8)
    {
      memcpy (&word, bytes, 8);
      h = (h ^ word) * multiplier;
      h ^= h >> 29;
    }
  /* Mixes the remaining bytes without a variable-length memcpy(). The reads may overlap, so some bytes are mixed
   * twice. */
  if (length >= 4)
    {
      guint32 first, last;

      memcpy (&first, bytes, 4);
      memcpy (&last, bytes + (length - 4), 4);
      h = (h ^ ((guint64) last << 32 | first)) * multiplier;
      h ^= h >> 29;
    }
  else if (length > 0)
    {
      word = (guint8) bytes[0] | (guint64) (guint8) bytes[length / 2] << 8 | (guint64) (guint8) bytes[length - 1] << 16;
      h = (h ^ word) * multiplier;
      h ^= h >> 29;
    }
  h *= multiplier;
  return h ^ (h >> 32);
}

static void
set_slots (QuoitStrings *strings, guint32 n_slots)
{
  g_free (strings->slots);
  strings->slots = g_new0 (guint32, n_slots);
  strings->mask = n_slots - 1;
  for (guint32 id = 0; id < strings->n; id++)
    {
      guint32 slot = strings->hash[id] & strings->mask;

      while (strings->slots[slot] != 0)
        slot = (slot + 1) & strings->mask;
      strings->slots[slot] = id + 1;
    }
}

static guint32
slots_for (guint32 n)
{
  guint32 n_slots = 64;

  while (n_slots < n + n / 2)
    n_slots *= 2;
  return n_slots;
}

QuoitStrings *
quoit_strings_new (guint32 expected, gsize expected_bytes)
{
  QuoitStrings *strings = g_new0 (QuoitStrings, 1);

  strings->capacity = MAX (expected, 32);
  strings->offset = g_new (guint32, strings->capacity);
  strings->hash = g_new (guint32, strings->capacity);
  strings->bytes_capacity = MAX (expected_bytes, 512);
  strings->bytes = g_malloc (strings->bytes_capacity);
  set_slots (strings, slots_for (strings->capacity));
  quoit_strings_intern (strings, "");
  return strings;
}

void
quoit_strings_free (QuoitStrings *strings)
{
  if (strings == NULL)
    return;
  g_free (strings->bytes);
  g_free (strings->offset);
  g_free (strings->hash);
  g_free (strings->slots);
  g_free (strings);
}

/* Returns the slot of @text, or the empty slot where it can be inserted. */
static guint32
find_slot (const QuoitStrings *strings, const char *text, gsize length, guint32 hash)
{
  guint32 slot = hash & strings->mask;

  for (; strings->slots[slot] != 0; slot = (slot + 1) & strings->mask)
    {
      guint32 id = strings->slots[slot] - 1;
      const char *existing = strings->bytes + strings->offset[id];

      if (strings->hash[id] == hash && strncmp (existing, text, length) == 0 && existing[length] == '\0')
        break;
    }
  return slot;
}

QuoitStringId
quoit_strings_intern_n (QuoitStrings *strings, const char *text, gsize length)
{
  guint32 hash = (guint32) quoit_hash_name (text, length);
  guint32 slot = find_slot (strings, text, length, hash);
  guint32 id;

  if (strings->slots[slot] != 0)
    return (QuoitStringId) { strings->slots[slot] - 1 };

  /* Offsets have 32 bits. No importer accepts 4 GiB of names. */
  g_assert (strings->n_bytes + length + 1 <= G_MAXUINT32);
  if (strings->n_bytes + length + 1 > strings->bytes_capacity)
    {
      strings->bytes_capacity
          = MAX (strings->bytes_capacity + strings->bytes_capacity / 2, strings->n_bytes + length + 1);
      strings->bytes = g_realloc (strings->bytes, strings->bytes_capacity);
    }
  if (strings->n == strings->capacity)
    {
      strings->capacity += strings->capacity / 2;
      strings->offset = g_renew (guint32, strings->offset, strings->capacity);
      strings->hash = g_renew (guint32, strings->hash, strings->capacity);
    }
  id = strings->n++;
  strings->offset[id] = (guint32) strings->n_bytes;
  strings->hash[id] = hash;
  memcpy (strings->bytes + strings->n_bytes, text, length);
  strings->bytes[strings->n_bytes + length] = '\0';
  strings->n_bytes += length + 1;
  strings->slots[slot] = id + 1;
  if (strings->n > strings->mask - strings->mask / 4)
    set_slots (strings, (strings->mask + 1) * 2);

  return (QuoitStringId) { id };
}

QuoitStringId
quoit_strings_intern (QuoitStrings *strings, const char *text)
{
  return quoit_strings_intern_n (strings, text, strlen (text));
}

gboolean
quoit_strings_find (const QuoitStrings *strings, const char *text, QuoitStringId *id)
{
  gsize length = strlen (text);
  guint32 slot = find_slot (strings, text, length, (guint32) quoit_hash_name (text, length));

  if (strings->slots[slot] == 0)
    return FALSE;

  id->index = strings->slots[slot] - 1;
  return TRUE;
}

const char *
quoit_strings_get (const QuoitStrings *strings, QuoitStringId id)
{
  return strings->bytes + strings->offset[id.index];
}

guint32
quoit_strings_count (const QuoitStrings *strings)
{
  return strings->n;
}

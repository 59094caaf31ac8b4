/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strings.h"

#include <string.h>

struct _QuoitStrings {
  char *bytes; /* all texts, each NUL-terminated */
  gsize n_bytes, room;
  guint32 *offset; /* by id: offset of the text in bytes */
  guint32 *hash;   /* by id: hash of the text, so that growing needs no rehash */
  guint32 n, n_room;
  guint32 *slots; /* open addressing; id + 1, or 0 if empty */
  guint32 mask;
};

guint64
quoit_hash_bytes (const char *bytes, gsize length)
{
  const guint64 m = G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  guint64 h = length * m, word;

  for (; length >= 8; bytes += 8, length -= 8)
    {
      memcpy (&word, bytes, 8);
      h = (h ^ word) * m;
      h ^= h >> 29;
    }
  /* Mixes the remaining bytes without a variable-length memcpy(). The reads may overlap, so some bytes are mixed
   * twice. */
  if (length >= 4)
    {
      guint32 first, last;

      memcpy (&first, bytes, 4);
      memcpy (&last, bytes + (length - 4), 4);
      h = (h ^ ((guint64) last << 32 | first)) * m;
      h ^= h >> 29;
    }
  else if (length > 0)
    {
      word = (guint8) bytes[0] | (guint64) (guint8) bytes[length / 2] << 8 | (guint64) (guint8) bytes[length - 1] << 16;
      h = (h ^ word) * m;
      h ^= h >> 29;
    }
  h *= m;
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
      guint32 at = strings->hash[id] & strings->mask;

      while (strings->slots[at] != 0)
        at = (at + 1) & strings->mask;
      strings->slots[at] = id + 1;
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

  strings->n_room = MAX (expected, 32);
  strings->offset = g_new (guint32, strings->n_room);
  strings->hash = g_new (guint32, strings->n_room);
  strings->room = MAX (expected_bytes, 512);
  strings->bytes = g_malloc (strings->room);
  set_slots (strings, slots_for (strings->n_room));
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
  guint32 at = hash & strings->mask;

  for (; strings->slots[at] != 0; at = (at + 1) & strings->mask)
    {
      guint32 id = strings->slots[at] - 1;
      const char *have = strings->bytes + strings->offset[id];

      if (strings->hash[id] == hash && strncmp (have, text, length) == 0 && have[length] == '\0')
        break;
    }
  return at;
}

QuoitStringId
quoit_strings_intern_n (QuoitStrings *strings, const char *text, gsize length)
{
  guint32 hash = (guint32) quoit_hash_bytes (text, length);
  guint32 at = find_slot (strings, text, length, hash);
  guint32 id;

  if (strings->slots[at] != 0)
    return (QuoitStringId) { strings->slots[at] - 1 };

  /* Offsets have 32 bits. No importer accepts 4 GiB of names. */
  g_assert (strings->n_bytes + length + 1 <= G_MAXUINT32);
  if (strings->n_bytes + length + 1 > strings->room)
    {
      strings->room = MAX (strings->room + strings->room / 2, strings->n_bytes + length + 1);
      strings->bytes = g_realloc (strings->bytes, strings->room);
    }
  if (strings->n == strings->n_room)
    {
      strings->n_room += strings->n_room / 2;
      strings->offset = g_renew (guint32, strings->offset, strings->n_room);
      strings->hash = g_renew (guint32, strings->hash, strings->n_room);
    }
  id = strings->n++;
  strings->offset[id] = (guint32) strings->n_bytes;
  strings->hash[id] = hash;
  memcpy (strings->bytes + strings->n_bytes, text, length);
  strings->bytes[strings->n_bytes + length] = '\0';
  strings->n_bytes += length + 1;
  strings->slots[at] = id + 1;
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
  guint32 at = find_slot (strings, text, length, (guint32) quoit_hash_bytes (text, length));

  if (strings->slots[at] == 0)
    return FALSE;

  id->index = strings->slots[at] - 1;
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

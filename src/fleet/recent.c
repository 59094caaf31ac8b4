/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/recent.h"

#include <string.h>

typedef struct {
  void *key; /* NULL: an unused entry; those after it are unused too */
  gsize n;
  gpointer result;
  GDestroyNotify clear;
} Entry;

struct _QuoitRecent {
  GMutex lock;
  guint capacity, oldest;
  Entry entries[];
};

QuoitRecent *
quoit_recent_new (guint capacity)
{
  QuoitRecent *recent = g_malloc0 (sizeof *recent + capacity * sizeof (Entry));

  g_mutex_init (&recent->lock);
  recent->capacity = capacity;
  return recent;
}

static void
forget (Entry *entry)
{
  g_free (entry->key);
  if (entry->clear != NULL)
    g_atomic_rc_box_release_full (entry->result, entry->clear);
  else
    g_atomic_rc_box_release (entry->result);
}

void
quoit_recent_free (QuoitRecent *recent)
{
  if (recent == NULL)
    return;
  for (guint i = 0; i < recent->capacity && recent->entries[i].key != NULL; i++)
    forget (&recent->entries[i]);
  g_mutex_clear (&recent->lock);
  g_free (recent);
}

/* Returns the entry with the key, or else the first unused one; NULL if all are used by other keys. */
static Entry *
find (QuoitRecent *recent, const void *key, gsize n)
{
  for (guint i = 0; i < recent->capacity; i++)
    {
      Entry *entry = &recent->entries[i];

      if (entry->key == NULL || (entry->n == n && memcmp (entry->key, key, n) == 0))
        return entry;
    }
  return NULL;
}

/* In a child of fork(2), a thread of the parent may have held the lock for ever, so no function waits for it. */

gpointer
quoit_recent_get (QuoitRecent *recent, const void *key, gsize n)
{
  const Entry *entry;
  gpointer result = NULL;

  if (!g_mutex_trylock (&recent->lock))
    return NULL;
  entry = find (recent, key, n);
  if (entry != NULL && entry->key != NULL)
    result = g_atomic_rc_box_acquire (entry->result);
  g_mutex_unlock (&recent->lock);
  return result;
}

void
quoit_recent_put (QuoitRecent *recent, const void *key, gsize n, gpointer result, GDestroyNotify clear)
{
  Entry *entry;

  if (!g_mutex_trylock (&recent->lock))
    return;
  entry = find (recent, key, n);
  if (entry == NULL)
    {
      entry = &recent->entries[recent->oldest];
      recent->oldest = (recent->oldest + 1) % recent->capacity;
    }
  if (entry->key != NULL)
    forget (entry);
  *entry = (Entry) { g_memdup2 (key, n), n, g_atomic_rc_box_acquire (result), clear };
  g_mutex_unlock (&recent->lock);
}

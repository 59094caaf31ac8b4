/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/kind-cache.h"

#include <string.h>

enum { MAX_RULES = 32 };

struct _QuoitKindCache {
  GMutex lock;
  guint32 n_kinds;
  guint next; /* the entry that the next new rule replaces */
  struct {
    char *rule;
    guint8 *results;
  } entries[MAX_RULES];
};

QuoitKindCache *
quoit_kind_cache_new (guint32 n_kinds)
{
  QuoitKindCache *cache = g_new0 (QuoitKindCache, 1);

  g_mutex_init (&cache->lock);
  cache->n_kinds = n_kinds;
  return cache;
}

void
quoit_kind_cache_free (QuoitKindCache *cache)
{
  if (cache == NULL)
    return;
  for (guint i = 0; i < MAX_RULES && cache->entries[i].rule != NULL; i++)
    {
      g_free (cache->entries[i].rule);
      g_atomic_rc_box_release (cache->entries[i].results);
    }
  g_mutex_clear (&cache->lock);
  g_free (cache);
}

static guint8 *
find_or_add (QuoitKindCache *cache, const char *rule)
{
  guint at = 0;

  while (at < MAX_RULES && cache->entries[at].rule != NULL && strcmp (cache->entries[at].rule, rule) != 0)
    at++;
  if (at < MAX_RULES && cache->entries[at].rule != NULL)
    return g_atomic_rc_box_acquire (cache->entries[at].results);
  if (at == MAX_RULES)
    {
      at = cache->next;
      cache->next = (cache->next + 1) % MAX_RULES;
      g_free (cache->entries[at].rule);
      g_atomic_rc_box_release (cache->entries[at].results);
    }
  cache->entries[at].rule = g_strdup (rule);
  cache->entries[at].results = g_atomic_rc_box_alloc0 (cache->n_kinds + 1);
  return g_atomic_rc_box_acquire (cache->entries[at].results);
}

guint8 *
quoit_kind_cache_get (QuoitKindCache *cache, const char *rule)
{
  guint8 *results;

  /* Never wait: in a child of fork(2), a thread of the parent may have held the lock for ever. */
  if (!g_mutex_trylock (&cache->lock))
    return g_atomic_rc_box_alloc0 (cache->n_kinds + 1);
  results = find_or_add (cache, rule);
  g_mutex_unlock (&cache->lock);
  return results;
}

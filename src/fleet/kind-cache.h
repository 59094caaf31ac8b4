/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers, for the rules of recent requests, which kinds of nodes satisfy them. Kinds never change in a layout and
 * its patched copies, and schedulers send the same few rules again and again. */
#pragma once

#include <glib.h>

typedef enum { QUOIT_KIND_UNTESTED, QUOIT_KIND_FAILS, QUOIT_KIND_PASSES } QuoitKindResult;

typedef struct _QuoitKindCache QuoitKindCache;

QuoitKindCache *quoit_kind_cache_new (guint32 n_kinds);
void quoit_kind_cache_free (QuoitKindCache *cache);

/* Returns one byte (QuoitKindResult) per kind for the rule that @rule identifies. Readers fill it in as they test
 * kinds, with quoit_kind_result_store(); it is shared with other threads. Free it with g_atomic_rc_box_release(). */
guint8 *quoit_kind_cache_get (QuoitKindCache *cache, const char *rule);

static inline QuoitKindResult
quoit_kind_result_load (const guint8 *results, guint32 kind)
{
  return (QuoitKindResult) __atomic_load_n (&results[kind], __ATOMIC_RELAXED);
}

/* Two threads may store the result of the same kind, but both store the same one. */
static inline void
quoit_kind_result_store (guint8 *results, guint32 kind, gboolean passes) /* NOLINT(readability-non-const-parameter) */
{
  __atomic_store_n (&results[kind], passes ? QUOIT_KIND_PASSES : QUOIT_KIND_FAILS, __ATOMIC_RELAXED);
}

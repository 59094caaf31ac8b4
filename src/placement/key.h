/* SPDX-License-Identifier: Apache-2.0 */
/* A key of remembered results, which is built for each question: it needs memory only if it is long. */
#pragma once

#include <glib.h>
#include <string.h>

typedef struct {
  gsize n, size;
  char *bytes; /* fixed, or allocated */
  char fixed[496];
} QuoitKey;

static inline void
quoit_key_init (QuoitKey *key)
{
  key->n = 0;
  key->size = sizeof key->fixed;
  key->bytes = key->fixed;
}

static inline void
quoit_key_clear (QuoitKey *key)
{
  if (key->bytes != key->fixed)
    g_free (key->bytes);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitKey, quoit_key_clear)

static inline void
quoit_key_append (QuoitKey *key, gconstpointer bytes, gsize n)
{
  if (n > key->size - key->n)
    {
      char *larger = g_malloc (key->size = 2 * (key->n + n));

      memcpy (larger, key->bytes, key->n);
      quoit_key_clear (key);
      key->bytes = larger;
    }
  memcpy (key->bytes + key->n, bytes, n);
  key->n += n;
}

/* Its length comes first, so that no two lists of texts are equal. */
static inline void
quoit_key_append_text (QuoitKey *key, const char *text)
{
  const gsize length = strlen (text);

  quoit_key_append (key, &length, sizeof length);
  quoit_key_append (key, text, length);
}

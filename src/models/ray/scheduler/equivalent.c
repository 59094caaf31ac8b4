/* SPDX-License-Identifier: Apache-2.0 */
/* Finds equivalent nodes: any decision for one of them is also possible for the other. */
#include "models/ray/scheduler/private.h"

#include <string.h>

#include "base/strings.h"

typedef struct {
  const QuoitBundles *bundles;
  const QuoitView *view;
} NodeRows;

/* A node as a key of a hash table. Equivalent nodes are equal keys. */
typedef struct {
  const NodeRows *rows;
  guint32 node;
} NodeKey;

static const gint64 *
available_row (const NodeKey *key)
{
  return key->rows->view->available + (gsize) key->node * key->rows->bundles->n_resources;
}

static gboolean
passes (const NodeKey *key, guint32 filter)
{
  const QuoitView *view = key->rows->view;

  return quoit_ray_bit (view->passes + (gsize) filter * quoit_view_words (view), key->node);
}

static guint32
n_filters (const NodeRows *rows)
{
  return rows->bundles->filter == NULL ? 0 : rows->bundles->n_filters;
}

static guint
key_hash (gconstpointer key)
{
  const NodeKey *node_key = key;
  guint64 hash = quoit_hash_bytes ((const char *) available_row (node_key),
                                   node_key->rows->bundles->n_resources * sizeof (gint64));

  for (guint32 f = 0; f < n_filters (node_key->rows); f++)
    hash = (hash << 7 | hash >> 57) * 31 + passes (node_key, f);
  return (guint) (hash ^ hash >> 32);
}

static gboolean
key_equal (gconstpointer a, gconstpointer b)
{
  const NodeKey *x = a, *y = b;
  gsize size = x->rows->bundles->n_resources * sizeof (gint64);

  if (size > 0 && memcmp (available_row (x), available_row (y), size) != 0)
    return FALSE;
  for (guint32 f = 0; f < n_filters (x->rows); f++)
    if (passes (x, f) != passes (y, f))
      return FALSE;
  return TRUE;
}

guint32 *
quoit_ray_find_equivalent (const QuoitBundles *bundles, const QuoitView *view)
{
  NodeRows rows = { bundles, view };
  g_autofree NodeKey *keys = g_new (NodeKey, view->n_nodes);
  g_autoptr (GHashTable) known = g_hash_table_new (key_hash, key_equal);
  guint32 *equivalent = g_new (guint32, view->n_nodes);

  for (guint32 n = 0; n < view->n_nodes; n++)
    {
      const NodeKey *first;

      keys[n] = (NodeKey) { &rows, n };
      first = g_hash_table_lookup (known, &keys[n]);
      if (first == NULL)
        g_hash_table_add (known, &keys[n]);
      equivalent[n] = first == NULL ? n : first->node;
    }
  return equivalent;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the selectors of bundles to filters: one bit per node. Bundles with the same selectors share a filter. */
#include "models/ray/scheduler/input.h"

#include <string.h>

#include "models/ray/selector.h"

enum { MAX_WORDS = 1 << 26 }; /* limit of the bits of all filters, in words of 64 nodes */

/* The selectors of one bundle, sorted by key: group->selectors[order[first]] to group->selectors[order[first + n -
 * 1]]. */
typedef struct {
  const QuoitRayGroup *group;
  const guint32 *order;
  guint32 first, n;
  guint32 filter; /* index of the filter */
} Selectors;

static const QuoitRaySelector *
selector_at (const Selectors *selectors, guint32 i)
{
  return &g_array_index (selectors->group->selectors, QuoitRaySelector, selectors->order[selectors->first + i]);
}

static guint
selectors_hash (gconstpointer key)
{
  const Selectors *selectors = key;
  guint64 hash = selectors->n;

  for (guint32 i = 0; i < selectors->n; i++)
    {
      const QuoitRaySelector *selector = selector_at (selectors, i);
      guint64 words[] = { hash, (guint64) selector->key.index << 32 | selector->value.index };

      hash = quoit_hash_bytes ((const char *) words, sizeof words);
    }
  return (guint) hash;
}

static gboolean
selectors_equal (gconstpointer a, gconstpointer b)
{
  const Selectors *x = a, *y = b;

  if (x->n != y->n)
    return FALSE;
  for (guint32 i = 0; i < x->n; i++)
    if (selector_at (x, i)->key.index != selector_at (y, i)->key.index
        || selector_at (x, i)->value.index != selector_at (y, i)->value.index)
      return FALSE;
  return TRUE;
}

static int
by_bundle_and_key (gconstpointer a, gconstpointer b, gpointer data)
{
  const QuoitRaySelector *rows = data, *x = &rows[*(const guint32 *) a], *y = &rows[*(const guint32 *) b];

  if (x->bundle != y->bundle)
    return x->bundle < y->bundle ? -1 : 1;
  return (x->key.index > y->key.index) - (x->key.index < y->key.index);
}

static guint32 *
sort_selectors (const QuoitRayGroup *group)
{
  guint32 *order = g_new (guint32, group->selectors->len);

  for (guint i = 0; i < group->selectors->len; i++)
    order[i] = i;
  g_qsort_with_data (order, (gint) group->selectors->len, sizeof *order, by_bundle_and_key, group->selectors->data);
  return order;
}

/* Sets the bits of the nodes that have one of the values of @selector. */
static void
mark_nodes (const QuoitRayCluster *cluster, const QuoitSelector *selector, guint64 *bits)
{
  const QuoitRayLabelKey *key = quoit_ray_cluster_find_key (cluster, quoit_selector_key (selector));
  const char *const *values = quoit_selector_values (selector);

  for (guint i = 0; key != NULL && values[i] != NULL; i++)
    {
      const GArray *nodes = quoit_ray_cluster_find_nodes (cluster, key, values[i]);

      for (guint n = 0; nodes != NULL && n < nodes->len; n++)
        {
          guint32 node = g_array_index (nodes, guint32, n);

          bits[node / 64] |= (guint64) 1 << (node % 64);
        }
    }
}

/* Clears the bits in @passes of nodes that do not satisfy all @selectors. @bits is a buffer of @n_words. */
static void
apply_selectors (const QuoitRayCluster *cluster, const Selectors *selectors, guint64 *passes, guint64 *bits,
                 gsize n_words)
{
  const QuoitStrings *strings = selectors->group->strings;

  for (guint32 i = 0; i < selectors->n; i++)
    {
      const QuoitRaySelector *row = selector_at (selectors, i);
      g_autoptr (QuoitSelector) selector = quoit_selector_parse_unchecked (quoit_strings_get (strings, row->key),
                                                                           quoit_strings_get (strings, row->value));
      guint64 flip = quoit_selector_is_negated (selector) ? G_MAXUINT64 : 0;

      memset (bits, 0, n_words * sizeof *bits);
      mark_nodes (cluster, selector, bits);
      for (gsize w = 0; w < n_words; w++)
        passes[w] &= bits[w] ^ flip;
    }
}

/* Sets the filter of each bundle, and appends the selectors of each different filter to @filters. */
static void
number_filters (QuoitRayBundleRows *rows, const QuoitRayGroup *group, const guint32 *order, GArray *filters)
{
  g_autoptr (GHashTable) known = g_hash_table_new_full (selectors_hash, selectors_equal, g_free, NULL);

  for (guint32 b = 0, first = 0; b < group->n_bundles; b++)
    {
      Selectors selectors = { group, order, first, 0, filters->len }, *existing;

      while (first < group->selectors->len
             && g_array_index (group->selectors, QuoitRaySelector, order[first]).bundle == b)
        first++;
      selectors.n = first - selectors.first;
      existing = g_hash_table_lookup (known, &selectors);
      if (existing == NULL)
        {
          existing = g_memdup2 (&selectors, sizeof selectors);
          g_hash_table_add (known, existing);
          g_array_append_val (filters, selectors);
        }
      rows->filter[b] = existing->filter;
    }
}

gboolean
quoit_ray_bundle_rows_add_filters (QuoitRayBundleRows *rows, const QuoitRayGroup *group, const QuoitRayCluster *cluster,
                                   guint64 **passes, GError **error)
{
  gsize n_words = (cluster->ids->len + 63) / 64;
  g_autofree guint32 *order = NULL;
  g_autofree guint64 *bits = NULL;
  g_autoptr (GArray) filters = NULL;

  *passes = NULL;
  if (group->selectors->len == 0)
    return TRUE;
  order = sort_selectors (group);
  filters = g_array_new (FALSE, FALSE, sizeof (Selectors));
  rows->filter = g_new (guint32, group->n_bundles);
  rows->bundles.filter = rows->filter;
  number_filters (rows, group, order, filters);
  rows->bundles.n_filters = filters->len;
  if (filters->len * n_words > MAX_WORDS)
    return quoit_fail (
        error, QUOIT_ERROR_INVALID,
        "bundles with '%u' different selectors and '%u' nodes: expected a product of at most %" G_GINT64_FORMAT
        " (each selector tests the nodes in words of 64)",
        filters->len, cluster->ids->len, (gint64) MAX_WORDS * 64);
  bits = g_new (guint64, n_words + 1);
  *passes = g_new (guint64, filters->len * n_words + 1);
  memset (*passes, 0xff, filters->len * n_words * sizeof (guint64));
  for (gsize f = 0; f < filters->len; f++)
    apply_selectors (cluster, &g_array_index (filters, Selectors, f), *passes + f * n_words, bits, n_words);
  return TRUE;
}
